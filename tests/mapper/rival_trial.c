/* The trial of one random problem. */
#include "tests/mapper/rival_trial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ir/path/path.h"
#include "ir/print_mapping.h"
#include "mapper/join/exchange_bound.h"
#include "mapper/problem/limits.h"
#include "model/model.h"

enum { STARTS = 6 };
const char *const rival_space_names[RIVAL_SPACES] = { "perfect", "imperfect" };

/* Whether time enters the value of a mapping. */
static bool sees_time(const dfl_mapping *m, const dfl_objective *o)
{
    for (uint32_t i = 0; i < m->system->n_memories; i++)
        if (m->system->memories[i].leakage > 0)
            return true;
    return dfl_objective_value(o, 1, 1) != dfl_objective_value(o, 1, 2);
}

/* The figures of all points that the search found. */
static void read_points(rival_trial *p, uint32_t space)
{
    dfl_session *s = p->s[space];
    rival_claim *c = &p->claim[space];

    for (size_t i = 0; i < s->filled.n && c->n_points < RIVAL_POINTS; i++) {
        const dfl_paths *paths = dfl_paths_resolve(s->arena, s->sink, s->names, s->filled.at[i].mapping);
        const dfl_result *r = paths ? dfl_model_eval(s->arena, s->sink, s->names, paths) : NULL;
        if (r == NULL)
            continue;
        c->joules[c->n_points] = r->joules;
        c->seconds[c->n_points++] = r->seconds;
    }
    if (s->filled.n > RIVAL_POINTS)
        c->optimal = false;
}

/* Searches one space; false if the problem cannot be read or searched. */
static bool search(rival_trial *p, uint32_t space)
{
    const dfl_search_options search = { .size = sizeof search, .perfect = space == 0, .imperfect = space == 1, .spread = true,
                                        .evaluations = p->o->effort, .seconds = p->o->seconds };
    dfl_session *s = p->s[space] = dfl_session_new(NULL);
    rival_claim *c = &p->claim[space];
    dfl_stop stopped = DFL_STOP_NONE;
    const dfl_filled *filled;

    *c = (rival_claim){ .best = INFINITY, .alone = INFINITY, .beyond = INFINITY };
    dfl_session_set_search(s, &search);
    if (dfl_session_open_text(s, "rival.dfl", p->text, strlen(p->text)) != DFL_EXIT_OK || !dfl_session_analyse(s) ||
        dfl_sink_errors(s->sink) > 0)
        return false;
    if (space == 0) {
        p->open = s->program->designs[0].mapping;
        if (p->open->system->n_memories == 0)
            return false;
        if (!dfl_objective_make(s->sink, s->names, p->open, &p->objective))
            return false;
        p->timed = sees_time(p->open, &p->objective);
    }
    clock_t begin = clock();
    filled = dfl_session_fill(s, s->program->designs[0].mapping, &stopped);
    p->slowest = fmax(p->slowest, (double)(clock() - begin) / CLOCKS_PER_SEC);
    if (filled == NULL) {
        c->infeasible = dfl_sink_last(s->sink) == DFL_EVAL_INFEASIBLE;
        return c->infeasible || p->o->form == RIVAL_REQUIRE;
    }
    c->found = true;
    c->value = p->o->form == RIVAL_FRONT ? 1 : filled->search->value;
    c->bound = filled->search->lower_bound;
    c->optimal = filled->search->optimal;
    p->found[space] = filled->mapping;
    read_points(p, space);
    return true;
}

static bool meets(const rival_trial *p, const rival_value *v)
{
    return v->legal && v->joules <= p->most_joules && v->seconds <= p->most_seconds;
}

/* What the rival makes small. */
static double worth(const rival_trial *p, const rival_value *v)
{
    if (!meets(p, v))
        return INFINITY;
    if (p->o->form == RIVAL_FRONT)
        return exp((1 - p->weight) * log(v->joules + 1e-9) + p->weight * log(v->seconds + 1e-9));
    return dfl_objective_value(&p->objective, v->joules, v->seconds);
}

