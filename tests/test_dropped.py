"""Shingles that count for nothing: kernels against the textbook, and what users are told."""

import json
import random
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_signatures import NASTY, SCHEMES, SEEDS, arrow

import nearly
from nearly import _kernels, textbook
from nearly.arrays import string_array
from nearly.cli import exit_code
from nearly.cli.program import run
from nearly.errors import MissingError, SettingsError, UnreadableError
from nearly.measures.jaccard import Jaccard
from nearly.settings import Settings
from nearly.textbook import signature as specification
from nearly.tuning.banding import Banding

HASHES = st.integers(0, 2**64 - 1) | st.sampled_from([0, 1, 2**64 - 1, 2**63])
UNITS = st.sampled_from(["char", "word"])


def numbers(hashes):
    return np.array(sorted(hashes), np.uint64)


def index_of(hashes):
    return _kernels.HashIndex(numbers(set(hashes)))


@given(listed=st.sets(HASHES, max_size=60), asked=st.lists(HASHES, max_size=60))
def test_an_index_counts_what_is_in_its_list(listed, asked):
    asked += random.Random(1).sample(sorted(listed), len(listed) // 2)
    listed = numbers(listed)
    counts = _kernels.HashIndex(listed).count(np.array(asked, np.uint64))
    assert counts.tolist() == [asked.count(h) for h in listed.tolist()]


def test_hashes_that_begin_alike_are_told_apart():
    listed = np.arange(1_000, dtype=np.uint64) + np.uint64(2**64 - 1_000)
    index = _kernels.HashIndex(listed)
    assert (
        index.count(np.concatenate([listed, listed[:3], listed - np.uint64(1_000)])).tolist()
        == [2] * 3 + [1] * 997
    )


@pytest.mark.parametrize("scheme", SCHEMES)
@given(
    texts=st.lists(NASTY, min_size=1, max_size=5),
    templates=st.lists(NASTY, max_size=2),
    unit=UNITS,
    k=st.integers(1, 6),
    seed=SEEDS,
)
def test_dropped_shingles_are_in_no_set_and_no_signature(scheme, texts, templates, unit, k, seed):
    texts += [text[2:] + templates[0] for text in texts[:2] if templates] + templates
    dropped = {h for each in templates for h in specification.shingle_hashes(each, unit, k, seed)}
    index = index_of(dropped)
    offsets, hashes = _kernels.shingle_sets(*arrow(texts), unit, k, seed, dropped=index)
    signed = _kernels.signatures(*arrow(texts), unit, k, seed, scheme, 24, dropped=index)
    weighed, _ = _kernels.measure(*arrow(texts), unit, k, seed, dropped=index)
    sizes, _, keys, _ = _kernels.sign(*arrow(texts), unit, k, seed, scheme, 8, 3, dropped=index)
    for i, text in enumerate(texts):
        every = specification.shingle_hashes(text, unit, k, seed)
        left = [h for h in every if h not in dropped]
        assert sorted(hashes[offsets[i] : offsets[i + 1]].tolist()) == sorted(set(left))
        assert signed[i].tolist() == (SCHEMES[scheme](left, 24, seed) if left else [0] * 24)
        assert sizes[i] == weighed[i] == len(left)
        bands = [signed[i].tolist()[b * 3 : b * 3 + 3] for b in range(8)]
        assert keys[i].tolist() == [specification.band_key(band) for band in bands]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("unit", ["char", "word"])
def test_shingles_of_long_texts_are_dropped_too(scheme, unit):
    pattern, template = "ab cd éf g ", "cd éf g ab"
    text = pattern * (2**19 // len(pattern))
    dropped = set(specification.shingle_hashes(template, unit, 3, 1))
    left = [h for h in specification.shingle_hashes(pattern * 9, unit, 3, 1) if h not in dropped]
    assert left
    signed = _kernels.signatures(*arrow([text]), unit, 3, 1, scheme, 64, dropped=index_of(dropped))
    assert signed[0].tolist() == SCHEMES[scheme](left, 64, 1)
    _, found = _kernels.shingle_sets(*arrow([text]), unit, 3, 1, dropped=index_of(dropped))
    assert sorted(found.tolist()) == sorted(set(left))
    sizes, _ = _kernels.measure(*arrow([text]), unit, 3, 1, dropped=index_of(dropped))
    every, _ = _kernels.measure(*arrow([text]), unit, 3, 1)
    assert 0 < sizes[0] < every[0]
    whole = index_of(specification.shingle_hashes(pattern * 9, unit, 3, 1))
    nothing = _kernels.signatures(*arrow([text]), unit, 3, 1, scheme, 64, dropped=whole)
    assert not nothing.any()


def frequency_of(documents, share):
    frequency = _kernels.Frequency(share.numerator, share.denominator)
    offsets = np.cumsum([0, *map(len, documents)])
    hashes = np.array([h for members in documents for h in members], np.uint64)
    frequency.add(offsets, hashes)
    return frequency


@given(
    documents=st.lists(st.sets(st.integers(0, 12), max_size=8), max_size=30),
    share=st.fractions(Fraction(1, 50), 1, max_denominator=50),
)
def test_nothing_frequent_is_missed(documents, share):
    spread = [{h * 0x9E3779B97F4A7C15 % 2**64 for h in members} for members in documents]
    suspects = frequency_of(spread, share).suspects().tolist()
    assert suspects == sorted(suspects)
    # Nothing was forgotten yet, so no suspect is innocent.
    assert set(suspects) == textbook.too_common(spread, share)


def test_much_is_forgotten_and_nothing_frequent_is_missed():
    chance = np.random.default_rng(3)
    often = chance.integers(0, 2**64, 40, np.uint64)
    share = Fraction(1, 10)
    documents = []
    for number in range(3_000):
        # Some are everywhere, some on both sides of the share, some only late.
        odds = np.linspace(0.02, 0.3, 40)
        odds[:10] = 0.2 * (number > 1_600)
        mine = often[chance.random(40) < odds]
        documents.append({*mine.tolist(), *chance.integers(0, 2**64, 60, np.uint64).tolist()})
    frequency = frequency_of(documents, share)
    assert frequency.room < 10_000, "memory grows with the documents"
    truth = textbook.too_common(documents, share)
    assert 10 < len(truth) < 40
    suspects = frequency.suspects()
    assert truth <= set(suspects.tolist())
    assert len(suspects) < 2_000


def test_a_shingle_at_the_share_is_not_dropped():
    texts = ["a b", "a b", "a c", "a", "d", "e", "f", "g", "h", "i"]
    settings = Settings.of(unit="word", k=1, common="20%")
    for share, dropped in (("20%", 1), (0.2, 1), ("19.9%", 2), ("40%", 0), (1, 0)):
        found = nearly.find(texts, unit="word", k=1, common=share, threshold=0.5)
        assert found.statistics.common == dropped, share
    assert Settings.from_dict(settings.to_dict()) == settings
    assert settings.share == 0.2


@given(
    texts=st.lists(st.text("ab c", max_size=30), min_size=1, max_size=12),
    share=st.sampled_from([0.05, 0.1, 0.25, 0.5, 0.9, 1.0]),
    unit=UNITS,
)
def test_a_measure_drops_what_the_textbook_calls_too_common(texts, share, unit):
    settings = Settings.of(unit=unit, k=2, common=share, ignore=("ab c ab",))
    measure = Jaccard.of(settings)
    assert not measure.is_counted
    halves = [string_array(texts[::2]), string_array(texts[1::2])]
    lists = [measure.suspects() for _ in halves]
    for mine, half in zip(lists, halves, strict=True):
        mine.add(half)
    suspects = np.unique(np.concatenate([mine.found() for mine in lists]))
    counts = sum(measure.occurrences(half, suspects).astype(np.int64) for half in halves)
    measure = measure.counted(suspects, counts, len(texts))
    ignored = textbook.shingles("ab c ab", unit, 2)
    normal = [textbook.normalise(text, settings.text) for text in texts]
    sets = [textbook.shingles(text, unit, 2) - ignored for text in normal]
    common = textbook.too_common(sets, Fraction(str(share)))
    assert measure.common_count == len(common)
    weighed, signed = (
        measure.weigh(string_array(texts)),
        measure.sign(string_array(texts), Banding(4, 2)),
    )
    every = [textbook.shingles(text, unit, 2) for text in normal]
    gone = [bool(all_) and not left - common for all_, left in zip(every, sets, strict=True)]
    assert weighed.is_ignored.tolist() == signed.is_ignored.tolist() == gone
    assert (weighed.sizes > 0).tolist() == [bool(members - common) for members in sets]
    near = measure.compare(
        string_array(texts),
        np.zeros(len(texts), np.uint32),
        np.arange(len(texts), dtype=np.uint32),
        None,
    )
    expected = [float(textbook.jaccard(sets[0] - common, members - common)) for members in sets]
    assert np.nan_to_num(near).tolist() == expected


def test_what_is_dropped_is_told_apart_by_a_digest():
    plain = Settings.of(k=5)
    kinds = [
        plain,
        Settings.of(k=5, ignore=("a template",)),
        Settings.of(k=5, ignore=("a", "template")),
        Settings.of(k=5, common=0.1),
    ]
    facts = [json.dumps(Jaccard.of(each).facts()) for each in kinds]
    counted = Jaccard.of(kinds[3])
    for hashes in ([1, 2], [1, 3]):
        some = counted.counted(numbers(hashes), np.array([9, 9]), 10)
        assert some.common_count == 2
        facts.append(json.dumps(some.facts()))
    assert len(set(facts)) == len(facts)
    assert not any("template" in each for each in facts)


HEADER = "All of this is said at the head of each file, and means nothing. "
BODIES = [" ".join(random.Random(i).choices("abcdefgh", k=20)) for i in range(8)]
TEXTS = [HEADER + body for body in BODIES]


@pytest.fixture(name="folder")
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    for number, text in enumerate([*TEXTS, HEADER, HEADER, ""]):
        (tmp_path / "docs" / f"{number}.txt").write_text(text)
    (tmp_path / "header.txt").write_text(HEADER)
    (tmp_path / "other.txt").write_text("Some other text.")
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_templates_are_given_as_sources_are():
    assert len(nearly.find(TEXTS, threshold=0.5)) > 0
    ways = [
        "header.txt",
        Path("header.txt"),
        [Path("header.txt"), Path("other.txt")],
        [HEADER],
        (HEADER, Path("other.txt")),
        nearly.texts([HEADER]),
    ]
    for ignore in ways:
        found = nearly.find(TEXTS, threshold=0.5, ignore=ignore)
        assert len(found) == 0, ignore
        assert HEADER in found.settings.text.ignore
    compared = nearly.compare(TEXTS[0], TEXTS[1], k=5, ignore="header.txt")
    ignored = textbook.shingles(HEADER.lower().strip(), "char", 5)
    a, b = (textbook.shingles(text.lower(), "char", 5) - ignored for text in TEXTS[:2])
    assert compared.jaccard == float(textbook.jaccard(a, b))
    assert (compared.shingles_a, compared.shingles_b) == (len(a), len(b))


@pytest.mark.parametrize(
    ("ignore", "error", "told"),
    [
        ("nowhere.txt", MissingError, "there is no file 'nowhere.txt'"),
        ("empty.txt", SettingsError, "'empty.txt' has no text"),
        ("binary.bin", UnreadableError, "binary: a NUL byte"),
        ("docs", UnreadableError, "docs cannot be read"),
        (["header.txt"], SettingsError, "also the name of a file.*pathlib.Path.*nearly.texts"),
        (["  "], SettingsError, "no text"),
        ([5], SettingsError, "no text"),
        (["\ud800"], SettingsError, "no text"),
        (5, SettingsError, "type int"),
    ],
)
def test_what_is_no_template_is_refused(folder, ignore, error, told):
    (folder / "empty.txt").write_text(" \n")
    (folder / "binary.bin").write_bytes(b"a\0b")
    with pytest.raises(error, match=told):
        nearly.find(TEXTS, ignore=ignore)


@pytest.mark.parametrize(
    "common", [0, -0.1, 1.5, "0%", "101%", "10 percent", "", "-5%", True, "nan"]
)
def test_a_share_lies_above_0_and_at_most_at_1(common):
    with pytest.raises(SettingsError, match="above 0% and at most 100%"):
        Settings.of(common=common)


def test_another_measure_drops_no_shingles():
    for options in ({"ignore": [HEADER]}, {"common": 0.1}):
        with pytest.raises(SettingsError, match="leave one of them out"):
            nearly.find(TEXTS, measure=Jaccard.of(Settings()), **options)


@pytest.mark.usefixtures("folder")
def test_the_summary_says_what_was_dropped(capsys):
    assert (
        run(["find", "docs", "-t", "0.5", "--ignore", "header.txt", "--ignore", "other.txt"]) == 0
    )
    told = capsys.readouterr().err.splitlines()
    assert told[:3] == [
        "11 documents, 1 empty",
        "2 documents are made of ignored text only: nothing is left to compare",
        "0 pairs in 0 clusters",
    ]
    assert run(["find", "docs", "-t", "0.5", "--common", "50%"]) == 0
    told = capsys.readouterr().err.splitlines()
    common = nearly.find("docs", common=0.5).statistics.common
    assert told[1] == (
        f"{common} shingles that occur in more than 50% of the documents were dropped"
    )
    assert told[2] == "2 documents are made of common shingles only: nothing is left to compare"


@pytest.mark.usefixtures("folder")
def test_json_and_saved_results_have_what_was_dropped(capsys):
    options = ["--ignore", "header.txt", "--common", "12.5%", "--json", "--save", "kept"]
    assert run(["find", "docs", *options]) == exit_code.CLEAN
    told = json.loads(capsys.readouterr().out)
    assert told["settings"]["common"] == 0.125
    assert told["settings"]["text"]["ignore"] == [HEADER]
    assert told["statistics"]["ignored"] == 2
    assert told["statistics"]["common"] > 0
    opened = nearly.open("kept")
    assert opened.statistics.to_dict()["common"] == told["statistics"]["common"]
    assert opened.settings.to_dict() == told["settings"]


def test_a_template_that_covers_everything_leaves_nothing(folder, capsys):
    (folder / "all.txt").write_text("\n".join(TEXTS))
    for method in ("exact", "lsh"):
        assert run(["dedup", "docs", "--ignore", "all.txt", "--method", method, "--force"]) == 0
        told = capsys.readouterr().err
        assert "10 documents are made of ignored text only: nothing is left to compare" in told
    assert run(["compare", "docs/0.txt", "docs/8.txt", "--ignore", "all.txt"]) == 0
    assert "nothing is left of A besides ignored text" in capsys.readouterr().out
    assert run(["tune", "docs", "--ignore", "all.txt"]) == exit_code.USAGE
    assert "0 distinct documents" in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
def test_tuning_looks_at_what_is_left(capsys):
    plain = nearly.tune(TEXTS, threshold=0.5)
    for dropped in ({"ignore": [HEADER]}, {"common": "80%"}):
        left = nearly.tune(TEXTS, threshold=0.5, **dropped)
        assert left.pairs.value < plain.pairs.value
        assert left.statistics["ignored"] == 0
    assert run(["tune", "docs", "--common", "80%"]) == 0
    assert "occur in more than 80% of the documents were dropped" in "".join(capsys.readouterr())


def test_templates_are_cut_as_documents_are():
    """White space, case and stop words of a template are those of the documents."""
    texts = ["THE  header\nline. alpha beta gamma", "the header line. delta epsilon zeta"]
    options = {"unit": "word", "k": 2, "stop_words": ("the",), "threshold": 0.1}
    assert len(nearly.find(texts, **options)) == 1
    assert len(nearly.find(texts, ignore=["Header LINE."], **options)) == 0
