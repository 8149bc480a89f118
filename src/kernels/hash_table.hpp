// A set of 64-bit hashes, for loops that only add and ask.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace nearly {

// Open addressing, at least half of it free, so that a look takes a step or two.
class HashTable {
  public:
    // Forgets everything and makes room for `count` hashes.
    void reset(std::size_t count) {
        const auto bits = std::max(4, static_cast<int>(std::bit_width(2 * count)));
        shift_ = static_cast<unsigned>(64 - bits);
        slots_.assign((std::size_t{1} << bits) + 1, FREE);
        has_free_value_ = false;
    }

    // Whether it was not there yet.
    bool add(std::uint64_t hash) {
        if (hash == FREE) return !std::exchange(has_free_value_, true);
        std::size_t slot = hash >> shift_;
        while (slots_[slot] != FREE && slots_[slot] != hash) slot = next(slot);
        if (slots_[slot] == hash) return false;
        slots_[slot] = hash;
        return true;
    }

    bool has(std::uint64_t hash) const {
        if (hash == FREE) return has_free_value_;
        std::size_t slot = hash >> shift_;
        while (slots_[slot] != FREE && slots_[slot] != hash) slot = next(slot);
        return slots_[slot] == hash;
    }

  private:
    static constexpr std::uint64_t FREE = 0;
    unsigned shift_ = 60;
    bool has_free_value_ = false;
    std::vector<std::uint64_t> slots_;

    std::size_t next(std::size_t slot) const { return slot + 1 < slots_.size() ? slot + 1 : 0; }
};

}  // namespace nearly
