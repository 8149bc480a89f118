// A view of an Arrow large_string array: documents as spans of UTF-8 bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace nearly {

struct Texts {
    std::span<const std::int64_t> offsets;  // one more than there are documents
    const std::uint8_t *data;

    std::size_t size() const { return offsets.size() - 1; }
    std::span<const std::uint8_t> operator[](std::size_t i) const {
        return {data + offsets[i], static_cast<std::size_t>(offsets[i + 1] - offsets[i])};
    }
    // Words may be loaded past the end of a document, never past the end of them all.
    const std::uint8_t *end() const { return data + offsets.back(); }
};

// Pieces of a text one behind the other.
inline std::vector<std::uint8_t> gather(const std::uint8_t *data, std::span<const std::int64_t> starts,
                                        std::span<const std::int64_t> ends) {
    std::size_t size = 0;
    for (std::size_t i = 0; i < starts.size(); ++i) size += static_cast<std::size_t>(ends[i] - starts[i]);
    std::vector<std::uint8_t> gathered;
    gathered.reserve(size);
    for (std::size_t i = 0; i < starts.size(); ++i) gathered.insert(gathered.end(), data + starts[i], data + ends[i]);
    return gathered;
}

}  // namespace nearly
