#include "api/session.h"

#include <string.h>

#include "api/imports.h"
#include "diag/render.h"
#include "diag/render_json.h"
#include "diag/render_sarif.h"
#include "diag/render_text.h"
#include "lint/source.h"
#include "report/check/check.h"
#include "report/columns/columns.h"
#include "report/print/print.h"
#include "solve/certificate.h"
#include "support/limits.h"

/* Copies the members that the caller was compiled with; the other members are zero, which means their defaults. */
static dfl_session_options read_options(const dfl_session_options *given)
{
    dfl_session_options options = { 0 };

    if (given)
        memcpy(&options, given, given->size < sizeof options ? given->size : sizeof options);
    return options;
}

dfl_session *dfl_session_new(const dfl_session_options *given)
{
    const dfl_session_options options = read_options(given);
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_session *s = DFL_NEW(arena, dfl_session);

    /* The session lies in an arena of its own, because its budget must outlive the arena that the budget limits. */
    s->home = arena;
    s->verbose = options.verbose;
    s->is_lenient = options.lenient;
    s->max_file = options.max_file ? options.max_file : DFL_MAX_FILE;
    s->budget.memory_limit = options.memory_limit ? options.memory_limit : DFL_DEFAULT_MEMORY;
    s->user_step_limit = options.step_limit != 0;
    s->budget.steps_limit = options.step_limit ? options.step_limit : DFL_DEFAULT_STEPS;
    s->budget.cancel = options.cancel;
    s->budget.blocks = &s->blocks;
    s->arena = dfl_arena_new(&s->budget);
    s->names = dfl_intern_new(s->arena);
    s->sources = dfl_source_map_new(s->arena);
    s->sink = dfl_sink_new(s->arena, s->sources);
    s->max_diagnostics = options.max_diagnostics ? options.max_diagnostics : DFL_DEFAULT_DIAGNOSTICS;
    dfl_sink_limit(s->sink, s->max_diagnostics);
    if (options.stdlib)
        s->stdlib = dfl_arena_copy(s->arena, options.stdlib, strlen(options.stdlib));
    return s;
}

void dfl_session_free(dfl_session *s)
{
    if (!s)
        return;
    if (s->after)
        dfl_arena_free(s->after);
    dfl_arena_free(s->arena);
    dfl_block_store_empty(&s->blocks);
    dfl_arena_free(s->home);
}

bool dfl_session_set_lint(dfl_session *s, const char *name, char level)
{
    switch (level) {
    case 'A': return dfl_lint_set(&s->lints, name, DFL_LEVEL_ALLOW);
    case 'W': return dfl_lint_set(&s->lints, name, DFL_LEVEL_WARN);
    case 'D': return dfl_lint_set(&s->lints, name, DFL_LEVEL_DENY);
    default: return false;
    }
}

void dfl_session_keep(dfl_session *s)
{
    dfl_results *kept = DFL_NEW(s->arena, dfl_results);

    *kept = s->results;
    DFL_PUSH(s->arena, &s->kept_sinks, s->sink);
    if (kept->file)
        DFL_PUSH(s->arena, &s->kept, kept);
    s->sink = dfl_sink_new(s->arena, s->sources);
    dfl_sink_limit(s->sink, s->max_diagnostics);
    s->results = (dfl_results){ 0 };
    s->filled.n = 0;
    s->loaded.n = 0; /* a file that several files import is read anew, so that each of them reports its errors */
    s->root = NULL;
    s->program = NULL;
    s->analysed = false;
    s->limited = DFL_STOP_NONE;
    s->budget.steps_used = 0;
    if (s->budget.why != DFL_STOP_CANCELLED && s->budget.why != DFL_STOP_MEMORY)
        s->budget.why = DFL_STOP_NONE;
}

