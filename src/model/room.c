/* Occupancy: which tiles are live at the same time, and how much room they take in one instance of a memory. */
#include "model/cost.h"

#include <string.h>

#include "model/joint.h"
#include "support/vec.h"

enum { MOST_AXES = 8 };

typedef struct {
    dfl_setting *set;
    dfl_keeps *keeps;
    const dfl_i128 *bits;     /* per keep: room of its largest tile in one instance */
    const dfl_i128 *most;     /* per keep: elements of that tile */
    uint32_t memory;
    dfl_i128 best;            /* largest sum so far */
    dfl_span at;              /* the innermost line that adds to it */
    bool over;
} room;

static bool outside_role(dfl_role r) { return r != DFL_ROLE_INTERMEDIATE; }

/* Inputs and outputs of the workload have their whole shape at home, all the time. */
static bool always_live(const dfl_setting *set, const dfl_keep *k)
{
    return k->parent == DFL_NONE && outside_role(set->w->tensors[k->line->tensor].role);
}

static bool child_touches(const dfl_setting *set, const dfl_body *child, uint32_t tensor)
{
    for (uint32_t i = 0; i < child->n_einsums; i++)
        if (dfl_einsum_touches(&set->w->einsums[child->einsums[i]], tensor))
            return true;
    return false;
}

/* Whether a keep of a body is live while its child `c` runs. */
static bool live_during(const dfl_setting *set, const dfl_keep *k, uint32_t c)
{
    const dfl_body *b = k->body;
    uint32_t first = DFL_NONE, last = 0;

    for (const dfl_line *l = k->line + 1; l < b->lines + b->n_lines; l++)
        if (l->kind != DFL_LINE_KEEP)
            return true;
    for (uint32_t i = 0; i < b->n_children; i++)
        if (child_touches(set, b->children[i], k->line->tensor)) {
            first = first == DFL_NONE ? i : first;
            last = i;
        }
    return first != DFL_NONE && first <= c && c <= last;
}

static dfl_i128 add(room *r, dfl_i128 a, dfl_i128 b)
{
    dfl_i128 sum = 0;

    r->over |= dfl_add(a, b, &sum);
    return sum;
}

/* Spatial steps on axis `a` around the memory that spread the keep. */
static uint64_t steps_on(const room *r, const dfl_keep *k, uint32_t a)
{
    uint32_t e = k->point.einsum;
    uint64_t left = dfl_steps_around(r->set, e, k->step, r->set->s->memories[r->memory].element), bits = 0;

    for (; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(left), driver = dfl_place_driver(r->set, e, i);
        const dfl_path_step *s = driver == DFL_NONE ? NULL : &r->set->paths->paths[driver].steps[i];
        if (s && s->line->axis == a && s->tile < s->nominal)
            bits |= left & -left;
    }
    return bits;
}

/* Finds the axes on which only some of the tiles are spread: the others stand at coordinate 0. Gives the steps. */
static uint32_t mixed_axes(room *r, const dfl_tile_room *tiles, uint32_t n, uint32_t *axes, uint64_t *steps)
{
    uint32_t found = 0;

    for (uint32_t a = 0; a < r->set->s->n_axes && found < MOST_AXES; a++) {
        uint64_t all = 0;
        bool without = false, unlike = false;
        for (uint32_t i = 0; i < n; i++)
            all |= steps_on(r, tiles[i].keep, a);
        for (uint32_t i = 0; i < n; i++) {
            uint64_t mine = steps_on(r, tiles[i].keep, a);
            without |= mine == 0;
            unlike |= mine != 0 && mine != all;
        }
        if (unlike)
            dfl_setting_refuse(r->set, tiles[0].keep->line->span, "tiles that are spread over one axis in different ways",
                               "keep them below the same spatial lines");
        if (all == 0 || !without)
            continue;
        axes[found] = a;
        steps[found++] = all;
    }
    return found;
}

/* Largest sum of the tiles over all steps and instances: those at coordinate 0 of a mixed axis hold all of them, the
   others only those that are spread over it. */
