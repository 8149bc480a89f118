// Powers in steps of a quarter, and their roots, by products and square roots only: these are the same to the last bit on
// every machine, as the powers of the C library are not.
#pragma once

#include <cmath>

namespace nearly {

// A number to a power that is counted in quarters: 6 is 1.5. Always inline: where the power is known when this is compiled,
// many numbers are raised at once.
[[gnu::always_inline]] inline double raised(double x, unsigned quarters) {
    double result = 1, square = x;
    for (unsigned whole = quarters / 4; whole > 0; whole /= 2, square *= square)
        if (whole % 2 == 1) result *= square;
    if (quarters % 4 == 0) return result;
    const double half = std::sqrt(x);
    if (quarters % 4 != 1) result *= half;
    return quarters % 2 == 1 ? result * std::sqrt(half) : result;
}

class Power {
  public:
    // At least 4 quarters.
    explicit Power(unsigned quarters) : quarters_(quarters) {}

    unsigned quarters() const { return quarters_; }

    // Of a number that is 1 or more, by Newton's steps from above: each comes nearer until rounding ends them.
    double root(double power) const {
        int exponent = 0;
        std::frexp(power, &exponent);
        const int quarters = static_cast<int>(quarters_);
        double found = std::ldexp(1.0, (4 * exponent + quarters - 1) / quarters);
        for (;;) {
            const double slope = raised(found, quarters_ - 4) * quarters_ / 4;
            const double next = found - (raised(found, quarters_) - power) / slope;
            if (!(next < found)) return found;
            found = next;
        }
    }

  private:
    unsigned quarters_;
};

}  // namespace nearly
