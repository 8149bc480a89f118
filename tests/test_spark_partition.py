"""What partitions do, without Spark: messages are passed by hand."""

import math
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearly import _kernels, textbook
from nearly.documents import folder as folders
from nearly.documents.block import block_of_rows, rows_of_block
from nearly.documents.folder import Folder
from nearly.documents.side import by_side, may_meet
from nearly.engines.spark.partition import bucket, component, copy, join, verification
from nearly.engines.spark.partition.border import Border, sides_here
from nearly.engines.spark.partition.bucket import Ask, Candidates, Sketches, Work
from nearly.engines.spark.partition.component import Edges
from nearly.engines.spark.partition.copy import Sided
from nearly.engines.spark.partition.number import blocks_of, by_target, numbered, rows_of
from nearly.engines.spark.partition.signed_block import Plan, read_texts, sign_block
from nearly.errors import SinkError
from nearly.measures.jaccard import Jaccard
from nearly.measures.pair import split_pairs
from nearly.settings import Settings
from nearly.sources import Skipped
from nearly.stages.candidate import candidates
from nearly.tuning.banding import Banding

numbers = st.integers(0, 2**20)


def deliver(messages, partitions):
    """What came for each partition."""
    received = [[] for _ in range(partitions)]
    for target, message in messages:
        received[target].append(message)
    return received


def documents(blocks, count):
    """Documents spread over blocks, in ascending order."""
    per_block = -(-count // blocks)
    numbers = [numbered(b, np.arange(per_block, dtype=np.uint32)) for b in range(blocks)]
    return np.concatenate(numbers)[:count]


@given(st.lists(st.tuples(numbers, numbers)), st.integers(1, 9))
def test_rows_reach_their_targets_in_order(rows, partitions):
    values = np.array([value for _, value in rows], np.int64)
    targets = np.array([target % partitions for target, _ in rows], np.int64)
    found = {target: column.tolist() for target, (column,) in by_target(targets, values)}
    expected = {t: [v for (r, v) in rows if r % partitions == t] for t in set(targets.tolist())}
    assert found == expected


@given(st.lists(st.integers(0, 8), max_size=60), st.integers(1, 5), st.integers(1, 4))
def test_the_first_of_equal_digests_is_found_across_blocks(values, blocks, partitions):
    everyone = documents(blocks, len(values))
    digests = np.array([[value * 7919, value] for value in values], np.uint64).reshape(-1, 2)
    messages = []
    for block in range(blocks):
        mine = blocks_of(everyone) == block
        messages += copy._sent("text", digests[mine], everyone[mine], partitions)
    met = deliver(messages, partitions)
    found = {}
    returned = [m for received in met for m in copy.first_of_each(received, border=None)]
    for block, repeats in returned:
        part = copy.repeats([repeats]).texts
        assert (blocks_of(part.documents) == block).all()
        found |= dict(zip(part.documents.tolist(), part.originals.tolist(), strict=True))
    first: dict[int, int] = {}
    expected = {}
    for number, value in zip(everyone.tolist(), values, strict=True):
        if first.setdefault(value, number) != number:
            expected[number] = first[value]
    assert found == expected


BORDERS = {
    "no border": None,
    "a border": Border(1, cleaning=False, lists_copies=True),
    "a border to clean": Border(2, cleaning=True, lists_copies=False),
}


@pytest.mark.parametrize("hubs", [0, 4])
@pytest.mark.parametrize("border", BORDERS.values(), ids=list(BORDERS))
@given(
    keys=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 40)), max_size=70),
    blocks=st.integers(1, 4),
)
def test_candidates_are_those_of_one_machine_however_buckets_are_cut(hubs, border, keys, blocks):
    if hubs and border is not None and not border.cleaning:
        border = None  # hubs are for cleaning
    banding = Banding(2, 4, 4)
    source = np.random.default_rng(len(keys))
    everyone = documents(blocks, len(keys))
    matrix = np.array(keys, np.uint32).reshape(-1, 2)
    sketches = source.integers(0, 2**16, (len(keys), 1), dtype=np.uint64)
    with (
        patch.object(bucket, "MOST_IN_BUCKET", 6),
        patch.object(bucket, "FIRSTS", 3),
        patch.object(bucket, "SECONDS", 5),
    ):
        found = across_partitions(everyone, matrix, sketches, banding, blocks, hubs, border)
    sides = known_sides(everyone, border)
    order, cuts = by_side(sides)
    places = np.arange(len(keys), dtype=np.uint32)[order]
    expected, meetings = set(), 0
    for band in range(2):
        column = np.ascontiguousarray(matrix[:, band][order])
        pairs, met = candidates(column, places, sketches, banding, hubs=hubs, cuts=cuts)
        first, second = split_pairs(pairs)
        expected |= set(zip(everyone[first].tolist(), everyone[second].tolist(), strict=True))
        meetings += met
    pairs = [pair for part in found for pair in zip(*map(list, part[:2]), strict=True)]
    assert len(pairs) == len(set(pairs)), "a pair is verified once"
    assert {(int(a), int(b)) for a, b in pairs} == expected
    assert sum(part.meetings for part in found) == meetings


