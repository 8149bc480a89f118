"""New documents against old ones: one contract for every engine.

What is expected comes from `oracle.OneSided`, and from whole runs: what crosses the border there is
what a one-sided run finds. A case in which the border does not matter is refused.
"""

from functools import cache

import oracle
import pyarrow as pa
import pytest
import relatives
from clusters import needs_java
from engines import Run, collected
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import OneSided, Oracle
from test_engines import (
    CHARACTERS,
    EXACT,
    HERE,
    IN_PIECES,
    KEEPS,
    MISSING,
    SURE,
    WORDS,
    buckets_of,
    check_clean,
    check_found,
    counted,
    rows_of,
)

import nearly

THERE = Run(2, 5, small=True)


def cases(values, telling):
    """Each case on one machine; those that tell most also in small pieces, and on Spark."""
    found = []
    for name, case in values.items():
        runs = [HERE, IN_PIECES, THERE] if name in telling else [HERE]
        for run in runs:
            marks = [needs_java, pytest.mark.slow] * run.is_spark
            found.append(pytest.param(run, *case, id=f"{name}-{run}", marks=marks))
    return found


on_both_engines = pytest.mark.parametrize(
    "run",
    [
        pytest.param(HERE, id=str(HERE)),
        pytest.param(IN_PIECES, id=str(IN_PIECES), marks=pytest.mark.slow),
        pytest.param(THERE, id=str(THERE), marks=[pytest.mark.slow, needs_java]),
    ],
)


@cache
def sides(seed, *, relabelled=False, crowded=False):
    """Relatives on both sides of a border."""
    table = relatives.crowded(seed, 90) if crowded else relatives.corpus(seed, chains=4, crowds=3)
    if relabelled:
        table = relatives.spoilt(relatives.relabelled(table, 1), seed)
    middle = table.num_rows // 2
    return table.slice(0, middle).combine_chunks(), table.slice(middle).combine_chunks()


def find(run, seed, **options):
    old, new = sides(seed)
    return run.find(new, against=old, **options)


FOUND = {
    "links": (0, CHARACTERS, EXACT),
    "links by hashing": (1, {**CHARACTERS, "cluster": "leader"}, SURE),
    "all pairs": (2, {**CHARACTERS, "all_pairs": True}, EXACT),
    "all pairs by hashing": (3, {**CHARACTERS, "all_pairs": True}, SURE),
    "words": (4, WORDS, SURE),
}


@pytest.mark.parametrize(
    ("run", "seed", "options", "method"),
    cases(FOUND, telling={"links by hashing", "all pairs"}),
)
def test_pairs_across_the_border_are_found(run, seed, options, method):
    expected = OneSided(*sides(seed), **options)
    oracle.check_border(expected)
    found = find(run, seed, **options, **method)
    check_found(found, expected)


MISSED = {"links": (5, {}), "all pairs": (5, {"all_pairs": True})}


@pytest.mark.parametrize(("run", "seed", "options"), cases(MISSED, telling={"all pairs"}))
def test_hashing_finds_what_meets_across_the_border(run, seed, options):
    found = find(run, seed, **CHARACTERS, **options, **MISSING, audit=1_000)
    buckets = buckets_of(found, MISSING)
    expected = OneSided(*sides(seed), **CHARACTERS, **options, buckets=buckets)
    oracle.check_border(expected)
    assert len(expected.near) < len(expected.true), "nothing is missed"
    check_found(found, expected)
    assert found.statistics["audit"] == pytest.approx(expected.audit)


@pytest.mark.parametrize("run", [HERE, pytest.param(IN_PIECES, marks=pytest.mark.slow)], ids=str)
@settings(max_examples=8)
@given(
    seed=st.integers(0, 10_000),
    options=st.sampled_from([CHARACTERS, WORDS]),
    all_pairs=st.booleans(),
    method=st.sampled_from([EXACT, SURE]),
    keep=st.sampled_from(KEEPS),
)
def test_any_border_is_kept(run, seed, options, all_pairs, method, keep):
    old, new = sides(seed)
    expected = OneSided(old, new, all_pairs=all_pairs, **options)
    check_found(run.find(new, against=old, all_pairs=all_pairs, **options, **method), expected)
    clean = run.dedup(new, against=old, keep=keep, **options, **method)
    check_clean(clean, OneSided(old, new, keep=keep, **options))


CLEANED = {
    "first": ("first", "components"),
    "last": ("last", "components"),
    "longest": ("longest", "leader"),
    "score": ("max:score", "components"),
}


