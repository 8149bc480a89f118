"""Sets and bags of items as they are given: list columns, long tables, Python sets."""

import datetime
import itertools
import json
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest
from clusters import needs_java
from engines import collected, frame_of, session
from hypothesis import given, settings
from hypothesis import strategies as st

import nearly
from nearly import textbook
from nearly.cli.program import run
from nearly.errors import MissingError, SettingsError, SourceError
from nearly.measures import item_jaccard
from nearly.measures.item_jaccard import ItemJaccard
from nearly.settings import Settings
from nearly.sources.item import contents_of, hashes_of
from nearly.textbook import signature
from nearly.tuning.banding import Banding

#: With these a pair at 0.3 or above is missed with a probability below 1e-8.
SURE = {"method": "lsh", "bands": 96, "rows": 1, "recall": 1 - 1e-8}
METHODS: list[dict[str, Any]] = [{"method": "exact"}, SURE]

#: Whether customers have similar tastes (kth, collaborative filtering), at 20% and up.
PURCHASES = [
    ("ann", "Heat"), ("ann", "Alien"), ("ann", "Brazil"), ("bob", "Heat"), ("bob", "Alien"),
    ("cy", "Brazil"), ("dee", "Cabaret"), ("dee", "Dune"), ("bob", "Alien"), ("eve", "Dune"),
]  # fmt: skip


def expected(
    documents: list[list[Any] | None], threshold: Any, *, bag: bool = False
) -> dict[tuple[int, int], float]:
    """Every pair by the definitions of the textbook."""
    measure = textbook.bag_jaccard if bag else textbook.jaccard
    made = [None if d is None else (Counter if bag else set)(_items(d)) for d in documents]
    pairs = itertools.combinations([(i, d) for i, d in enumerate(made) if d is not None], 2)
    similar = {(i, j): measure(a, b) for (i, a), (j, b) in pairs}
    return {
        pair: float(found) for pair, found in similar.items() if found >= Fraction(str(threshold))
    }


def _items(items: list[Any]) -> list[Any]:
    return [item for item in items if item is not None]


def as_dict(found: Any) -> dict[tuple[Any, Any], float]:
    columns = (found.pairs.column(name).to_pylist() for name in ("id_a", "id_b", "similarity"))
    return {(a, b): value for a, b, value in zip(*columns, strict=True)}


DRAWN = st.lists(
    st.none() | st.lists(st.none() | st.integers(-3, 8), max_size=9), min_size=2, max_size=30
)


@settings(max_examples=60)
@given(DRAWN, st.sampled_from([0.3, 0.5, 0.75, 1.0]), st.booleans(), st.sampled_from(METHODS))
def test_every_pair_is_that_of_the_textbook(
    documents: list[list[int | None] | None], threshold: float, bag: bool, method: dict[str, Any]
) -> None:
    table = pa.table({"items": pa.array(documents, pa.list_(pa.int64()))})
    if all(one is None for one in documents):
        return
    found = nearly.find(
        table, items="items", threshold=threshold, bag=bag, all_pairs=True, **method
    )
    assert as_dict(found) == expected(documents, threshold, bag=bag)
    made = sum(1 for one in documents if one is None)
    assert found.skipped.column("reason").to_pylist() == ["null items"] * made


@settings(max_examples=40)
@given(
    st.lists(st.text("ab ", max_size=12), min_size=2, max_size=12),
    st.sampled_from(["char", "word"]),
    st.sampled_from(METHODS),
)
def test_bags_of_shingles_are_those_of_the_textbook(
    texts: list[str], unit: Any, method: dict[str, Any]
) -> None:
    how: dict[str, Any] = {"unit": unit, "k": 2, "raw": True, "bag": True, "threshold": 0.4}
    found = nearly.find(nearly.texts(texts), all_pairs=True, **how, **method)
    bags = [textbook.bag(text, unit, 2) for text in texts]
    pairs = itertools.combinations(range(len(bags)), 2)
    true = {(i, j): textbook.bag_jaccard(bags[i], bags[j]) for i, j in pairs}
    assert as_dict(found) == {
        pair: float(value) for pair, value in true.items() if value >= Fraction(2, 5)
    }


