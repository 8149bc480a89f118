"""Weighted Jaccard: by how rare members are, or by weights that are given; exact and hashed."""

import itertools
import json
import math
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from clusters import needs_java
from engines import collected, frame_of
from hypothesis import given, settings
from hypothesis import strategies as st

import nearly
from nearly import _kernels, textbook
from nearly.cli.program import run
from nearly.errors import NearlyError, SettingsError, SourceError
from nearly.measures.tally import Tally, merged
from nearly.measures.weight import by_rarity
from nearly.textbook import signature

Bags = list[Counter[Any]]
LSH: dict[str, Any] = {"method": "lsh", "bands": 128, "rows": 1, "recall": 1 - 1e-8}


def expected(bags: Bags, weights: Any, threshold: float) -> dict[tuple[int, int], Fraction]:
    """Every pair by the definition of the textbook."""
    found = {}
    for (i, a), (j, b) in itertools.combinations(enumerate(bags), 2):
        similarity = textbook.weighted_jaccard(a, b, weights)
        if similarity >= Fraction(str(threshold)):
            found[i, j] = similarity
    return found


def as_dict(pairs: pa.Table) -> dict[tuple[Any, Any], float]:
    columns = (pairs.column(name).to_pylist() for name in ("id_a", "id_b", "similarity"))
    return {(a, b): similarity for a, b, similarity in zip(*columns, strict=True)}


def check(found: Any, true: dict[tuple[int, int], Fraction]) -> None:
    assert as_dict(found.pairs) == {pair: float(value) for pair, value in true.items()}


DRAWN = st.lists(st.lists(st.integers(0, 12), max_size=14), min_size=2, max_size=20)
#: Decimals that add up badly in binary.
WEIGHTS = st.fixed_dictionaries(
    {
        item: st.sampled_from(["0", "0.1", "0.2", "0.3", "0.7", "1", "2.5", "40"])
        for item in range(13)
    }
)


@settings(max_examples=80)
@given(
    DRAWN,
    WEIGHTS,
    st.sampled_from([0.1, 0.3, 0.5, 0.75, 1.0]),
    st.booleans(),
    st.sampled_from(["exact", "lsh"]),
)
def test_every_pair_is_that_of_the_textbook(
    documents: list[list[int]], weights: dict[int, str], threshold: float, bag: bool, method: str
) -> None:
    if not any(Decimal(weight) for weight in weights.values()):
        weights[0] = "1"
    how = LSH if method == "lsh" else {"method": "exact"}
    table = pa.table({"items": pa.array(documents, pa.list_(pa.int64()))})
    found = nearly.find(
        table,
        items="items",
        weights=weights,
        threshold=threshold,
        bag=bag,
        all_pairs=True,
        **(how | ({"rows": 1} if method == "lsh" else {})),
    )
    bags = [Counter(one if bag else set(one)) for one in documents]
    exactly = {item: Fraction(weight) for item, weight in weights.items()}
    true = expected(bags, exactly, threshold)
    if method == "lsh":  # a pair at 0.1 or above is missed with a chance of 0.9 ** 128
        assert as_dict(found.pairs).items() <= {p: float(v) for p, v in true.items()}.items()
        high = {pair: value for pair, value in true.items() if value >= Fraction(1, 4)}
        assert high.keys() <= as_dict(found.pairs).keys()
    else:
        check(found, true)
    light = [bag for bag in bags if not sum(exactly[item] for item in bag)]
    assert found.statistics.empty + (found.statistics.ignored or 0) == len(light)


def test_a_pair_on_the_threshold_is_in_whatever_floats_say() -> None:
    assert 0.1 + 0.2 > 0.3
    weights = {"a": "0.1", "b": "0.2", "c": "0.3"}
    on_it = nearly.find([{"a", "b"}, {"a", "b", "c"}], weights=weights, threshold=0.5)
    assert as_dict(on_it.pairs) == {(0, 1): 0.5}
    heavier = {**weights, "c": "0.300001"}
    assert len(nearly.find([{"a", "b"}, {"a", "b", "c"}], weights=heavier, threshold=0.5)) == 0


TEXTS = st.lists(st.text("abc ", max_size=16), min_size=2, max_size=12)


def idf(bags: Bags) -> dict[Any, Fraction]:
    """By the textbook, to six decimal places."""
    by_textbook = textbook.inverse_document_frequency([set(bag) for bag in bags])
    return {member: Fraction(round(Decimal(w), 6)) for member, w in by_textbook.items()}