@pytest.mark.parametrize(("run", "keep", "cluster"), cases(CLEANED, telling={"score"}))
def test_only_new_documents_go(run, keep, cluster):
    old, new = sides(6)
    options = {**CHARACTERS, "keep": keep, "cluster": cluster}
    expected = OneSided(old, new, **options)
    oracle.check_border(expected)
    stay = set(expected.survivors.values())
    assert {expected.is_old(place) for place in stay} == {True, False}, "one side only stays"
    assert not any(expected.is_old(place) for place in expected.survivors)
    if cluster == "components":
        olds = [sum(map(expected.is_old, group)) for group in expected.groups]
        assert max(olds) > 1, "no cluster has two old documents"
        firsts = {place: min(group) for group in expected.groups for place in group}
        named = [(firsts[place], stays) for place, stays in expected.survivors.items()]
        assert any(a != b and expected.is_old(b) for a, b in named), "the first old is the nearest"
    check_clean(run.dedup(new, against=old, **options, **EXACT), expected)


@on_both_engines
def test_crowded_buckets_are_cleaned_by_hubs_of_both_sides(run):
    old, new = sides(1, crowded=True)
    method = {"method": "lsh", "bands": 4, "rows": 2}
    clean = run.dedup(new, against=old, keep="last", **CHARACTERS, **method)
    buckets = buckets_of(clean, method)
    expected = OneSided(old, new, keep="last", **CHARACTERS, buckets=buckets)
    every = OneSided(old, new, **CHARACTERS, buckets=buckets)
    new_pairs = Oracle(new, **CHARACTERS, buckets=buckets)
    assert len(expected.meetings) < len(every.meetings) + len(new_pairs.meetings)
    check_clean(clean, expected)


@on_both_engines
def test_documents_that_share_an_id_across_the_border_are_told_apart(run):
    old, new = sides(7, relabelled=True)
    expected = OneSided(old, new, all_pairs=True, **CHARACTERS)
    assert len(expected.repeated) >= 5
    check_found(run.find(new, against=old, all_pairs=True, **CHARACTERS, **SURE), expected)
    expected = OneSided(old, new, keep="longest", **CHARACTERS)
    check_clean(run.dedup(new, against=old, keep="longest", **CHARACTERS, **EXACT), expected)


MEASURES = {
    "containment": {"measure": "containment", "threshold": 0.7, "k": 4, "method": "lsh"},
    "containment, joined": {"measure": "containment", "threshold": 0.7, "k": 4, **EXACT},
    "edit": {"measure": "edit", "within": 12},
    "bags": {"bag": True, "threshold": 0.6, "k": 4},
    "common": {**CHARACTERS, "common": 0.4, **SURE},
}


@pytest.mark.parametrize(
    ("run", "options"),
    cases({name: (each,) for name, each in MEASURES.items()}, telling={"containment"}),
)
@pytest.mark.parametrize("all_pairs", [False, True])
def test_a_one_sided_run_finds_what_crosses_the_border_in_a_whole_one(run, options, all_pairs):
    old, new = sides(8)
    whole = HERE.find(pa.concat_tables([old, new]), all_pairs=all_pairs, **options)
    is_old = set(old["id"].to_pylist())
    rows = whole.pairs.to_pylist()
    crossing = [r for r in rows if r["id_a"] in is_old and r["id_b"] not in is_old]
    assert 10 < len(crossing) < len(rows) - 10
    found = run.find(new, against=old, all_pairs=all_pairs, **options)
    assert found.pairs.to_pylist() == crossing


@needs_java
def test_spark_says_what_one_machine_says():
    """In all that no oracle tells: near misses, differences, and a column that old ones lack."""
    run = Run(2, 5)
    old, new = sides(9)
    old = old.drop_columns("score")
    options = {**CHARACTERS, **MISSING}
    both = [
        each.find(new, against=old, around=30, audit=20, difference=True, **options)
        for each in (HERE, run)
    ]
    assert both[0].pairs == both[1].pairs
    assert both[0].statistics == both[1].statistics
    assert both[0].around == both[1].around
    clean = [each.dedup(new, against=old, keep="max:score", **options) for each in (HERE, run)]
    assert clean[0].removed == clean[1].removed
    assert clean[0].kept == clean[1].kept


def test_near_misses_and_audits_are_of_new_documents():
    old, new = sides(9)
    found = nearly.find(new, against=old, around=1_000, audit=1_000, **CHARACTERS, **EXACT)
    expected = OneSided(old, new, **CHARACTERS)
    assert found.statistics.audit.documents == expected.audit["documents"]
    assert found.statistics.audit.recall == 1
    is_old = set(old["id"].to_pylist())
    for table in (found.around.above, found.around.below):
        assert table.num_rows
        assert all(name in is_old for name in table["id_a"].to_pylist())
        assert not any(name in is_old for name in table["id_b"].to_pylist())


def test_vectors_and_items_have_sides_too():
    vectors = pa.table({"id": ["a", "b", "c"], "v": [[1.0, 0.0], [0.0, 1.0], [1.0, 0.01]]})
    found = nearly.find(vectors.slice(2), against=vectors.slice(0, 2), vector="v", threshold=0.9)
    assert [row[:2] for row in rows_of(found.pairs)] == [("a", "c")]
    items = pa.table({"id": [1, 2, 3], "i": [["x", "y"], ["x", "y"], ["y", "x"]]})
    found = nearly.find(items.slice(2), against=items.slice(0, 2), items="i")
    assert rows_of(found.pairs) == [(1, 3, 1.0)]


