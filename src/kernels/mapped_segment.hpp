// A segment that Python holds: with the memory that it looks at.
#pragma once

#include "arrays.hpp"
#include "segment.hpp"

namespace nearly {

struct MappedSegment {
    Column<std::uint8_t> data;
    Column<std::uint64_t> sums;
    Segment segment;

    MappedSegment(Column<std::uint8_t> data, Column<std::uint64_t> sums, const SegmentLayout &layout)
        : data(data), sums(sums), segment(span_of(data), span_of(sums), layout) {}
};

// The id of a document: a number or a string.
inline nb::object id_of(const Segment &segment, std::uint32_t document) {
    if (segment.has_numbers()) return nb::int_(segment.id_number(document));
    const auto bytes = segment.id_bytes(document);
    return nb::str(reinterpret_cast<const char *>(bytes.data()), bytes.size());
}

}  // namespace nearly
