// Runs every kernel on ordinary and on nasty texts, to be built with sanitisers; prints a digest.
//
//     exercise                   texts, each kernel with each option
//     exercise SEED ROUNDS       arbitrary bytes
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string>

#include "bit_row.hpp"
#include "bloom.hpp"
#include "candidates.hpp"
#include "clusters.hpp"
#include "distance.hpp"
#include "edit_index.hpp"
#include "frequency.hpp"
#include "grams.hpp"
#include "hash_index.hpp"
#include "items.hpp"
#include "pairs.hpp"
#include "race.hpp"
#include "tally.hpp"
#include "weighted_join.hpp"
#include "weighted_search.hpp"
#include "weights.hpp"
#include "jaccard.hpp"
#include "meetings.hpp"
#include "join.hpp"
#include "near_runs.hpp"
#include "normal_form.hpp"
#include "normalise.hpp"
#include "overlaps.hpp"
#include "passage.hpp"
#include "product.hpp"
#include "projection.hpp"
#include "rotation.hpp"
#include "routes.hpp"
#include "runs.hpp"
#include "signatures.hpp"
#include "samples.hpp"
#include "digest_order.hpp"
#include "segment.hpp"
#include "sides.hpp"
#include "sieve.hpp"
#include "spread.hpp"
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
        if (shingling.dropped == nullptr) require(size == shingler.count(texts[i], texts.end()), "shingles are counted otherwise");
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

// Weighted sets of all that texts have: tallied, weighed, signed, joined and searched; a join and a search
// have to find the same pairs.
static std::uint64_t weigh_all(const Texts &texts, Shingling shingling) {
    Shingler shingler(shingling);
    const Lists lists = shingle_lists(texts, shingler);
    const Tally tally = count_hashes(lists.hashes);
    const Tally twice = merge_tallies({tally.hashes, tally.counts}, {tally.hashes, tally.counts});
    require(twice.hashes == tally.hashes, "merged tallies have other hashes");
    std::uint64_t digest = std::accumulate(twice.counts.begin(), twice.counts.end(), std::uint64_t{0});
    std::vector<std::uint32_t> weights;
    for (const std::uint64_t hash : tally.hashes) weights.push_back(hash % 5 == 0 ? 0 : 1 + hash % 1000);
    const WeightTable table(std::span(tally.hashes).first(tally.hashes.size() / 2),
                            std::span(weights).first(tally.hashes.size() / 2), 3);
    for (const bool bag : {false, true}) {
        const Weighted weighted = weighted_sets(lists.offsets, lists.hashes, table, bag);
        const WeightedSets sets{weighted.offsets, weighted.hashes, weighted.weights};
        RaceSigner sign(12, 1);
        std::vector<std::uint32_t> signature(12);
        for (std::size_t i = 0; i < sets.size(); ++i) {
            sign(sets[i], sets.weights_of(i), sets.total(i), signature);
            digest = std::accumulate(signature.begin(), signature.end(), digest);
        }
        const std::vector<std::uint8_t> rarities = cell_rarities(count_cells(sets.hashes, 8));
        WeightedJoinSets joining(sets, rarities, {1, 2});
        joining.prepare(0, sets.size());
        const Joined joined = join(WeightedJoinIndex(joining, true), joining, 0, sets.size(), ~std::size_t{0});
        std::vector<std::uint32_t> documents(texts.size());
        std::iota(documents.begin(), documents.end(), 0u);
        const NumberedSets every{documents, sets.offsets, sets.hashes};
        const WeightedSought sought(every, sets, {1, 2});
        require(sought.search(every, sets).found.size() == 2 * joined.pairs.size(), "a join and a search differ");
        for (const std::uint32_t many : sought.count(every, sets, 10)) digest = digest * 31 + many;
    }
    return digest;
}

