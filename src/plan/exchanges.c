#include "plan/exchanges.h"

#include <math.h>
#include <string.h>

#include "ir/conditions.h"
#include "plan/halos.h"
#include "plan/lines.h"
#include "plan/masks.h"
#include "plan/rows.h"
#include "support/vec.h"

typedef DFL_VEC(dfl_plan_exchange) exchange_vec;

int64_t dfl_exchange_group(const dfl_frame *f, const dfl_plan_exchange *exchange)
{
    int64_t n = exchange->is_tied || exchange->is_halo ? 2 : 1;

    for (uint32_t s = 0; s < f->n_slots && !exchange->is_halo; s++)
        if (exchange->slots >> s & 1)
            n *= f->slots[s].count;
    return n;
}

/* Whether the parts of a dimension that a slot divides in two layouts differ: a slot before it divides the dimension in one of
   them alone. Slots that divide one dimension nest in their order. */
static bool nests_apart(const dfl_layout *a, const dfl_layout *b, uint32_t slot)
{
    for (uint32_t s = 0; s < slot; s++)
        if ((a[s] == a[slot]) != (b[s] == a[slot]))
            return true;
    return false;
}

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

/* Whether an einsum needs other elements than those of a copy: conditions leave out others, or a pass reads one other element
   along a dimension. */
static bool needs_others(const dfl_frame *f, const dfl_plan_exchange *x, uint32_t einsum, const dfl_access *access)
{
    if (!dfl_conditions_equal(&f->workload->einsums[x->einsum], &f->workload->einsums[einsum]))
        return true;
    for (uint32_t d = 0; d < access->n_dims; d++)
        if ((is_one_value(f, &access->index[d]) || is_one_value(f, &x->access->index[d])) &&
            !dfl_index_equal(&access->index[d], &x->access->index[d]))
            return true;
    return false;
}

