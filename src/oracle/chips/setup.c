/* The chips of a plan: their groups, the block of each einsum on each chip, stages and micro-batches. */
#include <string.h>

#include "oracle/chips/outside.h"
#include "oracle/chips/rows.h"
#include "support/limits.h"

static int64_t parts_of(dfl_by by, int64_t amount, int64_t extent)
{
    return by == DFL_BY_PARTS ? amount : (extent + amount - 1) / amount;
}

/* The parts of a spatial line: a dealt one has one for each chip of its axis that gets an element. */
static int64_t parts_of_line(const chips *c, const dfl_line *line)
{
    const int64_t extent = c->w->ranks[line->rank].extent, n = c->s->axes[line->axis].size;

    return !line->cyclic ? parts_of(line->by, line->amount, extent) : n < extent ? n : extent;
}

/* Whether a rank counts the points that select rows which an optimizer renews: no dimension of the table has it alone. Each chip
   renews all rows of its part, also those that the points of other chips have selected. */
static bool selects_renewed(const chips *c, uint32_t einsum, uint32_t rank)
{
    const dfl_tensor *rows = &c->w->tensors[c->w->einsums[einsum].output.tensor];
    uint32_t bare;

    for (uint32_t d = 0; rows->gathered && d < rows->n_table_dims; d++)
        if (dfl_index_is_bare(&rows->table_index[d], &bare) && bare == rank)
            return false;
    return dfl_chips_renews_rows(c, einsum);
}

/* Whether a line divides a rank of an einsum. */
static bool divides(const chips *c, const dfl_line *line, uint32_t einsum)
{
    const dfl_einsum *e = &c->w->einsums[einsum];

    if (!dfl_einsum_has_rank(e, line->rank))
        return false;
    if (line->only == NULL && (e->over_rank == line->rank || selects_renewed(c, einsum, line->rank)))
        return false; /* an operation takes the rank whole */
    if (dfl_chips_is_replaced(c, line, einsum) || dfl_chips_goes(c, line, einsum))
        return false;
    return dfl_chips_is_named(c, line, einsum);
}

static bool is_chip_axis(const chips *c, uint32_t axis)
{
    return dfl_axis_encloses(c->s, axis, c->s->memories[c->home].element);
}

/* ---- groups ---- */

static bool add_group(chips *c, chip_group g, dfl_span span)
{
    if (c->n_groups == CHIPS_GROUPS)
        return dfl_chips_refuse(c, span, "a plan with more than 32 groups of chips");
    c->groups[c->n_groups++] = g;
    return true;
}

/* Puts a line into the first group of as many chips on its axis in which it meets no line of the same einsum. */
static bool put_line(chips *c, const dfl_line *line)
{
    const int64_t parts = parts_of_line(c, line);
    uint32_t g = 0;

    for (; g < c->n_groups; g++) {
        bool is_free = c->groups[g].axis == line->axis && c->groups[g].count == parts &&
                       c->groups[g].has_stages == (line->stages != NULL) && c->groups[g].is_dealt == line->cyclic;

        for (uint32_t e = 0; e < c->w->n_einsums && is_free; e++)
            is_free = !chips_is_divided(&c->einsums[e], g) || (!divides(c, line, e) && !dfl_chips_goes(c, line, e));
        if (is_free)
            break;
    }
    if (g == c->n_groups &&
        !add_group(c, (chip_group){ .axis = line->axis, .count = parts, .has_stages = line->stages != NULL,
                                     .is_dealt = line->cyclic }, line->span))
        return false;
    for (uint32_t e = 0; e < c->w->n_einsums; e++) {
        if (divides(c, line, e))
            c->einsums[e].divides[g] = line;
        else if (dfl_chips_goes(c, line, e) && !dfl_chips_go(c, line, e, g))
            return false;
    }
    if (line->stages != NULL) {
        c->stage_group = g;
        c->stage_rank = line->rank;
        c->n_stages = (uint32_t)parts;
        c->interleave = line->stages->interleave;
    }
    return true;
}

