/* One evaluation: loop nests, keeps, counts, costs. */
#include "model/model.h"

#include <math.h>
#include <string.h>

#include "model/counts/rank_chain.h"
#include "model/cost/access_rows.h"
#include "model/cost/energy.h"
#include "model/cost/occupancy.h"
#include "model/cost/time.h"
#include "model/counts/link_loads.h"
#include "model/counts/operations.h"
#include "model/counts/traffic.h"
#include "model/sets/producer_limits.h"
#include "support/vec.h"

/* A prepared model: plans of all costs, and memory for the result of a run. */
struct dfl_model {
    dfl_nest nest;
    dfl_keep_tree keeps;
    uint32_t *row;  /* [keep]: index of the keep's row in the result */
    bool *first;    /* [keep]: the keep is the first one of the row */
    int64_t *place; /* copy of the coordinates of stages that the plans were made for (path.h) */
    bool again;     /* demands depend on the sizes, so each run computes them anew */
    dfl_traffic_plan traffic;
    dfl_traffic_sums sums;
    dfl_crossings crossings;
    dfl_liveness room;
    dfl_i128 *bits; /* [keep]: bits of its largest tile */
    dfl_operations *work;
    dfl_time_plan time;
    dfl_energy_plan energy;
    dfl_result result;
    dfl_traffic *rows;
    dfl_einsum_cost *einsums;
    dfl_memory_cost *memories;
    dfl_link_cost *links;
};

/* Makes one row of traffic for each pair of memory and tensor with a keep. */
static void make_rows(dfl_model *model)
{
    dfl_nest *nest = &model->nest;
    size_t n_tensors = nest->workload->n_tensors;
    uint32_t n = 0; /* number of rows so far */
    /* For each pair of memory and tensor: 1 + the index of the row of the pair; 0 = the pair has no row. */
    uint32_t *row = DFL_NEW_ARRAY(nest->arena, uint32_t, nest->system->n_memories * n_tensors + 1);

    model->rows = DFL_NEW_ARRAY(nest->arena, dfl_traffic, model->keeps.n + 1);
    model->row = DFL_NEW_ARRAY(nest->arena, uint32_t, model->keeps.n + 1);
    model->first = DFL_NEW_ARRAY(nest->arena, bool, model->keeps.n + 1);
    for (uint32_t i = 0; i < model->keeps.n; i++) {
        const dfl_line *line = model->keeps.at[i].line;
        model->first[i] = row[line->memory * n_tensors + line->tensor] == 0;
        row[line->memory * n_tensors + line->tensor] = 1;
    }
    for (uint32_t memory = 0; memory < nest->system->n_memories; memory++)
        for (uint32_t tensor = 0; tensor < n_tensors; tensor++)
            if (row[memory * n_tensors + tensor] != 0) {
                model->rows[n] = (dfl_traffic){ .memory = memory, .tensor = tensor };
                row[memory * n_tensors + tensor] = ++n;
            }
    for (uint32_t i = 0; i < model->keeps.n; i++)
        model->row[i] = row[model->keeps.at[i].line->memory * n_tensors + model->keeps.at[i].line->tensor] - 1;
    model->result.traffic = model->rows;
    model->result.n_traffic = n;
}

/* Allocates the result, with all parts that do not depend on the sizes. */
static void make_result(dfl_model *model)
{
    const dfl_nest *nest = &model->nest;
    dfl_result *r = &model->result;
    dfl_arena *arena = nest->arena;

    model->einsums = DFL_NEW_ARRAY(arena, dfl_einsum_cost, nest->workload->n_einsums + 1);
    model->memories = DFL_NEW_ARRAY(arena, dfl_memory_cost, nest->system->n_memories + 1);
    model->links = DFL_NEW_ARRAY(arena, dfl_link_cost, nest->system->n_axes + 1);
    for (uint32_t i = 0; i < nest->system->n_memories; i++)
        model->memories[i].memory = i;
    for (uint32_t i = 0; i < nest->system->n_axes; i++)
        model->links[i].axis = i;
    *r = (dfl_result){ .mapping = nest->mapping, .einsums = model->einsums, .memories = model->memories,
                       .links = model->links, .networks = model->crossings.networks,
                       .compute_joules = DFL_NEW_ARRAY(arena, double, nest->system->n_computes + 1),
                       .network_joules = DFL_NEW_ARRAY(arena, double, nest->system->n_networks + 1) };
    make_rows(model);
}

