// Meetings in buckets as Python sees them: bands are added, and ranges of documents asked for, each by any thread.

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>

#include <stdexcept>
#include <utility>

#include "arrays.hpp"
#include "bindings.hpp"
#include "meetings.hpp"

namespace nearly {

static auto add_band(Meetings &meetings, std::size_t band, const Column<std::uint32_t> &keys, std::size_t hubs) {
    if (band >= meetings.bands() || keys.size() != meetings.documents())
        throw std::invalid_argument("each document needs one key of a band");
    Crowd crowd;
    {
        nb::gil_scoped_release release;
        crowd = meetings.add(band, span_of(keys), hubs);
    }
    return std::pair(give(std::move(crowd.followers)), crowd.largest);
}

static auto met_candidates(const Meetings &meetings, const Column<std::uint32_t> &documents, const Matrix<std::uint64_t> &sketches,
                           unsigned bits, std::uint32_t most_different, std::size_t low, std::size_t high) {
    if (documents.size() != meetings.documents()) throw std::invalid_argument("each document needs one number");
    if (bits != 1 && bits != 2) throw std::invalid_argument("a sketch has 1 or 2 bits per position");
    if (low > high || high > documents.size()) throw std::invalid_argument("a range must lie among the documents");
    check_below(span_of(documents), sketches.shape(0));
    Candidates found;
    {
        nb::gil_scoped_release release;
        found = meetings.candidates(low, high, span_of(documents), {span_of(sketches), sketches.shape(1), bits}, most_different);
    }
    return std::pair(give(std::move(found.pairs)), found.compared);
}

static Meetings *new_meetings(std::size_t documents, std::size_t bands) {
    if (documents >= Meetings::MOST_DOCUMENTS) throw std::invalid_argument("there are too many documents");
    return new Meetings(documents, bands);
}

void bind_meetings(nb::module_ &m) {
    using namespace nanobind::literals;
    nb::class_<Meetings>(m, "Meetings")
        .def(nb::new_(&new_meetings), "documents"_a, "bands"_a)
        .def("add", &add_band, "band"_a, "keys"_a, "hubs"_a)
        .def("candidates", &met_candidates, "documents"_a, "sketches"_a, "bits"_a, "most_different"_a, "low"_a, "high"_a);
}

}  // namespace nearly
