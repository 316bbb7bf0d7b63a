/*
 * A mapping: when and where a workload is computed on a system, as a tree of bodies. A body is a chain of lines, from
 * outer to inner, that ends in one einsum (a leaf) or in children that run one after another (fuse) or at the same time
 * (pipeline). A leaf that names several einsums is stored as a fuse branch with one empty child each, so that every
 * leaf has exactly one einsum.
 *
 * A mapping may have holes, which a search fills; `has_holes` is then set. Holes are loop amounts (`m:?`, `m/? in {8,
 * 16}`), places for any lines or branches (`...`), and choices of a line's subject (`keep ? in M;`, `temporal ?;`). An
 * open leaf may cover several einsums.
 */
#ifndef DFL_IR_MAPPING_H
#define DFL_IR_MAPPING_H

#include "ir/system.h"

struct dfl_val;

typedef enum { DFL_LINE_TEMPORAL, DFL_LINE_SPATIAL, DFL_LINE_KEEP } dfl_line_kind;
typedef enum { DFL_KEEP_EXACT, DFL_KEEP_FRESH, DFL_KEEP_WINDOW } dfl_keep_mode;
/* How a loop gives its tile size. */
typedef enum {
    DFL_BY_SIZE,  /* `r:T`; a bare `r` is `r:1` */
    DFL_BY_PARTS, /* r/K: tiles of ceil(nominal / K) */
    DFL_BY_HOLE,  /* left to a search; see `hole` of dfl_line */
} dfl_by;

/* The order in which the stages of a pipeline over chips run the micro-batches. `joined` is the assumption of estimates in closed
   form: a stage runs the forward and the backward pass of a micro-batch as one operation. */
typedef enum { DFL_SCHEDULE_GPIPE, DFL_SCHEDULE_ONE_F_ONE_B, DFL_SCHEDULE_ZERO_BUBBLE, DFL_SCHEDULE_JOINED } dfl_schedule;

/* What an open decision of a plan over chips is about, and what its values are. */
typedef enum {
    DFL_DECISION_SCHEDULE,   /* values: dfl_schedule */
    DFL_DECISION_INTERLEAVE, /* values: chunks of layers of one stage */
    DFL_DECISION_SPLIT,      /* values: parts of a split home, or sizes of the parts */
    DFL_DECISION_RECOMPUTE,  /* values: indices of sets of tensors */
    DFL_DECISION_RANK,       /* values: ranks that a spatial line divides */
    DFL_DECISION_HOME,       /* values: memories that hold tensors */
} dfl_decision_kind;

typedef struct {
    const uint32_t *tensors; /* ascending */
    uint32_t n;
} dfl_tensor_set;

/* Whether a decision sets what lies or runs on which chips: its value may change which chips have work. */
static inline bool dfl_decision_divides(dfl_decision_kind kind)
{
    return kind == DFL_DECISION_SPLIT || kind == DFL_DECISION_RANK || kind == DFL_DECISION_HOME;
}

/* A decision of a plan over chips that is left to a search, beside the amounts of loops. Decisions have numbers from 1 on. */
typedef struct {
    dfl_decision_kind kind;
    dfl_span span;           /* place of the `?`, or of all alternatives, which the decision replaces */
    dfl_by by;               /* of a split: DFL_BY_PARTS or DFL_BY_SIZE */
    uint32_t rank, axis;     /* of a split; `rank` of an interleave: the loop with the stages */
    dfl_sym rank_name;       /* of a split: the name of the rank as it is written */
    const int64_t *values;   /* distinct, ascending; NULL = any, or the indices of the sets */
    uint32_t n;              /* number of values or sets; 0 = any value */
    const dfl_tensor_set *sets; /* of a recomputation */
} dfl_decision;

/* Stages of a spatial loop, from `pipeline(schedule = one_f_one_b, interleave = 2)`. */
typedef struct {
    dfl_span span;
    dfl_schedule schedule;
    int64_t interleave;    /* chunks of layers of one stage, >= 1 */
    uint32_t schedule_decision, interleave_decision; /* number of the decision that sets it; 0 = the file states it */
} dfl_stages;

