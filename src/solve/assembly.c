#include "solve/assembly.h"

#include <math.h>
#include <string.h>

#include "mapper/problem/evaluate.h"
#include "support/deadline.h"
#include "support/limits.h"

bool dfl_assembly_is_over(dfl_assembly *a)
{
    const dfl_budget *session = a->fill->solver->budget;

    if (!dfl_budget_ok(a->fill->solver->budget)) {
        if (session->why == DFL_STOP_CANCELLED || a->stopped == DFL_STOP_NONE)
            a->stopped = session->why;
        return true;
    }
    if (a->fill->limits.deadline <= 0 || dfl_budget_time(session) < a->fill->limits.deadline)
        return false;
    a->stopped = DFL_STOP_TIME;
    return true;
}

/* ---- the mapping ---- */

static dfl_body *add_body(dfl_assembly *a, dfl_body *parent, const uint32_t *einsums, uint32_t n)
{
    dfl_body *b = DFL_NEW(a->arena, dfl_body);

    *b = (dfl_body){ .kind = n > 1 ? DFL_BODY_FUSE : DFL_BODY_LEAF, .span = a->given->root->span, .id = (uint32_t)a->bodies.n,
                     .parent = parent, .depth = parent ? parent->depth + 1 : 0, .einsums = einsums, .n_einsums = n,
                     .compute = DFL_NONE };
    DFL_PUSH(a->arena, &a->bodies, b);
    return b;
}

/* Appends the lines found for an einsum to its leaf. Keeps of a tensor at home, and outside of the home, are left out: the root
   has them. */
static void add_lines(const dfl_assembly *a, uint32_t einsum, dfl_body *leaf)
{
    const dfl_found_lines *found = &a->found[einsum];
    dfl_line *lines = DFL_NEW_ARRAY(a->arena, dfl_line, (size_t)leaf->n_lines + found->n_lines + 1);

    if (leaf->n_lines > 0)
        memcpy(lines, leaf->lines, leaf->n_lines * sizeof *lines);
    for (uint32_t i = 0; i < found->n_lines; i++)
        if (found->lines[i].kind != DFL_LINE_KEEP ||
            dfl_memory_outside(a->system, a->home[found->lines[i].tensor], found->lines[i].memory))
            lines[leaf->n_lines++] = found->lines[i];
    leaf->lines = lines;
    leaf->compute = found->unit;
    leaf->compute_span = a->given->hole_span;
}

/* Whether einsum `e` reads, directly or through other einsums, what the marked einsums produce. */
static bool follows(const dfl_assembly *a, const bool *marked, const bool *behind, uint32_t e)
{
    const dfl_einsum *einsum = &a->workload->einsums[e];

    for (uint32_t i = 0; i < einsum->n_inputs; i++) {
        const dfl_tensor *t = &a->workload->tensors[einsum->inputs[i].tensor];
        for (uint32_t p = 0; p < t->n_producers; p++)
            if (marked[t->producers[p]] || behind[t->producers[p]])
                return true;
    }
    return false;
}

/* A carried rank of the einsum that no enclosing body iterates; DFL_NONE if there is none. */
static uint32_t open_repeat(const dfl_assembly *a, uint32_t einsum, const bool *iterated)
{
    const dfl_einsum *e = &a->workload->einsums[einsum];

    for (uint32_t i = 0; i < e->n_ranks; i++)
        if (a->is_carried[e->ranks[i]] && !iterated[e->ranks[i]])
            return e->ranks[i];
    return DFL_NONE;
}

static void add_children(dfl_assembly *a, dfl_body *body, bool *iterated);

/* Adds the branch of a repeat: all einsums of `body` with the rank. */
static dfl_body *add_repeat(dfl_assembly *a, dfl_body *body, uint32_t rank, const bool *in_repeat, bool *iterated)
{
    uint32_t *einsums = DFL_NEW_ARRAY(a->arena, uint32_t, body->n_einsums + 1), n = 0;
    dfl_line *line = DFL_NEW_ARRAY(a->arena, dfl_line, 1);
    dfl_body *out;

    for (uint32_t i = 0; i < body->n_einsums; i++)
        if (in_repeat[body->einsums[i]])
            einsums[n++] = body->einsums[i];
    out = add_body(a, body, einsums, n);
    *line = (dfl_line){ .kind = DFL_LINE_TEMPORAL, .span = a->given->hole_span, .amount_span = a->given->hole_span,
                        .rank = rank, .amount = 1 };
    out->lines = line;
    out->n_lines = 1;
    iterated[rank] = true;
    if (n == 1)
        add_lines(a, einsums[0], out);
    else
        add_children(a, out, iterated);
    iterated[rank] = false;
    return out;
}

