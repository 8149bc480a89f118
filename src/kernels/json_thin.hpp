// An object of JSON without most members of objects that have very many of one kind.
//
// DuckDB finds the same types in it, if it takes those objects for maps: what it finds in a member that is
// left out, it finds in one that is there.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "json_name.hpp"
#include "json_token.hpp"
#include "stop.hpp"

namespace nearly {

// What a value is to DuckDB as it finds types. ODD may be several of them: a date, a large number.
enum class JsonKind : std::uint8_t { ODD, NONE, TRUTH, WHOLE, NEGATIVE, FRACTION, TEXT };

inline JsonKind kind_of_string(std::string_view inside) {
    if (inside.empty()) return JsonKind::ODD;
    const auto is_letter = [](char c) { return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || (c & 0x80) != 0; };
    // Dates and times begin with a digit, but for two words; identifiers are digits and hyphens in braces.
    const auto begins = [&](std::string_view word) {
        return inside.size() >= word.size() && std::ranges::equal(inside.substr(0, word.size()), word, {}, [](char c) { return c | 0x20; });
    };
    const auto is_other = [&](char c) { return (is_letter(c) && ((c | 0x20) > 'f' || (c & 0x80) != 0)) || c == ' '; };
    if (!is_letter(inside.front()) || begins("epoch") || begins("inf")) return JsonKind::ODD;
    return std::ranges::any_of(inside, is_other) ? JsonKind::TEXT : JsonKind::ODD;
}

inline JsonKind kind_of_number(std::string_view word) {
    const bool is_negative = word.front() == '-';
    const std::string_view digits = word.substr(is_negative);
    const auto all_digits = [](std::string_view some) {
        return !some.empty() && some.size() <= 17 && std::ranges::all_of(some, [](char c) { return c >= '0' && c <= '9'; });
    };
    if (digits.size() > 1 && digits[0] == '0' && digits[1] != '.') return JsonKind::ODD;
    if (all_digits(digits)) return digits == "0" && is_negative ? JsonKind::ODD : is_negative ? JsonKind::NEGATIVE : JsonKind::WHOLE;
    const std::size_t point = digits.find('.');
    const bool is_fraction = point != digits.npos && all_digits(digits.substr(0, point)) && all_digits(digits.substr(point + 1));
    return is_fraction ? JsonKind::FRACTION : JsonKind::ODD;
}

inline JsonKind kind_of(std::string_view scalar) {
    if (scalar.front() == '"') return kind_of_string(scalar.substr(1, scalar.size() - 2));
    if (scalar == "null") return JsonKind::NONE;
    if (scalar == "true" || scalar == "false") return JsonKind::TRUTH;
    return kind_of_number(scalar);
}

class ThinObject {
  public:
    // Where members were left out, names from the outside in; the fewest members of an object among them.
    struct Place {
        std::vector<std::string> path;  // of a list and of a member that may be left out: nothing
        std::size_t fewest;
    };

    // So many members of an object stay, whatever they are.
    ThinObject(std::span<const std::uint8_t> text, std::size_t kept) : text_(text), tokens_(text), kept_(kept) {}

    // Appends what stays until there are `enough` bytes; whether there may be more. Throws if it is no JSON.
    bool next(std::string &kept, std::size_t enough) {
        for (const std::size_t before = kept.size(); kept.size() - before < enough;) {
            const JsonToken token = tokens_.next();
            stop_.check(token.last - token.first + 8);
            if (token.kind == JsonToken::END) return false;
            take(token, kept);
        }
        return true;
    }

    const std::vector<Place> &places() const { return places_; }

  private:
    struct Level {
        std::uint8_t opener;
        bool has_content = false;
        std::size_t count = 0;
        std::unordered_set<std::uint64_t> shapes{};
        std::size_t place = NO_PLACE;
    };

    static constexpr std::size_t DEEPEST = 16, MOST_SHAPES = 1000, LONGEST = 4096;
    static constexpr std::size_t NO_PLACE = std::numeric_limits<std::size_t>::max();

