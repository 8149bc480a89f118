"""Bodies of requests and answers: each declared once, for checking and for OpenAPI."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from nearly.index.answer import Id

__all__ = [
    "Accepted",
    "Batch",
    "Content",
    "Document",
    "Failed",
    "Failure",
    "Found",
    "FoundBatch",
    "Health",
    "Kept",
    "Near",
    "Question",
    "Questions",
    "Refused",
    "Removed",
    "Seen",
    "Soundness",
    "Stored",
]

Text = Annotated[str, Meta(description="The text, where the index holds texts.")]
Items = Annotated[list[str], Meta(description="The items, where the index holds sets.")]
Vector = Annotated[list[float], Meta(description="The numbers, where the index holds vectors.")]
Nearest = Annotated[int, Meta(ge=1, le=10_000, description="Only the k nearest.")]
Threshold = Annotated[
    float, Meta(gt=0, le=1, description="Least similarity; that of the index by default.")
]


# What is asked


class Content(Struct, forbid_unknown_fields=True, kw_only=True):
    """What a document is: exactly one of these, the one that the index holds."""

    text: Text | None = None
    items: Items | None = None
    vector: Vector | None = None


class Document(Content, kw_only=True):
    """A document with its id."""

    id: Id


class Batch(Struct, forbid_unknown_fields=True, kw_only=True):
    """Documents to add: all of them are stored, or none."""

    documents: list[Document]
    replace: Annotated[
        bool, Meta(description="Take the place of documents that have these ids.")
    ] = False


class Question(Content, kw_only=True):
    """What is near to this? With `k` alone, the nearest, however near."""

    k: Nearest | None = None
    threshold: Threshold | None = None


class Questions(Struct, forbid_unknown_fields=True, kw_only=True):
    """Several questions, asked of the same commit."""

    questions: list[Content]
    k: Nearest | None = None
    threshold: Threshold | None = None


# What is answered


class Near(Struct):
    """A document that is near, with its exact similarity."""

    id: Id
    similarity: float


class Found(Struct):
    """Nearest first, then in the order of adding."""

    found: list[Near]
    compared: Annotated[int, Meta(description="Contents that were compared in full.")]
    left_out: Annotated[
        int, Meta(description="Members of crowded buckets that were not looked at.")
    ]


class FoundBatch(Struct):
    """An answer for each question, in order."""

    answers: list[Found]


class Seen(Struct):
    """A new pair: the document that was added, and one that was there before."""

    id: Id
    seen: Id
    similarity: float


class Refused(Struct):
    """A document that was not stored, and why."""

    id: str
    reason: str


class Stored(Struct):
    """What is in the index now, for good."""

    added: int
    replaced: int
    seen: list[Seen]
    skipped: list[Refused]


class Accepted(Struct):
    """What will be stored soon: a power cut before then loses it."""

    accepted: int


class Kept(Struct):
    """A document of the index; its text is null where the index keeps none."""

    id: Id
    text: str | None


class Removed(Struct):
    """How many documents were removed, for good."""

    removed: int


class Soundness(Struct):
    """Whether the index is as it was written; if not, what is wrong."""

    sound: bool
    problems: list[str]


class Health(Struct):
    """Whether the service runs, or takes requests."""

    status: str


class Failure(Struct):
    """What went wrong: a word for programs, a sentence for people."""

    code: str
    message: str


class Failed(Struct):
    """The one shape of every error."""

    error: Failure
