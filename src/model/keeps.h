/*
 * The keeps of a mapping as a forest: per tensor, from its home inwards, with everything that touches the tensor below
 * each of them. Traffic and occupancy walk it.
 */
#ifndef DFL_MODEL_KEEPS_H
#define DFL_MODEL_KEEPS_H

#include "model/flow.h"
#include "model/result.h"

typedef struct {
    const dfl_body *body;
    const dfl_line *line;
    uint32_t step;           /* step number of the line on every path below it */
    uint32_t parent;         /* next outer keep, DFL_NONE for a home */
    bool written;            /* an einsum below produces the tensor */
    bool exchanged;          /* producer and a consumer meet in a branch below: elements are read where they are made */
    bool online;             /* `exchanged`, but a loop above adds to all elements in every iteration */
    bool produced;           /* some einsum produces the tensor */
    uint32_t producer;       /* that einsum */
    bool box;                /* it, or a keep of the tensor inside it, holds the bounding box */
    dfl_point point;
} dfl_keep;

typedef struct {
    dfl_keep *at;
    uint32_t n;              /* parents before children */
} dfl_keeps;

/* Number of path steps above the first line of a body. */
uint32_t dfl_steps_above(const dfl_body *body);
/* False after E0609. */
bool dfl_keeps_make(dfl_setting *set, dfl_keeps *out);
/* The innermost keep of the tensor on the way to an einsum; DFL_NONE if there is none. */
uint32_t dfl_keep_innermost(const dfl_setting *set, const dfl_keeps *keeps, uint32_t einsum, uint32_t tensor);
/* How the instances of a keep hold its tiles, each by itself. */
dfl_sharing dfl_keep_sharing(const dfl_setting *set, const dfl_keep *k);
/* Spatial steps < n on the way to `einsum` whose axis encloses an element. */
uint64_t dfl_steps_around(const dfl_setting *set, uint32_t einsum, uint32_t n, uint32_t element);
/* Those of the steps whose axis' network has multicast (or reduction) for the tensor. */
uint64_t dfl_steps_served(const dfl_setting *set, uint32_t einsum, uint64_t steps, uint32_t tensor, bool reduce);

#endif
