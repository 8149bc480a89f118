"""Distances of vectors and bits: angle, L_r and Hamming's, on both engines."""

import itertools
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse
from clusters import needs_java
from engines import collected, frame_of
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import nearly
from nearly import _kernels, textbook
from nearly.cli.program import run
from nearly.errors import SettingsError, SourceError
from nearly.measures import vector_join
from nearly.measures.choice import choose_measure
from nearly.measures.pair import Block
from nearly.measures.work import ONE_THREAD
from nearly.settings import Settings
from nearly.sources.vector import Shape, contents_of
from nearly.tuning.banding import Banding
from nearly.tuning.projection import (
    Cauchy,
    CauchyParity,
    Gauss,
    GaussParity,
    Stable,
    StableParity,
)


@dataclass(frozen=True)
class Case:
    """A distance, its plain definition, and a threshold that fits `groups`."""

    name: str
    plain: Callable[[Any, Any], float]
    within: float
    power: float | None = None

    @property
    def options(self) -> dict[str, Any]:
        """What names it in Python."""
        return {"measure": self.name, **({} if self.power is None else {"power": self.power})}

    @property
    def arguments(self) -> list[str]:
        """And in the terminal."""
        return [word for name, value in self.options.items() for word in (f"--{name}", str(value))]


CASES = [
    Case("angle", textbook.cosine_distance, 18),
    Case("euclidean", textbook.norm_distance, 2.5),
    Case("manhattan", lambda x, y: textbook.norm_distance(x, y, 1), 11),
    Case("minkowski", lambda x, y: textbook.norm_distance(x, y, 1.5), 4.2, 1.5),
    Case("hamming", textbook.hamming_distance, 9),
]
by_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
#: A textbook's arc cosine is off by as much for small angles.
CLOSE = 3e-6
#: Of the cells for a power of 1.5.
WIDTH = 2.0**2.75


