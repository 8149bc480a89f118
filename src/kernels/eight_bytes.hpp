// Eight bytes of text as one number.
#pragma once

#include <cstdint>
#include <cstring>

namespace nearly::normalise {

using Byte = std::uint8_t;

// Eight bytes in one number, so that they are looked at together.
inline constexpr std::uint64_t ones = 0x0101010101010101u;
inline constexpr std::uint64_t high_bits = ones * 0x80;

inline std::uint64_t eight_bytes(const Byte *p) {
    std::uint64_t bytes;
    std::memcpy(&bytes, p, sizeof bytes);
    return bytes;
}

inline bool is_ascii(std::uint64_t bytes) { return (bytes & high_bits) == 0; }

}  // namespace nearly::normalise
