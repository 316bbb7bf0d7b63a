#include "mapper/improve/tree_climb.h"

#include <math.h>
#include <string.h>

#include "mapper/improve/tree_draw.h"
#include "mapper/improve/tree_moves.h"
#include "mapper/improve/tree_ranks.h"
#include "mapper/improve/tree_strips.h"
#include "mapper/problem/limits.h"
#include "model/model.h"

enum {
    ROUNDS = 16,
    REPAIRS = 2,               /* finer cuts of each loop that are tried for room: in 2 and in 4 */
    STEPS_PART = 16,           /* a climb takes at most one part in so many of the steps that are left */
    FINER = 4,                 /* draws of a finer cut in a walk */
    WALK = 4000,               /* evaluations of the first walk; each walk has twice those of the one before, */
    SHORT_WALK = 125,          /* the same where walks without a gain end the climb */
    WIDEST = 5,                /* up to this one; but at most half of those that are left */
    DRAWS = 16,                /* draws for each evaluation at most: many make no sense */
};

static const double SAME = 1e-12; /* relative difference of values that differ by rounding */
/* Factors of an amount: coarse steps first, fine ones to end at a good tile. */
static const double FACTORS[] = { 2, 0.5, 4, 0.25, 16, 0.0625, 1.4, 0.7, 1.15, 0.87 };
/* Heat of a walk at its begin and at its end: a change to a value 3 % higher is taken with a chance of 1/e at first, and one to a
   value 0.05 % higher at the end. */
static const double HOT = 0.03, COLD = 0.0005;
/* Share of the time left that the first walk may fill. */
static const double FILL = 0.95;
/* Share of the value that a line costs in a walk. */
static const double LINE = 0.001;
/* Shares of the tile above that a further loop cuts off. */
static const double CUTS[] = { 0.5, 0.25, 0.0625 };

typedef struct {
    dfl_arena *arena, *scratch;  /* of the best mapping; of the one that is tried */
    const dfl_intern *names;
    const dfl_tree_climb_options *options;
    dfl_mapping *best;
    double value;
    bool is_better;              /* a change was taken */
    uint64_t evaluated;
    uint64_t most_steps;         /* of the session; 0 = no limit */
} climber;

static dfl_body *body_at(const climber *k, uint32_t b) { return k->best->bodies[b]; }

/* Whether the mapping is still the one that is proven. */
static bool is_settled(const climber *k) { return k->options->proven > 0 && !k->is_better; }

static bool is_over(climber *k)
{
    const dfl_budget *session = dfl_arena_budget(k->arena);

    if (k->most_steps > 0 && session->steps_used >= k->most_steps)
        return true;
    k->options->halt->polls = 0; /* an evaluation is worth a look at the clock */
    return k->evaluated >= k->options->evaluations || dfl_deadline_passed(k->options->halt);
}

/* A copy of the best mapping that may be changed; the copy before is lost. */
static dfl_mapping *draft(climber *k)
{
    dfl_arena_reset(k->scratch);
    return dfl_mapping_copy(k->scratch, k->best);
}

/* ---- judging ---- */

/* The value of a mapping; INFINITY if it is not legal: `*is_full` if only the model refuses it. */
static double evaluate(climber *k, const dfl_mapping *m, bool *is_full)
{
    dfl_budget *session = dfl_arena_budget(k->arena), own = dfl_budget_fresh(session);
    dfl_arena *work;
    dfl_sink *quiet;
    const dfl_paths *paths;
    const dfl_result *costs = NULL;
    double value = INFINITY;

    own.steps_limit = DFL_FIRST_STEPS;
    own.deadline = k->options->halt->at;
    work = dfl_arena_new(&own);
    quiet = dfl_sink_quiet(work);
    paths = dfl_paths_resolve(work, quiet, k->names, m);
    if (paths != NULL)
        costs = dfl_model_eval(work, quiet, k->names, paths);
    *is_full = paths != NULL && costs == NULL && own.why == DFL_STOP_NONE;
    if (costs != NULL && dfl_objective_met(k->options->objective, costs, NULL))
        value = dfl_objective_value(k->options->objective, costs->joules, costs->seconds);
    dfl_arena_free(work);
    dfl_budget_add_steps(session, own.steps_used);
    dfl_budget_work(session, (uint64_t)DFL_WORK_CLIMB * m->workload->n_einsums);
    k->evaluated++;
    return value;
}