/* Adds the groups that the parts of a split home need beside those of the lines. */
static bool put_splits(chips *c, const dfl_line *keep)
{
    for (uint32_t k = 0; k < keep->n_splits; k++) {
        const dfl_home_split *split = &keep->splits[k];
        const int64_t parts = parts_of(split->by, split->amount, c->w->ranks[split->rank].extent);
        uint32_t wanted = 1, found = 0;

        if (!is_chip_axis(c, split->axis))
            return dfl_chips_refuse(c, split->span, "a home that is split inside of a chip");
        for (uint32_t j = 0; j < k; j++)
            wanted += keep->splits[j].axis == split->axis &&
                      parts_of(keep->splits[j].by, keep->splits[j].amount, c->w->ranks[keep->splits[j].rank].extent) == parts;
        for (uint32_t g = 0; g < c->n_groups; g++)
            found += c->groups[g].axis == split->axis && c->groups[g].count == parts && !c->groups[g].has_stages &&
                     !c->groups[g].is_dealt;
        if (found < wanted && !add_group(c, (chip_group){ .axis = split->axis, .count = parts }, split->span))
            return false;
    }
    return true;
}

static bool find_groups(chips *c)
{
    const dfl_body *root = c->mapping->root;
    int64_t n = 1;

    for (uint32_t i = 0; i < root->n_lines; i++)
        if (root->lines[i].kind == DFL_LINE_SPATIAL) {
            if (!is_chip_axis(c, root->lines[i].axis))
                return dfl_chips_refuse(c, root->lines[i].span, "a line inside of a chip");
            if (!put_line(c, &root->lines[i]))
                return false;
        }
    for (uint32_t i = 0; i < root->n_lines; i++)
        if (root->lines[i].kind == DFL_LINE_KEEP && !put_splits(c, &root->lines[i]))
            return false;
    for (uint32_t g = 0; g < c->n_groups; g++)
        n = n * c->groups[g].count <= CHIPS_MOST ? n * c->groups[g].count : CHIPS_MOST + 1;
    if (n > CHIPS_MOST) {
        c->failed = true;
        dfl_budget_stop(dfl_arena_budget(c->arena), DFL_STOP_MEMORY);
        return dfl_report_stop(c->sink, dfl_arena_budget(c->arena));
    }
    c->n_chips = (uint32_t)n;
    return true;
}

/* Numbers the chips by their places in the groups, the last one fastest. */
static void number_chips(chips *c)
{
    c->digit = DFL_NEW_ARRAY(c->arena, uint32_t, (size_t)c->n_chips * CHIPS_GROUPS);
    for (uint32_t chip = 0; chip < c->n_chips; chip++) {
        uint32_t rest = chip;

        for (uint32_t g = c->n_groups; g-- > 0; rest /= (uint32_t)c->groups[g].count)
            c->digit[(size_t)chip * CHIPS_GROUPS + g] = rest % (uint32_t)c->groups[g].count;
    }
}

/* ---- blocks ---- */

/* Cuts the blocks of an einsum among the chips of a group: each chip takes the block of its place. */
static void cut_blocks(chips *c, uint32_t einsum, uint32_t g, const dfl_line *line, int64_t *nominal)
{
    chip_einsum *e = &c->einsums[einsum];
    const uint32_t r = line->rank;

    nominal[r] = (nominal[r] + c->groups[g].count - 1) / c->groups[g].count;
    for (uint32_t chip = 0; chip < c->n_chips; chip++) {
        int64_t *lo = &e->lo[(size_t)chip * c->w->n_ranks + r], *hi = &e->hi[(size_t)chip * c->w->n_ranks + r];

        if (c->groups[g].is_dealt) {
            *lo += (int64_t)chips_digit(c, chip, g) * e->step[r];
            continue;
        }
        *lo += (int64_t)chips_digit(c, chip, g) * nominal[r] * e->step[r];
        *hi = *hi < *lo + nominal[r] * e->step[r] ? *hi : *lo + nominal[r] * e->step[r];
    }
    e->step[r] *= c->groups[g].is_dealt ? c->groups[g].count : 1;
}

