"""A new index of documents that lie in parts: many machines write segments, one commits them all.

Every part tells digests of its ids and contents; equal ones meet, and whoever came later is told to
its part. So each part knows which of its documents are none, and which contents others hold. Then
it signs the rest and writes segments, by the functions that one machine uses, into a folder that
all machines see; segments are merged the same way. A step may run twice, where a machine died or
was slow: its files have names of their own, and only those are committed that a step gave back.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from nearly import _kernels
from nearly.arguments import Running
from nearly.arrays import by_target
from nearly.documents.identity import id_digests
from nearly.engines.base import Parts
from nearly.errors import SettingsError, SinkError
from nearly.index import merge_policy
from nearly.index.addition import EARLIER_ID, some_rows
from nearly.index.catalogue import Catalogue, Commit, IdKind, State
from nearly.index.creation import check_new, make, settle
from nearly.index.directory import DiskDirectory, sync_folder
from nearly.index.draft import Draft, Rows, draft_of
from nearly.index.live import Live
from nearly.index.making import Making
from nearly.index.merge import merged
from nearly.index.reading import Reading, chunks, reading_of
from nearly.index.segment import open_segment
from nearly.index.segment_file import Written, write_file
from nearly.index.store import open_store
from nearly.measures.work import ONE_THREAD
from nearly.remnant import scratch
from nearly.run import in_parts
from nearly.sources import Skipped

__all__ = ["create_in_parts", "create_on_spark"]

U64 = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What every part is told."""

    making: Making
    id_kind: IdKind
    numbers_rows: bool
    skipped: Skipped  # an empty list
    path: str  # of the index
    firsts: Numbers  # the number of each part's first document

    def reading(self, block: Any, first: int) -> Reading:
        """How the documents of a part are read, whose first one has this number."""
        next_row = (block.first_row or 0) if self.numbers_rows else None
        return Reading(self.making, self.id_kind, first, next_row, is_deciding=True)


def create_on_spark(
    path: str | os.PathLike[str],
    source: Any,
    running: Running,
    options: Mapping[str, Any],
    skipped: Skipped,
    *,
    texts: bool,
) -> None:
    """Make an index of a source, on a cluster; see `Index.create`."""
    place = _shared_folder(path)
    if source is None:
        raise SettingsError(
            "an index without documents needs no Spark; leave engine and master out"
        )
    with in_parts(source, running, None) as ((opened,), parts_with):
        making = Making.of(options, opened, texts=texts)
        create_in_parts(place, making, opened, parts_with(None), skipped)


def _shared_folder(path: str | os.PathLike[str]) -> Path:
    """Where segments can be written by many: found out before a session is opened."""
    if "://" in os.fspath(path):
        raise SettingsError(
            "Spark writes the segments of an index in a folder; name a folder that all machines "
            "share, or leave engine and master out"
        )
    place = Path(path).absolute()
    check_new(place)
    return place


def create_in_parts(
    place: Path, making: Making, source: Any, parts: Parts, skipped: Skipped
) -> None:
    """Make the index beside its place, in a folder that all machines see, and rename it."""
    with scratch(place.parent) as folder, _out_of_reach(folder):
        path = folder / "index"
        plan = Plan(
            making=making,
            id_kind=reading_of(making, State(), source).id_kind,
            numbers_rows=source.numbers_rows,
            skipped=skipped.another(),
            path=os.fspath(path),
            firsts=np.empty(0, np.int64),
        )
        plan, weighed, told = _weighed(parts, plan, skipped)
        make(path, plan.making)
        wrote = _wrote(parts, plan, weighed, with_ids=not source.ids_are_unique)
        for each in wrote:
            skipped.merge(each.skipped)
        segments = _merged(parts, plan, [written for each in wrote for written in each.segments])
        documents = sum(each.documents for each in told)
        numbers = {
            "next_number": documents,
            "next_row": max((each.next_row for each in told), default=0),
            "next_key": len(segments) + 1,
            "id_kind": plan.id_kind if documents else None,
        }
        _commit(place, DiskDirectory(path), segments, numbers)
        os.replace(path, place)
        sync_folder(place.parent)


@contextmanager
def _out_of_reach(folder: Path) -> Iterator[None]:
    """What fails is renamed before it is removed: a step that still runs finds no folder to fill"""
    try:
        yield
    except BaseException:
        if (folder / "index").exists():
            os.replace(folder / "index", folder / "stopped")
        raise


# What parts know of each other


class Weighed(NamedTuple):
    """What others have to know of the documents of a part, in order."""

    id_digests: U64
    digests: U64


class Told(NamedTuple):
    """What the driver has to know of a part."""

    documents: int
    extent: int
    next_row: int
    skipped: Skipped


