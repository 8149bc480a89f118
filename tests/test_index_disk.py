"""A disk that is really full, or can only be read: a clear message, and an index as before."""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import nearly
from nearly.errors import NearlyError, SinkError

TEXTS = {f"d{i}": f"the text with the number {i} and its square {i * i}" for i in range(300)}
#: Many, and hard to compress.
MORE = {f"m{i}": f"{i * 2654435761 % 2**32:x} {i**7:x} {i**11:x}" for i in range(20_000)}


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of two megabytes."""
    place = tmp_path / "disk"
    place.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "none", place], capture_output=True, check=False
    )
    if made.returncode:
        pytest.skip("file systems cannot be mounted here")
    yield place
    subprocess.run(["umount", "--lazy", place], check=True)


def is_as_before(path: Path) -> bool:
    with nearly.Index.open(path, read_only=True) as index:
        found = index.query(TEXTS["d7"])
        is_sound = index.check().is_sound
        return is_sound and len(index) == len(TEXTS) and ("d7", 1.0) in found


def fill(path: Path) -> None:
    """Take all the room that is left."""
    with open(path, "wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(512))


def add_many(index: nearly.Index, count: int) -> None:
    """One after the other."""
    for i in range(count):
        index.add({f"one{i}": f"a text of its own, which is {i}" * 50})


def test_a_full_disk_is_told_and_changes_nothing(disk: Path) -> None:
    nearly.Index.create(disk / "index", TEXTS, threshold=0.8).close()
    with nearly.Index.open(disk / "index") as index:
        with pytest.raises(SinkError, match="No space left on device"):
            index.add(MORE)
        assert len(index) == len(TEXTS)
        # What was written of it made room again.
        assert index.add({"one": "a short one"}).added == 1
        assert index.remove(["one"]) == 1
    assert is_as_before(disk / "index")


def test_no_room_for_the_catalogue_is_told_and_changes_nothing(disk: Path) -> None:
    nearly.Index.create(disk / "index", TEXTS, threshold=0.8).close()
    with nearly.Index.open(disk / "index") as index:
        fill(disk / "filler")
        with pytest.raises(SinkError, match="full"):
            add_many(index, 100)
        added = len(index) - len(TEXTS)
        (disk / "filler").unlink()
        assert index.add({"one": "a short one"}).added == 1
        assert len(index) == len(TEXTS) + added + 1
        assert index.check().is_sound


def test_an_index_that_does_not_fit_is_not_there(disk: Path) -> None:
    with pytest.raises(SinkError, match="No space left on device"):
        nearly.Index.create(disk / "index", MORE, threshold=0.8)
    assert not (disk / "index").exists()


def test_a_disk_that_can_only_be_read_is_read(disk: Path) -> None:
    nearly.Index.create(disk / "index", TEXTS, threshold=0.8).close()
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    assert is_as_before(disk / "index")
    with pytest.raises(SinkError, match="Read-only file system"):
        nearly.Index.open(disk / "index")
    with pytest.raises(NearlyError, match="Read-only file system"):
        nearly.Index.create(disk / "other", TEXTS, threshold=0.8)


def test_a_limit_on_the_size_of_files_is_told_and_changes_nothing(tmp_path: Path) -> None:
    nearly.Index.create(tmp_path / "index", TEXTS, threshold=0.8).close()
    script = (
        "import json, sys, nearly\n"
        "with nearly.Index.open(sys.argv[1]) as index:\n"
        "    try:\n"
        "        index.add(json.load(sys.stdin))\n"
        "    except nearly.SinkError as error:\n"
        "        print(error, len(index))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, tmp_path / "index"],
        input=json.dumps(MORE),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, 2**20)),
        capture_output=True,
        text=True,
        check=True,
    )
    assert "File too large" in done.stdout
    assert done.stdout.endswith(f"{len(TEXTS)}\n")
    assert is_as_before(tmp_path / "index")


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="only Linux tells")
def test_single_pages_are_read_unless_a_segment_is_read_through(tmp_path: Path) -> None:
    """Where an index is larger than memory, what is read ahead takes the room of what is needed."""

    def advice() -> set[str]:
        mapped = Path("/proc/self/smaps").read_text().split(str(tmp_path), 1)[1]
        return set(mapped.split("VmFlags:", 1)[1].split("\n", 1)[0].split()) & {"rr", "sr"}

    with nearly.Index.create(tmp_path / "index", TEXTS, threshold=0.8) as index:
        assert advice() == {"rr"}
        with index._store.lives()[0].segment.read_through():
            assert advice() == {"sr"}
        assert index.check().is_sound
        assert advice() == {"rr"}


def test_questions_are_answered_alike_where_pages_have_to_be_read(tmp_path: Path) -> None:
    path, asked = tmp_path / "index", list(MORE.values())[::400]
    with nearly.Index.create(path, MORE, threshold=0.5, seed=1) as index:
        expected = [index.query(text) for text in asked]
    for file in path.rglob("*.segment"):
        with open(file, "rb") as opened:
            os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    with nearly.Index.open(path, read_only=True) as index:
        assert [index.query(text) for text in asked] == expected
        assert all(expected)
