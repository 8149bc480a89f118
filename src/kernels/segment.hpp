// A segment of an index, as its file lies in memory: pages that are checked when they are first looked
// at, sorted runs that are searched, and buckets in which questions meet what the segment holds.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <exception>
#include <limits>
#include <numeric>
#include <span>
#include <stdexcept>
#include <vector>

#include "ahead.hpp"
#include "candidates.hpp"
#include "content.hpp"
#include "radix.hpp"
#include "stop.hpp"

namespace nearly {

struct Damaged : std::exception {
    std::size_t page;
    explicit Damaged(std::size_t page) : page(page) {}
    const char *what() const noexcept override { return "a page is damaged"; }
};

constexpr std::size_t PAGE = 4096;
constexpr std::size_t FEW_PAGES = 64;      // are read in one go; of more the system reads ahead by itself
constexpr std::size_t FEW_ENTRIES = 1024;  // are sorted sooner by comparing

inline std::size_t count_pages(std::size_t bytes) { return (bytes + PAGE - 1) / PAGE; }

inline std::uint64_t page_sum(std::span<const std::uint8_t> data, std::size_t page) {
    const std::size_t start = page * PAGE;
    return XXH3_64bits(data.data() + start, std::min(PAGE, data.size() - start));
}

// Bytes whose pages have checksums. A page is compared with its own once, when it is first needed.
class Pages {
  public:
    Pages(std::span<const std::uint8_t> data, std::span<const std::uint64_t> sums)
        : data_(data), sums_(sums), is_sound_(sums.size() / 64 + 1) {
        if (count_pages(data.size()) != sums.size()) throw std::invalid_argument("each page needs one checksum");
    }

    std::span<const std::uint8_t> data() const { return data_; }

    void check_page(std::size_t page) const {
        if (!(is_sound_[page >> 6].load(std::memory_order_relaxed) >> (page & 63) & 1)) look_at(page);
    }

    void check(std::size_t start, std::size_t end) const {
        if (start > end || end > data_.size()) throw std::invalid_argument("a range reaches past the data");
        if (end - start > PAGE && end - start <= FEW_PAGES * PAGE && waits_for_pages())
            read_ahead(data_.data() + start, end - start);
        for (std::size_t page = start / PAGE; page * PAGE < end; ++page) check_page(page);
    }

    // All pages that differ now from what was written, whatever was seen before.
    std::vector<std::uint64_t> damaged() const {
        std::vector<std::uint64_t> found;
        Stop stop;
        for (std::size_t page = 0; page < sums_.size(); ++page) {
            stop.check(PAGE / 8);
            if (page_sum(data_, page) != sums_[page]) found.push_back(page);
        }
        return found;
    }

  private:
    std::span<const std::uint8_t> data_;
    std::span<const std::uint64_t> sums_;
    mutable std::vector<std::atomic<std::uint64_t>> is_sound_;