// Pairs put in order, and given to copies: that of a document and itself becomes those of its group.
static std::uint64_t order_pairs(std::span<const std::uint64_t> pairs, std::size_t documents) {
    ValuedPairs sorted{{pairs.rbegin(), pairs.rend()}, std::vector<double>(pairs.size(), 0.5)};
    PairSorter sort(sorted.pairs);
    sort(sorted);
    require(std::ranges::equal(sorted.pairs, pairs), "pairs are not in order");
    std::vector<std::int64_t> starts;
    std::vector<std::uint32_t> copies;
    for (std::size_t i = 0; i <= documents; ++i) {
        starts.push_back(static_cast<std::int64_t>(copies.size()));
        if (i < documents) copies.insert(copies.end(), i % 3, static_cast<std::uint32_t>(documents + i));
    }
    std::vector<std::uint32_t> own(documents);
    std::iota(own.begin(), own.end(), 0u);
    return pairs_of_copies(own, own, std::vector<double>(documents, 1.0), {starts, copies}).pairs.size();
}

// Samples shorter and longer than most sets: a set that was drawn whole is found in itself.
static std::uint64_t probe_all(const NumberedSets &every, std::uint64_t seed) {
    std::uint64_t digest = 0;
    for (const std::size_t width : {1, 7, 500}) {
        std::vector<std::uint32_t> keys(every.size() * width), sizes, least(every.size(), 2);
        Drawer draw(seed);
        for (std::size_t i = 0; i < every.size(); ++i) {
            draw(every[i], std::span(keys).subspan(i * width, width));
            sizes.push_back(static_cast<std::uint32_t>(every[i].size()));
        }
        const SampleIndex index({every.documents, sizes, least, keys}, seed);
        const Found found = index.probe(every);
        require(found.met >= found.pairs.size(), "more pairs than met");
        digest = std::accumulate(found.pairs.begin(), found.pairs.end(), digest * 31 + found.met);
    }
    return digest;
}

