// Which rows lie near each other, by a few numbers of each: all rows of one matrix with all of another.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "hashing.hpp"
#include "product.hpp"

namespace nearly {

struct Rows32 {
    const float *numbers;
    std::size_t count, width;
};

// Sixteen rows side by side; missing ones are zeros.
inline std::vector<float> side_by_side(const Rows32 &rows) {
    constexpr std::size_t lanes = Panels::LANES;
    std::vector<float> panels((rows.count + lanes - 1) / lanes * lanes * rows.width);
    for (std::size_t i = 0; i < rows.count; ++i)
        for (std::size_t k = 0; k < rows.width; ++k)
            panels[(i / lanes * rows.width + k) * lanes + i % lanes] = rows.numbers[i * rows.width + k];
    return panels;
}

// Of a row with the sixteen of a panel, a bit for each that is `limit` or less apart: by squares, or by steps.
template <bool by_squares>
inline std::uint16_t lie_near_panel(const float *row, const float *panel, std::size_t width, float limit) {
    constexpr std::size_t lanes = Panels::LANES, OFTEN = 32;
    float sums[lanes] = {};
    std::uint16_t near = 0;
    for (std::size_t start = 0; start < width; start += OFTEN) {  // most are far after a few numbers
        for (std::size_t k = start; k < std::min(start + OFTEN, width); ++k)
            for (std::size_t lane = 0; lane < lanes; ++lane) {
                const float apart = row[k] - panel[k * lanes + lane];
                sums[lane] += by_squares ? apart * apart : std::abs(apart);
            }
        near = 0;
        for (std::size_t lane = 0; lane < lanes; ++lane) near |= static_cast<std::uint16_t>((sums[lane] <= limit) << lane);
        if (near == 0) break;
    }
    return near;
}

NEARLY_CLONES inline std::uint16_t near_by_squares(const float *row, const float *panel, std::size_t width, float limit) {
    return lie_near_panel<true>(row, panel, width, limit);
}
NEARLY_CLONES inline std::uint16_t near_by_steps(const float *row, const float *panel, std::size_t width, float limit) {
    return lie_near_panel<false>(row, panel, width, limit);
}

// Pairs whose sum of squares (or of steps) is `limit` or less; `within` as in `pairs_by_panels`.
inline RowPairs near_rows(const Rows32 &one, const Rows32 &other, float limit, bool by_squares, bool within) {
    const std::vector<float> panels = side_by_side(other);
    const auto lie_near = by_squares ? &near_by_squares : &near_by_steps;
    if (one.width == 0) return {};
    const auto lie_near_all = [&](std::size_t start, std::size_t end, std::size_t p, GreatOnes &reached) {
        for (std::size_t i = start; i < end; ++i)
            reached[i - start] = lie_near(one.numbers + i * one.width, panels.data() + p * Panels::LANES * one.width, one.width, limit);
    };
    return pairs_by_panels(one.count, other.count, within, 2 * one.width, lie_near_all);
}

}  // namespace nearly
