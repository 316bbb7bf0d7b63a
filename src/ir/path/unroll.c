#include "ir/path/unroll.h"

#include <stdlib.h>
#include <string.h>

#include "support/limits.h"
#include "support/vec.h"

/* Outside of all iterations of the repeat. */
enum { NO_COPY = -1 };

/* The unrolling of one repeat. */
typedef struct {
    dfl_arena *arena;
    dfl_sink *sink;
    const dfl_intern *names;
    const dfl_mapping *from;
    const dfl_workload *workload;   /* workload of `from` */
    uint32_t rank;                  /* rank of the repeat */
    int64_t n;                      /* iterations */
    bool *is_body;                  /* [einsum]: the einsum belongs to the repeat */
    uint32_t *lead;                 /* [tensor]: dimension of the iterations of a tensor with one copy for each, else DFL_NONE */
    uint32_t *first_tensor;         /* [tensor]: its copy of iteration 0, or its only copy */
    uint32_t *carried;              /* [tensor]: Y for each carried X, else DFL_NONE */
    uint32_t *first_einsum;         /* [einsum]: its copy of iteration 0, or its only copy */
    uint32_t n_body;                /* einsums of the repeat */
    uint32_t *einsum_of, *tensor_of;
    dfl_workload *unrolled;
    const dfl_line *line;           /* the line that ran the iterations of the present share, once it is found */
    DFL_VEC(dfl_body *) bodies;     /* bodies of the unrolled mapping, by id */
    bool ok;
} unrolling;

static bool has_term(const dfl_index *index, uint32_t rank)
{
    for (uint32_t i = 0; i < index->n_terms; i++)
        if (index->terms[i].rank == rank)
            return true;
    return false;
}

static void refuse(unrolling *u, dfl_span span, const char *what, const char *help)
{
    dfl_diag *d;

    if (u->ok) {
        d = dfl_report(u->sink, DFL_EVAL_UNSUPPORTED, span, "%s is checked but not evaluated", what);
        dfl_diag_label(u->sink, d, u->workload->ranks[u->rank].span, "`%s` repeats, and carries a tensor",
                       dfl_sym_text(u->names, u->workload->ranks[u->rank].name));
        dfl_diag_help(u->sink, d, "%s", help);
    }
    u->ok = false;
}

/* The name of a copy: `name` with the iteration behind the name of the repeat, with which it begins. */
static const char *make_label(const unrolling *u, const char *name, int64_t copy)
{
    const char *repeat = dfl_sym_text(u->names, u->workload->ranks[u->rank].name);
    size_t n = strlen(repeat);

    return strncmp(name, repeat, n) != 0 ? name : dfl_arena_printf(u->arena, "%s[%lld]%s", repeat, (long long)copy, name + n);
}

/* ---- the workload ---- */

/* Whether another repeat that carries a tensor encloses the einsum. */
static bool is_enclosed(const unrolling *u, const dfl_einsum *einsum)
{
    for (uint32_t c = 0; c < u->workload->n_carries; c++)
        if (u->workload->carries[c].rank != u->rank && dfl_einsum_has_rank(einsum, u->workload->carries[c].rank))
            return true;
    return false;
}

/* The dimension that all accesses index bare with the rank of the repeat; DFL_NONE if there is none. */
static uint32_t find_lead(const unrolling *u, uint32_t tensor)
{
    const dfl_tensor *t = &u->workload->tensors[tensor];
    uint32_t lead = DFL_NONE, rank;

    for (uint32_t c = 0; c < t->n_consumers; c++) {
        const dfl_einsum *e = &u->workload->einsums[t->consumers[c]];
        for (uint32_t i = 0; i < e->n_inputs; i++) {
            uint32_t here = DFL_NONE;
            if (e->inputs[i].tensor != tensor)
                continue;
            for (uint32_t d = 0; d < e->inputs[i].n_dims; d++)
                if (dfl_index_is_bare(&e->inputs[i].index[d], &rank) && rank == u->rank)
                    here = d;
            if (here == DFL_NONE || (lead != DFL_NONE && lead != here))
                return DFL_NONE;
            lead = here;
        }
    }
    return lead;
}

/* Finds the einsums of the repeat, and the tensors with one copy per iteration: those that the einsums produce and, in a
   repeat inside another one, those that only they read. Constant indices in two dimensions of one tensor would make a set
   that is no product. */
