"""Plain JSON values → a plan; whatever else they are is a flaw that is named."""

import os
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from nearly.plans.plan import PLAN_VERSION, Plan, Removal

__all__ = ["FlawError", "check_path", "parse_plan"]

_PLAN_TYPES = {"folder": str, "settings": dict, "removals": list}
_REMOVAL_TYPES = {
    "path": str,
    "survivor": str,
    "similarity": float,
    "sha256": str,
    "survivor_sha256": str,
    "bytes": int,
}
_CALLED = {
    str: "a string",
    dict: "an object",
    list: "a list",
    float: "a number with a decimal point",
    int: "a whole number",
}


class FlawError(Exception):
    """What is wrong with a plan that was read."""


def parse_plan(plain: object) -> Plan:
    """The plan that the values of a JSON file say; raises `FlawError`."""
    if not isinstance(plain, dict) or "version" not in plain:
        raise FlawError("it has no version")
    version = plain.pop("version")
    if type(version) is not int or version != PLAN_VERSION:
        raise FlawError(f"its version is {version!r}, and this nearly knows version {PLAN_VERSION}")
    _check_members(plain, _PLAN_TYPES, "it")
    _check_name(plain["folder"])
    if not os.path.isabs(plain["folder"]):
        raise FlawError(f"its folder is {plain['folder']!r}, which is not absolute")
    given = enumerate(plain.pop("removals"))
    removals = tuple(_parse_removal(removal, f"removals[{i}]") for i, removal in given)
    twice = [path for path, n in Counter(r.path for r in removals).items() if n > 1]
    if twice:
        raise FlawError(f"it removes {twice[0]!r} twice")
    return Plan(**plain, removals=removals)


def _parse_removal(given: object, where: str) -> Removal:
    if not isinstance(given, dict):
        raise FlawError(f"{where} is not an object")
    _check_members(given, _REMOVAL_TYPES, where)
    removal = Removal(**given)
    check_path(removal.path)
    check_path(removal.survivor)
    if not 0 <= removal.similarity <= 1:
        raise FlawError(f"{where}: similarity is {removal.similarity!r}, and has to be from 0 to 1")
    if removal.bytes < 0:
        raise FlawError(f"{where}: bytes is {removal.bytes!r}, and cannot be below 0")
    for sha256 in (removal.sha256, removal.survivor_sha256):
        if not re.fullmatch("[0-9a-f]{64}", sha256):
            raise FlawError(f"{where}: {sha256!r} is no SHA-256 of 64 hex digits")
    return removal


def _check_members(given: dict[str, Any], types: Mapping[str, type], where: str) -> None:
    for name in sorted(given.keys() | types.keys()):
        if name not in given:
            raise FlawError(f"{where} has no {name!r}")
        if name not in types:
            raise FlawError(f"{where} has {name!r}, which is unknown")
        # Exact types: a bool is an int to `isinstance`.
        if type(given[name]) is not types[name]:
            raise FlawError(
                f"{where}: {name} is {given[name]!r}, and has to be {_CALLED[types[name]]}"
            )


def check_path(path: str) -> None:
    """A path below the folder, spelled in the one plain way."""
    if any(part in ("", ".", "..") for part in path.split("/")):
        raise FlawError(f"the path {path!r} is not a plain path below the folder")
    _check_name(path)


def _check_name(name: str) -> None:
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        raise FlawError(f"{name!r} cannot be the name of a file") from None
    if "\0" in name:
        raise FlawError(f"{name!r} cannot be the name of a file")