static void find_blocks(chips *c, uint32_t einsum)
{
    chip_einsum *e = &c->einsums[einsum];
    const size_t n = (size_t)c->n_chips * c->w->n_ranks + 1;

    e->einsum = &c->w->einsums[einsum];
    e->repeat = DFL_NONE;
    e->target = dfl_chips_holder(c, e->einsum->output.tensor);
    e->lo = DFL_NEW_ARRAY(c->arena, int64_t, n);
    e->hi = DFL_NEW_ARRAY(c->arena, int64_t, n);
    e->step = DFL_NEW_ARRAY(c->arena, int64_t, (size_t)c->w->n_ranks + 1);
    e->pass = DFL_NEW_ARRAY(c->arena, int64_t, (size_t)c->w->n_ranks + 1);
    for (uint32_t i = e->einsum->n_ranks; i-- > 0;)
        e->repeat = c->repeats[e->einsum->ranks[i]] ? e->einsum->ranks[i] : e->repeat;
    for (uint32_t r = 0; r < c->w->n_ranks; r++) {
        e->pass[r] = c->w->ranks[r].extent;
        e->step[r] = 1;
        for (uint32_t chip = 0; chip < c->n_chips; chip++)
            e->hi[(size_t)chip * c->w->n_ranks + r] = c->w->ranks[r].extent;
    }
    for (uint32_t g = 0; g < c->n_groups; g++)
        if (!c->groups[g].has_stages && (e->divides[g] != NULL || e->instead[g] != NULL))
            cut_blocks(c, einsum, g, e->divides[g] != NULL ? e->divides[g] : e->instead[g], e->pass);
}

/* Whether no access has a divided rank with a factor below 0: such parts are not executed. */
static bool check_windows(chips *c)
{
    for (uint32_t e = 0; e < c->w->n_einsums; e++)
        for (uint32_t i = 0; i <= c->w->einsums[e].n_inputs; i++) {
            const dfl_einsum *x = &c->w->einsums[e];
            const dfl_access *a = i < x->n_inputs ? &x->inputs[i] : &x->output;
            uint32_t bare;

            for (uint32_t d = 0; d < a->n_dims; d++)
                for (uint32_t g = 0; g < c->n_groups && !dfl_index_is_bare(&a->index[d], &bare); g++)
                    if (c->einsums[e].divides[g] != NULL && !c->groups[g].has_stages && c->groups[g].count > 1 &&
                        dfl_index_coef(&a->index[d], c->einsums[e].divides[g]->rank) < 0)
                        return dfl_chips_refuse(c, a->span, "a window that moves backwards over a divided rank");
        }
    return true;
}

/* ---- micro-batches ---- */

/* Cuts the passes of an einsum by the temporal lines. Returns the number of passes over a rank. */
static int64_t cut_passes(const chips *c, uint32_t einsum, uint32_t rank)
{
    const dfl_body *root = c->mapping->root;
    chip_einsum *e = &c->einsums[einsum];
    const int64_t whole = e->pass[rank];

    for (uint32_t i = 0; i < root->n_lines; i++) {
        const dfl_line *line = &root->lines[i];

        if (line->kind != DFL_LINE_TEMPORAL || line->rank != rank)
            continue;
        if (line->by == DFL_BY_PARTS)
            e->pass[rank] = (e->pass[rank] + line->amount - 1) / line->amount;
        else if (line->amount < e->pass[rank])
            e->pass[rank] = line->amount;
    }
    return (whole + e->pass[rank] - 1) / e->pass[rank];
}

/* The passes over a rank, of all einsums that have it; 1 = none. -1 after a report. */
static int64_t count_tiles(chips *c, const dfl_line *line)
{
    int64_t n = 0;

    for (uint32_t e = 0; e < c->w->n_einsums; e++) {
        int64_t of;

        if (c->w->einsums[e].phase == DFL_PHASE_UPDATE || !dfl_einsum_has_rank(&c->w->einsums[e], line->rank))
            continue;
        of = cut_passes(c, e, line->rank);
        if (n > 0 && of != n) {
            dfl_chips_refuse(c, line->span, "a rank with different numbers of micro-batches");
            return -1;
        }
        n = of;
    }
    return n;
}

/* Whether some einsum has two ranks. */
static bool are_together(const chips *c, uint32_t a, uint32_t b)
{
    for (uint32_t e = 0; e < c->w->n_einsums; e++)
        if (c->w->einsums[e].phase != DFL_PHASE_UPDATE && dfl_einsum_has_rank(&c->w->einsums[e], a) &&
            dfl_einsum_has_rank(&c->w->einsums[e], b))
            return true;
    return false;
}

/* Numbers the loops of micro-batches: a rank belongs to the first one with as many passes that has no rank beside it in an
   einsum. The last loop is the fastest. Returns their number; sets the strides and the number of micro-batches. */