/* The exchange that already brings a tensor to a layout in a phase, or NULL. */
static dfl_plan_exchange *find_copy(const dfl_frame *f, exchange_vec *out, uint32_t einsum, const dfl_access *access,
                                    const dfl_layout *asked, dfl_collective_kind kind)
{
    const dfl_phase phase = f->workload->einsums[einsum].phase;

    for (size_t i = 0; i < out->n; i++)
        if (out->at[i].place == DFL_EXCHANGE_BEFORE && !out->at[i].is_halo && out->at[i].tensor == access->tensor &&
            out->at[i].phase == phase && out->at[i].kind == kind && same_layout(f, out->at[i].asked, asked) &&
            !needs_others(f, &out->at[i], einsum, access))
            return &out->at[i];
    return NULL;
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

/* Whether einsums that make a result divide its dimensions alike; one may make parts of sums where another one makes sums. */
static bool is_made_alike(const dfl_frame *f, uint32_t a, uint32_t b)
{
    for (uint32_t s = 0; s < f->n_slots; s++) {
        const dfl_layout x = dfl_layout_made(f, a, s), y = dfl_layout_made(f, b, s);

        if ((x == DFL_LAYOUT_PARTIAL ? DFL_LAYOUT_REPLICATED : x) != (y == DFL_LAYOUT_PARTIAL ? DFL_LAYOUT_REPLICATED : y))
            return false;
    }
    return true;
}

/* The slots on which chips make parts of a sum. */
static uint64_t summed_slots(const dfl_frame *f, const dfl_layouts *l, uint32_t tensor)
{
    uint64_t out = 0;

    for (uint32_t s = 0; s < f->n_slots; s++)
        out |= (uint64_t)l->is_summed[(size_t)tensor * l->columns + s] << s;
    return out;
}

/* Whether conditions leave out elements of what an einsum makes on the chips of the `together` slots. False after a report. */
static bool find_thin(const dfl_frame *f, uint32_t einsum, uint64_t together, bool *out)
{
    const dfl_access *made = &f->workload->einsums[einsum].output;
    dfl_i128 n, box;

    *out = false;
    if (!dfl_mask_thins(f, einsum, made))
        return true;
    if (!dfl_mask_elements_of_group(f, einsum, made, together, NULL, &n))
        return false;
    *out = dfl_frame_elements_of_group(f, einsum, made, together, NULL, &box) || n < box;
    return true;
}

/* Whether conditions leave out elements of a result on the chips that exchange it; then `*out` are its elements on these chips:
   those that make parts of its sums and those of the `gathered` slots, which may make different elements. False after a report:
   einsums make different parts of it. */
static bool find_made(const dfl_frame *f, const dfl_layouts *l, uint32_t tensor, uint64_t gathered, const int64_t *parts,
                      bool *is_thin, dfl_i128 *out)
{
    const dfl_tensor *t = &f->workload->tensors[tensor];
    const uint64_t together = gathered | summed_slots(f, l, tensor);
    const uint32_t last = t->producers[t->n_producers - 1];
    const dfl_access *made = &f->workload->einsums[last].output;
    bool is_alike = true, is_one = true, has_whole = false, has_where = false;

    *is_thin = false;
    for (uint32_t p = 0; p < t->n_producers; p++) {
        const dfl_einsum *e = &f->workload->einsums[t->producers[p]];
        bool thin;

        if (dfl_einsum_is_start(e))
            continue;
        if (!find_thin(f, t->producers[p], together, &thin))
            return false;
        *is_thin |= thin;
        has_whole |= !thin;
        for (uint32_t d = 0; d < e->output.n_dims && e->n_where > 0; d++)
            has_where |= dfl_mask_has_dim(f, t->producers[p], &e->output, d);
        is_alike &= is_made_alike(f, t->producers[p], last);
        is_one &= dfl_conditions_equal(e, &f->workload->einsums[last]);
    }
    *is_thin &= !(has_whole && is_alike); /* a producer without conditions makes all that the others make */
    if (!*is_thin && (is_alike || !has_where))
        return true;
    if (!is_alike || !is_one)
        return dfl_frame_refuse(f, made->span, "an exchange of a result of which several einsums with a `where` make parts",
                                "make the result in one einsum, or divide its einsums alike");
    for (uint32_t d = 0; d < t->n_dims; d++)
        if (parts[d] > 1 && dfl_mask_has_dim(f, last, made, d))
            return dfl_frame_refuse(f, made->span, "a home that takes parts of a result with a `where`",
                                    "split the home as its producer");
    return dfl_mask_elements_of_group(f, last, made, together, parts, out);
}

/* Whether the part of a home lies within the part that its maker has of a dimension, or the maker has all of the dimension. False
   after a report. */
static bool check_parts(const dfl_frame *f, const dfl_layouts *l, uint32_t maker, uint32_t tensor, uint64_t gathered,
                        uint64_t scattered)
{
    for (uint32_t s = 0; s < f->n_slots; s++)
        for (uint32_t t = 0; t < f->n_slots; t++) {
            const dfl_layout home = dfl_layout_home(l, tensor, s), made = dfl_layout_made(f, maker, t);

            if ((scattered >> s & 1) != 0 && home >= 0 && dfl_layout_made(f, maker, s) < 0 && made == home && t != s &&
                f->slots[t].count > 1 && dfl_layout_home(l, tensor, t) != home && (gathered >> t & 1) == 0)
                return dfl_frame_refuse(f, f->workload->einsums[maker].span, "a home that is split along a dimension that its "
                                        "producer divides on another group", "split the home as its producer");
        }
    return true;
}

/* Bits of what an einsum writes in one pass on the chips of the `gathered` slots together, as far as the home has them on the
   `scattered` slots; of a scatter, those of the table. False after a report. */
static bool find_result_bits(const dfl_frame *f, const dfl_layouts *l, uint32_t einsum, uint64_t gathered, uint64_t scattered,
                             dfl_i128 *out)
{
    const uint32_t tensor = dfl_frame_target(f, einsum);
    const dfl_tensor *t = &f->workload->tensors[tensor];
    const bool is_scatter = f->workload->einsums[einsum].body->kind == DFL_EOP_SCATTER;
    const bool is_started = t->n_producers > 0 && f->workload->einsums[t->producers[0]].body->kind != DFL_EOP_SCATTER;
    const uint32_t maker = is_scatter && is_started ? t->producers[0] : einsum;
    int64_t *parts = DFL_NEW_ARRAY(f->arena, int64_t, (size_t)t->n_dims + 1);
    bool overflow = false, is_thin = false;

    for (uint32_t d = 0; d < t->n_dims; d++)
        parts[d] = 1;
    for (uint32_t s = 0; s < f->n_slots; s++)
        if ((scattered >> s & 1) != 0 && dfl_layout_home(l, tensor, s) >= 0 && dfl_layout_made(f, maker, s) < 0)
            parts[dfl_layout_home(l, tensor, s)] *= f->slots[s].count;
    if (!check_parts(f, l, maker, tensor, gathered, scattered))
        return false;
    if (!find_made(f, l, tensor, gathered, parts, &is_thin, out))
        return false;
    if (!is_thin && (!is_scatter || is_started)) {
        overflow = dfl_frame_elements_of_group(f, maker, &f->workload->einsums[maker].output, gathered, parts, out);
    } else if (!is_thin) {
        overflow = dfl_tensor_stored(t, out);
        for (uint32_t s = 0; s < f->n_slots; s++)
            if (dfl_layout_made(f, einsum, s) >= 0)
                *out = (*out + f->slots[s].count - 1) / f->slots[s].count;
        for (uint32_t d = 0; d < t->n_dims; d++)
            *out = (*out + parts[d] - 1) / parts[d];
    }
    if (!overflow && !dfl_mul(*out, t->type.bits, out))
        return true;
    dfl_report(f->sink, DFL_EVAL_OVERFLOW, f->workload->einsums[einsum].span, "a count of this plan exceeds 128 bits");
    return false;
}

/* ---- points that go to rows ---- */

static dfl_i128 ceil_div(dfl_i128 a, int64_t b) { return (a + b - 1) / b; }

/* Ranks of the slots of a mask. */
static int64_t count_ranks(const dfl_frame *f, uint64_t slots)
{
    int64_t n = 1;

    for (uint32_t s = 0; s < f->n_slots; s++)
        n *= slots >> s & 1 ? f->slots[s].count : 1;
    return n;
}

/* Bits of an exchange among the instances of rows if all had as many points as the largest; 0 if they have. */
static dfl_i128 most_bits(const dfl_frame *f, uint32_t einsum, dfl_i128 bits)
{
    const dfl_points *p = &f->points[einsum];
    double share = (double)p->largest * (double)p->parts / (double)p->total;

    return share > 1 ? (dfl_i128)ceil(dfl_i128_double(bits) * share * (1 - 1e-12)) : 0;
}

/* Whether each instance of a slot gathers from the part of the table that it has. */
static bool takes_own_part(const dfl_frame *f, const dfl_layouts *l, uint32_t einsum, const dfl_access *rows, uint32_t slot)
{
    return dfl_frame_line(f, einsum, slot) != NULL &&
           dfl_layout_asked(f, einsum, rows, slot) == dfl_layout_home(l, dfl_frame_table(f, rows->tensor), slot);
}

/* Adds the exchanges that bring the result of a gather from the instances that have its rows: slots that divide the table. If the
   einsum divides its points there, each instance gets the rows of its points from all others. */
static bool add_rows(const dfl_frame *f, const dfl_layouts *l, uint32_t einsum, const dfl_access *rows, exchange_vec *out)
{
    static const dfl_collective_kind kinds[] = { DFL_COLLECTIVE_ALL_TO_ALL, DFL_COLLECTIVE_ALL_GATHER };
    const dfl_einsum *e = &f->workload->einsums[einsum];
    const uint32_t table = dfl_frame_table(f, rows->tensor);
    uint64_t mask[2] = { 0, 0 };

    for (uint32_t s = 0; s < f->n_slots; s++) {
        if (f->slots[s].stages != NULL || f->slots[s].count == 1 || dfl_layout_home(l, table, s) < 0 ||
            takes_own_part(f, l, einsum, rows, s))
            continue;
        if (dfl_frame_line(f, einsum, s) != NULL && dfl_layout_asked(f, einsum, rows, s) != DFL_LAYOUT_REPLICATED)
            return dfl_frame_refuse(f, rows->span, "a gather from a table that the same axis divides along another dimension",
                                    "divide the table as the einsum, or on another axis");
        mask[dfl_frame_line(f, einsum, s) == NULL] |= UINT64_C(1) << s;
    }
    for (uint32_t k = 0; k < 2; k++) {
        dfl_plan_exchange x = { .kind = kinds[k], .place = DFL_EXCHANGE_AFTER, .tensor = e->output.tensor, .einsum = einsum,
                                .phase = e->phase, .slots = mask[k] };

        if (mask[k] == 0)
            continue;
        if (!find_bits(f, einsum, &e->output, &x.bits))
            return false;
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

/* Bits of the part of an operand in one pass that slots which gather it leave to each instance of the `first` slots, which
   exchange it before. Dimensions that these divide, too, stay whole. False after a report. */
static bool find_part_bits(const dfl_frame *f, const dfl_layouts *l, uint32_t einsum, const dfl_access *access,
                           const uint64_t mask[N_WAYS], uint64_t first, dfl_i128 *out)
{
    int64_t *parts = DFL_NEW_ARRAY(f->arena, int64_t, (size_t)access->n_dims + 1);

    if (dfl_mask_thins(f, einsum, access) && mask[WHOLE] != 0)
        return dfl_frame_refuse(f, access->span, "an operand of a `where` that is exchanged in two ways",
                                "lay the operand as its reader asks for it on one of the axes");
    if (dfl_mask_thins(f, einsum, access))
        return find_bits(f, einsum, access, out);
    for (uint32_t d = 0; d < access->n_dims; d++) {
        bool is_shared = false;

        parts[d] = 1;
        for (uint32_t s = 0; s < f->n_slots; s++)
            is_shared |= (first >> s & 1) != 0 && (source(f, l, einsum, access->tensor, s) == (dfl_layout)d ||
                                                          dfl_layout_asked(f, einsum, access, s) == (dfl_layout)d);
        for (uint32_t s = 0; s < f->n_slots && !is_shared; s++)
            if ((mask[WHOLE] >> s & 1) != 0 && source(f, l, einsum, access->tensor, s) == (dfl_layout)d)
                parts[d] *= f->slots[s].count;
    }
    if (!dfl_frame_elements_of_group(f, einsum, access, 0, parts, out) &&
        !dfl_mul(*out, f->workload->tensors[access->tensor].type.bits, out))
        return true;
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
        rows |= (uint64_t)(dfl_frame_goes(f, einsum, s) && dfl_rows_varies(f, einsum, access)) << s;
    if (way == TO_ROWS) { /* what one instance has before the points go */
        if (dfl_mul(x->bits, dfl_rows_uses(f, einsum, access), &x->bits)) {
            dfl_report(f->sink, DFL_EVAL_OVERFLOW, access->span, "a count of this plan exceeds 128 bits");
            return false;
        }
        x->bits = ceil_div(x->bits, count_ranks(f, rows));
        x->most_bits = most_bits(f, einsum, x->bits);
    } else if (way == ACROSS) { /* what is gathered comes behind */
        if (!find_part_bits(f, l, einsum, access, mask, mask[ACROSS], &x->bits))
            return false;
        x->bits = ceil_div(x->bits, count_ranks(f, rows & ~mask[WHOLE]));
    } else if (way == FROM_ONE && mask[WHOLE] != 0 && !find_part_bits(f, l, einsum, access, mask, mask[FROM_ONE], &x->bits)) {
        return false;
    }
    for (uint32_t s = 0; s < f->n_slots && t->n_producers > 0 && way != TO_ROWS; s++)
        if (x->slots >> s & 1 && source(f, l, einsum, access->tensor, s) == DFL_LAYOUT_ROWS)
            x->most_bits = most_bits(f, t->producers[0], x->bits);
    return true;
}

/* Refuses a halo that takes its corners from a dimension that the einsum divides and that every chip of a slot has whole: no
   message brings them. False after a report. */
static bool check_corners(const dfl_frame *f, const dfl_layouts *l, uint32_t einsum, const dfl_access *access,
                          const dfl_layout *asked, uint32_t slot)
{
    for (uint32_t s = 0; s < f->n_slots; s++)
        if (s != slot && asked[s] >= 0 && asked[s] != asked[slot] && f->slots[s].count > 1 && f->slots[s].stages == NULL &&
            source(f, l, einsum, access->tensor, s) == DFL_LAYOUT_REPLICATED &&
            dfl_halo_has_corner(f, einsum, access->tensor, (uint32_t)asked[slot], (uint32_t)asked[s]))
            return dfl_frame_refuse(f, access->span, "a window in two divided dimensions of which a chip has one whole",
                                    "divide the tensor at home as its reader does");
    return true;
}

/* Adds the messages from the neighbours on one slot: an operand lies split as the einsum asks for it, but for elements at the
   edges. All accesses of an einsum to a tensor share the messages. False after a report. */
static bool add_halos(const dfl_frame *f, const dfl_layouts *l, uint32_t einsum, const dfl_access *access,
                      const dfl_layout *asked, uint32_t slot, exchange_vec *out)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];
    dfl_plan_exchange x = { .kind = DFL_COLLECTIVE_POINT_TO_POINT, .place = DFL_EXCHANGE_BEFORE, .tensor = access->tensor,
                            .einsum = einsum, .phase = e->phase, .slots = UINT64_C(1) << slot, .asked = NULL, .is_halo = true };
    dfl_halo halo;
    dfl_i128 section;

    if (!dfl_halo_find(f, einsum, access, (uint32_t)asked[slot], slot, &halo))
        return false;
    if ((halo.before > 0 || halo.behind > 0) && !check_corners(f, l, einsum, access, asked, slot))
        return false;
    for (size_t i = 0; i < out->n; i++)
        if (out->at[i].is_halo && out->at[i].einsum == einsum && out->at[i].tensor == access->tensor &&
            out->at[i].slots == x.slots)
            return true;
    for (int side = 0; side < 2; side++) {
        const int64_t depth = side == 0 ? halo.before : halo.behind;

        if (depth == 0)
            continue;
        if (dfl_halo_section(f, einsum, access, (uint32_t)asked[slot], slot, side == 1, &section) ||
            dfl_mul(section, f->workload->tensors[access->tensor].type.bits, &section) || dfl_mul(section, depth, &x.bits)) {
            dfl_report(f->sink, DFL_EVAL_OVERFLOW, access->span, "a count of this plan exceeds 128 bits");
            return false;
        }
        x.readers = NULL;
        x.n_readers = 0;
        DFL_PUSH(f->arena, out, x);
        add_reader(f, &out->at[out->n - 1], einsum);
    }
    return true;
}

/* Adds the exchanges that bring an operand to the layout that an einsum asks for. */
static bool add_before(const dfl_frame *f, const dfl_layouts *l, uint32_t einsum, const dfl_access *access, exchange_vec *out)
{
    static const dfl_collective_kind kinds[] = { [TO_ROWS] = DFL_COLLECTIVE_ALL_TO_ALL, [ACROSS] = DFL_COLLECTIVE_ALL_TO_ALL,
                                                 [FROM_ONE] = DFL_COLLECTIVE_BROADCAST, [WHOLE] = DFL_COLLECTIVE_ALL_GATHER };
    const dfl_einsum *e = &f->workload->einsums[einsum];
    dfl_layout *asked = DFL_NEW_ARRAY(f->arena, dfl_layout, f->columns), *from = DFL_NEW_ARRAY(f->arena, dfl_layout, f->columns);
    uint64_t mask[N_WAYS] = { 0 };

    for (uint32_t s = 0; s < f->n_slots; s++) {
        int way;

        from[s] = source(f, l, einsum, access->tensor, s);
        asked[s] = dfl_layout_asked(f, einsum, access, s);
        if (asked[s] == DFL_LAYOUT_WINDOW)
            return dfl_frame_refuse(f, access->span, "a divided rank in a window that moves by more than 1",
                                    "divide another rank");
        if (f->slots[s].stages != NULL || f->slots[s].count == 1 ||
            (f->positions[einsum] != NULL && access->tensor == f->positions[einsum]->tensor && dfl_frame_goes(f, einsum, s)))
            continue;
        way = find_way(f, einsum, access, (change){ from[s], asked[s] });
        if (way == N_WAYS && from[s] >= 0 && from[s] == asked[s] && nests_apart(from, asked, s))
            way = ACROSS;
        if (way < N_WAYS)
            mask[way] |= UINT64_C(1) << s;
    }
    for (uint32_t s = 0; s < f->n_slots; s++) /* whether parts of dealt parts differ depends on their sizes */
        if (from[s] >= 0 && from[s] == asked[s] && f->slots[s].count > 1 && nests_apart(from, asked, s) &&
            is_dealt_in(f, from, asked, s))
            return dfl_frame_refuse(f, access->span, "an exchange of a dimension that several groups divide, one of them "
                                    "round-robin", "divide the dimension on one axis, or into blocks");
    for (int k = 0; k < N_WAYS; k++) {
        dfl_plan_exchange x = { .kind = kinds[k], .place = DFL_EXCHANGE_BEFORE, .tensor = access->tensor, .einsum = einsum,
                           .phase = e->phase, .slots = mask[k], .access = access, .asked = asked };
        dfl_plan_exchange *copy = mask[k] != 0 ? find_copy(f, out, einsum, access, asked, kinds[k]) : NULL;

        if (mask[k] == 0)
            continue;
        if (copy == NULL) {
            if (!set_operand_bits(f, l, einsum, access, mask, k, &x))
                return false;
            DFL_PUSH(f->arena, out, x);
            copy = &out->at[out->n - 1];
        }
        add_reader(f, copy, einsum);
    }
    for (uint32_t s = 0; s < f->n_slots; s++)
        if (asked[s] >= 0 && f->slots[s].count > 1 && f->slots[s].stages == NULL && !dfl_frame_goes(f, einsum, s) &&
            source(f, l, einsum, access->tensor, s) != DFL_LAYOUT_REPLICATED &&
            !add_halos(f, l, einsum, access, asked, s, out))
            return false;
    return true;
}

/* Whether the result of an einsum is a sum over all micro-batches: the gradient of a weight, or a sum over a rank that the
   micro-batches divide, which nothing reads before the step ends. */
static bool is_sum_of_step(const dfl_frame *f, uint32_t einsum)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];
    const dfl_tensor *t = &f->workload->tensors[dfl_frame_target(f, einsum)];

    if (t->part == DFL_PART_GRADIENT && f->workload->tensors[t->of].role == DFL_ROLE_WEIGHT)
        return true;
    for (uint32_t i = 0; i < e->n_ranks && t->n_consumers == 0 && e->reduce == DFL_REDUCE_ADD; i++) {
        bool is_left = false;

        for (uint32_t d = 0; d < e->output.n_dims; d++)
            is_left |= dfl_index_coef(&e->output.index[d], e->ranks[i]) != 0;
        if (!is_left && !f->repeats[e->ranks[i]] &&
            dfl_frame_pass(f, einsum, e->ranks[i]) < dfl_frame_local(f, einsum, e->ranks[i]))
            return true;
    }
    return false;
}

