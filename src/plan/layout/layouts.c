#include "plan/layout/layouts.h"

#include "plan/layout/lines.h"
#include "plan/layout/rows.h"

/* The layout of the table of gathered rows. */
static dfl_layout asked_of_table(const dfl_tensor *rows, uint32_t rank)
{
    for (uint32_t d = 0; d < rows->n_table_dims; d++)
        if (dfl_index_coef(&rows->table_index[d], rank) != 0)
            return dfl_rows_dimension(rows, rank) >= 0 ? dfl_rows_dimension(rows, rank) : DFL_LAYOUT_WINDOW;
    return DFL_LAYOUT_REPLICATED;
}

/* The first dimension whose index has a rank; replicated if there is none. */
static dfl_layout dimension_with(const dfl_access *access, uint32_t rank)
{
    for (uint32_t d = 0; d < access->n_dims; d++)
        if (dfl_index_coef(&access->index[d], rank) != 0)
            return (dfl_layout)d;
    return DFL_LAYOUT_REPLICATED;
}

/* The layout along one rank: split, with neighbouring elements if the index has more than the rank (plan/layout/halos.h); in a
   window, if the index moves by more than `most`, or backwards; or whole. */
static dfl_layout asked_along(const dfl_access *access, uint32_t along, int64_t most)
{
    const dfl_layout d = dimension_with(access, along);
    const int64_t step = d >= 0 ? dfl_index_coef(&access->index[d], along) : 1;

    return step > 0 && step <= most ? d : DFL_LAYOUT_WINDOW;
}

dfl_layout dfl_layout_asked(const dfl_frame *f, uint32_t einsum, const dfl_access *access, uint32_t slot)
{
    const dfl_line *line = dfl_frame_line(f, einsum, slot);
    const dfl_tensor *t = &f->workload->tensors[access->tensor];

    if (line == NULL)
        return DFL_LAYOUT_REPLICATED;
    if (t->gathered)
        return asked_of_table(t, line->rank);
    if (dfl_frame_goes(f, einsum, slot))
        return dfl_rows_varies(f, einsum, access) ? DFL_LAYOUT_ROWS : DFL_LAYOUT_REPLICATED;
    return asked_along(access, line->rank, INT64_MAX);
}

/* Whether gathers or scatters read or write rows of a tensor. */
static bool has_rows(const dfl_workload *w, uint32_t tensor)
{
    for (uint32_t t = 0; t < w->n_tensors && w->has_gathered; t++)
        if (w->tensors[t].table == tensor)
            return true;
    return false;
}

dfl_layout dfl_layout_dimension(const dfl_frame *f, uint32_t tensor, uint32_t rank)
{
    const dfl_workload *w = f->workload;
    const bool is_table = has_rows(w, tensor);

    for (uint32_t e = 0; e < w->n_einsums; e++)
        for (uint32_t i = 0; i <= w->einsums[e].n_inputs; i++) {
            const dfl_access *a = i < w->einsums[e].n_inputs ? &w->einsums[e].inputs[i] : &w->einsums[e].output;
            dfl_layout dim = DFL_LAYOUT_REPLICATED;
            bool is_of_rows;

            if (a->tensor != tensor && !is_table)
                continue;
            is_of_rows = w->tensors[a->tensor].gathered;
            if ((is_of_rows ? dfl_frame_table(f, a->tensor) : a->tensor) != tensor)
                continue;
            dim = is_of_rows ? dfl_rows_dimension(&w->tensors[a->tensor], rank) : dimension_with(a, rank);
            if (dim >= 0)
                return dim;
        }
    return DFL_LAYOUT_REPLICATED;
}

bool dfl_layout_same_rows(const dfl_frame *f, uint32_t tensor, uint32_t einsum)
{
    const dfl_tensor *t = &f->workload->tensors[tensor];
    const dfl_access *here = f->positions[einsum];
    const dfl_access *there = t->n_producers > 0 ? f->positions[t->producers[0]] : NULL;

    return here != NULL && there != NULL && here->tensor == there->tensor;
}

