"""Edit distance: insertions and deletions, as a distance and as a share, joined exactly."""

import itertools
import json
import random
from fractions import Fraction
from math import floor
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from clusters import needs_java
from engines import Run, collected
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Indel

import nearly
from nearly import textbook
from nearly.cli.program import run
from nearly.errors import SettingsError, SourceError
from nearly.measures.edit import EditDistance, EditShare, _next_below
from nearly.measures.pair import Block, split_pairs
from nearly.measures.work import ONE_THREAD
from nearly.settings import TextSettings

Pairs = dict[tuple[int, int], float]

RAW = TextSettings(raw=True)
LETTERS = "abcé日😀"


def names(count: int, seed: int = 1) -> list[str]:
    """Short names, and for each some that a slip of the hand makes of it."""
    draw = random.Random(seed)
    found = []
    for _ in range(count):
        name = draw.choices(LETTERS, k=draw.randrange(15))
        for _ in range(draw.randrange(4)):
            found.append("".join(name))
            name = list(name)
            for _ in range(draw.randrange(4)):
                place = draw.randrange(len(name) + 1)
                name[place : place + draw.randrange(2)] = draw.choices(LETTERS, k=draw.randrange(2))
    return found


def distances(texts: list[str]) -> dict[tuple[int, int], int]:
    """By the definition; a text without a character is compared with nothing."""
    filled = [(i, text) for i, text in enumerate(texts) if text]
    pairs = itertools.combinations(filled, 2)
    return {(i, j): textbook.edit_distance(a, b) for (i, a), (j, b) in pairs}


def within(texts: list[str], limit: int) -> Pairs:
    return {pair: float(d) for pair, d in distances(texts).items() if d <= limit}


def by_share(texts: list[str], threshold: float) -> Pairs:
    found = {}
    for (i, j), distance in distances(texts).items():
        share = 1 - Fraction(distance, len(texts[i]) + len(texts[j]))
        if share >= Fraction(repr(threshold)):
            found[i, j] = float(share)
    return found


def as_dict(pairs: pa.Table) -> Pairs:
    columns = (pairs.column(i).to_pylist() for i in range(3))
    return {(a, b): value for a, b, value in zip(*columns, strict=True)}


def find(texts: Any, **options: Any) -> Any:
    return nearly.find(texts, measure="edit", raw=True, all_pairs=True, **options)


TEXTS = st.lists(st.text(LETTERS, max_size=9) | st.text(max_size=6), min_size=2, max_size=25)


@settings(max_examples=60)
@given(TEXTS, st.integers(0, 7))
def test_every_pair_within_a_distance_is_that_of_the_textbook(texts: list[str], limit: int) -> None:
    assert as_dict(find(texts, within=limit).pairs) == within(texts, limit)


@settings(max_examples=60)
@given(TEXTS, st.sampled_from([1.0, 0.95, 0.9, 0.8, 0.7, 0.5, 0.2, 1e-9]))
def test_every_pair_by_its_share_is_that_of_the_textbook(
    texts: list[str], threshold: float
) -> None:
    assert as_dict(find(texts, threshold=threshold).pairs) == by_share(texts, threshold)


@pytest.mark.parametrize("limit", [0, 1, 2, 3, 6])
def test_names_within_a_distance_are_those_of_the_textbook_and_of_rapidfuzz(limit: int) -> None:
    texts = names(180)
    found, true = find(texts, within=limit), within(texts, limit)
    assert len(true) > 50
    assert limit in true.values()
    assert as_dict(found.pairs) == true
    for (i, j), distance in true.items():
        assert distance == Indel.distance(texts[i], texts[j])
    everyone = len(texts) * (len(texts) - 1) // 2
    assert limit > 3 or found.statistics.verified < everyone / 4
    assert found.statistics.to_dict()["why"] == "the measure has no hash functions"


def test_a_pair_on_the_threshold_is_in() -> None:
    texts = ["abcdefghi", "abcdefghij", "abcdefgh", "abcdefghijk"]
    found = as_dict(find(texts, threshold=0.9).pairs)
    assert found == by_share(texts, 0.9)
    assert found[0, 3] == 0.9  # 2 edits of 20 characters
    assert 0.9 in found.values()


@given(st.fractions(0, 1), st.integers(1, 60))
def test_a_simpler_share_allows_the_same(rate: Fraction, most: int) -> None:
    simple = _next_below(rate, most)
    assert simple.denominator <= most
    assert all(floor(n * simple) == floor(n * rate) for n in range(most + 1))


