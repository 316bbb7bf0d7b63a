/* The shape of a network between chips: its kind, the arguments of the kind, and what depends on the number of ports. */
#include "sema/system/system_internal.h"

#include <string.h>

#include "sema/expr/eval.h"
#include "sema/names/scope.h"
#include "support/limits.h"

/* Kinds of networks, and the arguments that a kind takes, in the order of the positions. */
typedef struct {
    const char *word;
    dfl_topology_kind kind;
    const char *arguments[DFL_TOPOLOGY_ARGUMENTS];
} network_kind;

enum { LEVELS = 0, OVERSUBSCRIPTION = 1 };          /* positions of the arguments of a fat tree */
enum { GROUPS = 0, ROUTERS = 1, GLOBAL = 2 };       /* positions of the arguments of a dragonfly */

static const network_kind kinds[] = {
    { "bus", DFL_TOPOLOGY_NONE, { NULL } },
    { "crossbar", DFL_TOPOLOGY_NONE, { NULL } },
    { "mesh", DFL_TOPOLOGY_MESH, { NULL } },
    { "torus", DFL_TOPOLOGY_TORUS, { NULL } },
    { "ring", DFL_TOPOLOGY_RING, { NULL } },
    { "switch", DFL_TOPOLOGY_SWITCH, { NULL } },
    { "fully_connected", DFL_TOPOLOGY_FULLY_CONNECTED, { NULL } },
    { "fat_tree", DFL_TOPOLOGY_FAT_TREE, { [LEVELS] = "levels", [OVERSUBSCRIPTION] = "oversubscription" } },
    { "dragonfly", DFL_TOPOLOGY_DRAGONFLY, { [GROUPS] = "groups", [ROUTERS] = "routers", [GLOBAL] = "global" } },
};
enum { N_KINDS = sizeof kinds / sizeof kinds[0] };

/* Reports E0510 at `at`. */
static dfl_diag *report_shape(dfl_system_draft *draft, dfl_span at, const char *what)
{
    draft->broken = true;
    return dfl_report(draft->sink, DFL_SYS_SHAPE, at, "%s", what);
}

/* ---- the kind ---- */

/* The row of the kind that a reference names; NULL after reporting. */
static const network_kind *find_kind(dfl_system_context *ctx, const dfl_ast_ref *ref)
{
    dfl_sym known[N_KINDS], near;
    const char *word = dfl_sema_text(ctx->sema, ref->path->text);
    dfl_diag *d;

    for (size_t i = 0; i < N_KINDS; i++) {
        known[i] = dfl_intern_z(ctx->sema->names, kinds[i].word);
        if (known[i] == ref->path->text)
            return &kinds[i];
    }
    d = dfl_report(ctx->sema->sink, DFL_NAME_UNKNOWN, ref->path->span, "no network kind `%s`", word);
    near = dfl_suggest(ctx->sema->names, word, known, N_KINDS);
    if (near != 0)
        dfl_diag_fix(ctx->sema->sink, d, ref->path->span, dfl_sema_text(ctx->sema, near), DFL_FIX_MAYBE);
    else
        dfl_diag_help(ctx->sema->sink, d, "kinds are bus, crossbar, mesh, torus, ring, switch, fully_connected, fat_tree, "
                      "dragonfly");
    ctx->draft->broken = true;
    return NULL;
}

/* ---- arguments ---- */

/* Reports an argument that the kind does not take. */
static void report_unknown(dfl_system_context *ctx, const network_kind *kind, const dfl_expr *arg)
{
    const char *label = arg->label.sym != 0 ? dfl_sema_text(ctx->sema, arg->label.sym) : NULL;
    dfl_sym known[DFL_TOPOLOGY_ARGUMENTS], near = 0;
    uint32_t n = 0;
    dfl_span at = label != NULL ? arg->label.span : arg->span;
    dfl_diag *d = dfl_report(ctx->sema->sink, DFL_ARGUMENT_UNKNOWN, at,
                             label != NULL || kind->arguments[0] == NULL ? "network kind `%s` has no such argument"
                                                                        : "network kind `%s` has fewer arguments", kind->word);

    ctx->draft->broken = true;
    while (n < DFL_TOPOLOGY_ARGUMENTS && kind->arguments[n] != NULL) {
        known[n] = dfl_intern_z(ctx->sema->names, kind->arguments[n]);
        n++;
    }
    if (label != NULL)
        near = dfl_suggest(ctx->sema->names, label, known, n);
    if (near != 0)
        dfl_diag_fix(ctx->sema->sink, d, at, dfl_sema_text(ctx->sema, near), DFL_FIX_MAYBE);
    else if (n == 0)
        dfl_diag_help(ctx->sema->sink, d, "remove it");
    else
        dfl_diag_help(ctx->sema->sink, d, n == 2 ? "its arguments are `%s` and `%s`" : "its arguments are `%s`, `%s` and `%s`",
                      kind->arguments[0], kind->arguments[1], kind->arguments[2]);
}

