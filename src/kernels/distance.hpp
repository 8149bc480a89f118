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

template <typename Number> NEARLY_CLONES double plain_product(const Number *a, const Number *b, std::size_t length) {
    return sum_over(a, b, length, [](double x, double y) { return x * y; });
}
#ifdef NEARLY_AVX2
#define NEARLY_WIDE __attribute__((target("avx512f,avx512dq,avx512vl")))

// Adds the products of up to eight numbers; the others count as zeros.
NEARLY_WIDE inline __m512d add_eight(__m512d sums, const float *a, const float *b, __mmask8 some) {
    const __m256 of_a = _mm256_maskz_loadu_ps(some, a), of_b = _mm256_maskz_loadu_ps(some, b);
    return _mm512_fmadd_pd(_mm512_maskz_cvtps_pd(some, of_a), _mm512_maskz_cvtps_pd(some, of_b), sums);
}

// The same to the last bit: a product of two numbers of single precision is exact in double precision, so that it makes no
// difference whether it is added at once.
NEARLY_WIDE inline double wide_product(const float *a, const float *b, std::size_t length) {
    constexpr std::size_t EIGHT = 8, PARTS = LANES / EIGHT;
    constexpr __mmask8 ALL = 0xFF;
    __m512d sums[PARTS] = {};
    std::size_t i = 0;
    for (; i + LANES <= length; i += LANES)
        for (std::size_t part = 0; part < PARTS; ++part)
            sums[part] = add_eight(sums[part], a + i + part * EIGHT, b + i + part * EIGHT, ALL);
    for (std::size_t part = 0; i < length; i += EIGHT, ++part) {
        const auto some = static_cast<__mmask8>(length - i < EIGHT ? (1u << (length - i)) - 1 : ALL);
        sums[part] = add_eight(sums[part], a + i, b + i, some);
    }
    double left[EIGHT];
    _mm512_storeu_pd(left, _mm512_add_pd(_mm512_add_pd(sums[0], sums[2]), _mm512_add_pd(sums[1], sums[3])));
    for (std::size_t half = EIGHT / 2; half > 0; half /= 2)
        for (std::size_t lane = 0; lane < half; ++lane) left[lane] += left[lane + half];
    return left[0];
}

