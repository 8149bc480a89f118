"""Passages: every verbatim run is found, every slice is the passage, and bad input is answered."""

import json
import sys
from collections import Counter
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import nearly
from nearly import _kernels
from nearly.arrays import spans, string_array
from nearly.cli.passage import print_passages
from nearly.cli.program import run
from nearly.errors import MissingError, SettingsError
from nearly.passage.against import search_against
from nearly.passage.found import covered
from nearly.passage.reading import Read, corpus_of, some
from nearly.passage.result import byte_span
from nearly.passage.search import align_pairs, search
from nearly.passage.unit import cut
from nearly.passage.verbatim import gram_length, shared_runs
from nearly.settings import PassageSettings
from nearly.textbook import (
    maximal_runs,
    near_runs,
    places_of_units,
    rare_meetings,
    shared_part,
    winnowed,
)

WORDS = st.lists(st.sampled_from(["a", "b", "c", "d", "É", "ß", "語"]), max_size=40)
CORPUS = st.lists(WORDS, min_size=2, max_size=5)
SETTINGS = PassageSettings()
SENTENCE = (
    "Seven cautious engineers measured the old bridge twice before winter storms reached the "
    "valley and found eleven cracks under its northern arch"
)
EDITED = (
    "Before winter storms reached the valley, seven cautious engineers twice measured the ancient "
    "bridge and discovered eleven cracks below its northern arch"
)


def everyone(count: int) -> np.ndarray:
    return np.arange(count, dtype=np.uint32)


def runs_of(corpus: list[list[str]], least: int, crowd: int) -> tuple[set, list]:
    units = cut(string_array([" ".join(words) for words in corpus]), SETTINGS)
    who = everyone(len(corpus))
    runs, crowded = shared_runs(units, who, who, one_sided=False, least=least, crowd=crowd)
    assert len({tuple(run) for run in runs.tolist()}) == len(runs)
    k = gram_length(least)
    there = zip(crowded.documents.tolist(), crowded.places.tolist(), strict=True)
    return {tuple(run) for run in runs.tolist()}, [
        (here, place, place + k) for here, place in there
    ]


def expected(corpus: list[list[str]], least: int) -> set[tuple[int, ...]]:
    folded = [[word.casefold() for word in words] for words in corpus]
    return {
        (a, b, *run)
        for a, b in combinations(range(len(corpus)), 2)
        for run in maximal_runs(folded[a], folded[b], least)
    }


def test_documents_that_share_an_id_are_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    texts = [f"One. {SENTENCE}", "Nothing of it.", f"Quite another start: {SENTENCE}"]
    table = pa.table({"id": ["x", "y", "x"], "text": texts})
    found = nearly.passages(table, verbatim=True)
    (row,) = found.passages.to_pylist()
    assert (row["id_a"], row["row_a"], row["id_b"], row["row_b"]) == ("x", 0, "x", 2)
    assert texts[0][row["start_a"] : row["end_a"]] == texts[2][row["start_b"] : row["end_b"]]
    assert found.texts(found.passages, "id_b") == [texts[2]]
    assert found.text("x", row=2) == texts[2]
    shares = found.documents.to_pylist()
    assert [(r["row"], r["most_in"], r["most_in_row"]) for r in shares] == [
        *((0, "x", 2), (1, None, None), (2, "x", 0))
    ]
    print_passages(found, sys.stdout)
    assert capsys.readouterr().out.count(SENTENCE[:30]) == 2


def test_both_sides_may_have_the_same_ids() -> None:
    one, other = f"One. {SENTENCE}", f"Quite another start: {SENTENCE}"
    found = nearly.passages({"x": one}, {"x": other}, verbatim=True)
    (row,) = found.passages.to_pylist()
    assert other[row["start_b"] : row["end_b"]] == one[row["start_a"] : row["end_a"]]
    assert "row_a" not in row
    assert found.texts(found.passages, "id_a") == [one]
    assert found.texts(found.passages, "id_b") == [other]
    assert found.text("x", against=True) == other


@given(CORPUS, st.integers(4, 9))
def test_all_maximal_runs_are_found_and_no_others(corpus: list[list[str]], least: int) -> None:
    wanted = expected(corpus, least)
    assert runs_of(corpus, least, crowd=10**6)[0] == wanted


