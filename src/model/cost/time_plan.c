/* Plan of the time: resources, transfers, levels, operand ports, and the places at which first tiles enter and last
   tiles leave. */
#include "model/cost/time_plan.h"

#include <math.h>
#include <string.h>

#include "model/cost/time_links.h"
#include "support/vec.h"

static void find_unit(const dfl_nest *nest, uint32_t e, dfl_einsum_time *out)
{
    const dfl_compute *unit = &nest->system->computes[nest->paths->paths[e].compute];
    dfl_i128 instances = 1;

    dfl_element_instances(nest->system, unit->element, &instances);
    out->unit = unit;
    out->point_seconds = dfl_point_seconds(nest->names, nest->workload, &nest->workload->einsums[e], unit);
    out->instances = dfl_i128_double(instances);
}

/* Bit set: the steps of an einsum over ranks that index an access. */
static uint64_t find_indexing(const dfl_nest *nest, uint32_t e, const dfl_access *access)
{
    const dfl_einsum *einsum = &nest->workload->einsums[e];
    uint64_t steps = 0;

    for (uint32_t i = 0; i < einsum->n_ranks; i++)
        for (uint32_t d = 0; d < access->n_dims; d++)
            for (uint32_t t = 0; t < access->index[d].n_terms; t++)
                steps |= access->index[d].terms[t].rank == einsum->ranks[i] ? nest->cuts[e][i] : 0;
    return steps;
}

/* Bit set: the spatial steps between the memory of a port and the unit along which each instance has a transfer of its own. */
static uint64_t find_adding(const dfl_nest *nest, uint32_t e, const dfl_access *access, uint32_t memory, bool up)
{
    const dfl_path *path = &nest->paths->paths[e];
    uint32_t n = path->n_steps, unit = nest->system->computes[path->compute].element;
    uint64_t between = dfl_keep_tree_steps_around(nest, e, n, unit) &
                       ~dfl_keep_tree_steps_around(nest, e, n, nest->system->memories[memory].element);

    return between & (find_indexing(nest, e, access) | ~dfl_keep_tree_steps_shared(nest, e, between, access->tensor, up));
}

/* Finds the innermost keeps of the operands of an einsum, sorted by memory. `first`: index of the einsum's first operand
   in the plan of the traffic. */
static void find_ports(const dfl_nest *nest, const dfl_keep_tree *keeps, uint32_t e, uint32_t first, dfl_time_plan *plan)
{
    const dfl_einsum *einsum = &nest->workload->einsums[e];
    dfl_einsum_time *out = &plan->einsums[e];

    out->ports = DFL_NEW_ARRAY(nest->arena, dfl_operand_port, einsum->n_inputs + 2);
    out->repeats = nest->sizes[e].temporal & ~find_indexing(nest, e, &einsum->output);
    for (uint32_t a = 0; a <= einsum->n_inputs; a++) {
        bool output = a == einsum->n_inputs;
        uint32_t tensor = output ? einsum->output.tensor : einsum->inputs[a].tensor, at = 0;
        dfl_operand_port port = { .operand = first + a, .output = output,
                                  .keep = dfl_keep_tree_innermost(nest, keeps, e, tensor) };
        uint32_t memory = plan->memory[port.keep];
        memcpy(port.resource, plan->ports[port.keep], sizeof port.resource);
        port.adding = find_adding(nest, e, output ? &einsum->output : &einsum->inputs[a], memory, output);
        port.bits = nest->workload->tensors[tensor].type.bits;
        while (at < out->n_ports && plan->memory[out->ports[at].keep] <= memory)
            at++;
        memmove(&out->ports[at + 1], &out->ports[at], (out->n_ports - at) * sizeof port);
        out->ports[at] = port;
        out->n_ports++;
    }
}

/* ---- transfers --------------------------------------------------------------------------------------------------- */

