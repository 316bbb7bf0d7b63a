#include "plan/pass/branches.h"

#include "ir/conditions.h"
#include "plan/layout/lines.h"
#include "plan/pass/chunk.h"

bool dfl_einsum_is_copy(const dfl_einsum *e)
{
    return e->body->kind == DFL_EOP_ACCESS && e->n_inputs == 1 && !e->is_mac && e->over_rank == DFL_NONE && e->n_where == 0;
}

/* Whether two einsums read the same part of a tensor: by the same sums of ranks. */
static bool is_same_access(const dfl_access *a, const dfl_access *b)
{
    if (a->tensor != b->tensor || a->n_dims != b->n_dims)
        return false;
    for (uint32_t d = 0; d < a->n_dims; d++)
        if (!dfl_index_equal(&a->index[d], &b->index[d]))
            return false;
    return true;
}

/* Whether an einsum reads a part of a tensor as an access does. */
static bool has_access(const dfl_einsum *e, const dfl_access *access)
{
    for (uint32_t k = 0; k < e->n_inputs; k++)
        if (is_same_access(&e->inputs[k], access))
            return true;
    return false;
}

bool dfl_branch_has_read(const dfl_frame *f, uint32_t other, uint32_t einsum, uint32_t tensor)
{
    const dfl_einsum *a = &f->workload->einsums[other], *b = &f->workload->einsums[einsum];
    const dfl_points *p = &f->points[other], *q = &f->points[einsum];

    if (p->parts != q->parts || p->largest != q->largest || p->total != q->total)
        return false;
    if (a->n_where > 0 && !dfl_conditions_equal(a, b)) /* it may leave out what the other one needs */
        return false;
    for (uint32_t k = 0; k < a->n_inputs; k++)
        if (a->inputs[k].tensor == tensor && !has_access(b, &a->inputs[k]))
            return false;
    for (uint32_t k = 0; k < b->n_inputs; k++) {
        const dfl_access *access = &b->inputs[k];

        if (access->tensor != tensor)
            continue;
        if (!has_access(a, access))
            return false;
        for (uint32_t d = 0; d < access->n_dims; d++)
            for (uint32_t t = 0; t < access->index[d].n_terms; t++) {
                const uint32_t rank = access->index[d].terms[t].rank;

                if (dfl_frame_pass(f, other, rank) != dfl_frame_pass(f, einsum, rank))
                    return false;
            }
    }
    return true;
}

bool dfl_branch_reads(const dfl_frame *f, const uint32_t *branch_of, uint32_t einsum, uint32_t input)
{
    const dfl_workload *w = f->workload;
    const uint32_t tensor = w->einsums[einsum].inputs[input].tensor;
    const dfl_tensor *t = &w->tensors[tensor];
    uint32_t inside = 0;

    for (uint32_t i = 0; i < t->n_producers; i++)
        inside += t->producers[i] < einsum && branch_of[t->producers[i]] == branch_of[einsum];
    if (inside > 0 && inside == t->n_producers)
        return false;
    for (uint32_t i = 0; i < t->n_consumers && t->consumers[i] < einsum; i++)
        if (branch_of[t->consumers[i]] == branch_of[einsum] && dfl_branch_has_read(f, t->consumers[i], einsum, tensor))
            return false;
    return true;
}

bool dfl_branch_writes(const dfl_frame *f, const uint32_t *branch_of, uint32_t einsum, bool is_again)
{
    const dfl_workload *w = f->workload;
    const uint32_t tensor = w->einsums[einsum].output.tensor;
    const dfl_tensor *t = &w->tensors[tensor];
    uint32_t readers = 0;

    if (dfl_tensor_carry(w, tensor) != NULL)
        return true;
    for (uint32_t i = 0; i < t->n_consumers; i++) {
        const uint32_t reader = t->consumers[i];

        if (is_again && w->einsums[reader].phase == DFL_PHASE_FORWARD && !dfl_frame_is_again(f, reader))
            continue;
        readers++;
        if (branch_of[reader] != branch_of[einsum] || (dfl_frame_is_again(f, reader) && !dfl_frame_is_again(f, einsum)))
            return true;
    }
    return readers == 0 || t->role != DFL_ROLE_INTERMEDIATE;
}

