// Which products of short whole-number vectors reach a limit: all rows of one matrix with all of another.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "hashing.hpp"
#include "stop.hpp"

namespace nearly {

// Rows of `width` numbers, which is even.
struct Rows16 {
    const std::int16_t *numbers;
    std::size_t count, width;
};

// Sixteen rows side by side, two numbers of each at a time; missing ones are zeros.
class Panels {
  public:
    static constexpr std::size_t LANES = 16;

    explicit Panels(const Rows16 &rows) : width_(rows.width), numbers_((rows.count + LANES - 1) / LANES * LANES * rows.width) {
        for (std::size_t i = 0; i < rows.count; ++i)
            for (std::size_t k = 0; k < width_; ++k)
                numbers_[i / LANES * LANES * width_ + (k / 2 * LANES + i % LANES) * 2 + k % 2] = rows.numbers[i * width_ + k];
    }

    const std::int16_t *operator[](std::size_t i) const { return numbers_.data() + i * LANES * width_; }

  private:
    std::size_t width_;
    std::vector<std::int16_t> numbers_;
};

// Of four rows with the sixteen of a panel, a bit for each product that reaches the limit.
struct GreatOnes {
    std::uint16_t of_row[4];
};

inline GreatOnes multiply_plainly(const std::int16_t *const rows[4], const std::int16_t *panel, std::size_t width, std::int32_t limit) {
    GreatOnes reached{};
    for (std::size_t r = 0; r < 4; ++r)
        for (std::size_t lane = 0; lane < Panels::LANES; ++lane) {
            std::int32_t sum = 0;
            for (std::size_t k = 0; k < width; ++k) sum += rows[r][k] * panel[(k / 2 * Panels::LANES + lane) * 2 + k % 2];
            reached.of_row[r] |= static_cast<std::uint16_t>((sum >= limit) << lane);
        }
    return reached;
}

#ifdef NEARLY_AVX2
NEARLY_AVX2 inline GreatOnes multiply_wide(const std::int16_t *const rows[4], const std::int16_t *panel, std::size_t width,
                                           std::int32_t limit) {
    __m256i sums[4][2] = {};
    for (std::size_t k = 0; k < width; k += 2) {
        const auto *here = reinterpret_cast<const __m256i *>(panel + k * Panels::LANES);
        const __m256i low = _mm256_loadu_si256(here), high = _mm256_loadu_si256(here + 1);
        for (std::size_t r = 0; r < 4; ++r) {
            std::int32_t two;
            std::memcpy(&two, rows[r] + k, sizeof two);
            const __m256i both = _mm256_set1_epi32(two);
            sums[r][0] = _mm256_add_epi32(sums[r][0], _mm256_madd_epi16(low, both));
            sums[r][1] = _mm256_add_epi32(sums[r][1], _mm256_madd_epi16(high, both));
        }
    }
    const __m256i below = _mm256_set1_epi32(limit - 1);
    GreatOnes reached;
    for (std::size_t r = 0; r < 4; ++r) {
        const __m256i first = _mm256_cmpgt_epi32(sums[r][0], below), last = _mm256_cmpgt_epi32(sums[r][1], below);
        const int low = _mm256_movemask_ps(_mm256_castsi256_ps(first)), high = _mm256_movemask_ps(_mm256_castsi256_ps(last));
        reached.of_row[r] = static_cast<std::uint16_t>(low | high << 8);
    }
    return reached;
}
#endif

inline auto multiply_here() {
#ifdef NEARLY_AVX2
    if (__builtin_cpu_supports("avx2")) return &multiply_wide;
#endif
    return &multiply_plainly;
}

using RowPairs = std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>>;

// Pairs of a row of one side and a row of the other, four with sixteen at a time: `reach` has a bit for each of them that
// belongs together. `within`, both sides are the same rows, and a pair's first row stands before its second.
template <typename Reach>
RowPairs pairs_by_panels(std::size_t mine, std::size_t theirs, bool within, std::size_t work, Reach reach) {
    constexpr std::size_t GROUP = 128;  // rows that stay near while panels pass
    RowPairs found;
    Stop stop;
    for (std::size_t start = 0; start < mine; start += GROUP) {
        const std::size_t end = std::min(start + GROUP, mine);
        for (std::size_t p = within ? start / Panels::LANES : 0; p * Panels::LANES < theirs; ++p) {
            stop.check((end - start) * work);
            for (std::size_t i = start; i < end; i += 4) {
                const std::size_t rows[4] = {i, std::min(i + 1, end - 1), std::min(i + 2, end - 1), std::min(i + 3, end - 1)};
                const GreatOnes reached = reach(rows, p);
                for (std::size_t r = 0; r < 4 && i + r < end; ++r)
                    for (std::uint32_t left = reached.of_row[r]; left != 0; left &= left - 1) {
                        const std::size_t j = p * Panels::LANES + static_cast<std::size_t>(std::countr_zero(left));
                        if (j >= theirs || (within && j <= i + r)) continue;
                        found.first.push_back(static_cast<std::uint32_t>(i + r));
                        found.second.push_back(static_cast<std::uint32_t>(j));
                    }
            }
        }
    }
    return found;
}

// Pairs whose product is `limit` or more; products fit 32 bits.
inline RowPairs great_products(const Rows16 &one, const Rows16 &other, std::int32_t limit, bool within) {
    const Panels panels(other);
    const auto multiply = multiply_here();
    if (one.width == 0) return {};
    return pairs_by_panels(one.count, other.count, within, one.width, [&](const std::size_t at[4], std::size_t p) {
        const std::int16_t *rows[4];
        for (std::size_t r = 0; r < 4; ++r) rows[r] = one.numbers + at[r] * one.width;
        return multiply(rows, panels[p], one.width, limit);
    });
}

}  // namespace nearly
