/*
 * Reads and writes of every keep. MODEL.md defines the rules in section 1, and derives the counts of values in section
 * 2.
 */
#include "model/counts/traffic.h"

#include <string.h>

#include "model/counts/product_form.h"

/* One pass over the keep tree: the whole system, or one instance. */
typedef struct {
    dfl_nest *nest;
    dfl_keep_tree *keeps;
    bool one;  /* count one instance (coordinate 0 on every axis) instead of all */
    dfl_counts *counts;
    dfl_traffic_sums *out;
    bool ok;
    bool over; /* some sum exceeds 2^127 */
} traffic_pass;

static void add_count(traffic_pass *pass, dfl_i128 *to, dfl_i128 n) { pass->over |= dfl_add(*to, n, to); }

static const dfl_delta *count_delta(traffic_pass *pass, dfl_delta *delta)
{
    static const dfl_delta nothing;

    pass->ok = pass->ok && dfl_delta_count(pass->nest, delta);
    return pass->ok ? delta : &nothing;
}

/* The delta, counted. Once `ok` is false, its counts mean nothing. */
static inline const dfl_delta *fill_delta(traffic_pass *pass, dfl_delta *delta)
{
    return delta->run == pass->nest->run ? delta : count_delta(pass, delta);
}

static const dfl_line *find_line(const dfl_nest *nest, uint32_t einsum, uint32_t step)
{
    return nest->paths->paths[einsum].steps[step].line;
}

static void count_read_only(traffic_pass *pass, uint32_t at)
{
    const dfl_keep *keep = &pass->keeps->at[at];
    const dfl_keep_deltas *how = pass->one ? &keep->one : &keep->all;
    dfl_i128 entered = fill_delta(pass, how->each)->enter, served = fill_delta(pass, how->shared)->enter;

    pass->counts[at].fill = entered;
    add_count(pass, &pass->counts[keep->parent].serve, served);
    if (pass->one)
        pass->out->outer_busiest[at] = (dfl_counts){ .serve = served };
    if (keep->forward == DFL_NONE)
        return;
    dfl_i128 passed = entered - fill_delta(pass, how->passed)->enter;
    add_count(pass, &pass->counts[at].serve, passed);
    pass->out->rough[at] = true; /* estimate: an instance may pass on and get different numbers of elements */
    if (!pass->one)
        add_count(pass, &pass->out->forwarded[find_line(pass->nest, keep->footprint.einsum, keep->forward)->axis], passed);
}

static void report_needed_again(traffic_pass *pass, const dfl_keep *keep)
{
    const dfl_tensor *t = &pass->nest->workload->tensors[keep->line->tensor];
    const char *name = dfl_sym_text(pass->nest->names, t->name);
    dfl_diag *d = dfl_report(pass->nest->sink, DFL_MAP_NEEDED_AFTER_RELEASE, keep->line->span,
                             "elements of `%s` are needed again after their release from this keep", name);
    dfl_diag_here(pass->nest->sink, d, "no outer keep holds them");
    dfl_diag_label(pass->nest->sink, d, t->span, "`%s` is declared here", name);
    if (keep->all.starts)
        dfl_diag_help(pass->nest->sink, d, "move this keep above the loops that return to the elements, or keep `%s` in an outer "
                      "memory; `recompute` repeats only what loops outside of these return to", name);
    else
        dfl_diag_help(pass->nest->sink, d, "move this keep above the loops that return to the elements, keep `%s` in an outer "
                      "memory, or write `recompute %s;`", name, name);
    pass->ok = false;
}

static void check_home(traffic_pass *pass, const dfl_keep *keep)
{
    dfl_i128 once = fill_delta(pass, keep->united)->enter;

    if (pass->ok && fill_delta(pass, keep->all.each)->enter != once) {
        dfl_nest_refuse(pass->nest, keep->line->span, "a result whose home holds it in several instances",
                        "keep it in a memory outside the array first");
        pass->ok = false;
    }
    if (pass->nest->workload->tensors[keep->line->tensor].role != DFL_ROLE_INTERMEDIATE)
        return; /* a home of an input or output of the workload never releases an element */
    if (pass->ok && once > keep->distinct)
        report_needed_again(pass, keep);
}

