"""Arrow's own allocator comes back when documents were read, however two readings overlap."""

from threading import Event

import pyarrow as pa
import pytest

from nearly import limits
from nearly.limits import POOL, SMALL, arrow_to_read

MUCH = SMALL + 1


@pytest.fixture(autouse=True)
def own_pool(monkeypatch: pytest.MonkeyPatch):
    """A pool that is not the system's, and that nobody chose."""
    monkeypatch.setenv(POOL, "")
    monkeypatch.delenv(POOL)  # and what a test makes of it is undone
    before = pa.default_memory_pool()
    try:
        pa.set_memory_pool(pa.mimalloc_memory_pool())
    except NotImplementedError:
        pytest.skip("this Arrow has no allocator of its own")
    yield
    pa.set_memory_pool(before)


def test_it_comes_back():
    with arrow_to_read(MUCH):
        assert pa.default_memory_pool().backend_name == "system"
    assert pa.default_memory_pool().backend_name == "mimalloc"


def test_it_comes_back_where_another_thread_reads_longer():
    first, second = arrow_to_read(MUCH), arrow_to_read(MUCH)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    second.__exit__(None, None, None)
    assert pa.default_memory_pool().backend_name == "mimalloc"


def test_a_choice_stays(monkeypatch):
    monkeypatch.setenv(POOL, "mimalloc")
    with arrow_to_read(MUCH):
        assert pa.default_memory_pool().backend_name == "mimalloc"


def test_a_small_file_is_read_by_its_own():
    with arrow_to_read(SMALL):
        assert pa.default_memory_pool().backend_name == "mimalloc"


def test_a_command_reads_a_small_file_by_its_own_too(monkeypatch):
    monkeypatch.setattr(limits, "_lean_from_start", Event())
    limits.lean_arrow_from_start()
    pa.set_memory_pool(pa.system_memory_pool())  # as it is where Arrow comes later
    with arrow_to_read(MUCH):
        assert pa.default_memory_pool().backend_name == "system"
    with arrow_to_read(SMALL):
        assert pa.default_memory_pool().backend_name == "mimalloc"
    assert pa.default_memory_pool().backend_name == "system"


def test_a_command_stays_frugal_where_it_has_to_be(monkeypatch):
    monkeypatch.setattr(limits, "_lean_from_start", Event())
    monkeypatch.setattr(limits, "_tell_malloc", lambda _options: None)
    limits.lean_arrow_from_start()
    limits.spare_memory(2**28)
    with arrow_to_read(SMALL):
        assert pa.default_memory_pool().backend_name == "system"


def test_an_ample_limit_asks_for_no_frugality(monkeypatch):
    told = []
    monkeypatch.setattr(limits, "_tell_malloc", told.append)
    monkeypatch.setattr(limits, "_be_frugal", lambda: told.append("frugal"))
    limits.spare_memory(limits.AMPLE)
    assert told == []
    limits.spare_memory(limits.AMPLE - 1)
    assert told[0] == "frugal"
