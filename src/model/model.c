/* One evaluation: nest, keeps, counts, costs. */
#include "model/model.h"

#include "model/counts/rank_chain.h"
#include "model/cost/energy.h"
#include "model/cost/occupancy.h"
#include "model/cost/time.h"
#include "model/counts/operations.h"
#include "model/counts/traffic.h"
#include "model/sets/producer_limits.h"
#include "support/vec.h"

struct dfl_model {
    dfl_nest nest;
    dfl_keep_tree keeps;
    uint32_t *row;  /* by keep: its row of the result */
    bool *first;    /* by keep: it is the first of its row */
    bool again;     /* demands depend on the sizes, so that each run starts from nothing */
    dfl_traffic_plan traffic;
    dfl_traffic_sums sums;
    dfl_liveness room;
    dfl_i128 *bits; /* by keep: bits of its largest tile */
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
static void make_rows(dfl_model *m)
{
    dfl_nest *nest = &m->nest;
    size_t n_tensors = nest->workload->n_tensors;
    uint32_t n = 0; /* rows */
    /* By memory and tensor: number of the row plus 1; 0 if there is none. */
    uint32_t *row = DFL_NEW_ARRAY(nest->arena, uint32_t, nest->system->n_memories * n_tensors + 1);

    m->rows = DFL_NEW_ARRAY(nest->arena, dfl_traffic, m->keeps.n + 1);
    m->row = DFL_NEW_ARRAY(nest->arena, uint32_t, m->keeps.n + 1);
    m->first = DFL_NEW_ARRAY(nest->arena, bool, m->keeps.n + 1);
    for (uint32_t i = 0; i < m->keeps.n; i++) {
        const dfl_line *line = m->keeps.at[i].line;
        m->first[i] = row[line->memory * n_tensors + line->tensor] == 0;
        row[line->memory * n_tensors + line->tensor] = 1;
    }
    for (uint32_t memory = 0; memory < nest->system->n_memories; memory++)
        for (uint32_t tensor = 0; tensor < n_tensors; tensor++)
            if (row[memory * n_tensors + tensor] != 0) {
                m->rows[n] = (dfl_traffic){ .memory = memory, .tensor = tensor };
                row[memory * n_tensors + tensor] = ++n;
            }
    for (uint32_t i = 0; i < m->keeps.n; i++)
        m->row[i] = row[m->keeps.at[i].line->memory * n_tensors + m->keeps.at[i].line->tensor] - 1;
    m->result.traffic = m->rows;
    m->result.n_traffic = n;
}

/* Allocates the result, with all parts that do not depend on the sizes. */
static void make_result(dfl_model *m)
{
    const dfl_nest *nest = &m->nest;
    dfl_result *r = &m->result;
    dfl_arena *arena = nest->arena;

    m->einsums = DFL_NEW_ARRAY(arena, dfl_einsum_cost, nest->workload->n_einsums + 1);
    m->memories = DFL_NEW_ARRAY(arena, dfl_memory_cost, nest->system->n_memories + 1);
    m->links = DFL_NEW_ARRAY(arena, dfl_link_cost, nest->system->n_axes + 1);
    for (uint32_t i = 0; i < nest->system->n_memories; i++)
        m->memories[i].memory = i;
    for (uint32_t i = 0; i < nest->system->n_axes; i++)
        m->links[i].axis = i;
    *r = (dfl_result){ .mapping = nest->mapping, .einsums = m->einsums, .memories = m->memories,
                       .links = m->links, .compute_joules = DFL_NEW_ARRAY(arena, double, nest->system->n_computes + 1),
                       .network_joules = DFL_NEW_ARRAY(arena, double, nest->system->n_networks + 1) };
    make_rows(m);
}

/* Tells whether demands depend on sizes: with `recompute`, only loops with more than one iteration bring elements back. */
static bool depends_on_sizes(const dfl_paths *paths)
{
    for (uint32_t e = 0; e < paths->mapping->workload->n_einsums; e++) {
        const dfl_path *p = &paths->paths[e];
        if (p->has_exchange && p->exchange.restricts && p->exchange.recompute)
            return true;
    }
    return false;
}

dfl_model *dfl_model_prepare(dfl_arena *home, dfl_sink *sink, const dfl_intern *names, const dfl_paths *paths)
{
    dfl_model *m = DFL_NEW(home, dfl_model);
    dfl_nest *nest = &m->nest;

    if (!dfl_nest_init(nest, home, sink, names, paths) || !dfl_producer_limits_find(nest) || !dfl_keep_tree_make(nest, &m->keeps))
        return NULL;
    nest->sizes = dfl_loop_sizes_new(home, nest->paths);
    nest->chains = dfl_arena_alloc(home, nest->workload->n_einsums + 1, sizeof *nest->chains, _Alignof(dfl_rank_chain *));
    if (!dfl_traffic_plan_make(nest, &m->keeps, &m->traffic) || !dfl_time_plan_make(nest, &m->keeps, &m->time))
        return NULL;
    m->work = dfl_operations_make(nest);
    if (!m->work)
        return NULL;
    dfl_traffic_plan_make_sums(nest, &m->keeps, &m->sums);
    dfl_liveness_make(nest, &m->keeps, &m->room);
    dfl_energy_plan_make(nest, &m->keeps, &m->energy);
    m->bits = DFL_NEW_ARRAY(home, dfl_i128, m->keeps.n + 1);
    m->again = depends_on_sizes(paths);
    make_result(m);
    return m;
}

/* Adds `from` to `to`. True on overflow. */
static bool add_counts(dfl_counts *to, const dfl_counts *from)
{
    bool over = dfl_add(to->serve, from->serve, &to->serve);

    over |= dfl_add(to->drain, from->drain, &to->drain);
    over |= dfl_add(to->accumulate, from->accumulate, &to->accumulate);
    over |= dfl_add(to->fill, from->fill, &to->fill);
    over |= dfl_add(to->update, from->update, &to->update);
    return over;
}

/* Tells whether the sum of reads or that of writes, on which time and energy depend, passes 2^127. */
static bool is_too_many(const dfl_counts *n)
{
    dfl_i128 sum;

    return dfl_add(n->serve, n->drain, &sum) || dfl_add(sum, n->accumulate, &sum) || dfl_add(n->fill, n->update, &sum);
}

/* Sums the counts of the keeps into one row per memory and tensor. False after E0608. */
static bool gather_traffic(dfl_model *m)
{
    bool over = false;

    for (uint32_t i = 0; i < m->keeps.n; i++) {
        dfl_traffic *row = &m->rows[m->row[i]];
        if (m->first[i]) {
            row->counts = m->sums.all[i];
            row->first = m->sums.busiest[i];
            row->rough = m->sums.rough[i];
            row->peak_bits = m->bits[i];
        } else {
            over |= add_counts(&row->counts, &m->sums.all[i]) || add_counts(&row->first, &m->sums.busiest[i]);
            row->rough |= m->sums.rough[i];
            row->peak_bits = m->bits[i] > row->peak_bits ? m->bits[i] : row->peak_bits;
        }
    }
    for (uint32_t i = 0; i < m->result.n_traffic; i++)
        over |= is_too_many(&m->rows[i].counts);
    return over ? dfl_nest_report_overflow(&m->nest, m->nest.mapping->span) : true;
}

const dfl_result *dfl_model_run(dfl_model *m, dfl_arena *scratch)
{
    dfl_nest *nest = &m->nest;

    if (m->again && nest->run > 0)
        return dfl_model_eval(scratch, nest->sink, nest->names, nest->input_paths);
    nest->arena = scratch;
    nest->refused = false;
    dfl_step_numbers_read(nest->numbers);
    if (nest->run++ > 0 && !dfl_nest_sizes_are_countable(nest))
        return NULL;
    dfl_loop_sizes_read(nest->paths, nest->sizes);
    if (!dfl_traffic_count(nest, &m->keeps, &m->traffic, &m->sums))
        return NULL;
    for (uint32_t a = 0; a < nest->system->n_axes; a++)
        m->links[a].forwarded = m->sums.forwarded[a];
    bool fits = dfl_occupancy_count(nest, &m->keeps, &m->room, &m->sums, m->memories, m->bits);
    if (!dfl_operations_count(nest, m->work, &m->sums, &m->result, m->einsums) || !fits)
        return NULL;
    if (!gather_traffic(m))
        return NULL;
    if (!dfl_time_count(nest, &m->keeps, &m->time, &m->sums, &m->result, m->einsums, m->memories))
        return NULL;
    dfl_energy_count(nest, &m->keeps, &m->energy, &m->sums, &m->result, m->rows, m->einsums, m->memories);
    return &m->result;
}

bool dfl_model_occupancy(dfl_model *m, uint32_t memory, uint32_t leaf, const bool *without, dfl_i128 *out)
{
    return dfl_occupancy_during(&m->nest, &m->keeps, &m->room, &m->sums, m->bits, memory, leaf, without, out);
}

const dfl_result *dfl_model_retime(dfl_model *m, const dfl_system *like)
{
    dfl_time_plan_set_rates(&m->nest, like, &m->time);
    /* the deltas of the run are still counted, so this cannot fail */
    (void)dfl_time_count(&m->nest, &m->keeps, &m->time, &m->sums, &m->result, m->einsums, m->memories);
    return &m->result;
}

bool dfl_model_network_bits(const dfl_model *m, uint32_t network, dfl_i128 *out)
{
    return dfl_energy_network_bits(&m->nest, &m->keeps, &m->energy, &m->sums, network, out);
}

const dfl_result *dfl_model_eval(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_paths *paths)
{
    dfl_model *m = dfl_model_prepare(arena, sink, names, paths);

    return m ? dfl_model_run(m, arena) : NULL;
}
