"""What handlers work on: the index, who writes to it, what is counted."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from nearly.index.answer import Id
from nearly.index.index import Index
from nearly.service.limit import Limits
from nearly.service.message import Content
from nearly.service.meter import Meter
from nearly.service.problem import ProblemError
from nearly.service.storage import stored
from nearly.service.writer import Store, Writer

__all__ = ["Desk"]


@dataclass
class Desk:
    """One index that is served."""

    index: Index
    path: Path
    limits: Limits = field(default_factory=Limits)
    store: Store | None = None  # by whom changes are stored: by this process unless told
    writer: Writer = field(init=False)
    meter: Meter = field(init=False)
    checking: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.meter = Meter(self.index, lambda: self.writer.waiting)
        store = self.store or partial(stored, self.index)
        self.writer = Writer(store, self.limits, self.meter.committed)

    def content(self, given: Content) -> Any:
        """What the index holds, of a body that could hold anything."""
        holds = self.index.holds
        told = [name for name in ("text", "items", "vector") if getattr(given, name) is not None]
        if told != [holds]:
            has = " and ".join(told) or "no content"
            raise ProblemError(400, f"the body has {has}; give {holds}, and it alone")
        found: Any = getattr(given, holds)
        shape = self.index.shape
        if shape is not None and (shape.number == "bits" or len(found) != shape.length):
            kind = "bits, which are not served" if shape.number == "bits" else "numbers"
            raise ProblemError(
                400, f"the vector has {len(found)} numbers, and the index {shape.length} {kind}"
            )
        return found

    def id(self, given: Id) -> Id:
        """An id as the index has them, for a document that is to be added."""
        if isinstance(given, int):
            if not -(2**63) <= given < 2**63:
                raise ProblemError(400, f"the id is {given}, which has more than 64 bits")
            return given
        if self.index.id_kind != "int64":
            return given
        digits = given.removeprefix("-")
        if not (digits.isascii() and digits.isdigit() and len(digits) < 19):
            raise ProblemError(
                400, f"the id is {given[:100]!r}, and the ids of this index are whole numbers"
            )
        return int(given)

    def check_batch(self, count: int) -> None:
        """Refuse more than one request may hold."""
        if count > self.limits.batch:
            raise ProblemError(
                413,
                f"the batch has {count:,} entries, and the most is {self.limits.batch:,}; split it",
            )
