// Pages of a mapped file that are asked for before they are looked at, so that the disk reads them side by side.
#pragma once

#include <sys/mman.h>
#include <sys/resource.h>

#include <cstddef>
#include <cstdint>

namespace nearly {

// Whether this thread had to wait for a page lately. Where all pages are in memory, asking for them takes longer than
// finding them there; so it is asked for pages only while some are not.
inline bool waits_for_pages() {
#ifdef RUSAGE_THREAD
    constexpr int LATELY = 64;  // calls
    thread_local long seen = 0;
    thread_local int left = 0;
    struct rusage usage;
    if (getrusage(RUSAGE_THREAD, &usage) != 0) return false;
    if (usage.ru_majflt != seen)
        left = LATELY;
    else if (left > 0)
        --left;
    seen = usage.ru_majflt;
    return left > 0;
#else
    return false;
#endif
}

// Has the pages read that these bytes lie in; does not wait for them.
inline void read_ahead(const std::uint8_t *start, std::size_t bytes) {
    constexpr std::uintptr_t PAGE_MASK = 4095;
    const auto from = reinterpret_cast<std::uintptr_t>(start) & ~PAGE_MASK;
    const auto to = reinterpret_cast<std::uintptr_t>(start) + bytes;
    // It is only advice: whether it was taken does not matter.
    (void)madvise(reinterpret_cast<void *>(from), to - from, MADV_WILLNEED);
}

}  // namespace nearly
