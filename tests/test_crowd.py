"""Text that many documents have in common: buckets are counted before anything is compared."""

import itertools
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from corpora import clustered, loaded, templated
from hypothesis import given
from hypothesis import strategies as st

import nearly
from nearly import _kernels
from nearly.cli.find import find
from nearly.documents.side import by_side, may_meet
from nearly.engines.local.near_pair import met_candidates
from nearly.measures.cosine import OF_COSINES as BITS_OF_VECTORS
from nearly.measures.cosine import Cosine
from nearly.measures.jaccard import Jaccard
from nearly.measures.number import different
from nearly.measures.pair import split_pairs
from nearly.settings import Settings
from nearly.stages.candidate import candidates, crowd
from nearly.stages.verification import cut, verify_block
from nearly.tuning.banding import Banding
from nearly.tuning.method import (
    MOST_REHEARSED,
    TRIED,
    Choice,
    Rehearsal,
    count_rehearsed,
    is_crowded,
    reconsider,
    settle,
)

EVERYTHING = Banding(12, 2, agreement=0)
#: Of so little text, a method is chosen as of much.
SMALL = {"char": 2**12, "word": 2**12}
FEW = 2_500


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return templated(FEW)


@pytest.fixture
def _as_if_large():
    by_size_alone = patch("nearly.measures.jaccard.MOST_TO_TRY", 0)
    with patch("nearly.measures.jaccard.MOST_TO_JOIN", SMALL), by_size_alone:
        yield


as_if_large = pytest.mark.usefixtures("_as_if_large")


@given(
    st.lists(st.lists(st.integers(0, 4), min_size=12, max_size=12), min_size=1, max_size=5),
    st.sampled_from([0, 1, 3]),
    st.integers(0, 40),
    st.integers(0, 2**32 - 1),
)
def test_one_document_after_the_other_meets_whom_bands_bring_together(
    bands: list[list[int]], hubs: int, most_different: int, seed: int
) -> None:
    """The same candidates as band by band, each once and in order; documents have gaps."""
    documents = np.arange(1, 24, 2, dtype=np.uint32)
    sketches = np.random.default_rng(seed).integers(0, 2**64, (24, 1), np.uint64)
    agreement = 64 * len(bands) - most_different
    banding = Banding(len(bands), 64, agreement, hashing=BITS_OF_VECTORS)
    columns = [np.array(keys, np.uint32) for keys in bands]
    expected, meetings = set(), 0
    for keys in columns:
        pairs, met = candidates(keys, documents, sketches, banding, hubs=hubs)
        expected |= set(pairs.tolist())
        meetings += met
    together = _kernels.Meetings(len(documents), len(bands))
    for band, keys in enumerate(columns):
        followers, largest = together.add(band, keys, hubs)
        expected_followers, expected_largest = crowd(keys, hubs=hubs)
        assert followers.tolist() == expected_followers.tolist()
        assert largest == expected_largest
    parts = [
        together.candidates(documents, sketches, 1, most_different, low, high)
        for low, high in ((0, 5), (5, 5), (5, 12))
    ]
    assert np.concatenate([pairs for pairs, _ in parts]).tolist() == sorted(expected)
    assert sum(met for _, met in parts) == meetings


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("hubs", [False, True])
def test_a_crowd_finds_what_a_few_would(threads: int, hubs: bool) -> None:
    draw = np.random.default_rng(4)
    groups = np.repeat(draw.standard_normal((12, 16)), 40, axis=0)
    vectors = groups + 0.1 * draw.standard_normal(groups.shape)
    how = {"measure": "cosine", "threshold": 0.97, "bands": 20, "rows": 8, "threads": threads}

    def found() -> list[dict[str, Any]]:
        if hubs:
            return nearly.dedup(vectors, **how).removed.to_pylist()
        return nearly.find(vectors, method="lsh", **how).pairs.to_pylist()

    usual = found()
    with (
        patch("nearly.engines.local.near_pair.usual_meetings", lambda *_: 0),
        patch("nearly.engines.local.near_pair.MOST_MEETINGS", 512),
        patch("nearly.engines.local.near_pair.MEETINGS_PER_DOCUMENT", 0),
        patch("nearly.engines.local.meeting._kernels", wraps=_kernels) as kernels,
    ):
        assert found() == usual
    assert kernels.Meetings.called
    assert len(usual) > 100


