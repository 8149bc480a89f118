"""Prepared results: the same answers as the result itself gives, at every threshold."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import nearly
from nearly.errors import MissingError, SettingsError
from nearly.prepared.clean import cleaning, dedup_options
from nearly.prepared.cluster import OneCluster, list_clusters, one_cluster
from nearly.prepared.excerpt import AFTER, BEFORE, DIFFERING, seen
from nearly.prepared.forest import grow
from nearly.prepared.glance import cut, glance
from nearly.prepared.layout import folder_of
from nearly.prepared.listing import Filter, list_pairs
from nearly.prepared.maker import prepare
from nearly.prepared.mark import Mark, Marks
from nearly.prepared.pair import one_pair
from nearly.prepared.result import Prepared, is_prepared, open_prepared

WORDS = [f"word{letter}" for letter in "abcdefghijkl"]


def texts_of(count: int) -> dict[str, str]:
    """Documents that are like each other in every degree."""
    rng = np.random.default_rng(7)
    texts = {}
    for number in range(count):
        words = WORDS * 2 if number % 5 else WORDS[::-1] * 2
        changed = [w if rng.random() > (number % 7) / 9 else f"x{rng.integers(4)}" for w in words]
        texts[f"doc-{number}"] = " ".join(changed)
    return texts


@pytest.fixture(scope="module", name="folder")
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("prepared")
    texts = texts_of(80)
    table = pa.table({"id": list(texts), "text": list(texts.values()), "half": [0, 1] * 40})
    pq.write_table(table, folder / "docs.parquet")
    nearly.find(folder / "docs.parquet", threshold=0.3).save(folder / "found")
    prepare(folder / "found")
    return folder


@pytest.fixture(scope="module", name="prepared")
def _prepared(folder: Path) -> Prepared:
    return open_prepared(folder / "found")


def plain_clusters(pairs: list[tuple[int, int]]) -> list[set[int]]:
    found: list[set[int]] = []
    for a, b in pairs:
        joined = {a, b}.union(*(each for each in found if each & {a, b}))
        found = [each for each in found if not each & joined] + [joined]
    return found


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=25))
def test_growth_is_what_components_are_after_each_pair(pairs: list[tuple[int, int]]) -> None:
    pairs = [(a, b) for a, b in pairs if a != b]
    event(f"{len(plain_clusters(pairs))} clusters")
    ends = np.array(pairs, np.int32).reshape(-1, 2)
    growth = grow(ends[:, 0], ends[:, 1], 10)
    for count in range(len(pairs) + 1):
        sizes = [len(each) for each in plain_clusters(pairs[:count])]
        found = [int(notes[count]) for notes in growth]
        assert found == [len(sizes), sum(sizes), max(sizes, default=0)]


def test_a_cut_is_what_the_result_has_at_that_threshold(folder: Path, prepared: Prepared) -> None:
    found = nearly.open(folder / "found")
    assert isinstance(found, nearly.Found)
    seen = Counter()
    for at in (0.3, 0.301, 0.4, 0.5, 0.55, 0.7, 0.9, 0.999, 1.0):
        there = found.at(at)
        sizes = Counter(there.clusters["cluster"].to_pylist()).values()
        largest = max(sizes, default=0)
        wanted = (at, len(there.pairs), len(sizes), there.clusters.num_rows, largest)
        assert tuple(cut(prepared, at)) == wanted
        seen[wanted[1:]] += 1
    assert len(seen) > 5  # thresholds that differ


def test_the_glance_is_the_overview_with_cuts(prepared: Prepared) -> None:
    seen = glance(prepared)
    assert seen.overview.pairs == prepared.found.pairs.num_rows == seen.cuts[0].pairs > 100
    assert [each.at for each in (seen.cuts[0], seen.cuts[-1])] == [0.3, 1.0]
    degrees = Counter(
        prepared.found.pairs["id_a"].to_pylist() + prepared.found.pairs["id_b"].to_pylist()
    )
    assert [each.pairs for each in seen.overview.sharers] == sorted(degrees.values())[::-1][:10]
    assert all(degrees[each.name] == each.pairs for each in seen.overview.sharers)
    assert json.loads(json.dumps(seen.to_dict()))["cuts"][0]["pairs"] == seen.overview.pairs


FILTERS = [
    Filter(),
    Filter(low=0.5),
    Filter(low=0.4, high=0.6),
    Filter(name="DOC-1"),
    Filter(text="x3"),
    Filter(document=3),
    Filter(near=True),
    Filter(mark="same"),
    Filter(mark="unmarked", low=0.8),
    Filter(low=0.9, high=0.1),
]


@pytest.mark.parametrize("wanted", FILTERS, ids=lambda f: str(f.to_dict()))
def test_a_list_has_the_pairs_that_are_meant(
    folder: Path, prepared: Prepared, wanted: Filter
) -> None:
    texts = texts_of(80)
    marks = {place: Mark("same", "") for place in range(0, prepared.found.pairs.num_rows, 3)}
    rows = prepared.found.pairs.to_pylist()
    meant = []
    for place, row in enumerate(rows):
        names = row["id_a"], row["id_b"]
        value = row["similarity"]
        meant.append(
            (wanted.low is None or value >= wanted.low)
            and (wanted.high is None or value <= wanted.high)
            and any(wanted.name.lower() in name for name in names)
            and any(wanted.text in texts[name] for name in names)
            and (wanted.document is None or prepared.names([wanted.document])[0] in names)
            and (wanted.mark != "same" or place in marks)
            and (wanted.mark != "unmarked" or place not in marks)
            and not (wanted.near and value == 1)
        )
    expected = [place for place in range(len(rows)) if meant[place]]
    expected.sort(key=lambda place: -rows[place]["similarity"])
    assert bool(expected) == (wanted.low != 0.9)  # what cannot be
    found: list[int] = []
    first = list_pairs(prepared, wanted, marks)
    for page in range(1, first.pages + 1):
        found += [row.pair for row in list_pairs(prepared, wanted, marks, page=page).rows]
    assert found == expected
    assert first.total == len(expected)
    assert folder.exists()


def test_a_row_tells_names_value_and_difference(folder: Path, prepared: Prepared) -> None:
    texts = texts_of(80)
    (row, *_) = list_pairs(prepared, Filter(near=True), {}).rows
    pair = prepared.found.pairs.slice(row.pair, 1).to_pylist()[0]
    assert (row.name_a, row.name_b, row.value) == (pair["id_a"], pair["id_b"], pair["similarity"])
    assert row.summary == nearly.difference(texts[row.name_a], texts[row.name_b]).summary
    assert folder.exists()


def test_hidden_names_are_numbers_and_always_the_same(prepared: Prepared) -> None:
    shown = list_pairs(prepared, Filter(), {}).rows
    hidden = list_pairs(prepared, Filter(), {}, hidden=True).rows
    names = {h.name_a: s.name_a for h, s in zip(hidden, shown, strict=True)}
    again = {h.name_a: s.name_a for h, s in zip(hidden, shown, strict=True)}
    assert names == again
    assert all(name.startswith("Document ") for name in names)
    assert "doc-" not in json.dumps(glance(prepared, hidden=True).to_dict())
    assert "doc-" not in json.dumps(list_clusters(prepared, hidden=True).to_dict())
    assert "doc-" not in json.dumps(one_cluster(prepared, 0, hidden=True).to_dict())


def test_a_pair_has_its_neighbours_in_the_list(prepared: Prepared) -> None:
    wanted = Filter(low=0.4)
    rows = [row.pair for row in list_pairs(prepared, wanted, {}).rows]
    pair = one_pair(prepared, rows[1], wanted, {})
    assert (pair.previous, pair.next, pair.place) == (rows[0], rows[2], 2)
    first = one_pair(prepared, rows[0], wanted, {})
    assert (first.previous, first.place) == (None, 1)
    away = one_pair(prepared, rows[0], Filter(low=2.0), {})
    assert (away.previous, away.next, away.place) == (None, None, None)


def test_a_pair_shows_the_exact_numbers(prepared: Prepared) -> None:
    rows = list_pairs(prepared, Filter(near=True), {}).rows
    pair = one_pair(prepared, rows[0].pair, Filter(), {})
    told = nearly.compare(
        pair.view.text_a or "", pair.view.text_b or "", k=prepared.found.settings.text.k
    )
    assert pair.view.overlap is not None
    assert pair.evidence is not None
    assert pair.view.value == told.jaccard
    assert pair.view.overlap.of_first == told.containment_of_a
    assert pair.evidence.estimate == told.estimate
    assert pair.evidence.bands is None  # so few documents are joined exactly


def test_bands_in_which_a_pair_met_are_told(tmp_path: Path) -> None:
    table = pa.table({"id": list(texts_of(30)), "text": list(texts_of(30).values())})
    pq.write_table(table, tmp_path / "docs.parquet")
    found = nearly.find(tmp_path / "docs.parquet", threshold=0.5, method="lsh")
    found.save(tmp_path / "found")
    prepare(tmp_path / "found")
    prepared = open_prepared(tmp_path / "found")
    pairs = [one_pair(prepared, place, Filter(), {}) for place in range(len(found.pairs))]
    assert len(pairs) > 10
    for pair in pairs:
        assert pair.evidence is not None
        assert pair.evidence.bands == found.statistics.bands
        assert pair.evidence.met or pair.view.text_a == pair.view.text_b  # else nobody found it
        if pair.view.value == 1:
            assert len(pair.evidence.met) == pair.evidence.bands


def test_numbers_that_no_pair_or_cluster_has_are_refused(prepared: Prepared) -> None:
    with pytest.raises(MissingError, match="there is no pair 99999"):
        one_pair(prepared, 99_999, Filter(), {})
    with pytest.raises(MissingError, match="there is no cluster 99999"):
        one_cluster(prepared, 99_999)
    with pytest.raises(SettingsError, match="document is 99999"):
        list_pairs(prepared, Filter(document=99_999), {})


def test_a_cluster_has_its_links_and_near_misses(tmp_path: Path) -> None:
    texts = texts_of(40)
    table = pa.table({"id": list(texts), "text": list(texts.values())})
    pq.write_table(table, tmp_path / "docs.parquet")
    nearly.find(tmp_path / "docs.parquet", threshold=0.3).save(tmp_path / "found")
    prepare(tmp_path / "found")
    prepared = open_prepared(tmp_path / "found")
    whole = prepared.found.clusters.to_pylist()
    listed = list_clusters(prepared)
    assert [row.size for row in listed.rows] == sorted(
        Counter(row["cluster"] for row in whole).values(), reverse=True
    )
    seen = one_cluster(prepared, listed.rows[0].cluster)
    members = {row["id"] for row in whole if row["cluster"] == seen.cluster}
    assert set(seen.names) == members
    pairs = {
        (row["id_a"], row["id_b"]): row["similarity"] for row in prepared.found.pairs.to_pylist()
    }
    inside = {names: value for names, value in pairs.items() if set(names) <= members}
    every = seen.links.rows()
    links = [link for link in every if link["pair"] is not None]
    assert {(seen.names[x["a"]], seen.names[x["b"]]): x["value"] for x in links} == inside
    assert all(set(prepared.ends(x["pair"])) == _documents(seen, x) for x in links)
    assert seen.weakest == min(inside.values(), default=1.0)
    assert seen.is_compared
    assert len(links) < len(every)
    k = prepared.found.settings.text.k
    for link in every:
        a, b = texts[seen.names[link["a"]]], texts[seen.names[link["b"]]]
        assert link["value"] == nearly.compare(a, b, k=k).jaccard
        is_copy = max(Counter(texts.values())[text] for text in (a, b)) > 1  # it is linked once
        assert (link["value"] >= 0.3) == (link["pair"] is not None) or is_copy
    assert len({frozenset((x["a"], x["b"])) for x in every}) == len(every) == len(seen.links)
    assert len(every) == len(members) * (len(members) - 1) // 2


def _documents(seen: OneCluster, link: dict[str, Any]) -> set[int]:
    return {seen.documents[link["a"]], seen.documents[link["b"]]}


def test_survivors_are_those_of_dedup(folder: Path, prepared: Prepared) -> None:
    for rule in ("first", "last", "longest", "shortest"):
        cleaned = nearly.dedup(folder / "docs.parquet", threshold=0.3, keep=rule)
        stay = set(cleaned.removed["survivor"].to_pylist())
        for row in list_clusters(prepared).rows:
            survivors = {s.rule: s.name for s in one_cluster(prepared, row.cluster).survivors}
            assert survivors[rule] in stay


def test_marks_are_kept_and_the_last_one_counts(folder: Path, prepared: Prepared) -> None:
    marks = Marks(prepared, "spoken")
    marks.put(3, "same", "a note\nof two lines <b>")
    marks.put(4, "unsure", "")
    marks.put(3, "different", "=1+1")
    marks.put(4, "", "")
    assert marks.known() == {3: Mark("different", "=1+1")}
    assert Marks(prepared, "spoken").known() == marks.known()
    assert len((folder / "found.spoken.jsonl").read_text().splitlines()) == 4


def test_lines_that_are_no_marks_are_left_alone(folder: Path, prepared: Prepared) -> None:
    marks = Marks(prepared, "foreign")
    marks.put(1, "same", "")
    path = folder / "found.foreign.jsonl"
    strange = '{"a": 1}\nnot json\n[]\n{"a":"gone","b":"away","mark":"same","note":""}\n{"half'
    path.write_text(path.read_text() + strange)
    assert Marks(prepared, "foreign").known() == {1: Mark("same", "")}
    assert path.read_text().endswith(strange)


def test_an_impossible_mark_is_refused(prepared: Prepared) -> None:
    marks = Marks(prepared, "refused")
    with pytest.raises(SettingsError, match="a mark is 'perhaps'"):
        marks.put(0, "perhaps", "")
    with pytest.raises(SettingsError, match="the note has 2,001 characters"):
        marks.put(0, "same", "x" * 2_001)
    assert not marks.path.exists()


def test_a_result_that_changed_is_prepared_again(tmp_path: Path) -> None:
    (tmp_path / "docs.csv").write_text("id,text\na,some words here\nb,some words here\n")
    found = nearly.find(tmp_path / "docs.csv", threshold=0.5)
    found.save(tmp_path / "found")
    assert not is_prepared(tmp_path / "found")
    prepare(tmp_path / "found")
    assert is_prepared(tmp_path / "found")
    assert not is_prepared(tmp_path / "found", group="folder")
    nearly.find(tmp_path / "docs.csv", threshold=0.6).save(tmp_path / "found", force=True)
    assert not is_prepared(tmp_path / "found")
    prepare(tmp_path / "found")
    assert is_prepared(tmp_path / "found")
    assert {path.name for path in tmp_path.iterdir()} == {"docs.csv", "found", "found.view"}


def test_texts_that_changed_are_not_shown(tmp_path: Path) -> None:
    (tmp_path / "docs.csv").write_text("id,text\na,some words here\nb,some words here!\n")
    nearly.find(tmp_path / "docs.csv", threshold=0.5).save(tmp_path / "found")
    (tmp_path / "docs.csv").write_text("id,text\na,other words\nb,others again\n")
    prepare(tmp_path / "found")
    prepared = open_prepared(tmp_path / "found")
    assert "changed after the result was saved" in (prepared.unread or "")
    pair = one_pair(prepared, 0, Filter(), {})
    assert pair.view.text_a is None
    assert list_pairs(prepared, Filter(), {}).rows[0].summary is None


def test_repeated_ids_are_told_apart(tmp_path: Path) -> None:
    rows = ["a,some words stand here", "a,some words stand here too", "a,quite another text"]
    (tmp_path / "docs.csv").write_text("id,text\n" + "\n".join(rows) + "\n")
    nearly.find(tmp_path / "docs.csv", id="id", threshold=0.5).save(tmp_path / "found")
    prepare(tmp_path / "found")
    prepared = open_prepared(tmp_path / "found")
    pair = one_pair(prepared, 0, Filter(), {})
    assert (pair.view.text_a, pair.view.text_b) == tuple(row[2:] for row in rows[:2])
    assert pair.view.name_a != pair.view.name_b
    marks = Marks(prepared)
    marks.put(0, "same", "")
    assert marks.known() == {0: Mark("same", "")}


def test_pairs_inside_a_group_are_left_out(folder: Path) -> None:
    prepare(folder / "found", group="half")
    prepared = open_prepared(folder / "found")
    across = nearly.open(folder / "found").across("half")  # type: ignore[union-attr]
    assert prepared.found.pairs.equals(across.pairs)
    assert glance(prepared).overview.pairs == len(across.pairs) < 2_000
    with pytest.raises(SettingsError, match="group is 'half'"):
        dedup_options(prepared)
    prepare(folder / "found")
    assert folder_of(folder / "found").is_dir()


def test_leaders_have_pairs_but_no_cuts_of_clusters(tmp_path: Path) -> None:
    texts = texts_of(60)
    table = pa.table({"id": list(texts), "text": list(texts.values())})
    pq.write_table(table, tmp_path / "docs.parquet")
    nearly.find(tmp_path / "docs.parquet", threshold=0.3, cluster="leader").save(tmp_path / "found")
    prepare(tmp_path / "found")
    prepared = open_prepared(tmp_path / "found")
    assert cut(prepared, 0.5).clusters is None
    names = {n for c in ("id_a", "id_b") for n in prepared.found.pairs[c].to_pylist()}
    known = prepared.names(range(prepared.documents.num_rows))
    assert names <= set(known)
    assert len(known) == len(set(known))
    one_cluster(prepared, 0)


def test_distances_are_cut_from_above(tmp_path: Path) -> None:
    names = "anna\nhanna\nhannah\njohanna\npeter\npetra\n"
    (tmp_path / "names.csv").write_text("name\n" + names)
    found = nearly.find(tmp_path / "names.csv", text="name", measure="edit", within=3)
    found.save(tmp_path / "found")
    prepare(tmp_path / "found")
    prepared = open_prepared(tmp_path / "found")
    distances = found.pairs["distance"].to_pylist()
    assert len(set(distances)) > 1
    for at in range(4):
        assert cut(prepared, at).pairs == sum(distance <= at for distance in distances)
    rows = list_pairs(prepared, Filter(high=1), {}).rows
    assert [row.value for row in rows] == sorted(d for d in distances if d <= 1)
    assert glance(prepared).cuts[-1].pairs == len(distances)


def test_nothing_found_can_be_looked_at(tmp_path: Path) -> None:
    (tmp_path / "docs.csv").write_text("id,text\na,some words here\nb,quite another text\n")
    nearly.find(tmp_path / "docs.csv", threshold=0.9).save(tmp_path / "found")
    prepare(tmp_path / "found")
    prepared = open_prepared(tmp_path / "found")
    assert glance(prepared).overview.pairs == 0
    assert list_pairs(prepared, Filter(), {}).rows == ()
    assert list_clusters(prepared).rows == ()


@given(st.text("ab \r\n", max_size=90), st.text("ab \r\n", max_size=90))
def test_an_excerpt_is_a_piece_of_its_text(a: str, b: str) -> None:
    told = seen(a, b, "word")
    assert told.a is not None
    assert told.b is not None
    for text, found in ((a, told.a), (b, told.b)):
        plain = " ".join(text.split())
        shown = (found.before + found.differing + found.after).strip("…")
        assert " ".join(shown.split()) in plain
        assert len(shown) <= BEFORE + DIFFERING + AFTER
        assert "\r" not in shown
    if told.a.differing == told.b.differing == "":
        assert a.split() == b.split()


def test_long_texts_have_no_excerpt() -> None:
    assert seen("a" * 30_000, "b", "word").summary is None
    assert seen(None, "b", "word").a is None


def test_who_would_be_removed_is_named(prepared: Prepared) -> None:
    for keep in ("first", "longest"):
        told = cleaning(prepared, keep)
        assert told.rows
        for row in told.rows:
            everyone = set(prepared.names(prepared.members_of(row.cluster)))
            assert row.survivor in everyone
            assert len(set(row.removed)) == min(5, row.size - 1)
            assert set(row.removed) <= everyone - {row.survivor}


def test_a_pair_says_what_stop_words_make_of_it(tmp_path: Path) -> None:
    texts = {
        "a": "the road to the old mill is closed for the whole of the winter",
        "b": "a road to an old mill is closed for a whole winter",
    }
    with_words = nearly.find(texts, threshold=0.1, unit="word", k=1)
    table = pa.table({"id": list(texts), "text": list(texts.values())})
    pq.write_table(table, tmp_path / "docs.parquet")
    told = nearly.compare(texts["a"], texts["b"], unit="word", k=1)
    assert told.jaccard < told.jaccard_without_stop_words
    words = ("the", "a", "an", "to", "is", "for", "of")
    for name, stop_words in (("kept", ()), ("dropped", words)):
        found = nearly.find(
            tmp_path / "docs.parquet", threshold=0.1, unit="word", k=1, stop_words=stop_words
        )
        found.save(tmp_path / name)
        prepare(tmp_path / name)
        pair = one_pair(open_prepared(tmp_path / name), 0, Filter(), {})
        assert pair.otherwise is not None
        if stop_words:
            assert pair.otherwise == ("with", with_words.pairs["similarity"][0].as_py())
        else:
            assert pair.otherwise == ("without", told.jaccard_without_stop_words)
        assert json.loads(json.dumps(pair.to_dict()))["otherwise"]["words"] in ("with", "without")
