"""Whether texts are UTF-8, by a kernel."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nearly import _kernels
from nearly.sources.formats.soundness import validate

#: Bytes around which it is decided what may stand where.
EDGES = bytes.fromhex("00417f808f909fa0bfc0c1c2dfe0e1ecedeeeff0f1f3f4f5f8ff")
NEAR = st.lists(st.sampled_from(list(EDGES)), max_size=12).map(bytes)
WELL = st.text(st.sampled_from("aé日😀\u0800\ud7ff\ue000\U00010000\U0010ffff"), max_size=40)


def are_utf8(texts: list[bytes]) -> bool:
    offsets = np.cumsum([0, *map(len, texts)])
    return _kernels.are_utf8(offsets, np.frombuffer(b"".join(texts), np.uint8))


def is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


@given(st.lists(st.one_of(NEAR, st.binary(max_size=6), WELL.map(str.encode)), max_size=4))
@example([b"\xf0\x9f\x98", b"\x80"])
@example([b"\xe6\x97\xa5", b"", b"\xe6"])
def test_texts_are_utf_8_as_python_says(texts: list[bytes]) -> None:
    assert are_utf8(texts) == all(map(is_utf8, texts))


@given(WELL, NEAR, WELL)
def test_a_fault_is_found_among_many_bytes(before: str, fault: bytes, behind: str) -> None:
    text = (before * 9).encode() + fault + (behind * 9).encode()
    for many in (0, 1_010, 2_000):
        plain = b"a" * many
        assert are_utf8([plain + text + plain]) == is_utf8(text)


@pytest.mark.parametrize("length", [1, 2, 3])
def test_every_short_text(length: int) -> None:
    for number in range(0, 256**length, 1 if length < 3 else 251):
        text = number.to_bytes(length, "big")
        assert are_utf8([text]) == is_utf8(text), text


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_a_batch_with_another_string_is_refused(kind: pa.DataType) -> None:
    data = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary()}
    values = pa.array([b"well", None, b"\xc3\xa9"], data.get(kind, pa.binary_view()))
    validate(pa.record_batch({"text": values.view(kind), "n": [1, 2, 3]}))
    values = pa.array([b"well", None, b"\xe9"], data.get(kind, pa.binary_view()))
    with pytest.raises(pa.ArrowInvalid, match="UTF8"):
        validate(pa.record_batch({"text": values.view(kind)}))
    validate(pa.record_batch({"text": values.view(kind)}).slice(0, 2))
