"""Documents are read, held, and signed while the next ones are read."""

import itertools
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from queue import SimpleQueue
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.arrays import spans
from nearly.documents.local import LocalCorpus, Reading
from nearly.documents.readable import Readable, Skips, nothing_read
from nearly.engines.local.workshop import Workshop
from nearly.limits import give_back
from nearly.measures.base import Keys, Measure, Sketches, Weighed
from nearly.measures.held_shingles import Shingles
from nearly.measures.tally import Counted, Tally, merged
from nearly.settings import Settings
from nearly.stages.rehearsal import settled
from nearly.stages.survivor import Keep
from nearly.tuning.banding import Banding
from nearly.tuning.method import Choice, choose_method

__all__ = ["load"]

Held = TypeVar("Held")

#: Bytes of text of which what was read with them may stay where it is, for the next steps to use.
LITTLE = 2**26
#: Bytes of room for a byte of text, if shingles are to be made before the method is known: one of
#: words takes eight, and two bytes of text at least.
ROOM_FOR_SHINGLES = 8


def load(
    shop: Workshop,
    source: Readable,
    measure: Measure,
    settings: Settings,
    banding: Banding,
    skipped: Skips,
    *,
    keep: Keep | None,
) -> LocalCorpus:
    """Documents as they come, signed while the next ones are read."""
    shop.progress.stage("read and sign", None)
    reading = Reading(source, skipped, shop.budget, shop.folder)
    documents = shop.ahead(iter(source.documents(skipped, keep.column if keep else None)))
    coming = _hold(shop, reading, documents)
    may_try = keep is None and source.border is None
    needed = _needed_to_decide(measure, settings, may_try=may_try)
    # Where less decides, little would be won; and what is not settled yet may weigh otherwise.
    is_known = measure.is_settled and measure.is_counted and not shop.is_limited
    is_ample = shop.room >= ROOM_FOR_SHINGLES * measure.most_to_try
    weighs = is_known and is_ample and needed == measure.most_to_try
    head = _Head(shop, measure, weighs=weighs)
    text, is_all = head.read(coming, needed)
    choice = choose_method(
        settings,
        len(reading),
        text,
        measure,
        clusters_only=keep is not None,
        is_sided=source.border is not None,
    )
    guessed = measure.settled(_mean_extent(measure, reading.chunks()))
    if not guessed.is_counted:
        guessed = _count(shop, guessed, reading)
    batches = coming if weighs else itertools.chain(reading.chunks(), coming)
    for weighed in head.weighed():
        reading.add_weighed(weighed)
    if choice.method == "lsh":
        _sign_shingles(shop, reading, measure, banding)
    mean_extent = _weigh(shop, reading, batches, measure, guessed, choice, banding)
    decided = guessed if is_all else measure.settled(mean_extent)
    if decided != guessed:
        reading.forget_weighed()
        _weigh(shop, reading, reading.chunks(), decided, decided, choice, banding)
    if choice.is_tentative:
        choice = _settled(reading, decided, settings, choice, banding, text)
        if choice.method == "lsh" and len(reading.shingles):
            _sign_shingles(shop, reading, decided, banding)
        elif choice.method == "lsh":
            reading.forget_weighed()
            _weigh(shop, reading, reading.chunks(), decided, decided, choice, banding)
    if shop.is_limited or reading.held > LITTLE:
        give_back()
    corpus = reading.finish(decided, settings, choice, cleaning=keep is not None)
    if len(corpus) == 0 and len(skipped):
        raise nothing_read(source, skipped)
    return corpus


def _settled(
    reading: Reading,
    measure: Measure,
    settings: Settings,
    choice: Choice,
    banding: Banding,
    text: int,
) -> Choice:
    """The method that is left of a tentative one."""
    documents = reading.different()

    def read(drawn: npt.NDArray[np.int64]) -> pa.Array:
        return reading.texts(documents[drawn])

    return settled(choice, measure, settings, banding, len(documents), text, read)


def _count(shop: Workshop, measure: Measure, reading: Reading) -> Measure:
    """What the measure wants to know of all documents."""
    shop.progress.stage("count shingles", None)
    hashes, counts = (_tally if measure.counts_all else _suspect)(shop, measure, reading)
    shop.progress.stage("sign", None)
    return measure.counted(hashes, counts, len(reading))


def _tally(shop: Workshop, measure: Measure, reading: Reading) -> Counted:
    """Everything is counted, by each thread for itself."""
    tallies = _shared_out(shop, reading, Tally, lambda mine, texts: measure.tally(texts, mine))
    return reduce(merged, (tally.counts() for tally in tallies))


