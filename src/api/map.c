/* Filling the holes of mappings, and putting what was found into their text. */
#include "api/session.h"

#include <stdlib.h>
#include <string.h>

#include "ir/print.h"
#include "mapper/holes.h"
#include "report/verdict.h"

/* What a search asks about a mapping that it has evaluated. */
typedef struct {
    dfl_session *s;
    dfl_results one;             /* of the mapping alone, reports go nowhere */
    dfl_result_item item;
    DFL_VEC(const dfl_check *) required;
} judge;

void dfl_session_set_search(dfl_session *s, const dfl_search_options *options)
{
    s->search = (dfl_search_options){ 0 };
    memcpy(&s->search, options, options->size < sizeof s->search ? options->size : sizeof s->search);
}

dfl_arena *dfl_session_after(dfl_session *s)
{
    if (!s->after) {
        s->after_budget.memory_limit = s->budget.memory_limit;
        s->after = dfl_arena_new(&s->after_budget);
    }
    return s->after;
}

bool dfl_session_searches_for(dfl_session *s, const dfl_mapping *m)
{
    const char *name = dfl_sym_text(s->names, m->name);
    dfl_diag *d;

    if (m->unsearched) {
        d = dfl_report(s->sink, DFL_EVAL_HOLE_KIND, m->unsearched_span, "`%s` leaves open %s", name, m->unsearched);
        dfl_diag_here(s->sink, d, "no search fills this");
        dfl_diag_help(s->sink, d, "what is searched: `?` for the size or the number of parts of a loop, and one objective, "
                      "`minimize`");
        return false;
    }
    if (dfl_holes_only(m))
        return true;
    d = dfl_report(s->sink, DFL_EVAL_HOLE, m->hole_span, "`%s` has a hole that nothing fills", name);
    dfl_diag_help(s->sink, d, "write the lines out, with `?` for amounts of loops: this version of dflc searches only those");
    return false;
}

/* ---- figures of a mapping that is looked at ---- */

static bool figure(void *context, const dfl_result *result, const dfl_val *expr, double *out)
{
    judge *j = context;
    dfl_sink *quiet = j->one.sink;
    size_t reports = dfl_sink_errors(j->s->sink);

    j->item.result = result;
    if (dfl_figure(&j->one, j->item.mapping->name, expr, out))
        return true;
    j->one.sink = j->s->sink;
    (void)dfl_figure(&j->one, j->item.mapping->name, expr, out);
    j->one.sink = quiet;
    if (dfl_sink_errors(j->s->sink) == reports)
        dfl_report(j->s->sink, DFL_EVAL_OBJECTIVE, expr->span, "an objective is over figures of the mapping itself");
    return false;
}

static bool meets(void *context, const dfl_result *result)
{
    judge *j = context;

    j->item.result = result;
    for (size_t i = 0; i < j->required.n; i++)
        if (dfl_check_fails(&j->one, j->required.at[i]))
            return false;
    return true;
}

/* Whether all paths of an expression start with the name. */
static bool is_about(const dfl_val *v, dfl_sym name)
{
    if (v == NULL)
        return true;
    if (v->n_path > 0)
        return v->path[0] == name;
    for (uint32_t i = 0; i < v->n_args; i++)
        if (!is_about(v->args[i], name))
            return false;
    return true;
}

/* What is required of the mapping, in its braces or by its name. */
static void find_required(judge *j)
{
    const dfl_program *p = j->s->program;
    dfl_sym name = j->item.mapping->name;

    for (uint32_t i = 0; i < p->n_checks; i++) {
        const dfl_check *c = &p->checks[i];

        if (c->kind == DFL_CHECK_REQUIRE &&
            (c->scope == name || (is_about(c->expr, name) && is_about(c->exactly, name) && is_about(c->of, name))))
            DFL_PUSH(j->s->arena, &j->required, c);
    }
}

static const dfl_search *describe(dfl_session *s, const dfl_objective *o, const dfl_holes_result *r, uint64_t most)
{
    dfl_search *out = DFL_NEW(s->arena, dfl_search);

    *out = (dfl_search){ .objective = o->text, .value = r->objective, .lower_bound = r->lower_bound,
                         .optimal = r->optimal, .evaluated = r->evaluated, .pruned = r->pruned, .refused = r->refused,
                         .space = r->space, .most_evaluations = most, .time_limit = s->search.seconds };
    return out;
}

const dfl_filled *dfl_session_fill(dfl_session *s, const dfl_mapping *m, dfl_stop *stopped)
{
    judge j = { .s = s, .item = { .mapping = m, .status = DFL_STATUS_FILLED } };
    dfl_holes_options options = { .imperfect = s->search.imperfect, .time_limit = s->search.seconds,
                                  .most_evaluations = s->search.evaluations > 0 ? s->search.evaluations
                                                                                : DFL_HOLES_EVALUATIONS };
    dfl_objective objective;
    const dfl_holes_result *r;
    dfl_arena *texts;
    dfl_filled filled = { .given = m };

    *stopped = DFL_STOP_NONE;
    if (!dfl_session_searches_for(s, m) || !dfl_objective_make(s->sink, s->names, m, &objective))
        return NULL;
    texts = dfl_arena_new(&s->budget);
    j.one = s->results;
    j.one.sink = dfl_sink_new(texts, s->sources);
    j.one.items = &j.item;
    j.one.n_items = 1;
    dfl_sink_limit(j.one.sink, 0);
    find_required(&j);
    objective.figure = figure;
    objective.meets = j.required.n > 0 ? meets : NULL;
    objective.context = &j;
    options.objective = &objective;
    r = dfl_holes_run(s->arena, s->sink, s->names, m, &options);
    dfl_arena_free(texts);
    if (!r)
        return NULL;
    filled.mapping = r->mapping;
    filled.search = describe(s, &objective, r, options.most_evaluations);
    *stopped = r->stopped;
    DFL_PUSH(s->arena, &s->filled, filled);
    return &s->filled.at[s->filled.n - 1];
}

