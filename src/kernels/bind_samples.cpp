// Samples as Python sees them: drawn from sets, and an index of them that is asked with block after block.

#include <nanobind/stl/tuple.h>

#include <stdexcept>
#include <tuple>
#include <utility>

#include "arrays.hpp"
#include "bindings.hpp"
#include "numbered_sets.hpp"
#include "samples.hpp"

namespace nearly {

static auto samples_drawn(const Column<std::int64_t> &offsets, const Column<std::uint64_t> &hashes, std::uint64_t seed,
                          std::size_t count) {
    check_offsets(span_of(offsets), hashes.size(), "hashes");
    const std::size_t documents = offsets.size() - 1;
    std::vector<std::uint32_t> keys(documents * count);
    {
        nb::gil_scoped_release release;
        Drawer draw(seed);
        Stop stop;
        for (std::size_t i = 0; i < documents; ++i) {
            const Set set(hashes.data() + offsets.data()[i], hashes.data() + offsets.data()[i + 1]);
            stop.check(8 * set.size());
            draw(set, std::span(keys).subspan(i * count, count));
        }
    }
    return give(std::move(keys), {documents, count});
}

static Samples checked_samples(const Column<std::uint32_t> &documents, const Column<std::uint32_t> &sizes,
                               const Column<std::uint32_t> &least, const Matrix<std::uint32_t> &keys) {
    if (sizes.size() != documents.size() || least.size() != documents.size() || keys.shape(0) != documents.size())
        throw std::invalid_argument("each document has a size, a least number and a row of keys");
    return {span_of(documents), span_of(sizes), span_of(least), span_of(keys)};
}

static auto probe_for_python(const SampleIndex &index, const Column<std::uint32_t> &documents,
                             const Column<std::int64_t> &offsets, const Column<std::uint64_t> &hashes) {
    const NumberedSets many = numbered_sets(documents, offsets, hashes);
    Found found;
    {
        nb::gil_scoped_release release;
        found = index.probe(many);
    }
    return std::tuple(give(std::move(found.pairs)), found.met);
}

void bind_samples(nb::module_ &m) {
    using namespace nanobind::literals;
    const auto make = [](SampleIndex *self, const Column<std::uint32_t> &documents, const Column<std::uint32_t> &sizes,
                         const Column<std::uint32_t> &least, const Matrix<std::uint32_t> &keys, std::uint64_t seed) {
        const Samples samples = checked_samples(documents, sizes, least, keys);
        nb::gil_scoped_release release;
        new (self) SampleIndex(samples, seed);
    };
    m.def("draw_samples", &samples_drawn, "offsets"_a, "hashes"_a, "seed"_a, "count"_a);
    nb::class_<SampleIndex>(m, "SampleIndex")
        .def("__init__", make, "documents"_a, "sizes"_a, "least"_a, "keys"_a, "seed"_a)
        .def("probe", &probe_for_python, "documents"_a, "offsets"_a, "hashes"_a);
}

}  // namespace nearly
