#include "solve/plan_nearest.h"

#include <math.h>

#include "plan/plan.h"

enum {
    MOST_TRIALS = 96,          /* plans that are evaluated, some milliseconds each */
    MOST_SHOWN = 3,
};

/* Lines that divide an axis into as many parts, and the splits of homes among them: one degree of the plan. */
typedef struct {
    uint32_t axis;
    int64_t parts;
    bool has_stages;
} degree;

/* A plan that fits. */
typedef struct {
    const char *text;          /* what differs from the written plan */
    double seconds;
} fitting;

typedef struct {
    const dfl_solver *solver;
    const dfl_mapping *given;
    dfl_mapping *trial;        /* a copy with the present changes */
    dfl_arena *arena;          /* of the copies and texts */
    degree *degrees; uint32_t n_degrees;
    fitting shown[MOST_SHOWN]; uint32_t n_shown;
    uint32_t trials;
} nearest;

static const char *sym(const nearest *n, dfl_sym s) { return dfl_sym_text(n->solver->names, s); }

static bool is_repeat(const dfl_workload *w, uint32_t rank)
{
    for (uint32_t c = 0; c < w->n_carries; c++)
        if (w->carries[c].rank == rank)
            return true;
    return false;
}

/* ---- trials ---- */

/* Evaluates the plan with the present changes, and keeps it if it is among the fastest that fit. */
static void try_changes(nearest *n, const char *text)
{
    dfl_arena *work;
    dfl_sink *quiet;
    const dfl_result *result;
    uint32_t at = n->n_shown;

    if (n->trials++ >= MOST_TRIALS || !dfl_budget_ok(n->solver->budget))
        return;
    work = dfl_arena_new(n->solver->budget);
    quiet = dfl_sink_new(work, n->solver->sources);
    dfl_sink_limit(quiet, 0);
    result = dfl_plan_evaluate(work, quiet, n->solver->names, n->trial);
    if (result != NULL && isfinite(result->seconds) && dfl_plan_uses_all(work, quiet, n->solver->names, n->trial)) {
        while (at > 0 && result->seconds < n->shown[at - 1].seconds)
            at--;
        for (uint32_t i = n->n_shown < MOST_SHOWN ? n->n_shown : MOST_SHOWN - 1; i > at; i--)
            n->shown[i] = n->shown[i - 1];
        if (at < MOST_SHOWN)
            n->shown[at] = (fitting){ text, result->seconds };
        n->n_shown += n->n_shown < MOST_SHOWN;
    }
    dfl_arena_free(work);
}

static void reset(nearest *n) { n->trial = dfl_mapping_copy(n->arena, n->given); }

/* ---- changes ---- */

/* Sets all lines and splits of a degree to another number of parts. */
static void set_degree(nearest *n, const degree *of, int64_t parts)
{
    dfl_body *root = n->trial->root;

    for (uint32_t i = 0; i < root->n_lines; i++) {
        dfl_line *line = &root->lines[i];
        dfl_home_split *splits = DFL_NEW_ARRAY(n->arena, dfl_home_split, (size_t)line->n_splits + 1);

        if (line->kind == DFL_LINE_SPATIAL && line->axis == of->axis && line->by == DFL_BY_PARTS &&
            n->given->root->lines[i].amount == of->parts && (line->stages != NULL) == of->has_stages)
            line->amount = parts;
        for (uint32_t k = 0; k < line->n_splits; k++) {
            splits[k] = line->splits[k];
            if (splits[k].axis == of->axis && splits[k].by == DFL_BY_PARTS && splits[k].amount == of->parts && !of->has_stages)
                splits[k].amount = parts;
        }
        line->splits = line->n_splits > 0 ? splits : NULL;
    }
}

/* The ranks of a degree: "h, f, v". */
static const char *ranks_text(const nearest *n, const degree *of)
{
    const dfl_body *root = n->given->root;
    const char *out = "";

    for (uint32_t i = 0; i < root->n_lines; i++) {
        const dfl_line *line = &root->lines[i];
        bool is_new = line->kind == DFL_LINE_SPATIAL && line->axis == of->axis && line->by == DFL_BY_PARTS &&
                      line->amount == of->parts && (line->stages != NULL) == of->has_stages;

        for (uint32_t k = 0; k < i && is_new; k++)
            is_new = root->lines[k].kind != DFL_LINE_SPATIAL || root->lines[k].axis != of->axis ||
                     root->lines[k].amount != of->parts || root->lines[k].rank != line->rank;
        if (is_new)
            out = dfl_arena_printf(n->arena, "%s%s%s", out, *out != 0 ? ", " : "",
                                   sym(n, n->given->workload->ranks[line->rank].name));
    }
    return out;
}

