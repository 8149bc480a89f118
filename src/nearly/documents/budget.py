"""How much memory a run may hold, and who has to give way when it is spent."""

from typing import Protocol

from nearly.limits import available_memory

__all__ = ["Budget", "Spillable"]

#: Of what the process may have, this share is held in stores; the rest is for working.
SHARE = 0.4


class Spillable(Protocol):
    """Something that holds memory and can put it on disk instead."""

    @property
    def held(self) -> int:
        """Bytes in memory."""

    def spill(self) -> None:
        """Move everything to disk, now and from now on."""


class Budget:
    """Bytes that a run's stores may hold together; the largest store spills first.

    `memory` is what the whole process may have: what the machine gives it, if nothing is said.
    """

    def __init__(self, memory: int | None = None):
        self.limit = int((available_memory() if memory is None else memory) * SHARE)
        self._stores: list[Spillable] = []

    def enter(self, store: Spillable) -> None:
        """From now on this store counts."""
        self._stores.append(store)

    def check(self) -> None:
        """Spill until what is held fits."""
        while sum(store.held for store in self._stores) > self.limit:
            largest = max(self._stores, key=lambda store: store.held)
            if largest.held == 0:
                return
            largest.spill()
