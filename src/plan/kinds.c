#include "plan/kinds.h"

#include "plan/layout/lines.h"
#include "plan/layout/passes.h"
#include "plan/layout/rows.h"
#include "plan/layout/step_points.h"
#include "plan/pass/iterations.h"
#include "support/number.h"
#include "support/vec.h"

/* A rank that the micro-batches divide. Ranks that no einsum has together count alike: each einsum has its own one of them. */
typedef struct {
    uint32_t rank;
    uint32_t digit;            /* number of the group of ranks that count alike */
    int64_t parts;             /* number of passes over it, > 1 */
    int64_t stride;            /* micro-batches from one of its passes to the next */
    bool has_rest;             /* its last pass is smaller */
} tiled_rank;

typedef struct {
    DFL_VEC(tiled_rank) ranks; /* in the order of their lines */
    uint32_t n_digits;         /* the last one changes fastest */
} tiled_ranks;

static bool has_passes(const dfl_frame *f, uint32_t einsum, uint32_t rank)
{
    return f->workload->einsums[einsum].phase != DFL_PHASE_UPDATE && dfl_einsum_has_rank(&f->workload->einsums[einsum], rank) &&
           dfl_frame_pass(f, einsum, rank) < dfl_frame_local(f, einsum, rank);
}

/* Whether a rank has as many passes as a digit, of whose ranks no einsum has it beside another one. */
static bool fits_digit(const dfl_frame *f, const tiled_ranks *tiled, const tiled_rank *t, uint32_t digit)
{
    for (size_t k = 0; k < tiled->ranks.n; k++) {
        const tiled_rank *other = &tiled->ranks.at[k];

        if (other->digit == digit && other->parts != t->parts)
            return false;
        for (uint32_t e = 0; other->digit == digit && e < f->workload->n_einsums; e++)
            if (has_passes(f, e, t->rank) && has_passes(f, e, other->rank))
                return false;
    }
    return true;
}

/* The number of passes over the ranks of a digit; `*has_rest`, unless NULL: the last one over some of them is smaller. */
static int64_t parts_of(const tiled_ranks *tiled, uint32_t digit, bool *has_rest)
{
    int64_t parts = 1;
    bool some = false;

    for (size_t k = 0; k < tiled->ranks.n; k++)
        if (tiled->ranks.at[k].digit == digit) {
            parts = tiled->ranks.at[k].parts;
            some |= tiled->ranks.at[k].has_rest;
        }
    if (has_rest != NULL)
        *has_rest = some;
    return parts;
}

/* The ranks that the micro-batches divide. */
static tiled_ranks find_tiled(const dfl_frame *f)
{
    const dfl_body *root = f->mapping->root;
    tiled_ranks out = { 0 };

    for (uint32_t i = 0; i < root->n_lines; i++) {
        tiled_rank t = { .rank = root->lines[i].rank, .parts = 1, .stride = 1 };
        bool is_known = root->lines[i].kind != DFL_LINE_TEMPORAL || f->repeats[t.rank];

        for (size_t k = 0; k < out.ranks.n && !is_known; k++)
            is_known = out.ranks.at[k].rank == t.rank;
        for (uint32_t e = 0; e < f->workload->n_einsums && !is_known; e++)
            if (has_passes(f, e, t.rank)) {
                const int64_t local = dfl_frame_local(f, e, t.rank), pass = dfl_frame_pass(f, e, t.rank);

                t.parts = dfl_ceil_div(local, pass) > t.parts ? dfl_ceil_div(local, pass) : t.parts;
                t.has_rest |= local % pass != 0;
            }
        if (t.parts <= 1)
            continue;
        while (t.digit < out.n_digits && !fits_digit(f, &out, &t, t.digit))
            t.digit++;
        out.n_digits += t.digit == out.n_digits;
        DFL_PUSH(f->arena, &out.ranks, t);
    }
    for (size_t k = 0; k < out.ranks.n; k++)
        for (uint32_t d = out.ranks.at[k].digit + 1; d < out.n_digits; d++)
            out.ranks.at[k].stride *= parts_of(&out, d, NULL);
    return out;
}

