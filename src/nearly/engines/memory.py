"""How much memory a run may hold, and who has to give way when it is spent."""

import ctypes
import os
import resource
from pathlib import Path
from typing import Protocol

__all__ = ["Budget", "Spillable", "available_memory", "spare_address_space"]

#: Of what the process may have, this share is held in stores; the rest is for working.
SHARE = 0.4
#: What the interpreter and its libraries take of an address space before any work.
START_UP = 700 * 2**20
M_ARENA_MAX = -8  # of <malloc.h>


class Spillable(Protocol):
    """Something that holds memory and can put it on disk instead."""

    @property
    def held(self) -> int:
        """Bytes in memory."""

    def spill(self) -> None:
        """Move everything to disk, now and from now on."""


class Budget:
    """Bytes that a run's stores may hold together; the largest store spills first."""

    def __init__(self, limit: int | None = None):
        self.limit = limit if limit is not None else int(available_memory() * SHARE)
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


def available_memory() -> int:
    """Bytes that this process may use: the least of machine, control group and limits."""
    limits = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"), *_control_group()]
    for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
        soft, _ = resource.getrlimit(kind)
        if soft != resource.RLIM_INFINITY:
            limits.append(max(soft - START_UP, soft // 4))
    return min(limits)


def spare_address_space() -> None:
    """Where the address space is limited, keep allocators from reserving what they do not use.

    Arrow's own allocator reserves a gigabyte at its first use, and the C library 64 MB for each
    thread: both count against such a limit. Without a limit they are faster, and stay.
    """
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    if soft == resource.RLIM_INFINITY:
        return
    import pyarrow as pa

    pa.set_memory_pool(pa.system_memory_pool())
    arenas = getattr(ctypes.CDLL(None), "mallopt", None)
    if arenas is not None:
        arenas(M_ARENA_MAX, 1)


def _control_group() -> list[int]:
    files = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
    texts = [Path(name).read_text().strip() for name in files if Path(name).exists()]
    return [int(text) for text in texts if text.isdigit()]
