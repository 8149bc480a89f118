"""The built-in stop words, and lists read from files."""

from pathlib import Path

import pytest

from nearly.errors import MissingError, SourceError, UnreadableError
from nearly.measures.stop_word import ENGLISH, read_stop_words


def test_english_is_sorted_lower_case_and_without_doubles() -> None:
    assert list(ENGLISH) == sorted(set(ENGLISH))
    assert all(word.isalpha() and word == word.casefold() for word in ENGLISH)
    assert {"the", "and", "of", "is"} <= set(ENGLISH)


def test_one_word_a_line(tmp_path: Path) -> None:
    file = tmp_path / "words.txt"
    file.write_bytes("\ufeffund\r\n\n  Über \nder\nund\n".encode())
    assert read_stop_words(file) == ("der", "und", "Über")
    assert read_stop_words(str(file)) == read_stop_words(file)


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(MissingError, match=r"no stop words file .*gone\.txt"):
        read_stop_words(tmp_path / "gone.txt")


def test_a_folder(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="cannot be read: Is a directory"):
        read_stop_words(tmp_path)


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        (b"the\n\xff\xfe", UnreadableError, "not UTF-8 at byte 4"),
        (b"\n \n", SourceError, "has no words"),
        (b"the\nof the\n", SourceError, "line 2, is 'of the'.*one word a line"),
        (b"the\n\n--\n", SourceError, "line 3, is '--'.*no letter or digit"),
    ],
)
def test_bad_content(tmp_path: Path, content: bytes, error: type[Exception], message: str) -> None:
    file = tmp_path / "words.txt"
    file.write_bytes(content)
    with pytest.raises(error, match=message):
        read_stop_words(file)


def test_a_file_without_end_is_refused() -> None:
    with pytest.raises(UnreadableError, match="/dev/zero has more than 16,777,216 bytes"):
        read_stop_words("/dev/zero")