/* Takes a draft if it is better. */
static bool take(climber *k, const dfl_mapping *m, bool *is_full)
{
    double value;

    *is_full = false;
    if (is_over(k))
        return false;
    value = evaluate(k, m, is_full);
    if (!(value < k->value * (1 - SAME)) ||
        (k->options->admits != NULL && !k->options->admits(k->options->context, m)))
        return false;
    k->value = value;
    k->best = dfl_mapping_copy(k->arena, m);
    k->is_better = true;
    return true;
}

/* Whether the line is a loop or an axis whose amount may change: not one of the file. */
static bool is_scalable(const dfl_body *b, uint32_t i)
{
    return i < b->n_lines && b->lines[i].kind != DFL_LINE_KEEP && !b->lines[i].given;
}

/* Tries the move with one loop around its place, or inside of its body, cut finer. */
static bool repair(climber *k, const dfl_tree_move *v)
{
    const uint32_t where = v->kind == DFL_TREE_SHIFT ? v->to.body : v->from.body;
    bool is_full;

    for (uint32_t b = 0; b < k->best->n_bodies; b++) {
        if (!dfl_body_within(body_at(k, where), body_at(k, b)) && !dfl_body_within(body_at(k, b), body_at(k, where)))
            continue;
        for (uint32_t i = 0; i <= k->best->bodies[b]->n_lines; i++)
            for (uint32_t f = 0; f < REPAIRS && !is_over(k); f++) {
                dfl_mapping *m = draft(k);
                if (!dfl_tree_apply(k->scratch, m, v) || !is_scalable(m->bodies[b], i) ||
                    m->bodies[b]->lines[i].kind != DFL_LINE_TEMPORAL ||
                    !dfl_tree_scale(m, m->bodies[b], i, f == 0 ? 0.5 : 0.25))
                    break;
                if (take(k, m, &is_full))
                    return true;
            }
    }
    return false;
}

static bool try_move(climber *k, const dfl_tree_move *v)
{
    dfl_mapping *m;
    bool is_full;

    if (is_over(k))
        return false;
    m = draft(k);
    return dfl_tree_apply(k->scratch, m, v) && (take(k, m, &is_full) || (is_full && repair(k, v)));
}

static bool change_loops(climber *k, uint32_t b)
{
    bool better = false;

    for (uint32_t i = 0; i < body_at(k, b)->n_lines; i++)
        for (uint32_t f = 0; f < sizeof FACTORS / sizeof *FACTORS && is_scalable(body_at(k, b), i); f++)
            better |= try_move(k, &(dfl_tree_move){ .kind = DFL_TREE_SCALE, .from = { b, i }, .factor = FACTORS[f] });
    return better;
}

static bool swap_loops(climber *k, uint32_t b)
{
    bool better = false;

    for (uint32_t i = 0; i + 1 < body_at(k, b)->n_lines; i++)
        if (body_at(k, b)->lines[i].kind == DFL_LINE_TEMPORAL && body_at(k, b)->lines[i + 1].kind == DFL_LINE_TEMPORAL)
            better |= try_move(k, &(dfl_tree_move){ .kind = DFL_TREE_SWAP, .from = { b, i } });
    return better;
}

/* Moves one keep anywhere where its tensor is touched, around its body and inside of it. */
static bool shift_keep(climber *k, uint32_t b, uint32_t i)
{
    const uint32_t tensor = body_at(k, b)->lines[i].tensor;

    for (uint32_t to = 0; to < k->best->n_bodies; to++) {
        if ((!dfl_body_within(body_at(k, to), body_at(k, b)) && !dfl_body_within(body_at(k, b), body_at(k, to))) ||
            !dfl_tree_touches(k->best, body_at(k, to), tensor))
            continue;
        for (uint32_t at = 0; at <= body_at(k, to)->n_lines; at++)
            if (dfl_tree_is_end(body_at(k, to), at) && (to != b || (at != i && at != i + 1)) &&
                dfl_tree_is_free(k->best, body_at(k, to), at, tensor) &&
                try_move(k, &(dfl_tree_move){ .kind = DFL_TREE_SHIFT, .from = { b, i }, .to = { to, at } }))
                return true;
    }
    return try_move(k, &(dfl_tree_move){ .kind = DFL_TREE_SINK, .from = { b, i } });
}

