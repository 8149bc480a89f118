"""What this process may use of memory, and how to keep within a limit on its address space."""

import os
import resource
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Event
from typing import Any, Final

from nearly.control_group import memory_limits

__all__ = [
    "AMPLE",
    "arrow_to_read",
    "available_memory",
    "database_threads",
    "give_back",
    "lean_arrow_from_start",
    "own_threads_only",
    "spare_address_space",
    "spare_memory",
]

#: What the interpreter and its libraries take of an address space before any work.
START_UP = 800 * 2**20
#: A limit on memory beside which it hardly counts what allocators keep for later.
AMPLE: Final = 2**31
#: Bytes of files, perhaps compressed, of which texts that take half as much again are no harm.
SMALL: Final = 2**24
#: Who gives Arrow its memory, unless a program says otherwise.
POOL: Final = "ARROW_DEFAULT_MEMORY_POOL"
#: Set where the system's allocator was chosen for all that the process does.
_lean_from_start: Final = Event()
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8  # of <malloc.h>


def available_memory() -> int:
    """Bytes that this process may use: the least of machine, control group and limits."""
    limits = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"), *memory_limits()]
    for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
        soft, _ = resource.getrlimit(kind)
        if soft != resource.RLIM_INFINITY:
            limits.append(max(soft - START_UP, soft // 4))
    return min(limits)


def spare_address_space() -> None:
    """Where the address space is limited, keep allocators from reserving what they do not use.

    Arrow's own allocator reserves a gigabyte at its first use, the C library and NumPy's linear
    algebra some 64 MB for each thread: all of it counts against such a limit. Without a limit they
    are faster so, and stay. The earlier this is called, the better: what is reserved is reserved.
    """
    if _is_address_space_limited():
        _be_frugal()


def database_threads() -> dict[str, Any]:
    """Settings of DuckDB for a limited address space: it crashes where a thread cannot start."""
    return {"threads": 1, "async_threads": 0} if _is_address_space_limited() else {}


def _is_address_space_limited() -> bool:
    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY


def lean_arrow_from_start() -> None:
    """Have Arrow take its memory from the system's allocator, if Arrow is yet to come.

    Its own keeps up to half of what is made larger than it has to be in the end, as texts are when
    they are read, and pages that were freed.
    """
    if POOL not in os.environ:
        os.environ[POOL] = "system"
        _lean_from_start.set()


@contextmanager
def arrow_to_read(size: int) -> Iterator[None]:
    """Have Arrow take its memory from whom it should, while so many bytes of files are read.

    From the system's allocator; of small files from its own, which reads them in three fifths of
    the time. Not where somebody chose an allocator.
    """
    import pyarrow as pa

    before = pa.default_memory_pool()
    is_small, is_lean = 0 < size <= SMALL, before.backend_name == "system"
    if _lean_from_start.is_set() and is_small and is_lean:
        other = getattr(pa, f"{pa.supported_memory_backends()[0]}_memory_pool")()
    elif POOL not in os.environ and not is_small and not is_lean:
        other = pa.system_memory_pool()
    else:  # or set by another thread, which sets it back
        yield
        return
    pa.set_memory_pool(other)
    try:
        yield
    finally:
        pa.set_memory_pool(before)


def own_threads_only() -> None:
    """Have NumPy's linear algebra begin no threads, if NumPy is yet to come.

    They spin for a while after the start, beside ours; and what is multiplied here is small.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def spare_memory(limit: int) -> None:
    """Have allocators give back at once what is freed, so that a limit on memory can be kept.

    It is slower, and lasts as long as the process. What they would keep hardly counts beside a
    large limit.
    """
    if limit < AMPLE:
        _be_frugal()
        _tell_malloc({M_MMAP_THRESHOLD: 2**20, M_TRIM_THRESHOLD: 2**20})


def give_back() -> None:
    """Give free memory back that lies between what is in use: where many batches went through."""
    import ctypes

    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _be_frugal() -> None:
    os.environ.setdefault(POOL, "system")  # where Arrow is yet to come
    _lean_from_start.clear()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # NumPy's, which takes 32 MB for each
    if "pyarrow" in sys.modules:
        import pyarrow as pa

        pa.set_memory_pool(pa.system_memory_pool())
    _tell_malloc({M_ARENA_MAX: 1})


def _tell_malloc(options: Mapping[int, int]) -> None:
    import ctypes

    tell = getattr(ctypes.CDLL(None), "mallopt", None)
    if tell is not None:
        for option, value in options.items():
            tell(option, value)
