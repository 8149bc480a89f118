// Pairs of documents that share rare k-grams of words, and how many: those that share several are worth aligning.
//
// The k-grams are parted by their hashes. A part is looked at by itself, so that threads can share the work, and tables
// are small enough for a cache; what the parts count is to be summed.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "neighbours.hpp"
#include "radix.hpp"
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
    explicit Frequent(std::size_t most_documents) : entries_(ENTRIES), most_(most_documents) {}

    // Whether more than `most_documents` other documents with this k-gram were seen; documents come in order.
    bool is_known(std::uint64_t hash, std::uint32_t document) {
        Entry &entry = entries_[place_of(hash)];
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

    void fetch(std::uint64_t hash) const { __builtin_prefetch(&entries_[place_of(hash)]); }

  private:
    static constexpr std::uint32_t MOST_HITS = 64;
    static constexpr std::size_t ENTRIES = 1 << 14;
    struct Entry {
        std::uint64_t hash = 0;
        std::size_t documents = 0;
        std::uint32_t last = 0;
        std::uint32_t hits = 0;  // less those of others that want its place
    };

    std::vector<Entry> entries_;
    std::size_t most_;

    static std::size_t place_of(std::uint64_t hash) { return (hash >> 20) % ENTRIES; }
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
        stop_.check(50 * meetings.size());
        radix_sort(meetings, 0, 64);
        SharedRare shared;
        for (std::size_t i = 0, end; i < meetings.size(); i = end) {
            for (end = i; end < meetings.size() && meetings[end] == meetings[i];) ++end;
            shared.pairs.push_back(meetings[i]);
            shared.counts.push_back(static_cast<std::uint32_t>(end - i));
        }
        return shared;
    }

  private:
    using Gram = Hashed;  // and the number of its document

    Corpus corpus_;
    std::size_t k_, most_;
    std::size_t part_ = 0, parts_ = 1;
    std::vector<Gram> grams_;
    Stop stop_;

    static constexpr std::size_t BATCH = 64;

    // Looks at k-grams before they are taken, some of them at once: what they need comes to the cache meanwhile.
    template <typename Look, typename Take> void for_each(std::uint32_t document, Look &&look, Take &&take) {
        std::array<Gram, BATCH> batch;
        std::size_t count = 0;
        const auto flush = [&] {
            stop_.check(10 * BATCH);
            for (std::size_t i = 0; i < count; ++i) look(batch[i].hash);
            for (std::size_t i = 0; i < count; ++i) take(batch[i]);
            count = 0;
        };
        roll(corpus_[document], k_, [&](std::uint64_t hash, std::size_t) {
            batch[count] = {hash, document};
            count += (hash >> 48) * parts_ >> 16 == part_;  // no branch: parts are a matter of chance
            if (count == BATCH) flush();
        });
        flush();
    }

    // Two bits a slot tell most k-grams that one document has, which are most of all; these need no sorting.
    void collect() {
        struct Seen { std::uint64_t before = 0, again = 0; };
        const std::size_t slots = std::bit_ceil(2 * corpus_.units.size() / parts_ + 64);
        std::vector<Seen> seen(slots / 64);
        grams_.clear();
        const auto slot = [&](std::uint64_t hash) -> Seen & { return seen[hash % slots / 64]; };
        const auto bit = [](const Gram &gram) { return 1ull << gram.hash % 64; };
        const auto fetch = [&](std::uint64_t hash) { __builtin_prefetch(&slot(hash)); };
        const auto documents = static_cast<std::uint32_t>(corpus_.size());
        for (std::uint32_t i = 0; i < documents; ++i) {
            for_each(i, fetch, [&](const Gram &gram) { slot(gram.hash).again |= slot(gram.hash).before & bit(gram); });
            for_each(i, fetch, [&](const Gram &gram) { slot(gram.hash).before |= bit(gram); });
        }
        Frequent frequent(most_);
        const auto fetch_both = [&](std::uint64_t hash) { fetch(hash), frequent.fetch(hash); };
        for (std::uint32_t i = 0; i < documents; ++i)
            for_each(i, fetch_both, [&](const Gram &gram) {
                if (slot(gram.hash).again & bit(gram) && !frequent.is_known(gram.hash, i)) grams_.push_back(gram);
            });
        sort_hashed(grams_, [&](std::size_t work) { stop_.check(work); });
    }

    std::vector<std::uint64_t> meet() {
        std::vector<std::uint64_t> meetings;
        std::vector<std::uint32_t> documents;
        for (std::size_t i = 0; i < grams_.size();) {
            const std::uint64_t hash = grams_[i].hash;
            documents.clear();
            for (; i < grams_.size() && grams_[i].hash == hash; ++i)
                if (documents.empty() || documents.back() != grams_[i].number) documents.push_back(grams_[i].number);
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
