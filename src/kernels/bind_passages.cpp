// Passages for Python: units with their places, shared runs, pairs worth aligning, and aligned passages.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <nanobind/stl/optional.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "crowds.hpp"
#include "grams.hpp"
#include "near_runs.hpp"
#include "passage.hpp"
#include "runs.hpp"
#include "sieve.hpp"
#include "units.hpp"
#include "winnowing.hpp"

namespace nearly::passages {

static nb::tuple cut_units(const Column<std::int64_t> &offsets, const Column<std::uint8_t> &data, bool words, bool folds) {
    const Texts texts = texts_of(offsets, data);
    Units units;
    std::vector<std::int64_t> ends{0};
    {
        nb::gil_scoped_release unlocked;
        Cutter cutter({words, folds}, units);
        for (std::size_t i = 0; i < texts.size(); ++i) {
            cutter.document(texts[i]);
            ends.push_back(static_cast<std::int64_t>(units.numbers.size()));
        }
    }
    return nb::make_tuple(give(std::move(ends)), give(std::move(units.numbers)), give(std::move(units.starts)),
                          give(std::move(units.ends)), give(std::move(units.begins)), give(std::move(units.text_ends)),
                          give(std::move(units.texts)));
}

// Hashes that know units by their normalised texts, on every machine the same; an empty text is 0.
static auto hash_units(const Column<std::int64_t> &offsets, const Column<std::uint8_t> &data) {
    const Texts texts = texts_of(offsets, data);
    std::vector<std::uint64_t> hashes(texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i)
        if (!texts[i].empty()) hashes[i] = hash_bytes(Cutter::SEED, texts[i].data(), texts[i].size());
    return give(std::move(hashes));
}

static Corpus corpus_of(const Column<std::int64_t> &offsets, const Column<std::uint64_t> &units,
                        const Column<std::uint32_t> &groups, const Column<std::uint32_t> &sides, bool one_sided) {
    check_offsets(span_of(offsets), units.size(), "units");
    if (groups.size() + 1 != offsets.size() || sides.size() != groups.size())
        throw std::invalid_argument("every document has a group and a side");
    return {span_of(offsets), span_of(units), span_of(groups), span_of(sides), one_sided};
}

static Winnowing winnowing_of(std::size_t k, std::size_t window) {
    if (k == 0 || window == 0) throw std::invalid_argument("k and window must be at least 1");
    return {k, window};
}

// Hashes, and rows of document, place and whether the one before is crowded too.
static nb::tuple give_crowded(const std::vector<Crowded> &crowded) {
    std::vector<std::uint64_t> hashes;
    std::vector<std::uint32_t> rows;
    for (const Crowded &each : crowded) {
        hashes.push_back(each.hash);
        rows.insert(rows.end(), {each.document, each.place, each.follows});
    }
    return nb::make_tuple(give(std::move(hashes)), give(std::move(rows), {crowded.size(), 3}));
}

static nb::tuple shared_runs(const Column<std::int64_t> &offsets, const Column<std::uint64_t> &units,
                             const Column<std::uint32_t> &groups, const Column<std::uint32_t> &sides, bool one_sided,
                             std::size_t k, std::size_t window, std::size_t crowd,
                             const std::optional<Column<std::uint64_t>> &known) {
    const Winnowing winnowing = winnowing_of(k, window);
    const Corpus corpus = corpus_of(offsets, units, groups, sides, one_sided);
    const Crowd crowds{crowd, known ? span_of(*known) : std::span<const std::uint64_t>{}, known.has_value()};
    std::vector<std::uint32_t> runs;
    std::vector<Crowded> crowded;
    {
        nb::gil_scoped_release unlocked;
        RunFinder finder(corpus, winnowing, crowds);
        for (const Run &r : finder.runs()) runs.insert(runs.end(), {r.a, r.b, r.a_start, r.b_start, r.length});
        crowded = finder.crowded();
    }
    const std::size_t count = runs.size() / 5;
    return nb::make_tuple(give(std::move(runs), {count, 5}), give_crowded(crowded));
}

static nb::tuple winnow(const Column<std::int64_t> &offsets, const Column<std::uint64_t> &units, std::size_t k,
                        std::size_t window) {
    check_offsets(span_of(offsets), units.size(), "units");
    Winnower chosen(winnowing_of(k, window));
    std::vector<std::uint64_t> hashes;
    std::vector<std::uint32_t> documents, places;
    {
        nb::gil_scoped_release unlocked;
        const Corpus corpus{span_of(offsets), span_of(units), {}, {}, false};
        for (std::size_t i = 0; i < corpus.size(); ++i)
            chosen(corpus[i], [&](std::uint64_t hash, std::size_t place) {
                hashes.push_back(hash);
                documents.push_back(static_cast<std::uint32_t>(i));
                places.push_back(static_cast<std::uint32_t>(place));
            });
    }
    return nb::make_tuple(give(std::move(hashes)), give(std::move(documents)), give(std::move(places)));
}

static auto crowd_places(const Column<std::uint64_t> &hashes, const Column<std::uint32_t> &places,
                         const Column<std::uint8_t> &follows, std::size_t k, std::size_t window) {
    if (places.size() != hashes.size() || follows.size() != hashes.size())
        throw std::invalid_argument("every k-gram has a place");
    if (follows.size() > 0 && span_of(follows)[0]) throw std::invalid_argument("the first k-gram follows none");
    std::vector<std::uint32_t> rows;
    {
        nb::gil_scoped_release unlocked;
        Crowds crowds(span_of(hashes), span_of(places), span_of(follows), winnowing_of(k, window));
        for (const CrowdPlace &each : crowds()) rows.insert(rows.end(), {each.passage, each.first, each.last});
    }
    const std::size_t count = rows.size() / 3;
    return give(std::move(rows), {count, 3});
}

// Every k-gram of each document, once.
static nb::tuple document_grams(const Column<std::int64_t> &offsets, const Column<std::uint64_t> &units, std::size_t k) {
    if (k == 0) throw std::invalid_argument("k must be at least 1");
    check_offsets(span_of(offsets), units.size(), "units");
    std::vector<std::uint64_t> hashes;
    std::vector<std::uint32_t> documents;
    {
        nb::gil_scoped_release unlocked;
        const Corpus corpus{span_of(offsets), span_of(units), {}, {}, false};
        Stop stop;
        for (std::size_t i = 0; i < corpus.size(); ++i) {
            const auto before = static_cast<std::ptrdiff_t>(hashes.size());
            roll(corpus[i], k, [&](std::uint64_t hash, std::size_t) { stop.check(20), hashes.push_back(hash); });
            std::sort(hashes.begin() + before, hashes.end(), [&](std::uint64_t x, std::uint64_t y) { return stop.check(5), x < y; });
            hashes.erase(std::unique(hashes.begin() + before, hashes.end()), hashes.end());
            documents.resize(hashes.size(), static_cast<std::uint32_t>(i));
        }
    }
    return nb::make_tuple(give(std::move(hashes)), give(std::move(documents)));
}

static nb::tuple rare_pairs(const Column<std::int64_t> &offsets, const Column<std::uint64_t> &units,
                       const Column<std::uint32_t> &groups, const Column<std::uint32_t> &sides, bool one_sided, std::size_t k,
                       std::size_t most_documents, std::size_t part, std::size_t parts) {
    if (k == 0) throw std::invalid_argument("k must be at least 1");
    if (part >= parts || parts > 1 << 16) throw std::invalid_argument("there are at most 65,536 parts, numbered from 0");
    const Corpus corpus = corpus_of(offsets, units, groups, sides, one_sided);
    SharedRare shared;
    {
        nb::gil_scoped_release unlocked;
        shared = RarePairs(corpus, k, most_documents)(part, parts);
    }
    return nb::make_tuple(give(std::move(shared.pairs)), give(std::move(shared.counts)));
}

static nb::tuple align(const Column<std::int64_t> &offsets, const Column<std::uint64_t> &hashes,
                       const Column<std::uint32_t> &numbers, const Column<std::uint32_t> &starts,
                       const Column<std::uint32_t> &ends, const Column<std::uint8_t> &begins,
                       const Column<std::uint32_t> &stem_of, const Column<float> &rarity_of,
                       const Column<std::uint32_t> &as, const Column<std::uint32_t> &bs, const Alignment &settings,
                       double least_verbatim) {
    check_offsets(span_of(offsets), numbers.size(), "words");
    for (const std::size_t size : {hashes.size(), starts.size(), ends.size(), begins.size()})
        if (size != numbers.size()) throw std::invalid_argument("every word has a hash, a number and a place");
    if (rarity_of.size() != stem_of.size()) throw std::invalid_argument("a number has a stem and a rarity");
    if (as.size() != bs.size()) throw std::invalid_argument("a pair has two documents");
    check_below(span_of(as), offsets.size() - 1);
    check_below(span_of(bs), offsets.size() - 1);
    const Library library{span_of(offsets), span_of(hashes),
                          {span_of(numbers), span_of(starts), span_of(ends), span_of(begins), span_of(stem_of), span_of(rarity_of)}};
    for (const auto &side : {span_of(as), span_of(bs)})
        for (const std::uint32_t document : side) check_below(library.words(document).numbers, stem_of.size());
    std::vector<std::uint32_t> found;
    std::vector<double> likenesses;
    std::vector<std::uint8_t> are_verbatim;
    {
        nb::gil_scoped_release unlocked;
        for (const Passage &p : align_pairs(library, span_of(as), span_of(bs), settings, least_verbatim)) {
            found.insert(found.end(), {p.pair, p.a, p.a_end, p.b, p.b_end});
            likenesses.push_back(p.likeness);
            are_verbatim.push_back(p.is_verbatim);
        }
    }
    const std::size_t count = likenesses.size();
    return nb::make_tuple(give(std::move(found), {count, 5}), give(std::move(likenesses)), give(std::move(are_verbatim)));
}

using Offsets = Column<std::int64_t>;
using Units64 = Column<std::uint64_t>;

// Calls `take` with the number and the units of each document; the first one has the number `first`.
template <typename Take> void for_each_document(const Offsets &offsets, const Units64 &units, std::uint32_t first, Take &&take) {
    check_offsets(span_of(offsets), units.size(), "units");
    nb::gil_scoped_release unlocked;
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
        const auto from = static_cast<std::size_t>(offsets.data()[i]);
        take(first + static_cast<std::uint32_t>(i), span_of(units).subspan(from, static_cast<std::size_t>(offsets.data()[i + 1]) - from));
    }
}

