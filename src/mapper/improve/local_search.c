/* Hill climbing over the lines of bodies. */
#include "mapper/improve/local_search.h"

#include <math.h>
#include <string.h>

enum {
    MOST = 60000,              /* evaluations of an einsum in all */
    ROUNDS = 16,
};

static const double SAME = 1e-12; /* of values that differ by rounding */

typedef struct {
    dfl_arena *arena;
    const dfl_intern *names;
    const dfl_pair_search_options *options;
    dfl_mapping *m;            /* the best so far */
    double value;
    dfl_deadline *halt;
    uint64_t left;             /* evaluations of an einsum */
} mover;

static bool is_over(mover *k)
{
    k->halt->polls = 0; /* an evaluation is worth a look at the clock */
    return k->left < k->m->workload->n_einsums || dfl_pair_search_over(k->options) || dfl_deadline_passed(k->halt);
}

/* Takes the n lines for those of the body if that is better. They are the caller's, and copied. */
static bool take(mover *k, dfl_body *b, dfl_line *lines, uint32_t n)
{
    const dfl_body before = *b;
    double value;
    bool better;

    if (is_over(k))
        return false;
    b->lines = lines;
    b->n_lines = n;
    value = dfl_mapping_value(dfl_arena_budget(k->arena), k->names, k->m, k->options->objective);
    k->left -= k->m->workload->n_einsums;
    dfl_pair_search_take(k->options, k->m->workload->n_einsums);
    better = value < k->value * (1 - SAME);
    if (better) {
        k->value = value;
        b->lines = DFL_NEW_ARRAY(k->arena, dfl_line, (size_t)n + 1);
        memcpy(b->lines, lines, n * sizeof *lines);
    } else {
        *b = before;
    }
    return better;
}

static bool is_kept_by(const dfl_line *line, uint32_t tensor)
{
    return line->kind == DFL_LINE_KEEP && line->tensor == tensor;
}

/* Whether a keep of the tensor stands above line `i` of the body. */
static bool is_kept_above(const dfl_body *b, uint32_t i, uint32_t tensor)
{
    for (; b != NULL; b = b->parent, i = b != NULL ? b->n_lines : 0)
        while (i > 0)
            if (is_kept_by(&b->lines[--i], tensor))
                return true;
    return false;
}

static bool is_kept_in(const dfl_body *b, uint32_t tensor, uint32_t memory)
{
    for (uint32_t i = 0; i < b->n_lines; i++)
        if (is_kept_by(&b->lines[i], tensor) && b->lines[i].memory == memory)
            return true;
    return false;
}

/* Whether a keep before line `at` of n is the first or the last one between two loops; all between are otherwise the same. */
static bool is_end(const dfl_line *lines, uint32_t n, uint32_t at)
{
    return at == 0 || at == n || lines[at].kind != DFL_LINE_KEEP || lines[at - 1].kind != DFL_LINE_KEEP;
}

static uint32_t loops_before(const dfl_line *lines, uint32_t at)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < at; i++)
        n += lines[i].kind != DFL_LINE_KEEP;
    return n;
}

/* The line anywhere among the n others, but for the places between the same loops as before (`same`, DFL_NONE = none is). */
static bool take_anywhere(mover *k, dfl_body *b, const dfl_line *others, uint32_t n, const dfl_line *line, uint32_t same)
{
    dfl_line *lines = DFL_NEW_ARRAY(k->arena, dfl_line, (size_t)n + 1);

    for (uint32_t at = 0; at <= n; at++) {
        if (!is_end(others, n, at) || loops_before(others, at) == same)
            continue;
        memcpy(lines, others, at * sizeof *lines);
        lines[at] = *line;
        memcpy(lines + at + 1, others + at, (n - at) * sizeof *lines);
        if (take(k, b, lines, n + 1))
            return true;
    }
    return false;
}

/* The keep of line `i` elsewhere, or nowhere. */
static bool move_keep(mover *k, dfl_body *b, uint32_t i)
{
    dfl_line *others = DFL_NEW_ARRAY(k->arena, dfl_line, b->n_lines);
    const dfl_line line = b->lines[i];
    const uint32_t n = b->n_lines - 1;

    memcpy(others, b->lines, i * sizeof *others);
    memcpy(others + i, b->lines + i + 1, (n - i) * sizeof *others);
    return (b->kind == DFL_BODY_LEAF && take(k, b, others, n)) ||
           take_anywhere(k, b, others, n, &line, loops_before(others, i));
}

static bool move_keeps(mover *k, dfl_body *b)
{
    bool better = false;

    for (uint32_t i = 0; i < b->n_lines; i++)
        if (b->lines[i].kind == DFL_LINE_KEEP && is_kept_above(b, i, b->lines[i].tensor))
            better |= move_keep(k, b, i);
    return better;
}

static bool add_keeps(mover *k, dfl_body *b)
{
    const dfl_workload *w = k->m->workload;
    bool better = false;

    for (uint32_t t = 0; t < w->n_tensors && b->kind == DFL_BODY_LEAF; t++)
        for (uint32_t memory = 0; memory < k->m->system->n_memories; memory++) {
            const dfl_line line = { .kind = DFL_LINE_KEEP, .span = b->span, .amount_span = b->span, .tensor = t,
                                    .memory = memory };
            if (dfl_einsum_touches(&w->einsums[b->einsums[0]], t) && !is_kept_in(b, t, memory) &&
                is_kept_above(b, b->n_lines, t))
                better |= take_anywhere(k, b, b->lines, b->n_lines, &line, DFL_NONE);
        }
    return better;
}

static bool swap_loops(mover *k, dfl_body *b)
{
    dfl_line *lines = DFL_NEW_ARRAY(k->arena, dfl_line, (size_t)b->n_lines + 1);
    bool better = false;

    for (uint32_t i = 0; i + 1 < b->n_lines; i++) {
        const dfl_line upper = b->lines[i], lower = b->lines[i + 1];
        if (upper.kind != DFL_LINE_TEMPORAL || lower.kind != DFL_LINE_TEMPORAL || upper.rank == lower.rank)
            continue;
        memcpy(lines, b->lines, b->n_lines * sizeof *lines);
        lines[i] = lower;
        lines[i + 1] = upper;
        better |= take(k, b, lines, b->n_lines);
    }
    return better;
}

static bool improve_body(mover *k, dfl_body *b)
{
    bool better = move_keeps(k, b);

    better |= add_keeps(k, b);
    better |= swap_loops(k, b);
    return better;
}

dfl_mapping *dfl_moves(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *m, const dfl_pair_search_options *options,
                       dfl_deadline *halt, double *value)
{
    mover k = { .arena = dfl_arena_new(dfl_arena_budget(arena)), .names = names, .options = options, .halt = halt,
                .left = MOST };
    dfl_mapping *out;
    bool better = true;

    k.m = dfl_mapping_copy(k.arena, m);
    k.value = dfl_mapping_value(dfl_arena_budget(arena), names, m, options->objective);
    for (uint32_t round = 0; round < ROUNDS && k.value < INFINITY && !is_over(&k) && better; round++) {
        better = false;
        for (uint32_t b = 0; b < k.m->n_bodies; b++)
            better |= improve_body(&k, k.m->bodies[b]);
    }
    out = dfl_mapping_copy(arena, k.m);
    dfl_arena_free(k.arena);
    *value = k.value;
    return out;
}
