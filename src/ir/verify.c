#include "ir/verify.h"

#include <math.h>

#define VERIFY(condition, text) \
    do {                        \
        if (!(condition))       \
            return (text);      \
    } while (0)

static bool ascending(const uint32_t *ids, uint32_t n, uint32_t below)
{
    for (uint32_t i = 0; i < n; i++)
        if (ids[i] >= below || (i > 0 && ids[i - 1] >= ids[i]))
            return false;
    return true;
}

/* ---- workloads ---- */

static const char *verify_index(const dfl_workload *w, const dfl_index *index)
{
    for (uint32_t i = 0; i < index->n_terms; i++) {
        VERIFY(index->terms[i].rank < w->n_ranks, "an index has a rank that is none");
        VERIFY(index->terms[i].coef != 0, "an index has a coefficient of zero");
        VERIFY(i == 0 || index->terms[i - 1].rank < index->terms[i].rank, "ranks of an index are not ascending");
    }
    return NULL;
}

static const char *verify_access(const dfl_workload *w, const dfl_access *a)
{
    VERIFY(a->tensor < w->n_tensors, "an access has a tensor that is none");
    VERIFY(a->n_dims == w->tensors[a->tensor].n_dims, "an access has too few or too many dimensions");
    for (uint32_t d = 0; d < a->n_dims; d++) {
        const char *wrong = verify_index(w, &a->index[d]);

        VERIFY(wrong == NULL, wrong);
    }
    return NULL;
}

static const char *verify_eop(const dfl_einsum *e, const dfl_eop *op)
{
    VERIFY(op != NULL, "a right side has no tree");
    VERIFY(op->kind != DFL_EOP_ACCESS || op->operand < e->n_inputs, "a right side has an operand that is none");
    for (uint32_t i = 0; i < op->n_args; i++) {
        const char *wrong = verify_eop(e, op->args[i]);

        VERIFY(wrong == NULL, wrong);
    }
    return NULL;
}

static const char *verify_einsum(const dfl_workload *w, const dfl_einsum *e)
{
    const char *wrong = verify_access(w, &e->output);

    VERIFY(wrong == NULL, wrong);
    VERIFY(e->name != 0, "an einsum lacks a name");
    VERIFY(e->n_inputs > 0 || (e->body->kind == DFL_EOP_CONST && e->phase == DFL_PHASE_BACKWARD), "an einsum lacks inputs");
    VERIFY(ascending(e->ranks, e->n_ranks, w->n_ranks), "ranks of an einsum are not ascending");
    VERIFY(e->over_rank == DFL_NONE || e->over_rank < w->n_ranks, "`over` has a rank that is none");
    VERIFY(e->flops_per_point >= 0 && e->flops_per_output >= 0, "an einsum costs less than nothing");
    VERIFY(!e->is_mac || e->flops_per_point == 0, "a MAC counts other operations, too");
    for (uint32_t i = 0; i < e->n_inputs; i++)
        VERIFY((wrong = verify_access(w, &e->inputs[i])) == NULL, wrong);
    VERIFY(e->reuse >= 0 && e->reuse <= 1 && (e->load == 0 || e->load >= 1), "`reuse` is not from 0 to 1, or `load` is below 1");
    for (uint32_t i = 0; i < e->n_where; i++)
        VERIFY((wrong = verify_index(w, &e->where[i].sum)) == NULL, wrong);
    for (uint32_t d = 0; d < e->output.n_dims; d++)
        for (uint32_t t = 0; t < e->output.index[d].n_terms; t++)
            VERIFY(dfl_einsum_has_rank(e, e->output.index[d].terms[t].rank), "the result has a rank that is not iterated");
    return verify_eop(e, e->body);
}

/* True if a gather reads rows of the tensor; these rows are a tensor of their own, which lists the reader. */
static bool has_rows(const dfl_workload *w, const dfl_tensor *table)
{
    for (uint32_t t = 0; t < w->n_tensors; t++)
        if (w->tensors[t].table == (uint32_t)(table - w->tensors))
            return true;
    return false;
}

