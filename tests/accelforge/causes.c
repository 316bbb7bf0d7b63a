/* Causes for which numbers of the peer may differ from those of dflc. */
#include "tests/accelforge/judge.h"

#include <math.h>
#include <string.h>

const char *judge_cause_text(judge_cause cause)
{
    static const char *const text[CAUSE_COUNT] = {
        [CAUSE_AVERAGES] = "averages over imperfect factors, or rounds them up (Q4)",
        [CAUSE_FIRST] = "reads outputs before their first value, on request",
        [CAUSE_WIDTHS] = "gives tensors different widths or actions in one memory",
        [CAUSE_ONE_WAY] = "charges one direction of an output that passes a toll in both",
        [CAUSE_BOXES] = "fetches the bounding box of a tile with gaps",
        [CAUSE_RETURNS] = "brings old sums back to every instance of a reduction",
        [CAUSE_UNREAD] = "writes sums that do not meet on the way over each other",
        [CAUSE_HOPS] = "counts hops and links of a network (Q3)",
        [CAUSE_GATING] = "lets instances that are not used leak less (Q2)",
    };

    return text[cause];
}

bool judge_is_perfect(const dfl_af_file *f, const dfl_af_plan *plan)
{
    for (uint32_t e = 0; e < f->einsums.n; e++) {
        for (uint32_t i = 0; i < plan->paths[e].n_events; i++) {
            if (plan->paths[e].events[i].ragged)
                return false;
        }
    }
    return true;
}

/* Whether some memory reads the first value of an output. */
static bool reads_first(const dfl_af_file *f)
{
    for (uint32_t n = 0; n < f->nodes.n; n++) {
        const dfl_yaml *skip = dfl_yaml_get(f->nodes.at[n].at, "skip_initial_output_write");

        if (skip != NULL && !dfl_af_truth(skip))
            return true;
    }
    return false;
}

static bool kept_there(const dfl_af_file *f, const dfl_af_plan *plan, uint32_t node, uint32_t tensor)
{
    for (uint32_t e = 0; e < f->einsums.n; e++) {
        for (uint32_t i = 0; i < plan->paths[e].n_events; i++) {
            const dfl_af_event *event = &plan->paths[e].events[i];

            if (event->kind == DFL_AF_KEEP && event->node == node && event->tensor == tensor)
                return true;
        }
    }
    return false;
}

/* Whether the tensors in a memory differ in actions per bit; `node` = DFL_AF_NONE asks for any memory. */
static bool widths_differ(const dfl_af_file *f, const dfl_af_plan *plan, uint32_t node)
{
    for (uint32_t n = 0; n < f->nodes.n; n++) {
        for (int which = 0; which < 2 && (node == DFL_AF_NONE || n == node); which++) {
            double first = 0;

            for (uint32_t t = 0; t < f->tensors.n; t++) {
                double per_bit = f->nodes.at[n].values_to_actions[which] != NULL
                                     ? f->nodes.at[n].values_to_actions[which][t] / (double)f->tensors.at[t].bits
                                     : 0;

                if (!kept_there(f, plan, n, t))
                    continue;
                if (first != 0 && fabs(per_bit - first) > 1e-12 * first)
                    return true;
                first = per_bit;
            }
        }
    }
    return false;
}

static bool charged_one_way(const dfl_af_file *f, const dfl_af_plan *plan)
{
    for (uint32_t e = 0; e < f->einsums.n; e++) {
        for (uint32_t i = 0; i < plan->paths[e].n_events; i++) {
            if (plan->paths[e].events[i].one_way)
                return true;
        }
    }
    return false;
}

/* Whether a tile touches the dimension with gaps. */
static bool has_gaps(const dfl_af_dim *dim, const int64_t *tile)
{
    int64_t reach = 1;
    bool used[16] = { false };

    for (uint32_t k = 0; k < dim->n_terms && k < 16; k++) {
        uint32_t least = DFL_AF_NONE;

        for (uint32_t t = 0; t < dim->n_terms && t < 16; t++) {
            if (!used[t] && (least == DFL_AF_NONE || dim->terms[t].coef < dim->terms[least].coef))
                least = t;
        }
        used[least] = true;
        if (tile[dim->terms[least].var] == 1)
            continue;
        if (dim->terms[least].coef > reach)
            return true;
        reach += dim->terms[least].coef * (tile[dim->terms[least].var] - 1);
    }
    return false;
}

/* Whether some storage node fetches a tile of the tensor with gaps; `tensor` = DFL_AF_NONE asks for any tensor. */
static bool fetches_boxes(const dfl_af_file *f, const dfl_af_plan *plan, uint32_t tensor)
{
    for (uint32_t e = 0; e < f->einsums.n; e++) {
        const dfl_af_einsum *einsum = &f->einsums.at[e];
        const dfl_af_path *path = &plan->paths[e];

        for (uint32_t i = 0; i < path->n_events; i++) {
            const dfl_af_event *keep = &path->events[i];
            const dfl_af_access *a;
            int64_t tile[64];

            if (keep->kind != DFL_AF_KEEP || keep->home || (tensor != DFL_AF_NONE && keep->tensor != tensor) ||
                einsum->n_vars > 64)
                continue;
            for (uint32_t v = 0; v < einsum->n_vars; v++)
                tile[v] = einsum->vars[v].extent;
            for (uint32_t k = 0; k < path->n_events; k++) {
                const dfl_af_event *loop = &path->events[k];

                if (loop->kind == DFL_AF_LOOP && loop->step < keep->step && loop->tile < tile[loop->var])
                    tile[loop->var] = loop->tile;
            }
            a = dfl_af_access_of(einsum, keep->tensor);
            for (uint32_t d = 0; d < a->n_dims; d++) {
                if (has_gaps(&a->dims[d], tile))
                    return true;
            }
        }
    }
    return false;
}

