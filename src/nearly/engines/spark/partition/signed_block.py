"""The documents of one block, read and signed where they are: what the rest of a run looks at."""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.arrays import column_of, lengths_of, numbers_of, spans, take_strings
from nearly.documents.block import (
    SignedBlock,
    Tally,
    block_of_rows,
    identity_of,
    rows_of_block,
)
from nearly.documents.folder import Folder
from nearly.documents.identity import id_digests
from nearly.documents.packet import no_rows, pack, together, unpack
from nearly.documents.place import Stretch, located
from nearly.documents.readable import Skips
from nearly.engines.spark.partition.border import Border
from nearly.engines.spark.partition.bucket import Ask
from nearly.engines.spark.partition.number import Numbers, numbered, places_of, rows_of
from nearly.engines.spark.partition.verification import Texts, joined_texts, texts_of
from nearly.measures.base import Measure, Signed, Weighed
from nearly.stages.survivor import Keep
from nearly.tuning.banding import Banding

__all__ = [
    "Block",
    "Plan",
    "labels_of",
    "listed_skips",
    "no_labels",
    "read_texts",
    "sign_again",
    "sign_block",
    "summary",
]

#: The name under which signed blocks are kept.
STAGE = "signed"
#: What labels are told by where documents stand.
PLACE_COLUMNS = ("file", "row in file")


class Block(Protocol):
    """A run of rows of a source that can be read anywhere."""

    def documents(self, skipped: Any, also: str | None = None) -> Iterator[pa.RecordBatch]:
        """Batches of row, id and text, and perhaps a column; rows count from 0 in the block."""

    def shown(self, skipped: Any) -> Iterator[pa.RecordBatch]:
        """As `documents`, with what people read as text."""

    def kept(self, removed: npt.NDArray[np.int64]) -> Iterator[pa.RecordBatch]:
        """The rows but those, which are given by number in ascending order."""


class Plan(NamedTuple):
    """How documents are read and signed."""

    measure: Measure
    banding: Banding
    is_exact: bool
    keep: Keep | None
    id_type: pa.DataType
    rule_type: pa.DataType | None  # of the column that `keep` looks at
    check_ids: bool
    skipped: Skips  # an empty list of the kind to be filled
    kept_in: Folder | None
    border: Border | None = None  # between old documents and new ones
    with_places: bool = False  # labels say where documents stand, for ids repeat

    def settled(self, mean_extent: float) -> Self:
        """The same, with what is left to decide decided by the mean extent of documents."""
        return self._replace(measure=self.measure.settled(mean_extent))

    @property
    def rule_column(self) -> str | None:
        """The column that `keep` looks at."""
        return self.keep.column if self.keep else None

    @property
    def counts_characters(self) -> bool:
        """Whether `keep` looks at the length of texts."""
        return self.keep is not None and self.keep.rule in ("longest", "shortest")

    @property
    def tells_sizes(self) -> bool:
        """Whether somebody looks at the sizes of documents."""
        return bool(self.measure.sides) or (self.keep is not None and self.keep.rule == "largest")

    def weigh(self, texts: pa.LargeStringArray) -> Weighed:
        """Signed, or only weighed for an exact run."""
        if self.is_exact:
            return self.measure.weigh(texts)
        return self.measure.sign(texts, self.banding)


def sign_block(number: int, block: Block, *, plan: Plan) -> SignedBlock:
    """Signed with the measure that the first documents suggest, or as it was signed before."""
    if plan.kept_in is not None:
        there = plan.kept_in.load(STAGE, number)
        if there is not None:
            return block_of_rows(there, plan.skipped.another())
    batches = block.documents(skipped := plan.skipped.another(), plan.rule_column)
    head = next(batches, None)
    guessed = plan.settled(_mean_extent(head, plan.measure))
    coming = itertools.chain([head] if head is not None else [], batches)
    return _kept(number, _sign(coming, skipped, guessed), plan)


def sign_again(number: int, block: Block, signed: SignedBlock, *, plan: Plan) -> SignedBlock:
    """What was signed with another measure than all documents ask for."""
    if signed.measured_by == identity_of(plan.measure):
        return signed
    batches = block.documents(skipped := plan.skipped.another(), plan.rule_column)
    return _kept(number, _sign(batches, skipped, plan), plan)


def _kept(number: int, signed: SignedBlock, plan: Plan) -> SignedBlock:
    if plan.kept_in is not None:
        plan.kept_in.save(STAGE, number, rows_of_block(signed))
    return signed


