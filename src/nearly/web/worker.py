"""What happens in the process of a run: find, save, prepare; how far it is stands in a file."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from nearly import api
from nearly.errors import NearlyError
from nearly.measures.stop_word import ENGLISH
from nearly.plans import save_plan
from nearly.prepared.maker import prepare
from nearly.remnant import abandon, try_lock
from nearly.sinks import write_table
from nearly.sources.folder import holds_tables
from nearly.sources.submission import join_folders

__all__ = ["work"]

#: Seconds between two notes of how far it is.
PAUSE: Final = 0.2


def work(place: Path) -> None:
    """Do what the request of a run asks for."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of the terminal, which the server answers
    signal.signal(signal.SIGTERM, _end)
    descriptor = os.open(place / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    if not try_lock(descriptor):
        return
    notes = Notes(place / "progress.json")
    try:
        _work(place, notes)
    except NearlyError as error:
        _fail(place, str(error))
    except MemoryError:
        _fail(place, "out of memory; allow this run less documents, or the machine more memory")
    finally:
        notes.end()


def _end(*_: object) -> None:
    abandon()
    os._exit(1)


def _fail(place: Path, message: str) -> None:
    _note(place, "failure.json", {"message": message})


def _note(place: Path, name: str, said: dict[str, Any]) -> None:
    draft = place / f".{name}.part"
    draft.write_text(json.dumps(said) + "\n", encoding="ascii")
    os.replace(draft, place / name)


def _work(place: Path, notes: Notes) -> None:
    request = json.loads((place / "request.json").read_bytes())
    given = Path(json.loads((place / "draft.json").read_bytes())["given"])
    options: dict[str, Any] = dict(request["options"])
    if "clean" in request:
        _clean(place, request["clean"], options, notes)
        return
    skipped: list[dict[str, str]] = []
    if request.get("whole") == "folder":
        given, skipped = _joined(given, place)
        options |= {"id": "id", "text": "text"}
    options["difference"] = options.get("difference") == "yes"
    options["stop_words"] = ENGLISH if options.get("stop_words") == "english" else ()
    found = api.find(given, progress=notes, **options)
    notes.skipped = [*skipped, *found.skipped.slice(0, 1_000).to_pylist()]
    notes.stage("keep", None)
    found.save(place / "found", force=True)
    notes.stage("prepare", None)
    prepare(place / "found", group=request.get("group"), term=request.get("term"))


def _joined(given: Path, place: Path) -> tuple[Path, list[dict[str, str]]]:
    """All files of a folder as one document, and what could not be read."""
    target = place / "joined.parquet"
    with TemporaryDirectory() as temporary:
        skipped = join_folders(given, target, temporary=Path(temporary))
    return target, skipped.table().slice(0, 1_000).to_pylist()


def _clean(place: Path, asked: dict[str, Any], options: dict[str, Any], notes: Notes) -> None:
    """A copy of a table, or a plan for a folder; and what is left out of it."""
    given = asked["given"]
    paths = Path(given) if isinstance(given, str) else [Path(path) for path in given]
    cleaned = api.dedup(paths, progress=notes, keep=asked["keep"], **options)
    notes.skipped = cleaned.skipped.slice(0, 1_000).to_pylist()
    notes.stage("write", None)
    write_table(cleaned.removed, cleaned.removed.schema, place / "removed.csv", force=True)
    if isinstance(paths, Path) and paths.is_dir() and not holds_tables(paths):
        made = "plan.json"
        save_plan(cleaned.plan(), place / made, force=True)
    else:
        first = paths if isinstance(paths, Path) else paths[0]
        made = f"clean{first.suffix if first.is_file() else '.parquet'}"
        (place / made).unlink(missing_ok=True)
        cleaned.write(place / made)
    numbers = cleaned.statistics
    _note(place, "outcome.json", {
        "files": [made, "removed.csv"],
        "documents": numbers.documents,
        "removed": numbers.removed,
        "path": str(place / made),
    })  # fmt: skip


class Notes:
    """Progress that is written to a file from time to time."""

    def __init__(self, path: Path) -> None:
        self.skipped: list[dict[str, str]] = []
        self._path = path
        self._stages: list[dict[str, Any]] = []
        self._written = 0.0

    def stage(self, name: str, total: int | None) -> None:
        """See `nearly.progress.Progress`."""
        self._close()
        self._stages.append({"name": name, "total": total, "done": 0, "began": time.time()})
        self._write()

    def advance(self, steps: int = 1) -> None:
        """See `nearly.progress.Progress`."""
        if self._stages:
            self._stages[-1]["done"] += steps
        if time.monotonic() - self._written > PAUSE:
            self._write()

    def end(self) -> None:
        """The last stage is over."""
        self._close()
        self._write()

    def _close(self) -> None:
        if self._stages:
            last = self._stages[-1]
            last.setdefault("seconds", round(time.time() - last["began"], 3))

    def _write(self) -> None:
        self._written = time.monotonic()
        draft = self._path.with_name(f".{self._path.name}.part")
        said = {"stages": self._stages, "skipped": self.skipped}
        try:
            draft.write_text(json.dumps(said), encoding="ascii")
            os.replace(draft, self._path)
        except OSError as error:  # how far it is must not stop it
            print(f"nearly: {self._path}: {error.strerror}", file=sys.stderr)
