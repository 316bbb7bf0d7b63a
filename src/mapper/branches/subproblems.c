/* The problems of the parts of a tree. */
#include <math.h>
#include <string.h>

#include "ir/mapping_open.h"
#include "mapper/branches/rebuild.h"
#include "mapper/problem/einsum_problem.h"
#include "mapper/problem/evaluate.h"
#include "mapper/skeleton/fixed_lines.h"
#include "model/model.h"
#include "support/vec.h"

typedef DFL_VEC(dfl_line) line_vec;

typedef struct {
    dfl_arena *arena;
    dfl_sink *sink;
    const dfl_intern *names;
    const dfl_paths *paths;                    /* of the bare mapping */
    dfl_branches *tree;
} maker;

static bool is_in(const dfl_branch_part *part, uint32_t einsum)
{
    for (uint32_t i = 0; i < part->n; i++)
        if (part->einsums[i] == einsum)
            return true;
    return false;
}

/* Those of the einsums that are in the part, by its numbers. */
static const uint32_t *those_in(dfl_arena *arena, const dfl_branch_part *part, const uint32_t *einsums, uint32_t *n)
{
    uint32_t *out = DFL_NEW_ARRAY(arena, uint32_t, (size_t)part->n + 1), count = 0;

    for (uint32_t i = 0; i < part->n; i++)
        for (uint32_t k = 0; k < *n; k++)
            if (part->einsums[i] == einsums[k])
                out[count++] = i;
    *n = count;
    return out;
}

/* With `alone` what is made or read elsewhere comes from outside or goes there. */
static dfl_workload *workload_of(const maker *k, const dfl_branch_part *part, bool alone)
{
    const dfl_workload *given = k->tree->m->workload;
    dfl_workload *w = DFL_NEW(k->arena, dfl_workload);
    dfl_einsum *einsums = DFL_NEW_ARRAY(k->arena, dfl_einsum, (size_t)part->n + 1);
    dfl_tensor *tensors = DFL_NEW_ARRAY(k->arena, dfl_tensor, (size_t)given->n_tensors + 1);

    *w = *given;
    for (uint32_t i = 0; i < part->n; i++)
        einsums[i] = given->einsums[part->einsums[i]];
    for (uint32_t t = 0; t < given->n_tensors; t++) {
        tensors[t] = given->tensors[t];
        tensors[t].producers = those_in(k->arena, part, tensors[t].producers, &tensors[t].n_producers);
        tensors[t].consumers = those_in(k->arena, part, tensors[t].consumers, &tensors[t].n_consumers);
        if (alone && tensors[t].role == DFL_ROLE_INTERMEDIATE && tensors[t].n_producers == 0)
            tensors[t].role = DFL_ROLE_INPUT;
        if (alone && tensors[t].role == DFL_ROLE_INTERMEDIATE && tensors[t].n_consumers == 0)
            tensors[t].role = DFL_ROLE_OUTPUT;
    }
    w->einsums = einsums;
    w->n_einsums = part->n;
    w->tensors = tensors;
    return w;
}

static bool touches(const dfl_branch_part *part, const dfl_workload *w, uint32_t tensor)
{
    for (uint32_t i = 0; i < part->n; i++)
        if (dfl_einsum_touches(&w->einsums[part->einsums[i]], tensor))
            return true;
    return false;
}

/* Where the tensor is kept above the lines of the part. */
static uint32_t home_above(const dfl_branch_part *part, uint32_t tensor)
{
    return dfl_body_home(part->braced ? part->at->parent : part->at, tensor);
}

static dfl_line keep_line(const dfl_branch_part *part, uint32_t tensor, uint32_t memory)
{
    return (dfl_line){ .kind = DFL_LINE_KEEP, .tensor = tensor, .memory = memory, .span = part->at->span,
                       .amount_span = part->at->span };
}

