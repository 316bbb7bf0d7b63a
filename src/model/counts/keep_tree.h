/*
 * The keeps of a mapping as a forest: per tensor, from its home inwards, with everything that touches the tensor below
 * each of them. Traffic and occupancy walk it.
 */
#ifndef DFL_MODEL_COUNTS_KEEP_TREE_H
#define DFL_MODEL_COUNTS_KEEP_TREE_H

#include "model/counts/delta.h"
#include "ir/result.h"

/* Elements that a refill of a `fresh` keep finds staying in the keep inside it: the difference of two countings. */
typedef struct { dfl_delta *with, *without; } dfl_refill_stay;

/* The ways of sharing in which the entries and leavings of a keep are counted. */
typedef struct {
    dfl_delta *each;         /* every instance by itself */
    dfl_delta *starts_each;  /* written: the same, a flush being an exit and an entry */
    dfl_delta *shared;       /* read-only: as the outer keep serves them */
    dfl_delta *passed;       /* read-only, with forwarding: every instance, without what neighbours pass on */
    dfl_delta *joined;       /* written: as one instance; NULL = refused */
    dfl_delta *coming;       /* ... inside a `fresh` keep, for coordinate 0: the same without what a flush leaves there */
    dfl_delta *meeting;      /* written: as the outer keep is updated */
    dfl_delta *made;         /* written: every instance by itself, what is made below; NULL = some of it again */
    dfl_delta *given;        /* exchanged: the same in one instance of the outer keep */
    dfl_refill_stay *stays;         /* written, inside a `fresh` keep: what it refills although it stays here */
    uint32_t n_stays;
    bool anew;               /* written: entries do not tell who made what, as a keep at or around it is refilled whole */
    dfl_delta *starts;       /* recomputed at home: how often its producer starts an element */
    dfl_delta *supplied;     /* recomputed at home, or `adding`: entries at which the producer touches what enters */
} dfl_keep_deltas;

typedef struct {
    const dfl_body *body;
    const dfl_line *line;
    uint32_t step;           /* step number of the line on every path below it (step_numbers.h) */
    uint32_t parent;         /* next outer keep, DFL_NONE for a home */
    uint32_t before;         /* the keep of the tensor before this one, or DFL_NONE */
    bool written;            /* an einsum below produces the tensor */
    bool exchanged;          /* producer and a consumer meet in a branch below: elements are read where they are made */
    uint64_t adding;         /* `exchanged`: loops above that add to all elements in every iteration */
    bool produced;           /* some einsum produces the tensor */
    uint32_t producer;       /* that einsum */
    bool windows;            /* written: a dimension of the result is indexed by a sum of ranks, its tiles may overlap */
    bool box;                /* it, or a keep of the tensor inside it, holds the bounding box */
    bool fresh;              /* the tile is refilled whenever a temporal loop above advances */
    dfl_footprint footprint;
    dfl_footprint *flushed;      /* the same; where a `fresh` keep further out is refilled everything leaves and enters anew */
    dfl_keep_deltas all, one; /* in the whole system; in one instance */
    dfl_delta *united;       /* written, at home: all instances as one */
    uint32_t forward;        /* spatial step whose neighbours pass elements on, or DFL_NONE */
    dfl_i128 distinct;       /* written: elements that are ever made */
} dfl_keep;

typedef struct {
    dfl_keep *at;
    uint32_t n;              /* in the order of the bodies, parents before children */
    uint32_t *first;         /* per body: its first keep; behind the last body `n` */
    uint32_t *latest;        /* per tensor: its last keep, or DFL_NONE */
} dfl_keep_tree;

/* False after E0609. */
bool dfl_keep_tree_make(dfl_nest *nest, dfl_keep_tree *out);
/* The point of a keep, its tile starting anew whenever a temporal step before `restart` advances. */
dfl_footprint *dfl_keep_tree_footprint(dfl_nest *nest, const dfl_keep *k, uint32_t restart);
/* The innermost keep of the tensor on the way to an einsum; DFL_NONE if there is none. */
uint32_t dfl_keep_tree_innermost(const dfl_nest *nest, const dfl_keep_tree *keeps, uint32_t einsum, uint32_t tensor);
/* How the instances of a keep hold its tiles, each by itself. */
dfl_sharing dfl_keep_tree_sharing(const dfl_nest *nest, const dfl_keep *k);
/* Spatial steps < n on the way to `einsum` whose axis encloses an element. */
uint64_t dfl_keep_tree_steps_around(const dfl_nest *nest, uint32_t einsum, uint32_t n, uint32_t element);
/* Those of the steps whose axis' network has multicast (or reduction) for the tensor. */
uint64_t dfl_keep_tree_steps_shared(const dfl_nest *nest, uint32_t einsum, uint64_t steps, uint32_t tensor, bool reduce);

#endif
