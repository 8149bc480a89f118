// What each file of bindings adds to the module. One file per area: a change compiles one of them.
#pragma once

#include <nanobind/nanobind.h>

namespace nearly {

void bind_bloom(nanobind::module_ &m);
void bind_edit(nanobind::module_ &m);
void bind_frequency(nanobind::module_ &m);
void bind_held_shingles(nanobind::module_ &m);
void bind_items(nanobind::module_ &m);
void bind_join(nanobind::module_ &m);
void bind_json(nanobind::module_ &m);
void bind_meetings(nanobind::module_ &m);
void bind_normalise(nanobind::module_ &m);
void bind_overlaps(nanobind::module_ &m);
void bind_pairs(nanobind::module_ &m);
void bind_passages(nanobind::module_ &m);
void bind_question(nanobind::module_ &m);
void bind_samples(nanobind::module_ &m);
void bind_segment(nanobind::module_ &m);
void bind_sides(nanobind::module_ &m);
void bind_similarities(nanobind::module_ &m);
void bind_vectors(nanobind::module_ &m);
void bind_waiting(nanobind::module_ &m);
void bind_wanted(nanobind::module_ &m);
void bind_weights(nanobind::module_ &m);

}  // namespace nearly
