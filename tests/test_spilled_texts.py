"""Texts that lie in memory or in a file, taken by document: the same texts, whatever the pieces."""

import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearly.documents.budget import Budget
from nearly.documents.spool import TextStore
from nearly.limits import AMPLE

TEXTS = st.text("aé日 ", max_size=12) | st.sampled_from(["x" * 5_000, ""])


@given(
    batches=st.lists(st.lists(TEXTS, max_size=5), min_size=1, max_size=6),
    spills=st.lists(st.integers(0, 3), min_size=6, max_size=6),
    memory=st.sampled_from([AMPLE, 0]),
    data=st.data(),
)
def test_texts_are_taken_from_wherever_they_are(batches, spills, memory, data):
    with tempfile.TemporaryDirectory() as folder:
        store = TextStore(Budget(memory), Path(folder))
        known = []
        for batch, chunks in zip(batches, spills, strict=False):
            store.append(pa.array(["before", *batch], pa.large_string())[1:])
            known += batch
            for _ in range(chunks):
                if store.held:
                    store.spill()
            chosen = data.draw(st.lists(st.booleans(), min_size=len(known), max_size=len(known)))
            documents = np.flatnonzero(chosen).astype(np.uint32)
            expected = [text for text, is_chosen in zip(known, chosen, strict=True) if is_chosen]
            assert store.take(documents).to_pylist() == expected
        assert [text for chunk in store.chunks() for text in chunk.to_pylist()] == known
        assert store.lengths().tolist() == [len(text.encode()) for text in known]


@pytest.mark.parametrize(("memory", "left"), [(AMPLE, 400), (AMPLE - 1, 0)])
def test_beside_an_ample_limit_only_the_excess_is_spilled(tmp_path, memory, left):
    budget = Budget(memory)
    budget.limit = 400
    store = TextStore(budget, tmp_path)
    for _ in range(10):
        store.append(pa.array(["x" * 100], pa.large_string()))
        budget.check()
        assert store.held <= budget.limit
    assert store.held == left
    assert store.take(np.arange(10)).to_pylist() == ["x" * 100] * 10


def test_texts_are_taken_while_others_are_spilled(tmp_path):
    texts = [f"{number} " * 50 for number in range(400)]
    store = TextStore(Budget(), tmp_path)
    for start in range(0, len(texts), 4):
        store.append(pa.array(texts[start : start + 4], pa.large_string()))
    with ThreadPoolExecutor(2) as pool:
        taken = [pool.submit(store.take, np.arange(len(texts))) for _ in range(20)]
        while store.held:
            store.spill()
        assert all(each.result().to_pylist() == texts for each in taken)
