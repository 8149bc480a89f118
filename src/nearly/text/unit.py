"""What two documents differ in: words of texts, characters where edits were counted, items."""

from collections.abc import Mapping
from typing import Any, Literal

__all__ = ["Unit", "unit_of"]

Unit = Literal["word", "character", "item"]


def unit_of(measure: str, source: Mapping[str, Any]) -> Unit | None:
    """The unit of a run, by the name of its measure and the facts of its source.

    None for vectors: the few numbers that people see of them do not tell how they differ.
    """
    if "vector" in source:
        return None
    if "items" in source:
        return "item"
    return "character" if measure == "edit" else "word"
