"""What a call is told besides its settings; none of it changes the answer of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from nearly.declaration import check_choices, setting
from nearly.errors import SettingsError
from nearly.frozen import dataclass
from nearly.progress import Progress

if TYPE_CHECKING:
    from nearly.measures.base import Measure
else:
    Measure = object  # its room is heavy, and nothing but its name is needed here

__all__ = [
    "Chooser",
    "Comparing",
    "Cutting",
    "Deduplicating",
    "Finding",
    "MeasureName",
    "Measuring",
    "Reading",
    "Running",
    "Tuning",
    "Unreadable",
]

MeasureName = Literal[
    "jaccard",
    "containment",
    "edit",
    "cosine",
    "angle",
    "euclidean",
    "manhattan",
    "minkowski",
    "hamming",
    "mean",
]
EngineName = Literal["local", "spark"]
Chooser = Literal["goal", "area", "nearest"]
Unreadable = Literal["keep", "drop", "fail"]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What is read of a source, and how."""

    id: str | None = setting(None, "Column that names a document; row numbers if there is none.")
    text: str | Sequence[str] | None = setting(
        None, "Column that holds the text; several columns are joined."
    )
    items: str | None = setting(
        None, "Column that holds a list of items: documents are sets, and there is no text."
    )
    vector: str | None = setting(
        None, "Column that holds vectors: lists of numbers, or bits as bytes or whole numbers."
    )
    by: str | None = setting(
        None, "Column that says whose item a row is, in a table with one item per row."
    )
    item: str | None = setting(None, "Column that holds the item; goes with by.")
    glob: str | None = setting(None, "Read only these files of a folder, for example '*.txt'.")
    lines: bool = setting(False, "Read each line of a file as one document.")
    encoding: str | None = setting(
        None, "Encoding of texts that are not UTF-8, or auto to detect it for each file."
    )
    longest: int | None = setting(
        None, "Skip documents of more bytes of text than this; 1 GiB by default."
    )
    strict: bool = setting(
        False, "Stop at the first record that cannot be read, instead of skipping it."
    )


@dataclass(frozen=True, kw_only=True)
class Running(Reading):
    """Where a run takes place, and what it may use."""

    engine: EngineName | None = setting(
        None,
        "Run on this machine, or on Apache Spark; a Spark DataFrame or a master implies spark.",
    )
    threads: int | None = setting(None, "Number of threads; all cores by default.")
    memory: int | None = setting(
        None, "Hold at most this much in memory, and spill the rest to disk."
    )
    temporary: str | Path | None = setting(None, "Folder for temporary files.")
    master: str | None = setting(
        None, "Spark's master, for example spark://host:7077; implies the engine spark."
    )
    spark_conf: Mapping[str, str] | None = setting(None, "Settings for Spark, by name.")
    checkpoint: str | Path | None = setting(
        None, "Folder where Spark keeps finished stages, so that a stopped run can continue."
    )
    progress: Progress | None = setting(
        None, "Object that is told how far the run is, by stage() and advance()."
    )

    def __post_init__(self) -> None:
        check_choices(self)


@dataclass(frozen=True, kw_only=True)
class Measuring:
    """How documents are compared."""

    measure: Measure | MeasureName | None = setting(
        None,
        "How documents are compared: jaccard, what their sets of shingles or items share (the "
        "default); containment, how much of the smaller set is in the larger; edit, by insertions "
        "and deletions of characters; and of vectors cosine, by their direction (their default); "
        "angle, the same in degrees; euclidean, manhattan or minkowski (with power), how far apart "
        "they are; or hamming, in how many bits or numbers they differ (the default for bits); or "
        "mean, that of jaccard and cosine, with embed.",
    )
    embed: str | Callable[[list[str]], Any] | None = setting(
        None,
        "Compare texts by their meaning, as vectors: wordllama, or in Python a function from texts "
        "to vectors.",
    )


@dataclass(frozen=True, kw_only=True)
class Searching(Measuring):
    """What `find` and `dedup` can be told of a corpus."""

    against: Any = setting(
        None,
        "Old documents, a source too: new ones are compared with these, and these are not compared "
        "with each other.",
    )
    unique_ids: bool = setting(
        False, "Stop if several documents have the same id, instead of comparing them all."
    )


@dataclass(frozen=True, kw_only=True)
class Finding(Searching):
    """What `find` can do besides."""

    audit: int = setting(
        0, "Number of documents to search exactly afterwards, to measure the recall."
    )
    difference: bool = setting(
        False, "Add a column to the pairs that says what differs: case, digits, words and so on."
    )
    top: int = setting(20, "Number of the most similar pairs to show.")
    around: int = setting(
        0,
        "Number of documents to search exactly for near misses, to show the pairs next to the "
        "threshold.",
    )

    def __post_init__(self) -> None:
        for name, wanted in (
            ("audit", "documents to search exactly"),
            ("top", "pairs to show, 0 for none"),
            ("around", "documents to search exactly for near misses"),
        ):
            value = getattr(self, name)
            if not (isinstance(value, int) and value >= 0):
                raise SettingsError(f"{name} is {value!r}; give the number of {wanted}")


@dataclass(frozen=True, kw_only=True)
class Deduplicating(Searching):
    """What `dedup` can do besides."""

    keep: str | None = setting(
        None,
        "Document to keep of each cluster: first (the default), last, longest, shortest, largest "
        "(the default for containment), newest:COLUMN, oldest:COLUMN, max:COLUMN or min:COLUMN.",
    )
    unreadable: Unreadable = setting(
        "keep", "Keep rows that could not be read in the clean copy, drop them, or fail."
    )

    def __post_init__(self) -> None:
        check_choices(self)


@dataclass(frozen=True, kw_only=True)
class Cutting:
    """What `cut_repeats` can do besides."""

    keep: str = setting(
        "first",
        "Document whose text stays: first, last, longest, shortest, newest:COLUMN, oldest:COLUMN, "
        "max:COLUMN or min:COLUMN.",
    )
    unreadable: Unreadable = setting(
        "keep", "Keep rows that could not be read in the clean copy, drop them, or fail."
    )

    def __post_init__(self) -> None:
        check_choices(self)


@dataclass(frozen=True, kw_only=True)
class Tuning(Measuring):
    """What `tune` is asked for."""

    chooser: Chooser = setting(
        "goal",
        "Reach the recall at the lowest cost (goal), take the smallest sum of error areas (area), "
        "or follow the rule of the papers (nearest).",
    )
    sample: int = setting(500, "Number of documents of the source to search exactly.")
    documents: int = setting(1_000_000, "Number of documents to assume when there is no source.")

    def __post_init__(self) -> None:
        check_choices(self)


@dataclass(frozen=True, kw_only=True)
class Comparing:
    """What `compare` calls its texts."""

    name_a: str = setting("a", "Name of the first text.")
    name_b: str = setting("b", "Name of the second text.")
