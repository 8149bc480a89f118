"""Survivors of a whole corpus, and of its connected components one by one: they are the same."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from corpora import clustered

from nearly.arguments import Running
from nearly.documents.local import LocalCorpus
from nearly.engines.local import verification
from nearly.engines.local.engine import LocalEngine
from nearly.measures.jaccard import Jaccard
from nearly.measures.number import Documents
from nearly.measures.pair import Nearness, Packed, Pairs, join_pairs, split_pairs
from nearly.run import opened
from nearly.settings import Settings
from nearly.sources import Skipped
from nearly.stages.cluster import cluster
from nearly.stages.survivor import Keep, by_best_copy, rank, survivors
from nearly.tuning.banding import Banding

#: Document, survivor, similarity.
Removals = list[tuple[int, int, float]]


class Component:
    """Some documents of a corpus, numbered anew: all that survivors are chosen by."""

    old = 0

    def __init__(self, corpus: LocalCorpus, near: Pairs, documents: Documents):
        self._corpus, self.documents = corpus, documents
        inside = np.isin(near.first, documents)
        self.near = Pairs(
            first=self._numbers(near.first[inside]),
            second=self._numbers(near.second[inside]),
            nearness=near.nearness[inside],
        )
        copied = np.isin(corpus.copies, documents)
        self.copies = self._numbers(corpus.copies[copied])
        self.originals = self._numbers(corpus.originals[copied])
        column = corpus.rule_column
        self.rule_column = [pa.concat_arrays(column).take(documents)] if column else []

    def _numbers(self, documents: Documents) -> Documents:
        return np.searchsorted(self.documents, documents).astype(np.uint32)

    def __len__(self) -> int:
        return len(self.documents)

    def characters(self, documents: Documents) -> npt.NDArray[np.int64]:
        return self._corpus.characters(self.documents[documents])


def of_component(component: Component, keep: Keep, engine: LocalEngine) -> Removals:
    corpus, near = component._corpus, component.near

    def compare(packed: Packed) -> Nearness:
        first, second = (component.documents[part] for part in split_pairs(packed))
        return verification.compare(engine.shop, corpus, join_pairs(first, second))

    order = rank(component, near, keep)
    leading = by_best_copy(order, component)
    method = corpus.settings.cluster
    clusters = cluster(near, component.copies, component.originals, leading, method)
    removed = survivors(component, clusters, order, near, compare, same=1.0)
    named = (component.documents[part].tolist() for part in (removed.documents, removed.survivors))
    return list(zip(*named, removed.nearness.tolist(), strict=True))


@pytest.mark.parametrize("method", ["components", "leader"])
@pytest.mark.parametrize(
    "rule", ["first", "last", "longest", "shortest", "newest:date", "min:number"]
)
def test_components_one_by_one_give_what_the_whole_corpus_gives(method: str, rule: str) -> None:
    texts = clustered()
    texts += texts[::3]
    table = pa.table(
        {
            "text": texts,
            "date": [f"2024-01-{1 + i * 7 % 28:02}" for i in range(len(texts))],
            "number": [i * 31 % 17 for i in range(len(texts))],
        }
    )
    keep = Keep.parse(rule)
    settings = Settings.of(method="exact", threshold=0.6, k=3, cluster=method)
    with opened(table, Running(text="text")) as (source, engine):
        skipped = Skipped()
        measure = Jaccard.of(settings)
        corpus = engine.load(source, measure, settings, Banding(1, 1), skipped, keep=keep)
        found = engine.near_pairs(corpus, Banding(1, 1), hubs=0)
        near, whole = found.pairs, engine.cleaned(corpus, found, keep).removed
        everyone = np.arange(len(corpus), dtype=np.uint32)
        connected = cluster(near, corpus.copies, corpus.originals, everyone, "components")
        removals: Removals = []
        for number in range(connected.count):
            documents = connected.members[connected.numbers == number]
            removals += of_component(Component(corpus, near, documents), keep, engine)
    assert connected.count > 20
    columns = (whole.column(name).to_pylist() for name in ("id", "survivor", "similarity"))
    assert sorted(removals) == list(zip(*columns, strict=True))