/* Whether the producers of a tensor run on the first and on the last stage. */
static bool is_tied(const dfl_frame *f, uint32_t tensor)
{
    bool before = false, after = false, inside = false;
    uint32_t rank = f->stage_slot != DFL_NONE ? f->slots[f->stage_slot].stage_rank : DFL_NONE;
    uint32_t first = DFL_NONE;

    if (rank == DFL_NONE || f->slots[f->stage_slot].count == 1)
        return false;
    for (uint32_t e = 0; e < f->workload->n_einsums; e++)
        if (f->workload->einsums[e].phase == DFL_PHASE_BACKWARD && dfl_einsum_has_rank(&f->workload->einsums[e], rank)) {
            first = first == DFL_NONE ? e : first;
        }
    for (uint32_t e = 0; e < f->workload->n_einsums && first != DFL_NONE; e++) {
        if (dfl_frame_target(f, e) != tensor || dfl_einsum_is_start(&f->workload->einsums[e]))
            continue;
        inside |= dfl_einsum_has_rank(&f->workload->einsums[e], rank);
        before |= e < first;
        after |= e > first;
    }
    return before && after && !inside;
}

/* Whether the points of a result that instances have by rows are sent one by one, rather than as sums of all instances. */
static bool comes_back(const dfl_frame *f, uint32_t einsum, uint32_t slot)
{
    const dfl_access *output = &f->workload->einsums[einsum].output;

    return dfl_frame_goes(f, einsum, slot) && dfl_layout_made(f, einsum, slot) == DFL_LAYOUT_PARTIAL &&
           f->workload->einsums[einsum].body->kind != DFL_EOP_SCATTER && dfl_rows_varies(f, einsum, output) &&
           dfl_rows_uses(f, einsum, output) < f->points[einsum].parts;
}