def on_both_sides(everyone, border):
    """Some old documents that have new copies, if that is asked for."""
    lists_copies = border is not None and border.lists_copies
    return everyone[everyone < border.first_new][::3] if lists_copies else everyone[:0]


def known_sides(everyone, border):
    if border is None:
        return None
    return sides_here(everyone, on_both_sides(everyone, border), border)


def across_partitions(everyone, keys, sketches, banding, partitions, hubs, border):
    """Keys to buckets, questions to blocks, answers to work, pairs to their places."""
    blocks, both = blocks_of(everyone), on_both_sides(everyone, border)
    messages = []
    for block in range(partitions):
        mine = blocks == block
        theirs = both[blocks_of(both) == block]
        messages += bucket.keys_by_bucket(
            block, rows_of(everyone), keys, mine, theirs, partitions=partitions
        )
    crowds = []
    for here, received in enumerate(deliver(messages, partitions)):
        shared = bucket.shared(received, border=border)
        crowds += bucket.crowded(here, shared, partitions=partitions, hubs=hubs)
    work = deliver(crowds, partitions)
    answers = []
    for block, received in enumerate(work):
        for ask in (part for part in received if isinstance(part, Ask)):
            asked = numbered(block, ask.rows)
            shown = sketches[np.searchsorted(everyone, asked)]
            answers.append((ask.asker, Sketches(asked, shown)))
    found = []
    for received, shown in zip(work, deliver(answers, partitions), strict=True):
        pairs = bucket.compare(received, shown, banding=banding)
        found += verification.pairs_by_place(pairs, partitions=partitions)
    return [verification.each_once(received) for received in deliver(found, partitions)]


def test_a_hot_bucket_is_cut_into_work_for_every_partition():
    count, partitions = 50_000, 8
    keys = np.zeros((count, 1), np.uint32)
    rows, everyone = np.arange(count, dtype=np.uint32), np.ones(count, bool)
    nobody = np.empty(0, np.int64)
    messages = bucket.keys_by_bucket(0, rows, keys, everyone, nobody, partitions=partitions)
    [received] = [r for r in deliver(messages, partitions) if sum(len(k.rows) for k in r)]
    shared = bucket.shared(received, border=None)
    assert bucket.count_crowd(shared, hubs=0) == (count * (count - 1) // 2, count)
    sent = deliver(bucket.crowded(0, shared, partitions=partitions, hubs=0), partitions)
    compared = [sum(_compared(part) for part in r if isinstance(part, Work)) for r in sent]
    assert sum(compared) == count * (count - 1) // 2
    assert max(compared) < 1.2 * min(compared)


def _compared(work):
    rest = len(work.documents) - work.hubs
    return work.hubs * rest + work.hubs * (work.hubs - 1) // 2 - work.again


def stars(edges, partitions):
    """Rounds until nothing changes, and how many there were."""
    parts = [component.contracted(part) for part in edges]
    rounds = 0
    while True:
        before = sorted(zip(*map(list, component.united(parts)), strict=True))
        for both_ways, star in ((True, component.large_star), (False, component.small_star)):
            messages = []
            for part in parts:
                messages += component.edges_by_document(
                    part, partitions=partitions, both_ways=both_ways
                )
            parts = [star(component.united(r)) for r in deliver(messages, partitions)]
        rounds += 1
        if sorted(zip(*map(list, component.united(parts)), strict=True)) == before:
            return dict(before), rounds


@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)).filter(lambda e: e[0] != e[1])),
    st.integers(1, 4),
)
def test_stars_grow_into_the_components_of_the_textbook(pairs, partitions):
    edges = [Edges(*_columns(pairs[i::partitions])) for i in range(partitions)]
    labels, _ = stars(edges, partitions)
    expected = {}
    for group in textbook.components(pairs):
        expected |= {member: min(group) for member in group if member != min(group)}
    assert labels == expected


