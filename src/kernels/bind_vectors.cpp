// Vectors for Python: signed, compared, and joined by products that bound how near they are.

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <optional>
#include <stdexcept>
#include <utility>

#include "arrays.hpp"
#include "bindings.hpp"
#include "bit_row.hpp"
#include "distance.hpp"
#include "product.hpp"
#include "projection.hpp"
#include "rotation.hpp"
#include "spread.hpp"

namespace nearly {

template <typename Number> Vectors<Number> vectors_of(const Matrix<Number> &matrix) {
    return {matrix.data(), matrix.shape(0), matrix.shape(1)};
}

// Keys and sketches that `sign` makes of `count` documents.
template <typename Sign> auto give_signed(std::size_t count, std::size_t bands, std::size_t rows, std::size_t kept, Sign &&sign) {
    if (bands == 0 || rows == 0) throw std::invalid_argument("bands and rows must be at least 1");
    if (kept > bands * rows) throw std::invalid_argument("a sketch keeps no more bits than there are");
    SignedBits made;
    {
        nb::gil_scoped_release release;
        made = sign();
    }
    return std::pair(give(std::move(made.keys), {count, bands}), give(std::move(made.sketches), {count, (kept + 63) / 64}));
}

template <typename Number>
auto signs_of_vectors(const Matrix<Number> &matrix, std::uint64_t seed, std::size_t bands, std::size_t rows, std::size_t kept) {
    return give_signed(matrix.shape(0), bands, rows, kept, [&] { return sign_vectors(vectors_of(matrix), seed, bands, rows, kept); });
}

template <typename Number>
auto cells_of_vectors(const Matrix<Number> &matrix, const Matrix<double> &directions, const Column<double> &shifts, double width,
                      std::size_t bands, std::size_t rows, std::size_t kept) {
    if (directions.shape(0) != bands * rows || shifts.size() != bands * rows || directions.shape(1) != matrix.shape(1))
        throw std::invalid_argument("there must be a line for each position, as long as a vector");
    if (!(width > 0)) throw std::invalid_argument("a cell must have a width");
    const Lines lines{vectors_of(directions), shifts.data(), width};
    return give_signed(matrix.shape(0), bands, rows, kept, [&] { return project_vectors(vectors_of(matrix), lines, bands, rows, kept); });
}

using BitMatrix = Matrix<std::uint64_t>;

static BitRows bits_of(const BitMatrix &words) { return {words.data(), words.shape(0), words.shape(1)}; }

static auto samples_of_bits(const BitMatrix &words, const Column<std::uint32_t> &places, std::size_t bands, std::size_t rows, std::size_t kept) {
    if (places.size() != bands * rows) throw std::invalid_argument("there must be a place for each position");
    check_below(span_of(places), 64 * words.shape(1));
    return give_signed(words.shape(0), bands, rows, kept, [&] { return sample_bits(bits_of(words), span_of(places), bands, rows, kept); });
}

using Places = Column<std::uint32_t>;

template <typename Compare> auto give_nearness(std::size_t mine, std::size_t theirs, const Places &first, const Places &second, Compare &&compare) {
    if (first.size() != second.size()) throw std::invalid_argument("a pair needs two places");
    check_below(span_of(first), mine);
    check_below(span_of(second), theirs);
    std::vector<double> found;
    {
        nb::gil_scoped_release release;
        found = compare(span_of(first), span_of(second));
    }
    return give(std::move(found));
}

// Where there are no others, both places of a pair are of the same vectors.
template <typename Number> Sides<Number> sides_of(const Matrix<Number> &matrix, const std::optional<Matrix<Number>> &others) {
    if (others && others->shape(1) != matrix.shape(1)) throw std::invalid_argument("vectors of both sides must have one length");
    return {vectors_of(matrix), others ? vectors_of(*others) : vectors_of(matrix)};
}

template <typename Number, auto compare>
auto nearness_of(const Matrix<Number> &matrix, const Places &first, const Places &second, double least, const std::optional<Matrix<Number>> &others) {
    const Sides<Number> sides = sides_of(matrix, others);
    return give_nearness(sides.one.count, sides.other.count, first, second, [&](Pairs a, Pairs b) { return compare(sides, a, b, least); });
}

template <typename Number>
auto powers_of(const Matrix<Number> &matrix, const Places &first, const Places &second, double least, unsigned quarters,
               const std::optional<Matrix<Number>> &others) {
    if (quarters < 4) throw std::invalid_argument("a power is 1 or more");
    const Sides<Number> sides = sides_of(matrix, others);
    return give_nearness(sides.one.count, sides.other.count, first, second, [&](Pairs a, Pairs b) { return minkowski(sides, a, b, least, quarters); });
}

static auto nearness_of_bits(const BitMatrix &words, const Places &first, const Places &second, double least, const std::optional<BitMatrix> &others) {
    if (others && others->shape(1) != words.shape(1)) throw std::invalid_argument("rows of both sides must have one width");
    const BitRows one = bits_of(words), other = others ? bits_of(*others) : one;
    return give_nearness(one.count, other.count, first, second, [&](Pairs a, Pairs b) { return hamming(one, other, a, b, least); });
}

// The pairs of rows that `join` finds in two matrices.
template <typename Number, typename Join> auto give_pairs(const Matrix<Number> &one, const Matrix<Number> &other, Join &&join) {
    if (one.shape(1) != other.shape(1)) throw std::invalid_argument("rows of both must have one width");
    RowPairs found;
    {
        nb::gil_scoped_release release;
        found = join();
    }
    auto first = give(std::move(found.first));
    return std::pair(std::move(first), give(std::move(found.second)));
}

static auto products_of_rows(const Matrix<std::int8_t> &one, const Matrix<std::int8_t> &other, std::int32_t limit, bool within, std::optional<int> asked) {
    const Way way = asked ? Way(*asked) : fastest_way();
    if (!runs_here(way)) throw std::invalid_argument("products do not run that way here");
    if (one.shape(1) < Rows8::ADDED || one.shape(1) % 4 != 0) throw std::invalid_argument("rows must have some fours of bytes");
    const auto rows = [](const auto &matrix) { return Rows8{matrix.data(), matrix.shape(0), matrix.shape(1) - Rows8::ADDED}; };
    return give_pairs(one, other, [&] { return great_products(rows(one), rows(other), limit, within, way); });
}

static auto pairs_of_rows(const Matrix<float> &one, const Matrix<float> &other, float limit, bool by_squares, bool within) {
    const auto rows = [](const auto &matrix) { return Rows32{matrix.data(), matrix.shape(0), matrix.shape(1)}; };
    return give_pairs(one, other, [&] { return near_rows(rows(one), rows(other), limit, by_squares, within); });
}

static auto pairs_of_bits(const BitMatrix &one, const BitMatrix &other, std::uint32_t most, bool within) {
    return give_pairs(one, other, [&] { return near_bits(bits_of(one), bits_of(other), most, within); });
}

template <typename Number> void bind_vectors_of(nb::module_ &m) {
    using namespace nanobind::literals;
    m.def("sign_vectors", &signs_of_vectors<Number>, "vectors"_a, "seed"_a, "bands"_a, "rows"_a, "kept"_a);
    m.def("project_vectors", &cells_of_vectors<Number>, "vectors"_a, "directions"_a, "shifts"_a, "width"_a, "bands"_a, "rows"_a, "kept"_a);
    m.def("cosines", &nearness_of<Number, &cosines<Number>>, "vectors"_a, "first"_a, "second"_a, "least"_a, "others"_a = nb::none());
    m.def("euclidean", &nearness_of<Number, &euclidean<Number>>, "vectors"_a, "first"_a, "second"_a, "least"_a, "others"_a = nb::none());
    m.def("manhattan", &nearness_of<Number, &manhattan<Number>>, "vectors"_a, "first"_a, "second"_a, "least"_a, "others"_a = nb::none());
    m.def("minkowski", &powers_of<Number>, "vectors"_a, "first"_a, "second"_a, "least"_a, "quarters"_a, "others"_a = nb::none());
    m.def("angles", &nearness_of<Number, &angles<Number>>, "vectors"_a, "first"_a, "second"_a, "least"_a, "others"_a = nb::none());
    m.def("differing_places", &nearness_of<Number, &differing_places<Number>>, "vectors"_a, "first"_a, "second"_a, "least"_a, "others"_a = nb::none());
}

void bind_vectors(nb::module_ &m) {
    using namespace nanobind::literals;
    bind_vectors_of<float>(m);
    bind_vectors_of<double>(m);
    m.def("sample_bits", &samples_of_bits, "bits"_a, "places"_a, "bands"_a, "rows"_a, "kept"_a);
    m.def("hamming", &nearness_of_bits, "bits"_a, "first"_a, "second"_a, "least"_a, "others"_a = nb::none());
    m.def("great_products", &products_of_rows, "one"_a, "other"_a, "limit"_a, "within"_a, "way"_a = nb::none());
    m.def("product_ways", [] {
        nb::list ways;
        for (const Way way : WAYS)
            if (runs_here(way)) ways.append(static_cast<int>(way));
        return ways;
    });
    m.def("near_rows", &pairs_of_rows, "one"_a, "other"_a, "limit"_a, "by_squares"_a, "within"_a);
    m.def("near_bits", &pairs_of_bits, "one"_a, "other"_a, "most"_a, "within"_a);
}

}  // namespace nearly
