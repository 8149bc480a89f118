"""Lines for people on stderr: errors, warnings and summaries, none of which can do harm."""

import os
import sys
from contextlib import suppress

import click

from nearly.cli.terminal import harmless

__all__ = ["complain", "say"]


def complain(message: str) -> None:
    """One line of error."""
    name = click.style("nearly:", fg="red", bold=True) if _has_colour() else "nearly:"
    _write(f"{name} {harmless(message)}")


def say(line: str) -> None:
    """One line of information."""
    _write(harmless(line))


def _write(line: str) -> None:
    """Where stderr is closed or its disk is full, the exit code has to say it all."""
    with suppress(OSError, ValueError):
        click.echo(line, err=True, color=True)


def _has_colour() -> bool:
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return sys.stderr.isatty() and not plain
