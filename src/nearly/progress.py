"""How far a run is, and how long its stages took."""

import time
from typing import Protocol

__all__ = ["Progress", "Silence", "Stopwatch"]


class Progress(Protocol):
    """Who wants to know how far a run is."""

    def stage(self, name: str, total: int | None) -> None:
        """A stage begins; `total` steps, where that is known."""

    def advance(self, steps: int = 1) -> None:
        """This many more steps are done."""


class Silence:
    """Progress that nobody watches."""

    def stage(self, name: str, total: int | None) -> None:
        """See `Progress`."""

    def advance(self, steps: int = 1) -> None:
        """See `Progress`."""


class Stopwatch:
    """Progress that is passed on, and timed: a stage ends where the next one begins."""

    def __init__(self, watcher: Progress) -> None:
        self._watcher = watcher
        self._seconds: dict[str, float] = {}
        self._running: tuple[str, float] | None = None

    def stage(self, name: str, total: int | None) -> None:
        """See `Progress`."""
        self._stop()
        self._running = name, time.perf_counter()
        self._watcher.stage(name, total)

    def advance(self, steps: int = 1) -> None:
        """See `Progress`."""
        self._watcher.advance(steps)

    def seconds(self) -> dict[str, float]:
        """Seconds by stage; the last one ends now."""
        self._stop()
        return {name: round(taken, 6) for name, taken in self._seconds.items()}

    def _stop(self) -> None:
        if self._running is not None:
            name, start = self._running
            taken = time.perf_counter() - start
            self._seconds[name] = self._seconds.get(name, 0.0) + taken
            self._running = None
