"""How long the command takes to answer when there is next to nothing to do.

python bench/startup.py [--repeat 21]
"""

import argparse
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import harness

SMALL = {
    "a.txt": "It is a truth universally acknowledged, that two copies are rarely the same.\n" * 20,
    "b.txt": "It is a truth universally acknowledged, that two copies are nearly the same.\n" * 20,
}


def commands(folder: Path) -> dict[str, list[str]]:
    """What is timed; the two small files of `compare` are put into the folder."""
    for name, text in SMALL.items():
        (folder / name).write_text(text)
    nearly = harness.nearly_command()
    return {
        "python -c pass": [sys.executable, "-c", "pass"],
        "python -c 'import numpy'": [sys.executable, "-c", "import numpy"],
        "nearly --help": [nearly, "--help"],
        "nearly compare a.txt b.txt": [nearly, "compare", *(str(folder / name) for name in SMALL)],
        "nearly find folder": [nearly, "find", str(folder)],
    }


def measure(timed: dict[str, list[str]], repeat: int) -> dict[str, list[float]]:
    """Seconds of every run, the commands in turn."""
    seconds: dict[str, list[float]] = {name: [] for name in timed}
    for _ in range(repeat):
        for name, command in timed.items():
            run = partial(
                subprocess.run, command, check=True, capture_output=True, env=harness.installed()
            )
            seconds[name].append(harness.timed(run)[0])
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeat", type=int, default=21)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        timed = commands(Path(folder))
        measure(timed, 1)  # which leaves bytecode behind, as installing does
        seconds = measure(timed, asked.repeat)
    medians = {name: harness.median(runs) for name, runs in seconds.items()}
    bare, numpy = medians["python -c pass"], medians["python -c 'import numpy'"]
    harness.show(
        ["command", "seconds", "times python", "times numpy"],
        [[name, middle, middle / bare, middle / numpy] for name, middle in medians.items()],
    )
    harness.save("startup", {"seconds": seconds, "medians": medians})


if __name__ == "__main__":
    main()
