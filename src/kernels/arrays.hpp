// How arrays cross between Python and the kernels: spans of numpy memory in, owned memory out.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "growing.hpp"
#include "large.hpp"
#include "texts.hpp"

namespace nearly {

namespace nb = nanobind;

template <typename T> using Column = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T> using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <typename Array> auto span_of(const Array &array) { return std::span(array.data(), array.size()); }

// A numpy array that owns the vector's memory.
template <typename T> auto give(std::vector<T> &&values, std::initializer_list<std::size_t> shape) {
    auto owned = std::make_unique<std::vector<T>>(std::move(values));
    nb::capsule owner(owned.get(), [](void *pointer) noexcept { delete static_cast<std::vector<T> *>(pointer); });
    return nb::ndarray<nb::numpy, T>(owned.release()->data(), shape, owner);
}

template <typename T> auto give(std::vector<T> &&values) {
    const std::size_t size = values.size();
    return give(std::move(values), {size});
}

template <typename T> auto give(std::unique_ptr<T[]> values, std::size_t size) {
    nb::capsule owner(values.get(), [](void *pointer) noexcept { delete[] static_cast<T *>(pointer); });
    return nb::ndarray<nb::numpy, T>(values.release(), {size}, owner);
}

template <typename T> auto give(Growing<T> &&values) {
    const std::size_t size = values.size;
    std::unique_ptr<T, decltype(&std::free)> owned(values.release(), &std::free);
    nb::capsule owner(owned.get(), [](void *pointer) noexcept { std::free(pointer); });
    return nb::ndarray<nb::numpy, T>(owned.release(), {size}, owner);
}

template <typename T> auto give(LargeArray<T> &&values) {
    const std::size_t size = values.size();
    std::unique_ptr<T, decltype(&std::free)> owned(values.release(), &std::free);
    nb::capsule owner(owned.get(), [](void *pointer) noexcept { std::free(pointer); });
    return nb::ndarray<nb::numpy, T>(owned.release(), {size}, owner);
}

// What lies between offsets is inside the data: kernels rely on it and look no more.
inline void check_offsets(std::span<const std::int64_t> offsets, std::size_t size, const char *of) {
    if (offsets.empty()) throw std::invalid_argument("offsets must have one entry more than there are documents");
    if (offsets.front() < 0 || static_cast<std::size_t>(offsets.back()) > size)
        throw std::invalid_argument(std::string("offsets reach past the ") + of);
    if (!std::ranges::is_sorted(offsets)) throw std::invalid_argument("offsets must not descend");
}

// Numbers that a kernel looks something up by.
inline void check_below(std::span<const std::uint32_t> numbers, std::size_t count) {
    for (const std::uint32_t number : numbers)
        if (number >= count) throw std::invalid_argument("a number reaches past what it counts");
}

inline Texts texts_of(const Column<std::int64_t> &offsets, const Column<std::uint8_t> &data) {
    check_offsets(span_of(offsets), data.size(), "data");
    return {span_of(offsets), data.data()};
}

}  // namespace nearly
