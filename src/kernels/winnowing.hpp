// Winnowing: of every window of neighbouring k-grams the least hash is chosen, the last one if there are several.
//
// What is chosen depends on the window alone, so two documents that share k + window - 1 units choose the same k-gram at
// the same place of what they share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

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
        queue_.clear();
        std::size_t last = ~std::size_t{0};
        roll(units, winnowing_.k, [&](std::uint64_t hash, std::size_t place) {
            stop_.check(10);
            while (!queue_.empty() && queue_.back().hash >= hash) queue_.pop_back();
            queue_.push_back({hash, place});
            if (place - queue_.front().place >= winnowing_.window) queue_.pop_front();
            const bool is_full = place + 1 >= winnowing_.window;
            if (!is_full || queue_.front().place == last) return;
            last = queue_.front().place;
            take(queue_.front().hash, last);
        });
    }

  private:
    struct Least {
        std::uint64_t hash;
        std::size_t place;
    };

    Winnowing winnowing_;
    std::deque<Least> queue_;  // of the window: what is less than all that follows it
    Stop stop_;
};

}  // namespace nearly::passages