/* The position of the argument in the row of the kind; -1 after reporting. */
static int find_argument(dfl_system_context *ctx, const network_kind *kind, const dfl_expr *arg, uint32_t position)
{
    for (uint32_t i = 0; i < DFL_TOPOLOGY_ARGUMENTS && kind->arguments[i] != NULL; i++)
        if (arg->label.sym != 0 ? strcmp(dfl_sema_text(ctx->sema, arg->label.sym), kind->arguments[i]) == 0 : i == position)
            return (int)i;
    report_unknown(ctx, kind, arg);
    return -1;
}

/* A factor of oversubscription: a plain number, at least 1. False after reporting, or for an unknown value. */
static bool read_factor(dfl_system_context *ctx, const dfl_expr *expr, double *out)
{
    dfl_value v = dfl_eval(ctx->sema, ctx->scope, expr);

    ctx->draft->broken |= v.kind == DFL_VALUE_BAD;
    ctx->draft->unsized |= v.kind == DFL_VALUE_UNKNOWN;
    if (v.kind == DFL_VALUE_BAD || v.kind == DFL_VALUE_UNKNOWN)
        return false;
    *out = v.quantity.real;
    if (v.kind == DFL_VALUE_QUANTITY && dfl_dim_is_none(v.quantity.dim) && v.quantity.real >= 1)
        return true;
    dfl_diag_help(ctx->sema->sink, report_shape(ctx->draft, expr->span, "an oversubscription is a plain number of at least 1"),
                  "2 states that a level of the tree has half the bandwidth of the level below");
    return false;
}

/* Stores a list of factors, one for each level, into out[level]. */
static void read_factor_list(dfl_system_context *ctx, const dfl_expr *list, uint32_t levels, double *out)
{
    uint32_t i = 0;

    if (list->n_args != levels) {
        dfl_diag *d = report_shape(ctx->draft, list->span, "the list of oversubscriptions must have one number for each level");

        dfl_diag_here(ctx->sema->sink, d, "%u numbers for %u levels", list->n_args, levels);
        return;
    }
    for (const dfl_expr *x = list->args; x != NULL; x = x->next, i++) {
        if (!read_factor(ctx, x, &out[i]))
            return;
        if (i == 0 && out[0] != 1)
            report_shape(ctx->draft, x->span, "the lowest level has the bandwidth of a port: its oversubscription is 1");
    }
}

/* Stores the arguments of a fat tree. */
static void set_fat_tree(dfl_system_context *ctx, const dfl_expr *const args[], const int64_t values[], dfl_topology *topology)
{
    uint32_t levels = args[LEVELS] != NULL ? (uint32_t)values[LEVELS] : 1;
    const dfl_expr *given = args[OVERSUBSCRIPTION];
    double *factors = DFL_NEW_ARRAY(ctx->sema->arena, double, levels), factor = 1;

    if (given != NULL && given->kind == DFL_EXPR_SET)
        read_factor_list(ctx, given, levels, factors);
    else if (given == NULL || read_factor(ctx, given, &factor))
        for (uint32_t i = 0; i < levels; i++)
            factors[i] = i == 0 ? 1 : factor;
    topology->levels = levels;
    topology->oversubscription = factors;
}

void dfl_system_read_topology(dfl_system_context *ctx, uint32_t network, const dfl_ast_ref *ref)
{
    const network_kind *kind = find_kind(ctx, ref);
    dfl_draft_part *part = &ctx->draft->parts.at[network];
    const dfl_expr *args[DFL_TOPOLOGY_ARGUMENTS] = { NULL };
    int64_t values[DFL_TOPOLOGY_ARGUMENTS] = { 0 };
    uint32_t position = 0;
    bool ok = true;

    if (kind == NULL)
        return;
    part->topology.kind = kind->kind;
    for (const dfl_expr *arg = ref->args; arg != NULL; arg = arg->next, position++) {
        int i = find_argument(ctx, kind, arg, position);
        bool fat = kind->kind == DFL_TOPOLOGY_FAT_TREE, unknown = false;
        if (i < 0) {
            ok = false;
            continue;
        }
        if (args[i] != NULL) {
            dfl_scope_report_twice(ctx->sema, arg->span, args[i]->span, "given", kind->arguments[i]);
            ctx->draft->broken = true;
            continue;
        }
        args[i] = arg;
        part->argument_spans[i] = arg->span;
        part->argument = part->argument != NULL ? part->argument : kind->arguments[i];
        if (fat && i == OVERSUBSCRIPTION)
            continue;
        if (!dfl_eval_int(ctx->sema, ctx->scope, arg, kind->arguments[i], 1, fat ? DFL_SEMA_MAX_LEVELS : DFL_SEMA_MAX_COUNT,
                          &values[i], &unknown)) {
            ok = false;
            ctx->draft->broken |= !unknown;
            ctx->draft->unsized |= unknown;
        }
    }
    if (ok && kind->kind == DFL_TOPOLOGY_FAT_TREE)
        set_fat_tree(ctx, args, values, &part->topology);
    part->topology.groups = values[GROUPS];
    part->topology.routers = values[ROUTERS];
    part->topology.global = values[GLOBAL];
}

