// Runs every kernel on ordinary and on nasty texts, to be built with sanitisers; prints a digest.
//
//     exercise                   texts, each kernel with each option
//     exercise SEED ROUNDS       arbitrary bytes
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string>

#include "alignment.hpp"
#include "bloom.hpp"
#include "candidates.hpp"
#include "clusters.hpp"
#include "frequency.hpp"
#include "grams.hpp"
#include "hash_index.hpp"
#include "items.hpp"
#include "jaccard.hpp"
#include "join.hpp"
#include "normal_form.hpp"
#include "normalise.hpp"
#include "overlaps.hpp"
#include "routes.hpp"
#include "runs.hpp"
#include "signatures.hpp"
#include "signing.hpp"
#include "units.hpp"

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

static void require(bool holds, const char *what) {
    if (holds) return;
    std::fprintf(stderr, "%s\n", what);
    std::abort();
}

// Long texts go another way; with a stretch of a few bytes most texts are long.
constexpr std::size_t SHORT_STRETCH = 5;

template <typename Signer> static std::uint64_t sign_all(const Texts &texts, Shingling shingling, std::size_t positions, std::vector<std::uint32_t> &all) {
    Shingler shingler(shingling);
    const Signer signer(positions, shingling.seed);
    SigningShingler<Signer> at_once(shingler, signer), in_stretches(Shingler(shingling, SHORT_STRETCH), signer);
    std::vector<std::uint32_t> same(positions);
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const auto signature = std::span(all).subspan(i * positions, positions);
        const std::size_t size = at_once(texts[i], texts.end(), signature);
        require(size == shingler.count_left(texts[i], texts.end()), "a size is not the number of shingles");
        if (shingling.dropped == nullptr) require(size == shingler.count(texts[i]), "shingles are counted otherwise");
        require(size == in_stretches(texts[i], texts.end(), same), "stretches have another number of shingles");
        require(std::ranges::equal(signature, same), "stretches have another signature");
    }
    return std::accumulate(all.begin(), all.end(), std::uint64_t{0});
}

// The sets, made in two ways that have to agree.
static Sets sets_of(const Texts &texts, Shingling shingling) {
    Shingler at_once(shingling), in_stretches(shingling, SHORT_STRETCH);
    const Sets long_ones = shingle_sets(texts, in_stretches, true, LongSet(4));
    Sets sets = shingle_sets(texts, at_once, true);
    require(sets.offsets == long_ones.offsets, "sets of long texts have other sizes");
    require(std::equal(sets.hashes.data, sets.hashes.data + sets.hashes.size, long_ones.hashes.data), "sets of long texts differ");
    return sets;
}

// Every hash that is in more than a share of the documents is suspected, however many are forgotten.
static std::uint64_t count_frequent(const Sets &sets, const HashIndex &index, std::uint64_t denominator) {
    Frequency frequency(1, denominator);
    const std::uint64_t *const hashes = sets.hashes.data;
    const std::size_t documents = sets.offsets.size() - 1;
    for (std::size_t i = 0; i < documents; ++i) frequency.add({hashes + sets.offsets[i], hashes + sets.offsets[i + 1]});
    std::vector<std::uint32_t> counts(index.size());
    index.count({hashes, sets.hashes.size}, counts);
    const HashIndex suspects(frequency.suspects());
    std::vector<std::uint64_t> in_order(hashes, hashes + sets.hashes.size);
    std::ranges::sort(in_order);
    std::uint64_t frequent = 0;
    for (auto at = in_order.begin(); at != in_order.end();) {
        const auto end = std::upper_bound(at, in_order.end(), *at);
        if (static_cast<std::size_t>(end - at) * denominator > documents) {
            require(suspects.has(*at), "a frequent hash is not suspected");
            ++frequent;
        }
        at = end;
    }
    return frequent + std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

// The same texts with the shingles of some of them dropped.
static std::uint64_t drop_some(const Texts &texts, Shingling shingling) {
    const Sets every = sets_of(texts, shingling);
    const std::size_t some = static_cast<std::size_t>(every.offsets[std::min<std::size_t>(30, texts.size())]);
    std::vector<std::uint64_t> dropped(every.hashes.data, every.hashes.data + some);
    const HashIndex index(dropped);
    shingling.dropped = &index;
    const Sets left = sets_of(texts, shingling);
    for (std::size_t i = 0; i < left.hashes.size; ++i) require(!index.has(left.hashes.data[i]), "a dropped hash is there");
    std::vector<std::uint32_t> all(texts.size() * 6);
    std::uint64_t digest = left.hashes.size + sign_all<OnePermutationSigner>(texts, shingling, 6, all);
    digest += sign_all<IndependentSigner>(texts, shingling, 6, all);
    for (const std::uint64_t denominator : {1, 10, 50}) digest += count_frequent(every, index, denominator);
    return digest;
}

// Bags, made by the shingler and from lists of hashes: both have to agree; and signed.
static std::uint64_t bags_of(const Texts &texts, Shingling shingling) {
    Shingler shingler(shingling);
    const Sets bags = shingle_bags(texts, shingler);
    std::vector<std::int64_t> offsets{0};
    std::vector<std::uint64_t> hashes;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const auto some = shingler(texts[i], texts.end());
        hashes.insert(hashes.end(), some.begin(), some.end());
        offsets.push_back(static_cast<std::int64_t>(hashes.size()));
    }
    sort_lists(offsets, hashes.data());
    const Sets same = sets_of_lists(offsets, hashes, true), once = sets_of_lists(offsets, hashes, false);
    require(bags.offsets == same.offsets && bags.offsets == offsets, "bags have other sizes");
    require(std::equal(bags.hashes.data, bags.hashes.data + bags.hashes.size, same.hashes.data), "bags differ");
    require(std::equal(once.offsets.begin(), once.offsets.end(), shingle_sets(texts, shingler, true).offsets.begin()), "sets of lists have other sizes");
    std::vector<std::uint64_t> again(hashes.size());
    hash_numbers(hashes, again.data());
    SeededSigner<OnePermutationSigner> sign(15, 1);
    std::vector<std::uint32_t> signature(15);
    std::uint64_t digest = hash_items(texts).size() + again.size();
    for (std::size_t i = 0; i < texts.size(); ++i) {
        sign({bags.hashes.data + bags.offsets[i], bags.hashes.data + bags.offsets[i + 1]}, signature);
        digest = std::accumulate(signature.begin(), signature.end(), digest);
    }
    return digest;
}

