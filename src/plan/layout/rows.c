#include "plan/layout/rows.h"

#include <math.h>

#include "plan/layout/largest.h"
#include "plan/layout/lines.h"

/* ---- which einsums go by rows ---- */

static const dfl_access *find_in(const dfl_einsum *e, const dfl_eop *node, uint32_t rows)
{
    const dfl_access *found = NULL;

    if (node->kind == DFL_EOP_GATHER)
        return e->inputs[node->args[0]->operand].tensor == rows ? &e->inputs[node->args[1]->operand] : NULL;
    for (uint32_t i = 0; i < node->n_args && found == NULL; i++)
        found = find_in(e, node->args[i], rows);
    return found;
}

const dfl_access *dfl_rows_gathered_at(const dfl_einsum *e, uint32_t rows) { return find_in(e, e->body, rows); }

int32_t dfl_rows_dimension(const dfl_tensor *rows, uint32_t rank)
{
    uint32_t bare;

    for (uint32_t d = 0; d < rows->n_table_dims; d++)
        if (dfl_index_is_bare(&rows->table_index[d], &bare) && bare == rank)
            return (int32_t)d;
    return -1;
}

/* Whether data select the rank of a table: the einsum that reads the rows does not iterate it. */
static bool is_selected(const dfl_tensor *rows, const dfl_einsum *e, uint32_t rank)
{
    return rows->gathered && !dfl_einsum_has_rank(e, rank) && dfl_rows_dimension(rows, rank) >= 0;
}

/* The einsum of the forward pass that gathers a tensor of rows, or NULL. */
static const dfl_einsum *find_gather(const dfl_workload *w, uint32_t rows)
{
    for (uint32_t e = 0; e < w->n_einsums; e++)
        if (dfl_rows_gathered_at(&w->einsums[e], rows) != NULL)
            return &w->einsums[e];
    return NULL;
}

const dfl_access *dfl_rows_positions(const dfl_workload *w, uint32_t einsum, uint32_t rank)
{
    const dfl_einsum *e = &w->einsums[einsum], *gather;
    const dfl_access *found = NULL;

    for (uint32_t i = 0; i < e->n_inputs && found == NULL; i++)
        if (is_selected(&w->tensors[e->inputs[i].tensor], e, rank))
            found = dfl_rows_gathered_at(e, e->inputs[i].tensor);
    if (found != NULL || !is_selected(&w->tensors[e->output.tensor], e, rank))
        return found;
    if (e->body->kind == DFL_EOP_SCATTER)
        return &e->inputs[e->body->args[1]->operand];
    gather = find_gather(w, e->output.tensor); /* the update of the rows that a gather reads */
    return gather != NULL ? dfl_rows_gathered_at(gather, e->output.tensor) : NULL;
}

static bool has_ranks(const dfl_einsum *e, const dfl_access *positions)
{
    for (uint32_t d = 0; d < positions->n_dims; d++)
        for (uint32_t t = 0; t < positions->index[d].n_terms; t++)
            if (!dfl_einsum_has_rank(e, positions->index[d].terms[t].rank))
                return false;
    return true;
}

/* Whether a line names an einsum, or the einsum of the forward pass that it belongs to. The update of gathered rows belongs to
   the einsum that gathers them. */
static bool is_named(const dfl_workload *w, const dfl_line *line, uint32_t einsum)
{
    const dfl_einsum *e = &w->einsums[einsum], *gather;

    if (dfl_line_names(line, w, einsum))
        return true;
    gather = e->phase == DFL_PHASE_UPDATE && w->tensors[e->output.tensor].gathered ? find_gather(w, e->output.tensor) : NULL;
    return gather != NULL && dfl_line_names(line, w, (uint32_t)(gather - w->einsums));
}

/* Whether another line with a list of einsums states the same axis for an einsum. */
static bool is_stated(const dfl_frame *f, const dfl_line *line, uint32_t einsum)
{
    const dfl_body *root = f->mapping->root;

    for (uint32_t i = 0; i < root->n_lines; i++)
        if (&root->lines[i] != line && root->lines[i].kind == DFL_LINE_SPATIAL && root->lines[i].axis == line->axis &&
            root->lines[i].only != NULL && dfl_einsum_has_rank(&f->workload->einsums[einsum], root->lines[i].rank) &&
            dfl_line_names(&root->lines[i], f->workload, einsum))
            return true;
    return false;
}

