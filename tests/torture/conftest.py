"""One warm process for all the torture of a test module; counts and seeds at the end."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from ordeal import MEMORY, SAID, Desk, Warm


@pytest.fixture(scope="module")
def desk() -> Iterator[Desk]:
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder, Warm(Path(folder)) as warm:
        desk = Desk(Path(folder), warm)
        desk.prepare()
        yield desk


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for line in SAID:
        terminalreporter.write_line(line)
