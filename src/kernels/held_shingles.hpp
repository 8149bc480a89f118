// Shingles that are made while documents are read, and kept until it is known whether documents are joined or signed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "growing.hpp"
#include "hash_table.hpp"
#include "jaccard.hpp"
#include "shingles.hpp"
#include "stop.hpp"

namespace nearly {

struct HeldShingles {
    std::vector<std::int64_t> offsets{0};
    Growing<std::uint64_t> hashes;  // of each document, repeats included
};

// Memory for a hash a byte is asked for, and only as much of it touched as there are shingles. Of words there is about
// one for seven bytes.
inline HeldShingles hold_shingles(const Texts &texts, Shingler &shingler) {
    Stop stop;
    const std::size_t bytes = bytes_of_short_texts(texts, shingler);
    HeldShingles held{.offsets = {0}, .hashes = Growing<std::uint64_t>(bytes + 1, bytes / 7)};
    held.offsets.reserve(texts.size() + 1);
    const auto hold = [&held](std::span<const std::uint64_t> some) {
        held.hashes.make_room(some.size());
        std::ranges::copy(some, held.hashes.data + held.hashes.size);
        held.hashes.size += some.size();
    };
    for (std::size_t i = 0; i < texts.size(); ++i) {
        stop.check(texts[i].size());
        if (shingler.is_long(texts[i]))
            shingler.in_stretches(texts[i], texts.end(), hold);
        else
            hold(shingler(texts[i], texts.end()));
        held.offsets.push_back(static_cast<std::int64_t>(held.hashes.size));
    }
    return held;
}

// Of the chosen documents each shingle once, moved together at the beginning; where each of these sets ends there.
// Those of a long document are in order then.
inline std::vector<std::int64_t> keep_once(std::span<const std::int64_t> offsets, std::uint64_t *hashes,
                                           std::span<const std::uint32_t> chosen) {
    BucketTable seen;
    Stop stop;
    std::vector<std::int64_t> ends{0};
    ends.reserve(chosen.size() + 1);
    std::uint64_t *to = hashes;
    for (const std::uint32_t i : chosen) {
        std::uint64_t *const start = hashes + offsets[i], *const end = hashes + offsets[i + 1];
        const auto size = static_cast<std::size_t>(end - start);
        stop.check(16 * size);
        if (size > Shingler::STRETCH) {
            std::sort(start, end);
            to = std::copy(start, std::unique(start, end), to);
        } else {
            to += write_once({start, size}, seen, to);
        }
        ends.push_back(to - hashes);
    }
    return ends;
}

}  // namespace nearly