static const char *verify_tensor(const dfl_workload *w, const dfl_tensor *t)
{
    bool input = t->role == DFL_ROLE_INPUT || t->role == DFL_ROLE_WEIGHT;

    VERIFY(t->name != 0 && t->type.bits > 0, "a tensor lacks a name or a type");
    VERIFY(ascending(t->producers, t->n_producers, w->n_einsums), "producers of a tensor are not ascending");
    VERIFY(ascending(t->consumers, t->n_consumers, w->n_einsums), "consumers of a tensor are not ascending");
    VERIFY(!input || t->n_producers == 0 ||
               (t->role == DFL_ROLE_WEIGHT && t->n_producers == 1 && w->einsums[t->producers[0]].phase == DFL_PHASE_UPDATE),
           "an input is produced");
    VERIFY(t->role != DFL_ROLE_INTERMEDIATE || t->n_producers > 0 || t->table != DFL_NONE, "an intermediate is not produced");
    VERIFY(t->role != DFL_ROLE_INTERMEDIATE || t->n_consumers > 0 || has_rows(w, t), "an intermediate is not read");
    for (uint32_t d = 0; d < t->n_dims; d++)
        VERIFY(t->extents[d] > 0, "a tensor has an extent that is not positive");
    for (uint32_t i = 0; i < t->n_producers; i++)
        VERIFY(w->einsums[t->producers[i]].output.tensor == (uint32_t)(t - w->tensors), "a producer produces another tensor");
    for (uint32_t i = 0; i < t->n_consumers; i++)
        VERIFY(dfl_einsum_reads(&w->einsums[t->consumers[i]], (uint32_t)(t - w->tensors)), "a consumer does not read");
    return NULL;
}

const char *dfl_workload_verify(const dfl_workload *w)
{
    const char *wrong;

    for (uint32_t r = 0; r < w->n_ranks; r++)
        VERIFY(w->ranks[r].name != 0 && w->ranks[r].extent > 0, "a rank lacks a name or a size");
    for (uint32_t t = 0; t < w->n_tensors; t++)
        VERIFY((wrong = verify_tensor(w, &w->tensors[t])) == NULL, wrong);
    for (uint32_t e = 0; e < w->n_einsums; e++) {
        const dfl_einsum *x = &w->einsums[e];

        VERIFY((wrong = verify_einsum(w, x)) == NULL, wrong);
        for (uint32_t i = 0; i < x->n_inputs; i++) {
            const dfl_tensor *t = &w->tensors[x->inputs[i].tensor];

            VERIFY(dfl_tensor_is_updated(t) || t->n_producers == 0 || t->producers[t->n_producers - 1] < e,
                   "an einsum runs before what it reads is complete");
        }
    }
    return NULL;
}

/* ---- systems ---- */

static const char *verify_memory(const dfl_system *s, const dfl_memory *m)
{
    VERIFY(m->element < s->n_elements && m->name != 0, "a memory is nowhere");
    VERIFY(m->size_bits == -1 || m->size_bits > 0, "a memory has no size");
    VERIFY(m->read_rate > 0 && m->write_rate > 0, "a memory has no bandwidth");
    VERIFY(m->read_energy >= 0 && m->write_energy >= 0 && m->drain_energy >= 0 && m->latency >= 0 && m->leakage >= 0 &&
           m->area >= 0, "a memory has a negative figure");
    VERIFY(m->access_bits >= 0, "an access has a negative width");
    VERIFY(m->buffers >= 1, "a memory has no buffer");
    return m->efficiency != NULL ? dfl_efficiency_verify(m->efficiency) : NULL;
}

static const char *verify_compute(const dfl_system *s, const dfl_compute *c)
{
    VERIFY(c->element < s->n_elements && c->after_memory <= s->n_memories && c->name != 0, "a compute unit is nowhere");
    VERIFY(c->n_rates > 0, "a compute unit has no rate");
    for (uint32_t i = 0; i < c->n_rates; i++)
        VERIFY(c->rates[i].rate > 0 && isfinite(c->rates[i].rate), "a rate is not positive");
    for (uint32_t i = 0; i < c->n_type_energies; i++)
        VERIFY(c->type_energies[i].type != 0 && c->type_energies[i].joules >= 0, "an energy is of no type or negative");
    VERIFY(c->launch >= 0, "a compute unit starts before it is asked to");
    VERIFY(c->units >= 0 && c->lanes >= 1 && c->rows >= 1, "a compute unit has parts without lanes or rows");
    for (uint32_t i = 0; i < c->n_efficiencies; i++) {
        const char *wrong = dfl_efficiency_verify(&c->efficiencies[i]);

        VERIFY(wrong == NULL, wrong);
    }
    return NULL;
}

