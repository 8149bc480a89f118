"""Passages of documents that lie in parts: the same as of documents that lie together."""

import gc
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import nearly
from nearly.arrays import string_array
from nearly.engines.local.parts import _Block, _dealt
from nearly.passage.found import Found, Places
from nearly.passage.hole import ignored_grams
from nearly.passage.meeting import Sides
from nearly.passage.part import Part
from nearly.passage.parted import search_parts
from nearly.passage.search import Corpus, search
from nearly.settings import PassageSettings

COMMON = ["the", "of", "and", "a", "to", "in", "is", "it"]
CONTENT = [
    *("bridge", "winter", "valley", "cracks", "engineer", "measured", "northern", "storm", "arch"),
    *(
        "harbour",
        "granite",
        "lantern",
        "orchard",
        "pigeon",
        "quarry",
        "ribbon",
        "saddle",
        "thistle",
    ),
    *("umbrella", "velvet", "walnut", "yeast", "zinc", "anchor", "barrel", "candle", "dagger"),
]


class Held(NamedTuple):
    """What all parts see."""

    value: Any


class Hand:
    """Parts in lists, and messages passed by hand: the last one sent comes first."""

    def __init__(self, sizes: list[int]) -> None:
        self.sizes = sizes
        self.blocks = None

    def share(self, value: Any) -> Held:
        return Held(value)

    def each(self, step: Callable, *states: list, numbered: bool = False, **shared: Held) -> list:
        told = {name: each.value for name, each in shared.items()}
        rows = enumerate(zip(*states, strict=True))
        return [step(*((i,) if numbered else ()), *row, **told) for i, row in rows]

    def exchange(
        self, step: Callable, *states: list, numbered: bool = False, **shared: Held
    ) -> list:
        came: list[list] = [[] for _ in range(sum(self.sizes))]
        for sent in self.each(
            lambda *a, **b: list(step(*a, **b)), *states, numbered=numbered, **shared
        ):
            for target, message in sent:
                came[target].insert(0, message)
        return came

    def collect(self, states: list) -> list:
        return states


def corpus_of(texts: list[str], sides: list[int], groups: list[int], ignored: list[str], settings):
    return Corpus(
        texts=string_array(texts),
        groups=np.array(groups, np.uint32),
        sides=np.array(sides, np.uint32),
        one_sided=max(sides) > 0,
        left_out=ignored_grams(string_array(ignored), settings),
        numbers=np.arange(len(texts)),
    )