/* The access by which an einsum reads a tensor that an einsum in `goes` makes, or NULL. */
static const dfl_access *reads_from(const dfl_frame *f, const bool *goes, uint32_t einsum, uint32_t *maker)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];

    for (uint32_t i = 0; i < e->n_inputs; i++) {
        const dfl_tensor *t = &f->workload->tensors[e->inputs[i].tensor];

        for (uint32_t p = 0; p < t->n_producers; p++)
            if (goes[t->producers[p]]) {
                *maker = t->producers[p];
                return &e->inputs[i];
            }
    }
    return NULL;
}

static bool all_readers_in(const dfl_frame *f, const bool *set, const bool *more, uint32_t tensor)
{
    const dfl_tensor *t = &f->workload->tensors[tensor];

    for (uint32_t c = 0; c < t->n_consumers; c++)
        if (!set[t->consumers[c]] && !more[t->consumers[c]])
            return false;
    return t->n_consumers > 0;
}

/* Adds the einsums between those that go by the rows of a line: all readers of their result go by the rows, something that they
   read was made by the rows, and they have the ranks of the positions. */
static void add_between(dfl_frame *f, const dfl_line *line, bool *goes)
{
    const dfl_workload *w = f->workload;
    bool *before = DFL_NEW_ARRAY(f->arena, bool, w->n_einsums), more = true;
    uint32_t maker;

    while (more) { /* results that only einsums by rows read in the end */
        more = false;
        for (uint32_t e = 0; e < w->n_einsums; e++)
            if (!goes[e] && !before[e] && !dfl_einsum_has_rank(&w->einsums[e], line->rank) && !is_stated(f, line, e) &&
                !w->tensors[w->einsums[e].output.tensor].gathered && all_readers_in(f, goes, before, w->einsums[e].output.tensor))
                more = before[e] = true;
    }
    for (more = true; more;) {
        more = false;
        for (uint32_t e = 0; e < w->n_einsums; e++) {
            const dfl_access *read = before[e] && !goes[e] ? reads_from(f, goes, e, &maker) : NULL;

            if (read == NULL || !has_ranks(&w->einsums[e], f->positions[maker]))
                continue;
            f->positions[e] = f->positions[maker];
            f->gather_of[e] = f->gather_of[maker];
            more = goes[e] = true;
        }
    }
}

/* The einsum of the forward pass whose `gather` an einsum has, or from which it is derived. */
static const dfl_einsum *gather_of(const dfl_workload *w, uint32_t einsum)
{
    const dfl_einsum *e = &w->einsums[einsum];

    if (e->phase == DFL_PHASE_UPDATE)
        return find_gather(w, e->output.tensor);
    return e->phase == DFL_PHASE_BACKWARD && e->of != DFL_NONE ? &w->einsums[e->of] : e;
}

void dfl_rows_find(dfl_frame *f)
{
    const dfl_workload *w = f->workload;
    const dfl_body *root = f->mapping->root;

    f->goes = DFL_NEW_ARRAY(f->arena, const bool *, (size_t)root->n_lines + 1);
    f->positions = DFL_NEW_ARRAY(f->arena, const dfl_access *, (size_t)w->n_einsums + 1);
    f->gather_of = DFL_NEW_ARRAY(f->arena, const dfl_einsum *, (size_t)w->n_einsums + 1);
    for (uint32_t e = 0; w->has_gathered && e < w->n_einsums; e++)
        f->gather_of[e] = gather_of(w, e);
    if (!w->has_gathered)
        return;
    for (uint32_t i = 0; i < root->n_lines; i++) {
        bool *goes, any = false;

        if (root->lines[i].kind != DFL_LINE_SPATIAL || root->lines[i].stages != NULL)
            continue;
        goes = DFL_NEW_ARRAY(f->arena, bool, w->n_einsums);
        for (uint32_t e = 0; e < w->n_einsums; e++) {
            const dfl_access *at = is_named(w, &root->lines[i], e) ? dfl_rows_positions(w, e, root->lines[i].rank) : NULL;

            if (at == NULL)
                continue;
            f->positions[e] = at;
            any = goes[e] = true;
        }
        if (!any)
            continue;
        add_between(f, &root->lines[i], goes);
        f->goes[i] = goes;
    }
}

