// From a text to its signature; a long text in stretches, in memory that does not grow with it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "shingles.hpp"
#include "signatures.hpp"
#include "stop.hpp"

namespace nearly {

template <typename Signer> class SigningShingler {
  public:
    SigningShingler(Shingler shingler, Signer signer) : shingler_(std::move(shingler)), signer_(std::move(signer)) {}

    // Returns the number of shingles, repeats included; without any, the signature is all zeros.
    std::size_t operator()(std::span<const std::uint8_t> text, const std::uint8_t *limit,
                           std::span<std::uint32_t> signature) {
        stop_.check(32 * text.size());
        return shingler_.is_long(text) ? in_stretches(text, limit, signature) : at_once(text, limit, signature);
    }

  private:
    Shingler shingler_;
    Signer signer_;
    Stop stop_;

    std::size_t at_once(std::span<const std::uint8_t> text, const std::uint8_t *limit,
                        std::span<std::uint32_t> signature) {
        const auto hashes = shingler_(text, limit);
        if (hashes.empty())
            std::ranges::fill(signature, 0);
        else
            signer_(hashes, signature);
        return hashes.size();
    }

    // Apart, so that the way of short texts stays as it would be alone.
    [[gnu::noinline]] std::size_t in_stretches(std::span<const std::uint8_t> text, const std::uint8_t *limit,
                             std::span<std::uint32_t> signature) {
        const std::size_t count = shingler_.count_left(text, limit);
        if (count == 0)
            std::ranges::fill(signature, 0);
        else
            signer_.in_stretches(
                [&](auto &&receive) { shingler_.in_stretches(text, limit, receive); }, signature);
        return count;
    }
};

}  // namespace nearly
