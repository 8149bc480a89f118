"""One `nearly.find` in a process of its own: prints seconds, pairs and peak memory as JSON.

python bench/once.py FILE.parquet [--threads 2]
"""

import argparse
import json

import harness


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("path")
    parser.add_argument("--threads", type=int, default=2)
    asked = parser.parse_args()

    import nearly

    settings = {"unit": "char", "k": 5, "threshold": 0.8, "raw": True, "threads": asked.threads}
    seconds, found = harness.timed(
        lambda: nearly.find(asked.path, id="id", text="text", **settings)
    )
    print(
        json.dumps(
            {
                "seconds": seconds,
                "pairs": found.pairs.num_rows,
                "peak_bytes": harness.peak_bytes(),
                "statistics": found.statistics.to_dict(),
            },
            default=str,
        )
    )


if __name__ == "__main__":
    main()
