"""What a run found: frozen tables and the numbers behind them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from nearly.errors import EngineError, SettingsError
from nearly.frozen import dataclass
from nearly.tabular import Tabular

if TYPE_CHECKING:
    import pyarrow as pa

    from nearly.documents.lookup import TextReader
    from nearly.documents.remaining import Remaining
    from nearly.plans.link import Chosen
    from nearly.plans.plan import Plan
    from nearly.settings import Settings
    from nearly.sinks import Outputs
    from nearly.stages.around import Around
    from nearly.stages.audit import Audit
    from nearly.text.difference import Difference

__all__ = ["Comparison", "Deduplicated", "Found", "Origin", "Statistics"]

#: Arrow's on one machine; a lazy frame where the documents lie on many.
Table: TypeAlias = Any


@dataclass(frozen=True, kw_only=True)
class Statistics:
    """What a run did, in numbers; what does not apply to it is None."""

    documents: int
    against: int | None = None  # old documents that these were compared with
    skipped: int
    empty: int  # documents without a shingle
    ignored: int | None = None  # documents of which every shingle was dropped
    common: int | None = None  # shingles that were dropped, for too many documents have them
    copies: int  # documents whose text came before
    measure: str = "jaccard"
    compared: str = "shingles"  # what documents were compared as, in a few words
    repeated_ids: int | None = None  # ids that several documents have, if there are any
    sharing_ids: int | None = None  # documents that have one of these
    k: int | Literal["auto"]  # auto where the measure has no shingles
    method: str  # exact or lsh
    why: str  # this method was taken
    bands: int | None = None
    rows: int | None = None
    drawn: int | None = None  # members that were drawn from each document, instead of bands
    agreement: int | None = None  # positions that must agree before a candidate is verified
    promised: float | None = None  # the least recall at the threshold, if pairs may be missed
    largest_bucket: int | None = None  # documents in it
    meetings: int  # pairs that met
    verified: int  # of these, pairs that were compared in full
    seconds: Mapping[str, float]  # by stage
    near: int | None = None  # pairs of different texts, which are not exact copies
    pairs: int | None = None
    removed: int | None = None
    below: int | None = None  # removed documents that are below the threshold to their survivor
    clusters: int
    hubs: int | None = None  # documents of a large bucket that all others are compared with
    audit: Audit | None = None
    source: Mapping[str, Any] | None = None  # columns, encodings, files: what was decided

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON, without what does not apply."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Where the documents of a result are: enough to read them again in another process."""

    given: str | list[str]
    id: str | None = None
    text: str | list[str] | None = None
    items: str | None = None
    vector: str | None = None
    by: str | None = None
    item: str | None = None
    glob: str | None = None
    lines: bool = False
    encoding: str | None = None
    stamp: str | None = None  # changes when the files do
    names: list[str] | None = None  # what the tables call the files, by their order
    against: Origin | None = None  # of the old documents that these were compared with


