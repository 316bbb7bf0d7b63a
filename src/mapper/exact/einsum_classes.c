/* Jobs, classes, and what classes offer each other. */
#include "mapper/exact/einsum_classes.h"

#include <string.h>

#include "mapper/exact/reservations.h"
#include "mapper/exact/shared_inputs.h"
#include "mapper/exact/skeleton_bounds.h"
#include "mapper/problem/limits.h"
#include "mapper/skeleton/fixed_lines.h"
#include "mapper/skeleton/fixed_skeletons.h"
#include "mapper/skeleton/listing.h"

typedef struct {
    dfl_arena *arena;
    dfl_einsum_classes *out;
    const dfl_problem_limits *limits;
    dfl_deadline *halt;
} maker;

/* Einsums with one lack: something that the search does not support. */
typedef struct {
    const char *lack;
    uint32_t first, n;   /* the first einsum, and the number of einsums */
} lacking;

/* Reports each lack once. */
static void report_lacks(const dfl_einsum_classes *out, dfl_sink *sink, const dfl_intern *names, const lacking *lacks, size_t n)
{
    const dfl_workload *w = out->m->workload;

    for (size_t i = 0; i < n; i++) {
        const dfl_einsum *e = &w->einsums[lacks[i].first];
        const char *name = dfl_sym_text(names, e->name);
        dfl_diag *d = lacks[i].n > 1
                          ? dfl_report(sink, DFL_EVAL_UNSUPPORTED, e->span,
                                       "the search does not support %u of the %u einsums of `%s`, first `%s`: %s",
                                       lacks[i].n, out->n, dfl_sym_text(names, w->name), name, lacks[i].lack)
                          : dfl_report(sink, DFL_EVAL_UNSUPPORTED, e->span, "the search does not support `%s`: %s", name,
                                       lacks[i].lack);

        dfl_diag_label(sink, d, out->m->span, "needed to fill the hole of this mapping");
        dfl_diag_help(sink, d, "write the lines of the mapping");
    }
}

static bool make_problems(maker *k, dfl_sink *sink, const dfl_intern *names)
{
    dfl_einsum_classes *out = k->out;
    DFL_VEC(lacking) lacks = { NULL, 0, 0 };
    bool possible = true;

    out->roomy = dfl_space_roomy(k->arena, out->m, k->limits);
    out->problems = DFL_NEW_ARRAY(k->arena, dfl_problems, (size_t)out->n + 1);
    for (uint32_t e = 0; e < out->n; e++) {
        const char *lack = NULL;
        out->problems[e] = dfl_problems_make(k->arena, names, out->m, e, k->limits, out->roomy, &lack);
        for (size_t i = 0; i < out->problems[e].n; i++)
            out->problems[e].at[i]->given = dfl_fixed_lines_make(k->arena, out->m, out->problems[e].at[i]);
        if (lack) {
            size_t i = 0;
            while (i < lacks.n && strcmp(lacks.at[i].lack, lack) != 0)
                i++;
            if (i == lacks.n)
                DFL_PUSH(k->arena, &lacks, ((lacking){ .lack = lack, .first = e }));
            lacks.at[i].n++;
        } else if (out->problems[e].n == 0) {
            const dfl_einsum *einsum = &out->m->workload->einsums[e];
            dfl_diag *d = dfl_report(sink, DFL_MAP_NO_COMPUTE, einsum->span, "no unit can run einsum `%s`",
                                     dfl_sym_text(names, einsum->name));
            dfl_diag_label(sink, d, out->m->system->span, "on this system");
            dfl_diag_help(sink, d, "give a unit a rate for it, or extend its `ops`");
        }
        possible &= out->problems[e].n > 0 && !lack;
    }
    report_lacks(out, sink, names, lacks.at, lacks.n);
    return possible;
}

