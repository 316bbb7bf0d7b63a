/* Why nothing meets what is required: searches for what is required itself, by bounds and by fronts. */
#include <math.h>
#include <string.h>

#include "ir/mapping_open.h"
#include "ir/unit_text.h"
#include "mapper/branches/branches.h"
#include "mapper/conflict/conflict.h"
#include "mapper/conflict/conflict_internal.h"
#include "mapper/exact/weights.h"
#include "mapper/pareto_front.h"
#include "mapper/portfolio.h"
#include "mapper/problem/evaluate.h"
#include "mapper/skeleton/fixed_lines.h"

enum {
    STEPS = 1 << 21,       /* of one search, and ... */
    SEARCHES = 64,         /* ... the searches, after the first answer */
    CHOICES = 512,         /* of amounts above branches */
    DOUBLINGS = 24,        /* of a size that is too small */
};

static const double ROUNDING = 1 + 1e-9;

/* What a search for the least of a figure says. */
typedef struct {
    bool ended;                /* there is more to be known than nothing */
    bool met;                  /* what was found meets it, too */
    double bound;              /* nothing is below it, with tiles that divide, ... */
    double floor;              /* ... and whatever the tiles */
    double value;              /* of a mapping that meets everything else; INFINITY: none is known */
} finding;

typedef struct {
    const dfl_intern *names;
    const dfl_search_request *request;
    finding *found;            /* of the first answer */
    const dfl_required **of;   /* what is required, but for rooms, ... */
    uint32_t *number;          /* ... with the numbers that it has in the objective */
    uint32_t n;
    const dfl_budget *session;
    uint32_t asked;            /* searches */
    bool first;                /* the one whose answer everything follows from: as long as it takes */
    bool sharp;                /* the size that was measured last is proven to be the least */
} asker;

/* A piece of work by itself. */
typedef struct {
    dfl_budget budget;
    dfl_arena *arena;
    dfl_sink *quiet;
} work;

static void open_work(const asker *k, work *w)
{
    w->budget = dfl_budget_fresh(k->session);
    if (!k->first)
        w->budget.steps_limit = STEPS;
    w->arena = dfl_arena_new(&w->budget);
    w->quiet = dfl_sink_quiet(w->arena);
}

/* Options of a search for other figures than those that are to be small. */
static dfl_map_options options_of(const asker *k, const dfl_objective *o)
{
    return (dfl_map_options){ .objective = o,
                              .limits = { .deadline = k->request->limits.deadline, .threads = k->request->limits.threads },
                              .space = { .max_shared_loops = k->request->space.max_shared_loops } };
}

/* The objective of requirement `i`, or of all that are not waived for DFL_NONE; false if they are not all figures. */
static bool objective_of(const asker *k, work *w, const dfl_mapping *m, const bool *waived, uint32_t i, dfl_objective *out)
{
    const dfl_val **terms = DFL_NEW_ARRAY(w->arena, const dfl_val *, (size_t)k->n + 1);
    dfl_mapping like = *m;
    bool all = true;

    like.minimize = terms;
    like.n_minimize = 0;
    for (uint32_t r = 0; r < k->n; r++) {
        if (i != DFL_NONE ? r != i : waived[r])
            continue;
        all &= k->of[r]->kind == DFL_REQUIRED_FIGURE;
        if (all)
            terms[like.n_minimize++] = *k->of[r]->figure;
    }
    return all && like.n_minimize > 0 && dfl_objective_make(w->quiet, k->names, &like, out) && out->native;
}

/* Whether a mapping meets what is not waived. */
static bool meets(const asker *k, work *w, const dfl_mapping *m, const bool *waived, uint32_t but, double *joules,
                  double *seconds)
{
    const dfl_objective *o = k->request->objective;
    bool *without = DFL_NEW_ARRAY(w->arena, bool, (size_t)o->n_required + 1);
    const dfl_result *costs = dfl_mapping_costs(w->arena, k->names, m);

    for (uint32_t i = 0; i < o->n_required; i++)
        without[i] = true; /* rooms: the system has no more */
    for (uint32_t i = 0; i < k->n; i++)
        without[k->number[i]] = i == but || (waived != NULL && waived[i]);
    if (costs == NULL)
        return false;
    *joules = costs->joules;
    *seconds = costs->seconds;
    return dfl_objective_met(o, costs, without);
}

/* Whether the bounds of a search for this are those of all mappings: where time counts no loops are shared for the sake of an
   input that several einsums read. */
