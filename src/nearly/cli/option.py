"""The options that commands share, each declared once, and what they are turned into.

Choices and defaults are those of `nearly.settings`, and so is the checking of numbers.
"""

import re
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar, get_args

import click

from nearly.cli.section import option
from nearly.settings import (
    Case,
    Clustering,
    Form,
    Keeping,
    Method,
    Scheme,
    Settings,
    Spacing,
    TextSettings,
    Unit,
)

__all__ = [
    "File",
    "Place",
    "debug_option",
    "engine_options",
    "force_option",
    "given_source",
    "json_option",
    "library_arguments",
    "optional_source_argument",
    "quiet_option",
    "run_options",
    "search_options",
    "signature_options",
    "skipped_option",
    "source_argument",
    "source_options",
    "text_options",
]

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def shingle_length(given: str) -> int | str:
    """`auto` or a whole number; settings say what is wrong with anything else."""
    return int(given) if re.fullmatch(r"-?\d+", given) else given


def size(given: str) -> int:
    """Bytes: KB, MB, GB and TB are powers of 1000; KiB, MiB, GiB and TiB of 1024."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?) ?(?:([KMGT])(I?))?B?", given.strip().upper())
    if found is None:
        raise click.BadParameter(f"{given!r} is no size; write it like 500MB or 2GB")
    base = 1024 if found[3] else 1000
    return int(float(found[1]) * base ** ("KMGT".index(found[2]) + 1 if found[2] else 0))


#: A file that a command writes; the sinks say what is wrong with it.
File = click.Path(path_type=Path)


class PlaceType(click.Path):
    """A file, or a folder of parts; on this machine, or elsewhere by a path with a scheme."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(
        self, value: Any, parameter: click.Parameter | None, context: click.Context | None
    ) -> Any:
        """Called by click; a `Path` would spoil the slashes of a scheme."""
        if _SCHEME.match(value):
            return Path(value[7:]) if value.startswith("file://") else value
        return super().convert(value, parameter, context)


_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
Place = PlaceType()

source_argument = click.argument(
    "source", nargs=-1, required=True, type=click.Path(allow_dash=True)
)
optional_source_argument = click.argument("source", nargs=-1, type=click.Path(allow_dash=True))


def _all(*decorators: Callable[[Decorated], Decorated]) -> Callable[[Decorated], Decorated]:
    """Several options as one decorator, shown in the order in which they are given."""

    def decorate(command: Decorated) -> Decorated:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return decorate


def _setting(section: str, *names: str, kind: Any = None, **more: Any) -> Any:
    """An option that is a setting of the same name, with the setting's own default."""
    long = next(name for name in names if name.startswith("--"))
    field = long.removeprefix("--").replace("-", "_")
    default = _DEFAULTS[field]
    shown = more.pop("show_default", default is not None)
    if get_args(kind):
        kind = click.Choice(get_args(kind))
    elif kind in (int, float):
        more["metavar"] = "NUMBER"
    return option(section, *names, type=kind, default=default, show_default=shown, **more)


_DEFAULTS: dict[str, Any] = {f.name: f.default for f in (*fields(Settings), *fields(TextSettings))}


source_options = _all(
    option("Source", "--id", metavar="COLUMN", help="The column that names a document."),
    option(
        "Source",
        "--text",
        metavar="COLUMN",
        multiple=True,
        callback=lambda _context, _parameter, given: given or None,
        help="The column that holds the text; several are joined.",
    ),
    option("Source", "--glob", metavar="PATTERN", help="Only these files of a folder: '*.txt'."),
    option("Source", "--lines", is_flag=True, help="Every line is a document."),
    option(
        "Source",
        "--encoding",
        metavar="auto|NAME",
        help="What texts are written in, unless it is UTF-8; auto finds it out.",
    ),
    option("Source", "--strict", is_flag=True, help="Stop at the first record that is no text."),
)

text_options = _all(
    _setting("Text", "--unit", kind=Unit, help="What a shingle is made of."),
    _setting("Text", "--k", kind=shingle_length, metavar="NUMBER|auto", help="How many of them."),
    _setting("Text", "--case", kind=Case, help="Fold capital and small letters, or keep them."),
    _setting("Text", "--space", kind=Spacing, help="White space: runs become one, none, or stay."),
    _setting("Text", "--punctuation", kind=Keeping, help="Punctuation marks."),
    _setting(
        "Text", "--mentions", kind=Keeping, help="@names and #tags, when punctuation is dropped."
    ),
    _setting("Text", "--accents", kind=Keeping, help="Accents and other marks on letters."),
    _setting("Text", "--digits", kind=Keeping, help="Digits."),
    option(
        "Text",
        "--stop-words",
        metavar="none|english|FILE",
        default="none",
        show_default=True,
        help="Words to leave out; a file has one word a line.",
    ),
    _setting("Text", "--form", kind=Form, help="The Unicode normal form."),
    _setting("Text", "--raw", is_flag=True, show_default=False, help="Take texts as they stand."),
)

