"""What only a cluster can do, or go wrong at: skew, rounds, checkpoints, machines that die."""

import os
import subprocess
import sys
import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import relatives
from clusters import QUICK_JAVA, StandaloneCluster, needs_java
from corpora import clustered, templated
from engines import Run, collected, frame_of, session
from patience import PATIENCE
from pyspark import RDD

import nearly
from nearly.engines.spark import component, exchange
from nearly.engines.spark.partition.component import Edges

pytestmark = needs_java
HERE = Run(None, 8_192)
RDD_PARTITION_BY = RDD.partitionBy


class Stages:
    """Progress that remembers what was begun."""

    def __init__(self):
        self.names = []

    def stage(self, name, _total):
        self.names.append(name)

    def advance(self, steps=1):
        pass


def table_of(texts):
    return pa.table({"id": [f"d{i}" for i in range(len(texts))], "text": texts})


def test_tables_are_lazy_frames_of_the_users_session():
    frame = frame_of(table_of(["the same text"] * 3 + ["another one"]), 2)
    found = nearly.find(frame, id="id", text="text", threshold=0.8)
    assert type(found.pairs).__name__ == "DataFrame"
    assert found.pairs.sparkSession is frame.sparkSession
    assert found.pairs.columns == ["id_a", "id_b", "similarity"]
    assert found.clusters.filter("cluster = 0").count() == 3
    assert found.to_arrow().to_pylist() == [
        {"id_a": "d0", "id_b": "d1", "similarity": 1.0},
        {"id_a": "d0", "id_b": "d2", "similarity": 1.0},
    ]
    assert len(found) == 2


def test_columns_are_taken_by_their_names_dots_and_all(tmp_path):
    table = table_of(["the same text"] * 2).rename_columns(["the.id", "the.text"])
    frame = frame_of(table, 2)
    options = {"id": "the.id", "text": "the.text", "checkpoint": str(tmp_path)}
    assert nearly.find(frame, **options).to_arrow().num_rows == 1


CROWDED = {
    "buckets": ("nearly.engines.spark.near_pair.usual_meetings", lambda *_: -1),
    "clusters": ("nearly.engines.spark.outcome.MOST_PAIRS", 1),
}


@pytest.mark.parametrize("where", [[], ["buckets"], ["clusters"], ["buckets", "clusters"]])
@pytest.mark.parametrize("settings", [{"method": "lsh"}, {"method": "exact"}])
def test_a_small_corpus_is_one_task_until_it_is_crowded_and_answers_the_same(where, settings):
    table, options = relatives.corpus(5), {"id": "id", "text": "text", "threshold": 0.6} | settings
    with ExitStack() as stack:
        for name in where:
            stack.enter_context(patch(*CROWDED[name]))
        sent = stack.enter_context(patch.object(RDD, "partitionBy", autospec=True))
        sent.side_effect = RDD_PARTITION_BY
        found = Run(3, 10_000).find(table, **options)
        is_sent = bool(sent.call_count)
        clean = Run(3, 10_000).dedup(table, **options)
    assert found.pairs.num_rows > 20
    assert is_sent == ("clusters" in where or (where == ["buckets"] and options["method"] == "lsh"))
    for there, here in (
        (found, HERE.find(table, **options)),
        (clean, HERE.dedup(table, **options)),
    ):
        assert there.statistics == here.statistics
        for name, told in here.tables.items():
            assert there.tables[name].equals(told), name


def test_what_is_together_is_in_order():
    numbers = exchange.whole(session().sparkContext.parallelize(range(9), 9))
    both = exchange.together(exchange.kept(numbers))
    assert both.glom().collect() == [list(range(9))]
    assert exchange.apart(both, 9).glom().collect() == [[number] for number in range(9)]
    jumbled = (both, [3, 1, 2, 0, 8, 7, 6, 5, 4])
    with patch("nearly.engines.spark.exchange.coalesced", return_value=jumbled):
        assert exchange.together(numbers).collect() == jumbled[1]


