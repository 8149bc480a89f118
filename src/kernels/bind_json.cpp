// Long objects of JSON, cut and thinned, as Python sees them.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <utility>

#include "arrays.hpp"
#include "bindings.hpp"
#include "json_cut.hpp"
#include "json_thin.hpp"

namespace nearly {

// The next bytes; none where it is at its end.
template <typename Object> static nb::bytes next_of(Object &object, std::size_t enough) {
    std::string found;
    {
        nb::gil_scoped_release release;
        while (found.empty() && object.next(found, enough)) {}
    }
    return nb::bytes(found.data(), found.size());
}

// It reads the column that it is made of.
void bind_json(nb::module_ &m) {
    using namespace nanobind::literals;
    nb::class_<CutObject>(m, "CutObject")
        .def("__init__", [](CutObject *self, const Column<std::uint8_t> &text, std::size_t piece, std::size_t most_names,
                           bool filled, bool first_counts) {
            new (self) CutObject(span_of(text), Cut{piece, most_names, filled, first_counts});
        }, "text"_a, "piece"_a, "most_names"_a, nb::kw_only(), "filled"_a, "first_counts"_a, nb::keep_alive<1, 2>())
        .def("next", &next_of<CutObject>, "enough"_a)
        .def("depths", [](const CutObject &self) { return give(std::vector<std::int32_t>(self.depths())); })
        .def_prop_ro("has_twins", &CutObject::has_twins)
        .def_prop_ro("is_wide", &CutObject::is_wide);
    nb::class_<ThinObject>(m, "ThinObject")
        .def("__init__", [](ThinObject *self, const Column<std::uint8_t> &text, std::size_t kept) {
            new (self) ThinObject(span_of(text), kept);
        }, "text"_a, "kept"_a, nb::keep_alive<1, 2>())
        .def("next", &next_of<ThinObject>, "enough"_a)
        .def_prop_ro("places", [](const ThinObject &self) {
            nb::list found;
            for (const ThinObject::Place &place : self.places()) found.append(nb::make_tuple(place.path, place.fewest));
            return found;
        });
}

}  // namespace nearly
