/*
 * What an einsum takes on one chip, by itself: its operations over the rates of the units of the chip, beside its operands
 * and its result, which each pass the port of their memory once.
 */
#ifndef DFL_PLAN_PASS_CHIP_TIME_H
#define DFL_PLAN_PASS_CHIP_TIME_H

#include "plan/pass/branches.h"

/* An access of an einsum in one pass: its bits, and the time of the port of the memory that holds its tensor. */
typedef struct {
    dfl_i128 bits;
    double seconds;
} dfl_port_time;

typedef struct {
    uint32_t compute;          /* unit that runs the einsum */
    double work_seconds;       /* time of the operations in one pass */
    double least_seconds;      /* the same if no part of a unit with `units` were idle */
    const double *on_units;    /* [u - 1]: the same on u units of a unit with `units`; NULL = it has none, or there is no work */
    double launch_seconds;     /* what its kernel takes to start; 0 if its result is handed on to another kernel */
    double operation_seconds;  /* time of the operations in one pass, with the start of the branch */
    double memory_seconds;     /* time of the busiest port in one pass */
    double seconds;            /* time of one pass: the longer one, or the sum if nothing overlaps them */
    dfl_i128 points;           /* points of one pass */
    dfl_i128 read_bits, written_bits; /* of one pass */
    double mean_points, mean_read_bits, mean_written_bits; /* the same as means over the iterations of a repeat */
    const dfl_port_time *reads; /* [input], also of what the branch of the einsum does not read from memory */
    const dfl_port_time *renewed; /* [input]: written back by the optimizer; 0 bits = not */
    dfl_port_time written;      /* the result */
    uint32_t slowest_memory;   /* memory of the busiest port; DFL_NONE = none takes time */
} dfl_chip_time;

/* The times of all einsums, [einsum]; what einsums of one branch exchange passes no memory. Those that do not differ between
   iterations are those of `same`, of another iteration (NULL: they are found). NULL after a report: no unit runs an einsum, or a
   count overflows. */
dfl_chip_time *dfl_chip_times_find(const dfl_frame *f, const dfl_plan_branches *branches, const dfl_chip_time *same);
/* Sets the memories of all einsums anew, for other branches. False after a report. */
bool dfl_chip_times_set_branches(const dfl_frame *f, const dfl_plan_branches *branches, dfl_chip_time *times);
/* The times of all einsums, where the backward pass recomputes them: only recomputed einsums of a branch exchange tensors. NULL
   after a report. */
dfl_chip_time *dfl_chip_times_again(const dfl_frame *f, const dfl_plan_branches *branches, const dfl_chip_time *times);
/* Adds the times of the ports that an einsum needs, [2 * memory + is_write]; `is_again` as for dfl_branch_writes. */
void dfl_chip_time_add_ports(const dfl_frame *f, const uint32_t *branch_of, bool is_again, uint32_t einsum,
                             const dfl_chip_time *time, double *ports);
/* The time of the busiest memory of these ports; sets `*slowest` to it, DFL_NONE = none takes time. */
double dfl_busiest_memory(const dfl_system *s, const double *ports, uint32_t *slowest);
/* Instances of a compute unit on one chip. */
double dfl_chip_units(const dfl_frame *f, uint32_t compute);

#endif