/* Adds what a transfer does at a port. A port without a limit takes no time. */
static void add_use(dfl_transfer *transfer, uint32_t resource, uint32_t end, uint32_t what)
{
    uint32_t i = 0;

    if (resource == DFL_NONE)
        return;
    while (i < transfer->n_uses && (transfer->uses[i].resource != resource || transfer->uses[i].end != end))
        i++;
    if (i == transfer->n_uses)
        transfer->uses[transfer->n_uses++] = (dfl_use){ .resource = resource, .end = end, .peak = 1 };
    transfer->uses[i].what |= what;
}

static void find_uses(dfl_nest *nest, const dfl_keep_tree *keeps, const dfl_time_plan *plan, dfl_transfer *transfer)
{
    enum { MOST = 4 }; /* reads and writes at both ends */
    const uint32_t *inner = plan->ports[transfer->keep], *outer = plan->ports[keeps->at[transfer->keep].parent];

    transfer->uses = DFL_NEW_ARRAY(nest->arena, dfl_use, MOST + dfl_time_links_most(plan, transfer->keep));
    add_use(transfer, inner[DFL_WRITE], DFL_INNER, DFL_USE_FILL);
    add_use(transfer, outer[DFL_READ], DFL_OUTER, DFL_USE_SERVE);
    if (!transfer->written)
        return;
    add_use(transfer, inner[DFL_READ], DFL_INNER, DFL_USE_DRAIN);
    add_use(transfer, outer[DFL_READ], DFL_OUTER, DFL_USE_ADD);
    add_use(transfer, outer[DFL_WRITE], DFL_OUTER, DFL_USE_UPDATE);
}

/* Tells whether all indices of an access lie inside the shape of its tensor. */
static bool is_inside(const dfl_workload *workload, const dfl_access *access)
{
    for (uint32_t d = 0; d < access->n_dims; d++) {
        const dfl_index *index = &access->index[d];
        int64_t low = index->offset, high = low;
        for (uint32_t i = 0; i < index->n_terms; i++) {
            int64_t far = index->terms[i].coef * (workload->ranks[index->terms[i].rank].extent - 1);
            low += far < 0 ? far : 0;
            high += far > 0 ? far : 0;
        }
        if (low < 0 || high >= workload->tensors[access->tensor].extents[d])
            return false;
    }
    return true;
}

/* Bit set: steps that change the size of the tile if they are ragged. All bits: the size may also change otherwise. */
static uint64_t find_ragged_steps(const dfl_nest *nest, const dfl_footprint *footprint)
{
    if (footprint->product.possible)
        return footprint->product.dims;
    if (footprint->n_references != 1 || !is_inside(nest->workload, footprint->references->access))
        return UINT64_MAX;
    return dfl_nest_steps_below(footprint->n);
}

/* Bit set: the steps of the ranks that spatial steps between the ends of a transfer cut. If these steps are ragged, the number of
   instances in the transfer changes. Instances that share a transfer change it only on links between neighbours. */
static uint64_t find_instance_steps(const dfl_nest *nest, const dfl_time_plan *plan, uint32_t at, const dfl_keep *keep,
                                    uint64_t between)
{
    const uint32_t e = keep->footprint.einsum;
    uint64_t steps = 0;

    if (!dfl_time_links_are_lines(plan, at))
        between &= ~dfl_keep_tree_steps_shared(nest, e, between, keep->line->tensor, keep->written);
    for (uint32_t i = 0; i < nest->workload->einsums[e].n_ranks; i++)
        steps |= nest->cuts[e][i] & between ? nest->cuts[e][i] : 0;
    return steps & dfl_nest_steps_below(keep->step);
}

