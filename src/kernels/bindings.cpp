// The kernels as a Python module: arrays in, arrays out, the interpreter lock released.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <string_view>
#include <thread>
#include <tuple>

#include "arrays.hpp"
#include "bindings.hpp"
#include "candidates.hpp"
#include "clusters.hpp"
#include "items.hpp"
#include "jaccard.hpp"
#include "names.hpp"
#include "routes.hpp"
#include "signatures.hpp"
#include "signing.hpp"
#include "stop.hpp"

namespace nearly {

using Offsets = Column<std::int64_t>;
using Bytes = Column<std::uint8_t>;
using Release = nb::gil_scoped_release;

static std::uint32_t capped(std::size_t size) {
    return static_cast<std::uint32_t>(std::min<std::size_t>(size, std::numeric_limits<std::uint32_t>::max()));
}

template <typename Signer>
static void sign_each(const Texts &texts, Shingling shingling, std::size_t positions, auto &&receive) {
    SigningShingler<Signer> sign_text(Shingler(shingling), Signer(positions, shingling.seed));
    std::vector<std::uint32_t> signature(positions);
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const std::size_t size = sign_text(texts[i], texts.end(), signature);
        receive(i, size, std::span<const std::uint32_t>(signature));
    }
}

static void sign_with(std::string_view scheme, const Texts &texts, Shingling shingling, std::size_t positions,
                      auto &&receive) {
    if (scheme == "independent")
        sign_each<IndependentSigner>(texts, shingling, positions, receive);
    else
        sign_each<OnePermutationSigner>(texts, shingling, positions, receive);
}

static auto signatures(const Offsets &offsets, const Bytes &data, std::string_view unit, std::size_t k,
                       std::uint64_t seed, std::string_view scheme, std::size_t positions, const HashIndex *dropped) {
    const Texts texts = texts_of(offsets, data);
    std::vector<std::uint32_t> all(texts.size() * positions);
    {
        Release release;
        sign_with(scheme, texts, shingling_of(unit, k, seed, dropped), positions,
                  [&](std::size_t i, std::size_t, std::span<const std::uint32_t> signature) {
                      std::copy(signature.begin(), signature.end(), all.begin() + i * positions);
                  });
    }
    return give(std::move(all), {texts.size(), positions});
}

static auto sign(const Offsets &offsets, const Bytes &data, std::string_view unit, std::size_t k, std::uint64_t seed,
                 std::string_view scheme, std::size_t bands, std::size_t rows, const HashIndex *dropped) {
    const Texts texts = texts_of(offsets, data);
    const std::size_t count = texts.size(), width = sketch_words(bands * rows);
    std::vector<std::uint32_t> sizes(count), keys(count * bands);
    std::vector<std::uint64_t> contents(2 * count), sketches(count * width);
    {
        Release release;
        const Keeper keeper(bands, rows);
        const auto keep = [&](std::size_t i, std::size_t size, std::span<const std::uint32_t> signature) {
            sizes[i] = capped(size);
            keeper(signature, keys.data() + i * bands, sketches.data() + i * width);
            const Content content = hash_content(texts[i].data(), texts[i].size());
            contents[2 * i] = content.high;
            contents[2 * i + 1] = content.low;
        };
        sign_with(scheme, texts, shingling_of(unit, k, seed, dropped), bands * rows, keep);
    }
    return std::tuple(give(std::move(sizes)), give(std::move(contents), {count, 2}),
                      give(std::move(keys), {count, bands}), give(std::move(sketches), {count, width}));
}

static auto pieces(const Bytes &data, const Offsets &starts, const Offsets &ends) {
    if (starts.size() != ends.size()) throw std::invalid_argument("each piece needs a start and an end");
    for (std::size_t i = 0; i < starts.size(); ++i)
        if (starts.data()[i] < 0 || starts.data()[i] > ends.data()[i] || ends.data()[i] > static_cast<std::int64_t>(data.size()))
            throw std::invalid_argument("a piece reaches past the data");
    std::vector<std::uint8_t> gathered;
    {
        Release release;
        gathered = gather(data.data(), span_of(starts), span_of(ends));
    }
    return give(std::move(gathered));
}

