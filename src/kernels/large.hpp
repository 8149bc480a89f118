// Large arrays in large pages: they are read here and there, and a page of the usual size would have to be
// looked up for nearly every read.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace nearly {

// Memory that `std::free` gives back. What of it is expected to be filled is in large pages, as far as it fills half of
// one and the system has them: to clear these takes less time, too.
inline void *allocate_large(std::size_t bytes, std::size_t filled) {
    constexpr std::size_t PAGE = std::size_t{1} << 21, LEAST = 2 * PAGE;
    void *memory = nullptr;
#if defined(__linux__)
    if (bytes >= LEAST && bytes <= std::numeric_limits<std::size_t>::max() - PAGE) {
        memory = std::aligned_alloc(PAGE, (bytes + PAGE - 1) / PAGE * PAGE);
        const std::size_t pages = (filled + PAGE / 2) / PAGE;
        if (memory != nullptr) madvise(memory, pages * PAGE, MADV_HUGEPAGE);  // without them it is slower, no more
    }
#endif
    if (memory == nullptr) memory = std::malloc(bytes == 0 ? 1 : bytes);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}

// Of plain values, which hold whatever the memory held until they are written.
template <typename T> class LargeArray {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

  public:
    LargeArray() = default;
    explicit LargeArray(std::size_t size)
        : values_(static_cast<T *>(allocate_large(bytes_of(size), bytes_of(size)))), size_(size) {}
    LargeArray(LargeArray &&other) noexcept : values_(std::move(other.values_)), size_(std::exchange(other.size_, 0)) {}
    LargeArray &operator=(LargeArray &&other) noexcept {
        swap(other);
        return *this;
    }

    void swap(LargeArray &other) noexcept {
        values_.swap(other.values_);
        std::swap(size_, other.size_);
    }
    // Forgets what lies behind the first so many.
    void shrink(std::size_t size) { size_ = size; }
    // Gives up the memory; the caller frees it.
    T *release() {
        size_ = 0;
        return values_.release();
    }

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    T *data() { return values_.get(); }
    const T *data() const { return values_.get(); }
    T *begin() { return data(); }
    const T *begin() const { return data(); }
    T *end() { return data() + size_; }
    const T *end() const { return data() + size_; }
    T &operator[](std::size_t i) { return data()[i]; }
    const T &operator[](std::size_t i) const { return data()[i]; }

  private:
    struct Free {
        void operator()(T *values) const { std::free(values); }
    };
    std::unique_ptr<T, Free> values_;
    std::size_t size_ = 0;

    static std::size_t bytes_of(std::size_t size) {
        if (size > std::numeric_limits<std::size_t>::max() / sizeof(T)) throw std::bad_alloc();
        return size * sizeof(T);
    }
};

}  // namespace nearly
