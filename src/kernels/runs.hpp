// Runs of units that two documents share word for word, or character for character: all of at least a given length.
//
// K-grams that winnowing chooses meet, and each meeting is extended to where the documents part. A k-gram that stands in
// too many places to compare each with each is crowded: its places are given instead.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <bit>
#include <span>
#include <vector>

#include "crowds.hpp"
#include "neighbours.hpp"
#include "radix.hpp"
#include "stop.hpp"
#include "winnowing.hpp"

namespace nearly::passages {

// What documents consist of; two documents of one group are not compared.
struct Corpus {
    std::span<const std::int64_t> offsets;
    std::span<const std::uint64_t> units;
    std::span<const std::uint32_t> groups, sides;
    bool one_sided;  // only documents of different sides are compared

    std::size_t size() const { return offsets.size() - 1; }
    std::span<const std::uint64_t> operator[](std::size_t i) const {
        return units.subspan(static_cast<std::size_t>(offsets[i]), static_cast<std::size_t>(offsets[i + 1] - offsets[i]));
    }
    bool compares(std::uint32_t a, std::uint32_t b) const {
        return a != b && groups[a] != groups[b] && (!one_sided || sides[a] != sides[b]);
    }
};

struct Run {
    std::uint32_t a, b, a_start, b_start, length;
    auto operator<=>(const Run &) const = default;
};

// Which k-grams are crowded: those of more than `most` places, or those that are known to be, in ascending order.
struct Crowd {
    std::size_t most;
    std::span<const std::uint64_t> known;
    bool is_known;
};

class RunFinder {
  public:
    RunFinder(const Corpus &corpus, const Winnowing &winnowing, const Crowd &crowd)
        : corpus_(corpus), winnowing_(winnowing), crowd_(crowd) {
        Winnower winnow(winnowing);
        chosen_.reserve(corpus.units.size() / (winnowing.window / 2 + 1));  // as many as chance chooses
        for (std::size_t i = 0; i < corpus.size(); ++i)
            winnow(corpus[i], [&](std::uint64_t hash, std::size_t place) {
                chosen_.push_back({hash, static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(place)});
            });
        group();
    }

    std::vector<Run> runs() {
        std::vector<Run> found;
        for (std::size_t i = 0, end; i < order_.size(); i = end) {
            end = end_of_group(i);
            stop_.check(20 * (end - i));
            if (end - i < 2 || is_crowded_[order_[i]]) continue;
            for (std::size_t x = i; x < end; ++x)
                for (std::size_t y = x + 1; y < end; ++y) extend(order_[x], order_[y], found);
        }
        std::ranges::sort(found, [&](const Run &x, const Run &y) { return stop_.check(5), x < y; });
        const auto repeated = std::ranges::unique(found);
        found.erase(repeated.begin(), repeated.end());
        return found;
    }

    // The crowded k-grams that documents share which are compared, in the order of the text.
    std::vector<Crowded> crowded() {
        std::vector<std::uint8_t> is_shared(chosen_.size(), 0);
        for (std::size_t i = 0, end; i < order_.size(); i = end) {
            end = end_of_group(i);
            if (!is_crowded_[order_[i]] || !this->is_shared(i, end)) continue;
            for (std::size_t j = i; j < end; ++j) is_shared[order_[j]] = 1;
        }
        std::vector<Crowded> found;
        for (std::size_t i = 0; i < chosen_.size(); ++i) {
            const Chosen &each = chosen_[i];
            const bool follows = i > 0 && is_shared[i - 1] && chosen_[i - 1].document == each.document;
            if (is_shared[i]) found.push_back({each.hash, each.document, each.place, follows});
        }
        return found;
    }

  private:
    struct Chosen {
        std::uint64_t hash;
        std::uint32_t document, place;
    };

    Corpus corpus_;
    Winnowing winnowing_;
    Crowd crowd_;
    std::vector<Chosen> chosen_;        // in the order of the text
    std::vector<std::uint32_t> order_;  // those that are shared, by hash
    std::vector<std::uint8_t> is_crowded_;
    Stop stop_;

    void group() {
        // Most k-grams stand in one place. A table of one byte a slot knows nearly all of them, and they need no sorting.
        std::vector<std::uint8_t> counts(std::bit_ceil(4 * chosen_.size() + 64));
        const std::size_t mask = counts.size() - 1;
        for (const Chosen &each : chosen_) counts[each.hash & mask] += counts[each.hash & mask] < 2;
        stop_.check(10 * chosen_.size());
        std::vector<Hashed> shared;
        for (std::uint32_t i = 0; i < chosen_.size(); ++i)
            if (counts[chosen_[i].hash & mask] > 1) shared.push_back({chosen_[i].hash, i});
        sort_hashed(shared, [&](std::size_t work) { stop_.check(work); });
        for (const Hashed &each : shared) order_.push_back(each.number);
        is_crowded_.assign(chosen_.size(), 0);
        for (std::size_t i = 0, end; i < order_.size(); i = end) {
            end = end_of_group(i);
            if (is_crowd(chosen_[order_[i]].hash, end - i))
                for (std::size_t j = i; j < end; ++j) is_crowded_[order_[j]] = 1;
        }
    }

