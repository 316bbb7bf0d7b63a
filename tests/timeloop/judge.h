/* The judge of a run: compares the counts of the model, converted to the counts of the peer, with the report of the
   peer, and the model with the oracle. */
#ifndef DFL_TESTS_TIMELOOP_JUDGE_H
#define DFL_TESTS_TIMELOOP_JUDGE_H

#include "model/model.h"
#include "tests/timeloop/causes.h"

typedef struct { char text[240]; } judge_text;

typedef enum {
    JUDGE_EQUAL,       /* all numbers are equal */
    JUDGE_REFUSED,     /* both refuse the mapping */
    JUDGE_DIED,        /* the peer failed, so no numbers can be compared */
    JUDGE_EXPLAINED,   /* every difference has a cause */
    JUDGE_UNEXPLAINED, /* some difference has no cause */
    JUDGE_BROKEN,      /* the case is unreadable, one side alone refuses it, or model and oracle disagree */
    JUDGE_VERDICTS
} judge_verdict;

/* Constructs of DFL that express an implicit behaviour of the peer. */
typedef enum {
    JUDGE_REUSE,       /* links within a multicast group: operand_reuse, and a register for outputs */
    JUDGE_WINDOW,      /* bounding boxes: keep ... window */
    JUDGE_FRESH,       /* no_temporal_reuse: keep ... fresh */
    JUDGE_RETURNS,     /* old partial sums that the peer returns to every instance of a reduction group */
    JUDGE_RMW,         /* rmw_first_update: reads before the first update count */
    JUDGE_WAYS
} judge_way;
const char *judge_way_text(judge_way way);

typedef struct {
    judge_verdict verdict;
    uint32_t ways;              /* bit set */
    uint32_t possible, causes;  /* bit sets: causes that may change some number; causes that did */
    uint32_t numbers;           /* count of numbers that differ */
    uint32_t by_cause[PEER_CAUSES]; /* count of different numbers that the cause may change */
    bool plain;                 /* the run is plain (peer_plain): all numbers must be equal */
    bool counted;               /* the importer's own counts of the peer (charges.c) equal the report */
    bool whole;                 /* the oracle ran the mapping at its full size */
    judge_text why;             /* first unexplained difference, or what is broken */
} judge_result;

/* Imports the run in `yaml` and compares its numbers with the report `expected`. The oracle gets at most `most` points.
   `say` prints the result of the import and every number that differs. */
void judge_run(const char *name, const char *yaml, size_t len, const dfl_json *expected, int64_t most, bool say,
               judge_result *out);

/* A mapping of the peer's mapper or, if the run has none, of the search of dflc. `energy`: the price of the counts of
   dflc by the rules of the peer, pJ. `cycles`: operations of one multiplier, one after the other. */
typedef struct {
    double energy, cycles;
    bool optimal;       /* the search of dflc proved the mapping optimal */
    double gap;         /* value / lower bound - 1 */
    uint64_t evaluated;
    uint32_t causes; /* causes that may change a count of the peer, as bits */
    judge_text why;
} judge_best;
void judge_found(const char *name, const char *yaml, size_t len, judge_best *best);

/* Runs the oracle on the mapping, cut down to at most `most` points, and compares every count. */
bool judge_proven(dfl_arena *arena, dfl_intern *names, const dfl_mapping *m, int64_t most, bool *whole,
                  judge_text *why);

/* Prints the mapping as DFL, reads the text back, and tells whether it gives equal counts. */
bool judge_prints_back(const dfl_intern *names, const char *text, const dfl_result *r, judge_text *why);

#endif
