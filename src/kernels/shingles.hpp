// From a document to the 64-bit hashes of its shingles, repeats included: at once, or in stretches
// where it is long, so that no document needs memory for all of its hashes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "hash_index.hpp"
#include "hashing.hpp"
#include "pieces.hpp"
#include "stop.hpp"
#include "texts.hpp"
#include "words.hpp"

namespace nearly {

enum class Unit { character, word };

struct Shingling {
    Unit unit;
    std::size_t k;
    std::uint64_t seed;
    const HashIndex *dropped = nullptr;  // shingles that count for nothing
};

class Shingler {
  public:
    static constexpr std::size_t STRETCH = 1 << 16;  // bytes, or words: their hashes fit in a cache

    explicit Shingler(Shingling shingling, std::size_t stretch = STRETCH)
        : shingling_(shingling), stretch_(stretch) {
        for (std::size_t i = 1; i < shingling.k; ++i) leading_ *= WORD_BASE;
    }

    // The hashes stay valid until the next call; `limit` is where readable memory ends.
    std::span<const std::uint64_t> operator()(std::span<const std::uint8_t> text,
                                              const std::uint8_t *limit) {
        return left_of(every(text, limit));
    }

    // Whether a text is better taken in stretches.
    bool is_long(std::span<const std::uint8_t> text) const { return text.size() > 4 * stretch_; }

    // Calls `receive` with the same hashes in the same order, stretch by stretch.
    void in_stretches(std::span<const std::uint8_t> text, const std::uint8_t *limit, auto &&receive) {
        if (shingling_.unit == Unit::word)
            words_in_stretches(text, limit, receive);
        else
            characters_in_stretches(text, limit, receive);
    }

    // How many hashes that would be, without making them where none is dropped.
    std::size_t count_left(std::span<const std::uint8_t> text, const std::uint8_t *limit) {
        if (shingling_.dropped == nullptr) return count(text, limit);
        if (!is_long(text)) return (*this)(text, limit).size();
        std::size_t left = 0;
        in_stretches(text, limit, [&left](std::span<const std::uint64_t> some) { left += some.size(); });
        return left;
    }

    // How many there are with those that are dropped.
    std::size_t count(std::span<const std::uint8_t> text, const std::uint8_t *limit) const {
        const bool is_word = shingling_.unit == Unit::word;
        // A text of nothing but parts of characters is one shingle.
        const std::size_t least = is_word || text.empty() ? 0 : 1;
        const std::size_t units = std::max(least, is_word ? count_words(text, limit) : count_characters(text));
        if (units == 0) return 0;
        return units <= shingling_.k ? 1 : units - shingling_.k + 1;
    }

  private:
    static constexpr std::size_t SLOW = 64;      // work for a hash, with what a signer does with it
    static constexpr std::size_t FEW_WORDS = 8;  // in a shingle
    Shingling shingling_;
    std::size_t stretch_;
    Stop stop_;
    std::uint64_t leading_ = 1;  // WORD_BASE to the power k - 1
    std::vector<std::uint64_t> hashes_, words_;  // they only grow; a part of each is in use
    std::vector<std::size_t> starts_;

    std::span<const std::uint64_t> every(std::span<const std::uint8_t> text, const std::uint8_t *limit) {
        if (text.empty()) return {};
        if (shingling_.unit == Unit::word) return words(text, limit);
        const bool ascii = is_ascii(text);
        if (ascii && text.size() <= shingling_.k) return whole(text);
        return ascii ? bytes(text, limit) : characters(text, limit);
    }

    // Of hashes that were just made, those that are not dropped.
    std::span<const std::uint64_t> left_of(std::span<const std::uint64_t> made) {
        return shingling_.dropped == nullptr ? made : keep_left(made.size());
    }

    [[gnu::noinline]] std::span<const std::uint64_t> keep_left(std::size_t made) {
        std::size_t left = 0;
        for (std::size_t i = 0; i < made; ++i) {
            const std::uint64_t hash = hashes_[i];
            hashes_[left] = hash;
            left += !shingling_.dropped->has(hash);
        }
        return {hashes_.data(), left};
    }

    static bool is_ascii(std::span<const std::uint8_t> text) {
        std::uint8_t all = 0;
        for (const std::uint8_t byte : text) all |= byte;
        return all < 0x80;
    }

