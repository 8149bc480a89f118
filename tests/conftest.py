"""Settings shared by all tests: the same examples every time, no clock in the verdict."""

import os
import shutil
import signal
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadScopeScheduling

settings.register_profile(
    "nearly",
    deadline=None,
    derandomize=True,
    max_examples=60,  # where a test does not say how many it needs
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.load_profile("nearly")

# Who starts tests in the background has these ignored, and so would the commands that they run.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

NO_JAVA = "Spark needs Java 17 or later, and there is none: apt install openjdk-17-jre-headless"


HAS_JAVA = shutil.which("java") is not None or "JAVA_HOME" in os.environ


class OneSession(LoadScopeScheduling):
    """One process has all tests of Spark, since a session takes half a minute to start and to warm
    up; they are known by their names. Each other file goes to one process as a whole."""

    def _split_scope(self, nodeid: str) -> str:
        return "spark" if "spark" in nodeid else nodeid.partition("::")[0]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> OneSession:
    return OneSession(config, log)


#: What takes longest, the longest first: none of it should be what the other process waits for.
LONGEST = ("spark", "test_sanitisers", "test_failing_calls", "test_memory", "test_fuzz", "faults")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The largest groups come first, so that none of them ends last."""

    def rank(item: pytest.Item) -> int:
        return next((i for i, name in enumerate(LONGEST) if name in item.nodeid), len(LONGEST))

    items.sort(key=rank)
    for item in items:
        if item.get_closest_marker("java") and not HAS_JAVA and "CI" not in os.environ:
            item.add_marker(pytest.mark.skip(NO_JAVA))


@pytest.fixture(autouse=True)
def shared_java(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command ends its Java machine; that of this process serves the tests of other files too."""
    java = sys.modules.get("nearly.engines.spark.session.java")
    if java is not None:
        monkeypatch.setattr(java, "end_java", lambda: None)


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a database on a server of our own."""
    from postgres import server

    with server() as address:
        yield address