bool dfl_plan_has_rest(const dfl_frame *f)
{
    const tiled_ranks tiled = find_tiled(f);

    for (size_t k = 0; k < tiled.ranks.n; k++)
        if (tiled.ranks.at[k].has_rest)
            return true;
    return false;
}

int64_t dfl_plan_whole_micro_batches(const dfl_frame *f)
{
    const tiled_ranks tiled = find_tiled(f);
    int64_t n = f->micro_batches;

    for (uint32_t d = 0; d < tiled.n_digits; d++) {
        bool has_rest;
        const int64_t parts = parts_of(&tiled, d, &has_rest);

        n = has_rest ? n / parts * (parts - 1) : n;
    }
    return n;
}

/* Whether some einsum starts a sum over all micro-batches. */
static bool has_starts(const dfl_frame *f)
{
    for (uint32_t e = 0; e < f->workload->n_einsums; e++)
        if (dfl_frame_starts_once(f, e))
            return true;
    return false;
}

/* ---- the last passes ---- */

/* The frame of the last pass over the ranks of `last` ([rank]). */
static bool make_frame(const dfl_frame *f, const bool *last, dfl_frame *out)
{
    const dfl_workload *w = f->workload;

    *out = *f;
    out->last = last;
    out->pass = DFL_NEW_ARRAY(f->arena, int64_t, (size_t)w->n_einsums * w->n_ranks);
    out->points = DFL_NEW_ARRAY(f->arena, dfl_points, w->n_einsums);
    for (uint32_t e = 0; e < w->n_einsums; e++) {
        for (uint32_t r = 0; r < w->n_ranks; r++) {
            const int64_t local = dfl_frame_local(f, e, r), pass = dfl_frame_pass(f, e, r);

            out->pass[(size_t)e * w->n_ranks + r] = last[r] && has_passes(f, e, r)
                                                        ? local - (dfl_ceil_div(local, pass) - 1) * pass : pass;
        }
        if (!dfl_rows_set_points(out, e))
            return false;
        dfl_step_points_renew(out, e);
        if (f->parts[e] > 1 && dfl_frame_pass(out, e, f->parts_rank[e]) % f->parts[e] != 0)
            return dfl_frame_refuse(f, w->einsums[e].span, "a loop in a brace beside a last micro-batch that it does not divide",
                                    "divide the samples into micro-batches of equal size");
    }
    return true;
}

/* Whether two kinds of micro-batches have the same exchanges in the same order. */
static bool are_alike(const dfl_plan_exchanges *a, const dfl_plan_exchanges *b)
{
    for (uint32_t i = 0; i < a->n && i < b->n; i++)
        if (a->at[i].kind != b->at[i].kind || a->at[i].place != b->at[i].place || a->at[i].tensor != b->at[i].tensor ||
            a->at[i].einsum != b->at[i].einsum || a->at[i].slots != b->at[i].slots)
            return false;
    return a->n == b->n;
}

/* Sets the work of the last pass over the ranks of `last` ([rank]). */
static bool find_work(dfl_plan_state *p, const bool *last, dfl_plan_work *out)
{
    dfl_frame *f = DFL_NEW(p->frame.arena, dfl_frame);
    dfl_plan_exchanges *moved = DFL_NEW(p->frame.arena, dfl_plan_exchanges);
    dfl_chip_time *times;

    if (!make_frame(&p->frame, last, f))
        return false;
    times = dfl_chip_times_find(f, &p->branches, NULL);
    *out = (dfl_plan_work){ .frame = f, .times = times, .exchanges = moved, .is_recomputed = f->recomputed,
                            .branches = &p->branches };
    if (times == NULL || !dfl_offload_find(f, &p->layouts, &out->offload) ||
        !dfl_exchanges_find(f, &p->layouts, &p->exchanges, moved) || !dfl_iterations_find(out, &p->layouts, times, moved))
        return false;
    if (!are_alike(&p->exchanges, moved))
        return dfl_frame_refuse(f, f->mapping->span, "a last micro-batch whose exchanges are of another kind",
                                "divide the samples into micro-batches of equal size");
    out->again = dfl_chip_times_again(f, &p->branches, times);
    return out->again != NULL;
}

