#include "plan/branches.h"

#include "plan/lines.h"

bool dfl_einsum_is_copy(const dfl_einsum *e)
{
    return e->body->kind == DFL_EOP_ACCESS && e->n_inputs == 1 && !e->is_mac && e->over_rank == DFL_NONE && e->n_where == 0;
}

/* Whether two einsums read the same part of a tensor: by the same sums of ranks. */
static bool is_same_access(const dfl_access *a, const dfl_access *b)
{
    if (a->tensor != b->tensor || a->n_dims != b->n_dims)
        return false;
    for (uint32_t d = 0; d < a->n_dims; d++) {
        const dfl_index *x = &a->index[d], *y = &b->index[d];

        if (x->n_terms != y->n_terms || x->offset != y->offset)
            return false;
        for (uint32_t k = 0; k < x->n_terms; k++)
            if (x->terms[k].rank != y->terms[k].rank || x->terms[k].coef != y->terms[k].coef)
                return false;
    }
    return true;
}

bool dfl_branch_reads(const dfl_frame *f, const uint32_t *branch_of, uint32_t einsum, uint32_t input)
{
    const dfl_workload *w = f->workload;
    const dfl_access *access = &w->einsums[einsum].inputs[input];
    const dfl_tensor *t = &w->tensors[access->tensor];
    uint32_t inside = 0;

    for (uint32_t i = 0; i < t->n_producers; i++)
        inside += t->producers[i] < einsum && branch_of[t->producers[i]] == branch_of[einsum];
    if (inside > 0 && inside == t->n_producers)
        return false;
    for (uint32_t i = 0; i < t->n_consumers && t->consumers[i] < einsum; i++) {
        const dfl_einsum *other = &w->einsums[t->consumers[i]];

        if (branch_of[t->consumers[i]] != branch_of[einsum])
            continue;
        for (uint32_t k = 0; k < other->n_inputs; k++)
            if (is_same_access(&other->inputs[k], access))
                return false;
    }
    return true;
}

bool dfl_branch_writes(const dfl_frame *f, const uint32_t *branch_of, uint32_t einsum)
{
    const uint32_t tensor = f->workload->einsums[einsum].output.tensor;
    const dfl_tensor *t = &f->workload->tensors[tensor];

    for (uint32_t c = 0; c < f->workload->n_carries; c++)
        if (f->workload->carries[c].to == tensor)
            return true;
    for (uint32_t i = 0; i < t->n_consumers; i++)
        if (branch_of[t->consumers[i]] != branch_of[einsum])
            return true;
    return t->n_consumers == 0 || t->role != DFL_ROLE_INTERMEDIATE;
}

/* ---- braces ---- */

/* Whether `...;` stands in a brace of several einsums. */
static bool is_open(const dfl_body *body) { return (body->open || body->open_children) && body->n_einsums > 1; }

/* Puts the einsums of a brace into one branch; those of an open brace are branches by themselves. */
static bool add_brace(const dfl_frame *f, const dfl_body *body, dfl_plan_branches *out)
{
    const dfl_workload *w = f->workload;
    const bool open = is_open(body) && body->parent != NULL;
    const dfl_einsum *first = &w->einsums[body->einsums[0]];

    out->n_open += open;
    for (uint32_t i = 0; i < body->n_einsums; i++) {
        const dfl_einsum *e = &w->einsums[body->einsums[i]];

        if (!open && (e->phase != first->phase || dfl_frame_repeat(f, e) != dfl_frame_repeat(f, first)))
            return dfl_frame_refuse(f, body->span, "a brace with einsums of the forward and the backward pass, or of different "
                                    "repeats", "write a brace for each of them");
        out->of[body->einsums[i]] = out->n + (open ? i : 0);
        out->open[body->einsums[i]] = open ? out->n_open : 0;
    }
    out->has_braces |= !open && body->n_einsums > 1;
    out->n += open ? body->n_einsums : 1;
    return true;
}

