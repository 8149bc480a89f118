// Sorting 64-bit words by some of their bits, stably and in linear time.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace nearly {

// Least significant digit first, eleven bits at a time, over bits [from, to).
// Digits in which all words agree cost one counting pass and no move.
inline void radix_sort(std::vector<std::uint64_t> &words, unsigned from, unsigned to) {
    constexpr unsigned BITS = 11;
    std::vector<std::uint64_t> other(words.size());
    for (unsigned shift = from; shift < to; shift += BITS) {
        const std::uint64_t mask = (1ull << std::min(BITS, to - shift)) - 1;
        std::array<std::size_t, 1u << BITS> places{};
        for (const std::uint64_t word : words) ++places[(word >> shift) & mask];
        if (!words.empty() && places[(words[0] >> shift) & mask] == words.size()) continue;
        std::size_t sum = 0;
        for (std::size_t &place : places) {
            const std::size_t count = place;
            place = sum;
            sum += count;
        }
        for (const std::uint64_t word : words) other[places[(word >> shift) & mask]++] = word;
        words.swap(other);
    }
}

}  // namespace nearly
