// Joins by edit distance.
#include "exercise.hpp"

#include "edit_index.hpp"

using namespace nearly;

// Distances by the definition: what is no part of the longest common subsequence.
static std::uint32_t plain_distance(Points a, Points b) {
    std::vector<std::uint32_t> row(b.size() + 1), above;
    for (const char32_t c : a) {
        above = row;
        for (std::size_t j = 0; j < b.size(); ++j) row[j + 1] = c == b[j] ? above[j] + 1 : std::max(above[j + 1], row[j]);
    }
    return static_cast<std::uint32_t>(a.size() + b.size() - 2 * row.back());
}

std::uint64_t exercise_edits(const Texts &given, std::uint32_t edits, std::uint32_t rate) {
    const EditTexts texts(given);
    const Allowance allowed{edits, rate, 100};
    std::vector<std::uint64_t> true_pairs;
    for (std::size_t j = 0; j < texts.size(); ++j)
        for (std::size_t i = 0; i < j; ++i)
            if (plain_distance(texts[i], texts[j]) <= allowed(texts[i].size(), texts[j].size()))
                true_pairs.push_back(std::uint64_t{texts.place(i)} << 32 | texts.place(j));
    const EditIndex index(texts, allowed);
    EditPairs found = EditProbe(index, texts)(0, texts.size(), ~std::size_t{0});
    std::ranges::sort(true_pairs);
    std::vector<std::uint64_t> pairs = found.pairs;
    std::ranges::sort(pairs);
    require(pairs == true_pairs, "segments find what a comparison of all finds");
    const EditTexts others(given);
    const EditPairs across = EditProbe(index, others)(0, others.size(), ~std::size_t{0});
    require(across.pairs.size() == 2 * pairs.size() + texts.size(), "across, each pair is met from both sides");
    std::vector<std::uint32_t> first, second;
    for (const std::uint64_t pair : found.pairs) first.push_back(static_cast<std::uint32_t>(pair >> 32)), second.push_back(static_cast<std::uint32_t>(pair));
    require(edit_distances(texts, first, second, allowed) == found.distances, "distances are the same however they are found");
    return pairs.size() + std::accumulate(found.distances.begin(), found.distances.end(), std::uint64_t{0});
}
