// The exact join as Python sees it: sets are prepared and probed in parts, each by any thread.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "arrays.hpp"
#include "join.hpp"

namespace nearly {

// The arrays that a JoinSets looks into, kept alive with it.
struct BoundJoinSets {
    Column<std::int64_t> offsets;
    Column<std::uint64_t> hashes;
    Column<std::uint8_t> rarities;
    JoinSets sets;

    BoundJoinSets(Column<std::int64_t> given_offsets, Column<std::uint64_t> given_hashes,
                  Column<std::uint8_t> given_rarities, std::uint64_t numerator, std::uint64_t denominator)
        : offsets(std::move(given_offsets)), hashes(std::move(given_hashes)), rarities(std::move(given_rarities)),
          sets(checked_offsets(), hashes.data(), checked_rarities(), checked_threshold(numerator, denominator)) {}

    void prepare(std::size_t start, std::size_t stop) {
        check_part(start, stop);
        sets.prepare(start, stop);
    }

    void check_part(std::size_t start, std::size_t stop) const {
        if (start > stop || stop > sets.size()) throw std::invalid_argument("the part reaches past the documents");
    }

  private:
    std::span<const std::int64_t> checked_offsets() const {
        check_offsets(span_of(offsets), hashes.size(), "hashes");
        return span_of(offsets);
    }

    std::span<const std::uint8_t> checked_rarities() const {
        if (rarities.size() < 2 || !std::has_single_bit(rarities.size()))
            throw std::invalid_argument("the number of cells must be a power of two");
        if (*std::ranges::max_element(span_of(rarities)) >= RARITIES)
            throw std::invalid_argument("rarities must be those of cell_rarities");
        return span_of(rarities);
    }

    static Threshold checked_threshold(std::uint64_t numerator, std::uint64_t denominator) {
        if (numerator == 0 || numerator > denominator)
            throw std::invalid_argument("the threshold must be above 0 and at most 1");
        return {numerator, denominator};
    }
};

struct BoundJoinIndex {
    JoinIndex index;

    BoundJoinIndex(const BoundJoinSets &bound, bool within) : index(checked(bound), within) {}

    auto probe(const BoundJoinSets &bound, std::size_t start, std::size_t stop, std::size_t most) const {
        bound.check_part(start, stop);
        const JoinSets &sets = checked(bound), &indexed = index.sets();
        if (index.within() != (&sets == &indexed))
            throw std::invalid_argument("an index serves either its own sets or others");
        if (sets.cells() != indexed.cells() || !same(sets.threshold(), indexed.threshold()))
            throw std::invalid_argument("both sides of a join need the same cells and threshold");
        Joined joined;
        {
            nb::gil_scoped_release release;
            joined = join(index, sets, start, stop, most);
        }
        return std::tuple(give(std::move(joined.pairs)), give(std::move(joined.similarities)), joined.met,
                          joined.verified, joined.next);
    }

  private:
    static bool same(Threshold a, Threshold b) {
        return a.numerator == b.numerator && a.denominator == b.denominator;
    }

    static const JoinSets &checked(const BoundJoinSets &bound) {
        if (!bound.sets.is_prepared()) throw std::invalid_argument("prepare all documents before they are joined");
        return bound.sets;
    }
};

static auto cells_counted(const Column<std::uint64_t> &hashes, unsigned bits) {
    if (bits < 1 || bits > 32) throw std::invalid_argument("bits must be from 1 to 32");
    std::vector<std::uint32_t> counts;
    {
        nb::gil_scoped_release release;
        counts = count_cells(span_of(hashes), bits);
    }
    return give(std::move(counts));
}

inline void bind_join(nb::module_ &m) {
    using namespace nanobind::literals;
    using Release = nb::call_guard<nb::gil_scoped_release>;
    m.def("count_cells", &cells_counted, "hashes"_a, "bits"_a);
    m.def("cell_rarities", [](const Column<std::uint32_t> &counts) { return give(cell_rarities(span_of(counts))); },
          "counts"_a);
    nb::class_<BoundJoinSets>(m, "JoinSets")
        .def(nb::init<Column<std::int64_t>, Column<std::uint64_t>, Column<std::uint8_t>, std::uint64_t,
                      std::uint64_t>(),
             "offsets"_a, "hashes"_a, "rarities"_a, "numerator"_a, "denominator"_a)
        .def("prepare", &BoundJoinSets::prepare, "start"_a, "stop"_a, Release())
        .def("__len__", [](const BoundJoinSets &bound) { return bound.sets.size(); });
    nb::class_<BoundJoinIndex>(m, "JoinIndex")
        .def(nb::init<const BoundJoinSets &, bool>(), "sets"_a, "within"_a, nb::keep_alive<1, 2>(), Release())
        .def("probe", &BoundJoinIndex::probe, "sets"_a, "start"_a, "stop"_a,
             "most"_a = std::numeric_limits<std::size_t>::max());
}

}  // namespace nearly
