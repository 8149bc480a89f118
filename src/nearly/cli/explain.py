"""`nearly explain`: the textbook's way on a few small files, step by step."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nearly.cli import exit_code
from nearly.cli import option as shared
from nearly.cli.section import Command, Whole, option
from nearly.settings import ExplainSettings

if TYPE_CHECKING:
    from nearly.drawing.lesson import Section
    from nearly.explanation import Explanation

__all__ = ["explain"]

setting = shared.setting_of(ExplainSettings)


@click.command(cls=Command)
@click.argument("files", nargs=-1, required=True, type=click.Path())
@shared.text_options
@setting("Signature", "--by")
@setting("Signature", "--permutations", kind=int)
@setting("Signature", "--function", metavar="FORMULA", multiple=True, show_default=False)
@setting("Signature", "--permutation", metavar="LIST", multiple=True, show_default=False)
@setting("Signature", "--order")
@setting("Signature", "--seed", kind=int)
@setting("Bands", "--threshold", "-t", kind=float)
@setting("Bands", "--bands", kind=int)
@setting("Bands", "--rows", kind=int)
@option(
    "Output",
    "--show",
    type=Whole(min=1),
    default=20,
    metavar="NUMBER",
    show_default=True,
    help="Print at most this many rows of a table.",
)
@option(
    "Output", "--csv", metavar="DIR", type=shared.File, help="Write every table to this folder."
)
@option("Output", "--html", metavar="FILE", type=shared.File, help="Write the lesson to this page.")
@shared.force_option
def explain(
    files: tuple[str, ...],
    show: int,
    csv: Path | None,
    html: Path | None,
    force: bool,
    **options: Any,
) -> int:
    """Show how up to a dozen small FILES are compared, the textbook's way.

    Shingles, characteristic matrix, hash functions or permutations, the signature matrix as it
    fills row by row, bands and buckets, candidates and true similarities.

    \b
    nearly explain a.txt b.txt c.txt --k 2
    nearly explain a.txt b.txt --unit word --k 1 --function '(x+1) mod 5' --function '(3x+1) mod 5'
    nearly explain a.txt b.txt c.txt --html lesson.html --csv tables
    """
    from nearly import api
    from nearly.cli.compare import read_text
    from nearly.drawing.lesson import sections

    arguments = shared.library_arguments(options)
    texts = {name: read_text(path) for name, path in _names(files).items()}
    lesson = api.explain(texts, **arguments)
    _write(lesson, csv, html, force=force)
    for place, section in enumerate(sections(lesson)):
        click.echo(("\n" if place else "") + "\n".join(_lines(section, show)))
    return exit_code.CLEAN


def _names(files: tuple[str, ...]) -> dict[str, str]:
    """Documents are called like their files, without folder and ending where that is enough."""
    stems = [Path(file).stem for file in files]
    names = stems if len(set(stems)) == len(stems) else files
    if len(set(names)) < len(names):
        raise click.UsageError("a file is given twice; give each once")
    return dict(zip(names, files, strict=True))


def _lines(section: Section, most: int) -> Iterator[str]:
    from nearly.cli.terminal import harmless

    yield section.title
    for line in section.lines:
        yield f"  {harmless(line)}"
    lines = [[harmless(cell) for cell in row] for row in [section.headings, *section.rows[:most]]]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for row in lines if section.headings else []:
        cells = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
        yield "  " + "  ".join(cells).rstrip()
    if len(section.rows) > most:
        yield f"  and {len(section.rows) - most:,} more rows; --show, --csv and --html give more"


def _write(lesson: Explanation, csv: Path | None, html: Path | None, *, force: bool) -> None:
    from nearly.drawing.lesson import page
    from nearly.sinks import Outputs, write_table

    with Outputs(force=force) as outputs:
        if csv is not None:
            with outputs.folder(csv) as folder:
                for name, table in lesson.tables.items():
                    write_table(table, table.schema, folder / f"{name}.csv")
        if html is not None:
            with outputs.open(html) as file:
                file.write(page(lesson).encode())