/* The kept results of several files as one; without a file if nothing was kept. */
static dfl_results merge_kept(dfl_session *s)
{
    dfl_results all = s->kept.n > 0 ? *s->kept.at[0] : (dfl_results){ 0 };
    dfl_check_outcome *checks;
    dfl_result_item *items;

    all.n_items = all.n_checks = 0;
    for (size_t i = 0; i < s->kept.n; i++) {
        all.n_items += s->kept.at[i]->n_items;
        all.n_checks += s->kept.at[i]->n_checks;
    }
    all.items = items = DFL_NEW_ARRAY(s->arena, dfl_result_item, (size_t)all.n_items + 1);
    all.checks = checks = DFL_NEW_ARRAY(s->arena, dfl_check_outcome, (size_t)all.n_checks + 1);
    for (size_t i = 0; i < s->kept.n; i++) {
        const dfl_results *part = s->kept.at[i];

        for (uint32_t k = 0; k < part->n_items; k++, items++) {
            *items = part->items[k];
            items->of = part;
        }
        for (uint32_t k = 0; k < part->n_checks; k++, checks++) {
            *checks = part->checks[k];
            checks->of = part;
        }
    }
    all.parts = s->kept.at;
    all.n_parts = s->kept.n;
    all.sinks = s->kept_sinks.at;
    all.n_sinks = s->kept_sinks.n;
    return all;
}

static bool has_infeasible(const dfl_session *s)
{
    for (size_t i = 0; i < dfl_sink_count(s->sink); i++)
        if (dfl_sink_at(s->sink, i)->code == DFL_EVAL_INFEASIBLE)
            return true;
    return false;
}

dfl_exit dfl_session_status(dfl_session *s)
{
    if (s->budget.why == DFL_STOP_NONE && s->limited != DFL_STOP_NONE) {
        dfl_report_limited(s->sink, s->limited);
        return DFL_EXIT_STOPPED;
    }
    if (s->budget.why != DFL_STOP_NONE) {
        dfl_report_stop(s->sink, &s->budget);
        return DFL_EXIT_STOPPED;
    }
    for (size_t i = 0; i < dfl_sink_count(s->sink); i++)
        if (dfl_sink_at(s->sink, i)->severity == DFL_INTERNAL)
            return DFL_EXIT_INTERNAL;
    return dfl_sink_errors(s->sink) == 0 ? DFL_EXIT_OK : has_infeasible(s) ? DFL_EXIT_INFEASIBLE : DFL_EXIT_FINDINGS;
}

dfl_exit dfl_session_open(dfl_session *s, const char *path)
{
    s->root = dfl_load_path(s, path, path, (dfl_span){ 0, 0 }, NULL);
    s->analysed = false;
    s->program = NULL;
    return s->root ? DFL_EXIT_OK : s->budget.why != DFL_STOP_NONE ? dfl_session_status(s) : DFL_EXIT_IO;
}

dfl_exit dfl_session_open_text(dfl_session *s, const char *name, const char *text, size_t len)
{
    s->root = dfl_load_text(s, name, name, text, len);
    s->analysed = false;
    s->program = NULL;
    return s->root ? DFL_EXIT_OK : DFL_EXIT_IO;
}

bool dfl_session_analyse(dfl_session *s)
{
    const dfl_syntax *syntax;
    dfl_sema_input input;

    if (!s->root)
        return false;
    if (s->analysed)
        return true;
    s->analysed = true;
    syntax = dfl_loaded_syntax(s, s->root);
    dfl_lint_stray_docs(s->sink, &s->lints, syntax);
    input = (dfl_sema_input){ .arena = s->arena, .names = s->names, .sink = s->sink, .lints = &s->lints,
                              .load = dfl_imports_load, .read = dfl_imports_read, .context = s };
    /* No analysis after a syntax error: it would report the parts that the incomplete tree lacks as missing in the file. */
    dfl_sink_reading(s->sink, &s->budget);
    if (dfl_given_parse(s, &input) && syntax->whole)
        s->program = dfl_sema_run(&input, (dfl_sema_file){ s->root->source, syntax->file });
    dfl_sink_reading(s->sink, NULL);
    s->results = (dfl_results){ .file = s->root->source->name, .names = s->names, .sink = s->sink,
                                .program = s->program, .given = s->given.at, .n_given = s->given.n, .verbose = s->verbose };
    return true;
}

