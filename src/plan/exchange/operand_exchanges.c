#include "plan/exchange/operand_exchanges.h"

#include <math.h>
#include <string.h>

#include "ir/conditions.h"
#include "plan/exchange/halo_exchanges.h"
#include "plan/layout/elements.h"
#include "plan/layout/halos.h"
#include "plan/layout/largest.h"
#include "plan/layout/lines.h"
#include "plan/layout/masks.h"
#include "plan/layout/rows.h"
#include "plan/layout/shares.h"
#include "support/number.h"

static dfl_i128 ceil_div(dfl_i128 a, int64_t b) { return (a + b - 1) / b; }

/* ---- copies ---- */

/* Whether groups divide the dimension of a slot in one of two layouts, and one of them deals it round-robin. */
static bool is_dealt_in(const dfl_frame *f, const dfl_layout *a, const dfl_layout *b, uint32_t slot)
{
    bool is_dealt = false;

    for (uint32_t s = 0; s < f->n_slots; s++)
        is_dealt |= (a[s] == a[slot] || b[s] == a[slot]) && f->slots[s].is_cyclic;
    return is_dealt;
}

/* The layout in which a tensor lies when an einsum reads it: that of the carried tensor inside of a repeat. */
static dfl_layout source(const dfl_frame *f, const dfl_layouts *l, uint32_t einsum, uint32_t tensor, uint32_t slot)
{
    uint32_t carried = dfl_layout_carried(f, einsum, tensor);
    dfl_layout home;

    if (carried == DFL_NONE)
        return dfl_layout_home(l, tensor, slot);
    home = dfl_layout_home(l, carried, slot);
    return home < 0 ? home : home - dfl_layout_lead(f, carried, tensor);
}

static bool same_layout(const dfl_frame *f, const dfl_layout *a, const dfl_layout *b)
{
    return memcmp(a, b, f->n_slots * sizeof *a) == 0;
}

/* Whether a pass has one value of an index. */
static bool is_one_value(const dfl_frame *f, const dfl_index *index)
{
    for (uint32_t t = 0; t < index->n_terms; t++)
        if (!f->repeats[index->terms[t].rank])
            return false;
    return true;
}

/* Whether chips divide a rank of an index that has more than the rank. */
static bool is_divided_window(const dfl_frame *f, uint32_t einsum, const dfl_index *index)
{
    uint32_t bare;

    for (uint32_t s = 0; s < f->n_slots && !dfl_index_is_bare(index, &bare); s++)
        if (dfl_frame_line(f, einsum, s) != NULL && f->slots[s].count > 1 && f->slots[s].stages == NULL &&
            dfl_index_coef(index, dfl_frame_line(f, einsum, s)->rank) != 0)
            return true;
    return false;
}

/* Whether an einsum needs other elements than those of a copy: conditions leave out others, or its indices have other values.
   Neighbours bring the elements beside the parts of the slots of `beside`. */
static bool needs_others(const dfl_frame *f, const dfl_plan_exchange *x, uint32_t einsum, const dfl_access *access,
                         uint64_t beside)
{
    const dfl_access *a = dfl_halo_own(f, einsum, access, beside), *b = dfl_halo_own(f, x->einsum, x->access, beside);

    if (!dfl_conditions_equal(&f->workload->einsums[x->einsum], &f->workload->einsums[einsum]))
        return true;
    for (uint32_t d = 0; d < access->n_dims; d++) {
        if (dfl_index_equal(&access->index[d], &x->access->index[d]) || dfl_index_equal(&a->index[d], &b->index[d]))
            continue;
        if (x->einsum != einsum && (is_divided_window(f, einsum, &a->index[d]) || is_divided_window(f, x->einsum, &b->index[d])))
            return true;
        if (is_one_value(f, &access->index[d]) || is_one_value(f, &x->access->index[d]) ||
            (x->einsum != einsum && /* the exchange of the first access of an einsum brings what those at other offsets read */
             !dfl_frame_is_same_range(f, &access->index[d], &x->access->index[d],
                                      f->workload->tensors[access->tensor].extents[d])))
            return true;
    }
    return dfl_frame_moves_several(f, access) != dfl_frame_moves_several(f, x->access);
}

/* The exchange that already brings a tensor to a layout in a phase, or NULL. */
static dfl_plan_exchange *find_copy(const dfl_frame *f, dfl_exchange_vec *out, uint32_t einsum, const dfl_access *access,
                                    const dfl_layout *asked, dfl_collective_kind kind, uint64_t beside)
{
    const dfl_phase phase = f->workload->einsums[einsum].phase;

    for (size_t i = 0; i < out->n; i++)
        if (out->at[i].place == DFL_EXCHANGE_BEFORE && !out->at[i].is_halo && out->at[i].tensor == access->tensor &&
            out->at[i].phase == phase && out->at[i].kind == kind && same_layout(f, out->at[i].asked, asked) &&
            !needs_others(f, &out->at[i], einsum, access, beside))
            return &out->at[i];
    return NULL;
}

/* Whether chips or passes have some of the values of an index alone. */
static bool is_cut(const dfl_frame *f, uint32_t einsum, const dfl_index *index)
{
    for (uint32_t t = 0; t < index->n_terms; t++)
        if (dfl_frame_pass(f, einsum, index->terms[t].rank) < f->workload->ranks[index->terms[t].rank].extent)
            return true;
    return false;
}

/* Whether the exchange for an access of an einsum has the elements of `other`, an access at other offsets, too. Halos bring those
   along dimensions that slots of `beside` divide. */