@settings(max_examples=60)
@given(TEXTS, st.sampled_from(["char", "word"]), st.booleans(), st.integers(1, 3))
def test_texts_are_weighed_by_rarity(texts: list[str], unit: Any, bag: bool, k: int) -> None:
    how: dict[str, Any] = {"unit": unit, "k": k, "raw": True, "bag": bag, "all_pairs": True}
    found = nearly.find(nearly.texts(texts), weights="idf", threshold=0.3, **how)
    bags = [textbook.bag(text, unit, k) for text in texts]
    bags = bags if bag else [Counter(set(each)) for each in bags]
    check(found, expected(bags, idf(bags), 0.3))


def test_rarity_is_told_to_six_places_and_only_what_several_have_is_listed() -> None:
    counts = np.array([1, 2, 5, 10], np.uint32)
    weights = by_rarity(np.arange(4, dtype=np.uint64), counts, 10)
    units = np.frombuffer(weights.units, "<u4").tolist()
    assert units == [round(1e6 * (math.log(11 / (1 + count)) + 1)) for count in (2, 5, 10)]
    assert units[-1] == 10**6
    assert weights.other == round(1e6 * (math.log(11 / 2) + 1))


@given(st.lists(st.lists(st.integers(0, 40), unique=True)))
def test_counts_are_those_of_a_counter(parts: list[list[int]]) -> None:
    tallies = [Tally(), Tally()]
    for i, part in enumerate(parts):
        tallies[i % 2].add(np.array(part, np.uint64))
    hashes, counts = merged(tallies[0].counts(), tallies[1].counts())
    assert hashes.tolist() == sorted(set(itertools.chain(*parts)))
    assert dict(zip(hashes.tolist(), counts.tolist(), strict=True)) == Counter(
        itertools.chain(*parts)
    )


# Signatures


MEMBERS = st.dictionaries(
    st.integers(0, 2**64 - 1), st.integers(1, 2**32 - 1), min_size=1, max_size=30
)


def signed(members: dict[int, int], positions: int, seed: int) -> list[int]:
    keys = sorted(members)
    hashes, weights = np.array(keys, np.uint64), np.array([members[k] for k in keys], np.uint32)
    ends = np.array([0, len(keys)], np.int64)
    found, _ = _kernels.sign_weighted(ends, hashes, weights, seed, positions, 1)
    return found[0].tolist()


@settings(max_examples=60)
@given(MEMBERS, st.sampled_from([1, 2, 7, 40]), st.integers(0, 2**64 - 1))
def test_signatures_are_those_of_the_page(
    members: dict[int, int], positions: int, seed: int
) -> None:
    by_page = signature.race_signature(members, positions, seed)
    assert signed(members, positions, seed) == [signature.band_key([value]) for value in by_page]


@given(st.integers(0, 2**64 - 1))
def test_waiting_times_are_logarithms(bits: int) -> None:
    exactly = -math.log(((bits >> 32) + 0.5) / 2**32)
    assert signature.waiting_time(bits) == pytest.approx(exactly, rel=1e-7, abs=1e-10)


@pytest.mark.parametrize("size", [2, 12, 300])
def test_positions_agree_as_often_as_sets_are_similar_and_independently(size: int) -> None:
    """Bias and variance over many seeds, within four standard deviations."""
    draw = np.random.default_rng(size)
    members = {
        int(h): int(w)
        for h, w in zip(
            draw.integers(0, 2**63, 3 * size), draw.integers(1, 1_000, 3 * size), strict=True
        )
    }
    keys = list(members)
    a, b = keys[: 2 * size], keys[size:]
    shared, union = (sum(members[k] for k in each) for each in (keys[size : 2 * size], keys))
    similarity, positions, seeds = shared / union, 64, 400
    agree = np.array(
        [
            np.sum(
                np.array(signed({k: members[k] for k in a}, positions, seed))
                == np.array(signed({k: members[k] for k in b}, positions, seed))
            )
            for seed in range(seeds)
        ]
    )
    variance = similarity * (1 - similarity) / positions
    assert abs(agree.mean() / positions - similarity) < 4 * math.sqrt(variance / seeds)
    assert 0.75 < (agree / positions).var() / variance < 1.3


