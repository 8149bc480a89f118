// Bits for hashes, in a table that a cache can hold: what has no bit is not among them.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace nearly {

class Marks {
  public:
    void set(std::span<const std::uint64_t> hashes) {
        bits_.assign(std::bit_ceil(8 * hashes.size() + 64) / 64, 0);
        for (const std::uint64_t hash : hashes) bits_[place_of(hash)] |= 1ull << hash % 64;
    }

    // Never wrong if it says no; of hashes that are not among them, about one in eight or fewer has the bit of another.
    bool may_have(std::uint64_t hash) const { return bits_[place_of(hash)] >> hash % 64 & 1; }

  private:
    std::vector<std::uint64_t> bits_{0};

    std::size_t place_of(std::uint64_t hash) const { return hash / 64 & (bits_.size() - 1); }
};

}  // namespace nearly
