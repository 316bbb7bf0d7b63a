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
#define REPORT_SHAPE(draft, at, ...) ((draft)->broken = true, dfl_report((draft)->sink, DFL_SYS_SHAPE, at, __VA_ARGS__))

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
    dfl_diag *d;

    ctx->draft->broken |= v.kind == DFL_VALUE_BAD;
    ctx->draft->unsized |= v.kind == DFL_VALUE_UNKNOWN;
    if (v.kind == DFL_VALUE_BAD || v.kind == DFL_VALUE_UNKNOWN)
        return false;
    *out = v.quantity.real;
    if (v.kind == DFL_VALUE_QUANTITY && dfl_dim_is_none(v.quantity.dim) && v.quantity.real >= 1)
        return true;
    if (v.kind == DFL_VALUE_QUANTITY && dfl_dim_is_none(v.quantity.dim))
        d = REPORT_SHAPE(ctx->draft, expr->span, "an oversubscription of %g is below 1", v.quantity.real);
    else
        d = REPORT_SHAPE(ctx->draft, expr->span, "an oversubscription is a plain number of at least 1");
    dfl_diag_help(ctx->sema->sink, d, "write `2` if a level of the tree has half the bandwidth of the level below, `1` if it has "
                  "all");
    return false;
}

/* Stores a list of factors, one for each level, into out[level]. */
static void read_factor_list(dfl_system_context *ctx, const dfl_expr *list, uint32_t levels, double *out)
{
    uint32_t i = 0;
    dfl_diag *d;

    if (list->n_args != levels) {
        d = REPORT_SHAPE(ctx->draft, list->span, "%u oversubscriptions for %u levels: a list has one for each level",
                         list->n_args, levels);
        dfl_diag_help(ctx->sema->sink, d, "write `levels = %u`, or %u numbers, that of the lowest level first", list->n_args,
                      levels);
        return;
    }
    for (const dfl_expr *x = list->args; x != NULL; x = x->next, i++) {
        if (!read_factor(ctx, x, &out[i]))
            return;
        if (i == 0 && out[0] != 1) {
            d = REPORT_SHAPE(ctx->draft, x->span, "the lowest level has an oversubscription of %g, and the bandwidth of a port",
                             out[0]);
            dfl_diag_help(ctx->sema->sink, d, "write `1` here");
        }
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

/* Whether the ports of a dragonfly divide into this number of groups and of routers in a group (0 = one for each port), and the
   links of a group reach all other groups. */
static bool fits_ports(const dfl_topology *t, int64_t ports, int64_t groups, int64_t routers)
{
    const int64_t each = ports / groups, n = routers > 0 ? routers : each;

    return ports % groups == 0 && each % n == 0 && (t->global == 0 || (dfl_i128)t->global * n >= groups - 1);
}

/* The numbers of groups, or else of routers, nearest to the written one below and above that fit; 0 = there is none. */
typedef struct { int64_t below, above; } near_shapes;

static near_shapes find_near(const dfl_topology *t, int64_t ports, bool of_groups)
{
    const int64_t given = of_groups ? t->groups : t->routers, most = of_groups ? ports : ports / t->groups;
    near_shapes out = { 0, 0 };

    for (int64_t d = 1; d <= most / d; d++)
        for (uint32_t k = 0; most % d == 0 && k < 2; k++) {
            const int64_t n = k == 0 ? d : most / d;

            if (!fits_ports(t, ports, of_groups ? n : t->groups, of_groups ? t->routers : n))
                continue;
            if (n < given && n > out.below)
                out.below = n;
            if (n > given && (out.above == 0 || n < out.above))
                out.above = n;
        }
    return out;
}

/* Adds what to write instead of a number of groups or routers. */
static void help_near(dfl_system_draft *draft, dfl_diag *d, const dfl_topology *t, int64_t ports, bool of_groups)
{
    const char *name = of_groups ? "groups" : "routers";
    const near_shapes near = find_near(t, ports, of_groups);

    if (near.below > 0 && near.above > 0)
        dfl_diag_help(draft->sink, d, "write `%s = %lld` or `%s = %lld`", name, (long long)near.below, name,
                      (long long)near.above);
    else if (near.below > 0 || near.above > 0)
        dfl_diag_help(draft->sink, d, "write `%s = %lld`", name, (long long)(near.below > 0 ? near.below : near.above));
    else
        dfl_diag_help(draft->sink, d, "leave out `routers` and `global`, and write `groups = %lld`",
                      (long long)(ports % 2 == 0 ? 2 : 1));
}

/* Completes a dragonfly: without `groups`, one group; without `routers`, one for each port; without `global`, the least
   number that links all groups. Reports groups and routers that do not divide the ports, and too few links. */
static void finish_dragonfly(dfl_system_draft *draft, const dfl_draft_part *part, int64_t ports, dfl_topology *t)
{
    const char *name = dfl_sym_text(draft->names, part->name);
    int64_t each;
    dfl_diag *d;

    t->groups = t->groups > 0 ? t->groups : 1;
    if (ports > 0 && ports % t->groups != 0) {
        d = REPORT_SHAPE(draft, part->argument_spans[GROUPS], "%lld groups do not divide the %lld ports of network `%s`",
                         (long long)t->groups, (long long)ports, name);
        help_near(draft, d, t, ports, true);
        return;
    }
    each = ports > 0 ? ports / t->groups : 1;
    if (t->routers > 0 && ports > 0 && each % t->routers != 0) {
        d = REPORT_SHAPE(draft, part->argument_spans[ROUTERS],
                         "%lld routers do not divide the %lld ports of a group of network `%s`",
                         (long long)t->routers, (long long)each, name);
        if (t->groups > 1)
            dfl_diag_here(draft->sink, d, "%lld ports in %lld groups", (long long)ports, (long long)t->groups);
        help_near(draft, d, t, ports, false);
        return;
    }
    t->routers = t->routers > 0 ? t->routers : each;
    if (t->global == 0) {
        t->global = t->groups > 1 ? (t->groups - 2) / t->routers + 1 : 1;
    } else if ((dfl_i128)t->global * t->routers < t->groups - 1) {
        d = REPORT_SHAPE(draft, part->argument_spans[GLOBAL],
                         "%lld x %lld = %lld links of a group do not reach its %lld other groups",
                         (long long)t->routers, (long long)t->global, (long long)(t->routers * t->global),
                         (long long)(t->groups - 1));
        dfl_diag_here(draft->sink, d, "%lld for each of %lld routers of a group", (long long)t->global, (long long)t->routers);
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
        dfl_diag_help(draft->sink, REPORT_SHAPE(draft, rails->span,
                                                "separate rails need a port for each inner instance, and `%s` has one for all of "
                                                "them", dfl_sym_text(draft->names, part->name)),
                      "write `port = ...;` with an axis inside of the array, or leave `rails` out");
    if (topology->kind == DFL_TOPOLOGY_DRAGONFLY)
        finish_dragonfly(draft, part, ports, topology);
}
