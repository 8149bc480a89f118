// A hash of the name of a member: the same for all ways to write it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hashing.hpp"

namespace nearly {

// What four hexadecimal digits say; nothing where they are none.
inline std::optional<std::uint32_t> unit_of(std::span<const std::uint8_t> digits) {
    std::uint32_t unit = 0;
    if (digits.size() < 4) return std::nullopt;
    for (const std::uint8_t digit : digits.first(4)) {
        const auto small = static_cast<std::uint8_t>(digit | 0x20);
        if (digit >= '0' && digit <= '9')
            unit = unit * 16 + (digit - '0');
        else if (small >= 'a' && small <= 'f')
            unit = unit * 16 + (small - 'a' + 10);
        else
            return std::nullopt;
    }
    return unit;
}

inline void append_utf8(std::vector<std::uint8_t> &bytes, std::uint32_t point) {
    const auto following = [&](int shift) { bytes.push_back(static_cast<std::uint8_t>(0x80 | ((point >> shift) & 0x3F))); };
    if (point < 0x80) {
        bytes.push_back(static_cast<std::uint8_t>(point));
    } else if (point < 0x800) {
        bytes.push_back(static_cast<std::uint8_t>(0xC0 | (point >> 6)));
        following(0);
    } else if (point < 0x10000) {
        bytes.push_back(static_cast<std::uint8_t>(0xE0 | (point >> 12)));
        following(6);
        following(0);
    } else {
        bytes.push_back(static_cast<std::uint8_t>(0xF0 | (point >> 18)));
        following(12);
        following(6);
        following(0);
    }
}

// The bytes that the inside of a string says. What is no JSON comes as anything.
inline std::vector<std::uint8_t> unescaped(std::span<const std::uint8_t> text) {
    std::vector<std::uint8_t> said;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\\' || ++i == text.size()) {
            if (i < text.size()) said.push_back(text[i]);
            continue;
        }
        const auto unit = text[i] == 'u' ? unit_of(text.subspan(i + 1)) : std::nullopt;
        if (!unit) {
            static constexpr char ESCAPES[] = "b\bf\fn\nr\rt\t";
            std::uint8_t byte = text[i];
            for (std::size_t k = 0; k + 1 < sizeof ESCAPES; k += 2)
                if (byte == ESCAPES[k]) {
                    byte = static_cast<std::uint8_t>(ESCAPES[k + 1]);
                    break;
                }
            said.push_back(byte);
            continue;
        }
        i += 4;
        std::uint32_t point = *unit;
        if (point >= 0xD800 && point < 0xDC00 && i + 2 < text.size() && text[i + 1] == '\\' && text[i + 2] == 'u')
            if (const auto low = unit_of(text.subspan(i + 3)); low && *low >= 0xDC00 && *low < 0xE000) {
                point = 0x10000 + ((point - 0xD800) << 10) + (*low - 0xDC00);
                i += 6;
            }
        append_utf8(said, point);
    }
    return said;
}

// Of a name in its quotes.
inline std::uint64_t hash_of_name(std::span<const std::uint8_t> quoted) {
    const auto inside = quoted.subspan(1, quoted.size() - 2);
    for (const std::uint8_t byte : inside)
        if (byte == '\\') {
            const auto said = unescaped(inside);
            return hash_bytes(0, said.data(), said.size());
        }
    return hash_bytes(0, inside.data(), inside.size());
}

}  // namespace nearly
