#include "plan/exchange/result_exchanges.h"

#include "ir/conditions.h"
#include "plan/exchange/halo_exchanges.h"
#include "plan/layout/elements.h"
#include "plan/layout/halos.h"
#include "plan/layout/lines.h"
#include "plan/layout/masks.h"
#include "plan/layout/pass_bits.h"
#include "plan/layout/rows.h"
#include "plan/layout/step_points.h"
#include "support/number.h"

static dfl_i128 ceil_div(dfl_i128 a, int64_t b) { return (a + b - 1) / b; }

/* ---- what is made ---- */

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
    const uint32_t last = t->n_producers > 0 ? t->producers[t->n_producers - 1] : 0;
    const dfl_access *made = &f->workload->einsums[last].output;
    bool is_alike = true, is_one = true, has_whole = false, has_where = false;

    *is_thin = false;
    if (t->n_producers == 0) /* the optimizer renews it, without conditions */
        return true;
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
            has_where |= dfl_mask_has_dim(f, t->producers[p], &e->output, d) &&
                         dfl_conditions_cut(f->workload, e, &e->output, d);
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

/* Whether the home of a result lies where its points are, by the rows of a table. */
static bool stays_by_rows(const dfl_frame *f, const dfl_layouts *l, uint32_t maker, uint32_t tensor)
{
    bool stays = false;

    for (uint32_t s = 0; s < f->n_slots; s++) {
        if (!dfl_frame_goes(f, maker, s) || f->slots[s].count == 1)
            continue;
        if (dfl_layout_home(l, tensor, s) != DFL_LAYOUT_ROWS)
            return false;
        stays = true;
    }
    return stays;
}

/* The dimension that some producer of a tensor divides on a slot; replicated = none does. */
static dfl_layout divided_by_some(const dfl_frame *f, const dfl_tensor *t, uint32_t slot)
{
    for (uint32_t p = 0; p < t->n_producers; p++)
        if (dfl_layout_made(f, t->producers[p], slot) >= 0)
            return dfl_layout_made(f, t->producers[p], slot);
    return DFL_LAYOUT_REPLICATED;
}

/* The dimension of what an einsum writes that stands for a dimension of a tensor. Of rows that data select, the access has the
   indices of the table behind those of the positions; replicated = the dimension that the data select. */
static dfl_layout written_dimension(const dfl_frame *f, uint32_t einsum, uint32_t tensor, dfl_layout d)
{
    const dfl_tensor *t = &f->workload->tensors[tensor];
    const dfl_access *output = &f->workload->einsums[einsum].output;

    if (!t->gathered)
        return d;
    for (uint32_t k = output->n_dims; k-- > 0;)
        if (dfl_index_equal(&output->index[k], &t->table_index[d]))
            return (dfl_layout)k;
    return DFL_LAYOUT_REPLICATED;
}

/* What the chips that exchange a result have of it: those of the `gathered` slots together, as far as the home has it on the
   `scattered` slots, and another producer on the `shared` slots, which are gathered behind. Of a sum over the `summed` slots they
   send what producers that leave parts there have made; 0 = what all producers have made. */
typedef struct { uint64_t gathered, scattered, shared, summed; } result_slots;

/* Sets the parts in which slots divide each dimension of what a maker writes further, and of rows, by the dimension that data
   select. */
static void find_parts(const dfl_frame *f, const dfl_layouts *l, uint32_t maker, result_slots slots, int64_t *parts,
                       int64_t *rows)
{
    const uint32_t tensor = dfl_frame_target(f, maker);
    const dfl_tensor *t = &f->workload->tensors[tensor];

    *rows = 1;
    for (uint32_t d = 0; d < t->n_dims; d++)
        parts[d] = 1;
    for (uint32_t s = 0; s < f->n_slots; s++) {
        dfl_layout d = DFL_LAYOUT_REPLICATED;

        if ((slots.scattered >> s & 1) != 0 && dfl_layout_home(l, tensor, s) >= 0 && dfl_layout_made(f, maker, s) < 0)
            d = dfl_layout_home(l, tensor, s);
        else if ((slots.shared >> s & 1) != 0 && dfl_layout_made(f, maker, s) < 0)
            d = divided_by_some(f, t, s);
        if (d >= 0)
            *(written_dimension(f, maker, tensor, d) < 0 ? rows : &parts[written_dimension(f, maker, tensor, d)]) *=
                f->slots[s].count;
    }
}

