"""The report: what was found, the evidence pair by pair, and what the numbers mean."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from importlib.metadata import version
from importlib.resources import files
from typing import Final

import pyarrow as pa

from nearly.markup import Child, Markup, joined, tag
from nearly.report.beside import beside
from nearly.report.figure import bars
from nearly.report.meaning import facts, meaning
from nearly.view.cluster import ClusterView, largest_clusters
from nearly.view.label import Labels
from nearly.view.overview import Bar, Overview, overview
from nearly.view.pair import PairView, most_similar, pair_views
from nearly.view.result import Result
from nearly.wording import count, short

__all__ = ["page"]

#: Clusters, and members of a cluster, that are listed.
MOST_CLUSTERS: Final = 50
MOST_MEMBERS: Final = 20


#: The terms that the documents of each pair are of.
ReadTerms = Callable[[pa.Table], list[tuple[str, ...]]]


def page(
    result: Result,
    *,
    most: int,
    anonymous: bool = False,
    group: str | None = None,
    read_terms: ReadTerms | None = None,
) -> str:
    """One page that needs nothing else."""
    labels = Labels(anonymous=anonymous)
    near, same = (
        _labelled(result, most_similar(result, most, same=same), labels, read_terms)
        for same in (False, True)
    )
    glance = overview(result, labels)
    clusters = list(largest_clusters(result, labels, MOST_CLUSTERS, MOST_MEMBERS))
    body = joined(
        tag("header", tag("h1", "What is nearly the same"), _sentence(glance, group)),
        tag(
            "main",
            _overview(glance),
            _contents(near, glance),
            _same(same, glance),
            _clusters(clusters, glance),
            _pairs(near),
            tag("section", tag("h2", "What the numbers mean"), meaning(result), id="meaning"),
            tag("section", tag("h2", "How it was made"), _table(facts(result, group, anonymous))),
        ),
        tag("footer", tag("p", f"Written by nearly {version('nearly')}.")),
    )
    return _document(body)


def _labelled(
    result: Result, pairs: pa.Table, labels: Labels, read_terms: ReadTerms | None
) -> list[PairView]:
    """Pairs with their texts, and with their terms if these are asked for."""
    views = list(pair_views(result, pairs, labels))
    if read_terms is None:
        return views
    return [replace(view, terms=of) for view, of in zip(views, read_terms(pairs), strict=True)]


def _document(body: Markup) -> str:
    style = (files("nearly.report") / "style.css").read_text("utf-8")
    digest = b64encode(sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    head = joined(
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", "What is nearly the same"),
        tag("style", Markup(style)),
    )
    whole = tag("html", tag("head", head), Markup("\n"), tag("body", body), lang="en")
    return f"<!doctype html>\n{whole}\n"


def _sentence(glance: Overview, group: str | None) -> Markup:
    found = (
        f"{count(glance.documents, 'document')}, {count(glance.pairs, 'pair')} in "
        f"{count(glance.clusters, 'cluster')}, "
        f"{count(glance.copies, 'exact copy', 'exact copies')}."
    )
    left_out = f" Pairs inside one {group} are left out." if group else ""
    return tag("p", found + left_out, class_="lead")


def _overview(glance: Overview) -> Markup:
    return tag(
        "section",
        tag("h2", "Overview"),
        _alarms(glance.alarms),
        _figure(
            f"Pairs by {glance.value}", [f"{bar.low:g}" for bar in glance.values], glance.values
        ),
        _figure("Clusters by size", list(map(_size, glance.sizes)), glance.sizes),
        _sharers(glance),
        id="overview",
    )


def _alarms(alarms: Sequence[str]) -> Markup | None:
    if not alarms:
        return None
    return tag("ul", [tag("li", alarm) for alarm in alarms], class_="alarms")


def _figure(title: str, labels: Sequence[str], shown: Sequence[Bar]) -> Markup | None:
    counts = [bar.total for bar in shown]
    if not any(counts):
        return None
    return tag("figure", tag("figcaption", title), bars(title, labels, counts))


def _size(bar: Bar) -> str:
    low, high = int(bar.low), int(bar.high) - 1
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _sharers(glance: Overview) -> Markup | None:
    if not glance.sharers:
        return None
    rows = [[tag("bdi", each.name), f"{each.pairs:,}"] for each in glance.sharers]
    return joined(tag("h3", "Who shares most"), _table(rows, ["document", "pairs"]))


def _contents(near: Sequence[PairView], glance: Overview) -> Markup | None:
    """The pairs in one table, each leading to its texts; said where it is not all of them."""
    total = glance.pairs - glance.same
    if not total:
        return None
    has_terms = any(pair.terms for pair in near)
    rows = [
        [
            tag("a", short(pair.value), href=f"#pair-{place}"),
            tag("bdi", pair.name_a),
            tag("bdi", pair.name_b),
            pair.summary,
            *([_terms(pair.terms)] if has_terms else []),
        ]
        for place, pair in enumerate(near, start=1)
    ]
    heads = [glance.value, "document", "document", "what differs", *["terms"] * has_terms]
    return tag(
        "section",
        tag("h2", "Similar pairs"),
        tag("p", _shown(len(near), total, "the most similar first")),
        _table(rows, heads) if rows else None,
        id="pairs",
    )


def _shown(shown: int, total: int, order: str) -> str:
    if shown == total:
        return f"All {total:,}, {order}." if total > 1 else "There is one."
    return f"{shown:,} of {total:,}, {order}. The others are in the saved result."


def _same(same: Sequence[PairView], glance: Overview) -> Markup | None:
    if not glance.same:
        return None
    rows = [[tag("bdi", pair.name_a), tag("bdi", pair.name_b), pair.summary] for pair in same]
    said = "Nothing that is compared differs. A copy is linked once, to the first of its kind. "
    return tag(
        "section",
        tag("h2", "The same"),
        tag("p", said, _shown(len(same), glance.same, "in the order of the source")),
        _table(rows, ["document", "document", "what differs"]) if rows else None,
        id="same",
    )


def _clusters(clusters: Sequence[ClusterView], glance: Overview) -> Markup | None:
    if not clusters:
        return None
    rows = [[f"{each.size:,}", _weakest(each), _members(each)] for each in clusters]
    return tag(
        "section",
        tag("h2", "Clusters"),
        tag("p", _shown(len(clusters), glance.clusters, "the largest first")),
        _table(rows, ["documents", "weakest link", "members"]),
        id="clusters",
    )


def _weakest(cluster: ClusterView) -> Markup:
    if cluster.weakest_pair is None:
        return joined(short(cluster.weakest))
    a, b = cluster.weakest_pair
    return joined(short(cluster.weakest), ": ", tag("bdi", a), " and ", tag("bdi", b))


def _members(cluster: ClusterView) -> Markup:
    more = cluster.size - len(cluster.members)
    named = [tag("li", tag("bdi", name)) for name in cluster.members]
    return tag("ul", named, tag("li", f"and {more:,} more") if more else None, class_="members")


def _pairs(near: Sequence[PairView]) -> Markup | None:
    if not near:
        return None
    return joined(
        tag("h2", "Side by side"),
        tag(
            "p",
            tag("mark", "What both texts share", class_="c0"),
            " has a colour and a number, the same in both; the number leads to its counterpart. ",
            tag("ins", "What differs inside of it", class_="c0"),
            " and ",
            tag("span", "what stands in one text only", class_="only"),
            " are marked.",
            class_="legend",
        ),
        [_pair(place, pair, len(near)) for place, pair in enumerate(near, start=1)],
    )


def _pair(place: int, pair: PairView, pairs: int) -> Markup:
    title = joined(tag("bdi", pair.name_a), " and ", tag("bdi", pair.name_b))
    ways = joined(
        tag("a", "previous", href=f"#pair-{place - 1}") if place > 1 else None,
        tag("a", "all pairs", href="#pairs"),
        tag("a", "next", href=f"#pair-{place + 1}") if place < pairs else None,
    )
    return tag(
        "article",
        tag("h3", short(pair.value), " ", title),
        tag("p", _terms(pair.terms), ".") if pair.terms else None,
        tag("p", _numbers(pair)),
        beside(pair, f"pair-{place}"),
        tag("nav", ways, aria_label=f"from pair {place}"),
        id=f"pair-{place}",
    )


def _terms(terms: tuple[str, ...]) -> Markup | None:
    """In words: of one term, or across two."""
    if not terms:
        return None
    return joined("across " if len(terms) > 1 else "within ", tag("bdi", " and ".join(terms)))


def _numbers(pair: PairView) -> Iterator[Child]:
    if pair.summary is not None:
        yield f"{pair.summary[0].upper()}{pair.summary[1:]}. "
    if pair.overlap is not None:
        yield f"{short(pair.overlap.of_first)} of "
        yield tag("bdi", pair.name_a)
        yield f" is in the other, and {short(pair.overlap.of_second)} of "
        yield tag("bdi", pair.name_b)
        yield f": they share {count(pair.overlap.shared, 'shingle')}."


def _table(rows: Iterable[Sequence[Child]], heads: Sequence[str] = ()) -> Markup:
    head = tag("thead", tag("tr", [tag("th", each, scope="col") for each in heads]))
    body = [tag("tr", [tag("td", cell) for cell in row]) for row in rows]
    whole = tag("table", head if heads else None, tag("tbody", body))
    return tag("div", whole, class_="table", tabindex=0, role="region", aria_label="table")
