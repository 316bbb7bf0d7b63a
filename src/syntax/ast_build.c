#include "syntax/ast_build.h"

#include <stdint.h>
#include <string.h>

static const dfl_ast_ref no_ref = { .path = &dfl_no_path };
static const dfl_ast_more nothing_more = { .ref = &no_ref, .work = &no_ref, .machine = &no_ref, .type = &no_ref };

/* ---- what all nodes share ------------------------------------------------------------------------------------- */

static dfl_ast_node *open_ring(dfl_ast_list list)
{
    dfl_ast_node *first = NULL;

    if (list.last != NULL) {
        first = list.last->next;
        list.last->next = NULL;
    }
    return first;
}

static dfl_ast_paths *open_paths(dfl_path_list list)
{
    dfl_ast_paths *first = NULL;

    if (list.last != NULL) {
        first = list.last->next;
        list.last->next = NULL;
    }
    return first;
}

static dfl_ast_more *new_more(dfl_parse *p)
{
    dfl_ast_more *more = DFL_NEW(p->arena, dfl_ast_more);

    *more = nothing_more;
    return more;
}

/* The rare fields of a node under construction, in a struct of its own that may be written. */
static dfl_ast_more *more_of(dfl_parse *p, dfl_ast_node *n)
{
    if (n->more == &nothing_more)
        n->more = new_more(p);
    return (dfl_ast_more *)(uintptr_t)n->more;
}

/* Sets the depth of a node around the list of items that starts with `first`; reports a depth over the limit. */
static void enclose_items(dfl_parse *p, dfl_ast_node *n, const dfl_ast_node *first)
{
    for (; first != NULL; first = first->next)
        if (n->depth <= first->depth)
            n->depth = (uint16_t)(first->depth + 1);
    if (n->depth > DFL_MAX_DEPTH) {
        n->depth = DFL_MAX_DEPTH;
        dfl_parse_too_deep(p, n->span);
    }
}

static bool is_documented(dfl_ast_kind kind)
{
    switch ((int)kind) {
    case DFL_AST_OPTION: case DFL_AST_PARAM: case DFL_AST_LET: case DFL_AST_OP: case DFL_AST_WORKLOAD:
    case DFL_AST_SYSTEM: case DFL_AST_MAPPING: case DFL_AST_SWEEP: case DFL_AST_MEMORY: case DFL_AST_COMPUTE:
    case DFL_AST_NETWORK: case DFL_AST_ARRAY: case DFL_AST_ELEMENT: case DFL_AST_USE: case DFL_AST_RANKS:
    case DFL_AST_TENSORS: case DFL_AST_EINSUM: case DFL_AST_APPLY: case DFL_AST_REPEAT: case DFL_AST_ATTR:
    case DFL_AST_ATTRS: case DFL_AST_CHECK:
        return true;
    default:
        return false;
    }
}

static void add_doc(dfl_parse *p, dfl_ast_node *n)
{
    const char *doc = n->more->doc == NULL ? dfl_parse_doc(p, n->span.start) : NULL;

    if (doc != NULL)
        more_of(p, n)->doc = doc;
}

static dfl_ast_node *new_node(dfl_parse *p, dfl_ast_kind kind, dfl_span at)
{
    dfl_ast_node *n = DFL_NEW(p->arena, dfl_ast_node);

    n->kind = kind;
    n->id = p->n_nodes++;
    n->span = at;
    n->depth = 1;
    n->path = &dfl_no_path;
    n->more = &nothing_more;
    p->has_edition |= kind == DFL_AST_EDITION;
    if (is_documented(kind))
        add_doc(p, n);
    return n;
}

static const dfl_ast_ref *ref_of(const dfl_ast_ref *ref)
{
    return ref != NULL ? ref : &no_ref;
}

/* ---- common shapes -------------------------------------------------------------------------------------------- */

dfl_ast_node *dfl_ast_valued(dfl_parse *p, dfl_ast_kind k, dfl_span at, dfl_ast_name name, dfl_expr *value)
{
    dfl_ast_node *n = new_node(p, k, at);

    n->name = name;
    n->value = value;
    return n;
}

dfl_ast_node *dfl_ast_items(dfl_parse *p, dfl_ast_kind k, dfl_span at, dfl_ast_list items)
{
    dfl_ast_node *n = new_node(p, k, at);

    n->items = open_ring(items);
    enclose_items(p, n, n->items);
    return n;
}

dfl_ast_node *dfl_ast_listed(dfl_parse *p, dfl_ast_kind k, dfl_span at, dfl_ast_name name, dfl_expr_list args)
{
    dfl_ast_node *n = new_node(p, k, at);

    n->name = name;
    n->args = dfl_exprs_open(args);
    n->n_args = args.n;
    return n;
}

