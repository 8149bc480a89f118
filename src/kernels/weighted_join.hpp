// The exact join of weighted sets: every pair that reaches a threshold by weight.
//
// Members are put in one order, rare ones first, as in join.hpp. What two sets share has some least
// weight, so they share one of the first members, those after which less than that is left: the prefix.
// What meets there is thrown out by weight, by what is shared of the prefixes and left after them; what
// remains is verified.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "join.hpp"
#include "stop.hpp"
#include "weights.hpp"

namespace nearly {

// A member of a prefix: its cell, and its weight.
struct WeightedCell {
    std::uint32_t cell, weight;
};

// The first members of a set. The partners of a set are lighter or heavier; those that are heavier share
// more with it, and are met in a part of its prefix.
struct WeightedPrefix {
    std::uint32_t whole = 0, part = 0;             // members
    std::uint64_t after_whole = 0, after_part = 0;  // weight of all that come later
};

// Sets made ready to be joined: ordered by weight, each with its prefix.
class WeightedJoinSets : public RankedSets {
  public:
    WeightedJoinSets(const WeightedSets &sets, std::span<const std::uint8_t> rarities, Threshold threshold)
        : RankedSets(rarities, threshold), sets_(sets), prefixes_(sets.size()),
          cells_(std::make_unique_for_overwrite<WeightedCell[]>(sets.hashes.size())) {
        if (sets.size() >> 32) throw std::invalid_argument("too many documents");
        order_.resize(sets.size());
        ranks_.resize(sets.size());
        const std::vector<std::uint64_t> totals = sets.totals();
        std::iota(order_.begin(), order_.end(), 0u);
        std::ranges::stable_sort(order_, {}, [&](std::uint32_t document) { return totals[document]; });
        for (std::uint32_t rank = 0; rank < order_.size(); ++rank) {
            ranks_[order_[rank]] = rank;
            totals_.push_back(totals[order_[rank]]);
        }
    }

    // Finds the prefixes of documents in [start, stop); parts can be done at once.
    void prepare(std::size_t start, std::size_t stop) {
        Stop stopping;
        std::vector<std::uint32_t> arranged;
        for (std::size_t document = start; document < stop; ++document) {
            stopping.check(8 * sets_[document].size());
            arrange(document, arranged);
            fill(document, arranged);
        }
        prepared_ += stop - start;
    }

    using RankedSets::cells;
    std::uint64_t total(std::size_t rank) const { return totals_[rank]; }
    const std::vector<std::uint64_t> &totals() const { return totals_; }
    const WeightedPrefix &prefix(std::size_t rank) const { return prefixes_[rank]; }
    std::span<const WeightedCell> cells(std::size_t rank, std::uint32_t count) const {
        return {cells_.get() + sets_.offsets[order_[rank]], count};
    }
    Set operator[](std::size_t rank) const { return sets_[order_[rank]]; }
    std::span<const std::uint32_t> weights(std::size_t rank) const { return sets_.weights_of(order_[rank]); }
    // Whether a member is in no other set, if all sets of the join were counted.
    bool is_alone(std::uint32_t cell) const { return rarities_[cell] == 0; }

  private:
    WeightedSets sets_;
    std::vector<std::uint64_t> totals_;
    std::vector<WeightedPrefix> prefixes_;
    std::unique_ptr<WeightedCell[]> cells_;

    std::uint32_t cell_of(std::uint64_t hash) const {
        return static_cast<std::uint32_t>(hash >> (65 - static_cast<unsigned>(std::bit_width(rarities_.size()))));
    }

    // The places of the members by rarity; by hash, which is how they lie, where that is the same.
    void arrange(std::size_t document, std::vector<std::uint32_t> &arranged) const {
        const Set set = sets_[document];
        std::uint32_t places[RARITIES + 1] = {};
        for (const std::uint64_t hash : set) ++places[rarities_[cell_of(hash)] + 1];
        std::partial_sum(places, places + RARITIES + 1, places);
        arranged.resize(set.size());
        for (std::uint32_t i = 0; i < set.size(); ++i) arranged[places[rarities_[cell_of(set[i])]]++] = i;
    }

    void fill(std::size_t document, std::span<const std::uint32_t> arranged) {
        const Set set = sets_[document];
        const std::span<const std::uint32_t> weights = sets_.weights_of(document);
        const std::uint64_t total = totals_[ranks_[document]];
        const std::uint64_t least = threshold_.least_shared(total), least_of_heavy = threshold_.least_shared(total, total);
        WeightedPrefix &prefix = prefixes_[ranks_[document]];
        prefix = {.after_whole = total, .after_part = total};
        WeightedCell *to = cells_.get() + sets_.offsets[document];
        for (const std::uint32_t i : arranged) {
            if (prefix.after_whole < least) break;
            *to++ = {cell_of(set[i]), weights[i]};
            ++prefix.whole;
            prefix.after_whole -= weights[i];
            if (prefix.after_part < least_of_heavy) continue;
            ++prefix.part;
            prefix.after_part -= weights[i];
        }
    }
};

// For each cell the ranks of the sets that have it in their prefix, in the order of their weights.
class WeightedJoinIndex {
  public:
    // `within` serves a join of the sets with themselves: each pair is found from its heavier set.
    WeightedJoinIndex(const WeightedJoinSets &sets, bool within) : sets_(sets), within_(within), starts_(sets.cells() + 1) {
        each_entry([this](std::uint32_t cell, std::uint32_t) { ++starts_[cell + 1]; });
        std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
        ranks_.resize(starts_.back());
        std::vector<std::uint64_t> next(starts_.begin(), starts_.end() - 1);
        each_entry([&](std::uint32_t cell, std::uint32_t rank) { ranks_[next[cell]++] = rank; });
    }

