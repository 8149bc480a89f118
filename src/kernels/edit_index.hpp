// Strings within a number of insertions and deletions of each other, by segments that they share.
//
// A string is cut into more segments than edits are allowed. Give each edit to the segment that it falls in, or
// before: then for some i, segment i has none, and the segments before it have exactly i (from 0; the first i at which
// the running sum of edits falls behind the number of segments). So segment i stands in the other string, moved by
// -i, -i + 2, ... or i places, and what is left of the edits makes up for the rest. (PassJoin: Li, Deng and others,
// 2011; that a move has the parity of i holds because there are no substitutions.)
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <numeric>
#include <ranges>
#include <span>
#include <stdexcept>
#include <vector>

#include "edit_distance.hpp"
#include "hashing.hpp"
#include "stop.hpp"
#include "texts.hpp"
#include "unicode_text.hpp"

namespace nearly {

// How many edits two texts may be apart: so many, and a share of the sum of their lengths.
struct Allowance {
    std::uint64_t edits, numerator, denominator;

    std::uint32_t operator()(std::size_t a, std::size_t b) const {
        return static_cast<std::uint32_t>(std::min<std::uint64_t>(edits + (a + b) * numerator / denominator, a + b));
    }
};

// Texts as code points, the shortest first.
class EditTexts {
  public:
    explicit EditTexts(const Texts &texts) : lengths_(texts.size()), places_(texts.size()) {
        for (std::size_t i = 0; i < texts.size(); ++i) {
            std::size_t count = 0;
            for_each_point(texts[i], [&](char32_t) { ++count; });
            if (count > LONGEST) throw std::invalid_argument("a text is too long for an edit distance");
            lengths_[i] = static_cast<std::uint32_t>(count);
        }
        std::iota(places_.begin(), places_.end(), 0u);
        std::ranges::stable_sort(places_, {}, [&](std::uint32_t place) { return lengths_[place]; });
        starts_.reserve(texts.size() + 1);
        parities_.reserve(texts.size());
        for (const std::uint32_t place : places_) {
            std::uint64_t parity = 0;
            for_each_point(texts[place], [&](char32_t c) {
                points_.push_back(c);
                parity ^= 1ull << c % 64;
            });
            starts_.push_back(points_.size());
            parities_.push_back(parity);
        }
    }

    static constexpr std::size_t LONGEST = 1u << 24;

    std::size_t size() const { return places_.size(); }
    Points operator[](std::size_t i) const { return {points_.data() + starts_[i], starts_[i + 1] - starts_[i]}; }
    std::uint32_t length(std::size_t i) const { return static_cast<std::uint32_t>(starts_[i + 1] - starts_[i]); }
    std::uint32_t longest() const { return size() == 0 ? 0 : length(size() - 1); }
    std::uint32_t place(std::size_t i) const { return places_[i]; }
    // For each of 64 kinds of code points, whether a text has an odd number of it: an edit changes one of them.
    std::uint64_t parity(std::size_t i) const { return parities_[i]; }
    const std::vector<std::uint32_t> &lengths() const { return lengths_; }  // in the order in which they were given

  private:
    std::vector<std::uint32_t> lengths_, places_;
    std::vector<std::size_t> starts_{0};
    std::vector<char32_t> points_;
    std::vector<std::uint64_t> parities_;

    static void for_each_point(std::span<const std::uint8_t> text, auto &&take) {
        for (const std::uint8_t *p = text.data(), *const end = p + text.size(); p < end;) take(unicode::decode(p, end));
    }
};

// Hashes of all runs of a string, each from the hashes of two of its beginnings.
class RunHashes {
  public:
    void set(Points points) {
        beginnings_.resize(points.size() + 1);
        for (std::size_t i = 0; i < points.size(); ++i) beginnings_[i + 1] = beginnings_[i] * WORD_BASE + points[i] + 1;
        while (powers_.size() <= points.size()) powers_.push_back(powers_.back() * WORD_BASE);
    }

    std::uint64_t of(std::size_t start, std::size_t length) const {
        return beginnings_[start + length] - beginnings_[start] * powers_[length];
    }

  private:
    std::vector<std::uint64_t> beginnings_{0}, powers_{1};
};

// Texts of one length, and into how many segments they are cut: none where they are too short for it.
struct SameLength {
    std::uint32_t length;
    std::size_t first, last;
    std::uint32_t segments;