static bool brings(const dfl_frame *f, const dfl_plan_exchange *x, const dfl_access *other, uint64_t beside)
{
    const dfl_einsum *e = &f->workload->einsums[x->einsum];
    const dfl_access *a = dfl_halo_own(f, x->einsum, x->access, beside), *b = dfl_halo_own(f, x->einsum, other, beside);
    const int64_t *extents = f->workload->tensors[x->tensor].extents;
    bool covers = true;
    dfl_i128 all;

    for (uint32_t d = 0; d < other->n_dims; d++)
        covers &= dfl_index_equal(&a->index[d], &b->index[d]) ||
                  (!is_cut(f, x->einsum, &a->index[d]) && dfl_frame_covers_range(f, &a->index[d], &b->index[d], extents[d]));
    if (covers)
        return true;
    for (uint32_t i = 0; i < e->n_inputs; i++)
        if (&e->inputs[i] == x->access)
            return !dfl_frame_elements_of_several(f, x->einsum, i, &all) &&
                   !dfl_mul(all, f->workload->tensors[x->tensor].type.bits, &all) && x->bits >= all;
    return true;
}

static void add_reader(const dfl_frame *f, dfl_plan_exchange *x, uint32_t einsum)
{
    uint32_t *readers = DFL_NEW_ARRAY(f->arena, uint32_t, (size_t)x->n_readers + 1);

    if (x->n_readers > 0)
        memcpy(readers, x->readers, x->n_readers * sizeof *readers);
    readers[x->n_readers++] = einsum;
    x->readers = readers;
}

/* Bits of an access of an einsum in one pass; false after a report. */
static bool find_bits(const dfl_frame *f, uint32_t einsum, const dfl_access *access, dfl_i128 *out)
{
    if (!dfl_mask_elements(f, einsum, access, true, out))
        return false;
    if (!dfl_mul(*out, f->workload->tensors[access->tensor].type.bits, out))
        return true;
    dfl_report(f->sink, DFL_EVAL_OVERFLOW, f->workload->einsums[einsum].span, "a count of this plan exceeds 128 bits");
    return false;
}

/* ---- rows of tables ---- */

/* Whether each instance of a slot gathers from the part of the table that it has. */
static bool takes_own_part(const dfl_frame *f, const dfl_layouts *l, uint32_t einsum, const dfl_access *rows, uint32_t slot)
{
    return dfl_frame_line(f, einsum, slot) != NULL &&
           dfl_layout_asked(f, einsum, rows, slot) == dfl_layout_home(l, dfl_frame_table(f, rows->tensor), slot);
}

/* Whether a table and the rows that an einsum reads are divided on a slot along one dimension, but into parts of other blocks. */
static bool nests_apart(const dfl_frame *f, const dfl_layouts *l, uint32_t einsum, const dfl_access *rows, uint32_t slot)
{
    const int64_t *extents = f->workload->tensors[rows->tensor].table_extents;
    dfl_layout *home = DFL_NEW_ARRAY(f->arena, dfl_layout, f->columns), *asked = DFL_NEW_ARRAY(f->arena, dfl_layout, f->columns);

    for (uint32_t s = 0; s < f->n_slots; s++) {
        home[s] = dfl_layout_home(l, dfl_frame_table(f, rows->tensor), s);
        asked[s] = dfl_layout_asked(f, einsum, rows, s);
    }
    return home[slot] >= 0 && home[slot] == asked[slot] &&
           dfl_layouts_nest_apart(f, home, asked, slot, extents[home[slot]], extents[home[slot]]);
}

/* Whether the part of a result that an instance makes from its part of a table is all that the others lack: the result has the
   divided dimension, or the instance has whole rows; and each instance has the other operands of all points. */
static bool is_made_from_part(const dfl_frame *f, const dfl_layouts *l, uint32_t einsum, const dfl_access *rows, uint32_t slot)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];
    const dfl_tensor *t = &f->workload->tensors[rows->tensor];
    const dfl_layout home = dfl_layout_home(l, dfl_frame_table(f, rows->tensor), slot);
    const dfl_access *positions = dfl_rows_gathered_at(e, rows->tensor);
    bool is_made = true;

    for (uint32_t k = 0; k < t->table_index[home].n_terms; k++)
        is_made &= dfl_access_has_rank(&e->output, t->table_index[home].terms[k].rank) ||
                   !dfl_einsum_has_rank(e, t->table_index[home].terms[k].rank);
    for (uint32_t i = 0; i < e->n_inputs; i++)
        is_made &= &e->inputs[i] == rows || (positions != NULL && e->inputs[i].tensor == positions->tensor) ||
                   dfl_layout_asked(f, einsum, &e->inputs[i], slot) == DFL_LAYOUT_REPLICATED;
    return is_made;
}

/* Adds the exchange that brings the rows that a step of the optimizer reads to chips that each renew all of them, or those of
   their part of the table. */
static bool add_renewed(const dfl_frame *f, uint32_t einsum, const dfl_access *rows, uint64_t slots, dfl_exchange_vec *out)
{
    dfl_plan_exchange x = { .kind = DFL_COLLECTIVE_ALL_GATHER, .place = DFL_EXCHANGE_BEFORE, .tensor = rows->tensor,
                            .einsum = einsum, .phase = DFL_PHASE_UPDATE, .slots = slots, .access = rows };

    x.asked = DFL_NEW_ARRAY(f->arena, dfl_layout, f->columns);
    for (uint32_t s = 0; s < f->n_slots; s++)
        x.asked[s] = dfl_layout_asked(f, einsum, rows, s);
    if (!find_bits(f, einsum, rows, &x.bits))
        return false;
    x.bits = x.bits / f->points[einsum].total * f->points[einsum].largest;
    add_reader(f, &x, einsum);
    DFL_PUSH(f->arena, out, x);
    return true;
}

