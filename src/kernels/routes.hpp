// Keys on their way to the partitions that hold their buckets.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace nearly {

struct Routed {
    std::vector<std::int64_t> counts;  // by partition, and by band in each
    std::vector<std::uint32_t> rows, keys;
};

// Every chosen row's key in every band, by partition, then by band, then in the order of rows. The
// keys of a row lie together; a key's partition is its remainder.
inline Routed route_keys(std::span<const std::uint32_t> rows, std::span<const std::uint32_t> keys,
                         std::span<const std::uint8_t> is_chosen, std::size_t bands, std::uint32_t partitions) {
    Routed routed;
    routed.counts.assign(partitions * bands, 0);
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (std::size_t band = 0; is_chosen[i] && band < bands; ++band)
            ++routed.counts[keys[i * bands + band] % partitions * bands + band];
    std::vector<std::int64_t> places(routed.counts.size());
    std::int64_t total = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
        places[i] = total;
        total += routed.counts[i];
    }
    routed.rows.resize(static_cast<std::size_t>(total));
    routed.keys.resize(static_cast<std::size_t>(total));
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (std::size_t band = 0; is_chosen[i] && band < bands; ++band) {
            const std::uint32_t key = keys[i * bands + band];
            const auto place = static_cast<std::size_t>(places[key % partitions * bands + band]++);
            routed.rows[place] = rows[i];
            routed.keys[place] = key;
        }
    return routed;
}

}  // namespace nearly
