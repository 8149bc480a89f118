"""All kernels once more, built with the address and undefined-behaviour sanitisers."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SANITISE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-DNEARLY_PLAIN"]


def build_and_run(folder: Path, name: str, *flags: str) -> str:
    compiler = os.environ.get("CXX") or shutil.which("c++") or "g++"
    program = folder / name
    sources = [f"-I{ROOT / 'src/kernels'}", str(ROOT / "tests/kernels/exercise.cpp")]
    subprocess.run([compiler, "-std=c++20", "-g", *flags, *sources, "-o", program], check=True)
    run = subprocess.run([program], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sanitisers")


def test_kernels_are_clean_and_wide_registers_change_nothing(folder: Path) -> None:
    sanitised = build_and_run(folder, "sanitised", "-O1", *SANITISE)
    assert sanitised == build_and_run(folder, "fast", "-O3")