/* The homes above the part; with `all` those that it has to find, too, in the outermost memory. */
static void add_homes(const maker *k, const dfl_branch_part *part, bool all, line_vec *out)
{
    const dfl_mapping *m = k->tree->m;

    for (uint32_t t = 0; t < m->workload->n_tensors; t++) {
        uint32_t home = touches(part, m->workload, t) ? home_above(part, t) : DFL_NONE;
        if (home == DFL_NONE && all && touches(part, m->workload, t))
            home = dfl_space_outermost(m, t);
        if (home != DFL_NONE)
            DFL_PUSH(k->arena, out, keep_line(part, t, home));
    }
}

/* The step of a line on the way to an einsum, or NULL. */
static const dfl_path_step *step_of(const maker *k, uint32_t einsum, const dfl_line *line)
{
    const dfl_path *p = &k->paths->paths[einsum];

    for (uint32_t i = 0; i < p->n_steps; i++)
        if (p->steps[i].line == line)
            return &p->steps[i];
    return NULL;
}

typedef enum { GOES_ALONG, IS_FREE, GOES_OTHERWISE } way_of_loop;

/* A loop over a rank that the einsum has not: it goes along the rank of the same dimension of what it makes, if all that read it
   index this by nothing else; or it selects no part of that, and the einsum runs in its first iteration (free). */
static way_of_loop follow_readers(const maker *k, const dfl_path *p, const dfl_path_step *s, uint32_t *rank, int64_t *tile)
{
    const dfl_workload *w = k->tree->m->workload;
    const dfl_access *made = &w->einsums[p->einsum].output;
    uint32_t dimension = DFL_NONE, n_free = 0;

    if (!p->has_exchange || p->exchange.n_consumers != w->tensors[made->tensor].n_consumers)
        return GOES_OTHERWISE;
    for (uint32_t c = 0; c < p->exchange.n_consumers; c++) {
        const dfl_einsum *e = &w->einsums[p->exchange.consumers[c]];
        const dfl_path_step *other = step_of(k, p->exchange.consumers[c], s->line);
        bool selects = false;
        if (other == NULL || other->rank == DFL_NONE)
            return GOES_OTHERWISE;
        for (uint32_t i = 0; i < e->n_inputs; i++)
            for (uint32_t d = 0; d < e->inputs[i].n_dims && e->inputs[i].tensor == made->tensor; d++)
                for (uint32_t t = 0; t < e->inputs[i].index[d].n_terms; t++) {
                    uint32_t own;
                    if (e->inputs[i].index[d].terms[t].rank != other->rank)
                        continue;
                    if (!dfl_index_is_bare(&e->inputs[i].index[d], &own) || (dimension != DFL_NONE && d != dimension))
                        return GOES_OTHERWISE;
                    selects = true;
                    dimension = d;
                    *tile = other->tile;
                    if (!dfl_index_is_bare(&made->index[d], rank) || w->ranks[*rank].extent != w->ranks[own].extent)
                        return GOES_OTHERWISE;
                }
        n_free += !selects;
    }
    return n_free == 0 ? GOES_ALONG : n_free == p->exchange.n_consumers ? IS_FREE : GOES_OTHERWISE;
}

/* Whether the loop has more than one iteration for some einsum. */
static bool iterates(const maker *k, const dfl_line *line)
{
    for (uint32_t e = 0; e < k->tree->m->workload->n_einsums; e++) {
        const dfl_path_step *s = step_of(k, e, line);
        if (s != NULL && s->rank != DFL_NONE && s->tile < s->nominal)
            return true;
    }
    return false;
}

