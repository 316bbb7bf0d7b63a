/* Opens a run of Timeloop, reads its parts and writes the result. */
#include "import/timeloop/timeloop.h"

#include <string.h>

#include "import/dfl_writer.h"
#include "import/timeloop/timeloop_internal.h"

static void report_second(dfl_tl_file *f, const dfl_yaml *second, const dfl_yaml *first, const char *key)
{
    dfl_diag *d;

    if (!f->ok)
        return;
    d = dfl_report(f->report->sink, DFL_FOREIGN_SYNTAX, second->span, "the run has a second `%s`", key);
    dfl_diag_label(f->report->sink, d, first->span, "the first one begins here");
    dfl_diag_help(f->report->sink, d, "name the files of one run");
    f->ok = false;
}

/* A map or list in one of the files. Reports a second one, and a node of the wrong kind. */
static void take(dfl_tl_file *f, const dfl_yaml *root, const char *key, dfl_yaml_kind kind, const dfl_yaml **out)
{
    const dfl_yaml *at = dfl_tl_get(root, key);

    if (at == NULL || (dfl_yaml_is_null(at) && at->tag[0] == '\0'))
        return;
    if (*out != NULL && f->repeats != NULL)
        return;
    if (strcmp(at->tag, "include") == 0)
        f->included = at;
    else if (at->kind != kind)
        dfl_tl_wrong(f, DFL_FOREIGN_SYNTAX, at->span, "`%s` must be a %s", key, kind == DFL_YAML_MAP ? "map" : "list");
    else if (*out != NULL)
        report_second(f, at, *out, key);
    else
        *out = at;
}

/* False after reporting that the file is a specification for AccelForge. */
static bool is_own(dfl_tl_file *f, const dfl_yaml *root)
{
    for (uint32_t i = 0; i < root->n && dfl_tl_get(root, "problem") == NULL; i++) {
        if (dfl_tl_is_key(root->keys[i].text, "workload")) {
            dfl_diag *d = dfl_report(f->report->sink, DFL_FOREIGN_SYNTAX, root->keys[i].span,
                                     "this is a specification for AccelForge, not a run of Timeloop");
            dfl_diag_help(f->report->sink, d, "read it with `dflc import accelforge`");
            f->ok = false;
        }
    }
    return f->ok;
}

/* Takes the table of energies: the whole one before its summary. */
static void take_energies(dfl_tl_file *f, const dfl_yaml *root)
{
    const dfl_yaml *whole = dfl_tl_get(dfl_tl_get(root, "ERT"), "tables");
    const dfl_yaml *summary = dfl_tl_get(dfl_tl_get(root, "ERT_summary"), "table_summary");

    if (whole != NULL && whole->kind == DFL_YAML_LIST)
        f->energies = whole;
    else if (summary != NULL && summary->kind == DFL_YAML_LIST && f->energies == NULL)
        f->energies = summary;
}

/* Whether a key is one of those that take_parts reads; adds the others to the warnings. */
static void look_at_parts(dfl_tl_file *f, const dfl_yaml *root)
{
    static const char *const parts[] = {
        "problem", "arch", "mapping", "mapspace", "mapper", "architecture", "architecture_constraints", "arch_constraints",
        "mapspace_constraints", "constraints", "variables", "ERT", "ERT_summary", "sparse_optimizations",
        "compound_components", "components", "globals", "dumped_by_timeloop_front_end", "version", "ART", "ART_summary",
        "accelergy_version", "environment_variables",
    };

    dfl_tl_look_at_keys(f, root, parts, sizeof parts / sizeof parts[0], "the file");
}

/* Adds the items of a list of constraints to those of the run. */
static void add_constraints(dfl_tl_file *f, const dfl_yaml *at)
{
    const dfl_yaml *list = at != NULL && at->kind == DFL_YAML_MAP ? dfl_tl_get(at, "targets") : at;
    uint32_t n = f->constraints != NULL ? f->constraints->n : 0;
    dfl_yaml *both, *items;

    if (list == NULL || list->kind == DFL_YAML_SCALAR || (list->kind == DFL_YAML_LIST && list->n == 0))
        return;
    if (list->kind != DFL_YAML_LIST) {
        dfl_tl_wrong(f, DFL_FOREIGN_SYNTAX, list->span, "constraints must be a list");
        return;
    }
    both = DFL_NEW(f->report->arena, dfl_yaml);
    items = DFL_NEW_ARRAY(f->report->arena, dfl_yaml, n + list->n + 1);
    for (uint32_t i = 0; i < n; i++)
        items[i] = f->constraints->items[i];
    for (uint32_t i = 0; i < list->n; i++)
        items[n + i] = list->items[i];
    *both = *list;
    both->items = items;
    both->n = n + list->n;
    f->constraints = both;
}

