// Exact search of a few documents among many: an inverted index over the shingles of the few,
// and one pass over the shingles of the many.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "jaccard.hpp"
#include "stop.hpp"

namespace nearly {

// Sets of shingles as they lie in memory, each with the number of its document.
struct NumberedSets {
    std::span<const std::uint32_t> documents;
    std::span<const std::int64_t> offsets;
    std::span<const std::uint64_t> hashes;

    std::size_t size() const { return documents.size(); }
    Set operator[](std::size_t i) const {
        return hashes.subspan(static_cast<std::size_t>(offsets[i]), static_cast<std::size_t>(offsets[i + 1] - offsets[i]));
    }
};

// Which of the sought documents have a shingle.
//
// A document that reaches the threshold with a sought one of n shingles has at least some m of them
// (of Jaccard similarity n t), and so one of any n - m + 1: it is enough to index those that the
// fewest others share. With a threshold of 0 all are indexed, and counted in full.
class SoughtIndex {
  public:
    SoughtIndex(const NumberedSets &sought, Threshold threshold)
        : documents_(sought.documents.begin(), sought.documents.end()),
          offsets_(sought.offsets.begin(), sought.offsets.end()),
          hashes_(sought.hashes.begin(), sought.hashes.end()),
          threshold_(threshold) {
        fill(rare_shingles());
    }

    std::size_t size() const { return documents_.size(); }
    Threshold threshold() const { return threshold_; }
    std::uint32_t document(std::size_t i) const { return documents_[i]; }
    Set operator[](std::size_t i) const { return NumberedSets{documents_, offsets_, hashes_}[i]; }

    // Calls `receive(place of the sought one, place among the many, indexed shingles in both)` for
    // every two documents that share one, a document and itself apart.
    void meet(const NumberedSets &many, auto &&receive) const {
        meet_weighted(many, [](std::size_t) { return std::uint32_t{1}; }, receive);
    }

    // The same, with what these shingles weigh together; `weight_of` is asked by their places in `many`.
    void meet_weighted(const NumberedSets &many, auto &&weight_of, auto &&receive) const {
        std::vector<std::uint64_t> shared(size());
        std::vector<std::uint32_t> met;
        Stop stop;
        for (std::size_t j = 0; j < many.size(); ++j) {
            stop.check(8 * many[j].size() + met.size());
            met.clear();
            for (const std::uint64_t &hash : many[j]) {
                const std::uint64_t weight = weight_of(static_cast<std::size_t>(&hash - many.hashes.data()));
                for (const std::uint32_t i : holders(hash)) {
                    if (shared[i] == 0) met.push_back(i);
                    shared[i] += weight;
                }
            }
            for (const std::uint32_t i : met) {
                const std::uint64_t count = std::exchange(shared[i], 0);
                if (documents_[i] != many.documents[j]) receive(i, j, count);
            }
        }
    }

  private:
    using Entries = std::vector<std::pair<std::uint64_t, std::uint32_t>>;  // shingle and holder
    struct Slot {
        std::uint64_t hash = 0;
        std::uint32_t start = 0, end = 0;  // empty where both are the same
    };
    std::vector<std::uint32_t> documents_, holders_;
    std::vector<std::int64_t> offsets_;
    std::vector<std::uint64_t> hashes_;
    Threshold threshold_;
    std::vector<Slot> slots_;

    // Of each sought document as many shingles as are needed, those with the fewest holders.
    Entries rare_shingles() const {
        std::vector<std::uint64_t> sorted(hashes_);
        std::sort(sorted.begin(), sorted.end());
        const auto holders = [&](std::uint64_t hash) {
            const auto range = std::equal_range(sorted.begin(), sorted.end(), hash);
            return range.second - range.first;
        };
        Entries entries;
        std::vector<std::pair<std::ptrdiff_t, std::uint64_t>> ranked;
        for (std::uint32_t i = 0; i < size(); ++i) {
            const Set set = (*this)[i];
            ranked.clear();
            for (const std::uint64_t hash : set) ranked.emplace_back(holders(hash), hash);
            const std::size_t needed = std::min(set.size(), set.size() - threshold_.least_shared(set.size()) + 1);
            std::sort(ranked.begin(), ranked.end());
            for (std::size_t k = 0; k < needed; ++k) entries.emplace_back(ranked[k].second, i);
        }
        std::sort(entries.begin(), entries.end());
        return entries;
    }

    // Hashes are uniform: their low bits are as good a place as any.
    void fill(const Entries &entries) {
        slots_.resize(std::bit_ceil(2 * entries.size() + 2));
        holders_.reserve(entries.size());
        for (std::size_t start = 0, end; start < entries.size(); start = end) {
            const std::uint64_t hash = entries[start].first;
            for (end = start; end < entries.size() && entries[end].first == hash; ++end)
                holders_.push_back(entries[end].second);
            std::size_t place = hash & (slots_.size() - 1);
            while (slots_[place].start != slots_[place].end) place = (place + 1) & (slots_.size() - 1);
            slots_[place] = {hash, static_cast<std::uint32_t>(start), static_cast<std::uint32_t>(end)};
        }
    }

    std::span<const std::uint32_t> holders(std::uint64_t hash) const {
        for (std::size_t place = hash & (slots_.size() - 1);; place = (place + 1) & (slots_.size() - 1)) {
            const Slot &slot = slots_[place];
            if (slot.start == slot.end || slot.hash == hash)
                return {holders_.data() + slot.start, holders_.data() + slot.end};
        }
    }
};

struct Reached {
    std::vector<std::uint32_t> sought, found;  // numbers of documents
    std::vector<double> similarities;
};

// All that reaches the threshold of the index, which is above 0.
inline Reached search(const SoughtIndex &sought, const NumberedSets &many) {
    constexpr std::size_t NONE_YET = std::numeric_limits<std::size_t>::max();
    Reached reached;
    Comparer comparer;
    std::size_t taken = NONE_YET;
    sought.meet(many, [&](std::size_t i, std::size_t j, std::uint64_t) {
        const std::uint64_t mine = sought[i].size(), theirs = many[j].size();
        if (!sought.threshold().reached(std::min(mine, theirs), mine, theirs)) return;
        if (std::exchange(taken, j) != j) comparer.take(many[j]);
        const double similarity = comparer.similarity(sought[i], sought.threshold());
        if (similarity < 0) return;
        reached.sought.push_back(sought.document(i));
        reached.found.push_back(many.documents[j]);
        reached.similarities.push_back(similarity);
    });
    return reached;
}

// For each sought document, how many others have a similarity in [i / bins, (i + 1) / bins);
// one bin more is for those of similarity 1, and none for those that share nothing. The index is
// one of all shingles.
inline std::vector<std::uint32_t> count_by_similarity(const SoughtIndex &sought, const NumberedSets &many,
                                                      std::size_t bins) {
    std::vector<std::uint32_t> counts(sought.size() * (bins + 1));
    sought.meet(many, [&](std::size_t i, std::size_t j, std::uint64_t shared) {
        const std::uint64_t whole = sought.threshold().whole(shared, sought[i].size(), many[j].size());
        ++counts[i * (bins + 1) + shared * bins / whole];
    });
    return counts;
}

}  // namespace nearly
