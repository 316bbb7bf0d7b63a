/* Reads the mapping tree: its nodes, the path of each einsum, and the loops that successive einsums share. */
#include "import/accelforge/tree.h"

#include <string.h>

#include "import/accelforge/expr.h"
#include "support/limits.h"

typedef struct {
    const dfl_af_file *f;
    dfl_af_plan *plan;
    uint32_t path[DFL_IMPORT_PATH_LINES];
    uint32_t n;
    bool ok;
} walker;

static bool wrong(walker *w, dfl_code code, dfl_span span, const char *what)
{
    if (w->ok)
        dfl_report(w->f->report->sink, code, span, "%s", what);
    w->ok = false;
    return false;
}

static bool find_component(walker *w, const dfl_yaml *at, uint32_t *out)
{
    const dfl_yaml *name = dfl_yaml_get(at, "component");

    *out = name != NULL ? dfl_af_find_node(w->f, name->text) : DFL_AF_NONE;
    if (*out == DFL_AF_NONE)
        return wrong(w, DFL_FOREIGN_UNKNOWN_NAME, name != NULL ? name->span : at->span,
                     "`component` names no node of the architecture");
    return true;
}

static bool read_storage(walker *w, const dfl_yaml *at, dfl_af_step *step)
{
    step->names = dfl_yaml_get(at, "tensors");
    if (!find_component(w, at, &step->node))
        return false;
    if (w->f->nodes.at[step->node].kind != DFL_AF_MEMORY && w->f->nodes.at[step->node].kind != DFL_AF_TOLL)
        return wrong(w, DFL_FOREIGN_UNKNOWN_NAME, at->span, "a tensor can be stored only in a memory or a toll");
    if (step->names == NULL || step->names->kind != DFL_YAML_LIST)
        return wrong(w, DFL_FOREIGN_SYNTAX, at->span, "storage needs a list of `tensors`");
    for (uint32_t i = 0; i < step->names->n; i++) {
        if (dfl_af_find_tensor(w->f, step->names->items[i].text) == DFL_AF_NONE)
            return wrong(w, DFL_FOREIGN_UNKNOWN_NAME, step->names->items[i].span, "no einsum has this tensor");
    }
    return true;
}

static bool read_loop(walker *w, const dfl_yaml *at, dfl_af_step *step)
{
    const dfl_yaml *tile = dfl_yaml_get(at, "tile_shape"), *initial = dfl_yaml_get(at, "initial_tile_shape");
    const dfl_yaml *axis = dfl_yaml_get(at, "name");

    step->names = dfl_yaml_get(at, "rank_variable");
    if (step->names == NULL || tile == NULL || step->names->kind == DFL_YAML_MAP)
        return wrong(w, DFL_FOREIGN_SYNTAX, at->span, "a loop needs a `rank_variable` and a `tile_shape`");
    if (!dfl_af_count(w->f, DFL_AF_NONE, tile, 1, 1, &step->tile))
        return w->ok = false;
    if (initial != NULL && strcmp(initial->text, tile->text) != 0 && initial->text[0] != '\0')
        return wrong(w, DFL_FOREIGN_UNSUPPORTED, initial->span,
                    "the first tile of a loop cannot have a size of its own");
    if (step->kind == DFL_AF_TEMPORAL)
        return true;
    if (!find_component(w, at, &step->node))
        return false;
    step->axis = DFL_AF_NONE;
    for (uint32_t i = 0; axis != NULL && i < w->f->nodes.at[step->node].n_axes; i++) {
        if (strcmp(w->f->nodes.at[step->node].axes[i].name, axis->text) == 0)
            step->axis = i;
    }
    return step->axis != DFL_AF_NONE ||
           wrong(w, DFL_FOREIGN_UNKNOWN_NAME, axis != NULL ? axis->span : at->span,
                 "`name` is no spatial dimension of the component");
}

static bool read_point(walker *w, const dfl_yaml *at, dfl_af_step *step)
{
    const dfl_yaml *name = dfl_yaml_get(at, "einsum");

    step->einsum = name != NULL ? dfl_af_find_einsum(w->f, name->text) : DFL_AF_NONE;
    if (step->einsum == DFL_AF_NONE)
        return wrong(w, DFL_FOREIGN_UNKNOWN_NAME, name != NULL ? name->span : at->span, "`einsum` names no einsum");
    if (!find_component(w, at, &step->node))
        return false;
    if (w->f->nodes.at[step->node].kind != DFL_AF_COMPUTE)
        return wrong(w, DFL_FOREIGN_UNKNOWN_NAME, at->span, "an einsum can run only on a `!Compute`");
    if (w->plan->paths[step->einsum].present)
        return wrong(w, DFL_FOREIGN_SYNTAX, at->span, "the einsum is mapped twice");
    return true;
}

static void walk(walker *w, const dfl_yaml *list);

static void walk_branches(walker *w, const dfl_yaml *at)
{
    const dfl_yaml *list = dfl_yaml_get(at, "nodes");
    uint32_t above = w->n;

    if (list == NULL || list->kind != DFL_YAML_LIST) {
        wrong(w, DFL_FOREIGN_SYNTAX, at->span, "a branch needs a list of `nodes`");
        return;
    }
    for (uint32_t i = 0; w->ok && i < list->n; i++) {
        dfl_yaml one = { .kind = DFL_YAML_LIST, .tag = "", .text = "", .span = list->items[i].span, .n = 1,
                         .items = &list->items[i] };

        walk(w, &one);
        w->n = above;
    }
}