/* One part of a split home, from `keep T in M split r/K on axis`. */
typedef struct {
    dfl_span span;
    uint32_t rank, axis;
    dfl_sym rank_name;     /* as it is written; a short name stands for the rank of each tensor */
    dfl_by by;             /* DFL_BY_PARTS or DFL_BY_SIZE */
    int64_t amount;        /* the K of `r/K`, the size of a part of `r:T` */
    uint32_t decision;     /* number of the decision that sets the amount; 0 = the file states it */
} dfl_home_split;

/* The amounts that a search may choose for a loop. */
typedef struct {
    dfl_by by;                 /* SIZE for `r:?`, PARTS for `r/?` */
    const int64_t *choices;    /* distinct choices, ascending, > 0; NULL = any amount */
    uint32_t n_choices;
} dfl_hole;

typedef struct {
    dfl_line_kind kind;
    dfl_span span;         /* place of the loop `m:128`, or of the kept tensor's name */
    dfl_span amount_span;  /* place of the T or K; equals `span` for a bare loop */
    /* members of loops */
    uint32_t rank;         /* rank of the workload that the loop iterates; one of several, if a decision sets it */
    uint32_t rank_decision; /* number of the decision that sets the rank; 0 = the file states it */
    uint32_t loop;         /* written loop, from 1 on, if its short name stands for several ranks: adjacent lines, one for each
                              of them, have this number, equal amounts and one hole; 0 = a loop over one rank */
    dfl_sym loop_name;     /* this name, "n"; only if `loop` is set */
    dfl_by by;
    int64_t amount;        /* the T or K of the loop, > 0 */
    const dfl_hole *hole;  /* the hole of the loop, kept after a search has filled it; NULL = the file states the amount */
    bool cyclic, online;
    bool rounds;           /* temporal loop over the rounds of a `cyclic` spatial loop: a tile has one block for each
                              instance, and may be larger than what is left of the rank */
    uint32_t axis;         /* spatial loop: axis of the system */
    const uint32_t *only;  /* `spatial ... for T, U`: einsums that the line applies to; NULL = all einsums below */
    uint32_t n_only;
    const dfl_stages *stages; /* spatial loop: its instances are the stages of a pipeline; NULL = they work beside each other */
    uint32_t statement;    /* lines of one statement have equal numbers */
    /* members of keeps */
    uint32_t tensor;
    uint32_t memory;       /* memory that holds the tensor; where a decision sets it, one of those that may */
    uint32_t memory_decision; /* number of the decision that sets the memory; 0 = the file states it */
    dfl_keep_mode mode;
    const dfl_home_split *splits; /* the home of the tensor is cut into these parts */
    uint32_t n_splits;
    bool given;            /* the line is written in the file, and its body has lines added by a search */
} dfl_line;

/* A place where a search may add any lines. */
typedef struct {
    uint32_t at;           /* number of lines of the body above the place */
    dfl_span span;
} dfl_open;

/* A place where a search chooses lines of one kind: the tensors to keep in a memory, or the order of loops. */
typedef struct {
    dfl_line_kind kind;
    uint32_t at, opens;    /* above this place in the body: `at` lines, and `opens` places for any lines */
    dfl_span span;
    uint32_t axis;         /* spatial loops: their axis */
    uint32_t memory;       /* keeps: their memory */
    dfl_keep_mode mode;
    bool online;
} dfl_line_choice;

typedef enum { DFL_BODY_LEAF, DFL_BODY_FUSE, DFL_BODY_PIPELINE } dfl_body_kind;