static bool add_transfer(dfl_nest *nest, dfl_keep_tree *keeps, uint32_t at, dfl_time_plan *out)
{
    dfl_keep *keep = &keeps->at[at];
    dfl_transfer *transfer = &out->transfers[out->n_transfers++];
    const dfl_memory *m = &nest->system->memories[keep->line->memory];
    bool perfect = nest->mapping->options.overlap_perfect;
    dfl_sharing how = dfl_keep_tree_sharing(nest, keep);

    *transfer = (dfl_transfer){ .keep = at, .step = keep->step, .tensor = keep->line->tensor, .inner = keep->line->memory,
                                .outer = keeps->at[keep->parent].line->memory, .written = keep->written, .stream = m->stream,
                                .free_drains = m->free_drains,
                                .waited = !perfect && !m->stream && m->buffers < 2,
                                .ahead = !perfect && !m->stream && m->buffers >= 2, .bits = out->bits[at],
                                .by_loop = DFL_NEW_ARRAY(nest->arena, dfl_moves, keep->step + 1) };
    transfer->share_of[DFL_INNER] = m->efficiency;
    transfer->share_of[DFL_OUTER] = nest->system->memories[transfer->outer].efficiency;
    find_uses(nest, keeps, out, transfer);
    dfl_time_links_add_uses(out, transfer);
    uint64_t around = dfl_keep_tree_steps_around(nest, keep->footprint.einsum, keep->step, m->element);
    uint64_t outer = dfl_keep_tree_steps_around(nest, keep->footprint.einsum, keep->step,
                                                nest->system->memories[transfer->outer].element);
    how.first_only = around;
    transfer->mine = dfl_delta_of(nest, keep->flushed, &how, true);
    how.first_only = outer;
    how.united = dfl_keep_tree_steps_shared(nest, keep->footprint.einsum, around & ~outer, keep->line->tensor, keep->written);
    transfer->theirs = transfer->mine ? dfl_delta_of(nest, keep->flushed, &how, true) : NULL;
    transfer->steps = transfer->theirs ? nest->sizes[transfer->mine->footprint->product.einsum].steps : NULL;
    transfer->spread_at = find_instance_steps(nest, out, at, keep, around & ~outer);
    transfer->ragged_at = find_ragged_steps(nest, &keep->footprint) | transfer->spread_at;
    if (keep->written && keep->footprint.product.possible) {
        const dfl_product_form *form = &keep->footprint.product;
        transfer->repeats = nest->sizes[form->einsum].temporal & ~form->dims & dfl_nest_steps_below(keep->step);
        transfer->share = DFL_NEW_ARRAY(nest->arena, double, keep->step + 1);
    }
    return transfer->theirs != NULL;
}

/* ---- levels ------------------------------------------------------------------------------------------------------ */

/* Numbers the levels of all transfers: a memory that is filled from another memory, in which the tensor is not at home, is
   one level further in, unless the other memory is a stream. */
static void number_levels(const dfl_nest *nest, const dfl_keep_tree *keeps, dfl_time_plan *plan)
{
    uint32_t *level = DFL_NEW_ARRAY(nest->arena, uint32_t, nest->system->n_memories + 1);
    bool changed = true;

    for (uint32_t round = 0; changed && round < nest->system->n_memories; round++) {
        changed = false;
        for (uint32_t i = 0; i < plan->n_transfers; i++) {
            const dfl_transfer *t = &plan->transfers[i];
            uint32_t least = level[t->outer] + !nest->system->memories[t->outer].stream;
            if (keeps->at[keeps->at[t->keep].parent].parent != DFL_NONE && level[t->inner] < least) {
                level[t->inner] = least;
                changed = true;
            }
        }
    }
    for (uint32_t i = 0; i < plan->n_transfers; i++)
        plan->transfers[i].level = level[plan->transfers[i].inner];
}

/* Numbers the resources of a level of a body, and makes room for the loads of its transfers. */
static void list_locals(const dfl_nest *nest, const dfl_time_plan *plan, dfl_keep_level *level)
{
    uint32_t *locals = DFL_NEW_ARRAY(nest->arena, uint32_t, plan->n_resources + 1);
    const uint32_t most = plan->n_resources + plan->n_resources % 2;

    for (uint32_t i = 0; i < level->n; i++)
        for (uint32_t u = 0; u < plan->transfers[level->at[i]].n_uses; u++) {
            dfl_use *use = &plan->transfers[level->at[i]].uses[u];
            use->local = 0;
            while (use->local < level->n_locals && locals[use->local] != use->resource)
                use->local++;
            if (use->local == level->n_locals)
                locals[level->n_locals++] = use->resource;
        }
    level->n_locals += level->n_locals % 2;
    for (uint32_t i = 0; i < level->n; i++) {
        dfl_transfer *t = &plan->transfers[level->at[i]];
        t->of = level;
        t->now = DFL_NEW_ARRAY(nest->arena, double, 3 * (size_t)level->n_locals + most + 1);
        for (uint32_t way = 0; way < 3; way++)
            t->load[way] = t->now + most + way * (size_t)level->n_locals;
    }
}

