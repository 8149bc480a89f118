"""Lines for people on stderr: errors, warnings and summaries, none of which can do harm."""

import os
import sys

import click

from nearly.cli.terminal import harmless

__all__ = ["complain", "say"]


def complain(message: str) -> None:
    """One line of error."""
    name = click.style("nearly:", fg="red", bold=True) if _has_colour() else "nearly:"
    click.echo(f"{name} {harmless(message)}", err=True, color=True)


def say(line: str) -> None:
    """One line of information."""
    click.echo(harmless(line), err=True, color=True)


def _has_colour() -> bool:
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return sys.stderr.isatty() and not plain
