"""One contract for every engine: the same bodies run on one machine and on Spark.

What they expect comes from the plain Python of `oracle.py`, or, where a corpus is too large for
that, from one machine. Corpora come from `relatives.py`, and every case is refused that could not
tell a right answer from a wrong one. One machine also works in small pieces from disk; Spark is cut
into 1, 2, 3 and 7 partitions, and rows into batches of 1, 5 and 10,000. `planted_faults.py` proves
that a wrong engine does not pass.
"""

import itertools
import json
import random
import sysconfig
from functools import cache
from pathlib import Path
from unittest.mock import patch

import oracle
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import relatives
from clusters import needs_java
from engines import Run, in_rounds
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import Buckets, Oracle

import nearly
from nearly.stages.audit import draw
from nearly.text.kind import KINDS, kind_of
from nearly.tuning.method import TRIED

HERE = Run(None, 8_192)
IN_PIECES = Run(None, 5, small=True)
QUICK = (HERE, IN_PIECES, Run(2, 5, small=True))
SLOW = (Run(1, 10_000), Run(3, 10_000, small=True), Run(7, 1), Run(7, 10_000))


def params(runs, quick=(HERE, IN_PIECES)):
    """Each run; `make test` leaves out those that are not quick, which are Spark's mostly."""
    return [
        pytest.param(
            run,
            id=str(run),
            marks=[needs_java] * run.is_spark + [pytest.mark.slow] * (run not in quick),
        )
        for run in runs
    ]


def cases(runs, values, telling):
    """Each case on each engine; in `make test` those that tell most in small pieces and on Spark:
    they are slow."""
    found = []
    for run, (name, case) in itertools.product(runs, values.items()):
        is_slow = run in SLOW or (run is not HERE and name not in telling)
        marks = [needs_java] * run.is_spark + [pytest.mark.slow] * is_slow
        found.append(pytest.param(run, *case, id=f"{name}-{run}", marks=marks))
    return found


on_every_engine = pytest.mark.parametrize("run", params([*QUICK, *SLOW]))
#: For what does not depend on how a corpus is cut.
on_both_engines = pytest.mark.parametrize("run", params(QUICK))
on_one_machine = pytest.mark.parametrize("run", params([HERE, IN_PIECES], quick=[HERE]))
on_spark = pytest.mark.parametrize("run", params([r for r in (*QUICK, *SLOW) if r.is_spark]))
#: Real text is too much for very small pieces.
on_real_text = pytest.mark.parametrize(
    "run", params([Run(2, 10_000), Run(7, 1), Run(7, 10_000)], quick=[Run(2, 10_000)])
)

KEEPS = (
    "first",
    "last",
    "longest",
    "shortest",
    "newest:date",
    "oldest:date",
    "max:score",
    "min:score",
)
#: Rules that look at the order, at texts and at a column, with both kinds of clusters.
TELLING = (("last", "components"), ("longest", "leader"), ("max:score", "components"))
CHARACTERS = {"threshold": 0.6, "k": 4}
WORDS = {"threshold": 0.5, "unit": "word", "k": 1}
#: With these a pair at 0.3 or above is missed with a probability below 1e-8.
SURE = {"method": "lsh", "bands": 96, "rows": 1, "recall": 1 - 1e-8}
EXACT = {"method": "exact"}
#: With these some pairs are missed, and the oracle says which.
MISSING = {"method": "lsh", "bands": 6, "rows": 4}
DATA = Path(__file__).parents[2] / "shared" / "data"


@cache
def corpus(seed):
    return relatives.corpus(seed)


def rows_of(table):
    return [tuple(row.values()) for row in table.to_pylist()]


def counted(result, expected):
    """The numbers of a result that are expected of it."""
    return {name: result.statistics[name] for name in expected}


def buckets_of(result, method):
    """How a run by hashing looked for pairs, as it says itself."""
    names = ("bands", "rows", "agreement")
    others = {name: method[name] for name in ("scheme", "seed") if name in method}
    return Buckets(*(result.statistics[name] for name in names), **others)


def check_found(found, expected):
    assert rows_of(found.pairs) == expected.pairs
    assert rows_of(found.clusters) == expected.clusters
    shown = ["id_a", "id_b", "similarity", "text_a", "text_b"]
    shown += ["file_a", "row_a", "file_b", "row_b"] if expected.repeated else []
    assert rows_of(found.top.select(shown)) == expected.top
    assert counted(found, expected.counts) == expected.counts


