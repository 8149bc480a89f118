"""The compiled loops; src/kernels/bindings.cpp."""

import numpy as np
import numpy.typing as npt

Offsets = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
U32 = npt.NDArray[np.uint32]
U64 = npt.NDArray[np.uint64]
F64 = npt.NDArray[np.float64]

class HashIndex:
    def __init__(self, hashes: U64) -> None: ...
    def count(self, hashes: U64) -> U32: ...
    def __len__(self) -> int: ...

class Frequency:
    def __init__(self, numerator: int, denominator: int) -> None: ...
    def add(self, offsets: Offsets, hashes: U64) -> None: ...
    def suspects(self) -> U64: ...
    @property
    def room(self) -> int: ...

def request_stop() -> None: ...
def forget_stop() -> None: ...
def signatures(
    offsets: Offsets,
    data: Bytes,
    unit: str,
    k: int,
    seed: int,
    scheme: str,
    positions: int,
    dropped: HashIndex | None = None,
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
    dropped: HashIndex | None = None,
) -> tuple[U32, U64, U32, U64]: ...
def measure(
    offsets: Offsets,
    data: Bytes,
    unit: str,
    k: int,
    seed: int,
    dropped: HashIndex | None = None,
) -> tuple[U32, U64]: ...
def gather(data: Bytes, starts: Offsets, ends: Offsets) -> Bytes: ...
def contents(offsets: Offsets, data: Bytes) -> U64: ...
def band_candidates(
    keys: U32,
    documents: U32,
    sketches: U64,
    bits: int,
    most_different: int,
    hubs: int,
    low: int = ...,
    high: int = ...,
) -> tuple[U64, int]: ...
def crowd(keys: U32, hubs: int) -> tuple[U32, int]: ...
def shared_keys(keys: U32) -> U32: ...
def route_keys(
    rows: U32, keys: U32, is_chosen: Bytes, partitions: int
) -> tuple[Offsets, U32, U32]: ...
def unique_pairs(pairs: U64, low: int, high: int) -> U64: ...
def shingle_sets(
    offsets: Offsets,
    data: Bytes,
    unit: str,
    k: int,
    seed: int,
    in_order: bool = False,
    dropped: HashIndex | None = None,
) -> tuple[Offsets, U64]: ...
def shingle_bags(
    offsets: Offsets, data: Bytes, unit: str, k: int, seed: int
) -> tuple[Offsets, U64]: ...
def hash_items(offsets: Offsets, data: Bytes) -> U64: ...
def hash_numbers(numbers: U64) -> U64: ...
def sort_lists(offsets: Offsets, hashes: U64) -> U64: ...
def sets_of_lists(offsets: Offsets, hashes: U64, bag: bool) -> tuple[Offsets, U64]: ...
def weigh_sets(offsets: Offsets, hashes: U64) -> tuple[U32, U64]: ...
def sign_sets(
    offsets: Offsets, hashes: U64, seed: int, scheme: str, bands: int, rows: int
) -> tuple[U32, U64, U32, U64]: ...
def similarities(
    offsets: Offsets, hashes: U64, a: U32, b: U32, numerator: int, denominator: int
) -> F64: ...
def cut_blocks(a: U32, b: U32, lengths: Offsets, limit: int) -> Offsets: ...
def shared(a: U64, b: U64) -> int: ...
def first_seen(contents: U64) -> U32: ...
def components(a: U32, b: U32, documents: int) -> U32: ...
def leaders(a: U32, b: U32, similarities: F64, order: U32) -> U32: ...

class SoughtIndex:
    def __init__(
        self, documents: U32, offsets: Offsets, hashes: U64, numerator: int, denominator: int
    ) -> None: ...
    def search(self, documents: U32, offsets: Offsets, hashes: U64) -> tuple[U32, U32, F64]: ...
    def count_by_similarity(
        self, documents: U32, offsets: Offsets, hashes: U64, bins: int
    ) -> U32: ...

unicode_version: str

def is_assigned(code_point: int) -> bool: ...
def settled(offsets: Offsets, text: Bytes, form: str) -> Bytes: ...
def ends_of_pieces(text: Bytes, form: str, size: int) -> Offsets: ...
def mark_runs(text: Bytes, most: int) -> Offsets: ...
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
def count_cells(hashes: U64, bits: int) -> U32: ...
def cell_rarities(counts: U32) -> npt.NDArray[np.uint8]: ...

class JoinSets:
    def __init__(
        self,
        offsets: Offsets,
        hashes: U64,
        rarities: npt.NDArray[np.uint8],
        numerator: int,
        denominator: int,
    ) -> None: ...
    def __len__(self) -> int: ...
    def prepare(self, start: int, stop: int) -> None: ...

class JoinIndex:
    def __init__(self, sets: JoinSets, within: bool) -> None: ...
    def probe(
        self, sets: JoinSets, start: int, stop: int, most: int = ...
    ) -> tuple[U64, F64, int, int, int]: ...

def keys_of_numbers(numbers: U64, seed: int) -> U64: ...
def keys_of_texts(offsets: Offsets, data: Bytes, seed: int) -> U64: ...
def keys_of_bands(signatures: U32, rows: int, seed: int) -> U64: ...
def add_to_bloom(words: U64, hashes: int, keys: U64) -> Bytes: ...
def look_up_in_bloom(words: U64, hashes: int, keys: U64) -> Bytes: ...
def sift_by_bloom(words: U64, hashes: int, keys: U64) -> Bytes: ...

class Alignment:
    def __init__(
        self,
        *,
        most_meetings: int,
        gap: int,
        least_density: float,
        steadiness: float,
        least_evidence: float,
        least_scrap: float,
        least_condensed: float,
        fewest_scraps: int,
        widening: float,
        greatest_scrap: float,
        reach: int,
        snap: int,
    ) -> None: ...

def cut_units(
    offsets: Offsets, data: Bytes, words: bool, folds: bool, collects: bool
) -> tuple[Offsets, U64, U32, U32, Bytes, U64, Offsets, Bytes]: ...
def hash_units(offsets: Offsets, data: Bytes) -> U64: ...
def shared_runs(
    offsets: Offsets,
    units: U64,
    groups: U32,
    sides: U32,
    one_sided: bool,
    k: int,
    window: int,
    crowd: int,
) -> tuple[U32, U32]: ...
def rare_pairs(
    offsets: Offsets,
    units: U64,
    groups: U32,
    sides: U32,
    one_sided: bool,
    k: int,
    most_documents: int,
    least_shared: int,
) -> U64: ...
def align(
    offsets: Offsets,
    stems: U32,
    rarities: npt.NDArray[np.float32],
    starts: U32,
    ends: U32,
    begins: Bytes,
    a: U32,
    b: U32,
    settings: Alignment,
) -> tuple[U32, npt.NDArray[np.float32]]: ...
