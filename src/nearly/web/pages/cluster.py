"""Clusters: the largest first; and one as a heat map and a graph, with its weakest link."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np

from nearly.markup import Markup, joined, tag
from nearly.prepared.cluster import ClusterList, OneCluster, list_clusters, one_cluster
from nearly.prepared.link import NO_PAIR, Links
from nearly.web.answer import Shown
from nearly.web.asked import Asked
from nearly.web.desk import Desk, Laid
from nearly.web.frame import at, facts, link, pager, table
from nearly.wording import count, short

__all__ = ["cluster", "clusters"]

#: Links, and near misses, that are listed below the drawings.
MOST_LISTED = 20


def clusters(desk: Desk, asked: Asked) -> Shown:
    """One page of clusters."""
    laid = desk.result(asked.path["result"])
    seen = list_clusters(laid.prepared, page=asked.whole("page", 1), hidden=asked.hidden)
    return Shown(
        title="Clusters",
        data=seen.to_dict,
        body=lambda: _list(laid, seen),
        result=laid.name,
        here="clusters",
        scripts=("keys.js",),
    )


def _list(laid: Laid, seen: ClusterList) -> Markup:
    rows = [
        [
            link(f"{row.size:,}", at(laid.name, "cluster", row.cluster)),
            short(row.weakest),
            joined(
                [joined(tag("bdi", name), " · ") for name in row.members[:-1]],
                tag("bdi", row.members[-1]),
                f" and {row.size - len(row.members):,} more" if row.size > len(row.members) else "",
            ),
        ]
        for row in seen.rows
    ]
    beside = {n: at(laid.name, "clusters", page=n) for n in (seen.page - 1, seen.page + 1)}
    return joined(
        tag("p", f"{count(seen.total, 'cluster')}, the largest first."),
        table(rows, ["documents", "weakest link", "members"], "clusters") if rows else None,
        pager(seen.page, seen.pages, beside),
    )


def cluster(desk: Desk, asked: Asked) -> Shown:
    """One cluster."""
    laid = desk.result(asked.path["result"])
    seen = one_cluster(laid.prepared, asked.whole("cluster"), hidden=asked.hidden)
    return Shown(
        title=f"Cluster of {seen.size:,}",
        data=seen.to_dict,
        body=lambda: _page(laid, seen),
        result=laid.name,
        here="clusters",
        scripts=("heat.js", "graph.js"),
    )


def _page(laid: Laid, seen: OneCluster) -> Markup:
    return joined(
        facts(
            {
                "documents": f"{seen.size:,}",
                "links": f"{seen.total_links:,}",
                "weakest link": _weakest(laid, seen),
            }
        ),
        _drawings(laid, seen),
        _survivors(seen),
        _misses(seen),
        _members(laid, seen),
    )


def _weakest(laid: Laid, seen: OneCluster) -> Markup:
    words = short(seen.weakest)
    if seen.weakest_pair is None:
        return joined(words)
    return link(words, at(laid.name, "pair", seen.weakest_pair))


def _drawings(laid: Laid, seen: OneCluster) -> Markup:
    if len(seen.names) < seen.size:
        said = f"The {len(seen.names):,} documents with the most links are drawn."
    elif seen.is_compared:
        said = "Every two documents were compared, also those that are not linked."
    else:
        said = "Only links are drawn: what is blank was not similar enough, or not compared."
    data = {
        "names": seen.names,
        "a": seen.links.a.tolist(),
        "b": seen.links.b.tolist(),
        # In ten-thousandths, rounded down as everywhere, but for what a float is short of one.
        "values": np.floor(seen.links.value * 10_000 + 1e-6).astype(np.int64).tolist(),
        "pairs": seen.links.pair.tolist(),
        "least": seen.least,
        "distance": seen.value == "distance",
        "pair": at(laid.name, "pair", ""),
    }
    return tag(
        "section",
        tag("h2", "Who is like whom"),
        tag("p", said, class_="note"),
        tag("canvas", "A heat map of the table below.", id="heat", tabindex=0, role="img",
            aria_label=f"heat map of {seen.value} between {len(seen.names)} documents"),
        tag("p", id="heat-says", aria_live="polite", class_="note"),
        tag("div", id="graph") if 2 < len(seen.names) == seen.size else None,
        id="cluster",
        data_cluster=json.dumps(data),
    )  # fmt: skip


def _survivors(seen: OneCluster) -> Markup | None:
    if not seen.survivors:
        return None
    rows = [[each.rule, tag("bdi", each.name), each.why] for each in seen.survivors]
    return tag(
        "section",
        tag("h2", "Who survives, and why"),
        table(rows, ["rule", "survivor", "why"], "survivors"),
    )


def _misses(seen: OneCluster) -> Markup | None:
    # Copies are linked once, so a document may reach the threshold without a link.
    sign = 1 if seen.value == "similarity" else -1
    links = seen.links
    missed = links[(links.pair == NO_PAIR) & (sign * links.value < sign * seen.least)]
    if not len(missed):
        return None
    nearest = missed[np.argsort(-sign * missed.value, kind="stable")[:MOST_LISTED]]
    return tag(
        "section",
        tag("h2", "Near misses"),
        tag("p", f"In this cluster by way of others: below the threshold of {seen.least:g}."),
        table(_link_rows(seen, nearest), [seen.value, "document", "document"]),
    )


def _link_rows(seen: OneCluster, links: Links) -> Iterator[list[str | Markup]]:
    for row in links.rows():
        a, b = seen.names[row["a"]], seen.names[row["b"]]
        yield [short(row["value"]), tag("bdi", a), tag("bdi", b)]


def _members(laid: Laid, seen: OneCluster) -> Markup:
    more = seen.size - len(seen.names)
    named = zip(seen.documents, seen.names, strict=True)
    each = [
        tag("li", link(tag("bdi", name), at(laid.name, "pairs", document=document)))
        for document, name in named
    ]
    return tag(
        "section",
        tag("h2", "Members"),
        tag("ul", each, tag("li", f"and {more:,} more") if more else None, class_="members"),
    )
