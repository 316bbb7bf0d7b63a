/*
 * What each chip reads and makes, as sets of elements over a whole step, and what of it the chip lacks at home. Where the sets of
 * two chips of a group differ, the group divides the tensor; where they are equal although the chips compute different points,
 * the group makes parts of a sum.
 */
#include <string.h>

#include "oracle/chips/chips_internal.h"
#include "oracle/chips/windows.h"

/* ---- sets of chips ---- */

/* Marks the elements of an access at the present point; all rows for what data selects. */
static void mark_point(chips *c, uint32_t einsum, uint32_t chip, const dfl_access *a, bool carried, element_set out)
{
    const uint32_t holder = dfl_chips_holder(c, a->tensor);
    uint32_t tensor, n_dims;
    int64_t rows = 1, element;

    if (c->w->tensors[a->tensor].gathered) { /* the position of a row takes all its values */
        const int64_t *shape = dfl_chips_shape(c, holder, &n_dims);

        for (uint32_t d = 0; d < n_dims; d++)
            rows = shape[d] > rows ? shape[d] : rows;
        for (int64_t row = 0; row < rows; row++) {
            if (c->einsums[einsum].rows_group != DFL_NONE && !dfl_chips_has_row(c, einsum, chip, row))
                continue;
            element = dfl_chips_element(c, einsum, a, row, false, &tensor);
            if (element >= 0)
                out[element] = 1;
        }
        return;
    }
    element = dfl_chips_element(c, einsum, a, -1, carried, &tensor);
    if (element >= 0)
        out[element] = 1;
}

/* The chip with the same block that comes first, itself if there is none before it. */
static uint32_t first_equal(const chips *c, uint32_t einsum, uint32_t chip)
{
    const chip_einsum *e = &c->einsums[einsum];
    const size_t n = c->w->n_ranks;

    for (uint32_t other = 0; other < chip; other++)
        if ((e->rows_group == DFL_NONE || chips_digit(c, other, e->rows_group) == chips_digit(c, chip, e->rows_group)) &&
            memcmp(&e->lo[other * n], &e->lo[chip * n], n * sizeof *e->lo) == 0 &&
            memcmp(&e->hi[other * n], &e->hi[chip * n], n * sizeof *e->hi) == 0)
            return other;
    return chip;
}

/* Marks what the present point touches. A chip has its part of a table even if no point of it goes there. */
static void mark_accesses(chips *c, uint32_t einsum, uint32_t chip)
{
    chip_einsum *e = &c->einsums[einsum];
    const bool takes = dfl_chips_takes(c, einsum, chip);

    if (takes || c->w->tensors[e->einsum->output.tensor].gathered)
        mark_point(c, einsum, chip, &e->einsum->output, false, e->made.of_chip[chip]);
    for (uint32_t i = 0; i < e->einsum->n_inputs; i++) {
        const dfl_access *a = &e->einsum->inputs[i];
        const bool carried = dfl_chips_is_carried(c, einsum, a);

        if (takes || c->w->tensors[a->tensor].gathered)
            mark_point(c, einsum, chip, a, carried, e->reads[i * N_READINGS + carried].of_chip[chip]);
    }
}

/* Finds the sets of all accesses of an einsum on all chips. */
static bool find_readings(chips *c, uint32_t einsum)
{
    chip_einsum *e = &c->einsums[einsum];
    const uint32_t n = e->einsum->n_inputs;

    e->reads = DFL_NEW_ARRAY(c->arena, chip_reading, (size_t)n * N_READINGS + 1);
    e->made.tensor = e->target;
    e->made.of_chip = DFL_NEW_ARRAY(c->arena, element_set, (size_t)c->n_chips);
    for (uint32_t i = 0; i < n; i++) {
        const dfl_access *a = &e->einsum->inputs[i];
        const uint32_t carry = dfl_chips_carried(c, einsum, a->tensor);

        e->reads[i * N_READINGS].tensor = dfl_chips_holder(c, a->tensor);
        e->reads[i * N_READINGS].by_rows = c->w->tensors[a->tensor].gathered && e->einsum->phase != DFL_PHASE_UPDATE;
        e->reads[i * N_READINGS + READING_CARRIED].tensor = carry != DFL_NONE ? c->w->carries[carry].to : DFL_NONE;
        for (uint32_t k = 0; k < N_READINGS; k++)
            e->reads[i * N_READINGS + k].of_chip = DFL_NEW_ARRAY(c->arena, element_set, (size_t)c->n_chips);
    }
    for (uint32_t chip = 0; chip < c->n_chips; chip++) {
        const uint32_t same = first_equal(c, einsum, chip);
        const int64_t *lo = &e->lo[(size_t)chip * c->w->n_ranks], *hi = &e->hi[(size_t)chip * c->w->n_ranks];

        for (uint32_t i = 0; i <= n * N_READINGS; i++) {
            chip_reading *r = i < n * N_READINGS ? &e->reads[i] : &e->made;

            r->of_chip[chip] = r->tensor == DFL_NONE ? NULL : same < chip ? r->of_chip[same]
                               : DFL_NEW_ARRAY(c->arena, uint8_t, (size_t)c->tensors[r->tensor].n_elem + 1);
        }
        for (bool more = same == chip && dfl_chips_first(c, einsum, lo, hi, -1); more;
             more = dfl_chips_next(c, einsum, lo, hi, e->step, -1))
            mark_accesses(c, einsum, chip); /* lines divide a tensor, whichever points conditions leave out */
        if (c->failed || !dfl_budget_ok(dfl_arena_budget(c->arena)))
            return false;
    }
    return true;
}

/* ---- what chips lack ---- */

