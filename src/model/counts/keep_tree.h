/*
 * The keeps of a mapping as a forest: for each tensor, the keeps from the home inwards, with the footprint below each
 * keep. The counts of traffic, occupancy and time traverse this forest. A `written` keep has an einsum below that
 * produces the tensor; all other keeps are `read-only`. A flush is the exit of all updated elements of a keep because
 * an outer `fresh` keep is refilled (MODEL.md, section 2).
 */
#ifndef DFL_MODEL_COUNTS_KEEP_TREE_H
#define DFL_MODEL_COUNTS_KEEP_TREE_H

#include "model/counts/delta.h"
#include "ir/result.h"

/* Elements that a `fresh` keep refills although they stay in the next inner keep: entries of `with` minus entries of
   `without`. */
typedef struct { dfl_delta *with, *without; } dfl_refill_stay;

/* Deltas of a keep, one for each way of sharing that a count needs. A member is NULL if its count does not apply. */
typedef struct {
    dfl_delta *each;        /* each instance counted separately */
    dfl_delta *starts_each; /* written: each instance counted separately, with a flush counted as an exit and an entry */
    dfl_delta *shared;      /* read-only: instances combined as the outer keep serves them */
    dfl_delta *passed;      /* read-only, with forwarding: each instance counted separately, without the elements that
                               neighbours pass on */
    dfl_delta *joined;      /* written: the instances in each instance of the outer keep combined to one; NULL if the model
                               refuses the count */
    dfl_delta *coming;      /* written, inside a `fresh` keep, for coordinate 0: `joined` without the entries that a flush
                               causes */
    dfl_delta *meeting;     /* written: instances combined as they update the outer keep */
    dfl_delta *made;        /* written: the elements made below, each instance counted separately; NULL if some elements are
                               made again */
    dfl_delta *given;       /* exchanged: the elements made below, in one instance of the outer keep */
    dfl_refill_stay *stays; /* written, inside a `fresh` keep: elements that the `fresh` keep refills although they stay in this
                               keep */
    uint32_t n_stays;
    bool anew;              /* written: a `fresh` keep at or around this keep makes elements enter again, so entries do not show
                               which instance made an element */
    dfl_delta *starts;      /* recomputed tensor, at home: tiles of the producer; the sum of their sizes is the number of starts
                               of elements */
    dfl_delta *supplied;    /* recomputed tensor at home, or `adding`: entries of elements that the producer updates at the same
                               step */
} dfl_keep_deltas;

/* A keep with its footprint. */
typedef struct {
    const dfl_body *body;
    const dfl_line *line;
    uint32_t step;            /* step of the line on every path below it (step_numbers.h) */
    uint32_t parent;          /* next outer keep of the tensor; DFL_NONE for the home */
    uint32_t before;          /* previous keep of the tensor in the order of the bodies; DFL_NONE for the first keep */
    bool written;             /* an einsum below produces the tensor */
    bool is_state;            /* the tensor is a state that some einsum produces: its elements have values from the start */
    bool exchanged;           /* the producer and a consumer meet in a branch below, so consumers read elements where the
                                 producer makes them */
    uint64_t adding;          /* `exchanged`: bit set of the loops above whose every iteration adds to all elements */
    bool produced;            /* some einsum produces the tensor */
    uint32_t producer;        /* einsum that produces the tensor, the first one below the keep if some stand there; DFL_NONE for a
                                 tensor without a producer */
    uint32_t n_makers;        /* number of einsums below that produce the tensor */
    bool windows;             /* written: a sum of ranks indexes some dimension of the result, so tiles may overlap; or the
                                 producer has conditions, so instances begin to work at different steps */
    bool box;                 /* this keep, or an inner keep of the tensor, holds the bounding box */
    bool fresh;               /* the tile is refilled whenever a temporal loop above advances */
    dfl_footprint footprint;
    dfl_footprint *flushed;   /* footprint whose tile also starts anew when an outer `fresh` keep is refilled; `&footprint`
                                 without such a keep */
    dfl_keep_deltas all, one; /* deltas over the whole system; deltas of one instance */
    dfl_delta *united;        /* written, at home: all instances combined to one */
    uint32_t forward;         /* spatial step along which neighbours pass elements on; DFL_NONE without forwarding */
    dfl_i128 distinct;        /* written: number of distinct elements that the producers below make */
    dfl_i128 first_made;      /* written: number of these elements that no earlier producer of the tensor makes */
} dfl_keep;

/* Keeps of a mapping, as a forest. */
typedef struct {
    dfl_keep *at;
    uint32_t n;       /* number of keeps, in the order of the bodies, parents before children */
    uint32_t *first;  /* [body]: first keep of the body; the entry after the last body is `n` */
    uint32_t *latest; /* [tensor]: last keep of the tensor, or DFL_NONE */
} dfl_keep_tree;

/* Finds the keeps of a mapping. False after E0609. */
bool dfl_keep_tree_make(dfl_nest *nest, dfl_keep_tree *out);
/* A new footprint like that of a keep, but refilled whole whenever a temporal step before `restart` advances. */
dfl_footprint *dfl_keep_tree_footprint(dfl_nest *nest, const dfl_keep *keep, uint32_t restart);
/* The innermost keep of a tensor on the path of an einsum; DFL_NONE if there is none. */
uint32_t dfl_keep_tree_innermost(const dfl_nest *nest, const dfl_keep_tree *keeps, uint32_t einsum, uint32_t tensor);
/* The way of sharing that counts each instance of a keep separately. */
dfl_sharing dfl_keep_tree_sharing(const dfl_nest *nest, const dfl_keep *keep);
/* Bit set: spatial steps < n on the path of `einsum` that lie on axes around an element of the system. */
uint64_t dfl_keep_tree_steps_around(const dfl_nest *nest, uint32_t einsum, uint32_t n, uint32_t element);
/* Bit set: the steps in `steps` on axes whose network has multicast (with `reduce`: reduction) for the tensor. */
uint64_t dfl_keep_tree_steps_shared(const dfl_nest *nest, uint32_t einsum, uint64_t steps, uint32_t tensor, bool reduce);

#endif
