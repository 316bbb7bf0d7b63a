/*
 * Reads an architecture that is a tree, and makes levels of it. Version 0.4 has a list `nodes`: a container encloses all
 * nodes behind it, and `spatial` repeats its node and all behind it. Version 0.3, and the flattened form of version
 * 0.4, have nested `subtree` lists with `local` components, whose names count the instances: `PE[0..13]`.
 */
#include "import/timeloop/timeloop_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/limits.h"
#include "support/vec.h"

/* The place in the tree: instances so far, inherited attributes. */
typedef struct {
    int64_t x, y;
    const dfl_tl_scope *scope;
    uint32_t group, branch;
    unsigned depth;
} place;

typedef struct {
    dfl_tl_file *f;
    DFL_VEC(dfl_tl_leaf) leaves;      /* outermost first */
    uint32_t n_groups;
} walk;

/* Most instances along an axis. */
static const int64_t most_side = INT64_C(1) << 31;

/* Attributes from which the source computes the energy of networks, or the networks that carry what a level transfers. */
static const char *const of_networks[] = {
    "wire_energy", "router_energy", "energy_per_hop", "hop_energy", "tile_width", "addr_gen_energy",
    "network_read", "network_fill", "network_update", "network_drain",
};

/* Whether a value is absent or zero. */
static bool is_nothing(dfl_tl_file *f, const dfl_yaml *value, const dfl_tl_scope *scope)
{
    const dfl_tl_scope *around = f->scope;
    double number;
    bool zero;

    if (value->kind != DFL_YAML_SCALAR)
        return false;
    f->scope = scope;
    zero = dfl_tl_evaluate(f, value, &number, NULL) && number == 0;
    f->scope = around;
    return zero || dfl_yaml_is_null(value);
}

/* Reports once that the attributes of a node on networks, which are not modelled, are lost. */
static void look_for_networks(dfl_tl_file *f, const dfl_yaml *at, const dfl_tl_scope *scope)
{
    const dfl_yaml *name = dfl_tl_get(at, "name"), *first = NULL;
    dfl_strbuf keys;

    dfl_strbuf_init(&keys, f->report->arena);
    for (uint32_t i = 0; i < scope->attributes->n; i++) {
        const dfl_yaml *key = &scope->attributes->keys[i];
        bool is_network = false;

        for (size_t k = 0; k < sizeof of_networks / sizeof of_networks[0]; k++)
            is_network |= dfl_tl_is_key(key->text, of_networks[k]);
        if (!is_network || is_nothing(f, &scope->attributes->items[i], scope))
            continue;
        dfl_strbuf_printf(&keys, "%s`%s`", first != NULL ? ", " : "", key->text);
        first = first != NULL ? first : key;
    }
    if (first != NULL)
        dfl_lose(f->report, DFL_FOREIGN_LOST, first->span, "networks are not counted (%s of `%s`): their transfers are free",
                 keys.text, name != NULL ? name->text : "architecture");
}

static const dfl_tl_scope *scope_of(dfl_tl_file *f, const dfl_yaml *at, const dfl_tl_scope *outer)
{
    const dfl_yaml *attributes = dfl_tl_get(at, "attributes");
    dfl_tl_scope *scope;

    if (attributes != NULL && attributes->kind != DFL_YAML_MAP && !dfl_yaml_is_null(attributes))
        dfl_tl_wrong(f, DFL_FOREIGN_SYNTAX, attributes->span, "`attributes` must be a map");
    if (attributes == NULL || attributes->kind != DFL_YAML_MAP)
        return outer;
    scope = DFL_NEW(f->report->arena, dfl_tl_scope);
    *scope = (dfl_tl_scope){ attributes, outer };
    look_for_networks(f, at, scope);
    return scope;
}

