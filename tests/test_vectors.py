"""Vectors by the cosine of their angle: columns of lists, matrices, and both engines."""

import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from clusters import needs_java
from engines import collected, frame_of
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import nearly
from nearly import _kernels, textbook
from nearly.cli.program import run
from nearly.documents.spool import TextStore
from nearly.errors import MissingError, SettingsError, SourceError
from nearly.measures import vector_join
from nearly.measures.cosine import Cosine
from nearly.measures.pair import Block
from nearly.measures.vector_bound import Products
from nearly.measures.work import ONE_THREAD
from nearly.settings import Settings
from nearly.sources.vector import Shape, contents_of

#: With these a pair at 0.6 or above is missed with a probability below 1e-8.
SURE: dict[str, Any] = {"method": "lsh", "bands": 250, "rows": 6, "recall": 1 - 1e-8}
METHODS: list[dict[str, Any]] = [{"method": "exact"}, SURE]


def groups(count: int, length: int, seed: int = 5) -> np.ndarray:
    """Groups of like directions, strangers, copies, and vectors of other lengths."""
    draw = np.random.default_rng(seed)
    centres = draw.standard_normal((max(2, count // 8), length))
    vectors = np.concatenate([c + draw.uniform(0.05, 0.9) * draw.standard_normal((8, length))
                              for c in centres])[:count]  # fmt: skip
    vectors *= draw.choice([1e-3, 1.0, 1e4], (len(vectors), 1))
    vectors[3], vectors[11] = vectors[2], 4 * vectors[10]
    return vectors


def expected(vectors: Any, threshold: float) -> dict[tuple[int, int], float]:
    rows = [(i, list(map(float, row))) for i, row in enumerate(vectors)]
    pairs = itertools.combinations([(i, row) for i, row in rows if any(row)], 2)
    found = {(i, j): textbook.cosine(a, b) for (i, a), (j, b) in pairs}
    return {pair: value for pair, value in found.items() if value >= threshold}


def as_dict(found: Any, value: str = "similarity") -> dict[tuple[Any, Any], float]:
    columns = (found.pairs.column(name).to_pylist() for name in ("id_a", "id_b", value))
    return {(a, b): number for a, b, number in zip(*columns, strict=True)}


def assert_same(found: dict[Any, float], true: dict[Any, float], threshold: float) -> None:
    """The same pairs and values, but for those within rounding of the threshold."""
    sure = {pair for pair, value in true.items() if abs(value - threshold) > 1e-12}
    assert sure <= found.keys() <= true.keys() | found.keys()
    for pair, value in found.items():
        assert value == pytest.approx(true.get(pair, threshold), abs=1e-12)


NUMBERS = st.sampled_from([0.0, 1.0, -1.0, 2.0, 0.5, 1e-30, -3e20, 7.25])


@settings(max_examples=60)
@given(
    arrays.arrays(np.float64, st.tuples(st.integers(2, 24), st.integers(1, 5)), elements=NUMBERS),
    st.sampled_from([0.6, 0.9, 1.0]),
    st.sampled_from(METHODS),
    st.booleans(),
)
def test_every_pair_is_that_of_the_textbook(
    vectors: np.ndarray, threshold: float, method: dict[str, Any], single: bool
) -> None:
    vectors = vectors.astype(np.float32) if single else vectors
    found = nearly.find(vectors, threshold=threshold, all_pairs=True, **method)
    assert_same(as_dict(found), expected(vectors, threshold), threshold)
    assert found.statistics.empty == int((~vectors.any(axis=1)).sum())


@pytest.mark.parametrize("method", METHODS, ids=["exact", "lsh"])
@pytest.mark.parametrize("length", [2, 31, 256, pytest.param(300, marks=pytest.mark.slow)])
def test_long_and_short_vectors(length: int, method: dict[str, Any]) -> None:
    vectors = groups(240, length)
    true = expected(vectors, 0.8)
    assert len(true) > 100
    found = nearly.find(vectors, threshold=0.8, all_pairs=True, **method)
    assert_same(as_dict(found), true, 0.8)
    assert found.statistics.copies == 1


@settings(max_examples=60)
@given(st.integers(1, 80), st.sampled_from([-0.9, 0.0, 0.5, 0.9, 1.0]), st.integers(0, 2**32))
def test_a_first_look_rules_out_only_what_is_too_far(length: int, least: float, seed: int) -> None:
    """Vectors at and around the threshold, of lengths whose squares leave single precision too."""
    draw = np.random.default_rng(seed)
    centre, beside = draw.standard_normal((2, length))
    angles = math.acos(least) + draw.choice([0, 1e-7, -1e-7, 1e-3, -1e-3, 0.3], 30)
    beside -= beside @ centre / (centre @ centre) * centre
    beside *= np.linalg.norm(centre) / (np.linalg.norm(beside) or 1)
    vectors = np.cos(angles)[:, None] * centre + np.sin(angles)[:, None] * beside
    vectors *= draw.choice([1e-37, 1e-14, 1.0, 1e14, 1e37], (30, 1))
    vectors = np.concatenate([centre[None], vectors]).astype(np.float32)
    first, second = np.zeros(30, np.uint32), np.arange(1, 31, dtype=np.uint32)
    for kernel, limit in ((_kernels.cosines, least), (_kernels.angles, -math.degrees(angles[0]))):
        every = kernel(vectors, first, second, -np.inf)
        found = kernel(vectors, first, second, limit)
        assert np.array_equal(found, np.where(every >= limit, every, np.nan), equal_nan=True)


def test_a_cosine_is_the_same_from_both_ends_and_to_itself() -> None:
    vectors = groups(64, 77).astype(np.float32)
    first, second = (side.astype(np.uint32) for side in np.triu_indices(64))
    there = _kernels.cosines(vectors, first, second, -np.inf)
    assert (there == _kernels.cosines(vectors, second, first, -np.inf)).all()
    assert (there[first == second] == 1.0).all()
    assert (np.abs(there) <= 1.0).all()
    assert there[first != second].min() < 0


@settings(max_examples=100)
@given(arrays.arrays(np.float64, (3, 4), elements=st.floats(-5, 5)))
def test_the_angle_keeps_the_axioms_of_a_distance(vectors: np.ndarray) -> None:
    assume((np.abs(vectors).max(axis=1) > 1e-3).all())
    ends = np.array([0, 0, 1], np.uint32), np.array([1, 2, 2], np.uint32)
    xy, xz, yz = (math.acos(c) for c in _kernels.cosines(vectors, *ends, -np.inf))
    assert xz <= xy + yz + 1e-7
    assert min(xy, xz, yz) >= 0


# Signatures


@pytest.mark.parametrize("length", [2, 40, 256, 500])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_signs_agree_as_often_as_the_angle_says(length: int, kind: str) -> None:
    """Over many seeds, within five standard deviations, also where all numbers but two are 0."""
    draw = np.random.default_rng(1)
    for angle in (0.2, 0.45, 1.0):
        basis = draw.standard_normal((2, length)) if kind == "dense" else np.eye(length)[[0, 1]]
        a = basis[0] / np.linalg.norm(basis[0])
        b = basis[1] - (basis[1] @ a) * a
        b /= np.linalg.norm(b)
        pair = np.stack([a, np.cos(angle) * a + np.sin(angle) * b]).astype(np.float32)
        agree = 0
        for seed in range(40):
            keys, _ = _kernels.sign_vectors(pair, seed, 1024, 1, 64)
            agree += int((keys[0] == keys[1]).sum())
        chance = textbook.hyperplane_chance(pair[0].tolist(), pair[1].tolist())
        count = 40 * 1024
        assert abs(agree / count - chance) < 5 * math.sqrt(chance * (1 - chance) / count)


def test_bands_meet_and_sketches_agree_as_the_mathematics_says() -> None:
    """Pairs at the threshold: of a thousand of them at least the promised share meets."""
    draw = np.random.default_rng(8)
    a = draw.standard_normal((2_000, 128))
    a /= np.linalg.norm(a, axis=1, keepdims=True)
    b = draw.standard_normal(a.shape)
    b -= (b * a).sum(axis=1, keepdims=True) * a
    b /= np.linalg.norm(b, axis=1, keepdims=True)
    both = np.empty((4_000, 128), np.float32)
    both[::2], both[1::2] = a, 0.9 * a + math.sqrt(1 - 0.81) * b
    found = nearly.find(both, threshold=0.89, method="lsh", recall=0.95)
    planted = {(2 * i, 2 * i + 1) for i in range(2_000)}
    share = len(planted & as_dict(found).keys()) / 2_000
    assert 0.95 - 0.02 < share < 1.0, "a recall of 1 would not show that anything was hashed"


def test_signatures_do_not_depend_on_batches() -> None:
    vectors = groups(50, 70).astype(np.float32)
    whole = _kernels.sign_vectors(vectors, 3, 9, 13, 100)
    parts = [_kernels.sign_vectors(vectors[i : i + 7], 3, 9, 13, 100) for i in range(0, 50, 7)]
    for side in (0, 1):
        assert (whole[side] == np.concatenate([part[side] for part in parts])).all()
    other = _kernels.sign_vectors(vectors, 4, 9, 13, 100)
    assert (whole[0] != other[0]).mean() > 0.9


# The exact join


def test_the_bound_of_the_join_misses_nothing_and_rules_much_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(vector_join, "STEP", 96)
    vectors = groups(704, 90).astype(np.float32)
    shape = Shape("<f4", 90)
    lists = pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), 90)
    contents = contents_of(lists, shape)
    measure = Cosine.of(Settings(), shape)
    documents = np.arange(704, dtype=np.uint32)
    blocks = [
        lambda part=part: Block.of(documents[part], contents[part.start : part.stop])
        for part in (slice(0, 250), slice(250, 251), slice(251, 704))
    ]
    threshold = measure.threshold(Settings(threshold=0.85))
    joined = list(measure.join(blocks, threshold, ONE_THREAD))
    first, second = (side.astype(np.uint32) for side in np.triu_indices(704, 1))
    nearness = measure.compare(contents, first, second, threshold)
    near = ~np.isnan(nearness)
    true = dict(zip(zip(first[near], second[near], strict=True), nearness[near], strict=True))
    pairs = np.concatenate([part.pairs for part in joined])
    values = np.concatenate([part.nearness for part in joined])
    found = {(p >> 32, p & 0xFFFFFFFF): v for p, v in zip(pairs.tolist(), values, strict=True)}
    assert len(pairs) == len(found) > 500
    assert found == true
    meetings = sum(part.meetings for part in joined)
    assert meetings == 704 * 703 // 2
    assert sum(part.verified for part in joined) < meetings / 10


def test_the_order_of_a_join_is_no_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Vectors that were drawn for others to stand next to decide nothing but the order."""
    vectors = groups(400, 24)
    found = []
    for pivots in (1, 7, 256):
        monkeypatch.setattr(vector_join, "PIVOTS", pivots)
        found.append(as_dict(nearly.find(vectors, threshold=0.85, method="exact")))
    assert len(found[0]) > 200
    assert found[0] == found[1] == found[2]
    assert_same(found[0], expected(vectors, 0.85), 0.85)


def test_many_pairs_are_verified_with_one_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there are more candidates than documents, and the contents of all can be held."""
    read: list[int] = []
    take = TextStore.take

    def counted(self: TextStore, documents: Any) -> Any:
        read.append(len(documents))
        return take(self, documents)

    monkeypatch.setattr(TextStore, "take", counted)
    monkeypatch.setattr("nearly.stages.verification.PAIRS", 100)
    draw = np.random.default_rng(8)
    vectors = np.ones((60, 8)) + 0.1 * draw.standard_normal((60, 8))
    found = nearly.find(vectors, threshold=0.9, method="lsh", bands=20, rows=4)
    assert len(found) > 1_000
    assert as_dict(found).keys() <= expected(vectors, 0.9 - 1e-9).keys()
    assert [count for count in read if count] == [60]


@pytest.mark.parametrize("width", [4, 12, 64, 68, 192])
@pytest.mark.parametrize("count", [1, 16, 131, 1100])
def test_great_products_are_those_of_numpy(width: int, count: int) -> None:
    """Every way that this machine has to work them out, and not only the fastest."""
    draw = np.random.default_rng(width)
    numbers = [draw.integers(-127, 128, (n, width)).astype(np.int8) for n in (count, 70)]
    added = [draw.integers(-9999, 9999, (n, 1)).astype(np.int32) for n in (count, 70)]
    one, other = (np.hstack([n, a.view(np.int8)]) for n, a in zip(numbers, added, strict=True))
    mine, theirs = (n.astype(int) for n in numbers)
    products = mine @ theirs.T + added[0] + added[1].T
    limit = int(np.quantile(products, 0.9))
    squares = mine @ mine.T + added[0] + added[0].T
    ways = _kernels.product_ways()
    assert 0 in ways
    for way in ways:
        a, b = _kernels.great_products(one, other, limit, False, way)
        assert sorted(zip(a, b, strict=True)) == sorted(
            zip(*np.nonzero(products >= limit), strict=True)
        )
        a, b = _kernels.great_products(one, one, limit, True, way)
        true = np.nonzero(np.triu(squares >= limit, 1))
        assert sorted(zip(a, b, strict=True)) == sorted(zip(*true, strict=True))
    for way in {0, 1, 2, 3, 4} - set(ways):
        with pytest.raises(ValueError, match="do not run that way here"):
            _kernels.great_products(one, other, limit, False, way)


def test_sums_are_the_same_to_the_last_bit_in_wide_registers() -> None:
    """Numbers of single precision are compared as the same numbers of double precision are."""
    draw = np.random.default_rng(5)
    ends = np.arange(40, dtype=np.uint32)
    for length in (1, 7, 8, 31, 32, 33, 63, 256, 300):
        spread = 10.0 ** draw.integers(-18, 18, (80, length))
        vectors = (draw.standard_normal((80, length)) * spread).astype(np.float32)
        narrow = _kernels.cosines(vectors.astype(np.float64), ends, ends + np.uint32(40), -np.inf)
        assert (_kernels.cosines(vectors, ends, ends + np.uint32(40), -np.inf) == narrow).all()
        sides = _kernels.cosines(vectors[:40], ends, ends, -np.inf, vectors[40:])
        assert (sides == narrow).all()


@given(st.integers(0, 2**32), st.sampled_from([2, 5, 40]), st.sampled_from([0.1, 0.7, 0.999]))
def test_no_near_pair_is_ruled_out_by_products(seed: int, length: int, least: float) -> None:
    """Neither of ordinary vectors, nor of those that no drawn vector is like."""
    draw = np.random.default_rng(seed)
    vectors = draw.standard_normal((60, length)) * draw.choice([1e-9, 1, 1e9], (60, 1))
    vectors[:8] = np.round(vectors[:8], 0)
    vectors[8:30] = vectors[30:52] + 0.1 * np.abs(vectors[30:52]).max() * vectors[8:30]
    bound = Products.of(vectors[::7], least)
    heads = bound.heads(vectors)
    a, b = bound.near(heads, heads, same=True)
    first, second = (side.astype(np.uint32) for side in np.triu_indices(60, 1))
    near = ~np.isnan(_kernels.cosines(vectors, first, second, least))
    true = set(zip(first[near].tolist(), second[near].tolist(), strict=True))
    assert true <= set(zip(a.tolist(), b.tolist(), strict=True))


# Sources


def test_columns_of_any_kind_of_list(tmp_path: Path) -> None:
    vectors = groups(64, 6).astype(np.float32)
    true = as_dict(nearly.find(vectors, threshold=0.8, method="exact"))
    assert len(true) > 10
    lists = [pa.list_(pa.float32()), pa.large_list(pa.float32()), pa.list_(pa.float32(), 6)]
    for kind in lists:
        table = pa.table({"name": range(64), "v": pa.array(vectors.tolist(), kind)})
        assert as_dict(nearly.find(table, vector="v", threshold=0.8)) == true
        pq.write_table(table, tmp_path / "v.parquet")
        found = nearly.find(tmp_path / "v.parquet", vector="v", threshold=0.8, memory=1)
        assert as_dict(found) == true
    with open(tmp_path / "v.jsonl", "w") as file:
        for i, row in enumerate(vectors.tolist()):
            file.write(json.dumps({"id": i, "v": row}) + "\n")
    from_json = as_dict(nearly.find(tmp_path / "v.jsonl", vector="v", threshold=0.8))
    assert from_json.keys() == true.keys()
    whole = nearly.find(np.array([[1, 2], [2, 4], [2, -1]]), threshold=0.9)
    assert as_dict(whole) == {(0, 1): pytest.approx(1.0)}


def test_a_sparse_matrix_is_filled() -> None:
    class Sparse:
        """As scipy's, which the tests need not have."""

        __module__ = "scipy.sparse._csr"
        ndim, shape, dtype = 2, (3, 4), np.dtype(float)

        def toarray(self) -> np.ndarray:
            return np.array([[0, 1, 0, 2.0], [0, 1, 0, 2.1], [5, 0, 0, 0]])

    assert as_dict(nearly.find(Sparse(), threshold=0.9)).keys() == {(0, 1)}
    wide = Sparse()
    wide.shape = (10**6, 10**6)
    with pytest.raises(SourceError, match=r"1,000,000 rows of 1,000,000 numbers.*truncated SVD"):
        nearly.find(wide)


def test_an_empty_list_does_not_say_how_long_vectors_are(tmp_path: Path) -> None:
    path = tmp_path / "vectors.jsonl"
    path.write_text('{"v": []}\n{"v": [1, 2]}\n{"v": [1, 2.1]}\n{"v": [1]}\n{"v": null}\n')
    found = nearly.find(path, vector="v", threshold=0.99)
    assert as_dict(found).keys() == {(1, 2)}
    assert found.skipped.column("reason").to_pylist() == [
        "0 numbers, and other vectors have 2",
        "1 numbers, and other vectors have 2",
        "null vector, or not valid JSON",
    ]


def test_what_is_no_vector_is_skipped_with_the_reason() -> None:
    rows = [
        [1.0, 2.0], [1.0, 2.1], None, [1.0], [float("nan"), 1.0], [1.0, float("inf")], [1.0, None],
        [1e200, 1.0], [0.0, 0.0], [1.0, 2.0, 3.0], [1e-200, 0.0],
    ]  # fmt: skip
    found = nearly.find(pa.table({"v": rows}), vector="v", threshold=0.99)
    assert as_dict(found).keys() == {(0, 1)}
    assert found.statistics.empty == 1
    assert found.skipped.to_pylist() == [
        {"record": "row 2", "reason": "null vector"},
        {"record": "row 3", "reason": "1 numbers, and other vectors have 2"},
        {"record": "row 4", "reason": "not a number in it"},
        {"record": "row 5", "reason": "an infinite number in it"},
        {"record": "row 6", "reason": "a null among its numbers"},
        {"record": "row 7", "reason": "numbers beyond 1e-150 and 1e+150, which cannot be squared"},
        {"record": "row 9", "reason": "3 numbers, and other vectors have 2"},
        {"record": "row 10", "reason": "numbers beyond 1e-150 and 1e+150, which cannot be squared"},
    ]
    with pytest.raises(SourceError, match="null vector"):
        nearly.find(pa.table({"v": rows}), vector="v", strict=True)


def test_mistakes_are_told(tmp_path: Path) -> None:
    table = pa.table({"text": ["a"], "v": [[1.0]], "items": [["x"]], "n": [0.5]})
    cases: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"vector": "text"}, SourceError, "the first vector is the text 'a'; a text can be bits"),
        ({"vector": "items"}, SourceError, "vectors are needed: lists of numbers"),
        ({"vector": "n"}, SourceError, "column 'n' of the Table holds double"),
        ({"vector": "no"}, MissingError, "has no column 'no'"),
        ({"vector": "v", "text": "text"}, SourceError, "texts, sets of items or vectors"),
        ({"vector": "v", "items": "items"}, SourceError, "items is 'items' and vector is 'v'"),
        ({"vector": "v", "k": 3}, SettingsError, "k is 3, which is about texts, and the Table"),
        ({"vector": "v", "bag": True}, SettingsError, "vectors have none; leave it out"),
        ({"vector": "v", "common": 0.1}, SettingsError, "common drops shingles, and the Table"),
        ({"vector": "v", "within": 3}, SettingsError, "cosine is a similarity"),
        ({"vector": "v", "threshold": 1.5}, SettingsError, "threshold is 1.5"),
        ({"vector": "v", "measure": "jaccard"}, SettingsError, "holds vectors; choose one of cos"),
        ({"measure": "cosine", "text": "text"}, SettingsError, "name the column that holds them"),
        ({"measure": "cosin"}, SettingsError, "there is no measure 'cosin'; did you mean 'cosine'"),
    ]
    for options, kind, message in cases:
        with pytest.raises(kind, match=message):
            nearly.find(table, **options)
    with pytest.raises(SourceError, match="has 1 dimension, and a vector is a row of a matrix"):
        nearly.find(np.arange(3.0))
    with pytest.raises(SourceError, match="the ndarray has rows of no numbers, and a vector is"):
        nearly.find(np.zeros((3, 0)))
    with pytest.raises(SourceError, match="the ndarray has complex numbers, and a vector is"):
        nearly.find(np.ones((3, 2), complex))
    (tmp_path / "a.txt").write_text("a")
    with pytest.raises(SourceError, match=r"vector is 'v', and .* is read as text"):
        nearly.find(tmp_path / "a.txt", vector="v")


