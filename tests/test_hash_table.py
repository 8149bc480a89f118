"""Sets of hashes are compared by a table whose buckets overflow: as Python compares sets."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from nearly import _kernels


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.integers(0, 40), min_size=1, unique=True),
    st.lists(st.integers(0, 40), min_size=1, unique=True),
    st.integers(0, 63),
)
def test_hashes_that_crowd_in_a_few_buckets_are_counted_as_sets_count_them(a, b, shift):
    """Leading bits choose the bucket, which has four places: here they are the same for many."""
    mine, theirs = ([number << shift & 2**64 - 1 for number in numbers] for numbers in (a, b))
    mine, theirs = list(dict.fromkeys(mine)), list(dict.fromkeys(theirs))
    hashes = np.array([*mine, *theirs], np.uint64)
    offsets = np.array([0, len(mine), len(mine) + len(theirs)])
    both = (np.array([0, 1], np.uint32), np.array([1, 0], np.uint32))
    found = _kernels.similarities(offsets, hashes, *both, 0, 1)
    shared, together = set(mine) & set(theirs), set(mine) | set(theirs)
    assert found.tolist() == [len(shared) / len(together)] * 2


def test_large_sets_of_which_many_hashes_find_their_bucket_full():
    """Over a thousand do, of as many as a table is made for."""
    draw = np.random.default_rng(1)
    one = draw.integers(0, 2**64, 2**18, np.uint64, endpoint=False)
    other = np.concatenate([one[: 2**17], draw.integers(0, 2**64, 2**17, np.uint64)])
    hashes, offsets = np.concatenate([one, other]), np.array([0, len(one), 2 * len(one)])
    first, second = np.zeros(1, np.uint32), np.ones(1, np.uint32)
    (found,) = _kernels.similarities(offsets, hashes, first, second, 0, 1)
    mine, theirs = set(one.tolist()), set(other.tolist())
    assert found == len(mine & theirs) / len(mine | theirs)
