// Sets made ready for the exact join: see join.hpp.
//
// A cell is all shingles whose hashes begin with the same bits. Order and look-up go by cells, which
// need no dictionary; that two shingles of a cell differ costs a candidate, never a pair.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "jaccard.hpp"
#include "large.hpp"
#include "radix.hpp"
#include "sketch.hpp"
#include "stop.hpp"

namespace nearly {

// How many shingles fall into each of 2^bits cells.
inline LargeArray<std::uint32_t> count_cells(Set hashes, unsigned bits) {
    LargeArray<std::uint32_t> counts(std::size_t{1} << bits);
    std::ranges::fill(counts, 0);
    for (const std::uint64_t hash : hashes) ++counts[hash >> (64 - bits)];
    return counts;
}

// The hashes that lie below a limit, with repeats: of uniform ones, a share that tells how many differ.
inline std::vector<std::uint64_t> hashes_below(Set hashes, std::uint64_t limit) {
    std::vector<std::uint64_t> below;
    for (const std::uint64_t hash : hashes)
        if (hash < limit) below.push_back(hash);
    return below;
}

inline constexpr std::size_t RARITIES = 64;
// By how many shingles prefixes are longer than one in common would need. Strangers share one or two
// by chance, and those of a word together: to count some more is cheaper than to look at sketches.
// Where that reaches cells that everyone has, prefixes stay as short as can be: see `JoinIndex`.
inline constexpr std::uint32_t EXTRA = 4;

// From counts to classes, rare first, two to each power of two: enough for a good order, and few
// enough to sort by counting. Class 0 holds cells with one shingle: it is in no other set, if all
// sets of the join were counted.
inline LargeArray<std::uint8_t> cell_rarities(std::span<const std::uint32_t> counts) {
    LargeArray<std::uint8_t> rarities(counts.size());
    for (std::size_t i = 0; i < counts.size(); ++i) {
        rarities[i] = 0;
        if (counts[i] < 2) continue;
        const auto power = static_cast<unsigned>(std::bit_width(counts[i])) - 1;
        rarities[i] = static_cast<std::uint8_t>(2 * power - 1 + ((counts[i] >> (power - 1)) & 1));
    }
    return rarities;
}

// A cell in a set's prefix, and how many of the set's shingles come before it.
struct PrefixCell {
    std::uint32_t cell, before;
};

// Finds the first cells of a set in the order of rarity, and of cells within a rarity.
class PrefixFinder {
  public:
    PrefixFinder(std::span<const std::uint8_t> rarities)
        : rarities_(rarities.data()), shift_(65 - static_cast<unsigned>(std::bit_width(rarities.size()))) {}

    // Looks at the first `length` shingles in that order; returns how many cells were written.
    std::uint32_t operator()(Set set, std::uint32_t length, PrefixCell *prefix) {
        const auto size = static_cast<std::uint32_t>(set.size());
        std::uint32_t places[RARITIES + 1] = {};
        classes_.resize(size);
        chosen_.resize(size);
        classify(set, rarities_, shift_, classes_.data(), places + 1);
        std::size_t last = 0;  // the rarity in which the prefix ends
        while (places[last + 1] < length) places[last + 2] += places[last + 1], ++last;
        std::uint32_t count = 0;
        for (std::uint32_t i = 0; i < size; ++i) chosen_[count] = i, count += classes_[i] <= last;
        cells_.resize(count);
        for (const std::uint32_t i : std::span(chosen_).first(count))
            cells_[places[classes_[i]]++] = static_cast<std::uint32_t>(set[i] >> shift_);
        return arrange(places, last, length, prefix);
    }

  private:
    const std::uint8_t *rarities_;
    unsigned shift_;
    std::vector<std::uint8_t> classes_;
    std::vector<std::uint32_t> chosen_, cells_;  // of the chosen shingles, those of a rarity together