static nb::tuple find_near(NearRuns &runs, const Offsets &offsets, const Units64 &units, std::uint32_t first) {
    std::vector<NearRun> found;
    for_each_document(offsets, units, first, [&](std::uint32_t i, Hashes hashes) { runs.find(i, hashes, found); });
    std::vector<std::uint32_t> rows;
    std::vector<double> likenesses;
    for (const NearRun &r : found) {
        rows.insert(rows.end(), {r.a, r.b, r.a_start, r.b_start, r.length});
        likenesses.push_back(r.likeness);
    }
    const std::size_t count = likenesses.size();
    return nb::make_tuple(give(std::move(rows), {count, 5}), give(std::move(likenesses)));
}

static auto sharing(SharedGrams &grams, const Offsets &offsets, const Units64 &units) {
    std::vector<std::uint8_t> found;
    for_each_document(offsets, units, 0, [&](std::uint32_t, Hashes hashes) { found.push_back(grams.any(hashes)); });
    return give(std::move(found));
}

// Made of documents that stay.
template <typename Kept, typename... More>
void keep_documents(Kept *kept, const Offsets &offsets, const Units64 &units, const More &...more) {
    check_offsets(span_of(offsets), units.size(), "units");
    new (kept) Kept(span_of(offsets), span_of(units), more...);
}