/* Adds one child per einsum and per repeat. Einsums of the body that read results of a repeat follow it. */
static void add_children(dfl_assembly *a, dfl_body *body, bool *iterated)
{
    bool *done = DFL_NEW_ARRAY(a->arena, bool, a->workload->n_einsums + 1);

    body->children = DFL_NEW_ARRAY(a->arena, dfl_body *, body->n_einsums + 1);
    for (uint32_t i = 0; i < body->n_einsums; i++) {
        const uint32_t e = body->einsums[i], rank = open_repeat(a, e, iterated);

        if (done[e])
            continue;
        if (rank != DFL_NONE) {
            bool *in_repeat = DFL_NEW_ARRAY(a->arena, bool, a->workload->n_einsums + 1);
            bool *behind = DFL_NEW_ARRAY(a->arena, bool, a->workload->n_einsums + 1);
            for (uint32_t k = 0; k < body->n_einsums; k++)
                in_repeat[body->einsums[k]] = dfl_einsum_has_rank(&a->workload->einsums[body->einsums[k]], rank);
            for (uint32_t k = i; k < body->n_einsums; k++) {
                const uint32_t other = body->einsums[k];
                if (done[other] || in_repeat[other])
                    continue;
                behind[other] = follows(a, in_repeat, behind, other) || open_repeat(a, other, iterated) != DFL_NONE;
                if (behind[other])
                    continue;
                dfl_body *leaf = add_body(a, body, &body->einsums[k], 1);
                add_lines(a, other, leaf);
                body->children[body->n_children++] = leaf;
                done[other] = true;
            }
            body->children[body->n_children++] = add_repeat(a, body, rank, in_repeat, iterated);
            for (uint32_t k = i; k < body->n_einsums; k++)
                done[body->einsums[k]] |= in_repeat[body->einsums[k]];
            continue;
        }
        dfl_body *leaf = add_body(a, body, &body->einsums[i], 1);
        add_lines(a, e, leaf);
        body->children[body->n_children++] = leaf;
        done[e] = true;
    }
}

/* Whether the home of some tensor stands inside of arrays. */
static bool has_inner_home(const dfl_assembly *a)
{
    bool any = false;

    for (uint32_t t = 0; t < a->workload->n_tensors; t++)
        any |= a->home[t] != DFL_NONE && dfl_memory_is_in_array(a->system, a->home[t]);
    return any;
}

dfl_mapping *dfl_assembly_make(dfl_assembly *a)
{
    const dfl_workload *w = a->workload;
    uint32_t *all = DFL_NEW_ARRAY(a->arena, uint32_t, w->n_einsums + 1);
    dfl_mapping *out = DFL_NEW(a->arena, dfl_mapping);
    dfl_body *root;

    a->bodies.n = a->bodies.cap = 0;
    a->bodies.at = NULL;
    for (uint32_t e = 0; e < w->n_einsums; e++)
        all[e] = e;
    root = add_body(a, NULL, all, w->n_einsums);
    root->lines = DFL_NEW_ARRAY(a->arena, dfl_line, w->n_tensors + 1);
    for (uint32_t m = 0; m < a->system->n_memories; m++)
        for (uint32_t t = 0; t < w->n_tensors; t++)
            if (a->home[t] == m)
                root->lines[root->n_lines++] = (dfl_line){ .kind = DFL_LINE_KEEP, .span = a->given->hole_span, .tensor = t,
                                                           .memory = m };
    if (dfl_is_single_einsum(w) && has_inner_home(a)) { /* these homes stand behind the lines that split the einsum */
        root->n_lines = a->found[0].n_lines;
        root->lines = DFL_NEW_ARRAY(a->arena, dfl_line, (size_t)root->n_lines + 1);
        memcpy(root->lines, a->found[0].lines, root->n_lines * sizeof *root->lines);
        root->compute = a->found[0].unit;
        root->compute_span = a->given->hole_span;
    } else if (dfl_is_single_einsum(w)) {
        add_lines(a, 0, root);
    } else {
        root->kind = DFL_BODY_FUSE;
        add_children(a, root, DFL_NEW_ARRAY(a->arena, bool, w->n_ranks + 1));
    }
    *out = *a->given;
    out->root = root;
    out->bodies = a->bodies.at;
    out->n_bodies = (uint32_t)a->bodies.n;
    out->has_holes = false;
    return out;
}
/* ---- tensors that stay on the chip ---- */

