// Where two documents say the same: seeds, which are pairs of neighbouring stems, pairs of neighbouring content stems and
// content stems alone, each without order; and their meetings.
//
// One document is kept in a table, so that many others can be held against it. A seed that meets too often in the two
// documents says nothing, and is left out.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hashing.hpp"
#include "stop.hpp"

namespace nearly::passages {

// The words of a document by their numbers, and where they stand. Numbers have a stem, and a rarity (0: says nothing alone).
struct Words {
    std::span<const std::uint32_t> numbers;
    std::span<const std::uint32_t> starts, ends;
    std::span<const std::uint8_t> begins;  // whether a sentence begins with the word
    std::span<const std::uint32_t> stem_of;
    std::span<const float> rarity_of;

    std::size_t size() const { return numbers.size(); }
    std::uint32_t stem(std::size_t i) const { return stem_of[numbers[i]]; }
    float rarity(std::size_t i) const { return rarity_of[numbers[i]]; }
};

// Words of the document that is kept, first and last, and of the other.
struct Meeting {
    std::uint32_t a, a_last, b, b_last;
};

class SeedTable {
  public:
    explicit SeedTable(std::uint32_t most_meetings) : most_(most_meetings) {}

    void keep(const Words &words) {
        seeds_.clear();
        slots_.assign(std::bit_ceil(4 * words.size() + 64), {});
        stop_.check(20 * words.size());
        for_each(words, [&](const Key &key, std::uint32_t first, std::uint32_t last) {
            Slot &slot = slots_[place_of(key)];
            seeds_.push_back({first, last, slot.newest});
            slot = {key.value, static_cast<std::uint32_t>(seeds_.size()), slot.here + 1, 0};
        });
        mark();
    }

    // All meetings of the document that is kept with another one.
    void meet(const Words &words, std::vector<Meeting> &meetings) {
        meetings.clear();
        hits_.clear();
        stop_.check(10 * words.size());
        for_each(words, [&](const Key &key, std::uint32_t first, std::uint32_t last) {
            if (!is_marked(key.hash)) return;
            const std::size_t place = place_of(key);
            if (slots_[place].here == 0) return;
            ++slots_[place].there;
            hits_.push_back({place, first, last});
        });
        for (const Hit &hit : hits_) {
            const Slot &slot = slots_[hit.place];
            if (std::uint64_t{slot.here} * slot.there > most_) continue;
            stop_.check(5 * slot.here);
            for (std::uint32_t i = slot.newest; i > 0; i = seeds_[i - 1].before)
                meetings.push_back({seeds_[i - 1].first, seeds_[i - 1].last, hit.first, hit.last});
        }
        for (const Hit &hit : hits_) slots_[hit.place].there = 0;
    }

  private:
    struct Key {
        std::uint64_t value, hash;
    };
    struct Slot {
        std::uint64_t value = 0;
        std::uint32_t newest = 0;           // of its seeds, counted from 1
        std::uint32_t here = 0, there = 0;  // how often it stands in the one document and the other
    };
    struct Seed {
        std::uint32_t first, last;
        std::uint32_t before;  // the one with the same key, counted from 1
    };
    struct Hit {
        std::size_t place;
        std::uint32_t first, last;
    };

    std::uint64_t most_;  // meetings of one seed
    std::vector<Slot> slots_;
    std::vector<std::uint64_t> marks_;
    std::vector<Seed> seeds_;
    std::vector<Hit> hits_;
    Stop stop_;

    std::size_t place_of(const Key &key) const {
        const std::size_t mask = slots_.size() - 1;
        std::size_t i = key.hash & mask;
        while (slots_[i].here > 0 && slots_[i].value != key.value) i = (i + 1) & mask;
        return i;
    }

    // A bit for each seed that can meet at all, so that a look at the others stays in the nearest cache.
    void mark() {
        marks_.assign(slots_.size() / 16, 0);
        for (const Slot &slot : slots_)
            if (slot.here > 0 && slot.here <= most_) {
                const std::uint64_t hash = key_of(slot.value).hash;
                marks_[hash / 64 & (marks_.size() - 1)] |= 1ull << hash % 64;
            }
    }

    bool is_marked(std::uint64_t hash) const { return marks_[hash / 64 & (marks_.size() - 1)] >> hash % 64 & 1; }

    static Key key_of(std::uint64_t value) {
        const std::uint64_t hash = value * GOLDEN;
        return {value, hash ^ hash >> 32};
    }

    static Key both(std::uint32_t x, std::uint32_t y, std::uint64_t kind) {
        return key_of(kind << 62 | std::uint64_t{std::min(x, y) & 0x7FFFFFFF} << 31 | (std::max(x, y) & 0x7FFFFFFF));
    }

    template <typename Take> static void for_each(const Words &words, Take &&take) {
        std::uint32_t content = 0;
        bool has_content = false;
        for (std::uint32_t i = 0; i < words.size(); ++i) {
            if (i > 0) take(both(words.stem(i - 1), words.stem(i), 0), i - 1, i);
            if (words.rarity(i) <= 0) continue;
            take(both(0, words.stem(i), 2), i, i);
            if (has_content) take(both(words.stem(content), words.stem(i), 1), content, i);
            content = i, has_content = true;
        }
    }
};

}  // namespace nearly::passages