static void count_home(traffic_pass *pass, uint32_t at)
{
    const dfl_keep *keep = &pass->keeps->at[at];
    const dfl_keep_deltas *how = pass->one ? &keep->one : &keep->all;
    dfl_i128 entered = fill_delta(pass, how->each)->enter, *unfilled = &pass->out->unfilled[at];

    *unfilled = 0;
    if (keep->is_state) { /* each element has a value from the start */
        if (!pass->one)
            check_home(pass, keep);
        return;
    }
    if (how->starts) {
        *unfilled = fill_delta(pass, how->starts)->present;
        /* a sum is insufficient: elements that are made again while still at home would hide elements that come back */
        if (!pass->one && fill_delta(pass, how->supplied)->enter < entered && pass->ok)
            report_needed_again(pass, keep);
        return;
    }
    if (!pass->one)
        check_home(pass, keep);
    *unfilled = entered;
    if (entered > keep->distinct && pass->nest->workload->tensors[keep->line->tensor].role != DFL_ROLE_INTERMEDIATE)
        *unfilled = keep->distinct; /* the home of an input or output still holds an element that comes back */
}

/* Reports E0609 if an element may enter one instance while another one, which came back to it, holds it. A joint entry
   finds the drained value only if no instance holds the element at the same time. If each dimension of the result is
   indexed by a single rank, the other instance has held the element since the drain, and the count is correct. */
static void refuse_late(traffic_pass *pass, const dfl_keep *keep, const dfl_delta *joined)
{
    if (!joined->late || !keep->windows)
        return;
    dfl_nest_refuse(pass->nest, keep->line->span, "a result that enters one instance while another one holds it",
                    "keep it in a memory outside the array");
    pass->ok = false;
}

/* Number of elements that the producer makes in the instances of a delta. Negative if the sizes of tiles do not
   determine it: tiles may overlap, or elements may be made again. */
static dfl_i128 count_made(traffic_pass *pass, const dfl_keep *keep, dfl_delta *delta)
{
    dfl_i128 all = 0, some = 0;

    if (!keep->all.made || keep->windows)
        return -1;
    pass->ok = pass->ok && dfl_delta_disjoint(pass->nest, keep->all.made, &all) && dfl_delta_disjoint(pass->nest, delta, &some);
    return all == keep->distinct ? some : -1;
}

/* Estimate of the entries that find a value: `entered` times the fraction `filled` / `joint`. */
static dfl_i128 estimate_share(dfl_i128 entered, dfl_i128 filled, dfl_i128 joint)
{
    dfl_i128 product;

    if (entered == joint || filled == 0)
        return filled < entered ? filled : entered;
    for (; joint > 0 && dfl_mul(entered, filled, &product); filled /= 2)
        joint /= 2;
    return joint > 0 ? product / joint : 0;
}