static std::uint64_t join_all(const Sets &sets) {
    const Set all(sets.hashes.data, sets.hashes.size);
    const std::vector<std::uint8_t> rarities = cell_rarities(count_cells(all, 12));
    std::uint64_t digest = 0;
    for (const Threshold threshold : {Threshold{1, 2}, Threshold{9, 10}, Threshold{1, 1}, Threshold{1, 2, true}, Threshold{1, 1, true}}) {
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
            const Sides sides{count / 3, hubs ? count : count / 2};
            digest += sided_crowd(keys, hubs, sides).largest;
            digest += sided_candidates(keys, documents, {words, sketch_words(positions)}, 6, hubs, sides).pairs.size();
        }
        digest += shared_keys(keys).size();
    }
    for (const std::size_t hubs : {0, 4}) {
        Meetings meetings(count, bands);
        for (std::size_t b = 0; b < bands; ++b) {
            for (std::size_t i = 0; i < count; ++i) keys[i] = all_keys[i * bands + b];
            meetings.add(b, keys, hubs);
        }
        const std::size_t middle = count / 2;
        digest += meetings.candidates(0, middle, documents, {words, sketch_words(positions)}, 6).pairs.size();
        digest += meetings.candidates(middle, count, documents, {words, sketch_words(positions)}, 6).pairs.size();
    }
    const std::vector<std::uint8_t> is_chosen(count, 1);
    for (const std::uint32_t partitions : {1u, 7u})
        digest += route_keys(documents, all_keys, is_chosen, bands, partitions).keys.size();
    pairs = sorted_unique(pairs, 0, NONE);

    const Sets sets = sets_of(texts, shingling);
    const NumberedSets every{documents, sets.offsets, {sets.hashes.data, sets.hashes.size}};
    const NumberedSets few{every.documents.first(9), every.offsets.first(10), every.hashes};
    for (const bool of_smaller : {false, true}) {
        digest += search(SoughtIndex(few, {1, 2, of_smaller}), every).found.size();
        for (const std::uint32_t many : count_by_similarity(SoughtIndex(few, {0, 1, of_smaller}), every, 10))
            digest = digest * 31 + many;
    }
    digest += probe_all(every, shingling.seed);
    digest += join_all(sets) + drop_some(texts, shingling) + bags_of(texts, shingling);
    digest += weigh_all(texts, shingling) + order_pairs(pairs, count);
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
    Leaders leaders(count);
    for (std::size_t later = 0; later < count; ++later)
        for (std::size_t i = 0; i < as.size(); ++i)
            if (bs[i] == later) leaders.add({&bs[i], 1}, {&as[i], 1}, {&similarities[i], 1});
    for (const std::uint32_t label : leaders.leaders()) digest += label;
    std::vector<Content> contents;
    for (std::size_t i = 0; i < count; ++i) contents.push_back(hash_content(texts[i].data(), texts[i].size()));
    for (const std::uint32_t first : first_seen(contents)) digest += first;
    for (const std::uint32_t place : digest_order(contents)) digest = mix(digest + place);
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
    std::vector<std::uint64_t> hashes;
    std::vector<std::int64_t> offsets{0};
    std::vector<std::uint32_t> groups, sides;

    Cut(const Texts &texts, const passages::Cut &cut) {
        passages::Cutter cutter(cut, units);
        for (std::size_t i = 0; i < texts.size(); ++i) {
            cutter.document(texts[i]);
            check_places(static_cast<std::size_t>(offsets.back()), texts[i].size());
            offsets.push_back(static_cast<std::int64_t>(units.numbers.size()));
            groups.push_back(static_cast<std::uint32_t>(i - i % 7 / 6));
            sides.push_back(i % 2);
        }
        const std::size_t count = units.text_ends.size() - 1;
        require(static_cast<std::size_t>(units.text_ends.back()) == units.texts.size(), "collected units have gaps");
        for (const std::uint32_t number : units.numbers) {
            require(number < count, "a unit has no text");
            hashes.push_back(mix(number + 1));
        }
    }
    passages::Corpus corpus(bool one_sided) const { return {offsets, hashes, groups, sides, one_sided}; }

    void check_places(std::size_t from, std::size_t most) const {
        for (std::size_t i = from, reached = 0; i < units.numbers.size(); reached = units.ends[i++])
            require(reached <= units.starts[i] && units.starts[i] < units.ends[i] && units.ends[i] <= most, "a unit is out of place");
    }
};

static std::uint64_t find_crowds(const passages::Corpus &corpus, const passages::Winnowing &winnowing,
                                 const std::vector<passages::Crowded> &crowded) {
    std::vector<std::uint64_t> hashes, known;
    std::vector<std::uint32_t> places;
    std::vector<std::uint8_t> follows;
    std::uint64_t digest = 0;
    for (const passages::Crowded &each : crowded) {
        require(each.place + winnowing.k <= corpus[each.document].size(), "a k-gram leaves its document");
        hashes.push_back(each.hash), places.push_back(each.place), follows.push_back(each.follows);
    }
    for (const passages::CrowdPlace &each : passages::Crowds(hashes, places, follows, winnowing)()) {
        require(each.first <= each.last && each.last < crowded.size(), "a place has no k-grams");
        digest = digest * 31 + each.passage + places[each.first] + places[each.last];
    }
    // Where crowds are known beforehand, the same k-grams are crowded.
    known = hashes;
    std::ranges::sort(known);
    known.erase(std::ranges::unique(known).begin(), known.end());
    passages::RunFinder again(corpus, winnowing, {0, known, true});
    require(again.crowded().size() == crowded.size(), "a crowd that is known is lost");
    return digest;
}

