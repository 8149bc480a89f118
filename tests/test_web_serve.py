"""`nearly serve`: a real server on loopback, from its address to its end."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest
from nasty import NASTY
from patience import PATIENCE
from web_desk import saved

from nearly.cli.program import run


@pytest.fixture(scope="module", name="found")
def _found(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved(tmp_path_factory.mktemp("serve"), NASTY)


def test_a_server_lets_in_by_its_address_and_ends_by_a_signal(found: Path) -> None:
    command = [sys.executable, "-m", "nearly", "serve", "found", "--port", "0"]
    environment = {k: v for k, v in os.environ.items() if k != "NEARLY_TOKEN"}
    with subprocess.Popen(
        command, cwd=found.parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as server:
        assert server.stdout is not None
        address = server.stdout.readline().decode().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{32}", address)
        with httpx2.Client(follow_redirects=True, trust_env=False, timeout=PATIENCE) as browser:
            page = browser.get(address)
            assert page.status_code == 200
            assert "found" in page.text
            assert "server" not in page.headers
            assert "token" not in str(page.url)
            base = str(page.url)
            assert browser.get(f"{base}r/found/overview").status_code == 200
        assert httpx2.get(base, trust_env=False, timeout=PATIENCE).status_code == 401
        server.send_signal(signal.SIGINT)
        assert server.wait(PATIENCE) == 130


def test_another_host_needs_a_token(found: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["serve", str(found), "--host", "0.0.0.0", "--port", "0"]) == 2  # noqa: S104
    assert "give a token too" in capsys.readouterr().err


def test_a_short_token_is_refused(found: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["serve", str(found), "--token", "short", "--port", "0"]) == 2
    assert "the token has 5 characters; give 16 at least" in capsys.readouterr().err


def test_what_is_not_there_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["serve", str(tmp_path / "lost"), "--port", "0"]) == 2
    assert "there is no file or folder" in capsys.readouterr().err


def test_one_source_can_be_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("some words")
    assert run(["serve", str(tmp_path / "a.txt"), str(tmp_path / "b.txt"), "--port", "0"]) == 2
    assert "one source can be run" in capsys.readouterr().err


def test_two_results_of_one_name_are_refused(
    found: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["serve", str(found), str(found), "--port", "0"]) == 2
    assert "have the same name" in capsys.readouterr().err