/* Bits of the exchange of a result of gathered rows if all ranks had as much as the largest one: that with most columns of the
   table, and with most points, as of points that go to rows. 0 = all have equally much. */
static dfl_i128 most_gathered(const dfl_frame *f, const dfl_layouts *l, uint32_t einsum, const dfl_access *rows, uint64_t slots,
                              dfl_i128 bits)
{
    const dfl_tensor *t = &f->workload->tensors[rows->tensor];
    const dfl_access *at = dfl_rows_gathered_at(&f->workload->einsums[einsum], rows->tensor);
    double share = 1;

    for (uint32_t d = 0; d < t->n_table_dims; d++) {
        int64_t parts = 1, nominal = t->table_extents[d], points = 1;
        double uneven, load = f->gather_of[einsum] != NULL ? f->gather_of[einsum]->load : 0;
        dfl_i128 n;
        uint32_t rank;

        for (uint32_t s = 0; s < f->n_slots; s++)
            if ((slots >> s & 1) != 0 && dfl_layout_home(l, dfl_frame_table(f, rows->tensor), s) == (dfl_layout)d)
                parts *= f->slots[s].count;
        if (parts == 1)
            continue;
        uneven = (double)(dfl_ceil_div(nominal, parts) * parts) / (double)nominal;
        if (at == NULL || !dfl_index_is_bare(&t->table_index[d], &rank) ||
            dfl_einsum_has_rank(&f->workload->einsums[einsum], rank)) { /* columns */
            share *= uneven;
            continue;
        }
        if (dfl_frame_elements_of_all(f, einsum, at, true, &n) || n > INT64_MAX)
            continue;
        points = (int64_t)n;
        if (load == 0 && !f->workload->einsums[einsum].is_mac)
            load = uneven;
        share *= (double)dfl_largest_part(points, parts, load, uneven) * (double)parts / (double)points;
    }
    return share > 1 ? (dfl_i128)ceil(dfl_i128_double(bits) * share * (1 - 1e-12)) : 0;
}

/* Adds the exchanges that bring the result of a gather from the instances that have its rows: slots that divide the table. If the
   einsum divides its points there, each instance gets the rows of its points from all others. A step of the optimizer gets its
   rows before it. */
static bool add_rows(const dfl_frame *f, const dfl_layouts *l, uint32_t einsum, const dfl_access *rows, dfl_exchange_vec *out)
{
    static const dfl_collective_kind kinds[] = { DFL_COLLECTIVE_ALL_TO_ALL, DFL_COLLECTIVE_ALL_GATHER };
    const dfl_einsum *e = &f->workload->einsums[einsum];
    const uint32_t table = dfl_frame_table(f, rows->tensor);
    uint64_t mask[2] = { 0, 0 };

    for (uint32_t s = 0; s < f->n_slots; s++) {
        if (f->slots[s].stages != NULL || f->slots[s].count == 1 || dfl_layout_home(l, table, s) < 0 ||
            takes_own_part(f, l, einsum, rows, s)) {
            if (f->slots[s].count > 1 && f->slots[s].stages == NULL && nests_apart(f, l, einsum, rows, s))
                return dfl_frame_refuse(f, rows->span, "rows of a table that groups divide in another order than its reader",
                                        "divide the table as the einsum");
            continue;
        }
        if (dfl_frame_line(f, einsum, s) != NULL && dfl_layout_asked(f, einsum, rows, s) != DFL_LAYOUT_REPLICATED)
            return dfl_frame_refuse(f, rows->span, "a gather from a table that the same axis divides along another dimension",
                                    "divide the table as the einsum, or on another axis");
        if (e->phase != DFL_PHASE_UPDATE && !is_made_from_part(f, l, einsum, rows, s))
            return dfl_frame_refuse(f, rows->span, "a product with rows of a table of which each chip has a part",
                                    "divide the rank of the table for this einsum, too, or keep the table whole");
        mask[dfl_frame_line(f, einsum, s) == NULL] |= UINT64_C(1) << s;
    }
    if (e->phase == DFL_PHASE_UPDATE)
        return (mask[0] | mask[1]) == 0 || add_renewed(f, einsum, rows, mask[0] | mask[1], out);
    for (uint32_t s = 0; s < f->n_slots && (mask[0] | mask[1]) != 0; s++) /* the exchange has the points of one instance only */
        if (f->slots[s].count > 1 && dfl_frame_goes(f, einsum, s) && dfl_rows_varies(f, einsum, &e->output))
            return dfl_frame_refuse(f, rows->span, "an exchange of results whose points go to the rows of a table",
                                    "keep the table whole but for its rows");
    for (uint32_t k = 0; k < 2; k++) {
        dfl_plan_exchange x = { .kind = kinds[k], .place = DFL_EXCHANGE_AFTER, .tensor = e->output.tensor, .einsum = einsum,
                                .phase = e->phase, .slots = mask[k] };

        if (mask[k] == 0)
            continue;
        if (!find_bits(f, einsum, &e->output, &x.bits))
            return false;
        x.most_bits = most_gathered(f, l, einsum, rows, mask[k], x.bits);
        DFL_PUSH(f->arena, out, x);
    }
    return true;
}

