#include "mapper/improve/tree_climb.h"

#include <math.h>
#include <string.h>

#include "mapper/problem/limits.h"
#include "model/model.h"

enum {
    ROUNDS = 16,
    REPAIRS = 2,               /* finer cuts of each loop that are tried for room: in 2 and in 4 */
};

static const double SAME = 1e-12; /* relative difference of values that differ by rounding */
/* Factors of an amount: coarse steps first, fine ones to end at a good tile. */
static const double FACTORS[] = { 2, 0.5, 4, 0.25, 16, 0.0625, 1.4, 0.7, 1.15, 0.87 };
/* Shares of the tile above that a further loop cuts off. */
static const double CUTS[] = { 0.5, 0.25, 0.0625 };

typedef struct {
    dfl_arena *arena, *scratch;  /* of the best mapping; of the one that is tried */
    const dfl_intern *names;
    const dfl_tree_climb_options *options;
    dfl_mapping *best;
    double value;
    uint64_t evaluated;
} climber;

/* A place for a line: before line `at` of a body. */
typedef struct { uint32_t body, at; } place;

static dfl_body *body_at(const climber *k, uint32_t b) { return k->best->bodies[b]; }

static bool is_over(climber *k)
{
    k->options->halt->polls = 0; /* an evaluation is worth a look at the clock */
    return k->evaluated >= k->options->evaluations || dfl_deadline_passed(k->options->halt);
}

/* ---- changes of lines ---- */

/* A copy of the best mapping that may be changed; the copy before is lost. */
static dfl_mapping *draft(climber *k)
{
    dfl_arena_reset(k->scratch);
    return dfl_mapping_copy(k->scratch, k->best);
}

static void remove_line(dfl_body *b, uint32_t at)
{
    b->n_lines--;
    for (uint32_t i = at; i < b->n_lines; i++)
        b->lines[i] = b->lines[i + 1];
}

static void insert_line(dfl_arena *arena, dfl_body *b, uint32_t at, const dfl_line *line)
{
    dfl_line *lines = DFL_NEW_ARRAY(arena, dfl_line, (size_t)b->n_lines + 1);

    memcpy(lines, b->lines, at * sizeof *lines);
    lines[at] = *line;
    for (uint32_t i = at; i < b->n_lines; i++)
        lines[i + 1] = b->lines[i];
    b->lines = lines;
    b->n_lines++;
}

static dfl_line new_keep(const dfl_body *b, uint32_t tensor, uint32_t memory)
{
    return (dfl_line){ .kind = DFL_LINE_KEEP, .span = b->span, .amount_span = b->span, .tensor = tensor, .memory = memory };
}

static bool touches(const dfl_mapping *m, const dfl_body *b, uint32_t tensor)
{
    for (uint32_t i = 0; i < b->n_einsums; i++)
        if (dfl_einsum_touches(&m->workload->einsums[b->einsums[i]], tensor))
            return true;
    return false;
}

static bool has_rank(const dfl_mapping *m, const dfl_body *b, uint32_t rank)
{
    for (uint32_t i = 0; i < b->n_einsums; i++)
        if (!dfl_einsum_has_rank(&m->workload->einsums[b->einsums[i]], rank))
            return false;
    return b->n_einsums > 0;
}

static bool may_hold(const dfl_mapping *m, uint32_t tensor, uint32_t memory)
{
    const dfl_memory *at = &m->system->memories[memory];

    return !at->holds.on || dfl_selects(&at->holds, &m->workload->tensors[tensor]);
}

/* Elements of a full tile of the rank that the lines above line `at` of the body leave. */
static int64_t tile_above(const dfl_mapping *m, const dfl_body *b, uint32_t at, uint32_t rank)
{
    int64_t tile = b->parent != NULL ? tile_above(m, b->parent, b->parent->n_lines, rank) : m->workload->ranks[rank].extent;

    for (uint32_t i = 0; i < at; i++) {
        const dfl_line *line = &b->lines[i];
        if (line->kind == DFL_LINE_KEEP || line->rank != rank)
            continue;
        if (line->by == DFL_BY_PARTS)
            tile = (tile + line->amount - 1) / line->amount;
        else if (line->amount < tile)
            tile = line->amount;
    }
    return tile;
}

