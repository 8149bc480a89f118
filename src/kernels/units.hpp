// The words or characters of a text, each with its place in the text as it was given.
//
// A unit has the number of its text. Each text is collected once, so that the caller can normalise it once; the case of
// plain ASCII is folded here, so that there are fewer of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hashing.hpp"
#include "numbering.hpp"
#include "stop.hpp"
#include "unicode_text.hpp"

namespace nearly::passages {

struct Cut {
    bool words;  // or characters, each with the marks that follow it
    bool folds;  // ASCII letters to lower case
};

struct Units {
    std::vector<std::uint32_t> numbers;
    std::vector<std::uint32_t> starts, ends;  // code points of the text
    std::vector<std::uint8_t> begins;         // whether a sentence begins with the unit

    std::vector<std::uint8_t> texts;  // the different units, one behind the other
    std::vector<std::int64_t> text_ends{0};
};

class Cutter {
  public:
    static constexpr std::uint64_t SEED = 1;

    Cutter(const Cut &cut, Units &units) : cut_(cut), units_(units) {
        for (char32_t c = 0; c < 0x80; ++c) {
            kinds_[c] = kind_of(c);
            folds_[c] = static_cast<std::uint8_t>(cut.folds && c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
        }
    }

    void document(std::span<const std::uint8_t> text) {
        const std::uint8_t *at = text.data(), *const end = at + text.size();
        std::uint32_t place = 0;
        begins_ = true;
        ended_ = false;
        while (at < end) {
            stop_.check(10);
            const std::uint8_t *const start = at;
            const std::uint32_t first = place;
            char32_t c = next(at, end, place);
            const Kind kind = kind_at(c);
            if (cut_.words && kind == OTHER) {
                look_for_ending(c);
                continue;
            }
            bool is_plain = c < 0x80;
            if (is_plain && cut_.words) {  // most words are plain to their end
                while (at < end && kinds_[*at] == WORD) ++at;
                place = first + static_cast<std::uint32_t>(at - start);
            }
            for (const std::uint8_t *ahead = at; ahead < end; ahead = at) {
                std::uint32_t further = place;
                c = next(ahead, end, further);
                if (!continues_unit(kind, kind_at(c))) break;
                is_plain &= c < 0x80;
                at = ahead, place = further;
            }
            add(start, at, is_plain, first, place);
            if (!cut_.words && kind == SPACE) continue;
            begins_ = ended_ = false;
        }
    }

  private:
    enum Kind : std::uint8_t { OTHER, WORD, ALONE, MARK, SPACE };

    Cut cut_;
    Units &units_;
    std::array<Kind, 0x100> kinds_{};  // of bytes: OTHER for those that are no character of their own
    std::array<std::uint8_t, 0x80> folds_;
    Numbering collected_;
    std::vector<std::uint8_t> folded_;
    bool begins_ = true, ended_ = false;
    Stop stop_;

    static char32_t next(const std::uint8_t *&at, const std::uint8_t *end, std::uint32_t &place) {
        ++place;
        return unicode::decode(at, end);
    }

    static Kind kind_of(char32_t c) {
        const std::uint16_t traits = unicode::traits_of(c);
        if (traits & unicode::space) return SPACE;
        if (traits & unicode::mark) return MARK;
        if (traits & unicode::stands_alone) return ALONE;
        return traits & (unicode::letter | unicode::digit | unicode::number) ? WORD : OTHER;
    }

    Kind kind_at(char32_t c) const {
        const Kind kind = c < 0x80 ? kinds_[c] : kind_of(c);
        return cut_.words && kind == SPACE ? OTHER : kind;
    }

    bool continues_unit(Kind first, Kind next) const {
        if (next == MARK) return true;
        if (cut_.words) return first != ALONE && next == WORD;
        return first == SPACE && next == SPACE;
    }

    // A sentence ends with its sign and white space behind it, or with its line.
    void look_for_ending(char32_t c) {
        if (c == '\n' || c == 0x3002 || c == 0xFF01 || c == 0xFF1F || c == 0x2029) begins_ = true;
        else if (c == '.' || c == '!' || c == '?' || c == 0x2026) ended_ = true;
        else if (ended_ && (unicode::traits_of(c) & unicode::space)) begins_ = true;
    }

    void add(const std::uint8_t *start, const std::uint8_t *end, bool is_plain, std::uint32_t first, std::uint32_t last) {
        std::span<const std::uint8_t> bytes{start, end};
        stop_.check(10 * bytes.size());
        if (is_plain) bytes = plain(bytes);
        const std::uint32_t known = collected_.size();
        const std::uint32_t number = collected_.add(hash_bytes(SEED, bytes.data(), bytes.size()));
        units_.numbers.push_back(number);
        units_.starts.push_back(first);
        units_.ends.push_back(last);
        units_.begins.push_back(begins_);
        if (number < known) return;
        units_.texts.insert(units_.texts.end(), bytes.begin(), bytes.end());
        units_.text_ends.push_back(static_cast<std::int64_t>(units_.texts.size()));
    }

    std::span<const std::uint8_t> plain(std::span<const std::uint8_t> bytes) {
        const bool is_space = !cut_.words && kinds_[bytes[0]] == SPACE;
        if (folded_.size() < bytes.size()) folded_.resize(bytes.size());
        if (is_space) folded_[0] = ' ';
        else std::ranges::transform(bytes, folded_.begin(), [&](std::uint8_t byte) { return folds_[byte]; });
        return {folded_.data(), is_space ? 1 : bytes.size()};
    }
};

}  // namespace nearly::passages
