// Exact verification: documents as sets of shingle hashes, and how much of them is shared.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "growing.hpp"
#include "hash_table.hpp"
#include "radix.hpp"
#include "shingles.hpp"
#include "stop.hpp"

namespace nearly {

using Set = std::span<const std::uint64_t>;

struct Sets {
    std::vector<std::int64_t> offsets{0};
    Growing<std::uint64_t> hashes;  // of each document, each once; those of a long one in order
};

// The set of a long text, in order. Where it has few different shingles, they are found at once;
// else in parts, of hashes that begin with the same bits: the text is gone through once for each, and
// next to the set only a part of it is ever held.
class LongSet {
  public:
    explicit LongSet(std::size_t least = 1 << 18) : least_(least) {}

    void add(Shingler &shingler, std::span<const std::uint8_t> text, const std::uint8_t *limit,
             Growing<std::uint64_t> &set) {
        const std::size_t most = std::max(least_, text.size() / 32);  // a table is as large as the text then
        unsigned bits = 0;
        while (!add_in_parts(shingler, text, limit, bits, bits == MOST_BITS ? text.size() : most, set)) bits += 2;
    }

  private:
    static constexpr unsigned MOST_BITS = 4;
    std::size_t least_;
    std::vector<std::uint64_t> chosen_;

    // False, and nothing added, if the first part has more than `most` different hashes.
    bool add_in_parts(Shingler &shingler, std::span<const std::uint8_t> text, const std::uint8_t *limit,
                      unsigned bits, std::size_t most, Growing<std::uint64_t> &set) {
        GrowingTable seen(bits);
        for (std::uint64_t part = 0; part < 1u << bits; ++part) {
            seen.clear();
            shingler.in_stretches(text, limit, [&](std::span<const std::uint64_t> some) {
                if (part == 0 && seen.size() > most) return;
                for (const std::uint64_t hash : of_part(some, part, bits)) seen.add(hash);
            });
            if (part == 0 && seen.size() > most) return false;
            set.make_room(seen.size());
            seen.write_in_order(set.data + set.size);
            set.size += seen.size();
        }
        return true;
    }

    std::span<const std::uint64_t> of_part(std::span<const std::uint64_t> some, std::uint64_t part, unsigned bits) {
        if (bits == 0) return some;
        chosen_.resize(std::max(chosen_.size(), some.size()));
        std::size_t count = 0;
        for (const std::uint64_t hash : some) {
            chosen_[count] = hash;
            count += hash >> (64 - bits) == part;
        }
        return {chosen_.data(), count};
    }
};

// Writes each hash once; returns how many there are.
inline std::size_t write_once(Set hashes, BucketTable &seen, std::uint64_t *to) {
    seen.reset(hashes.size());
    return seen.add_new(hashes, to);
}

inline std::size_t bytes_of_short_texts(const Texts &texts, const Shingler &shingler) {
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < texts.size(); ++i) bytes += shingler.is_long(texts[i]) ? 0 : texts[i].size();
    return bytes;
}

// Memory for a hash a byte is asked for, and only as much of it touched as there are shingles; that
// of long texts is asked for as they need it.
inline Sets shingle_sets(const Texts &texts, Shingler &shingler, bool sorted, LongSet long_set = LongSet()) {
    BucketTable seen;
    UniformSorter sort;
    Stop stop;
    Sets sets{.offsets = {0}, .hashes = Growing<std::uint64_t>(bytes_of_short_texts(texts, shingler) + 1)};
    sets.offsets.reserve(texts.size() + 1);
    for (std::size_t i = 0; i < texts.size(); ++i) {
        stop.check(texts[i].size());
        if (shingler.is_long(texts[i])) {
            long_set.add(shingler, texts[i], texts.end(), sets.hashes);
        } else {
            const auto hashes = shingler(texts[i], texts.end());
            sets.hashes.make_room(hashes.size());
            std::uint64_t *const start = sets.hashes.data + sets.hashes.size;
            sets.hashes.size += sorted ? sort.write_once(hashes, start) : write_once(hashes, seen, start);
        }
        sets.offsets.push_back(static_cast<std::int64_t>(sets.hashes.size));
    }
    return sets;
}

// A threshold as a ratio of whole numbers, so that no pair is lost to rounding. What two sets share is
// taken out of what they have together, or, `of_smaller`, out of the smaller one.
struct Threshold {
    std::uint64_t numerator, denominator;
    bool of_smaller = false;

    bool operator==(const Threshold &) const = default;

