// Where the words of a text lie: what Unicode white space separates, found sixty-four bytes at a time.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "hashing.hpp"

#if defined(__SSE2__) && !defined(NEARLY_PLAIN)
#include <emmintrin.h>
#endif

namespace nearly {

// Unicode's White_Space property.
inline bool is_space(std::uint32_t c) {
    return (c >= 9 && c <= 13) || c == 32 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
           c == 0x205F || c == 0x3000;
}

inline bool starts_character(std::uint8_t byte) { return (byte & 0xC0) != 0x80; }

// The length in bytes of the white space that starts here, or 0; what is not UTF-8 is none.
inline std::size_t space_length(const std::uint8_t *at, const std::uint8_t *end) {
    const std::uint8_t first = *at;
    if (first < 0x80) return is_space(first) ? 1 : 0;
    if (first == 0xC2 && end - at >= 2) return is_space(at[1]) && at[1] >= 0x80 ? 2 : 0;
    if (first >= 0xE1 && first <= 0xE3 && end - at >= 3) {
        if (starts_character(at[1]) || starts_character(at[2])) return 0;
        const std::uint32_t c = (first & 0x0Fu) << 12 | (at[1] & 0x3Fu) << 6 | (at[2] & 0x3Fu);
        return is_space(c) ? 3 : 0;
    }
    return 0;
}

// Which of 64 bytes are white space of ASCII, and which may begin other white space: a bit each.
struct ByteBits {
    std::uint64_t spaces = 0, leads = 0;
};

// Of other white space only the ideographic kind, E3 80 80, begins with E3, as every kana does: those bits
// are left where both bytes behind may be 80, as far as they are among the 64.
inline std::uint64_t may_be_ideographic(std::uint64_t threes, std::uint64_t eighties) {
    return threes & (eighties >> 1 | 1ull << 63) & (eighties >> 2 | 3ull << 62);
}

#if defined(__SSE2__) && !defined(NEARLY_PLAIN)

inline ByteBits look_at_64_bytes(const std::uint8_t *bytes) {
    const auto is = [](__m128i some, int byte) { return _mm_cmpeq_epi8(some, _mm_set1_epi8(static_cast<char>(byte))); };
    const auto within = [](__m128i some, int first, int span) {
        const __m128i behind = _mm_sub_epi8(some, _mm_set1_epi8(static_cast<char>(first)));
        return _mm_cmpeq_epi8(_mm_min_epu8(behind, _mm_set1_epi8(static_cast<char>(span))), behind);
    };
    const auto bits = [](__m128i which) { return static_cast<std::uint64_t>(_mm_movemask_epi8(which)); };
    ByteBits found;
    std::uint64_t threes = 0, eighties = 0;
    for (unsigned i = 0; i < 64; i += 16) {
        const __m128i some = _mm_loadu_si128(reinterpret_cast<const __m128i *>(bytes + i));
        found.spaces |= bits(_mm_or_si128(is(some, ' '), within(some, 9, 4))) << i;
        if (bits(some) == 0) continue;
        found.leads |= bits(_mm_or_si128(is(some, 0xC2), within(some, 0xE1, 1))) << i;
        threes |= bits(is(some, 0xE3)) << i;
        eighties |= bits(is(some, 0x80)) << i;
    }
    found.leads |= may_be_ideographic(threes, eighties);
    return found;
}

#else

// Eight bytes are looked at as one number: those that are meant have their highest bits set, and a product
// brings these together.
inline ByteBits look_at_64_bytes(const std::uint8_t *bytes) {
    constexpr std::uint64_t ONES = 0x0101010101010101, LOW = 0x7F * ONES, HIGH = 0x80 * ONES;
    const auto together = [](std::uint64_t highest) { return (highest >> 7) * 0x0102040810204080 >> 56; };
    const auto is = [](std::uint64_t low, std::uint64_t byte) { return ~((low ^ byte * ONES) + LOW); };
    ByteBits found;
    std::uint64_t threes = 0, eighties = 0;
    for (unsigned i = 0; i < 64; i += 8) {
        const std::uint64_t eight = load_word(bytes + i), low = eight & LOW;
        const std::uint64_t is_control = (low + (0x80 - 9) * ONES) & ~(low + (0x80 - 14) * ONES);
        found.spaces |= together((is_control | is(low, ' ')) & ~eight & HIGH) << i;
        if ((eight & HIGH) == 0) continue;
        found.leads |= together((is(low, 0x42) | is(low, 0x61) | is(low, 0x62)) & eight & HIGH) << i;
        threes |= together(is(low, 0x63) & eight & HIGH) << i;
        eighties |= together(is(low, 0) & eight & HIGH) << i;
    }
    found.leads |= may_be_ideographic(threes, eighties);
    return found;
}

#endif

// What is carried from 64 bytes to the next.
struct WordsBefore {
    std::uint64_t is_inside = 0;  // 1 if a word goes on
    unsigned reaching_over = 0;   // bytes of white space that began before
};

// Which of the 64 bytes at `at` are of words, a bit each.
[[gnu::always_inline]] inline std::uint64_t inside_of_words(const std::uint8_t *at, const std::uint8_t *end,
                                                           const std::uint8_t *limit, WordsBefore &before) {
    const auto left = static_cast<std::size_t>(end - at);
    std::uint8_t copy[64] = {};
    if (limit - at < 64) std::memcpy(copy, at, left);
    auto [spaces, leads] = look_at_64_bytes(limit - at < 64 ? copy : at);
    spaces |= (1ull << before.reaching_over) - 1;
    before.reaching_over = 0;
    for (; leads != 0; leads &= leads - 1) {
        const auto place = static_cast<unsigned>(std::countr_zero(leads));
        if (place >= left) break;
        const auto length = static_cast<unsigned>(space_length(at + place, end));
        spaces |= ((1ull << length) - 1) << place;
        before.reaching_over = place + length > 64 ? place + length - 64 : 0;
    }
    return left < 64 ? ~spaces & ((1ull << left) - 1) : ~spaces;
}

// Lists where words begin and end in a part of a text, and gives how many places that are. They are written eight at a
// time, for no branch could tell how many there are: behind them is room for seven.
NEARLY_CLONES inline std::size_t list_edges(std::span<const std::uint8_t> text, std::size_t from, std::size_t to,
                                            const std::uint8_t *limit, WordsBefore &before, std::size_t *edges) {
    std::size_t listed = 0;
    for (std::size_t at = from; at < to; at += 64) {
        const std::uint64_t inside = inside_of_words(text.data() + at, text.data() + text.size(), limit, before);
        std::uint64_t changes = inside ^ (inside << 1 | before.is_inside);
        before.is_inside = inside >> 63;
        const std::size_t next = listed + static_cast<std::size_t>(std::popcount(changes));
        for (; listed < next; listed += 8)
            for (std::size_t i = 0; i < 8; ++i, changes &= changes - 1)
                edges[listed + i] = at + static_cast<std::size_t>(std::countr_zero(changes));
        listed = next;
    }
    return listed;
}

// Calls `receive` with where some words begin and end, in turn, until all were given; `limit` is where readable memory
// ends.
inline void each_words(std::span<const std::uint8_t> text, const std::uint8_t *limit, auto &&receive) {
    constexpr std::size_t PART = 1 << 11;
    std::size_t edges[PART + 8], held = 0;  // a word that goes on has begun before
    WordsBefore before;
    for (std::size_t from = 0; from < text.size(); from += PART) {
        const std::size_t to = std::min(from + PART, text.size());
        held += list_edges(text, from, to, limit, before, edges + held);
        if (to == text.size() && before.is_inside == 1) edges[held++] = to;
        receive(std::span<const std::size_t>(edges, held / 2 * 2));
        if (held % 2 == 1) edges[0] = edges[held - 1];
        held %= 2;
    }
}

}  // namespace nearly