def test_the_recall_is_as_promised() -> None:
    """Pairs at exactly 0.6 by weight, within four standard deviations; some are missed."""
    numbers = itertools.count()
    sets, weights = [], {}
    for _ in range(300):
        shared, mine, theirs = (list(itertools.islice(numbers, n)) for n in (12, 8, 16))
        weights |= dict.fromkeys(shared, 8) | dict.fromkeys(mine, 4) | dict.fromkeys(theirs, 2)
        sets += [shared + mine, shared + theirs]
    found = promised = 0.0
    for seed in range(4):
        how: dict[str, Any] = {"threshold": 0.6, "recall": 0.9, "seed": seed, "method": "lsh"}
        near = nearly.find(sets, weights=weights, **how)
        assert set(as_dict(near.pairs)) <= {(i, i + 1) for i in range(0, len(sets), 2)}
        assert near.statistics.promised is not None
        found, promised = found + len(near), near.statistics.promised
    count = 4 * 300
    assert promised >= 0.9
    assert found < count, "with a recall of 0.9, some are missed"
    assert found / count > promised - 4 * math.sqrt(promised * (1 - promised) / count)


# Every verb, on both engines


def notices() -> pa.Table:
    """Texts that share a frame, and some of which share what is rare."""
    frame = "we write to you about the following matter and remain yours"
    draw = np.random.default_rng(4)
    words = [f"w{i}" for i in range(400)]
    rare = [" ".join(draw.choice(words, 12)) for _ in range(40)]
    texts = [f"{frame} {each}" for each in rare]
    texts += [f"{frame} {each} {draw.choice(words)}" for each in rare[:20]]
    texts += [*texts[:3], "", frame]
    return pa.table({"id": [f"d{i}" for i in range(len(texts))], "text": texts})


HOW: dict[str, Any] = {"unit": "word", "k": 1, "weights": "idf", "threshold": 0.7}


@pytest.mark.parametrize("method", [{"method": "exact"}, LSH])
@needs_java
@pytest.mark.slow
def test_spark_gives_the_same_tables(method: dict[str, Any]) -> None:
    here = collected(nearly.find(notices(), **HOW, **method))
    there = collected(nearly.find(frame_of(notices(), 3), audit=1_000, **HOW, **method))
    assert len(here.pairs) > 20
    for name in ("pairs", "clusters"):
        assert there.tables[name].equals(here.tables[name]), name
    assert there.statistics["audit"]["recall"] == 1.0
    assert there.statistics["compared"] == "word 1-shingles weighted by idf"


@needs_java
@pytest.mark.slow
def test_spark_removes_the_same_documents() -> None:
    here = collected(nearly.dedup(notices(), **HOW))
    there = collected(nearly.dedup(frame_of(notices(), 3), **HOW))
    assert len(here.removed) > 20
    for name in ("removed", "clusters", "kept"):
        assert there.tables[name].equals(here.tables[name]), name


@needs_java
def test_items_without_a_weight_are_named_by_spark_too() -> None:
    table = pa.table({"id": ["a", "b"], "items": [["x", "y"], ["x"]]})
    with pytest.raises(
        SettingsError, match=r"1 members? of 1 documents? ha.* no weight in weights"
    ):
        nearly.find(frame_of(table, 2), items="items", weights={"x": 1}).to_arrow()


def test_memory_blocks_and_threads_change_nothing(tmp_path: Path) -> None:
    draw = np.random.default_rng(1)
    sets = [
        draw.choice(3_000, draw.integers(5, 40), p=_skewed(3_000)).tolist() for _ in range(3_000)
    ]
    sets += [[*each[1:], int(draw.integers(3_000))] for each in sets[:1_000]]
    how: dict[str, Any] = {"weights": "idf", "threshold": 0.6, "method": "exact"}
    once = nearly.find(sets, threads=1, **how)
    in_pieces = nearly.find(sets, threads=2, memory=2**20, temporary=tmp_path, **how)
    assert len(once) > 500
    assert once.pairs.equals(in_pieces.pairs)


def _skewed(count: int) -> Any:
    chances = 1 / np.arange(1, count + 1)
    return chances / chances.sum()


def test_an_audit_and_tuning_know_weights() -> None:
    found = nearly.find(notices(), audit=1_000, method="lsh", recall=0.999, **HOW)
    assert (found.statistics.audit.recall, found.statistics.audit.precision) == (1.0, 1.0)
    assert found.statistics.audit.pairs == 2 * found.statistics.near > 20
    advice = nearly.tune(notices(), sample=1_000, **HOW)
    assert advice.pairs is not None
    assert advice.pairs.value == found.statistics.near
    assert nearly.tune(documents=1_000, **HOW).best.banding.recall(0.7) >= 0.99


def test_what_is_rare_counts_more() -> None:
    weighed, plain = (
        as_dict(
            nearly.find(
                notices(), **{**HOW, "weights": how, "threshold": 0.01}, method="exact"
            ).pairs
        )
        for how in ("idf", None)
    )
    strangers = ("d30", "d31")  # they share the frame that all have
    assert weighed[strangers] < plain[strangers] / 2


# Files and the command line


