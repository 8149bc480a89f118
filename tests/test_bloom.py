"""Bloom filters: against their plain definition, the thesis's formula, and harm on disk."""

import json
import math
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nearly
from nearly import _kernels
from nearly.errors import MissingError, SettingsError, SinkError, SourceError, UnreadableError
from nearly.textbook import (
    PlainBloomFilter,
    bloom_false_positive_rate,
    bloom_steps,
    number_key,
)
from nearly.tuning.bloom import BloomSize, blocked_rate, error_of_each

WHOLE = st.integers(-(2**63), 2**63 - 1)
VALUES = st.one_of(
    WHOLE, st.integers(2**63, 2**64 - 1), st.text(max_size=20), st.binary(max_size=20)
)


# The size


@pytest.mark.parametrize("error", [0.5, 0.1, 0.01, 1e-3, 1e-6])
@pytest.mark.parametrize("n", [1, 10, 1000, 10**6])
def test_the_four_steps_end_where_the_rate_is_acceptable(n: int, error: float) -> None:
    *refused, (bits, hashes, rate) = bloom_steps(n, error)
    assert all(tried[2] > error for tried in refused)
    assert rate == bloom_false_positive_rate(bits, n, hashes) <= error
    assert hashes == max(1, round(bits / n * math.log(2)))
    size = BloomSize.of(n, error)
    assert size.hashes in (hashes, *(tried[1] for tried in bloom_steps(10**6, error)))
    assert size.bits >= bits


def test_the_size_of_the_thesis_for_a_million_values() -> None:
    """9.6 bits a value and 7 of them set, for one error in a hundred."""
    *_, (bits, hashes, rate) = bloom_steps(10**6, 0.01)
    assert (hashes, round(bits / 10**6, 2)) == (7, 9.59)
    size = BloomSize.of(10**6, 0.01)
    assert size.hashes == hashes
    assert 1.03 < size.bits / bits < 1.05
    assert size.rate(10**6) == pytest.approx(rate, rel=0.01)


@pytest.mark.parametrize("error", [0.2, 0.01, 1e-4, 1e-7])
def test_the_three_ways_to_a_size_agree(error: float) -> None:
    size = BloomSize.of(10**6, error)
    full = BloomSize.filling(size.bytes, error)
    assert 10**6 <= full.items <= 10**6 * 1.001
    assert (full.blocks, full.hashes) == (size.blocks, size.hashes)
    least = BloomSize.within(size.bytes, 10**6)
    assert least.error <= error * 1.001
    assert least.blocks == size.blocks


@given(st.floats(1e-6, 0.5), st.integers(1, 60))
def test_the_errors_of_several_filters_add_up_to_the_whole(error: float, filters: int) -> None:
    each = error_of_each(error, filters)
    assert 1 - (1 - each) ** filters == pytest.approx(error)


@pytest.mark.parametrize(("load", "hashes"), [(20.0, 12), (51.3, 7), (100.0, 3)])
def test_the_rate_of_blocks_is_that_of_a_simulation(load: float, hashes: int) -> None:
    random = np.random.default_rng(5)
    blocks = 8_000
    loads = random.poisson(load, blocks)
    wrong = 0.0
    for i in loads:
        is_set = np.zeros(512, bool)
        is_set[random.integers(0, 512, i * hashes)] = True
        wrong += is_set.mean() ** hashes
    assert blocked_rate(load, hashes) == pytest.approx(wrong / blocks, rel=0.05)


# The bits


@given(
    st.lists(WHOLE, min_size=1, max_size=60),
    st.integers(1, 40),
    st.integers(1, 5),
    st.integers(0, 2**64 - 1),
)
def test_the_kernel_sets_the_bits_of_the_textbook(
    numbers: list[int], hashes: int, blocks: int, seed: int
) -> None:
    """In every way that this machine has to set them, and not only the fastest."""
    plain = PlainBloomFilter(blocks, hashes)
    keys = _kernels.keys_of_numbers(np.array(numbers, np.int64).view(np.uint64), seed)
    assert keys.tolist() == [number_key(number, seed) for number in numbers]
    expected = [plain.add(key) for key in keys.tolist()]
    for way in (None, *_kernels.bloom_ways()):
        words = np.zeros(8 * blocks, np.uint64)
        before = _kernels.look_up_in_bloom(words, hashes, keys)
        assert not before.any()
        is_new = _kernels.add_to_bloom(words, hashes, keys, way)
        assert is_new.tolist() == expected
        assert words.tobytes() == b"".join(block.to_bytes(64, "little") for block in plain.blocks)
        assert _kernels.look_up_in_bloom(words, hashes, keys).all()


