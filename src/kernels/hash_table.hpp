// Sets of 64-bit hashes, for loops that only add and ask.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "hashing.hpp"

namespace nearly {

// A set that grows with what is in it, and gives it back in order. A hash stands at the place that
// its leading bits say, behind the first `known` ones that all have in common, or soon after.
class GrowingTable {
  public:
    explicit GrowingTable(unsigned known = 0) : known_(known) {}

    std::size_t size() const { return size_ + has_zero_; }

    // Forgets everything, and keeps the room.
    void clear() {
        if (size() == 0) return;
        std::fill(places_.begin(), places_.end(), 0);
        size_ = 0;
        has_zero_ = false;
    }

    void add(std::uint64_t hash) {
        if (hash == 0) {
            has_zero_ = true;
            return;
        }
        while (!put(hash)) grow();
        if (4 * size_ > 3 * (places_.size() - BEHIND)) grow();
    }

    bool has(std::uint64_t hash) const {
        if (hash == 0) return has_zero_;
        for (std::size_t i = hash << known_ >> (64 - bits_); i < places_.size() && places_[i] != 0; ++i)
            if (places_[i] == hash) return true;
        return false;
    }

    // Writes all of it to `to`, which has room for `size()`.
    void write_in_order(std::uint64_t *to) const {
        std::uint64_t *const start = to;
        if (has_zero_) *to++ = 0;
        for (const std::uint64_t hash : places_) {
            if (hash == 0) continue;
            std::uint64_t *place = to++;
            for (; place > start && place[-1] > hash; --place) *place = place[-1];
            *place = hash;
        }
    }

  private:
    static constexpr std::size_t BEHIND = 1 << 8;  // places behind the last, so that nothing goes around
    unsigned known_, bits_ = 12;
    std::vector<std::uint64_t> places_ = std::vector<std::uint64_t>((std::size_t{1} << bits_) + BEHIND);
    std::size_t size_ = 0;
    bool has_zero_ = false;

    // False where there is no place for it.
    bool put(std::uint64_t hash) {
        for (std::size_t i = hash << known_ >> (64 - bits_); i < places_.size(); ++i) {
            if (places_[i] == hash) return true;
            if (places_[i] != 0) continue;
            places_[i] = hash;
            ++size_;
            return true;
        }
        return false;
    }

    void grow() {
        std::vector<std::uint64_t> before;
        before.swap(places_);
        do {
            places_.assign((std::size_t{1} << ++bits_) + BEHIND, 0);
            size_ = 0;
        } while (!std::ranges::all_of(before, [this](std::uint64_t hash) { return hash == 0 || put(hash); }));
    }
};

// Four places to a bucket, so that a look is one comparison of
// four and no guess. The few hashes that find their bucket full are kept apart, and looked for there
// only if they belong in such a bucket: of a large set there are many, and a look at all of them for
// each hash would take the square of its size.
class BucketTable {
  public:
    // Forgets everything and makes room for `count` hashes.
    void reset(std::size_t count) {
        const auto bits = std::clamp(static_cast<unsigned>(std::bit_width(count)), 2u, MOST_BITS);
        shift_ = 64 - bits;
        // A free place holds a hash that belongs into another bucket: no look can take it for a find.
        places_.assign(PLACES << bits, 0);
        std::fill_n(places_.begin(), PLACES, ~std::uint64_t{0});
        taken_.assign(std::size_t{1} << bits, 0);
        apart_.clear();
    }

    // Whether it was not there yet.
    bool add(std::uint64_t hash) {
        const std::size_t bucket = hash >> shift_;
        std::uint64_t *const places = places_.data() + bucket * PLACES;
        if ((places[0] == hash) | (places[1] == hash) | (places[2] == hash) | (places[3] == hash)) return false;
        if (taken_[bucket] < PLACES) {
            places[taken_[bucket]++] = hash;
            return true;
        }
        if (apart_.has(hash)) return false;
        taken_[bucket] = OVERFULL;
        apart_.add(hash);
        return true;
    }

    // Adds all of them, and writes those that were not there yet; returns how many.
    std::size_t add_new(std::span<const std::uint64_t> hashes, std::uint64_t *to) {
        std::size_t written = 0;
        for (std::size_t done = 0; done < hashes.size();) {
            const std::span<const std::uint64_t> left = hashes.subspan(done);
            done += put_new(places_.data(), taken_.data(), shift_, left, to, written);
            if (done == hashes.size()) break;
            const std::uint64_t hash = hashes[done++];  // its bucket is full
            to[written] = hash;
            written += add(hash);
        }
        return written;
    }

    // How many of these are there.
    std::size_t count(std::span<const std::uint64_t> hashes) const {
        std::size_t found = look_up(places_.data(), shift_, hashes.data(), hashes.size());
        if (apart_.size() == 0) return found;
        for (const std::uint64_t hash : hashes)
            if (taken_[hash >> shift_] == OVERFULL) found += apart_.has(hash);
        return found;
    }

  private:
    static constexpr std::size_t PLACES = 4;
    static constexpr std::uint8_t OVERFULL = PLACES + 1;
    static constexpr unsigned MOST_BITS = 24;
    unsigned shift_ = 62;
    std::vector<std::uint64_t> places_;
    std::vector<std::uint8_t> taken_;  // places of each bucket, or OVERFULL
    GrowingTable apart_;

    // Up to the first whose bucket is full: how many that were, and how many of them are `written` now. Whether a hash
    // was there is no branch, for that is hard to guess; what it is handed lies in registers, which writing bytes would
    // not allow of members.
    NEARLY_CLONES static std::size_t put_new(std::uint64_t *places, std::uint8_t *taken, unsigned shift,
                                             std::span<const std::uint64_t> hashes, std::uint64_t *to,
                                             std::size_t &written) {
        std::size_t count = written, i = 0;
        for (; i < hashes.size(); ++i) {
            const std::uint64_t hash = hashes[i];
            const std::size_t bucket = hash >> shift, free = taken[bucket];
            if (free >= PLACES) break;
            std::uint64_t *const mine = places + bucket * PLACES;
            const bool is_new = !((mine[0] == hash) | (mine[1] == hash) | (mine[2] == hash) | (mine[3] == hash));
            to[count] = hash;
            count += is_new;
            mine[free] = is_new ? hash : mine[free];
            taken[bucket] = static_cast<std::uint8_t>(free + is_new);
        }
        written = count;
        return i;
    }

    NEARLY_CLONES static std::size_t look_up(const std::uint64_t *places, unsigned shift, const std::uint64_t *hashes,
                                             std::size_t count) {
        typedef std::int64_t Four __attribute__((vector_size(PLACES * sizeof(std::int64_t))));
        Four found{};  // minus one for each find, in the lane of its place
        for (std::size_t i = 0; i < count; ++i) {
            Four bucket;
            std::memcpy(&bucket, places + (hashes[i] >> shift) * PLACES, sizeof bucket);
            found += bucket == static_cast<std::int64_t>(hashes[i]);
        }
        return static_cast<std::size_t>(-(found[0] + found[1] + found[2] + found[3]));
    }
};

}  // namespace nearly