static auto measure(const Offsets &offsets, const Bytes &data, std::string_view unit, std::size_t k,
                    std::uint64_t seed, const HashIndex *dropped) {
    const Texts texts = texts_of(offsets, data);
    std::vector<std::uint32_t> sizes(texts.size());
    std::vector<std::uint64_t> contents(2 * texts.size());
    {
        Release release;
        Shingler shingler(shingling_of(unit, k, seed, dropped));
        Stop stop;
        for (std::size_t i = 0; i < texts.size(); ++i) {
            stop.check(texts[i].size());
            sizes[i] = capped(shingler.count_left(texts[i], texts.end()));
            const Content content = hash_content(texts[i].data(), texts[i].size());
            contents[2 * i] = content.high;
            contents[2 * i + 1] = content.low;
        }
    }
    return std::pair(give(std::move(sizes)), give(std::move(contents), {texts.size(), 2}));
}

static auto contents(const Offsets &offsets, const Bytes &data) {
    const Texts texts = texts_of(offsets, data);
    std::vector<std::uint64_t> all(2 * texts.size());
    {
        Release release;
        for (std::size_t i = 0; i < texts.size(); ++i) {
            const Content content = hash_content(texts[i].data(), texts[i].size());
            all[2 * i] = content.high;
            all[2 * i + 1] = content.low;
        }
    }
    return give(std::move(all), {texts.size(), 2});
}

static auto candidates_of_band(const Column<std::uint32_t> &keys, const Column<std::uint32_t> &documents,
                               const Matrix<std::uint64_t> &sketches, unsigned bits, std::uint32_t most_different,
                               std::size_t hubs, std::uint64_t low, std::uint64_t high) {
    if (keys.size() != documents.size()) throw std::invalid_argument("each document needs one key");
    if (bits != 1 && bits != 2) throw std::invalid_argument("a sketch has 1 or 2 bits per position");
    check_below(span_of(documents), sketches.shape(0));
    Candidates found;
    {
        Release release;
        found = band_candidates(span_of(keys), span_of(documents), {span_of(sketches), sketches.shape(1), bits},
                                most_different, hubs, {low, high});
    }
    return std::pair(give(std::move(found.pairs)), found.compared);
}

static auto gathering_of_band(const Column<std::uint32_t> &keys, const Column<std::uint32_t> &documents,
                              const Matrix<std::uint64_t> &sketches, unsigned bits, std::uint32_t most_different,
                              std::size_t hubs, std::uint64_t most_meetings) {
    if (keys.size() != documents.size()) throw std::invalid_argument("each document needs one key");
    if (bits != 1 && bits != 2) throw std::invalid_argument("a sketch has 1 or 2 bits per position");
    check_below(span_of(documents), sketches.shape(0));
    Gathering found;
    {
        Release release;
        found = gather_band(span_of(keys), span_of(documents), {span_of(sketches), sketches.shape(1), bits},
                            most_different, hubs, most_meetings);
    }
    return std::tuple(give(std::move(found.pairs)), found.meetings, found.largest);
}

static auto agreeing_pairs(const Column<std::uint64_t> &pairs, const Column<std::uint32_t> &firsts,
                           const Column<std::uint32_t> &seconds, const Matrix<std::uint64_t> &sketches, unsigned bits,
                           std::uint32_t most_different) {
    if (pairs.size() != firsts.size() || pairs.size() != seconds.size())
        throw std::invalid_argument("each pair needs two sketches");
    if (bits != 1 && bits != 2) throw std::invalid_argument("a sketch has 1 or 2 bits per position");
    for (const auto &places : {firsts, seconds}) check_below(span_of(places), sketches.shape(0));
    std::vector<std::uint64_t> found;
    {
        Release release;
        found = agreeing(span_of(pairs), span_of(firsts), span_of(seconds),
                         {span_of(sketches), sketches.shape(1), bits}, most_different);
    }
    return give(std::move(found));
}

static auto crowd_of_band(const Column<std::uint32_t> &keys, std::size_t hubs) {
    Crowd crowd;
    {
        Release release;
        crowd = crowd_of(span_of(keys), hubs);
    }
    return std::pair(give(std::move(crowd.followers)), crowd.largest);
}

static auto places_of_shared_keys(const Column<std::uint32_t> &keys) {
    std::vector<std::uint32_t> places;
    {
        Release release;
        places = shared_keys(span_of(keys));
    }
    return give(std::move(places));
}

static auto routes_of_keys(const Column<std::uint32_t> &rows, const Matrix<std::uint32_t> &keys,
                           const Column<std::uint8_t> &is_chosen, std::uint32_t partitions) {
    if (keys.shape(0) != rows.size() || is_chosen.size() != rows.size())
        throw std::invalid_argument("every row needs its keys, and whether it is chosen");
    if (partitions == 0) throw std::invalid_argument("there must be a partition to go to");
    const std::size_t bands = keys.shape(1);
    Routed routed;
    {
        Release release;
        routed = route_keys(span_of(rows), span_of(keys), span_of(is_chosen), bands, partitions);
    }
    return std::tuple(give(std::move(routed.counts), {partitions, bands}), give(std::move(routed.rows)),
                      give(std::move(routed.keys)));
}

