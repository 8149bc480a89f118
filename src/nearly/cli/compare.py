"""`nearly compare`: two texts side by side."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nearly.cli import exit_code
from nearly.cli import option as shared
from nearly.cli.section import Command, option
from nearly.errors import MissingError, UnreadableError

if TYPE_CHECKING:
    from nearly.results import Comparison

__all__ = ["compare"]


@click.command(cls=Command)
@click.argument("a", type=click.Path(allow_dash=True))
@click.argument("b", type=click.Path(allow_dash=True))
@shared.text_options
@shared.signature_options
@option(
    "Output", "--append", metavar="FILE", type=shared.File, help="Add a line to this table (TSV)."
)
@shared.json_option
def compare(a: str, b: str, append: Path | None, as_json: bool, **options: Any) -> int:
    """Compare two text files A and B; one of them may be - for what is piped in.

    \b
    nearly compare a.txt b.txt
    nearly compare a.txt b.txt --unit word --k 3 --append results.tsv
    """
    from nearly.cli.journal import append_comparison
    from nearly.comparison import compare as compare_texts

    arguments = shared.library_arguments(options)
    comparison = compare_texts(_read(a), _read(b), name_a=a, name_b=b, **arguments)
    if append is not None:
        append_comparison(comparison, append)
    if as_json:
        click.echo(json.dumps(asdict(comparison)))
    else:
        for label, value in _lines(comparison):
            click.echo(f"{label:<28}{value}")
    return exit_code.CLEAN


def _read(name: str) -> str:
    """The text of a file; a table is a text like any other here."""
    from nearly.sources.formats.document import read_document
    from nearly.sources.formats.encoding import NotTextError, decode

    try:
        return decode(sys.stdin.buffer.read()) if name == "-" else read_document(name)
    except FileNotFoundError:
        raise MissingError(f"there is no file {name!r}. Check the path.") from None
    except NotTextError as error:
        raise UnreadableError(f"{name}: {error}. A text file is needed.") from None
    except OSError as error:
        raise UnreadableError(f"{name} cannot be read: {error.strerror or error}.") from error


def _lines(comparison: Comparison) -> Iterator[tuple[str, str]]:
    from nearly.cli.terminal import harmless, short

    unit = f"{comparison.unit} {comparison.k}-shingles"
    yield "A", f"{harmless(comparison.name_a)} ({comparison.shingles_a:,} {unit})"
    yield "B", f"{harmless(comparison.name_b)} ({comparison.shingles_b:,} {unit})"
    yield "shared", f"{comparison.shared:,}"
    yield "Jaccard similarity", short(comparison.jaccard)
    yield "  without stop words", short(comparison.jaccard_without_stop_words)
    yield "of A, contained in B", short(comparison.containment_of_a)
    yield "of B, contained in A", short(comparison.containment_of_b)
    estimate = f"{short(comparison.estimate)} ({comparison.permutations} permutations)"
    yield "estimate by signatures", estimate
