#include "mapper/join/matched_tiles.h"

#include <math.h>
#include <string.h>

#include "mapper/join/exchange_sums.h"
#include "mapper/join/pattern_ranges.h"
#include "mapper/problem/limits.h"
#include "mapper/program/exponential.h"

/* The least share of a memory for which a leaf is split by held room (B62). Splits for less raise the bound by little. */
#define DFL_MATCH_HELD_ROOM 0.0625

/* The least share of the sum from which on a tensor counts in full where leaves are split (find_worth). */
#define DFL_MATCH_SHARE 0.0625
/* The share of the sum below which an einsum costs next to nothing there (find_weight). */
#define DFL_MATCH_SMALL 0.005

/* A side of an exchange: the producer of the tensor, or its only reader. */
enum { MAKER, READER, SIDES };

/* A memory of a tensor, ranges of its tile there, and of the bits that held keeps of one side take there while the other runs
   (B62). */
typedef struct {
    uint32_t memory;
    int64_t low[DFL_PROBLEM_DIMS], high[DFL_PROBLEM_DIMS];
    double least_held[SIDES], most_held[SIDES];
} leaf;

/* A pattern with a leaf for each operand that is exchanged. */
typedef struct {
    dfl_exchange_choice sum;          /* ways are leaves */
    uint32_t pattern;
    bool is_bounded;                  /* the value is at least the bound of the pattern; else it is one whatever the room */
    bool is_known;                    /* the value is that of these leaves, else of larger ones; `point` has this value */
    dfl_exchanged_point point, last;  /* `last` has the last value found, with less room or without */
    const double *harmless;           /* bits by memory that others may take for the same value, about; NULL = not known */
} choice;

typedef DFL_VEC(leaf) leaf_list;
typedef DFL_VEC(choice) choice_list;

struct dfl_matched_tiles {
    dfl_arena *arena, *scratch, *work; /* owned; `scratch` is that of bounds, `work` is reset in each round */
    const dfl_einsum_classes *classes;
    dfl_deadline *deadline;
    dfl_pattern_bounds **bounds;      /* by class */
    leaf_list *leaves;                /* by tensor */
    choice_list *choices;             /* by einsum */
    dfl_exchange_step *steps;
    uint32_t *ways, *path;
    double ratio;                     /* a leaf is split if the logarithm of its largest tile over its least is above it */
    bool is_weighed;                  /* that logarithm counts times the worth of the tensor (find_worth), until no leaf is left
                                         to split; then that of all tensors counts in full */
    double bound;
};

static const dfl_problem *problem_of(const dfl_matched_tiles *m, uint32_t e) { return m->classes->problems[e].at[0]; }

static const dfl_einsum_class *class_of(const dfl_matched_tiles *m, uint32_t e)
{
    return &m->classes->at.at[m->classes->of[e]];
}

static uint32_t find_leaf(dfl_matched_tiles *m, uint32_t tensor, uint32_t memory)
{
    leaf_list *of = &m->leaves[tensor];
    leaf all = { .memory = memory, .most_held = { INFINITY, INFINITY } };
    uint32_t i = 0;

    while (i < of->n && of->at[i].memory != memory)
        i++;
    for (uint32_t d = 0; d < DFL_PROBLEM_DIMS; d++) {
        all.low[d] = 1;
        all.high[d] = INT64_MAX;
    }
    if (i == of->n)
        DFL_PUSH(m->arena, of, all);
    return i;
}

/* The choices of an einsum: its patterns with all tiles. */
static void add_choices(dfl_matched_tiles *m, uint32_t e, bool has_energy)
{
    const dfl_einsum_class *class = class_of(m, e);
    const dfl_problem *problem = problem_of(m, e);

    for (uint32_t p = 0; p < class->patterns.n; p++) {
        choice c = { .pattern = p, .sum.value = dfl_pattern_bounds_roomy(m->bounds[m->classes->of[e]], p) };
        for (uint32_t o = 0; o < problem->n_operands; o++) {
            if (dfl_problem_exchanged(&problem->operand[o]))
                c.sum.way[o] = find_leaf(m, problem->operand[o].tensor, class->patterns.at[p].memory[o]);
            c.sum.fetch[o] = has_energy ? class->patterns.at[p].fetch[o] : 0;
        }
        DFL_PUSH(m->arena, &m->choices[e], c);
    }
}

