"""Signing kernels: bit for bit as specified, and as good an estimate as theory says."""

import itertools
import math
import random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearly import _kernels
from nearly.arrays import spans
from nearly.textbook import signature as specification

SCHEMES = {
    "one-permutation": specification.one_permutation_signature,
    "independent": specification.independent_signature,
}
NASTY = (
    st.text(max_size=40)
    | st.text("ab ", max_size=60)
    | st.text("a\u3000é日\U0001f600 \x85", max_size=30)
)
SEEDS = st.integers(0, 2**64 - 1)


def arrow(texts):
    return spans(pa.array(texts, pa.large_string()))


def kernel_signatures(texts, unit, k, seed, scheme, positions):
    return _kernels.signatures(*arrow(texts), unit, k, seed, scheme, positions)


@pytest.mark.parametrize("scheme", SCHEMES)
@given(
    texts=st.lists(NASTY, max_size=5),
    unit=st.sampled_from(["char", "word"]),
    k=st.integers(1, 20),
    seed=SEEDS,
    positions=st.integers(1, 70),
)
def test_signatures_are_as_specified(scheme, texts, unit, k, seed, positions):
    signed = kernel_signatures(texts, unit, k, seed, scheme, positions)
    for text, signature in zip(texts, signed, strict=True):
        hashes = specification.shingle_hashes(text, unit, k, seed)
        expected = SCHEMES[scheme](hashes, positions, seed) if hashes else [0] * positions
        assert signature.tolist() == expected


@given(
    alphabet=st.sampled_from(
        ["abcdefgh ", "aé ", "a\u0431日", "日本語", "a\U0001f600é", "\U0001f600\U0001f601"]
    ),
    length=st.integers(60, 700),
    k=st.integers(1, 9),
    positions=st.sampled_from([16, 60, 208]),
    seed=SEEDS,
)
def test_characters_of_any_width_are_signed_many_at_a_time(alphabet, length, k, positions, seed):
    """Windows of few and of many bytes, at the end of all texts too, and a few or many groups that
    are open after a round."""
    draw = random.Random(seed)
    text = "".join(draw.choices(alphabet, k=length))
    signed = kernel_signatures(["é", text], "char", k, seed, "one-permutation", positions)
    hashes = specification.shingle_hashes(text, "char", k, seed)
    expected = specification.one_permutation_signature(hashes, positions, seed)
    assert signed[1].tolist() == expected


@pytest.mark.parametrize("different", [300, 900, 20_000])
def test_hashes_are_prepared_some_at_a_time(different):
    """Few different shingles leave groups open, for which all are looked at again."""
    draw = random.Random(different)
    words = [f"{draw.randrange(10**9)}" for _ in range(different)]
    text = " ".join(draw.choices(words, k=20_000))
    signed = kernel_signatures([text], "word", 1, 1, "one-permutation", 208)
    hashes = specification.shingle_hashes(" ".join(set(text.split())), "word", 1, 1)
    assert signed[0].tolist() == specification.one_permutation_signature(hashes, 208, 1)


@given(
    texts=st.lists(NASTY, min_size=1, max_size=4),
    unit=st.sampled_from(["char", "word"]),
    k=st.integers(1, 12),
    bands=st.integers(1, 9),
    rows=st.integers(1, 9),
)
def test_what_is_kept_of_a_signature_is_as_specified(texts, unit, k, bands, rows):
    sizes, contents, keys, sketches = _kernels.sign(
        *arrow(texts), unit, k, 7, "one-permutation", bands, rows
    )
    whole = kernel_signatures(texts, unit, k, 7, "one-permutation", bands * rows).tolist()
    for i, text in enumerate(texts):
        assert sizes[i] == len(specification.shingle_hashes(text, unit, k, 7))
        parts = [whole[i][b * rows : (b + 1) * rows] for b in range(bands)]
        assert keys[i].tolist() == [specification.band_key(part) for part in parts]
        assert sketches[i].tolist() == specification.sketch(whole[i])
    same = [[a == b for b in texts] for a in texts]
    assert [[(x == y).all() for y in contents] for x in contents] == same


@given(
    texts=st.lists(NASTY, min_size=1, max_size=4),
    unit=st.sampled_from(["char", "word"]),
    k=st.integers(1, 12),
)
def test_measuring_gives_what_signing_gives(texts, unit, k):
    sizes, contents = _kernels.measure(*arrow(texts), unit, k, 7)
    signed = _kernels.sign(*arrow(texts), unit, k, 7, "one-permutation", 1, 1)
    assert sizes.tolist() == signed[0].tolist()
    assert contents.tolist() == signed[1].tolist()


@given(
    texts=st.lists(
        st.text(
            "ab é日 \t\x1f\x85\xa0\u1680\u2007\u200b\u2028\u3000\u3001", min_size=20, max_size=150
        )
    ),
    k=st.integers(1, 4),
)
def test_words_are_found_wherever_blocks_of_bytes_end(texts, k):
    offsets, hashes = _kernels.shingle_sets(*arrow(texts), "word", k, 1, in_order=True)
    for text, start, end in zip(texts, offsets, offsets[1:], strict=False):
        expected = specification.shingle_hashes(text, "word", k, 1)
        assert hashes[start:end].tolist() == sorted(set(expected))


