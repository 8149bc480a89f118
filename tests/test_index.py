"""An index answers as a plain dict of sets does, whatever was added, removed and merged before.

One body of tests for an index in a folder and for one in PostgreSQL, where that is the question.
"""

import errno
import itertools
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from postgres import needs_postgres

import nearly
from nearly import _kernels, textbook
from nearly.arrays import string_array
from nearly.cli import exit_code
from nearly.cli.index import index as index_command
from nearly.errors import MissingError, NearlyError, SettingsError, SinkError, SourceError
from nearly.index import addition, merge_policy, search
from nearly.index.plain_question import ask_plainly
from nearly.index.question import content_of
from nearly.settings import TextSettings
from nearly.sinks.mark import sweep

SEED = 11
#: A file system in memory, where waiting for the disk takes no time.
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108
#: At most 1 pair in a million at the threshold is missed: tests never see it.
SURE = {"threshold": 0.6, "recall": 0.999999, "k": 3, "seed": SEED, "permutations": 1024}


def shingles(text: str) -> frozenset[Any]:
    """The set that is compared, by the textbook."""
    return frozenset(textbook.shingles(textbook.normalise(text, TextSettings()), "char", 3))


def similarity(a: frozenset[Any], b: frozenset[Any], measure: str = "jaccard") -> float:
    if not (a and b):
        return 0.0
    if measure == "jaccard":
        return float(textbook.jaccard(a, b))
    return float(textbook.containment(*sorted((a, b), key=len)))


class Oracle:
    """A dict of sets, in the order of adding."""

    def __init__(self, measure: str) -> None:
        self.texts: dict[str, str] = {}
        self.measure = measure

    def add(self, texts: dict[str, str], *, replace: bool) -> None:
        for name, text in texts.items():
            if replace:
                self.texts.pop(name, None)
            self.texts.setdefault(name, text)

    def query(self, text: str, threshold: float) -> list[tuple[str, float]]:
        sought = shingles(text)
        texts = self.texts.items()
        every = ((name, similarity(sought, shingles(t), self.measure)) for name, t in texts)
        near = [(name, s) for name, s in every if s >= threshold and s > 0]
        return sorted(near, key=lambda pair: -pair[1])  # stable: in the order of adding


WORDS = ["red", "green", "blue", "paint", "brush", "wall"]


def texts() -> st.SearchStrategy[str]:
    """Texts of a few words: near to each other, and equal, as often as not; some are empty."""
    words = st.lists(st.sampled_from(WORDS), max_size=7)
    return words.map(" ".join)


def batches() -> st.SearchStrategy[dict[str, str]]:
    names = st.integers(0, 30).map(lambda i: f"d{i}")
    return st.dictionaries(names, texts(), max_size=12)


#: Where an index is made, by its name.
Home = Callable[[str], Any]


def on_both(*, is_quick: bool = False) -> pytest.MarkDecorator:
    """Make the index of a test in a folder, and in PostgreSQL."""
    marks = [needs_postgres, *([] if is_quick else [pytest.mark.slow])]
    stores = ["disk", pytest.param("postgres", marks=marks)]
    return pytest.mark.parametrize("home", stores, indirect=True)


@pytest.fixture
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Home:
    if request.param == "disk":
        return lambda name: tmp_path / name
    return named_in(request.getfixturevalue("postgres"))


def named_in(address: str) -> Home:
    """Names that no other test has."""
    prefix = f"t{next(TESTS)}_"
    return lambda name: f"{address}&index={prefix}{name}"


TESTS = itertools.count()