static std::uint64_t join_all(const Sets &sets) {
    const Set all(sets.hashes.data, sets.hashes.size);
    const std::vector<std::uint8_t> rarities = cell_rarities(count_cells(all, 12));
    std::uint64_t digest = 0;
    for (const Threshold threshold : {Threshold{1, 2}, Threshold{9, 10}, Threshold{1, 1}}) {
        JoinSets ready(sets.offsets, all.data(), rarities, threshold);
        ready.prepare(0, ready.size());
        for (const bool within : {true, false}) {
            const JoinIndex index(ready, within);
            for (std::size_t rank = 0; rank < ready.size();) {
                const Joined joined = join(index, ready, rank, ready.size(), 3);
                digest += joined.pairs.size();
                rank = joined.next;
            }
        }
    }
    return digest;
}

// Filters of one block and of many, with few bits for a key and with several words of them.
static std::uint64_t bloom_all(const Texts &texts, std::span<const std::uint32_t> signatures, std::size_t rows, std::size_t bands, std::uint64_t seed) {
    std::vector<std::uint64_t> keys;
    for (std::size_t i = 0; i < texts.size(); ++i) keys.push_back(key_of_bytes(texts[i], seed));
    for (std::size_t i = 0; i < texts.size(); ++i) keys.push_back(key_of_number(i, seed));
    const std::vector<std::uint64_t> of_bands = band_keys(signatures, rows, seed);
    std::uint64_t digest = 0;
    for (const std::size_t blocks : {1, 3, 50})
        for (const unsigned hashes : {1u, 7u, 8u, 40u}) {
            std::vector<std::uint64_t> words(BLOCK_WORDS * blocks);
            const Bloom filter(words, hashes);
            for (const std::uint8_t is_new : add_keys(filter, keys)) digest = digest * 31 + is_new;
            for (const std::uint8_t is_there : contain_keys(filter, keys)) require(is_there, "a filter forgot a key");
            std::vector<std::uint64_t> of_filters(BLOCK_WORDS * blocks * bands);
            std::vector<Bloom> filters;
            for (std::size_t b = 0; b < bands; ++b)
                filters.emplace_back(std::span(of_filters).subspan(b * BLOCK_WORDS * blocks, BLOCK_WORDS * blocks), hashes);
            for (const std::uint8_t is_new : sift_rows(filters, of_bands)) digest = digest * 31 + is_new;
        }
    return digest;
}