typedef struct dfl_body {
    dfl_body_kind kind;
    dfl_span span;             /* place of the head of the brace, or of the mapping's head */
    uint32_t id;               /* ids count from 0, the root, in text order (parents before children) */
    struct dfl_body *parent;   /* enclosing body, NULL for the root */
    uint32_t depth;            /* number of enclosing bodies; 0 for the root */
    dfl_line *lines;
    uint32_t n_lines;
    struct dfl_body **children;
    uint32_t n_children;
    const uint32_t *einsums;   /* einsums of this body, in workload order; exactly one for a leaf */
    uint32_t n_einsums;
    uint32_t compute;          /* unit by `on unit;` of this body or of an enclosing one, DFL_NONE = not stated */
    dfl_span compute_span;
    const uint32_t *recompute; /* tensors of `recompute T;` lines */
    uint32_t n_recompute;
    bool open;                 /* `...;` among the lines: a search adds any lines, and branches if none is written */
    const dfl_open *opens;     /* places of `...` among the lines, in order */
    uint32_t n_opens;
    const dfl_line_choice *choices; /* choices of subjects, in order */
    uint32_t n_choices;
    bool open_children;        /* `...;` among the children: a search adds branches for the einsums that no child covers */
    dfl_span open_span;        /* place of the first `...` */
} dfl_body;

typedef struct {
    bool overlap_perfect;      /* option overlap = perfect; */
    bool contention_none;      /* option contention = none: every message as if it were alone */
    uint32_t pieces;           /* option pieces: pieces in which groups stream through units; 0 = one */
    uint32_t chunks;           /* option chunks: pieces of every collective; 0 = the best number */
    dfl_i128 bucket_bits;      /* option bucket: size of a gradient bucket (in bits); 0 = the default, 25 MB */
    bool chip_search;          /* option chip = search: the einsums of a chip are divided into groups that run together */
    uint32_t groups;           /* option groups: most groups of a search; 0 = any number */
    bool exchanges_block;      /* option exchanges = blocking: no einsum runs beside an exchange */
    bool gradients_beside, gradients_behind; /* option gradients: gradients of weights are exchanged beside the last backward
                                  pass, or behind it; neither = as `exchanges` states */
} dfl_options;

typedef struct {
    dfl_sym name;
    dfl_span span;             /* place of the name in its declaration */
    dfl_span text;             /* place of the whole declaration; lines from a template have spans outside of it */
    const char *doc;           /* text of the doc comment without the slashes, line by line; NULL = no doc comment */
    const dfl_workload *workload;
    const dfl_system *system;
    const char *target;        /* workload and system with every parameter, in the language: `W(M = 8) on S(rows = 4)` */
    dfl_body *root;
    dfl_body *const *bodies;   /* bodies, by id */
    uint32_t n_bodies;
    bool has_holes;
    dfl_span hole_span;        /* place of the first hole */
    uint32_t n_choices;        /* number of choices of subjects in all bodies */
    const struct dfl_val *const *minimize; /* objectives of a search, in lexicographic order: the first takes precedence
                                              (program.h) */
    uint32_t n_minimize;       /* number of objectives; 0 = energy * latency, or latency if the system declares no energy */
    const char *minimize_text; /* text of the objectives in the file; NULL = no objectives */
    const struct dfl_val *const *front; /* criteria of a Pareto front, from `pareto` */
    uint32_t n_front;
    const char *front_text;
    dfl_span front_span;
    const char *refused;       /* name of a construct that dflc checks but does not evaluate ("an efficiency table"); NULL = no
                                  such construct */
    dfl_span refused_span;
    dfl_options options;
    const dfl_decision *decisions; /* open decisions of a plan over chips */
    uint32_t n_decisions;
    const int64_t *decided;    /* [decision]: its value, written into the lines; NULL = the decisions are open */
    bool asks_bandwidth;       /* evaluations find the required bandwidths of memories and networks, too, which takes longer */
} dfl_mapping;

/* Size of the work of an einsum on one instance of a unit in one pass of the einsum's brace. */
typedef struct {
    double flop;                 /* operations (FLOP); a MAC is two */
    double shape[DFL_GRID_DIMS]; /* extents m, n and k of a product of two operands: products over the ranks that the result
                                    shares with the first operand alone, with the second alone, and over those it lacks */
} dfl_work_size;

