"""Who watches a command at work: the user, through bars, and whoever wants it to stop."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from nearly.cli import interrupt

if TYPE_CHECKING:
    from nearly.progress import Progress

__all__ = ["watched"]


@contextmanager
def watched(*, quiet: bool) -> Iterator[Watch]:
    """Bars where stderr is a terminal that can draw them, and nobody asked for quiet."""
    if quiet or not sys.stderr.isatty() or os.environ.get("TERM") in ("dumb", "unknown"):
        yield Watch(None)
        interrupt.check()
        return
    from nearly.cli.terminal import Bars

    with Bars() as bars:
        yield Watch(bars)
        interrupt.check()


class Watch:
    """Passes progress on, and is a safe place to stop at."""

    def __init__(self, bars: Progress | None) -> None:
        self._bars = bars

    def stage(self, name: str, total: int | None) -> None:
        """See `nearly.documents.corpus.Progress`."""
        interrupt.check()
        if self._bars is not None:
            self._bars.stage(name, total)

    def advance(self, steps: int = 1) -> None:
        """See `nearly.documents.corpus.Progress`."""
        interrupt.check()
        if self._bars is not None:
            self._bars.advance(steps)
