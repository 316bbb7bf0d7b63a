#include "mapper/tiling/box_points.h"

#include <math.h>

#include "mapper/problem/evaluate.h"
#include "mapper/tiling/written.h"

/* Evaluates a point with one order of the loops in each gap: see dfl_open_form. The boxes are those of the form with its own
   axes. */
static void evaluate_order(dfl_box_run *s, const dfl_box_node *node, uint32_t order)
{
    dfl_open_form *f = &s->forms.at[node->form];
    const int64_t *amounts[DFL_PROBLEM_RANKS];
    double value;

    if (f->point[order] == NULL)
        f->point[order] = dfl_point_make(s->work, s->names, s->mapping, f->real, order > 0 ? order - 1 : DFL_NONE);
    for (uint32_t r = 0; r < f->real->problem->n_ranks; r++)
        amounts[r] = node->boxes[r]->low;
    s->out->leaves++;
    value = dfl_point_value(f->point[order], s->costs.objective, amounts);
    f->excess = f->n_points++ == 0 ? value / node->bound : fmin(f->excess, value / node->bound);
    if (!dfl_box_is_useful(s, value))
        return;
    s->out->value = value;
    s->turn = s->turn > 0 ? dfl_box_work(s) : 0;
    dfl_point_costs(f->point[order], &s->out->joules, &s->out->seconds);
    s->out->mapping = dfl_point_copy(s->arena, f->point[order]);
}

/* Whether a loop over the rank has a second iteration. */
static bool is_cut(const dfl_chain *c, const dfl_box *box)
{
    int64_t full = c->extent;
    bool cuts = false;

    for (uint32_t i = 0; i < c->n; i++) {
        const int64_t tile = c->at[i].axis < 0 ? box->low[i] : (full + box->low[i] - 1) / box->low[i];
        cuts |= c->at[i].axis < 0 && tile < full;
        full = tile < full ? tile : full;
    }
    return cuts;
}

/* Evaluates a point among written lines. */
static void evaluate_written(dfl_box_run *s, const dfl_box_node *node)
{
    const dfl_form *f = s->forms.at[node->form].form;
    dfl_arena *work = dfl_arena_new(dfl_arena_budget(s->arena));
    const int64_t *amounts[DFL_PROBLEM_RANKS];
    const dfl_mapping *m;
    double value;

    for (uint32_t r = 0; r < f->problem->n_ranks; r++)
        amounts[r] = node->boxes[r]->low;
    s->out->leaves++;
    m = s->start->write(s->start->context, work, f, amounts);
    value = dfl_mapping_value(dfl_arena_budget(s->arena), s->names, m, s->costs.objective);
    if (dfl_box_is_useful(s, value)) {
        s->out->value = value;
        s->turn = s->turn > 0 ? dfl_box_work(s) : 0;
        s->out->mapping = dfl_mapping_copy(s->arena, m);
    }
    dfl_arena_free(work);
}

/* Evaluates a point without merged axes. */
static void evaluate_point(dfl_box_run *s, const dfl_box_node *node)
{
    const dfl_form *f = s->forms.at[node->form].real;
    uint32_t sliding = 0;

    for (uint32_t o = 0; o < f->problem->n_operands; o++)
        sliding |= f->problem->operand[o].ranks & ~f->problem->operand[o].plain;
    if (s->is_open_in_time || s->has_windows) /* rule D2, lemma B13 */
        s->out->lower_bound = fmin(s->out->lower_bound, node->bound);
    if (s->start->write != NULL) {
        evaluate_written(s, node);
        return;
    }
    evaluate_order(s, node, 0);
    for (uint32_t r = 0; r < f->problem->n_ranks; r++)
        if ((sliding >> r & 1) && is_cut(&f->chain[r], node->boxes[r]))
            evaluate_order(s, node, 1 + r);
}

/* The factorings of a point. */
typedef struct {
    dfl_box_run *s;
    const dfl_box_node *node;
    dfl_box_node real;
    DFL_VEC(double) bounds;  /* of those that were evaluated */
} factored_point;

/* Evaluates one factoring of a point. One with the bound of another costs the same, but for what no bound counts (rule D2). */
static void evaluate_factoring(void *context, const int64_t *factor)
{
    factored_point *k = context;
    dfl_box_run *s = k->s;
    const dfl_open_form *f = &s->forms.at[k->node->form];
    double others[DFL_FORM_PRODUCTS];

    for (uint32_t r = 0; r < f->real->problem->n_ranks; r++) {
        int64_t amounts[DFL_CHAIN_CUTS];
        dfl_merge_amounts(f->form->merge, &f->form->chain[r], k->node->boxes[r]->low,
                          factor + r * f->real->problem->n_axes, amounts);
        k->real.boxes[r] = dfl_box_within(s->work, f->real, r, amounts, amounts);
    }
    s->costs.ramp = f->real_ramp;
    if (!dfl_box_multiply(f->real, k->real.boxes, 0, others))
        return;
    k->real.bound = dfl_box_bound(&s->costs, f->real, k->real.boxes, 0, others);
    for (size_t i = 0; i < k->bounds.n; i++)
        if (k->bounds.at[i] == k->real.bound)
            return;
    if (!dfl_box_is_useful(s, k->real.bound))
        return;
    DFL_PUSH(s->work, &k->bounds, k->real.bound);
    evaluate_point(s, &k->real);
}

/* Makes the form with the axes of the system. */
static bool make_real(dfl_box_run *s, dfl_open_form *f)
{
    const dfl_tiling_template skeleton = dfl_merge_split(f->form->merge, f->form->skeleton);

    if (f->real != NULL)
        return true;
    f->real = dfl_form_make(s->work, f->form->merge->real, &skeleton, &s->terms);
    if (f->real == NULL)
        return false;
    f->real->divisors = f->form->divisors;
    f->real_ramp = dfl_ramp_make(s->work, s->names, s->mapping, f->real);
    return true;
}

void dfl_box_evaluate(dfl_box_run *s, const dfl_box_node *node)
{
    dfl_open_form *f = &s->forms.at[node->form];
    const uint32_t n_ranks = f->form->problem->n_ranks;
    factored_point k = { .s = s, .node = node, .real = *node };
    int64_t parts[DFL_PROBLEM_RANKS * DFL_PROBLEM_AXES];

    if (f->form->merge == NULL) {
        evaluate_point(s, node);
        return;
    }
    if (!make_real(s, f)) {
        s->out->lower_bound = fmin(s->out->lower_bound, node->bound);
        return;
    }
    for (uint32_t r = 0; r < n_ranks; r++)
        dfl_box_parts(f->form, r, node->boxes[r], &parts[r * f->form->problem->n_axes]);
    k.real.boxes = DFL_NEW_ARRAY(s->work, dfl_box *, n_ranks);
    dfl_merge_each(f->form->merge, parts, evaluate_factoring, &k);
}