/* Sets the slots on which some producer of a tensor makes parts of a home that is whole, or makes by rows what the home has by a
   dimension. False after a report: a producer makes other
   parts than the home has. */
static bool find_gathered(const dfl_frame *f, const dfl_layouts *l, uint32_t tensor, uint64_t *gathered,
                          uint64_t *across)
{
    const dfl_layout *home = &l->home[(size_t)tensor * l->columns];
    dfl_layout *made = DFL_NEW_ARRAY(f->arena, dfl_layout, f->columns);

    for (uint32_t e = 0; e < f->workload->n_einsums; e++)
        for (uint32_t s = 0; dfl_frame_target(f, e) == tensor && s < f->n_slots; s++) {
            made[s] = dfl_layout_made(f, e, s);
            if (f->slots[s].stages != NULL || f->slots[s].count == 1 ||
                (made[s] == DFL_LAYOUT_ROWS ? home[s] == made[s] : made[s] < 0))
                continue;
            if (made[s] == DFL_LAYOUT_ROWS && home[s] >= 0) {
                *across |= UINT64_C(1) << s;
                continue;
            }
            if (home[s] >= 0 && made[s] != home[s])
                return dfl_frame_refuse(f, f->workload->einsums[e].span, "a home that is split along another dimension than its "
                                        "producer", "split the home as its producer");
            if (home[s] >= 0 && nests_apart(made, home, s))
                return dfl_frame_refuse(f, f->workload->einsums[e].span, "a home that is split along a dimension that another "
                                        "group divides", "split the home along another rank");
            if (home[s] == DFL_LAYOUT_REPLICATED && !l->is_summed[(size_t)tensor * l->columns + s])
                *gathered |= UINT64_C(1) << s;
        }
    return true;
}

