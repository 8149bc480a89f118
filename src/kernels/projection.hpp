// Vectors laid on random lines that are cut into cells: the number of the cell is what a signature keeps (Datar and
// others, 2004). Which lines they are is the caller's to say.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "distance.hpp"
#include "hashing.hpp"
#include "rotation.hpp"
#include "stop.hpp"

namespace nearly {

// One line for each position: its direction, and by what part of a cell its cells are shifted.
struct Lines {
    Vectors<double> directions;
    const double *shifts;
    double width;  // of a cell

    // The cell of a place on a line; beyond 2^62 all are one.
    std::int64_t cell(double place, std::size_t line) const {
        constexpr double FAR = 4611686018427387904.0;
        const double cell = std::floor(place / width + shifts[line]);
        return cell >= FAR ? std::int64_t{1} << 62 : cell > -FAR ? static_cast<std::int64_t>(cell) : -(std::int64_t{1} << 62);
    }
};

// The cells of each vector on all lines, as keys of bands; a sketch has the parity of the first `kept` cells.
template <typename Number>
SignedBits project_vectors(const Vectors<Number> &vectors, const Lines &lines, std::size_t bands, std::size_t rows, std::size_t kept) {
    constexpr std::size_t TOGETHER = 16;  // vectors that stay near while lines pass
    const std::size_t length = vectors.length, positions = bands * rows, sketch = (kept + 63) / 64;
    SignedBits made{std::vector<std::uint32_t>(vectors.count * bands), std::vector<std::uint64_t>(vectors.count * sketch)};
    std::vector<double> near(TOGETHER * length);
    std::vector<std::uint64_t> hashes(TOGETHER);
    Stop stop;
    for (std::size_t first = 0; first < vectors.count; first += TOGETHER) {
        const std::size_t here = std::min(TOGETHER, vectors.count - first);
        std::copy_n(vectors[first], here * length, near.begin());
        for (std::size_t p = 0; p < positions; ++p) {
            stop.check(here * length);
            for (std::size_t v = 0; v < here; ++v) {
                const auto cell = static_cast<std::uint64_t>(
                    lines.cell(product_of(near.data() + v * length, lines.directions[p], length), p));
                hashes[v] = mix((p % rows == 0 ? rows : hashes[v]) * GOLDEN ^ cell);
                if (p % rows + 1 == rows) made.keys[(first + v) * bands + p / rows] = static_cast<std::uint32_t>(hashes[v] >> 32);
                if (p < kept) made.sketches[(first + v) * sketch + p / 64] |= (cell & 1) << (p % 64);
            }
        }
    }
    return made;
}

}  // namespace nearly
