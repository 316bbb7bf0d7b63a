/*
 * The coordinates of an array at which the loads of its links may differ (MODEL.md, section 2.9). For each crossing, the
 * coordinates of an axis fall into classes: coordinates of one class carry equally many elements of the crossing. Of the
 * coordinates with the same classes for all crossings, only the lowest one, a place, is visited.
 */
#ifndef DFL_MODEL_COUNTS_LINK_PLACES_H
#define DFL_MODEL_COUNTS_LINK_PLACES_H

#include "model/counts/crossings.h"

/* The places on an axis. */
typedef struct {
    int64_t *at;      /* coordinates, ascending from 0 */
    uint32_t n;
    uint32_t **class; /* [crossing of the array][place]: class of the place for the crossing; NULL = each place is a class of its
                         own for all crossings */
    uint32_t *n_classes; /* [crossing of the array]: number of classes; NULL if `class` is NULL */
} dfl_link_places;

/* Number of instances of a crossing along a spatial step of its path. A unit has one if the step is not for its einsum. */
int64_t dfl_link_parts(const dfl_nest *nest, const dfl_crossing *c, uint32_t step);
/* The steps, a mask, of a crossing on an axis of its array; `axis` counts the axes of the system. */
uint64_t dfl_link_steps(const dfl_nest *nest, const dfl_crossing *c, uint32_t axis);
/* Restricts a crossing to one coordinate of an axis, counted from its first instance. False if no instance in use has the
   coordinate, or if no value returns to it. */
bool dfl_link_pin(const dfl_nest *nest, const dfl_crossing *c, uint32_t axis, int64_t at, dfl_restriction *only);
/* As dfl_link_pin, but the coordinate counts from coordinate 0 of the axis. */
bool dfl_link_pin_place(const dfl_nest *nest, const dfl_crossing *c, uint32_t axis, int64_t at, dfl_restriction *only);
/* Finds the places on an axis for the crossings of an array, whose modes must be set. False if the budget is spent or after a
   report. */
bool dfl_link_places_find(dfl_nest *nest, const dfl_crossings *all, const dfl_crossed_array *array, uint32_t axis,
                          dfl_link_places *out);

#endif
