// Runs of words that two documents share but for some that were replaced: all that hold a few words in a row unchanged.
//
// The words of one side are indexed by every few in a row. A document of the other side is held against them: where words
// in a row are equal, the run goes on in both directions as long as there are more equal words than replaced ones.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "likeness.hpp"
#include "marks.hpp"
#include "neighbours.hpp"
#include "numbering.hpp"
#include "stop.hpp"

namespace nearly::passages {

struct NearRun {
    std::uint32_t a, b, a_start, b_start, length;
    double likeness;
    auto operator<=>(const NearRun &) const = default;
};

class NearRuns {
  public:
    static constexpr std::size_t SEED = 4;          // words in a row
    static constexpr std::size_t MOST_PLACES = 64;  // of a seed on the indexed side
    static constexpr std::ptrdiff_t DROP = 4;       // replaced words, less equal ones, that end a run
    static constexpr double LEAST_EQUAL = 0.8;

    NearRuns(std::span<const std::int64_t> offsets, Hashes units, std::size_t least)
        : offsets_(offsets.begin(), offsets.end()), units_(units.begin(), units.end()), least_(least),
          is_seed_(units.size()) {
        std::vector<std::uint32_t> counts;
        for_each([&](std::uint64_t hash, std::uint32_t, std::size_t) {
            const std::uint32_t number = seeds_.add(hash);
            if (number == counts.size()) counts.push_back(0);
            ++counts[number];
        });
        marks_.set(seeds_.hashes());
        firsts_.assign(counts.size() + 1, 0);
        for (std::size_t i = 0; i < counts.size(); ++i)
            firsts_[i + 1] = firsts_[i] + (counts[i] > MOST_PLACES ? 0 : counts[i]);
        places_.resize(firsts_.back());
        std::vector<std::size_t> next(firsts_.begin(), firsts_.end() - 1);
        for_each([&](std::uint64_t hash, std::uint32_t document, std::size_t place) {
            const std::uint32_t number = seeds_.find(hash);
            if (firsts_[number] == firsts_[number + 1]) return;
            places_[next[number]++] = {document, static_cast<std::uint32_t>(place)};
            is_seed_[static_cast<std::size_t>(offsets_[document]) + place] = 1;
        });
    }

    // Adds the near runs of all indexed documents with this one, in order and each once.
    void find(std::uint32_t document, Hashes units, std::vector<NearRun> &found) {
        const std::size_t before = found.size();
        roll(units, SEED, [&](std::uint64_t hash, std::size_t place) {
            stop_.check(5);
            if (!marks_.may_have(hash)) return;
            const std::uint32_t number = seeds_.find(hash);
            if (number == Numbering::NONE) return;
            for (std::size_t i = firsts_[number]; i < firsts_[number + 1]; ++i) extend(places_[i], document, units, place, found);
        });
        std::sort(found.begin() + static_cast<std::ptrdiff_t>(before), found.end());
        found.erase(std::unique(found.begin() + static_cast<std::ptrdiff_t>(before), found.end()), found.end());
    }

  private:
    struct Place {
        std::uint32_t document, place;
    };

    std::vector<std::int64_t> offsets_;
    std::vector<std::uint64_t> units_;
    std::size_t least_;
    std::vector<std::uint8_t> is_seed_;  // of each place
    Numbering seeds_;
    Marks marks_;
    std::vector<std::size_t> firsts_;
    std::vector<Place> places_;
    Likeness likeness_;
    Stop stop_;

    Hashes indexed(std::uint32_t document) const {
        const auto from = static_cast<std::size_t>(offsets_[document]);
        return Hashes(units_).subspan(from, static_cast<std::size_t>(offsets_[document + 1]) - from);
    }

    template <typename Take> void for_each(Take &&take) {
        for (std::uint32_t document = 0; document + 1 < offsets_.size(); ++document)
            roll(indexed(document), SEED, [&](std::uint64_t hash, std::size_t place) {
                stop_.check(20);
                take(hash, document, place);
            });
    }

    // How far equal words outweigh replaced ones, of those that `equals` tells of.
    template <typename Equals> std::size_t reach(std::size_t most, Equals &&equals) {
        std::ptrdiff_t score = 0, best = 0;
        std::size_t end = 0;
        for (std::size_t i = 0; i < most; ++i) {
            stop_.check(2);
            score += equals(i) ? 1 : -1;
            if (score > best) best = score, end = i + 1;
            else if (score <= best - DROP) break;
        }
        return end;
    }

    void extend(const Place &seed, std::uint32_t document, Hashes b, std::size_t j, std::vector<NearRun> &found) {
        const Hashes a = indexed(seed.document);
        const std::size_t i = seed.place;
        // The seed one word before reached this one.
        const std::size_t here = static_cast<std::size_t>(offsets_[seed.document]) + i;
        if (i > 0 && j > 0 && a[i - 1] == b[j - 1] && is_seed_[here - 1]) return;
        if (!std::equal(a.begin() + i, a.begin() + i + SEED, b.begin() + j)) return;
        const std::size_t left = reach(std::min(i, j), [&](std::size_t n) { return a[i - 1 - n] == b[j - 1 - n]; });
        const std::size_t behind = std::min(a.size() - i, b.size() - j) - SEED;
        const std::size_t right = reach(behind, [&](std::size_t n) { return a[i + SEED + n] == b[j + SEED + n]; });
        keep(seed.document, a.subspan(i - left, left + SEED + right), i - left, document, b.subspan(j - left, left + SEED + right), j - left, found);
    }

    void keep(std::uint32_t a, Hashes one, std::size_t i, std::uint32_t b, Hashes other, std::size_t j, std::vector<NearRun> &found) {
        if (one.size() < least_) return;
        std::size_t equal = 0;
        for (std::size_t n = 0; n < one.size(); ++n) equal += one[n] == other[n];
        if (equal == one.size() || static_cast<double>(equal) < LEAST_EQUAL * static_cast<double>(one.size())) return;
        found.push_back({a, b, static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j),
                         static_cast<std::uint32_t>(one.size()), likeness_(one, other)});
    }
};

}  // namespace nearly::passages
