"""Texts by meaning, beside Jaccard similarity alone: the best F1 of each on the labelled sets.

Each set is searched exactly by Jaccard similarity, by the cosine of wordllama's vectors, and by the
mean of both; the best of the thresholds in steps of 0.05 counts, which flatters all three alike.

    python bench/meaning.py [--data DIR]
"""

import time
from typing import Any

import harness
from labelled import SETS, best_of

#: The lowest threshold that is searched: below it nearly every pair is found.
LOWEST = {"cosine": 0.6, "mean": 0.4}
#: The model knows English.
OTHER_LANGUAGES = ("chinese",)


def main() -> None:
    asked = harness.parser(__doc__.partition("\n")[0]).parse_args()
    rows: list[dict[str, Any]] = []
    for each in SETS:
        if each.scope == "recall only" or each.name in OTHER_LANGUAGES:
            continue
        start = time.perf_counter()
        by_meaning = {"embed": "wordllama", "method": "exact"}
        rows.append(
            {
                "set": each.name,
                "jaccard": best_of(asked.data, each, each.lowest, **each.settings),
                "cosine": best_of(asked.data, each, LOWEST["cosine"], **by_meaning),
                "mean": best_of(
                    asked.data, each, LOWEST["mean"], measure="mean", **by_meaning, **each.settings
                ),
            }
        )
        print(each.name, f"{time.perf_counter() - start:.1f} s", flush=True)
    ways = ("jaccard", "cosine", "mean")
    harness.show(
        ["set", *(f"{way} (at)" for way in ways)],
        [
            [row["set"], *(f"{row[way]['f1']:.2f} ({row[way]['threshold']:g})" for way in ways)]
            for row in rows
        ],
    )
    harness.save("meaning", {"lowest": LOWEST, "sets": rows})


if __name__ == "__main__":
    main()
