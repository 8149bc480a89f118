// 128 bits that stand for a whole text or id: equal bytes have equal contents, and others do not.
#pragma once

#include <cstddef>
#include <cstdint>

// Arrow's headers come with pyarrow, and bring xxHash; all of it is inlined here.
#define XXH_INLINE_ALL
#include <arrow/vendored/xxhash/xxhash.h>

namespace nearly {

struct Content {
    std::uint64_t high, low;
    bool operator==(const Content &) const = default;
};

inline Content hash_content(const std::uint8_t *bytes, std::size_t length) {
    const XXH128_hash_t hash = XXH3_128bits(bytes, length);
    return {hash.high64, hash.low64};
}

}  // namespace nearly
