/* Reads tensors and einsums, and finds the extents of rank variables. */
#include "import/accelforge/workload.h"

#include <math.h>
#include <string.h>

#include "import/accelforge/access.h"
#include "import/accelforge/expr.h"
#include "support/checked.h"
#include "support/limits.h"

/* ---- extents ---- */

/* Reads a constraint `0 <= p < 16`; a variable that the einsum lacks is ignored. */
static void read_bound(dfl_af_reader *r, const dfl_yaml *at, int64_t *most)
{
    const char *first, *second, *name;
    dfl_af_cursor c = { r, at->text, at->text, at->span };
    dfl_af_value low, high;
    dfl_af_word w;
    bool ok;

    first = strstr(at->text, "<=");
    second = first != NULL ? strchr(first + 2, '<') : NULL;
    if (at->kind != DFL_YAML_SCALAR || second == NULL) {
        dfl_af_wrong(r, DFL_FOREIGN_UNSUPPORTED, at->span,
                     "the constraint does not have the form `0 <= variable < bound`");
        return;
    }
    name = first + 2;
    c.at = name;
    w = dfl_af_take_name(&c);
    if (!r->ok || dfl_af_next(&c) == '\0' || c.at != second) {
        dfl_af_wrong(r, DFL_FOREIGN_UNSUPPORTED, at->span,
                     "the constraint does not have the form `0 <= variable < bound`");
        return;
    }
    second += second[1] == '=' ? 2 : 1;
    ok = dfl_af_eval_text(r->f, DFL_AF_NONE, at->text, (size_t)(first - at->text), at->span, &low) &&
         dfl_af_eval_text(r->f, DFL_AF_NONE, second, strlen(second), at->span, &high);
    if (!ok || low.is_set || high.is_set || low.number != 0 || high.number != floor(high.number) ||
        high.number > INT32_MAX || high.number < 0) {
        if (ok)
            dfl_af_wrong(r, DFL_FOREIGN_UNSUPPORTED, at->span, "the variable does not run from 0 to a whole number");
        r->ok = false;
        return;
    }
    for (uint32_t v = 0; v < r->vars.n; v++) {
        int64_t last = (int64_t)high.number - (second[-1] == '=' ? 0 : 1);

        if (strcmp(r->vars.at[v].name, w.name) == 0 && (most[v] < 0 || last < most[v]))
            most[v] = last;
    }
}

static void bounds_of_constraints(dfl_af_reader *r, const dfl_yaml *einsum, int64_t *most)
{
    const dfl_yaml *own = dfl_yaml_get(einsum, "iteration_space_shape");
    const dfl_yaml *all = dfl_yaml_get(r->f->workload, "iteration_space_shape");

    if (own != NULL && own->kind == DFL_YAML_SCALAR)
        read_bound(r, own, most);
    for (uint32_t i = 0; r->ok && own != NULL && i < own->n; i++)
        read_bound(r, &own->items[i], most);
    for (uint32_t i = 0; r->ok && all != NULL && all->kind == DFL_YAML_LIST && i < all->n; i++)
        read_bound(r, &all->items[i], most);
    for (uint32_t v = 0; r->ok && v < r->vars.n; v++) {
        const dfl_yaml *bound = dfl_yaml_get(all, r->vars.at[v].name);

        if (bound != NULL)
            read_bound(r, bound, most);
    }
}

/* Tightens the bounds of variables once by `0 <= index < size` of each dimension. Returns whether a bound changed. */
static bool tighten(dfl_af_reader *r, int64_t *most)
{
    const dfl_yaml *sizes = dfl_yaml_get(r->f->workload, "rank_sizes");
    bool changed = false;

    for (size_t a = 0; a < r->list.n; a++) {
        for (uint32_t d = 0; r->ok && d < r->list.at[a].n_dims; d++) {
            const dfl_af_dim *dim = &r->list.at[a].dims[d];
            const dfl_yaml *given = dfl_yaml_get(sizes, dim->rank);
            int64_t size, least = dim->offset;

            if (given == NULL)
                continue;
            if (!dfl_af_count(r->f, DFL_AF_NONE, given, 1, 1, &size))
                return r->ok = false;
            if (size > INT32_MAX)
                return dfl_af_wrong(r, DFL_FOREIGN_RANGE, given->span, "the size is not from 1 to 2^31 - 1");
            for (uint32_t t = 0; t < dim->n_terms; t++) {
                if (dim->terms[t].coef < 0 && most[dim->terms[t].var] < 0)
                    least = INT64_MIN;
                else if (dim->terms[t].coef < 0 && least != INT64_MIN)
                    least += dim->terms[t].coef * most[dim->terms[t].var];
            }
            for (uint32_t t = 0; t < dim->n_terms && least != INT64_MIN; t++) {
                const dfl_af_term *term = &dim->terms[t];
                int64_t last = term->coef > 0 ? dfl_floor_div(size - 1 - least, term->coef) : -1;

                if (last >= 0 && (most[term->var] < 0 || last < most[term->var])) {
                    most[term->var] = last;
                    changed = true;
                }
            }
        }
    }
    return changed;
}

