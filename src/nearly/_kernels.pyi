"""The compiled loops; src/kernels/bindings.cpp."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Offsets = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
I32 = npt.NDArray[np.int32]
U32 = npt.NDArray[np.uint32]
U64 = npt.NDArray[np.uint64]
F64 = npt.NDArray[np.float64]
F32 = npt.NDArray[np.float32]
I8 = npt.NDArray[np.int8]
Numbers = npt.NDArray[np.float32] | npt.NDArray[np.float64]

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

def count_hashes(hashes: U64) -> tuple[U64, U32]: ...
def merge_tallies(a: U64, counts_a: U32, b: U64, counts_b: U32) -> tuple[U64, U32]: ...

class WeightTable:
    def __init__(self, hashes: U64, weights: U32, other: int) -> None: ...

def weighted_lists(
    offsets: Offsets, hashes: U64, table: WeightTable, bag: bool
) -> tuple[Offsets, U64, U32, U32]: ...
def sign_weighted(
    offsets: Offsets, hashes: U64, weights: U32, seed: int, bands: int, rows: int
) -> tuple[U32, U64]: ...
def weighted_similarities(
    offsets: Offsets, hashes: U64, weights: U32, a: U32, b: U32, numerator: int, denominator: int
) -> F64: ...

class WeightedJoinSets:
    def __init__(
        self,
        offsets: Offsets,
        hashes: U64,
        weights: U32,
        rarities: Bytes,
        numerator: int,
        denominator: int,
    ) -> None: ...
    def prepare(self, start: int, stop: int) -> None: ...
    def __len__(self) -> int: ...

class WeightedJoinIndex:
    def __init__(self, sets: WeightedJoinSets, within: bool) -> None: ...
    def probe(
        self, sets: WeightedJoinSets, start: int, stop: int, most: int = ...
    ) -> tuple[U64, F64, int, int, int]: ...

class WeightedSought:
    def __init__(
        self,
        documents: U32,
        offsets: Offsets,
        hashes: U64,
        weights: U32,
        numerator: int,
        denominator: int,
    ) -> None: ...
    def search(
        self, documents: U32, offsets: Offsets, hashes: U64, weights: U32
    ) -> tuple[U32, U32, F64]: ...
    def count_by_similarity(
        self, documents: U32, offsets: Offsets, hashes: U64, weights: U32, bins: int
    ) -> U32: ...

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
def texts_having(offsets: Offsets, data: Bytes, small: bytes, capital: bytes) -> Bytes: ...
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
def gather_band(
    keys: U32,
    documents: U32,
    sketches: U64,
    bits: int,
    most_different: int,
    hubs: int,
    most_meetings: int,
) -> tuple[U64, int, int]: ...
def agreeing(
    pairs: U64, firsts: U32, seconds: U32, sketches: U64, bits: int, most_different: int
) -> U64: ...
def crowd(keys: U32, hubs: int) -> tuple[U32, int]: ...
def sided_candidates(
    keys: U32,
    documents: U32,
    sketches: U64,
    bits: int,
    most_different: int,
    hubs: int,
    old_end: int,
    new_start: int,
    low: int = ...,
    high: int = ...,
) -> tuple[U64, int]: ...
def sided_crowd(keys: U32, hubs: int, old_end: int, new_start: int) -> tuple[U32, int]: ...
def shared_keys(keys: U32) -> U32: ...
def route_keys(
    rows: U32, keys: U32, is_chosen: Bytes, partitions: int
) -> tuple[Offsets, U32, U32]: ...
def sort_pairs(pairs: U64, values: F64) -> tuple[U64, F64]: ...
def pairs_of_copies(
    first: U32, second: U32, values: F64, starts: Offsets, copies: U32
) -> tuple[U64, F64]: ...
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
def weigh_with_shingles(
    offsets: Offsets,
    data: Bytes,
    unit: str,
    k: int,
    seed: int,
    dropped: HashIndex | None = None,
) -> tuple[U32, U64, Offsets, U64]: ...
def sign_shingles(
    offsets: Offsets, hashes: U64, seed: int, scheme: str, bands: int, rows: int
) -> tuple[U32, U64]: ...
def keep_once(offsets: Offsets, hashes: U64, chosen: U32) -> Offsets: ...
def shingle_lists(
    offsets: Offsets,
    data: Bytes,
    unit: str,
    k: int,
    seed: int,
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
def sign_vectors(
    vectors: Numbers, seed: int, bands: int, rows: int, kept: int
) -> tuple[U32, U64]: ...
def project_vectors(
    vectors: Numbers, directions: F64, shifts: F64, width: float, bands: int, rows: int, kept: int
) -> tuple[U32, U64]: ...
def sample_bits(bits: U64, places: U32, bands: int, rows: int, kept: int) -> tuple[U32, U64]: ...
def hamming(bits: U64, first: U32, second: U32, least: float, others: U64 | None = None) -> F64: ...
def cosines(
    vectors: Numbers, first: U32, second: U32, least: float, others: Numbers | None = None
) -> F64: ...
def euclidean(
    vectors: Numbers, first: U32, second: U32, least: float, others: Numbers | None = None
) -> F64: ...
def minkowski(
    vectors: Numbers,
    first: U32,
    second: U32,
    least: float,
    quarters: int,
    others: Numbers | None = None,
) -> F64: ...
def manhattan(
    vectors: Numbers, first: U32, second: U32, least: float, others: Numbers | None = None
) -> F64: ...
def angles(
    vectors: Numbers, first: U32, second: U32, least: float, others: Numbers | None = None
) -> F64: ...
def differing_places(
    vectors: Numbers, first: U32, second: U32, least: float, others: Numbers | None = None
) -> F64: ...
def great_products(
    one: I8, other: I8, limit: int, within: bool, way: int | None = None
) -> tuple[U32, U32]: ...
def product_ways() -> list[int]: ...
def near_rows(
    one: F32, other: F32, limit: float, by_squares: bool, within: bool
) -> tuple[U32, U32]: ...
def near_bits(one: U64, other: U64, most: int, within: bool) -> tuple[U32, U32]: ...
def similarities(
    offsets: Offsets,
    hashes: U64,
    a: U32,
    b: U32,
    numerator: int,
    denominator: int,
    of_smaller: bool = ...,
) -> F64: ...
def cut_blocks(a: U32, b: U32, lengths: Offsets, limit: int) -> Offsets: ...
def shared(a: U64, b: U64) -> int: ...
def first_seen(contents: U64) -> U32: ...
def components(a: U32, b: U32, documents: int) -> U32: ...

class Leaders:
    def __init__(self, documents: int) -> None: ...
    def add(self, later: U32, earlier: U32, similarities: F64) -> None: ...
    def ranks(self) -> U32: ...

class SoughtIndex:
    def __init__(
        self,
        documents: U32,
        offsets: Offsets,
        hashes: U64,
        numerator: int,
        denominator: int,
        of_smaller: bool = ...,
    ) -> None: ...
    def search(self, documents: U32, offsets: Offsets, hashes: U64) -> tuple[U32, U32, F64]: ...
    def count_by_similarity(
        self, documents: U32, offsets: Offsets, hashes: U64, bins: int
    ) -> U32: ...

unicode_version: str

def is_assigned(code_point: int) -> bool: ...
def are_utf8(offsets: Offsets, text: Bytes) -> bool: ...
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

class EditTexts:
    def __init__(self, offsets: Offsets, data: Bytes) -> None: ...
    def __len__(self) -> int: ...
    @property
    def lengths(self) -> U32: ...

class EditIndex:
    def __init__(self, texts: EditTexts, edits: int, numerator: int, denominator: int) -> None: ...
    def probe(
        self, texts: EditTexts, start: int, stop: int, most: int = ...
    ) -> tuple[U64, U32, int, int, int]: ...

def edit_distances(
    texts: EditTexts, first: U32, second: U32, edits: int, numerator: int, denominator: int
) -> U32: ...
def count_cells(hashes: U64, bits: int) -> U32: ...
def hashes_below(hashes: U64, limit: int) -> U64: ...
def cell_rarities(counts: U32) -> npt.NDArray[np.uint8]: ...
def draw_samples(offsets: Offsets, hashes: U64, seed: int, count: int) -> U32: ...

class SampleIndex:
    def __init__(self, documents: U32, sizes: U32, least: U32, keys: U32, seed: int) -> None: ...
    def probe(self, documents: U32, offsets: Offsets, hashes: U64) -> tuple[U64, int]: ...

class JoinSets:
    def __init__(
        self,
        offsets: Offsets,
        hashes: U64,
        rarities: npt.NDArray[np.uint8],
        numerator: int,
        denominator: int,
        of_smaller: bool = ...,
    ) -> None: ...
    def __len__(self) -> int: ...
    def prepare(self, start: int, stop: int) -> None: ...

class JoinIndex:
    def __init__(self, sets: JoinSets, within: bool, parts: int) -> None: ...
    def sort(self, part: int) -> None: ...
    def write(self, part: int) -> None: ...
    def probe(
        self, sets: JoinSets, start: int, stop: int, most: int = ...
    ) -> tuple[U64, F64, int, int, int]: ...

class Meetings:
    def __init__(self, documents: int, bands: int) -> None: ...
    def add(self, band: int, keys: U32, hubs: int) -> tuple[U32, int]: ...
    def candidates(
        self,
        documents: U32,
        sketches: U64,
        bits: int,
        most_different: int,
        low: int,
        high: int,
    ) -> tuple[U64, int]: ...

def keys_of_numbers(numbers: U64, seed: int) -> U64: ...
def keys_of_texts(offsets: Offsets, data: Bytes, seed: int) -> U64: ...
def keys_of_bands(signatures: U32, rows: int, seed: int) -> U64: ...
def add_to_bloom(words: U64, hashes: int, keys: U64, way: int | None = None) -> Bytes: ...
def bloom_ways() -> list[int]: ...
def look_up_in_bloom(words: U64, hashes: int, keys: U64) -> Bytes: ...
def sift_by_bloom(words: U64, hashes: int, keys: U64) -> Bytes: ...

class Condensing:
    def __init__(
        self,
        *,
        gap: int,
        least_density: float,
        least_scattered: float,
        least_outside: float,
        rise: float,
        widest: float,
    ) -> None: ...

class Alignment:
    def __init__(
        self,
        *,
        most_meetings: int,
        gap: int,
        least_density: float,
        steadiness: float,
        least_evidence: float,
        least_length: int,
        snap: int,
        condensing: Condensing,
    ) -> None: ...

class NearRuns:
    def __init__(self, offsets: Offsets, units: U64, least: int) -> None: ...
    def find(
        self, offsets: Offsets, units: U64, first: int
    ) -> tuple[U32, npt.NDArray[np.float64]]: ...

class SharedGrams:
    def __init__(self, offsets: Offsets, units: U64, k: int) -> None: ...
    def sharing(self, offsets: Offsets, units: U64) -> Bytes: ...

class PassingPairs:
    def __init__(
        self, offsets: Offsets, units: U64, k: int, most_documents: int, least_shared: int
    ) -> None: ...
    def take(self, offsets: Offsets, units: U64, first: int) -> None: ...
    def pairs(self) -> U64: ...

def cut_units(
    offsets: Offsets, data: Bytes, words: bool, folds: bool
) -> tuple[Offsets, U32, U32, U32, Bytes, Offsets, Bytes]: ...
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
    known: U64 | None = None,
) -> tuple[U32, tuple[U64, U32]]: ...
def winnow(offsets: Offsets, units: U64, k: int, window: int) -> tuple[U64, U32, U32]: ...
def crowd_places(hashes: U64, places: U32, follows: Bytes, k: int, window: int) -> U32: ...
def document_grams(offsets: Offsets, units: U64, k: int) -> tuple[U64, U32]: ...
def rare_pairs(
    offsets: Offsets,
    units: U64,
    groups: U32,
    sides: U32,
    one_sided: bool,
    k: int,
    most_documents: int,
    part: int,
    parts: int,
) -> tuple[U64, U32]: ...
def align(
    offsets: Offsets,
    hashes: U64,
    numbers: U32,
    starts: U32,
    ends: U32,
    begins: Bytes,
    stem_of: U32,
    rarity_of: npt.NDArray[np.float32],
    a: U32,
    b: U32,
    settings: Alignment,
    least_verbatim: float,
) -> tuple[U32, npt.NDArray[np.float64], Bytes]: ...

class DamagedError(RuntimeError): ...

def page_sums(data: Bytes) -> U64: ...
def sort_bands(keys: U32, rows: U32, owners: U32, from_band: int, to_band: int) -> U32: ...
def digest_order(digests: U64) -> U32: ...
def sort_band(keys: U32, owners: U32) -> tuple[U32, U32]: ...

class MappedSegment:
    def __init__(
        self,
        data: Bytes,
        sums: U64,
        contents: int,
        keyed: int,
        documents: int,
        bands: int,
        width: int,
        buckets: int,
        sketches: int,
        content_high: int,
        content_low: int,
        id_high: int,
        id_low: int,
        starts: int,
        numbers: int,
        texts: int,
        ids: int,
        id_bytes: int,
    ) -> None: ...
    def check(self, start: int, end: int) -> None: ...
    def check_places(self, start: int, width: int, places: Offsets) -> None: ...
    def damaged(self) -> U64: ...
    def meet(
        self, keys: U32, from_band: int, to_band: int, most: int, dead: Bytes
    ) -> tuple[U64, U32, int]: ...
    def differences(self, pairs: U64, sketches: U64, bits: int) -> U32: ...
    def agreeing(
        self, keys: U32, sketches: U64, most: int, dead: Bytes, bits: int, most_different: int
    ) -> tuple[U32, U64, int, int]: ...
    def owners(self, digests: U64, dead: Bytes) -> tuple[U32, U32, U64]: ...
    def ids(self, documents: U32) -> list[int] | list[str]: ...
    def find(self, digests: U64, among_ids: bool) -> U64: ...

class Waiting:
    def __init__(self, bands: int, width: int, has_numbers: bool) -> None: ...
    def add(
        self,
        number: int,
        id: int | str,  # noqa: A002
        digest: bytes,
        size: int,
        keys: bytes,
        sketch: bytes,
        is_known: bool,
    ) -> bool: ...
    def image(self) -> tuple[Bytes, U64, dict[str, tuple[int, int, str]]]: ...
    @property
    def bands(self) -> int: ...
    @property
    def contents(self) -> int: ...
    @property
    def keyed(self) -> int: ...
    @property
    def documents(self) -> int: ...

class CutObject:
    def __init__(
        self,
        text: Bytes,
        piece: int,
        most_names: int,
        *,
        filled: bool,
        first_counts: bool,
        left_out: list[str],
    ) -> None: ...
    def next(self, enough: int) -> bytes: ...
    def depths(self) -> I32: ...
    @property
    def unsettled(self) -> list[str]: ...
    @property
    def names(self) -> int: ...
    @property
    def has_twins(self) -> bool: ...

class ShownSegments:
    def __init__(self) -> None: ...
    def add(self, segment: MappedSegment, dead_contents: Bytes, dead_documents: Bytes) -> None: ...

class TextAsker:
    def __init__(
        self,
        *,
        raw: bool,
        fold_case: bool,
        drop_accents: bool,
        drop_digits: bool,
        drop_punctuation: bool,
        keep_mentions: bool,
        space: str,
        stop_words: str,
        form: str,
        unit: str,
        k: int,
        seed: int,
        scheme: str,
        bands: int,
        rows: int,
        dropped: HashIndex | None,
        numerator: int,
        denominator: int,
        most: int,
        most_different: int,
    ) -> None: ...
    def ask(
        self, segments: ShownSegments, text: str, read: Callable[[int, int], Bytes]
    ) -> tuple[list[tuple[int | str, float]], int, int] | None: ...
    def first_near(
        self, segments: ShownSegments, text: str, read: Callable[[int, int], Bytes]
    ) -> tuple[list[tuple[int, int | str, float]], bool, int] | None: ...