def _weighed(parts: Parts, plan: Plan, skipped: Skipped) -> tuple[Plan, Any, list[Told]]:
    """All parts, weighed as what all documents decide asks for."""
    glimpses = parts.collect(parts.each(_glimpse, parts.blocks, plan=parts.share(plan)))
    extent = sum(each[0] for each in glimpses) / max(1, sum(each[1] for each in glimpses))
    weighed: Any = None
    told: list[Told] = []

    def weigh(making: Making, met: Skipped) -> float:
        nonlocal weighed, told
        shared = parts.share(replace(plan, making=making))
        both = parts.each(_weigh, parts.blocks, plan=shared)
        weighed, told = parts.each(_first, both), parts.collect(parts.each(_second, both))
        for each in told:
            met.merge(each.skipped)
        return sum(each.extent for each in told) / max(1, sum(each.documents for each in told))

    making = settle(plan.making, extent, skipped, weigh)
    firsts = np.cumsum([0, *(each.documents for each in told[:-1])])
    # Without what was worked out here: it is worked out where it is needed.
    return replace(plan, making=replace(making), firsts=firsts), weighed, told


def _glimpse(block: tuple[Any, Any], *, plan: Plan) -> tuple[int, int]:
    """The extent of the first documents of a part, and how many these are."""
    for batch in block[0].documents(plan.skipped.another()):
        if batch.num_rows:
            return plan.making.measure.extent(batch.column("text")), batch.num_rows
    return 0, 0


def _weigh(block: tuple[Any, Any], *, plan: Plan) -> tuple[Weighed, Told]:
    readable, _ = block
    skipped = plan.skipped.another()
    reading = plan.reading(readable, 0)
    ids, contents = [np.empty((0, 2), np.uint64)], [np.empty((0, 2), np.uint64)]
    for _, names, texts in reading.numbered_batches(readable, skipped):
        ids.append(id_digests(names))
        contents.append(plan.making.measure.weigh(texts).digests)
    next_row = (reading.next_row or 0) + reading.numbered
    told = Told(reading.documents, reading.extent, next_row, skipped)
    return Weighed(np.concatenate(ids), np.concatenate(contents)), told


def _first(both: tuple[Weighed, Told]) -> Weighed:
    return both[0]


def _second(both: tuple[Weighed, Told]) -> Told:
    return both[1]


class Digests(NamedTuple):
    """Some documents of a part, in order, and the digests of their ids or contents."""

    digests: U64
    documents: Numbers


def _later_ids(parts: Parts, plan: Any, weighed: Any) -> Any:
    """Of each part the documents whose id came before, as lists."""
    sent = parts.exchange(_send_ids, weighed, numbered=True, plan=plan)
    return parts.exchange(_later, sent, plan=plan)


def _later_contents(parts: Parts, plan: Any, weighed: Any, dropped: Any) -> Any:
    """The same of contents, of the documents that are left."""
    sent = parts.exchange(_send_contents, weighed, dropped, numbered=True, plan=plan)
    return parts.exchange(_later, sent, plan=plan)


def _send_ids(number: int, weighed: Weighed, *, plan: Plan) -> Iterator[tuple[int, Digests]]:
    documents = plan.firsts[number] + np.arange(len(weighed.id_digests))
    yield from _to_meet(weighed.id_digests, documents, len(plan.firsts))


def _send_contents(
    number: int, weighed: Weighed, dropped: Sequence[Numbers], *, plan: Plan
) -> Iterator[tuple[int, Digests]]:
    documents = plan.firsts[number] + np.arange(len(weighed.digests))
    stays = ~np.isin(documents, _joined(dropped))
    yield from _to_meet(weighed.digests[stays], documents[stays], len(plan.firsts))


def _to_meet(digests: U64, documents: Numbers, parts: int) -> Iterator[tuple[int, Digests]]:
    for target, (some, theirs) in by_target(digests[:, 0] % np.uint64(parts), digests, documents):
        yield target, Digests(some, theirs)


def _later(received: Sequence[Digests], *, plan: Plan) -> Iterator[tuple[int, Numbers]]:
    """Who has what an earlier document had, sent to its part."""
    if not received:
        return
    in_order = sorted(received, key=lambda part: int(part.documents[0]))
    documents = np.concatenate([part.documents for part in in_order])
    first = _kernels.first_seen(np.concatenate([part.digests for part in in_order]))
    later = documents[first != np.arange(len(first))]
    owners = np.searchsorted(plan.firsts, later, side="right") - 1
    for part, (theirs,) in by_target(owners, later):
        yield part, theirs


def _nobody(weighed: Weighed) -> list[Numbers]:  # noqa: ARG001
    """Of a source whose ids cannot repeat."""
    return []


def _joined(received: Sequence[Numbers]) -> Numbers:
    return np.concatenate([np.empty(0, np.int64), *received])


