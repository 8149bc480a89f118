// How alike two passages are, and where the verbatim runs in them begin and end.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hashing.hpp"
#include "neighbours.hpp"
#include "stop.hpp"

namespace nearly::passages {

// Shared units among all units of both passages, each as often as it stands there.
class Likeness {
  public:
    double operator()(Hashes a, Hashes b) {
        if (a.empty() && b.empty()) return 1;
        counts_.clear();
        stop_.check(50 * (a.size() + b.size()));
        for (const std::uint64_t hash : a) ++counts_[hash];
        std::size_t shared = 0;
        for (const std::uint64_t hash : b) {
            const auto place = counts_.find(hash);
            if (place == counts_.end() || place->second == 0) continue;
            --place->second;
            ++shared;
        }
        return 2.0 * static_cast<double>(shared) / static_cast<double>(a.size() + b.size());
    }

  private:
    std::unordered_map<std::uint64_t, std::size_t> counts_;
    Stop stop_;
};

// Units [a, a_end) of one passage and [b, b_end) of the other.
struct Stretch {
    std::size_t a, a_end, b, b_end;
};

// From where the verbatim runs of two passages begin to where they end, if they cover `least_share` of the longer one:
// otherwise all of both. A run counts if it is no chance: it has at least LEAST units, the first of which stand together
// once in b.
class RunEnds {
  public:
    static constexpr std::size_t LEAST = 5;

    Stretch operator()(Hashes a, Hashes b, double least_share) {
        const Stretch all{0, a.size(), 0, b.size()};
        if (a.size() < LEAST || b.size() < LEAST) return all;
        index(b);
        Stretch found{a.size(), 0, b.size(), 0};
        std::size_t shared = 0;
        for (std::size_t i = 0; i + LEAST <= a.size();) {
            stop_.check(100);
            const auto [first, end] = std::ranges::equal_range(grams_, gram(a, i), {}, &Gram::first);
            const std::size_t j = first == end ? 0 : first->second;
            const std::size_t length = end - first == 1 ? common(a.subspan(i), b.subspan(j)) : 0;
            if (length < LEAST) {
                ++i;
                continue;
            }
            found = {std::min(found.a, i), i + length, std::min(found.b, j), std::max(found.b_end, j + length)};
            shared += length;
            i += length;
        }
        const auto longest = static_cast<double>(std::max(a.size(), b.size()));
        return shared == 0 || static_cast<double>(shared) < least_share * longest ? all : found;
    }

  private:
    using Gram = std::pair<std::uint64_t, std::size_t>;
    std::vector<Gram> grams_;
    Stop stop_;

    static std::uint64_t gram(Hashes units, std::size_t i) {
        std::uint64_t rolled = 0;
        for (std::size_t k = 0; k < LEAST; ++k) rolled = rolled * WORD_BASE + units[i + k];
        return mix(rolled);
    }

    void index(Hashes b) {
        grams_.clear();
        for (std::size_t j = 0; j + LEAST <= b.size(); ++j) grams_.emplace_back(gram(b, j), j);
        std::ranges::sort(grams_, [&](const Gram &x, const Gram &y) { return stop_.check(5), x < y; });
    }

    static std::size_t common(Hashes a, Hashes b) {
        const auto [end, _] = std::ranges::mismatch(a, b);
        return static_cast<std::size_t>(end - a.begin());
    }
};

}  // namespace nearly::passages
