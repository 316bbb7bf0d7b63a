/*
 * Random cases. Workload and system are drawn from families; the mapping is drawn top-down: first the tree of bodies,
 * then the lines of each body. The effect of a loop on the ranks of the einsums below comes from dfl_paths_resolve: the
 * case so far is completed with loops over single elements and resolved, which also tells whether the loop is legal at
 * its place.
 */
#include <stdlib.h>
#include <string.h>

#include "ir/path/path.h"
#include "tests/property/case.h"
#include "tests/property/case_random.h"

typedef struct {
    case_random rng;
    dfl_case *c;
    dfl_case *trial;
    dfl_arena *arena;
    bool again;                              /* much is recomputed: homes below loops, and few other keeps */
    int64_t left[CASE_EINSUMS][CASE_RANKS];  /* elements of a rank that the lines so far leave */
    int64_t parts[CASE_EINSUMS][CASE_AXES];  /* coordinates in use */
    int mem[CASE_BODIES][CASE_TENSORS];      /* memory of the innermost keep above the end of a body, or -1 */
} drawer;

static bool touches(const dfl_case *c, uint32_t e, uint32_t tensor)
{
    bool found = c->einsums[e].out.tensor == tensor;

    for (uint32_t i = 0; i < c->einsums[e].n_in; i++)
        found |= c->einsums[e].in[i].tensor == tensor;
    return found;
}

static bool within(const dfl_case *c, uint32_t inner, uint32_t outer)
{
    while (inner != outer && inner != DFL_NONE)
        inner = c->bodies[inner].parent;
    return inner == outer;
}

static uint32_t leaf_of(const dfl_case *c, uint32_t e)
{
    for (uint32_t b = 0; b < c->n_bodies; b++)
        if (c->bodies[b].kind == DFL_BODY_LEAF && c->bodies[b].einsum == e)
            return b;
    return 0;
}

static bool covers(const dfl_case *c, uint32_t body, uint32_t e) { return within(c, leaf_of(c, e), body); }

static bool body_touches(const dfl_case *c, uint32_t body, uint32_t tensor)
{
    for (uint32_t e = 0; e < c->n_einsums; e++)
        if (covers(c, body, e) && touches(c, e, tensor))
            return true;
    return false;
}

/* ---- asking the paths -------------------------------------------------------------------------------------------- */

/* Innermost body that contains all einsums with the tensor. */
static uint32_t common_body(const dfl_case *c, uint32_t tensor)
{
    uint32_t best = DFL_NONE;

    for (uint32_t e = 0; e < c->n_einsums; e++) {
        if (!touches(c, e, tensor))
            continue;
        if (best == DFL_NONE)
            best = leaf_of(c, e);
        while (!covers(c, best, e))
            best = c->bodies[best].parent;
    }
    return best == DFL_NONE ? 0 : best;
}

/* Completes a copy of the case: adds missing homes, and loops over single elements in every leaf. */
static void complete(drawer *d)
{
    dfl_case *t = d->trial;

    *t = *d->c;
    for (uint32_t x = 0; x < t->n_tensors; x++) {
        bool home = false;
        for (uint32_t b = 0; b < t->n_bodies; b++)
            for (uint32_t i = 0; i < t->bodies[b].n_lines; i++)
                home |= t->bodies[b].lines[i].kind == DFL_LINE_KEEP && t->bodies[b].lines[i].tensor == x;
        if (home)
            continue;
        case_body *body = &t->bodies[common_body(t, x)];
        memmove(body->lines + 1, body->lines, body->n_lines * sizeof *body->lines);
        body->lines[0] = (case_line){ .kind = DFL_LINE_KEEP, .tensor = x, .memory = 0 };
        body->n_lines++;
    }
    for (uint32_t e = 0; e < t->n_einsums; e++) {
        case_body *body = &t->bodies[leaf_of(t, e)];
        for (uint32_t r = 0; r < t->n_ranks; r++)
            if (case_has_rank(t, e, r) && !(t->einsums[e].whole && t->einsums[e].over == r))
                body->lines[body->n_lines++] = (case_line){ .kind = DFL_LINE_TEMPORAL, .rank = r, .by = DFL_BY_PARTS,
                                                            .amount = 1000000 };
    }
}

