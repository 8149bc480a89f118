"""The service under load: questions over HTTP, alone and beside durable adds, by `wrk`.

    python bench/service.py [--documents 1000000] [--seconds 10]

The index is that of `index.py`, made once in bench/.cache. The server and `wrk` share the cores.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import harness
import index as index_bench

import nearly

SCRIPT = """
local bodies, i, thread = {}, 0, 0
for line in io.lines("%(bodies)s") do bodies[#bodies + 1] = line end
function init(args)
  math.randomseed(os.time())
  i, thread = math.random(#bodies), math.random(1e9)
end
function request()
  i = i + 1
  local path = "%(path)s"
  if "%(method)s" == "PUT" then path = path .. thread .. "-" .. i end
  local headers = {["Content-Type"] = "application/json"}
  return wrk.format("%(method)s", path, headers, bodies[i %% #bodies + 1])
end
function done(summary, latency)
  local errors = summary.errors
  print("JSON" .. string.format(
    '{"requests": %%d, "per_second": %%f, "p50_ms": %%f, ' ..
    '"p99_ms": %%f, "most_ms": %%f, "errors": %%d}',
    summary.requests, summary.requests / summary.duration * 1e6, latency:percentile(50) / 1e3,
    latency:percentile(99) / 1e3, latency.max / 1e3,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
"""


def load(
    address: str, folder: Path, name: str, method: str, path: str, bodies: list[str], *args: str
) -> subprocess.Popen[str]:
    """`wrk`, begun."""
    (folder / f"{name}.jsonl").write_text("\n".join(bodies))
    told = {"bodies": folder / f"{name}.jsonl", "method": method, "path": path}
    (folder / f"{name}.lua").write_text(SCRIPT % told)
    command = ["wrk", "-t1", *args, "-s", str(folder / f"{name}.lua"), address]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def measured(process: subprocess.Popen[str]) -> dict[str, Any]:
    said = process.communicate()[0]
    found: dict[str, Any] = json.loads(said.partition("JSON")[2])
    return found


@contextmanager
def server(path: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "nearly", "serve", path, "--api", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        yield process.stdout.readline().decode().strip()
        process.terminate()


def made(data: Path, documents: int) -> tuple[Path, list[str]]:
    """The index, and its texts."""
    table = index_bench.corpus(data, documents)
    path = harness.CACHE / f"index-{documents}"
    if not path.exists():
        options = {"id": "id", "text": "text", "threshold": index_bench.THRESHOLD}
        nearly.Index.create(path, table, **options).close()
    return path, table.column("text").to_pylist()


def check_all_there(more: int, rows: dict[str, Any]) -> None:
    """All adds that were answered are there; when `wrk` stops, one may be under way per client."""
    answered = sum(row["requests"] for name, row in rows.items() if name.startswith("adds"))
    assert answered <= more <= answered + 1 + 64 + 2, (answered, more)


def main() -> None:
    parser = harness.parser(__doc__)
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--prepare", action="store_true", help="only make the index")
    given = parser.parse_args()
    path, texts = made(given.data, given.documents)
    if given.prepare:
        return
    asked = [json.dumps({"text": text}) for text in index_bench.questions(texts, 5_000)]
    new = [
        json.dumps({"text": f"a new text with the number {i} and its square {i * i}"})
        for i in range(5_000)
    ]
    duration = f"-d{given.seconds}s"
    rows: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(dir=harness.CACHE) as place:
        folder = Path(place)
        shutil.copytree(path, folder / "index")
        os.sync()  # or else the first commits wait until the copy is on the disk
        with server(folder / "index") as address:
            query = ("POST", "/v1/query", asked)
            put = ("PUT", "/v1/documents/", new)
            measured(load(address, folder, "warm", *query, "-c4", "-d2s"))
            rows["questions"] = measured(load(address, folder, "q", *query, "-c16", duration))
            rows["adds of one client"] = measured(load(address, folder, "p", *put, "-c1", "-d5s"))
            rows["adds of 64 clients"] = measured(load(address, folder, "m", *put, "-c64", "-d5s"))
            adding = load(address, folder, "a", *put, "-c2", duration)
            rows["questions beside adds"] = measured(
                load(address, folder, "b", *query, "-c16", duration)
            )
            rows["adds beside questions"] = measured(adding)
        with nearly.Index.open(folder / "index", read_only=True) as index:
            check_all_there(len(index) - given.documents, rows)
    columns = ["per_second", "p50_ms", "p99_ms", "most_ms", "errors"]
    harness.show(["load", *columns], [[n, *(row[c] for c in columns)] for n, row in rows.items()])
    harness.save("service", {"documents": given.documents, "loads": rows})


if __name__ == "__main__":
    main()
