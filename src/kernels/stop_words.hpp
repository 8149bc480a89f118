// The stop words of a run, and whether a token is one of them.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_set>

#include "eight_bytes.hpp"
#include "unicode_text.hpp"

namespace nearly::normalise {

// The words that are taken out, found whatever their case and the punctuation around them.
class StopWords {
  public:
    // `words` have one space between them, and were normalised as the text is.
    StopWords(std::string_view words, bool text_is_folded) : text_is_folded_(text_is_folded) {
        while (!words.empty()) {
            const std::string_view word = words.substr(0, words.find(' '));
            words.remove_prefix(std::min(word.size() + 1, words.size()));
            const std::string_view key = key_of(word);
            if (key.empty()) continue;
            lengths_[first_byte(key)] |= length_bit(key);
            keys_.emplace(key);
        }
    }

    bool empty() const { return keys_.empty(); }

    bool has(std::string_view token) {
        const std::string_view key = key_of(token);
        if (key.empty() || !(lengths_[first_byte(key)] & length_bit(key))) return false;
        return keys_.find(key) != keys_.end();
    }

  private:
    struct Hash {  // lets a view be looked for without making it a string
        using is_transparent = void;
        std::size_t operator()(std::string_view key) const {
            return std::hash<std::string_view>()(key);
        }
    };

    static Byte first_byte(std::string_view key) { return static_cast<Byte>(key.front()); }

    static std::uint64_t length_bit(std::string_view key) {
        return std::uint64_t{1} << std::min<std::size_t>(key.size(), 63);
    }

    std::string_view key_of(std::string_view token) {
        token = trimmed(token);
        if (text_is_folded_) return token;
        folded_.clear();
        const auto *p = reinterpret_cast<const Byte *>(token.data());
        for (const Byte *end = p + token.size(); p < end;) {
            const char32_t c = unicode::decode(p, end);
            if (unicode::traits_of(c) & unicode::folds)
                unicode::fold(c, [this](char32_t part) { add(part); });
            else
                add(c);
        }
        return folded_;
    }

    void add(char32_t c) {
        Byte encoded[4];
        folded_.append(reinterpret_cast<char *>(encoded), unicode::encode(c, encoded) - encoded);
    }

    static std::string_view trimmed(std::string_view token) {
        while (!token.empty()) {
            std::size_t length = 1;
            while (length < token.size() && is_inside_code_point(token[length])) ++length;
            if (!starts_with_punctuation(token)) break;
            token.remove_prefix(length);
        }
        while (!token.empty()) {
            std::size_t last = token.size() - 1;
            while (last > 0 && is_inside_code_point(token[last])) --last;
            if (!starts_with_punctuation(token.substr(last))) break;
            token.remove_suffix(token.size() - last);
        }
        return token;
    }

    static bool is_inside_code_point(char byte) { return (byte & 0xC0) == 0x80; }

    static bool starts_with_punctuation(std::string_view token) {
        const auto *p = reinterpret_cast<const Byte *>(token.data());
        return unicode::traits_of(unicode::decode(p, p + token.size())) & unicode::punctuation;
    }

    bool text_is_folded_;
    std::string folded_;               // what the last key_of returned, when it had to fold
    std::uint64_t lengths_[256] = {};  // of the keys, by first byte: turns most tokens away
    std::unordered_set<std::string, Hash, std::equal_to<>> keys_;
};

}  // namespace nearly::normalise
