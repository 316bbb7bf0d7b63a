#include "plan/pass/chip_time.h"

#include <math.h>
#include <string.h>

#include "ir/conditions.h"
#include "ir/path/unit_choice.h"
#include "plan/layout/elements.h"
#include "plan/layout/halos.h"
#include "plan/layout/lines.h"
#include "plan/layout/masks.h"
#include "plan/layout/rows.h"
#include "plan/pass/allotment.h"

double dfl_chip_units(const dfl_frame *f, uint32_t compute)
{
    double n = 1;

    for (uint32_t a = 0; a < f->system->n_axes; a++)
        if (!dfl_frame_is_chip_axis(f, a) && dfl_axis_encloses(f->system, a, f->system->computes[compute].element))
            n *= (double)f->system->axes[a].size;
    return n;
}

/* The innermost unit of a chip that can run an einsum; DFL_NONE after E0418. */
static uint32_t choose_unit(const dfl_frame *f, const dfl_einsum *e)
{
    for (uint32_t c = f->system->n_computes; c-- > 0;)
        if (dfl_unit_can_run(f->names, f->mapping, &f->system->computes[c], e) &&
            dfl_element_within(f->system, f->system->computes[c].element, f->system->memories[f->home].element))
            return c;
    return DFL_NONE;
}

static bool has_rank(const dfl_access *a, uint32_t rank)
{
    for (uint32_t d = 0; a != NULL && d < a->n_dims; d++)
        if (dfl_index_coef(&a->index[d], rank) != 0)
            return true;
    return false;
}

/* The operands of a product, and the access to the positions of gathered rows, if one operand is such rows. */
typedef struct { const dfl_access *of[2], *positions; } operands;

static operands find_operands(const dfl_frame *f, const dfl_einsum *e)
{
    operands out = { { NULL, NULL }, NULL };

    for (uint32_t i = 0; i < e->n_inputs && out.positions == NULL; i++)
        if (f->workload->tensors[e->inputs[i].tensor].gathered)
            out.positions = dfl_rows_gathered_at(e, e->inputs[i].tensor);
    for (uint32_t i = 0, n = 0; i < e->n_inputs && n < 2; i++)
        if (out.positions == NULL || &e->inputs[i] != out.positions)
            out.of[n++] = &e->inputs[i];
    return out;
}

/* The extents m, n and k of a product in one pass: ranks that the result shares with the first operand alone, with the second
   alone, and ranks that it lacks. The points of a product with gathered rows are its rows, as of one kernel for all experts. */
static void find_shape(const dfl_frame *f, uint32_t einsum, const dfl_i128 *extents, double shape[DFL_GRID_DIMS])
{
    const dfl_einsum *e = &f->workload->einsums[einsum];
    const operands o = find_operands(f, e);

    for (uint32_t d = 0; d < DFL_GRID_DIMS; d++)
        shape[d] = 1;
    for (uint32_t i = 0; i < e->n_ranks; i++) {
        const uint32_t r = e->ranks[i];
        const bool in[2] = { has_rank(o.of[0], r), has_rank(o.of[1], r) };

        if (!has_rank(&e->output, r))
            shape[2] *= dfl_i128_double(extents[r]);
        else if (has_rank(o.positions, r))
            shape[0] *= dfl_i128_double(extents[r]);
        else if (in[0] != in[1])
            shape[in[1]] *= dfl_i128_double(extents[r]);
    }
    if (f->points[einsum].parts > 1) /* points are rows of the first operand */
        shape[0] = fmax(1, shape[0] * (double)f->points[einsum].largest / (double)f->points[einsum].total);
}

