/* Liveness: the sets of tiles that are live at the same time. */
#include "model/cost/liveness.h"

#include <string.h>

#include "support/vec.h"

/* Live range of a keep. */
typedef struct {
    bool above_branch;    /* the keep stands directly above the branch of its brace, with no loop in between */
    uint32_t first, last; /* with `above_branch`: the first and the last child that touches the tensor */
    bool may_stay;        /* a loop stands above the keep, so that elements may stay when it advances */
} live_range;

/* Search for the live sets of one memory. */
typedef struct {
    dfl_nest *nest;
    const dfl_keep_tree *keeps;
    const live_range *ranges; /* [keep]: live range of the keep */
    uint32_t memory;
} liveness_search;

static bool is_interface_role(dfl_role r) { return r != DFL_ROLE_INTERMEDIATE; }

/* Tells whether a keep is a home of an input or output of the workload. Such a keep holds the whole tensor at all times. */
static bool is_always_live(const dfl_nest *nest, const dfl_keep *keep)
{
    return keep->parent == DFL_NONE && is_interface_role(nest->workload->tensors[keep->line->tensor].role);
}

/* Finds the first and the last child of a branch that touches the tensor of a keep directly above the branch. */
static void find_children(const dfl_keep *keep, const uint32_t *child_of, live_range *out)
{
    out->first = DFL_NONE;
    for (uint32_t v = 0; v < keep->footprint.n_references; v++) {
        uint32_t c = child_of[keep->footprint.references[v].einsum];

        out->first = c < out->first ? c : out->first;
        out->last = c > out->last ? c : out->last;
    }
}

/* Finds the live ranges of all keeps in a body. `looped`: a loop stands above the body. Returns true if a loop stands
   above the inner bodies. */
static bool find_ranges(const dfl_body *body, const dfl_keep_tree *keeps, bool looped, uint32_t *child_of, live_range *out)
{
    const dfl_line *loop = NULL, *last = NULL;

    for (uint32_t i = 0; i < body->n_lines; i++)
        if (body->lines[i].kind != DFL_LINE_KEEP) {
            last = &body->lines[i];
            loop = loop ? loop : last;
        }
    for (uint32_t c = 0; c < body->n_children; c++)
        for (uint32_t i = 0; i < body->children[c]->n_einsums; i++)
            child_of[body->children[c]->einsums[i]] = c;
    for (uint32_t i = keeps->first[body->id]; i < keeps->first[body->id + 1]; i++) {
        const dfl_keep *keep = &keeps->at[i];

        out[i].may_stay = looped || (loop && loop < keep->line);
        out[i].above_branch = body->kind == DFL_BODY_FUSE && (!last || last < keep->line);
        if (out[i].above_branch)
            find_children(keep, child_of, &out[i]);
    }
    return looped || loop;
}

static live_range *find_live_ranges(dfl_nest *nest, const dfl_keep_tree *keeps)
{
    live_range *ranges = DFL_NEW_ARRAY(nest->arena, live_range, keeps->n + 1);
    uint32_t *child_of = DFL_NEW_ARRAY(nest->arena, uint32_t, nest->workload->n_einsums + 1);
    bool *looped = DFL_NEW_ARRAY(nest->arena, bool, nest->mapping->n_bodies + 1);

    for (uint32_t i = 0; i < nest->mapping->n_bodies; i++) {
        const dfl_body *body = nest->mapping->bodies[i];

        looped[i] = find_ranges(body, keeps, body->parent && looped[body->parent->id], child_of, ranges);
    }
    return ranges;
}

/* Tells whether a keep directly above a branch is live while child `c` runs even if no element of it stays. */
static bool is_live_during(const live_range *r, uint32_t c)
{
    return r->first <= c && c <= r->last;
}