/* ---- operands ---- */

/* The layout of an operand before an einsum on one slot. */
typedef struct { dfl_layout from, asked; } change;

/* The mask of slots for each way to bring an operand to the layout asked for: points that go to rows, all-to-all, broadcast from
   the only instance that has what a pass reads, all-gather. */
enum { TO_ROWS, ACROSS, FROM_ONE, WHOLE, N_WAYS };

/* Whether a pass reads one element along a divided dimension: only the instance that has it needs to send. */
static bool is_at_one(const dfl_frame *f, const dfl_access *access, dfl_layout from)
{
    return from >= 0 && is_one_value(f, &access->index[from]);
}

/* The way in which an operand changes its layout; N_WAYS = no exchange. */
static int find_way(const dfl_frame *f, uint32_t einsum, const dfl_access *access, change c)
{
    if (c.from == DFL_LAYOUT_REPLICATED)
        return N_WAYS;
    if (c.asked == DFL_LAYOUT_ROWS) {
        if (c.from == DFL_LAYOUT_ROWS && dfl_layout_same_rows(f, access->tensor, einsum))
            return N_WAYS;
        /* an element that as many points use as there are instances is brought to all of them */
        return dfl_rows_uses(f, einsum, access) < f->points[einsum].parts ? TO_ROWS : WHOLE;
    }
    if (c.from == c.asked && c.from != DFL_LAYOUT_ROWS)
        return N_WAYS;
    if (c.asked != DFL_LAYOUT_REPLICATED)
        return ACROSS;
    return f->workload->einsums[einsum].phase != DFL_PHASE_UPDATE && is_at_one(f, access, c.from) ? FROM_ONE : WHOLE;
}

/* Whether an einsum takes parts of a dimension on a slot on which the home has it whole, or which an exchange over the slots of
   `across` brings: they do not nest in those at home. */
static bool takes_other_parts(const dfl_frame *f, const dfl_layouts *l, uint32_t einsum, const dfl_access *access, uint32_t dim,
                              uint64_t across)
{
    for (uint32_t s = 0; s < f->n_slots; s++)
        if (f->slots[s].count > 1 && dfl_layout_asked(f, einsum, access, s) == (dfl_layout)dim &&
            (source(f, l, einsum, access->tensor, s) != (dfl_layout)dim || (across >> s & 1) != 0))
            return true;
    return false;
}

/* The largest piece, along a dimension, of both a part at home by the groups of `whole` and a part that an einsum takes on other
   slots; `parts`: the number of pieces that has as many positions as the einsum takes. The first parts of both, by a rank alone,
   have the smaller one in common, unless an exchange over the slots of `across` has joined parts that lie apart. False after a
   report. */
static bool find_piece(const dfl_frame *f, const dfl_layouts *l, uint32_t einsum, const dfl_access *access, uint64_t whole,
                       uint64_t across, uint32_t dim, bool is_dealt, int64_t *parts, int64_t *piece)
{
    dfl_layout *from = DFL_NEW_ARRAY(f->arena, dfl_layout, f->columns), *asked = DFL_NEW_ARRAY(f->arena, dfl_layout, f->columns);
    const int64_t extent = f->workload->tensors[access->tensor].extents[dim];
    uint64_t brought = 0;
    dfl_i128 width, n;
    uint32_t rank;

    for (uint32_t s = 0; s < f->n_slots; s++)
        brought |= source(f, l, einsum, access->tensor, s) == (dfl_layout)dim ? across & UINT64_C(1) << s : 0;
    if (brought == 0 && dfl_index_is_bare(&access->index[dim], &rank)) { /* of dealt elements, a part of each block */
        const int64_t pass = dfl_frame_pass(f, einsum, rank), home = dfl_ceil_div(is_dealt ? pass : extent, *parts);

        *piece = home < pass ? home : pass;
        *parts = pass;
        return true;
    }
    for (uint32_t s = 0; s < f->n_slots; s++) {
        from[s] = (whole | brought) >> s & 1 ? source(f, l, einsum, access->tensor, s) : DFL_LAYOUT_REPLICATED;
        asked[s] = dfl_layout_asked(f, einsum, access, s);
    }
    if (!dfl_share_block(f, einsum, access, from, asked, brought, dim, &n))
        return false;
    if (dfl_frame_elements_along(f, einsum, access, dim, 1, &width)) {
        dfl_report(f->sink, DFL_EVAL_OVERFLOW, access->span, "a count of this plan exceeds 128 bits");
        return false;
    }
    *piece = (int64_t)n;
    *parts = (int64_t)width;
    return true;
}

/* Bits of the part of an operand in one pass that slots which gather it leave to each instance of the `first` slots, which
   exchange it before. Dimensions that these divide, too, stay whole. False after a report. */
