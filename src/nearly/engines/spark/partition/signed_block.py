"""The documents of one block, read and signed where they are: what the rest of a run looks at."""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from nearly.arrays import column_of, count_characters, matrix_of, numbers_of, spans, take_strings
from nearly.documents.identity import id_contents
from nearly.documents.readable import Skips
from nearly.engines.spark.partition.bucket import Ask
from nearly.engines.spark.partition.number import Numbers, Rows, numbered, places_of, rows_of
from nearly.engines.spark.partition.packet import pack, together, unpack
from nearly.engines.spark.partition.verification import Texts, joined_texts, texts_of
from nearly.settings import Settings
from nearly.stages.signature import measure, sign
from nearly.stages.survivor import Keep
from nearly.tuning.banding import Banding
from nearly.tuning.method import auto_k

__all__ = ["Block", "Plan", "Signed", "Tally", "names", "no_facts", "read_texts", "sign_block"]


class Block(Protocol):
    """A run of rows of a source that can be read anywhere."""

    def documents(self, skipped: Any, also: str | None = None) -> Iterator[pa.RecordBatch]:
        """Batches of row, id and text, and perhaps `also`; rows count from 0 in the block."""

    def rows(self) -> Iterator[pa.RecordBatch]:
        """Every row with its own columns."""


class Plan(NamedTuple):
    """How documents are read and signed."""

    settings: Settings
    banding: Banding
    keep: Keep | None
    id_type: pa.DataType
    also_type: pa.DataType | None
    check_ids: bool

    def with_k(self, length: float) -> Self:
        """The same, with k decided by the mean length of documents where that is to decide it."""
        if self.settings.text.k != "auto":
            return self
        k = auto_k(self.settings.text.unit, length)
        return self._replace(settings=self.settings.with_k(k))

    @property
    def signs(self) -> bool:
        """Whether signatures are made, which the exact join does without."""
        return self.settings.method != "exact"

    @property
    def also(self) -> str | None:
        """The column that `keep` looks at."""
        return self.keep.column if self.keep else None

    @property
    def counts_characters(self) -> bool:
        """Whether `keep` looks at the length of texts."""
        return self.keep is not None and self.keep.rule in ("longest", "shortest")


class Tally(NamedTuple):
    """What was met in a block."""

    documents: int
    empty: int
    bytes: int
    characters: int
    skipped: int


class Signed(NamedTuple):
    """The documents of a block by row, empty ones too, and what else is known of the block.

    `facts` is a packed batch of row, id and what `keep` looks at. `k` is the length of shingles,
    which was guessed from the first documents where it is to be decided by all.
    """

    tally: Tally
    k: int
    facts: bytes
    rows: Rows
    sizes: npt.NDArray[np.uint32]
    contents: npt.NDArray[np.uint64]
    id_contents: npt.NDArray[np.uint64]
    keys: npt.NDArray[np.uint32]
    sketches: npt.NDArray[np.uint64]
    skipped: Skips


def sign_block(block: Block, skipped: Skips, plan: Plan) -> Signed:
    """Read once, sign each batch, keep no text."""
    batches = block.documents(skipped, plan.also)
    head = next(batches, None)
    plan = plan.with_k(mean_length(head))
    facts, signed = [no_facts(plan)], [_nothing_signed(plan)]
    ids = [_id_contents(facts[0], plan)]
    size = characters = 0
    for batch in itertools.chain([head] if head is not None else [], batches):
        offsets, _ = spans(batch.column("text"))
        size += int(offsets[-1] - offsets[0])
        characters += count_characters(batch.column("text"))
        facts.append(_facts(batch, plan))
        ids.append(_id_contents(batch, plan))
        signed.append(_signed(batch, plan))
    named, whole = together(facts), together(signed)
    sizes = numbers_of(whole.column("size"))
    return Signed(
        tally=Tally(len(sizes), int((sizes == 0).sum()), size, characters, len(skipped)),
        facts=pack(named),
        rows=numbers_of(named.column("row")),
        sizes=sizes,
        contents=matrix_of(whole.column("content"), np.uint64),
        id_contents=np.concatenate(ids),
        keys=_matrix(whole, "keys", np.uint32),
        sketches=_matrix(whole, "sketch", np.uint64),
        skipped=skipped,
        k=plan.settings.text.whole_k,
    )


def mean_length(batch: pa.RecordBatch | None) -> float:
    """Characters of a document of a batch."""
    if batch is None or batch.num_rows == 0:
        return 0.0
    characters: int = count_characters(batch.column("text"))
    return characters / int(batch.num_rows)


def _id_contents(batch: pa.RecordBatch, plan: Plan) -> npt.NDArray[np.uint64]:
    if not plan.check_ids:
        return np.empty((batch.num_rows, 0), np.uint64)
    return id_contents(batch.column("id"))


def _matrix(signed: pa.RecordBatch, name: str, kind: npt.DTypeLike) -> npt.NDArray[Any]:
    if name not in signed.schema.names:
        return np.empty((signed.num_rows, 0), kind)
    return matrix_of(signed.column(name), kind)


def _signed(batch: pa.RecordBatch, plan: Plan) -> pa.RecordBatch:
    texts = batch.select(["text"])
    return sign(texts, plan.settings, plan.banding) if plan.signs else measure(texts, plan.settings)


def _nothing_signed(plan: Plan) -> pa.RecordBatch:
    """So that a block without documents has columns too."""
    no_text = pa.record_batch([pa.array([], pa.large_string())], names=["text"])
    return _signed(no_text, plan)


def _facts(batch: pa.RecordBatch, plan: Plan) -> pa.RecordBatch:
    """What is told of documents once they have been compared."""
    rows = column_of(numbers_of(batch.column("row")).astype(np.uint32))
    columns = {"row": rows, "id": batch.column("id")}
    if plan.counts_characters:
        columns["characters"] = pc.utf8_length(batch.column("text")).cast(pa.int64())
    if plan.also is not None:
        columns["also"] = batch.column("also")
    return pa.record_batch(list(columns.values()), names=list(columns))


def no_facts(plan: Plan) -> pa.RecordBatch:
    """The columns of facts, and no document."""
    fields = [("row", pa.uint32()), ("id", plan.id_type)]
    if plan.counts_characters:
        fields.append(("characters", pa.int64()))
    if plan.also is not None:
        fields.append(("also", plan.also_type))
    return pa.RecordBatch.from_pylist([], schema=pa.schema(fields))


def names(signed: Signed, documents: Numbers) -> list[Any]:
    """The ids of some documents of a block."""
    places = np.searchsorted(signed.rows, rows_of(documents))
    ids: list[Any] = unpack(signed.facts).column("id").take(column_of(places)).to_pylist()
    return ids


def read_texts(
    number: int, block: Block, skipped: Skips, asks: Sequence[Ask]
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
