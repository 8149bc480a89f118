// Bloom filters whose bits lie in blocks of 512: a key touches one line of the cache.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "content.hpp"
#include "hashing.hpp"
#include "stop.hpp"
#include "texts.hpp"

namespace nearly {

inline constexpr std::size_t BLOCK_WORDS = 8;

// Keys: 64 bits that stand for a value. Other numbers have other keys.
inline std::uint64_t key_of_number(std::uint64_t number, std::uint64_t seed) {
    return mix(number ^ mix(seed + GOLDEN));
}

inline std::uint64_t key_of_bytes(std::span<const std::uint8_t> bytes, std::uint64_t seed) {
    return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

// The filter's bits belong to the caller.
class Bloom {
  public:
    Bloom(std::span<std::uint64_t> words, unsigned hashes)
        : words_(words.data()), blocks_(words.size() / BLOCK_WORDS), hashes_(hashes) {}

    void prefetch(std::uint64_t key) const { __builtin_prefetch(block(key), 1); }

    bool contains(std::uint64_t key) const {
        const std::uint64_t *const words = block(key);
        std::uint64_t all = 1;
        each_bit(key, [&](unsigned bit) { all &= words[bit >> 6] >> (bit & 63); });
        return all != 0;
    }

    // Whether the key was new.
    bool add(std::uint64_t key) {
        std::uint64_t *const words = block(key);
        std::uint64_t all = 1;
        each_bit(key, [&](unsigned bit) {
            std::uint64_t &word = words[bit >> 6];
            all &= word >> (bit & 63);
            word |= std::uint64_t{1} << (bit & 63);
        });
        return all == 0;
    }

  private:
    std::uint64_t *words_;
    std::uint64_t blocks_;
    unsigned hashes_;

    std::uint64_t *block(std::uint64_t key) const {
        return words_ + BLOCK_WORDS * static_cast<std::uint64_t>((static_cast<unsigned __int128>(key) * blocks_) >> 64);
    }

    // Nine bits say which of the 512; a word has seven such numbers.
    void each_bit(std::uint64_t key, auto &&receive) const {
        constexpr unsigned PER_WORD = 7;
        unsigned left = hashes_;
        for (; left >= PER_WORD; left -= PER_WORD) {
            key = mix(key + GOLDEN);
            for (unsigned i = 0; i < PER_WORD; ++i) receive(key >> (9 * i) & 511);
        }
        if (left == 0) return;
        key = mix(key + GOLDEN);
        for (unsigned i = 0; i < left; ++i) receive(key >> (9 * i) & 511);
    }
};

// Blocks come from memory while the keys before them are worked on.
inline void for_each_key(const Bloom &filter, std::span<const std::uint64_t> keys, auto &&work) {
    constexpr std::size_t AHEAD = 24;
    Stop stop;
    for (std::size_t i = 0; i < std::min(AHEAD, keys.size()); ++i) filter.prefetch(keys[i]);
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (i + AHEAD < keys.size()) filter.prefetch(keys[i + AHEAD]);
        work(i, keys[i]);
        stop.check(16);
    }
}

// Which keys were new, in their order: a key that is given twice is new once.
inline std::vector<std::uint8_t> add_keys(Bloom filter, std::span<const std::uint64_t> keys) {
    std::vector<std::uint8_t> is_new(keys.size());
    for_each_key(filter, keys, [&](std::size_t i, std::uint64_t key) { is_new[i] = filter.add(key); });
    return is_new;
}

inline std::vector<std::uint8_t> contain_keys(const Bloom &filter, std::span<const std::uint64_t> keys) {
    std::vector<std::uint8_t> is_there(keys.size());
    for_each_key(filter, keys, [&](std::size_t i, std::uint64_t key) { is_there[i] = filter.contains(key); });
    return is_there;
}

// Documents with a key for each filter, one row after the other. A document is new if no filter has its
// key, and only then are its keys added: whatever is dropped shares a key with what was kept.
inline std::vector<std::uint8_t> sift_rows(std::span<Bloom> filters, std::span<const std::uint64_t> keys) {
    const std::size_t width = filters.size(), count = keys.size() / width;
    std::vector<std::uint8_t> is_new(count);
    const auto prefetch = [&](std::size_t i) {
        for (std::size_t b = 0; b < width; ++b) filters[b].prefetch(keys[i * width + b]);
    };
    Stop stop;
    if (count > 0) prefetch(0);
    for (std::size_t i = 0; i < count; ++i) {
        if (i + 1 < count) prefetch(i + 1);
        bool seen = false;
        for (std::size_t b = 0; b < width && !seen; ++b) seen = filters[b].contains(keys[i * width + b]);
        for (std::size_t b = 0; b < width && !seen; ++b) filters[b].add(keys[i * width + b]);
        is_new[i] = !seen;
        stop.check(32 * width);
    }
    return is_new;
}

// The key of each band of each signature; all positions belong to a band.
inline std::vector<std::uint64_t> band_keys(std::span<const std::uint32_t> signatures, std::size_t rows,
                                            std::uint64_t seed) {
    std::vector<std::uint64_t> keys(signatures.size() / rows);
    for (std::size_t i = 0; i < keys.size(); ++i) {
        const auto *const band = reinterpret_cast<const std::uint8_t *>(signatures.data() + i * rows);
        keys[i] = key_of_bytes({band, rows * sizeof(std::uint32_t)}, seed);
    }
    return keys;
}

}  // namespace nearly