// What is found holds, whatever the parameters.
static std::uint64_t find_runs(const passages::Corpus &corpus, const passages::Winnowing &winnowing, std::size_t crowd) {
    passages::RunFinder finder(corpus, winnowing, {crowd, {}, false});
    std::uint64_t digest = 0;
    for (const passages::Run &run : finder.runs()) {
        const auto a = corpus[run.a], b = corpus[run.b];
        require(corpus.compares(run.a, run.b) && run.length >= winnowing.k + winnowing.window - 1, "a run is none");
        require(run.a_start + run.length <= a.size() && run.b_start + run.length <= b.size(), "a run leaves its document");
        require(std::ranges::equal(a.subspan(run.a_start, run.length), b.subspan(run.b_start, run.length)), "a run is not shared");
        digest = digest * 31 + run.a_start + run.b_start + run.length;
    }
    return digest + find_crowds(corpus, winnowing, finder.crowded());
}

static std::uint64_t pair_all(const passages::Corpus &corpus, const passages::Rarity &rarity, std::vector<std::uint64_t> &pairs) {
    std::uint64_t shared = 0, in_parts = 0;
    const auto whole = passages::RarePairs(corpus, rarity.k, rarity.most_documents)(0, 1);
    for (std::size_t i = 0; i < whole.pairs.size(); ++i) {
        const std::uint64_t pair = whole.pairs[i];
        require(corpus.compares(static_cast<std::uint32_t>(pair >> 32), static_cast<std::uint32_t>(pair)), "a pair is not to be compared");
        if (whole.counts[i] >= rarity.least_shared) pairs.push_back(pair);
        shared += whole.counts[i];
    }
    passages::RarePairs finder(corpus, rarity.k, rarity.most_documents);
    for (std::size_t part = 0; part < 3; ++part)
        for (const std::uint32_t count : finder(part, 3).counts) in_parts += count;
    require(shared == in_parts, "parts do not sum up to the whole");
    return shared;
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
    for (const std::uint64_t hash : cut.hashes) {
        stems.push_back(static_cast<std::uint32_t>(hash));
        rarities.push_back(static_cast<float>(hash % 4));
    }
    const passages::Library library{cut.offsets, cut.hashes, {stems, rarities, cut.units.starts, cut.units.ends, cut.units.begins}};
    std::vector<std::uint32_t> as, bs;
    for (const std::uint64_t pair : pairs) as.push_back(static_cast<std::uint32_t>(pair >> 32)), bs.push_back(static_cast<std::uint32_t>(pair));
    std::uint64_t digest = 0;
    for (const passages::Alignment &settings : ALIGNMENTS)
        for (const double least_verbatim : {0.0, 0.7, 2.0})
            for (const passages::Passage &each : passages::align_pairs(library, as, bs, settings, least_verbatim)) {
                require(each.a < each.a_end && each.a_end <= library.units(as[each.pair]).size(), "a passage leaves the first document");
                require(each.b < each.b_end && each.b_end <= library.units(bs[each.pair]).size(), "a passage leaves the second document");
                require(each.likeness >= 0 && each.likeness <= 1 && (!each.is_verbatim || each.likeness == 1), "a likeness is none");
                digest = digest * 31 + each.a + each.a_end + each.b + each.b_end;
            }
    return digest;
}

// The first half of the documents stays, the second goes by.
static std::uint64_t sift(const Cut &cut, std::size_t least) {
    const passages::Library library{cut.offsets, cut.hashes, {}};
    const auto count = static_cast<std::uint32_t>(cut.offsets.size() - 1), half = count / 2;
    const std::span<const std::int64_t> staying = std::span(cut.offsets).first(half + 1);
    passages::NearRuns runs(staying, cut.hashes, least);
    passages::SharedGrams grams(staying, cut.hashes, least);
    passages::PassingPairs pairs(staying, cut.hashes, {1 + least % 3, 8, 2});
    std::vector<passages::NearRun> found;
    std::uint64_t digest = 0;
    for (std::uint32_t i = half; i < count; ++i) {
        runs.find(i, library.units(i), found);
        pairs.take(i, library.units(i));
        digest += grams.any(library.units(i));
    }
    for (const passages::NearRun &run : found) {
        require(run.a < half && run.b >= half && run.length >= least, "a near run is none");
        require(run.a_start + run.length <= library.units(run.a).size(), "a near run leaves the first document");
        require(run.b_start + run.length <= library.units(run.b).size(), "a near run leaves the second document");
        digest = digest * 31 + run.a_start + run.b_start + run.length;
    }
    for (const std::uint64_t pair : pairs.pairs()) require(pair >> 32 < half && static_cast<std::uint32_t>(pair) >= half, "a pair is of one side");
    return digest;
}

