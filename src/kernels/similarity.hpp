// Many pairs of sets compared.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hashing.hpp"
#include "jaccard.hpp"
#include "sketch.hpp"
#include "stop.hpp"

namespace nearly {

struct SetSpans {
    std::span<const std::int64_t> offsets;
    const std::uint64_t *hashes;

    std::size_t size() const { return offsets.size() - 1; }
    Set operator[](std::size_t i) const { return {hashes + offsets[i], hashes + offsets[i + 1]}; }
};

// Says which pairs may reach a threshold. A set is sketched when it is first asked about.
class Doubter {
  public:
    Doubter(SetSpans sets, Threshold threshold) : sets_(sets), threshold_(threshold), starts_(sets.size(), NONE) {}

    bool may_reach(std::uint32_t a, std::uint32_t b) {
        const std::uint64_t mine = sets_[a].size(), theirs = sets_[b].size();
        if (std::min(mine, theirs) < threshold_.least_shared(mine, theirs)) return false;
        if (mine == 0 || theirs == 0 || threshold_.numerator == 0) return true;
        sketch(a), sketch(b);
        return is_within(threshold_, sketch(a), mine, sketch(b), theirs);
    }

  private:
    static constexpr std::size_t NONE = ~std::size_t{0};
    SetSpans sets_;
    Threshold threshold_;
    std::vector<std::size_t> starts_;  // of each sketch in `words_`, or NONE
    std::vector<std::uint64_t> words_;
    Stop stop_;

    Sketch sketch(std::uint32_t i) {
        const Set set = sets_[i];
        const std::size_t width = words_of_sketch(threshold_, set.size());
        if (starts_[i] == NONE) {
            stop_.check(set.size());
            starts_[i] = words_.size();
            words_.resize(words_.size() + width);
            write_sketch(set, std::span(words_).last(width));
        }
        return std::span(words_).subspan(starts_[i], width);
    }

    NEARLY_CLONES static bool is_within(Threshold threshold, Sketch mine, std::uint64_t size, Sketch theirs,
                                        std::uint64_t other_size) {
        return nearly::may_reach(threshold, mine, size, theirs, other_size);
    }
};

// The similarity of each pair that reaches the threshold, and a negative number for others. What has several partners in
// a row is put in a table once.
inline std::vector<double> similarities_of(SetSpans sets, std::span<const std::uint32_t> as,
                                           std::span<const std::uint32_t> bs, Threshold threshold) {
    constexpr std::uint32_t NOBODY = ~std::uint32_t{0};
    std::vector<double> all(as.size(), -1);
    Doubter doubter(sets, threshold);
    Comparer comparer;
    std::uint32_t taken = NOBODY;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (!doubter.may_reach(as[i], bs[i])) continue;
        if (taken != as[i]) comparer.take(sets[as[i]]);
        taken = as[i];
        all[i] = comparer.similarity(sets[bs[i]], threshold);
    }
    return all;
}

}  // namespace nearly
