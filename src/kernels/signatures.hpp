// MinHash signatures of a set of shingle hashes, and what the pipeline keeps of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "hashing.hpp"

namespace nearly {

inline constexpr std::uint64_t NONE = std::numeric_limits<std::uint64_t>::max();

// Every position is the minimum of an independent permutation of the 64-bit integers,
// x -> a x + b with a odd; arithmetic modulo 2^64 is exactly what makes it one.
class IndependentSigner {
  public:
    IndependentSigner(std::size_t size, std::uint64_t seed) : factors_(size), terms_(size), minima_(size) {
        for (std::size_t i = 0; i < size; ++i) {
            factors_[i] = mix(seed ^ mix(2 * i + 1)) | 1;
            terms_[i] = mix(seed ^ mix(2 * i + 2));
        }
    }

    void operator()(std::span<const std::uint64_t> hashes, std::span<std::uint32_t> signature) {
        std::fill(minima_.begin(), minima_.end(), NONE);
        take_minima(hashes.data(), hashes.size(), factors_.data(), terms_.data(), minima_.data(), minima_.size());
        for (std::size_t i = 0; i < minima_.size(); ++i)
            signature[i] = static_cast<std::uint32_t>(mix(minima_[i]));
    }

  private:
    std::vector<std::uint64_t> factors_, terms_, minima_;

    NEARLY_CLONES static void take_minima(const std::uint64_t *hashes, std::size_t count,
                                          const std::uint64_t *factors, const std::uint64_t *terms,
                                          std::uint64_t *minima, std::size_t size) {
        for (std::size_t j = 0; j < count; ++j)
            for (std::size_t i = 0; i < size; ++i) {
                const std::uint64_t value = factors[i] * hashes[j] + terms[i];
                minima[i] = value < minima[i] ? value : minima[i];
            }
    }
};

// One permutation: a shingle's hash says its group and its rank there. Groups left empty are
// filled by further rounds, in which every shingle is hashed anew and takes its place only in
// groups that were empty until then; a group that is open after the last round takes the least
// of all shingles (after Dahlgaard, Knudsen, Thorup: Fast Similarity Sketching). Every position
// agrees with probability equal to the Jaccard similarity, however small the sets are.
class OnePermutationSigner {
  public:
    OnePermutationSigner(std::size_t size, std::uint64_t seed) : seed_(mix(seed ^ GOLDEN)), minima_(size) {}

    void operator()(std::span<const std::uint64_t> hashes, std::span<std::uint32_t> signature) {
        const std::size_t size = minima_.size();
        if (values_.size() < hashes.size()) values_.resize(hashes.size()), groups_.resize(hashes.size());
        std::fill(minima_.begin(), minima_.end(), NONE);
        for (std::uint64_t round = 0; round < ROUNDS; ++round) {
            const std::uint64_t key = round == 0 ? 0 : mix(seed_ + round);
            prepare(hashes.data(), hashes.size(), round, key, size, values_.data(), groups_.data());
            place(hashes.size());
            if (std::find(minima_.begin(), minima_.end(), NONE) == minima_.end()) break;
        }
        for (std::size_t i = 0; i < size; ++i) {
            if (minima_[i] == NONE) minima_[i] = least(hashes.data(), hashes.size(), mix(seed_ + ROUNDS + i));
            signature[i] = static_cast<std::uint32_t>(minima_[i]);
        }
    }

  private:
    static constexpr std::uint64_t ROUNDS = 3;
    static constexpr unsigned RANK_BITS = 61;  // the round stands above: an earlier one always wins
    std::uint64_t seed_;
    std::vector<std::uint64_t> minima_, values_;
    std::vector<std::uint32_t> groups_;

    // Value and group of each shingle in this round.
    NEARLY_CLONES static void prepare(const std::uint64_t *hashes, std::size_t count, std::uint64_t round,
                                      std::uint64_t key, std::uint64_t size, std::uint64_t *values,
                                      std::uint32_t *groups) {
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint64_t hash = round == 0 ? hashes[i] : mix(hashes[i] ^ key);
            values[i] = round << RANK_BITS | hash >> (64 - RANK_BITS);
            groups[i] = static_cast<std::uint32_t>(((hash >> 32) * size) >> 32);
        }
    }

    // No branch depends on the data, for none could be foretold.
    void place(std::size_t count) {
        std::uint64_t *const minima = minima_.data();
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint64_t value = values_[i], before = minima[groups_[i]];
            minima[groups_[i]] = value < before ? value : before;
        }
    }

    NEARLY_CLONES static std::uint64_t least(const std::uint64_t *hashes, std::size_t count, std::uint64_t key) {
        std::uint64_t least = NONE;
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint64_t value = mix(hashes[i] ^ key);
            least = value < least ? value : least;
        }
        return least;
    }
};

// The key of a band: 32 bits of a hash of its rows.
inline std::uint32_t band_key(std::span<const std::uint32_t> rows) {
    std::uint64_t sum = 0, factor = GOLDEN;
    for (const std::uint32_t row : rows) {
        sum += (row + 1ull) * factor;
        factor *= WORD_BASE;
    }
    return static_cast<std::uint32_t>(mix(sum) >> 32);
}

inline std::size_t sketch_words(std::size_t positions) { return (positions + 31) / 32; }

// Two bits of every position, thirty-two positions a word: enough to tell how many agree.
inline void sketch(std::span<const std::uint32_t> signature, std::uint64_t *words) {
    for (std::size_t start = 0; start < signature.size(); start += 32) {
        const auto part = signature.subspan(start, std::min<std::size_t>(32, signature.size() - start));
        std::uint64_t word = 0;
        for (std::size_t i = 0; i < part.size(); ++i) word |= static_cast<std::uint64_t>(part[i] & 3) << (2 * i);
        words[start / 32] = word;
    }
}

}  // namespace nearly
