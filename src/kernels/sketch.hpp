// Sketches of sets: what two of them say bounds what the sets share, and rules most pairs out before these are looked at.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "hashing.hpp"
#include "jaccard.hpp"

namespace nearly {

// A sketch tells for each of its bits whether an odd number of a set's hashes falls on it. Two sketches differ in at most as
// many bits as the sets differ in hashes. A sketch has a power of two of words, so that a wide one can be folded to the
// width of a narrow one.
using Sketch = std::span<const std::uint64_t>;

// The words of a sketch. The lower the threshold, the more may differ, and the wider must a sketch be to show it.
inline std::uint64_t words_of_sketch(Threshold threshold, std::uint64_t size) {
    const double similarity = static_cast<double>(threshold.numerator) / static_cast<double>(threshold.denominator);
    const double bits_per_hash = std::min(1 / (similarity * similarity), 8.0);
    return std::bit_ceil(static_cast<std::uint64_t>(static_cast<double>(size) * bits_per_hash) / 64 + 1);
}

inline void write_sketch(Set set, std::span<std::uint64_t> sketch) {
    std::ranges::fill(sketch, 0);
    for (const std::uint64_t hash : set) sketch[(hash >> 6) & (sketch.size() - 1)] ^= 1ull << (hash & 63);
}

// Whether two sets of these sizes may share enough. Inlined, for its callers are compiled for several processors.
[[gnu::always_inline]] inline bool may_reach(Threshold threshold, Sketch mine, std::uint64_t size, Sketch theirs,
                                             std::uint64_t other_size) {
    const Sketch &narrow = mine.size() < theirs.size() ? mine : theirs;
    const Sketch &wide = mine.size() < theirs.size() ? theirs : mine;
    // A far larger set fills a narrow sketch, which says nothing then.
    if (threshold.of_smaller && wide.size() > 2 * narrow.size()) return true;
    std::uint64_t different = 0;
    for (std::size_t i = 0; i < narrow.size(); ++i) {
        std::uint64_t word = narrow[i];
        for (std::size_t j = i; j < wide.size(); j += narrow.size()) word ^= wide[j];
        different += static_cast<std::uint64_t>(std::popcount(word));
    }
    return threshold.reached((size + other_size - different) / 2, size, other_size);
}

}  // namespace nearly
