/*
 * What each chip reads and makes, as sets of elements over a whole step, and what of it the chip lacks at home. Where the sets of
 * two chips of a group differ, the group divides the tensor; where they are equal although the chips compute different points,
 * the group makes parts of a sum.
 */
#include <string.h>

#include "ir/conditions.h"
#include "oracle/chips/rows.h"
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
            if (!dfl_chips_has_row(c, einsum, chip, a->tensor, row))
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

/* The chip with the same points that comes first, itself if there is none before it. */
static uint32_t first_equal(const chips *c, uint32_t einsum, uint32_t chip)
{
    for (uint32_t other = 0; other < chip; other++)
        if (dfl_chips_takes_alike(c, einsum, other, chip))
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

/* Marks what all points of a chip touch: lines divide a tensor, whichever points conditions leave out. Notes whether these leave
   out elements of the result. */
static void mark_blocks(chips *c, uint32_t einsum, uint32_t chip)
{
    chip_einsum *e = &c->einsums[einsum];
    const uint32_t n_elem = c->tensors[e->target].n_elem;
    element_set made = e->einsum->n_where > 0 ? DFL_NEW_ARRAY(c->arena, uint8_t, (size_t)n_elem + 1) : NULL;

    for (uint32_t block = dfl_chips_next_block(c, einsum, chip, DFL_NONE); block != DFL_NONE;
         block = dfl_chips_next_block(c, einsum, chip, block)) {
        const int64_t *lo = &e->lo[(size_t)block * c->w->n_ranks], *hi = &e->hi[(size_t)block * c->w->n_ranks];

        for (bool more = dfl_chips_first(c, einsum, lo, hi, -1); more; more = dfl_chips_next(c, einsum, lo, hi, e->step, -1)) {
            mark_accesses(c, einsum, chip);
            if (made != NULL && dfl_chips_has_point(c, einsum))
                mark_point(c, einsum, chip, &e->einsum->output, false, made);
        }
    }
    for (uint32_t i = 0; i < n_elem && made != NULL; i++)
        e->is_thinned |= e->made.of_chip[chip][i] != 0 && made[i] == 0;
    if (e->repeat != DFL_NONE && dfl_conditions_have_rank(e->einsum, e->repeat))
        e->is_thinned = true; /* some iteration may have no points, although all together have each element */
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

        for (uint32_t i = 0; i <= n * N_READINGS; i++) {
            chip_reading *r = i < n * N_READINGS ? &e->reads[i] : &e->made;

            r->of_chip[chip] = r->tensor == DFL_NONE ? NULL : same < chip ? r->of_chip[same]
                               : DFL_NEW_ARRAY(c->arena, uint8_t, (size_t)c->tensors[r->tensor].n_elem + 1);
        }
        if (same == chip)
            mark_blocks(c, einsum, chip);
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

/* Sets the way of an operand along a group where rows divide its einsum or its home. False: neither does. */
static bool find_way_of_rows(const chips *c, uint32_t einsum, const dfl_access *a, chip_reading *r, uint32_t group)
{
    const chip_einsum *e = &c->einsums[einsum];
    const chip_tensor *t = &c->tensors[r->tensor];
    const uint64_t bit = UINT64_C(1) << group;
    const bool is_by_rows = (t->by_rows & bit) != 0;

    if ((e->rows & bit) == 0 && !is_by_rows)
        return false;
    if (a->tensor == (e->rows_at != NULL && (e->rows & bit) != 0 ? e->rows_at->tensor : DFL_NONE))
        return true; /* the positions move nothing */
    if ((e->rows & bit) == 0) {
        *(dfl_chips_asks_for_parts(c, einsum, a, group) ? &r->other : &r->all) |= bit;
    } else if (!dfl_chips_varies_by_rows(c, einsum, a)) {
        r->all |= bit; /* each point reads all of it */
    } else if (!is_by_rows || t->rows_at != e->rows_at->tensor) {
        /* an element that as many points use as there are chips goes to all of them */
        *(dfl_chips_uses(c, einsum, a) >= dfl_chips_instances(c, einsum) ? &r->all : &r->to_rows) |= bit;
    }
    return true;
}

/* Whether a chip lacks what a reading touches, by a group alone. */
static bool lacks_any(const chips *c, const chip_reading *r, uint32_t group)
{
    const chip_tensor *t = &c->tensors[r->tensor];

    for (uint32_t chip = 0; chip < c->n_chips; chip++)
        for (uint32_t i = 0; i < t->n_elem; i++)
            if (r->of_chip[chip][i] > t->side[group][chip][i])
                return true;
    return false;
}

/* Whether a chip lacks, by a group alone, the places of its own points along a dimension with a window: another group before it
   leaves its parts at home other blocks. */
static bool lies_apart(const chips *c, uint32_t einsum, const dfl_access *a, const chip_reading *r, uint32_t group, uint32_t dim)
{
    const chip_einsum *e = &c->einsums[einsum];
    const uint32_t rank = e->divides[group]->rank;
    const chip_tensor *t = &c->tensors[r->tensor];
    uint32_t n_dims;
    int64_t step;

    (void)dfl_chips_shape(c, r->tensor, &n_dims);
    step = dfl_index_coef(&a->index[dim + a->n_dims - n_dims], rank); /* iterations may come first */

    for (uint32_t chip = 0; chip < c->n_chips; chip++) {
        const size_t at = (size_t)chip * c->w->n_ranks + rank;

        for (uint32_t i = 0; i < t->n_elem; i++) {
            const int64_t x = dfl_chips_coordinate(c, r->tensor, i, dim);

            if (x >= step * e->lo[at] && x <= step * (e->hi[at] - 1) && t->side[group][chip][i] == 0)
                return true;
        }
    }
    return false;
}

/* Sets the groups along which chips lack what an access (NULL: the result) touches. */
static void find_lacking(chips *c, uint32_t einsum, const dfl_access *a, chip_reading *r)
{
    const chip_tensor *t = &c->tensors[r->tensor];
    const dfl_span span = c->w->einsums[einsum].span;

    r->seen = DFL_NEW_ARRAY(c->arena, uint32_t, (size_t)t->n_elem + 1);
    for (uint32_t g = 0; g < c->n_groups; g++) {
        if (!dfl_chips_is_work(c, g) || t->side[g] == NULL)
            continue;
        if (a != NULL && !c->w->tensors[a->tensor].gathered && find_way_of_rows(c, einsum, a, r, g))
            continue;
        if (!lacks_any(c, r, g) || (a == NULL && (c->einsums[einsum].rows >> g & 1) != 0))
            continue;
        if (a == NULL && dfl_chips_written_beside(c, einsum, g) != DFL_NONE)
            continue; /* neighbours get what they have at home */
        const uint32_t window = dfl_chips_window(c, einsum, r->tensor, g);
        if (window != DFL_NONE) {
            if (!dfl_chips_divides_dimension(c, r->tensor, window, g) || (a != NULL && lies_apart(c, einsum, a, r, g, window))) {
                dfl_chips_refuse(c, span, "an exchange of neighbouring elements behind an all-to-all");
                return;
            }
            r->halo |= UINT64_C(1) << g;
        } else if (dfl_chips_overlaps(c, r->tensor, r->of_chip, g)) {
            dfl_chips_refuse(c, span, "an exchange of overlapping parts");
            return;
        } else {
            const bool varies = a != NULL && !c->w->tensors[a->tensor].gathered
                                    ? dfl_chips_varies_in(c, einsum, a, r->tensor, r->of_chip, g)
                                    : dfl_chips_varies(c, r->tensor, r->of_chip, g);
            *(varies ? &r->other : &r->all) |= UINT64_C(1) << g;
        }
    }
    for (uint32_t g = 0; g < c->n_groups; g++) {
        bool is_shared = (r->all >> g & 1) == 0;

        for (uint32_t other = 0; other < c->n_groups && !is_shared; other++)
            is_shared = (r->other >> other & 1) != 0 && share_dimension(c, r, g, other);
        r->alone |= is_shared ? 0 : UINT64_C(1) << g;
    }
    r->is_joint = a != NULL && !c->w->tensors[a->tensor].gathered && c->einsums[einsum].rows != 0 && r->all != 0 &&
                  r->to_rows == 0 && dfl_chips_varies_by_rows(c, einsum, a) &&
                  ((t->by_rows & c->einsums[einsum].rows) == 0 || t->rows_at != c->einsums[einsum].rows_at->tensor);
    if (r->to_rows != 0 && r->other != 0)
        dfl_chips_refuse(c, span, "an exchange of points that go to rows beside one of parts");
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
                find_lacking(c, e, &c->w->einsums[e].inputs[i / N_READINGS], &c->einsums[e].reads[i]);
                find_single(c, e, i);
            }
        join_halos(c, e);
        find_lacking(c, e, NULL, &c->einsums[e].made);
    }
    return !c->failed;
}