/* Loops above the lines of an einsum, over its ranks. */
static dfl_branches_state add_loops(const maker *k, uint32_t einsum, line_vec *out)
{
    const dfl_path *p = &k->paths->paths[einsum];
    const dfl_mapping *m = k->tree->m;
    int64_t *left = DFL_NEW_ARRAY(k->arena, int64_t, (size_t)m->workload->n_ranks + 1);

    for (uint32_t r = 0; r < m->workload->n_ranks; r++)
        left[r] = m->workload->ranks[r].extent;
    for (uint32_t i = 0; i < p->n_steps; i++) {
        const dfl_path_step *s = &p->steps[i];
        way_of_loop way = GOES_ALONG;
        dfl_line line = *s->line;
        if (s->body == p->leaf || s->line->kind == DFL_LINE_KEEP || !iterates(k, s->line))
            continue;
        line.rank = s->rank;
        line.amount = s->tile;
        if (s->rank == DFL_NONE)
            way = follow_readers(k, p, s, &line.rank, &line.amount);
        if (way == GOES_OTHERWISE) {
            dfl_fixed_lines_refuse(k->sink, k->names, m, s->line->span, "an open einsum below has no rank that follows this loop",
                                   "write all lines of the einsums that follow the loop only through their readers");
            return DFL_TREE_REFUSED;
        }
        if (way == IS_FREE || line.amount >= left[line.rank])
            continue;
        if (left[line.rank] % line.amount != 0 && s->line->hole != NULL)
            return DFL_TREE_ILLEGAL;
        if (left[line.rank] % line.amount != 0) {
            dfl_fixed_lines_refuse(k->sink, k->names, m, s->line->amount_span, "this tile size does not divide the rank",
                                   "a loop above open braces needs tiles that divide; write another size");
            return DFL_TREE_REFUSED;
        }
        left[line.rank] = line.amount;
        line.by = DFL_BY_SIZE;
        line.hole = NULL;
        line.online = false;
        DFL_PUSH(k->arena, out, line);
    }
    return DFL_TREE_FINE;
}

/* Whether a rank indexes the result of an einsum, and nothing that it touches by a window. */
static bool is_plain(const dfl_einsum *e, uint32_t rank)
{
    bool made = false;

    for (uint32_t i = 0; i <= e->n_inputs; i++) {
        const dfl_access *a = i < e->n_inputs ? &e->inputs[i] : &e->output;
        for (uint32_t d = 0; d < a->n_dims; d++)
            for (uint32_t t = 0; t < a->index[d].n_terms; t++) {
                uint32_t own;
                if (a->index[d].terms[t].rank != rank)
                    continue;
                if (!dfl_index_is_bare(&a->index[d], &own))
                    return false;
                made |= i == e->n_inputs;
            }
    }
    return made;
}

/* The workload of one iteration of the loops above several einsums, which are told for the first of them; `*times` is their
   number. */
static dfl_branches_state shorten(const maker *k, const dfl_branch_part *part, dfl_workload *w, line_vec *loops, double *times)
{
    dfl_rank *ranks = DFL_NEW_ARRAY(k->arena, dfl_rank, (size_t)w->n_ranks + 1);
    bool same = true;

    *times = 1;
    memcpy(ranks, w->ranks, w->n_ranks * sizeof *ranks);
    for (uint32_t i = 0; i < part->n && same; i++) {
        line_vec own = { .n = 0 }, *all = i == 0 ? loops : &own;
        dfl_branches_state state = add_loops(k, part->einsums[i], all);
        if (state != DFL_TREE_FINE)
            return state;
        same = all->n == loops->n;
        for (size_t l = 0; l < all->n && same; l++) {
            dfl_rank *r = &ranks[all->at[l].rank];
            same = all->at[l].span.start == loops->at[l].span.start && is_plain(&w->einsums[i], all->at[l].rank);
            if (i == 0)
                *times *= (double)(r->extent / all->at[l].amount);
            r->extent = all->at[l].amount;
        }
    }
    if (!same) {
        dfl_fixed_lines_refuse(k->sink, k->names, k->tree->m, loops->n > 0 ? loops->at[0].span : part->at->open_span,
                               "two iterations of the loops above produce common elements",
                               "give each einsum its braces: `fuse { A { ...; } B { ...; } }`");
        return DFL_TREE_REFUSED;
    }
    w->ranks = ranks;
    return DFL_TREE_FINE;
}

/* Energy of the bare part, without leakage; false if the model does not take it. */
static bool bare_joules(const maker *k, const dfl_branch_part *part, const line_vec *loops, double *joules)
{
    dfl_mapping m = *k->tree->m;
    line_vec lines = { .n = 0 };
    const dfl_result *r;

    m.workload = workload_of(k, part, true);
    m.system = dfl_system_endless(k->arena, m.system, true);
    add_homes(k, part, true, &lines);
    for (size_t i = 0; i < loops->n; i++)
        DFL_PUSH(k->arena, &lines, loops->at[i]);
    r = dfl_mapping_costs(k->arena, k->names, dfl_branches_bare_part(k->arena, &m, part->at, lines.at, (uint32_t)lines.n));
    if (r != NULL)
        *joules = r->joules - r->leakage_joules;
    return r != NULL;
}

