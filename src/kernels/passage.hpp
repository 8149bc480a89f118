// Passages of given pairs of documents: aligned, their ends set by verbatim runs, and weighed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "alignment.hpp"
#include "likeness.hpp"

namespace nearly::passages {

// Words of many documents, one behind the other.
struct Library {
    std::span<const std::int64_t> offsets;
    Hashes hashes;
    Words all;

    template <typename T> std::span<const T> part(std::span<const T> column, std::uint32_t document) const {
        const auto from = static_cast<std::size_t>(offsets[document]);
        return column.subspan(from, static_cast<std::size_t>(offsets[document + 1]) - from);
    }
    Words words(std::uint32_t i) const {
        return {part(all.numbers, i), part(all.starts, i), part(all.ends, i), part(all.begins, i), all.stem_of, all.rarity_of};
    }
    Hashes units(std::uint32_t i) const { return part(hashes, i); }
};

// Words [a, a_end) of the first document of a pair, and [b, b_end) of the second.
struct Passage {
    std::uint32_t pair, a, a_end, b, b_end;
    double likeness;
    bool is_verbatim;
};

// A table of seeds takes about 200 bytes a word: of longer documents than this, the other one of the pair is kept in it.
constexpr std::size_t MOST_KEPT = 1 << 20;

// Pairs with the same longer document are best given one after the other: it is looked into once. The ends of a passage are those of its
// verbatim runs, if these cover `least_verbatim` of it.
inline std::vector<Passage> align_pairs(const Library &library, std::span<const std::uint32_t> as,
                                        std::span<const std::uint32_t> bs, const Alignment &settings, double least_verbatim) {
    std::vector<Passage> found;
    Aligner aligner(settings);
    RunEnds run_ends;
    Likeness likeness;
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < as.size(); ++i) {
        const std::size_t a_size = library.units(as[i]).size(), b_size = library.units(bs[i]).size();
        const bool keeps_longer = std::max(a_size, b_size) <= MOST_KEPT;
        const bool keeps_a = (a_size >= b_size) == keeps_longer;
        const std::uint32_t next = keeps_a ? as[i] : bs[i];
        if (i == 0 || next != kept) aligner.keep(library.words(kept = next));
        for (const Aligned &each : aligner.align(library.words(as[i]), library.words(bs[i]), keeps_a)) {
            Hashes a = library.units(as[i]).subspan(each.a, each.a_end - each.a);
            Hashes b = library.units(bs[i]).subspan(each.b, each.b_end - each.b);
            const Stretch ends = run_ends(a, b, least_verbatim);
            a = a.subspan(ends.a, ends.a_end - ends.a), b = b.subspan(ends.b, ends.b_end - ends.b);
            const auto x = static_cast<std::uint32_t>(each.a + ends.a), y = static_cast<std::uint32_t>(each.b + ends.b);
            found.push_back({i, x, static_cast<std::uint32_t>(x + a.size()), y, static_cast<std::uint32_t>(y + b.size()),
                             likeness(a, b), std::ranges::equal(a, b)});
        }
    }
    return found;
}

}  // namespace nearly::passages
