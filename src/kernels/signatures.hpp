// MinHash signatures of a set of shingle hashes, and what the pipeline keeps of them. A signer takes
// all hashes at once; or, where there are too many, whatever calls its argument with some at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "hash_table.hpp"
#include "hashing.hpp"

namespace nearly {

inline constexpr std::uint64_t NONE = std::numeric_limits<std::uint64_t>::max();

// Every position is the minimum of an independent permutation of the 64-bit integers,
// x -> a x + b with a odd; arithmetic modulo 2^64 is exactly what makes it one.
class IndependentSigner {
  public:
    IndependentSigner(std::size_t size, std::uint64_t seed) : factors_(size), terms_(size), minima_(size) {
        for (std::size_t i = 0; i < size; ++i) {
            factors_[i] = mix(seed ^ mix(2 * i + 1)) | 1;
            terms_[i] = mix(seed ^ mix(2 * i + 2));
        }
    }

    void operator()(std::span<const std::uint64_t> hashes, std::span<std::uint32_t> signature) {
        in_stretches([hashes](auto &&receive) { receive(hashes); }, signature);
    }

    void in_stretches(auto &&each, std::span<std::uint32_t> signature) {
        std::fill(minima_.begin(), minima_.end(), NONE);
        each([this](std::span<const std::uint64_t> some) {
            take_minima(some.data(), some.size(), factors_.data(), terms_.data(), minima_.data(), minima_.size());
        });
        for (std::size_t i = 0; i < minima_.size(); ++i)
            signature[i] = static_cast<std::uint32_t>(mix(minima_[i]));
    }

  private:
    std::vector<std::uint64_t> factors_, terms_, minima_;

    NEARLY_CLONES static void take_minima(const std::uint64_t *hashes, std::size_t count,
                                          const std::uint64_t *factors, const std::uint64_t *terms,
                                          std::uint64_t *minima, std::size_t size) {
        for (std::size_t j = 0; j < count; ++j)
            for (std::size_t i = 0; i < size; ++i) {
                const std::uint64_t value = factors[i] * hashes[j] + terms[i];
                minima[i] = value < minima[i] ? value : minima[i];
            }
    }
};

// One permutation: a shingle's hash says its group and its rank there. Groups left empty are
// filled by further rounds, in which every shingle is hashed anew and takes its place only in
// groups that were empty until then; a group that is open after the last round takes the least
// of all shingles (after Dahlgaard, Knudsen, Thorup: Fast Similarity Sketching). Every position
// agrees with probability equal to the Jaccard similarity, however small the sets are.
class OnePermutationSigner {
  public:
    OnePermutationSigner(std::size_t size, std::uint64_t seed) : seed_(mix(seed ^ GOLDEN)), minima_(size) {}

    void operator()(std::span<const std::uint64_t> hashes, std::span<std::uint32_t> signature) {
        const std::size_t size = minima_.size();
        make_room(hashes.size());
        std::fill(minima_.begin(), minima_.end(), NONE);
        place_first(hashes);
        std::size_t open = count_open(minima_.data(), size);
        for (std::uint64_t round = 1; open > 0 && round < ROUNDS; ++round) {
            open <= FEW ? fill_open(hashes, round) : place_again(hashes, round);
            open = count_open(minima_.data(), size);
        }
        for (std::size_t i = 0; open > 0 && i < size; ++i)
            if (minima_[i] == NONE) minima_[i] = mix(least(hashes, i));
        write(signature);
    }

    // A group is rarely open after enough hashes for them to come in stretches, unless most of them
    // repeat others: then the different ones are few, and are taken from here at once.
    void in_stretches(auto &&each, std::span<std::uint32_t> signature) {
        std::fill(minima_.begin(), minima_.end(), NONE);
        each([this](std::span<const std::uint64_t> some) { place_first(some); });
        if (count_open(minima_.data(), minima_.size()) > 0) {
            const std::vector<std::uint64_t> few = different(each);
            if (few.empty())
                fill_in_stretches(each);
            else
                fill_in_stretches([&few](auto &&receive) { receive(std::span(few)); });
        }
        write(signature);
    }