const dfl_line *dfl_rows_replaced(const dfl_frame *f, const dfl_line *line, uint32_t einsum)
{
    const dfl_body *root = f->mapping->root;
    const dfl_workload *w = f->workload;
    const dfl_einsum *e = &w->einsums[einsum];

    for (uint32_t i = 0; i < root->n_lines; i++) {
        const dfl_line *other = &root->lines[i];

        if (other->kind == DFL_LINE_SPATIAL && other->only == NULL && other->axis == line->axis && other->stages == NULL &&
            other->by != DFL_BY_HOLE && line->by != DFL_BY_HOLE && dfl_einsum_has_rank(e, other->rank) &&
            !other->cyclic && dfl_frame_parts(f, other) == dfl_frame_parts(f, line))
            return other;
    }
    return NULL;
}

/* ---- how many points ---- */

bool dfl_rows_has_position(const dfl_frame *f, uint32_t einsum, uint32_t rank)
{
    const dfl_access *p = f->positions[einsum];

    for (uint32_t d = 0; p != NULL && d < p->n_dims; d++)
        if (dfl_index_coef(&p->index[d], rank) != 0)
            return true;
    return false;
}

/* The product of the extents in one pass of the ranks of the positions of an einsum that an access lacks (NULL: of all). */
static int64_t count_positions(const dfl_frame *f, uint32_t einsum, const dfl_access *lacks)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];
    int64_t n = 1;

    for (uint32_t i = 0; i < e->n_ranks; i++) {
        bool has = false;

        for (uint32_t d = 0; lacks != NULL && d < lacks->n_dims; d++)
            has |= dfl_index_coef(&lacks->index[d], e->ranks[i]) != 0;
        if (dfl_rows_has_position(f, einsum, e->ranks[i]) && !has &&
            __builtin_mul_overflow(n, dfl_frame_pass(f, einsum, e->ranks[i]), &n))
            return INT64_MAX;
    }
    return n;
}

int64_t dfl_rows_uses(const dfl_frame *f, uint32_t einsum, const dfl_access *access)
{
    return count_positions(f, einsum, access);
}

bool dfl_rows_varies(const dfl_frame *f, uint32_t einsum, const dfl_access *access)
{
    const dfl_access *p = f->positions[einsum];

    for (uint32_t d = 0; d < p->n_dims; d++)
        for (uint32_t t = 0; t < p->index[d].n_terms; t++)
            for (uint32_t a = 0; a < access->n_dims; a++)
                if (dfl_index_coef(&access->index[a], p->index[d].terms[t].rank) != 0)
                    return true;
    return false;
}

/* The rows of the largest part that the slots before one leave of its rank: they nest in their order. */
static int64_t rows_before(const dfl_frame *f, uint32_t einsum, uint32_t slot)
{
    const uint32_t rank = dfl_frame_line(f, einsum, slot)->rank;
    int64_t n = f->workload->ranks[rank].extent;

    for (uint32_t s = 0; s < slot; s++)
        if (dfl_frame_goes(f, einsum, s) && dfl_frame_line(f, einsum, s)->rank == rank)
            n = dfl_ceil_div(n, f->slots[s].count);
    return n;
}

