#include "plan/layout/frame.h"

#include <string.h>

#include "plan/layout/elements.h"
#include "plan/layout/lines.h"
#include "plan/layout/outside.h"
#include "plan/layout/passes.h"
#include "plan/layout/rows.h"
#include "plan/layout/stages.h"
#include "plan/layout/step_points.h"

int64_t dfl_split_parts(const dfl_frame *f, const dfl_home_split *split)
{
    return split->by == DFL_BY_PARTS ? split->amount : dfl_ceil_div(f->workload->ranks[split->rank].extent, split->amount);
}

bool dfl_frame_is_chip_axis(const dfl_frame *f, uint32_t axis)
{
    return dfl_axis_encloses(f->system, axis, f->system->memories[f->home].element);
}

static const char *text(const dfl_frame *f, dfl_sym s) { return dfl_sym_text(f->names, s); }

/* Whether a line by whose rows the points of an einsum go stands in the place of another line. */
static bool is_replaced(const dfl_frame *f, const dfl_line *line, uint32_t einsum)
{
    const dfl_body *root = f->mapping->root;

    for (uint32_t k = 0; k < f->n_going && line->only == NULL; k++) {
        const dfl_line *other = &root->lines[f->going[k]];

        if (f->goes[f->going[k]][einsum] && other->axis == line->axis && dfl_rows_replaced(f, other, einsum) == line)
            return true;
    }
    return false;
}

/* Whether a line divides the positions of the rows that an update renews: each instance would renew rows of its own positions
   alone, in a table that all instances have. */
static bool divides_renewed(const dfl_frame *f, const dfl_line *line, uint32_t einsum)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];
    const dfl_tensor *rows = &f->workload->tensors[e->output.tensor];

    return e->phase == DFL_PHASE_UPDATE && rows->gathered && dfl_rows_dimension(rows, line->rank) < 0;
}

bool dfl_frame_applies(const dfl_frame *f, const dfl_line *line, uint32_t einsum)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];
    const bool *goes = f->goes[line - f->mapping->root->lines];

    if (goes != NULL && goes[einsum])
        return true;
    if (e->over_rank == line->rank && line->only == NULL)
        return false; /* the einsum takes the rank whole */
    if (line->only == NULL && divides_renewed(f, line, einsum))
        return false;
    return dfl_einsum_has_rank(e, line->rank) && dfl_line_names(line, f->workload, einsum) && !is_replaced(f, line, einsum);
}

/* Whether no einsum has both the line and another line of the slot. */
static bool fits_slot(const dfl_frame *f, const dfl_line *line, uint32_t slot)
{
    for (uint32_t e = 0; e < f->workload->n_einsums; e++)
        if (dfl_frame_line(f, e, slot) != NULL && dfl_frame_applies(f, line, e))
            return false;
    return true;
}

/* The slot of a line: one on its axis with as many parts that none of its einsums uses, else a new one. DFL_NONE after a
   report. */
static uint32_t find_slot(dfl_frame *f, const dfl_line *line)
{
    int64_t parts = dfl_frame_parts(f, line);

    for (uint32_t s = 0; s < f->n_slots; s++)
        if (f->slots[s].axis == line->axis && f->slots[s].count == parts && fits_slot(f, line, s) &&
            (f->slots[s].stages == NULL) == (line->stages == NULL) && f->slots[s].is_cyclic == line->cyclic)
            return s;
    f->slots[f->n_slots] = (dfl_slot){ .axis = line->axis, .stride = 1, .count = parts, .span = line->amount_span,
                                       .stages = line->stages, .is_cyclic = line->cyclic,
                                       .stage_rank = line->stages != NULL ? line->rank : DFL_NONE };
    return f->n_slots++;
}

/* Reports the parts of a line for all einsums that are empty: there are more of them than the lines above leave positions of the
   rank. `left`: these positions, by rank. */
