"""Sketches on disk are read when it is known who met in any band, and not for each band."""

from unittest.mock import patch

import numpy as np
import pytest
from corpora import clustered, loaded
from hypothesis import given, settings
from hypothesis import strategies as st

from nearly import _kernels
from nearly.documents.spool import RowStore
from nearly.tuning.banding import Banding

BANDING = Banding(12, 2, agreement=20)


@pytest.mark.parametrize("hubs", [0, 4])
@pytest.mark.parametrize("bytes_of_pair", [32, 2**40])
def test_the_same_pairs_are_found_and_sketches_read_once(hubs: int, bytes_of_pair: int) -> None:
    with loaded(clustered(), BANDING) as (corpus, engine):
        held = engine.near_pairs(corpus, BANDING, hubs=hubs)
    reads = patch.object(RowStore, "_read", autospec=True, side_effect=RowStore._read)
    room = patch("nearly.engines.local.near_pair.BYTES_OF_PAIR_LOOKED_UP", bytes_of_pair)
    with loaded(clustered(), BANDING) as (corpus, engine), reads as read, room:
        corpus.sketches.spill()
        spilled = engine.near_pairs(corpus, BANDING, hubs=hubs)
    for column in ("first", "second", "nearness"):
        assert np.array_equal(getattr(spilled.pairs, column), getattr(held.pairs, column))
    for count in ("meetings", "verified", "largest_bucket"):
        assert getattr(spilled, count) == getattr(held, count)
    assert 50 < len(held) < held.verified < held.meetings, "or nothing is ruled out"
    assert read.call_count == 1 if bytes_of_pair == 32 else read.call_count > 100


@settings(max_examples=100)
@given(st.integers(0, 2**32), st.sampled_from([1, 2]), st.integers(0, 64))
def test_pairs_agree_where_few_positions_differ(seed: int, bits: int, most: int) -> None:
    draw = np.random.default_rng(seed)
    sketches = draw.integers(0, 2**64, (9, 3), np.uint64)
    sketches[1:5] = sketches[0] ^ (np.uint64(1) << draw.integers(0, 64, (4, 3), np.uint64))
    first, second = (draw.integers(0, len(sketches), 30).astype(np.uint32) for _ in range(2))
    pairs = np.arange(30, dtype=np.uint64)
    expected = [
        int(pair)
        for pair, a, b in zip(pairs, first, second, strict=True)
        if different_positions(sketches[a], sketches[b], bits) <= most
    ]
    assert _kernels.agreeing(pairs, first, second, sketches, bits, most).tolist() == expected


def different_positions(a: np.ndarray, b: np.ndarray, bits: int) -> int:
    """Position by position, as binary digits."""
    digits = ["".join(f"{int(word):064b}" for word in side) for side in (a, b)]
    places = range(0, len(digits[0]), bits)
    return sum(digits[0][i : i + bits] != digits[1][i : i + bits] for i in places)
