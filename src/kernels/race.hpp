// Weighted minhashes: two sets agree in a position with a chance that is their similarity by weight.
//
// Every member sends points out at random moments, as many in a unit of time as it weighs, each to a
// random position; a position keeps the first that arrives. Moments and positions depend on the member
// and its weight alone, so that sets which share a member share its points. What arrives at one position
// says nothing of another: positions are independent. (The race is that of Efraimidis and Spirakis,
// 2006; that n positions cost n log n points and not n for every member, as in TreeMinHash and
// DartMinHash, comes from drawing points in the order of time up to a moment by which all are reached.)
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "hashing.hpp"
#include "stop.hpp"
#include "weights.hpp"

namespace nearly {

// -ln((bits + 1/2) / 2^32) for the upper 32 bits, by additions, products and quotients that are the same
// to the last bit everywhere; as close to the logarithm as 32 bits of a random number deserve.
inline double waiting_time(std::uint64_t bits) {
    constexpr double LN2 = 0.6931471805599453, ROOT = 1.4142135623730951;
    const double number = static_cast<double>(bits >> 32) + 0.5;
    const auto word = std::bit_cast<std::uint64_t>(number);
    auto power = static_cast<std::int64_t>(word >> 52) - 1023;
    double rest = std::bit_cast<double>((word & 0xFFFFFFFFFFFFF) | 0x3FF0000000000000);
    if (rest > ROOT) rest *= 0.5, ++power;
    const double s = (rest - 1) / (rest + 1), square = s * s;
    const double series = 1 + square * (1.0 / 3 + square * (1.0 / 5 + square * (1.0 / 7 + square * (1.0 / 9))));
    return static_cast<double>(32 - power) * LN2 - 2 * s * series;
}

class RaceSigner {
  public:
    RaceSigner(std::size_t positions, std::uint64_t seed)
        : key_(start_hash(seed, 0)), seconds_(positions), arrived_(positions) {}

    // Of an empty set all zeros.
    void operator()(Set set, std::span<const std::uint32_t> weights, std::uint64_t total,
                    std::span<std::uint32_t> signature) {
        if (set.empty()) {
            std::ranges::fill(signature, 0);
            return;
        }
        stop_.check(64 * (set.size() + 8 * signature.size()));
        const auto positions = static_cast<double>(signature.size());
        double end = positions * (std::log(positions) + SPARE) / static_cast<double>(total);
        while (!run(set, weights, end)) end *= 2;
        for (std::size_t i = 0; i < signature.size(); ++i) signature[i] = static_cast<std::uint32_t>(mix(arrived_[i]));
    }

  private:
    static constexpr double SPARE = 4;  // of 55 sets one has a position that nothing has reached by then
    std::uint64_t key_;
    std::vector<double> seconds_;
    std::vector<std::uint64_t> arrived_;
    Stop stop_;

    // All points up to this moment; whether they reached every position. Later ones change nothing then.
    bool run(Set set, std::span<const std::uint32_t> weights, double end) {
        std::ranges::fill(seconds_, std::numeric_limits<double>::infinity());
        for (std::size_t i = 0; i < set.size(); ++i) send(mix(set[i] ^ key_), 1.0 / weights[i], end);
        return std::ranges::all_of(seconds_, [](double second) { return second < std::numeric_limits<double>::infinity(); });
    }

    void send(std::uint64_t member, double pause, double end) {
        double now = 0;
        for (std::uint64_t point = member;; point += GOLDEN) {
            const std::uint64_t drawn = mix(point);
            now += waiting_time(drawn) * pause;
            if (now >= end) return;
            const std::size_t position = (drawn & 0xFFFFFFFF) * seconds_.size() >> 32;
            if (now < seconds_[position]) seconds_[position] = now, arrived_[position] = drawn;
        }
    }
};

}  // namespace nearly
