"""Runs that pages start: from the form to the result, cancelled, failed, and after a restart."""

import json
import time
from pathlib import Path

import pytest
from nasty import LONG
from patience import PATIENCE
from starlette.testclient import TestClient
from test_web_upload import zipped
from web_desk import BASE, Parsed, client_of, desk_of

import nearly
from nearly.web.desk import Desk
from nearly.web.runs import Runs
from nearly.web.sample import ESSAYS

OURS = {"origin": BASE, "sec-fetch-site": "same-origin"}
ASKED = {"threshold": "0.5", "measure": "jaccard", "unit": "char", "k": "auto"}


@pytest.fixture(name="desk")
def _desk() -> Desk:
    return desk_of()


@pytest.fixture(name="client")
def _client(desk: Desk) -> TestClient:
    return client_of(desk)


def finished(client: TestClient, name: str) -> dict[str, object]:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        told = client.get(f"/run/{name}?format=json").json()
        if told["state"] != "running":
            return told  # type: ignore[no-any-return]
        time.sleep(0.1)
    raise AssertionError(told)


def test_a_zip_of_essays_becomes_a_result(desk: Desk, client: TestClient) -> None:
    packed = zipped(*((name, text.encode()) for name, text in ESSAYS.items()))
    answer = client.post("/upload", files={"file": ("essays.zip", packed)}, headers=OURS)
    assert answer.url.path == "/run/essays-1/settings"
    page = Parsed(answer.text)
    assert "10 files" in page.words
    assert "essays.zip" in page.words
    begun = client.post("/run/essays-1/begin", data=ASKED | {"group": "folder"}, headers=OURS)
    assert begun.url.path == "/run/essays-1"
    told = finished(client, "essays-1")
    assert told["state"] == "done", told
    assert [stage["name"] for stage in told["stages"]][-2:] == ["keep", "prepare"]  # type: ignore
    rows = client.get("/r/essays-1/pairs?format=json").json()["rows"]
    assert ("ben/river.txt", "anna/river-draft.txt") not in rows
    found = nearly.open(desk.runs.folder / "essays-1/found").across("folder")  # type: ignore
    assert len(rows) == len(found.pairs) > 3
    folders = [(row["name_a"].split("/")[0], row["name_b"].split("/")[0]) for row in rows]
    assert all(a != b for a, b in folders)
    # A new server over the same folder has it all.
    again = client_of(Desk(places={}, root=desk.root, runs=Runs(desk.runs.folder)))
    assert again.get("/?format=json").json()["results"] == ["essays-1"]
    assert again.get("/r/essays-1/pairs?format=json").json()["rows"] == rows


def test_submissions_of_many_files_are_one_document_each(client: TestClient) -> None:
    """In one folder of the zip, as a course gives them out; passages name their file."""
    river, bees = ESSAYS["anna/river.txt"], ESSAYS["carla/bees.txt"]
    files = {
        "course/anna/week1/river.txt": river,
        "course/anna/week2/bees.txt": bees,
        "course/ben/all/mine.txt": bees,
        "course/ben/copied.txt": river,
        "course/carla/moon.txt": ESSAYS["hugo/moon.txt"],
    }
    packed = zipped(*((name, text.encode()) for name, text in files.items()))
    client.post("/upload", files={"file": ("course.zip", packed)}, headers=OURS)
    asked = ASKED | {"whole": "folder"}
    client.post("/run/course-1/begin", data=asked, headers=OURS)
    told = finished(client, "course-1")
    assert told["state"] == "done", told
    (row,) = client.get("/r/course-1/pairs?format=json").json()["rows"]
    assert (row["name_a"], row["name_b"]) == ("anna", "ben")
    address = f"/r/course-1/pair/{row['pair']}"
    files_of = {tuple(each) for each in client.get(f"{address}?format=json").json()["files"]}
    assert {("week1/river.txt", "copied.txt"), ("week2/bees.txt", "all/mine.txt")} <= files_of
    assert "Passages by file" in Parsed(client.get(address).text).words
    again = client.get("/run/course-1/settings").text
    assert '<option value="folder" selected>' in again


