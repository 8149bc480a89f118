// From one band's keys to candidates: documents in one bucket whose sketches agree enough.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>
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

// In how many positions two sketches differ: those that differ in any bit are counted once, by the lowest
// of their bits.
[[gnu::always_inline]] inline std::uint32_t different_positions(const std::uint64_t *mine, const std::uint64_t *theirs,
                                                                std::size_t width, unsigned bits_a_position) {
    const unsigned fold = bits_a_position - 1;
    const std::uint64_t lowest = bits_a_position == 2 ? 0x5555555555555555 : ~0ull;
    std::uint32_t different = 0;
    for (std::size_t w = 0; w < width; ++w) {
        const std::uint64_t bits = mine[w] ^ theirs[w];
        different += static_cast<std::uint32_t>(std::popcount((bits | bits >> fold) & lowest));
    }
    return different;
}

// Compares entry `first` with those in [from, to): the others of its bucket.
NEARLY_CLONES inline void compare_sketches(const Sketches &sketches, const std::uint64_t *entries,
                                           std::size_t first, std::size_t from, std::size_t to,
                                           std::uint32_t most_different, std::vector<std::uint64_t> &pairs) {
    const auto document = static_cast<std::uint32_t>(entries[first]);
    const std::uint64_t *mine = sketches[document];
    for (std::size_t j = from; j < to; ++j) {
        const auto other = static_cast<std::uint32_t>(entries[j]);
        if (different_positions(mine, sketches[other], sketches.width, sketches.bits) <= most_different)
            pairs.push_back(pack_pair(document, other));
    }
}

// Calls `receive` with the entries of each bucket that holds two documents or more.
template <class Receive> inline void each_bucket(std::span<const std::uint64_t> entries, Receive &&receive) {
    for (std::size_t start = 0; start < entries.size();) {
        std::size_t end = start + 1;
        while (end < entries.size() && entries[end] >> 32 == entries[start] >> 32) ++end;
        if (end - start > 1) receive(entries.subspan(start, end - start));
        start = end;
    }
}

// How many documents of a bucket are compared with those that follow them there: all, or the first `hubs`.
inline std::size_t count_firsts(std::size_t bucket, std::size_t hubs) {
    return hubs == 0 ? bucket : std::min(hubs, bucket);
}

// Documents in [low, high).
struct Range {
    std::uint64_t low = 0, high = 1ull << 32;

    bool has(std::uint32_t document) const { return low <= document && document < high; }
};