static bool same_class(const dfl_einsum_classes *k, uint32_t a, uint32_t b)
{
    if (k->problems[a].n != k->problems[b].n)
        return false;
    for (size_t i = 0; i < k->problems[a].n; i++)
        if (k->problems[a].at[i]->unit != k->problems[b].at[i]->unit ||
            !dfl_problem_same(k->problems[a].at[i], k->problems[b].at[i]))
            return false;
    return true;
}

typedef struct {
    maker *k;
    dfl_einsum_class *c;
    const dfl_problem *problem;
} collector;

static uint32_t find_pattern(const dfl_einsum_class *c, const dfl_pattern *p)
{
    uint32_t i = 0;

    while (i < c->patterns.n && memcmp(c->patterns.at[i].memory, p->memory, sizeof p->memory) != 0)
        i++;
    return i;
}

static dfl_pattern make_pattern(const dfl_problem *problem, const dfl_tiling_template *t)
{
    dfl_pattern p = { .least = dfl_criteria_none() };

    for (uint32_t o = 0; o < problem->n_operands; o++)
        if (dfl_problem_exchanged(&problem->operand[o])) {
            p.memory[o] = problem->place[t->exchange[o]].memory;
            p.fetch[o] = dfl_shared_input_joules(problem, t, o);
            p.rebate += dfl_shared_input_rebate(problem, t, o);
        }
    return p;
}

static uint32_t pattern_of(maker *k, dfl_einsum_class *c, const dfl_problem *problem, const dfl_tiling_template *t)
{
    dfl_pattern p = make_pattern(problem, t);
    uint32_t i = find_pattern(c, &p);

    if (i == c->patterns.n)
        DFL_PUSH(k->arena, &c->patterns, p);
    return i;
}

uint32_t dfl_einsum_classes_pattern(const dfl_einsum_class *c, const dfl_problem *problem, const dfl_tiling_template *t)
{
    const dfl_pattern p = make_pattern(problem, t);

    return find_pattern(c, &p);
}

static bool collect(void *context, const dfl_tiling_template *t)
{
    collector *x = context;
    dfl_tiling_template *copy = DFL_NEW(x->k->arena, dfl_tiling_template);
    dfl_candidate found = { .problem = x->problem, .form = copy };

    *copy = *t;
    if (t->form)
        copy->form = dfl_fixed_skeleton_copy(x->k->arena, t->form);
    found.pattern = pattern_of(x->k, x->c, x->problem, t);
    found.at = (uint32_t)x->c->candidates.n;
    DFL_PUSH(x->k->arena, &x->c->candidates, found);
    return !dfl_deadline_passed(x->k->halt);
}

static void make_class(maker *k, uint32_t e)
{
    dfl_einsum_class fresh = { .first = e };

    for (size_t i = 0; i < k->out->problems[e].n; i++) {
        collector x = { .k = k, .c = &fresh, .problem = k->out->problems[e].at[i] };
        if (x.problem->given)
            dfl_fixed_lines_each(x.problem, k->halt, collect, &x);
        else
            dfl_templates_each(x.problem, k->halt, collect, &x);
    }
    DFL_PUSH(k->arena, &k->out->at, fresh);
}

/* The einsum on the other side of an operand: the producer of an input, the first reader of a result. */
static uint32_t other_side(const dfl_einsum_classes *k, uint32_t e, uint32_t o)
{
    const dfl_problem_operand *op = &k->problems[e].at[0]->operand[o];
    const dfl_tensor *t = &k->m->workload->tensors[op->tensor];

    return op->output ? t->consumers[0] : t->producers[0];
}

static void add_partner(dfl_arena *arena, dfl_einsum_classes *k, uint32_t e, uint32_t o)
{
    dfl_einsum_class *c = &k->at.at[k->of[e]];
    const dfl_problem *problem = k->problems[e].at[0];
    uint32_t next = other_side(k, e, o);
    dfl_partner p = { .class = k->of[next] };

    for (uint32_t before = 0; before < o; before++)
        if (problem->operand[before].shared && other_side(k, e, before) == next)
            c->repeated |= 1u << o;
    while (k->problems[next].at[0]->operand[p.operand].tensor != problem->operand[o].tensor)
        p.operand++;
    for (size_t i = 0; i < c->next[o].n; i++)
        if (c->next[o].at[i].class == p.class && c->next[o].at[i].operand == p.operand)
            return;
    DFL_PUSH(arena, &c->next[o], p);
}

