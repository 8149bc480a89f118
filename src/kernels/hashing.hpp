// The hash functions everything else stands on; docs/signatures.md states them bit by bit.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

// One build runs everywhere and uses wide registers where the machine has them.
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(NEARLY_PLAIN)
#define NEARLY_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define NEARLY_CLONES
#endif

// What compilers do not see for themselves is written for AVX2, and chosen at run time where the machine has it.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(NEARLY_PLAIN)
#include <immintrin.h>
#define NEARLY_AVX2 __attribute__((target("avx2")))
#define NEARLY_AVX512 __attribute__((target("avx512f,popcnt")))
#endif

namespace nearly {

static_assert(std::endian::native == std::endian::little, "words are read in little-endian order");

inline constexpr std::uint64_t GOLDEN = 0x9E3779B97F4A7C15;
inline constexpr std::uint64_t WORD_BASE = 0xD6E8FEB86659FD93;  // odd, and 3 modulo 4

// A bijection on 64 bits (the finaliser of SplitMix64): distinct inputs never collide.
inline std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
    return x ^ (x >> 31);
}

// The same of several at a time. By force inline: only what is inlined is built for each kind of machine.
inline constexpr std::size_t HASH_LANES = 8;
typedef std::uint64_t HashLanes __attribute__((vector_size(HASH_LANES * sizeof(std::uint64_t))));

[[gnu::always_inline]] inline void mix_lanes(HashLanes &x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
    x ^= x >> 31;
}

inline std::uint64_t load_word(const std::uint8_t *bytes) {
    std::uint64_t word;
    std::memcpy(&word, bytes, 8);
    return word;
}

// The last, partial word: missing bytes are zero.
inline std::uint64_t load_part(const std::uint8_t *bytes, std::size_t count) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes, count);
    return word;
}

// What a hash of `length` bytes starts from; short strings of one length never collide.
inline std::uint64_t start_hash(std::uint64_t seed, std::uint64_t length) {
    return mix(seed + GOLDEN) ^ (length * WORD_BASE);
}

inline std::uint64_t hash_bytes(std::uint64_t seed, const std::uint8_t *bytes, std::size_t length) {
    std::uint64_t hash = start_hash(seed, length);
    while (length > 8) {
        hash = mix(hash ^ load_word(bytes));
        bytes += 8;
        length -= 8;
    }
    return mix(hash ^ load_part(bytes, length));
}

}  // namespace nearly