static void find_body(unrolling *u)
{
    const dfl_workload *w = u->workload;
    uint32_t rank;

    u->is_body = DFL_NEW_ARRAY(u->arena, bool, w->n_einsums + 1);
    u->lead = DFL_NEW_ARRAY(u->arena, uint32_t, w->n_tensors + 1);
    u->carried = DFL_NEW_ARRAY(u->arena, uint32_t, w->n_tensors + 1);
    for (uint32_t t = 0; t < w->n_tensors; t++)
        u->lead[t] = u->carried[t] = DFL_NONE;
    for (uint32_t e = 0; e < w->n_einsums; e++) {
        const dfl_access *out = &w->einsums[e].output;

        u->is_body[e] = dfl_einsum_has_rank(&w->einsums[e], u->rank);
        u->n_body += u->is_body[e];
        for (uint32_t d = 0; u->is_body[e] && d < out->n_dims; d++)
            if (dfl_index_is_bare(&out->index[d], &rank) && rank == u->rank)
                u->lead[out->tensor] = d;
    }
    for (uint32_t t = 0; t < w->n_tensors; t++)
        if (w->tensors[t].n_producers == 0 && w->tensors[t].n_consumers > 0 &&
            is_enclosed(u, &w->einsums[w->tensors[t].consumers[0]]))
            u->lead[t] = find_lead(u, t);
    for (uint32_t c = 0; c < w->n_carries; c++)
        if (w->carries[c].rank == u->rank)
            u->carried[w->carries[c].from] = w->carries[c].to;
}

/* The tensor that iteration `copy` of the body accesses as `tensor`. */
static uint32_t copy_of(const unrolling *u, uint32_t tensor, int64_t copy)
{
    if (copy > 0 && u->carried[tensor] != DFL_NONE)
        return u->first_tensor[u->carried[tensor]] + (uint32_t)(copy - 1);
    return u->first_tensor[tensor] + (copy > 0 && u->lead[tensor] != DFL_NONE ? (uint32_t)copy : 0);
}

/* An index in iteration `copy`, whose rank becomes a constant. */
static dfl_index fix_index(const unrolling *u, const dfl_index *index, int64_t copy)
{
    dfl_index out = *index;
    dfl_term *terms;

    if (copy == NO_COPY || !has_term(index, u->rank))
        return out;
    terms = DFL_NEW_ARRAY(u->arena, dfl_term, index->n_terms);
    out.terms = terms;
    out.n_terms = 0;
    for (uint32_t i = 0; i < index->n_terms; i++)
        if (index->terms[i].rank == u->rank)
            out.offset += index->terms[i].coef * copy;
        else
            terms[out.n_terms++] = index->terms[i];
    return out;
}

/* An access in iteration `copy`, or outside of the repeat. An access to a tensor of the body loses the dimension of the
   iterations: its index is the iteration inside of the repeat, and a constant outside of it. */
static dfl_access fix_access(unrolling *u, const dfl_access *from, int64_t copy)
{
    const uint32_t lead = u->lead[from->tensor];
    const uint32_t to = copy > 0 ? u->carried[from->tensor] : DFL_NONE;
    const uint32_t more = to == DFL_NONE ? 0 : u->workload->tensors[to].n_dims - 1 - from->n_dims;
    dfl_access out = *from;
    dfl_index *index = DFL_NEW_ARRAY(u->arena, dfl_index, (size_t)from->n_dims + more + 1);
    uint32_t rank;

    out.index = index;
    out.n_dims = 0;
    if (more > 0) { /* the dimensions of repeats around this one, in which Y lies and the outer X does not */
        const dfl_access *made = &u->workload->einsums[u->workload->tensors[to].producers[0]].output;
        for (uint32_t d = 0; out.n_dims < more; d++)
            if (d != u->lead[to])
                index[out.n_dims++] = made->index[d];
    }
    for (uint32_t d = 0; d < from->n_dims; d++)
        if (d != lead)
            index[out.n_dims++] = fix_index(u, &from->index[d], copy);
    out.tensor = copy_of(u, from->tensor, copy);
    if (lead == DFL_NONE)
        return out;
    if (copy == NO_COPY) {
        if (from->index[lead].n_terms > 0 || from->index[lead].offset < 0 || from->index[lead].offset >= u->n)
            refuse(u, from->span, "a read of several iterations of a repeat",
                   "read the result of one iteration, such as the last");
        else
            out.tensor += (uint32_t)from->index[lead].offset;
    } else if (!dfl_index_is_bare(&from->index[lead], &rank) || rank != u->rank) {
        refuse(u, from->span, "a read of another iteration of a repeat", "carry the tensor into the next iteration");
    }
    return out;
}

