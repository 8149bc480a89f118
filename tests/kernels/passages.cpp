// Passages: units, runs, rare pairs, alignment, and documents that pass by.
#include "exercise.hpp"

#include "grams.hpp"
#include "near_runs.hpp"
#include "passage.hpp"
#include "runs.hpp"
#include "sieve.hpp"
#include "units.hpp"

using namespace nearly;

// The units of all texts, with a group and a side for each document.
struct Cut {
    passages::Units units;
    std::vector<std::uint64_t> hashes;
    std::vector<std::int64_t> offsets{0};
    std::vector<std::uint32_t> groups, sides;

    Cut(const Texts &texts, const passages::Cut &cut) {
        passages::Cutter cutter(cut, units);
        for (std::size_t i = 0; i < texts.size(); ++i) {
            cutter.document(texts[i]);
            check_places(static_cast<std::size_t>(offsets.back()), texts[i].size());
            offsets.push_back(static_cast<std::int64_t>(units.numbers.size()));
            groups.push_back(static_cast<std::uint32_t>(i - i % 7 / 6));
            sides.push_back(i % 2);
        }
        const std::size_t count = units.text_ends.size() - 1;
        require(static_cast<std::size_t>(units.text_ends.back()) == units.texts.size(), "collected units have gaps");
        for (const std::uint32_t number : units.numbers) {
            require(number < count, "a unit has no text");
            hashes.push_back(mix(number + 1));
        }
    }
    passages::Corpus corpus(bool one_sided) const { return {offsets, hashes, groups, sides, one_sided}; }

    void check_places(std::size_t from, std::size_t most) const {
        for (std::size_t i = from, reached = 0; i < units.numbers.size(); reached = units.ends[i++])
            require(reached <= units.starts[i] && units.starts[i] < units.ends[i] && units.ends[i] <= most, "a unit is out of place");
    }
};

static std::uint64_t find_crowds(const passages::Corpus &corpus, const passages::Winnowing &winnowing,
                                 const std::vector<passages::Crowded> &crowded) {
    std::vector<std::uint64_t> hashes, known;
    std::vector<std::uint32_t> places;
    std::vector<std::uint8_t> follows;
    std::uint64_t digest = 0;
    for (const passages::Crowded &each : crowded) {
        require(each.place + winnowing.k <= corpus[each.document].size(), "a k-gram leaves its document");
        hashes.push_back(each.hash), places.push_back(each.place), follows.push_back(each.follows);
    }
    for (const passages::CrowdPlace &each : passages::Crowds(hashes, places, follows, winnowing)()) {
        require(each.first <= each.last && each.last < crowded.size(), "a place has no k-grams");
        digest = digest * 31 + each.passage + places[each.first] + places[each.last];
    }
    // Where crowds are known beforehand, the same k-grams are crowded.
    known = hashes;
    std::ranges::sort(known);
    known.erase(std::ranges::unique(known).begin(), known.end());
    passages::RunFinder again(corpus, winnowing, {0, known, true});
    require(again.crowded().size() == crowded.size(), "a crowd that is known is lost");
    return digest;
}

// What is found holds, whatever the parameters.
static std::uint64_t find_runs(const passages::Corpus &corpus, const passages::Winnowing &winnowing, std::size_t crowd) {
    passages::RunFinder finder(corpus, winnowing, {crowd, {}, false});
    std::uint64_t digest = 0;
    for (const passages::Run &run : finder.runs()) {
        const auto a = corpus[run.a], b = corpus[run.b];
        require(corpus.compares(run.a, run.b) && run.length >= winnowing.k + winnowing.window - 1, "a run is none");
        require(run.a_start + run.length <= a.size() && run.b_start + run.length <= b.size(), "a run leaves its document");
        require(std::ranges::equal(a.subspan(run.a_start, run.length), b.subspan(run.b_start, run.length)), "a run is not shared");
        digest = digest * 31 + run.a_start + run.b_start + run.length;
    }
    return digest + find_crowds(corpus, winnowing, finder.crowded());
}

static std::uint64_t pair_all(const passages::Corpus &corpus, const passages::Rarity &rarity, std::vector<std::uint64_t> &pairs) {
    std::uint64_t shared = 0, in_parts = 0;
    const auto whole = passages::RarePairs(corpus, rarity.k, rarity.most_documents)(0, 1);
    for (std::size_t i = 0; i < whole.pairs.size(); ++i) {
        const std::uint64_t pair = whole.pairs[i];
        require(corpus.compares(static_cast<std::uint32_t>(pair >> 32), static_cast<std::uint32_t>(pair)), "a pair is not to be compared");
        if (whole.counts[i] >= rarity.least_shared) pairs.push_back(pair);
        shared += whole.counts[i];
    }
    passages::RarePairs finder(corpus, rarity.k, rarity.most_documents);
    for (std::size_t part = 0; part < 3; ++part)
        for (const std::uint32_t count : finder(part, 3).counts) in_parts += count;
    require(shared == in_parts, "parts do not sum up to the whole");
    return shared;
}