    // Apart, so that a page that is known to be sound costs next to nothing.
    [[gnu::noinline]] void look_at(std::size_t page) const {
        if (page_sum(data_, page) != sums_[page]) throw Damaged(page);
        is_sound_[page >> 6].fetch_or(1ull << (page & 63), std::memory_order_relaxed);
    }
};

// Numbers that lie in checked pages. A run begins where its numbers are aligned, so none lies in two pages.
template <typename T> class Run {
  public:
    Run(const Pages &pages, std::size_t start, std::size_t count) : pages_(&pages), start_(start), count_(count) {
        const std::size_t size = pages.data().size();
        if (start % sizeof(T) != 0 || start > size || count > (size - start) / sizeof(T))
            throw std::invalid_argument("a run reaches past the data");
    }

    std::size_t size() const { return count_; }
    std::size_t start() const { return start_; }
    void prefetch(std::size_t i) const { __builtin_prefetch(pages_->data().data() + start_ + i * sizeof(T)); }
    void ask_for(std::size_t i, std::size_t count = 1) const {
        read_ahead(pages_->data().data() + start_ + i * sizeof(T), count * sizeof(T));
    }
    Run part(std::size_t from, std::size_t count) const { return {*pages_, start_ + from * sizeof(T), count}; }

    T operator[](std::size_t i) const {
        const std::size_t place = start_ + i * sizeof(T);
        pages_->check_page(place / PAGE);
        return *reinterpret_cast<const T *>(pages_->data().data() + place);
    }

    std::span<const T> checked(std::size_t from, std::size_t count) const {
        const std::size_t place = start_ + from * sizeof(T);
        pages_->check(place, place + count * sizeof(T));
        return {reinterpret_cast<const T *>(pages_->data().data() + place), count};
    }

  private:
    const Pages *pages_;
    std::size_t start_, count_;
};

// The first place of numbers in order that is not below `value`, without a branch that is hard to predict.
template <typename T> std::size_t first_not_below(std::span<const T> numbers, T value) {
    const T *base = numbers.data();
    std::size_t length = numbers.size();
    if (length == 0) return 0;
    while (length > 1) {
        const std::size_t half = length / 2;
        base += half * (base[half - 1] < value);
        length -= half;
    }
    return static_cast<std::size_t>(base - numbers.data()) + (*base < value);
}

// A sorted run of hashes. They are spread evenly, so the place of one is guessed, and mostly it is in the page of the
// guess or next to it: pages that are not in memory cost most.
template <typename T> class SortedRun {
  public:
    SortedRun(const Run<T> &run) : run_(run), before_(run.start() % PAGE / sizeof(T)) {}

    // The first place whose number is not below `value`.
    std::size_t first_not_below(T value) const {
        if (run_.size() == 0) return 0;
        std::size_t low = page_of(guess(value));
        if (run_[begin(low)] < value) {
            if (run_[end(low) - 1] < value) low = search_up(low, value);
        } else {
            if (low == 0 || (low = search_down(low, value)) == NONE_BEFORE) return 0;
        }
        const std::size_t from = begin(low);
        return from + nearly::first_not_below(run_.checked(from, end(low) - from), value);
    }

    // Asks the disk for the page that a search would look at first.
    void ask_for(T value) const {
        if (run_.size() != 0) run_.ask_for(guess(value));
    }

    // The same of the processor.
    void prefetch(T value) const {
        if (run_.size() == 0) return;
        const std::size_t page = page_of(guess(value));
        run_.prefetch(begin(page));
        run_.prefetch((begin(page) + end(page)) / 2);
        run_.prefetch(end(page) - 1);
    }

  private:
    static constexpr std::size_t IN_PAGE = PAGE / sizeof(T);
    static constexpr std::size_t NONE_BEFORE = std::numeric_limits<std::size_t>::max();
    Run<T> run_;
    std::size_t before_;  // numbers that lie before it in its first page

    std::size_t guess(T value) const {
        return static_cast<std::size_t>(static_cast<unsigned __int128>(value) * run_.size() >> 8 * sizeof(T));
    }
    std::size_t pages() const { return page_of(run_.size() - 1) + 1; }
    std::size_t page_of(std::size_t i) const { return (i + before_) / IN_PAGE; }
    std::size_t begin(std::size_t page) const { return page == 0 ? 0 : page * IN_PAGE - before_; }
    std::size_t end(std::size_t page) const { return std::min((page + 1) * IN_PAGE - before_, run_.size()); }

    // The last page that begins below `value`: from one that does, and from one that does not, in steps that double.
    std::size_t search_up(std::size_t low, T value) const {
        std::size_t step = 1;
        for (; low + step < pages() && run_[begin(low + step)] < value; step *= 2) low += step;
        return search_between(low, std::min(low + step, pages()), value);
    }

    std::size_t search_down(std::size_t high, T value) const {
        for (std::size_t step = 1; high > 0; step *= 2) {
            const std::size_t low = high > step ? high - step : 0;
            if (run_[begin(low)] < value) return search_between(low, high, value);
            high = low;
        }
        return NONE_BEFORE;
    }

    std::size_t search_between(std::size_t low, std::size_t high, T value) const {
        while (high - low > 1) {
            const std::size_t middle = low + (high - low) / 2;
            (run_[begin(middle)] < value ? low : high) = middle;
        }
        return low;
    }
};

// Keys in order, each in the upper half of a word with its owner in the lower; owners of one key keep their order.
inline std::vector<std::uint64_t> sort_by_key(std::span<const std::uint32_t> keys,
                                              std::span<const std::uint32_t> owners) {
    std::vector<std::uint64_t> entries(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) entries[i] = std::uint64_t{keys[i]} << 32 | owners[i];
    radix_sort(entries, 32, 64);
    return entries;
}

// The runs of some bands as a segment's file has them: keys in order, then whose they are. `rows` are the rows of
// the matrix that have keys, and `owners` the numbers of these, ascending.
inline std::vector<std::uint32_t> sort_bands(std::span<const std::uint32_t> keys, std::size_t width,
                                             std::span<const std::uint32_t> rows, std::span<const std::uint32_t> owners,
                                             std::size_t from_band, std::size_t to_band) {
    const std::size_t count = rows.size();
    std::vector<std::uint32_t> runs(2 * count * (to_band - from_band));
    std::vector<std::vector<std::uint64_t>> entries(to_band - from_band, std::vector<std::uint64_t>(count));
    for (std::size_t i = 0; i < count; ++i)
        for (std::size_t band = from_band; band < to_band; ++band)
            entries[band - from_band][i] = std::uint64_t{keys[rows[i] * width + band]} << 32 | owners[i];
    Stop stop;
    auto out = runs.begin();
    for (std::vector<std::uint64_t> &band : entries) {
        stop.check(8 * count);
        if (count < FEW_ENTRIES)
            std::sort(band.begin(), band.end());
        else
            radix_sort(band, 32, 64);
        out = std::ranges::transform(band, out, [](std::uint64_t entry) { return entry >> 32; }).out;
        out = std::ranges::transform(band, out, [](std::uint64_t entry) { return static_cast<std::uint32_t>(entry); }).out;
    }
    return runs;
}

// Digests of 128 bits in order, in two columns.
struct Digests {
    Run<std::uint64_t> high, low;