static bool find_part_bits(const dfl_frame *f, const dfl_layouts *l, uint32_t einsum, const dfl_access *access,
                           const uint64_t mask[N_WAYS], uint64_t first, dfl_i128 *out)
{
    int64_t *parts = DFL_NEW_ARRAY(f->arena, int64_t, (size_t)access->n_dims + 1), apart = 1, piece;
    const uint64_t across = first != 0 ? mask[ACROSS] : 0; /* it comes behind points that go to rows */

    if (dfl_mask_thins(f, einsum, access) && mask[WHOLE] != 0)
        return dfl_frame_refuse(f, access->span, "an operand of a `where` that is exchanged in two ways",
                                "lay the operand as its reader asks for it on one of the axes");
    if (dfl_mask_thins(f, einsum, access))
        return find_bits(f, einsum, access, out);
    for (uint32_t d = 0; d < access->n_dims; d++) {
        bool is_shared = false, is_dealt = false;

        parts[d] = 1;
        for (uint32_t s = 0; s < f->n_slots; s++)
            is_shared |= (first >> s & 1) != 0 && (source(f, l, einsum, access->tensor, s) == (dfl_layout)d ||
                                                          dfl_layout_asked(f, einsum, access, s) == (dfl_layout)d);
        for (uint32_t s = 0; s < f->n_slots && !is_shared; s++)
            if ((mask[WHOLE] >> s & 1) != 0 && source(f, l, einsum, access->tensor, s) == (dfl_layout)d) {
                parts[d] *= f->slots[s].count;
                is_dealt |= f->slots[s].is_cyclic;
            }
        if (parts[d] == 1 || !takes_other_parts(f, l, einsum, access, d, across))
            continue;
        if (!find_piece(f, l, einsum, access, mask[WHOLE], across, d, is_dealt, &parts[d], &piece))
            return false;
        apart *= piece;
    }
    if (!dfl_frame_elements_of_group(f, einsum, access, 0, parts, out) && !dfl_mul(*out, apart, out) &&
        !dfl_mul(*out, f->workload->tensors[access->tensor].type.bits, out))
        return true;
    dfl_report(f->sink, DFL_EVAL_OVERFLOW, access->span, "a count of this plan exceeds 128 bits");
    return false;
}

/* Whether an operand is where the points of its einsum go to rows, or comes there first. */
static bool is_at_points(const dfl_frame *f, const dfl_layouts *l, uint32_t einsum, const dfl_access *access,
                         const uint64_t mask[N_WAYS])
{
    bool is_at = false;

    for (uint32_t s = 0; s < f->n_slots; s++) {
        if (f->slots[s].count == 1 || !dfl_frame_goes(f, einsum, s) || !dfl_rows_varies(f, einsum, access))
            continue;
        if ((mask[WHOLE] >> s & 1) != 0)
            return false; /* all of it comes to each instance */
        is_at |= (mask[TO_ROWS] >> s & 1) != 0 || source(f, l, einsum, access->tensor, s) == DFL_LAYOUT_ROWS;
    }
    return is_at;
}

/* Leaves of the bits of an operand of all points those of the instance with most points. False after a report. */
static bool keep_largest(const dfl_frame *f, uint32_t einsum, const dfl_access *access, dfl_i128 *bits)
{
    const dfl_points *p = &f->points[einsum];
    const int64_t positions = p->total / dfl_rows_uses(f, einsum, access);

    if (p->largest >= positions || !dfl_mul(*bits / positions, p->largest, bits))
        return true;
    dfl_report(f->sink, DFL_EVAL_OVERFLOW, access->span, "a count of this plan exceeds 128 bits");
    return false;
}

/* Sets the largest part of an operand that one chip needs of another one, with what exchanges over `brought` have brought there.
   False after a report. */
static bool set_largest_part(const dfl_frame *f, const dfl_layouts *l, uint32_t einsum, const dfl_access *access,
                             uint64_t brought, dfl_plan_exchange *x)
{
    dfl_layout *from = DFL_NEW_ARRAY(f->arena, dfl_layout, f->columns);
    dfl_i128 n;

    for (uint32_t s = 0; s < f->n_slots; s++)
        from[s] = source(f, l, einsum, access->tensor, s);
    return dfl_mask_operand_part(f, einsum, access, from, x->asked, x->slots, brought, &n) && dfl_exchange_set_part(f, n, x);
}

/* Whether an operand lies where its points are, by the rows of a table. */
static bool comes_from_rows(const dfl_frame *f, const dfl_layouts *l, uint32_t einsum, const dfl_access *access)
{
    for (uint32_t s = 0; s < f->n_slots; s++)
        if (source(f, l, einsum, access->tensor, s) == DFL_LAYOUT_ROWS)
            return true;
    return false;
}

/* Whether groups of a mask divide an operand at home along a dimension of the positions of rows: each has some of the points. */
static bool has_some_points(const dfl_frame *f, const dfl_layouts *l, uint32_t einsum, const dfl_access *access, uint64_t slots)
{
    for (uint32_t s = 0; s < f->n_slots; s++) {
        const dfl_layout d = (slots >> s & 1) != 0 ? source(f, l, einsum, access->tensor, s) : DFL_LAYOUT_REPLICATED;

        for (uint32_t t = 0; d >= 0 && t < access->index[d].n_terms; t++)
            if (dfl_rows_has_position(f, einsum, access->index[d].terms[t].rank))
                return true;
    }
    return false;
}

/* Sets the bits of an operand that goes to the points of an einsum: its elements at home, each as often as points use it. What is
   gathered comes behind. `rows`: the groups among which the points go. False after a report. */