static void count_written(traffic_pass *pass, uint32_t at)
{
    const dfl_keep *keep = &pass->keeps->at[at];
    const dfl_keep_deltas *how = pass->one ? &keep->one : &keep->all;
    dfl_traffic_sums *out = pass->out;

    if (!how->joined) {
        dfl_nest_refuse(pass->nest, keep->line->span, "a recomputed tensor that is kept in two memories above its branch",
                        "keep it in one memory above the branch");
        pass->ok = false;
        return;
    }
    dfl_i128 entered = fill_delta(pass, how->starts_each)->enter;
    /* one instance is filled with the value; in an outer residency without a value, the first inner residency finds no
       value */
    const dfl_delta *joined = fill_delta(pass, how->joined);
    refuse_late(pass, keep, joined);
    const dfl_keep *outer = &pass->keeps->at[keep->parent];
    dfl_i128 joint = joined->enter, filled = joint - (outer->n_makers > 1 ? keep->first_made : out->unfilled[keep->parent]);
    for (uint32_t i = 0; i < how->n_stays; i++)
        filled -= fill_delta(pass, how->stays[i].with)->enter - fill_delta(pass, how->stays[i].without)->enter;
    /* coordinate 0 is the first instance to be filled, so only the first entry of each of its elements finds no
       value */
    bool earlier = keep->first_made != keep->distinct; /* the first entry of some element finds the value of an earlier einsum */
    dfl_i128 made = !pass->one ? keep->distinct : how->anew || earlier ? -1 : count_made(pass, keep, how->made);
    dfl_i128 own = !pass->one ? filled : made >= 0 ? entered - made : estimate_share(entered, filled, joint);
    /* ... unless a flushed element stays at coordinate 0 and enters another instance, which is then filled */
    bool passed_by = how->coming && fill_delta(pass, how->coming)->enter != fill_delta(pass, how->each)->enter;
    out->rough[at] = made < 0 && (entered != joint || passed_by || out->rough[keep->parent] ||
                                  (keep->windows && fill_delta(pass, keep->all.each)->enter != entered));

    pass->counts[at].fill = own;
    add_count(pass, &pass->counts[keep->parent].serve, filled);
    out->unfilled[at] = entered - own;
    if (pass->one)
        out->outer_busiest[at] = (dfl_counts){ .serve = filled };
    if (keep->exchanged && !(keep->adding & pass->nest->sizes[keep->producer].moving)) {
        /* made in one residency and read in others: only the residency in which an element is made is drained */
        dfl_i128 given = pass->one ? count_made(pass, keep, how->given) : keep->distinct;
        if (given < 0 || made < 0) {
            /* the outer keep's instance at coordinate 0 gets a part of the elements that is unknown */
            bool parted = pass->one && dfl_keep_tree_steps_around(pass->nest, keep->footprint.einsum, outer->step,
                                                                  pass->nest->system->memories[outer->line->memory].element);
            out->rough[at] |= how->anew;
            out->rough[keep->parent] |= how->anew || parted;
            made = entered < keep->distinct ? entered : keep->distinct;
            given = keep->distinct;
        }
        pass->counts[at].drain = made;
        add_count(pass, &pass->counts[keep->parent].update, given);
        if (keep->is_state) /* the residency was filled with an old value */
            add_count(pass, &out->taken[keep->parent], given);
        if (pass->one)
            out->outer_busiest[at].update = given;
        return;
    }
    if (how->supplied && fill_delta(pass, how->supplied)->enter < entered && pass->ok) {
        dfl_nest_refuse(pass->nest, keep->line->span, "a keep whose tile is updated in some iterations and only read in others",
                        "keep the tensor only further out");
        pass->ok = false;
        return;
    }
    add_count(pass, &out->taken[keep->parent], filled);
    pass->counts[at].drain = how->starts_each->leave;
    dfl_i128 updates = fill_delta(pass, how->meeting)->leave;
    add_count(pass, &pass->counts[keep->parent].update, updates);
    if (pass->one) {
        out->outer_busiest[at].update = updates;
        /* updates that are not combined on the way are added up at the outer keep */
        dfl_i128 added = updates - joint;
        out->outer_busiest[at].accumulate = added > 0 ? added : 0;
    }
}

/* Reports E0609 if a bounding box of a produced tensor has elements that are not touched: those are made elsewhere, or
   later. */
static void check_box(traffic_pass *pass, const dfl_keep *keep)
{
    if (!keep->box || !keep->produced || !fill_delta(pass, pass->one ? keep->one.each : keep->all.each)->is_widened)
        return;
    dfl_nest_refuse(pass->nest, keep->line->span, "a bounding box of a produced tensor that holds untouched elements",
                    "leave `window` out of the keeps of this tensor");
    pass->ok = false;
}