/* Whether an einsum adds to rows of a table that lie alone, and each micro-batch adds to other rows of the step. */
static bool adds_rows_in_parts(const dfl_frame *f, uint32_t einsum)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];
    const dfl_tensor *t = &f->workload->tensors[dfl_frame_target(f, einsum)];
    bool in_parts = false;

    if (e->body->kind != DFL_EOP_SCATTER || t->n_producers == 0 ||
        f->workload->einsums[t->producers[0]].body->kind != DFL_EOP_SCATTER)
        return false;
    for (uint32_t i = 0; i < e->n_ranks; i++)
        in_parts |= !f->repeats[e->ranks[i]] && dfl_frame_pass(f, einsum, e->ranks[i]) < dfl_frame_local(f, einsum, e->ranks[i]);
    return in_parts;
}

/* Adds the exchanges that make the home of a tensor from the results of its producers; `einsum` is the last of them. */
static bool add_after(const dfl_frame *f, const dfl_layouts *l, uint32_t einsum, exchange_vec *out)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];
    const uint32_t tensor = dfl_frame_target(f, einsum);
    const bool is_of_step = is_sum_of_step(f, einsum);
    const dfl_exchange_place late = is_of_step ? DFL_EXCHANGE_ONCE : DFL_EXCHANGE_AFTER;
    dfl_plan_exchange x = { .tensor = tensor, .einsum = einsum, .phase = e->phase };
    uint64_t now = 0, scatter = 0, reduce = 0, gather = 0, back = 0, taken = 0, across = 0;

    if (!find_gathered(f, l, tensor, &gather, &across))
        return false;
    for (uint32_t s = 0; s < f->n_slots; s++) {
        const dfl_layout home = dfl_layout_home(l, tensor, s);

        if (f->slots[s].stages != NULL || f->slots[s].count == 1)
            continue;
        if (l->is_summed[(size_t)tensor * l->columns + s] && home >= 0 && comes_back(f, einsum, s))
            back |= UINT64_C(1) << s;
        else if (l->is_summed[(size_t)tensor * l->columns + s])
            *(home < 0 ? &reduce : dfl_layout_is_summed_late(f, l, tensor, s) ? &scatter : &now) |= UINT64_C(1) << s;
        else if (dfl_layout_made(f, einsum, s) < 0 && home >= 0) /* or `across` */
            taken |= UINT64_C(1) << s; /* each chip takes its part of what all have made */
    }
    const struct { dfl_collective_kind kind; dfl_exchange_place place; uint64_t mask; bool tied; } all[] = {
        { DFL_COLLECTIVE_ALL_TO_ALL, DFL_EXCHANGE_AFTER, back, false },
        { DFL_COLLECTIVE_REDUCE_SCATTER, DFL_EXCHANGE_AFTER, now, false },
        { DFL_COLLECTIVE_REDUCE_SCATTER, late, scatter, false },
        { DFL_COLLECTIVE_ALL_REDUCE, late, reduce, false },
        { DFL_COLLECTIVE_ALL_REDUCE, late, 0, is_of_step && is_tied(f, tensor) },
        { DFL_COLLECTIVE_ALL_TO_ALL, late, across, false },
        { DFL_COLLECTIVE_ALL_GATHER, late, gather, false },
    };
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
        x.kind = all[k].kind;
        x.place = all[k].place;
        x.slots = all[k].mask;
        x.is_tied = all[k].tied;
        if (x.slots == 0 && !x.is_tied)
            continue;
        if (x.place == DFL_EXCHANGE_AFTER && adds_rows_in_parts(f, einsum))
            return dfl_frame_refuse(f, e->span, "an exchange in each micro-batch of gradients of rows that data select",
                                    "leave the gradients whole, or leave out the micro-batches");
        if (!find_result_bits(f, l, einsum, x.kind == DFL_COLLECTIVE_ALL_GATHER ? gather : 0,
                              taken | (k > 0 ? back : 0) | (k > 1 ? now : 0) | (k > 2 ? scatter : 0), &x.bits))
            return false;
        x.most_bits = 0;
        if (k == 0) {
            x.bits = ceil_div(x.bits, count_ranks(f, back)) * dfl_rows_uses(f, einsum, &e->output);
            x.most_bits = most_bits(f, einsum, x.bits);
        }
        DFL_PUSH(f->arena, out, x);
    }
    return true;
}

