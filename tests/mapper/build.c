/* Mappings from the choices of the enumeration, and their costs. */
#include "tests/mapper/enumerator.h"

#include <math.h>
#include <string.h>

#include "model/model.h"

uint32_t enumerator_random(enumerator *k, uint32_t n)
{
    k->random = k->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((k->random >> 33) % n);
}

static const dfl_access *access_at(const dfl_einsum *e, uint32_t i)
{
    return i < e->n_inputs ? &e->inputs[i] : &e->output;
}

const dfl_access *enumerator_access(const dfl_einsum *e, uint32_t tensor)
{
    for (uint32_t i = 0; i <= e->n_inputs; i++)
        if (access_at(e, i)->tensor == tensor)
            return access_at(e, i);
    return NULL;
}

uint32_t enumerator_cut(const enumerator *k, const brace *b, uint32_t e, uint32_t rank)
{
    if (dfl_einsum_has_rank(&k->w->einsums[e], rank))
        return rank;
    for (uint32_t f = b->first; f <= b->last; f++) {
        for (uint32_t t = 0; t < k->w->n_tensors; t++) {
            const dfl_access *mine = enumerator_access(&k->w->einsums[e], t);
            const dfl_access *other = enumerator_access(&k->w->einsums[f], t);
            for (uint32_t d = 0; mine && other && f != e && d < mine->n_dims; d++) {
                uint32_t x, y;
                if (dfl_index_is_bare(&other->index[d], &x) && x == rank && dfl_index_is_bare(&mine->index[d], &y))
                    return y;
            }
        }
    }
    return DFL_NONE;
}

/* ---- bodies ---- */

typedef struct {
    enumerator *k;
    dfl_body **bodies;
    uint32_t n;
    int64_t tile[EINSUMS][RANKS];
    const own_lines *const *own;
} builder;

/* A body with room for `n` lines. */
static dfl_body *new_body(builder *b, dfl_body *parent, uint32_t first, uint32_t last, uint32_t n_lines)
{
    dfl_arena *arena = b->k->scratch;
    dfl_body *body = DFL_NEW(arena, dfl_body);
    uint32_t *einsums = DFL_NEW_ARRAY(arena, uint32_t, last - first + 1);

    for (uint32_t e = first; e <= last; e++)
        einsums[e - first] = e;
    *body = (dfl_body){ .kind = DFL_BODY_LEAF, .span = b->k->open->root->span, .id = b->n, .parent = parent,
                        .depth = parent ? parent->depth + 1 : 0, .lines = DFL_NEW_ARRAY(arena, dfl_line, (size_t)n_lines + 1),
                        .children = DFL_NEW_ARRAY(arena, dfl_body *, EINSUMS), .einsums = einsums,
                        .n_einsums = last - first + 1, .compute = DFL_NONE, .compute_span = b->k->open->root->span };
    b->bodies[b->n++] = body;
    if (parent)
        parent->children[parent->n_children++] = body;
    return body;
}

static void add_line(builder *b, dfl_body *body, const item *i, int64_t tile)
{
    dfl_line *line = &body->lines[body->n_lines++];

    *line = (dfl_line){ .span = b->k->open->hole_span, .amount_span = b->k->open->hole_span };
    if (i->kind == ITEM_KEEP) {
        line->kind = DFL_LINE_KEEP;
        line->tensor = i->what;
        line->memory = i->where;
        return;
    }
    line->kind = i->kind == ITEM_LOOP ? DFL_LINE_TEMPORAL : DFL_LINE_SPATIAL;
    line->rank = i->what;
    line->by = i->kind == ITEM_LOOP ? DFL_BY_SIZE : DFL_BY_PARTS;
    line->amount = i->kind == ITEM_LOOP ? tile : i->by;
    line->axis = i->where;
}

static void add_leaf(builder *b, dfl_body *body, uint32_t e)
{
    const sequence *s = &b->own[e]->leaf;

    body->compute = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        if (s->at[i].kind != ITEM_KEEP)
            b->tile[e][s->at[i].what] /= s->at[i].by;
        add_line(b, body, &s->at[i], s->at[i].kind == ITEM_KEEP ? 0 : b->tile[e][s->at[i].what]);
    }
}

