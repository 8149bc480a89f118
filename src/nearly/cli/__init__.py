"""The command `nearly`: parse → settings → one library call → render.

Starting has to be quick, so nothing but click and the settings is imported at the top of
these files; the body of a command imports what it needs.
"""

import errno
import os
import sys
from collections.abc import Sequence
from typing import Final, NoReturn

import click
from click.exceptions import Exit, NoArgsIsHelpError

from nearly.cli import exits, stopping
from nearly.cli.apply import apply
from nearly.cli.compare import compare
from nearly.cli.completion import completion
from nearly.cli.dedup import dedup
from nearly.cli.evaluate import evaluate
from nearly.cli.find import find
from nearly.cli.mentions import mentions
from nearly.cli.messages import complain
from nearly.cli.sections import Group
from nearly.errors import NearlyError

__all__ = ["main", "nearly", "run"]

#: The variable by which a shell's completion script asks for completions.
COMPLETING: Final = "_NEARLY_COMPLETE"


@click.group(
    cls=Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(package_name="nearly", message="nearly %(version)s")
def nearly() -> None:
    """Find what is nearly the same.

    \b
    nearly find docs/                                  similar files of a folder
    nearly find tweets.csv --text text -t 0.7          similar rows of a table
    nearly dedup corpus.parquet -o clean.parquet       a copy without near-duplicates
    nearly compare a.txt b.txt                         two files side by side
    """


for command in (find, dedup, apply, compare, evaluate, mentions, completion):
    nearly.add_command(command)


def main() -> NoReturn:
    """The entry point of the installed command."""
    stopping.on_signals()
    # A name of a file may hold bytes that are no text in any encoding.
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    code = run(sys.argv[1:])
    stopping.never()
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run one command; gives the exit code. What a user did wrong is said in one line."""
    try:
        return _invoke(arguments)
    except NoArgsIsHelpError as error:
        error.show()
        return exits.USAGE
    except click.ClickException as error:
        complain(_one_line(error))
        return exits.USAGE
    except NearlyError as error:
        complain(str(error))
        return exits.code_of(error)
    except stopping.Stopped as error:
        complain("stopped")
        return exits.code_of_signal(error.number)
    except BrokenPipeError:
        # Whoever read this output has seen enough; at exit Python would flush once more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return exits.BROKEN_PIPE
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        complain("the disk is full; free some space, or give another disk with --temporary")
        return exits.USAGE


def _invoke(arguments: Sequence[str]) -> int:
    if COMPLETING in os.environ:
        from click.shell_completion import shell_complete

        return shell_complete(nearly, {}, "nearly", COMPLETING, os.environ[COMPLETING])
    try:
        with nearly.make_context("nearly", list(arguments)) as context:
            code = nearly.invoke(context)
        sys.stdout.flush()
    except Exit as ending:  # after --help and --version
        return ending.exit_code
    return int(code)


def _one_line(error: click.ClickException) -> str:
    message = error.format_message().rstrip(".")
    context = getattr(error, "ctx", None)
    return f"{message}. See {context.command_path} --help." if context else f"{message}."