uint32_t *dfl_branches_again(const dfl_frame *f, const uint32_t *of, uint32_t n)
{
    uint32_t *out = DFL_NEW_ARRAY(f->arena, uint32_t, f->workload->n_einsums);

    for (uint32_t e = 0; e < f->workload->n_einsums; e++)
        out[e] = dfl_frame_is_again(f, e) ? of[e] : n + e;
    return out;
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
        if (!open && (f->side[body->einsums[i]] != f->side[body->einsums[0]] ||
                      dfl_chunk_splits(f, body->einsums[i], body->einsums[0])))
            return dfl_frame_refuse(f, body->span, f->side[body->einsums[i]] != f->side[body->einsums[0]]
                                    ? "a brace with einsums before and behind the stages"
                                    : "a brace of gradients of weights and of others with `schedule = zero_bubble`, which runs "
                                      "them apart,", "write a brace for each of them");
        out->of[body->einsums[i]] = out->n + (open ? i : 0);
        out->open[body->einsums[i]] = open ? out->n_open : 0;
    }
    out->has_braces |= !open && body->n_einsums > 1;
    out->n += open ? body->n_einsums : 1;
    return true;
}

/* Whether an access has a rank as an index of its own, or not at all. */
static bool has_bare(const dfl_access *a, uint32_t rank)
{
    for (uint32_t d = 0; d < a->n_dims; d++)
        if (dfl_index_coef(&a->index[d], rank) != 0 && (a->index[d].n_terms != 1 || a->index[d].terms[0].coef != 1))
            return false;
    return true;
}

static bool is_in(const dfl_body *body, uint32_t einsum)
{
    for (uint32_t i = 0; i < body->n_einsums; i++)
        if (body->einsums[i] == einsum)
            return true;
    return false;
}

/* Refuses an einsum that cannot run in parts of a rank, each of which makes a part of the result. */
static bool check_part(const dfl_frame *f, const dfl_body *body, uint32_t einsum)
{
    const dfl_workload *w = f->workload;
    const dfl_einsum *e = &w->einsums[einsum];
    const uint32_t rank = f->parts_rank[einsum];
    bool fits = dfl_einsum_has_rank(e, rank) && !f->repeats[rank] && e->over_rank != rank && has_bare(&e->output, rank) &&
                dfl_frame_pass(f, einsum, rank) % f->parts[einsum] == 0 && f->points[einsum].parts == 1 && e->n_where == 0;

    for (uint32_t i = 0; i < e->n_inputs; i++)
        fits &= has_bare(&e->inputs[i], rank);
    fits &= dfl_access_has_rank(&e->output, rank);
    for (uint32_t other = body->einsums[0]; other < einsum; other++)
        if (!is_in(body, other) && w->einsums[other].phase == e->phase && dfl_frame_repeat(f, &w->einsums[other]) ==
            dfl_frame_repeat(f, e))
            return dfl_frame_refuse(f, body->span, "a brace with a loop, and another einsum between its own ones,",
                                    "put it into the brace, or state it before or behind them");
    return fits || dfl_frame_refuse(f, body->lines[0].span, "a loop that does not divide all einsums of its brace",
                                    "divide a rank that each of them and its result have as an index of its own, in "
                                    "equal parts");
}

/* Checks the loop of a brace, whose parts its einsums run one after another. */
static bool check_parts(const dfl_frame *f, const dfl_body *body)
{
    const dfl_line *line = &body->lines[0];

    if (body->n_lines > 1 || line->kind != DFL_LINE_TEMPORAL || line->by == DFL_BY_HOLE || line->cyclic || line->online ||
        f->mapping->root->kind != DFL_BODY_FUSE)
        return dfl_frame_refuse(f, body->n_lines > 1 ? body->lines[1].span : line->span,
                                "this line in a brace below lines of chips",
                                "write one loop, as in `P, Q { temporal m/8; }`, or none");
    for (uint32_t i = 0; i < body->n_einsums; i++)
        if (!check_part(f, body, body->einsums[i]))
            return false;
    return true;
}

