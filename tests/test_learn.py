"""The page for learners: all its commands and examples run, and the sources' values stand in it."""

import doctest
import json
import math
import re
import shlex
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import nearly
from nearly import textbook
from nearly.cli.program import run
from nearly.tuning.banding import curve, nearest_threshold

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


def lesson_of(source: str, *names: str, **how: Any) -> nearly.Explanation:
    """What the page's own files say."""
    texts = {n: (ROOT / "examples/learn" / source / f"{n}.txt").read_text() for n in names}
    return nearly.explain(texts, **how)


def minhashes(source: str, names: str, order: str, **how: Any) -> list[str]:
    """The first shingle of each document in that order, from its signature."""
    lesson = lesson_of(source, *names.split(), permutation=[order], **how)
    places = [lesson.signatures[name].to_pylist()[0] for name in names.split()]
    return [order.split(",")[place - 1] for place in places]


def agreeing_and_shared(a: str, b: str) -> tuple[int, int, float]:
    """Of two documents on kth's slides 33 to 36."""
    places = ["2,3,7,6,1,5,4", "4,2,1,3,6,7,5", "3,4,7,2,6,1,5"]
    how = {"unit": "word", "k": 1, "order": "sorted", "permutation": places}
    lesson = lesson_of("kth", "C1", "C2", "C3", "C4", **how)
    (pair,) = [p for p in lesson.similarities.to_pylist() if (p["a"], p["b"]) == (a, b)]
    return round(3 * pair["estimate"]), round(100 * pair["estimate"]), pair["similarity"]


def third_function_of_chauhan() -> list[int]:
    """At the end, of DS3 and DS5."""
    names = [f"DS{i}" for i in range(1, 6)]
    how = {"unit": "word", "k": 1, "order": "sorted", "function": ["x+3 mod 7"]}
    signatures = lesson_of("chauhan", *names, **how).signatures
    return [signatures[name].to_pylist()[0] for name in ("DS3", "DS5")]


#: What is said in words, outside of commands and answers: how it reads, and why it is so.
SAID: dict[str, Callable[[], bool]] = {
    "Chauhan's example is 4/7": lambda: (
        textbook.jaccard({2, 3, 4, 5, 6}, {1, 3, 4, 5, 6, 7}) == Fraction(4, 7)
    ),
    "round 5/11 to 0.46; it is 0.4545": lambda: round(5 / 11, 4) == 0.4545 != 0.46,
    "Manhattan is r = 1 and Euclid r = 2": lambda: (
        (textbook.norm_distance([0, 0], [3, 4], 1), textbook.norm_distance([0, 0], [3, 4], 2))
        == (7, 5)
    ),
    "`len(x) + len(y) - 2 * len(LCS)` is 5 + 6 - 2 · 4, the longest common": lambda: (
        textbook.edit_distance("abcde", "bcduve") == 5 + 6 - 2 * len("bcde")
        and (len("abcde"), len("bcduve")) == (5, 6)
    ),
    "the order b, e, a, d, c, in which a is third, c fifth and b first: the minhashes are a, c, b, "
    "a": lambda: minhashes("azgomi", "S1 S2 S3 S4", "b,e,a,d,c", unit="word", k=1) == list("acba"),
    '"Nadal" has da (second) and "Nadia" has di (first)': lambda: (
        minhashes("upc", "nadal nadia", "di,da,ia,na,ad,al", k=2) == ["da", "di"]
    ),
    "C1 and C3 agree in two of three positions, 0.67, where the sets have 0.75 in common": lambda: (
        agreeing_and_shared("C1", "C3") == (2, 67, 0.75)
    ),
    "those of C2 and C4 in all of them": lambda: agreeing_and_shared("C2", "C4")[0] == 3,
    "it is 0 for the same sets": lambda: textbook.jaccard_distance({1, 2}, {1, 2}) == 0,
    "had reached 0, and a minimum cannot rise. It is 0.": lambda: (
        third_function_of_chauhan() == [0, 0]
    ),
    "with the chance 1 \N{MINUS SIGN} (1 \N{MINUS SIGN} sʳ)ᵇ": lambda: (
        curve(0.7, 20, 5) == 1 - (1 - 0.7**5) ** 20
    ),
    "For 20 bands of 5 rows": lambda: "curve(s, 20, 5)" in PAGE,
    "the division of 100 functions whose (1/b)^(1/r) is nearest to the threshold. For 0.7 that is "
    "10 bands of 10 rows, which find a quarter of the pairs at 0.7": lambda: (
        (nearest_threshold(100, 0.7).bands, nearest_threshold(100, 0.7).rows) == (10, 10)
        and round(curve(0.7, 10, 10), 2) == 0.25
    ),
    "m bits, take k = (m/n) ln 2": lambda: all(
        hashes == round(bits / 1000 * math.log(2))
        for bits, hashes, _ in textbook.bloom_steps(1000, 0.01)
    ),
    "For a thousand items and an error of 1%": lambda: "bloom_steps(1000, 0.01)" in PAGE,
}
#: Numbers that are no results: of the matrix, and what the thesis prints.
NO_RESULTS = (
    "a 1 in a row lowers",
    "prints 1 for DS3 and DS5 under the third function at the end",
)
#: Where something stands in a source.
REFERENCES = (
    r"\(\w*,? ?\d+(\.\d+)+\)|(figures?|tables?|slides|example) \d+(\.\d+)*( to \d+(\.\d+)*)?"
)


@pytest.mark.parametrize("said", SAID)
def test_what_is_said_in_words_is_so(said: str) -> None:
    assert SAID[said]()


def test_no_number_is_said_in_words_but_these() -> None:
    prose = re.sub(r"^(```.*?^```|\|.*?$)", "", PAGE, flags=re.MULTILINE | re.DOTALL)
    prose = " ".join(prose.split())
    for said in (*SAID, *NO_RESULTS):
        assert said in prose
        prose = prose.replace(said, "")
    names = r"\bC\d\b|\bDS\d\b"
    assert re.findall(r".{20}\d.{20}", re.sub(f"{REFERENCES}|{names}", "", prose)) == []
