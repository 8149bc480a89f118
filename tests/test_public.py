"""The public surface: what `import nearly` offers, and no more."""

from pathlib import Path

import pytest

import nearly

PUBLIC = [
    "Added",
    "Advice",
    "Answer",
    "BloomFilter",
    "Client",
    "Comparison",
    "Cut",
    "CutSettings",
    "CutStatistics",
    "Deduplicated",
    "Difference",
    "EngineError",
    "Evaluation",
    "Explanation",
    "Found",
    "Index",
    "Mentions",
    "MissingError",
    "NearlyError",
    "NoMemoryError",
    "PassageSettings",
    "Passages",
    "Plan",
    "Sent",
    "ServiceError",
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
    "cut_repeats",
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
    refused = "allow_pickle=False"
    texts = {file: file.read_text().replace(refused, "").lower() for file in package.rglob("*.py")}
    users = [file for file, text in texts.items() if "pickle" in text]
    # Spark's own processes speak so with each other, and parts that are put aside keep their shape
    # so in memory or in Spark; to files go plain bytes of arrays only, and nothing is read from
    # outside.
    engines = package / "engines"
    assert set(users) == {
        engines / "local" / "parts.py",
        engines / "spark" / "session" / "private.py",
        engines / "spark" / "shelf.py",
    }
