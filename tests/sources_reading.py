"""What the tests of sources share: reading a source to the end into plain lists."""

from collections.abc import Sequence

import numpy as np

from nearly.sources import Skipped, Source


def documents(source: Source, also: str | None = None) -> tuple[list[dict], list[tuple[str, str]]]:
    skipped = Skipped()
    found = [row for batch in source.documents(skipped, also) for row in batch.to_pylist()]
    return found, [(row["record"], row["reason"]) for row in skipped.table().to_pylist()]


def ids_and_texts(source: Source) -> list[tuple]:
    return [(document["id"], document["text"]) for document in documents(source)[0]]


def rows(source: Source, removed: Sequence[int] = ()) -> list[dict]:
    kept = source.kept(np.array(removed, np.int64))
    return [row for batch in kept() for row in batch.to_pylist()]


def assert_rows_match(source: Source, column: str = "text") -> None:
    """Without all other rows, what is kept are the documents."""
    found = {document["row"]: document["text"] for document in documents(source)[0]}
    others = [row for row in range(max(found) + 1_000) if row not in found]
    assert [row[column] for row in rows(source, others)] == list(found.values())
