/*
 * Lower bounds of plans. Memory: what the first and the last stage hold for sure. Time: the einsums of a stage run one after
 * another on their units, behind the first micro-batch of the stages before, and before the last one of those that end it. The
 * sharpened time is the latency itself. Plans that agree in decisions share what depends on these alone (dfl_plan_common).
 */
#include <math.h>
#include <string.h>

#include "plan/kinds.h"
#include "plan/layout/halos.h"
#include "plan/layout/homes.h"
#include "plan/layout/passes.h"
#include "plan/plan.h"
#include "plan/plan_internal.h"
#include "plan/pass/iterations.h"
#include "support/vec.h"

/* ---- memory ---- */

static const dfl_stages *words_of(const dfl_plan_state *p)
{
    return p->frame.stage_slot != DFL_NONE ? p->frame.slots[p->frame.stage_slot].stages : NULL;
}

/* The largest share of its size that a memory of a stage holds at least: above 1 if and only if it is exceeded. */
static double fill_of(const dfl_plan_state *p, const dfl_lives *lives, uint32_t stage)
{
    const dfl_stage_shape shape = dfl_plan_shape(p, stage);
    const dfl_plan_memory *held = dfl_held_find(&p->frame, &p->layouts, lives, &shape);
    double most = 0;

    for (uint32_t m = 0; m < p->frame.system->n_memories && held != NULL; m++) {
        const dfl_i128 size = p->frame.system->memories[m].size_bits;
        double share = size > 0 ? dfl_i128_double(held[m].peak_bits) / dfl_i128_double(size) : 0;

        if (size < 0)
            continue;
        if (held[m].peak_bits > size) /* exactly */
            share = fmax(share, nextafter(1, 2));
        else
            share = fmin(share, 1);
        most = fmax(most, share);
    }
    return most; /* an overflow is left to the evaluation */
}

/* ---- time ---- */

/* Whether an access moves by 1, so that the elements between the first and the last one are those that it touches. */
static bool is_dense(const dfl_access *access)
{
    for (uint32_t d = 0; d < access->n_dims; d++)
        for (uint32_t t = 0; t < access->index[d].n_terms; t++)
            if (access->index[d].terms[t].coef != 1)
                return false;
    return true;
}

/* Whether the data of an einsum is a lower bound in each plan, also in one that the evaluation refuses. For far halos, windows
   that move by more than 1, and divided tables it may be more than the einsum touches. */
static bool has_least_data(const dfl_workload *w, const dfl_einsum *e)
{
    for (uint32_t i = 0; i < e->n_inputs; i++)
        if (!is_dense(&e->inputs[i]) || w->tensors[e->inputs[i].tensor].gathered || dfl_halo_is_repeated(e, i))
            return false;
    return is_dense(&e->output);
}

/* Time for which an einsum occupies its unit at least. Of the einsums of a branch under perfect overlap, operations alone do. */
static double least_seconds(const dfl_plan_state *p, const dfl_chip_time *times, uint32_t einsum)
{
    const dfl_workload *w = p->frame.workload;

    return p->frame.mapping->options.overlap_perfect || !has_least_data(w, &w->einsums[einsum]) ? times[einsum].least_seconds
                                                                                                  : times[einsum].seconds;
}

/* Adds the times of the forward einsums that a pass of the backward phase makes again in a repeat (DFL_NONE: outside of all). */
static void add_recomputed(const dfl_plan_state *p, const dfl_chunk *chunk, uint32_t repeat, int64_t iterations, double *busy)
{
    const dfl_workload *w = p->frame.workload;

    for (uint32_t e = 0; e < w->n_einsums; e++)
        if (w->einsums[e].phase == DFL_PHASE_FORWARD && p->work.is_recomputed[w->einsums[e].output.tensor] &&
            dfl_frame_repeat(&p->frame, &w->einsums[e]) == repeat &&
            dfl_frame_runs(&p->frame, e, chunk->has_first, chunk->has_last))
            busy[p->times[e].compute] += (double)iterations * least_seconds(p, p->again, e);
}

