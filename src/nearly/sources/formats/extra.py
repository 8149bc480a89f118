"""Libraries that only some formats need, brought by the extra `files`."""

from importlib import import_module
from typing import Any

from nearly.errors import UnreadableError

__all__ = ["needed"]


def needed(module: str, what: str) -> Any:
    """An optional library, or an error that says for what it is needed and how to get it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise UnreadableError(
            f"{what} needs a library that is not installed ({module}). "
            "Install it: pip install 'nearly[files]'"
        ) from error
