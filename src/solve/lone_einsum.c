#include "solve/lone_einsum.h"

#include "solve/own_system.h"
#include "support/strbuf.h"

/* Index in own ranks. The index of an iteration of a carried repeat becomes that of the first iteration. False if the index
   has another rank that the einsum lacks: the place of a gathered row. */
static bool own_index(const dfl_lone_source *a, const dfl_lone_einsum *one, const dfl_index *from, dfl_index *to)
{
    dfl_term *terms = DFL_NEW_ARRAY(a->arena, dfl_term, from->n_terms + 1);

    *to = *from;
    to->terms = terms;
    to->n_terms = 0;
    for (uint32_t i = 0; i < from->n_terms; i++)
        if (one->own_rank[from->terms[i].rank] != DFL_NONE)
            terms[to->n_terms++] = (dfl_term){ one->own_rank[from->terms[i].rank], from->terms[i].coef };
        else if (!a->is_carried[from->terms[i].rank])
            return false;
    return true;
}

/* Adds an own tensor for an access. A gathered row has the ranks of the einsum as further dimensions: rows are distinct. */
static dfl_access own_access(const dfl_lone_source *a, dfl_lone_einsum *one, const dfl_access *from, dfl_tensor *tensors,
                             bool is_output)
{
    const dfl_tensor *given = &a->workload->tensors[from->tensor];
    const uint32_t at = one->workload->n_tensors++, most = from->n_dims + one->workload->n_ranks;
    dfl_index *index = DFL_NEW_ARRAY(a->arena, dfl_index, most + 1);
    int64_t *extents = DFL_NEW_ARRAY(a->arena, int64_t, most + 1);
    uint32_t *users = DFL_NEW_ARRAY(a->arena, uint32_t, 1);
    uint32_t n = 0;
    bool is_gathered = false;

    for (uint32_t d = 0; d < from->n_dims; d++)
        if (!own_index(a, one, &from->index[d], &index[n]))
            is_gathered = true;
        else if (from->index[d].n_terms > 0 && index[n].n_terms == 0) { /* the part of one iteration of a repeat */
            index[n].offset = 0;
            extents[n++] = 1;
        } else
            extents[n++] = given->extents[d];
    for (uint32_t r = 0; is_gathered && r < one->workload->n_ranks; r++) {
        dfl_term *term = DFL_NEW(a->arena, dfl_term);
        bool used = false;
        for (uint32_t d = 0; d < n; d++)
            for (uint32_t i = 0; i < index[d].n_terms; i++)
                used |= index[d].terms[i].rank == r;
        if (used)
            continue;
        *term = (dfl_term){ r, 1 };
        index[n] = (dfl_index){ .terms = term, .n_terms = 1, .span = from->span };
        extents[n++] = one->workload->ranks[r].extent;
    }
    tensors[at] = *given;
    tensors[at].role = is_output ? DFL_ROLE_OUTPUT : given->role == DFL_ROLE_WEIGHT ? DFL_ROLE_WEIGHT : DFL_ROLE_INPUT;
    tensors[at].n_dims = n;
    tensors[at].extents = extents;
    tensors[at].producers = tensors[at].consumers = users;
    tensors[at].n_producers = is_output;
    tensors[at].n_consumers = !is_output;
    one->tensor_of[at] = from->tensor;
    return (dfl_access){ .tensor = at, .n_dims = n, .index = index, .span = from->span };
}

/* Whether two own tensors have equal dimensions, so that one can stand for both. Places of gathered rows have other ones. */
static bool are_alike(const dfl_tensor *a, const dfl_tensor *b)
{
    bool alike = a->n_dims == b->n_dims;

    for (uint32_t d = 0; d < a->n_dims && alike; d++)
        alike = a->extents[d] == b->extents[d];
    return alike;
}

/* Finds the own tensors that stand for one tensor of the network. Returns whether there are such. */
static bool find_same(const dfl_lone_source *a, dfl_lone_einsum *one)
{
    bool any = false;

    one->same = DFL_NEW_ARRAY(a->arena, uint32_t, one->workload->n_tensors + 1);
    for (uint32_t t = 0; t < one->workload->n_tensors; t++) {
        uint32_t k = 0;
        while (one->tensor_of[k] != one->tensor_of[t] || !are_alike(&one->workload->tensors[k], &one->workload->tensors[t]))
            k++;
        one->same[t] = k;
        any |= k != t;
    }
    return any;
}