/* Whether a producer leaves parts of sums on some of the slots. */
static bool leaves_parts(const dfl_frame *f, uint32_t einsum, uint64_t slots)
{
    for (uint32_t s = 0; s < f->n_slots && !dfl_einsum_is_start(&f->workload->einsums[einsum]); s++)
        if ((slots >> s & 1) != 0 && dfl_layout_made(f, einsum, s) == DFL_LAYOUT_PARTIAL)
            return true;
    return false;
}

/* Producers of the result of an einsum whose parts lie apart, of those that the slots count. `makers` has room for one more than
   all producers; returns their number. */
static uint32_t list_makers(const dfl_frame *f, uint32_t einsum, result_slots slots, uint32_t *makers, uint32_t *overlapping)
{
    const dfl_workload *w = f->workload;
    bool *only = DFL_NEW_ARRAY(f->arena, bool, (size_t)w->n_einsums + 1);

    for (uint32_t e = 0; e < w->n_einsums; e++)
        only[e] = slots.summed == 0 || leaves_parts(f, e, slots.summed);
    return dfl_pass_makers(w, dfl_frame_target(f, einsum), einsum, dfl_einsum_is_start(&w->einsums[einsum]), only, makers,
                           overlapping);
}

/* Refuses sums of which several einsums make parts that overlap, or that lie in other places of a dimension of which the home
   takes blocks: no block has as much of all of them as the fullest block of each. False after a report. */
static bool check_sums(const dfl_frame *f, const dfl_layouts *l, uint32_t einsum, result_slots slots)
{
    const dfl_tensor *t = &f->workload->tensors[dfl_frame_target(f, einsum)];
    uint32_t *makers = DFL_NEW_ARRAY(f->arena, uint32_t, (size_t)t->n_producers + 1), overlapping, n;
    int64_t *parts = DFL_NEW_ARRAY(f->arena, int64_t, (size_t)t->n_dims + 1), rows;

    if (slots.summed == 0 || t->gathered)
        return true;
    n = list_makers(f, einsum, slots, makers, &overlapping);
    if (overlapping != DFL_NONE)
        return dfl_frame_refuse(f, f->workload->einsums[overlapping].output.span, "a sum of which einsums make overlapping parts",
                                "make parts that lie apart, or let one einsum make all elements that another one makes");
    for (uint32_t k = 1; k < n; k++) {
        const dfl_access *first = &f->workload->einsums[makers[0]].output, *other = &f->workload->einsums[makers[k]].output;

        find_parts(f, l, makers[k], slots, parts, &rows);
        for (uint32_t d = 0; d < other->n_dims; d++)
            if (parts[d] > 1 && !dfl_index_equal(&first->index[d], &other->index[d]))
                return dfl_frame_refuse(f, other->span, "a sum of which several einsums make other parts of a divided dimension",
                                        "divide the result at home along another dimension");
    }
    return true;
}

/* Elements that all producers of the result of an einsum make in one pass. Zeros before a sum move nothing. True on overflow. */
static bool add_makers(const dfl_frame *f, const dfl_layouts *l, uint32_t einsum, result_slots slots, dfl_i128 *out)
{
    const dfl_tensor *t = &f->workload->tensors[dfl_frame_target(f, einsum)];
    uint32_t *makers = DFL_NEW_ARRAY(f->arena, uint32_t, (size_t)t->n_producers + 1), overlapping;
    int64_t *parts = DFL_NEW_ARRAY(f->arena, int64_t, (size_t)t->n_dims + 1), rows;
    bool overflow = false;
    dfl_i128 n;

    *out = 0;
    for (uint32_t all = list_makers(f, einsum, slots, makers, &overlapping), k = 0; k < all; k++) {
        /* neighbours have got the rest */
        const dfl_access *own = dfl_halo_own(f, makers[k], &f->workload->einsums[makers[k]].output, UINT64_MAX);

        find_parts(f, l, makers[k], slots, parts, &rows);
        overflow |= dfl_frame_elements_of_group(f, makers[k], own, slots.gathered, parts, &n) || dfl_add(*out, n, out);
    }
    return overflow;
}

