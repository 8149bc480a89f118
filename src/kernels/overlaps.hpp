// Exact search of a few documents among many: an inverted index over the shingles of the few,
// and one pass over the shingles of the many.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "jaccard.hpp"

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
class SoughtIndex {
  public:
    explicit SoughtIndex(const NumberedSets &sought)
        : documents_(sought.documents.begin(), sought.documents.end()), sizes_(sought.size()) {
        std::vector<std::pair<std::uint64_t, std::uint32_t>> entries;
        entries.reserve(sought.hashes.size());
        for (std::uint32_t i = 0; i < sought.size(); ++i) {
            sizes_[i] = sought[i].size();
            for (const std::uint64_t hash : sought[i]) entries.emplace_back(hash, i);
        }
        std::sort(entries.begin(), entries.end());
        fill(entries);
    }

    std::size_t size() const { return documents_.size(); }
    std::uint32_t document(std::size_t i) const { return documents_[i]; }

    // Calls `receive(place of the sought one, place among the many, shared, together)` for every
    // two documents that share a shingle, a document and itself apart.
    void compare(const NumberedSets &many, auto &&receive) const {
        std::vector<std::uint32_t> shared(size()), met;
        for (std::size_t j = 0; j < many.size(); ++j) {
            met.clear();
            for (const std::uint64_t hash : many[j])
                for (const std::uint32_t i : holders(hash))
                    if (shared[i]++ == 0) met.push_back(i);
            for (const std::uint32_t i : met) {
                const std::uint64_t count = std::exchange(shared[i], 0);
                if (documents_[i] != many.documents[j])
                    receive(i, j, count, sizes_[i] + many[j].size() - count);
            }
        }
    }

  private:
    struct Slot {
        std::uint64_t hash = 0;
        std::uint32_t start = 0, end = 0;  // empty where both are the same
    };
    std::vector<std::uint32_t> documents_, holders_;
    std::vector<std::uint64_t> sizes_;
    std::vector<Slot> slots_;

    // Hashes are uniform: their low bits are as good a place as any.
    void fill(const std::vector<std::pair<std::uint64_t, std::uint32_t>> &entries) {
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

// All that reaches the threshold.
inline Reached search(const SoughtIndex &sought, const NumberedSets &many, Threshold threshold) {
    Reached reached;
    sought.compare(many, [&](std::size_t i, std::size_t j, std::uint64_t shared, std::uint64_t together) {
        if (!threshold.reached(shared, together)) return;
        reached.sought.push_back(sought.document(i));
        reached.found.push_back(many.documents[j]);
        reached.similarities.push_back(static_cast<double>(shared) / static_cast<double>(together));
    });
    return reached;
}

// For each sought document, how many others have a similarity in [i / bins, (i + 1) / bins);
// one bin more is for those of similarity 1, and none for those that share nothing.
inline std::vector<std::uint32_t> count_by_similarity(const SoughtIndex &sought, const NumberedSets &many,
                                                      std::size_t bins) {
    std::vector<std::uint32_t> counts(sought.size() * (bins + 1));
    sought.compare(many, [&](std::size_t i, std::size_t, std::uint64_t shared, std::uint64_t together) {
        ++counts[i * (bins + 1) + shared * bins / together];
    });
    return counts;
}

}  // namespace nearly
