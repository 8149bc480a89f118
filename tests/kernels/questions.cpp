// Questions about texts: signed, met and compared in one go.
#include "exercise.hpp"

#include "question.hpp"

using namespace nearly;

namespace {

std::string random_text(std::mt19937_64 &random) {
    static const char *const words[] = {"red ", "green ", "blue ", "Paint", " wall", "é", "e\u0301", "漢", "\xff", "\t"};
    std::string text;
    for (std::size_t i = random() % 40; i > 0; --i) text += words[random() % std::size(words)];
    return text;
}

std::span<const std::uint8_t> bytes_of(const std::string &text) {
    return {reinterpret_cast<const std::uint8_t *>(text.data()), text.size()};
}

}  // namespace

// Texts are signed as many at a time are, and compared as their sets are; readers are lent, and come back.
std::uint64_t exercise_question(std::mt19937_64 &random) {
    const bool is_word = random() % 2;
    const Shingling shingling{is_word ? Unit::word : Unit::character, 1 + random() % 6, random(), nullptr};
    const normalise::Options options{true, false, false, false, false, is_word, normalise::Space::collapse};
    const TextRules rules{random() % 4 == 0, options, random() % 2 ? "red" : "", unicode::unsettled_nfc, shingling};
    const SigningRules signing{random() % 2 == 0, 1 + random() % 5, 1 + random() % 4};
    TextReaders readers(rules, signing);
    std::uint64_t digest = 0;
    for (int round = 0; round < 5; ++round) {
        TextReaders::Lent one = readers.lend(), other = readers.lend();
        const std::string text = random_text(random), same = text;
        Question question, again;
        const bool is_plain = one->ask(bytes_of(text), question);
        require(is_plain == other->ask(bytes_of(same), again), "a text is plain, whoever reads it");
        if (!is_plain) continue;
        require(question.keys == again.keys && question.sketch == again.sketch && question.digest == again.digest,
                "the same text has the same signature");
        require((question.size == 0) == question.set.empty() && question.size >= question.set.size(),
                "a size counts repeats too");
        one->compare_with(question.set);
        const std::optional<double> similarity = one->similarity(bytes_of(same), {1, 2});
        require(similarity == (question.size == 0 ? -1.0 : 1.0), "a text is the same as itself");
        const std::string third = random_text(random);
        if (const auto found = one->similarity(bytes_of(third), {1, 3})) digest = mix(digest + static_cast<std::uint64_t>(*found * 1e6));
    }
    return digest;
}