/* Whether the lines so far are legal; updates the elements that they leave of each rank. */
static bool probe(drawer *d)
{
    dfl_intern *names;
    bool ok;

    for (uint32_t b = 0; b < d->c->n_bodies; b++)
        if (d->c->bodies[b].n_lines + CASE_RANKS / 2 >= CASE_LINES)
            return false;
    complete(d);
    dfl_arena_reset(d->arena);
    names = dfl_intern_new(d->arena);
    const dfl_paths *paths = dfl_paths_resolve(d->arena, dfl_sink_new(d->arena, NULL), names,
                                               case_mapping(d->trial, d->arena, names));
    ok = paths != NULL;
    for (uint32_t e = 0; ok && e < d->c->n_einsums; e++) {
        const dfl_path *p = &paths->paths[e];
        for (uint32_t a = 0; a < d->c->n_axes; a++)
            d->parts[e][a] = 1;
        for (uint32_t i = 0; i < p->n_steps; i++) {
            const dfl_path_step *s = &p->steps[i];
            if (s->line->kind == DFL_LINE_KEEP || s->rank == DFL_NONE)
                continue;
            int64_t parts = (s->nominal + s->tile - 1) / s->tile;
            if (s->line->amount == 1000000)
                d->left[e][s->rank] = s->nominal;
            else if (s->line->kind == DFL_LINE_SPATIAL)
                d->parts[e][s->line->axis] *= s->line->by == DFL_BY_PARTS && s->line->amount > parts ? s->line->amount : parts;
        }
    }
    return ok;
}

/* Whether the whole case is legal. Late lines can leave more of a rank that was finished before. */
static bool whole(drawer *d)
{
    dfl_arena_reset(d->arena);
    dfl_intern *names = dfl_intern_new(d->arena);
    return dfl_paths_resolve(d->arena, dfl_sink_new(d->arena, NULL), names, case_mapping(d->c, d->arena, names)) != NULL;
}

/* Whether a loop over the rank would cut an operation that takes the rank whole. */
static bool cuts_whole(const dfl_case *c, uint32_t body, uint32_t rank)
{
    for (uint32_t e = 0; e < c->n_einsums; e++)
        if (c->einsums[e].whole && c->einsums[e].over == rank && covers(c, body, e))
            return true;
    return false;
}

