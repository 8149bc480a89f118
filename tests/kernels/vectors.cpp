// Vectors, products of them, and rows of bits and of numbers.
#include "exercise.hpp"

#include "bit_row.hpp"
#include "distance.hpp"
#include "product.hpp"
#include "projection.hpp"
#include "rotation.hpp"
#include "spread.hpp"

using namespace nearly;

// Vectors of arbitrary bits, NaN and infinite ones too: signs and distances of them mean nothing, but are told.
template <typename Number> static std::uint64_t vectors_of(std::mt19937_64 &random, bool any_bits) {
    const std::size_t length = 1 + random() % 40, count = random() % 50;
    std::vector<Number> numbers(count * length);
    for (Number &number : numbers) {
        number = static_cast<Number>(static_cast<std::int64_t>(random() % 2001) - 1000) / 64;
        const std::uint64_t bits = random();
        if (any_bits && bits % 7 == 0) std::memcpy(&number, &bits, sizeof number);
    }
    const Vectors<Number> vectors{numbers.data(), count, length};
    const std::size_t bands = 1 + random() % 9, rows = 1 + random() % 70;
    const SignedBits made = sign_vectors(vectors, random(), bands, rows, random() % (bands * rows + 1));
    std::uint64_t digest = made.keys.size() + made.sketches.size();
    if (!any_bits) {
        digest = std::accumulate(made.keys.begin(), made.keys.end(), digest);
        digest = std::accumulate(made.sketches.begin(), made.sketches.end(), digest);
    }
    std::vector<std::uint32_t> first, second;
    for (std::size_t i = 0; count > 0 && i < 100; ++i) {
        first.push_back(static_cast<std::uint32_t>(random() % count));
        second.push_back(static_cast<std::uint32_t>(random() % count));
    }
    const std::size_t lines = bands * rows;
    std::vector<double> directions(lines * length), shifts(lines, 0.25);
    for (double &number : directions) number = static_cast<double>(random() % 4001) - 2000;
    const SignedBits cells = project_vectors(vectors, {{directions.data(), lines, length}, shifts.data(), 1e-3 + any_bits}, bands, rows, lines / 2);
    if (!any_bits) digest = std::accumulate(cells.keys.begin(), cells.keys.end(), digest + cells.sketches.size());
    const Sides<Number> both{vectors, vectors};
    for (const auto &found : {cosines(both, first, second, -1), euclidean(both, first, second, -1e9), manhattan(both, first, second, -1e9),
                              angles(both, first, second, -70), minkowski(both, first, second, -1e9, 4 + static_cast<unsigned>(random() % 12)), differing_places(both, first, second, -30)})
        for (const double nearness : found) digest = any_bits ? digest + 1 : mix(digest + std::bit_cast<std::uint64_t>(nearness));
    return digest;
}

static std::uint64_t products_of(std::mt19937_64 &random) {
    const std::size_t width = 4 * (random() % 40), mine = random() % 140, theirs = random() % 70;
    std::vector<std::int8_t> one(mine * (width + Rows8::ADDED)), other(theirs * (width + Rows8::ADDED));
    for (auto *side : {&one, &other})
        for (std::size_t i = 0; i < side->size(); ++i)  // the last bytes of a row are one number, and a small one
            (*side)[i] = i % (width + Rows8::ADDED) < width + 2 ? static_cast<std::int8_t>(random() % 255 - 127) : 0;
    const Rows8 these{one.data(), mine, width}, those{other.data(), theirs, width};
    const auto [a, b] = great_products(these, those, 1000, false, Way::plain);
    const auto [c, d] = great_products(these, these, 0, true, Way::plain);
    for (const Way way : WAYS)
        if (runs_here(way) && (great_products(these, those, 1000, false, way) != RowPairs(a, b) || great_products(these, these, 0, true, way) != RowPairs(c, d)))
            throw std::logic_error("another way found other pairs");
    std::uint64_t digest = a.size() + 7 * c.size();
    for (const auto &side : {a, b, c, d}) digest = std::accumulate(side.begin(), side.end(), digest);
    return digest;
}

// Rows of bits, and rows of numbers of which some are not any.
static std::uint64_t rows_of(std::mt19937_64 &random) {
    const std::size_t width = random() % 4, mine = random() % 140, theirs = random() % 70;
    std::vector<std::uint64_t> one(mine * width), other(theirs * width);
    for (auto *side : {&one, &other})
        for (std::uint64_t &word : *side) word = random() & random() & random();
    const BitRows a{one.data(), mine, width}, b{other.data(), theirs, width};
    std::uint64_t digest = 0;
    for (const auto &[first, second] : {near_bits(a, b, 30, false), near_bits(a, a, 20, true)}) {
        digest = std::accumulate(first.begin(), first.end(), digest);
        digest = std::accumulate(second.begin(), second.end(), digest);
    }
    if (width > 0 && mine > 0) {
        std::vector<std::uint32_t> places(15), pairs(20);
        for (std::uint32_t &place : places) place = static_cast<std::uint32_t>(random() % (64 * width));
        for (std::uint32_t &place : pairs) place = static_cast<std::uint32_t>(random() % mine);
        const SignedBits sampled = sample_bits(a, places, 5, 3, 9);
        digest = std::accumulate(sampled.keys.begin(), sampled.keys.end(), digest + sampled.sketches[0]);
        for (const double nearness : hamming(a, a, pairs, pairs, -1)) digest += nearness == 0;
    }
    std::vector<float> numbers((mine + theirs) * (width * 17));
    for (float &number : numbers) number = random() % 50 == 0 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(random() % 100);
    const Rows32 left{numbers.data(), mine, width * 17}, right{numbers.data() + mine * width * 17, theirs, width * 17};
    for (const bool by_squares : {false, true}) digest += near_rows(left, right, 900, by_squares, false).first.size();
    return digest + near_rows(left, left, 1e4f, true, true).first.size();
}

std::uint64_t exercise_vectors(std::mt19937_64 &random, bool any_bits) {
    std::uint64_t digest = vectors_of<float>(random, any_bits);
    digest = mix(digest + vectors_of<double>(random, any_bits));
    digest = mix(digest + products_of(random));
    return mix(digest + rows_of(random));
}