def test_the_bag_of_the_slides_differs_from_the_set() -> None:
    how: dict[str, Any] = {"k": 2, "raw": True, "threshold": 0.1, "method": "exact"}
    texts = nearly.texts(["abcab", "abc"])
    assert as_dict(nearly.find(texts, **how)) == {(0, 1): 2 / 3}
    assert as_dict(nearly.find(texts, bag=True, **how)) == {(0, 1): 0.5}


DAY = datetime.date(2024, 2, 29)
KINDS: list[tuple[pa.DataType, list[Any]]] = [
    (pa.int8(), [-1, 0, 1, 2]),
    (pa.uint64(), [0, 1, 2**63, 2**64 - 1]),
    (pa.float32(), [0.5, -0.0, float("inf"), 1.0]),
    (pa.bool_(), [True, False]),
    (pa.date32(), [DAY + datetime.timedelta(days=i) for i in range(4)]),
    (pa.timestamp("us", "UTC"), [datetime.datetime(2024, 1, i + 1) for i in range(4)]),
    (pa.decimal128(9, 2), [Decimal("1.10"), Decimal("1.11"), Decimal("-1.10"), Decimal(0)]),
    (pa.string(), ["", "a", "a\nb", "a long item with more than sixteen bytes"]),
    (pa.large_string(), ["x", "y", "é", "日本"]),
    (pa.string_view(), ["x", "y", "z", "zz"]),
    (pa.dictionary(pa.int8(), pa.string()), ["p", "q", "r", "s"]),
    (pa.binary(), [b"", b"\xff", b"\x00", b"\x00\x00"]),
    (pa.binary(2), [b"ab", b"cd", b"\xff\xff", b"\x00\x00"]),
]


@pytest.mark.parametrize(("kind", "values"), KINDS, ids=[str(kind) for kind, _ in KINDS])
@pytest.mark.parametrize("lists", [pa.list_, pa.large_list], ids=["list", "large_list"])
def test_items_may_be_of_any_type(kind: pa.DataType, values: list[Any], lists: Any) -> None:
    documents = [list(some) for n in (1, 2, 3) for some in itertools.combinations(values, n)]
    documents = 2 * [*documents, [values[0], values[0], None], []]
    column = pa.array(documents, lists(kind))
    table = pa.table({"items": column.slice(2)})  # offsets need not begin at 0
    found = nearly.find(table, items="items", threshold=0.5, method="exact", all_pairs=True)
    true = expected(documents[2:], 0.5)
    assert len(true) > 10
    assert as_dict(found) == true


def test_hashes_of_items_are_those_of_the_page() -> None:
    assert hashes_of(pa.array(["", "nearly the same"])).tolist() == [
        signature.hash_bytes(0, b""),
        signature.hash_bytes(0, b"nearly the same"),
    ]
    numbers = [0, 7, -1]
    for kind in (pa.int64(), pa.int8()):
        assert hashes_of(pa.array(numbers, kind)).tolist() == [
            signature.hash_bytes(0, (n % 2**64).to_bytes(8, "little")) for n in numbers
        ]
    zero = pa.array([0.0, -0.0, float("nan"), np.float64("nan")])
    assert len(set(hashes_of(zero).tolist())) == 2


