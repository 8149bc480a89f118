// Pairs of documents that share several rare k-grams of words: those that are worth aligning.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "hashing.hpp"
#include "runs.hpp"
#include "stop.hpp"

namespace nearly::passages {

struct Rarity {
    std::size_t k;
    std::size_t most_documents;  // with a k-gram that is rare
    std::size_t least_shared;    // rare k-grams of a pair
};

class RarePairs {
  public:
    RarePairs(const Corpus &corpus, const Rarity &rarity) : corpus_(corpus), rarity_(rarity) {}

    // Numbers of both documents, a below b, in one word; in order.
    std::vector<std::uint64_t> operator()() {
        if (rarity_.k > corpus_.units.size()) return {};
        collect();
        std::vector<std::uint64_t> meetings = meet();
        std::ranges::sort(meetings, [&](std::uint64_t x, std::uint64_t y) { return stop_.check(5), x < y; });
        std::vector<std::uint64_t> pairs;
        for (std::size_t i = 0, end; i < meetings.size(); i = end) {
            for (end = i; end < meetings.size() && meetings[end] == meetings[i];) ++end;
            if (end - i >= rarity_.least_shared) pairs.push_back(meetings[i]);
        }
        return pairs;
    }

  private:
    struct Gram {
        std::uint64_t hash;
        std::uint32_t document;
    };

    Corpus corpus_;
    Rarity rarity_;
    std::vector<Gram> grams_;
    Stop stop_;

    template <typename Take> void for_each(Take &&take) {
        std::uint64_t leading = 1;
        for (std::size_t i = 1; i < rarity_.k; ++i) leading *= WORD_BASE;
        for (std::size_t document = 0; document < corpus_.size(); ++document) {
            const auto units = corpus_[document];
            std::uint64_t rolled = 0;
            for (std::size_t i = 0; i < units.size(); ++i) {
                stop_.check(5);
                if (i >= rarity_.k) rolled -= units[i - rarity_.k] * leading;
                rolled = rolled * WORD_BASE + units[i];
                if (i + 1 >= rarity_.k) take(mix(rolled), static_cast<std::uint32_t>(document));
            }
        }
    }

    // Two bits a slot tell most k-grams that stand in one place, which are most of all; these need no sorting.
    void collect() {
        const std::size_t slots = std::bit_ceil(2 * corpus_.units.size() + 64);
        std::vector<std::uint64_t> once(slots / 64), again(slots / 64);
        for_each([&](std::uint64_t hash, std::uint32_t) {
            const std::size_t slot = hash & (slots - 1);
            const std::uint64_t bit = 1ull << (slot % 64);
            again[slot / 64] |= once[slot / 64] & bit;
            once[slot / 64] |= bit;
        });
        for_each([&](std::uint64_t hash, std::uint32_t document) {
            const std::size_t slot = hash & (slots - 1);
            if (again[slot / 64] >> (slot % 64) & 1) grams_.push_back({hash, document});
        });
        std::ranges::sort(grams_, [&](const Gram &x, const Gram &y) {
            stop_.check(5);
            return x.hash != y.hash ? x.hash < y.hash : x.document < y.document;
        });
    }

    std::vector<std::uint64_t> meet() {
        std::vector<std::uint64_t> meetings;
        std::vector<std::uint32_t> documents;
        for (std::size_t i = 0; i < grams_.size();) {
            const std::uint64_t hash = grams_[i].hash;
            documents.clear();
            for (; i < grams_.size() && grams_[i].hash == hash; ++i)
                if (documents.empty() || documents.back() != grams_[i].document) documents.push_back(grams_[i].document);
            if (documents.size() > rarity_.most_documents) continue;
            for (std::size_t x = 0; x < documents.size(); ++x) {
                stop_.check(2 * documents.size());
                for (std::size_t y = x + 1; y < documents.size(); ++y)
                    if (corpus_.compares(documents[x], documents[y]))
                        meetings.push_back(std::uint64_t{documents[x]} << 32 | documents[y]);
            }
        }
        return meetings;
    }
};

}  // namespace nearly::passages