def test_a_table_below_the_folder_is_chosen_with_its_columns(
    desk: Desk, client: TestClient
) -> None:
    (desk.root / "docs.csv").write_text(f"key,body,x\n7,{LONG},1\n8,{LONG} again,2\n9,other,3\n")
    answer = client.post("/choose", data={"path": "docs.csv"}, headers=OURS)
    assert answer.url.path == "/run/docs-1/settings"
    client.post("/run/docs-1/begin", data=ASKED | {"id": "key", "text": "body"}, headers=OURS)
    assert finished(client, "docs-1")["state"] == "done"
    (row,) = client.get("/r/docs-1/pairs?format=json").json()["rows"]
    assert (row["name_a"], row["name_b"]) == ("7", "8")


def test_a_run_leaves_stop_words_out(client: TestClient) -> None:
    client.post("/sample", headers=OURS)
    client.post("/run/sample-1/begin", data=ASKED | {"stop_words": "english"}, headers=OURS)
    assert finished(client, "sample-1")["state"] == "done"
    (row, *_) = client.get("/r/sample-1/pairs?near=1&format=json").json()["rows"]
    told = client.get(f"/r/sample-1/pair/{row['pair']}?format=json").json()
    assert told["otherwise"]["words"] == "with"
    assert '<option value="english" selected>' in client.get("/run/sample-1/settings").text


@pytest.mark.parametrize("name", ["*.csv", "SELECT 1.csv", "-.csv"])
def test_a_name_that_means_something_elsewhere_is_a_name_here(
    desk: Desk, client: TestClient, name: str
) -> None:
    """A pattern, a query, standard input: the command line knows them."""
    table = f"id,text\n1,{LONG}\n2,{LONG}\n".encode()
    client.post("/upload", files={"file": (name, table)}, headers=OURS)
    (run,) = desk.runs.names()
    client.post(f"/run/{run}/begin", data=ASKED, headers=OURS)
    told = finished(client, run)
    assert told["state"] == "done", told
    assert client.get(f"/r/{run}/pairs?format=json").json()["total"] == 1


def test_a_run_that_fails_says_why_and_can_be_run_again(desk: Desk, client: TestClient) -> None:
    (desk.root / "docs.csv").write_text(f"key,body\n7,{LONG}\n8,{LONG}\n")
    client.post("/choose", data={"path": "docs.csv"}, headers=OURS)
    client.post("/run/docs-1/begin", data=ASKED | {"text": "missing"}, headers=OURS)
    told = finished(client, "docs-1")
    assert told["state"] == "failed"
    assert "missing" in str(told["failure"])
    assert str(told["failure"]) in Parsed(client.get("/run/docs-1").text).words
    client.post("/run/docs-1/begin", data=ASKED | {"text": "body"}, headers=OURS)
    assert finished(client, "docs-1")["state"] == "done"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("threshold", "2"),
        ("threshold", "nan"),
        ("threshold", "<b>"),
        ("k", "0"),
        ("unit", "line"),
        ("measure", "edit"),
        ("case", "UPPER"),
        ("stop_words", "klingon"),
        ("difference", "perhaps"),
    ],
)
def test_impossible_settings_are_said_at_once(
    desk: Desk, client: TestClient, name: str, value: str
) -> None:
    client.post("/sample", headers=OURS)
    answer = client.post("/run/sample-1/begin", data=ASKED | {name: value}, headers=OURS)
    assert answer.status_code == 400
    assert desk.runs.run("sample-1").state == "draft"
    assert "<b>" not in answer.text