    std::uint64_t whole(std::uint64_t shared, std::uint64_t a, std::uint64_t b) const {
        return of_smaller ? std::min(a, b) : a + b - shared;
    }
    // Whether sets of sizes a and b that share so much reach the threshold.
    bool reached(std::uint64_t shared, std::uint64_t a, std::uint64_t b) const {
        return static_cast<unsigned __int128>(shared) * denominator >=
               static_cast<unsigned __int128>(whole(shared, a, b)) * numerator;
    }
    // The similarity of sets of sizes a and b that share so much, or a negative number below the threshold.
    double similarity(std::uint64_t shared, std::uint64_t a, std::uint64_t b) const {
        return reached(shared, a, b) ? static_cast<double>(shared) / static_cast<double>(whole(shared, a, b)) : -1;
    }
    // The least number of shared shingles that reaches the threshold for these two sizes.
    std::uint64_t least_shared(std::uint64_t a, std::uint64_t b) const {
        if (of_smaller) return part_of(std::min(a, b));
        const unsigned __int128 ratio = static_cast<unsigned __int128>(numerator) * (a + b);
        const unsigned __int128 both = static_cast<unsigned __int128>(numerator) + denominator;
        return static_cast<std::uint64_t>((ratio + both - 1) / both);
    }
    // The same for a set of this size and any other: the smallest partner asks for the least.
    std::uint64_t least_shared(std::uint64_t size) const {
        return of_smaller ? part_of(std::min<std::uint64_t>(size, 1)) : part_of(size);
    }

  private:
    std::uint64_t part_of(std::uint64_t size) const {
        return static_cast<std::uint64_t>(
            (static_cast<unsigned __int128>(size) * numerator + denominator - 1) / denominator);
    }
};

// How many hashes two sets in order share.
inline std::uint64_t shared_in_order(Set a, Set b, Stop &stop) {
    constexpr std::size_t OFTEN = 1 << 16;
    std::uint64_t shared = 0;
    std::size_t i = 0, j = 0;
    while (i < a.size() && j < b.size()) {
        stop.check(OFTEN);
        for (const std::size_t end = std::min(i + OFTEN, a.size()); i < end && j < b.size();) {
            const std::uint64_t mine = a[i], theirs = b[j];
            shared += mine == theirs;
            i += mine <= theirs;
            j += theirs <= mine;
        }
    }
    return shared;
}

// Compares one set with many: it is put in a table once. A large one stays as it is, and is looked
// through in order: a table of it would take several times its memory and lie outside of any cache.
class Comparer {
  public:
    explicit Comparer(std::size_t most_in_table = MOST_IN_TABLE) : most_in_table_(most_in_table) {}

    // A large set must stay where it is until the next is taken.
    void take(Set set) {
        size_ = set.size();
        large_ = size_ > most_in_table_ ? in_order(set, mine_) : Set();
        if (!large_.empty()) return;
        table_.reset(size_);
        for (const std::uint64_t hash : set) table_.add(hash);
    }

    // How many are shared with another set, or fewer than `least` once that cannot be reached.
    std::uint64_t shared(Set other, std::uint64_t least) {
        if (!large_.empty()) return shared_with_large(other);
        stop_.check(other.size());
        std::uint64_t shared = 0;
        for (std::size_t start = 0; start < other.size(); start += STRETCH) {
            if (shared + other.size() - start < least) return shared;
            shared += table_.count(other.subspan(start, std::min(STRETCH, other.size() - start)));
        }
        return shared;
    }

    // The similarity with another set if it reaches the threshold, else a negative number.
    double similarity(Set other, Threshold threshold) {
        const std::uint64_t least = threshold.least_shared(size_, other.size());
        if (size_ == 0 || other.empty() || std::min(size_, other.size()) < least) return -1;
        return threshold.similarity(shared(other, least), size_, other.size());
    }

  private:
    static constexpr std::size_t STRETCH = 32;  // hashes between two looks at what is left
    static constexpr std::size_t MOST_IN_TABLE = 1 << 18;
    std::size_t most_in_table_;
    BucketTable table_;
    std::size_t size_ = 0;
    Set large_;
    std::vector<std::uint64_t> mine_, theirs_;
    Stop stop_;

    [[gnu::noinline]] std::uint64_t shared_with_large(Set other) {
        return shared_in_order(large_, in_order(other, theirs_), stop_);
    }

    // The set itself where it is in order, as those of long documents are; else a copy.
    [[gnu::noinline]] static Set in_order(Set set, std::vector<std::uint64_t> &copy) {
        if (std::ranges::is_sorted(set)) return set;
        copy.assign(set.begin(), set.end());
        std::ranges::sort(copy);
        return copy;
    }
};

// Where to cut a list of pairs so that the different documents of a block have at most `limit`
// bytes of text (a block has one pair at least): the indices at which blocks end.
inline std::vector<std::int64_t> cut_blocks(std::span<const std::uint32_t> as, std::span<const std::uint32_t> bs,
                                            std::span<const std::int64_t> lengths, std::int64_t limit) {
    std::vector<std::uint32_t> last_block(lengths.size(), 0);
    std::vector<std::int64_t> ends;
    std::uint32_t block = 1;
    std::int64_t size = 0;
    for (std::size_t i = 0; i < as.size(); ++i) {
        for (const std::uint32_t document : {as[i], bs[i]}) {
            if (last_block[document] == block) continue;
            last_block[document] = block;
            size += lengths[document];
        }
        if (size < limit) continue;
        ends.push_back(static_cast<std::int64_t>(i + 1));
        size = 0;
        ++block;
    }
    if (!as.empty() && (ends.empty() || ends.back() < static_cast<std::int64_t>(as.size())))
        ends.push_back(static_cast<std::int64_t>(as.size()));
    return ends;
}

}  // namespace nearly
