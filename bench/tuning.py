"""Does what `nearly.tune` predicts come true? Three real corpora, the best few settings of each.

Predicted from 500 documents searched exactly, and then run: how often two documents meet in a
bucket, how many pairs are candidates, which share of the true pairs is found, time and memory.
Truth is that of `truth.py`; exact copies are left out of it, for they are found without a search.

    python bench/tuning.py [--data DIR]
"""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import harness
import numpy as np
import pyarrow.parquet as pq
import truth

import nearly
from nearly.arguments import Running
from nearly.engines.local.near_pair import met_candidates
from nearly.measures.jaccard import Jaccard
from nearly.run import opened
from nearly.settings import Settings
from nearly.sources import Skipped
from nearly.tuning.banding import Banding

CORPORA = ("debian/docs", "licences/docs", "tweets/troll-300k")
THRESHOLD, RECALL, K = 0.8, 0.99, 5
SETTINGS: dict[str, Any] = {
    "raw": True,
    "k": K,
    "threshold": THRESHOLD,
    "recall": RECALL,
    "method": "lsh",
}


def true_pairs(path: Path) -> int:
    """The number of pairs of distinct texts that reach the threshold."""
    pairs = truth.truth(path, "char", K, THRESHOLD)
    first: dict[str, int] = {}
    texts = pq.read_table(path, columns=["text"])["text"].to_pylist()
    is_first = np.array([first.setdefault(text, i) == i for i, text in enumerate(texts)])
    return int((is_first[pairs["a"].to_numpy()] & is_first[pairs["b"].to_numpy()]).sum())


def candidates(path: Path, banding: Banding) -> int:
    """Pairs that meet in some bucket, each counted once: before the agreement filter."""
    everything = Banding(banding.bands, banding.rows, agreement=0)
    settings = Settings.of(**SETTINGS)
    with opened(str(path), Running()) as (source, engine):
        skipped = Skipped()
        measure = Jaccard.of(settings)
        corpus = engine.load(source, measure, settings, everything, skipped, keep=None)
        met, _ = met_candidates(engine.shop, corpus, everything, hubs=0)
        return len(met)


def find(path: Path, banding: Banding) -> dict[str, Any]:
    """A run in a process of its own: its statistics, and the most memory that it held."""
    found = nearly.find(str(path), bands=banding.bands, rows=banding.rows, **SETTINGS)
    return found.statistics.to_dict() | {"peak": harness.peak_bytes()}


def compare(path: Path, choice: Any, pairs: int) -> dict[str, Any]:
    """One setting, predicted and run."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn) as pool:
        ran = pool.submit(find, path, choice.banding).result()
    return {
        "setting": f"{choice.banding.bands} x {choice.banding.rows}",
        "meetings": {"predicted": choice.meetings, "counted": ran["meetings"]},
        "candidates": {
            "predicted": choice.candidates._asdict(),
            "counted": candidates(path, choice.banding),
        },
        "recall": {
            "predicted": choice.recall._asdict(),
            "measured": (ran["pairs"] - ran["copies"]) / pairs,
        },
        "seconds": {"predicted": choice.seconds, "measured": sum(ran["seconds"].values())},
        "memory": {"predicted": choice.memory, "measured": ran["peak"]},
    }


def main() -> None:
    asked = harness.parser(__doc__.partition("\n")[0]).parse_args()
    measured: dict[str, Any] = {}
    for name in CORPORA:
        path = asked.data / f"{name}.parquet"
        pairs = true_pairs(path)
        seconds, advice = harness.timed(lambda path=path: nearly.tune(str(path), **SETTINGS))
        settings = [compare(path, choice, pairs) for choice in advice.choices]
        predicted = advice.pairs._asdict()
        measured[name] = {
            "seconds": seconds,
            "pairs": {"predicted": predicted, "counted": pairs},
            "settings": settings,
        }
        print(f"\n{name}: {pairs:,} pairs, {predicted['value']:,.0f} predicted; {seconds:.1f} s")
        harness.show(*table(settings))
    harness.save("tuning", measured)


def table(settings: list[dict[str, Any]]) -> tuple[list[str], list[list[object]]]:
    """Ratios of what was predicted to what came true."""
    headings = ["setting", "meetings", "candidates", "recall", "low", "high", "seconds", "memory"]
    return headings, [
        [
            s["setting"],
            s["meetings"]["predicted"] / s["meetings"]["counted"],
            s["candidates"]["predicted"]["value"] / s["candidates"]["counted"],
            f"{s['recall']['measured']:.4f}",
            f"{s['recall']['predicted']['low']:.4f}",
            f"{s['recall']['predicted']['high']:.4f}",
            s["seconds"]["predicted"] / s["seconds"]["measured"],
            s["memory"]["predicted"] / s["memory"]["measured"],
        ]
        for s in settings
    ]


if __name__ == "__main__":
    main()
