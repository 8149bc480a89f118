"""What people see in a terminal: progress bars, and texts that can do no harm.

Texts and names come from anywhere, so none is shown before it is made harmless: a document
must not be able to move the cursor, change a title or hide what stands before it. rich is
imported where something is drawn, for it takes a while, and so is all that errors do not need.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Self

from nearly.wording import short

if TYPE_CHECKING:
    import rich.progress
    from rich.text import Text

__all__ = ["Bars", "harmless", "numbers", "one_line", "short"]

#: Controls, lone surrogates, line breaks of Unicode, and what reverses the direction of text.
_HARMFUL = re.compile(
    "[\x00-\x1f\x7f-\x9f\ud800-\udfff\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]"
)


def harmless(text: str) -> str:
    r"""The text with what a terminal would obey, or not show, spelled out: ESC is \x1b."""
    return _HARMFUL.sub(lambda found: repr(found[0])[1:-1], text)


def one_line(text: str) -> str:
    """Harmless, and without line breaks."""
    return harmless(" ".join(text.split()))


class Bars:
    """One bar for each stage on stderr; they vanish when the work is done.

    Nothing is drawn before the first stage: most mistakes are found earlier.
    """

    def __init__(self) -> None:
        self._shown: rich.progress.Progress | None = None
        self._task: rich.progress.TaskID | None = None
        self._done = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown is not None:
            self._shown.stop()

    def stage(self, name: str, total: int | None) -> None:
        """See `nearly.engines.base.Progress`."""
        if self._shown is None:
            self._shown = _progress()
            self._shown.start()
        if self._task is not None:
            # A stage whose length was not known, or that ended early, is complete now.
            self._shown.update(self._task, total=max(1, self._done), completed=max(1, self._done))
            self._shown.stop_task(self._task)
        self._done = 0
        self._task = self._shown.add_task(name, total=total)

    def advance(self, steps: int = 1) -> None:
        """See `nearly.engines.base.Progress`."""
        if self._shown is not None and self._task is not None:
            self._done += steps
            self._shown.advance(self._task, steps)


def _progress() -> rich.progress.Progress:
    from rich import progress
    from rich.console import Console

    console = Console(stderr=True)
    bar = console.width - _NAME - _NUMBERS - 2
    columns: list[progress.ProgressColumn] = [
        progress.TextColumn(f"{{task.description:<{_NAME}.{_NAME}}}", markup=False)
    ]
    if bar >= _LEAST_BAR:
        columns.append(progress.BarColumn(bar_width=min(_WIDEST_BAR, bar)))
    column = _numbers(_NUMBERS if bar >= _LEAST_BAR else console.width - _NAME - 1)
    return progress.Progress(
        *columns, column, console=console, transient=True, redirect_stdout=False
    )


#: Cells for the name of a stage, and for its numbers at their longest.
_NAME, _NUMBERS = 14, len("999.9k of 999.9k  100%  99:59:59 left")
_LEAST_BAR, _WIDEST_BAR = 6, 30


def _numbers(room: int) -> rich.progress.ProgressColumn:
    """How much is done, which share that is, and the time left; or the time since the start."""
    from rich import progress
    from rich.text import Text

    class Numbers(progress.ProgressColumn):
        def render(self, task: progress.Task) -> Text:
            times = task.time_remaining, task.elapsed
            return Text(numbers(task.completed, task.total, *times, room=room))

    return Numbers()


def numbers(
    done: float,
    total: float | None,
    left: float | None,
    elapsed: float | None,
    *,
    room: int = _NUMBERS,
) -> str:
    """`12.3k of 50.0k  25%  0:12 left` where the total is known, or `0:12` with what is done.

    Where there is no room for it, the same in fewer characters.
    """
    if total is None:
        return f"{_brief(done)} done  {_time(elapsed)}" if done else _time(elapsed)
    share = f"{int(100 * done / total) if total else 100}%"
    time = "" if left is None else f"  {_time(left)}"
    of, over = ("", "") if total <= 1 else (f"{_brief(done)} of ", f"{_brief(done)}/")
    whole = f"{_brief(total)}  " if total > 1 else ""
    long = f"{of}{whole}{share}{time}" + (" left" if time else "")
    forms = (long, f"{over}{whole}{share}{time}", f"{share}{time}")
    return next((form for form in forms if len(form) <= room), share)


def _brief(number: float) -> str:
    """At most five characters: 9999, 12.3k, 4.0M."""
    if number < 10_000:
        return f"{number:.0f}"
    for sign in "kMG":
        number /= 1000
        if number < 999.95:
            return f"{number:.1f}{sign}"
    return f"{number / 1000:.1f}T"


def _time(seconds: float | None) -> str:
    minutes, rest = divmod(int(seconds or 0), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