/* A copy of `from` with another einsum. */
static dfl_workload *with_einsum(const dfl_lone_source *a, const dfl_workload *from, dfl_einsum **einsum)
{
    dfl_workload *out = DFL_NEW(a->arena, dfl_workload);

    *out = *from;
    *einsum = DFL_NEW(a->arena, dfl_einsum);
    **einsum = from->einsums[0];
    out->einsums = *einsum;
    return out;
}

/* Adds the workloads that the mapper does not support. */
static void add_unsupported(const dfl_lone_source *a, dfl_lone_einsum *one, const dfl_einsum *einsum)
{
    dfl_condition *where = DFL_NEW_ARRAY(a->arena, dfl_condition, (size_t)einsum->n_where + 1);
    const bool is_shared = find_same(a, one);
    bool has_where = einsum->n_where > 0;
    dfl_tensor *tensors;
    dfl_access *inputs;
    dfl_einsum *own;

    one->whole = one->workload;
    if (einsum->over_rank != DFL_NONE) {
        one->whole = with_einsum(a, one->workload, &own);
        own->over_rank = one->own_rank[einsum->over_rank];
    }
    for (uint32_t i = 0; i < einsum->n_where; i++)
        has_where &= own_index(a, one, &einsum->where[i].sum, &where[i].sum);
    if (!has_where && !is_shared)
        return;
    one->has_where = has_where;
    one->exact = with_einsum(a, one->whole, &own);
    if (has_where) {
        own->where = where;
        own->n_where = einsum->n_where;
    }
    tensors = DFL_NEW_ARRAY(a->arena, dfl_tensor, one->workload->n_tensors + 1);
    inputs = DFL_NEW_ARRAY(a->arena, dfl_access, einsum->n_inputs + 1);
    for (uint32_t t = 0; t < one->workload->n_tensors; t++) {
        tensors[t] = one->workload->tensors[t];
        if (one->same[t] != t)
            tensors[t].n_consumers = 0;
    }
    for (uint32_t i = 0; i < einsum->n_inputs; i++) {
        inputs[i] = own->inputs[i];
        inputs[i].tensor = one->same[inputs[i].tensor];
    }
    one->exact->tensors = tensors;
    own->inputs = inputs;
}

dfl_lone_einsum dfl_lone_einsum_take(const dfl_lone_source *a, const dfl_einsum *einsum)
{
    const dfl_workload *w = a->workload;
    dfl_lone_einsum one = { .workload = DFL_NEW(a->arena, dfl_workload),
                  .rank_of = DFL_NEW_ARRAY(a->arena, uint32_t, einsum->n_ranks + 1),
                  .tensor_of = DFL_NEW_ARRAY(a->arena, uint32_t, einsum->n_inputs + 2),
                  .own_rank = DFL_NEW_ARRAY(a->arena, uint32_t, w->n_ranks + 1) };
    dfl_rank *ranks = DFL_NEW_ARRAY(a->arena, dfl_rank, einsum->n_ranks + 1);
    uint32_t *ids = DFL_NEW_ARRAY(a->arena, uint32_t, einsum->n_ranks + 1);
    dfl_tensor *tensors = DFL_NEW_ARRAY(a->arena, dfl_tensor, einsum->n_inputs + 2);
    dfl_access *inputs = DFL_NEW_ARRAY(a->arena, dfl_access, einsum->n_inputs + 1);
    dfl_einsum *own = DFL_NEW(a->arena, dfl_einsum);
    const uint32_t own_id = (uint32_t)(einsum - w->einsums);
    dfl_own_systems systems;
    uint32_t n = 0;

    for (uint32_t r = 0; r < w->n_ranks; r++)
        one.own_rank[r] = DFL_NONE;
    for (uint32_t i = 0; i < einsum->n_ranks; i++)
        if (!a->is_carried[einsum->ranks[i]]) {
            one.own_rank[einsum->ranks[i]] = n;
            one.rank_of[n] = einsum->ranks[i];
            ids[n] = n;
            ranks[n++] = w->ranks[einsum->ranks[i]];
        }
    *one.workload = (dfl_workload){ .name = w->name, .span = w->span, .ranks = ranks, .n_ranks = n, .tensors = tensors,
                                    .einsums = own, .n_einsums = 1 };
    *own = *einsum;
    own->ranks = ids;
    own->n_ranks = n;
    own->inputs = inputs;
    own->where = NULL;
    own->n_where = 0;
    own->over_rank = DFL_NONE;
    for (uint32_t i = 0; i < einsum->n_inputs; i++)
        inputs[i] = own_access(a, &one, &einsum->inputs[i], tensors, false);
    own->output = own_access(a, &one, &einsum->output, tensors, true);
    systems = dfl_own_systems_make(&(dfl_own_source){ a->arena, w, a->system, a->home, own_id, own_id }, one.workload,
                                   one.tensor_of);
    one.system = systems.exact;
    one.mapped = systems.mapped;
    one.is_narrowed = systems.is_narrowed;
    add_unsupported(a, &one, einsum);
    return one;
}

