/* Filling the holes of mappings, and putting what was found into their text. */
#include "api/session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/print.h"
#include "mapper/holes.h"
#include "mapper/mapper.h"
#include "model/model.h"
#include "report/verdict.h"

/* What a search asks about a mapping that it has evaluated. */
typedef struct {
    dfl_session *s;
    dfl_results one;             /* of the mapping alone, reports go nowhere */
    dfl_result_item item;
    DFL_VEC(const dfl_check *) required;
    DFL_VEC(dfl_span) required_at;
    dfl_teller teller;
    bool told;
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

/* Nothing is written of it but homes, and then `...`. */
static bool is_all_open(const dfl_mapping *m)
{
    const dfl_body *root = m->root;

    for (uint32_t i = 0; i < root->n_lines; i++) {
        if (root->lines[i].kind != DFL_LINE_KEEP || root->lines[i].mode != DFL_KEEP_EXACT)
            return false;
        for (uint32_t j = 0; j < i; j++)
            if (root->lines[j].tensor == root->lines[i].tensor)
                return false;
    }
    return m->n_bodies == 1 && root->open && root->open_at == root->n_lines && root->compute == DFL_NONE &&
           root->n_recompute == 0;
}

static bool refuse_kind(dfl_session *s, const dfl_mapping *m, dfl_span span, const char *what, const char *help)
{
    dfl_diag *d = dfl_report(s->sink, DFL_EVAL_HOLE_KIND, span, "`%s` leaves open %s", dfl_sym_text(s->names, m->name), what);

    dfl_diag_here(s->sink, d, "no search fills this");
    dfl_diag_help(s->sink, d, "%s", help);
    return false;
}

/* Reports a hole for which there is no search; false then. */
static bool is_searched(dfl_session *s, const dfl_mapping *m)
{
    dfl_diag *d;

    if (m->unsearched)
        return refuse_kind(s, m, m->unsearched_span, m->unsearched,
                           "what is searched: `?` for the size or the number of parts of a loop, `...` for all lines of a "
                           "mapping, and one objective, `minimize`");
    if (dfl_holes_only(m) || is_all_open(m))
        return true;
    d = dfl_report(s->sink, DFL_EVAL_HOLE, m->hole_span, "`%s` has a hole that nothing fills",
                   dfl_sym_text(s->names, m->name));
    dfl_diag_help(s->sink, d, "leave all lines open but one `keep` for the home of a tensor, or write them with `?` for "
                  "amounts of loops");
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

static bool meets(void *context, uint32_t requirement, const dfl_result *result)
{
    judge *j = context;

    j->item.result = result;
    return !dfl_check_fails(&j->one, j->required.at[requirement]);
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
            (c->scope == name || (is_about(c->expr, name) && is_about(c->exactly, name) && is_about(c->of, name)))) {
            DFL_PUSH(j->s->arena, &j->required, c);
            DFL_PUSH(j->s->arena, &j->required_at, c->span);
        }
    }
}

/* The search for amounts of loops. */
static bool fill_amounts(judge *j, const dfl_objective *o, dfl_filled *out, dfl_stop *stopped)
{
    dfl_session *s = j->s;
    const dfl_holes_options options = { .objective = o, .imperfect = s->search.imperfect, .teller = &j->teller,
                                        .most_evaluations = s->search.evaluations > 0 ? s->search.evaluations
                                                                                      : DFL_HOLES_EVALUATIONS,
                                        .time_limit = s->search.seconds };
    const dfl_holes_result *r = dfl_holes_run(s->arena, s->sink, s->names, out->given, &options);
    dfl_search *found = DFL_NEW(s->arena, dfl_search);

    if (!r)
        return false;
    *found = (dfl_search){ .objective = o->text, .value = r->objective, .lower_bound = r->lower_bound,
                           .optimal = r->optimal, .evaluated = r->evaluated, .pruned = r->pruned, .refused = r->refused,
                           .space = r->space, .most_evaluations = options.most_evaluations,
                           .time_limit = options.time_limit };
    out->mapping = r->mapping;
    out->search = found;
    *stopped = r->stopped;
    return true;
}

/* The least value that any mapping gives the left side of `a < b` or `a <= b`, if that is a figure to search for and more than
   the right side; NAN else. */
