// Which products of short whole-number vectors reach a limit: all rows of one matrix with all of another.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "hashing.hpp"
#include "panels.hpp"
#include "tile_product.hpp"

// Products of four bytes and their sum in one step.
#ifdef NEARLY_AVX2
#define NEARLY_VNNI __attribute__((target("avx512f,avx512bw,avx512vnni")))
#endif

namespace nearly {

// Numbers of 16 bits: sixteen rows side by side, two numbers of each at a time; missing ones are zeros.
class WordProducts {
  public:
    WordProducts(const Rows8 &one, const Rows8 &other, std::int32_t limit, bool is_wide)
        : is_wide_(is_wide), width_(one.width), limit_(limit), one_(one), rows_(one.count * width_), panels_(Panels::rounded_up(other.count) * width_),
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

    bool is_wide_;
    std::size_t width_;
    std::int32_t limit_;
    Rows8 one_;
    std::vector<std::int16_t> rows_, panels_;
    std::vector<std::int32_t> added_;

    void multiply(const std::size_t at[4], std::size_t panel, std::uint16_t *reached) const {
#ifdef NEARLY_AVX2
        if (is_wide_) return multiply_wide(at, panel, reached);
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

    static bool run_here() { return __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw"); }

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

// Ways to work out the same products. The later ones are faster, and run on fewer machines.
enum class Way { plain, words, bytes, tiles };
inline constexpr Way WAYS[] = {Way::plain, Way::words, Way::bytes, Way::tiles};

inline bool runs_here(Way way) {
#ifdef NEARLY_TILES
    if (way == Way::tiles) return TileProducts::run_here();
#endif
#ifdef NEARLY_VNNI
    if (way == Way::bytes) return ByteProducts::run_here();
#endif
#ifdef NEARLY_AVX2
    if (way == Way::words) return __builtin_cpu_supports("avx2");
#endif
    return way == Way::plain;
}

inline Way fastest_way() {
    Way fastest = Way::plain;
    for (const Way way : WAYS)
        if (runs_here(way)) fastest = way;
    return fastest;
}

// Pairs whose product is `limit` or more, with what both rows add to it; all sums fit 32 bits. `way` has to run here.
inline RowPairs great_products(const Rows8 &one, const Rows8 &other, std::int32_t limit, bool within, Way way = fastest_way()) {
#ifdef NEARLY_TILES
    if (way == Way::tiles) return pairs_by_panels(one.count, other.count, within, one.width / 8, TileProducts(one, other, limit));
#endif
#ifdef NEARLY_VNNI
    if (way == Way::bytes) return pairs_by_panels(one.count, other.count, within, one.width / 2, ByteProducts(one, other, limit));
#endif
    return pairs_by_panels(one.count, other.count, within, 2 * one.width, WordProducts(one, other, limit, way == Way::words));
}

}  // namespace nearly
