"""Values per second into and out of a Bloom filter, on one core, beside rbloom and a limit.

The limit (touching.cpp) hashes whole numbers and touches one word of the block of each. rbloom
takes Python's own values; its bulk update is given a list that was made before.

    python bench/bloom.py [--values 10000000] [--repeat 5]
"""

import argparse
import ctypes
import os
import time
from collections.abc import Callable
from typing import Any

import harness
import numpy as np
import pyarrow as pa
import rbloom

import nearly

ERROR = 0.01


def contenders(numbers: Any, texts: Any) -> dict[str, Callable[[], Any]]:
    """What is timed; each begins with an empty filter, or looks values up in a full one."""
    n = len(numbers)
    full, full_of_texts = nearly.BloomFilter(n, ERROR), nearly.BloomFilter(n, ERROR)
    full.add(numbers)
    full_of_texts.add(texts)
    plain_numbers, plain_texts = numbers.tolist(), texts.to_pylist()
    words = np.zeros(full.bits // 64, np.uint64)
    touch = ctypes.CDLL(str(harness.compiled("touching.cpp", shared=True))).touch

    def limit() -> None:  # the arrays are held by what is called: a pointer alone would not
        blocks, given = (ctypes.c_void_p(array.ctypes.data) for array in (words, numbers))
        touch(blocks, ctypes.c_uint64(full.bits // 512), given, ctypes.c_size_t(n))

    def one_by_one() -> None:
        peer = rbloom.Bloom(n, ERROR)
        for number in plain_numbers:
            peer.add(number)

    return {
        "limit: one word a number": limit,
        "numbers added": lambda: nearly.BloomFilter(n, ERROR).add(numbers),
        "numbers looked up": lambda: full.contains(numbers),
        "strings added": lambda: nearly.BloomFilter(n, ERROR).add(texts),
        "strings looked up": lambda: full_of_texts.contains(texts),
        "rbloom: numbers, bulk": lambda: rbloom.Bloom(n, ERROR).update(plain_numbers),
        "rbloom: numbers, one by one": one_by_one,
        "rbloom: strings, bulk": lambda: rbloom.Bloom(n, ERROR).update(plain_texts),
    }


def measure(timed: dict[str, Callable[[], Any]], repeat: int) -> dict[str, dict[str, list[float]]]:
    """Seconds on the wall and of the processor, the contenders in turn."""
    runs: dict[str, dict[str, list[float]]] = {name: {"wall": [], "cpu": []} for name in timed}
    for _ in range(repeat):
        for name, work in timed.items():
            wall, cpu = time.perf_counter(), time.process_time()
            work()
            runs[name]["cpu"].append(time.process_time() - cpu)
            runs[name]["wall"].append(time.perf_counter() - wall)
    return runs


def errors(n: int) -> dict[str, float]:
    """The share of strangers that a full filter takes for members."""
    found = {}
    for error in (0.1, 0.01, 0.001, 0.0001):
        kept = nearly.BloomFilter(n, error)
        kept.add(np.arange(n))
        found[str(error)] = float(kept.contains(np.arange(n, 2 * n)).mean())
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--values", type=int, default=10_000_000)
    parser.add_argument("--repeat", type=int, default=5)
    asked = parser.parse_args()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    numbers = np.random.default_rng(1).integers(0, 2**62, asked.values)
    texts = pa.array([f"user {number % 10**9}" for number in numbers.tolist()])
    runs = measure(contenders(numbers, texts), asked.repeat)
    millions = {
        name: {
            clock: asked.values / harness.median(seconds) / 1e6 for clock, seconds in run.items()
        }
        for name, run in runs.items()
    }
    harness.show(
        ["millions per second", "wall", "processor", "best, wall"],
        [
            [name, rates["wall"], rates["cpu"], asked.values / min(runs[name]["wall"]) / 1e6]
            for name, rates in millions.items()
        ],
    )
    measured_errors = errors(asked.values // 10)
    harness.show(["error", "strangers taken for members"], measured_errors.items())
    harness.save(
        "bloom",
        {
            "values": asked.values,
            "error": ERROR,
            "seconds": runs,
            "millions": millions,
            "errors": measured_errors,
        },
    )


if __name__ == "__main__":
    main()
