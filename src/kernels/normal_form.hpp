// Which texts may be out of a normal form, and how they are cut for those that make one: long texts
// into pieces, and long runs of marks out of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "eight_bytes.hpp"
#include "stop.hpp"
#include "unicode_text.hpp"

namespace nearly::normalise {

enum class Settled : Byte { yes, perhaps_not, perhaps_not_and_has_unassigned };

// Whether a text is in a normal form for sure: no code point has the trait `unsettled`.
inline Settled settled(const Byte *p, const Byte *end, std::uint16_t unsettled) {
    constexpr std::ptrdiff_t block = 1 << 14;
    std::uint16_t seen = 0;
    for (Stop stopping; p < end; stopping.check(block)) {
        const Byte *const stop = end - p > block ? p + block : end;
        while (p < stop) {
            if (end - p >= 8 && is_ascii(eight_bytes(p)))
                p += 8;
            else
                seen |= unicode::traits_of(unicode::decode(p, end));
        }
    }
    if (!(seen & unsettled)) return Settled::yes;
    return seen & unicode::unassigned ? Settled::perhaps_not_and_has_unassigned
                                      : Settled::perhaps_not;
}

// Where a text ends that is cut into pieces of `size` bytes or little more, each of which has its
// normal form by itself: no code point without the trait `unsettled` joins what is before it.
inline std::vector<std::int64_t> ends_of_pieces(const Byte *start, const Byte *end, std::uint16_t unsettled,
                                                std::size_t size) {
    std::vector<std::int64_t> ends;
    Stop stopping;
    for (const Byte *p = start; p < end;) {
        stopping.check(size);
        const Byte *next = static_cast<std::size_t>(end - p) > size ? p + size : end;
        while (next < end && unicode::continues(*next)) ++next;
        for (p = next; p < end; p = next)
            if (!(unicode::traits_of(unicode::decode(next, end)) & unsettled)) break;
        ends.push_back(p - start);
    }
    return ends;
}

// Where runs of more than `most` code points start and end that a normal form may put in another order.
inline std::vector<std::int64_t> mark_runs(const Byte *start, const Byte *end, std::size_t most) {
    std::vector<std::int64_t> bounds;
    Stop stopping;
    const Byte *first = start;
    std::size_t marks = 0;
    for (const Byte *p = start; p < end;) {
        const Byte *const here = p;
        const bool is_mark = unicode::traits_of(unicode::decode(p, end)) & unicode::reorders;
        stopping.check(4);
        if (is_mark) {
            if (marks++ == 0) first = here;
            if (p < end) continue;
        }
        if (marks > most) bounds.insert(bounds.end(), {first - start, (is_mark ? p : here) - start});
        marks = 0;
    }
    return bounds;
}

}  // namespace nearly::normalise
