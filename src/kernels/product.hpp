// Which products of short whole-number vectors reach a limit: all rows of one matrix with all of another.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "hashing.hpp"
#include "stop.hpp"

// Products of four bytes and their sum in one step.
#ifdef NEARLY_AVX2
#define NEARLY_VNNI __attribute__((target("avx512f,avx512bw,avx512vnni")))
#endif

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

// Numbers of 16 bits: sixteen rows side by side, two numbers of each at a time; missing ones are zeros.
class WordProducts {
  public:
    WordProducts(const Rows8 &one, const Rows8 &other, std::int32_t limit)
        : width_(one.width), limit_(limit), one_(one), rows_(one.count * width_), panels_(Panels::rounded_up(other.count) * width_),
          added_(Panels::rounded_up(other.count)) {
        for (std::size_t i = 0; i < one.count; ++i) std::copy_n(one[i], width_, rows_.begin() + static_cast<std::ptrdiff_t>(i * width_));
        for (std::size_t i = 0; i < other.count; ++i) {
            added_[i] = other.added(i);
            for (std::size_t k = 0; k < width_; ++k)
                panels_[i / LANES * LANES * width_ + (k / 2 * LANES + i % LANES) * 2 + k % 2] = other[i][k];
        }
    }

    void operator()(std::size_t start, std::size_t end, std::size_t panel, GreatOnes &reached) const {
        for (std::size_t i = start; i < end; i += 4) {
            const std::size_t at[4] = {i, std::min(i + 1, end - 1), std::min(i + 2, end - 1), std::min(i + 3, end - 1)};
            multiply(at, panel, reached + (i - start));
        }
    }

  private:
    static constexpr std::size_t LANES = Panels::LANES;

    std::size_t width_;
    std::int32_t limit_;
    Rows8 one_;
    std::vector<std::int16_t> rows_, panels_;
    std::vector<std::int32_t> added_;

    void multiply(const std::size_t at[4], std::size_t panel, std::uint16_t *reached) const {
#ifdef NEARLY_AVX2
        static const bool is_wide = __builtin_cpu_supports("avx2");
        if (is_wide) return multiply_wide(at, panel, reached);
#endif
        for (std::size_t r = 0; r < 4; ++r) {
            reached[r] = 0;
            for (std::size_t lane = 0; lane < LANES; ++lane) {
                std::int32_t sum = added_[panel * LANES + lane];
                for (std::size_t k = 0; k < width_; ++k)
                    sum += rows_[at[r] * width_ + k] * panels_[panel * LANES * width_ + (k / 2 * LANES + lane) * 2 + k % 2];
                reached[r] |= static_cast<std::uint16_t>((sum >= limit_ - one_.added(at[r])) << lane);
            }
        }
    }

#ifdef NEARLY_AVX2
    NEARLY_AVX2 void multiply_wide(const std::size_t at[4], std::size_t panel, std::uint16_t *reached) const {
        const auto *added = reinterpret_cast<const __m256i *>(added_.data() + panel * LANES);
        __m256i sums[4][2];
        for (auto &sum : sums) sum[0] = _mm256_loadu_si256(added), sum[1] = _mm256_loadu_si256(added + 1);
        for (std::size_t k = 0; k < width_; k += 2) {
            const auto *here = reinterpret_cast<const __m256i *>(panels_.data() + panel * LANES * width_ + k * LANES);
            const __m256i low = _mm256_loadu_si256(here), high = _mm256_loadu_si256(here + 1);
            for (std::size_t r = 0; r < 4; ++r) {
                std::int32_t two;
                std::memcpy(&two, rows_.data() + at[r] * width_ + k, sizeof two);
                const __m256i both = _mm256_set1_epi32(two);
                sums[r][0] = _mm256_add_epi32(sums[r][0], _mm256_madd_epi16(low, both));
                sums[r][1] = _mm256_add_epi32(sums[r][1], _mm256_madd_epi16(high, both));
            }
        }
        for (std::size_t r = 0; r < 4; ++r) {
            const __m256i below = _mm256_set1_epi32(limit_ - one_.added(at[r]) - 1);
            const __m256i first = _mm256_cmpgt_epi32(sums[r][0], below), last = _mm256_cmpgt_epi32(sums[r][1], below);
            const int low = _mm256_movemask_ps(_mm256_castsi256_ps(first)), high = _mm256_movemask_ps(_mm256_castsi256_ps(last));
            reached[r] = static_cast<std::uint16_t>(low | high << 8);
        }
    }
#endif
};

