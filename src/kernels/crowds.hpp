// Passages that stand in more places than can be compared each with each, and these places.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <unordered_map>
#include <vector>

#include "stop.hpp"
#include "winnowing.hpp"

namespace nearly::passages {

// A k-gram of a document that was chosen and is crowded.
struct Crowded {
    std::uint64_t hash;
    std::uint32_t document, place;
    bool follows;  // the one that was chosen before it, in the same document, is crowded too
};

// The first and the last of the crowded k-grams that are one place of a passage.
struct CrowdPlace {
    std::uint32_t passage, first, last;
};

// Neighbouring crowded k-grams of a document are one passage where they mostly come together.
class Crowds {
  public:
    Crowds(std::span<const std::uint64_t> hashes, std::span<const std::uint32_t> places,
           std::span<const std::uint8_t> follows, const Winnowing &winnowing)
        : hashes_(hashes), places_(places), follows_(follows), winnowing_(winnowing) {}

    std::vector<CrowdPlace> operator()() {
        std::vector<CrowdPlace> found;
        const std::vector<std::uint32_t> passages = chains();
        for (std::uint32_t i = 0; i < hashes_.size(); ++i) {
            const bool is_short = follows_[i] && places_[found.back().last] - places_[found.back().first] + 1 < winnowing_.window;
            if (follows_[i] && (found.back().passage == passages[i] || is_short)) found.back().last = i;
            else found.push_back({passages[i], i, i});
        }
        return found;
    }

  private:
    std::span<const std::uint64_t> hashes_;
    std::span<const std::uint32_t> places_;
    std::span<const std::uint8_t> follows_;
    Winnowing winnowing_;
    Stop stop_;

    // A number for each k-gram: that of the first one of its chain.
    std::vector<std::uint32_t> chains() {
        std::vector<std::uint32_t> counts, kinds = kinds_of(counts), chain(counts.size());
        std::iota(chain.begin(), chain.end(), 0);
        const auto root = [&](std::uint32_t kind) {
            while (chain[kind] != kind) kind = chain[kind] = chain[chain[kind]];
            return kind;
        };
        std::unordered_map<std::uint64_t, std::uint32_t> together;
        for (std::size_t i = 1; i < kinds.size(); ++i) {
            if (!follows_[i]) continue;
            const std::uint32_t before = kinds[i - 1], after = kinds[i];
            stop_.check(50);
            const std::uint32_t seen = ++together[std::uint64_t{before} << 32 | after];
            if (2 * std::uint64_t{seen} >= std::max(counts[before], counts[after])) {
                const std::uint32_t one = root(before), other = root(after);
                chain[std::max(one, other)] = std::min(one, other);
            }
        }
        for (std::uint32_t &kind : kinds) kind = root(kind);
        return kinds;
    }

    // The rank of each hash, and how often each stands here.
    std::vector<std::uint32_t> kinds_of(std::vector<std::uint32_t> &counts) {
        std::vector<std::uint32_t> order(hashes_.size()), kinds(hashes_.size());
        std::iota(order.begin(), order.end(), 0);
        std::ranges::sort(order, [&](std::uint32_t x, std::uint32_t y) { return stop_.check(5), hashes_[x] < hashes_[y]; });
        for (std::size_t i = 0; i < order.size(); ++i) {
            if (i == 0 || hashes_[order[i]] != hashes_[order[i - 1]]) counts.push_back(0);
            ++counts.back();
            kinds[order[i]] = static_cast<std::uint32_t>(counts.size() - 1);
        }
        return kinds;
    }
};

}  // namespace nearly::passages