/* Tells whether demands depend on sizes: with `recompute`, only loops with more than one iteration bring back
   elements. */
static bool depends_on_sizes(const dfl_paths *paths)
{
    for (uint32_t e = 0; e < paths->mapping->workload->n_einsums; e++) {
        const dfl_path *path = &paths->paths[e];
        if (path->has_exchange && path->exchange.restricts && path->exchange.recompute)
            return true;
    }
    return false;
}

dfl_model *dfl_model_prepare(dfl_arena *home, dfl_sink *sink, const dfl_intern *names, const dfl_paths *paths)
{
    dfl_model *model = DFL_NEW(home, dfl_model);
    dfl_nest *nest = &model->nest;

    if (!dfl_nest_init(nest, home, sink, names, paths) || !dfl_producer_limits_find(nest) ||
        !dfl_keep_tree_make(nest, &model->keeps))
        return NULL;
    nest->sizes = dfl_loop_sizes_new(home, nest->paths);
    nest->chains = dfl_arena_alloc(home, nest->workload->n_einsums + 1, sizeof *nest->chains, _Alignof(dfl_rank_chain *));
    if (!dfl_traffic_plan_make(nest, &model->keeps, &model->traffic) ||
        !dfl_crossings_make(nest, &model->keeps, &model->traffic, &model->crossings) ||
        !dfl_time_plan_make(nest, &model->keeps, &model->crossings, &model->time))
        return NULL;
    model->work = dfl_operations_make(nest);
    if (!model->work)
        return NULL;
    dfl_traffic_plan_make_sums(nest, &model->keeps, &model->sums);
    dfl_liveness_make(nest, &model->keeps, &model->room);
    dfl_energy_plan_make(nest, &model->energy);
    model->bits = DFL_NEW_ARRAY(home, dfl_i128, model->keeps.n + 1);
    model->again = depends_on_sizes(paths);
    size_t n_places = (size_t)nest->workload->n_einsums * nest->system->n_axes;
    model->place = DFL_NEW_ARRAY(home, int64_t, n_places + 1);
    if (n_places > 0)
        memcpy(model->place, paths->place, n_places * sizeof *model->place);
    make_result(model);
    return model;
}

/* Adds the counts `from` to `to`. True on overflow. */
static bool add_counts(dfl_counts *to, const dfl_counts *from)
{
    bool over = dfl_add(to->serve, from->serve, &to->serve);

    over |= dfl_add(to->drain, from->drain, &to->drain);
    over |= dfl_add(to->accumulate, from->accumulate, &to->accumulate);
    over |= dfl_add(to->fill, from->fill, &to->fill);
    over |= dfl_add(to->update, from->update, &to->update);
    return over;
}

/* Tells whether the sum of all reads or the sum of all writes exceeds 2^127; time and energy need these sums. */
static bool is_too_many(const dfl_counts *n)
{
    dfl_i128 sum;

    return dfl_add(n->serve, n->drain, &sum) || dfl_add(sum, n->accumulate, &sum) || dfl_add(n->fill, n->update, &sum);
}

/* Sums the counts of the keeps into one row per memory and tensor. False after E0608. */
static bool gather_traffic(dfl_model *model)
{
    bool over = false;

    for (uint32_t i = 0; i < model->keeps.n; i++) {
        dfl_traffic *row = &model->rows[model->row[i]];
        if (model->first[i]) {
            row->counts = model->sums.all[i];
            row->first = model->sums.busiest[i];
            row->rough = model->sums.rough[i];
            row->peak_bits = model->bits[i];
        } else {
            over |= add_counts(&row->counts, &model->sums.all[i]) || add_counts(&row->first, &model->sums.busiest[i]);
            row->rough |= model->sums.rough[i];
            row->peak_bits = model->bits[i] > row->peak_bits ? model->bits[i] : row->peak_bits;
        }
    }
    for (uint32_t i = 0; i < model->result.n_traffic; i++)
        over |= is_too_many(&model->rows[i].counts);
    return over ? dfl_nest_report_overflow(&model->nest, model->nest.mapping->span) : true;
}