dfl_exit dfl_session_map(dfl_session *s, const char *only)
{
    bool any = false;

    if (!dfl_session_analyse(s))
        return DFL_EXIT_USAGE;
    if (!s->program || dfl_sink_errors(s->sink) > 0)
        return dfl_session_status(s);
    for (uint32_t i = 0; i < s->program->n_designs && dfl_budget_ok(&s->budget); i++) {
        const dfl_mapping *m = s->program->designs[i].mapping;
        dfl_stop stopped = DFL_STOP_NONE;

        if (!s->program->designs[i].from_root || (only && strcmp(only, dfl_sym_text(s->names, m->name)) != 0))
            continue;
        any = true;
        if (m->has_holes)
            (void)dfl_session_fill(s, m, &stopped);
        dfl_budget_stop(&s->budget, stopped);
    }
    if (!any && s->budget.why == DFL_STOP_NONE && !dfl_session_refuse_template(s, only) && only)
        dfl_session_unknown_mapping(s, only);
    return dfl_session_status(s);
}

/* ---- text ---- */

typedef struct { dfl_span span; const char *text; } edit;
typedef DFL_VEC(edit) edits;

static int by_place(const void *a, const void *b)
{
    const edit *x = a, *y = b;

    return (x->span.start > y->span.start) - (x->span.start < y->span.start);
}

/* An amount for each `?`, when each of them stands in the text of the mapping and for one loop alone. */
static bool edit_amounts(dfl_session *s, const dfl_filled *f, edits *out)
{
    size_t first = out->n;

    for (uint32_t b = 0; b < f->mapping->n_bodies; b++)
        for (uint32_t i = 0; i < f->mapping->bodies[b]->n_lines; i++) {
            const dfl_line *line = &f->mapping->bodies[b]->lines[i];
            edit one = { line->amount_span, NULL };

            if (!line->hole)
                continue;
            if (one.span.start < f->given->text.start || one.span.end > f->given->text.end)
                return false;
            one.text = dfl_arena_printf(s->arena, "%lld", (long long)line->amount);
            DFL_PUSH(s->arena, out, one);
        }
    qsort(out->at + first, out->n - first, sizeof *out->at, by_place);
    for (size_t i = first + 1; i < out->n; i++)
        if (out->at[i].span.start < out->at[i - 1].span.end)
            return false;
    return true;
}

/* The edits of one mapping: amounts, or all of it. */
static void edit_mapping(dfl_session *s, const dfl_filled *f, edits *out)
{
    size_t first = out->n;
    dfl_strbuf text;

    if (edit_amounts(s, f, out))
        return;
    out->n = first;
    dfl_strbuf_init(&text, s->arena);
    dfl_mapping_print(&text, s->names, f->mapping);
    DFL_PUSH(s->arena, out, ((edit){ f->given->text, dfl_arena_copy(s->arena, text.text, text.len - 1) }));
}

/* Source text from `start` to `end` with the edits that lie there, in order. */
static void write_edited(dfl_session *s, dfl_strbuf *out, uint32_t start, uint32_t end, const edits *all)
{
    const dfl_source *source = s->root->source;

    for (size_t i = 0; i < all->n; i++) {
        const edit *e = &all->at[i];

        if (e->span.start < start || e->span.end > end)
            continue;
        dfl_strbuf_add(out, source->text + (start - source->base), e->span.start - start);
        dfl_strbuf_z(out, e->text);
        start = e->span.end;
    }
    dfl_strbuf_add(out, source->text + (start - source->base), end - start);
}

const char *dfl_session_mapped(dfl_session *s, bool whole, size_t *len)
{
    dfl_strbuf out;
    edits all = { 0 };

    dfl_strbuf_init(&out, s->arena);
    for (size_t i = 0; i < s->filled.n; i++)
        edit_mapping(s, &s->filled.at[i], &all);
    if (all.n > 0)
        qsort(all.at, all.n, sizeof *all.at, by_place);
    if (whole && s->root)
        write_edited(s, &out, s->root->source->base, s->root->source->base + (uint32_t)s->root->source->len, &all);
    for (size_t i = 0; !whole && i < s->filled.n; i++) {
        write_edited(s, &out, s->filled.at[i].given->text.start, s->filled.at[i].given->text.end, &all);
        dfl_strbuf_char(&out, '\n');
    }
    if (len)
        *len = out.len;
    return out.text;
}

const char *dfl_session_searches(dfl_session *s, size_t *len)
{
    dfl_strbuf out;

    dfl_strbuf_init(&out, s->arena);
    for (size_t i = 0; i < s->filled.n; i++) {
        dfl_strbuf_printf(&out, "%s:\n", dfl_sym_text(s->names, s->filled.at[i].given->name));
        dfl_search_text(&out, s->filled.at[i].search);
    }
    if (len)
        *len = out.len;
    return out.text;
}
