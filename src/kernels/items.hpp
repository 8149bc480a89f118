// Sets and bags of items that are hashes already: no text to be shingled.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "hashing.hpp"
#include "jaccard.hpp"
#include "radix.hpp"
#include "stop.hpp"
#include "texts.hpp"

namespace nearly {

// The hash of each string of bytes.
inline std::vector<std::uint64_t> hash_items(const Texts &items) {
    std::vector<std::uint64_t> hashes(items.size());
    Stop stop;
    for (std::size_t i = 0; i < hashes.size(); ++i) {
        stop.check(8 + items[i].size());
        hashes[i] = hash_bytes(0, items[i].data(), items[i].size());
    }
    return hashes;
}

// The hash of each whole number, as that of its eight bytes.
NEARLY_CLONES inline void hash_numbers(std::span<const std::uint64_t> numbers, std::uint64_t *hashes) {
    const std::uint64_t start = start_hash(0, 8);
    for (std::size_t i = 0; i < numbers.size(); ++i) hashes[i] = mix(start ^ numbers[i]);
}

// Puts the hashes of each list in order; what occurs twice stays twice.
inline void sort_lists(std::span<const std::int64_t> offsets, std::uint64_t *hashes) {
    UniformSorter sort;
    Stop stop;
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
        const auto size = static_cast<std::size_t>(offsets[i + 1] - offsets[i]);
        stop.check(8 * size);
        sort(hashes + offsets[i], size);
    }
}

// What stands for a hash where it occurs once more: the first time itself, then a hash of its own.
// A bag is the set of these: what two bags share is the lesser of both counts, summed.
inline std::uint64_t numbered(std::uint64_t hash, std::uint64_t times_before) {
    return times_before == 0 ? hash : mix(hash + times_before * GOLDEN);
}

// From lists in order to sets in order: of each list every hash once or, of a bag, numbered.
inline Sets sets_of_lists(std::span<const std::int64_t> offsets, std::span<const std::uint64_t> hashes, bool bag) {
    const auto total = static_cast<std::size_t>(offsets.back() - offsets.front());
    Sets sets{.offsets = {0}, .hashes = Growing<std::uint64_t>(total + 1)};
    sets.offsets.reserve(offsets.size());
    UniformSorter sort;
    Stop stop;
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
        const auto list = hashes.subspan(static_cast<std::size_t>(offsets[i]),
                                         static_cast<std::size_t>(offsets[i + 1] - offsets[i]));
        stop.check(list.size());
        std::uint64_t *const start = sets.hashes.data + sets.hashes.size, *end = start;
        std::uint64_t times_before = 0;
        bool repeats = false;
        for (std::size_t j = 0; j < list.size(); ++j) {
            const bool is_again = j > 0 && list[j] == list[j - 1];
            times_before = is_again ? times_before + 1 : 0;
            repeats |= is_again;
            if (bag || !is_again) *end++ = numbered(list[j], times_before);
        }
        const auto size = static_cast<std::size_t>(end - start);
        if (bag && repeats) sort(start, size);
        sets.hashes.size += size;
        sets.offsets.push_back(static_cast<std::int64_t>(sets.hashes.size));
    }
    return sets;
}

struct Lists {
    std::vector<std::int64_t> offsets{0};
    std::vector<std::uint64_t> hashes;
};

// Each text's shingles in order; what occurs twice is there twice.
inline Lists shingle_lists(const Texts &texts, Shingler &shingler) {
    Lists lists;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        if (!texts[i].empty())
            shingler.in_stretches(texts[i], texts.end(), [&](std::span<const std::uint64_t> some) {
                lists.hashes.insert(lists.hashes.end(), some.begin(), some.end());
            });
        lists.offsets.push_back(static_cast<std::int64_t>(lists.hashes.size()));
    }
    sort_lists(lists.offsets, lists.hashes.data());
    return lists;
}

// Each text's bag of shingles, numbered and in order.
inline Sets shingle_bags(const Texts &texts, Shingler &shingler) {
    const Lists lists = shingle_lists(texts, shingler);
    return sets_of_lists(lists.offsets, lists.hashes, true);
}

NEARLY_CLONES inline void hash_again(Set set, std::uint64_t key, std::uint64_t *to) {
    for (std::size_t i = 0; i < set.size(); ++i) to[i] = mix(set[i] ^ key);
}

// Signs sets of hashes that know no seed: they are hashed again, each to one other.
template <typename Signer> class SeededSigner {
  public:
    SeededSigner(std::size_t positions, std::uint64_t seed) : key_(start_hash(seed, 0)), signer_(positions, seed) {}

    void operator()(Set set, std::span<std::uint32_t> signature) {
        if (set.empty()) {
            std::ranges::fill(signature, 0);
            return;
        }
        stop_.check(32 * set.size());
        if (seeded_.size() < set.size()) seeded_.resize(set.size());
        hash_again(set, key_, seeded_.data());
        signer_({seeded_.data(), set.size()}, signature);
    }

  private:
    std::uint64_t key_;
    Signer signer_;
    std::vector<std::uint64_t> seeded_;
    Stop stop_;
};

}  // namespace nearly