def test_what_differs_in_kind_is_refused():
    texts = pa.table({"id": ["a"], "text": ["one two three"]})
    items = pa.table({"id": ["b"], "text": [["one", "two"]]})
    short = pa.table({"id": ["a"], "text": [[1.0, 2.0]]})
    long = pa.table({"id": ["a"], "text": [[1.0, 2.0, 3.0]]})
    with pytest.raises(nearly.NearlyError):
        nearly.find(texts, against=items)
    with pytest.raises(nearly.SourceError, match=r"vectors of 2 numbers .* vectors of 3 numbers"):
        nearly.find(short, against=long, vector="text")


def test_ids_of_two_kinds_become_strings():
    old = pa.table({"id": [7, 8], "text": ["one two three four", "other words at all"]})
    new = {"n": "one two three four five"}
    found = nearly.find(new, against=old, threshold=0.5)
    assert [row[:2] for row in rows_of(found.pairs)] == [("7", "n")]
    assert found.text("7") == "one two three four"


def test_row_numbers_on_both_sides_are_told_apart():
    found = nearly.find(["one two three", "four five six"], against=["four five six"])
    row = found.pairs.to_pylist()[0]
    assert row == {
        "id_a": 0, "id_b": 1, "similarity": 1.0,
        "file_a": "against", "row_a": 0, "file_b": None, "row_b": 1,
    }  # fmt: skip
    assert found.text(0, file="against", row=0) == "four five six"
    clean = nearly.dedup(["one two three", "four five six"], against=["four five six"])
    assert clean.kept["text"].to_pylist() == ["one two three"]


def test_a_file_against_itself_has_a_name_for_each_side(tmp_path):
    (tmp_path / "a.csv").write_text("id,text\n1,one two three\n2,four five six\n")
    found = nearly.find(tmp_path / "a.csv", against=tmp_path / "a.csv")
    assert {row["file_a"] for row in found.pairs.to_pylist()} == {f"against/{tmp_path}/a.csv"}
    assert len(found) == 2
    assert len(nearly.dedup(tmp_path / "a.csv", against=tmp_path / "a.csv").kept) == 0


def test_saved_results_read_both_sides_again(tmp_path):
    old, new = sides(10)
    pa.parquet.write_table(old, tmp_path / "old.parquet")
    pa.parquet.write_table(new, tmp_path / "new.parquet")
    given = {"against": tmp_path / "old.parquet", **CHARACTERS, **EXACT}
    found = nearly.find(tmp_path / "new.parquet", **given)
    found.save(tmp_path / "found")
    again = nearly.open(tmp_path / "found")
    assert again.pairs == found.pairs
    texts = dict(zip(old["id"].to_pylist(), old["text"].to_pylist(), strict=True))
    first = found.pairs["id_a"][0].as_py()
    assert again.text(first) == texts[first]
    higher = nearly.find(tmp_path / "new.parquet", **{**given, "threshold": 0.8})
    assert 0 < len(higher) < len(found)
    for cut in (found.at(0.8), again.at(0.8)):
        assert cut.pairs == higher.pairs
        assert cut.clusters == higher.clusters
    clean = nearly.dedup(tmp_path / "new.parquet", **given)
    clean.save(tmp_path / "clean")
    assert nearly.open(tmp_path / "clean").kept == clean.kept
    with pytest.raises(nearly.SettingsError, match="old documents stand elsewhere"):
        clean.plan()


def test_objects_of_another_process_are_given_again(tmp_path):
    old, new = sides(10)
    found = nearly.find(new, against=old, **CHARACTERS)
    found.save(tmp_path / "found")
    first = found.pairs["id_a"][0].as_py()
    with pytest.raises(nearly.EngineError):
        nearly.open(tmp_path / "found").text(first)
    again = nearly.open(tmp_path / "found", source=new, against=old)
    assert again.text(first) == found.text(first)


def test_a_copy_names_the_old_document_and_chains_count_as_they_do_without_a_border():
    words = [f"w{i}" for i in range(30)]
    texts = [" ".join(words[i : i + 20]) for i in (0, 4, 8)]  # each near the next only
    old, new = {"o": texts[0]}, {"near": texts[1], "far": texts[2], "copy": texts[0].upper()}
    clean = collected(nearly.dedup(new, against=old, unit="word", k=1, threshold=0.6))
    assert rows_of(clean.removed.select(["id", "survivor"])) == [
        ("near", "o"), ("far", "o"), ("copy", "o"),
    ]  # fmt: skip
    assert counted(clean, ["removed", "below"]) == {"removed": 3, "below": 1}
