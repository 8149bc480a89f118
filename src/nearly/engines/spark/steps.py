"""What a partition does when its turn comes: its number and what it has, to what it makes or sends.

Functions of modules and nothing else, so that a step is sent to workers by its name.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from nearly.engines.base import REPEATED, Skips
from nearly.engines.spark import (
    buckets,
    copies,
    groups,
    joining,
    looking,
    meetings,
    rows,
    searching,
    signing,
)
from nearly.engines.spark.buckets import Ask, Candidates, Keys, Sketches, Work
from nearly.engines.spark.components import Edges, united
from nearly.engines.spark.copies import Copies, Prints
from nearly.engines.spark.groups import Group, Piece
from nearly.engines.spark.joining import Grouped, JoinedHere
from nearly.engines.spark.meetings import Near, Texts
from nearly.engines.spark.numbers import Numbers, numbered
from nearly.engines.spark.packing import pack, unpack
from nearly.engines.spark.signing import Block, Plan, Signed, Tally
from nearly.settings import Settings
from nearly.survivors import Keep
from nearly.tuning import Banding


class Shared(Protocol):
    """Texts that every partition sees."""

    @property
    def value(self) -> Texts: ...


NOBODY = Copies(np.empty(0, np.int64), np.empty(0, np.int64))


def sign(plan: Plan, skipped: Skips, _: int, block: Block) -> Signed:
    return signing.sign_block(block, skipped, plan)


def without_signatures(_: int, signed: Signed) -> Signed:
    """What is looked at more often, and is light."""
    return signed._replace(keys=signed.keys[:, :0], sketches=signed.sketches[:, :0])


def some_skipped(room: int, signed: Iterable[Signed]) -> Iterator[Skips]:
    for block in signed:
        yield block.skipped.trimmed(room)


def nobody(_number: int, _block: Block) -> Copies:
    return NOBODY


def ids_meet(partitions: int, number: int, signed: Signed) -> Iterator[tuple[int, Prints]]:
    documents = numbered(number, signed.rows)
    return copies.prints(signed.id_contents, documents, partitions)


def contents_meet(
    partitions: int, number: int, state: tuple[Signed, Copies]
) -> Iterator[tuple[int, Prints]]:
    signed, repeated = state
    documents = numbered(number, signed.rows)
    valid = (signed.sizes > 0) & ~np.isin(documents, repeated.documents)
    return copies.prints(signed.contents[valid], documents[valid], partitions)


def first_of_each(_: int, received: Sequence[Prints]) -> Iterator[tuple[int, Copies]]:
    return copies.first_of_each(received)


def in_order(_: int, received: Sequence[Copies]) -> Copies:
    """All copies of one block, in ascending order."""
    documents, originals = map(np.concatenate, zip(NOBODY, *received, strict=True))
    order = np.argsort(documents)
    return Copies(documents[order], originals[order])


def repeated_names(room: int, states: Iterable[tuple[Signed, Copies]]) -> Iterator[Skips]:
    for signed, repeated in states:
        names = signing.names(signed, repeated.documents)
        listed = signed.skipped.another()
        for name in names:
            listed.add(f"id {name}", REPEATED)
        yield listed.trimmed(room)


def count_empty(number: int, state: tuple[Signed, Copies]) -> int:
    signed, repeated = state
    is_repeated = np.isin(numbered(number, signed.rows), repeated.documents)
    return int(((signed.sizes == 0) & ~is_repeated).sum())


def _representatives(number: int, signed: Signed, *others: Copies) -> Any:
    gone = np.concatenate([other.documents for other in others])
    return (signed.sizes > 0) & ~np.isin(numbered(number, signed.rows), gone)


def keys_travel(
    partitions: int, number: int, state: tuple[Signed, tuple[Copies, Copies]]
) -> Iterator[tuple[int, Keys]]:
    signed, others = state
    chosen = _representatives(number, signed, *others)
    return buckets.keys_by_bucket(number, signed.rows[chosen], signed.keys[chosen], partitions)


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
    state: tuple[Block, tuple[Signed, tuple[Copies, Copies]]],
) -> Iterator[tuple[int, Grouped]]:
    block, (signed, others) = state
    chosen = numbered(number, signed.rows[_representatives(number, signed, *others)])
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


def join_counts(joined: JoinedHere) -> tuple[int, int, int]:
    return len(joined.near.first), joined.met, joined.verified


def near_of(_: int, joined: JoinedHere) -> Near:
    return joined.near


def representatives(number: int, state: tuple[Signed, tuple[Copies, Copies]]) -> Numbers:
    signed, others = state
    return numbered(number, signed.rows[_representatives(number, signed, *others)])


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


def edges(_: int, state: tuple[Near, Copies]) -> Edges:
    near, copied = state
    return united([Edges(near.second, near.first), Edges(*copied)])


def labels_travel(_: int, state: tuple[Edges, Near]) -> Iterator[tuple[int, Edges | Near]]:
    return groups.to_blocks(*state)


def pieces_travel(
    partitions: int,
    _: int,
    state: tuple[tuple[Signed, Copies], list[Edges | Near]],
) -> Iterator[tuple[int, Piece]]:
    (signed, copied), received = state
    return groups.pieces(unpack(signed.facts), copied, received, partitions)


def gather(plan: Plan, _: int, received: Sequence[Piece]) -> Group:
    return groups.gathered(received, signing.no_facts(plan))


def ask_for_survivors(
    settings: Settings, keep: Keep, number: int, group: Group
) -> Iterator[tuple[int, Ask]]:
    return group.asks(number, settings, keep)


def pair_rows(settings: Settings, _: int, group: Group) -> Iterator[tuple[int, bytes]]:
    return rows.by_block(rows.pair_rows(group, settings), "first")


def cluster_rows(settings: Settings, _: int, group: Group) -> Iterator[tuple[int, bytes]]:
    return rows.by_block(rows.cluster_rows(group, settings), "first")


def fate_rows(
    settings: Settings, keep: Keep, _: int, state: tuple[Group, list[Texts]]
) -> Iterator[tuple[int, bytes]]:
    return rows.by_block(rows.fate_rows(*state, settings, keep), "first")


def order_rows(schema: pa.Schema, _: int, received: Sequence[bytes]) -> bytes:
    return pack(rows.ordered(received, pa.RecordBatch.from_pylist([], schema=schema)))


def count_rows(packed: bytes) -> int:
    return int(unpack(packed).num_rows)


def count_clusters(packed: bytes) -> int:
    return rows.count_clusters(unpack(packed))


def number_clusters(starts: Sequence[int], number: int, packed: bytes) -> bytes:
    return pack(rows.numbered_clusters(unpack(packed), starts[number]))


def removed_travel(_: int, packed: bytes) -> Iterator[tuple[int, bytes]]:
    return rows.by_block(rows.removed_rows(unpack(packed)), "first")


def rows_kept(_: int, state: tuple[Block, bytes]) -> Iterator[bytes]:
    block, removed = state
    return rows.rows_without(block.rows(), unpack(removed))


def tally(signed: Signed) -> Tally:
    return signed.tally


def count_documents(copied: Copies) -> int:
    return len(copied.documents)


def candidate_counts(pairs: Candidates) -> tuple[int, int]:
    return len(pairs.first), pairs.compared


def count_near(near: Near) -> int:
    return len(near.first)


def pairs_of_rows(packed: bytes) -> Near:
    return looking.pairs_of_rows(unpack(packed))
