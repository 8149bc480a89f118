// Texts that have some words in them, as Python sees them.

#include <nanobind/nanobind.h>

#include <stdexcept>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "wanted.hpp"

namespace nearly {

static auto texts_with_words(const Column<std::int64_t> &offsets, const Column<std::uint8_t> &data, const nb::bytes &small,
                             const nb::bytes &capital) {
    if (small.size() != capital.size()) throw std::invalid_argument("small and capital letters differ in size");
    const auto bytes_of = [](const nb::bytes &bytes) {
        return std::span(static_cast<const std::uint8_t *>(bytes.data()), bytes.size());
    };
    const Texts texts = texts_of(offsets, data);
    const Wanted wanted{bytes_of(small), bytes_of(capital)};
    std::vector<std::uint8_t> has;
    {
        nb::gil_scoped_release release;
        has = texts_having(texts, wanted);
    }
    return give(std::move(has));
}

void bind_wanted(nb::module_ &m) {
    using namespace nanobind::literals;
    m.def("texts_having", &texts_with_words, "offsets"_a, "data"_a, "small"_a, "capital"_a);
}

}  // namespace nearly