    std::uint32_t start(std::uint32_t i) const {
        return static_cast<std::uint32_t>(std::uint64_t{i} * length / segments);
    }
    std::uint64_t key(std::uint32_t i, std::uint64_t run) const {
        return mix(run ^ mix((std::uint64_t{length} << 32 | i) + GOLDEN));
    }
};

class EditIndex {
  public:
    EditIndex(const EditTexts &texts, Allowance allowed) : texts_(texts), allowed_(allowed) {
        for (std::size_t i = 0; i < texts.size();) {
            std::size_t last = i + 1;
            while (last < texts.size() && texts.length(last) == texts.length(i)) ++last;
            lengths_.push_back({texts.length(i), i, last, segments_of(texts.length(i))});
            i = last;
        }
        fill();
    }

    const EditTexts &texts() const { return texts_; }
    std::span<const SameLength> lengths() const { return lengths_; }
    Allowance allowed() const { return allowed_; }

    // Calls `take` with the numbers of texts, ascending, that may have a segment of this key, until it returns false.
    void look_up(std::uint64_t key, auto &&take) const {
        if (entries_.empty()) return;
        const std::size_t bucket = key >> shift_;
        for (std::size_t at = starts_[bucket]; at < starts_[bucket + 1]; ++at)
            if (entries_[at].check == static_cast<std::uint32_t>(key) && !take(entries_[at].text)) return;
    }

  private:
    struct Entry {
        std::uint32_t check, text;
    };
    const EditTexts &texts_;
    Allowance allowed_;
    std::vector<SameLength> lengths_;
    std::vector<std::uint32_t> starts_;
    std::vector<Entry> entries_;
    unsigned shift_ = 63;

    // One more than the most edits that any text near enough in length may be away.
    std::uint32_t segments_of(std::uint32_t length) const {
        const auto more = std::views::iota(0u, static_cast<std::uint32_t>(EditTexts::LONGEST) + 1);
        const auto end = std::ranges::partition_point(
            more, [&](std::uint32_t other) { return other <= allowed_(length, length + other); });
        const auto near = static_cast<std::size_t>(end - more.begin());  // 0 more are always near enough
        const std::uint32_t most = allowed_(length, length + near - 1);
        return most < length ? most + 1 : 0;
    }

    void fill() {
        std::size_t count = 0;
        for (const SameLength &same : lengths_) count += same.segments * (same.last - same.first);
        if (count > std::numeric_limits<std::uint32_t>::max()) throw std::invalid_argument("too many segments for one index");
        std::vector<std::uint64_t> keys;
        keys.reserve(count);
        for_each_segment([&](std::uint64_t key, std::size_t) { keys.push_back(key); });
        const auto bits = static_cast<unsigned>(std::max<int>(1, std::bit_width(count)));
        shift_ = 64 - bits;
        starts_.assign((std::size_t{1} << bits) + 1, 0);
        for (const std::uint64_t key : keys) ++starts_[(key >> shift_) + 1];
        std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
        entries_.resize(count);
        std::vector<std::uint32_t> next(starts_.begin(), starts_.end() - 1);
        std::size_t i = 0;
        for_each_segment([&](std::uint64_t, std::size_t text) {
            const std::uint64_t key = keys[i++];
            entries_[next[key >> shift_]++] = {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(text)};
        });
    }

    void for_each_segment(auto &&take) const {
        RunHashes hashes;
        Stop stop;
        for (const SameLength &same : lengths_)
            for (std::size_t text = same.first; same.segments != 0 && text < same.last; ++text) {
                stop.check(2 * same.length + 8 * same.segments);
                hashes.set(texts_[text]);
                for (std::uint32_t i = 0; i < same.segments; ++i) {
                    const std::uint32_t start = same.start(i);
                    take(same.key(i, hashes.of(start, same.start(i + 1) - start)), text);
                }
            }
    }
};

struct EditPairs {
    std::vector<std::uint64_t> pairs;  // places of an indexed text, in the upper half, and of one that was probed
    std::vector<std::uint32_t> distances;
    std::uint64_t met = 0, verified = 0;
    std::size_t next = 0;  // the text to go on with
};

// Looks texts up in an index, from `start` to `stop`, or until there are `most` pairs. Where these are the texts of
// the index itself, each pair is found once, from its later text.
class EditProbe {
  public:
    EditProbe(const EditIndex &index, const EditTexts &probed)
        : index_(index), probed_(probed), is_within_(&probed == &index.texts()), seen_(index.texts().size(), NOBODY) {}