@dataclass(frozen=True, kw_only=True, repr=False)
class Found(Tabular):
    """Verified pairs and the clusters they form.

    `pairs`: id_a, id_b, similarity; `clusters`: id, cluster, weakest (the least similar verified
    pair inside); `skipped`: record, reason. Where ids repeat, file and row stand beside each id.
    """

    pairs: Table
    clusters: Table
    skipped: pa.Table
    settings: Settings
    statistics: Statistics
    read_top: Callable[[], pa.Table]
    read_difference: Callable[[], Table] | None = None  # of lazy pairs, which lie with their texts
    read_texts: TextReader | None = None
    around: Around | None = None  # where it was asked for
    origin: Origin | None = None

    @cached_property
    def top(self) -> pa.Table:
        """The most similar pairs, what differs in each, and both texts around it.

        Pairs of exact copies are in it only where there are no others; of equally similar pairs
        the first ones are.
        """
        return self.read_top()

    def __len__(self) -> int:
        return self.statistics.pairs or 0

    def __repr__(self) -> str:
        from nearly.wording import count

        numbers = self.statistics
        return (
            f"Found: {count(len(self), 'pair')} in {count(numbers.clusters, 'cluster')} "
            f"of {count(numbers.documents, 'document')}{_against(numbers)}"
        )

    def to_arrow(self) -> pa.Table:
        """The pairs as an Arrow table."""
        return _collected(self.pairs)

    def _rows_to_show(self) -> pa.Table | None:
        """Nothing of a lazy frame: whoever looks at a result should not start a job by it."""
        if _is_lazy(self.pairs):
            return None
        places = [n for n in self.top.column_names if n.startswith(("start_", "marks_"))]
        return self.top.drop_columns(places)

    def text(self, id: Any, *, file: str | None = None, row: int | None = None) -> str:  # noqa: A002
        """The text of one document, read again from where it came from.

        Where several documents have the id, `row`, and `file` if there are several, say which.
        """
        from nearly.documents.lookup import text_of

        return text_of(_readable(self.read_texts), id, file, row)

    def texts(self, ids: Sequence[Any]) -> list[str]:
        """The texts of some documents, in the order of the ids; the source is read once."""
        from nearly.documents.lookup import texts_of

        return texts_of(_readable(self.read_texts), ids)

    def with_difference(self) -> Found:
        """The same, with a column `difference` in the pairs: what kind of difference there is."""
        from nearly.documents.lookup import named_pairs
        from nearly.text.table import with_difference

        if self.read_difference is not None and _is_lazy(self.pairs):
            return replace(self, pairs=self.read_difference())
        named = named_pairs(_readable(self.read_texts), self.pairs)
        pairs = with_difference(self.pairs, named.first, named.second, named.read)
        return replace(self, pairs=pairs)

    def at(self, threshold: float) -> Found:
        """The pairs that reach a higher threshold and their clusters, without running again.

        It is what a run at that threshold finds, if all pairs were found (the exact method). A run
        that hashes chooses other bands for another threshold, and may miss other pairs.
        """
        import pyarrow.compute as pc

        settings = replace(self.settings, threshold=threshold)
        self._check_cut(threshold)
        pairs = self.to_arrow()
        is_high = pc.greater_equal(pairs["similarity"], threshold)
        cut = self._recut(is_high, lambda: _at_least(self.top, threshold))
        return replace(cut, settings=settings)

    def across(self, group: str) -> Found:
        """The pairs between groups and their clusters: a student's own drafts are no copies.

        `group` names a column of the source, or is `folder`: files of one folder are a group. The
        similarities are those of all documents; a document without a group is in one of its own.
        """
        from nearly.grouping import are_between_groups

        self._check_components(f"group={group!r}")
        reader = _readable(self.read_texts)
        chosen = are_between_groups(self.to_arrow(), reader, group)
        return self._recut(
            chosen, lambda: self.top.filter(are_between_groups(self.top, reader, group))
        )

    def _recut(self, chosen: pa.Array, read_top: Callable[[], pa.Table]) -> Found:
        from nearly.recut import recut

        pairs, clusters, number = recut(self.to_arrow(), _collected(self.clusters), chosen)
        numbers = replace(self.statistics, pairs=pairs.num_rows, clusters=number)
        return replace(
            self,
            pairs=pairs,
            clusters=clusters,
            statistics=numbers,
            read_top=read_top,
            around=None,
        )

    def report(
        self,
        path: str | Path,
        *,
        pairs: int = 100,
        anonymous: bool = False,
        group: str | None = None,
        term: str | None = None,
        force: bool = False,
    ) -> None:
        """Write what was found as one HTML file to hand on, which needs nothing else.

        It shows the most similar `pairs` side by side. `anonymous` gives documents numbers for
        names; their texts are shown as they are. Pairs inside a `group` are left out: see `across`.
        Pairs are labelled with their `term`: a column of the source, or `folder`.
        """
        from nearly.grouping import terms_of
        from nearly.report.page import page
        from nearly.sinks import Outputs, check_place

        check_place(Path(path), force=force)
        shown = self if group is None else self.across(group)
        shown = replace(shown, pairs=shown.to_arrow(), clusters=_collected(shown.clusters))
        made = page(
            shown,
            most=pairs,
            anonymous=anonymous,
            group=group,
            read_terms=None
            if term is None
            else partial(terms_of, reader=_readable(self.read_texts), term=term),
        )
        with Outputs(force=force) as outputs, outputs.open(Path(path)) as file:
            file.write(made.encode())

    def _check_cut(self, threshold: float) -> None:
        if self.settings.within is not None:
            raise SettingsError(
                f"these pairs were found within a distance of {self.settings.within!r}, and only "
                "similarities can be cut; run again with another distance"
            )
        if threshold < self.settings.threshold:
            raise SettingsError(
                f"the threshold is {threshold!r}, and pairs were found from "
                f"{self.settings.threshold!r} upwards; run again for a lower threshold"
            )
        self._check_components(f"threshold={threshold!r}")

    def _check_components(self, asked: str) -> None:
        if self.settings.cluster != "components":
            raise SettingsError(
                f"clusters by {self.settings.cluster} depend on the order of all documents, which "
                f"a result does not hold; run again with {asked}"
            )

    def write(self, path: str | Path, *, force: bool = False) -> None:
        """Write the pairs to a file, in the format of the name's ending."""
        _write(self.pairs, path, force=force)

    def save(
        self, folder: str | Path, *, force: bool = False, outputs: Outputs | None = None
    ) -> None:
        """Keep everything in a folder, for `nearly.open`; it appears with these outputs, if any."""
        tables = {name: getattr(self, name) for name in ("pairs", "clusters", "skipped", "top")}
        if self.around is not None:
            tables |= {"above": self.around.above, "below": self.around.below}
        _save(self, tables, Path(folder), force=force, outputs=outputs)


