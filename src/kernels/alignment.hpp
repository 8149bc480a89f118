// Which passages of two documents say the same in nearly the same words, and where they begin and end.
//
// Seeds that meet (`seeds.hpp`) are cut apart where the text between them is long; each heap is trimmed at both ends to
// where its evidence pays for the text it covers, and kept if what it shares is rare enough. What sums up a text is found
// apart (`condensed.hpp`).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "condensed.hpp"
#include "seeds.hpp"
#include "stop.hpp"

namespace nearly::passages {

struct Alignment {
    std::uint32_t most_meetings;  // of one seed in the two documents
    std::uint32_t gap;            // characters between seeds of one passage
    float least_density;          // shared words among all words, on the way to every end of a passage
    float steadiness;             // the same, as a part of the density of the whole passage
    float least_evidence;         // the summed rarity of the shared words of a passage
    std::uint32_t least_length;   // characters of its longer side
    std::uint32_t snap;           // characters from an end of a passage to the end of a sentence
    Condensing condensing;
};

// Words [a, a_end) of one document and [b, b_end) of the other.
struct Aligned {
    std::uint32_t a, a_end, b, b_end;
    float evidence;
};

class Aligner {
  public:
    explicit Aligner(const Alignment &settings) : settings_(settings), table_(settings.most_meetings), condenser_(settings.condensing) {}

    // One of the two documents, until another is kept: best the longer one, as the other is read for each pair.
    void keep(const Words &words) { table_.keep(words); }

    // Of the one that is kept, which is the first of the two or the second, with the other.
    std::vector<Aligned> align(const Words &a, const Words &b, bool keeps_a) {
        a_ = a, b_ = b;
        found_.clear();
        condensed_.clear();
        table_.meet(keeps_a ? b : a, meetings_);
        if (!keeps_a) swap_sides();
        covered_a_.assign(a.size(), 0);
        covered_b_.assign(b.size(), 0);
        split(0, meetings_.size(), true, false);
        condense(true);
        swap_sides();
        condense(false);
        std::erase_if(found_, [&](const Aligned &each) {
            return std::ranges::any_of(condensed_, [&](const Aligned &all) { return overlap(each, all); });
        });
        found_.insert(found_.end(), condensed_.begin(), condensed_.end());
        found_ = apart(found_, &Aligned::a, &Aligned::a_end);
        std::ranges::sort(found_, {}, &Aligned::a);
        for (Aligned &each : found_) {
            std::tie(each.a, each.a_end) = snapped(a, each.a, each.a_end);
            std::tie(each.b, each.b_end) = snapped(b, each.b, each.b_end);
        }
        return found_;
    }

  private:
    Alignment settings_;
    Words a_, b_;
    SeedTable table_;
    Condenser condenser_;
    std::vector<Meeting> meetings_;
    Flags covered_a_, covered_b_;
    std::vector<Aligned> found_, condensed_;
    Stop stop_;

    // Cuts the meetings [from, to) where the text of one side has a gap, then where the other has, until none has.
    void split(std::size_t from, std::size_t to, bool by_a, bool is_whole) {
        stop_.check(50 * (to - from));
        const auto begin = meetings_.begin();
        if (by_a)
            std::sort(begin + from, begin + to, [](const Meeting &x, const Meeting &y) {
                return x.a != y.a ? x.a < y.a : x.b < y.b;
            });
        else
            std::sort(begin + from, begin + to, [](const Meeting &x, const Meeting &y) {
                return x.b != y.b ? x.b < y.b : x.a < y.a;
            });
        const Words &words = by_a ? a_ : b_;
        std::size_t start = from;
        std::uint32_t reached = 0;
        for (std::size_t i = from; i < to; ++i) {
            const std::uint32_t first = by_a ? meetings_[i].a : meetings_[i].b;
            const std::uint32_t last = by_a ? meetings_[i].a_last : meetings_[i].b_last;
            if (i > start && words.starts[first] > reached && words.starts[first] - reached > settings_.gap) {
                split(start, i, !by_a, false);
                start = i;
                reached = 0;
            }
            reached = std::max(reached, words.ends[last]);
        }
        if (start == from && is_whole) return settle(from, to);
        if (start < to) split(start, to, !by_a, start == from);
    }

    WordSpan trimmed(const Flags &covered, std::uint32_t first, std::uint32_t last) const {
        auto [from, to] = best_stretch(covered, first, last, settings_.least_density);
        if (from == to) return {from, to};
        const float shared = std::count(covered.begin() + from, covered.begin() + to, 1);
        const float density = std::max(settings_.least_density, settings_.steadiness * shared / (to - from));
        return best_stretch(covered, from, to - 1, density);
    }

    struct Extent { std::uint32_t a, a_last, b, b_last; };

