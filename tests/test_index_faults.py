"""What an index survives: failing calls, kills, turned bits, other versions, and files that go."""

import errno
import os
import random
import select
import shutil
import signal
import sqlite3
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from test_index import MEMORY, SEED, near_copies

import nearly
from nearly.errors import NearlyError, SinkError, UnreadableError
from nearly.index import addition, making, merge_policy
from nearly.index.catalogue import Catalogue
from nearly.index.directory import Directory, DiskDirectory, MemoryDirectory, NewFile
from nearly.index.segment_file import TRAILER
from nearly.index.store import open_store

MADE: dict[str, Any] = {"threshold": 0.6, "k": 5, "seed": SEED}


@pytest.fixture(autouse=True)
def small_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addition, "PENDING", 8)
    monkeypatch.setattr(merge_policy, "SMALLEST", 64)


@pytest.fixture
def place() -> Any:
    with TemporaryDirectory(dir=MEMORY) as folder:
        yield Path(folder)


# The seam


@pytest.mark.parametrize("kind", ["disk", "memory"])
def test_a_directory_keeps_its_contract(place: Path, kind: str) -> None:
    directory: Directory = MemoryDirectory()
    if kind == "disk":
        disk = DiskDirectory(place / "index")
        disk.make()
        directory = disk
    file = directory.create("b")
    file.write(b"some ")
    file.write(memoryview(b"bytes"))
    file.flush()
    assert bytes(directory.map("b")) == b"some bytes"
    file.sync()
    file.close()
    directory.create("a").close()
    directory.sync()
    assert directory.names() == ["a", "b"]
    with pytest.raises(FileExistsError):
        directory.create("a")
    mapped = directory.map("b")
    directory.remove("b")
    directory.remove("b")  # that it is not there is no error
    assert bytes(mapped) == b"some bytes"
    with pytest.raises(FileNotFoundError):
        directory.map("b")
    assert directory.lock()
    assert directory.lock()
    directory.close()


def test_only_one_may_write(place: Path) -> None:
    one, other = DiskDirectory(place), DiskDirectory(place)
    assert one.lock()
    assert not other.lock()
    one.close()
    assert other.lock()
    other.close()


# Calls that fail


class Faulty:
    """A directory whose n-th call fails."""

    def __init__(self, inner: Directory, at: int, number: int) -> None:
        self._inner, self.at, self.number, self.calls = inner, at, number, 0
        self.catalogue = inner.catalogue

    def _count(self) -> None:
        self.calls += 1
        if self.calls == self.at:
            raise OSError(self.number, os.strerror(self.number))

    def create(self, name: str) -> NewFile:
        self._count()
        return FaultyFile(self._inner.create(name), self._count)

    def map(self, name: str) -> memoryview:
        self._count()
        return self._inner.map(name)

    def remove(self, name: str) -> None:
        self._count()
        self._inner.remove(name)

    def names(self) -> list[str]:
        self._count()
        return self._inner.names()

    def sync(self) -> None:
        self._count()
        self._inner.sync()

    def lock(self) -> bool:
        return self._inner.lock()

    def close(self) -> None:
        self._inner.close()


class FaultyFile:
    def __init__(self, inner: NewFile, count: Callable[[], None]) -> None:
        self._inner, self._count = inner, count

    def write(self, data: bytes | memoryview, /) -> None:
        self._count()
        self._inner.write(data)

    def flush(self) -> None:
        self._count()
        self._inner.flush()

    def sync(self) -> None:
        self._count()
        self._inner.sync()

    def close(self) -> None:
        self._inner.close()


def answers(index: nearly.Index, texts: dict[str, str]) -> list[Any]:
    return [len(index), *(list(index.query(text)) for text in list(texts.values())[:5])]


WORK: dict[str, Callable[[nearly.Index, dict[str, str]], object]] = {
    "add a few": lambda index, more: index.add(dict(list(more.items())[:3])),
    "add many": lambda index, more: index.add(more),
    "remove": lambda index, _: index.remove([f"n{i}" for i in range(0, 60, 2)]),
    "compact": lambda index, _: index.compact(),
}