static void warn_empty(const dfl_frame *f, const dfl_line *line, int64_t *left)
{
    const int64_t parts = dfl_frame_parts(f, line), have = left[line->rank];
    const char *name = text(f, f->workload->ranks[line->rank].name);
    dfl_diag *d;

    if (line->only != NULL || line->stages != NULL)
        return;
    left[line->rank] = dfl_ceil_div(have, parts);
    if (parts <= have)
        return;
    d = dfl_report(f->sink, DFL_MAP_EMPTY_PARTS, line->amount_span,
                   "%lld of %lld parts of `%s` are empty: %lld position%s %s left", (long long)(parts - have), (long long)parts,
                   name, (long long)have, have == 1 ? "" : "s", have == 1 ? "is" : "are");
    dfl_diag_label(f->sink, d, f->workload->ranks[line->rank].span, "`%s` has an extent of %lld", name,
                   (long long)f->workload->ranks[line->rank].extent);
    dfl_diag_help(f->sink, d, "divide `%s` into at most %lld parts", name, (long long)have);
}

static bool check_stages(dfl_frame *f, uint32_t slot)
{
    const dfl_slot *s = &f->slots[slot];
    int64_t layers = f->workload->ranks[s->stage_rank].extent;
    dfl_diag *d;

    if (f->stage_slot != DFL_NONE && f->stage_slot != slot)
        return dfl_frame_refuse(f, s->stages->span, "a second line of stages", "divide the layers on one axis");
    f->stage_slot = slot;
    if (s->count == 1 && s->stages->interleave > 1) {
        d = dfl_report(f->sink, DFL_MAP_STAGES, s->span, "one stage alone has no chunks");
        dfl_diag_here(f->sink, d, "`interleave = %lld`: chunks of several stages take turns", (long long)s->stages->interleave);
        dfl_diag_help(f->sink, d, "write `interleave = 1`");
        return false;
    }
    if (s->count * s->stages->interleave <= layers)
        return true;
    if (s->stages->interleave > 1)
        d = dfl_report(f->sink, DFL_MAP_STAGES, s->span,
                       "%lld stages with %lld chunks each, for %lld iterations of `%s`: a chunk has no layer",
                       (long long)s->count, (long long)s->stages->interleave, (long long)layers,
                       text(f, f->workload->ranks[s->stage_rank].name));
    else
        d = dfl_report(f->sink, DFL_MAP_STAGES, s->span, "%lld stages for %lld iterations of `%s`: a stage has no layer",
                       (long long)s->count, (long long)layers, text(f, f->workload->ranks[s->stage_rank].name));
    if (s->count <= layers)
        dfl_diag_help(f->sink, d, "an interleave of at most %lld gives each chunk a layer", (long long)(layers / s->count));
    else
        dfl_diag_help(f->sink, d, "at most %lld stages have a layer each", (long long)layers);
    return false;
}

/* The parts of the groups of an axis and their product: "16 x 8 = 128"; "16" for one group. */
static const char *product_text(const dfl_frame *f, uint32_t axis)
{
    const char *out = "";
    uint32_t n = 0;
    int64_t product = 1;
    bool over = false;

    for (uint32_t s = 0; s < f->n_slots; s++) {
        if (f->slots[s].axis != axis || f->slots[s].count == 1)
            continue;
        over |= __builtin_mul_overflow(product, f->slots[s].count, &product);
        out = dfl_arena_printf(f->arena, "%s%s%lld", out, n > 0 ? " x " : "", (long long)f->slots[s].count);
        n++;
    }
    return n > 1 && !over ? dfl_arena_printf(f->arena, "%s = %lld", out, (long long)product) : out;
}

/* Sets the strides of the slots: the last one of an axis is the innermost. Reports groups that pass an axis, and chips without
   work. */