/* Number of shared lines of brace `i`, plus keeps that may stand among these lines. */
static uint32_t lines_of(const builder *b, uint32_t i)
{
    uint32_t n = b->k->braces[i].shared.n;

    for (uint32_t e = b->k->braces[i].first; e <= b->k->braces[i].last; e++)
        n += b->own[e]->n_among;
    return n;
}

/* Brace `i` as `body`; `above` shared lines stand outside of it. */
static void add_brace(builder *b, dfl_body *body, uint32_t i, uint32_t above)
{
    const enumerator *k = b->k;
    const brace *own = &k->braces[i];

    body->kind = DFL_BODY_FUSE;
    for (uint32_t n = 0; n < own->shared.n; n++) {
        const item *line = &own->shared.at[n];
        int64_t tile = 0;
        for (uint32_t e = own->first; e <= own->last; e++)
            for (uint32_t a = 0; a < b->own[e]->n_among; a++)
                if (b->own[e]->among[a].at == above + n)
                    add_line(b, body, &b->own[e]->among[a].keep, 0);
        for (uint32_t e = own->first; e <= own->last && line->kind == ITEM_LOOP; e++) {
            uint32_t rank = enumerator_cut(k, own, e, line->what);
            if (rank == DFL_NONE)
                continue;
            b->tile[e][rank] /= line->by;
            if (rank == line->what)
                tile = b->tile[e][rank];
        }
        add_line(b, body, line, tile);
    }
    for (uint32_t e = own->first; e <= own->last; e++) {
        if (k->brace_of[e] == i) {
            add_leaf(b, new_body(b, body, e, e, b->own[e]->leaf.n), e);
        } else {
            uint32_t inner = k->brace_of[e];
            const brace *inside = &k->braces[inner];
            add_brace(b, new_body(b, body, inside->first, inside->last, lines_of(b, inner)), inner, above + own->shared.n);
            e = k->braces[inner].last;
        }
    }
}

/* Builds the mapping with the given lines of every einsum. */
static dfl_mapping *build(enumerator *k, const own_lines *const *own)
{
    dfl_mapping *m = DFL_NEW(k->scratch, dfl_mapping);
    builder b = { .k = k, .own = own, .bodies = DFL_NEW_ARRAY(k->scratch, dfl_body *, BODIES + EINSUMS) };
    dfl_body *root = new_body(&b, NULL, 0, k->w->n_einsums - 1,
                              k->w->n_tensors + (k->n_braces > 0 ? lines_of(&b, 0) : own[0]->leaf.n));

    for (uint32_t e = 0; e < k->w->n_einsums; e++)
        for (uint32_t r = 0; r < k->w->n_ranks; r++)
            b.tile[e][r] = k->w->ranks[r].extent;
    for (uint32_t t = 0; t < k->w->n_tensors; t++)
        if (!k->on_chip[t])
            add_line(&b, root, &(item){ ITEM_KEEP, (uint8_t)t, (uint8_t)k->home[t], 0 }, 0);
    if (k->n_braces > 0)
        add_brace(&b, root, 0, 0);
    else
        add_leaf(&b, root, 0);
    *m = *k->open;
    m->root = root;
    m->bodies = b.bodies;
    m->n_bodies = b.n;
    m->has_holes = false;
    return m;
}

/* Evaluates the mapping; false if the model refuses it. Remembers the mapping if it is below the limit and the best so far. */
bool enumerator_evaluate(enumerator *k, const own_lines *const *own, double *joules, double *seconds)
{
    const dfl_mapping *m = build(k, own);
    dfl_sink *sink = dfl_sink_new(k->scratch, NULL);
    const dfl_paths *paths;
    const dfl_result *r = NULL;
    double value;

    dfl_sink_limit(sink, 0);
    k->out->evaluated++;
    paths = dfl_paths_resolve(k->scratch, sink, k->names, m);
    if (paths)
        r = dfl_model_eval(k->scratch, sink, k->names, paths);
    if (r) {
        *joules = r->joules;
        *seconds = r->seconds;
        value = k->options->value(k->options->objective, r->joules, r->seconds);
        if (value < k->options->limit && value < k->out->value) {
            k->out->value = value;
            k->out->mapping = dfl_mapping_copy(k->arena, m);
        }
    }
    dfl_arena_reset(k->scratch);
    return r != NULL;
}
