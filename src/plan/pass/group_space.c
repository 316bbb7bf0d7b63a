#include "plan/pass/group_space.h"

#include <math.h>
#include <string.h>

#include "plan/layout/lines.h"
#include "plan/pass/allotment.h"
#include "plan/pass/engines.h"

dfl_group_space *dfl_group_space_new(const dfl_plan_work *work, dfl_i128 room)
{
    const dfl_workload *w = work->frame->workload;
    dfl_group_space *s = DFL_NEW(work->frame->arena, dfl_group_space);

    s->work = work;
    s->room = room;
    s->members = DFL_NEW_ARRAY(work->frame->arena, uint32_t, w->n_einsums);
    s->node_of = DFL_NEW_ARRAY(work->frame->arena, uint32_t, w->n_einsums);
    memset(s->node_of, 0xff, w->n_einsums * sizeof *s->node_of);
    return s;
}

/* The node of which an einsum only copies the result; DFL_NONE if it is no such copy. */
static uint32_t copied_node(const dfl_group_space *s, uint32_t einsum)
{
    const dfl_workload *w = s->work->frame->workload;
    const dfl_einsum *e = &w->einsums[einsum];
    const dfl_tensor *t = e->n_inputs == 1 ? &w->tensors[e->inputs[0].tensor] : NULL;

    return t != NULL && dfl_einsum_is_copy(e) && t->n_producers == 1 && t->producers[0] < einsum ? s->node_of[t->producers[0]]
                                                                                                 : DFL_NONE;
}

bool dfl_group_space_add(dfl_group_space *s, uint32_t einsum)
{
    const dfl_workload *w = s->work->frame->workload;
    const dfl_einsum *e = &w->einsums[einsum];
    uint32_t node = copied_node(s, einsum);

    if (node == DFL_NONE) {
        if (s->n == DFL_GROUPS_MOST)
            return false;
        node = s->n++;
    }
    s->working |= dfl_einsum_is_copy(e) ? 0 : DFL_EINSUM_BIT(node);
    s->node_of[einsum] = node;
    s->members[s->n_members++] = einsum;
    for (uint32_t i = 0; i < e->n_inputs; i++) {
        const dfl_tensor *t = &w->tensors[e->inputs[i].tensor];

        for (uint32_t k = 0; k < t->n_producers; k++)
            if (t->producers[k] < einsum && s->node_of[t->producers[k]] != DFL_NONE && s->node_of[t->producers[k]] != node)
                s->before[node] |= DFL_EINSUM_BIT(s->node_of[t->producers[k]]);
    }
    for (uint32_t k = 0; k < w->tensors[e->output.tensor].n_producers; k++) { /* sums in their order */
        const uint32_t other = w->tensors[e->output.tensor].producers[k];

        if (other < einsum && s->node_of[other] != DFL_NONE && s->node_of[other] != node)
            s->before[node] |= DFL_EINSUM_BIT(s->node_of[other]);
    }
    return true;
}

/* ---- the numbers of a pass --------------------------------------------------------------------------------------- */

/* Whether an einsum of the workload runs in a pass of the space; with `is_again`, in the recomputation. */
static bool runs_in(const dfl_group_space *s, bool is_again, uint32_t einsum)
{
    return s->node_of[einsum] != DFL_NONE && (!is_again || dfl_frame_is_again(s->work->frame, einsum));
}

/* Adds a transfer that takes time. */
static void add_transfer(const dfl_group_space *s, dfl_group_pass *pass, dfl_group_transfer transfer)
{
    if (transfer.seconds > 0)
        DFL_PUSH(s->work->frame->arena, &pass->transfers, transfer);
}

/* Sets the nodes with which an einsum does not read an operand through its memory, as dfl_branch_reads decides. */
static void set_read(const dfl_group_space *s, bool is_again, uint32_t einsum, uint32_t input, dfl_group_transfer *out)
{
    const dfl_frame *f = s->work->frame;
    const uint32_t tensor = f->workload->einsums[einsum].inputs[input].tensor;
    const dfl_tensor *t = &f->workload->tensors[tensor];

    for (uint32_t k = 0; k < t->n_producers; k++) {
        if (t->producers[k] >= einsum || !runs_in(s, is_again, t->producers[k])) {
            out->ends = 0;
            break;
        }
        out->ends |= DFL_EINSUM_BIT(s->node_of[t->producers[k]]);
    }
    for (uint32_t k = 0; k < t->n_consumers && t->consumers[k] < einsum; k++)
        if (runs_in(s, is_again, t->consumers[k]) && dfl_branch_has_read(f, t->consumers[k], einsum, tensor))
            out->beside |= DFL_EINSUM_BIT(s->node_of[t->consumers[k]]);
}

/* The nodes that read a result, as dfl_branch_writes decides: a group with all of them keeps the result on the chip. Empty if
   every group writes it. */