    std::span<const std::uint8_t> text_;
    JsonTokens tokens_;
    std::size_t kept_;
    std::vector<Level> levels_;
    std::vector<std::string> names_ = std::vector<std::string>(DEEPEST);
    std::vector<Place> places_;
    bool after_comma_ = false;
    Stop stop_;

    std::string_view said(const JsonToken &token) const {
        return {reinterpret_cast<const char *>(text_.data()) + token.first, token.last - token.first};
    }

    void take(const JsonToken &token, std::string &kept) {
        const bool opens = token.kind == JsonToken::OPEN, closes = token.kind == JsonToken::CLOSE;
        const bool is_deep = tokens_.depth() + closes - opens > DEEPEST;
        if (is_deep) return append(token, kept);
        if (token.kind == JsonToken::COMMA) {
            after_comma_ = true;
            return;
        }
        if (closes) {
            if (after_comma_) kept += ',';
            levels_.pop_back();
        } else if (token.kind == JsonToken::NAME || (!levels_.empty() && levels_.back().opener == '[')) {
            after_comma_ = false;
            if (token.kind == JsonToken::NAME && levels_.back().count++ >= kept_ && is_known(token)) return;
            if (levels_.back().has_content) kept += ',';
            levels_.back().has_content = true;
            if (token.kind == JsonToken::NAME) names_[levels_.size() - 1] = said(token);
        }
        after_comma_ = false;
        append(token, kept);
        if (opens && levels_.size() < DEEPEST) levels_.push_back({.opener = text_[token.first]});
    }

    void append(const JsonToken &token, std::string &kept) {
        kept += said(token);
        if (token.kind == JsonToken::NAME) kept += ':';
    }

    // Whether the value of this name is of a shape that is there already; then it is read past.
    bool is_known(const JsonToken &name) {
        JsonTokens ahead = tokens_;
        std::size_t members = NO_PLACE;
        const std::uint64_t shape = shape_of(ahead, name.last, members);
        Level &level = levels_.back();
        if (shape == 0) return false;
        if (!level.shapes.contains(shape)) {
            if (level.shapes.size() < MOST_SHAPES) level.shapes.insert(shape);
            return false;
        }
        tokens_ = ahead;
        if (level.place == NO_PLACE) level.place = new_place();
        places_[level.place].fewest = std::min(places_[level.place].fewest, members);
        return true;
    }

    std::size_t new_place() {
        Place place{{}, NO_PLACE};
        for (std::size_t i = 0; i + 1 < levels_.size(); ++i)
            place.path.push_back(levels_[i].opener == '{' && levels_[i].count <= kept_ ? names_[i] : std::string());
        places_.push_back(std::move(place));
        return places_.size() - 1;
    }

    // A hash of what kind of value comes: a scalar, a list of them, or an object of both. Zero for any other.
    std::uint64_t shape_of(JsonTokens &ahead, std::size_t first, std::size_t &members) {
        const std::size_t depth = ahead.depth();
        std::uint64_t shape = 1, last_kind = 0;
        std::vector<std::uint64_t> names;
        do {
            const JsonToken token = ahead.next();
            const std::size_t inside = ahead.depth() - depth;
            if (token.last - first > LONGEST || inside > 2) return 0;
            if (token.kind == JsonToken::COMMA) continue;
            if (token.kind == JsonToken::OPEN && text_[token.first] == '{') {
                if (inside > 1) return 0;
                members = 0;
            }
            std::uint64_t kind = static_cast<std::uint64_t>(token.kind) << 8 | text_[token.first];
            if (token.kind == JsonToken::NAME) {
                kind = hash_of_name(text_.subspan(token.first, token.last - token.first));
                if (std::ranges::find(names, kind) != names.end()) return 0;
                names.push_back(kind);
                ++members;
            } else if (token.kind == JsonToken::SCALAR) {
                const JsonKind scalar = kind_of(said(token));
                if (scalar == JsonKind::ODD) return 0;
                kind = static_cast<std::uint64_t>(scalar);
                if (kind == last_kind) continue;  // however many there are in a list
            }
            last_kind = kind;
            shape = mix(shape * GOLDEN + kind);
        } while (ahead.depth() > depth);
        return shape | 1;
    }
};

}  // namespace nearly