@given(st.lists(st.lists(st.integers(0, 5), min_size=3, max_size=3), min_size=1, max_size=30))
def test_rows_are_kept_that_share_no_key_with_one_that_was_kept(rows: list[list[int]]) -> None:
    keys = _kernels.keys_of_numbers(np.array(rows, np.uint64).ravel(), 1).reshape(-1, 3)
    words = np.zeros(3 * 8 * 64, np.uint64)
    plain = [PlainBloomFilter(64, 9) for _ in range(3)]
    expected = []
    for row in keys.tolist():
        is_new = not any(key in one for key, one in zip(row, plain, strict=True))
        if is_new:
            for key, one in zip(row, plain, strict=True):
                one.add(key)
        expected.append(is_new)
    assert _kernels.sift_by_bloom(words, 9, keys).astype(bool).tolist() == expected
    assert expected[0]


def test_kernels_refuse_what_is_no_filter() -> None:
    keys = np.zeros(1, np.uint64)
    for words, hashes in ((np.zeros(0, np.uint64), 3), (np.zeros(7, np.uint64), 3)):
        with pytest.raises(ValueError, match="whole blocks"):
            _kernels.add_to_bloom(words, hashes, keys)
    with pytest.raises(ValueError, match="at least 1 bit"):
        _kernels.add_to_bloom(np.zeros(8, np.uint64), 0, keys)
    ways = _kernels.bloom_ways()
    assert 0 in ways
    for way in {0, 1, 2, 3} - set(ways):
        with pytest.raises(ValueError, match="not added that way here"):
            _kernels.add_to_bloom(np.zeros(8, np.uint64), 3, keys, way)
    with pytest.raises(ValueError, match="same size"):
        _kernels.sift_by_bloom(np.zeros(8, np.uint64), 3, np.zeros((1, 3), np.uint64))
    with pytest.raises(ValueError, match="all of its rows"):
        _kernels.keys_of_bands(np.zeros((1, 3), np.uint32), 2, 1)


# The filter


@settings(max_examples=40)
@given(st.lists(VALUES, min_size=1, max_size=30))
def test_no_value_is_forgotten(values: list[object]) -> None:
    kept = nearly.BloomFilter(1000, 1e-6)
    for value in values:
        kept.add(value)
    assert all(value in kept for value in values)
    assert kept.added <= len(set(map(repr, values)))


def false_positive_rate(error: float, n: int, strangers: int) -> float:
    kept = nearly.BloomFilter(n, error)
    kept.add(np.arange(n))
    assert kept.contains(np.arange(n)).all()
    return float(kept.contains(np.arange(n, n + strangers)).mean())


@pytest.mark.parametrize(("error", "n"), [(0.1, 50_000), (0.01, 300_000), (0.001, 300_000)])
def test_the_error_is_the_formulas_within_theorys_tolerance(error: float, n: int) -> None:
    strangers = 1_000_000
    found = false_positive_rate(error, n, strangers)
    *_, (_, _, rate) = bloom_steps(n, error)
    # Strangers are drawn, and so is how full the blocks get.
    tolerance = 4 * math.sqrt(error / strangers) + 4 * error / math.sqrt(n / 50)
    assert abs(found - rate) <= tolerance + 0.03 * error


def test_strings_err_no_more_than_numbers() -> None:
    kept = nearly.BloomFilter(50_000, 0.01)
    kept.add([f"word {i}" for i in range(50_000)])
    found = kept.contains([f"another {i}" for i in range(100_000)]).mean()
    assert 0.008 < found < 0.012


