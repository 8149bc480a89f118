"""What Spark itself measured of a run, stage by stage: bytes shuffled and the times of tasks."""

import json
import urllib.request
from collections import Counter
from collections.abc import Iterator
from typing import Any

from pyspark.sql import SparkSession

#: Below this a task's time is the scheduler's, and a ratio of such times says nothing.
WORTH_COMPARING = 200  # ms
#: Among fewer tasks the median is hardly another than the slowest.
FEWEST_TASKS = 4


class Stages:
    """The stages that a session has run since this was made, from Spark's monitoring API."""

    def __init__(self, spark: SparkSession) -> None:
        self.context = spark.sparkContext
        self.seen = {stage["stageId"] for stage in self._all()}

    def new(self) -> list[dict[str, Any]]:
        """The stages since then that ran, first to last."""
        ran = (s for s in self._all() if s["stageId"] not in self.seen and s["status"] != "SKIPPED")
        return [summary(stage) for stage in sorted(ran, key=lambda stage: stage["stageId"])]

    def _all(self) -> Iterator[dict[str, Any]]:
        self.context._jsc.sc().listenerBus().waitUntilEmpty()
        page = f"{self.context.uiWebUrl}/api/v1/applications/{self.context.applicationId}/stages"
        asked = f"{page}?withSummaries=true&quantiles=0.5,1.0"
        with urllib.request.urlopen(asked) as said:  # noqa: S310, Spark's own page
            yield from json.load(said)


def summary(stage: dict[str, Any]) -> dict[str, Any]:
    """What is kept of one stage. Times are of tasks, in ms; the name is the engine's, if any."""
    times = (stage.get("taskMetricsDistributions") or {}).get("executorRunTime")
    middle, slowest = times or (None, None)
    return {
        "name": stage.get("description") or stage["name"],
        "tasks": stage["numTasks"],
        "run_time": stage["executorRunTime"],
        "shuffled_bytes": stage["shuffleWriteBytes"],
        "median_task": middle,
        "slowest_task": slowest,
    }


def shuffled_by_name(stages: list[dict[str, Any]]) -> dict[str, int]:
    """Bytes written to shuffles, by the name of the stage."""
    sums: Counter[str] = Counter()
    for stage in stages:
        sums[stage["name"]] += stage["shuffled_bytes"]
    return {name: size for name, size in sums.most_common() if size}


def worst_skew(stages: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The stage whose slowest task is the most times its median task; none if all were short."""
    many = (stage for stage in stages if stage["tasks"] >= FEWEST_TASKS)
    compared = [stage for stage in many if (stage["slowest_task"] or 0) >= WORTH_COMPARING]
    worst = max(compared, key=_ratio, default=None)
    return worst and {**worst, "ratio": _ratio(worst)}


def _ratio(stage: dict[str, Any]) -> float:
    return float(stage["slowest_task"] / max(stage["median_task"], 1))