static double ratio(double a, double b) { return b > 0 ? a / b : a > 0 ? INFINITY : 1; }

/* The largest share by which both figures of a point of the front must shrink to be at most those of a mapping: below 1 if no
   point is as good in both. 0 without a point. */
static double find_share(const rival_claim *c, const rival_value *v)
{
    double share = 0;

    for (uint32_t i = 0; i < c->n_points; i++)
        share = fmax(share, fmin(ratio(v->joules, c->joules[i]), ratio(v->seconds, c->seconds[i])));
    return share;
}

/* Whether a mapping contradicts a front or its bound, or the second figure of a lexicographic result. */
static bool undercuts(const rival_trial *p, const rival_claim *c, const rival_value *v)
{
    const double few = 1 - 1e-9, more = 1 + 1e-9;

    if (p->o->form == RIVAL_FRONT && c->found && v->joules < c->bound * few)
        return true;
    if (!c->found || !c->optimal || c->n_points == 0)
        return false;
    if (p->o->form == RIVAL_ORDER)
        return (v->joules <= c->joules[0] && v->seconds < c->seconds[0] * few) ||
               (v->seconds <= c->seconds[0] && v->joules < c->joules[0] * few);
    for (uint32_t i = 0; i < c->n_points && p->o->form == RIVAL_FRONT; i++)
        if (c->joules[i] <= v->joules * more && c->seconds[i] <= v->seconds * more)
            return false;
    return p->o->form == RIVAL_FRONT;
}

/* The value of a mapping, INFINITY outside of the space; remembers the best. */
static double judge(rival_trial *p, rival *k, const rival_mapping *m, uint32_t space)
{
    rival_value v = rival_evaluate(k, m);
    double value = worth(p, &v);

    if (value < p->least && !rival_lifts_keeps(k, m)) {
        p->least = value;
        p->at_least = *m;
    }
    for (uint32_t i = v.divides ? 0 : 1; meets(p, &v) && i < RIVAL_SPACES; i++) {
        rival_claim *c = &p->claim[i];
        const bool under = undercuts(p, c, &v);
        const double stands = p->o->form == RIVAL_FRONT ? find_share(c, &v) : value;
        if (c->undercut || (stands >= c->best && !under))
            continue;
        c->undercut = under && (m->n == 1 || p->o->whole || rival_outside(k, m, p->timed) == NULL);
        if (m->n > 1 && !p->o->whole && rival_outside(k, m, p->timed) != NULL) {
            c->beyond = fmin(c->beyond, stands);
        } else {
            c->best = stands;
            c->mapping = *m;
        }
    }
    return space == 0 && !v.divides ? INFINITY : value;
}

/* Tries every amount of every loop, again after each step down. */
static void sweep(rival_trial *p, rival *k, rival_mapping *m, double value, uint32_t space, uint64_t until)
{
    bool better = true;

    while (better && k->evaluated < until) {
        better = false;
        for (uint32_t b = 0; b < m->n; b++)
            for (uint32_t i = 0; i < m->body[b].n; i++) {
                const rival_line *l = &m->body[b].line[i];
                int32_t most = l->kind == DFL_LINE_KEEP       ? 0
                               : l->kind == DFL_LINE_SPATIAL ? (int32_t)p->open->system->axes[l->where].size
                                                             : (int32_t)p->open->workload->ranks[l->what].extent;
                for (int32_t amount = 1; amount <= most && k->evaluated < until; amount++) {
                    rival_mapping next = *m;
                    next.body[b].line[i].amount = amount;
                    double v = amount == m->body[b].line[i].amount ? INFINITY : judge(p, k, &next, space);
                    if (v < value) {
                        *m = next;
                        value = v;
                        better = true;
                    }
                }
            }
    }
}

