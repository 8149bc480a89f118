// Pairs of documents that share rare k-grams of words, and how many: those that share several are worth aligning.
//
// The k-grams are parted by their hashes. A part is looked at by itself, so that threads can share the work, and tables
// are small enough for a cache; what the parts count is to be summed.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "neighbours.hpp"
#include "runs.hpp"
#include "stop.hpp"

namespace nearly::passages {

struct Rarity {
    std::size_t k;
    std::size_t most_documents;  // with a k-gram that is rare
    std::size_t least_shared;    // rare k-grams of a pair
};

struct SharedRare {
    std::vector<std::uint64_t> pairs;  // both documents, a below b, in one word; in order
    std::vector<std::uint32_t> counts;
};

// Knows some of the k-grams that stand in many documents, so that they need not be sorted. It may forget one, and then
// counts its documents anew, so it never takes a rare one for frequent.
class Frequent {
  public:
    explicit Frequent(std::size_t most_documents) : entries_(1 << 14), most_(most_documents) {}

    // Whether more than `most_documents` other documents with this k-gram were seen; documents come in order.
    bool is_known(std::uint64_t hash, std::uint32_t document) {
        Entry &entry = entries_[(hash >> 20) % entries_.size()];
        if (entry.hash != hash) {
            if (entry.hits > 0) return --entry.hits, false;
            entry = {hash, 1, document, 0};
            return false;
        }
        entry.hits += entry.hits < MOST_HITS;
        if (entry.documents > most_ && entry.last != document) return true;
        entry.documents += entry.last != document;
        entry.last = document;
        return false;
    }

  private:
    static constexpr std::uint32_t MOST_HITS = 64;
    struct Entry {
        std::uint64_t hash = 0;
        std::size_t documents = 0;
        std::uint32_t last = 0;
        std::uint32_t hits = 0;  // less those of others that want its place
    };

    std::vector<Entry> entries_;
    std::size_t most_;
};

class RarePairs {
  public:
    RarePairs(const Corpus &corpus, std::size_t k, std::size_t most_documents) : corpus_(corpus), k_(k), most_(most_documents) {}

    // Of the k-grams of one of several parts.
    SharedRare operator()(std::size_t part, std::size_t parts) {
        if (k_ > corpus_.units.size()) return {};
        part_ = part, parts_ = parts;
        collect();
        std::vector<std::uint64_t> meetings = meet();
        std::ranges::sort(meetings, [&](std::uint64_t x, std::uint64_t y) { return stop_.check(5), x < y; });
        SharedRare shared;
        for (std::size_t i = 0, end; i < meetings.size(); i = end) {
            for (end = i; end < meetings.size() && meetings[end] == meetings[i];) ++end;
            shared.pairs.push_back(meetings[i]);
            shared.counts.push_back(static_cast<std::uint32_t>(end - i));
        }
        return shared;
    }

  private:
    struct Gram {
        std::uint64_t hash;
        std::uint32_t document;
    };

    Corpus corpus_;
    std::size_t k_, most_;
    std::size_t part_ = 0, parts_ = 1;
    std::vector<Gram> grams_;
    Stop stop_;

    template <typename Take> void for_each(Take &&take) {
        for (std::size_t document = 0; document < corpus_.size(); ++document)
            roll(corpus_[document], k_, [&](std::uint64_t hash, std::size_t) {
                stop_.check(5);
                if ((hash >> 48) * parts_ >> 16 == part_) take(hash, static_cast<std::uint32_t>(document));
            });
    }

    // Two bits a slot tell most k-grams that stand in one place, which are most of all; these need no sorting.
    void collect() {
        const std::size_t slots = std::bit_ceil(2 * corpus_.units.size() / parts_ + 64);
        grams_.clear();
        std::vector<std::uint64_t> once(slots / 64), again(slots / 64);
        for_each([&](std::uint64_t hash, std::uint32_t) {
            const std::size_t slot = hash & (slots - 1);
            const std::uint64_t bit = 1ull << (slot % 64);
            again[slot / 64] |= once[slot / 64] & bit;
            once[slot / 64] |= bit;
        });
        Frequent frequent(most_);
        for_each([&](std::uint64_t hash, std::uint32_t document) {
            const std::size_t slot = hash & (slots - 1);
            if (!(again[slot / 64] >> (slot % 64) & 1)) return;
            if (!frequent.is_known(hash, document)) grams_.push_back({hash, document});
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
            if (documents.size() > most_) continue;
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