BATCHES = [
    pytest.param(make, id=name)
    for name, make in {
        "list": lambda numbers: list(numbers),
        "tuple": lambda numbers: tuple(numbers),
        "numpy": lambda numbers: np.array(numbers),
        "narrow numpy": lambda numbers: np.array(numbers, np.int16),
        "strided numpy": lambda numbers: np.repeat(np.array(numbers), 2)[::2],
        "big-endian numpy": lambda numbers: np.array(numbers, ">i8"),
        "arrow": lambda numbers: pa.array(numbers),
        "narrow arrow": lambda numbers: pa.array(numbers, pa.int32()),
        "sliced arrow": lambda numbers: pa.array([0, *numbers, 0]).slice(1, len(numbers)),
        "chunked arrow": lambda numbers: pa.chunked_array(
            [numbers[:2], [], numbers[2:]], pa.int64()
        ),
        "dictionary": lambda numbers: pa.array(numbers).dictionary_encode(),
        "pandas": lambda numbers: pd.Series(numbers),
        "polars": lambda numbers: pl.Series(numbers),
    }.items()
]


@pytest.mark.parametrize("make", BATCHES)
def test_every_kind_of_batch_has_the_same_numbers(make: object) -> None:
    numbers = [5, -3, 5, 0, 1000]
    kept = nearly.BloomFilter(100, 1e-6)
    assert kept.add(make(numbers)).tolist() == [True, True, False, True, True]  # type: ignore[operator]
    assert kept.contains(numbers).all()
    assert kept.contains(make([7, -5])).tolist() == [False, False]  # type: ignore[operator]
    assert kept.added == 4


TEXTS = ["", "a", "naïve", "日本語", "x" * 300]


@pytest.mark.parametrize(
    "make",
    [
        list,
        lambda texts: [text.encode() for text in texts],
        pa.array,
        lambda texts: pa.array(texts, pa.large_string()),
        lambda texts: pa.array(texts, pa.string_view()),
        lambda texts: pa.array([text.encode() for text in texts]),
        lambda texts: pa.array(["no", *texts]).slice(1),
        lambda texts: pa.array(texts).dictionary_encode(),
        lambda texts: np.array(texts, object),
        pd.Series,
        pl.Series,
    ],
)
def test_every_kind_of_batch_has_the_same_texts(make: object) -> None:
    kept = nearly.BloomFilter(100, 1e-6)
    assert kept.add(make(TEXTS)).all()  # type: ignore[operator]
    assert all(text in kept for text in TEXTS)
    assert all(text.encode() in kept for text in TEXTS)
    assert "b" not in kept
    assert not kept.contains(["c", "d"]).any()


def test_numbers_of_64_bits_are_told_apart_from_negative_ones() -> None:
    kept = nearly.BloomFilter(100, 1e-6)
    assert kept.add(-1)
    assert 2**64 - 1 not in kept
    assert kept.add(np.array([2**64 - 1], np.uint64)).tolist() == [True]
    assert 2**64 - 1 in kept
    assert kept.contains([2**64 - 1, 2**63]).tolist() == [True, False]
    assert "-1" not in kept


def test_an_empty_batch_is_no_news() -> None:
    kept = nearly.BloomFilter(10)
    for nothing in ([], np.array([], np.int64), pa.array([], pa.string())):
        assert kept.add(nothing).tolist() == []
    assert kept.added == 0
    assert kept.error_now == 0


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (True, "True was given"),
        (2**64, "more than 64 bits; give it as a string"),
        ([1, "a"], "a list of int, str was given"),
        ([1.5], "a list of float was given"),
        (1.5, "float was given"),
        (None, "NoneType was given"),
        (pa.array([1.5]), "a column of double"),
        (pa.array([1, None]), "nulls were given, 1 of them; leave them out"),
        (np.zeros((2, 2), np.int64), "2 dimensions"),
    ],
)
def test_what_is_no_value_is_refused(given: object, why: str) -> None:
    kept = nearly.BloomFilter(10)
    with pytest.raises(SettingsError, match=why):
        kept.add(given)
    assert kept.added == 0


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ((0, 0.1), "the number of values is 0"),
        ((1.5, 0.1), "the number of values is 1.5"),
        ((True, 0.1), "the number of values is True"),
        ((10, 0.0), "error is 0.0; give a chance"),
        ((10, 1.0), "error is 1.0"),
        ((10, math.nan), "error is nan"),
        ((10, 1e-12), "error is 1e-12"),
        ((10, "0.1"), "error is '0.1'"),
    ],
)
def test_impossible_filters_are_refused(arguments: tuple[object, ...], why: str) -> None:
    with pytest.raises(SettingsError, match=why):
        nearly.BloomFilter(*arguments)  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="seed is -1"):
        nearly.BloomFilter(10, seed=-1)


