/* Enumeration of the ways in which einsums share loops, and of the combinations of their choices. */
#include "tests/mapper/enumerator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct { double value; uint32_t at[EINSUMS]; } joint;
typedef DFL_VEC(joint) joint_vec;

static int by_value(const void *a, const void *b)
{
    const joint *x = a, *y = b;

    return (x->value > y->value) - (x->value < y->value);
}

/* Combines choices of the einsums from `e` on with the choices of the einsums before, as long as the sum can be below
   the limit. */
static void combine(enumerator *k, uint32_t e, joint *j, double joules, double seconds, joint_vec *out)
{
    double least_joules = 0, least_seconds = 0;

    if (e == k->w->n_einsums) {
        j->value = k->options->value(k->options->objective, joules, seconds);
        DFL_PUSH(k->arena, out, *j);
        return;
    }
    for (uint32_t f = e + 1; f < k->w->n_einsums; f++) {
        double a = INFINITY, b = INFINITY;
        for (size_t i = 0; i < k->choices[f].n; i++) {
            a = fmin(a, k->choices[f].at[i].joules);
            b = fmin(b, k->choices[f].at[i].seconds);
        }
        least_joules += a;
        least_seconds += b;
    }
    for (size_t i = 0; i < k->choices[e].n && out->n < 100000; i++) {
        const choice *c = &k->choices[e].at[i];
        j->at[e] = (uint32_t)i;
        if (k->options->value(k->options->objective, joules + c->joules + least_joules,
                              seconds + c->seconds + least_seconds) < k->options->limit)
            combine(k, e + 1, j, joules + c->joules, seconds + c->seconds, out);
    }
}

/* Enumerates the lines of all einsums in the present structure. */
static void enumerate_structure(enumerator *k)
{
    const own_lines *own[EINSUMS];
    double joules, seconds;
    joint_vec joints = { .n = 0 };
    joint j;

    for (uint32_t e = 0; e < k->w->n_einsums; e++) {
        enumerator_bare(k, e);
        own[e] = &k->bare[e];
        k->choices[e].n = 0;
    }
    if (!enumerator_evaluate(k, own, &joules, &seconds))
        return;
    for (uint32_t e = 0; e < k->w->n_einsums; e++) {
        enumerator_lines(k, e);
        for (size_t i = 0; i < k->choices[e].n && e > 0; i++) {
            k->choices[e].at[i].joules -= joules;
            k->choices[e].at[i].seconds -= seconds;
        }
    }
    combine(k, 0, &j, 0, 0, &joints);
    if (joints.n > 0)
        qsort(joints.at, joints.n, sizeof *joints.at, by_value);
    for (size_t i = 0; i < joints.n && i < MOST_JOINT && k->out->mapping == NULL; i++) {
        for (uint32_t e = 0; e < k->w->n_einsums; e++)
            own[e] = &k->choices[e].at[joints.at[i].at[e]].lines;
        (void)enumerator_evaluate(k, own, &joules, &seconds);
    }
}

/* ---- ways to share ---- */

typedef struct { brace braces[BODIES]; uint32_t n_braces; } structure;
typedef DFL_VEC(structure) structure_vec;

static bool covers(const brace *b, uint32_t first, uint32_t last) { return b->first <= first && b->last >= last; }

/* Whether the memories along every path go from outside to inside. */
static bool in_order(const structure *s)
{
    for (uint32_t i = 0; i < s->n_braces; i++) {
        uint32_t last = 255;
        for (uint32_t b = i; b != DFL_NONE; b = s->braces[b].parent)
            for (uint32_t n = s->braces[b].shared.n; n-- > 0;) {
                const item *line = &s->braces[b].shared.at[n];
                if (line->kind != ITEM_KEEP)
                    continue;
                if (line->where > last)
                    return false;
                last = line->where;
            }
    }
    return true;
}

/* Whether keeps of one memory, with only keeps between them, stand in the order of their tensors; other orders change
   no count. */
static bool in_one_way(const structure *s)
{
    for (uint32_t b = 0; b < s->n_braces; b++)
        for (uint32_t n = 1; n < s->braces[b].shared.n; n++) {
            const item *before = &s->braces[b].shared.at[n - 1], *line = &s->braces[b].shared.at[n];
            if (before->kind == ITEM_KEEP && line->kind == ITEM_KEEP && before->where == line->where && before->what > line->what)
                return false;
        }
    return true;
}

