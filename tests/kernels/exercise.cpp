// Runs every kernel on ordinary and on nasty texts, to be built with sanitisers; prints a digest.
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string>

#include "candidates.hpp"
#include "clusters.hpp"
#include "jaccard.hpp"
#include "join.hpp"
#include "normalise.hpp"
#include "overlaps.hpp"
#include "routes.hpp"
#include "signatures.hpp"

using namespace nearly;

static std::vector<std::string> make_documents() {
    std::mt19937_64 random(7);
    std::vector<std::string> documents{"", "a", " ", "abcd", "abcde", "日本語のテキスト", "\xF0\x9F\x98\x80", std::string(1000, 'x')};
    const std::vector<std::string> pieces{"ab", "the ", "é", "日", "\xF0\x9F\x98\x80", " ", "\n", "word ", "@x_y ", "İß", "\xE3\x80\x80"};
    for (int i = 0; i < 400; ++i) {
        std::string text;
        for (std::size_t n = random() % 60; n > 0; --n) text += pieces[random() % pieces.size()];
        documents.push_back(text);
        if (i % 3 == 0) documents.push_back(text + "!");
    }
    return documents;
}

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
    Texts texts() const { return {offsets, data.data()}; }
};

template <typename Signer> static std::uint64_t sign_all(const Texts &texts, Shingling shingling, std::size_t positions, std::vector<std::uint32_t> &all) {
    Shingler shingler(shingling);
    Signer signer(positions, shingling.seed);
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const auto hashes = shingler(texts[i], texts.end());
        if (hashes.size() != shingler.count(texts[i])) std::abort();
        if (!hashes.empty()) signer(hashes, std::span(all).subspan(i * positions, positions));
    }
    return std::accumulate(all.begin(), all.end(), std::uint64_t{0});
}

static std::uint64_t join_all(const Sets &sets) {
    const Set all(sets.hashes.get(), static_cast<std::size_t>(sets.offsets.back()));
    const std::vector<std::uint8_t> rarities = cell_rarities(count_cells(all, 12));
    std::uint64_t digest = 0;
    for (const Threshold threshold : {Threshold{1, 2}, Threshold{9, 10}, Threshold{1, 1}}) {
        JoinSets ready(sets.offsets, all.data(), rarities, threshold);
        ready.prepare(0, ready.size());
        for (const bool within : {true, false}) digest += join(JoinIndex(ready, within), ready, 0, ready.size()).pairs.size();
    }
    return digest;
}

static std::uint64_t run(const Texts &texts, Shingling shingling) {
    const std::size_t bands = 5, rows = 3, positions = bands * rows, count = texts.size();
    std::vector<std::uint32_t> all(count * positions);
    std::uint64_t digest = sign_all<IndependentSigner>(texts, shingling, positions, all);
    digest += sign_all<OnePermutationSigner>(texts, shingling, positions, all);

    std::vector<std::uint64_t> words(count * sketch_words(positions)), pairs;
    std::vector<std::uint32_t> documents(count), keys(count);
    std::iota(documents.begin(), documents.end(), 0u);
    const Keeper keeper(bands, rows);
    std::vector<std::uint32_t> all_keys(count * bands);
    for (std::size_t i = 0; i < count; ++i)
        keeper(std::span<const std::uint32_t>(all).subspan(i * positions, positions), &all_keys[i * bands], &words[i * sketch_words(positions)]);
    for (std::size_t b = 0; b < bands; ++b) {
        for (std::size_t i = 0; i < count; ++i) keys[i] = all_keys[i * bands + b];
        for (const std::size_t hubs : {0, 4}) {
            const Candidates found = band_candidates(keys, documents, {words, sketch_words(positions)}, 6, hubs);
            pairs.insert(pairs.end(), found.pairs.begin(), found.pairs.end());
        }
        digest += shared_keys(keys).size();
    }
    const std::vector<std::uint8_t> is_chosen(count, 1);
    for (const std::uint32_t partitions : {1u, 7u})
        digest += route_keys(documents, all_keys, is_chosen, bands, partitions).keys.size();
    pairs = sorted_unique(pairs, 0, NONE);

    const Sets sets = shingle_sets(texts, shingling, true);
    const NumberedSets every{documents, sets.offsets, {sets.hashes.get(), static_cast<std::size_t>(sets.offsets.back())}};
    const NumberedSets few{every.documents.first(9), every.offsets.first(10), every.hashes};
    digest += search(SoughtIndex(few, {1, 2}), every).found.size();
    for (const std::uint32_t many : count_by_similarity(SoughtIndex(few, {0, 1}), every, 10)) digest = digest * 31 + many;
    digest += join_all(sets);
    std::vector<std::uint32_t> as, bs;
    std::vector<double> similarities;
    const auto set = [&](std::uint64_t i) { return Set(sets.hashes.get() + sets.offsets[i], sets.hashes.get() + sets.offsets[i + 1]); };
    Comparer comparer;
    for (const std::uint64_t pair : pairs) {
        comparer.take(set(pair >> 32));
        const double similarity = comparer.similarity(set(static_cast<std::uint32_t>(pair)), {1, 2});
        if (similarity < 0) continue;
        as.push_back(static_cast<std::uint32_t>(pair >> 32));
        bs.push_back(static_cast<std::uint32_t>(pair));
        similarities.push_back(similarity);
    }
    for (const std::uint32_t label : components(as, bs, count)) digest += label;
    for (const std::uint32_t label : leaders(as, bs, similarities, documents)) digest += label;
    std::vector<Content> contents;
    for (std::size_t i = 0; i < count; ++i) contents.push_back(hash_content(texts[i].data(), texts[i].size()));
    for (const std::uint32_t first : first_seen(contents)) digest += first;
    return digest + pairs.size();
}

// Every combination of options, with stop words.
static std::uint64_t normalise_all(const Texts &texts) {
    std::uint64_t digest = 0;
    for (unsigned bits = 0; bits < 64; ++bits)
        for (const auto space : {normalise::Space::keep, normalise::Space::collapse, normalise::Space::drop}) {
            const auto on = [bits](unsigned bit) { return (bits >> bit & 1) != 0; };
            const normalise::Options options{on(0), on(1), on(2), on(3), on(4), on(5), space};
            normalise::StopWords stop_words("ab the word", options.fold_case);
            normalise::Bytes out(1);
            normalise::Normaliser normaliser(options, stop_words, out);
            for (std::size_t i = 0; i < texts.size(); ++i) {
                normaliser.document(texts[i].data(), texts[i].data() + texts[i].size());
                digest += static_cast<std::uint64_t>(normalise::settled(texts[i].data(), texts[i].data() + texts[i].size(), unicode::unsettled_nfc));
            }
            digest += hash_content(out.data, out.size).low;
        }
    return digest;
}

int main() {
    const Corpus corpus(make_documents());
    std::uint64_t digest = normalise_all(corpus.texts());
    for (const Unit unit : {Unit::character, Unit::word})
        for (const std::size_t k : {1, 2, 5, 8, 9, 40}) digest += run(corpus.texts(), {unit, k, 1});
    std::printf("%llx\n", static_cast<unsigned long long>(digest));
}
