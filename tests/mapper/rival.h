/*
 * A rival of the search: random small problems, and mappings of the whole language found by small changes of lines.
 *
 * The rival shares nothing with the search. It has no templates and no order of lines: a mapping is a list of lines per body, and
 * a change puts, moves, removes or resizes any line. The rules of the language (ir/path) and the model alone decide whether
 * a mapping is legal and what it costs. Tile sizes are any numbers.
 */
#ifndef DFL_TESTS_MAPPER_RIVAL_H
#define DFL_TESTS_MAPPER_RIVAL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "ir/mapping.h"
#include "ir/result.h"

/* ---- choices: the source of a problem ---------------------------------------------------------------------------- */

enum { RIVAL_CHOICES = 512 };

/* A list of choices, continued by a generator. A shorter list, or smaller choices, give a simpler problem. */
typedef struct {
    uint16_t value[RIVAL_CHOICES];
    uint32_t n, at;             /* number of choices recorded; next one to give out */
    uint64_t state;             /* of the generator; 0 = all further choices are 0 */
} rival_choices;

rival_choices rival_seeded(uint64_t seed, uint64_t index);
/* A choice in 0 .. n - 1, recorded. */
uint32_t rival_choose(rival_choices *c, uint32_t n);
uint32_t rival_random(uint64_t *state, uint32_t n);
/* Simplifies the choices as long as `fails` holds for them. */
void rival_shrink(rival_choices *c, bool (*fails)(void *context, const rival_choices *), void *context);

/* ---- problems ---------------------------------------------------------------------------------------------------- */

/* Changes of a problem that leave its choices the same: twice the room of limited memories, or the bandwidth of all that has one;
   an instance more on every axis; other names, ranks and operands in reverse order. */
enum { RIVAL_ROOM = 1, RIVAL_RATES = 2, RIVAL_INSTANCES = 4, RIVAL_NAMES = 8 };

typedef struct {
    uint32_t einsums;           /* largest number of einsums, at most 4 */
    bool windows, arrays;       /* draw sliding windows; arrays */
    bool common;                /* several einsums read one input */
    bool general;               /* draw homes inside of arrays, conditions, and operands with renamed ranks */
    bool perfect;               /* every problem assumes perfect overlap */
    bool large;                 /* some extents are above 6 */
    bool tiny;                  /* one to three ranks with extents of 2 to 9, and few memories */
    uint32_t changes;           /* RIVAL_..., a mask */
    uint32_t alone;             /* 1 + number of the only einsum to print, whose operands come from outside; 0: all */
} rival_kinds;

/* Prints workload and system, nothing for an einsum `alone` that is not there. Returns the text of a drawn objective. */
const char *rival_draw(rival_choices *c, const rival_kinds *kinds, FILE *out, bool *perfect_overlap);

/* ---- mappings ---------------------------------------------------------------------------------------------------- */

enum { RIVAL_LINES = 32, RIVAL_BODIES = 8 };

typedef struct {
    uint8_t kind, mode;         /* dfl_line_kind; dfl_keep_mode, or of an axis whether `amount` is a tile */
    uint8_t what, where;        /* rank and axis, or tensor and memory */
    int32_t amount;             /* tile of a temporal loop, parts of a spatial one */
} rival_line;

typedef struct {
    int32_t parent;             /* -1: the root, body 0 */
    int32_t einsum;             /* of a leaf; -1: the children run one after another */
    uint32_t n;
    rival_line line[RIVAL_LINES];
} rival_body;

typedef struct {
    uint32_t n;
    rival_body body[RIVAL_BODIES];
} rival_mapping;

/* The values of a mapping. */
typedef struct {
    bool legal, divides;        /* the model takes it; every tile divides what it cuts */
    double joules, seconds;
} rival_value;

typedef struct {
    dfl_arena *scratch;
    const dfl_intern *names;
    const dfl_mapping *open;    /* gives workload, system and options */
    uint64_t random;
    bool fixed_home[64];        /* by tensor: the home of the tensor is a line of the root and stays */
    bool inner_home[64];        /* by tensor: its first keep is in the outermost memory that may hold it, inside of an array */
    bool modes;                 /* also `fresh` and `window` */
    bool fusion;                /* also shared loops */
    uint64_t evaluated;
} rival;

void rival_begin(rival *k, dfl_arena *scratch, const dfl_intern *names, const dfl_mapping *open, uint64_t seed);
/* Outermost memory that may hold the tensor. */
uint32_t rival_home(const dfl_mapping *m, uint32_t tensor);
/* The mapping without shared loops and with homes alone. */
void rival_start(const rival *k, rival_mapping *out);
/* One einsum: the homes that stay, and no other lines. */
void rival_bare(const rival *k, rival_mapping *out);
/* A random mapping; `full`: with all operands in all memories and loops of all ranks between. */
void rival_throw(rival *k, bool full, rival_mapping *out);
typedef void rival_use(void *context, const rival_mapping *m);
/*
 * Uses each mapping of one einsum in which any lines stand in any order: temporal loops over any rank with any tile size that
 * cuts something, several over one rank; axes, by tile size or by a number of parts; and keeps of any operand in any memory that
 * may hold it. Two things are left out: orders of keeps with no loop between, and what the language refuses. False, and none is
 * used, if there are more than `most`.
 */
bool rival_list(rival *k, uint64_t most, rival_use *use, void *context);
/* A random mapping of that list. */
void rival_wander(rival *k, rival_mapping *out);
/* Reads a mapping of the search; false if it has more lines or other lines than the rival writes. */
bool rival_read(const rival *k, const dfl_mapping *from, rival_mapping *out);
/* Changes one to three things. */
void rival_change(rival *k, rival_mapping *m);
rival_value rival_evaluate(rival *k, const rival_mapping *m);
/* Removes loops of one iteration and shortens axes that are longer than what is left of the rank. */
void rival_trim(const rival *k, rival_mapping *m);
/* The mapping in `arena`, with loops that finish every rank. */
dfl_mapping *rival_build(const rival *k, dfl_arena *arena, const rival_mapping *from);

/* The clause of the search space of several einsums that leaves the mapping out; NULL: none. `timed`: the objective contains
   time. */
const char *rival_outside(const rival *k, const rival_mapping *m, bool timed);

/* Whether an exchanged tensor is inside of an array, or a keep that is no home stands above a branch with no shared loop between
   over a rank of something that all einsums that use its tensor exchange in it. */
bool rival_lifts_keeps(const rival *k, const rival_mapping *m);

/* The problem of these choices as a file with the open mapping `best`; the caller frees it. */
char *rival_text(const rival_choices *choices, const rival_kinds *kinds);

#endif