/* The text of another number of parts of a degree: "`h, f, v` on `gpu` 8 -> 16". */
static const char *degree_text(const nearest *n, const degree *of, int64_t parts)
{
    return dfl_arena_printf(n->arena, "`%s` on `%s` %lld -> %lld", ranks_text(n, of),
                            sym(n, n->given->system->axes[of->axis].name), (long long)of->parts, (long long)parts);
}

/* More parts of one degree, and fewer of another one on the same axis. */
static void try_degrees(nearest *n, const char *besides)
{
    for (uint32_t a = 0; a < n->n_degrees; a++)
        for (uint32_t b = 0; b < n->n_degrees; b++)
            for (int64_t factor = 2; a != b && n->degrees[a].axis == n->degrees[b].axis &&
                                     n->degrees[b].parts % factor == 0; factor *= 2) {
                set_degree(n, &n->degrees[a], n->degrees[a].parts * factor);
                set_degree(n, &n->degrees[b], n->degrees[b].parts / factor);
                try_changes(n, dfl_arena_printf(n->arena, "%s and %s%s",
                                                degree_text(n, &n->degrees[a], n->degrees[a].parts * factor),
                                                degree_text(n, &n->degrees[b], n->degrees[b].parts / factor), besides));
                reset(n);
            }
}

/* Smaller micro-batches, down to one value of the rank. */
static void try_passes(nearest *n, const char *besides)
{
    for (uint32_t i = 0; i < n->given->root->n_lines; i++) {
        const dfl_line *line = &n->given->root->lines[i];

        if (line->kind != DFL_LINE_TEMPORAL || is_repeat(n->given->workload, line->rank) || line->by == DFL_BY_HOLE)
            continue;
        const int64_t extent = n->given->workload->ranks[line->rank].extent;
        int64_t amount = line->amount;

        while (line->by == DFL_BY_PARTS ? amount < extent : amount > 1) {
            if (line->by == DFL_BY_PARTS)
                amount = amount <= extent / 2 ? amount * 2 : extent;
            else
                amount /= 2;
            n->trial->root->lines[i].amount = amount;
            try_changes(n, dfl_arena_printf(n->arena, "`temporal %s%s%lld`%s", sym(n, n->given->workload->ranks[line->rank].name),
                                            line->by == DFL_BY_PARTS ? "/" : ":", (long long)amount, besides));
            reset(n);
        }
    }
}

/* Makes all values of the forward pass again in the backward one. False if the plan does so already. */
static bool recompute_all(nearest *n)
{
    const dfl_workload *w = n->given->workload;
    uint32_t *all = DFL_NEW_ARRAY(n->arena, uint32_t, (size_t)w->n_tensors + 1), n_all = 0;
    bool trains = false;

    for (uint32_t e = 0; e < w->n_einsums; e++)
        trains |= w->einsums[e].phase == DFL_PHASE_BACKWARD;
    for (uint32_t t = 0; t < w->n_tensors; t++)
        if (w->tensors[t].part == DFL_PART_PLAIN && w->tensors[t].role == DFL_ROLE_INTERMEDIATE &&
            w->einsums[w->tensors[t].producers[0]].phase == DFL_PHASE_FORWARD)
            all[n_all++] = t;
    if (!trains || n_all <= n->given->root->n_recompute)
        return false;
    n->trial->root->recompute = all;
    n->trial->root->n_recompute = n_all;
    return true;
}

/* The rank that divides most of the optimizer's state; DFL_NONE = there is none. */
static uint32_t find_state_rank(const nearest *n)
{
    const dfl_workload *w = n->given->workload;
    uint32_t best = DFL_NONE;
    double most = 0;

    for (uint32_t r = 0; r < w->n_ranks; r++) {
        double sum = 0;

        for (uint32_t e = 0; e < w->n_einsums; e++)
            for (uint32_t d = 0; d < w->einsums[e].output.n_dims && w->einsums[e].phase == DFL_PHASE_UPDATE; d++) {
                double elements = 1;
                uint32_t rank;

                if (!dfl_index_is_bare(&w->einsums[e].output.index[d], &rank) || rank != r || is_repeat(w, r))
                    continue;
                for (uint32_t i = 0; i < w->einsums[e].n_ranks; i++)
                    elements *= (double)w->ranks[w->einsums[e].ranks[i]].extent;
                sum += elements;
            }
        best = sum > most ? r : best;
        most = fmax(most, sum);
    }
    return best;
}

/* Adds a line that divides a rank of all steps of the optimizer. */
static void divide_update(nearest *n, const degree *of, uint32_t rank)
{
    const dfl_workload *w = n->given->workload;
    dfl_body *root = n->trial->root;
    dfl_line *lines = DFL_NEW_ARRAY(n->arena, dfl_line, (size_t)root->n_lines + 1);
    uint32_t *only = DFL_NEW_ARRAY(n->arena, uint32_t, (size_t)w->n_einsums + 1), n_only = 0;

    for (uint32_t e = 0; e < w->n_einsums; e++)
        if (w->einsums[e].phase == DFL_PHASE_UPDATE && dfl_einsum_has_rank(&w->einsums[e], rank))
            only[n_only++] = e;
    for (uint32_t i = 0; i < root->n_lines; i++)
        lines[i] = root->lines[i];
    lines[root->n_lines] = (dfl_line){ .kind = DFL_LINE_SPATIAL, .span = n->given->span, .amount_span = n->given->span,
                                       .rank = rank, .by = DFL_BY_PARTS, .amount = of->parts, .axis = of->axis, .only = only,
                                       .n_only = n_only, .statement = root->n_lines };
    root->lines = lines;
    root->n_lines++;
}