static uint32_t set_strides(chips *c)
{
    uint32_t *loop = DFL_NEW_ARRAY(c->arena, uint32_t, (size_t)c->n_tiled + 1), n = 0;

    for (uint32_t k = 0; k < c->n_tiled; k++) {
        for (loop[k] = 0; loop[k] < n; loop[k]++) {
            bool fits = true;

            for (uint32_t i = 0; i < k; i++)
                fits &= loop[i] != loop[k] || (c->tiles[i] == c->tiles[k] && !are_together(c, c->tiled[i], c->tiled[k]));
            if (fits)
                break;
        }
        n = loop[k] == n ? n + 1 : n;
    }
    c->micro_batches = 1;
    for (uint32_t l = n; l-- > 0;) {
        int64_t tiles = 1;

        for (uint32_t k = 0; k < c->n_tiled; k++)
            if (loop[k] == l) {
                c->tile_stride[k] = c->micro_batches;
                tiles = c->tiles[k];
            }
        c->micro_batches *= tiles;
    }
    return n;
}

/* The ranks with micro-batches, and their number, which all einsums must share. */
static bool find_micro_batches(chips *c)
{
    const dfl_body *root = c->mapping->root;
    uint32_t n_loops;

    c->tiled = DFL_NEW_ARRAY(c->arena, uint32_t, (size_t)root->n_lines + 1);
    c->tiles = DFL_NEW_ARRAY(c->arena, int64_t, (size_t)root->n_lines + 1);
    c->tile_stride = DFL_NEW_ARRAY(c->arena, int64_t, (size_t)root->n_lines + 1);
    for (uint32_t i = 0; i < root->n_lines; i++) {
        const uint32_t rank = root->lines[i].rank;
        bool is_new = root->lines[i].kind == DFL_LINE_TEMPORAL && !c->repeats[rank];
        int64_t n;

        for (uint32_t k = 0; k < c->n_tiled; k++)
            is_new &= c->tiled[k] != rank;
        n = is_new ? count_tiles(c, &root->lines[i]) : 1;
        if (n < 0)
            return false;
        if (n == 1)
            continue;
        c->tiled[c->n_tiled] = rank;
        c->tiles[c->n_tiled++] = n;
    }
    n_loops = set_strides(c);
    for (uint32_t e = 0; e < c->w->n_einsums; e++) {
        uint32_t has = 0;

        for (uint32_t k = 0; k < c->n_tiled; k++)
            has += dfl_einsum_has_rank(&c->w->einsums[e], c->tiled[k]);
        if (c->w->einsums[e].phase != DFL_PHASE_UPDATE && has != n_loops && c->w->einsums[e].body->kind != DFL_EOP_CONST)
            return dfl_chips_refuse(c, c->w->einsums[e].span, "an einsum without the ranks of the micro-batches");
    }
    return true;
}

/* ---- stages ---- */

/* Deals chunks of consecutive layers to the stages; the first chunks have one layer more. */
static bool deal_layers(chips *c)
{
    const int64_t layers = c->stage_rank != DFL_NONE ? c->w->ranks[c->stage_rank].extent : 0;
    const int64_t chunks = (int64_t)c->n_stages * c->interleave;
    int64_t layer = 0;

    c->stage_of_layer = DFL_NEW_ARRAY(c->arena, uint32_t, (size_t)layers + 1);
    c->chunk_of_layer = DFL_NEW_ARRAY(c->arena, int64_t, (size_t)layers + 1);
    if (layers == 0)
        return true;
    if (chunks > layers || c->n_stages > 64)
        return dfl_chips_refuse(c, c->mapping->span, "a stage without a layer");
    for (int64_t k = 0; k < chunks; k++)
        for (int64_t i = 0; i < layers / chunks + (k < layers % chunks); i++) {
            c->chunk_of_layer[layer] = k / c->n_stages;
            c->stage_of_layer[layer++] = (uint32_t)(k % c->n_stages);
        }
    return true;
}

