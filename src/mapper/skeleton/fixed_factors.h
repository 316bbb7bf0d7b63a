/* Ways to cut a rank that go along with written lines. */
#ifndef DFL_MAPPER_SKELETON_FIXED_FACTORS_H
#define DFL_MAPPER_SKELETON_FIXED_FACTORS_H

#include "mapper/skeleton/fixed_lines.h"

/* Whether axis `a` may cut rank r into so many parts, whatever else is chosen. */
bool dfl_fixed_lines_spreads(const dfl_fixed_skeleton *f, uint32_t axis, uint32_t rank, int64_t parts);
/* Whether the rank can be cut so: cut[gap], and parts[axis * stride]. Fills `way` unless it is NULL. */
bool dfl_fixed_lines_admits(const dfl_fixed_skeleton *f, const dfl_problem *problem, uint32_t rank, const int64_t *cut,
                            uint32_t cut_stride,
                            const int64_t *parts, uint32_t parts_stride, dfl_fixed_factors *way);

#endif
