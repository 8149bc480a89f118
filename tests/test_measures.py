"""The seam of measures: one made outside the package runs through every verb, on both engines."""

import itertools
import math
import random
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from clusters import needs_java
from engines import collected, frame_of
from hamming import Hamming, bit_strings

import nearly
from nearly.arrays import BITS
from nearly.errors import SettingsError
from nearly.measures.base import Measure
from nearly.measures.choice import OF_VECTORS, measure_at
from nearly.measures.containment import Containment, ItemContainment
from nearly.measures.edit import Edit
from nearly.measures.item_jaccard import ItemJaccard
from nearly.measures.jaccard import Jaccard
from nearly.measures.weight import given_weights
from nearly.measures.weighted_jaccard import WeightedItemJaccard, WeightedJaccard
from nearly.settings import Settings
from nearly.sources import vector as vectors
from nearly.sources.item import contents_of
from nearly.sources.vector import Shape
from nearly.tuning.banding import Banding

LENGTH, WITHIN = 64, 6
ENGINES = ["local", pytest.param("spark", marks=needs_java)]
SLOW_ENGINES = ["local", pytest.param("spark", marks=[needs_java, pytest.mark.slow])]


def texts() -> list[str]:
    """Chains of strings that differ in a few bits, copies, and strangers."""
    draw = random.Random(3)
    found = [f"{draw.getrandbits(LENGTH):064b}" for _ in range(60)]
    for start in range(12):
        text = found[start]
        for _ in range(4):
            places = draw.sample(range(LENGTH), draw.randrange(0, 9))
            text = "".join(str(1 - int(bit)) if i in places else bit for i, bit in enumerate(text))
            found.append(text)
    draw.shuffle(found)
    return found


TEXTS = texts()
HOW: dict[str, Any] = {"measure": Hamming(length=LENGTH), "within": WITHIN, "recall": 0.999}


def distance(a: str, b: str) -> int:
    return sum(x != y for x, y in zip(a, b, strict=True))


def expected() -> dict[tuple[str, str], float]:
    pairs = itertools.combinations(enumerate(TEXTS), 2)
    found = {(f"d{i}", f"d{j}"): distance(a, b) for (i, a), (j, b) in pairs}
    return {pair: float(d) for pair, d in found.items() if d <= WITHIN}


@pytest.fixture(scope="module", name="by_pickling", autouse=True)
def _by_pickling() -> Iterator[None]:
    """Workers of Spark cannot import what lies beside the tests: it is sent to them."""
    import hamming

    try:
        from pyspark import cloudpickle
    except ImportError:
        yield
        return
    cloudpickle.register_pickle_by_value(hamming)
    yield
    cloudpickle.unregister_pickle_by_value(hamming)


def source(engine: str) -> Any:
    table = bit_strings(TEXTS)
    return table if engine == "local" else frame_of(table, 3)


def as_dict(pairs: pa.Table) -> dict[tuple[str, str], float]:
    columns = (pairs.column(name).to_pylist() for name in ("id_a", "id_b", "distance"))
    return {(a, b): d for a, b, d in zip(*columns, strict=True)}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("method", ["exact", "lsh"])
def test_find_gives_every_pair_with_its_distance(engine: str, method: str) -> None:
    found = collected(nearly.find(source(engine), method=method, all_pairs=True, **HOW))
    true = expected()
    assert len(true) > 40
    assert 0.0 in true.values()
    assert WITHIN in true.values()
    assert as_dict(found.pairs) == true
    nearest = found.top.column("distance").to_pylist()
    assert nearest == sorted(nearest)


@pytest.mark.parametrize("engine", SLOW_ENGINES)
@pytest.mark.parametrize("cluster", ["components", "leader"])
def test_dedup_names_survivors_with_their_distance(engine: str, cluster: str) -> None:
    here = collected(nearly.dedup(bit_strings(TEXTS), method="exact", cluster=cluster, **HOW))
    clean = collected(nearly.dedup(source(engine), method="lsh", cluster=cluster, **HOW))
    assert clean.removed.num_rows > 20
    for name in ("removed", "clusters", "kept"):
        assert clean.tables[name].equals(here.tables[name]), name
    place = {f"d{i}": text for i, text in enumerate(TEXTS)}
    for row in clean.removed.to_pylist():
        assert row["distance"] == distance(place[row["id"]], place[row["survivor"]])
        assert cluster == "components" or row["distance"] <= WITHIN
    assert clean.clusters.column("weakest").to_pylist() != []
    assert max(clean.clusters.column("weakest").to_pylist()) <= WITHIN


@pytest.mark.parametrize("engine", SLOW_ENGINES)
def test_an_audit_proves_the_recall(engine: str) -> None:
    found = nearly.find(source(engine), method="lsh", audit=10_000, **HOW)
    audit = found.statistics.to_dict()["audit"]
    assert (audit["recall"], audit["precision"]) == (1.0, 1.0)
    distinct = set(TEXTS)
    near = sum(1 for a, b in itertools.combinations(distinct, 2) if distance(a, b) <= WITHIN)
    assert audit["pairs"] == 2 * near > 40


def test_tune_knows_the_measure_by_its_curves() -> None:
    advice = nearly.tune(bit_strings(TEXTS), sample=10_000, **HOW)
    banding = advice.best.banding
    closeness = 1 - WITHIN / LENGTH
    assert advice.threshold == closeness
    in_a_band = (closeness**2) ** banding.rows
    assert banding.family.probability(closeness) == pytest.approx(
        1 - (1 - in_a_band) ** banding.bands
    )
    assert banding.recall(closeness) >= 0.999
    distinct = set(TEXTS)
    near = [d for a, b in itertools.combinations(distinct, 2) if (d := distance(a, b)) <= WITHIN]
    assert WITHIN in near, "pairs on the threshold are counted too"
    assert advice.pairs is not None
    assert advice.pairs.value == len(near)
    assert nearly.tune(documents=1_000, **HOW).best.banding.recall(closeness) >= 0.999