/* Mask of the operands of an einsum whose tensors neither another einsum nor another operand reads. */
static uint32_t find_alone(const dfl_workload *w, const dfl_problem *problem)
{
    uint32_t alone = 0;

    for (uint32_t o = 0; o < problem->n_operands; o++) {
        bool is_alone = w->tensors[problem->operand[o].tensor].n_consumers == 1;
        for (uint32_t i = 0; i < problem->n_operands; i++)
            is_alone &= i == o || problem->operand[i].tensor != problem->operand[o].tensor;
        alone |= is_alone ? 1u << o : 0;
    }
    return alone;
}

/* Has einsums see the room of held keeps at the other side of their exchanges, where these serve one operand alone (B62). With
   windows, or where a repeat carries a tensor, none do. */
static void limit_keeps(dfl_matched_tiles *m)
{
    const dfl_workload *w = m->classes->m->workload;

    for (uint32_t c = 0; c < m->classes->at.n; c++) {
        uint32_t alone = dfl_einsum_classes_windows(m->classes) || w->n_carries > 0 ? 0 : ~0u;
        for (uint32_t e = 0; e < m->classes->n; e++)
            alone &= m->classes->of[e] == c ? find_alone(w, problem_of(m, e)) : ~0u;
        dfl_pattern_bounds_limit_keeps(m->bounds[c], alone);
    }
}

dfl_matched_tiles *dfl_matched_tiles_new(dfl_arena *parent, const dfl_einsum_classes *classes, const dfl_objective *line,
                                         dfl_deadline *deadline, uint64_t *programs)
{
    dfl_arena *arena = dfl_arena_new(dfl_arena_budget(parent));
    dfl_matched_tiles *m = DFL_NEW(arena, dfl_matched_tiles);
    const uint32_t n_tensors = classes->m->workload->n_tensors;

    *m = (dfl_matched_tiles){ .arena = arena, .scratch = dfl_arena_new(NULL), .work = dfl_arena_new(NULL), .classes = classes,
                              .deadline = deadline, .ratio = DFL_MATCH_COARSE, .is_weighed = true };
    m->bounds = DFL_NEW_ARRAY(arena, dfl_pattern_bounds *, classes->at.n + 1);
    m->leaves = dfl_arena_alloc(arena, (size_t)n_tensors + 1, sizeof *m->leaves, _Alignof(leaf_list));
    m->choices = dfl_arena_alloc(arena, (size_t)classes->n + 1, sizeof *m->choices, _Alignof(choice_list));
    memset(m->leaves, 0, n_tensors * sizeof *m->leaves);
    memset(m->choices, 0, classes->n * sizeof *m->choices);
    m->steps = DFL_NEW_ARRAY(arena, dfl_exchange_step, (size_t)classes->n + 1);
    m->ways = DFL_NEW_ARRAY(arena, uint32_t, (size_t)n_tensors + 1);
    m->path = DFL_NEW_ARRAY(arena, uint32_t, (size_t)classes->n + 1);
    for (uint32_t c = 0; c < classes->at.n; c++)
        m->bounds[c] = dfl_pattern_bounds_new(arena, m->scratch, &classes->at.at[c], line, deadline, programs);
    limit_keeps(m);
    memset(m->path, 0, classes->n * sizeof *m->path);
    for (uint32_t e = 0; e < classes->n; e++)
        add_choices(m, e, line->per_joule > 0);
    return m;
}

void dfl_matched_tiles_first_tiles(dfl_matched_tiles *m, const dfl_form_firsts *firsts)
{
    for (uint32_t c = 0; c < m->classes->at.n; c++)
        dfl_pattern_bounds_first_tiles(m->bounds[c], &firsts[c]);
}

void dfl_matched_tiles_whole_parts(dfl_matched_tiles *m, double known)
{
    for (uint32_t c = 0; c < m->classes->at.n; c++)
        dfl_pattern_bounds_whole_parts(m->bounds[c], m->classes->n == 1, known);
}

