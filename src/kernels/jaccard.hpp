// Exact verification: documents as sorted sets of shingle hashes, and their Jaccard similarity.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "shingles.hpp"

namespace nearly {

struct Sets {
    std::vector<std::int64_t> offsets{0};
    std::vector<std::uint64_t> hashes;
};

// Sorts uniformly distributed hashes: one scatter by their leading bits leaves almost nothing
// for the insertion that follows.
class UniformSorter {
  public:
    void operator()(std::span<const std::uint64_t> hashes, std::uint64_t *sorted) {
        const std::size_t count = hashes.size();
        places_.assign(count + 1, 0);
        for (const std::uint64_t hash : hashes) ++places_[place(hash, count) + 1];
        for (std::size_t i = 0; i < count; ++i) places_[i + 1] += places_[i];
        for (const std::uint64_t hash : hashes) sorted[places_[place(hash, count)]++] = hash;
        sort_crowded(sorted);
        insert(sorted, count);
    }

  private:
    std::vector<std::uint32_t> places_;

    static std::size_t place(std::uint64_t hash, std::size_t count) {
        return static_cast<std::size_t>(static_cast<unsigned __int128>(hash) * count >> 64);
    }

    // Crowded places are rare, and come of a text that repeats itself: insertion would be slow.
    void sort_crowded(std::uint64_t *sorted) const {
        constexpr std::uint32_t CROWDED = 16;
        std::uint32_t start = 0;
        for (const std::uint32_t end : places_) {
            if (end - start > CROWDED) std::sort(sorted + start, sorted + end);
            start = end;
        }
    }

    static void insert(std::uint64_t *sorted, std::size_t count) {
        for (std::size_t i = 1; i < count; ++i) {
            const std::uint64_t hash = sorted[i];
            std::size_t j = i;
            for (; j > 0 && sorted[j - 1] > hash; --j) sorted[j] = sorted[j - 1];
            sorted[j] = hash;
        }
    }
};

inline Sets shingle_sets(const Texts &texts, Shingling shingling) {
    Shingler shingler(shingling);
    UniformSorter sort;
    Sets sets;
    sets.offsets.reserve(texts.size() + 1);
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const auto hashes = shingler(texts[i], texts.end());
        const std::size_t start = sets.hashes.size();
        sets.hashes.resize(start + hashes.size());
        sort(hashes, sets.hashes.data() + start);
        const auto begin = sets.hashes.begin() + static_cast<std::ptrdiff_t>(start);
        sets.hashes.erase(std::unique(begin, sets.hashes.end()), sets.hashes.end());
        sets.offsets.push_back(static_cast<std::int64_t>(sets.hashes.size()));
    }
    return sets;
}

// A threshold as a ratio of whole numbers, so that no pair is lost to rounding.
struct Threshold {
    std::uint64_t numerator, denominator;

    bool reached(std::uint64_t shared, std::uint64_t together) const {
        return static_cast<unsigned __int128>(shared) * denominator >=
               static_cast<unsigned __int128>(together) * numerator;
    }
    // The least number of shared shingles that reaches the threshold for these two sizes.
    std::uint64_t least_shared(std::uint64_t a, std::uint64_t b) const {
        const unsigned __int128 ratio = static_cast<unsigned __int128>(numerator) * (a + b);
        const unsigned __int128 whole = static_cast<unsigned __int128>(numerator) + denominator;
        return static_cast<std::uint64_t>((ratio + whole - 1) / whole);
    }
};

using Set = std::span<const std::uint64_t>;

// How many the two share, or less than `least` as soon as that cannot be reached.
inline std::uint64_t count_shared(Set a, Set b, std::uint64_t least) {
    const std::uint64_t *x = a.data(), *const x_end = x + a.size();
    const std::uint64_t *y = b.data(), *const y_end = y + b.size();
    std::uint64_t shared = 0;
    while (x < x_end && y < y_end) {
        const auto left = static_cast<std::uint64_t>(std::min(x_end - x, y_end - y));
        if (shared + left < least) return shared;
        // A stretch without asking again: thirty-two steps cannot use up more than that many.
        for (std::uint64_t step = std::min<std::uint64_t>(left, 32); step > 0; --step) {
            const std::uint64_t p = *x, q = *y;
            shared += p == q;
            x += p <= q;
            y += q <= p;
        }
    }
    return shared;
}

// The similarity of two sets if it reaches the threshold, else a negative number.
inline double verify(Set a, Set b, Threshold threshold) {
    const std::uint64_t least = threshold.least_shared(a.size(), b.size());
    if (a.empty() || b.empty() || std::min(a.size(), b.size()) < least) return -1;
    const std::uint64_t shared = count_shared(a, b, least);
    const std::uint64_t together = a.size() + b.size() - shared;
    if (!threshold.reached(shared, together)) return -1;
    return static_cast<double>(shared) / static_cast<double>(together);
}

// Where to cut a list of pairs so that the different documents of a block have at most `limit`
// bytes of text (a block has one pair at least): the indices at which blocks end.
inline std::vector<std::int64_t> cut_blocks(std::span<const std::uint32_t> as, std::span<const std::uint32_t> bs,
                                            std::span<const std::int64_t> lengths, std::int64_t limit) {
    std::vector<std::uint32_t> last_block(lengths.size(), 0);
    std::vector<std::int64_t> ends;
    std::uint32_t block = 1;
    std::int64_t size = 0;
    for (std::size_t i = 0; i < as.size(); ++i) {
        for (const std::uint32_t document : {as[i], bs[i]}) {
            if (last_block[document] == block) continue;
            last_block[document] = block;
            size += lengths[document];
        }
        if (size < limit) continue;
        ends.push_back(static_cast<std::int64_t>(i + 1));
        size = 0;
        ++block;
    }
    if (!as.empty() && (ends.empty() || ends.back() < static_cast<std::int64_t>(as.size())))
        ends.push_back(static_cast<std::int64_t>(as.size()));
    return ends;
}

}  // namespace nearly
