/*
 * The cells of the oracle's machine: what a keep holds in each instance of its memory, how instances of one place lie
 * to those of the next outer one, and how an access of an einsum finds its element. See machine.h, which includes
 * this header.
 */
#ifndef DFL_ORACLE_CELLS_H
#define DFL_ORACLE_CELLS_H

#include "oracle/oracle.h"
#include "support/vec.h"

typedef struct { int64_t lo, hi; } oracle_piece;  /* empty when hi <= lo */
typedef DFL_VEC(uint32_t) oracle_list;

/* One element in one instance of a keep. */
typedef struct {
    bool present, has_value;
    bool filled;               /* its value came from the outer keep: it is in the care of this instance */
    bool taken;                /* ... and was updated here or further in: the outer keep's is void */
    bool dirty;                /* updated since it entered */
    int64_t parts;             /* operations whose results are in the value */
    uint64_t value;            /* modulo ORACLE_PRIME */
} oracle_cell;

/* Between the instances of an inner place (a keep's memory or a unit) and those of an outer one. */
typedef struct {
    uint32_t n_inner, n_outer;
    uint32_t *outer_of;        /* per inner instance */
    uint32_t *read_group;      /* inner instances that share one read of the outer place */
    uint32_t *write_group;     /* inner instances whose results meet on the way out */
    uint32_t n_axes;           /* axes in between that forward */
    uint32_t *axes;
    uint32_t *lower, *higher;  /* per forwarding axis and inner instance: the neighbour, or DFL_NONE */
} oracle_link;

/* What entered a keep and what left it, over the whole run. */
typedef struct {
    dfl_i128 served, filled;   /* reads of the outer keep, and the entries that they filled */
    dfl_i128 passed, empty;    /* entries from a neighbour, and without a value */
    dfl_i128 drained, dropped; /* elements that left */
    dfl_i128 flushed;          /* drained and still there */
    dfl_i128 updates;          /* of the outer keep */
} oracle_balance;

typedef struct oracle_keep {
    const dfl_line *line;
    const dfl_body *body;
    uint32_t step;             /* position of the line on the paths below it */
    uint32_t tensor, memory, n_inst, n_elem;
    struct oracle_keep *outer; /* NULL for a home */
    oracle_link link;          /* to the outer keep */
    bool lasting;              /* home of a tensor of the workload's interface: never releases a value */
    bool whole;                /* ... and in a memory with one instance: takes the room of the declared shape */
    dfl_i128 factor;           /* bits that an element takes, buffers included */
    dfl_i128 most;             /* largest tile of one instance so far */
    bool written;              /* some einsum below the line produces the tensor */
    bool box;                  /* holds the bounding box of what is touched */
    bool stays;                /* some instance went on holding some element when a loop advanced */
    bool always_live;          /* until the brace ends */
    uint32_t first_child, last_child; /* of the branch: where the tile is live otherwise */
    oracle_cell *cells;        /* n_inst x n_elem */
    uint32_t n_axes, *axes;    /* around the memory */
    uint32_t *stamp;           /* n_inst x n_elem: tick of the last tile that had the element */
    uint32_t *seen;            /* read or filled group x n_elem: tick of the last entry */
    oracle_list *now, *next;   /* per instance: elements of the tile, and of the next one */
    dfl_oracle_traffic *traffic;
    oracle_balance balance;
} oracle_keep;

/* An updated element on its way to a keep. */
typedef struct {
    uint32_t elem, inst, group; /* instance of that keep; group of instances that meet on the way */
    bool filled;
    int64_t parts;
    uint64_t value;
} oracle_result;

/* An access as an integer function of the local ranks. */
typedef struct {
    uint32_t tensor, n_dims;
    int64_t *coef;             /* n_dims x n_ranks of the einsum */
    int64_t *offset;           /* n_dims */
    oracle_keep *keep;         /* innermost keep of the tensor on the einsum's path */
    oracle_link link;          /* from the unit to that keep */
    uint32_t *seen;            /* read group x n_elem: tick of the last read */
    bool latched;              /* named in the unit's operand_reuse */
    uint32_t *latch;           /* per instance of the unit: element of the previous step, or DFL_NONE */
    uint32_t *fresh_latch;
} oracle_access;

#endif
