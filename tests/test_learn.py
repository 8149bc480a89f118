"""The page for learners: all its commands and examples run, and the sources' values stand in it."""

import doctest
import json
import re
import shlex
from pathlib import Path

import pytest

import nearly
from nearly.cli.program import run

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "learn.md").read_text()
SESSIONS = re.findall(r"^```\n\$ nearly (.*?)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
LESSONS = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
EXAMPLES = json.loads((ROOT / "tests" / "data" / "examples.json").read_text("utf-8"))


@pytest.mark.parametrize(("command", "answer"), SESSIONS, ids=[s[0][-40:] for s in SESSIONS])
def test_every_session_is_real(
    command: str,
    answer: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(ROOT)
    assert run(shlex.split(command)) == 0
    assert capsys.readouterr().out == answer


def test_every_python_example_is_real() -> None:
    lessons = "\n".join(LESSONS)
    test = doctest.DocTestParser().get_doctest(lessons, {}, "learn.md", "docs/learn.md", 0)
    assert len(test.examples) >= 15
    assert doctest.DocTestRunner().run(test).failed == 0


def test_there_are_sessions_of_every_source() -> None:
    assert len(SESSIONS) == 5
    for source in ("azgomi", "chauhan", "kth", "manfredi", "upc"):
        assert source in PAGE.lower()


@pytest.mark.parametrize(
    "example", EXAMPLES["minhash_by_hash_functions"], ids=lambda e: e["source"]
)
def test_hash_functions_of_the_sources(example: dict[str, object]) -> None:
    lesson = nearly.explain(example["sets"], function=example["functions"], order="sorted")  # type: ignore[arg-type]
    columns = lesson.signatures.to_pydict()
    del columns["function"]
    assert columns == example["expect"]


@pytest.mark.parametrize("example", EXAMPLES["minhash_by_permutations"], ids=lambda e: e["source"])
def test_permutations_of_the_sources(example: dict) -> None:  # type: ignore[type-arg]
    if "order" not in example:
        lesson = nearly.explain(
            example["columns"], permutation=example["row_positions"], order="sorted"
        )
        signatures = lesson.signatures.to_pydict()
        del signatures["function"]
        assert [list(row) for row in zip(*signatures.values(), strict=True)] == example["expect"]
        return
    lesson = nearly.explain(example["sets"], permutation=[example["order"]])
    signatures = lesson.signatures.to_pydict()
    del signatures["function"]
    found = {name: example["order"][values[0] - 1] for name, values in signatures.items()}
    assert found == example["expect"]