dfl_ast_node *dfl_ast_bodied(dfl_parse *p, dfl_ast_kind k, dfl_span at, dfl_ast_name name, dfl_ast_list body)
{
    dfl_ast_node *n = new_node(p, k, at);

    n->name = name;
    n->body = open_ring(body);
    n->has_body = true;
    enclose_items(p, n, n->body);
    return n;
}

dfl_ast_node *dfl_ast_at_path(dfl_parse *p, dfl_ast_kind k, dfl_span at, dfl_ast_path *path)
{
    dfl_ast_node *n = new_node(p, k, at);

    if (path != NULL)
        n->path = dfl_path_done(p, path);
    return n;
}

dfl_ast_node *dfl_ast_domain(dfl_parse *p, dfl_ast_node *n, dfl_expr *domain)
{
    more_of(p, n)->domain = domain;
    return n;
}

dfl_ast_node *dfl_ast_pathed(dfl_parse *p, dfl_ast_kind k, dfl_span at, dfl_ast_list items, dfl_path_list paths)
{
    dfl_ast_node *n = dfl_ast_items(p, k, at, items);

    n->paths = open_paths(paths);
    return n;
}

dfl_ast_node *dfl_ast_declared(dfl_parse *p, dfl_ast_kind k, dfl_span at, dfl_ast_name name, dfl_ast_list params,
                               dfl_ast_ref *type, dfl_ast_list body)
{
    dfl_ast_node *n = dfl_ast_bodied(p, k, at, name, body);
    dfl_ast_more *more = more_of(p, n);

    more->params = open_ring(params);
    more->type = ref_of(type);
    return n;
}

dfl_ast_node *dfl_ast_derived(dfl_parse *p, dfl_ast_kind k, dfl_span at, dfl_ast_name name, dfl_ast_list params,
                              dfl_ast_ref *ref, dfl_ast_list binds)
{
    dfl_ast_node *n = new_node(p, k, at);
    dfl_ast_more *more = more_of(p, n);

    n->name = name;
    more->params = open_ring(params);
    more->ref = ref_of(ref);
    more->binds = open_ring(binds);
    enclose_items(p, n, more->binds);
    return n;
}

/* ---- declarations --------------------------------------------------------------------------------------------- */

dfl_ast_node *dfl_ast_import(dfl_parse *p, dfl_span at, dfl_ast_path *path, dfl_expr *file, dfl_ast_name alias)
{
    dfl_ast_node *n = dfl_ast_at_path(p, DFL_AST_IMPORT, at, path);

    n->value = file;
    if (alias.sym != 0)
        more_of(p, n)->alias = alias;
    return n;
}

dfl_ast_node *dfl_ast_op(dfl_parse *p, dfl_span at, dfl_ast_name name, dfl_name_list params, dfl_ast_name over, dfl_expr *cost)
{
    dfl_ast_node *n = dfl_ast_valued(p, DFL_AST_OP, at, name, cost);
    dfl_ast_more *more = more_of(p, n);
    dfl_ast_name *names = DFL_NEW_ARRAY(p->arena, dfl_ast_name, params.n);
    const dfl_name_link *link = params.last;

    for (uint32_t i = 0; i < params.n; i++) {
        link = link->next; /* the list is a ring: behind the last name comes the first */
        names[i] = link->name;
    }
    more->names = names;
    more->n_names = params.n;
    more->over = over;
    return n;
}

dfl_ast_node *dfl_ast_joined(dfl_parse *p, dfl_ast_node *n, dfl_ast_ref *work, dfl_ast_ref *machine)
{
    dfl_ast_more *more = more_of(p, n);

    more->work = ref_of(work);
    more->machine = ref_of(machine);
    return n;
}

dfl_ast_node *dfl_ast_bound(dfl_parse *p, dfl_span at, dfl_ast_name name, dfl_ast_list params, dfl_ast_ref *from,
                            dfl_ast_ref *work, dfl_ast_ref *machine)
{
    return dfl_ast_joined(p, dfl_ast_derived(p, DFL_AST_MAPPING, at, name, params, from, dfl_list_none()), work, machine);
}

const dfl_ast_more *dfl_ast_verdict(dfl_parse *p, dfl_expr *exactly, dfl_expr *within, dfl_expr *of, dfl_expr *from)
{
    dfl_ast_more *more;

    if (exactly == NULL && within == NULL && from == NULL)
        return &nothing_more;
    more = new_more(p);
    more->exactly = exactly;
    more->within = within;
    more->of = of;
    more->from = from;
    return more;
}

