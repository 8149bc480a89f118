"""How much memory a run may hold, and who has to give way when it is spent."""

from typing import Protocol

from nearly.limits import AMPLE, available_memory

__all__ = ["Budget", "Spillable"]

#: Of what the process may have, this share is held in stores; the rest is for working.
SHARE = 0.4


class Spillable(Protocol):
    """Something that holds memory and can put it on disk instead."""

    @property
    def held(self) -> int:
        """Bytes in memory."""

    def spill(self) -> None:
        """Move some of it to disk, or everything."""


class Budget:
    """Bytes that a run's stores may hold together; the largest store spills first, and goes on
    until it holds nothing.

    `memory` is what the whole process may have: what the machine gives it, if nothing is said.
    """

    def __init__(self, memory: int | None = None):
        memory = available_memory() if memory is None else memory
        self.limit = int(memory * SHARE)
        #: Whether stores may keep what just fits; beside a small limit, steps need the room.
        self.is_ample = memory >= AMPLE
        self._stores: list[Spillable] = []
        self._spilling: Spillable | None = None

    def enter(self, store: Spillable) -> None:
        """From now on this store counts."""
        self._stores.append(store)

    def check(self) -> None:
        """Spill until what is held fits."""
        while sum(store.held for store in self._stores) > self.limit:
            if self._spilling is None or self._spilling.held == 0:
                self._spilling = max(self._stores, key=lambda store: store.held)
            if self._spilling.held == 0:
                return
            self._spilling.spill()