/* The time of the busiest unit in a chunk: groups of einsums and their iterations as in dfl_chunk_run. */
static double busiest(const dfl_plan_state *p, const dfl_chunk *chunk, double *busy)
{
    const dfl_frame *f = &p->frame;
    const dfl_workload *w = f->workload;
    const uint32_t stage_rank = f->stage_slot != DFL_NONE ? f->slots[f->stage_slot].stage_rank : DFL_NONE;
    bool has_recomputed = false;
    double most = 0;

    memset(busy, 0, f->system->n_computes * sizeof *busy);
    for (uint32_t e = 0; e < w->n_einsums;) {
        const uint32_t repeat = dfl_frame_repeat(f, &w->einsums[e]);
        const int64_t iterations = repeat == DFL_NONE || chunk->phase == DFL_PHASE_UPDATE ? 1
                                   : repeat == stage_rank ? chunk->layers : dfl_frame_local(f, e, repeat);

        if (w->einsums[e].phase != chunk->phase) {
            e++;
            continue;
        }
        if (chunk->phase == DFL_PHASE_BACKWARD && (repeat != DFL_NONE || !has_recomputed)) {
            add_recomputed(p, chunk, repeat, iterations, busy);
            has_recomputed |= repeat == DFL_NONE;
        }
        for (; e < w->n_einsums && w->einsums[e].phase == chunk->phase && dfl_frame_repeat(f, &w->einsums[e]) == repeat; e++)
            if (dfl_frame_runs(f, e, chunk->has_first, chunk->has_last) && !dfl_frame_starts_once(f, e))
                busy[p->times[e].compute] += (double)iterations * least_seconds(p, p->times, e);
    }
    for (uint32_t c = 0; c < f->system->n_computes; c++)
        most = fmax(most, busy[c]);
    return most;
}

/* The times of the chunks of a phase, [chunk index]; equal chunks are computed once. */
static double *chunk_floors(const dfl_plan_state *p, dfl_phase phase, double *busy)
{
    const uint32_t n = p->stages * p->interleave;
    double *out = DFL_NEW_ARRAY(p->frame.arena, double, n);

    for (uint32_t i = 0; i < n; i++) {
        const dfl_chunk chunk = { .phase = phase, .layers = p->chunk_layers[i], .has_first = i == 0, .has_last = i + 1 == n };

        if (i > 1 && i + 1 < n && p->chunk_layers[i] == p->chunk_layers[i - 1])
            out[i] = out[i - 1];
        else
            out[i] = busiest(p, &chunk, busy);
    }
    return out;
}

/* The latest end of a stage: its operations stand between the first micro-batch in the stages before it, and the way of its last
   one: back through these stages, or ahead through the others without a backward pass. With zero_bubble gradients of weights may
   come last. Then the step of the optimizer. A smaller last micro-batch counts as 0 s. */
static double pipeline_floor(const dfl_plan_state *p)
{
    const bool trains = dfl_plan_has_phase(p->frame.workload, DFL_PHASE_BACKWARD);
    const bool is_split = words_of(p) != NULL && words_of(p)->schedule == DFL_SCHEDULE_ZERO_BUBBLE;
    const bool has_rest = dfl_plan_has_rest(&p->frame);
    double *busy = DFL_NEW_ARRAY(p->frame.arena, double, (size_t)p->frame.system->n_computes + 1);
    const double *forward = chunk_floors(p, DFL_PHASE_FORWARD, busy);
    const double *backward = trains ? chunk_floors(p, DFL_PHASE_BACKWARD, busy) : NULL;
    double before = 0, latest = 0, update[3] = { 0, 0, 0 }, ahead = 0;

    for (uint32_t k = 0; k < 3; k++) {
        const dfl_chunk chunk = { .phase = DFL_PHASE_UPDATE, .layers = 1, .has_first = k == 0 || p->stages == 1,
                                  .has_last = k == 2 || p->stages == 1 };
        update[k] = busiest(p, &chunk, busy);
    }
    for (uint32_t s = 1; s < p->stages && !has_rest; s++)
        ahead += forward[(p->interleave - 1) * p->stages + s];
    for (uint32_t s = 0; s < p->stages; s++) {
        double own = 0, behind = 0;

        for (uint32_t c = 0; c < p->interleave; c++)
            own += forward[c * p->stages + s] + (trains ? backward[c * p->stages + s] : 0);
        for (uint32_t i = 0; i < s && trains && !is_split && !has_rest; i++)
            behind += backward[i];
        own = before + (double)dfl_plan_whole_micro_batches(&p->frame) * own;
        latest = fmax(latest, own + update[s == 0 ? 0 : s + 1 == p->stages ? 2 : 1]);
        latest = fmax(latest, own + (trains ? behind + (is_split ? 0 : update[0]) : ahead));
        before += forward[s];
        ahead -= s + 1 < p->stages && !has_rest ? forward[(p->interleave - 1) * p->stages + s + 1] : 0;
    }
    return latest * (1 - 1e-9); /* sums in another order than those of the evaluation */
}

/* ---- parts that plans share ---- */

/* Parts of a plan that depend on the division and on the passes alone: layouts, and the exchanges between them. */
typedef struct {
    uint64_t cuts;             /* the number of the division and of the passes */
    dfl_layouts layouts;
    dfl_chip_time *times;      /* of einsums that are branches by themselves, with equal iterations; NULL = not found yet */
    bool was_tried;            /* `exchanges` were searched for */
    bool has_exchanges;        /* `exchanges` were found */
    dfl_plan_exchanges exchanges;
} common_pass;