signature_options = _all(
    _setting("Signature", "--permutations", kind=int, help="The longest signature."),
    _setting("Signature", "--scheme", kind=Scheme, help="How signatures are made."),
    _setting("Signature", "--seed", kind=int, help="Another seed, other hash functions."),
)

search_options = _all(
    _setting("Search", "--threshold", "-t", kind=float, help="The least similarity of a pair."),
    _setting("Search", "--recall", kind=float, help="Find at least this share of such pairs."),
    _setting(
        "Search", "--method", kind=Method, help="Join exactly, hash, or take the cheaper way."
    ),
    _setting("Search", "--bands", kind=int, help="Bands of a signature, instead of a recall."),
    _setting("Search", "--rows", kind=int, help="Rows of a band; goes with --bands."),
    _setting(
        "Search",
        "--cluster",
        kind=Clustering,
        help="Join all that is linked, or only what is like one leader.",
    ),
)

run_options = _all(
    option(
        "Run",
        "--threads",
        type=click.IntRange(min=1),
        metavar="NUMBER",
        show_default="all cores",
        help="Threads to use.",
    ),
    option(
        "Run",
        "--memory",
        type=size,
        metavar="SIZE",
        help="Spill to disk beyond this, for example 2GB.",
    ),
    option(
        "Run",
        "--temporary",
        metavar="DIR",
        type=click.Path(exists=True, file_okay=False, writable=True),
        help="The folder to spill to.",
    ),
)


def spark_settings(
    context: click.Context,  # noqa: ARG001
    parameter: click.Parameter,  # noqa: ARG001
    given: tuple[str, ...],
) -> dict[str, str]:
    """Names and values of `--spark-conf NAME=VALUE`."""
    pairs = [setting.partition("=") for setting in given]
    for setting, (name, sign, _) in zip(given, pairs, strict=True):
        if not (name.strip() and sign):
            raise click.BadParameter(
                f"{setting!r} has no value; write it like spark.executor.memory=4g"
            )
    return {name.strip(): value for name, _, value in pairs}


engine_options = _all(
    option(
        "Engine",
        "--engine",
        type=click.Choice(["local", "spark"]),
        show_default="local",
        help="Where to run: on this machine, or on Apache Spark.",
    ),
    option(
        "Engine",
        "--master",
        metavar="URL",
        show_default="local[*]",
        help="Spark's master, as spark://host:7077; implies --engine spark.",
    ),
    option(
        "Engine",
        "--spark-conf",
        metavar="NAME=VALUE",
        multiple=True,
        callback=spark_settings,
        help="A setting for Spark; may be repeated.",
    ),
    option(
        "Engine",
        "--checkpoint",
        metavar="DIR",
        help="Keep what Spark has finished here, to go on from after a stop.",
    ),
)


def _remember(context: click.Context, parameter: click.Parameter, given: bool) -> None:
    context.meta[parameter.name or ""] = given


#: Read by `nearly.cli.program`, which shows the errors.
debug_option = option(
    "Run",
    "--debug",
    is_flag=True,
    expose_value=False,
    callback=_remember,
    help="Show where an error comes from, with all that Spark says of it.",
)

force_option = option("Output", "--force", is_flag=True, help="Overwrite outputs that exist.")
json_option = option("Output", "--json", "as_json", is_flag=True, help="Print JSON on stdout.")
skipped_option = option(
    "Output",
    "--skipped",
    metavar="FILE",
    type=Place,
    help="Write the skipped records, and why, to this file.",
)
quiet_option = option("Output", "--quiet", is_flag=True, help="No progress and no summary.")


def given_source(source: tuple[str, ...]) -> str | list[Path]:
    """One path, pattern or query as it is; several are paths."""
    if len(source) > 1 and any(map(_SCHEME.match, source)):
        raise click.UsageError(
            "of paths with a scheme only one can be given; a pattern stands for many, as in "
            "'s3a://bucket/*.parquet'"
        )
    return source[0] if len(source) == 1 else [Path(path) for path in source]


def library_arguments(options: dict[str, Any]) -> dict[str, Any]:
    """What the library is called with: the stop words are read, all else is as it was given."""
    return options | {"stop_words": _read_stop_words(options["stop_words"])}


def _read_stop_words(given: str) -> tuple[str, ...]:
    from nearly.stages.stop_word import ENGLISH, read_stop_words

    if given == "none":
        return ()
    return ENGLISH if given == "english" else read_stop_words(given)