static std::uint64_t find_passages(const Texts &texts, const passages::Cut &how, std::size_t least) {
    constexpr std::size_t HUGE = ~std::size_t{0};
    const Cut cut(texts, how);
    std::uint64_t digest = cut.units.numbers.size() + cut.units.texts.size();
    // The first and the last documents share little: these are pairs of all kinds, empty ones among them.
    std::vector<std::uint64_t> pairs;
    for (std::uint64_t i = 0; i + 1 < std::min<std::size_t>(texts.size(), 40); ++i) pairs.push_back(i << 32 | (i + 1));
    for (const bool one_sided : {false, true}) {
        const passages::Corpus corpus = cut.corpus(one_sided);
        for (const std::size_t k : {std::size_t{1}, (least + 1) / 2, least, std::size_t{5000}, HUGE})
            for (const std::size_t crowd : {std::size_t{0}, std::size_t{3}, std::size_t{50}})
                for (const std::size_t window : {std::size_t{1}, least, HUGE}) digest += find_runs(corpus, {k, window}, crowd);
        for (const std::size_t k : {std::size_t{1}, least, HUGE})
            for (const std::size_t most : {std::size_t{0}, std::size_t{8}, std::size_t{50}}) digest += pair_all(corpus, {k, most, least % 4}, pairs);
    }
    pairs.resize(std::min<std::size_t>(pairs.size(), 400));
    return digest + align_pairs(cut, pairs) + sift(cut, least);
}

// Bytes of all kinds: plain, cut and mixed-up UTF-8, surrogates, NUL, overlong and too large ones.
// Distances by the definition: what is no part of the longest common subsequence.
static std::uint32_t plain_distance(Points a, Points b) {
    std::vector<std::uint32_t> row(b.size() + 1), above;
    for (const char32_t c : a) {
        above = row;
        for (std::size_t j = 0; j < b.size(); ++j) row[j + 1] = c == b[j] ? above[j] + 1 : std::max(above[j + 1], row[j]);
    }
    return static_cast<std::uint32_t>(a.size() + b.size() - 2 * row.back());
}

// Limits are so many edits, and some more for each hundred code points.
static std::uint64_t join_by_edits(const Texts &given, std::uint32_t edits, std::uint32_t rate) {
    const EditTexts texts(given);
    const Allowance allowed{edits, rate, 100};
    std::vector<std::uint64_t> true_pairs;
    for (std::size_t j = 0; j < texts.size(); ++j)
        for (std::size_t i = 0; i < j; ++i)
            if (plain_distance(texts[i], texts[j]) <= allowed(texts[i].size(), texts[j].size()))
                true_pairs.push_back(std::uint64_t{texts.place(i)} << 32 | texts.place(j));
    const EditIndex index(texts, allowed);
    EditPairs found = EditProbe(index, texts)(0, texts.size(), ~std::size_t{0});
    std::ranges::sort(true_pairs);
    std::vector<std::uint64_t> pairs = found.pairs;
    std::ranges::sort(pairs);
    require(pairs == true_pairs, "segments find what a comparison of all finds");
    const EditTexts others(given);
    const EditPairs across = EditProbe(index, others)(0, others.size(), ~std::size_t{0});
    require(across.pairs.size() == 2 * pairs.size() + texts.size(), "across, each pair is met from both sides");
    std::vector<std::uint32_t> first, second;
    for (const std::uint64_t pair : found.pairs) first.push_back(static_cast<std::uint32_t>(pair >> 32)), second.push_back(static_cast<std::uint32_t>(pair));
    require(edit_distances(texts, first, second, allowed) == found.distances, "distances are the same however they are found");
    return pairs.size() + std::accumulate(found.distances.begin(), found.distances.end(), std::uint64_t{0});
}

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
        if (round % 3 == 0) digest += join_by_edits(corpus.texts(), random() % 9, random() % 40);
        if (round % 6 == 0)  // it tries many parameters
            digest += find_passages(corpus.texts(), {random() % 2 == 0, random() % 2 == 0}, 1 + random() % 12);
    }
    return digest;
}