static bool place_slots(dfl_frame *f)
{
    f->is_full = true;
    for (uint32_t a = 0; a < f->system->n_axes; a++) {
        const dfl_axis *axis = &f->system->axes[a];
        int64_t used = 1;
        const dfl_slot *last = NULL;
        dfl_diag *d;

        if (!dfl_frame_is_chip_axis(f, a))
            continue;
        for (uint32_t s = f->n_slots; s-- > 0;) {
            if (f->slots[s].axis != a)
                continue;
            f->slots[s].stride = used;
            last = last == NULL ? &f->slots[s] : last;
            if (__builtin_mul_overflow(used, f->slots[s].count, &used) || used > axis->size) {
                d = dfl_report(f->sink, DFL_MAP_TOO_MANY_INSTANCES, f->slots[s].span,
                               "axis `%s` has %lld instances, and its lines make %s parts", text(f, axis->name),
                               (long long)axis->size, product_text(f, a));
                dfl_diag_label(f->sink, d, axis->span, "axis `%s`", text(f, axis->name));
                dfl_diag_help(f->sink, d, "use fewer parts here: at most %lld",
                              (long long)(axis->size / (used / f->slots[s].count)));
                return false;
            }
        }
        if (used < axis->size) {
            f->is_full = false;
            d = dfl_report(f->sink, DFL_MAP_IDLE_INSTANCES, last != NULL ? last->span : f->mapping->span,
                           "only %lld of %lld instances of `%s` have work", (long long)used, (long long)axis->size,
                           text(f, axis->name));
            dfl_diag_help(f->sink, d, "divide a rank into %lld parts, or state a system with fewer instances",
                          (long long)axis->size);
        }
    }
    return true;
}

/* Adds the slots that the split homes of a line need beside those of the spatial lines. */
static bool add_split_slots(dfl_frame *f, const dfl_line *keep)
{
    for (uint32_t k = 0; k < keep->n_splits; k++) {
        const dfl_home_split *split = &keep->splits[k];
        int64_t parts = dfl_split_parts(f, split);
        uint32_t wanted = 1, found = 0;

        if (!dfl_frame_is_chip_axis(f, split->axis))
            return dfl_frame_refuse(f, split->span, "a home that is split inside of a chip", "split it among chips");
        for (uint32_t i = 0; i < k; i++)
            wanted += keep->splits[i].axis == split->axis && dfl_split_parts(f, &keep->splits[i]) == parts;
        for (uint32_t s = 0; s < f->n_slots; s++)
            found += f->slots[s].axis == split->axis && f->slots[s].count == parts && f->slots[s].stages == NULL &&
                     !f->slots[s].is_cyclic;
        if (found < wanted)
            f->slots[f->n_slots++] = (dfl_slot){ .axis = split->axis, .stride = 1, .count = parts, .span = split->span,
                                                 .stages = NULL, .stage_rank = DFL_NONE };
    }
    return true;
}

/* Reports a line that names an einsum and divides the rank that it takes whole. */
static bool check_over(const dfl_frame *f, const dfl_line *line, uint32_t einsum)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];
    const char *rank = text(f, f->workload->ranks[line->rank].name);
    dfl_diag *d;

    if (e->over_rank != line->rank)
        return true;
    d = dfl_report(f->sink, DFL_MAP_OVER_CUT, line->span, "this line divides rank `%s`, which einsum `%s` takes whole", rank,
                   text(f, e->name));
    dfl_diag_label(f->sink, d, e->span, "computed by an operation `over %s`", rank);
    dfl_diag_help(f->sink, d, "divide another rank of `%s`; its operand is then exchanged, all-to-all", text(f, e->name));
    return false;
}

/* Leaves a column for each slot alone: the lines of a loop over many ranks share one. */
static void drop_columns(dfl_frame *f)
{
    const uint32_t columns = f->n_slots > 0 ? f->n_slots : 1;
    const dfl_line **spread = DFL_NEW_ARRAY(f->arena, const dfl_line *, (size_t)f->workload->n_einsums * columns);

    for (uint32_t e = 0; e < f->workload->n_einsums; e++)
        for (uint32_t s = 0; s < f->n_slots; s++)
            spread[(size_t)e * columns + s] = dfl_frame_line(f, e, s);
    f->spread = spread;
    f->columns = columns;
}