  private:
    static constexpr std::uint64_t ROUNDS = 3;
    static constexpr unsigned RANK_BITS = 61;  // the round stands above: an earlier one always wins
    static constexpr std::size_t FEW = 8;      // open groups: each of them looks for its own
    static constexpr std::size_t MOST_DIFFERENT = 1 << 18;  // hashes that are held to be taken again
    std::uint64_t seed_;
    std::vector<std::uint64_t> minima_, values_;
    std::vector<std::uint32_t> groups_;

    NEARLY_CLONES static std::size_t count_open(const std::uint64_t *minima, std::size_t size) {
        std::size_t open = 0;
        for (std::size_t i = 0; i < size; ++i) open += minima[i] == NONE;
        return open;
    }

    void make_room(std::size_t hashes) {
        if (values_.size() < hashes) values_.resize(hashes), groups_.resize(hashes);
    }

    void write(std::span<std::uint32_t> signature) const {
        std::transform(minima_.begin(), minima_.end(), signature.begin(),
                       [](std::uint64_t least) { return static_cast<std::uint32_t>(least); });
    }

    // Each hash once; none if there are too many of them.
    static std::vector<std::uint64_t> different(auto &&each) {
        GrowingTable seen;
        each([&seen](std::span<const std::uint64_t> some) {
            if (seen.size() > MOST_DIFFERENT) return;
            for (const std::uint64_t hash : some) seen.add(hash);
        });
        std::vector<std::uint64_t> hashes(seen.size() > MOST_DIFFERENT ? 0 : seen.size());
        if (!hashes.empty()) seen.write_in_order(hashes.data());
        return hashes;
    }

    // The later rounds, and the least of all shingles for groups that are open after them.
    void fill_in_stretches(auto &&each) {
        for (std::uint64_t round = 1; round < ROUNDS; ++round)
            each([this, round](std::span<const std::uint64_t> some) {
                make_room(some.size());
                place_again(some, round);
            });
        std::vector<std::size_t> open;
        for (std::size_t i = 0; i < minima_.size(); ++i)
            if (minima_[i] == NONE) open.push_back(i);
        if (open.empty()) return;
        std::vector<std::uint64_t> leasts(open.size(), NONE);
        each([&](std::span<const std::uint64_t> some) {
            for (std::size_t j = 0; j < open.size(); ++j) leasts[j] = std::min(leasts[j], least(some, open[j]));
        });
        for (std::size_t j = 0; j < open.size(); ++j) minima_[open[j]] = mix(leasts[j]);
    }

    // No branch depends on the data, for none could be predicted.
    void place_first(std::span<const std::uint64_t> hashes) {
        std::uint64_t *const minima = minima_.data();
        const std::size_t size = minima_.size();
        for (const std::uint64_t hash : hashes) {
            const std::size_t group = ((hash >> 32) * size) >> 32;
            const std::uint64_t value = hash >> (64 - RANK_BITS), before = minima[group];
            minima[group] = value < before ? value : before;
        }
    }

    void place_again(std::span<const std::uint64_t> hashes, std::uint64_t round) {
        const std::size_t size = minima_.size();
        prepare(hashes.data(), hashes.size(), round, mix(seed_ + round), size, values_.data(), groups_.data());
        for (std::size_t i = 0; i < hashes.size(); ++i) {
            const std::uint64_t value = values_[i], before = minima_[groups_[i]];
            minima_[groups_[i]] = value < before ? value : before;
        }
    }

    // Value and group of each shingle in a later round.
    NEARLY_CLONES static void prepare(const std::uint64_t *hashes, std::size_t count, std::uint64_t round,
                                      std::uint64_t key, std::uint64_t size, std::uint64_t *values,
                                      std::uint32_t *groups) {
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint64_t hash = mix(hashes[i] ^ key);
            values[i] = round << RANK_BITS | hash >> (64 - RANK_BITS);
            groups[i] = static_cast<std::uint32_t>(((hash >> 32) * size) >> 32);
        }
    }

