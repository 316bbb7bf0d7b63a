/*
 * Judging a run: the model's numbers, converted to what the peer counts, against those that it reported; and the
 * model against the oracle.
 */
#ifndef DFL_TESTS_TIMELOOP_JUDGE_H
#define DFL_TESTS_TIMELOOP_JUDGE_H

#include "model/model.h"
#include "tests/timeloop/causes.h"

typedef struct { char text[240]; } judge_text;

typedef enum {
    JUDGE_EQUAL,       /* every number */
    JUDGE_REFUSED,     /* both refuse the mapping */
    JUDGE_DIED,        /* the peer failed, there is nothing to compare */
    JUDGE_EXPLAINED,   /* every difference has a cause */
    JUDGE_UNEXPLAINED, /* some difference has none */
    JUDGE_BROKEN,      /* not readable, refused by one side only, or model and oracle disagree */
    JUDGE_VERDICTS
} judge_verdict;

/* What was said in the language for something that the peer does on its own. */
typedef enum {
    JUDGE_REUSE,       /* links within a multicast group: operand_reuse, and a register for outputs */
    JUDGE_WINDOW,      /* bounding boxes: keep ... window */
    JUDGE_FRESH,       /* no_temporal_reuse: keep ... fresh */
    JUDGE_RETURNS,     /* old partial sums that come back to every instance of a reduction group */
    JUDGE_RMW,         /* rmw_first_update: reads before the first update count */
    JUDGE_WAYS
} judge_way;
const char *judge_way_text(judge_way way);

typedef struct {
    judge_verdict verdict;
    uint32_t ways;              /* bit set */
    uint32_t possible, causes;  /* bit sets: causes that may change some number; that do */
    uint32_t numbers;           /* that differ */
    uint32_t by_cause[PEER_CAUSES]; /* how many of these the cause may change */
    bool plain;                 /* of the kind that has to be equal */
    bool whole;                 /* the oracle ran it as it is, not cut down */
    judge_text why;             /* first unexplained difference, or what is broken */
} judge_result;

/* The run in `yaml`, imported, against the report `expected`. `most`: points that the oracle is given. `say`: print the
   result of the import and every number that differs. */
void judge_run(const char *name, const char *yaml, size_t len, const dfl_json *expected, int64_t most, bool say,
               judge_result *out);

/* A mapping that the peer's mapper found, or that ours finds where there is none: what the peer charges for our counts
   (pJ), and operations one after the other. */
typedef struct {
    double energy, cycles;
    bool optimal;       /* of our search */
    double gap;         /* value / lower bound - 1 */
    uint64_t evaluated;
    uint32_t causes; /* that may change what the peer counts */
    judge_text why;
} judge_best;
void judge_found(const char *name, const char *yaml, size_t len, judge_best *best);

/* Runs the oracle on the mapping, cut down to `most` points unless it is as small, and compares every count. */
bool judge_proven(dfl_arena *arena, dfl_intern *names, const dfl_mapping *m, int64_t most, bool *whole,
                  judge_text *why);

/* Whether the imported text with the mapping as the language prints it gives the same counts. */
bool judge_prints_back(const dfl_intern *names, const char *text, const dfl_result *r, judge_text *why);

#endif
