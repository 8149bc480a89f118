// How near vectors are, in double precision: sums come in one order whatever the machine, so that every
// bit of a result is the same everywhere. Built without fused additions (see CMakeLists.txt).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "power.hpp"
#include "rotation.hpp"

namespace nearly {

// Sums of so many numbers each, which are added to each other at the end.
inline constexpr std::size_t LANES = 32;
inline constexpr double PI = 3.14159265358979323846;

// The sum of a function of both numbers, over all places. Always inline: only then is it built for each kind of machine that
// its callers are built for.
template <typename Number, typename Of>
[[gnu::always_inline]] inline double sum_over(const Number *a, const Number *b, std::size_t length, Of of) {
    double sums[LANES] = {};
    std::size_t i = 0;
    for (; i + LANES <= length; i += LANES)
        for (std::size_t lane = 0; lane < LANES; ++lane)
            sums[lane] += of(static_cast<double>(a[i + lane]), static_cast<double>(b[i + lane]));
    for (std::size_t lane = 0; i + lane < length; ++lane)
        sums[lane] += of(static_cast<double>(a[i + lane]), static_cast<double>(b[i + lane]));
    for (std::size_t half = LANES / 2; half > 0; half /= 2)
        for (std::size_t lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
    return sums[0];
}

template <typename Number> NEARLY_CLONES double product_of(const Number *a, const Number *b, std::size_t length) {
    return sum_over(a, b, length, [](double x, double y) { return x * y; });
}
template <typename Number> NEARLY_CLONES double squares_of(const Number *a, const Number *b, std::size_t length) {
    return sum_over(a, b, length, [](double x, double y) { return (x - y) * (x - y); });
}
template <typename Number> NEARLY_CLONES double steps_of(const Number *a, const Number *b, std::size_t length) {
    return sum_over(a, b, length, [](double x, double y) { return std::abs(x - y); });
}

template <typename Number> NEARLY_CLONES double places_of(const Number *a, const Number *b, std::size_t length) {
    return sum_over(a, b, length, [](double x, double y) { return x != y ? 1.0 : 0.0; });
}
// Squares of differences, and of sums, of two vectors that are divided by their lengths.
template <typename Number>
NEARLY_CLONES double squares_apart(const Number *a, const Number *b, std::size_t length, double by_a, double by_b) {
    return sum_over(a, b, length, [=](double x, double y) { return (x / by_a - y / by_b) * (x / by_a - y / by_b); });
}
template <typename Number>
NEARLY_CLONES double squares_together(const Number *a, const Number *b, std::size_t length, double by_a, double by_b) {
    return sum_over(a, b, length, [=](double x, double y) { return (x / by_a + y / by_b) * (x / by_a + y / by_b); });
}

// The squared length of each vector.
template <typename Number> std::vector<double> squared_lengths(const Vectors<Number> &vectors) {
    std::vector<double> squares(vectors.count);
    Stop stop;
    for (std::size_t i = 0; i < vectors.count; ++i) {
        stop.check(vectors.length);
        squares[i] = product_of(vectors[i], vectors[i], vectors.length);
    }
    return squares;
}

// The cosine of an angle; that of a vector with itself is 1 exactly, and 0 where there is no direction.
inline double cosine_of(double product, double square_a, double square_b) {
    const double lengths = std::sqrt(square_a * square_b);
    return lengths > 0 ? std::clamp(product / lengths, -1.0, 1.0) : 0.0;
}

using Pairs = std::span<const std::uint32_t>;

// For each pair of places what `of` says of its vectors, or NaN where that is below `least`.
template <typename Number, typename Of>
std::vector<double> compare_vectors(const Vectors<Number> &vectors, Pairs first, Pairs second, double least, Of of) {
    constexpr std::size_t AHEAD = 2, LINE = 64 / sizeof(Number), MOST = 16 * LINE;
    std::vector<double> found(first.size());
    Stop stop;
    for (std::size_t i = 0; i < first.size(); ++i) {
        stop.check(vectors.length);
        if (i + AHEAD < first.size())  // a vector comes from memory while others are compared
            for (std::size_t k = 0; k < std::min(vectors.length, MOST); k += LINE) __builtin_prefetch(vectors[second[i + AHEAD]] + k);
        const double nearness = of(first[i], second[i]);
        found[i] = nearness >= least ? nearness : std::numeric_limits<double>::quiet_NaN();
    }
    return found;
}

// A product in single precision: the same only up to rounding.
NEARLY_CLONES inline float rough_product(const float *a, const float *b, std::size_t length) {
    float sums[LANES] = {};
    std::size_t i = 0;
    for (; i + LANES <= length; i += LANES)
        for (std::size_t lane = 0; lane < LANES; ++lane) sums[lane] += a[i + lane] * b[i + lane];
    for (std::size_t lane = 0; i + lane < length; ++lane) sums[lane] += a[i + lane] * b[i + lane];
    for (std::size_t half = LANES / 2; half > 0; half /= 2)
        for (std::size_t lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
    return sums[0];
}

// A first look at vectors in single precision: whoever is seen to be too far apart, by more than rounding can be off, need
// not be compared in double precision. So it changes no result. Vectors that are so short or long that
// their products may leave the range of single precision are never ruled out.
template <typename Number> class FirstLook {
  public:
    FirstLook(const Vectors<Number> &vectors, std::span<const double> squares, double least_cosine)
        : vectors_(vectors), least_(least_cosine - static_cast<double>(vectors.length + 8) * 0x1p-23), lengths_(squares.size()) {
        for (std::size_t i = 0; i < squares.size(); ++i)
            lengths_[i] = 1e-30 < squares[i] && squares[i] < 1e30 ? std::sqrt(squares[i]) : std::numeric_limits<double>::quiet_NaN();
    }

    bool is_far(std::uint32_t a, std::uint32_t b) const {
        if constexpr (std::is_same_v<Number, float>)
            return rough_product(vectors_[a], vectors_[b], vectors_.length) < least_ * lengths_[a] * lengths_[b];
        return false;
    }

  private:
    const Vectors<Number> &vectors_;
    double least_;
    std::vector<double> lengths_;
};

template <typename Number>
std::vector<double> cosines(const Vectors<Number> &vectors, Pairs first, Pairs second, double least) {
    const std::vector<double> squares = squared_lengths(vectors);
    const FirstLook look(vectors, squares, least);
    return compare_vectors(vectors, first, second, least, [&](std::uint32_t a, std::uint32_t b) {
        if (look.is_far(a, b)) return -std::numeric_limits<double>::infinity();
        return cosine_of(product_of(vectors[a], vectors[b], vectors.length), squares[a], squares[b]);
    });
}

// Distances as nearness: they count down from 0.
template <typename Number>
std::vector<double> euclidean(const Vectors<Number> &vectors, Pairs first, Pairs second, double least) {
    return compare_vectors(vectors, first, second, least, [&](std::uint32_t a, std::uint32_t b) {
        return -std::sqrt(squares_of(vectors[a], vectors[b], vectors.length));
    });
}

template <typename Number>
std::vector<double> manhattan(const Vectors<Number> &vectors, Pairs first, Pairs second, double least) {
    return compare_vectors(vectors, first, second, least, [&](std::uint32_t a, std::uint32_t b) {
        return -steps_of(vectors[a], vectors[b], vectors.length);
    });
}

// The root of the sum of powers of differences, these divided by the greatest one first, so that nothing overflows.
template <typename Number>
double power_distance(const Number *a, const Number *b, std::size_t length, const Power &power) {
    double greatest = 0;
    for (std::size_t i = 0; i < length; ++i)
        greatest = std::max(greatest, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
    if (!(greatest > 0 && greatest < std::numeric_limits<double>::infinity())) return greatest;
    return greatest * power.root(sum_over(a, b, length, [&](double x, double y) { return power(std::abs(x - y) / greatest); }));
}

template <typename Number>
std::vector<double> minkowski(const Vectors<Number> &vectors, Pairs first, Pairs second, double least, unsigned quarters) {
    const Power power(quarters);
    return compare_vectors(vectors, first, second, least, [&](std::uint32_t a, std::uint32_t b) {
        return -power_distance(vectors[a], vectors[b], vectors.length, power);
    });
}

// Places at which numbers differ, counted down from 0.
template <typename Number>
std::vector<double> differing_places(const Vectors<Number> &vectors, Pairs first, Pairs second, double least) {
    return compare_vectors(vectors, first, second, least, [&](std::uint32_t a, std::uint32_t b) {
        return -places_of(vectors[a], vectors[b], vectors.length);
    });
}

// Of 0 to 1, by halving the angle until its series is short: the C library's differs between machines.
inline double arc_tangent(double x) {
    double halves = 1;
    for (; halves < 16; halves *= 2) x /= 1 + std::sqrt(1 + x * x);
    double sum = 0;
    for (int n = 7; n >= 0; --n) sum = 1.0 / (2 * n + 1) - x * x * sum;
    return halves * x * sum;
}

// The angle between two vectors in degrees, in steps of 1e-12, so that a round angle is one: half of it has the tangent
// |x - y| / |x + y|, where x and y are the vectors made 1 long. (An arc cosine would be wrong for small angles.)
template <typename Number>
double degrees_between(const Number *a, const Number *b, std::size_t length, double square_a, double square_b) {
    if (square_a == 0 || square_b == 0) return 90;
    const double length_a = std::sqrt(square_a), length_b = std::sqrt(square_b);
    const double apart = std::sqrt(squares_apart(a, b, length, length_a, length_b)),
                 together = std::sqrt(squares_together(a, b, length, length_a, length_b));
    const double acute = arc_tangent(std::min(apart, together) / std::max(apart, together)) * 360 / PI;
    return std::round((apart <= together ? acute : 180 - acute) * 1e12) / 1e12;
}

// Angles as nearness; those whose cosine is too small are not worked out.
template <typename Number>
std::vector<double> angles(const Vectors<Number> &vectors, Pairs first, Pairs second, double least) {
    const std::vector<double> squares = squared_lengths(vectors);
    const double least_cosine = least < -180 ? -2 : std::cos(least * PI / 180) - 1e-9;
    const FirstLook look(vectors, squares, least_cosine);
    return compare_vectors(vectors, first, second, least, [&](std::uint32_t a, std::uint32_t b) {
        if (look.is_far(a, b)) return -std::numeric_limits<double>::infinity();
        const double product = product_of(vectors[a], vectors[b], vectors.length);
        if (cosine_of(product, squares[a], squares[b]) < least_cosine) return -std::numeric_limits<double>::infinity();
        return -degrees_between(vectors[a], vectors[b], vectors.length, squares[a], squares[b]);
    });
}

}  // namespace nearly