static bool is_better(dfl_assembly_score one, dfl_assembly_score other)
{
    return one.is_met != other.is_met ? one.is_met : one.value < other.value;
}

dfl_assembly_score dfl_assembly_score_of(const dfl_assembly *a, const dfl_result *costs)
{
    return (dfl_assembly_score){ dfl_objective_met(a->objective, costs, NULL),
                                 dfl_objective_value(a->objective, costs->joules, costs->seconds) };
}

dfl_assembly_score dfl_assembly_judge(const dfl_assembly *a, const dfl_mapping *mapping, double deadline)
{
    const dfl_solver *solver = a->fill->solver;
    dfl_budget budget = dfl_budget_fresh(solver->budget);
    dfl_arena *work = dfl_arena_new(&budget);
    const dfl_result *r;
    dfl_assembly_score out = { false, INFINITY };

    if (budget.steps_limit == 0 || budget.steps_limit > DFL_JUDGE_STEPS)
        budget.steps_limit = DFL_JUDGE_STEPS;
    budget.deadline = deadline;
    r = dfl_mapping_costs(work, solver->names, mapping);
    if (r)
        out = dfl_assembly_score_of(a, r);
    dfl_arena_free(work);
    dfl_budget_add_steps(solver->budget, budget.steps_used);
    return out;
}

/* The score of the mapping with the present homes. */
static dfl_assembly_score judge_homes(dfl_assembly *a)
{
    dfl_arena *kept = a->arena;
    dfl_assembly_score out;

    a->arena = dfl_arena_new(a->fill->solver->budget);
    out = dfl_assembly_judge(a, dfl_assembly_make(a), fmax(a->fill->limits.deadline, a->fill->judged_until));
    dfl_arena_free(a->arena);
    a->arena = kept;
    return out;
}

/* Whether the tensor may move from its home to the memory. */
static bool may_move(const dfl_assembly *a, uint32_t tensor, uint32_t memory)
{
    const dfl_memory *m = &a->system->memories[memory];

    return a->workload->tensors[tensor].role == DFL_ROLE_INTERMEDIATE && a->home[tensor] != DFL_NONE &&
           dfl_memory_outside(a->system, a->home[tensor], memory) &&
           (!m->holds.on || dfl_selects(&m->holds, &a->workload->tensors[tensor]));
}

/* Moves the tensors to the memory if that makes the mapping better, or else each half of them by itself. */
static void move_set(dfl_assembly *a, const uint32_t *tensors, uint32_t n, uint32_t memory, dfl_assembly_score *best)
{
    uint32_t *before = DFL_NEW_ARRAY(a->arena, uint32_t, (size_t)n + 1);
    dfl_assembly_score one;

    if (n == 0 || isinf(best->value) || dfl_assembly_is_over(a))
        return;
    for (uint32_t i = 0; i < n; i++) {
        before[i] = a->home[tensors[i]];
        a->home[tensors[i]] = memory;
    }
    one = judge_homes(a);
    a->evaluated++;
    if (is_better(one, *best)) {
        *best = one;
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        a->home[tensors[i]] = before[i];
    if (n > 1) {
        move_set(a, tensors, n / 2, memory, best);
        move_set(a, &tensors[n / 2], n - n / 2, memory, best);
    }
}

void dfl_assembly_move_homes(dfl_assembly *a)
{
    const dfl_workload *w = a->workload;
    uint32_t *tensors = DFL_NEW_ARRAY(a->arena, uint32_t, (size_t)w->n_tensors + 1);
    dfl_assembly_score best = a->costs != NULL ? dfl_assembly_score_of(a, a->costs) : judge_homes(a);

    for (uint32_t m = 0; m < a->system->n_memories; m++) {
        uint32_t n = 0;
        dfl_i128 instances;
        if (dfl_element_instances(a->system, a->system->memories[m].element, &instances) || instances > 1)
            continue;
        for (uint32_t t = 0; t < w->n_tensors; t++)
            if (may_move(a, t, m))
                tensors[n++] = t;
        move_set(a, tensors, n, m, &best);
    }
}
