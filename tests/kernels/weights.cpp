// Weighted sets: tallied, weighed, signed, joined and searched.
#include "exercise.hpp"

#include "join.hpp"
#include "items.hpp"
#include "overlaps.hpp"
#include "race.hpp"
#include "tally.hpp"
#include "weighted_join.hpp"
#include "weighted_search.hpp"
#include "weights.hpp"

using namespace nearly;

// Weighted sets of all that texts have: tallied, weighed, signed, joined and searched; a join and a search
// have to find the same pairs.
std::uint64_t exercise_weights(const Texts &texts, Shingling shingling) {
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
        const LargeArray<std::uint8_t> rarities = cell_rarities(count_cells(sets.hashes, 8));
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
