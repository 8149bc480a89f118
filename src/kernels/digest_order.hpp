// The order of digests: 128 bits each, and evenly spread, since they are hashes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "content.hpp"

namespace nearly {

// Places in the order of their digests; where these are equal, as they came. One scatter by the leading
// bits leaves a few for each place, which are sorted by comparing.
inline std::vector<std::uint32_t> digest_order(std::span<const Content> digests) {
    const std::size_t count = digests.size();
    const auto slot = [&](const Content &digest) {
        return static_cast<std::size_t>(static_cast<unsigned __int128>(digest.high) * count >> 64);
    };
    struct Entry {
        std::uint64_t high;
        std::uint32_t place;
    };
    std::vector<std::uint32_t> ends(count + 1);
    for (const Content &digest : digests) ++ends[slot(digest) + 1];
    for (std::size_t i = 0; i < count; ++i) ends[i + 1] += ends[i];
    std::vector<Entry> entries(count);
    for (std::size_t i = 0; i < count; ++i)
        entries[ends[slot(digests[i])]++] = {digests[i].high, static_cast<std::uint32_t>(i)};
    const auto before = [&](const Entry &a, const Entry &b) {
        if (a.high != b.high) return a.high < b.high;
        const std::uint64_t low_a = digests[a.place].low, low_b = digests[b.place].low;
        return low_a != low_b ? low_a < low_b : a.place < b.place;
    };
    std::vector<std::uint32_t> order(count);
    for (std::size_t start = 0, i = 0; i < count; start = ends[i++])
        if (ends[i] - start > 1) std::sort(entries.begin() + start, entries.begin() + ends[i], before);
    for (std::size_t i = 0; i < count; ++i) order[i] = entries[i].place;
    return order;
}

}  // namespace nearly