/* Whether the rows that an einsum writes are those of the points which go to its instance. */
static bool writes_own_rows(const dfl_frame *f, const dfl_layouts *l, uint32_t einsum, uint32_t tensor)
{
    return stays_by_rows(f, l, einsum, tensor) ||
           (f->workload->einsums[einsum].phase == DFL_PHASE_UPDATE && f->workload->tensors[tensor].gathered);
}

/* Bits of what an einsum writes in one pass; of a scatter, those of the table. False after a report. */
static bool find_result_bits(const dfl_frame *f, const dfl_layouts *l, uint32_t einsum, result_slots slots, dfl_i128 *out)
{
    const uint32_t tensor = dfl_frame_target(f, einsum);
    const dfl_tensor *t = &f->workload->tensors[tensor];
    const bool is_scatter = f->workload->einsums[einsum].body->kind == DFL_EOP_SCATTER;
    const bool is_started = t->n_producers > 0 && f->workload->einsums[t->producers[0]].body->kind != DFL_EOP_SCATTER;
    const uint32_t maker = is_scatter && is_started ? t->producers[0] : einsum;
    int64_t *parts = DFL_NEW_ARRAY(f->arena, int64_t, (size_t)t->n_dims + 1), rows;
    bool overflow = false, is_thin = false;

    for (uint32_t p = 0; p < t->n_producers; p++)
        if (dfl_mask_is_boxed(f, t->producers[p], &f->workload->einsums[t->producers[p]].output))
            return dfl_frame_refuse(f, f->workload->einsums[t->producers[p]].output.span,
                                    "an exchange of a result at sums of ranks of a `where`",
                                    "divide the result at home as its producer, or leave out the `where`");
    find_parts(f, l, maker, slots, parts, &rows);
    if (!check_parts(f, l, maker, tensor, slots.gathered, slots.scattered))
        return false;
    if (!find_made(f, l, tensor, slots.gathered, parts, &is_thin, out))
        return false;
    if (!is_thin && !is_scatter && (!dfl_pass_check(f, tensor, einsum, dfl_einsum_is_start(&f->workload->einsums[einsum])) ||
                                    !check_sums(f, l, einsum, slots)))
        return false;
    if (!is_thin && (!is_scatter || is_started)) {
        overflow = is_scatter ? dfl_frame_elements_of_group(f, maker, &f->workload->einsums[maker].output, slots.gathered, parts,
                                                            out)
                              : add_makers(f, l, einsum, slots, out);
        if (writes_own_rows(f, l, maker, tensor) && !overflow) /* each instance has those of its own points */
            overflow = dfl_mul(*out / f->points[maker].total, f->points[maker].largest, out);
    } else if (!is_thin) {
        dfl_step_points all;

        overflow = dfl_tensor_stored(t, out);
        for (uint32_t s = 0; s < f->n_slots; s++)
            if (dfl_layout_made(f, einsum, s) >= 0 && !dfl_frame_goes(f, einsum, s))
                *out = (*out + f->slots[s].count - 1) / f->slots[s].count;
        overflow |= dfl_step_points_find(f, einsum, summed_slots(f, l, tensor), &all) || dfl_mul(*out, all.largest, out);
        *out = overflow ? 0 : (*out + all.total - 1) / all.total; /* one instance has most points in all passes */
        for (uint32_t d = 0; d < t->n_dims; d++)
            *out = (*out + parts[d] - 1) / parts[d];
    }
    *out = ceil_div(*out, rows);
    if (!overflow && !dfl_mul(*out, t->type.bits, out))
        return true;
    dfl_report(f->sink, DFL_EVAL_OVERFLOW, f->workload->einsums[einsum].span, "a count of this plan exceeds 128 bits");
    return false;
}

/* ---- homes ---- */

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

/* The slots that divide the rows to which the points of an einsum go. */
static uint64_t rows_slots(const dfl_frame *f, uint32_t einsum)
{
    uint64_t out = 0;

    for (uint32_t s = 0; s < f->n_slots; s++)
        out |= (uint64_t)(f->slots[s].count > 1 && dfl_frame_goes(f, einsum, s)) << s;
    return out;
}

/* Positions that lines divide of a dimension of what an einsum writes of a tensor: those of its rank; of rows, all. */
static int64_t made_extent(const dfl_frame *f, uint32_t einsum, uint32_t tensor, uint32_t dim)
{
    const dfl_access *output = &f->workload->einsums[einsum].output;

    return output->tensor == tensor && !f->workload->tensors[tensor].gathered
               ? dfl_access_extent(f, output, dim) : f->workload->tensors[tensor].extents[dim];
}