static bool set_points_bits(const dfl_frame *f, const dfl_layouts *l, uint32_t einsum, const dfl_access *access,
                            const uint64_t mask[N_WAYS], uint64_t rows, dfl_plan_exchange *x)
{
    const int64_t uses = dfl_rows_uses(f, einsum, access);
    uint64_t at_home[N_WAYS] = { [WHOLE] = mask[WHOLE] | mask[TO_ROWS] };
    dfl_i128 all, own;

    if (has_some_points(f, l, einsum, access, mask[WHOLE])) /* data say which of them go to one instance */
        return dfl_frame_refuse(f, access->span, "an operand with parts of the samples of points that go to rows",
                                "divide the samples of the operand as those of its reader");
    if (!find_part_bits(f, l, einsum, access, mask, 0, &all) || !find_part_bits(f, l, einsum, access, at_home, 0, &own))
        return false;
    for (uint32_t s = 0; s < f->n_slots; s++) /* of what chips have alike or by other rows, each sends a part */
        if ((rows >> s & 1) != 0 && ((mask[TO_ROWS] >> s & 1) == 0 || source(f, l, einsum, access->tensor, s) < 0))
            own = ceil_div(own, f->slots[s].count);
    if (!dfl_mul(all, uses, &all) && !dfl_mul(own, uses, &own))
        return dfl_exchange_set_points(f, einsum, all, own, x);
    dfl_report(f->sink, DFL_EVAL_OVERFLOW, access->span, "a count of this plan exceeds 128 bits");
    return false;
}

/* Sets the bits of an exchange of an operand. False after a report. */
static bool set_operand_bits(const dfl_frame *f, const dfl_layouts *l, uint32_t einsum, const dfl_access *access,
                             const uint64_t mask[N_WAYS], int way, dfl_plan_exchange *x)
{
    const dfl_tensor *t = &f->workload->tensors[access->tensor];
    uint64_t rows = 0;

    if (!find_bits(f, einsum, access, &x->bits))
        return false;
    for (uint32_t s = 0; s < f->n_slots; s++)
        rows |= (uint64_t)(f->slots[s].count > 1 && dfl_frame_goes(f, einsum, s) && dfl_rows_varies(f, einsum, access)) << s;
    if (way == TO_ROWS && rows != mask[TO_ROWS] && dfl_rows_are_uneven(f, einsum))
        return dfl_frame_refuse(f, access->span, "an operand that goes to points on one of two groups which divide the rows "
                                "unevenly",
                                "divide the samples on both of their axes, or the rows evenly");
    if (way == TO_ROWS) {
        if (!set_points_bits(f, l, einsum, access, mask, rows, x))
            return false;
    } else if (way == ACROSS) { /* what is gathered comes behind */
        if (!find_part_bits(f, l, einsum, access, mask, mask[ACROSS], &x->bits))
            return false;
        if (!is_at_points(f, l, einsum, access, mask)) {
            const int64_t parts = dfl_exchange_ranks(f, rows & ~mask[WHOLE]);

            if (parts > 1 && (dfl_rows_uses(f, einsum, access) > 1 || dfl_rows_are_uneven(f, einsum)))
                return dfl_frame_refuse(f, access->span, "an all-to-all of an operand of which data select what each chip needs",
                                        "divide the operand at home as its reader");
            x->bits = ceil_div(x->bits, parts);
        }
    } else if (way == FROM_ONE && mask[WHOLE] != 0 && !find_part_bits(f, l, einsum, access, mask, mask[FROM_ONE], &x->bits)) {
        return false;
    }
    if (way != TO_ROWS && way != FROM_ONE && rows == 0 && !comes_from_rows(f, l, einsum, access) &&
        !set_largest_part(f, l, einsum, access, way == WHOLE ? mask[ACROSS] : 0, x))
        return false;
    if (way != TO_ROWS && is_at_points(f, l, einsum, access, mask) && !keep_largest(f, einsum, access, &x->bits))
        return false;
    for (uint32_t s = 0; s < f->n_slots && t->n_producers > 0 && way != TO_ROWS; s++)
        if (x->slots >> s & 1 && source(f, l, einsum, access->tensor, s) == DFL_LAYOUT_ROWS)
            x->most_bits = dfl_exchange_most_bits(f, t->producers[0], x->bits);
    return true;
}

/* Whether an einsum divides a dimension of an operand on the slot on which it lies divided, but into parts in other places. */
static bool lies_apart(const dfl_frame *f, const dfl_access *access, const dfl_layout *from, const dfl_layout *asked,
                       uint32_t slot)
{
    const dfl_layout d = from[slot];

    return d >= 0 && d == asked[slot] &&
           dfl_layouts_nest_apart(f, from, asked, slot, f->workload->tensors[access->tensor].extents[d],
                                  dfl_access_extent(f, access, (uint32_t)d));
}

/* Whether the passes of an einsum have some of the values of an index alone. */
static bool is_cut_by_passes(const dfl_frame *f, uint32_t einsum, const dfl_index *index)
{
    for (uint32_t t = 0; t < index->n_terms; t++)
        if (!f->repeats[index->terms[t].rank] &&
            dfl_frame_pass(f, einsum, index->terms[t].rank) < dfl_frame_local(f, einsum, index->terms[t].rank))
            return true;
    return false;
}

/* Whether an operand goes across while other groups have it by the rows of a table, or to rows while other groups gather parts of
   the same dimension: data say how much of a part one chip has. */
static bool has_parts_of_rows(const dfl_frame *f, const dfl_layouts *l, uint32_t einsum, const dfl_access *access,
                              const uint64_t mask[N_WAYS])
{
    bool has_parts = false;

    for (uint32_t s = 0; s < f->n_slots; s++) {
        const dfl_layout home = source(f, l, einsum, access->tensor, s);

        has_parts |= mask[ACROSS] != 0 && (mask[WHOLE] >> s & 1) != 0 && home == DFL_LAYOUT_ROWS;
        for (uint32_t t = 0; t < f->n_slots && home >= 0 && (mask[TO_ROWS] >> s & 1) != 0; t++)
            has_parts |= (mask[WHOLE] >> t & 1) != 0 && source(f, l, einsum, access->tensor, t) == home;
    }
    return has_parts;
}

