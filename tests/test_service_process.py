"""The service as a process: its client, many at once, a kill, a stop, and the page's examples."""

import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from patience import PATIENCE
from service_desk import TEXTS, Process, running

import nearly
from nearly.cli.program import run
from nearly.index.index import Index

PAGE = (Path(__file__).parents[1] / "docs" / "service.md").read_text()
TOKEN = "reads-and-writes-0123"  # noqa: S105
#: Documents that each writer adds under load.
ROUNDS = 16
READ_TOKEN = "only-reads-0123456789"  # noqa: S105


@pytest.fixture(name="path")
def _path(tmp_path: Path) -> Path:
    Index.create(tmp_path / "seen", TEXTS, threshold=0.7, seed=1).close()
    return tmp_path / "seen"


def test_the_client_speaks_with_a_server(path: Path) -> None:
    keys = {"NEARLY_TOKEN": TOKEN, "NEARLY_READ_TOKEN": READ_TOKEN}
    with running(path, **keys) as server, nearly.Client(server.address, token=TOKEN) as client:
        assert [name for name, _ in client.query(TEXTS["a"])] == ["a", "b"]
        assert client.query(TEXTS["a"], k=1) == [("a", 1.0)]
        assert [len(each) for each in client.query_batch(TEXTS.values(), threshold=0.99)] == [1] * 3
        sent = client.put("a/b ?", TEXTS["c"])
        assert (sent.added, sent.replaced, sent.seen) == (1, 0, [("a/b ?", "c", 1.0)])
        assert client.text("a/b ?") == TEXTS["c"]
        sent = client.add({"a": "x", "new": "a new one"})
        assert (sent.added, sent.skipped) == (1, [("a", "its id is in the index already")])
        client.remove("a/b ?")
        for ask in (client.text, client.remove):
            with pytest.raises(KeyError):
                ask("a/b ?")
        assert client.stats().documents == 4
        assert client.check() == []
        with pytest.raises(nearly.ServiceError, match="threshold") as caught:
            client.query("x", threshold=7)
        assert (caught.value.status, caught.value.code) == (400, "bad_request")
        with nearly.Client(server.address, token=READ_TOKEN) as reader:
            assert reader.query(TEXTS["c"]) == [("c", 1.0)]
            with pytest.raises(nearly.ServiceError, match="the token allows to read"):
                reader.remove("a")
        code, said = server.end()
        assert code == 128 + signal.SIGTERM
        assert said == "nearly: stopped\n"
        with pytest.raises(nearly.ServiceError, match="does not answer"):
            client.query("x")
    with Index.open(path) as index:  # the lock is free
        assert index.check().is_sound


def document(writer: int, number: int) -> str:
    """Far from all others."""
    return " ".join(f"{writer}-{number}{word}" for word in "abcdefgh")


def write(address: str, writer: int) -> list[object]:
    """Add and remove, and ask at once; gives what was wrong."""
    wrong: list[object] = []
    with nearly.Client(address, timeout=PATIENCE) as client:
        for number in range(ROUNDS):
            name, text = f"{writer}-{number}", document(writer, number)
            sent, found = client.put(name, text), client.query(text)
            if sent.added != 1 or found != [(name, 1.0)]:
                wrong.append((name, sent, found))
            if number % 4 == 3:
                client.remove(name)
                wrong += client.query(text)
    return wrong


def read(address: str, is_over: threading.Event) -> list[object]:
    """Ask until it is over; gives what was wrong."""
    wrong: list[object] = []
    with nearly.Client(address, timeout=PATIENCE) as client:
        while not is_over.is_set():
            found = client.query(TEXTS["a"])
            wrong += [found] if [name for name, _ in found] != ["a", "b"] else []
    return wrong


def test_nothing_is_lost_and_nothing_wrong_under_load(path: Path) -> None:
    is_over = threading.Event()
    with running(path) as server, ThreadPoolExecutor(8) as pool:
        readers = [pool.submit(read, server.address, is_over) for _ in range(2)]
        writers = [pool.submit(write, server.address, writer) for writer in range(6)]
        assert [each.result(PATIENCE) for each in writers] == [[]] * 6
        is_over.set()
        assert [each.result(PATIENCE) for each in readers] == [[]] * 2
        server.end(signal.SIGKILL)
    with Index.open(path) as index:
        assert index.check().is_sound
        kept = {f"{w}-{n}": document(w, n) for w in range(6) for n in range(ROUNDS) if n % 4 != 3}
        assert len(index) == len(kept) + 3
        assert {name: index.text(name) for name in kept} == kept


