"""Documents that wait are shown as a segment that equals one made of all of them at once."""

from dataclasses import replace
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from nearly.arrays import string_array
from nearly.index.catalogue import Pending, State
from nearly.index.live import Live
from nearly.index.making import Making
from nearly.index.pending import Gathering, live_of

MAKING = Making.of({"threshold": 0.6, "k": 3, "seed": 11}, None, texts=True)
COLUMNS = (
    *("buckets", "sketches", "content_high", "content_low", "sizes", "texts", "starts", "numbers"),
    *("id_high", "id_low", "id_of"),
)


def waiting(texts: list[str], ids: list[Any]) -> dict[int, Pending]:
    """Rows as the catalogue has them, by number."""
    signed = MAKING.asking.sign(string_array(texts))
    return {
        3 * i: Pending(
            number=3 * i,
            id=ids[i],
            digest=signed.digests[i].tobytes(),
            size=int(signed.sizes[i]),
            keys=signed.keys[i].tobytes(),
            sketch=signed.sketches[i].tobytes(),
            content=text.encode(),
        )
        for i, text in enumerate(texts)
    }


def texts() -> st.SearchStrategy[str]:
    """Texts of few words, so that copies and shared buckets are frequent; some are empty."""
    return st.lists(st.sampled_from(["red", "green", "blue", "réd"]), max_size=3).map(" ".join)


def assert_same(grown: Live, made: Live) -> None:
    assert grown.key == made.key
    counts = ("contents", "keyed", "documents")
    for name in counts:
        assert getattr(grown.segment.written, name) == getattr(made.segment.written, name)
    ids = ["id_numbers"] if "id_numbers" in made.segment._views else ["id_offsets", "id_bytes"]
    for name in [*COLUMNS, *ids]:
        assert grown.segment.column(name).tolist() == made.segment.column(name).tolist(), name
    assert grown.segment.id_column().equals(made.segment.id_column())
    everything = np.arange(made.segment.contents, dtype=np.uint32)
    held = everything[made.segment.is_held(everything)]
    assert grown.segment.texts(held).equals(made.segment.texts(held))
    for place in range(len(held)):
        assert grown.segment.text_at(place).tobytes() == made.segment.text_at(place).tobytes()


@given(
    st.lists(texts(), max_size=8),
    st.lists(st.lists(texts(), min_size=1, max_size=20), min_size=1, max_size=4),
    st.booleans(),
    st.data(),
)
def test_a_segment_that_grows_is_the_one_that_is_made_at_once(
    known: list[str], commits: list[list[str]], has_numbers: bool, data: st.DataObject
) -> None:
    state = State(id_kind="int64" if has_numbers else "string")
    other = waiting(known, [-1 - i if has_numbers else f"known {i}" for i in range(len(known))])
    lives = [replace(live_of(list(other.values()), MAKING, state), key=1)] if known else []
    together = [text for texts in commits for text in texts]
    ids = [7 * i - 20 if has_numbers else f"é{i}" * (i % 3) + f"{i}" for i in range(len(together))]
    rows = list(waiting(together, ids).values())
    gathering, shown, count = Gathering(MAKING), [], 0
    for commit in commits:
        count += len(commit)
        pending = {row.number: row for row in rows[:count]}
        grown = gathering.live(replace(state, pending=pending), lives)
        made = live_of(rows[:count], MAKING, state, lives)
        assert_same(grown, made)
        shown.append((grown, made))
    for grown, made in shown:  # what was shown before stayed as it was
        assert_same(grown, made)
    left = data.draw(st.sets(st.sampled_from(range(len(rows)))), "left")
    pending = {rows[i].number: rows[i] for i in sorted(left)}
    if pending:
        grown = gathering.live(replace(state, pending=pending), lives)
        assert_same(grown, live_of(list(pending.values()), MAKING, state, lives))


def test_a_document_that_was_signed_otherwise_is_refused_and_does_not_stay() -> None:
    rows = waiting(["red green", "blue green"], ["a", "b"])
    gathering, state = Gathering(MAKING), State(id_kind="string")
    odd = {n: row if n == 0 else row._replace(keys=row.keys[4:]) for n, row in rows.items()}
    with pytest.raises(ValueError, match="signed otherwise"):
        gathering.live(replace(state, pending=odd), [])
    grown = gathering.live(replace(state, pending=rows), [])
    assert_same(grown, live_of(list(rows.values()), MAKING, state))
