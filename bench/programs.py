"""Plagiarised programs by level: passages beside the published ways of JPlag and Dolos.

    python bench/programs.py [--data FOLDER]

FOLDER has java/docs.parquet (id, text) and java/labels.csv (id_a, id_b, level, plagiarised). Each
labelled pair gets a score from 0 to 1, and the 105 pairs that were not plagiarised say what a
score means. The published ways are written here as plainly as they can be:

- tiling: greedy string tiling of tokens, at least 9 in a row, the score of JPlag: the part of the
  tokens of both programs that tiles cover (Prechelt, Malpohl and Philippsen, 2002);
- winnowing: fingerprints of 23 tokens in windows of 17, as in Dolos: the part of the fingerprints
  of both programs that are shared (Schleimer, Wilkerson and Aiken, 2003).

Tokens are those of Java's grammar, where a name is a name and a literal a literal; comments are
left out. `passages` looks at the words of the text.
"""

import csv
import re
import zlib
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from harness import parser, save, show, timed

import nearly

TILE, GRAM, WINDOW = 9, 23, 17
LEAST = 8  # words of a passage: lines of programs are short
#: Of the pairs that were not plagiarised, this part may score higher than what is reported.
ALLOWED = 0.05

TOKEN = re.compile(
    r"//[^\n]*|/\*.*?\*/|(?P<literal>\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|\d[\w.]*)"
    r"|(?P<name>[^\W\d]\w*)|(?P<sign>[^\s\w])",
    re.DOTALL,
)
KEYWORDS = frozenset(
    re.findall(
        r"\w+",
        "abstract boolean break byte case catch char class const continue default do double else "
        "extends final finally float for if implements import instanceof int interface long new "
        "package private protected public return short static super switch this throw throws try "
        "void while true false null",
    )
)


def tokens(program: str) -> list[str]:
    """Keywords and signs as they are; names and literals by their kind."""
    found = []
    for match in TOKEN.finditer(program):
        if match.lastgroup == "name":
            found.append(match[0] if match[0] in KEYWORDS else "name")
        elif match.lastgroup is not None:
            found.append("literal" if match.lastgroup == "literal" else match[0])
    return found


def tiling(a: Sequence[str], b: Sequence[str]) -> float:
    """The longest runs that both have are marked first, until none is long enough."""
    is_marked_a, is_marked_b = [False] * len(a), [False] * len(b)
    covered = 0
    while True:
        longest, tiles = TILE - 1, []
        for i in range(len(a)):
            for j in range(len(b)):
                length = 0
                while (
                    i + length < len(a)
                    and j + length < len(b)
                    and a[i + length] == b[j + length]
                    and not is_marked_a[i + length]
                    and not is_marked_b[j + length]
                ):
                    length += 1
                if length > longest:
                    longest, tiles = length, []
                if length == longest >= TILE:
                    tiles.append((i, j))
        if not tiles:
            return 2 * covered / max(1, len(a) + len(b))
        for i, j in tiles:
            if any(is_marked_a[i : i + longest]) or any(is_marked_b[j : j + longest]):
                continue
            is_marked_a[i : i + longest] = is_marked_b[j : j + longest] = [True] * longest
            covered += longest


def winnowing(a: Sequence[str], b: Sequence[str]) -> float:
    """Fingerprints that both have, among those of both."""
    one, other = fingerprints(a), fingerprints(b)
    shared = sum(each in other for each in one) + sum(each in one for each in other)
    return shared / max(1, len(one) + len(other))


def fingerprints(program: Sequence[str]) -> set[int]:
    """The least hash of each window; of a short program, of all."""
    grams = (" ".join(program[i : i + GRAM]) for i in range(max(1, len(program) - GRAM + 1)))
    hashes = [zlib.crc32(gram.encode()) for gram in grams]  # the same in every run
    return {min(hashes[i : i + WINDOW]) for i in range(max(1, len(hashes) - WINDOW + 1))}


def shares(path: Path) -> dict[frozenset[str], float]:
    """The part of both programs that stands in shared passages."""
    found = nearly.passages(str(path), least=LEAST, stems="none", crowd=1000)
    sizes = {row["id"]: row["characters"] for row in found.documents.to_pylist()}
    return {
        frozenset((row["id_a"], row["id_b"])): (row["shared_a"] + row["shared_b"])
        / (sizes[row["id_a"]] + sizes[row["id_b"]])
        for row in found.pairs.to_pylist()
    }


def judged(scores: Sequence[float], others: Sequence[float]) -> dict[str, float]:
    """How often a plagiarised pair scores higher; and how many do than nearly all others."""
    mine, theirs = np.array(scores)[:, None], np.array(others)[None, :]
    area = ((mine > theirs) + 0.5 * (mine == theirs)).mean()
    limit = np.sort(others)[-1 - int(ALLOWED * len(others))]
    return {"area": float(area), "found": float((mine > limit).mean())}


def main() -> None:
    chosen = parser(__doc__.partition("\n")[0]).parse_args()
    folder = chosen.data / "java"
    table = pq.read_table(folder / "docs.parquet").to_pydict()
    programs = {n: tokens(text) for n, text in zip(table["id"], table["text"], strict=True)}
    labels = list(csv.DictReader((folder / "labels.csv").open()))
    seconds, found = timed(lambda: shares(folder / "docs.parquet"))
    ways: dict[str, Callable[[str, str], float]] = {
        "passages": lambda a, b: found.get(frozenset((a, b)), 0.0),
        "tiling": lambda a, b: tiling(programs[a], programs[b]),
        "winnowing": lambda a, b: winnowing(programs[a], programs[b]),
    }
    told = {}
    for name, score in ways.items():
        levels: defaultdict[str, list[float]] = defaultdict(list)
        for row in labels:
            levels[row["level"]].append(score(row["id_a"], row["id_b"]))
        others = levels.pop("non")
        levels["all"] = [value for values in levels.values() for value in values]
        told[name] = {level: judged(v, others) for level, v in sorted(levels.items())}
    levels_told = sorted(told["passages"])
    for what in ("area", "found"):
        rows = [(name, *(told[name][level][what] for level in levels_told)) for name in told]
        show((what, *levels_told), rows)
    save("programs", {"seconds": seconds, "pairs": len(labels), "ways": told})


if __name__ == "__main__":
    main()