/* The points of one pass on the chip that has most. False after a report. */
static bool count_points(const dfl_frame *f, uint32_t einsum, dfl_i128 *out)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];
    dfl_i128 satisfied;
    bool overflow = false;

    *out = 1;
    for (uint32_t i = 0; i < e->n_ranks; i++) {
        const uint32_t r = e->ranks[i];

        if (r == e->over_rank) {
            if (dfl_frame_pass(f, einsum, r) != f->workload->ranks[r].extent)
                return dfl_frame_refuse(f, e->span, "a divided rank that an operation takes whole", "divide another rank");
            continue;
        }
        if (dfl_conditions_have_rank(e, r))
            continue;
        if (f->points[einsum].parts == 1 || !dfl_rows_has_position(f, einsum, r))
            overflow |= dfl_mul(*out, dfl_frame_pass(f, einsum, r), out);
    }
    overflow |= dfl_mul(*out, f->points[einsum].largest, out);
    if (!dfl_mask_check(f, einsum) || !dfl_mask_points(f, einsum, &satisfied))
        return false;
    overflow |= dfl_mul(*out, satisfied, out);
    if (overflow)
        dfl_report(f->sink, DFL_EVAL_OVERFLOW, e->span, "the operations of this einsum exceed 128 bits");
    return !overflow;
}

/* Whether the result of an einsum takes no time to write: the einsum is a part of the one that reads it, and has no launch. */
static bool is_handed_on(const dfl_frame *f, const dfl_einsum *e)
{
    return !isfinite(f->system->memories[f->room_of[e->output.tensor]].write_rate);
}

/* Sets the times of the operations of one pass on whole units, from their points, extents m, n and k, and the time of a point at
   the rate of all units. */
static void time_on_units(const dfl_frame *f, const dfl_einsum *e, const double *shape, double each, dfl_chip_time *out)
{
    const dfl_compute *unit = &f->system->computes[out->compute];
    const int64_t units = unit->units * (int64_t)dfl_chip_units(f, out->compute);
    const double points = dfl_i128_double(out->points);
    dfl_allotment_work work = { .m = shape[0], .n = shape[1], .k = shape[2], .pieces = fmax(1, f->mapping->options.pieces),
                                .point_seconds = each * (double)(unit->units * unit->lanes * unit->rows),
                                .has_rows = e->is_mac && e->n_inputs > 1 };

    if (!work.has_rows) {
        work.m = 1;
        work.n = points / work.k;
    }
    work.batch = points / (work.m * work.n * work.k);
    out->on_units = dfl_allotment_seconds(f->arena, unit, units, &work);
    out->work_seconds = out->on_units[units - 1];
}

/* Sets the points and the time of the operations of one pass. */
static bool time_operations(const dfl_frame *f, uint32_t einsum, dfl_chip_time *out)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];
    const dfl_compute *unit = &f->system->computes[out->compute];
    double units = dfl_chip_units(f, out->compute), each;
    const dfl_efficiency *small = NULL;
    dfl_i128 *extents = DFL_NEW_ARRAY(f->arena, dfl_i128, (size_t)f->workload->n_ranks + 1);
    dfl_work_size size;
    dfl_i128 flops = 0;

    if (!count_points(f, einsum, &out->points))
        return false;
    if (dfl_einsum_point_flops(f->workload, e, &flops)) {
        dfl_report(f->sink, DFL_EVAL_OVERFLOW, e->span, "the operations of this einsum exceed 128 bits");
        return false;
    }
    out->mean_points = dfl_i128_double(out->points);
    out->work_seconds = out->least_seconds = out->launch_seconds = 0;
    out->on_units = NULL;
    if (out->points == 0) /* an iteration in which no point satisfies the conditions runs no kernel */
        return true;
    size.flop = dfl_i128_double(out->points) * (e->is_mac ? 2 : dfl_i128_double(flops)) / units;
    for (uint32_t i = 0; i < e->n_ranks; i++)
        if (!dfl_mask_extent(f, einsum, e->ranks[i], &extents[e->ranks[i]]))
            return false;
    find_shape(f, einsum, extents, size.shape);
    each = dfl_point_seconds_at(f->names, f->workload, e, unit, &size, &small);
    if (small != NULL) {
        dfl_diag *d = dfl_report(f->sink, DFL_EVAL_UNSUPPORTED, e->span,
                                 "`%s` is smaller than the first point of an efficiency of `%s`",
                                 dfl_sym_text(f->names, e->name), dfl_sym_text(f->names, unit->name));
        dfl_diag_label(f->sink, d, small->span, "the first point of this efficiency is above %g FLOP", size.flop);
        dfl_diag_help(f->sink, d, "add a point for smaller work");
        return false;
    }
    out->work_seconds = out->least_seconds = dfl_i128_double(out->points) * each / units;
    if (unit->units > 0 && each > 0)
        time_on_units(f, e, size.shape, each, out);
    out->launch_seconds = is_handed_on(f, e) ? 0 : unit->launch;
    return true;
}

