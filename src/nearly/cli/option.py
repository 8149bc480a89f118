"""The options that commands share, and what they are turned into.

What an option means, its default and its choices are declared with the settings, and the settings
check the numbers.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar, get_args

import click

from nearly.arguments import Deduplicating, Finding, MeasureName, Reading, Running, Tuning
from nearly.cli.section import Whole, option
from nearly.declaration import declarations
from nearly.settings import Settings, TextSettings

__all__ = [
    "File",
    "Place",
    "against_option",
    "cluster_options",
    "common_option",
    "debug_option",
    "engine_options",
    "force_option",
    "given_source",
    "group_option",
    "json_option",
    "library_arguments",
    "measure_option",
    "memory",
    "optional_source_argument",
    "quiet_option",
    "run_options",
    "search_options",
    "setting",
    "setting_of",
    "signature_options",
    "skipped_option",
    "source_argument",
    "source_now_option",
    "source_options",
    "term_option",
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


#: Less than this is a slip: with --memory 2 somebody means 2GB.
LEAST_MEMORY: Final = 10**6


def memory(given: str) -> int:
    """A size that a run can work with."""
    found = size(given)
    if found < LEAST_MEMORY:
        raise click.BadParameter(
            f"{given!r} is {found:,} bytes, and the least is 1MB; write it like 500MB or 2GB"
        )
    return found


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

#: Of `find` and `dedup`, which compare new documents with old ones.
against_option = option(
    "Source",
    "--against",
    metavar="SOURCE",
    type=click.Path(),
    help="Compare with these old documents, which are not compared with each other.",
)

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


def setting_of(*kinds: type) -> Callable[..., Callable[[Decorated], Decorated]]:
    """What makes options for the settings that these classes declare."""
    all_declared = {name: each for kind in kinds for name, each in declarations(kind).items()}

    def setting(
        section: str, *names: str, kind: Any = None, **more: Any
    ) -> Callable[[Decorated], Decorated]:
        """An option for the setting of the same name: its meaning, its default, its choices."""
        long = next(name for name in names if name.startswith("--"))
        declared = all_declared[long.removeprefix("--").replace("-", "_")]
        if declared.choices:
            kind = click.Choice(declared.choices)
        elif kind in (int, float):
            more.setdefault("metavar", "NUMBER")
        if declared.default is False:
            return option(section, *names, is_flag=True, help=declared.meaning, **more)
        more.setdefault("show_default", declared.default is not None)
        more.setdefault("help", declared.meaning)
        return option(section, *names, type=kind, default=declared.default, **more)

    return setting


setting = setting_of(Settings, TextSettings, Reading, Running, Finding, Deduplicating, Tuning)


source_options = _all(
    setting("Source", "--id", metavar="COLUMN"),
    setting(
        "Source",
        "--text",
        metavar="COLUMN",
        multiple=True,
        callback=lambda _context, _parameter, given: given or None,
    ),
    setting("Source", "--items", metavar="COLUMN"),
    setting("Source", "--vector", metavar="COLUMN"),
    setting("Source", "--by", metavar="COLUMN"),
    setting("Source", "--item", metavar="COLUMN"),
    setting("Source", "--glob", metavar="PATTERN"),
    setting("Source", "--lines"),
    setting("Source", "--encoding", metavar="auto|NAME"),
    setting(
        "Source",
        "--longest",
        kind=size,
        metavar="SIZE",
        help="Skip documents with more text than this; 1GiB by default.",
    ),
    setting("Source", "--strict"),
)

text_options = _all(
    setting("Text", "--unit"),
    setting("Text", "--k", kind=shingle_length, metavar="NUMBER|auto"),
    setting("Text", "--case"),
    setting("Text", "--space"),
    setting("Text", "--punctuation"),
    setting("Text", "--mentions"),
    setting("Text", "--accents"),
    setting("Text", "--digits"),
    option(
        "Text",
        "--stop-words",
        metavar="none|english|FILE",
        default="none",
        show_default=True,
        help="Words to leave out; a file has one word per line.",
    ),
    setting(
        "Text",
        "--ignore",
        metavar="FILE",
        multiple=True,
        kind=File,
        show_default=False,
        help="Shingles of this text count for nothing: a template, a header; may be repeated.",
    ),
    setting("Text", "--form"),
    setting("Text", "--raw"),
)

signature_options = _all(
    setting("Signature", "--permutations", kind=int),
    setting("Signature", "--scheme"),
    setting("Signature", "--seed", kind=int),
)

common_option = setting("Text", "--common", metavar="N%")


def measure_option(section: str) -> Callable[[Decorated], Decorated]:
    """By name; from Python, a measure may be an object too."""
    names = click.Choice(get_args(MeasureName))
    return setting(section, "--measure", kind=names)


search_options = _all(
    common_option,
    measure_option("Search"),
    setting("Search", "--threshold", "-t", kind=float),
    setting("Search", "--within", kind=float),
    setting("Search", "--power", kind=float),
    setting("Search", "--embed", metavar="NAME"),
    setting("Search", "--bag"),
    setting("Search", "--weights", metavar="idf|FILE"),
    setting("Search", "--recall", kind=float),
    setting("Search", "--method"),
    setting("Search", "--bands", kind=int),
    setting("Search", "--rows", kind=int),
    setting("Search", "--cluster"),
)

run_options = _all(
    setting("Run", "--threads", kind=Whole(min=1), metavar="NUMBER"),
    setting(
        "Run",
        "--memory",
        kind=memory,
        metavar="SIZE",
        help="Hold at most this much in memory, and spill the rest to disk: 500MB, 2GB.",
    ),
    setting(
        "Run",
        "--temporary",
        metavar="DIR",
        kind=click.Path(exists=True, file_okay=False, writable=True),
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


#: Of a command that keeps no checkpoint.
cluster_options = _all(
    setting("Engine", "--engine", show_default="local"),
    setting("Engine", "--master", metavar="URL", show_default="local[*]"),
    option(
        "Engine",
        "--spark-conf",
        metavar="NAME=VALUE",
        multiple=True,
        callback=spark_settings,
        help="A setting for Spark; may be repeated.",
    ),
)

engine_options = _all(cluster_options, setting("Engine", "--checkpoint", metavar="DIR"))


def _remember(context: click.Context, parameter: click.Parameter, given: bool) -> None:
    context.meta[parameter.name or ""] = given


#: Read by `nearly.cli.program`, which shows the errors.
debug_option = option(
    "Run",
    "--debug",
    is_flag=True,
    expose_value=False,
    callback=_remember,
    help="Show the whole trace of an error, with all that Spark says about it.",
)

force_option = option("Output", "--force", is_flag=True, help="Overwrite existing outputs.")
json_option = option("Output", "--json", "as_json", is_flag=True, help="Print JSON on stdout.")
skipped_option = option(
    "Output",
    "--skipped",
    metavar="FILE",
    type=Place,
    help="Write skipped records and the reasons to this file.",
)
source_now_option = option(
    "Source",
    "--source",
    metavar="SOURCE",
    help="Where the documents are now, if they moved since the result was saved.",
)
group_option = option(
    "Content",
    "--group",
    metavar="COLUMN|folder",
    help="Leave out pairs inside a group: a column of the source, or the outermost folder of a "
    "file; folder:2 takes two levels.",
)
term_option = option(
    "Content",
    "--term",
    metavar="COLUMN|folder",
    help="Say of each pair whether its documents are of one term or of two: a column of the "
    "source, or the outermost folder of a file.",
)
quiet_option = option("Output", "--quiet", is_flag=True, help="Show no progress and no summary.")


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
    from nearly.measures.stop_word import ENGLISH, read_stop_words

    if given == "none":
        return ()
    return ENGLISH if given == "english" else read_stop_words(given)
