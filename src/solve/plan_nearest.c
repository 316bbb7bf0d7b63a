#include "solve/plan_nearest.h"

#include <math.h>

#include "plan/plan.h"
#include "report/readable.h"

enum {
    MOST_TRIALS = 96,          /* plans that are evaluated, some milliseconds each */
    MOST_SHOWN = 3,
};

/* Lines that divide an axis into as many parts, and the splits of homes among them: one degree of the plan. */
typedef struct {
    uint32_t axis;
    int64_t parts;
    bool has_stages;
    uint32_t line;             /* the written loop that starts with this line alone; DFL_NONE = all of them */
} degree;

/* A plan that works. */
typedef struct {
    const char *text;          /* what differs from the written plan */
    double far;                /* factor by which its numbers of parts differ, of all degrees together */
    double seconds;
    bool is_idle;              /* it leaves chips without work */
} fitting;

typedef struct {
    const dfl_solver *solver;
    const dfl_mapping *given;
    dfl_mapping *trial;        /* a copy with the present changes */
    dfl_arena *arena;          /* of the copies and texts */
    degree *degrees; uint32_t n_degrees;
    bool is_memory;            /* the mistake is a memory that the plan exceeds */
    bool renews;               /* `recompute forward` was tried beside other parts */
    bool has_lines;            /* lines were tried on axes that have none */
    bool is_rows;              /* the mistake is parts of a table: the nearest numbers of parts come first */
    double far;                /* of the present changes; 1 = of no number of parts, and of mistakes other than those of rows */
    bool takes_idle;           /* plans that leave chips without work are tried: they are better than none */
    fitting shown[MOST_SHOWN]; uint32_t n_shown;
    uint32_t trials;
} nearest;

/* Mistakes of a written plan for which other plans are tried. Groups of chips may pass an axis or leave chips without work. */
static bool is_tried(dfl_code code)
{
    return code == DFL_MAP_CAPACITY || code == DFL_MAP_TOO_MANY_INSTANCES || code == DFL_MAP_IDLE_INSTANCES ||
           code == DFL_MAP_EMPTY_PARTS || code == DFL_MAP_STAGES || code == DFL_MAP_ROWS_UNMATCHED;
}

static const char *sym(const nearest *n, dfl_sym s) { return dfl_sym_text(n->solver->names, s); }

static bool is_repeat(const dfl_workload *w, uint32_t rank)
{
    for (uint32_t c = 0; c < w->n_carries; c++)
        if (w->carries[c].rank == rank)
            return true;
    return false;
}

/* ---- trials ---- */

/* Whether the reports have a warning about chips without work or parts that are empty. */
static bool is_uneven(const dfl_sink *sink)
{
    for (size_t i = 0; i < dfl_sink_count(sink); i++)
        if (dfl_sink_at(sink, i)->code == DFL_MAP_EMPTY_PARTS || dfl_sink_at(sink, i)->code == DFL_MAP_IDLE_INSTANCES)
            return true;
    return false;
}

/* Whether a plan stands before another one. */
static bool is_before(const fitting *a, const fitting *b)
{
    if (a->is_idle != b->is_idle)
        return b->is_idle;
    return a->far != b->far ? a->far < b->far : a->seconds < b->seconds;
}

/* Evaluates the plan with the present changes, and keeps it if it is among the first that work, or with `takes_idle` of those
   that work and leave chips without work: the nearest, then the fastest. */
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
    result = dfl_plan_evaluate(work, quiet, n->solver->names, n->trial, n->solver->memo);
    if (result != NULL && isfinite(result->seconds) &&
        n->takes_idle != (!is_uneven(quiet) && dfl_plan_uses_all(work, quiet, n->solver->names, n->trial))) {
        const fitting plan = { text, n->far, result->seconds, n->takes_idle };

        while (at > 0 && is_before(&plan, &n->shown[at - 1]))
            at--;
        for (uint32_t i = n->n_shown < MOST_SHOWN ? n->n_shown : MOST_SHOWN - 1; i > at; i--)
            n->shown[i] = n->shown[i - 1];
        if (at < MOST_SHOWN)
            n->shown[at] = plan;
        n->n_shown += n->n_shown < MOST_SHOWN;
    }
    dfl_arena_free(work);
}

static void reset(nearest *n)
{
    n->trial = dfl_mapping_copy(n->arena, n->given);
    n->far = 1;
}

/* ---- changes ---- */

