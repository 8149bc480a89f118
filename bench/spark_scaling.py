"""nearly on Spark as the corpus doubles, beside the engine of one machine on the same two cores.

250,000 to 2 million generated documents, each run in a fresh process, sizes in turn. Told are
seconds (the session's start and a small run aside), and how many times the local engine's; of a
standalone cluster, where arrays travel through Spark, bytes shuffled by stage and what the driver
holds; and of a skewed corpus the slowest task against the median one.

    python bench/spark_scaling.py [--repeat 3] [--largest 2000000] [--parts times driver skew]
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import harness
import skewed
from session import CORES, PARTITIONS
from stages import shuffled_by_name, worst_skew

sys.path.append(str(harness.BENCH.parent / "tests"))
from clusters import StandaloneCluster

SMALLEST = 250_000
#: Java compiles what runs often: a run of some seconds comes before the clock.
WARM_UP = 250_000
#: Where the driver's memory is compared: it must not grow with the corpus.
DRIVER_SIZES = (250_000, 1_000_000)
SKEWED = 50_000


def on_spark(path: Path, *options: str) -> dict[str, Any]:
    """What `spark_once.py` measured in a fresh process."""
    warm_up, _ = harness.generated(WARM_UP)
    command = [sys.executable, harness.BENCH / "spark_once.py", path, warm_up, *options]
    said = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if said.returncode:
        sys.exit(f"The run over {path.name} failed with code {said.returncode}; see above.")
    measured: dict[str, Any] = json.loads(said.stdout)
    return measured


def times(repeat: int, largest: int) -> list[dict[str, Any]]:
    """Both engines at every size: seconds, their ratio, and the growth."""
    sizes = [SMALLEST]
    while sizes[-1] * 2 <= largest:
        sizes.append(sizes[-1] * 2)
    corpora = {size: harness.generated(size) for size in sizes}
    runs: dict[int, list[tuple[Any, Any]]] = {size: [] for size in sizes}
    for _ in range(repeat):
        for size, (path, _) in corpora.items():
            runs[size].append((on_spark(path), harness.find_in_child(path)))
    measured = [compared(size, corpora[size][1], runs[size]) for size in sizes]
    for before, now in pairwise(measured):
        now["times_half"] = now["spark_seconds"] / before["spark_seconds"]
    show_times(measured)
    return measured


def compared(size: int, text_bytes: int, runs: list[tuple[Any, Any]]) -> dict[str, Any]:
    """The two engines on one corpus."""
    spark, _ = runs[0]
    seconds = [harness.median(run[side]["seconds"] for run in runs) for side in (0, 1)]
    return {
        "documents": size,
        "text_bytes": text_bytes,
        "runs": [{"spark": a["seconds"], "local": b["seconds"]} for a, b in runs],
        "spark_seconds": seconds[0],
        "local_seconds": seconds[1],
        "times_local": seconds[0] / seconds[1],
        "python_peak_bytes": max(run[0]["python_peak_bytes"] for run in runs),
        "stages": spark["stages"],
        "statistics": spark["statistics"],
    }


def by_band(shuffled: dict[str, int], size: int, statistics: dict[str, Any]) -> dict[str, float]:
    """Bytes a document and band, by stage: the stages that move texts can be told apart."""
    return {name: total / size / statistics["bands"] for name, total in shuffled.items()}


def show_times(measured: list[dict[str, Any]]) -> None:
    columns = ("documents", "spark_seconds", "local_seconds", "times_local", "times_half")
    columns = (*columns, "python_peak_bytes")
    harness.show(columns, [[m.get(column) for column in columns] for m in measured])


def driver() -> list[dict[str, Any]]:
    """What the driver alone holds, and what is shuffled, on a cluster whose executors are
    processes of their own."""
    measured = []
    for size in DRIVER_SIZES:
        path, text_bytes = harness.generated(size)
        with (
            tempfile.TemporaryDirectory() as folder,
            StandaloneCluster(Path(folder), workers=CORES) as cluster,
        ):
            run = on_spark(path, "--master", cluster.url)
        held = {name: run[name] for name in ("seconds", "python_peak_bytes", "heap_peak_bytes")}
        shuffled = shuffled_by_name(run["stages"])
        told = {"shuffled_by_document": sum(shuffled.values()) / size}
        measured.append({"documents": size, "text_bytes": text_bytes, **held, **told})
    harness.show(list(measured[0]), [list(m.values()) for m in measured])
    bands = by_band(shuffled, size, run["statistics"])
    print("bytes shuffled by document and band, at the largest size:")
    harness.show(["stage", "bytes"], bands.items())
    measured[-1]["shuffled_by_document_and_band"] = bands
    return measured


def skew() -> list[dict[str, Any]]:
    """The stage with the worst slowest task, of corpora with a twentieth in one bucket."""
    measured = []
    for kind in skewed.KINDS:
        path = harness.CACHE / f"skewed-{kind}-{SKEWED}.parquet"
        if not path.exists():
            skewed.write(path, skewed.KINDS[kind], SKEWED)
        for verb in ("find", "dedup"):
            run = on_spark(path, "--verb", verb, "--partitions", str(PARTITIONS))
            worst = worst_skew(run["stages"]) or {"name": None, "ratio": None}
            told = {"kind": kind, "verb": verb, "seconds": run["seconds"], "worst": worst}
            measured.append({**told, "stages": run["stages"]})
    harness.show(
        ["corpus", "verb", "seconds", "slowest / median", "stage"],
        [
            [m["kind"], m["verb"], m["seconds"], m["worst"]["ratio"], m["worst"]["name"]]
            for m in measured
        ],
    )
    return measured


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--largest", type=int, default=2_000_000)
    parser.add_argument("--parts", nargs="+", default=["times", "driver", "skew"])
    asked = parser.parse_args()
    parts: dict[str, Callable[[], Any]] = {
        "times": lambda: times(asked.repeat, asked.largest),
        "driver": driver,
        "skew": skew,
    }
    harness.CACHE.mkdir(exist_ok=True)
    harness.save("spark_scaling", {name: parts[name]() for name in asked.parts})


if __name__ == "__main__":
    main()
