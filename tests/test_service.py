"""The service in this process: what each route gives, and what it refuses."""

import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from patience import PATIENCE
from prometheus_client.parser import text_string_to_metric_families
from service_desk import TEXTS, served
from starlette.testclient import TestClient

import nearly
from nearly.errors import SinkError
from nearly.index.index import Index
from nearly.service.change import Change, group
from nearly.service.limit import Limits
from nearly.service.message import Stored
from nearly.service.problem import CODES
from nearly.service.route import ROUTES
from nearly.service.storage import stored
from nearly.service.writer import Writer

TOKEN = "reads-and-writes-0123"  # noqa: S105
READ_TOKEN = "only-reads-0123456789"  # noqa: S105


@pytest.fixture(name="path")
def _path(tmp_path: Path) -> Path:
    Index.create(tmp_path / "seen", TEXTS, threshold=0.7).close()
    return tmp_path / "seen"


@pytest.fixture(name="client")
def _client(path: Path) -> Iterator[TestClient]:
    with served(path) as client:
        yield client


# What is answered


def test_a_question_is_answered_as_the_index_answers_it(path: Path, client: TestClient) -> None:
    asked = "The export button does nothing when I click it"
    answer = client.post("/v1/query", json={"text": asked})
    assert answer.status_code == 200
    with Index.open(path, read_only=True) as index:
        expected = index.query(asked)
        nearest = index.query(asked, k=1)
    assert len(expected) == 2
    told = answer.json()
    assert [(row["id"], row["similarity"]) for row in told["found"]] == expected
    assert (told["compared"], told["left_out"]) == (expected.compared, 0)
    told = client.post("/v1/query", json={"text": asked, "k": 1}).json()
    assert [(row["id"], row["similarity"]) for row in told["found"]] == nearest
    assert client.post("/v1/query", json={"text": asked, "threshold": 0.99}).json()["found"] == []


def test_a_long_question_is_answered_too(client: TestClient) -> None:
    text = "The export button does nothing when I click it. " * 1000
    assert client.post("/v1/query", json={"text": text}).json()["found"][0]["id"] == "a"


def test_a_batch_of_questions_is_answered_in_order(client: TestClient) -> None:
    asked = {"questions": [{"text": TEXTS["c"]}, {"text": "nothing like it"}, {"text": TEXTS["a"]}]}
    answers = client.post("/v1/query:batch", json=asked).json()["answers"]
    assert [[row["id"] for row in each["found"]] for each in answers] == [["c"], [], ["a", "b"]]


def test_a_document_is_put_read_replaced_and_removed(client: TestClient) -> None:
    where = "/v1/documents/letters%2F%C3%A4%20b%3F.txt"
    put = client.put(where, json={"text": TEXTS["c"]}).json()
    seen = {"id": "letters/ä b?.txt", "seen": "c", "similarity": 1.0}
    assert put == {"added": 1, "replaced": 0, "seen": [seen], "skipped": []}
    assert client.put(where, json={"text": "Another text."}).json()["replaced"] == 1
    assert client.get(where).json() == {"id": "letters/ä b?.txt", "text": "Another text."}
    assert client.delete(where).json() == {"removed": 1}
    for method in ("GET", "DELETE"):
        answer = client.request(method, where)
        assert answer.status_code == 404
        assert answer.json()["error"]["code"] == "not_found"


def test_a_batch_says_what_was_seen_and_what_was_skipped(client: TestClient) -> None:
    documents = [{"id": "d", "text": TEXTS["a"]}, {"id": "a", "text": "x"}, {"id": 7, "text": "y"}]
    told = client.post("/v1/documents", json={"documents": documents}).json()
    assert (told["added"], told["replaced"]) == (2, 0)
    assert [(row["id"], row["seen"]) for row in told["seen"]] == [
        ("d", "a")
    ]  # of a copy, the first
    assert told["skipped"] == [{"id": "a", "reason": "its id is in the index already"}]
    told = client.post("/v1/documents", json={"documents": documents, "replace": True}).json()
    assert (told["added"], told["replaced"], told["skipped"]) == (3, 3, [])
    assert client.post("/v1/documents", json={"documents": []}).json()["added"] == 0


def test_ids_that_are_numbers_stay_numbers(tmp_path: Path) -> None:
    Index.create(tmp_path / "numbers", {5: "five is a number"}, threshold=0.7).close()
    with served(tmp_path / "numbers") as client:
        assert client.put("/v1/documents/6", json={"text": "five is a number"}).json()["added"] == 1
        assert client.get("/v1/documents/6").json() == {"id": 6, "text": "five is a number"}
        refused = client.put("/v1/documents/six", json={"text": "x"})
        assert refused.status_code == 400
        assert "whole numbers" in refused.json()["error"]["message"]
        assert client.get("/v1/documents/six").status_code == 404
        assert client.delete("/v1/documents/6").json() == {"removed": 1}


