// Objects of JSON, cut: whole ones, and pieces of JSON in any order.
#include "exercise.hpp"

#include <stdexcept>

#include "json_cut.hpp"

using namespace nearly;

static std::string value_of(std::mt19937_64 &random, int depth) {
    static const std::vector<std::string> scalars{"1",        "-2.5",  "null", "true", "\"a\"", "\"w \\u00e9\\ud83d\\ude00\"", "\"\\\\\"",
                                                  "\"2020\"", "18e99", "\"\""};
    const bool is_object = random() % 2;
    if (depth == 0 || random() % 3 == 0) return scalars[random() % scalars.size()];
    std::string text(1, is_object ? '{' : '[');
    for (std::size_t n = random() % 8; n > 0; --n) {
        if (is_object) text += "\"n\\u006" + std::to_string(random() % 10) + "\" :";
        text += value_of(random, depth - 1) + (n > 1 ? ", " : "");
    }
    return text + (is_object ? '}' : ']');
}

static std::string any_pieces(std::mt19937_64 &random) {
    static const std::vector<std::string> pieces{"{", "}", "[", "]", ",", ":", "\"", "\\", "\"a\":", "1", " ", "\n", "\\ud83d", "\\u00", std::string(1, '\0'), "\xFF"};
    std::string text = "{";
    for (std::size_t n = random() % 30; n > 0; --n) text += pieces[random() % pieces.size()];
    return text;
}

// Everything that an object is made into, or nothing if it is none.
static std::string all_of(CutObject object, std::size_t enough) {
    std::string made;
    try {
        while (object.next(made, enough)) {}
    } catch (const std::invalid_argument &) {
        return {};
    }
    return made;
}

std::uint64_t exercise_json(std::mt19937_64 &random) {
    const bool is_sound = random() % 2;
    const std::size_t depth = random() % 20;
    const std::string deep = std::string(depth, '[') + value_of(random, 3) + std::string(depth, ']');
    const std::string text = is_sound ? "{\"a\":" + deep + ",\"b\":" + value_of(random, 3) + "}" : any_pieces(random);
    const std::vector<std::uint8_t> bytes(text.begin(), text.end());  // a read past them is seen
    Cut cut{random() % 40, random() % 4, random() % 2 == 0, random() % 2 == 0};
    if (random() % 2) cut.left_out.push_back(hash_of_name(std::vector<std::uint8_t>{'"', 'a', '"'}));
    const std::string lines = all_of(CutObject(bytes, cut), 1 + random() % 100);
    require(!is_sound || !lines.empty(), "an object is taken for none");
    for (std::size_t first = 0, last; first < lines.size(); first = last + 1) {
        last = lines.find('\n', first);
        const std::vector<std::uint8_t> line(lines.begin() + static_cast<std::ptrdiff_t>(first), lines.begin() + static_cast<std::ptrdiff_t>(last));
        require(!all_of(CutObject(line, Cut{1 << 20, 0, false, false}), 1000).empty(), "a line is no object");
    }
    return hash_bytes(1, reinterpret_cast<const std::uint8_t *>(lines.data()), lines.size());
}