def test_what_was_accepted_is_stored_before_the_end(path: Path) -> None:
    with running(path) as server:
        address = server.address.removeprefix("http://")
        connection = http.client.HTTPConnection(address, timeout=PATIENCE)
        headers = {"Content-Type": "application/json"}
        for i in range(50):
            body = json.dumps({"text": document(0, i)})
            connection.request("PUT", f"/v1/documents/{i}?durable=false", body, headers)
            answer = connection.getresponse()
            assert (answer.status, json.loads(answer.read())) == (202, {"accepted": 1})
        code, _ = server.end()
        connection.close()
        assert code == 128 + signal.SIGTERM
    with Index.open(path, read_only=True) as index:
        assert all(f"{i}" in index for i in range(50))


def scribe_of(server: Process) -> int:
    """The process that writes for a server."""
    tasks = Path(f"/proc/{server.process.pid}/task")
    return int(next(tasks.glob("*/children")).read_text().split()[0])


def test_who_stops_all_processes_at_once_loses_nothing(path: Path) -> None:
    with running(path) as server, nearly.Client(server.address) as client:
        for number in (signal.SIGTERM, signal.SIGINT):
            os.kill(scribe_of(server), number)
        assert client.put("late", document(1, 1)).added == 1
        assert server.end()[0] == 128 + signal.SIGTERM
    with Index.open(path) as index:
        assert "late" in index


def test_a_writing_process_that_is_killed_is_started_again(path: Path) -> None:
    with running(path) as server, nearly.Client(server.address) as client:
        client.put("before", document(1, 1))
        os.kill(scribe_of(server), signal.SIGKILL)
        with pytest.raises(nearly.ServiceError, match="send it again") as caught:
            client.put("after", document(1, 2))
        assert caught.value.status == 503
        assert client.query(document(1, 1)) == [("before", 1.0)]
        assert client.put("after", document(1, 2)).replaced in (0, 1)
        assert client.query(document(1, 2)) == [("after", 1.0)]


def test_an_index_that_another_process_writes_to_is_not_served(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Index.open(path):
        assert run(["serve", str(path), "--api", "--port", "0"]) == 2
    assert "another process writes to the index" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--host", "0.0.0.0"], "give a token too"),  # noqa: S104
        (["--token", "short"], "the token has 5 characters"),
        (["--read-token", "short"], "the token has 5 characters"),
        (["another"], "give one index to serve"),
    ],
)
def test_what_cannot_be_served_is_refused(
    path: Path, arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["serve", str(path), "--api", "--port", "0", *arguments]) == 2
    assert told in capsys.readouterr().err


def test_a_folder_without_an_index_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["serve", str(tmp_path), "--api", "--port", "0"]) == 2
    assert "there is no index" in capsys.readouterr().err


def examples() -> list[tuple[str, str]]:
    """Commands of the page that ask, and what it says is answered."""
    blocks = re.findall(r"^```\n(\$ curl.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    found = []
    for block in blocks:
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, answer = re.fullmatch(r"(.*?[^\\])\n(.*)", part, re.DOTALL).groups()  # type: ignore[union-attr]
            found.append((command, answer.strip()))
    return found


@pytest.mark.skipif(
    shutil.which("curl") is None and "CI" not in os.environ, reason="there is no curl"
)
def test_the_examples_of_the_page_answer_as_it_says(path: Path) -> None:
    assert len(examples()) >= 8
    with running(path, NEARLY_TOKEN=TOKEN) as server:
        for command, expected in examples():
            asked = command.replace("http://127.0.0.1:8017", server.address)
            told = subprocess.run(
                ["bash", "-c", asked],
                env={"NEARLY_TOKEN": TOKEN, "PATH": "/usr/bin:/bin"},
                capture_output=True,
                text=True,
                check=True,
            ).stdout
            if expected.endswith("…"):
                assert told.startswith(expected[:-1].rstrip()), command
            else:
                assert json.loads(told) == json.loads(expected), command