def test_sets_and_vectors_are_served(tmp_path: Path) -> None:
    sets = pa.table({"id": ["a"], "items": [["milk", "bread"]]})
    Index.create(tmp_path / "sets", sets, id="id", items="items", threshold=0.5).close()
    with served(tmp_path / "sets") as client:
        put = client.put("/v1/documents/b", json={"items": ["milk", "bread", "tea"]}).json()
        assert put["seen"] == [{"id": "b", "seen": "a", "similarity": 2 / 3}]
        assert client.get("/v1/documents/b").json() == {"id": "b", "text": None}
        assert "give items" in client.post("/v1/query", json={"text": "x"}).text
    vectors = pa.array([[1.0, 2.0, 3.0]], pa.list_(pa.float32()))
    table = pa.table({"id": ["a"], "v": vectors})
    Index.create(tmp_path / "vectors", table, id="id", vector="v", threshold=0.9).close()
    with served(tmp_path / "vectors") as client:
        put = client.put("/v1/documents/b", json={"vector": [1, 2, 3.01]}).json()
        assert put["added"] == 1
        found = client.post("/v1/query", json={"vector": [1, 2, 3]}).json()["found"]
        assert [row["id"] for row in found] == ["a", "b"]
        short = client.put("/v1/documents/c", json={"vector": [1, 2]})
        assert short.status_code == 400
        assert "the vector has 2 numbers, and the index 3" in short.text


def test_stats_check_and_health_are_told(client: TestClient) -> None:
    assert client.get("/v1/stats").json()["documents"] == 3
    assert client.post("/v1/check").json() == {"sound": True, "problems": []}
    assert client.get("/healthz").json() == {"status": "ok"}
    assert client.get("/readyz").json() == {"status": "ready"}


def test_metrics_are_what_prometheus_reads(client: TestClient) -> None:
    client.post("/v1/query", json={"text": "x"})
    client.post("/v1/query", json={})
    client.put("/v1/documents/z", json={"text": "x"})
    read = client.get("/metrics")
    assert read.headers["content-type"].startswith("text/plain; version=0.0.4")
    samples = {
        (sample.name, sample.labels.get("route"), sample.labels.get("status")): sample.value
        for family in text_string_to_metric_families(read.text)
        for sample in family.samples
    }
    assert samples["nearly_requests_total", "/v1/query", "200"] == 1
    assert samples["nearly_requests_total", "/v1/query", "400"] == 1
    assert samples["nearly_request_seconds_count", "/v1/query", None] == 2
    assert samples["nearly_commit_documents_sum", None, None] == 1
    assert samples["nearly_documents", None, None] == 4


# OpenAPI is the routes


def refs(value: Any) -> set[str]:
    if isinstance(value, dict):
        own = {value["$ref"]} if "$ref" in value else set()
        return own.union(*(refs(each) for each in value.values()))
    return set().union(*(refs(each) for each in value)) if isinstance(value, list) else set()


def test_openapi_tells_every_route_and_no_other(client: TestClient) -> None:
    told = client.get("/openapi.json").json()
    routes = {(m.upper(), path) for path, methods in told["paths"].items() for m in methods}
    assert routes == {(spot.method, spot.path) for spot in ROUTES}
    known = {f"#/components/schemas/{name}" for name in told["components"]["schemas"]}
    assert refs(told["paths"]) <= known
    assert refs(told["components"]) <= known
    for methods in told["paths"].values():
        for operation in methods.values():
            assert operation["summary"]
            assert {"200", "default"} <= operation["responses"].keys()


def test_every_route_of_openapi_answers(client: TestClient) -> None:
    for path, methods in client.get("/openapi.json").json()["paths"].items():
        for method in methods:
            asked = client.request(method, path.replace("{id}", "a"), json={})
            assert asked.status_code in (200, 400), (method, path)
            if asked.status_code == 400:
                assert asked.json()["error"]["code"] == "bad_request"
    assert client.patch("/v1/stats").status_code == 405


# One shape of errors


BAD = {
    "no JSON": b"{",
    "not UTF-8": b'{"text": "\xff"}',
    "half a surrogate": b'{"text": "\\ud800"}',
    "too deep": b"[" * 100_000,
    "no content": b"{}",
    "two contents": b'{"text": "a", "items": ["a"]}',
    "another kind": b'{"items": ["a"]}',
    "a number": b'{"text": 5}',
    "an unknown field": b'{"text": "a", "nearest": 5}',
    "k is 0": b'{"text": "a", "k": 0}',
    "k is not whole": b'{"text": "a", "k": 1.5}',
    "threshold is 0": b'{"text": "a", "threshold": 0}',
    "threshold above 1": b'{"text": "a", "threshold": 1.1}',
    "threshold is no number": b'{"text": "a", "threshold": NaN}',
}
JSON = {"content-type": "application/json"}


