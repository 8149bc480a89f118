"""An explanation as sections of a lesson: for a terminal, and as one page of HTML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from nearly.explanation import Explanation, steps_of
from nearly.wording import count

__all__ = ["Section", "page", "sections"]


@dataclass(frozen=True, kw_only=True)
class Section:
    """A heading, a few lines about it, and a table; the long ones may be cut."""

    title: str
    lines: Sequence[str] = ()
    headings: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()


def sections(lesson: Explanation) -> Iterator[Section]:
    """The lesson from shingles to similarities."""
    yield Section(title="Shingles", lines=list(_shingle_lines(lesson)))
    yield _matrix(lesson)
    yield _steps(lesson)
    yield Section(
        title="Signature matrix",
        headings=["", *lesson.documents],
        rows=[list(map(_cell, row.values())) for row in _rows(lesson.signatures)],
    )
    yield Section(
        title=f"Buckets of {count(lesson.bands, 'band')} of {count(lesson.rows, 'row')}",
        headings=["band", "values", "documents"],
        rows=[
            [str(band), " ".join(map(str, values)), " ".join(documents)]
            for band, values, documents in zip(*lesson.buckets.to_pydict().values(), strict=True)
        ],
    )
    yield Section(
        title="Similarities",
        headings=["", "", "shared", "similarity", "estimate", "chance", "candidate"],
        rows=list(_pairs(lesson)),
    )


def _shingle_lines(lesson: Explanation) -> Iterator[str]:
    own: dict[str, list[str]] = {name: [] for name in lesson.documents}
    for name, shingle in zip(*lesson.shingles.to_pydict().values(), strict=True):
        own[name].append(shown(lesson, shingle))
    for name, shingles in own.items():
        separator = " | " if any(" " in shingle for shingle in shingles) else " "
        yield f"{name}: {separator.join(shingles)}"


def shown(lesson: Explanation, shingle: str) -> str:
    """A shingle with its spaces to be seen, where they are characters like others."""
    return shingle if lesson.unit == "word" or lesson.k is None else shingle.replace(" ", "␣")


def _matrix(lesson: Explanation) -> Section:
    lines = [f"h{i}: {name}" for i, name in enumerate(lesson.names, start=1)]
    values = list(zip(*(c.to_pylist() for c in lesson.functions.columns[2:]), strict=True))
    cells = list(zip(*(c.to_pylist() for c in lesson.matrix.columns), strict=True))
    rows = [
        [str(number), shown(lesson, shingle), *map(str, ones), *map(str, hashes)]
        for (number, shingle, *ones), hashes in zip(cells, values, strict=True)
    ]
    headings = [*lesson.matrix.column_names, *lesson.functions.column_names[2:]]
    return Section(title="Characteristic matrix", lines=lines, headings=headings, rows=rows)


def _steps(lesson: Explanation) -> Section:
    """Each document's signature after each row; what a row changed has a star."""
    rows, before = [], None
    for row, shingle, values in steps_of(lesson):
        cells = [" ".join(map(_cell, each)) for each in values]
        pairs = zip(before or cells, cells, strict=True)
        marked = [new if old == new else f"{new}*" for old, new in pairs]
        rows.append(["" if row is None else str(row), shown(lesson, shingle), *marked])
        before = cells
    headings = ["row", "shingle", *lesson.documents]
    return Section(title="Signature matrix, row by row", headings=headings, rows=rows)


def _pairs(lesson: Explanation) -> Iterator[list[str]]:
    for pair in lesson.similarities.to_pylist():
        yield [
            pair["a"],
            pair["b"],
            f"{pair['shared']}/{pair['together']}",
            *(f"{pair[name]:.4f}" for name in ("similarity", "estimate", "chance")),
            "yes" if pair["is_candidate"] else "no",
        ]


def _rows(table: Any) -> list[dict[int, Any]]:
    """Rows by place, since names may repeat."""
    columns = [column.to_pylist() for column in table.columns]
    return [dict(enumerate(values)) for values in zip(*columns, strict=True)]


def _cell(value: Any) -> str:
    return "∞" if value is None else str(value)


_STYLE = (
    "body{margin:2rem auto;max-width:70rem;padding:0 1rem;font-family:system-ui,sans-serif}"
    "div{overflow-x:auto}table{border-collapse:collapse}"
    "th,td{padding:.2rem .6rem;border:1px solid #ddd;text-align:right;white-space:pre}"
)


def page(lesson: Explanation) -> str:
    """One page that needs nothing else."""
    body = "\n".join(map(_section, sections(lesson)))
    title = f"How {escape(', '.join(lesson.documents))} are compared"
    return (
        f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>{title}</title>\n'
        f"<style>{_STYLE}</style>\n<body>\n<h1>{title}</h1>\n{body}\n</body>\n</html>\n"
    )


def _section(section: Section) -> str:
    lines = "".join(f"<p>{escape(line)}</p>" for line in section.lines)
    head = "".join(f"<th>{escape(heading)}</th>" for heading in section.headings)
    rows = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>\n" for row in section.rows
    )
    table = f"<div><table>\n<tr>{head}</tr>\n{rows}</table></div>" if section.headings else ""
    return f"<h2>{escape(section.title)}</h2>\n{lines}{table}"