bool dfl_layout_is_by_rows(const dfl_frame *f, const dfl_layouts *l, uint32_t tensor)
{
    for (uint32_t s = 0; s < f->n_slots; s++)
        if (dfl_layout_home(l, tensor, s) == DFL_LAYOUT_ROWS)
            return true;
    return false;
}

/* The layout in which an einsum leaves a result whose points go to the rows of a table: where the rows are, or sums of what each
   instance has of the points of an element. */
static dfl_layout made_by_rows(const dfl_frame *f, uint32_t einsum)
{
    const dfl_access *output = &f->workload->einsums[einsum].output;

    return dfl_rows_uses(f, einsum, output) > 1 || !dfl_rows_varies(f, einsum, output) ? DFL_LAYOUT_PARTIAL : DFL_LAYOUT_ROWS;
}

dfl_layout dfl_layout_made(const dfl_frame *f, uint32_t einsum, uint32_t slot)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];
    const dfl_tensor *result = &f->workload->tensors[e->output.tensor];
    dfl_layout made;

    if (dfl_frame_line(f, einsum, slot) == NULL)
        return DFL_LAYOUT_REPLICATED;
    if (dfl_frame_goes(f, einsum, slot) && !result->gathered)
        return made_by_rows(f, einsum);
    made = dfl_layout_asked(f, einsum, &e->output, slot);
    if (result->gathered && e->phase == DFL_PHASE_UPDATE)
        return made; /* rows of what lies at home already */
    return made == DFL_LAYOUT_REPLICATED ? DFL_LAYOUT_PARTIAL : made;
}

bool dfl_layout_is_summed_late(const dfl_frame *f, const dfl_layouts *l, uint32_t tensor, uint32_t slot)
{
    const dfl_tensor *t = &f->workload->tensors[tensor];
    const size_t at = (size_t)tensor * l->columns + slot;

    return t->part == DFL_PART_GRADIENT && f->workload->tensors[t->of].role == DFL_ROLE_WEIGHT && l->is_summed[at] &&
           !l->is_split[at];
}

uint32_t dfl_layout_carried(const dfl_frame *f, uint32_t einsum, uint32_t tensor)
{
    const dfl_workload *w = f->workload;

    for (uint32_t c = 0; c < w->n_carries; c++)
        if (w->carries[c].from == tensor && dfl_einsum_has_rank(&w->einsums[einsum], w->carries[c].rank))
            return w->carries[c].to;
    return DFL_NONE;
}

dfl_layout dfl_layout_lead(const dfl_frame *f, uint32_t to, uint32_t from)
{
    return (dfl_layout)f->workload->tensors[to].n_dims - (dfl_layout)f->workload->tensors[from].n_dims;
}

/* Whether an einsum makes the tensor in its home: the steps of the optimizer write weights that lie elsewhere already. */
static bool makes_home(const dfl_frame *f, const dfl_tensor *t, uint32_t einsum)
{
    return f->workload->einsums[einsum].phase != DFL_PHASE_UPDATE || t->role == DFL_ROLE_INTERMEDIATE ||
           t->role == DFL_ROLE_OUTPUT;
}

/* The first access that reads a tensor. */
typedef struct {
    uint32_t einsum;           /* DFL_NONE = nothing reads the tensor */
    const dfl_access *access;
    bool is_carried;           /* it reads the tensor as the one that the repeat carries from the iteration before */
} first_reader;

static first_reader find_reader(const dfl_frame *f, uint32_t tensor)
{
    const dfl_workload *w = f->workload;

    for (uint32_t e = 0; e < w->n_einsums; e++)
        for (uint32_t i = 0; i < w->einsums[e].n_inputs; i++) {
            const dfl_access *a = &w->einsums[e].inputs[i];

            if (a->tensor == tensor || (w->tensors[a->tensor].gathered && dfl_frame_table(f, a->tensor) == tensor))
                return (first_reader){ e, a, false };
            if (dfl_layout_carried(f, e, a->tensor) == tensor)
                return (first_reader){ e, a, true };
        }
    return (first_reader){ .einsum = DFL_NONE };
}