@pytest.mark.parametrize("chooser", ["area", "nearest"])
def test_every_chooser_works_for_any_curve(chooser: Any) -> None:
    advice = nearly.tune(documents=1_000, chooser=chooser, permutations=24, **HOW)
    assert advice.best.banding.permutations <= 24


def test_what_a_threshold_means_is_the_measures_affair() -> None:
    with pytest.raises(SettingsError, match=r"within is not given.*within=3"):
        nearly.find(bit_strings(TEXTS), measure=Hamming(length=LENGTH))
    with pytest.raises(SettingsError, match=r"within is 3, and jaccard is a similarity"):
        nearly.find(bit_strings(TEXTS), within=3)
    with pytest.raises(SettingsError, match=r"within is -1; a distance is 0 or more"):
        nearly.find(bit_strings(TEXTS), measure=Hamming(length=LENGTH), within=-1)


LISTS = [["a", "b"], ["b", "a", "a"], ["c"], ["a", "b"], ["a"]]
ITEMS = contents_of(pa.array(LISTS)).to_pylist()
WEIGHTS = given_weights("weights", np.arange(1, dtype=np.uint64), [Decimal(3)], Decimal("0.5"))
VECTORS = [[1.0, 2.0], [1.0, -2.5], [3.0, 0.5], [1.0, 2.0], [-1.0, 2.0]]
NUMBERS = vectors.contents_of(pa.array(VECTORS), Shape("<f8", 2)).to_pylist()
MEASURES: list[tuple[Measure, list[Any]]] = [
    (ItemJaccard.of(Settings()), ITEMS),
    (ItemJaccard.of(Settings(bag=True)), ITEMS),
    (Jaccard.of(Settings.of(k=2, raw=True, bag=True)), ["abcabd", "abcab", "xyz", "abcabd", "ab"]),
    (Jaccard.of(Settings.of(k=2, raw=True)), ["abcabd", "abcabe", "xyz", "abcabd", "ab"]),
    (ItemContainment.of(Settings()), ITEMS),
    (Containment.of(Settings.of(k=2, raw=True)), ["abcabd", "abcabe", "xyz", "abcabd", "ab"]),
    (Edit.of(Settings.of(raw=True)), ["abcabd", "abcabe", "xyz", "abcabd", "ab"]),
    (Edit.of(Settings.of(raw=True, within=2)), ["abcabd", "abcabe", "xyz", "abcabd", "ab"]),
    (
        WeightedItemJaccard.of(Settings(weights="idf"), WEIGHTS),
        ITEMS,
    ),
    (
        WeightedJaccard.of(Settings.of(k=2, raw=True, weights="idf"), WEIGHTS),
        ["abcabd", "abcabe", "xyz", "abcabd", "ab"],
    ),
    (Hamming(length=8), ["00001111", "00001110", "11110000", "00001111", "00000000"]),
    *(
        (measure_at(place, Settings(within=1.5, power=1.5), Shape("<f8", 2)), NUMBERS)
        for place in OF_VECTORS.values()
    ),
    (measure_at(OF_VECTORS["minkowski"], Settings(within=1.5, power=3), Shape("<f8", 2)), NUMBERS),
    (measure_at(OF_VECTORS["hamming"], Settings(within=3), Shape(BITS, 128)), NUMBERS),
]


@pytest.mark.parametrize(("measure", "documents"), MEASURES, ids=lambda m: getattr(m, "name", ""))
def test_every_measure_keeps_to_its_word(measure: Measure, documents: list[Any]) -> None:
    is_text = isinstance(documents[0], str)
    contents = pa.array(documents, pa.large_string() if is_text else pa.large_binary())
    first, second = (side.astype(np.uint32) for side in np.triu_indices(len(documents), 1))
    nearness = measure.compare(contents, first, second, None)
    assert not np.isnan(nearness).any()
    assert (nearness == measure.compare(contents, second, first, None)).all()
    same = np.array([documents[i] == documents[j] for i, j in zip(first, second, strict=True)])
    assert same.any()
    assert (nearness[same] == measure.same).all()
    assert (measure.shown(measure.shown(nearness)) == nearness).all()
    if measure.hashing is None:
        assert measure.most_to_join is None
        return
    closeness = measure.closenesses(nearness)
    assert ((closeness >= 0) & (closeness <= 1)).all()
    banding = Banding(6, 3, hashing=measure.hashing)
    signed, weighed = measure.sign(contents, banding), measure.weigh(contents)
    assert (signed.sizes == weighed.sizes).all()
    assert (signed.digests == weighed.digests).all()
    assert signed.keys.shape == (len(documents), 6)
    assert signed.sketches.shape[1] == measure.hashing.sketch_words(banding.permutations)
    assert measure.sign(contents[:0], banding).keys.shape == (0, 6)


def test_rows_of_signatures_agree_as_often_as_the_curve_says() -> None:
    """Over many seeds, within four standard deviations."""
    pair = ["1" * LENGTH, "1" * 48 + "0" * 16]
    contents = pa.array(pair, pa.large_string())
    seeds, banding = 400, Banding(50, 1)
    agree = 0
    for seed in range(seeds):
        measure = Hamming(length=LENGTH, seed=seed)
        keys = measure.sign(contents, Banding(50, 1, hashing=measure.hashing)).keys
        agree += int((keys[0] == keys[1]).sum())
    count = seeds * banding.bands
    chance = Hamming(length=LENGTH).hashing.row.probability(48 / 64)
    assert abs(agree / count - chance) < 4 * math.sqrt(chance * (1 - chance) / count)
