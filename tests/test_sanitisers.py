"""All kernels once more, built with the address and undefined-behaviour sanitisers."""

import os
import random
import shutil
import subprocess
from pathlib import Path

import pyarrow as pa
import pytest

ROOT = Path(__file__).parents[1]
#: To build them takes a minute.
pytestmark = pytest.mark.slow

SANITISE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-DNEARLY_PLAIN"]


def build(folder: Path, name: str, *flags: str) -> Path:
    compiler = os.environ.get("CXX") or shutil.which("c++") or "g++"
    program = folder / name
    sources = [f"-I{ROOT / 'src/kernels'}", f"-isystem{pa.get_include()}"]
    sources.append(str(ROOT / "tests/kernels/exercise.cpp"))
    exact = "-ffp-contract=off"  # as the package is built
    subprocess.run(
        [compiler, "-std=c++20", "-g", exact, *flags, *sources, "-o", program], check=True
    )
    return program


def output(program: Path, *arguments: object) -> str:
    run = subprocess.run(
        [program, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.fixture(scope="module")
def sanitised(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("sanitised"), "sanitised", "-O1", *SANITISE)


@pytest.fixture(scope="module")
def fast(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("fast"), "fast", "-O3")


def test_kernels_are_clean_and_wide_registers_change_nothing(sanitised: Path, fast: Path) -> None:
    assert output(sanitised) == output(fast)


def test_kernels_are_total_on_arbitrary_bytes(sanitised: Path, fast: Path) -> None:
    assert output(sanitised, 1, 150) == output(fast, 1, 150)


def test_kernels_are_total_on_many_more_bytes(sanitised: Path) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")  # shown where the test fails
    assert output(sanitised, seed, 600)