/* The smallest tile that makes as many tiles as `tile`. */
static int64_t even_tile(int64_t extent, double tile)
{
    const int64_t t = tile < 1 ? 1 : tile > (double)extent ? extent : (int64_t)tile, n = (extent + t - 1) / t;

    return (extent + n - 1) / n;
}

/* Scales the tile that a loop leaves. False if that changes nothing. A loop with one iteration goes away. */
static bool scale_loop(const dfl_mapping *m, dfl_body *b, uint32_t at, double factor)
{
    dfl_line *line = &b->lines[at];
    const int64_t above = tile_above(m, b, at, line->rank);
    int64_t amount;

    if (line->kind == DFL_LINE_KEEP || line->cyclic || line->rounds)
        return false;
    if (line->by == DFL_BY_SIZE) {
        amount = even_tile(above, (double)line->amount * factor);
        if (amount == line->amount)
            return false;
        line->amount = amount;
        if (amount >= above)
            remove_line(b, at);
        return true;
    }
    amount = (int64_t)fmax(1, fmin((double)above, rint((double)line->amount / factor)));
    if (amount == line->amount)
        return false;
    line->amount = amount;
    if (amount == 1)
        remove_line(b, at);
    return true;
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
    quiet = dfl_sink_new(work, NULL);
    dfl_sink_limit(quiet, 0);
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
    return true;
}

/* ---- moves ---- */

/* A move: changes a draft, and tells in `at` where it needs room. False if it does not apply. */
typedef struct {
    enum { SCALE, SWAP, DROP, SHIFT, SINK, ADD_KEEP, ADD_LOOP, REPLACE } kind;
    place from, to;
    uint32_t tensor, memory, rank;
    double factor;
} move;

/* Takes the keeps of a tensor in a memory away from all bodies inside of `b`. */
static void remove_inside(dfl_mapping *m, const dfl_body *b, uint32_t tensor, uint32_t memory)
{
    for (uint32_t i = 0; i < m->n_bodies; i++) {
        dfl_body *inner = m->bodies[i];
        if (inner == b || !dfl_body_within(inner, b))
            continue;
        for (uint32_t l = inner->n_lines; l-- > 0;)
            if (inner->lines[l].kind == DFL_LINE_KEEP && inner->lines[l].tensor == tensor && inner->lines[l].memory == memory)
                remove_line(inner, l);
    }
}

static bool shift_line(climber *k, dfl_mapping *m, const move *v)
{
    dfl_body *from = m->bodies[v->from.body], *to = m->bodies[v->to.body];
    const dfl_line line = from->lines[v->from.at];
    const uint32_t at = from == to && v->to.at > v->from.at ? v->to.at - 1 : v->to.at;

    remove_line(from, v->from.at);
    if (line.kind == DFL_LINE_KEEP && from != to)
        remove_inside(m, to, line.tensor, line.memory);
    if (at > to->n_lines)
        return false;
    insert_line(k->scratch, to, at, &line);
    return true;
}

/* A keep of a branch stands at the top of each child that touches its tensor. */
static bool sink_line(climber *k, dfl_mapping *m, const move *v)
{
    dfl_body *b = m->bodies[v->from.body];
    const dfl_line line = b->lines[v->from.at];

    remove_line(b, v->from.at);
    for (uint32_t c = 0; c < b->n_children; c++)
        if (touches(m, b->children[c], line.tensor))
            insert_line(k->scratch, b->children[c], 0, &line);
    return b->n_children > 0;
}

static bool apply(climber *k, dfl_mapping *m, const move *v)
{
    dfl_body *b = m->bodies[v->from.body];
    dfl_line line;

    switch (v->kind) {
    case SCALE:
        return scale_loop(m, b, v->from.at, v->factor);
    case SWAP:
        line = b->lines[v->from.at];
        b->lines[v->from.at] = b->lines[v->from.at + 1];
        b->lines[v->from.at + 1] = line;
        return true;
    case DROP:
        remove_line(b, v->from.at);
        return true;
    case SHIFT:
        return shift_line(k, m, v);
    case SINK:
        return sink_line(k, m, v);
    case ADD_KEEP:
        line = new_keep(b, v->tensor, v->memory);
        remove_inside(m, b, v->tensor, v->memory);
        insert_line(k->scratch, b, v->from.at, &line);
        return true;
    case ADD_LOOP:
        line = (dfl_line){ .kind = DFL_LINE_TEMPORAL, .span = b->span, .amount_span = b->span, .rank = v->rank,
                           .by = DFL_BY_SIZE };
        line.amount = tile_above(m, b, v->from.at, v->rank);
        insert_line(k->scratch, b, v->from.at, &line);
        return scale_loop(m, b, v->from.at, v->factor);
    case REPLACE:
        b->lines[v->from.at].memory = v->memory;
        return true;
    }
    return false;
}