/* Adds a live set with a copy of `tiles`. */
static dfl_live_set *add_live(liveness_search *search, dfl_live_sets *out, const dfl_live_tile *tiles, uint32_t n)
{
    dfl_live_set live = { .tiles = DFL_NEW_ARRAY(search->nest->arena, dfl_live_tile, n + 1), .n = n };

    if (n > 0)
        memcpy(live.tiles, tiles, n * sizeof *tiles);
    DFL_PUSH(search->nest->arena, out, live);
    return &out->at[out->n - 1];
}

/* Adds to `live` the tiles of `own`, the keeps of a body, that are or may be live while child `c` of the body runs.
   Returns the new number of tiles. */
static uint32_t add_own(const liveness_search *search, const uint32_t *own, uint32_t n_own, uint32_t c, dfl_live_tile *live,
                        uint32_t n)
{
    for (uint32_t i = 0; i < n_own; i++) {
        const live_range *range = &search->ranges[own[i]];
        bool if_stays = range->above_branch && !is_live_during(range, c);

        if (!if_stays || range->may_stay)
            live[n++] = (dfl_live_tile){ own[i], if_stays };
    }
    return n;
}

/* Finds the live sets of a memory while a body runs. `outer`: the tiles that are live around the body. */
static void find_live(liveness_search *search, const dfl_body *body, const dfl_live_tile *outer, uint32_t n_outer,
                      dfl_live_sets *out)
{
    uint32_t n = body->kind == DFL_BODY_FUSE ? body->n_children : 1, n_own = 0;
    uint32_t from = search->keeps->first[body->id], to = search->keeps->first[body->id + 1];
    uint32_t *own = DFL_NEW_ARRAY(search->nest->arena, uint32_t, to - from + 1);

    for (uint32_t i = from; i < to; i++)
        if (search->keeps->at[i].line->memory == search->memory && !is_always_live(search->nest, &search->keeps->at[i]))
            own[n_own++] = i;
    dfl_live_tile *live = DFL_NEW_ARRAY(search->nest->arena, dfl_live_tile, n_outer + n_own + 1);
    if (n_outer > 0)
        memcpy(live, outer, n_outer * sizeof *live);
    for (uint32_t c = 0; c < n; c++) {
        uint32_t n_live = add_own(search, own, n_own, c, live, n_outer);
        switch (body->kind) {
        case DFL_BODY_LEAF:
            add_live(search, out, live, n_live);
            break;
        case DFL_BODY_FUSE:
            find_live(search, body->children[c], live, n_live, out);
            break;
        case DFL_BODY_PIPELINE: {
            dfl_live_sets *stages = DFL_NEW_ARRAY(search->nest->arena, dfl_live_sets, body->n_children + 1);
            dfl_live_set *above = add_live(search, out, live, n_live);
            above->stages = stages;
            above->n_stages = body->n_children;
            for (uint32_t i = 0; i < body->n_children; i++)
                find_live(search, body->children[i], NULL, 0, &stages[i]);
            break;
        }
        }
    }
}

/* Finds the keeps with a live range that depends on whether elements stay. */
static void find_unsure(const dfl_nest *nest, const dfl_keep_tree *keeps, const live_range *ranges, dfl_liveness *out)
{
    for (uint32_t i = 0; i < keeps->n; i++) {
        const dfl_keep *keep = &keeps->at[i];
        const live_range *r = &ranges[i];
        bool sure = !r->above_branch || !r->may_stay || (r->first == 0 && r->last + 1 == keep->body->n_children);

        if (!sure && !is_always_live(nest, keep))
            out->unsure[out->n_unsure++] = i;
    }
}

/* Collects the keeps of a memory that are always live, sorted by tensor. Returns their number. */
static uint32_t find_homes(const liveness_search *search, uint32_t *out)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < search->keeps->n; i++) {
        const dfl_keep *keep = &search->keeps->at[i];
        uint32_t at = n;
        if (keep->line->memory != search->memory || !is_always_live(search->nest, keep))
            continue;
        for (; at > 0 && search->keeps->at[out[at - 1]].line->tensor > keep->line->tensor; at--)
            out[at] = out[at - 1];
        out[at] = i;
        n++;
    }
    return n;
}

