// Edit distances for Python: texts as code points, joined by the segments that they share.

#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "arrays.hpp"
#include "bindings.hpp"
#include "edit_index.hpp"

namespace nearly {

static Allowance allowance_of(std::uint64_t edits, std::uint64_t numerator, std::uint64_t denominator) {
    if (std::max(edits, denominator) > std::numeric_limits<std::uint32_t>::max() || numerator > denominator || denominator == 0)
        throw std::invalid_argument("edits are allowed as a number and as a share, in 32 bits each");
    return {edits, numerator, denominator};
}

struct BoundEditIndex {
    EditIndex index;

    BoundEditIndex(const EditTexts &texts, std::uint64_t edits, std::uint64_t numerator, std::uint64_t denominator)
        : index(texts, allowance_of(edits, numerator, denominator)) {}

    auto probe(const EditTexts &probed, std::size_t start, std::size_t stop, std::size_t most) const {
        if (start > stop || stop > probed.size()) throw std::invalid_argument("the part reaches past the texts");
        EditPairs found;
        {
            nb::gil_scoped_release release;
            found = EditProbe(index, probed)(start, stop, most);
        }
        return std::tuple(give(std::move(found.pairs)), give(std::move(found.distances)), found.met, found.verified,
                          found.next);
    }
};

static auto distances_of(const EditTexts &texts, const Column<std::uint32_t> &first,
                         const Column<std::uint32_t> &second, std::uint64_t edits, std::uint64_t numerator,
                         std::uint64_t denominator) {
    if (first.size() != second.size()) throw std::invalid_argument("each pair needs two texts");
    check_below(span_of(first), texts.size());
    check_below(span_of(second), texts.size());
    const Allowance allowed = allowance_of(edits, numerator, denominator);
    std::vector<std::uint32_t> found;
    {
        nb::gil_scoped_release release;
        found = edit_distances(texts, span_of(first), span_of(second), allowed);
    }
    return give(std::move(found));
}

void bind_edit(nb::module_ &m) {
    using namespace nanobind::literals;
    using Release = nb::call_guard<nb::gil_scoped_release>;
    nb::class_<EditTexts>(m, "EditTexts")
        .def("__init__",
             [](EditTexts *self, const Column<std::int64_t> &offsets, const Column<std::uint8_t> &data) {
                 const Texts texts = texts_of(offsets, data);
                 nb::gil_scoped_release release;
                 new (self) EditTexts(texts);
             },
             "offsets"_a, "data"_a)
        .def("__len__", &EditTexts::size)
        .def_prop_ro("lengths", [](const EditTexts &texts) { return give(std::vector(texts.lengths())); },
                     nb::rv_policy::move);
    nb::class_<BoundEditIndex>(m, "EditIndex")
        .def(nb::init<const EditTexts &, std::uint64_t, std::uint64_t, std::uint64_t>(), "texts"_a, "edits"_a,
             "numerator"_a, "denominator"_a, nb::keep_alive<1, 2>(), Release())
        .def("probe", &BoundEditIndex::probe, "texts"_a, "start"_a, "stop"_a,
             "most"_a = std::numeric_limits<std::size_t>::max());
    m.def("edit_distances", &distances_of, "texts"_a, "first"_a, "second"_a, "edits"_a, "numerator"_a,
          "denominator"_a);
}

}  // namespace nearly
