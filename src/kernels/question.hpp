// One question about a text, from the text to documents that are near: signed, met in all segments, and compared.
// What is not plain is left to others: long texts, those that are perhaps not in their normal form, crowded buckets.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "content.hpp"
#include "jaccard.hpp"
#include "normal_form.hpp"
#include "normalise.hpp"
#include "segment.hpp"
#include "signatures.hpp"
#include "signing.hpp"

namespace nearly {

// How a text becomes what is compared.
struct TextRules {
    bool is_raw;  // nothing is normalised
    normalise::Options options;
    std::string stop_words;
    std::uint16_t unsettled;  // traits of what may be out of its normal form; 0: none is asked for
    Shingling shingling;
};

struct SigningRules {
    bool is_independent;
    std::size_t bands, rows;
};

// What a question is known by.
struct Question {
    std::size_t size = 0;  // shingles, repeats included
    Content digest{};
    std::vector<std::uint32_t> keys;
    std::vector<std::uint64_t> sketch, set;
};

// One text after the other, in memory that is used again.
class TextReader {
  public:
    TextReader(const TextRules &rules, const SigningRules &signing)
        : rules_(rules), stop_words_(rules.stop_words, rules.options.fold_case),
          normaliser_(rules.options, stop_words_, normal_), shingler_(rules.shingling),
          sign_(signer(signing, rules.shingling)), keeper_(signing.bands, signing.rows),
          signature_(signing.bands * signing.rows), bands_(signing.bands) {}
    TextReader(const TextReader &) = delete;

    // False where the text is not plain.
    bool ask(std::span<const std::uint8_t> text, Question &question) {
        const auto normal = normalised(text);
        if (!normal) return false;
        question.keys.resize(bands_);
        question.sketch.resize(sketch_words(signature_.size()));
        const std::uint8_t *const end = normal->data() + normal->size();
        question.size = std::visit([&](auto &sign) { return sign(*normal, end, signature_); }, sign_);
        question.digest = hash_content(normal->data(), normal->size());
        keeper_(signature_, question.keys.data(), question.sketch.data());
        const std::size_t members = make_set(*normal);
        question.set.assign(set_.data(), set_.data() + members);
        return true;
    }

    void compare_with(Set set) { comparer_.take(set); }

    // A negative number below the threshold; nothing where the text is not plain.
    std::optional<double> similarity(std::span<const std::uint8_t> text, Threshold threshold) {
        const auto normal = normalised(text);
        if (!normal) return std::nullopt;
        const std::size_t size = make_set(*normal);
        return comparer_.similarity({set_.data(), size}, threshold);
    }

  private:
    using Signers = std::variant<SigningShingler<IndependentSigner>, SigningShingler<OnePermutationSigner>>;
    TextRules rules_;
    normalise::StopWords stop_words_;
    normalise::Bytes normal_;
    normalise::Normaliser normaliser_;
    Shingler shingler_;
    Signers sign_;
    Keeper keeper_;
    std::vector<std::uint32_t> signature_;
    std::size_t bands_;
    BucketTable seen_;
    std::vector<std::uint64_t> set_;  // it only grows; a part of it is in use
    Comparer comparer_;

    static Signers signer(const SigningRules &signing, const Shingling &shingling) {
        const std::size_t positions = signing.bands * signing.rows;
        if (signing.is_independent)
            return SigningShingler(Shingler(shingling), IndependentSigner(positions, shingling.seed));
        return SigningShingler(Shingler(shingling), OnePermutationSigner(positions, shingling.seed));
    }

    std::optional<std::span<const std::uint8_t>> normalised(std::span<const std::uint8_t> text) {
        if (shingler_.is_long(text)) return std::nullopt;
        if (rules_.is_raw) return text;
        const std::uint8_t *const begin = text.data(), *const end = begin + text.size();
        if (rules_.unsettled != 0 && normalise::settled(begin, end, rules_.unsettled) != normalise::Settled::yes)
            return std::nullopt;
        normal_.size = 0;
        normaliser_.document(begin, end);
        const std::span<const std::uint8_t> normal(normal_.data, normal_.size);
        if (shingler_.is_long(normal)) return std::nullopt;
        return normal;
    }