/* Whether rank `r` indexes the tensor in the einsum that makes it, or reads it first. */
static bool indexes(const enumerator *k, uint32_t r, uint32_t tensor)
{
    const dfl_tensor *t = &k->w->tensors[tensor];
    const dfl_access *a = t->n_producers > 0 ? &k->w->einsums[t->producers[0]].output
                                             : enumerator_access(&k->w->einsums[t->consumers[0]], tensor);

    for (uint32_t d = 0; d < a->n_dims; d++)
        for (uint32_t i = 0; i < a->index[d].n_terms; i++)
            if (a->index[d].terms[i].rank == r)
                return true;
    return false;
}

/* Whether line `at` of brace `b` stands above the exchange of a tensor that the einsum makes or reads, or that passes
   the einsum: an earlier einsum makes it and a later one reads it. */
static bool above_exchange(const enumerator *k, const structure *s, uint32_t b, uint32_t at, uint32_t einsum)
{
    for (uint32_t c = b; c < s->n_braces; c++)
        for (uint32_t i = c == b ? at + 1 : 0; i < s->braces[c].shared.n && (c == b || s->braces[c].parent == b); i++) {
            const item *line = &s->braces[c].shared.at[i];
            const dfl_tensor *t = line->kind == ITEM_KEEP ? &k->w->tensors[line->what] : NULL;
            if (t && covers(&s->braces[c], einsum, einsum) && t->n_producers > 0 && t->producers[0] <= einsum &&
                t->consumers[t->n_consumers - 1] >= einsum)
                return true;
        }
    return false;
}

/* Whether every shared loop stands for each einsum above an exchange on the chip of something made, and all loops above a keep
   index it. */
static bool to_exchange(const enumerator *k, const structure *s)
{
    for (uint32_t b = 0; b < s->n_braces; b++) {
        uint32_t n = s->braces[b].shared.n;
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t e = s->braces[b].first; e <= s->braces[b].last && s->braces[b].shared.at[i].kind == ITEM_LOOP; e++)
                if (!above_exchange(k, s, b, i, e))
                    return false;
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = 0; j < i && s->braces[b].shared.at[i].kind == ITEM_KEEP; j++)
                if (s->braces[b].shared.at[j].kind == ITEM_LOOP &&
                    !indexes(k, s->braces[b].shared.at[j].what, s->braces[b].shared.at[i].what))
                    return false;
    }
    return true;
}

static void insert(sequence *s, uint32_t at, item i)
{
    memmove(&s->at[at + 1], &s->at[at], (s->n - at) * sizeof *s->at);
    s->at[at] = i;
    s->n++;
}

static uint32_t readers(const brace *b, const dfl_tensor *t)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->n_consumers; i++)
        n += covers(b, t->consumers[i], t->consumers[i]);
    return n;
}

/* Enumerates the places of the exchanges of tensors from `t` on, and of the keeps of inputs for several einsums: in the
   outermost memory, or among the shared lines. */
static void place_homes(enumerator *k, structure *s, uint32_t t, structure_vec *out)
{
    const dfl_tensor *tensor = &k->w->tensors[t];
    bool made = t < k->w->n_tensors && tensor->n_producers > 0;

    if (t == k->w->n_tensors) {
        if (in_order(s) && in_one_way(s) && (!k->options->down_to_exchange || to_exchange(k, s)))
            DFL_PUSH(k->arena, out, *s);
        return;
    }
    place_homes(k, s, t + 1, out);
    if (made ? k->settled[t] || tensor->n_consumers == 0 || tensor->role != DFL_ROLE_INTERMEDIATE : tensor->n_consumers < 2)
        return;
    for (uint32_t b = 0; b < s->n_braces; b++) {
        if (made ? !covers(&s->braces[b], tensor->producers[0], tensor->consumers[tensor->n_consumers - 1])
                 : readers(&s->braces[b], tensor) < 2)
            continue;
        for (uint32_t m = k->home[t] + !k->in_parts[t]; m < k->s->n_memories && k->s->memories[m].element == 0; m++)
            for (uint32_t at = 0; at <= s->braces[b].shared.n; at++) {
                structure c = *s;
                insert(&c.braces[b].shared, at, (item){ ITEM_KEEP, (uint8_t)t, (uint8_t)m, 0 });
                place_homes(k, &c, t + 1, out);
            }
    }
}

/* Whether a loop over rank `r` in brace `b` would cut a rank of an einsum that a shared loop above cuts: the search says that its
   space has no such mapping. */
