#include "import/accelforge/constraints.h"

#include <string.h>

#include "import/accelforge/copy.h"
#include "import/accelforge/expr.h"

/* ---- tensors that the source's mapper must and may keep ---- */

/* The tensors of an einsum. */
static dfl_af_set tensors_of(const dfl_af_einsum *e)
{
    dfl_af_set out = { { 0 } };

    for (uint32_t a = 0; a < e->n_accesses; a++)
        dfl_af_put(&out, e->accesses[a].tensor);
    return out;
}

/* Adds the tensors of an expression to the sets of those that are kept surely and possibly. False if the expression cannot be
   evaluated: without a report, unless a name in it is unknown. */
static bool add_tensors(const dfl_af_file *f, uint32_t einsum, const dfl_yaml *at, dfl_af_set *surely, dfl_af_set *possibly)
{
    dfl_loss_report unheard = *f->report;
    dfl_af_file quiet = *f;
    dfl_af_set least, most;

    if (at == NULL)
        return true;
    unheard.sink = dfl_sink_new(f->report->arena, f->report->sources);
    quiet.report = &unheard;
    if (!dfl_af_tensor_bounds(&quiet, einsum, at, &least, &most)) {
        if (dfl_sink_count(unheard.sink) > 0 && dfl_sink_at(unheard.sink, 0)->code == DFL_FOREIGN_UNKNOWN_NAME)
            dfl_af_tensor_bounds(f, einsum, at, &least, &most);
        return false;
    }
    for (uint32_t w = 0; w < DFL_AF_WORDS; w++) {
        surely->word[w] |= least.word[w];
        possibly->word[w] |= most.word[w];
    }
    return true;
}

/* Sets what one einsum must and may keep, and adds to `*unsure` what it may keep or not, by the source's choice for another
   memory. False if an expression cannot be evaluated. */
static bool read_einsum(const dfl_af_file *f, const dfl_yaml *tensors, uint32_t e, dfl_af_set *surely, dfl_af_set *possibly,
                        dfl_af_set *unsure)
{
    const dfl_yaml *keep = dfl_yaml_get(tensors, "keep"), *may = dfl_yaml_get(tensors, "may_keep");
    dfl_af_set all = tensors_of(&f->einsums.at[e]), free = { { 0 } };
    bool known, other = may != NULL && strcmp(may->text, "Other") == 0;

    *surely = *possibly = free;
    known = add_tensors(f, e, keep, surely, possibly) && add_tensors(f, e, dfl_yaml_get(tensors, "back"), surely, possibly);
    if ((keep == NULL && may == NULL) || other)
        *possibly = free = all;
    else if (!add_tensors(f, e, may, &free, possibly))
        known = false;
    for (uint32_t w = 0; w < DFL_AF_WORDS; w++) {
        surely->word[w] &= all.word[w];
        possibly->word[w] &= all.word[w];
        unsure->word[w] |= possibly->word[w] & ~surely->word[w] & ~free.word[w];
    }
    return known;
}

/* The names of the tensors of a set that the memory may keep; "" if there are none. */
static const char *names_of(const dfl_af_file *f, const dfl_af_node *node, const dfl_af_set *set)
{
    dfl_strbuf names;

    dfl_strbuf_init(&names, f->report->arena);
    for (uint32_t t = 0; t < f->tensors.n; t++) {
        if (dfl_af_has(&node->allowed, t) && dfl_af_has(set, t))
            dfl_strbuf_printf(&names, "%s`%s`", names.len > 0 ? ", " : "", f->tensors.at[t].name);
    }
    return names.len > 0 ? names.text : "";
}

/* Reports tensors that only some einsums may keep, since DFL allows a tensor in a memory for all einsums or none, and tensors
   that may be kept or not by the source's choice for another memory. */
static void look_for_refused(const dfl_af_file *f, const dfl_af_node *node, dfl_span span, const dfl_af_set *refused,
                             const dfl_af_set *unsure)
{
    const char *some = names_of(f, node, refused), *chosen = names_of(f, node, unsure);

    if (some[0] != '\0')
        dfl_lose(f->report, DFL_FOREIGN_LOST, span, "only some einsums may keep %s in `%s`: in the result all may", some,
                 node->name);
    if (chosen[0] != '\0')
        dfl_lose(f->report, DFL_FOREIGN_LOST, span,
                 "`%s` may keep %s or not, as the source chooses for other memories: in the result it always may", node->name,
                 chosen);
}

