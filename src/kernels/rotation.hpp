// Vectors turned by random rotations, and the signs of what comes out: on which side of random
// hyperplanes through the origin each vector lies.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "hashing.hpp"
#include "stop.hpp"

namespace nearly {

// Vectors of one length, one after the other.
template <typename Number> struct Vectors {
    const Number *numbers;
    std::size_t count, length;

    const Number *operator[](std::size_t i) const { return numbers + i * length; }
};

// A power of two by which numbers up to `largest` come to lie at 1 or below, so that nothing overflows.
inline double scale_of(double largest) {
    int exponent = 0;
    std::frexp(largest, &exponent);
    return std::ldexp(1.0, std::clamp(-exponent, -1000, 1000));
}

// A round is random signs, followed by a Hadamard transform: n log n additions. To any vector three rounds look like a
// random rotation. By then all numbers are of like size, and each further round is a rotation of what came before it
// that is as good as a new one. Additions come in one order whatever the machine, so signs are the same
// everywhere. Several vectors are turned side by side.
class Rotations {
  public:
    static constexpr std::size_t TOGETHER = 16, FIRST_ROUNDS = 3, SHORTEST = 256;

    // As many rotations as give `positions` signs.
    Rotations(std::size_t length, std::uint64_t seed, std::size_t positions)
        : width_(std::bit_ceil(std::max(length, SHORTEST))), count_((positions + width_ - 1) / width_),
          numbers_(width_ * TOGETHER), signs_((count_ + FIRST_ROUNDS - 1) * width_) {
        const int doublings = std::countr_zero(width_);
        for (std::size_t i = 0; i < signs_.size(); ++i) {
            // A transform makes numbers longer by the root of their count: a power of two, in every other round one more.
            const float scale = std::ldexp(1.0f, -(doublings + static_cast<int>(i / width_ % 2)) / 2);
            signs_[i] = mix(mix(seed + GOLDEN) + i / 64) >> (i % 64) & 1 ? -scale : scale;
        }
    }

    std::size_t width() const { return width_; }
    std::size_t count() const { return count_; }

    // Up to TOGETHER vectors, from `first` on; places without a vector hold zeros.
    template <typename Number> void load(const Vectors<Number> &vectors, std::size_t first) {
        std::ranges::fill(numbers_, 0.0f);
        const std::size_t here = std::min(TOGETHER, vectors.count - first);
        for (std::size_t v = 0; v < here; ++v) {
            const Number *vector = vectors[first + v];
            double largest = 0;
            for (std::size_t i = 0; i < vectors.length; ++i) largest = std::max(largest, std::abs(double(vector[i])));
            const double scale = scale_of(largest);
            for (std::size_t i = 0; i < vectors.length; ++i)
                numbers_[i * TOGETHER + v] = static_cast<float>(vector[i] * scale);
        }
    }

    // The signs of all coordinates after the next rotation, these being asked for in order: of each vector width() / 64 words,
    // which lie `apart` words from those of the vector before it.
    void turn(std::size_t rotation, std::uint64_t *words, std::size_t apart) {
        const std::size_t end = rotation + FIRST_ROUNDS;
        for (std::size_t round = rotation == 0 ? 0 : end - 1; round < end; ++round)
            transform(numbers_.data(), width_, signs_.data() + round * width_);
        collect(numbers_.data(), width_, words, apart);
    }

  private:
    std::size_t width_, count_;
    std::vector<float> numbers_, signs_;  // of each coordinate, all vectors side by side

    NEARLY_CLONES static void transform(float *numbers, std::size_t width, const float *signs) {
        for (std::size_t i = 0; i < width; ++i)
            for (std::size_t v = 0; v < TOGETHER; ++v) numbers[i * TOGETHER + v] *= signs[i];
        std::size_t step = 1;
        for (; 4 * step <= width; step *= 4)  // two steps at once: numbers are read half as often
            for (std::size_t start = 0; start < width; start += 4 * step)
                for (std::size_t i = start; i < start + step; ++i) {
                    float *a = numbers + i * TOGETHER, *b = a + step * TOGETHER, *c = b + step * TOGETHER,
                          *d = c + step * TOGETHER;
                    for (std::size_t v = 0; v < TOGETHER; ++v) {
                        const float ab = a[v] + b[v], a_b = a[v] - b[v], cd = c[v] + d[v], c_d = c[v] - d[v];
                        a[v] = ab + cd, b[v] = a_b + c_d, c[v] = ab - cd, d[v] = a_b - c_d;
                    }
                }
        if (step == width) return;
        for (std::size_t i = 0; i < step; ++i)
            for (std::size_t v = 0; v < TOGETHER; ++v) {
                float *a = numbers + i * TOGETHER + v, *b = a + step * TOGETHER;
                const float sum = *a + *b, difference = *a - *b;
                *a = sum, *b = difference;
            }
    }

