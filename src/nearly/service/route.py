"""The route table: one line an address. Dispatch and OpenAPI are both made from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from nearly.index.answer import Stats
from nearly.service import handler
from nearly.service.handler import Handler
from nearly.service.message import (
    Accepted,
    Batch,
    Content,
    Found,
    FoundBatch,
    Health,
    Kept,
    Question,
    Questions,
    Removed,
    Soundness,
    Stored,
)

__all__ = ["READ", "ROUTES", "WRITE", "Spot"]

READ: Final = "read"
WRITE: Final = "write"


@dataclass(frozen=True)
class Spot:
    """An address, what answers there, and who may ask."""

    method: str
    path: str
    handler: Handler
    gives: Any
    scope: str | None = READ
    takes: Any = None
    can_wait: bool = False  # takes `durable`

    @property
    def summary(self) -> str:
        """The first line of what the handler says of itself."""
        return (self.handler.__doc__ or "").partition("\n")[0]

    @property
    def name(self) -> str:
        """For programs that are made from OpenAPI."""
        return getattr(self.handler, "__name__", "")


#: The first are asked most.
ROUTES: Final = (
    Spot("POST", "/v1/query", handler.query, Found, takes=Question),
    Spot("POST", "/v1/query:batch", handler.query_batch, FoundBatch, takes=Questions),
    Spot("PUT", "/v1/documents/{id}", handler.put_document, Stored, WRITE, Content, can_wait=True),
    Spot("GET", "/v1/documents/{id}", handler.get_document, Kept),
    Spot("DELETE", "/v1/documents/{id}", handler.remove_document, Removed, WRITE, can_wait=True),
    Spot("POST", "/v1/documents", handler.add_documents, Stored, WRITE, Batch, can_wait=True),
    Spot("GET", "/v1/stats", handler.stats, Stats),
    Spot("POST", "/v1/check", handler.check, Soundness, WRITE),
    Spot("GET", "/metrics", handler.metrics, str),
    Spot("GET", "/healthz", handler.health, Health, None),
    Spot("GET", "/readyz", handler.ready, Health, None),
)
#: What a change gives that does not wait for the disk.
WITHOUT_WAITING: Final = Accepted