bool dfl_af_read_constraints(dfl_af_file *f, dfl_af_node *node)
{
    static const char *const known_keys[] = {
        "keep", "may_keep", "back", "tile_shape", "no_refetch_from_above", "no_resend_to_below", "tensor_order_options",
        "force_memory_hierarchy_order",
    };
    const dfl_yaml *tensors = dfl_yaml_get(node->at, "tensors");
    dfl_af_set *surely = DFL_NEW_ARRAY(f->report->arena, dfl_af_set, f->einsums.n);
    dfl_af_set *possibly = DFL_NEW_ARRAY(f->report->arena, dfl_af_set, f->einsums.n);
    dfl_af_set refused = { { 0 } }, optional = { { 0 } }, unsure = { { 0 } };
    size_t errors = dfl_sink_errors(f->report->sink);
    bool known = true;

    if (tensors != NULL)
        dfl_af_look_at_keys(f, tensors, known_keys, sizeof known_keys / sizeof known_keys[0], node->name);
    if (f->mapping != NULL) {
        memset(&node->allowed, 0xff, sizeof node->allowed);
        return true;
    }
    for (uint32_t e = 0; e < f->einsums.n; e++) {
        dfl_af_set all = tensors_of(&f->einsums.at[e]);

        if (!read_einsum(f, tensors, e, &surely[e], &possibly[e], &unsure)) {
            if (dfl_sink_errors(f->report->sink) > errors)
                return false;
            known = false;
            surely[e] = (dfl_af_set){ { 0 } };
            possibly[e] = all;
        }
        for (uint32_t w = 0; w < DFL_AF_WORDS; w++) {
            node->allowed.word[w] |= possibly[e].word[w];
            refused.word[w] |= all.word[w] & ~possibly[e].word[w];
            optional.word[w] |= all.word[w] & ~surely[e].word[w];
        }
    }
    node->surely = surely;
    node->possibly = possibly;
    for (uint32_t t = 0; t < f->tensors.n; t++) {
        if (!dfl_af_has(&optional, t))
            dfl_af_put(&node->required, t);
    }
    if (!known)
        dfl_lose(f->report, DFL_FOREIGN_LOST, tensors->span, "only the source's mapper knows which tensors `%s` may keep",
                 node->name);
    else if (tensors != NULL)
        look_for_refused(f, node, tensors->span, &refused, &unsure);
    return true;
}

/* ---- homes ---- */

/* The home of a tensor of an einsum: the outermost memory that may keep it, if it must. DFL_AF_NONE if there is a choice. */
static uint32_t find_home(const dfl_af_file *f, uint32_t e, uint32_t tensor)
{
    for (uint32_t n = 0; n < f->nodes.n; n++) {
        const dfl_af_node *node = &f->nodes.at[n];

        if (node->n_axes > 0 || node->fork != DFL_AF_NONE)
            return DFL_AF_NONE; /* tensors are exchanged outside of arrays */
        if (node->kind == DFL_AF_MEMORY && dfl_af_has(&node->possibly[e], tensor))
            return dfl_af_has(&node->surely[e], tensor) ? n : DFL_AF_NONE;
    }
    return DFL_AF_NONE;
}

/* Sets the home of every tensor, under its first name: einsums share a home, so one einsum without a choice decides. */
static void settle_homes(dfl_af_file *f)
{
    uint32_t *homes = DFL_NEW_ARRAY(f->report->arena, uint32_t, f->tensors.n + 1);
    bool *disputed = DFL_NEW_ARRAY(f->report->arena, bool, f->tensors.n + 1);

    for (uint32_t t = 0; t < f->tensors.n; t++)
        homes[t] = DFL_AF_NONE;
    for (uint32_t e = 0; e < f->einsums.n; e++) {
        const dfl_af_einsum *einsum = &f->einsums.at[e];

        for (uint32_t a = 0; a < einsum->n_accesses && !einsum->left_out; a++) {
            uint32_t t = dfl_af_root(f, einsum->accesses[a].tensor), home = find_home(f, e, einsum->accesses[a].tensor);

            disputed[t] |= home != DFL_AF_NONE && homes[t] != DFL_AF_NONE && homes[t] != home;
            homes[t] = home != DFL_AF_NONE ? home : homes[t];
        }
    }
    for (uint32_t t = 0; t < f->tensors.n; t++)
        homes[t] = disputed[t] ? DFL_AF_NONE : homes[t];
    f->homes = homes;
}

