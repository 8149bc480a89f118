"""Containment: how much of the smaller set is in the larger, exact or by members that are drawn."""

import itertools
import json
import math
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any, get_args
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from clusters import needs_java
from engines import collected, frame_of
from hypothesis import given, settings
from hypothesis import strategies as st

import nearly
from nearly import _kernels, textbook
from nearly.arguments import MeasureName
from nearly.cli.program import run
from nearly.errors import SettingsError
from nearly.measures.choice import OF_CHARACTERS, OF_SETS, OF_TEXTS_AND_VECTORS, OF_VECTORS
from nearly.textbook import signature

#: Of sets with at most 32 members all are drawn, so that nothing is missed.
METHODS = ["exact", "lsh"]

Both = tuple[float, float, float]


def expected(documents: list[Any], threshold: Any) -> dict[tuple[int, int], Both]:
    """Every pair by the definition of the textbook: its value, and how much of each is in both."""
    found = {}
    for (i, a), (j, b) in itertools.combinations(enumerate(documents), 2):
        both = textbook.containment(a, b), textbook.containment(b, a)
        if max(both) >= Fraction(str(threshold)) and min(len(a), len(b)) > 0:
            found[i, j] = (float(max(both)), *map(float, both))
    return found


def as_dict(pairs: pa.Table) -> dict[tuple[Any, Any], Both]:
    names = ("id_a", "id_b", "similarity", "containment_a", "containment_b")
    return {(a, b): (*both,) for a, b, *both in zip(*map(columns(pairs), names), strict=True)}


def columns(table: pa.Table) -> Any:
    return lambda name: table.column(name).to_pylist()


def numbered(items: list[int]) -> set[tuple[int, int]]:
    """A bag as a set: the second of an item is another member than the first."""
    return {(item, i) for item, count in Counter(items).items() for i in range(count)}


DRAWN = st.lists(st.lists(st.integers(-3, 12), max_size=14), min_size=2, max_size=25)


@settings(max_examples=60)
@given(DRAWN, st.sampled_from([0.3, 0.5, 0.8, 1.0]), st.booleans(), st.sampled_from(METHODS))
def test_every_pair_is_that_of_the_textbook(
    documents: list[list[int]], threshold: float, bag: bool, method: str
) -> None:
    table = pa.table({"items": pa.array(documents, pa.list_(pa.int64()))})
    found = nearly.find(
        table,
        items="items",
        measure="containment",
        threshold=threshold,
        bag=bag,
        all_pairs=True,
        method=method,
    )
    assert as_dict(found.pairs) == expected(
        list(map(numbered if bag else set, documents)), threshold
    )
    assert found.statistics.empty == sum(1 for one in documents if not one)


@settings(max_examples=40)
@given(
    st.lists(st.text("ab ", max_size=14), min_size=2, max_size=12),
    st.sampled_from(["char", "word"]),
    st.sampled_from(METHODS),
)
def test_texts_are_sets_of_shingles(texts: list[str], unit: Any, method: str) -> None:
    found = nearly.find(
        nearly.texts(texts),
        measure="containment",
        threshold=0.4,
        unit=unit,
        k=2,
        raw=True,
        all_pairs=True,
        method=method,
    )
    assert as_dict(found.pairs) == expected([textbook.shingles(t, unit, 2) for t in texts], 0.4)


def test_what_is_dropped_is_contained_in_nothing() -> None:
    texts = ["the same words", "the same words and some more", "the same"]
    how: dict[str, Any] = {"unit": "word", "k": 1, "measure": "containment", "threshold": 0.5}
    assert len(nearly.find(texts, **how)) == 3
    found = nearly.find(texts, ignore=["the same"], **how)
    assert as_dict(found.pairs) == {(0, 1): (1.0, 1.0, 0.25)}
    assert found.statistics.ignored == 1


# Members that are drawn