/* The state of the optimizer in parts on the chips that have copies of it. */
static void try_split_state(nearest *n, const char *besides)
{
    const uint32_t rank = find_state_rank(n);

    for (uint32_t k = 0; k < n->n_degrees && rank != DFL_NONE; k++) {
        const degree *of = &n->degrees[k];
        dfl_body *root = n->trial->root;
        const char *what;

        if (of->has_stages || of->parts < 2)
            continue;
        for (uint32_t i = 0; i < root->n_lines; i++) {
            dfl_home_split *split = DFL_NEW_ARRAY(n->arena, dfl_home_split, 1);

            if (root->lines[i].kind != DFL_LINE_KEEP || root->lines[i].n_splits > 0 ||
                n->given->workload->tensors[root->lines[i].tensor].part != DFL_PART_MOMENT)
                continue;
            *split = (dfl_home_split){ .span = root->lines[i].span, .rank = rank, .axis = of->axis, .by = DFL_BY_PARTS,
                                       .amount = of->parts };
            root->lines[i].splits = split;
            root->lines[i].n_splits = 1;
        }
        divide_update(n, of, rank);
        what = dfl_arena_printf(n->arena, "%s/%lld on %s", sym(n, n->given->workload->ranks[rank].name), (long long)of->parts,
                                sym(n, n->given->system->axes[of->axis].name));
        try_changes(n, dfl_arena_printf(n->arena, "`keep moments` with `split %s` and `spatial %s for update`%s", what, what,
                                        besides));
        reset(n);
    }
}

static void collect_degrees(nearest *n)
{
    const dfl_body *root = n->given->root;

    n->degrees = DFL_NEW_ARRAY(n->arena, degree, (size_t)root->n_lines + 1);
    for (uint32_t i = 0; i < root->n_lines; i++) {
        const dfl_line *line = &root->lines[i];
        const degree of = { line->axis, line->amount, line->stages != NULL };
        uint32_t k = 0;

        if (line->kind != DFL_LINE_SPATIAL || line->by != DFL_BY_PARTS)
            continue;
        while (k < n->n_degrees && (n->degrees[k].axis != of.axis || n->degrees[k].parts != of.parts ||
                                    n->degrees[k].has_stages != of.has_stages))
            k++;
        if (k == n->n_degrees)
            n->degrees[n->n_degrees++] = of;
    }
}

/* Notes that no changed plan is known to fit, and which changes were tried: these are not all that a plan can have. */
static void tell_none(const nearest *n, dfl_diag *d)
{
    const uint32_t left = n->trials > MOST_TRIALS ? n->trials - MOST_TRIALS : 0;

    dfl_diag_note(n->solver->sink, d, "none of %lu changed plans that were tried runs and fits: smaller micro-batches of the "
                  "written lines, `recompute forward`, the state of the optimizer in parts, parts moved between lines of an axis"
                  ", each alone or with `recompute forward`", (unsigned long)(n->trials - left));
    if (left > 0)
        dfl_diag_note(n->solver->sink, d, "%lu more such plans were not tried", (unsigned long)left);
}

void dfl_plan_tell_nearest(const dfl_solver *solver, const dfl_mapping *m, dfl_diag *d)
{
    nearest n = { .solver = solver, .given = m, .arena = dfl_arena_new(solver->budget) };

    collect_degrees(&n);
    reset(&n);
    try_passes(&n, "");
    if (recompute_all(&n))
        try_changes(&n, "`recompute forward`");
    reset(&n);
    try_split_state(&n, "");
    try_degrees(&n, "");
    if (n.n_shown == 0 && recompute_all(&n)) { /* beside each other change */
        const dfl_mapping *all = n.trial;

        n.given = all;
        reset(&n);
        try_passes(&n, " and `recompute forward`");
        try_split_state(&n, " and `recompute forward`");
        try_degrees(&n, " and `recompute forward`");
    }
    for (uint32_t i = 0; i < n.n_shown; i++)
        dfl_diag_note(solver->sink, d, "fits: %s, %.4g s a step", n.shown[i].text, n.shown[i].seconds);
    if (n.n_shown > 0)
        dfl_diag_help(solver->sink, d, "change the plan: %s", n.shown[0].text);
    else if (n.trials > 0)
        tell_none(&n, d);
    dfl_arena_free(n.arena);
}
