"""Template text, groups and terms: what many documents have, and who belongs together."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nearly
from nearly.documents.group import folder_of, is_folder
from nearly.errors import SettingsError
from nearly.prepared.listing import Filter, list_pairs
from nearly.prepared.maker import prepare
from nearly.prepared.pair import one_pair
from nearly.prepared.result import Prepared, open_prepared
from nearly.prepared.template import LEAST, RUN, template_runs, template_spans, with_template
from nearly.text.match import match

TASK = "Write about a river of your own town, and say why people still need it."


def plain_runs(text: str) -> list[str]:
    words = [word.strip(".,!?").casefold() for word in text.split()]
    return [" ".join(words[place : place + RUN]) for place in range(len(words) - RUN + 1)]


@given(
    st.lists(
        st.lists(st.sampled_from(["river", "Town", "old", "still"]), max_size=12).map(" ".join),
        min_size=LEAST,
        max_size=2 * LEAST,
    )
)
def test_template_text_is_what_enough_documents_have_in_a_row(texts: list[str]) -> None:
    common = template_runs(pa.array(texts, pa.large_string()), 0.2)
    held = [set(plain_runs(text)) for text in texts]
    least = max(LEAST, 0.2 * len(texts))
    for text in texts:
        words, covered = text.split(), set()
        for place, run in enumerate(plain_runs(text)):
            if sum(run in each for each in held) >= least:
                covered |= set(range(place, place + RUN))
        found = {
            place
            for place in range(len(words))
            for start, stop in template_spans(text, common)
            if start <= len(" ".join(words[:place])) + (place > 0) < stop
        }
        assert found == covered


def test_four_signs_of_a_script_without_spaces_are_no_template() -> None:
    texts = [f"ライブラリ{chr(0x4E00 + place)}" for place in range(LEAST)]
    long = [f"このパッケージには共有ライブラリが含まれます{text}" for text in texts]
    for corpus, found in ((texts, []), (long, [(0, 27)])):
        common = template_runs(pa.array(corpus, pa.large_string()), 0.2)
        assert template_spans(corpus[0], common) == found


@given(st.text("ab \n", max_size=60), st.text("ab \n", max_size=60), st.data())
def test_marked_pieces_are_the_same_text(a: str, b: str, data: st.DataObject) -> None:
    pieces = match(a, b).a
    drawn = st.lists(st.integers(0, len(a)), max_size=6, unique=True)
    borders = sorted(data.draw(drawn))
    spans = list(zip(borders[::2], borders[1::2], strict=False))
    marked = with_template(pieces, spans)
    assert "".join(a[each.start : each.stop] for each in marked) == a
    for each in marked:
        is_in = [start <= each.start and each.stop <= stop for start, stop in spans]
        assert each.is_template == any(is_in)
        assert any(
            old.start <= each.start and each.stop <= old.stop and old[2:4] == each[2:4]
            for old in pieces
        )


@pytest.fixture(scope="module", name="folder")
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve students in two terms, who all repeat the task; two have copied."""
    folder = tmp_path_factory.mktemp("class")
    rng = np.random.default_rng(5)
    rows = []
    for number in range(12):
        own = " ".join(f"w{rng.integers(10_000)}" for _ in range(30))
        if number in (7, 8):
            own = rows[1]["text"].removeprefix(TASK).strip()
        text = f"{TASK} {own}"
        term = "2023" if number < 6 else "2024"
        rows.append({"id": f"d{number}", "text": text, "student": f"s{number}", "term": term})
    rows.append(rows[1] | {"id": "draft", "text": rows[1]["text"] + " and more"})
    rows.append(rows[2] | {"id": "nobody", "text": rows[2]["text"] + " too", "student": None})
    pq.write_table(pa.Table.from_pylist(rows), folder / "class.parquet")
    given = folder / "class.parquet"
    found = nearly.find(given, id="id", text="text", threshold=0.6, all_pairs=True)
    found.save(folder / "found")
    return folder


@pytest.fixture(name="prepared")
def _prepared(folder: Path) -> Prepared:
    prepare(folder / "found", group="student", term="term")
    return open_prepared(folder / "found")


def test_what_all_repeat_is_marked_in_both_texts(prepared: Prepared) -> None:
    seen = one_pair(prepared, 0, Filter(), {})
    assert seen.template == 0.2
    matched, text = seen.view.matched, seen.view.text_a
    assert matched is not None
    assert text is not None
    grey = "".join(text[each.start : each.stop] for each in matched.a if each.is_template)
    assert grey == TASK.rstrip(".")


def test_pairs_are_chosen_by_group_and_by_term(prepared: Prepared) -> None:
    whole = list_pairs(prepared, Filter(), {})
    ends = {frozenset((row.name_a, row.name_b)) for row in whole.rows}
    assert frozenset(("d1", "draft")) not in ends  # both of one student
    assert frozenset(("d2", "nobody")) in ends  # who has no group is alone
    number = whole.groups.index("s7")
    some = list_pairs(prepared, Filter(group=number), {})
    assert 0 < some.total < whole.total
    assert all("s7" in (row.group_a, row.group_b) for row in some.rows)
    across = list_pairs(prepared, Filter(terms="across"), {})
    within = list_pairs(prepared, Filter(terms="within"), {})
    assert {row.terms for row in across.rows} == {("2023", "2024")}
    assert {row.terms for row in within.rows} == {("2023",), ("2024",)}
    assert across.total + within.total == whole.total


def test_groups_are_hidden_with_the_names(prepared: Prepared) -> None:
    hidden = list_pairs(prepared, Filter(), {}, hidden=True)
    assert all(each.startswith("Group ") for each in hidden.groups)
    assert all(row.group_a in ("", *hidden.groups) for row in hidden.rows)


def test_wrong_groups_and_terms_are_said(folder: Path, prepared: Prepared) -> None:
    for wrong in (Filter(group=99), Filter(terms="often")):
        with pytest.raises(SettingsError, match=r"group is 99|terms is 'often'"):
            list_pairs(prepared, wrong, {})
    prepare(folder / "found")
    bare = open_prepared(folder / "found")
    with pytest.raises(SettingsError, match="--term"):
        list_pairs(bare, Filter(terms="across"), {})
    assert list_pairs(bare, Filter(), {}).groups == ()


@pytest.mark.parametrize(
    ("name", "group", "wanted"),
    [
        ("anna/week1/a.py", "folder", "anna"),
        ("anna/a.py", "folder", "anna"),
        ("a.py", "folder", None),
        ("./a.py", "folder", None),
        ("2024/anna/week1/a.py", "folder:2", "2024/anna"),
        ("anna/a.py", "folder:2", "anna"),
    ],
)
def test_the_group_of_a_file_is_its_outermost_folder(
    name: str, group: str, wanted: str | None
) -> None:
    assert is_folder(group)
    assert folder_of(name, group) == wanted


def test_a_column_is_no_folder() -> None:
    assert not is_folder("student")
    assert not is_folder(None)
    with pytest.raises(SettingsError, match="folder:2"):
        folder_of("a/b", "folder:0")


def test_drafts_in_folders_of_a_student_are_no_pairs(tmp_path: Path) -> None:
    text = " ".join(f"word{number}" for number in range(40))
    for name in ("anna/week1/a.txt", "anna/week2/a.txt", "ben/week1/a.txt"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(f"{text} {name[:1]}{name[9:10]}")
    found = nearly.find(tmp_path, threshold=0.5, all_pairs=True)
    assert len(found.pairs) == 3
    across = found.across("folder").pairs
    assert across["id_b"].to_pylist() == ["ben/week1/a.txt"] * 2
