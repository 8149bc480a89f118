"""The directions of the design: who may import whom, and what importing nearly costs."""

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "nearly"

#: From the ground up; a room may import its own floor's package and all floors below.
FLOORS = [
    {"control_group", "errors", "frozen", "markup", "wording"},
    {"declaration", "progress", "tabular"},
    {
        "arrays",
        "limits",
        "mapping",
        "parquet",
        "remnant",
        "settings",
        "schemas",
        "signature",
        "_kernels",
    },
    {"text", "tuning", "textbook"},
    {"measures"},
    {"documents"},
    {"stages"},
    {"engines", "sources", "sinks", "plans"},
    {"bloom", "grouping", "recut", "result_folder", "view"},
    {"report"},
    {"results", "streams"},
    {"comparison", "evaluation", "explanation", "passage"},
    {"drawing"},
    {"pipeline", "advice"},
    {"arguments"},
    {"origin", "run"},
    {"index"},
    {"job", "saved"},
    {"call"},
    {"api", "prepared"},
    {"web"},
    {"service"},
    {"cli", "__main__"},
]
#: Each lives beside these and must not know them.
STRANGERS = {
    "engines": {"sources", "sinks", "plans"},
    "sources": {"engines", "sinks", "plans", "stages"},
    "sinks": {"engines", "sources", "plans", "stages"},
}
HEAVY = {"numpy", "pyarrow", "duckdb", "pandas", "polars", "pyspark", "rich"}


def rooms_and_imports() -> list[tuple[str, str]]:
    edges = set()
    for file in PACKAGE.rglob("*.py"):
        room = file.relative_to(PACKAGE).parts[0].removesuffix(".py")
        for node in ast.walk(ast.parse(file.read_text())):
            edges |= {(room, other) for other in imported(node) if other != room}
    return sorted(edges - {("__init__", other) for _, other in edges})


def imported(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom) and node.module == "nearly":
        names = [f"nearly.{alias.name}" for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        names = [node.module or ""]
    else:
        return set()
    return {name.split(".")[1] for name in names if name.startswith("nearly.")}


def modules_and_imports() -> dict[str, set[str]]:
    """Every module of the package, and those that it imports, late imports included."""
    names = {name_of(file): file for file in PACKAGE.rglob("*.py")}
    graph: dict[str, set[str]] = {}
    for name, file in names.items():
        found: set[str] = set()
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                inner = {f"{node.module}.{alias.name}" for alias in node.names}
                found |= inner & names.keys() or {node.module}
        graph[name] = found & names.keys() - {name, "nearly"}  # the public face loads late
    return graph


def name_of(file: Path) -> str:
    parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def test_no_module_imports_itself_in_a_circle() -> None:
    sorter = TopologicalSorter(modules_and_imports())
    assert len(list(sorter.static_order())) > 100


def floor_of(room: str) -> int:
    return next(i for i, rooms in enumerate(FLOORS) if room in rooms)


def test_every_room_has_a_floor() -> None:
    rooms = {p.name.removesuffix(".py") for p in PACKAGE.iterdir() if not p.name.startswith("__py")}
    rooms = {room for room in rooms if "." not in room}
    assert rooms - {"__init__"} <= set.union(*FLOORS)


@pytest.mark.parametrize(("room", "other"), rooms_and_imports())
def test_imports_point_down(room: str, other: str) -> None:
    assert floor_of(other) <= floor_of(room)
    assert other not in STRANGERS.get(room, set())


@pytest.mark.parametrize(
    "module", ["nearly", "nearly.cli", "nearly.tuning.banding", "nearly.settings"]
)
def test_nothing_heavy_is_imported_early(module: str) -> None:
    code = f"import sys, {module}; print(*{{m.split('.')[0] for m in sys.modules}})"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert not HEAVY & set(loaded.stdout.split())


@pytest.mark.parametrize("suffix", [".txt", ".parquet"])
def test_a_small_run_imports_what_it_needs_only(tmp_path: Path, suffix: str) -> None:
    texts = ["one text of a few words", "one text of some words"]
    if suffix == ".parquet":
        pq.write_table(pa.table({"id": ["a", "b"], "text": texts}), tmp_path / "texts.parquet")
    else:
        for i, text in enumerate(texts):
            (tmp_path / f"{i}.txt").write_text(text)
    code = (
        "import sys, nearly; found = nearly.find(sys.argv[1]); found.top, found.clusters; "
        "print(*sys.modules)"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code, tmp_path], capture_output=True, text=True, check=True
    )
    modules = set(loaded.stdout.split())
    assert "pyarrow" in modules
    heavy = {"duckdb", "pandas", "polars", "pyarrow.compute", "numpy.ma", "logging", "hashlib"}
    assert not heavy & modules


def test_only_the_engine_imports_spark() -> None:
    users = {file for file in PACKAGE.rglob("*.py") if packages_of(file) & {"pyspark", "py4j"}}
    assert users
    assert all(PACKAGE / "engines" / "spark" in file.parents for file in users)


def packages_of(file: Path) -> set[str]:
    nodes = list(ast.walk(ast.parse(file.read_text())))
    plain = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    named = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    return {name.partition(".")[0] for name in plain + named}