static void bind_sieve(nb::module_ &m) {
    using namespace nb::literals;
    nb::class_<NearRuns>(m, "NearRuns")
        .def("__init__", &keep_documents<NearRuns, std::size_t>, "offsets"_a, "units"_a, "least"_a)
        .def("find", &find_near, "offsets"_a, "units"_a, "first"_a);
    nb::class_<SharedGrams>(m, "SharedGrams")
        .def("__init__", &keep_documents<SharedGrams, std::size_t>, "offsets"_a, "units"_a, "k"_a)
        .def("sharing", &sharing, "offsets"_a, "units"_a);
    nb::class_<PassingPairs>(m, "PassingPairs")
        .def("__init__", [](PassingPairs *pairs, const Offsets &offsets, const Units64 &units, std::size_t k,
                            std::size_t most_documents, std::size_t least_shared) {
            keep_documents(pairs, offsets, units, Rarity{k, most_documents, least_shared});
        }, "offsets"_a, "units"_a, "k"_a, "most_documents"_a, "least_shared"_a)
        .def("take", [](PassingPairs &pairs, const Offsets &offsets, const Units64 &units, std::uint32_t first) {
            for_each_document(offsets, units, first, [&](std::uint32_t i, Hashes hashes) { pairs.take(i, hashes); });
        }, "offsets"_a, "units"_a, "first"_a)
        .def("pairs", [](PassingPairs &pairs) { return give(pairs.pairs()); });
}

}  // namespace nearly::passages