/* Parts of a plan that depend on all decisions but the interleave: the plan, and the lives of its values. */
typedef struct {
    uint64_t work;             /* the number of all but the interleave */
    bool is_class;
    const dfl_plan_state *plan;
    const dfl_lives *lives;
} common_work;

enum { WORKS = 128 }; /* number of plans that are kept at most, some 200 kB each */

struct dfl_plan_common {
    dfl_arena *arena;
    dfl_plan_memo *memo;
    DFL_VEC(common_pass) passes;
    DFL_VEC(common_work) works;
};

dfl_plan_common *dfl_plan_common_new(dfl_arena *arena, dfl_plan_memo *memo)
{
    dfl_plan_common *out = DFL_NEW(arena, dfl_plan_common);

    out->arena = arena;
    out->memo = memo;
    return out;
}

size_t dfl_plan_common_size(const dfl_plan_common *common) { return common->passes.n; }

/* The layouts of a plan, in the arena of `common`; those of a plan with the same number `cuts` if there was one. NULL after a
   report. */
static common_pass *find_layouts(const dfl_frame *f, dfl_plan_common *common, uint64_t cuts)
{
    common_pass own = { .cuts = cuts };
    dfl_frame kept = *f;

    for (size_t i = 0; i < common->passes.n; i++)
        if (common->passes.at[i].cuts == cuts)
            return &common->passes.at[i];
    kept.arena = common->arena;
    if (!dfl_layouts_find(&kept, &own.layouts))
        return NULL;
    DFL_PUSH(common->arena, &common->passes, own);
    return &common->passes.at[common->passes.n - 1];
}

/* The exchanges of a plan, whatever it recomputes; NULL = they are not evaluated. The result is of this plan alone. */
static dfl_plan_exchanges *find_exchanges(const dfl_frame *f, dfl_plan_common *common, common_pass *of)
{
    dfl_plan_exchanges *out = DFL_NEW(f->arena, dfl_plan_exchanges);

    if (!of->was_tried) {
        dfl_frame kept = *f;

        kept.arena = common->arena;
        kept.recomputed = DFL_NEW_ARRAY(f->arena, bool, (size_t)f->workload->n_tensors + 1);
        of->was_tried = true;
        of->has_exchanges = dfl_exchanges_find(&kept, &of->layouts, NULL, &of->exchanges);
    }
    if (!of->has_exchanges)
        return NULL;
    *out = (dfl_plan_exchanges){ DFL_NEW_ARRAY(f->arena, dfl_plan_exchange, (size_t)of->exchanges.n + 1), of->exchanges.n };
    if (out->n > 0)
        memcpy(out->at, of->exchanges.at, out->n * sizeof *out->at);
    return out;
}

double dfl_plan_floor_sharpen(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping,
                              dfl_plan_common *common, dfl_plan_key key)
{
    dfl_plan_state *p = DFL_NEW(arena, dfl_plan_state);
    const dfl_plan_exchanges *exchanges;
    common_pass *of;

    if (!dfl_plan_start(p, arena, sink, names, mapping) || !dfl_frame_build(&p->frame))
        return 0;
    dfl_homes_set(&p->frame);
    of = find_layouts(&p->frame, common, key.cuts);
    exchanges = of != NULL ? find_exchanges(&p->frame, common, of) : NULL;
    if (exchanges == NULL)
        return 0;
    p->layouts = of->layouts;
    p->memo = common->memo;
    return dfl_plan_find_step(p, exchanges) ? dfl_plan_latency(p) : 0;
}

static const common_work *find_kept(const dfl_plan_common *common, uint64_t work, bool is_class)
{
    for (size_t i = 0; i < common->works.n; i++)
        if (common->works.at[i].work == work && common->works.at[i].is_class == is_class)
            return &common->works.at[i];
    return NULL;
}

dfl_arena *dfl_plan_common_arena(const dfl_plan_common *common, dfl_plan_key key, bool is_class)
{
    return common->works.n < WORKS && find_kept(common, key.work, is_class) == NULL ? common->arena : NULL;
}

/* The times of the einsums of a plan without exchanges; `is_kept`: they are in the arena of `of`. False after a report. */
static bool find_times(dfl_plan_state *p, common_pass *of, bool is_kept)
{
    if (!dfl_branches_find(&p->frame, &p->branches))
        return false;
    p->times = of->times != NULL ? of->times : dfl_chip_times_find(&p->frame, &p->branches, NULL);
    p->work.branches = &p->branches;
    p->work.times = p->times;
    if (p->times == NULL || !dfl_iterations_find(&p->work, NULL, p->times, NULL))
        return false;
    if (is_kept && !p->branches.has_braces && p->work.of_iteration == NULL)
        of->times = p->times; /* what is recomputed decides only about the times of a branch */
    p->again = dfl_chip_times_again(&p->frame, &p->branches, p->times);
    return p->again != NULL;
}

