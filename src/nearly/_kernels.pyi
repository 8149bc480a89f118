"""The compiled loops; src/kernels/bindings.cpp."""

import numpy as np
import numpy.typing as npt

Offsets = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
U32 = npt.NDArray[np.uint32]
U64 = npt.NDArray[np.uint64]
F64 = npt.NDArray[np.float64]

def signatures(
    offsets: Offsets, data: Bytes, unit: str, k: int, seed: int, scheme: str, positions: int
) -> U32: ...
def sign(
    offsets: Offsets,
    data: Bytes,
    unit: str,
    k: int,
    seed: int,
    scheme: str,
    bands: int,
    rows: int,
) -> tuple[U32, U64, U32, U64]: ...
def gather(data: Bytes, starts: Offsets, ends: Offsets) -> Bytes: ...
def contents(offsets: Offsets, data: Bytes) -> U64: ...
def band_candidates(
    keys: U32, documents: U32, sketches: U64, most_different: int, hubs: int
) -> tuple[U64, int]: ...
def shared_keys(keys: U32) -> U32: ...
def unique_pairs(pairs: U64) -> U64: ...
def shingle_sets(
    offsets: Offsets, data: Bytes, unit: str, k: int, seed: int
) -> tuple[Offsets, U64]: ...
def similarities(
    offsets: Offsets, hashes: U64, a: U32, b: U32, numerator: int, denominator: int
) -> F64: ...
def cut_blocks(a: U32, b: U32, lengths: Offsets, limit: int) -> Offsets: ...
def shared(a: U64, b: U64) -> int: ...
def first_seen(contents: U64) -> U32: ...
def components(a: U32, b: U32, documents: int) -> U32: ...
def leaders(a: U32, b: U32, similarities: F64, order: U32) -> U32: ...

class SoughtIndex:
    def __init__(self, documents: U32, offsets: Offsets, hashes: U64) -> None: ...
    def search(
        self, documents: U32, offsets: Offsets, hashes: U64, numerator: int, denominator: int
    ) -> tuple[U32, U32, F64]: ...
    def count_by_similarity(
        self, documents: U32, offsets: Offsets, hashes: U64, bins: int
    ) -> U32: ...

unicode_version: str

def is_assigned(code_point: int) -> bool: ...
def settled(offsets: Offsets, text: Bytes, form: str) -> Bytes: ...
def normalise(
    offsets: Offsets,
    text: Bytes,
    *,
    fold_case: bool,
    drop_accents: bool,
    drop_digits: bool,
    drop_punctuation: bool,
    keep_mentions: bool,
    words: bool,
    space: str,
    stop_words: str,
) -> tuple[Offsets, Bytes]: ...