static void climb(rival_trial *p, rival *k, rival_mapping *m, uint32_t space, uint64_t steps)
{
    const uint64_t begin = k->evaluated, until = begin + steps;
    double value = judge(p, k, m, space), best = value;
    rival_mapping top = *m;

    while (k->evaluated < until) {
        double rest = (double)(until - k->evaluated) / (double)steps, v;
        rival_mapping next = *m;

        rival_change(k, &next);
        if (memcmp(&next, m, sizeof next) == 0) {
            k->evaluated++;
            continue;
        }
        v = judge(p, k, &next, space);
        if (v < INFINITY && v <= value * (1 + 0.2 * rest * rest)) {
            *m = next;
            value = v;
        }
        if (v < best) {
            best = v;
            top = next;
        }
    }
    if (best < INFINITY)
        sweep(p, k, &top, best, space, k->evaluated + steps / 4);
}

typedef struct { rival_trial *p; rival *k; } taker;

static void take(void *context, const rival_mapping *m)
{
    const taker *t = context;

    judge(t->p, t->k, m, 1);
}

static void throw(const rival_trial *p, rival *k, uint32_t i, rival_mapping *out)
{
    if (p->o->most > 0 && p->open->workload->n_einsums == 1 && i % 3 != 0)
        rival_wander(k, out);
    else
        rival_throw(k, i % 4 < 2, out);
}

static void compete(rival_trial *p)
{
    dfl_arena *scratch = dfl_arena_new(NULL);
    rival_mapping m;
    rival k;

    rival_begin(&k, scratch, p->s[0]->names, p->open, p->o->seed);
    k.modes = p->o->modes;
    p->complete = p->o->most > 0 && p->open->workload->n_einsums == 1 && rival_list(&k, p->o->most, take, &(taker){ p, &k });
    for (uint32_t j = 0; j < RIVAL_SPACES; j++)
        p->claim[j].alone = p->claim[j].best;
    for (uint32_t i = 0; i < 2 * STARTS && !p->complete; i++) {
        uint32_t space = i % 2;
        p->weight = i / 2 / (STARTS - 1.0);
        bool own = i + 2 < 2 * STARTS;
        if (!own && (p->found[space] == NULL || !rival_read(&k, p->found[space], &m)))
            rival_start(&k, &m);
        for (uint32_t j = 0; j < 20 && own; j++) {
            throw(p, &k, i, &m);
            if (judge(p, &k, &m, space) < INFINITY)
                break;
        }
        climb(p, &k, &m, space, p->o->evaluations / (2 * STARTS));
        for (uint32_t j = 0; j < RIVAL_SPACES && own; j++)
            p->claim[j].alone = p->claim[j].best;
    }
    p->evaluated = k.evaluated;
    dfl_arena_free(scratch);
}

static void set_fault(rival_trial *p, uint32_t space, const char *what)
{
    const rival_claim *c = &p->claim[space];
    dfl_arena *arena = dfl_arena_new(NULL);
    const rival k = { .open = p->open };
    dfl_strbuf lines;

    dfl_strbuf_init(&lines, arena);
    dfl_mapping_print(&lines, p->s[0]->names, rival_build(&k, arena, &c->mapping), DFL_PRINT_INDENT);
    memcpy(strstr(lines.text, "best"), "hand", 4);
    snprintf(p->fault, RIVAL_WHY, "// --tiles %s: %s: value %.12g, lower bound %.12g, but there is %.12g:\n%s",
             rival_space_names[space], what, c->value, c->bound, c->best, lines.text);
    p->wrong = space;
    dfl_arena_free(arena);
}

/* The bound by exchange patterns at the costs of the result: it holds for all mappings without keeps that are lifted above a
   branch, and for those of an einsum alone without windows. */
static void bound_exchange(rival_trial *p)
{
    const rival_claim *c = &p->claim[1];
    const bool is_alone = p->open->workload->n_einsums == 1;
    const dfl_search_limits limits = { .threads = 1, .evaluations = is_alone ? DFL_ALONE_LISTED : 0 };
    dfl_einsum_classes *classes;

    if (c->n_points == 0 || p->o->form != RIVAL_PLAIN)
        return;
    classes = dfl_exchange_list(p->s[0]->arena, p->s[0]->names, p->open, &p->objective, &limits);
    if (!is_alone || (classes != NULL && !dfl_exchange_has_windows(classes)))
        p->exchange = dfl_exchange_bound(p->s[0]->arena, p->s[0]->names, p->open, &p->objective, c->joules[0], c->seconds[0],
                                         classes, &limits).value;
    if (!(p->exchange > p->least * (1 + 1e-9)))
        return;
    p->claim[1].bound = p->exchange;
    p->claim[1].best = p->least;
    p->claim[1].mapping = p->at_least;
    set_fault(p, 1, "bounded by exchange patterns");
}

