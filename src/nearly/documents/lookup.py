"""Texts looked up by id, in the source itself: nothing is held between a run and a question."""

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from nearly.documents.readable import Readable, Skips

__all__ = ["read_texts", "texts_in"]


def read_texts(source: Readable, skipped: Skips, ids: Iterable[Any]) -> dict[Any, str]:
    """The texts of documents with these ids; the source is read up to the last of them.

    Where an id stands twice, its first document counts, as in a run. `skipped` is a list of the
    kind that the source fills; nothing is added to it.
    """
    wanted = set(ids)
    found: dict[Any, str] = {}
    for batch in source.documents(skipped.another()):
        if len(found) == len(wanted):
            break
        for name, text in texts_in(batch, wanted).items():
            found.setdefault(name, text)
    return found


def texts_in(batch: pa.RecordBatch, wanted: set[Any]) -> dict[Any, str]:
    """The texts of a batch whose ids are wanted."""
    import pyarrow.compute as pc

    ids = batch.column("id")
    try:
        known = pa.array(sorted(wanted, key=str), ids.type)
    except (pa.ArrowException, TypeError):
        return {}  # no id here is of such a type
    rows = batch.filter(pc.is_in(ids, known))
    texts: dict[Any, str] = {}
    for name, text in zip(rows.column("id").to_pylist(), rows.column("text"), strict=True):
        texts.setdefault(name, text.as_py())
    return texts
