/* Written lines, and which of them a search goes along with. */
#include "mapper/skeleton/fixed_lines.h"

#include <string.h>

#include "ir/mapping_open.h"
#include "ir/path/path.h"

/* ---- what can be searched ---- */

typedef struct {
    dfl_sink *sink;
    const dfl_intern *names;
    const dfl_mapping *m;
    const dfl_body *leaf;
    uint32_t homes;       /* of its lines, the first ones */
    bool ok;
} checker;

void dfl_fixed_lines_refuse(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m, dfl_span span, const char *what,
                            const char *help)
{
    const bool whole = span.start == m->span.start; /* then what is open shows more than the name does */
    const bool inside = span.start >= m->text.start && span.end <= m->text.end; /* else perhaps in another file */
    dfl_diag *d = dfl_report(sink, DFL_EVAL_HOLE, inside && !whole ? span : m->hole_span,
                             "`%s` has a hole in an unsupported place", dfl_sym_text(names, m->name));

    if (inside)
        dfl_diag_here(sink, d, "%s", what);
    else
        dfl_diag_label(sink, d, span, "%s", what);
    if (inside && !whole && (span.start != m->hole_span.start || span.end != m->hole_span.end))
        dfl_diag_label(sink, d, m->hole_span, "next to the open lines");
    dfl_diag_help(sink, d, "%s", help);
}

static void refuse(checker *k, dfl_span span, const char *what, const char *help)
{
    dfl_fixed_lines_refuse(k->sink, k->names, k->m, span, what, help);
    k->ok = false;
}

/* The outermost memory that may hold the tensor: its home, if no other is written. */
static uint32_t first_memory(const dfl_mapping *m, uint32_t tensor)
{
    uint32_t i = 0;

    while (i < m->system->n_memories && m->system->memories[i].holds.on &&
           !dfl_selects(&m->system->memories[i].holds, &m->workload->tensors[tensor]))
        i++;
    return i;
}

/* Where the tensor is at home for the lines of a leaf: above them, or in the first ones. */
static uint32_t written_home(const checker *k, uint32_t tensor)
{
    uint32_t above = dfl_body_home(k->leaf->parent, tensor);

    for (uint32_t i = 0; i < k->homes && above == DFL_NONE; i++)
        if (k->leaf->lines[i].tensor == tensor)
            above = k->leaf->lines[i].memory;
    return above;
}

static void check_keep(checker *k, const dfl_einsum *e, const dfl_line *line)
{
    if (line->mode != DFL_KEEP_EXACT)
        refuse(k, line->span, "`fresh` and `window` are not searched", "remove the word, or write all lines");
    else if (!dfl_einsum_touches(e, line->tensor))
        refuse(k, line->span, "its einsum does not touch the tensor", "remove the line");
    else if (written_home(k, line->tensor) == DFL_NONE && first_memory(k->m, line->tensor) == line->memory)
        refuse(k, line->span, "this is the home of the tensor",
               "put the homes first: one `keep T in M;` per tensor, before all other lines");
}

static void check_loop(checker *k, const dfl_einsum *e, const dfl_line *line)
{
    int64_t extent = k->m->workload->ranks[line->rank].extent;

    if (line->cyclic || line->online || line->only != NULL)
        refuse(k, line->span, "`cyclic`, `online` and `for` are not searched", "remove the word, or write all lines");
    else if (line->kind == DFL_LINE_SPATIAL && k->m->system->axes[line->axis].size <= 1)
        refuse(k, line->span, "this axis has a single instance", "use a `temporal` loop");
    else if (!dfl_einsum_has_rank(e, line->rank))
        refuse(k, line->span, "its einsum has no such rank", "remove the line");
    else if (line->by != DFL_BY_HOLE && extent % line->amount != 0)
        refuse(k, line->amount_span, "this tile size does not divide the rank",
               "a search with `...` needs tiles that divide; write another size, or all lines with `?` for tile sizes");
}

static bool is_inside(const dfl_mapping *m, const dfl_line *spatial, const dfl_line *keep)
{
    return dfl_axis_encloses(m->system, spatial->axis, m->system->memories[keep->memory].element);
}

static bool slides(const dfl_einsum *e)
{
    for (uint32_t i = 0; i <= e->n_inputs; i++) {
        const dfl_access *a = i < e->n_inputs ? &e->inputs[i] : &e->output;
        uint32_t rank;
        for (uint32_t d = 0; d < a->n_dims; d++)
            if (a->index[d].n_terms > 0 && !dfl_index_is_bare(&a->index[d], &rank))
                return true;
    }
    return false;
}