def test_a_missing_column_is_named():
    frame = frame_of(table_of(["a", "b"]), 1)
    with pytest.raises(nearly.MissingError, match=r"'body'.*text"):
        nearly.find(frame, text="body")
    with pytest.raises(nearly.MissingError, match=r"'date'.*text"):
        nearly.dedup(frame, keep="newest:date")


def test_an_error_in_a_worker_is_the_error_of_one_machine():
    table = table_of(["one", "one", "two"]).append_column("date", pa.array(["soon"] * 3))
    with pytest.raises(nearly.SourceError, match="does not read as dates"):
        nearly.dedup(frame_of(table, 2), keep="newest:date")
    with pytest.raises(nearly.UnreadableError, match=r"null text.*without strict"):
        nearly.find(frame_of(table_of(["one", None]), 1), strict=True)


@pytest.mark.parametrize("most_edges", [0, 10_000])
def test_components_are_connected_in_rounds_or_at_once(most_edges, tmp_path):
    size, partitions = 400, 3
    order = np.random.default_rng(2).permutation(size)
    ends = np.stack([order[:-1], order[1:]])[:, np.arange(size - 1) % 100 != 0]
    edges = [Edges(ends.max(axis=0)[i::3], ends.min(axis=0)[i::3]) for i in range(partitions)]
    there = session().sparkContext.parallelize(edges, partitions)
    parts = component.connect(
        there, size, partitions, folder=str(tmp_path), most_edges=most_edges
    ).collect()
    labels = np.arange(size)
    for part in parts:
        labels[part.documents] = part.others
    for chain in np.split(order, [1, 101, 201, 301]):
        assert set(labels[chain]) == {chain.min()}
    assert any(tmp_path.rglob("part-*")) == (most_edges == 0), "rounds are kept"


HASHED = {"threshold": 0.6, "method": "lsh"}


class TestCheckpoint:
    def find(self, path, folder, **options):
        watch = Stages()
        found = nearly.find(
            str(path),
            engine="spark",
            checkpoint=folder,
            progress=watch,
            **HASHED | options,
        )
        return collected(found), watch.names

    def test_finished_stages_are_not_done_again(self, tmp_path):
        session()
        path, folder = tmp_path / "docs.parquet", tmp_path / "kept"
        pq.write_table(table_of(clustered()), path)
        first, stages = self.find(path, folder)
        assert stages == ["read and sign", "buckets", "verify", "cluster"]
        again, stages = self.find(path, folder)
        assert stages == ["read and sign", "verified pairs from the checkpoint", "cluster"]
        assert again.statistics == first.statistics
        assert again.pairs.equals(first.pairs)
        assert again.top.equals(first.top)

    @pytest.mark.slow
    def test_what_buckets_decided_is_decided_alike_and_remembered(self, tmp_path):
        """Text in common: hashing was chosen by size, and gives way to the join."""
        session()
        table, path = templated(2_500), tmp_path / "forms.parquet"
        pq.write_table(table, path)
        options = {"method": "auto", "threshold": 0.8}
        small = patch("nearly.measures.jaccard.MOST_TO_JOIN", {"char": 2**12})
        with small:
            here = HERE.find(table, **options)
            (first, stages), (again, _) = (
                self.find(path, tmp_path / "kept", **options) for _ in range(2)
            )
        assert stages == ["read and sign", "buckets", "join", "cluster"]
        assert again.statistics == first.statistics
        assert first.pairs.num_rows > 0
        assert first.pairs.cast(here.pairs.schema).equals(here.pairs)
        for name in ("method", "why", "largest_bucket"):
            assert first.statistics[name] == here.statistics[name]

    @pytest.mark.slow
    def test_other_settings_or_another_input_start_anew(self, tmp_path):
        session()
        path, folder = tmp_path / "docs.parquet", tmp_path / "kept"
        pq.write_table(table_of(clustered()), path)
        self.find(path, folder)
        lower, stages = self.find(path, folder, threshold=0.5)
        assert "verify" in stages
        assert lower.pairs.equals(
            HERE.find(table_of(clustered()), threshold=0.5, method="lsh").pairs
        )
        pq.write_table(table_of(clustered(seed=6)), path)
        other, stages = self.find(path, folder)
        assert "verify" in stages
        here = HERE.find(table_of(clustered(seed=6)), **HASHED)
        assert other.pairs.equals(here.pairs)

    @pytest.mark.slow
    def test_what_was_counted_is_kept(self, tmp_path):
        session()
        path, folder = tmp_path / "docs.parquet", tmp_path / "kept"
        pq.write_table(table_of(clustered()), path)
        first, _ = self.find(path, folder, common=0.02)
        [run] = folder.iterdir()
        kept = run / "frequency" / "000000.arrow"
        before = kept.stat().st_mtime_ns
        again, _ = self.find(path, folder, common=0.02)
        assert kept.stat().st_mtime_ns == before
        here = HERE.find(table_of(clustered()), common=0.02, **HASHED)
        assert here.statistics["common"] > 0
        for there in (first, again):
            assert there.pairs.equals(here.pairs)
            assert there.statistics["common"] == here.statistics["common"]

    @pytest.mark.slow
    def test_blocks_that_were_signed_before_a_run_broke_off_are_used(self, tmp_path):
        session()
        path, folder = tmp_path / "docs.parquet", tmp_path / "kept"
        pq.write_table(table_of(clustered()), path)
        first, _ = self.find(path, folder)
        [run] = folder.iterdir()
        for file in (run / "pairs").iterdir():
            file.unlink()
        before = {file: file.stat().st_mtime_ns for file in (run / "signed").iterdir()}
        again, stages = self.find(path, folder)
        assert "verify" in stages
        assert again.pairs.equals(first.pairs)
        assert {file: file.stat().st_mtime_ns for file in (run / "signed").iterdir()} == before