/* Collects the slots of the spatial lines and of the split homes, and sets `spread`. */
static bool build_slots(dfl_frame *f)
{
    const dfl_body *root = f->mapping->root;
    int64_t *left = DFL_NEW_ARRAY(f->arena, int64_t, f->workload->n_ranks);

    f->columns = 1;
    for (uint32_t i = 0; i < root->n_lines; i++)
        f->columns += root->lines[i].kind == DFL_LINE_SPATIAL ? 1 : root->lines[i].n_splits;
    f->slots = DFL_NEW_ARRAY(f->arena, dfl_slot, f->columns);
    f->spread = DFL_NEW_ARRAY(f->arena, const dfl_line *, (size_t)f->workload->n_einsums * f->columns);
    f->stage_slot = DFL_NONE;
    for (uint32_t r = 0; r < f->workload->n_ranks; r++)
        left[r] = f->workload->ranks[r].extent;
    for (uint32_t i = 0; i < root->n_lines; i++) {
        const dfl_line *line = &root->lines[i];
        uint32_t slot;

        if (line->kind != DFL_LINE_SPATIAL)
            continue;
        if (!dfl_frame_is_chip_axis(f, line->axis))
            return dfl_frame_refuse(f, line->span, "a line inside of a chip", "leave the chip to `...;`");
        slot = find_slot(f, line);
        warn_empty(f, line, left);
        for (uint32_t e = 0; e < f->workload->n_einsums; e++)
            if (dfl_frame_applies(f, line, e) && !check_over(f, line, e))
                return false;
            else if (dfl_frame_applies(f, line, e))
                f->spread[(size_t)e * f->columns + slot] = line;
        if (line->stages != NULL && !check_stages(f, slot))
            return false;
    }
    for (uint32_t i = 0; i < root->n_lines; i++)
        if (root->lines[i].kind == DFL_LINE_KEEP && !add_split_slots(f, &root->lines[i]))
            return false;
    if (f->n_slots > 64) /* masks of slots have 64 bits */
        return dfl_frame_refuse(f, f->mapping->span, "a plan with more than 64 groups of chips", "divide fewer ranks");
    drop_columns(f);
    return place_slots(f);
}

/* Multiplies the extents of ranks that lines would divide if the points did not go by rows: a pass has those of all instances. */
static void join_passes(const dfl_frame *f, uint32_t einsum, int64_t *local, int64_t *pass)
{
    const dfl_workload *w = f->workload;

    for (uint32_t s = 0; s < f->n_slots; s++) {
        const dfl_line *line = dfl_frame_goes(f, einsum, s) ? dfl_rows_replaced(f, dfl_frame_line(f, einsum, s), einsum) : NULL;
        const int64_t most = line != NULL ? w->ranks[line->rank].extent : 0;

        if (line == NULL)
            continue;
        local[line->rank] = dfl_ceil_div(most, f->slots[s].count) <= local[line->rank] ? most
                                                                                        : local[line->rank] * f->slots[s].count;
        pass[line->rank] = pass[line->rank] * f->slots[s].count < local[line->rank] ? pass[line->rank] * f->slots[s].count
                                                                                   : local[line->rank];
    }
}

/* Refuses lines that name updates of which they divide the positions of the rows. False after a report. */
static bool check_renewed(const dfl_frame *f)
{
    for (uint32_t e = 0; e < f->workload->n_einsums; e++)
        for (uint32_t s = 0; s < f->n_slots; s++) {
            const dfl_line *line = dfl_frame_line(f, e, s);

            if (line != NULL && f->slots[s].count > 1 && !dfl_frame_goes(f, e, s) && divides_renewed(f, line, e))
                return dfl_frame_refuse(f, line->span, "an update of the rows of a table that positions of the rows divide",
                                        "divide the rows of the table, or name the einsums without the update");
        }
    return true;
}