static void count_operand(traffic_pass *pass, const dfl_operand *operand, dfl_i128 *moved)
{
    const dfl_delta *delta = fill_delta(pass, pass->one ? operand->one : operand->all);
    dfl_i128 read = operand->reuse ? delta->enter : delta->present;

    *moved = operand->output ? delta->present : read;
    if (operand->output) {
        add_count(pass, &pass->counts[operand->inner].update, delta->present);
        if (operand->defines)
            add_count(pass, &pass->out->defined[operand->inner], delta->present);
        if (pass->one)
            add_count(pass, &pass->out->ops_busiest[operand->inner].update, delta->present);
    } else {
        add_count(pass, &pass->counts[operand->inner].serve, read);
    }
}

/* Number of the updates that find an old value in a keep and replace it without reading it: the results of `=`. Of the
   producers of one tensor, only those of a state find values of other producers. */
static dfl_i128 count_replaced(const traffic_pass *pass, uint32_t at, dfl_i128 found)
{
    const dfl_keep *keep = &pass->keeps->at[at];
    dfl_i128 defined = pass->out->defined[at];

    return keep->n_makers == 1 && defined > 0 ? found : keep->is_state ? defined : 0;
}

static void count_pass(traffic_pass *pass, const dfl_traffic_plan *plan)
{
    dfl_traffic_sums *out = pass->out;

    memset(pass->counts, 0, pass->keeps->n * sizeof *pass->counts);
    for (uint32_t i = 0; i < plan->n_written; i++) {
        out->taken[plan->written[i]] = 0;
        out->defined[plan->written[i]] = 0;
        out->ops_busiest[plan->written[i]].update = 0;
    }
    for (uint32_t i = 0; i < plan->n_visits && pass->ok; i++) {
        uint32_t at = plan->visits[i];
        const dfl_keep *keep = &pass->keeps->at[at];
        check_box(pass, keep);
        if (!keep->written)
            count_read_only(pass, at);
        else if (keep->parent == DFL_NONE)
            count_home(pass, at);
        else
            count_written(pass, at);
    }
    for (uint32_t i = 0; i < plan->n_operands && pass->ok; i++)
        count_operand(pass, &plan->operands[i], &out->moved[i]);
    /* each residency that starts without a value, and each value that an inner keep takes, causes one update without an
       old value; updates by `=` read no old value (MODEL.md, section 2.4) */
    for (uint32_t i = 0; i < plan->n_written; i++) {
        uint32_t at = plan->written[i];
        dfl_i128 found = pass->counts[at].update - out->unfilled[at] - out->taken[at];
        found -= count_replaced(pass, at, found);
        pass->counts[at].accumulate = found > 0 || !pass->one ? found : 0;
        dfl_i128 own = out->ops_busiest[at].update - out->unfilled[at];
        own -= count_replaced(pass, at, own);
        out->ops_busiest[at].accumulate = pass->one && own > 0 ? own : 0;
    }
}

bool dfl_traffic_count(dfl_nest *nest, dfl_keep_tree *keeps, const dfl_traffic_plan *plan, dfl_traffic_sums *out)
{
    traffic_pass c = { .nest = nest, .keeps = keeps, .counts = out->all, .out = out, .ok = true };

    dfl_product_form_fill_all(nest);
    memset(out->rough, 0, keeps->n * sizeof *out->rough);
    for (uint32_t a = 0; a < nest->system->n_axes; a++)
        out->forwarded[a] = 0;
    count_pass(&c, plan);
    for (uint32_t e = 0; e < nest->workload->n_einsums && c.ok; e++) {
        out->points[e] = fill_delta(&c, plan->points[e])->present;
        out->steps[e] = fill_delta(&c, plan->steps[e])->present;
    }
    for (uint32_t i = 0; i < keeps->n && c.ok; i++)
        out->largest[i] = fill_delta(&c, keeps->at[i].all.each)->largest;
    c.one = true;
    c.counts = out->busiest;
    if (c.ok)
        count_pass(&c, plan);
    return c.ok && c.over ? dfl_nest_report_overflow(nest, nest->mapping->span) : c.ok;
}

