// Weighted sets for Python: weighed, signed, compared, joined and searched.

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <limits>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "joining.hpp"
#include "numbered_sets.hpp"
#include "race.hpp"
#include "signatures.hpp"
#include "weighted_join.hpp"
#include "weighted_search.hpp"
#include "weights.hpp"

namespace nearly {

using Hashes = Column<std::uint64_t>;
using Ends = Column<std::int64_t>;
using Weights = Column<std::uint32_t>;
using Documents = Column<std::uint32_t>;

static WeightTable *weight_table(const Hashes &hashes, const Weights &weights, std::uint32_t other) {
    if (hashes.size() != weights.size()) throw std::invalid_argument("each hash has one weight");
    return new WeightTable(span_of(hashes), span_of(weights), other);
}

static WeightedSets weighted_of(const Ends &offsets, const Hashes &hashes, const Weights &weights) {
    check_offsets(span_of(offsets), hashes.size(), "hashes");
    if (hashes.size() != weights.size()) throw std::invalid_argument("each member has one weight");
    for (const std::uint32_t weight : span_of(weights))
        if (weight == 0) throw std::invalid_argument("a member that weighs nothing is left out");
    return {span_of(offsets), span_of(hashes), span_of(weights)};
}

static auto weighted_lists(const Ends &offsets, const Hashes &hashes, const WeightTable &table, bool bag) {
    check_offsets(span_of(offsets), hashes.size(), "hashes");
    Weighted found;
    {
        nb::gil_scoped_release release;
        found = weighted_sets(span_of(offsets), span_of(hashes), table, bag);
    }
    return std::tuple(give(std::move(found.offsets)), give(std::move(found.hashes)), give(std::move(found.weights)),
                      give(std::move(found.unlisted)));
}

static auto sign_weighted(const Ends &offsets, const Hashes &hashes, const Weights &weights, std::uint64_t seed,
                          std::size_t bands, std::size_t rows) {
    const WeightedSets sets = weighted_of(offsets, hashes, weights);
    const std::size_t count = sets.size(), width = sketch_words(bands * rows);
    std::vector<std::uint32_t> keys(count * bands);
    std::vector<std::uint64_t> sketches(count * width);
    {
        nb::gil_scoped_release release;
        const Keeper keep(bands, rows);
        RaceSigner sign(bands * rows, seed);
        std::vector<std::uint32_t> signature(bands * rows);
        for (std::size_t i = 0; i < count; ++i) {
            sign(sets[i], sets.weights_of(i), sets.total(i), signature);
            keep(signature, keys.data() + i * bands, sketches.data() + i * width);
        }
    }
    return std::pair(give(std::move(keys), {count, bands}), give(std::move(sketches), {count, width}));
}

static auto weighted_similarities(const Ends &offsets, const Hashes &hashes, const Weights &weights, const Documents &as,
                                  const Documents &bs, std::uint64_t numerator, std::uint64_t denominator) {
    const WeightedSets sets = weighted_of(offsets, hashes, weights);
    if (as.size() != bs.size()) throw std::invalid_argument("a pair has two documents");
    for (const auto &numbers : {as, bs}) check_below(span_of(numbers), sets.size());
    std::vector<double> all(as.size());
    {
        nb::gil_scoped_release release;
        const std::vector<std::uint64_t> totals = sets.totals();
        Stop stop;
        for (std::size_t i = 0; i < all.size(); ++i) {
            const std::uint32_t a = as.data()[i], b = bs.data()[i];
            stop.check(sets[a].size() + sets[b].size());
            const std::uint64_t shared = shared_weight(sets[a], sets.weights_of(a), sets[b]);
            all[i] = weighted_similarity(shared, totals[a], totals[b], {numerator, denominator});
        }
    }
    return give(std::move(all));
}

// The arrays that a WeightedJoinSets looks into, kept alive with it.
struct BoundWeightedSets {
    Ends offsets;
    Hashes hashes;
    Weights weights;
    Column<std::uint8_t> rarities;
    WeightedJoinSets sets;

    BoundWeightedSets(Ends given_offsets, Hashes given_hashes, Weights given_weights, Column<std::uint8_t> given_rarities,
                      std::uint64_t numerator, std::uint64_t denominator)
        : offsets(std::move(given_offsets)), hashes(std::move(given_hashes)), weights(std::move(given_weights)),
          rarities(std::move(given_rarities)),
          sets(weighted_of(offsets, hashes, weights), checked_rarities(rarities),
               checked_threshold(numerator, denominator, false)) {}

