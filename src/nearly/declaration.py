"""What a setting is: declared once, for validation, signatures, the command line and the docs.

A dataclass declares a setting as a field with `setting(default, meaning)`; its annotation says
the type, and the values that are allowed where these are few.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, field, fields
from functools import cache
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from nearly.errors import SettingsError
from nearly.frozen import dataclass
from nearly.wording import did_you_mean

__all__ = ["Declaration", "check_choices", "check_names", "declarations", "setting"]


def setting(default: Any, meaning: str) -> Any:
    """Declare a setting: its default, and its meaning in one sentence."""
    return field(default=default, metadata={"meaning": meaning})


@dataclass(frozen=True, kw_only=True)
class Declaration:
    """One setting: all that a signature, an option or a page says about it."""

    name: str
    annotation: str  # as it is written
    choices: tuple[str, ...]  # none where any value of the type will do
    default: Any
    meaning: str


@cache
def declarations(kind: type) -> Mapping[str, Declaration]:
    """The settings that a dataclass declares, by name, in its order."""
    types = get_type_hints(kind)
    return {
        f.name: Declaration(
            name=f.name,
            annotation=str(f.type),
            choices=_choices(types[f.name]),
            default=None if f.default is MISSING else f.default,
            meaning=f.metadata["meaning"],
        )
        for f in fields(kind)
        if "meaning" in f.metadata
    }


def _choices(kind: Any) -> tuple[str, ...]:
    """The strings of a `Literal`, which may be optional."""
    if get_origin(kind) is Literal:
        return get_args(kind)
    if get_origin(kind) in (Union, UnionType):
        first, *others = get_args(kind)
        return _choices(first) if others == [type(None)] else ()
    return ()


def check_choices(settings: object) -> None:
    """Refuse a value that is not among the few that are allowed."""
    kind: type = type(settings)
    for name, declared in declarations(kind).items():
        given = getattr(settings, name)
        if declared.choices and given not in (*declared.choices, declared.default):
            raise SettingsError(f"{name} is {given!r}; choose one of {', '.join(declared.choices)}")


def check_names(given: Iterable[str], known: Iterable[str], noun: str = "setting") -> None:
    """Refuse the first name that is not known."""
    names = list(known)
    for name in given:
        if name not in names:
            meant = did_you_mean(name, names) or f"there are {', '.join(names)}"
            raise SettingsError(f"there is no {noun} {name!r}; {meant}")
