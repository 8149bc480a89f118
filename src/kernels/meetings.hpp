// Who meets whom in the buckets of all bands, one document after the other: two documents that share many buckets are
// looked at once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "candidates.hpp"
#include "stop.hpp"

namespace nearly {

// Those of `others` whose sketches differ from `mine` in few positions, moved to the front; how many they are. A sketch of
// 512 bits is the usual one of vectors: its loop is unrolled.
NEARLY_CLONES inline std::size_t keep_similar(const Sketches &sketches, std::span<const std::uint32_t> documents, const std::uint64_t *mine,
                                              std::span<std::uint32_t> others, std::uint32_t most_different) {
    constexpr std::size_t AHEAD = 16;  // sketches come from memory while others are compared
    std::size_t kept = 0;
    const auto keep = [&](auto &&differ) __attribute__((always_inline)) {
        for (std::size_t i = 0; i < others.size(); ++i) {
            if (i + AHEAD < others.size()) __builtin_prefetch(sketches[documents[others[i + AHEAD]]]);
            const std::uint32_t other = others[i];
            others[kept] = other;
            kept += differ(sketches[documents[other]]) <= most_different;
        }
    };
    if (sketches.width == 8 && sketches.bits == 1)
        keep([&](const std::uint64_t *theirs) { return different_positions(mine, theirs, 8, 1); });
    else
        keep([&](const std::uint64_t *theirs) { return different_positions(mine, theirs, sketches.width, sketches.bits); });
    return kept;
}

class Meetings {
  public:
    static constexpr std::size_t MOST_DOCUMENTS = 1u << 31;

    Meetings(std::size_t documents, std::size_t bands)
        : documents_(documents), bands_(bands), members_(bands), places_(documents * bands, NOWHERE) {}

    std::size_t documents() const { return documents_; }
    std::size_t bands() const { return bands_; }

    // With hubs, only the first of a bucket meet those that follow them. Each band may be added by another thread. Says what
    // `crowd_of` would.
    Crowd add(std::size_t band, std::span<const std::uint32_t> keys, std::size_t hubs) {
        std::vector<std::uint32_t> &members = members_[band];
        Crowd crowd{.followers = std::vector<std::uint32_t>(keys.size())};
        each_bucket(perhaps_shared_entries(keys), [&](std::span<const std::uint64_t> bucket) {
            const std::size_t last = bucket.size() - 1, firsts = std::min(count_firsts(bucket.size(), hubs), last);
            crowd.largest = std::max(crowd.largest, bucket.size());
            for (std::size_t i = 0; i <= last; ++i) {
                const auto document = static_cast<std::uint32_t>(bucket[i]);
                if (i < firsts) {
                    places_[document * bands_ + band] = static_cast<std::uint32_t>(members.size());
                    crowd.followers[document] = static_cast<std::uint32_t>(last - i);
                }
                members.push_back(i == last ? document | LAST : document);
            }
        });
        return crowd;
    }

    // Pairs in order, each once, whose first document is one of [low, high). Documents are numbered as in `keys`; `names`
    // has what they are called in a pair and among the sketches, in ascending order.
    Candidates candidates(std::size_t low, std::size_t high, std::span<const std::uint32_t> names, const Sketches &sketches,
                          std::uint32_t most_different) const {
        Candidates found;
        std::vector<std::uint32_t> last_met(documents_, NOWHERE), others(documents_);
        Stop stop;
        for (std::size_t first = low; first < high; ++first) {
            const std::size_t met = meet(static_cast<std::uint32_t>(first), last_met, others, found.compared);
            stop.check(bands_ + 8 * met);
            const std::size_t kept = keep_similar(sketches, names, sketches[names[first]], std::span(others).first(met), most_different);
            std::sort(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(kept));
            for (std::size_t i = 0; i < kept; ++i) found.pairs.push_back(pack_pair(names[first], names[others[i]]));
        }
        return found;
    }

  private:
    static constexpr std::uint32_t NOWHERE = std::numeric_limits<std::uint32_t>::max(), LAST = 1u << 31;

    std::size_t documents_, bands_;
    std::vector<std::vector<std::uint32_t>> members_;  // of each band: bucket after bucket, the last of each marked
    std::vector<std::uint32_t> places_;                // of each document: where it stands in the members of each band

    // The documents that follow `first` in its buckets, each once; how many they are.
    std::size_t meet(std::uint32_t first, std::vector<std::uint32_t> &last_met, std::vector<std::uint32_t> &others,
                     std::uint64_t &compared) const {
        constexpr std::size_t AHEAD = 8;  // buckets come from memory while others are gone through
        const std::uint32_t *const places = places_.data() + first * bands_;
        std::size_t met = 0;
        for (std::size_t band = 0; band < bands_; ++band) {
            if (const std::size_t next = band + AHEAD; next < bands_ && places[next] != NOWHERE)
                __builtin_prefetch(members_[next].data() + places[next]);
            const std::uint32_t place = places[band];
            if (place == NOWHERE) continue;
            const std::uint32_t *const start = members_[band].data() + place, *member = start;
            do {
                const std::uint32_t other = *++member & ~LAST;
                others[met] = other;
                met += last_met[other] != first;
                last_met[other] = first;
            } while ((*member & LAST) == 0);
            compared += static_cast<std::uint64_t>(member - start);
        }
        return met;
    }
};

}  // namespace nearly