/* The stages of the einsums of a phase: before the layers, with them, behind them. */
static void place_phase(chips *c, dfl_phase phase)
{
    const uint64_t first = 1, last = UINT64_C(1) << (c->n_stages - 1);
    uint32_t from = DFL_NONE, to = 0;

    for (uint32_t e = 0; e < c->w->n_einsums; e++)
        if (c->w->einsums[e].phase == phase && c->einsums[e].has_layers) {
            from = from == DFL_NONE ? e : from;
            to = e;
        }
    for (uint32_t e = 0; e < c->w->n_einsums; e++) {
        if (c->w->einsums[e].phase != phase || c->einsums[e].has_layers)
            continue;
        if (from != DFL_NONE && (e < from || e > to))
            c->einsums[e].stages = (e < from) == (phase == DFL_PHASE_FORWARD) ? first : last;
    }
}

static void place_einsums(chips *c)
{
    const dfl_workload *w = c->w;

    for (uint32_t e = 0; e < w->n_einsums; e++) {
        c->einsums[e].stages = c->n_stages == 64 ? UINT64_MAX : (UINT64_C(1) << c->n_stages) - 1;
        c->einsums[e].has_layers = c->stage_rank != DFL_NONE && dfl_einsum_has_rank(&w->einsums[e], c->stage_rank);
    }
    place_phase(c, DFL_PHASE_FORWARD);
    place_phase(c, DFL_PHASE_BACKWARD);
    for (uint32_t e = 0; e < w->n_einsums; e++) { /* a weight is renewed where the forward pass reads it */
        uint64_t stages = 0;

        if (w->einsums[e].phase == DFL_PHASE_UPDATE && !c->einsums[e].has_layers) {
            for (uint32_t r = 0; r < w->n_einsums; r++)
                for (uint32_t i = 0; i < w->einsums[r].n_inputs && w->einsums[r].phase == DFL_PHASE_FORWARD; i++)
                    stages |= dfl_chips_holder(c, w->einsums[r].inputs[i].tensor) == w->einsums[e].of ? c->einsums[r].stages : 0;
        } else if (w->einsums[e].body->kind == DFL_EOP_CONST) { /* where rows are added */
            for (uint32_t r = 0; r < w->n_einsums; r++)
                stages |= r != e && w->einsums[r].phase == w->einsums[e].phase && c->einsums[r].target == c->einsums[e].target
                              ? c->einsums[r].stages : 0;
        }
        c->einsums[e].stages = stages != 0 ? stages : c->einsums[e].stages;
    }
}

bool dfl_chips_runs(const chips *c, uint32_t einsum, uint32_t chip, int64_t layer)
{
    const chip_einsum *e = &c->einsums[einsum];

    if (e->has_layers && layer >= 0)
        return c->stage_of_layer[layer] == chips_stage(c, chip);
    return (e->stages >> chips_stage(c, chip) & 1) != 0;
}

/* ---- tensors ---- */

static bool set_tensors(chips *c)
{
    const dfl_body *root = c->mapping->root;

    c->tensors = DFL_NEW_ARRAY(c->arena, chip_tensor, (size_t)c->w->n_tensors + 1);
    c->recomputed = DFL_NEW_ARRAY(c->arena, bool, (size_t)c->w->n_tensors + 1);
    for (uint32_t i = 0; i < root->n_recompute; i++)
        c->recomputed[root->recompute[i]] = c->w->tensors[root->recompute[i]].n_consumers > 0; /* else nothing needs it again */
    for (uint32_t k = 0; k < c->w->n_carries; k++)
        c->recomputed[c->w->carries[k].to] = false;
    for (uint32_t t = 0; t < c->w->n_tensors; t++) {
        chip_tensor *x = &c->tensors[t];
        uint32_t n_dims;
        const int64_t *shape = dfl_chips_shape(c, t, &n_dims);
        int64_t n = 1;

        if (dfl_chips_holder(c, t) != t)
            continue;
        if (n_dims >= CHIPS_DIMS)
            return dfl_chips_refuse(c, c->w->tensors[t].span, "a tensor with 16 dimensions or more");
        for (uint32_t d = 0; d < n_dims; d++)
            if (__builtin_mul_overflow(n, shape[d], &n) || n > CHIPS_VISITS / (int64_t)c->n_chips) {
                c->failed = true;
                dfl_budget_stop(dfl_arena_budget(c->arena), DFL_STOP_MEMORY);
                return dfl_report_stop(c->sink, dfl_arena_budget(c->arena));
            }
        x->n_elem = (uint32_t)n;
        x->home = DFL_NEW_ARRAY(c->arena, element_set, (size_t)c->n_chips);
        x->side = DFL_NEW_ARRAY(c->arena, element_set *, CHIPS_GROUPS);
        x->value = DFL_NEW_ARRAY(c->arena, uint32_t *, (size_t)c->n_chips);
        x->has = DFL_NEW_ARRAY(c->arena, element_set, (size_t)c->n_chips);
        x->renewed = DFL_NEW_ARRAY(c->arena, element_set, (size_t)c->n_chips);
        x->live = DFL_NEW_ARRAY(c->arena, uint32_t, (size_t)n + 1);
        x->alone = DFL_NEW_ARRAY(c->arena, uint32_t, (size_t)n + 1);
        x->written = DFL_NEW_ARRAY(c->arena, uint8_t, (size_t)n + 1);
        for (uint32_t i = 0; i < x->n_elem; i++)
            x->alone[i] = dfl_chips_given(c, t, i);
        for (uint32_t chip = 0; chip < c->n_chips; chip++) {
            if (dfl_chips_is_state(c, t))
                x->renewed[chip] = DFL_NEW_ARRAY(c->arena, uint8_t, (size_t)n + 1);
            x->home[chip] = DFL_NEW_ARRAY(c->arena, uint8_t, (size_t)n + 1);
            x->has[chip] = DFL_NEW_ARRAY(c->arena, uint8_t, (size_t)n + 1);
            x->value[chip] = DFL_NEW_ARRAY(c->arena, uint32_t, (size_t)n + 1);
        }
    }
    return dfl_budget_ok(dfl_arena_budget(c->arena));
}

