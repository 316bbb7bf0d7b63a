#include "solve/sub_workload.h"

#include <string.h>

#include "solve/own_system.h"

/* What is made, and where own parts come from. */
typedef struct {
    const dfl_sub_source *from;
    const dfl_workload *w;          /* the whole */
    dfl_workload *own;
    bool *is_in;                    /* [einsum of the whole] */
    uint32_t *own_rank, *own_tensor; /* of the whole: own number, DFL_NONE = none */
    uint32_t *rank_of, *tensor_of;
    uint64_t *fixed;                /* [own tensor]: mask of the dimensions that fixed ranks index */
    bool *is_known;                 /* [own tensor]: `fixed` is set */
    dfl_tensor *tensors;
} taker;

/* ---- the workload ---- */

static void number_ranks(taker *k)
{
    dfl_rank *ranks = DFL_NEW_ARRAY(k->from->arena, dfl_rank, (size_t)k->w->n_ranks + 1);
    uint32_t n = 0;

    for (uint32_t r = 0; r < k->w->n_ranks; r++) {
        bool is_used = false;
        for (uint32_t i = 0; i < k->from->n_einsums && !k->from->is_fixed[r]; i++)
            is_used |= dfl_einsum_has_rank(&k->w->einsums[k->from->einsums[i]], r);
        k->own_rank[r] = is_used ? n : DFL_NONE;
        if (is_used) {
            k->rank_of[n] = r;
            ranks[n++] = k->w->ranks[r];
        }
    }
    k->own->ranks = ranks;
    k->own->n_ranks = n;
}

/* Own numbers of those of the einsums that are in the part, in the order of the whole. */
static const uint32_t *those_in(const taker *k, const uint32_t *einsums, uint32_t *n)
{
    uint32_t *out = DFL_NEW_ARRAY(k->from->arena, uint32_t, (size_t)*n + 1), used = 0;

    for (uint32_t i = 0; i < k->from->n_einsums; i++)
        for (uint32_t e = 0; e < *n; e++)
            if (einsums[e] == k->from->einsums[i])
                out[used++] = i;
    *n = used;
    return out;
}

/* Whether a repeat carries the tensor from one iteration to the next. */
static bool is_carried(const dfl_workload *w, uint32_t tensor)
{
    for (uint32_t c = 0; c < w->n_carries; c++)
        if (w->carries[c].to == tensor || w->carries[c].from == tensor)
            return true;
    return false;
}

/* The role of a tensor for the part. */
static dfl_role own_role(const taker *k, uint32_t tensor, const dfl_tensor *own)
{
    const dfl_tensor *given = &k->w->tensors[tensor];
    const bool leaves = given->role != DFL_ROLE_INTERMEDIATE || own->n_consumers < given->n_consumers ||
                        own->n_consumers == 0 || is_carried(k->w, tensor);

    if (own->n_producers == 0)
        return given->role == DFL_ROLE_WEIGHT ? DFL_ROLE_WEIGHT : DFL_ROLE_INPUT;
    return leaves ? DFL_ROLE_OUTPUT : DFL_ROLE_INTERMEDIATE;
}

/* The own tensor for one of the whole; DFL_NONE if some other einsum writes it, too. */
static uint32_t take_tensor(taker *k, uint32_t tensor)
{
    const dfl_tensor *given = &k->w->tensors[tensor];
    const uint32_t at = k->own->n_tensors;
    dfl_tensor *t = &k->tensors[at];

    if (k->own_tensor[tensor] != DFL_NONE)
        return k->own_tensor[tensor];
    *t = *given;
    t->producers = those_in(k, given->producers, &t->n_producers);
    t->consumers = those_in(k, given->consumers, &t->n_consumers);
    if (given->gathered || (t->n_producers > 0 && t->n_producers < given->n_producers))
        return DFL_NONE;
    t->role = own_role(k, tensor, t);
    k->own_tensor[tensor] = at;
    k->tensor_of[at] = tensor;
    k->own->n_tensors++;
    return at;
}

/* The index without fixed ranks, one of which must be alone; `*is_fixed`: it is. False if that is not so, or if the index has a
   rank that no einsum of the part has. */