/* Whether the exchanged operands, each between its producer and every reader, make no circle. */
static bool is_tree(dfl_arena *scratch, const dfl_einsum_classes *k)
{
    const dfl_workload *w = k->m->workload;
    uint32_t *root = DFL_NEW_ARRAY(scratch, uint32_t, (size_t)k->n + 1);

    for (uint32_t e = 0; e < k->n; e++)
        root[e] = e;
    for (uint32_t e = 0; e < k->n; e++) {
        const dfl_problem *problem = k->problems[e].at[0];
        for (uint32_t o = 0; o < problem->n_operands; o++) {
            uint32_t a = e, b;
            if (!problem->operand[o].shared || problem->operand[o].output)
                continue;
            for (b = w->tensors[problem->operand[o].tensor].producers[0]; root[b] != b;)
                b = root[b] = root[root[b]];
            while (root[a] != a)
                a = root[a] = root[root[a]];
            if (a == b)
                return false;
            root[a] = b;
        }
    }
    return true;
}

static void find_partners(dfl_arena *arena, dfl_einsum_classes *k)
{
    for (uint32_t e = 0; e < k->n; e++)
        for (uint32_t o = 0; o < k->problems[e].at[0]->n_operands; o++)
            if (k->problems[e].at[0]->operand[o].shared)
                add_partner(arena, k, e, o);
}

bool dfl_einsum_classes_make(dfl_arena *arena, dfl_arena *scratch, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m,
                             const dfl_problem_limits *limits, uint32_t threads, dfl_deadline *halt, dfl_einsum_classes *out)
{
    maker k = { .arena = arena, .out = out, .limits = limits, .halt = halt };
    uint32_t more;

    *out = (dfl_einsum_classes){ .m = m, .n = m->workload->n_einsums };
    if (!make_problems(&k, sink, names))
        return false;
    if (!limits->homes_only)
        dfl_shared_input_find(scratch, out, limits);
    more = limits->homes_only || limits->unjoined
               ? DFL_NONE : dfl_reservations_excess(scratch, out, limits->counted > 0 ? limits->counted - 1 : DFL_NONE);
    if (more != DFL_NONE) {
        dfl_reservations_report(sink, m, more);
        return false;
    }
    out->of = DFL_NEW_ARRAY(arena, uint32_t, (size_t)out->n + 1);
    for (uint32_t e = 0; e < out->n && !dfl_deadline_passed(halt); e++) {
        uint32_t c = 0;
        while (c < out->at.n && !same_class(out, out->at.at[c].first, e))
            c++;
        if (c == out->at.n)
            make_class(&k, e);
        out->of[e] = c;
    }
    if (halt->why == DFL_STOP_NONE)
        dfl_einsum_classes_bound(arena, scratch, out, limits->plain || limits->unjoined, threads, halt);
    if (halt->why == DFL_STOP_NONE)
        find_partners(arena, out);
    out->tree = halt->why == DFL_STOP_NONE && is_tree(arena, out);
    return halt->why == DFL_STOP_NONE;
}

bool dfl_einsum_classes_make_within(dfl_arena *arena, dfl_arena *scratch, dfl_sink *sink, const dfl_intern *names,
                                    const dfl_mapping *m, const dfl_problem_limits *limits, const dfl_search_limits *all,
                                    dfl_einsum_classes *out, dfl_stop *stopped)
{
    dfl_deadline halt = { .budget = dfl_arena_budget(arena), .at = all->deadline };
    dfl_listing listing;
    bool found;

    dfl_listing_begin(&listing, &halt, all->evaluations);
    found = dfl_einsum_classes_make(arena, scratch, sink, names, m, limits, all->threads, &halt, out);
    dfl_listing_end(&listing, &halt);
    *stopped = halt.why;
    return found;
}

