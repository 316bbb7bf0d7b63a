#include "ir/path/online_legality.h"

#include <string.h>

/* Dependence of an expression on the unfinished value v. h(v) is a function of v only; g does not depend on v. */
typedef enum {
    ON_NOTHING, /* the expression is g */
    ON_CONST,   /* a constant: combined with another operand, it has the dependence of that operand */
    ON_PURE,    /* the expression is h(v) */
    ON_FACTOR,  /* the expression is g * h(v): a later v rescales it */
    ON_SHIFT,   /* the expression is g + h(v): a later v shifts it */
    ON_OTHER,
} dependence;

typedef struct {
    dfl_sink *sink;
    const dfl_intern *names;
    const dfl_paths *paths;
    const dfl_workload *w;
    const dfl_body *body;    /* body of the loop */
    const dfl_line *line;
    dependence *on;          /* [tensor]: dependence of its elements on the unfinished value */
    uint64_t *dims;          /* [tensor]: mask of the dimensions along which its unfinished value varies */
} checker;

static const char *text(const checker *check, dfl_sym s) { return dfl_sym_text(check->names, s); }

static const char *einsum_name(const checker *check, uint32_t e) { return text(check, check->w->einsums[e].name); }

static const dfl_path_step *find_step(const dfl_paths *paths, uint32_t e, const dfl_line *line)
{
    const dfl_path *p = &paths->paths[e];

    for (uint32_t i = 0; i < p->n_steps; i++)
        if (p->steps[i].line == line)
            return &p->steps[i];
    return NULL;
}

static bool is_below(const dfl_body *body, uint32_t e)
{
    for (uint32_t i = 0; i < body->n_einsums; i++)
        if (body->einsums[i] == e)
            return true;
    return false;
}

static bool is_indexed_by(const dfl_access *a, uint32_t rank, uint64_t dims)
{
    for (uint32_t d = 0; d < a->n_dims; d++)
        for (uint32_t t = 0; t < a->index[d].n_terms; t++)
            if (a->index[d].terms[t].rank == rank && (d >= 64 || (dims >> d & 1)))
                return true;
    return false;
}

/* ---- the algebra ---- */

static bool is_one_of(dependence a, dependence x, dependence y) { return a == x || a == y; }

static dependence add_dependence(dependence a, dependence b)
{
    if (a == ON_CONST || b == ON_CONST) {
        dependence other = a == ON_CONST ? b : a;
        return other == ON_FACTOR ? ON_OTHER : other;
    }
    if (a == ON_NOTHING && b == ON_NOTHING)
        return ON_NOTHING;
    if (a == ON_PURE && b == ON_PURE)
        return ON_PURE;
    return is_one_of(a, ON_OTHER, ON_FACTOR) || is_one_of(b, ON_OTHER, ON_FACTOR) ? ON_OTHER : ON_SHIFT;
}

static dependence multiply_dependence(dependence a, dependence b)
{
    if (a == ON_CONST || b == ON_CONST)
        return a == ON_CONST ? b : a;
    if (a == ON_NOTHING && b == ON_NOTHING)
        return ON_NOTHING;
    if (a == ON_PURE && b == ON_PURE)
        return ON_PURE;
    return is_one_of(a, ON_OTHER, ON_SHIFT) || is_one_of(b, ON_OTHER, ON_SHIFT) ? ON_OTHER : ON_FACTOR;
}

static bool is_named(const char *name, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(name, list[i]) == 0)
            return true;
    return false;
}

static dependence apply_call(const char *op, const dependence *arg, uint32_t n)
{
    static const char *const products[] = { "square", "sqrt", "rsqrt", "recip", "abs" };
    bool nothing = true, pure = true;

    for (uint32_t i = 0; i < n; i++) {
        nothing &= is_one_of(arg[i], ON_NOTHING, ON_CONST);
        pure &= is_one_of(arg[i], ON_PURE, ON_CONST);
    }
    if (nothing || pure)
        return nothing ? ON_NOTHING : ON_PURE;
    if (n != 1)
        return ON_OTHER;
    if (strcmp(op, "hold") == 0)
        return arg[0];
    if (strcmp(op, "exp") == 0 && arg[0] == ON_SHIFT)
        return ON_FACTOR;
    if ((strcmp(op, "log") == 0 || strcmp(op, "log2") == 0) && arg[0] == ON_FACTOR)
        return ON_SHIFT;
    return is_named(op, products, sizeof products / sizeof products[0]) && arg[0] == ON_FACTOR ? ON_FACTOR : ON_OTHER;
}