/* Reads a node other than a branch and adds the node to the path; a point ends the path. */
static void take_step(walker *w, const dfl_yaml *at, dfl_af_step_kind kind)
{
    dfl_af_step step = { .kind = kind, .span = at->span };
    bool good = kind == DFL_AF_STORAGE ? read_storage(w, at, &step)
                : kind == DFL_AF_POINT ? read_point(w, at, &step)
                                       : read_loop(w, at, &step);

    if (!good)
        return;
    if (w->n == DFL_IMPORT_PATH_LINES) {
        wrong(w, DFL_FOREIGN_UNSUPPORTED, at->span, "the path to this node is too long");
        return;
    }
    w->path[w->n++] = (uint32_t)w->plan->steps.n;
    DFL_PUSH(w->f->report->arena, &w->plan->steps, step);
    if (kind != DFL_AF_POINT)
        return;
    w->plan->order[w->plan->n_order++] = step.einsum;
    w->ok = dfl_af_make_path(w->f, w->plan, step.einsum, w->path, w->n);
}

static void walk(walker *w, const dfl_yaml *list)
{
    static const struct { const char *tag; dfl_af_step_kind kind; } leaves[] = {
        { "Storage", DFL_AF_STORAGE }, { "Toll", DFL_AF_STORAGE }, { "Temporal", DFL_AF_TEMPORAL },
        { "Spatial", DFL_AF_SPATIAL }, { "Compute", DFL_AF_POINT },
    };

    for (uint32_t i = 0; w->ok && i < list->n; i++) {
        const dfl_yaml *at = &list->items[i];
        size_t k = 0;

        while (k < 5 && strcmp(leaves[k].tag, at->tag) != 0)
            k++;
        if (k < 5) {
            take_step(w, at, leaves[k].kind);
        } else if (strcmp(at->tag, "Nested") == 0) {
            const dfl_yaml *inner = dfl_yaml_get(at, "nodes");

            if (inner == NULL || inner->kind != DFL_YAML_LIST)
                wrong(w, DFL_FOREIGN_SYNTAX, at->span, "`!Nested` needs a list of `nodes`");
            else
                walk(w, inner);
        } else if (strcmp(at->tag, "Sequential") == 0 || strcmp(at->tag, "Pipeline") == 0) {
            if (at->tag[0] == 'P')
                dfl_lose(w->f->report, DFL_FOREIGN_REARRANGED, at->span,
                         "the source runs the children of a pipeline one after another, and so does the result");
            walk_branches(w, at);
        } else {
            wrong(w, DFL_FOREIGN_UNSUPPORTED, at->span, "this kind of node is not supported");
        }
    }
}

/* ---- shared loops ---- */

/* Number of loops above the home of a tensor on the path of an einsum. */
static uint32_t home_depth(const dfl_af_path *path, uint32_t tensor)
{
    for (uint32_t i = 0; i < path->n_events; i++) {
        if (path->events[i].kind == DFL_AF_KEEP && path->events[i].home && path->events[i].tensor == tensor)
            return path->events[i].depth;
    }
    return 0;
}

/* Finds the loops that successive einsums share: the common loops of their paths that stand above the deepest home of a
   tensor that lives across the boundary. */
static void find_shared(const dfl_af_file *f, dfl_af_plan *plan)
{
    for (uint32_t b = 0; b + 1 < plan->n_order; b++) {
        const dfl_af_path *here = &plan->paths[plan->order[b]], *there = &plan->paths[plan->order[b + 1]];
        uint32_t most = 0, common = 0;

        for (uint32_t t = 0; t < f->tensors.n; t++) {
            uint32_t depth = 0;
            bool before = false, after = false;

            for (uint32_t i = 0; i < plan->n_order; i++) {
                if (dfl_af_access_of(&f->einsums.at[plan->order[i]], t) == NULL)
                    continue;
                *(i <= b ? &before : &after) = true;
                uint32_t d = home_depth(&plan->paths[plan->order[i]], t);
                depth = d > depth ? d : depth;
            }
            most = before && after && depth > most ? depth : most;
        }
        while (common < most && common < here->n_loops && common < there->n_loops &&
               here->loops[common] == there->loops[common])
            common++;
        plan->shared[b] = common;
    }
}

bool dfl_af_read_mapping(const dfl_af_file *f, dfl_af_plan *plan)
{
    const dfl_yaml *list = dfl_yaml_get(f->mapping, "nodes");
    walker *w = DFL_NEW(f->report->arena, walker);

    *plan = (dfl_af_plan){ .paths = DFL_NEW_ARRAY(f->report->arena, dfl_af_path, f->einsums.n),
                           .order = DFL_NEW_ARRAY(f->report->arena, uint32_t, f->einsums.n),
                           .shared = DFL_NEW_ARRAY(f->report->arena, uint32_t, f->einsums.n + 1) };
    w->f = f;
    w->plan = plan;
    w->ok = true;
    if (list == NULL || list->kind != DFL_YAML_LIST)
        return wrong(w, DFL_FOREIGN_SYNTAX, f->mapping->span, "a mapping needs a list of `nodes`");
    walk(w, list);
    for (uint32_t e = 0; w->ok && e < f->einsums.n; e++) {
        if (!plan->paths[e].present)
            wrong(w, DFL_FOREIGN_SYNTAX, f->einsums.at[e].span, "the einsum is not mapped");
    }
    if (w->ok)
        find_shared(f, plan);
    return w->ok;
}
