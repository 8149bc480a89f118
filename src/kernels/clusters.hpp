// From pairs to groups: first occurrences, connected components, leaders.
#pragma once

#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "content.hpp"

namespace nearly {

// For each content the index of its first occurrence.
inline std::vector<std::uint32_t> first_seen(std::span<const Content> contents) {
    constexpr std::uint32_t FREE = 0xFFFFFFFF;
    std::size_t slots = 16;
    while (slots < 2 * contents.size()) slots *= 2;
    std::vector<std::uint32_t> table(slots, FREE), first(contents.size());
    for (std::uint32_t i = 0; i < contents.size(); ++i) {
        std::size_t slot = contents[i].low & (slots - 1);
        while (table[slot] != FREE && !(contents[table[slot]] == contents[i])) slot = (slot + 1) & (slots - 1);
        if (table[slot] == FREE) table[slot] = i;
        first[i] = table[slot];
    }
    return first;
}

// The lowest document that each document is connected with, itself where there is none.
inline std::vector<std::uint32_t> components(std::span<const std::uint32_t> as, std::span<const std::uint32_t> bs,
                                             std::size_t documents) {
    std::vector<std::uint32_t> parent(documents);
    std::iota(parent.begin(), parent.end(), 0u);
    const auto root = [&parent](std::uint32_t i) {
        while (parent[i] != i) i = parent[i] = parent[parent[i]];
        return i;
    };
    for (std::size_t i = 0; i < as.size(); ++i) {
        const std::uint32_t a = root(as[i]), b = root(bs[i]);
        (a < b ? parent[b] : parent[a]) = a < b ? a : b;
    }
    for (std::uint32_t i = 0; i < documents; ++i) parent[i] = root(i);
    return parent;
}

// Greedy leaders. Documents are known by their ranks, which say who comes first; in that order each one
// joins the most similar leader that it has a pair with (the earliest of equals), or leads from now on.
// Pairs come in the order of their later documents and then of their earlier ones, some at a time.
class Leaders {
  public:
    explicit Leaders(std::size_t documents) : leaders_(documents) { std::iota(leaders_.begin(), leaders_.end(), 0u); }

    void add(std::span<const std::uint32_t> later, std::span<const std::uint32_t> earlier,
             std::span<const double> similarities) {
        for (std::size_t i = 0; i < later.size(); ++i) {
            const std::uint32_t document = later[i], other = earlier[i];
            if (document != current_) current_ = document, best_ = -std::numeric_limits<double>::infinity();
            if (leaders_[other] != other || similarities[i] <= best_) continue;
            best_ = similarities[i];
            leaders_[document] = other;
        }
    }

    // The rank of each one's leader, by rank.
    const std::vector<std::uint32_t> &leaders() const { return leaders_; }

  private:
    std::vector<std::uint32_t> leaders_;
    std::uint32_t current_ = ~0u;  // whose pairs are coming
    double best_ = 0;
};

}  // namespace nearly
