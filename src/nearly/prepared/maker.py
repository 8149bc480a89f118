"""Makes a saved result ready: documents numbered, pairs in order, links by document, texts kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from nearly.documents.lookup import WholeReader
from nearly.documents.place import keys
from nearly.errors import NearlyError, SettingsError
from nearly.grouping import groups_of
from nearly.prepared.forest import grow
from nearly.prepared.identity import identities
from nearly.prepared.layout import folder_of, stamp_of, write_folder
from nearly.prepared.stranger import Drawn, count_strangers
from nearly.prepared.template import share_of, template_runs
from nearly.prepared.text import keep_texts
from nearly.results import Found
from nearly.saved import open as open_result
from nearly.schemas import PLACES_OF
from nearly.sinks import Outputs
from nearly.view.label import Labels
from nearly.view.overview import overview
from nearly.view.result import value_of

__all__ = ["prepare"]

Whole = npt.NDArray[np.int32]


@dataclass(frozen=True)
class _Numbered:
    """Documents of clusters and pairs, by number: members of clusters first, in their order."""

    documents: pa.Table
    names: pa.Array  # what tells them apart
    first: Whole  # of each pair
    second: Whole


def prepare(
    result: Path, *, source: str | None = None, group: str | None = None, term: str | None = None
) -> Path:
    """Write all that is needed to look at a result; gives the folder, which appears as a whole.

    With a `group`, pairs inside of one are left out: see `Found.across`. A `term` is a column or
    folder, too, and pairs between two of them are labelled.
    """
    found = open_result(result, source=source)
    if not isinstance(found, Found):
        raise SettingsError(
            f"{str(result)!r} holds what nearly dedup removed, and pairs are looked at here; "
            "run nearly find with --save"
        )
    shown = found if group is None else found.across(group)
    folder = folder_of(result)
    with Outputs(force=True) as outputs, outputs.folder(folder) as draft:
        if group is not None:
            _write_table(shown.pairs, draft, "pairs")
            _write_table(shown.clusters, draft, "clusters")
        asked = {"stamp": stamp_of(result), "group": group, "source": source, "term": term}
        _write(shown, draft, asked)
    return folder


def _write(found: Found, draft: Path, members: dict[str, Any]) -> None:
    numbered = _numbered(found)
    _write_table(numbered.documents, draft, "documents")
    arrays = dict(_arrays(found, numbered))
    drawn = Drawn(found.settings.seed)
    rows, unread = _texts(found, numbered.names, draft, drawn)
    arrays |= {"text_rows": rows, "strangers": count_strangers(found, drawn.texts)}
    arrays["template"] = template_runs(drawn.texts, share_of(found.settings))
    for kind in ("group", "term"):
        arrays[kind], members[f"{kind}s"] = _parted(found, numbered.documents, members[kind])
    size = pc.mean(pc.binary_length(drawn.texts)).as_py()
    glance = overview(found, Labels()).to_dict()
    degrees = np.diff(arrays["link_starts"])
    glance["sharers"] = _most_linked(degrees, len(glance["sharers"]))
    write_folder(
        draft, members | {"overview": glance, "unread": unread, "bytes_a_text": size}, arrays
    )


def _write_table(table: pa.Table, draft: Path, name: str) -> None:
    with pa.ipc.new_file(draft / f"{name}.arrow", table.schema) as writer:
        writer.write_table(table)


def _numbered(found: Found) -> _Numbered:
    pairs, clusters = found.pairs, found.clusters
    members = keys(clusters, "id").combine_chunks()
    ends = [keys(pairs, column) for column in ("id_a", "id_b")]
    strangers = _strangers(ends, members)
    names = pa.concat_arrays([members, strangers])
    first, second = (pc.index_in(column, names).to_numpy().astype(np.int32) for column in ends)
    return _Numbered(_documents(found, strangers), names, first, second)


def _strangers(ends: list[pa.ChunkedArray], members: pa.Array) -> pa.Array:
    """Documents of pairs that are in no cluster: with leaders there may be some."""
    chunks = [chunk for column in ends for chunk in column.chunks]
    both = pa.chunked_array(chunks, members.type)
    return both.filter(pc.invert(pc.is_in(both, members))).unique()


def _documents(found: Found, strangers: pa.Array) -> pa.Table:
    """Their ids, with their places where ids repeat."""
    wanted = [name for name in ("id", *PLACES_OF["id"]) if name in found.clusters.column_names]
    tables = [found.clusters.select(wanted)]
    for column in ("id_a", "id_b") if len(strangers) else ():
        named = dict(zip(("id", *PLACES_OF["id"]), (column, *PLACES_OF[column]), strict=True))
        side = found.pairs.select([named[name] for name in wanted]).rename_columns(wanted)
        tables.append(side.filter(pc.is_in(keys(found.pairs, column), strangers)))
    if len(tables) == 1:
        return tables[0].combine_chunks()
    rest = pa.concat_tables(tables[1:])
    chosen = pc.index_in(strangers, keys(rest, "id").combine_chunks())
    return pa.concat_tables([tables[0], rest.take(chosen)]).combine_chunks()


def _arrays(found: Found, numbered: _Numbered) -> Iterator[tuple[str, npt.NDArray[Any]]]:
    pairs = found.pairs
    value = value_of(pairs)
    values = pairs[value].to_numpy()
    nearness = values if value == "similarity" else -values
    order = np.argsort(-nearness, kind="stable").astype(np.int32)
    ranks, falling = _inverse(order), -nearness[order]
    yield "order", order
    yield "rank", ranks
    yield "falling", falling  # ascending, for searches
    yield "first", numbered.first
    yield "second", numbered.second
    yield from _links(numbered)
    ends = numbered.first, numbered.second
    yield from identities(numbered.names, _clusters_of(found, numbered), ends, ranks, falling)
    yield from _clusters(found)
    if found.settings.cluster == "components":
        growth = grow(numbered.first[order], numbered.second[order], len(numbered.names))
        yield from growth._asdict().items()


def _inverse(order: Whole) -> Whole:
    places = np.empty_like(order)
    places[order] = np.arange(len(order), dtype=np.int32)
    return places


def _links(numbered: _Numbered) -> Iterator[tuple[str, npt.NDArray[Any]]]:
    """The pairs of each document: `links` from one of `link_starts` to the next."""
    ends = np.concatenate([numbered.first, numbered.second])
    by_document = np.argsort(ends, kind="stable")
    yield "links", (by_document % max(len(numbered.first), 1)).astype(np.int32)
    counts = np.bincount(ends, minlength=len(numbered.names))
    yield "link_starts", np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _clusters(found: Found) -> Iterator[tuple[str, npt.NDArray[Any]]]:
    """Members of a cluster lie together: where each begins, and which are the largest."""
    numbers = found.clusters["cluster"].to_numpy()
    starts = np.append(np.flatnonzero(np.diff(numbers, prepend=-1)), len(numbers))
    yield "cluster_starts", starts.astype(np.int64)
    yield "largest_first", np.argsort(-np.diff(starts), kind="stable").astype(np.int32)


def _clusters_of(found: Found, numbered: _Numbered) -> Whole:
    """The cluster of each document; -1 of those that are in none, which come last."""
    clusters = np.full(len(numbered.names), -1, np.int32)
    clusters[: found.clusters.num_rows] = found.clusters["cluster"].to_numpy()
    return clusters


def _texts(found: Found, names: pa.Array, draft: Path, drawn: Drawn) -> tuple[Whole, str | None]:
    """The row of each text, and why there are none, if so."""
    reader = found.read_texts
    nothing = np.full(len(names), -1, np.int32)
    if not isinstance(reader, WholeReader):
        return nothing, "the documents were given as an object of another process"
    try:
        return keep_texts(reader, names, draft / "texts.arrow", drawn), None
    except NearlyError as error:
        (draft / "texts.arrow").unlink(missing_ok=True)
        return nothing, str(error)


def _parted(found: Found, documents: pa.Table, kind: str | None) -> tuple[Whole, list[str]]:
    """The number of each document's group, or term, -1 where it has none; and their names."""
    if kind is None or found.read_texts is None:
        return np.zeros(0, np.int32), []
    given = groups_of(documents, "id", found.read_texts, kind)
    named = pa.array([None if each is None else str(each) for each in given], pa.string())
    names = sorted(filter(None, named.unique().to_pylist()))
    numbers = pc.index_in(named, pa.array(names, pa.string())).fill_null(-1)
    return numbers.to_numpy().astype(np.int32), names


def _most_linked(degrees: npt.NDArray[np.int64], most: int) -> list[list[int]]:
    chosen = np.argsort(-degrees, kind="stable")[:most]
    return [[int(document), int(degrees[document])] for document in chosen]
