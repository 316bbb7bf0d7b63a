#include "certify/plans.h"

#include <math.h>
#include <string.h>

#include "certify/plan_room.h"
#include "diag/json_want.h"
#include "ir/decisions.h"
#include "ir/print_mapping.h"
#include "plan/plan.h"
#include "support/limits.h"

/* An open amount of a line, or the value of an open decision, and what it may be. */
typedef struct {
    uint32_t line;             /* of the root; DFL_NONE = a decision */
    uint32_t decision;         /* index; DFL_NONE = the amount of a line */
    bool divides;              /* it decides which chips have work */
    dfl_by by;
    int64_t *amounts; uint32_t n; /* ascending */
    uint32_t at;               /* index of the present amount */
} hole;

typedef struct {
    dfl_certify_run *run;
    const dfl_claims *claims;
    const dfl_mapping *asked;
    hole *holes; uint32_t n_holes;
    int64_t *values;           /* [decision]: its present value */
    uint32_t *spatial, n_spatial; /* spatial lines of the root */
    const dfl_json *divisions; /* of the certificate, in the order of their amounts */
    uint64_t plans, every;     /* number of plans with work for all chips; each `every`th of them is evaluated */
    uint64_t passes;           /* plans of one division */
    const dfl_plan_room *room;
    dfl_mapping *trial;        /* a copy of `asked` for amounts of lines */
    dfl_arena *work;           /* of one plan; reset before each */
    dfl_plan_memo *memo;       /* results that several plans share */
    uint64_t n_seen, n_lacking, n_evaluated, n_runs;
    uint64_t n_refused;        /* plans that are legal for all that is known, and not evaluated, as after E0609 */
    const char *why;           /* the report about the first of them */
    bool holds;
} plan_check;

/* ---- the space ---- */

/* Sets the amounts of a hole: the `n` listed ones, or, if `listed` is NULL, the divisors of `of` up to `most`, ascending. */
static void set_amounts(dfl_arena *arena, const int64_t *listed, uint32_t n, int64_t of, int64_t most, hole *out)
{
    for (int64_t d = 1; d <= of / d && listed == NULL; d++)
        n += of % d == 0 ? 2 : 0;
    out->amounts = DFL_NEW_ARRAY(arena, int64_t, (size_t)n + 1);
    if (listed != NULL) {
        memcpy(out->amounts, listed, n * sizeof *out->amounts);
        out->n = n;
        return;
    }
    for (int64_t d = 1; d <= of / d; d++)
        if (of % d == 0 && d <= most)
            out->amounts[out->n++] = d;
    for (int64_t d = (int64_t)sqrt((double)of) + 1; d > 0; d--)
        if (of % d == 0 && of / d > d && of / d <= most && of / d > out->amounts[out->n - 1])
            out->amounts[out->n++] = of / d;
}

/* Lists what an open amount may be: as the file has it, else divisors, of the axis for parts of a spatial line; where the claims
   are about passes of any size, all sizes and numbers of passes. */
static void list_amounts(dfl_arena *arena, const dfl_mapping *m, const dfl_claims *claims, hole *out)
{
    const dfl_line *line = &m->root->lines[out->line];
    const int64_t extent = dfl_line_longest(m, out->line);
    const int64_t of = out->divides && line->hole->by == DFL_BY_PARTS ? m->system->axes[line->axis].size : extent;

    out->by = line->hole->by;
    if (!out->divides && line->hole->choices == NULL && strcmp(claims->space, DFL_PLAN_SPACE_IMPERFECT) == 0) {
        out->n = extent < DFL_PLAN_CANDIDATES ? (uint32_t)extent : DFL_PLAN_CANDIDATES; /* the search refuses more */
        out->amounts = DFL_NEW_ARRAY(arena, int64_t, (size_t)out->n + 1);
        for (uint32_t i = 0; i < out->n; i++)
            out->amounts[i] = i + 1;
        return;
    }
    set_amounts(arena, line->hole->choices, line->hole->n_choices, of, extent, out);
}

/* Lists the values of a decision: as the file has them, else divisors: of the axis for parts of a home, of its rank for the sizes
   of the parts, of the iterations for an interleave. */