static dfl_einsum fix_einsum(unrolling *u, const dfl_einsum *from, int64_t copy)
{
    dfl_einsum out = *from;
    dfl_access *inputs = DFL_NEW_ARRAY(u->arena, dfl_access, from->n_inputs + 1);
    dfl_condition *where = DFL_NEW_ARRAY(u->arena, dfl_condition, from->n_where + 1);
    uint32_t *ranks = DFL_NEW_ARRAY(u->arena, uint32_t, from->n_ranks + 1);

    out.output = fix_access(u, &from->output, copy);
    for (uint32_t i = 0; i < from->n_inputs; i++)
        inputs[i] = fix_access(u, &from->inputs[i], copy);
    for (uint32_t i = 0; i < from->n_where; i++)
        where[i].sum = fix_index(u, &from->where[i].sum, copy);
    out.n_ranks = 0;
    for (uint32_t i = 0; i < from->n_ranks; i++)
        if (from->ranks[i] != u->rank)
            ranks[out.n_ranks++] = from->ranks[i];
    if (copy != NO_COPY && from->over_rank == u->rank)
        refuse(u, from->span, "an operation over the iterations of a repeat", "choose another rank");
    out.inputs = inputs;
    out.where = where;
    out.ranks = ranks;
    return out;
}

/* Makes the tensors: one copy per iteration of each tensor that the body produces, one of each other tensor. */
static void make_tensors(unrolling *u, const uint32_t *given)
{
    const dfl_workload *w = u->workload;
    dfl_tensor *tensors;
    uint32_t n = 0;

    u->first_tensor = DFL_NEW_ARRAY(u->arena, uint32_t, w->n_tensors + 1);
    for (uint32_t t = 0; t < w->n_tensors; t++) {
        u->first_tensor[t] = n;
        n += u->lead[t] != DFL_NONE ? (uint32_t)u->n : 1;
    }
    u->tensor_of = DFL_NEW_ARRAY(u->arena, uint32_t, n + 1);
    tensors = DFL_NEW_ARRAY(u->arena, dfl_tensor, n + 1);
    for (uint32_t t = 0; t < w->n_tensors; t++)
        for (uint32_t i = u->first_tensor[t], k = 0; i < (t + 1 < w->n_tensors ? u->first_tensor[t + 1] : n); i++, k++) {
            int64_t *extents = DFL_NEW_ARRAY(u->arena, int64_t, w->tensors[t].n_dims + 1);

            tensors[i] = w->tensors[t];
            u->tensor_of[i] = given ? given[t] : t;
            if (u->lead[t] == DFL_NONE)
                continue;
            tensors[i].label = make_label(u, dfl_tensor_label(u->names, &w->tensors[t]), k);
            tensors[i].extents = extents;
            tensors[i].n_dims = 0;
            for (uint32_t d = 0; d < w->tensors[t].n_dims; d++)
                if (d != u->lead[t])
                    extents[tensors[i].n_dims++] = w->tensors[t].extents[d];
        }
    /* The last Y alone leaves the repeat. If nothing reads this Y, it is an output, and the others are not. */
    for (uint32_t c = 0; c < w->n_carries; c++) {
        const uint32_t to = w->carries[c].to;
        if (w->carries[c].rank == u->rank && w->tensors[to].role == DFL_ROLE_OUTPUT && w->tensors[to].n_consumers == 0)
            for (uint32_t k = 0; k + 1 < (uint32_t)u->n; k++)
                tensors[u->first_tensor[to] + k].role = DFL_ROLE_INTERMEDIATE;
    }
    u->unrolled->tensors = tensors;
    u->unrolled->n_tensors = n;
}

