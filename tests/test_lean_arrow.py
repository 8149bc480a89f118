"""Arrow's own allocator comes back when documents were read, however two readings overlap."""

import pyarrow as pa
import pytest

from nearly.limits import POOL, lean_arrow


@pytest.fixture(autouse=True)
def own_pool(monkeypatch: pytest.MonkeyPatch):
    """A pool that is not the system's, and that nobody chose."""
    monkeypatch.delenv(POOL, raising=False)
    before = pa.default_memory_pool()
    try:
        pa.set_memory_pool(pa.mimalloc_memory_pool())
    except NotImplementedError:
        pytest.skip("this Arrow has no allocator of its own")
    yield
    pa.set_memory_pool(before)


def test_it_comes_back():
    with lean_arrow():
        assert pa.default_memory_pool().backend_name == "system"
    assert pa.default_memory_pool().backend_name == "mimalloc"


def test_it_comes_back_where_another_thread_reads_longer():
    first, second = lean_arrow(), lean_arrow()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    second.__exit__(None, None, None)
    assert pa.default_memory_pool().backend_name == "mimalloc"


def test_a_choice_stays(monkeypatch):
    monkeypatch.setenv(POOL, "mimalloc")
    with lean_arrow():
        assert pa.default_memory_pool().backend_name == "mimalloc"
