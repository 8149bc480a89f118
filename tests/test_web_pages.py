"""Pages and their JSON twins: true numbers, and all that users bring is data."""

import csv
import io
import json
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from nasty import NASTY
from starlette.testclient import TestClient
from web_desk import BASE, Parsed, client_of, desk_of, saved

import nearly
from nearly.web.csv_cell import csv_line
from nearly.web.route import ROUTES
from nearly.web.sample import write_sample
from nearly.wording import short

OURS = {"origin": BASE, "sec-fetch-site": "same-origin"}
PAGES = [
    "/",
    "/api",
    "/learn",
    "/learn?unit=word&k=1&bands=2&rows=2&step=3",
    "/r/found/overview",
    "/r/found/pairs",
    "/r/found/pairs?low=0.6&near=1",
    "/r/found/pair/0",
    "/r/found/pair/2?low=0.1",
    "/r/found/clusters",
    "/r/found/cluster/0",
    "/r/found/tuner",
    "/r/found/tuner?bands=3&rows=2&threshold=0.9",
    "/r/found/clean",
    "/r/found/clean?keep=longest",
    "/r/found/label?size=3",
    "/r/found/compare",
    "/r/found/compare?with=other",
    "/run/sample-1/settings",
    "/run/sample-1",
]


@pytest.fixture(scope="module", name="folder")
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    saved(folder, NASTY)
    saved(folder, NASTY, "other", threshold=0.2, unit="word", k=1)
    return folder


@pytest.fixture(name="client")
def _client(folder: Path) -> TestClient:
    desk = desk_of(found=folder / "found", other=folder / "other")
    write_sample(desk.runs.draft("sample", None, "<b>the sample</b>")[1])
    return client_of(desk)


@pytest.mark.parametrize("path", PAGES)
def test_a_page_holds_no_element_of_the_users(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    page = Parsed(answer.text)
    for name, given in page.elements:
        assert not [key for key in given if key.startswith("on") or key == "style"]
        assert name not in ("iframe", "object", "embed", "base", "img", "style")
        if name == "script":
            assert (given["src"] or "").startswith("/static/")
        for key in ("href", "src", "action"):
            assert (given.get(key) or "/").startswith(("/", "#"))
    ids = [given["id"] for _, given in page.elements if "id" in given]
    assert len(ids) == len(set(ids))
    assert ("html", {"lang": "en"}) in page.elements
    assert [name for name, _ in page.elements].count("h1") == 1


@pytest.mark.parametrize("path", PAGES)
def test_every_link_leads_somewhere(client: TestClient, path: str) -> None:
    page = Parsed(client.get(path).text)
    ids = {given.get("id") for _, given in page.elements}
    for name, given in page.elements:
        to = given.get("href") or given.get("src")
        if not to:
            continue
        if to.startswith("#"):
            assert to[1:] in ids
        else:
            assert client.get(to).status_code == 200, (name, to)


@pytest.mark.parametrize("path", PAGES)
def test_every_page_has_a_twin_at_the_same_path(client: TestClient, path: str) -> None:
    by_header = client.get(path, headers={"accept": "application/json"})
    mark = "&" if "?" in path else "?"
    assert by_header.json() == client.get(f"{path}{mark}format=json").json()
    assert by_header.headers["content-type"] == "application/json"
    assert client.get(path, headers={"accept": "text/html, */*"}).text.startswith("<!doctype")


def test_every_route_for_looking_is_tested() -> None:
    paths = {urlsplit(path).path for path in PAGES}
    for spot in ROUTES:
        pattern = re.sub(r"\{\w+\}", "[^/]+", spot.path)
        is_page = spot.method == "GET" and not spot.path.endswith((".csv", "{file}"))
        assert not is_page or any(re.fullmatch(pattern, path) for path in paths), spot.path


def test_the_overview_tells_the_numbers_of_the_result(client: TestClient, folder: Path) -> None:
    found = nearly.open(folder / "found")
    assert isinstance(found, nearly.Found)
    told = client.get("/r/found/overview?format=json").json()
    assert told["pairs"] == len(found.pairs) == told["cuts"][0]["pairs"] > 3
    assert told["documents"] == len(NASTY)
    words = Parsed(client.get("/r/found/overview").text).words
    assert "Similarity is no proof" in words


def test_pairs_are_listed_nearest_first(client: TestClient, folder: Path) -> None:
    found = nearly.open(folder / "found")
    values = sorted(found.pairs["similarity"].to_pylist(), reverse=True)  # type: ignore[union-attr]
    told = client.get("/r/found/pairs?format=json").json()
    assert [row["value"] for row in told["rows"]] == values
    page = Parsed(client.get("/r/found/pairs").text)
    for name in NASTY:
        assert name.replace("\u202e", "[U+202E]") in page.words


def test_a_pair_shows_both_texts(client: TestClient) -> None:
    told = client.get("/r/found/pair/0?format=json").json()
    assert told["view"]["text_a"] in NASTY.values()
    page = Parsed(client.get("/r/found/pair/0").text)
    assert "alert('text')" in page.words
    assert "both share" in page.words


def test_a_mark_and_a_note_are_kept_and_shown_as_data(client: TestClient) -> None:
    note = '<script>alert(4)</script> "quoted"'
    data = {"mark": "different", "note": note}
    answer = client.post("/r/found/pair/1/mark?low=0.1", data=data, headers=OURS)
    assert answer.url.path == "/r/found/pair/1"
    assert answer.url.query == b"low=0.1"
    assert client.get("/r/found/pair/1?format=json").json()["mark"] == data
    assert "<script>alert(4)" not in answer.text
    (row,) = client.get("/r/found/pairs?mark=different&format=json").json()["rows"]
    assert (row["pair"], row["note"]) == (1, note)
    page = Parsed(client.get("/r/found/pairs").text)
    assert note in page.words


def test_the_export_has_every_pair_and_no_formula(client: TestClient, folder: Path) -> None:
    client.post("/r/found/pair/0/mark", data={"note": "=1+1"}, headers=OURS)
    answer = client.get("/r/found/pairs.csv")
    assert "attachment" in answer.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(answer.content.decode(), newline="")))
    found = nearly.open(folder / "found")
    assert len(rows) == len(found.pairs)  # type: ignore[union-attr]
    for row in rows:
        for cell in row.values():
            assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))
    assert "'=1+1" in [row["note"] for row in rows]
    assert "'=cmd|' /C calc'!A0" in [row["b"] for row in rows]


