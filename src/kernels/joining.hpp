// What joins of any kind of sets check, and how they are asked: for bindings.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <bit>
#include <span>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "arrays.hpp"
#include "join.hpp"

namespace nearly {

inline std::span<const std::uint8_t> checked_rarities(const Column<std::uint8_t> &rarities) {
    if (rarities.size() < 2 || !std::has_single_bit(rarities.size()))
        throw std::invalid_argument("the number of cells must be a power of two");
    if (*std::ranges::max_element(span_of(rarities)) >= RARITIES)
        throw std::invalid_argument("rarities must be those of cell_rarities");
    return span_of(rarities);
}

inline Threshold checked_threshold(std::uint64_t numerator, std::uint64_t denominator, bool of_smaller) {
    if (numerator == 0 || numerator > denominator)
        throw std::invalid_argument("the threshold must be above 0 and at most 1");
    return {numerator, denominator, of_smaller};
}

inline void check_part(const auto &sets, std::size_t start, std::size_t stop) {
    if (start > stop || stop > sets.size()) throw std::invalid_argument("the part reaches past the documents");
}

inline const auto &checked_prepared(const auto &sets) {
    if (!sets.is_prepared()) throw std::invalid_argument("prepare all documents before they are joined");
    return sets;
}

// The pairs of a part of the sets, of an index of whatever kind.
inline auto probed(const auto &index, const auto &sets, std::size_t start, std::size_t stop, std::size_t most) {
    check_part(checked_prepared(sets), start, stop);
    const auto &indexed = index.sets();
    if (index.within() != (&sets == &indexed))
        throw std::invalid_argument("an index serves either its own sets or others");
    if (sets.cells() != indexed.cells() || sets.threshold() != indexed.threshold())
        throw std::invalid_argument("both sides of a join need the same cells and threshold");
    Joined joined;
    {
        nb::gil_scoped_release release;
        joined = join(index, sets, start, stop, most);
    }
    return std::tuple(give(std::move(joined.pairs)), give(std::move(joined.similarities)), joined.met, joined.verified,
                      joined.next);
}

}  // namespace nearly