/* Whether an einsum outside of the repeat uses results of the repeat, directly or through other einsums. */
static bool follows_body(const unrolling *u, const bool *follows, uint32_t einsum)
{
    const dfl_einsum *e = &u->workload->einsums[einsum];

    for (uint32_t i = 0; i < e->n_inputs; i++) {
        const dfl_tensor *t = &u->workload->tensors[e->inputs[i].tensor];
        for (uint32_t p = 0; p < t->n_producers; p++)
            if (u->is_body[t->producers[p]] || follows[t->producers[p]])
                return true;
    }
    return false;
}

static void add_einsum(unrolling *u, dfl_einsum *einsums, uint32_t einsum, int64_t copy, const uint32_t *given)
{
    const uint32_t at = u->unrolled->n_einsums++;

    if (copy <= 0)
        u->first_einsum[einsum] = at;
    u->einsum_of[at] = given ? given[einsum] : einsum;
    einsums[at] = fix_einsum(u, &u->workload->einsums[einsum], copy);
    if (copy != NO_COPY)
        einsums[at].label = make_label(u, dfl_einsum_label(u->names, &u->workload->einsums[einsum]), copy);
}

/* Makes the einsums in workload order: those that the repeat does not precede, the iterations, and the others. */
static void make_einsums(unrolling *u, const uint32_t *given)
{
    const dfl_workload *w = u->workload;
    const size_t n = w->n_einsums + (size_t)u->n_body * (size_t)u->n;
    dfl_einsum *einsums = DFL_NEW_ARRAY(u->arena, dfl_einsum, n + 1);
    bool *follows = DFL_NEW_ARRAY(u->arena, bool, w->n_einsums + 1);

    u->first_einsum = DFL_NEW_ARRAY(u->arena, uint32_t, w->n_einsums + 1);
    u->einsum_of = DFL_NEW_ARRAY(u->arena, uint32_t, n + 1);
    u->unrolled->n_einsums = 0;
    for (uint32_t e = 0; e < w->n_einsums; e++)
        follows[e] = !u->is_body[e] && follows_body(u, follows, e);
    for (uint32_t e = 0; e < w->n_einsums; e++)
        if (!u->is_body[e] && !follows[e])
            add_einsum(u, einsums, e, NO_COPY, given);
    for (int64_t k = 0; k < u->n; k++)
        for (uint32_t e = 0; e < w->n_einsums; e++)
            if (u->is_body[e])
                add_einsum(u, einsums, e, k, given);
    for (uint32_t e = 0; e < w->n_einsums; e++)
        if (follows[e])
            add_einsum(u, einsums, e, NO_COPY, given);
    u->unrolled->einsums = einsums;
}

static void add_id(uint32_t *ids, uint32_t *n, uint32_t id)
{
    if (*n == 0 || ids[*n - 1] != id)
        ids[(*n)++] = id;
}

/* Sets the producers and consumers of all tensors of the unrolled workload. */
static void link_tensors(const unrolling *u)
{
    dfl_workload *w = u->unrolled;
    uint32_t *made = DFL_NEW_ARRAY(u->arena, uint32_t, w->n_tensors + 1);
    uint32_t *read = DFL_NEW_ARRAY(u->arena, uint32_t, w->n_tensors + 1);
    uint32_t **producers = DFL_NEW_ARRAY(u->arena, uint32_t *, w->n_tensors + 1);
    uint32_t **consumers = DFL_NEW_ARRAY(u->arena, uint32_t *, w->n_tensors + 1);
    dfl_tensor *tensors = DFL_NEW_ARRAY(u->arena, dfl_tensor, w->n_tensors + 1);

    for (uint32_t e = 0; e < w->n_einsums; e++) {
        made[w->einsums[e].output.tensor]++;
        for (uint32_t i = 0; i < w->einsums[e].n_inputs; i++)
            read[w->einsums[e].inputs[i].tensor]++;
    }
    for (uint32_t t = 0; t < w->n_tensors; t++) {
        tensors[t] = w->tensors[t];
        tensors[t].producers = producers[t] = DFL_NEW_ARRAY(u->arena, uint32_t, made[t] + 1);
        tensors[t].consumers = consumers[t] = DFL_NEW_ARRAY(u->arena, uint32_t, read[t] + 1);
        tensors[t].n_producers = tensors[t].n_consumers = 0;
    }
    for (uint32_t e = 0; e < w->n_einsums; e++) {
        const uint32_t out = w->einsums[e].output.tensor;
        add_id(producers[out], &tensors[out].n_producers, e);
        for (uint32_t i = 0; i < w->einsums[e].n_inputs; i++) {
            const uint32_t in = w->einsums[e].inputs[i].tensor;
            add_id(consumers[in], &tensors[in].n_consumers, e);
        }
    }
    w->tensors = tensors;
}

