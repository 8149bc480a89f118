"""Words that messages of many rooms share."""

from collections.abc import Iterable

__all__ = ["count", "did_you_mean", "short"]


def count(number: int, noun: str, nouns: str | None = None) -> str:
    """`1 pair`, `2,000 pairs`."""
    return f"{number:,} {noun if number == 1 else nouns or noun + 's'}"


def short(similarity: float) -> str:
    """Four digits, rounded down: only what is the same is shown as 1."""
    from decimal import ROUND_DOWN, Decimal

    return str(Decimal(repr(similarity)).quantize(Decimal("0.0001"), ROUND_DOWN))


def did_you_mean(given: str, known: Iterable[str]) -> str:
    """`did you mean 'find'?`, or nothing where no name is close."""
    from difflib import get_close_matches

    close = get_close_matches(given, list(known), n=1)
    return f"did you mean {close[0]!r}?" if close else ""