/* Finds what does not depend on the interleave of a plan. False after a report. `lives` is NULL if a count overflows: that is
   left to the evaluation. */
static bool find_work(dfl_plan_state *p, const dfl_mapping *mapping, dfl_plan_common *common, dfl_plan_key key, bool is_class,
                      dfl_lives **lives)
{
    static const dfl_plan_exchanges none = { .at = NULL, .n = 0 };
    common_pass *of;

    if (!dfl_plan_start(p, p->frame.arena, p->frame.sink, p->frame.names, mapping) ||
        !(is_class ? dfl_frame_divide(&p->frame) : dfl_frame_build(&p->frame)))
        return false;
    dfl_homes_set(&p->frame);
    of = find_layouts(&p->frame, common, key.cuts);
    if (of == NULL)
        return false;
    p->layouts = of->layouts;
    p->work = (dfl_plan_work){ .frame = &p->frame, .exchanges = &none, .is_recomputed = p->frame.recomputed };
    if (dfl_lives_find(&p->work, &p->layouts, lives))
        *lives = NULL;
    return is_class || find_times(p, of, p->frame.arena == common->arena);
}

/* Whether stages may have so many chunks: one stage alone has none, and each chunk has a layer. */
static bool has_chunks(const dfl_frame *f)
{
    const dfl_slot *s = f->stage_slot != DFL_NONE ? &f->slots[f->stage_slot] : NULL;

    return s == NULL || ((s->count > 1 || s->stages->interleave == 1) &&
                         s->count * s->stages->interleave <= f->workload->ranks[s->stage_rank].extent);
}

/* Takes a plan that was kept, with the interleave of another one. NULL after a report: it has too many chunks. */
static dfl_plan_state *take_kept(dfl_arena *arena, dfl_sink *sink, const common_work *kept, const dfl_mapping *mapping,
                                 dfl_lives **lives)
{
    dfl_plan_state *p = DFL_NEW(arena, dfl_plan_state);
    dfl_frame *f = &p->frame;
    const dfl_body *root;

    *p = *kept->plan;
    f->arena = arena;
    f->sink = sink;
    root = f->mapping->root;
    f->slots = DFL_NEW_ARRAY(arena, dfl_slot, f->columns);
    memcpy(f->slots, kept->plan->frame.slots, f->n_slots * sizeof *f->slots);
    for (uint32_t i = 0; i < root->n_lines && f->stage_slot != DFL_NONE; i++)
        if (root->lines[i].stages == kept->plan->frame.slots[f->stage_slot].stages && root->lines[i].stages != NULL)
            f->slots[f->stage_slot].stages = mapping->root->lines[i].stages;
    if (!has_chunks(f)) {
        dfl_report(sink, DFL_MAP_STAGES, f->slots[f->stage_slot].span, "these stages cannot have so many chunks");
        return NULL;
    }
    p->work.frame = f;
    *lives = kept->lives != NULL ? dfl_lives_for(kept->lives, &p->work) : NULL;
    return p;
}

/* The plan without exchanges; it is kept if its mapping is. NULL after a report. */
static dfl_plan_state *find_plan(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping,
                                 dfl_plan_common *common, dfl_plan_key key, bool is_class, dfl_lives **lives)
{
    const common_work *kept = find_kept(common, key.work, is_class);
    const bool is_kept = dfl_plan_common_arena(common, key, is_class) != NULL;
    dfl_arena *own = is_kept ? common->arena : arena;
    dfl_plan_state *p;

    if (kept != NULL)
        return take_kept(arena, sink, kept, mapping, lives);
    p = DFL_NEW(own, dfl_plan_state);
    p->frame = (dfl_frame){ .arena = own, .sink = sink, .names = names };
    if (!find_work(p, mapping, common, key, is_class, lives))
        return NULL;
    if (is_kept)
        DFL_PUSH(common->arena, &common->works, ((common_work){ key.work, is_class, p, *lives }));
    return p;
}

dfl_plan_floor dfl_plan_floor_find(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping,
                                   dfl_plan_common *common, dfl_plan_key key, bool is_class)
{
    dfl_plan_floor out = { .runs = false };
    dfl_lives *lives = NULL;
    dfl_plan_state *p = find_plan(arena, sink, names, mapping, common, key, is_class, &lives);

    if (p == NULL)
        return out;
    out.runs = true;
    dfl_plan_divide_layers(p);
    out.fill = lives != NULL ? fmax(fill_of(p, lives, 0), fill_of(p, lives, p->stages - 1)) : 0;
    out.fits = out.fill <= 1;
    if (!is_class && out.fits)
        out.seconds = pipeline_floor(p);
    return out;
}
