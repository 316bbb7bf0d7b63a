/*
 * The judge of one case of the peer AccelForge: imports and evaluates a specification, and compares every number that
 * the peer reports. The peer counts actions of components; the judge converts counts of elements to actions. A
 * difference must have a cause that follows from the specification alone (causes.c) and that may change the number.
 */
#ifndef DFL_TESTS_ACCELFORGE_JUDGE_H
#define DFL_TESTS_ACCELFORGE_JUDGE_H

#include "import/accelforge/accelforge.h"
#include "import/accelforge/expr.h"
#include "import/accelforge/tree.h"
#include "model/model.h"
#include "support/json.h"

typedef struct { char text[300]; } judge_text;

/* Kinds of numbers. */
typedef enum {
    NUMBER_OPERATIONS, NUMBER_INPUT, NUMBER_OUTPUT, NUMBER_TOLL, NUMBER_HOPS, /* actions */
    NUMBER_ENERGY, NUMBER_LATENCY, NUMBER_ROOM, NUMBER_LEAKAGE,
    NUMBER_KINDS
} number_kind;

typedef enum {
    CAUSE_AVERAGES,  /* imperfect factors: the peer uses mean trip counts, or rounds them up */
    CAUSE_FIRST,     /* skip_initial_output_write: false */
    CAUSE_WIDTHS,    /* tensors in one memory differ in width, or in values per action */
    CAUSE_ONE_WAY,   /* tolls that charge one direction of an output which passes in both */
    CAUSE_BOXES,     /* a tile with gaps is fetched as its bounding box */
    CAUSE_RETURNS,   /* old sums return to every instance of a reduction, not only to the instance that adds to them */
    CAUSE_UNREAD,    /* sums of instances without a reduction overwrite each other instead of being added */
    CAUSE_HOPS,      /* networks */
    CAUSE_GATING,    /* unused instances leak less */
    CAUSE_COUNT
} judge_cause;

typedef enum {
    VERDICT_EQUAL, VERDICT_REFUSED, VERDICT_EXPLAINED, VERDICT_UNEXPLAINED, VERDICT_BROKEN, VERDICTS
} judge_verdict;

typedef struct {
    judge_verdict verdict;
    uint32_t causes;                 /* causes that changed some number, as bits */
    uint32_t numbers, different;     /* count of compared numbers; count of unequal numbers */
    uint32_t by_cause[CAUSE_COUNT];  /* count of different numbers that the cause may change */
    bool perfect;                    /* the mapping has perfect factors only */
    bool counts, energy, latency, room; /* all numbers of the kind are equal */
    judge_text why;
} judge_result;

/* causes.c */
const char *judge_cause_text(judge_cause cause);
/* Causes in the specification that can change a number of the kind, as bits. `node` and `tensor` select a number of
   actions or room; DFL_AF_NONE for other kinds. */
uint32_t judge_causes_of(const dfl_af_file *f, const dfl_af_plan *plan, number_kind kind, uint32_t node, uint32_t tensor);
/* On which side of the peer's number the number of dflc must lie with these causes: -1 below, 1 above, 0 either. */
int judge_side(number_kind kind, uint32_t causes);
/* Whether all factors are perfect. */
bool judge_is_perfect(const dfl_af_file *f, const dfl_af_plan *plan);

/*
 * Judges one case (judge.c). `path` names the specification. `mapping` names a file with a mapping of the peer's
 * mapper, for which the peer reports only energy and latency; NULL if the specification has a mapping. `expected` is
 * the report of the peer. `say` prints every difference.
 */
void judge_case(const char *path, char *mapping, const dfl_json *expected, bool say, judge_result *out);

#endif
