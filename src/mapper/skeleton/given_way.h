/* Ways to cut a rank that go along with written lines. */
#ifndef DFL_MAPPER_SKELETON_GIVEN_WAY_H
#define DFL_MAPPER_SKELETON_GIVEN_WAY_H

#include "mapper/skeleton/given.h"

/* Whether axis `a` may cut rank r into so many parts, whatever else is chosen. */
bool dfl_given_spreads(const dfl_given_form *f, uint32_t axis, uint32_t rank, int64_t parts);
/* Whether the rank can be cut so: cut[gap], and parts[axis * stride]. Fills `way` unless it is NULL. */
bool dfl_given_admits(const dfl_given_form *f, const dfl_job *job, uint32_t rank, const int64_t *cut, uint32_t cut_stride,
                      const int64_t *parts, uint32_t parts_stride, dfl_given_way *way);

#endif