/* Refuses homes of other elements than the chips and those around them, and loops in braces. */
static bool check_chip(chips *c)
{
    const dfl_body *root = c->mapping->root;
    const dfl_line *beside = dfl_chips_find_beside(c);

    if (beside != NULL)
        return dfl_chips_refuse(c, beside->span, "a home beside a memory of an outer array");
    for (uint32_t b = 0; b < root->n_children; b++)
        if (root->children[b]->n_lines > 0)
            return dfl_chips_refuse(c, root->children[b]->lines[0].span, "a loop in a brace");
    return true;
}

/* Opens the state with the groups of chips. */
static bool open_groups(chips *c)
{
    c->home = dfl_chips_find_home(c);
    c->stage_group = c->stage_rank = DFL_NONE;
    c->n_stages = 1;
    c->interleave = 1;
    c->einsums = DFL_NEW_ARRAY(c->arena, chip_einsum, (size_t)c->w->n_einsums + 1);
    for (uint32_t e = 0; e < c->w->n_einsums; e++)
        c->einsums[e].einsum = &c->w->einsums[e];
    if (c->home == DFL_NONE)
        return dfl_chips_refuse(c, c->mapping->span, "a plan without a memory on its chips");
    return check_chip(c) && dfl_chips_find_goes(c) && find_groups(c) && dfl_chips_check_nesting(c) && check_windows(c);
}

bool dfl_chips_count(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping, int64_t *of_axis)
{
    chips c = { .arena = arena, .sink = sink, .names = names, .mapping = mapping, .w = mapping->workload, .s = mapping->system };

    if (!open_groups(&c))
        return false;
    for (uint32_t a = 0; a < c.s->n_axes; a++)
        of_axis[a] = is_chip_axis(&c, a) ? 1 : c.s->axes[a].size;
    for (uint32_t g = 0; g < c.n_groups; g++)
        of_axis[c.groups[g].axis] *= c.groups[g].count;
    return true;
}

bool dfl_chips_set_up(chips *c)
{
    if (!open_groups(c))
        return false;
    c->repeats = DFL_NEW_ARRAY(c->arena, bool, (size_t)c->w->n_ranks + 1);
    c->at = DFL_NEW_ARRAY(c->arena, int64_t, (size_t)c->w->n_ranks + 1);
    for (uint32_t k = 0; k < c->w->n_carries; k++)
        c->repeats[c->w->carries[k].rank] = true;
    number_chips(c);
    for (uint32_t e = 0; e < c->w->n_einsums; e++)
        find_blocks(c, e);
    if (c->failed || !find_micro_batches(c) || !deal_layers(c))
        return false;
    place_einsums(c);
    if (!set_tensors(c))
        return false;
    dfl_chips_find_homes(c);
    return true;
}
