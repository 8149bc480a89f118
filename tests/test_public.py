"""The public surface: what `import nearly` offers, and no more."""

from pathlib import Path

import pytest

import nearly

PUBLIC = [
    "Advice",
    "BloomFilter",
    "Comparison",
    "Deduplicated",
    "Difference",
    "EngineError",
    "Evaluation",
    "Explanation",
    "Found",
    "Mentions",
    "MissingError",
    "NearlyError",
    "PassageSettings",
    "Passages",
    "Plan",
    "Settings",
    "SettingsError",
    "SinkError",
    "SourceError",
    "Statistics",
    "TextSettings",
    "Unique",
    "UniqueStatistics",
    "UnreadableError",
    "compare",
    "dedup",
    "difference",
    "evaluate",
    "explain",
    "find",
    "mentions",
    "open",
    "passages",
    "plan",
    "texts",
    "tune",
    "unique",
]


def test_public_names_are_these_and_sorted() -> None:
    assert nearly.__all__ == PUBLIC == sorted(PUBLIC)
    assert dir(nearly) == PUBLIC


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_exists_and_says_what_it_is(name: str) -> None:
    assert getattr(nearly, name).__doc__


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        nearly.nonsense  # noqa: B018


def test_nothing_is_pickled() -> None:
    package = Path(nearly.__file__).parent
    users = [file for file in package.rglob("*.py") if "pickle" in file.read_text().lower()]
    # Spark's own processes speak so with each other; nothing is written or read from outside.
    assert users == [package / "engines" / "spark" / "session" / "private.py"]