/* Reports a loss if the iteration space is no box: the largest index of the box around the space exceeds a size. */
static void look_for_box(dfl_af_reader *r)
{
    const dfl_yaml *sizes = dfl_yaml_get(r->f->workload, "rank_sizes");

    for (size_t a = 0; a < r->list.n; a++) {
        for (uint32_t d = 0; r->ok && d < r->list.at[a].n_dims; d++) {
            const dfl_af_dim *dim = &r->list.at[a].dims[d];
            const dfl_yaml *given = dfl_yaml_get(sizes, dim->rank);
            int64_t size, last = dim->offset;

            if (given == NULL || !dfl_af_count(r->f, DFL_AF_NONE, given, 1, 1, &size))
                continue;
            for (uint32_t t = 0; t < dim->n_terms; t++)
                last += dim->terms[t].coef > 0 ? dim->terms[t].coef * (r->vars.at[dim->terms[t].var].extent - 1) : 0;
            if (last >= size)
                dfl_lose(r->f->report, DFL_FOREIGN_LOST, dim->span,
                         "the iteration space of this einsum is not a box: all points of its bounding box are computed");
        }
    }
}

static void find_extents(dfl_af_reader *r, const dfl_yaml *einsum)
{
    dfl_arena *arena = r->f->report->arena;
    int64_t *most = DFL_NEW_ARRAY(arena, int64_t, r->vars.n + 1);

    for (uint32_t v = 0; v < r->vars.n; v++)
        most[v] = -1;
    bounds_of_constraints(r, einsum, most);
    for (uint32_t round = 0; r->ok && round < DFL_IMPORT_BOUND_ROUNDS && tighten(r, most); round++)
        ;
    for (uint32_t v = 0; r->ok && v < r->vars.n; v++) {
        if (most[v] < 0)
            dfl_af_wrong(r, DFL_FOREIGN_RANGE, einsum->span,
                  dfl_arena_printf(arena, "nothing bounds the rank variable `%s`", r->vars.at[v].name));
        r->vars.at[v].extent = most[v] + 1;
    }
    for (size_t a = 0; a < r->list.n; a++) {
        for (uint32_t d = 0; d < r->list.at[a].n_dims; d++) {
            const dfl_af_dim *dim = &r->list.at[a].dims[d];

            for (uint32_t t = 0; t < dim->n_terms; t++)
                r->vars.at[dim->terms[t].var].simple &= dim->n_terms == 1 && dim->terms[t].coef == 1;
        }
    }
    look_for_box(r);
}

/* ---- einsums ---- */

/* Checks an access: an output starts at index 0, and all accesses of a tensor have the same number of dimensions. */
static void check_access(dfl_af_reader *r, const dfl_af_access *a)
{
    const dfl_af_tensor *t = &r->f->tensors.at[a->tensor];
    const dfl_af_access *first =
        t->n_users > 0 ? dfl_af_access_of(&r->f->einsums.at[t->first_user], a->tensor) : NULL;

    if (first != NULL && first->n_dims != a->n_dims)
        dfl_af_wrong(r, DFL_FOREIGN_SYNTAX, a->span,
                     dfl_arena_printf(r->f->report->arena, "`%s` has another number of ranks elsewhere", t->name));
    for (uint32_t d = 0; d < a->n_dims && a->output; d++) {
        bool falls = a->dims[d].offset < 0;

        for (uint32_t k = 0; k < a->dims[d].n_terms; k++)
            falls |= a->dims[d].terms[k].coef < 0;
        if (falls)
            dfl_af_wrong(r, DFL_FOREIGN_UNSUPPORTED, a->dims[d].span, "this index of the output can be negative");
    }
}

