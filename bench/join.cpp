// All pairs of sets whose Jaccard similarity reaches a threshold: an exact prefix-filter join.
//
// Reads from standard input, and writes to standard output, little-endian:
//   in:  uint64 number of sets, double threshold, uint64 offsets[sets + 1], uint32 members[]
//   out: for every pair (a, b), a < b: uint32 a, uint32 b, double similarity
// The members of each set ascend, and small numbers stand for rare members. Two sets that
// reach the threshold must then share a member among the first few of each (their prefixes),
// so only sets that meet in the index of prefixes are compared.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

namespace {

template <typename T>
std::vector<T> read_many(std::size_t count) {
    std::vector<T> values(count);
    if (std::fread(values.data(), sizeof(T), count, stdin) != count) {
        std::fputs("join: the input ends too early\n", stderr);
        std::exit(1);
    }
    return values;
}

template <typename T>
void write_one(T value) {
    if (std::fwrite(&value, sizeof value, 1, stdout) != 1) std::exit(1);
}

// Rounding must only ever loosen a bound: the comparison itself is exact.
std::size_t round_up(double bound) { return static_cast<std::size_t>(std::ceil(bound - 1e-6)); }

std::size_t count_shared(const std::uint32_t* a, const std::uint32_t* a_end,
                         const std::uint32_t* b, const std::uint32_t* b_end) {
    std::size_t shared = 0;
    while (a != a_end && b != b_end) {
        shared += *a == *b;
        const bool step_a = *a <= *b, step_b = *b <= *a;
        a += step_a;
        b += step_b;
    }
    return shared;
}

}  // namespace

int main() {
    const std::size_t sets = read_many<std::uint64_t>(1)[0];
    const double threshold = read_many<double>(1)[0];
    const auto offsets = read_many<std::uint64_t>(sets + 1);
    const auto members = read_many<std::uint32_t>(offsets[sets]);
    const auto size = [&](std::size_t i) { return offsets[i + 1] - offsets[i]; };

    // By ascending size, a set only has to look back at sets that are not larger.
    std::vector<std::uint32_t> order(sets);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return size(a) < size(b); });

    const std::uint32_t largest =
        members.empty() ? 0 : *std::max_element(members.begin(), members.end());
    std::vector<std::vector<std::uint32_t>> index(largest + 1);
    std::vector<std::uint32_t> last_seen_by(sets, UINT32_MAX);

    for (const std::uint32_t b : order) {
        const std::uint32_t* b_begin = members.data() + offsets[b];
        const std::size_t smallest = round_up(threshold * size(b));
        const std::size_t prefix = size(b) == 0 ? 0 : size(b) - smallest + 1;
        for (std::size_t i = 0; i < prefix; ++i) {
            for (const std::uint32_t a : index[b_begin[i]]) {
                if (size(a) < smallest || last_seen_by[a] == b) continue;
                last_seen_by[a] = b;
                const std::uint32_t* a_begin = members.data() + offsets[a];
                const std::size_t shared =
                    count_shared(a_begin, a_begin + size(a), b_begin, b_begin + size(b));
                const double similarity =
                    static_cast<double>(shared) / static_cast<double>(size(a) + size(b) - shared);
                if (similarity < threshold) continue;
                write_one(std::min(a, b));
                write_one(std::max(a, b));
                write_one(similarity);
            }
            index[b_begin[i]].push_back(b);
        }
    }
}
