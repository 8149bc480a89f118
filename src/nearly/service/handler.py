"""What answers a request: each one asks the index once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from nearly.index.answer import Answer, Id, Stats
from nearly.index.index import Index
from nearly.service.change import Change
from nearly.service.desk import Desk
from nearly.service.message import (
    Accepted,
    Batch,
    Content,
    Found,
    FoundBatch,
    Health,
    Kept,
    Near,
    Question,
    Questions,
    Removed,
    Soundness,
    Stored,
)
from nearly.service.meter import MEDIA_TYPE
from nearly.service.problem import ProblemError

__all__ = ["Asked", "Handler"]

#: Bytes of a question that is answered at once: to hand it to a thread would take longer.
SHORT: Final = 2**14


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A request as plain data."""

    id: str = ""
    query: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    size: int = 0

    @property
    def is_durable(self) -> bool:
        """Whether the answer has to wait for the disk."""
        given = self.query.get("durable", "true")
        if given not in ("true", "false"):
            raise ProblemError(400, f"durable is {given[:50]!r}; give true or false")
        return given == "true"


Handler = Callable[[Desk, Asked], Awaitable[Any]]


# Documents


async def put_document(desk: Desk, asked: Asked) -> Stored | Accepted:
    """Store a document under an id, in the place of what was there."""
    content: Content = asked.body
    ids = [desk.id(_named(asked))]
    change = Change("replace", ids, [desk.content(content)], asked.size)
    stored: Stored | Accepted = await _changed(desk, asked, change)
    return stored


async def add_documents(desk: Desk, asked: Asked) -> Stored | Accepted:
    """Store documents, all in one commit; says which were seen before, and as what."""
    batch: Batch = asked.body
    desk.check_batch(len(batch.documents))
    if not batch.documents:
        return Stored(0, 0, [], [])
    ids = [desk.id(document.id) for document in batch.documents]
    contents = [desk.content(document) for document in batch.documents]
    change = Change("replace" if batch.replace else "add", ids, contents, asked.size)
    stored: Stored | Accepted = await _changed(desk, asked, change)
    return stored


async def get_document(desk: Desk, asked: Asked) -> Kept:
    """The text of a document, as it was added."""
    sought: Id = _named(asked)
    if desk.index.id_kind == "int64" and sought in desk.index:
        sought = desk.id(sought)
    try:
        text = desk.index.text(sought) if desk.index.keeps_texts else None
    except KeyError:
        raise _no_document(asked.id) from None
    if text is None and sought not in desk.index:
        raise _no_document(asked.id)
    return Kept(sought, text)


async def remove_document(desk: Desk, asked: Asked) -> Removed | Accepted:
    """Remove a document."""
    removed: Removed | Accepted = await _changed(desk, asked, Change("remove", [_named(asked)]))
    if isinstance(removed, Removed) and removed.removed == 0:
        raise _no_document(asked.id)
    return removed


async def _changed(desk: Desk, asked: Asked, change: Change) -> Any:
    if not asked.is_durable:
        desk.writer.submit(change)
        return Accepted(len(change.ids))
    return await asyncio.wrap_future(desk.writer.submit(change))


def _named(asked: Asked) -> str:
    if not asked.id:
        raise ProblemError(400, "the address ends without an id; put one after /v1/documents/")
    return asked.id


def _no_document(name: str) -> ProblemError:
    return ProblemError(404, f"there is no document with the id {name[:200]!r}")


# Questions


async def query(desk: Desk, asked: Asked) -> Found:
    """What is near, with exact similarities, nearest first."""
    given: Question = asked.body
    content = desk.content(given)
    if asked.size <= SHORT:
        return _found(desk.index.query(content, k=given.k, threshold=given.threshold))
    answer = await run_in_threadpool(
        desk.index.query, content, k=given.k, threshold=given.threshold
    )
    return _found(answer)


async def query_batch(desk: Desk, asked: Asked) -> FoundBatch:
    """The same for several questions."""
    given: Questions = asked.body
    desk.check_batch(len(given.questions))
    contents = [desk.content(each) for each in given.questions]
    return await run_in_threadpool(_answers, desk.index, contents, given)


def _answers(index: Index, contents: Sequence[object], given: Questions) -> FoundBatch:
    answers = index.query_batch(contents, k=given.k, threshold=given.threshold)
    return FoundBatch([_found(answer) for answer in answers])


def _found(answer: Answer) -> Found:
    return Found([Near(*row) for row in answer], answer.compared, answer.left_out)


# The service itself


async def stats(desk: Desk, asked: Asked) -> Stats:  # noqa: ARG001
    """How large the index is, and what it was made with."""
    return desk.index.stats()


async def check(desk: Desk, asked: Asked) -> Soundness:  # noqa: ARG001
    """Read all of the index and compare it with its checksums; one check at a time."""
    if not desk.checking.acquire(blocking=False):
        raise ProblemError(429, "a check is under way; ask again when it is done", Retry_After="10")
    try:
        checked = await run_in_threadpool(Index.check_at, desk.path)
    finally:
        desk.checking.release()
    return Soundness(checked.is_sound, checked.problems)


async def health(desk: Desk, asked: Asked) -> Health:  # noqa: ARG001
    """Whether the process runs."""
    return Health("ok")


async def ready(desk: Desk, asked: Asked) -> Health:  # noqa: ARG001
    """Whether requests are taken."""
    if not desk.writer.is_working:
        raise ProblemError(503, "the service is starting or stopping; ask again later")
    return Health("ready")


async def metrics(desk: Desk, asked: Asked) -> Response:  # noqa: ARG001
    """Counts and times, as Prometheus reads them."""
    return Response(desk.meter.told(), media_type=MEDIA_TYPE)
