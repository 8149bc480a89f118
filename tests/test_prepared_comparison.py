"""Two results beside each other, and blind labels: against the plain way to say it."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from test_prepared import texts_of
from web_desk import BASE, client_of, desk_of, saved

from nearly.errors import SettingsError
from nearly.prepared.comparison import Beside, compare_results
from nearly.prepared.label import labelling
from nearly.prepared.mark import Marks
from nearly.prepared.result import Prepared, open_prepared
from nearly.web.desk import MOST_COMPARED

OURS = {"origin": BASE, "sec-fetch-site": "same-origin"}


@pytest.fixture(scope="module", name="folder")
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("beside")
    texts = texts_of(60)
    saved(folder, texts, "here", threshold=0.4)
    changed = {name: text for name, text in texts.items() if name != "doc-9"}
    changed["doc-20"] = texts["doc-20"] + " with more words"
    changed["doc-99"] = texts["doc-3"] + " too"
    saved(folder, changed, "there", threshold=0.8)
    return folder


def plain_pairs(prepared: Prepared) -> dict[frozenset[str], float]:
    rows = prepared.found.pairs.to_pylist()
    return {frozenset((row["id_a"], row["id_b"])): row["similarity"] for row in rows}


def company(prepared: Prepared) -> dict[str, frozenset[str]]:
    rows = prepared.found.clusters.to_pylist()
    return {
        row["id"]: frozenset(x["id"] for x in rows if x["cluster"] == row["cluster"])
        for row in rows
    }


def test_pairs_of_two_results_are_told_apart(folder: Path) -> None:
    here, there = open_prepared(folder / "here"), open_prepared(folder / "there")
    ours, theirs = plain_pairs(here), plain_pairs(there)
    seen = compare_results(here, there)
    both = ours.keys() & theirs.keys()
    assert seen.both == len(both) > 5
    assert seen.only_here == len(ours.keys() - theirs.keys()) > 5
    assert seen.only_there == len(theirs.keys() - ours.keys()) > 0
    assert seen.changed == sum(ours[pair] != theirs[pair] for pair in both)
    listed = [row.value for row in seen.here]
    wanted = sorted((ours[p] for p in ours.keys() - theirs.keys()), reverse=True)
    assert listed == wanted[: len(listed)]
    assert {each.name: (each.here, each.there) for each in seen.settings}["threshold"] == (
        "0.4",
        "0.8",
    )


def test_documents_with_other_company_are_counted(folder: Path) -> None:
    here, there = open_prepared(folder / "here"), open_prepared(folder / "there")
    ours, theirs = company(here), company(there)
    shared = ours.keys() & theirs.keys()
    moved = [n for n in shared if ours[n] & shared != theirs[n] & shared]
    seen = compare_results(here, there)
    assert seen.other_clusters == len(moved) > 0
    alone = len(ours.keys() - theirs.keys()), len(theirs.keys() - ours.keys())
    assert seen.clustered == alone
    assert alone[0] > 0


def test_a_result_is_like_itself(folder: Path) -> None:
    here = open_prepared(folder / "here")
    seen = compare_results(here, here)
    assert seen.both == len(plain_pairs(here))
    told = (seen.only_here, seen.only_there, seen.changed, seen.other_clusters, seen.settings)
    assert told == (0, 0, 0, 0, ())
    assert seen.clustered == (0, 0)


def test_nothing_is_like_nothing(folder: Path) -> None:
    """Results without pairs, on either side."""
    empty = saved(folder, {"x": "words that nobody else has", "y": "other ones"}, "empty")
    here, nothing = open_prepared(folder / "here"), open_prepared(empty)
    for seen in (compare_results(here, nothing), compare_results(nothing, here)):
        assert (seen.both, seen.changed, seen.other_clusters) == (0, 0, 0)
        assert {seen.only_here, seen.only_there} == {0, len(plain_pairs(here))}
        assert set(seen.clustered) == {0, len(company(here))}


def test_a_comparison_is_kept_until_a_result_changes(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = texts_of(12)
    changing = saved(folder, texts, "changing", threshold=0.4)
    desk = desk_of(here=folder / "here", changing=changing)
    asked: list[bool] = []

    def counted(*sides: Prepared, hidden: bool) -> Beside:
        asked.append(hidden)
        return compare_results(*sides, hidden=hidden)

    monkeypatch.setattr("nearly.web.desk.compare_results", counted)

    def beside(*, hidden: bool = False) -> Beside:
        return desk.beside(desk.result("here"), desk.result("changing"), hidden=hidden)

    first = beside()
    assert beside() is first
    assert asked == [False]
    assert {row.name_a[:8] for row in beside(hidden=True).here} == {"Document"}
    assert {row.name_a[:4] for row in beside().here} == {"doc-"}
    assert asked == [False, True]
    shutil.rmtree(changing)
    saved(folder, texts, "changing", threshold=0.9)
    assert beside().pairs[1] < first.pairs[1]
    assert asked == [False, True, False]


def test_few_comparisons_are_kept(folder: Path) -> None:
    desk = desk_of(here=folder / "here", there=folder / "there")
    here, there = desk.result("here"), desk.result("there")
    first = desk.beside(here, there, hidden=False)
    for number in range(MOST_COMPARED):
        desk.beside(replace(here, stamp=str(number)), there, hidden=False)
    again = desk.beside(here, there, hidden=False)
    assert again is not first
    assert again == first


def test_a_sample_is_labelled_to_its_end(folder: Path) -> None:
    here = open_prepared(folder / "here")
    labels = Marks(here, "labels")
    asked = []
    for number in range(20):
        seen = labelling(here, labels, size=20, seed=5)
        assert seen.next is not None
        asked.append(seen.next.pair)
        labels.put(seen.next.pair, ["same", "same", "different", "unsure"][number % 4], "")
    seen = labelling(here, labels, size=20, seed=5)
    assert seen.next is None
    assert (seen.same, seen.different, seen.unsure) == (10, 5, 5)
    assert seen.precision == 10 / 15
    assert 0.3 < seen.lowest < 10 / 15 < seen.highest < 0.95
    assert len(set(asked)) == 20
    ranks = here.array("rank")[np.array(asked)]
    assert ranks.tolist() != sorted(ranks.tolist())  # the order tells nothing
    with pytest.raises(SettingsError, match="size is 0"):
        labelling(here, labels, size=0, seed=1)


def test_labelling_is_blind(folder: Path) -> None:
    client = client_of(desk_of(there=folder / "there"))
    page = client.get("/r/there/label?size=5&seed=3").text
    told = client.get("/r/there/label?size=5&seed=3&format=json").json()
    pair = told["next"]["pair"]
    value = client.get(f"/r/there/pair/{pair}?format=json").json()["view"]["value"]
    assert f"{value:.4f}"[:5] not in page
    assert "value" not in told["next"]
    answer = client.post(
        f"/r/there/label/{pair}?size=5&seed=3", data={"mark": "same"}, headers=OURS
    )
    assert "1 of 5 are labelled" in answer.text
    assert client.get("/r/there/pairs?mark=same&format=json").json()["total"] == 0
