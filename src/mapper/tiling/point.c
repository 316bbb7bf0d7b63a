#include "mapper/tiling/point.h"

#include <math.h>
#include <string.h>

#include "ir/mapping_open.h"
#include "mapper/problem/home_lines.h"
#include "model/model.h"

struct dfl_point {
    const dfl_intern *names;
    const dfl_form *form;
    dfl_arena *home, *scratch;
    dfl_sink *quiet;
    dfl_mapping *mapping;
    dfl_paths *paths;
    dfl_model *model;           /* NULL = the model does not accept the form */
    dfl_line ***line;           /* by rank and cut */
    uint32_t last;
    double joules, seconds;
};

/* Adds the line of one rank in a gap: a loop, or parts on an axis. */
static void add_cut(dfl_point *p, uint32_t r, uint32_t gap, int axis, dfl_body *body)
{
    const dfl_problem *problem = p->form->problem;
    const dfl_chain *c = &p->form->chain[r];

    for (uint32_t i = 0; i < c->n; i++) {
        dfl_line line = { .kind = axis < 0 ? DFL_LINE_TEMPORAL : DFL_LINE_SPATIAL, .rank = problem->rank[r], .amount = 1,
                          .by = axis < 0 ? DFL_BY_SIZE : DFL_BY_PARTS };
        if (c->at[i].gap != gap || c->at[i].axis != axis)
            continue;
        if (axis >= 0)
            line.axis = problem->axis[axis].axis;
        p->line[r][i] = dfl_body_add_line(body, line, p->mapping->hole_span);
    }
}

uint32_t dfl_point_order(const dfl_problem *problem, uint32_t rank)
{
    uint32_t order = 0;

    for (uint32_t o = 0; o < problem->n_operands; o++)
        for (uint32_t d = 0; d < problem->operand[o].n_dims; d++) {
            const dfl_problem_dim *dim = &problem->operand[o].dims[d];
            for (uint32_t i = 0; i < dim->n && !dfl_form_is_plain(&problem->operand[o], dim); i++)
                if (dim->rank[i] == rank)
                    order = order > 1u + (i == dim->main) ? order : 1u + (i == dim->main);
        }
    return order;
}

/* The lines of a gap in the order of dfl_point_order, and behind them those of the rank `last`. */
static void add_cuts(dfl_point *p, uint32_t gap, int axis, dfl_body *body)
{
    const dfl_problem *problem = p->form->problem;

    for (uint32_t order = 0; order < 4; order++)
        for (uint32_t r = 0; r < problem->n_ranks; r++)
            if ((r == p->last ? 3 : dfl_point_order(problem, r)) == order)
                add_cut(p, r, gap, axis, body);
}

static void add_lines(dfl_point *p, const dfl_body *from, dfl_body *body)
{
    const dfl_problem *problem = p->form->problem;
    const dfl_tiling_template *t = p->form->skeleton;

    dfl_body_add_homes(p->form->problem, from, p->mapping->hole_span, body);
    for (uint32_t g = 0; g <= t->n_keeps; g++) {
        for (int axis = -1; axis < (int)problem->n_axes; axis++)
            add_cuts(p, g, axis, body);
        for (uint32_t i = 0; i <= g && i < t->n_keeps; i++)
            if (t->written[i] == g && !t->keep[i].home && problem->place[t->keep[i].place].memory != DFL_NONE)
                dfl_body_add_line(body, (dfl_line){ .kind = DFL_LINE_KEEP,
                                                    .tensor = problem->operand[t->keep[i].operand].tensor,
                                                    .memory = problem->place[t->keep[i].place].memory },
                                  p->mapping->hole_span);
    }
}