@given(st.lists(st.integers(0, 2**64 - 1), unique=True, max_size=50), st.integers(0, 2**64 - 1))
def test_members_are_drawn_as_the_page_says(members: list[int], seed: int) -> None:
    ends = np.array([0, len(members)], np.int64)
    for count in (1, 7, 60):
        drawn = _kernels.draw_samples(ends, np.array(members, np.uint64), seed, count)
        expected_keys = signature.drawn_keys(members, count, seed)
        assert drawn.tolist() == [expected_keys + [0] * (count - len(expected_keys))]


def parts_and_wholes(times: int, *, pairs: int = 150) -> list[list[int]]:
    """Pairs at exactly 0.8: 40 of 50 members stand in a set that is so many times as large."""
    numbers = itertools.count()
    sets = []
    for _ in range(pairs):
        shared = list(itertools.islice(numbers, 40))
        sets.append(shared + list(itertools.islice(numbers, 10)))
        sets.append(shared + list(itertools.islice(numbers, 50 * times - 40)))
    return sets


@pytest.mark.parametrize("times", [1, 8, 60])
def test_the_recall_is_as_promised_however_much_sizes_differ(times: int) -> None:
    """Within four standard deviations; nothing is found that is no pair, and some are missed."""
    sets = parts_and_wholes(times)
    true = {(i, i + 1) for i in range(0, len(sets), 2)}
    found = promised = 0.0
    for seed in range(4):
        near = nearly.find(
            sets, measure="containment", threshold=0.8, recall=0.9, method="lsh", seed=seed
        )
        assert set(as_dict(near.pairs)) <= true
        assert near.statistics.promised is not None
        found, promised = found + len(near), near.statistics.promised
    count = 4 * len(true)
    assert promised >= 0.9
    assert found < count, "with a recall of 0.9, some are missed"
    # Without replacement, less is left to chance than the binomial distribution allows.
    assert found / count > promised - 4 * math.sqrt(promised * (1 - promised) / count)


def test_an_audit_and_tuning_know_containment() -> None:
    sets = parts_and_wholes(5)
    how: dict[str, Any] = {"measure": "containment", "threshold": 0.8}
    found = nearly.find(sets, method="lsh", recall=0.999, audit=1_000, **how)
    audit = found.statistics.audit
    assert audit is not None
    assert (audit.pairs, audit.found, audit.precision) == (300, 2 * len(found), 1)
    assert audit.recall > 0.99
    advice = nearly.tune(sets, sample=1_000, **how)
    assert advice.pairs is not None
    assert advice.pairs.value == 150
    assert (advice.best.banding.rows, advice.best.recall.value >= 0.99) == (1, True)
    assert nearly.tune(documents=1_000, **how).best.banding.recall(0.8) >= 0.99
    low = nearly.tune(documents=1_000, measure="containment", threshold=0.05).best.banding
    assert low.bands > 32, "of what is seldom found, more has to be drawn"


