// Bands, meetings, candidates and what becomes of them: pairs, clusters and copies.
#include "exercise.hpp"

#include "candidates.hpp"
#include "clusters.hpp"
#include "digest_order.hpp"
#include "meetings.hpp"
#include "pairs.hpp"
#include "routes.hpp"
#include "sides.hpp"
#include "signatures.hpp"
#include "similarity.hpp"

using namespace nearly;

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

std::uint64_t exercise_candidates(const Texts &texts, Shingling shingling) {
    const std::size_t bands = 5, rows = 3, positions = bands * rows, count = texts.size();
    const std::vector<std::uint32_t> all = signatures_of(texts, shingling, positions);
    std::uint64_t digest = 0;
    std::vector<std::uint64_t> words(count * sketch_words(positions)), pairs;
    std::vector<std::uint32_t> documents(count), keys(count);
    std::iota(documents.begin(), documents.end(), 0u);
    const Keeper keeper(bands, rows);
    std::vector<std::uint32_t> all_keys(count * bands);
    for (std::size_t i = 0; i < count; ++i)
        keeper(std::span(all).subspan(i * positions, positions), &all_keys[i * bands], &words[i * sketch_words(positions)]);
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

    std::vector<std::uint32_t> firsts, seconds;
    for (const std::uint64_t pair : pairs) {
        firsts.push_back(static_cast<std::uint32_t>(pair >> 32));
        seconds.push_back(static_cast<std::uint32_t>(pair));
    }
    const Sketches all_sketches{words, sketch_words(positions)};
    require(agreeing(pairs, firsts, seconds, all_sketches, 6) == pairs, "candidates do not agree");
    digest += agreeing(pairs, seconds, firsts, all_sketches, 1).size();

    const Sets sets = sets_of(texts, shingling);
    digest += order_pairs(pairs, count);
    std::vector<std::uint32_t> as, bs;
    std::vector<double> similarities;
    const auto set = [&](std::uint64_t i) { return Set(sets.hashes.data + sets.offsets[i], sets.hashes.data + sets.offsets[i + 1]); };
    Comparer comparer, large(0);
    for (const std::uint64_t pair : pairs) {
        comparer.take(set(pair >> 32));
        large.take(set(pair >> 32));
        const double similarity = comparer.similarity(set(static_cast<std::uint32_t>(pair)), {1, 2});
        require(similarity == large.similarity(set(static_cast<std::uint32_t>(pair)), {1, 2}), "large sets have another similarity");
        const std::uint32_t first[] = {static_cast<std::uint32_t>(pair >> 32)}, second[] = {static_cast<std::uint32_t>(pair)};
        require(similarities_of({sets.offsets, sets.hashes.data}, first, second, {1, 2}).front() == similarity,
                "many pairs have another similarity");
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
