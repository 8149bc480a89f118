// The exact join: every pair of sets that reaches a threshold, found through rare shingles.
//
// All shingles are put in one order, rare ones first. Two sets that share enough must then share
// one of their first few shingles, so that only these, a set's prefix, need be looked up (Chaudhuri,
// Ganti and Kaushik 2006; Bayardo, Ma and Srikant 2007); and if prefixes are longer by some shingles,
// they share as many more (Wang, Li and Feng 2012). What meets there is thrown out by size and position
// (Xiao, Wang, Lin and Yu 2008), by how much of the prefixes is shared, and by sketches that bound the
// rest (Sandes, Teodoro and Melo 2020); what remains is verified. No bound is an estimate: no pair is
// lost.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "candidates.hpp"
#include "jaccard.hpp"
#include "join_index.hpp"
#include "join_sets.hpp"
#include "sketch.hpp"
#include "stop.hpp"

namespace nearly {

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
    const Sketch mine = sets.sketch(rank);
    const std::uint32_t size = sets.size_of(rank);
    std::size_t kept = 0;
    for (const std::uint32_t other : met) {
        met[kept] = other;
        kept += may_reach(sets.threshold(), mine, size, others.sketch(other), others.size_of(other));
    }
    return met.first(kept);
}

// Looks sets up in an index, one after the other.
class Prober {
  public:
    Prober(const JoinIndex &index, const JoinSets &sets)
        : index_(index), others_(index.sets()), sets_(sets), shared_(others_.size()), met_(others_.size() + 1) {}

    // Sets are looked up from this rank on, one after the other: what one of them needs from all over memory is fetched
    // while the one before it is looked up.
    void start_at(std::uint32_t start) { locate(start); }

    void operator()(std::uint32_t rank, Joined &joined) {
        std::swap(here_, ahead_);
        if (rank + 1 < sets_.size()) locate(rank + 1);
        const std::span<std::uint32_t> met = meet();
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
    static constexpr std::size_t SHORT = 32;                  // searched faster from its start than by halves
    static constexpr std::size_t FETCHED = 64, IN_LINE = 16;  // ranks that are asked for, and in a line of the cache
    // The sets that share a cell, up to some rank, and how many shingles fall on that cell.
    struct Run {
        const std::uint32_t *at, *end;
        std::uint32_t last, count;
    };
    // What a set is looked up by.
    struct LookUp {
        std::vector<Run> runs;
        std::uint32_t first = 0;  // the lowest rank of a partner
        std::uint32_t least = 0;  // what partners share of the prefixes at least
    };
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
    LookUp here_, ahead_;  // of the set that is looked up, and of the one after it

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

    // Where to begin to look: the first rank that is no less than another, or one before it.
    static const std::uint32_t *beginning(std::uint32_t rank, std::span<const std::uint32_t> ranks) {
        if (ranks.size() <= SHORT || ranks.front() >= rank) return ranks.data();
        return std::lower_bound(ranks.data(), ranks.data() + ranks.size(), rank);
    }

    // Finds the sets that share a cell with this one, and has them fetched.
    void locate(std::uint32_t rank) {
        find_partners(sets_.size_of(rank));
        const std::span<const PrefixCell> prefix = sets_.prefix(rank);
        const std::span<const PrefixCell> next = sets_.prefix(std::min<std::size_t>(rank + 1, sets_.size() - 1));
        const std::uint32_t last_of_all = index_.within() ? rank : ~0u;  // a pair is found from its larger set
        ahead_.runs.clear();
        ahead_.first = first_, ahead_.least = least_;
        for (std::size_t i = 0; i < prefix.size() && prefix[i].before < lasts_.size(); ++i) {
            if (i < next.size()) __builtin_prefetch(index_.bounds(next[i].cell));
            const std::uint32_t end = i + 1 < prefix.size() ? prefix[i + 1].before : sets_.prefix_length(rank);
            const std::span<const std::uint32_t> ranks = index_[prefix[i].cell];
            if (ranks.empty()) continue;
            const std::uint32_t *const stop = ranks.data() + ranks.size(), *const at = beginning(first_, ranks);
            for (const std::uint32_t *line = at; line < std::min(at + FETCHED, stop); line += IN_LINE) __builtin_prefetch(line);
            ahead_.runs.push_back({at, stop, std::min(lasts_[prefix[i].before], last_of_all), end - prefix[i].before});
        }
    }

    // Collects the sets that share a cell, and counts the shingles that they may share.
    std::span<std::uint32_t> meet() {
        std::uint8_t *const shared = shared_.data();
        std::uint32_t *const start = met_.data(), *met = start;
        const std::uint32_t first = here_.first;
        for (const Run run : here_.runs) {
            const std::uint32_t *at = run.at;
            while (at < run.end && *at < first) ++at;
            for (; at < run.end && *at < run.last; ++at) {
                const std::uint32_t other = *at, before = shared[other];
                *met = other;
                met += before == 0;
                shared[other] = static_cast<std::uint8_t>(std::min(MOST_COUNTED, before + run.count));
            }
        }
        return {start, met};
    }

    // Keeps the sets that share enough of the prefixes: one shingle and as many as these are longer, or
    // all that the two have to share. Most sets are seen off by their counts alone.
    std::span<std::uint32_t> keep_sharing(std::span<std::uint32_t> met, std::uint32_t rank) {
        const Threshold threshold = sets_.threshold();
        const std::uint64_t size = sets_.size_of(rank);
        std::size_t kept = 0;
        for (const std::uint32_t other : met) {
            const std::uint32_t shared = std::exchange(shared_[other], 0);
            if (shared < here_.least) continue;
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
    if (start < stop) probe.start_at(static_cast<std::uint32_t>(start));
    for (joined.next = start; joined.next < stop && joined.pairs.size() < most; ++joined.next)
        probe(static_cast<std::uint32_t>(joined.next), joined);
    return joined;
}

}  // namespace nearly
