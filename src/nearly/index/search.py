"""What is near to a question, in all segments: met in buckets, filtered by sketches, verified."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly import _kernels
from nearly.arrays import spans
from nearly.index.answer import Answer, Id
from nearly.index.content import Keeping
from nearly.index.live import Live
from nearly.index.posting import Poster
from nearly.index.sharing import near_within, sharing, sharing_most, sharing_pairs
from nearly.measures.base import Measure, Signed
from nearly.measures.number import different
from nearly.measures.pair import split_pairs
from nearly.measures.work import Workers
from nearly.stages.candidate import candidates, unique
from nearly.tuning.banding import Banding

__all__ = [
    "FEW",
    "MOST_MEMBERS",
    "NOBODY",
    "Asking",
    "Near",
    "Owners",
    "ask",
    "first_owners",
    "near_contents",
    "near_each_other",
    "near_one",
]

#: Of a bucket at most this many members are looked at; those with the least digests.
MOST_MEMBERS: Final = 100
#: Bytes of contents that are compared at a time.
BLOCK_BYTES: Final = 2**21
#: For the k nearest, however near: contents that are compared in full, chosen by their sketches.
TRIED: Final = 64

#: Questions that one thread answers sooner than it would wake others.
FEW: Final = 64

#: A number that no document has.
NOBODY: Final = np.uint64(2**64 - 1)

Numbers = npt.NDArray[Any]
#: Contents of a segment, with their digests.
Chosen = tuple[Live, npt.NDArray[np.uint32], npt.NDArray[np.uint64]]
#: What may be near to some documents, and of a bucket how many at most.
Lives = Callable[["Asking", Signed, pa.Array, int], Sequence[Live]]


@dataclass(frozen=True)
class Asking:
    """How an index is asked."""

    measure: Measure
    keeping: Keeping
    banding: Banding
    threshold: Fraction | None  # None: the nearest, however near
    poster: Poster | None = None  # where documents are found by their members

    def sign(self, contents: pa.Array) -> Signed:
        """What an index needs of documents; nothing is drawn where all members are listed."""
        if self.poster is None:
            return self.measure.sign(contents, self.banding)
        weighed = self.measure.weigh(contents)
        return Signed(
            sizes=weighed.sizes,
            digests=weighed.digests,
            is_ignored=weighed.is_ignored,
            keys=np.empty((len(contents), 0), np.uint32),
            sketches=np.empty((len(contents), 0), np.uint64),
        )

    @cached_property
    def most_different(self) -> int:
        """Positions in which sketches may differ."""
        whatever = self.banding.sketched
        return whatever if self.threshold is None else whatever - self.banding.agreement

    @cached_property
    def asker(self) -> _kernels.TextAsker | None:
        """What answers a plain question about a text in one call, where there is such a thing."""
        if self.threshold is None or self.poster is not None or self.keeping.as_sets:
            return None
        return self.measure.asker(self.banding, self.threshold, MOST_MEMBERS, self.most_different)

    def is_near(self, nearness: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
        """Which reach the threshold; where there is none, which have anything in common."""
        near: npt.NDArray[np.bool_] = ~np.isnan(nearness)
        return near if self.threshold is not None or self.measure.is_distance else nearness > 0


@dataclass(frozen=True)
class Near:
    """Contents that are near to some questions."""

    questions: Numbers
    digests: npt.NDArray[np.uint64]
    nearness: npt.NDArray[np.float64]

    def only(self, chosen: npt.NDArray[np.bool_]) -> "Near":
        """Those that are marked."""
        return Near(self.questions[chosen], self.digests[chosen], self.nearness[chosen])


# One question


def ask(asking: Asking, near: Lives, content: pa.Array, k: int | None) -> Answer:
    """All that is near enough to one content, or the `k` nearest; `near` shows what may be."""
    signed = asking.sign(content)
    if signed.sizes[0] == 0:
        return Answer()
    most = MOST_MEMBERS if asking.poster is None else _tried(k)
    lives = near(asking, signed, content, most)
    found, compared, left_out = _near_contents_of(asking, lives, signed, content, k)
    if not found:
        return Answer(compared=compared, left_out=left_out)
    digests = np.concatenate([near.digests for near in found])
    nearness = np.concatenate([near.nearness for near in found])
    values = nearness.tolist()
    ranked = sorted((-values[place], *owner) for place, *owner in _documents_of(lives, digests))[:k]
    shown = asking.measure.shown(np.array([-negative for negative, _, _ in ranked])).tolist()
    named = [owner for _, _, owner in ranked]
    return Answer(list(zip(named, shown, strict=True)), compared=compared, left_out=left_out)


def near_one(
    asking: Asking, lives: Sequence[Live], signed: Signed, content: pa.Array
) -> tuple[list[Near], int]:
    """What is near to one content but its copies, and how many were not looked at."""
    found, _, left_out = _near_contents_of(asking, lives, signed, content, None)
    others = [near.only((near.digests != signed.digests[0]).any(axis=1)) for near in found]
    return others, left_out


def _near_contents_of(
    asking: Asking, lives: Sequence[Live], signed: Signed, content: pa.Array, k: int | None
) -> tuple[list[Near], int, int]:
    """What is near to one content; how many were compared, and how many not looked at."""
    chosen, left_out = _chosen(asking, lives, content, signed, k)
    found, compared = [], 0
    for live, contents, digests in chosen:
        nearness = _compare(asking, live, content, contents, digests, signed.digests[0])
        compared += len(contents)
        near = Near(np.zeros(len(contents), np.uint32), digests, nearness)
        found.append(near.only(asking.is_near(nearness)))
    return found, compared, left_out


def _chosen(
    asking: Asking, lives: Sequence[Live], content: pa.Array, signed: Signed, k: int | None
) -> tuple[Iterable[Chosen], int]:
    """What one question is compared with in full, and how many were not looked at."""
    if asking.poster is None:
        return _near(asking, lives, signed, k)
    asked = asking.poster.questions(content)[0], int(signed.sizes[0])
    if asking.threshold is None:
        return _with_digests(sharing_most(lives, *asked, _tried(k))), 0
    most = [(live, sharing(live, *asked, asking.threshold)[0]) for live in lives]
    return _with_digests(most), 0


def _tried(k: int | None) -> int:
    """Contents that are compared in full for the `k` nearest."""
    return max(TRIED, 8 * (k or 0))


def _with_digests(chosen: Iterable[tuple[Live, npt.NDArray[np.uint32]]]) -> Iterator[Chosen]:
    for live, contents in chosen:
        yield live, contents, live.segment.digests(contents)


def _near(
    asking: Asking, lives: Sequence[Live], signed: Signed, k: int | None
) -> tuple[Iterable[Chosen], int]:
    """Contents of each segment to compare in full, and how many were not looked at."""
    if asking.threshold is not None:
        bits, most = asking.banding.hashing.bits, asking.most_different
        found, fullest = [], 0
        for live in lives:
            contents, digests, members, left_out = live.segment.agreeing(
                signed, MOST_MEMBERS, live.contents.bits, bits, most
            )
            fullest += members + left_out
            if len(contents):
                found.append((live, contents, digests))
        if fullest <= MOST_MEMBERS:  # no bucket can be crowded: nothing is left out
            return found, 0
    met, left_out = _met(lives, signed.keys)
    if left_out:
        met = [_with_copy(each, signed.digests) for each in met]
    chosen = _agreeing(asking, met, signed, k)
    if asking.threshold is not None and left_out:
        chosen, cut = _some_of_crowds(chosen)
        left_out += cut
    return ((each.live, each.contents, each.digests) for each in chosen if len(each)), left_out


@dataclass(frozen=True)
class _Met:
    """Contents of a segment that share a bucket with one question, each once, in order."""

    live: Live
    contents: npt.NDArray[np.uint32]
    is_of_crowd: npt.NDArray[np.bool_]  # met in crowded buckets alone

    def __len__(self) -> int:
        return len(self.contents)

    @property
    def digests(self) -> npt.NDArray[np.uint64]:
        """Theirs."""
        return self.live.segment.digests(self.contents)

    def only(self, chosen: npt.NDArray[np.bool_]) -> "_Met":
        """Those that are marked."""
        return _Met(self.live, self.contents[chosen], self.is_of_crowd[chosen])


def _met(lives: Sequence[Live], keys: npt.NDArray[np.uint32]) -> tuple[list[_Met], int]:
    """What one question meets in each segment, and how many members were not looked at."""
    found, left_out, counts = [], 0, np.zeros(keys.shape[1], np.int64)
    for live in lives:  # one more of a bucket than is looked at tells a crowd
        pairs, bands, more = live.segment.meet(
            keys, (0, keys.shape[1]), MOST_MEMBERS + 1, live.contents.bits
        )
        left_out += more
        counts += np.bincount(bands, minlength=keys.shape[1])
        found.append((live, pairs.astype(np.uint32), bands))
    crowded = np.flatnonzero(counts > MOST_MEMBERS)
    if len(crowded):
        found, cut = _cut(found, crowded.tolist())
        left_out += cut
    return [_once(live, pairs, np.isin(bands, crowded)) for live, pairs, bands in found], left_out


def _once(live: Live, contents: npt.NDArray[np.uint32], is_of_crowd: npt.NDArray[np.bool_]) -> _Met:
    each, places = np.unique(contents, return_inverse=True)
    is_of_crowd_alone = np.ones(len(each), bool)
    is_of_crowd_alone[places[~is_of_crowd]] = False
    return _Met(live, each, is_of_crowd_alone)


def _cut(
    found: list[tuple[Live, npt.NDArray[np.uint32], npt.NDArray[np.uint32]]], crowded: list[int]
) -> tuple[list[tuple[Live, npt.NDArray[np.uint32], npt.NDArray[np.uint32]]], int]:
    """Of a bucket that is crowded in all segments together, only those with the least digests."""
    digests = [live.segment.digests(contents) for live, contents, _ in found]
    stays = [np.ones(len(contents), bool) for _, contents, _ in found]
    cut = 0
    for band in crowded:
        members = [
            (tuple(digests[i][place].tolist()), i, place)
            for i, (_, _, bands) in enumerate(found)
            for place in np.flatnonzero(bands == band).tolist()
        ]
        for _, i, place in sorted(members)[MOST_MEMBERS:]:
            stays[i][place] = False
            cut += 1
    kept = [
        (live, contents[stay], bands[stay])
        for (live, contents, bands), stay in zip(found, stays, strict=True)
    ]
    return kept, cut


def _with_copy(met: _Met, own: npt.NDArray[np.uint64]) -> _Met:
    """A copy of the question is found in any crowd."""
    copies = met.live.find_held(own)[1].astype(np.uint32)
    contents = np.concatenate([met.contents, copies])
    is_of_crowd = np.concatenate([met.is_of_crowd, np.zeros(len(copies), bool)])
    return _once(met.live, contents, is_of_crowd)


def _agreeing(asking: Asking, met: list[_Met], signed: Signed, k: int | None) -> list[_Met]:
    """Contents whose sketches agree enough; for the nearest, those that agree most."""
    bits = asking.banding.hashing.bits
    differ = [
        each.live.segment.differences(each.contents.astype(np.uint64), signed.sketches, bits)
        for each in met
    ]
    most = asking.most_different
    together = np.sort(np.concatenate([np.empty(0, np.uint32), *differ]))
    if asking.threshold is None and len(together):
        most = int(together[min(_tried(k), len(together)) - 1])
    return [each.only(positions <= most) for each, positions in zip(met, differ, strict=True)]


def _some_of_crowds(met: list[_Met]) -> tuple[list[_Met], int]:
    """What was met in crowded buckets alone fills the rest up to as many as of one bucket."""
    members = sorted(
        (*digest, i, place)
        for i, each in enumerate(met)
        for place, digest in enumerate(each.digests.tolist())
        if each.is_of_crowd[place]
    )
    room = max(0, MOST_MEMBERS - (sum(map(len, met)) - len(members)))
    stays = [np.ones(len(each), bool) for each in met]
    for _, _, i, place in members[room:]:
        stays[i][place] = False
    kept = [each.only(stay) for each, stay in zip(met, stays, strict=True)]
    return kept, len(members[room:])


def _compare(
    asking: Asking,
    live: Live,
    content: pa.Array,
    contents: npt.NDArray[np.uint32],
    digests: npt.NDArray[np.uint64],
    own: npt.NDArray[np.uint64],
) -> npt.NDArray[np.float64]:
    """Exact nearness to one question; a copy need not be compared."""
    nearness = np.full(len(contents), asking.measure.same)
    is_other = (digests != own).any(axis=1)
    if is_other.any():
        others = np.flatnonzero(is_other)
        kept = live.segment.texts(contents[others])
        second = np.arange(len(others), dtype=np.uint32)
        nearness[others] = asking.keeping.compare(
            asking.measure,
            content,
            np.zeros(len(others), np.uint32),
            kept,
            second,
            asking.threshold,
        )
    return nearness


def _documents_of(
    lives: Sequence[Live], digests: npt.NDArray[np.uint64]
) -> Iterator[tuple[int, int, Id]]:
    """The documents that have these contents: a place in `digests`, a number, and an id."""
    for live in lives:
        places, documents, numbers = live.find_documents(digests)
        if len(places):
            ids = live.segment.ids(documents)
            yield from zip(places.tolist(), numbers.tolist(), ids, strict=True)


@dataclass(frozen=True)
class Owners:
    """The first document that has each of some contents; `NOBODY` where none has it."""

    numbers: npt.NDArray[np.uint64]
    ids: list[Id | None]


def first_owners(lives: Sequence[Live], digests: npt.NDArray[np.uint64]) -> Owners:
    """In the order of adding."""
    least = np.full(len(digests), NOBODY, np.uint64)
    ids: list[Id | None] = [None] * len(digests)
    for live in lives:
        places, documents, numbers = live.find_documents(digests)
        if len(places) == 0:
            continue
        order = np.lexsort((numbers, places))
        places, documents, numbers = places[order], documents[order], numbers[order]
        is_first = np.ones(len(places), bool)
        is_first[1:] = places[1:] != places[:-1]
        is_first &= numbers < least[places]
        least[places[is_first]] = numbers[is_first]
        found = live.segment.ids(documents[is_first])
        for place, owner in zip(places[is_first].tolist(), found, strict=True):
            ids[place] = owner
    return Owners(least, ids)


# Many questions


def near_contents(
    asking: Asking,
    lives: Sequence[Live],
    signed: Signed,
    contents: pa.Array,
    workers: Workers,
    most: int,
) -> tuple[list[Near], int]:
    """What is near to many contents, segment by segment; copies are left to who asks.

    Of a bucket of a segment at most `most` are looked at, 0 for all.
    """
    found, left_out = [], 0
    for live in lives:
        if asking.poster is not None and asking.threshold is not None:
            asked = (signed, contents, asking.threshold, workers)
            pairs, more = sharing_pairs(asking.poster, live, *asked), 0
        else:
            with live.segment.read_through() if len(signed.keys) > FEW else nullcontext():
                pairs, more = _met_by_many(asking, live, signed, workers, most)
        left_out += more
        if len(pairs) == 0:
            continue
        questions, theirs = split_pairs(pairs)
        digests = live.segment.digests(theirs)
        is_other = (digests != signed.digests[questions]).any(axis=1)
        questions, theirs, digests = questions[is_other], theirs[is_other], digests[is_other]
        nearness = _verified(asking, live, contents, questions, theirs, workers)
        found.append(Near(questions, digests, nearness).only(~np.isnan(nearness)))
    return found, left_out


def _met_by_many(
    asking: Asking, live: Live, signed: Signed, workers: Workers, most: int
) -> tuple[npt.NDArray[np.uint64], int]:
    """Pairs of a question and a content that met and agree, each once."""
    bits = asking.banding.hashing.bits

    def of_band(band: int) -> tuple[npt.NDArray[np.uint64], int]:
        pairs, _, more = live.segment.meet(signed.keys, (band, band + 1), most, live.contents.bits)
        differ = live.segment.differences(pairs, signed.sketches, bits)
        return pairs[differ <= asking.most_different], more

    if len(signed.keys) <= FEW:  # all bands in one go
        pairs, _, left_out = live.segment.meet(
            signed.keys, (0, asking.banding.bands), most, live.contents.bits
        )
        pairs = np.unique(pairs)  # a question may have a greater number than a content
        differ = live.segment.differences(pairs, signed.sketches, bits)
        return pairs[differ <= asking.most_different], left_out
    parts, left_out = [np.empty(0, np.uint64)], 0
    for pairs, more in workers.map(of_band, range(asking.banding.bands)):
        parts.append(pairs)
        left_out += more
    return np.unique(np.concatenate(parts)), left_out


def _verified(
    asking: Asking,
    live: Live,
    contents: pa.Array,
    questions: npt.NDArray[np.uint32],
    theirs: npt.NDArray[np.uint32],
    workers: Workers,
) -> npt.NDArray[np.float64]:
    if len(questions) == 0:
        return np.empty(0)
    lengths = np.diff(_offsets(contents))

    def of_part(part: slice) -> npt.NDArray[np.float64]:
        mine, (first,) = different(questions[part])
        others, (second,) = different(theirs[part])
        asked = contents.take(pa.array(mine))
        kept = live.segment.texts(others)
        return asking.keeping.compare(asking.measure, asked, first, kept, second, asking.threshold)

    # Two that are near are of like length: what is asked says how long both are together.
    parts = _parts(2 * lengths[questions])
    return np.concatenate([np.empty(0), *workers.map(of_part, parts)])


def near_each_other(
    asking: Asking,
    signed: Signed,
    contents: pa.Array,
    chosen: npt.NDArray[np.uint32],
    workers: Workers,
    most: int,
) -> tuple[Numbers, Numbers, npt.NDArray[np.float64]]:
    """Pairs of some contents, all of which are different: the earlier one, the later one."""
    if asking.poster is not None and asking.threshold is not None:
        some = contents.take(pa.array(chosen))
        first, second, nearness = near_within(asking.measure, some, asking.threshold)
        return chosen[first], chosen[second], nearness
    if len(chosen) < 2:
        return np.empty(0, np.uint32), np.empty(0, np.uint32), np.empty(0)

    def of_band(band: int) -> npt.NDArray[np.uint64]:
        keys = signed.keys[:, band].take(chosen)
        return candidates(keys, chosen, signed.sketches, asking.banding, hubs=most)[0]

    parts = [np.empty(0, np.uint64), *workers.map(of_band, range(asking.banding.bands))]
    first, second = split_pairs(unique(np.concatenate(parts), 0, 2**64 - 1))
    lengths = np.diff(_offsets(contents))

    def of_part(part: slice) -> npt.NDArray[np.float64]:
        both, (a, b) = different(first[part], second[part])
        asked = contents.take(pa.array(both))
        return asking.measure.compare(asked, a, b, asking.threshold)

    compared = workers.map(of_part, _parts(lengths[first] + lengths[second]))
    nearness = np.concatenate([np.empty(0), *compared])
    is_near = ~np.isnan(nearness)
    return first[is_near], second[is_near], nearness[is_near]


def _offsets(contents: pa.Array) -> npt.NDArray[np.int64]:
    return spans(contents)[0]


def _parts(lengths: Numbers) -> list[slice]:
    """Runs of pairs whose contents have about `BLOCK_BYTES` together."""
    blocks = np.cumsum(lengths) // BLOCK_BYTES
    cuts = [0, *(np.flatnonzero(np.diff(blocks)) + 1).tolist(), len(lengths)]
    return [slice(a, b) for a, b in itertools.pairwise(cuts) if a < b]