inline bool is_wide() {
    static const bool is = __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return is;
}
#else
inline bool is_wide() { return false; }
#endif
template <typename Number> double product_of(const Number *a, const Number *b, std::size_t length) {
#ifdef NEARLY_AVX2
    if constexpr (std::is_same_v<Number, float>)
        if (is_wide()) return wide_product(a, b, length);
#endif
    return plain_product(a, b, length);
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

// The cosine of an angle; that of a vector with itself is 1 exactly, and 0 where there is no direction.
inline double cosine_of(double product, double square_a, double square_b) {
    const double lengths = std::sqrt(square_a * square_b);
    return lengths > 0 ? std::clamp(product / lengths, -1.0, 1.0) : 0.0;
}

using Pairs = std::span<const std::uint32_t>;

// Pairs of a vector of one side and a vector of the other; the sides may be the same vectors.
template <typename Number> struct Sides {
    Vectors<Number> one, other;

    bool are_same() const { return one.numbers == other.numbers && one.count == other.count; }
};

// The squared lengths of vectors of both sides, each worked out when it is asked for.
template <typename Number> class Squares {
  public:
    explicit Squares(const Sides<Number> &sides)
        : sides_(sides), one_(sides.one.count, UNKNOWN), other_(sides.are_same() ? 0 : sides.other.count, UNKNOWN) {}

    double one(std::uint32_t i) { return of(sides_.one, one_, i); }
    double other(std::uint32_t i) { return of(sides_.other, other_.empty() ? one_ : other_, i); }

  private:
    static constexpr double UNKNOWN = -1;

    const Sides<Number> &sides_;
    std::vector<double> one_, other_;

    static double of(const Vectors<Number> &vectors, std::vector<double> &squares, std::uint32_t i) {
        if (squares[i] == UNKNOWN) squares[i] = product_of(vectors[i], vectors[i], vectors.length);
        return squares[i];
    }
};

// For each pair of places what `of` says of its vectors, or NaN where that is below `least`.
template <typename Number, typename Of>
std::vector<double> compare_vectors(const Sides<Number> &sides, Pairs first, Pairs second, double least, Of of) {
    constexpr std::size_t AHEAD = 3, LINE = 64 / sizeof(Number), MOST = 16 * LINE;
    const std::size_t length = sides.one.length, fetched = std::min(length, MOST);
    std::vector<double> found(first.size());
    Stop stop;
    for (std::size_t i = 0; i < first.size(); ++i) {
        stop.check(length);
        if (i + AHEAD < first.size()) {  // vectors come from memory while others are compared
            if (const std::uint32_t next = first[i + AHEAD]; next != first[i])
                for (std::size_t k = 0; k < fetched; k += LINE) __builtin_prefetch(sides.one[next] + k);
            if (const std::uint32_t next = second[i + AHEAD]; next != second[i])
                for (std::size_t k = 0; k < fetched; k += LINE) __builtin_prefetch(sides.other[next] + k);
        }
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
// their products may leave the range of single precision are never ruled out. Wide registers compare in double precision about as
// fast as they would look.
template <typename Number> class FirstLook {
  public:
    FirstLook(const Sides<Number> &sides, Squares<Number> &squares, double least_cosine)
        : sides_(sides), squares_(squares), least_(least_cosine - static_cast<double>(sides.one.length + 8) * 0x1p-23) {}

    bool is_far(std::uint32_t a, std::uint32_t b) {
        if (is_wide()) return false;
        if constexpr (std::is_same_v<Number, float>) {
            const double square_a = squares_.one(a), square_b = squares_.other(b);
            if (!is_usual(square_a) || !is_usual(square_b)) return false;
            return rough_product(sides_.one[a], sides_.other[b], sides_.one.length) < least_ * std::sqrt(square_a * square_b);
        }
        return false;
    }

  private:
    const Sides<Number> &sides_;
    Squares<Number> &squares_;
    double least_;

    static bool is_usual(double square) { return 1e-30 < square && square < 1e30; }
};

template <typename Number>
std::vector<double> cosines(const Sides<Number> &sides, Pairs first, Pairs second, double least) {
    Squares<Number> squares(sides);
    FirstLook look(sides, squares, least);
    return compare_vectors(sides, first, second, least, [&](std::uint32_t a, std::uint32_t b) {
        if (look.is_far(a, b)) return -std::numeric_limits<double>::infinity();
        return cosine_of(product_of(sides.one[a], sides.other[b], sides.one.length), squares.one(a), squares.other(b));
    });
}

// Distances as nearness: they count down from 0.
template <typename Number>
std::vector<double> euclidean(const Sides<Number> &sides, Pairs first, Pairs second, double least) {
    return compare_vectors(sides, first, second, least, [&](std::uint32_t a, std::uint32_t b) {
        return -std::sqrt(squares_of(sides.one[a], sides.other[b], sides.one.length));
    });
}

template <typename Number>
std::vector<double> manhattan(const Sides<Number> &sides, Pairs first, Pairs second, double least) {
    return compare_vectors(sides, first, second, least, [&](std::uint32_t a, std::uint32_t b) {
        return -steps_of(sides.one[a], sides.other[b], sides.one.length);
    });
}

// The greatest difference, by several that are taken side by side; what is no number is passed over.
template <typename Number> NEARLY_CLONES double greatest_step(const Number *a, const Number *b, std::size_t length) {
    double most[LANES] = {};
    const auto take = [](double &greatest, Number x, Number y) {
        const double step = std::abs(static_cast<double>(x) - static_cast<double>(y));
        greatest = greatest < step ? step : greatest;
    };
    std::size_t i = 0;
    for (; i + LANES <= length; i += LANES)
        for (std::size_t lane = 0; lane < LANES; ++lane) take(most[lane], a[i + lane], b[i + lane]);
    for (std::size_t lane = 0; i + lane < length; ++lane) take(most[lane], a[i + lane], b[i + lane]);
    return *std::max_element(most, most + LANES);
}

template <unsigned QUARTERS, typename Number>
NEARLY_CLONES double sum_of_known_power(const Number *a, const Number *b, std::size_t length, double unit) {
    return sum_over(a, b, length, [=](double x, double y) { return raised(std::abs(x - y) / unit, QUARTERS); });
}

// The sum of powers of differences, counted in units. Those between 1 and 2 are compared most: no bound rules out as much.
template <typename Number>
double sum_of_powers(const Number *a, const Number *b, std::size_t length, double unit, unsigned quarters) {
    switch (quarters) {
        case 5: return sum_of_known_power<5>(a, b, length, unit);
        case 6: return sum_of_known_power<6>(a, b, length, unit);
        case 7: return sum_of_known_power<7>(a, b, length, unit);
        default: return sum_over(a, b, length, [=](double x, double y) { return raised(std::abs(x - y) / unit, quarters); });
    }
}

// The root of the sum of powers of differences, these divided by the greatest one first, so that nothing overflows.
template <typename Number>
double power_distance(const Number *a, const Number *b, std::size_t length, const Power &power) {
    const double greatest = greatest_step(a, b, length);
    if (!(greatest > 0 && greatest < std::numeric_limits<double>::infinity())) return greatest;
    return greatest * power.root(sum_of_powers(a, b, length, greatest, power.quarters()));
}

template <typename Number>
std::vector<double> minkowski(const Sides<Number> &sides, Pairs first, Pairs second, double least, unsigned quarters) {
    const Power power(quarters);
    return compare_vectors(sides, first, second, least, [&](std::uint32_t a, std::uint32_t b) {
        return -power_distance(sides.one[a], sides.other[b], sides.one.length, power);
    });
}

// Places at which numbers differ, counted down from 0.
template <typename Number>
std::vector<double> differing_places(const Sides<Number> &sides, Pairs first, Pairs second, double least) {
    return compare_vectors(sides, first, second, least, [&](std::uint32_t a, std::uint32_t b) {
        return -places_of(sides.one[a], sides.other[b], sides.one.length);
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
std::vector<double> angles(const Sides<Number> &sides, Pairs first, Pairs second, double least) {
    Squares<Number> squares(sides);
    const double least_cosine = least < -180 ? -2 : std::cos(least * PI / 180) - 1e-9;
    FirstLook look(sides, squares, least_cosine);
    return compare_vectors(sides, first, second, least, [&](std::uint32_t a, std::uint32_t b) {
        if (look.is_far(a, b)) return -std::numeric_limits<double>::infinity();
        const double product = product_of(sides.one[a], sides.other[b], sides.one.length);
        if (cosine_of(product, squares.one(a), squares.other(b)) < least_cosine) return -std::numeric_limits<double>::infinity();
        return -degrees_between(sides.one[a], sides.other[b], sides.one.length, squares.one(a), squares.other(b));
    });
}

}  // namespace nearly
