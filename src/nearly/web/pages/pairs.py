"""Pairs: the nearest first, some of them, page by page; and the same as CSV."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from nearly.markup import Child, Markup, joined, tag
from nearly.prepared.excerpt import Excerpt
from nearly.prepared.listing import Filter, PairList, PairRow, chosen_pairs, list_pairs, rows_of
from nearly.prepared.mark import MARKS
from nearly.web.answer import Sent, Shown
from nearly.web.asked import Asked
from nearly.web.csv_cell import csv_line
from nearly.web.desk import Desk, Laid
from nearly.web.frame import at, link, pager, table
from nearly.wording import count, short

__all__ = ["document", "export", "pairs"]

#: Pairs of an export that are read at once.
TOGETHER: Final = 1_000


def pairs(desk: Desk, asked: Asked) -> Shown:
    """One page of pairs."""
    laid = desk.result(asked.path["result"])
    seen = list_pairs(
        laid.prepared,
        asked.filter(),
        laid.marks.known(),
        page=asked.whole("page", 1),
        hidden=asked.hidden,
    )
    return Shown(
        title="Pairs",
        data=seen.to_dict,
        body=lambda: _page(laid, seen),
        result=laid.name,
        here="pairs",
        scripts=("keys.js",),
    )


def export(desk: Desk, asked: Asked) -> Sent:
    """All pairs that are meant, with their marks."""
    laid = desk.result(asked.path["result"])
    return Sent(
        name=f"{laid.name}-pairs.csv",
        media_type="text/csv; charset=utf-8",
        chunks=_lines(laid, asked.filter(), hidden=asked.hidden),
    )


def _lines(laid: Laid, wanted: Filter, *, hidden: bool) -> Iterator[bytes]:
    marks = laid.marks.known()
    chosen = chosen_pairs(laid.prepared, wanted, marks)
    heads = ["group_a", "group_b", "terms", laid.prepared.value, "difference", "mark", "note"]
    yield csv_line(["pair", "a", "b", *heads])
    for start in range(0, len(chosen), TOGETHER):
        rows = rows_of(laid.prepared, chosen[start : start + TOGETHER], marks, hidden=hidden)
        yield b"".join(
            csv_line(
                [
                    *(r.pair, r.name_a, r.name_b, r.group_a, r.group_b, " and ".join(r.terms)),
                    *(r.value, r.summary or "", r.mark, r.note),
                ]
            )
            for r in rows
        )


def _page(laid: Laid, seen: PairList) -> Markup:
    asked = seen.filter.to_dict()
    addresses = {
        page: at(laid.name, "pairs", **asked, page=page) for page in (seen.page - 1, seen.page + 1)
    }
    return joined(
        _form(laid, seen),
        tag(
            "p",
            f"{count(seen.total, 'pair')}, the nearest first. ",
            link("Save them as CSV", at(laid.name, "pairs.csv", **asked)) if seen.total else None,
        ),
        _rows(laid, seen, asked) if seen.rows else None,
        pager(seen.page, seen.pages, addresses),
    )


def _rows(laid: Laid, seen: PairList, asked: dict[str, Any]) -> Markup:
    heads = [seen.value, "document", "document", "what differs", "mark"]
    if seen.has_terms:
        heads.insert(3, "terms")
    rows = [_row(laid, row, asked, has_terms=seen.has_terms) for row in seen.rows]
    return table(rows, heads, "pairs", stacked=True, id="pairs")


def _row(laid: Laid, row: PairRow, asked: dict[str, Any], *, has_terms: bool) -> list[Child]:
    return [
        link(short(row.value), at(laid.name, "pair", row.pair, **asked)),
        document(row.name_a, row.group_a, row.excerpt_a),
        document(row.name_b, row.group_b, row.excerpt_b),
        *([_terms(row.terms)] if has_terms else []),
        row.summary,
        joined(row.mark, tag("span", f" {row.note}", class_="note") if row.note else None),
    ]


def document(name: str, group: str, excerpt: Excerpt | None) -> Markup:
    """With its group, unless its name says it: that of a file begins with its folder."""
    is_said = not group or name.startswith(f"{group}/")
    said = None if is_said else tag("bdi", group, class_="note")
    return joined(tag("bdi", name), " " if said else None, said, _excerpt(excerpt))


def _excerpt(seen: Excerpt | None) -> Markup | None:
    if seen is None:
        return None
    differing = tag("ins", seen.differing) if seen.differing else None
    return tag("div", seen.before, differing, seen.after, class_="excerpt", dir="auto")


def _terms(terms: tuple[str, ...]) -> Markup:
    return tag("bdi", " and ".join(terms), class_="across" if len(terms) > 1 else None)


def _form(laid: Laid, seen: PairList) -> Markup:
    wanted = seen.filter
    marks = ["", *MARKS, "unmarked"]
    fields = [
        _field(f"{seen.value} from", "low", wanted.low),
        _field("to", "high", wanted.high),
        _field("name has", "name", wanted.name),
        _field("text has", "text", wanted.text) if laid.prepared.texts else None,
        _choice("mark", "mark", marks, wanted.mark),
        _group(seen) if seen.groups else None,
        _choice("terms", "terms", ["", "across", "within"], wanted.terms)
        if seen.has_terms
        else None,
        _choice("difference", "difference", ["", *seen.kinds], wanted.difference)
        if seen.kinds
        else None,
        tag("label", tag("input", type="checkbox", name="near", value=1, checked=wanted.near),
            " leave out what is the same"),
        tag("input", type="hidden", name="document", value=wanted.document)
        if wanted.document is not None
        else None,
        tag("button", "Show", type="submit"),
        link("Show all", at(laid.name, "pairs")) if wanted.to_dict() else None,
    ]  # fmt: skip
    return tag("form", fields, method="get", class_="filter", role="search")


def _group(seen: PairList) -> Markup:
    """By number: a name may be that of a person, and does not belong into an address."""
    wanted = seen.filter.group
    each = [
        tag("option", name, value=number, selected=number == wanted)
        for number, name in enumerate(seen.groups)
    ]
    return tag("label", "group ", tag("select", tag("option", "any", value=""), each, name="group"))


def _field(words: str, name: str, value: float | str | None) -> Markup:
    shown = "" if value is None else f"{value:g}" if isinstance(value, float) else value
    is_number = name in ("low", "high")
    return tag(
        "label",
        words,
        " ",
        tag(
            "input",
            type="text",
            name=name,
            value=shown,
            inputmode="decimal" if is_number else None,
            class_="short" if is_number else None,
            maxlength=200,
        ),
    )


def _choice(words: str, name: str, values: list[str], chosen: str) -> Markup:
    options = [
        tag("option", value or "any", value=value, selected=value == chosen) for value in values
    ]
    return tag("label", words, " ", tag("select", options, name=name))