    bool is_crowd(std::uint64_t hash, std::size_t places) const {
        return crowd_.is_known ? std::ranges::binary_search(crowd_.known, hash) : places > crowd_.most;
    }

    // Whether any two of these places are of documents that are compared. If one place differs from the first in its
    // group and one in its side, then two of the three differ in both.
    bool is_shared(std::size_t from, std::size_t end) const {
        const auto differs = [&](std::span<const std::uint32_t> numbers) {
            const auto number = [&](std::size_t i) { return numbers[chosen_[order_[i]].document]; };
            for (std::size_t i = from + 1; i < end; ++i)
                if (number(i) != number(from)) return true;
            return false;
        };
        return differs(corpus_.groups) && (!corpus_.one_sided || differs(corpus_.sides));
    }

    std::size_t end_of_group(std::size_t i) const {
        std::size_t end = i + 1;
        while (end < order_.size() && chosen_[order_[end]].hash == chosen_[order_[i]].hash) ++end;
        return end;
    }

    // Whether an earlier meeting of the two documents reaches this one, and is extended over it.
    bool is_reached(std::uint32_t x, std::uint32_t y) {
        const auto a = corpus_[chosen_[x].document], b = corpus_[chosen_[y].document];
        while (x > 0 && y > 0) {
            const Chosen &here = chosen_[x], &there = chosen_[y], &before = chosen_[x - 1], &opposite = chosen_[y - 1];
            if (before.document != here.document || opposite.document != there.document) return false;
            if (before.hash != opposite.hash || here.place - before.place != there.place - opposite.place) return false;
            const auto from = a.begin() + before.place, to = a.begin() + here.place;
            stop_.check(10 + here.place - before.place);
            if (!std::equal(from, to, b.begin() + opposite.place)) return false;
            if (!is_crowded_[x - 1]) return true;
            --x, --y;
        }
        return false;
    }

    void extend(std::uint32_t x, std::uint32_t y, std::vector<Run> &found) {
        const Chosen &here = chosen_[x], &there = chosen_[y];
        stop_.check(5);
        if (!corpus_.compares(here.document, there.document) || is_reached(x, y)) return;
        const auto a = corpus_[here.document], b = corpus_[there.document];
        std::uint32_t i = here.place, j = there.place, length = 0;
        while (i > 0 && j > 0 && a[i - 1] == b[j - 1]) --i, --j;
        while (i + length < a.size() && j + length < b.size() && a[i + length] == b[j + length]) ++length;
        stop_.check(length);
        const Run run{here.document, there.document, i, j, length};
        if (length >= least() && !is_left_to_crowds(run, x, y)) found.push_back(run);
    }

    std::size_t least() const { return winnowing_.k + winnowing_.window - 1; }

    // Whether crowded k-grams that both documents chose make up most of a run, and what they leave is no run of its own. Which k-grams
    // are chosen at its ends depends on what stands around it: some may be rare where all of the run is not. X and y are k-grams of it.
    bool is_left_to_crowds(const Run &run, std::uint32_t x, std::uint32_t y) {
        const auto is_inside = [&](std::uint32_t n, std::uint32_t document, std::uint32_t start) {
            return n < chosen_.size() && chosen_[n].document == document && chosen_[n].place >= start &&
                   chosen_[n].place + winnowing_.k <= start + run.length;
        };
        while (x > 0 && is_inside(x - 1, run.a, run.a_start)) --x;
        while (y > 0 && is_inside(y - 1, run.b, run.b_start)) --y;
        std::size_t covered = 0, reached = 0;
        while (is_inside(x, run.a, run.a_start) && is_inside(y, run.b, run.b_start)) {
            stop_.check(5);
            const std::size_t a = chosen_[x].place - run.a_start, b = chosen_[y].place - run.b_start;
            if (a == b && is_crowded_[x]) {
                covered += a + winnowing_.k - std::max(reached, a);
                reached = a + winnowing_.k;
            }
            x += a <= b, y += b <= a;
        }
        const std::size_t left = run.length - covered;
        return left < least() && 2 * left < run.length;
    }
};

}  // namespace nearly::passages