/* The list of metrics of the source's mapper, under either of two keys; a single metric is a list of one. */
static const dfl_yaml *metrics_of(dfl_tl_file *f, const dfl_yaml *mapper)
{
    static const char *const names[] = { "optimization_metrics", "optimization_metric" };
    const dfl_yaml *found = NULL;

    for (size_t i = 0; i < 2; i++) {
        const dfl_yaml *at = dfl_tl_get(mapper, names[i]);

        if (at == NULL || dfl_yaml_is_null(at) || (at->kind == DFL_YAML_LIST && at->n == 0))
            continue;
        if (at->kind == DFL_YAML_MAP)
            dfl_tl_wrong(f, DFL_FOREIGN_SYNTAX, at->span, "`%s` must be a list", names[i]);
        if (at->kind == DFL_YAML_SCALAR) {
            dfl_yaml *list = DFL_NEW(f->report->arena, dfl_yaml);

            *list = (dfl_yaml){ .kind = DFL_YAML_LIST, .tag = "", .text = "", .span = at->span, .n = 1, .items = at };
            at = list;
        }
        found = found != NULL ? found : at;
    }
    return found;
}

/* Whether the front end of the source wrote the file: from files that may be here, too. */
static bool is_dumped(const dfl_yaml *root)
{
    return dfl_tl_get(root, "dumped_by_timeloop_front_end") != NULL;
}

static bool take_parts(dfl_tl_file *f, const dfl_yaml *root)
{
    static const char *const in_mapspace[] = { "constraints", "template", "version", "targets" };
    static const char *const lists[] = { "architecture_constraints", "arch_constraints", "mapspace_constraints", "constraints" };
    const dfl_yaml *space = NULL, *mapper = NULL, *variables = NULL, *metrics;

    if (dfl_yaml_is_null(root))
        return true; /* a file of comments */
    if (root->kind != DFL_YAML_MAP)
        return dfl_tl_wrong(f, DFL_FOREIGN_SYNTAX, root->span, "a run must be a map with `problem`, `arch` and `mapping`");
    if (!is_own(f, root))
        return false;
    dfl_tl_lose_sparse(f, root, "sparse_optimizations");
    look_at_parts(f, root);
    take(f, root, "problem", DFL_YAML_MAP, &f->problem);
    take(f, root, "architecture", DFL_YAML_MAP, &f->tree);
    take(f, root, "arch", DFL_YAML_MAP, &f->arch);
    take(f, root, "mapping", DFL_YAML_LIST, &f->mapping);
    take(f, root, "mapspace", DFL_YAML_MAP, &space);
    take(f, root, "mapper", DFL_YAML_MAP, &mapper);
    take(f, root, "variables", DFL_YAML_MAP, &variables);
    take_energies(f, root);
    if (f->ok && space != NULL)
        dfl_tl_look_at_keys(f, space, in_mapspace, sizeof in_mapspace / sizeof in_mapspace[0], "the mapspace");
    add_constraints(f, dfl_tl_get(space, "constraints"));
    add_constraints(f, dfl_tl_get(space, "targets"));
    for (size_t i = 0; i < sizeof lists / sizeof lists[0] && (f->repeats == NULL || f->constraints == NULL); i++)
        add_constraints(f, dfl_tl_get(root, lists[i]));
    metrics = metrics_of(f, mapper);
    f->metrics = metrics != NULL && (f->repeats == NULL || f->metrics == NULL) ? metrics : f->metrics;
    if (variables != NULL) {
        dfl_tl_scope *scope = DFL_NEW(f->report->arena, dfl_tl_scope);

        *scope = (dfl_tl_scope){ variables, f->scope };
        f->scope = scope;
    }
    return f->ok;
}

/* Decides between the two forms of an architecture, and reports what is missing. */
static bool is_whole(dfl_tl_file *f, const dfl_yaml *root)
{
    if (f->arch != NULL && dfl_tl_get(f->arch, "storage") == NULL &&
        (dfl_tl_get(f->arch, "nodes") != NULL || dfl_tl_get(f->arch, "subtree") != NULL)) {
        f->tree = f->tree != NULL ? f->tree : f->arch;
        f->arch = NULL;
    } else if (f->tree != NULL && dfl_tl_get(f->tree, "storage") != NULL) {
        f->arch = f->arch != NULL ? f->arch : f->tree;
        f->tree = NULL;
    }
    if (f->arch != NULL && f->tree != NULL)
        return dfl_tl_wrong(f, DFL_FOREIGN_SYNTAX, f->tree->span, "the run has two architectures");
    if (f->mapping != NULL && f->mapping->n == 0)
        f->mapping = NULL;
    if (f->included != NULL && (f->problem == NULL || (f->arch == NULL && f->tree == NULL)))
        return dfl_tl_wrong(f, DFL_FOREIGN_SYNTAX, f->included->span, "this part is in another file: name that file, too");
    if (f->problem == NULL || (f->arch == NULL && f->tree == NULL)) {
        dfl_diag *d = dfl_report(f->report->sink, DFL_FOREIGN_SYNTAX, root->span, "the run has no `%s`",
                                 f->problem == NULL ? "problem" : "arch");

        dfl_diag_help(f->report->sink, d,
                      "name all files of the run, in any order: architecture, problem, and mapping or constraints");
        f->ok = false;
    }
    return f->ok;
}