def _suspect(
    shop: Workshop, measure: Measure, reading: Reading
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
    """What is in too many documents: every thread has suspects, which are counted then."""
    lists = _shared_out(shop, reading, measure.suspects, lambda mine, texts: mine.add(texts))
    suspects = np.unique(np.concatenate([mine.found() for mine in lists]))
    occurrences = np.zeros(len(suspects), np.int64)
    for more in shop.map(lambda t: measure.occurrences(t, suspects), reading.chunks()):
        occurrences += more
        shop.progress.advance()
    return suspects, occurrences


def _shared_out(
    shop: Workshop,
    reading: Reading,
    make: Callable[[], Held],
    add: Callable[[Held, pa.Array], None],
) -> list[Held]:
    """One of something for each thread, and every chunk added to one of them."""
    lists = [make() for _ in range(shop.threads)]
    idle: SimpleQueue[Held] = SimpleQueue()
    for mine in lists:
        idle.put(mine)

    def take(texts: pa.Array) -> None:
        mine = idle.get()
        try:
            add(mine, texts)
        finally:  # or another thread would wait for it for ever
            idle.put(mine)

    for _ in shop.map(take, reading.chunks()):
        shop.progress.advance()
    return lists


def _hold(
    shop: Workshop, reading: Reading, documents: Iterator[pa.RecordBatch]
) -> Iterator[pa.LargeStringArray]:
    for batch in documents:
        reading.add(batch)
        shop.budget.check()
        yield batch.column("text")


def _weigh(
    shop: Workshop,
    reading: Reading,
    batches: Iterable[pa.LargeStringArray],
    measure: Measure,
    guessed: Measure,
    choice: Choice,
    banding: Banding,
) -> float:
    """Sign documents, or only weigh them for an exact run.

    Gives the mean extent of all of them, by which a measure that is not settled will be.
    """

    def of_batch(texts: pa.LargeStringArray) -> tuple[Weighed, int]:
        is_exact = choice.method == "exact"
        weighed = guessed.weigh(texts) if is_exact else guessed.sign(texts, banding)
        return weighed, 0 if measure.is_settled else measure.extent(texts)

    extent = 0
    for weighed, more in shop.map(of_batch, batches):
        reading.add_weighed(weighed)
        extent += more
        shop.progress.advance()
        shop.budget.check()
    return extent / max(1, len(reading))


def _sign_shingles(shop: Workshop, reading: Reading, measure: Measure, banding: Banding) -> None:
    """Sign the documents whose shingles were made when they were weighed."""

    def of_piece(shingles: Shingles) -> tuple[Keys, Sketches]:
        return measure.sign_shingles(shingles, banding)

    for signed in shop.map(of_piece, reading.shingles.taken()):
        reading.add_signed(*signed)
        shop.progress.advance()
        shop.budget.check()


def _needed_to_decide(measure: Measure, settings: Settings, *, may_try: bool) -> int | None:
    """Bytes of text that must be exceeded before the method is known; None: nothing is needed."""
    if not measure.is_counted:
        return sys.maxsize
    if settings.method == "auto":
        most = measure.most_to_join
        return max(most, measure.most_to_try) if most is not None and may_try else most
    return None if measure.is_settled else 0


class _Head:
    """The first documents, which decide the method: their shingles are made as they come, for they
    are joined or signed."""

    def __init__(self, shop: Workshop, measure: Measure, *, weighs: bool):
        self._shop, self._measure, self._weighs = shop, measure, weighs
        self._begun: deque[Callable[[], Weighed]] = deque()

    def read(self, coming: Iterator[pa.LargeStringArray], needed: int | None) -> tuple[int, bool]:
        """Read on until more than this many bytes are held: how many, and whether that was all."""
        text = 0
        while needed is not None and text <= needed:
            texts = next(coming, None)
            if texts is None:
                return text, True
            if self._weighs:
                self._begun.append(self._shop.begin(self._measure.weigh_with_shingles, texts))
            offsets, _ = spans(texts)
            text += int(offsets[-1] - offsets[0])
        return text, False

    def weighed(self) -> Iterator[Weighed]:
        """In the order they were read in."""
        while self._begun:
            yield self._begun.popleft()()


def _mean_extent(measure: Measure, chunks: Iterator[pa.LargeStringArray]) -> float:
    if measure.is_settled:
        return 0.0
    counted = [(measure.extent(texts), len(texts)) for texts in chunks]
    return sum(extent for extent, _ in counted) / max(1, sum(count for _, count in counted))
