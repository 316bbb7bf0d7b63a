/*
 * One template of one einsum with its tiles left open, as a mapping of that einsum alone which the model evaluates again
 * and again. Gap g stands before keep g, the last gap before the unit; in a gap the loops come first, then the axes
 * that are entered there. What is exchanged on the chip has its home at the root here, where its tile takes part in
 * nothing else: transfers are the same. Loops above the last of these homes are shared with other einsums, and what stands
 * below is in a brace of its own, so that its tiles are loaded once per iteration of them.
 *
 * A variable is the number of iterations of one loop, or of parts on one axis, of one rank; those of a rank, from outer to
 * inner, have its extent as their product.
 */
#ifndef DFL_CERTIFY_TILE_CHOICE_H
#define DFL_CERTIFY_TILE_CHOICE_H

#include "certify/steps.h"
#include "model/model.h"

enum { DFL_CHOICE_GAPS = DFL_CLAIM_KEEPS + 1, DFL_CHOICE_VARIABLES = DFL_CHOICE_GAPS + DFL_FRAME_AXES };

typedef struct {
    uint32_t gap, axis;          /* axis DFL_NONE: a loop */
    uint32_t body, index;        /* of its line */
    int64_t n;                   /* what is chosen */
} dfl_choice_variable;

typedef struct {
    dfl_certify_run *run;
    const dfl_frame *f;
    const dfl_claim_form *form;
    uint32_t n_gaps, shared_gaps;
    bool home[DFL_CLAIM_KEEPS];  /* which keeps are homes on the chip */
    uint32_t axis_gap[DFL_FRAME_AXES];
    uint32_t order[DFL_CHOICE_GAPS][DFL_FRAME_RANKS]; /* of the loops in a gap: those that move the next keep first */
    dfl_choice_variable at[DFL_FRAME_RANKS][DFL_CHOICE_VARIABLES];
    uint32_t n[DFL_FRAME_RANKS];
    dfl_mapping *m;
    dfl_paths *paths;
    dfl_model *model;            /* NULL before the first evaluation */
    dfl_sink *quiet;
    dfl_arena *home_arena, *scratch;
} dfl_choice;

typedef struct {
    double joules, seconds;                           /* of this einsum, without leakage */
    double room[DFL_FRAME_PLACES];                    /* bits of its tiles in one instance of each place */
} dfl_choice_cost;

/* `useful`: only the loops that can help (certify.h). `home` is for what is prepared, `scratch` is reset by every
   evaluation. False if such a mapping is none. */
bool dfl_choice_make(dfl_arena *home, dfl_arena *scratch, dfl_certify_run *run, const dfl_frame *f,
                     const dfl_claim_form *form, bool useful, dfl_choice *out);
/* Costs of the variables' present values; false if the model refuses them. */
bool dfl_choice_evaluate(dfl_choice *c, dfl_choice_cost *out);
/* Whether every keep stands just below a loop that moves it, or cannot stand further out. */
bool dfl_choice_plain(const dfl_choice *c);
/* Elements of every rank in a tile of keep `i`. */
void dfl_choice_piece(const dfl_choice *c, uint32_t i, int64_t *piece);
/* "temporal m:4; keep A in sram; ...": without loops of one iteration. */
const char *dfl_choice_text(const dfl_choice *c, dfl_arena *arena);

#endif