    // The rarity of each shingle, and how many have each. What it is handed lies in registers, which writing bytes would
    // not allow of members; and neighbours are often as rare as each other, so that to count them in turns waits less.
    [[gnu::noinline]] static void classify(Set set, const std::uint8_t *rarities, unsigned shift, std::uint8_t *classes,
                                           std::uint32_t *counts) {
        constexpr std::size_t TURNS = 4;
        std::uint32_t in_turn[TURNS][RARITIES] = {};
        const std::size_t whole = set.size() / TURNS * TURNS;
        for (std::size_t i = 0; i < whole; i += TURNS)
            for (std::size_t turn = 0; turn < TURNS; ++turn)
                ++in_turn[turn][classes[i + turn] = rarities[set[i + turn] >> shift]];
        for (std::size_t i = whole; i < set.size(); ++i) ++in_turn[0][classes[i] = rarities[set[i] >> shift]];
        for (const auto &some : in_turn)
            for (std::size_t rarity = 0; rarity < RARITIES; ++rarity) counts[rarity] += some[rarity];
    }

    // Puts the cells of each rarity in order, which ends at its place. Shingles of one cell are neighbours
    // then and count from their first; those that occur nowhere else take their places and are left out.
    std::uint32_t arrange(const std::uint32_t *ends, std::size_t last, std::uint32_t length, PrefixCell *prefix) {
        std::uint32_t written = 0;
        for (std::size_t rarity = 1; rarity <= last; ++rarity) {
            const std::uint32_t start = ends[rarity - 1], end = std::min(ends[rarity], length);
            const auto first = cells_.begin() + start;
            // The rarity of what everyone has is large, and few of it may be needed.
            if (end < ends[rarity]) std::nth_element(first, cells_.begin() + end, cells_.begin() + ends[rarity]);
            std::sort(first, cells_.begin() + end);
            for (std::uint32_t place = start; place < end; ++place)
                if (place == start || cells_[place] != cells_[place - 1]) prefix[written++] = {cells_[place], place};
        }
        return written;
    }
};

// What a threshold demands of a set of some size and of its partners.
struct JoinBounds {
    std::uint64_t least_partner, greatest_partner;
    std::uint64_t least_shared;

    JoinBounds(Threshold threshold, std::uint64_t size) : least_partner(1), greatest_partner(~0u), least_shared(1) {
        if (threshold.of_smaller) return;  // of a small set a large one may have all
        const auto whole = static_cast<unsigned __int128>(size);
        least_partner = static_cast<std::uint64_t>((whole * threshold.numerator + threshold.denominator - 1) /
                                                   threshold.denominator);
        greatest_partner = static_cast<std::uint64_t>(
            std::min<unsigned __int128>(whole * threshold.denominator / threshold.numerator, ~0u));
        least_shared = threshold.least_shared(least_partner, size);
    }

    // How long the prefix of a set must be that shares at least so many shingles with its partners, if
    // one and `extra` of these are to lie in both prefixes.
    static std::uint64_t prefix_length(std::uint64_t size, std::uint64_t shared, std::uint32_t extra) {
        return std::min(size, size - shared + 1 + extra);
    }
};

// Sets in an order of their own, by size or by weight: their ranks in it, and how many of them are prepared.
class RankedSets {
  public:
    std::size_t size() const { return order_.size(); }
    bool is_prepared() const { return prepared_ == size(); }
    Threshold threshold() const { return threshold_; }
    std::size_t cells() const { return rarities_.size(); }
    std::uint32_t document(std::size_t rank) const { return order_[rank]; }

  protected:
    RankedSets(std::span<const std::uint8_t> rarities, Threshold threshold) : rarities_(rarities), threshold_(threshold) {}

    std::span<const std::uint8_t> rarities_;
    Threshold threshold_;
    std::vector<std::uint32_t> order_, ranks_;
    std::atomic<std::size_t> prepared_ = 0;
};

// Sets made ready to be joined: ordered by size, each with its prefix and its sketch.
class JoinSets : public RankedSets {
  public:
    JoinSets(std::span<const std::int64_t> offsets, const std::uint64_t *hashes,
             std::span<const std::uint8_t> rarities, Threshold threshold)
        : RankedSets(rarities, threshold), offsets_(offsets), hashes_(hashes) {
        order_by_size();
        make_room();
    }

