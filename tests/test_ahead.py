"""Reading ahead, and weighing what decides the method while it is read."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nearly
from nearly.engines.local.workshop import Workshop
from nearly.progress import Silence


def workshop(folder: Path, threads: int, memory: int | None = None) -> Workshop:
    return Workshop(folder=folder, progress=Silence(), threads=threads, memory=memory)


@pytest.mark.parametrize(("threads", "memory"), [(1, None), (2, None), (2, 10**9)])
def test_items_come_in_order(tmp_path: Path, threads: int, memory: int | None) -> None:
    shop = workshop(tmp_path, threads, memory)
    assert list(shop.ahead(iter(range(50)))) == list(range(50))
    shop.close()


@pytest.mark.parametrize("threads", [1, 2])
def test_errors_come_after_what_was_read_before_them(tmp_path: Path, threads: int) -> None:
    def failing() -> Iterator[int]:
        yield 1
        raise OSError("gone")

    shop = workshop(tmp_path, threads)
    items = shop.ahead(failing())
    assert next(items) == 1
    with pytest.raises(OSError, match="gone"):
        next(items)
    shop.close()


def test_what_is_not_taken_is_let_go(tmp_path: Path) -> None:
    shop = workshop(tmp_path, 2)
    assert next(shop.ahead(iter([1, 2, 3]))) == 1
    shop.close()


#: Enough by words to be more than is joined without a question, in several batches.
TEXTS = [
    f"the {i % 4000} quick brown {i % 4000} foxes {i % 7} jumped over {i % 4000} lazy dogs " * 3
    for i in range(30_000)
]


@pytest.mark.parametrize("method", ["auto", "exact", "lsh"])
def test_the_answer_is_that_of_one_thread(method: str) -> None:
    table = pa.table({"id": range(len(TEXTS)), "text": TEXTS})
    one, two = (
        nearly.find(table, unit="word", k=3, threshold=0.8, raw=True, method=method, threads=count)
        for count in (1, 2)
    )
    assert one.pairs.num_rows > 0
    assert one.pairs.equals(two.pairs)
    assert one.statistics.method == two.statistics.method


def test_a_thread_alone_begins_no_other(tmp_path: Path) -> None:
    before = threading.active_count()
    one, two = workshop(tmp_path, 1), workshop(tmp_path, 2)
    for shop in (one, two):
        assert list(shop.map(abs, [-1, 2])) == [1, 2]
        assert shop.begin(abs, -3)() == 3
        assert (threading.active_count() > before) == (shop is two)
    two.close()
    assert threading.active_count() == before


@pytest.mark.parametrize("rows", [2, 30_000])
def test_small_files_are_compared_by_one_thread(
    tmp_path: Path, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pq.write_table(pa.table({"id": range(rows), "text": TEXTS[:rows]}), tmp_path / "a.parquet")
    hired: list[int] = []
    monkeypatch.setattr(Workshop, "work_alone", lambda shop: hired.append(shop.threads))
    nearly.find(tmp_path / "a.parquet", unit="word", k=3, threshold=0.8, threads=2)
    assert hired == ([2] if rows == 2 else [])