def groups(count: int, length: int, seed: int = 5) -> np.ndarray:
    """Groups of near vectors, strangers and copies; numbers that repeat, for Hamming's sake."""
    draw = np.random.default_rng(seed)
    centres = 2 * draw.standard_normal((count // 8, length))
    spread = draw.uniform(0.05, 0.6, (count // 8, 1, 1))
    vectors = centres[:, None] + spread * draw.standard_normal((count // 8, 8, length))
    vectors = np.round(2 * vectors.reshape(-1, length)) / 2 + 0.0  # no -0
    vectors[3] = vectors[2]
    return vectors


def expected(case: Case, vectors: Any, within: float) -> dict[tuple[int, int], float]:
    rows = [(i, list(map(float, row))) for i, row in enumerate(vectors)]
    if case.name == "angle":
        rows = [(i, row) for i, row in rows if any(row)]
    found = {(i, j): case.plain(a, b) for (i, a), (j, b) in itertools.combinations(rows, 2)}
    return {pair: far for pair, far in found.items() if far <= within + CLOSE}


def as_dict(found: Any) -> dict[tuple[Any, Any], float]:
    columns = (found.pairs.column(name).to_pylist() for name in ("id_a", "id_b", "distance"))
    return {(a, b): number for a, b, number in zip(*columns, strict=True)}


def assert_same(found: dict[Any, float], true: dict[Any, float], within: float) -> None:
    """The same pairs and values, but for those within rounding of the threshold."""
    sure = {pair for pair, far in true.items() if far < within - CLOSE}
    assert sure <= found.keys() <= true.keys()
    for pair, far in found.items():
        assert far == pytest.approx(true[pair], rel=1e-12, abs=CLOSE)


# What is found


@by_case
@settings(max_examples=25)
@given(
    arrays.arrays(
        np.float64,
        st.tuples(st.integers(2, 14), st.integers(1, 4)),
        elements=st.sampled_from([0.0, 1.0, -1.0, 2.0, 0.5, 1e-30, 3e20, -7.25, 7.0]),
    ),
    st.sampled_from([0.5, 1, 3, 60]),
    st.booleans(),
)
def test_exactly_the_pairs_of_the_textbook(
    case: Case, vectors: np.ndarray, within: float, single: bool
) -> None:
    vectors = vectors.astype(np.float32) if single else vectors
    within = min(int(within), vectors.shape[1] - 1) if case.name == "hamming" else within
    options: dict[str, Any] = {**case.options, "within": within, "all_pairs": True}
    found = nearly.find(vectors, method="exact", **options)
    assert_same(as_dict(found), expected(case, vectors, within), within)


@by_case
@pytest.mark.parametrize("length", [3, 24, pytest.param(70, marks=pytest.mark.slow)])
def test_hashing_keeps_its_promise_and_the_join_misses_nothing(case: Case, length: int) -> None:
    vectors = groups(400, length)
    within = case.within * math.sqrt(length / 24) if case.name != "angle" else case.within
    within = min(within, 0.9 * length)
    within = math.floor(within) if case.name == "hamming" else within
    true = expected(case, vectors, within)
    assert len(true) > 50
    options: dict[str, Any] = {**case.options, "within": within, "all_pairs": True}
    exact = as_dict(nearly.find(vectors, method="exact", **options))
    assert_same(exact, true, within)
    hashed = as_dict(nearly.find(vectors, method="lsh", recall=0.99, **options))
    assert hashed.items() <= exact.items()
    assert len(hashed) >= 0.97 * len(exact)


@by_case
def test_the_bound_of_the_join_rules_pairs_out(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_join, "STEP", 96)
    vectors = groups(400, 24)
    shape = Shape("<f8", 24)
    contents = contents_of(pa.FixedSizeListArray.from_arrays(vectors.reshape(-1), 24), shape)
    how = Settings(within=case.within, power=case.power)
    measure = choose_measure(case.name, how, _Source(shape))
    threshold = measure.threshold(how)
    documents = np.arange(400, dtype=np.uint32)
    parts = (slice(0, 150), slice(150, 151), slice(151, 400))
    blocks = [
        lambda part=part: Block.of(documents[part], contents[part.start : part.stop])
        for part in parts
    ]
    joined = list(measure.join(blocks, threshold, ONE_THREAD))
    first, second = (side.astype(np.uint32) for side in np.triu_indices(400, 1))
    near = ~np.isnan(measure.compare(contents, first, second, threshold))
    pairs = np.concatenate([part.pairs for part in joined])
    assert len(pairs) == np.count_nonzero(near) > 100
    assert set(pairs.tolist()) == set(
        (first[near].astype(np.uint64) << np.uint64(32) | second[near]).tolist()
    )
    verified = sum(part.verified for part in joined)
    assert verified < sum(part.meetings for part in joined) / (2 if case.name == "hamming" else 10)


class _Source:
    """What is asked of a source to choose a measure."""

    name, holds_items = "the matrix", False

    def __init__(self, shape: Shape) -> None:
        self.shape = shape


@by_case
@pytest.mark.parametrize("offset", [0.0, 1e7, 1e140])
def test_far_from_the_origin_nothing_is_missed(case: Case, offset: float) -> None:
    vectors = groups(64, 6) * (1 if offset < 1e100 else 1e130) + offset
    within = 5 if case.name == "hamming" else 2.5 if offset < 1e100 else 1e131
    true = expected(case, vectors, within) if offset < 1e100 else None
    options: dict[str, Any] = {**case.options, "within": min(within, 170)}
    options["within"] = within if case.name != "angle" else 5
    found = as_dict(nearly.find(vectors, method="exact", all_pairs=True, **options))
    if case.name == "angle":
        assert found
    elif true is not None:
        assert_same(found, true, within)
    else:
        assert len(found) > 10
    assert nearly.find(vectors, method="lsh", **options).statistics.verified > 0


# The axioms


@by_case
@settings(max_examples=80)
@given(arrays.arrays(np.float64, (3, 4), elements=st.floats(-5, 5)))
def test_the_axioms_of_a_distance(case: Case, vectors: np.ndarray) -> None:
    assume((np.abs(vectors).max(axis=1) > 1e-3).all())
    shape = Shape("<f8", 4)
    measure = choose_measure(case.name, Settings(within=1, power=case.power), _Source(shape))
    contents = contents_of(pa.FixedSizeListArray.from_arrays(vectors.reshape(-1), 4), shape)
    ends = np.array([0, 0, 1, 0], np.uint32), np.array([1, 2, 2, 0], np.uint32)
    there = -measure.compare(contents, *ends, None)
    back = -measure.compare(contents, *ends[::-1], None)
    assert (there == back).all()
    xy, xz, yz, xx = there
    assert xx == 0
    assert min(xy, xz, yz) >= 0
    assert xz <= xy + yz + 1e-9
    if case.name != "angle":
        assert (xy == 0) == bool((vectors[0] == vectors[1]).all())


def test_round_angles_are_round() -> None:
    vectors = np.array([[1.0, 0], [1, 1], [0, 2], [-3, 0], [1, math.sqrt(3)], [1, 1e-9]])
    first, second = np.zeros(5, np.uint32), np.arange(1, 6, dtype=np.uint32)
    found = -_kernels.angles(vectors, first, second, -np.inf)
    assert found.tolist()[:4] == [45.0, 90.0, 180.0, 60.0]
    assert found[4] == pytest.approx(math.degrees(1e-9), rel=1e-3), "an arc cosine would say 0"


# The mathematics: curves against simulation


@pytest.mark.parametrize("apart", [0.3, 1.0, 2.5, 8.0])
def test_lines_agree_as_often_as_their_curves_say(apart: float) -> None:
    """Many lines, within five standard deviations; parity within what its series leaves out."""
    draw = np.random.default_rng(3)
    for name, row, parity in (
        ("euclidean", Gauss(4, 10), GaussParity(4, 10)),
        ("manhattan", Cauchy(8, 10), CauchyParity(8, 10)),
        ("minkowski", Stable(WIDTH, 10, 1.5), StableParity(WIDTH, 10, 1.5)),
    ):
        power = {"euclidean": 2, "manhattan": 1, "minkowski": 1.5}[name]
        told = {"power": power} if name == "minkowski" else {}
        agree = even = 0
        seeds, positions = 30, 512
        for seed in range(seeds):
            away = draw.standard_normal(12)
            away *= apart / textbook.norm_distance(away, 0 * away, power)
            origin = draw.standard_normal(12)
            pair = np.stack([origin, origin + away])
            contents = contents_of(
                pa.FixedSizeListArray.from_arrays(pair.reshape(-1), 12), Shape("<f8", 12)
            )
            how = Settings(within=1, seed=seed, **told)
            measure = choose_measure(name, how, _Source(Shape("<f8", 12)))
            signed = measure.sign(contents, Banding(positions, 1, hashing=measure.hashing))
            agree += int((signed.keys[0] == signed.keys[1]).sum())
            different = signed.sketches[0] ^ signed.sketches[1]
            even += positions - sum(int(word).bit_count() for word in different)
        for family, seen in ((row, agree), (parity, even)):
            chance, count = family.probability(1 - apart / 10), seeds * positions
            assert abs(seen / count - chance) < 5 * math.sqrt(chance * (1 - chance) / count) + 2e-4


@pytest.mark.parametrize(
    "family",
    [
        Gauss(4, 10), Cauchy(8, 10), Stable(WIDTH, 10, 1.5),
        GaussParity(4, 10), CauchyParity(8, 10), StableParity(WIDTH, 10, 1.5),
    ],
)  # fmt: skip
def test_curves_of_lines_are_chances_that_rise(family: Any) -> None:
    steps = [family.chance(i / 500) for i in range(501)]
    assert steps[-1] == (1.0, 0.0)
    for low, high in itertools.pairwise(steps):
        assert 0 <= low.found <= high.found <= 1
        assert low.found + low.missed == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("apart", [0.01, 0.1, 1, 3, 9.9])
def test_stable_lines_are_those_of_cauchy_and_gauss_at_the_ends(apart: float) -> None:
    closeness = 1 - apart / 10
    for one, other in (
        (Stable(8, 10, 1), Cauchy(8, 10)),
        (Stable(4 * math.sqrt(2), 10, 2), Gauss(4, 10)),
        (StableParity(8, 10, 1), CauchyParity(8, 10)),
        (StableParity(4 * math.sqrt(2), 10, 2), GaussParity(4, 10)),
    ):
        assert one.chance(closeness) == pytest.approx(other.chance(closeness), abs=2e-7)


@pytest.mark.parametrize("power", [1, 1.25, 1.75, 2, 3, 4.5, 16])
def test_other_powers_are_those_of_the_textbook(power: float) -> None:
    vectors = groups(64, 12) * np.array([[1e-20], [1.0], [1e20], [1e100]]).repeat(16, axis=0)
    first, second = (side.astype(np.uint32) for side in np.triu_indices(64, 1))
    found = -_kernels.minkowski(vectors, first, second, -np.inf, round(4 * power))
    for i, j, far in zip(first, second, found, strict=True):
        apart = np.abs(vectors[i] - vectors[j])
        scale = apart.max() or 1.0
        true = scale * textbook.norm_distance(apart / scale, 0 * apart, power)
        assert far == pytest.approx(true, rel=1e-13)
    if power > 2:
        within = float(np.quantile(found, 0.05))
        how: dict[str, Any] = {"measure": "minkowski", "power": power, "within": within}
        exact = nearly.find(vectors, all_pairs=True, **how)
        assert exact.statistics.method == "exact"
        assert len(exact) == np.count_nonzero(found <= within) > 50
        with pytest.raises(SettingsError, match="has no hash functions"):
            nearly.find(vectors, method="lsh", **how)


def test_bits_agree_as_often_as_the_share_of_equal_places() -> None:
    pair = pa.array([b"\xff" * 8, b"\xff" * 6 + b"\x00" * 2], pa.binary(8))
    shape = Shape("bits", 64)
    agree = 0
    for seed in range(40):
        measure = choose_measure("hamming", Settings(within=3, seed=seed), _Source(shape))
        signed = measure.sign(contents_of(pair, shape), Banding(512, 1, hashing=measure.hashing))
        agree += int((signed.keys[0] == signed.keys[1]).sum())
    assert abs(agree / (40 * 512) - 0.75) < 5 * math.sqrt(0.75 * 0.25 / (40 * 512))


# Bits, fingerprints, matrices


def test_bits_in_every_form_give_the_same_pairs(tmp_path: Path) -> None:
    draw = np.random.default_rng(2)
    bits = draw.random((40, 64)) < 0.5
    bits = np.concatenate([bits, bits[:30] ^ (draw.random((30, 64)) < 0.03)])
    packed = np.packbits(bits, axis=1, bitorder="little")
    words = packed.copy().view(np.uint64).reshape(-1)
    rows = [row.tobytes() for row in packed]
    true = {
        (i, j): float(far)
        for i, j in itertools.combinations(range(70), 2)
        if (far := textbook.hamming_distance(bits[i].tolist(), bits[j].tolist())) <= 5
    }
    assert len(true) > 15
    columns: list[Any] = [
        pa.array(rows, pa.binary(8)), pa.array(rows), pa.array(rows, pa.large_binary()),
        pa.array(words), pa.array(words.view(np.int64)), pa.array(bits.tolist()),
        pa.array(bits.astype(np.float32).tolist()),
    ]  # fmt: skip
    for method, column in itertools.product(("exact", "lsh"), columns):
        how: dict[str, Any] = {"measure": "hamming", "within": 5, "method": method}
        found = nearly.find(pa.table({"v": column}), vector="v", all_pairs=True, **how)
        assert as_dict(found) == true
    for matrix in (bits, bits.astype(np.int8), scipy.sparse.csr_array(bits.astype(float))):
        assert as_dict(nearly.find(matrix, measure="hamming", within=5, all_pairs=True)) == true
    assert as_dict(nearly.find(words, within=5, all_pairs=True)) == true, "the default for bits"
    pq.write_table(pa.table({"v": columns[0]}), tmp_path / "v.parquet")
    found = nearly.find(tmp_path / "v.parquet", vector="v", within=5, memory=1, all_pairs=True)
    assert as_dict(found) == true
    assert found.text(0) == "".join(f"{byte:08b}" for byte in rows[0])


@pytest.mark.parametrize("written", ["bits", "numbers", "signed"])
def test_bits_and_fingerprints_are_read_from_csv(tmp_path: Path, written: str) -> None:
    draw = np.random.default_rng(6)
    words = draw.integers(0, 2**64, 20, np.uint64)
    words[10:] = words[:10] ^ np.uint64(0b101)
    texts = {
        "bits": [f"{word:064b}" for word in words.tolist()],
        "numbers": words.astype(str).tolist(),
        "signed": words.view(np.int64).astype(str).tolist(),
    }[written]
    path = tmp_path / "f.csv"
    path.write_text("f\n" + "\n".join([*texts, "no bits", "0" * 63, str(2**64)]) + "\n")
    found = nearly.find(path, vector="f", within=2)
    assert found.statistics.measure == "hamming"
    assert as_dict(found) == as_dict(nearly.find(words, within=2))
    assert len(found) == 10
    reasons = [row["reason"] for row in found.skipped.to_pylist()]
    assert reasons[0] == (
        "'no bits' is not 64 bits, written as 0 and 1, or a whole number of 64 bits"
    )
    assert len(reasons) == 3
    assert found.text(0) == f"{words[0]:064b}"


def test_what_a_text_cannot_be_as_a_vector_is_told(tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    for text in ('"[0.1, 0.2]"', "word", "010101010", str(2**65)):
        path.write_text(f"f,g\n{text},1\n")
        with pytest.raises(SourceError, match="a text can be bits, written as 0 and 1"):
            nearly.find(path, vector="f", within=1)
    path.write_text("f\n0000000011111111\n0000000011111110\n00000001\n")
    short = nearly.find(path, vector="f", within=1)
    assert as_dict(short) == {(0, 1): 1.0}
    assert short.text(1) == "0000000011111110"
    assert short.skipped.num_rows == 1


def test_a_sparse_matrix_has_the_distances_of_a_full_one() -> None:
    vectors = groups(80, 9) * (np.random.default_rng(1).random((80, 9)) < 0.4)
    for case in CASES[1:]:
        within = min(case.within, 6)
        how: dict[str, Any] = {**case.options, "within": within, "all_pairs": True}
        full = nearly.find(vectors, **how)
        sparse = nearly.find(scipy.sparse.csr_matrix(vectors), **how)
        assert as_dict(sparse) == as_dict(full)
        assert len(full) > 10


# Mistakes


@pytest.mark.parametrize("measure", ["euclidean", "manhattan", "hamming"])
def test_no_vectors_have_no_pairs(measure: str) -> None:
    assert len(nearly.find(np.zeros((0, 4)), measure=measure, within=1)) == 0


def test_mistakes_are_told() -> None:
    vectors, bits = groups(16, 4), pa.table({"v": pa.array([1, 2], pa.uint64())})
    cases: list[tuple[Any, dict[str, Any], str]] = [
        (vectors, {"measure": "euclidean"}, "euclidean is a distance and within is not given"),
        (vectors, {"measure": "angle", "threshold": 0.9}, "angle is a distance and within is not"),
        (vectors, {"measure": "angle", "within": 180}, "every two vectors of 4 numbers are as nea"),
        (vectors, {"measure": "hamming", "within": 4}, "give a distance below 4"),
        (vectors, {"measure": "angle", "within": 5, "threshold": 0.9}, "leave the threshold out"),
        (vectors, {"measure": "hamming", "within": 1.5}, "counts in whole numbers; give within=1"),
        (vectors, {"measure": "manhattan", "within": -1}, "a distance is 0 or more"),
        (vectors, {"measure": "manhattan", "within": math.inf}, "a distance is 0 or more"),
        (vectors, {"measure": "manhattan", "within": math.nan}, "a distance is 0 or more"),
        (vectors, {"measure": "minkowski", "within": 1}, "say which r is meant"),
        (vectors, {"measure": "minkowski", "within": 1, "power": 0.5}, "from 1 to 16"),
        (vectors, {"measure": "minkowski", "within": 1, "power": 1.3}, "in steps of 0.25"),
        (vectors, {"measure": "minkowski", "within": 1, "power": math.nan}, "from 1 to 16"),
        (vectors, {"measure": "euclidean", "within": 1, "power": 2}, "which is that of minkowski"),
        (bits, {"vector": "v", "within": 64}, "every two vectors of 64 bits"),
        (bits, {"vector": "v", "measure": "cosine"}, "holds bits; compare them by hamming"),
        (["a", "b"], {"measure": "hamming", "within": 1}, "name the column that holds them"),
    ]
    for given_source, options, message in cases:
        with pytest.raises(SettingsError, match=message):
            nearly.find(given_source, **options)


def test_what_is_no_vector_is_skipped_and_zeros_are_vectors() -> None:
    rows = [[0.0, 0.0], [0.0, 0.5], None, [1.0], [math.nan, 1.0], [math.inf, 1.0], [-0.0, 0.0]]
    for name in ("euclidean", "manhattan", "hamming"):
        how: dict[str, Any] = {"vector": "v", "measure": name, "within": 1, "all_pairs": True}
        found = nearly.find(pa.table({"v": rows}), **how)
        assert as_dict(found).keys() == {(0, 1), (0, 6), (1, 6)}
        assert as_dict(found)[0, 6] == 0, "0 and -0 are one number"
        assert found.skipped.num_rows == 4
    by_angle = nearly.find(pa.table({"v": rows}), vector="v", measure="angle", within=1)
    assert by_angle.statistics.empty == 2
    short = pa.table({"v": pa.array([b"ab", b"ab", b"abc", None])})
    bits = nearly.find(short, vector="v", within=1)
    assert [row["reason"] for row in bits.skipped.to_pylist()] == [
        "24 bits, and other vectors have 16", "null vector"
    ]  # fmt: skip
    same = nearly.find(vectors := groups(64, 5), measure="euclidean", within=0, all_pairs=True)
    assert as_dict(same) == expected(CASES[1], vectors, 0.0) != {}


def test_too_long_vectors_are_not_projected() -> None:
    wide = np.zeros((2, 2**21), np.float32)
    wide[0, 0] = 1
    with pytest.raises(SettingsError, match=r"2,097,152 numbers are too long.*--method exact"):
        nearly.find(wide, measure="euclidean", within=2, method="lsh")
    assert len(nearly.find(wide, measure="euclidean", within=2, method="exact")) == 1


# The command line, tuning, Spark


@by_case
def test_tune_names_what_a_row_promises(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    advice = nearly.tune(**case.options, within=case.within, recall=0.97)
    banding = advice.best.banding
    assert banding.recall(advice.threshold) >= 0.97
    d1, d2, p1, p2 = advice.to_dict()["row_sensitivity"]
    assert (d1, d2) == pytest.approx((case.within, 2 * case.within))
    assert 1 > p1 > p2 > 0
    if case.name == "angle":
        assert p1 == pytest.approx(1 - case.within / 180)
    vectors = groups(240, 24)
    surveyed = nearly.tune(vectors, **case.options, within=case.within, sample=1_000)
    different = np.unique(vectors, axis=0)
    assert surveyed.pairs is not None
    low, high = (len(expected(case, different, case.within * share)) for share in (0.98, 1.02))
    assert low <= surveyed.pairs.value <= high
    options = [*case.arguments, "--within", str(case.within), "--at", "2"]
    assert run(["tune", *options]) == 0
    said = capsys.readouterr().out
    assert f"({d1:.4g}, {d2:.4g}, {p1:.4g}, {p2:.4g})-sensitive" in said
    assert "\ndistance " in said


@by_case
def test_the_command_line_finds_audits_and_cleans(
    case: Case, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, clean = tmp_path / "v.parquet", tmp_path / "clean.parquet"
    pq.write_table(pa.table({"id": range(80), "v": groups(80, 24).tolist()}), path)
    named = ["--vector", "v", *case.arguments, "--within", str(case.within)]
    assert run(["find", str(path), *named, "--method", "lsh", "--audit", "80", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["statistics"]
    assert told["measure"] == case.name
    assert told["audit"]["precision"] == 1.0
    assert told["audit"]["pairs"] > 20
    assert run(["find", str(path), *named]) == 0
    assert f"within {case.within:g}" in capsys.readouterr().err
    assert run(["dedup", str(path), *named, "-o", str(clean), "--quiet"]) == 0
    assert 10 <= pq.read_table(clean).num_rows < 80


@needs_java
@pytest.mark.slow
@by_case
def test_spark_finds_the_same(case: Case) -> None:
    vectors = groups(152, 24).astype(np.float32)
    table = pa.table({"id": [f"d{i}" for i in range(152)], "v": vectors.tolist()})
    frame = frame_of(table, 3)
    for method in ("exact", "lsh"):
        how: dict[str, Any] = {"vector": "v", **case.options, "within": case.within}
        here = nearly.find(table, method=method, **how)
        there = collected(nearly.find(frame, method=method, **how))
        assert len(here) > 20
        assert there.pairs.to_pylist() == here.pairs.to_pylist()
        assert there.clusters.to_pylist() == here.clusters.to_pylist()


@needs_java
@pytest.mark.slow
def test_spark_compares_fingerprints() -> None:
    draw = np.random.default_rng(4)
    words = draw.integers(0, 2**62, 60)
    words = np.concatenate([words, words[:40] ^ (1 << draw.integers(0, 62, 40))])
    table = pa.table({"id": range(100), "v": words})
    there = collected(nearly.find(frame_of(table, 3), vector="v", within=2, method="lsh"))
    assert there.pairs.num_rows >= 40
    assert there.pairs.to_pylist() == nearly.find(table, vector="v", within=2).pairs.to_pylist()
