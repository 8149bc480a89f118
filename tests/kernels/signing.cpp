// Shingles, sets, bags, signatures and filters of them.
#include "exercise.hpp"

#include "bloom.hpp"
#include "frequency.hpp"
#include "hash_index.hpp"
#include "held_shingles.hpp"
#include "items.hpp"
#include "signatures.hpp"
#include "signing.hpp"

using namespace nearly;

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

Sets sets_of(const Texts &texts, Shingling shingling) {
    Shingler at_once(shingling), in_stretches(shingling, SHORT_STRETCH);
    const Sets long_ones = shingle_sets(texts, in_stretches, true, LongSet(4));
    Sets sets = shingle_sets(texts, at_once, true);
    require(sets.offsets == long_ones.offsets, "sets of long texts have other sizes");
    require(std::equal(sets.hashes.data, sets.hashes.data + sets.hashes.size, long_ones.hashes.data), "sets of long texts differ");
    return sets;
}

// Shingles that are held become the same sets, of all documents and of some.
static std::uint64_t hold_all(const Texts &texts, Shingling shingling) {
    Shingler at_once(shingling), in_stretches(shingling, SHORT_STRETCH);
    const Sets sets = sets_of(texts, shingling);
    std::uint64_t digest = 0;
    for (const std::uint32_t step : {1, 3}) {
        HeldShingles held = hold_shingles(texts, at_once), same = hold_shingles(texts, in_stretches);
        require(held.offsets == same.offsets, "stretches hold another number of shingles");
        require(std::equal(held.hashes.data, held.hashes.data + held.hashes.size, same.hashes.data), "stretches hold other shingles");
        std::vector<std::uint32_t> chosen;
        for (std::uint32_t i = 0; i < texts.size(); i += step) chosen.push_back(i);
        const std::vector<std::int64_t> ends = keep_once(held.offsets, held.hashes.data, chosen);
        for (std::size_t i = 0; i < chosen.size(); ++i) {
            std::vector<std::uint64_t> kept(held.hashes.data + ends[i], held.hashes.data + ends[i + 1]);
            std::ranges::sort(kept);
            const Set set(sets.hashes.data + sets.offsets[chosen[i]], sets.hashes.data + sets.offsets[chosen[i] + 1]);
            require(std::ranges::equal(kept, set), "held shingles become another set");
            digest += kept.size();
        }
    }
    return digest;
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
            const std::vector<std::uint8_t> are_new = add_keys(filter, keys, Adding::plainly);
            for (const std::uint8_t is_new : are_new) digest = digest * 31 + is_new;
            for (const Adding way : ADDINGS) {
                std::vector<std::uint64_t> again(words.size());
                if (runs_here(way) && (add_keys({again, hashes}, keys, way) != are_new || again != words))
                    throw std::logic_error("another way set other bits");
            }
            for (const std::uint8_t is_there : contain_keys(filter, keys)) require(is_there, "a filter forgot a key");
            std::vector<std::uint64_t> of_filters(BLOCK_WORDS * blocks * bands);
            std::vector<Bloom> filters;
            for (std::size_t b = 0; b < bands; ++b)
                filters.emplace_back(std::span(of_filters).subspan(b * BLOCK_WORDS * blocks, BLOCK_WORDS * blocks), hashes);
            for (const std::uint8_t is_new : sift_rows(filters, of_bands)) digest = digest * 31 + is_new;
        }
    return digest;
}

std::vector<std::uint32_t> signatures_of(const Texts &texts, Shingling shingling, std::size_t positions) {
    std::vector<std::uint32_t> all(texts.size() * positions);
    sign_all<OnePermutationSigner>(texts, shingling, positions, all);
    return all;
}

std::uint64_t exercise_signing(const Texts &texts, Shingling shingling) {
    const std::size_t bands = 5, rows = 3, positions = bands * rows;
    std::vector<std::uint32_t> all(texts.size() * positions);
    std::uint64_t digest = sign_all<IndependentSigner>(texts, shingling, positions, all);
    digest += sign_all<OnePermutationSigner>(texts, shingling, positions, all);
    digest += bloom_all(texts, all, rows, bands, shingling.seed);
    digest += hold_all(texts, shingling);
    return digest + drop_some(texts, shingling) + bags_of(texts, shingling);
}
