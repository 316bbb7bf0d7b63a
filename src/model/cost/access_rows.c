/* Rows that accesses move. MODEL.md, rule 15 defines them; section 2.10 derives the counts. */
#include "model/cost/access_rows.h"

/* Instances of an array by what they move: `first` of them as much as coordinate 0, all others equally much. */
typedef struct { dfl_i128 all, first; } instance_classes;

typedef struct {
    dfl_nest *nest;
    const dfl_keep_tree *keeps;
    const dfl_traffic_plan *plan;
    bool over; /* some count exceeds 2^127 */
} row_counter;

static dfl_i128 count_parts(const dfl_loop_sizes *sizes, uint64_t steps)
{
    dfl_i128 n = 1;

    for (uint64_t left = steps & sizes->moving; left; left &= left - 1)
        n *= sizes->trips[__builtin_ctzll(left)];
    return n;
}

/* Whether all instances that a delta describes move equally much, at the same steps. */
static bool is_even(row_counter *c, dfl_delta *delta)
{
    return delta == NULL || (dfl_delta_fill(c->nest, delta) && delta->is_even);
}

/* Whether a keep moves other elements than those of one tile for one einsum. */
static bool is_exchanging(const dfl_keep *keep)
{
    return (!keep->written && keep->forward != DFL_NONE) || keep->all.n_stays > 0 || keep->all.anew || keep->n_makers > 1 ||
           keep->exchanged || keep->windows;
}

/* Whether that holds for what moves between a keep and the next outer one. */
static bool moves_evenly(row_counter *c, const dfl_keep *keep)
{
    const dfl_keep_deltas *all = &keep->all;

    return !is_exchanging(keep) && is_even(c, all->each) && is_even(c, all->shared) &&
           is_even(c, all->starts_each) && is_even(c, all->joined) && is_even(c, all->meeting);
}

/* Why the rows of a keep in an array are not derived. */
typedef struct { const char *what, *help; } refusal;

static const refusal UNEVEN = { "rows of an access in an array whose instances move different numbers of elements",
                                "use sizes that divide, or leave `access` out of this memory" };
static const refusal TWICE = { "rows of an access in an array to a tensor that the memory keeps twice",
                               "keep the tensor once in this memory, or leave `access` out of it" };
static const refusal EXCHANGED = {
    "rows of an access in an array to a tensor that einsums exchange there, that instances forward, or of which a part stays",
    "keep the tensor in another memory, or leave `access` out of this one" };

/* Finds the instances that keep `at` uses. False if they differ in an unknown way. */
static bool find_instances(row_counter *c, uint32_t at, instance_classes *out)
{
    const dfl_keep *keep = &c->keeps->at[at];
    const dfl_product_form *form = &keep->footprint.product;
    const dfl_loop_sizes *sizes = &c->nest->sizes[keep->footprint.einsum];
    const uint64_t around = dfl_keep_tree_steps_around(c->nest, keep->footprint.einsum, keep->step,
                                                       c->nest->system->memories[keep->line->memory].element);

    out->all = count_parts(sizes, around);
    out->first = form->possible ? count_parts(sizes, around & form->dims) : out->all;
    if (out->all == 1)
        return true;
    if (!form->possible || !moves_evenly(c, keep))
        return false;
    for (uint32_t i = 0; i < c->keeps->n; i++)
        if (c->keeps->at[i].parent == at && !moves_evenly(c, &c->keeps->at[i]))
            return false;
    for (uint32_t i = 0; i < c->plan->n_operands; i++)
        if (c->plan->operands[i].inner == at && !is_even(c, c->plan->operands[i].all))
            return false;
    return true;
}

/* Rows of one instance that moves `n` elements. */
static dfl_i128 rows_of(row_counter *c, dfl_i128 n, int64_t bits, int64_t row)
{
    c->over |= dfl_mul(n, bits, &n);
    return c->over ? 0 : n / row + (n % row != 0);
}

/* Rows of all instances, which move `all` elements, `first` at coordinate 0. False if other instances move unknown numbers. */
static bool count_rows(row_counter *c, dfl_i128 all, dfl_i128 first, const instance_classes *instances, int64_t bits, int64_t row,
                       dfl_i128 *out)
{
    dfl_i128 others = instances->all - instances->first, rest, some;

    if (all == 0 || bits % row == 0 || instances->all == 1) {
        *out = rows_of(c, all, bits, row);
        return true;
    }
    c->over |= dfl_mul(first, instances->all, &some);
    if (some == all) {
        c->over |= dfl_mul(instances->all, rows_of(c, first, bits, row), out);
        return true;
    }
    c->over |= dfl_mul(first, instances->first, &some);
    rest = all - some;
    if (others == 0 || rest < 0 || rest % others != 0)
        return false;
    c->over |= dfl_mul(instances->first, rows_of(c, first, bits, row), &some);
    c->over |= dfl_mul(others, rows_of(c, rest / others, bits, row), &rest) || dfl_add(some, rest, out);
    return true;
}

/* Counts the rows of keep `at`, the only keep of its tensor in its memory, or of all such keeps in one instance. */
static bool count_traffic(row_counter *c, uint32_t at, bool is_alone, dfl_traffic *t)
{
    const dfl_memory *m = &c->nest->system->memories[t->memory];
    const int64_t bits = c->nest->workload->tensors[t->tensor].type.bits, row = m->access_bits;
    const dfl_counts *n = &t->counts, *f = &t->first;
    instance_classes instances = { 1, 1 };
    bool known = true;

    if (bits % row != 0 && dfl_memory_is_in_array(c->nest->system, t->memory))
        known = is_alone && find_instances(c, at, &instances) && (instances.all == 1 || !t->rough);
    known = known && count_rows(c, n->serve + n->accumulate, f->serve + f->accumulate, &instances, bits, row, &t->rows.read) &&
            count_rows(c, n->drain, f->drain, &instances, bits, row, &t->rows.drain) &&
            count_rows(c, n->fill, f->fill, &instances, bits, row, &t->rows.fill) &&
            count_rows(c, n->update, f->update, &instances, bits, row, &t->rows.update);
    if (!known) {
        const refusal *why = !is_alone ? &TWICE : is_exchanging(&c->keeps->at[at]) ? &EXCHANGED : &UNEVEN;
        dfl_nest_refuse(c->nest, c->keeps->at[at].line->span, why->what, why->help);
    }
    return known;
}

bool dfl_access_rows_count(dfl_nest *nest, const dfl_keep_tree *keeps, const dfl_traffic_plan *plan, const uint32_t *row,
                           dfl_traffic *traffic)
{
    row_counter c = { .nest = nest, .keeps = keeps, .plan = plan };
    bool *seen = NULL;

    for (uint32_t i = 0; i < keeps->n; i++) {
        dfl_traffic *t = &traffic[row[i]];
        bool is_alone = true;

        if (nest->system->memories[t->memory].access_bits == 0)
            continue;
        seen = seen != NULL ? seen : DFL_NEW_ARRAY(nest->arena, bool, keeps->n + 1);
        if (seen[row[i]])
            continue;
        seen[row[i]] = true;
        for (uint32_t k = i + 1; k < keeps->n; k++)
            is_alone &= row[k] != row[i];
        if (!count_traffic(&c, i, is_alone, t))
            return false;
    }
    return c.over ? dfl_nest_report_overflow(nest, nest->mapping->span) : true;
}
