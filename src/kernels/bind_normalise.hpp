// Text normalisation for Python: the offsets and bytes of an Arrow large_string in and out.
#pragma once
#include <nanobind/stl/string_view.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "arrays.hpp"
#include "normalise.hpp"

namespace nearly::normalise {

using Offsets = Column<std::int64_t>;
using Text = Column<Byte>;

inline Space space_named(std::string_view name) {
    if (name == "keep") return Space::keep;
    if (name == "collapse") return Space::collapse;
    if (name == "drop") return Space::drop;
    throw nb::value_error("space must be keep, collapse or drop");
}

inline std::uint16_t unsettled_in(std::string_view form) {
    if (form == "NFC") return unicode::unsettled_nfc;
    if (form == "NFD") return unicode::unsettled_nfd;
    if (form == "NFKC") return unicode::unsettled_nfkc;
    if (form == "NFKD") return unicode::unsettled_nfkd;
    throw nb::value_error("form must be NFC, NFD, NFKC or NFKD");
}

// Calls `visit(i, first, last)` with the bytes of each text.
template <typename Visit>
void for_each_text(const Offsets &offsets, const Text &text, Visit &&visit) {
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i)
        visit(i, text.data() + offsets.data()[i], text.data() + offsets.data()[i + 1]);
}

// Bytes grow by realloc, so they are freed and not deleted.
inline nb::ndarray<nb::numpy, Byte> handed_over(Bytes &bytes) {
    const std::size_t size = bytes.size;
    Byte *data = bytes.release();
    nb::capsule owner(data, [](void *p) noexcept { std::free(p); });
    return {data, {size}, owner};
}

inline nb::tuple normalise_texts(const Offsets &offsets, const Text &text, const Options &options,
                                 std::string_view stop_words) {
    const std::size_t n = offsets.size() - 1;
    std::unique_ptr<std::int64_t[]> ends(new std::int64_t[n + 1]);
    Bytes out(offsets.data()[n] - offsets.data()[0] + Normaliser::room);
    {
        nb::gil_scoped_release unlocked;
        StopWords removed(stop_words, options.fold_case);
        Normaliser normaliser(options, removed, out);
        ends[0] = 0;
        for_each_text(offsets, text, [&](std::size_t i, const Byte *first, const Byte *last) {
            normaliser.document(first, last);
            ends[i + 1] = static_cast<std::int64_t>(out.size);
        });
    }
    return nb::make_tuple(give(std::move(ends), n + 1), handed_over(out));
}

inline nb::ndarray<nb::numpy, Byte> settled_texts(const Offsets &offsets, const Text &text,
                                                  std::string_view form) {
    const std::size_t n = offsets.size() - 1;
    const std::uint16_t unsettled = unsettled_in(form);
    std::unique_ptr<Byte[]> answers(new Byte[n]);
    {
        nb::gil_scoped_release unlocked;
        for_each_text(offsets, text, [&](std::size_t i, const Byte *first, const Byte *last) {
            answers[i] = static_cast<Byte>(settled(first, last, unsettled));
        });
    }
    return give(std::move(answers), n);
}

}  // namespace nearly::normalise

inline void bind_normalise(nanobind::module_ &m) {
    namespace nb = nanobind;
    using namespace nb::literals;
    using namespace nearly::normalise;

    m.attr("unicode_version") = nearly::unicode::version;
    m.def(
        "is_assigned",
        [](std::uint32_t c) {
            return c <= 0x10FFFF &&
                   !(nearly::unicode::traits_of(c) & nearly::unicode::unassigned);
        },
        "code_point"_a);
    m.def("settled", &settled_texts, "offsets"_a, "text"_a, "form"_a);
    m.def(
        "normalise",
        [](const Offsets &offsets, const Text &text, bool fold_case, bool drop_accents,
           bool drop_digits, bool drop_punctuation, bool keep_mentions, bool words,
           std::string_view space, std::string_view stop_words) {
            const Options options{fold_case,     drop_accents, drop_digits,       drop_punctuation,
                                  keep_mentions, words,        space_named(space)};
            return normalise_texts(offsets, text, options, stop_words);
        },
        "offsets"_a, "text"_a, nb::kw_only(), "fold_case"_a, "drop_accents"_a, "drop_digits"_a,
        "drop_punctuation"_a, "keep_mentions"_a, "words"_a, "space"_a, "stop_words"_a);
}
