"""Commands whose help lists its many options under headings."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

__all__ = ["Command", "Whole", "option"]

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


class Option(click.Option):
    """An option that knows its heading."""

    def __init__(self, *names: Any, section: str, **settings: Any) -> None:
        super().__init__(*names, **settings)
        self.section = section


class Whole(click.IntRange):
    """A number that click calls a valid or invalid integer range, which nobody was asked for."""

    name = "whole number"


class Command(click.Command):
    """A command that shows its options heading by heading, in the order of declaration."""

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Called by click to write the options of `--help`."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.params:
            line = parameter.get_help_record(context)
            if line is not None and isinstance(parameter, Option):
                sections.setdefault(parameter.section, []).append(line)
        for heading, lines in sections.items():
            with formatter.section(heading):
                formatter.write_dl(lines, col_max=32)


def option(section: str, *names: str, **settings: Any) -> Callable[[Decorated], Decorated]:
    """Declare an option under a heading."""
    return click.option(*names, cls=Option, section=section, **settings)
