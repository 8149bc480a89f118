"""One long document: how much memory, as a multiple of its text, and how long.

Each kernel runs in a process of its own, over a text of one letter, of words as people use them
(few, some of them often) and of random letters, where every shingle is another. The peak is what
the process held beyond the text itself.

    python bench/long_document.py [--megabytes 200]
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import harness
import numpy as np
import numpy.typing as npt

Text = npt.NDArray[np.uint8]
K = 9
NORMALISE = {
    "fold_case": True,
    "drop_accents": False,
    "drop_digits": False,
    "drop_punctuation": False,
    "keep_mentions": True,
    "words": False,
    "space": "collapse",
    "stop_words": "",
}


def one_letter(size: int) -> Text:
    """The text that has one shingle."""
    return np.full(size, ord("a"), np.uint8)


def words(size: int) -> Text:
    """5,000 words of six letters, chosen by Zipf's law; made in place, to leave the peak alone."""
    random = np.random.default_rng(1)
    known = random.integers(97, 123, (5_000, 7), dtype=np.uint8)
    known[:, 6] = ord(" ")
    text = np.empty((size // 7, 7), np.uint8)
    for start in range(0, len(text), 2**16):
        part = text[start : start + 2**16]
        part[:] = known[random.zipf(1.3, len(part)) % len(known)]
    return text.reshape(-1)


def random_letters(size: int) -> Text:
    """The text in which no shingle comes twice, or hardly any."""
    return np.random.default_rng(1).integers(97, 123, size, dtype=np.uint8)


TEXTS: dict[str, Callable[[int], Text]] = {
    "one letter": one_letter,
    "words": words,
    "random letters": random_letters,
}


def normalise(text: Text) -> None:
    """Writes the normalised text."""
    from nearly import _kernels

    _kernels.normalise(np.array([0, len(text)]), text, **NORMALISE)


def sign(text: Text) -> None:
    """What hashing does with a document."""
    from nearly import _kernels

    _kernels.sign(np.array([0, len(text)]), text, "char", K, 1, "one-permutation", 26, 8)


def measure(text: Text) -> None:
    """What the exact method does with a document as it is read."""
    from nearly import _kernels

    _kernels.measure(np.array([0, len(text)]), text, "char", K, 1)


def verify(text: Text) -> None:
    """The set that verification and the exact join need, compared with itself."""
    from nearly import _kernels

    offsets, hashes = _kernels.shingle_sets(np.array([0, len(text)]), text, "char", K, 1)
    same = np.zeros(1, np.uint32)
    _kernels.similarities(offsets, hashes, same, same, 4, 5)


KERNELS: dict[str, Callable[[Text], None]] = {
    "normalise": normalise,
    "sign": sign,
    "measure": measure,
    "verify": verify,
}


def once(kernel: str, kind: str, size: int) -> dict[str, Any]:
    """One kernel on one text, in this process."""
    text = TEXTS[kind](size)
    KERNELS[kernel](text[:100])  # imports, and their memory
    before = harness.peak_bytes()
    seconds, _ = harness.timed(lambda: KERNELS[kernel](text))
    return {"bytes": len(text), "peak": harness.peak_bytes() - before, "seconds": seconds}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--once", nargs=2, metavar=("KERNEL", "TEXT"), help="in this process")
    asked = parser.parse_args()
    size = asked.megabytes * 10**6
    if asked.once:
        print(json.dumps(once(*asked.once, size)))
        return
    measured: dict[str, dict[str, Any]] = {}
    for kernel in KERNELS:
        for kind in TEXTS:
            command = [sys.executable, __file__, "--megabytes", str(asked.megabytes)]
            said = subprocess.run(
                [*command, "--once", kernel, kind], capture_output=True, text=True, check=True
            )
            measured.setdefault(kernel, {})[kind] = json.loads(said.stdout)
    harness.show(
        ["kernel, text", "peak beyond the text / text", "seconds"],
        [
            [f"{kernel}, {kind}", m["peak"] / m["bytes"], m["seconds"]]
            for kernel, kinds in measured.items()
            for kind, m in kinds.items()
        ],
    )
    harness.save("long_document", {"k": K, "kernels": measured})


if __name__ == "__main__":
    main()
