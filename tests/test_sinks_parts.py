"""Tables of many parts: folders that appear whole or not at all, and what is one file after all.

A frame is whatever writes itself, so none of Spark's is needed here.
"""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nearly.errors import SinkError
from nearly.sinks import Outputs, check_place, check_place_of_frame

TABLE = pa.table({"id": [1, 2, 3]})


class Frame:
    """Writes its parts as Spark does, and notes where and how; or fails in the middle of it."""

    def __init__(self, *, fails: bool = False, elsewhere: bool = False) -> None:
        self.fails = fails
        self.elsewhere = elsewhere
        self.written: list[tuple[str, str]] = []

    @property
    def write(self) -> "Frame":
        return self

    def mode(self, mode: str) -> "Frame":
        self._mode = mode
        return self

    def parquet(self, place: str) -> None:
        self.written.append((self._mode, place))
        folder = Path(place.removeprefix("file://"))
        if "://" not in str(place.removeprefix("file://")):
            folder.mkdir()
            if not self.elsewhere:
                pq.write_table(TABLE, folder / "part-00000.parquet")
            if self.fails:
                raise RuntimeError("a worker died")
            (folder / "_SUCCESS").touch()

    def toArrow(self) -> pa.Table:  # noqa: N802 - as Spark calls it
        return TABLE


def test_parts_appear_when_all_is_well(tmp_path: Path) -> None:
    frame = Frame()
    with Outputs() as outputs:
        outputs.write_frame(frame, tmp_path / "a name with spaces")
        assert not (tmp_path / "a name with spaces").exists()
        [staged] = tmp_path.glob(".nearly-*.part")
    assert [path.name for path in tmp_path.iterdir()] == ["a name with spaces"]
    assert pq.read_table(tmp_path / "a name with spaces").equals(TABLE)
    assert frame.written == [("errorifexists", f"file://{staged}")]


def write_all(frames: dict[Path, Frame], *, force: bool = False) -> None:
    with Outputs(force=force) as outputs:
        for path, frame in frames.items():
            outputs.write_frame(frame, path)


@pytest.mark.parametrize("force", [False, True])
def test_a_failure_leaves_all_as_it_was(tmp_path: Path, force: bool) -> None:
    if force:
        (tmp_path / "pairs").mkdir()
        (tmp_path / "pairs" / "old").touch()
    before = sorted(tmp_path.rglob("*"))
    names = {"pairs": False, "clusters.csv": False, "removed": True}
    frames = {tmp_path / name: Frame(fails=fails) for name, fails in names.items()}
    with pytest.raises(RuntimeError, match="died"):
        write_all(frames, force=force)
    assert sorted(tmp_path.rglob("*")) == before


class Rival(Frame):
    """While it is written, somebody else makes its target."""

    def parquet(self, place: str) -> None:
        super().parquet(place)
        rival = Path(place.removeprefix("file://")).with_name("clusters")
        rival.mkdir()
        (rival / "theirs").touch()


def test_what_was_published_is_taken_back(tmp_path: Path) -> None:
    with pytest.raises(SinkError, match="appeared while it was being made"):
        write_all({tmp_path / "pairs": Frame(), tmp_path / "clusters": Rival()})
    assert [path.name for path in tmp_path.rglob("*")] == ["clusters", "theirs"]


def test_force_replaces_a_folder_when_all_is_done(tmp_path: Path) -> None:
    (tmp_path / "pairs").mkdir()
    (tmp_path / "pairs" / "old").touch()
    with Outputs(force=True) as outputs:
        outputs.write_frame(Frame(), tmp_path / "pairs")
        assert (tmp_path / "pairs" / "old").exists()
    assert sorted(path.name for path in (tmp_path / "pairs").iterdir()) == [
        "_SUCCESS",
        "part-00000.parquet",
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["pairs"]


@pytest.mark.parametrize("name", ["pairs.parquet", "pairs.csv.gz", "pairs.JSONL"])
def test_the_ending_of_a_format_asks_for_one_file(tmp_path: Path, name: str) -> None:
    frame = Frame()
    with Outputs() as outputs:
        outputs.write_frame(frame, tmp_path / name)
    assert (tmp_path / name).is_file()
    assert frame.written == []


def test_a_small_table_becomes_a_folder_of_one_part(tmp_path: Path) -> None:
    with Outputs() as outputs:
        outputs.write_frame(TABLE, tmp_path / "skipped")
    assert pq.read_table(tmp_path / "skipped").equals(TABLE)


@pytest.mark.parametrize(("force", "mode"), [(False, "errorifexists"), (True, "overwrite")])
def test_elsewhere_is_left_to_the_frame(tmp_path: Path, force: bool, mode: str) -> None:
    frame = Frame()
    check_place_of_frame("s3a://bucket/pairs", force=force)
    with Outputs(force=force) as outputs:
        outputs.write_frame(frame, "s3a://bucket/pairs")
    assert frame.written == [(mode, "s3a://bucket/pairs")]
    assert list(tmp_path.iterdir()) == []


def test_a_small_table_cannot_go_elsewhere() -> None:
    with pytest.raises(SinkError, match="give the name of a file"), Outputs() as outputs:
        outputs.write_frame(TABLE, "s3a://bucket/skipped")


def test_parts_that_never_arrived_are_missed(tmp_path: Path) -> None:
    with pytest.raises(SinkError, match="a folder that all of them share"), Outputs() as outputs:
        outputs.write_frame(Frame(elsewhere=True), tmp_path / "pairs")
    assert list(tmp_path.iterdir()) == []


def test_two_outputs_cannot_be_one_folder(tmp_path: Path) -> None:
    with pytest.raises(SinkError, match="two outputs"):
        write_all({tmp_path / "pairs": Frame(), tmp_path / "x" / ".." / "pairs": Frame()})
    assert list(tmp_path.iterdir()) == []


def test_an_old_folder_that_the_disk_refuses_to_remove_goes_with_the_next_run(
    tmp_path, monkeypatch
):
    (tmp_path / "clean").mkdir()
    (tmp_path / "clean" / "old.csv").write_text("old")
    with monkeypatch.context() as refusing:
        refusing.setattr("nearly.sinks.part_folder.shutil.rmtree", lambda *_, **__: None)
        with Outputs(force=True) as outputs, outputs.folder(tmp_path / "clean") as folder:
            (folder / "new.csv").write_text("new")
    assert [path.name for path in (tmp_path / "clean").iterdir()] == ["new.csv"]
    assert len(list(tmp_path.iterdir())) > 1
    check_place(tmp_path / "other.csv", force=False)
    assert [path.name for path in tmp_path.iterdir()] == ["clean"]