    Extent cover(std::vector<Meeting> &heap) {
        Extent extent{heap[0].a, 0, heap[0].b, 0};
        for (const Meeting &m : heap) {
            covered_a_[m.a] = covered_a_[m.a_last] = covered_b_[m.b] = covered_b_[m.b_last] = 1;
            extent.a = std::min(extent.a, m.a), extent.a_last = std::max(extent.a_last, m.a_last);
            extent.b = std::min(extent.b, m.b), extent.b_last = std::max(extent.b_last, m.b_last);
        }
        return extent;
    }

    void uncover(const Extent &e) {
        std::fill(covered_a_.begin() + e.a, covered_a_.begin() + e.a_last + 1, 0);
        std::fill(covered_b_.begin() + e.b, covered_b_.begin() + e.b_last + 1, 0);
    }

    // Trims a heap of meetings until both sides pay everywhere, and keeps it if it is evidence enough.
    void settle(std::size_t from, std::size_t to) {
        std::vector<Meeting> heap(meetings_.begin() + from, meetings_.begin() + to);
        while (!heap.empty()) {
            const Extent extent = cover(heap);
            stop_.check(10 * (heap.size() + extent.a_last - extent.a + extent.b_last - extent.b));
            const auto [a, a_end] = trimmed(covered_a_, extent.a, extent.a_last);
            const auto [b, b_end] = trimmed(covered_b_, extent.b, extent.b_last);
            const std::size_t before = heap.size();
            std::erase_if(heap, [&](const Meeting &m) { return m.a < a || m.a_last >= a_end || m.b < b || m.b_last >= b_end; });
            if (heap.size() == before && a < a_end && b < b_end) {
                const float evidence = std::min(summed(a_, covered_a_, a, a_end), summed(b_, covered_b_, b, b_end));
                const std::uint32_t length = std::max(a_.ends[a_end - 1] - a_.starts[a], b_.ends[b_end - 1] - b_.starts[b]);
                if (evidence >= settings_.least_evidence && length >= settings_.least_length) found_.push_back({a, a_end, b, b_end, evidence});
                return uncover(extent);
            }
            uncover(extent);
        }
    }

    // Where one side sums up the other, if it is that.
    void condense(bool by_a) {
        std::vector<WordSpan> passages;
        for (const Aligned &each : found_) passages.push_back(by_a ? WordSpan{each.a, each.a_end} : WordSpan{each.b, each.b_end});
        for (const Summary &s : condenser_(by_a ? a_ : b_, by_a ? b_ : a_, meetings_, passages))
            condensed_.push_back(by_a ? Aligned{s.from, s.to, s.other_from, s.other_to, s.evidence}
                                      : Aligned{s.other_from, s.other_to, s.from, s.to, s.evidence});
    }

    void swap_sides() {
        for (Meeting &m : meetings_) m = {m.b, m.b_last, m.a, m.a_last};
    }

    static bool overlap(const Aligned &x, const Aligned &y) {
        return x.a < y.a_end && y.a < x.a_end && x.b < y.b_end && y.b < x.b_end;
    }

    // From the sentence on that begins nearest, to the one that ends nearest, where these are near enough.
    WordSpan snapped(const Words &words, std::uint32_t from, std::uint32_t end) const {
        const auto is_border = [&](std::uint32_t i) { return i == 0 || i == words.size() || words.begins[i]; };
        const auto place = [&](std::uint32_t i) { return i < words.size() ? words.starts[i] : words.ends[i - 1]; };
        const auto nearest = [&](std::uint32_t at, std::uint32_t least, std::uint32_t most) {
            for (std::uint32_t low = at, high = at;;) {
                const bool has_low = low > least && place(at) - place(low - 1) <= settings_.snap;
                const bool has_high = high < most && place(high + 1) - place(at) <= settings_.snap;
                if (is_border(low)) return low;
                if (is_border(high)) return high;
                if (!has_low && !has_high) return at;
                const bool goes_low = has_low && (!has_high || place(at) - place(low - 1) <= place(high + 1) - place(at));
                goes_low ? --low : ++high;
            }
        };
        const auto size = static_cast<std::uint32_t>(words.size());
        const std::uint32_t start = nearest(from, 0, end - 1);
        return {start, nearest(end, start + 1, size)};  // both may be near the same border
    }

    // Of two passages that overlap in a document, the one with more evidence stays.
    std::vector<Aligned> apart(std::vector<Aligned> found, std::uint32_t Aligned::*first, std::uint32_t Aligned::*end) {
        std::ranges::sort(found, [](const Aligned &x, const Aligned &y) {
            if (x.evidence != y.evidence) return x.evidence > y.evidence;
            return std::tie(x.a, x.b, x.a_end, x.b_end) < std::tie(y.a, y.b, y.a_end, y.b_end);
        });
        std::vector<Aligned> kept;
        for (const Aligned &each : found) {
            stop_.check(2 * kept.size());
            const bool is_free = std::ranges::none_of(kept, [&](const Aligned &other) {
                return each.*first < other.*end && other.*first < each.*end;
            });
            if (is_free) kept.push_back(each);
        }
        return kept;
    }
};

}  // namespace nearly::passages