/* Reports parts of a table of which some have no row: of all rows, or of those that the lines before leave in a part. */
static bool check_parts(const dfl_frame *f, uint32_t einsum, uint32_t slot)
{
    const dfl_line *line = dfl_frame_line(f, einsum, slot);
    const dfl_rank *rank = &f->workload->ranks[line->rank];
    const int64_t rows = rows_before(f, einsum, slot), parts = f->slots[slot].count;
    const int64_t used = dfl_ceil_div(rows, dfl_ceil_div(rows, parts));
    int64_t fits = parts;
    dfl_diag *d;

    if (used == parts)
        return true;
    while (fits > 1 && dfl_ceil_div(rows, dfl_ceil_div(rows, fits)) != fits)
        fits--;
    d = dfl_report(f->sink, DFL_MAP_ROWS_UNMATCHED, line->amount_span,
                   rows < rank->extent ? "%lld rows of a part in %lld parts leave %lld instances of `%s` without a row"
                                       : "%lld rows in %lld parts leave %lld instances of `%s` without a row",
                   (long long)rows, (long long)parts, (long long)(parts - used),
                   dfl_sym_text(f->names, f->system->axes[line->axis].name));
    dfl_diag_label(f->sink, d, rank->span, "`%s` has %lld rows", dfl_sym_text(f->names, rank->name), (long long)rank->extent);
    dfl_diag_help(f->sink, d, "divide `%s` into %lld parts of %lld rows or less", dfl_sym_text(f->names, rank->name),
                  (long long)fits, (long long)dfl_ceil_div(rows, fits));
    return false;
}

/* Refuses a line that divides a rank behind one that rows replace: the block of a chip would depend on the place that its points
   left. False after a report. */
static bool check_nesting(const dfl_frame *f, uint32_t einsum)
{
    for (uint32_t s = 0; s < f->n_slots; s++)
        for (uint32_t behind = s + 1; behind < f->n_slots && dfl_frame_goes(f, einsum, s); behind++) {
            const dfl_line *replaced = dfl_rows_replaced(f, dfl_frame_line(f, einsum, s), einsum);
            const dfl_line *line = dfl_frame_line(f, einsum, behind);

            if (replaced != NULL && line != NULL && line->rank == replaced->rank && f->slots[s].count > 1 &&
                f->slots[behind].count > 1)
                return dfl_frame_refuse(f, line->span, "a second line over a rank, the first of which points that go to rows "
                                        "replace,", "write the line that stays above the one that the rows replace");
        }
    return true;
}

/* Refuses a stated load below the share of the rows that the largest part has. False after a report. */
static bool check_load(const dfl_frame *f, uint32_t einsum, double uneven)
{
    const double load = f->gather_of[einsum]->load;
    dfl_diag *d;

    if (load == 0 || load >= uneven * (1 - 1e-9))
        return true;
    d = dfl_report(f->sink, DFL_EVAL_UNSUPPORTED, f->workload->einsums[einsum].span, "a load of %g is less than the rows of the "
                   "largest part allow: it has %g times the mean number of rows", load, uneven);
    dfl_diag_help(f->sink, d, "state a load of %g or more, leave it out, or divide the rows into parts of one size", uneven);
    return false;
}

bool dfl_rows_set_points(dfl_frame *f, uint32_t einsum)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];
    dfl_points *out = &f->points[einsum];
    double uneven = 1, load;
    int64_t rows;

    *out = (dfl_points){ .parts = 1, .total = 1, .largest = 1 };
    for (uint32_t s = 0; s < f->n_slots; s++)
        if (dfl_frame_goes(f, einsum, s)) {
            if (!check_parts(f, einsum, s))
                return false;
            rows = rows_before(f, einsum, s);
            if (__builtin_mul_overflow(out->parts, f->slots[s].count, &out->parts))
                return false; /* reported: the parts exceed the axis */
            uneven *= (double)(dfl_ceil_div(rows, f->slots[s].count) * f->slots[s].count) / (double)rows;
        }
    if (out->parts == 1)
        return true;
    if (!check_nesting(f, einsum) || !check_load(f, einsum, uneven))
        return false;
    out->total = count_positions(f, einsum, NULL);
    if (e->n_where > 0)
        return dfl_frame_refuse(f, e->span, "a `where` of an einsum whose points go to the rows of a divided table",
                                "divide another rank of this einsum");
    load = f->gather_of[einsum]->load;
    if (load == 0 && !f->gather_of[einsum]->is_mac)
        load = uneven; /* rows of embeddings are read evenly, and the largest part has most of them */
    for (uint32_t k = 0; k < einsum; k++) /* the expected maximum takes a millisecond */
        if (f->points[k].parts == out->parts && f->points[k].total == out->total && f->points[k].load == load &&
            f->points[k].uneven == uneven) {
            *out = f->points[k];
            return true;
        }
    out->load = load;
    out->uneven = uneven;
    out->largest = dfl_largest_part(out->total, out->parts, load, uneven);
    return true;
}

