"""Compare two results: what is only here, only there, and which settings differ."""

from __future__ import annotations

from nearly.errors import SettingsError
from nearly.markup import Markup, joined, tag
from nearly.prepared.comparison import Beside
from nearly.prepared.listing import PairRow
from nearly.web.answer import Shown
from nearly.web.asked import Asked
from nearly.web.desk import Desk
from nearly.web.frame import at, facts, link, table
from nearly.web.pages.pairs import document
from nearly.wording import short

__all__ = ["compare"]


def compare(desk: Desk, asked: Asked) -> Shown:
    """This result, and another one of the desk."""
    laid = desk.result(asked.path["result"])
    others = [name for name in sorted(desk.results()) if name != laid.name]
    with_ = asked.query.get("with", others[0] if others else "")
    if with_ == laid.name:
        raise SettingsError(f"{laid.name!r} cannot be compared with itself; choose another result")
    if not with_:
        body = tag("p", "There is no other result here to compare with.")
        return Shown(title="Compare", data=lambda: {"others": others}, body=lambda: body,
                     result=laid.name, here="compare")  # fmt: skip
    other = desk.result(with_)
    seen = desk.beside(laid, other, hidden=asked.hidden)
    return Shown(
        title="Compare",
        data=lambda: seen.to_dict() | {"with": with_, "others": others},
        body=lambda: _page(laid.name, with_, others, seen),
        result=laid.name,
        here="compare",
    )


def _page(name: str, with_: str, others: list[str], seen: Beside) -> Markup:
    options = [tag("option", each, value=each, selected=each == with_) for each in others]
    return joined(
        tag("form", tag("label", tag("bdi", name), " and ", tag("select", options, name="with")),
            tag("button", "Compare", type="submit"), method="get", class_="filter"),
        facts(
            {
                "pairs in both": f"{seen.both:,}",
                "with another value": f"{seen.changed:,}",
                f"only in {name}": f"{seen.only_here:,}",
                f"only in {with_}": f"{seen.only_there:,}",
                f"documents in clusters of {name} alone": f"{seen.clustered[0]:,}",
                f"of {with_} alone": f"{seen.clustered[1]:,}",
                "of both, with other company": f"{seen.other_clusters:,}",
            }
        ),
        tag("section", tag("h2", "Why: what was set differently"), _settings(name, with_, seen)),
        _pairs(name, seen.here, seen.only_here),
        _pairs(with_, seen.there, seen.only_there),
    )  # fmt: skip


def _settings(name: str, with_: str, seen: Beside) -> Markup:
    if not seen.settings:
        return tag("p", "Nothing: the documents differ, or hashing missed other pairs.")
    rows = [list(each) for each in seen.settings]
    return table(rows, ["setting", name, with_], "settings")


def _pairs(name: str, rows: tuple[PairRow, ...], total: int) -> Markup | None:
    if not rows:
        return None
    cells = [
        [
            link(short(row.value), at(name, "pair", row.pair)),
            document(row.name_a, row.group_a, row.excerpt_a),
            document(row.name_b, row.group_b, row.excerpt_b),
            row.summary,
        ]
        for row in rows
    ]
    return tag(
        "section",
        tag("h2", "Only in ", tag("bdi", name)),
        tag("p", f"The nearest {len(rows):,} of {total:,}."),
        table(
            cells,
            ["value", "document", "document", "what differs"],
            f"only in {name}",
            stacked=True,
        ),
    )
