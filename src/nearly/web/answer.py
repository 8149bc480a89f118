"""What a handler gives: something to show as a page or as JSON, a way to go, or a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from nearly.markup import Markup

__all__ = ["Answer", "Moved", "Sent", "Shown"]


@dataclass(frozen=True, kw_only=True)
class Shown:
    """One value that is drawn as a page, and whose plain values are its JSON twin."""

    title: str
    data: Callable[[], Any]
    body: Callable[[], Markup]
    result: str | None = None  # whose pages the navigation offers
    here: str = ""  # the page's name in the navigation
    scripts: tuple[str, ...] = ()
    status: int = 200


@dataclass(frozen=True)
class Moved:
    """After a change, where to look at it."""

    to: str


@dataclass(frozen=True, kw_only=True)
class Sent:
    """A file to keep."""

    name: str
    media_type: str
    chunks: Iterator[bytes]


Answer = Shown | Moved | Sent