/* Whether another producer of a tensor divides it on a slot into other parts than `einsum`: along another dimension, or within
   other parts. */
static bool is_divided_apart(const dfl_frame *f, uint32_t tensor, uint32_t einsum, uint32_t slot)
{
    dfl_layout *a = DFL_NEW_ARRAY(f->arena, dfl_layout, f->columns), *b = DFL_NEW_ARRAY(f->arena, dfl_layout, f->columns);

    for (uint32_t s = 0; s < f->n_slots; s++)
        a[s] = dfl_layout_made(f, einsum, s);
    for (uint32_t e = 0; e < einsum && a[slot] >= 0; e++) {
        if (dfl_frame_target(f, e) != tensor || dfl_layout_made(f, e, slot) < 0)
            continue;
        for (uint32_t s = 0; s < f->n_slots; s++)
            b[s] = dfl_layout_made(f, e, s);
        if (a[slot] != b[slot] ||
            dfl_layouts_nest_apart(f, a, b, slot, made_extent(f, einsum, tensor, (uint32_t)a[slot]),
                                   made_extent(f, e, tensor, (uint32_t)a[slot])))
            return true;
    }
    return false;
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
            if (home[s] >= 0 && dfl_layouts_nest_apart(f, made, home, s, made_extent(f, e, tensor, (uint32_t)home[s]),
                                                       f->workload->tensors[tensor].extents[home[s]]))
                return dfl_frame_refuse(f, f->workload->einsums[e].span, "a home in other parts of a dimension than its "
                                        "producer makes", "split the home along another rank");
            if (is_divided_apart(f, tensor, e, s))
                return dfl_frame_refuse(f, f->workload->einsums[e].span, "a result that its einsums divide into different parts "
                                        "on one axis", "divide it alike in all of them, or on different axes");
            if (home[s] == DFL_LAYOUT_REPLICATED && !l->is_summed[(size_t)tensor * l->columns + s])
                *gathered |= UINT64_C(1) << s;
        }
    return true;
}

/* Whether a producer divides a result on some of the slots. */
static bool divides_on(const dfl_frame *f, uint32_t einsum, uint64_t slots)
{
    for (uint32_t s = 0; s < f->n_slots; s++)
        if ((slots >> s & 1) != 0 && dfl_layout_made(f, einsum, s) >= 0)
            return true;
    return false;
}

/* Sets the bits of an exchange of a result behind its last producer: those of the producer with the most, of a sum among those
   that leave parts of it. What is gathered behind a sum is summed by the chips that send it. A gather of nothing (`gather` 0) has
   what one chip sends: no more than its part of what the others have whole. False after a report. */
static bool find_largest_bits(const dfl_frame *f, const dfl_layouts *l, uint32_t einsum, dfl_plan_exchange *x, uint64_t gather,
                              uint64_t scattered)
{
    const dfl_tensor *t = &f->workload->tensors[x->tensor];
    const bool is_gather = x->kind == DFL_COLLECTIVE_ALL_GATHER;
    const bool is_sum = x->kind == DFL_COLLECTIVE_ALL_REDUCE || x->kind == DFL_COLLECTIVE_REDUCE_SCATTER;

    if (x->is_tied || (!is_gather && !is_sum))
        return find_result_bits(f, l, einsum, (result_slots){ .scattered = scattered }, &x->bits);
    x->bits = 0;
    for (uint32_t e = 0; e < f->workload->n_einsums; e++) {
        const result_slots slots = { is_gather ? gather : 0, scattered, is_sum ? gather : gather == 0 ? x->slots : 0,
                                     is_sum ? x->slots : 0 };
        dfl_i128 bits;

        if (dfl_frame_target(f, e) != x->tensor || dfl_einsum_is_start(&f->workload->einsums[e]) ||
            (is_sum && !leaves_parts(f, e, x->slots)) ||
            (is_gather && gather == 0 && !divides_on(f, e, x->slots)) ||
            (t->n_producers > 0 && f->workload->einsums[e].phase != x->phase))
            continue;
        if (!find_result_bits(f, l, e, slots, &bits))
            return false;
        x->bits = bits > x->bits ? bits : x->bits;
    }
    return true;
}

