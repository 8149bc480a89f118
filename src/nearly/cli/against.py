"""Old documents that are an index: opened for as long as a command works."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from nearly.cli.message import say
from nearly.declaration import declarations
from nearly.errors import NearlyError, SinkError
from nearly.settings import Settings, TextSettings
from nearly.wording import count

if TYPE_CHECKING:
    from nearly.index.adding import Adding
    from nearly.index.answer import Added
    from nearly.index.index import Index
    from nearly.results import Deduplicated

__all__ = ["Beside", "adding_last", "index_beside"]


class Beside:
    """What an index is given of a result: the documents that stay, if they are to be added."""

    def __init__(self, adding: Adding | None = None) -> None:
        self.adding = adding
        self.added: Added | None = None

    def keep(self, result: Deduplicated) -> None:
        """Write them; they are in the index together with the outputs of the command."""
        if self.adding is not None:
            self.added = self.adding.add(result.survivors, report=False)


@contextmanager
def index_beside(
    context: click.Context, arguments: dict[str, Any], *, add: bool = False
) -> Iterator[Beside]:
    """Put the index that `--against` names into the arguments, if it names one.

    What it is given is in the index together with the outputs that it decides about, or when the
    block ends well: an index that knew documents of which no clean copy was written would make the
    next run throw them away.
    """
    place = arguments["against"]
    is_there = place is not None and _is_index(place)
    if add:
        _check_adding(arguments, is_index=is_there)
    if not is_there:
        yield Beside()
        return

    from nearly.index.index import Index

    with Index.open(place, read_only=not add) as held:
        held.check_same(_chosen(context, arguments))
        arguments["against"] = held
        if not add:
            yield Beside()
            return
        name = held.name
        with adding_last(held, "the clean copy") as adding:
            beside = Beside(adding)
            yield beside
    if beside.added is not None and not context.params["quiet"]:
        _say_added(beside.added, name)


def _is_index(place: str) -> bool:
    from nearly.index.index import is_index  # slow to import, and seldom needed

    return is_index(place)


@contextmanager
def adding_last(held: Index, written: str) -> Iterator[Adding]:
    """What is added is in the index when the block ends well, after what was written in it."""
    is_written = False
    try:
        with held.adding() as adding:
            yield adding
            is_written = True
    except NearlyError as error:
        if not is_written:
            raise
        raise SinkError(
            f"{written} is written, and its documents are not in the index: {error}. Run the "
            "command again with --force"
        ) from error


def _check_adding(arguments: dict[str, Any], *, is_index: bool) -> None:
    if not is_index:
        raise click.UsageError(
            "--add puts documents into an index, and --against names none; make one with nearly "
            "index create"
        )
    if arguments["engine"] == "spark" or arguments["master"]:
        raise click.UsageError("--add is for one machine; leave --engine and --master out")


def _chosen(context: click.Context, arguments: dict[str, Any]) -> dict[str, Any]:
    """Settings that were given and are what they are by default.

    Those the library takes for settings that were not given; all others it looks at itself.
    """
    declared = {**declarations(Settings), **declarations(TextSettings)}
    return {
        name: arguments[name]
        for name, each in declared.items()
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        and arguments.get(name) == each.default
    }


def _say_added(added: Added, place: str) -> None:
    """How many documents the index has more."""
    say(f"{count(added.added, 'document')} added to {place}")
    if added.skipped_count:
        were = "is" if added.skipped_count == 1 else "are"
        first = added.skipped.to_pylist()[0]
        say(
            f"{count(added.skipped_count, 'document')} {were} not added: {first['record']}, "
            f"{first['reason']}"
        )
