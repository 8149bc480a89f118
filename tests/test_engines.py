"""One contract for every engine: the same bodies run on one machine and on Spark.

What they expect comes from the textbook, or, where a corpus is too large for that, from one
machine. Spark is cut into 1, 2 and 7 partitions, and rows into batches of 1 and 10,000.
"""

import json
import sysconfig
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from clusters import needs_java
from engines import Run, runs
from hypothesis import given, settings
from hypothesis import strategies as st

from nearly import textbook
from nearly.settings import TextSettings

QUICK = (Run(None, 8_192), Run(2, 10_000))
EVERY = runs([(1, 1), (1, 10_000), (2, 1), (2, 10_000), (7, 1), (7, 10_000)])
ALL = [
    pytest.param(
        run,
        id=str(run),
        marks=[needs_java] * run.is_spark + [pytest.mark.slow] * (run not in QUICK),
    )
    for run in EVERY
]
#: Made corpora take a run each: all numbers of partitions and sizes of batches, not all of both.
MOST = [param for param in ALL if param.values[0] in (*QUICK, Run(1, 1), Run(7, 1))]
ON_SPARK = [param for param in ALL if param.values[0].is_spark]

#: With these a pair at 0.3 or above is missed with a probability below 1e-8.
SURE = {"bands": 96, "rows": 1, "recall": 1 - 1e-8}
WORDS = st.sampled_from(["the", "cat", "sat", "on", "a", "mat", "dog", "ran", "日本", "é", "ß"])
SENTENCES = st.lists(WORDS, max_size=12).map(" ".join)
CORPORA = st.lists(SENTENCES, min_size=1, max_size=14)
DATA = Path(__file__).parents[2] / "shared" / "data"

few_examples = settings(max_examples=2)
on_every_engine = pytest.mark.parametrize("run", ALL)
on_most_engines = pytest.mark.parametrize("run", MOST)
on_spark = pytest.mark.parametrize("run", ON_SPARK)


def table_of(texts, **columns):
    ids = pa.array([f"d{i:04}" for i in range(len(texts))])
    return pa.table({"id": ids, "text": pa.array(texts, pa.string()), **columns})


def similar_pairs(texts, threshold, **options):
    text = TextSettings(**options)
    normal = [textbook.normalise(t, text) for t in texts]
    return textbook.similar_pairs(normal, threshold, text.unit, text.whole_k)


def names(documents):
    return [f"d{i:04}" for i in documents]


def rows_of(table):
    return [tuple(row.values()) for row in table.to_pylist()]


def groups_of(clusters):
    groups: dict[int, list[str]] = {}
    for row in clusters.to_pylist():
        groups.setdefault(row["cluster"], []).append(row["id"])
    assert list(groups) == list(range(len(groups))), "clusters are numbered in order"
    return list(groups.values())


@on_most_engines
@few_examples
@given(
    texts=CORPORA,
    threshold=st.sampled_from([0.3, 0.5, 0.75, 1.0]),
    unit=st.sampled_from(["char", "word"]),
    k=st.integers(1, 6),
    method=st.sampled_from([{"method": "exact"}, SURE]),
)
def test_pairs_are_those_of_the_textbook(run, texts, threshold, unit, k, method):
    options = {"unit": unit, "k": k}
    found = run.find(table_of(texts), threshold=threshold, all_pairs=True, **method, **options)
    pairs = similar_pairs(texts, threshold, **options)
    expected = [(*names(pair), float(similarity)) for pair, similarity in sorted(pairs.items())]
    assert rows_of(found.pairs) == expected
    assert found.statistics["pairs"] == len(expected)
    assert found.statistics["documents"] == len(texts)


@on_most_engines
@few_examples
@given(texts=CORPORA)
def test_components_are_those_of_the_textbook(run, texts):
    found = run.find(table_of(texts), threshold=0.4, k=3, **SURE)
    pairs = similar_pairs(texts, 0.4, k=3)
    expected = sorted(sorted(group) for group in textbook.components(pairs) if len(group) > 1)
    assert groups_of(found.clusters) == [names(group) for group in expected]
    assert found.statistics["clusters"] == len(expected)


@on_most_engines
@few_examples
@given(texts=CORPORA.map(lambda texts: list(dict.fromkeys(texts))))
def test_leaders_are_those_of_the_textbook(run, texts):
    found = run.find(table_of(texts), threshold=0.4, k=3, cluster="leader", **SURE)
    leader = textbook.leaders(range(len(texts)), similar_pairs(texts, 0.4, k=3))
    groups: dict[int, list[int]] = {}
    for document in range(len(texts)):
        groups.setdefault(leader[document], []).append(document)
    expected = sorted(group for group in groups.values() if len(group) > 1)
    assert groups_of(found.clusters) == [names(group) for group in expected]


