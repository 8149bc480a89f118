"""Texts that lie in memory or in a file, taken by document: the same texts, whatever the pieces."""

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from nearly.documents.budget import Budget
from nearly.documents.spool import TextStore

TEXTS = st.text("aé日 ", max_size=12) | st.sampled_from(["x" * 5_000, ""])


@given(
    batches=st.lists(st.lists(TEXTS, max_size=5), min_size=1, max_size=6),
    spilled_after=st.none() | st.integers(0, 6),
    data=st.data(),
)
def test_texts_are_taken_from_wherever_they_are(batches, spilled_after, data):
    with tempfile.TemporaryDirectory() as folder:
        store = TextStore(Budget(), Path(folder))
        known = []
        for number, batch in enumerate(batches):
            if number == spilled_after:
                store.spill()
            store.append(pa.array(["before", *batch], pa.large_string())[1:])
            known += batch
            chosen = data.draw(st.lists(st.booleans(), min_size=len(known), max_size=len(known)))
            documents = np.flatnonzero(chosen).astype(np.uint32)
            expected = [text for text, is_chosen in zip(known, chosen, strict=True) if is_chosen]
            assert store.take(documents).to_pylist() == expected
        assert [text for chunk in store.chunks() for text in chunk.to_pylist()] == known
        assert store.lengths().tolist() == [len(text.encode()) for text in known]
