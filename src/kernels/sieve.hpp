// Documents that go by, held against others that stay: which of them share anything, with memory for those that stay only.
//
// A rare run of words is one that few documents have. How many have it is known in the end only, but a run that too many
// had is forgotten at once: each has no more than a few documents at any time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "grams.hpp"
#include "marks.hpp"
#include "neighbours.hpp"
#include "numbering.hpp"
#include "stop.hpp"

namespace nearly::passages {

// Whether any k neighbours are among those of the documents that stay.
class SharedGrams {
  public:
    SharedGrams(std::span<const std::int64_t> offsets, Hashes units, std::size_t k) : k_(k) {
        for (std::size_t i = 0; i + 1 < offsets.size(); ++i)
            roll(units.subspan(static_cast<std::size_t>(offsets[i]), static_cast<std::size_t>(offsets[i + 1] - offsets[i])), k_,
                 [&](std::uint64_t hash, std::size_t) { stop_.check(20), known_.add(hash); });
        marks_.set(known_.hashes());
    }

    bool any(Hashes units) {
        bool is_shared = false;
        stop_.check(5 * units.size());
        roll(units, k_, [&](std::uint64_t hash, std::size_t) { is_shared = is_shared || (marks_.may_have(hash) && known_.find(hash) != Numbering::NONE); });
        return is_shared;
    }

  private:
    std::size_t k_;
    Numbering known_;
    Marks marks_;
    Stop stop_;
};

// Pairs of a document that stays and one that goes by, which share enough rare runs of words.
class PassingPairs {
  public:
    PassingPairs(std::span<const std::int64_t> offsets, Hashes units, const Rarity &rarity) : rarity_(rarity) {
        for (std::uint32_t document = 0; document + 1 < offsets.size(); ++document) {
            const auto from = static_cast<std::size_t>(offsets[document]);
            roll(units.subspan(from, static_cast<std::size_t>(offsets[document + 1]) - from), rarity_.k,
                 [&](std::uint64_t hash, std::size_t) {
                     stop_.check(20);
                     const std::uint32_t number = known_.add(hash);
                     if (number == grams_.size()) grams_.emplace_back();
                     add(grams_[number].staying, grams_[number], document);
                 });
        }
        marks_.set(known_.hashes());
    }

    void take(std::uint32_t document, Hashes units) {
        stop_.check(5 * units.size());
        roll(units, rarity_.k, [&](std::uint64_t hash, std::size_t) {
            if (!marks_.may_have(hash)) return;
            const std::uint32_t number = known_.find(hash);
            if (number != Numbering::NONE) add(grams_[number].passing, grams_[number], document);
        });
    }

    // The one that stays and the one that went by, in one word; in order.
    std::vector<std::uint64_t> pairs() {
        std::vector<std::uint64_t> meetings, found;
        for (const Gram &gram : grams_) {
            stop_.check(10 + gram.staying.size() * gram.passing.size());
            for (const std::uint32_t a : gram.staying)
                for (const std::uint32_t b : gram.passing) meetings.push_back(std::uint64_t{a} << 32 | b);
        }
        std::ranges::sort(meetings, [&](std::uint64_t x, std::uint64_t y) { return stop_.check(5), x < y; });
        for (std::size_t i = 0, end; i < meetings.size(); i = end) {
            for (end = i; end < meetings.size() && meetings[end] == meetings[i];) ++end;
            if (end - i >= rarity_.least_shared) found.push_back(meetings[i]);
        }
        return found;
    }

  private:
    struct Gram {
        std::vector<std::uint32_t> staying, passing;
        bool is_frequent = false;
    };

    Rarity rarity_;
    Numbering known_;
    Marks marks_;
    std::vector<Gram> grams_;
    Stop stop_;

    // Documents come in order, so that one that is there already is the last.
    void add(std::vector<std::uint32_t> &documents, Gram &gram, std::uint32_t document) {
        if (gram.is_frequent || (!documents.empty() && documents.back() == document)) return;
        documents.push_back(document);
        if (gram.staying.size() + gram.passing.size() <= rarity_.most_documents) return;
        gram = {};
        gram.is_frequent = true;
    }
};

}  // namespace nearly::passages
