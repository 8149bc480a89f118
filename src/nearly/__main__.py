"""The command `nearly`, and `python -m nearly`.

Until the command listens to signals, Ctrl-C ends the process at once: nothing has been begun, and
importing takes long enough to be interrupted.
"""

import _signal  # type: ignore[import-not-found]  # `signal` takes its time to import

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

__all__ = ["main"]

# What the parent process ignores, as nohup does, stays ignored.
if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)


def main() -> "NoReturn":
    """The entry point of the installed command."""
    from nearly.cli import main as run

    run()


if __name__ == "__main__":
    main()
