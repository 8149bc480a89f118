"""`nearly dedup --passages`: a copy of a table without the passages that stand elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from click.core import ParameterSource

from nearly.arguments import Cutting, Running
from nearly.cli import option as shared
from nearly.cli import report
from nearly.cli.engine import engine_of
from nearly.cli.message import say
from nearly.cli.progress import watched
from nearly.declaration import declarations
from nearly.errors import SinkError
from nearly.settings import CutSettings
from nearly.wording import count

if TYPE_CHECKING:
    from nearly.passage.cut_result import Cut
    from nearly.sinks.clean_copy import Copied

__all__ = ["CUT_ONLY", "Written", "refuse_cut_options", "refuse_others", "run_cut"]

#: What only goes with --passages.
CUT_ONLY: Final = ("each", "least")
#: What goes with it besides settings and the options of a run.
_ALSO: Final = {
    "source",
    "passages",
    "output",
    "removed",
    "skipped",
    "as_json",
    "quiet",
    "force",
    "shard_size",
    "source_column",
}


@dataclass(frozen=True, kw_only=True)
class Written:
    """Where the results go."""

    output: Path | str | None
    removed: Path | str | None
    skipped: Path | str | None
    force: bool


def refuse_others(context: click.Context) -> None:
    """Refuse options that have no meaning where passages are cut."""
    known = _ALSO.union(*(declarations(kind) for kind in (CutSettings, Cutting, Running)))
    for option in _given(context):
        if option.name not in known:
            raise click.UsageError(
                f"{option.opts[0]} is about whole documents, and --passages cuts parts of them; "
                "leave one of them out"
            )


def refuse_cut_options(context: click.Context) -> None:
    """Refuse options that need --passages."""
    for option in _given(context):
        if option.name in CUT_ONLY:
            raise click.UsageError(
                f"{option.opts[0]} goes with --passages; add it, or leave it out"
            )


def _given(context: click.Context) -> list[click.Parameter]:
    sources = context.get_parameter_source
    return [
        each
        for each in context.command.params
        if sources(each.name or "") is ParameterSource.COMMANDLINE
    ]


def run_cut(
    source: tuple[str, ...],
    written: Written,
    layout: Mapping[str, Any],
    options: Mapping[str, Any],
    *,
    as_json: bool,
    quiet: bool,
) -> int:
    """Read, cut, write, and say what was done."""
    from nearly import api
    from nearly.sinks import Outputs, check_different
    from nearly.sinks.clean_copy import check_copy, write_copy

    if written.output is None:
        raise SinkError(
            "there is no output; name a file for the clean copy, for example -o clean.parquet"
        )
    if str(written.output) == "-" and as_json:
        raise click.UsageError("-o - writes the clean copy to stdout, and nothing else")
    place, engine = Path(written.output), engine_of(options)
    check_different(place, written.removed, written.skipped)
    sharded = layout["shard_rows"] is not None
    check_copy(place, lines=options["lines"], sharded=sharded, force=written.force)
    report.check_outputs(
        written.removed, written.skipped, force=written.force, engine=engine, inputs=source
    )
    report.announce_terminal(source)
    with Outputs(force=written.force) as outputs, watched(quiet=quiet) as progress:
        cut = api.cut_repeats(shared.given_source(source), progress=progress, **_arguments(options))
        progress.stage("write", None)
        tables = ((cut.cuts, written.removed), (cut.skipped, written.skipped))
        report.write_tables(outputs, *tables, engine=engine)
        kept: Any = cut.read_kept
        copied = write_copy(outputs, kept, place, **layout)
    if as_json:
        report.print_json({**cut.to_dict(), "cuts": cut.cuts, "skipped": cut.skipped})
    if not quiet:
        _say_summary(cut, copied, written.output)
    report.say_skipped(cut.skipped, cut.statistics.skipped, written.skipped)
    return report.ending(cut.statistics.skipped)


def _arguments(options: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the library; the rule of `keep` has a default of its own."""
    known = set().union(*(declarations(kind) for kind in (CutSettings, Cutting, Running)))
    given = {name: value for name, value in options.items() if name in known}
    return {**given, "keep": given["keep"] or "first"}


def _say_summary(cut: Cut, copied: Copied, output: Path | str) -> None:
    numbers = cut.statistics
    share = numbers.cut_characters / max(1, numbers.characters)
    say(f"{count(numbers.documents, 'document')}, {count(numbers.pieces, cut.settings.each)}")
    say(
        f"{count(len(cut), 'passage')} cut from {count(numbers.cut_documents, 'document')}, "
        f"{share:.1%} of all text; {count(copied.rows, 'row')} written to {output}"
    )
    if copied.note:
        say(copied.note)
    if numbers.emptied:
        say(
            f"{count(numbers.emptied, 'document')} stood elsewhere as a whole; "
            f"{'its row has' if numbers.emptied == 1 else 'their rows have'} an empty text"
        )