/* Bits of the shapes of tensors that the search of a part takes to be in a memory all the time. */
static bool settled_bits(const maker *k, const dfl_branch_part *part, const dfl_workload *w, uint32_t memory, dfl_i128 *out)
{
    *out = 0;
    for (uint32_t t = 0; t < w->n_tensors; t++) {
        const dfl_tensor *tensor = &w->tensors[t];
        bool exchanged = tensor->role == DFL_ROLE_INTERMEDIATE && tensor->n_producers > 0 && tensor->n_consumers > 0;
        uint32_t home = home_above(part, t);
        dfl_i128 n = 0;
        if (tensor->n_producers + tensor->n_consumers == 0 || exchanged)
            continue;
        if (home == DFL_NONE)
            home = dfl_space_outermost(k->tree->m, t);
        if (home == memory && (dfl_tensor_stored(tensor, &n) || dfl_mul(n, tensor->type.bits, &n) || dfl_add(*out, n, out)))
            return false;
    }
    return true;
}

/* What the part can take of a memory at most; true on overflow. */
static bool most_bits(const maker *k, const dfl_branch_part *part, const dfl_workload *w, uint32_t memory, dfl_i128 *out)
{
    bool over = false;

    *out = 0;
    for (uint32_t t = 0; t < w->n_tensors; t++) {
        dfl_i128 n = 0;
        if (!touches(part, k->tree->m->workload, t))
            continue;
        over |= dfl_tensor_stored(&w->tensors[t], &n) || dfl_mul(n, w->tensors[t].type.bits, &n) ||
                dfl_mul(n, k->tree->m->system->memories[memory].buffers, &n) || dfl_add(*out, n, out);
    }
    return over;
}

/* What is live around the einsums of a part, the most of it; false if that is not known, or not the same for all of them where
   it counts. */
static bool room_around(const maker *k, const dfl_branch_part *part, const dfl_workload *w, dfl_model *bare, uint32_t memory,
                        const bool *own, dfl_i128 *out)
{
    dfl_i128 around = 0, least = 0, most = 0;

    *out = 0;
    for (uint32_t e = 0; e < part->n; e++) {
        if (!dfl_model_occupancy(bare, memory, part->leaf + e, own, &around))
            return false;
        *out = e == 0 || around > *out ? around : *out;
        least = e == 0 || around < least ? around : least;
    }
    return least == *out || (!most_bits(k, part, w, memory, &most) && !dfl_add(most, *out, &most) &&
                             most <= k->tree->m->system->memories[memory].size_bits);
}

/* The system with the room that is left for the part; NULL if that is not the same for all its einsums, or not known. */
static const dfl_system *system_of(const maker *k, const dfl_branch_part *part, const dfl_workload *w, dfl_model *bare,
                                   bool *full)
{
    const dfl_system *given = k->tree->m->system;
    dfl_system *s = DFL_NEW(k->arena, dfl_system);
    dfl_memory *memories = DFL_NEW_ARRAY(k->arena, dfl_memory, (size_t)given->n_memories + 1);
    bool *own = DFL_NEW_ARRAY(k->arena, bool, (size_t)w->n_tensors + 1);

    *s = *given;
    memcpy(memories, given->memories, given->n_memories * sizeof *memories);
    s->memories = memories;
    for (uint32_t t = 0; t < w->n_tensors; t++)
        own[t] = w->tensors[t].role == DFL_ROLE_INTERMEDIATE && w->tensors[t].n_producers > 0 && w->tensors[t].n_consumers > 0;
    for (uint32_t i = 0; i < s->n_memories; i++) {
        dfl_i128 around = 0, settled = 0;
        if (memories[i].size_bits < 0)
            continue;
        if (!room_around(k, part, w, bare, i, own, &around) || !settled_bits(k, part, w, i, &settled))
            return NULL;
        *full |= around > memories[i].size_bits;
        settled += (dfl_i128)memories[i].size_bits - around;
        memories[i].size_bits = settled > INT64_MAX ? -1 : settled < 0 ? 0 : (int64_t)settled;
    }
    return s;
}