def check_clean(clean, expected):
    assert rows_of(clean.removed) == expected.removed
    assert rows_of(clean.clusters) == expected.clusters
    assert clean.kept.equals(expected.kept)
    assert counted(clean, expected.counts) == expected.counts


SEARCHES = {
    "characters": (0, CHARACTERS, EXACT),
    "all pairs and leaders": (1, {**CHARACTERS, "all_pairs": True, "cluster": "leader"}, SURE),
    "words and leaders": (4, {**WORDS, "cluster": "leader"}, EXACT),
    "all pairs of words": (6, {**WORDS, "all_pairs": True}, SURE),
}


@pytest.mark.parametrize(
    ("run", "seed", "options", "method"),
    cases([*QUICK, *SLOW], SEARCHES, telling={"all pairs and leaders", "words and leaders"}),
)
def test_every_pair_is_found_and_clustered(run, seed, options, method):
    expected = Oracle(corpus(seed), **options)
    oracle.check_many_kinds(expected)
    found = run.find(corpus(seed), **options, **method)
    check_found(found, expected)
    assert found.statistics["method"] == method["method"]


@on_one_machine
@settings(max_examples=12)
@given(
    seed=st.integers(0, 10_000),
    options=st.sampled_from([CHARACTERS, WORDS]),
    cluster=st.sampled_from(["components", "leader"]),
    all_pairs=st.booleans(),
    method=st.sampled_from([EXACT, SURE]),
    keep=st.sampled_from(KEEPS),
)
def test_any_corpus_is_searched_and_cleaned(run, seed, options, cluster, all_pairs, method, keep):
    options = {**options, "cluster": cluster}
    expected = Oracle(corpus(seed), all_pairs=all_pairs, **options)
    oracle.check_many_kinds(expected)
    check_found(run.find(corpus(seed), all_pairs=all_pairs, **options, **method), expected)
    clean = run.dedup(corpus(seed), keep=keep, **options, **method)
    check_clean(clean, Oracle(corpus(seed), keep=keep, **options))


SIGNED = {
    "one permutation": (2, MISSING),
    "independent": (3, {**MISSING, "scheme": "independent", "seed": 5}),
}


@pytest.mark.parametrize(
    ("run", "seed", "method"), cases([*QUICK, *SLOW], SIGNED, telling={"one permutation"})
)
def test_hashing_finds_what_meets_in_a_bucket(run, seed, method):
    found = run.find(corpus(seed), **CHARACTERS, audit=1_000, **method)
    expected = Oracle(corpus(seed), **CHARACTERS, buckets=buckets_of(found, method))
    oracle.check_many_kinds(expected)
    assert len(expected.near) < len(expected.true), "nothing is missed"
    check_found(found, expected)
    assert found.statistics["audit"] == expected.audit


def survivor_cases():
    """Every rule on one machine and on Spark; cut otherwise, a few."""
    rules = {f"{k}-{c}": (k, c) for k, c in itertools.product(KEEPS, ("components", "leader"))}
    telling = {f"{keep}-{cluster}" for keep, cluster in TELLING}
    few = {name: rules[name] for name in sorted(telling)}
    return cases(QUICK, rules, telling) + cases(SLOW, few, telling)


@pytest.mark.parametrize(("run", "keep", "cluster"), survivor_cases())
def test_the_best_of_each_cluster_survives(run, keep, cluster):
    seed, method = (0, SURE) if cluster == "components" else (371, EXACT)
    options = {**CHARACTERS, "cluster": cluster, "keep": keep}
    expected = Oracle(corpus(seed), **options)
    oracle.check_many_kinds(expected)
    oracle.check_survivors(expected)
    check_clean(run.dedup(corpus(seed), **options, **method), expected)


@pytest.mark.parametrize("run", params([*QUICK, *SLOW], quick=[HERE]))
@pytest.mark.parametrize("bands", [1, 4], ids=["met at once", "counted first"])
def test_a_crowded_bucket_is_cleaned_by_its_hubs(run, bands):
    """More documents than hubs share a bucket: they meet the hubs, and not all others."""
    table, method = relatives.crowded(1), {"method": "lsh", "bands": bands, "rows": 2}
    clean = run.dedup(table, keep="last", **CHARACTERS, **method)
    buckets = buckets_of(clean, method)
    expected = Oracle(table, keep="last", **CHARACTERS, buckets=buckets)
    oracle.check_telling(expected)
    every = Oracle(table, **CHARACTERS, buckets=buckets)
    assert len(expected.meetings) < len(every.meetings), "no bucket is crowded"
    check_clean(clean, expected)


HEADER = "Head of it all. "