@given(
    longest=st.sampled_from([1, 8, 9, 16, 17, 60]),
    separators=st.sampled_from([" ", "\u3000", " \x85\u2028\u3000"]),
    length=st.integers(1, 500) | st.integers(2_030, 2_060),
    k=st.integers(1, 12),
    seed=SEEDS,
)
def test_words_of_any_length_are_hashed_many_at_a_time(longest, separators, length, k, seed):
    """Short ones and long ones, in texts that are looked at in several parts, and at their end."""
    draw = random.Random(seed)
    text = ""
    while len(text) < length:
        text += "".join(draw.choices("abcé日", k=draw.randint(1, longest)))
        text += "".join(draw.choices(separators, k=draw.randint(1, 2)))
    texts = [text, text[:length], "a" * length + " b"]
    *_, offsets, hashes = _kernels.weigh_with_shingles(*arrow(texts), "word", k, seed)
    for one, start, end in zip(texts, offsets, offsets[1:], strict=False):
        assert hashes[start:end].tolist() == specification.shingle_hashes(one, "word", k, seed)


def test_slices_of_an_array_are_signed_as_they_stand():
    texts = pa.array(["one", "two words", "three more words", "日本語"], pa.large_string())
    whole = _kernels.signatures(*spans(texts), "char", 3, 1, "one-permutation", 16)
    part = _kernels.signatures(*spans(texts.slice(1, 2)), "char", 3, 1, "one-permutation", 16)
    assert (whole[1:3] == part).all()


KNOWN_ANSWERS = {
    "one-permutation": [
        3147688475, 586713152, 2029863911, 1481203397,
        3709201575, 3677821511, 3543093555, 3376370768,
    ],
    "independent": [
        4030424290, 3213761487, 1901328032, 32423806, 3275811783, 643458069, 1505047064, 1366665601
    ],
}  # fmt: skip


@pytest.mark.parametrize("scheme", SCHEMES)
def test_known_answers(scheme):
    signed = kernel_signatures(["nearly the same"], "char", 5, 1, scheme, 8)
    assert signed[0].tolist() == KNOWN_ANSWERS[scheme]


def test_known_answers_of_what_is_kept():
    _, _, keys, sketches = _kernels.sign(
        *arrow(["nearly the same"]), "char", 5, 1, "one-permutation", 2, 4
    )
    assert keys.tolist() == [[2975362065, 1578536173]]
    assert sketches.tolist() == [[16243]]


def random_sets(similarity, size, seed):
    """Two texts of `size` words in all, of which a known share is in both."""
    numbers = np.random.default_rng(seed).permutation(10 * size)[:size]
    shared = round(similarity * size)
    rest = (size - shared) // 2
    common, a, b = np.split(numbers[: shared + 2 * rest], [shared, shared + rest])
    texts = [" ".join(map(str, np.concatenate([common, part]))) for part in (a, b)]
    return texts, shared / (shared + 2 * rest)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("size", [10, 40, 1000])
@pytest.mark.parametrize("similarity", [0.2, 0.5, 0.8])
def test_estimates_have_no_bias_and_no_more_than_the_variance_of_theory(scheme, size, similarity):
    """Independent positions: mean J, variance J(1-J)/n. Sampling groups without replacement can
    only lower the variance; the tolerances are four standard errors of each statistic."""
    positions, runs = 128, 400
    estimates, truths = [], []
    for run in range(runs):
        texts, truth = random_sets(similarity, size, run)
        a, b = kernel_signatures(texts, "word", 1, run, scheme, positions)
        estimates.append(np.mean(a == b))
        truths.append(truth)
    truth = np.mean(truths)
    variance = truth * (1 - truth) / positions
    assert abs(np.mean(estimates) - truth) < 4 * math.sqrt(variance / runs)
    assert np.var(estimates, ddof=1) < variance * (1 + 4 * math.sqrt(2 / runs))


def test_two_bits_of_a_position_agree_by_chance_one_time_in_four():
    positions, runs = 256, 200
    texts = [f"{i} {i + 10**6} {i + 2 * 10**6}" for i in range(2 * runs)]
    signed = kernel_signatures(texts, "word", 1, 3, "one-permutation", positions) & 3
    agreeing = np.mean(signed[:runs] == signed[runs:])
    assert abs(agreeing - 0.25) < 4 * math.sqrt(0.25 * 0.75 / (positions * runs))


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("unit", ["char", "word"])
@pytest.mark.parametrize("pattern", ["ab cd éf g ", "a ", "x"])
def test_long_texts_are_signed_in_stretches(scheme, unit, pattern):
    """A pattern that repeats has few different shingles, so later rounds are needed too."""
    text = pattern * (2**19 // len(pattern))
    whole = unit == "word" and " " not in pattern
    hashes = specification.shingle_hashes(text if whole else pattern * 50, unit, 3, 1)
    signed = kernel_signatures([text, "short"], unit, 3, 1, scheme, 64)
    assert signed[0].tolist() == SCHEMES[scheme](hashes, 64, 1)
    offsets, found = _kernels.shingle_sets(*arrow([text, "short"]), unit, 3, 1)
    assert found[: offsets[1]].tolist() == sorted(set(hashes))


def test_contents_are_xxh3():
    """Known answers of XXH3-128, high half first."""
    contents = _kernels.contents(*arrow(["", "a"]))
    assert [f"{high:016x}{low:016x}" for high, low in contents.tolist()] == [
        "99aa06d3014798d86001c324468d497f",
        "a96faf705af16834e6c632b61e964e1f",
    ]


def test_any_bytes_are_signed():
    data = np.frombuffer(bytes(range(256)) * 3 + b"\x80\x80", np.uint8)
    for unit, first in itertools.product(["char", "word"], range(0, 256, 17)):
        offsets = np.array([first, first + 300, len(data) - 2, len(data)])
        sizes, _ = _kernels.measure(offsets, data, unit, 5, 1)
        signed = _kernels.sign(offsets, data, unit, 5, 1, "one-permutation", 2, 2)
        assert sizes.tolist() == signed[0].tolist()
