"""Near pairs: joined exactly in blocks, or met in buckets band by band and verified."""

import itertools
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from threading import Event

import numpy as np
import numpy.typing as npt

from nearly import _kernels
from nearly.documents.local import LocalCorpus
from nearly.documents.pair_store import CandidateStore, PairStore
from nearly.documents.side import partners
from nearly.documents.spool import TemporaryColumn
from nearly.engines.local.meeting import ENOUGH, Meetings, one_by_one, room_for_all, together
from nearly.engines.local.verification import Verifier
from nearly.engines.local.workshop import Workshop
from nearly.frozen import dataclass
from nearly.measures.number import Documents, different
from nearly.measures.pair import Block, Packed, Pairs, join_pairs, split_pairs
from nearly.measures.work import Workers
from nearly.stages.audit import draw
from nearly.stages.candidate import (
    EVERYONE,
    Span,
    agreeing,
    candidates,
    crowd,
    gathered,
    unique,
)
from nearly.stages.join import join_sides
from nearly.stages.rehearsal import rehearse
from nearly.stages.search import map_blocks
from nearly.tuning.banding import Banding
from nearly.tuning.method import (
    Choice,
    count_rehearsed,
    is_crowded,
    reconsider,
    usual_meetings,
)

__all__ = ["LocalPairs", "met_candidates", "near_pairs"]

MOST_PENDING = 2_000_000  # candidates that wait to be merged with those of other bands
#: Documents compared at once are the first of at most this many meetings, in all or per document.
MOST_MEETINGS, MEETINGS_PER_DOCUMENT = 2**24, 16
#: Of a document, whatever block it is in: its number, and where its set begins among all of them.
BYTES_HELD_TO_JOIN = 20
BYTES_OF_CANDIDATE = 8  # all meetings may become candidates
#: Blocks that fit in a step's room: some of them are indexed, one is looked up, and one is made.
BLOCKS_IN_ROOM = 3
BYTES_OF_PAIR_LOOKED_UP = 32  # itself, its documents, and their places
BYTES_OF_BAND = 32  # of a document: its key in a band, sorted, and the pairs it is in
BYTES_OF_DRAWN = 32  # of a key that was drawn: itself, and an entry of the index, sorted


@dataclass(frozen=True, kw_only=True)
class LocalPairs:
    """Verified pairs, and what it took to find them."""

    pairs: Pairs
    meetings: int
    verified: int
    choice: Choice
    largest_bucket: int | None

    def __len__(self) -> int:
        return len(self.pairs)


