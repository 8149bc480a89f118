"""The whole way against the textbook: every pair, every similarity, every cluster."""

import json
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nearly
from nearly import textbook
from nearly.settings import TextSettings

#: With one row a band a pair at 0.3 is missed with probability 0.7 ** 96 < 2e-15, and the
#: agreement test may lose one in 1e9: what is found must be everything.
SURE = {"bands": 96, "rows": 1, "recall": 1 - 1e-8}

WORDS = st.sampled_from(["the", "cat", "sat", "on", "a", "mat", "dog", "ran", "日本", "é", "ß"])
SENTENCES = st.lists(WORDS, max_size=12).map(" ".join)
CORPORA = st.lists(SENTENCES, min_size=1, max_size=12)


def expected_pairs(texts, threshold, **options):
    text = TextSettings(**options)
    normal = [textbook.normalise(t, text) for t in texts]
    return textbook.similar_pairs(normal, threshold, text.unit, text.whole_k)


def found_pairs(found):
    return {(p["id_a"], p["id_b"]): p["similarity"] for p in found.pairs.to_pylist()}


@given(
    texts=CORPORA,
    threshold=st.sampled_from([0.3, 0.5, 0.6, 0.75, 0.8, 1.0]),
    unit=st.sampled_from(["char", "word"]),
    k=st.integers(1, 6),
    raw=st.booleans(),
)
def test_all_pairs_are_those_of_the_textbook(texts, threshold, unit, k, raw):
    options = {"unit": unit, "k": k, "raw": raw}
    found = nearly.find(texts, threshold=threshold, all_pairs=True, **SURE, **options)
    expected = expected_pairs(texts, threshold, **options)
    assert found_pairs(found) == {pair: float(s) for pair, s in expected.items()}


@given(
    texts=CORPORA,
    threshold=st.sampled_from([0.3, 0.5, 0.6, 0.75, 0.8, 1.0]),
    unit=st.sampled_from(["char", "word"]),
    k=st.integers(1, 6),
)
def test_the_exact_method_gives_all_pairs_of_the_textbook(texts, threshold, unit, k):
    options = {"unit": unit, "k": k}
    found = nearly.find(texts, threshold=threshold, all_pairs=True, method="exact", **options)
    expected = expected_pairs(texts, threshold, **options)
    assert found_pairs(found) == {pair: float(s) for pair, s in expected.items()}


def test_the_method_is_chosen_by_size_and_said():
    small = nearly.find(corpus_of_notes())
    assert (small.statistics.method, small.statistics.why) == ("exact", "the corpus is small")
    many = [f"document {i} of many" for i in range(5_001)]
    assert nearly.find(many).statistics.method == "exact"
    assert nearly.dedup(many).statistics.method == "lsh"
    assert nearly.find(many, bands=4, rows=4).statistics.method == "lsh"
    long = [f"{text} " * 30 for text in many]
    assert nearly.find(long, unit="word").statistics.method == "exact"
    by_characters = nearly.find(long).statistics
    assert by_characters.method == "lsh"
    assert by_characters.why == "hashing is cheaper for more than 2 MiB of text"


@given(texts=CORPORA, threshold=st.sampled_from([0.4, 0.6, 0.9]))
def test_components_are_those_of_the_textbook(texts, threshold):
    found = nearly.find(texts, threshold=threshold, k=3, **SURE)
    pairs = expected_pairs(texts, threshold, k=3)
    expected = sorted(sorted(group) for group in textbook.components(pairs) if len(group) > 1)
    clusters: dict[int, list[int]] = {}
    for row in found.clusters.to_pylist():
        clusters.setdefault(row["cluster"], []).append(row["id"])
    assert list(clusters.values()) == expected
    assert list(clusters) == list(range(len(expected)))


@given(texts=CORPORA.map(lambda texts: list(dict.fromkeys(texts))))
def test_leaders_are_those_of_the_textbook(texts):
    found = nearly.find(texts, threshold=0.4, k=3, cluster="leader", **SURE)
    pairs = expected_pairs(texts, 0.4, k=3)
    leader = textbook.leaders(range(len(texts)), pairs)
    groups: dict[int, list[int]] = {}
    for document in range(len(texts)):
        groups.setdefault(leader[document], []).append(document)
    expected = sorted(group for group in groups.values() if len(group) > 1)
    clusters: dict[int, list[int]] = {}
    for row in found.clusters.to_pylist():
        clusters.setdefault(row["cluster"], []).append(row["id"])
    assert sorted(clusters.values()) == expected


def test_a_copy_is_linked_once_and_spelled_out_on_request():
    texts = ["the same words", "other things", "the same words", "The  same words", "the same word"]
    linked = found_pairs(nearly.find(texts, threshold=0.6, k=3, **SURE))
    assert linked == {(0, 2): 1.0, (0, 3): 1.0, (0, 4): pytest.approx(11 / 12)}
    spelled = found_pairs(nearly.find(texts, threshold=0.6, k=3, all_pairs=True, **SURE))
    assert set(spelled) == {(0, 2), (0, 3), (2, 3), (0, 4), (2, 4), (3, 4)}


