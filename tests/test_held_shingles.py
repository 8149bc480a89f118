"""Shingles that are made while documents are read, and kept until these are joined or signed."""

import itertools
import random
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nearly
from nearly import _kernels
from nearly.arrays import spans
from nearly.measures.held_shingles import HeldShingles
from nearly.measures.jaccard import Jaccard
from nearly.measures.work import ONE_THREAD
from nearly.settings import Settings, TextSettings
from nearly.textbook import signature as specification
from nearly.tuning.banding import explicit

NASTY = st.text(
    st.sampled_from("ab \u00a0\u0301\u3000é日😀") | st.characters(codec="utf-8"), max_size=60
)
LONG = " ".join(str(i % 70_000) for i in range(100_000))
UNITS = st.sampled_from(["char", "word"])


def texts_of(texts: list[str]) -> pa.LargeStringArray:
    return pa.array(texts, pa.large_string())


def measure_of(unit: str, k: int) -> Jaccard:
    return Jaccard.of(Settings(text=TextSettings(unit=unit, k=k, raw=True), seed=7))


@given(st.lists(NASTY, max_size=5), UNITS, st.integers(1, 8))
def test_shingles_are_weighed_as_without_them(texts: list[str], unit: str, k: int) -> None:
    sizes, contents, offsets, hashes = _kernels.weigh_with_shingles(
        *spans(texts_of(texts)), unit, k, 7
    )
    measured = _kernels.measure(*spans(texts_of(texts)), unit, k, 7)
    assert (sizes.tolist(), contents.tolist()) == (measured[0].tolist(), measured[1].tolist())
    for text, start, end in zip(texts, offsets, offsets[1:], strict=False):
        expected = specification.shingle_hashes(text, unit, k, 7)
        assert hashes[start:end].tolist() == expected


@given(st.lists(NASTY, max_size=5), UNITS, st.integers(1, 8))
def test_they_are_signed_as_texts_are(texts: list[str], unit: str, k: int) -> None:
    measure, banding = measure_of(unit, k), explicit(3, 2, 0.8, 0.9, measure_of(unit, k).hashing)
    weighed = measure.weigh_with_shingles(texts_of(texts))
    assert weighed.shingles is not None
    keys, sketches = measure.sign_shingles(weighed.shingles, banding)
    signed = measure.sign(texts_of(texts), banding)
    assert (keys == signed.keys).all()
    assert (sketches == signed.sketches).all()


@given(st.lists(st.lists(NASTY, max_size=4), max_size=4), UNITS, st.integers(1, 3), st.randoms())
def test_they_become_the_sets_of_some_documents(
    pieces: list[list[str]], unit: str, k: int, chance: random.Random
) -> None:
    measure, held = measure_of(unit, k), HeldShingles()
    for piece in pieces:
        weighed = measure.weigh_with_shingles(texts_of(piece))
        assert weighed.shingles is not None
        held.append(weighed.shingles)
    every = [text for piece in pieces for text in piece]
    assert len(held) == len(every)
    some = [i for i in range(len(every)) if chance.random() < 0.7]
    made = held.sets(np.array(some, np.uint32), ONE_THREAD)
    expected = measure.sets(texts_of([every[i] for i in some]))
    assert [part.tolist() for part in made] == [part.tolist() for part in expected]
    assert len(held) == 0, "they are taken"


@pytest.mark.parametrize("unit", ["char", "word"])
def test_those_of_long_texts_too(unit: str) -> None:
    measure, texts = measure_of(unit, 3), texts_of(["a b c", LONG, "", LONG])
    banding = explicit(4, 3, 0.8, 0.9, measure.hashing)
    weighed = measure.weigh_with_shingles(texts)
    assert weighed.shingles is not None
    keys, sketches = measure.sign_shingles(weighed.shingles, banding)
    signed = measure.sign(texts, banding)
    assert weighed.sizes.tolist() == signed.sizes.tolist()
    assert keys.tolist() == signed.keys.tolist()
    assert sketches.tolist() == signed.sketches.tolist()
    held = HeldShingles()
    held.append(weighed.shingles)
    offsets, hashes = held.sets(np.arange(4, dtype=np.uint32), ONE_THREAD)
    ends, expected = measure.sets(texts, in_order=True)
    assert offsets.tolist() == ends.tolist()
    for start, end in itertools.pairwise(offsets):
        assert sorted(hashes[start:end].tolist()) == expected[start:end].tolist()


def test_documents_must_ascend() -> None:
    offsets, hashes = np.array([0, 1, 2]), np.zeros(2, np.uint64)
    for chosen in ([1, 0], [0, 0], [2]):
        with pytest.raises(ValueError, match=r"ascend|reaches past"):
            _kernels.keep_once(offsets, hashes, np.array(chosen, np.uint32))


@pytest.mark.parametrize("most", [2_000, 2**26])
@pytest.mark.parametrize("memory", [None, 2**31])
def test_answers_are_the_same_wherever_shingles_are_made(most: int, memory: int | None) -> None:
    """Text beyond what is tried is signed, that before it by the shingles that were made."""
    chance = random.Random(1)
    words = [f"w{i}" for i in range(400)]
    alike = [" ".join(chance.choices(words, k=30)) for _ in range(600)]
    alike += [f"{text} more" for text in alike[:200]] + alike[:50]
    with (
        patch("nearly.measures.jaccard.MOST_TO_JOIN", {"char": 1_000, "word": 1_000}),
        patch("nearly.measures.jaccard.MOST_TO_TRY", most),
        patch("nearly.sources.part.BATCH_ROWS", 100),
    ):
        found = nearly.find(alike, unit="word", k=2, threshold=0.7, memory=memory)
    assert found.statistics.method == ("lsh" if most < 2**26 else "exact")
    asked = nearly.find(alike, unit="word", k=2, threshold=0.7, method=found.statistics.method)
    assert found.pairs.equals(asked.pairs)
    assert found.clusters.equals(asked.clusters)
    assert found.pairs.num_rows > 150