/* Bits of a piece over the time in which a memory reads two pieces and writes one; 0 = it takes no time. */
static double reduction_rate(const dfl_memory *m)
{
    double reads = isfinite(m->read_rate) ? 2 / m->read_rate : 0, writes = isfinite(m->write_rate) ? 1 / m->write_rate : 0;
    double seconds = m->one_port ? reads + writes : fmax(reads, writes);

    return seconds > 0 ? 1 / seconds : 0;
}

/* The cost of an exchange; equal exchanges are computed once. */
static bool find_cost(const dfl_frame *f, dfl_plan_exchanges *all, uint32_t i)
{
    dfl_plan_exchange *x = &all->at[i];
    dfl_group_part *parts = DFL_NEW_ARRAY(f->arena, dfl_group_part, (size_t)f->n_slots + 1);
    dfl_collective ask = { .kind = x->kind, .bits = dfl_i128_double(x->most_bits > 0 ? x->most_bits : x->bits),
                           .parts = parts,
                           .element = f->system->memories[f->home].element,
                           .memory_rate = reduction_rate(&f->system->memories[f->room_of[x->tensor]]) };
    const dfl_collective_options options = { .contention_none = f->mapping->options.contention_none,
                                             .chunks = f->mapping->options.chunks };

    if (x->bits == 0) /* conditions leave out all elements in this iteration */
        return true;
    for (uint32_t k = 0; k < i; k++)
        if (all->at[k].kind == x->kind && all->at[k].slots == x->slots && all->at[k].bits == x->bits &&
            all->at[k].most_bits == x->most_bits && all->at[k].is_tied == x->is_tied &&
            f->room_of[all->at[k].tensor] == f->room_of[x->tensor]) {
            x->cost = all->at[k].cost;
            return true;
        }
    for (uint32_t s = 0; s < f->n_slots; s++) {
        const dfl_slot *slot = &f->slots[s];

        if (x->slots >> s & 1)
            parts[ask.n_parts++] = (dfl_group_part){ .axis = slot->axis, .stride = slot->stride, .count = slot->count };
        if (x->is_tied && slot->stages != NULL)
            parts[ask.n_parts++] = (dfl_group_part){ .axis = slot->axis, .stride = slot->stride * (slot->count - 1), .count = 2,
                                                     .period = slot->stride * slot->count };
    }
    return dfl_collective_find(f->arena, f->sink, f->names, f->system, f->workload->einsums[x->einsum].span, &ask, &options,
                               &x->cost);
}

