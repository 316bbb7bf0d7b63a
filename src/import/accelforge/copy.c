#include "import/accelforge/copy.h"

#include <math.h>

#include "import/accelforge/expr.h"

uint32_t dfl_af_root(const dfl_af_file *f, uint32_t tensor)
{
    while (f->tensors.at[tensor].same != DFL_AF_NONE)
        tensor = f->tensors.at[tensor].same;
    return tensor;
}

uint32_t dfl_af_uses(const dfl_af_file *f, uint32_t tensor)
{
    uint32_t n = 0;

    for (uint32_t e = 0; e < f->einsums.n; e++) {
        for (uint32_t a = 0; a < f->einsums.at[e].n_accesses; a++)
            n += !f->einsums.at[e].left_out && dfl_af_root(f, f->einsums.at[e].accesses[a].tensor) == tensor;
    }
    return n;
}

bool dfl_af_made(const dfl_af_file *f, uint32_t tensor)
{
    uint32_t producer = f->tensors.at[tensor].producer;

    return producer != DFL_AF_NONE && !f->einsums.at[producer].left_out;
}

/* The operand of a copy; NULL if the copy has several operands. */
static const dfl_af_access *operand_of(const dfl_af_einsum *e)
{
    return e->n_accesses == 2 ? &e->accesses[1 - e->output] : NULL;
}

static uint32_t outermost_memory(const dfl_af_file *f)
{
    for (uint32_t n = 0; n < f->nodes.n; n++) {
        if (f->nodes.at[n].kind == DFL_AF_MEMORY)
            return n;
    }
    return DFL_AF_NONE;
}

/* ---- what the source's mapper may choose ---- */

static bool forced(const dfl_af_file *f, uint32_t from, uint32_t to)
{
    uint32_t outer = outermost_memory(f);

    return outer != DFL_AF_NONE && dfl_af_has(&f->nodes.at[outer].required, from) &&
           dfl_af_has(&f->nodes.at[outer].required, to);
}

/* Whether the outermost memory is the best home for a tensor: unlimited, and no other memory or toll is cheaper. */
static bool cheapest_outside(const dfl_af_file *f, uint32_t tensor)
{
    uint32_t outer = outermost_memory(f);
    const dfl_af_node *best = outer != DFL_AF_NONE ? &f->nodes.at[outer] : NULL;

    if (best == NULL || !dfl_af_has(&best->allowed, tensor) || !isinf(best->size) || !isinf(best->read.throughput) ||
        !isinf(best->write.throughput))
        return false;
    for (uint32_t n = 0; n < f->nodes.n; n++) {
        const dfl_af_node *node = &f->nodes.at[n];

        if (n == outer || (node->kind != DFL_AF_MEMORY && node->kind != DFL_AF_TOLL) ||
            !dfl_af_has(&node->allowed, tensor))
            continue;
        if (node->kind == DFL_AF_TOLL || node->n_axes > 0 ||
            node->read.energy * node->values_to_actions[0][tensor] <
                best->read.energy * best->values_to_actions[0][tensor])
            return false;
    }
    return true;
}

/* ---- names ---- */

/* Whether a copy only renames a tensor: both sides have the same indices, each a single variable. */
static bool only_renames(const dfl_af_access *from, const dfl_af_access *to)
{
    bool same = from->n_dims == to->n_dims;

    for (uint32_t d = 0; same && d < from->n_dims; d++) {
        const dfl_af_dim *a = &from->dims[d], *b = &to->dims[d];

        same = a->n_terms == 1 && b->n_terms == 1 && a->terms[0].var == b->terms[0].var && a->terms[0].coef == 1 &&
               b->terms[0].coef == 1 && a->offset == 0 && b->offset == 0;
        for (uint32_t k = 0; same && k < d; k++)
            same = from->dims[k].terms[0].var != a->terms[0].var;
    }
    return same;
}

static bool read_together(const dfl_af_file *f, uint32_t a, uint32_t b)
{
    for (uint32_t e = 0; e < f->einsums.n; e++) {
        const dfl_af_einsum *einsum = &f->einsums.at[e];
        bool first = false, second = false;

        for (uint32_t i = 0; !einsum->left_out && i < einsum->n_accesses; i++) {
            first |= dfl_af_root(f, einsum->accesses[i].tensor) == a;
            second |= dfl_af_root(f, einsum->accesses[i].tensor) == b;
        }
        if (first && second)
            return true;
    }
    return false;
}

