"""Overview: the numbers, the histogram with a threshold to drag, sizes, sharers, alarms."""

from __future__ import annotations

import json

from nearly.markup import Markup, joined, tag
from nearly.prepared.glance import Cut, Glance, glance
from nearly.report.figure import bars
from nearly.report.meaning import facts as settings_of
from nearly.report.meaning import meaning
from nearly.view.overview import Bar, Overview
from nearly.web.answer import Shown
from nearly.web.asked import Asked
from nearly.web.desk import Desk, Laid
from nearly.web.figure import histogram
from nearly.web.frame import at, facts, link, table

__all__ = ["overview"]


def overview(desk: Desk, asked: Asked) -> Shown:
    """What there is to see first."""
    laid = desk.result(asked.path["result"])
    seen = glance(laid.prepared, hidden=asked.hidden)
    return Shown(
        title="Overview",
        data=seen.to_dict,
        body=lambda: _page(laid, seen, hidden=asked.hidden),
        result=laid.name,
        here="overview",
        scripts=("cut.js",),
    )


def _page(laid: Laid, seen: Glance, *, hidden: bool) -> Markup:
    shown = seen.overview
    alarms = [tag("li", alarm) for alarm in shown.alarms]
    group = laid.prepared.members["group"]
    return joined(
        _numbers(shown),
        tag("p", f"Pairs inside one {group} are left out.") if group else None,
        tag("ul", alarms, class_="alarms") if alarms else None,
        _cutting(laid, seen) if shown.pairs else tag("p", "No pair is similar enough."),
        _sizes(shown.sizes),
        _sharers(laid, shown),
        tag("section", tag("h2", "What the numbers mean"), meaning(laid.prepared.found)),
        tag(
            "details",
            tag("summary", "How it was made"),
            table(
                settings_of(laid.prepared.found, group, hidden), ["setting", "value"], "settings"
            ),
        ),
    )


def _numbers(shown: Overview) -> Markup:
    named = {
        "documents": shown.documents,
        "pairs": shown.pairs,
        "clusters": shown.clusters,
        "documents in clusters": shown.clustered,
        "exact copies": shown.copies,
        "empty": shown.empty,
        "skipped": shown.skipped,
    }
    return facts({name: f"{number:,}" for name, number in named.items()})


def _cutting(laid: Laid, seen: Glance) -> Markup:
    """The slider works by script; without one the whole is shown."""
    shown, cuts = seen.overview, seen.cuts
    lowest = cuts[0]
    cut = (
        tag("label", f"{shown.value} at ", "least" if shown.value == "similarity" else "most", " ",
            tag("output", f"{lowest.at:g}", id="at"), for_="cut"),
        tag("input", type="range", id="cut", min=0, max=len(cuts) - 1, step=1,
            value=0 if shown.value == "similarity" else len(cuts) - 1),
    )  # fmt: skip
    return tag(
        "section",
        tag("h2", f"Pairs by {shown.value}"),
        histogram(f"Pairs by {shown.value}", shown.values),
        tag("p", "Bars count ",
            tag("button", "in proportion", type="button", id="scale", aria_pressed="false"),
            class_="note script"),
        tag("div", cut, _left(cuts[-1] if shown.value == "distance" else lowest), class_="cut"),
        tag("p", link("See these pairs", at(laid.name, "pairs"), id="see")),
        id="cutting",
        data_cuts=json.dumps(cuts),
        data_side="low" if shown.value == "similarity" else "high",
    )  # fmt: skip


def _left(cut: Cut) -> Markup:
    named = {
        "pairs": cut.pairs,
        "clusters": cut.clusters,
        "documents in clusters": cut.clustered,
        "largest cluster": cut.largest,
    }
    each = [
        tag("div", tag("dt", name), tag("dd", f"{number:,}", id=f"cut-{place}"))
        for place, (name, number) in enumerate(named.items(), start=1)
        if number is not None
    ]
    return tag("dl", each, class_="facts", aria_live="polite")


def _sizes(sizes: tuple[Bar, ...]) -> Markup | None:
    if not any(bar.total for bar in sizes):
        return None
    ends = [(int(bar.low), int(bar.high) - 1) for bar in sizes]
    labels = [f"{low:,}" if low == high else f"{low:,} to {high:,}" for low, high in ends]
    drawn = bars("Clusters by size", labels, [bar.total for bar in sizes])
    return tag("section", tag("h2", "Clusters by size"), tag("figure", drawn))


def _sharers(laid: Laid, shown: Overview) -> Markup | None:
    if not shown.sharers:
        return None
    documents = [document for document, _ in laid.prepared.members["overview"]["sharers"]]
    rows = [
        [link(tag("bdi", each.name), at(laid.name, "pairs", document=document)), f"{each.pairs:,}"]
        for each, document in zip(shown.sharers, documents, strict=True)
    ]
    return tag("section", tag("h2", "Who shares most"), table(rows, ["document", "pairs"]))