def test_empty_documents_are_similar_to_nothing_and_counted():
    found = nearly.find(["", "  ", "a", ""], threshold=0.5)
    assert len(found) == 0
    assert found.statistics.empty == 3


def test_a_document_shorter_than_k_is_one_shingle():
    found = nearly.find(["abc", "abc ", "abd"], k=9, threshold=0.1, **SURE)
    assert found_pairs(found) == {(0, 1): 1.0}


def test_a_similarity_on_the_threshold_counts():
    texts = ["a b c d e", "a b c d"]  # four of five words
    found = nearly.find(texts, unit="word", k=1, threshold=0.8, **SURE)
    assert found_pairs(found) == {(0, 1): 0.8}
    assert len(nearly.find(texts, unit="word", k=1, threshold=0.8000001, **SURE)) == 0


def test_k_is_decided_by_the_length_of_the_documents():
    short = nearly.find(["a few words", "and some more"])
    long = nearly.find(["many words " * 300, "yet others " * 300])
    assert (short.statistics.k, long.statistics.k) == (5, 9)
    assert short.settings.text.k == 5


def corpus_of_notes(count=300):
    random = np.random.default_rng(5)
    vocabulary = [f"word{i}" for i in range(400)]
    texts = [" ".join(random.choice(vocabulary, 40)) for _ in range(count)]
    for i in range(0, count, 3):
        words = texts[i].split()
        words[int(random.integers(len(words)))] = "changed"
        texts.append(" ".join(words))
    return texts + texts[:5]


@pytest.mark.parametrize(
    "options",
    [
        {"method": "lsh"},
        {"method": "lsh", "scheme": "independent"},
        {"method": "lsh", "unit": "word", "k": 2},
        {"method": "exact"},
    ],
)
def test_any_number_of_threads_and_batches_and_any_memory_give_the_same(options, tmp_path):
    texts = corpus_of_notes()
    expected = nearly.find(texts, threads=1, **options)
    assert len(expected) > 50
    table = pa.table({"id": range(len(texts)), "text": texts})
    small_batches = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(7))
    runs = [
        nearly.find(texts, threads=3, **options),
        nearly.find(texts, memory=0, temporary=tmp_path, **options),
        nearly.find(table, memory=30_000, **options),
        nearly.find(small_batches, threads=2, memory=10_000, **options),
    ]
    for run in runs:
        assert run.pairs.equals(expected.pairs)
        assert run.clusters.equals(expected.clusters)
    assert list(tmp_path.iterdir()) == []


def test_recall_at_the_threshold_is_kept():
    """Pairs exactly at 0.8 are the worst case: at least 0.99 of them, less four standard errors."""
    random = np.random.default_rng(11)
    texts = []
    count = 2_000
    for i in range(count):
        shared = [f"{i}s{j}" for j in range(80)]
        a, b = ([f"{i}{name}{j}" for j in range(10)] for name in "ab")
        texts += [" ".join(random.permutation(shared + part)) for part in (a, b)]
    found = nearly.find(texts, unit="word", k=1, threshold=0.8, recall=0.99, method="lsh")
    assert all(p == 0.8 for p in found.pairs["similarity"].to_pylist())
    assert len(found) / count > 0.99 - 4 * (0.99 * 0.01 / count) ** 0.5


def test_giant_buckets_cost_linear_work_when_clusters_are_asked():
    base = " ".join(f"word{i}" for i in range(60))
    texts = [f"{base} number{i}" for i in range(3_000)]
    clean = nearly.dedup(texts, unit="word", k=1, threshold=0.9, method="lsh")
    assert clean.removed.num_rows == len(texts) - 1
    assert clean.statistics.meetings < 33 * len(texts) * clean.statistics.bands