/* The name without the numbers of its instances, `*instances` of them: 1 if the name has no such numbers. */
static const char *name_of(dfl_tl_file *f, const dfl_yaml *at, int64_t *instances)
{
    const dfl_yaml *node = dfl_tl_get(at, "name");
    const char *name = dfl_tl_text(f, node, at->span, "the name of a node"), *open = strchr(name, '[');

    *instances = 1;
    if (open != NULL && f->ok) {
        char *end;
        long long first = strtoll(open + 1, &end, 10), last = first;

        if (end == open + 1 || (strncmp(end, "..", 2) != 0 && *end != ']')) {
            dfl_tl_wrong(f, DFL_FOREIGN_SYNTAX, node->span, "instances must be counted as in `PE[0..13]`");
            return "";
        }
        if (*end == '.')
            last = strtoll(end + 2, &end, 10);
        if (strcmp(end, "]") != 0 || first < 0 || last < first || last - first >= most_side) {
            dfl_tl_wrong(f, DFL_FOREIGN_RANGE, node->span, "instances must be counted as in `PE[0..13]`");
            return "";
        }
        *instances = last - first + 1;
    }
    return open != NULL ? dfl_arena_copy(f->report->arena, name, (size_t)(open - name)) : name;
}

static bool is_off(const dfl_yaml *at)
{
    const dfl_yaml *enabled = dfl_tl_get(at, "enabled");

    return enabled != NULL && (strcmp(enabled->text, "false") == 0 || strcmp(enabled->text, "False") == 0);
}

/* Keys of nodes and of flattened components. The class of a component alone knows its attributes. */
static const char *const in_node[] = {
    "name", "class", "subclass", "attributes", "constraints", "spatial", "enabled", "required_actions", "nodes", "subtree",
    "local", "sparse_optimizations", "optimizations", "actions_optimization", "area_scale", "energy_scale", "area_share",
    "energy_share", "n_instances", "power_gated_at", "top_level", "version", "actions", "subcomponents",
};
static const char *const in_spatial[] = { "meshX", "meshY" };

static void look_at_node(const dfl_tl_file *f, const dfl_yaml *at)
{
    const dfl_yaml *name = dfl_tl_get(at, "name"), *spatial = dfl_tl_get(at, "spatial");
    const char *of = dfl_arena_printf(f->report->arena, "`%s`", name != NULL ? name->text : at->tag);

    dfl_tl_look_at_keys(f, at, in_node, sizeof in_node / sizeof in_node[0], of);
    if (spatial != NULL)
        dfl_tl_look_at_keys(f, spatial, in_spatial, 2, dfl_arena_printf(f->report->arena, "`spatial` of %s", of));
}

static void add_leaf(walk *w, const place *p, const dfl_yaml *at, const char *name, const char *alias, bool is_fan_out)
{
    static const char *const sparse[] = { "sparse_optimizations", "optimizations", "actions_optimization" };
    dfl_tl_leaf one = { .name = name, .alias = alias, .at = at, .scope = p->scope, .is_fan_out = is_fan_out, .x = p->x,
                 .y = p->y, .group = p->group, .branch = p->branch };

    for (size_t i = 0; i < sizeof sparse / sizeof sparse[0] && !is_fan_out; i++)
        dfl_tl_lose_sparse(w->f, at, sparse[i]);
    DFL_PUSH(w->f->report->arena, &w->leaves, one);
}

/* ---- version 0.4 ---- */

/* Repeats everything behind a node with `spatial`. */
static bool spread(walk *w, place *p, const dfl_yaml *at, const char *name)
{
    dfl_tl_file *f = w->f;
    const dfl_yaml *spatial = dfl_tl_get(at, "spatial");
    int64_t x, y;

    if (spatial == NULL)
        return true;
    f->scope = p->scope;
    x = dfl_tl_count(f, dfl_tl_get(spatial, "meshX"), 1, 1);
    y = dfl_tl_count(f, dfl_tl_get(spatial, "meshY"), 1, 1);
    if (f->ok && (x > most_side / p->x || y > most_side / p->y))
        return dfl_tl_wrong(f, DFL_FOREIGN_RANGE, spatial->span, "there are more than 2^31 instances side by side");
    if (f->ok && x * y > 1)
        add_leaf(w, p, at, dfl_arena_printf(f->report->arena, "inter_%s_spatial", name), name, true);
    p->x *= x;
    p->y *= y;
    return f->ok;
}

