// Exact verification: documents as sets of shingle hashes, and their Jaccard similarity.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "hash_table.hpp"
#include "shingles.hpp"

namespace nearly {

struct Sets {
    std::vector<std::int64_t> offsets{0};
    std::vector<std::uint64_t> hashes;  // of each document, each once, in no order
};

inline Sets shingle_sets(const Texts &texts, Shingling shingling) {
    Shingler shingler(shingling);
    HashTable seen;
    Sets sets;
    sets.offsets.reserve(texts.size() + 1);
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const auto hashes = shingler(texts[i], texts.end());
        seen.reset(hashes.size());
        std::size_t size = sets.hashes.size();
        sets.hashes.resize(size + hashes.size());
        for (const std::uint64_t hash : hashes) {
            sets.hashes[size] = hash;
            size += seen.add(hash);
        }
        sets.hashes.resize(size);
        sets.offsets.push_back(static_cast<std::int64_t>(size));
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

// Compares one set with many: it is put in a table once, four places to a bucket, so that a look
// is four comparisons and no guess. The few hashes that find their bucket full are kept apart.
class Comparer {
  public:
    void take(Set set) {
        size_ = set.size();
        const auto bits = std::clamp(static_cast<unsigned>(std::bit_width(size_)), 2u, MOST_BITS);
        shift_ = 64 - bits;
        table_.assign(PLACES << bits, 0);
        taken_.assign(std::size_t{1} << bits, 0);
        apart_.clear();
        for (const std::uint64_t hash : set) put(hash);
    }

    // How many are shared with another set, or fewer than `least` once that cannot be reached.
    std::uint64_t shared(Set other, std::uint64_t least) const {
        std::uint64_t shared = 0;
        for (std::size_t start = 0; start < other.size(); start += STRETCH) {
            if (shared + other.size() - start < least) return shared;
            const Set part = other.subspan(start, std::min(STRETCH, other.size() - start));
            shared += look_up(table_.data(), shift_, part.data(), part.size());
            for (const std::uint64_t hash : apart_) shared += std::count(part.begin(), part.end(), hash);
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
    static constexpr std::size_t PLACES = 4;
    static constexpr unsigned MOST_BITS = 22;
    static constexpr std::size_t STRETCH = 32;  // hashes between two looks at what is left
    unsigned shift_ = 62;
    std::size_t size_ = 0;
    std::vector<std::uint64_t> table_, apart_;  // 0 is a free place, so the hash 0 is kept apart
    std::vector<std::uint8_t> taken_;

    void put(std::uint64_t hash) {
        const std::size_t bucket = hash >> shift_;
        if (taken_[bucket] == PLACES || hash == 0)
            apart_.push_back(hash);
        else
            table_[bucket * PLACES + taken_[bucket]++] = hash;
    }

    NEARLY_CLONES static std::uint64_t look_up(const std::uint64_t *table, unsigned shift, const std::uint64_t *hashes,
                                               std::size_t count) {
        std::uint64_t found = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint64_t hash = hashes[i], *const bucket = table + (hash >> shift) * PLACES;
            const bool is_there = (bucket[0] == hash) | (bucket[1] == hash) | (bucket[2] == hash) | (bucket[3] == hash);
            found += is_there & (hash != 0);
        }
        return found;
    }
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
