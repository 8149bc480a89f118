"""What is built, and for whom."""

import tomllib
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())


def test_every_python_that_is_built_for_is_declared() -> None:
    script = (Path(__file__).parents[1] / ".ci" / "wheels").read_text()
    minors = [c.rpartition(".")[2] for c in PROJECT["project"]["classifiers"] if ":: 3." in c]
    assert minors == ["11", "12", "13", "14"]
    assert f"for minor in {' '.join(minors)}; do" in script


def test_installing_builds_outside_of_the_source_tree() -> None:
    # Without a build folder of its own, scikit-build-core takes a temporary one.
    assert "build-dir" not in PROJECT["tool"]["scikit-build"]
