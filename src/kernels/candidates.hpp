// From one band's keys to candidates: documents in one bucket whose sketches agree enough.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "hashing.hpp"
#include "radix.hpp"

namespace nearly {

// `bits` of each position, 1 or 2, lie side by side.
struct Sketches {
    std::span<const std::uint64_t> words;
    std::size_t width;
    unsigned bits = 2;

    const std::uint64_t *operator[](std::size_t i) const { return words.data() + i * width; }
};

struct Candidates {
    std::vector<std::uint64_t> pairs;  // the lower document in the upper half
    std::uint64_t compared = 0;        // pairs that met in a bucket
};

inline std::uint64_t pack_pair(std::uint64_t a, std::uint64_t b) { return a < b ? a << 32 | b : b << 32 | a; }

// Documents of the same key, ordered by key and then by document.
inline std::vector<std::uint64_t> sort_by_key(std::span<const std::uint32_t> keys,
                                              std::span<const std::uint32_t> documents) {
    std::vector<std::uint64_t> entries(documents.size());
    for (std::size_t i = 0; i < documents.size(); ++i)
        entries[i] = static_cast<std::uint64_t>(keys[i]) << 32 | documents[i];
    radix_sort(entries, 32, 64);
    return entries;
}

// Compares entry `first` with those in [from, to): the others of its bucket.
NEARLY_CLONES inline void compare_sketches(const Sketches &sketches, const std::uint64_t *entries,
                                           std::size_t first, std::size_t from, std::size_t to,
                                           std::uint32_t most_different, std::vector<std::uint64_t> &pairs) {
    // Positions that differ in any bit are counted once: by the lowest of their bits.
    const unsigned fold = sketches.bits - 1;
    const std::uint64_t lowest = sketches.bits == 2 ? 0x5555555555555555 : ~0ull;
    const auto document = static_cast<std::uint32_t>(entries[first]);
    const std::uint64_t *mine = sketches[document];
    for (std::size_t j = from; j < to; ++j) {
        const auto other = static_cast<std::uint32_t>(entries[j]);
        const std::uint64_t *theirs = sketches[other];
        std::uint32_t different = 0;
        for (std::size_t w = 0; w < sketches.width; ++w) {
            const std::uint64_t bits = mine[w] ^ theirs[w];
            different += static_cast<std::uint32_t>(std::popcount((bits | bits >> fold) & lowest));
        }
        if (different <= most_different) pairs.push_back(pack_pair(document, other));
    }
}

// All pairs of a bucket; or, with hubs, each document with the bucket's first `hubs` only,
// which connects whatever is similar to one of them at a cost linear in the bucket.
inline void compare_bucket(const Sketches &sketches, std::span<const std::uint64_t> bucket,
                           std::uint32_t most_different, std::size_t hubs, Candidates &candidates) {
    const std::size_t firsts = hubs == 0 ? bucket.size() : std::min(hubs, bucket.size());
    for (std::size_t i = 0; i < firsts; ++i) {
        candidates.compared += bucket.size() - i - 1;
        compare_sketches(sketches, bucket.data(), i, i + 1, bucket.size(), most_different, candidates.pairs);
    }
}

// The places of keys that may occur more than once: those whose lowest bits do. Most do not, and
// they are seen to be alone without being sorted.
inline std::vector<std::uint32_t> perhaps_shared_keys(std::span<const std::uint32_t> keys) {
    const unsigned bits = std::min(24u, static_cast<unsigned>(std::bit_width(keys.size())) + 4);
    const std::uint32_t mask = (1u << bits) - 1;
    // Partitions share remainders: the bits that tell keys apart are spread by a multiplication.
    const auto cell = [bits, mask](std::uint32_t key) { return (key * 0x9E3779B1u) >> (32 - bits) & mask; };
    std::vector<std::uint64_t> once((mask >> 6) + 1), again((mask >> 6) + 1);
    for (const std::uint32_t key : keys) {
        const std::uint64_t bit = 1ull << (cell(key) & 63);
        again[cell(key) >> 6] |= once[cell(key) >> 6] & bit;
        once[cell(key) >> 6] |= bit;
    }
    std::vector<std::uint32_t> places;
    for (std::uint32_t i = 0; i < keys.size(); ++i)
        if (again[cell(keys[i]) >> 6] >> (cell(keys[i]) & 63) & 1) places.push_back(i);
    return places;
}

// The places, in ascending order, of keys that occur more than once.
inline std::vector<std::uint32_t> shared_keys(std::span<const std::uint32_t> keys) {
    const std::vector<std::uint32_t> perhaps = perhaps_shared_keys(keys);
    std::vector<std::uint64_t> entries;
    entries.reserve(perhaps.size());
    for (const std::uint64_t i : perhaps) entries.push_back(static_cast<std::uint64_t>(keys[i]) << 32 | i);
    radix_sort(entries, 32, 64);
    std::vector<std::uint32_t> places;
    for (std::size_t i = 0; i < entries.size(); ++i)
        if ((i > 0 && entries[i] >> 32 == entries[i - 1] >> 32) ||
            (i + 1 < entries.size() && entries[i] >> 32 == entries[i + 1] >> 32))
            places.push_back(static_cast<std::uint32_t>(entries[i]));
    std::sort(places.begin(), places.end());
    return places;
}

// `keys[i]` and `documents[i]` belong together; sketches are looked up by document.
inline Candidates band_candidates(std::span<const std::uint32_t> keys, std::span<const std::uint32_t> documents,
                                  const Sketches &sketches, std::uint32_t most_different, std::size_t hubs) {
    const std::vector<std::uint64_t> entries = sort_by_key(keys, documents);
    Candidates candidates;
    for (std::size_t start = 0; start < entries.size();) {
        std::size_t end = start + 1;
        while (end < entries.size() && entries[end] >> 32 == entries[start] >> 32) ++end;
        if (end - start > 1)
            compare_bucket(sketches, {entries.data() + start, end - start}, most_different, hubs, candidates);
        start = end;
    }
    return candidates;
}

// Those pairs that lie in [low, high), sorted, each once. Documents have fewer than 32 bits: packed
// closely, two of them need fewer passes.
inline std::vector<std::uint64_t> sorted_unique(std::span<const std::uint64_t> pairs, std::uint64_t low,
                                                std::uint64_t high) {
    std::vector<std::uint64_t> chosen;
    std::uint64_t greatest = 0;  // the second document is the greater one
    for (const std::uint64_t pair : pairs) {
        if (pair < low || pair >= high) continue;
        chosen.push_back(pair);
        greatest |= static_cast<std::uint32_t>(pair);
    }
    const auto bits = static_cast<unsigned>(std::bit_width(greatest));
    const std::uint64_t mask = (1ull << bits) - 1;
    for (std::uint64_t &pair : chosen) pair = pair >> 32 << bits | (pair & mask);
    radix_sort(chosen, 0, 2 * bits);
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
    for (std::uint64_t &pair : chosen) pair = pair >> bits << 32 | (pair & mask);
    return chosen;
}

}  // namespace nearly
