"""CSV, TSV and JSON: each row made into a line of text by DuckDB.

Numbers are the shortest that read back exactly; JSON has no NaN or infinity, so there
they are null.
"""

import io
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO, Self

import pyarrow as pa

from nearly.arrays import spans
from nearly.limits import database_threads
from nearly.sinks.row_group import WriteGroup

__all__ = ["delimited", "json_array", "json_lines"]


@contextmanager
def delimited(delimiter: str, file: BinaryIO, schema: pa.Schema) -> Iterator[WriteGroup]:
    """A header, then one row a line."""
    import csv

    header = io.StringIO()
    csv.writer(header, delimiter=delimiter, lineterminator="\n").writerow(schema.names)
    file.write(header.getvalue().encode())
    fields = [_csv_field(f"c{i}", f.type, delimiter) for i, f in enumerate(schema)]
    with _Lines(f" || {_quoted(delimiter)} || ".join(fields) + " || chr(10)") as lines:
        yield lambda group: file.writelines(lines(group))


@contextmanager
def json_lines(file: BinaryIO, schema: pa.Schema) -> Iterator[WriteGroup]:
    """One object a line."""
    with _Lines(_json_object(schema) + " || chr(10)") as lines:
        yield lambda group: file.writelines(lines(group))


@contextmanager
def json_array(file: BinaryIO, schema: pa.Schema) -> Iterator[WriteGroup]:
    """One array of all the objects."""
    first_comma = 1

    def write_group(group: pa.Table) -> None:
        nonlocal first_comma
        for data in lines(group):
            file.write(data[first_comma:])
            first_comma = 0

    file.write(b"[")
    with _Lines("',' || chr(10) || " + _json_object(schema)) as lines:
        yield write_group
    file.write(b"\n]\n")


class _Lines:
    """Rows → bytes, by one SQL expression over the columns c0, c1, …"""

    def __init__(self, expression: str) -> None:
        import duckdb  # where other formats are written, nobody waits for it

        self._expression = expression
        self._connection = duckdb.connect(config=database_threads())
        # Escaping can take a group of texts beyond the 2 GB of small buffers.
        self._connection.execute("SET arrow_large_buffer_size = true")
        # Times are in UTC wherever this runs; without the ICU extension they always are.
        self._connection.execute("SET autoinstall_known_extensions = false")
        with suppress(duckdb.Error):
            self._connection.execute("SET TimeZone = 'UTC'")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def __call__(self, group: pa.Table) -> Iterator[memoryview]:
        numbered = group.rename_columns([f"c{i}" for i in range(group.num_columns)])
        lines = self._connection.from_arrow(numbered).project(self._expression).to_arrow_table()
        for chunk in lines.column(0).chunks:
            yield _bytes_of(chunk)


def _bytes_of(strings: pa.LargeStringArray) -> memoryview:
    """The strings one after another, as they lie in memory."""
    offsets, data = spans(strings)
    return data[offsets[0] : offsets[-1]].data


def _json_object(schema: pa.Schema) -> str:
    members = []
    for i, field in enumerate(schema):
        floating = pa.types.is_floating(field.type)
        value = f"if(isfinite(c{i}), c{i}, NULL)" if floating else f"c{i}"
        members.append(f"{_quoted(field.name)}, {value}")
    return f"CAST(json_object({', '.join(members)}) AS VARCHAR)"


def _csv_field(column: str, kind: pa.DataType, delimiter: str) -> str:
    """A value as CSV: nothing for null, quotes only where a reader needs them."""
    nested = pa.types.is_nested(kind)
    text = f"CAST({f'to_json({column})' if nested else column} AS VARCHAR)"
    if pa.types.is_primitive(kind):
        return f"coalesce({text}, '')"
    quoted = f"""'"' || replace({text}, '"', '""') || '"'"""
    # An empty string has quotes, or it would read back as null.
    needed = [f"{text} = ''"]
    needed += [f"contains({text}, chr({ord(special)}))" for special in ('"', "\n", "\r", delimiter)]
    return (
        f"CASE WHEN {column} IS NULL THEN '' WHEN {' OR '.join(needed)} THEN {quoted} "
        f"ELSE {text} END"
    )


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