/* Sets the time of each class of links in `like`, and the bandwidth with which the network takes as long as the mapping. */
static void time_networks(dfl_model *model, const dfl_system *like)
{
    for (uint32_t i = 0; i < model->nest.system->n_networks; i++) {
        dfl_network_cost *cost = &model->crossings.networks[i];
        double bandwidth = like->networks[i].bandwidth, most = 0;
        cost->seconds = 0;
        for (uint32_t k = 0; k < cost->n_classes; k++) {
            dfl_link_class *class = &cost->classes[k];
            double bits = dfl_i128_double(class->bits);
            class->seconds = bits / bandwidth;
            cost->seconds = class->seconds > cost->seconds ? class->seconds : cost->seconds;
            most = bits > most ? bits : most;
        }
        cost->bandwidth_required = model->result.seconds > 0 ? most / model->result.seconds : 0;
    }
}

const dfl_result *dfl_model_run(dfl_model *model, dfl_arena *scratch)
{
    dfl_nest *nest = &model->nest;

    size_t n_places = (size_t)nest->workload->n_einsums * nest->system->n_axes;

    if ((model->again && nest->run > 0) ||
        (n_places > 0 && memcmp(model->place, nest->input_paths->place, n_places * sizeof *model->place) != 0))
        return dfl_model_eval(scratch, nest->sink, nest->names, nest->input_paths);
    nest->arena = scratch;
    nest->refused = false;
    dfl_step_numbers_read(nest->numbers);
    if (nest->run++ > 0 && !dfl_nest_sizes_are_countable(nest))
        return NULL;
    dfl_loop_sizes_read(nest->paths, nest->sizes);
    if (!dfl_traffic_count(nest, &model->keeps, &model->traffic, &model->sums) ||
        !dfl_crossings_count(nest, &model->keeps, &model->sums, &model->crossings) ||
        !dfl_link_loads_count(nest, &model->keeps, &model->sums, &model->crossings))
        return NULL;
    for (uint32_t a = 0; a < nest->system->n_axes; a++)
        model->links[a].forwarded = model->sums.forwarded[a];
    bool fits = dfl_occupancy_count(nest, &model->keeps, &model->room, &model->sums, model->memories, model->bits);
    if (!dfl_operations_count(nest, model->work, &model->sums, &model->result, model->einsums) || !fits)
        return NULL;
    if (!gather_traffic(model))
        return NULL;
    if (!dfl_access_rows_count(nest, &model->keeps, &model->traffic, model->row, model->rows) ||
        !dfl_time_count(nest, &model->keeps, &model->time, &model->sums, &model->result, model->einsums, model->memories))
        return NULL;
    time_networks(model, nest->system);
    dfl_energy_count(nest, &model->energy, &model->sums, &model->result, model->rows, model->einsums, model->memories);
    return &model->result;
}

bool dfl_model_occupancy(dfl_model *model, uint32_t memory, uint32_t leaf, const bool *without, dfl_i128 *out)
{
    return dfl_occupancy_during(&model->nest, &model->keeps, &model->room, &model->sums, model->bits, memory, leaf, without, out);
}

const dfl_result *dfl_model_retime(dfl_model *model, const dfl_system *like)
{
    dfl_time_plan_set_rates(&model->nest, like, &model->time);
    /* the deltas of the last run are still valid, so this call cannot fail */
    (void)dfl_time_count(&model->nest, &model->keeps, &model->time, &model->sums, &model->result, model->einsums,
                         model->memories);
    time_networks(model, like);
    return &model->result;
}

/* ---- bandwidths that the mapping requires of memories ---- */