static void finish(dfl_af_reader *r, dfl_af_einsum *e)
{
    uint32_t outputs = 0;

    for (uint32_t a = 0; a < r->list.n; a++) {
        if (r->list.at[a].output) {
            e->output = a;
            outputs++;
        }
    }
    e->accesses = r->list.at;
    e->n_accesses = (uint32_t)r->list.n;
    e->vars = r->vars.at;
    e->n_vars = (uint32_t)r->vars.n;
    if (outputs != 1 || e->n_accesses < 2) {
        dfl_af_wrong(r, DFL_FOREIGN_UNSUPPORTED, e->span, "an einsum needs operands and exactly one output");
        return;
    }
    for (uint32_t v = 0; v < e->n_vars; v++) {
        bool read = false;

        for (uint32_t a = 0; a < e->n_accesses; a++)
            read |= !e->accesses[a].output && dfl_af_uses_var(&e->accesses[a], v);
        if (!read && e->loose == NULL)
            e->loose = e->vars[v].name;
    }
    for (uint32_t a = 0; r->ok && a < e->n_accesses; a++) {
        dfl_af_tensor *t = &r->f->tensors.at[e->accesses[a].tensor];

        check_access(r, &e->accesses[a]);
        if (t->n_users++ == 0)
            t->first_user = (uint32_t)r->f->einsums.n;
        t->last_user = (uint32_t)r->f->einsums.n;
        if (!e->accesses[a].output)
            continue;
        if (t->producer != DFL_AF_NONE || t->n_users > 1)
            dfl_af_wrong(r, DFL_FOREIGN_UNSUPPORTED, e->accesses[a].span,
                  dfl_arena_printf(r->f->report->arena, "`%s` is used before this einsum produces it", t->name));
        t->producer = (uint32_t)r->f->einsums.n;
    }
}

static bool read_einsum(dfl_af_file *f, const dfl_yaml *at, int64_t instances)
{
    dfl_af_reader r = { .f = f, .ok = true };
    const dfl_yaml *text = at->kind == DFL_YAML_SCALAR ? at : dfl_yaml_get(at, "einsum");
    const dfl_yaml *name = dfl_yaml_get(at, "name"), *list = dfl_yaml_get(at, "tensor_accesses");
    dfl_af_einsum e = { .span = at->span, .renames = dfl_yaml_get(at, "renames"), .instances = 1 };
    static const char *const known[] = { "name", "einsum", "tensor_accesses", "renames", "is_copy_operation",
                                         "n_instances", "iteration_space_shape" };

    if (text != NULL && text->kind == DFL_YAML_SCALAR)
        dfl_af_take_einsum(&r, text);
    else if (list != NULL && list->kind == DFL_YAML_LIST)
        dfl_af_read_accesses(&r, list);
    else
        return dfl_af_wrong(&r, DFL_FOREIGN_SYNTAX, at->span,
                            "expected an einsum: a text, or a map with `tensor_accesses`");
    e.copy = dfl_af_truth(dfl_yaml_get(at, "is_copy_operation"));
    if (!dfl_af_count(f, DFL_AF_NONE, dfl_yaml_get(at, "n_instances"), 1, 1, &e.instances))
        return false;
    if (__builtin_mul_overflow(e.instances, instances, &e.instances) || e.instances > INT32_MAX)
        return dfl_af_wrong(&r, DFL_FOREIGN_RANGE, at->span, "the einsum has more than 2^31 - 1 instances");
    if (r.ok)
        find_extents(&r, at);
    if (r.ok)
        finish(&r, &e);
    if (!r.ok)
        return false;
    e.name = name != NULL ? name->text : f->tensors.at[e.accesses[e.output].tensor].name;
    if (dfl_af_find_einsum(f, e.name) != DFL_AF_NONE)
        return dfl_af_wrong(&r, DFL_FOREIGN_SYNTAX, at->span, "two einsums have the same name");
    dfl_af_look_at_keys(f, at, known, sizeof known / sizeof known[0], e.name);
    DFL_PUSH(f->report->arena, &f->einsums, e);
    return true;
}

/* ---- attributes of tensors ---- */

static bool is_width(const dfl_af_file *f, const dfl_yaml *at, int64_t bits)
{
    if (bits > DFL_AF_MOST_BITS)
        dfl_report(f->report->sink, DFL_FOREIGN_RANGE, at->span, "the width is more than 65536 bits");
    return bits <= DFL_AF_MOST_BITS;
}

/* Gives the tensors of a set a width, unless they have one; `Other` names all tensors. */
static bool set_widths(dfl_af_file *f, const dfl_yaml *key, const dfl_yaml *width)
{
    static const dfl_yaml all = { .kind = DFL_YAML_SCALAR, .tag = "", .text = "All" };
    int64_t bits;

    if (!dfl_af_count(f, DFL_AF_NONE, width, 1, 1, &bits) || !is_width(f, width, bits))
        return false;
    for (uint32_t e = 0; e < f->einsums.n; e++) {
        dfl_af_set set;

        if (!dfl_af_tensors(f, e, strcmp(key->text, "Other") == 0 ? &all : key, &set))
            return false;
        for (uint32_t t = 0; t < f->tensors.n; t++) {
            if (dfl_af_has(&set, t) && f->tensors.at[t].bits == 0)
                f->tensors.at[t].bits = bits;
        }
    }
    return true;
}