/* Whether a group divides a dimension of a home that another group divides there or in a reading. */
static bool share_dimension(const chips *c, const chip_reading *r, uint32_t group, uint32_t other)
{
    uint32_t n_dims;

    (void)dfl_chips_shape(c, r->tensor, &n_dims);
    for (uint32_t d = 0; d < n_dims; d++)
        if (dfl_chips_divides_dimension(c, r->tensor, d, group) &&
            (dfl_chips_divides_dimension(c, r->tensor, d, other) || dfl_chips_divides_in(c, r->tensor, r->of_chip, d, other)))
            return true;
    return false;
}

/* Sets the groups along which chips lack what a reading touches. */
static void find_lacking(chips *c, dfl_span span, uint32_t einsum, chip_reading *r)
{
    const chip_tensor *t = &c->tensors[r->tensor];

    r->seen = DFL_NEW_ARRAY(c->arena, uint32_t, (size_t)t->n_elem + 1);
    for (uint32_t g = 0; g < c->n_groups; g++) {
        bool lacks = false;

        if (!dfl_chips_is_work(c, g) || t->side[g] == NULL)
            continue;
        for (uint32_t chip = 0; chip < c->n_chips && !lacks; chip++)
            for (uint32_t i = 0; i < t->n_elem && !lacks; i++)
                lacks = r->of_chip[chip][i] > t->side[g][chip][i];
        if (lacks && (t->by_rows >> g & 1) != 0 && dfl_chips_varies(c, r->tensor, r->of_chip, g)) {
            dfl_chips_refuse(c, span, "an exchange from rows that data select to parts");
            return;
        }
        if (lacks && dfl_chips_window(c, einsum, r->tensor, g) != DFL_NONE) {
            if (!dfl_chips_divides_dimension(c, r->tensor, dfl_chips_window(c, einsum, r->tensor, g), g)) {
                dfl_chips_refuse(c, span, "an exchange of neighbouring elements behind an all-to-all");
                return;
            }
            r->halo |= UINT64_C(1) << g;
        } else if (lacks && dfl_chips_overlaps(c, r->tensor, r->of_chip, g)) {
            dfl_chips_refuse(c, span, "an exchange of overlapping parts");
            return;
        } else if (lacks)
            *(dfl_chips_varies(c, r->tensor, r->of_chip, g) ? &r->other : &r->all) |= UINT64_C(1) << g;
    }
    for (uint32_t g = 0; g < c->n_groups; g++) {
        bool is_shared = (r->all >> g & 1) == 0;

        for (uint32_t other = 0; other < c->n_groups && !is_shared; other++)
            is_shared = (r->other >> other & 1) != 0 && share_dimension(c, r, g, other);
        r->alone |= is_shared ? 0 : UINT64_C(1) << g;
    }
}

/* Sets the groups that divide a dimension at home of which a pass reads one element. A carried tensor may have the iteration
   before its dimensions. */
static void find_single(const chips *c, uint32_t einsum, uint32_t reading)
{
    const dfl_access *a = &c->w->einsums[einsum].inputs[reading / N_READINGS];
    chip_reading *r = &c->einsums[einsum].reads[reading];
    uint32_t n_dims;

    (void)dfl_chips_shape(c, r->tensor, &n_dims);
    for (uint32_t d = 0; d < a->n_dims && !r->by_rows && c->w->einsums[einsum].phase != DFL_PHASE_UPDATE; d++)
        for (uint32_t g = 0; g < c->n_groups && dfl_chips_is_one_value(c, &a->index[d]); g++)
            if (dfl_chips_divides_dimension(c, r->tensor, d + n_dims - a->n_dims, g))
                r->one |= r->all & UINT64_C(1) << g;
}

/* Refuses operands that go to the rows of an einsum from parts at home. The positions move nothing. */
static void check_points(chips *c, uint32_t einsum, uint32_t reading)
{
    const chip_einsum *e = &c->einsums[einsum];
    const chip_reading *r = &e->reads[reading];

    if (e->rows_group != DFL_NONE && !r->by_rows && reading / N_READINGS != e->rows_at && (r->other | r->all) != 0)
        dfl_chips_refuse(c, e->einsum->span, "an exchange of points that go to rows");
}

/* Joins the groups of neighbours of accesses that differ by offsets alone: what is gathered for all of them stands first. */
static void join_halos(chips *c, uint32_t einsum)
{
    const chip_einsum *e = &c->einsums[einsum];

    for (uint32_t i = 0; i < e->einsum->n_inputs; i++)
        for (uint32_t k = 0; k < e->einsum->n_inputs; k++)
            for (uint32_t kind = 0; kind < N_READINGS && dfl_chips_is_alike(&e->einsum->inputs[i], &e->einsum->inputs[k]); kind++)
                e->reads[i * N_READINGS + kind].halo |= e->reads[k * N_READINGS + kind].halo;
}

bool dfl_chips_find_sets(chips *c)
{
    for (uint32_t e = 0; e < c->w->n_einsums; e++)
        if (!find_readings(c, e))
            return false;
    dfl_chips_lay_homes(c);
    for (uint32_t e = 0; e < c->w->n_einsums; e++) {
        for (uint32_t i = 0; i < c->w->einsums[e].n_inputs * N_READINGS && !c->failed; i++)
            if (c->einsums[e].reads[i].tensor != DFL_NONE) {
                find_lacking(c, c->w->einsums[e].span, e, &c->einsums[e].reads[i]);
                find_single(c, e, i);
                check_points(c, e, i);
            }
        join_halos(c, e);
        find_lacking(c, c->w->einsums[e].span, e, &c->einsums[e].made);
    }
    return !c->failed;
}
