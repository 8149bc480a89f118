// Winnowing: of every window of neighbouring k-grams the least hash is chosen, the last one if there are several.
//
// What is chosen depends on the window alone, so two documents that share k + window - 1 units choose the same k-gram at
// the same place of what they share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "neighbours.hpp"
#include "stop.hpp"

namespace nearly::passages {

struct Winnowing {
    std::size_t k, window;
};

class Winnower {
  public:
    explicit Winnower(const Winnowing &winnowing) : winnowing_(winnowing) {}

    // Calls `take` with the hash and the place of every k-gram that is chosen of a document.
    template <typename Take> void operator()(Hashes units, Take &&take) {
        if (units.size() < winnowing_.k) return;
        hashes_.resize(units.size() - winnowing_.k + 1);
        roll(units, winnowing_.k, [&](std::uint64_t hash, std::size_t place) { stop_.check(5), hashes_[place] = hash; });
        queue_.clear();
        std::size_t head = 0, last = ~std::size_t{0};
        for (std::size_t i = 0; i < hashes_.size(); ++i) {
            stop_.check(5);
            while (queue_.size() > head && hashes_[queue_.back()] >= hashes_[i]) queue_.pop_back();
            queue_.push_back(i);
            if (i - queue_[head] >= winnowing_.window) ++head;
            const bool is_full = i + 1 >= winnowing_.window;
            if (!is_full || queue_[head] == last) continue;
            last = queue_[head];
            take(hashes_[last], last);
        }
    }

  private:
    Winnowing winnowing_;
    std::vector<std::uint64_t> hashes_;
    std::vector<std::size_t> queue_;
    Stop stop_;
};

}  // namespace nearly::passages