void dfl_matched_tiles_free(dfl_matched_tiles *m)
{
    dfl_arena_free(m->work);
    dfl_arena_free(m->scratch);
    dfl_arena_free(m->arena);
}

/* The operand of an einsum that is exchanged as the tensor, or NULL. */
static const dfl_problem_operand *find_exchanged(const dfl_problem *problem, uint32_t tensor)
{
    const uint32_t o = dfl_problem_find_operand(problem, tensor);

    return o < problem->n_operands && dfl_problem_exchanged(&problem->operand[o]) ? &problem->operand[o] : NULL;
}

/* The least room of a leaf: where the tensor is exchanged below its home, the tile of one buffer (B48), and keeps of its producer
   that stand above a loop around its readers (B62). */
static dfl_exchange_room find_room(const dfl_matched_tiles *m, uint32_t tensor, const leaf *l)
{
    const dfl_tensor *t = &m->classes->m->workload->tensors[tensor];
    const dfl_problem *problem = t->n_producers > 0 ? problem_of(m, t->producers[0]) : NULL;
    const dfl_problem_operand *o = problem != NULL ? find_exchanged(problem, tensor) : NULL;
    dfl_exchange_room room = { .memory = l->memory, .bits = 0 };

    if (o == NULL || problem->place[dfl_problem_outermost(o)].memory == l->memory)
        return room;
    room.bits = o->bits;
    for (uint32_t d = 0; d < o->n_dims; d++)
        room.bits *= o->dims[d].n == 1 ? (double)l->low[d] : 1;
    room.bits += l->least_held[MAKER];
    return room;
}

static const dfl_exchange_rooms *find_rooms(const dfl_matched_tiles *m)
{
    const dfl_workload *w = m->classes->m->workload;
    const dfl_exchange_room **of = DFL_NEW_ARRAY(m->work, const dfl_exchange_room *, (size_t)w->n_tensors + 1);
    dfl_exchange_rooms *rooms = DFL_NEW(m->work, dfl_exchange_rooms);

    for (uint32_t t = 0; t < w->n_tensors; t++) {
        dfl_exchange_room *at = DFL_NEW_ARRAY(m->work, dfl_exchange_room, m->leaves[t].n + 1);
        for (size_t l = 0; l < m->leaves[t].n; l++)
            at[l] = find_room(m, t, &m->leaves[t].at[l]);
        of[t] = at;
    }
    *rooms = (dfl_exchange_rooms){ .n_memories = m->classes->m->system->n_memories, .of = of };
    return rooms;
}

/* Finds the least sum of the values so far, by the deadline. */
static void add_up_by(dfl_matched_tiles *m, dfl_deadline *deadline)
{
    const dfl_workload *w = m->classes->m->workload;
    double sum;

    dfl_arena_reset(m->work);
    for (uint32_t t = 0; t < w->n_tensors; t++)
        m->ways[t] = (uint32_t)m->leaves[t].n;
    for (uint32_t e = 0; e < w->n_einsums; e++)
        m->steps[e] = (dfl_exchange_step){ .problem = problem_of(m, e), .choices = &m->choices[e].at[0].sum,
                                           .size = sizeof(choice),
                                           .n = (uint32_t)m->choices[e].n };
    sum = dfl_exchange_sums(m->work, w, m->steps, m->ways, find_rooms(m), deadline, m->path);
    m->bound = fmax(m->bound, sum);
}

static void add_up(dfl_matched_tiles *m) { add_up_by(m, m->deadline); }

/* What was found before the deadline passed counts in the sum, too, if that takes no longer than a moment. */
static void add_last(dfl_matched_tiles *m)
{
    dfl_deadline moment = { .budget = m->deadline->budget };

    moment.at = dfl_budget_time(moment.budget) + DFL_MATCH_MOMENT;
    if (m->deadline->why == DFL_STOP_TIME)
        add_up_by(m, &moment);
}

/* Gives all choices of a pattern its bound, in place of the one whatever the room: values of one pattern have the same weights of
   times in all leaves (B43). */
