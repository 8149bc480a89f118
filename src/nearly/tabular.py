"""A result as a table for whoever works with tables, and as HTML for a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

__all__ = ["Tabular"]

#: Rows, and characters of a cell, that a notebook shows.
ROWS = 20
CHARACTERS = 120


class Tabular:
    """What has one main table, which `to_arrow` gives."""

    def to_arrow(self) -> pa.Table:
        """The main table as an Arrow table."""
        raise NotImplementedError

    def to_pandas(self) -> pd.DataFrame:
        """The main table as a pandas data frame."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> pl.DataFrame:
        """The main table as a polars data frame."""
        import polars

        return polars.DataFrame(self.to_arrow())

    def _rows_to_show(self) -> pa.Table | None:
        return self.to_arrow()

    def _repr_html_(self) -> str:
        """Called by notebooks: one line, and the first rows."""
        rows = self._rows_to_show()
        return f"<p>{_escaped(repr(self))}</p>" + ("" if rows is None else _html(rows))


def _html(table: pa.Table) -> str:
    head = "".join(f"<th>{_escaped(name)}</th>" for name in table.column_names)
    shown = table.slice(0, ROWS).to_pylist()
    body = "".join(f"<tr>{''.join(map(_cell, row.values()))}</tr>" for row in shown)
    more = table.num_rows - len(shown)
    rest = f"<p>and {more:,} more</p>" if more else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}"


def _cell(value: Any) -> str:
    text = str(value)
    if len(text) > CHARACTERS:
        text = text[:CHARACTERS] + "…"
    return f"<td>{_escaped(text)}</td>"


def _escaped(text: str) -> str:
    from html import escape  # only notebooks have a use for it

    return escape(text)
