"""Which way to take to all pairs: the exact join, or hashing.

The exact join misses nothing, and its cost grows with how many documents share a rare shingle;
hashing costs about the same for every document, unless a text that many have in common draws them
into one bucket. What is small is joined. Beyond that, some documents are taken through both ways,
and all are joined where that is predicted to cost hardly more than hashing. What buckets hold is
counted once documents are signed, and before they are compared: then the method may be changed
again. Only counts decide, never the clock, so that every engine and machine decides alike.
docs/methods.md has the measurements behind the numbers here.
"""

from dataclasses import replace
from typing import Protocol

from nearly.frozen import dataclass
from nearly.settings import Method, Settings

__all__ = [
    "TRIED",
    "Choice",
    "Costs",
    "Rehearsal",
    "choose_method",
    "count_rehearsed",
    "count_tried",
    "is_crowded",
    "reconsider",
    "settle",
    "usual_meetings",
]

#: A join lists all pairs of a cluster: more documents than this could be one cluster.
MOST_DOCUMENTS = 5_000

#: Meetings per document up to which hashing is not called into question: with everyone in a bucket,
#: and with its hubs only, which are few.
USUAL_MEETINGS, USUAL_MEETINGS_OF_HUBS = 256, 32

#: Documents and bytes of text that are tried with both methods. More of them know better which
#: shingles are rare: by 2,000 of 300,000 tweets, at 0.5, a join looks at 9 times as many pairs as
#: it does.
MOST_REHEARSED, MOST_TEXT_REHEARSED = 4_000, 2**24

#: The same where nothing is known of buckets yet: that is done for every corpus of some size.
MOST_TRIED, MOST_TEXT_TRIED = 500, 2**20

TRIED = "a sample says that this costs hardly more than hashing"

#: How many times as much as hashing a join may cost that misses nothing.
FREE = 1.25

# What a run costs, in nanoseconds of one core, whatever the method: reading.
BYTE_READ = 2
# By hashing: a byte that is signed, a document that is signed and met, a meeting, a byte of a
# candidate.
BYTE_SIGNED, DOCUMENT_HASHED, MEETING_HASHED, BYTE_VERIFIED = 1.8, 1_000, 25, 4
# By joining: a shingle that is put in its place, a document, a meeting, a byte of a candidate.
SHINGLE_JOINED, DOCUMENT_JOINED, MEETING_JOINED, BYTE_JOINED = 45, 250, 40, 1

# A byte of a candidate where there are so many that sets are made again and again, in nanoseconds.
BYTE_VERIFIED_AGAIN = 8
#: Bytes of text up to which a join may be worth more than hubs, which stay linear.
MOST_WITHOUT_HUBS = 2**28


@dataclass(frozen=True, kw_only=True)
class Costs:
    """What work costs, in looks at the sketches of two documents.

    Of sets of shingles, a look takes 7 nanoseconds.
    """

    look_of_a_join: float = 1
    bytes_verified_in_a_look: float = 14
    bytes_joined_in_a_look: float = 0.6


@dataclass(frozen=True)
class Choice:
    """A method, and the reason in words."""

    method: Method
    why: str
    #: Whether some documents have to be tried before it holds: see `settle`.
    is_tentative: bool = False


class Joinable(Protocol):
    """What is known of a measure's join before anything is read."""

    @property
    def most_to_join(self) -> int | None:
        """Bytes of text that are joined about as fast as hashed; None: nothing can be hashed."""

    @property
    def most_to_try(self) -> int:
        """Bytes of text up to which the join may be worth a try."""


def choose_method(
    settings: Settings,
    documents: int,
    text: int,
    measure: Joinable,
    *,
    clusters_only: bool,
    is_sided: bool,
) -> Choice:
    """What 'auto' comes to for a corpus of this size, of so many bytes of `text`.

    Where only clusters are asked for, hashing compares a bucket with its hubs and stays linear; and
    across a border few documents meet. In neither case the join is tried beyond what is small.
    """
    most_to_join = measure.most_to_join
    if settings.method != "auto":
        return Choice(settings.method, "as asked")
    if settings.bands is not None:
        return Choice("lsh", "bands and rows were given")
    if most_to_join is None:
        return Choice("exact", "the measure has no hash functions")
    most = most_to_join if clusters_only or is_sided else max(most_to_join, measure.most_to_try)
    if text > most:
        return Choice("lsh", f"hashing is cheaper for more than {most >> 20} MiB of text")
    if text > most_to_join:
        return Choice("exact", TRIED, is_tentative=True)
    if clusters_only and documents > MOST_DOCUMENTS:
        return Choice("lsh", "clusters do not need all pairs")
    return Choice("exact", "the corpus is small")