void dfl_einsum_classes_aim(const dfl_einsum_class *c, uint32_t pattern, dfl_tile_goal *goal)
{
    goal->rest = c->others[pattern];
    for (uint32_t p = 0; p < DFL_PORTS; p++) {
        goal->busy[p] = c->patterns.at[pattern].least.at[DFL_COST_BUSY + p];
        goal->rest.at[DFL_COST_BUSY + p] += goal->busy[p];
    }
}

void dfl_einsum_classes_restart(dfl_einsum_classes *k)
{
    for (size_t i = 0; i < k->at.n; i++)
        k->at.at[i].searched = false;
}

/* Operands of which all partners have been searched. */
static uint32_t known_operands(const dfl_einsum_classes *k, const dfl_einsum_class *c)
{
    uint32_t known = 0;

    for (uint32_t o = 0; o < DFL_PROBLEM_OPERANDS; o++) {
        bool all = c->next[o].n > 0;
        for (size_t i = 0; i < c->next[o].n && all; i++)
            all = k->at.at[c->next[o].at[i].class].searched;
        known |= (uint32_t)all << o;
    }
    return known;
}

/* The order of classes: operands whose ways are free, then all that are exchanged, then rows within the last limit. */
static uint64_t freedom(const dfl_einsum_classes *k, const dfl_einsum_class *c)
{
    uint64_t shared = 0;

    for (uint32_t o = 0; o < DFL_PROBLEM_OPERANDS; o++)
        shared += c->next[o].n > 0;
    return ((shared - (uint64_t)__builtin_popcount(known_operands(k,
                                                                  c))) * (DFL_PROBLEM_OPERANDS + 1) + shared) << 32 | c->n_list;
}

uint32_t dfl_einsum_classes_wave(dfl_einsum_classes *k, uint32_t number, uint32_t *wave)
{
    uint64_t least = UINT64_MAX;
    uint32_t n = 0;

    for (size_t i = 0; i < k->at.n; i++) {
        uint64_t mine = k->at.at[i].searched ? UINT64_MAX : freedom(k, &k->at.at[i]);
        least = mine < least ? mine : least;
    }
    for (uint32_t i = 0; i < k->at.n; i++) {
        dfl_einsum_class *c = &k->at.at[i];
        if (c->searched || freedom(k, c) != least)
            continue;
        c->filter = (dfl_compatibility){ .classes = k, .class = i, .known = known_operands(k, c) };
        c->wave = number;
        wave[n++] = i;
    }
    return n;
}

bool dfl_einsum_classes_wanted(const dfl_compatibility *f, const dfl_problem *problem, const dfl_way *way, dfl_criteria *more)
{
    const dfl_einsum_class *c = &f->classes->at.at[f->class];

    *more = dfl_criteria_zero();
    for (uint32_t known = f->known; known != 0; known &= known - 1) {
        uint32_t o = (uint32_t)__builtin_ctz(known);
        dfl_criteria least = dfl_criteria_none();
        bool offered = false;
        for (size_t i = 0; i < c->next[o].n; i++) {
            dfl_partner p = c->next[o].at[i];
            const dfl_criteria *found = dfl_interfaces_offered_find(&f->classes->at.at[p.class].offers[p.operand], problem, way,
                                                                    o);
            offered |= found != NULL;
            if (found != NULL)
                dfl_criteria_lower(&least, found);
        }
        if (!offered)
            return false;
        if (!f->classes->plain && !(c->repeated >> o & 1))
            dfl_criteria_add(more, &least);
    }
    return true;
}

bool dfl_einsum_classes_loop_wanted(const dfl_compatibility *f, const dfl_problem *problem, uint32_t operand, uint32_t memory,
                                    uint32_t rank,
                                    int64_t trips)
{
    const dfl_einsum_class *c = &f->classes->at.at[f->class];
    bool offered = !(f->known >> operand & 1);

    for (size_t i = 0; i < c->next[operand].n && !offered; i++) {
        dfl_partner p = c->next[operand].at[i];
        offered = dfl_interfaces_offered_loop(&f->classes->at.at[p.class].offers[p.operand], problem, operand, memory, rank,
                                              trips);
    }
    return offered;
}