/* Adds up the homes of a memory if their bits do not depend on the sizes. */
static void find_lasting(const dfl_keep_tree *keeps, uint32_t m, dfl_liveness *out)
{
    const uint32_t *homes = out->homes[m];
    dfl_resident_bits *all = &out->lasting[m];

    for (uint32_t i = 0; i < out->n_homes[m]; i++)
        if (out->keeps[homes[i]].fixed < 0 || (i > 0 && keeps->at[homes[i]].line->tensor == keeps->at[homes[i - 1]].line->tensor))
            return;
    for (uint32_t i = 0; i < out->n_homes[m]; i++) {
        all->at = all->at.end ? all->at : keeps->at[homes[i]].line->span;
        out->over |= dfl_add(all->bits, out->keeps[homes[i]].fixed, &all->bits);
    }
    out->n_homes[m] = 0;
}

static void find_keep_bits(dfl_nest *nest, const dfl_keep *keep, dfl_keep_bits *out, bool *over)
{
    const dfl_tensor *t = &nest->workload->tensors[keep->line->tensor];
    const dfl_memory *m = &nest->system->memories[keep->line->memory];
    dfl_i128 instances = 1;
    uint64_t left = dfl_keep_tree_steps_around(nest, keep->footprint.einsum, keep->step, m->element);
    bool many = dfl_element_instances(nest->system, m->element, &instances);

    *over |= many;
    *out = (dfl_keep_bits){ .each = t->type.bits, .fixed = -1,
                            .spread = DFL_NEW_ARRAY(nest->arena, uint64_t, nest->system->n_axes + 1) };
    if (keep->parent != DFL_NONE)
        *over |= dfl_mul(out->each, m->buffers, &out->each);
    if (is_always_live(nest, keep) && instances == 1)
        *over |= dfl_tensor_stored(t, &out->fixed) || dfl_mul(out->fixed, out->each, &out->fixed);
    for (; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(left);
        out->spread[nest->paths->paths[keep->footprint.einsum].steps[i].line->axis] |= left & -left;
    }
}

void dfl_liveness_make(dfl_nest *nest, const dfl_keep_tree *keeps, dfl_liveness *out)
{
    uint32_t n = nest->system->n_memories;
    const live_range *ranges = find_live_ranges(nest, keeps);

    *out = (dfl_liveness){ .keeps = DFL_NEW_ARRAY(nest->arena, dfl_keep_bits, keeps->n + 1),
                           .live = DFL_NEW_ARRAY(nest->arena, dfl_live_sets, n + 1),
                           .unsure = DFL_NEW_ARRAY(nest->arena, uint32_t, keeps->n + 1),
                           .stays = DFL_NEW_ARRAY(nest->arena, bool, keeps->n + 1),
                           .homes = DFL_NEW_ARRAY(nest->arena, uint32_t *, n + 1),
                           .n_homes = DFL_NEW_ARRAY(nest->arena, uint32_t, n + 1),
                           .lasting = DFL_NEW_ARRAY(nest->arena, dfl_resident_bits, n + 1),
                           .instances = DFL_NEW_ARRAY(nest->arena, dfl_i128, n + 1) };
    for (uint32_t i = 0; i < keeps->n; i++)
        find_keep_bits(nest, &keeps->at[i], &out->keeps[i], &out->over);
    find_unsure(nest, keeps, ranges, out);
    for (uint32_t m = 0; m < n; m++) {
        liveness_search r = { .nest = nest, .keeps = keeps, .ranges = ranges, .memory = m };
        find_live(&r, nest->mapping->root, NULL, 0, &out->live[m]);
        out->homes[m] = DFL_NEW_ARRAY(nest->arena, uint32_t, keeps->n + 1);
        out->n_homes[m] = find_homes(&r, out->homes[m]);
        find_lasting(keeps, m, out);
        out->over |= dfl_element_instances(nest->system, nest->system->memories[m].element, &out->instances[m]);
    }
}

