/*
 * One skeleton of one einsum with open tiles, as a mapping of this einsum alone that the model evaluates many times.
 *
 * Slot g is the place for loops just above keep g, the last slot the place above the unit. In a slot the temporal loops
 * come first, then the axes entered there. A tensor exchanged on the chip has its home at the root of this mapping,
 * where its tile takes part in no transfer of its own: the transfers are the same. Loops above the last of these homes
 * are shared with other einsums. The lines below stand in a brace of their own, so that their tiles are loaded once per
 * shared iteration.
 *
 * A variable is the trip count of one loop, or the parts of one rank on one axis. The variables of a rank, outermost
 * first, have its extent as their product.
 */
#ifndef DFL_CERTIFY_TILE_CHOICE_H
#define DFL_CERTIFY_TILE_CHOICE_H

#include "certify/certify_internal.h"
#include "model/model.h"

enum { DFL_TILE_SLOTS = DFL_CLAIM_KEEPS + 1, DFL_TILE_VARIABLES = DFL_TILE_SLOTS + DFL_CERTIFY_AXES };

typedef struct {
    uint32_t slot;
    uint32_t axis;               /* axis of the problem; DFL_NONE: a loop */
    uint32_t body, index;        /* the line of the mapping: body and position */
    int64_t n;                   /* the chosen value */
} dfl_tile_variable;

typedef struct {
    dfl_certify_run *run;
    const dfl_certify_problem *problem;
    const dfl_claim_form *form;
    uint32_t n_slots;
    uint32_t shared_slots;       /* the first slots, whose loops are shared with other einsums */
    bool home[DFL_CLAIM_KEEPS];  /* by keep: a home on the chip, where the operand is exchanged */
    uint32_t axis_slot[DFL_CERTIFY_AXES]; /* by axis: slot in which the axis is entered */
    uint32_t order[DFL_TILE_SLOTS][DFL_CERTIFY_RANKS]; /* by slot: ranks of its loops, those that move the next keep first */
    dfl_tile_variable at[DFL_CERTIFY_RANKS][DFL_TILE_VARIABLES]; /* by rank, outermost first */
    uint32_t n[DFL_CERTIFY_RANKS]; /* by rank: number of variables */
    dfl_mapping *m;
    dfl_paths *paths;
    dfl_model *model;            /* NULL before the first evaluation */
    dfl_sink *quiet;             /* drops the reports on illegal choices */
    dfl_arena *home_arena, *scratch;
} dfl_tile_choice;

typedef struct {
    double joules, seconds;      /* of this einsum, without leakage */
    double room[DFL_CERTIFY_LEVELS]; /* bits of its tiles in one instance of each memory level */
} dfl_tile_choice_cost;

/* Builds the mapping. `useful`: only loops that can help (certify.h). `home` holds what all evaluations share; every
   evaluation resets `scratch`. False if the skeleton is no legal mapping. */
bool dfl_tile_choice_make(dfl_arena *home, dfl_arena *scratch, dfl_certify_run *run, const dfl_certify_problem *problem,
                          const dfl_claim_form *form, bool useful, dfl_tile_choice *choice);
/* Costs for the present values of the variables; false if the model refuses the mapping. */
bool dfl_tile_choice_evaluate(dfl_tile_choice *choice, dfl_tile_choice_cost *cost);
/* Whether every keep stands just below a loop that moves it, or cannot stand further out. */
bool dfl_tile_choice_is_plain(const dfl_tile_choice *choice);
/* Elements of every rank in the tile of keep `i`. */
void dfl_tile_choice_piece(const dfl_tile_choice *choice, uint32_t i, int64_t *piece);
/* The lines of the choice without loops of one iteration: "temporal m:4; keep A in sram; ...". */
const char *dfl_tile_choice_text(const dfl_tile_choice *choice, dfl_arena *arena);

#endif
