// Numbers for different hashes, in the order in which they first come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nearly {

class Numbering {
  public:
    static constexpr std::uint32_t NONE = ~std::uint32_t{0};

    std::uint32_t size() const { return static_cast<std::uint32_t>(hashes_.size()); }
    const std::vector<std::uint64_t> &hashes() const { return hashes_; }

    // The number of a hash, which is new if it equals what `size` said before.
    std::uint32_t add(std::uint64_t hash) {
        std::uint32_t &place = places_[place_of(hash)];
        if (place != NONE) return place;
        place = size();
        hashes_.push_back(hash);
        if (2 * hashes_.size() > places_.size()) grow();
        return size() - 1;
    }

    std::uint32_t find(std::uint64_t hash) const { return places_[place_of(hash)]; }

  private:
    std::vector<std::uint64_t> hashes_;
    std::vector<std::uint32_t> places_ = std::vector<std::uint32_t>(1 << 12, NONE);

    std::size_t place_of(std::uint64_t hash) const {
        const std::size_t mask = places_.size() - 1;
        std::size_t i = hash & mask;
        while (places_[i] != NONE && hashes_[places_[i]] != hash) i = (i + 1) & mask;
        return i;
    }

    void grow() {
        places_.assign(2 * places_.size(), NONE);
        for (std::uint32_t i = 0; i < hashes_.size(); ++i) places_[place_of(hashes_[i])] = i;
    }
};

}  // namespace nearly
