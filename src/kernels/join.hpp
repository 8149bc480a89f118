// The exact join: every pair of sets that reaches a threshold, found through rare shingles.
//
// All shingles are put in one order, rare ones first. Two sets that share enough must then share
// one of their first few shingles, so that only these, a set's prefix, need be looked up (Chaudhuri,
// Ganti and Kaushik 2006; Bayardo, Ma and Srikant 2007); and if prefixes are longer by some shingles,
// they share as many more (Wang, Li and Feng 2012). What meets there is thrown out by size and position
// (Xiao, Wang, Lin and Yu 2008), by how much of the prefixes is shared, and by sketches that bound the
// rest (Sandes, Teodoro and Melo 2020); what remains is verified. No bound is an estimate: no pair is
// lost.
//
// A cell is all shingles whose hashes begin with the same bits. Order and look-up go by cells, which
// need no dictionary; that two shingles of a cell differ costs a candidate, never a pair.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "candidates.hpp"
#include "jaccard.hpp"
#include "radix.hpp"
#include "stop.hpp"

namespace nearly {

// How many shingles fall into each of 2^bits cells.
inline std::vector<std::uint32_t> count_cells(Set hashes, unsigned bits) {
    std::vector<std::uint32_t> counts(std::size_t{1} << bits);
    for (const std::uint64_t hash : hashes) ++counts[hash >> (64 - bits)];
    return counts;
}

inline constexpr std::size_t RARITIES = 64;
// By how many shingles prefixes are longer than one in common would need. Strangers share one or two
// by chance, and those of a word together: to count some more is cheaper than to look at sketches.
// Where that reaches cells that everyone has, prefixes stay as short as can be: see `JoinIndex`.
inline constexpr std::uint32_t EXTRA = 4;

// From counts to classes, rare first, two to each power of two: enough for a good order, and few
// enough to sort by counting. Class 0 holds cells with one shingle: it is in no other set, if all
// sets of the join were counted.
inline std::vector<std::uint8_t> cell_rarities(std::span<const std::uint32_t> counts) {
    std::vector<std::uint8_t> rarities(counts.size());
    for (std::size_t i = 0; i < counts.size(); ++i) {
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
        for (std::uint32_t i = 0; i < size; ++i) ++places[(classes_[i] = rarities_[set[i] >> shift_]) + 1];
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
//
// A sketch tells for each of its bits whether an odd number of shingles falls on it. Two sketches
// differ in at most as many bits as the sets differ in shingles, which bounds what they share. A
// sketch has a power of two of words, so that a wide one can be folded to the width of a narrow one.
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
            if (room > 0) prefix_sizes_[rank] = find(set, room, prefixes_.get() + prefix_starts_[rank]);
            std::uint64_t *const sketch = sketches_.get() + sketch_starts_[rank];
            const std::uint64_t width = sketch_starts_[rank + 1] - sketch_starts_[rank];
            std::fill_n(sketch, width, 0);
            for (const std::uint64_t hash : set) sketch[(hash >> 6) & (width - 1)] ^= 1ull << (hash & 63);
        }
        prepared_ += stop - start;
    }

    std::uint32_t size_of(std::size_t rank) const { return sizes_[rank]; }
    const std::vector<std::uint32_t> &sizes() const { return sizes_; }
    Set operator[](std::size_t rank) const { return {hashes_ + offsets_[order_[rank]], sizes_[rank]}; }
    std::span<const PrefixCell> prefix(std::size_t rank) const {
        return {prefixes_.get() + prefix_starts_[rank], prefix_sizes_[rank]};
    }
    // Shingles in the prefix, also those that are in no other set.
    std::uint32_t prefix_length(std::size_t rank) const {
        return static_cast<std::uint32_t>(prefix_starts_[rank + 1] - prefix_starts_[rank]);
    }
    std::span<const std::uint64_t> sketch(std::size_t rank) const {
        return {sketches_.get() + sketch_starts_[rank], sketches_.get() + sketch_starts_[rank + 1]};
    }

  private:
    std::span<const std::int64_t> offsets_;
    const std::uint64_t *hashes_;
    std::vector<std::uint32_t> sizes_, prefix_sizes_;
    std::vector<std::uint64_t> prefix_starts_{0}, sketch_starts_{0};
    std::unique_ptr<PrefixCell[]> prefixes_;
    std::unique_ptr<std::uint64_t[]> sketches_;

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