/* The word of the language for a schedule: "one_f_one_b". */
const char *dfl_schedule_name(dfl_schedule schedule);
/*
 * Whether a mapping is a plan over chips: it keeps tensors only inside of chips, and uses several of them. Chips are the
 * instances of an axis over a network with a shape (`switch`, `torus`, ...). Such an axis is inside of no memory that the
 * mapping uses. A plan states this by a word that only plans have, or has a spatial loop over chips and open lines below. The
 * instances of an axis that encloses no other system may be parts of one chip: then a plan has several einsums.
 */
bool dfl_mapping_is_plan(const dfl_mapping *m);
/* Whether line `i` of a body is the first one of its written loop. */
bool dfl_line_is_first(const dfl_body *body, uint32_t i);
/* The line behind the last one of the written loop that starts with line `i` of a body. */
uint32_t dfl_line_end(const dfl_body *body, uint32_t i);
/* The name of the rank of a loop as it is written: "n" for a loop over the ranks `conv1.n` and `fc.n`. */
dfl_sym dfl_line_rank_name(const dfl_workload *w, const dfl_line *line);
/* The largest extent of the ranks that the written loop of line `i` of the root is over, or may be over by an open decision. */
int64_t dfl_line_longest(const dfl_mapping *m, uint32_t i);
/* The leaf of an einsum, or NULL. */
const dfl_body *dfl_mapping_leaf(const dfl_mapping *m, uint32_t einsum);
/* A copy with its own bodies and lines; workload, system and choices of holes are shared. */
dfl_mapping *dfl_mapping_copy(dfl_arena *arena, const dfl_mapping *m);
/* Whether the keeps of a table and of the rows that gathers read from it stand together wherever einsums read both: a file keeps
   both by one name. */
bool dfl_mapping_keeps_rows_with_tables(const dfl_mapping *m);
/* Numbers the bodies below the root anew, and sets parents and depths, after the tree has changed. */
void dfl_mapping_number(dfl_arena *arena, dfl_mapping *m);
/* The innermost body that contains both `a` and `b`, never NULL. */
const dfl_body *dfl_body_common(const dfl_body *a, const dfl_body *b);
/* Opens a body for lines: puts one `...` after its last line and removes the other places for lines. */
void dfl_body_open_end(dfl_arena *arena, dfl_body *body);
/* Whether `inner` is `outer` or is nested in `outer`. */
bool dfl_body_within(const dfl_body *inner, const dfl_body *outer);
/* Whether an einsum runs in a body, whose einsums ascend: bisection. */
bool dfl_body_has_einsum(const dfl_body *body, uint32_t einsum);
/* The data type in which an einsum computes: that of the widest input without the positions of rows, or of the
   output if the einsum has no input. */
const dfl_dtype *dfl_einsum_type(const dfl_workload *w, const dfl_einsum *e);
/* Time of one point of an einsum on one instance of a unit (in s); -1 if the unit has no rate for some of its operations. A
   rate for the data type takes precedence over a rate for the operation (`mac`, `flop`, or an op by name). A rate for
   the operation takes precedence over a rate for all operations. */
double dfl_point_seconds(const dfl_intern *names, const dfl_workload *w, const dfl_einsum *e, const dfl_compute *unit);
/* The same with the shares of the rates that work of the size `size` reaches (>= dfl_point_seconds). `*small` is set to
   an efficiency whose first point is above the work, which has no time then. */
double dfl_point_seconds_at(const dfl_intern *names, const dfl_workload *w, const dfl_einsum *e, const dfl_compute *unit,
                            const dfl_work_size *size, const dfl_efficiency **small);
/* Energy of one MAC, or of one FLOP of an einsum without MACs, in the type of the einsum (in J); energy of one point of the
   einsum (in J). 0 if the unit declares no energy. */
double dfl_operation_joules(const dfl_workload *w, const dfl_einsum *e, const dfl_compute *unit);
double dfl_point_joules(const dfl_workload *w, const dfl_einsum *e, const dfl_compute *unit);

#endif
