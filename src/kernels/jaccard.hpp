// Exact verification: documents as sets of shingle hashes, and their Jaccard similarity.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hash_table.hpp"
#include "radix.hpp"
#include "shingles.hpp"

namespace nearly {

struct Sets {
    std::vector<std::int64_t> offsets{0};
    // Of each document, each once. Memory for a hash a byte is asked for and only as
    // much of it touched as there are shingles.
    std::unique_ptr<std::uint64_t[]> hashes;
};

inline Sets shingle_sets(const Texts &texts, Shingling shingling, bool sorted) {
    Shingler shingler(shingling);
    BucketTable seen;
    UniformSorter sort;
    Sets sets;
    sets.offsets.reserve(texts.size() + 1);
    sets.hashes.reset(new std::uint64_t[static_cast<std::size_t>(texts.offsets.back() - texts.offsets.front()) + 1]);
    std::uint64_t *end = sets.hashes.get();
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const auto hashes = shingler(texts[i], texts.end());
        std::uint64_t *const start = end;
        seen.reset(hashes.size());
        for (const std::uint64_t hash : hashes) {
            *end = hash;
            end += seen.add(hash);
        }
        if (sorted) sort(start, static_cast<std::size_t>(end - start));
        sets.offsets.push_back(end - sets.hashes.get());
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

// Compares one set with many: it is put in a table once.
class Comparer {
  public:
    void take(Set set) {
        size_ = set.size();
        table_.reset(size_);
        for (const std::uint64_t hash : set) table_.add(hash);
    }

    // How many are shared with another set, or fewer than `least` once that cannot be reached.
    std::uint64_t shared(Set other, std::uint64_t least) const {
        std::uint64_t shared = 0;
        for (std::size_t start = 0; start < other.size(); start += STRETCH) {
            if (shared + other.size() - start < least) return shared;
            shared += table_.count(other.subspan(start, std::min(STRETCH, other.size() - start)));
        }
        return shared;
    }

    // The similarity with another set if it reaches the threshold, else a negative number.
    double similarity(Set other, Threshold threshold) const {
        const std::uint64_t least = threshold.least_shared(size_, other.size());
        if (size_ == 0 || other.empty() || std::min(size_, other.size()) < least) return -1;
        const std::uint64_t found = shared(other, least), together = size_ + other.size() - found;
        if (!threshold.reached(found, together)) return -1;
        return static_cast<double>(found) / static_cast<double>(together);
    }

  private:
    static constexpr std::size_t STRETCH = 32;  // hashes between two looks at what is left
    BucketTable table_;
    std::size_t size_ = 0;
};

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