# What they write


class Wrote(NamedTuple):
    """The segments of a part, and documents that have the id of an earlier one."""

    segments: list[Written]
    skipped: Skipped


def _wrote(parts: Parts, plan: Plan, weighed: Any, *, with_ids: bool) -> list[Wrote]:
    shared = parts.share(plan)
    dropped = _later_ids(parts, shared, weighed) if with_ids else parts.each(_nobody, weighed)
    copies = _later_contents(parts, shared, weighed, dropped)
    return parts.collect(
        parts.each(_write, parts.blocks, dropped, copies, numbered=True, plan=shared)
    )


def _write(
    number: int,
    block: tuple[Any, Any],
    dropped: Sequence[Numbers],
    copies: Sequence[Numbers],
    *,
    plan: Plan,
) -> Wrote:
    """Sign the documents of a part, and write them as segments."""
    skipped, making = plan.skipped.another(), plan.making
    segments: list[Written] = []
    held_before = _joined(copies)
    signed = _signed(number, block[0], _joined(dropped), plan, skipped)
    for rows, _ in chunks(signed, is_posted=making.poster is not None):
        if len(rows):
            is_known = np.isin(rows.numbers, held_before)
            draft = draft_of(rows, is_known, ONE_THREAD, making.poster)
            segments.append(_put(plan, draft))
    return Wrote(segments, skipped)


def _signed(
    number: int, readable: Any, dropped: Numbers, plan: Plan, skipped: Skipped
) -> Iterator[Rows]:
    """The documents of a part, but those whose id came before."""
    reading = plan.reading(readable, int(plan.firsts[number]))
    known = plan.skipped.another()  # they were told when the part was weighed
    for rows in reading.rows(readable, known, ONE_THREAD):
        is_later = np.isin(rows.numbers, dropped)
        for name in rows.ids.filter(is_later).to_pylist() if is_later.any() else []:
            skipped.add(str(name), EARLIER_ID)
        yield some_rows(rows, ~is_later)


def _put(plan: Plan, draft: Draft) -> Written:
    """Write a segment beside its name, and rename it: what has the name is whole."""
    directory = DiskDirectory(plan.path)
    name = f"{os.urandom(8).hex()}.segment"
    try:
        facts = {"fingerprint": plan.making.fingerprint}
        written = write_file(directory, f"{name}.part", draft, facts, ONE_THREAD)
        directory.rename(written.name, name)
    except FileNotFoundError as error:
        raise _not_shared(Path(plan.path).parent.parent) from error
    return replace(written, name=name)


def _not_shared(folder: Path) -> SinkError:
    return SinkError(
        f"a machine of the cluster does not see what another one wrote in {str(folder)!r}. Make "
        "the index in a folder that all machines share, under the same name"
    )


# Several segments become one


def _merged(parts: Parts, plan: Plan, segments: list[Written]) -> list[Written]:
    """Merge segments as one machine would, but several at once; gives what is left."""
    while True:
        sizes = [merge_policy.Size(each.documents, 0) for each in segments]
        groups = merge_policy.at_once(sizes)
        if not groups:
            return segments
        dealt = [groups[part :: len(plan.firsts)] for part in range(len(plan.firsts))]
        chosen = [[[segments[i] for i in group] for group in some] for some in dealt]
        shared = {"plan": parts.share(plan), "chosen": parts.share(chosen)}
        made = parts.collect(parts.each(_merge, parts.blocks, numbered=True, **shared))
        gone = {place for group in groups for place in group}
        for place in gone:
            DiskDirectory(plan.path).remove(segments[place].name)
        segments = [each for place, each in enumerate(segments) if place not in gone]
        segments += [written for some in made for written in some]


def _merge(
    number: int,
    block: tuple[Any, Any],  # noqa: ARG001
    *,
    plan: Plan,
    chosen: Sequence[Sequence[Sequence[Written]]],
) -> list[Written]:
    """Write each group that fell to a part as one segment."""
    opened = partial(open_segment, DiskDirectory(plan.path), is_text=plan.making.keeping.is_text)
    return [
        _put(plan, merged([Live(1, opened(written)) for written in group]))
        for group in chosen[number]
    ]


def _commit(
    place: Path, directory: DiskDirectory, segments: Sequence[Written], numbers: dict[str, Any]
) -> None:
    """One transaction names them all; what a step left that ran twice is removed."""
    if not {written.name for written in segments} <= set(directory.names()):
        raise _not_shared(place.parent)
    directory.sync()
    catalogue = Catalogue(directory.catalogue)
    try:
        named = dict(enumerate(segments, 1))
        catalogue.commit(catalogue.load(), Commit(new_segments=named, numbers=numbers))
    finally:
        catalogue.close()
    open_store(directory, read_only=False).close()