static bool change_keeps(climber *k, uint32_t b)
{
    bool better = false;

    for (uint32_t i = 0; i < body_at(k, b)->n_lines; i++) {
        bool is_other = false;
        if (body_at(k, b)->lines[i].kind != DFL_LINE_KEEP ||
            !dfl_tree_is_free(k->best, body_at(k, b), i, body_at(k, b)->lines[i].tensor))
            continue;
        is_other = try_move(k, &(dfl_tree_move){ .kind = DFL_TREE_DROP, .from = { b, i } });
        for (uint32_t memory = 0; memory < k->best->system->n_memories && !is_other; memory++)
            if (memory != body_at(k, b)->lines[i].memory && dfl_tree_may_hold(k->best, body_at(k, b)->lines[i].tensor, memory))
                is_other = try_move(k, &(dfl_tree_move){ .kind = DFL_TREE_REPLACE, .from = { b, i }, .memory = memory });
        is_other = is_other || shift_keep(k, b, i);
        better |= is_other;
    }
    return better;
}

/* Whether several children of a body read the tensor, or several make it. */
static bool is_shared(const dfl_mapping *m, const dfl_body *b, uint32_t tensor)
{
    const dfl_tensor *t = &m->workload->tensors[tensor];
    uint32_t reads = 0, makes = 0;

    if (t->n_consumers < 2 && t->n_producers < 2)
        return false;
    for (uint32_t c = 0; c < b->n_children; c++) {
        bool is_read = false, is_made = false;
        for (uint32_t i = 0; i < b->children[c]->n_einsums; i++) {
            const dfl_einsum *e = &m->workload->einsums[b->children[c]->einsums[i]];
            is_read |= dfl_einsum_reads(e, tensor);
            is_made |= e->output.tensor == tensor;
        }
        reads += is_read;
        makes += is_made;
    }
    return reads > 1 || makes > 1;
}

/* Whether the value depends on the time. */
static bool has_time(const climber *k)
{
    const dfl_objective *o = k->options->objective;

    return o->n_terms != 1 || dfl_objective_value(o, 1, 2) > dfl_objective_value(o, 1, 1);
}

/* Whether a further keep of a tensor in a body is tried. Above branches it spreads a transfer over the time of all of them. */
static bool may_add(const climber *k, uint32_t b, uint32_t tensor)
{
    if (is_settled(k) && !has_time(k))
        return is_shared(k->best, body_at(k, b), tensor);
    return (!is_settled(k) || body_at(k, b)->n_children > 0) && dfl_tree_touches(k->best, body_at(k, b), tensor);
}

static bool add_keeps(climber *k, uint32_t b)
{
    bool better = false;

    for (uint32_t t = 0; t < k->best->workload->n_tensors; t++)
        for (uint32_t memory = 0; memory < k->best->system->n_memories && may_add(k, b, t); memory++)
            for (uint32_t at = 0; at <= body_at(k, b)->n_lines && dfl_tree_may_hold(k->best, t, memory); at++)
                if (dfl_tree_is_end(body_at(k, b), at) && dfl_tree_is_free(k->best, body_at(k, b), at, t))
                    better |= try_move(k, &(dfl_tree_move){ .kind = DFL_TREE_ADD_KEEP, .from = { b, at }, .tensor = t,
                                                            .memory = memory });
    return better;
}

/* Whether a loop above keep `at` differs from one at the neighbouring places. */
static bool may_cut(const climber *k, uint32_t b, uint32_t at)
{
    return at == dfl_tree_after_homes(k->best, body_at(k, b)) || dfl_tree_is_end(body_at(k, b), at);
}

static bool add_loops(climber *k, uint32_t b)
{
    bool better = false;

    if (body_at(k, b)->kind != DFL_BODY_LEAF && !k->options->may_share)
        return false;
    for (uint32_t r = 0; r < k->best->workload->n_ranks; r++)
        for (uint32_t at = dfl_tree_after_homes(k->best, body_at(k, b));
             at < body_at(k, b)->n_lines && !is_over(k) && dfl_tree_may_loop(k->best, body_at(k, b), r); at++)
            for (uint32_t c = 0; c < sizeof CUTS / sizeof *CUTS && at < body_at(k, b)->n_lines; c++)
                if (body_at(k, b)->lines[at].kind == DFL_LINE_KEEP && may_cut(k, b, at))
                    better |= try_move(k, &(dfl_tree_move){ .kind = DFL_TREE_ADD_LOOP, .from = { b, at }, .rank = r,
                                                            .factor = CUTS[c], .fits = true });
    return better;
}

