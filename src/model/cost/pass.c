/* Passes of bodies, the size of their work, and launches. */
#include "model/cost/pass.h"

/* Iterations of the temporal loops among the steps of an einsum from `from` to `to` - 1, from nominal extents; of the
   loops over the rank `rank` only, unless it is DFL_NONE. */
static double count_iterations(const dfl_nest *nest, uint32_t e, uint32_t from, uint32_t to, uint32_t rank)
{
    double times = 1;

    for (uint32_t i = from; i < to; i++) {
        const dfl_path_step *step = &nest->paths->paths[e].steps[i];
        bool loop = step->line->kind == DFL_LINE_TEMPORAL && (rank == DFL_NONE || step->rank == rank);
        uint32_t d = loop ? dfl_nest_driver(nest, e, i) : DFL_NONE;
        times *= d == DFL_NONE ? 1 : (double)nest->sizes[d].trips[i];
    }
    return times;
}

/* Number of steps above the first line of a body. */
static uint32_t steps_above(const dfl_nest *nest, const dfl_body *body)
{
    return body->parent != NULL ? nest->numbers->step[body->parent->id][body->parent->n_lines] : 0;
}

/* Whether an access has an index with the rank. */
static bool has_rank(const dfl_access *a, uint32_t rank)
{
    for (uint32_t d = 0; d < a->n_dims; d++)
        for (uint32_t t = 0; t < a->index[d].n_terms; t++)
            if (a->index[d].terms[t].rank == rank)
                return true;
    return false;
}

static void find_shape(const dfl_nest *nest, uint32_t e, double shape[DFL_GRID_DIMS])
{
    const dfl_einsum *einsum = &nest->workload->einsums[e];
    const dfl_path *path = &nest->paths->paths[e];

    for (int d = 0; d < DFL_GRID_DIMS; d++)
        shape[d] = 1;
    for (uint32_t i = 0; einsum->n_inputs == 2 && i < einsum->n_ranks; i++) {
        uint32_t r = einsum->ranks[i];
        bool first = has_rank(&einsum->inputs[0], r), second = has_rank(&einsum->inputs[1], r);
        double extent = count_iterations(nest, e, steps_above(nest, path->leaf), path->n_steps, r);
        if (!has_rank(&einsum->output, r))
            shape[2] *= extent;
        else if (first != second)
            shape[first ? 0 : 1] *= extent;
    }
}

double dfl_pass_point_seconds(dfl_nest *nest, const dfl_einsum_time *unit, const dfl_traffic_sums *sums, uint32_t e)
{
    const dfl_einsum *einsum = &nest->workload->einsums[e];
    const dfl_path *path = &nest->paths->paths[e];
    const dfl_efficiency *small = NULL;
    dfl_work_size size;
    double seconds, steps = dfl_i128_double(sums->steps[e]);
    dfl_i128 flops = 0;

    if (unit->unit->n_efficiencies == 0 || steps <= 0 || dfl_einsum_point_flops(nest->workload, einsum, &flops))
        return unit->point_seconds;
    size.flop = steps * (einsum->is_mac ? 2 : dfl_i128_double(flops)) /
                count_iterations(nest, e, 0, steps_above(nest, path->leaf), DFL_NONE);
    find_shape(nest, e, size.shape);
    seconds = dfl_point_seconds_at(nest->names, nest->workload, einsum, unit->unit, &size, &small);
    if (small == NULL)
        return seconds;
    const char *name = dfl_sym_text(nest->names, einsum->name);
    dfl_diag *d;
    if (dfl_efficiency_is_grid(small))
        d = dfl_report(nest->sink, DFL_SYS_EFFICIENCY_SMALL, small->span,
                       "`%s` has the extents %.6g x %.6g x %.6g in one pass on one instance, outside of this efficiency", name,
                       size.shape[0], size.shape[1], size.shape[2]);
    else
        d = dfl_report(nest->sink, DFL_SYS_EFFICIENCY_SMALL, small->span,
                       "`%s` has %.6g FLOP in one pass on one instance, less than the first point of this efficiency", name,
                       size.flop);
    dfl_diag_help(nest->sink, d, "give the efficiency a first point at the smallest work, for example at 0");
    return -1;
}

/* Whether a body has a loop of its own. */
static bool has_loop(const dfl_body *body)
{
    for (uint32_t i = 0; i < body->n_lines; i++)
        if (body->lines[i].kind == DFL_LINE_SPATIAL || body->lines[i].kind == DFL_LINE_TEMPORAL)
            return true;
    return false;
}

/* Whether a body is one kernel, with one launch: a leaf, stages that run at the same time, or einsums with a common
   loop. */
static bool is_kernel(const dfl_body *body) { return body->kind != DFL_BODY_FUSE || has_loop(body); }

/* Time of the launches of a kernel: the longest launch among the units that run its einsums, once for each pass. */
static double kernel_seconds(const dfl_nest *nest, const dfl_time_plan *plan, const dfl_body *body)
{
    double longest = 0;

    for (uint32_t i = 0; i < body->n_einsums; i++) {
        double launch = plan->einsums[body->einsums[i]].unit->launch;
        longest = launch > longest ? launch : longest;
    }
    return longest > 0 ? longest * count_iterations(nest, body->einsums[0], 0, steps_above(nest, body), DFL_NONE) : 0;
}

static double body_launch_seconds(const dfl_nest *nest, const dfl_time_plan *plan, const dfl_body *body)
{
    double sum = 0;

    if (is_kernel(body))
        return kernel_seconds(nest, plan, body);
    for (uint32_t i = 0; i < body->n_children; i++)
        sum += body_launch_seconds(nest, plan, body->children[i]);
    return sum;
}

double dfl_pass_launch_seconds(const dfl_nest *nest, const dfl_time_plan *plan)
{
    return body_launch_seconds(nest, plan, nest->mapping->root);
}

double dfl_pass_einsum_launch_seconds(const dfl_nest *nest, const dfl_time_plan *plan, uint32_t e)
{
    const dfl_body *leaf = nest->paths->paths[e].leaf;

    for (const dfl_body *body = leaf->parent; body != NULL; body = body->parent)
        if (is_kernel(body))
            return 0;
    return kernel_seconds(nest, plan, leaf);
}