static std::uint64_t exercise() {
    const Corpus corpus(make_documents());
    std::uint64_t digest = normalise_all(corpus.texts());
    for (const Unit unit : {Unit::character, Unit::word})
        for (const std::size_t k : {1, 2, 5, 8, 9, 40}) digest += run(corpus.texts(), {unit, k, 1});
    for (const bool words : {false, true})
        for (const std::size_t least : {1, 2, 12, 60}) digest += find_passages(corpus.texts(), {words, true}, least);
    for (const std::uint32_t edits : {0, 2, 40}) digest += join_by_edits(corpus.texts(), edits, 0);
    return digest + join_by_edits(corpus.texts(), 0, 20);
}

// Vectors of arbitrary bits, NaN and infinite ones too: signs and distances of them mean nothing, but are told.
template <typename Number> static std::uint64_t exercise_vectors(std::mt19937_64 &random, bool any_bits) {
    const std::size_t length = 1 + random() % 40, count = random() % 50;
    std::vector<Number> numbers(count * length);
    for (Number &number : numbers) {
        number = static_cast<Number>(static_cast<std::int64_t>(random() % 2001) - 1000) / 64;
        const std::uint64_t bits = random();
        if (any_bits && bits % 7 == 0) std::memcpy(&number, &bits, sizeof number);
    }
    const Vectors<Number> vectors{numbers.data(), count, length};
    const std::size_t bands = 1 + random() % 9, rows = 1 + random() % 70;
    const SignedBits made = sign_vectors(vectors, random(), bands, rows, random() % (bands * rows + 1));
    std::uint64_t digest = made.keys.size() + made.sketches.size();
    if (!any_bits) {
        digest = std::accumulate(made.keys.begin(), made.keys.end(), digest);
        digest = std::accumulate(made.sketches.begin(), made.sketches.end(), digest);
    }
    std::vector<std::uint32_t> first, second;
    for (std::size_t i = 0; count > 0 && i < 100; ++i) {
        first.push_back(static_cast<std::uint32_t>(random() % count));
        second.push_back(static_cast<std::uint32_t>(random() % count));
    }
    const std::size_t lines = bands * rows;
    std::vector<double> directions(lines * length), shifts(lines, 0.25);
    for (double &number : directions) number = static_cast<double>(random() % 4001) - 2000;
    const SignedBits cells = project_vectors(vectors, {{directions.data(), lines, length}, shifts.data(), 1e-3 + any_bits}, bands, rows, lines / 2);
    if (!any_bits) digest = std::accumulate(cells.keys.begin(), cells.keys.end(), digest + cells.sketches.size());
    for (const auto &found : {cosines(vectors, first, second, -1), euclidean(vectors, first, second, -1e9), manhattan(vectors, first, second, -1e9),
                              angles(vectors, first, second, -70), minkowski(vectors, first, second, -1e9, 4 + static_cast<unsigned>(random() % 12)), differing_places(vectors, first, second, -30)})
        for (const double nearness : found) digest = any_bits ? digest + 1 : mix(digest + std::bit_cast<std::uint64_t>(nearness));
    return digest;
}