class Growing(RuleBasedStateMachine):
    """Adds, removals, compactions and openings in any order, beside the oracle."""

    postgres: str | None = None

    @initialize(
        seed=st.integers(0, 3),
        keeps_texts=st.booleans(),
        measure=st.sampled_from(["jaccard", "containment"]),
    )
    def create(self, seed: int, keeps_texts: bool, measure: str) -> None:
        self.folder = TemporaryDirectory(dir=MEMORY)
        self.path: Any = Path(self.folder.name) / "index"
        if self.postgres is not None:
            self.path = named_in(self.postgres)("index")
        self.keeps_texts = keeps_texts
        made = SURE | {"seed": seed, "measure": measure}
        self.index = nearly.Index.create(self.path, **made, texts=keeps_texts)
        self.oracle = Oracle(measure)

    @rule(batch=batches(), replace=st.booleans())
    def add(self, batch: dict[str, str], replace: bool) -> None:
        before = dict(self.oracle.texts)
        added = self.index.add(batch, replace=replace)
        self.oracle.add(batch, replace=replace)
        new = [name for name in batch if replace or name not in before]
        assert added.added == len(new)
        assert added.added + added.skipped_count == len(batch)
        self.check_seen(added.seen, new)

    def check_seen(self, seen: pa.Table, new: list[str]) -> None:
        """Each new pair once, and similar as said; of copies only the first."""
        pairs = list(zip(*seen.to_pydict().values(), strict=True))
        assert len({pair[:2] for pair in pairs}) == len(pairs)
        names = list(self.oracle.texts)
        sets = {name: shingles(text) for name, text in self.oracle.texts.items()}
        for later, earlier, found in pairs:
            assert later in new
            assert names.index(earlier) < names.index(later)
            assert found == similarity(sets[later], sets[earlier], self.oracle.measure)
        near = {
            (later, earlier)
            for later in new
            for earlier in names[: names.index(later)]
            if similarity(sets[later], sets[earlier], self.oracle.measure) >= 0.6
        }
        assert {pair[:2] for pair in pairs} <= near
        found_by = {pair[0] for pair in pairs}
        assert found_by == {later for later, _ in near}

    @rule(names=st.lists(st.integers(0, 30).map(lambda i: f"d{i}"), max_size=8))
    def remove(self, names: list[str]) -> None:
        gone = {name for name in names if name in self.oracle.texts}
        assert self.index.remove(names) == len(gone)
        for name in gone:
            del self.oracle.texts[name]

    @rule()
    def compact(self) -> None:
        self.index.compact()
        assert self.index.stats().segments <= 1
        assert self.index.stats().pending == self.index.stats().gone == 0

    @rule()
    def reopen(self) -> None:
        self.index.close()
        self.index = nearly.Index.open(self.path)

    @rule(text=texts(), threshold=st.sampled_from([0.6, 0.75, 1.0]))
    def ask(self, text: str, threshold: float) -> None:
        expected = self.oracle.query(text, threshold)
        assert list(self.index.query(text, threshold=threshold)) == expected
        assert list(self.index.query(text, threshold=threshold, k=2)) == expected[:2]

    @rule(data=st.data())
    def ask_for_one_that_is_there(self, data: st.DataObject) -> None:
        if self.oracle.texts:
            name = data.draw(st.sampled_from(sorted(self.oracle.texts)))
            text = self.oracle.texts[name]
            assert list(self.index.query(text)) == self.oracle.query(text, 0.6)
            if self.keeps_texts:
                assert self.index.text(name) == text or not text.strip()

    @invariant()
    def it_has_as_many(self) -> None:
        assert len(self.index) == len(self.oracle.texts)
        assert all((f"d{i}" in self.index) == (f"d{i}" in self.oracle.texts) for i in range(31))

    def teardown(self) -> None:
        if hasattr(self, "index"):
            self.index.close()
            with nearly.Index.open(self.path, read_only=True) as reader:
                assert len(reader) == len(self.oracle.texts)
                assert reader.check().is_sound
            self.folder.cleanup()


