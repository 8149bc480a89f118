// Sets of documents as Python hands them over, checked.
#pragma once

#include <stdexcept>

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

}  // namespace nearly
