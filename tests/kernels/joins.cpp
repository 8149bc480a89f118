// Exact joins and searches, and samples of sets.
#include "exercise.hpp"

#include "join.hpp"
#include "overlaps.hpp"
#include "samples.hpp"

using namespace nearly;

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
    const LargeArray<std::uint8_t> rarities = cell_rarities(count_cells(all, 12));
    std::uint64_t digest = 0;
    for (const Threshold threshold : {Threshold{1, 2}, Threshold{9, 10}, Threshold{1, 1}, Threshold{1, 2, true}, Threshold{1, 1, true}}) {
        JoinSets ready(sets.offsets, all.data(), rarities, threshold);
        ready.prepare(0, ready.size());
        for (const bool within : {true, false}) {
            JoinIndex index(ready, within, 3);
            for (std::size_t part = 0; part < index.parts(); ++part) index.sort(part);
            for (std::size_t part = 0; part < index.parts(); ++part) index.write(part);
            for (std::size_t rank = 0; rank < ready.size();) {
                const Joined joined = join(index, ready, rank, ready.size(), 3);
                digest += joined.pairs.size();
                rank = joined.next;
            }
        }
    }
    return digest;
}

std::uint64_t exercise_joins(const Texts &texts, Shingling shingling) {
    const Sets sets = sets_of(texts, shingling);
    std::vector<std::uint32_t> documents(texts.size());
    std::iota(documents.begin(), documents.end(), 0u);
    const NumberedSets every{documents, sets.offsets, {sets.hashes.data, sets.hashes.size}};
    const std::size_t some = std::min<std::size_t>(9, texts.size());
    const NumberedSets few{every.documents.first(some), every.offsets.first(some + 1), every.hashes};
    std::uint64_t digest = 0;
    for (const bool of_smaller : {false, true}) {
        digest += search(SoughtIndex(few, {1, 2, of_smaller}), every).found.size();
        for (const std::uint32_t many : count_by_similarity(SoughtIndex(few, {0, 1, of_smaller}), every, 10))
            digest = digest * 31 + many;
    }
    digest += probe_all(every, shingling.seed);
    return digest + join_all(sets);
}
