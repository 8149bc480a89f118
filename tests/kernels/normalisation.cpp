// Normalisation of texts, with stop words.
#include "exercise.hpp"

#include "content.hpp"
#include "normal_form.hpp"
#include "normalise.hpp"
#include "utf8.hpp"

using namespace nearly;

static std::uint64_t normalise_with(const Texts &texts, const normalise::Options &options) {
    normalise::StopWords stop_words("ab the word", options.fold_case);
    normalise::Bytes out(1);
    normalise::Normaliser normaliser(options, stop_words, out);
    std::uint64_t digest = 0;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const std::uint8_t *const start = texts[i].data(), *const end = start + texts[i].size();
        normaliser.document(start, end);
        digest += static_cast<std::uint64_t>(normalise::settled(start, end, unicode::unsettled_nfc));
        digest += normalise::mark_runs(start, end, 2).size();
        const auto ends = normalise::ends_of_pieces(start, end, unicode::unsettled_nfkd, 3);
        require(texts[i].empty() ? ends.empty() : ends.back() == end - start, "pieces are not the whole text");
    }
    return digest + hash_content(out.data, out.size).low;
}

static normalise::Options options_of(unsigned bits, normalise::Space space) {
    const auto on = [bits](unsigned bit) { return (bits >> bit & 1) != 0; };
    return {on(0), on(1), on(2), on(3), on(4), on(5), space};
}

constexpr normalise::Space SPACES[] = {normalise::Space::keep, normalise::Space::collapse, normalise::Space::drop};

std::uint64_t exercise_normalisation(const Texts &texts, unsigned options, unsigned space) {
    for (std::size_t i = 0; i < texts.size(); ++i)
        if (are_utf8(texts)) require(is_utf8(texts[i]), "texts are UTF-8 together, and one is not");
    return normalise_with(texts, options_of(options, SPACES[space])) + are_utf8(texts);
}
