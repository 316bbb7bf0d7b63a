/*
 * The keeps of a mapping as a forest: for each tensor from its home inwards, with the footprint below each keep.
 * Traffic, occupancy and time walk it.
 * `Written` is a keep with an einsum below that produces the tensor; other keeps are `read-only`. A flush is the exit
 * of all updated elements of a keep because a `fresh` keep further out is refilled (MODEL.md, section 2).
 */
#ifndef DFL_MODEL_COUNTS_KEEP_TREE_H
#define DFL_MODEL_COUNTS_KEEP_TREE_H

#include "model/counts/delta.h"
#include "ir/result.h"

/* Elements that a `fresh` keep refills although they stay in the keep inside it: entries of `with` minus entries of
   `without`. */
typedef struct { dfl_delta *with, *without; } dfl_refill_stay;

/* Deltas of a keep, one for each way of sharing that a count needs. NULL where the count does not apply. */
typedef struct {
    dfl_delta *each;        /* each instance by itself */
    dfl_delta *starts_each; /* written: each instance by itself, with a flush counted as an exit and an entry */
    dfl_delta *shared;      /* read-only: as the outer keep serves the instances */
    dfl_delta *passed;      /* read-only, with forwarding: each instance by itself, without the elements that
                               neighbours pass on */
    dfl_delta *joined;      /* written: all instances in one instance of the outer keep as one; NULL if refused */
    dfl_delta *coming;      /* written, inside a `fresh` keep, for coordinate 0: as `joined`, without the entries
                               that a flush causes */
    dfl_delta *meeting;     /* written: as the outer keep is updated */
    dfl_delta *made;        /* written: the elements made below, each instance by itself; NULL if some are made again */
    dfl_delta *given;       /* exchanged: the elements made below, in one instance of the outer keep */
    dfl_refill_stay *stays; /* written, inside a `fresh` keep: elements that it refills although they stay here */
    uint32_t n_stays;
    bool anew;              /* written: a `fresh` keep at or around it makes elements enter again, so that entries do
                               not tell which instance made an element */
    dfl_delta *starts;      /* recomputed, at home: tiles of the producer, whose sizes add up to the number of starts
                               of elements */
    dfl_delta *supplied;    /* recomputed at home, or `adding`: entries of elements that the producer updates at that
                               step */
} dfl_keep_deltas;

/* A keep with its footprint. */
typedef struct {
    const dfl_body *body;
    const dfl_line *line;
    uint32_t step;            /* step of the line on every path below it (step_numbers.h) */
    uint32_t parent;          /* next outer keep of the tensor; DFL_NONE for a home */
    uint32_t before;          /* keep of the tensor before this one in the order of the bodies; DFL_NONE for the
                                 first */
    bool written;             /* an einsum below produces the tensor */
    bool exchanged;           /* producer and a consumer meet in a branch below, so that elements are read where they
                                 are made */
    uint64_t adding;          /* `exchanged`: bit set of the loops above that add to all elements in every iteration */
    bool produced;            /* some einsum produces the tensor */
    uint32_t producer;        /* einsum that produces the tensor; DFL_NONE if none does */
    bool windows;             /* written: some dimension of the result is indexed by a sum of ranks, so that tiles
                                 may overlap */
    bool box;                 /* this keep, or one of the tensor inside it, holds the bounding box */
    bool fresh;               /* the tile is refilled whenever a temporal loop above advances */
    dfl_footprint footprint;
    dfl_footprint *flushed;   /* footprint whose tile also starts anew where a `fresh` keep further out is refilled;
                                 `&footprint` if there is none */
    dfl_keep_deltas all, one; /* deltas in the whole system; deltas in one instance */
    dfl_delta *united;        /* written, at home: all instances as one */
    uint32_t forward;         /* spatial step along which neighbours pass elements on; DFL_NONE without forwarding */
    dfl_i128 distinct;        /* written: number of elements that are ever made */
} dfl_keep;

/* Keeps of a mapping, as a forest. */
typedef struct {
    dfl_keep *at;
    uint32_t n;       /* number of keeps, in the order of the bodies, parents before children */
    uint32_t *first;  /* by body: its first keep; the entry after the last body is `n` */
    uint32_t *latest; /* by tensor: its last keep, or DFL_NONE */
} dfl_keep_tree;

/* Finds the keeps of a mapping. False after E0609. */
bool dfl_keep_tree_make(dfl_nest *nest, dfl_keep_tree *out);
/* A new footprint like that of a keep, refilled as a whole whenever a temporal step before `restart` advances. */
dfl_footprint *dfl_keep_tree_footprint(dfl_nest *nest, const dfl_keep *keep, uint32_t restart);
/* The innermost keep of a tensor on the path of an einsum; DFL_NONE if there is none. */
uint32_t dfl_keep_tree_innermost(const dfl_nest *nest, const dfl_keep_tree *keeps, uint32_t einsum, uint32_t tensor);
/* The way of sharing in which each instance of a keep is counted by itself. */
dfl_sharing dfl_keep_tree_sharing(const dfl_nest *nest, const dfl_keep *keep);
/* Bit set: spatial steps < n on the path of `einsum` on axes that enclose an element of the system. */
uint64_t dfl_keep_tree_steps_around(const dfl_nest *nest, uint32_t einsum, uint32_t n, uint32_t element);
/* Bit set: those of `steps` on axes whose network has multicast (with `reduce`: reduction) for the tensor. */
uint64_t dfl_keep_tree_steps_shared(const dfl_nest *nest, uint32_t einsum, uint64_t steps, uint32_t tensor, bool reduce);

#endif
