// Candidates of documents on two sides of a border: documents of one side only never meet.
#pragma once

#include "candidates.hpp"

namespace nearly {

// Documents stand in order: first those of the old side only, then those of both, then those of the new side only.
struct Sides {
    std::size_t old_end, new_start;
};

// Calls `receive` with each place of a bucket, and from where to where the others are that it is compared with.
// With hubs, one of the two is among the first `hubs` of its side: all of the old side meet the first of both,
// and all of both meet the first of either. Hubs go with no document of the new side only.
template <class Receive>
inline void each_meeting(std::span<const std::uint64_t> bucket, Sides sides, std::size_t hubs, Receive &&receive) {
    const auto count_before = [&](std::size_t end) {
        const auto stands_before = [end](std::uint64_t entry) { return static_cast<std::uint32_t>(entry) < end; };
        return static_cast<std::size_t>(std::partition_point(bucket.begin(), bucket.end(), stands_before) -
                                        bucket.begin());
    };
    const std::size_t old = count_before(sides.old_end), meeting = count_before(sides.new_start), all = bucket.size();
    const std::size_t shown = hubs == 0 ? all : std::min(old + hubs, all);
    for (std::size_t i = 0; i < old; ++i) receive(i, old, i < hubs ? all : shown);
    for (std::size_t i = old; i < std::min(meeting, shown); ++i) receive(i, i + 1, all);
}

// As `crowd_of`, by place.
inline Crowd sided_crowd(std::span<const std::uint32_t> keys, std::size_t hubs, Sides sides) {
    Crowd crowd{.followers = std::vector<std::uint32_t>(keys.size())};
    each_bucket(perhaps_shared_entries(keys), [&](std::span<const std::uint64_t> bucket) {
        crowd.largest = std::max(crowd.largest, bucket.size());
        each_meeting(bucket, sides, hubs, [&](std::size_t i, std::size_t from, std::size_t to) {
            crowd.followers[static_cast<std::uint32_t>(bucket[i])] = static_cast<std::uint32_t>(to - from);
        });
    });
    return crowd;
}

// As `band_candidates`: `range` is of the documents that others are compared with, as `each_meeting` gives them.
inline Candidates sided_candidates(std::span<const std::uint32_t> keys, std::span<const std::uint32_t> documents,
                                   const Sketches &sketches, std::uint32_t most_different, std::size_t hubs,
                                   Sides sides, Range range = {}) {
    Candidates candidates;
    std::vector<std::uint64_t> members;
    each_bucket(perhaps_shared_entries(keys), [&](std::span<const std::uint64_t> bucket) {
        members.clear();
        for (const std::uint64_t entry : bucket) members.push_back(documents[static_cast<std::uint32_t>(entry)]);
        each_meeting(bucket, sides, hubs, [&](std::size_t i, std::size_t from, std::size_t to) {
            if (!range.has(static_cast<std::uint32_t>(members[i]))) return;
            candidates.compared += to - from;
            compare_sketches(sketches, members.data(), i, from, to, most_different, candidates.pairs);
        });
    });
    return candidates;
}

}  // namespace nearly