    // The lower the threshold, the more may differ, and the wider must a sketch be to show it.
    std::uint64_t sketch_words(std::uint64_t size) const {
        const double similarity = static_cast<double>(threshold_.numerator) / static_cast<double>(threshold_.denominator);
        const double bits_per_shingle = std::min(1 / (similarity * similarity), 8.0);
        return std::bit_ceil(static_cast<std::uint64_t>(static_cast<double>(size) * bits_per_shingle) / 64 + 1);
    }

    void make_room() {
        prefix_sizes_.resize(size());
        std::uint64_t room = 0, words = 0;
        for (std::size_t rank = 0; rank < size(); ++rank) {
            const std::uint64_t size = sizes_[rank];
            if (rank == 0 || sizes_[rank - 1] != size) {
                const JoinBounds bounds(threshold_, size);
                room = JoinBounds::prefix_length(size, bounds.least_shared, EXTRA);
                words = sketch_words(size);
            }
            prefix_starts_.push_back(prefix_starts_.back() + room);
            sketch_starts_.push_back(sketch_starts_.back() + words);
        }
        if (prefix_starts_.back() >> 32) throw std::invalid_argument("too many shingles to join at once");
        prefixes_ = std::make_unique_for_overwrite<PrefixCell[]>(prefix_starts_.back());
        sketches_ = std::make_unique_for_overwrite<std::uint64_t[]>(sketch_starts_.back());
    }
};

// For each cell the ranks of the sets that have it in their prefix, in the order of their sizes.
class JoinIndex {
  public:
    // `within` serves a join of the sets with themselves. There each pair is found from its larger
    // set, and a smaller one can be found by a shorter prefix.
    JoinIndex(const JoinSets &sets, bool within) : sets_(sets), within_(within), starts_(sets.cells() + 1) {
        if (sets.cells() >> (64 - CELL)) throw std::invalid_argument("too many cells");
        // Sorted, since to go to each cell as it comes would be a miss of the cache for every one.
        std::vector<std::uint64_t> entries = prefix_entries();
        radix_sort(entries, CELL, CELL + static_cast<unsigned>(std::bit_width(sets.cells())));
        if (is_longer_worse(entries)) extra_ = 0, std::erase_if(entries, is_further);
        ranks_.reserve(entries.size());
        for (const std::uint64_t entry : entries) {
            ++starts_[(entry >> CELL) + 1];
            ranks_.push_back(static_cast<std::uint32_t>(entry >> RANK));
        }
        std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
    }

    const JoinSets &sets() const { return sets_; }
    bool within() const { return within_; }
    std::uint32_t extra() const { return extra_; }
    const std::uint32_t *bounds(std::uint32_t cell) const { return starts_.data() + cell; }
    std::span<const std::uint32_t> operator[](std::uint32_t cell) const {
        return {ranks_.data() + starts_[cell], ranks_.data() + starts_[cell + 1]};
    }

  private:
    // An entry is a cell, a rank, and whether only a prefix that is longer by `EXTRA` has the cell.
    static constexpr unsigned RANK = 1, CELL = 33;
    static constexpr std::uint64_t MORE_TO_COUNT = 4;  // a look at a sketch costs as much as to count so many
    const JoinSets &sets_;
    bool within_;
    std::uint32_t extra_ = EXTRA;
    std::vector<std::uint32_t> starts_, ranks_;

    static bool is_further(std::uint64_t entry) { return entry & 1; }

    std::vector<std::uint64_t> prefix_entries() const {
        std::vector<std::uint64_t> entries;
        std::size_t room = 0;
        for (std::size_t rank = 0; rank < sets_.size(); ++rank)
            room += std::min<std::size_t>(sets_.prefix(rank).size(), length(rank, EXTRA));
        entries.reserve(room);
        for (std::size_t rank = 0; rank < sets_.size(); ++rank) {
            const std::uint64_t most = length(rank, EXTRA), fewer = length(rank, 0);
            for (const PrefixCell &mine : sets_.prefix(rank)) {
                if (mine.before >= most) break;
                entries.push_back(std::uint64_t{mine.cell} << CELL | rank << RANK | (mine.before >= fewer));
            }
        }
        return entries;
    }

    std::uint64_t length(std::size_t rank, std::uint32_t extra) const {
        const std::uint64_t size = sets_.size_of(rank);
        const Threshold least = sets_.threshold();
        const std::uint64_t shared = within_ ? least.least_shared(size, size) : JoinBounds(least, size).least_shared;
        return JoinBounds::prefix_length(size, shared, extra);
    }

