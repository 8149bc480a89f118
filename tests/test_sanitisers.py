"""All kernels once more, built with the address and undefined-behaviour sanitisers."""

import os
import random
import shutil
import subprocess
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pytest

ROOT = Path(__file__).parents[1]
PARTS = ROOT / "tests/kernels"
#: To build them takes a minute.
pytestmark = pytest.mark.slow

#: Two units that take about as long to compile. Each part by itself would read the same headers.
UNITS = (
    ("signing", "candidates", "joins", "weights", "wanted", "json"),
    (
        "exercise",
        "passages",
        "normalisation",
        "edits",
        "vectors",
        "segment",
        "questions",
        "waiting",
    ),
)
SANITISE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-DNEARLY_PLAIN"]
#: Lines are enough to say where a sanitiser stopped.
PROGRAMS = {"sanitised": ["-O1", "-g1", *SANITISE], "fast": ["-O3"]}
COMPILER = os.environ.get("CXX") or shutil.which("c++") or "g++"


def compiled(output: Path, flags: list[str], parts: Iterable[str]) -> Path:
    includes = [f"-I{ROOT / 'src/kernels'}", f"-isystem{pa.get_include()}", f"-I{PARTS}"]
    exact = "-ffp-contract=off"  # as the package is built
    command = [COMPILER, "-std=c++20", exact, *flags, *includes, "-c", "-x", "c++", "-"]
    source = "".join(f'#include "{part}.cpp"\n' for part in parts)
    subprocess.run([*command, "-o", output], input=source.encode(), check=True)
    return output


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The kernels in both builds; their units are compiled side by side."""
    folder = tmp_path_factory.mktemp("kernels")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        units = {
            name: [
                pool.submit(compiled, folder / f"{name}-{number}.o", flags, parts)
                for number, parts in enumerate(UNITS)
            ]
            for name, flags in PROGRAMS.items()
        }
        for name, waiting in units.items():
            objects = [unit.result() for unit in waiting]
            subprocess.run([COMPILER, *PROGRAMS[name], *objects, "-o", folder / name], check=True)
    return {name: folder / name for name in PROGRAMS}


def output(program: Path, *arguments: object) -> str:
    run = subprocess.run(
        [program, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_every_part_is_in_a_unit() -> None:
    assert sorted(part for unit in UNITS for part in unit) == sorted(
        path.stem for path in PARTS.glob("*.cpp")
    )


def test_kernels_are_clean_and_wide_registers_change_nothing(programs: dict[str, Path]) -> None:
    assert output(programs["sanitised"]) == output(programs["fast"])


def test_kernels_are_total_on_arbitrary_bytes(programs: dict[str, Path]) -> None:
    assert output(programs["sanitised"], 1, 100) == output(programs["fast"], 1, 100)


def test_kernels_are_total_on_other_bytes_each_time(programs: dict[str, Path]) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")  # shown where the test fails
    assert output(programs["sanitised"], seed, 100)
