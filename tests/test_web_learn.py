"""Learn shows what the textbook says, and the description for programs what the table says."""

import csv
import io
import re
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

import pytest
from nasty import NASTY
from starlette.testclient import TestClient
from web_desk import Parsed, client_of, desk_of, saved

import nearly
from nearly.drawing.step import lesson_of
from nearly.errors import NearlyError, SettingsError
from nearly.explanation import steps_of
from nearly.web.asked import Asked
from nearly.web.desk import Desk
from nearly.web.openapi import PARAMETERS, described
from nearly.web.pages.learn import TEXTS, lesson_address
from nearly.web.route import ROUTES
from nearly.web.sample import write_sample

NASTY_LINES = "\n".join(["=1+1 and more", *(t for t in NASTY.values() if len(t) < 200)])


@pytest.fixture(scope="module", name="desk")
def _desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    folder = tmp_path_factory.mktemp("learn")
    desk = desk_of(found=saved(folder, NASTY), other=saved(folder, NASTY, "other", threshold=0.2))
    write_sample(desk.runs.draft("sample", None, "the sample")[1])
    return desk


@pytest.fixture(name="client")
def _client(desk: Desk) -> TestClient:
    return client_of(desk)


def test_every_step_is_that_of_the_explanation(client: TestClient) -> None:
    told = nearly.explain(list(TEXTS), unit="word", k=1, permutations=4, bands=2, rows=2)
    steps = list(steps_of(told))
    assert len(steps) > 8
    for number, (_, shingle, columns) in enumerate(steps):
        asked = {"unit": "word", "k": 1, "bands": 2, "rows": 2, "step": number, "format": "json"}
        step = client.get("/learn", params=asked).json()["step"]
        assert step["shingle"] == shingle
        assert step["values"] == [list(row) for row in zip(*columns, strict=True)]
        before = steps[max(number - 1, 0)][2]
        changed = [
            [a != b for a, b in zip(x, y, strict=True)]
            for x, y in zip(columns, before, strict=True)
        ]
        assert step["changed"] == [list(row) for row in zip(*changed, strict=True)]
    assert step["values"] == [list(row.values())[1:] for row in told.signatures.to_pylist()]


@pytest.mark.parametrize("asked", [{}, {"unit": "word", "k": 2}])
def test_similarities_are_told_without_stop_words_too(
    client: TestClient, asked: dict[str, Any]
) -> None:
    told = client.get("/learn", params=asked | {"format": "json"}).json()
    wanted = [
        nearly.compare(a, b, **{"unit": "char", "k": 3} | asked).jaccard_without_stop_words
        for a, b in combinations(TEXTS, 2)
    ]
    assert told["without_stop_words"] == wanted
    assert wanted != [pair["similarity"] for pair in told["pairs"]]
    dropped = client.get("/learn", params=asked | {"format": "json", "stop_words": "drop"}).json()
    assert [pair["similarity"] for pair in dropped["pairs"]] == wanted
    rows = list(csv.DictReader(client.get("/learn/similarities.csv", params=asked).iter_lines()))
    assert [float(row["without_stop_words"]) for row in rows] == wanted


def test_buckets_hold_every_document_in_every_band() -> None:
    told = nearly.explain(list(TEXTS), k=2, permutations=6, bands=3, rows=2)
    seen = lesson_of(told, None)
    assert len(seen.buckets) == 3
    for band in seen.buckets:
        assert sorted(name for _, documents in band for name in documents) == list(told.documents)
    with pytest.raises(SettingsError, match="step is 999"):
        lesson_of(told, 999)


@pytest.mark.parametrize("table", nearly.explain(["a b", "a c"], unit="word", k=1).tables)
def test_every_matrix_is_given_as_csv(client: TestClient, table: str) -> None:
    answer = client.get(f"/learn/{table}.csv", params={"texts": NASTY_LINES, "k": 2})
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    rows = list(csv.reader(io.StringIO(answer.text)))
    told = nearly.explain(NASTY_LINES.splitlines(), k=2, permutations=12, bands=4, rows=3)
    added = ["without_stop_words"] if table == "similarities" else []
    assert rows[0] == told.tables[table].column_names + added
    assert len(rows) - 1 == told.tables[table].num_rows
    assert not [cell for row in rows for cell in row if cell.startswith(("=", "+", "@", "\t"))]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"bands": 50, "rows": 50}, "2,500 functions"),
        ({"texts": "x\n" * 13}, "13 documents"),
        ({"texts": "x" * 4_001}, "4,001 characters"),
        ({"step": 10**6}, "step is 1,000,000"),
        ({"unit": "sentence"}, "sentence"),
        ({"k": 0}, "k is 0"),
        ({"k": "x"}, "whole number"),
    ],
)
def test_a_lesson_that_cannot_be_given_says_why(
    client: TestClient, query: dict[str, Any], said: str
) -> None:
    answer = client.get("/learn", params=query | {"format": "json"})
    assert answer.status_code == 400
    assert said in answer.json()["message"]


