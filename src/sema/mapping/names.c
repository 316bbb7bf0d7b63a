/* Names in mappings: ranks and tensors of the workload, parts of the system, heads of branches. */
#include "sema/mapping/mapping.h"

#include <stdlib.h>
#include <string.h>

enum { NAMES = 12 }; /* that are told in a message */

static const char *text(const dfl_place_in *p, dfl_sym sym)
{
    return dfl_sema_text(p->d->s, sym);
}

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

void dfl_ids_sort(dfl_ids *ids)
{
    size_t n = 0;

    if (ids->n > 1)
        qsort(ids->at, ids->n, sizeof *ids->at, ascending);
    for (size_t i = 0; i < ids->n; i++)
        if (n == 0 || ids->at[n - 1] != ids->at[i])
            ids->at[n++] = ids->at[i];
    ids->n = n;
}

/* ---- tables --------------------------------------------------------------------------------------------------- */

/* Most names are those of the body itself; the tables for paths and short names are made when one is not. */
static void list_workload(dfl_sema *s, dfl_sized *w)
{
    dfl_build *b = &w->build;

    if (w->listed)
        return;
    dfl_lookup_init(&w->ranks, s->arena, s->names);
    dfl_lookup_init(&w->tensors, s->arena, s->names);
    dfl_lookup_init(&w->heads, s->arena, s->names);
    for (uint32_t i = 0; i < b->ranks.n; i++)
        dfl_lookup_add(&w->ranks, b->ranks.at[i].name, i);
    for (uint32_t i = 0; i < b->tensors.n; i++)
        dfl_lookup_add(&w->tensors, b->tensors.at[i].name, i);
    for (uint32_t i = 1; i < w->instances.n; i++)
        dfl_lookup_add(&w->heads, w->instances.at[i].name, i);
    w->listed = true;
}

static void list_machine(dfl_sema *s, dfl_machine *m)
{
    dfl_lookup_init(&m->memories, s->arena, s->names);
    dfl_lookup_init(&m->computes, s->arena, s->names);
    dfl_lookup_init(&m->axes, s->arena, s->names);
    for (size_t i = 0; i < m->sys.parts.n; i++) {
        const dfl_sys_part *p = &m->sys.parts.at[i];
        dfl_lookup *l = p->kind == DFL_PART_MEMORY ? &m->memories : p->kind == DFL_PART_COMPUTE ? &m->computes
                            : p->kind == DFL_PART_AXIS ? &m->axes : NULL;

        if (l != NULL)
            dfl_lookup_add(l, p->name, p->id);
    }
    m->listed = true;
}

const dfl_lookup *dfl_draft_tensors(dfl_draft *d)
{
    list_workload(d->s, d->w);
    return &d->w->tensors;
}

void dfl_draft_list(dfl_draft *d)
{
    dfl_build *b = &d->w->build;
    uint32_t n = (uint32_t)b->einsums.n;

    if (!d->m->listed)
        list_machine(d->s, d->m);
    d->n_einsums = n;
    d->final = DFL_NEW_ARRAY(d->s->arena, uint32_t, n + 1);
    d->text = DFL_NEW_ARRAY(d->s->arena, uint32_t, n + 1);
    d->instance_of = DFL_NEW_ARRAY(d->s->arena, uint32_t, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = b->order != NULL ? b->order[i] : i;

        d->text[i] = at;
        d->final[at] = i;
        d->instance_of[i] = b->einsums.at[at].instance;
    }
}

/* ---- bindings ------------------------------------------------------------------------------------------------- */

/* What a `use` binds the first name of a path to; NULL if it does not. */
static const dfl_ast_path *bound_to(const dfl_place_in *p, const dfl_ast_path *path)
{
    if (p->bindings == NULL)
        return NULL;
    for (const dfl_ast_node *b = p->bindings->binds; b != NULL; b = b->next)
        if (b->path->text == path->text && b->value != NULL && b->value->kind == DFL_EXPR_PATH)
            return b->value->path;
    return NULL;
}

/* The place in which a bound name is to be read. */
static dfl_place_in outside(const dfl_place_in *p)
{
    dfl_place_in out = *p;

    out.instance = p->bindings->instance;
    out.bindings = p->bindings->outer;
    return out;
}

/* The rest of a path, from the scope of an instance on. */
static const dfl_binding *along(const dfl_binding *b, const dfl_ast_path *path)
{
    for (uint32_t i = 1; i < path->n && b != NULL; i++)
        b = b->instance != NULL ? dfl_scope_find_here(b->instance, path->head[i].sym) : NULL;
    return b;
}

