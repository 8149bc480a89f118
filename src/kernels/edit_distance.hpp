// How many insertions and deletions make one string of code points into another.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "hashing.hpp"
#include "stop.hpp"

namespace nearly {

using Points = std::span<const char32_t>;

inline constexpr std::uint32_t TOO_FAR = ~0u;

// Where in up to 64 code points each of them stands, as bits.
class PlaceMasks {
  public:
    void set(Points block) {
        for (const char32_t c : block_)
            if (c < few_.size()) few_[c] = 0;
        many_.fill({});
        block_.assign(block.begin(), block.end());
        for (std::size_t i = 0; i < block.size(); ++i) slot(block[i]) |= 1ull << i;
    }

    std::uint64_t of(char32_t c) const {
        if (c < few_.size()) return few_[c];
        for (std::size_t at = start(c);; ++at)
            if (const Entry &entry = many_[at % many_.size()]; entry.mask == 0 || entry.point == c) return entry.mask;
    }

  private:
    struct Entry {
        char32_t point = 0;
        std::uint64_t mask = 0;
    };
    std::array<std::uint64_t, 256> few_{};
    std::array<Entry, 128> many_{};  // twice as many as there can be: a search meets an empty one
    std::vector<char32_t> block_;

    static std::size_t start(char32_t c) { return c * GOLDEN >> 57; }

    std::uint64_t &slot(char32_t c) {
        if (c < few_.size()) return few_[c];
        std::size_t at = start(c);
        while (many_[at % many_.size()].mask != 0 && many_[at % many_.size()].point != c) ++at;
        many_[at % many_.size()].point = c;
        return many_[at % many_.size()].mask;
    }
};

class EditDistance {
  public:
    // The distance of two strings where it is `most` or less, else TOO_FAR. Strings have fewer than 2^31 code points.
    std::uint32_t operator()(Points a, Points b, std::uint32_t most) {
        strip(a, b);
        if (a.size() > b.size()) std::swap(a, b);
        if (b.size() - a.size() > most) return TOO_FAR;
        if (a.empty()) return static_cast<std::uint32_t>(b.size());
        // Few edits are found by following them, at a cost of their square; many by comparing all with all.
        const double all = static_cast<double>((a.size() + 63) / 64) * static_cast<double>(b.size());
        const auto few = static_cast<std::uint32_t>(std::min({static_cast<double>(most), std::sqrt(all), 1e9}));
        const std::uint32_t found = by_following(a, b, few);
        if (found != TOO_FAR || few == most) return found;
        const std::uint32_t distance = by_comparing(a, b);
        return distance <= most ? distance : TOO_FAR;
    }

  private:
    std::vector<std::int32_t> reached_;
    std::vector<std::uint8_t> carries_;
    PlaceMasks masks_;
    Stop stop_;

    // What strings have in common at their ends is no part of the work.
    static void strip(Points &a, Points &b) {
        const auto start = static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
        a = a.subspan(start);
        b = b.subspan(start);
        std::size_t end = 0;
        while (end < std::min(a.size(), b.size()) && a[a.size() - 1 - end] == b[b.size() - 1 - end]) ++end;
        a = a.first(a.size() - end);
        b = b.first(b.size() - end);
    }

    // Myers' algorithm: for 1, 2, ... edits, how far into `a` each diagonal is reached. Diagonals from which the
    // edits that are left do not lead to the end are not followed.
    std::uint32_t by_following(Points a, Points b, std::uint32_t most) {
        const auto n = static_cast<std::int32_t>(a.size()), m = static_cast<std::int32_t>(b.size());
        const auto limit = static_cast<std::int32_t>(most), end = n - m;
        reached_.assign(2 * static_cast<std::size_t>(most) + 3, -2);
        std::int32_t *const reached = reached_.data() + limit + 1;
        reached[0] = 0;
        for (std::int32_t edits = 1; edits <= limit; ++edits) {
            const std::int32_t left = limit - edits;
            std::int32_t low = std::max(-edits, end - left), high = std::min(edits, end + left);
            low += (low ^ edits) & 1;
            stop_.check(4 * static_cast<std::size_t>(std::max(0, high - low + 2)));
            for (std::int32_t k = low; k <= high; k += 2) {
                std::int32_t x = std::max(reached[k - 1] + 1, reached[k + 1]), y = x - k;
                while (x < n && y < m && a[static_cast<std::size_t>(x)] == b[static_cast<std::size_t>(y)]) ++x, ++y;
                if (k == end && x >= n) return static_cast<std::uint32_t>(edits);
                reached[k] = x;
            }
        }
        return TOO_FAR;
    }

    // The longest common subsequence by Hyyrö's bits, 64 code points of `a` at a time. A bit is 0 where a row of
    // the table of lengths steps up; what is carried from one block to the next is kept for each of `b`.
    std::uint32_t by_comparing(Points a, Points b) {
        carries_.assign(b.size(), 0);
        std::size_t common = 0;
        for (std::size_t start = 0; start < a.size(); start += 64) {
            const Points block = a.subspan(start, std::min<std::size_t>(64, a.size() - start));
            stop_.check(2 * b.size());
            masks_.set(block);
            std::uint64_t flat = ~0ull;
            for (std::size_t j = 0; j < b.size(); ++j) {
                const std::uint64_t mask = masks_.of(b[j]), met = flat & mask;
                std::uint64_t sum = flat + met;
                const bool over = sum < met, again = (sum += carries_[j]) < carries_[j];
                flat = sum | (flat & ~mask);
                carries_[j] = over || again;
            }
            const std::uint64_t used = block.size() == 64 ? ~0ull : (1ull << block.size()) - 1;
            common += static_cast<std::size_t>(std::popcount(~flat & used));
        }
        return static_cast<std::uint32_t>(a.size() + b.size() - 2 * common);
    }
};

}  // namespace nearly
