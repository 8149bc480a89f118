"""Clean: what would be removed by which rule; it writes a copy or a plan, and deletes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from nearly.errors import MissingError
from nearly.markup import Markup, joined, tag
from nearly.prepared.clean import RULES, Clean, Cleaning, cleaning, dedup_options
from nearly.web.answer import Moved, Sent, Shown
from nearly.web.asked import Asked
from nearly.web.desk import Desk, Laid
from nearly.web.frame import at, facts, link, pager, table

__all__ = ["begin", "clean", "take"]

#: Bytes of a file that are sent at once.
CHUNK = 2**18
HEADS = ("documents", "survivor", "why", "removed", "which")


def clean(desk: Desk, asked: Asked) -> Shown:
    """Who would stay."""
    laid = desk.result(asked.path["result"])
    keep = asked.words("keep") or RULES[0]
    page = asked.whole("page", 1)
    seen = cleaning(laid.prepared, keep, page=page, hidden=asked.hidden)
    return Shown(
        title="Clean",
        data=seen.to_dict,
        body=lambda: _page(laid, seen),
        result=laid.name,
        here="clean",
    )


def begin(desk: Desk, asked: Asked) -> Moved:
    """Make the clean copy or the plan, as a run of its own."""
    laid = desk.result(asked.path["result"])
    keep = str(asked.form.get("keep", ""))
    cleaning(laid.prepared, keep)  # refuses a rule that is none
    given, options = dedup_options(laid.prepared)
    place = Path(given) if isinstance(given, str) else None
    name, _ = desk.runs.draft(f"{laid.name}-clean", place or Path(given[0]), f"clean {laid.name}")
    desk.runs.start(name, {"clean": {"given": given, "keep": keep}, "options": options})
    return Moved(at(name, room="run"))


def take(desk: Desk, asked: Asked) -> Sent:
    """One of the files that a run has written."""
    name = asked.path["run"]
    found = desk.runs.run(name).outcome.get("files", [])
    if asked.path["file"] not in found:
        raise MissingError("there is no such file of this run; choose one of its page")
    path = desk.runs.place(name) / asked.path["file"]
    return Sent(name=path.name, media_type="application/octet-stream", chunks=_chunks(path))


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            yield chunk


def _removed(row: Clean) -> Markup:
    more = row.size - 1 - len(row.removed)
    named = [tag("li", tag("bdi", name)) for name in row.removed]
    rest = tag("li", f"and {more:,} more") if row.removed and more else None
    return tag("ul", named, rest, class_="members")


def _page(laid: Laid, seen: Cleaning) -> Markup:
    options = [tag("option", rule, value=rule, selected=rule == seen.keep) for rule in RULES]
    rows = [
        [
            link(f"{row.size:,}", at(laid.name, "cluster", row.cluster)),
            tag("bdi", row.survivor) if row.survivor else "too many to say here",
            row.why,
            f"{row.size - 1:,}",
            _removed(row),
        ]
        for row in seen.rows
    ]
    pages = {
        page: at(laid.name, "clean", keep=seen.keep, page=page)
        for page in (seen.page - 1, seen.page + 1)
    }
    return joined(
        tag("form", tag("label", "of each cluster keep the ", tag("select", options, name="keep")),
            tag("button", "Show", type="submit", class_="quiet"), method="get", class_="filter"),
        facts(
            {
                "documents": f"{seen.documents:,}",
                "would be removed": f"{seen.removed:,}",
                "would stay": f"{seen.documents - seen.removed:,}",
                "exact copies": f"{seen.copies:,}",
            }
        ),
        _writing(laid, seen.keep),
        table(rows, HEADS, "clusters", stacked=True) if rows else None,
        pager(seen.page, seen.pages, pages),
    )  # fmt: skip


def _writing(laid: Laid, keep: str) -> Markup:
    if laid.prepared.members["group"] is not None:
        return tag("p", "Pairs inside one group are left out here, and dedup knows no groups: take "
                   "the result without one to write a clean copy.", class_="note")  # fmt: skip
    return tag(
        "form",
        tag("p", "Of a table, this writes a copy without them; of a folder, a plan that ",
            tag("code", "nearly apply"), " shows, and carries out when you say so. Nothing is "
            "deleted here."),
        tag("input", type="hidden", name="keep", value=keep),
        tag("button", "Write the clean copy or the plan", type="submit"),
        method="post",
        action=at(laid.name, "clean", "begin"),
    )  # fmt: skip