@pytest.fixture(autouse=True)
def small_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Segments of a few documents, so that few are enough to write and merge them."""
    monkeypatch.setattr(addition, "PENDING", 4)
    monkeypatch.setattr(merge_policy, "SMALLEST", 4)


Growing.TestCase.settings = settings(
    max_examples=15,
    stateful_step_count=12,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
TestGrowing = pytest.mark.usefixtures("small_segments")(Growing.TestCase)


class GrowingInPostgres(Growing):
    """The same in a database."""


@needs_postgres
@pytest.mark.slow
class TestGrowingInPostgres(GrowingInPostgres.TestCase):  # type: ignore[misc, valid-type]
    settings = settings(Growing.TestCase.settings, max_examples=6)

    @pytest.fixture(autouse=True)
    def address(self, postgres: str) -> None:
        GrowingInPostgres.postgres = postgres


def near_copies(count: int, seed: int = 1) -> dict[str, str]:
    """Texts of which many are near to others, and some copies."""
    chance = random.Random(seed)
    words = [f"{chance.getrandbits(32):x}" for _ in range(300)]
    found: dict[str, str] = {}
    for i in range(count):
        kind = chance.random()
        if i and kind < 0.4:
            text = chance.choice(list(found.values())).split()
            if kind > 0.1:
                text[chance.randrange(len(text))] = chance.choice(words)
        else:
            text = chance.choices(words, k=20)
        found[f"n{i}"] = " ".join(text)
    return found


def pairs_of(table: pa.Table) -> set[tuple[Any, Any, float]]:
    columns = list(table.to_pydict().values())
    return {(*sorted(pair[:2]), pair[2]) for pair in zip(*columns, strict=True)}


@on_both(is_quick=True)
@pytest.mark.parametrize("size", [pytest.param(1, marks=pytest.mark.slow), 90, 400])
def test_what_was_seen_is_what_find_finds(home: Home, size: int) -> None:
    """Batch by batch, the new pairs are together those of one run."""
    texts = near_copies(400)
    made = {"threshold": 0.6, "k": 5, "seed": SEED}
    found = nearly.find(texts, **made, method="lsh")  # type: ignore[arg-type]
    assert found.statistics.copies > 10
    assert found.statistics.near > 50
    seen = set()
    with nearly.Index.create(home("index"), **made) as index:
        names = iter(texts)
        while batch := {name: texts[name] for name in itertools.islice(names, size)}:
            seen |= pairs_of(index.add(batch).seen)
    assert seen == pairs_of(found.pairs)


@on_both()
@pytest.mark.parametrize("texts", [True, False])
def test_containment_is_counted_and_nothing_is_missed(home: Home, texts: bool) -> None:
    """Texts, and beginnings of them that share no bucket with the whole."""
    documents = near_copies(120)
    words = [text.split() for text in documents.values()]
    documents |= {f"part{i}": " ".join(words[i][: 3 + i % 6]) for i in range(40)}
    made: dict[str, Any] = {"measure": "containment", "threshold": 0.7, "k": 5, "seed": SEED}
    found = nearly.find(documents, method="exact", **made)
    assert sum(row["id_b"].startswith("part") for row in found.pairs.to_pylist()) > 30
    names = list(documents)
    random.Random(3).shuffle(names)
    seen = set()
    with nearly.Index.create(home("index"), texts=texts, **made) as index:
        for first in range(0, len(names), 23):
            batch = {name: documents[name] for name in names[first : first + 23]}
            seen |= pairs_of(index.add(batch).seen)
        assert len(seen) == len(found)
        index.compact()
        assert index.check().is_sound
        assert index.stats().promised == 1


@on_both(is_quick=True)
def test_items_that_are_contained(home: Home) -> None:
    baskets = pa.table({"id": ["a", "b", "c"], "items": [list(range(50)), [1, 2, 90], [7, 8]]})
    made: dict[str, Any] = {"items": "items", "measure": "containment", "threshold": 0.6}
    with nearly.Index.create(home("index"), baskets, **made) as index:
        assert list(index.query([2, 1])) == [("a", 1.0), ("b", 1.0)]
        assert list(index.query([*range(1, 9), 90])) == [("b", 1.0), ("c", 1.0), ("a", 8 / 9)]
        assert index.query([90], k=1) == [("b", 1.0)]


@on_both()
def test_an_index_made_at_once_answers_as_one_that_grew(home: Home) -> None:
    texts = near_copies(80)
    order = list(texts)
    random.Random(3).shuffle(order)
    with (
        nearly.Index.create(home("once"), texts, threshold=0.6, k=5, seed=SEED) as once,
        nearly.Index.create(home("grown"), threshold=0.6, k=5, seed=SEED) as grown,
    ):
        for name in order:
            grown.add({name: texts[name]})
        assert grown.stats().segments < 12
        for text in texts.values():
            assert sorted(once.query(text)) == sorted(grown.query(text))


@on_both()
def test_a_reader_sees_whole_commits(home: Home) -> None:
    texts = near_copies(30)
    with (
        nearly.Index.create(home("index"), threshold=0.6, seed=SEED) as writer,
        nearly.Index.open(home("index"), read_only=True) as reader,
    ):
        for count, (name, text) in enumerate(texts.items(), 1):
            writer.add({name: text})
            assert len(reader) == count
            assert name in [found for found, _ in reader.query(text)]
        with pytest.raises(ZeroDivisionError):
            add_and_fail(writer, reader)
        assert "more" not in reader
        assert "more" not in writer
        with pytest.raises(SinkError, match="reading only"):
            reader.add({"x": "y"})


def test_a_thread_that_asks_does_not_wait_for_one_that_writes(tmp_path: Path) -> None:
    """A commit waits for the disk; questions of the same process go on, and see what was there."""
    text = "a text that is asked for while another is on its way"
    with (
        nearly.Index.create(tmp_path / "index", {"a": text}, threshold=0.6) as index,
        ThreadPoolExecutor(1) as other,
    ):
        with index.adding() as adding:
            adding.add({"b": text})
            assert other.submit(index.query, text).result(timeout=60) == [("a", 1.0)]
            assert other.submit(len, index).result(timeout=60) == 1
        assert other.submit(index.query, text).result() == [("a", 1.0), ("b", 1.0)]


def add_and_fail(writer: nearly.Index, reader: nearly.Index) -> None:
    with writer.adding() as adding:
        adding.add({"more": "words", "and more": "other words"})
        assert "more" not in reader
        raise ZeroDivisionError


@on_both()
def test_clusters_keep_their_numbers(home: Home) -> None:
    """Whatever came together stays together, by the number that the older of two clusters had."""
    texts = near_copies(150)
    names = list(texts)
    made: dict[str, Any] = {"threshold": 0.6, "k": 5, "seed": SEED}
    before: dict[str, int] = {}
    with nearly.Index.create(home("index"), **made) as index:
        assert index.clusters().num_rows == 0
        for last in (50, 51, 100, 150):
            index.add({name: texts[name] for name in names[:last] if name not in index})
            if last == 100:
                index.compact()
            table = index.clusters()
            now = dict(zip(table["id"].to_pylist(), table["cluster"].to_pylist(), strict=True))
            assert all(now[name] <= before[name] for name in before)
            assert all(names.index(name) >= number for name, number in now.items())
            assert all(now[names[number]] == number for number in now.values())
            before = now
    whole = nearly.find(texts, method="lsh", **made).clusters
    together: dict[int, set[str]] = {}
    for name, cluster in zip(whole["id"].to_pylist(), whole["cluster"].to_pylist(), strict=True):
        together.setdefault(cluster, set()).add(name)
    mine: dict[int, set[str]] = {}
    for name, cluster in before.items():
        mine.setdefault(cluster, set()).add(name)
    assert sorted(map(sorted, mine.values())) == sorted(map(sorted, together.values()))


def test_clusters_that_become_one_have_the_number_of_the_older(tmp_path: Path) -> None:
    words = [f"w{i}" for i in range(30)]
    old, new, between = (" ".join(words[i : i + 20]) for i in (0, 8, 4))  # only the last is near
    made: dict[str, Any] = {"unit": "word", "k": 1, "threshold": 0.6, "recall": 0.9999}
    with nearly.Index.create(tmp_path / "index", **made) as index:
        index.add({"x": "another", "a": old, "b": old, "c": new, "d": new})
        assert index.clusters()["cluster"].to_pylist() == [1, 1, 3, 3]
        index.add({"e": between})
        assert index.clusters()["cluster"].to_pylist() == [1] * 5
        index.remove(["e"])
        assert index.clusters()["cluster"].to_pylist() == [1, 1, 3, 3]


def test_a_folder_has_one_writer(tmp_path: Path) -> None:
    with (
        nearly.Index.create(tmp_path / "index"),
        pytest.raises(SinkError, match="another process writes"),
    ):
        nearly.Index.open(tmp_path / "index")


@on_both()
def test_a_crowded_bucket_is_bounded_and_counted(home: Home) -> None:
    """Members of one large family: a question compares some, and says how many it left out."""
    family = {
        f"f{i}": "the same long beginning of every text of this family " + str(i)
        for i in range(600)
    }
    question = family["f7"] + "0"
    asked = {}
    for parts in (1, 5):
        place = home(f"in_{parts}")
        names = list(family)
        with nearly.Index.create(place, threshold=0.6, seed=SEED, k=5) as index:
            for part in range(parts):
                index.add({name: family[name] for name in names[part::parts]}, report=False)
            asked[parts] = index.query(question)
            assert asked[parts].left_out > 0
            assert len(asked[parts]) <= asked[parts].compared <= search.MOST_MEMBERS
            copy = index.query(family["f599"], k=1)  # whatever is left out, a copy is found
            assert copy == [("f599", 1.0)]
            assert index.query(question, k=3) == asked[parts][:3] or len(asked[parts]) > 3
    assert sorted(asked[1]) == sorted(asked[5])


def test_a_question_looks_at_no_more_of_ten_times_as_large_a_crowd(tmp_path: Path) -> None:
    """What is met, and what of it is compared, is bounded: in one call, and in steps."""
    looked_at = {}
    for members in (search.MOST_MEMBERS, 300, 3000):
        family = {f"f{i}": f"a long beginning of every text of family {i}" for i in range(members)}
        with nearly.Index.create(
            tmp_path / f"{members}", family, threshold=0.6, seed=SEED, k=5
        ) as index:
            asking, view = index._store.making.asking, index._store.view()
            question = f"{family['f7']}0 too"
            found = index.query(question)
            slowly = search.ask(asking, view.near, string_array([question]), None)
            assert (found, found.compared, found.left_out) == (
                slowly,
                slowly.compared,
                slowly.left_out,
            )
            assert (found.left_out > 0) == (members > search.MOST_MEMBERS)
            met, _ = search._met(view.lives, asking.sign(string_array([question])).keys)
            others = sum(int((~each.is_of_crowd).sum()) for each in met)
            looked_at[members] = sum(map(len, met)), others, found.compared
    bands = index.stats().bands
    assert looked_at[search.MOST_MEMBERS][2] == search.MOST_MEMBERS
    for met_there, of_other_buckets, compared in looked_at.values():
        assert met_there <= bands * search.MOST_MEMBERS
        assert compared <= max(search.MOST_MEMBERS, of_other_buckets)


def test_a_question_in_one_go_meets_what_it_meets_band_by_band(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(addition, "PENDING", 20)
    draw = random.Random(5)
    words = [f"word{i}" for i in range(30)]
    texts = [" ".join(draw.choices(words, k=12)) for _ in range(40)]
    texts += [" ".join(draw.sample(text.split(), 12)) for text in texts]
    with nearly.Index.create(tmp_path / "index", threshold=0.4, k=3, recall=0.9) as index:
        for start in range(0, 80, 16):
            index.add({f"d{i}": texts[i] for i in range(start, start + 16)})
        index.remove([f"d{i}" for i in range(0, 80, 7)])
        asking, lives = index._store.making.asking, index._store.lives()
        assert len(lives) > 2
        met_some = 0
        for text in texts:
            signed = asking.measure.sign(string_array([text]), asking.banding)
            at_once, left_out = search._near(asking, lives, signed, None)
            met, _ = search._met(lives, signed.keys)
            by_band = search._agreeing(asking, met, signed, None)
            expected = [
                (each.live.key, each.contents.tolist(), each.digests.tolist())
                for each in by_band
                if len(each)
            ]
            found = [
                (live.key, contents.tolist(), digests.tolist())
                for live, contents, digests in at_once
            ]
            assert (found, left_out) == (expected, 0)
            met_some += len(found) > 0
        assert met_some > 60


def odd_texts() -> st.SearchStrategy[str]:
    """Of words, some out of their normal form, in other cases and scripts, or no text at all."""
    odd = ["Re\u0301d", "réd", "WALL", "漢字", "\u0627\u0644", "\t", "a\u0315\u0300", "\udc80", ""]
    return st.lists(st.sampled_from(WORDS + odd), max_size=9).map(" ".join)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(odd_texts().filter(lambda text: "\udc80" not in text), max_size=30),
    st.lists(odd_texts(), min_size=1, max_size=8),
    st.sampled_from(
        [
            {},
            {"unit": "word", "k": 2, "stop_words": ("red",)},
            {"raw": True},
            {"form": "none", "accents": "drop", "scheme": "independent"},
            {"punctuation": "drop", "ignore": ("paint brush wall",)},
        ]
    ),
    st.integers(1, 20),
)
def test_one_call_answers_as_many_steps_do(
    held: list[str], asked: list[str], how: dict[str, Any], most: int
) -> None:
    """`most`: in small buckets some are crowded, and the kernel leaves them to others."""
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory(dir=MEMORY) as folder:
        patch.setattr(search, "MOST_MEMBERS", most)
        place = Path(folder) / "index"
        with nearly.Index.create(place, **(SURE | {"threshold": 0.5} | how)) as index:
            index.add({f"d{i}": text for i, text in enumerate(held)})
            index.add({"x": "red"})
            index.remove([f"d{i}" for i in range(0, len(held), 5)])
            view, asking = index._store.view(), index._store.making.asking
            assert asking.asker is not None
            for text in [*asked, *held]:
                found = ask_plainly(asking, view, text, None)
                if found is None:
                    continue
                slowly = search.ask(asking, view.near, content_of(view.making, text), None)
                assert found == slowly
                assert (found.compared, found.left_out) == (slowly.compared, slowly.left_out)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(odd_texts().filter(lambda text: "\udc80" not in text), max_size=30),
    st.lists(odd_texts().filter(lambda text: "\udc80" not in text), min_size=1, max_size=6),
    st.sampled_from([{}, {"unit": "word", "k": 2}, {"measure": "containment"}]),
    st.integers(1, 20),
)
def test_one_document_is_reported_as_one_of_many_is(
    held: list[str], new: list[str], how: dict[str, Any], most: int
) -> None:
    """With one call of a kernel, and in the steps that many documents take."""
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory(dir=MEMORY) as folder:
        patch.setattr(search, "MOST_MEMBERS", most)
        patch.setattr(addition, "MOST_MEMBERS", most)
        reported = []
        for is_plain in (True, False):
            if not is_plain:
                patch.setattr(addition, "first_near_plainly", lambda *_: None)
            place = Path(folder) / f"{is_plain}"
            with nearly.Index.create(place, **(SURE | {"threshold": 0.5} | how)) as index:
                index.add({f"d{i}": text for i, text in enumerate(held)})
                index.add({"x": "red"})
                index.remove([f"d{i}" for i in range(0, len(held), 5)])
                if len(held) % 2:
                    index.compact()
                added = [index.add({f"n{i}": text}) for i, text in enumerate(new)]
                reported.append([(one.seen.to_pydict(), one.copies, one.left_out) for one in added])
        assert reported[0] == reported[1]


def test_plain_questions_are_answered_in_one_call(tmp_path: Path) -> None:
    texts = near_copies(60)
    with nearly.Index.create(tmp_path / "index", texts, threshold=0.6, k=5, seed=SEED) as index:
        view, asking = index._store.view(), index._store.making.asking
        answers = [ask_plainly(asking, view, text, None) for text in texts.values()]
        assert all(answers)
        assert ask_plainly(asking, view, texts["n0"], 1) == answers[0][:1]
        for other in ("e\u0301" * 20, "\udc80", b"bytes", "x" * 2**20):
            assert ask_plainly(asking, view, other, None) is None


WORDS_OF_64_BITS = st.sampled_from([0, 1, 2**40, 2**63, 2**64 - 1]) | st.integers(0, 2**64 - 1)


@given(st.lists(st.tuples(WORDS_OF_64_BITS, WORDS_OF_64_BITS), max_size=60), st.integers(1, 3))
def test_digests_are_put_in_order_as_pairs_are(pairs: list[tuple[int, int]], copies: int) -> None:
    digests = np.array(pairs * copies, np.uint64).reshape(-1, 2)
    found = _kernels.digest_order(digests).tolist()
    assert found == sorted(range(len(digests)), key=lambda place: (pairs * copies)[place])


@pytest.mark.parametrize("count", [0, 1, 50, 3000])  # few are sorted in another way than many
def test_runs_of_bands_are_keys_in_order_and_whose_they_are(count: int) -> None:
    draw = np.random.default_rng(count)
    keys = draw.integers(0, 40, (count + 5, 4), dtype=np.uint32) * np.uint32(100_000_007)
    rows = draw.permutation(count + 5)[:count].astype(np.uint32)
    owners = np.sort(draw.permutation(2 * count)[:count]).astype(np.uint32)
    expected = []
    for band in (1, 2):
        run = sorted(zip(keys[rows, band].tolist(), owners.tolist(), strict=True))
        expected += [key for key, _ in run] + [owner for _, owner in run]
    assert _kernels.sort_bands(keys, rows, owners, 1, 3).tolist() == expected


def test_vectors_of_another_shape_are_refused(tmp_path: Path) -> None:
    first = pa.table({"v": pa.array([[1.0, 2.0]], pa.list_(pa.float32()))})
    with nearly.Index.create(tmp_path / "index", first, vector="v") as index:
        for other in ([[1.0, 2.0]], [[1.0, 2.0, 3.0]]):
            with pytest.raises(SourceError, match="Both have to hold the same"):
                index.add(pa.table({"v": pa.array(other)}), vector="v")


@on_both()
def test_items_and_vectors(home: Home) -> None:
    baskets = pa.table({"id": ["a", "b", "c"], "items": [[1, 2, 3, 4], [1, 2, 3, 4, 5], [9, 8]]})
    with nearly.Index.create(
        home("items"), baskets, items="items", threshold=0.6, recall=0.9999, seed=SEED
    ) as index:
        assert list(index.query([4, 3, 2, 1])) == [("a", 1.0), ("b", 0.8)]
        with pytest.raises(SourceError, match="holds texts and the index"):
            index.add({"d": "a text"})
        with pytest.raises(SettingsError, match="the index holds sets; give a list"):
            index.query("a text")
    vectors = np.random.default_rng(1).normal(size=(50, 16)).astype("f4")
    table = pa.table({"id": list(range(50)), "v": list(vectors)})
    with nearly.Index.create(home("vectors"), table, vector="v", threshold=0.9, seed=SEED) as index:
        assert index.query(vectors[3])[0] == (3, 1.0)
        for question in (vectors[3][:4], "a text", None):
            with pytest.raises(SettingsError, match="give a vector of 16 numbers"):
                index.query(question)


@pytest.mark.parametrize(
    ("measure", "within"), [("angle", 10), ("euclidean", 0.5), ("manhattan", 0.8)]
)
def test_distances(tmp_path: Path, measure: Any, within: float) -> None:
    """What is asked one by one is what one run finds; and the nearest come without a limit."""
    vectors = np.random.default_rng(1).normal(size=(60, 8)).astype("f4")
    vectors[30:] = vectors[:30] + np.float32(0.05)
    table = pa.table({"id": range(60), "v": list(vectors)})
    made: dict[str, Any] = {"vector": "v", "measure": measure, "within": within, "seed": SEED}
    found = nearly.find(table, method="lsh", **made)
    assert len(found) >= 25
    with nearly.Index.create(tmp_path / "index", table, **made) as index:
        answers = [(a, index.query(vector)) for a, vector in enumerate(vectors)]
        pairs = {(a, b, far) for a, answer in answers for b, far in answer if a < b}
        assert pairs == {tuple(row.values()) for row in found.pairs.to_pylist()}
        assert index.query(vectors[0], k=1) == [(0, 0.0)]
        assert index.query(vectors[0], within=within / 1000) == [(0, 0.0)]
        assert index.stats().threshold is None
        with pytest.raises(SettingsError, match=f"{measure} is a distance and within is not given"):
            index.query(vectors[0], threshold=0.5)


def test_bits(tmp_path: Path) -> None:
    bits = np.random.default_rng(1).integers(0, 256, (60, 8)).astype("u1")
    bits[30:] = bits[:30]
    bits[30:, 0] ^= 1
    table = pa.table({"id": range(60), "v": [bytes(row) for row in bits]})
    made: dict[str, Any] = {"vector": "v", "measure": "hamming", "within": 3, "recall": 0.99999}
    with nearly.Index.create(tmp_path / "index", table, **made) as index:
        assert index.query(bytes(bits[4])) == [(4, 0.0), (34, 1.0)]


@on_both()
def test_rows_without_ids_are_numbered_on(home: Home) -> None:
    with nearly.Index.create(home("index"), ["one text here", "two texts here"]) as index:
        added = index.add(["one text here"])
        assert added.seen.to_pylist() == [{"id": 2, "seen": 0, "similarity": 1.0}]
        assert index.text(2) == "one text here"
        with pytest.raises(SettingsError, match="whole numbers"):
            index.add({"name": "text"})
        assert len(index) == 3


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"common": 0.1}, SettingsError, "an index grows"),
        ({"weights": "idf"}, SettingsError, "an index keeps no weights"),
        ({"measure": "edit", "within": 2}, SettingsError, "no hash functions"),
        ({"treshold": 0.5}, SettingsError, "threshold"),
        ({"threshold": 2}, SettingsError, "threshold is 2"),
    ],
)
def test_settings_that_make_no_index(
    tmp_path: Path, options: dict[str, Any], error: type[NearlyError], said: str
) -> None:
    with pytest.raises(error, match=said):
        nearly.Index.create(tmp_path / "index", {"a": "text"}, **options)
    assert list(tmp_path.iterdir()) == []


def test_the_command_says_what_it_left_out(tmp_path: Path) -> None:
    lines = ['{"id": 1, "text": "some text"}', '{"id": 1, "text": "its id is taken"}', "no JSON"]
    (tmp_path / "new.jsonl").write_text("\n".join(lines))
    for command in ("create", "add"):
        listed = tmp_path / f"{command}.csv"
        given = [command, tmp_path / "seen", tmp_path / "new.jsonl", "--skipped", listed]
        ran = CliRunner().invoke(index_command, list(map(str, given)), standalone_mode=False)
        assert ran.return_value == exit_code.INCOMPLETE
        assert "not valid JSON" in listed.read_text()
        assert "has its id" in listed.read_text()


def test_places_that_hold_no_index(tmp_path: Path) -> None:
    with pytest.raises(MissingError, match="no index in"):
        nearly.Index.open(tmp_path)
    (tmp_path / "file").write_text("mine")
    with pytest.raises(SinkError, match="there already"):
        nearly.Index.create(tmp_path)
    assert (tmp_path / "file").read_text() == "mine"


@given(st.lists(st.tuples(st.integers(1, 10**6), st.floats(0, 1)), max_size=60))
def test_merging_ends_with_few_segments(given: list[tuple[int, float]]) -> None:
    sizes = [merge_policy.Size(documents, int(documents * gone)) for documents, gone in given]
    for _ in range(1000):
        chosen = merge_policy.choose(sizes)
        if not chosen:
            break
        left = sum(sizes[i].documents - sizes[i].gone for i in chosen)
        sizes = [size for i, size in enumerate(sizes) if i not in chosen]
        sizes += [merge_policy.Size(left, 0)] if left else []
    assert merge_policy.choose(sizes) == []
    total = sum(size.documents for size in sizes) or 1
    levels = merge_policy.level_of(min(total, merge_policy.LARGEST)) + 1
    assert len(sizes) <= merge_policy.FAN * levels + total // (merge_policy.LARGEST // 4)


@pytest.fixture
def reporting(tmp_path: Path) -> list[str]:
    """A command that adds a document and writes a report."""
    nearly.Index.create(tmp_path / "seen", {"a": "some text"}).close()
    (tmp_path / "new.jsonl").write_text('{"id": "b", "text": "some text"}\n')
    return ["add", *(str(tmp_path / name) for name in ("seen", "new.jsonl")), "-o"]


def run_index(*given: str | Path) -> Any:
    return CliRunner().invoke(
        index_command, [*map(str, given)], standalone_mode=False, catch_exceptions=False
    )


def test_a_report_and_its_documents_come_together(
    tmp_path: Path, reporting: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "pairs.csv"

    def fail(*_: object) -> None:
        raise OSError(errno.EIO, "the disk failed")

    with monkeypatch.context() as patch:
        patch.setattr("nearly.index.store.Store.commit", fail)
        with pytest.raises(SinkError, match="the disk failed"):
            run_index(*reporting, output)
    assert not output.exists()
    with monkeypatch.context() as patch:
        patch.setattr("nearly.index.store.Store.merge", fail)  # after the commit
        with pytest.raises(SinkError, match="the disk failed"):
            run_index(*reporting, output)
    assert "b,a,1" in output.read_text()
    with nearly.Index.open(tmp_path / "seen", read_only=True) as held:
        assert "b" in held


#: Is killed as its outputs are there: after the commit, or before.
DYING = """
import os, signal, sys
from nearly.cli.index import index
from nearly.index.adding import Adding

def die(self, token, decide=Adding.decide):
    if int(sys.argv[-1]):
        decide(self, token)
    os.kill(os.getpid(), signal.SIGKILL)

Adding.decide = die
index(sys.argv[1:-1])
"""


@pytest.mark.parametrize("is_committed", [True, False])
def test_the_next_run_asks_the_index_what_became_of_a_killed_one(
    tmp_path: Path, reporting: list[str], *, is_committed: bool
) -> None:
    (tmp_path / "out").mkdir()
    output = tmp_path / "out" / "pairs.csv"
    killed = [sys.executable, "-c", DYING, *reporting, str(output), str(int(is_committed))]
    assert subprocess.run(killed, check=False).returncode == -signal.SIGKILL
    moved = (tmp_path / "seen").rename(tmp_path / "moved")
    sweep(tmp_path / "out")
    assert output.exists(), "nobody can tell"
    moved.rename(tmp_path / "seen")
    sweep(tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["pairs.csv"] * is_committed
    with nearly.Index.open(tmp_path / "seen", read_only=True) as held:
        assert ("b" in held) == is_committed