@given(CORPUS, st.integers(0, 30), st.lists(st.sampled_from("abcdefgh"), min_size=9, max_size=20))
def test_a_planted_run_is_found(corpus: list[list[str]], place: int, run: list[str]) -> None:
    corpus = [words[:place] + run + words[place:] for words in corpus]
    wanted = expected(corpus, 9)
    assert wanted
    assert runs_of(corpus, 9, crowd=10**6)[0] == wanted


@given(CORPUS, st.lists(st.sampled_from("abcdefgh"), min_size=9, max_size=20))
def test_what_is_crowded_has_a_place_in_both_documents(
    corpus: list[list[str]], run: list[str]
) -> None:
    corpus = [words + run for words in corpus]
    found, places = runs_of(corpus, 9, crowd=2)
    missed = expected(corpus, 9) - found
    assume(missed)
    for a, b, i, j, length in missed:
        for document, start in ((a, i), (b, j)):
            assert any(
                here == document and first < start + length and start < end
                for here, first, end in places
            )


TEXTS = st.lists(
    st.text(alphabet="aAbé\u0301ßİ ,.\n\u3000語ﬁ\U0001f600", max_size=60), min_size=2, max_size=4
)


@given(TEXTS, st.sampled_from(["word", "char"]), st.sampled_from(["NFC", "NFKD", "none"]))
def test_every_slice_is_its_unit(texts: list[str], unit: str, form: str) -> None:
    settings = PassageSettings(unit=unit, form=form)
    units = cut(string_array(texts), settings)
    by_hash: dict[int, set[str]] = {}
    for document, start, end, name in zip(
        units.documents, units.starts, units.ends, units.hashes.tolist(), strict=True
    ):
        piece = texts[document][start:end]
        assert piece
        by_hash.setdefault(name, set()).add(nearly.textbook.normalise(piece, settings.text))
    for forms in by_hash.values():
        assert len({" " if not form.strip() else form for form in forms}) == 1


@given(TEXTS, st.booleans())
def test_units_are_those_of_the_textbook(texts: list[str], words: bool) -> None:
    data = string_array(texts)
    offsets, _, starts, ends, *_ = _kernels.cut_units(*spans(data), words=words, folds=True)
    for text, (first, last) in zip(texts, pairwise(offsets.tolist()), strict=True):
        found = list(zip(starts[first:last].tolist(), ends[first:last].tolist(), strict=True))
        assert found == list(places_of_units(text, words=words))


HASHES = st.lists(st.integers(1, 4), max_size=40)


@given(st.lists(HASHES, min_size=1, max_size=4), st.integers(1, 4), st.integers(1, 7))
def test_what_winnowing_chooses_is_that_of_the_textbook(
    corpus: list[list[int]], k: int, window: int
) -> None:
    offsets = np.cumsum([0, *map(len, corpus)])
    units = np.array([unit for some in corpus for unit in some], np.uint64)
    everything, of, _ = _kernels.winnow(offsets, units, k, 1)
    _, documents, places = _kernels.winnow(offsets, units, k, window)
    for document in range(len(corpus)):
        wanted = winnowed(everything[of == document].tolist(), window)
        assert places[documents == document].tolist() == wanted


@given(
    st.lists(st.lists(st.integers(1, 5), max_size=30), min_size=1, max_size=7),
    st.integers(1, 4),
    st.integers(1, 4),
    st.integers(1, 3),
)
def test_rare_pairs_are_those_of_the_textbook(
    corpus: list[list[int]], k: int, most: int, parts: int
) -> None:
    offsets = np.cumsum([0, *map(len, corpus)])
    units = np.array([unit for some in corpus for unit in some], np.uint64)
    who = everyone(len(corpus))
    found: Counter[tuple[int, int]] = Counter()
    for part in range(parts):
        rows = _kernels.rare_pairs(offsets, units, who, who, False, k, most, part, parts)
        for pair, count in zip(*(column.tolist() for column in rows), strict=True):
            found[pair >> 32, pair & 0xFFFFFFFF] += count
    assert found == rare_meetings(corpus, k, most)