/* Tries the move with one loop around its place, or inside of its body, cut finer. */
static bool repair(climber *k, const move *v)
{
    const uint32_t where = v->kind == SHIFT ? v->to.body : v->from.body;
    bool is_full;

    for (uint32_t b = 0; b < k->best->n_bodies; b++) {
        if (!dfl_body_within(body_at(k, where), body_at(k, b)) && !dfl_body_within(body_at(k, b), body_at(k, where)))
            continue;
        for (uint32_t i = 0; i <= k->best->bodies[b]->n_lines; i++)
            for (uint32_t f = 0; f < REPAIRS && !is_over(k); f++) {
                dfl_mapping *m = draft(k);
                if (!apply(k, m, v) || i >= m->bodies[b]->n_lines || m->bodies[b]->lines[i].kind != DFL_LINE_TEMPORAL ||
                    !scale_loop(m, m->bodies[b], i, f == 0 ? 0.5 : 0.25))
                    break;
                if (take(k, m, &is_full))
                    return true;
            }
    }
    return false;
}

static bool try_move(climber *k, const move *v)
{
    dfl_mapping *m;
    bool is_full;

    if (is_over(k))
        return false;
    m = draft(k);
    return apply(k, m, v) && (take(k, m, &is_full) || (is_full && repair(k, v)));
}

/* Whether a keep before line `at` is the first or the last one between two loops; all between are otherwise the same. */
static bool is_end(const dfl_body *b, uint32_t at)
{
    return at == 0 || at == b->n_lines || b->lines[at].kind != DFL_LINE_KEEP || b->lines[at - 1].kind != DFL_LINE_KEEP;
}

static bool change_loops(climber *k, uint32_t b)
{
    bool better = false;

    for (uint32_t i = 0; i < body_at(k, b)->n_lines; i++)
        for (uint32_t f = 0; f < sizeof FACTORS / sizeof *FACTORS && i < body_at(k, b)->n_lines &&
             body_at(k, b)->lines[i].kind != DFL_LINE_KEEP; f++)
            better |= try_move(k, &(move){ .kind = SCALE, .from = { b, i }, .factor = FACTORS[f] });
    return better;
}

static bool swap_loops(climber *k, uint32_t b)
{
    bool better = false;

    for (uint32_t i = 0; i + 1 < body_at(k, b)->n_lines; i++)
        if (body_at(k, b)->lines[i].kind == DFL_LINE_TEMPORAL && body_at(k, b)->lines[i + 1].kind == DFL_LINE_TEMPORAL)
            better |= try_move(k, &(move){ .kind = SWAP, .from = { b, i } });
    return better;
}

/* Moves one keep anywhere where its tensor is touched, around its body and inside of it. */
static bool shift_keep(climber *k, uint32_t b, uint32_t i)
{
    const uint32_t tensor = body_at(k, b)->lines[i].tensor;

    for (uint32_t to = 0; to < k->best->n_bodies; to++) {
        if ((!dfl_body_within(body_at(k, to), body_at(k, b)) && !dfl_body_within(body_at(k, b), body_at(k, to))) ||
            !touches(k->best, body_at(k, to), tensor))
            continue;
        for (uint32_t at = 0; at <= body_at(k, to)->n_lines; at++)
            if (is_end(body_at(k, to), at) && (to != b || (at != i && at != i + 1)) &&
                try_move(k, &(move){ .kind = SHIFT, .from = { b, i }, .to = { to, at } }))
                return true;
    }
    return try_move(k, &(move){ .kind = SINK, .from = { b, i } });
}

/* Whether a keep of the tensor stands above line `i` of the body. */
static bool is_kept_above(const dfl_body *b, uint32_t i, uint32_t tensor)
{
    for (; b != NULL; b = b->parent, i = b != NULL ? b->n_lines : 0)
        while (i > 0)
            if (b->lines[--i].kind == DFL_LINE_KEEP && b->lines[i].tensor == tensor)
                return true;
    return false;
}