    std::span<const std::uint64_t> whole(std::span<const std::uint8_t> text) {
        if (hashes_.empty()) hashes_.resize(1);
        hashes_[0] = hash_bytes(shingling_.seed, text.data(), text.size());
        return {hashes_.data(), 1};
    }

    std::span<const std::uint64_t> bytes(std::span<const std::uint8_t> text,
                                         const std::uint8_t *limit) {
        const std::size_t k = shingling_.k, count = text.size() - k + 1;
        if (hashes_.size() < count + 8) hashes_.resize(count + 8);
        std::size_t i = 0;
        if (k <= 8) {
            const std::ptrdiff_t readable = std::max<std::ptrdiff_t>(limit - text.data() - 8, 0);
            i = std::min((count + 7) / 8, static_cast<std::size_t>(readable) / 8) * 8;
            short_windows(text.data(), i, k, start_hash(shingling_.seed, k), hashes_.data());
        }
        for (; i < count; ++i) hashes_[i] = hash_bytes(shingling_.seed, text.data() + i, k);
        return {hashes_.data(), count};
    }

    // Windows of at most eight bytes, eight at a time: two words hold them all, nothing rolls,
    // and wide registers can have all of them in flight at once. Reads up to `count` + 15 bytes.
    NEARLY_CLONES static void short_windows(const std::uint8_t *text, std::size_t count, std::size_t k,
                                            std::uint64_t start, std::uint64_t *hashes) {
        const std::uint64_t mask = k == 8 ? ~0ull : (1ull << (8 * k)) - 1;
        for (std::size_t i = 0; i < count; i += 8) {
            const std::uint64_t low = load_word(text + i), high = load_word(text + i + 8);
            for (std::uint64_t j = 0; j < 8; ++j) {
                const std::uint64_t window = low >> (8 * j) | (high << 1) << (63 - 8 * j);
                hashes[i + j] = mix(start ^ (window & mask));
            }
        }
    }

    std::span<const std::uint64_t> characters(std::span<const std::uint8_t> text, const std::uint8_t *limit) {
        if (starts_.size() < text.size() + 1) starts_.resize(text.size() + 1);
        const std::size_t characters = list_starts(text);
        if (characters <= shingling_.k) return whole(text);
        starts_[characters] = text.size();
        const std::size_t count = characters - shingling_.k + 1;
        if (hashes_.size() < count + HASH_LANES) hashes_.resize(count + HASH_LANES);
        const PieceHasher pieces(shingling_.seed, text.data(), limit);
        pieces.hash<1>(starts_.data(), starts_.data() + shingling_.k, count, hashes_.data());
        return {hashes_.data(), count};
    }

    // Where characters start. Mostly eight bytes are eight of them.
    std::size_t list_starts(std::span<const std::uint8_t> text) {
        std::size_t characters = 0, at = 0;
        const auto look_at = [&](std::size_t end) {
            for (; at < end; ++at) {
                starts_[characters] = at;
                characters += starts_character(text[at]);
            }
        };
        while (at + 8 <= text.size()) {
            if ((load_word(text.data() + at) & 0x8080808080808080) != 0) {
                look_at(at + 8);
                continue;
            }
            for (std::size_t i = 0; i < 8; ++i) starts_[characters + i] = at + i;
            at += 8, characters += 8;
        }
        look_at(text.size());
        return characters;
    }

    static std::size_t count_characters(std::span<const std::uint8_t> text) {
        std::size_t characters = 0;
        for (const std::uint8_t byte : text) characters += starts_character(byte);
        return characters;
    }

    static std::size_t count_words(std::span<const std::uint8_t> text, const std::uint8_t *limit) {
        std::size_t words = 0;
        each_words(text, limit, [&words](std::span<const std::size_t> edges) { words += edges.size() / 2; });
        return words;
    }

    // Stretches overlap by the k - 1 characters that the next shingles begin with.
    [[gnu::noinline]] void characters_in_stretches(std::span<const std::uint8_t> text, const std::uint8_t *limit, auto &&receive) {
        const std::uint8_t *at = text.data(), *const end = at + text.size();
        while (true) {
            const std::uint8_t *const stop = end_of_stretch(at, end);
            stop_.check(SLOW * static_cast<std::size_t>(stop - at));
            receive((*this)({at, stop}, limit));
            if (stop == end) return;
            at = stop;
            for (std::size_t i = 1; i < shingling_.k; ++i)
                do --at;
                while (!starts_character(*at));
        }
    }