static bool read_widths(dfl_af_file *f)
{
    const dfl_yaml *widths = dfl_yaml_get(f->workload, "bits_per_value");
    int64_t all;
    uint32_t n;

    if (widths != NULL && widths->kind == DFL_YAML_SCALAR) {
        if (!dfl_af_count(f, DFL_AF_NONE, widths, 1, 1, &all) || !is_width(f, widths, all))
            return false;
        for (uint32_t t = 0; t < f->tensors.n; t++)
            f->tensors.at[t].bits = f->tensors.at[t].bits == 0 ? all : f->tensors.at[t].bits;
    }

    n = widths != NULL && widths->kind == DFL_YAML_MAP ? widths->n : 0;
    for (uint32_t k = 0; k < 2 * n; k++) { /* `Other` last: it names the tensors that no other set contains */
        if ((strcmp(widths->keys[k % n].text, "Other") == 0) == (k >= n) &&
            !set_widths(f, &widths->keys[k % n], &widths->items[k % n]))
            return false;
    }
    for (uint32_t t = 0; t < f->tensors.n; t++) {
        if (f->tensors.at[t].bits == 0) {
            dfl_report(f->report->sink, DFL_FOREIGN_SYNTAX, f->workload->span, "`bits_per_value` gives `%s` no width",
                       f->tensors.at[t].name);
            return false;
        }
    }
    return true;
}

/* Marks persistent tensors, and weights: tensors in the set `weight` that no einsum computes. */
static bool read_roles(dfl_af_file *f)
{
    static const dfl_yaml weight = { .kind = DFL_YAML_SCALAR, .tag = "", .text = "weight" };
    const dfl_yaml *persistent = dfl_yaml_get(f->workload, "persistent_tensors");

    for (uint32_t e = 0; e < f->einsums.n; e++) {
        dfl_af_set set = { { 0 } }, keeps = { { 0 } };

        if (dfl_af_has_rename(f, e, "weight") &&
            !dfl_af_tensors(f, e, &weight, &set))
            return false;
        if (persistent != NULL && !dfl_af_tensors(f, e, persistent, &keeps))
            return false;
        for (uint32_t t = 0; t < f->tensors.n; t++) {
            f->tensors.at[t].weight |= dfl_af_has(&set, t) && f->tensors.at[t].producer == DFL_AF_NONE;
            f->tensors.at[t].persistent |= dfl_af_has(&keeps, t);
        }
    }
    return true;
}

/* Whether the einsums that read a tensor find it produced: no index goes beyond those of the producer. */
static bool is_produced(dfl_af_file *f, const dfl_af_einsum *e, const dfl_af_access *a)
{
    const dfl_af_tensor *t = &f->tensors.at[a->tensor];
    const dfl_af_einsum *from = t->producer != DFL_AF_NONE ? &f->einsums.at[t->producer] : NULL;
    const dfl_af_access *made = from != NULL && from != e ? dfl_af_access_of(from, a->tensor) : NULL;

    for (uint32_t d = 0; made != NULL && d < a->n_dims && d < made->n_dims; d++) {
        int64_t last = dfl_af_last_index(e, &a->dims[d]), most = dfl_af_last_index(from, &made->dims[d]);

        if (last > most) {
            dfl_diag *diag = dfl_report(f->report->sink, DFL_FOREIGN_RANGE, a->dims[d].span,
                                        "this index of `%s` goes to %lld, but `%s` produces it up to %lld", t->name,
                                        (long long)last, from->name, (long long)most);

            dfl_diag_label(f->report->sink, diag, made->dims[d].span, "produced here");
            return false;
        }
    }
    return true;
}

static bool are_produced(dfl_af_file *f)
{
    for (uint32_t e = 0; e < f->einsums.n; e++) {
        const dfl_af_einsum *einsum = &f->einsums.at[e];

        for (uint32_t a = 0; a < einsum->n_accesses; a++) {
            if (!is_produced(f, einsum, &einsum->accesses[a]))
                return false;
        }
    }
    return true;
}

bool dfl_af_read_workload(dfl_af_file *f)
{
    static const char *const known[] = { "rank_sizes", "bits_per_value", "persistent_tensors", "einsums",
                                         "n_instances", "iteration_space_shape", "version" };
    const dfl_yaml *list = dfl_yaml_get(f->workload, "einsums");
    int64_t instances;

    if (list == NULL || list->kind != DFL_YAML_LIST || list->n == 0) {
        dfl_report(f->report->sink, DFL_FOREIGN_SYNTAX, f->workload->span, "the workload has no `einsums`");
        return false;
    }
    if (!dfl_af_count(f, DFL_AF_NONE, dfl_yaml_get(f->workload, "n_instances"), 1, 1, &instances))
        return false;
    for (uint32_t i = 0; i < list->n; i++) {
        if (!read_einsum(f, &list->items[i], instances))
            return false;
    }
    dfl_af_look_at_keys(f, f->workload, known, sizeof known / sizeof known[0], "workload");
    return are_produced(f) && read_widths(f) && read_roles(f);
}