    NEARLY_CLONES static void collect(const float *numbers, std::size_t width, std::uint64_t *words, std::size_t apart) {
        for (std::size_t start = 0; start < width; start += 64) {
            std::uint32_t found[2][TOGETHER] = {};
            for (std::size_t i = 0; i < 64; ++i)
                for (std::size_t v = 0; v < TOGETHER; ++v) {
                    const auto number = std::bit_cast<std::uint32_t>(numbers[(start + i) * TOGETHER + v]);
                    found[i / 32][v] = found[i / 32][v] >> 1 | (number & 0x80000000);
                }
            for (std::size_t v = 0; v < TOGETHER; ++v)
                words[v * apart + start / 64] = found[0][v] | static_cast<std::uint64_t>(found[1][v]) << 32;
        }
    }
};

// Bits [from, from + count) of a row of words, count being at most 64.
inline std::uint64_t bits_at(const std::uint64_t *words, std::size_t from, std::size_t count) {
    const std::size_t shift = from % 64;
    std::uint64_t bits = words[from / 64] >> shift;
    if (shift + count > 64) bits |= words[from / 64 + 1] << (64 - shift);
    return count == 64 ? bits : bits & ((1ull << count) - 1);
}

// From a row of bits to the keys of its bands and to its sketch, which keeps the first `kept` bits.
inline void keep_bits(const std::uint64_t *words, std::size_t bands, std::size_t rows, std::size_t kept,
                      std::uint32_t *keys, std::uint64_t *sketch) {
    for (std::size_t b = 0; b < bands; ++b) {
        std::uint64_t hash = rows;
        for (std::size_t i = 0; i < rows; i += 64)
            hash = mix(hash * GOLDEN ^ bits_at(words, b * rows + i, std::min<std::size_t>(64, rows - i)));
        keys[b] = static_cast<std::uint32_t>(hash >> 32);
    }
    for (std::size_t i = 0; i < kept; i += 64) sketch[i / 64] = bits_at(words, i, std::min<std::size_t>(64, kept - i));
}

struct SignedBits {
    std::vector<std::uint32_t> keys;
    std::vector<std::uint64_t> sketches;
};

// Keys and sketches of vectors by the signs of random hyperplanes.
template <typename Number>
SignedBits sign_vectors(const Vectors<Number> &vectors, std::uint64_t seed, std::size_t bands, std::size_t rows,
                        std::size_t kept) {
    Rotations rotations(vectors.length, seed, bands * rows);
    constexpr std::size_t together = Rotations::TOGETHER;
    const std::size_t width = rotations.width(), turns = rotations.count();
    const std::size_t words = width / 64 * turns, sketch = (kept + 63) / 64;
    SignedBits made{std::vector<std::uint32_t>(vectors.count * bands), std::vector<std::uint64_t>(vectors.count * sketch)};
    std::vector<std::uint64_t> all(together * words);
    Stop stop;
    for (std::size_t first = 0; first < vectors.count; first += together) {
        stop.check(together * width * turns);
        rotations.load(vectors, first);
        const std::size_t here = std::min(together, vectors.count - first);
        for (std::size_t t = 0; t < turns; ++t) rotations.turn(t, all.data() + t * (width / 64), words);
        for (std::size_t v = 0; v < here; ++v)
            keep_bits(all.data() + v * words, bands, rows, kept, made.keys.data() + (first + v) * bands,
                      made.sketches.data() + (first + v) * sketch);
    }
    return made;
}

}  // namespace nearly
