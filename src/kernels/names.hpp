// Settings by the names that Python gives them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string_view>

#include "normalise.hpp"
#include "shingles.hpp"
#include "unicode_text.hpp"

namespace nearly {

inline normalise::Space space_named(std::string_view name) {
    if (name == "keep") return normalise::Space::keep;
    if (name == "collapse") return normalise::Space::collapse;
    if (name == "drop") return normalise::Space::drop;
    throw std::invalid_argument("space must be keep, collapse or drop");
}

// Traits of code points that may be out of a normal form.
inline std::uint16_t unsettled_in(std::string_view form) {
    if (form == "NFC") return unicode::unsettled_nfc;
    if (form == "NFD") return unicode::unsettled_nfd;
    if (form == "NFKC") return unicode::unsettled_nfkc;
    if (form == "NFKD") return unicode::unsettled_nfkd;
    throw std::invalid_argument("form must be NFC, NFD, NFKC or NFKD");
}

inline Shingling shingling_of(std::string_view unit, std::size_t k, std::uint64_t seed, const HashIndex *dropped) {
    if (k == 0) throw std::invalid_argument("k must be at least 1");
    return {unit == "word" ? Unit::word : Unit::character, k, seed, dropped};
}

}  // namespace nearly
