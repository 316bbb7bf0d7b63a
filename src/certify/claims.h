/*
 * A certificate, read: what a search claims (grammar/dfl-certificate-1.schema.json). The head says for what and how good;
 * the rest, in the numbers of frames, is resolved against the mapping that was asked for.
 */
#ifndef DFL_CERTIFY_CLAIMS_H
#define DFL_CERTIFY_CLAIMS_H

#include "certify/problem.h"
#include "diag/diag.h"
#include "support/json.h"
#include "support/vec.h"

#define DFL_CERTIFICATE "dfl-certificate/1"

enum { DFL_CLAIM_KEEPS = 16, DFL_CLAIM_LOOPS = 4, DFL_CLAIM_TRACKS = 3 };

typedef struct {
    const char *file;              /* the certificate, in messages */
    const char *mapping, *digest, *objective;
    const char *best;              /* the best mapping, in the language */
    double value, joules, seconds; /* of it */
    double lower_bound;            /* no mapping of the space has less */
    bool optimal;
    uint32_t most_loops, most_keeps; /* of the space: shared loops of an einsum, keeps of a template */
    const dfl_json *search;
} dfl_claims;

typedef struct { uint8_t operand, place; bool home; } dfl_claim_keep;

/* Which operands are kept where, in which order; bytes without meaning 0. */
typedef struct {
    uint8_t unit, n_keeps;
    uint8_t operand[DFL_CLAIM_KEEPS], place[DFL_CLAIM_KEEPS];
    uint8_t exchange[DFL_FRAME_OPERANDS]; /* place of the home of every operand */
} dfl_claim_form;

typedef struct {
    dfl_claim_form form;
    const dfl_frame *frame;        /* of the first einsum of the class */
    uint32_t pattern;
    double joules, seconds;        /* no mapping of the template costs less */
    bool useless;                  /* without bounds: others are as good with every choice of tiles */
    bool searched;
} dfl_claim_template;

typedef struct {
    uint32_t memory[DFL_FRAME_OPERANDS]; /* in which shared operands are exchanged, else DFL_NONE */
    double joules, seconds;        /* least, each by itself */
} dfl_claim_pattern;

/* How an einsum shares loops and memories with others; bytes without meaning 0. */
typedef struct {
    int64_t trips[DFL_CLAIM_LOOPS];
    uint32_t memory[DFL_FRAME_OPERANDS];
    uint8_t depth[DFL_FRAME_OPERANDS], rank[DFL_CLAIM_LOOPS], n_loops;
} dfl_claim_way;

typedef struct {
    dfl_claim_way way;
    double joules, seconds;
    double room[DFL_CLAIM_TRACKS][DFL_CLAIM_LOOPS + 1]; /* bits of keeps below so many shared loops */
} dfl_claim_row;

typedef struct {
    uint32_t *einsums, n_einsums;
    uint32_t wave;                 /* rows are only those that go with what earlier waves offer */
    DFL_VEC(dfl_claim_template) templates;
    DFL_VEC(dfl_claim_pattern) patterns;
    DFL_VEC(dfl_claim_row) rows;
} dfl_claim_class;

typedef DFL_VEC(dfl_frame *) dfl_frames;

/* What a search knew. */
typedef struct {
    const dfl_mapping *asked;
    const dfl_claims *head;
    dfl_frames *frames;            /* by einsum: one for every unit that can run it */
    bool rows;                     /* else only templates and their bounds are claimed */
    double joined;                 /* value of the best way to put rows together */
    double limit;                  /* rows are complete up to this value */
    double least_joules, least_seconds; /* of all einsums, by their patterns */
    uint32_t track[DFL_CLAIM_TRACKS], n_tracks; /* memories whose room the rows tell */
    uint32_t *of;                  /* class of an einsum */
    DFL_VEC(dfl_claim_class) classes;
} dfl_claim_search;

/* The head; NULL after E0801. */
const dfl_claims *dfl_claims_read(dfl_arena *arena, dfl_sink *sink, const char *file, const char *text, size_t len);
/* The rest; NULL after E0801, or E0804 for classes that leave einsums out or are none. */
const dfl_claim_search *dfl_claims_search(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_claims *head,
                                          const dfl_mapping *asked);

#endif
