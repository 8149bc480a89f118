// The kernels as a Python module: arrays in, arrays out, interpreter lock released.
#include <nanobind/nanobind.h>
#include "bind_normalise.hpp"
NB_MODULE(_kernels, m) {
    m.attr("ready") = true;
    bind_normalise(m);
}
