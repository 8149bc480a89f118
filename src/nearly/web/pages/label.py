"""Label: pairs of a random sample, one by one, without their similarity; then the precision."""

from __future__ import annotations

from typing import Any

from nearly.markup import Markup, joined, tag
from nearly.prepared.label import Labelling, labelling
from nearly.prepared.mark import MARKS
from nearly.prepared.pair import check_pair
from nearly.report.beside import beside
from nearly.web.answer import Moved, Shown
from nearly.web.asked import Asked
from nearly.web.desk import Desk, Laid
from nearly.web.frame import at, facts
from nearly.wording import count

__all__ = ["judge", "label"]

#: Pairs of a sample, where nobody says how many.
USUAL = 50


def label(desk: Desk, asked: Asked) -> Shown:
    """The next pair of the sample, or what came of it."""
    laid = desk.result(asked.path["result"])
    seen = labelling(
        laid.prepared,
        laid.labels,
        size=asked.whole("size", USUAL),
        seed=asked.whole("seed", 1),
        low=asked.number("low"),
        hidden=asked.hidden,
    )
    return Shown(
        title="Blind labelling",
        data=seen.to_dict,
        body=lambda: _page(laid, seen),
        result=laid.name,
        here="label",
        scripts=("keys.js",),
    )


def judge(desk: Desk, asked: Asked) -> Moved:
    """Write it down, and on to the next one."""
    laid = desk.result(asked.path["result"])
    pair = asked.whole("pair")
    check_pair(laid.prepared, pair)
    laid.labels.put(pair, str(asked.form.get("mark", "")), "")
    size, seed = asked.whole("size", USUAL), asked.whole("seed", 1)
    return Moved(at(laid.name, "label", size=size, seed=seed, low=asked.number("low")))


def _page(laid: Laid, seen: Labelling) -> Markup:
    done = seen.same + seen.different + seen.unsure
    return joined(
        tag("p", f"Are these pairs really the same? {count(seen.size, 'pair')} of {seen.total:,}, "
            "drawn at random, are shown without their similarity. What you say is kept in ",
            tag("bdi", laid.labels.path.name), "."),
        _sample(seen),
        tag("p", f"{done:,} of {seen.size:,} are labelled.", role="status"),
        tag("progress", value=done, max=max(seen.size, 1), aria_label="labelled"),
        _outcome(seen) if done else None,
        _next(laid, seen) if seen.next else tag("p", "All of the sample is labelled."),
    )  # fmt: skip


def _outcome(seen: Labelling) -> Markup:
    precision = "unknown" if seen.precision is None else f"{seen.precision:.1%}"
    return facts(
        {
            "same": f"{seen.same:,}",
            "different": f"{seen.different:,}",
            "unsure": f"{seen.unsure:,}",
            "precision": precision,
            "with 95% confidence": f"{seen.lowest:.1%} to {seen.highest:.1%}",
        }
    )


def _sample(seen: Labelling) -> Markup:
    def field(words: str, name: str, value: Any) -> Markup:
        shown = "" if value is None else str(value)
        box = tag("input", type="text", name=name, value=shown, class_="short", maxlength=20)
        return tag("label", words, " ", box)

    return tag(
        "form",
        field("pairs", "size", seen.size),
        field("seed", "seed", seen.seed),
        field("from", "low", seen.low),
        tag("button", "Draw", type="submit", class_="quiet"),
        method="get",
        class_="filter",
    )


def _next(laid: Laid, seen: Labelling) -> Markup | None:
    if seen.next is None:
        return None
    to = at(laid.name, "label", seen.next.pair, size=seen.size, seed=seen.seed, low=seen.low)
    buttons = [
        tag("label", tag("input", type="radio", name="mark", value=value), " ", value)
        for value in MARKS
    ]
    return joined(
        tag("form", tag("fieldset", tag("legend", "Is it the same?"), buttons),
            tag("button", "Next", type="submit"), method="post", action=to, class_="mark",
            id="mark"),
        tag("p", "Keys: ", tag("kbd", "s"), " same, ", tag("kbd", "d"), " different, ",
            tag("kbd", "u"), " unsure.", class_="note script"),
        beside(seen.next.view, "p"),
    )  # fmt: skip