def is_error(answer: Any, status: int) -> str:
    """The one shape; gives its message."""
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/json"
    assert answer.json().keys() == {"error"}
    error = answer.json()["error"]
    assert error.keys() == {"code", "message"}
    assert error["code"] == CODES[status]
    assert len(error["message"]) > 10
    message: str = error["message"]
    return message


@pytest.mark.parametrize("body", BAD.values(), ids=BAD.keys())
def test_a_bad_question_is_refused_with_its_reason(client: TestClient, body: bytes) -> None:
    is_error(client.post("/v1/query", content=body, headers=JSON), 400)


def test_every_error_has_one_shape(client: TestClient) -> None:
    assert "/openapi.json" in is_error(client.get("/nothing"), 404)
    is_error(client.get("/v1/query"), 405)
    is_error(client.put("/v1/documents/", json={"text": "x"}), 400)
    is_error(client.put("/v1/documents/x?durable=1", json={"text": "x"}), 400)
    is_error(client.post("/v1/query", content=b"{}", headers={"content-type": "text/plain"}), 415)
    is_error(client.get("/v1/stats", headers={"host": "example.org"}), 421)
    is_error(client.get("/v1/stats", headers={"origin": "http://127.0.0.1:8017"}), 403)


def test_what_nobody_expected_tells_nothing(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ValueError("an inner secret")

    monkeypatch.setattr(Index, "stats", broken)
    assert "secret" not in is_error(client.get("/v1/stats"), 500)


def test_a_disk_that_fails_is_the_service_s_fault(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise SinkError("the index cannot be written: no space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Index, "add", full)
        assert "no space" in is_error(client.put("/v1/documents/x", json={"text": "x"}), 503)
    assert client.put("/v1/documents/x", json={"text": "x"}).status_code == 200


# Who may ask


def test_tokens_have_scopes(path: Path) -> None:
    with served(path, token=TOKEN, read_token=READ_TOKEN) as client:
        for spot in ROUTES:
            where = spot.path.replace("{id}", "a")
            for token, known in [(None, set()), (READ_TOKEN, {"read"}), ("x" * 20, set())]:
                headers = {} if token is None else {"authorization": f"Bearer {token}"}
                answer = client.request(spot.method, where, json={}, headers=headers)
                if spot.scope is None or spot.scope in known:
                    assert answer.status_code in (200, 400), where
                elif known:
                    is_error(answer, 403)
                else:
                    is_error(answer, 401)
                    assert answer.headers["www-authenticate"] == "Bearer"
        answer = client.delete("/v1/documents/a", headers={"authorization": f"bearer {TOKEN}"})
        assert answer.status_code == 200
        assert client.get("/openapi.json").status_code == 200


def test_a_read_token_alone_lets_nobody_write(path: Path) -> None:
    with served(path, read_token=READ_TOKEN) as client:
        headers = {"authorization": f"Bearer {READ_TOKEN}"}
        assert client.get("/v1/stats", headers=headers).status_code == 200
        is_error(client.delete("/v1/documents/a", headers=headers), 403)
        is_error(client.delete("/v1/documents/a"), 401)


# How much, how many, how long


def test_what_is_too_large_is_refused(path: Path) -> None:
    with served(path, Limits(body=1000, batch=2)) as client:
        text = {"text": "x" * 2000}
        assert "1,000 bytes" in is_error(client.put("/v1/documents/x", json=text), 413)
        parts = (b"x" * 400 for _ in range(10))  # in pieces, whose length no header tells
        is_error(client.put("/v1/documents/x", content=parts, headers=JSON), 413)
        three = [{"text": "x"}] * 3
        assert "split it" in is_error(
            client.post("/v1/query:batch", json={"questions": three}), 413
        )
        documents = [{"id": str(i), "text": "x"} for i in range(3)]
        is_error(client.post("/v1/documents", json={"documents": documents}), 413)
        assert client.get("/v1/stats").json()["documents"] == 3


class Held:
    """An index whose commits wait until they are let go."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun, self.go = threading.Event(), threading.Event()
        add = Index.add

        def held(*args: Any, **options: Any) -> Any:
            self.begun.set()
            assert self.go.wait(PATIENCE)
            return add(*args, **options)

        monkeypatch.setattr(Index, "add", held)


def test_who_comes_too_fast_is_told_to_wait(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held = Held(monkeypatch)
    with served(path, Limits(waiting=2)) as client:
        where = "/v1/documents/{}?durable=false"
        assert client.put(where.format(0), json={"text": "x"}).status_code == 202
        assert held.begun.wait(PATIENCE)
        for i in (1, 2):
            answer = client.put(where.format(i), json={"text": "x"})
            assert (answer.status_code, answer.json()) == (202, {"accepted": 1})
        answer = client.put(where.format(3), json={"text": "x"})
        is_error(answer, 429)
        assert answer.headers["retry-after"] == "1"
        assert client.post("/v1/query", json={"text": TEXTS["a"]}).status_code == 200
        held.go.set()
    with Index.open(path, read_only=True) as index:  # what was accepted was stored before the end
        assert [str(i) in index for i in range(4)] == [True, True, True, False]


def test_an_answer_that_takes_too_long_is_given_up(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Held(monkeypatch)
    with served(path, Limits(seconds=0.05)) as client:
        is_error(client.put("/v1/documents/x", json={"text": "x"}), 504)
        held.go.set()
    with Index.open(path, read_only=True) as index:
        assert "x" in index  # it was under way, as the message says


def test_too_many_at_once_are_told_to_wait(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held = Held(monkeypatch)
    with served(path, Limits(at_once=1)) as client:
        answers: list[Any] = []
        first = threading.Thread(
            target=lambda: answers.append(client.put("/v1/documents/x", json={"text": "x"}))
        )
        first.start()
        assert held.begun.wait(PATIENCE)
        is_error(client.post("/v1/query", json={"text": "x"}), 429)
        assert client.get("/healthz").status_code == 200
        held.go.set()
        first.join()
        assert answers[0].status_code == 200


# Many clients, one commit


@pytest.mark.parametrize("is_bad", [False, True])
def test_changes_that_wait_become_one_commit(
    path: Path, monkeypatch: pytest.MonkeyPatch, *, is_bad: bool
) -> None:
    held = Held(monkeypatch)
    with Index.open(path) as index:
        commits: list[int] = []
        writer = Writer(partial(stored, index), Limits(), commits.append)
        writer.start()
        first = writer.submit(Change("replace", ["first"], ["the first text of all"]))
        assert held.begun.wait(PATIENCE)
        texts = ["one about boats", "trains, and how late", "no rain today", "what cats eat"]
        waiting = [writer.submit(Change("replace", [f"n{i}"], [t])) for i, t in enumerate(texts)]
        again = writer.submit(Change("replace", ["n0", "m"], [texts[0], texts[1]]))
        if is_bad:  # a document that the index cannot take
            monkeypatch.setattr(Index, "add", picky(Index.add))
            waiting.append(writer.submit(Change("replace", ["bad"], ["bad"])))
        held.go.set()
        assert first.result(PATIENCE) == Stored(1, 0, [], [])
        assert [future.result(PATIENCE).added for future in waiting[:4]] == [1] * 4
        assert [(row.id, row.seen) for row in again.result(PATIENCE).seen] == [("m", "n1")]
        if is_bad:
            with pytest.raises(nearly.SourceError, match="bad"):
                waiting[-1].result(PATIENCE)
        writer.stop()
        # Where one is at fault, each has its own commit, and nobody else's fails.
        assert commits == ([1, 1, 1, 1, 1, 2] if is_bad else [1, 4, 2])
        assert len(index) == 9


def picky(add: Any) -> Any:
    def refuse(index: Index, table: pa.Table, **options: Any) -> Any:
        if "bad" in table.column("id").to_pylist():
            raise nearly.SourceError("this one is bad")
        return add(index, table, **options)

    return refuse


NAMES = st.lists(st.sampled_from("abcd"), min_size=1, max_size=3, unique=True)
CHANGES = st.lists(st.tuples(st.sampled_from(["add", "replace", "remove"]), NAMES), max_size=12)


@given(CHANGES)
def test_no_change_overtakes_another_of_its_documents(given: list[tuple[Any, list[str]]]) -> None:
    changes = [Change(kind, ids) for kind, ids in given]
    waiting, order = changes, []
    while waiting:
        together, later = group(waiting)
        assert together
        assert len({change.kind for change in together}) == 1
        names = [name for change in together for name in change.ids]
        assert len(names) == len(set(names))
        order += together
        waiting = later
    assert sorted(map(id, order)) == sorted(map(id, changes))
    for name in "abcd":
        of_name = [change for change in changes if name in change.ids]
        assert [change for change in order if name in change.ids] == of_name


def test_a_commit_is_shared_by_what_can_go_together() -> None:
    changes = [Change("replace", [name]) for name in "abcab"]
    changes.insert(1, Change("remove", ["z"]))
    together, later = group(changes)
    assert [change.ids for change in together] == [["a"], ["b"], ["c"]]
    assert [change.ids for change in later] == [["z"], ["a"], ["b"]]
