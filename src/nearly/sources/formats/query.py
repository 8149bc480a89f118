"""SQL queries, which may read whatever they like and change nothing.

Whether a query only reads is judged by the tree that DuckDB's own parser makes of it, not by its
text: since version 2.0, `WITH x AS (COPY … TO 'file') SELECT …` is a SELECT. What is not known to
read is refused.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import duckdb
import pyarrow as pa

from nearly.errors import SourceError
from nearly.sources import part
from nearly.sources.formats.arrow import ArrowFilePart, spool
from nearly.sources.formats.database import Database
from nearly.sources.formats.duck import first_lines

__all__ = ["run_query"]

_READING_NODES: Final = {"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"}

#: Others set options, write logs, run SQL that is hidden in a string, or follow raw pointers.
_READING_FUNCTIONS: Final = {
    "duckdb_functions", "duckdb_settings", "duckdb_tables", "duckdb_types",
    "generate_series", "glob", "histogram", "histogram_values", "json_each", "json_tree",
    "parquet_file_metadata", "parquet_kv_metadata", "parquet_metadata", "parquet_scan",
    "parquet_schema", "range", "read_blob", "read_csv", "read_csv_auto", "read_duckdb",
    "read_json", "read_json_auto", "read_json_objects", "read_json_objects_auto", "read_ndjson",
    "read_ndjson_auto", "read_ndjson_objects", "read_parquet", "read_text", "repeat",
    "repeat_row", "sniff_csv", "summary", "unnest",
}  # fmt: skip


def run_query(database: Database, query: str, temporary: Path) -> ArrowFilePart:
    """The result of a query, written down once: asked again, it might come in another order."""
    cursor = database.reading_connection.cursor()
    try:
        _check_only_reads(cursor, query)
        with cursor.sql(query).to_arrow_reader(part.BATCH_ROWS) as reader:
            return spool(reader, "the query", temporary)
    except (duckdb.Error, pa.ArrowException, OSError) as error:
        raise SourceError(f"the query failed. {first_lines(error)}") from error
    finally:
        cursor.close()


def _check_only_reads(cursor: duckdb.DuckDBPyConnection, query: str) -> None:
    try:
        statements = cursor.extract_statements(query)
    except duckdb.Error as error:
        raise SourceError(f"the query is not valid SQL. {first_lines(error)}") from error
    kinds = [statement.type for statement in statements]
    if kinds != [duckdb.StatementType.SELECT]:
        given = ", ".join(kind.name for kind in kinds)
        raise SourceError(f"the query is {given}; give exactly one SELECT, which changes nothing.")
    for member in _members(_tree(cursor, query)):
        kind = str(member.get("type", ""))
        if kind.endswith("_NODE") and kind not in _READING_NODES:
            found = kind.removesuffix("_NODE").removesuffix("_QUERY")
            raise SourceError(
                f"the query has {found} inside; give one SELECT, which changes nothing."
            )
        if kind == "TABLE_FUNCTION":
            _check_function(str(member["function"]["function_name"]))


def _check_function(name: str) -> None:
    if name.lower() not in _READING_FUNCTIONS:
        raise SourceError(
            f"the query calls {name}(), which is not known to only read. "
            "Read files with read_csv(), read_json(), read_parquet(), or FROM 'file'."
        )


def _tree(cursor: duckdb.DuckDBPyConnection, query: str) -> Any:
    """The query as DuckDB's parser sees it."""
    [(spelled,)] = cursor.execute("SELECT json_serialize_sql(?)", [query]).fetchall()
    try:
        tree = json.loads(spelled)
    except RecursionError:
        raise SourceError("the query is nested too deeply. Give a simpler one.") from None
    if tree["error"] or len(tree["statements"]) != 1:
        reason = tree.get("error_message", "it is not one statement")
        raise SourceError(f"the query cannot be checked: {reason}. Give exactly one SELECT.")
    return tree


def _members(tree: Any) -> Iterator[dict[str, Any]]:
    """Every object of a JSON document, at any depth."""
    waiting = [tree]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            yield value
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
