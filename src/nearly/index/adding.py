"""Adding the documents of a source: opened, written, and in the index when that is said."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from nearly.arguments import Running
from nearly.declaration import declarations
from nearly.documents.remaining import Remaining
from nearly.documents.two_sided import check_alike
from nearly.errors import SettingsError, SinkError
from nearly.index.addition import Addition, Seen
from nearly.index.answer import Added
from nearly.index.making import Making
from nearly.index.postgres_store import PostgresStore
from nearly.index.reading import reading_of
from nearly.index.search import FEW
from nearly.index.store import Store
from nearly.measures.work import ONE_THREAD
from nearly.run import is_in_parts, reopened
from nearly.sinks.decision import Ledger
from nearly.sources import Skipped, Source

__all__ = ["Adding", "explained", "running_of"]


class Adding:
    """What one block adds to an index: nothing of it is there before `finish`.

    It is a decider of outputs: they appear together with the documents.
    """

    def __init__(self, store: Store | PostgresStore) -> None:
        self._store = store
        self._addition: Addition | None = None

    def add(
        self, source: Any, *, replace: bool = False, report: bool = True, **reading: Any
    ) -> Added:
        """Sign and write the documents of a source; see `Index.add`. Once in a block."""
        if self._addition is not None:
            raise SettingsError("a block adds the documents of one source; begin another block")
        store = self._store
        opened, skipped = _opened(store, source, reading)
        addition = self._addition = store.addition(skipped)
        addition.is_replacing, addition.is_reporting = replace, report
        if _is_held(source) and len(source) <= FEW:
            addition.workers = ONE_THREAD
        read = reading_of(store.making, addition.state, opened)
        with explained("the index"):
            store.take(addition, read, opened)
        return _added(addition, skipped, read.id_kind, store.making)

    @property
    def ledger(self) -> Ledger | None:
        """See `Decider`."""
        return self._store.ledger

    def decide(self, token: str) -> None:
        """See `Decider`."""
        if self._addition is not None:
            self._addition.change.token = token
        self.finish()

    def finish(self) -> None:
        """Commit, unless that was done."""
        addition, self._addition = self._addition, None
        if addition is not None:
            with explained("the index"):
                self._store.finish(addition)

    def discard(self) -> None:
        """Remove what was written."""
        if self._addition is not None:
            self._store.discard(self._addition.change)


def running_of(options: Mapping[str, Any]) -> tuple[Running, dict[str, Any]]:
    """How a source is read, and what is left of the options."""
    names = declarations(Running)
    reading = {name: value for name, value in options.items() if name in names}
    return Running(**reading), {n: v for n, v in options.items() if n not in names}


def _opened_here(source: Any, running: Running, folder: Path | None) -> Source:
    """A source that this machine reads; what it writes down goes to a folder, if one is given."""
    if is_in_parts(source, running):
        raise SettingsError(
            "documents are added on one machine, the one that has the lock of the index; leave "
            "engine and master out, and of a Spark DataFrame give frame.toArrow()"
        )
    return reopened(source, running, folder)


def _opened(
    store: Store | PostgresStore, source: Any, reading: Mapping[str, Any]
) -> tuple[Any, Skipped]:
    """A source of what the index holds."""
    running, rest = running_of(reading)
    for name in rest:
        raise SettingsError(f"{name} was fixed when the index was created; leave it out")
    # What lies in memory writes nothing down: it needs no folder of its own, which takes a while.
    folder = store.scratch.folder() if _is_held(source) else None
    opened: Any = source if isinstance(source, Remaining) else _opened_here(source, running, folder)
    check_alike(store.making.kind, opened)
    return opened, Skipped(strict=running.strict)


def _is_held(source: Any) -> bool:
    """Whether it lies in memory, and its length is known."""
    return isinstance(source, dict | pa.Table)


def _added(addition: Addition, skipped: Skipped, id_kind: str, making: Making) -> Added:
    return Added(
        seen=_seen_table(addition.seen, pa.int64() if id_kind == "int64" else pa.string(), making),
        skipped=skipped.table(),
        skipped_count=len(skipped),
        added=addition.added,
        copies=addition.copies,
        replaced=addition.replaced,
        empty=addition.empty,
        left_out=addition.left_out,
    )


def _seen_table(parts: Sequence[Seen], kind: pa.DataType, making: Making) -> pa.Table:
    """New pairs, in the order of adding of the later document and then of the earlier one."""
    if not parts:
        columns = [pa.array([], kind), pa.array([], kind), pa.array([], pa.float64())]
        return pa.table(columns, names=["id", "seen", making.measure.value])
    later, earlier = (
        np.concatenate([np.empty(0, np.uint64), *(getattr(part, name) for part in parts)])
        for name in ("later", "earlier")
    )
    nearness = np.concatenate([np.empty(0), *(part.nearness for part in parts)])
    order = np.lexsort((earlier, later))
    ids = pa.array([each for part in parts for each in part.ids], kind)
    seen = pa.array([each for part in parts for each in part.seen], kind)
    columns = [ids.take(pa.array(order)), seen.take(pa.array(order))]
    shown = making.measure.shown(nearness)[order]
    return pa.table([*columns, pa.array(shown)], names=["id", "seen", making.measure.value])


@contextmanager
def explained(where: str) -> Iterator[None]:
    """Errors of the disk in words."""
    try:
        yield
    except OSError as error:
        raise SinkError(
            f"{where} cannot be written: {error.strerror or error}. Nothing was changed; see to "
            "the disk and its rights, and try again"
        ) from error