static std::uint64_t exercise_products(std::mt19937_64 &random) {
    const std::size_t width = 2 * (random() % 9), mine = random() % 140, theirs = random() % 70;
    std::vector<std::int16_t> one(mine * width), other(theirs * width);
    for (auto *side : {&one, &other})
        for (std::int16_t &number : *side) number = static_cast<std::int16_t>(random() % 201) - 100;
    const auto [a, b] = great_products({one.data(), mine, width}, {other.data(), theirs, width}, 1000, false);
    const auto [c, d] = great_products({one.data(), mine, width}, {one.data(), mine, width}, 0, true);
    std::uint64_t digest = a.size() + 7 * c.size();
    for (const auto &side : {a, b, c, d}) digest = std::accumulate(side.begin(), side.end(), digest);
    return digest;
}

// A segment of random keys, asked for some that are there and some that are not; then with one bit turned over, which
// has to be seen or not to matter.
static std::uint64_t exercise_segment(std::mt19937_64 &random) {
    const std::size_t contents = random() % 700, bands = 1 + random() % 4, width = 1 + random() % 3;
    std::vector<std::uint64_t> words;
    const auto place = [&] { return words.size() * 8; };
    const std::size_t buckets = place();
    std::vector<std::uint32_t> all;
    for (std::size_t band = 0; band < bands; ++band) {
        std::vector<std::uint32_t> keys(contents), owners(contents);
        for (std::uint32_t i = 0; i < contents; ++i) keys[i] = static_cast<std::uint32_t>(random() % 50 * 85'899'345), owners[i] = i;
        const auto entries = sort_by_key(keys, owners);
        if (sort_bands(keys, 1, owners, owners, 0, 1).size() != 2 * entries.size()) std::abort();
        for (const std::uint64_t entry : entries) all.push_back(static_cast<std::uint32_t>(entry >> 32));
        for (const std::uint64_t entry : entries) all.push_back(static_cast<std::uint32_t>(entry));
    }
    all.resize(all.size() + all.size() % 2);
    words.resize(all.size() / 2);
    if (!all.empty()) std::memcpy(words.data(), all.data(), all.size() * 4);
    const std::size_t sketches = place();
    for (std::size_t i = 0; i < contents * width; ++i) words.push_back(random());
    std::vector<std::uint64_t> digests(contents);
    for (std::uint64_t &digest : digests) digest = random() << random() % 60;
    std::ranges::sort(digests);
    const std::size_t high = place();
    words.insert(words.end(), digests.begin(), digests.end());
    const std::size_t low = place();
    words.insert(words.end(), contents, 7);
    const std::size_t starts = place();
    std::vector<std::uint32_t> each(contents + 1);
    std::iota(each.begin(), each.end(), 0);
    words.resize(words.size() + contents / 2 + 1);
    std::memcpy(reinterpret_cast<std::uint8_t *>(words.data()) + starts, each.data(), each.size() * 4);
    auto *bytes = reinterpret_cast<std::uint8_t *>(words.data());
    const std::span<const std::uint8_t> data(bytes, words.size() * 8);
    std::vector<std::uint64_t> sums(count_pages(data.size()));
    for (std::size_t page = 0; page < sums.size(); ++page) sums[page] = page_sum(data, page);
    const SegmentLayout layout{contents, contents, contents, bands, width, buckets, sketches, high, low, high, low,
                               starts, high};
    std::vector<std::uint32_t> keys;
    for (std::size_t i = 0; i < 5 * bands; ++i) keys.push_back(static_cast<std::uint32_t>(random() % 52 * 85'899'345));
    std::vector<Content> sought{{0, 7}, {~0ull, 7}, {random(), 7}};
    for (std::size_t i = 0; i < digests.size(); i += 50) sought.push_back({digests[i], 7});
    const std::vector<std::uint8_t> dead(contents / 8, 0x11);
    const std::vector<std::uint64_t> asked(5 * width, random());
    std::uint64_t digest = 0;
    for (const bool is_flipped : {false, true}) {
        if (is_flipped && !data.empty()) bytes[random() % data.size()] ^= static_cast<std::uint8_t>(1u << random() % 8);
        const Segment segment(data, sums, layout);
        try {
            const Met met = segment.meet({keys, 5, bands}, 0, bands, random() % 9, dead);
            const auto differ = segment.differences(met.pairs, asked, 2);
            const Agreeing near = segment.agreeing({std::span(keys).first(bands), 1, bands}, asked, random() % 9, dead, 2,
                                                   static_cast<std::uint32_t>(random() % 64));
            digest = mix(digest + near.digests.size() + near.fullest + near.left_out);
            digest = mix(digest + segment.owners(sought, dead).numbers.size());
            const std::uint64_t told = std::accumulate(differ.begin(), differ.end(), met.left_out + met.pairs.size());
            digest = mix(digest + told + segment.find(sought, false).size());
        } catch (const Damaged &damaged) {
            if (!is_flipped) std::abort();
            digest = mix(digest + damaged.page + segment.pages().damaged().size());
        }
    }
    return digest;
}