@on_most_engines
@few_examples
@given(
    texts=CORPORA,
    keep=st.sampled_from(["first", "last", "longest", "shortest", "newest:date", "min:score"]),
    cluster=st.sampled_from(["components", "leader"]),
)
def test_survivors_are_those_of_the_rule(run, texts, keep, cluster):
    dates = [f"20{i * 7 % 30 + 10}-01-01" for i in range(len(texts))]
    scores = [i * 5 % 11 for i in range(len(texts))]
    table = table_of(texts, date=pa.array(dates, pa.string()), score=pa.array(scores, pa.int64()))
    options = {"threshold": 0.4, "k": 3, "cluster": cluster, **SURE}
    clean = run.dedup(table, keep=keep, **options)
    rank = {
        "first": lambda i: i,
        "last": lambda i: -i,
        "longest": lambda i: -len(texts[i]),
        "shortest": lambda i: len(texts[i]),
        "newest:date": lambda i: [-ord(c) for c in dates[i]],
        "min:score": lambda i: scores[i],
    }[keep]
    expected = {}
    for group in groups_of(clean.clusters):
        members = [int(name[1:]) for name in group]
        best = min(members, key=lambda i: (rank(i), i))
        expected |= {i: best for i in members if i != best}
    text = TextSettings(k=3)
    sets = [textbook.shingles(textbook.normalise(t, text), "char", 3) for t in texts]
    assert [(r["id"], r["survivor"], r["similarity"]) for r in clean.removed.to_pylist()] == [
        (*names([i, best]), float(textbook.jaccard(sets[i], sets[best])))
        for i, best in sorted(expected.items())
    ]
    stays = [i for i in range(len(texts)) if i not in expected]
    assert clean.kept.equals(table.take(stays).combine_chunks())


@on_every_engine
def test_what_is_no_document_is_counted_and_listed(run):
    table = pa.table(
        {
            "id": ["a", None, "b", "a", "c", "d", "b"],
            "text": ["one two three", "null id", "", "again", None, "one two three", "again"],
        }
    )
    found = run.find(table, threshold=0.5)
    numbers = {name: found.statistics[name] for name in ("documents", "skipped", "empty", "copies")}
    assert numbers == {"documents": 3, "skipped": 4, "empty": 1, "copies": 1}
    reasons = [row["reason"] for row in found.skipped.to_pylist()]
    assert reasons[:2] == ["null id", "null text"]
    assert [row["record"] for row in found.skipped.to_pylist()[2:]] == ["id a", "id b"]
    assert rows_of(found.pairs) == [("a", "d", 1.0)]


@on_every_engine
def test_k_and_method_are_decided_by_the_whole_corpus(run):
    short, long = ["a few words"] * 3, ["a long story " * 400]
    assert run.find(table_of(short)).statistics["k"] == 5
    decided = run.find(table_of([*short, *long])).statistics
    assert (decided["k"], decided["method"], decided["why"]) == (5, "exact", "the corpus is small")
    assert run.find(table_of([*short, *long * 3])).statistics["k"] == 9


@on_every_engine
def test_row_numbers_are_ids_where_there_are_no_others(run):
    table = table_of([f"{i} a line that is said twice" for i in (1, 2, 3, 2, 1)]).select(["text"])
    assert rows_of(run.find(table, threshold=1.0).pairs) == [(0, 4, 1.0), (1, 3, 1.0)]


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


@on_spark
@pytest.mark.parametrize(
    "options",
    [
        {"threshold": 0.5, "method": "lsh"},
        {"threshold": 0.6, "unit": "word", "method": "lsh", "cluster": "leader", "all_pairs": True},
        {"threshold": 0.5, "method": "exact"},
    ],
    ids=["hashing", "words and leaders", "exact"],
)
def test_real_text_gives_what_one_machine_gives(run, options):
    table = table_of(standard_library())
    there, here = (
        run.find(table, audit=50, **options),
        Run(None, 8_192).find(table, audit=50, **options),
    )
    assert there.statistics == here.statistics
    assert here.pairs.num_rows > 20
    for name in ("pairs", "clusters", "top", "skipped"):
        assert there.tables[name].equals(here.tables[name]), name


@on_spark
@pytest.mark.parametrize("cluster", ["components", "leader"])
def test_a_clean_copy_of_real_text_is_that_of_one_machine(run, cluster):
    table = table_of(standard_library())
    options = {"threshold": 0.4, "method": "lsh", "keep": "longest", "cluster": cluster}
    there, here = run.dedup(table, **options), Run(None, 8_192).dedup(table, **options)
    assert there.statistics == here.statistics
    assert here.removed.num_rows > 20
    for name in ("removed", "clusters", "kept"):
        assert there.tables[name].equals(here.tables[name]), name


@needs_java
@pytest.mark.slow
@pytest.mark.parametrize("corpus", ["debian/docs.parquet", "newsgroups", "licences", "tweets"])
def test_corpora_give_what_one_machine_gives(corpus):
    tables = sorted((DATA / corpus).glob("*.parquet")) or [DATA / corpus]
    if not tables[0].is_file():
        pytest.skip("the corpus is not on this machine")
    table = pq.read_table(tables[0])
    there, here = Run(7, 10_000).find(table), Run(None, 8_192).find(table)
    assert json.dumps(there.statistics) == json.dumps(here.statistics)
    for name in ("pairs", "clusters"):
        assert there.tables[name].equals(here.tables[name]), name