def in_parts(corpus: Corpus, borders: list[int], settings: PassageSettings) -> tuple[Found, Places]:
    """Parts of one side only: a border stands where the second side begins."""
    cuts = sorted({0, len(corpus.texts), corpus.first, *borders})
    texts = [Part(a, corpus.texts[a:b]) for a, b in pairwise(cuts)]
    texts.insert(len(texts) // 2, Part(texts[len(texts) // 2].first, corpus.texts[:0]))
    first_side = sum(part.first < corpus.first for part in texts)
    parts = Hand([first_side, len(texts) - first_side] if corpus.one_sided else [len(texts)])
    firsts = np.array([part.first for part in texts])
    who = Sides(corpus.groups, corpus.sides, corpus.one_sided)
    return search_parts(parts, texts, who, firsts, corpus.left_out, settings)


def same(one: tuple[Found, Places], other: tuple[Found, Places]) -> None:
    for mine, theirs in zip(one, other, strict=True):
        for name, values in vars(mine).items():
            if name != "passage":  # any numbers, as long as they tell passages apart
                assert values.tolist() == getattr(theirs, name).tolist(), name
    numbers = (np.unique(each[1].passage, return_inverse=True)[1].tolist() for each in (one, other))
    assert next(numbers) == next(numbers)


TEXT = st.lists(st.sampled_from([*COMMON[:6], *CONTENT[:12]]), max_size=25)


@st.composite
def corpora(draw: st.DrawFn) -> tuple[list[str], list[int], list[int]]:
    """Documents around pieces of a few passages, some with words replaced."""
    passages = [draw(st.permutations([*CONTENT, *COMMON])) for _ in range(2)]
    texts = []
    for own in draw(st.lists(TEXT, min_size=3, max_size=9)):
        piece = list(passages[draw(st.integers(0, 1))][draw(st.integers(0, 6)) : 35])
        if draw(st.booleans()):
            piece[len(piece) // 2] = "replaced"
        texts.append(" ".join([*own, *piece, *own[:3]]))
    count = len(texts)
    groups = draw(st.lists(st.integers(0, 8), min_size=count, max_size=count))
    return texts, sorted(draw(st.lists(st.integers(0, 1), min_size=count, max_size=count))), groups


@pytest.mark.parametrize("unit", ["word", "char"])
@settings(max_examples=40)
@given(st.data())
def test_parts_find_what_the_whole_finds(unit: str, data: st.DataObject) -> None:
    texts, sides, groups = data.draw(corpora())
    asked = PassageSettings(
        unit=unit,
        least=6 if unit == "word" else 25,
        crowd=data.draw(st.integers(2, 4)),
        verbatim=data.draw(st.booleans()),
        common=data.draw(st.sampled_from([None, 60.0])),
    )
    sides = sides if data.draw(st.booleans()) and 0 in sides else [0] * len(texts)
    ignored = data.draw(st.sampled_from([[], [" ".join(CONTENT[3:9])]]))
    corpus = corpus_of(texts, sides, groups, ignored, asked)
    whole = search(corpus, asked, 1)
    assume(len(whole[0]) or len(whole[1].start))
    borders = data.draw(st.lists(st.integers(1, len(texts)), max_size=4))
    same(in_parts(corpus, borders, asked), whole)


@pytest.mark.parametrize(
    "asked",
    [{}, {"against": True}, {"verbatim": True}, {"common": 40.0}, {"group": "team"}],
    ids=str,
)
def test_a_limit_on_memory_changes_no_answer(
    asked: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Texts of 400 bytes a part: every document meets others that lie elsewhere."""
    monkeypatch.setattr("nearly.run._LEAST_PART", 400)
    draw = np.random.default_rng(7)
    shared = [list(draw.permutation(CONTENT)) for _ in range(20)]
    texts = [
        " ".join([*draw.choice(COMMON + CONTENT, 12), *shared[i % 20], "and", *CONTENT[:10]])
        for i in range(40)
    ]
    table = pa.table({"id": range(40), "text": texts, "team": [f"t{i // 3}" for i in range(40)]})
    against = table.slice(15) if asked.pop("against", False) else None
    source = table.slice(0, 15) if against is not None else table
    asked = {"least": 6, "crowd": 4, **asked}
    whole = nearly.passages(source, against, **asked)
    parted = nearly.passages(source, against, memory=1, temporary=tmp_path, **asked)
    assert len(whole) > 0
    assert asked.get("common") or whole.repeats.num_rows > 0
    for name in ("passages", "repeats", "pairs", "documents", "skipped"):
        assert getattr(parted, name).to_pylist() == getattr(whole, name).to_pylist(), name
    first = whole.passages.to_pylist()[0]["id_a"]
    assert parted.text(first) == whole.text(first)
    del parted
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_parts_hold_about_what_they_should() -> None:
    """Long and short texts, in batches larger and smaller than a part."""
    lengths = [10, 500, 0, 90, 90, 90, 1, 2000, 3, 3]
    batches = pa.table({"text": pa.array(["x" * n for n in lengths], pa.large_string())})
    for rows in (1, 3, 10):
        dealt = list(_dealt(iter(batches.to_batches(max_chunksize=rows)), 200))
        there = [
            [
                len(text)
                for batch in _Block(part).documents(None)
                for text in batch["text"].to_pylist()
            ]
            for part in dealt
        ]
        assert [length for part in there for length in part] == lengths
        assert all(sum(part) <= 200 or len(part) == 1 for part in there)
        assert len(there) <= 6
