// One question about a text, from the text to documents that are near: signed, met in all segments, and compared.
// What is not plain is left to others: long texts, and those that are perhaps not in their normal form.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <tuple>
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

// What a question meets and agrees with in all segments.
struct MetInAll {
    std::vector<NearContent> contents;
    std::uint64_t left_out = 0;  // members of crowded buckets that were not looked at
};

inline bool is_before(const Content &a, const Content &b) { return a.high != b.high ? a.high < b.high : a.low < b.low; }

// What a question meets where buckets are crowded. Of such a bucket the members with the least digests are looked at, in
// whichever segments they are. Of these, what met in crowded buckets alone, and agrees, fills what else is to be compared
// up to as many as one bucket may have.
class CrowdedMeeting {
  public:
    CrowdedMeeting(std::span<const Shown> shown, const Question &question, Meeting meeting)
        : shown_(shown), question_(question), meeting_(meeting) {}

    MetInAll meet() {
        for (std::vector<Member> &bucket : buckets()) thin(bucket);
        add_copy();
        keep_once();
        keep_agreeing();
        keep_few();
        for (const Member &member : members_) {
            const Content digest = digest_of(member);
            found_.contents.push_back({member.segment, member.content, digest, digest == question_.digest ? 1.0 : -1.0});
        }
        return std::move(found_);
    }

  private:
    struct Member {
        std::uint32_t segment, content;
        bool is_of_crowd;  // met in crowded buckets alone
        auto place() const { return std::pair(segment, content); }
    };
    std::span<const Shown> shown_;
    const Question &question_;
    Meeting meeting_;
    MetInAll found_;
    std::vector<Member> members_;

    Content digest_of(const Member &member) const { return shown_[member.segment].segment->digest_of(member.content); }

    // The bucket of each band in all segments; of each segment one more than is looked at, which tells a crowd.
    std::vector<std::vector<Member>> buckets() {
        const std::size_t bands = question_.keys.size();
        std::vector<std::vector<Member>> buckets(bands);
        for (std::uint32_t i = 0; i < shown_.size(); ++i) {
            const Met met = shown_[i].segment->meet({question_.keys, 1, bands}, 0, bands, meeting_.most + 1,
                                                    shown_[i].dead_contents, false);
            found_.left_out += met.left_out;
            for (std::size_t j = 0; j < met.pairs.size(); ++j)
                buckets[met.bands[j]].push_back({i, static_cast<std::uint32_t>(met.pairs[j]), false});
        }
        return buckets;
    }

    // The first members of a bucket by their digests.
    void thin(std::vector<Member> &bucket) {
        const bool is_crowded = bucket.size() > meeting_.most;
        if (is_crowded) {
            if (bucket.front().segment != bucket.back().segment) sort_by_digest(bucket);
            found_.left_out += bucket.size() - meeting_.most;
            bucket.resize(meeting_.most);
        }
        for (Member &member : bucket) {
            member.is_of_crowd = is_crowded;
            members_.push_back(member);
        }
    }

    void sort_by_digest(std::vector<Member> &members) const {
        std::vector<std::pair<Content, Member>> keyed;
        for (const Member &member : members) keyed.emplace_back(digest_of(member), member);
        std::sort(keyed.begin(), keyed.end(), [](const auto &a, const auto &b) { return is_before(a.first, b.first); });
        std::ranges::transform(keyed, members.begin(), [](const auto &each) { return each.second; });
    }

    // A copy of the question is found in any crowd.
    void add_copy() {
        constexpr std::uint32_t NOWHERE = ~0u;
        for (std::uint32_t i = 0; i < shown_.size(); ++i)
            for (const std::uint64_t pair : shown_[i].segment->find({&question_.digest, 1}, false)) {
                const auto content = static_cast<std::uint32_t>(pair);
                if (shown_[i].segment->text_of(content) != NOWHERE && !is_in(shown_[i].dead_contents, content))
                    members_.push_back({i, content, false});
            }
    }

    void keep_once() {
        std::ranges::sort(members_, {}, [](const Member &member) { return std::tuple(member.place(), member.is_of_crowd); });
        const auto rest = std::ranges::unique(members_, {}, &Member::place);
        members_.erase(rest.begin(), rest.end());
    }

    void keep_agreeing() {
        std::erase_if(members_, [&](const Member &member) {
            const Segment &segment = *shown_[member.segment].segment;
            return segment.difference(member.content, question_.sketch, 2) > meeting_.most_different;
        });
    }

    void keep_few() {
        const auto crowd = std::ranges::stable_partition(members_, [](const Member &member) { return !member.is_of_crowd; });
        std::vector<Member> few(crowd.begin(), crowd.end());
        members_.erase(crowd.begin(), crowd.end());
        const std::size_t room = meeting_.most - std::min(meeting_.most, members_.size());
        if (few.size() > room) {
            sort_by_digest(few);
            found_.left_out += few.size() - room;
            few.resize(room);
        }
        members_.insert(members_.end(), few.begin(), few.end());
    }
};

// Where no bucket is crowded, nothing is left out.
inline MetInAll meet_in_all(std::span<const Shown> shown, const Question &question, Meeting meeting, bool is_ahead) {
    MetInAll found;
    std::uint64_t fullest = 0;
    for (std::uint32_t i = 0; i < shown.size(); ++i) {
        const Questions one{question.keys, 1, question.keys.size()};
        const Agreeing near = shown[i].segment->agreeing(one, question.sketch, meeting.most, shown[i].dead_contents, 2,
                                                         meeting.most_different, is_ahead);
        fullest += near.fullest + near.left_out;
        if (fullest > meeting.most) return CrowdedMeeting(shown, question, meeting).meet();
        for (std::size_t j = 0; j < near.contents.size(); ++j)
            found.contents.push_back(
                {i, near.contents[j], near.digests[j], near.digests[j] == question.digest ? 1.0 : -1.0});
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