dfl_ast_node *dfl_ast_check_make(dfl_parse *p, dfl_span at, dfl_ast_check kind, dfl_expr *value, const dfl_ast_more *more)
{
    dfl_ast_node *n = dfl_ast_valued(p, DFL_AST_CHECK, at, dfl_name_none(), value);
    const char *doc = n->more->doc;

    n->check = kind;
    n->more = more;
    if (doc != NULL)
        more_of(p, n)->doc = doc;
    return n;
}

void dfl_ast_file_make(dfl_parse *p, dfl_span at, dfl_ast_list items)
{
    p->file->items = open_ring(items);
    p->file->span = at;
}

/* ---- workloads ------------------------------------------------------------------------------------------------ */

dfl_ast_node *dfl_ast_tensor(dfl_parse *p, dfl_span at, dfl_ast_path *path, dfl_expr_list dims, dfl_ast_ref *type)
{
    dfl_ast_node *n = dfl_ast_listed(p, DFL_AST_TENSOR, at, dfl_name_none(), dims);

    n->path = dfl_path_done(p, path);
    if (type != NULL)
        more_of(p, n)->type = type;
    return n;
}

dfl_ast_node *dfl_ast_tensors(dfl_parse *p, dfl_span at, dfl_ast_role role, dfl_ast_list tensors)
{
    dfl_ast_node *n = dfl_ast_items(p, DFL_AST_TENSORS, at, tensors);

    n->role = role;
    return n;
}

dfl_ast_right *dfl_ast_right_make(dfl_parse *p, dfl_expr *value, dfl_ast_name over, dfl_ast_rows rows, dfl_expr_list where)
{
    dfl_ast_right *right = DFL_NEW(p->arena, dfl_ast_right);

    *right = (dfl_ast_right){ value, over, rows, where };
    return right;
}

dfl_ast_node *dfl_ast_einsum(dfl_parse *p, dfl_span at, dfl_ast_node *target, dfl_assign assign, dfl_ast_name op,
                             const dfl_ast_right *right)
{
    dfl_ast_node *n = dfl_ast_valued(p, DFL_AST_EINSUM, at, dfl_name_none(), right->value);
    dfl_ast_more *more = more_of(p, n);

    n->assign = assign;
    more->target = target;
    more->assign_span = op.span;
    if (assign == DFL_ASSIGN_NAMED)
        more->assign_name = op;
    more->over = right->over;
    more->reuse = right->rows.reuse;
    more->load = right->rows.load;
    more->where = dfl_exprs_open(right->where);
    more->n_where = right->where.n;
    enclose_items(p, n, target);
    return n;
}

dfl_ast_node *dfl_ast_role_of(dfl_parse *p, dfl_ast_node *einsum, dfl_ast_role role, dfl_span at)
{
    einsum->role = role;
    einsum->span = at;
    add_doc(p, einsum);
    return einsum;
}

dfl_ast_node *dfl_ast_repeat(dfl_parse *p, dfl_span at, dfl_expr *count, dfl_ast_name name, dfl_ast_list carried,
                             dfl_ast_list body)
{
    dfl_ast_node *n = dfl_ast_bodied(p, DFL_AST_REPEAT, at, name, body);

    n->value = count;
    more_of(p, n)->binds = open_ring(carried);
    return n;
}

dfl_ast_node *dfl_ast_for(dfl_parse *p, dfl_span at, dfl_ast_name name, dfl_expr *domain, dfl_ast_list body)
{
    return dfl_ast_domain(p, dfl_ast_bodied(p, DFL_AST_FOR, at, name, body), domain);
}

dfl_ast_node *dfl_ast_if(dfl_parse *p, dfl_span at, dfl_expr *condition, dfl_ast_list then, dfl_ast_list otherwise)
{
    dfl_ast_node *n = dfl_ast_bodied(p, DFL_AST_IF, at, dfl_name_none(), then);
    dfl_ast_more *more = more_of(p, n);

    n->value = condition;
    more->otherwise = open_ring(otherwise);
    enclose_items(p, n, more->otherwise);
    return n;
}

/* `values` has more than one item if the overriding value is a list. */
dfl_ast_node *dfl_ast_bind(dfl_parse *p, dfl_span at, dfl_ast_path *path, dfl_expr_list values)
{
    dfl_ast_node *n = dfl_ast_at_path(p, DFL_AST_BIND, at, path);

    n->args = dfl_exprs_open(values);
    n->n_args = values.n;
    n->value = n->args;
    return n;
}

/* ---- systems -------------------------------------------------------------------------------------------------- */

dfl_ast_node *dfl_ast_network(dfl_parse *p, dfl_span at, dfl_ast_name name, dfl_ast_ref *kind, dfl_ast_list attrs)
{
    dfl_ast_node *n = dfl_ast_bodied(p, DFL_AST_NETWORK, at, name, attrs);

    more_of(p, n)->ref = kind;
    return n;
}