static void list_values(dfl_arena *arena, const dfl_mapping *m, hole *out)
{
    const dfl_decision *d = &m->decisions[out->decision];
    int64_t *sets = DFL_NEW_ARRAY(arena, int64_t, (size_t)d->n + 1), of = 1, most = 1;

    for (uint32_t i = 0; i < d->n; i++)
        sets[i] = i;
    for (uint32_t i = 0; i < m->root->n_lines && d->kind == DFL_DECISION_INTERLEAVE; i++)
        if (m->root->lines[i].stages != NULL && m->root->lines[i].stages->interleave_decision == out->decision + 1)
            of = most = m->workload->ranks[m->root->lines[i].rank].extent;
    if (d->kind == DFL_DECISION_SPLIT) {
        most = m->workload->ranks[d->rank].extent;
        of = d->by == DFL_BY_PARTS ? m->system->axes[d->axis].size : most;
    }
    set_amounts(arena, d->n == 0 ? NULL : d->values != NULL ? d->values : sets, d->n, of, most, out);
}

/* Adds the decisions: those about homes and divided ranks, or the others. */
static void list_decisions(plan_check *c, bool divides)
{
    for (uint32_t d = 0; d < c->asked->n_decisions; d++) {
        hole *h = &c->holes[c->n_holes];

        if (dfl_decision_divides(c->asked->decisions[d].kind) != divides)
            continue;
        c->n_holes++;
        *h = (hole){ .line = DFL_NONE, .decision = d, .divides = divides };
        list_values(c->run->arena, c->asked, h);
        c->passes *= divides ? 1 : h->n;
    }
}

static void list_holes(plan_check *c)
{
    const dfl_body *root = c->asked->root;

    c->holes = DFL_NEW_ARRAY(c->run->arena, hole, (size_t)root->n_lines + c->asked->n_decisions + 1);
    c->values = DFL_NEW_ARRAY(c->run->arena, int64_t, (size_t)c->asked->n_decisions + 1);
    c->passes = 1;
    c->spatial = DFL_NEW_ARRAY(c->run->arena, uint32_t, (size_t)root->n_lines + 1);
    for (uint32_t i = 0; i < root->n_lines; i++)
        if (root->lines[i].kind == DFL_LINE_SPATIAL)
            c->spatial[c->n_spatial++] = i;
    list_decisions(c, true);
    for (uint32_t i = 0; i < root->n_lines; i++) {
        hole *h = &c->holes[c->n_holes];

        if (root->lines[i].kind == DFL_LINE_KEEP || root->lines[i].by != DFL_BY_HOLE || !dfl_line_is_first(root, i))
            continue;
        c->n_holes++;
        *h = (hole){ .line = i, .decision = DFL_NONE, .divides = root->lines[i].kind == DFL_LINE_SPATIAL };
        list_amounts(c->run->arena, c->asked, c->claims, h);
        c->passes *= h->divides ? 1 : h->n;
    }
    list_decisions(c, false);
}

/* The next amounts of the holes that decide which chips have work, or of the others; false behind the last, all being the first
   ones then. */
static bool next_amounts(plan_check *c, bool divides)
{
    for (uint32_t h = c->n_holes; h-- > 0;) {
        if (c->holes[h].divides != divides)
            continue;
        if (++c->holes[h].at < c->holes[h].n)
            return true;
        c->holes[h].at = 0;
    }
    return false;
}

/* Sets the amount of the written loop that starts with a line of the root. */
static void set_amount(dfl_mapping *m, uint32_t line, dfl_by by, int64_t amount)
{
    const uint32_t end = dfl_line_end(m->root, line);

    for (; line < end; line++) {
        m->root->lines[line].by = by;
        m->root->lines[line].amount = amount;
    }
}

/* Writes the present amounts into a copy of the open plan in `arena`. */
static void write_amounts(plan_check *c, dfl_arena *arena, dfl_mapping *m)
{
    for (uint32_t h = 0; h < c->n_holes; h++) {
        const int64_t amount = c->holes[h].amounts[c->holes[h].at];

        if (c->holes[h].decision != DFL_NONE) {
            c->values[c->holes[h].decision] = amount;
            continue;
        }
        set_amount(m, c->holes[h].line, c->holes[h].by, amount);
    }
    dfl_mapping_decide(arena, m, c->values);
}

/* Whether the parts on each axis could multiply to its size: each line by itself, and equal numbers of parts once or more. A
   quick test before the exact one. */
