// Text normalisation: the text of a document as its shingles are cut from it.
//
// One pass, one code point at a time, through three steps: `map` (case, accents), `filter`
// (digits, punctuation) and `place` (words, stop words, white space). Runs of plain ASCII
// skip the steps and go by a table of 256 bytes. All output is well-formed UTF-8; what is not in
// the input counts as U+FFFD. Normal forms are not made here: see normal_form.hpp.
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "eight_bytes.hpp"
#include "growing.hpp"
#include "stop.hpp"
#include "stop_words.hpp"
#include "unicode_text.hpp"

namespace nearly::normalise {

enum class Space { keep, collapse, drop };

struct Options {
    bool fold_case;
    bool drop_accents;
    bool drop_digits;
    bool drop_punctuation;
    bool keep_mentions;
    bool words;  // the unit is the word; white space is then always collapsed
    Space space;
};

using Bytes = Growing<Byte>;

// The high bit of each of eight ASCII bytes that is at least `bound`.
inline std::uint64_t at_least(Byte bound, std::uint64_t bytes) {
    return (bytes + ones * (0x80 - bound)) & high_bits;
}

class Normaliser {
  public:
    // A byte gives at most four: a folded letter of two bytes can become six, a byte that is no
    // UTF-8 three, and a space before it. The rest is for a code point over the edge of the block,
    // and a held sign.
    static constexpr std::ptrdiff_t block = 1 << 14;
    static constexpr std::size_t room = 4 * block + 64;

    Normaliser(const Options &options, StopWords &stop_words, Bytes &out)
        : options_(options), stop_words_(stop_words), out_(out) {
        if (options.words) options_.space = Space::collapse;
        for (char32_t c = 0; c < 0x80; ++c) plan_ascii(c);
        eight_at_once_ = std::endian::native == std::endian::little &&
                         std::all_of(ascii_, ascii_ + 0x80, [](Byte plan) {
                             return (plan & (quick | kept)) == (quick | kept);
                         });
    }

    // Adds the normalised text to the output.
    void document(const Byte *p, const Byte *end) {
        begin_ = out_.size;
        held_sign_ = 0;
        in_mention_ = in_token_ = stands_alone_ = swallowing_ = false;
        while (p < end) {
            const Byte *stop = end - p > block ? p + block : end;
            out_.make_room(room);
            stop_.check(block);
            while (p < stop) {
                if ((ascii_[*p] & quick) && !held_sign_ && !in_mention_ && !stands_alone_)
                    p = ascii_run(p, stop);
                else
                    map(unicode::decode(p, end));
            }
        }
        finish();
    }

  private:
    enum : Byte { quick = 1, kept = 2, separates = 4 };

    // What a run of ASCII does with `c`. A byte that is not quick goes through all steps.
    void plan_ascii(char32_t c) {
        const std::uint16_t traits = unicode::traits_of(c);
        const bool is_space = traits & unicode::space;
        const bool drops_digit = options_.drop_digits && (traits & unicode::digit);
        const bool drops_punctuation =
            options_.drop_punctuation && (traits & unicode::punctuation);
        const bool drops_space = is_space && options_.space == Space::drop;
        const bool drops = drops_digit || drops_punctuation || drops_space;
        const bool collapses = is_space && options_.space == Space::collapse;
        const bool may_be_mention =
            drops_punctuation && options_.keep_mentions && (is_sign(c) || is_underscore(c));
        const bool may_end_stop_word = is_space && !stop_words_.empty();

        ascii_[c] = (may_be_mention || may_end_stop_word ? 0 : quick) | (drops ? 0 : kept) |
                    (collapses ? separates : 0);
        ascii_to_[c] = static_cast<Byte>(collapses ? U' ' : c);
        if (options_.fold_case && (traits & unicode::folds))
            unicode::fold(c, [&](char32_t lower) { ascii_to_[c] = static_cast<Byte>(lower); });
    }

    const Byte *ascii_run(const Byte *p, const Byte *stop) {
        bool in_gap = !in_token_;
        Byte *to = out_.data + out_.size;
        for (bool goes_on = true; goes_on && p < stop;) {
            if (eight_at_once_ && stop - p >= 8 && take_eight(p, to, in_gap)) continue;
            goes_on = take_singly(p, p + std::min<std::ptrdiff_t>(8, stop - p), to, in_gap);
        }
        if (!in_token_) token_ = out_.size;
        in_token_ = !in_gap;
        out_.size = to - out_.data;
        return p;
    }

    // Takes ASCII up to `stop`; false if there was a byte that is not quick before it.
    bool take_singly(const Byte *&p, const Byte *stop, Byte *&to, bool &in_gap) const {
        for (; p < stop; ++p) {
            const Byte plan = ascii_[*p];
            if (!(plan & quick)) return false;
            *to = ascii_to_[*p];
            const bool separator = plan & separates;
            const bool keeps = plan & kept;
            to += keeps & !(separator & in_gap);
            in_gap = (separator & keeps) | (in_gap & !keeps);
        }
        return true;
    }

