// How arrays cross between Python and the kernels: spans of numpy memory in, owned memory out.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "texts.hpp"

namespace nearly {

namespace nb = nanobind;

template <typename T> using Column = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T> using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <typename Array> auto span_of(const Array &array) { return std::span(array.data(), array.size()); }

// A numpy array that owns the vector's memory.
template <typename T> auto give(std::vector<T> &&values, std::initializer_list<std::size_t> shape) {
    auto *owned = new std::vector<T>(std::move(values));
    nb::capsule owner(owned, [](void *pointer) noexcept { delete static_cast<std::vector<T> *>(pointer); });
    return nb::ndarray<nb::numpy, T>(owned->data(), shape, owner);
}

template <typename T> auto give(std::vector<T> &&values) {
    const std::size_t size = values.size();
    return give(std::move(values), {size});
}

template <typename T> auto give(std::unique_ptr<T[]> values, std::size_t size) {
    T *const owned = values.release();
    nb::capsule owner(owned, [](void *pointer) noexcept { delete[] static_cast<T *>(pointer); });
    return nb::ndarray<nb::numpy, T>(owned, {size}, owner);
}

inline Texts texts_of(const Column<std::int64_t> &offsets, const Column<std::uint8_t> &data) {
    if (offsets.size() == 0) throw std::invalid_argument("offsets must have one entry more than there are documents");
    const auto span = span_of(offsets);
    if (span.front() < 0 || static_cast<std::size_t>(span.back()) > data.size())
        throw std::invalid_argument("offsets reach past the data");
    return {span, data.data()};
}

}  // namespace nearly