def test_a_file_weighs_words_and_a_row_without_a_word_all_others(
    tmp_path: Path, capsys: Any
) -> None:
    docs = tmp_path / "docs.csv"
    docs.write_text("id,text\na,the red fox\nb,the red hen\nc,a red fox\n")
    weights = tmp_path / "weights.csv"
    weights.write_text("word,weight\nThe,0\nfox,2.5\n,0.5\n")
    arguments = ["find", str(docs), "--unit", "word", "--k", "1", "-t", "0.5", "--json"]
    assert run([*arguments, "--weights", str(weights)]) == 0
    said = json.loads(capsys.readouterr().out)
    # red and fox of {red, fox, a}: 3 of 3.5
    assert [(p["id_a"], p["id_b"], p["similarity"]) for p in said["pairs"]] == [("a", "c", 3 / 3.5)]
    assert said["statistics"]["compared"] == f"word 1-shingles weighted by {weights}"
    assert said["settings"]["weights"] == str(weights)
    assert run([*arguments, "--weights", "idf"]) == 0
    assert "weighted by idf" in capsys.readouterr().out


def test_items_are_found_in_the_file_whatever_their_type(tmp_path: Path) -> None:
    path = tmp_path / "prices.csv"
    path.write_text("product,weight\n1,10\n2,1\n3,1\n")
    for kind in (pa.int64(), pa.int32(), pa.string(), pa.dictionary(pa.int32(), pa.string())):
        lists = pa.array([["1", "2"], ["1", "3"], ["2", "3"]]).cast(pa.list_(pa.string()))
        values = (
            lists.values.cast(kind)
            if not pa.types.is_dictionary(kind)
            else lists.values.dictionary_encode()
        )
        table = pa.table({"items": pa.ListArray.from_arrays(lists.offsets, values)})
        found = nearly.find(table, items="items", weights=path, threshold=0.5)
        assert as_dict(found.pairs) == {(0, 1): 10 / 12}, kind


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"a": -1, "b": 1}, r"the weight of 'a' in weights is '-1'; give a number that is 0 or"),
        ({"a": float("nan"), "b": 1}, r"the weight of 'a' in weights is 'nan'"),
        ({"a": math.inf, "b": 1}, r"the weight of 'a' in weights is 'inf'"),
        ({"a": "heavy", "b": 1}, r"the weight of 'a' in weights is 'heavy'"),
        ({"a": 0, "b": 0}, r"all weights in weights are 0"),
        ({"a": 1}, r"1 member of 1 document has no weight in weights; add"),
        ({None: -2, "a": 1}, r"the row without a member in weights is '-2'"),
        ({"a": "0.12345678901", "b": 1}, r"have up to 11 decimal places; at most nine digits"),
        ({"a": 1, 2: 1}, r"members of several types"),
        (3, r"weights is of the type int; give 'idf'"),
    ],
)
def test_bad_weights_are_refused(weights: Any, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        nearly.find([{"a"}, {"a", "b"}], weights=weights)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"common": 0.5}, "common drops what many documents have"),
        ({"scheme": "independent"}, "weighted sets are signed in one way"),
        (
            {"measure": "containment"},
            "weights are those of jaccard, and the measure is containment",
        ),
        ({"measure": "edit"}, "weights are those of jaccard, and the measure is edit"),
    ],
)
def test_what_does_not_go_with_weights_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        nearly.find(["one text", "another text"], weights="idf", **options)


def test_a_file_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "weights.csv"
    texts = ["one text", "another text"]
    for written, error, message in (
        ("word,count\na,1\n", SourceError, r"columns 'word', 'count'; weights need two"),
        ("word,weight\none text,1\n", SettingsError, r"is 2 shingles of 1 words"),
        ("word,weight\nOne,1\none,2\n", SettingsError, r"'One' and 'one' in .* same member"),
        ("word,weight\none,\n", SettingsError, r"the weight of 'one' in .* is None"),
    ):
        path.write_text(written)
        with pytest.raises(error, match=message):
            nearly.find(texts, weights=path, unit="word", k=1)
    path.write_text("word,weight\none,1\n")
    with pytest.raises(SettingsError, match="k is auto; say how long a shingle is"):
        nearly.find(texts, weights=path)
    with pytest.raises(NearlyError, match="there is no file"):
        nearly.find(texts, weights=tmp_path / "none.csv", unit="word", k=1)


def test_weights_of_vectors_make_no_sense() -> None:
    table = pa.table({"v": [[1.0, 0.0], [0.5, 0.5]]})
    with pytest.raises(SettingsError, match="weights is about shingles or items"):
        nearly.find(table, vector="v", weights="idf")
