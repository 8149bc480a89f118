"""The algorithms as plainly as Python can say them: for learners, and the oracle of the tests.

`paper` has those of the source documents, `bloom` Bloom filters, `normalisation` the text that
shingles are cut from, `signature` the signature of nearly itself, bit by bit, `passage` the runs
that two texts share, `vector` what random hyperplanes do.
"""

from nearly.textbook.bloom import PlainBloomFilter, bloom_steps, number_key
from nearly.textbook.normalisation import normalise
from nearly.textbook.paper import (
    WHITE_SPACE,
    agreement,
    bag,
    bag_jaccard,
    best_bloom_hashes,
    bloom_false_positive_rate,
    buckets,
    candidates,
    components,
    containment,
    cosine_distance,
    document_frequency,
    edit_distance,
    hamming_distance,
    inverse_document_frequency,
    jaccard,
    jaccard_distance,
    leaders,
    minhash,
    norm_distance,
    shingles,
    signature_by_permutations,
    signature_steps,
    signatures_by_hash_functions,
    similar_pairs,
    too_common,
    weighted_jaccard,
    words,
)
from nearly.textbook.passage import maximal_runs, near_runs, repeated_pieces, shared_part
from nearly.textbook.vector import cosine, hyperplane_chance

__all__ = [
    "WHITE_SPACE",
    "PlainBloomFilter",
    "agreement",
    "bag",
    "bag_jaccard",
    "best_bloom_hashes",
    "bloom_false_positive_rate",
    "bloom_steps",
    "buckets",
    "candidates",
    "components",
    "containment",
    "cosine",
    "cosine_distance",
    "document_frequency",
    "edit_distance",
    "hamming_distance",
    "hyperplane_chance",
    "inverse_document_frequency",
    "jaccard",
    "jaccard_distance",
    "leaders",
    "maximal_runs",
    "minhash",
    "near_runs",
    "norm_distance",
    "normalise",
    "number_key",
    "repeated_pieces",
    "shared_part",
    "shingles",
    "signature_by_permutations",
    "signature_steps",
    "signatures_by_hash_functions",
    "similar_pairs",
    "too_common",
    "weighted_jaccard",
    "words",
]
