"""Of long texts only a piece is looked at: the one around the first difference."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nearly
from nearly.sources.formats import encoding
from nearly.sources.formats.encoding import NotTextError, checked, decode
from nearly.text import table
from nearly.text.table import excerpt_columns, glimpse

TEXTS = st.text(alphabet="ab 文é\n", max_size=60)


def as_bytes(text: str) -> np.ndarray:
    return np.frombuffer(text.encode(), np.uint8)


@given(TEXTS, TEXTS, TEXTS)
def test_a_piece_stands_where_it_says_and_shows_the_first_difference(
    same: str, rest_a: str, rest_b: str
) -> None:
    a, b = same + rest_a, same + rest_b
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("LONGEST", 8), ("BEFORE", 2), ("PIECE", 40)):
            patch.setattr(table, name, value)
        seen = glimpse(as_bytes(a), as_bytes(b))
    assert seen.is_whole == (max(len(a.encode()), len(b.encode())) <= 8)
    assert a[: seen.before] == b[: seen.before]
    assert a[seen.before :].startswith(seen.a)
    assert b[seen.before :].startswith(seen.b)
    if a != b and len(seen.a) < len(a) - seen.before and len(seen.b) < len(b) - seen.before:
        assert seen.a != seen.b


def test_what_is_said_of_long_texts_is_not_of_a_piece() -> None:
    text = "some words of a text that is long " * 40_000
    found = nearly.find([text, text[:9_000] + "other" + text[9_000:]], threshold=0.5)
    shown = found.top.to_pylist()[0]
    assert (shown["difference"], shown["differing"], shown["words"]) == (None, None, None)
    assert shown["text_b"][9_000 - shown["start_b"] :].startswith("other")
    assert shown["text_a"] == text[shown["start_a"] :][: len(shown["text_a"])]
    assert len(excerpt_columns([], "word")["difference"]) == 0


@given(st.binary(max_size=40) | TEXTS.map(str.encode))
def test_bytes_are_checked_in_pieces_as_they_are_decoded_at_once(data: bytes) -> None:
    def told(act) -> str:
        try:
            text = act(data)
        except NotTextError as error:
            return str(error)
        return text if isinstance(text, str) else text.decode()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoding, "PIECE", 3)
        assert told(checked) == told(decode)
