// The limit of a Bloom filter in blocks: each key reads and writes one word of its block, and no more.
#include <cstddef>
#include <cstdint>

extern "C" void touch(std::uint64_t *words, std::uint64_t blocks, const std::uint64_t *numbers, std::size_t count) {
    constexpr std::size_t AHEAD = 24;
    const auto word = [&](std::size_t i) {
        std::uint64_t x = numbers[i];
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
        x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
        x ^= x >> 31;
        return words + 8 * static_cast<std::uint64_t>((static_cast<unsigned __int128>(x) * blocks) >> 64);
    };
    for (std::size_t i = 0; i < count; ++i) {
        if (i + AHEAD < count) __builtin_prefetch(word(i + AHEAD), 1);
        *word(i) |= numbers[i];
    }
}