static bool is_bounded(const dfl_mapping *m, const dfl_objective *o)
{
    dfl_tile_goal goal = { .max_loops = 0 };
    bool shared = false;

    dfl_weights_look(o, false, &goal);
    for (uint32_t t = 0; t < m->workload->n_tensors; t++)
        shared |= m->workload->tensors[t].role != DFL_ROLE_INTERMEDIATE && m->workload->tensors[t].n_consumers > 1;
    return !goal.by_time || !shared;
}

/* Whether a mapping, perhaps with less written, can be searched. */
static bool may_ask(asker *k, work *w, const dfl_mapping *m)
{
    return (k->asked++ < SEARCHES || k->first) &&
           (dfl_mapping_all_lines_open(m) || dfl_open_lines_check(w->quiet, k->names, m)) && dfl_branches_choices(m, CHOICES);
}

/* The search for the least of one figure; NULL if that came to no end. `*fits` is false where there is nothing at all. */
static const dfl_map_result *search(asker *k, work *w, const dfl_mapping *m, const dfl_objective *o, bool *fits)
{
    const dfl_map_options options = options_of(k, o);
    const dfl_map_result *r = NULL;

    *fits = true;
    if (may_ask(k, w, m))
        r = dfl_branches_search(w->arena, w->quiet, k->names, m, &options, fits);
    return r;
}

/* Takes what a search found for requirement `i`, if it is better, or meets all. */
static void take_found(const asker *k, work *w, const dfl_map_result *r, const bool *waived, uint32_t i, const dfl_objective *o,
                       finding *out)
{
    double joules, seconds;

    if (r->mapping == NULL || !meets(k, w, r->mapping, waived, i, &joules, &seconds))
        return;
    out->value = fmin(out->value, dfl_objective_value(o, joules, seconds));
    out->met |= meets(k, w, r->mapping, waived, DFL_NONE, &joules, &seconds);
}

/* `*fits` is false where there is nothing at all. */
static finding find_least(asker *k, const dfl_mapping *m, const bool *waived, uint32_t i, bool *fits)
{
    finding out = { .value = INFINITY };
    const dfl_map_result *r = NULL;
    dfl_objective o;
    work w;

    open_work(k, &w);
    *fits = true;
    if (objective_of(k, &w, m, waived, i, &o))
        r = search(k, &w, m, &o, fits);
    out.ended = r != NULL;
    if (r != NULL && is_bounded(m, &o)) {
        out.bound = r->lower_bound;
        out.floor = r->floor;
    }
    if (r != NULL)
        take_found(k, &w, r, waived, i, &o, &out);
    if (k->first && out.value < INFINITY && out.value > out.bound * ROUNDING && may_ask(k, &w, m)) {
        bool any = true;
        const dfl_map_options all = options_of(k, &o); /* what waits is counted, too: what could be allowed is not too much */
        r = dfl_mapper_run(w.arena, w.quiet, k->names, m, &all, &any);
        if (r != NULL)
            take_found(k, &w, r, waived, i, &o, &out);
    }
    dfl_arena_free(w.arena);
    return out;
}

/* What the search says of requirement `i`: whether it rules out all mappings, or one that it found meets all. */
static dfl_answer ask_one(asker *k, const dfl_mapping *m, const bool *waived, uint32_t i)
{
    bool fits;
    const finding found = find_least(k, m, waived, i, &fits);

    if (k->first)
        k->found[i] = found;
    if (!fits || found.bound > k->of[i]->most.real * ROUNDING)
        return DFL_ANSWER_NO;
    return found.met ? DFL_ANSWER_YES : DFL_ANSWER_UNKNOWN;
}

/* The front over all that is not waived (NULL: nothing is); NULL if there is none. `*whole`: nothing else is on it. */
static const dfl_front *find_front(asker *k, work *w, const dfl_mapping *m, const bool *waived, bool *whole)
{
    const bool *without = waived != NULL ? waived : DFL_NEW_ARRAY(w->arena, bool, (size_t)k->n + 1);
    const dfl_front *front = NULL;
    dfl_objective terms, o;
    dfl_map_options options;
    bool fits = true;

    if (!objective_of(k, w, m, without, DFL_NONE, &terms) || terms.n_terms < 2 || !may_ask(k, w, m))
        return NULL;
    o = terms;
    options = options_of(k, &o);
    front = dfl_pareto_front_find(w->arena, w->quiet, k->names, m, &options, 0, NULL, &fits);
    *whole = front != NULL && front->exact && front->search->optimal && front->search->stopped == DFL_STOP_NONE &&
             is_bounded(m, &terms);
    return front;
}

