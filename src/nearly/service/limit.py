"""What the service takes at most, of one request and of all together."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Limits"]


@dataclass(frozen=True, kw_only=True)
class Limits:
    """More than this is refused: 413 where one request is too large, 429 where all are too many."""

    body: int = 32 * 2**20  # bytes
    batch: int = 10_000  # documents or questions of one request
    waiting: int = 50_000  # documents that wait to be stored
    waiting_bytes: int = 128 * 2**20
    at_once: int = 512  # requests that are being answered
    seconds: float = 30  # until an answer
    stopping_seconds: float = 30  # for requests that are under way when the service stops