static void set_least(dfl_matched_tiles *m, uint32_t class, uint32_t pattern, double least)
{
    for (uint32_t e = 0; e < m->classes->n; e++)
        for (size_t i = 0; i < m->choices[e].n && m->classes->of[e] == class; i++) {
            choice *c = &m->choices[e].at[i];
            if (c->pattern != pattern || c->is_bounded)
                continue;
            c->is_bounded = true;
            c->sum.value = least;
        }
}

/* Bounds an einsum for the pattern of a choice. */
static void find_least(dfl_matched_tiles *m, uint32_t e, const choice *c)
{
    const uint32_t class = m->classes->of[e];
    const double found = dfl_pattern_bounds_least(m->bounds[class], c->pattern);

    if (m->deadline->why == DFL_STOP_NONE)
        set_least(m, class, c->pattern, found);
}

/* The ranges of tiles of the leaves of a choice. */
static void find_tiles(const dfl_matched_tiles *m, uint32_t e, const choice *c, dfl_exchanged_tiles *tiles)
{
    const dfl_problem *problem = problem_of(m, e);

    memset(tiles, 0, sizeof *tiles);
    for (uint32_t o = 0; o < problem->n_operands; o++) {
        tiles->held[o] = INFINITY;
        for (uint32_t d = 0; d < DFL_PROBLEM_DIMS; d++) {
            const bool is_split = problem->operand[o].shared && problem->operand[o].common == 0;
            const leaf *l = is_split ? &m->leaves[problem->operand[o].tensor].at[c->sum.way[o]] : NULL;
            tiles->low[o][d] = is_split ? l->low[d] : 1;
            tiles->high[o][d] = is_split ? l->high[d] : INT64_MAX;
            tiles->held[o] = is_split ? l->most_held[problem->operand[o].output ? MAKER : READER] : INFINITY;
        }
    }
}

/* Adds the room that held keeps of the einsums at the other side of its exchanges take while an einsum runs, by memory (B62). */
static void add_held(const dfl_matched_tiles *m, uint32_t e, const choice *c, double *taken)
{
    const dfl_problem *problem = problem_of(m, e);

    for (uint32_t o = 0; o < problem->n_operands; o++)
        if (problem->operand[o].shared && problem->operand[o].common == 0) {
            const leaf *l = &m->leaves[problem->operand[o].tensor].at[c->sum.way[o]];
            taken[l->memory] += l->least_held[problem->operand[o].output ? READER : MAKER];
        }
}

/* The bound of an einsum in the leaves of a choice; `others`: bits by memory that tensors take which it does not touch. */
static double bound_within(dfl_matched_tiles *m, uint32_t e, const choice *c, const double *others, dfl_exchanged_point *point)
{
    double *taken = DFL_NEW_ARRAY(m->work, double, m->classes->m->system->n_memories + 1u);
    dfl_exchanged_tiles tiles;
    bool is_taken = false;

    for (uint32_t i = 0; i < m->classes->m->system->n_memories && others != NULL; i++)
        taken[i] = others[i];
    add_held(m, e, c, taken);
    for (uint32_t i = 0; i < m->classes->m->system->n_memories; i++)
        is_taken |= taken[i] > 0;
    find_tiles(m, e, c, &tiles);
    return dfl_pattern_bounds_within(m->bounds[m->classes->of[e]], c->pattern, &tiles, is_taken ? taken : NULL, point);
}

/* Bounds an einsum for the leaves of a choice. */
static void find_value(dfl_matched_tiles *m, uint32_t e, choice *c)
{
    const double value = bound_within(m, e, c, NULL, &c->point);

    c->is_known = m->deadline->why == DFL_STOP_NONE;
    c->sum.value = fmax(c->sum.value, value);
    c->last = c->point;
}

