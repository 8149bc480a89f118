"""How fast pages answer on a saved result of a million documents and a million pairs.

    python bench/web.py --make        # the corpus and the result, in bench/.cache; once
    python bench/web.py [--repeat 30] # the server, page by page; memory before and after

Every page is asked for as a browser does, over HTTP on loopback. The threshold is dragged in
Chromium, where there is one: the time is that of the event and of what it draws.
"""

import argparse
import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import harness
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import nearly

DOCUMENTS = 1_000_000
WORDS = 40
VOCABULARY = 50_000
#: Documents of one large family, all like each other.
CROWD = 300
PLACE = harness.CACHE / "web"
THRESHOLD = 0.5
#: Of another result, to compare with.
HIGHER = 0.7
TOKEN = "of-the-benchmark-only"  # noqa: S105
PAGES = {
    "overview": "/r/found/overview",
    "overview as JSON": "/r/found/overview?format=json",
    "pairs": "/r/found/pairs",
    "pairs, the last page": "/r/found/pairs?page=39000",
    "pairs from .9": "/r/found/pairs?low=0.9&near=1",
    "pairs by name": "/r/found/pairs?name=d77777",
    "pairs by name, many": "/r/found/pairs?name=7",
    "pair": "/r/found/pair/500000",
    "pair in a filtered list": "/r/found/pair/500000?low=0.6&name=7",
    "clusters": "/r/found/clusters",
    "cluster of 3": "/r/found/cluster/1000",
    "cluster of 300": "/r/found/cluster/0",
    "tuner": "/r/found/tuner",
    "tuner as JSON, moved": "/r/found/tuner?bands=30&rows=4&format=json",
    "clean": "/r/found/clean",
    "label": "/r/found/label",
    "compare with another of a million": "/r/found/compare?with=other",
    "learn": "/learn",
    "for programs": "/api",
    "start": "/",
}
#: Reads every text the first time; which documents have the word is then kept for turning pages.
SCAN = {"pairs by a word of the text": "/r/found/pairs?text=w777x"}


def texts() -> pa.Array:
    """Families of three, and a crowd before them: a member differs in a few words of forty."""
    rng = np.random.default_rng(1)
    families = (DOCUMENTS - CROWD) // 3
    family = np.concatenate([np.zeros(CROWD, int), np.repeat(np.arange(families) + 1, 3)])
    base = rng.integers(0, VOCABULARY, (families + 1, WORDS), dtype=np.int32)
    words = base[family]
    changed = rng.integers(0, 4, len(family))
    for step in range(3):
        rows = np.flatnonzero(changed > step)
        places = rng.integers(0, WORDS, len(rows))
        words[rows, places] = rng.integers(0, VOCABULARY, len(rows), dtype=np.int32)
    spelt = pa.array([f"w{number}x" for number in range(VOCABULARY)])
    ends = pa.array(np.arange(len(family) + 1, dtype=np.int32) * WORDS)
    lists = pa.ListArray.from_arrays(ends, spelt.take(pa.array(words.reshape(-1))))
    return pc.binary_join(lists, " ")


def make() -> None:
    """The corpus, and what is found in it."""
    shutil.rmtree(PLACE, ignore_errors=True)
    PLACE.mkdir(parents=True)
    contents = texts()
    ids = pa.array([f"d{number}" for number in range(len(contents))])
    pq.write_table(pa.table({"id": ids, "text": contents}), PLACE / "docs.parquet")
    options = ["-t", str(THRESHOLD), "--unit", "word", "--k", "2", "--all-pairs", "--quiet"]
    command = [harness.nearly_command(), "find", str(PLACE / "docs.parquet"), *options]
    subprocess.run([*command, "--save", str(PLACE / "found")], check=True)
    found = nearly.open(PLACE / "found")
    assert isinstance(found, nearly.Found)
    found.at(HIGHER).save(PLACE / "other")