DROPPED = {
    "ignored": (3, {"ignore": [HEADER, "ba do ki"]}, MISSING),
    "common": (4, {"common": 0.4}, EXACT),
    "ignored and common": (
        4,
        {"ignore": [HEADER[:9]], "common": 0.5},
        {**MISSING, "scheme": "independent"},
    ),
}


@pytest.mark.parametrize(
    ("run", "seed", "dropped", "method"), cases(QUICK, DROPPED, telling={"ignored and common"})
)
def test_what_is_dropped_counts_for_nothing(run, seed, dropped, method):
    table = relatives.spoilt(relatives.headed(corpus(seed), HEADER), seed)
    found = run.find(table, **CHARACTERS, **dropped, audit=1_000, **method)
    buckets = buckets_of(found, method) if method is not EXACT else None
    expected = Oracle(table, **CHARACTERS, **dropped, buckets=buckets)
    oracle.check_telling(expected)
    assert expected.counts["ignored"] >= 3
    assert set(expected.true) != set(Oracle(table, **CHARACTERS).true), "nothing depends on it"
    check_found(found, expected)
    assert found.statistics["audit"] == expected.audit
    assert found.statistics.get("common") == expected.common_count
    if method is EXACT:
        clean = run.dedup(table, keep="longest", **CHARACTERS, **dropped, **method)
        check_clean(clean, Oracle(table, keep="longest", **CHARACTERS, **dropped))


@on_every_engine
def test_rows_that_are_no_documents_change_nothing_else(run):
    """No id, no text: listed, never compared, and kept as they are."""
    table = relatives.spoilt(corpus(4), 4)
    expected = Oracle(table, **CHARACTERS)
    oracle.check_many_kinds(expected)
    assert expected.counts["skipped"] >= 8
    found = run.find(table, **CHARACTERS, **SURE)
    check_found(found, expected)
    assert found.skipped.num_rows == expected.counts["skipped"]
    clean = run.dedup(table, keep="longest", **CHARACTERS, **EXACT)
    check_clean(clean, Oracle(table, keep="longest", **CHARACTERS))


@on_every_engine
def test_what_is_no_document_is_listed_by_name(run):
    table = pa.table(
        {
            "id": ["a", None, "b", "c", "d"],
            "text": ["one two three", "null id", "", None, "one two three"],
        }
    )
    found = run.find(table, threshold=0.5)
    numbers = {name: found.statistics[name] for name in ("documents", "skipped", "empty", "copies")}
    assert numbers == {"documents": 3, "skipped": 2, "empty": 1, "copies": 1}
    reasons = [row["reason"] for row in found.skipped.to_pylist()]
    assert reasons == ["null id", "null text"]
    assert rows_of(found.pairs) == [("a", "d", 1.0)]


@on_every_engine
def test_documents_that_share_an_id_are_told_apart_by_their_places(run):
    """All are compared, each is named by its row, and of a clean copy the right rows go."""
    table = relatives.spoilt(relatives.relabelled(corpus(4), 1), 4)
    options = {**CHARACTERS, "all_pairs": True}
    expected = Oracle(table, **options)
    oracle.check_many_kinds(expected)
    oracle.check_repeats(expected)
    check_found(run.find(table, **options, **SURE), expected)
    expected = Oracle(table, keep="longest", **CHARACTERS)
    oracle.check_repeats(expected)
    check_clean(run.dedup(table, keep="longest", **CHARACTERS, **EXACT), expected)


@on_every_engine
def test_each_kind_of_difference_is_told(run):
    table = relatives.spoilt(relatives.relabelled(relatives.varied(corpus(4), 4), 1), 4)
    expected = Oracle(table, **WORDS, all_pairs=True)
    texts = {each.row: each.text for each in expected.documents}
    found = run.find(table, **WORDS, **EXACT, all_pairs=True, difference=True)
    assert found.pairs.column_names[-1] == "difference"
    assert rows_of(found.pairs.drop_columns("difference")) == expected.pairs
    ends = (found.pairs[end].to_pylist() for end in ("row_a", "row_b"))
    kinds = [kind_of(texts[a], texts[b]) for a, b in zip(*ends, strict=True)]
    assert set(kinds) == set(KINDS), "a kind does not occur"
    assert found.pairs["difference"].to_pylist() == kinds


@on_both_engines
def test_ids_that_have_to_be_unique_are_refused_with_both_places(run):
    ids = pa.array([7, 8, None, 9, 8, 7, 8], pa.int64())
    table = pa.table({"id": ids, "text": ["a text"] * len(ids)})
    with pytest.raises(
        nearly.SourceError, match=r"the id 8 stands twice: in row 1, and in row 4\."
    ):
        run.find(table, unique_ids=True)