@dataclass(frozen=True, kw_only=True)
class Rehearsal:
    """What both methods had to do with some documents."""

    documents: int
    hashed: int  # of these
    text: int  # bytes
    size: int  # shingles
    met: int  # how often two documents met by hashing
    candidates: int  # pairs that hashing verified
    joined: int  # pairs that the join looked at
    join_verified: int  # of these, pairs that it verified
    costs: Costs = Costs()


def count_tried(documents: int, text: int) -> int:
    """How many documents are tried before a tentative choice holds."""
    return min(MOST_TRIED, documents, max(2, MOST_TEXT_TRIED * documents // max(1, text)))


def settle(choice: Choice, documents: int, rehearsal: Rehearsal) -> Choice:
    """A tentative join, if it costs hardly more than hashing by what both did with some documents.

    Nothing but different documents counts. Pairs grow with the square of documents.
    """
    if rehearsal.documents < 2:
        return replace(choice, is_tentative=False)
    text = documents / rehearsal.documents * rehearsal.text
    candidates = _growth(documents, rehearsal.hashed) * rehearsal.candidates
    hashing = (
        text * (BYTE_READ + BYTE_SIGNED)
        + documents * DOCUMENT_HASHED
        + candidates * text / documents * BYTE_VERIFIED
    )
    if text * BYTE_READ + _joining(documents, rehearsal) <= FREE * hashing:
        return replace(choice, is_tentative=False)
    return Choice("lsh", "a sample says that hashing is cheaper")


def _joining(documents: int, rehearsal: Rehearsal) -> float:
    """Nanoseconds that a join takes once documents are read."""
    share, pairs = documents / rehearsal.documents, _growth(documents, rehearsal.documents)
    length = rehearsal.text / rehearsal.documents
    return (
        share * rehearsal.size * SHINGLE_JOINED
        + documents * DOCUMENT_JOINED
        + pairs * rehearsal.joined * MEETING_JOINED
        + pairs * rehearsal.join_verified * length * BYTE_JOINED
    )


def _growth(documents: int, tried: int) -> float:
    """How many times as many pairs all documents have as those that were tried."""
    return documents * (documents - 1) / (tried * (tried - 1))


def usual_meetings(documents: int, hubs: int) -> int:
    """How often documents may meet before hashing is called into question."""
    return (USUAL_MEETINGS_OF_HUBS if hubs else USUAL_MEETINGS) * documents


def is_crowded(
    choice: Choice, settings: Settings, documents: int, meetings: int, *, hubs: int
) -> bool:
    """Whether hashing, chosen by size alone, would compare far more than is usual."""
    is_open = settings.method == "auto" and settings.bands is None
    return is_open and choice.method == "lsh" and meetings > usual_meetings(documents, hubs)


def count_rehearsed(documents: int, text: int) -> int:
    """How many documents are tried with both methods, of a corpus with `text` bytes in all."""
    return min(MOST_REHEARSED, documents, max(2, MOST_TEXT_REHEARSED * documents // max(1, text)))


def reconsider(
    choice: Choice, documents: int, text: int, meetings: int, rehearsal: Rehearsal, *, hubs: int
) -> Choice:
    """The join where it costs less than hashing, by what both did with some of the documents.

    Pairs grow with the square of documents; `meetings` is the number of all.
    """
    is_cheaper = _is_cheaper_than_hubs if hubs else _is_cheaper
    if not is_cheaper(documents, text, meetings, rehearsal):
        return choice
    return Choice("exact", f"hashing would compare {meetings:,} pairs")


def _is_cheaper(documents: int, text: int, meetings: int, rehearsal: Rehearsal) -> bool:
    pairs, costs = _growth(documents, rehearsal.documents), rehearsal.costs
    verifying = max(1, text / max(1, documents) / costs.bytes_verified_in_a_look)
    candidates = _growth(documents, rehearsal.hashed) * rehearsal.candidates
    hashing = meetings + candidates * verifying
    joining = (
        pairs * (rehearsal.joined * costs.look_of_a_join + rehearsal.join_verified * verifying)
        + text / costs.bytes_joined_in_a_look
    )
    return joining < hashing


def _is_cheaper_than_hubs(documents: int, text: int, meetings: int, rehearsal: Rehearsal) -> bool:
    """Hubs keep meetings few, but what meets them may have to be verified for nothing."""
    if text > MOST_WITHOUT_HUBS:
        return False
    candidates = meetings * rehearsal.candidates / max(1, rehearsal.met)
    verifying = text / max(1, documents) * BYTE_VERIFIED_AGAIN
    return _joining(documents, rehearsal) < meetings * MEETING_HASHED + candidates * verifying
