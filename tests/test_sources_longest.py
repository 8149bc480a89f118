"""Documents that are too long: skipped, counted and listed; the others stay as they are."""

import pytest

import nearly
from nearly.errors import UnreadableError

TEXTS = ["short enough " * 3, "much too long " * 100, "short enough " * 3 + "!", None]


def test_a_document_past_the_limit_is_skipped_with_its_reason() -> None:
    found = nearly.find(TEXTS, threshold=0.5, longest=100)
    assert [(p["id_a"], p["id_b"]) for p in found.pairs.to_pylist()] == [(0, 2)]
    assert [r["reason"] for r in found.skipped.to_pylist()] == [
        "too long: 1,400 bytes of text, and the limit is 100",
        "null text",
    ]


def test_strict_makes_it_an_error() -> None:
    with pytest.raises(UnreadableError, match="too long"):
        nearly.find(TEXTS[:3], threshold=0.5, longest=100, strict=True)


def test_nothing_is_too_long_at_the_limit_itself() -> None:
    found = nearly.find(["abcde" * 20, "abcde" * 20 + "f"], threshold=0.5, longest=101)
    assert found.pairs.num_rows == 1
    assert found.skipped.num_rows == 0
