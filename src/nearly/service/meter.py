"""Counts and times, as Prometheus reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from nearly.index.index import Index

__all__ = ["MEDIA_TYPE", "Meter"]

MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
SECONDS: Final = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5, 30)
TOGETHER: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10_000)


class Meter:
    """What one service counts; nothing is shared with another in the same process."""

    def __init__(self, index: Index, waiting: Callable[[], int]) -> None:
        self._registry = CollectorRegistry()
        self._registry.register(_State(index, waiting))
        labels = ("method", "route", "status")
        self._requests = Counter(
            "nearly_requests", "Requests that were answered.", labels, registry=self._registry
        )
        self._seconds = Histogram(
            "nearly_request_seconds",
            "Time until an answer.",
            ("method", "route"),
            buckets=SECONDS,
            registry=self._registry,
        )
        self._together = Histogram(
            "nearly_commit_documents",
            "Documents that one commit stored or removed.",
            buckets=TOGETHER,
            registry=self._registry,
        )
        # To look for what counts a route takes longer than to count.
        self._of = cache(
            lambda method, route, status: (
                self._requests.labels(method, route, str(status)),
                self._seconds.labels(method, route),
            )
        )
        self.committed: Callable[[int], None] = self._together.observe

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one request."""
        requests, times = self._of(method, route, status)
        requests.inc()
        times.observe(seconds)

    def told(self) -> bytes:
        """All of it as text."""
        return generate_latest(self._registry)


class _State(Collector):
    """What is asked of the index when somebody looks."""

    def __init__(self, index: Index, waiting: Callable[[], int]) -> None:
        self._index, self._waiting = index, waiting

    def collect(self) -> Iterator[GaugeMetricFamily]:
        stats = self._index.stats()
        known = {
            "documents": ("Documents of the index.", stats.documents),
            "segments": ("Segments of the index.", stats.segments),
            "pending_documents": ("Documents that are in no segment yet.", stats.pending),
            "removed_documents": ("Removed documents that still take room.", stats.gone),
            "segment_bytes": ("Bytes of all segments.", stats.bytes),
            "waiting_documents": ("Documents that wait for a commit.", self._waiting()),
        }
        for name, (help_text, value) in known.items():
            yield GaugeMetricFamily(f"nearly_{name}", help_text, value=value)