    // Whether longer prefixes meet so much more often that it is cheaper to look at sketches.
    static bool is_longer_worse(std::span<const std::uint64_t> entries) {
        std::uint64_t meetings = 0, fewer_meetings = 0;
        for (std::size_t start = 0, end; start < entries.size(); start = end) {
            std::uint64_t fewer = 0;
            for (end = start; end < entries.size() && entries[end] >> CELL == entries[start] >> CELL; ++end)
                fewer += !is_further(entries[end]);
            meetings += (end - start) * (end - start);
            fewer_meetings += fewer * fewer;
        }
        return meetings > MORE_TO_COUNT * fewer_meetings;
    }
};

struct Joined {
    std::vector<std::uint64_t> pairs;
    std::vector<double> similarities;
    std::uint64_t met = 0;       // pairs that share a cell of their prefixes
    std::uint64_t verified = 0;  // of these, pairs that no bound could rule out
    std::size_t next = 0;        // the rank to go on with
};

// Keeps those sets whose sketches allow that they share enough with the set of `rank`.
NEARLY_CLONES inline std::span<std::uint32_t> keep_close(const JoinSets &others, std::span<std::uint32_t> met,
                                                         const JoinSets &sets, std::size_t rank) {
    const Threshold threshold = sets.threshold();
    const std::span<const std::uint64_t> mine = sets.sketch(rank);
    std::size_t kept = 0;
    for (const std::uint32_t other : met) {
        const std::span<const std::uint64_t> theirs = others.sketch(other);
        const auto &narrow = mine.size() < theirs.size() ? mine : theirs;
        const auto &wide = mine.size() < theirs.size() ? theirs : mine;
        // A far larger set fills a narrow sketch, which says nothing then.
        if (threshold.of_smaller && wide.size() > 2 * narrow.size()) {
            met[kept++] = other;
            continue;
        }
        std::uint64_t different = 0;
        for (std::size_t i = 0; i < narrow.size(); ++i) {
            std::uint64_t word = narrow[i];
            for (std::size_t j = i; j < wide.size(); j += narrow.size()) word ^= wide[j];
            different += static_cast<std::uint64_t>(std::popcount(word));
        }
        const std::uint64_t sum = std::uint64_t{sets.size_of(rank)} + others.size_of(other);
        const std::uint64_t most_shared = (sum - different) / 2;
        met[kept] = other;
        kept += threshold.reached(most_shared, sets.size_of(rank), others.size_of(other));
    }
    return met.first(kept);
}

// Looks sets up in an index, one after the other.
class Prober {
  public:
    Prober(const JoinIndex &index, const JoinSets &sets)
        : index_(index), others_(index.sets()), sets_(sets), shared_(others_.size()), met_(others_.size() + 1) {}

    void operator()(std::uint32_t rank, Joined &joined) {
        find_partners(sets_.size_of(rank));
        const std::span<std::uint32_t> met = meet(rank);
        joined.met += met.size();
        stop_.check(sets_.size_of(rank) + 16 * met.size());
        const std::span<std::uint32_t> close = keep_close(others_, keep_sharing(met, rank), sets_, rank);
        joined.verified += close.size();
        if (!close.empty()) comparer_.take(sets_[rank]);
        for (const std::uint32_t other : close) {
            const double similarity = comparer_.similarity(others_[other], sets_.threshold());
            if (similarity < 0) continue;
            joined.pairs.push_back(pair(others_.document(other), sets_.document(rank)));
            joined.similarities.push_back(similarity);
        }
    }

  private:
    static constexpr std::uint32_t MOST_COUNTED = 255;
    const JoinIndex &index_;
    const JoinSets &others_, &sets_;
    std::vector<std::uint8_t> shared_;  // how many shingles of the prefixes each set may share: small, to stay near
    std::vector<std::uint32_t> met_;    // room for all, and for one that is written in any case
    Comparer comparer_;
    Stop stop_;
    // Of all sets of one size: the ranks of their partners, from `first_` up to what a place in the
    // prefix allows, and what they share of the prefixes at least.
    std::uint32_t size_ = 0, first_ = 0, least_ = 0;
    std::vector<std::uint32_t> lasts_;

    std::uint64_t pair(std::uint64_t indexed, std::uint64_t probed) const {
        return index_.within() ? pack_pair(indexed, probed) : indexed << 32 | probed;
    }