dfl_arena *dfl_session_after(dfl_session *s)
{
    if (!s->after) {
        s->after_budget.memory_limit = s->budget.memory_limit;
        s->after_budget.blocks = &s->blocks;
        s->after = dfl_arena_new(&s->after_budget);
    }
    return s->after;
}

dfl_solver dfl_session_solver(dfl_session *s)
{
    if (s->memo == NULL)
        s->memo = dfl_solver_memo_new(s->arena);
    return (dfl_solver){ .arena = s->arena, .after = dfl_session_after(s), .budget = &s->budget,
                         .user_step_limit = s->user_step_limit, .names = s->names, .sources = s->sources, .sink = s->sink,
                         .lints = &s->lints, .program = s->program, .results = &s->results, .options = &s->search,
                         .filled = &s->filled, .memo = s->memo, .limited = &s->limited };
}

const dfl_filled *dfl_session_fill(dfl_session *s, const dfl_mapping *m, dfl_stop *stopped)
{
    const dfl_solver solver = dfl_session_solver(s);

    return dfl_solve_mapping(&solver, m, stopped);
}

bool dfl_session_may_certify(dfl_session *s, const char *only)
{
    const dfl_solver solver = dfl_session_solver(s);

    return dfl_certificate_is_possible(&solver, only);
}

void dfl_session_preview_checks(dfl_session *s)
{
    dfl_arena *scratch = dfl_arena_new(&s->budget);

    dfl_check_types(scratch, &s->results, false);
    dfl_arena_free(scratch);
}

enum { MOST_LISTED = 12 }; /* mappings that a help lists */

/* "the mappings are `a`, `b`", or that there is none. */
static void help_mappings(dfl_session *s, dfl_diag *d)
{
    const dfl_program *p = s->program;
    dfl_strbuf out;
    uint32_t n = 0;

    dfl_strbuf_init(&out, s->arena);
    for (uint32_t i = 0; i < p->n_designs; i++)
        if (p->designs[i].from_root && n++ < MOST_LISTED)
            dfl_strbuf_printf(&out, "%s`%s`", n > 1 ? ", " : "", dfl_sym_text(s->names, p->designs[i].mapping->name));
    if (n == 0)
        dfl_diag_help(s->sink, d, "the file declares no mapping");
    else
        dfl_diag_help(s->sink, d, "the mapping%s %s%s", n == 1 ? " is" : "s are", out.text, n > MOST_LISTED ? ", ..." : "");
}

void dfl_session_unknown_mapping(dfl_session *s, const char *only)
{
    const dfl_program *p = s->program;
    dfl_sym *names = DFL_NEW_ARRAY(s->arena, dfl_sym, (size_t)p->n_designs + 1);
    dfl_diag *d = dfl_report(s->sink, DFL_NAME_UNKNOWN, (dfl_span){ 0, 0 }, "no mapping is called `%s` in `%s`", only,
                             s->root->source->name);
    dfl_sym near;

    for (uint32_t i = 0; i < p->n_designs; i++)
        names[i] = p->designs[i].mapping->name;
    near = dfl_suggest(s->names, only, names, p->n_designs);
    if (near)
        dfl_diag_help(s->sink, d, "did you mean `%s`?", dfl_sym_text(s->names, near));
    else
        help_mappings(s, d);
}

bool dfl_session_has_param(dfl_session *s, const char *name)
{
    if (!dfl_session_analyse(s))
        return false;
    for (size_t i = 0; i < s->given.n; i++)
        if (strcmp(s->given.at[i].name, name) == 0)
            return *s->given_found.at[i];
    return false;
}

bool dfl_session_has_mapping(dfl_session *s, const char *name)
{
    const dfl_program *p = dfl_session_analyse(s) ? s->program : NULL;

    for (uint32_t i = 0; p && i < p->n_templates; i++)
        if (p->templates[i].from_root && strcmp(name, dfl_sym_text(s->names, p->templates[i].name)) == 0)
            return true;
    return p && dfl_program_find_mapping(p, s->names, name) != NULL;
}

