"""Clusters of all that an index holds, with numbers that stay as it grows."""

from typing import Any

import pyarrow as pa

from nearly import pipeline
from nearly.engines.local.engine import LocalEngine
from nearly.index.old import every_document
from nearly.index.view import View
from nearly.progress import Silence
from nearly.remnant import scratch
from nearly.schemas import CLUSTERS
from nearly.settings import Settings
from nearly.sources import Skipped

__all__ = ["clusters"]


def clusters(view: View) -> pa.Table:
    """Members of clusters of two and more: id, cluster, and the cluster's weakest verified link.

    A cluster is called by the number of its first document, in the order of adding. So it keeps
    its number as others join; where two become one, that is called as the older of them was.
    """
    source: Any = every_document(view)
    making = view.making
    if view.counts().documents == 0:
        return CLUSTERS.empty_table()
    settings = making.settings_of_run(Settings())
    with scratch() as folder, LocalEngine(folder=folder, progress=Silence()) as engine:
        found = pipeline.find(source, making.measure, settings, engine, Skipped(), top=0).clusters
    number_of = {
        name: number
        for batch in source.documents(None)
        for number, name in zip(*(batch.column(i).to_pylist() for i in (0, 1)), strict=True)
    }
    members = list(zip(*(found[name].to_pylist() for name in ("id", "cluster")), strict=True))
    firsts: dict[int, int] = {}
    for name, cluster in members:
        firsts[cluster] = min(firsts.get(cluster, number_of[name]), number_of[name])
    named = pa.array([firsts[cluster] for _, cluster in members], pa.int64())
    return found.set_column(1, found.schema.field(1), named)