/* Sets the members of a level that tell what its transfers have in common. */
static void compare_transfers(const dfl_nest *nest, const dfl_time_plan *plan, dfl_keep_level *level)
{
    const dfl_transfer *first = &plan->transfers[level->at[0]];

    level->chains = DFL_NEW_ARRAY(nest->arena, uint32_t, level->n + 1);
    level->steps = level->n <= 64 ? first->steps : NULL;
    level->local = true;
    for (uint32_t i = 0; i < level->n; i++) {
        const dfl_transfer *t = &plan->transfers[level->at[i]];
        uint64_t bit = UINT64_C(1) << i % 64;
        level->chains[i] = i;
        for (uint32_t k = 0; k < i && level->chains[i] == i; k++)
            if (plan->transfers[level->at[k]].tensor == t->tensor)
                level->chains[i] = k;
        level->chained |= level->chains[i] != i;
        level->local &= t->of == first->of;
        level->fetches_ahead |= t->ahead;
        level->steps = t->steps == level->steps ? level->steps : NULL;
        level->ahead |= t->ahead ? bit : 0;
    }
    level->n_locals = level->local ? first->of->n_locals : plan->n_resources + plan->n_resources % 2;
}

/* Groups `n` transfers by level, outer levels first. `of_body`: the levels are those of a body, else of a group of ends. */
static dfl_keep_level *group_by_level(const dfl_nest *nest, const dfl_time_plan *plan, const uint32_t *at, uint32_t n,
                                      bool of_body, uint32_t *n_levels)
{
    dfl_keep_level *levels = DFL_NEW_ARRAY(nest->arena, dfl_keep_level, n + 1);
    uint32_t next = 0, placed = 0;

    *n_levels = 0;
    while (placed < n) {
        uint32_t now = UINT32_MAX;
        dfl_keep_level *level = &levels[(*n_levels)++];
        level->at = DFL_NEW_ARRAY(nest->arena, uint32_t, n);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t of = plan->transfers[at[i]].level;
            now = of >= next && of < now ? of : now;
        }
        for (uint32_t i = 0; i < n; i++)
            if (plan->transfers[at[i]].level == now)
                level->at[level->n++] = at[i];
        if (of_body)
            list_locals(nest, plan, level);
        compare_transfers(nest, plan, level);
        for (const dfl_keep_level *outer = levels; outer < level; outer++)
            level->beside |= outer->fetches_ahead;
        placed += level->n;
        next = now + 1;
    }
    return levels;
}

static void add_loops(dfl_nest *nest, const dfl_body *body, dfl_body_time *out)
{
    uint32_t e = body->einsums[0], n = nest->numbers->step[body->id][body->n_lines];

    out->loops = DFL_NEW_ARRAY(nest->arena, dfl_body_loop, n + 1);
    out->advances = DFL_NEW_ARRAY(nest->arena, double, n + 1);
    out->positions = DFL_NEW_ARRAY(nest->arena, double, n + 1);
    out->stalls.part = DFL_NEW_ARRAY(nest->arena, double, n + 1);
    for (uint32_t way = 0; way < 2; way++) {
        out->stalls.seconds[way] = DFL_NEW_ARRAY(nest->arena, double, n + 1);
        out->stalls.full[way] = DFL_NEW_ARRAY(nest->arena, double, n + 1);
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t driver = nest->paths->paths[e].steps[i].line->kind == DFL_LINE_TEMPORAL ? dfl_nest_driver(nest, e, i) : DFL_NONE;
        if (driver != DFL_NONE)
            out->loops[out->n_loops++] = (dfl_body_loop){ i, driver };
    }
}

