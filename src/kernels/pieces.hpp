// Hashes of many pieces of a text: of its words, or of windows of characters. What pieces begin with is put side by
// side, so that wide registers can mix it; mostly no piece has more than eight bytes, or few have more than sixteen.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "hashing.hpp"

namespace nearly {

class PieceHasher {
  public:
    // `limit` is where readable memory ends.
    PieceHasher(std::uint64_t seed, const std::uint8_t *text, const std::uint8_t *limit)
        : seed_(seed), start_(start_hash(seed, 0)), text_(text), limit_(limit) {}

    // Piece i begins at `begins[i * STEP]` and ends at `ends[i * STEP]`, and pieces stand in the order of their
    // beginnings. There is room for whole HASH_LANES of hashes.
    template <std::size_t STEP>
    void hash(const std::size_t *begins, const std::size_t *ends, std::size_t count, std::uint64_t *hashes) const {
        for (std::size_t i = 0; i < count; i += TOGETHER)
            hash_some<STEP>(begins + i * STEP, ends + i * STEP, std::min(TOGETHER, count - i), hashes + i);
    }

  private:
    static constexpr std::size_t TOGETHER = 64;  // pieces that are put side by side
    std::uint64_t seed_, start_;  // what hashes start from, but for the length
    const std::uint8_t *text_, *limit_;

    template <std::size_t STEP>
    void hash_some(const std::size_t *begins, const std::size_t *ends, std::size_t count, std::uint64_t *hashes) const {
        if (limit_ - (text_ + begins[(count - 1) * STEP]) < 16) {
            for (std::size_t i = 0; i < count; ++i) hashes[i] = hash_alone(begins[i * STEP], ends[i * STEP]);
            return;
        }
        std::uint64_t lengths[TOGETHER], words[2 * TOGETHER];
        for (std::size_t i = count; i % HASH_LANES != 0; ++i)  // no piece, but it is mixed
            lengths[i] = 8, words[i] = words[TOGETHER + i] = 0;
        const std::uint64_t longest = measure<STEP>(begins, ends, count, lengths);
        if (longest <= 8) {
            for (std::size_t i = 0; i < count; ++i) words[i] = load_word(text_ + begins[i * STEP]);
            return mix_words(lengths, words, count, start_, hashes);
        }
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint8_t *const piece = text_ + begins[i * STEP];
            words[i] = load_word(piece), words[TOGETHER + i] = load_word(piece + 8);
        }
        mix_pairs(lengths, words, count, start_, hashes);
        if (longest <= 16) return;
        for (std::size_t i = 0; i < count; ++i)
            if (lengths[i] > 16) hashes[i] = hash_alone(begins[i * STEP], ends[i * STEP]);
    }

    // The same as `hash_bytes`, which copies the last few bytes; mostly a whole word can be read in their place.
    std::uint64_t hash_alone(std::size_t begin, std::size_t end) const {
        std::size_t length = end - begin;
        const std::uint8_t *piece = text_ + begin;
        if (limit_ - (text_ + end) < 8) return hash_bytes(seed_, piece, length);
        std::uint64_t hash = start_ ^ length * WORD_BASE;
        for (; length > 8; piece += 8, length -= 8) hash = mix(hash ^ load_word(piece));
        return mix(hash ^ (load_word(piece) & ~0ull >> (64 - 8 * length)));
    }

    // The longest of them.
    template <std::size_t STEP>
    NEARLY_CLONES static std::uint64_t measure(const std::size_t *begins, const std::size_t *ends, std::size_t count,
                                               std::uint64_t *lengths) {
        std::uint64_t longest = 0;
        for (std::size_t i = 0; i < count; ++i) {
            lengths[i] = ends[i * STEP] - begins[i * STEP];
            longest = lengths[i] > longest ? lengths[i] : longest;
        }
        return longest;
    }

    // Pieces of at most eight bytes.
    NEARLY_CLONES static void mix_words(const std::uint64_t *lengths, const std::uint64_t *words, std::size_t count,
                                        std::uint64_t start, std::uint64_t *hashes) {
        for (std::size_t i = 0; i < count; i += HASH_LANES) {
            HashLanes length, word;
            std::memcpy(&length, lengths + i, sizeof length);
            std::memcpy(&word, words + i, sizeof word);
            word = start ^ length * WORD_BASE ^ (word & ~HashLanes{} >> (64 - 8 * length));
            mix_lanes(word);
            std::memcpy(hashes + i, &word, sizeof word);
        }
    }

    // Pieces of at most sixteen; what comes out for a longer one is no hash of it.
    NEARLY_CLONES static void mix_pairs(const std::uint64_t *lengths, const std::uint64_t *words, std::size_t count,
                                        std::uint64_t start, std::uint64_t *hashes) {
        for (std::size_t i = 0; i < count; i += HASH_LANES) {
            HashLanes length, word, next;
            std::memcpy(&length, lengths + i, sizeof length);
            std::memcpy(&word, words + i, sizeof word);
            std::memcpy(&next, words + TOGETHER + i, sizeof next);
            const auto is_long = length > 8;
            const HashLanes one = is_long ? HashLanes{} : 64 - 8 * length;
            const HashLanes two = is_long ? (128 - 8 * length) & 63 : HashLanes{};
            word = start ^ length * WORD_BASE ^ (word & ~HashLanes{} >> one);
            mix_lanes(word);
            next = word ^ (next & ~HashLanes{} >> two);
            mix_lanes(next);
            word = is_long ? next : word;
            std::memcpy(hashes + i, &word, sizeof word);
        }
    }
};

}  // namespace nearly