/* A path in the bodies of the instance and of those around it. */
static const dfl_binding *in_instance(const dfl_place_in *p, const dfl_ast_path *path)
{
    const dfl_sized *w = p->d->w;

    for (uint32_t i = p->instance; i != DFL_NONE; i = w->instances.at[i].parent) {
        const dfl_scope *scope = w->instances.at[i].scope;
        const dfl_binding *b = scope != NULL ? along(dfl_scope_find_here(scope, path->head->sym), path) : NULL;

        if (b != NULL && b->kind != DFL_NAMES_VALUE)
            return b;
    }
    return NULL;
}

/* ---- one kind of name ----------------------------------------------------------------------------------------- */

static void report_ambiguous(dfl_place_in *p, const dfl_ast_path *path, const dfl_lookup *l, const dfl_named *f,
                             const char *what)
{
    dfl_diag *d = dfl_report(p->d->s->sink, DFL_NAME_AMBIGUOUS, path->span, "%s `%s` is ambiguous", what,
                             text(p, path->text));

    dfl_diag_help(p->d->s->sink, d, "write `%s` or `%s`", text(p, l->full.at[f->id]), text(p, l->full.at[f->other]));
    p->d->broken = true;
}

/* "`npu` has `row`, `col`": what could be meant, if that is little. */
static void help_names(dfl_place_in *p, dfl_diag *d, const dfl_lookup *l, dfl_sym owner)
{
    dfl_strbuf out;

    if (l->full.n > NAMES)
        return;
    dfl_strbuf_init(&out, p->d->s->arena);
    for (size_t i = 0; i < l->full.n; i++)
        dfl_strbuf_printf(&out, "%s`%s`", i > 0 ? ", " : "", text(p, l->full.at[i]));
    dfl_diag_help(p->d->s->sink, d, "`%s` has %s", text(p, owner), l->full.n > 0 ? out.text : "none");
}

static void report_none(dfl_place_in *p, const dfl_ast_path *path, dfl_lookup *l, dfl_code code, const char *what,
                        const char *owner, dfl_sym owner_name)
{
    dfl_diag *d;
    dfl_sym near;

    p->d->broken = true;
    d = dfl_report(p->d->s->sink, code, path->span, "no %s `%s` in %s `%s`", what, text(p, path->text), owner,
                   text(p, owner_name));
    near = dfl_sink_drops(p->d->s->sink) ? 0 : dfl_lookup_suggest(l, path->text);
    if (near != 0)
        dfl_diag_fix(p->d->s->sink, d, path->span, text(p, near), DFL_FIX_MAYBE);
    else if (!dfl_sink_drops(p->d->s->sink))
        help_names(p, d, l, owner_name);
}

static uint32_t find(dfl_place_in *p, const dfl_ast_path *path, dfl_lookup *l, const char *what)
{
    const dfl_named *f = dfl_lookup_find(l, path->text);

    if (f != NULL && f->ambiguous)
        report_ambiguous(p, path, l, f, what);
    return f == NULL ? DFL_NONE : f->id;
}

/* A rank or a tensor, by its name in the instance, in the bindings of the `use` around, or in the whole workload. */
static uint32_t find_in_workload(dfl_place_in *p, const dfl_ast_path *path, dfl_names_kind kind)
{
    const dfl_ast_path *other = bound_to(p, path);
    bool rank = kind == DFL_NAMES_RANK;
    const char *what = rank ? "rank" : "tensor";
    dfl_sized *w = p->d->w;
    dfl_lookup *names = rank ? &w->ranks : &w->tensors;
    const dfl_binding *b;
    uint32_t id;

    if (other != NULL) {
        dfl_place_in out = outside(p);

        return find_in_workload(&out, other, kind);
    }
    b = in_instance(p, path);
    if (b != NULL && b->kind == kind)
        return b->id;
    list_workload(p->d->s, w);
    id = find(p, path, names, what);
    if (id == DFL_NONE && !w->build.open)
        report_none(p, path, names, rank ? DFL_RANK_UNKNOWN : DFL_NAME_UNKNOWN, what, "workload", w->decl->name);
    return id;
}

uint32_t dfl_draft_rank(dfl_place_in *p, const dfl_ast_path *path)
{
    return find_in_workload(p, path, DFL_NAMES_RANK);
}

uint32_t dfl_draft_tensor(dfl_place_in *p, const dfl_ast_path *path)
{
    return find_in_workload(p, path, DFL_NAMES_TENSOR);
}

