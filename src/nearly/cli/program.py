"""The command `nearly` and how it ends: its commands, and the exit codes of its errors."""

import errno
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Final

import click
from click.exceptions import Exit, NoArgsIsHelpError

from nearly.cli import exit_code, interrupt, stream
from nearly.cli.message import complain, say
from nearly.errors import NearlyError
from nearly.wording import did_you_mean

__all__ = ["nearly", "run"]

#: The variable by which a shell's completion script asks for completions.
COMPLETING: Final = "_NEARLY_COMPLETE"


#: In the order of their use, not of the alphabet.
COMMANDS: Final = {
    "find": "Find every pair of similar documents.",
    "dedup": "Write a clean copy of a table, or a plan for a folder.",
    "apply": "Show or carry out the plan for a folder.",
    "unique": "Drop copies from a stream, in fixed memory.",
    "report": "Write what was found as one HTML file to hand on.",
    "serve": "Look at what was found in a browser.",
    "passages": "Find the passages that documents share.",
    "index": "Keep documents in a folder, to ask whether something was seen.",
    "query": "Find what an index holds that is near to a text.",
    "compare": "Show how two text files differ.",
    "tune": "Choose bands and rows, and predict what they find and cost.",
    "evaluate": "Measure precision and recall against a labelled truth.",
    "mentions": "Make a labelled truth from texts that mention people.",
    "explain": "Show the textbook's way on a few small files, step by step.",
    "completion": "Print the completion script for a shell.",
}


#: Commands whose module has another name, for theirs is taken.
MODULES: Final = {"report": "handout"}


class Commands(click.Group):
    """Commands that are imported when they are asked for, to keep the start quick."""

    def list_commands(self, context: click.Context) -> list[str]:  # noqa: ARG002
        """Called by click."""
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:  # noqa: ARG002
        """Called by click; nearly every command is called like its module."""
        if name not in COMMANDS:
            return None
        module = import_module(f"nearly.cli.{MODULES.get(name, name)}")
        command: click.Command = getattr(module, name)
        return command

    def resolve_command(
        self, context: click.Context, arguments: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Called by click; names the command that was meant where one is close."""
        try:
            return super().resolve_command(context, arguments)
        except click.UsageError as error:
            meant = did_you_mean(arguments[0], COMMANDS)
            if not meant or "mean" in error.message:
                raise
            raise click.UsageError(f"{error.message.rstrip('.')}; {meant}", context) from None

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Called by click to write the list of `--help`."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(package_name="nearly", message="nearly %(version)s")
def nearly() -> None:
    """Find what is nearly the same.

    \b
    nearly find docs/                                  similar files of a folder
    nearly find tweets.csv --text text -t 0.7          similar rows of a table
    nearly dedup corpus.parquet -o clean.parquet       a copy without near-duplicates
    nearly compare a.txt b.txt                         how two files differ
    """


def run(arguments: Sequence[str]) -> int:
    """Run one command; gives the exit code. What a user did wrong is said in one line."""
    try:
        return _invoke(arguments)
    except BaseException as error:
        # What fails after a stop was asked for, fails because of it.
        stopped = interrupt.requested()
        if stopped is not None:
            complain("stopped")
            return stopped.exit_code
        return _explain(error)


def _explain(error: BaseException) -> int:
    """The exit code of an error, after one line about it."""
    match error:
        case NoArgsIsHelpError():
            error.show()
            return exit_code.USAGE
        case click.ClickException():
            complain(_one_line(error))
            return exit_code.USAGE
        case NearlyError():
            complain(str(error))
            return exit_code.code_of(error)
        case BrokenPipeError():
            stream.write_no_more()  # whoever read this output has seen enough
            return exit_code.BROKEN_PIPE
        case OSError(errno=errno.ENOSPC):
            stream.write_no_more()
            complain("the disk is full; free some space, or give another disk with --temporary")
            return exit_code.USAGE
        case OSError(errno=errno.EBADF, filename=None):
            stream.write_no_more()
            complain("standard output is closed; open it, or write to a file with -o")
            return exit_code.USAGE
    if _lacks_memory(error):
        complain(
            "out of memory; hold less with --memory, use fewer threads with --threads, "
            "or allow this process more"
        )
        return exit_code.NO_MEMORY
    if isinstance(error, Exception):
        stream.write_no_more()
        complain(_unexpected(error))
        return exit_code.BUG
    raise error


def _lacks_memory(error: BaseException) -> bool:
    """Python has one error for it; libraries and threads that find no room have others."""
    signs = ("failed to map segment", "can't start new thread")
    return isinstance(error, MemoryError) or any(sign in str(error) for sign in signs)


def _unexpected(error: Exception) -> str:
    """One line, and where the rest is."""
    import tempfile
    import traceback

    first = (str(error).splitlines() or [""])[0][:300]
    what = f"{type(error).__name__}: {first}" if first else type(error).__name__
    try:
        descriptor, name = tempfile.mkstemp(prefix="nearly-trace-", suffix=".txt")
        with open(descriptor, "w", errors="backslashreplace") as file:
            file.writelines(traceback.format_exception(error))
    except OSError:
        return f"{what}. Nobody expected this; to see its trace, run this again with --debug"
    return f"{what}. Nobody expected this; please report it with its trace, {name}"


def _invoke(arguments: Sequence[str]) -> int:
    if COMPLETING in os.environ:
        from click.shell_completion import shell_complete

        return shell_complete(nearly, {}, "nearly", COMPLETING, os.environ[COMPLETING])
    try:
        with nearly.make_context("nearly", list(arguments)) as context, _tracing(context):
            code = nearly.invoke(context)
        sys.stdout.flush()
    except Exit as ending:  # after --help and --version
        return ending.exit_code
    return int(code)


@contextmanager
def _tracing(context: click.Context) -> Iterator[None]:
    """With --debug, all that is known of an error comes before the line about it."""
    try:
        yield
    except Exception as error:
        if context.meta.get("debug"):
            import traceback

            for line in "".join(traceback.format_exception(error)).splitlines():
                say(line)
        raise


def _one_line(error: click.ClickException) -> str:
    message = error.format_message()
    if isinstance(error, click.NoSuchOption):
        meant = did_you_mean(error.option_name, error.possibilities or ())
        message = "; ".join(filter(None, (f"there is no option {error.option_name!r}", meant)))
    message = message if message.endswith("?") else message.rstrip(".") + "."
    context = getattr(error, "ctx", None)
    return f"{message} See {context.command_path} --help." if context else message
