/*
 * One skeleton of one einsum with open tiles, as a mapping of this einsum alone that the model evaluates many times.
 *
 * Slot g holds the loops just above keep g; the last slot holds the loops just above the unit. In a slot, the temporal
 * loops precede the axes entered in the slot. A tensor exchanged on the chip has its home at the root of this mapping.
 * The tile of this home takes part in no transfer of its own, so the transfers are unchanged. Loops above the innermost
 * of these homes are shared with other einsums. The lines below this home stand in a brace of their own, so that their
 * tiles are loaded once per shared iteration.
 *
 * A variable is the trip count of one loop, or the number of parts of one rank on one axis. The product of the
 * variables of a rank, listed outermost first, is the extent of the rank.
 */
#ifndef DFL_CERTIFY_TILE_CHOICE_H
#define DFL_CERTIFY_TILE_CHOICE_H

#include "certify/certify_internal.h"
#include "model/model.h"

enum { DFL_TILE_SLOTS = DFL_CLAIM_KEEPS + 1, DFL_TILE_VARIABLES = DFL_TILE_SLOTS + DFL_CERTIFY_AXES };

typedef struct {
    uint32_t slot;
    uint32_t axis;               /* axis of the problem for a spatial line; DFL_NONE for a loop */
    uint32_t body, index;        /* line of the mapping: its body and its position there */
    int64_t n;                   /* chosen value */
} dfl_tile_variable;

typedef struct {
    dfl_certify_run *run;
    const dfl_certify_problem *problem;
    const dfl_claim_form *form;
    uint32_t n_slots;
    uint32_t shared_slots;       /* number of slots at the front whose loops are shared with other einsums */
    bool home[DFL_CLAIM_KEEPS];  /* [keep]: the keep is a home on the chip, where the operand is exchanged */
    uint32_t axis_slot[DFL_CERTIFY_AXES]; /* [axis]: slot in which the axis is entered */
    uint32_t order[DFL_TILE_SLOTS][DFL_CERTIFY_RANKS]; /* [slot]: ranks of its loops; ranks that move the next keep come
                                                          first */
    dfl_tile_variable at[DFL_CERTIFY_RANKS][DFL_TILE_VARIABLES]; /* [rank]: variables of the rank, outermost first */
    uint32_t n[DFL_CERTIFY_RANKS]; /* [rank]: number of variables of the rank */
    dfl_mapping *m;
    dfl_paths *paths;
    dfl_model *model;            /* prepared model, NULL before the first evaluation */
    dfl_sink *quiet;             /* sink without output, for the reports on illegal choices */
    dfl_arena *home_arena, *scratch;
} dfl_tile_choice;

typedef struct {
    double joules, seconds;      /* energy without leakage (J) and time (s) of this einsum */
    double room[DFL_CERTIFY_LEVELS]; /* [memory level]: bits of the einsum's tiles in one instance */
} dfl_tile_choice_cost;

/* Builds the mapping of a skeleton. `useful`: includes only loops that can help (certify.h). `home` is the arena of
   data that all evaluations share; every evaluation resets `scratch`. False if the skeleton is no legal mapping. */
bool dfl_tile_choice_make(dfl_arena *home, dfl_arena *scratch, dfl_certify_run *run, const dfl_certify_problem *problem,
                          const dfl_claim_form *form, bool useful, dfl_tile_choice *choice);
/* Sets the costs for the present values of the variables; false if the model refuses the mapping. */
bool dfl_tile_choice_evaluate(dfl_tile_choice *choice, dfl_tile_choice_cost *cost);
/* Whether every keep stands just below a loop that moves it, or is as far out as it can be. */
bool dfl_tile_choice_is_plain(const dfl_tile_choice *choice);
/* [rank]: its elements in the tile of keep `i`, with the parts on all axes that do not surround its memory. */
void dfl_tile_choice_piece(const dfl_tile_choice *choice, uint32_t i, int64_t *piece);
/* The lines of the choice as text, without loops of one iteration: "temporal m:4; keep A in sram; ...". */
const char *dfl_tile_choice_text(const dfl_tile_choice *choice, dfl_arena *arena);

#endif
