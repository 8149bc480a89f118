// Exact search of a few weighted sets among many; see overlaps.hpp.
#pragma once

#include <cstdint>
#include <vector>

#include "overlaps.hpp"
#include "weights.hpp"

namespace nearly {

// All members of the sought sets are indexed: what two sets share is known when they have met.
class WeightedSought {
  public:
    WeightedSought(const NumberedSets &sought, const WeightedSets &weighted, Threshold threshold)
        : index_(sought, {0, 1}), totals_(weighted.totals()), threshold_(threshold) {}

    std::size_t size() const { return totals_.size(); }

    Reached search(const NumberedSets &many, const WeightedSets &weighted) const {
        Reached reached;
        meet(many, weighted, [&](std::size_t i, std::size_t j, std::uint64_t shared, std::uint64_t total) {
            const double similarity = weighted_similarity(shared, totals_[i], total, threshold_);
            if (similarity < 0) return;
            reached.sought.push_back(index_.document(i));
            reached.found.push_back(many.documents[j]);
            reached.similarities.push_back(similarity);
        });
        return reached;
    }

    // As `count_by_similarity` in overlaps.hpp.
    std::vector<std::uint32_t> count(const NumberedSets &many, const WeightedSets &weighted, std::size_t bins) const {
        std::vector<std::uint32_t> counts(size() * (bins + 1));
        meet(many, weighted, [&](std::size_t i, std::size_t, std::uint64_t shared, std::uint64_t total) {
            const auto part = static_cast<unsigned __int128>(shared) * bins / threshold_.whole(shared, totals_[i], total);
            ++counts[i * (bins + 1) + static_cast<std::size_t>(part)];
        });
        return counts;
    }

  private:
    SoughtIndex index_;
    std::vector<std::uint64_t> totals_;
    Threshold threshold_;

    void meet(const NumberedSets &many, const WeightedSets &weighted, auto &&receive) const {
        const std::vector<std::uint64_t> totals = weighted.totals();
        index_.meet_weighted(many, [&](std::size_t member) { return weighted.weights[member]; },
                             [&](std::size_t i, std::size_t j, std::uint64_t shared) { receive(i, j, shared, totals[j]); });
    }
};

}  // namespace nearly
