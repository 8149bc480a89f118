"""How accurate is nearly on real, labelled data? Writes results/accuracy.json and docs/accuracy.md.

    python bench/accuracy.py [--data DIR]

`--page` writes the page again from the results that are there.
"""

import json
from pathlib import Path

import harness
from accuracy_page import page
from labelled import labelled
from promise import promises
from tweets import mentions

PAGE = harness.BENCH.parent / "docs" / "accuracy.md"


def main() -> None:
    parser = harness.parser(__doc__.partition("\n")[0])
    parser.add_argument("--page", action="store_true", help="only write the page again")
    asked = parser.parse_args()
    if not asked.page:
        measure(asked.data)
    results = json.loads((harness.RESULTS / "accuracy.json").read_text())
    PAGE.write_text(page(results))


def measure(data: Path) -> None:
    harness.corpus(data, "debian")  # says how to get the data where there is none
    measured = {
        "labelled": labelled(data),
        "mentions": mentions(data),
        "promises": promises(data),
    }
    harness.save("accuracy", measured)


if __name__ == "__main__":
    main()
