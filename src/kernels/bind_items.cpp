// Sets of items for Python: hashed, put in order, weighed and signed.

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>

#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "content.hpp"
#include "items.hpp"
#include "signatures.hpp"

namespace nearly {

using Hashes = Column<std::uint64_t>;
using Ends = Column<std::int64_t>;

static auto hashes_of_items(const Ends &offsets, const Column<std::uint8_t> &data) {
    const Texts items = texts_of(offsets, data);
    std::vector<std::uint64_t> hashes;
    {
        nb::gil_scoped_release release;
        hashes = hash_items(items);
    }
    return give(std::move(hashes));
}

static auto hashes_of_numbers(const Hashes &numbers) {
    std::vector<std::uint64_t> hashes(numbers.size());
    hash_numbers(span_of(numbers), hashes.data());
    return give(std::move(hashes));
}

static auto lists_in_order(const Ends &offsets, const Hashes &hashes) {
    check_offsets(span_of(offsets), hashes.size(), "hashes");
    std::vector<std::uint64_t> sorted(hashes.data(), hashes.data() + hashes.size());
    {
        nb::gil_scoped_release release;
        sort_lists(span_of(offsets), sorted.data());
    }
    return give(std::move(sorted));
}

static auto sets_in_order(const Ends &offsets, const Hashes &hashes, bool bag) {
    check_offsets(span_of(offsets), hashes.size(), "hashes");
    Sets sets;
    {
        nb::gil_scoped_release release;
        sets = sets_of_lists(span_of(offsets), span_of(hashes), bag);
    }
    return std::pair(give(std::move(sets.offsets)), give(std::move(sets.hashes)));
}

// One row per set: its size and the digest of its hashes.
class WeighedSets {
  public:
    WeighedSets(const Ends &offsets, const Hashes &hashes) : offsets_(span_of(offsets)), hashes_(hashes.data()) {
        check_offsets(offsets_, hashes.size(), "hashes");
        sizes_.resize(size());
        digests_.resize(2 * size());
    }

    std::size_t size() const { return offsets_.size() - 1; }
    Set operator[](std::size_t i) const { return {hashes_ + offsets_[i], hashes_ + offsets_[i + 1]}; }

    void weigh(std::size_t i) {
        const Set set = (*this)[i];
        sizes_[i] = static_cast<std::uint32_t>(std::min<std::size_t>(set.size(), ~0u));
        const Content digest = hash_content(reinterpret_cast<const std::uint8_t *>(set.data()), set.size_bytes());
        digests_[2 * i] = digest.high;
        digests_[2 * i + 1] = digest.low;
    }

    auto sizes() { return give(std::move(sizes_)); }
    auto digests() {
        const std::size_t rows = size();
        return give(std::move(digests_), {rows, 2});
    }

  private:
    std::span<const std::int64_t> offsets_;
    const std::uint64_t *hashes_;
    std::vector<std::uint32_t> sizes_;
    std::vector<std::uint64_t> digests_;
};

static auto weigh_sets(const Ends &offsets, const Hashes &hashes) {
    WeighedSets sets(offsets, hashes);
    {
        nb::gil_scoped_release release;
        for (std::size_t i = 0; i < sets.size(); ++i) sets.weigh(i);
    }
    auto sizes = sets.sizes();
    return std::pair(std::move(sizes), sets.digests());
}

template <typename Signer> void sign_each_set(WeighedSets &sets, std::size_t positions, std::uint64_t seed, auto &&keep) {
    SeededSigner<Signer> sign(positions, seed);
    std::vector<std::uint32_t> signature(positions);
    for (std::size_t i = 0; i < sets.size(); ++i) {
        sets.weigh(i);
        sign(sets[i], signature);
        keep(i, std::span<const std::uint32_t>(signature));
    }
}

static auto sign_sets(const Ends &offsets, const Hashes &hashes, std::uint64_t seed, std::string_view scheme,
                      std::size_t bands, std::size_t rows) {
    WeighedSets sets(offsets, hashes);
    const std::size_t count = sets.size(), width = sketch_words(bands * rows);
    std::vector<std::uint32_t> keys(count * bands);
    std::vector<std::uint64_t> sketches(count * width);
    {
        nb::gil_scoped_release release;
        const Keeper keeper(bands, rows);
        const auto keep = [&](std::size_t i, std::span<const std::uint32_t> signature) {
            keeper(signature, keys.data() + i * bands, sketches.data() + i * width);
        };
        if (scheme == "independent")
            sign_each_set<IndependentSigner>(sets, bands * rows, seed, keep);
        else
            sign_each_set<OnePermutationSigner>(sets, bands * rows, seed, keep);
    }
    auto sizes = sets.sizes();
    return std::tuple(std::move(sizes), sets.digests(), give(std::move(keys), {count, bands}),
                      give(std::move(sketches), {count, width}));
}

void bind_items(nb::module_ &m) {
    using namespace nanobind::literals;
    m.def("hash_items", &hashes_of_items, "offsets"_a, "data"_a);
    m.def("hash_numbers", &hashes_of_numbers, "numbers"_a);
    m.def("sort_lists", &lists_in_order, "offsets"_a, "hashes"_a);
    m.def("sets_of_lists", &sets_in_order, "offsets"_a, "hashes"_a, "bag"_a);
    m.def("weigh_sets", &weigh_sets, "offsets"_a, "hashes"_a);
    m.def("sign_sets", &sign_sets, "offsets"_a, "hashes"_a, "seed"_a, "scheme"_a, "bands"_a, "rows"_a);
}

}  // namespace nearly
