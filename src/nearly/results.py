"""What a run found: frozen tables and the numbers behind them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from nearly.errors import EngineError, SettingsError
from nearly.tabular import Tabular

if TYPE_CHECKING:
    import pyarrow as pa

    from nearly.documents.lookup import TextReader
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
    skipped: int
    empty: int  # documents without a shingle
    ignored: int | None = None  # documents of which every shingle was dropped
    common: int | None = None  # shingles that were dropped, for too many documents have them
    copies: int  # documents whose text came before
    repeated_ids: int | None = None  # ids that several documents have, if there are any
    sharing_ids: int | None = None  # documents that have one of these
    k: int | Literal["auto"]  # auto where the measure has no shingles
    method: str  # exact or lsh
    why: str  # this method was taken
    bands: int | None = None
    rows: int | None = None
    agreement: int | None = None  # positions that must agree before a candidate is verified
    largest_bucket: int | None = None  # documents in it
    compared: int  # pairs that met
    candidates: int  # of these, pairs whose sets were compared
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
    by: str | None = None
    item: str | None = None
    glob: str | None = None
    lines: bool = False
    encoding: str | None = None
    stamp: str | None = None  # changes when the files do
    names: list[str] | None = None  # what the tables call the files, by their order


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
            f"of {count(numbers.documents, 'document')}"
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

        if _is_lazy(self.pairs):
            raise EngineError(
                "difference reads texts again on one machine, and these pairs lie on Spark; "
                "leave it out, or ask for found.top, which says it of the most similar pairs"
            )
        named = named_pairs(_readable(self.read_texts), self.pairs)
        pairs = with_difference(self.pairs, named.first, named.second, named.read)
        return replace(self, pairs=pairs)

    def at(self, threshold: float) -> Found:
        """The pairs that reach a higher threshold and their clusters, without running again.

        It is what a run at that threshold finds, if all pairs were found (the exact method). A run
        that hashes chooses other bands for another threshold, and may miss other pairs.
        """
        from nearly.recut import recut

        settings = replace(self.settings, threshold=threshold)
        self._check_cut(threshold)
        pairs, clusters, number = recut(self.to_arrow(), _collected(self.clusters), threshold)
        return replace(
            self,
            pairs=pairs,
            clusters=clusters,
            settings=settings,
            statistics=replace(self.statistics, pairs=pairs.num_rows, clusters=number),
            read_top=lambda: _at_least(self.top, threshold),
            around=None,
        )

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
        if self.settings.cluster != "components":
            raise SettingsError(
                f"clusters by {self.settings.cluster} depend on the order of all documents, which "
                f"a result does not hold; run again with threshold={threshold!r}"
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
            f"removed from {count(numbers.clusters, 'cluster')}"
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
        from nearly.sinks import Outputs, write_copy

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

        given = None if self.origin is None else self.origin.given
        if not isinstance(given, str) or not os.path.isdir(given) or _is_lazy(self.removed):
            raise SettingsError(
                "a plan removes files of a folder, and these documents are none; "
                "give a folder of text files"
            )
        folder = Path(given)
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