static bool may_be_full(const plan_check *c, const dfl_mapping *m)
{
    for (uint32_t a = 0; a < m->system->n_axes; a++) {
        int64_t different = 1; /* product of the numbers of parts, equal ones once: lines of different numbers share no group */

        for (uint32_t i = 0; i < c->n_spatial; i++) {
            const dfl_line *line = &m->root->lines[c->spatial[i]];
            bool is_first = line->by == DFL_BY_PARTS && line->axis == a;

            for (uint32_t j = 0; j < i && is_first; j++) {
                const dfl_line *other = &m->root->lines[c->spatial[j]];
                is_first = other->axis != a || other->by != line->by || other->amount != line->amount;
            }
            if (is_first && __builtin_mul_overflow(different, line->amount, &different))
                return false;
        }
        if (different > m->system->axes[a].size)
            return false;
    }
    return true;
}

/* ---- the claims ---- */

/* Whether the certificate states the division with the present amounts at its place `at`. */
static bool is_claimed(const plan_check *c, size_t at)
{
    const dfl_json *division = at < c->divisions->len ? &c->divisions->items[at] : NULL;
    const dfl_json *amounts = division != NULL ? dfl_json_get(division, "amounts") : NULL;
    bool is_same = amounts != NULL && amounts->kind == DFL_JSON_ARRAY;
    size_t n = 0;

    for (uint32_t h = 0; h < c->n_holes && is_same; h++)
        if (c->holes[h].divides) {
            is_same = n < amounts->len && amounts->items[n].kind == DFL_JSON_INT &&
                      amounts->items[n].integer == c->holes[h].amounts[c->holes[h].at];
            n++;
        }
    return is_same && n == amounts->len;
}

/* The latency that no plan of a division undercuts: INFINITY if none can run. */
static double least_of(const plan_check *c, size_t division)
{
    const dfl_json *least = dfl_json_get(&c->divisions->items[division], "least");

    if (least == NULL || least->kind == DFL_JSON_NULL)
        return INFINITY;
    return least->kind == DFL_JSON_REAL || least->kind == DFL_JSON_INT ? least->real : NAN;
}

/* Counts plans that were refused, if they are not illegal: the last report about them is in `sink`. */
static void count_refused(plan_check *c, uint64_t plans, const dfl_sink *sink)
{
    const dfl_code code = dfl_sink_last(sink);
    const dfl_diag *d = NULL;

    if (dfl_code_is_illegal_mapping(code))
        return;
    for (size_t i = 0; i < dfl_sink_count(sink) && d == NULL; i++)
        d = dfl_sink_at(sink, i)->code == code ? dfl_sink_at(sink, i) : NULL;
    if (c->n_refused == 0)
        c->why = dfl_arena_printf(c->run->arena, "%s", d != NULL ? d->message : "a limit of the evaluation");
    c->n_refused += plans;
}

/* Evaluates the plan with the present amounts. False after a report, or if the check must stop. */
static bool check_plan(plan_check *c, size_t division)
{
    const dfl_certify_task *task = c->run->task;
    const dfl_certify_progress now = { .checked = (uint32_t)division, .total = (uint32_t)c->divisions->len };
    dfl_arena *work = c->work;
    dfl_sink *quiet;
    dfl_mapping *m;
    const dfl_result *r;
    double value;

    dfl_arena_reset(work);
    quiet = dfl_sink_new(work, NULL);
    m = dfl_mapping_copy(work, c->asked);
    write_amounts(c, work, m);
    r = dfl_plan_evaluate(work, quiet, task->names, m, c->memo);
    c->n_evaluated++;
    if (r != NULL) {
        value = task->value(task->objective, r->joules, r->seconds);
        c->n_runs++;
        if (!(r->seconds >= least_of(c, division) * (1 - task->rounding))) {
            dfl_report(c->run->sink, DFL_CERT_BOUND, c->asked->span, "the least time of division %zu in `%s` is %.12g, and one "
                       "of its plans takes %.12g", division + 1, c->claims->file, least_of(c, division), r->seconds);
            c->holds = false;
        } else if (!(value >= c->claims->lower_bound * (1 - task->rounding))) {
            dfl_report(c->run->sink, DFL_CERT_BOUND, c->asked->span, "the lower bound in `%s` is %.12g, and a plan has %.12g",
                       c->claims->file, c->claims->lower_bound, value);
            c->holds = false;
        }
    } else {
        count_refused(c, 1, quiet);
    }
    if (task->tell != NULL && task->tell(task->context, 1, &now) != DFL_STOP_NONE)
        c->run->stopped = true;
    return c->holds && !c->run->stopped && dfl_budget_ok(dfl_arena_budget(c->run->arena));
}