def test_there_is_no_other_table(client: TestClient) -> None:
    assert client.get("/learn/passwd.csv").status_code == 404


def test_documents_of_a_lesson_are_data(client: TestClient) -> None:
    page = Parsed(client.get("/learn", params={"texts": NASTY_LINES}).text)
    assert [name for name, _ in page.elements].count("script") == 1
    assert "<script>alert('text')</script> and" in page.words


def test_a_short_pair_leads_to_its_lesson(client: TestClient) -> None:
    assert lesson_address(["x" * 3_000, "y"]) is None
    to = lesson_address(["one\ntwo", "three"])
    assert to is not None
    assert client.get(to + "&format=json").json()["documents"] == ["D1", "D2"]


# The description for programs


class Watched(Mapping[str, str]):
    """Notes which names are asked for."""

    def __init__(self, given: dict[str, str], seen: set[str]) -> None:
        self.given, self.seen = given, seen

    def __getitem__(self, name: str) -> str:
        self.seen.add(name)
        return self.given[name]

    def get(self, name: str, default: Any = None) -> Any:
        self.seen.add(name)
        return self.given.get(name, default)

    def __iter__(self) -> Iterator[str]:
        return iter(self.given)

    def __len__(self) -> int:
        return len(self.given)


PATH = {"result": "found", "run": "sample-1", "pair": "0", "cluster": "0", "table": "matrix"}
QUERY = {"bands": "2", "rows": "2", "document": "0", "with": "other", "size": "2", "step": "1"}
FORM = {"path": "x", "mark": "same", "to": "/", "keep": "first"}


@pytest.mark.parametrize("spot", ROUTES, ids=lambda spot: spot.name)
def test_the_table_says_all_that_an_address_may_be_told(
    desk: Desk, spot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desk.runs, "start", lambda *_: None)
    query: set[str] = set()
    form: set[str] = set()
    asked = Asked(
        path=PATH | {"file": "x"},
        query=Watched(QUERY, query),
        form=Watched(FORM, form),
    )
    try:
        answer = spot.handler(desk, asked)
        if hasattr(answer, "chunks"):
            list(answer.chunks)
    except NearlyError:
        assert spot.method == "POST" or "{file}" in spot.path
    assert query - set(PATH) == set(spot.query)
    assert form <= set(spot.form)
    assert form == set(spot.form) or spot.path.endswith("/names")  # its cookie is set by the app


def test_openapi_is_the_route_table(client: TestClient) -> None:
    told = client.get("/api?format=json").json()
    assert told == described(ROUTES)
    assert told["openapi"].startswith("3.1")
    named = {(method.upper(), path) for path, each in told["paths"].items() for method in each}
    assert named == {(spot.method, spot.path) for spot in ROUTES}
    operations = [one for each in told["paths"].values() for one in each.values()]
    ids = [one["operationId"] for one in operations]
    assert len(ids) == len(set(ids)) == len(ROUTES)
    assert all(one["summary"].endswith((".", "?")) for one in operations)
    for spot in ROUTES:
        given = told["paths"][spot.path][spot.method.lower()].get("parameters", [])
        in_path = {each["name"] for each in given if each["in"] == "path"}
        assert in_path == set(re.findall(r"\{(\w+)\}", spot.path))


def test_no_parameter_is_described_that_nothing_takes() -> None:
    taken = {
        name for spot in ROUTES for name in (*spot.query, *re.findall(r"\{(\w+)\}", spot.path))
    }
    assert taken == set(PARAMETERS)


def test_the_page_for_programs_names_every_address(client: TestClient) -> None:
    words = Parsed(client.get("/api").text).words
    for spot in ROUTES:
        assert spot.name in words