static dfl_einsum_set find_readers(const dfl_group_space *s, bool is_again, uint32_t einsum)
{
    const dfl_frame *f = s->work->frame;
    const dfl_workload *w = f->workload;
    const uint32_t tensor = w->einsums[einsum].output.tensor;
    const dfl_tensor *t = &w->tensors[tensor];
    dfl_einsum_set readers = 0;

    if (dfl_tensor_carry(w, tensor) != NULL || t->role != DFL_ROLE_INTERMEDIATE)
        return 0;
    for (uint32_t i = 0; i < t->n_consumers; i++) {
        const uint32_t reader = t->consumers[i];

        if (is_again && w->einsums[reader].phase == DFL_PHASE_FORWARD && !dfl_frame_is_again(f, reader))
            continue;
        if (!runs_in(s, is_again, reader) || (dfl_frame_is_again(f, reader) && !dfl_frame_is_again(f, einsum)))
            return 0;
        readers |= DFL_EINSUM_BIT(s->node_of[reader]);
    }
    return readers;
}

/* Adds the run of an einsum, with its transfers, to a pass. */
static void add_run(const dfl_group_space *s, bool is_again, uint32_t einsum, dfl_group_pass *pass)
{
    const dfl_frame *f = s->work->frame;
    const dfl_einsum *e = &f->workload->einsums[einsum];
    const dfl_chip_time *t = &s->work->times[einsum];
    dfl_branch_run run = { .node = s->node_of[einsum], .compute = t->compute, .least_seconds = t->least_seconds,
                            .work_seconds = t->work_seconds, .launch_seconds = t->launch_seconds, .on_units = t->on_units,
                            .first = (uint32_t)pass->transfers.n };

    for (uint32_t i = 0; i < e->n_inputs; i++) {
        const uint32_t port = 2 * f->room_of[e->inputs[i].tensor];
        dfl_group_transfer read = { .seconds = t->reads[i].seconds, .port = port };

        set_read(s, is_again, einsum, i, &read);
        add_transfer(s, pass, read);
        add_transfer(s, pass, (dfl_group_transfer){ .seconds = t->renewed[i].seconds, .port = port + 1 });
    }
    add_transfer(s, pass, (dfl_group_transfer){ .seconds = t->written.seconds, .port = 2 * f->room_of[e->output.tensor] + 1,
                                                  .ends = find_readers(s, is_again, einsum) });
    run.end = (uint32_t)pass->transfers.n;
    DFL_PUSH(f->arena, &pass->runs, run);
}

/* Adds the exchanges of a pass. */
static void add_exchanges(const dfl_group_space *s, bool is_again, dfl_group_pass *pass)
{
    const dfl_plan_exchanges *x = s->work->exchanges;

    for (uint32_t i = 0; i < x->n; i++)
        if (runs_in(s, is_again, x->at[i].einsum))
            DFL_PUSH(s->work->frame->arena, &pass->exchanges,
                     ((dfl_group_exchange){ s->node_of[x->at[i].einsum], x->at[i].cost.network,
                                              dfl_engines_exchange_seconds(s->work, i) }));
}

/* Adds to the floors the seconds of each engine that a pass takes in every group: the operations without the starts of kernels,
   the transfers that every group needs, and the exchanges. A memory whose two ports run side by side is two engines. */
static void add_floors(dfl_group_space *s, const dfl_group_pass *pass)
{
    const dfl_system *system = s->work->frame->system;
    double *ports = &s->floors[(size_t)system->n_computes * s->n], *nets = ports + 2 * (size_t)system->n_memories * s->n;

    for (size_t i = 0; i < pass->runs.n; i++) {
        const dfl_branch_run *r = &pass->runs.at[i];

        s->floors[(size_t)r->compute * s->n + r->node] += r->least_seconds;
        for (uint32_t k = r->first; k < r->end; k++) {
            const dfl_group_transfer *t = &pass->transfers.at[k];
            const uint32_t port = system->memories[t->port / 2].one_port ? t->port & ~1u : t->port;

            ports[(size_t)port * s->n + r->node] += t->ends == 0 && t->beside == 0 ? t->seconds : 0;
        }
    }
    for (size_t i = 0; i < pass->exchanges.n; i++)
        nets[(size_t)pass->exchanges.at[i].network * s->n + pass->exchanges.at[i].node] += pass->exchanges.at[i].seconds;
}

/* Removes the floors of engines without work. */
static void pack_floors(dfl_group_space *s)
{
    uint32_t kept = 0;

    for (uint32_t row = 0; row < s->n_floors; row++) {
        double sum = 0;

        for (uint32_t i = 0; i < s->n; i++)
            sum += s->floors[(size_t)row * s->n + i];
        if (sum > 0)
            memmove(&s->floors[(size_t)kept++ * s->n], &s->floors[(size_t)row * s->n], s->n * sizeof *s->floors);
    }
    s->n_floors = kept;
}