@given(st.lists(st.integers(0, 6), max_size=60), st.sampled_from([0, 1, 3]))
def test_a_crowd_is_what_will_be_compared(keys: list[int], hubs: int) -> None:
    """Against buckets as lists, and against what candidates count when they do compare."""
    buckets: dict[int, list[int]] = {}
    for place, key in enumerate(keys):
        buckets.setdefault(key, []).append(place)
    expected = Counter(
        {
            place: len(bucket) - i - 1
            for bucket in buckets.values()
            for i, place in enumerate(bucket[: hubs or len(bucket)])
        }
    )
    column = np.array(keys, np.uint32)
    followers, largest = crowd(column, hubs=hubs)
    assert followers.tolist() == [expected[place] for place in range(len(keys))]
    sizes = [len(bucket) for bucket in buckets.values() if len(bucket) > 1]
    assert largest == max(sizes, default=0)
    everyone = np.arange(len(keys), dtype=np.uint32)
    sketches = np.zeros((len(keys), 1), np.uint64)
    _, met = candidates(column, everyone, sketches, EVERYTHING, hubs=hubs)
    assert followers.sum() == met


@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 2)), max_size=60),
    st.sampled_from([0, 1, 3]),
    st.tuples(st.integers(0, 60), st.integers(0, 60)),
)
def test_documents_of_one_side_only_never_meet(
    given: list[tuple[int, int]], hubs: int, span: tuple[int, int]
) -> None:
    """Against pairs of a bucket one by one; with hubs there are no documents of the new side."""
    keys = np.array([key for key, _ in given], np.uint32)
    sides = np.array([min(side, 1) if hubs else side for _, side in given], np.uint8)
    numbers = np.random.default_rng(len(given)).permutation(len(given)).astype(np.uint32)
    order, cuts = by_side(sides)
    keys, sides, numbers = keys[order], sides[order], numbers[order]
    expected: Counter[int] = Counter()
    pairs = set()
    for a, b in itertools.combinations(range(len(keys)), 2):
        if keys[a] != keys[b] or not may_meet(sides[a : a + 1], sides[b : b + 1])[0]:
            continue
        first_of_side = [
            np.flatnonzero((keys == keys[i]) & (sides == sides[i])).tolist().index(i) < hubs
            for i in (a, b)
        ]
        if not hubs or any(first_of_side):
            expected[a] += 1
            if span[0] <= numbers[a] < span[1]:
                pairs.add(tuple(sorted((int(numbers[a]), int(numbers[b])))))
    followers, _ = crowd(keys, hubs=hubs, cuts=cuts)
    assert followers.tolist() == [expected[place] for place in range(len(keys))]
    sketches = np.zeros((len(keys), 1), np.uint64)
    found, met = candidates(keys, numbers, sketches, EVERYTHING, hubs=hubs, firsts=span, cuts=cuts)
    ends = (half.tolist() for half in split_pairs(found))
    assert sorted(zip(*ends, strict=True)) == sorted(pairs)
    assert met == len(pairs)


