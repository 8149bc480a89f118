"""The documentation runs: commands, the Python example, and links."""

import gzip
import json
import re
import shlex
from pathlib import Path

import click
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nearly.cli.program import nearly, run

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
README = (ROOT / "README.md").read_text()


def blocks(page: str, language: str = "") -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page, re.MULTILINE | re.DOTALL)


def commands(page: str) -> list[list[str]]:
    lines = [line for block in blocks(page) for line in block.splitlines()]
    calls = [line.removeprefix("$ ") for line in lines if re.match(r"(\$ )?nearly [a-z]", line)]
    return [shlex.split(call, comments=True)[1:] for call in calls]


def documented() -> list[tuple[str, list[str]]]:
    return [(page.name, call) for page in PAGES for call in commands(page.read_text())]


@pytest.mark.parametrize(("page", "call"), documented(), ids=lambda value: str(value)[:60])
def test_every_command_in_the_documentation_has_these_options(page: str, call: list[str]) -> None:
    context = nearly.make_context("nearly", call[:1], resilient_parsing=True)
    command = nearly.get_command(context, call[0])
    if isinstance(command, click.Group) and call[1] != "COMMAND":
        command, call = command.get_command(context, call[1]), call[1:]
    assert command is not None, f"{page}: nearly {call[0]}"
    known = {name for parameter in command.params for name in parameter.opts}
    used = {word.partition("=")[0] for word in call[1:] if re.match(r"--?[a-z]", word)}
    assert used <= known


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files that the tour speaks of."""
    monkeypatch.chdir(tmp_path)
    texts = ["a few words that are here", "a few words that were here", "quite another text"]
    for folder in ("docs", "mails", "dump"):
        (tmp_path / folder).mkdir()
    for name, text in zip(("a.txt", "b.txt", "c.txt"), texts, strict=True):
        (tmp_path / name).write_text(text)
        (tmp_path / "docs" / name).write_text(text)
    rows = [{"id": i, "body": text, "text": text, "lang": "en"} for i, text in enumerate(texts)]
    table = pa.Table.from_pylist(rows)
    pq.write_table(table, tmp_path / "dump/part.parquet")
    pq.write_table(table.select(["id", "text"]), tmp_path / "corpus.parquet")
    lines = "".join(json.dumps({"id": r["id"], "text": r["text"]}) + "\n" for r in rows)
    (tmp_path / "mails/1.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    (tmp_path / "docs.jsonl").write_text(lines)
    baskets = pa.table({"items": [["milk", "bread"], ["bread", "milk"]]})
    pq.write_table(baskets, tmp_path / "baskets.parquet")
    vectors = pa.table({"embedding": [[1.0, 2.0], [1.0, 2.1], [3.0, -1.0]]})
    pq.write_table(vectors, tmp_path / "vectors.parquet")
    csv = "tweetid,text\n" + "".join(f"{r['id']},{r['text']}\n" for r in rows)
    (tmp_path / "tweets.csv").write_text(csv)
    (tmp_path / "tickets.csv").write_text("body\nthe lamp is broken\nthe lamp broke\n")
    (tmp_path / "names.csv").write_text("name\nMarie Curie\nMarie Currie\nNiels Bohr\n")
    return tmp_path


def tour() -> list[list[str]]:
    part = README[README.index("## A tour") : README.index("**Sources.**")]
    return commands(part)


def _needs_more(call: list[str]) -> bool:
    """Whether it is about what an earlier line of the tour made."""
    return call[0] in ("report", "query") or "--add" in call


@pytest.mark.usefixtures("desk")
@pytest.mark.parametrize("call", tour(), ids=lambda call: " ".join(call)[:40])
def test_the_tour_runs(call: list[str]) -> None:
    for before in tour()[: tour().index(call)] if _needs_more(call) else []:
        makes_something = "--save" in before or before[0] == "index"
        assert not makes_something or run(before) == 0  # what is reported, or asked
    assert run(call) == 0


def test_the_terminal_session_of_the_readme_is_real(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "80")
    (session,) = [block for block in blocks(README) if block.startswith("$ nearly find examples")]
    call, *shown = session.splitlines()
    assert run(shlex.split(call)[2:]) == 0
    out, err = capsys.readouterr()
    assert shown == [*out.splitlines(), *err.splitlines()[:2]]


def test_the_python_example_of_the_readme_runs(desk: Path) -> None:
    part = README[README.index("**From Python:**") : README.index("All options:")]
    names: dict[str, object] = {}
    for block in blocks(part, "python"):
        exec(block, names)  # noqa: S102
    pairs = names["found"].pairs.to_pylist()  # type: ignore[attr-defined]
    assert [(p["id_a"], p["id_b"]) for p in pairs] == [("a", "b")]
    assert desk.exists()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!http)([^)#]+)", page.read_text()):
        assert (page.parent / target).exists(), target