    std::size_t size() const { return high.size(); }

    template <class Receive> void each_equal(Content sought, Receive &&receive) const {
        for (std::size_t at = SortedRun(high).first_not_below(sought.high); at < size() && high[at] == sought.high; ++at)
            if (low[at] == sought.low) receive(at);
    }
};

// What the file holds, and where. The run of a band is its keys, in order, and then whose they are.
struct SegmentLayout {
    std::size_t contents, keyed, documents, bands, width;
    std::size_t buckets, sketches, content_high, content_low, id_high, id_low, starts, numbers;
    std::size_t texts = 0;               // of each content
    std::size_t ids = 0, id_bytes = 0;   // numbers; or, where there are bytes, between which of them each id lies
};

struct Questions {
    std::span<const std::uint32_t> keys;  // one for each band, question by question
    std::size_t count, bands;
};

struct Met {
    std::vector<std::uint64_t> pairs;   // the question in the upper half, the content in the lower
    std::vector<std::uint32_t> bands;   // where they met
    std::uint64_t left_out = 0;         // members of buckets that were not looked at
};

// What one question meets in a segment and agrees with.
struct Agreeing {
    std::vector<std::uint32_t> contents;  // each once, in order
    std::vector<Content> digests;         // theirs
    std::uint64_t fullest = 0;            // members of the bucket that has the most
    std::uint64_t left_out = 0;
};

// Documents that have some contents, which are known by their digests.
struct Owners {
    std::vector<std::uint32_t> places, documents;  // the place of the digest
    std::vector<std::uint64_t> numbers;            // in the order of adding
};

// Whether a number is one of those that are marked by bits.
inline bool is_in(std::span<const std::uint8_t> bits, std::uint32_t i) {
    return i / 8 < bits.size() && bits[i / 8] >> (i & 7) & 1;
}

class Segment {
  public:
    Segment(std::span<const std::uint8_t> data, std::span<const std::uint64_t> sums, const SegmentLayout &layout)
        : pages_(data, sums), layout_(layout), buckets_(pages_, layout.buckets, 2 * layout.keyed * layout.bands),
          sketches_(pages_, layout.sketches, layout.contents * layout.width),
          contents_{{pages_, layout.content_high, layout.contents}, {pages_, layout.content_low, layout.contents}},
          ids_{{pages_, layout.id_high, layout.documents}, {pages_, layout.id_low, layout.documents}},
          starts_(pages_, layout.starts, layout.contents + 1), numbers_(pages_, layout.numbers, layout.documents) {}
    Segment(const Segment &) = delete;

    const Pages &pages() const { return pages_; }
    std::size_t width() const { return layout_.width; }
    std::size_t bands() const { return layout_.bands; }
    std::size_t contents() const { return layout_.contents; }
    bool has_numbers() const { return layout_.id_bytes == 0; }

    // The place of a content's text.
    std::uint32_t text_of(std::uint32_t content) const {
        return Run<std::uint32_t>(pages_, layout_.texts, layout_.contents)[content];
    }

    Content digest_of(std::uint32_t content) const { return {contents_.high[content], contents_.low[content]}; }

