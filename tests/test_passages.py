"""Passages: every verbatim run is found, every slice is the passage, and bad input is answered."""

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import nearly
from nearly.arrays import string_array
from nearly.cli.program import run
from nearly.errors import SettingsError
from nearly.passage.result import byte_span
from nearly.passage.unit import cut
from nearly.passage.verbatim import shared_runs
from nearly.settings import PassageSettings
from nearly.textbook import maximal_runs

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
    runs, places = shared_runs(units, who, who, one_sided=False, least=least, crowd=crowd)
    assert len({tuple(run) for run in runs.tolist()}) == len(runs)
    return {tuple(run) for run in runs.tolist()}, places.tolist()


def expected(corpus: list[list[str]], least: int) -> set[tuple[int, ...]]:
    folded = [[word.casefold() for word in words] for words in corpus]
    return {
        (a, b, *run)
        for a, b in combinations(range(len(corpus)), 2)
        for run in maximal_runs(folded[a], folded[b], least)
    }


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
                for _, here, first, end in places
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
    assert found.read_texts(["b"]) == {"b": texts["b"]}


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


@pytest.mark.parametrize("one_sided", [False, True])
def test_what_one_document_repeats_or_one_side_alone_has_is_not_shared(one_sided: bool) -> None:
    units = cut(string_array([f"{SENTENCE}. " * 30, "another text", SENTENCE]), SETTINGS)
    alone, together = np.array([0, 1, 0], np.uint32), everyone(3)
    groups, sides = (together, alone) if one_sided else (alone, together)
    who = {"one_sided": one_sided, "least": 12, "crowd": 10}
    assert not any(map(len, shared_runs(units, groups, sides, **who)))
    _, places = shared_runs(units, together, together, **who)
    assert set(places[:, 1].tolist()) == {0, 2}


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
    with pytest.raises(SettingsError, match="no such column"):
        nearly.passages(tmp_path, group="student")


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
        ({"crowd": 1}, "at least 2"),
        ({"engine": "spark"}, "one machine"),
        ({"memory": 10**9}, "in memory"),
    ],
)
def test_bad_settings_are_refused(wrong: dict[str, object], told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        nearly.passages(["a", "b"], **wrong)  # type: ignore[arg-type]


def test_a_repeated_id_is_skipped_and_told(tmp_path: Path) -> None:
    rows = [{"id": "a", "text": SENTENCE}, {"id": "a", "text": SENTENCE}]
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, rows)))
    found = nearly.passages(tmp_path / "t.jsonl", id="id", text="text")
    assert found.skipped_count == 1
    assert found.documents.num_rows == 1


def test_documents_of_one_word_and_empty_sides_have_an_answer() -> None:
    assert len(nearly.passages(["word", "word", ""])) == 0
    assert len(nearly.passages([SENTENCE], [])) == 0
    assert len(nearly.passages([], [SENTENCE])) == 0


def test_a_long_document_that_repeats_itself_is_no_trouble() -> None:
    found = nearly.passages({"a": "ab " * 200_000, "b": "ab " * 100_000})
    assert found.repeats.num_rows == 2


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