@on_every_engine
def test_an_audit_of_some_documents_says_what_one_machine_says(run):
    options = {**CHARACTERS, **MISSING, "audit": 25}
    audit = run.find(corpus(2), **options).statistics["audit"]
    assert audit == HERE.find(corpus(2), **options).statistics["audit"]
    assert audit["documents"] == 25
    assert 0 < audit["found"] < audit["pairs"]
    assert 0 < audit["low"] < audit["recall"] < audit["high"] < 1


@on_both_engines
@pytest.mark.parametrize("sample", [25, pytest.param(1_000, marks=pytest.mark.slow)])
def test_pairs_next_to_the_threshold_are_shown(run, sample):
    expected = Oracle(corpus(2), **CHARACTERS)
    found = run.find(corpus(2), **CHARACTERS, **EXACT, around=sample, top=7)
    everyone = expected.representatives
    sought = [everyone[place] for place in draw(len(everyone), sample, 1)]
    above, below = expected.around(sought, 7)
    assert len(above) == len(below) == 7, "too few pairs"
    ends = ["id_a", "id_b", "similarity"]
    assert rows_of(found.around.above.select(ends)) == above
    assert rows_of(found.around.below.select(ends)) == below
    assert found.around.below.column_names == found.top.column_names
    assert (found.around.searched, found.around.documents) == (len(sought), len(everyone))
    assert [row[:3] for row in expected.top[:7]] == rows_of(found.top.select(ends))


@on_spark
def test_components_that_grow_in_rounds_are_the_same(run):
    expected = Oracle(corpus(0), **CHARACTERS)
    oracle.check_many_kinds(expected)
    with in_rounds():
        check_found(run.find(corpus(0), **CHARACTERS, **SURE), expected)


@pytest.mark.parametrize("run", params(QUICK[2:]))
def test_a_chain_that_one_round_does_not_connect_is_one_cluster(run):
    chain = relatives.long_chain(0)
    expected = Oracle(chain, **CHARACTERS)
    assert max(map(len, expected.groups)) >= 40
    with in_rounds():
        check_found(run.find(chain, **CHARACTERS, **SURE), expected)


def table_of(texts):
    ids = pa.array([f"d{i:04}" for i in range(len(texts))])
    return pa.table({"id": ids, "text": pa.array(texts, pa.string())})


@on_every_engine
def test_k_and_method_are_decided_by_the_whole_corpus(run):
    short, long = ["a few words"] * 3, ["a long story " * 400]
    assert run.find(table_of(short)).statistics["k"] == 5
    decided = run.find(table_of([*short, *long])).statistics
    assert (decided["k"], decided["method"], decided["why"]) == (5, "exact", "the corpus is small")
    assert run.find(table_of([*short, *long * 3])).statistics["k"] == 9


@on_both_engines
def test_a_join_that_is_tried_is_settled_alike(run):
    """Strangers are joined; where all share their words, they are hashed."""
    draw = random.Random(3)
    strangers = [" ".join(f"w{draw.randrange(3_000)}" for _ in range(30)) for _ in range(120)]
    crowd = [" ".join(f"w{draw.randrange(40)}" for _ in range(20)) for _ in range(120)]
    with patch("nearly.measures.jaccard.MOST_TO_JOIN", {"char": 0, "word": 2**10}):
        joined = run.find(table_of(strangers), unit="word", k=2).statistics
        hashed = run.find(table_of(crowd), unit="word", k=1).statistics
    assert (joined["method"], joined["why"]) == ("exact", TRIED)
    assert (hashed["method"], hashed["why"]) == (
        "lsh",
        "a sample says that hashing is cheaper",
    )


@on_every_engine
def test_row_numbers_are_ids_where_there_are_no_others(run):
    table = table_of([f"{i} a line that is said twice" for i in (1, 2, 3, 2, 1)]).select(["text"])
    assert rows_of(run.find(table, threshold=1.0).pairs) == [(0, 4, 1.0), (1, 3, 1.0)]


@on_every_engine
def test_a_pair_exactly_at_the_threshold_is_found(run):
    table = table_of(["a b c d", "a b c d e", "a b c e f", "p q r s t", "p q r s"])
    found = run.find(table, threshold=0.8, unit="word", k=1, **EXACT)
    assert rows_of(found.pairs) == [("d0000", "d0001", 0.8), ("d0003", "d0004", 0.8)]


