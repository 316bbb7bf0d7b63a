/*
 * Einsums as the search sees them: their problems on every unit that can run them, and classes of einsums whose problems are the
 * same but for names, with the templates of each. What a class costs at least, and its rows, are found once for all its einsums.
 */
#ifndef DFL_MAPPER_EXACT_EINSUM_CLASSES_H
#define DFL_MAPPER_EXACT_EINSUM_CLASSES_H

#include "mapper/exact/compatibility.h"
#include "mapper/exact/cost_to_go.h"
#include "mapper/exact/join.h"
#include "mapper/problem/options.h"
#include "support/vec.h"

/* Times of ports in s, 2 * place + (1 for writes of their own), at least. */
typedef struct {
    double busy[2 * DFL_PROBLEM_PLACES];
    double below[2 * DFL_PROBLEM_PLACES]; /* without transfers of keeps above shared loops */
} dfl_candidate_times;

typedef struct {
    const dfl_problem *problem;
    const dfl_tiling_template *form;
    double joules, seconds;            /* at least, */
    double roomy_joules, roomy_seconds; /* and whatever the room */
    const dfl_candidate_times *times;  /* neighbours share equal ones: there may be a million candidates */
    uint32_t at;                       /* in the order they were made */
    uint32_t pattern;                  /* of the class */
} dfl_candidate;

/* What a class asks of the ways of its rows: that of every operand in `known`, a mask, some partner offers the way. */
struct dfl_compatibility {
    const struct dfl_einsum_classes *classes;
    uint32_t class;
    uint32_t known;
};

/* The operand of another class that an operand is exchanged with: of the producer of an input, the first reader of a result. */
typedef struct { uint32_t class, operand; } dfl_partner;

typedef struct {
    uint32_t first;                    /* einsum */
    DFL_VEC(dfl_candidate) candidates; /* templates on all units, least energy first */
    DFL_VEC(dfl_pattern) patterns;
    DFL_VEC(dfl_partner) next[DFL_PROBLEM_OPERANDS];
    uint32_t repeated;                 /* mask: operands whose other side may be that of an operand before */
    dfl_criteria *others;             /* by pattern: everything else, at least */
    const dfl_pmapping *apart;         /* the best with all that is exchanged in the outermost memory; NULL = not found */
    /* of the present search: */
    const dfl_pmapping *const *list;   /* of its rows */
    uint32_t n_list;
    bool searched;                     /* with the present limit */
    uint32_t wave;                     /* rows are only those that go with what earlier waves offer */
    dfl_compatibility filter;
    dfl_interfaces_offered offers[DFL_PROBLEM_OPERANDS]; /* of its rows */
} dfl_einsum_class;

typedef struct dfl_einsum_classes {
    const dfl_mapping *m;
    bool plain;                        /* do not count what partners cost more, see dfl_einsum_classes_wanted */
    bool tree;                         /* exchanged operands connect any two einsums in one way at most */
    uint32_t n;                        /* einsums */
    const bool *roomy;                 /* by memory, see dfl_space_roomy */
    dfl_problems *problems;            /* per einsum: one for every unit that can run it, at least one */
    uint32_t *of;                      /* class of an einsum */
    DFL_VEC(dfl_einsum_class) at;
} dfl_einsum_classes;

/* False after reporting, or when halted. */
bool dfl_einsum_classes_make(dfl_arena *arena, dfl_arena *scratch, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m,
                             const dfl_problem_limits *limits, uint32_t threads, dfl_deadline *halt, dfl_einsum_classes *out);
/* The same within the limits of a search. To list skeletons is no evaluation, but there may be too many of them for a search
   that is to be short: a limit on evaluations limits the steps, too. `*stopped` is the limit that stopped it. */
bool dfl_einsum_classes_make_within(dfl_arena *arena, dfl_arena *scratch, dfl_sink *sink, const dfl_intern *names,
                                    const dfl_mapping *m,
                                    const dfl_problem_limits *limits, const dfl_search_limits *all, dfl_einsum_classes *out,
                                        dfl_stop *stopped);
/* Sets what `goal` adds to rows of the class that follow a pattern: everything else, and the ports that they keep busy. */
void dfl_einsum_classes_aim(const dfl_einsum_class *c, uint32_t pattern, dfl_tile_goal *goal);
/* The pattern that a template follows. */
uint32_t dfl_einsum_classes_pattern(const dfl_einsum_class *c, const dfl_problem *problem, const dfl_tiling_template *t);
/* Begins with the rows of another limit. */
void dfl_einsum_classes_restart(dfl_einsum_classes *k);
/*
 * The classes to search next, in `wave`; their number, 0 = all have been. Those go first that the classes searched before leave
 * least free to exchange their operands, since every way to do so makes rows. Sets their filters.
 */
uint32_t dfl_einsum_classes_wave(dfl_einsum_classes *k, uint32_t number, uint32_t *wave);
/*
 * Whether some partner goes with the way, or with one loop of it: for dfl_tile_goal.filter. `more`: each einsum of a mapping
 * costs the least of its pattern, and what its row costs beyond that; the rows of a partner that offer the way tell the
 * latter. An einsum on the other side of two operands counts once. In a tree what is behind a partner shares no einsum with
 * the rest: then what rows of the partner make its own partners cost more counts, too.
 */
bool dfl_einsum_classes_wanted(const dfl_compatibility *f, const dfl_problem *problem, const dfl_way *way, dfl_criteria *more);
bool dfl_einsum_classes_loop_wanted(const dfl_compatibility *f, const dfl_problem *problem, uint32_t operand, uint32_t memory,
                                    uint32_t rank,
                                    int64_t trips);
/* Notes what the rows of class `c` offer. */
void dfl_einsum_classes_offer(dfl_arena *arena, dfl_einsum_classes *k, const dfl_goal *goal, uint32_t c);
/* Whether some einsum has an operand with sliding windows. */
bool dfl_einsum_classes_windows(const dfl_einsum_classes *k);
/* What is joined, and bounded: by einsum, the rows and the patterns of its class. */
dfl_join_step *dfl_einsum_classes_steps(dfl_arena *arena, const dfl_einsum_classes *k);
dfl_cost_to_go *dfl_einsum_classes_cost_to_go(dfl_arena *arena, const dfl_einsum_classes *k);
/* The problem of every einsum that has the unit of its row. */
const dfl_problem *const *dfl_einsum_classes_chosen(dfl_arena *arena, const dfl_einsum_classes *k,
                                                    const dfl_pmapping *const *rows);

#endif