static void print_index(dfl_strbuf *out, const dfl_index *index)
{
    for (uint32_t i = 0; i < index->n_terms; i++)
        dfl_strbuf_printf(out, "%lldr%u+", (long long)index->terms[i].coef, index->terms[i].rank);
    dfl_strbuf_printf(out, "%lld,", (long long)index->offset);
}

static void print_body(dfl_strbuf *out, const dfl_eop *op)
{
    dfl_strbuf_printf(out, "(%d %u %u", (int)op->kind, op->operand, op->op);
    for (uint32_t i = 0; i < op->n_args; i++)
        print_body(out, op->args[i]);
    dfl_strbuf_char(out, ')');
}

const char *dfl_lone_einsum_key(const dfl_lone_source *a, const dfl_lone_einsum *one, const dfl_einsum *given)
{
    const dfl_einsum *e = &one->workload->einsums[0];
    dfl_strbuf out;

    dfl_strbuf_init(&out, a->arena);
    for (uint32_t r = 0; r < one->workload->n_ranks; r++)
        dfl_strbuf_printf(&out, "%lld ", (long long)one->workload->ranks[r].extent);
    for (uint32_t i = 0; i <= e->n_inputs; i++) {
        const dfl_access *access = i < e->n_inputs ? &e->inputs[i] : &e->output;
        const dfl_tensor *t = &a->workload->tensors[one->tensor_of[access->tensor]];

        dfl_strbuf_printf(&out, "; %u %u:", t->type.name, one->same[access->tensor]);
        for (uint32_t d = 0; d < access->n_dims; d++) {
            dfl_strbuf_printf(&out, "%lld ", (long long)one->workload->tensors[access->tensor].extents[d]);
            print_index(&out, &access->index[d]);
        }
        for (uint32_t m = 0; m < a->system->n_memories; m++)
            dfl_strbuf_char(&out, !a->system->memories[m].holds.on || dfl_selects(&a->system->memories[m].holds, t) ? '1' : '0');
        if (a->home != NULL)
            dfl_strbuf_printf(&out, "h%u %u", one->tensor_of[access->tensor], a->home[one->tensor_of[access->tensor]]);
        for (uint32_t c = 0; c < a->system->n_computes; c++)
            dfl_strbuf_char(&out, dfl_selects(&a->system->computes[c].operand_reuse, t) ? '1' : '0');
        for (uint32_t x = 0; x < a->system->n_axes; x++)
            dfl_strbuf_printf(&out, "%d%d", dfl_selects(&a->system->axes[x].multicast, t),
                              dfl_selects(&a->system->axes[x].reduce, t));
    }
    for (uint32_t c = 0; one->exact && c < one->exact->einsums[0].n_where; c++) {
        dfl_strbuf_char(&out, '?');
        print_index(&out, &one->exact->einsums[0].where[c].sum);
    }
    dfl_strbuf_printf(&out, "; %d %d %u ", (int)e->reduce, e->is_mac, given->over_rank);
    if (e->body)
        print_body(&out, e->body);
    return out.text;
}