def slices(result: nearly.Passages, texts: dict[str, str]) -> list[tuple[str, str]]:
    return [
        (
            texts[row["id_a"]][row["start_a"] : row["end_a"]],
            texts[row["id_b"]][row["start_b"] : row["end_b"]],
        )
        for row in result.passages.to_pylist()
    ]


@pytest.mark.parametrize("unit", ["word", "char"])
def test_offsets_are_those_of_the_text_as_it_was_given(unit: str) -> None:
    composed = "Ünïted " + SENTENCE
    apart = "U\u0308ni\u0308ted " + SENTENCE.upper()
    texts = {"a": f"\U0001f600 Vorwort. {composed}. Rest", "b": f"Ganz anders;\n{apart}! Ende"}
    found = nearly.passages(texts, unit=unit, verbatim=True)
    ((one, other),) = slices(found, texts)
    assert composed in one
    assert apart in other
    row = found.passages.to_pylist()[0]
    first, last = byte_span(texts["a"], row["start_a"], row["end_a"])
    assert texts["a"].encode()[first:last].decode() == one
    assert found.text("b") == texts["b"]
    assert found.texts(found.passages, "id_b") == [texts["b"]]


def test_an_edited_passage_is_found_with_its_ends() -> None:
    more = (
        " The mayor ordered repairs at once, hired divers from the harbour, closed both lanes for "
        "lorries and promised farmers a ferry until masons had replaced every damaged stone."
    )
    one, other = SENTENCE + "." + more, EDITED + "." + more.replace("hired", "paid")
    texts = {"a": f"Nothing here matters. {one} The end.", "b": f"Other words first. {other} Bye."}
    found = nearly.passages(texts)
    assert found.passages["kind"].to_pylist() == ["edited"]
    assert 0.8 < found.passages["likeness"][0].as_py() < 1
    ((a, b),) = slices(found, texts)
    assert a in one
    assert b in other
    assert len(a) > 0.7 * len(one)
    assert len(b) > 0.7 * len(other)


CONTENT = [f"{a}{b}{c}" for a in ("mor", "kel", "tas") for b in "aeiou" for c in ("dun", "gil")]


@given(st.permutations(CONTENT), st.sets(st.integers(0, 29), max_size=8), st.integers(0, 9))
def test_an_aligned_passage_is_as_alike_as_its_words(
    words: list[str], changed: set[int], before: int
) -> None:
    """What is aligned does not depend on which of the two documents is the longer one."""
    edited = [f"other{i}" if i in changed else word for i, word in enumerate(words)]
    texts = [" ".join(words), " ".join([f"x{i}" for i in range(before)] + edited)]
    for documents in (texts, texts[::-1]):
        found = align_pairs(string_array(documents), np.array([[0, 1]], np.uint32), SETTINGS, 1)
        assert len(found) == 1
        one, other = (
            text[start:end].split()
            for text, start, end in (
                (documents[0], found.start_a[0], found.end_a[0]),
                (documents[1], found.start_b[0], found.end_b[0]),
            )
        )
        assert found.likeness[0] == shared_part(one, other)
        assert found.is_verbatim[0] == (one == other)
        assert found.length[0] == len(one)


@given(
    st.lists(st.sampled_from("abcdefgh"), min_size=4, max_size=40),
    st.sets(st.integers(0, 39), max_size=6),
    WORDS,
    st.integers(4, 13),
)
def test_all_near_runs_are_found_and_no_others(
    words: list[str], changed: set[int], before: list[str], least: int
) -> None:
    other = before + ["z" if i in changed else word for i, word in enumerate(words)]
    units = cut(string_array([" ".join(words), " ".join(other)]), SETTINGS)
    runs = _kernels.NearRuns(*units.part(0, 1), least)
    rows, likeness = runs.find(*units.part(1, 2), 1)
    folded = [word.casefold() for word in other]
    assert {tuple(row[2:]) for row in rows.tolist()} == near_runs(words, folded, least)
    assert len(set(map(tuple, rows.tolist()))) == len(rows)
    for (_, _, i, j, length), alike in zip(rows.tolist(), likeness, strict=True):
        assert alike == shared_part(words[i : i + length], folded[j : j + length])


