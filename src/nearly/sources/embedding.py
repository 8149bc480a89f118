"""Texts as vectors of what they mean: by a model that carries its weights, or by any function.

A text without anything but white space has a vector of zeros, which has no direction.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.errors import SettingsError
from nearly.frozen import dataclass
from nearly.sources.vector import Shape, contents_of

__all__ = ["Embed", "Embedding", "embedding_of"]

#: From texts to one row of numbers each.
Embed = Callable[[list[str]], Any]

Singles = npt.NDArray[np.float32]

NUMBER: Final = "<f4"
#: Texts that are given to a function at a time, and tokens of a text that are added at a time.
TEXTS_AT_ONCE, TOKENS_AT_ONCE = 1_024, 4_096


@dataclass(frozen=True)
class Embedding:
    """How texts become vectors, and how long these are."""

    name: str
    length: int
    function: Embed
    #: Whether the text goes on behind its vector, for a measure that needs both.
    with_text: bool = False

    @property
    def shape(self) -> Shape:
        """Of its vectors."""
        return Shape(NUMBER, self.length)

    def contents(self, texts: pa.LargeStringArray) -> pa.LargeBinaryArray:
        """The bytes of each vector; null where a text is, or a number that is not finite."""
        import pyarrow.compute as pc  # slow to import, and seldom needed

        rows = self._rows(["" if text is None else text for text in texts.to_pylist()])
        lists = pa.FixedSizeListArray.from_arrays(pa.array(rows.reshape(-1)), self.length)
        vectors = contents_of(lists, self.shape)
        empty = pa.scalar(b"", pa.large_binary())
        behind = texts.cast(pa.large_binary())
        if not self.with_text:
            behind = pc.if_else(texts.is_valid(), empty, pa.scalar(None, pa.large_binary()))
        return pc.binary_join_element_wise(vectors, behind, empty, null_handling="emit_null")

    def _rows(self, texts: list[str]) -> Singles:
        rows = np.zeros((len(texts), self.length), np.float32)
        places = [place for place, text in enumerate(texts) if text.strip()]
        for start in range(0, len(places), TEXTS_AT_ONCE):
            some = places[start : start + TEXTS_AT_ONCE]
            rows[some] = _numbers(self.function, [texts[place] for place in some], self.length)
        return rows


def embedding_of(given: str | Embed, *, with_text: bool) -> Embedding:
    """What a name stands for, or a function; one text says how long its vectors are."""
    if isinstance(given, str):
        if given != "wordllama":
            raise SettingsError(f"embed is {given!r}; there is wordllama, or give a function")
        function: Embed = by_wordllama
        name = given
    else:
        function, name = given, getattr(given, "__name__", type(given).__name__)
    length = _numbers(function, ["nearly the same"], None).shape[1]
    return Embedding(name, length, function, with_text)


def _numbers(function: Embed, texts: list[str], length: int | None) -> Singles:
    """One row per text, as a function gave them."""
    try:
        made: Singles = np.asarray(function(texts), np.float32)
    except (TypeError, ValueError) as error:
        raise SettingsError(
            f"embed gave no matrix of numbers for {len(texts)} texts: {error}"
        ) from error
    if made.ndim != 2 or len(made) != len(texts) or length not in (None, made.shape[1]):
        rows = "numbers" if length is None else f"{length} numbers"
        raise SettingsError(
            f"embed gave an array of shape {made.shape} for {len(texts)} texts; it has to give one "
            f"row of {rows} for each"
        )
    return made


def by_wordllama(texts: list[str]) -> Singles:
    """The mean of the vectors of a text's tokens.

    The model's own way fills the texts of a batch up to one length first, so that the last bits of
    a vector depend on the texts beside it.
    """
    model = _wordllama()
    return np.stack([_mean(model.embedding, tokens.ids) for tokens in _tokens(model, texts)])


def _tokens(model: Any, texts: list[str]) -> Any:
    """Without any that fill up a batch."""
    model.tokenizer.no_padding()
    return model.tokenizer.encode_batch(texts, add_special_tokens=False)


def _mean(embedding: Any, ids: list[int]) -> Singles:
    total: Singles = np.zeros(embedding.shape[1], np.float32)
    known = np.minimum(ids, len(embedding) - 1) if ids else np.empty(0, np.int64)
    for start in range(0, len(known), TOKENS_AT_ONCE):
        total += embedding[known[start : start + TOKENS_AT_ONCE]].sum(axis=0, dtype=np.float32)
    mean: Singles = total / np.float32(max(1, len(known)))
    return mean


@cache
def _wordllama() -> Any:
    """From its own folder: left alone, it looks elsewhere, and downloads what lies beside it."""
    try:
        import wordllama
    except ImportError as error:
        raise SettingsError(
            "embed is 'wordllama', which is not installed; pip install 'nearly[semantic]'"
        ) from error
    folder = Path(wordllama.__file__).parent
    return wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