// Settings from those that take all to those that take nothing.
constexpr passages::Alignment ALIGNMENTS[] = {
    {2, 160, 0.16f, 0.35f, 40, 180, 40, {160, 0.4f, 60, 0.3f, 3, 15}},
    {9, 3, 0.12f, 0.4f, 1, 5, 9, {5, 0.1f, 1, 0.1f, 0.5f, 100}},
    {~0u, 0, 0, 0, 0, 0, ~0u, {~0u, 0, 0, 0, 0, 1e30f}},
    {0, ~0u, 1, 1, 1e30f, ~0u, 0, {0, 1, 1e30f, 1, 1e30f, 0}},
};

static std::uint64_t align_pairs(const Cut &cut, std::span<const std::uint64_t> pairs) {
    std::vector<std::uint32_t> numbers(cut.hashes.size()), stems;
    std::iota(numbers.begin(), numbers.end(), 0);
    std::vector<float> rarities;
    for (const std::uint64_t hash : cut.hashes) {
        stems.push_back(static_cast<std::uint32_t>(hash));
        rarities.push_back(static_cast<float>(hash % 4));
    }
    const passages::Library library{cut.offsets, cut.hashes, {numbers, cut.units.starts, cut.units.ends, cut.units.begins, stems, rarities}};
    std::vector<std::uint32_t> as, bs;
    for (const std::uint64_t pair : pairs) as.push_back(static_cast<std::uint32_t>(pair >> 32)), bs.push_back(static_cast<std::uint32_t>(pair));
    std::uint64_t digest = 0;
    for (const passages::Alignment &settings : ALIGNMENTS)
        for (const double least_verbatim : {0.0, 0.7, 2.0})
            for (const passages::Passage &each : passages::align_pairs(library, as, bs, settings, least_verbatim)) {
                require(each.a < each.a_end && each.a_end <= library.units(as[each.pair]).size(), "a passage leaves the first document");
                require(each.b < each.b_end && each.b_end <= library.units(bs[each.pair]).size(), "a passage leaves the second document");
                require(each.likeness >= 0 && each.likeness <= 1 && (!each.is_verbatim || each.likeness == 1), "a likeness is none");
                digest = digest * 31 + each.a + each.a_end + each.b + each.b_end;
            }
    return digest;
}

// The first half of the documents stays, the second goes by.
static std::uint64_t sift(const Cut &cut, std::size_t least) {
    const passages::Library library{cut.offsets, cut.hashes, {}};
    const auto count = static_cast<std::uint32_t>(cut.offsets.size() - 1), half = count / 2;
    const std::span<const std::int64_t> staying = std::span(cut.offsets).first(half + 1);
    passages::NearRuns runs(staying, cut.hashes, least);
    passages::SharedGrams grams(staying, cut.hashes, least);
    passages::PassingPairs pairs(staying, cut.hashes, {1 + least % 3, 8, 2});
    std::vector<passages::NearRun> found;
    std::uint64_t digest = 0;
    for (std::uint32_t i = half; i < count; ++i) {
        runs.find(i, library.units(i), found);
        pairs.take(i, library.units(i));
        digest += grams.any(library.units(i));
    }
    for (const passages::NearRun &run : found) {
        require(run.a < half && run.b >= half && run.length >= least, "a near run is none");
        require(run.a_start + run.length <= library.units(run.a).size(), "a near run leaves the first document");
        require(run.b_start + run.length <= library.units(run.b).size(), "a near run leaves the second document");
        digest = digest * 31 + run.a_start + run.b_start + run.length;
    }
    for (const std::uint64_t pair : pairs.pairs()) require(pair >> 32 < half && static_cast<std::uint32_t>(pair) >= half, "a pair is of one side");
    return digest;
}

std::uint64_t exercise_passages(const Texts &texts, bool words, bool folds, std::size_t least) {
    constexpr std::size_t HUGE = ~std::size_t{0};
    const Cut cut(texts, {words, folds});
    std::uint64_t digest = cut.units.numbers.size() + cut.units.texts.size();
    // The first and the last documents share little: these are pairs of all kinds, empty ones among them.
    std::vector<std::uint64_t> pairs;
    for (std::uint64_t i = 0; i + 1 < std::min<std::size_t>(texts.size(), 40); ++i) pairs.push_back(i << 32 | (i + 1));
    for (const bool one_sided : {false, true}) {
        const passages::Corpus corpus = cut.corpus(one_sided);
        for (const std::size_t k : {std::size_t{1}, (least + 1) / 2, least, std::size_t{5000}, HUGE})
            for (const std::size_t crowd : {std::size_t{0}, std::size_t{3}, std::size_t{50}})
                for (const std::size_t window : {std::size_t{1}, least, HUGE}) digest += find_runs(corpus, {k, window}, crowd);
        for (const std::size_t k : {std::size_t{1}, least, HUGE})
            for (const std::size_t most : {std::size_t{0}, std::size_t{8}, std::size_t{50}}) digest += pair_all(corpus, {k, most, least % 4}, pairs);
    }
    pairs.resize(std::min<std::size_t>(pairs.size(), 400));
    return digest + align_pairs(cut, pairs) + sift(cut, least);
}
