"""`nearly compare`: how two texts differ, side by side and in numbers."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nearly.cli import exit_code
from nearly.cli import option as shared
from nearly.cli.section import Command, option
from nearly.errors import UnreadableError

if TYPE_CHECKING:
    from nearly.results import Comparison

__all__ = ["compare", "read_text"]


@click.command(cls=Command)
@click.argument("a", type=click.Path(allow_dash=True))
@click.argument("b", type=click.Path(allow_dash=True))
@shared.text_options
@shared.signature_options
@option(
    "Output", "--append", metavar="FILE", type=shared.File, help="Add a row to this table (TSV)."
)
@shared.json_option
def compare(a: str, b: str, append: Path | None, as_json: bool, **options: Any) -> int:
    """Show how two text files A and B differ; one of them can be - for standard input.

    \b
    nearly compare a.txt b.txt
    nearly compare a.txt b.txt --unit word --k 3 --append results.tsv
    """
    from nearly import api
    from nearly.cli.journal import append_comparison

    arguments = shared.library_arguments(options)
    comparison = api.compare(read_text(a), read_text(b), name_a=a, name_b=b, **arguments)
    if append is not None:
        append_comparison(comparison, append)
    if as_json:
        click.echo(json.dumps(comparison.to_dict()))
        return exit_code.CLEAN
    from nearly.cli.beside import print_beside

    print_beside(comparison, sys.stdout)
    click.echo()
    is_guessed, is_reduced = options["k"] == "auto", bool(options["ignore"])
    for label, value in _lines(comparison, is_guessed=is_guessed, is_reduced=is_reduced):
        click.echo(f"{label:<24}{value}")
    return exit_code.CLEAN


def read_text(name: str) -> str:
    """The text of a file; a table is a text like any other here."""
    from nearly.sources.formats.encoding import NotTextError, decode
    from nearly.sources.template import read_text_file

    if name != "-":
        return read_text_file(name, "A text file is needed.")
    try:
        return decode(sys.stdin.buffer.read())
    except NotTextError as error:
        raise UnreadableError(f"{name}: {error}. A text file is needed.") from None


def _lines(
    comparison: Comparison, *, is_guessed: bool, is_reduced: bool
) -> Iterator[tuple[str, str]]:
    from nearly.cli.terminal import harmless, short

    unit = f"{comparison.unit} {comparison.k}-shingles"
    yield "A", f"{harmless(comparison.name_a)} ({comparison.shingles_a:,} {unit})"
    yield "B", f"{harmless(comparison.name_b)} ({comparison.shingles_b:,} {unit})"
    for name, left in (("A", comparison.shingles_a), ("B", comparison.shingles_b)):
        if is_reduced and left == 0:
            yield "", f"nothing is left of {name} besides ignored text"
    yield "shared", f"{comparison.shared:,}"
    yield "Jaccard similarity", short(comparison.jaccard)
    yield "  without stop words", short(comparison.jaccard_without_stop_words)
    yield "share of A found in B", short(comparison.containment_of_a)
    yield "share of B found in A", short(comparison.containment_of_b)
    estimate = f"{short(comparison.estimate)} ({comparison.permutations} permutations)"
    yield "estimate by signatures", estimate
    if is_guessed:
        yield "k", f"{comparison.k}, by the length of these two texts"
        yield "", "nearly find takes the mean length of all its documents, and may"
        yield "", "choose another k: give --k to both for the same similarity"
