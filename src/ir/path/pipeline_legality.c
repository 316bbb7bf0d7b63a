#include "ir/path/pipeline_legality.h"

#include "ir/path/fan_out.h"

/* Number of instances of a unit along one axis that the einsums below a body use simultaneously; 0: no einsum below
   runs on the unit. */
typedef struct {
    int64_t n;
    uint32_t einsum;     /* the einsum that uses the most instances */
} demand;

typedef struct {
    dfl_sink *sink;
    const dfl_intern *names;
    const dfl_paths *paths;
    uint32_t unit;
    const uint32_t *axes; /* axes around the unit */
    uint32_t n_axes;
    demand *below;        /* [body][position in `axes`]; the last position, n_axes, states whether the einsums use the unit at
                             all */
} stages;

static const char *text(const stages *s, dfl_sym sym) { return dfl_sym_text(s->names, sym); }

static demand *at(const stages *s, const dfl_body *b) { return &s->below[(size_t)b->id * (s->n_axes + 1)]; }

static const dfl_axis *axis_at(const stages *s, uint32_t i) { return &s->paths->mapping->system->axes[s->axes[i]]; }

static int64_t room(const stages *s, uint32_t i) { return axis_at(s, i)->size; }

static void measure_leaf(const stages *s, const dfl_body *b)
{
    const dfl_path *p = &s->paths->paths[b->einsums[0]];
    demand *mine = at(s, b);

    for (uint32_t i = 0; i <= s->n_axes; i++)
        mine[i] = (demand){ .n = p->compute == s->unit, .einsum = p->einsum };
    for (uint32_t k = 0; k < p->n_steps && p->compute == s->unit; k++) {
        const dfl_path_step *step = &p->steps[k];
        uint32_t i = 0;
        if (step->line->kind != DFL_LINE_SPATIAL || step->rank == DFL_NONE)
            continue;
        while (i < s->n_axes && s->axes[i] != step->line->axis)
            i++;
        if (i < s->n_axes)
            mine[i].n *= dfl_path_parts(step); /* the product is at most the size of the axis, by an earlier check */
    }
}

/* Number of instances of one axis that all stages use together. */
static dfl_i128 sum_of(const stages *s, const dfl_body *b, uint32_t i)
{
    dfl_i128 sum = 0;

    for (uint32_t k = 0; k < b->n_children; k++)
        sum += at(s, b->children[k])[i].n;
    return sum;
}

/* The stages that use the unit as text: "`A`, `B` and `C`". */
static const char *list_stages(const stages *s, const dfl_body *b, dfl_arena *arena)
{
    const dfl_workload *w = s->paths->mapping->workload;
    uint32_t n = 0, seen = 0;
    const char *list = "";

    for (uint32_t k = 0; k < b->n_children; k++)
        n += at(s, b->children[k])->n > 0;
    for (uint32_t k = 0; k < b->n_children && seen < n; k++) {
        const demand *d = at(s, b->children[k]);
        if (d->n == 0)
            continue;
        seen++;
        if (seen == 4 && n > 4) {
            list = dfl_arena_printf(arena, "%s and %u more", list, n - 3);
            break;
        }
        list = dfl_arena_printf(arena, "%s%s`%s`", list, seen == 1 ? "" : seen == n ? " and " : ", ",
                                text(s, w->einsums[d->einsum].name));
    }
    return list;
}

/* The axis for the report if no axis has room for all stages: the axis that lacks the fewest instances. Axes with at
   least one instance for each stage (`enough`) take precedence. */
static uint32_t nearest(const stages *s, const dfl_body *b, uint32_t users, bool *enough)
{
    uint32_t best = 0;

    for (uint32_t i = 0; i < s->n_axes; i++) {
        bool can = room(s, i) >= users;
        if (can > *enough || (can == *enough && sum_of(s, b, i) - room(s, i) < sum_of(s, b, best) - room(s, best)))
            best = i;
        *enough |= can;
    }
    return best;
}

