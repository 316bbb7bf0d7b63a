/* Resolution of names in mappings: ranks and tensors of the workload, parts of the system, heads of branches. */
#include "sema/mapping/mapping_internal.h"

#include <stdlib.h>
#include <string.h>

#include "sema/expr/eval.h"
#include "sema/expr/members.h"
#include "support/limits.h"
#include "support/strbuf.h"

/* The text of a symbol. */
static const char *text(const dfl_mapping_context *ctx, dfl_sym sym)
{
    return dfl_sema_text(ctx->draft->sema, sym);
}

/* Order of numbers, for qsort. */
static int compare_ids(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

void dfl_id_list_sort(dfl_id_list *ids)
{
    size_t n = 0;

    if (ids->n > 1)
        qsort(ids->at, ids->n, sizeof *ids->at, compare_ids);
    for (size_t i = 0; i < ids->n; i++)
        if (n == 0 || ids->at[n - 1] != ids->at[i])
            ids->at[n++] = ids->at[i];
    ids->n = n;
}

/* Fills the lookups of what a training step derives. A name of the text takes precedence over a shortened derived one. */
static void list_derived(dfl_sema *sema, dfl_elaborated_workload *workload)
{
    const dfl_workload_draft *draft = &workload->draft;

    dfl_lookup_init(&workload->derived, sema->arena, sema->names);
    dfl_lookup_init(&workload->updates, sema->arena, sema->names);
    for (uint32_t i = workload->n_written; i < draft->tensors.n && workload->n_written > 0; i++)
        dfl_lookup_add(&workload->derived, draft->tensors.at[i].name, i);
    for (uint32_t i = 0; i < draft->einsums.n; i++)
        if (draft->einsums.at[i].ir.phase == DFL_PHASE_UPDATE)
            dfl_lookup_add(&workload->updates, draft->einsums.at[i].ir.name, i);
}

/* Fills the lookups of the workload when a name is no name of the body itself, which is rare. */
static void list_workload(dfl_sema *sema, dfl_elaborated_workload *workload)
{
    dfl_workload_draft *draft = &workload->draft;

    if (workload->listed)
        return;
    dfl_lookup_init(&workload->ranks, sema->arena, sema->names);
    dfl_lookup_init(&workload->tensors, sema->arena, sema->names);
    dfl_lookup_init(&workload->heads, sema->arena, sema->names);
    for (uint32_t i = 0; i < draft->ranks.n; i++)
        dfl_lookup_add(&workload->ranks, draft->ranks.at[i].name, i);
    for (uint32_t i = 0; i < draft->tensors.n && (workload->n_written == 0 || i < workload->n_written); i++)
        dfl_lookup_add(&workload->tensors, draft->tensors.at[i].name, i);
    list_derived(sema, workload);
    for (uint32_t i = 1; i < workload->instances.n; i++)
        dfl_lookup_add(&workload->heads, workload->instances.at[i].name, i);
    workload->listed = true;
}

/* Fills the lookups of the system on first use. */
static void list_system(dfl_sema *sema, dfl_elaborated_system *system)
{
    dfl_lookup_init(&system->memories, sema->arena, sema->names);
    dfl_lookup_init(&system->computes, sema->arena, sema->names);
    dfl_lookup_init(&system->axes, sema->arena, sema->names);
    for (size_t i = 0; i < system->draft.parts.n; i++) {
        const dfl_draft_part *part = &system->draft.parts.at[i];
        dfl_lookup *lookup = part->kind == DFL_PART_MEMORY    ? &system->memories
                             : part->kind == DFL_PART_COMPUTE ? &system->computes
                             : part->kind == DFL_PART_AXIS    ? &system->axes
                                                              : NULL;

        if (lookup != NULL)
            dfl_lookup_add(lookup, part->name, part->id);
    }
    system->listed = true;
}

const dfl_lookup *dfl_mapping_tensor_names(dfl_mapping_draft *draft)
{
    list_workload(draft->sema, draft->workload);
    return &draft->workload->tensors;
}

void dfl_mapping_number_einsums(dfl_mapping_draft *draft)
{
    dfl_workload_draft *built = &draft->workload->draft;
    uint32_t n = (uint32_t)built->einsums.n;

    if (!draft->system->listed)
        list_system(draft->sema, draft->system);
    draft->n_einsums = n;
    draft->final = DFL_NEW_ARRAY(draft->sema->arena, uint32_t, n + 1);
    draft->text = DFL_NEW_ARRAY(draft->sema->arena, uint32_t, n + 1);
    draft->instance_of = DFL_NEW_ARRAY(draft->sema->arena, uint32_t, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = built->order != NULL ? built->order[i] : i;

        draft->text[i] = at;
        draft->final[at] = i;
        draft->instance_of[i] = built->einsums.at[at].instance;
    }
}

/* The path to which the enclosing `use` binds a path; NULL if it binds none. */
static const dfl_ast_path *find_bound(const dfl_mapping_context *ctx, const dfl_ast_path *path)
{
    if (ctx->bindings == NULL)
        return NULL;
    for (const dfl_ast_node *b = ctx->bindings->binds; b != NULL; b = b->next)
        if (b->path->text == path->text && b->value != NULL && b->value->kind == DFL_EXPR_PATH)
            return b->value->path;
    return NULL;
}

/* The context of the enclosing `use`, which resolves the bound path. */
static dfl_mapping_context outer_context(const dfl_mapping_context *ctx)
{
    dfl_mapping_context out = *ctx;

    out.instance = ctx->bindings->instance;
    out.bindings = ctx->bindings->outer;
    return out;
}

/* Follows the names of a path after the first through the members of instances. NULL if an instance has no such
   member. */
static const dfl_scope_entry *follow_path(const dfl_scope_entry *entry, const dfl_ast_path *path)
{
    for (uint32_t i = 1; i < path->n && entry != NULL; i++)
        entry = entry->members != NULL ? dfl_scope_find_here(entry->members, path->head[i].sym) : NULL;
    return entry;
}

/* The entry of a path in the instance of the context, or else in the nearest enclosing instance; ignores constants. */
static const dfl_scope_entry *find_in_instance(const dfl_mapping_context *ctx, const dfl_ast_path *path)
{
    const dfl_elaborated_workload *workload = ctx->draft->workload;

    for (uint32_t i = ctx->instance; i != DFL_NONE; i = workload->instances.at[i].parent) {
        const dfl_scope *scope = workload->instances.at[i].scope;
        const dfl_scope_entry *entry = scope != NULL ? follow_path(dfl_scope_find_here(scope, path->head->sym), path) : NULL;

        if (entry != NULL && entry->kind != DFL_ENTRY_VALUE)
            return entry;
    }
    return NULL;
}

/* Reports a shortened name that fits several parts. */
static void report_ambiguous(dfl_mapping_draft *draft, const dfl_ast_path *path, const dfl_lookup *lookup,
                             const dfl_lookup_match *match, const char *what)
{
    dfl_sema *sema = draft->sema;
    dfl_diag *d = dfl_report(sema->sink, DFL_NAME_AMBIGUOUS, path->span, "%s `%s` is ambiguous", what,
                             dfl_sema_text(sema, path->text));

    dfl_diag_help(sema->sink, d, "write `%s` or `%s`", dfl_sema_text(sema, lookup->full.at[match->id]),
                  dfl_sema_text(sema, lookup->full.at[match->other]));
    draft->broken = true;
}

bool dfl_mapping_check_shared(dfl_mapping_draft *draft)
{
    const dfl_lookup *ranks = &draft->workload->ranks;

    if (draft->shared != NULL)
        report_ambiguous(draft, draft->shared, ranks, dfl_lookup_find(ranks, draft->shared->text), "rank");
    return draft->shared == NULL;
}

/* Adds the help "`npu` has `row`, `col`" if the names are few. */
static void help_names(dfl_mapping_context *ctx, dfl_diag *d, const dfl_lookup *lookup, dfl_sym owner)
{
    dfl_strbuf out;

    if (lookup->full.n > DFL_SEMA_SHOWN_NAMES)
        return;
    dfl_strbuf_init(&out, ctx->draft->sema->arena);
    for (size_t i = 0; i < lookup->full.n; i++)
        dfl_strbuf_printf(&out, "%s`%s`", i > 0 ? ", " : "", text(ctx, lookup->full.at[i]));
    dfl_diag_help(ctx->draft->sema->sink, d, "`%s` has %s", text(ctx, owner), lookup->full.n > 0 ? out.text : "none");
}

/* What else the system calls so: "a memory"; NULL = nothing. */
static const char *other_kind(dfl_elaborated_system *system, dfl_sym name, const char *wanted)
{
    const struct { dfl_lookup *names; const char *kind; } all[] = {
        { &system->memories, "a memory" }, { &system->axes, "an axis" }, { &system->computes, "a compute unit" },
    };

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (strstr(all[i].kind, wanted) == NULL && dfl_lookup_find(all[i].names, name) != NULL)
            return all[i].kind;
    return NULL;
}

/* Help for a name that the system gives to another kind of part. False if it has none. */
static bool help_other_kind(dfl_mapping_context *ctx, dfl_diag *d, const dfl_ast_path *path, const char *what)
{
    const char *kind = ctx->draft->system == NULL || strcmp(what, "rank") == 0 ? NULL
                       : other_kind(ctx->draft->system, path->text, what);

    if (kind == NULL)
        return false;
    dfl_diag_help(ctx->draft->sema->sink, d, "`%s` is %s: %s", text(ctx, path->text), kind,
                  strcmp(what, "axis") == 0     ? "loops are spread on an axis, `spatial r/K on AXIS;`"
                  : strcmp(what, "memory") == 0 ? "tensors are kept in a memory, `keep TENSOR in MEMORY;`"
                  : strcmp(what, "tensor") == 0 ? "a line is `keep TENSOR in MEMORY;`"
                                                : "einsums run on a compute unit, `on UNIT;`");
    return true;
}

/* Reports a name of no part, with the most similar name. */
static void report_none(dfl_mapping_context *ctx, const dfl_ast_path *path, dfl_lookup *lookup, dfl_code code, const char *what,
                        const char *owner, dfl_sym owner_name)
{
    dfl_diag *d;
    dfl_sym near;

    ctx->draft->broken = true;
    d = dfl_report(ctx->draft->sema->sink, code, path->span, "no %s `%s` in %s `%s`", what, text(ctx, path->text), owner,
                   text(ctx, owner_name));
    near = dfl_sink_drops(ctx->draft->sema->sink) ? 0 : dfl_lookup_suggest(lookup, path->text);
    if (help_other_kind(ctx, d, path, what))
        return;
    if (near != 0)
        dfl_diag_fix(ctx->draft->sema->sink, d, path->span, text(ctx, near), DFL_FIX_MAYBE);
    else if (!dfl_sink_drops(ctx->draft->sema->sink) &&
             (strcmp(what, "tensor") != 0 || !dfl_mapping_help_tensor_group(ctx, d, path)))
        help_names(ctx, d, lookup, owner_name);
}

/* The part that a path names in a lookup; DFL_NONE if there is none; reports nothing. */
static uint32_t find_in_lookup(dfl_mapping_context *ctx, const dfl_ast_path *path, dfl_lookup *lookup, const char *what)
{
    const dfl_lookup_match *match = dfl_lookup_find(lookup, path->text);

    if (match != NULL && match->ambiguous)
        report_ambiguous(ctx->draft, path, lookup, match, what);
    return match == NULL ? DFL_NONE : match->id;
}

/* Whether a name names a family of which a tensor is a member: without the indices of some of its names, the full name of
   the tensor is that of the instance, a dot and the name. */
static bool is_member(const char *tensor, const char *instance, const char *family)
{
    const char *parts[] = { instance, instance[0] != '\0' ? "." : "", family };

    for (size_t i = 0; i < 2; i++) {
        if (strncmp(tensor, parts[i], strlen(parts[i])) != 0)
            return false;
        tensor += strlen(parts[i]);
    }
    while (*tensor != '\0') {
        const char *end = *tensor == '[' && *family != '[' ? strchr(tensor, ']') : NULL;

        if (end == NULL && *tensor != *family)
            return false;
        tensor = end != NULL ? end + 1 : tensor + 1;
        family += end == NULL;
    }
    return *family == '\0';
}

/* Appends the tensors of the family `name` in the instance of the context, or else in the nearest enclosing one. */
static void add_family_tensors(dfl_mapping_context *ctx, dfl_sym name, dfl_id_list *out)
{
    const dfl_elaborated_workload *workload = ctx->draft->workload;
    const size_t before = out->n;

    for (uint32_t i = ctx->instance; i != DFL_NONE && out->n == before; i = workload->instances.at[i].parent) {
        dfl_sym instance = workload->instances.at[i].name;

        for (uint32_t t = 0; t < workload->draft.tensors.n; t++)
            if (is_member(text(ctx, workload->draft.tensors.at[t].name), instance != 0 ? text(ctx, instance) : "",
                          text(ctx, name)))
                DFL_PUSH(ctx->draft->sema->arena, out, t);
    }
}

/* The names that an index of a family completes: s[k - 1].Z. NULL if an index is unknown, or after reporting. */
static const dfl_ast_path *complete_path(dfl_mapping_context *ctx, const dfl_ast_path *written)
{
    const size_t reports = dfl_sink_count(ctx->draft->sema->sink);
    const dfl_ast_path *path = dfl_path_resolve(ctx->draft->sema, ctx->scope, written);

    ctx->draft->broken |= path == NULL && dfl_sink_count(ctx->draft->sema->sink) > reports;
    return path;
}

/* Whether a text ends with a dot and the name. */
static bool is_short_for(const char *full, const char *name)
{
    const size_t n = strlen(full), of = strlen(name);

    return n > of && full[n - of - 1] == '.' && strcmp(full + n - of, name) == 0;
}

/* Appends all ranks of the workload that a short name fits, if it fits several. */
static bool add_shared_ranks(dfl_mapping_context *ctx, const dfl_ast_path *path, dfl_id_list *out)
{
    const dfl_lookup *ranks = &ctx->draft->workload->ranks;
    const dfl_lookup_match *match = dfl_lookup_find(ranks, path->text);

    if (match == NULL || !match->ambiguous)
        return false;
    for (uint32_t i = 0; i < ranks->full.n; i++)
        if (is_short_for(text(ctx, ranks->full.at[i]), text(ctx, path->text)))
            DFL_PUSH(ctx->draft->sema->arena, out, i);
    if (ctx->draft->shared == NULL)
        ctx->draft->shared = path;
    return true;
}

/* Resolves a rank or tensor: through the bindings of the enclosing `use`, else in the instance, else in the whole
   workload. Appends the members of a family of tensors, or the ranks that share a short name, to `family`, unless it is NULL; the
   result is then DFL_NONE. */
static uint32_t find_in_workload(dfl_mapping_context *ctx, const dfl_ast_path *written, dfl_entry_kind kind, dfl_id_list *family)
{
    const dfl_ast_path *path = complete_path(ctx, written);
    const dfl_ast_path *other = path != NULL ? find_bound(ctx, path) : NULL;
    bool rank = kind == DFL_ENTRY_RANK;
    const char *what = rank ? "rank" : "tensor";
    dfl_elaborated_workload *workload = ctx->draft->workload;
    dfl_lookup *names = rank ? &workload->ranks : &workload->tensors;
    const dfl_scope_entry *entry;
    uint32_t id;

    if (path == NULL)
        return DFL_NONE;
    if (other != NULL) {
        dfl_mapping_context out = outer_context(ctx);

        return find_in_workload(&out, other, kind, family);
    }
    entry = find_in_instance(ctx, path);
    if (entry != NULL && entry->kind == kind)
        return entry->id;
    list_workload(ctx->draft->sema, workload);
    if (rank && family != NULL && add_shared_ranks(ctx, path, family))
        return DFL_NONE;
    id = find_in_lookup(ctx, path, names, what);
    if (id == DFL_NONE && !rank)
        id = find_in_lookup(ctx, path, &workload->derived, what);
    if (id == DFL_NONE && !rank && family != NULL)
        add_family_tensors(ctx, path->text, family);
    if (id == DFL_NONE && !rank && family != NULL && family->n == 0 && dfl_mapping_add_tensor_group(ctx, path->text, family))
        return DFL_NONE;
    if (id == DFL_NONE && !workload->draft.partial && (family == NULL || family->n == 0))
        report_none(ctx, path, names, rank ? DFL_RANK_UNKNOWN : DFL_NAME_UNKNOWN, what, "workload", workload->decl->name);
    return id;
}

uint32_t dfl_mapping_find_rank(dfl_mapping_context *ctx, const dfl_ast_path *path)
{
    return find_in_workload(ctx, path, DFL_ENTRY_RANK, NULL);
}

void dfl_mapping_add_ranks(dfl_mapping_context *ctx, const dfl_ast_path *path, dfl_id_list *out)
{
    const uint32_t one = find_in_workload(ctx, path, DFL_ENTRY_RANK, ctx->in_branch ? NULL : out);

    if (one != DFL_NONE)
        DFL_PUSH(ctx->draft->sema->arena, out, one);
}

void dfl_mapping_add_tensors(dfl_mapping_context *ctx, const dfl_ast_path *path, dfl_id_list *out)
{
    uint32_t one = find_in_workload(ctx, path, DFL_ENTRY_TENSOR, out);

    if (one != DFL_NONE)
        DFL_PUSH(ctx->draft->sema->arena, out, one);
}

/* Resolves a part of the system, through the bindings of the enclosing `use`. */
static uint32_t find_part(dfl_mapping_context *ctx, const dfl_ast_path *path, dfl_lookup *lookup, const char *what)
{
    const dfl_ast_path *other = find_bound(ctx, path);
    uint32_t id = find_in_lookup(ctx, other != NULL ? other : path, lookup, what);

    if (id == DFL_NONE)
        report_none(ctx, other != NULL ? other : path, lookup, DFL_NAME_UNKNOWN, what, "system",
                    ctx->draft->system->decl->name);
    return id;
}

uint32_t dfl_mapping_find_memory(dfl_mapping_context *ctx, const dfl_ast_path *path)
{
    return find_part(ctx, path, &ctx->draft->system->memories, "memory");
}

uint32_t dfl_mapping_find_axis(dfl_mapping_context *ctx, const dfl_ast_path *path)
{
    return find_part(ctx, path, &ctx->draft->system->axes, "axis");
}

uint32_t dfl_mapping_find_compute(dfl_mapping_context *ctx, const dfl_ast_path *path)
{
    return find_part(ctx, path, &ctx->draft->system->computes, "compute unit");
}

/* Whether an instance is `outer` or lies inside of it. */
static bool is_inside(const dfl_elaborated_workload *workload, uint32_t inner, uint32_t outer)
{
    while (inner != outer && inner != DFL_NONE)
        inner = workload->instances.at[inner].parent;
    return inner == outer;
}

void dfl_mapping_add_instance(dfl_mapping_draft *draft, uint32_t instance, dfl_id_list *out)
{
    const dfl_instance *i = &draft->workload->instances.at[instance];

    /* The einsums of an instance and of the instances inside of it are adjacent in the text. */
    for (uint32_t at = i->first_einsum; at < i->last_einsum; at++)
        DFL_PUSH(draft->sema->arena, out, draft->final[at]);
}

/* Appends the producers of a tensor, if it has any. */
static void add_producers(dfl_mapping_draft *draft, uint32_t tensor, dfl_id_list *out)
{
    for (uint32_t e = draft->workload->first_producer[tensor]; e != 0; e = draft->workload->next_producer[e - 1])
        DFL_PUSH(draft->sema->arena, out, draft->final[e - 1]);
}

/* Links the producers of every tensor to a list. */
static void list_producers(dfl_mapping_draft *draft)
{
    dfl_workload_draft *built = &draft->workload->draft;

    draft->workload->first_producer = DFL_NEW_ARRAY(draft->sema->arena, uint32_t, built->tensors.n + 1);
    draft->workload->next_producer = DFL_NEW_ARRAY(draft->sema->arena, uint32_t, built->einsums.n + 1);
    for (uint32_t e = (uint32_t)built->einsums.n; e-- > 0;) {
        uint32_t t = built->einsums.at[e].ir.output.tensor;

        draft->workload->next_producer[e] = draft->workload->first_producer[t];
        draft->workload->first_producer[t] = e + 1;
    }
}

/* Appends the producers of a tensor that a head names. False after reporting that the tensor has no producer. */
static bool add_tensor(dfl_mapping_context *ctx, const dfl_ast_path *path, uint32_t tensor, dfl_id_list *out)
{
    size_t before = out->n;
    dfl_diag *diag;

    if (ctx->draft->workload->first_producer == NULL)
        list_producers(ctx->draft);
    add_producers(ctx->draft, tensor, out);
    if (out->n > before)
        return true;
    diag =
        dfl_report(ctx->draft->sema->sink, DFL_NAME_WRONG_KIND, path->span, "no einsum computes `%s`", text(ctx, path->text));
    dfl_diag_label(ctx->draft->sema->sink, diag, ctx->draft->workload->draft.tensors.at[tensor].span, "it comes from outside");
    ctx->draft->broken = true;
    return false;
}

/* Appends the einsums of the family `L`: those of the instances "L[0]", "L[1]", or else of the tensors with these
   names. */
static bool add_family(dfl_mapping_context *ctx, dfl_sym name, dfl_id_list *out)
{
    dfl_elaborated_workload *workload = ctx->draft->workload;
    dfl_id_list tensors = { 0 };
    size_t before = out->n;

    for (uint32_t i = 1; i < workload->instances.n; i++)
        if (workload->instances.at[i].family == name)
            dfl_mapping_add_instance(ctx->draft, i, out);
    if (ctx->draft->workload->first_producer == NULL)
        list_producers(ctx->draft);
    if (out->n == before)
        add_family_tensors(ctx, name, &tensors);
    for (size_t i = 0; i < tensors.n; i++)
        add_producers(ctx->draft, tensors.at[i], out);
    return out->n > before;
}

/* Reports a head that names neither an einsum nor an instance. Returns false. */
static bool report_no_head(dfl_mapping_context *ctx, const dfl_ast_path *path)
{
    dfl_elaborated_workload *workload = ctx->draft->workload;
    dfl_diag *d;
    dfl_sym near;

    ctx->draft->broken = true;
    if (workload->draft.partial)
        return false;
    d = dfl_report(ctx->draft->sema->sink, DFL_NAME_UNKNOWN, path->span, "no einsum or instance `%s` in workload `%s`",
                   text(ctx, path->text), text(ctx, workload->decl->name));
    if (dfl_sink_drops(ctx->draft->sema->sink))
        return false;
    near = dfl_lookup_suggest(&workload->tensors, path->text);
    if (near == 0)
        near = dfl_lookup_suggest(&workload->heads, path->text);
    if (near != 0)
        dfl_diag_fix(ctx->draft->sema->sink, d, path->span, text(ctx, near), DFL_FIX_MAYBE);
    return false;
}

/* Splits the number off the name of one producer of a tensor with several, "T#2" or "T#2[0]". 0 if the name has no number. */
static uint32_t split_number(dfl_mapping_context *ctx, const dfl_ast_path *path, dfl_ast_path *tensor)
{
    dfl_sema *sema = ctx->draft->sema;
    const char *last = text(ctx, dfl_path_last(path)->sym), *mark = strchr(last, '#');
    const char *whole = text(ctx, path->text);
    char *index = NULL; /* indices behind the number: "[0]" */
    unsigned long number = mark != NULL ? strtoul(mark + 1, &index, 10) : 0;

    if (number == 0 || number > UINT32_MAX)
        return 0;
    *tensor = *path;
    tensor->head = DFL_NEW_ARRAY(sema->arena, dfl_ast_name, path->n);
    memcpy(tensor->head, path->head, path->n * sizeof *path->head);
    tensor->head[path->n - 1].sym = dfl_intern_z(sema->names, dfl_arena_printf(sema->arena, "%.*s%s", (int)(mark - last), last,
                                                                               index));
    tensor->text = dfl_intern_z(sema->names, dfl_arena_printf(sema->arena, "%.*s%s", (int)(strlen(whole) - strlen(mark)), whole,
                                                              index));
    return (uint32_t)number;
}

/* Appends producer number `number` of the tensor that `tensor` names. False after reporting that there is none. */
static bool add_producer(dfl_mapping_context *ctx, const dfl_ast_path *path, const dfl_ast_path *tensor, uint32_t number,
                         dfl_id_list *out)
{
    dfl_id_list all = { 0 };
    dfl_diag *d;

    if (!dfl_mapping_add_head(ctx, tensor, &all))
        return false;
    dfl_id_list_sort(&all);
    if (number <= all.n) {
        DFL_PUSH(ctx->draft->sema->arena, out, all.at[number - 1]);
        return true;
    }
    d = dfl_report(ctx->draft->sema->sink, DFL_NAME_UNKNOWN, path->span, "no einsum `%s`", text(ctx, path->text));
    dfl_diag_here(ctx->draft->sema->sink, d, "`%s` has %zu producer%s", text(ctx, tensor->text), all.n, all.n == 1 ? "" : "s");
    ctx->draft->broken = true;
    return false;
}

/* Appends the derived einsums of a training step that a head names: those of `grad.T`, or `update.W`. */
static bool add_derived(dfl_mapping_context *ctx, const dfl_ast_path *path, dfl_id_list *out)
{
    dfl_elaborated_workload *workload = ctx->draft->workload;
    uint32_t update = find_in_lookup(ctx, path, &workload->updates, "einsum");
    uint32_t tensor = update == DFL_NONE ? find_in_lookup(ctx, path, &workload->derived, "einsum") : DFL_NONE;

    if (update != DFL_NONE)
        DFL_PUSH(ctx->draft->sema->arena, out, ctx->draft->final[update]);
    return update != DFL_NONE || (tensor != DFL_NONE && add_tensor(ctx, path, tensor, out));
}

bool dfl_mapping_add_head(dfl_mapping_context *ctx, const dfl_ast_path *written, dfl_id_list *out)
{
    const dfl_ast_path *path = complete_path(ctx, written);
    const dfl_ast_path *other = path != NULL ? find_bound(ctx, path) : NULL;
    dfl_elaborated_workload *workload = ctx->draft->workload;
    const dfl_lookup_match *tensor, *instance;
    const dfl_scope_entry *entry;
    dfl_ast_path numbered;
    dfl_sym name;

    if (path == NULL)
        return false;
    if (other != NULL) {
        dfl_mapping_context outside = outer_context(ctx);

        return dfl_mapping_add_head(&outside, other, out);
    }
    uint32_t number = split_number(ctx, path, &numbered);
    if (number != 0)
        return add_producer(ctx, path, &numbered, number, out);
    name = path->text;
    entry = find_in_instance(ctx, path);
    if (entry != NULL && entry->kind == DFL_ENTRY_TENSOR)
        return add_tensor(ctx, path, entry->id, out);
    if (entry != NULL && entry->members != NULL) {
        dfl_mapping_add_instance(ctx->draft, entry->instance, out);
        return true;
    }
    list_workload(ctx->draft->sema, workload);
    tensor = dfl_lookup_find(&workload->tensors, name);
    instance = dfl_lookup_find(&workload->heads, name);
    if (tensor != NULL && (tensor->exact || instance == NULL || !instance->exact)) {
        if (tensor->ambiguous)
            report_ambiguous(ctx->draft, path, &workload->tensors, tensor, "einsum");
        return add_tensor(ctx, path, tensor->id, out);
    }
    if (instance != NULL) {
        if (instance->ambiguous) {
            dfl_diag *d = dfl_report(ctx->draft->sema->sink, DFL_NAME_AMBIGUOUS, path->span, "instance `%s` is ambiguous",
                                     text(ctx, name));

            dfl_diag_help(ctx->draft->sema->sink, d, "write `%s` or `%s`", text(ctx, workload->instances.at[instance->id].name),
                          text(ctx, workload->instances.at[instance->other].name));
            ctx->draft->broken = true;
        }
        dfl_mapping_add_instance(ctx->draft, instance->id, out);
        return true;
    }
    return add_derived(ctx, path, out) || add_family(ctx, name, out) || dfl_mapping_add_einsum_group(ctx, name, out) ||
           report_no_head(ctx, path);
}

bool dfl_mapping_find_applied(dfl_mapping_context *ctx, const dfl_ast_path *path, dfl_id_list *instances)
{
    dfl_elaborated_workload *workload = ctx->draft->workload;
    dfl_decl *wanted = dfl_decl_need(ctx->draft->sema, ctx->module, path, DFL_AST_WORKLOAD);
    size_t before = instances->n;

    if (wanted == NULL) {
        ctx->draft->broken = true;
        return false;
    }
    for (uint32_t i = 1; i < workload->instances.n; i++) {
        const dfl_decl *decl = workload->instances.at[i].decl;

        while (decl != NULL && decl != wanted)
            decl = decl->base;
        if (decl != NULL && is_inside(workload, i, ctx->instance))
            DFL_PUSH(ctx->draft->sema->arena, instances, i);
    }
    if (instances->n == before && !workload->draft.partial) {
        dfl_report(ctx->draft->sema->sink, DFL_NAME_UNKNOWN, path->span, "workload `%s` applies no `%s` here",
                   text(ctx, workload->decl->name), text(ctx, path->text));
        ctx->draft->broken = true;
    }
    return instances->n > before;
}

uint32_t dfl_mapping_common_instance(dfl_mapping_draft *draft, const uint32_t *einsums, uint32_t n)
{
    uint32_t common = n > 0 ? draft->instance_of[einsums[0]] : 0;

    for (uint32_t i = 1; i < n; i++)
        while (!is_inside(draft->workload, draft->instance_of[einsums[i]], common))
            common = draft->workload->instances.at[common].parent;
    return common;
}