/* Sets the room that tiles of other einsums take during an einsum of the least sum, by memory. False if they take none. */
static bool find_taken(const dfl_matched_tiles *m, uint32_t e, double *taken)
{
    const dfl_workload *w = m->classes->m->workload;
    bool is_taken = false;

    memset(taken, 0, m->classes->m->system->n_memories * sizeof *taken);
    for (uint32_t t = 0; t < w->n_tensors; t++) {
        const dfl_tensor *x = &w->tensors[t];
        dfl_exchange_room room;
        uint32_t o;
        if (m->leaves[t].n < 2 || x->n_producers == 0 || x->n_consumers == 0 || x->producers[0] >= e ||
            x->consumers[x->n_consumers - 1] <= e || find_exchanged(problem_of(m, e), t) != NULL)
            continue;
        o = dfl_problem_find_operand(problem_of(m, x->producers[0]), t);
        room = find_room(m, t, &m->leaves[t].at[m->choices[x->producers[0]].at[m->path[x->producers[0]]].sum.way[o]]);
        taken[room.memory] += room.bits;
        is_taken |= room.bits > 0;
    }
    return is_taken;
}

/* Whether one room is at most the other in each memory. */
static bool is_within(const dfl_matched_tiles *m, const double *taken, const double *most)
{
    bool is_less = most != NULL;

    for (uint32_t i = 0; i < m->classes->m->system->n_memories && is_less; i++)
        is_less = taken[i] <= most[i];
    return is_less;
}

/* Bounds an einsum of the least sum in the room that tiles of other einsums leave, if its choice has no such bound yet. False if
   nothing is new. */
static bool find_crowd(dfl_matched_tiles *m, uint32_t e, choice *c)
{
    const uint32_t n_memories = m->classes->m->system->n_memories;
    double *taken = DFL_NEW_ARRAY(m->arena, double, (size_t)n_memories + 1);
    dfl_exchange_crowd *crowd, found = { .taken = taken };

    if (c->sum.n_crowd >= DFL_MATCH_CROWDS || !find_taken(m, e, taken) || is_within(m, taken, c->harmless))
        return false;
    for (uint32_t i = 0; i < c->sum.n_crowd; i++)
        if (memcmp(c->sum.crowd[i].taken, taken, n_memories * sizeof *taken) == 0)
            return false;
    found.value = bound_within(m, e, c, taken, &c->last);
    if (m->deadline->why != DFL_STOP_NONE)
        return false;
    if (found.value <= c->sum.value * (1 + DFL_CROWD_RAISE)) {
        c->harmless = is_within(m, taken, c->harmless) ? c->harmless : taken;
        return false;
    }
    crowd = DFL_NEW_ARRAY(m->arena, dfl_exchange_crowd, c->sum.n_crowd + 1u);
    for (uint32_t i = 0; i < c->sum.n_crowd; i++)
        crowd[i] = c->sum.crowd[i];
    crowd[c->sum.n_crowd++] = found;
    c->sum.crowd = crowd;
    return true;
}

/* Bounds each choice on the path of the least sum that has no bound yet. `has_leaves`: also bounds each one again whose bound
   does not see its leaves yet, or the room that others take. False if there was none of either. */
static bool find_values(dfl_matched_tiles *m, bool has_leaves)
{
    bool is_new = false;

    for (uint32_t e = 0; e < m->classes->n; e++) {
        choice *c = &m->choices[e].at[m->path[e]];
        if (dfl_deadline_passed(m->deadline))
            continue;
        if (c->is_bounded && (c->is_known || !has_leaves)) {
            is_new |= has_leaves && find_crowd(m, e, c);
            continue;
        }
        if (c->is_bounded)
            find_value(m, e, c);
        else
            find_least(m, e, c);
        is_new = true;
    }
    return is_new;
}

/* ---- splits ---- */

/* The leaf of a tensor in the least sum, the dimension in which its einsums differ most, and their tiles there. */
typedef struct {
    uint32_t tensor, leaf, dim;
    double least, most;               /* logarithms */
    double worth;                     /* of the tensor, from 0 to 1 */
} mismatch;

static double find_path_value(const dfl_matched_tiles *m, uint32_t e) { return m->choices[e].at[m->path[e]].sum.value; }

/* What an einsum counts at its side of the exchange of a tensor: its bound; of one below DFL_MATCH_SMALL of the sum, such as an
   exponential, also those of the einsums with which it exchanges other tensors, since it hands on the tiles of these. */
