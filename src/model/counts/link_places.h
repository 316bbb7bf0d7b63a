/*
 * Coordinates of an array at which the loads of its links differ (MODEL.md, section 2.9). The coordinates of an axis fall
 * into classes for each crossing: those of one class carry equally many elements of it. The coordinates to visit are the
 * lowest ones of each combination of classes of all crossings.
 */
#ifndef DFL_MODEL_COUNTS_LINK_PLACES_H
#define DFL_MODEL_COUNTS_LINK_PLACES_H

#include "model/counts/crossings.h"

/* The coordinates to visit on an axis. */
typedef struct {
    int64_t *at;      /* ascending, 0 first; all others repeat one of these */
    uint32_t n;
    uint32_t **class; /* [crossing of the array][place]: class of the coordinate for the crossing; NULL = each place is a class of
                         its own for all crossings */
    uint32_t *n_classes; /* [crossing of the array]; NULL if `class` is */
} dfl_link_places;

/* Number of instances along a spatial step. A unit of an einsum that the step is not for has one. */
int64_t dfl_link_parts(const dfl_nest *nest, const dfl_crossing *c, uint32_t step);
/* The own steps of a crossing on an axis of its array, a number of an axis of the system. */
uint64_t dfl_link_steps(const dfl_nest *nest, const dfl_crossing *c, uint32_t axis);
/* Restricts a crossing to one coordinate of an axis, counted from its first instance. False if no instance in use has the
   coordinate, or if no value returns to it. */
bool dfl_link_pin(const dfl_nest *nest, const dfl_crossing *c, uint32_t axis, int64_t at, dfl_restriction *only);
/* As dfl_link_pin; the coordinate counts from 0. */
bool dfl_link_pin_place(const dfl_nest *nest, const dfl_crossing *c, uint32_t axis, int64_t at, dfl_restriction *only);
/* Finds the coordinates of an axis to visit for the crossings of an array, whose modes must be known. False if the budget is
   spent or after a report. */
bool dfl_link_places_find(dfl_nest *nest, const dfl_crossings *all, const dfl_crossed_array *array, uint32_t axis,
                          dfl_link_places *out);

#endif