static dependence find_dependence(const checker *check, const dfl_einsum *e, const dfl_eop *x)
{
    dependence arg[8] = { ON_NOTHING }, all = ON_CONST;

    if (x->kind == DFL_EOP_ACCESS)
        return check->on[e->inputs[x->operand].tensor];
    for (uint32_t i = 0; i < x->n_args; i++) {
        dependence one = find_dependence(check, e, x->args[i]);
        if (x->kind != DFL_EOP_CALL)
            all = x->kind == DFL_EOP_ADD || x->kind == DFL_EOP_SUB ? add_dependence(all, one) : multiply_dependence(all, one);
        else if (i < sizeof arg / sizeof arg[0])
            arg[i] = one;
        else
            return ON_OTHER;
    }
    return x->kind == DFL_EOP_CALL ? apply_call(text(check, x->op), arg, x->n_args) : all;
}

/* ---- reports ---- */

static dfl_diag *refuse(const checker *check, uint32_t producer, uint32_t reader, dfl_span at, const char *why)
{
    const dfl_einsum *p = &check->w->einsums[producer];
    const char *tensor = text(check, check->w->tensors[p->output.tensor].name);
    const char *rank = text(check, check->w->ranks[find_step(check->paths, producer, check->line)->rank].name);
    dfl_diag *d = dfl_report(check->sink, DFL_MAP_ONLINE_ILLEGAL, check->line->span,
                             "the result of einsum `%s` from an incomplete `%s` cannot be corrected later",
                             einsum_name(check, reader), tensor);

    dfl_diag_here(check->sink, d, "every iteration of this `online` loop changes `%s`", tensor);
    dfl_diag_label(check->sink, d, p->span, "`%s` is produced here", tensor);
    dfl_diag_label(check->sink, d, at, "%s", why);
    dfl_diag_help(check->sink, d,
            "move the loop over `%s` into the branch of `%s`: then `%s` is read when it is complete",
                  rank, tensor, tensor);
    return d;
}

/* ---- one unfinished result ---- */

/* Checks a reader that reduces over the loop's rank: the correction must pass through its sum, maximum or minimum. */
static bool check_end(const checker *check, uint32_t producer, uint32_t reader, dependence how)
{
    const dfl_einsum *e = &check->w->einsums[reader];
    bool adds = e->reduce == DFL_REDUCE_ADD;

    if (how == ON_PURE || how == (adds ? ON_FACTOR : ON_SHIFT))
        return true;
    refuse(check, producer, reader, e->span, adds ? "a sum can be rescaled only if it is a factor of every term"
                                              : "a maximum or minimum can be shifted only if it is added to every term");
    return false;
}

/* Checks a reader whose result keeps the loop's rank: this result must be read inside of the loop only. */
static bool check_inside(const checker *check, uint32_t producer, uint32_t reader, dependence how)
{
    const dfl_einsum *e = &check->w->einsums[reader];
    const dfl_tensor *made = &check->w->tensors[e->output.tensor];

    if (made->role == DFL_ROLE_OUTPUT || dfl_tensor_is_updated(made)) {
        refuse(check, producer, reader, e->span, "this result leaves the loop before the correction");
        return false;
    }
    for (uint32_t i = 0; i < made->n_consumers; i++)
        if (!is_below(check->body, made->consumers[i])) {
            refuse(check, producer, reader, check->w->einsums[made->consumers[i]].span,
                   "this einsum reads it outside of the loop");
            return false;
        }
    if (how == ON_OTHER) {
        refuse(check, producer, reader, e->span, "neither a factor nor a summand of what is computed here");
        return false;
    }
    return e->reduce == DFL_REDUCE_NONE || check_end(check, producer, reader, how);
}

/* Follows the unfinished result of `producer` through the einsums below the loop; reports the first einsum that no
   correction can follow. */