static const char *verify_topology(const dfl_topology *t)
{
    VERIFY(t->kind != DFL_TOPOLOGY_FAT_TREE || (t->levels >= 1 && t->oversubscription != NULL && t->oversubscription[0] == 1),
           "a fat tree has no levels");
    for (uint32_t i = 1; i < t->levels; i++)
        VERIFY(t->oversubscription[i] >= 1, "a level of a fat tree has more bandwidth than the level below");
    VERIFY(t->kind != DFL_TOPOLOGY_DRAGONFLY || (t->groups >= 1 && t->routers >= 1 && t->global >= 1), "a dragonfly is empty");
    VERIFY(t->algorithms >> DFL_N_ALGORITHMS == 0, "a network has an algorithm that is none");
    VERIFY(t->overhead >= 0 && t->price >= 0 && t->power >= 0 && t->link_price >= 0 && t->link_power >= 0,
           "a network has a negative figure");
    return NULL;
}

const char *dfl_system_verify(const dfl_system *s)
{
    const char *wrong;

    VERIFY(s->n_elements > 0 && s->elements[0].parent == DFL_NONE, "a system has no root");
    for (uint32_t i = 1; i < s->n_elements; i++) {
        const dfl_element *e = &s->elements[i];

        VERIFY(e->parent < i, "an element stands before its parent");
        VERIFY(e->first_axis + e->n_axes <= s->n_axes, "an element has axes that are none");
    }
    for (uint32_t i = 0; i < s->n_memories; i++)
        VERIFY((wrong = verify_memory(s, &s->memories[i])) == NULL, wrong);
    for (uint32_t i = 0; i < s->n_computes; i++)
        VERIFY((wrong = verify_compute(s, &s->computes[i])) == NULL, wrong);
    for (uint32_t i = 0; i < s->n_networks; i++) {
        const dfl_network *n = &s->networks[i];

        VERIFY(n->element < s->n_elements && n->bandwidth > 0 && (n->port == DFL_NONE || n->port < s->n_axes),
               "a network is nowhere or idle");
        VERIFY(n->efficiency == NULL || (wrong = dfl_efficiency_verify(n->efficiency)) == NULL, wrong);
        VERIFY((wrong = verify_topology(&n->topology)) == NULL, wrong);
    }
    for (uint32_t i = 0; i < s->n_axes; i++) {
        const dfl_axis *a = &s->axes[i];

        VERIFY(a->size > 0 && a->element < s->n_elements, "an axis has no size or element");
        VERIFY(a->network == DFL_NONE || a->network < s->n_networks, "an axis has a network that is none");
        VERIFY(s->elements[a->element].first_axis <= i &&
               i < s->elements[a->element].first_axis + s->elements[a->element].n_axes, "an axis is not of its element");
    }
    return NULL;
}

/* ---- mappings ---- */

static const char *verify_line(const dfl_mapping *m, const dfl_line *l)
{
    if (l->kind == DFL_LINE_KEEP) {
        VERIFY(l->tensor < m->workload->n_tensors && l->memory < m->system->n_memories, "a keep of nothing");
        for (uint32_t i = 0; i < l->n_splits; i++)
            VERIFY(l->splits[i].rank < m->workload->n_ranks && l->splits[i].axis < m->system->n_axes && l->splits[i].amount > 0 &&
                   l->splits[i].by != DFL_BY_HOLE, "a home is split into nothing");
        return NULL;
    }
    VERIFY(l->rank < m->workload->n_ranks && l->amount > 0, "a loop over nothing");
    VERIFY(l->kind != DFL_LINE_SPATIAL || l->axis < m->system->n_axes, "a spatial loop on no axis");
    VERIFY(l->by != DFL_BY_HOLE || (m->has_holes && l->hole != NULL), "a hole that is not announced");
    VERIFY(l->hole == NULL || l->hole->by != DFL_BY_HOLE, "a hole for neither a size nor parts");
    for (uint32_t i = 0; l->hole != NULL && i < l->hole->n_choices; i++)
        VERIFY(l->hole->choices[i] > (i > 0 ? l->hole->choices[i - 1] : 0), "choices of a hole are not ascending");
    VERIFY(l->stages == NULL || (l->kind == DFL_LINE_SPATIAL && l->stages->interleave >= 1), "stages that are none");
    VERIFY(l->only == NULL || ascending(l->only, l->n_only, m->workload->n_einsums), "`for` lists are not ascending");
    return NULL;
}