/* The layout that the first reader of a tensor asks for on a slot; replicated if nothing reads it. */
static dfl_layout first_asked(const dfl_frame *f, const first_reader *reader, uint32_t tensor, uint32_t slot)
{
    dfl_layout asked;

    if (reader->einsum == DFL_NONE)
        return DFL_LAYOUT_REPLICATED;
    asked = dfl_layout_asked(f, reader->einsum, reader->access, slot);
    if (asked == DFL_LAYOUT_ROWS) { /* in front of the way to the rows */
        const dfl_line *line = dfl_rows_replaced(f, dfl_frame_line(f, reader->einsum, slot), reader->einsum);
        asked = line != NULL ? asked_along(reader->access, line->rank, INT64_MAX) : DFL_LAYOUT_REPLICATED;
    }
    if (asked < 0)
        return DFL_LAYOUT_REPLICATED;
    /* a carried tensor has the iterations as its first dimension */
    return reader->is_carried ? asked + dfl_layout_lead(f, tensor, reader->access->tensor) : asked;
}

/* The slot of a part of a split home: one on its axis with as many parts on which the layout splits nothing, else the first
   on which no other part of the split lies (`taken`). */
static uint32_t split_slot(const dfl_frame *f, const dfl_layouts *l, uint32_t tensor, const dfl_home_split *split, uint64_t taken)
{
    uint32_t first = DFL_NONE;

    for (uint32_t s = 0; s < f->n_slots; s++) {
        if (f->slots[s].axis != split->axis || f->slots[s].count != dfl_split_parts(f, split) || f->slots[s].stages != NULL ||
            f->slots[s].is_cyclic || taken >> s & 1)
            continue;
        if (dfl_layout_home(l, tensor, s) == DFL_LAYOUT_REPLICATED)
            return s;
        first = first == DFL_NONE ? s : first;
    }
    return first;
}

/* Splits the homes that `keep T in M split r/K on axis` names. */
static void split_homes(const dfl_frame *f, dfl_layouts *l)
{
    const dfl_body *root = f->mapping->root;

    for (uint32_t i = 0; i < root->n_lines; i++) {
        const dfl_line *line = &root->lines[i];
        uint64_t taken = 0;

        for (uint32_t k = 0; k < line->n_splits; k++) {
            dfl_layout dim = dfl_layout_dimension(f, line->tensor, line->splits[k].rank);
            uint32_t slot = split_slot(f, l, line->tensor, &line->splits[k], taken);

            if (dim < 0 || slot == DFL_NONE)
                continue; /* a tensor without the rank is replicated */
            taken |= UINT64_C(1) << slot;
            l->home[(size_t)line->tensor * l->columns + slot] = dim;
            l->is_split[(size_t)line->tensor * l->columns + slot] = true;
        }
    }
}

/* Lays a tensor that a repeat carries into its first iteration as the one that each iteration makes for the next one: all
   iterations read it alike. False after a report: a keep states another layout, which the first iteration alone would read. */
static bool lay_carried(const dfl_frame *f, dfl_layouts *l)
{
    const dfl_workload *w = f->workload;

    for (uint32_t c = 0; c < w->n_carries; c++) {
        const dfl_carry *carry = &w->carries[c];
        bool is_made_by_repeat = false;

        for (uint32_t k = 0; k < w->n_carries; k++)
            is_made_by_repeat |= w->carries[k].to == carry->from;
        for (uint32_t s = 0; s < f->n_slots && !is_made_by_repeat; s++) {
            const size_t at = (size_t)carry->from * l->columns + s;
            const dfl_layout to = dfl_layout_home(l, carry->to, s);

            if (f->slots[s].stages == NULL && l->is_split[at] && l->home[at] != (to < 0 ? to : to - 1))
                return dfl_frame_refuse(f, f->workload->tensors[carry->from].span, "a home of a carried tensor that is split "
                                        "otherwise than what each iteration makes", "leave out the split");
            if (f->slots[s].stages == NULL && !l->is_split[at])
                l->home[at] = to < 0 ? to : to - 1; /* the iterations are the first dimension of what they make */
        }
    }
    return true;
}

