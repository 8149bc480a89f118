"""One line of the route table: an address, what answers there, and what it may be told."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from nearly.web.answer import Answer
from nearly.web.asked import Asked
from nearly.web.desk import Desk

__all__ = ["Handler", "Spot"]

Handler = Callable[[Desk, Asked], Answer]


class Spot(NamedTuple):
    """An address, and what answers there."""

    method: str
    path: str
    handler: Handler
    query: tuple[str, ...] = ()  # what the address may say behind its ?
    form: tuple[str, ...] = ()  # what a form may say
    files: int = 0  # that may come with a form

    @property
    def name(self) -> str:
        """For logs and tests."""
        return f"{self.method} {self.path}"