/* False after reporting a template of Jinja, which is not YAML before it is expanded. */
static bool is_expanded(dfl_tl_file *f, const dfl_source *source)
{
    bool comment = false;

    for (size_t i = 0; i + 1 < source->len; i++) {
        uint32_t at = source->base + (uint32_t)i;
        bool starts = i == 0 || source->text[i - 1] == '\n';

        comment = source->text[i] != '\n' && (comment || (source->text[i] == '#' && (starts || source->text[i - 1] == ' ')));
        if (!comment && source->text[i] == '{' && (source->text[i + 1] == '{' || source->text[i + 1] == '%')) {
            dfl_diag *d = dfl_report(f->report->sink, DFL_FOREIGN_UNSUPPORTED, (dfl_span){ at, at + 2 },
                                     "this file is a template: fill it in with Jinja first");

            dfl_diag_help(f->report->sink, d,
                          "or import the file that the front end of Timeloop writes (`parsed-processed-input.yaml`)");
            f->ok = false;
            return false;
        }
    }
    return true;
}

/* Takes a file that the front end wrote. If the run has an architecture in another file, its constraints are there, too, and
   only what the other files lack is taken. */
static bool take_dumped(dfl_tl_file *f, const dfl_yaml *root)
{
    bool repeats = f->arch != NULL || f->tree != NULL || f->problem != NULL;
    const dfl_yaml *constraints = f->constraints;
    bool whole = f->arch != NULL || f->tree != NULL;

    f->repeats = repeats ? root : NULL;
    if (repeats)
        dfl_diag_help(f->report->sink, dfl_lose(f->report, DFL_FOREIGN_IGNORED, root->span,
                      "the front end of Timeloop wrote this file: what the other files have is taken from them"),
                      "leave this file out to import the others alone, or name it alone: it has all parts of its run");
    if (!take_parts(f, root))
        return false;
    f->constraints = whole ? constraints : f->constraints;
    f->repeats = NULL;
    return true;
}

bool dfl_tl_open(dfl_tl_file *f, dfl_loss_report *report, const dfl_source *const *sources, size_t n)
{
    const dfl_yaml **roots = DFL_NEW_ARRAY(report->arena, const dfl_yaml *, n), *first = NULL;

    *f = (dfl_tl_file){ .report = report, .ok = true };
    for (size_t i = 0; i < n; i++) {
        roots[i] = is_expanded(f, sources[i]) ? dfl_yaml_parse(report, sources[i]) : NULL;
        if (roots[i] == NULL || (!is_dumped(roots[i]) && !take_parts(f, roots[i])))
            return false;
        first = first != NULL && !dfl_yaml_is_null(first) ? first : roots[i];
    }
    for (size_t i = 0; i < n; i++) {
        if (is_dumped(roots[i]) && !take_dumped(f, roots[i]))
            return false;
    }
    if (dfl_yaml_is_null(first))
        return dfl_tl_wrong(f, DFL_FOREIGN_SYNTAX, first->span, "the run is empty");
    return is_whole(f, first) && dfl_tl_read_problem(f) && (f->tree != NULL ? dfl_tl_read_tree(f) : dfl_tl_read_arch(f)) &&
           dfl_tl_read_energies(f) && (f->mapping != NULL ? dfl_tl_read_mapping(f) : dfl_tl_read_constraints(f));
}

char *dfl_import_timeloop(dfl_arena *arena, dfl_sink *sink, dfl_source_map *map, const dfl_source *const *sources, size_t n)
{
    dfl_budget *budget = dfl_arena_budget(arena);
    dfl_loss_report report;
    dfl_loss *losses;
    size_t n_losses;
    dfl_tl_file f;
    bool ok;

    dfl_loss_init(&report, arena, sink, map);
    ok = dfl_tl_open(&f, &report, sources, n);
    if (budget != NULL && budget->why != DFL_STOP_NONE) {
        dfl_report_stop(sink, budget);
        return NULL;
    }
    if (!ok)
        return NULL;
    if (f.mapping != NULL) {
        dfl_tl_split_shares(&f);
        dfl_tl_compare_charges(&f);
    }
    losses = dfl_loss_take(&report, &n_losses);
    return dfl_writer_layout(arena, sink, dfl_tl_print(&f, sources[0], losses, n_losses));
}
