// Hashes by their places in a list: for loops that ask whether a hash is one of them, and which.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

namespace nearly {

class HashIndex {
  public:
    explicit HashIndex(std::span<const std::uint64_t> hashes) : hashes_(hashes.begin(), hashes.end()) {
        if (hashes.size() >= MOST) throw std::invalid_argument("there are too many hashes for an index");
        const std::size_t slots = std::bit_ceil(std::max<std::size_t>(ROOM * hashes.size(), 2));
        shift_ = 64 - static_cast<unsigned>(std::bit_width(slots) - 1);
        slots_.assign(slots, 0);
        for (std::size_t i = 0; i < hashes_.size(); ++i) {
            std::uint32_t &slot = slots_[slot_of(hashes_[i])];
            if (slot == 0) slot = static_cast<std::uint32_t>(i + 1);
        }
    }

    std::size_t size() const { return hashes_.size(); }

    static constexpr std::size_t NOWHERE = ~std::size_t{0};

    bool has(std::uint64_t hash) const { return slots_[slot_of(hash)] != 0; }

    // Its place in the list.
    std::size_t find(std::uint64_t hash) const {
        const std::uint32_t found = slots_[slot_of(hash)];
        return found == 0 ? NOWHERE : found - 1;
    }

    // Adds one to the count of each of these that is in the list.
    void count(std::span<const std::uint64_t> hashes, std::span<std::uint32_t> counts) const {
        for (const std::uint64_t hash : hashes) {
            const std::uint32_t found = slots_[slot_of(hash)];
            if (found != 0) ++counts[found - 1];
        }
    }

  private:
    static constexpr std::size_t ROOM = 4;  // slots to a hash: most that are not there end at the first one
    static constexpr std::size_t MOST = std::size_t{1} << 32;
    std::vector<std::uint64_t> hashes_;
    std::vector<std::uint32_t> slots_;  // places from 1 on; 0 is free
    unsigned shift_;

    // Where it is, or the free slot where it would be.
    std::size_t slot_of(std::uint64_t hash) const {
        std::size_t slot = hash >> shift_;
        while (slots_[slot] != 0 && hashes_[slots_[slot] - 1] != hash) slot = (slot + 1) & (slots_.size() - 1);
        return slot;
    }
};

}  // namespace nearly
