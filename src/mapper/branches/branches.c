/* Which written branches can be searched. */
#include "mapper/branches/branches.h"

#include "ir/mapping_open.h"
#include "mapper/branches/rebuild.h"
#include "mapper/skeleton/fixed_lines.h"

typedef struct {
    dfl_sink *sink;
    const dfl_intern *names;
    const dfl_mapping *m;
} checker;

static bool refuse(const checker *k, dfl_span span, const char *what, const char *help)
{
    dfl_fixed_lines_refuse(k->sink, k->names, k->m, span, what, help);
    return false;
}

/* The first loop down to the lines of a body (NULL = none). */
static const dfl_line *first_loop(const dfl_body *b)
{
    const dfl_line *found = NULL;

    for (; b != NULL; b = b->parent)
        for (uint32_t i = b->n_lines; i-- > 0;)
            if (b->lines[i].kind != DFL_LINE_KEEP)
                found = &b->lines[i];
    return found;
}

/* Lines above branches. */
static bool check_shared(const checker *k, const dfl_body *b)
{
    if (b->kind == DFL_BODY_PIPELINE)
        return refuse(k, b->span, "the stages of a pipeline are not searched", "use `fuse`, or write all lines");
    if (b->n_opens > 0)
        return refuse(k, b->opens[0].span, "lines above branches are not searched",
                      "write them, with `?` for tile sizes, and put `...` in the braces");
    if (b->n_recompute > 0)
        return refuse(k, b->span, "`recompute` is not searched", "write all lines");
    for (uint32_t i = 0; i < b->n_lines; i++) {
        const dfl_line *line = &b->lines[i];
        if (line->kind == DFL_LINE_SPATIAL)
            return refuse(k, line->span, "braces below a `spatial` line are not searched",
                          "put the line into each of the braces");
        if (line->cyclic)
            return refuse(k, line->span, "braces below a `cyclic` loop are not searched",
                          "remove the word, or write all lines");
    }
    return true;
}

static bool is_touched(const dfl_workload *w, const uint32_t *einsums, uint32_t n, uint32_t tensor)
{
    for (uint32_t i = 0; i < n; i++)
        if (dfl_einsum_touches(&w->einsums[einsums[i]], tensor))
            return true;
    return false;
}

static bool refuse_homes(const checker *k, const dfl_line *loop)
{
    return refuse(k, loop->span, "below this loop, open braces touch a tensor that has no `keep` above them",
                  "put a `keep` above the braces for each tensor that enters or leaves them, intermediates included");
}

/* Whether only these einsums make and read the tensor. */
static bool is_own(const dfl_workload *w, const uint32_t *einsums, uint32_t n, uint32_t tensor)
{
    for (uint32_t e = 0; e < w->n_einsums; e++) {
        bool in = false;
        for (uint32_t i = 0; i < n; i++)
            in |= einsums[i] == e;
        if (!in && dfl_einsum_touches(&w->einsums[e], tensor))
            return false;
    }
    return w->tensors[tensor].role == DFL_ROLE_INTERMEDIATE;
}

/* Several einsums without braces of their own: all of the body `b`, or some of `above`. */
static bool check_several(const checker *k, const dfl_body *b, const dfl_body *above, const uint32_t *einsums, uint32_t n)
{
    const dfl_span span = above->open_span;
    const dfl_body *homes = b != NULL ? b->parent : above;
    const dfl_line *loop = first_loop(homes);
    const dfl_workload *w = k->m->workload;
    bool plain = b == NULL || (b->n_opens == 1 && b->opens[0].at >= b->n_lines && b->n_recompute == 0);

    for (uint32_t i = 0; b != NULL && i < b->n_lines && plain; i++) {
        plain = b->lines[i].kind == DFL_LINE_KEEP && b->lines[i].mode == DFL_KEEP_EXACT &&
                dfl_body_home(b->parent, b->lines[i].tensor) == DFL_NONE;
        for (uint32_t j = 0; j < i && plain; j++)
            plain = b->lines[j].tensor != b->lines[i].tensor;
    }
    if (!plain || above->compute != DFL_NONE)
        return refuse(k, span, "the lines of several einsums are searched only in their own braces",
                      "give each einsum its braces: `fuse { A { ...; } B { ...; } }`");
    for (uint32_t t = 0; t < w->n_tensors && loop != NULL; t++)
        if (is_touched(w, einsums, n, t) && !is_own(w, einsums, n, t) && dfl_body_home(homes, t) == DFL_NONE)
            return refuse_homes(k, loop);
    return true;
}

static bool check_body(const checker *k, const dfl_body *b)
{
    const dfl_line *loop = first_loop(b->parent);
    uint32_t end;

    if (b->kind != DFL_BODY_LEAF) {
        if (!check_shared(k, b))
            return false;
        for (uint32_t i = 0; b->open_children && dfl_branches_run(b, &i, &end); i = end)
            if (!check_several(k, NULL, b, b->einsums + i, end - i))
                return false;
        return true;
    }
    if (!dfl_branches_has_holes(b))
        return true;
    if (b->n_einsums > 1)
        return check_several(k, b, b, b->einsums, b->n_einsums);
    for (uint32_t t = 0; t < k->m->workload->n_tensors && loop != NULL; t++)
        if (dfl_einsum_touches(&k->m->workload->einsums[b->einsums[0]], t) && dfl_body_home(b->parent, t) == DFL_NONE)
            return refuse_homes(k, loop);
    return dfl_fixed_lines_check(k->sink, k->names, k->m, b);
}

/* A tensor that several branches touch has its home above them. */
static bool check_homes(const checker *k)
{
    const dfl_workload *w = k->m->workload;

    for (uint32_t b = 0; b < k->m->n_bodies; b++) {
        const dfl_body *body = k->m->bodies[b];
        for (uint32_t t = 0; t < w->n_tensors && body->kind != DFL_BODY_LEAF; t++) {
            uint32_t n = 0, i = 0, end;
            for (uint32_t c = 0; c < body->n_children; c++)
                n += is_touched(w, body->children[c]->einsums, body->children[c]->n_einsums, t);
            for (; body->open_children && dfl_branches_run(body, &i, &end); i = end)
                n += is_touched(w, body->einsums + i, end - i, t);
            if (n > 1 && dfl_body_home(body, t) == DFL_NONE)
                return refuse(k, w->tensors[t].span,
                              "several branches touch this tensor, and no line above is its home",
                              "put a `keep` for it above the branches");
        }
    }
    return true;
}

static bool check_branches(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m)
{
    const checker k = { sink, names, m };

    for (uint32_t b = 0; b < m->n_bodies; b++)
        if (!check_body(&k, m->bodies[b]))
            return false;
    if (!check_homes(&k))
        return false;
    if (!dfl_branches_choices(m, DFL_TREE_CHOICES))
        return refuse(&k, m->hole_span, "the open tile sizes above branches have too many combinations",
                      "offer fewer: `? in {8, 16}`");
    return true;
}

bool dfl_open_lines_check(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m)
{
    if (dfl_mapping_has_open_branches(m))
        return check_branches(sink, names, m);
    if (m->workload->n_einsums == 1)
        return dfl_fixed_lines_check(sink, names, m, m->root);
    dfl_fixed_lines_refuse(sink, names, m, m->span, "the lines of several einsums are searched only in their own braces",
                           "give each einsum its braces: `fuse { A { ...; } B { ...; } }`");
    return false;
}
