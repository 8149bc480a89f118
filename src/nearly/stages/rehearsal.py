"""Some documents taken through both methods, to see what all of them would cost."""

from fractions import Fraction

import numpy as np
import pyarrow as pa

from nearly.measures.base import Measure
from nearly.measures.pair import Block
from nearly.measures.work import ONE_THREAD
from nearly.stages.candidate import candidates, unique
from nearly.tuning.banding import Banding
from nearly.tuning.method import Rehearsal

__all__ = ["rehearse"]


def rehearse(
    measure: Measure, contents: pa.Array, banding: Banding, threshold: Fraction
) -> Rehearsal:
    """Hash these documents, and join them; the pairs are not needed."""
    documents = np.arange(len(contents), dtype=np.uint32)
    signed = measure.sign(contents, banding)
    met = [
        candidates(np.ascontiguousarray(keys), documents, signed.sketches, banding, hubs=0)[0]
        for keys in signed.keys.T
    ]
    block = Block.of(documents, contents)
    joined = list(measure.join([lambda: block], threshold, ONE_THREAD))
    return Rehearsal(
        documents=len(documents),
        candidates=len(unique(np.concatenate(met), 0, 2**64 - 1)),
        joined=sum(part.meetings for part in joined),
        join_verified=sum(part.verified for part in joined),
    )