/* Climbs until no change is better. */
static void climb(climber *k)
{
    bool better = true;

    for (uint32_t round = 0; round < ROUNDS && better && !is_over(k); round++) {
        better = false;
        for (uint32_t b = 0; b < k->best->n_bodies && !is_over(k); b++) {
            better |= !is_settled(k) && change_loops(k, b);
            if (k->options->amounts_only)
                continue;
            better |= !is_settled(k) && change_keeps(k, b);
            better |= add_keeps(k, b);
            better |= !is_settled(k) && swap_loops(k, b);
            better |= !is_settled(k) && add_loops(k, b);
        }
    }
}

/* ---- strips ---- */

enum { FEW = 1000 };           /* evaluations in all with which no strips are tried: they take some hundred */

/* The best start so far: the mapping itself, or strips of it. */
typedef struct {
    climber *k;
    double value;
    bool has_strip;
    dfl_tree_strip strip;
} start;

/* Judges a start with strips. */
static bool judge_strip(void *context, const dfl_tree_strip *strip, bool *has_room)
{
    start *best = context;
    climber *k = best->k;
    dfl_mapping *m = draft(k);
    double value = INFINITY;
    bool is_full;

    if (is_over(k))
        return false;
    if (dfl_tree_strip_apply(k->scratch, m, strip))
        value = evaluate(k, m, &is_full);
    *has_room = value < INFINITY;
    if (value < best->value * (1 - SAME) && (k->options->admits == NULL || k->options->admits(k->options->context, m)))
        *best = (start){ k, value, true, *strip };
    return true;
}

/* Climbs from the given mapping, and before from strips of it if these are better at once: where they are not, to climb from
   them as well takes time that walks need. Of equal results that without strips stays, which has fewer lines. */
static void climb_best(climber *k)
{
    start best = { .k = k, .value = k->value };
    dfl_arena *work = dfl_arena_new(dfl_arena_budget(k->arena));
    dfl_mapping *given = k->best, *strips = NULL;
    const double value = k->value;

    if (k->options->may_share && !k->options->amounts_only && k->options->evaluations > FEW)
        dfl_tree_strips_each(work, given, judge_strip, &best);
    dfl_arena_free(work);
    if (best.has_strip) {
        k->best = dfl_mapping_copy(k->arena, given);
        k->value = best.value;
        (void)dfl_tree_strip_apply(k->arena, k->best, &best.strip);
        climb(k);
        strips = k->best;
        best.value = k->value;
    }
    k->best = given;
    k->value = value;
    climb(k);
    if (best.has_strip && best.value < k->value * (1 - SAME)) {
        k->best = strips;
        k->value = best.value;
    }
}

/* ---- random changes ---- */

/* A walk by random changes: each that is better is taken, and one that is worse with a chance that falls with the difference of
   the logarithms of the values over `heat`, which falls from one step to the next. */
typedef struct {
    climber *k;
    dfl_arena *arena[2];         /* of the present mapping, and of the next one */
    dfl_mapping *at;
    double value, heat;
    dfl_tree_random random;
} walk;

/* Draws a change of the present mapping; NULL = none that is legal. A change that exceeds a memory is tried with finer cuts. */
static dfl_mapping *step(walk *w, double *value)
{
    climber *k = w->k;
    dfl_tree_move v, finer;
    dfl_mapping *m;
    bool is_full;

    if (!dfl_tree_draw_move(&w->random, w->at, k->options->may_share, &v))
        return NULL;
    dfl_arena_reset(w->arena[1]);
    m = dfl_mapping_copy(w->arena[1], w->at);
    if (!dfl_tree_apply(w->arena[1], m, &v))
        return NULL;
    *value = evaluate(k, m, &is_full);
    for (uint32_t r = 0; r < FINER && is_full; r++)
        if (dfl_tree_draw_finer(&w->random, m, v.kind == DFL_TREE_SHIFT ? v.to.body : v.from.body, &finer) &&
            dfl_tree_apply(w->arena[1], m, &finer))
            *value = evaluate(k, m, &is_full);
    return *value < INFINITY ? m : NULL;
}