/* Refuses homes by rows that nothing counts: data say which chip has an element for the next iteration of a repeat, and how many
   of all micro-batches together. False after a report. */
static bool check_rows(const dfl_frame *f, const dfl_layouts *l)
{
    const dfl_workload *w = f->workload;

    for (uint32_t c = 0; c < w->n_carries; c++)
        if (dfl_layout_is_by_rows(f, l, w->carries[c].to))
            return dfl_frame_refuse(f, w->tensors[w->carries[c].to].span, "a tensor by rows that a `repeat` carries",
                                    "carry the result of an einsum that no line over rows divides");
    for (uint32_t t = 0; t < w->n_tensors && f->micro_batches > 1; t++)
        if (w->tensors[t].part == DFL_PART_GRADIENT && w->tensors[w->tensors[t].of].role == DFL_ROLE_WEIGHT &&
            dfl_layout_is_by_rows(f, l, t))
            return dfl_frame_refuse(f, w->tensors[w->tensors[t].of].span, "the gradient of a weight by rows with micro-batches",
                                    "use the weight in an einsum that no line over rows divides, or one micro-batch");
    return true;
}

/* Sets the layouts of the home of a tensor on all slots; `makers` = einsums that make it there. False after a report. */
static bool find_home(const dfl_frame *f, uint32_t tensor, const uint32_t *makers, uint32_t n_makers, dfl_layouts *out)
{
    const first_reader reader = find_reader(f, tensor);

    for (uint32_t s = 0; s < f->n_slots; s++) {
        dfl_layout *home = &out->home[(size_t)tensor * f->columns + s];
        bool *is_summed = &out->is_summed[(size_t)tensor * f->columns + s];

        for (uint32_t i = 0; i < n_makers; i++) {
            const dfl_layout made = dfl_layout_made(f, makers[i], s);

            if (made == DFL_LAYOUT_WINDOW)
                return dfl_frame_refuse(f, f->workload->einsums[makers[i]].span, "a divided rank in a sum of ranks of a result",
                                        "divide another rank");
            *is_summed |= made == DFL_LAYOUT_PARTIAL;
            *home = i > 0 ? *home : made;
        }
        if (n_makers == 0 || *is_summed)
            *home = first_asked(f, &reader, tensor, s);
    }
    return true;
}

bool dfl_layouts_find(const dfl_frame *f, dfl_layouts *out)
{
    const dfl_workload *w = f->workload;
    uint32_t *target = DFL_NEW_ARRAY(f->arena, uint32_t, (size_t)w->n_einsums + 1);
    uint32_t *makers = DFL_NEW_ARRAY(f->arena, uint32_t, (size_t)w->n_einsums + 1);

    for (uint32_t e = 0; e < w->n_einsums; e++)
        target[e] = dfl_frame_target(f, e);
    out->columns = f->columns;
    out->home = DFL_NEW_ARRAY(f->arena, dfl_layout, (size_t)w->n_tensors * f->columns);
    out->is_split = DFL_NEW_ARRAY(f->arena, bool, (size_t)w->n_tensors * f->columns);
    out->is_summed = DFL_NEW_ARRAY(f->arena, bool, (size_t)w->n_tensors * f->columns);
    for (uint32_t t = 0; t < w->n_tensors; t++) {
        uint32_t n = 0;

        for (uint32_t e = 0; e < w->n_einsums; e++)
            if (target[e] == t && makes_home(f, &w->tensors[t], e))
                makers[n++] = e;
        if (!find_home(f, t, makers, n, out))
            return false;
    }
    split_homes(f, out);
    return lay_carried(f, out) && check_rows(f, out);
}