static bool own_index(const taker *k, const dfl_index *from, dfl_index *to, bool *is_fixed)
{
    dfl_term *terms = DFL_NEW_ARRAY(k->from->arena, dfl_term, (size_t)from->n_terms + 1);
    uint32_t rank;

    *to = *from;
    to->terms = terms;
    *is_fixed = dfl_index_is_bare(from, &rank) && k->from->is_fixed[rank];
    if (*is_fixed) {
        to->n_terms = 0;
        return true;
    }
    for (uint32_t i = 0; i < from->n_terms; i++) {
        if (k->own_rank[from->terms[i].rank] == DFL_NONE)
            return false;
        terms[i] = (dfl_term){ k->own_rank[from->terms[i].rank], from->terms[i].coef };
    }
    return true;
}

/* All accesses of a tensor must have the same dimensions fixed: else the part would exchange elements that it does not have. */
static bool own_access(taker *k, const dfl_access *from, dfl_access *to)
{
    dfl_index *index = DFL_NEW_ARRAY(k->from->arena, dfl_index, (size_t)from->n_dims + 1);
    const uint32_t at = take_tensor(k, from->tensor);
    uint64_t fixed = 0;

    if (at == DFL_NONE || from->n_dims > 64)
        return false;
    for (uint32_t d = 0; d < from->n_dims; d++) {
        bool is_fixed;
        if (!own_index(k, &from->index[d], &index[d], &is_fixed))
            return false;
        fixed |= (uint64_t)is_fixed << d;
    }
    if (k->is_known[at] && k->fixed[at] != fixed)
        return false;
    k->fixed[at] = fixed;
    k->is_known[at] = true;
    *to = *from;
    to->tensor = at;
    to->index = index;
    return true;
}

/* Whether each fixed rank of the einsum indexes a dimension of its result, and no operation takes it whole. */
static bool is_apart(const taker *k, const dfl_einsum *e)
{
    for (uint32_t i = 0; i < e->n_ranks; i++) {
        bool is_result = false;
        for (uint32_t d = 0; d < e->output.n_dims; d++)
            is_result |= dfl_index_coef(&e->output.index[d], e->ranks[i]) != 0;
        if (k->from->is_fixed[e->ranks[i]] && (!is_result || e->over_rank == e->ranks[i]))
            return false;
    }
    return true;
}

static bool take_einsum(taker *k, const dfl_einsum *from, dfl_einsum *to)
{
    uint32_t *ranks = DFL_NEW_ARRAY(k->from->arena, uint32_t, (size_t)from->n_ranks + 1);
    dfl_access *inputs = DFL_NEW_ARRAY(k->from->arena, dfl_access, (size_t)from->n_inputs + 1);

    *to = *from;
    to->where = NULL;
    to->n_where = 0;
    to->ranks = ranks;
    to->n_ranks = 0;
    to->inputs = inputs;
    to->over_rank = from->over_rank != DFL_NONE ? k->own_rank[from->over_rank] : DFL_NONE;
    for (uint32_t i = 0; i < from->n_ranks; i++)
        if (k->own_rank[from->ranks[i]] != DFL_NONE)
            ranks[to->n_ranks++] = k->own_rank[from->ranks[i]];
    if (to->n_ranks == 0 || !is_apart(k, from) || !own_access(k, &from->output, &to->output))
        return false;
    for (uint32_t i = 0; i < from->n_inputs; i++)
        if (!own_access(k, &from->inputs[i], &inputs[i]))
            return false;
    return true;
}

/* Sets the shapes: one element in dimensions of fixed ranks. */
static void set_shapes(const taker *k)
{
    for (uint32_t t = 0; t < k->own->n_tensors; t++) {
        int64_t *extents = DFL_NEW_ARRAY(k->from->arena, int64_t, (size_t)k->tensors[t].n_dims + 1);
        for (uint32_t d = 0; d < k->tensors[t].n_dims; d++)
            extents[d] = k->fixed[t] >> d & 1 ? 1 : k->tensors[t].extents[d];
        k->tensors[t].extents = extents;
    }
}

/* ---- the problem ---- */