class TestDedup:
    TABLE = pa.table(
        {
            "id": ["a", "b", "c", "d", "e"],
            "text": ["one two three four", "one two three four", "one two three fou", "else", None],
            "date": ["2024-01-02", "2024-01-01", "2024-01-03", "2024-01-01", "2024-01-01"],
            "score": [3, 9, 1, 0, 0],
        }
    )

    @pytest.mark.parametrize(
        ("keep", "survivor"),
        [
            ("first", "a"),
            ("last", "c"),
            ("longest", "a"),
            ("shortest", "c"),
            ("newest:date", "c"),
            ("oldest:date", "b"),
            ("max:score", "b"),
            ("min:score", "c"),
        ],
    )
    @pytest.mark.parametrize("cluster", ["components", "leader"])
    def test_survivors(self, keep, survivor, cluster):
        clean = nearly.dedup(self.TABLE, threshold=0.8, k=3, keep=keep, cluster=cluster)
        assert clean.kept.schema == self.TABLE.schema
        assert sorted(clean.kept["id"].to_pylist()) == sorted([survivor, "d", "e"])
        for row in clean.removed.to_pylist():
            assert row["survivor"] == survivor
            texts = dict(zip(*self.TABLE.select(["id", "text"]).to_pydict().values(), strict=True))
            sets = [textbook.shingles(texts[name], "char", 3) for name in (row["id"], survivor)]
            assert row["similarity"] == float(textbook.jaccard(*sets))

    def test_a_chain_is_one_component_and_two_leaders(self):
        words = [f"w{i}" for i in range(30)]
        texts = [" ".join(words[i : i + 20]) for i in (0, 3, 6)]
        options = {"unit": "word", "k": 1, "threshold": 0.7, **SURE}
        chained = nearly.dedup(texts, cluster="components", **options)
        assert chained.removed["similarity"].to_pylist() == [17 / 23, 14 / 26]
        assert chained.statistics.below == 1
        led = nearly.dedup(texts, cluster="leader", **options)
        assert led.removed["id"].to_pylist() == [1]
        assert led.statistics.below == 0

    def test_a_leader_has_the_text_of_the_survivor(self):
        words = [f"w{i}" for i in range(30)]
        far, middle, near = (" ".join(words[i : i + 20]) for i in (0, 3, 6))
        # The newest document is a copy of the first; what it is not similar to stays.
        table = pa.table(
            {"text": [far, middle, near, far], "date": [1, 3, 2, 4]},
        )
        options = {"unit": "word", "k": 1, "threshold": 0.7, "cluster": "leader", **SURE}
        clean = nearly.dedup(table, keep="newest:date", text="text", **options)
        assert clean.removed.select(["id", "survivor"]).to_pylist() == [
            {"id": 0, "survivor": 3},
            {"id": 1, "survivor": 3},
        ]
        assert min(clean.removed["similarity"].to_pylist()) >= 0.7

    def test_wrong_rules_are_refused(self):
        for keep in ("best", "newest", "first:date"):
            with pytest.raises(nearly.SettingsError, match="choose one of"):
                nearly.dedup(self.TABLE, keep=keep)
        with pytest.raises(nearly.MissingError, match=r"'dated'.*date"):
            nearly.dedup(self.TABLE, keep="newest:dated")
        odd = self.TABLE.set_column(2, "date", pa.array(["soon"] * 5))
        with pytest.raises(nearly.SourceError, match="does not read as dates"):
            nearly.dedup(odd, keep="newest:date", threshold=0.5)


@given(texts=CORPORA, keep=st.sampled_from(["first", "last", "longest", "shortest"]))
def test_with_leaders_every_removed_document_is_similar_to_its_survivor(texts, keep):
    clean = nearly.dedup(texts, keep=keep, cluster="leader", threshold=0.5, k=3, **SURE)
    assert all(similarity >= 0.5 for similarity in clean.removed["similarity"].to_pylist())
    removed, survivors = (clean.removed[name].to_pylist() for name in ("id", "survivor"))
    assert not set(removed) & set(survivors)
    assert clean.kept.num_rows == len(texts) - len(removed)


def test_results_come_in_every_form():
    found = nearly.find({"x": "nearly the same text", "y": "nearly the same texts"}, threshold=0.5)
    expected = [{"id_a": "x", "id_b": "y", "similarity": 16 / 17}]
    assert found.to_arrow().to_pylist() == expected
    assert found.to_pandas().to_dict("records") == expected
    assert found.to_polars().to_dicts() == expected
    assert found.top["text_a"].to_pylist() == ["nearly the same text"]
    json.dumps(found.statistics.to_dict())


def test_compare_says_what_the_textbook_says():
    a, b = "the quick brown fox jumps", "the quick brown cat jumps"
    comparison = nearly.compare(a, b, k=3)
    sets = [textbook.shingles(t, "char", 3) for t in (a, b)]
    assert comparison.jaccard == float(textbook.jaccard(*sets))
    assert comparison.containment_of_a == float(textbook.containment(*sets))
    assert comparison.shared == len(sets[0] & sets[1])
    text = TextSettings(k=3, stop_words=("the",))
    bare = [textbook.shingles(textbook.normalise(t, text), "char", 3) for t in (a, b)]
    without = nearly.compare(a, b, k=3, stop_words=("the",)).jaccard_without_stop_words
    assert without == float(textbook.jaccard(*bare))
    assert abs(comparison.estimate - comparison.jaccard) < 4 * (0.25 / 256) ** 0.5
    assert nearly.compare("", "").jaccard == nearly.compare("", " ").jaccard == 0
    assert Fraction(nearly.compare("", "x").jaccard) == 0