/* Lists the weights that the einsums read. */
static void add_weights(dfl_group_space *s)
{
    const dfl_workload *w = s->work->frame->workload;
    uint32_t *number = DFL_NEW_ARRAY(s->work->frame->arena, uint32_t, w->n_tensors); /* [tensor]: of the weight, plus 1 */

    for (uint32_t i = 0; i < s->n_members; i++) {
        const dfl_einsum *e = &w->einsums[s->members[i]];

        for (uint32_t k = 0; k < e->n_inputs; k++) {
            const uint32_t t = e->inputs[k].tensor;

            if (w->tensors[t].role != DFL_ROLE_WEIGHT)
                continue;
            if (number[t] == 0)
                number[t] = ++s->n_weights;
            DFL_PUSH(s->work->frame->arena, &s->weights, ((dfl_group_weight){
                s->node_of[s->members[i]], number[t] - 1, s->work->times[s->members[i]].reads[k].bits }));
        }
    }
}

/* ---- the key of a search ----------------------------------------------------------------------------------------- */

static void put(dfl_group_space *s, uint64_t number) { dfl_memo_put(s->work->frame->arena, &s->key, number); }

static void put_set(dfl_group_space *s, dfl_einsum_set set)
{
    put(s, (uint64_t)set);
    put(s, (uint64_t)(set >> 64));
}

static void put_double(dfl_group_space *s, double number) { dfl_memo_put_double(s->work->frame->arena, &s->key, number); }

static void put_pass(dfl_group_space *s, const dfl_group_pass *pass)
{
    put(s, pass->runs.n);
    for (size_t i = 0; i < pass->runs.n; i++) {
        const dfl_branch_run *r = &pass->runs.at[i];
        const dfl_compute *unit = &s->work->frame->system->computes[r->compute];
        const int64_t units = r->on_units != NULL ? unit->units * (int64_t)dfl_chip_units(s->work->frame, r->compute) : 0;

        put(s, (uint64_t)r->node << 32 | r->compute);
        put_double(s, r->least_seconds);
        put_double(s, r->work_seconds);
        put_double(s, r->launch_seconds);
        put(s, (uint64_t)units);
        for (int64_t u = 0; u < units; u++)
            put_double(s, r->on_units[u]);
        put(s, (uint64_t)r->first << 32 | r->end);
    }
    for (size_t i = 0; i < pass->transfers.n; i++) {
        put_double(s, pass->transfers.at[i].seconds);
        put(s, pass->transfers.at[i].port);
        put_set(s, pass->transfers.at[i].ends);
        put_set(s, pass->transfers.at[i].beside);
    }
    put(s, pass->exchanges.n);
    for (size_t i = 0; i < pass->exchanges.n; i++) {
        put(s, (uint64_t)pass->exchanges.at[i].node << 32 | pass->exchanges.at[i].network);
        put_double(s, pass->exchanges.at[i].seconds);
    }
}

/* Writes the key. */
static void put_key(dfl_group_space *s)
{
    const dfl_system *system = s->work->frame->system;

    put(s, s->n);
    put(s, s->work->frame->mapping->options.groups);
    put_set(s, s->working);
    for (uint32_t i = 0; i < s->n; i++)
        put_set(s, s->before[i]);
    put_set(s, (dfl_einsum_set)s->room);
    put(s, system->n_memories);
    for (uint32_t m = 0; m < system->n_memories; m++)
        put(s, system->memories[m].one_port);
    put_pass(s, &s->passes[0]);
    put_pass(s, &s->passes[1]);
    for (size_t i = 0; i < s->weights.n; i++) {
        put(s, (uint64_t)s->weights.at[i].node << 32 | s->weights.at[i].weight);
        put_set(s, (dfl_einsum_set)s->weights.at[i].bits);
    }
}

void dfl_group_space_finish(dfl_group_space *s)
{
    const dfl_system *system = s->work->frame->system;
    dfl_arena *arena = s->work->frame->arena;

    s->n_floors = system->n_computes + 2 * system->n_memories + system->n_networks;
    s->floors = DFL_NEW_ARRAY(arena, double, (size_t)s->n_floors * s->n + 1);
    for (int again = 0; again < 2; again++) {
        for (uint32_t i = 0; i < s->n_members; i++)
            if (runs_in(s, again == 1, s->members[i]))
                add_run(s, again == 1, s->members[i], &s->passes[again]);
        add_exchanges(s, again == 1, &s->passes[again]);
        add_floors(s, &s->passes[again]);
    }
    pack_floors(s);
    add_weights(s);
    put_key(s);
    s->counted = DFL_NEW_ARRAY(arena, bool, (size_t)s->n_weights + 1);
    s->units = DFL_NEW_ARRAY(arena, double, (size_t)system->n_computes + 1);
    s->ports = DFL_NEW_ARRAY(arena, double, 2 * (size_t)system->n_memories + 1);
    s->nets = DFL_NEW_ARRAY(arena, double, (size_t)system->n_networks + 1);
    s->on_units = DFL_NEW_ARRAY(arena, const double *, (size_t)s->n_members + 1);
    s->taken = DFL_NEW_ARRAY(arena, int64_t, (size_t)s->n_members + 1);
}