/* Sets the bits of an access and the time of the port of its memory. A read is that of input `input`, with all that differ from
   it by offsets; DFL_NONE = a write. */
static bool time_access(const dfl_frame *f, uint32_t einsum, const dfl_access *access, uint32_t input, dfl_port_time *out)
{
    const bool is_read = input != DFL_NONE;
    const dfl_memory *m = &f->system->memories[f->room_of[access->tensor]];
    double rate = is_read ? m->read_rate : m->write_rate, share;

    if (is_read && dfl_halo_has_several(&f->workload->einsums[einsum], input)) {
        if (dfl_frame_elements_of_several(f, einsum, input, &out->bits)) {
            dfl_report(f->sink, DFL_EVAL_OVERFLOW, access->span, "the data of this access exceeds 128 bits");
            return false;
        }
    } else if (!dfl_mask_elements(f, einsum, access, false, &out->bits)) {
        return false;
    }
    if (dfl_mul(out->bits, f->workload->tensors[access->tensor].type.bits, &out->bits)) {
        dfl_report(f->sink, DFL_EVAL_OVERFLOW, access->span, "the data of this access exceeds 128 bits");
        return false;
    }
    if (out->bits == 0)
        return true;
    share = m->efficiency != NULL ? dfl_efficiency_share(m->efficiency, dfl_i128_double(out->bits)) : 1;
    if (share <= 0) {
        dfl_diag *d = dfl_report(f->sink, DFL_EVAL_UNSUPPORTED, access->span,
                                 "this transfer is smaller than the first point of the efficiency of `%s`",
                                 dfl_sym_text(f->names, m->name));
        dfl_diag_help(f->sink, d, "add a point for smaller transfers");
        return false;
    }
    out->seconds = isfinite(rate) ? dfl_i128_double(out->bits) / (rate * share) : 0;
    return true;
}

/* Sets the transfers of all accesses of an einsum. */
static bool time_accesses(const dfl_frame *f, uint32_t einsum, dfl_chip_time *out)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];
    dfl_port_time *reads = DFL_NEW_ARRAY(f->arena, dfl_port_time, (size_t)e->n_inputs + 1);
    dfl_port_time *renewed = DFL_NEW_ARRAY(f->arena, dfl_port_time, (size_t)e->n_inputs + 1);

    out->reads = reads;
    out->renewed = renewed;
    for (uint32_t i = 0; i < e->n_inputs; i++)
        if ((!dfl_halo_is_repeated(e, i) && !time_access(f, einsum, &e->inputs[i], i, &reads[i])) ||
            (dfl_einsum_renews(f->workload, e, i) && !time_access(f, einsum, &e->inputs[i], DFL_NONE, &renewed[i])))
            return false;
    return time_access(f, einsum, &e->output, DFL_NONE, &out->written);
}

void dfl_chip_time_add_ports(const dfl_frame *f, const uint32_t *branch_of, bool is_again, uint32_t einsum,
                             const dfl_chip_time *time, double *ports)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];

    for (uint32_t i = 0; i < e->n_inputs; i++) {
        const size_t m = f->room_of[e->inputs[i].tensor];

        if (dfl_branch_reads(f, branch_of, einsum, i))
            ports[2 * m] += time->reads[i].seconds;
        ports[2 * m + 1] += time->renewed[i].seconds;
    }
    if (dfl_branch_writes(f, branch_of, einsum, is_again))
        ports[2 * (size_t)f->room_of[e->output.tensor] + 1] += time->written.seconds;
}

