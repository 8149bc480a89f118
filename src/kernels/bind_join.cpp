// The exact join as Python sees it: sets are prepared and probed in parts, each by any thread.

#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "arrays.hpp"
#include "bindings.hpp"
#include "join.hpp"
#include "joining.hpp"

namespace nearly {

// The arrays that a JoinSets looks into, kept alive with it.
struct BoundJoinSets {
    Column<std::int64_t> offsets;
    Column<std::uint64_t> hashes;
    Column<std::uint8_t> rarities;
    JoinSets sets;

    BoundJoinSets(Column<std::int64_t> given_offsets, Column<std::uint64_t> given_hashes,
                  Column<std::uint8_t> given_rarities, std::uint64_t numerator, std::uint64_t denominator, bool of_smaller)
        : offsets(std::move(given_offsets)), hashes(std::move(given_hashes)), rarities(std::move(given_rarities)),
          sets(checked_offsets(), hashes.data(), checked_rarities(rarities),
               checked_threshold(numerator, denominator, of_smaller)) {}

    void prepare(std::size_t start, std::size_t stop) {
        check_part(sets, start, stop);
        sets.prepare(start, stop);
    }

  private:
    std::span<const std::int64_t> checked_offsets() const {
        check_offsets(span_of(offsets), hashes.size(), "hashes");
        return span_of(offsets);
    }
};

struct BoundJoinIndex {
    JoinIndex index;

    BoundJoinIndex(const BoundJoinSets &bound, bool within, std::size_t parts)
        : index(checked_prepared(bound.sets), within, checked_parts(parts)) {}

    void sort(std::size_t part) {
        check_number(part);
        index.sort(part);
    }

    void write(std::size_t part) {
        check_number(part);
        if (!index.is_sorted()) throw std::invalid_argument("sort all parts before one is written");
        index.write(part);
    }

    auto probe(const BoundJoinSets &bound, std::size_t start, std::size_t stop, std::size_t most) const {
        if (!index.is_built()) throw std::invalid_argument("write all parts before sets are looked up");
        return probed(index, bound.sets, start, stop, most);
    }

  private:
    static std::size_t checked_parts(std::size_t parts) {
        if (parts < 1) throw std::invalid_argument("an index has one part at least");
        return parts;
    }
    void check_number(std::size_t part) const {
        if (part >= index.parts()) throw std::invalid_argument("there is no such part");
    }
};

static auto cells_counted(const Column<std::uint64_t> &hashes, unsigned bits) {
    if (bits < 1 || bits > 32) throw std::invalid_argument("bits must be from 1 to 32");
    LargeArray<std::uint32_t> counts;
    {
        nb::gil_scoped_release release;
        counts = count_cells(span_of(hashes), bits);
    }
    return give(std::move(counts));
}

static auto least_hashes(const Column<std::uint64_t> &hashes, std::uint64_t limit) {
    std::vector<std::uint64_t> below;
    {
        nb::gil_scoped_release release;
        below = hashes_below(span_of(hashes), limit);
    }
    return give(std::move(below));
}

void bind_join(nb::module_ &m) {
    using namespace nanobind::literals;
    using Release = nb::call_guard<nb::gil_scoped_release>;
    m.def("count_cells", &cells_counted, "hashes"_a, "bits"_a);
    m.def("hashes_below", &least_hashes, "hashes"_a, "limit"_a);
    m.def("cell_rarities", [](const Column<std::uint32_t> &counts) { return give(cell_rarities(span_of(counts))); },
          "counts"_a);
    nb::class_<BoundJoinSets>(m, "JoinSets")
        .def(nb::init<Column<std::int64_t>, Column<std::uint64_t>, Column<std::uint8_t>, std::uint64_t,
                      std::uint64_t, bool>(),
             "offsets"_a, "hashes"_a, "rarities"_a, "numerator"_a, "denominator"_a, "of_smaller"_a = false)
        .def("prepare", &BoundJoinSets::prepare, "start"_a, "stop"_a, Release())
        .def("__len__", [](const BoundJoinSets &bound) { return bound.sets.size(); });
    nb::class_<BoundJoinIndex>(m, "JoinIndex")
        .def(nb::init<const BoundJoinSets &, bool, std::size_t>(), "sets"_a, "within"_a, "parts"_a, nb::keep_alive<1, 2>())
        .def("sort", &BoundJoinIndex::sort, "part"_a, Release())
        .def("write", &BoundJoinIndex::write, "part"_a, Release())
        .def("probe", &BoundJoinIndex::probe, "sets"_a, "start"_a, "stop"_a,
             "most"_a = std::numeric_limits<std::size_t>::max());
}

}  // namespace nearly
