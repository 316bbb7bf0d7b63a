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

/* Whether a producer leaves parts of sums on some of the slots. */
static bool leaves_parts(const dfl_frame *f, uint32_t einsum, uint64_t slots)
{
    for (uint32_t s = 0; s < f->n_slots && !dfl_einsum_is_start(&f->workload->einsums[einsum]); s++)
        if ((slots >> s & 1) != 0 && dfl_layout_made(f, einsum, s) == DFL_LAYOUT_PARTIAL)
            return true;
    return false;
}

/* Whether a producer divides a result on some of the slots, by a dimension or by the rows to which its points go. */
static bool divides_on(const dfl_frame *f, uint32_t einsum, uint64_t slots)
{
    for (uint32_t s = 0; s < f->n_slots; s++)
        if ((slots >> s & 1) != 0 && (dfl_layout_made(f, einsum, s) >= 0 || dfl_layout_made(f, einsum, s) == DFL_LAYOUT_ROWS))
            return true;
    return false;
}

/* What the chips that exchange a result have of it: those of the `gathered` slots together, as far as the home has it on the
   `scattered` slots, and another producer on the `shared` slots, which are gathered behind. They send elements of the einsums
   that leave parts of sums on the `summed` slots, or that divide the result on the `divided` slots; if both are 0, of all. */
typedef struct { uint64_t gathered, scattered, shared, summed, divided; } result_slots;

/* The einsums of whose elements an exchange of the result of an einsum moves some, by einsum: what all chips have made whole
   moves nothing, nor do zeros before a sum. NULL = all: the einsum starts a sum by itself. */