static void report(const stages *s, const dfl_body *b, uint32_t users, dfl_arena *arena)
{
    const dfl_mapping *m = s->paths->mapping;
    const dfl_compute *unit = &m->system->computes[s->unit];
    bool enough = false;
    uint32_t best = nearest(s, b, users, &enough), shown = 0, over = DFL_NONE;
    dfl_i128 so_far = 0;
    char sum[41];
    dfl_diag *d;

    dfl_i128_text(sum_of(s, b, best), sum);
    for (uint32_t k = 0; k < b->n_children && over == DFL_NONE; k++) {
        so_far += at(s, b->children[k])[best].n;
        over = so_far > (s->n_axes > 0 ? room(s, best) : 1) ? k : DFL_NONE;
    }
    const char *list = list_stages(s, b, arena);
    dfl_span here = b->children[over]->span;
    if (s->n_axes > 0)
        d = dfl_report(s->sink, DFL_MAP_TOO_MANY_INSTANCES, here,
                       "stages %s of a pipeline need %s instances of axis `%s` at once, which has %lld", list, sum,
                       text(s, axis_at(s, best)->name), (long long)axis_at(s, best)->size);
    else
        d = dfl_report(s->sink, DFL_MAP_TOO_MANY_INSTANCES, here,
                       "stages %s of a pipeline need unit `%s` at once, and there is one", list, text(s, unit->name));
    for (uint32_t k = 0; k <= over && shown < 4; k++) {
        const demand *stage = &at(s, b->children[k])[best];
        const char *name = text(s, m->workload->einsums[stage->einsum].name);
        if (stage->n == 0)
            continue;
        shown++;
        if (k == over)
            dfl_diag_here(s->sink, d, "%lld for `%s`", (long long)stage->n, name);
        else
            dfl_diag_label(s->sink, d, b->children[k]->span, "%lld for `%s`", (long long)stage->n, name);
    }
    if (s->n_axes > 0) {
        const char *axis = text(s, axis_at(s, best)->name);
        dfl_diag_label(s->sink, d, axis_at(s, best)->span, "`%s` is declared here", axis);
        if (enough)
            dfl_diag_help(s->sink, d, "give the stages parts that add up to at most %lld on `%s`, or run them in turn with "
                                      "`fuse`", (long long)axis_at(s, best)->size, axis);
    } else {
        dfl_diag_label(s->sink, d, unit->span, "`%s` is declared here", text(s, unit->name));
    }
    if (!enough)
        dfl_diag_help(s->sink, d, "run them in turn with `fuse`, or on different units with `on`");
}

/* Shifts the einsums of the unit below each stage of a pipeline along axis `i`, behind the stages before it. */
static void place_stages(const stages *s, const dfl_body *b, uint32_t i)
{
    int64_t first = 0;

    for (uint32_t k = 0; k < b->n_children; k++) {
        const dfl_body *stage = b->children[k];
        for (uint32_t e = 0; e < stage->n_einsums && first > 0; e++)
            if (s->paths->paths[stage->einsums[e]].compute == s->unit)
                s->paths->place[(size_t)stage->einsums[e] * s->paths->mapping->system->n_axes + s->axes[i]] += first;
        first += at(s, stage)[i].n;
    }
}

/* Combines the demands of a body's children: the maximum if the children run one after another. The stages of a pipeline take
   the sum of their demands on the innermost axis that has room for it, and the maximum on the other axes. */
static bool measure_branch(const stages *s, const dfl_body *b, dfl_arena *arena)
{
    demand *mine = at(s, b);
    uint32_t users = 0, axis = s->n_axes;

    for (uint32_t i = 0; i <= s->n_axes; i++)
        mine[i] = (demand){ 0 };
    for (uint32_t k = 0; k < b->n_children; k++) {
        const demand *child = at(s, b->children[k]);
        users += child->n > 0;
        for (uint32_t i = 0; i <= s->n_axes; i++)
            mine[i] = child[i].n > mine[i].n ? child[i] : mine[i];
    }
    if (b->kind != DFL_BODY_PIPELINE || users < 2)
        return true;
    while (axis > 0 && sum_of(s, b, axis - 1) > room(s, axis - 1))
        axis--;
    if (axis == 0) {
        report(s, b, users, arena);
        return false;
    }
    mine[axis - 1].n = (int64_t)sum_of(s, b, axis - 1);
    place_stages(s, b, axis - 1);
    return true;
}