def test_signatures_of_sets_are_those_of_the_page() -> None:
    contents = contents_of(pa.array([[1, 2, 3], [3, 3], []], pa.list_(pa.int64())))
    banding = Banding(5, 3)
    for scheme in ("one-permutation", "independent"):
        measure = ItemJaccard.of(Settings(seed=9, scheme=scheme))
        signed = measure.sign(contents, banding)
        for i, items in enumerate([[1, 2, 3], [3]]):
            hashes = [signature.hash_bytes(0, n.to_bytes(8, "little")) for n in items]
            seeded = [signature.mix(h ^ signature.start_hash(9, 0)) for h in hashes]
            make = (
                signature.one_permutation_signature
                if scheme == "one-permutation"
                else signature.independent_signature
            )
            rows = make(seeded, 15, 9)
            keys = [signature.band_key(rows[b * 3 : b * 3 + 3]) for b in range(5)]
            assert signed.keys[i].tolist() == keys
        assert signed.sizes.tolist() == [3, 1, 0]


# Long tables


def purchases(folder: Path) -> Path:
    path = folder / "purchases.csv"
    lines = [f'{customer},"{product}",{n}' for n, (customer, product) in enumerate(PURCHASES)]
    path.write_text("\n".join(["customer,product,order", *lines, ""]))
    return path


