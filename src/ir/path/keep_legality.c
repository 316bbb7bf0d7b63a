#include "ir/path/keep_legality.h"

static const char *text(const dfl_intern *names, dfl_sym s) { return dfl_sym_text(names, s); }

static const dfl_tensor *tensor_of(const dfl_mapping *m, const dfl_line *line) { return &m->workload->tensors[line->tensor]; }

/* The last keep of the tensor above step `i`, or NULL. */
static const dfl_line *keep_above(const dfl_path *p, uint32_t i, uint32_t tensor)
{
    while (i-- > 0)
        if (p->steps[i].line->kind == DFL_LINE_KEEP && p->steps[i].line->tensor == tensor)
            return p->steps[i].line;
    return NULL;
}

/* The step of a line on another path that also contains the line. */
static uint32_t find_step_on(const dfl_path *p, const dfl_line *line)
{
    uint32_t i = 0;

    while (p->steps[i].line != line)
        i++;
    return i;
}

/* The first spatial step that is below the keep at step `i` and on an axis around its memory, or DFL_NONE. */
static uint32_t find_split_below(const dfl_mapping *m, const dfl_path *p, uint32_t i)
{
    uint32_t element = m->system->memories[p->steps[i].line->memory].element;

    for (uint32_t k = i + 1; k < p->n_steps; k++)
        if (p->steps[k].line->kind == DFL_LINE_SPATIAL && p->steps[k].rank != DFL_NONE &&
            dfl_axis_encloses(m->system, p->steps[k].line->axis, element))
            return k;
    return DFL_NONE;
}

/* Whether the unit of the einsum does not see the memory of the keep at step `i`. */
static bool is_out_of_reach(const dfl_mapping *m, const dfl_path *p, uint32_t i)
{
    return p->compute != DFL_NONE && !dfl_compute_sees(m->system, p->compute, p->steps[i].line->memory);
}

/* Checks the keep at step `i` against the lines below it and the unit of einsum `e`. If a keep is illegal for several
   einsums, the first of these reports it. */
static bool check_below(dfl_sink *sink, const dfl_intern *names, const dfl_paths *paths, uint32_t e, uint32_t i)
{
    const dfl_mapping *m = paths->mapping;
    const dfl_path *p = &paths->paths[e];
    const dfl_line *line = p->steps[i].line;
    const dfl_body *body = p->steps[i].body;
    const dfl_memory *mem = &m->system->memories[line->memory];
    const char *tensor = text(names, tensor_of(m, line)->name), *memory = text(names, mem->name);
    uint32_t split = find_split_below(m, p, i);

    if (split == DFL_NONE && !is_out_of_reach(m, p, i))
        return true;
    for (uint32_t k = 0; k < body->n_einsums; k++) {
        const dfl_path *other = &paths->paths[body->einsums[k]];
        if (other->einsum < e && dfl_einsum_touches(&m->workload->einsums[other->einsum], line->tensor) &&
            (is_out_of_reach(m, other, find_step_on(other, line)) ||
             find_split_below(m, other, find_step_on(other, line)) != DFL_NONE))
            return false;
    }
    if (is_out_of_reach(m, p, i)) {
        dfl_diag *d = dfl_report(sink, DFL_MAP_TILE_UNREACHABLE, line->span, "unit `%s` cannot reach `%s` in `%s`",
                                 text(names, m->system->computes[p->compute].name), tensor, memory);
        dfl_diag_label(sink, d, mem->span, "`%s` is not on the way to `%s`", memory,
                       text(names, m->system->computes[p->compute].name));
        dfl_diag_help(sink, d, "keep `%s` in a memory declared before the unit in its own or an enclosing element", tensor);
        return false;
    }
    dfl_diag *d = dfl_report(sink, DFL_MAP_AXIS_UNMAPPED_ABOVE, line->span,
                             "`%s` is kept in `%s` above the spatial line of an axis around it", tensor, memory);
    dfl_diag_label(sink, d, p->steps[split].line->span, "axis `%s` is split here",
                   text(names, m->system->axes[p->steps[split].line->axis].name));
    if (p->steps[split].body == body)
        dfl_diag_help(sink, d, "move the keep below this line");
    else
        dfl_diag_help(sink, d, "each instance would need a tile of its own: keep `%s` in a memory outside of the array, or "
                      "put the `spatial` line above the keep", tensor);
    return false;
}