def test_near_runs_hold_what_was_replaced() -> None:
    """The oracle itself has something to find."""
    words = SENTENCE.split()
    changed = [*words[:7], "new", *words[8:]]
    assert near_runs(words, ["x", *changed, "y"], 13) == {(0, 1, len(words))}
    assert not near_runs(words, words, 13)


SIDE = st.lists(st.lists(st.sampled_from(SENTENCE.split()[:9]), max_size=30), max_size=6)


@pytest.mark.parametrize("unit", ["word", "char"])
@settings(max_examples=30)
@given(st.data())
def test_what_goes_by_in_parts_shares_the_same(unit: str, data: st.DataObject) -> None:
    settings = PassageSettings(unit=unit, least=6 if unit == "word" else 25, crowd=3)
    piece = data.draw(st.permutations(CONTENT))[:20]
    sides = [
        [" ".join([*words, *piece[i % 3 : 20 - i % 2]]) for i, words in enumerate(data.draw(SIDE))]
        for _ in range(2)
    ]
    one, other = (
        Read(
            ids=[*range(len(side))],
            rows=np.arange(len(side)),
            texts=string_array(side),
            groups=groups[: len(side)],
            id_type=pa.int64(),
        )
        for side, groups in zip(sides, ([*"ABCABC"], [*"ADEFGH"]), strict=True)
    )
    size = data.draw(st.integers(1, 4))
    numbers = np.arange(len(other.ids))
    parts = [some([other], n, pa.int64()) for n in np.split(numbers, numbers[size::size])]
    found, places, _, kept = search_against(one, parts, lambda: parts, {}, settings, 2)
    wanted, repeats = search(corpus_of(one, other, {}), settings, 2)
    ids = [*one.ids, *kept.ids]
    first = len(one.ids)
    assert [first + ids[b] for b in found.b] == wanted.b.tolist()
    for name in ("a", "start_a", "end_a", "start_b", "end_b", "likeness", "is_verbatim"):
        assert getattr(found, name).tolist() == getattr(wanted, name).tolist()
    assert places.start.tolist() == repeats.start.tolist()


def test_a_question_is_found_in_documents_that_go_by() -> None:
    words = SENTENCE.split()
    changed = " ".join([*words[:6], "anew", *words[7:15], "village", *words[16:]])
    train = {str(i): f"row {i} of many words that say nothing new" for i in range(3_000)}
    train["1234"] += f" {changed} and more"
    train["2345"] += f" {SENTENCE} and more"
    found = nearly.passages({"q": f"Question: {SENTENCE}?"}, train, least=13)
    rows = found.passages.to_pylist()
    assert [(row["id_b"], row["kind"]) for row in rows] == [
        ("1234", "edited"),
        ("2345", "verbatim"),
    ]
    for row, text in zip(rows, (changed, SENTENCE), strict=True):
        assert train[row["id_b"]][row["start_b"] : row["end_b"]] == text


SPANS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 30), st.integers(1, 9)), max_size=12)


@given(SPANS)
def test_what_is_covered_is_counted_once(spans: list[tuple[int, int, int]]) -> None:
    groups, starts, sizes = np.array(spans, np.int64).reshape(-1, 3).T
    wanted = [
        len({x for g, start, size in spans if g == group for x in range(start, start + size)})
        for group in range(5)
    ]
    assert covered(groups, starts, starts + sizes, 5).tolist() == wanted


def test_a_document_says_where_most_of_it_stands() -> None:
    found = nearly.passages({"a": SENTENCE, "b": f"{SENTENCE}. But more of it here.", "c": "other"})
    rows = {row["id"]: row for row in found.documents.to_pylist()}
    assert rows["a"]["share"] == 1.0
    assert rows["a"]["most_in"] == "b"
    assert 0 < rows["b"]["share"] < 1
    assert rows["c"]["share"] == 0
    assert found.pairs.to_pylist()[0]["passages"] == 1


