// Documents that wait to become a segment of an index, shown as one in memory whenever it is asked for. They come one
// by one or many at a time; what has an order keeps it, so that one more costs little.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "content.hpp"
#include "hashing.hpp"
#include "segment.hpp"

namespace nearly {

struct WaitingDocument {
    std::uint64_t number;
    Content digest;
    std::uint32_t size;  // of its content; what is empty shares no bucket
    std::span<const std::uint32_t> keys;
    std::span<const std::uint64_t> sketch;
    bool is_known;  // another segment holds its content
};

// Columns one after the other, as the file of a segment has them.
class Image {
  public:
    struct Column {
        const char *name, *kind;
        std::size_t start, count;
    };

    // Where a column will stand; all of them are laid before the first is filled.
    template <typename T> std::size_t lay(const char *name, const char *kind, std::size_t count) {
        const std::size_t start = (size_ + ALIGNED - 1) / ALIGNED * ALIGNED;
        columns_.push_back({name, kind, start, count});
        size_ = start + count * sizeof(T);
        return start;
    }

    template <typename T> T *column(std::size_t start) {
        if (data_.empty()) data_.resize(size_);
        return reinterpret_cast<T *>(data_.data() + start);
    }

    const std::vector<Column> &columns() const { return columns_; }
    std::vector<std::uint8_t> &data() { return data_; }

  private:
    static constexpr std::size_t ALIGNED = 64;
    std::vector<Column> columns_;
    std::vector<std::uint8_t> data_;
    std::size_t size_ = ALIGNED;
};

class Waiting {
  public:
    Waiting(std::size_t bands, std::size_t width, bool has_numbers)
        : bands_(bands), width_(width), has_numbers_(has_numbers), runs_(bands) {}

    // Whether its text is the next that is held: not where it is known, or an earlier document has the same.
    bool add(const WaitingDocument &document, std::int64_t id) {
        if (!has_numbers_) throw std::invalid_argument("ids are strings");
        check(document);
        ids_.push_back(id);
        const auto word = static_cast<std::uint64_t>(id);
        return take(document, {word, word * GOLDEN});  // numbers stand for themselves
    }
    bool add(const WaitingDocument &document, std::string_view id) {
        if (has_numbers_) throw std::invalid_argument("ids are whole numbers");
        check(document);
        names_.emplace_back(id);
        return take(document, hash_content(reinterpret_cast<const std::uint8_t *>(id.data()), id.size()));
    }

    bool has_numbers() const { return has_numbers_; }
    std::size_t bands() const { return bands_; }
    std::size_t documents() const { return numbers_.size(); }
    std::size_t contents() const { return contents_.size(); }
    std::size_t keyed() const { return bands_ == 0 ? 0 : runs_.front().entries.size(); }

    Image image() {
        settle();
        Image image;
        const std::size_t held = held_, count = contents(), all = documents();
        const std::size_t buckets = image.lay<std::uint32_t>("buckets", "<u4", 2 * keyed() * bands_);
        const std::size_t sketches = image.lay<std::uint64_t>("sketches", "<u8", count * width_);
        const std::size_t content_high = image.lay<std::uint64_t>("content_high", "<u8", count);
        const std::size_t content_low = image.lay<std::uint64_t>("content_low", "<u8", count);
        const std::size_t sizes = image.lay<std::uint32_t>("sizes", "<u4", count);
        const std::size_t texts = image.lay<std::uint32_t>("texts", "<u4", count);
        const std::size_t starts = image.lay<std::uint32_t>("starts", "<u4", count + 1);
        const std::size_t numbers = image.lay<std::uint64_t>("numbers", "<u8", all);
        const std::size_t id_high = image.lay<std::uint64_t>("id_high", "<u8", all);
        const std::size_t id_low = image.lay<std::uint64_t>("id_low", "<u8", all);
        const std::size_t id_of = image.lay<std::uint32_t>("id_of", "<u4", all);
        const std::size_t ids = lay_ids(image);
        const std::size_t id_bytes = has_numbers_ ? 0 : image.lay<std::uint8_t>("id_bytes", "|u1", bytes_of_names());
        const std::size_t block_firsts = image.lay<std::uint32_t>("block_firsts", "<u4", held + 1);
        for (const char *none : {"blocks", "lengths", "block_places"}) image.lay<std::uint8_t>(none, "|u1", 0);

        put_buckets(image.column<std::uint32_t>(buckets));
        std::uint32_t *const start = image.column<std::uint32_t>(starts);
        std::vector<std::uint32_t> by_content(all);
        auto next = by_content.begin();
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint32_t content = by_digest_[i];
            const Entry &entry = contents_[content];
            if (width_ != 0)
                std::memcpy(image.column<std::uint64_t>(sketches) + i * width_, sketches_.data() + content * width_,
                            width_ * 8);
            image.column<std::uint64_t>(content_high)[i] = entry.digest.high;
            image.column<std::uint64_t>(content_low)[i] = entry.digest.low;
            image.column<std::uint32_t>(sizes)[i] = entry.size;
            image.column<std::uint32_t>(texts)[i] = entry.text;
            start[i] = static_cast<std::uint32_t>(next - by_content.begin());
            next = std::ranges::copy(entry.documents, next).out;
        }
        start[count] = static_cast<std::uint32_t>(all);
        std::vector<std::uint32_t> places(all);
        for (std::uint32_t i = 0; i < all; ++i) {
            places[by_content[i]] = i;
            image.column<std::uint64_t>(numbers)[i] = numbers_[by_content[i]];
        }
        for (std::size_t i = 0; i < all; ++i) {
            image.column<std::uint64_t>(id_high)[i] = id_digests_[by_id_[i]].high;
            image.column<std::uint64_t>(id_low)[i] = id_digests_[by_id_[i]].low;
            image.column<std::uint32_t>(id_of)[i] = places[by_id_[i]];
        }
        put_ids(by_content, image.column<std::int64_t>(ids), image.column<std::uint8_t>(id_bytes));
        std::iota(image.column<std::uint32_t>(block_firsts), image.column<std::uint32_t>(block_firsts) + held + 1, 0);
        return image;
    }