/* Adds a line if the case stays legal with it. */
static bool try_line(drawer *d, uint32_t body, case_line line)
{
    case_body *b = &d->c->bodies[body];

    if (line.kind != DFL_LINE_KEEP && cuts_whole(d->c, body, line.rank))
        return false;
    b->lines[b->n_lines++] = line;
    if (probe(d))
        return true;
    b->n_lines--;
    return false;
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

/* Adds a keep if it may stand there. */
static bool add_keep(drawer *d, uint32_t body, case_line line)
{
    if (!try_line(d, body, line))
        return false;
    d->mem[body][line.tensor] = (int)line.memory;
    return true;
}

/* Draws a keep of a tensor that the body touches, in a memory further in than the last keep of the tensor. */
static bool draw_keep(drawer *d, uint32_t body, bool shared)
{
    dfl_case *c = d->c;
    uint32_t t = case_below(&d->rng, c->n_tensors);
    int first = d->mem[body][t] + 1;
    case_line line = { .kind = DFL_LINE_KEEP, .tensor = t };

    if (!body_touches(c, body, t) || first >= (int)c->n_memories)
        return false;
    if (d->again && shared && c->tensors[t].role == DFL_ROLE_INTERMEDIATE && first > 0)
        return false;
    line.memory = (uint32_t)first + case_below(&d->rng, c->n_memories - (uint32_t)first);
    if (shared && c->memories[line.memory].element > 0 && case_chance(&d->rng, 70))
        return false;
    if (c->tensors[t].role == DFL_ROLE_INPUT || c->tensors[t].role == DFL_ROLE_WEIGHT) {
        line.mode = case_chance(&d->rng, 8) ? DFL_KEEP_FRESH : case_chance(&d->rng, 8) ? DFL_KEEP_WINDOW : DFL_KEEP_EXACT;
    } else if (d->mem[body][t] >= 0) {
        line.mode = case_chance(&d->rng, 8) ? DFL_KEEP_FRESH : case_chance(&d->rng, 3) ? DFL_KEEP_WINDOW : DFL_KEEP_EXACT;
    } else if (c->tensors[t].role == DFL_ROLE_INTERMEDIATE) {
        /* a home: mostly outside the arrays */
        if (common_body(c, t) != body && !within(c, common_body(c, t), body))
            return false;
    }
    return add_keep(d, body, line);
}

/* Draws an amount: a tile of the remaining elements, or a number of parts. */
static case_line cut(drawer *d, uint32_t rank, int64_t left, dfl_line_kind kind)
{
    case_line line = { .kind = kind, .rank = rank, .by = DFL_BY_SIZE };

    line.amount = case_chance(&d->rng, 30) ? 1 : 1 + case_below(&d->rng, (uint32_t)left - 1);
    if (case_chance(&d->rng, 25) && left >= 2) {
        line.by = DFL_BY_PARTS;
        line.amount = 2 + case_below(&d->rng, (uint32_t)left - 1);
    }
    return line;
}

static bool draw_temporal(drawer *d, uint32_t body, uint32_t e)
{
    uint32_t r = case_below(&d->rng, d->c->n_ranks);
    const case_access *out = &d->c->einsums[e].out;
    case_line line;

    /* above a branch mostly ranks of the result, which cut what is read below into windows without gaps */
    if (d->c->bodies[body].kind != DFL_BODY_LEAF && d->c->tensors[out->tensor].n_dims > 0 && case_chance(&d->rng, 70))
        r = out->index[case_below(&d->rng, d->c->tensors[out->tensor].n_dims)].rank[0];
    if (!case_has_rank(d->c, e, r))
        return false;
    if (case_chance(&d->rng, 5)) /* one iteration */
        return try_line(d, body, (case_line){ .kind = DFL_LINE_TEMPORAL, .rank = r, .by = DFL_BY_SIZE,
                                              .amount = d->left[e][r] });
    if (d->left[e][r] < 2)
        return false;
    line = cut(d, r, d->left[e][r], DFL_LINE_TEMPORAL);
    if (try_line(d, body, line))
        return true;
    line.online = true;
    return d->c->bodies[body].kind != DFL_BODY_LEAF && case_chance(&d->rng, 95) && try_line(d, body, line);
}

static bool draw_spread(drawer *d, uint32_t body, uint32_t e, uint32_t r, uint32_t a)
{
    dfl_case *c = d->c;
    case_line line;
    int64_t room;

    room = c->axes[a].size / d->parts[e][a];
    if (!case_has_rank(c, e, r) || d->left[e][r] < 2 || room < 2)
        return false;
    line = (case_line){ .kind = DFL_LINE_SPATIAL, .rank = r, .axis = a, .by = DFL_BY_PARTS };
    int64_t most = room < d->left[e][r] ? room : d->left[e][r];
    line.amount = 2 + case_below(&d->rng, (uint32_t)most - 1);
    if (case_chance(&d->rng, 30)) {
        int64_t least = (d->left[e][r] + room - 1) / room;
        line.by = DFL_BY_SIZE;
        line.amount = least + case_below(&d->rng, (uint32_t)(d->left[e][r] - least) + 1);
    }
    if (c->bodies[body].kind != DFL_BODY_LEAF && case_chance(&d->rng, 25))
        line.only = 1u << e;
    return try_line(d, body, line);
}

static bool draw_spatial(drawer *d, uint32_t body, uint32_t e)
{
    uint32_t r = case_below(&d->rng, d->c->n_ranks);

    return d->c->n_axes > 0 && draw_spread(d, body, e, r, case_below(&d->rng, d->c->n_axes));
}

/* Fills the array: every axis, mostly with one rank that some tensor lacks. */
static void fill_axes(drawer *d, uint32_t body, uint32_t e)
{
    uint32_t last = DFL_NONE;

    for (uint32_t a = 0; a < d->c->n_axes; a++)
        for (uint32_t i = 0; i < 8; i++) {
            uint32_t r = last != DFL_NONE && i < 2 ? last : case_below(&d->rng, d->c->n_ranks);
            if (draw_spread(d, body, e, r, a)) {
                last = r;
                break;
            }
        }
}

/* A window that moves along a line of instances: neighbours hold what comes next. */
static void draw_systolic(drawer *d, uint32_t body, uint32_t e)
{
    dfl_case *c = d->c;
    uint32_t axis = DFL_NONE;

    for (uint32_t a = 0; a < c->n_axes; a++)
        axis = c->axes[a].forward ? a : axis;
    for (uint32_t i = 0; axis != DFL_NONE && i < c->einsums[e].n_in; i++) {
        const case_access *in = &c->einsums[e].in[i];
        for (uint32_t x = 0; x < c->tensors[in->tensor].n_dims; x++) {
            const case_index *index = &in->index[x];
            uint32_t slide = case_below(&d->rng, 2);
            if (index->n_terms != 2 || d->left[e][index->rank[0]] < 2 || d->left[e][index->rank[1]] < 2)
                continue;
            if (!draw_spread(d, body, e, index->rank[slide], axis) ||
                !try_line(d, body, cut(d, index->rank[1 - slide], d->left[e][index->rank[1 - slide]], DFL_LINE_TEMPORAL)))
                return;
            for (uint32_t m = 0; m < c->n_memories; m++)
                if (c->memories[m].element >= c->axes[axis].element && (int)m > d->mem[body][in->tensor] &&
                    add_keep(d, body, (case_line){ .kind = DFL_LINE_KEEP, .tensor = in->tensor, .memory = m }))
                    return;
        }
    }
}

/* Homes that must stand here, because a branch below parts the einsums that touch the tensor. */
static void draw_homes(drawer *d, uint32_t body, bool late)
{
    dfl_case *c = d->c;

    for (uint32_t t = 0; t < c->n_tensors; t++) {
        bool role = c->tensors[t].role == DFL_ROLE_INTERMEDIATE;
        case_line line = { .kind = DFL_LINE_KEEP, .tensor = t };
        if (d->mem[body][t] >= 0 || !body_touches(c, body, t))
            continue;
        if (role ? (!late && (d->again || case_chance(&d->rng, 60))) || (common_body(c, t) != body && case_chance(&d->rng, 70))
                 : !late && case_chance(&d->rng, 5))
            continue;
        if (role && !within(c, common_body(c, t), body))
            continue;
        if (role && case_chance(&d->rng, 60))
            line.memory = case_below(&d->rng, c->n_memories);
        if (role && common_body(c, t) != body && late)
            continue;
        if (add_keep(d, body, line))
            continue;
        line.memory = 0;
        add_keep(d, body, line);
    }
}

/* A rank of the einsum that the access lacks, or any. */
static uint32_t other_rank(drawer *d, uint32_t e, const case_access *than)
{
    const dfl_case *c = d->c;
    uint32_t r = case_below(&d->rng, c->n_ranks);

    for (uint32_t i = 0; i < c->n_ranks; i++, r = (r + 1) % c->n_ranks) {
        bool in = false;
        for (uint32_t x = 0; x < c->tensors[than->tensor].n_dims; x++)
            for (uint32_t t = 0; t < than->index[x].n_terms; t++)
                in |= than->index[x].rank[t] == r;
        if (!in && case_has_rank(c, e, r) && d->left[e][r] >= 2)
            break;
    }
    return r;
}

/* Draws loops that return to elements that a window read before: over its position, another rank, its taps, and its
   position again; and the home of the input of the window below these loops, so that some input is recomputed. */
static bool draw_return(drawer *d, uint32_t body, uint32_t e)
{
    dfl_case *c = d->c;

    for (uint32_t i = 0; i < c->einsums[e].n_in; i++) {
        const case_access *in = &c->einsums[e].in[i];
        for (uint32_t x = 0; x < c->tensors[in->tensor].n_dims; x++) {
            const case_index *index = &in->index[x];
            if (c->tensors[in->tensor].role != DFL_ROLE_INTERMEDIATE || index->n_terms < 2 || d->mem[body][in->tensor] >= 0)
                continue;
            uint32_t order[4] = { index->rank[0], other_rank(d, e, in), index->rank[1], index->rank[0] };
            for (uint32_t k = 0; k < 4; k++) {
                int64_t left = d->left[e][order[k]];
                if (case_chance(&d->rng, 5) || !case_has_rank(c, e, order[k]) || left < 2)
                    continue;
                case_line line = cut(d, order[k], left, DFL_LINE_TEMPORAL);
                /* often a last iteration of one element, which the next pass may start with */
                if (case_chance(&d->rng, 70)) {
                    line.by = DFL_BY_SIZE;
                    line.amount = k == 0 && left > 4 ? 3 + case_below(&d->rng, 2) : left - 1;
                }
                try_line(d, body, line);
            }
            return add_keep(d, body, (case_line){ .kind = DFL_LINE_KEEP, .tensor = in->tensor,
                                                  .memory = case_below(&d->rng, c->n_memories) });
        }
    }
    return false;
}

static void draw_branch_lines(drawer *d, uint32_t body)
{
    dfl_case *c = d->c;
    uint32_t tries = case_below(&d->rng, 7), wanted = case_below(&d->rng, 4);
    uint32_t mine[CASE_EINSUMS], n = 0;

    for (uint32_t e = 0; e < c->n_einsums; e++)
        if (covers(c, body, e))
            mine[n++] = e;
    bool returns = d->again && case_chance(&d->rng, 40) && draw_return(d, body, mine[n - 1]);
    for (uint32_t k = 0; d->again && !returns && k < 2; k++)
        for (uint32_t i = 0; i < 6 && !draw_temporal(d, body, mine[n - 1]); i++) { }
    for (uint32_t i = 0; i < tries && !(returns && case_chance(&d->rng, 75)); i++) {
        /* loops over ranks of the last einsum reach back to what it reads */
        uint32_t e = case_chance(&d->rng, 60) ? mine[n - 1] : mine[case_below(&d->rng, n)];
        if (wanted > 0 && case_chance(&d->rng, 65))
            wanted -= case_chance(&d->rng, 80) ? draw_temporal(d, body, e) : draw_spatial(d, body, e);
        else
            draw_keep(d, body, true);
    }
    draw_homes(d, body, true);
    for (uint32_t i = case_below(&d->rng, 4); i-- > 0;)
        draw_keep(d, body, true);
    for (uint32_t t = 0; t < c->n_tensors; t++)
        if (c->tensors[t].role == DFL_ROLE_INTERMEDIATE && body_touches(c, body, t) &&
            case_chance(&d->rng, d->again ? 92 : 22))
            c->bodies[body].recompute |= 1u << t;
}

static void draw_leaf_lines(drawer *d, uint32_t body)
{
    dfl_case *c = d->c;
    uint32_t e = c->bodies[body].einsum, tries = 4 + case_below(&d->rng, 14);

    draw_homes(d, body, true);
    /* arrays are worth filling: both axes, above most keeps */
    if (case_chance(&d->rng, 75))
        draw_systolic(d, body, e);
    if (case_chance(&d->rng, 75))
        fill_axes(d, body, e);
    for (uint32_t i = 0; i < tries; i++) {
        uint32_t what = case_below(&d->rng, 100);
        if (what < 45)
            draw_keep(d, body, false);
        else if (what < 75)
            draw_temporal(d, body, e);
        else
            draw_spatial(d, body, e);
    }
    /* finish what is left, in a random order */
    for (uint32_t open = 1; open > 0;) {
        uint32_t ranks[CASE_RANKS], r;
        open = 0;
        for (r = 0; r < c->n_ranks; r++)
            if (case_has_rank(c, e, r) && d->left[e][r] > 1 && !cuts_whole(c, body, r))
                ranks[open++] = r;
        if (open == 0)
            break;
        r = ranks[case_below(&d->rng, open)];
        if (!try_line(d, body, (case_line){ .kind = DFL_LINE_TEMPORAL, .rank = r, .by = DFL_BY_SIZE, .amount = 1 }))
            break;
        if (case_chance(&d->rng, 30))
            draw_keep(d, body, false);
    }
}

/* ---- the tree ---------------------------------------------------------------------------------------------------- */

/* Whether the stages of a pipeline can share an axis. */
static bool beside_each_other(const dfl_case *c, uint32_t n)
{
    bool room = false;

    for (uint32_t a = 0; a < c->n_axes; a++)
        room |= c->axes[a].size >= n;
    return room;
}

/* The unit of stage `k` of a pipeline; adds missing units, in the element of the first unit. */
static uint32_t unit_of_stage(dfl_case *c, uint32_t k)
{
    static const char *const names[CASE_UNITS] = { "mac", "alu", "vec" };

    while (c->n_units <= k)
        c->units[case_add_unit(c, names[c->n_units], c->units[0].element)].reuse = c->units[0].reuse;
    return k;
}

static void draw_tree(drawer *d, uint32_t body, uint32_t first, uint32_t n)
{
    dfl_case *c = d->c;
    uint32_t size[CASE_EINSUMS], n_children = 0;
    bool units = false;

    if (n == 1) {
        c->bodies[body].kind = DFL_BODY_LEAF;
        c->bodies[body].einsum = first;
        return;
    }
    for (uint32_t done = 0; done < n; done += size[n_children++]) {
        uint32_t most = n - done - (done == 0);
        size[n_children] = most > 1 && case_chance(&d->rng, 45) ? 1 + case_below(&d->rng, most) : 1;
    }
    c->bodies[body].kind = case_chance(&d->rng, 9) ? DFL_BODY_PIPELINE : DFL_BODY_FUSE;
    if (c->bodies[body].kind == DFL_BODY_PIPELINE && (!beside_each_other(c, n_children) || case_chance(&d->rng, 25))) {
        units = n_children <= CASE_UNITS && c->bodies[body].unit == DFL_NONE;
        if (!units && !beside_each_other(c, n_children))
            c->bodies[body].kind = DFL_BODY_FUSE;
    }
    for (uint32_t k = 0; k < n_children; first += size[k++]) {
        uint32_t child = c->n_bodies++;
        c->bodies[child] = (case_body){ .parent = body, .unit = units ? unit_of_stage(c, k) : c->bodies[body].unit };
        draw_tree(d, child, first, size[k]);
    }
}

static bool draw_mapping(drawer *d)
{
    dfl_case *c = d->c;

    c->n_bodies = 1;
    memset(c->bodies, 0, sizeof c->bodies);
    c->bodies[0] = (case_body){ .parent = DFL_NONE, .unit = DFL_NONE };
    d->again = c->n_einsums > 1 && case_chance(&d->rng, 55);
    draw_tree(d, 0, 0, c->n_einsums);
    if (!probe(d))
        return false;
    for (uint32_t b = 0; b < c->n_bodies; b++) {
        for (uint32_t t = 0; t < c->n_tensors; t++)
            d->mem[b][t] = b ? d->mem[c->bodies[b].parent][t] : -1;
        if (b == 0)
            draw_homes(d, b, false);
        if (c->bodies[b].kind == DFL_BODY_LEAF)
            draw_leaf_lines(d, b);
        else
            draw_branch_lines(d, b);
    }
    return whole(d);
}

/* Draws the rows of memories, after everything else. In an array the model counts only those of instances that are alike. */
static void draw_rows(drawer *d)
{
    static const int64_t rows[6] = { 20, 24, 24, 40, 64, 5 };

    for (uint32_t m = 0; m < d->c->n_memories; m++)
        if (case_chance(&d->rng, d->c->memories[m].element == 0 ? 60 : 8))
            d->c->memories[m].access = rows[case_below(&d->rng, 6)];
}

void case_draw(dfl_case *c, uint64_t seed, uint64_t index)
{
    drawer *d = calloc(1, sizeof *d);
    dfl_case *trial = calloc(1, sizeof *trial);

    if (!d || !trial)
        abort();
    d->rng = case_random_of(seed, index);
    d->c = c;
    d->trial = trial;
    d->arena = dfl_arena_new(NULL);
    do {
        case_init(c);
        case_draw_workload(&d->rng, c);
        case_draw_system(&d->rng, c);
    } while (!draw_mapping(d));
    draw_rows(d);
    dfl_arena_free(d->arena);
    free(trial);
    free(d);
}
