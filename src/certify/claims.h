/*
 * A certificate as data: the claims of a search (grammar/dfl-certificate-1.schema.json). The head identifies the search
 * and states the value of its best mapping. All other claims refer to the mapping with holes; reading replaces names by
 * the numbers of certify/problem.h.
 *
 * A certificate has the following terms. A skeleton is a choice of keeps, their memories and their order, with tile
 * sizes left open. A pattern is a choice of the memories in which an einsum exchanges tensors with others. A row is a
 * partial mapping: one einsum with its tiles, known by its cost and by its interface to other einsums. A class is a set
 * of einsums with equal choices.
 */
#ifndef DFL_CERTIFY_CLAIMS_H
#define DFL_CERTIFY_CLAIMS_H

#include "support/limits.h"
#include "certify/problem.h"
#include "diag/diag.h"
#include "support/json.h"
#include "support/vec.h"

#define DFL_CERTIFICATE "dfl-certificate/1"
/* The key `by` of the certificate of a plan over chips (plans.h). */
#define DFL_CERTIFICATE_BY_PLANS "plans"
/* The space of a search for a plan over chips, clauses for the report; with `--tiles imperfect`, passes of any size. */
#define DFL_PLAN_SPACE "every combination of the open amounts that gives work to all chips; open amounts are those that the " \
                       "file lists, else divisors of the axis or of the rank"
#define DFL_PLAN_SPACE_IMPERFECT "every combination of the open amounts that gives work to all chips; open amounts are those " \
                                 "that the file lists, else of a `temporal` line all, and divisors of the axis or of the rank"

/* The head of a certificate. The strings and `search` live as long as the arena of dfl_claims_read. */
typedef struct {
    const char *file;              /* name of the certificate, for messages */
    const char *mapping;           /* name of the mapping with holes */
    const char *digest, *objective;
    const char *best;              /* text of the best mapping, in the language */
    double value, joules, seconds; /* objective value, energy (J) and time (s) of the best mapping */
    double lower_bound;            /* claimed lower bound of the objective value over all mappings of the space */
    bool optimal;
    const char *space;             /* the space in words, which the caller compares */
    uint32_t most_loops;           /* limit of the space: loops that an einsum may share with others */
    uint32_t most_keeps;           /* limit of the space: keeps that a skeleton may have */
    const dfl_json *search;
} dfl_claims;

/* The structure of a skeleton. Structures are compared by their bytes, so unused bytes are 0. */
typedef struct {
    uint8_t unit, n_keeps;
    uint8_t operand[DFL_CLAIM_KEEPS], level[DFL_CLAIM_KEEPS]; /* [keep, outermost first]: operand, memory level */
    uint8_t exchange[DFL_CERTIFY_OPERANDS]; /* [operand]: memory level of its exchange, or of its home */
} dfl_claim_form;

/* A skeleton with its lower bounds over all tile choices. */
typedef struct {
    dfl_claim_form form;
    const dfl_certify_problem *problem; /* problem of the first einsum of the class */
    uint32_t pattern;
    double joules, seconds;        /* lower bounds over all tile choices */
    bool useless;                  /* the skeleton has no bounds: for every tile choice, another skeleton costs no more */
    bool searched;                 /* the search looked for rows among the tile choices */
} dfl_claim_skeleton;

typedef struct {
    uint32_t memory[DFL_CERTIFY_OPERANDS]; /* [operand]: memory in which it is exchanged; DFL_NONE = not exchanged */
    double joules, seconds;        /* lower bounds over all skeletons of the pattern, energy and time apart */
} dfl_claim_pattern;

/* The interface of a row: the loops and memories that it shares with other einsums. Interfaces are compared by their
   bytes, so unused bytes are 0. */
typedef struct {
    int64_t trips[DFL_CLAIM_LOOPS]; /* iterations of each shared loop, outermost first */
    uint32_t memory[DFL_CERTIFY_OPERANDS]; /* [operand]: memory in which it is exchanged */
    uint8_t depth[DFL_CERTIFY_OPERANDS];   /* [operand]: number of shared loops above its exchange */
    uint8_t rank[DFL_CLAIM_LOOPS]; /* rank of the problem that each shared loop iterates */
    uint8_t n_loops;
} dfl_claim_interface;

typedef struct {
    dfl_claim_interface interface;
    double joules, seconds;
    double room[DFL_CLAIM_TRACKS][DFL_CLAIM_LOOPS + 1]; /* [tracked memory][d]: bits of the keeps below d shared loops */
} dfl_claim_row;

typedef struct {
    uint32_t *einsums, n_einsums;
    uint32_t wave;                 /* wave of the class: a row is listed only if rows of classes of smaller waves match it */
    DFL_VEC(dfl_claim_skeleton) skeletons;
    DFL_VEC(dfl_claim_pattern) patterns;
    DFL_VEC(dfl_claim_row) rows;
} dfl_claim_class;

/* The problems of one einsum, one for every unit that can run it. */
typedef DFL_VEC(dfl_certify_problem *) dfl_certify_problems;

/* The claims of a certificate, the head excepted. */
typedef struct {
    const dfl_mapping *asked;      /* the mapping with holes */
    const dfl_claims *head;
    dfl_certify_problems *problems; /* [einsum]: problems of the einsum */
    bool has_rows;                 /* the certificate claims rows; if false, only skeletons and their bounds */
    double joined;                 /* objective value of the best combination of rows */
    double cutoff;                 /* the rows are complete up to this objective value */
    double least_joules, least_seconds; /* lower bounds of the energy (J) and time (s) of all einsums together, from their
                                           patterns */
    uint32_t track[DFL_CLAIM_TRACKS], n_tracks; /* memories whose occupancy the rows state */
    uint32_t *class_of;            /* [einsum]: index of the class of the einsum */
    DFL_VEC(dfl_claim_class) classes;
} dfl_claim_search;

/* Reads the head of a certificate; NULL after E0801. */
const dfl_claims *dfl_claims_read(dfl_arena *arena, dfl_sink *sink, const char *file, const char *text, size_t len);
/* Reads the other claims and resolves their names against the mapping with holes. NULL after E0801, or after E0804 if
   the classes leave out an einsum or join einsums with different choices. */
const dfl_claim_search *dfl_claims_resolve(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_claims *head,
                                           const dfl_mapping *asked);

#endif
