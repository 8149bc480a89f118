"""Texts by their meaning: embedded as vectors, alone or together with their shingles."""

import hashlib
import itertools
import socket
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from clusters import needs_java
from engines import collected, frame_of
from hypothesis import given, settings
from hypothesis import strategies as st

import nearly
from nearly import textbook
from nearly.cli.program import run
from nearly.errors import SettingsError

WORDS = [
    "market", "storm", "bridge", "choir", "river", "council", "night", "garden", "letter",
    "winter", "song", "road",
]  # fmt: skip


def by_words(texts: list[str]) -> np.ndarray:
    """A row for each text: every word has a random direction of its own."""
    rows = np.zeros((len(texts), 24))
    for row, text in zip(rows, texts, strict=True):
        for word in text.split():
            seed = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=4).digest())
            row += np.random.default_rng(seed).standard_normal(24)
    return rows


def texts(count: int = 60) -> list[str]:
    """Texts, and the same with another word, or with words in another order."""
    draw = np.random.default_rng(2)
    found = [" ".join(draw.choice(WORDS, 9)) for _ in range(count // 3)]
    for text in found[:]:
        words = text.split()
        found.append(" ".join([*words[:8], "sea"]))
        found.append(" ".join(reversed(words)))
    return found


def as_dict(found: Any) -> dict[tuple[Any, Any], float]:
    columns = (found.pairs.column(name).to_pylist() for name in ("id_a", "id_b", "similarity"))
    return {(a, b): number for a, b, number in zip(*columns, strict=True)}


def expected(given_texts: list[str], measure: str, threshold: float) -> dict[Any, float]:
    vectors = by_words(given_texts).astype(np.float32).astype(float).tolist()
    found = {}
    for i, j in itertools.combinations(range(len(given_texts)), 2):
        if not (any(vectors[i]) and any(vectors[j])):
            continue
        value = textbook.cosine(vectors[i], vectors[j])
        if measure == "mean":
            sets = [textbook.shingles(given_texts[place], "char", 5) for place in (i, j)]
            value = (max(0.0, value) + float(textbook.jaccard(*sets))) / 2
        if value >= threshold:
            found[i, j] = value
    return found


@pytest.mark.parametrize("method", ["exact", "lsh"])
@pytest.mark.parametrize("measure", ["cosine", "mean"])
def test_any_function_from_texts_to_vectors(measure: Any, method: Any) -> None:
    given_texts = texts()
    how: dict[str, Any] = {"raw": True, "k": 5} if measure == "mean" else {}
    how |= {"embed": by_words, "measure": measure, "threshold": 0.7, "method": method}
    found = nearly.find(given_texts, recall=0.999, all_pairs=True, **how)
    true = expected(given_texts, measure, 0.7)
    assert len(true) > 15
    assert as_dict(found) == pytest.approx(true)
    assert found.text(0) == given_texts[0], "people read the text, not its numbers"
    assert found.statistics.to_dict()["source"]["embed"] == "by_words"


@pytest.mark.parametrize("measure", ["cosine", "mean"])
def test_new_texts_against_old_ones(measure: Any) -> None:
    given_texts = texts()
    how: dict[str, Any] = {"raw": True, "k": 5} if measure == "mean" else {}
    how |= {"embed": by_words, "measure": measure, "threshold": 0.7, "method": "exact"}
    found = nearly.find(given_texts[20:], against=given_texts[:20], all_pairs=True, **how)
    true = expected(given_texts, measure, 0.7).items()
    crossing = {(a, b - 20): value for (a, b), value in true if a < 20 <= b}
    assert len(crossing) > 10
    assert as_dict(found) == pytest.approx(crossing)


@settings(max_examples=25)
@given(
    st.lists(
        st.sampled_from(["", " ", "\n", *WORDS, "storm song", "song storm", "日本 song"]),
        min_size=2,
        max_size=9,
    )
)
def test_blank_texts_have_no_direction(given_texts: list[str]) -> None:  # fmt: skip
    how: dict[str, Any] = {"embed": by_words, "raw": True, "k": 5, "all_pairs": True}
    found = nearly.find(given_texts, measure="mean", threshold=0.5, method="exact", **how)
    assert as_dict(found) == pytest.approx(expected(given_texts, "mean", 0.5))
    assert found.statistics.empty == sum(not text.strip() for text in given_texts)


def test_what_a_function_does_wrong_is_told() -> None:
    def with_nan(some: list[str]) -> np.ndarray:
        rows = by_words(some)
        rows[[text.startswith("storm") for text in some]] = np.nan
        return rows

    found = nearly.find(["storm a", "night", "night", None], embed=with_nan, threshold=0.9)
    assert found.skipped.to_pylist() == [
        {"record": "row 0", "reason": "its embedding has a number that is not finite"},
        {"record": "row 3", "reason": "null text"},
    ]
    assert as_dict(found) == {(1, 2): 1.0}
    cases: list[tuple[dict[str, Any], str]] = [
        ({"embed": lambda some: np.zeros(len(some))}, r"shape \(1,\) for 1 texts"),
        ({"embed": lambda some: np.zeros((len(some) % 2, 3))}, r"shape \(0, 3\) for 2 texts"),
        ({"embed": lambda _: "x"}, "no matrix of numbers"),
        ({"embed": "wordlama"}, "embed is 'wordlama'; there is wordllama"),
        ({"measure": "mean"}, "say what makes vectors of them with embed"),
        ({"measure": "cosine"}, "make them of texts with embed"),
        ({"embed": by_words, "k": 3}, "k is 3, which is about texts"),
        ({"embed": by_words, "measure": "mean", "common": 0.5}, "common drops shingles"),
        ({"embed": by_words, "measure": "edit"}, "holds vectors; choose one of cosine"),
    ]
    for options, message in cases:
        with pytest.raises(SettingsError, match=message):
            nearly.find(["a", "b"], **options)
    with pytest.raises(SettingsError, match=r"embed makes vectors of texts, and .* holds vectors"):
        nearly.find(np.eye(2), embed=by_words)
    with pytest.raises(SettingsError, match="holds vectors alone"):
        nearly.find(np.eye(2), measure="mean")
    with pytest.raises(SettingsError, match="holds items"):
        nearly.find([{1}, {2}], embed=by_words)


@pytest.mark.parametrize("measure", ["cosine", "mean"])
def test_a_text_is_too_long_by_its_own_bytes(measure: Any) -> None:
    some = ["storm song", "storm song", "storm " * 5]
    found = nearly.find(some, embed=by_words, measure=measure, longest=20)
    assert as_dict(found) == pytest.approx({(0, 1): 1.0})
    reason = "too long: 30 bytes of text, and the limit is 20"
    assert found.skipped.to_pylist() == [{"record": "row 2", "reason": reason}]


def test_bands_for_texts_that_nobody_gave_yet() -> None:
    def bands(**how: Any) -> tuple[Any, Any]:
        advised = nearly.tune(threshold=0.9, **how)
        return advised.usual.bands, advised.usual.rows

    assert bands(embed="wordllama") == bands(measure="cosine") != bands()


def test_wordllama_needs_no_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: Any) -> None:
        raise OSError("no network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    path = tmp_path / "t.csv"
    path.write_text(
        "id,text\na,A man is playing a guitar.\nb,Someone plays the guitar.\n"
        "c,The stock market fell today.\nd,A man is playing a guitar!\n"
    )
    out = tmp_path / "pairs.csv"
    command = ["find", str(path), "--embed", "wordllama", "-t", "0.7", "-o", str(out)]
    assert run(command) == 0
    assert [line[:3] for line in out.read_text().split()[1:]] == ["a,b", "a,d", "b,d"]
    assert run(command[:-2]) == 0
    assert "[Someone plays the] guitar" in capsys.readouterr().out
    clean = tmp_path / "clean.csv"
    named = ["--measure", "mean", "--embed", "wordllama", "-t", "0.8"]
    assert run(["dedup", str(path), *named, "-o", str(clean)]) == 0
    assert [line[0] for line in clean.read_text().splitlines()[1:]] == ["a", "b", "c"]
    assert run(["tune", str(path), *named]) == 0


def test_a_vector_does_not_depend_on_the_texts_beside_it() -> None:
    from nearly.sources.embedding import by_wordllama

    some = ["A choir sang.", "storm " * 5_000, "x", "A man is playing the guitar in the rain."]
    together = by_wordllama(some)
    for row, text in zip(together, some, strict=True):
        assert (by_wordllama([text])[0] == row).all()


@needs_java
@pytest.mark.slow
@pytest.mark.parametrize("measure", ["cosine", "mean"])
@pytest.mark.parametrize("method", ["exact", "lsh"])
def test_spark_finds_the_same(measure: Any, method: Any) -> None:
    table = pa.table({"id": [f"d{i}" for i in range(60)], "text": texts()})
    how: dict[str, Any] = {"embed": "wordllama", "measure": measure, "threshold": 0.8}
    here = nearly.find(table, method=method, **how)
    there = collected(nearly.find(frame_of(table, 3), method=method, **how))
    assert len(here) > 10
    assert there.pairs.to_pylist() == here.pairs.to_pylist()
    assert there.top.to_pylist() == here.top.to_pylist()