static uint32_t find_part(dfl_place_in *p, const dfl_ast_path *path, dfl_lookup *l, const char *what)
{
    const dfl_ast_path *other = bound_to(p, path);
    uint32_t id = find(p, other != NULL ? other : path, l, what);

    if (id == DFL_NONE)
        report_none(p, other != NULL ? other : path, l, DFL_NAME_UNKNOWN, what, "system", p->d->m->decl->name);
    return id;
}

uint32_t dfl_draft_memory(dfl_place_in *p, const dfl_ast_path *path)
{
    return find_part(p, path, &p->d->m->memories, "memory");
}

uint32_t dfl_draft_axis(dfl_place_in *p, const dfl_ast_path *path)
{
    return find_part(p, path, &p->d->m->axes, "axis");
}

uint32_t dfl_draft_compute(dfl_place_in *p, const dfl_ast_path *path)
{
    return find_part(p, path, &p->d->m->computes, "compute unit");
}

/* ---- heads ---------------------------------------------------------------------------------------------------- */

static bool inside(const dfl_sized *w, uint32_t inner, uint32_t outer)
{
    while (inner != outer && inner != DFL_NONE)
        inner = w->instances.at[inner].parent;
    return inner == outer;
}

void dfl_draft_instance_einsums(dfl_draft *d, uint32_t instance, dfl_ids *out)
{
    const dfl_instance *i = &d->w->instances.at[instance];

    /* the statements of an instance, and of all inside it, follow each other in the text */
    for (uint32_t at = i->first_einsum; at < i->last_einsum; at++)
        DFL_PUSH(d->s->arena, out, d->final[at]);
}

static void producers(dfl_draft *d, uint32_t tensor, dfl_ids *out)
{
    for (uint32_t e = d->w->first_use[tensor]; e != 0; e = d->w->next_use[e - 1])
        DFL_PUSH(d->s->arena, out, d->final[e - 1]);
}

/* First producer of every tensor, and the next of the same tensor; both plus 1, 0 ends. */
static void list_producers(dfl_draft *d)
{
    dfl_build *b = &d->w->build;

    d->w->first_use = DFL_NEW_ARRAY(d->s->arena, uint32_t, b->tensors.n + 1);
    d->w->next_use = DFL_NEW_ARRAY(d->s->arena, uint32_t, b->einsums.n + 1);
    for (uint32_t e = (uint32_t)b->einsums.n; e-- > 0;) {
        uint32_t t = b->einsums.at[e].e.output.tensor;

        d->w->next_use[e] = d->w->first_use[t];
        d->w->first_use[t] = e + 1;
    }
}

static bool add_tensor(dfl_place_in *p, const dfl_ast_path *path, uint32_t tensor, dfl_ids *out)
{
    size_t before = out->n;
    dfl_diag *diag;

    if (p->d->w->first_use == NULL)
        list_producers(p->d);
    producers(p->d, tensor, out);
    if (out->n > before)
        return true;
    diag = dfl_report(p->d->s->sink, DFL_NAME_WRONG_KIND, path->span, "no einsum computes `%s`", text(p, path->text));
    dfl_diag_label(p->d->s->sink, diag, p->d->w->build.tensors.at[tensor].span, "it comes from outside");
    p->d->broken = true;
    return false;
}

/* All members of a family: instances "L[0]", "L[1]" of `L`, or tensors. */
static bool add_family(dfl_place_in *p, dfl_sym name, dfl_ids *out)
{
    dfl_sized *w = p->d->w;
    size_t len = strlen(text(p, name)), before = out->n;

    for (uint32_t i = 1; i < w->instances.n; i++)
        if (w->instances.at[i].family == name)
            dfl_draft_instance_einsums(p->d, i, out);
    if (p->d->w->first_use == NULL)
        list_producers(p->d);
    for (uint32_t t = 0; t < w->build.tensors.n && out->n == before; t++) {
        const char *full = text(p, w->build.tensors.at[t].name);

        if (strncmp(full, text(p, name), len) == 0 && full[len] == '[')
            for (uint32_t k = t; k < w->build.tensors.n; k++)
                if (strncmp(text(p, w->build.tensors.at[k].name), text(p, name), len) == 0 &&
                    text(p, w->build.tensors.at[k].name)[len] == '[')
                    producers(p->d, k, out);
    }
    return out->n > before;
}

