"""HTML that is escaped by construction: whatever is no markup already becomes text.

A page is made of calls of `tag`. There is no other way to markup but `Markup` itself, so a name or
a text of a document can never become an element, an attribute or a script.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from typing import Final

__all__ = ["Child", "Markup", "joined", "tag", "text_of"]

#: What HTML cannot hold, or shows as nothing: controls but for tab and line breaks, and lone
#: surrogates. And what turns text round, with which one name can look like another.
_UNSEEN: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202d\u202e\ud800-\udfff\ufffe\uffff]")
#: Elements that have no end tag.
_VOID: Final = frozenset({"br", "col", "hr", "input", "link", "meta"})


class Markup(str):
    """HTML as it stands; all other strings are escaped where they meet it."""

    __slots__ = ()


Child = str | int | None | Iterable["Child"]


def text_of(text: str) -> Markup:
    """A string as HTML shows it: signs for controls, which would be lost."""
    return Markup(escape(_UNSEEN.sub(_seen, text)))


def _seen(found: re.Match[str]) -> str:
    code = ord(found[0])
    if found[0] in "\u202d\u202e":
        return f"[U+{code:04X}]"
    return chr(0x2400 + code) if code < 0x20 else "\ufffd"


def joined(*children: Child) -> Markup:
    """Children one after the other; None is left out."""
    return Markup("".join(_each(child) for child in children))


def _each(child: Child) -> str:
    if child is None:
        return ""
    if isinstance(child, Markup):
        return child
    if isinstance(child, str | int):
        return text_of(str(child))
    return "".join(map(_each, child))


def tag(name: str, /, *children: Child, **attributes: str | int | bool | None) -> Markup:
    """An element; `class_` is class, `aria_label` is aria-label, None and False are left out."""
    given = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _VOID:
        return Markup(f"<{name}{given}>")
    return Markup(f"<{name}{given}>{joined(*children)}</{name}>")


def _attribute(key: str, value: str | int | bool | None) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{text_of(str(value))}"'