static void find_fault(rival_trial *p)
{
    for (uint32_t i = 0; i < RIVAL_SPACES && p->fault[0] == '\0'; i++) {
        const rival_claim *c = &p->claim[i];
        if (c->undercut)
            set_fault(p, i, p->o->form == RIVAL_FRONT ? "a complete front (as 1), or its bound" : "the second figure");
        else if (c->infeasible && c->best < INFINITY)
            set_fault(p, i, "nothing fits");
        else if (p->o->form == RIVAL_FRONT)
            continue;
        else if (c->found && c->optimal && c->best < c->value * (1 - 1e-9))
            set_fault(p, i, "optimal");
        else if (c->found && !isnan(c->bound) && c->best < c->bound * (1 - 1e-9))
            set_fault(p, i, "bounded");
        else if (c->found && p->complete && c->best > c->value * (1 + 1e-9) && c->best < INFINITY)
            set_fault(p, i, "below all mappings that the rival lists");
    }
}

/* Replaces the objective of the text by what `form` asks; NULL = no mapping fits without a requirement. */
static char *text_of_form(rival_trial *p, char *text, const rival_choices *choices)
{
    const char *old = strstr(text, "minimize "), *end = strchr(old, ';');
    uint32_t pick = (uint32_t)choices->value[1] + choices->value[2] + choices->value[3];
    char clause[200], *out = NULL;
    size_t len;

    if (p->o->form == RIVAL_FRONT) {
        snprintf(clause, sizeof clause, "pareto energy, latency");
    } else if (p->o->form == RIVAL_ORDER) {
        snprintf(clause, sizeof clause, "minimize %s", pick % 2 == 0 ? "energy, latency" : "latency, energy");
    } else {
        static const double shares[] = { 1, 0.8, 1.2, 0.95, 1.5 };
        double share = shares[pick / 2 % 5];
        p->text = text;
        if (!search(p, 1) || p->claim[1].n_points == 0)
            return NULL;
        const double *of = pick % 2 == 0 ? p->claim[1].seconds : p->claim[1].joules;
        snprintf(clause, sizeof clause, "%.*s;\n    require %s <= %.6f%s", (int)(end - old), old,
                 pick % 2 == 0 ? "latency" : "energy", share * of[0], pick % 2 == 0 ? "s" : "J");
        *(pick % 2 == 0 ? &p->most_seconds : &p->most_joules) = strtod(strstr(clause, "<=") + 2, NULL);
        dfl_session_free(p->s[1]);
        p->s[1] = NULL;
        p->found[1] = NULL;
    }
    FILE *file = open_memstream(&out, &len);
    fprintf(file, "%.*s%s%s", (int)(old - text), text, clause, end);
    fclose(file);
    return out;
}

bool rival_try(rival_trial *p, const rival_options *o, const rival_choices *choices)
{
    char *plain = rival_text(choices, &o->kinds), *text;
    bool searched = true;

    *p = (rival_trial){ .o = o, .text = plain, .most_joules = INFINITY, .most_seconds = INFINITY,
                        .least = INFINITY };
    if (o->form != RIVAL_PLAIN) {
        text = text_of_form(p, plain, choices);
        if (text == NULL)
            return false;
        free(plain);
        p->text = text;
    }
    for (uint32_t i = 0; i < RIVAL_SPACES && searched; i++)
        searched = search(p, i);
    if (searched) {
        compete(p);
        find_fault(p);
        if (p->fault[0] == '\0')
            bound_exchange(p);
    }
    return searched;
}

void rival_forget(rival_trial *p)
{
    for (uint32_t i = 0; i < RIVAL_SPACES; i++)
        dfl_session_free(p->s[i]);
    free(p->text);
}