static bool is_cut_above(const enumerator *k, const structure *s, uint32_t b, uint32_t r)
{
    for (uint32_t e = s->braces[b].first; e <= s->braces[b].last; e++) {
        const uint32_t cut = enumerator_cut(k, &s->braces[b], e, r);
        for (uint32_t i = b; i != DFL_NONE && cut != DFL_NONE; i = s->braces[i].parent)
            for (uint32_t n = 0; n < s->braces[i].shared.n; n++)
                if (enumerator_cut(k, &s->braces[i], e, s->braces[i].shared.at[n].what) == cut)
                    return true;
    }
    return false;
}

/* Enumerates at most `left` shared loops for the braces from `b` on, each with any amount that divides. */
static void share_loops(enumerator *k, structure *s, uint32_t b, uint32_t left, structure_vec *out)
{
    if (b == s->n_braces) {
        place_homes(k, s, 0, out);
        return;
    }
    if (b == 0 || s->braces[b].shared.n > 0)
        share_loops(k, s, b + 1, left, out);
    for (uint32_t r = 0; r < k->w->n_ranks && left > 0; r++) {
        const int64_t extent = k->w->ranks[r].extent;
        bool known = false;
        for (uint32_t e = s->braces[b].first; e <= s->braces[b].last; e++)
            known |= dfl_einsum_has_rank(&k->w->einsums[e], r);
        if (!known || is_cut_above(k, s, b, r))
            continue;
        for (int64_t by = 2; by <= extent && by <= UINT8_MAX; by++) {
            if (extent % by != 0)
                continue;
            s->braces[b].shared.at[s->braces[b].shared.n++] = (item){ ITEM_LOOP, (uint8_t)r, 0, (uint8_t)by };
            share_loops(k, s, b, left - 1, out);
            s->braces[b].shared.n--;
        }
    }
}

void enumerator_shared(enumerator *k)
{
    uint32_t last = k->w->n_einsums - 1, looked_at = 0;
    structure_vec all = { .n = 0 };

    for (uint32_t shape = 0; shape < (last == 2 ? 3u : 1u); shape++) {
        structure s = { .n_braces = shape == 0 ? 1 : 2 };
        s.braces[0] = (brace){ .first = 0, .last = last, .parent = DFL_NONE };
        s.braces[1] = (brace){ .first = shape == 2, .last = shape == 2 ? 2 : 1, .parent = 0 };
        share_loops(k, &s, 0, MOST_LOOPS, &all);
    }
    for (size_t i = 0; i < all.n && looked_at < k->options->structures && k->out->mapping == NULL; i++) {
        uint32_t pick = (uint32_t)i + enumerator_random(k, (uint32_t)(all.n - i));
        uint64_t before = k->out->evaluated;
        structure s = all.at[pick];
        all.at[pick] = all.at[i];
        memcpy(k->braces, s.braces, sizeof k->braces);
        k->n_braces = s.n_braces;
        memset(k->on_chip, 0, sizeof k->on_chip);
        for (uint32_t b = 0; b < s.n_braces; b++) {
            for (uint32_t e = s.braces[b].first; e <= s.braces[b].last; e++)
                k->brace_of[e] = b;
            for (uint32_t n = 0; n < s.braces[b].shared.n; n++)
                if (s.braces[b].shared.at[n].kind == ITEM_KEEP)
                    k->on_chip[s.braces[b].shared.at[n].what] |=
                        k->w->tensors[s.braces[b].shared.at[n].what].n_producers > 0;
        }
        enumerate_structure(k);
        looked_at += k->out->evaluated > before + 1;
        if (looked_at == k->options->structures && i + 1 < all.n)
            k->out->complete = false;
    }
}

void enumerate_mappings(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *open,
                        const enumerate_options *options, enumerate_result *out)
{
    enumerator k = { .arena = arena, .names = names, .open = open, .w = open->workload, .s = open->system,
                     .options = options, .out = out, .random = options->seed };

    *out = (enumerate_result){ .value = INFINITY, .complete = true };
    k.scratch = dfl_arena_new(NULL);
    for (uint32_t t = 0; t < k.w->n_tensors; t++) {
        const dfl_memory *m = k.s->memories;
        while (m->holds.on && !dfl_selects(&m->holds, &k.w->tensors[t]))
            m++;
        k.home[t] = (uint32_t)(m - k.s->memories);
        k.in_parts[t] = m->size_bits >= 0;
    }
    for (uint32_t i = 0; i < open->root->n_lines; i++) {
        k.home[open->root->lines[i].tensor] = open->root->lines[i].memory;
        k.settled[open->root->lines[i].tensor] = true;
    }
    if (k.w->n_einsums == 1)
        enumerator_lines(&k, 0);
    else
        enumerator_shared(&k);
    dfl_arena_free(k.scratch);
}
