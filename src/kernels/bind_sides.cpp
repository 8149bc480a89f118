// Candidates across a border, as Python sees them.

#include <nanobind/stl/pair.h>

#include <stdexcept>
#include <utility>

#include "arrays.hpp"
#include "bindings.hpp"
#include "sides.hpp"

namespace nearly {

static Sides sides_of(std::size_t old_end, std::size_t new_start, std::size_t documents, std::size_t hubs) {
    if (old_end > new_start || new_start > documents)
        throw std::invalid_argument("documents stand in the order old, both, new");
    if (hubs && new_start != documents)
        throw std::invalid_argument("hubs go with no document of the new side only");
    return {old_end, new_start};
}

static auto sided_candidates_of_band(const Column<std::uint32_t> &keys, const Column<std::uint32_t> &documents,
                                     const Matrix<std::uint64_t> &sketches, unsigned bits,
                                     std::uint32_t most_different, std::size_t hubs, std::size_t old_end,
                                     std::size_t new_start, std::uint64_t low, std::uint64_t high) {
    if (keys.size() != documents.size()) throw std::invalid_argument("each document needs one key");
    if (bits != 1 && bits != 2) throw std::invalid_argument("a sketch has 1 or 2 bits per position");
    check_below(span_of(documents), sketches.shape(0));
    const Sides sides = sides_of(old_end, new_start, documents.size(), hubs);
    Candidates found;
    {
        nb::gil_scoped_release release;
        found = sided_candidates(span_of(keys), span_of(documents), {span_of(sketches), sketches.shape(1), bits},
                                 most_different, hubs, sides, {low, high});
    }
    return std::pair(give(std::move(found.pairs)), found.compared);
}

static auto sided_crowd_of_band(const Column<std::uint32_t> &keys, std::size_t hubs, std::size_t old_end,
                                std::size_t new_start) {
    const Sides sides = sides_of(old_end, new_start, keys.size(), hubs);
    Crowd crowd;
    {
        nb::gil_scoped_release release;
        crowd = sided_crowd(span_of(keys), hubs, sides);
    }
    return std::pair(give(std::move(crowd.followers)), crowd.largest);
}

void bind_sides(nb::module_ &m) {
    using namespace nanobind::literals;
    m.def("sided_candidates", &sided_candidates_of_band, "keys"_a, "documents"_a, "sketches"_a, "bits"_a,
          "most_different"_a, "hubs"_a, "old_end"_a, "new_start"_a, "low"_a = 0, "high"_a = 1ull << 32);
    m.def("sided_crowd", &sided_crowd_of_band, "keys"_a, "hubs"_a, "old_end"_a, "new_start"_a);
}

}  // namespace nearly
