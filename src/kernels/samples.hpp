// Documents that may hold most of another: a few members of each are drawn, and looked for in whole sets.
//
// The members of a set with the least hashes under a seed are a random sample of it, drawn without
// replacement. Of a set that another one contains by a share c, each drawn member lies in the other
// with chance c, however much larger the other is.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "candidates.hpp"
#include "hashing.hpp"
#include "jaccard.hpp"
#include "overlaps.hpp"
#include "radix.hpp"
#include "stop.hpp"

namespace nearly {

// Draws the keys of members: 32 bits of their hashes under a seed.
class Drawer {
  public:
    explicit Drawer(std::uint64_t seed) : start_(start_hash(seed, 0)) {}

    std::uint64_t hash(std::uint64_t member) const { return mix(member ^ start_); }
    std::uint32_t key(std::uint64_t member) const { return static_cast<std::uint32_t>(hash(member)); }

    // Writes the keys of the members with the least hashes, all of a set that has no more than that.
    void operator()(Set set, std::span<std::uint32_t> keys) {
        const std::size_t count = std::min(set.size(), keys.size());
        hashes_.resize(set.size());
        std::ranges::transform(set, hashes_.begin(), [this](std::uint64_t member) { return hash(member); });
        std::ranges::nth_element(hashes_, hashes_.begin() + static_cast<std::ptrdiff_t>(count));
        std::sort(hashes_.begin(), hashes_.begin() + static_cast<std::ptrdiff_t>(count));
        for (std::size_t i = 0; i < count; ++i) keys[i] = static_cast<std::uint32_t>(hashes_[i]);
    }

  private:
    std::uint64_t start_;
    std::vector<std::uint64_t> hashes_;
};

struct Samples {
    std::span<const std::uint32_t> documents, sizes, least;  // how many keys of each must be found
    std::span<const std::uint32_t> keys;                     // as many of each; a small set fills the first ones
};

struct Found {
    std::vector<std::uint64_t> pairs;
    std::uint64_t met = 0;  // pairs with at least one key in common
};

// The samples of some documents, to be looked for in the sets of any.
class SampleIndex {
  public:
    SampleIndex(const Samples &samples, std::uint64_t seed) : draw_(seed), order_(samples.documents.size()) {
        std::vector<std::uint32_t> places(order_.size());
        std::iota(places.begin(), places.end(), 0);
        const auto standing_of = [&](std::uint32_t i) { return standing(samples.sizes[i], samples.documents[i]); };
        std::ranges::sort(places, {}, standing_of);
        const std::size_t width = places.empty() ? 0 : samples.keys.size() / places.size();
        Stop stop;
        for (std::uint32_t rank = 0; rank < places.size(); ++rank) {
            const std::uint32_t place = places[rank];
            order_[rank] = standing_of(place);
            least_.push_back(std::max(samples.least[place], 1u));
            const std::size_t count = std::min<std::size_t>(samples.sizes[place], width);
            stop.check(8 * count);
            for (const std::uint32_t key : samples.keys.subspan(place * width, count))
                entries_.push_back(std::uint64_t{key} << 32 | rank);
        }
        radix_sort(entries_, 32, 64);
        fill();
    }

    // Every document whose sample is found often enough in one of these sets that is larger; of two
    // of one size the later one counts as the larger.
    Found probe(const NumberedSets &many) const {
        Found found;
        std::vector<std::uint32_t> shared(order_.size()), met;
        Stop stop;
        for (std::size_t j = 0; j < many.size(); ++j) {
            const std::uint64_t mine = standing(many[j].size(), many.documents[j]);
            const auto limit = static_cast<std::uint32_t>(std::ranges::lower_bound(order_, mine) - order_.begin());
            stop.check(8 * many[j].size() + met.size());
            met.clear();
            for (const std::uint64_t member : many[j]) meet(draw_.key(member), limit, shared, met);
            found.met += met.size();
            for (const std::uint32_t rank : met)
                if (std::exchange(shared[rank], 0) >= least_[rank])
                    found.pairs.push_back(pack_pair(order_[rank] & ~0u, many.documents[j]));
        }
        return found;
    }

  private:
    Drawer draw_;
    std::vector<std::uint64_t> order_;  // size and document, by rank
    std::vector<std::uint32_t> least_;
    std::vector<std::uint64_t> entries_;  // key and rank, in order
    std::vector<std::uint64_t> starts_;   // of the entries whose keys begin with the same bits
    unsigned shift_ = 0;

    static std::uint64_t standing(std::uint64_t size, std::uint64_t document) { return size << 32 | document; }

    void fill() {
        const auto bits = std::clamp(static_cast<unsigned>(std::bit_width(entries_.size())), 1u, 28u);
        shift_ = 64 - bits;
        starts_.resize((std::size_t{1} << bits) + 1);
        for (const std::uint64_t entry : entries_) ++starts_[(entry >> shift_) + 1];
        std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
    }

    // Ranks ascend among the entries of a key.
    void meet(std::uint32_t key, std::uint32_t limit, std::vector<std::uint32_t> &shared,
              std::vector<std::uint32_t> &met) const {
        const std::uint64_t low = std::uint64_t{key} << 32, high = low | limit;
        const std::uint64_t cell = low >> shift_;
        auto at = entries_.begin() + static_cast<std::ptrdiff_t>(starts_[cell]);
        const auto end = entries_.begin() + static_cast<std::ptrdiff_t>(starts_[cell + 1]);
        while (at < end && *at < low) ++at;
        for (; at < end && *at < high; ++at)
            if (shared[*at & ~0u]++ == 0) met.push_back(static_cast<std::uint32_t>(*at));
    }
};

}  // namespace nearly