@pytest.mark.slow
def test_a_hundred_thousand_identical_documents_are_linked_once():
    count = 100_000
    frame = session().range(count).selectExpr("cast(id as string) id", "'said over and over' text")
    found = nearly.find(frame, threshold=0.8, method="lsh")
    assert found.statistics.copies == len(found) == count - 1
    assert found.statistics.meetings == 0
    assert found.clusters.select("cluster").distinct().count() == 1
    clean = nearly.dedup(frame, threshold=0.8, method="lsh")
    assert [row.id for row in clean.kept.collect()] == ["0"]


@pytest.mark.slow
def test_a_hundred_thousand_documents_of_one_bucket_have_linear_edges():
    count = 100_000
    text = "concat('what all of them say, and say at some length', cast(id % 99991 as string))"
    frame = session().range(count).selectExpr("cast(id as string) id", f"{text} text")
    clean = nearly.dedup(frame, threshold=0.7, k=5, bands=2, rows=1)
    assert clean.statistics.verified <= 2 * 32 * count
    assert clean.statistics.clusters >= 1
    here = nearly.dedup(frame.toArrow(), threshold=0.7, k=5, bands=2, rows=1)
    assert clean.statistics.removed == here.statistics.removed > count // 2
    assert clean.kept.toArrow().equals(here.kept.cast(clean.kept.toArrow().schema))


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with StandaloneCluster(tmp_path_factory.mktemp("cluster")) as started:
        yield started