/* The carried tensors of the other repeats. A carried tensor of a repeat inside this one has a copy per iteration. */
static void make_carries(unrolling *u)
{
    const dfl_workload *w = u->workload;
    DFL_VEC(dfl_carry) carries = { 0 };

    for (uint32_t c = 0; c < w->n_carries; c++) {
        const dfl_carry *from = &w->carries[c];
        const bool inside = u->lead[from->to] != DFL_NONE;
        if (from->rank == u->rank)
            continue;
        for (int64_t k = 0; k < (inside ? u->n : 1); k++)
            DFL_PUSH(u->arena, &carries, ((dfl_carry){ from->rank, copy_of(u, from->from, k), copy_of(u, from->to, k),
                                                        from->downwards }));
    }
    u->unrolled->carries = carries.at;
    u->unrolled->n_carries = (uint32_t)carries.n;
}

/* ---- the mapping ---- */

/* The iterations that a part of the mapping runs: `n` from `first` on; of the last tile of a line it may be fewer than `nominal`,
   the tile of the line. */
typedef struct { int64_t first, n, nominal; } share;

/* Adds the ids that an einsum has in the iterations of a share. Einsums of the repeat have one copy per iteration. */
static void add_copies(const unrolling *u, uint32_t *ids, uint32_t *n, uint32_t einsum, share of)
{
    if (!u->is_body[einsum])
        ids[(*n)++] = u->first_einsum[einsum];
    else
        for (int64_t k = of.first; k < of.first + of.n; k++)
            ids[(*n)++] = u->first_einsum[einsum] + (uint32_t)k * u->n_body;
}