// All pairs of a bucket; or, with hubs, each document with the bucket's first `hubs` only,
// which connects whatever is similar to one of them at a cost linear in the bucket. The first document
// of a pair lies in `range`.
inline void compare_bucket(const Sketches &sketches, std::span<const std::uint64_t> bucket,
                           std::uint32_t most_different, std::size_t hubs, Range range, Candidates &candidates) {
    const std::size_t firsts = count_firsts(bucket.size(), hubs);
    for (std::size_t i = 0; i < firsts; ++i) {
        if (!range.has(static_cast<std::uint32_t>(bucket[i]))) continue;
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

// Entries of the keys that may occur more than once, each with what `of_place` says of its place, ordered by
// key and then by place.
inline std::vector<std::uint64_t> perhaps_shared_entries(std::span<const std::uint32_t> keys, auto &&of_place) {
    const std::vector<std::uint32_t> perhaps = perhaps_shared_keys(keys);
    std::vector<std::uint64_t> entries;
    entries.reserve(perhaps.size());
    for (const std::uint32_t i : perhaps) entries.push_back(static_cast<std::uint64_t>(keys[i]) << 32 | of_place(i));
    radix_sort(entries, 32, 64);
    return entries;
}

inline std::vector<std::uint64_t> perhaps_shared_entries(std::span<const std::uint32_t> keys) {
    return perhaps_shared_entries(keys, [](std::uint32_t i) { return i; });
}

// The places, in ascending order, of keys that occur more than once.
inline std::vector<std::uint32_t> shared_keys(std::span<const std::uint32_t> keys) {
    std::vector<std::uint32_t> places;
    each_bucket(perhaps_shared_entries(keys), [&](std::span<const std::uint64_t> bucket) {
        for (const std::uint64_t entry : bucket) places.push_back(static_cast<std::uint32_t>(entry));
    });
    std::sort(places.begin(), places.end());
    return places;
}

// What comparing a band would take, before anything is compared.
struct Crowd {
    std::vector<std::uint32_t> followers;  // by place: how many documents it is compared with as a pair's first
    std::size_t largest = 0;               // documents in the largest bucket
};

inline Crowd crowd_of(std::span<const std::uint32_t> keys, std::size_t hubs) {
    Crowd crowd{.followers = std::vector<std::uint32_t>(keys.size())};
    each_bucket(perhaps_shared_entries(keys), [&](std::span<const std::uint64_t> bucket) {
        crowd.largest = std::max(crowd.largest, bucket.size());
        const std::size_t firsts = count_firsts(bucket.size(), hubs);
        for (std::size_t i = 0; i < firsts; ++i)
            crowd.followers[static_cast<std::uint32_t>(bucket[i])] = static_cast<std::uint32_t>(bucket.size() - i - 1);
    });
    return crowd;
}

// Documents of the keys that may occur more than once: `keys[i]` and `documents[i]` belong together.
inline std::vector<std::uint64_t> perhaps_together(std::span<const std::uint32_t> keys,
                                                   std::span<const std::uint32_t> documents) {
    return perhaps_shared_entries(keys, [documents](std::uint32_t i) { return documents[i]; });
}

// Sketches are looked up by document.
inline Candidates band_candidates(std::span<const std::uint32_t> keys, std::span<const std::uint32_t> documents,
                                  const Sketches &sketches, std::uint32_t most_different, std::size_t hubs,
                                  Range range = {}) {
    Candidates candidates;
    each_bucket(perhaps_together(keys, documents), [&](std::span<const std::uint64_t> bucket) {
        compare_bucket(sketches, bucket, most_different, hubs, range, candidates);
    });
    return candidates;
}

// The candidates of a band, if its documents meet at most so often; and what is known without comparing them.
struct Gathering {
    std::vector<std::uint64_t> pairs;
    std::uint64_t meetings = 0;
    std::size_t largest = 0;  // documents in the largest bucket
};

inline Gathering gather_band(std::span<const std::uint32_t> keys, std::span<const std::uint32_t> documents,
                             const Sketches &sketches, std::uint32_t most_different, std::size_t hubs,
                             std::uint64_t most_meetings) {
    const std::vector<std::uint64_t> entries = perhaps_together(keys, documents);
    Gathering gathering;
    each_bucket(entries, [&](std::span<const std::uint64_t> bucket) {
        const std::uint64_t firsts = count_firsts(bucket.size(), hubs);
        gathering.meetings += firsts * (bucket.size() - 1) - firsts * (firsts - 1) / 2;
        gathering.largest = std::max(gathering.largest, bucket.size());
    });
    if (gathering.meetings > most_meetings) return gathering;
    Candidates candidates;
    each_bucket(entries, [&](std::span<const std::uint64_t> bucket) {
        compare_bucket(sketches, bucket, most_different, hubs, {}, candidates);
    });
    gathering.pairs = std::move(candidates.pairs);
    return gathering;
}

// Those pairs whose sketches agree enough; `firsts` and `seconds` are the places of their sketches.
NEARLY_CLONES inline std::vector<std::uint64_t> agreeing(std::span<const std::uint64_t> pairs,
                                                         std::span<const std::uint32_t> firsts,
                                                         std::span<const std::uint32_t> seconds,
                                                         const Sketches &sketches, std::uint32_t most_different) {
    std::vector<std::uint64_t> found;
    for (std::size_t i = 0; i < pairs.size(); ++i)
        if (different_positions(sketches[firsts[i]], sketches[seconds[i]], sketches.width, sketches.bits) <=
            most_different)
            found.push_back(pairs[i]);
    return found;
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
