"""What lies in a temporary file, shown as memory: it counts while it is looked at, and no longer.

Pages that were looked at stay in memory and count for this process until they are let go; whoever
goes through a mapping lets go of them as it proceeds. What is looked at again is read again.
"""

import mmap
import weakref
from typing import Final

__all__ = ["let_go", "mapped"]

_MAPPINGS: Final["weakref.WeakSet[mmap.mmap]"] = weakref.WeakSet()


def mapped(descriptor: int, size: int) -> memoryview:
    """The first bytes of a file, which may be closed afterwards."""
    if size == 0:
        return memoryview(b"")
    try:
        mapping = mmap.mmap(descriptor, size, prot=mmap.PROT_READ)
    except OSError as error:
        raise MemoryError("there is no room to show a temporary file as memory") from error
    _MAPPINGS.add(mapping)
    return memoryview(mapping)


def let_go() -> None:
    """Give all pages back that mappings hold; nothing that they show changes."""
    for mapping in list(_MAPPINGS):
        mapping.madvise(mmap.MADV_DONTNEED)