/* ---- constraints that are lost ---- */

/* Reports the tensors that some einsum must keep in a memory other than their home: the search may bypass the memory. */
static void look_for_bypasses(const dfl_af_file *f, uint32_t n)
{
    const dfl_af_node *node = &f->nodes.at[n];
    const dfl_yaml *tensors = dfl_yaml_get(node->at, "tensors");
    dfl_af_set must = { { 0 } };
    const char *first = NULL;
    dfl_strbuf names;

    for (uint32_t e = 0; e < f->einsums.n; e++) {
        for (uint32_t w = 0; w < DFL_AF_WORDS && !f->einsums.at[e].left_out; w++)
            must.word[w] |= node->surely[e].word[w];
    }
    dfl_strbuf_init(&names, f->report->arena);
    for (uint32_t t = 0; t < f->tensors.n; t++) {
        if (!dfl_af_has(&must, t) || f->homes[dfl_af_root(f, t)] == n)
            continue;
        dfl_strbuf_printf(&names, "%s`%s`", first != NULL ? ", " : "", f->tensors.at[t].name);
        first = first != NULL ? first : f->tensors.at[t].name;
    }
    if (first != NULL) {
        dfl_diag *d = dfl_lose(f->report, DFL_FOREIGN_LOST, tensors->span,
                               "the source must keep %s in `%s`: a search may bypass it", names.text, node->name);

        dfl_diag_help(f->report->sink, d, "write `...; keep %s in %s; ...;` in the branch of an einsum to require it", first,
                      node->name);
    }
}

/* Reports constraints on loops, which no line expresses before the ranks are chosen. */
static void look_for_loops(const dfl_af_file *f, const dfl_af_node *node)
{
    static const char *const of_tensors[] = { "tile_shape", "no_refetch_from_above", "no_resend_to_below",
                                              "tensor_order_options" };
    static const char *const of_axes[] = { "reuse", "min_usage", "loop_bounds" };
    const dfl_yaml *tensors = dfl_yaml_get(node->at, "tensors"), *axes = dfl_yaml_get(node->at, "spatial");

    for (size_t k = 0; k < sizeof of_tensors / sizeof of_tensors[0]; k++) {
        const dfl_yaml *at = dfl_yaml_get(tensors, of_tensors[k]);

        if (at != NULL)
            dfl_lose(f->report, DFL_FOREIGN_LOST, at->span, "`%s` of `%s` binds the source, but no search here", of_tensors[k],
                     node->name);
    }
    for (uint32_t a = 0; axes != NULL && a < node->n_axes; a++) {
        dfl_strbuf keys;

        dfl_strbuf_init(&keys, f->report->arena);
        for (size_t k = 0; k < sizeof of_axes / sizeof of_axes[0]; k++) {
            const dfl_yaml *at = dfl_yaml_get(&axes->items[a], of_axes[k]);
            bool empty = at == NULL || strcmp(at->text, "0") == 0 || strcmp(at->text, "Nothing") == 0 ||
                         (at->kind == DFL_YAML_LIST && at->n == 0);

            if (!empty)
                dfl_strbuf_printf(&keys, "%s`%s`", keys.len > 0 ? " and " : "", of_axes[k]);
        }
        if (keys.len > 0)
            dfl_lose(f->report, DFL_FOREIGN_LOST, node->axes[a].span, "%s along `%s` bind the source, but no search here",
                     keys.text, node->axes[a].name);
    }
}

void dfl_af_settle_constraints(dfl_af_file *f)
{
    if (f->mapping != NULL || f->nodes.n == 0)
        return;
    settle_homes(f);
    for (uint32_t n = 0; n < f->nodes.n; n++) {
        if (f->nodes.at[n].surely != NULL)
            look_for_bypasses(f, n);
        look_for_loops(f, &f->nodes.at[n]);
    }
}
