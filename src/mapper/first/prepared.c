#include "mapper/first/prepared.h"

#include <math.h>

#include "ir/mapping_open.h"
#include "mapper/problem/limits.h"
#include "model/model.h"
#include "support/deadline.h"

struct dfl_prepared {
    const dfl_prepared_for *what;
    uint64_t steps;          /* limit of one evaluation, */
    dfl_budget budget;       /* and its budget */
    dfl_arena *arena, *home, *scratch; /* of this, of the model, of one evaluation */
    dfl_sink *quiet;
    uint32_t homes;          /* lines of the mapping above those of the skeleton */
    dfl_mapping *mapping;
    dfl_paths *paths;        /* NULL = the lines are not legal with any amounts */
    dfl_model *model;        /* NULL = the model does not take them */
};

/* The line of a mapping. A loop of one iteration is written by parts: a tile of one element would be a second time through a rank
   that is finished above. */
static dfl_line line_of(const dfl_problem *problem, const dfl_skeleton_line *from, int64_t above, dfl_span span)
{
    dfl_line line = { .span = span, .amount_span = span };

    if (from->kind == DFL_SKELETON_KEEP) {
        line.kind = DFL_LINE_KEEP;
        line.tensor = problem->operand[from->operand].tensor;
        line.memory = problem->place[from->place].memory;
        return line;
    }
    line.rank = problem->rank[from->rank];
    line.amount = from->amount;
    if (from->kind == DFL_SKELETON_SPREAD) {
        line.kind = DFL_LINE_SPATIAL;
        line.by = DFL_BY_PARTS;
        line.axis = problem->axis[from->axis].axis;
    } else {
        line.kind = DFL_LINE_TEMPORAL;
        line.by = from->amount < above ? DFL_BY_SIZE : DFL_BY_PARTS;
        line.amount = from->amount < above ? from->amount : 1;
    }
    return line;
}

static void set_amounts(const dfl_problem *problem, const dfl_skeleton *lines, dfl_line *at)
{
    int64_t left[DFL_PROBLEM_RANKS];

    for (uint32_t r = 0; r < problem->n_ranks; r++)
        left[r] = problem->extent[r];
    for (uint32_t i = 0; i < lines->n; i++) {
        const dfl_skeleton_line *line = &lines->at[i];
        int64_t *mine = &left[line->rank];
        if (line->kind == DFL_SKELETON_KEEP)
            continue;
        if (line->kind == DFL_SKELETON_LOOP) {
            at[i].by = line->amount < *mine ? DFL_BY_SIZE : DFL_BY_PARTS;
            at[i].amount = line->amount < *mine ? line->amount : 1;
            *mine = line->amount;
        } else {
            at[i].amount = line->amount;
            *mine = *mine / line->amount + (*mine % line->amount != 0);
        }
    }
}

dfl_mapping *dfl_skeleton_mapping(dfl_arena *arena, const dfl_mapping *given, const dfl_problem *problem,
                                  const dfl_skeleton *lines)
{
    const dfl_span span = given->hole_span;
    const uint32_t written = dfl_body_count_homes(given->root);
    dfl_mapping *m = DFL_NEW(arena, dfl_mapping);
    dfl_body *body = DFL_NEW(arena, dfl_body);
    dfl_body **bodies = DFL_NEW_ARRAY(arena, dfl_body *, 1);

    *m = *given;
    *body = (dfl_body){ .span = given->root->span, .einsums = given->root->einsums, .n_einsums = 1, .compute = problem->unit,
                        .compute_span = given->root->span };
    body->lines = DFL_NEW_ARRAY(arena, dfl_line, written + problem->n_operands + lines->n);
    for (uint32_t i = 0; i < written; i++) {
        body->lines[body->n_lines] = given->root->lines[i];
        body->lines[body->n_lines++].given = true;
    }
    for (uint32_t o = 0; o < problem->n_operands; o++) {
        bool is_home = dfl_body_home(given->root, problem->operand[o].tensor) == DFL_NONE;
        for (uint32_t k = 0; k < o; k++)
            is_home &= problem->operand[k].tensor != problem->operand[o].tensor;
        if (is_home)
            body->lines[body->n_lines++] =
                line_of(problem, &(dfl_skeleton_line){ .kind = DFL_SKELETON_KEEP, .operand = (uint8_t)o,
                                               .place = (uint8_t)problem->operand[o].home }, 0, span);
    }
    for (uint32_t i = 0; i < lines->n; i++)
        body->lines[body->n_lines++] = line_of(problem, &lines->at[i], 0, span);
    set_amounts(problem, lines, body->lines + body->n_lines - lines->n);
    bodies[0] = body;
    m->root = body;
    m->bodies = bodies;
    m->n_bodies = 1;
    m->has_holes = false;
    return m;
}

/* Steps that an evaluation may take now. */
static uint64_t steps_now(const dfl_prepared *p)
{
    const double left = p->what->deadline > 0 ? fmax(0, p->what->deadline - dfl_budget_time(p->what->budget)) : INFINITY;

    return (uint64_t)fmin((double)p->steps, DFL_FIRST_STEPS_LEAST + left * DFL_FIRST_STEPS_SECOND);
}

dfl_prepared *dfl_prepared_new(const dfl_prepared_for *what, const dfl_problem *problem, const dfl_skeleton *lines)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_prepared *p = DFL_NEW(arena, dfl_prepared);
    dfl_skeleton settled = *lines;

    dfl_skeleton_settle(problem, &settled, NULL);
    p->what = what;
    p->arena = arena;
    p->scratch = dfl_arena_new(&p->budget);
    p->steps = DFL_FIRST_STEPS;
    p->budget = (dfl_budget){ .steps_limit = steps_now(p), .work = what->budget != NULL ? what->budget->work : NULL };
    p->home = dfl_arena_new(&p->budget);
    p->quiet = dfl_sink_quiet(arena);
    p->mapping = dfl_skeleton_mapping(arena, what->given, problem, &settled);
    p->homes = p->mapping->root->n_lines - lines->n;
    p->paths = dfl_paths_bind(p->home, p->quiet, what->names, p->mapping);
    if (p->paths && dfl_paths_resize(p->scratch, p->quiet, what->names, p->paths))
        p->model = dfl_model_prepare(p->home, p->quiet, what->names, p->paths);
    dfl_arena_reset(p->scratch);
    return p;
}

void dfl_prepared_free(dfl_prepared *p)
{
    dfl_arena_free(p->scratch);
    dfl_arena_free(p->home);
    dfl_arena_free(p->arena);
}

double dfl_prepared_value(dfl_prepared *p, const dfl_problem *problem, const dfl_skeleton *settled, double *joules,
                          double *seconds)
{
    const dfl_result *costs = NULL;
    double value = INFINITY;

    if (p->model == NULL)
        return INFINITY;
    set_amounts(problem, settled, p->mapping->root->lines + p->homes);
    p->budget.steps_used = 0;
    p->budget.steps_limit = steps_now(p);
    p->budget.why = DFL_STOP_NONE;
    if (dfl_paths_resize(p->scratch, p->quiet, p->what->names, p->paths))
        costs = dfl_model_run(p->model, p->scratch);
    if (costs && dfl_objective_met(p->what->objective, costs, NULL)) {
        value = dfl_objective_value(p->what->objective, costs->joules, costs->seconds);
        if (joules)
            *joules = costs->joules;
        if (seconds)
            *seconds = costs->seconds;
    }
    dfl_arena_reset(p->scratch);
    return value;
}

uint64_t dfl_prepared_steps(const dfl_prepared *p) { return p->budget.steps_used; }