/* Whether all nodes treat two tensors alike. `alone` tells that only the copy reads `from`. */
static bool treated_alike(const dfl_af_file *f, uint32_t from, uint32_t to, bool alone)
{
    const dfl_af_tensor *a = &f->tensors.at[from], *b = &f->tensors.at[to];

    if (a->bits != b->bits || a->persistent != b->persistent)
        return false;
    for (uint32_t n = 0; n < f->nodes.n; n++) {
        const dfl_af_node *node = &f->nodes.at[n];

        if (node->width != NULL && (node->width[from] != node->width[to] ||
                                    node->values_to_actions[0][from] != node->values_to_actions[0][to] ||
                                    node->values_to_actions[1][from] != node->values_to_actions[1][to] ||
                                    dfl_af_has(&node->down, from) != dfl_af_has(&node->down, to) ||
                                    dfl_af_has(&node->up, from) != dfl_af_has(&node->up, to)))
            return false;
        for (uint32_t x = 0; !alone && x < node->n_axes; x++) {
            if (dfl_af_has(&node->axes[x].read_reuse, from) != dfl_af_has(&node->axes[x].read_reuse, to))
                return false;
        }
    }
    return true;
}

/* Makes `to` a name of `from`, with the memories and the reuse of `to`. */
static void join_tensors(dfl_af_file *f, uint32_t from, uint32_t to)
{
    f->tensors.at[to].same = from;
    for (uint32_t n = 0; n < f->nodes.n; n++) {
        dfl_af_node *node = &f->nodes.at[n];

        if (dfl_af_has(&node->allowed, to))
            dfl_af_put(&node->allowed, from);
        for (uint32_t x = 0; x < node->n_axes; x++) {
            dfl_af_set *reuse = &node->axes[x].read_reuse;
            uint64_t bit = UINT64_C(1) << from % 64;

            reuse->word[from / 64] &= ~bit;
            reuse->word[from / 64] |= dfl_af_has(reuse, to) ? bit : 0;
        }
    }
}

/* ---- copies ---- */

static bool try_name(dfl_af_file *f, dfl_af_einsum *e)
{
    const dfl_af_access *in = operand_of(e), *out = &e->accesses[e->output];
    uint32_t from, memory = outermost_memory(f);
    bool alone;

    if (in == NULL || !only_renames(in, out))
        return false;
    from = dfl_af_root(f, in->tensor);
    alone = dfl_af_uses(f, from) == 1U + (dfl_af_made(f, from) ? 1U : 0U);
    if (!treated_alike(f, from, out->tensor, alone) ||
        !(forced(f, in->tensor, out->tensor) || (cheapest_outside(f, from) && cheapest_outside(f, out->tensor))))
        return false;
    e->left_out = true;
    if (read_together(f, from, out->tensor)) {
        e->left_out = false;
        return false;
    }
    join_tensors(f, from, out->tensor);
    dfl_loss_remark(f->report, e->span, "`%s` is `%s` here: the source copies inside of `%s` for free",
                    f->tensors.at[out->tensor].name, f->tensors.at[from].name, f->nodes.at[memory].name);
    return true;
}

/* Whether a copy selects, repeats or concatenates elements: some variable indexes only the operand, or only the result. */
static bool routes(const dfl_af_einsum *e)
{
    const dfl_af_access *in = operand_of(e), *out = &e->accesses[e->output];

    for (uint32_t v = 0; in != NULL && v < e->n_vars; v++) {
        if (!dfl_af_uses_var(in, v) || !dfl_af_uses_var(out, v))
            return true;
    }
    return false;
}

static void leave_out(dfl_af_file *f, dfl_af_einsum *e)
{
    const char *from = f->tensors.at[operand_of(e)->tensor].name;
    const char *to = f->tensors.at[e->accesses[e->output].tensor].name;
    const char *how = forced(f, operand_of(e)->tensor, e->accesses[e->output].tensor)
                          ? "which is free as in the source"
                          : "through the outermost memory; in the source it may stay in another one";

    e->left_out = true;
    f->tensors.at[dfl_af_root(f, operand_of(e)->tensor)].leaves = true;
    dfl_lose(f->report, DFL_FOREIGN_LOST, e->span,
             "this copy is omitted: `%s` leaves the workload and `%s` enters it, %s", from, to, how);
}

bool dfl_af_settle_copies(dfl_af_file *f)
{
    size_t left = f->einsums.n;

    for (uint32_t i = 0; i < f->einsums.n; i++) {
        dfl_af_einsum *e = &f->einsums.at[i];

        if (e->copy && f->mapping == NULL && operand_of(e) != NULL && left > 1) {
            bool renames = only_renames(operand_of(e), &e->accesses[e->output]);

            if (!try_name(f, e) && (routes(e) || (!renames && forced(f, operand_of(e)->tensor,
                                                                      e->accesses[e->output].tensor))))
                leave_out(f, e);
            left -= e->left_out;
        }
        if (e->copy && f->mapping == NULL && f->nodes.n > 0 && !e->left_out)
            dfl_loss_remark(f->report, e->span, "a copy inside of one memory is read and written here; in the source it "
                                                "is free");
        if (e->loose != NULL && !e->left_out) {
            dfl_report(f->report->sink, DFL_FOREIGN_UNSUPPORTED, e->accesses[e->output].span,
                       "the rank variable `%s` indexes the output, but no operand", e->loose);
            return false;
        }
    }
    return true;
}