/* Sets the extents of an einsum on one chip, and in one pass. */
static void set_extents(dfl_frame *f, uint32_t einsum)
{
    const dfl_workload *w = f->workload;
    const dfl_einsum *e = &w->einsums[einsum];
    int64_t *local = &f->local[(size_t)einsum * w->n_ranks], *pass = &f->pass[(size_t)einsum * w->n_ranks];
    const dfl_body *root = f->mapping->root;

    for (uint32_t r = 0; r < w->n_ranks; r++)
        local[r] = 1;
    for (uint32_t i = 0; i < e->n_ranks; i++)
        local[e->ranks[i]] = w->ranks[e->ranks[i]].extent;
    for (uint32_t s = 0; s < f->n_slots; s++) {
        const dfl_line *line = dfl_frame_line(f, einsum, s);
        if (line != NULL && dfl_frame_goes(f, einsum, s))
            line = dfl_rows_replaced(f, line, einsum);
        if (line != NULL)
            local[line->rank] = dfl_ceil_div(local[line->rank], f->slots[s].count);
    }
    memcpy(pass, local, w->n_ranks * sizeof *pass);
    for (uint32_t i = 0; i < root->n_lines && e->phase != DFL_PHASE_UPDATE; i++) {
        const dfl_line *line = &root->lines[i];
        if (line->kind != DFL_LINE_TEMPORAL || !dfl_einsum_has_rank(e, line->rank))
            continue;
        pass[line->rank] = line->by == DFL_BY_PARTS ? dfl_ceil_div(pass[line->rank], line->amount)
                           : line->amount < pass[line->rank] ? line->amount : pass[line->rank];
    }
    join_passes(f, einsum, local, pass);
    for (uint32_t r = 0; r < w->n_ranks && e->phase != DFL_PHASE_UPDATE; r++)
        pass[r] = f->repeats[r] ? 1 : pass[r];
}

/* Sets the parts of the einsums of each brace with a loop. `branches.c` checks the loop. */
static void set_parts(dfl_frame *f)
{
    const dfl_body *root = f->mapping->root;

    f->parts = DFL_NEW_ARRAY(f->arena, int64_t, f->workload->n_einsums);
    f->parts_rank = DFL_NEW_ARRAY(f->arena, uint32_t, f->workload->n_einsums);
    for (uint32_t e = 0; e < f->workload->n_einsums; e++) {
        f->parts[e] = 1;
        f->parts_rank[e] = DFL_NONE;
    }
    for (uint32_t b = 0; b < root->n_children && root->kind == DFL_BODY_FUSE; b++) {
        const dfl_body *body = root->children[b];
        const dfl_line *line = body->n_lines > 0 ? &body->lines[0] : NULL;

        if (line == NULL || line->kind != DFL_LINE_TEMPORAL || line->by == DFL_BY_HOLE)
            continue;
        for (uint32_t i = 0; i < body->n_einsums; i++) {
            const uint32_t e = body->einsums[i];

            f->parts[e] = line->by == DFL_BY_PARTS ? line->amount
                                                   : dfl_ceil_div(dfl_frame_pass(f, e, line->rank), line->amount);
            f->parts_rank[e] = line->rank;
        }
    }
}

/* Sets the memories that hold the tensors: those of the keeps, for a gradient of no weight that of its tensor, else the outermost
   memory of a chip. */
static bool find_homes(dfl_frame *f)
{
    const dfl_body *root = f->mapping->root;
    bool *is_kept = DFL_NEW_ARRAY(f->arena, bool, f->workload->n_tensors);

    f->home_of = DFL_NEW_ARRAY(f->arena, uint32_t, f->workload->n_tensors);
    f->room_of = DFL_NEW_ARRAY(f->arena, uint32_t, f->workload->n_tensors);
    for (uint32_t t = 0; t < f->workload->n_tensors; t++)
        f->home_of[t] = f->home;
    for (uint32_t i = 0; i < root->n_lines; i++) {
        const dfl_line *line = &root->lines[i];
        if (line->kind != DFL_LINE_KEEP)
            continue;
        if (!dfl_outside_check_home(f, line))
            return false;
        f->home_of[line->tensor] = line->memory;
        is_kept[line->tensor] = true;
    }
    for (uint32_t t = 0; t < f->workload->n_tensors; t++) {
        const dfl_tensor *tensor = &f->workload->tensors[t];

        if (!is_kept[t] && tensor->part == DFL_PART_GRADIENT && f->workload->tensors[tensor->of].role != DFL_ROLE_WEIGHT)
            f->home_of[t] = f->home_of[tensor->of];
    }
    for (uint32_t t = 0; t < f->workload->n_tensors; t++) {
        const bool is_outside = f->system->memories[f->home_of[t]].element != f->system->memories[f->home].element;

        f->room_of[t] = is_outside ? f->home : f->home_of[t];
    }
    return true;
}