bool dfl_rows_are_uneven(const dfl_frame *f, uint32_t einsum)
{
    return (dfl_i128)f->points[einsum].largest * f->points[einsum].parts != f->points[einsum].total;
}

uint32_t dfl_rows_leading(const dfl_frame *f, uint32_t einsum, const dfl_access *access)
{
    const dfl_workload *w = f->workload;
    const dfl_einsum *e = &w->einsums[einsum], *gather;
    const dfl_access *at;

    if (!w->tensors[access->tensor].gathered)
        return 0;
    at = dfl_rows_gathered_at(e, access->tensor);
    if (at == NULL && e->body->kind == DFL_EOP_SCATTER)
        return e->inputs[e->body->args[1]->operand].n_dims;
    gather = at == NULL ? find_gather(w, e->output.tensor) : NULL; /* the update of rows */
    at = gather != NULL ? dfl_rows_gathered_at(gather, e->output.tensor) : at;
    return at != NULL ? at->n_dims : 0;
}

bool dfl_rows_is_position(const dfl_frame *f, uint32_t einsum, const dfl_access *access, uint32_t dim, uint32_t leading)
{
    const dfl_access *p = f->positions[einsum];

    if (leading > 0)
        return dim < leading;
    for (uint32_t d = 0; p != NULL && f->points[einsum].parts > 1 && d < p->n_dims; d++)
        for (uint32_t t = 0; t < p->index[d].n_terms; t++)
            if (dfl_index_coef(&access->index[dim], p->index[d].terms[t].rank) != 0)
                return true;
    return false;
}

/* Whether a dimension of a table stands behind the positions in the rows: it is a part of a row. */
static bool is_of_row(const dfl_access *rows, uint32_t leading, const dfl_index *of_table)
{
    uint32_t a, b;

    for (uint32_t d = leading; d < rows->n_dims; d++)
        if (dfl_index_is_bare(of_table, &a) && dfl_index_is_bare(&rows->index[d], &b) && a == b)
            return true;
    return false;
}

int64_t dfl_rows_layers(const dfl_frame *f, const dfl_tensor *rows)
{
    int64_t n = 1; /* divides the number of elements of the table */
    uint32_t rank;

    for (uint32_t d = 0; d < rows->n_table_dims; d++)
        if (dfl_index_is_bare(&rows->table_index[d], &rank) && f->repeats[rank])
            n *= rows->table_extents[d];
    return n;
}

dfl_i128 dfl_rows_touched(const dfl_frame *f, uint32_t einsum, const dfl_access *rows, dfl_i128 positions)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];
    const dfl_tensor *t = &f->workload->tensors[rows->tensor];
    const uint32_t leading = dfl_rows_leading(f, einsum, rows);
    const double fresh = 1 - (f->gather_of[einsum] != NULL ? f->gather_of[einsum]->reuse : 0);
    dfl_i128 all = 1;

    if (fresh < 1) /* doubles count rows exactly up to 2^53 */
        positions = (dfl_i128)ceil(dfl_i128_double(positions) * fresh - 1e-9);
    for (uint32_t d = 0; d < t->n_table_dims; d++) {
        uint32_t rank;
        int64_t extent = t->table_extents[d];

        if (is_of_row(rows, leading, &t->table_index[d]))
            continue;
        if (dfl_index_is_bare(&t->table_index[d], &rank)) {
            for (uint32_t s = 0; s < f->n_slots; s++)
                if (dfl_frame_goes(f, einsum, s) && dfl_frame_line(f, einsum, s)->rank == rank)
                    extent = dfl_ceil_div(extent, f->slots[s].count);
            extent = dfl_einsum_has_rank(e, rank) ? dfl_frame_pass(f, einsum, rank) : extent;
        }
        if (dfl_mul(all, extent, &all))
            return positions;
    }
    return positions < all ? positions : all;
}