    EditPairs operator()(std::size_t start, std::size_t stop, std::size_t most) {
        for (found_.next = start; found_.next < stop && found_.pairs.size() < most; ++found_.next) probe(found_.next);
        return std::move(found_);
    }

  private:
    static constexpr std::uint32_t NOBODY = ~0u;
    const EditIndex &index_;
    const EditTexts &probed_;
    const bool is_within_;
    std::vector<std::uint32_t> seen_;  // of each indexed text, the last one that met it
    RunHashes hashes_;
    EditDistance distance_;
    EditPairs found_;
    Stop stop_;

    void probe(std::size_t number) {
        hashes_.set(probed_[number]);
        const std::uint32_t length = probed_.length(number);
        const auto lengths = index_.lengths();
        const auto middle = std::ranges::lower_bound(lengths, length, {}, &SameLength::length);
        for (auto same = middle; same != lengths.begin();)
            if (!meet(*--same, number)) break;
        for (auto same = middle; same != lengths.end() && !(is_within_ && same->length > length); ++same)
            if (!meet(*same, number)) break;
    }

    // False where lengths differ by more than is allowed; then those that differ even more do, too.
    bool meet(const SameLength &same, std::size_t number) {
        const std::uint32_t length = probed_.length(number);
        const auto apart = static_cast<std::int64_t>(length) - same.length;
        std::int64_t most = index_.allowed()(same.length, length);
        if (std::abs(apart) > most) return false;
        most -= (most ^ apart) & 1;  // distances have the parity of the difference of lengths
        const std::size_t last = is_within_ ? std::min(same.last, number) : same.last;
        if (same.first >= last) return true;
        // A look into the index costs about as much as a comparison.
        if (same.segments == 0 || last - same.first <= static_cast<std::size_t>(most * most / 2 + most)) {
            for (std::size_t text = same.first; text < last; ++text) compare(text, number, most);
            return true;
        }
        for (std::uint32_t i = 0; i < same.segments && i <= most; ++i) look(same, i, most, number, last);
        return true;
    }

    // The runs of a text that may be segment i of others; the edits that are left are for what follows.
    void look(const SameLength &same, std::uint32_t i, std::int64_t most, std::size_t number, std::size_t last) {
        const std::uint32_t start = same.start(i), width = same.start(i + 1) - start;
        const std::int64_t size = probed_.length(number), apart = size - same.length;
        for (std::int64_t move = -std::int64_t{i}; move <= i; move += 2) {
            const std::int64_t from = start + move;
            if (std::abs(apart - move) > most - i || from < 0 || from + width > size) continue;
            index_.look_up(same.key(i, hashes_.of(static_cast<std::size_t>(from), width)), [&](std::uint32_t text) {
                if (text >= same.first && text < last) compare(text, number, most);
                return text < last;
            });
        }
    }

    void compare(std::size_t text, std::size_t number, std::int64_t most) {
        ++found_.met;
        stop_.check(16);
        if (std::popcount(index_.texts().parity(text) ^ probed_.parity(number)) > most) return;
        if (seen_[text] == static_cast<std::uint32_t>(number)) return;
        seen_[text] = static_cast<std::uint32_t>(number);
        ++found_.verified;
        const auto limit = static_cast<std::uint32_t>(most);
        const std::uint32_t distance = distance_(index_.texts()[text], probed_[number], limit);
        if (distance == TOO_FAR) return;
        found_.pairs.push_back(std::uint64_t{index_.texts().place(text)} << 32 | probed_.place(number));
        found_.distances.push_back(distance);
    }
};

// The distance of each pair, given by places in the texts, or TOO_FAR.
inline std::vector<std::uint32_t> edit_distances(const EditTexts &texts, std::span<const std::uint32_t> first,
                                                 std::span<const std::uint32_t> second, Allowance allowed) {
    std::vector<std::uint32_t> number_of(texts.size()), found(first.size());
    for (std::size_t i = 0; i < texts.size(); ++i) number_of[texts.place(i)] = static_cast<std::uint32_t>(i);
    EditDistance distance;
    Stop stop;
    for (std::size_t i = 0; i < first.size(); ++i) {
        stop.check(16);
        const Points a = texts[number_of[first[i]]], b = texts[number_of[second[i]]];
        found[i] = distance(a, b, allowed(a.size(), b.size()));
    }
    return found;
}

}  // namespace nearly