    std::int64_t id_number(std::uint32_t document) const {
        return Run<std::int64_t>(pages_, layout_.ids, layout_.documents)[document];
    }

    std::span<const std::uint8_t> id_bytes(std::uint32_t document) const {
        const Run<std::int64_t> ends(pages_, layout_.ids, layout_.documents + 1);
        const std::int64_t start = ends[document], end = ends[document + 1];
        const std::size_t room = pages_.data().size() - layout_.id_bytes;
        if (start < 0 || start > end || static_cast<std::size_t>(end) > room) throw Damaged(0);
        return Run<std::uint8_t>(pages_, layout_.id_bytes, room).checked(start, end - start);
    }

    // Where each question meets what is not dead; of a bucket at most the first `most`, 0 for all. What one question
    // needs is asked for beforehand where `is_ahead`.
    Met meet(const Questions &asked, std::size_t from_band, std::size_t to_band, std::size_t most,
             std::span<const std::uint8_t> dead, bool is_ahead) const {
        if (asked.count == 1) return meet_one(asked.keys, from_band, to_band, most, dead, is_ahead);
        Met found;
        std::vector<std::uint32_t> keys(asked.count), numbers(asked.count);
        std::iota(numbers.begin(), numbers.end(), 0);
        Stop stop;
        for (std::size_t band = from_band; band < to_band; ++band) {
            stop.check(64 * asked.count);
            for (std::size_t i = 0; i < asked.count; ++i) keys[i] = asked.keys[i * asked.bands + band];
            // In the order of the keys, neighbours are found in the same pages.
            for (const std::uint64_t entry : sort_by_key(keys, numbers)) {
                const auto key = static_cast<std::uint32_t>(entry >> 32);
                const std::size_t at = SortedRun(keys_of(band)).first_not_below(key);
                meet_bucket(static_cast<std::uint32_t>(entry), key, band, at, most, dead, found);
            }
        }
        return found;
    }

    // In how many positions the sketches of each pair differ.
    std::vector<std::uint32_t> differences(std::span<const std::uint64_t> pairs, std::span<const std::uint64_t> sketches,
                                           unsigned bits) const {
        std::vector<std::uint32_t> found(pairs.size());
        const std::size_t width = layout_.width;
        for (std::size_t i = 0; i < pairs.size(); ++i)
            found[i] = difference(static_cast<std::uint32_t>(pairs[i]), sketches.subspan((pairs[i] >> 32) * width, width), bits);
        return found;
    }

    // The same of one content.
    std::uint32_t difference(std::uint32_t content, std::span<const std::uint64_t> sketch, unsigned bits) const {
        const std::size_t width = layout_.width;
        const auto theirs = sketches_.checked(content * width, width);
        return different_positions(sketch.data(), theirs.data(), width, bits);
    }

    // The same for one question in one go: whom it meets, each once, if the sketches agree enough. Where more than `most`
    // share a bucket, only that is told.
    Agreeing agreeing(const Questions &asked, std::span<const std::uint64_t> sketch, std::size_t most,
                      std::span<const std::uint8_t> dead, unsigned bits, std::uint32_t most_different,
                      bool is_ahead) const {
        Met met = meet_one(asked.keys, 0, asked.bands, most, dead, is_ahead);
        Agreeing found;
        found.left_out = met.left_out;
        for (std::size_t i = 0, from = 0; i < met.bands.size(); ++i) {
            if (met.bands[i] != met.bands[from]) from = i;
            found.fullest = std::max<std::uint64_t>(found.fullest, i - from + 1);
        }
        if (found.left_out != 0) return found;  // a crowd: who asks goes another way
        std::sort(met.pairs.begin(), met.pairs.end());
        met.pairs.erase(std::unique(met.pairs.begin(), met.pairs.end()), met.pairs.end());
        const std::size_t width = layout_.width;
        if (is_ahead)
            for (const std::uint64_t content : met.pairs) sketches_.ask_for(content * width, width);
        const std::vector<std::uint32_t> differ = differences(met.pairs, sketch, bits);
        for (std::size_t i = 0; i < differ.size(); ++i)
            if (differ[i] <= most_different) found.contents.push_back(static_cast<std::uint32_t>(met.pairs[i]));
        if (is_ahead) ask_for(found.contents);
        for (const std::uint32_t content : found.contents)
            found.digests.push_back(digest_of(content));
        return found;
    }