static bool walk_nodes(walk *w, const dfl_yaml *list, place *p);

static bool walk_branches(walk *w, const dfl_yaml *at, const place *p)
{
    const dfl_yaml *nodes = dfl_tl_get(at, "nodes");
    uint32_t group = p->group != 0 ? p->group : ++w->n_groups;

    if (nodes == NULL || nodes->kind != DFL_YAML_LIST)
        return dfl_tl_wrong(w->f, DFL_FOREIGN_SYNTAX, at->span, "`!Parallel` needs a list of `nodes`");
    for (uint32_t i = 0; i < nodes->n; i++) {
        place inner = *p;
        dfl_yaml one = { .kind = DFL_YAML_LIST, .tag = "", .text = "", .span = nodes->items[i].span, .n = 1,
                         .items = &nodes->items[i] };

        if (p->group == 0)
            inner.branch = i;
        inner.group = group;
        inner.depth++;
        if (!walk_nodes(w, &one, &inner))
            return false;
        if (inner.x != p->x || inner.y != p->y)
            return dfl_tl_wrong(w->f, DFL_FOREIGN_UNSUPPORTED, nodes->items[i].span,
                                "a branch of `!Parallel` with several instances cannot be expressed");
    }
    return true;
}

static bool walk_node(walk *w, const dfl_yaml *at, place *p)
{
    dfl_tl_file *f = w->f;
    bool container = strcmp(at->tag, "Container") == 0;
    const char *name;
    int64_t instances;

    if (at->kind != DFL_YAML_MAP)
        return at->kind == DFL_YAML_SCALAR && strcmp(at->tag, "Nothing") == 0 ? true :
               dfl_tl_wrong(f, DFL_FOREIGN_SYNTAX, at->span, "a node must be a map");
    if (strcmp(at->tag, "Nothing") == 0 || is_off(at))
        return true;
    look_at_node(f, at);
    if (strcmp(at->tag, "Parallel") == 0)
        return walk_branches(w, at, p);
    if (strcmp(at->tag, "Hierarchical") == 0) {
        place inner = *p;

        inner.depth++;
        inner.scope = scope_of(f, at, p->scope);
        if (!walk_nodes(w, dfl_tl_get(at, "nodes"), &inner))
            return false;
        p->x = inner.x;
        p->y = inner.y;
        return true;
    }
    if (!container && strcmp(at->tag, "Component") != 0)
        return dfl_tl_wrong(f, DFL_FOREIGN_UNSUPPORTED, at->span,
                            "a node must be `!Component`, `!Container`, `!Parallel` or `!Hierarchical`");
    name = name_of(f, at, &instances);
    if (f->ok && instances > 1)
        return dfl_tl_wrong(f, DFL_FOREIGN_UNSUPPORTED, at->span, "instances of a node are counted by `spatial`");
    if (container) {
        p->scope = scope_of(f, at, p->scope);
        return f->ok && spread(w, p, at, name);
    }
    if (!f->ok || !spread(w, p, at, name))
        return false;
    {
        place own = *p;

        own.scope = scope_of(f, at, p->scope);
        add_leaf(w, &own, at, name, NULL, false);
    }
    return true;
}

static bool walk_nodes(walk *w, const dfl_yaml *list, place *p)
{
    if (list == NULL || list->kind != DFL_YAML_LIST)
        return dfl_tl_wrong(w->f, DFL_FOREIGN_SYNTAX, list != NULL ? list->span : w->f->tree->span,
                            "an architecture needs a list of `nodes` or of `subtree`");
    for (uint32_t i = 0; i < list->n; i++) {
        if (!walk_node(w, &list->items[i], p))
            return false;
    }
    return true;
}

/* ---- version 0.3 ---- */