/* Whether a line of the given plan belongs to a degree. */
static bool is_line_of(const nearest *n, const degree *of, uint32_t i)
{
    const dfl_line *line = &n->given->root->lines[i];

    return line->kind == DFL_LINE_SPATIAL && line->axis == of->axis && line->by == DFL_BY_PARTS && line->amount == of->parts &&
           (line->stages != NULL) == of->has_stages &&
           (of->line == DFL_NONE || (of->line <= i && i < dfl_line_end(n->given->root, of->line)));
}

/* Sets all lines and splits of a degree to another number of parts. */
static void set_degree(nearest *n, const degree *of, int64_t parts)
{
    dfl_body *root = n->trial->root;

    if (n->is_rows)
        n->far *= fmax((double)parts, (double)of->parts) / fmin((double)parts, (double)of->parts);
    for (uint32_t i = 0; i < root->n_lines; i++) {
        dfl_line *line = &root->lines[i];
        dfl_home_split *splits = DFL_NEW_ARRAY(n->arena, dfl_home_split, (size_t)line->n_splits + 1);

        if (is_line_of(n, of, i))
            line->amount = parts;
        for (uint32_t k = 0; k < line->n_splits; k++) {
            splits[k] = line->splits[k];
            if (splits[k].axis == of->axis && splits[k].by == DFL_BY_PARTS && splits[k].amount == of->parts && !of->has_stages &&
                of->line == DFL_NONE)
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
        const dfl_sym name = line->kind != DFL_LINE_KEEP ? dfl_line_rank_name(n->given->workload, line) : 0;
        bool is_new = is_line_of(n, of, i);

        for (uint32_t k = 0; k < i && is_new; k++)
            is_new = !is_line_of(n, of, k) || dfl_line_rank_name(n->given->workload, &root->lines[k]) != name;
        if (is_new)
            out = dfl_arena_printf(n->arena, "%s%s%s", out, *out != 0 ? ", " : "", sym(n, name));
    }
    for (uint32_t i = 0; i < root->n_lines && *out == 0; i++) /* only homes */
        for (uint32_t k = 0; k < root->lines[i].n_splits && *out == 0; k++) {
            const dfl_home_split *split = &root->lines[i].splits[k];

            if (split->axis == of->axis && split->amount == of->parts)
                out = dfl_arena_printf(n->arena, "split %s", sym(n, split->rank_name));
        }
    return out;
}

/* The text of another number of parts of a degree: "`h, f, v` on `gpu` 8 -> 16". */
static const char *degree_text(const nearest *n, const degree *of, int64_t parts)
{
    return dfl_arena_printf(n->arena, "`%s` on `%s` %lld -> %lld", ranks_text(n, of),
                            sym(n, n->given->system->axes[of->axis].name), (long long)of->parts, (long long)parts);
}

/* The largest number of parts of a degree that leaves none of them empty. */
static int64_t most_parts(const nearest *n, const degree *of)
{
    int64_t most = n->given->system->axes[of->axis].size;

    for (uint32_t i = 0; i < n->given->root->n_lines; i++)
        if (is_line_of(n, of, i) && n->given->workload->ranks[n->given->root->lines[i].rank].extent < most)
            most = n->given->workload->ranks[n->given->root->lines[i].rank].extent;
    return most;
}

/* Whether two degrees have a line in common: they are no pair, and a change of both is one of two other ones. */
static bool shares_lines(const nearest *n, const degree *a, const degree *b)
{
    for (uint32_t i = 0; i < n->given->root->n_lines; i++)
        if (is_line_of(n, a, i) && is_line_of(n, b, i))
            return true;
    return false;
}

/* Another number of parts of one degree, and with `pairs` of two on the same axis: divisors of the axis, and for rows any number
   if chips may be without work. `besides` is the text of what else changed. */
static void try_parts(nearest *n, bool pairs, const char *besides)
{
    for (uint32_t a = 0; a < n->n_degrees; a++) {
        const degree *one = &n->degrees[a];
        const int64_t size = n->given->system->axes[one->axis].size;

        for (int64_t parts = 1; parts <= most_parts(n, one); parts++) {
            if ((size % parts != 0 && !(n->is_rows && n->takes_idle)) || parts == one->parts)
                continue;
            for (uint32_t b = a + 1; pairs && b < n->n_degrees; b++)
                for (int64_t other = 1; n->degrees[b].axis == one->axis && other <= most_parts(n, &n->degrees[b]); other++) {
                    if (size / parts % other != 0 || other == n->degrees[b].parts || shares_lines(n, one, &n->degrees[b]))
                        continue;
                    set_degree(n, one, parts);
                    set_degree(n, &n->degrees[b], other);
                    try_changes(n, dfl_arena_printf(n->arena, "%s and %s", degree_text(n, one, parts),
                                                    degree_text(n, &n->degrees[b], other)));
                    reset(n);
                }
            if (pairs)
                continue;
            set_degree(n, one, parts);
            try_changes(n, dfl_arena_printf(n->arena, "%s%s", degree_text(n, one, parts), besides));
            reset(n);
        }
    }
}

/* Another interleave or schedule of the stages. */
static void try_stages(nearest *n)
{
    for (uint32_t i = 0; i < n->given->root->n_lines; i++) {
        const dfl_line *line = &n->given->root->lines[i];
        const int64_t layers = n->given->workload->ranks[line->kind == DFL_LINE_KEEP ? 0 : line->rank].extent;

        for (int64_t v = 1; line->stages != NULL && v <= layers / (line->amount > 0 ? line->amount : 1); v++) {
            dfl_stages *stages = DFL_NEW(n->arena, dfl_stages);

            if (layers % v != 0 || v == line->stages->interleave)
                continue;
            *stages = *line->stages;
            stages->interleave = v;
            n->trial->root->lines[i].stages = stages;
            try_changes(n, dfl_arena_printf(n->arena, "`interleave = %lld`", (long long)v));
            reset(n);
        }
        for (int k = DFL_SCHEDULE_GPIPE; line->stages != NULL && k <= DFL_SCHEDULE_ZERO_BUBBLE; k++) {
            dfl_stages *stages = DFL_NEW(n->arena, dfl_stages);

            if (k == (int)line->stages->schedule)
                continue;
            *stages = *line->stages;
            stages->schedule = (dfl_schedule)k;
            n->trial->root->lines[i].stages = stages;
            try_changes(n, dfl_arena_printf(n->arena, "`schedule = %s`", dfl_schedule_name((dfl_schedule)k)));
            reset(n);
        }
    }
}

/* More parts of one degree, and fewer of another one on the same axis. */
static void try_degrees(nearest *n, const char *besides)
{
    for (uint32_t a = 0; a < n->n_degrees; a++)
        for (uint32_t b = 0; b < n->n_degrees; b++)
            for (int64_t factor = 2; a != b && factor <= n->degrees[b].parts; factor++) {
                if (n->degrees[a].axis != n->degrees[b].axis || n->degrees[b].parts % factor != 0)
                    continue;
                set_degree(n, &n->degrees[a], n->degrees[a].parts * factor);
                set_degree(n, &n->degrees[b], n->degrees[b].parts / factor);
                try_changes(n, dfl_arena_printf(n->arena, "%s and %s%s",
                                                degree_text(n, &n->degrees[a], n->degrees[a].parts * factor),
                                                degree_text(n, &n->degrees[b], n->degrees[b].parts / factor), besides));
                reset(n);
            }
}

/* The parts that all degrees of an axis but one make together; of all with `but` = NULL. Above the size of the axis, some number
   above it. */
static int64_t count_used(const nearest *n, uint32_t axis, const degree *but)
{
    const int64_t size = n->given->system->axes[axis].size;
    int64_t used = 1;

    for (uint32_t b = 0; b < n->n_degrees && used <= size; b++)
        used *= n->degrees[b].axis == axis && &n->degrees[b] != but ? n->degrees[b].parts : 1;
    return used;
}

/* The number of parts of a degree with which its axis has no chip without work; 0 = there is none, or it is the written one. */
static int64_t find_full(const nearest *n, const degree *of)
{
    const int64_t size = n->given->system->axes[of->axis].size, used = count_used(n, of->axis, of);

    return used <= size && size % used == 0 && size / used != of->parts && size / used <= most_parts(n, of) ? size / used : 0;
}

/* Tries plans that give work to all chips of two axes, by one degree of each. */
static void try_two_axes(nearest *n)
{
    for (uint32_t a = 0; a < n->n_degrees; a++)
        for (uint32_t b = a + 1; b < n->n_degrees; b++) {
            const degree *one = &n->degrees[a], *other = &n->degrees[b];

            if (one->axis == other->axis || find_full(n, one) == 0 || find_full(n, other) == 0)
                continue;
            set_degree(n, one, find_full(n, one));
            set_degree(n, other, find_full(n, other));
            try_changes(n, dfl_arena_printf(n->arena, "%s and %s", degree_text(n, one, find_full(n, one)),
                                            degree_text(n, other, find_full(n, other))));
            reset(n);
        }
}

/* Adds a line that divides a rank on an axis: of all einsums, or of those in `only`. */
static void add_line(nearest *n, uint32_t rank, uint32_t axis, int64_t parts, const uint32_t *only, uint32_t n_only)
{
    dfl_body *root = n->trial->root;
    dfl_line *lines = DFL_NEW_ARRAY(n->arena, dfl_line, (size_t)root->n_lines + 1);

    for (uint32_t i = 0; i < root->n_lines; i++)
        lines[i] = root->lines[i];
    lines[root->n_lines] = (dfl_line){ .kind = DFL_LINE_SPATIAL, .span = n->given->span, .amount_span = n->given->span,
                                       .rank = rank, .by = DFL_BY_PARTS, .amount = parts, .axis = axis, .only = only,
                                       .n_only = n_only, .statement = root->n_lines };
    root->lines = lines;
    root->n_lines++;
}

/* Whether no other rank has the name of this one, which a line can then state. */
static bool has_own_name(const dfl_workload *w, uint32_t rank)
{
    for (uint32_t r = 0; r < w->n_ranks; r++)
        if (r != rank && w->ranks[r].name == w->ranks[rank].name)
            return false;
    return true;
}

/* Tries plans with a line more, on an axis that has none. */
static void try_new_lines(nearest *n, const char *besides)
{
    const dfl_workload *w = n->given->workload;

    for (uint32_t a = 0; a < n->given->system->n_axes; a++) {
        const dfl_axis *axis = &n->given->system->axes[a];

        for (uint32_t r = 0; r < w->n_ranks && axis->size > 1 && count_used(n, a, NULL) == 1; r++) {
            if (is_repeat(w, r) || w->ranks[r].extent < axis->size || !has_own_name(w, r))
                continue;
            n->has_lines = true;
            add_line(n, r, a, axis->size, NULL, 0);
            try_changes(n, dfl_arena_printf(n->arena, "`spatial %s/%lld on %s;`%s", sym(n, w->ranks[r].name),
                                            (long long)axis->size, sym(n, axis->name), besides));
            reset(n);
        }
    }
}

/* Tries plans with more parts of one degree on an axis of which some chips have no work. The parts of all degrees together then
   divide the axis. */
static void try_more_parts(nearest *n, const char *besides)
{
    for (uint32_t a = 0; a < n->n_degrees; a++) {
        const degree *of = &n->degrees[a];
        const int64_t size = n->given->system->axes[of->axis].size, used = count_used(n, of->axis, NULL);

        for (int64_t factor = 2; factor <= size / used; factor++) {
            if (size % (used * factor) != 0)
                continue;
            set_degree(n, of, of->parts * factor);
            try_changes(n, dfl_arena_printf(n->arena, "%s%s", degree_text(n, of, of->parts * factor), besides));
            reset(n);
        }
    }
}

/* Whether line `i` starts a written loop over micro-batches. */
static bool is_pass(const nearest *n, uint32_t i)
{
    const dfl_line *line = &n->given->root->lines[i];

    return line->kind == DFL_LINE_TEMPORAL && line->by != DFL_BY_HOLE && !is_repeat(n->given->workload, line->rank) &&
           dfl_line_is_first(n->given->root, i);
}

/* Sets the amount of the written temporal loop that starts with line `i`, and tries the plan. */
static void try_pass(nearest *n, uint32_t i, int64_t amount, const char *besides)
{
    const dfl_line *line = &n->given->root->lines[i];

    for (uint32_t k = i; k < dfl_line_end(n->given->root, i); k++)
        n->trial->root->lines[k].amount = amount;
    try_changes(n, dfl_arena_printf(n->arena, "`temporal %s%s%lld`%s", sym(n, dfl_line_rank_name(n->given->workload, line)),
                                    line->by == DFL_BY_PARTS ? "/" : ":", (long long)amount, besides));
    reset(n);
}

/* Micro-batches of any size that divides the rank. */
static void try_other_passes(nearest *n)
{
    for (uint32_t i = 0; i < n->given->root->n_lines; i++) {
        const dfl_line *line = &n->given->root->lines[i];

        if (!is_pass(n, i))
            continue;
        const int64_t extent = dfl_line_longest(n->given, i);
        for (int64_t amount = 1; amount <= extent; amount++)
            if (extent % amount == 0 && amount != line->amount)
                try_pass(n, i, amount, "");
    }
}

/* Smaller micro-batches, down to one value of the rank. */
static void try_passes(nearest *n, const char *besides)
{
    for (uint32_t i = 0; i < n->given->root->n_lines; i++) {
        const dfl_line *line = &n->given->root->lines[i];

        if (!is_pass(n, i))
            continue;
        const int64_t extent = dfl_line_longest(n->given, i);
        int64_t amount = line->amount;

        while (line->by == DFL_BY_PARTS ? amount < extent : amount > 1) {
            if (line->by == DFL_BY_PARTS)
                amount = amount <= extent / 2 ? amount * 2 : extent;
            else
                amount /= 2;
            try_pass(n, i, amount, besides);
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
            w->tensors[t].n_producers > 0 &&
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
    uint32_t *only = DFL_NEW_ARRAY(n->arena, uint32_t, (size_t)w->n_einsums + 1), n_only = 0;

    for (uint32_t e = 0; e < w->n_einsums; e++)
        if (w->einsums[e].phase == DFL_PHASE_UPDATE && dfl_einsum_has_rank(&w->einsums[e], rank))
            only[n_only++] = e;
    add_line(n, rank, of->axis, of->parts, only, n_only);
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
            *split = (dfl_home_split){ .span = root->lines[i].span, .rank = rank, .axis = of->axis,
                                       .rank_name = n->given->workload->ranks[rank].name, .by = DFL_BY_PARTS,
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

/* Adds a degree that is not there yet. */
static void add_degree(nearest *n, degree of)
{
    uint32_t k = 0;

    while (k < n->n_degrees && (n->degrees[k].axis != of.axis || n->degrees[k].parts != of.parts ||
                                n->degrees[k].has_stages != of.has_stages || n->degrees[k].line != of.line))
        k++;
    if (k == n->n_degrees)
        n->degrees[n->n_degrees++] = of;
}

/* Collects the degrees; but for memories also those of homes alone, and single lines of a degree. */
static void collect_degrees(nearest *n)
{
    const dfl_body *root = n->given->root;
    size_t most = (size_t)root->n_lines * 2 + 1;

    for (uint32_t i = 0; i < root->n_lines; i++)
        most += root->lines[i].n_splits;
    n->degrees = DFL_NEW_ARRAY(n->arena, degree, most);
    for (uint32_t i = 0; i < root->n_lines; i++) {
        const dfl_line *line = &root->lines[i];

        if (line->kind == DFL_LINE_SPATIAL && line->by == DFL_BY_PARTS && dfl_line_is_first(root, i))
            add_degree(n, (degree){ line->axis, line->amount, line->stages != NULL, DFL_NONE });
    }
    for (uint32_t i = 0; i < root->n_lines && !n->is_memory; i++)
        for (uint32_t k = 0; k < root->lines[i].n_splits; k++)
            if (root->lines[i].splits[k].by == DFL_BY_PARTS)
                add_degree(n, (degree){ root->lines[i].splits[k].axis, root->lines[i].splits[k].amount, false, DFL_NONE });
    for (uint32_t i = 0; i < root->n_lines && !n->is_memory; i++)
        for (uint32_t k = 0; k < n->n_degrees; k++) {
            const degree of = { n->degrees[k].axis, n->degrees[k].parts, n->degrees[k].has_stages, i };
            uint32_t alike = 0;

            for (uint32_t j = 0; j < root->n_lines; j++)
                alike += is_line_of(n, &n->degrees[k], j) && dfl_line_is_first(root, j);
            if (alike > 1 && n->degrees[k].line == DFL_NONE && is_line_of(n, &of, i) && dfl_line_is_first(root, i)) {
                add_degree(n, of);
                break;
            }
        }
}

/* Notes that no changed plan is known to work, and which changes were tried: these are not all that a plan can have. */
static void tell_none(const nearest *n, dfl_diag *d)
{
    const uint32_t left = n->trials > MOST_TRIALS ? n->trials - MOST_TRIALS : 0;

    dfl_diag_note(n->solver->sink, d, "none of %lu changed plans that were tried runs and %s", (unsigned long)(n->trials - left),
                  n->is_memory   ? "fits: smaller micro-batches of the written lines, `recompute forward`, the state of the "
                                   "optimizer in parts, parts moved between lines of an axis, more parts where chips have no "
                                   "work, each alone or with `recompute forward`"
                  : n->renews    ? "gives work to all chips: other parts of one line, alone or with `recompute forward`, or of "
                                   "two on an axis, other stages and micro-batches"
                  : n->has_lines ? "gives work to all chips: other parts of one line or of two, a line on an axis without one"
                                 : "gives work to all chips: other parts of one line or of two on an axis, other stages and "
                                   "micro-batches");
    if (left > 0)
        dfl_diag_note(n->solver->sink, d, "%lu more such plans were not tried", (unsigned long)left);
}

/* Tries plans that need less memory. */
static void try_smaller(nearest *n)
{
    try_passes(n, "");
    if (recompute_all(n))
        try_changes(n, "`recompute forward`");
    reset(n);
    try_split_state(n, "");
    try_degrees(n, "");
    try_more_parts(n, "");
    try_new_lines(n, "");
    if (n->n_shown == 0 && recompute_all(n)) { /* beside each other change */
        const dfl_mapping *all = n->trial;

        n->given = all;
        reset(n);
        try_passes(n, " and `recompute forward`");
        try_split_state(n, " and `recompute forward`");
        try_degrees(n, " and `recompute forward`");
        try_more_parts(n, " and `recompute forward`");
        try_new_lines(n, " and `recompute forward`");
    }
}

/* Tries plans with other parts, and with other stages and micro-batches, if the stages do not match. */
static void try_matching(nearest *n, dfl_code code)
{
    const dfl_mapping *given = n->given;

    try_parts(n, false, "");
    if (code == DFL_MAP_IDLE_INSTANCES) {
        try_new_lines(n, "");
        if (n->n_shown == 0)
            try_two_axes(n);
    }
    if (code == DFL_MAP_STAGES) {
        try_stages(n);
        try_other_passes(n);
    }
    if (n->n_shown == 0 && code != DFL_MAP_IDLE_INSTANCES && code != DFL_MAP_EMPTY_PARTS && recompute_all(n)) {
        n->given = n->trial;
        n->renews = true;
        reset(n);
        try_parts(n, false, " and `recompute forward`");
        n->given = given;
    }
    reset(n);
    if (n->n_shown == 0 || n->is_rows)
        try_parts(n, true, "");
    if ((n->n_shown == 0 || n->is_rows) && code != DFL_MAP_IDLE_INSTANCES && code != DFL_MAP_EMPTY_PARTS) {
        n->takes_idle = true;
        try_parts(n, false, "");
        if (n->is_rows)
            try_parts(n, true, "");
    }
}

/* Adds the plans to the report `d`. */
static void tell_nearest(const dfl_solver *solver, const dfl_mapping *m, dfl_diag *d)
{
    nearest n = { .solver = solver, .given = m, .arena = dfl_arena_new(solver->budget),
                  .is_memory = d->code == DFL_MAP_CAPACITY, .is_rows = d->code == DFL_MAP_ROWS_UNMATCHED };

    collect_degrees(&n);
    reset(&n);
    if (n.is_memory)
        try_smaller(&n);
    else
        try_matching(&n, d->code);
    for (uint32_t i = 0; i < n.n_shown; i++) {
        char seconds[DFL_UNIT_TEXT];

        dfl_human(n.shown[i].seconds, "s", seconds);
        dfl_diag_note(solver->sink, d, "%s: %s, %s a step",
                      n.is_memory          ? "fits"
                      : n.shown[i].is_idle ? "works, but leaves chips without work"
                                           : "works", n.shown[i].text, seconds);
    }
    if (n.n_shown > 0)
        dfl_diag_help(solver->sink, d, "change the plan: %s", n.shown[0].text);
    else if (n.trials > 0)
        tell_none(&n, d);
    dfl_arena_free(n.arena);
}

void dfl_plan_tell_nearest(const dfl_solver *solver, const dfl_mapping *m, size_t first)
{
    dfl_diag *mistake = NULL;

    for (size_t i = first; i < dfl_sink_count(solver->sink); i++) {
        dfl_diag *d = dfl_sink_at(solver->sink, i);

        if (is_tried(d->code) && (mistake == NULL || (mistake->severity == DFL_WARNING && d->severity == DFL_ERROR)))
            mistake = d;
    }
    if (mistake != NULL)
        tell_nearest(solver, m, mistake);
}