/* Homes of what the part exchanges with others: of what is its own the search decides. */
static const uint32_t *own_homes(const taker *k)
{
    uint32_t *home = DFL_NEW_ARRAY(k->from->arena, uint32_t, (size_t)k->w->n_tensors + 1);

    if (k->from->home == NULL)
        return NULL;
    memcpy(home, k->from->home, k->w->n_tensors * sizeof *home);
    for (uint32_t t = 0; t < k->own->n_tensors; t++)
        if (k->tensors[t].role == DFL_ROLE_INTERMEDIATE)
            home[k->tensor_of[t]] = DFL_NONE;
    return home;
}

static const dfl_mapping *make_problem(const taker *k)
{
    dfl_arena *arena = k->from->arena;
    const dfl_own_source source = { arena, k->w, k->from->given->system, own_homes(k), k->from->einsums[0],
                                    k->from->einsums[k->from->n_einsums - 1] };
    dfl_mapping *out = DFL_NEW(arena, dfl_mapping);
    dfl_body *root = DFL_NEW(arena, dfl_body), **bodies = DFL_NEW_ARRAY(arena, dfl_body *, 1);
    uint32_t *all = DFL_NEW_ARRAY(arena, uint32_t, (size_t)k->from->n_einsums + 1);

    for (uint32_t e = 0; e < k->from->n_einsums; e++)
        all[e] = e;
    *root = *k->from->given->root;
    root->einsums = all;
    root->n_einsums = k->from->n_einsums;
    bodies[0] = root;
    *out = *k->from->given;
    out->workload = k->own;
    out->system = dfl_own_systems_make(&source, k->own, k->tensor_of).mapped;
    out->root = root;
    out->bodies = bodies;
    out->n_bodies = 1;
    return out;
}

bool dfl_sub_workload_take(const dfl_sub_source *source, dfl_sub_workload *out)
{
    dfl_arena *arena = source->arena;
    const dfl_workload *w = source->given->workload;
    dfl_einsum *einsums = DFL_NEW_ARRAY(arena, dfl_einsum, (size_t)source->n_einsums + 1);
    taker k = { .from = source, .w = w, .own = DFL_NEW(arena, dfl_workload),
                .own_rank = DFL_NEW_ARRAY(arena, uint32_t, (size_t)w->n_ranks + 1),
                .own_tensor = DFL_NEW_ARRAY(arena, uint32_t, (size_t)w->n_tensors + 1),
                .rank_of = DFL_NEW_ARRAY(arena, uint32_t, (size_t)w->n_ranks + 1),
                .tensor_of = DFL_NEW_ARRAY(arena, uint32_t, (size_t)w->n_tensors + 1),
                .fixed = DFL_NEW_ARRAY(arena, uint64_t, (size_t)w->n_tensors + 1),
                .is_known = DFL_NEW_ARRAY(arena, bool, (size_t)w->n_tensors + 1),
                .tensors = DFL_NEW_ARRAY(arena, dfl_tensor, (size_t)w->n_tensors + 1) };

    *k.own = (dfl_workload){ .name = w->name, .span = w->span, .tensors = k.tensors, .einsums = einsums,
                             .n_einsums = source->n_einsums };
    for (uint32_t t = 0; t < w->n_tensors; t++)
        k.own_tensor[t] = DFL_NONE;
    number_ranks(&k);
    for (uint32_t i = 0; i < source->n_einsums; i++)
        if (!take_einsum(&k, &w->einsums[source->einsums[i]], &einsums[i]))
            return false;
    set_shapes(&k);
    *out = (dfl_sub_workload){ .given = source->given, .mapping = make_problem(&k), .einsums = source->einsums,
                               .n_einsums = source->n_einsums, .is_fixed = source->is_fixed, .rank_of = k.rank_of,
                               .tensor_of = k.tensor_of };
    return true;
}

/* ---- and back ---- */

static const uint32_t *translate_ids(dfl_arena *arena, const uint32_t *ids, uint32_t n, const uint32_t *of)
{
    uint32_t *out = DFL_NEW_ARRAY(arena, uint32_t, (size_t)n + 1);

    for (uint32_t i = 0; i < n; i++)
        out[i] = of[ids[i]];
    return out;
}

