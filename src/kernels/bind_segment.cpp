// Segments of an index as Python sees them: a file that is mapped, and asked.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <stdexcept>
#include <tuple>
#include <utility>

#include "arrays.hpp"
#include "bindings.hpp"
#include "digest_order.hpp"
#include "mapped_segment.hpp"

namespace nearly {

static auto sums_of_pages(const Column<std::uint8_t> &data) {
    std::vector<std::uint64_t> sums(count_pages(data.size()));
    {
        nb::gil_scoped_release release;
        for (std::size_t page = 0; page < sums.size(); ++page) sums[page] = page_sum(span_of(data), page);
    }
    return give(std::move(sums));
}

static auto band_in_order(const Column<std::uint32_t> &keys, const Column<std::uint32_t> &owners) {
    if (keys.size() != owners.size()) throw std::invalid_argument("each key needs its owner");
    std::vector<std::uint32_t> sorted(keys.size()), whose(keys.size());
    {
        nb::gil_scoped_release release;
        const std::vector<std::uint64_t> entries = sort_by_key(span_of(keys), span_of(owners));
        for (std::size_t i = 0; i < entries.size(); ++i) {
            sorted[i] = static_cast<std::uint32_t>(entries[i] >> 32);
            whose[i] = static_cast<std::uint32_t>(entries[i]);
        }
    }
    return std::pair(give(std::move(sorted)), give(std::move(whose)));
}

static auto bands_in_order(const Matrix<std::uint32_t> &keys, const Column<std::uint32_t> &rows,
                           const Column<std::uint32_t> &owners, std::size_t from_band, std::size_t to_band) {
    if (rows.size() != owners.size()) throw std::invalid_argument("each row needs its owner");
    if (from_band > to_band || to_band > keys.shape(1)) throw std::invalid_argument("there is no such band");
    check_below(span_of(rows), keys.shape(0));
    std::vector<std::uint32_t> runs;
    {
        nb::gil_scoped_release release;
        runs = sort_bands(span_of(keys), keys.shape(1), span_of(rows), span_of(owners), from_band, to_band);
    }
    return give(std::move(runs));
}

static auto order_of_digests(const Matrix<std::uint64_t> &digests) {
    if (digests.shape(1) != 2) throw std::invalid_argument("a digest is two words");
    if (digests.shape(0) > std::numeric_limits<std::uint32_t>::max()) throw std::invalid_argument("too many digests");
    std::vector<std::uint32_t> order;
    {
        nb::gil_scoped_release release;
        order = digest_order({reinterpret_cast<const Content *>(digests.data()), digests.shape(0)});
    }
    return give(std::move(order));
}

static auto meetings_for_python(const MappedSegment &mapped, const Matrix<std::uint32_t> &keys, std::size_t from_band,
                                std::size_t to_band, std::size_t most, const Column<std::uint8_t> &dead) {
    if (keys.shape(1) != mapped.segment.bands()) throw std::invalid_argument("each question needs a key for each band");
    if (from_band > to_band || to_band > keys.shape(1)) throw std::invalid_argument("there is no such band");
    Met found;
    {
        nb::gil_scoped_release release;
        found = mapped.segment.meet({span_of(keys), keys.shape(0), keys.shape(1)}, from_band, to_band, most,
                                    span_of(dead), waits_for_pages());
    }
    return std::tuple(give(std::move(found.pairs)), give(std::move(found.bands)), found.left_out);
}

static auto differences_for_python(const MappedSegment &mapped, const Column<std::uint64_t> &pairs,
                                   const Matrix<std::uint64_t> &sketches, unsigned bits) {
    if (sketches.shape(1) != mapped.segment.width()) throw std::invalid_argument("sketches are of another width");
    if (bits != 1 && bits != 2) throw std::invalid_argument("a sketch has 1 or 2 bits per position");
    for (const std::uint64_t pair : span_of(pairs))
        if (pair >> 32 >= sketches.shape(0) || static_cast<std::uint32_t>(pair) >= mapped.segment.contents())
            throw std::invalid_argument("a number reaches past what it counts");
    std::vector<std::uint32_t> found;
    {
        nb::gil_scoped_release release;
        found = mapped.segment.differences(span_of(pairs), span_of(sketches), bits);
    }
    return give(std::move(found));
}

static auto agreeing_for_python(const MappedSegment &mapped, const Matrix<std::uint32_t> &keys,
                                const Matrix<std::uint64_t> &sketches, std::size_t most,
                                const Column<std::uint8_t> &dead, unsigned bits, std::uint32_t most_different) {
    if (keys.shape(0) != 1 || sketches.shape(0) != 1) throw std::invalid_argument("there is one question");
    if (keys.shape(1) != mapped.segment.bands()) throw std::invalid_argument("each question needs a key for each band");
    if (sketches.shape(1) != mapped.segment.width()) throw std::invalid_argument("sketches are of another width");
    if (bits != 1 && bits != 2) throw std::invalid_argument("a sketch has 1 or 2 bits per position");
    Agreeing found;
    {
        nb::gil_scoped_release release;
        found = mapped.segment.agreeing({span_of(keys), 1, keys.shape(1)}, span_of(sketches), most, span_of(dead), bits,
                                        most_different, waits_for_pages());
    }
    std::vector<std::uint64_t> digests;
    for (const Content &digest : found.digests) digests.insert(digests.end(), {digest.high, digest.low});
    const std::size_t count = found.contents.size();
    return std::tuple(give(std::move(found.contents)), give(std::move(digests), {count, 2}), found.fullest,
                      found.left_out);
}

static auto owners_for_python(const MappedSegment &mapped, const Matrix<std::uint64_t> &digests,
                              const Column<std::uint8_t> &dead) {
    if (digests.shape(1) != 2) throw std::invalid_argument("a digest is two words");
    Owners found;
    {
        nb::gil_scoped_release release;
        found = mapped.segment.owners({reinterpret_cast<const Content *>(digests.data()), digests.shape(0)},
                                      span_of(dead));
    }
    return std::tuple(give(std::move(found.places)), give(std::move(found.documents)), give(std::move(found.numbers)));
}

static nb::list ids_for_python(const MappedSegment &mapped, const Column<std::uint32_t> &documents) {
    nb::list found;
    for (const std::uint32_t document : span_of(documents)) found.append(id_of(mapped.segment, document));
    return found;
}

static auto found_for_python(const MappedSegment &mapped, const Matrix<std::uint64_t> &digests, bool among_ids) {
    if (digests.shape(1) != 2) throw std::invalid_argument("a digest is two words");
    std::vector<std::uint64_t> found;
    {
        nb::gil_scoped_release release;
        const auto *sought = reinterpret_cast<const Content *>(digests.data());
        found = mapped.segment.find({sought, digests.shape(0)}, among_ids);
    }
    return give(std::move(found));
}

void bind_segment(nb::module_ &m) {
    using namespace nanobind::literals;
    static nb::exception<Damaged> damaged(m, "DamagedError", PyExc_RuntimeError);
    m.def("page_sums", &sums_of_pages, "data"_a);
    m.def("sort_bands", &bands_in_order, "keys"_a, "rows"_a, "owners"_a, "from_band"_a, "to_band"_a);
    m.def("digest_order", &order_of_digests, "digests"_a);
    m.def("sort_band", &band_in_order, "keys"_a, "owners"_a);
    const auto make = [](MappedSegment *self, const Column<std::uint8_t> &data, const Column<std::uint64_t> &sums,
                         std::size_t contents, std::size_t keyed, std::size_t documents, std::size_t bands,
                         std::size_t width, std::size_t buckets, std::size_t sketches,
                         std::size_t content_high, std::size_t content_low, std::size_t id_high, std::size_t id_low,
                         std::size_t starts, std::size_t numbers, std::size_t texts, std::size_t ids,
                         std::size_t id_bytes) {
        new (self) MappedSegment(data, sums, {contents, keyed, documents, bands, width, buckets, sketches, content_high,
                                              content_low, id_high, id_low, starts, numbers, texts, ids, id_bytes});
    };
    nb::class_<MappedSegment>(m, "MappedSegment")
        .def("__init__", make, "data"_a, "sums"_a, "contents"_a, "keyed"_a, "documents"_a, "bands"_a, "width"_a,
             "buckets"_a, "sketches"_a, "content_high"_a, "content_low"_a, "id_high"_a, "id_low"_a,
             "starts"_a, "numbers"_a, "texts"_a, "ids"_a, "id_bytes"_a)
        .def("check", [](const MappedSegment &mapped, std::size_t start, std::size_t end) {
            mapped.segment.pages().check(start, end);
        }, "start"_a, "end"_a)
        .def("check_places", [](const MappedSegment &mapped, std::size_t start, std::size_t width,
                                const Column<std::int64_t> &places) {
            const std::size_t most = mapped.segment.pages().data().size();
            for (const std::int64_t place : span_of(places)) {
                if (place < 0 || static_cast<std::size_t>(place) > most)
                    throw std::invalid_argument("a place reaches past the data");
                mapped.segment.pages().check(start + place * width, start + (place + 1) * width);
            }
        }, "start"_a, "width"_a, "places"_a)
        .def("damaged", [](const MappedSegment &mapped) {
            std::vector<std::uint64_t> found;
            {
                nb::gil_scoped_release release;
                found = mapped.segment.pages().damaged();
            }
            return give(std::move(found));
        })
        .def("meet", &meetings_for_python, "keys"_a, "from_band"_a, "to_band"_a, "most"_a, "dead"_a)
        .def("differences", &differences_for_python, "pairs"_a, "sketches"_a, "bits"_a)
        .def("agreeing", &agreeing_for_python, "keys"_a, "sketches"_a, "most"_a, "dead"_a, "bits"_a,
             "most_different"_a)
        .def("owners", &owners_for_python, "digests"_a, "dead"_a)
        .def("ids", &ids_for_python, "documents"_a)
        .def("find", &found_for_python, "digests"_a, "among_ids"_a);
}

}  // namespace nearly
