"""Lines for people on stderr: errors, warnings and summaries, none of which can do harm."""

import sys
from contextlib import suppress

import click

from nearly.cli.line import has_colour
from nearly.cli.terminal import harmless

__all__ = ["complain", "say"]


def complain(message: str) -> None:
    """One line of error."""
    name = click.style("nearly:", fg="red", bold=True) if has_colour(sys.stderr) else "nearly:"
    _write(f"{name} {harmless(message)}")


def say(line: str) -> None:
    """One line of information."""
    _write(harmless(line))


def _write(line: str) -> None:
    """Where stderr is closed or its disk is full, the exit code has to say it all."""
    with suppress(OSError, ValueError):
        click.echo(line, err=True, color=True)