    // Fills in prefixes and sketches of documents in [start, stop); parts can be done at once.
    void prepare(std::size_t start, std::size_t stop) {
        PrefixFinder find(rarities_);
        Stop stopping;
        for (std::size_t document = start; document < stop; ++document) {
            const std::uint32_t rank = ranks_[document];
            const Set set = (*this)[rank];
            stopping.check(8 * set.size());
            const std::uint32_t room = prefix_length(rank);
            if (room > 0) prefix_sizes_[rank] = find(set, room, prefixes_.data() + prefix_starts_[rank]);
            write_sketch(set, {sketches_.data() + sketch_starts_[rank], sketches_.data() + sketch_starts_[rank + 1]});
        }
        prepared_ += stop - start;
    }

    std::uint32_t size_of(std::size_t rank) const { return sizes_[rank]; }
    const std::vector<std::uint32_t> &sizes() const { return sizes_; }
    Set operator[](std::size_t rank) const { return {hashes_ + offsets_[order_[rank]], sizes_[rank]}; }
    std::span<const PrefixCell> prefix(std::size_t rank) const {
        return {prefixes_.data() + prefix_starts_[rank], prefix_sizes_[rank]};
    }
    // Shingles in the prefix, also those that are in no other set.
    std::uint32_t prefix_length(std::size_t rank) const {
        return static_cast<std::uint32_t>(prefix_starts_[rank + 1] - prefix_starts_[rank]);
    }
    Sketch sketch(std::size_t rank) const {
        return {sketches_.data() + sketch_starts_[rank], sketches_.data() + sketch_starts_[rank + 1]};
    }

  private:
    std::span<const std::int64_t> offsets_;
    const std::uint64_t *hashes_;
    std::vector<std::uint32_t> sizes_, prefix_sizes_;
    std::vector<std::uint64_t> prefix_starts_{0}, sketch_starts_{0};
    LargeArray<PrefixCell> prefixes_;
    LargeArray<std::uint64_t> sketches_;

    void order_by_size() {
        std::vector<std::uint64_t> entries(offsets_.size() - 1);
        std::uint64_t greatest = 0;
        for (std::size_t i = 0; i < entries.size(); ++i) {
            const auto size = static_cast<std::uint64_t>(offsets_[i + 1] - offsets_[i]);
            greatest = std::max(greatest, size);
            entries[i] = size << 32 | i;
        }
        if ((greatest | entries.size()) >> 32) throw std::invalid_argument("too many documents, or one is too large");
        radix_sort(entries, 32, 32 + static_cast<unsigned>(std::bit_width(greatest)));
        order_.resize(entries.size());
        ranks_.resize(entries.size());
        sizes_.resize(entries.size());
        for (std::size_t rank = 0; rank < entries.size(); ++rank) {
            order_[rank] = static_cast<std::uint32_t>(entries[rank]);
            sizes_[rank] = static_cast<std::uint32_t>(entries[rank] >> 32);
            ranks_[order_[rank]] = static_cast<std::uint32_t>(rank);
        }
    }

    void make_room() {
        prefix_sizes_.resize(size());
        std::uint64_t room = 0, words = 0;
        for (std::size_t rank = 0; rank < size(); ++rank) {
            const std::uint64_t size = sizes_[rank];
            if (rank == 0 || sizes_[rank - 1] != size) {
                const JoinBounds bounds(threshold_, size);
                room = JoinBounds::prefix_length(size, bounds.least_shared, EXTRA);
                words = words_of_sketch(threshold_, size);
            }
            prefix_starts_.push_back(prefix_starts_.back() + room);
            sketch_starts_.push_back(sketch_starts_.back() + words);
        }
        if (prefix_starts_.back() >> 32) throw std::invalid_argument("too many shingles to join at once");
        prefixes_ = LargeArray<PrefixCell>(prefix_starts_.back());
        sketches_ = LargeArray<std::uint64_t>(sketch_starts_.back());
    }
};

}  // namespace nearly