@dataclass(frozen=True, kw_only=True, repr=False)
class Deduplicated(Tabular):
    """A clean collection: what was kept, and for each removed document its survivor.

    `removed`: id, survivor, similarity, cluster; where ids repeat, file and row of both. `kept`
    reads the source again.
    """

    removed: Table
    clusters: Table
    skipped: pa.Table
    settings: Settings
    statistics: Statistics
    schema: pa.Schema
    read_kept: Callable[[], Any]  # batches, or a lazy frame
    read_texts: TextReader | None = None
    origin: Origin | None = None
    #: Of a folder: the SHA-256 and size of each file when it was read, by id.
    digests: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    #: With old documents: the new ones that were compared and stay, as `Index.add` takes them.
    survivors: Remaining | None = None

    @property
    def kept(self) -> Table:
        """Every row that was not removed, with all its columns, in the order of the source."""
        import pyarrow as pa

        rows = self.read_kept()
        return rows if _is_lazy(rows) else pa.Table.from_batches(rows, self.schema)

    def __len__(self) -> int:
        return self.statistics.removed or 0

    def __repr__(self) -> str:
        from nearly.wording import count

        numbers = self.statistics
        return (
            f"Deduplicated: {numbers.removed or 0:,} of {count(numbers.documents, 'document')} "
            f"removed from {count(numbers.clusters, 'cluster')}{_against(numbers)}"
        )

    def to_arrow(self) -> pa.Table:
        """The removed documents, each with its survivor, as an Arrow table."""
        return _collected(self.removed)

    def text(self, id: Any, *, file: str | None = None, row: int | None = None) -> str:  # noqa: A002
        """The text of one document, read again from where it came from.

        Where several documents have the id, `row`, and `file` if there are several, say which.
        """
        from nearly.documents.lookup import text_of

        return text_of(_readable(self.read_texts), id, file, row)

    def write(self, path: str | Path, *, force: bool = False) -> None:
        """Write the clean copy to a file or, if its name has no ending, file by file to a folder.

        In the format of the source, rows are written as they stand there.
        """
        from nearly.sinks import Outputs
        from nearly.sinks.clean_copy import write_copy

        kept: Any = self.read_kept
        with Outputs(force=force) as outputs:
            if hasattr(kept, "parts"):
                write_copy(outputs, kept, Path(path))
            else:
                outputs.write_frame(kept(), path)

    def plan(self) -> Plan:
        """A plan to remove the files of the removed documents, if these are files of a folder."""
        from nearly.plans.draft import make_plan
        from nearly.sources import name_of_id

        folder, chosen = self.files()
        ids = {name for column in ("id", "survivor") for name in self.removed[column].to_pylist()}
        digests = {name_of_id(name): self.digests[name] for name in ids if name in self.digests}
        return make_plan(folder, chosen.removed, digests, self.settings.to_dict())

    def files(self) -> tuple[Path, Chosen]:
        """The folder of the documents, and what a plan removes there.

        Symbolic links are left out: to remove one frees nothing, and none can stand for a file.
        """
        from nearly.plans.link import choose_files
        from nearly.sources import name_of_id

        if self.statistics.against is not None:
            raise SettingsError(
                "a plan removes files of a folder where others of it stay, and old documents stand "
                "elsewhere; write the clean copy instead"
            )
        given = None if self.origin is None else self.origin.given
        if not isinstance(given, str) or not os.path.isdir(given) or _is_lazy(self.removed):
            raise SettingsError(
                "a plan removes files of a folder, and these documents are none; "
                "give a folder of text files"
            )
        folder = Path(given)
        if "similarity" not in self.removed.column_names:
            raise SettingsError(
                f"a plan says how similar files are, and these were found within a distance of "
                f"{self.settings.within!r}; give a threshold instead of within"
            )
        removals = (
            (name_of_id(row["id"]), name_of_id(row["survivor"]), row["similarity"])
            for row in self.removed.to_pylist()
        )
        return folder, choose_files(folder, removals)

    def save(
        self, folder: str | Path, *, force: bool = False, outputs: Outputs | None = None
    ) -> None:
        """Keep everything but the clean copy in a folder, for `nearly.open`.

        It appears with these outputs, if any.
        """
        tables = {name: getattr(self, name) for name in ("removed", "clusters", "skipped")}
        tables["schema"] = self.schema.empty_table()
        _save(self, tables, Path(folder), force=force, outputs=outputs)