def _columns(pairs):
    ordered = [(max(pair), min(pair)) for pair in pairs]
    return np.array(ordered, np.int64).reshape(-1, 2).T.copy()


def test_rounds_grow_with_the_logarithm_of_a_chain():
    for size in (100, 1_000, 10_000):
        order = np.random.default_rng(1).permutation(size)
        pairs = list(zip(order[:-1].tolist(), order[1:].tolist(), strict=True))
        edges = [Edges(*_columns(pairs[i::4])) for i in range(4)]
        labels, rounds = stars(edges, 4)
        assert set(labels.values()) == {0}
        assert len(labels) == size - 1
        assert rounds <= math.log2(size) + 2


TEXTS = st.lists(st.text("abc ", max_size=12), max_size=25)


@pytest.mark.parametrize("border", BORDERS.values(), ids=list(BORDERS))
@given(TEXTS, st.integers(1, 3), st.integers(1, 4), st.sampled_from([0.3, 0.6, 1.0]))
def test_groups_join_to_the_pairs_of_the_textbook(border, texts, blocks, groups, threshold):
    texts = list(dict.fromkeys(text for text in texts if text.strip()))
    everyone = documents(blocks, len(texts))
    measure = Jaccard.of(Settings.of(k=2, raw=True))
    sides = known_sides(everyone, border)
    messages = []
    for block in range(blocks):
        mine = np.flatnonzero(blocks_of(everyone) == block)
        here = OneBlock([texts[i] for i in mine])
        cut = {"groups": groups, "partitions": blocks}
        chosen = Sided(everyone, sides)
        messages += join.texts_by_group(block, here, chosen, skipped=Skipped(), **cut)
    ratio = Fraction(str(threshold))
    found = {}
    for here, received in enumerate(deliver(messages, blocks)):
        how = {"measure": measure, "threshold": ratio}
        near = join.join_here(here, received, partitions=blocks, groups=groups, **how).near
        for a, b, similarity in zip(*map(list, near), strict=True):
            assert (a, b) not in found
            found[a, b] = similarity
    pairs = textbook.similar_pairs(texts, threshold, "char", 2)
    if sides is not None:
        pairs = {(i, j): s for (i, j), s in pairs.items() if may_meet(sides[i], sides[j])}
    assert found == {(everyone[i], everyone[j]): float(s) for (i, j), s in pairs.items()}


class OneBlock:
    """A block of these texts; an empty one is no document."""

    def __init__(self, texts):
        self.texts = texts

    def documents(self, skipped, _also=None):
        for row, text in enumerate(self.texts):
            if text is None:
                skipped.add(f"row {row}", "null text")
                continue
            ids, column = pa.array([f"id {row}"]), pa.array([text], pa.large_string())
            columns = [pa.array([row], pa.int64()), ids, column]
            yield pa.record_batch(columns, names=["row", "id", "text"])


