/*
 * Tensors whose home lies outside of the chips, in a memory that several chips may share: of a server, or of a host. Weights, the
 * state of the optimizer, and what the backward pass reads of the forward pass may lie there. A chip has room for two layers of
 * them: einsums work in one, while the port of the outer memory empties and fills the other one.
 */
#ifndef DFL_PLAN_LAYOUT_OFFLOAD_H
#define DFL_PLAN_LAYOUT_OFFLOAD_H

#include "plan/layout/layouts.h"

/* Data of a tensor that passes the port of its outer memory, for all chips inside of one instance of this memory together. */
typedef struct {
    dfl_i128 read_bits, written_bits;      /* of one layer in one pass */
    double read_seconds, write_seconds;    /* time of the port for them */
    int64_t layers;                        /* of a chip: a step of the optimizer passes them all; 1 for a tensor without */
} dfl_offload_port;

typedef struct {
    const dfl_offload_port *of; /* [tensor]: all 0 for a tensor on the chip */
    const bool *stored;         /* [tensor]: made in the forward pass and read in the backward pass */
} dfl_offload;

/* The data of all tensors outside of the chips; NULL = there are none. False after a report: a part of it is not evaluated. */
bool dfl_offload_find(const dfl_frame *f, const dfl_layouts *layouts, const dfl_offload **out);
/* What one pass through some einsums needs of the ports of outer memories, [2 * memory + (write ? 1 : 0)]. */
typedef struct {
    double *seconds;
    dfl_i128 *bits;
    double longest;             /* time of the busiest port (in s) */
} dfl_offload_busy;

/* The layer of a pass: the first of the repeat, the first of a chunk to which another one has sent its input, or another one;
   OTHER stands for einsums outside of repeats, too. */
typedef enum { DFL_OFFLOAD_OTHER, DFL_OFFLOAD_FIRST, DFL_OFFLOAD_SENT } dfl_offload_layer;

/* The use of the ports by a pass through `n` einsums of a phase, or that the backward phase runs again. Each tensor passes once.
   False after a report: a count overflows. */
bool dfl_offload_pass(const dfl_frame *f, const dfl_offload *o, dfl_phase phase, dfl_offload_layer layer, const uint32_t *einsums,
                      size_t n, dfl_offload_busy *busy);

#endif