void dfl_session_refuse_nothing(dfl_session *s, const char *only)
{
    if (s->budget.why == DFL_STOP_NONE && !(only && s->is_lenient) && !dfl_session_refuse_template(s, only) &&
        !dfl_session_refuse_sweep(s) && only)
        dfl_session_unknown_mapping(s, only);
}

bool dfl_session_refuse_template(dfl_session *s, const char *only)
{
    const dfl_program *p = s->program;

    for (uint32_t i = 0; i < p->n_templates; i++)
        if (p->templates[i].from_root && (!only || strcmp(only, dfl_sym_text(s->names, p->templates[i].name)) == 0)) {
            dfl_report_template(&s->results, &p->templates[i], p->templates[i].span);
            return true;
        }
    return false;
}

bool dfl_session_refuse_sweep(dfl_session *s)
{
    const dfl_ast_node *sweep = NULL;
    dfl_diag *d;

    for (const dfl_ast_node *node = dfl_loaded_syntax(s, s->root)->file->items; node; node = node->next)
        if (node->kind == DFL_AST_SWEEP && !sweep)
            sweep = node;
    for (uint32_t i = 0; i < s->program->n_designs; i++)
        if (s->program->designs[i].from_root)
            return false;
    if (!sweep || dfl_sink_errors(s->sink) > 0)
        return false;
    d = dfl_report(s->sink, DFL_EVAL_UNSUPPORTED, sweep->name.span, "no command runs the sweep `%s`",
                   dfl_sym_text(s->names, sweep->name.sym));
    dfl_diag_help(s->sink, d, "declare a mapping, and evaluate it for each value: `dflc eval --set NAME=VALUE`");
    return true;
}

const char *dfl_session_give(const dfl_strbuf *text, size_t *len)
{
    if (len)
        *len = text->len;
    return text->text;
}

/* The diagnostics of the kept files and of the open one; `*n` is their number. */
static dfl_sink **all_sinks(dfl_session *s, size_t *n)
{
    dfl_sink **sinks = DFL_NEW_ARRAY(s->arena, dfl_sink *, s->kept_sinks.n + 1);

    for (size_t i = 0; i < s->kept_sinks.n; i++)
        sinks[i] = s->kept_sinks.at[i];
    *n = s->kept_sinks.n + (s->kept_sinks.n == 0 || dfl_sink_count(s->sink) > 0);
    sinks[s->kept_sinks.n] = s->sink;
    return sinks;
}

const char *dfl_session_diagnostics(dfl_session *s, dfl_format format, bool color, size_t *len)
{
    dfl_strbuf out;
    size_t n;
    dfl_sink **sinks = all_sinks(s, &n);

    dfl_strbuf_init(&out, s->arena);
    if (format == DFL_FORMAT_SARIF)
        dfl_render_sarif(&out, sinks, n);
    for (size_t i = 0; i < n; i++)
        switch (format) {
        case DFL_FORMAT_TEXT:
            dfl_render_text(&out, sinks[i], color);
            dfl_render_summary(&out, sinks[i]);
            break;
        case DFL_FORMAT_SHORT: dfl_render_short(&out, sinks[i]); break;
        case DFL_FORMAT_JSON: dfl_render_json(&out, sinks[i]); break;
        case DFL_FORMAT_SARIF: break;
        case DFL_FORMAT_CSV: return NULL;
        }
    return dfl_session_give(&out, len);
}

const char *dfl_sessions_sarif(dfl_session *const *sessions, size_t n, size_t *len)
{
    dfl_sink **sinks;
    dfl_strbuf out;

    if (n == 0)
        return NULL;
    sinks = DFL_NEW_ARRAY(sessions[0]->arena, dfl_sink *, n);
    for (size_t i = 0; i < n; i++)
        sinks[i] = sessions[i]->sink;
    dfl_strbuf_init(&out, sessions[0]->arena);
    dfl_render_sarif(&out, sinks, n);
    return dfl_session_give(&out, len);
}