/* A copy of a mapping of the part with the numbers of the whole. */
static dfl_mapping *translate(dfl_arena *arena, const dfl_sub_workload *part, const dfl_mapping *found)
{
    dfl_mapping *out = dfl_mapping_copy(arena, found);

    for (uint32_t b = 0; b < out->n_bodies; b++) {
        dfl_body *body = out->bodies[b];
        body->einsums = translate_ids(arena, body->einsums, body->n_einsums, part->einsums);
        body->recompute = translate_ids(arena, body->recompute, body->n_recompute, part->tensor_of);
        for (uint32_t i = 0; i < body->n_lines; i++) {
            dfl_line *line = &body->lines[i];
            line->only = line->n_only > 0 ? translate_ids(arena, line->only, line->n_only, part->einsums) : NULL;
            if (line->kind == DFL_LINE_KEEP)
                line->tensor = part->tensor_of[line->tensor];
            else
                line->rank = part->rank_of[line->rank];
        }
    }
    return out;
}

static bool has_einsum(const dfl_body *b, uint32_t einsum)
{
    for (uint32_t i = 0; i < b->n_einsums; i++)
        if (b->einsums[i] == einsum)
            return true;
    return false;
}

/* The innermost body with all einsums of the part. */
static dfl_body *find_body(const dfl_mapping *m, const dfl_sub_workload *part)
{
    dfl_body *found = NULL;

    for (uint32_t b = 0; b < m->n_bodies; b++) {
        bool has_all = true;
        for (uint32_t i = 0; i < part->n_einsums; i++)
            has_all &= has_einsum(m->bodies[b], part->einsums[i]);
        if (has_all && (found == NULL || m->bodies[b]->depth > found->depth))
            found = m->bodies[b];
    }
    return found;
}

/* The children of the body that are the part: `*n` of them from `*first` on. False if they have other einsums, too. */
static bool find_children(const dfl_body *b, const dfl_sub_workload *part, uint32_t *first, uint32_t *n)
{
    uint32_t einsums = 0;

    *first = *n = 0;
    for (uint32_t c = 0; c < b->n_children; c++) {
        bool is_part = false;
        for (uint32_t i = 0; i < part->n_einsums; i++)
            is_part |= has_einsum(b->children[c], part->einsums[i]);
        if (!is_part)
            continue;
        if (*n == 0)
            *first = c;
        else if (c != *first + *n)
            return false;
        ++*n;
        einsums += b->children[c]->n_einsums;
    }
    return einsums == part->n_einsums;
}

/* Sets the fixed ranks over which the body and those around it have no loop. False if they have other loops, or if a loop over a
   fixed rank does not go element by element. */
static bool find_open(const dfl_body *b, const dfl_sub_workload *part, bool *is_open)
{
    bool has_others = false;

    for (uint32_t r = 0; r < part->given->workload->n_ranks; r++)
        is_open[r] = part->is_fixed[r];
    for (; b != NULL; b = b->parent)
        for (uint32_t i = 0; i < b->n_lines; i++) {
            const dfl_line *line = &b->lines[i];
            if (line->kind == DFL_LINE_KEEP)
                continue;
            has_others |= line->kind == DFL_LINE_SPATIAL || !part->is_fixed[line->rank] || line->by != DFL_BY_SIZE ||
                          line->amount != 1;
            is_open[line->rank] = false;
        }
    return !has_others;
}

uint32_t dfl_sub_home(const dfl_body *b, uint32_t tensor)
{
    for (; b != NULL; b = b->parent)
        for (uint32_t i = b->n_lines; i-- > 0;)
            if (b->lines[i].kind == DFL_LINE_KEEP && b->lines[i].tensor == tensor)
                return b->lines[i].memory;
    return DFL_NONE;
}

/* Whether the part alone touches the tensor: its homes stand in the lines of the part. */
static bool is_own(const dfl_sub_workload *part, uint32_t tensor)
{
    const dfl_workload *own = part->mapping->workload;

    for (uint32_t t = 0; t < own->n_tensors; t++)
        if (part->tensor_of[t] == tensor)
            return own->tensors[t].role == DFL_ROLE_INTERMEDIATE;
    return false;
}