/* Whether a keep of the tensor at this place may come, go or change: homes of inputs and outputs stay where they are. */
static bool is_free(const climber *k, uint32_t b, uint32_t i, uint32_t tensor)
{
    return k->best->workload->tensors[tensor].role == DFL_ROLE_INTERMEDIATE || is_kept_above(body_at(k, b), i, tensor);
}

static bool change_keeps(climber *k, uint32_t b)
{
    bool better = false;

    for (uint32_t i = 0; i < body_at(k, b)->n_lines; i++) {
        bool is_other = false;
        if (body_at(k, b)->lines[i].kind != DFL_LINE_KEEP || !is_free(k, b, i, body_at(k, b)->lines[i].tensor))
            continue;
        is_other = try_move(k, &(move){ .kind = DROP, .from = { b, i } });
        for (uint32_t memory = 0; memory < k->best->system->n_memories && !is_other; memory++)
            if (memory != body_at(k, b)->lines[i].memory && may_hold(k->best, body_at(k, b)->lines[i].tensor, memory))
                is_other = try_move(k, &(move){ .kind = REPLACE, .from = { b, i }, .memory = memory });
        is_other = is_other || shift_keep(k, b, i);
        better |= is_other;
    }
    return better;
}

static bool add_keeps(climber *k, uint32_t b)
{
    bool better = false;

    for (uint32_t t = 0; t < k->best->workload->n_tensors; t++)
        for (uint32_t memory = 0; memory < k->best->system->n_memories && touches(k->best, body_at(k, b), t); memory++)
            for (uint32_t at = 0; at <= body_at(k, b)->n_lines && may_hold(k->best, t, memory); at++)
                if (is_end(body_at(k, b), at) && is_free(k, b, at, t))
                    better |= try_move(k, &(move){ .kind = ADD_KEEP, .from = { b, at }, .tensor = t, .memory = memory });
    return better;
}

/* The first place of a body behind all homes of inputs and outputs. */
static uint32_t after_homes(const climber *k, uint32_t b)
{
    uint32_t at = body_at(k, b)->n_lines;

    for (const dfl_line *lines = body_at(k, b)->lines; at > 0; at--)
        if (lines[at - 1].kind == DFL_LINE_KEEP && !is_free(k, b, at - 1, lines[at - 1].tensor))
            break;
    return at;
}

static bool add_loops(climber *k, uint32_t b)
{
    bool better = false;

    if (body_at(k, b)->kind != DFL_BODY_LEAF && !k->options->may_share)
        return false;
    for (uint32_t r = 0; r < k->best->workload->n_ranks; r++)
        for (uint32_t at = after_homes(k, b); at < body_at(k, b)->n_lines && has_rank(k->best, body_at(k, b), r); at++)
            for (uint32_t c = 0; c < sizeof CUTS / sizeof *CUTS && at < body_at(k, b)->n_lines; c++)
                if (body_at(k, b)->lines[at].kind == DFL_LINE_KEEP && (at == 0 || is_end(body_at(k, b), at)))
                    better |= try_move(k, &(move){ .kind = ADD_LOOP, .from = { b, at }, .rank = r, .factor = CUTS[c] });
    return better;
}

dfl_mapping *dfl_tree_climb(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *m,
                            const dfl_tree_climb_options *options, double *value, uint64_t *evaluated)
{
    climber k = { .arena = dfl_arena_new(dfl_arena_budget(arena)), .scratch = dfl_arena_new(dfl_arena_budget(arena)),
                  .names = names, .options = options };
    dfl_mapping *out;
    bool is_full, better = true;

    k.best = dfl_mapping_copy(k.arena, m);
    k.value = evaluate(&k, k.best, &is_full);
    for (uint32_t round = 0; round < ROUNDS && better && k.value < INFINITY && !is_over(&k); round++) {
        better = false;
        for (uint32_t b = 0; b < k.best->n_bodies; b++) {
            better |= change_loops(&k, b);
            better |= change_keeps(&k, b);
            better |= add_keeps(&k, b);
            better |= swap_loops(&k, b);
            better |= add_loops(&k, b);
        }
    }
    out = dfl_mapping_copy(arena, k.best);
    *value = k.value;
    *evaluated = k.evaluated;
    dfl_arena_free(k.scratch);
    dfl_arena_free(k.arena);
    return out;
}
