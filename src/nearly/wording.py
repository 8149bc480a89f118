"""Numbers in words, as every message says them."""

__all__ = ["count"]


def count(number: int, noun: str, nouns: str | None = None) -> str:
    """`1 pair`, `2,000 pairs`."""
    return f"{number:,} {noun if number == 1 else nouns or noun + 's'}"
