"""Runs that pages started: a folder each, whose files say all that is known of it.

    request.json    what was asked for; without it, a run is a draft
    documents/      what was uploaded
    progress.json   how far it is
    failure.json    why it failed
    found/          what it found, when it is done
    outcome.json    what a clean copy has written, when that is done
    lock            held by the process that works on it, as long as that lives

So a restart of the server loses nothing, and a run whose process is gone is known as stopped.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Lock
from typing import Any, Final

from nearly.errors import MissingError, SettingsError
from nearly.remnant import try_lock
from nearly.web.worker import work

__all__ = ["Run", "Runs"]

#: Seconds that a process has to end by itself.
PATIENCE: Final = 3
#: Names of runs, of which more than this many letters are cut.
LONGEST_NAME: Final = 40


@dataclass(frozen=True, kw_only=True)
class Run:
    """What is known of a run now."""

    name: str
    state: str  # draft, running, done, failed or stopped
    given: str  # in words
    request: Mapping[str, Any] | None
    progress: Mapping[str, Any]
    failure: str | None
    outcome: Mapping[str, Any]  # of a clean copy

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self)


class Runs:
    """All runs of a folder, and the processes that this server started."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._processes: dict[str, BaseProcess] = {}
        self._lock = Lock()

    def names(self) -> list[str]:
        """Of all runs, drafts too, in the order of their numbers."""
        if not self.folder.is_dir():
            return []
        found = [entry.name for entry in self.folder.iterdir() if (entry / "draft.json").is_file()]
        return sorted(found, key=lambda name: (int(name.rpartition("-")[2] or 0), name))

    def results(self) -> dict[str, Path]:
        """What finished runs found, by their names."""
        places = {name: self.folder / name / "found" for name in self.names()}
        return {name: place for name, place in places.items() if (place / "result.json").is_file()}

    def draft(self, about: str, given: Path | None, words: str) -> tuple[str, Path]:
        """A new run, and the folder for what is uploaded; `given` is where documents lie else."""
        stem = re.sub(r"[^A-Za-z0-9]+", "-", about).strip("-").lower()[:LONGEST_NAME] or "run"
        self.folder.mkdir(exist_ok=True)
        for number in range(1, 100_000):
            name = f"{stem}-{number}"
            with suppress(FileExistsError):
                (self.folder / name).mkdir()
                break
        place = self.folder / name
        documents = place / "documents" if given is None else given
        _write(place / "draft.json", {"given": str(documents.absolute()), "words": words})
        return name, documents

    def settle(self, name: str) -> None:
        """Leave out the one folder that all uploaded files lie in: it tells nobody apart."""
        draft = self.place(name) / "draft.json"
        said = _read(draft)
        said["given"] = str(_inmost(Path(said["given"])))
        _write(draft, said)

    def place(self, name: str) -> Path:
        """The folder of a run that is there."""
        if name not in self.names():
            raise MissingError(f"there is no run {name!r} here; choose one of the start page")
        return self.folder / name

    def documents(self, name: str) -> Path:
        """Where its documents lie."""
        return Path(_read(self.place(name) / "draft.json")["given"])

    def run(self, name: str) -> Run:
        """What is known of it now."""
        place = self.place(name)
        request, failure = _read(place / "request.json"), _read(place / "failure.json")
        return Run(
            name=name,
            state=self._state(place, bool(request), bool(failure)),
            given=_read(place / "draft.json").get("words", ""),
            request=request or None,
            progress=_read(place / "progress.json"),
            failure=failure.get("message"),
            outcome=_read(place / "outcome.json"),
        )

    def _state(self, place: Path, is_asked: bool, has_failed: bool) -> str:
        # A process that is just being started has no lock yet, and an earlier result may be there.
        if self._is_alive(place.name) or _is_locked(place):
            return "running"
        if has_failed:
            return "failed"
        if (place / "found" / "result.json").is_file() or (place / "outcome.json").is_file():
            return "done"
        return "stopped" if is_asked else "draft"

    def _is_alive(self, name: str) -> bool:
        process = self._processes.get(name)
        return process is not None and process.is_alive()

    def start(self, name: str, request: Mapping[str, Any]) -> None:
        """Run it in a process of its own; one at a time, for each takes all cores."""
        place = self.place(name)
        with self._lock:
            busy = [each for each in self.names() if self.run(each).state == "running"]
            if busy:
                raise SettingsError(
                    f"the run {busy[0]!r} is going on, and it takes all cores; "
                    "wait for it, or cancel it"
                )
            for left in ("failure.json", "progress.json", "outcome.json"):
                (place / left).unlink(missing_ok=True)
            _write(place / "request.json", request)
            process = get_context("spawn").Process(target=work, args=(place,), daemon=True)
            process.start()
            self._processes[name] = process

    def cancel(self, name: str) -> None:
        """End its process; outputs appear whole or not at all, so nothing is left half-written."""
        self.place(name)
        process = self._processes.get(name)
        if process is None:
            return
        process.terminate()
        process.join(PATIENCE)
        if process.is_alive():
            process.kill()
            process.join()

    def stop(self) -> None:
        """End all processes that are at work."""
        for name in list(self._processes):
            self.cancel(name)


def _is_locked(place: Path) -> bool:
    """Whether a process is at work there, of this server or of another one."""
    try:
        descriptor = os.open(place / "lock", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return not try_lock(descriptor, shared=True)
    finally:
        os.close(descriptor)


def _read(path: Path) -> dict[str, Any]:
    """What it says; nothing where it is not there, or is none of ours."""
    try:
        said = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return said if isinstance(said, dict) else {}


def _write(path: Path, said: Mapping[str, Any]) -> None:
    """In one step: whoever reads it meanwhile reads a whole one."""
    draft = path.with_name(f".{path.name}.part")
    draft.write_text(json.dumps(said, indent=2) + "\n", encoding="ascii")
    os.replace(draft, path)


def _inmost(folder: Path) -> Path:
    entries = list(folder.iterdir())
    is_one = len(entries) == 1 and entries[0].is_dir()
    return _inmost(entries[0]) if is_one else folder