/* Whether no later einsum writes what an einsum writes. The step of the optimizer writes a weight that others made. */
static bool is_last_writer(const dfl_frame *f, uint32_t einsum)
{
    for (uint32_t e = einsum + 1; e < f->workload->n_einsums; e++)
        if (dfl_frame_target(f, e) == dfl_frame_target(f, einsum))
            return false;
    return true;
}

/* Divides an exchange into the parts in which its einsum runs, if the parts divide its tensor. False after a report. */
static bool set_parts(const dfl_frame *f, dfl_plan_exchange *x)
{
    const dfl_einsum *e = &f->workload->einsums[x->einsum];
    const int64_t n = f->parts[x->einsum];
    bool is_cut = x->place == DFL_EXCHANGE_AFTER && n > 1 && dfl_access_has_rank(&e->output, f->parts_rank[x->einsum]);

    x->parts = 1;
    for (uint32_t i = 0; i < e->n_inputs && n > 1 && x->place == DFL_EXCHANGE_BEFORE; i++)
        is_cut |= e->inputs[i].tensor == x->tensor && dfl_access_has_rank(&e->inputs[i], f->parts_rank[x->einsum]);
    if (!is_cut)
        return true;
    for (uint32_t r = 0; r < x->n_readers; r++)
        if (f->parts[x->readers[r]] != n || f->parts_rank[x->readers[r]] != f->parts_rank[x->einsum])
            return dfl_frame_refuse(f, e->span, "an exchange in parts whose tensor an einsum outside of the brace reads, too,",
                                    "put all einsums that read it into the brace");
    if (x->is_halo || x->most_bits > 0 || x->bits % n != 0)
        return dfl_frame_refuse(f, e->span, "this exchange in parts", "leave the loop out of the brace of its einsum");
    x->parts = n;
    x->bits /= n;
    return true;
}