static const bool *find_counted(const dfl_frame *f, uint32_t einsum, uint64_t summed, uint64_t divided)
{
    const dfl_workload *w = f->workload;
    bool *out = DFL_NEW_ARRAY(f->arena, bool, (size_t)w->n_einsums + 1);

    if (dfl_einsum_is_start(&w->einsums[einsum]))
        return NULL;
    for (uint32_t e = 0; e < w->n_einsums; e++)
        out[e] = summed != 0 ? leaves_parts(f, e, summed)
                             : !dfl_einsum_is_start(&w->einsums[e]) && (divided == 0 || divides_on(f, e, divided));
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

/* The last one of the einsums that make a tensor and count; 0 = there is none. */
static uint32_t last_counted(const dfl_tensor *t, const bool *counted)
{
    for (uint32_t p = t->n_producers; p-- > 0;)
        if (counted == NULL || counted[t->producers[p]])
            return t->producers[p];
    return 0;
}

/* Whether an einsum makes all elements of its result that the `counted` einsums make. */
static bool makes_all(const dfl_frame *f, const dfl_tensor *t, uint32_t einsum, const bool *counted)
{
    const dfl_einsum *const einsums = f->workload->einsums;

    for (uint32_t p = 0; p < t->n_producers; p++) {
        const dfl_access *other = &einsums[t->producers[p]].output;

        if (!dfl_einsum_is_start(&einsums[t->producers[p]]) && (counted == NULL || counted[t->producers[p]]) &&
            (other->n_dims != einsums[einsum].output.n_dims ||
             !dfl_pass_is_within(f->workload, other, &einsums[einsum].output)))
            return false;
    }
    return true;
}

/* Whether two einsums make the same elements of a result: by the same indices under the same conditions. */
static bool makes_same(const dfl_einsum *a, const dfl_einsum *b)
{
    bool is_same = dfl_conditions_equal(a, b) && a->output.n_dims == b->output.n_dims;

    for (uint32_t d = 0; d < a->output.n_dims && is_same; d++)
        is_same = dfl_index_equal(&a->output.index[d], &b->output.index[d]);
    return is_same;
}

/* Whether conditions leave out elements of a result, made by the `counted` einsums, on the chips that exchange it; then `*out`
   are its elements on these chips: those that make parts of its sums and those of the `gathered` slots, which may make
   different elements. False after a report: einsums make different parts of it. */
static bool find_made(const dfl_frame *f, const dfl_layouts *l, uint32_t tensor, uint64_t gathered, const int64_t *parts,
                      const bool *counted, bool *is_thin, dfl_i128 *out)
{
    const dfl_tensor *t = &f->workload->tensors[tensor];
    const uint64_t together = gathered | summed_slots(f, l, tensor);
    const uint32_t last = last_counted(t, counted);
    const dfl_access *made = &f->workload->einsums[last].output;
    bool is_alike = true, is_one = true, has_whole = false, has_where = false;

    *is_thin = false;
    if (t->n_producers == 0) /* the optimizer renews it, without conditions */
        return true;
    for (uint32_t p = 0; p < t->n_producers; p++) {
        const dfl_einsum *e = &f->workload->einsums[t->producers[p]];
        bool thin;

        if (dfl_einsum_is_start(e) || (counted != NULL && !counted[t->producers[p]]))
            continue;
        if (!find_thin(f, t->producers[p], together, &thin))
            return false;
        *is_thin |= thin;
        has_whole |= !thin && makes_all(f, t, t->producers[p], counted);
        for (uint32_t d = 0; d < e->output.n_dims && e->n_where > 0; d++)
            has_where |= dfl_mask_has_dim(f, t->producers[p], &e->output, d) &&
                         dfl_conditions_cut(f->workload, e, &e->output, d);
        is_alike &= is_made_alike(f, t->producers[p], last);
        is_one &= makes_same(e, &f->workload->einsums[last]);
    }
    *is_thin &= !(has_whole && is_alike); /* conditions leave out nothing of a producer that makes all */
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

/* Whether a result lies where the points of its einsum are, by the rows of a table: at home, or, if `l` is NULL, as the einsum
   leaves it. False if no line over rows divides the einsum. */
static bool lies_by_rows(const dfl_frame *f, const dfl_layouts *l, uint32_t maker, uint32_t tensor)
{
    bool lies = false;

    for (uint32_t s = 0; s < f->n_slots; s++) {
        if (!dfl_frame_goes(f, maker, s) || f->slots[s].count == 1)
            continue;
        if ((l == NULL ? dfl_layout_made(f, maker, s) : dfl_layout_home(l, tensor, s)) != DFL_LAYOUT_ROWS)
            return false;
        lies = true;
    }
    return lies;
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

/* Refuses sums of which several einsums make parts in other places of a dimension of which the home takes blocks: no block has as
   much of all of them as the fullest block of each. False after a report. */
static bool check_places(const dfl_frame *f, const dfl_layouts *l, uint32_t einsum, result_slots slots, const bool *counted)
{
    const dfl_tensor *t = &f->workload->tensors[dfl_frame_target(f, einsum)];
    uint32_t *makers = DFL_NEW_ARRAY(f->arena, uint32_t, (size_t)t->n_producers + 1), overlapping, n;
    int64_t *parts = DFL_NEW_ARRAY(f->arena, int64_t, (size_t)t->n_dims + 1), rows;

    if (slots.summed == 0 || t->gathered)
        return true;
    n = dfl_pass_makers(f->workload, dfl_frame_target(f, einsum), einsum, counted, makers, &overlapping);
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

/* Elements that the `counted` producers of the result of an einsum make in one pass. True on overflow. */
static bool add_makers(const dfl_frame *f, const dfl_layouts *l, uint32_t einsum, result_slots slots, const bool *counted,
                       dfl_i128 *out)
{
    const uint32_t tensor = dfl_frame_target(f, einsum);
    const dfl_workload *w = f->workload;
    uint32_t *makers = DFL_NEW_ARRAY(f->arena, uint32_t, (size_t)w->tensors[tensor].n_producers + 1), overlapping;
    int64_t *parts = DFL_NEW_ARRAY(f->arena, int64_t, (size_t)w->tensors[tensor].n_dims + 1), rows;
    bool overflow = false;
    dfl_i128 n;

    *out = 0;
    for (uint32_t all = dfl_pass_makers(w, tensor, einsum, counted, makers, &overlapping), k = 0; k < all; k++) {
        /* neighbours have got the rest */
        const dfl_access *own = dfl_halo_own(f, makers[k], &w->einsums[makers[k]].output, UINT64_MAX);

        find_parts(f, l, makers[k], slots, parts, &rows);
        overflow |= dfl_frame_elements_of_group(f, makers[k], own, slots.gathered, parts, &n) ||
                    dfl_mul(n, dfl_halo_own_steps(f, makers[k], &w->einsums[makers[k]].output), &n) || dfl_add(*out, n, out);
    }
    return overflow;
}

/* Whether the rows that an einsum writes are those of the points which go to its instance. */
static bool writes_own_rows(const dfl_frame *f, const dfl_layouts *l, uint32_t einsum, uint32_t tensor)
{
    return lies_by_rows(f, l, einsum, tensor) ||
           (f->workload->einsums[einsum].phase == DFL_PHASE_UPDATE && f->workload->tensors[tensor].gathered);
}

/* Refuses parts of a dimension of positions of what an einsum leaves where its points are: data say which of the points of one
   instance belong there. False after a report. */
static bool check_samples(const dfl_frame *f, uint32_t einsum, const int64_t *parts)
{
    const dfl_access *made = &f->workload->einsums[einsum].output;

    for (uint32_t d = 0; d < made->n_dims; d++)
        for (uint32_t t = 0; parts[d] > 1 && t < made->index[d].n_terms; t++)
            if (dfl_rows_has_position(f, einsum, made->index[d].terms[t].rank))
                return dfl_frame_refuse(f, f->workload->einsums[einsum].span,
                                        "a home with parts of the samples of points that come from rows",
                                        "divide the samples of the result as the line that the rows replace");
    return true;
}

/* Elements of the part of a table to whose rows the points of an instance go, in one layer. True on overflow. */
static bool table_part(const dfl_frame *f, uint32_t einsum, dfl_i128 *out)
{
    const dfl_tensor *t = &f->workload->tensors[dfl_frame_target(f, einsum)];
    bool overflow = false;
    uint32_t rank;

    *out = 1;
    for (uint32_t d = 0; d < t->n_table_dims; d++) {
        int64_t extent = t->table_extents[d];

        for (uint32_t s = 0; s < f->n_slots; s++)
            if (f->slots[s].stages == NULL && dfl_layout_made(f, einsum, s) == (dfl_layout)d)
                extent = dfl_ceil_div(extent, f->slots[s].count);
        extent = dfl_index_is_bare(&t->table_index[d], &rank) && f->repeats[rank] ? 1 : extent;
        overflow |= dfl_mul(*out, extent, out);
    }
    return overflow;
}

/* Bits of what an einsum writes in one pass; of a scatter, those of the table. False after a report. */
static bool find_result_bits(const dfl_frame *f, const dfl_layouts *l, uint32_t einsum, result_slots slots, dfl_i128 *out)
{
    const bool *counted = find_counted(f, einsum, slots.summed, slots.divided);
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
    if (slots.summed != 0 && lies_by_rows(f, NULL, maker, tensor) && !lies_by_rows(f, l, maker, tensor))
        return dfl_frame_refuse(f, f->workload->einsums[maker].output.span, "a sum of points by rows with a home in other parts",
                                "copy the sum to the other parts in an einsum of its own");
    find_parts(f, l, maker, slots, parts, &rows);
    if (!check_parts(f, l, maker, tensor, slots.gathered, slots.scattered) ||
        (lies_by_rows(f, l, maker, tensor) && !check_samples(f, maker, parts)))
        return false;
    if (!find_made(f, l, tensor, slots.gathered, parts, counted, &is_thin, out))
        return false;
    if (!is_thin && !is_scatter &&
        (!dfl_pass_check(f, tensor, einsum, counted) || !check_places(f, l, einsum, slots, counted)))
        return false;
    if (!is_thin && (!is_scatter || is_started)) {
        overflow = is_scatter ? dfl_frame_elements_of_group(f, maker, &f->workload->einsums[maker].output, slots.gathered, parts,
                                                            out)
                              : add_makers(f, l, einsum, slots, counted, out);
        if (writes_own_rows(f, l, maker, tensor) && !overflow) /* each instance has those of its own points */
            overflow = dfl_mul(*out / f->points[maker].total, f->points[maker].largest, out);
    } else if (!is_thin) {
        dfl_step_points all;
        dfl_i128 part = 0;

        overflow = dfl_tensor_stored(t, out);
        *out = ceil_div(*out, dfl_rows_layers(f, t));
        for (uint32_t s = 0; s < f->n_slots; s++)
            if (dfl_layout_made(f, einsum, s) >= 0 && !dfl_frame_goes(f, einsum, s) && f->slots[s].stages == NULL)
                *out = (*out + f->slots[s].count - 1) / f->slots[s].count;
        overflow |= dfl_step_points_find(f, einsum, summed_slots(f, l, tensor), &all) || dfl_mul(*out, all.largest, out);
        *out = overflow ? 0 : (*out + all.total - 1) / all.total; /* one instance has most points in all passes */
        overflow = overflow || table_part(f, einsum, &part);
        *out = *out < part ? *out : part;
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
            if (made[s] >= 0 && home[s] == DFL_LAYOUT_ROWS)
                return dfl_frame_refuse(f, f->workload->einsums[e].span, "a part of a result that another einsum makes where its "
                                        "points are, by the rows of a table,", "write the einsum whose points go to rows behind "
                                        "this one");
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

/* Whether some other producer that leaves parts of sums on `summed` slots, or divides the result on `divided` slots, makes all
   elements that an einsum makes, whatever conditions leave out of these. */
static bool is_made_again(const dfl_frame *f, uint32_t tensor, uint32_t einsum, uint64_t summed, uint64_t divided)
{
    const dfl_tensor *t = &f->workload->tensors[tensor];
    const dfl_einsum *e = &f->workload->einsums[einsum];

    for (uint32_t p = 0; p < t->n_producers; p++) {
        const dfl_einsum *other = &f->workload->einsums[t->producers[p]];

        if (other->output.n_dims == e->output.n_dims && !dfl_mask_thins(f, t->producers[p], &other->output) &&
            (leaves_parts(f, t->producers[p], summed) || divides_on(f, t->producers[p], divided)) &&
            dfl_pass_is_within(f->workload, &e->output, &other->output))
            return true;
    }
    return false;
}

/* Whether `a` divides a dimension of a result on a gathered slot on which `b` does not, and `b` the same one on another slot: a
   chip has both parts of the elements that lie in its blocks of both, as many as the smaller block has. */
static bool divides_beside(const dfl_frame *f, uint32_t a, uint32_t b, uint64_t gather)
{
    for (uint32_t s = 0; s < f->n_slots; s++)
        for (uint32_t t = 0; t < f->n_slots; t++)
            if ((gather >> s & 1) != 0 && (gather >> t & 1) != 0 && dfl_layout_made(f, a, s) >= 0 &&
                dfl_layout_made(f, a, s) == dfl_layout_made(f, b, t) && dfl_layout_made(f, b, s) < 0 &&
                dfl_layout_made(f, a, t) < 0)
                return true;
    return false;
}

/* Whether a producer that leaves parts of sums on `summed` slots has the elements of the groups on which another producer leaves
   points by the rows of a table: which of them a chip sums depends on the data. */
static bool sums_beside_rows(const dfl_frame *f, uint32_t tensor, uint64_t summed)
{
    const dfl_tensor *t = &f->workload->tensors[tensor];

    for (uint32_t s = 0; s < f->n_slots; s++) {
        bool by_rows = false, whole = false;
        for (uint32_t p = 0; p < t->n_producers; p++) {
            const bool is_row = dfl_layout_made(f, t->producers[p], s) == DFL_LAYOUT_ROWS;
            by_rows |= is_row;
            whole |= !is_row && leaves_parts(f, t->producers[p], summed);
        }
        if (by_rows && whole && (summed >> s & 1) == 0)
            return true;
    }
    return false;
}

/* Refuses an exchange in which einsums take part with other elements: one divides elements among the chips that sum, of which
   none leaves parts, a group gathers some of the elements alone, or another one leaves points by rows. `gather`: the groups that
   gather, here or behind it. False after a report. */
static bool check_together(const dfl_frame *f, const dfl_plan_exchange *x, uint64_t gather)
{
    const dfl_tensor *t = &f->workload->tensors[x->tensor];

    if (x->kind != DFL_COLLECTIVE_ALL_GATHER && sums_beside_rows(f, x->tensor, x->slots))
        return dfl_frame_refuse(f, f->workload->einsums[x->einsum].output.span, "a sum beside points that go to rows",
                                "copy what the einsum by rows reads in an einsum of its own");
    for (uint32_t p = 0; p < t->n_producers; p++) {
        const uint32_t e = t->producers[p];
        const bool takes_part = x->kind == DFL_COLLECTIVE_ALL_GATHER ? divides_on(f, e, x->slots) : leaves_parts(f, e, x->slots);
        bool is_mixed = !takes_part && x->kind == DFL_COLLECTIVE_ALL_REDUCE && divides_on(f, e, x->slots) &&
                        !is_made_again(f, x->tensor, e, x->slots, 0);

        if (f->workload->einsums[e].body->kind == DFL_EOP_SCATTER || dfl_einsum_is_start(&f->workload->einsums[e]))
            continue;
        for (uint32_t q = 0; q < p; q++)
            if (divides_beside(f, e, t->producers[q], gather))
                return dfl_frame_refuse(f, f->workload->einsums[e].output.span, "a dimension of a result that einsums divide "
                                        "on groups of their own", "divide it on one axis in all einsums that make it");
        for (uint32_t s = 0; s < f->n_slots && takes_part; s++)
            is_mixed |= (gather >> s & 1) != 0 && !divides_on(f, e, UINT64_C(1) << s) &&
                        !is_made_again(f, x->tensor, e, 0, UINT64_C(1) << s);
        if (is_mixed)
            return dfl_frame_refuse(f, f->workload->einsums[e].output.span, "a result of which einsums divide or sum "
                                    "different elements", "divide the result alike in all einsums that make it");
    }
    return true;
}

/* Refuses a home that two groups divide along one dimension if the parts are unequal and the outer group has not taken its part
   yet: a chip then has the inner parts of several outer parts, which together may exceed its share. If an einsum makes only a
   part of the dimension, each of the two conditions is refused by itself, since elements are counted by blocks of one length.
   False after a report. */
static bool check_blocks(const dfl_frame *f, const dfl_layouts *l, uint32_t einsum, uint64_t scattered)
{
    const dfl_access *made = &f->workload->einsums[einsum].output;
    const dfl_tensor *t = &f->workload->tensors[made->tensor];
    uint32_t rank;

    for (uint32_t d = 0; d < made->n_dims && made->n_dims == t->n_dims && !t->gathered; d++) {
        const bool is_whole = dfl_index_is_bare(&made->index[d], &rank) && f->workload->ranks[rank].extent == t->extents[d];
        int64_t parts = 1;
        uint32_t n = 0;
        bool is_before = false, is_apart = false; /* a group whose part is not taken stands before one that has taken its own */

        for (uint32_t s = 0; s < f->n_slots; s++) {
            if (dfl_layout_home(l, made->tensor, s) != (dfl_layout)d || f->slots[s].count == 1)
                continue;
            parts *= f->slots[s].count;
            n += (scattered >> s & 1) != 0;
            is_apart |= is_before && (scattered >> s & 1) != 0;
            is_before |= (scattered >> s & 1) == 0 && !(is_whole && dfl_layout_made(f, einsum, s) == (dfl_layout)d);
        }
        if (is_whole ? is_apart && t->extents[d] % parts != 0 : is_apart || (n > 1 && t->extents[d] % parts != 0))
            return dfl_frame_refuse(f, made->span, "a part of a result whose home two groups divide along one dimension",
                                    "divide the home along different dimensions");
    }
    return true;
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
    const result_slots slots = {
        .gathered = is_gather ? gather : 0, .scattered = scattered,
        .shared = is_sum ? gather : gather == 0 ? x->slots : 0, .summed = is_sum ? x->slots : 0,
        .divided = is_gather ? x->slots : 0,
    };

    if (!check_together(f, x, is_gather ? x->slots : gather))
        return false;
    x->bits = 0;
    for (uint32_t e = 0; e < f->workload->n_einsums; e++) {
        dfl_i128 bits;

        if (dfl_frame_target(f, e) != x->tensor || dfl_einsum_is_start(&f->workload->einsums[e]) ||
            (is_sum && !leaves_parts(f, e, x->slots)) ||
            (is_gather && !divides_on(f, e, x->slots)) ||
            (t->n_producers > 0 && f->workload->einsums[e].phase != x->phase))
            continue;
        if (!check_blocks(f, l, e, scattered) || !find_result_bits(f, l, e, slots, &bits))
            return false;
        x->bits = bits > x->bits ? bits : x->bits;
    }
    return true;
}

/* The same with a `where` that leaves out elements; `is_thin` otherwise stays false. */
static bool set_thin_part(const dfl_frame *f, const dfl_layouts *l, uint64_t gathered, uint64_t scattered, dfl_plan_exchange *x,
                          bool *is_thin)
{
    const dfl_tensor *t = &f->workload->tensors[x->tensor];
    const bool is_gather = x->kind == DFL_COLLECTIVE_ALL_GATHER;
    const bool *counted = find_counted(f, x->einsum, is_gather ? 0 : x->slots, is_gather ? x->slots : 0);
    const uint32_t last = t->n_producers > 0 ? last_counted(t, counted) : x->einsum;
    const dfl_access *made = &f->workload->einsums[last].output;
    const uint64_t together = summed_slots(f, l, x->tensor);
    dfl_layout *home = DFL_NEW_ARRAY(f->arena, dfl_layout, f->columns);
    int64_t *parts = DFL_NEW_ARRAY(f->arena, int64_t, (size_t)t->n_dims + 1), rows;
    dfl_i128 n;

    find_parts(f, l, last, (result_slots){ .scattered = is_gather ? scattered : 0 }, parts, &rows);
    for (uint32_t s = 0; s < f->n_slots; s++) /* of a home that several groups divide, those that the chips have taken */
        home[s] = ((x->slots | scattered) >> s & 1) != 0 || dfl_layout_made(f, last, s) >= 0 ? dfl_layout_home(l, x->tensor, s)
                                                                                             : DFL_LAYOUT_REPLICATED;
    if (!find_made(f, l, x->tensor, is_gather ? gathered : 0, parts, counted, is_thin, &n))
        return false;
    if (!*is_thin)
        return true;
    if (!check_parts(f, l, last, x->tensor, 0, is_gather ? scattered : scattered | x->slots) ||
        !check_blocks(f, l, last, is_gather ? scattered : scattered | x->slots))
        return false;
    return (is_gather ? dfl_mask_elements_of_group(f, last, made, together & ~gathered, parts, &n)
                      : dfl_mask_result_part(f, last, together, home, x->slots, &n)) &&
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
    if (!set_thin_part(f, l, gathered, scattered, x, &is_thin) || is_thin || is_made_by_rows(f, x->tensor))
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

/* The same of the parts that chips of the `taken` groups take of what an einsum leaves where its points are. */
static bool check_taken_samples(const dfl_frame *f, const dfl_layouts *l, uint32_t einsum, uint64_t taken)
{
    const uint32_t tensor = dfl_frame_target(f, einsum);
    int64_t *parts = DFL_NEW_ARRAY(f->arena, int64_t, (size_t)f->workload->tensors[tensor].n_dims + 1), rows;

    if (!lies_by_rows(f, l, einsum, tensor))
        return true;
    find_parts(f, l, einsum, (result_slots){ .scattered = taken }, parts, &rows);
    return check_samples(f, einsum, parts);
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
    if (!check_late(f, l, einsum, tensor, scatter) || !check_taken_samples(f, l, einsum, taken))
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
