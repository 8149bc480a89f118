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

// Greedy leaders. `order` says which document comes first; in that order each one joins the most
// similar leader that it has a pair with (the earliest of equals), or leads from now on.
inline std::vector<std::uint32_t> leaders(std::span<const std::uint32_t> as, std::span<const std::uint32_t> bs,
                                          std::span<const double> similarities,
                                          std::span<const std::uint32_t> order) {
    std::vector<std::size_t> starts(order.size() + 1);
    for (std::size_t i = 0; i < as.size(); ++i) ++starts[as[i] + 1], ++starts[bs[i] + 1];
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    std::vector<std::size_t> next(starts.begin(), starts.end() - 1), pairs(2 * as.size());
    for (std::size_t i = 0; i < as.size(); ++i) pairs[next[as[i]]++] = i, pairs[next[bs[i]]++] = i;

    std::vector<std::uint32_t> leader(order.size()), rank(order.size());
    std::iota(leader.begin(), leader.end(), 0u);
    for (std::uint32_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
    for (const std::uint32_t document : order) {
        double best = -std::numeric_limits<double>::infinity();
        for (std::size_t p = starts[document]; p < starts[document + 1]; ++p) {
            const std::size_t pair = pairs[p];
            const std::uint32_t other = as[pair] == document ? bs[pair] : as[pair];
            if (rank[other] > rank[document] || leader[other] != other) continue;
            const double similarity = similarities[pair];
            if (similarity > best || (similarity == best && rank[other] < rank[leader[document]])) {
                best = similarity;
                leader[document] = other;
            }
        }
    }
    return leader;
}

}  // namespace nearly