    // The further back the first shingle that two sets share, the less they share in all, and the
    // smaller must the other set be.
    void find_partners(std::uint32_t size) {
        if (size == size_) return;
        const Threshold threshold = sets_.threshold();
        const JoinBounds bounds(threshold, size);
        const auto &sizes = others_.sizes();
        const auto first = std::ranges::lower_bound(sizes, bounds.least_partner);
        auto last = std::ranges::upper_bound(sizes, bounds.greatest_partner);
        first_ = static_cast<std::uint32_t>(first - sizes.begin());
        const std::uint32_t extra = index_.extra();
        lasts_.resize(JoinBounds::prefix_length(size, bounds.least_shared, extra));
        for (std::uint32_t before = 0; before < lasts_.size(); ++before) {
            const std::uint64_t most = std::min<std::uint64_t>(size, std::uint64_t{size} - before + extra);
            const auto can_reach = [&](std::uint32_t other) { return threshold.reached(most, size, other); };
            if (last > first && !can_reach(*(last - 1))) last = std::partition_point(first, last, can_reach);
            lasts_[before] = static_cast<std::uint32_t>(last - sizes.begin());
        }
        least_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(1 + extra, bounds.least_shared));
        size_ = size;
    }

    static const std::uint32_t *first_from(std::uint32_t rank, std::span<const std::uint32_t> ranks) {
        constexpr std::size_t SHORT = 32;  // searched faster from its start than by halves
        const std::uint32_t *at = ranks.data(), *const end = at + ranks.size();
        if (ranks.size() > SHORT) return std::lower_bound(at, end, rank);
        while (at < end && *at < rank) ++at;
        return at;
    }

    // Collects the sets that share a cell, and counts the shingles that they may share.
    std::span<std::uint32_t> meet(std::uint32_t rank) {
        const std::span<const PrefixCell> prefix = sets_.prefix(rank);
        // Cells lie far apart in memory: ask for those of the next sets while this one is looked up.
        const std::size_t last_set = sets_.size() - 1;
        const std::span<const PrefixCell> next = sets_.prefix(std::min<std::size_t>(rank + 1, last_set));
        const std::span<const PrefixCell> after = sets_.prefix(std::min<std::size_t>(rank + 2, last_set));
        const std::uint32_t last_of_all = index_.within() ? rank : ~0u;  // a pair is found from its larger set
        std::size_t met = 0;
        for (std::size_t i = 0; i < prefix.size() && prefix[i].before < lasts_.size(); ++i) {
            if (i < next.size()) __builtin_prefetch(index_[next[i].cell].data());
            if (i < after.size()) __builtin_prefetch(index_.bounds(after[i].cell));
            const std::uint32_t end = i + 1 < prefix.size() ? prefix[i + 1].before : sets_.prefix_length(rank);
            const std::uint32_t count = end - prefix[i].before;
            const std::uint32_t last = std::min(lasts_[prefix[i].before], last_of_all);
            const std::span<const std::uint32_t> ranks = index_[prefix[i].cell];
            const std::uint32_t *const stop = ranks.data() + ranks.size();
            for (const std::uint32_t *at = first_from(first_, ranks); at < stop && *at < last; ++at) {
                std::uint8_t &shared = shared_[*at];
                met_[met] = *at;
                met += shared == 0;
                shared = static_cast<std::uint8_t>(std::min(MOST_COUNTED, shared + count));
            }
        }
        return {met_.data(), met};
    }

    // Keeps the sets that share enough of the prefixes: one shingle and as many as these are longer, or
    // all that the two have to share. Most sets are seen off by their counts alone.
    std::span<std::uint32_t> keep_sharing(std::span<std::uint32_t> met, std::uint32_t rank) {
        const Threshold threshold = sets_.threshold();
        const std::uint64_t size = sets_.size_of(rank);
        std::size_t kept = 0;
        for (const std::uint32_t other : met) {
            const std::uint32_t shared = std::exchange(shared_[other], 0);
            if (shared < least_) continue;
            if (shared <= index_.extra() && !threshold.reached(shared, size, others_.size_of(other))) continue;
            __builtin_prefetch(others_.sketch(other).data());
            met[kept++] = other;
        }
        return met.first(kept);
    }
};

// All pairs of an indexed set and one of `sets` with a rank in [start, stop). In a join of sets
// with themselves a pair has its lower document first, otherwise the indexed one. Ends early once
// there are `most` pairs: those of one more set may be added to them.
inline Joined join(const JoinIndex &index, const JoinSets &sets, std::size_t start, std::size_t stop,
                   std::size_t most) {
    Prober probe(index, sets);
    Joined joined;
    for (joined.next = start; joined.next < stop && joined.pairs.size() < most; ++joined.next)
        probe(static_cast<std::uint32_t>(joined.next), joined);
    return joined;
}

}  // namespace nearly