dfl_ast_node *dfl_ast_use(dfl_parse *p, dfl_span at, dfl_ast_ref *ref, dfl_ast_name alias, dfl_ast_list binds)
{
    dfl_ast_node *n = dfl_ast_derived(p, DFL_AST_USE, at, dfl_name_none(), dfl_list_none(), ref, binds);

    if (alias.sym != 0)
        more_of(p, n)->alias = alias;
    return n;
}

dfl_ast_node *dfl_ast_array(dfl_parse *p, dfl_span at, dfl_ast_list axes, dfl_ast_name over, dfl_ast_list body)
{
    dfl_ast_node *n = dfl_ast_bodied(p, DFL_AST_ARRAY, at, dfl_name_none(), body);

    n->items = open_ring(axes);
    if (over.sym != 0)
        more_of(p, n)->over = over;
    return n;
}

/* ---- mappings ------------------------------------------------------------------------------------------------- */

dfl_ast_node *dfl_ast_branch(dfl_parse *p, dfl_span at, dfl_ast_list heads, bool each, dfl_ast_list body)
{
    dfl_ast_node *n = dfl_ast_bodied(p, DFL_AST_BRANCH, at, dfl_name_none(), body);

    n->items = open_ring(heads);
    n->each = each;
    return n;
}

dfl_ast_node *dfl_ast_loop(dfl_parse *p, dfl_span at, dfl_ast_path *path, dfl_split split, dfl_expr *amount, bool cyclic)
{
    dfl_ast_node *n = dfl_ast_at_path(p, DFL_AST_LOOP, at, path);

    n->split = split;
    n->value = amount;
    n->cyclic = cyclic;
    return n;
}

dfl_ast_node *dfl_ast_any_rank(dfl_parse *p, dfl_span at, dfl_expr *ranks, dfl_expr *parts)
{
    dfl_ast_node *n = dfl_ast_loop(p, at, NULL, DFL_SPLIT_PARTS, parts, false);

    n->args = ranks;
    n->n_args = 1;
    return n;
}

dfl_ast_node *dfl_ast_temporal(dfl_parse *p, dfl_span at, dfl_ast_list loops, bool online)
{
    dfl_ast_node *n = dfl_ast_items(p, DFL_AST_TEMPORAL, at, loops);

    n->online = online;
    return n;
}

dfl_ast_node *dfl_ast_spread(dfl_parse *p, dfl_span at, dfl_ast_list loops, dfl_ast_path *axis)
{
    dfl_ast_node *n = dfl_ast_items(p, DFL_AST_SPREAD, at, loops);

    n->path = dfl_path_done(p, axis);
    return n;
}

dfl_ast_node *dfl_ast_pipelined(dfl_parse *p, dfl_span at, dfl_ast_node *spread, dfl_expr_list args)
{
    (void)p;
    spread->span = at;
    spread->pipelined = true;
    spread->args = dfl_exprs_open(args);
    spread->n_args = args.n;
    return spread;
}

dfl_ast_node *dfl_ast_remade(dfl_parse *p, dfl_span at, dfl_path_list among)
{
    dfl_ast_node *n = dfl_ast_pathed(p, DFL_AST_RECOMPUTE, at, dfl_list_none(), among);

    n->value = dfl_ast_hole(p, at, NULL);
    return n;
}

dfl_ast_node *dfl_ast_again(dfl_parse *p, dfl_span at, dfl_ast_list sets)
{
    dfl_ast_node *only = sets.last;

    if (only->next != only || only->value != NULL)
        return dfl_ast_items(p, DFL_AST_RECOMPUTE, at, sets);
    only = open_ring(sets);
    only->span = at;
    return only;
}

dfl_ast_node *dfl_ast_split(dfl_parse *p, dfl_ast_node *keep, dfl_ast_list spreads)
{
    keep->body = open_ring(spreads);
    enclose_items(p, keep, keep->body);
    return keep;
}

dfl_ast_node *dfl_ast_kept(dfl_parse *p, dfl_span at, dfl_path_list tensors, dfl_ast_path *memory, dfl_kmode mode)
{
    dfl_ast_node *n = dfl_ast_at_path(p, DFL_AST_KEPT, at, memory);

    n->paths = open_paths(tensors);
    n->mode = mode;
    return n;
}
dfl_ast_node *dfl_ast_kept_in_one(dfl_parse *p, dfl_span at, dfl_path_list tensors, dfl_ast_list homes, dfl_kmode mode)
{
    dfl_ast_node *n = dfl_ast_items(p, DFL_AST_KEPT, at, homes);

    n->paths = open_paths(tensors);
    n->mode = mode;
    return n;
}