# The command line, results, tuning


def test_the_command_line_finds_and_cleans(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "v.parquet"
    vectors = [[1.0, 2.0, 3.0], [1.0, 2.0, 3.1], [3.0, -1.0, 0.0], [1.0, 2.0, 3.0]]
    pq.write_table(pa.table({"id": list("abcd"), "embedding": vectors}), path)
    named = ["--vector", "embedding", "--measure", "cosine", "-t", "0.95"]
    assert run(["find", str(path), *named]) == 0
    shown = capsys.readouterr()
    assert "1 2 3" in shown.out
    assert "vectors of 3 numbers" in shown.err
    assert run(["find", str(path), *named, "--json", "--audit", "4"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["statistics"]["source"] == {
        "vector": "embedding", "numbers": 3, "id": "id", "guessed": ["id"], "likely_id": None
    }  # fmt: skip
    assert told["statistics"]["audit"]["recall"] == 1.0
    clean = tmp_path / "clean.parquet"
    assert run(["dedup", str(path), *named, "-o", str(clean), "--quiet"]) == 0
    assert pq.read_table(clean).column("id").to_pylist() == ["a", "c"]
    saved = tmp_path / "saved"
    nearly.find(path, vector="embedding", threshold=0.95).save(saved)
    assert nearly.open(saved).text("b") == "1 2 3.1"


def test_tune_knows_hyperplanes_by_their_curve(capsys: pytest.CaptureFixture[str]) -> None:
    advice = nearly.tune(measure="cosine", threshold=0.9, recall=0.99)
    banding = advice.best.banding
    chance = 1 - math.acos(0.9) / math.pi
    in_a_band = chance**banding.rows
    assert banding.family.probability(0.9) == pytest.approx(1 - (1 - in_a_band) ** banding.bands)
    assert banding.recall(0.9) >= 0.99
    assert banding.hashing.row.sensitivity(0.1, 0.5).p1 == pytest.approx(chance)
    surveyed = nearly.tune(groups(320, 40), threshold=0.9, sample=1_000)
    different = np.delete(groups(320, 40), 3, axis=0)  # it is a copy of the one before it
    least, most = (len(expected(different, threshold)) for threshold in (0.9, 0.899))
    assert surveyed.pairs is not None
    assert 100 < least <= surveyed.pairs.value <= most, "counted by thousandths of similarity"
    assert run(["tune", "--measure", "cosine", "-t", "0.9"]) == 0
    assert "sensitive" in capsys.readouterr().out


# Spark


@needs_java
@pytest.mark.slow
def test_spark_finds_the_same() -> None:
    vectors = groups(152, 20).astype(np.float32)
    rows = [None if i == 7 else row for i, row in enumerate(vectors.tolist())]
    table = pa.table(
        {"id": [f"d{i}" for i in range(152)], "v": pa.array(rows, pa.list_(pa.float32()))}
    )
    frame = frame_of(table, 3)
    for method in ("exact", "lsh"):
        how: dict[str, Any] = {"vector": "v", "threshold": 0.8, "method": method}
        here, there = nearly.find(table, **how), collected(nearly.find(frame, **how))
        assert len(here) > 20
        assert there.pairs.to_pylist() == here.pairs.to_pylist()
        assert there.clusters.to_pylist() == here.clusters.to_pylist()
        assert there.skipped.num_rows == here.skipped.num_rows == 1
    assert there.top.to_pylist() == here.top.to_pylist()