def plan(**options):
    return Plan(
        measure=Jaccard.of(Settings.of(k=3)),
        banding=Banding(4, 2, 4),
        keep=None,
        id_type=pa.string(),
        rule_type=None,
        check_ids=True,
        skipped=Skipped(),
        **options,
    )


@pytest.mark.parametrize("is_exact", [False, True])
def test_a_signed_block_is_recalled_as_it_was(tmp_path, is_exact):
    folder = Folder(str(tmp_path), "run")
    block = OneBlock(["one", None, "", "two"])
    signed = sign_block(3, block, plan=plan(is_exact=is_exact, kept_in=None))
    assert folder.load("signed", 3) is None
    folder.save("signed", 3, rows_of_block(signed))
    loaded = block_of_rows(folder.load("signed", 3), Skipped())
    again = sign_block(3, None, plan=plan(is_exact=is_exact, kept_in=folder))
    for name, value in signed._asdict().items():
        for there in (getattr(loaded, name), getattr(again, name)):
            if isinstance(value, np.ndarray):
                assert np.array_equal(there, value), name
                assert there.dtype == value.dtype
            elif name == "skipped":
                assert (there.to_list(), len(there)) == (value.to_list(), 1)
            else:
                assert there == value, name


def test_what_is_half_written_is_not_there(tmp_path):
    folder = Folder(str(tmp_path), "run")
    with (
        patch.object(folders.ipc, "new_file", side_effect=OSError("disk full")),
        pytest.raises(Exception, match=r"disk full.*every machine"),
    ):
        folder.save("near", 0, pa.record_batch({"first": [1]}))
    assert folder.load("near", 0) is None
    assert folder.finished("near") is None


def test_every_flipped_byte_of_a_kept_table_is_noticed(tmp_path):
    folder = Folder(str(tmp_path), "run")
    folder.save("near", 0, pa.record_batch({"first": [1, 2, 3]}))
    folder.finish("near", {"verified": 3})
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert len(files) == 2
    for file in files:
        good = file.read_bytes()
        for place in range(len(good)):
            broken = bytearray(good)
            broken[place] ^= 1 << place % 8
            file.write_bytes(broken)
            with pytest.raises(SinkError, match=r"damaged|not written by this version"):
                folder.load("near", 0) if file.suffix else folder.finished("near")
        file.write_bytes(good[: len(good) // 2])
        with pytest.raises(SinkError):
            folder.load("near", 0) if file.suffix else folder.finished("near")
        file.write_bytes(good)
    assert folder.load("near", 0).num_rows == 3


def test_a_block_is_read_for_those_who_asked_and_for_nobody_else():
    block = OneBlock(["zero", None, "two", "three"])
    rows = [np.array([0, 3], np.uint32), np.array([3], np.uint32)]
    answers = dict(read_texts(5, block, [Ask(1, rows[0]), Ask(2, rows[1])], skipped=Skipped()))
    for asker, wanted in zip((1, 2), rows, strict=True):
        found, texts = verification.joined_texts([answers[asker]])
        assert found.tolist() == numbered(5, wanted).tolist()
        assert texts.to_pylist() == [block.texts[row] for row in wanted]
    assert list(read_texts(5, None, [], skipped=Skipped())) == []


def test_one_crowd_of_neighbours_is_verified_in_many_places():
    first, second = np.triu_indices(3_000, 1)
    found = Candidates(first.astype(np.int64), second.astype(np.int64), 1)
    sizes = {
        target: len(part.first) for target, part in verification.pairs_by_place(found, partitions=4)
    }
    assert len(sizes) > 1


def test_components_of_one_task_are_those_of_the_kernel():
    source = np.random.default_rng(3)
    a, b = source.integers(0, 500, (2, 300)).astype(np.uint32)
    labels = _kernels.components(a, b, 500)
    edges = component.contracted(Edges(a.astype(np.int64) << 32, b.astype(np.int64) << 32))
    there = dict(zip((edges.documents >> 32).tolist(), (edges.others >> 32).tolist(), strict=True))
    assert there == {i: int(label) for i, label in enumerate(labels) if label != i}