/* The same with a `where` that leaves out elements; `is_thin` otherwise stays false. */
static bool set_thin_part(const dfl_frame *f, const dfl_layouts *l, uint64_t gathered, dfl_plan_exchange *x, bool *is_thin)
{
    const dfl_tensor *t = &f->workload->tensors[x->tensor];
    const bool is_gather = x->kind == DFL_COLLECTIVE_ALL_GATHER;
    const uint32_t last = t->n_producers > 0 ? t->producers[t->n_producers - 1] : x->einsum;
    const dfl_access *made = &f->workload->einsums[last].output;
    const uint64_t together = summed_slots(f, l, x->tensor);
    dfl_layout *home = DFL_NEW_ARRAY(f->arena, dfl_layout, f->columns);
    int64_t *parts = DFL_NEW_ARRAY(f->arena, int64_t, (size_t)t->n_dims + 1);
    dfl_i128 n;

    for (uint32_t d = 0; d < t->n_dims; d++)
        parts[d] = 1;
    for (uint32_t s = 0; s < f->n_slots; s++)
        home[s] = (x->slots >> s & 1) != 0 ? dfl_layout_home(l, x->tensor, s) : DFL_LAYOUT_REPLICATED;
    if (!find_made(f, l, x->tensor, is_gather ? gathered : 0, parts, is_thin, &n))
        return false;
    if (!*is_thin)
        return true;
    return (is_gather ? dfl_mask_elements_of_group(f, last, made, together & ~gathered, NULL, &n)
                      : dfl_mask_largest_part(f, last, made, together, home, NULL, x->slots, &n)) &&
           dfl_exchange_set_part(f, n, x);
}

/* Whether the points of a producer of a tensor go by the rows of a table. */
static bool is_made_by_rows(const dfl_frame *f, uint32_t tensor)
{
    for (uint32_t e = 0; e < f->workload->n_einsums; e++)
        if (dfl_frame_target(f, e) == tensor && (f->points[e].parts > 1 || f->workload->einsums[e].body->kind == DFL_EOP_SCATTER))
            return true;
    return false;
}

/* Sets the largest part of a result that one chip sends to another one: of what it has made, or of what it has summed for the
   home of the other one. False after a report. */
static bool set_largest_part(const dfl_frame *f, const dfl_layouts *l, uint64_t gathered, uint64_t scattered,
                             dfl_plan_exchange *x)
{
    const bool is_gather = x->kind == DFL_COLLECTIVE_ALL_GATHER;
    bool is_thin = false;
    dfl_i128 whole, part;

    if (x->kind != DFL_COLLECTIVE_REDUCE_SCATTER && !is_gather)
        return true;
    if (!set_thin_part(f, l, gathered, x, &is_thin) || is_thin || is_made_by_rows(f, x->tensor))
        return is_thin || is_made_by_rows(f, x->tensor);
    whole = x->bits;
    if (!find_largest_bits(f, l, x->einsum, x, is_gather ? 0 : gathered, is_gather ? scattered : scattered | x->slots))
        return false;
    part = x->bits / f->workload->tensors[x->tensor].type.bits;
    x->bits = whole;
    return dfl_exchange_set_part(f, part, x);
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

/* Refuses a home of unequal parts that two groups divide along one dimension, the outer one behind the last micro-batch: until
   then a chip has several inner parts, which may be larger than the share of the inner group. False after a report. */
static bool check_late(const dfl_frame *f, const dfl_layouts *l, uint32_t einsum, uint32_t tensor, uint64_t late)
{
    const dfl_tensor *t = &f->workload->tensors[tensor];

    for (uint32_t s = 0; s < f->n_slots; s++) {
        const dfl_layout d = dfl_layout_home(l, tensor, s);

        for (uint32_t inner = s + 1; inner < f->n_slots && (late >> s & 1) != 0 && d >= 0; inner++)
            if (dfl_layout_home(l, tensor, inner) == d && f->slots[inner].count > 1 && f->slots[inner].stages == NULL &&
                (late >> inner & 1) == 0 && t->extents[d] % (f->slots[s].count * f->slots[inner].count) != 0)
                return dfl_frame_refuse(f, f->workload->einsums[einsum].span, "a home of unequal parts that two groups divide, "
                                        "of which the outer one sums behind the last micro-batch,",
                                        "state all parts of the home in its `split`, or divide it into equal parts");
    }
    return true;
}

/* Sets the bits of an exchange of the points of a result that come from rows to their homes, each as often as points make it;
   chips of the `taken` groups have some of them at home. False after a report. */
static bool set_points_bits(const dfl_frame *f, const dfl_layouts *l, uint32_t einsum, uint64_t taken, dfl_plan_exchange *x)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];
    const int64_t uses = dfl_rows_uses(f, einsum, &e->output);
    dfl_i128 all = x->bits, own;

    for (uint32_t s = 0; s < f->n_slots; s++) { /* data say which of the points of one instance belong there */
        const dfl_layout d = (taken >> s & 1) != 0 && dfl_layout_made(f, einsum, s) < 0 ? dfl_layout_home(l, x->tensor, s)
                                                                                       : DFL_LAYOUT_REPLICATED;

        for (uint32_t t = 0; d >= 0 && t < e->output.index[d].n_terms; t++)
            if (dfl_rows_has_position(f, einsum, e->output.index[d].terms[t].rank))
                return dfl_frame_refuse(f, e->span, "a home with parts of the samples of points that come from rows",
                                        "divide the samples of the result as the line that the rows replace");
    }
    if (!find_result_bits(f, l, einsum, (result_slots){ .scattered = taken | x->slots }, &own))
        return false;
    own = ceil_div(own, dfl_exchange_ranks(f, rows_slots(f, einsum) & ~x->slots));
    if (!dfl_mul(all, uses, &all) && !dfl_mul(own, uses, &own))
        return dfl_exchange_set_points(f, einsum, all, own, x);
    dfl_report(f->sink, DFL_EVAL_OVERFLOW, e->span, "a count of this plan exceeds 128 bits");
    return false;
}