    void prepare(std::size_t start, std::size_t stop) {
        check_part(sets, start, stop);
        sets.prepare(start, stop);
    }
};

struct BoundWeightedIndex {
    WeightedJoinIndex index;

    BoundWeightedIndex(const BoundWeightedSets &bound, bool within) : index(checked_prepared(bound.sets), within) {}

    auto probe(const BoundWeightedSets &bound, std::size_t start, std::size_t stop, std::size_t most) const {
        return probed(index, bound.sets, start, stop, most);
    }
};

static auto weighted_search(const WeightedSought &sought, const Documents &documents, const Ends &offsets,
                            const Hashes &hashes, const Weights &weights) {
    const NumberedSets many = numbered_sets(documents, offsets, hashes);
    const WeightedSets weighted = weighted_of(offsets, hashes, weights);
    Reached reached;
    {
        nb::gil_scoped_release release;
        reached = sought.search(many, weighted);
    }
    return std::tuple(give(std::move(reached.sought)), give(std::move(reached.found)),
                      give(std::move(reached.similarities)));
}

static auto weighted_counts(const WeightedSought &sought, const Documents &documents, const Ends &offsets,
                            const Hashes &hashes, const Weights &weights, std::size_t bins) {
    const NumberedSets many = numbered_sets(documents, offsets, hashes);
    const WeightedSets weighted = weighted_of(offsets, hashes, weights);
    std::vector<std::uint32_t> counts;
    {
        nb::gil_scoped_release release;
        counts = sought.count(many, weighted, bins);
    }
    return give(std::move(counts), {sought.size(), bins + 1});
}

static WeightedSought *weighted_sought(const Documents &documents, const Ends &offsets, const Hashes &hashes,
                                       const Weights &weights, std::uint64_t numerator, std::uint64_t denominator) {
    return new WeightedSought(numbered_sets(documents, offsets, hashes), weighted_of(offsets, hashes, weights),
                              {numerator, denominator});
}

void bind_weights(nb::module_ &m) {
    using namespace nanobind::literals;
    using Release = nb::call_guard<nb::gil_scoped_release>;
    nb::class_<WeightTable>(m, "WeightTable").def(nb::new_(&weight_table), "hashes"_a, "weights"_a, "other"_a);
    m.def("weighted_lists", &weighted_lists, "offsets"_a, "hashes"_a, "table"_a, "bag"_a);
    m.def("sign_weighted", &sign_weighted, "offsets"_a, "hashes"_a, "weights"_a, "seed"_a, "bands"_a, "rows"_a);
    m.def("weighted_similarities", &weighted_similarities, "offsets"_a, "hashes"_a, "weights"_a, "a"_a, "b"_a,
          "numerator"_a, "denominator"_a);
    nb::class_<BoundWeightedSets>(m, "WeightedJoinSets")
        .def(nb::init<Ends, Hashes, Weights, Column<std::uint8_t>, std::uint64_t, std::uint64_t>(), "offsets"_a,
             "hashes"_a, "weights"_a, "rarities"_a, "numerator"_a, "denominator"_a)
        .def("prepare", &BoundWeightedSets::prepare, "start"_a, "stop"_a, Release())
        .def("__len__", [](const BoundWeightedSets &bound) { return bound.sets.size(); });
    nb::class_<BoundWeightedIndex>(m, "WeightedJoinIndex")
        .def(nb::init<const BoundWeightedSets &, bool>(), "sets"_a, "within"_a, nb::keep_alive<1, 2>(), Release())
        .def("probe", &BoundWeightedIndex::probe, "sets"_a, "start"_a, "stop"_a,
             "most"_a = std::numeric_limits<std::size_t>::max());
    nb::class_<WeightedSought>(m, "WeightedSought")
        .def(nb::new_(&weighted_sought), "documents"_a, "offsets"_a, "hashes"_a, "weights"_a, "numerator"_a,
             "denominator"_a)
        .def("search", &weighted_search, "documents"_a, "offsets"_a, "hashes"_a, "weights"_a)
        .def("count_by_similarity", &weighted_counts, "documents"_a, "offsets"_a, "hashes"_a, "weights"_a, "bins"_a);
}

}  // namespace nearly