static dfl_sym with_index(dfl_place_in *p, const dfl_ast_path *path, const dfl_expr *index)
{
    int64_t value;
    bool unknown;

    if (index == NULL)
        return path->text;
    if (!dfl_eval_int(p->d->s, p->scope, index, "an index of a family", INT64_MIN, INT64_MAX, &value, &unknown)) {
        p->d->broken |= !unknown;
        return 0;
    }
    return dfl_intern_z(p->d->s->names, dfl_arena_printf(p->d->s->arena, "%s[%lld]", text(p, path->text),
                                                         (long long)value));
}

static bool report_no_head(dfl_place_in *p, const dfl_ast_path *path)
{
    dfl_sized *w = p->d->w;
    dfl_diag *d;
    dfl_sym near;

    p->d->broken = true;
    if (w->build.open)
        return false;
    d = dfl_report(p->d->s->sink, DFL_NAME_UNKNOWN, path->span, "no einsum or instance `%s` in workload `%s`",
                   text(p, path->text), text(p, w->decl->name));
    if (dfl_sink_drops(p->d->s->sink))
        return false;
    near = dfl_lookup_suggest(&w->tensors, path->text);
    if (near == 0)
        near = dfl_lookup_suggest(&w->heads, path->text);
    if (near != 0)
        dfl_diag_fix(p->d->s->sink, d, path->span, text(p, near), DFL_FIX_MAYBE);
    return false;
}

bool dfl_draft_head(dfl_place_in *p, const dfl_ast_path *path, const dfl_expr *index, dfl_ids *out)
{
    const dfl_ast_path *other = bound_to(p, path);
    dfl_sized *w = p->d->w;
    const dfl_named *tensor, *instance;
    const dfl_binding *b;
    dfl_sym name;

    if (other != NULL) {
        dfl_place_in out_there = outside(p);

        return dfl_draft_head(&out_there, other, index, out);
    }
    name = with_index(p, path, index);
    if (name == 0)
        return false;
    b = index == NULL ? in_instance(p, path) : NULL;
    if (b != NULL && b->kind == DFL_NAMES_TENSOR)
        return add_tensor(p, path, b->id, out);
    if (b != NULL && b->instance != NULL) {
        dfl_draft_instance_einsums(p->d, b->body, out);
        return true;
    }
    list_workload(p->d->s, w);
    tensor = dfl_lookup_find(&w->tensors, name);
    instance = dfl_lookup_find(&w->heads, name);
    if (tensor != NULL && (tensor->exact || instance == NULL || !instance->exact)) {
        if (tensor->ambiguous)
            report_ambiguous(p, path, &w->tensors, tensor, "einsum");
        return add_tensor(p, path, tensor->id, out);
    }
    if (instance != NULL) {
        if (instance->ambiguous) {
            dfl_diag *d = dfl_report(p->d->s->sink, DFL_NAME_AMBIGUOUS, path->span, "instance `%s` is ambiguous",
                                     text(p, name));

            dfl_diag_help(p->d->s->sink, d, "write `%s` or `%s`", text(p, w->instances.at[instance->id].name),
                          text(p, w->instances.at[instance->other].name));
            p->d->broken = true;
        }
        dfl_draft_instance_einsums(p->d, instance->id, out);
        return true;
    }
    return add_family(p, name, out) || report_no_head(p, path);
}

/* ---- each ----------------------------------------------------------------------------------------------------- */

bool dfl_draft_each(dfl_place_in *p, const dfl_ast_path *path, dfl_ids *instances)
{
    dfl_sized *w = p->d->w;
    dfl_decl *wanted = dfl_decl_need(p->d->s, p->unit, path, DFL_AST_WORKLOAD);
    size_t before = instances->n;

    if (wanted == NULL) {
        p->d->broken = true;
        return false;
    }
    for (uint32_t i = 1; i < w->instances.n; i++) {
        const dfl_decl *d = w->instances.at[i].decl;

        while (d != NULL && d != wanted)
            d = d->base;
        if (d != NULL && inside(w, i, p->instance))
            DFL_PUSH(p->d->s->arena, instances, i);
    }
    if (instances->n == before && !w->build.open) {
        dfl_report(p->d->s->sink, DFL_NAME_UNKNOWN, path->span, "workload `%s` applies no `%s` here",
                   text(p, w->decl->name), text(p, path->text));
        p->d->broken = true;
    }
    return instances->n > before;
}

uint32_t dfl_draft_common_instance(dfl_draft *d, const uint32_t *einsums, uint32_t n)
{
    uint32_t common = n > 0 ? d->instance_of[einsums[0]] : 0;

    for (uint32_t i = 1; i < n; i++)
        while (!inside(d->w, d->instance_of[einsums[i]], common))
            common = d->w->instances.at[common].parent;
    return common;
}
