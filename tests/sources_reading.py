"""What the tests of sources share: reading a source to the end into plain lists."""

from nearly.sources import Skipped, Source


def documents(source: Source, also: str | None = None) -> tuple[list[dict], list[tuple[str, str]]]:
    skipped = Skipped()
    found = [row for batch in source.documents(skipped, also) for row in batch.to_pylist()]
    return found, [(row["record"], row["reason"]) for row in skipped.table().to_pylist()]


def ids_and_texts(source: Source) -> list[tuple]:
    return [(document["id"], document["text"]) for document in documents(source)[0]]


def rows(source: Source) -> list[dict]:
    return [row for batch in source.rows() for row in batch.to_pylist()]


def assert_rows_match(source: Source, column: str = "text") -> None:
    """A mask over the row numbers of documents() selects the same texts from rows()."""
    every = rows(source)
    for document in documents(source)[0]:
        assert every[document["row"]][column] == document["text"]