static auto unique_pairs(const Column<std::uint64_t> &pairs, std::uint64_t low, std::uint64_t high) {
    std::vector<std::uint64_t> unique;
    {
        Release release;
        unique = sorted_unique(span_of(pairs), low, high);
    }
    return give(std::move(unique));
}

static auto sets_of(const Offsets &offsets, const Bytes &data, std::string_view unit, std::size_t k,
                    std::uint64_t seed, bool sorted, const HashIndex *dropped) {
    Sets sets;
    {
        const Texts texts = texts_of(offsets, data);
        Release release;
        Shingler shingler(shingling_of(unit, k, seed, dropped));
        sets = shingle_sets(texts, shingler, sorted);
    }
    return std::pair(give(std::move(sets.offsets)), give(std::move(sets.hashes)));
}

static auto bags_of(const Offsets &offsets, const Bytes &data, std::string_view unit, std::size_t k,
                    std::uint64_t seed) {
    Sets bags;
    {
        const Texts texts = texts_of(offsets, data);
        Release release;
        Shingler shingler(shingling_of(unit, k, seed, nullptr));
        bags = shingle_bags(texts, shingler);
    }
    return std::pair(give(std::move(bags.offsets)), give(std::move(bags.hashes)));
}

static auto lists_of(const Offsets &offsets, const Bytes &data, std::string_view unit, std::size_t k,
                     std::uint64_t seed, const HashIndex *dropped) {
    Lists lists;
    {
        const Texts texts = texts_of(offsets, data);
        Release release;
        Shingler shingler(shingling_of(unit, k, seed, dropped));
        lists = shingle_lists(texts, shingler);
    }
    return std::pair(give(std::move(lists.offsets)), give(std::move(lists.hashes)));
}

static auto ends_of_blocks(const Column<std::uint32_t> &as, const Column<std::uint32_t> &bs,
                           const Column<std::int64_t> &lengths, std::int64_t limit) {
    if (as.size() != bs.size()) throw std::invalid_argument("a pair has two documents");
    check_below(span_of(as), lengths.size());
    check_below(span_of(bs), lengths.size());
    return give(cut_blocks(span_of(as), span_of(bs), span_of(lengths), limit));
}

static std::uint64_t shared(const Column<std::uint64_t> &a, const Column<std::uint64_t> &b) {
    Comparer comparer;
    comparer.take(span_of(a));
    return comparer.shared(span_of(b), 0);
}

static auto first_occurrences(const Matrix<std::uint64_t> &contents) {
    if (contents.shape(1) != 2) throw std::invalid_argument("a content is two words");
    std::vector<std::uint32_t> first;
    {
        Release release;
        first = first_seen({reinterpret_cast<const Content *>(contents.data()), contents.shape(0)});
    }
    return give(std::move(first));
}

static auto components_of(const Column<std::uint32_t> &as, const Column<std::uint32_t> &bs, std::size_t documents) {
    if (as.size() != bs.size()) throw std::invalid_argument("a pair has two documents");
    check_below(span_of(as), documents);
    check_below(span_of(bs), documents);
    std::vector<std::uint32_t> labels;
    {
        Release release;
        labels = components(span_of(as), span_of(bs), documents);
    }
    return give(std::move(labels));
}

static void add_to_leaders(Leaders &leaders, const Column<std::uint32_t> &later, const Column<std::uint32_t> &earlier,
                           const Column<double> &similarities) {
    if (later.size() != earlier.size() || later.size() != similarities.size())
        throw std::invalid_argument("a pair has two documents and a similarity");
    check_below(span_of(later), leaders.leaders().size());
    for (std::size_t i = 0; i < later.size(); ++i)
        if (earlier.data()[i] >= later.data()[i]) throw std::invalid_argument("the later document of a pair comes first");
    if (!std::ranges::is_sorted(span_of(later))) throw std::invalid_argument("pairs must not descend");
    Release release;
    leaders.add(span_of(later), span_of(earlier), span_of(similarities));
}

