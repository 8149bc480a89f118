"""Results whose tables are lazy: a stand-in for frames of Spark, which results do not import."""

from dataclasses import dataclass, replace

import pyarrow as pa

import nearly

TEXTS = ["one text of some words", "one text of some words", "another that is unlike it"]


@dataclass
class Frame:
    """Knows how to become Arrow, as a frame of Spark does."""

    table: pa.Table

    def toArrow(self) -> pa.Table:  # noqa: N802 (as Spark calls it)
        return self.table


def test_lazy_pairs_become_arrow_when_that_is_asked_for() -> None:
    found = nearly.find(TEXTS)
    lazy = replace(found, pairs=Frame(found.pairs))
    assert len(lazy) == len(found) == 1
    assert lazy.to_arrow() is found.to_arrow() is found.pairs
    assert lazy.to_pandas().equals(found.pairs.to_pandas())
    assert lazy.to_polars().equals(found.to_polars())


def test_lazy_rows_that_were_kept_stay_lazy() -> None:
    clean = nearly.dedup(TEXTS)
    frame = Frame(clean.kept)
    assert frame.table.num_rows == 2
    assert replace(clean, read_kept=lambda: frame).kept is frame