static dfl_i128 joint_room(room *r, dfl_tile_room *tiles, uint32_t n)
{
    uint32_t axes[MOST_AXES], n_axes;
    uint64_t steps[MOST_AXES];
    dfl_i128 best = 0;

    n_axes = mixed_axes(r, tiles, n, axes, steps);
    for (uint32_t pick = 0; pick < 1u << n_axes && !r->set->refused; pick++) {
        dfl_tile_room *some = DFL_NEW_ARRAY(r->set->arena, dfl_tile_room, n + 1);
        uint64_t first = 0;
        uint32_t n_some = 0;
        dfl_i128 sum = 0;
        for (uint32_t x = 0; x < n_axes; x++)
            first |= pick >> x & 1 ? 0 : steps[x];
        for (uint32_t i = 0; i < n; i++) {
            bool held = true;
            for (uint32_t x = 0; x < n_axes; x++)
                held &= !(pick >> x & 1) || steps_on(r, tiles[i].keep, axes[x]) != 0;
            if (held)
                some[n_some++] = tiles[i];
        }
        r->over |= n_some > 0 && !dfl_joint_room(r->set, some, n_some, first, &sum);
        best = sum > best ? sum : best;
    }
    return best;
}

/* Room of the listed keeps together. */
static dfl_i128 together(room *r, const uint32_t *live, uint32_t n)
{
    dfl_tile_room *tiles = DFL_NEW_ARRAY(r->set->arena, dfl_tile_room, n + 1);
    dfl_i128 plain = 0;
    uint32_t n_tiles = 0;

    for (uint32_t i = 0; i < n; i++) {
        dfl_keep *k = &r->keeps->at[live[i]];
        if (r->most[live[i]] == 0)
            continue;
        plain = add(r, plain, r->bits[live[i]]);
        tiles[n_tiles++] = (dfl_tile_room){ k, dfl_keep_sharing(r->set, k), r->bits[live[i]] / r->most[live[i]],
                                            r->most[live[i]] };
    }
    /* no more than the sum of the largest, and no need to look where that changes nothing */
    if (n_tiles <= 1 || plain <= r->best)
        return plain;
    return joint_room(r, tiles, n_tiles);
}

static void note_peak(room *r, dfl_i128 sum, const uint32_t *live, uint32_t n_live, dfl_span inner)
{
    uint32_t last = DFL_NONE;

    if (sum <= r->best)
        return;
    for (uint32_t i = 0; i < n_live; i++)
        last = last == DFL_NONE || r->keeps->at[live[i]].step >= r->keeps->at[last].step ? live[i] : last;
    r->best = sum;
    r->at = inner.end || last == DFL_NONE ? inner : r->keeps->at[last].line->span;
}

static void peak_of(room *r, const dfl_body *b, const uint32_t *outer, uint32_t n_outer);

/* Stages work on different iterations at the same time: what is live above them, and the largest room of each. */
static void pipeline_peak(room *r, const dfl_body *b, const uint32_t *live, uint32_t n_live)
{
    room alone = *r;
    dfl_span at = { 0, 0 }; /* of the stage that takes most */
    dfl_i128 most = 0;

    alone.best = -1;
    dfl_i128 sum = together(&alone, live, n_live);
    for (uint32_t c = 0; c < b->n_children; c++) {
        alone.best = 0;
        alone.at = (dfl_span){ 0, 0 };
        peak_of(&alone, b->children[c], NULL, 0);
        sum = add(&alone, sum, alone.best);
        at = alone.best > most ? alone.at : at;
        most = alone.best > most ? alone.best : most;
    }
    r->over |= alone.over;
    note_peak(r, sum, live, n_live, at);
}

/* Largest sum of live tiles in the memory while the body runs, on top of those already live outside of it. */
static void peak_of(room *r, const dfl_body *b, const uint32_t *outer, uint32_t n_outer)
{
    uint32_t n = b->kind == DFL_BODY_FUSE ? b->n_children : 1;
    uint32_t *live = DFL_NEW_ARRAY(r->set->arena, uint32_t, r->keeps->n + 1);

    for (uint32_t c = 0; c < n; c++) {
        uint32_t n_live = n_outer;
        if (n_outer > 0)
            memcpy(live, outer, n_outer * sizeof *live);
        for (uint32_t i = 0; i < r->keeps->n; i++) {
            const dfl_keep *k = &r->keeps->at[i];
            if (k->line->memory == r->memory && k->body == b && !always_live(r->set, k) &&
                (b->kind != DFL_BODY_FUSE || live_during(r->set, k, c)))
                live[n_live++] = i;
        }
        switch (b->kind) {
        case DFL_BODY_LEAF:
            note_peak(r, together(r, live, n_live), live, n_live, (dfl_span){ 0, 0 });
            break;
        case DFL_BODY_FUSE:
            peak_of(r, b->children[c], live, n_live);
            break;
        case DFL_BODY_PIPELINE:
            pipeline_peak(r, b, live, n_live);
            break;
        }
    }
}