    std::size_t make_set(std::span<const std::uint8_t> normal) {
        const auto hashes = shingler_(normal, normal.data() + normal.size());
        if (set_.size() < hashes.size() + 1) set_.resize(hashes.size() + 1);
        return write_once(hashes, seen_, set_.data());
    }
};

// Readers for as many threads as ask at the same time.
class TextReaders {
  public:
    TextReaders(TextRules rules, SigningRules signing) : rules_(std::move(rules)), signing_(signing) {}

    class Lent {
      public:
        Lent(TextReaders &from, std::unique_ptr<TextReader> reader) : from_(from), reader_(std::move(reader)) {}
        Lent(const Lent &) = delete;
        ~Lent() {
            const std::lock_guard guard(from_.mutex_);
            from_.idle_.push_back(std::move(reader_));
        }
        TextReader *operator->() { return reader_.get(); }

      private:
        TextReaders &from_;
        std::unique_ptr<TextReader> reader_;
    };

    Lent lend() {
        {
            const std::lock_guard guard(mutex_);
            if (!idle_.empty()) {
                std::unique_ptr<TextReader> reader = std::move(idle_.back());
                idle_.pop_back();
                return {*this, std::move(reader)};
            }
        }
        return {*this, std::make_unique<TextReader>(rules_, signing_)};
    }

  private:
    TextRules rules_;
    SigningRules signing_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<TextReader>> idle_;
};

// A segment as one commit shows it.
struct Shown {
    const Segment *segment;
    std::span<const std::uint8_t> dead_contents, dead_documents;
};

// What sketches may be asked of: at most `most` members of a bucket, and in how many positions they may differ.
struct Meeting {
    std::size_t most;
    std::uint32_t most_different;
};

// A content of a segment that agrees with a question, and how near it is.
struct NearContent {
    std::uint32_t segment, content;
    Content digest;
    double nearness;
};

// In all segments; nothing where a bucket is crowded, and some members of it would have to be left out.
inline std::optional<std::vector<NearContent>> meet_in_all(std::span<const Shown> shown, const Question &question,
                                                           Meeting meeting, bool is_ahead) {
    std::vector<NearContent> found;
    std::uint64_t fullest = 0;
    for (std::uint32_t i = 0; i < shown.size(); ++i) {
        const Questions one{question.keys, 1, question.keys.size()};
        const Agreeing near = shown[i].segment->agreeing(one, question.sketch, meeting.most, shown[i].dead_contents, 2,
                                                         meeting.most_different, is_ahead);
        fullest += near.fullest + near.left_out;
        if (fullest > meeting.most) return std::nullopt;
        for (std::size_t j = 0; j < near.contents.size(); ++j)
            found.push_back({i, near.contents[j], near.digests[j], near.digests[j] == question.digest ? 1.0 : -1.0});
    }
    return found;
}

struct NearDocument {
    double nearness;
    std::uint64_t number;
    std::uint32_t segment, document;

    // The nearest first, and then in the order of adding.
    bool operator<(const NearDocument &other) const {
        return nearness != other.nearness ? nearness > other.nearness : number < other.number;
    }
};

// The document that came first of those that have a content.
inline std::optional<NearDocument> first_document_of(std::span<const Shown> shown, const Content &digest,
                                                     double nearness) {
    std::optional<NearDocument> first;
    for (std::uint32_t i = 0; i < shown.size(); ++i) {
        const Owners owners = shown[i].segment->owners({&digest, 1}, shown[i].dead_documents);
        for (std::size_t j = 0; j < owners.documents.size(); ++j)
            if (!first || owners.numbers[j] < first->number)
                first = {nearness, owners.numbers[j], i, owners.documents[j]};
    }
    return first;
}

// The documents that have contents which are near enough.
inline std::vector<NearDocument> documents_of(std::span<const Shown> shown, std::span<const NearContent> contents,
                                              bool is_ahead) {
    std::vector<NearDocument> found;
    if (is_ahead)
        for (const NearContent &near : contents)
            for (const Shown &each : shown)
                if (near.nearness >= 0) each.segment->ask_for(near.digest);
    for (const NearContent &near : contents) {
        if (near.nearness < 0) continue;
        for (std::uint32_t i = 0; i < shown.size(); ++i) {
            const Owners owners = shown[i].segment->owners({&near.digest, 1}, shown[i].dead_documents);
            for (std::size_t j = 0; j < owners.documents.size(); ++j)
                found.push_back({near.nearness, owners.numbers[j], i, owners.documents[j]});
        }
    }
    std::sort(found.begin(), found.end());
    return found;
}

}  // namespace nearly
