// Runs of units that two documents share word for word, or character for character: all of at least a given length.
//
// Winnowing: of every window of neighbouring k-grams the least hash is chosen, the last one if there are several.
// What is chosen depends on the window alone, so two documents that share k + window - 1 units choose the same k-gram at
// the same place of what they share. Chosen k-grams meet, and each meeting is extended to where the documents part.
// A k-gram that stands in too many places to compare each with each is crowded: its places are given instead.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <bit>
#include <numeric>
#include <span>
#include <unordered_map>
#include <vector>

#include "hashing.hpp"
#include "stop.hpp"

namespace nearly::passages {

struct Winnowing {
    std::size_t k, window;
    std::size_t crowd;  // most places of a k-gram that are compared each with each
};

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

// Units [start, end) of a document, which belong to one crowded passage.
struct Place {
    std::uint32_t passage, document, start, end;
};

class RunFinder {
  public:
    RunFinder(const Corpus &corpus, const Winnowing &winnowing) : corpus_(corpus), winnowing_(winnowing) {
        for (std::size_t i = 0; i < corpus.size(); ++i) winnow(static_cast<std::uint32_t>(i));
        group();
    }

    std::vector<Run> runs() {
        std::vector<Run> found;
        for (std::size_t i = 0, end; i < order_.size(); i = end) {
            end = end_of_group(i);
            stop_.check(20 * (end - i));
            if (end - i < 2 || end - i > winnowing_.crowd) continue;
            for (std::size_t x = i; x < end; ++x)
                for (std::size_t y = x + 1; y < end; ++y) extend(order_[x], order_[y], found);
        }
        std::ranges::sort(found, [&](const Run &x, const Run &y) { return stop_.check(5), x < y; });
        const auto repeated = std::ranges::unique(found);
        found.erase(repeated.begin(), repeated.end());
        return found;
    }

    // Neighbouring crowded k-grams of a document are one passage where they mostly come together.
    std::vector<Place> places() {
        std::vector<Place> found;
        const std::vector<std::uint32_t> passages = chains();
        for (std::uint32_t i = 0; i < chosen_.size(); ++i) {
            if (!is_crowded_[i]) continue;
            const Chosen &each = chosen_[i];
            const auto end = static_cast<std::uint32_t>(each.place + winnowing_.k);
            const bool goes_on = i > 0 && is_crowded_[i - 1] && chosen_[i - 1].document == each.document;
            const bool is_short = goes_on && found.back().end - found.back().start < winnowing_.k + winnowing_.window - 1;
            if (goes_on && (found.back().passage == passages[i] || is_short)) found.back().end = end;
            else found.push_back({passages[i], each.document, each.place, end});
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
    std::vector<Chosen> chosen_;        // in the order of the text
    std::vector<std::uint32_t> order_;  // those that are shared, by hash
    std::vector<std::uint8_t> is_crowded_;
    std::vector<std::uint64_t> hashes_;
    std::vector<std::size_t> queue_;
    Stop stop_;

    void winnow(std::uint32_t document) {
        const auto units = corpus_[document];
        if (units.size() < winnowing_.k) return;
        roll(units);
        queue_.clear();
        std::size_t head = 0, last = ~std::size_t{0};
        for (std::size_t i = 0; i < hashes_.size(); ++i) {
            stop_.check(5);
            while (queue_.size() > head && hashes_[queue_.back()] >= hashes_[i]) queue_.pop_back();
            queue_.push_back(i);
            if (i - queue_[head] >= winnowing_.window) ++head;
            const bool is_full = i + 1 >= winnowing_.window;
            if (is_full && queue_[head] != last) {
                last = queue_[head];
                chosen_.push_back({hashes_[last], document, static_cast<std::uint32_t>(last)});
            }
        }
    }

    void roll(std::span<const std::uint64_t> units) {
        std::uint64_t leading = 1, rolled = 0;
        for (std::size_t i = 1; i < winnowing_.k; ++i) leading *= WORD_BASE;
        hashes_.resize(units.size() - winnowing_.k + 1);
        for (std::size_t i = 0; i < units.size(); ++i) {
            stop_.check(5);
            if (i >= winnowing_.k) rolled -= units[i - winnowing_.k] * leading;
            rolled = rolled * WORD_BASE + units[i];
            if (i + 1 >= winnowing_.k) hashes_[i + 1 - winnowing_.k] = mix(rolled);
        }
    }

    void group() {
        // Most k-grams stand in one place. A table of one byte a slot knows nearly all of them, and they need no sorting.
        std::vector<std::uint8_t> counts(std::bit_ceil(4 * chosen_.size() + 64));
        const std::size_t mask = counts.size() - 1;
        for (const Chosen &each : chosen_) counts[each.hash & mask] += counts[each.hash & mask] < 2;
        stop_.check(10 * chosen_.size());
        for (std::uint32_t i = 0; i < chosen_.size(); ++i)
            if (counts[chosen_[i].hash & mask] > 1) order_.push_back(i);
        std::ranges::sort(order_, [&](std::uint32_t x, std::uint32_t y) {
            stop_.check(5);
            return chosen_[x].hash != chosen_[y].hash ? chosen_[x].hash < chosen_[y].hash : x < y;
        });
        is_crowded_.assign(chosen_.size(), 0);
        for (std::size_t i = 0, end; i < order_.size(); i = end) {
            end = end_of_group(i);
            if (end - i > winnowing_.crowd && is_shared(i, end))
                for (std::size_t j = i; j < end; ++j) is_crowded_[order_[j]] = 1;
        }
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
        if (length >= winnowing_.k + winnowing_.window - 1) found.push_back({here.document, there.document, i, j, length});
    }

    // A number for each crowded k-gram: that of the first one of its chain.
    std::vector<std::uint32_t> chains() {
        std::vector<std::uint32_t> kinds(chosen_.size(), 0), counts;
        for (std::size_t i = 0, end; i < order_.size(); i = end) {
            end = end_of_group(i);
            if (!is_crowded_[order_[i]]) continue;
            for (std::size_t j = i; j < end; ++j) kinds[order_[j]] = static_cast<std::uint32_t>(counts.size());
            counts.push_back(static_cast<std::uint32_t>(end - i));
        }
        std::vector<std::uint32_t> chain(counts.size());
        std::iota(chain.begin(), chain.end(), 0);
        const auto root = [&](std::uint32_t kind) {
            while (chain[kind] != kind) kind = chain[kind] = chain[chain[kind]];
            return kind;
        };
        std::unordered_map<std::uint64_t, std::uint32_t> together;
        for (std::size_t i = 1; i < chosen_.size(); ++i) {
            if (!is_crowded_[i] || !is_crowded_[i - 1] || chosen_[i].document != chosen_[i - 1].document) continue;
            const std::uint32_t before = kinds[i - 1], after = kinds[i];
            stop_.check(50);
            const std::uint32_t seen = ++together[std::uint64_t{before} << 32 | after];
            if (2 * std::uint64_t{seen} >= std::max(counts[before], counts[after])) {
                const std::uint32_t one = root(before), other = root(after);
                chain[std::max(one, other)] = std::min(one, other);
            }
        }
        for (std::uint32_t &kind : kinds)
            if (!counts.empty()) kind = root(kind);
        return kinds;
    }
};

}  // namespace nearly::passages