def test_a_run_is_cancelled_and_leaves_nothing_half_written(desk: Desk, client: TestClient) -> None:
    client.post("/sample", headers=OURS)
    client.post("/run/sample-1/begin", data=ASKED, headers=OURS)
    assert client.post("/sample", headers=OURS).status_code == 200
    second = client.post("/run/sample-2/begin", data=ASKED, headers=OURS)
    assert second.status_code == 400
    assert "is going on" in second.text
    answer = client.post("/run/sample-1/cancel", headers=OURS)
    assert "It was stopped" in answer.text
    assert desk.runs.run("sample-1").state == "stopped"
    assert not (desk.runs.folder / "sample-1" / "found").exists()
    client.post("/run/sample-1/begin", data=ASKED, headers=OURS)
    desk.runs.stop()
    assert desk.runs.run("sample-1").state in ("stopped", "done")


def test_a_clean_copy_of_a_table_is_written_and_taken(desk: Desk, client: TestClient) -> None:
    table = desk.root / "docs.csv"
    table.write_text(f"key,body\n7,{LONG}\n8,{LONG} again\n9,other words\n")
    client.post("/choose", data={"path": "docs.csv"}, headers=OURS)
    client.post("/run/docs-1/begin", data=ASKED | {"id": "key", "text": "body"}, headers=OURS)
    assert finished(client, "docs-1")["state"] == "done"
    told = client.get("/r/docs-1/clean?keep=longest&format=json").json()
    assert (told["removed"], told["rows"][0]["survivor"]) == (1, "8")
    answer = client.post("/r/docs-1/clean/begin", data={"keep": "longest"}, headers=OURS)
    name = answer.url.path.rpartition("/")[2]
    done = finished(client, name)
    assert done["state"] == "done", done
    assert done["outcome"]["files"] == ["clean.csv", "removed.csv"]  # type: ignore[index]
    copy = client.get(f"/run/{name}/file/clean.csv")
    assert copy.text == f"key,body\n8,{LONG} again\n9,other words\n"
    assert table.read_text().count("\n") == 4
    for other in ("request.json", "lock", "..%2f..%2fdocs.csv", "clean.csv%00"):
        assert client.get(f"/run/{name}/file/{other}").status_code == 404
    assert client.post("/r/docs-1/clean/begin", data={"keep": "x"}, headers=OURS).status_code == 400


def test_a_folder_gets_a_plan_and_keeps_its_files(desk: Desk, client: TestClient) -> None:
    client.post("/sample", headers=OURS)
    client.post("/run/sample-1/begin", data=ASKED, headers=OURS)
    assert finished(client, "sample-1")["state"] == "done"
    files = set(desk.runs.documents("sample-1").rglob("*.txt"))
    told = client.get("/r/sample-1/clean?format=json").json()
    answer = client.post("/r/sample-1/clean/begin", data={"keep": "first"}, headers=OURS)
    name = answer.url.path.rpartition("/")[2]
    done = finished(client, name)
    assert done["state"] == "done", done
    plan = json.loads((desk.runs.folder / name / "plan.json").read_text())
    assert len(plan["removals"]) == told["removed"] > 0
    assert set(desk.runs.documents("sample-1").rglob("*.txt")) == files
    assert "nearly apply" in client.get(f"/run/{name}").text


def test_a_run_whose_process_is_gone_is_known_as_stopped(tmp_path: Path) -> None:
    place = tmp_path / "runs" / "old-1"
    place.mkdir(parents=True)
    (place / "draft.json").write_text(json.dumps({"given": str(tmp_path), "words": "old"}))
    (place / "request.json").write_text(json.dumps({"options": {}, "group": None}))
    (place / "lock").write_text("")
    assert Runs(tmp_path / "runs").run("old-1").state == "stopped"
    (place / "progress.json").write_text('{"half')
    assert Runs(tmp_path / "runs").run("old-1").progress == {}


def test_names_of_runs_are_harmless(tmp_path: Path) -> None:
    runs = Runs(tmp_path / "runs")
    for about in ("../../etc", "<b>&", "", "שלום", "a" * 500, "CON"):
        name, _ = runs.draft(about, None, about)
        assert (tmp_path / "runs" / name).is_dir()
        assert name.replace("-", "").isalnum()
        assert len(name) < 50
    assert len(runs.names()) == 6
