// Bloom filters shown to Python: bits in an array of numpy's, keys in, truth values out.

#include <nanobind/stl/optional.h>

#include <optional>
#include <stdexcept>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "bloom.hpp"

namespace nearly {

using Words = nb::ndarray<std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

static Bloom bloom_of(std::span<std::uint64_t> words, unsigned hashes) {
    if (words.empty() || words.size() % BLOCK_WORDS != 0) throw std::invalid_argument("a filter has whole blocks");
    if (hashes == 0) throw std::invalid_argument("a filter sets at least 1 bit for a key");
    return {words, hashes};
}

static auto keys_of_numbers(const Column<std::uint64_t> &numbers, std::uint64_t seed) {
    std::vector<std::uint64_t> keys(numbers.size());
    {
        nb::gil_scoped_release release;
        for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = key_of_number(numbers.data()[i], seed);
    }
    return give(std::move(keys));
}

static auto keys_of_texts(const Column<std::int64_t> &offsets, const Column<std::uint8_t> &data, std::uint64_t seed) {
    const Texts texts = texts_of(offsets, data);
    std::vector<std::uint64_t> keys(texts.size());
    {
        nb::gil_scoped_release release;
        for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = key_of_bytes(texts[i], seed);
    }
    return give(std::move(keys));
}

static auto keys_of_bands(const Matrix<std::uint32_t> &signatures, std::size_t rows, std::uint64_t seed) {
    if (rows == 0 || signatures.shape(1) % rows != 0) throw std::invalid_argument("a band has all of its rows");
    std::vector<std::uint64_t> keys;
    {
        nb::gil_scoped_release release;
        keys = band_keys(span_of(signatures), rows, seed);
    }
    return give(std::move(keys), {signatures.shape(0), signatures.shape(1) / rows});
}

static auto add_to_bloom(const Words &words, unsigned hashes, const Column<std::uint64_t> &keys, std::optional<int> asked) {
    const Bloom filter = bloom_of(span_of(words), hashes);
    const Adding way = asked ? Adding(*asked) : fastest_adding();
    if (!runs_here(way)) throw std::invalid_argument("keys are not added that way here");
    std::vector<std::uint8_t> is_new;
    {
        nb::gil_scoped_release release;
        is_new = add_keys(filter, span_of(keys), way);
    }
    return give(std::move(is_new));
}

static auto look_up_in_bloom(const Words &words, unsigned hashes, const Column<std::uint64_t> &keys) {
    const Bloom filter = bloom_of(span_of(words), hashes);
    std::vector<std::uint8_t> is_there;
    {
        nb::gil_scoped_release release;
        is_there = contain_keys(filter, span_of(keys));
    }
    return give(std::move(is_there));
}

static auto sift_by_bloom(const Words &words, unsigned hashes, const Matrix<std::uint64_t> &keys) {
    const std::size_t bands = keys.shape(1);
    if (bands == 0 || words.size() % bands != 0) throw std::invalid_argument("each band has a filter of the same size");
    std::vector<std::uint8_t> is_new;
    {
        nb::gil_scoped_release release;
        std::vector<Bloom> filters;
        for (std::size_t b = 0, size = words.size() / bands; b < bands; ++b)
            filters.push_back(bloom_of(span_of(words).subspan(b * size, size), hashes));
        is_new = sift_rows(filters, span_of(keys));
    }
    return give(std::move(is_new));
}

void bind_bloom(nb::module_ &m) {
    using namespace nanobind::literals;
    m.def("keys_of_numbers", &keys_of_numbers, "numbers"_a, "seed"_a);
    m.def("keys_of_texts", &keys_of_texts, "offsets"_a, "data"_a, "seed"_a);
    m.def("keys_of_bands", &keys_of_bands, "signatures"_a, "rows"_a, "seed"_a);
    m.def("add_to_bloom", &add_to_bloom, "words"_a, "hashes"_a, "keys"_a, "way"_a = nb::none());
    m.def("bloom_ways", [] {
        nb::list ways;
        for (const Adding way : ADDINGS)
            if (runs_here(way)) ways.append(static_cast<int>(way));
        return ways;
    });
    m.def("look_up_in_bloom", &look_up_in_bloom, "words"_a, "hashes"_a, "keys"_a);
    m.def("sift_by_bloom", &sift_by_bloom, "words"_a, "hashes"_a, "keys"_a);
}

}  // namespace nearly
