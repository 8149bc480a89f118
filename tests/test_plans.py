"""Plans: what changed is refused, the last copy stays, and nothing outside is touched."""

import errno
import fcntl
import gzip
import hashlib
import json
import os
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearly.cli.program import run
from nearly.errors import EngineError, MissingError, NearlyError, SinkError, SourceError
from nearly.plans import (
    Chosen,
    Decision,
    Plan,
    apply_plan,
    check_plan,
    choose_files,
    link,
    load_plan,
    make_plan,
    removal,
    save_plan,
)
from nearly.plans.file import File, digest_of, lock_folder, open_folder

SETTINGS = {"threshold": 0.8, "text": {"unit": "char", "stop_words": ("a", "the")}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two clusters: `kept` stands for `a` and `sub/b`; `sub/kept` for `sub/c`."""
    folder = tmp_path / "folder"
    (folder / "sub").mkdir(parents=True)
    for name in ("kept", "a", "sub/b", "sub/kept", "sub/c"):
        (folder / name).write_text(f"text of {name}")
    return folder


@pytest.fixture
def plan(folder: Path) -> Plan:
    removed = [("a", "kept", 0.9), ("sub/b", "kept", 0.85), ("sub/c", "sub/kept", 1.0)]
    return drafted(folder, removed, SETTINGS)


def drafted(
    folder: Path, removed: list[tuple[str, str, float]], settings: dict[str, Any] | None = None
) -> Plan:
    """A plan of files that are as they were when they were compared."""
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    digests = {
        str(path.relative_to(folder)): (
            hashlib.sha256(path.read_bytes()).hexdigest(),
            path.stat().st_size,
        )
        for path in files
    }
    return make_plan(folder, removed, digests, settings or {})


def files_in(folder: Path) -> set[str]:
    return {str(p.relative_to(folder)) for p in folder.rglob("*") if not p.is_dir()}


def outcomes(decisions: list[Decision]) -> list[str]:
    return [decision.outcome for decision in decisions]


ALL = {"kept", "a", "sub/b", "sub/kept", "sub/c"}
KEPT = {"kept", "sub/kept"}


class TestMaking:
    def test_says_what_each_file_is(self, folder: Path, plan: Plan) -> None:
        first = plan.removals[0]
        assert plan.folder == str(folder.resolve())
        assert (first.path, first.survivor, first.similarity) == ("a", "kept", 0.9)
        assert first.sha256 == hashlib.sha256(b"text of a").hexdigest()
        assert first.survivor_sha256 == hashlib.sha256(b"text of kept").hexdigest()
        assert first.bytes == len("text of a")

    @pytest.mark.parametrize("path", ["gone", "../folder/a", "/etc/passwd", "sub", "link", "./a"])
    def test_only_plain_files_below_the_folder(self, folder: Path, path: str) -> None:
        (folder / "link").symlink_to("a")
        with pytest.raises(SourceError, match="cannot be in a plan"):
            drafted(folder, [(path, "kept", 1.0)])

    def test_a_plan_is_of_the_bytes_that_were_compared(self, folder: Path) -> None:
        plan = drafted(folder, [("a", "kept", 1.0)])
        digests = {r: (d, 0) for r, d in [("a", plan.removals[0].sha256), ("kept", "0" * 64)]}
        (folder / "a").write_text("precious")
        late = make_plan(folder, [("a", "kept", 1.0)], digests, {})
        assert late.removals[0].sha256 == plan.removals[0].sha256
        assert outcomes(apply_plan(late)) == ["refused"]
        assert (folder / "a").read_text() == "precious"

    def test_what_was_not_read_cannot_be_in_it(self, folder: Path) -> None:
        with pytest.raises(SourceError, match="was not read"):
            make_plan(folder, [("a", "kept", 1.0)], {}, {})

    def test_no_such_folder(self, tmp_path: Path) -> None:
        with pytest.raises(MissingError, match="there is no folder"):
            make_plan(tmp_path / "gone", [], {}, {})


class TestLinks:
    """`link` is a symbolic link to a file; it is never removed and never stands for one."""

    @pytest.fixture(autouse=True)
    def _link(self, folder: Path) -> None:
        (folder / "link").symlink_to("kept")

    def test_a_link_is_not_removed(self, folder: Path) -> None:
        chosen = choose_files(folder, [("link", "kept", 1.0), ("a", "kept", 0.9)])
        assert (chosen.removed, chosen.links) == ([("a", "kept", 0.9)], ["link"])

    def test_a_file_takes_the_place_of_a_link_that_survives(self, folder: Path) -> None:
        found = [("a", "link", 0.9), ("kept", "link", 1.0), ("sub/b", "link", 1.0)]
        chosen = choose_files(folder, found)
        assert chosen.removed == [("a", "kept", 0.9), ("sub/b", "kept", 1.0)]
        assert (chosen.links, chosen.stranded) == ([], [])

    def test_a_file_without_such_a_file_beside_it_is_no_link(self, folder: Path) -> None:
        chosen = choose_files(folder, [("a", "link", 0.9)])
        assert (chosen.removed, chosen.links, chosen.stranded) == ([], [], ["a"])


class TestSaving:
    def test_loads_back_equal(self, tmp_path: Path, plan: Plan) -> None:
        save_plan(plan, tmp_path / "plan.json")
        assert load_plan(tmp_path / "plan.json") == plan

    def test_does_not_overwrite(self, tmp_path: Path, plan: Plan) -> None:
        save_plan(plan, tmp_path / "plan.json")
        with pytest.raises(SinkError, match="exists"):
            save_plan(plan, tmp_path / "plan.json")
        save_plan(plan, tmp_path / "plan.json", force=True)

    @pytest.mark.parametrize("name", [b"new\nline", b"\xff\xfe", "日本 \u2028".encode(), b'"\\'])
    def test_any_name_a_file_can_have(self, tmp_path: Path, folder: Path, name: bytes) -> None:
        odd = os.fsdecode(name)
        (folder / odd).write_text("odd")
        save_plan(drafted(folder, [(odd, "kept", 1.0)]), tmp_path / "plan.json")
        assert (tmp_path / "plan.json").read_bytes().isascii()
        assert outcomes(apply_plan(load_plan(tmp_path / "plan.json"))) == ["done"]
        assert files_in(folder) == ALL


def edited(plan: Plan, edit: Callable[[dict[str, Any]], object], path: Path) -> Path:
    save_plan(plan, path, force=True)
    plain = json.loads(path.read_text())
    edit(plain)
    path.write_text(json.dumps(plain))
    return path


def first(**changes: object) -> Callable[[dict[str, Any]], object]:
    return lambda plain: plain["removals"][0].update(changes)


HOSTILE = {
    "no version": lambda p: p.pop("version"),
    "next version": lambda p: p.update(version=2),
    "true as version": lambda p: p.update(version=True),
    "no folder": lambda p: p.pop("folder"),
    "relative folder": lambda p: p.update(folder="folder"),
    "folder with NUL": lambda p: p.update(folder="/\0"),
    "unknown member": lambda p: p.update(extra=1),
    "settings a list": lambda p: p.update(settings=[]),
    "removals an object": lambda p: p.update(removals={}),
    "removal a string": lambda p: p.update(removals=["a"]),
    "removal without hash": lambda p: p["removals"][0].pop("sha256"),
    "removal with more": first(extra=1),
    "same path twice": lambda p: p["removals"].append(p["removals"][0]),
    "path a number": first(path=1),
    "path empty": first(path=""),
    "path absolute": first(path="/etc/passwd"),
    "path upwards": first(path="../outside"),
    "path up in the middle": first(path="sub/../../outside"),
    "path with a dot": first(path="./a"),
    "path with two slashes": first(path="sub//b"),
    "path with a slash at its end": first(path="a/"),
    "path with NUL": first(path="a\0b"),
    "path with a surrogate that is no byte": first(path="\ud800"),
    "survivor upwards": first(survivor="../outside"),
    "similarity above 1": first(similarity=1.5),
    "similarity NaN": first(similarity=float("nan")),
    "similarity a string": first(similarity="1.0"),
    "hash too short": first(sha256="abc"),
    "hash in capitals": first(survivor_sha256="A" * 64),
    "bytes below zero": first(bytes=-1),
    "bytes a bool": first(bytes=True),
}


class TestLoading:
    @pytest.mark.parametrize("edit", HOSTILE.values(), ids=HOSTILE.keys())
    def test_refuses_what_is_no_plan(
        self, tmp_path: Path, plan: Plan, edit: Callable[[dict[str, Any]], object]
    ) -> None:
        path = edited(plan, edit, tmp_path / "plan.json")
        with pytest.raises(SourceError, match=r"is not a plan .* Make the plan again"):
            load_plan(path)

    @pytest.mark.parametrize(
        "content", [b"", b"{", b"[]", b"null", b"\xff", b"[" * 100_000, b"1" * 5_000, b"\0"]
    )
    def test_refuses_what_is_no_json(self, tmp_path: Path, content: bytes) -> None:
        (tmp_path / "plan.json").write_bytes(content)
        with pytest.raises(SourceError, match="is not a plan"):
            load_plan(tmp_path / "plan.json")

    @given(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(max_size=3),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(
                    st.sampled_from(["version", "folder", "settings", "removals", "path"]), inner
                )
            ),
        )
    )
    def test_refuses_any_other_json(
        self, tmp_path_factory: pytest.TempPathFactory, plain: object
    ) -> None:
        path = tmp_path_factory.getbasetemp() / "any.json"
        path.write_text(json.dumps(plain))
        with pytest.raises(NearlyError):
            load_plan(path)

    def test_no_such_plan(self, tmp_path: Path) -> None:
        with pytest.raises(MissingError, match="there is no plan"):
            load_plan(tmp_path / "gone.json")
        with pytest.raises(SourceError, match="cannot be read"):
            load_plan(tmp_path)

    @pytest.mark.parametrize("member", ["path", "survivor"])
    def test_refuses_a_way_out_through_a_link(
        self, tmp_path: Path, folder: Path, plan: Plan, member: str
    ) -> None:
        (tmp_path / "outside").mkdir()
        (folder / "door").symlink_to(tmp_path / "outside")
        path = edited(plan, first(**{member: "door/file"}), tmp_path / "plan.json")
        with pytest.raises(SourceError, match="leaves the folder through a symbolic link"):
            load_plan(path)

    def test_a_folder_that_moved(self, tmp_path: Path, folder: Path, plan: Plan) -> None:
        save_plan(plan, tmp_path / "plan.json")
        folder.rename(tmp_path / "elsewhere")
        for act in (lambda: load_plan(tmp_path / "plan.json"), lambda: check_plan(plan)):
            with pytest.raises(MissingError, match="moved or renamed"):
                act()
        with pytest.raises(MissingError, match="moved or renamed"):
            apply_plan(plan)


def swap_parent(folder: Path) -> None:
    """Put a link to a folder with the same files in the place of `sub`."""
    (folder / "sub").rename(folder.parent / "outside")
    (folder / "sub").symlink_to(folder.parent / "outside")


def make_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def make_link(path: Path, target: str) -> None:
    path.unlink()
    path.symlink_to(target)


def make_hard_link(path: Path, target: Path) -> None:
    path.unlink()
    os.link(target, path)


CHANGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "file missing": (lambda f: (f / "sub/c").unlink(), "the file is missing"),
    "file changed": (lambda f: (f / "sub/c").write_text("new"), "the file changed since"),
    "file a pipe": (lambda f: make_pipe(f / "sub/c"), "the file is not a regular file"),
    "file a link": (lambda f: make_link(f / "sub/c", "kept"), "the file is not a regular file"),
    "file a hard link": (
        lambda f: make_hard_link(f / "sub/c", f / "sub/kept"),
        "the same file as its survivor",
    ),
    "survivor missing": (lambda f: (f / "sub/kept").unlink(), "its survivor is missing"),
    "survivor changed": (lambda f: (f / "sub/kept").write_text("new"), "its survivor changed"),
    "survivor a link": (
        lambda f: make_link(f / "sub/kept", "c"),
        "its survivor is not a regular file",
    ),
    "parent a link": (swap_parent, "the file is behind a symbolic link"),
}


class TestRefusing:
    @pytest.mark.parametrize(("change", "reason"), CHANGES.values(), ids=CHANGES.keys())
    def test_what_changed(
        self, folder: Path, plan: Plan, change: Callable[[Path], object], reason: str
    ) -> None:
        change(folder)
        plan = replace(plan, removals=plan.removals[::2])
        before = files_in(folder.parent)
        checked = check_plan(plan)
        assert outcomes(checked) == ["remove", "refuse"]
        assert reason in checked[1].reason
        assert files_in(folder.parent) == before
        applied = apply_plan(plan)
        assert outcomes(applied) == ["done", "refused"]
        assert applied[1].reason == checked[1].reason
        assert files_in(folder.parent) == before - {"folder/a"}

    @pytest.mark.parametrize(
        ("removed", "expected"),
        [
            ([("a", "kept", 1.0), ("kept", "sub/b", 1.0)], ["refused", "done"]),
            ([("a", "kept", 1.0), ("kept", "a", 1.0)], ["refused", "refused"]),
            ([("a", "a", 1.0)], ["refused"]),
        ],
        ids=["chain", "circle", "itself"],
    )
    def test_a_survivor_that_the_plan_removes(
        self, folder: Path, removed: list[tuple[str, str, float]], expected: list[str]
    ) -> None:
        decisions = apply_plan(drafted(folder, removed))
        assert outcomes(decisions) == expected
        assert decisions[0].reason == "its survivor is itself to be removed by this plan"
        assert (folder / "a").exists()

    @pytest.mark.parametrize("name", ["a", "kept"])
    def test_a_file_swapped_after_it_was_hashed(
        self, folder: Path, plan: Plan, name: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def swap_after_hashing(file: File, who: str) -> str:
            found = digest_of(file, who)
            if file.name == name:
                (folder / name).rename(folder / "moved")
                (folder / name).write_text("precious")
            return found

        monkeypatch.setattr(removal, "digest_of", swap_after_hashing)
        decisions = apply_plan(replace(plan, removals=plan.removals[:1]))
        assert outcomes(decisions) == ["refused"]
        assert decisions[0].reason.endswith("changed while it was checked")
        assert (folder / name).read_text() == "precious"
        assert (folder / "a").exists()

    def test_a_file_written_while_it_is_hashed(
        self, folder: Path, plan: Plan, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        digest = File.digest

        def write_after_hashing(file: File) -> str:
            found = digest(file)
            with open(folder / "a", "a") as target:
                target.write("more")
            return found

        monkeypatch.setattr(File, "digest", write_after_hashing)
        decisions = apply_plan(replace(plan, removals=plan.removals[:1]))
        assert decisions[0].reason == "the file is being written to"
        assert (folder / "a").read_text() == "text of amore"


class TestApplying:
    def test_deletes_what_was_planned(self, folder: Path, plan: Plan) -> None:
        assert outcomes(check_plan(plan)) == ["remove"] * 3
        assert files_in(folder) == ALL
        assert outcomes(apply_plan(plan)) == ["done"] * 3
        assert files_in(folder) == KEPT

    def test_a_second_time_refuses_all(self, folder: Path, plan: Plan) -> None:
        apply_plan(plan)
        assert [d.reason for d in apply_plan(plan)] == ["the file is missing"] * 3
        assert files_in(folder) == KEPT

    def test_goes_on_after_a_failure(
        self, folder: Path, plan: Plan, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(
            os, "unlink", raising(os.unlink, "a", PermissionError(errno.EPERM, "no"))
        )
        decisions = apply_plan(plan)
        assert outcomes(decisions) == ["failed", "done", "done"]
        assert decisions[0].reason == "no"
        assert files_in(folder) == KEPT | {"a"}

    def test_ctrl_c_can_be_taken_up_again(
        self, folder: Path, plan: Plan, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(os, "unlink", raising(os.unlink, "b", KeyboardInterrupt()))
            with pytest.raises(KeyboardInterrupt):
                apply_plan(plan)
        assert files_in(folder) == ALL - {"a"}
        assert outcomes(apply_plan(plan)) == ["refused", "done", "done"]
        assert files_in(folder) == KEPT


class TestTwoAtOnce:
    def test_one_plan_at_a_time_in_a_folder(self, folder: Path, plan: Plan) -> None:
        with open_folder(str(folder)) as other:
            lock_folder(other, str(folder))
            with pytest.raises(EngineError, match="another nearly apply is at work"):
                apply_plan(plan)
            assert outcomes(check_plan(plan)) == ["remove"] * 3
        assert files_in(folder) == ALL

    @pytest.mark.parametrize("name", ["a", "kept"])
    def test_a_locked_file_is_left_alone(self, folder: Path, plan: Plan, name: str) -> None:
        with open(folder / name, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            decisions = apply_plan(replace(plan, removals=plan.removals[:1]))
        assert "is locked by another program" in decisions[0].reason
        assert files_in(folder) == ALL

    @pytest.mark.slow
    @pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of a fork where threads may be
    def test_contradicting_plans_never_remove_both_copies(self, tmp_path: Path) -> None:
        """Of a folder and of one inside it: their locks on folders are not the same."""
        outer, removed = tmp_path / "outer", 0
        for number in range(60):
            inner = outer / f"{number}" / "inner"
            inner.mkdir(parents=True)
            for name in ("a", "b"):
                (inner / name).write_text("the same text")
            there = f"{number}/inner"
            plans = [
                drafted(outer, [(f"{there}/a", f"{there}/b", 1.0)]),
                drafted(inner, [("b", "a", 1.0)]),
            ]
            assert apply_at_once(plans) == [0, 0]
            left = files_in(inner)
            assert left
            removed += 2 - len(left)
        assert removed > 0


def apply_at_once(plans: list[Plan]) -> list[int]:
    """Each plan in a process of its own, all let go at the same moment; their exit codes."""
    reading, writing = os.pipe()
    children = []
    for plan in plans:
        child = os.fork()
        if child == 0:
            os.close(writing)
            os.read(reading, 1)
            code = 1
            try:
                apply_plan(plan)
                code = 0
            finally:
                os._exit(code)
        children.append(child)
    os.close(reading)
    os.close(writing)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


def raising(call: Callable[..., Any], name: str, error: BaseException) -> Callable[..., Any]:
    """The same call, except that it fails for one name."""

    def wrapped(path: Any, *others: Any, **options: Any) -> Any:
        if path == name:
            raise error
        return call(path, *others, **options)

    return wrapped


def other_file_system(*_: object, **__: object) -> None:
    raise OSError(errno.EXDEV, "Invalid cross-device link")


@pytest.fixture(params=["one file system", "two file systems"])
def trash(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    if request.param == "two file systems":
        monkeypatch.setattr(os, "link", other_file_system)
    return tmp_path / "deep" / "trash"


class TestTrash:
    def test_keeps_the_paths_and_the_bytes(self, folder: Path, plan: Plan, trash: Path) -> None:
        os.utime(folder / "a", ns=(10**18, 10**18))
        (folder / "a").chmod(0o640)
        assert outcomes(apply_plan(plan, trash=trash)) == ["done"] * 3
        assert files_in(folder) == KEPT
        assert files_in(trash) == ALL - KEPT
        assert (trash / "sub/b").read_text() == "text of sub/b"
        assert (trash / "a").stat().st_mtime_ns == 10**18
        assert (trash / "a").stat().st_mode & 0o777 == 0o640

    def test_never_overwrites(self, folder: Path, plan: Plan, trash: Path) -> None:
        (trash / "sub").mkdir(parents=True)
        (trash / "sub/b").write_text("older")
        decisions = apply_plan(plan, trash=trash)
        assert outcomes(decisions) == ["done", "refused", "done"]
        assert "already has a file of that name" in decisions[1].reason
        assert (trash / "sub/b").read_text() == "older"
        assert files_in(folder) == KEPT | {"sub/b"}

    def test_finishes_a_move_that_was_killed(
        self, folder: Path, plan: Plan, trash: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Once after the file arrived in the trash, once while it was copied."""
        with monkeypatch.context() as patch:
            patch.setattr(os, "unlink", raising(os.unlink, "a", KeyboardInterrupt()))
            with pytest.raises(KeyboardInterrupt):
                apply_plan(plan, trash=trash)
        assert {"a"} <= files_in(folder) & files_in(trash)
        (trash / "sub").mkdir(exist_ok=True)
        (trash / "sub/.nearly-copy.part").write_text("half of")
        assert outcomes(apply_plan(plan, trash=trash)) == ["done"] * 3
        assert files_in(folder) == KEPT
        assert files_in(trash) == ALL - KEPT

    def test_is_not_the_folder_itself(self, folder: Path, plan: Plan) -> None:
        decisions = apply_plan(plan, trash=folder)
        assert outcomes(decisions) == ["refused"] * 3
        assert files_in(folder) == ALL

    def test_follows_no_link_inside_it(
        self, tmp_path: Path, folder: Path, plan: Plan, trash: Path
    ) -> None:
        trash.mkdir(parents=True)
        (tmp_path / "outside").mkdir()
        (trash / "sub").symlink_to(tmp_path / "outside")
        assert outcomes(apply_plan(plan, trash=trash)) == ["done", "failed", "failed"]
        assert files_in(tmp_path / "outside") == set()
        assert files_in(folder) == ALL - {"a"}

    def test_a_file_that_cannot_leave_is_in_one_place(
        self, folder: Path, plan: Plan, trash: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        unlink = os.unlink
        root = folder.stat().st_ino

        def locked(name: str, *, dir_fd: int) -> None:
            if os.fstat(dir_fd).st_ino == root:
                raise PermissionError(errno.EACCES, "Permission denied")
            unlink(name, dir_fd=dir_fd)

        monkeypatch.setattr(os, "unlink", locked)
        decisions = apply_plan(replace(plan, removals=plan.removals[:1]), trash=trash)
        assert outcomes(decisions) == ["failed"]
        assert files_in(folder) == ALL
        assert files_in(trash) == set()

    def test_ctrl_c_never_loses_the_bytes(
        self, plan: Plan, trash: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        unlink = os.unlink

        def interrupted(name: str, *, dir_fd: int) -> None:
            unlink(name, dir_fd=dir_fd)
            raise KeyboardInterrupt

        monkeypatch.setattr(os, "unlink", interrupted)
        with pytest.raises(KeyboardInterrupt):
            apply_plan(plan, trash=trash)
        assert (trash / "a").read_text() == "text of a"

    def test_a_full_disk_leaves_no_half_copy(
        self, folder: Path, plan: Plan, trash: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(os, "link", other_file_system)
        full = OSError(errno.ENOSPC, "No space left on device")

        def fsync(_: int) -> None:
            raise full

        monkeypatch.setattr(os, "fsync", fsync)
        decisions = apply_plan(plan, trash=trash)
        assert [d.reason for d in decisions] == ["No space left on device"] * 3
        assert files_in(folder) == ALL
        assert files_in(trash) == set()

    def test_a_place_where_no_folder_can_be(self, tmp_path: Path, folder: Path, plan: Plan) -> None:
        (tmp_path / "taken").touch()
        with pytest.raises(SinkError, match=r"trash folder .* cannot be made"):
            apply_plan(plan, trash=tmp_path / "taken")
        assert files_in(folder) == ALL

    def test_really_another_file_system(self, folder: Path, plan: Plan) -> None:
        in_memory = Path("/dev/shm")  # noqa: S108 - a unique folder is made there
        if not in_memory.is_dir() or in_memory.stat().st_dev == folder.stat().st_dev:
            pytest.skip("needs a second file system")
        with tempfile.TemporaryDirectory(dir=in_memory) as memory:
            assert outcomes(apply_plan(plan, trash=Path(memory))) == ["done"] * 3
            assert files_in(Path(memory)) == ALL - KEPT
        assert files_in(folder) == KEPT


TEXT = "the quick brown fox jumps over the lazy dog and then it sleeps in the sun for a while"


class TestCommands:
    """`nearly dedup` of a folder, and `nearly apply`."""

    @pytest.fixture(autouse=True)
    def _desk(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        Path("docs").mkdir()
        for name in ("a.txt", "b.txt"):
            Path("docs", name).write_text(TEXT)
        Path("docs/c.txt.gz").write_bytes(gzip.compress(TEXT.encode()))

    def test_a_file_that_changes_after_it_was_compared_stays(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def overwrite_first(*given: Any) -> Chosen:
            Path("docs/b.txt").write_text("precious")
            return choose_files(*given)

        monkeypatch.setattr(link, "choose_files", overwrite_first)
        assert run(["dedup", "docs", "-o", "plan.json"]) == 0
        assert run(["apply", "plan.json", "--yes"]) == 3
        assert Path("docs/b.txt").read_text() == "precious"
        assert files_in(Path("docs")) == {"a.txt", "b.txt"}

    @pytest.mark.parametrize("option", ["--removed", "--clusters", "--skipped"])
    def test_two_outputs_of_one_name(
        self, option: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        before = files_in(tmp_path)
        assert run(["dedup", "docs", "-o", "p.json", option, "./p.json"]) == 2
        assert "given for two outputs" in capsys.readouterr().err
        assert files_in(tmp_path) == before

    def test_plan_and_tables_appear_together(self, tmp_path: Path) -> None:
        Path("r.csv").mkdir()
        before = files_in(tmp_path)
        assert run(["dedup", "docs", "-o", "p.json", "--removed", "r.csv"]) == 2
        assert files_in(tmp_path) == before

    def test_a_link_that_survives_blocks_nothing(self, capsys: pytest.CaptureFixture[str]) -> None:
        Path("docs/0.txt").symlink_to("b.txt")
        assert run(["dedup", "docs", "-o", "p.json"]) == 0
        assert "2 files to remove" in capsys.readouterr().err
        assert run(["apply", "p.json", "--yes"]) == 0
        assert files_in(Path("docs")) == {"0.txt", "b.txt"}