static bool check_unit(stages *s, dfl_arena *arena)
{
    const dfl_mapping *m = s->paths->mapping;
    bool ok = true;

    for (uint32_t b = m->n_bodies; b-- > 0;) { /* children have larger ids than their parent */
        if (!dfl_budget_spend(dfl_arena_budget(arena), 1 + s->n_axes))
            return dfl_report_stop(s->sink, dfl_arena_budget(arena));
        if (m->bodies[b]->kind == DFL_BODY_LEAF)
            measure_leaf(s, m->bodies[b]);
        else
            ok &= measure_branch(s, m->bodies[b], arena);
    }
    return ok;
}

/* Reports a keep of a memory inside an array that einsums at different coordinates of the array touch. */
static bool check_keep(dfl_sink *sink, const dfl_intern *names, const dfl_paths *paths, const dfl_body *b, const dfl_line *line)
{
    const dfl_mapping *m = paths->mapping;
    const dfl_memory *memory = &m->system->memories[line->memory];
    uint32_t first = DFL_NONE;

    for (uint32_t i = 0; i < b->n_einsums; i++) {
        uint32_t e = b->einsums[i];
        if (!dfl_einsum_touches(&m->workload->einsums[e], line->tensor))
            continue;
        first = first == DFL_NONE ? e : first;
        for (uint32_t a = 0; a < m->system->n_axes; a++) {
            int64_t begins = dfl_paths_place(paths, first, a);
            if (!dfl_axis_encloses(m->system, a, memory->element) || begins == dfl_paths_place(paths, e, a))
                continue;
            const char *axis = dfl_sym_text(names, m->system->axes[a].name), *name = dfl_sym_text(names, memory->name);
            dfl_diag *d = dfl_report(sink, DFL_MAP_TILE_UNREACHABLE, line->span,
                                     "stages of a pipeline that use different instances of `%s` cannot share a tile in it", name);
            dfl_diag_label(sink, d, m->workload->einsums[first].span, "from coordinate %lld of `%s` on", (long long)begins, axis);
            dfl_diag_label(sink, d, m->workload->einsums[e].span, "from coordinate %lld on",
                           (long long)dfl_paths_place(paths, e, a));
            dfl_diag_help(sink, d, "keep the tensor in `%s` inside the stages, or in a memory that all stages reach", name);
            return false;
        }
    }
    return true;
}

bool dfl_path_check_stages(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_paths *paths)
{
    const dfl_mapping *m = paths->mapping;
    const dfl_system *sys = m->system;
    bool piped = false, ok = true;

    for (uint32_t b = 0; b < m->n_bodies; b++)
        piped |= m->bodies[b]->kind == DFL_BODY_PIPELINE;
    for (size_t i = 0; i < (size_t)m->workload->n_einsums * sys->n_axes; i++)
        paths->place[i] = 0;
    if (!piped)
        return true;
    bool *used = DFL_NEW_ARRAY(arena, bool, sys->n_computes);
    uint32_t *axes = DFL_NEW_ARRAY(arena, uint32_t, sys->n_axes + 1);
    demand *below = DFL_NEW_ARRAY(arena, demand, m->n_bodies * ((size_t)sys->n_axes + 1));
    for (uint32_t e = 0; e < m->workload->n_einsums; e++)
        used[paths->paths[e].compute] = true;
    for (uint32_t c = 0; c < sys->n_computes; c++) {
        stages s = { .sink = sink, .names = names, .paths = paths, .unit = c, .axes = axes, .below = below };
        for (uint32_t a = 0; a < sys->n_axes && used[c]; a++)
            if (dfl_axis_encloses(sys, a, sys->computes[c].element))
                axes[s.n_axes++] = a;
        ok &= !used[c] || check_unit(&s, arena);
    }
    for (uint32_t b = 0; b < m->n_bodies && ok; b++)
        for (uint32_t i = 0; i < m->bodies[b]->n_lines && ok; i++)
            if (m->bodies[b]->lines[i].kind == DFL_LINE_KEEP)
                ok &= check_keep(sink, names, paths, m->bodies[b], &m->bodies[b]->lines[i]);
    return ok;
}
