"""Edit distance: names within a few insertions and deletions, beside RapidFuzz's `cdist`.

Names are made from a seed: given and family names of syllables, the common ones often; one in five
is an earlier one with a slip or two of the hand. `cdist` compares some of them with all, with the
distance as its cutoff; the time for all pairs is reckoned in proportion, and halved, for a pair has
to be looked at only once. Of these names every pair has to be the same. The records of a real
corpus are compared in full.

    python bench/edit.py [--names 200000] [--within 2] [--sample 500] [--repeat 3] [--data DIR]
"""

import random
import string
import time
from pathlib import Path
from typing import Any

import harness
import numpy as np
import pyarrow.parquet as pq
from rapidfuzz.distance import Indel
from rapidfuzz.process import cdist

import nearly

TITLES, SHARE = "records/dblp-acm.parquet", 0.9


def made_names(count: int, seed: int = 1) -> list[str]:
    """Different names."""
    draw = random.Random(seed)
    syllables = [
        a + v + e for a in "bdfghjklmnprstvw" for v in "aeiou" for e in ("", "n", "r", "s")
    ]
    given = ["".join(draw.choices(syllables, k=draw.choice((2, 2, 3)))) for _ in range(3_000)]
    family = ["".join(draw.choices(syllables, k=draw.choice((2, 3, 3, 4)))) for _ in range(40_000)]
    found: dict[str, None] = {}
    before = [""]
    while len(found) < count:
        first, second = (names[int(len(names) * draw.random() ** 2)] for names in (given, family))
        name = f"{first.title()} {second.title()}"
        if draw.random() < 0.2:
            name = misspelt(draw.choice(before), draw)
        found.setdefault(name)
        before.append(name)
    return list(found)


def misspelt(name: str, draw: random.Random) -> str:
    """With one or two letters more, less, or other ones."""
    letters = list(name)
    for _ in range(draw.randrange(1, 3)):
        place = draw.randrange(len(letters) + 1)
        more = draw.choices(string.ascii_lowercase, k=draw.randrange(2))
        letters[place : place + draw.randrange(2)] = more
    return "".join(letters)


def pairs_of(found: Any, value: str) -> dict[tuple[int, int], float]:
    columns = (found.pairs.column(name).to_pylist() for name in ("id_a", "id_b", value))
    return {(a, b): v for a, b, v in zip(*columns, strict=True)}


def by_cdist(names: list[str], within: int, sample: int) -> tuple[dict[Any, float], float]:
    """The pairs of some names with all, and the seconds that this took."""
    places = sorted(random.Random(2).sample(range(len(names)), sample))
    start = time.perf_counter()
    distances = cdist(
        [names[place] for place in places],
        names,
        scorer=Indel.distance,
        score_cutoff=within,
        dtype=np.uint8,
        workers=-1,
    )
    seconds = time.perf_counter() - start
    rows, columns = np.nonzero(distances <= within)
    found = {}
    for row, other in zip(rows.tolist(), columns.tolist(), strict=True):
        if places[row] != other:
            pair = min(places[row], other), max(places[row], other)
            found[pair] = float(distances[row, other])
    return found, seconds


def check_titles(path: Path) -> dict[str, Any]:
    """Every pair of the titles of a corpus, by its share, beside RapidFuzz's in full."""
    titles = pq.read_table(path).column("text").to_pylist()
    found = nearly.find(titles, measure="edit", threshold=SHARE, raw=True, all_pairs=True)
    near = cdist(titles, titles, scorer=Indel.normalized_similarity, dtype=np.float64, workers=-1)
    first, second = np.nonzero(np.triu(near >= SHARE - 1e-12, 1))
    true = set(zip(first.tolist(), second.tolist(), strict=True))
    assert pairs_of(found, "similarity").keys() == true, "other pairs than RapidFuzz's"
    return {
        "titles": len(titles),
        "pairs": len(true),
        "seconds": sum(found.statistics.seconds.values()),
    }


def main() -> None:
    parser = harness.parser(__doc__.partition("\n")[0])
    for name, default in (("names", 200_000), ("within", 2), ("sample", 500), ("repeat", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    asked = parser.parse_args()
    names = made_names(asked.names)
    ours, theirs = [], []
    for _ in range(asked.repeat):
        start = time.perf_counter()
        found = nearly.find(names, measure="edit", within=asked.within, raw=True)
        ours.append(time.perf_counter() - start)
        true, seconds = by_cdist(names, asked.within, asked.sample)
        theirs.append(seconds * asked.names / asked.sample / 2)
    pairs = pairs_of(found, "distance")
    places = set(random.Random(2).sample(range(len(names)), asked.sample))
    mine = {pair: d for pair, d in pairs.items() if places & set(pair)}
    assert mine == true, "other pairs than RapidFuzz's"
    assert len(true) > 100, "too few pairs to tell"
    titles = check_titles(asked.data / TITLES)
    faster = harness.median(theirs) / harness.median(ours)
    harness.show(
        ["", "seconds"],
        [
            [f"nearly, {len(pairs):,} pairs of {asked.names:,} names", harness.median(ours)],
            [f"cdist, all pairs reckoned from {asked.sample} names", harness.median(theirs)],
            ["times faster", faster],
            [
                f"nearly, {titles['pairs']:,} pairs of {titles['titles']:,} titles",
                titles["seconds"],
            ],
        ],
    )
    harness.save(
        "edit",
        {
            "names": asked.names,
            "within": asked.within,
            "pairs": len(pairs),
            "pairs_of_sample": len(true),
            "sample": asked.sample,
            "seconds": ours,
            "verified": found.statistics.verified,
            "by_stage": dict(found.statistics.seconds),
            "cdist_seconds_reckoned": theirs,
            "times_faster": faster,
            "titles": titles,
        },
    )


if __name__ == "__main__":
    main()