static bool add_body(dfl_nest *nest, dfl_keep_tree *keeps, const dfl_body *body, uint32_t apart, dfl_time_plan *out)
{
    dfl_body_time *mine = &out->bodies[body->id];

    mine->apart = apart;
    mine->below = out->n_transfers;
    if (body->kind == DFL_BODY_FUSE && body->n_children > 1)
        apart = nest->numbers->step[body->id][body->n_lines];
    for (uint32_t i = 0; i < body->n_children; i++)
        if (!add_body(nest, keeps, body->children[i], apart, out))
            return false;
    mine->first = out->n_transfers;
    for (uint32_t i = keeps->first[body->id]; i < keeps->first[body->id + 1]; i++)
        if (keeps->at[i].parent != DFL_NONE && !add_transfer(nest, keeps, i, out))
            return false;
    mine->n = out->n_transfers - mine->first;
    add_loops(nest, body, mine);
    return true;
}

static void add_levels(dfl_nest *nest, const dfl_body *body, dfl_time_plan *out)
{
    dfl_body_time *mine = &out->bodies[body->id];
    uint32_t *at = DFL_NEW_ARRAY(nest->arena, uint32_t, mine->n + 1);

    for (uint32_t i = 0; i < mine->n; i++)
        at[i] = mine->first + i;
    mine->levels = group_by_level(nest, out, at, mine->n, true, &mine->n_levels);
    for (uint32_t i = 0; i < body->n_children; i++)
        add_levels(nest, body->children[i], out);
}

/* ---- first and last tiles ---------------------------------------------------------------------------------------- */

enum { FIRST, LAST };

/* Groups the transfers by the place at which their first tiles enter (`end` FIRST) or their last tiles leave (LAST).
   The transfers of a body belong to the group of the enclosing body if both begin (end) at the same time: the body is
   the first (last) child of a branch, or any stage of a pipeline. */
static void find_ends(dfl_nest *nest, const dfl_body *body, uint32_t end, uint32_t group, dfl_time_plan *plan, uint32_t *of)
{
    const dfl_body_time *own = &plan->bodies[body->id];

    for (uint32_t i = own->first; i < own->first + own->n; i++)
        of[i] = group;
    for (uint32_t i = 0; i < body->n_children; i++) {
        bool with = body->kind == DFL_BODY_PIPELINE || i == (end == FIRST ? 0 : body->n_children - 1);
        find_ends(nest, body->children[i], end, with ? group : plan->n_ends[end]++, plan, of);
    }
}

static void add_ends(dfl_nest *nest, uint32_t end, dfl_time_plan *plan)
{
    uint32_t *of = DFL_NEW_ARRAY(nest->arena, uint32_t, plan->n_transfers + 1);
    uint32_t *at = DFL_NEW_ARRAY(nest->arena, uint32_t, plan->n_transfers + 1); /* transfers, sorted by group */

    plan->n_ends[end] = 1;
    find_ends(nest, nest->mapping->root, end, 0, plan, of);
    plan->ends[end] = DFL_NEW_ARRAY(nest->arena, dfl_transfer_ends, plan->n_ends[end]);
    uint32_t *next = DFL_NEW_ARRAY(nest->arena, uint32_t, plan->n_ends[end] + 1); /* [group]: its next free place in `at` */
    for (uint32_t i = 0; i < plan->n_transfers; i++)
        next[of[i] + 1] += end == FIRST || plan->transfers[i].written;
    for (uint32_t g = 0; g < plan->n_ends[end]; g++)
        next[g + 1] += next[g];
    for (uint32_t i = 0; i < plan->n_transfers; i++)
        if (end == FIRST || plan->transfers[i].written)
            at[next[of[i]]++] = i;
    for (uint32_t g = 0, from = 0; g < plan->n_ends[end]; from = next[g++])
        plan->ends[end][g].levels = group_by_level(nest, plan, at + from, next[g] - from, false,
                                                   &plan->ends[end][g].n_levels);
}

