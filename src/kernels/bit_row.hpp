// Rows of bits: sampled into signatures, compared, and joined by how many bits differ.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "hashing.hpp"
#include "product.hpp"
#include "rotation.hpp"
#include "stop.hpp"

namespace nearly {

// Rows of `width` words each.
struct BitRows {
    const std::uint64_t *words;
    std::size_t count, width;

    const std::uint64_t *operator[](std::size_t i) const { return words + i * width; }
};

// Keys and sketches of the bits that stand in some places, which may repeat: one place for each position of a signature.
NEARLY_CLONES inline SignedBits sample_bits(const BitRows &bits, std::span<const std::uint32_t> places, std::size_t bands,
                                            std::size_t rows, std::size_t kept) {
    const std::size_t sketch = (kept + 63) / 64;
    SignedBits made{std::vector<std::uint32_t>(bits.count * bands), std::vector<std::uint64_t>(bits.count * sketch)};
    std::vector<std::uint64_t> sampled((places.size() + 63) / 64);
    Stop stop;
    for (std::size_t i = 0; i < bits.count; ++i) {
        stop.check(places.size());
        std::ranges::fill(sampled, 0);
        for (std::size_t p = 0; p < places.size(); ++p)
            sampled[p / 64] |= (bits[i][places[p] / 64] >> (places[p] % 64) & 1) << (p % 64);
        keep_bits(sampled.data(), bands, rows, kept, made.keys.data() + i * bands, made.sketches.data() + i * sketch);
    }
    return made;
}

inline std::uint32_t differing_bits(const std::uint64_t *a, const std::uint64_t *b, std::size_t width) {
    std::uint32_t different = 0;
    for (std::size_t w = 0; w < width; ++w) different += static_cast<std::uint32_t>(std::popcount(a[w] ^ b[w]));
    return different;
}

// For each pair of places how many bits differ, counted down from 0; NaN below `least`.
NEARLY_CLONES inline std::vector<double> hamming(const BitRows &one, const BitRows &other, std::span<const std::uint32_t> first,
                                                 std::span<const std::uint32_t> second, double least) {
    std::vector<double> found(first.size());
    Stop stop;
    for (std::size_t i = 0; i < first.size(); ++i) {
        stop.check(one.width + 4);
        const double nearness = -static_cast<double>(differing_bits(one[first[i]], other[second[i]], one.width));
        found[i] = nearness >= least ? nearness : std::numeric_limits<double>::quiet_NaN();
    }
    return found;
}

// Of some rows with the sixteen of a panel, a bit for each pair of which `most` bits or fewer differ.
NEARLY_CLONES inline void agree_widely(const BitRows &one, const BitRows &other, std::size_t start, std::size_t end, std::size_t panel,
                                       std::uint32_t most, GreatOnes &reached) {
    const std::size_t from = panel * Panels::LANES, to = std::min(from + Panels::LANES, other.count);
    for (std::size_t i = start; i < end; ++i) {
        reached[i - start] = 0;
        for (std::size_t j = from; j < to; ++j)
            reached[i - start] |= static_cast<std::uint16_t>((differing_bits(one[i], other[j], one.width) <= most) << (j - from));
    }
}

// Pairs of which `most` bits or fewer differ; `within` as in `pairs_by_panels`.
inline RowPairs near_bits(const BitRows &one, const BitRows &other, std::uint32_t most, bool within) {
    const auto agree = [&](std::size_t start, std::size_t end, std::size_t panel, GreatOnes &reached) {
        agree_widely(one, other, start, end, panel, most, reached);
    };
    return pairs_by_panels(one.count, other.count, within, 16 * one.width, agree);
}

}  // namespace nearly
