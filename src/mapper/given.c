/* Written lines, and which of them a search goes along with. */
#include "mapper/given.h"

#include <string.h>

#include "ir/path.h"

uint32_t dfl_given_homes(const dfl_mapping *m)
{
    const dfl_body *root = m->root;
    uint32_t n = 0, end = root->n_opens > 0 && root->opens[0].at < root->n_lines ? root->opens[0].at : root->n_lines;

    for (; n < end && root->lines[n].kind == DFL_LINE_KEEP; n++)
        for (uint32_t i = 0; i < n; i++)
            if (root->lines[i].tensor == root->lines[n].tensor)
                return n;
    return n;
}

bool dfl_given_nothing(const dfl_mapping *m)
{
    const dfl_body *root = m->root;

    for (uint32_t i = 0; i < root->n_lines; i++)
        if (root->lines[i].mode != DFL_KEEP_EXACT)
            return false;
    return m->n_bodies == 1 && root->n_opens == 1 && root->opens[0].at >= root->n_lines && root->compute == DFL_NONE &&
           root->n_recompute == 0 && dfl_given_homes(m) == root->n_lines;
}

/* ---- what can be searched ---- */

typedef struct {
    dfl_sink *sink;
    const dfl_intern *names;
    const dfl_mapping *m;
    bool ok;
} checker;