def _against(numbers: Statistics) -> str:
    return "" if numbers.against is None else f", compared with {numbers.against:,} old ones"


def _is_lazy(table: Any) -> bool:
    """Whether it is a Spark DataFrame, without importing Spark."""
    return hasattr(table, "toArrow")


def _collected(table: Table) -> pa.Table:
    return table.toArrow() if _is_lazy(table) else table


def _readable(read_texts: TextReader | None) -> TextReader:
    if read_texts is None:
        raise EngineError(
            "the texts cannot be read again, for they were given as an object of another process. "
            "Give them: nearly.open(folder, source=...)"
        )
    return read_texts


def _at_least(pairs: pa.Table, threshold: float) -> pa.Table:
    import pyarrow.compute as pc

    return pairs.filter(pc.greater_equal(pairs["similarity"], threshold))


def _save(
    result: Found | Deduplicated,
    tables: Mapping[str, Table],
    folder: Path,
    *,
    force: bool,
    outputs: Outputs | None,
) -> None:
    from nearly.result_folder import check_target, write_result
    from nearly.sinks import Outputs

    members = {
        "kind": "found" if isinstance(result, Found) else "deduplicated",
        "settings": result.settings.to_dict(),
        "statistics": result.statistics.to_dict(),
        "origin": None if result.origin is None else asdict(result.origin),
    }
    if isinstance(result, Found) and result.around is not None:
        members["around"] = {
            "searched": result.around.searched,
            "documents": result.around.documents,
        }
    arrow = {name: _collected(table) for name, table in tables.items()}
    check_target(folder, force=force)
    with nullcontext(outputs) if outputs else Outputs(force=force) as together:
        write_result(members, arrow, folder, together)


def _write(rows: Any, path: str | Path, *, force: bool) -> None:
    from nearly.sinks import Outputs

    with Outputs(force=force) as outputs:
        if _is_lazy(rows):
            outputs.write_frame(rows, path)
        else:
            outputs.write(rows, rows.schema, Path(path))


@dataclass(frozen=True, kw_only=True, repr=False)
class Comparison(Tabular):
    """Two texts side by side: the numbers, and where they differ."""

    name_a: str
    name_b: str
    unit: str
    k: int
    shingles_a: int
    shingles_b: int
    shared: int
    jaccard: float
    jaccard_without_stop_words: float
    containment_of_a: float
    containment_of_b: float
    estimate: float
    permutations: int
    text_a: str
    text_b: str
    difference: Difference

    def __repr__(self) -> str:
        return (
            f"Comparison: {self.name_a} and {self.name_b}, similarity {self.jaccard:.4f}, "
            f"{self.difference.summary}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON, without the texts."""
        plain = asdict(self)
        del plain["text_a"], plain["text_b"]
        return plain | {"difference": self.difference.to_dict()}

    def to_arrow(self) -> pa.Table:
        """The numbers as a table of one row."""
        import pyarrow as pa

        row = {name: value for name, value in self.to_dict().items() if name != "difference"}
        return pa.Table.from_pylist([row | {"difference": self.difference.kind}])
