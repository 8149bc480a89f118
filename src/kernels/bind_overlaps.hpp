// Exact search for Python: an index over sought documents, asked with block after block.
#pragma once

#include <nanobind/stl/tuple.h>

#include <tuple>

#include "arrays.hpp"
#include "overlaps.hpp"

namespace nearly {

inline NumberedSets numbered_sets(const Column<std::uint32_t> &documents, const Column<std::int64_t> &offsets,
                                  const Column<std::uint64_t> &hashes) {
    if (offsets.size() != documents.size() + 1)
        throw std::invalid_argument("offsets must have one entry more than there are documents");
    check_offsets(span_of(offsets), hashes.size(), "hashes");
    return {span_of(documents), span_of(offsets), span_of(hashes)};
}

inline auto search_for_python(const SoughtIndex &index, const Column<std::uint32_t> &documents,
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

inline auto counts_for_python(const SoughtIndex &index, const Column<std::uint32_t> &documents,
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

inline void bind_overlaps(nanobind::module_ &m) {
    namespace nb = nanobind;
    using namespace nb::literals;
    using namespace nearly;

    const auto make = [](SoughtIndex *self, const Column<std::uint32_t> &documents,
                         const Column<std::int64_t> &offsets, const Column<std::uint64_t> &hashes,
                         std::uint64_t numerator, std::uint64_t denominator) {
        new (self) SoughtIndex(numbered_sets(documents, offsets, hashes), {numerator, denominator});
    };
    nb::class_<SoughtIndex>(m, "SoughtIndex")
        .def("__init__", make, "documents"_a, "offsets"_a, "hashes"_a, "numerator"_a, "denominator"_a)
        .def("search", &search_for_python, "documents"_a, "offsets"_a, "hashes"_a)
        .def("count_by_similarity", &counts_for_python, "documents"_a, "offsets"_a, "hashes"_a, "bins"_a);
}
