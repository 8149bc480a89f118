// Documents that wait to become a segment, for Python.
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>

#include <cstring>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "waiting.hpp"

namespace nearly {

template <typename T> static std::vector<T> words_of(const nb::bytes &bytes) {
    if (bytes.size() % sizeof(T) != 0) throw std::invalid_argument("bytes are no whole number of words");
    std::vector<T> words(bytes.size() / sizeof(T));
    if (!words.empty()) std::memcpy(words.data(), bytes.data(), bytes.size());
    return words;
}

static bool add_document(Waiting &waiting, std::uint64_t number, const nb::object &id, const nb::bytes &digest,
                         std::uint32_t size, const nb::bytes &keys, const nb::bytes &sketch, bool is_known) {
    const std::vector<std::uint64_t> words = words_of<std::uint64_t>(digest);
    if (words.size() != 2) throw std::invalid_argument("a digest is two words");
    const std::vector<std::uint32_t> own_keys = words_of<std::uint32_t>(keys);
    const std::vector<std::uint64_t> own_sketch = words_of<std::uint64_t>(sketch);
    const WaitingDocument document{number, {words[0], words[1]}, size, own_keys, own_sketch, is_known};
    if (waiting.has_numbers()) return waiting.add(document, nb::cast<std::int64_t>(id));
    return waiting.add(document, nb::cast<std::string_view>(id));
}

// Its bytes, the checksums of their pages, and where each column stands.
static auto image_of(Waiting &waiting) {
    Image image = waiting.image();
    nb::dict columns;
    for (const Image::Column &column : image.columns())
        columns[column.name] = nb::make_tuple(column.start, column.count, column.kind);
    std::vector<std::uint64_t> sums(count_pages(image.data().size()));
    for (std::size_t page = 0; page < sums.size(); ++page) sums[page] = page_sum(image.data(), page);
    return std::tuple(give(std::move(image.data())), give(std::move(sums)), columns);
}

void bind_waiting(nb::module_ &m) {
    using namespace nanobind::literals;
    nb::class_<Waiting>(m, "Waiting")
        .def(nb::init<std::size_t, std::size_t, bool>(), "bands"_a, "width"_a, "has_numbers"_a)
        .def("add", &add_document, "number"_a, "id"_a, "digest"_a, "size"_a, "keys"_a, "sketch"_a, "is_known"_a)
        .def("image", &image_of)
        .def_prop_ro("bands", &Waiting::bands)
        .def_prop_ro("contents", &Waiting::contents)
        .def_prop_ro("keyed", &Waiting::keyed)
        .def_prop_ro("documents", &Waiting::documents);
}

}  // namespace nearly
