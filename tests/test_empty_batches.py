"""A batch without one document passes every stage: of no row, of nulls alone, of empty texts."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hamming import Hamming

import nearly
from nearly import _kernels
from nearly.arrays import string_array
from nearly.documents.budget import Budget
from nearly.documents.pair_store import CandidateStore, PairStore
from nearly.documents.spool import ColumnStore, RowStore, TextStore
from nearly.documents.table_store import TableStore
from nearly.measures.jaccard import Jaccard
from nearly.measures.pair import Block, Pairs
from nearly.measures.work import ONE_THREAD
from nearly.settings import Settings, TextSettings
from nearly.sinks import write_table
from nearly.stages.candidate import candidates
from nearly.stages.cluster import cluster
from nearly.stages.copy import give_back_copies
from nearly.stages.table import best, best_pairs
from nearly.stages.verification import cut, verify_block
from nearly.tuning.banding import Banding

THRESHOLD = Fraction(4, 5)
BANDING = Banding(2, 3)
NO_DOCUMENT = np.empty(0, np.uint32)
NO_PAIRS = Pairs(first=NO_DOCUMENT, second=NO_DOCUMENT, nearness=np.empty(0))
JACCARD = Jaccard.of(Settings(text=TextSettings(k=3)))
BATCHES = {
    "of no row": string_array([]),
    "a slice of no row": string_array(["some text"])[1:],
    "of empty texts": string_array(["", "", ""]),
}
ROWS = {"no row": [], "nulls": [None] * 3, "empty texts": [""] * 3}
TEXTS = ["one text that is long enough to be compared", "one text that is long enough to be named"]


@pytest.fixture(params=BATCHES)
def batch(request: pytest.FixtureRequest) -> pa.LargeStringArray:
    return BATCHES[request.param]


def numbers(batch: pa.Array) -> np.ndarray:
    return np.arange(len(batch), dtype=np.uint32)


def test_weighing_and_signing(batch):
    weighed, signed = JACCARD.weigh(batch), JACCARD.sign(batch, BANDING)
    for made in (weighed, signed):
        assert made.sizes.tolist() == [0] * len(batch)
        assert made.digests.shape == (len(batch), 2)
    assert signed.keys.shape == (len(batch), BANDING.bands)
    assert len(signed.sketches) == len(batch)
    assert JACCARD.extent(batch) == 0


def test_comparing_nothing(batch):
    assert len(JACCARD.compare(batch, NO_DOCUMENT, NO_DOCUMENT, THRESHOLD)) == 0
    assert list(cut(NO_DOCUMENT, NO_DOCUMENT, np.zeros(len(batch), np.int64))) == []
    read = batch.take if len(batch) else lambda _: batch
    assert len(verify_block(JACCARD, read, NO_DOCUMENT, NO_DOCUMENT, THRESHOLD)) == 0


def test_joining(batch):
    empty = Block.of(numbers(batch), batch)
    filled = Block.of(np.array([7, 8], np.uint32), string_array(TEXTS))
    assert (
        sum(len(part.pairs) for part in JACCARD.join([lambda: empty], THRESHOLD, ONE_THREAD)) == 0
    )
    both = JACCARD.join([lambda: empty, lambda: filled], Fraction(1, 2), ONE_THREAD)
    assert sum(len(part.pairs) for part in both) == 1
    for one, other in ((empty, filled), (filled, empty), (empty, empty)):
        assert sum(len(p.pairs) for p in JACCARD.join_across(one, other, THRESHOLD)) == 0


def test_searching(batch):
    some = string_array(TEXTS)
    indexed = JACCARD.index(np.array([7, 8], np.uint32), some, THRESHOLD)
    assert [len(column) for column in indexed.search(numbers(batch), batch)] == [0, 0, 0]
    assert indexed.count(numbers(batch), batch, 10).sum() == 0
    of_none = JACCARD.index(numbers(batch), batch, THRESHOLD)
    assert [len(column) for column in of_none.search(np.array([7, 8], np.uint32), some)] == [0] * 3


def test_a_measure_that_compares_everything():
    none = pa.array([], pa.large_binary())
    measure = Hamming(length=8)
    empty = Block.of(NO_DOCUMENT, none)
    assert sum(len(p.pairs) for p in measure.join([lambda: empty], Fraction(-3), ONE_THREAD)) == 0
    index = measure.index(NO_DOCUMENT, none, Fraction(-3))
    assert [len(column) for column in index.search(NO_DOCUMENT, none)] == [0, 0, 0]


def test_candidates_pairs_and_clusters():
    keys, sketches = np.empty(0, np.uint32), np.empty((0, 1), np.uint64)
    pairs, met = candidates(keys, NO_DOCUMENT, sketches, BANDING, hubs=0)
    assert (len(pairs), met) == (0, 0)
    assert len(_kernels.shared_keys(keys)) == 0
    assert len(_kernels.first_seen(np.empty((0, 2), np.uint64))) == 0
    assert len(give_back_copies(NO_PAIRS, NO_DOCUMENT, NO_DOCUMENT, 1.0, all_pairs=True)) == 0
    for method in ("components", "leader"):
        for documents in (0, 3):
            order = np.arange(documents, dtype=np.uint32)
            assert cluster(NO_PAIRS, NO_DOCUMENT, NO_DOCUMENT, order, method).count == 0
    assert len(best(np.empty(0), 20)) == 0
    assert len(best_pairs(NO_PAIRS, 20)) == 0
    assert [len(part) for part in NO_PAIRS.parts()] == [0]


@pytest.mark.parametrize("memory", [0, 10**9])
def test_stores(tmp_path, memory):
    budget = Budget(memory)
    texts = TextStore(budget, tmp_path)
    rows = RowStore(np.uint64, 2, budget, tmp_path)
    columns = ColumnStore(np.uint32, budget, tmp_path)
    for part in (string_array([]), string_array(["a"]), string_array([]), string_array(["", "b"])):
        texts.append(part)
        rows.append(np.zeros((len(part), 2), np.uint64))
        columns.append(np.zeros((len(part), 3), np.uint32))
        budget.check()
    assert texts.take(np.arange(3)).to_pylist() == ["a", "", "b"]
    assert texts.take(np.arange(0)).to_pylist() == []
    assert (len(rows.all()), len(columns.column(2))) == (3, 3)


@pytest.mark.parametrize("memory", [0, 10**9])
@pytest.mark.parametrize("filled", [False, True])
def test_stores_of_pairs_and_tables(tmp_path, memory, filled):
    budget = Budget(memory)
    pairs = PairStore(budget, tmp_path)
    met = CandidateStore(lambda parts: np.unique(np.concatenate(parts)), budget, tmp_path)
    table = TableStore(budget, tmp_path)
    none = np.empty(0, np.uint64)
    for packed in (none, np.array([5], np.uint64), none) if filled else (none, none):
        pairs.add(packed, np.ones(len(packed)))
        met.add(packed, 1)
        table.add(pa.table({"pair": packed}))
        budget.check()
    assert len(pairs.pairs()) == len(met.packed()) == table.table().num_rows == int(filled)


@pytest.mark.parametrize("ending", [".parquet", ".csv", ".jsonl", ".json", ".arrow"])
def test_sinks(tmp_path, ending):
    schema = pa.schema([("id", pa.string()), ("similarity", pa.float64())])
    rows = pa.RecordBatch.from_pydict({"id": ["a"], "similarity": [1.0]}, schema)
    path = tmp_path / f"pairs{ending}"
    assert write_table([rows[:0], rows, rows[:0]], schema, path) == 1
    assert write_table([rows[:0]], schema, path, force=True) == 0


@pytest.mark.parametrize("kind", ROWS)
@pytest.mark.parametrize("method", ["lsh", "exact"])
@pytest.mark.parametrize("memory", [1, None])
def test_runs_with_row_groups_without_a_document(tmp_path: Path, kind, method, memory):
    schema = pa.schema([("text", pa.string())])
    path = tmp_path / "docs.parquet"
    with pq.ParquetWriter(path, schema) as writer:
        for texts in (ROWS[kind], TEXTS, ROWS[kind]):
            writer.write_table(pa.table({"text": texts}, schema=schema))
    found = nearly.find(path, k=3, threshold=0.5, method=method, memory=memory, audit=5)
    assert found.pairs.num_rows == 1
    assert found.statistics.skipped == 2 * ROWS[kind].count(None)
    clean = nearly.dedup(path, k=3, threshold=0.5, method=method, memory=memory)
    assert len(clean) == 1
    assert clean.kept.num_rows == 1 + 2 * len(ROWS[kind])


def write_jsonl(path: Path, rows: list[str | None]) -> None:
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in rows))


def write_csv(path: Path, rows: list[str | None]) -> None:
    path.write_text("id,text\n" + "".join(f"{i},{text or ''}\n" for i, text in enumerate(rows)))


def write_arrow(path: Path, rows: list[str | None]) -> None:
    schema = pa.schema([("text", pa.string())])
    with pa.ipc.new_file(path, schema) as writer:
        for start in range(0, len(rows) + 3, 3):  # the last batch may have no row
            writer.write_batch(pa.record_batch([rows[start : start + 3]], schema=schema))


def write_lines(path: Path, rows: list[str | None]) -> None:
    path.write_text("".join((text or "") + "\n" for text in rows))


WRITERS = {".jsonl": write_jsonl, ".csv": write_csv, ".arrow": write_arrow, ".txt": write_lines}


@pytest.mark.parametrize("kind", ["nulls", "empty texts"])
@pytest.mark.parametrize("ending", WRITERS)
@pytest.mark.parametrize("memory", [1, None])
def test_readers_with_batches_without_a_document(tmp_path, monkeypatch, kind, ending, memory):
    monkeypatch.setattr("nearly.sources.part.BATCH_ROWS", 3)
    path = tmp_path / f"docs{ending}"
    WRITERS[ending](path, [*ROWS[kind], *TEXTS, *ROWS[kind], *ROWS[kind]])
    found = nearly.find(
        path,
        text=None if ending == ".txt" else "text",
        lines=ending == ".txt",
        k=3,
        threshold=0.5,
        memory=memory,
    )
    assert found.pairs.num_rows == 1
