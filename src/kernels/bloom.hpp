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
inline constexpr unsigned BITS_PER_WORD = 7;

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

    unsigned hashes() const { return hashes_; }

    std::uint64_t *block(std::uint64_t key) const {
        return words_ + BLOCK_WORDS * static_cast<std::uint64_t>((static_cast<unsigned __int128>(key) * blocks_) >> 64);
    }

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

    // Nine bits say which of the 512; a word has seven such numbers.
    void each_bit(std::uint64_t key, auto &&receive) const {
        unsigned left = hashes_;
        for (; left >= BITS_PER_WORD; left -= BITS_PER_WORD) {
            key = mix(key + GOLDEN);
            for (unsigned i = 0; i < BITS_PER_WORD; ++i) receive(key >> (9 * i) & 511);
        }
        if (left == 0) return;
        key = mix(key + GOLDEN);
        for (unsigned i = 0; i < left; ++i) receive(key >> (9 * i) & 511);
    }
};

// Blocks come from memory while the keys before them are worked on.
inline constexpr std::size_t BLOCKS_AHEAD = 24;

inline void prefetch_ahead(const Bloom &filter, std::span<const std::uint64_t> keys, std::size_t i) {
    filter.prefetch(keys[std::min(i + BLOCKS_AHEAD, keys.size() - 1)]);
}

inline void add_plainly(Bloom filter, std::span<const std::uint64_t> keys, std::uint8_t *is_new) {
    Stop stop;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        prefetch_ahead(filter, keys, i);
        is_new[i] = filter.add(keys[i]);
        stop.check(16);
    }
}

#ifdef NEARLY_AVX2
// The same with all bits of a key at once, and its block in two halves: no bit waits for the one before it to be stored.
// A shift by 64 or more, which a place in an earlier word is too, gives 0: so each word gets its own bits.
NEARLY_AVX2 inline void add_widely(const Bloom &filter, std::span<const std::uint64_t> keys, std::uint8_t *is_new) {
    const __m256i one = _mm256_set1_epi64x(1);
    const __m256i lows = _mm256_setr_epi64x(0, 64, 128, 192), highs = _mm256_setr_epi64x(256, 320, 384, 448);
    Stop stop;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        prefetch_ahead(filter, keys, i);
        __m256i low = _mm256_setzero_si256(), high = low;
        std::uint64_t key = keys[i];
        for (unsigned left = filter.hashes(); left > 0;) {
            key = mix(key + GOLDEN);
            const unsigned here = std::min(BITS_PER_WORD, left);
            left -= here;
            for (unsigned k = 0; k < here; ++k) {
                const __m256i place = _mm256_set1_epi64x(static_cast<long long>(key >> (9 * k) & 511));
                low = _mm256_or_si256(low, _mm256_sllv_epi64(one, _mm256_sub_epi64(place, lows)));
                high = _mm256_or_si256(high, _mm256_sllv_epi64(one, _mm256_sub_epi64(place, highs)));
            }
        }
        auto *const block = reinterpret_cast<__m256i *>(filter.block(keys[i]));
        const __m256i first = _mm256_loadu_si256(block), last = _mm256_loadu_si256(block + 1);
        _mm256_storeu_si256(block, _mm256_or_si256(first, low));
        _mm256_storeu_si256(block + 1, _mm256_or_si256(last, high));
        is_new[i] = (_mm256_testc_si256(first, low) & _mm256_testc_si256(last, high)) == 0;
        stop.check(16);
    }
}

#define NEARLY_BLOCK __attribute__((target("avx512f")))

// All bits of a key, in one register.
NEARLY_BLOCK inline __m512i bits_of(std::uint64_t key, unsigned hashes) {
    const __m512i one = _mm512_set1_epi64(1), starts = _mm512_setr_epi64(0, 64, 128, 192, 256, 320, 384, 448);
    __m512i bits = _mm512_setzero_si512();
    for (unsigned left = hashes; left > 0;) {
        key = mix(key + GOLDEN);
        const unsigned here = std::min(BITS_PER_WORD, left);
        left -= here;
        for (unsigned k = 0; k < here; ++k) {
            const __m512i place = _mm512_set1_epi64(static_cast<long long>(key >> (9 * k) & 511));
            bits = _mm512_or_si512(bits, _mm512_maskz_sllv_epi64(0xFF, one, _mm512_sub_epi64(place, starts)));
        }
    }
    return bits;
}

NEARLY_BLOCK inline void add_at_once(const Bloom &filter, std::span<const std::uint64_t> keys, std::uint8_t *is_new) {
    Stop stop;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        prefetch_ahead(filter, keys, i);
        std::uint64_t *const block = filter.block(keys[i]);
        const __m512i before = _mm512_loadu_si512(block), after = _mm512_or_si512(before, bits_of(keys[i], filter.hashes()));
        _mm512_storeu_si512(block, after);
        is_new[i] = _mm512_cmpneq_epi64_mask(before, after) != 0;
        stop.check(16);
    }
}
#endif

// Ways to set the same bits: one by one, all in two registers, or all in one. The later ones are faster, and run on fewer
// machines.
enum class Adding { plainly, widely, at_once };
inline constexpr Adding ADDINGS[] = {Adding::plainly, Adding::widely, Adding::at_once};

inline bool runs_here(Adding way) {
#ifdef NEARLY_AVX2
    if (way == Adding::at_once) return __builtin_cpu_supports("avx512f");
    if (way == Adding::widely) return __builtin_cpu_supports("avx2");
#endif
    return way == Adding::plainly;
}

inline Adding fastest_adding() {
    Adding fastest = Adding::plainly;
    for (const Adding way : ADDINGS)
        if (runs_here(way)) fastest = way;
    return fastest;
}

// Which keys were new, in their order: a key that is given twice is new once. `way` has to run here.
inline std::vector<std::uint8_t> add_keys(const Bloom &filter, std::span<const std::uint64_t> keys, Adding way = fastest_adding()) {
    std::vector<std::uint8_t> is_new(keys.size());
#ifdef NEARLY_AVX2
    if (way == Adding::at_once) add_at_once(filter, keys, is_new.data());
    if (way == Adding::widely) add_widely(filter, keys, is_new.data());
#endif
    if (way == Adding::plainly) add_plainly(filter, keys, is_new.data());
    return is_new;
}

inline std::vector<std::uint8_t> contain_keys(const Bloom &filter, std::span<const std::uint64_t> keys) {
    std::vector<std::uint8_t> is_there(keys.size());
    Stop stop;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        prefetch_ahead(filter, keys, i);
        is_there[i] = filter.contains(keys[i]);
        stop.check(16);
    }
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
