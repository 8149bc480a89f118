// The least that signing can cost: roll a polynomial hash over the bytes and mix it.
//
// Every shingle of k bytes of every document gets its 64-bit hash, and nothing is done with it
// but to fold all of them into one number, so that the compiler cannot leave the work out.

#include <cstddef>
#include <cstdint>

namespace {

constexpr std::uint64_t base = 0x9E3779B97F4A7C15;

std::uint64_t mix(std::uint64_t x) {
    x ^= x >> 32;
    x *= 0xD6E8FEB86659FD93;
    x ^= x >> 32;
    return x;
}

}  // namespace

extern "C" std::uint64_t roll(const unsigned char* bytes, const std::int64_t* offsets,
                              std::size_t documents, std::size_t k) {
    std::uint64_t leaving = 1;  // base to the power of k: the weight of the byte that leaves
    for (std::size_t i = 0; i < k; ++i) leaving *= base;
    std::uint64_t folded = 0;
    for (std::size_t document = 0; document < documents; ++document) {
        const unsigned char* at = bytes + offsets[document];
        const unsigned char* end = bytes + offsets[document + 1];
        if (static_cast<std::size_t>(end - at) < k) continue;
        std::uint64_t hash = 0;
        for (std::size_t i = 0; i < k; ++i) hash = hash * base + *at++;
        folded ^= mix(hash);
        for (; at != end; ++at) {
            hash = hash * base + *at - leaving * *(at - k);
            folded ^= mix(hash);
        }
    }
    return folded;
}