/* What a front over all of them says, where each by itself can be met. */
static dfl_answer ask_front(asker *k, const dfl_mapping *m, const bool *waived)
{
    const dfl_front *front;
    bool whole = false, any = false;
    double joules, seconds;
    work w;

    open_work(k, &w);
    front = find_front(k, &w, m, waived, &whole);
    for (uint32_t i = 0; front != NULL && i < front->n && !any; i++)
        any = meets(k, &w, front->at[i].mapping, waived, DFL_NONE, &joules, &seconds);
    dfl_arena_free(w.arena);
    return any ? DFL_ANSWER_YES : whole ? DFL_ANSWER_NO : DFL_ANSWER_UNKNOWN;
}

static dfl_answer ask(asker *k, const dfl_mapping *m, const bool *waived)
{
    dfl_answer answer = DFL_ANSWER_UNKNOWN;
    uint32_t left = 0;

    for (uint32_t i = 0; i < k->n; i++)
        left += !waived[i];
    if (left == 0)
        return DFL_ANSWER_YES; /* there are mappings, and with less in the way there are more */
    for (uint32_t i = 0; i < k->n && answer == DFL_ANSWER_UNKNOWN; i++)
        if (!waived[i] && k->of[i]->kind == DFL_REQUIRED_FIGURE)
            answer = ask_one(k, m, waived, i);
    return answer == DFL_ANSWER_UNKNOWN && left > 1 ? ask_front(k, m, waived) : answer;
}

/* The same with a memory of another size. */
static dfl_answer ask_with(asker *k, const dfl_mapping *m, const bool *waived, uint32_t memory, int64_t size)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_mapping other = *m;
    dfl_answer answer;

    other.system = dfl_system_sized(arena, m->system, memory, size);
    answer = ask(k, &other, waived);
    dfl_arena_free(arena);
    return answer;
}

/* A size that is enough, and about the least that is known to be. */
static dfl_answer least_size(asker *k, const dfl_mapping *m, const bool *waived, uint32_t memory, int64_t *bits)
{
    int64_t low = m->system->memories[memory].size_bits, high = low > 8 ? low : 8;
    dfl_answer answer = ask_with(k, m, waived, memory, low);
    bool none = answer == DFL_ANSWER_NO; /* with `low` */

    for (int i = 0; i < DOUBLINGS && (i == 0 || answer != DFL_ANSWER_YES) && high < INT64_MAX / 4 && k->asked < SEARCHES; i++) {
        low = high;
        none = answer == DFL_ANSWER_NO;
        high *= 2;
        answer = ask_with(k, m, waived, memory, high);
    }
    while (answer == DFL_ANSWER_YES && high - low > 8 && k->asked < SEARCHES) {
        int64_t middle = low + (high - low) / 16 * 8;
        dfl_answer there;
        if (middle <= low)
            middle = low + 8;
        there = ask_with(k, m, waived, memory, middle);
        if (there == DFL_ANSWER_YES)
            high = middle;
        else
            low = middle;
        none = there == DFL_ANSWER_YES ? none : there == DFL_ANSWER_NO;
    }
    k->sharp = none && high - low <= 8;
    *bits = high;
    return answer;
}

static bool proven(void *context)
{
    const asker *k = context;

    return k->sharp;
}

static dfl_answer answer(void *context, const dfl_mapping *m, const bool *waived, uint32_t measured, int64_t *bits, dfl_span *at)
{
    (void)at;
    return measured == DFL_NONE ? ask(context, m, waived) : least_size(context, m, waived, measured, bits);
}

static const char *value_text(dfl_arena *arena, const asker *k, uint32_t i, double value)
{
    dfl_strbuf out;

    dfl_strbuf_init(&out, arena);
    dfl_quantity_print(&out, dfl_quantity_real(value, k->of[i]->most.dim));
    return out.text;
}

/* Of mappings that meet all others, the least of the figure that is required; INFINITY if there are none. */
static double least_of_front(asker *k, const dfl_mapping *m, uint32_t i, bool *whole)
{
    double value = INFINITY, joules, seconds;
    const dfl_front *front;
    dfl_objective o;
    work w;

    open_work(k, &w);
    front = objective_of(k, &w, m, NULL, i, &o) ? find_front(k, &w, m, NULL, whole) : NULL;
    for (uint32_t p = 0; front != NULL && p < front->n; p++)
        if (meets(k, &w, front->at[p].mapping, NULL, i, &joules, &seconds))
            value = fmin(value, dfl_objective_value(&o, joules, seconds));
    dfl_arena_free(w.arena);
    return value;
}