/* ---- what depends on the ports ---- */

/* Completes a dragonfly: without `groups`, one group; without `routers`, one for each port; without `global`, the least
   number that links all groups. Reports groups and routers that do not divide the ports, and too few links. */
static void finish_dragonfly(dfl_system_draft *draft, const dfl_draft_part *part, int64_t ports, dfl_topology *t)
{
    int64_t each;
    dfl_diag *d;

    t->groups = t->groups > 0 ? t->groups : 1;
    if (ports > 0 && ports % t->groups != 0) {
        int64_t below = ports - ports % t->groups;
        d = report_shape(draft, part->argument_spans[GROUPS], "the groups do not divide the ports of the network");
        dfl_diag_here(draft->sink, d, "%lld groups of %lld ports", (long long)t->groups, (long long)ports);
        if (below > 0)
            dfl_diag_help(draft->sink, d, "%lld or %lld ports would fill the groups", (long long)below,
                          (long long)(below + t->groups));
        return;
    }
    each = ports > 0 ? ports / t->groups : 1;
    if (t->routers > 0 && ports > 0 && each % t->routers != 0) {
        d = report_shape(draft, part->argument_spans[ROUTERS], "the routers do not divide the ports of a group");
        dfl_diag_here(draft->sink, d, "%lld routers for %lld ports", (long long)t->routers, (long long)each);
        return;
    }
    t->routers = t->routers > 0 ? t->routers : each;
    if (t->global == 0) {
        t->global = t->groups > 1 ? (t->groups - 2) / t->routers + 1 : 1;
    } else if ((dfl_i128)t->global * t->routers < t->groups - 1) {
        d = report_shape(draft, part->argument_spans[GLOBAL], "too few links to join each group with each other group");
        dfl_diag_here(draft->sink, d, "%lld routers with %lld links each, for %lld other groups", (long long)t->routers,
                      (long long)t->global, (long long)(t->groups - 1));
        dfl_diag_help(draft->sink, d, "write `global = %lld` or more, or leave `global` out",
                      (long long)((t->groups - 2) / t->routers + 1));
    }
}

/* The mask of the algorithms that `algorithm = ring, direct` permits. */
static uint32_t read_algorithms(const dfl_system_draft *draft, const dfl_draft_part *part)
{
    const dfl_draft_attribute *attribute = dfl_draft_find_attribute(part, "algorithm");
    uint32_t mask = 0;

    for (uint32_t i = 0; attribute != NULL && i < attribute->n_values; i++)
        for (unsigned k = 0; k < DFL_N_ALGORITHMS; k++)
            if (attribute->values[i].kind == DFL_ATTRIBUTE_WORD &&
                strcmp(dfl_sym_text(draft->names, attribute->values[i].word), dfl_algorithm_name((dfl_algorithm)k)) == 0)
                mask |= 1u << k;
    return mask;
}

void dfl_system_finish_topology(dfl_system_draft *draft, const dfl_draft_part *part, int64_t ports, dfl_topology *topology)
{
    const dfl_draft_attribute *rails = dfl_draft_find_attribute(part, "rails");

    if (draft->broken || draft->unsized)
        return;
    topology->algorithms = read_algorithms(draft, part);
    topology->separate_rails = rails != NULL;
    if (rails != NULL && dfl_draft_find_attribute(part, "port") == NULL)
        dfl_diag_help(draft->sink, report_shape(draft, rails->span, "separate rails need a port for each inner instance"),
                      "name the inner axis, as in `port = gpu`");
    if (topology->kind == DFL_TOPOLOGY_DRAGONFLY)
        finish_dragonfly(draft, part, ports, topology);
}