/* Whether passes have unequal numbers of elements of an operand: they cut an index that leaves the tensor. */
static bool leaves_in_passes(const dfl_frame *f, uint32_t einsum, const dfl_access *access)
{
    for (uint32_t d = 0; d < access->n_dims; d++)
        if (f->workload->einsums[einsum].phase != DFL_PHASE_UPDATE && is_cut_by_passes(f, einsum, &access->index[d]) &&
            dfl_frame_leaves(f, &access->index[d], f->workload->tensors[access->tensor].extents[d]))
            return true;
    return false;
}

/* Whether points that go to rows read an operand in a window: a rank of their positions stands beside others in an index, with a
   factor, or beyond the ends of the tensor. */
static bool is_window_of_points(const dfl_frame *f, uint32_t einsum, const dfl_access *access)
{
    for (uint32_t d = 0; d < access->n_dims; d++) {
        const dfl_index *index = &access->index[d];
        bool has_position = false;

        for (uint32_t t = 0; t < index->n_terms; t++)
            has_position |= dfl_rows_has_position(f, einsum, index->terms[t].rank);
        if (has_position && (index->n_terms > 1 || index->terms[0].coef != 1 ||
                             dfl_frame_leaves(f, index, f->workload->tensors[access->tensor].extents[d])))
            return true;
    }
    return false;
}

/* Whether the home divides a dimension, which the einsum divides on the slots of `beside` in a window, on slots of `across`, too,
   into blocks of unequal size: the parts that neighbours complete are other ones than those that lie side by side at home. */
static bool has_uneven_window(const dfl_frame *f, const dfl_access *access, const dfl_layout *from, const dfl_layout *asked,
                              uint64_t beside, uint64_t across)
{
    for (uint32_t d = 0; d < access->n_dims; d++) {
        int64_t parts = 1;
        bool is_window = false, is_other = false;
        uint32_t bare;

        for (uint32_t s = 0; s < f->n_slots; s++) {
            const bool is_divided = f->slots[s].count > 1 && f->slots[s].stages == NULL && from[s] == (dfl_layout)d;

            is_window |= (beside >> s & 1) != 0 && f->slots[s].count > 1 && asked[s] == (dfl_layout)d;
            is_other |= is_divided && (across >> s & 1) != 0;
            parts *= is_divided ? f->slots[s].count : 1;
        }
        if (is_window && is_other && !dfl_index_is_bare(&access->index[d], &bare) &&
            f->workload->tensors[access->tensor].extents[d] % parts != 0)
            return true;
    }
    return false;
}

/* Adds the messages of neighbours of an operand. False after a report: data say which of its elements the points of one instance
   need. */
static bool add_halos(const dfl_frame *f, const dfl_layouts *l, uint32_t einsum, const dfl_access *access, const dfl_layout *from,
                      const dfl_layout *asked, dfl_exchange_vec *out)
{
    const size_t before = out->n;
    bool is_of_points = false, is_by_rows = false;

    for (uint32_t s = 0; s < f->n_slots; s++) {
        is_of_points |= f->slots[s].count > 1 && asked[s] == DFL_LAYOUT_ROWS;
        is_by_rows |= f->slots[s].count > 1 && from[s] == DFL_LAYOUT_ROWS;
        if (asked[s] >= 0 && f->slots[s].count > 1 && f->slots[s].stages == NULL && !dfl_frame_goes(f, einsum, s) &&
            source(f, l, einsum, access->tensor, s) != DFL_LAYOUT_REPLICATED &&
            !dfl_operand_halos_add(f, einsum, access, from, asked, s, out))
            return false;
    }
    if (is_by_rows && out->n > before)
        return dfl_frame_refuse(f, access->span, "a window of an operand that lies by rows",
                                "copy the operand in an einsum of its own, and divide the copy as the window");
    if (!is_of_points || out->n == before)
        return true;
    return dfl_frame_refuse(f, access->span, "an operand with elements of neighbours whose points go to rows",
                            "divide another rank than that of the window, or keep the table whole");
}

