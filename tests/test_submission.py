"""Texts that are joined from the files of a folder, and told apart again."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearly.errors import SourceError
from nearly.sources.submission import join_folders
from nearly.text.part import Part, heading, part_at, parts_of

NAMES = st.text("ab./ ", min_size=1, max_size=8).filter(lambda name: name.split())


@given(st.lists(st.tuples(NAMES, st.text("xy \n", max_size=20)), min_size=1, max_size=5))
def test_every_character_is_found_in_its_file(files: list[tuple[str, str]]) -> None:
    text, wanted = "", []
    for name, content in files:
        piece = f"{heading(name)}\n{content}\n"
        wanted.append(
            (Part(len(text), " ".join(name.split())), range(len(text), len(text + piece)))
        )
        text += piece
    parts = parts_of(text)
    assert parts == [part for part, _ in wanted]
    for part, places in wanted:
        assert {part_at(parts, place) for place in places} == {part.name}


def test_a_text_of_one_file_has_no_parts() -> None:
    assert parts_of("a text\n==> no name <==\n") == []
    assert part_at([], 3) == ""


def test_files_are_joined_by_their_outermost_folder(tmp_path: Path) -> None:
    course = tmp_path / "course"
    for name, text in {
        "anna/a.py": "one",
        "anna/b/c.py": "two",
        "ben/a.py": "x",
        "top.py": "y",
    }.items():
        (course / name).parent.mkdir(parents=True, exist_ok=True)
        (course / name).write_text(text + "\n")
    (course / "ben/broken.txt").write_bytes(b"\x00\xff\xfe\x00\x81")
    skipped = join_folders(course, tmp_path / "joined.parquet", temporary=tmp_path)
    told = pq.read_table(tmp_path / "joined.parquet").to_pylist()
    assert {row["id"]: row["text"] for row in told} == {
        "anna": "==> a.py <==\none\n\n==> b/c.py <==\ntwo\n",
        "ben": "==> a.py <==\nx\n",
        "top.py": "==> top.py <==\ny\n",
    }
    assert len(skipped) == 1
    with pytest.raises(SourceError, match="is no folder"):
        join_folders(course / "top.py", tmp_path / "other.parquet", temporary=tmp_path)
