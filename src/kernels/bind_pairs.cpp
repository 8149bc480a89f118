// Pairs with their values for Python: in order, and those of copies.

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>

#include <stdexcept>
#include <utility>

#include "arrays.hpp"
#include "bindings.hpp"
#include "pairs.hpp"

namespace nearly {

static auto given(ValuedPairs &&found) { return std::pair(give(std::move(found.pairs)), give(std::move(found.values))); }

static auto sorted_pairs(const Column<std::uint64_t> &pairs, const Column<double> &values) {
    if (pairs.size() != values.size()) throw std::invalid_argument("each pair has one value");
    ValuedPairs sorted;
    {
        nb::gil_scoped_release release;
        sorted = {{pairs.data(), pairs.data() + pairs.size()}, {values.data(), values.data() + values.size()}};
        PairSorter sort(sorted.pairs);
        sort(sorted);
    }
    return given(std::move(sorted));
}

static auto copied_pairs(const Column<std::uint32_t> &first, const Column<std::uint32_t> &second,
                         const Column<double> &values, const Column<std::int64_t> &starts,
                         const Column<std::uint32_t> &copies) {
    if (first.size() != second.size() || first.size() != values.size())
        throw std::invalid_argument("a pair has two documents and a value");
    check_offsets(span_of(starts), copies.size(), "copies");
    for (const auto &documents : {first, second}) check_below(span_of(documents), starts.size() - 1);
    ValuedPairs found;
    {
        nb::gil_scoped_release release;
        found = pairs_of_copies(span_of(first), span_of(second), span_of(values), {span_of(starts), span_of(copies)});
    }
    return given(std::move(found));
}

void bind_pairs(nb::module_ &m) {
    using namespace nanobind::literals;
    m.def("sort_pairs", &sorted_pairs, "pairs"_a, "values"_a);
    m.def("pairs_of_copies", &copied_pairs, "first"_a, "second"_a, "values"_a, "starts"_a, "copies"_a);
}

}  // namespace nearly
