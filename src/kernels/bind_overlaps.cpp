// Exact search for Python: an index over sought documents, asked with block after block.

#include <nanobind/stl/tuple.h>

#include <tuple>

#include "arrays.hpp"
#include "bindings.hpp"
#include "numbered_sets.hpp"

namespace nearly {

static auto search_for_python(const SoughtIndex &index, const Column<std::uint32_t> &documents,
                              const Column<std::int64_t> &offsets, const Column<std::uint64_t> &hashes) {
    const NumberedSets many = numbered_sets(documents, offsets, hashes);
    Reached reached;
    {
        nb::gil_scoped_release release;
        reached = search(index, many);
    }
    return std::tuple(give(std::move(reached.sought)), give(std::move(reached.found)),
                      give(std::move(reached.similarities)));
}

static auto counts_for_python(const SoughtIndex &index, const Column<std::uint32_t> &documents,
                              const Column<std::int64_t> &offsets, const Column<std::uint64_t> &hashes,
                              std::size_t bins) {
    const NumberedSets many = numbered_sets(documents, offsets, hashes);
    std::vector<std::uint32_t> counts;
    {
        nb::gil_scoped_release release;
        counts = count_by_similarity(index, many, bins);
    }
    return give(std::move(counts), {index.size(), bins + 1});
}

}  // namespace nearly

void nearly::bind_overlaps(nanobind::module_ &m) {
    namespace nb = nanobind;
    using namespace nb::literals;
    using namespace nearly;

    const auto make = [](SoughtIndex *self, const Column<std::uint32_t> &documents,
                         const Column<std::int64_t> &offsets, const Column<std::uint64_t> &hashes,
                         std::uint64_t numerator, std::uint64_t denominator, bool of_smaller) {
        new (self) SoughtIndex(numbered_sets(documents, offsets, hashes), {numerator, denominator, of_smaller});
    };
    nb::class_<SoughtIndex>(m, "SoughtIndex")
        .def("__init__", make, "documents"_a, "offsets"_a, "hashes"_a, "numerator"_a, "denominator"_a,
             "of_smaller"_a = false)
        .def("search", &search_for_python, "documents"_a, "offsets"_a, "hashes"_a)
        .def("count_by_similarity", &counts_for_python, "documents"_a, "offsets"_a, "hashes"_a, "bins"_a);
}
