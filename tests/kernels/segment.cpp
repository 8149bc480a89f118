// Segments of an index.
#include "exercise.hpp"

#include "question.hpp"
#include "segment.hpp"

using namespace nearly;

// A segment of random keys, asked for some that are there and some that are not; then with one bit turned over, which
// has to be seen or not to matter.
std::uint64_t exercise_segment(std::mt19937_64 &random) {
    const std::size_t contents = random() % 700, bands = 1 + random() % 4, width = 1 + random() % 3;
    std::vector<std::uint64_t> words;
    const auto place = [&] { return words.size() * 8; };
    const std::size_t buckets = place();
    std::vector<std::uint32_t> all;
    for (std::size_t band = 0; band < bands; ++band) {
        std::vector<std::uint32_t> keys(contents), owners(contents);
        for (std::uint32_t i = 0; i < contents; ++i) keys[i] = static_cast<std::uint32_t>(random() % 50 * 85'899'345), owners[i] = i;
        const auto entries = sort_by_key(keys, owners);
        if (sort_bands(keys, 1, owners, owners, 0, 1).size() != 2 * entries.size()) std::abort();
        for (const std::uint64_t entry : entries) all.push_back(static_cast<std::uint32_t>(entry >> 32));
        for (const std::uint64_t entry : entries) all.push_back(static_cast<std::uint32_t>(entry));
    }
    all.resize(all.size() + all.size() % 2);
    words.resize(all.size() / 2);
    if (!all.empty()) std::memcpy(words.data(), all.data(), all.size() * 4);
    const std::size_t sketches = place();
    for (std::size_t i = 0; i < contents * width; ++i) words.push_back(random());
    std::vector<std::uint64_t> digests(contents);
    for (std::uint64_t &digest : digests) digest = random() << random() % 60;
    std::ranges::sort(digests);
    const std::size_t high = place();
    words.insert(words.end(), digests.begin(), digests.end());
    const std::size_t low = place();
    words.insert(words.end(), contents, 7);
    const std::size_t starts = place();
    std::vector<std::uint32_t> each(contents + 1);
    std::iota(each.begin(), each.end(), 0);
    words.resize(words.size() + contents / 2 + 1);
    std::memcpy(reinterpret_cast<std::uint8_t *>(words.data()) + starts, each.data(), each.size() * 4);
    auto *bytes = reinterpret_cast<std::uint8_t *>(words.data());
    const std::span<const std::uint8_t> data(bytes, words.size() * 8);
    std::vector<std::uint64_t> sums(count_pages(data.size()));
    for (std::size_t page = 0; page < sums.size(); ++page) sums[page] = page_sum(data, page);
    const SegmentLayout layout{contents, contents, contents, bands, width, buckets, sketches, high, low, high, low,
                               starts, high};
    std::vector<std::uint32_t> keys;
    for (std::size_t i = 0; i < 5 * bands; ++i) keys.push_back(static_cast<std::uint32_t>(random() % 52 * 85'899'345));
    std::vector<Content> sought{{0, 7}, {~0ull, 7}, {random(), 7}};
    for (std::size_t i = 0; i < digests.size(); i += 50) sought.push_back({digests[i], 7});
    const std::vector<std::uint8_t> dead(contents / 8, 0x11);
    const std::vector<std::uint64_t> asked(5 * width, random());
    std::uint64_t digest = 0;
    for (const bool is_flipped : {false, true}) {
        if (is_flipped && !data.empty()) bytes[random() % data.size()] ^= static_cast<std::uint8_t>(1u << random() % 8);
        const Segment segment(data, sums, layout);
        try {
            const Met met = segment.meet({keys, 5, bands}, 0, bands, random() % 9, dead, false);
            const auto differ = segment.differences(met.pairs, asked, 2);
            const Agreeing near = segment.agreeing({std::span(keys).first(bands), 1, bands}, asked, random() % 9, dead, 2,
                                                   static_cast<std::uint32_t>(random() % 64), random() % 2 == 0);
            digest = mix(digest + near.digests.size() + near.fullest + near.left_out);
            digest = mix(digest + segment.owners(sought, dead).numbers.size());
            const Shown shown[] = {{&segment, dead, dead}, {&segment, {}, {}}};
            Question question;
            question.keys.assign(keys.begin(), keys.begin() + bands);
            question.sketch.assign(asked.begin(), asked.begin() + width);
            const Meeting meeting{random() % 2 == 0 ? 100 : 1 + random() % 9, static_cast<std::uint32_t>(random() % 64)};
            auto all = meet_in_all(shown, question, meeting, true);
            if (!all.contents.empty()) all.contents.front().nearness = 0.5;
            digest = mix(digest + all.contents.size() + all.left_out + documents_of(shown, all.contents, true).size());
            const auto first = first_document_of(shown, {digests.empty() ? 0 : digests.front(), 7}, 1.0);
            require(first.has_value() || digests.empty() || is_flipped, "a content has a first document");
            const std::uint64_t told = std::accumulate(differ.begin(), differ.end(), met.left_out + met.pairs.size());
            digest = mix(digest + told + segment.find(sought, false).size());
        } catch (const Damaged &damaged) {
            if (!is_flipped) std::abort();
            digest = mix(digest + damaged.page + segment.pages().damaged().size());
        }
    }
    return digest;
}
