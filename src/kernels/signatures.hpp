// MinHash signatures of a set of shingle hashes, and what the pipeline keeps of them. A signer takes
// all hashes at once; or, where there are too many, whatever calls its argument with some at a time.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
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

// One permutation: the upper half of a shingle's hash says its group, the lower half its value there.
// Groups left empty are filled by further rounds, in which both halves are multiplied by numbers of the
// round, and a shingle takes its place only in groups that were empty until then; a group that is open after
// the last round takes the least of all shingles (after Dahlgaard, Knudsen, Thorup: Fast Similarity
// Sketching). Every position agrees with probability equal to the Jaccard similarity, however small the sets
// are. Halves are multiplied modulo 2^32 by odd numbers: sixteen at a time where registers are wide.
class OnePermutationSigner {
  public:
    OnePermutationSigner(std::size_t size, std::uint64_t seed)
        : key_(mix(seed ^ GOLDEN)), minima_(size), again_(padded(size)), open_(size + LANES), factors_(padded(size)),
          terms_(padded(size)), open_factors_(padded(size)), open_terms_(padded(size)) {
        for (std::size_t i = 0; i < size; ++i) {
            const std::uint64_t drawn = mix(key_ ^ mix(i + 1));
            factors_[i] = static_cast<std::uint32_t>(drawn >> 32) | 1;
            terms_[i] = static_cast<std::uint32_t>(drawn);
        }
    }

    void operator()(std::span<const std::uint64_t> hashes, std::span<std::uint32_t> signature) {
        const auto each = [hashes](auto &&receive) {
            for (std::size_t start = 0; start < hashes.size(); start += BLOCK)
                receive(hashes.subspan(start, std::min(BLOCK, hashes.size() - start)));
        };
        std::ranges::fill(minima_, OPEN);
        each([this](std::span<const std::uint64_t> some) { place_first(some); });
        fill_open(each);
        scramble(minima_.data(), minima_.size(), signature.data());
    }

    // A group is rarely open after enough hashes for them to come in stretches, unless most of them
    // repeat others: then the different ones are few, and are taken from here at once.
    void in_stretches(auto &&each, std::span<std::uint32_t> signature) {
        std::ranges::fill(minima_, OPEN);
        each([this](std::span<const std::uint64_t> some) { place_first(some); });
        if (count_open(minima_.data(), minima_.size()) > 0) {
            const std::vector<std::uint64_t> few = different(each);
            if (few.empty())
                fill_open(each);
            else
                fill_open([&few](auto &&receive) { receive(std::span(few)); });
        }
        scramble(minima_.data(), minima_.size(), signature.data());
    }

  private:
    static constexpr std::uint32_t OPEN = std::numeric_limits<std::uint32_t>::max();
    static constexpr std::uint64_t ROUNDS = 3;
    static constexpr std::size_t FEW = 8;       // open groups: each of them looks for its own
    static constexpr std::size_t LANES = 16;    // groups, or shingles, that are looked at in one step
    static constexpr std::size_t TOGETHER = 4;  // open groups that look for their own together
    static constexpr std::size_t BLOCK = 1 << 12;  // hashes that are prepared at once: they stay near the processor
    static constexpr std::size_t MOST_DIFFERENT = 1 << 18;  // hashes that are held to be taken again
    typedef std::uint32_t Lanes __attribute__((vector_size(LANES * sizeof(std::uint32_t))));
    std::uint64_t key_;
    std::vector<std::uint32_t> minima_, again_, open_;                        // by group
    std::vector<std::uint32_t> factors_, terms_, open_factors_, open_terms_;  // of the least of all shingles
    std::vector<std::uint32_t> values_, groups_;                              // by shingle

    static std::size_t padded(std::size_t groups) { return (groups + LANES - 1) / LANES * LANES; }

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

    void place_first(std::span<const std::uint64_t> hashes) {
        prepare(hashes, 0);
        place(hashes.size(), minima_.data());
    }