/* Refuses a copy that a recomputed einsum reads, and whose first reader is not recomputed: the backward pass would have to make
   it again before another einsum than the forward pass. */
static bool check_again(const dfl_frame *f, const dfl_plan_exchange *x)
{
    const dfl_einsum *all = f->workload->einsums;

    if (x->place != DFL_EXCHANGE_BEFORE || x->bits == 0 || dfl_frame_is_again(f, x->einsum))
        return true;
    for (uint32_t r = 0; r < x->n_readers; r++)
        if (dfl_frame_is_again(f, x->readers[r]))
            return dfl_frame_refuse(f, f->mapping->span,
                dfl_arena_printf(f->arena, "to recompute `%s`, which reads the copy of `%s` that an exchange makes for `%s`, "
                                 "without `%s`", dfl_einsum_label(f->names, &all[x->readers[r]]),
                                 dfl_tensor_label(f->names, &f->workload->tensors[x->tensor]),
                                 dfl_einsum_label(f->names, &all[x->einsum]), dfl_einsum_label(f->names, &all[x->einsum])),
                dfl_arena_printf(f->arena, "write `recompute` for both `%s` and `%s`, or for none of them",
                                 dfl_einsum_label(f->names, &all[x->einsum]), dfl_einsum_label(f->names, &all[x->readers[r]])));
    return true;
}

bool dfl_exchanges_find(const dfl_frame *f, const dfl_layouts *layouts, const dfl_plan_exchanges *before,
                        dfl_plan_exchanges *out)
{
    const dfl_workload *w = f->workload;
    exchange_vec all = { 0 };

    for (uint32_t e = 0; e < w->n_einsums; e++) {
        for (uint32_t i = 0; i < w->einsums[e].n_inputs; i++) {
            const dfl_access *a = &w->einsums[e].inputs[i];

            if (!(w->tensors[a->tensor].gathered ? add_rows(f, layouts, e, a, &all) : add_before(f, layouts, e, a, &all)))
                return false;
        }
        if (is_last_writer(f, e) && !add_after(f, layouts, e, &all))
            return false;
    }
    out->at = all.at;
    out->n = (uint32_t)all.n;
    for (uint32_t i = 0; i < out->n; i++)
        if (!set_parts(f, &out->at[i]) || !check_again(f, &out->at[i]))
            return false;
    for (uint32_t i = 0; i < out->n; i++)
        if (before != NULL && before->at[i].bits == out->at[i].bits && before->at[i].most_bits == out->at[i].most_bits)
            out->at[i].cost = before->at[i].cost;
        else if (!find_cost(f, out, i))
            return false;
    return true;
}