static double least_unmet(judge *j, const dfl_mapping *given, const dfl_map_options *options, const dfl_check *check)
{
    static const double rounding = 1 + 1e-9;
    const dfl_val *e = check->expr;
    dfl_arena *work = dfl_arena_new(&j->s->budget);
    dfl_sink *quiet = dfl_sink_new(work, NULL);
    dfl_map_options other = *options;
    dfl_mapping like = *given;
    const dfl_map_result *r = NULL;
    dfl_objective o;
    double out = NAN;

    dfl_sink_limit(quiet, 0);
    if ((e->kind == DFL_VAL_LT || e->kind == DFL_VAL_LE) && e->args[1]->kind == DFL_VAL_QUANTITY) {
        like.minimize = e->args;
        like.n_minimize = 1;
        if (dfl_objective_make(quiet, j->s->names, &like, &o) && o.native) {
            other.objective = &o;
            other.teller = NULL;
            r = dfl_mapper_run(work, quiet, j->s->names, &like, &other);
        }
    }
    if (r && r->stopped == DFL_STOP_NONE && r->lower_bound > e->args[1]->quantity.real * rounding)
        out = r->lower_bound;
    dfl_arena_free(work);
    return out;
}

/* The best mapping does not meet what is required: E0618 if that is more than any can, else the search does not know. */
static bool report_unmet(judge *j, const dfl_filled *out, const dfl_map_options *options)
{
    dfl_session *s = j->s;

    for (size_t i = 0; i < j->required.n; i++) {
        const dfl_check *check = j->required.at[i];
        double least = least_unmet(j, out->given, options, check);
        dfl_strbuf text;
        dfl_diag *d;

        if (isnan(least))
            continue;
        d = dfl_report(s->sink, DFL_EVAL_INFEASIBLE, out->given->hole_span, "no mapping of `%s` meets what is required of `%s`",
                       dfl_sym_text(s->names, out->given->workload->name), dfl_sym_text(s->names, out->given->name));
        dfl_strbuf_init(&text, s->arena);
        dfl_quantity_print(&text, dfl_quantity_real(least, check->expr->args[1]->quantity.dim));
        dfl_diag_here(s->sink, d, "whatever is filled in, one limit is broken");
        dfl_diag_label(s->sink, d, check->span, "it is %s or more", text.text);
        dfl_diag_help(s->sink, d, "a bound below %s cannot be met; require less, or give the system more", text.text);
        return false;
    }
    return refuse_kind(s, out->given, out->given->hole_span, "all lines, and the best ones do not meet what is required",
                       "write the lines with `?` for amounts of loops: then `require` restricts the search");
}

/* The search for all lines. What it found is evaluated by the model: where that tells more than was searched for, the
   difference is the gap. */
static bool fill_lines(judge *j, const dfl_objective *o, dfl_filled *out, dfl_stop *stopped)
{
    static const double rounding = 1 + 1e-9;
    dfl_session *s = j->s;
    const dfl_map_options options = { .objective = o, .imperfect = s->search.imperfect, .max_fused = DFL_NONE,
                                      .jobs = s->search.jobs, .time_limit = s->search.seconds, .teller = &j->teller,
                                      .certificate = s->search.certificate && !s->search.imperfect };
    dfl_search *found = DFL_NEW(s->arena, dfl_search);
    const dfl_map_result *r;
    dfl_map_result known = { 0 };
    const dfl_paths *paths;
    const dfl_result *costs;
    dfl_arena *work;

    if (!o->native)
        return refuse_kind(s, out->given, out->given->hole_span, "all lines",
                           "minimize expressions over `energy` and `latency` alone, or write the lines with `?` for amounts");
    work = dfl_arena_new(&s->budget);
    r = dfl_mapper_run(work, s->sink, s->names, out->given, &options);
    if (r) {
        out->mapping = dfl_mapping_copy(s->arena, r->mapping);
        *stopped = r->stopped;
        *found = (dfl_search){ .objective = o->text, .lower_bound = r->lower_bound, .optimal = r->optimal,
                               .evaluated = r->evaluated, .pruned = r->pruned,
                               .space = dfl_arena_copy(s->arena, r->space, strlen(r->space)),
                               .time_limit = options.time_limit };
        known = *r;
        if (r->certificate)
            known.certificate = dfl_arena_copy(s->arena, r->certificate, strlen(r->certificate));
    }
    dfl_arena_free(work);
    paths = r ? dfl_paths_resolve(dfl_session_after(s), s->sink, s->names, out->mapping) : NULL;
    costs = paths ? dfl_model_eval(dfl_session_after(s), s->sink, s->names, paths) : NULL;
    if (!costs)
        return false;
    if (!dfl_objective_met(o, costs, NULL))
        return report_unmet(j, out, &options);
    found->value = dfl_objective_value(o, costs->joules, costs->seconds);
    found->optimal &= o->n_terms <= 1 && found->value <= found->lower_bound * rounding;
    found->lower_bound = found->lower_bound < found->value ? found->lower_bound : found->value;
    out->search = found;
    dfl_session_certify(s, out, o, &known, costs);
    return true;
}