    // Has read where a content of this digest would be.
    void ask_for(const Content &sought) const { SortedRun(contents_.high).ask_for(sought.high); }

    // Pairs of a digest and the place where it stands, among contents or among ids.
    std::vector<std::uint64_t> find(std::span<const Content> sought, bool among_ids) const {
        const Digests &digests = among_ids ? ids_ : contents_;
        std::vector<std::uint64_t> found;
        Stop stop;
        for (std::uint64_t i = 0; i < sought.size(); ++i) {
            stop.check(64);
            digests.each_equal(sought[i], [&](std::uint64_t at) { found.push_back(i << 32 | at); });
        }
        return found;
    }

    // The documents that have contents of these digests, but those that are dead.
    Owners owners(std::span<const Content> sought, std::span<const std::uint8_t> dead) const {
        Owners found;
        Stop stop;
        for (std::uint32_t i = 0; i < sought.size(); ++i) {
            stop.check(64);
            contents_.each_equal(sought[i], [&](std::size_t content) {
                const std::uint32_t end = starts_[content + 1];
                if (end > layout_.documents) throw Damaged(0);
                for (std::uint32_t document = starts_[content]; document < end; ++document) {
                    if (is_in(dead, document)) continue;
                    found.places.push_back(i);
                    found.documents.push_back(document);
                    found.numbers.push_back(numbers_[document]);
                }
            });
        }
        return found;
    }

  private:
    Pages pages_;
    SegmentLayout layout_;
    Run<std::uint32_t> buckets_;
    Run<std::uint64_t> sketches_;
    Digests contents_, ids_;
    Run<std::uint32_t> starts_;
    Run<std::uint64_t> numbers_;

    Run<std::uint32_t> keys_of(std::size_t band) const {
        return buckets_.part(2 * band * layout_.keyed, layout_.keyed);
    }

    Run<std::uint32_t> owners_of(std::size_t band) const {
        return buckets_.part((2 * band + 1) * layout_.keyed, layout_.keyed);
    }

    // What is looked at of contents that agree with a question, whatever becomes of them.
    void ask_for(std::span<const std::uint32_t> contents) const {
        for (const std::uint32_t content : contents) {
            contents_.high.ask_for(content);
            contents_.low.ask_for(content);
            starts_.ask_for(content, 2);
            if (layout_.texts != 0) Run<std::uint32_t>(pages_, layout_.texts, layout_.contents).ask_for(content);
        }
    }

    // All bands are searched before whose keys they are is looked at: so what that needs can be asked for at once.
    Met meet_one(std::span<const std::uint32_t> asked, std::size_t from_band, std::size_t to_band, std::size_t most,
                 std::span<const std::uint8_t> dead, bool is_ahead) const {
        for (std::size_t band = from_band; band < to_band; ++band) {
            const SortedRun keys(keys_of(band));
            if (is_ahead) keys.ask_for(asked[band]);
            keys.prefetch(asked[band]);
        }
        std::vector<std::size_t> places;
        for (std::size_t band = from_band; band < to_band; ++band) {
            const Run<std::uint32_t> keys = keys_of(band);
            places.push_back(SortedRun(keys).first_not_below(asked[band]));
            if (is_ahead && places.back() < keys.size() && keys[places.back()] == asked[band])
                owners_of(band).ask_for(places.back());
        }
        Met found;
        for (std::size_t band = from_band; band < to_band; ++band)
            meet_bucket(0, asked[band], band, places[band - from_band], most, dead, found);
        return found;
    }

    // Whose keys those from a place on are, as long as they are this key.
    void meet_bucket(std::uint64_t question, std::uint32_t key, std::size_t band, std::size_t at, std::size_t most,
                     std::span<const std::uint8_t> dead, Met &found) const {
        const Run<std::uint32_t> keys = keys_of(band), owners = owners_of(band);
        std::size_t taken = 0;
        for (; at < keys.size() && keys[at] == key; ++at) {
            const std::uint32_t owner = owners[at];
            if (owner >= layout_.contents) throw Damaged(0);
            if (is_in(dead, owner)) continue;
            if (most != 0 && taken++ == most) {
                const bool is_last = key == std::numeric_limits<std::uint32_t>::max();
                found.left_out += (is_last ? keys.size() : SortedRun(keys).first_not_below(key + 1)) - at;
                return;
            }
            found.pairs.push_back(question << 32 | owner);
            found.bands.push_back(static_cast<std::uint32_t>(band));
        }
    }
};

}  // namespace nearly