static bool check_producer(const checker *check, uint32_t producer)
{
    const dfl_einsum *p = &check->w->einsums[producer];
    uint32_t n_dims = p->output.n_dims;

    memset(check->on, 0, check->w->n_tensors * sizeof *check->on);
    check->on[p->output.tensor] = ON_PURE;
    check->dims[p->output.tensor] = n_dims >= 64 ? UINT64_MAX : (UINT64_C(1) << n_dims) - 1;
    for (uint32_t k = 0; k < check->body->n_einsums; k++) {
        uint32_t reader = check->body->einsums[k];
        const dfl_einsum *e = &check->w->einsums[reader];
        const dfl_path_step *s = find_step(check->paths, reader, check->line);
        dependence how = reader == producer ? ON_NOTHING : find_dependence(check, e, e->body);
        uint64_t along = 0;

        if (is_one_of(how, ON_NOTHING, ON_CONST))
            continue;
        if (s->rank == DFL_NONE) {
            refuse(check, producer, reader, e->span, "computed once, in the first iteration");
            return false;
        }
        for (uint32_t r = 0; r < e->n_ranks; r++) {
            bool varies = false;
            for (uint32_t i = 0; i < e->n_inputs; i++)
                varies |= check->on[e->inputs[i].tensor] != ON_NOTHING &&
                          is_indexed_by(&e->inputs[i], e->ranks[r], check->dims[e->inputs[i].tensor]);
            if (varies && !is_indexed_by(&e->output, e->ranks[r], UINT64_MAX)) {
                refuse(check, producer, reader, e->span, "values with different corrections meet in one result here");
                return false;
            }
            for (uint32_t d = 0; varies && d < e->output.n_dims && d < 64; d++)
                for (uint32_t t = 0; t < e->output.index[d].n_terms; t++)
                    along |= e->output.index[d].terms[t].rank == e->ranks[r] ? UINT64_C(1) << d : 0;
        }
        if (!is_indexed_by(&e->output, s->rank, UINT64_MAX)) {
            if (!check_end(check, producer, reader, how))
                return false;
            continue;
        }
        if (!check_inside(check, producer, reader, how))
            return false;
        check->on[e->output.tensor] = how;
        check->dims[e->output.tensor] = along;
    }
    return true;
}

static bool check_line(checker *check)
{
    bool early = false, ok = true;

    for (uint32_t k = 0; k < check->body->n_einsums; k++) {
        uint32_t e = check->body->einsums[k];
        const dfl_path_step *s = find_step(check->paths, e, check->line);
        const dfl_tensor *t = &check->w->tensors[check->w->einsums[e].output.tensor];
        bool read = false;

        if (s->rank == DFL_NONE || is_indexed_by(&check->w->einsums[e].output, s->rank, UINT64_MAX))
            continue;
        for (uint32_t i = 0; i < t->n_consumers; i++)
            read |= t->consumers[i] != e && is_below(check->body, t->consumers[i]);
        early |= read;
        if (read && s->tile < s->nominal)
            ok &= check_producer(check, e);
    }
    if (!early) {
        const char *rank = text(check, check->w->ranks[check->line->rank].name);
        dfl_diag *d = dfl_report(check->sink, DFL_MAP_ONLINE_ILLEGAL, check->line->span,
                                 "`online` has no effect: below this loop no result is read before it is complete");
        dfl_diag_here(check->sink, d, "no result accumulated by the loop over `%s` is read inside of it", rank);
        dfl_diag_help(check->sink, d, "remove `online`");
    }
    return ok && early;
}

bool dfl_path_check_online(dfl_arena *arena, dfl_sink *sink, const dfl_intern *names, const dfl_paths *paths)
{
    const dfl_mapping *m = paths->mapping;
    checker check = { .sink = sink, .names = names, .paths = paths, .w = m->workload };
    bool ok = true;

    for (uint32_t b = 0; b < m->n_bodies; b++)
        for (uint32_t i = 0; i < m->bodies[b]->n_lines; i++) {
            if (m->bodies[b]->lines[i].kind != DFL_LINE_TEMPORAL || !m->bodies[b]->lines[i].online)
                continue;
            if (!dfl_budget_ok(dfl_arena_budget(arena)))
                return dfl_report_stop(sink, dfl_arena_budget(arena));
            if (check.on == NULL) {
                check.on = DFL_NEW_ARRAY(arena, dependence, m->workload->n_tensors);
                check.dims = DFL_NEW_ARRAY(arena, uint64_t, m->workload->n_tensors);
            }
            check.body = m->bodies[b];
            check.line = &m->bodies[b]->lines[i];
            ok &= check_line(&check);
        }
    return ok;
}