/* What a row costs beyond the least of its pattern. */
static dfl_criteria beyond_least(const dfl_einsum_class *c, const dfl_goal *goal, const dfl_pmapping *row)
{
    const dfl_criteria zero = dfl_criteria_zero();
    dfl_criteria more = dfl_criteria_with(goal, &zero, row->joules, row->seconds);

    for (size_t p = 0; p < c->patterns.n; p++) {
        bool same = true;
        for (uint32_t o = 0; o < row->problem->n_operands; o++)
            same &= c->patterns.at[p].memory[o] == row->way.memory[o];
        for (uint32_t i = 0; i < DFL_COST_BUSY && same; i++)
            more.at[i] = more.at[i] > c->patterns.at[p].least.at[i] ? more.at[i] - c->patterns.at[p].least.at[i] : 0;
        if (same)
            break;
    }
    return more;
}

void dfl_einsum_classes_offer(dfl_arena *arena, dfl_einsum_classes *k, const dfl_goal *goal, uint32_t class)
{
    dfl_einsum_class *c = &k->at.at[class];
    const dfl_problem *problem = k->problems[c->first].at[0];

    memset(c->offers, 0, sizeof c->offers);
    for (uint32_t i = 0; i < c->n_list; i++) {
        dfl_criteria more = beyond_least(c, goal, c->list[i]), behind;
        if (k->tree && !k->plain && dfl_einsum_classes_wanted(&c->filter, c->list[i]->problem, &c->list[i]->way, &behind))
            dfl_criteria_add(&more, &behind);
        for (uint32_t o = 0; o < problem->n_operands; o++)
            if (problem->operand[o].shared)
                dfl_interfaces_offered_add(arena, &c->offers[o], problem, &c->list[i]->way, o, &more);
    }
    c->searched = true;
}

bool dfl_einsum_classes_windows(const dfl_einsum_classes *k)
{
    for (uint32_t e = 0; e < k->n; e++)
        if (k->problems[e].at[0]->windows)
            return true;
    return false;
}

const dfl_problem *const *dfl_einsum_classes_chosen(dfl_arena *arena, const dfl_einsum_classes *k,
                                                    const dfl_pmapping *const *rows)
{
    const dfl_problem **problems = DFL_NEW_ARRAY(arena, const dfl_problem *, (size_t)k->n + 1);

    for (uint32_t e = 0; e < k->n; e++)
        for (size_t i = 0; i < k->problems[e].n; i++)
            if (k->problems[e].at[i]->unit == rows[e]->problem->unit)
                problems[e] = k->problems[e].at[i];
    return problems;
}

dfl_join_step *dfl_einsum_classes_steps(dfl_arena *arena, const dfl_einsum_classes *k)
{
    dfl_join_step *steps = DFL_NEW_ARRAY(arena, dfl_join_step, (size_t)k->n + 1);

    for (uint32_t e = 0; e < k->n; e++) {
        const dfl_einsum_class *c = &k->at.at[k->of[e]];
        steps[e] = (dfl_join_step){ .rows = c->list, .n = c->n_list, .problem = k->problems[e].at[0] };
    }
    return steps;
}

dfl_cost_to_go *dfl_einsum_classes_cost_to_go(dfl_arena *arena, const dfl_einsum_classes *k)
{
    dfl_bound_step *steps = DFL_NEW_ARRAY(arena, dfl_bound_step, (size_t)k->n + 1);

    for (uint32_t e = 0; e < k->n; e++) {
        const dfl_einsum_class *c = &k->at.at[k->of[e]];
        steps[e] = (dfl_bound_step){ .problem = k->problems[e].at[0], .patterns = c->patterns.at, .n = (uint32_t)c->patterns.n };
    }
    return dfl_cost_to_go_make(arena, k->m->workload, steps);
}