size_t dfl_session_errors(const dfl_session *s)
{
    return dfl_sink_errors(s->sink);
}

size_t dfl_session_warnings(const dfl_session *s)
{
    return dfl_sink_warnings(s->sink);
}

/* Reports a name of `--columns` that is no figure, at its place in the list. */
static void report_column(dfl_session *s, const char *columns, const dfl_unknown_column *unknown)
{
    const dfl_source *source = dfl_source_add(s->sources, "--columns", columns, strlen(columns));
    const uint32_t start = source ? source->base + (uint32_t)unknown->at : 0;
    const dfl_span span = { start, source ? start + (uint32_t)unknown->len : 0 };
    dfl_diag *d = dfl_report(s->sink, unknown->is_part ? DFL_NAME_WRONG_KIND : DFL_NAME_UNKNOWN, span, "%s", unknown->message);

    if (unknown->help)
        dfl_diag_help(s->sink, d, "%s", unknown->help);
    else if (unknown->near)
        dfl_diag_fix(s->sink, d, span, unknown->near, DFL_FIX_MAYBE);
}

const char *dfl_session_report_with(dfl_session *s, const dfl_report_options *options, dfl_exit *status, size_t *len)
{
    dfl_results results = s->kept.n > 0 ? merge_kept(s) : s->results;
    dfl_report_options own = { 0 };
    dfl_unknown_column unknown;
    dfl_strbuf out;

    memcpy(&own, options, options->size < sizeof own ? options->size : sizeof own);
    *status = DFL_EXIT_OK;
    if (!results.file) /* no file was analysed */
        return NULL;
    dfl_strbuf_init(&out, s->arena);
    results.has_sum = own.sum;
    if (own.columns && (own.format == DFL_FORMAT_TEXT || own.format == DFL_FORMAT_CSV)) {
        if (dfl_report_columns(&out, &results, own.columns, own.format == DFL_FORMAT_CSV, &unknown))
            return dfl_session_give(&out, len);
        report_column(s, own.columns, &unknown);
        *status = DFL_EXIT_USAGE;
        return NULL;
    }
    switch (own.format) {
    case DFL_FORMAT_TEXT:
        dfl_report_text(&out, &results, own.detailed ? own.detailed : DFL_DETAILED_MAPPINGS);
        break;
    case DFL_FORMAT_JSON: dfl_report_json(&out, &results); break;
    case DFL_FORMAT_CSV:
        if (own.plans)
            dfl_plans_csv(&out, &results);
        else
            dfl_report_csv(&out, &results);
        break;
    case DFL_FORMAT_SHORT:
    case DFL_FORMAT_SARIF: return NULL;
    }
    return dfl_session_give(&out, len);
}

const char *dfl_session_report(dfl_session *s, dfl_format format, unsigned detailed, size_t *len)
{
    const dfl_report_options options = { .size = sizeof options, .format = format, .detailed = detailed };
    dfl_exit status;

    return dfl_session_report_with(s, &options, &status, len);
}

const char *dfl_session_source(const dfl_session *s, size_t *len)
{
    if (len)
        *len = s->root ? s->root->source->len : 0;
    return s->root ? s->root->source->text : NULL;
}

const char *dfl_session_proof(dfl_session *s, size_t *len)
{
    const char *proof = s->proof ? s->proof : "";

    if (len)
        *len = strlen(proof);
    return proof;
}

size_t dfl_session_verdicts(const dfl_session *s)
{
    return s->results.n_checks;
}

dfl_verdict dfl_session_verdict(const dfl_session *s, size_t i)
{
    const dfl_check_outcome *o;

    if (i >= s->results.n_checks)
        return (dfl_verdict){ 0 };
    o = &s->results.checks[i];
    return (dfl_verdict){ .kind = dfl_check_kind_text(o->check->kind), .text = o->check->text,
                          .outcome = dfl_outcome_text(o->outcome), .value = o->value,
                          .line = dfl_report_line(&s->results, o->check->span) };
}

const char *dfl_version(void)
{
    return DFL_VERSION;
}