static std::uint64_t run(const Texts &texts, Shingling shingling) {
    const std::size_t bands = 5, rows = 3, positions = bands * rows, count = texts.size();
    std::vector<std::uint32_t> all(count * positions);
    std::uint64_t digest = sign_all<IndependentSigner>(texts, shingling, positions, all);
    digest += sign_all<OnePermutationSigner>(texts, shingling, positions, all);
    digest += bloom_all(texts, all, rows, bands, shingling.seed);

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
            digest += crowd_of(keys, hubs).largest;
        }
        digest += shared_keys(keys).size();
    }
    const std::vector<std::uint8_t> is_chosen(count, 1);
    for (const std::uint32_t partitions : {1u, 7u})
        digest += route_keys(documents, all_keys, is_chosen, bands, partitions).keys.size();
    pairs = sorted_unique(pairs, 0, NONE);

    const Sets sets = sets_of(texts, shingling);
    const NumberedSets every{documents, sets.offsets, {sets.hashes.data, sets.hashes.size}};
    const NumberedSets few{every.documents.first(9), every.offsets.first(10), every.hashes};
    digest += search(SoughtIndex(few, {1, 2}), every).found.size();
    for (const std::uint32_t many : count_by_similarity(SoughtIndex(few, {0, 1}), every, 10)) digest = digest * 31 + many;
    digest += join_all(sets) + drop_some(texts, shingling) + bags_of(texts, shingling);
    std::vector<std::uint32_t> as, bs;
    std::vector<double> similarities;
    const auto set = [&](std::uint64_t i) { return Set(sets.hashes.data + sets.offsets[i], sets.hashes.data + sets.offsets[i + 1]); };
    Comparer comparer, large(0);
    for (const std::uint64_t pair : pairs) {
        comparer.take(set(pair >> 32));
        large.take(set(pair >> 32));
        const double similarity = comparer.similarity(set(static_cast<std::uint32_t>(pair)), {1, 2});
        require(similarity == large.similarity(set(static_cast<std::uint32_t>(pair)), {1, 2}), "large sets have another similarity");
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

// Every combination of options, with stop words.
static std::uint64_t normalise_all(const Texts &texts) {
    std::uint64_t digest = 0;
    for (unsigned bits = 0; bits < 64; ++bits)
        for (const auto space : SPACES) digest += normalise_with(texts, options_of(bits, space));
    return digest;
}

// The units of all texts, with a group and a side for each document.
struct Cut {
    passages::Units units;
    std::vector<std::int64_t> offsets{0};
    std::vector<std::uint32_t> groups, sides;

    Cut(const Texts &texts, const passages::Cut &cut) {
        passages::Cutter cutter(cut, units);
        for (std::size_t i = 0; i < texts.size(); ++i) {
            cutter.document(texts[i]);
            check_places(static_cast<std::size_t>(offsets.back()), texts[i].size());
            offsets.push_back(static_cast<std::int64_t>(units.hashes.size()));
            groups.push_back(static_cast<std::uint32_t>(i - i % 7 / 6));
            sides.push_back(i % 2);
        }
        require(units.text_ends.size() == units.keys.size() + 1, "a collected unit has no text");
    }
    passages::Corpus corpus(bool one_sided) const { return {offsets, units.hashes, groups, sides, one_sided}; }

    void check_places(std::size_t from, std::size_t most) const {
        for (std::size_t i = from, reached = 0; i < units.hashes.size(); reached = units.ends[i++])
            require(reached <= units.starts[i] && units.starts[i] < units.ends[i] && units.ends[i] <= most, "a unit is out of place");
    }
};

// What is found holds, whatever the parameters.
static std::uint64_t find_runs(const passages::Corpus &corpus, const passages::Winnowing &winnowing) {
    passages::RunFinder finder(corpus, winnowing);
    std::uint64_t digest = 0;
    for (const passages::Run &run : finder.runs()) {
        const auto a = corpus[run.a], b = corpus[run.b];
        require(corpus.compares(run.a, run.b) && run.length >= winnowing.k + winnowing.window - 1, "a run is none");
        require(run.a_start + run.length <= a.size() && run.b_start + run.length <= b.size(), "a run leaves its document");
        require(std::ranges::equal(a.subspan(run.a_start, run.length), b.subspan(run.b_start, run.length)), "a run is not shared");
        digest = digest * 31 + run.a_start + run.b_start + run.length;
    }
    for (const passages::Place &place : finder.places()) {
        require(place.start < place.end && place.end <= corpus[place.document].size(), "a place leaves its document");
        digest = digest * 31 + place.passage + place.start + place.end;
    }
    return digest;
}

static std::uint64_t pair_all(const passages::Corpus &corpus, const passages::Rarity &rarity, std::vector<std::uint64_t> &pairs) {
    const std::vector<std::uint64_t> found = passages::RarePairs(corpus, rarity)();
    for (const std::uint64_t pair : found)
        require(corpus.compares(static_cast<std::uint32_t>(pair >> 32), static_cast<std::uint32_t>(pair)), "a pair is not to be compared");
    pairs.insert(pairs.end(), found.begin(), found.end());
    return found.size();
}

// Settings from those that take all to those that take nothing.
constexpr passages::Alignment ALIGNMENTS[] = {
    {2, 160, 0.12f, 0.4f, 45, 12, 70, 3, 2, 0.7f, 180, 40},
    {9, 3, 0.12f, 0.4f, 1, 0.5f, 1, 2, 0.5f, 1, 5, 9},
    {~0u, 0, 0, 0, 0, 0, 0, 0, 0, 2, ~0u, ~0u},
    {0, ~0u, 1, 1, 1e30f, 1e30f, 1e30f, ~0u, 1e30f, 0, 0, 0},
};

static std::uint64_t align_pairs(const Cut &cut, std::span<const std::uint64_t> pairs) {
    std::vector<std::uint32_t> stems;
    std::vector<float> rarities;
    for (const std::uint64_t hash : cut.units.hashes) {
        stems.push_back(static_cast<std::uint32_t>(hash));
        rarities.push_back(static_cast<float>(hash % 4));
    }
    const auto words = [&](std::uint32_t document) {
        const auto from = static_cast<std::size_t>(cut.offsets[document]);
        const auto size = static_cast<std::size_t>(cut.offsets[document + 1]) - from;
        const auto of = [&](const auto &column) { return std::span(column).subspan(from, size); };
        return passages::Words{of(stems), of(rarities), of(cut.units.starts), of(cut.units.ends), of(cut.units.begins)};
    };
    std::uint64_t digest = 0;
    for (const passages::Alignment &settings : ALIGNMENTS) {
        passages::Aligner aligner(settings);
        for (const std::uint64_t pair : pairs) {
            const passages::Words a = words(static_cast<std::uint32_t>(pair >> 32)), b = words(static_cast<std::uint32_t>(pair));
            for (const passages::Aligned &each : aligner(a, b)) {
                require(each.a < each.a_end && each.a_end <= a.size(), "a passage leaves the first document");
                require(each.b < each.b_end && each.b_end <= b.size(), "a passage leaves the second document");
                digest = digest * 31 + each.a + each.a_end + each.b + each.b_end;
            }
        }
    }
    return digest;
}

static std::uint64_t find_passages(const Texts &texts, const passages::Cut &how, std::size_t least) {
    constexpr std::size_t HUGE = ~std::size_t{0};
    const Cut cut(texts, how);
    std::uint64_t digest = cut.units.hashes.size() + cut.units.texts.size();
    // The first and the last documents share little: these are pairs of all kinds, empty ones among them.
    std::vector<std::uint64_t> pairs;
    for (std::uint64_t i = 0; i + 1 < std::min<std::size_t>(texts.size(), 40); ++i) pairs.push_back(i << 32 | (i + 1));
    for (const bool one_sided : {false, true}) {
        const passages::Corpus corpus = cut.corpus(one_sided);
        for (const std::size_t k : {std::size_t{1}, (least + 1) / 2, least, std::size_t{5000}, HUGE})
            for (const std::size_t crowd : {std::size_t{0}, std::size_t{3}, std::size_t{50}})
                for (const std::size_t window : {std::size_t{1}, least, HUGE}) digest += find_runs(corpus, {k, window, crowd});
        for (const std::size_t k : {std::size_t{1}, least, HUGE})
            for (const std::size_t most : {std::size_t{0}, std::size_t{8}, std::size_t{50}}) digest += pair_all(corpus, {k, most, least % 4}, pairs);
    }
    pairs.resize(std::min<std::size_t>(pairs.size(), 400));
    return digest + align_pairs(cut, pairs);
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
        digest += normalise_with(corpus.texts(), options_of(static_cast<unsigned>(random()), SPACES[random() % 3]));
        digest += run(corpus.texts(), {random() % 2 ? Unit::word : Unit::character, 1 + random() % 12, random()});
        if (round % 6 == 0)  // it tries many parameters
            digest += find_passages(corpus.texts(), {random() % 2 == 0, random() % 2 == 0, random() % 2 == 0}, 1 + random() % 12);
    }
    return digest;
}

static std::uint64_t exercise() {
    const Corpus corpus(make_documents());
    std::uint64_t digest = normalise_all(corpus.texts());
    for (const Unit unit : {Unit::character, Unit::word})
        for (const std::size_t k : {1, 2, 5, 8, 9, 40}) digest += run(corpus.texts(), {unit, k, 1});
    for (const bool words : {false, true})
        for (const std::size_t least : {1, 2, 12, 60}) digest += find_passages(corpus.texts(), {words, true, true}, least);
    return digest;
}

int main(int count, char **given) {
    const std::uint64_t digest = count == 3 ? fuzz(std::strtoull(given[1], nullptr, 10), std::strtoull(given[2], nullptr, 10)) : exercise();
    std::printf("%llx\n", static_cast<unsigned long long>(digest));
}