def test_text_in_a_hundred_documents_is_reported_once_and_named() -> None:
    texts = {f"d{i}": f"{'abcdefghij'[i % 10] * 3}{i} {SENTENCE} tail{i}" for i in range(100)}
    found = nearly.passages(texts, verbatim=True)
    assert len(found) == 0
    rows = found.repeats.to_pylist()
    assert {row["passage"] for row in rows} == {0}
    assert len(rows) == 100
    assert all(row["template"] and row["documents"] == 100 for row in rows)
    assert all(texts[row["id"]][row["start"] : row["end"]] in SENTENCE for row in rows)


@pytest.mark.parametrize("memory", [None, 1])
@pytest.mark.parametrize("count", [11, 12, 40])
def test_a_template_is_not_also_reported_pair_by_pair(count: int, memory: int | None) -> None:
    """Which k-grams are chosen at its ends differs from document to document."""
    texts = {
        f"d{i}": f"Page {i} has words of its own. {SENTENCE}. And page {i} ends."
        for i in range(count)
    }
    found = nearly.passages(texts, verbatim=True, memory=memory)
    assert len(found) == 0
    assert {row["id"] for row in found.repeats.to_pylist()} == set(texts)
    copied = " ".join(CONTENT)
    texts |= {name: f"{texts[name]} {copied}" for name in ("d1", "d2")}
    (row,) = nearly.passages(texts, verbatim=True, memory=memory).passages.to_pylist()
    assert (row["id_a"], row["id_b"]) == ("d1", "d2")
    assert copied in texts["d1"][row["start_a"] : row["end_a"]]


@pytest.mark.parametrize("one_sided", [False, True])
def test_what_one_document_repeats_or_one_side_alone_has_is_not_shared(one_sided: bool) -> None:
    units = cut(string_array([f"{SENTENCE}. " * 30, "another text", SENTENCE]), SETTINGS)
    alone, together = np.array([0, 1, 0], np.uint32), everyone(3)
    groups, sides = (together, alone) if one_sided else (alone, together)
    who = {"one_sided": one_sided, "least": 12, "crowd": 10}
    runs, crowded = shared_runs(units, groups, sides, **who)
    assert not len(runs)
    assert not len(crowded.hashes)
    _, crowded = shared_runs(units, together, together, **who)
    assert set(crowded.documents.tolist()) == {0, 2}