/* [memory]: bits that one instance, at coordinate 0, moves through the ports of the memory. */
static dfl_ports *find_port_bits(const dfl_model *model, dfl_arena *scratch)
{
    dfl_ports *most = DFL_NEW_ARRAY(scratch, dfl_ports, model->nest.system->n_memories + 1);
    dfl_ports *bits = DFL_NEW_ARRAY(scratch, dfl_ports, model->keeps.n + 1); /* [first keep of the instances] */

    for (uint32_t i = 0; i < model->keeps.n; i++) { /* stages of a pipeline may use different instances */
        const dfl_counts *n = &model->sums.busiest[i];
        const bool drains = !model->nest.system->memories[model->time.memory[i]].free_drains;
        const dfl_ports moved = { dfl_i128_double(n->serve) + (drains ? dfl_i128_double(n->drain) : 0) +
                                  dfl_i128_double(n->accumulate),
                                  dfl_i128_double(n->fill) + dfl_i128_double(n->update) };
        bits[model->time.beside[i]] += moved * model->time.bits[i];
    }
    for (uint32_t i = 0; i < model->keeps.n; i++) {
        dfl_ports *of = &most[model->time.memory[i]];
        if (bits[i][DFL_READ] + bits[i][DFL_WRITE] > (*of)[DFL_READ] + (*of)[DFL_WRITE])
            *of = bits[i];
    }
    return most;
}

/* `bits` over the time that the mapping takes if the port for reads, or for writes, of `memory` in `like` has no limit. 0 = the
   mapping then takes no time. */
static double required_rate(dfl_model *model, const dfl_system *like, dfl_memory *memory, bool read, bool write, double bits)
{
    const dfl_memory own = *memory;
    double seconds;

    if (read)
        memory->read_rate = INFINITY;
    if (write)
        memory->write_rate = INFINITY;
    seconds = dfl_model_retime(model, like)->seconds;
    *memory = own;
    return seconds > 0 ? bits / seconds : 0;
}

void dfl_model_require_bandwidths(dfl_model *model, dfl_arena *scratch)
{
    const dfl_system *own = model->nest.system;
    dfl_memory *memories = DFL_NEW_ARRAY(scratch, dfl_memory, own->n_memories + 1);
    dfl_network *networks = DFL_NEW_ARRAY(scratch, dfl_network, own->n_networks + 1);
    double *required = DFL_NEW_ARRAY(scratch, double, own->n_networks + 1);
    const dfl_ports *port_bits = find_port_bits(model, scratch);
    dfl_system like = *own;

    memcpy(memories, own->memories, own->n_memories * sizeof *memories);
    memcpy(networks, own->networks, own->n_networks * sizeof *networks);
    like.memories = memories;
    like.networks = networks;
    for (uint32_t i = 0; i < own->n_memories; i++) {
        const dfl_ports bits = port_bits[i];
        double both[2];

        if (memories[i].one_port) {
            model->memories[i].bandwidth_required = required_rate(model, &like, &memories[i], true, true,
                                                                  bits[DFL_READ] + bits[DFL_WRITE]);
            continue;
        }
        both[DFL_READ] = required_rate(model, &like, &memories[i], true, false, bits[DFL_READ]);
        both[DFL_WRITE] = required_rate(model, &like, &memories[i], false, true, bits[DFL_WRITE]);
        model->memories[i].bandwidth_required = fmax(both[DFL_READ], both[DFL_WRITE]);
    }
    for (uint32_t i = 0; i < own->n_networks; i++) {
        networks[i].bandwidth = INFINITY;
        (void)dfl_model_retime(model, &like);
        required[i] = model->crossings.networks[i].bandwidth_required;
        networks[i].bandwidth = own->networks[i].bandwidth;
    }
    (void)dfl_model_retime(model, own);
    for (uint32_t i = 0; i < own->n_networks; i++)
        model->crossings.networks[i].bandwidth_required = required[i];
}

bool dfl_model_network_bits(const dfl_model *model, uint32_t network, dfl_i128 *out)
{
    return dfl_energy_network_bits(&model->crossings.networks[network], out);
}

const dfl_result *dfl_model_eval(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_paths *paths)
{
    dfl_model *model = dfl_model_prepare(arena, sink, names, paths);
    const dfl_result *result = model != NULL ? dfl_model_run(model, arena) : NULL;

    if (result != NULL && paths->mapping->asks_bandwidth)
        dfl_model_require_bandwidths(model, arena);
    return result;
}