static dfl_branches_state refuse(const maker *k, const dfl_branch_part *part)
{
    dfl_fixed_lines_refuse(k->sink, k->names, k->tree->m, part->n > 1 ? part->at->open_span : part->at->span,
                           part->n > 1 ? "a tensor kept above is live during some of these einsums only"
                                 : "these braces are not searched by themselves",
                     part->n > 1 ? "give each einsum its braces: `fuse { A { ...; } B { ...; } }`" : "write all lines");
    return DFL_TREE_REFUSED;
}

/* What is searched for a part, and its share of the energy of the bare mapping. */
static dfl_branches_state make_problem(maker *k, dfl_branch_part *part, dfl_model *bare)
{
    dfl_branches_state state;
    bool full = false;
    dfl_mapping *m = DFL_NEW(k->arena, dfl_mapping);
    dfl_body *root = DFL_NEW(k->arena, dfl_body), *leaf = NULL;
    uint32_t *all = DFL_NEW_ARRAY(k->arena, uint32_t, (size_t)part->n + 1);
    line_vec lines = { .n = 0 }, loops = { .n = 0 };
    dfl_workload *w = workload_of(k, part, false);
    double joules;

    part->times = 1;
    state = part->n == 1 ? add_loops(k, part->einsums[0], &loops) : shorten(k, part, w, &loops, &part->times);
    if (state != DFL_TREE_FINE)
        return state;
    if (!bare_joules(k, part, &loops, &joules))
        return refuse(k, part);
    k->tree->joules -= joules;
    for (uint32_t i = 0; i < part->n; i++)
        all[i] = i;
    *m = *k->tree->m;
    m->has_holes = true;
    m->workload = w;
    m->system = system_of(k, part, m->workload, bare, &full);
    if (m->system == NULL)
        return refuse(k, part);
    add_homes(k, part, false, &lines);
    part->n_above = (uint32_t)lines.n;
    for (size_t i = 0; i < loops.n && part->n == 1; i++)
        DFL_PUSH(k->arena, &lines, loops.at[i]);
    *root = (dfl_body){ .span = part->at->span, .einsums = all, .n_einsums = part->n, .compute = part->at->compute,
                        .compute_span = part->at->compute_span, .open_span = part->at->open_span };
    if (loops.n > 0 && part->n == 1) {
        leaf = DFL_NEW(k->arena, dfl_body);
        *leaf = *part->at;
        leaf->einsums = all;
        leaf->parent = root;
        leaf->depth = leaf->id = 1;
        root->kind = DFL_BODY_FUSE;
        root->children = DFL_NEW_ARRAY(k->arena, dfl_body *, 1);
        root->children[root->n_children++] = leaf;
    } else if (part->braced) {
        dfl_open *opens = DFL_NEW_ARRAY(k->arena, dfl_open, (size_t)part->at->n_opens + 1);
        for (uint32_t i = 0; i < part->at->n_lines; i++)
            DFL_PUSH(k->arena, &lines, part->at->lines[i]);
        for (uint32_t i = 0; i < part->at->n_opens; i++)
            opens[i] = (dfl_open){ part->at->opens[i].at + part->n_above, part->at->opens[i].span };
        root->open = part->at->open;
        root->opens = opens;
        root->n_opens = part->at->n_opens;
    }
    root->lines = lines.at;
    root->n_lines = (uint32_t)lines.n;
    if (!part->braced)
        dfl_body_open_end(k->arena, root);
    m->root = root;
    m->n_bodies = leaf != NULL ? 2 : 1;
    dfl_body **bodies = DFL_NEW_ARRAY(k->arena, dfl_body *, 2);
    bodies[0] = root;
    bodies[1] = leaf;
    m->bodies = bodies;
    part->problem = m;
    return full ? DFL_TREE_FULL : DFL_TREE_FINE;
}

