"""The tuner: what it expects of bands and rows is what they do with the same documents."""

from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_prepared import texts_of as alike

import nearly
from nearly.errors import SettingsError
from nearly.prepared import stranger
from nearly.prepared.maker import prepare
from nearly.prepared.result import Prepared, open_prepared
from nearly.prepared.stranger import Drawn
from nearly.prepared.tuner import BARS, tuned
from nearly.textbook import jaccard
from nearly.tuning.banding import curve

COUNT = 300
LEAST = 0.4


def texts_of(count: int) -> dict[str, str]:
    """No two have the same shingles: copies are compared once, and would not count."""
    return {name: f"{text} {name}" for name, text in alike(count).items()}


@pytest.fixture(scope="module", name="folder")
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tuner")
    texts = texts_of(COUNT)
    table = pa.table({"id": list(texts), "text": list(texts.values())})
    pq.write_table(table, folder / "docs.parquet")
    return folder


def made(folder: Path, name: str, **settings: object) -> Prepared:
    found = nearly.find(
        folder / "docs.parquet", unit="word", k=2, threshold=LEAST, all_pairs=True, **settings
    )  # type: ignore[call-overload]
    found.save(folder / name)
    prepare(folder / name)
    return open_prepared(folder / name)


@pytest.fixture(scope="module", name="prepared")
def _prepared(folder: Path) -> Prepared:
    return made(folder, "exact", method="exact")


def similarities() -> list[float]:
    sets = [set(pairwise(w)) for w in map(str.split, texts_of(COUNT).values())]
    distinct = list(dict.fromkeys(map(frozenset, sets)))
    assert len(distinct) == COUNT  # or copies would have to be left out
    return [float(jaccard(a, b)) for a, b in combinations(distinct, 2)]


def test_the_bars_count_every_pair_where_all_documents_are_drawn(prepared: Prepared) -> None:
    seen = tuned(prepared, None, None, None)
    assert seen.drawn == seen.documents == COUNT
    plain = [0] * BARS
    for similarity in similarities():
        if similarity > 0:
            plain[min(BARS - 1, int(similarity * BARS + 1e-9))] += 1
    assert [bar.total for bar in seen.bars] == plain
    assert sum(plain[: int(LEAST * BARS)]) > 1_000
    assert sum(plain[int(LEAST * BARS) :]) == seen.pairs > 1_000


@pytest.mark.parametrize(("bands", "rows"), [(1, 1), (4, 6), (20, 3), (30, 5)])
def test_what_is_expected_is_the_sum_over_all_pairs(
    prepared: Prepared, bands: int, rows: int
) -> None:
    at = 0.55
    seen = tuned(prepared, bands, rows, at)
    chances = [(s, curve(s, bands, rows)) for s in similarities()]
    candidates = sum(chance for _, chance in chances)
    wasted = sum(chance for s, chance in chances if s < at)
    missed = sum(1 - chance for s, chance in chances if s >= at)
    # Similarities are known to a thousandth.
    assert seen.candidates == pytest.approx(candidates, rel=0.03)
    assert seen.wasted == pytest.approx(wasted, rel=0.03, abs=1)
    assert seen.missed == pytest.approx(missed, rel=0.03, abs=1)


def test_a_run_meets_about_as_often_as_was_expected(folder: Path) -> None:
    prepared = made(folder, "hashed", method="lsh", bands=20, rows=3)
    seen = tuned(prepared, None, None, None)
    assert (seen.bands, seen.rows) == seen.find == (20, 3)
    assert seen.is_of_run
    # Sixty hash functions, which all pairs have in common, leave that much to chance.
    assert seen.meetings == pytest.approx(prepared.found.statistics.meetings, rel=0.25)


def test_more_bands_find_more_and_more_rows_find_less(prepared: Prepared) -> None:
    few, more, longer = (tuned(prepared, *each, None) for each in ((10, 4), (20, 4), (20, 8)))
    assert few.recall < more.recall > longer.recall
    assert few.wasted < more.wasted > longer.wasted
    assert few.meetings < more.meetings > longer.meetings
    assert few.memory < more.memory


@pytest.mark.parametrize(
    ("bands", "rows", "threshold", "said"),
    [
        (0, 4, None, "bands is 0"),
        (100_000, 4, None, "from 1 to"),
        (4, 99, None, "rows is 99"),
        (4, 4, 0.1, "0.4, which the run had"),
        (4, 4, 1.5, "threshold is 1.5"),
    ],
)
def test_what_cannot_be_set_is_said(
    prepared: Prepared, bands: int, rows: int, threshold: float | None, said: str
) -> None:
    with pytest.raises(SettingsError, match=said):
        tuned(prepared, bands, rows, threshold)


def test_bags_are_not_tuned_here(folder: Path) -> None:
    with pytest.raises(SettingsError, match="nearly tune"):
        tuned(made(folder, "bags", bag=True), None, None, None)


def test_who_is_drawn_does_not_depend_on_how_texts_come() -> None:
    texts = pa.array([f"text {number}" for number in range(5_000)], pa.large_string())
    whole, parts = Drawn(7), Drawn(7)
    whole.add(texts)
    for start in range(0, 5_000, 333):
        parts.add(texts.slice(start, 333))
    assert whole.texts == parts.texts
    assert len(whole.texts) == stranger.DRAWN
    numbers = [int(text.split()[1]) for text in whole.texts.to_pylist()]
    assert np.mean(numbers) == pytest.approx(2_500, abs=5 * 5_000 / 12**0.5 / 1_000**0.5)