static double find_weight(const dfl_matched_tiles *m, uint32_t e, uint32_t tensor)
{
    const dfl_problem *problem = problem_of(m, e);
    double sum = find_path_value(m, e);

    for (uint32_t o = 0; o < problem->n_operands && find_path_value(m, e) < m->bound * DFL_MATCH_SMALL; o++) {
        const dfl_tensor *t = &m->classes->m->workload->tensors[problem->operand[o].tensor];
        if (!problem->operand[o].shared || problem->operand[o].tensor == tensor)
            continue;
        for (uint32_t i = 0; i < t->n_producers; i++)
            sum += t->producers[i] != e ? find_path_value(m, t->producers[i]) : 0;
        for (uint32_t i = 0; i < t->n_consumers; i++)
            sum += t->consumers[i] != e ? find_path_value(m, t->consumers[i]) : 0;
    }
    return sum;
}

/* What equal tiles of a tensor may raise the least sum by, roughly, in units of DFL_MATCH_SHARE of it, at most 1: one side of the
   exchange can take the tiles of the other one, so it is no more than a part of the lesser bound of both sides. */
static double find_worth(const dfl_matched_tiles *m, uint32_t tensor)
{
    const dfl_tensor *t = &m->classes->m->workload->tensors[tensor];
    double side[SIDES] = { 0, 0 };

    for (uint32_t i = 0; i < t->n_producers; i++)
        side[MAKER] += find_weight(m, t->producers[i], tensor);
    for (uint32_t i = 0; i < t->n_consumers; i++)
        side[READER] += find_weight(m, t->consumers[i], tensor);
    return m->is_weighed && m->bound > 0 ? fmin(fmin(side[MAKER], side[READER]) / (m->bound * DFL_MATCH_SHARE), 1) : 1;
}

static int64_t find_middle(const mismatch *x)
{
    const double middle = floor(exp((x->least + x->most) / 2) + 1e-6);

    return middle >= 0 && middle < 9e18 ? (int64_t)middle : 0; /* without tiles in the dimension there is no middle */
}

/* Whether a split of the leaf at the middle of the tiles takes some einsum's tile from each half. */
static bool can_split(const dfl_matched_tiles *m, const mismatch *x)
{
    const leaf *l = &m->leaves[x->tensor].at[x->leaf];
    const int64_t middle = find_middle(x);

    return (x->most - x->least) * x->worth > m->ratio && middle >= l->low[x->dim] && middle < l->high[x->dim];
}

/* Whether einsums between the first and the last one of a tensor lack the room that it takes: they see the least of its leaf. */
static bool is_pressing(const dfl_matched_tiles *m, uint32_t tensor)
{
    const dfl_tensor *t = &m->classes->m->workload->tensors[tensor];
    bool found = false;

    for (uint32_t e = t->producers[0] + 1; t->n_consumers > 0 && e < t->consumers[t->n_consumers - 1]; e++)
        found |= find_exchanged(problem_of(m, e), tensor) == NULL && m->choices[e].at[m->path[e]].sum.n_crowd > 0;
    return found;
}

static bool find_mismatch(const dfl_matched_tiles *m, uint32_t tensor, mismatch *out)
{
    const dfl_tensor *t = &m->classes->m->workload->tensors[tensor];
    mismatch of[DFL_PROBLEM_DIMS];
    const double worth = find_worth(m, tensor);
    bool is_found = false, slides[DFL_PROBLEM_DIMS] = { false }; /* tiles along a window differ from what they are made of */

    for (uint32_t d = 0; d < DFL_PROBLEM_DIMS; d++)
        of[d] = (mismatch){ .tensor = tensor, .dim = d, .least = INFINITY, .most = -INFINITY, .worth = worth };
    for (uint32_t i = 0; i < t->n_producers + t->n_consumers; i++) {
        const uint32_t e = i < t->n_producers ? t->producers[i] : t->consumers[i - t->n_producers];
        const choice *c = &m->choices[e].at[m->path[e]];
        const uint32_t o = dfl_problem_find_operand(problem_of(m, e), tensor);
        for (uint32_t d = 0; d < DFL_PROBLEM_DIMS; d++) {
            slides[d] |= d < problem_of(m, e)->operand[o].n_dims && problem_of(m, e)->operand[o].dims[d].n > 1;
            of[d].leaf = c->sum.way[o];
            of[d].least = fmin(of[d].least, c->last.at[o][d]);
            of[d].most = fmax(of[d].most, c->last.at[o][d]);
        }
    }
    *out = of[0];
    for (uint32_t d = 0; d < DFL_PROBLEM_DIMS && is_pressing(m, tensor); d++)
        of[d].least = fmin(of[d].least, dfl_logarithm((double)m->leaves[tensor].at[of[d].leaf].low[d]));
    for (uint32_t d = 0; d < DFL_PROBLEM_DIMS; d++)
        if (!slides[d] && can_split(m, &of[d]) && (!is_found || of[d].most - of[d].least > out->most - out->least)) {
            *out = of[d];
            is_found = true;
        }
    return is_found;
}