@pytest.mark.parametrize(
    "cell",
    ["=1", "+1", "-1", "@x", "\t=1", "\r=1", "\n=1", " =1", "\uff1d1", "\uff20SUM(1)", "\u2003=1"],
)
def test_no_cell_becomes_a_formula(cell: str) -> None:
    (row,) = csv.reader(io.StringIO(csv_line(["a", cell, 1.5, -2]).decode(), newline=""))
    assert row[1] == f"'{cell}"
    assert row[0] == "a"
    assert row[2:] == ["1.5", "-2"]


def test_names_are_hidden_on_every_page(client: TestClient) -> None:
    client.post("/names", data={"to": "/", "hidden": "1"}, headers=OURS)
    for path in [*PAGES, "/r/found/pairs.csv"]:
        for twin in ("", "format=json"):
            mark = "&" if "?" in path else "?"
            shown = client.get(f"{path}{mark}{twin}").text
            plain = json.loads(shown) if twin and ".csv" not in path else shown
            for name in ("calc", "onerror", "gnp.exe", 'שלום"', "word" * 50):
                assert name not in json.dumps(plain, ensure_ascii=False)
    client.post("/names", data={"to": "/", "hidden": "0"}, headers=OURS)
    assert "calc" in client.get("/r/found/pairs").text


def test_a_heat_map_shows_what_the_twin_says(client: TestClient) -> None:
    compared = []
    for cluster in (0, 1):
        page = Parsed(client.get(f"/r/other/cluster/{cluster}").text)
        (drawn,) = [
            json.loads(e["data-cluster"] or "") for _, e in page.elements if "data-cluster" in e
        ]
        links = client.get(f"/r/other/cluster/{cluster}?format=json").json()["links"]
        columns = [drawn[name] for name in ("a", "b", "values", "pairs")]
        for link, (a, b, value, pair) in zip(links, zip(*columns, strict=True), strict=True):
            assert (link["a"], link["b"]) == (a, b)
            assert f"{value / 10_000:.4f}" == short(link["value"])
            assert pair == (-1 if link["pair"] is None else link["pair"])
            compared.append(link["value"])
    assert any(value % 1 for value in compared)


def test_what_is_not_there_is_said_in_one_shape(client: TestClient) -> None:
    for path in ("/nothing", "/r/lost/overview", "/r/found/pair/999", "/r/found/cluster/999"):
        answer = client.get(path, headers={"accept": "application/json"})
        assert answer.status_code == 404
        assert set(answer.json()) == {"error", "message"}
        assert client.get(path).status_code == 404