@pytest.mark.parametrize("hubs", [0, 4])
@pytest.mark.parametrize("memory", [None, 1])
def test_candidates_of_some_documents_after_the_others_are_those_of_all(
    hubs: int, memory: int | None
) -> None:
    with loaded(clustered(), EVERYTHING) as (corpus, engine):
        if memory:
            corpus.sketches.spill()
        every, meetings = met_candidates(engine.shop, corpus, EVERYTHING, hubs=hubs)
        cuts = [0, 7, 8, len(corpus) // 2, 2**32]
        parts = [
            met_candidates(engine.shop, corpus, EVERYTHING, hubs=hubs, firsts=firsts)
            for firsts in itertools.pairwise(cuts)
        ]
    assert sum(len(pairs) > 0 for pairs, _ in parts) > 2
    assert np.concatenate([pairs for pairs, _ in parts]).tolist() == every.tolist()
    assert sum(met for _, met in parts) == meetings


def test_work_in_pieces_gives_the_same_pairs(table: pa.Table) -> None:
    options = {"method": "lsh", "k": 5, "threads": 2}
    at_once = nearly.find(table, **options)
    small = {"MOST_MEETINGS": 5_000, "MEETINGS_PER_DOCUMENT": 1}
    with patch.multiple("nearly.engines.local.near_pair", **small):
        in_pieces = nearly.find(table, **options)
    assert in_pieces.pairs.equals(at_once.pairs)
    assert in_pieces.pairs.num_rows > 0
    for name in ("meetings", "verified", "largest_bucket"):
        assert getattr(in_pieces.statistics, name) == getattr(at_once.statistics, name)


def test_crowded_pairs_are_verified_without_reading_again_and_again(table: pa.Table) -> None:
    """All pairs of a crowd: each text is read a few times, not once for each partner."""
    texts = table["text"].combine_chunks().cast(pa.large_string())[:200]
    first, second = np.triu_indices(len(texts), 1)
    first, second = first.astype(np.uint32), second.astype(np.uint32)
    lengths = np.array([len(text) for text in texts.to_pylist()], np.int64)
    measure = Jaccard.of(Settings.of(k=5))
    nearness, read = np.empty(len(first)), 0
    with patch("nearly.stages.verification.BLOCK_BYTES", 20 * int(lengths.mean())):
        for block in cut(first, second, lengths):
            read += len(different(first[block], second[block])[0])
            nearness[block] = verify_block(
                measure, lambda some: texts.take(pa.array(some)), first[block], second[block], None
            )
    assert read < 40 * len(texts), "of 199 partners each"
    expected = measure.compare(texts, first, second, None)
    assert nearness.tolist() == expected.tolist()


# What is decided


@as_if_large
@pytest.mark.parametrize("unit", ["char", "word"])
def test_auto_joins_what_hashing_would_compare_in_vain(table: pa.Table, unit: str) -> None:
    found = nearly.find(table, unit=unit)
    exact = nearly.find(table, unit=unit, method="exact")
    hashed = nearly.find(table, unit=unit, method="lsh").statistics
    statistics = found.statistics
    assert hashed.meetings > 100 * FEW, "the corpus is not crowded"
    assert statistics.method == "exact"
    assert statistics.why == f"hashing would compare {hashed.meetings:,} pairs"
    assert statistics.bands is None
    assert statistics.largest_bucket == hashed.largest_bucket > FEW // 10
    assert statistics.verified < 10 * FEW
    assert found.pairs.equals(exact.pairs)
    assert 0 < exact.pairs.num_rows < FEW


@as_if_large
def test_what_was_asked_for_is_done(table: pa.Table) -> None:
    for options in ({"method": "lsh"}, {"bands": 26, "rows": 8}):
        assert nearly.find(table, **options).statistics.method == "lsh"


@as_if_large
def test_a_deduplication_compares_with_hubs(table: pa.Table) -> None:
    statistics = nearly.dedup(table, method="lsh").statistics
    assert statistics.meetings < 26 * 32 * FEW
    assert statistics.largest_bucket > 32


@as_if_large
def test_a_deduplication_joins_what_hubs_would_verify_in_vain(table: pa.Table) -> None:
    hashed = nearly.dedup(table, method="lsh").statistics
    assert hashed.verified > 20 * FEW, "hubs are not crowded"
    cleaned = nearly.dedup(table)
    statistics = cleaned.statistics
    assert statistics.method == "exact"
    assert statistics.why == f"hashing would compare {hashed.meetings:,} pairs"
    assert statistics.verified < 10 * FEW
    assert cleaned.removed.equals(nearly.dedup(table, method="exact").removed)


@as_if_large
def test_a_deduplication_of_one_large_cluster_stays_with_hubs() -> None:
    words = [f"w{i}" for i in range(60)]
    alike = [" ".join([*words, f"own{i}"]) for i in range(FEW)]
    statistics = nearly.dedup(alike).statistics
    assert statistics.removed == FEW - 1
    assert statistics.meetings > 32 * FEW, "nothing called hashing into question"
    assert statistics.method == "lsh", "a join lists every pair of a cluster"


@as_if_large
def test_strangers_are_hashed_as_ever() -> None:
    statistics = nearly.find(clustered(lonely=500)).statistics
    assert statistics.method == "lsh"
    assert statistics.why.startswith("hashing is cheaper")


def test_only_a_method_chosen_by_size_is_called_into_question() -> None:
    by_size, asked = Choice("lsh", "hashing is cheaper"), Choice("lsh", "as asked")
    assert is_crowded(by_size, Settings.of(), 1_000, 300_000, hubs=0)
    assert not is_crowded(by_size, Settings.of(), 1_000, 200_000, hubs=0)
    assert is_crowded(by_size, Settings.of(), 1_000, 40_000, hubs=32)
    assert not is_crowded(by_size, Settings.of(), 1_000, 30_000, hubs=32)
    assert not is_crowded(asked, Settings.of(method="lsh"), 1_000, 300_000, hubs=0)
    assert not is_crowded(asked, Settings.of(bands=4, rows=2), 1_000, 300_000, hubs=0)


@given(st.integers(2, 10**8), st.integers(1, 10**12))
def test_a_rehearsal_is_small(documents: int, text: int) -> None:
    count = count_rehearsed(documents, text)
    assert 2 <= count <= min(documents, MOST_REHEARSED)
    assert count == 2 or count * text / documents <= 2**24


def rehearsed(*, size: int = 20_000, candidates: int = 0, joined: int = 0) -> Rehearsal:
    """A thousand documents of 200 bytes."""
    return Rehearsal(
        documents=1_000,
        hashed=1_000,
        text=200_000,
        size=size,
        met=candidates,
        candidates=candidates,
        joined=joined,
        join_verified=0,
    )


def test_a_join_may_cost_hardly_more_than_hashing() -> None:
    """Not where shingles are many, nor where all meet all; hashing pays for its candidates."""
    tentative = Choice("exact", TRIED, is_tentative=True)

    def decided(seen: Rehearsal) -> Choice:
        return settle(tentative, 100_000, seen)

    assert decided(rehearsed()) == Choice("exact", TRIED)
    assert decided(rehearsed(size=200_000)).method == "lsh"
    assert decided(rehearsed(size=200_000, candidates=2_000)).method == "exact"
    assert decided(rehearsed(joined=100_000)).method == "lsh"
    assert decided(replace(rehearsed(), documents=1)).method == "exact", "nothing to compare"


def test_auto_joins_by_words_where_that_is_free() -> None:
    strangers = clustered(lonely=700)
    words = [f"w{i}" for i in range(40)]
    alike = [" ".join(random.Random(i).choices(words, k=20)) for i in range(700)]
    alike += [f"{text} another" for text in alike[:50]]
    with patch("nearly.measures.jaccard.MOST_TO_JOIN", SMALL):
        free = nearly.find(strangers, unit="word", k=3, threshold=0.5)
        crowded = nearly.find(alike, unit="word", k=1, threshold=0.8)
        by_characters = nearly.find(strangers)
        cleaned = nearly.dedup(strangers, unit="word", k=3)
        advised = nearly.tune(strangers, unit="word", k=3)
    assert (free.statistics.method, free.statistics.why) == ("exact", TRIED)
    exact = nearly.find(strangers, unit="word", k=3, threshold=0.5, method="exact")
    assert free.pairs.equals(exact.pairs)
    assert free.pairs.num_rows > 10
    assert crowded.statistics.method == "lsh"
    assert crowded.statistics.why == "a sample says that hashing is cheaper"
    hashed = nearly.find(alike, unit="word", k=1, threshold=0.8, method="lsh")
    assert crowded.pairs.equals(hashed.pairs)
    assert crowded.pairs.num_rows > 10
    assert by_characters.statistics.method == cleaned.statistics.method == "lsh"
    assert (advised.statistics["method"], advised.statistics["why"]) == ("exact", TRIED)


def test_the_join_must_cost_less() -> None:
    """Where the join looks at as many pairs as hashing, hashing stays."""
    chosen = Choice("lsh", "hashing is cheaper")

    def decided(joined: int) -> str:
        seen = rehearsed(joined=joined)
        return reconsider(chosen, 100_000, 10**7, 10**9, seen, hubs=0).method

    assert decided(joined=100) == "exact"
    assert decided(joined=100_000) == "lsh"


def test_a_join_of_vectors_costs_less_for_each_pair() -> None:
    """All pairs of 100,000 vectors are joined where they meet often, and hashed where not."""
    chosen = Choice("lsh", "hashing is cheaper")
    usual = rehearsed(joined=499_500)
    vectors = replace(usual, costs=Cosine.costs)

    def decided(meetings: int, seen: Rehearsal) -> str:
        return reconsider(chosen, 100_000, 10**8, meetings, seen, hubs=0).method

    assert decided(150_000_000, vectors) == "exact"
    assert decided(150_000_000, usual) == "lsh"
    assert decided(50_000_000, vectors) == "lsh"


# What is said


@as_if_large
@pytest.mark.parametrize("method", ["auto", "lsh"])
def test_a_giant_bucket_is_announced(table: pa.Table, tmp_path: Path, method: str) -> None:
    pq.write_table(table, tmp_path / "forms.parquet")
    asked = [str(tmp_path / "forms.parquet"), "--method", method]
    said = CliRunner().invoke(find, asked, standalone_mode=False).stderr
    [line] = [line for line in said.splitlines() if "bucket holds" in line]
    assert line.startswith("one bucket holds ")
    assert line.endswith("%): template text? See --common")


def test_an_ordinary_bucket_is_not(tmp_path: Path) -> None:
    (tmp_path / "texts.csv").write_text("text\n" + "\n".join(clustered(lonely=500)))
    asked = [str(tmp_path / "texts.csv"), "--method", "lsh"]
    said = CliRunner().invoke(find, asked, standalone_mode=False)
    assert "rows find" in said.stderr
    assert "bucket holds" not in said.stderr