/* ---- the walk ---- */

/* Whether the amounts of split homes and spatial lines give work to all chips, which no pass and no other decision changes.
   Counts the plans if this is unknown. */
static bool is_full(plan_check *c)
{
    dfl_arena *work;
    dfl_sink *quiet;
    dfl_mapping *m = c->trial;
    bool out;

    for (uint32_t h = 0; h < c->n_holes; h++) /* the amounts of lines alone, for the quick test */
        if (c->holes[h].divides && c->holes[h].decision == DFL_NONE)
            set_amount(m, c->holes[h].line, c->holes[h].by, c->holes[h].amounts[c->holes[h].at]);
    if (!may_be_full(c, m))
        return false;
    work = c->work;
    dfl_arena_reset(work);
    quiet = dfl_sink_new(work, NULL);
    m = dfl_mapping_copy(work, c->asked);
    write_amounts(c, work, m);
    for (uint32_t h = 0; h < c->n_holes; h++)
        if (!c->holes[h].divides && c->holes[h].decision == DFL_NONE) /* one pass */
            set_amount(m, c->holes[h].line, DFL_BY_PARTS, 1);
    out = dfl_plan_uses_all(work, quiet, c->run->task->names, m);
    if (!out && dfl_sink_errors(quiet) > 0)
        count_refused(c, c->passes, quiet);
    return out;
}

/* Whether the certificate lists all divisions that give work to all chips, in the order of their amounts. It may list others.
   False after a report. */
static bool check_divisions(plan_check *c)
{
    size_t at = 0;
    bool is_fine = true;

    do {
        if (is_claimed(c, at))
            at++;
        else
            is_fine = !is_full(c);
    } while (is_fine && next_amounts(c, true));
    if (is_fine && at == c->divisions->len)
        return true;
    dfl_report(c->run->sink, DFL_CERT_TEMPLATES, c->asked->span, is_fine
               ? "division %zu in `%s` is none of this plan, or listed out of order"
               : "a division of the chips of this plan that would be number %zu is missing in `%s`", at + 1, c->claims->file);
    return false;
}

/* Sets the amounts of the spatial lines to those of a division of the certificate, which were compared before. */
static void take_division(plan_check *c, size_t division)
{
    const dfl_json *amounts = dfl_json_get(&c->divisions->items[division], "amounts");
    size_t n = 0;

    for (uint32_t h = 0; h < c->n_holes; h++) {
        if (!c->holes[h].divides)
            continue;
        for (c->holes[h].at = 0; c->holes[h].amounts[c->holes[h].at] != amounts->items[n].integer;)
            c->holes[h].at++;
        n++;
    }
}

/* Whether the plan with the present amounts lacks room for what every such plan holds. */
static bool lacks_room(plan_check *c)
{
    dfl_mapping *m = c->trial;

    dfl_arena_reset(c->work);
    if (c->asked->n_decisions > 0)
        m = dfl_mapping_copy(c->work, c->asked);
    write_amounts(c, c->work, m);
    return dfl_plan_room_lacks(c->room, m);
}

/* Evaluates the plans of all divisions that have room, or each `every`th of all. */
static void check_all(plan_check *c)
{
    for (size_t d = 0; d < c->divisions->len; d++) {
        take_division(c, d);
        do {
            if (c->n_seen++ % c->every != 0)
                continue;
            if (lacks_room(c))
                c->n_lacking++;
            else if (!check_plan(c, d))
                return;
        } while (next_amounts(c, false));
    }
}