    // The same, where few groups are open and most shingles fall into others. The hashes of a group
    // are those from some number to another: the least of them is the least distance from the first.
    void fill_open(std::span<const std::uint64_t> hashes, std::uint64_t round) {
        hash_again(hashes.data(), hashes.size(), mix(seed_ + round), values_.data());
        for (std::size_t i = 0; i < minima_.size(); ++i) {
            if (minima_[i] != NONE) continue;
            const std::uint64_t first = first_of(i), beyond = first_of(i + 1);
            const std::uint64_t distance = least_distance(values_.data(), hashes.size(), first);
            if (distance < beyond - first) minima_[i] = round << RANK_BITS | (first + distance) >> (64 - RANK_BITS);
        }
    }

    // The first hash of a group; modulo 2^64, as differences are.
    std::uint64_t first_of(std::uint64_t group) const {
        return ((group << 32) + minima_.size() - 1) / minima_.size() << 32;
    }

    NEARLY_CLONES static void hash_again(const std::uint64_t *hashes, std::size_t count, std::uint64_t key,
                                         std::uint64_t *again) {
        for (std::size_t i = 0; i < count; ++i) again[i] = mix(hashes[i] ^ key);
    }

    NEARLY_CLONES static std::uint64_t least_distance(const std::uint64_t *hashes, std::size_t count,
                                                      std::uint64_t from) {
        std::uint64_t least = NONE;
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint64_t distance = hashes[i] - from;
            least = distance < least ? distance : least;
        }
        return least;
    }

    // The least of all shingles under a permutation of the group's own.
    std::uint64_t least(std::span<const std::uint64_t> hashes, std::uint64_t group) const {
        const std::uint64_t factor = mix(seed_ ^ mix(2 * group + 1)) | 1, term = mix(seed_ ^ mix(2 * group + 2));
        return least_product(hashes.data(), hashes.size(), factor, term);
    }

    NEARLY_CLONES static std::uint64_t least_product(const std::uint64_t *hashes, std::size_t count,
                                                     std::uint64_t factor, std::uint64_t term) {
        std::uint64_t least = NONE;
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint64_t value = factor * hashes[i] + term;
            least = value < least ? value : least;
        }
        return least;
    }
};

inline std::size_t sketch_words(std::size_t positions) { return (positions + 31) / 32; }

// What is kept of a signature: of each band a key, 32 bits of a hash of its rows; and the sketch, two
// bits of every position, thirty-two positions a word, enough to tell how many agree.
class Keeper {
  public:
    Keeper(std::size_t bands, std::size_t rows) : bands_(bands), factors_(rows) {
        std::uint64_t factor = GOLDEN;
        for (std::uint64_t &mine : factors_) mine = factor, factor *= WORD_BASE;
    }

    void operator()(std::span<const std::uint32_t> signature, std::uint32_t *keys, std::uint64_t *words) const {
        make_keys(signature.data(), bands_, factors_.data(), factors_.size(), keys);
        make_sketch(signature.data(), signature.size(), words);
    }

  private:
    std::size_t bands_;
    std::vector<std::uint64_t> factors_;

    NEARLY_CLONES static void make_keys(const std::uint32_t *signature, std::size_t bands, const std::uint64_t *factors,
                                        std::size_t rows, std::uint32_t *keys) {
        for (std::size_t b = 0; b < bands; ++b) {
            std::uint64_t sum = 0;
            for (std::size_t j = 0; j < rows; ++j) sum += (signature[b * rows + j] + 1ull) * factors[j];
            keys[b] = static_cast<std::uint32_t>(mix(sum) >> 32);
        }
    }

    NEARLY_CLONES static void make_sketch(const std::uint32_t *signature, std::size_t positions, std::uint64_t *words) {
        for (std::size_t start = 0; start < positions; start += 32) {
            const std::size_t end = std::min<std::size_t>(32, positions - start);
            std::uint64_t word = 0;
            for (std::size_t i = 0; i < end; ++i) word |= static_cast<std::uint64_t>(signature[start + i] & 3) << (2 * i);
            words[start / 32] = word;
        }
    }
};

}  // namespace nearly