/* Whether an einsum has so many choices that no leaf of the tensor is split further. */
static bool has_many_choices(const dfl_matched_tiles *m, uint32_t tensor)
{
    const dfl_tensor *t = &m->classes->m->workload->tensors[tensor];
    bool is_full = false;

    for (uint32_t i = 0; i < t->n_producers + t->n_consumers; i++)
        is_full |= m->choices[i < t->n_producers ? t->producers[i] : t->consumers[i - t->n_producers]].n >= DFL_MATCH_CHOICES;
    return is_full;
}

/* Splits a leaf in two: the first half keeps its number. A choice is known in the half of its point. */
static void split(dfl_matched_tiles *m, const mismatch *x)
{
    leaf_list *leaves = &m->leaves[x->tensor];
    const dfl_tensor *t = &m->classes->m->workload->tensors[x->tensor];
    const uint32_t upper = (uint32_t)leaves->n;
    const int64_t middle = find_middle(x);
    leaf half = leaves->at[x->leaf];

    half.low[x->dim] = middle + 1;
    leaves->at[x->leaf].high[x->dim] = middle;
    DFL_PUSH(m->arena, leaves, half);
    for (uint32_t i = 0; i < t->n_producers + t->n_consumers; i++) {
        const uint32_t e = i < t->n_producers ? t->producers[i] : t->consumers[i - t->n_producers];
        const uint32_t o = dfl_problem_find_operand(problem_of(m, e), x->tensor);
        const size_t n = m->choices[e].n;
        for (size_t k = 0; k < n; k++) {
            choice other = m->choices[e].at[k];
            const double length = exp(other.point.at[o][x->dim]);
            if (other.sum.way[o] != x->leaf)
                continue;
            m->choices[e].at[k].is_known &= !(length > (double)middle);
            other.is_known &= !(length < (double)middle + 1);
            other.sum.way[o] = upper;
            DFL_PUSH(m->arena, &m->choices[e], other);
        }
    }
}

/* The bits of held keeps of an einsum in the least sum; and below, the room that its tiles leave in the memory of a leaf. */
static double find_held(const dfl_matched_tiles *m, uint32_t e, uint32_t tensor)
{
    return m->choices[e].at[m->path[e]].last.held[dfl_problem_find_operand(problem_of(m, e), tensor)];
}

static double find_left(const dfl_matched_tiles *m, uint32_t e, uint32_t memory, double *size)
{
    const dfl_problem *problem = problem_of(m, e);
    double left = INFINITY;

    for (uint32_t p = 0; p < problem->n_places; p++)
        if (problem->place[p].memory == memory) {
            *size = problem->place[p].bits;
            left = *size - m->choices[e].at[m->path[e]].last.room[p];
        }
    return left;
}

/* Splits a leaf of a tensor by the room of held keeps of a side. A choice of this side is known in the upper half, where it may
   take as much; one of the other side in the lower half. */