double dfl_busiest_memory(const dfl_system *s, const double *ports, uint32_t *slowest)
{
    double most = 0;

    *slowest = DFL_NONE;
    for (uint32_t m = 0; m < s->n_memories; m++) {
        double reads = ports[2 * m], writes = ports[2 * m + 1];
        double busy = s->memories[m].one_port ? reads + writes : fmax(reads, writes);

        if (busy > most) {
            most = busy;
            *slowest = m;
        }
    }
    return most;
}

/* Sets the data of one pass that passes memories, and the time of the busiest port. False on overflow. */
static bool sum_data(const dfl_frame *f, const uint32_t *branch_of, bool is_again, uint32_t einsum, dfl_chip_time *t)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];
    bool overflow = false;

    t->read_bits = 0;
    t->written_bits = dfl_branch_writes(f, branch_of, einsum, is_again) ? t->written.bits : 0;
    for (uint32_t i = 0; i < e->n_inputs; i++) {
        if (dfl_branch_reads(f, branch_of, einsum, i))
            overflow |= dfl_add(t->read_bits, t->reads[i].bits, &t->read_bits);
        overflow |= dfl_add(t->written_bits, t->renewed[i].bits, &t->written_bits);
    }
    t->mean_read_bits = dfl_i128_double(t->read_bits);
    t->mean_written_bits = dfl_i128_double(t->written_bits);
    if (overflow)
        dfl_report(f->sink, DFL_EVAL_OVERFLOW, e->span, "the data of this einsum exceeds 128 bits");
    return !overflow;
}

/* Whether transfers between the home and a unit run beside the work: the first memory behind the home streams or has two
   buffers, or there is none. */
static bool overlaps(const dfl_frame *f, uint32_t compute)
{
    const dfl_system *s = f->system;

    if (f->mapping->options.overlap_perfect)
        return true;
    for (uint32_t m = f->home + 1; m < s->n_memories; m++)
        if (dfl_memory_outside(s, f->home, m) && dfl_compute_sees(s, compute, m) &&
            s->memories[m].element == s->memories[f->home].element)
            return s->memories[m].stream || s->memories[m].buffers > 1;
    return true;
}

/* Sets the times of the memories of an einsum, and its time. */
static void time_memories(const dfl_frame *f, const uint32_t *branch_of, bool is_again, uint32_t einsum, double *ports,
                          dfl_chip_time *t)
{
    memset(ports, 0, f->system->n_memories * 2 * sizeof *ports);
    dfl_chip_time_add_ports(f, branch_of, is_again, einsum, t, ports);
    t->memory_seconds = dfl_busiest_memory(f->system, ports, &t->slowest_memory);
    t->seconds = overlaps(f, t->compute) ? fmax(t->operation_seconds, t->memory_seconds)
                                         : t->operation_seconds + t->memory_seconds;
}

/* Sets the times of the operations with the start of each of `n` branches: at its first einsum that no other kernel takes
   over. */
static void add_starts(const dfl_frame *f, const uint32_t *branch_of, uint32_t n, dfl_chip_time *times)
{
    bool *has_started = DFL_NEW_ARRAY(f->arena, bool, n);

    for (uint32_t e = 0; e < f->workload->n_einsums; e++) {
        bool *started = &has_started[branch_of[e]];

        times[e].operation_seconds = times[e].work_seconds + (*started ? 0 : times[e].launch_seconds);
        *started |= times[e].launch_seconds > 0;
    }
}

static bool set_branches(const dfl_frame *f, const uint32_t *branch_of, uint32_t n, bool is_again, dfl_chip_time *times)
{
    double *ports = DFL_NEW_ARRAY(f->arena, double, (size_t)f->system->n_memories * 2);

    add_starts(f, branch_of, n, times);
    for (uint32_t e = 0; e < f->workload->n_einsums; e++) {
        if (!sum_data(f, branch_of, is_again, e, &times[e]))
            return false;
        time_memories(f, branch_of, is_again, e, ports, &times[e]);
    }
    return true;
}

