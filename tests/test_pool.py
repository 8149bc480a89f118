"""Threads that do what they are given."""

import gc
import threading
import weakref

import pytest

from nearly.measures.pool import Pool
from nearly.measures.work import in_order


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("ahead", [1, 2, 7])
def test_what_is_made_comes_in_order(threads: int, ahead: int) -> None:
    with Pool(threads) as pool:
        assert list(in_order(pool, lambda i: i * i, range(40), ahead)) == [i * i for i in range(40)]


def test_no_more_threads_work_than_were_asked_for() -> None:
    before, meeting = threading.active_count(), threading.Barrier(2, timeout=10)
    with Pool(2) as pool:
        for task in [pool.submit(lambda _: meeting.wait(), None) for _ in range(6)]:
            task.result()
        assert threading.active_count() == before + 2
    assert threading.active_count() == before


def test_an_error_is_raised_where_the_result_is_asked_for() -> None:
    def fail(what: str) -> str:
        raise OSError(what)

    with Pool(1) as pool:
        failing, working = pool.submit(fail, "gone"), pool.submit(str.upper, "a")
        with pytest.raises(OSError, match="gone"):
            failing.result()
        assert working.result() == "A"


def test_what_waits_when_the_pool_is_closed_is_not_begun() -> None:
    is_begun, may_end = threading.Event(), threading.Event()
    done = []

    def work(what: int) -> int:
        is_begun.set()
        may_end.wait(10)
        done.append(what)
        return what

    pool = Pool(1)
    first, second = pool.submit(work, 1), pool.submit(work, 2)
    is_begun.wait(10)
    threading.Timer(0.05, may_end.set).start()
    pool.close()
    assert done == [1]
    assert first.result() == 1
    with pytest.raises(RuntimeError, match="ended"):
        second.result()


def test_what_was_worked_on_is_let_go() -> None:
    class Large:
        pass

    given = Large()
    seen = weakref.ref(given)
    with Pool(1) as pool:
        task = pool.submit(lambda large: str(type(large)), given)
        del given
        task.result()
        pool.submit(str, 1).result()  # the thread has gone on
        gc.collect()
        assert seen() is None