@contextmanager
def server() -> Iterator[tuple[subprocess.Popen[str], int, float]]:
    """A running server, its port, and the seconds until it answered."""
    command = [harness.nearly_command(), "serve", "found", "other", "--port", "0", "--quiet"]
    start = time.perf_counter()
    with subprocess.Popen(
        command,
        cwd=PLACE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"NEARLY_TOKEN": TOKEN},
    ) as running:
        assert running.stdout is not None
        address = urlsplit(running.stdout.readline())
        assert address.port is not None
        try:
            yield running, address.port, time.perf_counter() - start
        finally:
            running.send_signal(signal.SIGTERM)


def ask(connection: http.client.HTTPConnection, path: str) -> tuple[float, int]:
    """Milliseconds of one answer, and its bytes."""
    start = time.perf_counter()
    connection.request("GET", path, headers={"Authorization": f"Bearer {TOKEN}"})
    answer = connection.getresponse()
    size = len(answer.read())
    assert answer.status == 200, (path, answer.status)
    return (time.perf_counter() - start) * 1_000, size


def memory(process: int) -> dict[str, int]:
    """Bytes that are the process's own, and those of files that it maps."""
    status = Path(f"/proc/{process}/status").read_text()
    found = re.findall(r"^(RssAnon|RssFile):\s+(\d+) kB", status, re.MULTILINE)
    return {name: int(number) * 1024 for name, number in found}


def dragged(port: int) -> dict[str, float] | None:
    """Milliseconds of an event of the slider, until its frame is drawn."""
    chromium = shutil.which("chromium")
    if chromium is None:
        return None
    from playwright.sync_api import sync_playwright

    script = """async () => {
        const slider = document.querySelector('#cut'), spent = [];
        for (let step = 0; step <= 400; step += 2) {
            await new Promise(requestAnimationFrame);
            const start = performance.now();
            slider.value = step;
            slider.dispatchEvent(new Event('input'));
            document.body.getBoundingClientRect();
            spent.push(performance.now() - start);
        }
        return spent;
    }"""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{port}/r/found/overview?token={TOKEN}")
        spent = page.evaluate(script)
        browser.close()
    return {"median": harness.median(spent), "most": max(spent), "events": len(spent)}


def measure(repeat: int) -> dict[str, Any]:
    for name in ("found.view", "other.view"):
        shutil.rmtree(PLACE / name, ignore_errors=True)
    with server() as (_, _, seconds):
        first = seconds
    with server() as (running, port, seconds):
        connection = http.client.HTTPConnection("127.0.0.1", port)
        measured: dict[str, Any] = {}
        pages = PAGES | SCAN
        firsts = {name: ask(connection, path)[0] for name, path in pages.items()}
        before = memory(running.pid)
        for name, path in pages.items():
            taken = [ask(connection, path) for _ in range(3 if name in SCAN else repeat)]
            spent = [milliseconds for milliseconds, _ in taken]
            measured[name] = {
                "first_ms": firsts[name],
                "median_ms": harness.median(spent),
                "most_ms": max(spent),
                "bytes": taken[0][1],
            }
        after = memory(running.pid)
        drag = dragged(port)
        afterwards = memory(running.pid)
    return {
        "seconds_to_prepare_and_start": first,
        "seconds_to_start": seconds,
        "pages": measured,
        "drag_ms": drag,
        "memory": {"before": before, "after": after, "after_dragging": afterwards},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--make", action="store_true")
    parser.add_argument("--repeat", type=int, default=30)
    given = parser.parse_args()
    if given.make:
        make()
        return
    if not (PLACE / "found").is_dir():
        sys.exit("There is no result; make it first: python bench/web.py --make")
    statistics = json.loads((PLACE / "found" / "result.json").read_text())["statistics"]
    corpus = {name: statistics[name] for name in ("documents", "pairs", "clusters")}
    measured = measure(given.repeat)
    rows = [
        [name, page["first_ms"], page["median_ms"], page["most_ms"], page["bytes"]]
        for name, page in measured["pages"].items()
    ]
    harness.show(["page", "first ms", "median ms", "most ms", "bytes"], rows)
    print(corpus, {name: each for name, each in measured.items() if name != "pages"})
    harness.save("web", {"corpus": corpus, "repeat": given.repeat, **measured})


if __name__ == "__main__":
    main()
