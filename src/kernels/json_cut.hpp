// A long object of JSON as several short lines: each opens again what was open where the last one ended.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "json_name.hpp"
#include "json_token.hpp"
#include "stop.hpp"

namespace nearly {

// How an object is cut.
struct Cut {
    std::size_t piece;       // bytes of a line, about
    std::size_t most_names;  // of an object that is settled
    // Every line has all names of the objects that are cut, null where it says nothing of them.
    bool is_filled;
    // Of members of one name in the whole object the first one counts; not where lines are filled.
    bool first_counts;
    // Hashes of names of the whole object: on lines, these members are null.
    std::vector<std::uint64_t> left_out{};
};

class CutObject {
  public:
    CutObject(std::span<const std::uint8_t> text, Cut cut) : text_(text), tokens_(text), cut_(std::move(cut)) {}

    // Appends lines until there are `enough` bytes; whether there may be more. Throws if it is no object.
    bool next(std::string &lines, std::size_t enough) {
        for (const std::size_t before = lines.size(); lines.size() - before < enough;) {
            const JsonToken token = read(tokens_);
            if (token.kind == JsonToken::END) {
                if (!line_.empty()) lines += line_ + '\n';
                line_.clear();
                return false;
            }
            take(token, lines);
        }
        return true;
    }

    // Of each line, how many lists and objects go on from the line before.
    const std::vector<std::int32_t> &depths() const { return depths_; }
    // Names of members in which an object was cut that has very many names, or one twice. Of such objects it
    // cannot be said what type they have, or which of two members counts, before all of them was seen.
    const std::vector<std::string> &unsettled() const { return unsettled_; }
    // How many names the whole object has, if it was cut; and whether it has one twice.
    std::size_t names() const { return names_; }
    bool has_twins() const { return has_twins_; }

  private:
    struct Span {
        std::size_t first, last;
    };

    struct Level {
        std::uint8_t opener;
        bool is_cut = false;
        bool has_content = false;             // on this line
        std::vector<std::uint64_t> hashes{};  // of all names so far
        std::vector<Span> names{};            // all of them, once it is cut
        std::size_t first_name = 0;           // on this line
    };

    // DuckDB goes no deeper.
    static constexpr std::size_t DEEPEST = 127;

    std::span<const std::uint8_t> text_;
    JsonTokens tokens_;
    Cut cut_;
    std::vector<Level> levels_;
    std::vector<Span> open_names_ = std::vector<Span>(DEEPEST);  // of the member that is open at each level
    std::vector<std::int32_t> depths_{0};
    std::string line_;
    std::size_t repeated_ = 0;  // bytes of it that others have too
    std::vector<std::string> unsettled_;
    std::size_t names_ = 0;
    bool after_comma_ = false, has_twins_ = false;
    Stop stop_;

    JsonToken read(JsonTokens &tokens) {
        const JsonToken token = tokens.next();
        stop_.check(token.last - token.first + 8);
        return token;
    }

    void take(const JsonToken &token, std::string &lines) {
        const bool opens = token.kind == JsonToken::OPEN;
        if (tokens_.depth() > DEEPEST) throw std::invalid_argument("too deep");
        if (token.kind == JsonToken::COMMA) {
            after_comma_ = true;
        } else if (token.kind == JsonToken::CLOSE) {
            close(token);
        } else {
            if (levels_.empty() && !(opens && text_[token.first] == '{')) throw std::invalid_argument("no object");
            begin(token, lines);
        }
    }

    // A member or an element, or the value after a name.
    void begin(const JsonToken &token, std::string &lines) {
        const bool is_name = token.kind == JsonToken::NAME;
        if (is_name || (!levels_.empty() && levels_.back().opener == '[')) {
            if (after_comma_ && is_long()) end_line(token, lines);
            after_comma_ = false;
            if (is_name && cut_.first_counts && is_twin(token)) return skip_value();
            if (levels_.back().has_content) line_ += ',';
            levels_.back().has_content = true;
        }
        append({token.first, token.last});
        if (is_name) name(token);
        if (token.kind == JsonToken::OPEN) levels_.push_back({.opener = text_[token.first]});
    }

    // Where nothing was cut so far it takes more: a small object is not cut, if the list around it can be.
    bool is_long() const {
        const std::size_t enough = std::max(cut_.piece, 8 * repeated_);
        return line_.size() >= (levels_.back().is_cut ? enough : 2 * enough);
    }

    std::uint64_t hash_of(const JsonToken &name) const {
        return hash_of_name(text_.subspan(name.first, name.last - name.first));
    }