/* Says what the check found, and what it leaves unproven. */
static void say(const plan_check *c, dfl_strbuf *said)
{
    const bool stopped = c->run->stopped, is_whole = !stopped && c->every == 1 && c->n_seen == c->plans;
    const uint64_t n_checked = c->n_lacking + c->n_evaluated;
    const char *outcome = stopped ? "certificate holds so far"
                          : is_whole && c->n_refused == 0 ? "certificate holds" : "certificate not refuted";

    dfl_strbuf_printf(said, "%s: %zu divisions of the chips, %llu plans: %llu lack room, %llu evaluated, %llu of them can run; "
                      "best %.6g, lower bound %.6g%s\n", outcome, c->divisions->len, (unsigned long long)c->plans,
                      (unsigned long long)c->n_lacking, (unsigned long long)c->n_evaluated, (unsigned long long)c->n_runs,
                      c->claims->value, c->claims->lower_bound, is_whole ? "" : " if the unchecked ones hold");
    if (!is_whole && !stopped)
        dfl_strbuf_printf(said, "not proven: a sample tests %llu of %llu plans, and proves nothing of the others; `--effort` "
                          "sets their number\n", (unsigned long long)n_checked, (unsigned long long)c->plans);
    if (c->n_refused > 0)
        dfl_strbuf_printf(said, "not proven: the model does not evaluate %llu plan%s, which may be better: %s\n",
                          (unsigned long long)c->n_refused, c->n_refused == 1 ? "" : "s", c->why);
}

/* The next loop of a body from line `at` on; n_lines = none. */
static uint32_t next_loop(const dfl_body *body, uint32_t at)
{
    while (at < body->n_lines && body->lines[at].kind == DFL_LINE_KEEP)
        at++;
    return at;
}

/* The value of a decision in a plan without open ones; -1 if it is none. */
static int64_t find_value(const dfl_mapping *asked, uint32_t decision, const dfl_mapping *best)
{
    const dfl_decision *d = &asked->decisions[decision];
    int64_t value = -1;
    uint32_t most = 0;

    for (uint32_t i = 0; i < best->root->n_lines && value < 0; i++) {
        const dfl_line *line = &best->root->lines[i];

        if (line->stages != NULL && d->kind == DFL_DECISION_SCHEDULE)
            value = line->stages->schedule;
        if (line->stages != NULL && d->kind == DFL_DECISION_INTERLEAVE)
            value = line->stages->interleave;
    }
    for (uint32_t i = next_loop(asked->root, 0), b = 0; i < asked->root->n_lines && d->kind == DFL_DECISION_RANK;
         i = next_loop(asked->root, i + 1), b++) { /* the lines stand in the same order */
        b = next_loop(best->root, b);
        if (asked->root->lines[i].rank_decision == decision + 1 && b < best->root->n_lines)
            value = best->root->lines[b].rank;
    }
    for (uint32_t i = 0; i < asked->root->n_lines && d->kind == DFL_DECISION_HOME; i++)
        for (uint32_t b = 0; b < best->root->n_lines && asked->root->lines[i].memory_decision == decision + 1; b++)
            if (best->root->lines[b].kind == DFL_LINE_KEEP && best->root->lines[b].tensor == asked->root->lines[i].tensor)
                value = best->root->lines[b].memory;
    for (uint32_t i = 0; i < asked->root->n_lines && d->kind == DFL_DECISION_SPLIT; i++)
        for (uint32_t k = 0; k < asked->root->lines[i].n_splits; k++)
            for (uint32_t b = 0; b < best->root->n_lines && asked->root->lines[i].splits[k].decision == decision + 1; b++)
                if (best->root->lines[b].kind == DFL_LINE_KEEP && best->root->lines[b].tensor == asked->root->lines[i].tensor &&
                    k < best->root->lines[b].n_splits)
                    value = best->root->lines[b].splits[k].amount;
    for (uint32_t s = 0; s < d->n && d->kind == DFL_DECISION_RECOMPUTE; s++) { /* the largest set of those that are recomputed */
        uint32_t n = 0;

        for (uint32_t i = 0; i < d->sets[s].n; i++)
            for (uint32_t k = 0; k < best->root->n_recompute; k++)
                n += best->root->recompute[k] == d->sets[s].tensors[i];
        if (n == d->sets[s].n && (value < 0 || n > most)) {
            value = s;
            most = n;
        }
    }
    return value;
}

