// In how many documents each hash is: hashes in order with their counts, made of some and merged.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "radix.hpp"
#include "stop.hpp"

namespace nearly {

struct Tally {
    std::vector<std::uint64_t> hashes;
    std::vector<std::uint32_t> counts;
};

inline Tally count_hashes(std::vector<std::uint64_t> hashes) {
    Stop().check(8 * hashes.size());
    radix_sort(hashes, 0, 64);
    Tally tally;
    for (const std::uint64_t hash : hashes) {
        if (tally.hashes.empty() || tally.hashes.back() != hash) tally.hashes.push_back(hash), tally.counts.push_back(0);
        ++tally.counts.back();
    }
    return tally;
}

struct TallyView {
    std::span<const std::uint64_t> hashes;
    std::span<const std::uint32_t> counts;
};

inline Tally merge_tallies(TallyView a, TallyView b) {
    Tally merged;
    merged.hashes.reserve(a.hashes.size() + b.hashes.size());
    merged.counts.reserve(a.hashes.size() + b.hashes.size());
    for (std::size_t i = 0, j = 0; i < a.hashes.size() || j < b.hashes.size();) {
        const bool is_mine = j == b.hashes.size() || (i < a.hashes.size() && a.hashes[i] <= b.hashes[j]);
        const bool is_theirs = i == a.hashes.size() || (j < b.hashes.size() && b.hashes[j] <= a.hashes[i]);
        merged.hashes.push_back(is_mine ? a.hashes[i] : b.hashes[j]);
        merged.counts.push_back((is_mine ? a.counts[i] : 0) + (is_theirs ? b.counts[j] : 0));
        i += is_mine;
        j += is_theirs;
    }
    return merged;
}

}  // namespace nearly