/* ---- the time of a group ----------------------------------------------------------------------------------------- */

/* Whether the weights that the group reads fit on the chip. A group of one einsum and copies may read its weights in parts. */
static bool fits(dfl_group_space *s, dfl_einsum_set group)
{
    const dfl_einsum_set working = group & s->working;
    dfl_i128 sum = 0;
    bool overflow = false;

    if (s->room < 0 || (working & (working - 1)) == 0)
        return true;
    memset(s->counted, 0, s->n_weights * sizeof *s->counted);
    for (size_t i = 0; i < s->weights.n; i++) {
        const dfl_group_weight *weight = &s->weights.at[i];

        if (!(group & DFL_EINSUM_BIT(weight->node)) || s->counted[weight->weight])
            continue;
        s->counted[weight->weight] = true;
        overflow |= dfl_add(sum, weight->bits, &sum);
    }
    return !overflow && sum <= s->room;
}

/* Whether a group needs a transfer of one of its einsums. */
static bool needs_transfer(const dfl_group_transfer *t, dfl_einsum_set group)
{
    return (t->ends == 0 || (t->ends & ~group) != 0) && (t->beside & group) == 0;
}

static double larger(double a, double b) { return a > b ? a : b; }

/* Seconds of the einsums of a group on a compute whose units they divide among themselves; 0 if there are none. */
static double divide_units(dfl_group_space *s, const dfl_group_pass *pass, dfl_einsum_set group, uint32_t compute)
{
    const dfl_frame *f = s->work->frame;
    const int64_t units = f->system->computes[compute].units * (int64_t)dfl_chip_units(f, compute);
    uint32_t n = 0;

    for (size_t i = 0; i < pass->runs.n; i++) {
        const dfl_branch_run *r = &pass->runs.at[i];

        if (r->on_units != NULL && r->compute == compute && group & DFL_EINSUM_BIT(r->node))
            s->on_units[n++] = r->on_units;
    }
    return n > 0 ? dfl_allotment_divide(s->on_units, n, units, s->taken) : 0;
}

/* Seconds of the busiest engine of a group in a pass. The sums have the order of those of dfl_engines_add, so both are equal. */
static double pass_seconds(dfl_group_space *s, const dfl_group_pass *pass, dfl_einsum_set group)
{
    const dfl_system *system = s->work->frame->system;
    bool has_started = false, is_divided = false;
    double most = 0;
    uint32_t slowest;

    memset(s->units, 0, system->n_computes * sizeof *s->units);
    memset(s->ports, 0, 2 * (size_t)system->n_memories * sizeof *s->ports);
    memset(s->nets, 0, system->n_networks * sizeof *s->nets);
    for (size_t i = 0; i < pass->runs.n; i++) {
        const dfl_branch_run *r = &pass->runs.at[i];

        if (!(group & DFL_EINSUM_BIT(r->node)))
            continue;
        s->units[r->compute] += (r->on_units != NULL ? 0 : r->work_seconds) + (has_started ? 0 : r->launch_seconds);
        is_divided |= r->on_units != NULL;
        has_started |= r->launch_seconds > 0;
        for (uint32_t k = r->first; k < r->end; k++)
            if (needs_transfer(&pass->transfers.at[k], group))
                s->ports[pass->transfers.at[k].port] += pass->transfers.at[k].seconds;
    }
    for (size_t i = 0; i < pass->exchanges.n; i++)
        if (group & DFL_EINSUM_BIT(pass->exchanges.at[i].node))
            s->nets[pass->exchanges.at[i].network] += pass->exchanges.at[i].seconds;
    for (uint32_t c = 0; c < system->n_computes; c++)
        most = larger(s->units[c] + (is_divided ? divide_units(s, pass, group, c) : 0), most);
    for (uint32_t n = 0; n < system->n_networks; n++)
        most = larger(s->nets[n], most);
    return larger(dfl_busiest_memory(system, s->ports, &slowest), most);
}

double dfl_group_space_seconds(void *space, dfl_einsum_set group)
{
    dfl_group_space *s = space;

    if (!fits(s, group))
        return INFINITY;
    return pass_seconds(s, &s->passes[0], group) + (s->passes[1].runs.n > 0 ? pass_seconds(s, &s->passes[1], group) : 0);
}