static void make_mapping(dfl_point *p, const dfl_mapping *mapping)
{
    const dfl_form *f = p->form;
    const dfl_body *from = mapping->root;
    dfl_body *body = DFL_NEW(p->home, dfl_body);
    dfl_body **bodies = DFL_NEW_ARRAY(p->home, dfl_body *, 1);
    size_t n_lines = dfl_body_count_homes(from) + f->problem->n_operands + f->n_keeps;

    p->mapping = DFL_NEW(p->home, dfl_mapping);
    p->line = DFL_NEW_ARRAY(p->home, dfl_line **, f->problem->n_ranks);
    for (uint32_t r = 0; r < f->problem->n_ranks; r++) {
        p->line[r] = DFL_NEW_ARRAY(p->home, dfl_line *, f->chain[r].n);
        n_lines += f->chain[r].n;
    }
    *body = (dfl_body){ .span = from->span, .einsums = from->einsums, .n_einsums = from->n_einsums, .compute = f->problem->unit,
                        .compute_span = from->span, .lines = DFL_NEW_ARRAY(p->home, dfl_line, n_lines) };
    bodies[0] = body;
    *p->mapping = *mapping;
    p->mapping->root = body;
    p->mapping->bodies = bodies;
    p->mapping->n_bodies = 1;
    p->mapping->has_holes = false;
    add_lines(p, from, body);
}

dfl_point *dfl_point_make(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *mapping, const dfl_form *form,
                          uint32_t last)
{
    dfl_point *p = DFL_NEW(arena, dfl_point);

    *p = (dfl_point){ .names = names, .form = form, .last = last, .home = dfl_arena_new(dfl_arena_budget(arena)),
                      .scratch = dfl_arena_new(dfl_arena_budget(arena)) };
    p->quiet = dfl_sink_quiet(p->home);
    make_mapping(p, mapping);
    p->paths = dfl_paths_bind(p->home, p->quiet, names, p->mapping);
    if (p->paths != NULL) {
        (void)dfl_paths_resize(p->scratch, p->quiet, names, p->paths);
        p->model = dfl_model_prepare(p->home, p->quiet, names, p->paths);
        dfl_arena_reset(p->scratch);
    }
    return p;
}

void dfl_point_free(dfl_point *p)
{
    dfl_arena_free(p->scratch);
    dfl_arena_free(p->home);
}

double dfl_point_value(dfl_point *p, const dfl_objective *objective, const int64_t *const *amounts)
{
    double terms[DFL_OBJECTIVE_TERMS], value = INFINITY;
    const dfl_result *costs = NULL;

    if (p->model == NULL)
        return INFINITY;
    for (uint32_t r = 0; r < p->form->problem->n_ranks; r++)
        for (uint32_t i = 0; i < p->form->chain[r].n; i++)
            p->line[r][i]->amount = amounts[r][i];
    if (dfl_paths_resize(p->scratch, p->quiet, p->names, p->paths))
        costs = dfl_model_run(p->model, p->scratch);
    if (costs != NULL && dfl_objective_met(objective, costs, NULL) && dfl_objective_terms(objective, costs, terms)) {
        value = terms[0];
        p->joules = costs->joules;
        p->seconds = costs->seconds;
    }
    dfl_arena_reset(p->scratch);
    return value;
}

void dfl_point_costs(const dfl_point *p, double *joules, double *seconds)
{
    *joules = p->joules;
    *seconds = p->seconds;
}

dfl_mapping *dfl_point_copy(dfl_arena *arena, const dfl_point *p)
{
    const dfl_problem *problem = p->form->problem;
    dfl_mapping *m = dfl_mapping_copy(arena, p->mapping);
    dfl_body *body = m->root;
    uint32_t n = 0;
    int64_t left[DFL_PROBLEM_RANKS];

    memcpy(left, problem->extent, sizeof left);
    for (uint32_t i = 0; i < body->n_lines; i++) {
        dfl_line line = body->lines[i];
        const uint32_t r = line.kind == DFL_LINE_KEEP ? problem->n_ranks : dfl_problem_find_rank(problem, line.rank);
        if (r < problem->n_ranks) {
            const int64_t tile = line.by == DFL_BY_PARTS ? (left[r] + line.amount - 1) / line.amount : line.amount;
            if (tile >= left[r])
                continue;
            left[r] = tile;
            line.amount_span = line.span;
        }
        body->lines[n++] = line;
    }
    body->n_lines = n;
    return m;
}