/* Refuses a brace below which something else than braces of einsums stands. */
static bool check_brace(const dfl_frame *f, const dfl_body *body)
{
    if (body->n_lines > 0 && body->parent != NULL && (body->parent != f->mapping->root || f->mapping->options.overlap_perfect))
        return dfl_frame_refuse(f, body->lines[0].span, "a line in a brace below lines of chips",
                                "leave the brace empty: its einsums run together");
    if (body->kind == DFL_BODY_PIPELINE && !f->mapping->options.overlap_perfect)
        return dfl_frame_refuse(f, body->span, "a `pipeline` on a chip without `option overlap = perfect`",
                                "write the option, or a brace of several einsums, which run one after another; with a loop, as "
                                "in `P, Q { temporal m/8; }`, part after part");
    if (body->n_lines > 0 && body->parent != NULL && !check_parts(f, body))
        return false;
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

/* ---- sums over micro-batches ---- */

/* The line of the micro-batches that divides a rank over which an einsum sums, so that a pass makes a part of the sum;
   NULL = none does. */
static const dfl_line *line_of_parts(const dfl_frame *f, uint32_t einsum)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];
    const dfl_body *root = f->mapping->root;

    for (uint32_t i = 0; i < root->n_lines && e->reduce != DFL_REDUCE_NONE; i++) {
        const dfl_line *line = &root->lines[i];
        bool is_left = line->kind != DFL_LINE_TEMPORAL || f->repeats[line->rank] || !dfl_einsum_has_rank(e, line->rank);

        for (uint32_t d = 0; d < e->output.n_dims && !is_left; d++)
            is_left = dfl_index_coef(&e->output.index[d], line->rank) != 0;
        if (!is_left && dfl_frame_pass(f, einsum, line->rank) < dfl_frame_local(f, einsum, line->rank))
            return line;
    }
    return NULL;
}

/* Whether an einsum copies a tensor to where no other einsum reads it: each pass moves what is there. */
static bool is_last_copy(const dfl_workload *w, const dfl_einsum *e)
{
    return dfl_einsum_is_copy(e) && w->tensors[e->output.tensor].n_consumers == 0;
}

/* Reports E0409 if an einsum reads a sum to which later micro-batches still add. The optimizer runs behind all of them. What
   reads a gradient is linear in it, so that its parts add up as well. False after a report. */
static bool check_sums(const dfl_frame *f)
{
    const dfl_workload *w = f->workload;

    for (uint32_t e = 0; e < w->n_einsums; e++) {
        const dfl_tensor *t = &w->tensors[w->einsums[e].output.tensor];
        const dfl_line *line = t->n_consumers > 0 && t->part != DFL_PART_GRADIENT ? line_of_parts(f, e) : NULL;

        for (uint32_t i = 0; i < t->n_consumers && line != NULL; i++) {
            const dfl_einsum *reader = &w->einsums[t->consumers[i]];
            dfl_diag *d;

            if (reader->phase == DFL_PHASE_UPDATE || is_last_copy(w, reader))
                continue;
            d = dfl_report(f->sink, DFL_MAP_CONSUMED_EARLY, line->span,
                           "`%s` is read by einsum `%s` before the micro-batches over `%s` have completed it",
                           dfl_sym_text(f->names, t->name), dfl_sym_text(f->names, reader->name),
                           dfl_sym_text(f->names, w->ranks[line->rank].name));
            dfl_diag_here(f->sink, d, "every micro-batch adds to all elements of `%s`", dfl_sym_text(f->names, t->name));
            dfl_diag_label(f->sink, d, w->einsums[e].span, "produced here");
            dfl_diag_label(f->sink, d, reader->span, "read here");
            dfl_diag_help(f->sink, d, "divide a rank of `%s` instead", dfl_sym_text(f->names, t->name));
            return false;
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
    return check_sums(f) && check_order(f, out, n_placed);
}