def test_only_documents_of_different_sides_and_groups_are_compared(tmp_path: Path) -> None:
    texts = {"a": SENTENCE, "b": SENTENCE}
    found = nearly.passages(texts, {"x": SENTENCE + " more"})
    pairs = [(row["id_a"], row["id_b"]) for row in found.passages.to_pylist()]
    assert pairs == [("a", "x"), ("b", "x")]
    for name in ("anna/1.txt", "anna/2.txt", "ben/1.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(SENTENCE)
    found = nearly.passages(tmp_path, group="folder")
    pairs = [(row["id_a"], row["id_b"]) for row in found.pairs.to_pylist()]
    assert pairs == [("anna/1.txt", "ben/1.txt"), ("anna/2.txt", "ben/1.txt")]
    (tmp_path / "ben/2.txt").write_text("Something else that nobody has.")
    (tmp_path / "anna/late").mkdir()
    (tmp_path / "anna/late/3.txt").write_text(SENTENCE)
    assert len(nearly.passages(tmp_path, group="folder").pairs) == 3
    assert len(nearly.passages(tmp_path, group="folder:2").pairs) == 5
    with pytest.raises(SettingsError, match="no such column"):
        nearly.passages(tmp_path, group="student")
    with pytest.raises(SettingsError, match="none of the 2 documents lies in a folder"):
        nearly.passages(tmp_path / "ben", group="folder")
    table = pa.table({"text": [SENTENCE] * 3, "student": ["anna", None, None]})
    assert len(nearly.passages(table, text="text", group="student")) == 3


def test_what_is_ignored_or_common_is_left_out() -> None:
    texts = {name: f"{name * 3} {SENTENCE} {name * 4}" for name in "abc"}
    assert len(nearly.passages(texts)) == 3
    assert len(nearly.passages(texts, ignore=[SENTENCE.upper()])) == 0
    assert len(nearly.passages(texts, common=50)) == 0


@pytest.mark.parametrize("threads", [1, 3])
def test_the_answer_does_not_depend_on_threads(threads: int) -> None:
    texts = {str(i): f"{SENTENCE} {i} {EDITED} {i % 3}" for i in range(6)}
    assert nearly.passages(texts, threads=threads).to_dict() == nearly.passages(texts).to_dict()


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"least": 3}, "fewer than 4 words"),
        ({"least": 19, "unit": "char"}, "fewer than 20 chars"),
        ({"common": 0}, "percentage"),
        ({"crowd": 1}, "from 2 to"),
        ({"crowd": 2**64}, "from 2 to"),
        ({"least": 2**64}, "from 4 to"),
        ({"engine": "spark", "checkpoint": "here"}, "leave it out"),
    ],
)
def test_bad_settings_are_refused(wrong: dict[str, object], told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        nearly.passages(["a", "b"], **wrong)  # type: ignore[arg-type]


def test_documents_of_one_word_and_empty_sides_have_an_answer() -> None:
    assert len(nearly.passages(["word", "word", ""])) == 0
    assert len(nearly.passages([SENTENCE], [])) == 0
    assert len(nearly.passages([], [SENTENCE])) == 0


@pytest.mark.parametrize("memory", [None, 1])
def test_sides_may_have_ids_of_different_types(memory: int | None) -> None:
    one = pa.table({"id": [1, 2], "text": [SENTENCE, "other"]})
    two = pa.table({"id": ["x", "y"], "text": ["nothing", SENTENCE]})
    for first, second in ((one, two), (two, one)):
        found = nearly.passages(first, second, memory=memory)
        (row,) = found.passages.to_pylist()
        assert {row["id_a"], row["id_b"]} == {"1", "y"}
        assert [found.texts(found.passages, name) for name in ("id_a", "id_b")] == [[SENTENCE]] * 2
        for against, side in enumerate(("id_a", "id_b")):
            assert found.text(row[side], against=bool(against)) == SENTENCE
        assert found.text(1, against=first is two) == SENTENCE
        with pytest.raises(MissingError, match="'01'"):
            found.text("01", against=first is two)


def test_a_template_that_covers_everything_leaves_nothing() -> None:
    texts = {"a": SENTENCE, "b": f"{SENTENCE}. {EDITED}"}
    found = nearly.passages(texts, ignore=[f"{SENTENCE} {EDITED}"])
    assert (len(found), found.repeats.num_rows, found.pairs.num_rows) == (0, 0, 0)
    assert found.documents["share"].to_pylist() == [0, 0]


def test_a_long_document_that_repeats_itself_is_no_trouble() -> None:
    found = nearly.passages({"a": "ab " * 200_000, "b": "ab " * 100_000})
    assert found.repeats.num_rows == 2


def test_a_document_too_long_for_a_table_of_seeds_is_aligned() -> None:
    passage = f"{SENTENCE}. {' '.join(CONTENT)}"
    texts = {
        "long": f"{'so it is ' * 400_000}{passage}",
        "short": f"Before. {EDITED}. {passage[-200:]}",
    }
    found = nearly.passages(texts)
    assert "edited" in found.passages["kind"].to_pylist()
    for one, other in slices(found, texts):
        assert one in passage
        assert other in texts["short"]


def test_the_command_shows_writes_and_skips(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "essays"
    folder.mkdir()
    (folder / "a.txt").write_text(f"{SENTENCE}.")
    (folder / "b.txt").write_text(f"Before. {SENTENCE}.")
    assert run(["passages", str(folder)]) == 0
    shown = capsys.readouterr()
    assert "verbatim" in shown.out
    assert "Seven cautious engineers" in shown.out
    assert "of a.txt stands elsewhere, most of it in b.txt" in shown.err
    table = tmp_path / "out.csv"
    assert run(["passages", str(folder), "-o", str(table), "--quiet"]) == 0
    assert "a.txt" in table.read_text().splitlines()[1]
    (folder / "c.txt").write_bytes(b"\x00\xff\x00" * 100)
    assert run(["passages", str(folder), "--json"]) == 3
    assert len(json.loads(capsys.readouterr().out)["passages"]) == 1


def test_items_are_refused() -> None:
    with pytest.raises(SettingsError, match="passages stand in texts"):
        nearly.passages([{"a", "b"}, {"b", "c"}])
