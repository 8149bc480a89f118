// Pairs of documents with a value each: put in order, and given to the copies of their documents.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "candidates.hpp"
#include "stop.hpp"

namespace nearly {

struct ValuedPairs {
    std::vector<std::uint64_t> pairs;
    std::vector<double> values;
};

// Least significant digit first, twelve bits at a time; bits that no document has are left out.
class PairSorter {
  public:
    explicit PairSorter(std::span<const std::uint64_t> pairs) {
        std::uint64_t all = 0;
        for (const std::uint64_t pair : pairs) all |= pair;
        low_ = static_cast<unsigned>(std::bit_width(static_cast<std::uint32_t>(all)));
        bits_ = low_ + static_cast<unsigned>(std::bit_width(all >> 32));
    }

    void operator()(ValuedPairs &sorted) {
        ValuedPairs other{std::vector<std::uint64_t>(sorted.pairs.size()), std::vector<double>(sorted.values.size())};
        for (unsigned shift = 0; shift < bits_; shift += DIGIT) {
            Stop().check(8 * sorted.pairs.size());
            scatter(sorted, other, shift);
            std::swap(sorted, other);
        }
    }

  private:
    static constexpr unsigned DIGIT = 12;
    unsigned low_, bits_;

    std::size_t digit(std::uint64_t pair, unsigned shift) const {
        const std::uint64_t packed = (pair >> 32) << low_ | static_cast<std::uint32_t>(pair);
        return (packed >> shift) & ((1u << DIGIT) - 1);
    }

    void scatter(const ValuedPairs &from, ValuedPairs &to, unsigned shift) const {
        std::array<std::size_t, (1u << DIGIT) + 1> places{};
        for (const std::uint64_t pair : from.pairs) ++places[digit(pair, shift) + 1];
        for (std::size_t i = 1; i < places.size(); ++i) places[i] += places[i - 1];
        for (std::size_t i = 0; i < from.pairs.size(); ++i) {
            const std::size_t place = places[digit(from.pairs[i], shift)]++;
            to.pairs[place] = from.pairs[i];
            to.values[place] = from.values[i];
        }
    }
};

// Documents that stand for others: the copies of document i lie in [starts[i], starts[i + 1]).
struct Copies {
    std::span<const std::int64_t> starts;
    std::span<const std::uint32_t> copies;

    std::size_t size(std::uint32_t document) const {
        return static_cast<std::size_t>(starts[document + 1] - starts[document]) + 1;
    }
    std::uint32_t member(std::uint32_t document, std::size_t nth) const {
        return nth == 0 ? document : copies[static_cast<std::size_t>(starts[document]) + nth - 1];
    }
};

// Each pair as all pairs of their groups, in any order. That of a document and itself becomes the pairs
// inside its group.
inline ValuedPairs pairs_of_copies(std::span<const std::uint32_t> first, std::span<const std::uint32_t> second,
                                   std::span<const double> values, const Copies &copies) {
    ValuedPairs found;
    Stop stop;
    for (std::size_t i = 0; i < first.size(); ++i) {
        const std::uint32_t a = first[i], b = second[i];
        const std::size_t rows = copies.size(a), columns = copies.size(b);
        stop.check(8 * rows * columns);
        for (std::size_t row = 0; row < rows; ++row)
            for (std::size_t column = a == b ? row + 1 : 0; column < columns; ++column) {
                found.pairs.push_back(pack_pair(copies.member(a, row), copies.member(b, column)));
                found.values.push_back(values[i]);
            }
    }
    return found;
}

}  // namespace nearly
