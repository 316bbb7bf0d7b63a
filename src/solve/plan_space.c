#include "solve/plan_space.h"

#include <math.h>
#include <string.h>

#include "ir/decisions.h"
#include "support/limits.h"

/* The divisors of `of` that are at most `most`, ascending. */
static void list_divisors(dfl_arena *arena, int64_t of, int64_t most, dfl_open_amount *out)
{
    uint32_t n = 0;

    for (int64_t d = 1; d <= of / d; d++)
        n += of % d == 0 ? 2 : 0;
    out->amounts = DFL_NEW_ARRAY(arena, int64_t, (size_t)n + 1);
    for (int64_t d = 1; d <= of / d; d++)
        if (of % d == 0 && d <= most)
            out->amounts[out->n++] = d;
    for (int64_t d = (int64_t)sqrt((double)of) + 1; d > 0; d--)
        if (of % d == 0 && of / d > d && of / d > (out->n > 0 ? out->amounts[out->n - 1] : 0) && of / d <= most)
            out->amounts[out->n++] = of / d;
}

/* The amounts of a hole: as the file lists them, else divisors: of the axis for parts of a spatial line, up to the extent of its
   longest rank, else of the rank. With `imperfect`, all for a temporal line, whose last pass may be smaller. */
static void list_amounts(dfl_arena *arena, const dfl_mapping *m, bool imperfect, dfl_open_amount *out)
{
    const dfl_line *line = &m->root->lines[out->line];
    const int64_t extent = dfl_line_longest(m, out->line);

    out->by = line->hole->by;
    if (line->hole->choices != NULL) {
        out->n = line->hole->n_choices;
        out->amounts = DFL_NEW_ARRAY(arena, int64_t, out->n);
        memcpy(out->amounts, line->hole->choices, out->n * sizeof *out->amounts);
        return;
    }
    if (out->kind == DFL_OPEN_TEMPORAL && imperfect) {
        out->amounts = DFL_NEW_ARRAY(arena, int64_t, (size_t)extent + 1);
        for (int64_t d = 1; d <= extent; d++)
            out->amounts[out->n++] = d;
    } else if (out->kind == DFL_OPEN_SPATIAL && out->by == DFL_BY_PARTS)
        list_divisors(arena, m->system->axes[line->axis].size, extent, out);
    else
        list_divisors(arena, extent, extent, out);
}

bool dfl_plan_space_report_many(dfl_sink *sink, const dfl_mapping *given, const char *what, double most)
{
    dfl_diag *d = dfl_report(sink, DFL_LIMIT_COUNT, given->span, "this plan leaves open more than %.3g %s", most, what);

    dfl_diag_help(sink, d, "list the amounts to try, as in `layer/? in {4, 8, 16}`, or write some of them");
    return false;
}

/* The iterations that the stages with an open interleave divide. */
static int64_t layers_of(const dfl_mapping *m, uint32_t decision)
{
    for (uint32_t i = 0; i < m->root->n_lines; i++)
        if (m->root->lines[i].stages != NULL && m->root->lines[i].stages->interleave_decision == decision + 1)
            return m->workload->ranks[m->root->lines[i].rank].extent;
    return 1;
}

/* The values of a decision: as the file lists them, else divisors: of the axis for parts of a home, of the rank for the sizes of
   parts, of the layers for an interleave. */
static void list_values(dfl_arena *arena, const dfl_mapping *m, const dfl_decision *d, dfl_open_amount *out)
{
    out->by = d->by;
    if (d->n > 0) {
        out->n = d->n;
        out->amounts = DFL_NEW_ARRAY(arena, int64_t, d->n);
        for (uint32_t i = 0; i < d->n; i++)
            out->amounts[i] = d->values != NULL ? d->values[i] : i;
    } else if (d->kind == DFL_DECISION_INTERLEAVE) {
        const int64_t layers = layers_of(m, out->decision);

        list_divisors(arena, layers, layers, out);
    } else {
        const int64_t extent = m->workload->ranks[d->rank].extent;

        list_divisors(arena, d->by == DFL_BY_PARTS ? m->system->axes[d->axis].size : extent, extent, out);
    }
}

/* Adds a hole. */
static void add_hole(dfl_plan_space *space, const dfl_open_amount *hole, double *combinations)
{
    space->holes[space->n_holes++] = *hole;
    *combinations *= hole->n;
    space->combinations *= hole->n;
}

