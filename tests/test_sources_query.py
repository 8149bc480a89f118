"""SQL queries as sources: whatever they read, and nothing that they could change."""

import hashlib
from pathlib import Path

import duckdb
import pytest
from sources_reading import ids_and_texts

from nearly.cli.program import run
from nearly.errors import SourceError
from nearly.sources import open_source

#: Each would write, set or hide something, were it run.
HOSTILE = [
    "WITH x AS (COPY (SELECT 'gone') TO 'precious.txt' (HEADER false)) SELECT 'a' AS text FROM x",
    "WITH x AS MATERIALIZED (COPY (SELECT 1) TO 'precious.txt') SELECT 'a' AS text FROM x",
    "WITH x AS (COPY (SELECT 1 AS text) TO 'new.parquet') SELECT 'a' AS text",
    "WITH y AS (WITH x AS (COPY (SELECT 1) TO 'new.csv') FROM x) SELECT 'a' AS text FROM y",
    "SELECT (WITH x AS (COPY (SELECT 1) TO 'new.csv') SELECT 'a' FROM x) AS text",
    "SELECT 'a' AS text UNION ALL (WITH x AS (COPY (SELECT 1) TO 'new.csv') SELECT 'b' FROM x)",
    "FROM (WITH x AS (COPY (SELECT 1) TO 'new.csv') SELECT 'a' AS text FROM x)",
    "SELECT text FROM 'rows.csv' WHERE EXISTS (WITH x AS (COPY (SELECT 1) TO 'new.csv') FROM x)",
    "WITH x AS (INSERT INTO t VALUES ('a') RETURNING text) SELECT text FROM x",
    "WITH x AS (DELETE FROM t RETURNING text) SELECT text FROM x",
    "WITH x AS (UPDATE t SET text = 'gone' RETURNING text) SELECT text FROM x",
    "WITH x AS (MERGE INTO t USING t AS s ON true WHEN MATCHED THEN DELETE) SELECT 'a' AS text",
    "WITH x AS (COPY t FROM 'rows.csv') SELECT 'a' AS text FROM x",
    "WITH t AS (SELECT 1) INSERT INTO x SELECT * FROM t",
    "WITH t AS (SELECT 1) DELETE FROM x",
    "SELECT 'a' AS text; COPY (SELECT 1) TO 'new.csv'",
    "SELECT 'a' AS text; ATTACH 'new.db'",
    "SELECT 'a' AS text; SET lock_configuration = false",
    "SELECT 'a' AS text; EXPORT DATABASE 'new'",
    "SELECT 'a' AS text; INSTALL httpfs",
    "SELECT 'a' AS text INTO x",
    "FROM enable_logging(storage := 'file', storage_path := 'logs')",
    "SELECT 'a' AS text FROM enable_logging(storage := 'file', storage_path := 'logs')",
    "SELECT 'a' AS text, (SELECT count(*) FROM enable_logging(storage := 'file'))",
    "SELECT 'a' AS text FROM enable_profiling(save_location := 'new.json')",
    "FROM checkpoint()",
    "FROM query('WITH x AS (COPY (SELECT 1) TO ''new.csv'') SELECT ''a'' AS text FROM x')",
    "FROM json_execute_serialized_sql(json_serialize_sql('SELECT ''a'' AS text'))",
    "FROM \"system\".main.enable_logging(storage := 'file', storage_path := 'logs')",
    "FROM EnAbLe_LoGgInG(storage := 'file', storage_path := 'logs')",
    "FROM arrow_scan(4096, 4096, 4096)",
    "FROM pandas_scan(4096)",
    "FROM seq_scan('rows.csv')",
    "FROM create_external_resource('x')",
    "FROM load_aws_credentials()",
    "SELECT 'a' AS text FROM sqlite_query('people.db', 'DELETE FROM t')",
    f"SELECT {'(' * 5000}1{')' * 5000} AS text",
]


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with what could be lost."""
    folder = tmp_path / "desk"
    folder.mkdir()
    monkeypatch.chdir(folder)
    Path("precious.txt").write_text("the only copy")
    Path("rows.csv").write_text("id,text\n1,a\n2,b\n")
    Path("gold.csv").write_text("id_a,id_b\n1,2\n")
    with duckdb.connect("people.duckdb") as database:
        database.execute("CREATE TABLE t AS SELECT 1 AS id, 'a' AS text")
    return folder


def state(folder: Path) -> dict[str, str]:
    files = (file for file in folder.rglob("*") if file.is_file())
    return {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


@pytest.mark.parametrize("query", HOSTILE, ids=range(len(HOSTILE)))
def test_a_query_that_could_change_something_is_refused(desk, tmp_path, query):
    before = state(desk)
    with pytest.raises(SourceError, match=r"SELECT|only read|not valid SQL|nested"):
        open_source(query, temporary=tmp_path)
    assert state(desk) == before


@pytest.mark.parametrize("query", HOSTILE[:4], ids=range(4))
def test_evaluate_refuses_it_too(desk, query, capsys):
    before = state(desk)
    assert run(["evaluate", query, "--gold", "gold.csv"]) == 2
    assert run(["evaluate", "gold.csv", "--gold", query]) == 2
    assert run(["evaluate", "gold.csv", "--gold", "gold.csv", "--documents", query]) == 2
    assert state(desk) == before
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM 'rows.csv'",
        "FROM read_csv('rows.csv')",
        "FROM read_csv(['rows.csv'])",
        "FROM 'people.duckdb' UNION ALL SELECT 2, 'b'",
        "SELECT a.id, b.text FROM 'rows.csv' a JOIN 'rows.csv' b USING (id) ORDER BY id",
        "WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < 2) "
        "SELECT id, chr(96 + id) AS text FROM n",
        "SELECT id, chr((96 + id)::INT) AS text FROM range(1, 3) AS r(id)",
        "SELECT unnest([1, 2]) AS id, unnest(['a', 'b']) AS text",
        "SELECT id, text FROM (VALUES (1, 'a'), (2, 'b')) AS v(id, text)",
        "WITH copy AS (FROM 'rows.csv') SELECT * FROM copy",
        "SELECT id, text FROM 'rows.csv' WHERE text <> 'COPY (SELECT 1) TO ''new.csv'''",
    ],
)
def test_a_query_that_only_reads_is_run(desk, tmp_path, query):
    before = state(desk)
    assert ids_and_texts(open_source(query, temporary=tmp_path)) == [(1, "a"), (2, "b")]
    assert state(desk) == before


def test_a_database_with_changes_that_wait_is_left_as_it_is(desk, tmp_path):
    Path("people.duckdb").rename("old.duckdb")
    writer = duckdb.connect("old.duckdb")
    writer.execute("SET checkpoint_threshold = '1TB'; INSERT INTO t VALUES (2, 'b')")
    copies = {name: Path(name).read_bytes() for name in ("old.duckdb", "old.duckdb.wal")}
    writer.close()
    for name, data in copies.items():
        Path(name).write_bytes(data)
    before = state(desk)
    found = ids_and_texts(open_source("FROM 'old.duckdb'", temporary=tmp_path))
    assert found == [(1, "a"), (2, "b")]
    assert state(desk) == before
