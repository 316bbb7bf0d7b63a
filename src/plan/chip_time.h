/*
 * What an einsum takes on one chip, by itself: its operations over the rates of the units of the chip, beside its operands
 * and its result, which each pass the port of their memory once.
 */
#ifndef DFL_PLAN_CHIP_TIME_H
#define DFL_PLAN_CHIP_TIME_H

#include "plan/frame.h"

typedef struct {
    uint32_t compute;          /* unit that runs the einsum */
    double operation_seconds;  /* time of the operations, launch included, in one pass */
    double memory_seconds;     /* time of the busiest port in one pass */
    double seconds;            /* time of one pass: the longer one, or the sum if nothing overlaps them */
    dfl_i128 points;           /* points of one pass */
    dfl_i128 read_bits, written_bits; /* of one pass */
    uint32_t slowest_memory;   /* memory of the busiest port; DFL_NONE = none takes time */
} dfl_chip_time;

/* The times of all einsums, [einsum]. NULL after a report: no unit runs an einsum, or a count overflows. */
const dfl_chip_time *dfl_chip_times_find(const dfl_frame *f);
/* Instances of a compute unit on one chip. */
double dfl_chip_units(const dfl_frame *f, uint32_t compute);

#endif