@pytest.mark.parametrize("method", METHODS)
def test_little_memory_finds_the_same(method: str) -> None:
    draw = np.random.default_rng(4)
    sets = [draw.choice(400, draw.integers(30, 150), replace=False).tolist() for _ in range(300)]
    sets += [one[: len(one) // 2] for one in sets[:100]]
    how: dict[str, Any] = {"measure": "containment", "threshold": 0.5, "method": method}
    here = nearly.find(sets, **how)
    assert len(here) > 200
    with patch("nearly.engines.local.workshop.LEAST_ROOM", 2**19):
        there = nearly.find(sets, memory=2**17, **how)
    assert there.pairs.equals(here.pairs)


# What stays


SMALL = ["a b c", "a b c d e f g h", "a b c p q r s t u"]


def test_of_two_that_hold_a_third_both_stay() -> None:
    """They are linked by it, and have nothing else in common."""
    how: dict[str, Any] = {"unit": "word", "k": 1, "measure": "containment", "threshold": 0.9}
    found = nearly.find(SMALL, **how)
    assert found.statistics.clusters == 1
    clean = nearly.dedup(SMALL, **how)
    assert clean.settings.cluster == "leader"
    assert clean.removed.select(["id", "survivor", "similarity"]).to_pylist() == [
        {"id": 0, "survivor": 2, "similarity": 1.0}
    ]
    first = nearly.dedup(SMALL, keep="first", **how)
    assert columns(first.removed)("id") == [1, 2], "whoever asks for the first gets it"


def test_largest_goes_by_the_set_and_not_by_the_length() -> None:
    texts = ["long long long long long long", "long x y", "other words"]
    how: dict[str, Any] = {"unit": "word", "k": 1, "measure": "containment", "threshold": 0.9}
    assert columns(nearly.dedup(texts, **how).removed)("id") == [0]
    assert columns(nearly.dedup(texts, keep="longest", **how).removed)("id") == [1]
    same = nearly.dedup(["a b c d", "b a c d e"], unit="word", k=1, keep="largest")
    assert columns(same.removed)("id") == [0], "the rule is there for every measure"


# The command line, mistakes


def test_the_command_line_tells_both_shares(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for i, text in enumerate(SMALL):
        (tmp_path / f"{i}.txt").write_text(text)
    how = ["--measure", "containment", "-t", "0.9", "--unit", "word", "--k", "1"]
    assert run(["find", str(tmp_path), *how, "--method", "lsh"]) == 0
    out, err = capsys.readouterr()
    assert "100% of the first, 38% of the second; " in out
    assert "containment of word 1-shingles; 32 members drawn from each document find" in err
    assert run(["find", str(tmp_path), *how, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["pairs"][0] == {
        "id_a": "0.txt",
        "id_b": "1.txt",
        "similarity": 1.0,
        "containment_a": 1.0,
        "containment_b": 0.375,
    }
    assert told["statistics"]["measure"] == "containment"
    assert run(["tune", *how]) == 0
    assert "32 x 1" in capsys.readouterr().out


def test_every_name_stands_for_a_measure() -> None:
    named = {*OF_SETS, *OF_VECTORS, *OF_CHARACTERS, *OF_TEXTS_AND_VECTORS}
    assert set(get_args(MeasureName)) == named


def test_mistakes_are_told() -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"measure": "containmint"}, "there is no measure 'containmint'; did you mean"),
        ({"measure": "containment", "within": 3}, "within is 3, and containment is a similarity"),
        ({"measure": "containment", "threshold": 0}, "threshold is 0"),
        ({"measure": "containment", "bands": 9, "rows": 3}, "rows is 3; this measure draws"),
        ({"measure": "containment", "threshold": 0.001}, "0.001"),
    ]
    for options, message in cases:
        with pytest.raises(SettingsError, match=message):
            nearly.find(SMALL, **({"method": "lsh"} | options))


# Spark


def table() -> pa.Table:
    """Copies, empty sets, repeated ids, and sets large enough to be drawn from."""
    draw = np.random.default_rng(5)
    sets = [draw.choice(300, draw.integers(20, 120), replace=False).tolist() for _ in range(60)]
    sets += [one[: len(one) // 2] for one in sets[:40]] + [sets[3], sets[4], [], [1], [2, 1]]
    return pa.table({"id": [f"d{i % 90}" for i in range(len(sets))], "items": sets})


@needs_java
@pytest.mark.slow
@pytest.mark.parametrize("method", ["lsh", "exact"])
def test_spark_finds_the_same(method: str) -> None:
    how: dict[str, Any] = {"items": "items", "measure": "containment", "threshold": 0.6}
    here = nearly.find(table(), method=method, **how)
    there = collected(nearly.find(frame_of(table(), 3), method=method, **how))
    assert here.pairs.num_rows > 40
    for name in ("pairs", "clusters", "top"):
        assert getattr(there, name).to_pylist() == getattr(here, name).to_pylist(), name


@needs_java
@pytest.mark.slow
def test_spark_keeps_the_same() -> None:
    how: dict[str, Any] = {"items": "items", "measure": "containment", "threshold": 0.6}
    here = nearly.dedup(table(), **how)
    there = collected(nearly.dedup(frame_of(table(), 3), method="lsh", recall=0.9999, **how))
    assert here.removed.num_rows > 30
    assert there.removed.to_pylist() == here.removed.to_pylist()
    assert there.kept.column("items").to_pylist() == here.kept.column("items").to_pylist()
