// The tokens of one value of JSON, in the order in which it may have them.
//
// Whether numbers, words and strings are right is left to whoever reads them. A comma may stand before
// the end of a list or object: DuckDB allows it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

namespace nearly {

struct JsonToken {
    enum Kind : std::uint8_t { OPEN, CLOSE, NAME, SCALAR, COMMA, END };
    Kind kind;
    std::size_t first, last;  // of a name: without its colon
};

class JsonTokens {
  public:
    explicit JsonTokens(std::span<const std::uint8_t> text) : text_(text) {}

    // Throws where what stands there is no JSON.
    JsonToken next() {
        skip_space();
        if (place_ == text_.size()) return end();
        const std::size_t first = place_;
        switch (text_[place_]) {
            case '{':
            case '[': return open(first);
            case '}':
            case ']': return close(first);
            case ',': return comma(first);
            case '"': return string(first);
            default: return word(first);
        }
    }

    std::size_t depth() const { return open_.size(); }
    bool is_in_object() const { return !open_.empty() && open_.back() == '{'; }

  private:
    enum Next : std::uint8_t { VALUE, VALUE_OR_CLOSE, NAME_OR_CLOSE, COMMA_OR_CLOSE, NOTHING };

    std::span<const std::uint8_t> text_;
    std::vector<std::uint8_t> open_;
    std::size_t place_ = 0;
    Next next_ = VALUE;

    static bool is_space(std::uint8_t byte) { return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r'; }

    static bool ends_word(std::uint8_t byte) {
        switch (byte) {
            case '{': case '}': case '[': case ']': case ',': case '"': return true;
            default: return is_space(byte);
        }
    }

    void skip_space() {
        while (place_ < text_.size() && is_space(text_[place_])) ++place_;
    }

    static void require(bool is_so) {
        if (!is_so) throw std::invalid_argument("no JSON");
    }

    void require_value() const { require(next_ == VALUE || next_ == VALUE_OR_CLOSE); }

    void end_value() { next_ = open_.empty() ? NOTHING : COMMA_OR_CLOSE; }

    JsonToken end() {
        require(next_ == NOTHING);
        return {JsonToken::END, place_, place_};
    }

    JsonToken open(std::size_t first) {
        require_value();
        open_.push_back(text_[first]);
        next_ = is_in_object() ? NAME_OR_CLOSE : VALUE_OR_CLOSE;
        return {JsonToken::OPEN, first, ++place_};
    }

    JsonToken close(std::size_t first) {
        require(!open_.empty() && next_ != VALUE && open_.back() == (text_[first] == '}' ? '{' : '['));
        open_.pop_back();
        end_value();
        return {JsonToken::CLOSE, first, ++place_};
    }

    JsonToken comma(std::size_t first) {
        require(next_ == COMMA_OR_CLOSE);
        next_ = is_in_object() ? NAME_OR_CLOSE : VALUE_OR_CLOSE;
        return {JsonToken::COMMA, first, ++place_};
    }

    JsonToken string(std::size_t first) {
        for (++place_; place_ < text_.size() && text_[place_] != '"'; ++place_)
            if (text_[place_] == '\\') ++place_;
        require(place_ < text_.size());
        const std::size_t last = ++place_;
        if (next_ != NAME_OR_CLOSE) return scalar(first, last);
        skip_space();
        require(place_ < text_.size() && text_[place_] == ':');
        ++place_;
        next_ = VALUE;
        return {JsonToken::NAME, first, last};
    }

    JsonToken word(std::size_t first) {
        while (place_ < text_.size() && !ends_word(text_[place_])) ++place_;
        return scalar(first, place_);
    }

    JsonToken scalar(std::size_t first, std::size_t last) {
        require_value();
        end_value();
        return {JsonToken::SCALAR, first, last};
    }
};

}  // namespace nearly
