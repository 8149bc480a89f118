// Where the exact join looks sets up: see join.hpp.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <numeric>
#include <span>
#include <stdexcept>
#include <vector>

#include "join_sets.hpp"
#include "large.hpp"
#include "radix.hpp"
#include "stop.hpp"

namespace nearly {

// For each cell the ranks of the sets that have it in their prefix, in the order of their sizes.
//
// Cells are built in parts: `sort` each part, then `write` each; parts can be done at once.
class JoinIndex {
  public:
    // `within` serves a join of the sets with themselves. There each pair is found from its larger
    // set, and a smaller one can be found by a shorter prefix.
    JoinIndex(const JoinSets &sets, bool within, std::size_t parts)
        : sets_(sets), within_(within), starts_(sets.cells() + 1), parts_(parts) {
        if (sets.cells() >> (64 - CELL)) throw std::invalid_argument("too many cells");
    }

    // Gathers the entries of a part's cells, and counts what meets there.
    void sort(std::size_t part) {
        Part &mine = parts_[part];
        mine.entries = entries_between(first_cell(part), first_cell(part + 1));
        // To go to each cell as it comes would be a miss of the cache for every one.
        radix_sort(mine.entries, CELL, CELL + static_cast<unsigned>(std::bit_width(sets_.cells())));
        count_meetings(mine);
        if (++sorted_ == parts_.size()) make_room();
    }

    // Puts ranks in their places, once all parts are sorted.
    void write(std::size_t part) {
        Part &mine = parts_[part];
        std::uint32_t *to = ranks_.data() + mine.start;
        std::size_t cell = first_cell(part);
        const auto begin_before = [&](std::size_t end) {
            while (cell < end) starts_[cell++] = static_cast<std::uint32_t>(to - ranks_.data());
        };
        for (const std::uint64_t entry : mine.entries) {
            if (extra_ == 0 && is_further(entry)) continue;
            begin_before((entry >> CELL) + 1);
            *to++ = static_cast<std::uint32_t>(entry >> RANK);
        }
        begin_before(first_cell(part + 1) + (part + 1 == parts_.size()));  // where the last cell ends, too
        mine.entries = {};
        ++written_;
    }

    const JoinSets &sets() const { return sets_; }
    bool within() const { return within_; }
    std::size_t parts() const { return parts_.size(); }
    bool is_sorted() const { return sorted_ == parts_.size(); }
    bool is_built() const { return written_ == parts_.size(); }
    std::uint32_t extra() const { return extra_; }
    const std::uint32_t *bounds(std::uint32_t cell) const { return starts_.data() + cell; }
    std::span<const std::uint32_t> operator[](std::uint32_t cell) const {
        return {ranks_.data() + starts_[cell], ranks_.data() + starts_[cell + 1]};
    }

  private:
    // An entry is a cell, a rank, and whether only a prefix that is longer by `EXTRA` has the cell.
    static constexpr unsigned RANK = 1, CELL = 33;
    static constexpr std::uint64_t MORE_TO_COUNT = 4;  // a look at a sketch costs as much as to count so many
    using Entries = LargeArray<std::uint64_t>;
    struct Part {
        Entries entries;
        std::uint64_t meetings = 0, fewer_meetings = 0;  // by longer prefixes, and by those that are not
        std::size_t fewer = 0;                           // entries of prefixes that are not longer
        std::size_t start = 0;                           // of its ranks
    };
    const JoinSets &sets_;
    bool within_;
    std::uint32_t extra_ = EXTRA;
    LargeArray<std::uint32_t> starts_, ranks_;
    std::vector<Part> parts_;
    std::atomic<std::size_t> sorted_ = 0, written_ = 0;

    static bool is_further(std::uint64_t entry) { return entry & 1; }

    std::size_t first_cell(std::size_t part) const { return sets_.cells() * part / parts_.size(); }

    Entries entries_between(std::size_t first, std::size_t last) const {
        std::size_t count = 0;
        each_cell([&](std::uint64_t cell, std::size_t, bool) { count += cell - first < last - first; });
        Entries entries(count + 1);  // one more is written in any case
        std::size_t end = 0;
        each_cell([&](std::uint64_t cell, std::size_t rank, bool further) {
            entries[end] = cell << CELL | rank << RANK | further;
            end += cell - first < last - first;
        });
        entries.shrink(count);
        return entries;
    }

    // Calls `receive` with the cells of each set that are indexed, its rank, and whether they lie further.
    template <class Receive> void each_cell(Receive &&receive) const {
        std::uint64_t most = 0, fewer = 0;
        Stop stop;
        for (std::size_t rank = 0; rank < sets_.size(); ++rank) {
            if (rank == 0 || sets_.size_of(rank) != sets_.size_of(rank - 1))
                most = length(rank, EXTRA), fewer = length(rank, 0);
            const std::span<const PrefixCell> prefix = sets_.prefix(rank);
            stop.check(prefix.size());
            for (const PrefixCell &mine : prefix) {
                if (mine.before >= most) break;
                receive(mine.cell, rank, mine.before >= fewer);
            }
        }
    }

    std::uint64_t length(std::size_t rank, std::uint32_t extra) const {
        const std::uint64_t size = sets_.size_of(rank);
        const Threshold least = sets_.threshold();
        const std::uint64_t shared = within_ ? least.least_shared(size, size) : JoinBounds(least, size).least_shared;
        return JoinBounds::prefix_length(size, shared, extra);
    }

    static void count_meetings(Part &part) {
        const Entries &entries = part.entries;
        for (std::size_t start = 0, end; start < entries.size(); start = end) {
            std::uint64_t fewer = 0;
            for (end = start; end < entries.size() && entries[end] >> CELL == entries[start] >> CELL; ++end)
                fewer += !is_further(entries[end]);
            part.meetings += (end - start) * (end - start);
            part.fewer_meetings += fewer * fewer;
            part.fewer += fewer;
        }
    }

    // Prefixes stay short where longer ones meet so much more often that it is cheaper to look at sketches.
    void make_room() {
        std::uint64_t meetings = 0, fewer_meetings = 0;
        for (const Part &part : parts_) meetings += part.meetings, fewer_meetings += part.fewer_meetings;
        if (meetings > MORE_TO_COUNT * fewer_meetings) extra_ = 0;
        std::size_t count = 0;
        for (Part &part : parts_) part.start = count, count += extra_ == 0 ? part.fewer : part.entries.size();
        ranks_ = LargeArray<std::uint32_t>(count);
    }
};

}  // namespace nearly