#ifdef NEARLY_VNNI
// Numbers of 8 bits: sixteen rows side by side, four numbers of each at a time. One factor has to be without a sign, so those
// of panels are moved up by 128, and that many times the sum of the other factor is asked for on top of the limit.
class ByteProducts {
  public:
    ByteProducts(const Rows8 &one, const Rows8 &other, std::int32_t limit)
        : width_(one.width), rows_(Panels::rounded_up(one.count) * width_), panels_(Panels::rounded_up(other.count) * width_),
          limits_(Panels::rounded_up(one.count)), added_(Panels::rounded_up(other.count)) {
        for (std::size_t i = 0; i < one.count; ++i) {
            std::copy_n(one[i], width_, rows_.data() + i * width_);
            limits_[i] = limit - one.added(i) + 128 * std::accumulate(one[i], one[i] + width_, 0);
        }
        for (std::size_t i = 0; i < other.count; ++i) {
            added_[i] = other.added(i);
            std::uint8_t *const panel = panels_.data() + i / LANES * LANES * width_ + i % LANES * 4;
            for (std::size_t k = 0; k < width_; ++k) panel[k / 4 * 4 * LANES + k % 4] = static_cast<std::uint8_t>(other[i][k] + 128);
        }
    }

    static bool runs_here() { return __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw"); }

    NEARLY_VNNI void operator()(std::size_t start, std::size_t end, std::size_t panel, GreatOnes &reached) const {
        constexpr std::size_t TOGETHER = 8;
        const std::size_t width = width_;
        const std::uint8_t *const numbers = panels_.data() + panel * LANES * width;
        const __m512i added = _mm512_loadu_si512(added_.data() + panel * LANES);
        for (std::size_t i = start; i < end; i += TOGETHER) {
            const std::int8_t *const rows = rows_.data() + i * width;
            __m512i sums[TOGETHER];
            for (__m512i &sum : sums) sum = added;
            for (std::size_t k = 0; k < width; k += 4) {
                const __m512i here = _mm512_loadu_si512(numbers + k * LANES);
                for (std::size_t r = 0; r < TOGETHER; ++r) add_products(sums[r], here, rows + r * width + k);
            }
            for (std::size_t r = 0; r < TOGETHER; ++r)
                reached[i - start + r] = _mm512_cmpge_epi32_mask(sums[r], _mm512_set1_epi32(limits_[i + r]));
        }
    }

  private:
    static constexpr std::size_t LANES = Panels::LANES;

    // Of four numbers with those of each lane. As an intrinsic, it is surrounded by copies of registers that take as long.
    NEARLY_VNNI static void add_products(__m512i &sums, __m512i panel, const std::int8_t *four) {
        asm("vpdpbusd %2%{1to16%}, %1, %0" : "+v"(sums) : "v"(panel), "m"(*reinterpret_cast<const char(*)[4]>(four)));
    }

    std::size_t width_;
    std::vector<std::int8_t> rows_;
    std::vector<std::uint8_t> panels_;
    std::vector<std::int32_t> limits_, added_;
};
#endif

using RowPairs = std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>>;

// Pairs of a row of one side and a row of the other: `reach` says which of some rows and the sixteen of a panel belong
// together. `within`, both sides are the same rows, and a pair's first row stands before its second.
template <typename Reach>
RowPairs pairs_by_panels(std::size_t mine, std::size_t theirs, bool within, std::size_t work, const Reach &reach) {
    RowPairs found;
    Stop stop;
    alignas(8) GreatOnes reached = {};
    for (std::size_t start = 0; start < mine; start += Panels::GROUP) {  // these rows stay near while panels pass
        const std::size_t end = std::min(start + Panels::GROUP, mine);
        for (std::size_t p = within ? start / Panels::LANES : 0; p * Panels::LANES < theirs; ++p) {
            stop.check((end - start) * work);
            reach(start, end, p, reached);
            for (std::size_t i = start; i < end; ++i) {
                std::uint64_t four;
                std::memcpy(&four, reached + (i - start) / 4 * 4, sizeof four);
                if (four == 0) {  // as most are
                    i |= 3;
                    continue;
                }
                for (std::uint32_t left = reached[i - start]; left != 0; left &= left - 1) {
                    const std::size_t j = p * Panels::LANES + static_cast<std::size_t>(std::countr_zero(left));
                    if (j >= theirs || (within && j <= i)) continue;
                    found.first.push_back(static_cast<std::uint32_t>(i));
                    found.second.push_back(static_cast<std::uint32_t>(j));
                }
            }
        }
    }
    return found;
}

// Pairs whose product is `limit` or more, with what both rows add to it; all sums fit 32 bits.
inline RowPairs great_products(const Rows8 &one, const Rows8 &other, std::int32_t limit, bool within) {
#ifdef NEARLY_VNNI
    if (ByteProducts::runs_here()) return pairs_by_panels(one.count, other.count, within, one.width / 2, ByteProducts(one, other, limit));
#endif
    return pairs_by_panels(one.count, other.count, within, 2 * one.width, WordProducts(one, other, limit));
}

}  // namespace nearly