def _sign(batches: Iterable[pa.RecordBatch], skipped: Skips, plan: Plan) -> SignedBlock:
    """Read once, sign each batch, keep no text."""
    labels, weighed = [no_labels(plan)], [plan.weigh(pa.nulls(0, pa.large_string()))]
    ids = [_id_digests(labels[0], plan)]
    size = extent = 0
    for batch in batches:
        texts = batch.column("text")
        offsets, _ = spans(texts)
        size += int(offsets[-1] - offsets[0])
        extent += plan.measure.extent(texts)
        weighed.append(plan.weigh(texts))
        labels.append(_labels(batch, weighed[-1], plan))
        ids.append(_id_digests(batch, plan))
    named = together(labels)
    sizes = np.concatenate([part.sizes for part in weighed])
    is_ignored = np.concatenate([_ignored(part) for part in weighed])
    bare, ignored = int((sizes == 0).sum()), int(is_ignored.sum())
    signed = [part for part in weighed if isinstance(part, Signed)]
    return SignedBlock(
        tally=Tally(len(sizes), bare - ignored, ignored, size, extent, len(skipped)),
        measured_by=identity_of(plan.measure),
        labels=pack(named),
        rows=numbers_of(named.column("row")),
        sizes=sizes,
        is_ignored=is_ignored,
        digests=np.concatenate([part.digests for part in weighed]),
        id_digests=np.concatenate(ids),
        keys=_joined([part.keys for part in signed], len(sizes), np.uint32),
        sketches=_joined([part.sketches for part in signed], len(sizes), np.uint64),
        skipped=skipped,
    )


def _ignored(weighed: Weighed) -> npt.NDArray[np.uint8]:
    if weighed.is_ignored is None:
        return np.zeros(len(weighed.sizes), np.uint8)
    return weighed.is_ignored.astype(np.uint8)


def _joined(parts: Sequence[npt.NDArray[Any]], count: int, kind: npt.DTypeLike) -> npt.NDArray[Any]:
    return np.concatenate(parts) if parts else np.empty((count, 0), kind)


def _mean_extent(batch: pa.RecordBatch | None, measure: Measure) -> float:
    if batch is None or batch.num_rows == 0:
        return 0.0
    return measure.extent(batch.column("text")) / int(batch.num_rows)


def _id_digests(batch: pa.RecordBatch, plan: Plan) -> npt.NDArray[np.uint64]:
    if not plan.check_ids:
        return np.empty((batch.num_rows, 0), np.uint64)
    return id_digests(batch.column("id"))


def _labels(batch: pa.RecordBatch, weighed: Weighed, plan: Plan) -> pa.RecordBatch:
    """What is told of documents once they have been compared."""
    rows = column_of(numbers_of(batch.column("row")).astype(np.uint32))
    columns = {"row": rows, "id": batch.column("id")}
    if plan.tells_sizes:
        columns["size"] = column_of(weighed.sizes)
    if plan.counts_characters:
        columns["characters"] = lengths_of(batch.column("text"))
    if plan.rule_column is not None:
        columns["rule"] = batch.column(3)
    return pa.record_batch(list(columns.values()), names=list(columns))


def no_labels(plan: Plan) -> pa.RecordBatch:
    """The columns of labels, and no document."""
    fields = [("row", pa.uint32()), ("id", plan.id_type)]
    if plan.tells_sizes:
        fields.append(("size", pa.uint32()))
    if plan.counts_characters:
        fields.append(("characters", pa.int64()))
    if plan.rule_column is not None:
        fields.append(("rule", plan.rule_type))
    if plan.with_places:
        fields += zip(PLACE_COLUMNS, (pa.string(), pa.int64()), strict=True)
    return no_rows(pa.schema(fields))


def summary(signed: SignedBlock) -> tuple[Tally, str]:
    """What the driver looks at."""
    return signed.tally, signed.measured_by


def listed_skips(room: int, signed: Iterable[SignedBlock]) -> Iterator[Skips]:
    """The skipped records of blocks, as many of each as there is room for."""
    for block in signed:
        yield block.skipped.trimmed(room)


def labels_of(
    signed: SignedBlock, documents: Numbers, stretches: Sequence[Stretch]
) -> pa.RecordBatch:
    """The labels of some documents of a block; with their places, if these are to be told."""
    rows = rows_of(documents)
    labels = unpack(signed.labels).take(column_of(np.searchsorted(signed.rows, rows)))
    if not stretches:
        return labels
    columns = dict(zip(labels.schema.names, labels.columns, strict=True))
    columns |= zip(PLACE_COLUMNS, located(stretches, rows), strict=True)
    return pa.record_batch(list(columns.values()), names=list(columns))


def read_texts(
    number: int, block: Block, asks: Sequence[Ask], *, skipped: Skips
) -> Iterator[tuple[int, Texts]]:
    """The texts that others want, each asker's together; the block is read once, if at all."""
    if not asks:
        return
    rows = np.concatenate([ask.rows for ask in asks])
    is_wanted = np.zeros(int(rows.max()) + 1, bool)
    is_wanted[rows] = True
    found = [_texts_of_batch(number, batch, is_wanted) for batch in block.documents(skipped)]
    documents, texts = joined_texts(found)
    for ask in asks:
        sought = numbered(number, ask.rows)
        yield ask.asker, texts_of(sought, take_strings(texts, places_of(sought, documents)))


def _texts_of_batch(number: int, batch: pa.RecordBatch, is_wanted: npt.NDArray[np.bool_]) -> Texts:
    rows = numbers_of(batch.column("row"))
    rows = rows[: np.searchsorted(rows, len(is_wanted))]
    chosen = np.flatnonzero(is_wanted[rows]).astype(np.uint32)
    documents = numbered(number, rows[chosen].astype(np.uint32))
    return texts_of(documents, take_strings(batch.column("text"), chosen))
