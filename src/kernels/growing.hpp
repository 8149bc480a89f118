// Memory that grows in place and is handed over at the end without a copy.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <new>
#include <utility>

#include "large.hpp"

namespace nearly {

// Of plain values. Large blocks are moved by page tables, not copied, as a vector would do.
template <typename T> class Growing {
  public:
    explicit Growing(std::size_t expected = 1) { resize(std::max<std::size_t>(expected, 1)); }
    // Of room for `most` values so many will be filled.
    Growing(std::size_t most, std::size_t filled) : capacity_(most) {
        if (most > std::numeric_limits<std::size_t>::max() / sizeof(T)) throw std::bad_alloc();
        data = static_cast<T *>(allocate_large(most * sizeof(T), filled * sizeof(T)));
    }
    Growing(Growing &&other) noexcept
        : data(std::exchange(other.data, nullptr)), size(std::exchange(other.size, 0)),
          capacity_(std::exchange(other.capacity_, 0)) {}
    Growing &operator=(Growing &&other) noexcept {
        std::swap(data, other.data);
        std::swap(size, other.size);
        std::swap(capacity_, other.capacity_);
        return *this;
    }
    ~Growing() { std::free(data); }

    void make_room(std::size_t more) {
        if (capacity_ - size < more) resize(capacity_ + std::max(more, capacity_ / 2));
    }

    // Gives up the memory; the caller frees it.
    T *release() {
        resize(std::max<std::size_t>(size, 1));
        return std::exchange(data, nullptr);
    }

    T *data = nullptr;
    std::size_t size = 0;

  private:
    void resize(std::size_t capacity) {
        if (capacity > std::numeric_limits<std::size_t>::max() / sizeof(T)) throw std::bad_alloc();
        void *moved = std::realloc(data, capacity * sizeof(T));
        if (moved == nullptr) throw std::bad_alloc();
        data = static_cast<T *>(moved);
        capacity_ = capacity;
    }

    std::size_t capacity_ = 0;
};

}  // namespace nearly
