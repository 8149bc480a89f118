"""The frame around every page: head, navigation, and what pages share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote, urlencode

from nearly.markup import Child, Markup, joined, tag
from nearly.web.answer import Shown

__all__ = ["at", "facts", "framed", "link", "pager", "table"]

#: The pages of a result, as the navigation offers them.
PAGES: Final = {
    "overview": "Overview",
    "pairs": "Pairs",
    "clusters": "Clusters",
    "tuner": "Tuner",
    "clean": "Clean",
    "label": "Label",
    "compare": "Compare",
}


def at(result: str, *parts: str | int, room: str = "r", **query: Any) -> str:
    """The address of a page of a result, or of a run; what is None or empty is left out."""
    path = "/".join(quote(str(part), safe="") for part in ("", room, result, *parts))
    given = {n: v for n, v in query.items() if not (v is None or v is False or v == "")}
    asked = {name: 1 if value is True else value for name, value in given.items()}
    return f"{path}?{urlencode(asked)}" if asked else path


def link(words: Child, to: str, **attributes: str | int | bool | None) -> Markup:
    """A way to another page."""
    return tag("a", words, href=to, **attributes)


def framed(shown: Shown, path: str, *, hidden: bool) -> str:
    """A whole page."""
    head = joined(
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"{shown.title} · nearly"),
        tag("link", rel="stylesheet", href="/static/report.css"),
        tag("link", rel="stylesheet", href="/static/web.css"),
        tag("link", rel="icon", href="/static/icon.svg", type="image/svg+xml"),
        tag("link", rel="alternate", href=f"{path}?format=json", type="application/json"),
        [tag("script", src=f"/static/{name}", type="module") for name in shown.scripts],
    )
    body = joined(
        tag("a", "Skip to the content", href="#content", class_="skip"),
        tag("header", _navigation(shown), _names(path, hidden=hidden), class_="bar"),
        tag("main", tag("h1", shown.title), shown.body(), id="content"),
    )
    whole = tag("html", tag("head", head), Markup("\n"), tag("body", body), lang="en")
    return f"<!doctype html>\n{whole}\n"


def _navigation(shown: Shown) -> Markup:
    places = [("", "/", "nearly")]
    if shown.result is not None:
        places += [(name, at(shown.result, name), words) for name, words in PAGES.items()]
    places.append(("learn", "/learn", "Learn"))
    ways = [
        link(words, to, aria_current="page" if name and name == shown.here else None)
        for name, to, words in places
    ]
    named = tag("bdi", shown.result, class_="result") if shown.result else None
    return tag("nav", ways, named, aria_label="pages")


def _names(path: str, *, hidden: bool) -> Markup:
    return tag(
        "form",
        tag("input", type="hidden", name="to", value=path),
        tag("input", type="hidden", name="hidden", value="0" if hidden else "1"),
        tag("button", "Show names" if hidden else "Hide names", type="submit", class_="quiet"),
        method="post",
        action="/names",
    )


def table(
    rows: Iterable[Sequence[Child]],
    heads: Sequence[str],
    label: str = "table",
    *,
    stacked: bool = False,
    **attributes: str,
) -> Markup:
    """A table that scrolls by itself where it is too wide; or its cells stack on a small screen."""
    head = tag("thead", tag("tr", [tag("th", each, scope="col") for each in heads]))
    named = heads if stacked else [None] * len(heads)
    body = tag("tbody", [tag("tr", map(_cell, row, named)) for row in rows])
    whole = tag("table", head, body, class_="stacked" if stacked else None, **attributes)
    return tag("div", whole, class_="table", tabindex=0, role="region", aria_label=label)


def _cell(content: Child, head: str | None) -> Markup:
    return tag("td", content, data_head=head)


def facts(named: Mapping[str, Child]) -> Markup:
    """Numbers with their names."""
    each = [tag("div", tag("dt", name), tag("dd", value)) for name, value in named.items()]
    return tag("dl", each, class_="facts")


def pager(page: int, pages: int, address: Mapping[int, str]) -> Markup | None:
    """To the pages beside this one, by the addresses that are given for them."""
    if pages == 1:
        return None
    ways = joined(
        link("previous page", address[page - 1], rel="prev") if page > 1 else None,
        tag("span", f"page {page:,} of {pages:,}"),
        link("next page", address[page + 1], rel="next") if page < pages else None,
    )
    return tag("nav", ways, class_="pager", aria_label="list")
