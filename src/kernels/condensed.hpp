// A few sentences that sum up a long text: most of their words stand there, but far apart.
//
// Where such words are frequent on one side only, no heap of meetings is a passage. What tells a summary from chance, and from
// passages that stand for themselves: its words outside of these are shared more often than elsewhere in its document, and they
// come from all over the other one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "seeds.hpp"
#include "stop.hpp"

namespace nearly::passages {

struct Condensing {
    std::uint32_t gap;      // characters between seeds of one summary
    float least_density;    // shared words among all words, on the way to both ends
    float least_scattered;  // the summed rarity of shared words that do not come from one place
    float least_outside;    // shared words among rare ones that no passage has
    float rise;             // the same, as a multiple of what it is outside of the summary
    float widest;           // the other side has at most so many times the characters
};

// Words [from, to) of one side, [other_from, other_to) of the other.
struct Summary {
    std::uint32_t from, to, other_from, other_to;
    float evidence;
};

using Flags = std::vector<std::uint8_t>;  // one for each word of a document
using WordSpan = std::pair<std::uint32_t, std::uint32_t>;

// The stretch of [first, last] whose shared words pay most for those that the other side does not have.
inline WordSpan best_stretch(const Flags &shared, std::uint32_t first, std::uint32_t last, float density) {
    float sum = 0, best = 0;
    std::uint32_t start = first, from = first, to = first;
    for (std::uint32_t i = first; i <= last; ++i) {
        sum += float(shared[i]) - density;
        if (sum <= 0) sum = 0, start = i + 1;
        else if (sum > best) best = sum, from = start, to = i + 1;
    }
    return {from, to};
}

inline float summed(const Words &words, const Flags &shared, std::uint32_t from, std::uint32_t to) {
    float sum = 0;
    for (std::uint32_t i = from; i < to; ++i) sum += shared[i] ? words.rarity(i) : 0;
    return sum;
}

class Condenser {
  public:
    explicit Condenser(const Condensing &settings) : settings_(settings) {}

    // The meetings have words of the side that may sum up first; `passages` are words of it that stand for themselves.
    std::vector<Summary> operator()(const Words &words, const Words &other, std::vector<Meeting> &meetings,
                                    std::span<const WordSpan> passages) {
        stop_.check(50 * meetings.size() + 2 * words.size());
        std::ranges::sort(meetings, {}, &Meeting::a);
        shared_.assign(words.size(), 0);
        explained_.assign(words.size(), 0);
        for (const Meeting &m : meetings) shared_[m.a] = shared_[m.a_last] = 1;
        for (const auto &[from, to] : passages) std::fill(explained_.begin() + from, explained_.begin() + to, 1);
        std::vector<Summary> found;
        const auto take = [&](std::span<const Meeting> heap) {
            if (const auto one = summary(words, other, heap)) found.push_back(*one);
        };
        std::size_t start = 0;
        std::uint32_t reached = 0;
        for (std::size_t i = 0; i < meetings.size(); ++i) {
            const std::uint32_t here = words.starts[meetings[i].a];
            if (i > start && here > reached && here - reached > settings_.gap) {
                take(std::span(meetings).subspan(start, i - start));
                start = i;
            }
            reached = std::max(reached, words.ends[meetings[i].a_last]);
        }
        if (!meetings.empty()) take(std::span(meetings).subspan(start));
        return found;
    }

  private:
    Condensing settings_;
    Flags shared_, explained_;
    std::vector<std::uint32_t> places_;
    Stop stop_;

    std::optional<Summary> summary(const Words &words, const Words &other, std::span<const Meeting> heap) {
        std::uint32_t last = 0;
        for (const Meeting &m : heap) last = std::max(last, m.a_last);
        const auto [from, to] = best_stretch(shared_, heap.front().a, last, settings_.least_density);
        const float evidence = summed(words, shared_, from, to);
        if (evidence < settings_.least_scattered) return {};
        std::uint32_t other_from = static_cast<std::uint32_t>(other.size()), other_to = 0;
        places_.clear();
        for (const Meeting &m : heap) {
            if (m.a < from || m.a_last >= to) continue;
            places_.push_back(other.starts[m.b]);
            other_from = std::min(other_from, m.b), other_to = std::max(other_to, m.b_last + 1);
        }
        if (places_.empty()) return {};
        const std::uint32_t length = words.ends[to - 1] - words.starts[from];
        const float width = other.ends[other_to - 1] - other.starts[other_from];
        if (width > settings_.widest * length || evidence * scattered(length) < settings_.least_scattered) return {};
        if (!stands_out(words, from, to)) return {};
        if (2 * width > other.ends[other.size() - 1] - other.starts[0])  // who sums up most of a text sums it up
            other_from = 0, other_to = static_cast<std::uint32_t>(other.size());
        return Summary{from, to, other_from, other_to, evidence};
    }

    // The part of the meetings that are not within any one stretch of the other side of the same length.
    float scattered(std::uint32_t length) {
        std::ranges::sort(places_);
        std::size_t most = 0;
        for (std::size_t i = 0, j = 0; i < places_.size(); ++i) {
            while (places_[i] - places_[j] > length) ++j;
            most = std::max(most, i - j + 1);
        }
        return 1 - float(most) / float(places_.size());
    }

    // Of rare words that no passage has, whether more are shared in [from, to) than elsewhere.
    bool stands_out(const Words &words, std::uint32_t from, std::uint32_t to) {
        stop_.check(2 * words.size());
        float here = 1, shared_here = 0, elsewhere = 1, shared_elsewhere = 0;
        for (std::uint32_t i = 0; i < words.size(); ++i) {
            if (explained_[i] || words.rarity(i) <= 0) continue;
            const bool is_inside = i >= from && i < to;
            (is_inside ? here : elsewhere) += 1;
            (is_inside ? shared_here : shared_elsewhere) += shared_[i];
        }
        return shared_here / here > std::max(settings_.least_outside, settings_.rise * shared_elsewhere / elsewhere);
    }
};

}  // namespace nearly::passages