static int compare_ids(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

static const uint32_t *copy_einsums(const unrolling *u, const uint32_t *einsums, uint32_t n, share of, uint32_t *n_out)
{
    uint32_t *out = DFL_NEW_ARRAY(u->arena, uint32_t, (size_t)n * (size_t)of.n + 1);

    *n_out = 0;
    for (uint32_t i = 0; i < n; i++)
        add_copies(u, out, n_out, einsums[i], of);
    if (*n_out > 0)
        qsort(out, *n_out, sizeof *out, compare_ids);
    return out;
}

/* Number of keeps that a keep of the tensor becomes. */
static uint32_t count_keeps(const unrolling *u, uint32_t tensor, share of)
{
    return u->lead[tensor] != DFL_NONE ? (uint32_t)of.n : 1;
}

/* Copies the lines from `first` to before `end` to the end of `to`. */
static void copy_lines(const unrolling *u, const dfl_body *from, uint32_t first, uint32_t end, share of, dfl_body *to)
{
    size_t n = 0;

    for (uint32_t i = first; i < end; i++)
        n += from->lines[i].kind == DFL_LINE_KEEP ? count_keeps(u, from->lines[i].tensor, of) : 1;
    to->lines = DFL_NEW_ARRAY(u->arena, dfl_line, n + 1);
    to->n_lines = 0;
    for (uint32_t i = first; i < end; i++) {
        dfl_line line = from->lines[i];

        if (line.kind != DFL_LINE_KEEP) {
            if (line.only)
                line.only = copy_einsums(u, line.only, line.n_only, of, &line.n_only);
            to->lines[to->n_lines++] = line;
            continue;
        }
        const uint32_t tensor = copy_of(u, line.tensor, of.first), keeps = count_keeps(u, line.tensor, of);
        for (uint32_t k = 0; k < keeps; k++) {
            line.tensor = tensor + k;
            to->lines[to->n_lines++] = line;
        }
    }
}

static void copy_recompute(const unrolling *u, const dfl_body *from, share of, dfl_body *to)
{
    DFL_VEC(uint32_t) tensors = { 0 };

    for (uint32_t i = 0; i < from->n_recompute; i++)
        for (uint32_t k = 0; k < count_keeps(u, from->recompute[i], of); k++)
            DFL_PUSH(u->arena, &tensors, copy_of(u, from->recompute[i], of.first) + k);
    to->recompute = tensors.at;
    to->n_recompute = (uint32_t)tensors.n;
}

/* The first line of the body, from `first` on, that is a loop over the repeat; n_lines if there is none. */
static uint32_t find_repeat(const unrolling *u, const dfl_body *body, uint32_t first)
{
    while (first < body->n_lines && (body->lines[first].kind == DFL_LINE_KEEP || body->lines[first].rank != u->rank))
        first++;
    return first;
}

/* Checks that a line leaves something of the rank for which it stands, which `above` may have finished; false after reporting. */
static bool check_tile(unrolling *u, const dfl_line *line, const dfl_line *above, share of)
{
    const dfl_rank *rank = &u->workload->ranks[u->rank];
    const char *name = dfl_sym_text(u->names, rank->name);
    dfl_diag *d;

    if (of.nominal == 1 && above != NULL && above->amount_span.start == above->span.start && above->by == DFL_BY_SIZE) {
        d = dfl_report(u->sink, DFL_MAP_RANK_FINISHED_TWICE, line->span, "rank `%s` is already finished above this line", name);
        dfl_diag_here(u->sink, d, "nothing is left to iterate");
        dfl_diag_label(u->sink, d, above->span, "this loop goes through `%s` one by one", name);
        dfl_diag_help(u->sink, d, "remove one of the two loops, or give the outer one a tile: `%s:...`", name);
        u->ok = false;
    } else if (line->by == DFL_BY_SIZE && line->amount > of.nominal) {
        d = dfl_report(u->sink, DFL_MAP_TILE_TOO_LARGE, line->amount_span,
                       "the tile of %lld is larger than what is left of rank `%s`", (long long)line->amount, name);
        dfl_diag_here(u->sink, d, "%lld left at this line", (long long)of.nominal);
        dfl_diag_label(u->sink, d, rank->span, "`%s` has an extent of %lld", name, (long long)rank->extent);
        dfl_diag_help(u->sink, d, "use a tile of at most %lld", (long long)of.nominal);
        u->ok = false;
    }
    return u->ok;
}

/* The einsums of the repeat as the head of a branch: `layer.T, layer.Y`. */
static const char *list_body(const unrolling *u)
{
    const char *text = "";

    for (uint32_t e = 0; e < u->workload->n_einsums; e++)
        if (u->is_body[e])
            text = dfl_arena_printf(u->arena, "%s%s%s", text, text[0] != '\0' ? ", " : "",
                                    dfl_sym_text(u->names, u->workload->einsums[e].name));
    return text;
}

/* Checks a line that runs the iterations of a share; false after reporting. */
static bool check_repeat(unrolling *u, const dfl_body *body, const dfl_line *line, const dfl_line *above, share of)
{
    const char *rank = dfl_sym_text(u->names, u->workload->ranks[u->rank].name);

    if (line->kind == DFL_LINE_SPATIAL)
        refuse(u, line->span, "a repeat with iterations on several instances",
               dfl_arena_printf(u->arena, "write `temporal %s;`: one chip runs one iteration after another", rank));
    else if (line->cyclic || line->online)
        refuse(u, line->span, "a repeat with iterations out of their order",
               dfl_arena_printf(u->arena, "write `temporal %s;`", rank));
    else if (!check_tile(u, line, above, of))
        return false;
    if (u->ok && u->line && of.n > 1) {
        dfl_diag *d = dfl_report(u->sink, DFL_MAP_EINSUM_ORDER, line->span, "the iterations of `%s` run in several branches",
                                 rank);
        dfl_diag_label(u->sink, d, u->line->span, "iterations run here, too");
        dfl_diag_help(u->sink, d, "write one `temporal %s;` above all einsums of the repeat: an iteration reads the result of "
                      "the iteration before", rank);
        u->ok = false;
    }
    for (uint32_t i = 0; u->ok && i < body->n_einsums; i++)
        if (!u->is_body[body->einsums[i]]) {
            const dfl_einsum *e = &u->workload->einsums[body->einsums[i]];
            dfl_diag *d = dfl_report(u->sink, DFL_MAP_LOOP_UNREACHED, line->span, "`%s` repeats nothing of einsum `%s`", rank,
                                     dfl_sym_text(u->names, e->name));
            dfl_diag_label(u->sink, d, e->span, "`%s` is declared here", dfl_sym_text(u->names, e->name));
            dfl_diag_help(u->sink, d, "move `%s` to a branch beside the repeat, and this line into the other branch: "
                          "`fuse { %s { temporal %s; ... } %s { ... } }`", dfl_sym_text(u->names, e->name), list_body(u), rank,
                          dfl_sym_text(u->names, e->name));
            u->ok = false;
        }
    return u->ok;
}

/* Checks that the lines above a leaf leave it one iteration: `above` is the innermost line over the repeat, or NULL. */
static void check_leaf(unrolling *u, const dfl_body *leaf, const dfl_line *above, share of)
{
    const dfl_einsum *e = &u->workload->einsums[leaf->einsums[0]];
    const char *rank = dfl_sym_text(u->names, u->workload->ranks[u->rank].name);
    dfl_diag *d;

    if (!u->ok || !u->is_body[leaf->einsums[0]] || of.n == 1)
        return;
    d = dfl_report(u->sink, DFL_MAP_RANK_UNFINISHED, above != NULL ? above->span : leaf->span,
                   "rank `%s` of einsum `%s` is never finished", rank, dfl_sym_text(u->names, e->name));
    if (above != NULL)
        dfl_diag_here(u->sink, d, "tiles of %lld iterations are left, and no loop goes through them", (long long)of.nominal);
    dfl_diag_label(u->sink, d, u->workload->ranks[u->rank].span, "`%s` repeats, and carries a tensor", rank);
    dfl_diag_help(u->sink, d, above != NULL ? "write `temporal %s;` below this line, above all einsums of the repeat"
                                           : "write `temporal %s;` above all einsums of the repeat", rank);
    u->ok = false;
}

static dfl_body *copy_body(unrolling *u, const dfl_body *from, uint32_t first, const dfl_line *above, share of,
                           dfl_body *parent);

/* Adds a child for each tile of iterations of line `line` of a body: the lines and the children below it. Where the next line is
   over the repeat, too, the tiles of that line become children in place of a child with this line alone. */
static void copy_tiles(unrolling *u, const dfl_body *from, uint32_t line, const dfl_line *above, share of, dfl_body *to)
{
    const dfl_line *loop = &from->lines[line];
    int64_t tile;

    if (!check_repeat(u, from, loop, above, of))
        return;
    tile = loop->by == DFL_BY_PARTS ? dfl_ceil_div(of.nominal, loop->amount) : loop->amount;
    for (int64_t k = 0; k < of.n && u->ok; k += tile) {
        const share part = { of.first + k, of.n - k < tile ? of.n - k : tile, tile };

        u->line = NULL;
        if (line + 1 < from->n_lines && find_repeat(u, from, line + 1) == line + 1)
            copy_tiles(u, from, line + 1, loop, part, to);
        else
            to->children[to->n_children++] = copy_body(u, from, line + 1, loop, part, to);
    }
    u->line = loop;
}

/* Copies the children of a body. The tiles of a child that begins with the line of the repeat become children themselves, so that
   a tile kept in this body is live only during the iterations that touch its tensor. */
static void copy_children(unrolling *u, const dfl_body *from, const dfl_line *above, share of, dfl_body *to)
{
    to->n_children = 0;
    to->children = DFL_NEW_ARRAY(u->arena, dfl_body *, (size_t)from->n_children * (size_t)of.n + 1);
    for (uint32_t c = 0; c < from->n_children && u->ok; c++) {
        const dfl_body *child = from->children[c];

        if (from->kind == DFL_BODY_FUSE && child->n_lines > 0 && find_repeat(u, child, 0) == 0)
            copy_tiles(u, child, 0, above, of, to);
        else
            to->children[to->n_children++] = copy_body(u, child, 0, above, of, to);
    }
}

/* Copies the lines from `first` on and the children of a body. `above` is the line whose tile the share is, or NULL. */
static dfl_body *copy_body(unrolling *u, const dfl_body *from, uint32_t first, const dfl_line *above, share of, dfl_body *parent)
{
    const uint32_t line = find_repeat(u, from, first);
    dfl_body *to = DFL_NEW(u->arena, dfl_body);

    *to = *from;
    to->id = (uint32_t)u->bodies.n;
    to->parent = parent;
    to->depth = parent ? parent->depth + 1 : 0;
    DFL_PUSH(u->arena, &u->bodies, to);
    to->einsums = copy_einsums(u, from->einsums, from->n_einsums, of, &to->n_einsums);
    copy_lines(u, from, first, line, of, to);
    copy_recompute(u, from, of, to);
    if (line < from->n_lines) {
        to->kind = DFL_BODY_FUSE;
        to->n_children = 0;
        to->children = DFL_NEW_ARRAY(u->arena, dfl_body *, (size_t)of.n + 1);
        copy_tiles(u, from, line, above, of, to);
        return to;
    }
    if (from->kind == DFL_BODY_LEAF)
        check_leaf(u, from, above, of);
    copy_children(u, from, above, of, to);
    return to;
}

/* The rank of a repeat that encloses no other repeat. An enclosing repeat has more einsums than those inside, so the rank that
   the fewest einsums have is such a rank. */
static uint32_t find_inner_repeat(const dfl_workload *w)
{
    uint32_t best = DFL_NONE, least = 0;

    for (uint32_t c = 0; c < w->n_carries; c++) {
        uint32_t n = 0;
        for (uint32_t e = 0; e < w->n_einsums; e++)
            n += dfl_einsum_has_rank(&w->einsums[e], w->carries[c].rank);
        if (best == DFL_NONE || n < least) {
            best = w->carries[c].rank;
            least = n;
        }
    }
    return best;
}

/* Unrolls one repeat of the workload; repeats around it follow. NULL after reporting. */
static const dfl_unrolled *unroll_once(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_unrolled *from)
{
    const dfl_workload *w = from->mapping->workload;
    unrolling u = { .arena = arena, .sink = sink, .names = names, .from = from->mapping, .workload = w,
                    .rank = find_inner_repeat(w), .ok = true };
    dfl_mapping *mapping = DFL_NEW(arena, dfl_mapping);
    dfl_unrolled *out = DFL_NEW(arena, dfl_unrolled);

    u.n = w->ranks[u.rank].extent;
    find_body(&u);
    if (u.n > DFL_UNROLL_EINSUMS / (u.n_body + 1)) {
        refuse(&u, w->ranks[u.rank].span, "a repeat with so many iterations", "evaluate fewer iterations");
        return NULL;
    }
    u.unrolled = DFL_NEW(arena, dfl_workload);
    *u.unrolled = *w;
    make_tensors(&u, from->tensor_of);
    make_einsums(&u, from->einsum_of);
    link_tensors(&u);
    make_carries(&u);
    *mapping = *from->mapping;
    mapping->workload = u.unrolled;
    mapping->root = u.ok ? copy_body(&u, from->mapping->root, 0, NULL, (share){ 0, u.n, u.n }, NULL) : NULL;
    mapping->bodies = u.bodies.at;
    mapping->n_bodies = (uint32_t)u.bodies.n;
    *out = (dfl_unrolled){ from->given, mapping, u.einsum_of, u.tensor_of };
    return u.ok ? out : NULL;
}

const dfl_unrolled *dfl_mapping_unroll(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *given)
{
    dfl_unrolled *whole = DFL_NEW(arena, dfl_unrolled);
    const dfl_unrolled *out = whole;

    *whole = (dfl_unrolled){ .given = given, .mapping = given };
    for (uint32_t c = 0; c < given->workload->n_carries; c++)
        if (given->workload->carries[c].downwards) {
            const dfl_rank *rank = &given->workload->ranks[given->workload->carries[c].rank];
            dfl_diag *d = dfl_report(sink, DFL_EVAL_UNSUPPORTED, given->span,
                                     "a training step of a `repeat` that carries a tensor is evaluated only over chips");
            dfl_diag_label(sink, d, rank->span, "`%s` repeats, and carries a tensor", dfl_sym_text(names, rank->name));
            dfl_diag_help(sink, d, "train one iteration, as a workload of its own");
            return NULL;
        }
    while (out && out->mapping->workload->n_carries > 0)
        out = unroll_once(arena, sink, names, out);
    return out;
}