/* What a walk compares: the value, and a little for each line, so that lines that do nothing do not pile up. */
static double weigh(const dfl_mapping *m, double value)
{
    uint32_t lines = 0;

    for (uint32_t b = 0; b < m->n_bodies; b++)
        lines += m->bodies[b]->n_lines;
    return value * (1 + LINE * lines);
}

/* Walks so many evaluations from the best mapping, which is replaced by a better one that it meets. */
static void anneal(climber *k, uint64_t evaluations, dfl_tree_random *random)
{
    walk w = { .k = k, .arena = { dfl_arena_new(dfl_arena_budget(k->arena)), dfl_arena_new(dfl_arena_budget(k->arena)) },
               .value = weigh(k->best, k->value), .random = *random };
    const uint64_t first = k->evaluated;

    w.at = dfl_mapping_copy(w.arena[0], k->best);
    for (uint64_t draws = 0; k->evaluated - first < evaluations && draws < DRAWS * evaluations && !is_over(k); draws++) {
        double value = INFINITY;
        dfl_mapping *next = step(&w, &value);
        w.heat = HOT * pow(COLD / HOT, (double)(k->evaluated - first) / (double)evaluations);
        if (next == NULL || dfl_tree_draw_share(&w.random) >= exp(-log(weigh(next, value) / w.value) / w.heat))
            continue;
        if (k->options->admits != NULL && !k->options->admits(k->options->context, next))
            continue;
        dfl_arena *swapped = w.arena[0];
        w.arena[0] = w.arena[1];
        w.arena[1] = swapped;
        w.at = next;
        w.value = weigh(next, value);
        if (value < k->value * (1 - SAME)) {
            k->value = value;
            k->best = dfl_mapping_copy(k->arena, next);
        }
    }
    *random = w.random;
    dfl_arena_free(w.arena[0]);
    dfl_arena_free(w.arena[1]);
}

/* Evaluations of the first walk: `most`, or as many as a limit on time leaves, so that it cools down. `began`: time when the
   climb began. */
static uint64_t fit_walk(const climber *k, uint64_t most, double began)
{
    const double now = dfl_budget_time(dfl_arena_budget(k->arena)), each = (now - began) / (double)k->evaluated;
    const double left = k->options->halt->at > 0 && each > 0 ? (k->options->halt->at - now) * FILL / each : INFINITY;

    return left < (double)most ? (uint64_t)fmax(left, 1) : most;
}

dfl_mapping *dfl_tree_climb(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *m,
                            const dfl_tree_climb_options *options, double *value, uint64_t *evaluated)
{
    climber k = { .arena = dfl_arena_new(dfl_arena_budget(arena)), .scratch = dfl_arena_new(dfl_arena_budget(arena)),
                  .names = names, .options = options };
    dfl_tree_random random = { 1 };
    dfl_mapping *out;
    const dfl_budget *session = dfl_arena_budget(arena);
    const double began = dfl_budget_time(session);
    bool is_full;

    if (session != NULL && session->steps_limit > session->steps_used)
        k.most_steps = session->steps_used + (session->steps_limit - session->steps_used) / STEPS_PART + 1;
    k.best = dfl_mapping_copy(k.arena, m);
    k.value = options->proven > 0 ? options->proven : evaluate(&k, k.best, &is_full);
    if (k.value < INFINITY)
        climb_best(&k);
    for (uint32_t i = 0, idle = 0; i < options->walks && idle < options->patience && k.value < INFINITY && !is_over(&k); i++) {
        const double before = k.value;
        const uint64_t first = options->patience < UINT32_MAX ? SHORT_WALK : WALK;
        const uint64_t most = first << (i < WIDEST ? i : WIDEST), half = (options->evaluations - k.evaluated) / 2 + 1;
        anneal(&k, i == 0 ? fit_walk(&k, most < half ? most : half, began) : most < half ? most : half, &random);
        idle = k.value < before ? 0 : idle + 1;
        if (k.value < before)
            climb(&k);
    }
    out = dfl_mapping_copy(arena, k.best);
    *value = k.value;
    *evaluated = k.evaluated;
    dfl_arena_free(k.scratch);
    dfl_arena_free(k.arena);
    return out;
}