def near_pairs(shop: Workshop, corpus: LocalCorpus, banding: Banding, *, hubs: int) -> LocalPairs:
    """Joined in blocks that fit in memory, or met in buckets band by band and verified."""
    if corpus.choice.method == "exact":
        return _join(shop, corpus, corpus.choice)
    if banding.hashing.least_drawn:
        return _probe(shop, corpus, banding)
    at_once = max(MOST_MEETINGS, MEETINGS_PER_DOCUMENT * len(corpus.representatives))
    at_once = min(at_once, shop.room // BYTES_OF_CANDIDATE)
    met = _meet_at_once(shop, corpus, banding, hubs, at_once)
    if met is not None:
        candidates, meetings, largest = met
        found = _verified(shop, corpus, iter([(candidates, meetings)]))
        return replace(found, largest_bucket=largest)
    buckets = room_for_all(shop, corpus, banding)
    followers, largest = _crowd(shop, corpus, banding, hubs, buckets)
    choice = _reconsidered(corpus, banding, int(followers.sum()), hubs)
    if choice.method == "exact":
        return replace(_join(shop, corpus, choice), largest_bucket=largest)
    found = _hash(shop, corpus, banding, hubs, followers, at_once, buckets)
    return replace(found, largest_bucket=largest)


def _meet_at_once(
    shop: Workshop, corpus: LocalCorpus, banding: Banding, hubs: int, at_once: int
) -> tuple[Packed, int, int] | None:
    """Candidates, meetings and the size of the largest bucket, in one look at each band.

    None where they have to be counted before they are compared: more meet than can be held at
    once, or so many that the method has to be chosen again; or there is a border.
    Sketches on disk are read when it is known who met in any band: once, and not for each band.
    """
    documents = corpus.representatives
    if corpus.sides is not None:
        return None
    most = min(at_once, usual_meetings(len(documents), hubs)) // banding.bands
    nothing = np.empty((len(corpus), 0), np.uint64)  # whoever meets agrees
    sketches = corpus.sketches.all() if corpus.is_in_memory else nothing
    crowded = Event()

    def of_band(band: int) -> tuple[Packed, int, int]:
        if crowded.is_set():
            return np.empty(0, np.uint64), 0, 0
        keys = corpus.keys.column(band)[documents]
        return gathered(keys, documents, sketches, banding, hubs=hubs, most_meetings=most)

    shop.progress.stage("candidates", banding.bands)
    store = CandidateStore(partial(_unique, shop), shop.budget, shop.folder)
    meetings = largest = 0
    for pairs, met, most_together in shop.map(of_band, range(banding.bands), _width(shop, corpus)):
        if met > most:
            crowded.set()
        store.add(pairs, MOST_PENDING)
        shop.budget.check()
        shop.progress.advance()
        meetings += met
        largest = max(largest, most_together)
    if crowded.is_set():
        return None
    packed = store.packed()
    found = packed if corpus.is_in_memory else _agreeing(shop, corpus, banding, packed)
    return found, meetings, largest


def _agreeing(shop: Workshop, corpus: LocalCorpus, banding: Banding, pairs: Packed) -> Packed:
    """Those pairs whose sketches, which lie on disk, agree enough: as many at a time as fit."""
    at_once = max(1, shop.room // (2 * corpus.sketches.bytes_of_row + BYTES_OF_PAIR_LOOKED_UP))
    found = [np.empty(0, np.uint64)]
    for start in range(0, len(pairs), at_once):
        part = pairs[start : start + at_once]
        known, (firsts, seconds) = different(*split_pairs(part))
        found.append(agreeing(part, firsts, seconds, corpus.sketches.take(known), banding))
        shop.budget.check()
    return np.concatenate(found)


def _crowd(
    shop: Workshop,
    corpus: LocalCorpus,
    banding: Banding,
    hubs: int,
    buckets: Meetings | None,
) -> tuple[npt.NDArray[np.int64], int]:
    """How many meetings each representative is the first of, side by side, and the size of the
    largest bucket. Where there is room for buckets, they are kept."""
    shop.progress.stage("buckets", banding.bands)
    documents, cuts = corpus.by_side

    def of_band(band: int) -> tuple[npt.NDArray[np.uint32], int]:
        keys = corpus.keys.column(band)[documents]
        if buckets is not None:
            return buckets.add(band, keys, hubs)
        return crowd(keys, hubs=hubs, cuts=cuts)

    followers, largest = np.zeros(len(documents), np.int64), 0
    for of_each, most in shop.map(of_band, range(banding.bands), _width(shop, corpus)):
        followers += of_each
        largest = max(largest, most)
        shop.progress.advance()
    return followers, largest


def _reconsidered(corpus: LocalCorpus, banding: Banding, meetings: int, hubs: int) -> Choice:
    """The method again, now that meetings are counted."""
    count, choice = corpus.counts.different, corpus.choice
    if not is_crowded(choice, corpus.settings, count, meetings, hubs=hubs):
        return choice
    text = int(corpus.lengths().sum())
    drawn = draw(count, count_rehearsed(count, text), corpus.settings.seed)
    threshold = corpus.measure.threshold(corpus.settings)
    sample = corpus.representatives[drawn]
    sides = None if corpus.sides is None else corpus.sides[sample]
    rehearsal = rehearse(corpus.measure, corpus.texts(sample), sides, banding, threshold)
    return reconsider(choice, count, text, meetings, rehearsal, hubs=hubs)


def _hash(
    shop: Workshop,
    corpus: LocalCorpus,
    banding: Banding,
    hubs: int,
    followers: npt.NDArray[np.int64],
    at_once: int,
    buckets: Meetings | None,
) -> LocalPairs:
    """Some documents after the others, so that candidates do not pile up."""
    if buckets is not None:
        places = np.arange(len(corpus.representatives), dtype=np.uint32)
        spans = _spans(places, followers, at_once // (2 * shop.threads))
        met = one_by_one(shop, corpus, banding, buckets, spans)
        return _verified(shop, corpus, together(met, min(at_once, ENOUGH)))
    spans = _spans(corpus.by_side[0], followers, at_once)
    met = (met_candidates(shop, corpus, banding, hubs=hubs, firsts=firsts) for firsts in spans)
    return _verified(shop, corpus, met)


def _probe(shop: Workshop, corpus: LocalCorpus, banding: Banding) -> LocalPairs:
    """Keys of some documents after the others, as many as fit, are looked for in all that these
    may meet."""
    everyone = corpus.representatives
    sides = None if corpus.sides is None else corpus.sides[everyone]
    at_once = max(1, shop.room // (BYTES_OF_DRAWN * banding.bands))
    met = (
        _probed(shop, corpus, banding, part, everyone[others])
        for some, others in partners(sides)
        for part in np.split(everyone[some], range(at_once, len(everyone[some]), at_once))
    )
    return _verified(shop, corpus, met)


def _probed(
    shop: Workshop, corpus: LocalCorpus, banding: Banding, documents: Documents, among: Documents
) -> tuple[Packed, int]:
    """Pairs of one of these documents and one among others that has enough of its keys, each
    once."""
    keys = np.stack([corpus.keys.column(band)[documents] for band in range(banding.bands)], axis=1)
    threshold = corpus.measure.threshold(corpus.settings)
    index = corpus.measure.prober(documents, corpus.sizes[documents], keys, banding, threshold)

    def of_block(others: Documents) -> tuple[Packed, int]:
        return index.probe(others, corpus.texts(others))

    shop.progress.stage("candidates", len(among))
    store = CandidateStore(partial(_unique, shop), shop.budget, shop.folder)
    meetings = 0
    for pairs, met in map_blocks(of_block, corpus, among, shop.threads, shop.progress):
        meetings += met
        store.add(pairs, MOST_PENDING)
        shop.budget.check()
    return store.packed(), meetings


def _verified(
    shop: Workshop, corpus: LocalCorpus, found: Iterable[tuple[Packed, int]]
) -> LocalPairs:
    """Candidates that reach the threshold; those of one part are held at a time."""
    threshold = corpus.measure.threshold(corpus.settings)
    store = PairStore(shop.budget, shop.folder)
    verifier = Verifier(shop, corpus, threshold)
    meetings = verified = 0
    for met, compared in found:
        meetings += compared
        verified += len(met)
        for packed, nearness in verifier.in_parts(met):
            near = ~np.isnan(nearness)
            store.add(packed[near], nearness[near])
            shop.budget.check()
    return LocalPairs(
        pairs=store.pairs(),
        meetings=meetings,
        verified=verified,
        choice=corpus.choice,
        largest_bucket=None,
    )


def met_candidates(
    shop: Workshop, corpus: LocalCorpus, banding: Banding, *, hubs: int, firsts: Span = EVERYONE
) -> tuple[Packed, int]:
    """Pairs that share a bucket and agree enough, each once; and how many met at all."""
    shop.progress.stage("candidates", banding.bands)

    def of_band(band: int) -> tuple[Packed, int]:
        return _band_candidates(corpus, band, banding, hubs, firsts)

    store = CandidateStore(partial(_unique, shop), shop.budget, shop.folder)
    meetings = 0
    for pairs, met in shop.map(of_band, range(banding.bands), _width(shop, corpus)):
        meetings += met
        store.add(pairs, MOST_PENDING)
        shop.budget.check()
        shop.progress.advance()
    return store.packed(), meetings


def _unique(shop: Workshop, found: list[Packed]) -> Packed:
    """Each pair once, in order: every thread takes a range of pairs."""
    pairs = np.concatenate([np.empty(0, np.uint64), *found])
    marks = np.sort(pairs[:: len(pairs) // 1_000 + 1])
    places = [len(marks) * i // shop.threads for i in range(1, shop.threads)]
    cuts = marks[places].tolist() if len(marks) else []
    ranges = itertools.pairwise([0, *cuts, 2**64 - 1])
    return np.concatenate(list(shop.map(lambda part: unique(pairs, *part), ranges)))


def _join(shop: Workshop, corpus: LocalCorpus, choice: Choice) -> LocalPairs:
    shop.progress.stage("join", None)
    threshold = corpus.measure.threshold(corpus.settings)
    room = shop.room_beside(BYTES_HELD_TO_JOIN * len(corpus.representatives))
    cuts = [_cut(shop, corpus, some, threshold, room) for some in _sides(corpus)]
    if max(map(len, cuts)) > 1:
        corpus.shingles.clear()  # they take room, and are made again block by block
    blocks = [[partial(_load_block, corpus, part) for part in parts] for parts in cuts]
    store = PairStore(shop.budget, shop.folder)
    meetings = verified = 0
    for part in join_sides(corpus.measure, blocks, threshold, _workers(shop, room)):
        shop.progress.advance()
        store.add(part.pairs, part.nearness)
        shop.budget.check()
        meetings += part.meetings
        verified += part.verified
    return LocalPairs(
        pairs=store.pairs(),
        meetings=meetings,
        verified=verified,
        choice=choice,
        largest_bucket=None,
    )


def _workers(shop: Workshop, room: int) -> Workers:
    column = partial(TemporaryColumn, shop.folder, np.uint64)
    return Workers(shop.map, shop.threads, room, column)


def _sides(corpus: LocalCorpus) -> list[Documents]:
    """The representatives of the old side, of both and of the new side; all are of both where
    there is no border."""
    documents, cuts = corpus.by_side
    return np.split(documents, (0, len(documents)) if cuts is None else cuts)


def _cut(
    shop: Workshop, corpus: LocalCorpus, documents: Documents, threshold: Fraction, room: int
) -> list[Documents]:
    """Documents of like size in blocks, as few as can be joined in this room."""
    total = int(corpus.sizes[documents].sum(dtype=np.int64))
    needed = corpus.measure.join_memory(len(documents), total, threshold, shop.threads)
    if needed <= room:
        return [documents]
    count = BLOCKS_IN_ROOM * needed // room
    documents = documents[np.argsort(corpus.sizes[documents], kind="stable")]
    sizes = np.cumsum(corpus.sizes[documents], dtype=np.int64)
    return np.split(documents, np.flatnonzero(np.diff(sizes * count // (total + 1))) + 1)


def _width(shop: Workshop, corpus: LocalCorpus) -> int | None:
    """Bands that are looked at together: what is read from disk for them should fit."""
    if corpus.is_in_memory:
        return None
    return max(1, min(2 * shop.threads, shop.room // (BYTES_OF_BAND * max(1, len(corpus)))))


def _spans(documents: Documents, followers: npt.NDArray[np.int64], at_once: int) -> list[Span]:
    """Runs of documents that are the first of about as many meetings as can be held."""
    if (documents[1:] < documents[:-1]).any():  # of two sides
        order = np.argsort(documents)
        documents, followers = documents[order], followers[order]
    starts = documents[np.flatnonzero(np.diff(np.cumsum(followers) // at_once)) + 1]
    return list(itertools.pairwise([EVERYONE[0], *starts.tolist(), EVERYONE[1]]))


def _band_candidates(
    corpus: LocalCorpus, band: int, banding: Banding, hubs: int, firsts: Span
) -> tuple[Packed, int]:
    documents, cuts = corpus.by_side
    keys = corpus.keys.column(band)[documents]
    if corpus.is_in_memory:
        sketches = corpus.sketches.all()
        return candidates(keys, documents, sketches, banding, hubs=hubs, firsts=firsts, cuts=cuts)
    # Only documents that share a bucket are worth a read; there they have new numbers.
    crowded = _kernels.shared_keys(keys)
    if cuts is not None:
        cuts = tuple(np.searchsorted(crowded, cuts).tolist())
    known, (numbers,) = different(documents[crowded])
    sketches = corpus.sketches.take(known)
    low, high = np.searchsorted(known, firsts).tolist()
    pairs, met = candidates(
        keys[crowded], numbers, sketches, banding, hubs=hubs, firsts=(low, high), cuts=cuts
    )
    first, second = split_pairs(pairs)
    return join_pairs(known[first], known[second]), met


def _load_block(corpus: LocalCorpus, documents: Documents) -> Block:
    in_order = np.sort(documents)
    take = corpus.text_store.take
    return Block(
        documents=in_order,
        read=lambda start, stop: take(in_order[start:stop]),
        size=int(corpus.sizes[documents].sum()),
        sets=partial(corpus.shingles.sets, in_order) if len(corpus.shingles) else None,
    )