def nearly_command(cluster, *arguments):
    """The command line as a process of its own, on the cluster."""
    quick = [f"spark.{who}.extraJavaOptions={QUICK_JAVA}" for who in ("driver", "executor")]
    options = [word for conf in quick for word in ("--spark-conf", conf)]
    return subprocess.Popen(
        [sys.executable, "-m", "nearly", *arguments, "--master", cluster.url, *options],
        env=os.environ | {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
def test_a_worker_that_dies_in_the_middle_changes_nothing(cluster, tmp_path):
    texts = [f"{text} {i % 7}" for i in range(60) for text in clustered()]
    table = table_of(texts)
    pq.write_table(table, tmp_path / "docs.parquet", row_group_size=4_000)
    kept, pairs, members = (tmp_path / name for name in ("kept", "pairs", "clusters"))
    running = nearly_command(
        cluster, "find", str(tmp_path / "docs.parquet"), "--method", "lsh", "--threshold", "0.9",
        "--checkpoint", str(kept), "-o", str(pairs), "--clusters", str(members),
    )  # fmt: skip
    wait_for(partial(any_file, kept, "*/signed/*.arrow"), running)
    assert running.poll() is None, "it is killed in the middle"
    cluster.kill_worker(0)
    output, errors = running.communicate(timeout=PATIENCE)
    assert running.returncode == 0, errors
    assert output == ""
    here = nearly.find(table, method="lsh", threshold=0.9)
    for folder, expected in ((pairs, here.pairs), (members, here.clusters)):
        parts = [pq.read_table(part) for part in sorted(folder.glob("part-*"))]
        found = pa.concat_tables(parts)
        assert found.equals(expected.cast(found.schema)), folder.name


def any_file(folder: Path, pattern: str) -> bool:
    return next(folder.glob(pattern), None) is not None


def wait_for(happens, running):
    until = time.monotonic() + PATIENCE
    while not happens():
        assert running.poll() is None, running.communicate()
        assert time.monotonic() < until, "nothing happened"
        time.sleep(0.05)


@pytest.mark.slow
def test_a_report_has_the_same_bytes_as_on_one_machine(tmp_path):
    table = table_of([f"the bridge is closed on {day} until noon" for day in ("monday", "sunday")])
    there = nearly.find(frame_of(table, 2), id="id", text="text", threshold=0.5, method="exact")
    here = nearly.find(table, id="id", text="text", threshold=0.5, method="exact")
    assert len(here) == 1
    there.report(tmp_path / "there.html")
    here.report(tmp_path / "here.html")
    assert (tmp_path / "there.html").read_bytes() == (tmp_path / "here.html").read_bytes()
    with pytest.raises(nearly.EngineError, match="save the result"):
        there.across("text")


NOTICE = "This notice, which nobody reads, stands in each and every essay of us."


def shared_texts(count: int) -> pa.Table:
    """Essays that share passages, verbatim and edited, and a sentence that all have."""
    words = [f"{a}{b}" for a in ("bra", "clo", "dri", "fle", "gru") for b in ("ston", "ver", "mik")]
    texts = []
    for i in range(count):
        own = " ".join(words[(i * 7 + j * j) % 15] + str(i * j % 11) for j in range(40))
        shared = " ".join(
            f"{word}{n}{i // 3}" for n in range(3) for word in words if i % 3 != 1 or word[0] != "d"
        )
        texts.append(f"{own}. {shared}. {NOTICE}")
    students = [None if i % 5 == 0 else i % 4 for i in range(count)]
    return pa.table({"id": [f"e{i}" for i in range(count)], "text": texts, "student": students})


def same_passages(one: nearly.Passages, other: nearly.Passages) -> None:
    for name in ("passages", "repeats", "pairs", "documents", "skipped"):
        assert getattr(one, name).equals(getattr(other, name)), name
    assert one.texts(one.passages, "id_b") == other.texts(other.passages, "id_b")


def test_passages_are_those_of_one_machine() -> None:
    table = shared_texts(24)
    here = nearly.passages(table, least=8, group="student")
    assert {"verbatim", "edited"} == set(here.passages["kind"].to_pylist())
    assert here.repeats.num_rows
    same_passages(nearly.passages(frame_of(table, 3), least=8, group="student"), here)


@pytest.mark.slow
@pytest.mark.parametrize("partitions", [1, 5])
@pytest.mark.parametrize("more", [{}, {"common": 50.0}, {"unit": "char"}, {"verbatim": True}])
def test_passages_are_the_same_in_any_number_of_partitions(
    partitions: int, more: dict[str, object]
) -> None:
    table = shared_texts(40)
    ids = pa.array([f"e{i // 2}" for i in range(20)])
    one, other = (table.take(pa.array(range(side, 40, 2))) for side in range(2))
    other = other.set_column(0, "id", ids)
    here = nearly.passages(one, other, **more)
    assert len(here)
    assert "row_b" in here.passages.column_names
    same_passages(nearly.passages(one, frame_of(other, partitions), **more), here)
    same_passages(nearly.passages(one, other, engine="spark", **more), here)
