// Sorting 64-bit words in linear time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace nearly {

// By some of their bits, stably. Least significant digit first, eleven bits at a time, over bits [from, to).
// Digits in which all words agree cost one counting pass and no move.
template <class Words> void radix_sort(Words &words, unsigned from, unsigned to) {
    constexpr unsigned BITS = 11;
    Words other(words.size());
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

// What a hash is of.
struct Hashed {
    std::uint64_t hash;
    std::uint32_t number;
    bool operator<(const Hashed &other) const { return hash != other.hash ? hash < other.hash : number < other.number; }
};

// By hash, then by number. They are scattered by leading bits first, so that what is left to sort fits a cache. `check` is told
// about how many nanoseconds the next work takes.
template <typename Check> void sort_hashed(std::vector<Hashed> &all, Check &&check) {
    constexpr unsigned BITS = 12;
    std::vector<std::size_t> places((1u << BITS) + 1);
    check(20 * all.size());
    for (const Hashed &each : all) ++places[(each.hash >> (64 - BITS)) + 1];
    std::partial_sum(places.begin(), places.end(), places.begin());
    std::vector<Hashed> sorted(all.size());
    for (const Hashed &each : all) sorted[places[each.hash >> (64 - BITS)]++] = each;  // then a place is the end of its heap
    all.swap(sorted);
    std::size_t from = 0;
    for (std::size_t heap = 0; heap + 1 < places.size(); from = places[heap++]) {
        check(50 * (places[heap] - from));
        std::sort(all.begin() + static_cast<std::ptrdiff_t>(from), all.begin() + static_cast<std::ptrdiff_t>(places[heap]));
    }
}

// Sorts uniformly distributed hashes: one scatter by their leading bits leaves almost nothing for the
// insertion that follows.
class UniformSorter {
  public:
    // Where they stand.
    void operator()(std::uint64_t *hashes, std::size_t count) {
        unsorted_.assign(hashes, hashes + count);
        scatter(unsorted_, hashes);
        for (std::size_t i = 1; i < count; ++i) {
            const std::uint64_t hash = hashes[i];
            std::size_t j = i;
            for (; j > 0 && hashes[j - 1] > hash; --j) hashes[j] = hashes[j - 1];
            hashes[j] = hash;
        }
    }

    // Each once, to where there is room for all; returns how many are different.
    std::size_t write_once(std::span<const std::uint64_t> hashes, std::uint64_t *to) {
        scatter(hashes, to);
        std::size_t end = 0;
        for (std::size_t i = 0; i < hashes.size(); ++i) {
            const std::uint64_t hash = to[i];
            std::size_t j = end;
            while (j > 0 && to[j - 1] > hash) --j;
            if (j > 0 && to[j - 1] == hash) continue;
            for (std::size_t place = end++; place > j; --place) to[place] = to[place - 1];
            to[j] = hash;
        }
        return end;
    }

  private:
    std::vector<std::uint64_t> unsorted_;
    std::vector<std::uint32_t> places_;

    void scatter(std::span<const std::uint64_t> hashes, std::uint64_t *to) {
        const std::size_t count = hashes.size();
        places_.assign(count + 1, 0);
        for (const std::uint64_t hash : hashes) ++places_[place(hash, count) + 1];
        for (std::size_t i = 0; i < count; ++i) places_[i + 1] += places_[i];
        for (const std::uint64_t hash : hashes) to[places_[place(hash, count)]++] = hash;
    }

    static std::size_t place(std::uint64_t hash, std::size_t count) {
        return static_cast<std::size_t>(static_cast<unsigned __int128>(hash) * count >> 64);
    }
};

}  // namespace nearly
