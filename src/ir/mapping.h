/*
 * A mapping: when and where a workload is computed on a system, as a tree of bodies. A body is a chain of lines, from
 * outer to inner, that ends in one einsum (a leaf) or in children that run one after another (fuse) or at the same time
 * (pipeline). A leaf that names several einsums is stored as a fuse branch with one empty child each, so that every
 * leaf has exactly one einsum.
 *
 * A mapping may have holes, which a search fills; `has_holes` tells. Holes are loop amounts (`m:?`, `m/? in {8, 16}`),
 * places for any lines or branches (`...`), and choices of a line's subject (`keep ? in M;`, `temporal ?;`). An open
 * leaf may cover several einsums.
 */
#ifndef DFL_IR_MAPPING_H
#define DFL_IR_MAPPING_H

#include "ir/system.h"

struct dfl_val;

typedef enum { DFL_LINE_TEMPORAL, DFL_LINE_SPATIAL, DFL_LINE_KEEP } dfl_line_kind;
typedef enum { DFL_KEEP_EXACT, DFL_KEEP_FRESH, DFL_KEEP_WINDOW } dfl_keep_mode;
/* How a loop gives its tile size. */
typedef enum {
    DFL_BY_SIZE,  /* r:T, and bare r as T = 1 */
    DFL_BY_PARTS, /* r/K: tiles of ceil(nominal / K) */
    DFL_BY_HOLE,  /* left to a search; see `hole` of the line */
} dfl_by;

/* The amounts that a search may choose for a loop. */
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
    const dfl_hole *hole;  /* the hole, also after a search has filled it; NULL = the amount was written */
    bool cyclic, online;
    uint32_t axis;         /* spatial: axis of the system */
    const uint32_t *only;  /* `spatial ... for T, U`: einsums that the line applies to; NULL = all below */
    uint32_t n_only;
    /* keeps */
    uint32_t tensor, memory;
    dfl_keep_mode mode;
    bool given;            /* written in the file, in a body to which a search has added lines */
} dfl_line;

/* A place for any lines. */
typedef struct {
    uint32_t at;           /* lines of the body above it */
    dfl_span span;
} dfl_open;

/* A place where a search chooses lines of one kind: the tensors to keep in a memory, or the order of loops. */
typedef struct {
    dfl_line_kind kind;
    uint32_t at, opens;    /* lines of the body above it, and places for any lines above it */
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
    uint32_t compute;          /* `on unit;` of this body or inherited, DFL_NONE = not given */
    dfl_span compute_span;
    const uint32_t *recompute; /* tensors of `recompute T;` lines */
    uint32_t n_recompute;
    bool open;                 /* `...;` among the lines: a search adds any lines, and branches if none is written */
    const dfl_open *opens;     /* these places, in order */
    uint32_t n_opens;
    const dfl_line_choice *choices; /* in order */
    uint32_t n_choices;
    bool open_children;        /* `...;` among the children: a search adds branches for the einsums that no child covers */
    dfl_span open_span;        /* the first `...` */
} dfl_body;

typedef struct {
    bool overlap_perfect;      /* option overlap = perfect; */
} dfl_options;

typedef struct {
    dfl_sym name;
    dfl_span span;             /* the name where it is declared */
    dfl_span text;             /* the whole declaration; lines from a template have spans outside of it */
    const char *doc;           /* text of the doc comment without the slashes, line by line; NULL = none */
    const dfl_workload *workload;
    const dfl_system *system;
    const char *target;        /* `W(M = 8) on S(rows = 4)` with every parameter, as the language writes it */
    dfl_body *root;
    dfl_body *const *bodies;   /* by id */
    uint32_t n_bodies;
    bool has_holes;
    dfl_span hole_span;        /* the first one */
    uint32_t n_choices;        /* of all bodies */
    const struct dfl_val *const *minimize; /* objectives of a search, the first counts most (lexicographic; program.h) */
    uint32_t n_minimize;       /* 0 = energy * latency, or latency where no energy is declared */
    const char *minimize_text; /* as written; NULL without */
    const struct dfl_val *const *front; /* criteria of a Pareto front: `pareto` */
    uint32_t n_front;
    const char *front_text;
    dfl_span front_span;
    const char *refused;       /* a construct that is checked, but not evaluated ("an efficiency table"); NULL = none */
    dfl_span refused_span;
    dfl_options options;
} dfl_mapping;

/* The leaf of an einsum, or NULL. */
const dfl_body *dfl_mapping_leaf(const dfl_mapping *m, uint32_t einsum);
/* A copy with its own bodies and lines; workload, system and choices of holes are shared. */
dfl_mapping *dfl_mapping_copy(dfl_arena *arena, const dfl_mapping *m);
/* The innermost body that holds both, never NULL. */
const dfl_body *dfl_body_common(const dfl_body *a, const dfl_body *b);
/* Leaves the body open behind its last line, and nowhere else. */
void dfl_body_open_end(dfl_arena *arena, dfl_body *body);
/* Whether `inner` is `outer` or lies inside it. */
bool dfl_body_within(const dfl_body *inner, const dfl_body *outer);
/* The data type in which an einsum computes: that of its widest input, or of its output if it has no input. */
const dfl_dtype *dfl_einsum_type(const dfl_workload *w, const dfl_einsum *e);
/* Time of one point of an einsum on one instance of a unit, s; -1 if the unit has no rate for some of its operations. A
   rate for the data type takes precedence over one for the operation (`mac`, `flop`, or an op by name), and that over a
   rate for all. */
double dfl_point_seconds(const dfl_intern *names, const dfl_workload *w, const dfl_einsum *e, const dfl_compute *unit);
/* Energy of one point, J; 0 if none is declared. */
double dfl_point_joules(const dfl_einsum *e, const dfl_compute *unit);

#endif
