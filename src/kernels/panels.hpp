// Rows of one matrix met with all rows of another, sixteen of these at a time: a panel.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "stop.hpp"

namespace nearly {

// Rows of `width` whole numbers of 8 bits, a multiple of four of them, none of which is -128. Behind them stands a whole
// number of 32 bits, which is added to all products of the row.
struct Rows8 {
    static constexpr std::size_t ADDED = 4;

    const std::int8_t *bytes;
    std::size_t count, width;

    const std::int8_t *operator[](std::size_t i) const { return bytes + i * (width + ADDED); }
    std::int32_t added(std::size_t i) const {
        std::int32_t number;
        std::memcpy(&number, (*this)[i] + width, ADDED);
        return number;
    }
};

// Up to GROUP rows meet the sixteen of a panel: of each row a bit for each of these that belongs together with it.
struct Panels {
    static constexpr std::size_t GROUP = 128, LANES = 16;

    static std::size_t rounded_up(std::size_t count) { return (count + LANES - 1) / LANES * LANES; }
};
using GreatOnes = std::uint16_t[Panels::GROUP];

using RowPairs = std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>>;

// Adds the pairs of a panel and of the rows that `reached` tells of, from `start` to `end`.
inline void add_pairs(const GreatOnes &reached, std::size_t start, std::size_t end, std::size_t panel, std::size_t theirs, bool within, RowPairs &found) {
    constexpr std::size_t WORD = 4, LOOKED_AT = 32;  // rows: of most there is none
    for (std::size_t some = start; some < end; some += LOOKED_AT) {
        std::uint64_t words[LOOKED_AT / WORD], any = 0;
        std::memcpy(words, reached + (some - start), sizeof words);
        for (const std::uint64_t word : words) any |= word;
        if (any == 0) continue;
        for (std::size_t w = 0; w < LOOKED_AT / WORD; ++w)
            for (std::uint64_t left = words[w]; left != 0; left &= left - 1) {
                const auto bit = static_cast<std::size_t>(std::countr_zero(left));
                const std::size_t i = some + w * WORD + bit / Panels::LANES, j = panel * Panels::LANES + bit % Panels::LANES;
                if (i >= end || j >= theirs || (within && j <= i)) continue;
                found.first.push_back(static_cast<std::uint32_t>(i));
                found.second.push_back(static_cast<std::uint32_t>(j));
            }
    }
}

// Pairs of a row of one side and a row of the other: `reach` says which of some rows and the sixteen of a panel belong
// together. `within`, both sides are the same rows, and a pair's first row stands before its second. Where `reach` has
// something to get ready, it does so after each look for signals: whatever handles one may have undone it.
template <typename Reach>
RowPairs pairs_by_panels(std::size_t mine, std::size_t theirs, bool within, std::size_t work, Reach &&reach) {
    constexpr std::size_t PANELS = 64;  // between two looks for signals
    const std::size_t panels = Panels::rounded_up(theirs) / Panels::LANES;
    RowPairs found;
    Stop stop;
    alignas(64) GreatOnes reached = {};
    for (std::size_t start = 0; start < mine; start += Panels::GROUP) {  // these rows stay near while panels pass
        const std::size_t end = std::min(start + Panels::GROUP, mine);
        for (std::size_t from = within ? start / Panels::LANES : 0; from < panels; from += PANELS) {
            const std::size_t to = std::min(from + PANELS, panels);
            stop.check((end - start) * (to - from) * work);
            if constexpr (requires { reach.get_ready(); }) reach.get_ready();
            for (std::size_t p = from; p < to; ++p) {
                reach(start, end, p, reached);
                add_pairs(reached, start, end, p, theirs, within, found);
            }
        }
    }
    return found;
}

}  // namespace nearly
