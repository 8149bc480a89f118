// A stop that another thread or a signal asks for, and loops that look for it as they work.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>

namespace nearly {

struct Stopped : std::exception {
    const char *what() const noexcept override { return "stopped"; }
};

inline std::atomic<bool> stop_requested = false;

// What else is looked at along with the flag; the bindings ask Python for signals.
inline void (*look_for_signals)() = nullptr;

// Counts work, and throws soon after a stop was asked for. A unit of work is about a nanosecond.
class Stop {
  public:
    void check(std::size_t work) {
        if ((done_ += work) >= OFTEN) look();
    }

  private:
    static constexpr std::size_t OFTEN = 1 << 24;
    std::size_t done_ = 0;

    [[gnu::noinline]] void look() {
        done_ = 0;
        if (stop_requested.load(std::memory_order_relaxed)) throw Stopped();
        if (look_for_signals != nullptr) look_for_signals();
    }
};

}  // namespace nearly