static void split_leaf_held(dfl_matched_tiles *m, uint32_t tensor, uint32_t at, uint32_t side, double middle)
{
    const dfl_tensor *t = &m->classes->m->workload->tensors[tensor];
    const uint32_t upper = (uint32_t)m->leaves[tensor].n;
    leaf half = m->leaves[tensor].at[at];

    half.least_held[side] = middle;
    m->leaves[tensor].at[at].most_held[side] = middle;
    DFL_PUSH(m->arena, &m->leaves[tensor], half);
    for (uint32_t i = 0; i < t->n_producers + t->n_consumers; i++) {
        const uint32_t e = i < t->n_producers ? t->producers[i] : t->consumers[i - t->n_producers];
        const uint32_t operand = dfl_problem_find_operand(problem_of(m, e), tensor);
        const bool is_side = (i < t->n_producers) == (side == MAKER);
        const size_t n = m->choices[e].n;
        for (size_t k = 0; k < n; k++) {
            choice other = m->choices[e].at[k];
            if (other.sum.way[operand] != at)
                continue;
            m->choices[e].at[k].is_known &= !is_side || other.point.held[operand] <= middle;
            other.is_known &= is_side;
            other.sum.way[operand] = upper;
            DFL_PUSH(m->arena, &m->choices[e], other);
        }
    }
}

/* Splits the leaf of the least sum of a tensor where held keeps of one side take room that the other side lacks. False if none
   do. */
static bool split_held(dfl_matched_tiles *m, uint32_t tensor)
{
    const dfl_tensor *t = &m->classes->m->workload->tensors[tensor];
    const uint32_t maker = t->producers[0];
    const uint32_t at = m->choices[maker].at[m->path[maker]].sum.way[dfl_problem_find_operand(problem_of(m, maker), tensor)];
    const leaf *l = &m->leaves[tensor].at[at];
    const double worth = find_worth(m, tensor);

    for (uint32_t side = 0; side < SIDES && t->n_producers == 1 && t->n_consumers > 0; side++) {
        const double held = fmin(find_held(m, side == MAKER ? maker : t->consumers[0], tensor), l->most_held[side]);
        double least = held, size = INFINITY;
        if (side == READER && t->n_consumers > 1)
            continue;
        for (uint32_t i = 0; i < (side == MAKER ? t->n_consumers : 1); i++)
            least = fmin(least, fmax(find_left(m, side == MAKER ? t->consumers[i] : maker, l->memory, &size),
                                     l->least_held[side]));
        if ((held - least) * worth > size * fmax(m->ratio / 4, DFL_MATCH_HELD_ROOM)) {
            split_leaf_held(m, tensor, at, side, (least + held) / 2);
            return true;
        }
    }
    return false;
}

/* Splits the leaves of the least sum whose einsums want different tiles. False if there are none. */
static bool split_coarse(dfl_matched_tiles *m)
{
    const dfl_workload *w = m->classes->m->workload;
    bool is_split = false;

    for (uint32_t t = 0; t < w->n_tensors; t++) {
        mismatch x;
        if (m->leaves[t].n == 0 || w->tensors[t].n_producers == 0 || has_many_choices(m, t))
            continue;
        if (find_mismatch(m, t, &x))
            split(m, &x);
        else if (!split_held(m, t))
            continue;
        is_split = true;
    }
    return is_split;
}

/* Splits leaves where tiles differ most at first, of tensors whose einsums cost most; then of all. False if none differ. */
static bool split_leaves(dfl_matched_tiles *m)
{
    while (!split_coarse(m)) {
        if (m->ratio <= DFL_MATCH_RATIO && !m->is_weighed)
            return false;
        m->is_weighed = m->is_weighed && m->ratio > DFL_MATCH_RATIO;
        m->ratio = m->ratio <= DFL_MATCH_RATIO ? DFL_MATCH_COARSE : fmax(m->ratio / 2, DFL_MATCH_RATIO);
    }
    return true;
}

double dfl_matched_tiles_raise(dfl_matched_tiles *m, double enough)
{
    if (m->deadline->why != DFL_STOP_NONE)
        return m->bound;
    add_up(m);
    while (find_values(m, false))
        add_up(m);
    while (m->bound < enough && !dfl_deadline_passed(m->deadline) && (find_values(m, true) || split_leaves(m)))
        add_up(m);
    add_last(m);
    return m->bound;
}
