// Hashes that are in many documents, as Python sees them: first suspected, then counted, then dropped.

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>

#include <stdexcept>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "frequency.hpp"
#include "hash_index.hpp"
#include "tally.hpp"

namespace nearly {

static Frequency *frequency_of(std::uint64_t numerator, std::uint64_t denominator) {
    if (denominator == 0) throw std::invalid_argument("a share needs a denominator");
    return new Frequency(numerator, denominator);
}

static void add_sets(Frequency &frequency, const Column<std::int64_t> &offsets, const Column<std::uint64_t> &hashes) {
    check_offsets(span_of(offsets), hashes.size(), "hashes");
    nb::gil_scoped_release release;
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i)
        frequency.add({hashes.data() + offsets.data()[i], hashes.data() + offsets.data()[i + 1]});
}

static auto counts_of(const HashIndex &index, const Column<std::uint64_t> &hashes) {
    std::vector<std::uint32_t> counts(index.size());
    {
        nb::gil_scoped_release release;
        index.count(span_of(hashes), counts);
    }
    return give(std::move(counts));
}

static auto given(Tally &&tally) { return std::pair(give(std::move(tally.hashes)), give(std::move(tally.counts))); }

static auto tally_of(const Column<std::uint64_t> &hashes) {
    Tally tally;
    {
        nb::gil_scoped_release release;
        tally = count_hashes({hashes.data(), hashes.data() + hashes.size()});
    }
    return given(std::move(tally));
}

static auto tallies_merged(const Column<std::uint64_t> &a, const Column<std::uint32_t> &counts_a,
                           const Column<std::uint64_t> &b, const Column<std::uint32_t> &counts_b) {
    if (a.size() != counts_a.size() || b.size() != counts_b.size())
        throw std::invalid_argument("each hash has one count");
    Tally merged;
    {
        nb::gil_scoped_release release;
        merged = merge_tallies({span_of(a), span_of(counts_a)}, {span_of(b), span_of(counts_b)});
    }
    return given(std::move(merged));
}

void bind_frequency(nb::module_ &m) {
    using namespace nanobind::literals;
    nb::class_<HashIndex>(m, "HashIndex")
        .def(nb::new_([](const Column<std::uint64_t> &hashes) { return new HashIndex(span_of(hashes)); }), "hashes"_a)
        .def("count", &counts_of, "hashes"_a)
        .def("__len__", &HashIndex::size);
    m.def("count_hashes", &tally_of, "hashes"_a);
    m.def("merge_tallies", &tallies_merged, "a"_a, "counts_a"_a, "b"_a, "counts_b"_a);
    nb::class_<Frequency>(m, "Frequency")
        .def(nb::new_(&frequency_of), "numerator"_a, "denominator"_a)
        .def("add", &add_sets, "offsets"_a, "hashes"_a)
        .def("suspects", [](const Frequency &frequency) { return give(frequency.suspects()); })
        .def_prop_ro("room", &Frequency::room);
}

}  // namespace nearly