    // No branch depends on the data, for none could be predicted; what counts the shingles is a quarter of the work
    // unless several are taken in one turn.
    void place(std::size_t count, std::uint32_t *minima) const {
        const std::uint32_t *const values = values_.data(), *const groups = groups_.data();
#pragma GCC unroll 8
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint32_t value = values[i], before = minima[groups[i]];
            minima[groups[i]] = value < before ? value : before;
        }
    }

    // The later rounds, and the least of all shingles for groups that are open after them.
    void fill_open(auto &&each) {
        std::size_t open = count_open(minima_.data(), minima_.size());
        for (std::uint64_t round = 1; open > 0 && round < ROUNDS; ++round)
            open = open <= FEW ? seek(each, round) : place_again(each, round);
        if (open > 0) take_least(each, open);
    }

    // Gives the number of groups that stay open.
    std::size_t place_again(auto &&each, std::uint64_t round) {
        std::ranges::fill(again_, OPEN);
        each([&](std::span<const std::uint64_t> some) {
            prepare(some, round);
            place(some.size(), again_.data());
        });
        return fill_from(minima_.data(), again_.data(), minima_.size());
    }

    // The same, where few groups are open and most shingles fall into others.
    std::size_t seek(auto &&each, std::uint64_t round) {
        const std::size_t open = list_open();
        std::fill_n(again_.begin(), open, OPEN);
        each([&](std::span<const std::uint64_t> some) {
            prepare(some, round);
            std::fill_n(groups_.data() + some.size(), padded(some.size()) - some.size(), OPEN);  // no group
            least_of_groups(values_.data(), groups_.data(), some.size(), open_.data(), again_.data(), open);
        });
        std::size_t left = 0;
        for (std::size_t j = 0; j < open; ++j) {
            minima_[open_[j]] = again_[j];
            left += again_[j] == OPEN;
        }
        return left;
    }

    // The least of all shingles, under a permutation of the group's own. Where most groups are open, all of
    // them are looked at: to put the open ones side by side takes as long as some hashes.
    void take_least(auto &&each, std::size_t open) {
        std::ranges::fill(again_, OPEN);
        if (4 * open > 3 * minima_.size()) {
            least_of_all(each, factors_.data(), terms_.data(), minima_.size());
            fill_from(minima_.data(), again_.data(), minima_.size());
            return;
        }
        list_open();
        for (std::size_t j = 0; j < open; ++j)
            open_factors_[j] = factors_[open_[j]], open_terms_[j] = terms_[open_[j]];
        least_of_all(each, open_factors_.data(), open_terms_.data(), open);
        for (std::size_t j = 0; j < open; ++j) minima_[open_[j]] = again_[j];
    }

    void least_of_all(auto &&each, const std::uint32_t *factors, const std::uint32_t *terms, std::size_t groups) {
        each([&](std::span<const std::uint64_t> some) {
            make_room(some.size());
            take_lower(some.data(), some.size(), values_.data());
            if (groups > FEW) {
                least_products(values_.data(), some.size(), factors, terms, again_.data(), groups);
                return;
            }
            for (std::size_t j = 0; j < groups; ++j)
                again_[j] = std::min(again_[j], least_product(values_.data(), some.size(), factors[j], terms[j]));
        });
    }

    std::size_t list_open() {
#ifdef NEARLY_AVX512
        static const bool is_wide = __builtin_cpu_supports("avx512f");
        if (is_wide) return list_open_wide(minima_.data(), minima_.size(), open_.data());
#endif
        std::size_t open = 0;
        for (std::uint32_t i = 0; i < minima_.size(); ++i) {
            open_[open] = i;
            open += minima_[i] == OPEN;
        }
        return open;
    }

#ifdef NEARLY_AVX512
    // Compilers do not see that this can be done sixteen at a time.
    NEARLY_AVX512 static std::size_t list_open_wide(const std::uint32_t *minima, std::size_t size,
                                                    std::uint32_t *listed) {
        const __m512i none = _mm512_set1_epi32(-1), step = _mm512_set1_epi32(LANES);
        __m512i places = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        std::size_t open = 0;
        for (std::size_t i = 0; i < size; i += LANES) {
            const auto there = static_cast<__mmask16>(size - i < LANES ? (1u << (size - i)) - 1 : 0xFFFF);
            const __m512i some = _mm512_maskz_loadu_epi32(there, minima + i);
            const __mmask16 is_open = _mm512_mask_cmpeq_epi32_mask(there, some, none);
            _mm512_storeu_si512(listed + open, _mm512_maskz_compress_epi32(is_open, places));
            open += static_cast<std::size_t>(std::popcount(is_open));
            places = _mm512_add_epi32(places, step);
        }
        return open;
    }