    void name(const JsonToken &token) {
        line_ += ':';
        Level &level = levels_.back();
        open_names_[levels_.size() - 1] = {token.first, token.last};
        level.hashes.push_back(hash_of(token));
        if (cut_.is_filled && !level.is_cut && level.names.size() <= cut_.most_names) level.names.push_back({token.first, token.last});
        if (levels_.size() > 1 || std::ranges::find(cut_.left_out, level.hashes.back()) == cut_.left_out.end()) return;
        line_ += "null";
        skip_value();
    }

    void close(const JsonToken &token) {
        Level &level = levels_.back();
        if (level.is_cut) {
            fill(level);
            look_at_names(level);
        }
        if (after_comma_) line_ += ',';
        after_comma_ = false;
        append({token.first, token.last});
        levels_.pop_back();
    }

    // Once an object that was cut is at its end.
    void look_at_names(Level &level) {
        std::ranges::sort(level.hashes);
        const bool has_twins = std::ranges::adjacent_find(level.hashes) != level.hashes.end();
        if (levels_.size() == 1) {
            names_ = level.hashes.size();
            has_twins_ = has_twins;
        } else if (has_twins || level.hashes.size() > cut_.most_names) {
            const Span open = open_names_[0];
            std::string member(reinterpret_cast<const char *>(text_.data()) + open.first, open.last - open.first);
            if (unsettled_.empty() || unsettled_.back() != member) unsettled_.push_back(std::move(member));
        }
    }

    // In the whole object; deeper, it depends on the type which one counts.
    bool is_twin(const JsonToken &token) const {
        const std::vector<std::uint64_t> &hashes = levels_.back().hashes;
        return levels_.size() == 1 && hashes.size() <= cut_.most_names && std::ranges::find(hashes, hash_of(token)) != hashes.end();
    }

    void skip_value() {
        const std::size_t depth = tokens_.depth();
        do read(tokens_);
        while (tokens_.depth() > depth);
    }

    // Everything that is open is closed, and opened again on the next line.
    void end_line(const JsonToken &following, std::string &lines) {
        std::size_t filled = 0;
        for (std::size_t i = levels_.size(); i-- > 0;) {
            Level &level = levels_[i];
            if (level.opener == '{' && cut_.is_filled && !level.is_cut) find_names(i, following);
            level.is_cut = true;
            filled += fill(level);
            line_ += level.opener == '{' ? '}' : ']';
        }
        lines += line_ + '\n';
        line_.clear();
        depths_.push_back(static_cast<std::int32_t>(levels_.size()));
        for (std::size_t i = 0; i < levels_.size(); ++i) open_again(i);
        repeated_ = line_.size() + filled;
    }

    void open_again(std::size_t place) {
        Level &level = levels_[place];
        const bool goes_on = place + 1 < levels_.size(), is_object = level.opener == '{';
        line_ += static_cast<char>(level.opener);
        level.has_content = goes_on;
        level.first_name = level.hashes.size() - (goes_on && is_object);
        if (!goes_on || !is_object) return;
        append(open_names_[place]);
        line_ += ':';
    }

    // The names that are not on this line; returns how many bytes it takes.
    std::size_t fill(Level &level) {
        const std::size_t before = line_.size();
        for (std::size_t i = 0; i < level.names.size(); ++i) {
            if (i >= level.first_name && i < level.hashes.size()) continue;
            if (level.has_content) line_ += ',';
            level.has_content = true;
            append(level.names[i]);
            line_ += ":null";
        }
        return line_.size() - before;
    }

    // All names of an object, with those to come.
    void find_names(std::size_t place, const JsonToken &following) {
        std::vector<Span> &names = levels_[place].names;
        if (following.kind == JsonToken::NAME && place + 1 == levels_.size()) names.push_back({following.first, following.last});
        for (JsonTokens ahead = tokens_; ahead.depth() > place && names.size() <= cut_.most_names;) {
            const JsonToken token = read(ahead);
            if (token.kind == JsonToken::NAME && ahead.depth() == place + 1) names.push_back({token.first, token.last});
        }
        if (names.size() > cut_.most_names) names.clear();
    }

    // An end of line is as wrong in a string as a tab, and stands nowhere else.
    void append(Span span) {
        const std::size_t before = line_.size();
        line_.append(reinterpret_cast<const char *>(text_.data()) + span.first, span.last - span.first);
        std::replace(line_.begin() + static_cast<std::ptrdiff_t>(before), line_.end(), '\n', '\t');
    }
};

}  // namespace nearly
