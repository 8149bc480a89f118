"""Tuner: the curve of bands and rows over the pairs of the corpus, with what it finds and costs."""

from __future__ import annotations

from nearly.markup import Child, Markup, joined, tag
from nearly.prepared.tuner import MOST_BANDS, MOST_ROWS, Tuned, can_tune, tuned
from nearly.web.answer import Shown
from nearly.web.asked import Asked
from nearly.web.desk import Desk, Laid
from nearly.web.figure import s_curve
from nearly.web.frame import at, link
from nearly.wording import count

__all__ = ["tuner"]


def tuner(desk: Desk, asked: Asked) -> Shown:
    """Bands, rows and a threshold of the query; as the run had them where none is given."""
    laid = desk.result(asked.path["result"])
    if not can_tune(laid.prepared):
        return _unknown(laid)
    seen = tuned(
        laid.prepared,
        asked.whole("bands") if asked.query.get("bands") else None,
        asked.whole("rows") if asked.query.get("rows") else None,
        asked.number("threshold"),
    )
    return Shown(
        title="Tuner",
        data=lambda: seen.to_dict() | {"says": told(seen)},
        body=lambda: _page(laid, seen),
        result=laid.name,
        here="tuner",
        scripts=("tuner.js",),
    )


def _unknown(laid: Laid) -> Shown:
    said = (
        "The bands of this result cannot be tuned here: its documents were not compared as plain "
        "sets of shingles. nearly tune does it for every measure."
    )
    return Shown(
        title="Tuner",
        data=lambda: {"message": said},
        body=lambda: tag("p", said),
        result=laid.name,
        here="tuner",
    )


def told(seen: Tuned) -> dict[str, str]:
    """The numbers as people read them, by the names of their places on the page."""
    return {
        "recall": _share(seen.recall),
        "at": _share(seen.recall_at_threshold),
        "missed": _about(seen.missed),
        "candidates": _about(seen.candidates),
        "wasted": _about(seen.wasted),
        "meetings": _about(seen.meetings),
        "seconds": _seconds(seen.seconds),
        "memory": f"{seen.memory / 1e6:,.0f} MB",
        "positive": f"{seen.false_positive_area:.4f}",
        "negative": f"{seen.false_negative_area:.4f}",
        "permutations": f"{seen.bands * seen.rows:,}",
        "command": f"--bands {seen.bands} --rows {seen.rows} -t {seen.threshold:g}",
    }


_NAMES = {
    "recall": "of all similar pairs are found",
    "at": "of those at the threshold, at least",
    "missed": "pairs missed",
    "candidates": "pairs that meet",
    "wasted": "of these for nothing",
    "meetings": "meetings, counted in each bucket",
    "seconds": "time",
    "memory": "memory",
    "positive": "area of false positives",
    "negative": "area of false negatives",
    "permutations": "hash functions",
}


def _share(share: float) -> str:
    """Rounded down: only what is sure is 100%."""
    return f"{int(share * 1e4) / 1e2:.2f}%"


def _about(number: float) -> str:
    """Two digits of what is expected are enough."""
    if number < 10:
        return f"{number:.1f}" if number >= 0.05 else "0"
    digits = len(str(int(number))) - 2
    return f"{round(number, -digits):,.0f}"


def _seconds(seconds: float) -> str:
    if seconds < 1:
        return "under a second"
    return f"{seconds:,.0f} s" if seconds < 120 else f"{seconds / 60:,.0f} min"


def _page(laid: Laid, seen: Tuned) -> Markup:
    said = told(seen)
    numbers = [
        tag("div", tag("dt", words), tag("dd", said[name], id=f"says-{name}"))
        for name, words in _NAMES.items()
    ]
    return joined(
        tag("p", "More bands find more, and cost more; more rows in a band keep strangers apart, "
            "and lose more. Move them, and see what it would do with these documents."),
        _form(laid, seen),
        tag("figure", s_curve(seen), tag("figcaption", _legend()), id="tuner", class_="wide"),
        tag("dl", numbers, class_="facts", aria_live="polite"),
        tag("p", "To run with this: ", tag("code", "nearly find … ",
            tag("span", said["command"], id="says-command"))),
        _basis(laid, seen),
    )  # fmt: skip


def _form(laid: Laid, seen: Tuned) -> Markup:
    """A form, which a script sends by itself while a slider moves."""
    return tag(
        "form",
        _slider("bands", "bands", 1, MOST_BANDS, 1, seen.bands),
        _slider("rows", "rows in a band", 1, MOST_ROWS, 1, seen.rows),
        _slider("threshold", "threshold", seen.least, 1, "any", seen.threshold),
        tag("p", tag("button", "Show", type="submit"), " ",
            link(_back(seen), at(laid.name, "tuner"))),
        method="get",
        class_="sliders",
        id="sliders",
    )  # fmt: skip


def _back(seen: Tuned) -> str:
    bands, rows = seen.find
    words = f"{count(bands, 'band')} of {count(rows, 'row')}"
    return f"as the run had it: {words}" if seen.is_of_run else f"as hashing would take it: {words}"


def _slider(name: str, words: str, low: float, high: int, step: int | str, value: float) -> Markup:
    # A threshold moves by thousandths; any number can be typed.
    moves = "0.001" if step == "any" else str(step)
    return tag(
        "div",
        tag("label", words, for_=name),
        tag("input", type="number", id=name, name=name, min=f"{low:g}", max=high, step=step,
            value=f"{value:g}", class_="short"),
        tag("input", type="range", min=f"{low:g}", max=high, step=moves, value=f"{value:g}",
            data_for=name, aria_label=f"{words}, to drag", class_="script"),
    )  # fmt: skip


def _legend() -> list[Child]:
    return [
        tag("span", "line: the chance that a pair is found", class_="key curve-key"),
        tag("span", "false positives: looked at for nothing", class_="key positive-key"),
        tag("span", "false negatives: missed", class_="key negative-key"),
        tag("span", "bars: pairs of these documents, by powers of ten", class_="key bar-key"),
    ]


def _basis(laid: Laid, seen: Tuned) -> Markup:
    if seen.drawn:
        below = (
            f"What lies below was seen in {count(seen.drawn, 'document')} drawn at random, of "
            "which every two were compared; what is rarer than one of their pairs is not in it."
        )
    elif laid.prepared.unread is not None:
        below = "What lies below is that of a usual corpus, since there are no texts to look at."
    else:
        below = "What lies below is that of a usual corpus."
    return tag(
        "p",
        f"The bars from {seen.least:g} upwards are the pairs of this result. {below} Work and time "
        "are expected for all documents, with the reading as long as it took in the run; they are "
        "good for comparing settings, less for planning.",
        class_="note",
    )