def test_in_asks_for_one_value() -> None:
    with pytest.raises(SettingsError, match=r"contains\(\) takes a batch"):
        [1, 2] in nearly.BloomFilter(10)  # noqa: B015


def test_a_union_has_the_values_of_both() -> None:
    a, b = nearly.BloomFilter(2000), nearly.BloomFilter(2000)
    a.add(np.arange(1000))
    b.add(np.arange(500, 1500))
    both = a | b
    assert both.contains(np.arange(1500)).all()
    assert both.added == pytest.approx(1500, rel=0.05)
    whole = nearly.BloomFilter(2000)
    whole.add(np.arange(1500))
    assert (both._words == whole._words).all()
    assert not a.contains(np.arange(1000, 1500)).all()


@pytest.mark.parametrize("other", [(2001, 0.01, 1), (2000, 0.001, 1), (2000, 0.01, 2)])
def test_filters_that_were_made_otherwise_have_no_union(other: tuple[int, float, int]) -> None:
    n, error, seed = other
    a, b = nearly.BloomFilter(20_000), nearly.BloomFilter(10 * n, error, seed=seed)
    assert a.fingerprint != b.fingerprint
    with pytest.raises(SettingsError, match="same n, error and seed"):
        a.union(b)


def test_threads_lose_nothing() -> None:
    kept = nearly.BloomFilter(400_000)
    parts = np.arange(400_000).reshape(4, -1)
    threads = [threading.Thread(target=kept.add, args=(part,)) for part in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert kept.contains(np.arange(400_000)).all()


# On disk


@pytest.fixture(name="saved")
def _saved(tmp_path: Path) -> Path:
    kept = nearly.BloomFilter(1000, 0.001, seed=7)
    kept.add(["a", "b"])
    kept.save(tmp_path / "seen.bloom")
    return tmp_path / "seen.bloom"


def test_a_saved_filter_is_the_same_when_it_is_opened(saved: Path) -> None:
    again = nearly.BloomFilter.open(saved)
    assert repr(again) == ("BloomFilter: 2 of 1,000 values, error 0.001, 15,872 bits, 10 for each")
    assert (again.seed, again.n, again.error) == (7, 1000, 0.001)
    assert again.contains(["a", "b", "c"]).tolist() == [True, True, False]
    again.add("c")
    again.save(saved, force=True)
    assert "c" in nearly.BloomFilter.open(saved)
    assert list(saved.parent.iterdir()) == [saved]


def test_an_existing_file_is_overwritten_only_by_force(saved: Path) -> None:
    before = saved.read_bytes()
    with pytest.raises(SinkError, match="exists"):
        nearly.BloomFilter(10).save(saved)
    assert saved.read_bytes() == before


@settings(max_examples=25)
@given(st.data())
def test_a_changed_file_is_refused(data: st.DataObject) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a"
        kept = nearly.BloomFilter(10)
        kept.add(1)
        kept.save(path)
        whole = path.read_bytes()
        place = data.draw(st.integers(0, len(whole) - 1))
        changed = bytearray(whole)
        changed[place] ^= 1 << data.draw(st.integers(0, 7))
        for harmed in (bytes(changed), whole[:place], whole + b"\0"):
            path.write_bytes(harmed)
            with pytest.raises(SourceError):
                nearly.BloomFilter.open(path)


def test_what_is_wrong_with_a_file_is_said(saved: Path) -> None:
    line, _, bits = saved.read_bytes().partition(b"\n")
    header = json.loads(line)
    assert (header["format"], header["version"]) == ("nearly bloom filter", 1)
    with pytest.raises(MissingError, match="no file"):
        nearly.BloomFilter.open(saved.with_name("nowhere"))
    with pytest.raises(UnreadableError, match="cannot be read"):
        nearly.BloomFilter.open(saved.parent)
    saved.write_bytes(line + b"\n" + bits[:-1])
    with pytest.raises(UnreadableError, match="checksum"):
        nearly.BloomFilter.open(saved)
    saved.write_bytes(line.replace(b'"version": 1', b'"version": 2') + b"\n" + bits)
    with pytest.raises(SourceError, match="version 2 of the format"):
        nearly.BloomFilter.open(saved)
    saved.write_text("something else")
    with pytest.raises(SourceError, match="not a Bloom filter"):
        nearly.BloomFilter.open(saved)