static bool check_keep(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m, const dfl_path *p, uint32_t i)
{
    const dfl_line *line = p->steps[i].line, *outer = keep_above(p, i, line->tensor);
    const dfl_memory *mem = &m->system->memories[line->memory];
    const char *tensor = text(names, tensor_of(m, line)->name), *memory = text(names, mem->name);

    if (!dfl_selects(&mem->holds, tensor_of(m, line)) && mem->holds.on) {
        dfl_diag *d = dfl_report(sink, DFL_MAP_CANNOT_HOLD, line->span, "memory `%s` cannot hold `%s`", memory, tensor);
        dfl_diag_label(sink, d, mem->span, "its `holds` does not include `%s`", tensor);
        dfl_diag_help(sink, d, "keep `%s` in another memory, or add it to `holds`", tensor);
        return false;
    }
    if (outer && outer->memory == line->memory) {
        dfl_diag *d = dfl_report(sink, DFL_MAP_KEEP_TWICE, line->span, "`%s` is already kept in `%s`", tensor, memory);
        dfl_diag_label(sink, d, outer->span, "kept here");
        dfl_diag_help(sink, d, "remove one of the two keeps");
        return false;
    }
    if (outer && !dfl_memory_outside(m->system, outer->memory, line->memory)) {
        dfl_diag *d = dfl_report(sink, DFL_MAP_KEEP_ORDER, line->span, "`%s` is kept in `%s` inside its keep in `%s`",
                                 tensor, memory, text(names, m->system->memories[outer->memory].name));
        dfl_diag_here(sink, d, "`%s` is not inside `%s`", memory, text(names, m->system->memories[outer->memory].name));
        dfl_diag_label(sink, d, outer->span, "outer keep");
        dfl_diag_help(sink, d, "put the keeps of a tensor from outer memories to inner ones");
        return false;
    }
    return true;
}

bool dfl_path_check_keeps(dfl_sink *sink, const dfl_intern *names, const dfl_paths *paths, uint32_t e)
{
    const dfl_mapping *m = paths->mapping;
    const dfl_path *p = &paths->paths[e];
    bool ok = true;

    for (uint32_t i = 0; i < p->n_steps; i++) {
        const dfl_line *line = p->steps[i].line;
        if (line->kind != DFL_LINE_KEEP || !dfl_einsum_touches(&m->workload->einsums[e], line->tensor))
            continue;
        const dfl_body *body = p->steps[i].body;
        bool reports = paths->user[body->id][line - body->lines] == e; /* one report for all einsums below the line of the
                                                                          keep */
        bool placed = !reports || check_keep(sink, names, m, p, i);
        ok &= placed && check_below(sink, names, paths, e, i);
    }
    return ok;
}

/* The home of the tensor on the path to an einsum, or NULL after E0415. */
static const dfl_line *find_home(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m, const dfl_path *p,
                               uint32_t tensor)
{
    for (uint32_t i = 0; i < p->n_steps; i++)
        if (p->steps[i].line->kind == DFL_LINE_KEEP && p->steps[i].line->tensor == tensor)
            return p->steps[i].line;
    const dfl_tensor *t = &m->workload->tensors[tensor];
    dfl_diag *d = dfl_report(sink, DFL_MAP_NO_HOME, p->leaf->span, "`%s` is kept nowhere on the way to einsum `%s`",
                             text(names, t->name), text(names, m->workload->einsums[p->einsum].name));
    dfl_diag_label(sink, d, t->span, "`%s` is declared here", text(names, t->name));
    dfl_diag_help(sink, d, "add `keep %s in ...;` above this line; the outermost keep is the tensor's home",
                  text(names, t->name));
    return NULL;
}

/* The first tensor from `t` on that the einsum touches, or DFL_NONE. */
static uint32_t find_tensor_from(const dfl_einsum *e, uint32_t t)
{
    uint32_t first = e->output.tensor >= t ? e->output.tensor : DFL_NONE;

    for (uint32_t i = 0; i < e->n_inputs; i++)
        if (e->inputs[i].tensor >= t && e->inputs[i].tensor < first)
            first = e->inputs[i].tensor;
    return first;
}

bool dfl_path_check_homes(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_paths *paths)
{
    const dfl_mapping *m = paths->mapping;
    const dfl_line **home = DFL_NEW_ARRAY(arena, const dfl_line *, m->workload->n_tensors);
    bool *homeless = DFL_NEW_ARRAY(arena, bool, m->workload->n_tensors);
    bool ok = true;

    for (uint32_t e = 0; e < m->workload->n_einsums; e++) {
        for (uint32_t t = find_tensor_from(&m->workload->einsums[e], 0); t != DFL_NONE;
             t = find_tensor_from(&m->workload->einsums[e], t + 1)) {
            if (homeless[t])
                continue; /* one report for each tensor without a home */
            const dfl_line *found = find_home(sink, names, m, &paths->paths[e], t);
            const dfl_tensor *tensor = &m->workload->tensors[t];
            homeless[t] = found == NULL;
            ok &= found != NULL;
            if (!found || !home[t]) {
                home[t] = home[t] ? home[t] : found;
                continue;
            }
            if (found == home[t] || (tensor->n_producers == 0 && found->memory == home[t]->memory))
                continue;
            dfl_diag *d = dfl_report(sink, DFL_MAP_NO_HOME, found->span, "`%s` has two homes", text(names, tensor->name));
            dfl_diag_label(sink, d, home[t]->span, "the other home");
            dfl_diag_help(sink, d, "keep `%s` above the branch that holds both", text(names, tensor->name));
            ok = false;
        }
    }
    return ok;
}