@on_every_engine
def test_empty_documents_and_lonely_ones_are_no_trouble(run):
    found = run.find(table_of(["", "", "alone"]), threshold=0.5)
    assert (found.pairs.num_rows, found.clusters.num_rows, found.top.num_rows) == (0, 0, 0)
    clean = run.dedup(table_of(["", "", "alone"]), threshold=0.5)
    assert (clean.removed.num_rows, clean.kept.num_rows) == (0, 3)


@on_every_engine
@pytest.mark.parametrize("method", ["exact", "lsh"])
def test_no_documents_give_an_empty_result(run, method):
    nothing = table_of(["a"]).slice(0, 0)
    found = run.find(nothing, method=method)
    assert (found.pairs.num_rows, found.clusters.num_rows, found.top.num_rows) == (0, 0, 0)
    assert found.statistics["documents"] == 0
    clean = run.dedup(nothing, method=method, keep="longest")
    assert (clean.removed.num_rows, clean.kept.num_rows) == (0, 0)


@on_every_engine
def test_several_columns_of_text_are_joined(run):
    columns = {"title": ["a title", None, "a title"], "body": ["and a text", "and a text", None]}
    table = table_of(["x"] * 3).select(["id"])
    for name, values in columns.items():
        table = table.append_column(name, pa.array(values))
    found = run.find(table, text=["title", "body"], threshold=0.1, k=3, method="exact")
    # 15, 8 and 5 different shingles of three characters.
    assert [row[2] for row in rows_of(found.pairs)] == [8 / 15, 5 / 15]
    assert found.statistics["source"]["text"] == ["title", "body"]


def standard_library():
    """Functions of Python's own library: real text, with relatives, that every machine has."""
    folder = Path(sysconfig.get_path("stdlib"))
    modules = (
        "argparse",
        "ast",
        "calendar",
        "difflib",
        "inspect",
        "statistics",
        "tarfile",
        "typing",
    )
    sources = [(folder / f"{name}.py").read_text() for name in modules]
    return [function for source in sources for function in source.split("\n    def ")]


def same_everywhere(statistics):
    """All but what depends on how the exact method cuts its work."""
    cut = ("meetings", "verified") if statistics["method"] == "exact" else ()
    return {name: value for name, value in statistics.items() if name not in cut}


@on_real_text
@pytest.mark.parametrize(
    "options",
    [
        {"threshold": 0.6, "unit": "word", "method": "lsh", "cluster": "leader", "all_pairs": True},
        pytest.param({"threshold": 0.5, "method": "lsh"}, marks=pytest.mark.slow),
        pytest.param({"threshold": 0.5, "method": "exact"}, marks=pytest.mark.slow),
    ],
    ids=["words and leaders", "hashing", "exact"],
)
def test_real_text_gives_what_one_machine_gives(run, options):
    table = table_of(standard_library())
    there, here = (each.find(table, audit=50, **options) for each in (run, HERE))
    assert same_everywhere(there.statistics) == same_everywhere(here.statistics)
    assert here.pairs.num_rows > 20
    for name in ("pairs", "clusters", "top", "skipped"):
        assert there.tables[name].equals(here.tables[name]), name


@on_real_text
@pytest.mark.parametrize("cluster", ["components", pytest.param("leader", marks=pytest.mark.slow)])
def test_a_clean_copy_of_real_text_is_that_of_one_machine(run, cluster):
    table = table_of(standard_library())
    options = {"threshold": 0.4, "method": "lsh", "keep": "longest", "cluster": cluster}
    there, here = run.dedup(table, **options), HERE.dedup(table, **options)
    assert there.statistics == here.statistics
    assert here.removed.num_rows > 20
    for name in ("removed", "clusters", "kept"):
        assert there.tables[name].equals(here.tables[name]), name


@needs_java
@pytest.mark.slow
@pytest.mark.parametrize("corpus", ["debian/docs.parquet", "newsgroups", "licences", "tweets"])
def test_spark_gives_of_corpora_what_one_machine_gives(corpus):
    tables = sorted((DATA / corpus).glob("*.parquet")) or [DATA / corpus]
    if not tables[0].is_file():
        pytest.skip("the corpus is not on this machine")
    table = pq.read_table(tables[0]).slice(0, 8_000)
    there, here = Run(7, 10_000).find(table), HERE.find(table)
    assert here.pairs.num_rows > 20
    assert json.dumps(there.statistics) == json.dumps(here.statistics)
    for name in ("pairs", "clusters"):
        assert there.tables[name].equals(here.tables[name]), name
