// Code points of UTF-8, and what Unicode says of them.
#pragma once
#include <cstddef>
#include <cstdint>

#include "unicode_tables.hpp"

namespace nearly::unicode {

template <typename Entry, std::size_t n, std::size_t m>
Entry entry(const std::uint8_t (&index)[n], const Entry (&blocks)[m], char32_t c) {
    return blocks[index[c / block_size] * block_size + c % block_size];
}

inline std::uint16_t traits_of(char32_t c) { return entry(traits_index, traits_blocks, c); }

inline constexpr char32_t replacement = 0xFFFD;

inline bool continues(std::uint8_t byte) { return (byte & 0xC0) == 0x80; }

// Moves `p`, which is behind `lead`, past the bytes that could still have become a code point: what
// Unicode recommends to replace by one sign, and what Python's `errors="replace"` does.
inline char32_t skip_malformed(std::uint8_t lead, const std::uint8_t *&p, const std::uint8_t *end) {
    if (lead < 0xC2 || lead > 0xF4) return replacement;
    const std::uint8_t least = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const std::uint8_t most = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    const int following = lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
    if (p == end || *p < least || *p > most) return replacement;
    ++p;
    for (int i = 1; i < following && p < end && continues(*p); ++i) ++p;
    return replacement;
}

// The code point at `p`, which is moved behind it. Whatever is not UTF-8 is replaced by U+FFFD, and
// nothing at or behind `end` is read.
inline char32_t decode(const std::uint8_t *&p, const std::uint8_t *end) {
    const std::uint8_t lead = *p++;
    if (lead < 0x80) return lead;
    const std::ptrdiff_t left = end - p;
    if (lead < 0xE0) {
        if (lead >= 0xC2 && left >= 1 && continues(p[0])) return char32_t(lead & 0x1F) << 6 | (*p++ & 0x3F);
    } else if (lead < 0xF0) {
        if (left >= 2 && continues(p[0]) && continues(p[1])) {
            const char32_t c = char32_t(lead & 0x0F) << 12 | char32_t(p[0] & 0x3F) << 6 | (p[1] & 0x3F);
            if (c >= 0x800 && (c < 0xD800 || c >= 0xE000)) return p += 2, c;
        }
    } else if (left >= 3 && continues(p[0]) && continues(p[1]) && continues(p[2])) {
        const char32_t c = char32_t(lead & 0x0F) << 18 | char32_t(p[0] & 0x3F) << 12 |
                           char32_t(p[1] & 0x3F) << 6 | (p[2] & 0x3F);
        if (c >= 0x10000 && c <= 0x10FFFF) return p += 3, c;
    }
    return skip_malformed(lead, p, end);
}

// Writes `c` at `p` and returns the place behind it.
inline std::uint8_t *encode(char32_t c, std::uint8_t *p) {
    if (c < 0x80) {
        *p++ = static_cast<std::uint8_t>(c);
        return p;
    }
    const int following = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    *p++ = static_cast<std::uint8_t>(0xFF00 >> (following + 1) | c >> 6 * following);
    for (int i = following - 1; i >= 0; --i)
        *p++ = static_cast<std::uint8_t>(0x80 | (c >> 6 * i & 0x3F));
    return p;
}

// Calls `take` with each code point of the sequence at `place`.
template <typename Take>
void for_each_in_sequence(std::uint16_t place, Take &&take) {
    const std::uint32_t length = sequences[place];
    for (std::uint32_t i = 1; i <= length; ++i) take(char32_t{sequences[place + i]});
}

// What `c`, with the trait `folds`, becomes when its case is folded.
template <typename Take>
void fold(char32_t c, Take &&take) {
    for_each_in_sequence(entry(fold_index, fold_blocks, c), take);
}

// What `c`, with the trait `has_accent`, becomes when its accents are dropped.
template <typename Take>
void strip(char32_t c, Take &&take) {
    for_each_in_sequence(entry(bare_index, bare_blocks, c), take);
}

}  // namespace nearly::unicode