/* Adds what is in the memory all the time; a tensor with homes in several branches is there once. */
static void at_home(room *r)
{
    for (uint32_t t = 0; t < r->set->w->n_tensors; t++) {
        dfl_i128 bits = 0;
        dfl_span home = { 0, 0 };
        for (uint32_t i = 0; i < r->keeps->n; i++) {
            const dfl_keep *k = &r->keeps->at[i];
            if (k->line->memory != r->memory || k->line->tensor != t || !always_live(r->set, k) || r->bits[i] < bits)
                continue;
            bits = r->bits[i];
            home = k->line->span;
        }
        r->at = r->at.end ? r->at : home;
        r->best = add(r, r->best, bits);
    }
}

static void too_full(dfl_setting *set, uint32_t memory, const dfl_memory_cost *cost)
{
    const dfl_memory *m = &set->s->memories[memory];
    char over[41], peak[41], size[41];
    dfl_i128 excess = cost->peak_bits - m->size_bits;
    bool bytes = excess % 8 == 0 && cost->peak_bits % 8 == 0 && m->size_bits % 8 == 0;

    dfl_i128_text(bytes ? excess / 8 : excess, over);
    dfl_i128_text(bytes ? cost->peak_bits / 8 : cost->peak_bits, peak);
    dfl_i128_text(bytes ? m->size_bits / 8 : m->size_bits, size);
    const char *name = dfl_sym_text(set->names, m->name), *unit = bytes ? "bytes" : "bits";
    dfl_diag *d = dfl_report(set->sink, DFL_MAP_CAPACITY, cost->peak_at, "memory `%s` is exceeded by %s %s", name, over, unit);
    dfl_diag_here(set->sink, d, "%s %s are live at this line", peak, unit);
    dfl_diag_label(set->sink, d, m->size_span, "`%s` holds %s %s", name, size, unit);
    dfl_diag_help(set->sink, d, "use smaller tiles above this line, keep less in `%s`, or give it more room", name);
}

/* Room of one keep in one instance; false on overflow. */
static bool keep_room(dfl_setting *set, const dfl_keep *k, dfl_i128 most, dfl_i128 *out)
{
    const dfl_tensor *t = &set->w->tensors[k->line->tensor];
    const dfl_memory *m = &set->s->memories[k->line->memory];
    dfl_i128 elements = most, instances = 1;
    bool over = dfl_element_instances(set->s, m->element, &instances);

    if (always_live(set, k) && instances == 1)
        over |= dfl_tensor_elements(t, &elements);
    over |= dfl_mul(elements, t->type.bits, out);
    if (k->parent != DFL_NONE)
        over |= dfl_mul(*out, m->buffers, out);
    return !over;
}

bool dfl_cost_room(dfl_setting *set, dfl_keeps *keeps, const dfl_traffic_sums *sums, dfl_memory_cost *memories,
                   dfl_i128 *keep_bits)
{
    bool fits = true, over = false;

    for (uint32_t i = 0; i < keeps->n; i++)
        over |= !keep_room(set, &keeps->at[i], sums->most[i], &keep_bits[i]);
    for (uint32_t m = 0; m < set->s->n_memories; m++) {
        room r = { .set = set, .keeps = keeps, .bits = keep_bits, .most = sums->most, .memory = m };
        peak_of(&r, set->m->root, NULL, 0);
        at_home(&r);
        memories[m].peak_bits = r.best;
        memories[m].peak_at = r.at;
        over |= r.over | dfl_element_instances(set->s, set->s->memories[m].element, &memories[m].instances);
        if (!over && set->s->memories[m].size_bits >= 0 && memories[m].peak_bits > set->s->memories[m].size_bits) {
            too_full(set, m, &memories[m]);
            fits = false;
        }
    }
    if (over && dfl_budget_ok(dfl_arena_budget(set->arena)) && !set->refused) {
        dfl_diag *d = dfl_report(set->sink, DFL_EVAL_OVERFLOW, set->m->span,
                                 "the room that this mapping takes passes 2^127 bits");
        dfl_diag_help(set->sink, d, "use smaller extents");
    }
    return fits && !over && !set->refused;
}
