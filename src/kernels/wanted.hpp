// Texts that have some words in them, whether their letters are small or capital.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hashing.hpp"
#include "stop.hpp"
#include "texts.hpp"

namespace nearly {

// Words in small and in capital letters, as UTF-8; a character takes as many bytes in one as in the other.
struct Wanted {
    std::span<const std::uint8_t> small, capital;

    std::size_t size() const { return small.size(); }

    // Where the next character begins.
    std::size_t after(std::size_t i) const {
        for (++i; i < size() && (small[i] & 0xC0) == 0x80;) ++i;
        return i;
    }

    // Whether these bytes, which are as many, are the words: each character small or capital. Most are not, and a byte says so.
    bool are(const std::uint8_t *bytes) const {
        for (std::size_t i = 0; i < size(); ++i)
            if (bytes[i] != small[i] && bytes[i] != capital[i]) return false;
        for (std::size_t i = 0, next; i < size(); i = next) {
            next = after(i);
            const auto is_at = [&](auto letters) { return std::equal(bytes + i, bytes + next, letters.begin() + i); };
            if (!is_at(small) && !is_at(capital)) return false;
        }
        return true;
    }
};

// A byte of the words: the last one of a character, for what characters of one script begin with tells too little.
struct Mark {
    std::size_t at;
    std::uint8_t small, capital;

    Mark(const Wanted &wanted, std::size_t character)
        : at(wanted.after(character) - 1), small(wanted.small[at]), capital(wanted.capital[at]) {}

    bool is_in(const std::uint8_t *here) const { return (here[at] == small) | (here[at] == capital); }
};

// Of the next places, 1 for each where the words may begin.
using Places = std::array<std::uint8_t, 64>;

// Leaves those where both marks are, and says whether there are any; without a branch, so that all are looked at together.
NEARLY_CLONES inline bool narrow(const std::uint8_t *from, const Mark one, const Mark other, Places &places) {
    std::uint8_t any = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
        const bool are_here = one.is_in(from + i) & other.is_in(from + i);
        any |= places[i] = static_cast<std::uint8_t>(places[i] & are_here);
    }
    return any != 0;
}

// Where the words next begin from here on; where they do not, the end.
class Seeker {
  public:
    explicit Seeker(const Wanted &wanted)
        : wanted_(wanted), first_(wanted, 0), middle_(wanted, wanted.size() / 2), last_(wanted, wanted.size() - 1) {}

    const std::uint8_t *operator()(const std::uint8_t *from, const std::uint8_t *end) {
        Places places;
        for (; static_cast<std::size_t>(end - from) >= places.size() + last_.at; from += places.size()) {
            stop_.check(places.size() / 8);
            places.fill(1);
            if (!narrow(from, first_, last_, places) || !narrow(from, middle_, middle_, places)) continue;
            for (std::size_t eight = 0; eight < places.size(); eight += 8)
                for (std::uint64_t left = load_word(places.data() + eight); left != 0; left &= left - 1) {
                    const std::uint8_t *const here = from + eight + static_cast<std::size_t>(std::countr_zero(left) / 8);
                    if (wanted_.are(here)) return here;
                }
        }
        for (; static_cast<std::size_t>(end - from) >= wanted_.size(); ++from)
            if (wanted_.are(from)) return from;
        return end;
    }

  private:
    Wanted wanted_;
    Mark first_, middle_, last_;
    Stop stop_;
};

// 1 for each text that has the words, and 0. All texts are gone through as one: most of them have nothing.
inline std::vector<std::uint8_t> texts_having(const Texts &texts, const Wanted &wanted) {
    std::vector<std::uint8_t> has(texts.size(), wanted.size() == 0);
    if (wanted.size() == 0) return has;
    Seeker next(wanted);
    std::size_t row = 0;
    for (const std::uint8_t *at = texts.data + texts.offsets.front();;) {
        const std::uint8_t *const found = next(at, texts.end());
        if (found == texts.end()) return has;
        while (texts.data + texts.offsets[row + 1] <= found) ++row;
        const std::uint8_t *const end = texts.data + texts.offsets[row + 1];
        const bool is_inside = static_cast<std::size_t>(end - found) >= wanted.size();
        if (is_inside) has[row] = 1;
        at = is_inside ? end : found + 1;
    }
}

}  // namespace nearly
