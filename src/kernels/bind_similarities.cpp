// Pairs compared exactly, as Python sees it.

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "jaccard.hpp"
#include "similarity.hpp"

namespace nearly {

using Offsets = Column<std::int64_t>;
using Numbers = Column<std::uint32_t>;

static auto similarities(const Offsets &offsets, const Column<std::uint64_t> &hashes, const Numbers &as,
                         const Numbers &bs, std::uint64_t numerator, std::uint64_t denominator, bool of_smaller) {
    check_offsets(span_of(offsets), hashes.size(), "hashes");
    if (as.size() != bs.size()) throw std::invalid_argument("a pair has two documents");
    check_below(span_of(as), offsets.size() - 1);
    check_below(span_of(bs), offsets.size() - 1);
    std::vector<double> all;
    {
        nb::gil_scoped_release release;
        all = similarities_of({span_of(offsets), hashes.data()}, span_of(as), span_of(bs),
                              {numerator, denominator, of_smaller});
    }
    return give(std::move(all));
}

void bind_similarities(nb::module_ &m) {
    using namespace nanobind::literals;
    m.def("similarities", &similarities, "offsets"_a, "hashes"_a, "a"_a, "b"_a, "numerator"_a, "denominator"_a,
          "of_smaller"_a = false);
}

}  // namespace nearly
