"""A block without one document passes every step of Spark: of no batch, of empty ones, of nulls."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from nearly.documents.block import SignedBlock
from nearly.engines.spark.partition import bucket, component, copy, join, row, verification
from nearly.engines.spark.partition.bucket import Ask
from nearly.engines.spark.partition.component import Edges
from nearly.engines.spark.partition.signed_block import Plan, labels_of, read_texts, sign_block
from nearly.measures.jaccard import Jaccard
from nearly.settings import Settings
from nearly.sources import Skipped
from nearly.tuning.banding import Banding

TEXTS = ["one text that is long enough to be compared", "one text that is long enough to be named"]
THRESHOLD = Fraction(1, 2)
MEASURE = Jaccard.of(Settings.of(k=3))
#: Bands of one row, so that the two texts meet.
BANDING = Banding(16, 1, 8)
SCHEMA = pa.schema([("row", pa.int64()), ("id", pa.string()), ("text", pa.large_string())])
#: The batches of a block: texts, or None for a row that is no document.
EMPTY: dict[str, list[list[str | None]]] = {
    "no batch": [],
    "batches of no row": [[], []],
    "nulls": [[None, None], [None]],
    "empty texts": [["", ""], []],
}
BLOCKS = {
    **{name: [batches] * 3 for name, batches in EMPTY.items()},
    **{f"{name}, then two": [batches, [[], TEXTS, []], batches] for name, batches in EMPTY.items()},
}


class Batches:
    """A block of these batches."""

    def __init__(self, number: int, batches: list[list[str | None]]) -> None:
        self.number = number
        self.batches = batches

    def documents(self, skipped: Any, _also: str | None = None) -> Iterator[pa.RecordBatch]:
        first = 0
        for texts in self.batches:
            rows = [first + i for i, text in enumerate(texts) if text is not None]
            for _ in range(len(texts) - len(rows)):
                skipped.add("a row", "null text")
            columns = [
                rows,
                [f"{self.number}/{i}" for i in rows],
                [t for t in texts if t is not None],
            ]
            yield pa.record_batch(
                [pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)], schema=SCHEMA
            )
            first += len(texts)


def deliver(messages: Any, partitions: int) -> list[list[Any]]:
    received: list[list[Any]] = [[] for _ in range(partitions)]
    for target, message in messages:
        received[target].append(message)
    return received


def signed(blocks: list[Batches], *, is_exact: bool) -> list[SignedBlock]:
    plan = Plan(
        measure=MEASURE,
        banding=BANDING,
        is_exact=is_exact,
        keep=None,
        id_type=pa.string(),
        rule_type=None,
        check_ids=True,
        skipped=Skipped(),
        kept_in=None,
    )
    return [sign_block(number, block, plan=plan) for number, block in enumerate(blocks)]


def repeats(every: list[SignedBlock]) -> list[copy.Repeats]:
    messages = [
        message
        for number, block in enumerate(every)
        for message in copy.digests_of(number, block, check_ids=True, partitions=len(every))
    ]
    met = deliver(messages, len(every))
    assert [copy.count_repeated_ids(part) for part in met] == [0] * len(every)
    back = [m for part in met for m in copy.first_of_each(part, border=None)]
    return [copy.repeats(part) for part in deliver(back, len(every))]


def candidates(every: list[SignedBlock], known: list[copy.Repeats]) -> list[bucket.Candidates]:
    count = len(every)
    keys = [
        message
        for number, block in enumerate(every)
        for message in bucket.keys_by_bucket(
            number,
            block.rows,
            block.keys,
            copy.is_representative(number, block, known[number]),
            known[number].both,
            partitions=count,
        )
    ]
    crowds = []
    for here, received in enumerate(deliver(keys, count)):
        shared = bucket.shared(received, border=None)
        assert bucket.count_crowd(shared, hubs=0)[0] >= 0
        crowds += bucket.crowded(here, shared, partitions=count, hubs=0)
    work = deliver(crowds, count)
    answers = [
        message
        for number, block in enumerate(every)
        for message in bucket.sketches_asked_for(number, block, work[number])
    ]
    found = [
        message
        for received, shown in zip(work, deliver(answers, count), strict=True)
        for message in verification.pairs_by_place(
            bucket.compare(received, shown, banding=BANDING), partitions=count
        )
    ]
    return [verification.each_once(received) for received in deliver(found, count)]


def verified(blocks: list[Batches], pairs: list[bucket.Candidates]) -> list[verification.Near]:
    count = len(blocks)
    asks = [m for here, part in enumerate(pairs) for m in verification.asks_for_texts(here, part)]
    texts = [
        message
        for number, (block, asked) in enumerate(zip(blocks, deliver(asks, count), strict=True))
        for message in read_texts(number, block, asked, skipped=Skipped())
    ]
    return [
        verification.verified(part, answers, measure=MEASURE, threshold=THRESHOLD)
        for part, answers in zip(pairs, deliver(texts, count), strict=True)
    ]


def joined(blocks: list[Batches], every: list[SignedBlock]) -> int:
    known, count = repeats(every), len(blocks)
    messages = []
    for number, block in enumerate(blocks):
        chosen = copy.sided(number, every[number], known[number], border=None)
        messages += join.texts_by_group(
            number, block, chosen, skipped=Skipped(), groups=2, partitions=count
        )
    how: dict[str, Any] = {"measure": MEASURE, "threshold": THRESHOLD}
    return sum(
        len(join.join_here(here, part, partitions=count, groups=2, **how).near.first)
        for here, part in enumerate(deliver(messages, count))
    )


@pytest.mark.parametrize("name", BLOCKS)
def test_signed_met_and_verified(name: str) -> None:
    blocks = [Batches(number, batches) for number, batches in enumerate(BLOCKS[name])]
    every = signed(blocks, is_exact=False)
    for block in every:
        assert labels_of(block, np.empty(0, np.int64), ()).num_rows == 0
    near = verified(blocks, candidates(every, repeats(every)))
    expected = int("then" in name)
    assert sum(len(part.first) for part in near) == expected
    edges = [component.contracted(Edges(part.second, part.first)) for part in near]
    assert len(component.united(edges).documents) == expected
    for star in (component.large_star, component.small_star):
        assert len(star(component.united([])).documents) == 0


@pytest.mark.parametrize("name", BLOCKS)
def test_joined(name: str) -> None:
    blocks = [Batches(number, batches) for number, batches in enumerate(BLOCKS[name])]
    assert joined(blocks, signed(blocks, is_exact=True)) == int("then" in name)


def test_tables_of_no_row() -> None:
    schema = pa.schema([("first", pa.int64()), ("second", pa.int64())])
    tables = row.ordered([], schemas={"pairs": schema})
    assert row.counts(tables) == {"pairs": (0, 0)}


def test_a_question_for_no_row() -> None:
    nobody = Ask(1, np.empty(0, np.uint32))
    some = Ask(2, np.array([0], np.uint32))
    answers = dict(read_texts(0, Batches(0, [[], TEXTS]), [nobody, some], skipped=Skipped()))
    assert len(answers[1].documents) == 0
    assert len(answers[2].documents) == 1
