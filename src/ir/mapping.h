/*
 * When and where: a tree of bodies. A body is a chain of lines, from outer to inner, that ends in one einsum (a leaf)
 * or in a branch whose children run one after another (fuse) or at the same time (pipeline). A leaf that names
 * several einsums is stored as a fuse branch with one empty child each, so every leaf has exactly one einsum.
 *
 * A mapping may leave things to a search. Holes are loop amounts (`m:?`, `m/? in {8, 16}`) and places for any lines
 * or branches (`...`), and choices of what is written in a place (`keep ? in M;`, `temporal ?;`); `has_holes` says that there are
 * any. A leaf that is open may cover several einsums.
 */
#ifndef DFL_IR_MAPPING_H
#define DFL_IR_MAPPING_H

#include "ir/system.h"

struct dfl_val;

typedef enum { DFL_LINE_TEMPORAL, DFL_LINE_SPATIAL, DFL_LINE_KEEP } dfl_line_kind;
typedef enum { DFL_KEEP_EXACT, DFL_KEEP_FRESH, DFL_KEEP_WINDOW } dfl_keep_mode;
/* How a loop says its tiles. */
typedef enum {
    DFL_BY_SIZE,  /* r:T, and bare r as T = 1 */
    DFL_BY_PARTS, /* r/K: tiles of ceil(nominal / K) */
    DFL_BY_HOLE,  /* to be found, see `hole` of the line */
} dfl_by;

/* What the amount of a loop may be that a search is to find. */
typedef struct {
    dfl_by by;                 /* SIZE for r:?, PARTS for r/? */
    const int64_t *choices;    /* distinct, ascending, > 0; NULL = any */
    uint32_t n_choices;
} dfl_hole;

typedef struct {
    dfl_line_kind kind;
    dfl_span span;         /* the loop `m:128` or the kept tensor's name */
    dfl_span amount_span;  /* the T or K; equals `span` for a bare loop */
    /* loops */
    uint32_t rank;         /* rank of the workload */
    dfl_by by;
    int64_t amount;        /* T or K, > 0 */
    const dfl_hole *hole;  /* `by` is HOLE, or the amount was found; NULL = as written */
    bool cyclic, online;
    uint32_t axis;         /* spatial: axis of the system */
    const uint32_t *only;  /* spatial ... for T, U: einsums it applies to; NULL = all below */
    uint32_t n_only;
    /* keeps */
    uint32_t tensor, memory;
    dfl_keep_mode mode;
    bool given;            /* written, where a search added the lines around it */
} dfl_line;

/* A place for any lines. */
typedef struct {
    uint32_t at;           /* lines of the body above it */
    dfl_span span;
} dfl_open;

/* A place where a search chooses what is written: the tensors that are kept in a memory, or an order of loops. */
typedef struct {
    dfl_line_kind kind;
    uint32_t at, opens;    /* lines of the body above it, and places for any lines */
    dfl_span span;
    uint32_t axis;         /* spatial */
    uint32_t memory;       /* keeps */
    dfl_keep_mode mode;
    bool online;
} dfl_line_choice;

typedef enum { DFL_BODY_LEAF, DFL_BODY_FUSE, DFL_BODY_PIPELINE } dfl_body_kind;

typedef struct dfl_body {
    dfl_body_kind kind;
    dfl_span span;             /* head of the brace, or of the mapping */
    uint32_t id;               /* dense, in text order (parents before children); the root is 0 */
    struct dfl_body *parent;   /* NULL for the root */
    uint32_t depth;            /* the root has 0 */
    dfl_line *lines;
    uint32_t n_lines;
    struct dfl_body **children;
    uint32_t n_children;
    const uint32_t *einsums;   /* covered by this body, in workload order; exactly one for a leaf */
    uint32_t n_einsums;
    uint32_t compute;          /* `on unit;` of this body or inherited, DFL_NONE = not said */
    dfl_span compute_span;
    const uint32_t *recompute; /* tensors of `recompute T;` lines */
    uint32_t n_recompute;
    bool open;                 /* `...;` among the lines: any lines, and branches when no branch was written */
    const dfl_open *opens;     /* these, in order */
    uint32_t n_opens;
    const dfl_line_choice *choices; /* in order */
    uint32_t n_choices;
    bool open_children;        /* `...;` among the children: branches for the einsums that no child covers */
    dfl_span open_span;        /* of the first `...` */
} dfl_body;

typedef struct {
    bool overlap_perfect;      /* option overlap = perfect; */
} dfl_options;

typedef struct {
    dfl_sym name;
    dfl_span span;             /* the name where it is declared */
    dfl_span text;             /* the whole declaration; lines of a template stand outside of it */
    const char *doc;           /* text of the doc comment, a line each, without the slashes; NULL = none */
    const dfl_workload *workload;
    const dfl_system *system;
    const char *target;        /* `W(M = 8) on S(rows = 4)` with every parameter, as the language writes it */
    dfl_body *root;
    dfl_body *const *bodies;   /* by id */
    uint32_t n_bodies;
    bool has_holes;
    dfl_span hole_span;        /* the first one */
    uint32_t n_choices;        /* of all bodies */
    const struct dfl_val *const *minimize; /* what the search is to make small, in lexicographic order (program.h) */
    uint32_t n_minimize;       /* 0 = energy * latency, or latency where no energy is declared */
    const char *minimize_text; /* as written; NULL without */
    const struct dfl_val *const *front; /* what the mappings of a front are compared in: `pareto` */
    uint32_t n_front;
    const char *front_text;
    dfl_span front_span;
    const char *refused;       /* what in it is checked, but not evaluated ("an efficiency table"); NULL = nothing */
    dfl_span refused_span;
    dfl_options options;
} dfl_mapping;

/* The leaf of an einsum, or NULL. */
const dfl_body *dfl_mapping_leaf(const dfl_mapping *m, uint32_t einsum);
/* A copy with bodies and lines of its own; what they are over, and choices of holes, is shared. */
dfl_mapping *dfl_mapping_copy(dfl_arena *arena, const dfl_mapping *m);
/* The innermost body that holds both, never NULL. */
const dfl_body *dfl_body_common(const dfl_body *a, const dfl_body *b);
/* Leaves the body open behind all of its lines, and nowhere else. */
void dfl_body_open_end(dfl_arena *arena, dfl_body *body);
bool dfl_body_within(const dfl_body *inner, const dfl_body *outer);
/* The data type in which an einsum computes: that of its widest operand. */
const dfl_dtype *dfl_einsum_type(const dfl_workload *w, const dfl_einsum *e);
/* Time of one point of an einsum on one instance of a unit, or -1: the unit has no rate for a part of it. A rate for the
   data type counts before one for the operation (`mac`, `flop`, or an op by name), and that before one for all. */
double dfl_point_seconds(const dfl_intern *names, const dfl_workload *w, const dfl_einsum *e, const dfl_compute *unit);
/* Energy of one point, 0 where none is declared. */
double dfl_point_joules(const dfl_einsum *e, const dfl_compute *unit);

#endif