/* ---- all micro-batches ---- */

/* The number of the kind with these last passes, which is made if it is new; DFL_NONE after a report. `lasts`: [kind][rank]. */
static uint32_t find_kind(dfl_plan_state *p, const bool *last, bool is_first, const bool **lasts)
{
    const uint32_t n_ranks = p->frame.workload->n_ranks;
    bool *copy = DFL_NEW_ARRAY(p->frame.arena, bool, (size_t)n_ranks + 1), some = false;

    for (uint32_t k = 0; k < p->n_kinds; k++) {
        bool is_same = p->kinds[k].is_first == is_first;

        for (uint32_t r = 0; r < n_ranks; r++)
            is_same &= lasts[k][r] == last[r];
        if (is_same)
            return k;
    }
    for (uint32_t r = 0; r < n_ranks; r++)
        some |= copy[r] = last[r];
    lasts[p->n_kinds] = copy;
    p->kinds[p->n_kinds] = (dfl_plan_kind){ .is_first = is_first, .work = p->work };
    if (some && !find_work(p, copy, &p->kinds[p->n_kinds].work))
        return DFL_NONE;
    return p->n_kinds++;
}

bool dfl_plan_kinds_find(dfl_plan_state *p)
{
    const dfl_frame *f = &p->frame;
    const tiled_ranks tiled = find_tiled(f);
    const bool starts = has_starts(f), has_rest = dfl_plan_has_rest(f);
    const size_t most = ((size_t)1 << tiled.n_digits) + 2;
    const bool **lasts = DFL_NEW_ARRAY(f->arena, const bool *, most);
    bool *last = DFL_NEW_ARRAY(f->arena, bool, (size_t)f->workload->n_ranks + 1);
    int64_t all = 1;
    uint32_t *kind_of;

    p->kinds = DFL_NEW_ARRAY(f->arena, dfl_plan_kind, most);
    p->kinds[0] = (dfl_plan_kind){ .count = f->micro_batches, .is_first = true, .work = p->work };
    p->n_kinds = 1;
    if (f->micro_batches == 1 || f->micro_batches > UINT32_MAX || (!starts && !has_rest)) /* too many are refused later */
        return true;
    for (uint32_t d = 0; d < tiled.n_digits; d++)
        all *= parts_of(&tiled, d, NULL);
    if (all != f->micro_batches && has_rest)
        return dfl_frame_refuse(f, f->mapping->span,
                                "a smaller last micro-batch of einsums that divide different ranks",
                                "divide the samples into micro-batches of equal size");
    p->kind_of = kind_of = DFL_NEW_ARRAY(f->arena, uint32_t, (size_t)f->micro_batches);
    p->kinds[0].count = 0;
    p->n_kinds = 0;
    for (int64_t i = 0; i < f->micro_batches; i++) {
        for (size_t k = 0; k < tiled.ranks.n; k++) {
            const tiled_rank *t = &tiled.ranks.at[k];

            last[t->rank] = t->has_rest && i / t->stride % t->parts + 1 == t->parts;
        }
        kind_of[i] = find_kind(p, last, starts && i == 0, lasts);
        if (kind_of[i] == DFL_NONE)
            return false;
        p->kinds[kind_of[i]].count++;
    }
    return true;
}

double dfl_plan_passes(const dfl_plan_state *p, const dfl_plan_kind *kind, uint32_t einsum)
{
    if (p->frame.workload->einsums[einsum].phase == DFL_PHASE_UPDATE)
        return kind == p->kinds;
    return dfl_frame_starts_once(&p->frame, einsum) ? kind->is_first : (double)kind->count;
}