def by_key(rows: list[tuple[str, str]]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for key, item in rows:
        groups.setdefault(key, []).append(item)
    return groups


@pytest.mark.parametrize("bag", [False, True], ids=["set", "bag"])
@pytest.mark.parametrize("dual", [False, True], ids=["customers", "products"])
def test_a_long_table_is_grouped(tmp_path: Path, dual: bool, bag: bool) -> None:
    by, item = ("product", "customer") if dual else ("customer", "product")
    groups = by_key([(b, a) if dual else (a, b) for a, b in PURCHASES])
    names = list(groups)
    true = expected(list(groups.values()), 0.2, bag=bag)
    assert len(true) > 2
    found = nearly.find(
        purchases(tmp_path), by=by, item=item, threshold=0.2, bag=bag, all_pairs=True
    )
    assert as_dict(found) == {(names[i], names[j]): value for (i, j), value in true.items()}
    assert found.statistics.documents == len(names)
    assert found.text(names[0]) == "\n".join(sorted(groups[names[0]]))


def test_a_clean_copy_of_a_long_table_has_the_rows_of_the_groups_that_stay(tmp_path: Path) -> None:
    source = purchases(tmp_path)
    clean = nearly.dedup(source, by="customer", item="product", threshold=0.6)
    assert clean.removed.select(["id", "survivor"]).to_pylist() == [
        {"id": "bob", "survivor": "ann"}
    ]
    clean.write(tmp_path / "clean.csv")
    lines = source.read_text().splitlines(keepends=True)
    assert (tmp_path / "clean.csv").read_text() == "".join(
        line for line in lines if not line.startswith("bob,")
    )
    longest = nearly.dedup(source, by="customer", item="product", threshold=0.6, keep="last")
    assert [row["customer"] for row in longest.kept.to_pylist()].count("ann") == 0
    longest.save(tmp_path / "saved")
    again = nearly.open(tmp_path / "saved")
    assert isinstance(again, nearly.Deduplicated)
    assert again.kept.to_pylist() == longest.kept.to_pylist()
    assert again.text("bob") == "Alien\nAlien\nHeat"


def test_rows_without_a_key_or_an_item_are_listed_and_stay(tmp_path: Path) -> None:
    table = pa.table(
        {"who": ["a", None, "a", "b", "b", "c"], "what": [1, 1, 2, 1, 2, None], "n": range(6)}
    )
    pq.write_table(table, tmp_path / "rows.parquet")
    clean = nearly.dedup(tmp_path / "rows.parquet", by="who", item="what")
    assert clean.skipped.to_pylist() == [
        {"record": "row 1", "reason": "null who"},
        {"record": "row 5", "reason": "null what"},
    ]
    assert clean.kept.column("n").to_pylist() == [0, 1, 2, 5]
    dropped = nearly.dedup(tmp_path / "rows.parquet", by="who", item="what", unreadable="drop")
    assert dropped.kept.column("n").to_pylist() == [0, 2]


def test_keys_may_be_numbers_and_tables_may_be_in_parts(tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    folder.mkdir()
    pc.write_csv(pa.table({"k": [10, 2, 10], "v": ["x", "x", "y"]}), folder / "1.csv")
    pc.write_csv(pa.table({"k": [2, 3], "v": ["y", "z"]}), folder / "2.csv")
    found = nearly.find(folder, by="k", item="v")
    assert found.pairs.to_pylist() == [{"id_a": 10, "id_b": 2, "similarity": 1.0}]


def test_a_long_table_without_rows_is_empty() -> None:
    table = pa.table({"k": pa.array([], pa.string()), "v": pa.array([], pa.int64())})
    assert len(nearly.find(table, by="k", item="v")) == 0


# Python objects, results


def test_python_sets_are_documents() -> None:
    found = nearly.find([{1, 2}, {2, 3}, frozenset([1, 2]), (2, 1, 2)], threshold=0.3)
    assert len(found) > 0
    found = nearly.find({"a": {"x", "y"}, "b": ["y", "x", "z"]}, threshold=0.5)
    assert as_dict(found) == {("a", "b"): 2 / 3}
    assert found.texts(["b", "a"]) == ["x\ny\nz", "x\ny"]
    top = found.top.to_pylist()[0]
    assert (top["text_a"], top["text_b"]) == ("x\ny", "x\ny\nz")
    assert nearly.find([[], []]).statistics.empty == 2


def test_frames_of_pandas_and_polars_have_list_columns() -> None:
    import pandas
    import polars

    documents = [["a", "b"], ["b", "a", "c"], ["d"]]
    true = expected(documents, 0.5)
    for frame in (pandas.DataFrame({"tags": documents}), polars.DataFrame({"tags": documents})):
        assert as_dict(nearly.find(frame, items="tags", threshold=0.5)) == true


def test_longest_is_the_one_with_the_most_items() -> None:
    sets = [[1, 2, 3], [1, 2, 3, 4], [9]]
    clean = nearly.dedup(sets, threshold=0.7, keep="longest")
    assert clean.removed.column("id").to_pylist() == [0]
    assert clean.kept.to_pylist() == [{"items": [1, 2, 3, 4]}, {"items": [9]}]


def test_a_saved_result_reads_its_items_again(tmp_path: Path) -> None:
    pq.write_table(pa.table({"n": [5, 6], "bag": [["x", "y"], ["y", "x"]]}), tmp_path / "a.parquet")
    found = nearly.find(tmp_path / "a.parquet", id="n", items="bag")
    found.save(tmp_path / "kept")
    again = nearly.open(tmp_path / "kept")
    assert again.text(6) == "x\ny"


def test_an_audit_and_tuning_know_sets() -> None:
    draw = np.random.default_rng(1)
    sets = [draw.choice(60, draw.integers(4, 12), replace=False).tolist() for _ in range(400)]
    true = expected(sets, 0.4)
    assert len(true) > 50
    found = nearly.find(sets, threshold=0.4, method="lsh", recall=0.9999, audit=1_000)
    audit = found.statistics.audit
    assert audit is not None
    assert audit.recall > 0.99
    assert audit.precision == 1
    advice = nearly.tune(sets, threshold=0.4, sample=1_000)
    assert advice.pairs is not None
    distinct = {frozenset(one) for one in sets}
    near = sum(
        textbook.jaccard(a, b) >= Fraction(2, 5) for a, b in itertools.combinations(distinct, 2)
    )
    assert advice.pairs.value == near


def test_sets_with_many_items_in_common_are_joined(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Buckets would be crowded; and no option for shingles is recommended."""
    lists = [[*range(20), *range(100 + 5 * i, 105 + 5 * i)] for i in range(1_200)]
    lists[77] = [*lists[5], -1]
    pq.write_table(pa.table({"items": lists}), tmp_path / "sets.parquet")
    with patch.object(ItemJaccard, "most_to_join", 2**12):
        found = nearly.find(tmp_path / "sets.parquet", items="items")
        assert run(["find", str(tmp_path / "sets.parquet"), "--items", "items"]) == 0
    assert found.statistics.why.startswith("hashing would compare ")
    assert as_dict(found) == {(5, 77): 25 / 26}
    [said] = [line for line in capsys.readouterr().err.splitlines() if "bucket holds" in line]
    assert said.endswith("%)")


def test_seeds_change_which_pairs_are_missed() -> None:
    draw = np.random.default_rng(2)
    sets = [draw.choice(30, 8, replace=False).tolist() for _ in range(300)]
    how: dict[str, Any] = {"threshold": 0.3, "method": "lsh", "bands": 2, "rows": 2}
    found = [as_dict(nearly.find(sets, seed=seed, **how)) for seed in (1, 2, 1)]
    assert found[0] == found[2] != found[1]
    true = expected(sets, 0.3)
    assert 0 < len(found[0]) < len(true)
    assert found[0].items() <= true.items()


# The command line


def test_the_command_line_takes_lists_and_long_tables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def call(*arguments: object) -> tuple[str, str]:
        assert run([str(argument) for argument in arguments]) == 0
        shown = capsys.readouterr()
        return shown.out, shown.err

    columns = ("--by", "customer", "--item", "product")
    told = json.loads(call("find", purchases(tmp_path), *columns, "-t", 0.2, "--json")[0])
    assert told["statistics"]["source"]["items"] == "product"
    path = tmp_path / "baskets.jsonl"
    path.write_text('{"id": "p", "items": ["a", "b"]}\n{"id": "q", "items": ["b", "a", "c"]}\n')
    out, err = call("find", path, "--items", "items", "-t", 0.6)
    assert "0.6666  p  a b" in out
    assert "sets of items" in err
    clean = tmp_path / "clean.jsonl"
    _, err = call("dedup", path, "--items", "items", "-t", 0.6, "--bag", "-o", clean)
    assert "bags of items" in err
    assert clean.read_text() == path.read_text().splitlines(keepends=True)[0]


def test_mistakes_are_told(tmp_path: Path) -> None:
    table = pa.table({"text": ["a"], "n": [1], "l": [["x"]], "deep": [[["x"]]]})
    cases: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"items": "text"}, SourceError, "column 'text' of the Table holds string, and lists are"),
        ({"items": "no"}, MissingError, "has no column 'no'"),
        ({"items": "deep"}, SourceError, "an item is one value"),
        ({"items": "l", "text": "text"}, SourceError, "texts, sets of items or vectors"),
        ({"items": "l", "k": 3}, SettingsError, "k is 3, which is about texts"),
        (
            {"items": "l", "common": 0.1},
            SettingsError,
            "common drops shingles, and the Table",
        ),
        ({"items": "l", "ignore": ["x y"]}, SettingsError, "ignore drops shingles, and the Table"),
        ({"bag": True, "common": 0.1}, SettingsError, "common drops shingles from sets, and bag"),
        ({"bag": True, "ignore": ["x y"]}, SettingsError, "ignore drops shingles from sets, and"),
        ({"by": "n"}, SourceError, "by is 'n' and item is None. Give both"),
        ({"by": "n", "item": "n"}, SourceError, "by and item are both 'n'"),
        ({"by": "n", "item": "text", "id": "n"}, SourceError, "id is 'n', and by is 'n'"),
        ({"by": "n", "item": "l"}, SourceError, "an item is one value"),
        ({"by": "who", "item": "text"}, MissingError, "has no column 'who'"),
        ({"by": "n", "item": "what"}, MissingError, "has no column 'what'"),
    ]
    for options, kind, message in cases:
        with pytest.raises(kind, match=message):
            nearly.find(table, **options)
    with pytest.raises(SourceError, match="are not of one type"):
        nearly.find([{1}, {"a"}])
    with pytest.raises(SourceError, match="element 1 of the list is a str, and others are sets"):
        nearly.find([{1}, "a"])
    (tmp_path / "a.txt").write_text("a")
    with pytest.raises(SourceError, match=r"items is 'l', and .* is read as text"):
        nearly.find(tmp_path / "a.txt", items="l")
    with pytest.raises(SettingsError, match="keep looks at the column 'n'"):
        nearly.dedup(table, by="n", item="text", keep="newest:n")


# Both engines, real data


def sets_table() -> pa.Table:
    draw = np.random.default_rng(5)
    lists: list[list[str] | None] = [
        [f"i{n}" for n in draw.integers(0, 40, draw.integers(0, 9))] for _ in range(150)
    ]
    lists[7] = None
    return pa.table({"id": [f"d{i}" for i in range(150)], "items": lists})


@needs_java
@pytest.mark.slow
def test_spark_finds_the_same_sets() -> None:
    table = sets_table()
    how: dict[str, Any] = {"items": "items", "threshold": 0.5, "method": "lsh"}
    here, there = nearly.find(table, **how), nearly.find(frame_of(table, 2), **how)
    assert len(here) > 20
    assert there.pairs.toArrow().to_pylist() == here.pairs.to_pylist()
    assert there.top.to_pylist() == here.top.to_pylist()


@needs_java
@pytest.mark.slow
@pytest.mark.parametrize("bag", [False, True], ids=["set", "bag"])
def test_spark_finds_and_cleans_the_same(bag: bool) -> None:
    table = sets_table()
    frame = frame_of(table, 3)
    for method in ("exact", "lsh"):
        how: dict[str, Any] = {"items": "items", "threshold": 0.5, "method": method, "bag": bag}
        here, there = nearly.find(table, **how), collected(nearly.find(frame, **how))
        assert len(here) > 20
        assert there.pairs.to_pylist() == here.pairs.to_pylist()
        assert there.clusters.to_pylist() == here.clusters.to_pylist()
        assert there.top.to_pylist() == here.top.to_pylist()
    how = {"items": "items", "threshold": 0.5, "keep": "longest"}
    clean, cleaned = nearly.dedup(table, **how), collected(nearly.dedup(frame, **how))
    assert cleaned.removed.to_pylist() == clean.removed.to_pylist()
    assert cleaned.kept.column("id").to_pylist() == clean.kept.column("id").to_pylist()
    texts = [nearly.find(source, items="items").text("d1") for source in (frame, table)]
    assert texts[0] == texts[1]


@needs_java
@pytest.mark.slow
def test_spark_reads_a_long_table_that_the_driver_groups(tmp_path: Path) -> None:
    how: dict[str, Any] = {"by": "customer", "item": "product", "threshold": 0.2}
    here = nearly.find(purchases(tmp_path), **how)
    session()
    there = collected(nearly.find(purchases(tmp_path), engine="spark", **how))
    assert there.pairs.to_pylist() == here.pairs.to_pylist()
    with pytest.raises(SettingsError, match="rows of a long table are removed on one machine only"):
        nearly.dedup(purchases(tmp_path), engine="spark", by="customer", item="product")
    with pytest.raises(SettingsError, match=r"group it first, as in frame\.groupBy"):
        nearly.find(frame_of(sets_table(), 2), by="id", item="items")


@given(lists=st.lists(st.lists(st.integers(0, 6), max_size=5), min_size=1, max_size=8))
@settings(max_examples=200, deadline=None)
def test_repeats_are_seen_wherever_they_stand(lists):
    offsets = np.cumsum([0, *map(len, lists)])
    hashes = np.array([each for one in lists for each in sorted(one)], np.uint64)
    repeats = any(len(set(one)) < len(one) for one in lists)
    for at_once in (1, 2, 3, 2**20):
        with patch.object(item_jaccard, "AT_ONCE", at_once):
            assert item_jaccard._has_repeats(offsets, hashes) == repeats