/* Writes the values of all decisions of `best` into a copy of the open plan. False if one of them is none that is asked for. */
static bool take_decisions(dfl_arena *arena, const dfl_mapping *asked, const dfl_mapping *best, dfl_mapping *filled)
{
    int64_t *values = DFL_NEW_ARRAY(arena, int64_t, (size_t)asked->n_decisions + 1);

    for (uint32_t d = 0; d < asked->n_decisions; d++) {
        hole h = { .line = DFL_NONE, .decision = d };

        values[d] = find_value(asked, d, best);
        list_values(arena, asked, &h);
        while (h.at < h.n && h.amounts[h.at] != values[d])
            h.at++;
        if (h.at == h.n)
            return false;
    }
    dfl_mapping_decide(arena, filled, values);
    return true;
}

/* The open plan with the amounts and decisions of `best`. NULL if one of them is none that is asked for. */
static dfl_mapping *fill_like(dfl_arena *arena, const dfl_mapping *asked, const dfl_mapping *best, const dfl_claims *claims)
{
    dfl_mapping *filled = dfl_mapping_copy(arena, asked);
    uint32_t in_best = 0;

    for (uint32_t i = next_loop(filled->root, 0); i < filled->root->n_lines; i = next_loop(filled->root, i + 1), in_best++) {
        dfl_line *line = &filled->root->lines[i];
        hole h = { .line = i, .decision = DFL_NONE, .divides = line->kind == DFL_LINE_SPATIAL };

        while (!dfl_line_is_first(asked->root, h.line))
            h.line--;
        in_best = next_loop(best->root, in_best);
        if (in_best == best->root->n_lines)
            return NULL;
        if (line->by != DFL_BY_HOLE)
            continue;
        list_amounts(arena, asked, claims, &h);
        while (h.at < h.n && h.amounts[h.at] != best->root->lines[in_best].amount)
            h.at++;
        if (h.at == h.n)
            return NULL;
        line->by = line->hole->by;
        line->amount = h.amounts[h.at];
    }
    return take_decisions(arena, asked, best, filled) ? filled : NULL;
}

bool dfl_certify_fills_plan(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *asked, const dfl_mapping *best,
                            const dfl_claims *claims)
{
    const dfl_mapping *filled = fill_like(arena, asked, best, claims);
    dfl_strbuf want, has;

    if (filled == NULL)
        return false;
    dfl_strbuf_init(&want, arena);
    dfl_strbuf_init(&has, arena);
    dfl_mapping_print(&want, names, filled, DFL_PRINT_INDENT);
    dfl_mapping_print(&has, names, best, DFL_PRINT_INDENT);
    return strcmp(want.text, has.text) == 0;
}

/* Whether the best plan has room by the test that spares evaluations: the evaluation says that it has. */
static bool check_room(const plan_check *c)
{
    const dfl_mapping *best = fill_like(c->run->arena, c->asked, c->run->task->best, c->claims);

    if (best == NULL || !dfl_plan_room_lacks(c->room, best))
        return true;
    dfl_report(c->run->sink, DFL_INTERNAL_ERROR, c->asked->span, "the check of certificates finds no room for a plan that fits");
    return false;
}

bool dfl_certify_plans(dfl_certify_run *run, const dfl_claims *claims, dfl_strbuf *said)
{
    dfl_json_wanting want = { run->sink, DFL_CERT_UNREADABLE, claims->file, "is not a certificate", true };
    plan_check c = { .run = run, .claims = claims, .asked = run->task->asked, .holds = true };

    c.divisions = dfl_json_want(&want, claims->search, "divisions", DFL_JSON_ARRAY, "is not a list");
    if (c.divisions == NULL)
        return false;
    list_holes(&c);
    c.room = dfl_plan_room_new(run->arena, c.asked);
    c.trial = dfl_mapping_copy(run->arena, c.asked);
    c.work = dfl_arena_new(dfl_arena_budget(run->arena));
    c.memo = dfl_plan_memo_new(run->arena);
    if (!check_room(&c) || !check_divisions(&c)) {
        dfl_arena_free(c.work);
        return false;
    }
    c.plans = c.divisions->len * c.passes;
    c.every = run->task->effort > 0 && c.plans > run->task->effort ? (c.plans + run->task->effort - 1) / run->task->effort : 1;
    check_all(&c);
    dfl_arena_free(c.work);
    if (!c.holds)
        return false;
    say(&c, said);
    return !run->stopped;
}
