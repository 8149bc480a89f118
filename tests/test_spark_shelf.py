"""Arrays that lie beside Spark: the same elements again, and no file that stays."""

import errno
import gc
import os
import pickle
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pytest
from clusters import needs_java
from engines import frame_of

import nearly

pytest.importorskip("pyspark")
from nearly.engines.spark.session import session
from nearly.engines.spark.shelf import Element, Room, Shelf


class State(NamedTuple):
    name: str
    numbers: Any
    rows: Any
    packed: bytes


def state(size: int) -> State:
    numbers = np.arange(size)
    return State(f"state {size}", numbers, np.stack([numbers, -numbers], axis=1), b"x" * size)


def again(note: bytes) -> Any:
    return pickle.loads(note)  # noqa: S301, it was made here


@pytest.fixture
def room() -> Room:
    return Room(None)


def test_elements_come_back_whatever_their_size(room: Room) -> None:
    shelf = Shelf(str(room.folder))
    sizes = [0, 1, 100, 5_000, 20_000, 7]
    notes = [pickle.dumps(Element([state(size), None], shelf)) for size in sizes]
    assert len(list(room.folder.iterdir())) == 1, "all lie in one file"
    assert max(map(len, notes)) < 30_000, "only what is no array stays in the note"
    for size, note in zip(sizes, notes, strict=True):
        (found, nothing), expected = again(note), state(size)
        assert (found.name, found.packed, nothing) == (expected.name, expected.packed, None)
        assert np.array_equal(found.numbers, expected.numbers)
        assert np.array_equal(found.rows, expected.rows)


def test_a_disk_that_is_full_is_told_as_pyspark_passes_it_on(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(pickle.PicklingError, match="No space left on device"):
        pickle.dumps(Element(state(20_000), Shelf(str(room.folder))))


def test_arrays_that_do_not_lie_in_one_piece_come_back(room: Room) -> None:
    rows = np.arange(20_000).reshape(-1, 2)
    note = pickle.dumps(Element([rows[::2], rows.T, rows[:, 1]], Shelf(str(room.folder))))
    for found, expected in zip(again(note), [rows[::2], rows.T, rows[:, 1]], strict=True):
        assert np.array_equal(found, expected)


def test_what_is_changed_changes_nowhere_else(room: Room) -> None:
    note = pickle.dumps(Element(state(9_000), Shelf(str(room.folder))))
    again(note).numbers[:] = 1
    assert np.array_equal(again(note).numbers, np.arange(9_000))


def test_a_room_goes_when_nobody_holds_it(tmp_path: Path) -> None:
    room = Room(str(tmp_path))
    pickle.dumps(Element(state(9_000), Shelf(str(room.folder))))
    assert len(list(room.folder.iterdir())) == 1
    del room
    gc.collect()
    assert not any(tmp_path.iterdir())


@needs_java
def test_a_run_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """What lies there is there as long as the result, and not longer."""
    folders = []

    class Watched(Room):
        def __init__(self, parent: str | None):
            super().__init__(parent)
            folders.append(self.folder)

    monkeypatch.setattr(session, "Room", Watched)
    draw = np.random.default_rng(5)
    texts = [" ".join(map(str, draw.integers(0, 50, 8))) for _ in range(3_000)]
    table = pa.table({"id": [f"d{row}" for row in range(len(texts))], "text": texts})
    options: dict[str, Any] = {"id": "id", "text": "text", "threshold": 0.5, "method": "lsh"}
    found = nearly.find(frame_of(table, 3), **options)
    expected = nearly.find(table, **options)
    assert any(folders[0].iterdir()), "arrays lie beside Spark"
    assert found.to_arrow().equals(expected.pairs)
    assert found.text("d7") == texts[7]
    pairs = found.pairs
    del found
    gc.collect()
    assert not folders[0].exists()
    assert pairs.count() == expected.pairs.num_rows, "tables need none of it"
