// Runs every kernel on ordinary and on nasty texts, to be built with sanitisers; prints a digest.
//
//     exercise                   texts, each kernel with each option
//     exercise SEED ROUNDS       arbitrary bytes
#include "exercise.hpp"

#include <algorithm>

using namespace nearly;

static std::vector<std::string> make_documents(int count) {
    std::mt19937_64 random(7);
    std::vector<std::string> documents{"", "a", " ", "abcd", "abcde", "日本語のテキスト", "\xF0\x9F\x98\x80", std::string(1000, 'x')};
    const std::vector<std::string> pieces{"ab", "the ", "é", "日", "\xF0\x9F\x98\x80", " ", "\n", "word ", "@x_y ", "İß", "\xE3\x80\x80"};
    for (int i = 0; i < count; ++i) {
        std::string text;
        for (std::size_t n = random() % 60; n > 0; --n) text += pieces[random() % pieces.size()];
        documents.push_back(text);
        if (i % 3 == 0) documents.push_back(text + "!");
    }
    return documents;
}

// Bytes of all kinds: plain, cut and mixed-up UTF-8, surrogates, NUL, overlong and too large ones.
static std::string arbitrary_bytes(std::mt19937_64 &random) {
    static const std::vector<std::string> pieces{
        std::string(1, '\0'), "a", "the ", " ", "é", "日", "\xF0\x9F\x98\x80", "\xC2", "\xE3\x80", "\xF0\x9F\x98", "\xED\xA0\x80",
        "\xC0\x80", "\xF4\x90\x80\x80", "\xF7\xBF\xBF\xBF", "\xFF", "\x80", "\xBF\xBF", "\xE2\x80\x83", "\xCC\x81", "\xCC\xA7", "İ", "ΐ", "@_"};
    std::string bytes;
    const bool only_pieces = random() % 2;
    for (std::size_t n = random() % 80; n > 0; --n)
        bytes += only_pieces || random() % 2 ? pieces[random() % pieces.size()] : std::string(1, static_cast<char>(random()));
    if (random() % 8 == 0) bytes += std::string(random() % 300, bytes.empty() ? 'a' : bytes.back());
    return bytes;
}

static std::uint64_t exercise_sets(const Texts &texts, Shingling shingling) {
    return exercise_signing(texts, shingling) + exercise_candidates(texts, shingling) + exercise_joins(texts, shingling) +
           exercise_weights(texts, shingling);
}

static std::uint64_t fuzz(std::uint64_t seed, std::size_t rounds) {
    std::uint64_t digest = 0;
    for (std::size_t round = 0; round < rounds; ++round) {
        std::mt19937_64 random(seed + round);
        std::vector<std::string> documents;
        for (std::size_t n = 10 + random() % 20; n > 0; --n) {
            documents.push_back(arbitrary_bytes(random));
            if (random() % 3 == 0) documents.push_back(documents.back() + arbitrary_bytes(random).substr(0, 4));
        }
        const Corpus corpus(documents);
        const auto options = static_cast<unsigned>(random()), space = static_cast<unsigned>(random() % 3);
        digest += exercise_normalisation(corpus.texts(), options, space) + exercise_wanted(corpus.texts());
        digest += exercise_sets(corpus.texts(), {random() % 2 ? Unit::word : Unit::character, 1 + random() % 12, random()});
        if (round % 3 == 0) {
            const auto edits = static_cast<std::uint32_t>(random() % 9), rate = static_cast<std::uint32_t>(random() % 40);
            digest += exercise_edits(corpus.texts(), edits, rate);
        }
        if (round % 6 == 0) {  // it tries many parameters
            const bool words = random() % 2 == 0, folds = random() % 2 == 0;
            digest += exercise_passages(corpus.texts(), words, folds, 1 + random() % 12);
        }
    }
    return digest;
}

// Each option with some documents, and the usual ones with more than fit a block; edits are compared with a plain loop
// over all pairs, so there are few.
static std::uint64_t exercise() {
    const Corpus few(make_documents(50)), some(make_documents(100)), many(make_documents(400));
    std::uint64_t digest = exercise_wanted(some.texts());
    for (unsigned options = 0; options < 64; ++options)
        for (const unsigned space : {0u, 1u, 2u}) digest += exercise_normalisation(some.texts(), options, space);
    for (const Unit unit : {Unit::character, Unit::word}) {
        for (const std::size_t k : {1, 2, 8, 9, 40}) digest += exercise_sets(some.texts(), {unit, k, 1});
        digest += exercise_sets(many.texts(), {unit, 5, 1});
    }
    for (const bool words : {false, true})
        for (const std::size_t least : {1, 2, 12, 60}) digest += exercise_passages((least == 12 ? many : some).texts(), words, true, least);
    for (const std::uint32_t edits : {0u, 2u, 40u}) digest += exercise_edits(few.texts(), edits, 0);
    return digest + exercise_edits(some.texts(), 0, 20);
}

static std::uint64_t exercise_numbers(std::uint64_t seed, std::size_t rounds) {
    std::mt19937_64 random(seed);
    std::uint64_t digest = 0;
    for (std::size_t i = 0; i < rounds; ++i) {
        digest = digest * 31 + exercise_vectors(random, i % 2);
        digest = digest * 31 + exercise_segment(random);
        digest = digest * 31 + exercise_question(random);
        digest = digest * 31 + exercise_waiting(random);
        for (int k = 0; k < 20; ++k) digest = digest * 31 + exercise_json(random);
    }
    return digest;
}

int main(int count, char **given) {
    const std::uint64_t seed = count == 3 ? std::strtoull(given[1], nullptr, 10) : 7;
    const std::uint64_t rounds = count == 3 ? std::strtoull(given[2], nullptr, 10) : 20;
    const std::uint64_t digest = (count == 3 ? fuzz(seed, rounds) : exercise()) + exercise_numbers(seed, std::min<std::size_t>(rounds, 200));
    std::printf("%llx\n", static_cast<unsigned long long>(digest));
}
