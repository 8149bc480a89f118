"""A corpus larger than memory: 10 million documents in a process limited to 2 GB.

The limit is on address space (RLIMIT_AS), set before the interpreter starts, so nothing that is
only reserved escapes it; the peak that was really held is measured by the process itself.

    python bench/address_space.py [--documents 10000000] [--limit 2000000000]
"""

import argparse

import harness


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--documents", type=int, default=10_000_000)
    parser.add_argument("--limit", type=int, default=2 * 10**9, help="bytes of address space")
    asked = parser.parse_args()
    path, text_bytes = harness.generated(asked.documents)
    run = harness.find_in_child(path, limit=asked.limit)
    harness.show(
        ["documents", "text MB", "limit MB", "peak MB", "seconds", "pairs"],
        [
            [
                asked.documents,
                text_bytes // 10**6,
                asked.limit // 10**6,
                run["peak_bytes"] // 10**6,
                run["seconds"],
                run["pairs"],
            ]
        ],
    )
    corpus = {"documents": asked.documents, "text_bytes": text_bytes, "limit": asked.limit}
    harness.save("address_space", {**corpus, "run": run})


if __name__ == "__main__":
    main()