static void drop_own_keeps(dfl_body *b, const dfl_sub_workload *part)
{
    for (; b != NULL; b = b->parent) {
        uint32_t n = 0;
        for (uint32_t i = 0; i < b->n_lines; i++)
            if (b->lines[i].kind != DFL_LINE_KEEP || !is_own(part, b->lines[i].tensor))
                b->lines[n++] = b->lines[i];
        b->n_lines = n;
    }
}

/* Takes keeps out of all bodies that the whole has around them already: at home, or outside of it. */
static void drop_homes(const dfl_sub_workload *part, const dfl_body *around, dfl_mapping *in)
{
    for (uint32_t b = 0; b < in->n_bodies; b++) {
        dfl_body *body = in->bodies[b];
        uint32_t n = 0;
        for (uint32_t i = 0; i < body->n_lines; i++) {
            const dfl_line line = body->lines[i];
            const bool is_shared = line.kind == DFL_LINE_KEEP && !is_own(part, line.tensor);
            const uint32_t home = is_shared ? dfl_sub_home(around, line.tensor) : DFL_NONE;
            if (home == DFL_NONE || dfl_memory_outside(part->given->system, home, line.memory))
                body->lines[n++] = line;
        }
        body->n_lines = n;
    }
}

/* The lines `before`, loops over fixed ranks that have none around the body, and the lines of `top`. */
static void join_lines(dfl_arena *arena, const dfl_sub_workload *part, const bool *is_open, const dfl_body *before,
                       dfl_body *top)
{
    const dfl_workload *w = part->given->workload;
    const uint32_t n_before = before != NULL ? before->n_lines : 0;
    dfl_line *lines = DFL_NEW_ARRAY(arena, dfl_line, (size_t)n_before + w->n_ranks + top->n_lines + 1);
    uint32_t n = 0;

    for (uint32_t i = 0; i < n_before; i++)
        lines[n++] = before->lines[i];
    for (uint32_t r = 0; r < w->n_ranks; r++)
        if (is_open[r])
            lines[n++] = (dfl_line){ .kind = DFL_LINE_TEMPORAL, .span = part->given->hole_span,
                                     .amount_span = part->given->hole_span, .rank = r, .by = DFL_BY_SIZE, .amount = 1 };
    for (uint32_t i = 0; i < top->n_lines; i++)
        lines[n++] = top->lines[i];
    top->lines = lines;
    top->n_lines = n;
}

/* `top` in the place of `n` children from `first` on. */
static void replace_children(dfl_arena *arena, dfl_body *b, uint32_t first, uint32_t n, dfl_body *top)
{
    dfl_body **children = DFL_NEW_ARRAY(arena, dfl_body *, (size_t)b->n_children + 1);
    uint32_t used = 0;

    for (uint32_t c = 0; c < b->n_children; c++)
        if (c == first)
            children[used++] = top;
        else if (c < first || c >= first + n)
            children[used++] = b->children[c];
    b->children = children;
    b->n_children = used;
}

dfl_mapping *dfl_sub_workload_put(dfl_arena *arena, const dfl_sub_workload *part, const dfl_mapping *base,
                                  const dfl_mapping *found)
{
    dfl_mapping *out = dfl_mapping_copy(arena, base), *in = translate(arena, part, found);
    dfl_body *around = find_body(out, part), *top = in->root;
    bool *is_open = DFL_NEW_ARRAY(arena, bool, (size_t)part->given->workload->n_ranks + 1);
    uint32_t first = 0, n = 0;
    bool is_whole;

    if (around != NULL && around->kind == DFL_BODY_LEAF && around->parent != NULL)
        around = around->parent; /* all lines of a leaf are those of its einsum */
    is_whole = around != NULL && around->n_einsums == part->n_einsums;

    if (around == NULL || (!is_whole && !find_children(around, part, &first, &n)) || !find_open(around, part, is_open))
        return NULL;
    drop_own_keeps(around, part);
    drop_homes(part, around, in);
    join_lines(arena, part, is_open, is_whole ? around : NULL, top);
    if (is_whole) {
        around->lines = top->lines;
        around->n_lines = top->n_lines;
        around->kind = top->kind;
        around->children = top->children;
        around->n_children = top->n_children;
    } else {
        replace_children(arena, around, first, n, top);
    }
    dfl_mapping_number(arena, out);
    return out;
}