bool dfl_chip_times_set_branches(const dfl_frame *f, const dfl_plan_branches *branches, dfl_chip_time *times)
{
    return set_branches(f, branches->of, branches->n, false, times);
}

dfl_chip_time *dfl_chip_times_again(const dfl_frame *f, const dfl_plan_branches *branches, const dfl_chip_time *times)
{
    const uint32_t n = f->workload->n_einsums, *branch_of = dfl_branches_again(f, branches->of, branches->n);
    dfl_chip_time *again = DFL_NEW_ARRAY(f->arena, dfl_chip_time, n);

    memcpy(again, times, n * sizeof *again);
    return set_branches(f, branch_of, branches->n + n, true, again) ? again : NULL;
}

static bool multiply(dfl_port_time *port, int64_t n)
{
    port->seconds *= (double)n;
    return dfl_mul(port->bits, n, &port->bits);
}

/* Sets the times and the data of an einsum. In parts, each is a kernel with its own size, and moves what it needs by itself. */
static bool time_parts(const dfl_frame *f, uint32_t einsum, dfl_chip_time *out)
{
    const dfl_einsum *e = &f->workload->einsums[einsum];
    const int64_t n = f->parts[einsum];
    int64_t *extent = n > 1 ? &f->pass[(size_t)einsum * f->workload->n_ranks + f->parts_rank[einsum]] : NULL;
    dfl_port_time *reads;
    bool ok, overflow = false;

    if (n == 1)
        return time_operations(f, einsum, out) && time_accesses(f, einsum, out);
    *extent /= n;
    ok = time_operations(f, einsum, out) && time_accesses(f, einsum, out);
    *extent *= n;
    if (!ok)
        return false;
    out->work_seconds *= (double)n;
    out->least_seconds *= (double)n;
    out->launch_seconds *= (double)n;
    out->mean_points *= (double)n;
    overflow |= dfl_mul(out->points, n, &out->points);
    reads = DFL_NEW_ARRAY(f->arena, dfl_port_time, (size_t)e->n_inputs + 1);
    memcpy(reads, out->reads, e->n_inputs * sizeof *reads);
    for (uint32_t i = 0; i < e->n_inputs; i++)
        overflow |= multiply(&reads[i], n);
    out->reads = reads;
    overflow |= multiply(&out->written, n);
    if (overflow)
        dfl_report(f->sink, DFL_EVAL_OVERFLOW, e->span, "the data of the parts of this einsum exceeds 128 bits");
    return !overflow;
}

dfl_chip_time *dfl_chip_times_find(const dfl_frame *f, const dfl_plan_branches *branches, const dfl_chip_time *same)
{
    const dfl_workload *w = f->workload;
    dfl_chip_time *times = DFL_NEW_ARRAY(f->arena, dfl_chip_time, w->n_einsums);

    if (!dfl_mapping_check_units(f->sink, f->names, f->mapping))
        return NULL;
    for (uint32_t e = 0; e < w->n_einsums; e++) {
        dfl_chip_time *t = &times[e];

        if (same != NULL && !dfl_mask_varies(f, e)) {
            *t = same[e];
            continue;
        }
        t->compute = choose_unit(f, &w->einsums[e]);
        if (t->compute == DFL_NONE) {
            dfl_diag *d = dfl_report(f->sink, DFL_MAP_NO_COMPUTE, w->einsums[e].span, "no unit of a chip can run einsum `%s`",
                                     dfl_sym_text(f->names, w->einsums[e].name));
            dfl_diag_help(f->sink, d, "add a rate for its operations to a unit of the chip");
            return NULL;
        }
        if (!time_parts(f, e, t))
            return NULL;
    }
    return dfl_chip_times_set_branches(f, branches, times) ? times : NULL;
}
