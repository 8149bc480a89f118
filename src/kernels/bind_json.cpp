// Long objects of JSON, cut, as Python sees them.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <utility>

#include "arrays.hpp"
#include "bindings.hpp"
#include "json_cut.hpp"

namespace nearly {

// It reads the column that it is made of.
void bind_json(nb::module_ &m) {
    using namespace nanobind::literals;
    nb::class_<CutObject>(m, "CutObject")
        .def("__init__", [](CutObject *self, const Column<std::uint8_t> &text, std::size_t piece, std::size_t most_names,
                           bool filled, bool first_counts, const std::vector<std::string> &left_out) {
            Cut cut{piece, most_names, filled, first_counts};
            for (const std::string &name : left_out)
                cut.left_out.push_back(hash_of_name({reinterpret_cast<const std::uint8_t *>(name.data()), name.size()}));
            new (self) CutObject(span_of(text), std::move(cut));
        }, "text"_a, "piece"_a, "most_names"_a, nb::kw_only(), "filled"_a, "first_counts"_a, "left_out"_a, nb::keep_alive<1, 2>())
        .def("next", [](CutObject &self, std::size_t enough) {
            std::string found;
            {
                nb::gil_scoped_release release;
                while (found.empty() && self.next(found, enough)) {}
            }
            return nb::bytes(found.data(), found.size());
        }, "enough"_a)
        .def("depths", [](const CutObject &self) { return give(std::vector<std::int32_t>(self.depths())); })
        .def_prop_ro("unsettled", &CutObject::unsettled)
        .def_prop_ro("names", &CutObject::names)
        .def_prop_ro("has_twins", &CutObject::has_twins);
}

}  // namespace nearly
