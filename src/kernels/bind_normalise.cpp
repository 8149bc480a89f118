// Text normalisation for Python: the offsets and bytes of an Arrow large_string in and out.
#include <nanobind/stl/string_view.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "names.hpp"
#include "normal_form.hpp"
#include "normalise.hpp"
#include "utf8.hpp"

namespace nearly::normalise {

using Offsets = Column<std::int64_t>;
using Text = Column<Byte>;

static nb::tuple normalise_texts(const Offsets &offsets, const Text &text, const Options &options,
                                 std::string_view stop_words) {
    const Texts texts = texts_of(offsets, text);
    std::unique_ptr<std::int64_t[]> ends(new std::int64_t[texts.size() + 1]);
    Bytes out(static_cast<std::size_t>(texts.offsets.back() - texts.offsets.front()) + Normaliser::room);
    {
        nb::gil_scoped_release unlocked;
        StopWords removed(stop_words, options.fold_case);
        Normaliser normaliser(options, removed, out);
        ends[0] = 0;
        for (std::size_t i = 0; i < texts.size(); ++i) {
            normaliser.document(texts[i].data(), texts[i].data() + texts[i].size());
            ends[i + 1] = static_cast<std::int64_t>(out.size);
        }
    }
    return nb::make_tuple(give(std::move(ends), texts.size() + 1), give(std::move(out)));
}

static nb::ndarray<nb::numpy, Byte> settled_texts(const Offsets &offsets, const Text &text,
                                                  std::string_view form) {
    const Texts texts = texts_of(offsets, text);
    const std::uint16_t unsettled = unsettled_in(form);
    std::vector<Byte> answers(texts.size());
    {
        nb::gil_scoped_release unlocked;
        for (std::size_t i = 0; i < texts.size(); ++i)
            answers[i] = static_cast<Byte>(settled(texts[i].data(), texts[i].data() + texts[i].size(), unsettled));
    }
    return give(std::move(answers));
}

static auto pieces_of_text(const Text &text, std::string_view form, std::size_t size) {
    const std::uint16_t unsettled = unsettled_in(form);
    std::vector<std::int64_t> ends;
    {
        nb::gil_scoped_release unlocked;
        ends = ends_of_pieces(text.data(), text.data() + text.size(), unsettled, size);
    }
    return give(std::move(ends));
}

static auto mark_runs_of_text(const Text &text, std::size_t most) {
    std::vector<std::int64_t> bounds;
    {
        nb::gil_scoped_release unlocked;
        bounds = mark_runs(text.data(), text.data() + text.size(), most);
    }
    const std::size_t runs = bounds.size() / 2;
    return give(std::move(bounds), {runs, 2});
}

static bool texts_are_utf8(const Offsets &offsets, const Text &text) {
    const Texts texts = texts_of(offsets, text);
    nb::gil_scoped_release unlocked;
    return are_utf8(texts);
}

}  // namespace nearly::normalise

void nearly::bind_normalise(nanobind::module_ &m) {
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
    m.def("are_utf8", &texts_are_utf8, "offsets"_a, "text"_a);
    m.def("settled", &settled_texts, "offsets"_a, "text"_a, "form"_a);
    m.def("ends_of_pieces", &pieces_of_text, "text"_a, "form"_a, "size"_a);
    m.def("mark_runs", &mark_runs_of_text, "text"_a, "most"_a);
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