  private:
    static constexpr std::uint32_t NOWHERE = std::numeric_limits<std::uint32_t>::max();
    struct Entry {
        Content digest;
        std::uint32_t size, text;
        std::vector<std::uint32_t> documents;
    };
    struct Hash {
        std::size_t operator()(const Content &digest) const { return digest.high; }
    };
    // The entries of a band: the key in the upper half, the content in the lower. Those before `settled` are in order.
    struct Band {
        std::vector<std::uint64_t> entries;
        std::size_t settled = 0;
    };

    std::size_t bands_, width_;
    bool has_numbers_;
    std::uint32_t held_ = 0;
    std::vector<Entry> contents_;  // as they came, like documents
    std::unordered_map<Content, std::uint32_t, Hash> known_;
    std::vector<std::uint64_t> sketches_, numbers_;
    std::vector<Content> id_digests_;
    std::vector<std::int64_t> ids_;
    std::vector<std::string> names_;
    std::vector<std::uint32_t> by_digest_, by_id_;  // contents and documents in the order of their digests
    std::size_t settled_contents_ = 0, settled_ids_ = 0;            // of these, how many are in order
    std::vector<Band> runs_;

    void check(const WaitingDocument &document) const {
        if (document.keys.size() != bands_ || document.sketch.size() != width_)
            throw std::invalid_argument("documents were signed otherwise");
    }

    bool take(const WaitingDocument &document, Content id_digest) {
        const auto [at, is_new] = known_.try_emplace(document.digest, static_cast<std::uint32_t>(contents_.size()));
        const std::uint32_t content = at->second;
        const bool is_held = is_new && !document.is_known;
        if (is_new) {
            contents_.push_back({document.digest, document.size, is_held ? held_++ : NOWHERE, {}});
            sketches_.insert(sketches_.end(), document.sketch.begin(), document.sketch.end());
            by_digest_.push_back(content);
        }
        if (is_held && document.size > 0)
            for (std::size_t band = 0; band < bands_; ++band)
                runs_[band].entries.push_back(std::uint64_t{document.keys[band]} << 32 | content);
        const auto number = static_cast<std::uint32_t>(numbers_.size());
        contents_[content].documents.push_back(number);
        numbers_.push_back(document.number);
        id_digests_.push_back(id_digest);
        by_id_.push_back(number);
        return is_held;
    }

    static bool before(const Content &a, const Content &b) { return a.high != b.high ? a.high < b.high : a.low < b.low; }

    // Puts what came since the last time where it belongs.
    void settle() {
        settle(by_digest_, settled_contents_,
               [&](std::uint32_t a, std::uint32_t b) { return before(contents_[a].digest, contents_[b].digest); });
        settle(by_id_, settled_ids_,
               [&](std::uint32_t a, std::uint32_t b) { return before(id_digests_[a], id_digests_[b]); });
        for (Band &band : runs_)
            settle(band.entries, band.settled, [&](std::uint64_t a, std::uint64_t b) {
                if (a >> 32 != b >> 32) return a >> 32 < b >> 32;
                return before(contents_[static_cast<std::uint32_t>(a)].digest, contents_[static_cast<std::uint32_t>(b)].digest);
            });
    }

    template <typename T, class Before> static void settle(std::vector<T> &values, std::size_t &settled, Before &&before) {
        const auto fresh = values.begin() + static_cast<std::ptrdiff_t>(settled);
        std::sort(fresh, values.end(), before);
        std::inplace_merge(values.begin(), fresh, values.end(), before);
        settled = values.size();
    }

    void put_buckets(std::uint32_t *out) const {
        std::vector<std::uint32_t> ranks(contents());
        for (std::uint32_t i = 0; i < ranks.size(); ++i) ranks[by_digest_[i]] = i;
        for (const Band &band : runs_) {
            for (const std::uint64_t entry : band.entries) *out++ = static_cast<std::uint32_t>(entry >> 32);
            for (const std::uint64_t entry : band.entries) *out++ = ranks[static_cast<std::uint32_t>(entry)];
        }
    }

    std::size_t lay_ids(Image &image) const {
        return has_numbers_ ? image.lay<std::int64_t>("id_numbers", "<i8", documents())
                            : image.lay<std::int64_t>("id_offsets", "<i8", documents() + 1);
    }

    std::size_t bytes_of_names() const {
        return std::accumulate(names_.begin(), names_.end(), std::size_t{0},
                               [](std::size_t sum, const std::string &name) { return sum + name.size(); });
    }

    void put_ids(std::span<const std::uint32_t> documents, std::int64_t *out, std::uint8_t *bytes) const {
        if (has_numbers_) {
            for (const std::uint32_t document : documents) *out++ = ids_[document];
            return;
        }
        std::int64_t size = 0;
        for (const std::uint32_t document : documents) {
            const std::string &name = names_[document];
            *out++ = size;
            std::memcpy(bytes + size, name.data(), name.size());
            size += static_cast<std::int64_t>(name.size());
        }
        *out = size;
    }
};

}  // namespace nearly