/* ---- the whole plan ---------------------------------------------------------------------------------------------- */

static const char *port_name(const dfl_nest *nest, const dfl_memory *m, const char *port)
{
    const char *name = dfl_sym_text(nest->names, m->name);
    size_t len = strlen(name), more = strlen(port);

    if (m->one_port)
        return name;
    char *text = DFL_NEW_ARRAY(nest->arena, char, len + more + 1);
    memcpy(text, name, len);
    memcpy(text + len, port, more);
    return text;
}

static uint32_t add_resource(dfl_time_plan *plan, const char *name, uint32_t memory)
{
    plan->resources[plan->n_resources] = (dfl_resource){ .name = name, .memory = memory };
    return plan->n_resources++;
}

/* Tells whether the einsums below two keeps of one memory begin at the same instance of the memory. */
static bool is_beside(const dfl_nest *nest, const dfl_keep *a, const dfl_keep *b)
{
    const uint32_t element = nest->system->memories[a->line->memory].element;

    for (uint32_t i = 0; i < nest->system->n_axes; i++)
        if (dfl_axis_encloses(nest->system, i, element) &&
            dfl_paths_place(nest->paths, a->footprint.einsum, i) != dfl_paths_place(nest->paths, b->footprint.einsum, i))
            return false;
    return true;
}

/* Adds the ports of the instances of a memory that a keep uses, unless an earlier keep uses the same instances. `first`: the
   first keep of the memory. */
static void add_ports(dfl_nest *nest, const dfl_keep_tree *keeps, uint32_t keep, uint32_t first, dfl_time_plan *plan)
{
    const uint32_t m = plan->memory[keep];
    const dfl_memory *memory = &nest->system->memories[m];
    uint32_t *ports = plan->ports[keep];

    while (first < keep && (plan->memory[first] != m || !is_beside(nest, &keeps->at[first], &keeps->at[keep])))
        first++;
    plan->beside[keep] = first;
    if (first < keep) {
        memcpy(ports, plan->ports[first], sizeof plan->ports[first]);
        return;
    }
    ports[DFL_READ] = ports[DFL_WRITE] = DFL_NONE;
    if (isfinite(memory->read_rate) || (memory->one_port && isfinite(memory->write_rate)))
        ports[DFL_READ] = add_resource(plan, port_name(nest, memory, ".read"), m);
    if (memory->one_port)
        ports[DFL_WRITE] = ports[DFL_READ];
    else if (isfinite(memory->write_rate))
        ports[DFL_WRITE] = add_resource(plan, port_name(nest, memory, ".write"), m);
}

static void add_resources(dfl_nest *nest, const dfl_keep_tree *keeps, dfl_time_plan *plan)
{
    size_t n = 2 * (size_t)keeps->n;

    for (uint32_t i = 0; i < plan->crossings->n; i++)
        n += plan->crossings->networks[plan->crossings->at[i].network].n_classes;
    plan->resources = DFL_NEW_ARRAY(nest->arena, dfl_resource, n + 1);
    plan->ports = dfl_arena_alloc(nest->arena, keeps->n + 1, sizeof *plan->ports, _Alignof(uint32_t));
    plan->beside = DFL_NEW_ARRAY(nest->arena, uint32_t, keeps->n + 1);
    for (uint32_t m = 0; m < nest->system->n_memories; m++) {
        uint32_t first = DFL_NONE;

        plan->stretched |= nest->system->memories[m].efficiency != NULL;
        for (uint32_t i = 0; i < keeps->n; i++) {
            if (plan->memory[i] != m)
                continue;
            first = first == DFL_NONE ? i : first;
            add_ports(nest, keeps, i, first, plan);
        }
    }
    dfl_time_links_add_resources(nest, plan);
}

