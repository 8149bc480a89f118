"""What is in how many documents, found before any is signed.

Either all is counted; or what may be in too many documents is suspected by block, then counted.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from nearly.arrays import column_of, numbers_of
from nearly.engines.spark.exchange import each
from nearly.engines.spark.partition import frequency
from nearly.engines.spark.partition.frequency import Occurrences
from nearly.measures.tally import merged

if TYPE_CHECKING:
    from pyspark import RDD

    from nearly.documents.folder import Folder
    from nearly.engines.spark.partition.signed_block import Plan

__all__ = ["counted"]

#: The name under which suspects and their occurrences are kept.
STAGE = "frequency"


def counted(blocks: RDD[Any], plan: Plan) -> Plan:
    """The plan with nothing left to count, if there was anything."""
    if plan.measure.is_counted:
        return plan
    found = None if plan.kept_in is None else _recalled(plan.kept_in)
    if found is None:
        found = _count(blocks, plan)
        if plan.kept_in is not None:
            _keep(found, plan.kept_in)
    plan = plan.settled(found.mean_extent)
    measure = plan.measure.counted(found.suspects, found.counts, found.documents)
    return plan._replace(measure=measure)


def _count(blocks: RDD[Any], plan: Plan) -> Occurrences:
    """What is frequent in all documents is so in some block: suspects are those of all blocks.

    Where everything is counted, the driver holds it: 12 bytes for each different shingle.
    """
    extents = each(partial(frequency.extent, plan=plan), blocks).collect()
    documents = sum(count for count, _ in extents)
    extent = sum(size for _, size in extents)
    plan = plan.settled(extent / max(1, documents))
    if plan.measure.counts_all:
        tallies = each(partial(frequency.tally, plan=plan), blocks)
        return Occurrences(*tallies.treeReduce(merged), documents, extent)
    suspects = each(partial(frequency.suspects, plan=plan), blocks).treeReduce(np.union1d)
    step = partial(frequency.occurrences, plan=plan, suspects=suspects)
    counts = each(step, blocks).treeReduce(np.add)
    return Occurrences(suspects, counts, documents, extent)


def _keep(found: Occurrences, folder: Folder) -> None:
    columns = [column_of(found.suspects), column_of(found.counts)]
    folder.save(STAGE, 0, pa.record_batch(columns, names=["suspect", "count"]))
    folder.finish(STAGE, {"documents": found.documents, "extent": found.extent})


def _recalled(folder: Folder) -> Occurrences | None:
    known = folder.finished(STAGE)
    if known is None:
        return None
    suspects, counts = map(numbers_of, folder.load_finished(STAGE, 0).columns)
    return Occurrences(suspects, counts, known["documents"], known["extent"])