static void refuse(checker *k, dfl_span span, const char *what, const char *help)
{
    dfl_diag *d = dfl_report(k->sink, DFL_EVAL_HOLE, k->m->hole_span, "`%s` has a hole that nothing fills",
                             dfl_sym_text(k->names, k->m->name));

    dfl_diag_label(k->sink, d, span, "%s", what);
    dfl_diag_help(k->sink, d, "%s", help);
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

static uint32_t written_home(const dfl_mapping *m, uint32_t tensor)
{
    for (uint32_t i = 0; i < dfl_given_homes(m); i++)
        if (m->root->lines[i].tensor == tensor)
            return m->root->lines[i].memory;
    return DFL_NONE;
}

static bool has_rank(const dfl_einsum *e, uint32_t rank)
{
    for (uint32_t i = 0; i < e->n_ranks; i++)
        if (e->ranks[i] == rank)
            return true;
    return false;
}

static void check_keep(checker *k, const dfl_einsum *e, const dfl_line *line)
{
    if (line->mode != DFL_KEEP_EXACT)
        refuse(k, line->span, "`fresh` and `window` are not searched", "leave the word out, or write all lines");
    else if (!dfl_einsum_touches(e, line->tensor))
        refuse(k, line->span, "its einsum does not touch the tensor", "remove the line");
    else if (written_home(k->m, line->tensor) == DFL_NONE && first_memory(k->m, line->tensor) == line->memory)
        refuse(k, line->span, "this is where the tensor is at home",
               "put the homes first: `keep T in M;` for one tensor after another, before all other lines");
}

static void check_loop(checker *k, const dfl_einsum *e, const dfl_line *line)
{
    int64_t extent = k->m->workload->ranks[line->rank].extent;

    if (line->cyclic || line->online || line->only != NULL)
        refuse(k, line->span, "`cyclic`, `online` and `for` are not searched", "leave the word out, or write all lines");
    else if (line->kind == DFL_LINE_SPATIAL && k->m->system->axes[line->axis].size <= 1)
        refuse(k, line->span, "this axis has a single instance", "use a `temporal` loop");
    else if (!has_rank(e, line->rank))
        refuse(k, line->span, "its einsum has no such rank", "remove the line");
    else if (line->by != DFL_BY_HOLE && extent % line->amount != 0)
        refuse(k, line->amount_span, "this amount does not divide the rank",
               "with `...` only tiles that divide are searched; write another amount, or all lines with `?` for amounts");
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

static void check_lines(checker *k, const dfl_body *leaf)
{
    const dfl_einsum *e = &k->m->workload->einsums[leaf->einsums[0]];
    uint32_t first = leaf->parent == NULL ? dfl_given_homes(k->m) : 0;

    if (leaf->n_recompute > 0)
        refuse(k, leaf->span, "`recompute` is not searched", "write all lines");
    if (leaf->n_lines - first + leaf->n_opens > DFL_GIVEN_LINES)
        refuse(k, leaf->span, "these are more lines than the search has room for", "write all lines");
    for (uint32_t i = first; i < leaf->n_lines && k->ok; i++) {
        const dfl_line *line = &leaf->lines[i];
        if (line->kind == DFL_LINE_KEEP)
            check_keep(k, e, line);
        else
            check_loop(k, e, line);
        for (uint32_t j = first; j < i && k->ok && line->kind == DFL_LINE_KEEP && slides(e); j++)
            if (leaf->lines[j].kind == DFL_LINE_SPATIAL && !is_inside(k->m, &leaf->lines[j], line))
                refuse(k, line->span, "where windows slide, this is not searched below a `spatial` line",
                       "put the keep above the line");
    }
}

static bool is_home_place(const dfl_mapping *m)
{
    return m->n_bodies == 1 && m->root->n_opens > 0 && m->root->opens[0].at <= dfl_given_homes(m);
}

static void check_homes(checker *k)
{
    for (uint32_t t = 0; t < k->m->workload->n_tensors && k->ok && !is_home_place(k->m); t++)
        if (written_home(k->m, t) == DFL_NONE)
            refuse(k, k->m->workload->tensors[t].span, "the lines leave no place for the home of this tensor",
                   "put `...` or a `keep` for each tensor before all other lines");
}

bool dfl_given_check(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m)
{
    checker k = { .sink = sink, .names = names, .m = m, .ok = true };

    if (m->n_bodies > 1 || m->workload->n_einsums > 1)
        refuse(&k, m->span, "several einsums are searched only if nothing is written but homes",
               "leave all lines open but one `keep` for the home of a tensor, or write them with `?` for amounts of loops");
    if (k.ok)
        check_lines(&k, m->root);
    if (k.ok)
        check_homes(&k);
    return k.ok;
}

/* ---- for a job ---- */

static uint8_t operand_of(const dfl_job *job, uint32_t tensor)
{
    uint8_t i = 0;

    while (i < job->n_operands && job->operand[i].tensor != tensor)
        i++;
    return i;
}

static uint8_t place_of(const dfl_job *job, uint32_t memory)
{
    uint8_t i = 0;

    while (i < job->n_places && job->place[i].memory != memory)
        i++;
    return i;
}

static uint8_t rank_of(const dfl_job *job, uint32_t rank)
{
    uint8_t i = 0;

    while (i < job->n_ranks && job->rank[i] != rank)
        i++;
    return i;
}

static uint8_t axis_of(const dfl_job *job, uint32_t axis)
{
    uint8_t i = 0;

    while (i < job->n_axes && job->axis[i].axis != axis)
        i++;
    return i;
}

static void add_line(dfl_given *out, dfl_job *job, const dfl_line *line)
{
    static const dfl_given_kind kinds[] = { DFL_GIVEN_TEMPORAL, DFL_GIVEN_SPATIAL, DFL_GIVEN_KEEP };
    dfl_given_line *l = &out->at[out->n++];

    *l = (dfl_given_line){ .kind = kinds[line->kind], .line = line };
    if (line->kind == DFL_LINE_KEEP) {
        l->operand = operand_of(job, line->tensor);
        l->place = place_of(job, line->memory);
        return;
    }
    l->rank = rank_of(job, line->rank);
    l->axis = line->kind == DFL_LINE_SPATIAL ? axis_of(job, line->axis) : 0;
    if (line->kind == DFL_LINE_SPATIAL && l->axis < job->n_axes)
        job->axis[l->axis].ranks |= 1u << l->rank;
}

const dfl_given *dfl_given_make(dfl_arena *arena, const dfl_mapping *m, dfl_job *job)
{
    const dfl_body *leaf = dfl_mapping_leaf(m, job->einsum);
    dfl_given *out;
    uint32_t first;

    if (dfl_given_nothing(m) || leaf == NULL)
        return NULL;
    out = DFL_NEW(arena, dfl_given);
    first = leaf->parent == NULL ? dfl_given_homes(m) : 0;
    for (uint32_t r = 0; r < job->n_ranks; r++)
        out->divisors[r] = dfl_divisors(arena, job->extent[r]);
    for (uint32_t a = 0; a < job->n_axes; a++)
        out->spread[a] = job->axis[a].ranks;
    for (uint32_t i = first, o = 0; i <= leaf->n_lines; i++) {
        bool any = false;
        for (; o < leaf->n_opens && leaf->opens[o].at <= i; o++)
            any = true;
        if (any)
            out->at[out->n++] = (dfl_given_line){ .kind = DFL_GIVEN_ANY };
        if (i < leaf->n_lines)
            add_line(out, job, &leaf->lines[i]);
    }
    return out;
}