    // Takes eight bytes as one number if each of them gives one byte: all ASCII, and, where
    // white space is collapsed, none but single spaces.
    bool take_eight(const Byte *&p, Byte *&to, bool &in_gap) const {
        std::uint64_t bytes = eight_bytes(p);
        if (!is_ascii(bytes)) return false;
        if (options_.space == Space::collapse) {
            const std::uint64_t printable = at_least(' ', bytes);
            const std::uint64_t spaces = printable ^ at_least(' ' + 1, bytes);
            const std::uint64_t after_spaces = spaces << 8 | std::uint64_t{in_gap} << 7;
            if (printable != high_bits || (spaces & after_spaces)) return false;
            in_gap = spaces >> 63;
        }
        if (options_.fold_case)
            bytes += (at_least('A', bytes) ^ at_least('Z' + 1, bytes)) >> 2;  // 0x80 >> 2: to 'a'
        std::memcpy(to, &bytes, 8);
        p += 8;
        to += 8;
        return true;
    }

    void map(char32_t c) {
        if (options_.fold_case && (unicode::traits_of(c) & unicode::folds))
            unicode::fold(c, [this](char32_t part) { map_accents(part); });
        else
            map_accents(c);
    }

    void map_accents(char32_t c) {
        if (options_.drop_accents && (unicode::traits_of(c) & unicode::has_accent))
            unicode::strip(c, [this](char32_t part) { filter(part, unicode::traits_of(part)); });
        else
            filter(c, unicode::traits_of(c));
    }

    void filter(char32_t c, std::uint16_t traits) {
        if (options_.drop_digits && (traits & unicode::digit)) return;
        if (options_.drop_punctuation && !passes_as_mention(c, traits)) return;
        place(c, traits);
    }

    // A sign is held until the code point after it shows whether it starts a mention.
    bool passes_as_mention(char32_t c, std::uint16_t traits) {
        using namespace unicode;
        if (const char32_t sign = std::exchange(held_sign_, 0)) {
            in_mention_ = (traits & (letter | digit | number)) || is_underscore(c);
            if (in_mention_) place(sign, punctuation);
        }
        if (!(traits & punctuation)) {
            in_mention_ = in_mention_ && (traits & (letter | mark | digit | number));
            return true;
        }
        in_mention_ = in_mention_ && is_underscore(c);
        if (options_.keep_mentions && is_sign(c)) held_sign_ = c;
        return in_mention_;
    }

    static bool is_sign(char32_t c) {
        return c == U'@' || c == U'#' || c == U'\uFF20' || c == U'\uFF03';
    }

    static bool is_underscore(char32_t c) { return c == U'_' || c == U'\uFF3F'; }

    void place(char32_t c, std::uint16_t traits) {
        if (traits & unicode::space) return place_space(c);
        if (options_.words && !(traits & unicode::mark)) {
            const bool alone = traits & unicode::stands_alone;
            if (alone || stands_alone_) place_space(U' ');
            stands_alone_ = alone;
        }
        if (!in_token_) token_ = out_.size;
        in_token_ = true;
        put(c);
    }

    // Ends the token before it. When white space is collapsed, a space is put behind every
    // token that stays: in a gap, the output is empty or ends with a space.
    void place_space(char32_t c) {
        stands_alone_ = false;
        if (in_token_) {
            swallowing_ = removed_stop_word();
            in_token_ = false;
            if (options_.space == Space::collapse && !swallowing_) put(U' ');
        }
        if (options_.space == Space::keep && !swallowing_) put(c);
    }

    bool removed_stop_word() {
        if (stop_words_.empty()) return false;
        const auto *token = reinterpret_cast<const char *>(out_.data + token_);
        if (!stop_words_.has({token, out_.size - token_})) return false;
        out_.size = token_;
        return true;
    }

    void finish() {
        if (in_token_ && removed_stop_word()) in_token_ = false;
        const bool ends_with_gap = !in_token_ && out_.size > begin_;
        if (options_.space == Space::collapse && ends_with_gap) --out_.size;
    }

    void put(char32_t c) { out_.size = unicode::encode(c, out_.data + out_.size) - out_.data; }

    Options options_;
    StopWords &stop_words_;
    Bytes &out_;
    Byte ascii_[256] = {};
    Byte ascii_to_[128] = {};
    bool eight_at_once_ = false;
    Stop stop_;

    std::size_t begin_ = 0;  // of the document, in the output
    std::size_t token_ = 0;  // start of the last token
    bool in_token_ = false;
    bool stands_alone_ = false;  // the open token is a letter of a script without spaces
    bool swallowing_ = false;    // the white space after a removed stop word
    bool in_mention_ = false;
    char32_t held_sign_ = 0;
};

}  // namespace nearly::normalise
