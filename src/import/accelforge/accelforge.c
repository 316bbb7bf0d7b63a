/* Reads a specification, plans its mapping and writes the result. */
#include "import/accelforge/accelforge.h"

#include <string.h>

#include "import/accelforge/arch.h"
#include "import/accelforge/constraints.h"
#include "import/accelforge/copy.h"
#include "import/accelforge/print.h"
#include "import/accelforge/tree.h"
#include "import/accelforge/workload.h"
#include "import/dfl_writer.h"

static bool wrong(dfl_af_file *f, dfl_code code, dfl_span span, const char *what)
{
    dfl_report(f->report->sink, code, span, "%s", what);
    return false;
}

/* Refuses templates of Jinja. */
static bool look_for_templates(dfl_af_file *f, const dfl_source *source)
{
    static const char *const marks[] = { "{{", "{%", "{#" };

    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        const char *at = strstr(source->text, marks[i]);

        if (at != NULL) {
            uint32_t start = source->base + (uint32_t)(at - source->text);

            return wrong(f, DFL_FOREIGN_UNSUPPORTED, (dfl_span){ start, start + 2 },
                         "this file is a template: fill it in with Jinja first");
        }
    }
    return true;
}

/* Whether the file is a specification; false after reporting that it is a run of Timeloop. */
static bool is_own(dfl_af_file *f, const dfl_yaml *root)
{
    for (uint32_t i = 0; i < root->n; i++) {
        if (strcmp(root->keys[i].text, "problem") == 0) {
            dfl_diag *d = dfl_report(f->report->sink, DFL_FOREIGN_SYNTAX, root->keys[i].span,
                                     "this is a run of Timeloop, not a specification for AccelForge");
            dfl_diag_help(f->report->sink, d, "read it with `dflc import timeloop`");
            return false;
        }
    }
    return true;
}

static bool take_parts(dfl_af_file *f, const dfl_yaml *root)
{
    const struct { const char *key; const dfl_yaml **where; } parts[] = {
        { "arch", &f->arch },           { "workload", &f->workload }, { "renames", &f->renames },
        { "variables", &f->variables }, { "mapping", &f->mapping },
    };

    if (dfl_yaml_is_null(root))
        return true; /* a file of comments */
    if (root->kind != DFL_YAML_MAP)
        return wrong(f, DFL_FOREIGN_SYNTAX, root->span,
                     "a specification must be a map with `arch`, `workload` and `mapping`");
    if (!is_own(f, root))
        return false;
    for (uint32_t i = 0; i < root->n; i++) {
        size_t k = 0;

        while (k < 5 && strcmp(parts[k].key, root->keys[i].text) != 0)
            k++;
        if (k == 5 && root->items[i].anchored)
            continue; /* it may be there for aliases alone */
        if (k == 5) {
            dfl_lose(f->report, DFL_FOREIGN_IGNORED, root->keys[i].span, "`%s` has no effect", root->keys[i].text);
        } else if (*parts[k].where != NULL) {
            return wrong(f, DFL_FOREIGN_SYNTAX, root->keys[i].span, "this part of the specification is given twice");
        } else if (root->items[i].kind != DFL_YAML_MAP) {
            return wrong(f, DFL_FOREIGN_UNSUPPORTED, root->items[i].span,
                         "a part of the specification must be a map; if it is in another file, name that file, too");
        } else {
            *parts[k].where = &root->items[i];
        }
    }
    return true;
}

bool dfl_af_open(dfl_af_file *f, dfl_loss_report *report, const dfl_source *const *sources, size_t n)
{
    *f = (dfl_af_file){ .report = report, .fork = DFL_AF_NONE };
    for (size_t i = 0; i < n; i++) {
        const dfl_yaml *root = look_for_templates(f, sources[i]) ? dfl_yaml_parse(report, sources[i]) : NULL;

        if (root == NULL || !take_parts(f, root))
            return false;
    }
    if (f->workload == NULL || (f->mapping != NULL && f->arch == NULL))
        return wrong(f, DFL_FOREIGN_SYNTAX, (dfl_span){ sources[0]->base, sources[0]->base },
                     f->workload == NULL ? "the specification has no `workload`" :
                             "the specification has a `mapping`, but no `arch`");
    if (!dfl_af_read_workload(f) || (f->arch != NULL && !dfl_af_read_arch(f)))
        return false;
    for (uint32_t e = 1; e < f->einsums.n; e++) {
        if (f->einsums.at[e].instances != f->einsums.at[0].instances)
            return wrong(f, DFL_FOREIGN_UNSUPPORTED, f->einsums.at[e].span,
                         "this einsum and the first one have different numbers of instances");
    }
    if (!dfl_af_settle_copies(f))
        return false;
    dfl_af_settle_constraints(f);
    return true;
}

char *dfl_import_accelforge(dfl_arena *arena, dfl_sink *sink, dfl_source_map *sources,
                            const dfl_source *const *files, size_t n)
{
    dfl_budget *budget = dfl_arena_budget(arena);
    dfl_loss_report report;
    dfl_af_file f;
    dfl_af_plan plan;
    dfl_loss *losses;
    size_t n_losses;
    bool ok;

    dfl_loss_init(&report, arena, sink, sources);
    ok = dfl_af_open(&f, &report, files, n) && (f.mapping == NULL || dfl_af_read_mapping(&f, &plan));
    if (budget != NULL && budget->why != DFL_STOP_NONE) {
        dfl_report_stop(sink, budget);
        return NULL;
    }
    if (!ok)
        return NULL;
    losses = dfl_loss_take(&report, &n_losses);
    return dfl_writer_layout(arena, sink,
                             dfl_af_print(&f, f.mapping != NULL ? &plan : NULL, files[0], losses, n_losses));
}