    const WeightedJoinSets &sets() const { return sets_; }
    bool within() const { return within_; }
    std::uint64_t after(std::uint32_t rank) const {
        return within_ ? sets_.prefix(rank).after_part : sets_.prefix(rank).after_whole;
    }
    std::span<const std::uint32_t> operator[](std::uint32_t cell) const {
        return {ranks_.data() + starts_[cell], ranks_.data() + starts_[cell + 1]};
    }

  private:
    const WeightedJoinSets &sets_;
    bool within_;
    std::vector<std::uint64_t> starts_;
    std::vector<std::uint32_t> ranks_;

    // Once for each cell of a set, also where two of its members are in one.
    void each_entry(auto &&receive) const {
        for (std::uint32_t rank = 0; rank < sets_.size(); ++rank) {
            const WeightedPrefix &prefix = sets_.prefix(rank);
            std::uint32_t previous = ~0u;
            for (const WeightedCell &entry : sets_.cells(rank, within_ ? prefix.part : prefix.whole))
                if (entry.cell != previous && !sets_.is_alone(entry.cell)) receive(previous = entry.cell, rank);
        }
    }
};

// Looks sets up in an index, one after the other.
class WeightedProber {
  public:
    WeightedProber(const WeightedJoinIndex &index, const WeightedJoinSets &sets)
        : index_(index), others_(index.sets()), sets_(sets), shared_(others_.size()) {}

    void operator()(std::uint32_t rank, Joined &joined) {
        meet(rank);
        joined.met += met_.size();
        stop_.check(16 * met_.size());
        const WeightedPrefix &mine = sets_.prefix(rank);
        const std::uint64_t total = sets_.total(rank);
        for (const std::uint32_t other : met_) {
            // Up to where the first of both prefixes ends, what is shared was counted.
            const std::uint64_t most = std::exchange(shared_[other], 0) + std::max(mine.after_whole, index_.after(other));
            const std::uint64_t theirs = others_.total(other);
            if (!sets_.threshold().reached(std::min({most, total, theirs}), total, theirs)) continue;
            ++joined.verified;
            stop_.check(sets_[rank].size() + others_[other].size());
            const std::uint64_t shared = shared_weight(sets_[rank], sets_.weights(rank), others_[other]);
            const double similarity = weighted_similarity(shared, total, theirs, sets_.threshold());
            if (similarity < 0) continue;
            const std::uint64_t a = others_.document(other), b = sets_.document(rank);
            joined.pairs.push_back(index_.within() ? pack_pair(a, b) : a << 32 | b);
            joined.similarities.push_back(similarity);
        }
    }

  private:
    const WeightedJoinIndex &index_;
    const WeightedJoinSets &others_, &sets_;
    std::vector<std::uint64_t> shared_;  // the most weight of the prefixes that each set may share
    std::vector<std::uint32_t> met_;
    Stop stop_;

    // Collects the sets of a weight that allows a pair and that share a cell.
    void meet(std::uint32_t rank) {
        met_.clear();
        const std::uint64_t total = sets_.total(rank);
        const auto can_pair = [&](std::uint64_t other) { return sets_.threshold().reached(std::min(total, other), total, other); };
        const auto &totals = others_.totals();
        const auto middle = std::ranges::lower_bound(totals, total);
        const auto first = static_cast<std::uint32_t>(
            std::partition_point(totals.begin(), middle, [&](std::uint64_t other) { return !can_pair(other); }) - totals.begin());
        const auto last = index_.within()
                              ? rank
                              : static_cast<std::uint32_t>(std::partition_point(middle, totals.end(), can_pair) - totals.begin());
        for (const WeightedCell &mine : sets_.cells(rank, sets_.prefix(rank).whole)) {
            const std::span<const std::uint32_t> ranks = index_[mine.cell];
            for (auto at = std::ranges::lower_bound(ranks, first); at != ranks.end() && *at < last; ++at) {
                if (shared_[*at] == 0) met_.push_back(*at);
                shared_[*at] += mine.weight;
            }
        }
    }
};

// As `join` in join.hpp.
inline Joined join(const WeightedJoinIndex &index, const WeightedJoinSets &sets, std::size_t start, std::size_t stop,
                   std::size_t most) {
    WeightedProber probe(index, sets);
    Joined joined;
    for (joined.next = start; joined.next < stop && joined.pairs.size() < most; ++joined.next)
        probe(static_cast<std::uint32_t>(joined.next), joined);
    return joined;
}

}  // namespace nearly