/* Refuses a brace below which something else than braces of einsums stands. */
static bool check_brace(const dfl_frame *f, const dfl_body *body)
{
    if (body->n_lines > 0 && body->parent != NULL)
        return dfl_frame_refuse(f, body->lines[0].span, "a line in a brace below lines of chips",
                                "leave the brace empty: its einsums run together");
    if (body->kind == DFL_BODY_PIPELINE && !f->mapping->options.overlap_perfect)
        return dfl_frame_refuse(f, body->span, "a `pipeline` on a chip without `option overlap = perfect`",
                                "write the option, or a brace of several einsums, which run one after another");
    if (body->parent != NULL && is_open(body) && !f->mapping->options.overlap_perfect)
        return dfl_frame_refuse(f, body->span, "a search of groups without `option overlap = perfect`", "write the option");
    for (uint32_t i = 0; i < body->n_children; i++)
        if (!check_brace(f, body->children[i]))
            return false;
    return true;
}

/* Reports that an einsum needs what another one makes, whose branch does not run before. Returns false. */
static bool report_order(const dfl_frame *f, dfl_span place, uint32_t reader, uint32_t maker)
{
    const dfl_einsum *made = &f->workload->einsums[maker];
    dfl_diag *d = dfl_report(f->sink, DFL_MAP_EINSUM_ORDER, place, "`%s` cannot run before `%s`, which makes `%s`",
                             dfl_sym_text(f->names, f->workload->einsums[reader].name), dfl_sym_text(f->names, made->name),
                             dfl_sym_text(f->names, f->workload->tensors[made->output.tensor].name));

    dfl_diag_help(f->sink, d, "put `%s` in the same or an earlier brace", dfl_sym_text(f->names, made->name));
    return false;
}

/* Checks that the branches can run one after another. False after a report: two branches need each other, or a brace makes what
   an earlier one reads. `step` of a branch is its place behind all branches that make what it reads. */
static bool check_order(const dfl_frame *f, const dfl_plan_branches *branches, uint32_t n_braces)
{
    const dfl_workload *w = f->workload;
    uint32_t *step = DFL_NEW_ARRAY(f->arena, uint32_t, branches->n);

    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t e = 0; e < w->n_einsums; e++)
            for (uint32_t i = 0; i < w->einsums[e].n_inputs; i++) {
                const dfl_tensor *t = &w->tensors[w->einsums[e].inputs[i].tensor];
                const uint32_t to = branches->of[e];

                for (uint32_t k = 0; k < t->n_producers; k++) {
                    const uint32_t maker = t->producers[k], from = branches->of[maker];

                    if (maker >= e || w->einsums[maker].phase != w->einsums[e].phase || from == to || step[to] > step[from])
                        continue;
                    step[to] = step[from] + 1;
                    changed = true;
                    if (step[to] > branches->n || (from > to && from < n_braces))
                        return report_order(f, branches->places[e], e, maker);
                }
            }
    }
    return true;
}

bool dfl_branches_find(const dfl_frame *f, dfl_plan_branches *out)
{
    const dfl_body *root = f->mapping->root;
    const bool is_list = root->kind == DFL_BODY_FUSE;
    const uint32_t n = f->workload->n_einsums, n_braces = is_list ? root->n_children : root->kind == DFL_BODY_PIPELINE;
    dfl_span *places = DFL_NEW_ARRAY(f->arena, dfl_span, n);

    *out = (dfl_plan_branches){ .of = DFL_NEW_ARRAY(f->arena, uint32_t, n), .open = DFL_NEW_ARRAY(f->arena, uint32_t, n),
                                .places = places };
    for (uint32_t i = 0; i < n_braces; i++) {
        const dfl_body *brace = is_list ? root->children[i] : root;

        if (!check_brace(f, brace) || !add_brace(f, brace, out))
            return false;
        for (uint32_t k = 0; k < brace->n_einsums; k++)
            places[brace->einsums[k]] = brace->span;
    }
    const uint32_t n_placed = out->n;
    out->n_open += f->mapping->options.chip_search;
    for (uint32_t e = 0; e < n; e++)
        if (places[e].end == 0) {
            places[e] = f->mapping->span;
            out->of[e] = out->n++;
            out->open[e] = f->mapping->options.chip_search ? out->n_open : 0;
        }
    return check_order(f, out, n_placed);
}
