// What the parts of this program share. Each part runs one area of the kernels and gives a digest of what they gave; they
// are files of their own so that they compile side by side.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "jaccard.hpp"

struct Corpus {
    std::vector<std::uint8_t> data;  // exactly as long as the texts: a read past them is seen
    std::vector<std::int64_t> offsets{0};

    explicit Corpus(const std::vector<std::string> &documents) {
        for (const std::string &document : documents) {
            data.insert(data.end(), document.begin(), document.end());
            offsets.push_back(static_cast<std::int64_t>(data.size()));
        }
        data.shrink_to_fit();
    }
    nearly::Texts texts() const { return {offsets, data.data()}; }
};

inline void require(bool holds, const char *what) {
    if (holds) return;
    std::fprintf(stderr, "%s\n", what);
    std::abort();
}

// Long texts go another way; with a stretch of a few bytes most texts are long.
constexpr std::size_t SHORT_STRETCH = 5;

// The sets of all texts, made in two ways that have to agree.
nearly::Sets sets_of(const nearly::Texts &texts, nearly::Shingling shingling);
// Signatures, one after another, made in two ways that have to agree.
std::vector<std::uint32_t> signatures_of(const nearly::Texts &texts, nearly::Shingling shingling, std::size_t positions);

std::uint64_t exercise_signing(const nearly::Texts &texts, nearly::Shingling shingling);
std::uint64_t exercise_candidates(const nearly::Texts &texts, nearly::Shingling shingling);
std::uint64_t exercise_joins(const nearly::Texts &texts, nearly::Shingling shingling);
std::uint64_t exercise_weights(const nearly::Texts &texts, nearly::Shingling shingling);
// Options are bits; the space is 0, 1 or 2.
std::uint64_t exercise_normalisation(const nearly::Texts &texts, unsigned options, unsigned space);
std::uint64_t exercise_wanted(const nearly::Texts &texts);
std::uint64_t exercise_passages(const nearly::Texts &texts, bool words, bool folds, std::size_t least);
// Limits are a number of edits, and some more for each hundred code points.
std::uint64_t exercise_edits(const nearly::Texts &texts, std::uint32_t edits, std::uint32_t rate);
std::uint64_t exercise_vectors(std::mt19937_64 &random, bool any_bits);
std::uint64_t exercise_segment(std::mt19937_64 &random);
std::uint64_t exercise_question(std::mt19937_64 &random);
std::uint64_t exercise_waiting(std::mt19937_64 &random);
std::uint64_t exercise_json(std::mt19937_64 &random);