/* A component of a `local` list. Its instances along X are those of its mesh, over the whole machine. */
static bool walk_local(walk *w, const dfl_yaml *at, const place *p)
{
    dfl_tl_file *f = w->f;
    place own = *p;
    int64_t count, all;
    const char *name = name_of(f, at, &count);
    const dfl_yaml *x, *y;

    if (!f->ok || is_off(at))
        return f->ok;
    look_at_node(f, at);
    own.scope = f->scope = scope_of(f, at, p->scope);
    if (count > most_side / (p->x * p->y))
        return dfl_tl_wrong(f, DFL_FOREIGN_RANGE, at->span, "there are more than 2^31 instances side by side");
    all = count * p->x * p->y;
    x = dfl_tl_attribute(own.scope, "meshX");
    y = dfl_tl_attribute(own.scope, "meshY");
    own.y = dfl_tl_count(f, y, 1, 1);
    own.x = dfl_tl_count(f, x, 1, all / (own.y > 0 ? own.y : 1));
    if (y == NULL && f->ok)
        own.y = all / own.x;
    if (f->ok && (own.x > most_side || own.x * own.y != all)) {
        /* A mesh that a level around this one has given. */
        if (dfl_tl_get(dfl_tl_get(at, "attributes"), "meshX") != NULL || all % own.x != 0)
            return dfl_tl_wrong(f, DFL_FOREIGN_RANGE, at->span, "%lld instances do not form a mesh of this size",
                                (long long)all);
        own.y = all / own.x;
    }
    add_leaf(w, &own, at, name, NULL, false);
    return f->ok;
}

static bool walk_subtree(walk *w, const dfl_yaml *list, place p)
{
    dfl_tl_file *f = w->f;
    const dfl_yaml *at, *local, *inner;
    int64_t count;

    if (list->kind != DFL_YAML_LIST || list->n == 0 || list->items[0].kind != DFL_YAML_MAP)
        return dfl_tl_wrong(f, DFL_FOREIGN_SYNTAX, list->span, "expected a list of `subtree`");
    if (list->n > 1)
        return dfl_tl_wrong(f, DFL_FOREIGN_UNSUPPORTED, list->items[1].span,
                            "subtrees side by side cannot be expressed: a level would have two ways to the multipliers");
    at = &list->items[0];
    name_of(f, at, &count);
    if (!f->ok || count > most_side / (p.x * p.y))
        return dfl_tl_wrong(f, DFL_FOREIGN_RANGE, at->span, "there are more than 2^31 instances side by side");
    p.x *= count;
    p.scope = scope_of(f, at, p.scope);
    local = dfl_tl_get(at, "local");
    inner = dfl_tl_get(at, "subtree");
    for (uint32_t i = 0; local != NULL && i < local->n; i++) {
        if (!walk_local(w, &local->items[i], &p))
            return false;
    }
    return inner == NULL || inner->n == 0 || walk_subtree(w, inner, p);
}

bool dfl_tl_read_tree(dfl_tl_file *f)
{
    const dfl_yaml *nodes = dfl_tl_get(f->tree, "nodes"), *subtree = dfl_tl_get(f->tree, "subtree");
    walk w = { .f = f };
    place p = { .x = 1, .y = 1, .scope = f->scope };

    if (nodes != NULL ? !walk_nodes(&w, nodes, &p) :
        subtree != NULL ? !walk_subtree(&w, subtree, p) : !walk_nodes(&w, NULL, &p))
        return false;
    if (w.leaves.n > 0 && w.leaves.at[w.leaves.n - 1].is_fan_out)
        w.leaves.n--;
    if (w.leaves.n < 2)
        return dfl_tl_wrong(f, DFL_FOREIGN_SYNTAX, f->tree->span, "an architecture needs a memory and multipliers");
    if (w.leaves.n - 1 > DFL_TL_MOST_LEVELS)
        return dfl_tl_wrong(f, DFL_FOREIGN_UNSUPPORTED, f->tree->span, "the architecture has more than %d levels",
                            DFL_TL_MOST_LEVELS);
    return dfl_tl_make_levels(f, w.leaves.at, w.leaves.n);
}
