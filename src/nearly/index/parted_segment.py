"""What parts of a new index write: segments, into a folder that all machines see.

A step may run twice, where a machine died or was slow: its files have names of their own, and only
those are committed that a step gave back.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from nearly.engines.base import Parts
from nearly.errors import SinkError
from nearly.index import merge_policy
from nearly.index.addition import EARLIER_ID, some_rows
from nearly.index.directory import DiskDirectory
from nearly.index.draft import Draft, Rows, draft_of
from nearly.index.live import Live
from nearly.index.merge import merged
from nearly.index.parted_copy import joined, later_contents, later_ids, nobody
from nearly.index.parted_plan import Numbers, Plan
from nearly.index.reading import chunks
from nearly.index.segment import open_segment
from nearly.index.segment_file import Written, write_file
from nearly.measures.work import ONE_THREAD
from nearly.sources import Skipped

__all__ = ["Wrote", "merged_parts", "not_shared", "written_parts"]


class Wrote(NamedTuple):
    """The segments of a part, and documents that have the id of an earlier one."""

    segments: list[Written]
    skipped: Skipped


def written_parts(parts: Parts, plan: Plan, weighed: Any, *, with_ids: bool) -> list[Wrote]:
    shared = parts.share(plan)
    dropped = later_ids(parts, shared, weighed) if with_ids else parts.each(nobody, weighed)
    copies = later_contents(parts, shared, weighed, dropped)
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
    held_before = joined(copies)
    signed = _signed(number, block[0], joined(dropped), plan, skipped)
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
        raise not_shared(Path(plan.path).parent.parent) from error
    return replace(written, name=name)


def not_shared(folder: Path) -> SinkError:
    return SinkError(
        f"a machine of the cluster does not see what another one wrote in {str(folder)!r}. Make "
        "the index in a folder that all machines share, under the same name"
    )


# Several segments become one


def merged_parts(parts: Parts, plan: Plan, segments: list[Written]) -> list[Written]:
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
