"""Pair: both texts side by side, the numbers, the evidence, and what people say of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from nearly.markup import Child, Markup, joined, tag
from nearly.prepared.mark import LONGEST_NOTE, MARKS
from nearly.prepared.pair import OnePair, one_pair
from nearly.report.beside import beside
from nearly.view.evidence import Evidence
from nearly.web.answer import Shown
from nearly.web.asked import Asked
from nearly.web.desk import Desk, Laid
from nearly.web.frame import at, facts, link, table
from nearly.web.pages.learn import lesson_address
from nearly.wording import count, short

__all__ = ["pair"]


def pair(desk: Desk, asked: Asked) -> Shown:
    """One pair."""
    laid = desk.result(asked.path["result"])
    wanted = asked.filter()
    seen = one_pair(
        laid.prepared, asked.whole("pair"), wanted, laid.marks.known(), hidden=asked.hidden
    )
    return Shown(
        title=f"{short(seen.view.value)} {seen.value}",
        data=seen.to_dict,
        body=lambda: _page(laid, seen, wanted.to_dict()),
        result=laid.name,
        here="pairs",
        scripts=("keys.js",),
    )


def _page(laid: Laid, seen: OnePair, asked: dict[str, Any]) -> Markup:
    view = seen.view
    return joined(
        tag("p", tag("bdi", view.name_a), " and ", tag("bdi", view.name_b), class_="lead"),
        _ways(laid, seen, asked),
        tag("p", view.summary[:1].upper(), view.summary[1:], ".") if view.summary else None,
        facts(dict(_numbers(seen))),
        _bands(seen.evidence) if seen.evidence else None,
        _mark(laid, seen, asked),
        _texts(seen),
        _lesson(seen),
        tag("p", "Keys: ", tag("kbd", "←"), " and ", tag("kbd", "→"), " go through the pairs, ",
            tag("kbd", "s"), " same, ", tag("kbd", "d"), " different, ", tag("kbd", "u"),
            " unsure.", class_="note script"),
    )  # fmt: skip


def _ways(laid: Laid, seen: OnePair, asked: dict[str, Any]) -> Markup:
    place = f"pair {seen.place:,} of {seen.total:,}" if seen.place else "not in this list"
    to_cluster = (
        link("its cluster", at(laid.name, "cluster", seen.cluster))
        if seen.cluster is not None
        else None
    )
    return tag(
        "nav",
        _way(laid, "previous pair", "prev", seen.previous, asked),
        tag("span", place),
        _way(laid, "next pair", "next", seen.next, asked),
        link("all pairs", at(laid.name, "pairs", **asked)),
        to_cluster,
        class_="pager",
        aria_label="pairs",
    )


def _way(laid: Laid, words: str, rel: str, to: int | None, asked: dict[str, Any]) -> Markup | None:
    return None if to is None else link(words, at(laid.name, "pair", to, **asked), rel=rel)


def _numbers(seen: OnePair) -> Iterator[tuple[str, Child]]:
    yield f"exact {seen.value}", short(seen.view.value)
    if any(seen.groups):
        yield "groups", joined(*_apart(tag("bdi", each or "none") for each in seen.groups))
    if seen.terms:
        yield "terms" if len(seen.terms) > 1 else "term", tag("bdi", " and ".join(seen.terms))
    overlap = seen.view.overlap
    if overlap is not None:
        yield "of the first in the second", short(overlap.of_first)
        yield "of the second in the first", short(overlap.of_second)
        yield "shared shingles", f"{overlap.shared:,} of {overlap.first:,} and {overlap.second:,}"
    if seen.otherwise is not None:
        yield f"{seen.otherwise.words} stop words", short(seen.otherwise.similarity)
    if seen.evidence is not None:
        yield f"estimate of {seen.evidence.positions:,} positions", short(seen.evidence.estimate)


def _apart(each: Iterable[Markup]) -> Iterator[Child]:
    for place, one in enumerate(each):
        yield joined(" and ", one) if place else one


def _bands(evidence: Evidence) -> Markup:
    if evidence.bands is None:
        return tag("p", "All pairs were compared: no bands were needed.", class_="note")
    met = ", ".join(map(str, evidence.met[:50])) + (" …" if len(evidence.met) > 50 else "")
    return tag(
        "p",
        f"They met in {len(evidence.met):,} of {count(evidence.bands, 'band')} "
        f"of {count(evidence.rows or 0, 'row')}" + (f": {met}." if met else "."),
        class_="note",
    )


def _mark(laid: Laid, seen: OnePair, asked: dict[str, Any]) -> Markup:
    chosen = seen.mark.mark
    radios = [
        tag("label", tag("input", type="radio", name="mark", value=value, checked=value == chosen),
            " ", value or "no mark")
        for value in (*MARKS, "")
    ]  # fmt: skip
    return tag(
        "form",
        tag("fieldset", tag("legend", "Is it the same?"), radios),
        tag("label", "note ", tag("input", type="text", name="note", value=seen.mark.note,
                                  maxlength=LONGEST_NOTE)),
        tag("button", "Keep", type="submit"),
        method="post",
        action=at(laid.name, "pair", seen.pair, "mark", **asked),
        class_="mark",
        id="mark",
    )  # fmt: skip


def _lesson(seen: OnePair) -> Markup | None:
    a, b = seen.view.text_a, seen.view.text_b
    to = lesson_address([a, b]) if a and b else None
    return tag("p", link("How these two are compared, step by step", to)) if to else None


def _files(seen: OnePair) -> Markup:
    """Which file each passage is from, where documents are of many files."""
    rows = [
        [link(place, f"#p-a{place}"), tag("bdi", first), tag("bdi", second)]
        for place, (first, second) in enumerate(seen.files, start=1)
        if first or second
    ]
    heads = ["passage", seen.view.name_a, seen.view.name_b]
    return joined(tag("h3", "Passages by file"), table(rows, heads, "passages by file"))


def _template(share: float) -> Markup:
    words = f" is in at least {share:.0%} of the documents: a task, a heading, a licence."
    return joined(" ", tag("span", "What is grey", class_="template"), words)


def _texts(seen: OnePair) -> Markup:
    if seen.view.matched is None:
        why = f": {seen.unread}" if seen.unread else ""
        return tag("p", f"The texts cannot be shown{why}.", role="note")
    first = tag("input", type="radio", name="show", value="matches", checked=True)
    second = tag("input", type="radio", name="show", value="differences")
    choices = tag("label", first, " matches"), tag("label", second, " differences")
    legend = tag(
        "p",
        tag("mark", "What both share", class_="c0"),
        " has a colour and a number, which leads to its counterpart. ",
        tag("ins", "What differs inside", class_="c0"),
        " and ",
        tag("span", "what stands in one text only", class_="only"),
        " are marked.",
        _template(seen.template) if seen.template is not None else None,
        class_="legend",
    )
    return tag(
        "section",
        tag("h2", "Side by side"),
        tag("fieldset", tag("legend", "Show"), choices, class_="show"),
        legend,
        beside(seen.view, "p"),
        _files(seen) if seen.files else None,
        class_="texts",
    )