@settings(max_examples=40)
@given(st.text(LETTERS, max_size=200), st.text(LETTERS, max_size=200), st.integers(0, 300))
def test_long_strings_have_the_distance_of_the_textbook(a: str, b: str, limit: int) -> None:
    """Some by following a few edits, others by comparing all with all, in blocks of 64."""
    both = a[:90] + b, b + a[90:]
    measure = EditDistance(text=RAW)
    contents = pa.array(both, pa.large_string())
    first, second = np.array([0], np.uint32), np.array([1], np.uint32)
    true = textbook.edit_distance(*both)
    assert measure.compare(contents, first, second, None).tolist() == [-true]
    [found] = measure.compare(contents, first, second, Fraction(-limit)).tolist()
    assert found == -true if true <= limit else np.isnan(found)


@pytest.mark.parametrize("threshold", [Fraction(-2), Fraction(4, 5)])
def test_blocks_are_joined_as_one(threshold: Fraction) -> None:
    texts = [text for text in dict.fromkeys(names(150)) if text]
    measure = (EditDistance if threshold < 0 else EditShare)(text=RAW)
    true = (within(texts, 2) if threshold < 0 else by_share(texts, 0.8)).keys()
    order = np.argsort([len(text) for text in texts], kind="stable")
    loads: list[int] = []

    def block(number: int) -> Block:
        loads.append(number)
        places = np.sort(order[number * len(texts) // 6 : (number + 1) * len(texts) // 6])
        contents = pa.array([texts[place] for place in places], pa.large_string())
        return Block.of(places.astype(np.uint32), contents)

    blocks = [lambda number=number: block(number) for number in range(6)]
    parts = list(measure.join(blocks, threshold, ONE_THREAD))
    pairs = np.concatenate([part.pairs for part in parts])
    first, second = split_pairs(pairs)
    assert len(pairs) == len(true) > 50
    assert set(zip(first.tolist(), second.tolist(), strict=True)) == true
    assert len(loads) < 21, "blocks that cannot have a pair are not loaded again"


def test_texts_are_normalised_first() -> None:
    texts = ["Zoë  Miller", "zoë miller", "Zoe\u0308 Miler", "ZOE MILLER"]
    found = nearly.find(texts, measure="edit", within=1)
    assert as_dict(found.pairs) == {(0, 1): 0.0, (0, 2): 1.0}
    dropped = nearly.find(texts, measure="edit", within=1, accents="drop", all_pairs=True)
    assert len(dropped) == 6


def test_a_share_is_of_both_texts() -> None:
    [pair] = nearly.find(["kitten", "sitten"], measure="edit").pairs.to_pylist()
    assert pair == {"id_a": 0, "id_b": 1, "similarity": 10 / 12}


def test_an_audit_near_misses_and_cutting_know_it() -> None:
    texts = names(150)
    found = nearly.find(texts, measure="edit", within=2, audit=10_000, around=10_000, raw=True)
    audit = found.statistics.audit
    assert audit is not None
    assert (audit.recall, audit.precision) == (1.0, 1.0)
    near = within(list(dict.fromkeys(texts)), 2)
    assert audit.pairs == 2 * len(near) > 100
    assert found.around is not None
    assert found.around.below.column("distance").to_pylist() == [3.0] * 20
    assert found.around.above.column("distance").to_pylist() == [2.0] * 20
    share = find(texts, threshold=0.7)
    assert as_dict(share.at(0.85).pairs) == by_share(texts, 0.85)


def test_dedup_keeps_one_of_each_cluster() -> None:
    table = pa.table({"id": range(5), "name": ["anna", "ana", "an", "bob", "bobb"]})
    clean = nearly.dedup(table, id="id", text="name", measure="edit", within=1)
    assert clean.removed.to_pylist() == [
        {"id": 1, "survivor": 0, "distance": 1.0, "cluster": 0},
        {"id": 2, "survivor": 0, "distance": 2.0, "cluster": 0},
        {"id": 4, "survivor": 3, "distance": 1.0, "cluster": 1},
    ]
    assert clean.statistics.below == 1
    leaders = nearly.dedup(
        table, id="id", text="name", measure="edit", within=1, cluster="leader", keep="longest"
    )
    assert leaders.kept.column("name").to_pylist() == ["anna", "an", "bobb"]


WITHIN, SHARE = {"within": 2}, {"threshold": 0.8}
SPARK = Run(3, 10, small=True)
CASES = [
    pytest.param(Run(None, 7, small=True), WITHIN, id="pieces-within"),
    pytest.param(Run(None, 7, small=True), SHARE, id="pieces-share"),
    pytest.param(SPARK, WITHIN, id="spark-within", marks=[needs_java, pytest.mark.slow]),
    pytest.param(SPARK, SHARE, id="spark-share", marks=[needs_java, pytest.mark.slow]),
]


def table_of(texts: list[str]) -> pa.Table:
    return pa.table({"id": [f"d{i}" for i in range(len(texts))], "text": texts})


@pytest.mark.parametrize(("engine", "how"), CASES)
def test_pieces_and_spark_find_the_same(engine: Run, how: dict[str, Any]) -> None:
    table = table_of(names(120))
    options: dict[str, Any] = {"measure": "edit", "audit": 50, "cluster": "leader", **how}
    here, there = collected(nearly.find(table, **options)), engine.find(table, **options)
    assert here.pairs.num_rows > 80
    assert there.pairs.equals(here.pairs)
    assert there.clusters.equals(here.clusters)
    assert there.top.equals(here.top)
    assert there.statistics["audit"] == here.statistics["audit"]


@needs_java
@pytest.mark.slow
def test_spark_cleans_the_same() -> None:
    table = table_of(names(120))
    how: dict[str, Any] = {"measure": "edit", "within": 2, "keep": "longest"}
    here, there = collected(nearly.dedup(table, **how)), SPARK.dedup(table, **how)
    assert here.removed.num_rows > 50
    for name in ("removed", "clusters"):
        assert there.tables[name].equals(here.tables[name])
    assert there.kept.column("id").to_pylist() == here.kept.column("id").to_pylist()


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "names.csv"
    path.write_text("name\nMaria Schmidt\nMaria Schmitt\nPaul Meyer\nMariaSchmidt\n")

    def call(*arguments: object) -> tuple[str, str]:
        assert run([str(argument) for argument in arguments]) == 0
        shown = capsys.readouterr()
        return shown.out, shown.err

    edit = (path, "--text", "name", "--measure", "edit")
    out, err = call("find", *edit, "--within", 2)
    assert [line[8:] for line in out.splitlines()[:5]] == [
        "0  Maria[ ]Schmidt",
        "3  MariaSchmidt",
        "equal but for white space",
        "0  Maria Schmi[d]t",
        "1  Maria Schmi[t]t",
    ]
    assert "texts by insertions and deletions; joined exactly (the measure has no" in err
    assert "all pairs within 2;" in err
    told = json.loads(call("find", *edit, "-t", 0.92, "--json")[0])
    assert [pair["similarity"] for pair in told["pairs"]] == [24 / 26, 24 / 25]
    assert told["statistics"]["measure"] == "edit"
    out, _ = call("find", *edit, "--within", 1, "--around")
    assert "--- distance 1: 1 of the least similar pairs within, 1 near miss beyond ---" in out
    assert "up to twice the distance ---" in out
    clean = tmp_path / "clean.csv"
    _, err = call("dedup", *edit, "--within", 2, "-o", clean)
    assert clean.read_text() == "name\nMaria Schmidt\nPaul Meyer\n"
    assert run(["dedup", str(tmp_path), "--glob", "*.txt", "--within", "2"]) == 2


def test_mistakes_are_told(tmp_path: Path) -> None:
    texts = ["anna", "ana"]
    cases: list[tuple[dict[str, Any], str]] = [
        ({"method": "lsh"}, "edit has no hash functions: every pair is found by an exact join"),
        ({"bands": 2, "rows": 3}, "edit has no hash functions"),
        ({"k": 3}, "k is 3, which is about shingles, and edit compares characters; leave k out"),
        ({"unit": "word"}, "unit is 'word', which is about shingles"),
        ({"bag": True}, "bag is True, which is about shingles"),
        ({"common": 0.1}, "common drops shingles, and edit compares characters"),
        ({"ignore": ["a"]}, "ignore drops shingles, and edit compares characters"),
        ({"within": -1}, "within is -1; a distance is 0 or more"),
        ({"within": 1.5}, "edit counts in whole numbers; give within=1 or within=2"),
        ({"within": 1, "threshold": 0.9}, "threshold is 0.9 and within is 1, and edit is a distan"),
        ({"threshold": 0}, "threshold is 0"),
        ({"measure": "edits"}, "there is no measure 'edits'; did you mean 'edit'"),
    ]
    for options, message in cases:
        with pytest.raises(SettingsError, match=message):
            nearly.find(texts, **({"measure": "edit"} | options))
    for more in ({}, {"source": texts}):
        with pytest.raises(SettingsError, match="there is nothing to tune"):
            nearly.tune(**more, measure="edit")
    with pytest.raises(SettingsError, match="edit compares texts, and the list holds items"):
        nearly.find([{1}, {2}], measure="edit")
    with (
        patch("nearly.measures.edit._kernels.EditTexts", side_effect=ValueError),
        pytest.raises(SourceError, match="a text has more than 16,777,216 characters"),
    ):
        nearly.find(texts, measure="edit")
    (tmp_path / "a.txt").write_text("anna")
    (tmp_path / "b.txt").write_text("ana")
    with pytest.raises(SettingsError, match="a plan says how similar files are"):
        nearly.plan(tmp_path, measure="edit", within=1)
    assert len(nearly.plan(tmp_path, measure="edit").removals) == 1