/* Whether instances of an axis compute partial sums of one output. With `meet`: the sums are reduced on the way to the
   next keep, and grow in later iterations. Without: each sum goes to the next outer keep by itself. */
static bool sums_over_instances(const dfl_af_file *f, const dfl_af_plan *plan, uint32_t tensor, bool meet)
{
    for (uint32_t e = 0; e < f->einsums.n; e++) {
        const dfl_af_access *out = &f->einsums.at[e].accesses[f->einsums.at[e].output];
        bool again = false, spread = false;

        if (tensor != DFL_AF_NONE && out->tensor != tensor)
            continue;
        for (uint32_t i = 0; i < plan->paths[e].n_events; i++) {
            const dfl_af_event *event = &plan->paths[e].events[i];

            if (event->kind != DFL_AF_LOOP || event->trips == 1 || dfl_af_relevant(out, event->var) == DFL_AF_RELEVANT)
                continue;
            again |= !event->spatial;
            spread |= event->spatial &&
                      dfl_af_has(&f->nodes.at[event->node].axes[event->axis].write_reuse, out->tensor) == meet;
        }
        if (spread && (again || !meet))
            return true;
    }
    return false;
}

static bool has_network(const dfl_af_file *f)
{
    for (uint32_t n = 0; n < f->nodes.n; n++) {
        if (f->nodes.at[n].kind == DFL_AF_NETWORK)
            return true;
    }
    return false;
}

static bool has_gates(const dfl_af_file *f)
{
    for (uint32_t n = 0; n < f->nodes.n; n++) {
        const dfl_yaml *list = dfl_yaml_get(f->nodes.at[n].at, "spatial");

        for (uint32_t i = 0; list != NULL && i < list->n; i++) {
            if (dfl_af_truth(dfl_yaml_get(&list->items[i], "power_gateable")))
                return true;
        }
    }
    return false;
}

uint32_t judge_causes_of(const dfl_af_file *f, const dfl_af_plan *plan, number_kind kind, uint32_t node, uint32_t tensor)
{
    bool sums = kind == NUMBER_ENERGY || kind == NUMBER_LATENCY || kind == NUMBER_LEAKAGE;
    bool moves = kind == NUMBER_INPUT || kind == NUMBER_OUTPUT || kind == NUMBER_TOLL;
    uint32_t out = 0;

    if ((moves || sums) && !judge_is_perfect(f, plan))
        out |= 1u << CAUSE_AVERAGES;
    if ((kind == NUMBER_OUTPUT || sums) && reads_first(f))
        out |= 1u << CAUSE_FIRST;
    if ((kind == NUMBER_ROOM && widths_differ(f, plan, node)) || (sums && widths_differ(f, plan, DFL_AF_NONE)))
        out |= 1u << CAUSE_WIDTHS;
    if (sums && charged_one_way(f, plan))
        out |= 1u << CAUSE_ONE_WAY;
    if ((moves || sums) && fetches_boxes(f, plan, moves ? tensor : DFL_AF_NONE))
        out |= 1u << CAUSE_BOXES;
    if ((kind == NUMBER_OUTPUT || sums) && sums_over_instances(f, plan, sums ? DFL_AF_NONE : tensor, true))
        out |= 1u << CAUSE_RETURNS;
    if ((kind == NUMBER_OUTPUT || sums) && sums_over_instances(f, plan, sums ? DFL_AF_NONE : tensor, false))
        out |= 1u << CAUSE_UNREAD;
    if ((kind == NUMBER_HOPS || sums) && has_network(f))
        out |= 1u << CAUSE_HOPS;
    if (kind == NUMBER_LEAKAGE && has_gates(f))
        out |= 1u << CAUSE_GATING;
    return out;
}

int judge_side(number_kind kind, uint32_t causes)
{
    const uint32_t more = 1u << CAUSE_ONE_WAY | 1u << CAUSE_GATING | 1u << CAUSE_UNREAD;
    uint32_t less = 1u << CAUSE_FIRST | 1u << CAUSE_BOXES | 1u << CAUSE_HOPS | 1u << CAUSE_RETURNS;

    /* an instance takes more steps than the average, and leaks for longer */
    if (kind != NUMBER_LATENCY && kind != NUMBER_LEAKAGE)
        less |= 1u << CAUSE_AVERAGES;
    return causes == 0 ? 0 : (causes & ~more) == 0 ? 1 : (causes & ~less) == 0 ? -1 : 0;
}
