// Passages for Python: units with their places, shared runs, pairs worth aligning, and aligned passages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "alignment.hpp"
#include "arrays.hpp"
#include "grams.hpp"
#include "runs.hpp"
#include "units.hpp"

namespace nearly::passages {

inline nb::tuple cut_units(const Column<std::int64_t> &offsets, const Column<std::uint8_t> &data, bool words, bool folds,
                           bool collects) {
    const Texts texts = texts_of(offsets, data);
    Units units;
    std::vector<std::int64_t> ends{0};
    {
        nb::gil_scoped_release unlocked;
        Cutter cutter({words, folds, collects}, units);
        for (std::size_t i = 0; i < texts.size(); ++i) {
            cutter.document(texts[i]);
            ends.push_back(static_cast<std::int64_t>(units.hashes.size()));
        }
    }
    return nb::make_tuple(give(std::move(ends)), give(std::move(units.hashes)), give(std::move(units.starts)),
                          give(std::move(units.ends)), give(std::move(units.begins)), give(std::move(units.keys)),
                          give(std::move(units.text_ends)), give(std::move(units.texts)));
}

// As the cutter hashes plain units; an empty text is 0.
inline auto hash_units(const Column<std::int64_t> &offsets, const Column<std::uint8_t> &data) {
    const Texts texts = texts_of(offsets, data);
    std::vector<std::uint64_t> hashes(texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i)
        if (!texts[i].empty()) hashes[i] = hash_bytes(Cutter::PLAIN, texts[i].data(), texts[i].size());
    return give(std::move(hashes));
}

inline Corpus corpus_of(const Column<std::int64_t> &offsets, const Column<std::uint64_t> &units,
                        const Column<std::uint32_t> &groups, const Column<std::uint32_t> &sides, bool one_sided) {
    check_offsets(span_of(offsets), units.size(), "units");
    if (groups.size() + 1 != offsets.size() || sides.size() != groups.size())
        throw std::invalid_argument("every document has a group and a side");
    return {span_of(offsets), span_of(units), span_of(groups), span_of(sides), one_sided};
}

inline nb::tuple shared_runs(const Column<std::int64_t> &offsets, const Column<std::uint64_t> &units,
                             const Column<std::uint32_t> &groups, const Column<std::uint32_t> &sides, bool one_sided,
                             std::size_t k, std::size_t window, std::size_t crowd) {
    if (k == 0 || window == 0) throw std::invalid_argument("k and window must be at least 1");
    const Corpus corpus = corpus_of(offsets, units, groups, sides, one_sided);
    std::vector<std::uint32_t> runs, places;
    {
        nb::gil_scoped_release unlocked;
        RunFinder finder(corpus, {k, window, crowd});
        for (const Run &r : finder.runs()) runs.insert(runs.end(), {r.a, r.b, r.a_start, r.b_start, r.length});
        for (const Place &p : finder.places()) places.insert(places.end(), {p.passage, p.document, p.start, p.end});
    }
    const std::size_t count = runs.size() / 5, place_count = places.size() / 4;
    return nb::make_tuple(give(std::move(runs), {count, 5}), give(std::move(places), {place_count, 4}));
}

inline auto rare_pairs(const Column<std::int64_t> &offsets, const Column<std::uint64_t> &units,
                       const Column<std::uint32_t> &groups, const Column<std::uint32_t> &sides, bool one_sided, std::size_t k,
                       std::size_t most_documents, std::size_t least_shared) {
    if (k == 0) throw std::invalid_argument("k must be at least 1");
    const Corpus corpus = corpus_of(offsets, units, groups, sides, one_sided);
    std::vector<std::uint64_t> pairs;
    {
        nb::gil_scoped_release unlocked;
        pairs = RarePairs(corpus, {k, most_documents, least_shared})();
    }
    return give(std::move(pairs));
}

inline nb::tuple align(const Column<std::int64_t> &offsets, const Column<std::uint32_t> &stems, const Column<float> &rarities,
                       const Column<std::uint32_t> &starts, const Column<std::uint32_t> &ends,
                       const Column<std::uint8_t> &begins, const Column<std::uint32_t> &as, const Column<std::uint32_t> &bs,
                       const Alignment &settings) {
    check_offsets(span_of(offsets), stems.size(), "words");
    for (const std::size_t size : {rarities.size(), starts.size(), ends.size(), begins.size()})
        if (size != stems.size()) throw std::invalid_argument("every word has a stem, a rarity and a place");
    if (as.size() != bs.size()) throw std::invalid_argument("a pair has two documents");
    check_below(span_of(as), offsets.size() - 1);
    check_below(span_of(bs), offsets.size() - 1);
    std::vector<std::uint32_t> found;
    std::vector<float> evidence;
    {
        nb::gil_scoped_release unlocked;
        Aligner aligner(settings);
        const auto words_of = [&](std::uint32_t document) {
            const auto from = static_cast<std::size_t>(offsets.data()[document]);
            const auto size = static_cast<std::size_t>(offsets.data()[document + 1]) - from;
            return Words{span_of(stems).subspan(from, size), span_of(rarities).subspan(from, size),
                         span_of(starts).subspan(from, size), span_of(ends).subspan(from, size),
                         span_of(begins).subspan(from, size)};
        };
        for (std::uint32_t i = 0; i < as.size(); ++i)
            for (const Aligned &each : aligner(words_of(as.data()[i]), words_of(bs.data()[i]))) {
                found.insert(found.end(), {i, each.a, each.a_end, each.b, each.b_end});
                evidence.push_back(each.evidence);
            }
    }
    const std::size_t count = evidence.size();
    return nb::make_tuple(give(std::move(found), {count, 5}), give(std::move(evidence)));
}

}  // namespace nearly::passages

inline void bind_passages(nanobind::module_ &m) {
    namespace nb = nanobind;
    using namespace nb::literals;
    using namespace nearly::passages;

    nb::class_<Alignment>(m, "Alignment")
        .def(nb::init<std::uint32_t, std::uint32_t, float, float, float, float, float, std::uint32_t, float, float,
                      std::uint32_t, std::uint32_t>(),
             nb::kw_only(), "most_meetings"_a, "gap"_a, "least_density"_a, "steadiness"_a, "least_evidence"_a,
             "least_scrap"_a, "least_condensed"_a, "fewest_scraps"_a, "widening"_a, "greatest_scrap"_a, "reach"_a, "snap"_a);
    m.def("cut_units", &cut_units, "offsets"_a, "data"_a, "words"_a, "folds"_a, "collects"_a);
    m.def("hash_units", &hash_units, "offsets"_a, "data"_a);
    m.def("shared_runs", &shared_runs, "offsets"_a, "units"_a, "groups"_a, "sides"_a, "one_sided"_a, "k"_a, "window"_a,
          "crowd"_a);
    m.def("rare_pairs", &rare_pairs, "offsets"_a, "units"_a, "groups"_a, "sides"_a, "one_sided"_a, "k"_a,
          "most_documents"_a, "least_shared"_a);
    m.def("align", &align, "offsets"_a, "stems"_a, "rarities"_a, "starts"_a, "ends"_a, "begins"_a, "a"_a, "b"_a,
          "settings"_a);
}