static bool *find_recomputed(const dfl_frame *f)
{
    bool *out = DFL_NEW_ARRAY(f->arena, bool, f->workload->n_tensors);

    for (uint32_t i = 0; i < f->mapping->root->n_recompute; i++) /* nothing needs an output again that nobody reads */
        out[f->mapping->root->recompute[i]] = f->workload->tensors[f->mapping->root->recompute[i]].n_consumers > 0;
    for (uint32_t c = 0; c < f->workload->n_carries; c++)
        out[f->workload->carries[c].to] = false; /* the input of a layer stays */
    return out;
}

dfl_frame dfl_frame_open(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping)
{
    dfl_frame f = { .arena = arena, .sink = sink, .names = names, .mapping = mapping, .workload = mapping->workload,
                    .system = mapping->system, .home = dfl_outside_find_chip(mapping), .micro_batches = 1 };

    f.recomputed = find_recomputed(&f);
    dfl_rows_find(&f);
    f.going = DFL_NEW_ARRAY(arena, uint32_t, (size_t)mapping->root->n_lines + 1);
    for (uint32_t i = 0; i < mapping->root->n_lines; i++)
        if (f.goes[i] != NULL)
            f.going[f.n_going++] = i;
    return f;
}

/* Whether accesses move elements in all memories: a plan does not know which elements share a row. */
static bool check_rows(const dfl_frame *f)
{
    for (uint32_t m = 0; m < f->system->n_memories; m++)
        if (f->system->memories[m].access_bits != 0)
            return dfl_frame_refuse(f, f->system->memories[m].span, "`access` of a memory", "leave it out");
    return true;
}

bool dfl_frame_divide(dfl_frame *f)
{
    const dfl_workload *w = f->workload;

    f->repeats = DFL_NEW_ARRAY(f->arena, bool, (size_t)w->n_ranks + 1);
    for (uint32_t c = 0; c < w->n_carries; c++)
        f->repeats[w->carries[c].rank] = true;
    if (!check_rows(f) || !find_homes(f) || !build_slots(f) || !dfl_frame_check_elements(f))
        return false;
    if (!dfl_stages_find(f) || !check_renewed(f))
        return false;
    f->local = DFL_NEW_ARRAY(f->arena, int64_t, (size_t)w->n_einsums * w->n_ranks);
    f->pass = DFL_NEW_ARRAY(f->arena, int64_t, (size_t)w->n_einsums * w->n_ranks);
    f->points = DFL_NEW_ARRAY(f->arena, dfl_points, w->n_einsums);
    for (uint32_t e = 0; e < w->n_einsums; e++) {
        set_extents(f, e);
        if (!dfl_rows_set_points(f, e))
            return false;
        dfl_step_points_renew(f, e);
    }
    set_parts(f);
    return dfl_frame_check_tiles(f);
}

bool dfl_frame_build(dfl_frame *f) { return dfl_frame_divide(f) && dfl_passes_count(f); }

uint32_t dfl_frame_repeat(const dfl_frame *f, const dfl_einsum *e)
{
    for (uint32_t i = 0; i < e->n_ranks; i++)
        if (f->repeats[e->ranks[i]])
            return e->ranks[i];
    return DFL_NONE;
}
