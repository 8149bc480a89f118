// Which hashes may be in more than a share of all documents: lossy counting (Manku and Motwani,
// Approximate Frequency Counts over Data Streams, 2002). No such hash is missed; others may be named.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "stop.hpp"

namespace nearly {

// A hash that was in too few documents up to now is forgotten when room is needed. Should it come
// again, it is taken to have been in as many before as that allows. So what is held are the hashes of
// the last few documents, 1 by the share, and those that are frequent.
class Frequency {
  public:
    Frequency(std::uint64_t numerator, std::uint64_t denominator)
        : numerator_(numerator), denominator_(denominator) {
        make_room(0);
    }

    // The next document, each of its hashes once.
    void add(std::span<const std::uint64_t> document) {
        stop_.check(8 * document.size());
        for (const std::uint64_t hash : document) {
            Seen &seen = places_[place_of(hash)];
            const bool is_new = seen.now == 0;
            if (is_new) seen = {hash, 0, forgotten_};
            ++seen.now;
            if (is_new && 2 * ++size_ > places_.size()) forget();
        }
        ++documents_;
        few_ = static_cast<std::uint32_t>(static_cast<unsigned __int128>(documents_) * numerator_ / denominator_);
    }

    // All that may be in more than the share, in order.
    std::vector<std::uint64_t> suspects() const {
        std::vector<std::uint64_t> found;
        for (const Seen &seen : places_)
            if (is_suspect(seen)) found.push_back(seen.hash);
        std::ranges::sort(found);
        return found;
    }

    std::size_t room() const { return places_.size(); }

  private:
    static constexpr std::size_t LEAST = 1 << 10;
    struct Seen {
        std::uint64_t hash;
        std::uint32_t now, before;  // documents: those counted, and the most that may have been forgotten
    };
    std::uint64_t numerator_, denominator_, documents_ = 0;
    std::uint32_t few_ = 0;  // as many documents as a hash may be in and be no suspect
    std::uint32_t forgotten_ = 0;  // the same when hashes were forgotten last
    std::vector<Seen> places_;
    std::size_t size_ = 0;
    unsigned shift_ = 0;
    Stop stop_;

    bool is_suspect(const Seen &seen) const { return seen.now != 0 && seen.now + seen.before > few_; }

    std::size_t place_of(std::uint64_t hash) const {
        std::size_t place = hash >> shift_;
        while (places_[place].now != 0 && places_[place].hash != hash) place = (place + 1) & (places_.size() - 1);
        return place;
    }

    void make_room(std::size_t count) {
        places_.assign(std::bit_ceil(std::max(4 * count, LEAST)), {});
        shift_ = 64 - static_cast<unsigned>(std::bit_width(places_.size()) - 1);
        size_ = count;
    }

    void forget() {
        std::vector<Seen> before;
        before.swap(places_);
        forgotten_ = few_;
        const auto keep = [this](const Seen &seen) { return is_suspect(seen); };
        make_room(static_cast<std::size_t>(std::ranges::count_if(before, keep)));
        for (const Seen &seen : before)
            if (keep(seen)) places_[place_of(seen.hash)] = seen;
    }
};

}  // namespace nearly