/* Adds the homes that parts have to find. */
static void add_missing_homes(const maker *k, dfl_mapping *bare)
{
    line_vec lines = { .n = 0 };
    bool *done = DFL_NEW_ARRAY(k->arena, bool, (size_t)bare->workload->n_tensors + 1);

    for (uint32_t p = 0; p < k->tree->n; p++)
        for (uint32_t t = 0; t < bare->workload->n_tensors; t++)
            if (touches(&k->tree->parts[p], bare->workload, t) && home_above(&k->tree->parts[p], t) == DFL_NONE && !done[t]) {
                done[t] = true;
                DFL_PUSH(k->arena, &lines, keep_line(&k->tree->parts[p], t, dfl_space_outermost(bare, t)));
            }
    for (uint32_t i = 0; i < bare->root->n_lines; i++)
        DFL_PUSH(k->arena, &lines, bare->root->lines[i]);
    bare->root->lines = lines.at;
    bare->root->n_lines = (uint32_t)lines.n;
}

/* The paths of the bare mapping, and its costs without limits. */
static dfl_model *evaluate(maker *k, const dfl_mapping *bare, dfl_sink *sink, const dfl_result **costs)
{
    const dfl_paths *paths = dfl_paths_resolve(k->arena, sink, k->names, bare);
    dfl_model *model = paths ? dfl_model_prepare(k->arena, sink, k->names, paths) : NULL;

    *costs = model ? dfl_model_run(model, k->arena) : NULL;
    k->paths = paths;
    return *costs ? model : NULL;
}

/* Whether there is room while the written braces run. */
static bool has_room(const maker *k, dfl_model *bare)
{
    const dfl_system *s = k->tree->m->system;
    bool *none = DFL_NEW_ARRAY(k->arena, bool, (size_t)k->tree->m->workload->n_tensors + 1);

    for (uint32_t leaf = 0; leaf < k->tree->m->workload->n_einsums; leaf++) {
        bool open = false;
        for (uint32_t p = 0; p < k->tree->n; p++)
            open |= leaf >= k->tree->parts[p].leaf && leaf < k->tree->parts[p].leaf + k->tree->parts[p].n;
        for (uint32_t m = 0; m < s->n_memories && !open; m++) {
            dfl_i128 bits = 0;
            if (s->memories[m].size_bits >= 0 &&
                dfl_model_occupancy(bare, m, leaf, none, &bits) && bits > s->memories[m].size_bits)
                return false;
        }
    }
    return true;
}

dfl_branches_state dfl_branches_make(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m,
                                     dfl_branches *out)
{
    maker k = { .arena = arena, .sink = sink, .names = names, .tree = out };
    dfl_mapping *bare;
    const dfl_result *costs;
    dfl_model *model;
    dfl_branches_state state = DFL_TREE_FINE;

    *out = (dfl_branches){ .m = m };
    out->bare = bare = dfl_branches_bare(arena, m, &out->parts, &out->n);
    bare->system = dfl_system_endless(arena, m->system, true);
    add_missing_homes(&k, bare);
    model = evaluate(&k, bare, dfl_sink_quiet(arena), &costs);
    if (model == NULL) {
        (void)evaluate(&k, bare, sink, &costs);
        return DFL_TREE_ILLEGAL;
    }
    out->joules = costs->joules - costs->leakage_joules;
    for (uint32_t e = 0; e < m->workload->n_einsums; e++) {
        bool open = false;
        for (uint32_t p = 0; p < out->n; p++)
            open |= is_in(&out->parts[p], e);
        out->seconds += open ? 0 : costs->einsums[e].seconds;
    }
    for (uint32_t p = 0; p < out->n && state == DFL_TREE_FINE; p++)
        state = make_problem(&k, &out->parts[p], model);
    out->joules += dfl_system_leakage(m->system) * out->seconds;
    return state == DFL_TREE_FINE && !has_room(&k, model) ? DFL_TREE_FULL : state;
}
