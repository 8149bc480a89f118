// Questions about texts for Python: a commit that is shown, and what answers one question about it in one call.
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "mapped_segment.hpp"
#include "names.hpp"
#include "question.hpp"

namespace nearly {

// The segments of a commit; holds on to the memory of what is gone, as `hold` does to the segments.
struct ShownSegments {
    std::vector<Column<std::uint8_t>> gone;
    std::vector<Shown> shown;

    void add(const MappedSegment &mapped, Column<std::uint8_t> dead_contents, Column<std::uint8_t> dead_documents) {
        shown.push_back({&mapped.segment, span_of(dead_contents), span_of(dead_documents)});
        gone.push_back(std::move(dead_contents));
        gone.push_back(std::move(dead_documents));
    }
};

struct TextAsker {
    TextReaders readers;
    Threshold threshold;
    Meeting meeting;
    std::size_t bands, width;
};

static void make_asker(TextAsker *self, bool raw, bool fold_case, bool drop_accents, bool drop_digits,
                       bool drop_punctuation, bool keep_mentions, std::string_view space, std::string stop_words,
                       std::string_view form, std::string_view unit, std::size_t k, std::uint64_t seed,
                       std::string_view scheme, std::size_t bands, std::size_t rows, const HashIndex *dropped,
                       std::uint64_t numerator, std::uint64_t denominator, std::size_t most,
                       std::uint32_t most_different) {
    const normalise::Options options{fold_case,     drop_accents,   drop_digits,       drop_punctuation,
                                     keep_mentions, unit == "word", space_named(space)};
    const std::uint16_t unsettled = form == "none" ? 0 : unsettled_in(form);
    TextRules rules{raw, options, std::move(stop_words), unsettled, shingling_of(unit, k, seed, dropped)};
    const SigningRules signing{scheme == "independent", bands, rows};
    new (self) TextAsker{TextReaders(std::move(rules), signing), {numerator, denominator}, {most, most_different}, bands,
                         sketch_words(bands * rows)};
}

// The texts of all that is no copy, read by Python; false where one is not plain.
static bool compare_all(TextAsker &asker, TextReaders::Lent &reader, const ShownSegments &segments,
                        const Question &question, std::vector<NearContent> &met, const nb::callable &read) {
    std::vector<Column<std::uint8_t>> texts;
    std::vector<NearContent *> others;
    for (NearContent &near : met) {
        if (near.nearness >= 0) continue;
        const std::uint32_t place = segments.shown[near.segment].segment->text_of(near.content);
        texts.push_back(nb::cast<Column<std::uint8_t>>(read(near.segment, place)));
        others.push_back(&near);
    }
    if (others.empty()) return true;
    nb::gil_scoped_release release;
    reader->compare_with(question.set);
    for (std::size_t i = 0; i < others.size(); ++i) {
        const std::optional<double> similarity = reader->similarity(span_of(texts[i]), asker.threshold);
        if (!similarity) return false;
        others[i]->nearness = *similarity;
    }
    return true;
}

static void check_signed_alike(const TextAsker &asker, const ShownSegments &segments) {
    for (const Shown &each : segments.shown)
        if (each.segment->bands() != asker.bands || (each.segment->width() != asker.width && each.segment->contents() > 0))
            throw std::invalid_argument("segments were signed otherwise");
}

// False where the text is not plain.
static bool read_question(TextReaders::Lent &reader, const nb::str &text, Question &question) {
    Py_ssize_t size = 0;
    const char *const data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (data == nullptr) {  // it has surrogates
        PyErr_Clear();
        return false;
    }
    nb::gil_scoped_release release;
    return reader->ask({reinterpret_cast<const std::uint8_t *>(data), static_cast<std::size_t>(size)}, question);
}

// What is near enough, or is perhaps, until it is compared.
static MetInAll meet(const TextAsker &asker, const ShownSegments &segments, const Question &question, bool is_ahead) {
    if (question.size == 0) return {};
    nb::gil_scoped_release release;
    return meet_in_all(segments.shown, question, asker.meeting, is_ahead);
}

static nb::object id_of(const ShownSegments &segments, const NearDocument &near) {
    return id_of(*segments.shown[near.segment].segment, near.document);
}

// Ids with similarities, how many were compared, and how many left out; None where the question is not plain.
static nb::object ask_text(TextAsker &asker, const ShownSegments &segments, const nb::str &text,
                           const nb::callable &read) {
    check_signed_alike(asker, segments);
    TextReaders::Lent reader = asker.readers.lend();
    Question question;
    if (!read_question(reader, text, question)) return nb::none();
    const bool is_ahead = waits_for_pages();
    MetInAll met = meet(asker, segments, question, is_ahead);
    if (!compare_all(asker, reader, segments, question, met.contents, read)) return nb::none();
    nb::list found;
    for (const NearDocument &near : documents_of(segments.shown, met.contents, is_ahead))
        found.append(nb::make_tuple(id_of(segments, near), near.nearness));
    return nb::make_tuple(found, met.contents.size(), met.left_out);
}

// The first document of each content that is near to a text, or of its copies alone: number, id, similarity; and
// whether it is a copy, and how many were left out. None where the text is not plain.
static nb::object first_near_text(TextAsker &asker, const ShownSegments &segments, const nb::str &text,
                                  const nb::callable &read) {
    check_signed_alike(asker, segments);
    TextReaders::Lent reader = asker.readers.lend();
    Question question;
    if (!read_question(reader, text, question)) return nb::none();
    nb::list found;
    const auto tell = [&](const Content &digest, double nearness) {
        const auto first = first_document_of(segments.shown, digest, nearness);
        if (first) found.append(nb::make_tuple(first->number, id_of(segments, *first), nearness));
        return first.has_value();
    };
    if (question.size != 0 && tell(question.digest, 1.0)) return nb::make_tuple(found, true, 0);
    MetInAll met = meet(asker, segments, question, waits_for_pages());
    if (!compare_all(asker, reader, segments, question, met.contents, read)) return nb::none();
    for (const NearContent &near : met.contents)
        if (near.nearness >= 0) tell(near.digest, near.nearness);
    return nb::make_tuple(found, false, met.left_out);
}

void bind_question(nb::module_ &m) {
    using namespace nanobind::literals;
    nb::class_<ShownSegments>(m, "ShownSegments")
        .def(nb::init<>())
        .def("add", &ShownSegments::add, "segment"_a, "dead_contents"_a, "dead_documents"_a, nb::keep_alive<1, 2>());
    nb::class_<TextAsker>(m, "TextAsker")
        .def("__init__", &make_asker, nb::kw_only(), "raw"_a, "fold_case"_a, "drop_accents"_a, "drop_digits"_a,
             "drop_punctuation"_a, "keep_mentions"_a, "space"_a, "stop_words"_a, "form"_a, "unit"_a, "k"_a, "seed"_a,
             "scheme"_a, "bands"_a, "rows"_a, "dropped"_a.none(), "numerator"_a, "denominator"_a, "most"_a,
             "most_different"_a, nb::keep_alive<1, 17>())
        .def("ask", &ask_text, "segments"_a, "text"_a, "read"_a)
        .def("first_near", &first_near_text, "segments"_a, "text"_a, "read"_a);
}

}  // namespace nearly