#endif

    void make_room(std::size_t hashes) {
        if (values_.size() < hashes) values_.resize(padded(hashes)), groups_.resize(padded(hashes));
    }

    // Value and group of each shingle in a round.
    void prepare(std::span<const std::uint64_t> hashes, std::uint64_t round) {
        make_room(hashes.size());
        const std::uint64_t drawn = round == 0 ? 0 : mix(key_ + round);  // whose halves become 1
        multiply(hashes.data(), hashes.size(), static_cast<std::uint32_t>(drawn >> 32) | 1,
                 static_cast<std::uint32_t>(drawn) | 1, minima_.size(), values_.data(), groups_.data());
    }

    NEARLY_CLONES static void multiply(const std::uint64_t *hashes, std::size_t count, std::uint32_t upper,
                                       std::uint32_t lower, std::uint64_t size, std::uint32_t *values,
                                       std::uint32_t *groups) {
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint64_t spread = static_cast<std::uint32_t>(hashes[i] >> 32) * upper;
            values[i] = static_cast<std::uint32_t>(hashes[i]) * lower;
            groups[i] = static_cast<std::uint32_t>((spread * size) >> 32);
        }
    }

    NEARLY_CLONES static void take_lower(const std::uint64_t *hashes, std::size_t count, std::uint32_t *lower) {
        for (std::size_t i = 0; i < count; ++i) lower[i] = static_cast<std::uint32_t>(hashes[i]);
    }

    NEARLY_CLONES static std::size_t count_open(const std::uint32_t *minima, std::size_t size) {
        std::uint32_t open = 0;
        for (std::size_t i = 0; i < size; ++i) open += minima[i] == OPEN;
        return open;
    }

    NEARLY_CLONES static std::size_t fill_from(std::uint32_t *minima, const std::uint32_t *others, std::size_t size) {
        std::uint32_t open = 0;
        for (std::size_t i = 0; i < size; ++i) {
            minima[i] = minima[i] == OPEN ? others[i] : minima[i];
            open += minima[i] == OPEN;
        }
        return open;
    }

    // The least value of each of a few groups, some of them in one look at all shingles. Behind these there is room
    // for whole LANES, where no group is sought.
    NEARLY_CLONES static void least_of_groups(const std::uint32_t *values, const std::uint32_t *groups,
                                              std::size_t count, const std::uint32_t *sought, std::uint32_t *leasts,
                                              std::size_t many) {
        const Lanes none = Lanes{} + OPEN;
        for (std::size_t start = 0; start < many; start += TOGETHER) {
            Lanes least[TOGETHER];
            std::uint32_t mine[TOGETHER];
            for (std::size_t j = 0; j < TOGETHER; ++j) {
                least[j] = none;
                mine[j] = sought[std::min(start + j, many - 1)];
            }
            for (std::size_t i = 0; i < count; i += LANES) {
                Lanes value, group;
                std::memcpy(&value, values + i, sizeof value);
                std::memcpy(&group, groups + i, sizeof group);
                for (std::size_t j = 0; j < TOGETHER; ++j) {
                    const Lanes here = group == mine[j] ? value : none;
                    least[j] = here < least[j] ? here : least[j];
                }
            }
            for (std::size_t j = 0; j < std::min(TOGETHER, many - start); ++j)
                for (std::size_t lane = 0; lane < LANES; ++lane)
                    leasts[start + j] = std::min(leasts[start + j], least[j][lane]);
        }
    }

    NEARLY_CLONES static std::uint32_t least_product(const std::uint32_t *values, std::size_t count,
                                                     std::uint32_t factor, std::uint32_t term) {
        std::uint32_t least = OPEN;
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint32_t value = factor * values[i] + term;
            least = value < least ? value : least;
        }
        return least;
    }

    // The same for many groups, some side by side; there is room for whole LANES of them.
    NEARLY_CLONES static void least_products(const std::uint32_t *values, std::size_t count,
                                             const std::uint32_t *factors, const std::uint32_t *terms,
                                             std::uint32_t *leasts, std::size_t groups) {
        for (std::size_t start = 0; start < groups; start += LANES) {
            Lanes factor, term, least;
            std::memcpy(&factor, factors + start, sizeof factor);
            std::memcpy(&term, terms + start, sizeof term);
            std::memcpy(&least, leasts + start, sizeof least);
#pragma GCC unroll 4
            for (std::size_t i = 0; i < count; ++i) {
                const Lanes value = factor * values[i] + term;
                least = value < least ? value : least;
            }
            std::memcpy(leasts + start, &least, sizeof least);
        }
    }

    // Values in one group tend to be small, and products of one shingle have their low bits from it: the
    // sketch keeps low bits, so a bijection spreads all of them.
    NEARLY_CLONES static void scramble(const std::uint32_t *minima, std::size_t size, std::uint32_t *signature) {
        for (std::size_t i = 0; i < size; ++i) {
            const std::uint32_t product = minima[i] * 0x9E3779B1u;
            signature[i] = product ^ product >> 15;
        }
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
