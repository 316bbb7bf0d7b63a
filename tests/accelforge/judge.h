/*
 * One case of the peer AccelForge: a specification, imported, evaluated, and every number that the peer reports held
 * against ours. The peer counts actions of components; our counts of elements are turned into those. A difference must
 * have a cause that follows from the specification alone (causes.c), each with the numbers that it may change.
 */
#ifndef DFL_TESTS_ACCELFORGE_JUDGE_H
#define DFL_TESTS_ACCELFORGE_JUDGE_H

#include "import/accelforge/accelforge.h"
#include "import/accelforge/expr.h"
#include "import/accelforge/tree.h"
#include "model/model.h"
#include "support/json.h"

typedef struct { char text[300]; } judge_text;

/* What kind of number it is. */
typedef enum {
    NUMBER_OPERATIONS, NUMBER_INPUT, NUMBER_OUTPUT, NUMBER_TOLL, NUMBER_HOPS, /* actions, by what is moved */
    NUMBER_ENERGY, NUMBER_LATENCY, NUMBER_ROOM, NUMBER_LEAKAGE,
    NUMBER_KINDS
} number_kind;

typedef enum {
    CAUSE_AVERAGES,  /* imperfect factors: mean trip counts, or rounded up */
    CAUSE_FIRST,     /* skip_initial_output_write: false */
    CAUSE_WIDTHS,    /* widths, or values an action, that differ between tensors in one memory */
    CAUSE_ONE_WAY,   /* tolls that charge one direction of an output which passes in both */
    CAUSE_BOXES,     /* a tile with gaps is fetched as its bounding box */
    CAUSE_RETURNS,   /* old sums are brought back to every instance of a reduction, not to one that adds to them */
    CAUSE_UNREAD,    /* sums that do not meet on the way are written over each other, not added up */
    CAUSE_HOPS,      /* networks */
    CAUSE_GATING,    /* instances that are not used leak less */
    CAUSE_COUNT
} judge_cause;

typedef enum {
    VERDICT_EQUAL, VERDICT_REFUSED, VERDICT_EXPLAINED, VERDICT_UNEXPLAINED, VERDICT_BROKEN, VERDICTS
} judge_verdict;

typedef struct {
    judge_verdict verdict;
    uint32_t causes;                 /* that changed some number, as bits */
    uint32_t numbers, different;     /* compared, and not equal */
    uint32_t by_cause[CAUSE_COUNT];  /* different numbers that the cause may change */
    bool perfect;                    /* no imperfect factors */
    bool counts, energy, latency, room; /* all numbers of the kind are equal */
    judge_text why;
} judge_result;

/* causes.c */
const char *judge_cause_text(judge_cause cause);
/* What in the specification can change a number of the kind, as bits; `node` and `tensor` of actions and room, else
   DFL_AF_NONE. */
uint32_t judge_causes_of(const dfl_af_file *f, const dfl_af_plan *plan, number_kind kind, uint32_t node, uint32_t tensor);
/* Where our number of the kind has to lie with these causes: -1 below the peer's, 1 above, 0 anywhere. */
int judge_side(number_kind kind, uint32_t causes);
/* Whether all factors are perfect. */
bool judge_is_perfect(const dfl_af_file *f, const dfl_af_plan *plan);

/*
 * judge.c: `path` names the specification, `mapping` a file with a mapping that the peer's mapper found (NULL: it is in
 * the specification), `expected` is the peer's report: of such a mapping energy and latency. `say`: print every
 * difference.
 */
void judge_case(const char *path, char *mapping, const dfl_json *expected, bool say, judge_result *out);

#endif
