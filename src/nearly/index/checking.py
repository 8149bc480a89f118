"""Whether an index is as it was written and makes sense; what can be saved of one that is not."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.documents.identity import id_digests
from nearly.errors import NearlyError
from nearly.index.answer import Checked, Id
from nearly.index.catalogue import DOCUMENT, Commit, State
from nearly.index.directory import Directory
from nearly.index.draft import Rows
from nearly.index.live import Live
from nearly.index.making import Making
from nearly.index.segment import Segment
from nearly.index.store import Store, open_store
from nearly.sources import Skipped
from nearly.wording import count

__all__ = ["check", "examine"]


def check(directory: Directory, *, repair: bool) -> Checked:
    """Look at all of an index; with `repair`, commit what is left of one that is broken."""
    store = open_store(directory, read_only=not repair, is_tolerant=True)
    try:
        problems = examine(store)
        if not (repair and (store.broken or store.unreadable)):
            return Checked(problems=problems)
        saved = _repair(store)
    finally:
        store.close()
    return Checked(problems=problems, dropped=saved.dropped, lost=saved.lost, repaired=True)


def examine(store: Store) -> list[str]:
    """What is wrong: every page is read, then all of it together has to make sense."""
    lives = store.lives()
    problems = [*store.catalogue.checked(), *store.unreadable.values()]
    for live in (*store.broken, *lives):
        pages = live.segment.damaged_pages()
        if pages:
            problems.append(
                f"segment {live.segment.name}, of {count(live.segment.documents, 'document')}, "
                f"has {count(pages, 'damaged page')}"
            )
    return problems or list(_contradictions(lives))


def _contradictions(lives: Sequence[Live]) -> Iterator[str]:
    """What a commit never leaves."""
    held = np.concatenate([_none(), *(_held(live) for live in lives)])
    had = np.concatenate([_none(), *(_had(live) for live in lives)])
    ids = np.concatenate([_none(), *(_ids(live) for live in lives)])
    for what, digests in (("contents are held twice", held), ("ids stand for two documents", ids)):
        twice = len(digests) - len(np.unique(digests, axis=0))
        if twice:
            yield f"{twice:,} {what}"
    holders, owners = ({row.tobytes() for row in side} for side in (held, had))
    if owners - holders:
        yield f"{len(owners - holders):,} contents of documents are held by no segment"
    if holders - owners:
        yield f"{len(holders - owners):,} contents are held, and no document has them"
    for live in lives:
        yield from _disorder(live.segment)


def _disorder(segment: Segment) -> Iterator[str]:
    high, low = segment.column("content_high"), segment.column("content_low")
    is_later = (high[1:] > high[:-1]) | ((high[1:] == high[:-1]) & (low[1:] > low[:-1]))
    if not is_later.all():
        yield f"the contents of segment {segment.name} are not in order"
    runs = {f"band {band}": segment.band(band) for band in range(segment.bands)}
    if segment.is_posted:
        runs["the list of members"] = segment.postings()
    for what, (keys, owners) in runs.items():
        same = keys[1:] == keys[:-1]
        is_later = (owners[1:] > owners[:-1]) | (segment.is_posted & (owners[1:] == owners[:-1]))
        if not ((keys[1:] > keys[:-1]) | (same & is_later)).all():
            yield f"{what} of segment {segment.name} is not in order"


def _none() -> npt.NDArray[np.uint64]:
    return np.empty((0, 2), np.uint64)


def _held(live: Live) -> npt.NDArray[np.uint64]:
    contents = np.arange(live.segment.contents, dtype=np.uint32)
    is_held = live.segment.is_held(contents) & ~live.contents.has(contents)
    return live.segment.digests(contents[is_held])


def _had(live: Live) -> npt.NDArray[np.uint64]:
    documents = np.arange(live.segment.documents)
    documents = documents[~live.documents.has(documents)]
    return live.segment.digests(np.unique(live.segment.content_of(documents)))


def _ids(live: Live) -> npt.NDArray[np.uint64]:
    documents = live.segment.column("id_of")
    digests = np.stack([live.segment.column("id_high"), live.segment.column("id_low")], axis=1)
    there: npt.NDArray[np.uint64] = digests[~live.documents.has(documents)]
    return there


# What can be saved


def _repair(store: Store) -> "Saved":
    """One commit without the broken segments: what can be read of them is written anew."""
    saved = Saved(lost=_unreadable_documents(store))
    for live in store.broken:
        salvage(live, [*store.broken, *store.lives()], saved, store.making)
    keys = [*store.unreadable, *(live.key for live in store.broken)]
    addition = store.addition(Skipped())
    addition.change = Commit(old_segments=keys, numbers={"next_key": store.state.next_key + 1})
    if saved.ids:
        addition.write_segment(rebuilt(saved, store.making, store.state))
    lost = _without_holder(addition.lives)
    addition.remove(store.id_digests(lost))
    saved.dropped += lost
    addition.let_go_of_all()
    store.commit(addition.change)
    return saved


def _unreadable_documents(store: Store) -> int:
    """Documents of segments that cannot be opened, without those that were removed before."""
    written = sum(store.state.segments[key].documents for key in store.unreadable)
    gone = [row for row in store.state.gone if row.kind == DOCUMENT]
    return written - sum(row.key in store.unreadable for row in gone)


def _without_holder(lives: Sequence[Live]) -> list[Id]:
    """Ids of documents whose content no segment holds any more."""
    held = {row.tobytes() for live in lives for row in _held(live)}
    lost: list[Id] = []
    for live in lives:
        documents = np.arange(live.segment.documents)
        documents = documents[~live.documents.has(documents)]
        digests = live.segment.digests(live.segment.content_of(documents))
        is_lost = np.array([row.tobytes() not in held for row in digests], bool)
        lost += live.segment.ids(documents[is_lost])
    return lost


@dataclass
class Saved:
    """Documents of a broken segment that can still be read, and how many cannot."""

    numbers: list[int] = field(default_factory=list)
    ids: list[Id] = field(default_factory=list)
    texts: list[Any] = field(default_factory=list)
    dropped: list[Id] = field(default_factory=list)
    lost: int = 0


def salvage(live: Live, lives: Sequence[Live], saved: Saved, making: Making) -> None:
    """Read document by document what is sound; the text may be held by another segment.

    Where only sets are kept, keys cannot be made again, and nothing is saved.
    """
    segment = live.segment
    for document in range(segment.documents):
        one = np.array([document])
        if live.documents.has(one)[0]:
            continue
        name: Id | None = None
        try:
            name = segment.ids(one)[0]
            number = int(segment.take("numbers", one)[0])
            digests = segment.digests(segment.content_of(one))
            if not making.texts:
                raise NearlyError("keys cannot be made from sets")
            text = _text(digests, lives)
        except (NearlyError, pa.ArrowException, UnicodeDecodeError):
            if name is None:
                saved.lost += 1
            else:
                saved.dropped.append(name)
            continue
        saved.numbers.append(number)
        saved.ids.append(name)
        saved.texts.append(text)


def _text(digests: npt.NDArray[np.uint64], lives: Sequence[Live]) -> Any:
    """The text of a content, wherever it is held and can be read."""
    problem: NearlyError | None = None
    for live in lives:
        try:
            contents = live.find_held(digests)[1]
            if len(contents):
                return live.segment.texts(contents[:1])[0].as_py()
        except NearlyError as error:
            problem = error
    raise problem or NearlyError("no segment holds this text")


def rebuilt(saved: Saved, making: Making, state: State) -> Rows:
    """What was saved, signed once more."""
    kind = pa.int64() if state.id_kind == "int64" else pa.string()
    order = np.argsort(np.array(saved.numbers, np.uint64))
    ids = pa.array([saved.ids[i] for i in order.tolist()], kind)
    texts = pa.array([saved.texts[i] for i in order.tolist()], making.kept_type)
    signed = making.asking.sign(texts)
    return Rows(
        numbers=np.array(saved.numbers, np.uint64)[order],
        ids=ids if state.id_kind == "int64" else ids.cast(pa.large_string()),
        id_digests=id_digests(ids),
        digests=signed.digests,
        sizes=signed.sizes,
        keys=signed.keys,
        sketches=signed.sketches,
        contents=texts,
        kept=making.keeping.kept(making.measure, texts),
    )
