/* Opens a run of Timeloop, reads its parts and writes the result. */
#include "import/timeloop/timeloop.h"

#include "import/dfl_writer.h"
#include "import/timeloop/timeloop_internal.h"

static const dfl_yaml *map_of(dfl_tl_file *f, const dfl_yaml *root, const char *key, dfl_yaml_kind kind)
{
    const dfl_yaml *at = dfl_tl_get(root, key);

    if (at != NULL && at->kind != kind)
        dfl_tl_wrong(f, DFL_FOREIGN_SYNTAX, at->span, "`%s` must be a %s", key, kind == DFL_YAML_MAP ? "map" : "list");
    return at;
}

/* Reports the top-level key `key`, which the importer cannot express and must not ignore; `what` describes its meaning. */
static void refuse(dfl_tl_file *f, const dfl_yaml *root, const char *key, const char *what)
{
    for (uint32_t i = 0; i < root->n; i++) {
        if (dfl_tl_is_key(root->keys[i].text, key))
            dfl_tl_wrong(f, DFL_FOREIGN_UNSUPPORTED, root->keys[i].span, "%s", what);
    }
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

static bool take_parts(dfl_tl_file *f, const dfl_yaml *root)
{
    static const char *const parts[] = { "problem", "arch", "mapping", "mapspace", "mapper" };
    static const char *const in_mapspace[] = { "constraints", "template" };
    const dfl_yaml *space, *mapper;

    if (root->kind != DFL_YAML_MAP)
        return dfl_tl_wrong(f, DFL_FOREIGN_SYNTAX, root->span,
                    "a run must be a map with `problem`, `arch` and `mapping`");
    if (!is_own(f, root))
        return false;
    refuse(f, root, "sparse_optimizations",
            "sparse tensors are not supported: fewer of their values are moved and multiplied");
    refuse(f, root, "architecture",
            "a tree of subtrees is not supported: give an `arch` with `arithmetic` and `storage`");
    if (!f->ok)
        return false;
    dfl_tl_look_at_keys(f, root, parts, sizeof parts / sizeof parts[0], "the file");
    f->problem = map_of(f, root, "problem", DFL_YAML_MAP);
    f->arch = map_of(f, root, "arch", DFL_YAML_MAP);
    f->mapping = map_of(f, root, "mapping", DFL_YAML_LIST);
    space = map_of(f, root, "mapspace", DFL_YAML_MAP);
    mapper = map_of(f, root, "mapper", DFL_YAML_MAP);
    if (f->ok && space != NULL)
        dfl_tl_look_at_keys(f, space, in_mapspace, sizeof in_mapspace / sizeof in_mapspace[0], "the mapspace");
    f->constraints = map_of(f, space, "constraints", DFL_YAML_LIST);
    f->metrics = map_of(f, mapper, "optimization_metrics", DFL_YAML_LIST);
    if (f->ok && (f->problem == NULL || f->arch == NULL))
        dfl_tl_wrong(f, DFL_FOREIGN_SYNTAX, root->span, f->problem == NULL ? "the run has no `problem`" :
                "the run has no `arch`");
    return f->ok;
}

bool dfl_tl_open(dfl_tl_file *f, dfl_loss_report *report, const dfl_source *source)
{
    const dfl_yaml *root = dfl_yaml_parse(report, source);

    *f = (dfl_tl_file){ .report = report, .ok = true };
    return root != NULL && take_parts(f, root) && dfl_tl_read_problem(f) && dfl_tl_read_arch(f) &&
           (f->mapping != NULL ? dfl_tl_read_mapping(f) : dfl_tl_read_constraints(f));
}

char *dfl_import_timeloop(dfl_arena *arena, dfl_sink *sink, dfl_source_map *sources, const dfl_source *source)
{
    dfl_budget *budget = dfl_arena_budget(arena);
    dfl_loss_report report;
    dfl_loss *losses;
    size_t n_losses;
    dfl_tl_file f;
    bool ok;

    dfl_loss_init(&report, arena, sink, sources);
    ok = dfl_tl_open(&f, &report, source);
    if (budget != NULL && budget->why != DFL_STOP_NONE) {
        dfl_report_stop(sink, budget);
        return NULL;
    }
    if (!ok)
        return NULL;
    losses = dfl_loss_take(&report, &n_losses);
    return dfl_writer_layout(arena, sink, dfl_tl_print(&f, source, losses, n_losses));
}
