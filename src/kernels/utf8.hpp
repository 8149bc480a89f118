// Whether texts are UTF-8, many bytes at a time: of each byte, three before it tell whether it may stand there.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "hashing.hpp"
#include "texts.hpp"
#include "words.hpp"

namespace nearly {

// Looks at `count` bytes, and at the three before them.
NEARLY_CLONES inline bool is_any_misplaced(const std::uint8_t *bytes, std::size_t count) {
    std::uint8_t misplaced = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint8_t byte = bytes[i], before = bytes[i - 1];
        const std::uint8_t must_continue = (before >= 0xC0) | (bytes[i - 2] >= 0xE0) | (bytes[i - 3] >= 0xF0);
        const std::uint8_t continues = (byte & 0xC0) == 0x80;
        // No character begins so; and these two say what would be shorter otherwise, a surrogate, or too large.
        const std::uint8_t never = (byte == 0xC0) | (byte == 0xC1) | (byte >= 0xF5);
        const std::uint8_t too_low = ((before == 0xE0) & (byte < 0xA0)) | ((before == 0xF0) & (byte < 0x90));
        const std::uint8_t too_high = ((before == 0xED) & (byte >= 0xA0)) | ((before == 0xF4) & (byte >= 0x90));
        misplaced |= (must_continue ^ continues) | never | too_low | too_high;
    }
    return misplaced != 0;
}

NEARLY_CLONES inline bool are_ascii(const std::uint8_t *bytes, std::size_t count) {
    std::uint8_t all = 0;
    for (std::size_t i = 0; i < count; ++i) all |= bytes[i];
    return all < 0x80;
}

inline bool is_utf8(std::span<const std::uint8_t> text) {
    constexpr std::size_t BEFORE = 3, BLOCK = 1 << 10;
    std::uint8_t edge[3 * BEFORE] = {};  // the first bytes, and nothing before them
    const std::size_t first = std::min(text.size(), BEFORE);
    std::copy_n(text.begin(), first, edge + BEFORE);
    if (is_any_misplaced(edge + BEFORE, first)) return false;
    for (std::size_t at = first; at < text.size(); at += BLOCK) {
        const std::size_t count = std::min(BLOCK, text.size() - at);
        if (!are_ascii(text.data() + at - BEFORE, count + BEFORE) && is_any_misplaced(text.data() + at, count)) return false;
    }
    std::ranges::fill(edge, std::uint8_t{0});  // the last ones, and nothing behind them
    std::copy(text.end() - static_cast<std::ptrdiff_t>(first), text.end(), edge + BEFORE - first);
    return !is_any_misplaced(edge + BEFORE, BEFORE);
}

// Each of the texts, if they are so together, and none begins inside of a character.
inline bool are_utf8(const Texts &texts) {
    const std::uint8_t *const end = texts.end();
    for (const std::int64_t offset : texts.offsets)
        if (texts.data + offset < end && !starts_character(texts.data[offset])) return false;
    return is_utf8({texts.data + texts.offsets.front(), end});
}

}  // namespace nearly