/* Adds the exchanges that bring an operand to the layout that an einsum asks for. */
static bool add_before(const dfl_frame *f, const dfl_layouts *l, uint32_t einsum, const dfl_access *access, dfl_exchange_vec *out)
{
    static const dfl_collective_kind kinds[] = { [TO_ROWS] = DFL_COLLECTIVE_ALL_TO_ALL, [ACROSS] = DFL_COLLECTIVE_ALL_TO_ALL,
                                                 [FROM_ONE] = DFL_COLLECTIVE_BROADCAST, [WHOLE] = DFL_COLLECTIVE_ALL_GATHER };
    const dfl_einsum *e = &f->workload->einsums[einsum];
    dfl_layout *asked = DFL_NEW_ARRAY(f->arena, dfl_layout, f->columns), *from = DFL_NEW_ARRAY(f->arena, dfl_layout, f->columns);
    const dfl_access *own;
    uint64_t mask[N_WAYS] = { 0 }, beside = 0;

    for (uint32_t s = 0; s < f->n_slots; s++) {
        int way;

        from[s] = source(f, l, einsum, access->tensor, s);
        asked[s] = dfl_layout_asked(f, einsum, access, s);
        if (asked[s] == DFL_LAYOUT_WINDOW)
            return dfl_frame_refuse(f, access->span, "a divided rank in a window that moves backwards", "divide another rank");
        if (f->slots[s].stages != NULL || f->slots[s].count == 1 ||
            (f->positions[einsum] != NULL && access->tensor == f->positions[einsum]->tensor && dfl_frame_goes(f, einsum, s)))
            continue;
        if (asked[s] == DFL_LAYOUT_ROWS && is_window_of_points(f, einsum, access))
            return dfl_frame_refuse(f, access->span, "a window of an operand whose points go to rows",
                                    "copy the window in an einsum of its own, or keep the table whole");
        way = find_way(f, einsum, access, (change){ from[s], asked[s] });
        if (way == N_WAYS && lies_apart(f, access, from, asked, s)) {
            if (e->phase != DFL_PHASE_UPDATE && is_cut_by_passes(f, einsum, &access->index[from[s]]))
                return dfl_frame_refuse(f, access->span, "an exchange of parts in other places of a dimension that micro-batches "
                                        "cut", "divide the operand at home as its reader, or leave the rank out of the temporal "
                                        "lines");
            way = ACROSS;
        }
        if (way == ACROSS && dfl_frame_moves_several(f, access))
            return dfl_frame_refuse(f, access->span, "an all-to-all of a tensor of which a rank moves several dimensions",
                                    "divide the tensor at home along the first of them");
        if (way < N_WAYS)
            mask[way] |= UINT64_C(1) << s;
        beside |= (uint64_t)(asked[s] >= 0 && from[s] != DFL_LAYOUT_REPLICATED && !dfl_frame_goes(f, einsum, s)) << s;
    }
    if ((mask[TO_ROWS] | mask[ACROSS] | mask[FROM_ONE] | mask[WHOLE]) != 0 && leaves_in_passes(f, einsum, access))
        return dfl_frame_refuse(f, access->span, "an exchange of an operand beyond an end of which micro-batches reach unequally",
                                "leave the rank out of the temporal lines, or divide the operand at home as its reader");
    if (has_parts_of_rows(f, l, einsum, access, mask))
        return dfl_frame_refuse(f, access->span, "an operand of which groups have parts beside points that go to rows",
                                "divide the operand at home as its reader");
    if (has_uneven_window(f, access, from, asked, beside, mask[ACROSS]))
        return dfl_frame_refuse(f, access->span, "a window in a dimension that several groups of chips divide unevenly at home",
                                "divide the dimension into equal parts, or on one axis");
    if ((mask[TO_ROWS] | mask[ACROSS] | mask[FROM_ONE] | mask[WHOLE]) != 0 && dfl_halo_moves_further(f, einsum, access))
        return dfl_frame_refuse(f, access->span, "an exchange of an operand beside a divided window that moves by more than 1",
                                "divide the operand at home as its reader");
    own = dfl_halo_own(f, einsum, access, beside);
    if ((mask[TO_ROWS] | mask[ACROSS] | mask[FROM_ONE] | mask[WHOLE]) != 0 && own != access &&
        !dfl_operand_halos_check(f, einsum, access, asked, beside))
        return false;
    for (uint32_t s = 0; s < f->n_slots; s++) /* whether parts of dealt parts differ depends on their sizes */
        if (f->slots[s].count > 1 && lies_apart(f, access, from, asked, s) && is_dealt_in(f, from, asked, s))
            return dfl_frame_refuse(f, access->span, "an exchange of a dimension that several groups divide, one of them "
                                    "round-robin", "divide the dimension on one axis, or into blocks");
    if ((mask[TO_ROWS] | mask[ACROSS] | mask[FROM_ONE] | mask[WHOLE]) != 0 && dfl_mask_is_boxed(f, einsum, access))
        return dfl_frame_refuse(f, access->span, "an exchange of an operand at sums of ranks of a `where`",
                                "divide the operand at home as its reader, or leave out the `where`");
    for (int k = 0; k < N_WAYS; k++) {
        dfl_plan_exchange x = { .kind = kinds[k], .place = DFL_EXCHANGE_BEFORE, .tensor = access->tensor, .einsum = einsum,
                           .phase = e->phase, .slots = mask[k], .access = access, .asked = asked };
        dfl_plan_exchange *copy = mask[k] != 0 ? find_copy(f, out, einsum, access, asked, kinds[k], beside) : NULL;

        if (mask[k] == 0)
            continue;
        if (copy == NULL) {
            if (!set_operand_bits(f, l, einsum, own, mask, k, &x)) /* neighbours bring the rest behind it */
                return false;
            DFL_PUSH(f->arena, out, x);
            copy = &out->at[out->n - 1];
        } else if (copy->einsum == einsum && !brings(f, copy, access, beside)) {
            return dfl_frame_refuse(f, access->span, "an exchange of accesses at offsets, of which the first has fewer elements",
                                    "divide the operand at home as its reader, or read it in two einsums");
        }
        add_reader(f, copy, einsum);
    }
    return add_halos(f, l, einsum, access, from, asked, out);
}

bool dfl_operand_exchanges_add(const dfl_frame *f, const dfl_layouts *l, uint32_t einsum, const dfl_access *access,
                               dfl_exchange_vec *out)
{
    return f->workload->tensors[access->tensor].gathered ? add_rows(f, l, einsum, access, out)
                                                         : add_before(f, l, einsum, access, out);
}
