// Products of short whole-number vectors by tiles: registers of sixteen rows of 64 bytes, of which two are multiplied with
// each other in one step (AMX). That is some eight times as fast as rows that are multiplied with registers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "hashing.hpp"
#include "panels.hpp"

#if defined(NEARLY_AVX2) && defined(__linux__) && __has_include(<amxint8intrin.h>)
#include <sys/syscall.h>
#include <unistd.h>

#include <cpuid.h>

#define NEARLY_TILES __attribute__((target("avx512f,avx512bw,amx-tile,amx-int8")))
#endif

namespace nearly {

#ifdef NEARLY_TILES

// Whether the processor has tiles. Linux keeps their room from a process until it is asked for; where it refuses, they are
// done without.
inline bool has_tiles() {
    constexpr unsigned TILES_OF_BYTES = 3u << 24;       // two bits of the processor's list of abilities
    constexpr long ASK_FOR = 0x1023, TILE_NUMBERS = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
    unsigned a, b, c, d;
    if (!__builtin_cpu_supports("avx512bw") || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
    return (d & TILES_OF_BYTES) == TILES_OF_BYTES && syscall(SYS_arch_prctl, ASK_FOR, TILE_NUMBERS) == 0;
}

// Rows, and panels of sixteen rows, four numbers of each at a time; missing numbers are zeros. Four tiles of rows meet a panel
// together, and their sums are four more tiles.
class TileProducts {
  public:
    TileProducts(const Rows8 &one, const Rows8 &other, std::int32_t limit)
        : tiles_((one.width + BYTES - 1) / BYTES), rows_(rounded_up(one.count, 4 * LANES) * tiles_ * BYTES),
          panels_(rounded_up(other.count, LANES) * tiles_ * BYTES), limits_(rounded_up(one.count, 4 * LANES)),
          added_(rounded_up(other.count, LANES)) {
        for (std::size_t i = 0; i < one.count; ++i) {
            for (std::size_t k = 0; k < one.width; ++k) rows_[tile(i, k) + i % LANES * BYTES + k % BYTES] = one[i][k];
            limits_[i] = limit - one.added(i);
        }
        for (std::size_t i = 0; i < other.count; ++i) {
            added_[i] = other.added(i);
            for (std::size_t k = 0; k < other.width; ++k)
                panels_[tile(i, k) + k % BYTES / 4 * BYTES + i % LANES * 4 + k % 4] = other[i][k];
        }
    }

    static bool run_here() {
        static const bool has = has_tiles();
        return has;
    }

    NEARLY_TILES ~TileProducts() { _tile_release(); }
    TileProducts(const TileProducts &) = delete;

    // Says how large each tile is: these are registers of the thread.
    NEARLY_TILES void get_ready() const {
        static constexpr Shapes SHAPES;
        _tile_loadconfig(&SHAPES);
    }

    NEARLY_TILES void operator()(std::size_t start, std::size_t end, std::size_t panel, GreatOnes &reached) const {
        alignas(64) std::int32_t sums[2][4 * LANES * LANES];
        const bool more = start + 4 * LANES < end;
        multiply(start, panel, sums[0]);
        if (more) multiply(start + 4 * LANES, panel, sums[1]);
        const std::int32_t *const added = added_.data() + panel * LANES;
        compare(sums[0], added, limits_.data() + start, reached);
        if (more) compare(sums[1], added, limits_.data() + start + 4 * LANES, reached + 4 * LANES);

    }

  private:
    static constexpr std::size_t LANES = Panels::LANES, BYTES = 64;

    struct alignas(64) Shapes {
        std::uint8_t palette = 1, start = 0, reserved[14] = {};
        std::uint16_t bytes[16] = {BYTES, BYTES, BYTES, BYTES, BYTES, BYTES, BYTES, BYTES};
        std::uint8_t rows[16] = {LANES, LANES, LANES, LANES, LANES, LANES, LANES, LANES};
    };

    std::size_t tiles_;  // of a row
    std::vector<std::int8_t> rows_, panels_;
    std::vector<std::int32_t> limits_, added_;

    static std::size_t rounded_up(std::size_t count, std::size_t step) { return (count + step - 1) / step * step; }
    std::size_t tile(std::size_t row, std::size_t k) const { return (row / LANES * tiles_ + k / BYTES) * LANES * BYTES; }

    // The products of 64 rows with a panel.
    NEARLY_TILES void multiply(std::size_t row, std::size_t panel, std::int32_t *sums) const {
        const std::size_t next = tiles_ * LANES * BYTES;
        const std::int8_t *rows = rows_.data() + row / LANES * next, *numbers = panels_.data() + panel * next;
        _tile_zero(0);
        _tile_zero(1);
        _tile_zero(2);
        _tile_zero(3);
        for (std::size_t k = 0; k < tiles_; ++k, rows += LANES * BYTES, numbers += LANES * BYTES) {
            _tile_loadd(4, numbers, BYTES);
            _tile_loadd(5, rows, BYTES);
            _tile_dpbssd(0, 5, 4);
            _tile_loadd(6, rows + next, BYTES);
            _tile_dpbssd(1, 6, 4);
            _tile_loadd(7, rows + 2 * next, BYTES);
            _tile_dpbssd(2, 7, 4);
            _tile_loadd(5, rows + 3 * next, BYTES);
            _tile_dpbssd(3, 5, 4);
        }
        _tile_stored(0, sums, BYTES);
        _tile_stored(1, sums + LANES * LANES, BYTES);
        _tile_stored(2, sums + 2 * LANES * LANES, BYTES);
        _tile_stored(3, sums + 3 * LANES * LANES, BYTES);
    }

    // Sums that begin with what is added would take longer: a tile is loaded as slowly as another is multiplied.
    NEARLY_TILES static void compare(const std::int32_t *sums, const std::int32_t *added, const std::int32_t *limits, std::uint16_t *reached) {
        const __m512i more = _mm512_loadu_si512(added);
        for (std::size_t i = 0; i < 4 * LANES; ++i) {
            const __m512i whole = _mm512_add_epi32(more, _mm512_load_si512(sums + i * LANES));
            reached[i] = _mm512_cmpge_epi32_mask(whole, _mm512_set1_epi32(limits[i]));
        }
    }
};
#endif

}  // namespace nearly