bool dfl_result_exchanges_add(const dfl_frame *f, const dfl_layouts *l, uint32_t einsum, dfl_exchange_vec *out)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];
    const uint32_t tensor = dfl_frame_target(f, einsum);
    const bool is_of_step = is_sum_of_step(f, einsum);
    const dfl_exchange_place late = is_of_step ? DFL_EXCHANGE_ONCE : DFL_EXCHANGE_AFTER;
    dfl_plan_exchange x = { .tensor = tensor, .einsum = einsum, .phase = e->phase };
    uint64_t now = 0, scatter = 0, reduce = 0, gather = 0, back = 0, taken = 0, across = 0, scattered;

    if (!find_gathered(f, l, tensor, &gather, &across) || !dfl_result_halos_add(f, l, einsum, out))
        return false;
    for (uint32_t s = 0; s < f->n_slots; s++) {
        const dfl_layout home = dfl_layout_home(l, tensor, s);

        if (f->slots[s].stages != NULL || f->slots[s].count == 1)
            continue;
        if (l->is_summed[(size_t)tensor * l->columns + s] && home >= 0 && comes_back(f, einsum, s))
            back |= UINT64_C(1) << s;
        else if (l->is_summed[(size_t)tensor * l->columns + s])
            *(home < 0 ? &reduce : dfl_layout_is_summed_late(f, l, tensor, s) ? &scatter : &now) |= UINT64_C(1) << s;
        else if (home >= 0) /* or `across` */
            taken |= UINT64_C(1) << s; /* each chip takes its part of what all have made */
    }
    if (!check_late(f, l, einsum, tensor, scatter))
        return false;
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
        scattered = taken | (k > 0 ? back : 0) | (k > 1 ? now : 0) | (k > 2 ? scatter : 0);
        if (!find_largest_bits(f, l, einsum, &x, gather, scattered))
            return false;
        if (k == 0 && rows_slots(f, einsum) != back && dfl_rows_are_uneven(f, einsum))
            return dfl_frame_refuse(f, e->span, "a result that points leave on one of two groups which divide the rows unevenly",
                                    "divide the samples on both of their axes, or the rows evenly");
        x.most_bits = x.part_bits = x.room_bits = 0;
        x.has_parts = false;
        if (k == 0 && !set_points_bits(f, l, einsum, taken, &x))
            return false;
        if (!x.is_tied && !set_largest_part(f, l, gather, scattered, &x))
            return false;
        DFL_PUSH(f->arena, out, x);
    }
    return true;
}
