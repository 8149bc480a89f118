"""Learn: a few small documents the textbook's way, every table on the page and as CSV."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final
from urllib.parse import urlencode

import numpy as np

from nearly import api
from nearly.arrays import column_of
from nearly.comparison import jaccard_of
from nearly.drawing.lesson import shown
from nearly.drawing.step import Lesson, Step, lesson_of, table_rows
from nearly.errors import MissingError, SettingsError
from nearly.explanation import MOST_DOCUMENTS, Explanation
from nearly.markup import Child, Markup, joined, tag
from nearly.measures.stop_word import ENGLISH
from nearly.settings import TextSettings
from nearly.web.answer import Sent, Shown
from nearly.web.asked import Asked
from nearly.web.csv_cell import csv_line
from nearly.web.desk import Desk
from nearly.web.frame import link, table
from nearly.wording import count

__all__ = ["LONGEST", "export", "learn", "lesson_address"]

#: Characters of all documents together: an address has to hold them.
LONGEST: Final = 4_000
#: Of a pair that leads to its lesson: no more shingles than a lesson takes.
LONGEST_PAIR: Final = 2_000
MOST_FUNCTIONS: Final = 60
#: Of hashes that are only counted.
SEED: Final = 1
#: Rows of a long table that are on the page.
MOST_ROWS: Final = 100
USUAL: Final = {"unit": "char", "k": "3", "bands": "4", "rows": "3", "seed": "1",
                "stop_words": "keep"}  # fmt: skip
TEXTS: Final = (
    "the cat sat on the mat",
    "the cat sat on the hat",
    "a dog sat on my mat",
    "no birds here",
)


def lesson_address(texts: Sequence[str]) -> str | None:
    """Where some texts are explained; None where they are too long for a lesson."""
    lines = "\n".join(" ".join(text.split()) for text in texts)
    return f"/learn?{urlencode({'texts': lines})}" if 0 < len(lines) <= LONGEST_PAIR else None


def learn(desk: Desk, asked: Asked) -> Shown:  # noqa: ARG001
    """The documents of the query, or four small ones."""
    told = _explained(asked)
    without = _without_stop_words(told, _texts(asked))
    seen = lesson_of(told, asked.whole("step") if asked.query.get("step") else None)
    query = _query(asked)
    return Shown(
        title="How documents are compared",
        data=lambda: seen.to_dict() | {"without_stop_words": without},
        body=lambda: _page(seen, without, query),
        here="learn",
        scripts=("learn.js",),
    )


def export(desk: Desk, asked: Asked) -> Sent:  # noqa: ARG001
    """One table of the lesson, all of it."""
    name = asked.path["table"]
    told = _explained(asked)
    tables = told.tables
    if name == "similarities":
        without = _without_stop_words(told, _texts(asked))
        column = column_of(np.array(without, np.float64))
        tables[name] = tables[name].append_column("without_stop_words", column)
    if name not in tables:
        raise MissingError(f"there is no table {name[:50]!r}; there are {', '.join(tables)}")
    return Sent(
        name=f"{name}.csv", media_type="text/csv; charset=utf-8", chunks=_lines(tables[name])
    )


def _lines(rows: Any) -> Iterator[bytes]:
    yield csv_line(rows.column_names)
    for row in table_rows(rows):
        yield csv_line([_cell_of(value) for value in row])


def _cell_of(value: Any) -> str | int | float:
    if isinstance(value, list):
        return " ".join(map(str, value))
    return "" if value is None else value if isinstance(value, int | float) else str(value)


def _query(asked: Asked) -> dict[str, str]:
    texts = "\n".join(_texts(asked))
    return {"texts": texts} | {name: asked.words(name) or usual for name, usual in USUAL.items()}


def _texts(asked: Asked) -> list[str]:
    given = asked.query.get("texts", "")
    if len(given) > LONGEST:
        raise SettingsError(
            f"the documents have {len(given):,} characters, and a lesson has at most {LONGEST:,}; "
            "shorten them"
        )
    return [line for line in map(str.strip, given.splitlines()) if line] or list(TEXTS)


def _explained(asked: Asked) -> Explanation:
    numbers: dict[str, Any] = {
        name: asked.whole(name, int(USUAL[name])) for name in ("k", "bands", "rows", "seed")
    }
    functions = numbers["bands"] * numbers["rows"]
    if functions > MOST_FUNCTIONS:
        raise SettingsError(
            f"{numbers['bands']} bands of {numbers['rows']} rows need {functions:,} functions, and "
            f"a lesson has at most {MOST_FUNCTIONS}; give fewer"
        )
    unit: Any = asked.words("unit") or USUAL["unit"]
    kept = asked.words("stop_words") or USUAL["stop_words"]
    if kept not in ("keep", "drop"):
        raise SettingsError(f"stop_words is {kept!r}; keep or drop")
    words = ENGLISH if kept == "drop" else ()
    return api.explain(
        _texts(asked), unit=unit, permutations=functions, stop_words=words, **numbers
    )


def _without_stop_words(told: Explanation, texts: Sequence[str]) -> list[float]:
    """The similarity of every two documents, had stop words been dropped from both."""
    shape: dict[str, Any] = {"unit": told.unit, "k": told.k}
    text = TextSettings(**shape, stop_words=ENGLISH)
    known = dict(zip(told.documents, texts, strict=True))
    return [
        jaccard_of(known[pair["a"]], known[pair["b"]], text, SEED)
        for pair in told.similarities.to_pylist()
    ]


def _page(seen: Lesson, without: Sequence[float], query: dict[str, str]) -> Markup:
    told = seen.explanation
    return joined(
        tag("p", "What happens to a million documents, with a few small ones: change them, and see "
            "every table on the way."),
        _form(query),
        _part("1. Shingles", f"Each document becomes the set of its runs of {told.k} "
              f"{'characters' if told.unit == 'char' else 'words'}.",
              _shingles(seen), ["shingles"], query),
        _part("2. Characteristic matrix", "A row for each shingle, a column for each document: 1 "
              "where the document has it. Similarity is what two columns share, out of what they "
              "have together.", _matrix(told), ["matrix"], query),
        _part("3. Hash functions", "Each function gives the rows another order, as if they were "
              "shuffled.", _functions(told), ["functions"], query),
        _part("4. Signature matrix", "Row by row: where a document has the shingle, its signature "
              "keeps the smaller one of what it holds and what the function makes of the row.",
              _signatures(seen, query), ["steps", "signatures"], query),
        _part("5. Bands and buckets", f"A signature is cut into {count(told.bands, 'band')} of "
              f"{count(told.rows, 'row')}. Documents with the same values in a band fall into "
              "one bucket, and become candidates.",
              _buckets(seen), ["buckets", "candidates"], query),
        _part("6. Similarities", "Candidates are compared exactly. The estimate is the share of "
              "functions that agree; the chance is that of meeting in some bucket.",
              _similarities(seen, without), ["similarities"], query),
    )  # fmt: skip


def _part(
    title: str, words: str, body: Child, tables: Sequence[str], query: dict[str, str]
) -> Markup:
    ways = [
        joined(link(f"{name} as CSV", f"/learn/{name}.csv?{urlencode(query)}"), " ")
        for name in tables
    ]
    return tag("section", tag("h2", title), tag("p", words), body, tag("p", ways, class_="ways"))


def _form(query: dict[str, str]) -> Markup:
    def number(name: str, words: str, most: int) -> Markup:
        return tag("label", words, " ", tag("input", type="number", name=name, value=query[name],
                                            min=0 if name == "seed" else 1, max=most,
                                            class_="short"))  # fmt: skip

    units = [tag("option", each, value=each, selected=each == query["unit"])
             for each in ("char", "word")]  # fmt: skip
    stop_words = [tag("option", each, value=each, selected=each == query["stop_words"])
                  for each in ("keep", "drop")]  # fmt: skip
    return tag(
        "form",
        tag("label", f"documents, one per line, up to {MOST_DOCUMENTS}",
            tag("textarea", "\n" + query["texts"], name="texts", rows=6, maxlength=LONGEST,
                dir="auto"),
            class_="whole"),
        tag("label", "or from files ", tag("input", type="file", multiple=True, id="files"),
            class_="whole script"),
        tag("label", "shingles of ", tag("select", units, name="unit")),
        number("k", "length", 20),
        number("bands", "bands", MOST_FUNCTIONS),
        number("rows", "rows", MOST_FUNCTIONS),
        number("seed", "seed", 999_999_999),
        tag("label", "stop words ", tag("select", stop_words, name="stop_words")),
        tag("button", "Show", type="submit"),
        tag("p", id="files-say", role="status", class_="whole"),
        method="get",
        action="/learn",
        class_="filter",
    )  # fmt: skip


def _shingles(seen: Lesson) -> Markup:
    each = [
        tag("div", tag("dt", name), tag("dd", [_shingle(seen.explanation, s) for s in shingles]))
        for name, shingles in seen.shingles.items()
    ]
    return tag("dl", each, class_="shingles")


def _shingle(told: Explanation, shingle: str) -> Markup:
    return joined(tag("code", tag("bdi", shown(told, shingle))), " ")


def _matrix(told: Explanation) -> Markup:
    rows = [
        [number, _shingle(told, shingle), *(_one(one) for one in ones)]
        for number, shingle, *ones in table_rows(told.matrix)[:MOST_ROWS]
    ]
    return _long(rows, ["row", "shingle", *told.documents], told, "characteristic matrix")


def _one(one: int) -> Markup:
    return tag("span", one, class_="one" if one else "zero")


def _functions(told: Explanation) -> Markup:
    named = [
        joined(tag("code", f"h{place}(x) = {name}"), " ")
        for place, name in enumerate(told.names, start=1)
    ]
    rows = [
        [number, _shingle(told, shingle), *hashes]
        for number, shingle, *hashes in table_rows(told.functions)[:MOST_ROWS]
    ]
    heads = ["row", "shingle", *told.functions.column_names[2:]]
    return joined(tag("p", named), _long(rows, heads, told, "hash functions"))


def _long(rows: list[list[Child]], heads: list[str], told: Explanation, label: str) -> Markup:
    more = told.matrix.num_rows - len(rows)
    said = tag("p", f"and {count(more, 'row')} more, which the CSV has", class_="note")
    return tag("div", table(rows, heads, label), said if more else None, class_="matrix")


def _signatures(seen: Lesson, query: dict[str, str]) -> Markup:
    step = seen.step
    at = f"/learn?{urlencode(query)}"
    ways = [
        ("first", 0, step.number > 0),
        ("previous row", step.number - 1, step.number > 0),
        ("next row", step.number + 1, step.number < step.total),
        ("last", step.total, step.number < step.total),
    ]
    links = [link(words, f"{at}&step={to}#signatures") for words, to, is_there in ways if is_there]
    slider = tag("input", type="range", id="step", min=0, max=step.total, value=step.number,
                 aria_label="rows that were looked at", class_="script")  # fmt: skip
    return tag(
        "div",
        tag("nav", links, class_="pager", aria_label="rows"),
        slider,
        tag("p", tag("button", "Play", type="button", id="play", class_="quiet"), class_="script"),
        tag("p", _said(seen.explanation, step), id="step-says", aria_live="polite"),
        tag("div", _filled(seen.explanation, step), class_="matrix"),
        id="signatures",
        data_unit=seen.explanation.unit,
    )


def _said(told: Explanation, step: Step) -> str:
    if not step.number:
        return "Before the first row: every value is infinite."
    who = ", ".join(step.holders)
    return f"After row {step.number - 1}, {shown(told, step.shingle)!r}, which {who} have."


def _filled(told: Explanation, step: Step) -> Markup:
    hashes: Sequence[Child] = step.hashes or ["…"] * len(told.names)
    rows = [
        [
            f"h{place}",
            joined(of_row),
            *(_value(*each) for each in zip(values, changes, strict=True)),
        ]
        for place, (of_row, values, changes) in enumerate(
            zip(hashes, step.values, step.changed, strict=True), start=1
        )
    ]
    return table(
        rows, ["function", "of this row", *told.documents], "signature matrix", id="matrix"
    )


def _value(value: int | None, is_changed: bool) -> Markup:
    return tag("span", "∞" if value is None else value, class_="new" if is_changed else None)


def _buckets(seen: Lesson) -> Markup:
    bands = []
    for place, buckets in enumerate(seen.buckets, start=1):
        each = [_bucket(values, documents) for values, documents in buckets]
        bands.append(tag("li", tag("h3", f"Band {place}"), tag("div", each, class_="buckets")))
    return tag("ol", bands, class_="bands")


def _bucket(values: list[int], documents: list[str]) -> Markup:
    is_met = len(documents) > 1
    return tag(
        "div",
        tag("code", " ".join(map(str, values))),
        tag("p", [joined(tag("span", name, class_="ball"), " ") for name in documents]),
        class_="bucket met" if is_met else "bucket",
    )


def _similarities(seen: Lesson, without: Sequence[float]) -> Markup:
    rows = [
        [
            f"{pair.a}, {pair.b}",
            f"{pair.shared} of {pair.together}",
            f"{pair.similarity:.4f}",
            f"{bare:.4f}",
            *(f"{number:.4f}" for number in (pair.estimate, pair.chance)),
            "yes" if pair.is_candidate else "no",
        ]
        for pair, bare in zip(seen.pairs, without, strict=True)
    ]
    heads = ["documents", "shared", "similarity", "without stop words", "estimate", "chance",
             "candidate"]  # fmt: skip
    return table(rows, heads, "similarities")
