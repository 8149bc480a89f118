"""A request as plain data: what the address, the form and the cookies say."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, BinaryIO, Final

from nearly.errors import SettingsError
from nearly.prepared.listing import Filter

__all__ = ["FILTER", "Asked"]

#: What an address may say of the pairs that are meant.
FILTER: Final = tuple(field.name for field in fields(Filter))

#: Characters of a word that is looked for.
LONGEST_WORDS: Final = 200


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What was asked for; whatever is wrong in it is an error that says so."""

    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    form: Mapping[str, Any] = field(default_factory=dict)
    files: Sequence[tuple[str, BinaryIO]] = ()
    hidden: bool = False  # names

    def whole(self, name: str, default: int = 0) -> int:
        """A whole number of the path or the query."""
        given = self.path.get(name, self.query.get(name, ""))
        if not given:
            return default
        if not (given.isascii() and given.isdigit() and len(given) < 10):
            raise SettingsError(f"{name} is {given[:50]!r}; give a whole number")
        return int(given)

    def number(self, name: str) -> float | None:
        """A number of the query, or None where there is none."""
        given = self.query.get(name, "")
        if not given:
            return None
        try:
            number = float(given)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise SettingsError(f"{name} is {given[:50]!r}; give a number")
        return number

    def words(self, name: str) -> str:
        """Text of the query."""
        given = self.query.get(name, "").strip()
        if len(given) > LONGEST_WORDS:
            raise SettingsError(
                f"{name} has {len(given):,} characters, and the most is {LONGEST_WORDS}; shorten it"
            )
        return given

    def filter(self) -> Filter:
        """Which pairs are meant."""
        return Filter(
            low=self.number("low"),
            high=self.number("high"),
            name=self.words("name"),
            text=self.words("text"),
            difference=self.words("difference"),
            mark=self.words("mark"),
            document=self.whole("document") if self.query.get("document") else None,
            near=self.query.get("near") == "1",
            group=self.whole("group") if self.query.get("group") else None,
            terms=self.words("terms"),
        )
