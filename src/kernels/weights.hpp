// Weights of members: sets whose members count for more or less, in whole numbers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "hash_index.hpp"
#include "items.hpp"
#include "jaccard.hpp"
#include "stop.hpp"

namespace nearly {

// Those that are listed have a weight of their own, all others share one.
class WeightTable {
  public:
    WeightTable(std::span<const std::uint64_t> hashes, std::span<const std::uint32_t> weights, std::uint32_t other)
        : index_(hashes), weights_(weights.begin(), weights.end()), other_(other) {}

    bool lists(std::uint64_t hash) const { return index_.has(hash); }
    std::uint32_t operator[](std::uint64_t hash) const {
        const std::size_t place = index_.find(hash);
        return place == HashIndex::NOWHERE ? other_ : weights_[place];
    }

  private:
    HashIndex index_;
    std::vector<std::uint32_t> weights_;
    std::uint32_t other_;
};

// Sets in order as they lie in memory, and the weight of each member.
struct WeightedSets {
    std::span<const std::int64_t> offsets;
    std::span<const std::uint64_t> hashes;
    std::span<const std::uint32_t> weights;

    std::size_t size() const { return offsets.size() - 1; }
    Set operator[](std::size_t i) const { return hashes.subspan(start(i), start(i + 1) - start(i)); }
    std::span<const std::uint32_t> weights_of(std::size_t i) const {
        return weights.subspan(start(i), start(i + 1) - start(i));
    }
    std::uint64_t total(std::size_t i) const {
        const auto mine = weights_of(i);
        return std::accumulate(mine.begin(), mine.end(), std::uint64_t{0});
    }
    std::vector<std::uint64_t> totals() const {
        std::vector<std::uint64_t> all(size());
        for (std::size_t i = 0; i < all.size(); ++i) all[i] = total(i);
        return all;
    }

  private:
    std::size_t start(std::size_t i) const { return static_cast<std::size_t>(offsets[i]); }
};

struct Weighted {
    std::vector<std::int64_t> offsets{0};
    std::vector<std::uint64_t> hashes;
    std::vector<std::uint32_t> weights;
    std::vector<std::uint32_t> unlisted;  // of each set, members that the table does not list
};

// Weighs the members of lists in order. What weighs nothing is left out. Of a bag the second of a kind
// is another member than the first, and weighs as much.
inline Weighted weighted_sets(std::span<const std::int64_t> offsets, std::span<const std::uint64_t> hashes,
                              const WeightTable &table, bool bag) {
    Weighted found;
    std::vector<std::pair<std::uint64_t, std::uint32_t>> members;
    Stop stop;
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
        const auto start = static_cast<std::size_t>(offsets[i]), end = static_cast<std::size_t>(offsets[i + 1]);
        stop.check(8 * (end - start));
        members.clear();
        std::uint32_t unlisted = 0;
        std::uint64_t times_before = 0;
        for (std::size_t j = start; j < end; ++j) {
            times_before = j > start && hashes[j] == hashes[j - 1] ? times_before + 1 : 0;
            if (times_before > 0 && !bag) continue;
            unlisted += !table.lists(hashes[j]);
            const std::uint32_t weight = table[hashes[j]];
            if (weight > 0) members.emplace_back(numbered(hashes[j], times_before), weight);
        }
        if (bag) std::ranges::sort(members);
        for (const auto &[hash, weight] : members) found.hashes.push_back(hash), found.weights.push_back(weight);
        found.offsets.push_back(static_cast<std::int64_t>(found.hashes.size()));
        found.unlisted.push_back(unlisted);
    }
    return found;
}

// The weight of all members that two sets in order share.
inline std::uint64_t shared_weight(Set a, std::span<const std::uint32_t> weights, Set b) {
    std::uint64_t shared = 0;
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        const std::uint64_t mine = a[i], theirs = b[j];
        shared += mine == theirs ? weights[i] : 0;
        i += mine <= theirs;
        j += theirs <= mine;
    }
    return shared;
}

// The similarity by weight if it reaches the threshold, else a negative number.
inline double weighted_similarity(std::uint64_t shared, std::uint64_t a, std::uint64_t b, Threshold threshold) {
    if (a == 0 || b == 0 || !threshold.reached(shared, a, b)) return -1;
    return static_cast<double>(shared) / static_cast<double>(threshold.whole(shared, a, b));
}

}  // namespace nearly
