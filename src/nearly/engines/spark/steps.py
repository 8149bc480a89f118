"""What a partition does when its turn comes: its number and what it has, to what it makes or sends.

Functions of modules and nothing else, so that a step is sent to workers by its name.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.documents.readable import REPEATED, Skips
from nearly.engines.spark import checkpoint as checkpoints
from nearly.engines.spark.checkpoint import Checkpoint
from nearly.engines.spark.partition import bucket as buckets
from nearly.engines.spark.partition import copy as copies
from nearly.engines.spark.partition import group as groups
from nearly.engines.spark.partition import join as joining
from nearly.engines.spark.partition import lookup as looking
from nearly.engines.spark.partition import row as rows
from nearly.engines.spark.partition import search as searching
from nearly.engines.spark.partition import signed_block as signing
from nearly.engines.spark.partition import verification as meetings
from nearly.engines.spark.partition.bucket import Ask, Candidates, Keys, Sketches, Work
from nearly.engines.spark.partition.component import Edges, united
from nearly.engines.spark.partition.copy import Later, Prints, Repeats
from nearly.engines.spark.partition.group import Group, Piece
from nearly.engines.spark.partition.join import Grouped, JoinedHere
from nearly.engines.spark.partition.number import Numbers, numbered
from nearly.engines.spark.partition.packet import unpack
from nearly.engines.spark.partition.row import Rows, Tables
from nearly.engines.spark.partition.signed_block import Block, Plan, Signed, Tally
from nearly.engines.spark.partition.verification import Near, Texts
from nearly.errors import SinkError
from nearly.settings import Settings
from nearly.stages.survivor import Keep
from nearly.tuning.banding import Banding

Chosen = npt.NDArray[np.bool_]


class Shared(Protocol):
    """Texts that every partition sees."""

    @property
    def value(self) -> Texts: ...


def sign(
    plan: Plan, skipped: Skips, checkpoint: Checkpoint | None, number: int, block: Block
) -> Signed:
    """Signed anew, or as it was signed before."""
    if checkpoint is None:
        return signing.sign_block(block, skipped, plan)
    there = checkpoint.recall("signed", number)
    if there is not None:
        return checkpoints.recalled_signed(there, skipped)
    signed = signing.sign_block(block, skipped, plan)
    checkpoint.save("signed", number, checkpoints.signed_rows(signed))
    return signed


def sign_again(
    plan: Plan,
    skipped: Skips,
    checkpoint: Checkpoint | None,
    number: int,
    state: tuple[Block, Signed],
) -> Signed:
    """What was signed with another k than all documents suggest."""
    block, signed = state
    if signed.k == plan.settings.text.whole_k:
        return signed
    signed = signing.sign_block(block, skipped, plan)
    if checkpoint is not None:
        checkpoint.save("signed", number, checkpoints.signed_rows(signed))
    return signed


def tally(signed: Signed) -> tuple[Tally, int]:
    return signed.tally, signed.k


def some_skipped(room: int, signed: Iterable[Signed]) -> Iterator[Skips]:
    for block in signed:
        yield block.skipped.trimmed(room)


def contents_meet(
    plan: Plan, partitions: int, number: int, signed: Signed
) -> Iterator[tuple[int, Prints]]:
    """Ids, and texts of documents that have one."""
    documents = numbered(number, signed.rows)
    if plan.check_ids:
        yield from copies.prints("id", signed.id_contents, documents, partitions)
    yield from _texts_meet(signed, documents, signed.sizes > 0, partitions)


def texts_meet(
    partitions: int, number: int, state: tuple[Signed, Later]
) -> Iterator[tuple[int, Prints]]:
    """Once more, without those whose id came before."""
    signed, later = state
    documents = numbered(number, signed.rows)
    valid = (signed.sizes > 0) & ~np.isin(documents, later.repeated.documents)
    yield from _texts_meet(signed, documents, valid, partitions)


def _texts_meet(
    signed: Signed, documents: Numbers, valid: Chosen, partitions: int
) -> Iterator[tuple[int, Prints]]:
    return copies.prints("text", signed.contents[valid], documents[valid], partitions)


def first_of_each(_: int, received: Sequence[Prints]) -> Iterator[tuple[int, Repeats]]:
    return copies.first_of_each(received)


def later(_: int, received: Sequence[Repeats]) -> Later:
    return copies.later(received)


def later_texts(_: int, state: tuple[Later, Later]) -> Later:
    """Whose id came before as it was found first, whose text did as it was found then."""
    before, now = state
    return Later(before.repeated, now.copies)


def count_later(state: Later) -> tuple[int, int]:
    return len(state.repeated.documents), len(state.copies.documents)


def repeated_names(room: int, states: Iterable[tuple[Signed, Later]]) -> Iterator[Skips]:
    for signed, known in states:
        names = signing.names(signed, known.repeated.documents)
        listed = signed.skipped.another()
        for name in names:
            listed.add(f"id {name}", REPEATED)
        yield listed.trimmed(room)


def count_empty(number: int, state: tuple[Signed, Later]) -> int:
    signed, known = state
    is_repeated = np.isin(numbered(number, signed.rows), known.repeated.documents)
    return int(((signed.sizes == 0) & ~is_repeated).sum())


def _is_representative(number: int, signed: Signed, known: Later) -> Chosen:
    gone = np.concatenate([known.repeated.documents, known.copies.documents])
    chosen: Chosen = (signed.sizes > 0) & ~np.isin(numbered(number, signed.rows), gone)
    return chosen


def keys_travel(
    partitions: int, number: int, state: tuple[Signed, Later]
) -> Iterator[tuple[int, Keys]]:
    signed, known = state
    chosen = _is_representative(number, signed, known)
    return buckets.keys_by_bucket(number, signed.rows, signed.keys, chosen, partitions)


def find_crowds(
    partitions: int, hubs: int, number: int, received: Sequence[Keys]
) -> Iterator[tuple[int, Work | Ask]]:
    return buckets.crowded(number, received, partitions, hubs)


def show_sketches(
    number: int, state: tuple[Signed, Sequence[Work | Ask]]
) -> Iterator[tuple[int, Sketches]]:
    signed, received = state
    for ask in received:
        if isinstance(ask, Ask):
            places = np.searchsorted(signed.rows, ask.rows)
            yield ask.asker, Sketches(numbered(number, ask.rows), signed.sketches[places])


def compare(
    banding: Banding, partitions: int, _: int, state: tuple[Sequence[Work | Ask], list[Sketches]]
) -> Iterator[tuple[int, Candidates]]:
    received, answers = state
    work = [part for part in received if isinstance(part, Work)]
    found = buckets.compare(work, answers, banding)
    return meetings.pairs_by_place(found, partitions)


def each_once(_: int, received: Sequence[Candidates]) -> Candidates:
    return meetings.each_once(received)


def ask_for_texts(number: int, pairs: Candidates) -> Iterator[tuple[int, Ask]]:
    return meetings.asks_for_texts(number, pairs)


def show_texts(
    skipped: Skips, number: int, state: tuple[Block, Sequence[Ask]]
) -> Iterator[tuple[int, Texts]]:
    block, asks = state
    return signing.read_texts(number, block, skipped, asks)


def verify(
    settings: Settings, threshold: Fraction, _: int, state: tuple[Candidates, list[Texts]]
) -> Near:
    pairs, texts = state
    return meetings.verified(pairs, texts, settings, threshold)


def groups_travel(
    skipped: Skips,
    groups: int,
    partitions: int,
    number: int,
    state: tuple[Block, tuple[Signed, Later]],
) -> Iterator[tuple[int, Grouped]]:
    block, known = state
    chosen = representatives(number, known)
    return joining.texts_by_group(number, block.documents(skipped), chosen, groups, partitions)


def join(
    groups: int,
    settings: Settings,
    threshold: Fraction,
    partitions: int,
    number: int,
    received: Sequence[Grouped],
) -> JoinedHere:
    return joining.join_here(number, partitions, received, groups, settings, threshold)


def join_counts(joined: JoinedHere) -> tuple[int, int]:
    return joined.met, joined.verified


def near_of(_: int, joined: JoinedHere) -> Near:
    return joined.near


def representatives(number: int, state: tuple[Signed, Later]) -> Numbers:
    signed, known = state
    return numbered(number, signed.rows[_is_representative(number, signed, known)])


def some_texts(
    skipped: Skips, places: Mapping[int, list[int]], number: int, state: tuple[Block, Numbers]
) -> Texts:
    """The texts of the representatives at some places of each block."""
    block, everyone = state
    sought = everyone[places.get(number, [])]
    batches = block.documents(skipped) if len(sought) else []
    parts = searching.texts_of_some(number, batches, sought)
    return meetings.texts_of(*meetings.joined_texts(list(parts)))


def search(
    skipped: Skips,
    sought: Shared,
    settings: Settings,
    threshold: Fraction,
    number: int,
    state: tuple[Block, Numbers],
) -> Near:
    block, everyone = state
    texts = searching.texts_of_some(number, block.documents(skipped), everyone)
    return searching.search(sought.value, texts, settings, threshold)


def only_these(sought: Shared, near: Near) -> Near:
    return searching.only_these(near, sought.value.documents)


def save_near(checkpoint: Checkpoint, stage: str, number: int, near: Near) -> Near:
    checkpoint.save(stage, number, checkpoints.near_rows(near))
    return near


def recall_near(checkpoint: Checkpoint, stage: str, number: int, _: Block) -> Near:
    there = checkpoint.recall(stage, number)
    if there is None:
        raise SinkError(
            f"the checkpoint {checkpoint.folder!r} has lost a part of a stage that was finished. "
            f"Remove {checkpoint.run!r} below it, and run again"
        )
    return checkpoints.recalled_near(there)


def edges(_: int, state: tuple[Near, Later]) -> Edges:
    near, known = state
    return united([Edges(near.second, near.first), Edges(*known.copies)])


def labels_travel(_: int, state: tuple[Edges, Near]) -> Iterator[tuple[int, Edges | Near]]:
    return groups.to_blocks(*state)


def pieces_travel(
    partitions: int,
    _: int,
    state: tuple[tuple[Signed, Later], list[Edges | Near]],
) -> Iterator[tuple[int, Piece]]:
    (signed, known), received = state
    return groups.pieces(unpack(signed.facts), known.copies, received, partitions)


def gather(plan: Plan, _: int, received: Sequence[Piece]) -> Group:
    return groups.gathered(received, signing.no_facts(plan))


def ask_for_survivors(
    settings: Settings, keep: Keep, number: int, group: Group
) -> Iterator[tuple[int, Ask]]:
    return group.asks(number, settings, keep)


def found_rows(settings: Settings, _: int, group: Group) -> Iterator[tuple[int, Rows]]:
    """Pairs and members of clusters, sent to the blocks of their first documents."""
    for block, packed in rows.by_block(rows.pair_rows(group, settings), "first"):
        yield block, Rows("pairs", packed)
    for block, packed in rows.by_block(rows.cluster_rows(group, settings), "first"):
        yield block, Rows("clusters", packed)


def fate_rows(
    settings: Settings, keep: Keep, _: int, state: tuple[Group, list[Texts]]
) -> Iterator[tuple[int, Rows]]:
    for block, packed in rows.by_block(rows.fate_rows(*state, settings, keep), "first"):
        yield block, Rows("clusters", packed)


def order_rows(schemas: Mapping[str, pa.Schema], _: int, received: Sequence[Rows]) -> Tables:
    """Each table's rows in order."""
    return {
        name: rows.ordered([part.packed for part in received if part.table == name], schema)
        for name, schema in schemas.items()
    }


def count_rows(tables: Tables) -> dict[str, tuple[int, int]]:
    return {name: rows.counts(unpack(packed)) for name, packed in tables.items()}


def table(name: str, _: int, tables: Tables) -> bytes:
    return tables[name]


def number_clusters(starts: Sequence[int], number: int, tables: Tables) -> bytes:
    return rows.numbered_clusters(unpack(tables["clusters"]), starts[number])


def removed_travel(_: int, packed: bytes) -> Iterator[tuple[int, Rows]]:
    for block, theirs in rows.by_block(rows.removed_rows(unpack(packed)), "first"):
        yield block, Rows("removed", theirs)


def rows_kept(_: int, state: tuple[Block, bytes]) -> Iterator[bytes]:
    block, removed = state
    return rows.rows_without(block.rows(), unpack(removed))


def candidate_counts(pairs: Candidates) -> tuple[int, int]:
    return len(pairs.first), pairs.compared


def count_near(near: Near) -> tuple[int, Near]:
    """How many pairs there are, and the best of them."""
    return len(near.first), looking.best_pairs(near)


def pairs_of_rows(packed: bytes) -> Near:
    return looking.pairs_of_rows(unpack(packed))
