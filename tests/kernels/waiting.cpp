// Documents that wait to become a segment.
#include "exercise.hpp"

#include "waiting.hpp"

using namespace nearly;

// Shown as a segment after each, or only at the end: it is the same, byte for byte.
std::uint64_t exercise_waiting(std::mt19937_64 &random) {
    const std::size_t bands = random() % 4, width = random() % 3, documents = random() % 60;
    const bool has_numbers = random() % 2 == 0;
    Waiting often(bands, width, has_numbers), once(bands, width, has_numbers);
    std::vector<std::uint32_t> keys(bands);
    std::vector<std::uint64_t> sketch(width);
    for (std::size_t i = 0; i < documents; ++i) {
        const std::uint64_t content = random() % 20;  // copies are frequent, and so are shared buckets
        for (std::uint32_t &key : keys) key = static_cast<std::uint32_t>(content % 3);
        for (std::uint64_t &word : sketch) word = content * 7;
        const WaitingDocument document{i, {content % 2, content}, static_cast<std::uint32_t>(content % 4), keys, sketch,
                                       content % 5 == 0};
        const auto add = [&](Waiting &to) {
            if (has_numbers) return to.add(document, static_cast<std::int64_t>(random()));
            return to.add(document, std::string(i % 7, 'x') + std::to_string(i));
        };
        const std::mt19937_64 same = random;
        const bool is_held = add(often);
        random = same;
        require(add(once) == is_held, "a text is held once");
        if (i % 3 == 0) (void)often.image();
    }
    Image image = once.image();
    require(often.image().data() == image.data(), "what grew is what is made at once");
    std::uint64_t digest = once.contents() + once.keyed();
    for (const std::uint8_t byte : image.data()) digest = mix(digest + byte);
    return digest;
}