    // Where a character starts, more than k of them and a stretch of bytes further on; or the end.
    const std::uint8_t *end_of_stretch(const std::uint8_t *at, const std::uint8_t *end) const {
        std::size_t characters = 0;
        while (at < end && characters <= shingling_.k) {
            const std::uint8_t *stop = at + std::min<std::size_t>(stretch_, static_cast<std::size_t>(end - at));
            while (stop < end && !starts_character(*stop)) ++stop;
            characters += count_characters({at, stop});
            at = stop;
        }
        return at;
    }

    std::span<const std::uint64_t> words(std::span<const std::uint8_t> text, const std::uint8_t *limit) {
        const std::size_t most = text.size() / 2 + 1 + HASH_LANES;
        if (words_.size() < most) words_.resize(most);
        const PieceHasher pieces(shingling_.seed, text.data(), limit);
        std::size_t words = 0;
        each_words(text, limit, [&](std::span<const std::size_t> edges) {
            pieces.hash<2>(edges.data(), edges.data() + 1, edges.size() / 2, words_.data() + words);
            words += edges.size() / 2;
        });
        return roll(words);
    }

    // Stretches overlap by the k - 1 words that the next shingles begin with.
    [[gnu::noinline]] void words_in_stretches(std::span<const std::uint8_t> text, const std::uint8_t *limit,
                                              auto &&receive) {
        const std::size_t kept = shingling_.k - 1, most = kept + stretch_;
        if (words_.size() < most + HASH_LANES) words_.resize(most + HASH_LANES);
        const PieceHasher pieces(shingling_.seed, text.data(), limit);
        std::size_t held = 0;
        bool is_first = true;
        const auto give = [&] {
            stop_.check(SLOW * stretch_);
            if (held == 0 || (!is_first && held <= kept)) return;  // all was taken
            receive(left_of(roll(held)));
            is_first = false;
            const std::size_t again = std::min(held, kept);
            std::copy_n(words_.begin() + static_cast<std::ptrdiff_t>(held - again), again, words_.begin());
            held = again;
        };
        each_words(text, limit, [&](std::span<const std::size_t> edges) {
            while (!edges.empty()) {
                const std::size_t taken = std::min(edges.size() / 2, most - held);
                pieces.hash<2>(edges.data(), edges.data() + 1, taken, words_.data() + held);
                edges = edges.subspan(2 * taken);
                held += taken;
                if (held == most) give();
            }
        });
        give();
    }

    // A polynomial in the hashes of k words, rolled along them.
    std::span<const std::uint64_t> roll(std::size_t words) {
        if (words == 0) return {};
        const std::size_t k = std::min(shingling_.k, words);
        const std::uint64_t start = start_hash(shingling_.seed, k);
        const std::size_t count = words - k + 1;
        if (hashes_.size() < count + HASH_LANES) hashes_.resize(count + HASH_LANES);
        if (k <= FEW_WORDS)
            combine(words_.data(), count, k, start, hashes_.data());
        else
            roll_along(words_.data(), count, k, start, hashes_.data());
        return {hashes_.data(), count};
    }

    // Where words are few, wide registers are faster than what depends on the shingle before.
    NEARLY_CLONES static void combine(const std::uint64_t *words, std::size_t count, std::size_t k, std::uint64_t start,
                                      std::uint64_t *hashes) {
        for (std::size_t i = 0; i < count; i += HASH_LANES) {
            HashLanes sum = {}, word;
            for (std::size_t j = 0; j < k; ++j) {
                std::memcpy(&word, words + i + j, sizeof word);
                sum = sum * WORD_BASE + word;
            }
            sum ^= start;
            mix_lanes(sum);
            std::memcpy(hashes + i, &sum, sizeof sum);
        }
    }

    void roll_along(const std::uint64_t *words, std::size_t count, std::size_t k, std::uint64_t start,
                    std::uint64_t *hashes) const {
        std::uint64_t rolled = 0;
        for (std::size_t i = 0; i < k; ++i) rolled = rolled * WORD_BASE + words[i];
        hashes[0] = mix(start ^ rolled);
        for (std::size_t i = 1; i < count; ++i) {
            rolled = (rolled - words[i - 1] * leading_) * WORD_BASE + words[i + k - 1];
            hashes[i] = mix(start ^ rolled);
        }
    }
};

}  // namespace nearly
