// Texts that have some words in them.
#include "exercise.hpp"

#include "wanted.hpp"

using namespace nearly;

// A piece of a text is found in it, wherever the piece was cut out.
std::uint64_t exercise_wanted(const Texts &texts) {
    std::uint64_t digest = 0;
    for (std::size_t i = 0; i < texts.size(); i += 3)
        for (std::size_t size = 1; size <= texts[i].size(); size = size * 3 + 1) {
            const auto piece = texts[i].subspan((texts[i].size() - size) / 2, size);
            const auto has = texts_having(texts, {piece, piece});
            require(has[i] == 1, "a text does not have its own piece");
            digest += static_cast<std::uint64_t>(std::accumulate(has.begin(), has.end(), 0));
        }
    return digest;
}