// Rows of bits, and rows of numbers of which some are not any.
static std::uint64_t exercise_rows(std::mt19937_64 &random) {
    const std::size_t width = random() % 4, mine = random() % 140, theirs = random() % 70;
    std::vector<std::uint64_t> one(mine * width), other(theirs * width);
    for (auto *side : {&one, &other})
        for (std::uint64_t &word : *side) word = random() & random() & random();
    const BitRows a{one.data(), mine, width}, b{other.data(), theirs, width};
    std::uint64_t digest = 0;
    for (const auto &[first, second] : {near_bits(a, b, 30, false), near_bits(a, a, 20, true)}) {
        digest = std::accumulate(first.begin(), first.end(), digest);
        digest = std::accumulate(second.begin(), second.end(), digest);
    }
    if (width > 0 && mine > 0) {
        std::vector<std::uint32_t> places(15), pairs(20);
        for (std::uint32_t &place : places) place = static_cast<std::uint32_t>(random() % (64 * width));
        for (std::uint32_t &place : pairs) place = static_cast<std::uint32_t>(random() % mine);
        const SignedBits sampled = sample_bits(a, places, 5, 3, 9);
        digest = std::accumulate(sampled.keys.begin(), sampled.keys.end(), digest + sampled.sketches[0]);
        for (const double nearness : hamming(a, pairs, pairs, -1)) digest += nearness == 0;
    }
    std::vector<float> numbers((mine + theirs) * (width * 17));
    for (float &number : numbers) number = random() % 50 == 0 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(random() % 100);
    const Rows32 left{numbers.data(), mine, width * 17}, right{numbers.data() + mine * width * 17, theirs, width * 17};
    for (const bool by_squares : {false, true}) digest += near_rows(left, right, 900, by_squares, false).first.size();
    return digest + near_rows(left, left, 1e4f, true, true).first.size();
}

static std::uint64_t exercise_numbers(std::uint64_t seed, std::size_t rounds) {
    std::mt19937_64 random(seed);
    std::uint64_t digest = 0;
    for (std::size_t i = 0; i < rounds; ++i) {
        digest = mix(digest + exercise_vectors<float>(random, i % 2));
        digest = mix(digest + exercise_vectors<double>(random, i % 2));
        digest = mix(digest + exercise_products(random));
        digest = mix(digest + exercise_segment(random));
        digest = mix(digest + exercise_rows(random));
    }
    return digest;
}

int main(int count, char **given) {
    const std::uint64_t seed = count == 3 ? std::strtoull(given[1], nullptr, 10) : 7;
    const std::uint64_t rounds = count == 3 ? std::strtoull(given[2], nullptr, 10) : 20;
    const std::uint64_t digest = (count == 3 ? fuzz(seed, rounds) : exercise()) + exercise_numbers(seed, std::min<std::size_t>(rounds, 200));
    std::printf("%llx\n", static_cast<unsigned long long>(digest));
}
