// Shingles that are kept until documents are joined or signed, as Python sees them.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <tuple>

#include "arrays.hpp"
#include "bindings.hpp"
#include "content.hpp"
#include "held_shingles.hpp"
#include "names.hpp"
#include "signatures.hpp"
#include "stop.hpp"

namespace nearly {

using Offsets = Column<std::int64_t>;
using Hashes = Column<std::uint64_t>;

// As `measure`, with the shingles that are counted.
static auto weighed_with_shingles(const Offsets &offsets, const Column<std::uint8_t> &data, std::string_view unit,
                                  std::size_t k, std::uint64_t seed, const HashIndex *dropped) {
    const Texts texts = texts_of(offsets, data);
    std::vector<std::uint32_t> sizes(texts.size());
    std::vector<std::uint64_t> contents(2 * texts.size());
    HeldShingles held;
    {
        nb::gil_scoped_release release;
        Shingler shingler(shingling_of(unit, k, seed, dropped));
        held = hold_shingles(texts, shingler);
        for (std::size_t i = 0; i < texts.size(); ++i) {
            const std::int64_t size = held.offsets[i + 1] - held.offsets[i];
            sizes[i] = static_cast<std::uint32_t>(std::min<std::int64_t>(size, std::numeric_limits<std::uint32_t>::max()));
            const Content content = hash_content(texts[i].data(), texts[i].size());
            contents[2 * i] = content.high;
            contents[2 * i + 1] = content.low;
        }
    }
    return std::tuple(give(std::move(sizes)), give(std::move(contents), {texts.size(), 2}),
                      give(std::move(held.offsets)), give(std::move(held.hashes)));
}

template <typename Signer>
static void sign_each_held(std::span<const std::int64_t> offsets, const std::uint64_t *hashes, std::uint64_t seed,
                           std::size_t positions, auto &&keep) {
    Signer sign(positions, seed);
    Stop stop;
    std::vector<std::uint32_t> signature(positions);
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
        const Set shingles(hashes + offsets[i], hashes + offsets[i + 1]);
        stop.check(32 * shingles.size());
        if (shingles.empty())
            std::ranges::fill(signature, 0);
        else
            sign(shingles, signature);
        keep(i, std::span<const std::uint32_t>(signature));
    }
}

// Keys and sketches, as `sign` makes them of texts.
static auto sign_shingles(const Offsets &offsets, const Hashes &hashes, std::uint64_t seed, std::string_view scheme,
                          std::size_t bands, std::size_t rows) {
    check_offsets(span_of(offsets), hashes.size(), "hashes");
    const std::size_t count = offsets.size() - 1, width = sketch_words(bands * rows);
    std::vector<std::uint32_t> keys(count * bands);
    std::vector<std::uint64_t> sketches(count * width);
    {
        nb::gil_scoped_release release;
        const Keeper keeper(bands, rows);
        const auto keep = [&](std::size_t i, std::span<const std::uint32_t> signature) {
            keeper(signature, keys.data() + i * bands, sketches.data() + i * width);
        };
        if (scheme == "independent")
            sign_each_held<IndependentSigner>(span_of(offsets), hashes.data(), seed, bands * rows, keep);
        else
            sign_each_held<OnePermutationSigner>(span_of(offsets), hashes.data(), seed, bands * rows, keep);
    }
    return std::pair(give(std::move(keys), {count, bands}), give(std::move(sketches), {count, width}));
}

static auto keep_chosen_once(const Offsets &offsets, nb::ndarray<std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> hashes,
                             const Column<std::uint32_t> &chosen) {
    check_offsets(span_of(offsets), hashes.size(), "hashes");
    check_below(span_of(chosen), offsets.size() - 1);
    if (std::ranges::adjacent_find(span_of(chosen), std::ranges::greater_equal()) != span_of(chosen).end())
        throw std::invalid_argument("chosen documents must ascend");
    std::vector<std::int64_t> ends;
    {
        nb::gil_scoped_release release;
        ends = keep_once(span_of(offsets), hashes.data(), span_of(chosen));
    }
    return give(std::move(ends));
}

void bind_held_shingles(nb::module_ &m) {
    using namespace nanobind::literals;
    m.def("weigh_with_shingles", &weighed_with_shingles, "offsets"_a, "data"_a, "unit"_a, "k"_a, "seed"_a,
          "dropped"_a.none() = nanobind::none());
    m.def("sign_shingles", &sign_shingles, "offsets"_a, "hashes"_a, "seed"_a, "scheme"_a, "bands"_a, "rows"_a);
    m.def("keep_once", &keep_chosen_once, "offsets"_a, "hashes"_a, "chosen"_a);
}

}  // namespace nearly