/* The same as the whole search finds it, which looks for better ones where what it counts is less than a mapping costs. */
static double least_of_run(asker *k, const dfl_mapping *m, uint32_t i)
{
    double value = INFINITY, joules, seconds;
    const dfl_map_result *r = NULL;
    dfl_map_options options;
    dfl_objective o;
    bool fits = true;
    work w;

    open_work(k, &w);
    if (objective_of(k, &w, m, NULL, i, &o) && may_ask(k, &w, m)) {
        options = options_of(k, &o);
        r = dfl_mapper_run(w.arena, w.quiet, k->names, m, &options, &fits);
    }
    if (r != NULL && r->mapping != NULL && meets(k, &w, r->mapping, NULL, i, &joules, &seconds))
        value = dfl_objective_value(&o, joules, seconds);
    dfl_arena_free(w.arena);
    return value;
}

static const char *least(void *context, dfl_arena *arena, const dfl_mapping *m, uint32_t i, dfl_instead *instead)
{
    asker *k = context;
    const double most = k->of[i]->most.real;
    const char *text = NULL, *where = "";
    bool fits = true, whole = false;
    finding found = k->found[i].ended ? k->found[i] : find_least(k, m, NULL, i, &fits);

    if (found.floor * ROUNDING < found.bound)
        where = " with tiles that divide";
    if (found.ended && found.value == INFINITY && k->n > 1)
        found.value = least_of_front(k, m, i, &whole);
    if (whole) {
        found.bound = found.value;
        where = " with tiles that divide and the other requirements";
    }
    if (found.ended && found.value > found.bound * ROUNDING)
        found.value = fmin(found.value, least_of_run(k, m, i));
    if (found.bound > most * ROUNDING && found.bound < INFINITY)
        text = dfl_arena_printf(arena, "its lower bound is %s%s", value_text(arena, k, i, found.bound), where);
    if (found.value < INFINITY) {
        *instead = (dfl_instead){ .text = value_text(arena, k, i, found.value), .ratio = found.value / most,
                                  .proven = found.value <= found.bound * ROUNDING };
        if (text == NULL)
            text = dfl_arena_printf(arena, "with everything else unchanged, %s was found", instead->text);
        else if (!instead->proven)
            text = dfl_arena_printf(arena, "%s, and %s was found", text, instead->text);
    }
    return text;
}

/* Of a requirement that is not known to be out of reach. */
static dfl_requirement_known known_of(asker *k, dfl_arena *arena, const dfl_mapping *m, uint32_t i)
{
    const finding *found = &k->found[i];
    dfl_requirement_known out = { .found = NULL };
    double value;

    if (!found->ended || k->of[i]->kind != DFL_REQUIRED_FIGURE)
        return out;
    value = fmin(found->value, least_of_run(k, m, i));
    if (value < INFINITY)
        out.found = value_text(arena, k, i, value);
    if (found->bound > 0)
        out.bound = dfl_arena_printf(arena, "%s%s", value_text(arena, k, i, found->bound),
                                     found->floor < found->bound ? " with tiles that divide" : "");
    return out;
}

bool dfl_conflict_requirements(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m, const dfl_search_request *request,
                               const dfl_required *required, const dfl_budget *session, dfl_requirement_known *each)
{
    const dfl_objective *o = request->objective;
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_span *spans = DFL_NEW_ARRAY(arena, dfl_span, (size_t)o->n_required + 1);
    bool *none = DFL_NEW_ARRAY(arena, bool, (size_t)o->n_required + 1), asked, known;
    dfl_budget budget = dfl_budget_fresh(session);
    asker k = { .names = names, .request = request, .session = session, .first = true,
                .found = DFL_NEW_ARRAY(arena, finding, (size_t)o->n_required + 1),
                .of = DFL_NEW_ARRAY(arena, const dfl_required *, (size_t)o->n_required + 1),
                .number = DFL_NEW_ARRAY(arena, uint32_t, (size_t)o->n_required + 1) };

    for (uint32_t i = 0; i < o->n_required; i++) {
        if (required[i].kind == DFL_REQUIRED_ROOM)
            continue;
        spans[k.n] = required[i].span;
        k.number[k.n] = i;
        k.of[k.n++] = &required[i];
    }
    asked = !request->space.imperfect && request->space.extensions == 0 && k.n > 0;
    known = asked && ask(&k, m, none) == DFL_ANSWER_NO;
    k.first = false;
    k.asked = 0;
    if (known) {
        const dfl_question question = { .answer = answer, .proven = proven, .least = least, .context = &k,
                                        .required = spans, .n_required = k.n, .rooms = o->rooms, .doubtful = true,
                                        .kind = dfl_mapping_all_lines_open(m) ? DFL_QUESTION_LINES : DFL_QUESTION_BETWEEN };
        known = dfl_conflict_set_report(sink, names, m, &question, &budget);
    }
    for (uint32_t i = 0; i < k.n && asked && !known; i++)
        each[k.number[i]] = known_of(&k, dfl_sink_arena(sink), m, i);
    dfl_arena_free(arena);
    return known;
}