@pytest.mark.parametrize("name", WORK)
@pytest.mark.parametrize("step", [pytest.param(1, marks=pytest.mark.slow), 7])
def test_calls_that_fail_leave_the_index_before_or_after(place: Path, name: str, step: int) -> None:
    texts = near_copies(60)
    more = {f"m{key}": text for key, text in near_copies(40, seed=2).items()}
    with nearly.Index.create(place / "origin", texts, **MADE) as index:
        index.add({"z": "what is pending"})
        before = answers(index, texts)
    shutil.copytree(place / "origin", place / "done")
    with nearly.Index.open(place / "done") as index:
        WORK[name](index, more)
        after = answers(index, texts)
    met = 0
    for at in range(1, 1000, step):
        copy = place / str(at)
        shutil.copytree(place / "origin", copy)
        faulty = Faulty(DiskDirectory(copy), 10**9, errno.ENOSPC if at % 2 else errno.EIO)
        index = nearly.Index(open_store(faulty, read_only=False))
        faulty.at = faulty.calls + at
        failed = False
        try:
            WORK[name](index, more)
        except SinkError:
            failed = True
        is_met = faulty.calls >= faulty.at
        met += is_met
        assert answers(index, texts) in ((before, after) if is_met else (after,))
        assert failed or answers(index, texts) == after
        index.close()
        with nearly.Index.open(copy) as again:
            assert answers(again, texts) in ((before, after) if is_met else (after,))
            assert again.check().problems == []
        shutil.rmtree(copy)
        if not is_met:
            break
    assert not is_met
    assert met >= (0 if name == "add a few" else 35 // step)  # a few stay in the catalogue


def test_every_call_of_opening_that_fails_is_an_error(place: Path) -> None:
    texts = near_copies(60)
    nearly.Index.create(place / "index", texts, **MADE).close()
    for at in range(1, 50):
        faulty = Faulty(DiskDirectory(place / "index"), at, errno.EIO)
        try:
            store = open_store(faulty, read_only=False)
        except OSError:
            continue
        store.close()
        break
    assert at > 2
    with nearly.Index.open(place / "index") as index:
        assert len(index) == len(texts)


# Bits that turned over


def flip(path: Path, chance: random.Random) -> tuple[Path, int]:
    files = [f for f in sorted(path.rglob("*")) if f.is_file() and f.stat().st_size]
    file = chance.choice(files)
    data = bytearray(file.read_bytes())
    place = chance.randrange(len(data))
    data[place] ^= 1 << chance.randrange(8)
    file.write_bytes(data)
    return file, place


def check_flips(place: Path, count: int) -> None:
    texts = near_copies(120)
    with nearly.Index.create(place / "origin", texts, **MADE) as index:
        index.remove(["n3", "n4"])
        index.add({"new": "a text that is pending", "copy": texts["n7"]})
        expected = answers(index, texts)
        everything = {name for name in [*texts, "new", "copy"] if name in index}
    chance, seen = random.Random(5), 0
    for number in range(count):
        copy = place / str(number)
        shutil.copytree(place / "origin", copy)
        where = flip(copy, chance)
        try:
            with nearly.Index.open(copy, read_only=True) as index:
                assert answers(index, texts) == expected, where
        except NearlyError:
            seen += 1
        check_repair(copy, everything, where)
        shutil.rmtree(copy)
    assert seen > count // 4


def check_repair(copy: Path, everything: set[str], where: object) -> None:
    """What is broken is found; after a repair the rest is there, and sound."""
    try:
        found = nearly.Index.check_at(copy, repair=True)
    except NearlyError as error:
        told = str(error)
        assert "catalogue" in told or "version" in told, where
        return
    if found.problems and not found.repaired:  # a catalogue, which only a snapshot restores
        assert "catalogue" in found.problems[0], where
        return
    with nearly.Index.open(copy) as index:
        assert index.check().problems == [], where
        there = {name for name in everything if name in index}
        gone = everything - there
        assert set(found.dropped) <= gone, where
        assert len(gone - set(found.dropped)) == found.lost, where
        assert len(index) == len(there), where


def test_turned_bits_are_never_a_wrong_answer(place: Path) -> None:
    check_flips(place, 25)


@pytest.mark.slow
def test_many_turned_bits_are_never_a_wrong_answer(place: Path) -> None:
    check_flips(place, 500)


def test_each_turned_bit_of_a_trailer_is_found_or_harmless(place: Path) -> None:
    texts = near_copies(60)
    with nearly.Index.create(place / "index", texts, **MADE) as index:
        expected = answers(index, texts)
    (file,) = (place / "index" / "segments").iterdir()
    whole, refused = file.read_bytes(), 0
    for bit in range(8 * TRAILER.size):
        changed = bytearray(whole)
        changed[bit // 8 - TRAILER.size] ^= 1 << bit % 8
        file.write_bytes(changed)
        try:
            with nearly.Index.open(place / "index", read_only=True) as index:
                assert answers(index, texts) == expected, bit
        except UnreadableError:
            refused += 1
    assert refused > 8 * TRAILER.size / 2  # the rest is padding


# Kills


def work_until_killed(path: Path, acknowledged: int, seed: int) -> None:
    """In a child: add, remove and compact, and say what is done."""
    chance = random.Random(seed)
    with nearly.Index.open(path) as index:
        for step in range(10**6):
            names = [f"{seed}-{step}-{i}" for i in range(chance.choice([1, 3, 20]))]
            index.add(
                {name: f"text of {name} " + "more words " * (i % 5) for i, name in enumerate(names)}
            )
            os.write(acknowledged, f"+{','.join(names)}\n".encode())
            if step % 3 == 2:
                os.write(acknowledged, f"?{names[0]}\n".encode())
                index.remove([names[0]])
                os.write(acknowledged, f"-{names[0]}\n".encode())
            if step % 5 == 4:
                index.compact()


STAYS = "a text that is there from the beginning, and is never removed"


@contextmanager
def reader_that_goes_on(path: Path) -> Iterator[None]:
    """Another process asks again and again, whatever writers do; what it asks has one answer."""
    told, telling = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(telling)
        try:
            with nearly.Index.open(path, read_only=True) as reader:
                while not select.select([told], [], [], 0.005)[0]:
                    assert ("stays", 1.0) in reader.query(STAYS)
                    assert reader.text("stays") == STAYS
                    assert len(reader) > 0
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    os.close(told)
    try:
        yield
    finally:
        os.close(telling)
        assert os.waitpid(child, 0)[1] == 0, "the reader did not go on"


def check_kills(place: Path, kills: int) -> None:
    nearly.Index.create(place / "index", {"stays": STAYS}, **MADE).close()
    with reader_that_goes_on(place / "index"):
        check_killed(place / "index", kills)


def check_killed(path: Path, kills: int) -> None:
    chance = random.Random(7)
    expected = {"stays"}
    for number in range(kills):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            try:
                work_until_killed(path, writing, number)
            finally:
                os._exit(1)
        os.close(writing)
        time.sleep(chance.uniform(0.005, 0.12))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        with os.fdopen(reading) as said:
            lines = [line for line in said.read().split("\n") if line]
        doubtful: set[str] = set()
        for line in lines:
            names = set(line[1:].split(","))
            doubtful = names if line[0] == "?" else set()
            expected = (
                expected | names
                if line[0] == "+"
                else expected - names
                if line[0] == "-"
                else expected
            )
        with nearly.Index.open(path) as index:
            there = {name for name in expected | doubtful if name in index}
            assert expected - doubtful <= there, f"kill {number} lost an acknowledged write"
            extra = len(index) - len(there)
            assert extra in (0, 1, 3, 20), f"kill {number} left {extra} more"
            assert index.check().problems == []
            index.remove([name for name in doubtful if name in index])
            expected -= doubtful
            if extra:  # one add was committed, and killed before it could say so
                step = sum(line[0] == "+" for line in lines)
                more = [
                    f"{number}-{step}-{i}" for i in range(20) if f"{number}-{step}-{i}" in index
                ]
                assert len(more) == extra
                index.remove(more)
            assert len(index) == len(expected)


def test_a_killed_writer_loses_nothing_that_it_acknowledged(place: Path) -> None:
    check_kills(place, 6)


@pytest.mark.slow
def test_a_writer_that_is_killed_300_times_loses_nothing(place: Path) -> None:
    check_kills(place, 300)


# What else happens to files


@pytest.fixture
def made(place: Path) -> Path:
    texts = near_copies(60)
    nearly.Index.create(place / "index", texts, **MADE).close()
    return place / "index"


@pytest.mark.parametrize("column", ["pending.content", "segments.bytes"])
def test_a_catalogue_without_a_column_is_damaged(made: Path, column: str) -> None:
    table, name = column.split(".")
    with sqlite3.connect(made / "catalogue.sqlite") as connection:
        connection.execute(f"ALTER TABLE {table} DROP COLUMN {name}")
    connection.close()
    with pytest.raises(UnreadableError, match="damaged"):
        nearly.Index.open(made)


def test_another_version_is_refused(made: Path) -> None:
    with sqlite3.connect(made / "catalogue.sqlite") as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(UnreadableError, match="version 99 of the format"):
        nearly.Index.open(made)


def test_another_signature_is_refused(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(making, "SIGNATURE_VERSION", 99)
    with pytest.raises(UnreadableError, match="signs documents otherwise"):
        nearly.Index.open(made)


def test_other_settings_are_refused(made: Path) -> None:
    with nearly.Index.open(made) as index:
        with pytest.raises(nearly.SettingsError, match="threshold was fixed"):
            index.add({"a": "text"}, threshold=0.9)
        assert "a" not in index


def test_a_segment_that_was_removed_is_named(made: Path) -> None:
    segment = next((made / "segments").iterdir())
    segment.unlink()
    with pytest.raises(UnreadableError, match=f"{segment.name}.*is not there"):
        nearly.Index.open(made)
    found = nearly.Index.check_at(made, repair=True)
    assert found.repaired
    assert found.lost == 60
    with nearly.Index.open(made) as index:
        assert len(index) == 0
        assert index.check().is_sound


def test_a_catalogue_that_is_none_is_refused(place: Path) -> None:
    (place / "catalogue.sqlite").write_text(
        "not a database at all, but long enough to be looked at"
    )
    with pytest.raises(UnreadableError, match="damaged"):
        nearly.Index.open(place)


def test_files_that_nobody_named_are_removed(made: Path) -> None:
    stranger = made / "segments" / "000099-dead.segment"
    stranger.write_bytes(b"half a segment")
    with nearly.Index.open(made) as index:
        assert not stranger.exists()
        assert index.check().is_sound


def test_a_row_that_was_taken_away_is_missed(made: Path) -> None:
    with nearly.Index.open(made) as index:
        index.add({"p": "a pending text"})
    connection = sqlite3.connect(made / "catalogue.sqlite")
    connection.execute("DELETE FROM pending")
    connection.commit()
    connection.close()
    with pytest.raises(UnreadableError, match=r"catalogue .* is damaged"):
        nearly.Index.open(made)


def test_a_transaction_that_fails_changes_nothing(
    made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    with nearly.Index.open(made) as index:
        before = len(index)
        monkeypatch.setattr(Catalogue, "_write_state", fail)
        for source in ({"a": "one"}, {f"b{i}": f"text {i}" for i in range(50)}):
            with pytest.raises(SinkError, match="disk is full"):
                index.add(source)
        monkeypatch.undo()
        assert len(index) == before
        assert index.check().is_sound
        assert len(list((made / "segments").iterdir())) == index.stats().segments


def test_snapshots_are_whole_while_a_writer_writes(place: Path) -> None:
    path = place / "index"
    nearly.Index.create(path, **MADE).close()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            work_until_killed(path, writing, 1)
        finally:
            os._exit(1)
    try:
        sizes: list[int] = []
        with nearly.Index.open(path, read_only=True) as reader:
            while len(reader) == 0:  # the writer may be slow to begin
                assert os.waitpid(child, os.WNOHANG) == (0, 0)
                time.sleep(0.05)
            for number in range(5):
                time.sleep(0.05)
                reader.snapshot(place / f"copy-{number}")
                with nearly.Index.open(place / f"copy-{number}") as copy:
                    assert copy.check().problems == []
                    sizes.append(len(copy))
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(reading)
        os.close(writing)
    # A step adds at least one document and then removes at most one.
    assert all(later >= size - 1 for size, later in pairwise(sizes))
    assert sizes[0] > 0
    with nearly.Index.restore(place / "copy-4", place / "restored") as restored:
        assert len(restored) == sizes[-1]


def test_a_damaged_snapshot_is_not_restored(made: Path, place: Path) -> None:
    with nearly.Index.open(made) as index:
        index.snapshot(place / "copy")
    segment = next((place / "copy" / "segments").iterdir())
    data = bytearray(segment.read_bytes())
    data[len(data) // 2] ^= 1
    segment.write_bytes(data)
    with pytest.raises(UnreadableError, match="damaged"):
        nearly.Index.restore(place / "copy", place / "restored")
    assert not (place / "restored").exists()