static const char *verify_body(const dfl_mapping *m, const dfl_body *b, uint32_t id)
{
    VERIFY(b->id == id, "bodies are not numbered in order");
    VERIFY((b->parent == NULL) == (id == 0), "a body has no parent");
    VERIFY(b->parent == NULL || (b->parent->id < id && b->depth == b->parent->depth + 1), "a body is deeper than it is");
    VERIFY(b->n_einsums > 0 && ascending(b->einsums, b->n_einsums, m->workload->n_einsums), "a body covers nothing");
    VERIFY(b->kind != DFL_BODY_LEAF || (b->n_children == 0 && !b->open_children), "a leaf has children");
    VERIFY(b->kind != DFL_BODY_LEAF || b->n_einsums == 1 || b->open, "a leaf has several einsums");
    VERIFY(b->kind == DFL_BODY_LEAF || b->n_children > 0 || b->open_children, "a branch has no children");
    VERIFY((!b->open && !b->open_children) || m->has_holes, "an open body that is not announced");
    VERIFY(b->open == (b->n_opens > 0), "a body is open nowhere");
    for (uint32_t i = 0; i < b->n_opens; i++)
        VERIFY(b->opens[i].at <= b->n_lines && (i == 0 || b->opens[i].at >= b->opens[i - 1].at),
               "a body is open behind its end");
    VERIFY(b->n_choices == 0 || m->has_holes, "a choice that is not announced");
    for (uint32_t i = 0; i < b->n_choices; i++)
        VERIFY(b->choices[i].at <= b->n_lines && b->choices[i].opens <= b->n_opens, "a choice behind the end of a body");
    VERIFY(b->compute == DFL_NONE || b->compute < m->system->n_computes, "a body runs on nothing");
    for (uint32_t i = 0; i < b->n_children; i++)
        VERIFY(b->children[i]->parent == b, "a child has another parent");
    for (uint32_t i = 0; i < b->n_lines; i++) {
        const char *wrong = verify_line(m, &b->lines[i]);

        VERIFY(wrong == NULL, wrong);
    }
    return NULL;
}

const char *dfl_mapping_verify(const dfl_mapping *m)
{
    VERIFY(m->workload != NULL && m->system != NULL && m->root != NULL && m->n_bodies > 0, "a mapping lacks a part");
    VERIFY(m->root == m->bodies[0], "the root is not the first body");
    VERIFY(m->n_minimize == 0 || m->minimize != NULL, "an objective is missing");
    for (uint32_t i = 0; i < m->n_bodies; i++) {
        const char *wrong = verify_body(m, m->bodies[i], i);

        VERIFY(wrong == NULL, wrong);
    }
    return NULL;
}

const char *dfl_program_verify(const dfl_program *p)
{
    const char *wrong;

    for (uint32_t i = 0; i < p->n_workloads; i++)
        VERIFY((wrong = dfl_workload_verify(p->workloads[i].workload)) == NULL, wrong);
    for (uint32_t i = 0; i < p->n_systems; i++)
        VERIFY((wrong = dfl_system_verify(p->systems[i])) == NULL, wrong);
    for (uint32_t i = 0; i < p->n_designs; i++) {
        const dfl_mapping *m = p->designs[i].mapping;

        VERIFY((wrong = dfl_mapping_verify(m)) == NULL, wrong);
        VERIFY((wrong = dfl_workload_verify(m->workload)) == NULL, wrong);
        VERIFY((wrong = dfl_system_verify(m->system)) == NULL, wrong);
    }
    for (uint32_t i = 0; i < p->n_checks; i++)
        VERIFY(p->checks[i].expr != NULL && p->checks[i].text != NULL, "a check has no expression");
    return NULL;
}