bool dfl_plan_space_find(dfl_arena *arena, dfl_sink *sink, const dfl_mapping *given, bool imperfect, dfl_plan_space *out)
{
    const dfl_body *root = given->root;
    double combinations = 1;

    *out = (dfl_plan_space){ .given = given, .combinations = 1 };
    out->holes = DFL_NEW_ARRAY(arena, dfl_open_amount, (size_t)root->n_lines + given->n_decisions + 1);
    for (uint32_t k = 0; k < 3; k++) { /* decisions that divide, lines, the other decisions */
        for (uint32_t d = 0; d < given->n_decisions && k != 1; d++) {
            dfl_open_amount hole = { .kind = k == 0 ? DFL_OPEN_DIVIDING : DFL_OPEN_OTHER, .line = DFL_NONE, .decision = d };

            if (dfl_decision_divides(given->decisions[d].kind) != (k == 0))
                continue;
            list_values(arena, given, &given->decisions[d], &hole);
            add_hole(out, &hole, &combinations);
            out->n_dividing += k == 0;
        }
        for (uint32_t i = 0; i < root->n_lines && k == 1; i++) {
            dfl_open_amount hole = { .kind = root->lines[i].kind == DFL_LINE_SPATIAL ? DFL_OPEN_SPATIAL : DFL_OPEN_TEMPORAL,
                                     .line = i, .decision = DFL_NONE };

            if (root->lines[i].kind == DFL_LINE_KEEP || root->lines[i].by != DFL_BY_HOLE || !dfl_line_is_first(root, i))
                continue;
            if (imperfect && hole.kind == DFL_OPEN_TEMPORAL && root->lines[i].hole->choices == NULL &&
                dfl_line_longest(given, i) > DFL_PLAN_CANDIDATES)
                return dfl_plan_space_report_many(sink, given, "sizes of a pass", DFL_PLAN_CANDIDATES);
            list_amounts(arena, given, imperfect, &hole);
            add_hole(out, &hole, &combinations);
        }
    }
    if (combinations <= DFL_PLAN_COMBINATIONS)
        return true;
    return dfl_plan_space_report_many(sink, given, "combinations of amounts", DFL_PLAN_COMBINATIONS);
}

void dfl_plan_space_reset(dfl_plan_space *space, dfl_open_kind kind)
{
    for (uint32_t h = 0; h < space->n_holes; h++)
        space->holes[h].at = space->holes[h].kind == kind ? 0 : space->holes[h].at;
}

bool dfl_plan_space_next(dfl_plan_space *space, dfl_open_kind kind)
{
    for (uint32_t h = space->n_holes; h-- > 0;) {
        if (space->holes[h].kind != kind)
            continue;
        if (++space->holes[h].at < space->holes[h].n)
            return true;
        space->holes[h].at = 0;
    }
    return false;
}

uint64_t dfl_plan_space_count(const dfl_plan_space *space, dfl_open_kind kind)
{
    uint64_t n = 1;

    for (uint32_t h = 0; h < space->n_holes; h++)
        n *= space->holes[h].kind == kind ? space->holes[h].n : 1;
    return n;
}

/* Tensors of a set: "recompute A, B"; empty for an empty set. */
static const char *set_text(dfl_arena *arena, const dfl_intern *names, const dfl_workload *w, const dfl_tensor_set *set)
{
    const char *out = "";

    for (uint32_t i = 0; i < set->n; i++)
        out = dfl_arena_printf(arena, "%s%s%s", i == 0 ? "recompute " : out, i == 0 ? "" : ", ",
                               dfl_sym_text(names, w->tensors[set->tensors[i]].name));
    return out;
}

/* What a decision keeps in a memory: "W in host", or "W, ... in host" for several tensors. */
static const char *home_text(dfl_arena *arena, const dfl_intern *names, const dfl_mapping *m, uint32_t decision, uint32_t memory)
{
    const char *first = NULL;
    bool is_more = false;

    for (uint32_t i = 0; i < m->root->n_lines; i++) {
        const dfl_line *line = &m->root->lines[i];

        if (line->kind != DFL_LINE_KEEP || line->memory_decision != decision + 1)
            continue;
        is_more |= first != NULL;
        first = first == NULL ? dfl_tensor_label(names, &m->workload->tensors[line->tensor]) : first;
    }
    return dfl_arena_printf(arena, "%s%s in %s", first != NULL ? first : "", is_more ? ", ..." : "",
                            dfl_sym_text(names, m->system->memories[memory].name));
}

