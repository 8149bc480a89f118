"""The cluster that tests run on: it works, survives the death of a worker, and leaves nothing."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from clusters import QUICK_JAVA, StandaloneCluster, needs_java
from patience import PATIENCE

pytestmark = needs_java

#: Every try of a task leaves a file named by its worker's folder, its process and itself, so that
#: the test sees when to strike, what ran again, and what is left. It ends only when the test says
#: so: otherwise one worker could do all the work before the other has started.
JOB = """
import os, sys, time, uuid
from pathlib import Path
from pyspark.sql import SparkSession

master, tries, go_on, patience, java = sys.argv[1:]

def when_told(partition, numbers):
    worker = Path.cwd().parent.parent.name
    (Path(tries) / f"{worker}.{os.getpid()}.{uuid.uuid4().hex}").touch()
    end = time.monotonic() + float(patience)
    while not Path(go_on).exists():
        if time.monotonic() > end:
            raise TimeoutError("nobody said to go on")
        time.sleep(0.05)
    yield partition % 2, sum(numbers)

conf = {
    "spark.cores.max": "2",
    "spark.driver.extraJavaOptions": java,
    "spark.executor.extraJavaOptions": java,
    "spark.executor.memory": "512m",
    "spark.scheduler.minRegisteredResourcesRatio": "1",
    "spark.ui.enabled": "false",
}
spark = SparkSession.builder.master(master).config(map=conf).getOrCreate()
sums = spark.sparkContext.range(1000, numSlices=8).mapPartitionsWithIndex(when_told)
print(sum(sums.reduceByKey(lambda a, b: a + b).values().collect()))
"""
PARTITIONS = 8


@contextmanager
def job_on(cluster: StandaloneCluster, tries: Path, go_on: Path) -> Iterator[subprocess.Popen[str]]:
    tries.mkdir()
    arguments = [cluster.url, str(tries), str(go_on), str(PATIENCE), QUICK_JAVA]
    here = {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    with subprocess.Popen(
        [sys.executable, "-c", JOB, *arguments],
        env={**os.environ, **here},
        stdout=subprocess.PIPE,
        text=True,
    ) as job:
        try:
            yield job
        finally:
            job.kill()


def parts_of_names(tries: Path, part: int) -> set[str]:
    return {file.name.split(".")[part] for file in tries.iterdir()}


def wait_until(happened: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.slow
def test_a_job_runs_on_both_workers_and_survives_the_death_of_one(tmp_path: Path) -> None:
    tries, go_on = tmp_path / "tries", tmp_path / "go-on"
    with StandaloneCluster(tmp_path / "cluster") as cluster, job_on(cluster, tries, go_on) as job:
        wait_until(lambda: parts_of_names(tries, 0) == {"work-0", "work-1"})
        cluster.kill_worker(0)
        assert job.poll() is None
        go_on.touch()
        said, _ = job.communicate(timeout=PATIENCE)
        assert job.returncode == 0
    assert int(said) == sum(range(1000))
    assert len(list(tries.iterdir())) > PARTITIONS
    processes = [Path("/proc") / process for process in parts_of_names(tries, 1)]
    wait_until(lambda: not any(process.exists() for process in processes))
    assert cluster.state() is None


@pytest.mark.slow
def test_nothing_is_left_of_a_cluster_in_which_something_failed(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), StandaloneCluster(tmp_path, workers=0) as cluster:
        _ = 1 / (cluster.state() is None)
    assert cluster.state() is None