static void check_lines(checker *k)
{
    const dfl_body *leaf = k->leaf;
    const dfl_einsum *e = &k->m->workload->einsums[leaf->einsums[0]];

    if (leaf->n_recompute > 0)
        refuse(k, leaf->span, "`recompute` is not searched", "write all lines");
    if (leaf->n_lines - k->homes + leaf->n_opens > DFL_GIVEN_LINES)
        refuse(k, leaf->span, "the search does not support this many lines", "write all lines");
    for (uint32_t i = k->homes; i < leaf->n_lines && k->ok; i++) {
        const dfl_line *line = &leaf->lines[i];
        if (line->kind == DFL_LINE_KEEP)
            check_keep(k, e, line);
        else
            check_loop(k, e, line);
        for (uint32_t j = k->homes; j < i && k->ok && line->kind == DFL_LINE_KEEP && slides(e); j++)
            if (leaf->lines[j].kind == DFL_LINE_SPATIAL && !is_inside(k->m, &leaf->lines[j], line))
                refuse(k, line->span, "a keep below a `spatial` line is not searched if windows overlap",
                       "put the keep above the line");
    }
}

static void refuse_home(checker *k, uint32_t tensor)
{
    const dfl_tensor *t = &k->m->workload->tensors[tensor];
    const char *name = dfl_sym_text(k->names, t->name);
    dfl_arena *arena = dfl_sink_arena(k->sink);

    refuse(k, t->span, dfl_arena_printf(arena, "the lines leave no place for the home of `%s`", name),
           dfl_arena_printf(arena, "put `keep %s in M;` before all other lines, where M is its memory, or `...;`",
                            name));
}

static void check_homes(checker *k)
{
    const dfl_einsum *e = &k->m->workload->einsums[k->leaf->einsums[0]];
    bool open = k->leaf->n_opens > 0 && k->leaf->opens[0].at <= k->homes;

    for (uint32_t t = 0; t < k->m->workload->n_tensors && k->ok && !open; t++)
        if (dfl_einsum_touches(e, t) && written_home(k, t) == DFL_NONE)
            refuse_home(k, t);
}

bool dfl_fixed_lines_check(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m, const dfl_body *leaf)
{
    checker k = { .sink = sink, .names = names, .m = m, .leaf = leaf, .homes = dfl_body_count_homes(leaf), .ok = true };

    check_lines(&k);
    if (k.ok)
        check_homes(&k);
    return k.ok;
}

/* ---- for a problem ---- */

static uint8_t place_of(const dfl_problem *problem, uint32_t memory)
{
    uint8_t i = 0;

    while (i < problem->n_places && problem->place[i].memory != memory)
        i++;
    return i;
}

static uint8_t axis_of(const dfl_problem *problem, uint32_t axis)
{
    uint8_t i = 0;

    while (i < problem->n_axes && problem->axis[i].axis != axis)
        i++;
    return i;
}

static void add_line(dfl_fixed_lines *out, dfl_problem *problem, const dfl_line *line)
{
    static const dfl_fixed_kind kinds[] = { DFL_GIVEN_TEMPORAL, DFL_GIVEN_SPATIAL, DFL_GIVEN_KEEP };
    dfl_fixed_line *l = &out->at[out->n++];

    *l = (dfl_fixed_line){ .kind = kinds[line->kind], .line = line };
    if (line->kind == DFL_LINE_KEEP) {
        l->operand = (uint8_t)dfl_problem_find_operand(problem, line->tensor);
        l->place = place_of(problem, line->memory);
        return;
    }
    l->rank = (uint8_t)dfl_problem_find_rank(problem, line->rank);
    l->axis = line->kind == DFL_LINE_SPATIAL ? axis_of(problem, line->axis) : 0;
    if (line->kind == DFL_LINE_SPATIAL && l->axis < problem->n_axes) {
        problem->axis[l->axis].ranks |= 1u << l->rank;
        problem->axis[l->axis].others &= ~(1u << l->rank);
    }
}

const dfl_fixed_lines *dfl_fixed_lines_make(dfl_arena *arena, const dfl_mapping *m, dfl_problem *problem)
{
    const dfl_body *leaf = dfl_mapping_leaf(m, problem->einsum);
    dfl_fixed_lines *out;
    uint32_t first = dfl_body_count_homes(m->root);

    if (dfl_mapping_all_lines_open(m) || leaf == NULL)
        return NULL;
    out = DFL_NEW(arena, dfl_fixed_lines);
    dfl_problem_divide(arena, problem, out->divisors);
    for (uint32_t i = first; i < m->root->n_lines && leaf->parent != NULL; i++)
        add_line(out, problem, &m->root->lines[i]);
    out->inner = out->n;
    for (uint32_t a = 0; a < problem->n_axes; a++)
        out->spread[a] = problem->axis[a].ranks;
    for (uint32_t i = leaf->parent == NULL ? first : 0, o = 0; i <= leaf->n_lines; i++) {
        bool any = false;
        for (; o < leaf->n_opens && leaf->opens[o].at <= i; o++)
            any = true;
        if (any)
            out->at[out->n++] = (dfl_fixed_line){ .kind = DFL_GIVEN_ANY };
        if (i < leaf->n_lines)
            add_line(out, problem, &leaf->lines[i]);
    }
    return out;
}