// Python's handlers run in its main thread alone, and here only when that asks: in the middle of a
// kernel that it runs itself. Other threads need not wait for the lock to ask.
static void raise_signals() {
    static const std::thread::id main_thread = std::this_thread::get_id();  // the one that imports
    if (std::this_thread::get_id() != main_thread) return;
    nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

static void bind_stop(nb::module_ &m) {
    raise_signals();
    look_for_signals = &raise_signals;
    nb::register_exception_translator([](const std::exception_ptr &thrown, void *) {
        try {
            std::rethrow_exception(thrown);
        } catch (const Stopped &) {
            PyErr_SetNone(PyExc_KeyboardInterrupt);
        }
    });
    m.def("request_stop", [] { stop_requested = true; });
    m.def("forget_stop", [] { stop_requested = false; });
}

}  // namespace nearly

NB_MODULE(_kernels, m) {
    using namespace nanobind::literals;
    nearly::bind_stop(m);
    nearly::bind_frequency(m);
    const auto dropped = "dropped"_a.none() = nanobind::none();
    m.def("signatures", &nearly::signatures, "offsets"_a, "data"_a, "unit"_a, "k"_a, "seed"_a, "scheme"_a,
          "positions"_a, dropped);
    m.def("sign", &nearly::sign, "offsets"_a, "data"_a, "unit"_a, "k"_a, "seed"_a, "scheme"_a, "bands"_a, "rows"_a,
          dropped);
    m.def("measure", &nearly::measure, "offsets"_a, "data"_a, "unit"_a, "k"_a, "seed"_a, dropped);
    m.def("gather", &nearly::pieces, "data"_a, "starts"_a, "ends"_a);
    m.def("contents", &nearly::contents, "offsets"_a, "data"_a);
    m.def("band_candidates", &nearly::candidates_of_band, "keys"_a, "documents"_a, "sketches"_a, "bits"_a,
          "most_different"_a, "hubs"_a, "low"_a = 0, "high"_a = 1ull << 32);
    m.def("gather_band", &nearly::gathering_of_band, "keys"_a, "documents"_a, "sketches"_a, "bits"_a,
          "most_different"_a, "hubs"_a, "most_meetings"_a);
    m.def("agreeing", &nearly::agreeing_pairs, "pairs"_a, "firsts"_a, "seconds"_a, "sketches"_a, "bits"_a,
          "most_different"_a);
    m.def("crowd", &nearly::crowd_of_band, "keys"_a, "hubs"_a);
    m.def("shared_keys", &nearly::places_of_shared_keys, "keys"_a);
    m.def("route_keys", &nearly::routes_of_keys, "rows"_a, "keys"_a, "is_chosen"_a, "partitions"_a);
    m.def("unique_pairs", &nearly::unique_pairs, "pairs"_a, "low"_a, "high"_a);
    m.def("shingle_sets", &nearly::sets_of, "offsets"_a, "data"_a, "unit"_a, "k"_a, "seed"_a, "in_order"_a = false,
          dropped);
    m.def("shingle_lists", &nearly::lists_of, "offsets"_a, "data"_a, "unit"_a, "k"_a, "seed"_a,
          dropped);
    m.def("shingle_bags", &nearly::bags_of, "offsets"_a, "data"_a, "unit"_a, "k"_a, "seed"_a);
    m.def("cut_blocks", &nearly::ends_of_blocks, "a"_a, "b"_a, "lengths"_a, "limit"_a);
    m.def("shared", &nearly::shared, "a"_a, "b"_a);
    m.def("first_seen", &nearly::first_occurrences, "contents"_a);
    m.def("components", &nearly::components_of, "a"_a, "b"_a, "documents"_a);
    nanobind::class_<nearly::Leaders>(m, "Leaders")
        .def(nanobind::init<std::size_t>(), "documents"_a)
        .def("add", &nearly::add_to_leaders, "later"_a, "earlier"_a, "similarities"_a)
        .def("ranks", [](const nearly::Leaders &leaders) { return nearly::give(std::vector(leaders.leaders())); });
    nearly::bind_bloom(m);
    nearly::bind_edit(m);
    nearly::bind_normalise(m);
    nearly::bind_held_shingles(m);
    nearly::bind_items(m);
    nearly::bind_vectors(m);
    nearly::bind_overlaps(m);
    nearly::bind_pairs(m);
    nearly::bind_passages(m);
    nearly::bind_join(m);
    nearly::bind_json(m);
    nearly::bind_meetings(m);
    nearly::bind_samples(m);
    nearly::bind_sides(m);
    nearly::bind_similarities(m);
    nearly::bind_wanted(m);
    nearly::bind_weights(m);
    nearly::bind_segment(m);
    nearly::bind_question(m);
    nearly::bind_waiting(m);
}