const char *dfl_plan_space_text(dfl_arena *arena, const dfl_intern *names, const dfl_plan_space *space, uint32_t hole)
{
    const dfl_open_amount *open = &space->holes[hole];
    const dfl_mapping *m = space->given;
    const dfl_decision *d = open->decision != DFL_NONE ? &m->decisions[open->decision] : NULL;
    const dfl_line *line = d == NULL ? &m->root->lines[open->line] : NULL;
    const long long amount = (long long)open->amounts[open->at];
    const char *rank, *axis;

    if (d != NULL && d->kind == DFL_DECISION_SCHEDULE)
        return dfl_arena_printf(arena, "schedule %s", dfl_schedule_name((dfl_schedule)amount));
    if (d != NULL && d->kind == DFL_DECISION_INTERLEAVE)
        return dfl_arena_printf(arena, "interleave %lld", amount);
    if (d != NULL && d->kind == DFL_DECISION_RECOMPUTE)
        return set_text(arena, names, m->workload, &d->sets[amount]);
    if (d != NULL && d->kind == DFL_DECISION_HOME)
        return home_text(arena, names, m, open->decision, (uint32_t)amount);
    if (d != NULL && d->kind == DFL_DECISION_RANK)
        return dfl_arena_printf(arena, "rank %s", dfl_sym_text(names, m->workload->ranks[amount].name));
    if (line != NULL && line->rank_decision > 0)
        rank = "?";
    else
        rank = dfl_sym_text(names, d != NULL ? d->rank_name : dfl_line_rank_name(m->workload, line));
    axis = d != NULL ? dfl_sym_text(names, m->system->axes[d->axis].name)
           : open->kind == DFL_OPEN_SPATIAL ? dfl_sym_text(names, m->system->axes[line->axis].name) : "";
    return dfl_arena_printf(arena, "%s%s%s%lld%s%s", d != NULL ? "split " : "", rank, open->by == DFL_BY_PARTS ? "/" : ":",
                            amount, *axis != 0 ? " on " : "", axis);
}

dfl_mapping *dfl_plan_space_make(dfl_arena *arena, const dfl_plan_space *space)
{
    dfl_mapping *m = dfl_mapping_copy(arena, space->given);
    int64_t *values = space->given->n_decisions > 0 ? DFL_NEW_ARRAY(arena, int64_t, space->given->n_decisions) : NULL;

    for (uint32_t h = 0; h < space->n_holes; h++) {
        const dfl_open_amount *hole = &space->holes[h];

        if (hole->decision != DFL_NONE) {
            values[hole->decision] = hole->amounts[hole->at];
            continue;
        }
        for (uint32_t i = hole->line; i < dfl_line_end(m->root, hole->line); i++) {
            m->root->lines[i].by = hole->by;
            m->root->lines[i].amount = hole->amounts[hole->at];
        }
    }
    dfl_mapping_decide(arena, m, values);
    return m;
}

void dfl_plan_space_set(dfl_plan_space *space, uint64_t number)
{
    for (uint32_t h = space->n_holes; h-- > 0; number /= space->holes[h].n)
        space->holes[h].at = (uint32_t)(number % space->holes[h].n);
}

uint64_t dfl_plan_space_number(const dfl_plan_space *space)
{
    uint64_t number = 0;

    for (uint32_t h = 0; h < space->n_holes; h++)
        number = number * space->holes[h].n + space->holes[h].at;
    return number;
}

dfl_plan_key dfl_plan_space_key(const dfl_plan_space *space)
{
    dfl_plan_key key = { 0, 0 };

    for (uint32_t h = 0; h < space->n_holes; h++) {
        const dfl_open_amount *hole = &space->holes[h];

        if (hole->kind != DFL_OPEN_OTHER)
            key.cuts = key.cuts * hole->n + hole->at;
        if (hole->decision == DFL_NONE || space->given->decisions[hole->decision].kind != DFL_DECISION_INTERLEAVE)
            key.work = key.work * hole->n + hole->at;
    }
    return key;
}