void nearly::bind_passages(nanobind::module_ &m) {
    namespace nb = nanobind;
    using namespace nb::literals;
    using namespace nearly::passages;

    nb::class_<Condensing>(m, "Condensing")
        .def(nb::init<std::uint32_t, float, float, float, float, float>(), nb::kw_only(), "gap"_a, "least_density"_a,
             "least_scattered"_a, "least_outside"_a, "rise"_a, "widest"_a);
    nb::class_<Alignment>(m, "Alignment")
        .def(nb::init<std::uint32_t, std::uint32_t, float, float, float, std::uint32_t, std::uint32_t, Condensing>(), nb::kw_only(),
             "most_meetings"_a, "gap"_a, "least_density"_a, "steadiness"_a, "least_evidence"_a, "least_length"_a, "snap"_a,
             "condensing"_a);
    m.def("cut_units", &cut_units, "offsets"_a, "data"_a, "words"_a, "folds"_a);
    m.def("hash_units", &hash_units, "offsets"_a, "data"_a);
    m.def("shared_runs", &shared_runs, "offsets"_a, "units"_a, "groups"_a, "sides"_a, "one_sided"_a, "k"_a, "window"_a,
          "crowd"_a, "known"_a = nb::none());
    m.def("winnow", &winnow, "offsets"_a, "units"_a, "k"_a, "window"_a);
    m.def("crowd_places", &crowd_places, "hashes"_a, "places"_a, "follows"_a, "k"_a, "window"_a);
    m.def("document_grams", &document_grams, "offsets"_a, "units"_a, "k"_a);
    m.def("rare_pairs", &rare_pairs, "offsets"_a, "units"_a, "groups"_a, "sides"_a, "one_sided"_a, "k"_a,
          "most_documents"_a, "part"_a, "parts"_a);
    m.def("align", &align, "offsets"_a, "hashes"_a, "numbers"_a, "starts"_a, "ends"_a, "begins"_a, "stem_of"_a, "rarity_of"_a,
          "a"_a, "b"_a, "settings"_a, "least_verbatim"_a);
    bind_sieve(m);
}
