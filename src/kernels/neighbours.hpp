// Hashes of units that stand together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "hashing.hpp"

namespace nearly::passages {

using Hashes = std::span<const std::uint64_t>;

// Calls `take` with the hash of every k neighbours, and the place of the first.
template <typename Take> void roll(Hashes units, std::size_t k, Take &&take) {
    if (units.size() < k) return;
    std::uint64_t leading = 1, rolled = 0;
    for (std::size_t i = 1; i < k; ++i) leading *= WORD_BASE;
    for (std::size_t i = 0; i < units.size(); ++i) {
        if (i >= k) rolled -= units[i - k] * leading;
        rolled = rolled * WORD_BASE + units[i];
        if (i + 1 >= k) take(mix(rolled), i + 1 - k);
    }
}

}  // namespace nearly::passages