static void tell(void *context, const dfl_telling *now)
{
    judge *j = context;
    const dfl_progress p = { .mapping = dfl_sym_text(j->s->names, j->item.mapping->name), .phase = now->phase,
                             .evaluated = now->evaluated, .best = now->best, .bound = now->bound };

    j->told = true;
    j->s->search.progress(j->s->search.progress_context, &p);
}

const dfl_filled *dfl_session_fill(dfl_session *s, const dfl_mapping *m, dfl_stop *stopped)
{
    judge j = { .s = s, .item = { .mapping = m, .status = DFL_STATUS_FILLED } };
    dfl_filled filled = { .given = m };
    dfl_objective objective;
    dfl_arena *texts;
    bool found;

    *stopped = DFL_STOP_NONE;
    if (!is_searched(s, m) || !dfl_objective_make(s->sink, s->names, m, &objective))
        return NULL;
    texts = dfl_arena_new(&s->budget);
    j.one = s->results;
    j.one.sink = dfl_sink_new(texts, s->sources);
    j.one.items = &j.item;
    j.one.n_items = 1;
    dfl_sink_limit(j.one.sink, 0);
    find_required(&j);
    dfl_teller_open(&j.teller, s->search.progress ? tell : NULL, &j);
    objective.figure = figure;
    objective.meets = meets;
    objective.required = j.required_at.at;
    objective.n_required = (uint32_t)j.required_at.n;
    objective.context = &j;
    found = dfl_holes_only(m) ? fill_amounts(&j, &objective, &filled, stopped) : fill_lines(&j, &objective, &filled, stopped);
    dfl_arena_free(texts);
    if (j.told)
        s->search.progress(s->search.progress_context, NULL);
    if (!found)
        return NULL;
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

static bool is_inside(dfl_span inner, dfl_span outer)
{
    return inner.start >= outer.start && inner.end <= outer.end;
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
            if (!is_inside(one.span, f->given->text))
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

/* Lines in the place of `...`, indented as it is, or on lines of their own where it stands in the middle of one. A level
   has four blanks in a file, and two where it is printed. */
static void edit_lines(dfl_session *s, const dfl_filled *f, edits *out)
{
    const dfl_source *source = s->root->source;
    dfl_span at = f->given->root->open_span;
    const char *before = source->text + (at.start - source->base);
    size_t column = 0;
    bool middle;
    dfl_strbuf lines, text;
    dfl_mapping below = *f->mapping;
    dfl_body root = *f->mapping->root;

    root.lines += f->given->root->n_lines; /* they are written already */
    root.n_lines -= f->given->root->n_lines;
    below.root = &root;
    while (before > source->text && before[-1] == ' ') {
        before--;
        column++;
    }
    middle = before > source->text && before[-1] != '\n';
    if (middle) {
        at.start -= (uint32_t)column;
        while (source->text[at.end - source->base] == ' ')
            at.end++;
        column = 4;
    }
    dfl_strbuf_init(&lines, s->arena);
    dfl_strbuf_init(&text, s->arena);
    dfl_strbuf_z(&text, middle ? "\n" : "");
    dfl_mapping_print_lines(&lines, s->names, &below, 0);
    for (size_t i = 0; i + 1 < lines.len; i++) {
        size_t blanks = strspn(lines.text + i, " "), len = strcspn(lines.text + i + blanks, "\n");
        for (size_t k = 0; k < 2 * blanks + (i > 0 || middle ? column : 0); k++)
            dfl_strbuf_char(&text, ' ');
        dfl_strbuf_add(&text, lines.text + i + blanks, len);
        i += blanks + len;
        dfl_strbuf_z(&text, i + 1 < lines.len || middle ? "\n" : "");
    }
    DFL_PUSH(s->arena, out, ((edit){ at, text.text }));
}

/* The edits of one mapping: amounts, lines, or all of it. */
static void edit_mapping(dfl_session *s, const dfl_filled *f, edits *out)
{
    size_t first = out->n;
    dfl_strbuf text;

    if (f->given->root->open && is_inside(f->given->root->open_span, f->given->text)) {
        edit_lines(s, f, out);
        return;
    }
    if (!f->given->root->open && edit_amounts(s, f, out))
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
