// Code points of well-formed UTF-8, and what Unicode says of them.
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

// The code point at `p`, which is moved behind it.
inline char32_t decode(const std::uint8_t *&p) {
    const char32_t lead = *p++;
    if (lead < 0x80) return lead;
    const int following = lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
    char32_t c = lead & (0x3F >> following);
    for (int i = 0; i < following; ++i) c = c << 6 | (*p++ & 0x3F);
    return c;
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