void dfl_time_plan_set_rates(const dfl_nest *nest, const dfl_system *like, dfl_time_plan *out)
{
    for (uint32_t r = 0; r < out->n_resources; r++) {
        if (out->resources[r].memory == DFL_NONE) {
            double rate = like->networks[out->resources[r].network].bandwidth;
            out->resources[r].rate[DFL_READ] = out->resources[r].rate[DFL_WRITE] = rate;
            continue;
        }
        const dfl_memory *memory = &like->memories[out->resources[r].memory];
        out->resources[r].rate[DFL_READ] = memory->read_rate;
        out->resources[r].rate[DFL_WRITE] = memory->write_rate;
    }
    for (uint32_t i = 0; i < out->n_transfers; i++)
        for (uint32_t way = 0; way < 2; way++)
            out->transfers[i].latency[way] = out->transfers[i].memory_latency = like->memories[out->transfers[i].outer].latency;
    for (uint32_t e = 0; e < nest->workload->n_einsums; e++) {
        dfl_einsum_time *t = &out->einsums[e];
        t->unit = &like->computes[nest->paths->paths[e].compute];
        t->point_seconds = dfl_point_seconds(nest->names, nest->workload, &nest->workload->einsums[e], t->unit);
        t->latency = 0;
        for (uint32_t i = 0; i < t->n_ports; i++)
            if (!t->ports[i].output) {
                t->ports[i].latency = like->memories[out->memory[t->ports[i].keep]].latency;
                t->latency = fmax(t->latency, t->ports[i].latency);
            }
    }
    out->waits_for_links = false;
    for (uint32_t n = 0; n < like->n_networks; n++) {
        out->network_latency[n] = like->networks[n].latency;
        out->waits_for_links |= like->networks[n].latency > 0;
    }
}

bool dfl_time_plan_make(dfl_nest *nest, dfl_keep_tree *keeps, const dfl_crossings *crossings, dfl_time_plan *out)
{
    uint32_t n_einsums = nest->workload->n_einsums;

    *out = (dfl_time_plan){ .crossings = crossings,
                            .transfers = DFL_NEW_ARRAY(nest->arena, dfl_transfer, keeps->n + 1),
                            .bodies = DFL_NEW_ARRAY(nest->arena, dfl_body_time, nest->mapping->n_bodies + 1),
                            .einsums = DFL_NEW_ARRAY(nest->arena, dfl_einsum_time, n_einsums + 1),
                            .memory = DFL_NEW_ARRAY(nest->arena, uint32_t, keeps->n + 1),
                            .bits = DFL_NEW_ARRAY(nest->arena, double, keeps->n + 1),
                            .busy = DFL_NEW_ARRAY(nest->arena, dfl_ports, keeps->n + 1),
                            .bound = DFL_NEW_ARRAY(nest->arena, const char *, nest->mapping->n_bodies + 1) };
    for (uint32_t i = 0; i < keeps->n; i++) {
        out->memory[i] = keeps->at[i].line->memory;
        out->bits[i] = nest->workload->tensors[keeps->at[i].line->tensor].type.bits;
    }
    add_resources(nest, keeps, out);
    for (uint32_t e = 0, operand = 0; e < n_einsums; e++) {
        find_unit(nest, e, &out->einsums[e]);
        find_ports(nest, keeps, e, operand, out);
        dfl_time_links_add_operands(nest, out, &out->einsums[e]);
        operand += nest->workload->einsums[e].n_inputs + 1;
    }
    if (!add_body(nest, keeps, nest->mapping->root, 0, out))
        return false;
    number_levels(nest, keeps, out);
    add_levels(nest, nest->mapping->root, out);
    add_ends(nest, FIRST, out);
    add_ends(nest, LAST, out);
    /* a level has one more row entry for each transfer: for results that are drained and filled again */
    out->width = out->n_resources + keeps->n + 2;
    out->sides = DFL_NEW_ARRAY(nest->arena, dfl_moving_transfer, keeps->n + 1);
    out->rows = DFL_NEW_ARRAY(nest->arena, double, (size_t)DFL_TIME_ROWS * out->width);
    dfl_time_plan_set_rates(nest, nest->system, out);
    return true;
}
