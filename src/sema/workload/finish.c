/* Completion of a draft: roles and data types of tensors, redefinitions, names of einsums, lowering. */
#include "sema/workload/workload_internal.h"

#include <string.h>

#include "lint/workload.h"
#include "support/limits.h"

/* The accesses of einsums to tensors; the arrays are indexed by tensor. */
typedef struct {
    bool *produced, *read;     /* some einsum writes the tensor; some einsum reads it */
    uint32_t *writer, *reader; /* first einsum that writes the tensor; first einsum that reads it */
} tensor_usage;

/* The text of a symbol. */
static const char *text(const dfl_workload_draft *draft, dfl_sym sym)
{
    return dfl_sym_text(draft->names, sym);
}

/* Finds the einsums that write and read each tensor. */
static tensor_usage find_usage(dfl_workload_draft *draft)
{
    size_t n = draft->tensors.n + 1;
    tensor_usage usage = { DFL_NEW_ARRAY(draft->arena, bool, n), DFL_NEW_ARRAY(draft->arena, bool, n),
                           DFL_NEW_ARRAY(draft->arena, uint32_t, n), DFL_NEW_ARRAY(draft->arena, uint32_t, n) };

    for (uint32_t e = (uint32_t)draft->einsums.n; e-- > 0;) {
        const dfl_einsum *einsum = &draft->einsums.at[e].ir;

        usage.produced[einsum->output.tensor] = true;
        usage.writer[einsum->output.tensor] = e;
        for (uint32_t i = 0; i < einsum->n_inputs; i++) {
            usage.read[einsum->inputs[i].tensor] = true;
            usage.reader[einsum->inputs[i].tensor] = e;
        }
    }
    return usage;
}

/* Makes a tensor that is read, but neither produced nor declared, an input; reports the tensor if its name looks
   misspelt. */
static void check_implicit_input(dfl_workload_draft *draft, uint32_t tensor, const dfl_sym *known, size_t n)
{
    dfl_draft_tensor *t = &draft->tensors.at[tensor];
    dfl_sym near;
    dfl_diag *d;

    if (!dfl_budget_spend(dfl_arena_budget(draft->arena), n / DFL_SEMA_NAMES_PER_STEP))
        return;
    near = dfl_suggest(draft->names, text(draft, t->name), known, n);
    if (near == 0)
        return;
    d = dfl_report(draft->sink, DFL_NAME_UNKNOWN, t->span, "no tensor `%s` in workload `%s`", text(draft, t->name),
                   text(draft, draft->name));
    dfl_diag_help(draft->sink, d, "did you mean `%s`? A new input is declared: `input %s[...]`", text(draft, near),
                  text(draft, t->name));
    dfl_diag_fix(draft->sink, d, t->span, text(draft, near), DFL_FIX_MAYBE);
    draft->broken = true;
}

/* The role of a tensor: the stated one, or the one that follows from its producers and readers. */
static dfl_role derive_role(const dfl_draft_tensor *tensor, bool produced, bool read)
{
    if (tensor->has_role)
        return tensor->role;
    if (!produced)
        return DFL_ROLE_INPUT;
    return read ? DFL_ROLE_INTERMEDIATE : DFL_ROLE_OUTPUT;
}

/* Adds to a report how an output without an einsum is made: by a read of a tensor of that name in an `apply` or a `repeat`, if
   there is one. */
static void help_unproduced(dfl_workload_draft *draft, const tensor_usage *usage, const dfl_draft_tensor *output, dfl_diag *d)
{
    const char *name = text(draft, output->name);

    for (uint32_t i = 0; i < draft->tensors.n; i++) {
        const char *full = text(draft, draft->tensors.at[i].name), *last = strrchr(full, '.');

        if (usage->produced[i] && last != NULL && strcmp(last + 1, name) == 0) {
            dfl_diag_help(draft->sink, d, "`%s` is produced: with its indices, write `output %s[...] = %s[...];`",
                          full, name, full);
            return;
        }
    }
    dfl_diag_help(draft->sink, d, "write an einsum with `%s` on its left side", name);
}

/* Reports roles that the producers of a tensor contradict. */
static void check_roles(dfl_workload_draft *draft, const tensor_usage *usage)
{
    dfl_sym *known = DFL_NEW_ARRAY(draft->arena, dfl_sym, draft->tensors.n);
    size_t n_known = 0;

    for (uint32_t i = 0; i < draft->tensors.n; i++)
        if (draft->tensors.at[i].has_role || usage->produced[i])
            known[n_known++] = draft->tensors.at[i].name;
    for (uint32_t i = 0; i < draft->tensors.n; i++) {
        const dfl_draft_tensor *tensor = &draft->tensors.at[i];
        bool given = tensor->has_role && (tensor->role == DFL_ROLE_INPUT || tensor->role == DFL_ROLE_WEIGHT);
        dfl_diag *d;

        if (given && usage->produced[i]) {
            const char *role = tensor->role == DFL_ROLE_INPUT ? "input" : "weight";

            d = dfl_report(draft->sink, DFL_TENSOR_INPUT_PRODUCED, draft->einsums.at[usage->writer[i]].ir.span,
                           "%s `%s` cannot be produced", role, text(draft, tensor->name));
            dfl_diag_label(draft->sink, d, tensor->span, "declared `%s` here", role);
            dfl_diag_help(draft->sink, d, "remove `%s`, or declare it `state` if it persists and is updated", role);
            draft->broken = true;
        } else if (tensor->has_role && tensor->role == DFL_ROLE_OUTPUT && !usage->produced[i] && !tensor->broken) {
            d = dfl_report(draft->sink, DFL_TENSOR_NEVER_PRODUCED, tensor->span, "output `%s` is never produced",
                           text(draft, tensor->name));
            help_unproduced(draft, usage, tensor, d);
            draft->broken = true;
        } else if (!tensor->has_role && usage->read[i] && !usage->produced[i] && !tensor->broken && !draft->partial) {
            check_implicit_input(draft, i, known, n_known);
        }
    }
}

/* Reports a tensor without a data type. */
static void check_types(dfl_workload_draft *draft)
{
    for (size_t i = 0; i < draft->tensors.n; i++) {
        const dfl_draft_tensor *tensor = &draft->tensors.at[i];
        dfl_diag *d;

        if (tensor->type.name != 0 || tensor->broken)
            continue;
        d = dfl_report(draft->sink, DFL_TYPE_UNKNOWN, tensor->span, "`%s` has no data type", text(draft, tensor->name));
        dfl_diag_help(draft->sink, d, "give the workload a default, as in `workload %s(...) : bf16`", text(draft, draft->name));
        draft->broken = true;
        return; /* one report is enough: a default type mends all tensors */
    }
}

/* Raises the lint unused-rank. */
static void lint_ranks(dfl_workload_draft *draft)
{
    for (size_t i = 0; i < draft->ranks.n && draft->lints != NULL && !draft->partial; i++) {
        const dfl_draft_rank *r = &draft->ranks.at[i];

        if (!r->used && !r->silent && dfl_workload_draft_lints(draft, r->span))
            dfl_lint_unused_rank(draft->sink, draft->lints, r->span, text(draft, r->name));
    }
}

/* Raises the lint unused-tensor. */
static void lint_tensors(dfl_workload_draft *draft, const tensor_usage *usage)
{
    for (size_t t = 0; t < draft->tensors.n && draft->lints != NULL && !draft->partial; t++) {
        const dfl_draft_tensor *x = &draft->tensors.at[t];

        if (x->declared && x->has_role && x->role == DFL_ROLE_INPUT && !x->broken && !usage->read[t] &&
            dfl_workload_draft_lints(draft, x->span))
            dfl_lint_unused_tensor(draft->sink, draft->lints, x->span, text(draft, x->name));
    }
}

/* Reports a tensor whose shape or type differs from that of a claim. */
static void check_claim(dfl_workload_draft *draft, const dfl_draft_tensor *tensor, const dfl_shape_claim *claim)
{
    const int64_t *extents = tensor->extents + tensor->n_lead;
    const char *name = text(draft, tensor->name), *formal = text(draft, claim->formal);
    uint32_t n = tensor->n_dims - tensor->n_lead;
    dfl_diag *d = NULL;

    if (n != claim->n_dims)
        d = dfl_report(draft->sink, DFL_TENSOR_DIMENSIONS, claim->span,
                       "`%s` stands for `%s`, but has %u dimension%s instead of %u", name, formal, n, n == 1 ? "" : "s",
                       claim->n_dims);
    for (uint32_t k = 0; d == NULL && k < n; k++)
        if (extents[k] > 0 && claim->extents[k] > 0 && extents[k] != claim->extents[k])
            d = dfl_report(draft->sink, DFL_TENSOR_SHAPE_CONFLICT, claim->span,
                           "`%s` stands for `%s`, but dimension %u has %lld elements instead of %lld", name, formal,
                           k + 1, (long long)extents[k], (long long)claim->extents[k]);
    if (d == NULL && tensor->type.name != 0 && claim->type.name != 0 && tensor->type.name != claim->type.name)
        d = dfl_report(draft->sink, DFL_TENSOR_TYPE_CONFLICT, claim->span, "`%s` stands for `%s`, but is %s instead of %s",
                       name, formal, text(draft, tensor->type.name), text(draft, claim->type.name));
    if (d != NULL && dfl_sink_last(draft->sink) == DFL_TENSOR_TYPE_CONFLICT)
        dfl_diag_help(draft->sink, d, "convert it by an einsum, `T[m, n] : %s = %s[m, n];`, and give `T` for `%s`",
                      text(draft, claim->type.name), name, formal);
    if (d != NULL) {
        dfl_diag_label(draft->sink, d, tensor->span, "`%s` comes from here", name);
        draft->broken = true;
    }
}

/* Checks all claims; a claim that names another tensor is checked with the shape and type of this tensor. */
static void check_claims(dfl_workload_draft *draft)
{
    for (size_t i = 0; i < draft->claims.n; i++) {
        dfl_shape_claim claim = draft->claims.at[i];
        const dfl_draft_tensor *tensor = &draft->tensors.at[claim.tensor];

        if (claim.like != DFL_NONE) {
            const dfl_draft_tensor *like = &draft->tensors.at[claim.like];

            claim.n_dims = like->broken ? tensor->n_dims - tensor->n_lead : like->n_dims - like->n_lead;
            claim.extents = like->extents + like->n_lead;
            claim.type = like->type;
        }
        if (!tensor->broken && (claim.like == DFL_NONE || !draft->tensors.at[claim.like].broken))
            check_claim(draft, tensor, &claim);
    }
}

/* Reports a second `=` to the elements of a tensor, also after a `+=` to them: the first result would be lost. */
static void check_redefined(dfl_workload_draft *draft)
{
    uint32_t *last = DFL_NEW_ARRAY(draft->arena, uint32_t, draft->tensors.n + 1);

    for (uint32_t e = 0; e < draft->einsums.n; e++) {
        const dfl_draft_einsum *einsum = &draft->einsums.at[e];
        uint32_t t = einsum->ir.output.tensor, before = last[t];
        const dfl_einsum *old = before > 0 ? &draft->einsums.at[before - 1].ir : NULL;
        bool apart = old == NULL || einsum->ir.reduce != DFL_REDUCE_NONE || draft->tensors.at[t].role == DFL_ROLE_STATE;
        dfl_diag *d;

        last[t] = e + 1;
        for (uint32_t dim = 0; !apart && dim < einsum->ir.output.n_dims && dim < old->output.n_dims; dim++) {
            int64_t low, high, old_low, old_high;

            apart = einsum->vague || draft->einsums.at[before - 1].vague ||
                    !dfl_workload_index_range(draft, &einsum->ir.output.index[dim], &low, &high) ||
                    !dfl_workload_index_range(draft, &old->output.index[dim], &old_low, &old_high) || low > old_high ||
                    high < old_low;
        }
        if (apart || einsum->ir.n_where > 0)
            continue;
        d = dfl_report(draft->sink, DFL_TENSOR_REDEFINED, einsum->ir.span, "`%s` is defined twice",
                       text(draft, draft->tensors.at[t].name));
        dfl_diag_label(draft->sink, d, old->span, "first defined here");
        dfl_diag_help(draft->sink, d, "name the second result differently, or accumulate with `+=`");
        draft->broken = true;
    }
}

/* An einsum has the name of its result. The second einsum of a tensor T has the name "T#2". */
static void name_einsums(dfl_workload_draft *draft, dfl_einsum *einsums, size_t n)
{
    uint32_t *count = DFL_NEW_ARRAY(draft->arena, uint32_t, draft->tensors.n + 1);

    for (size_t e = 0; e < n; e++) {
        uint32_t t = einsums[e].output.tensor;

        einsums[e].name = draft->tensors.at[t].name;
        if (++count[t] > 1)
            einsums[e].name = dfl_intern_z(
                draft->new_names, dfl_arena_printf(draft->arena, "%s#%u", text(draft, draft->tensors.at[t].name), count[t]));
    }
}

/* Makes the tensors of the workload, without their producers and consumers. */
static dfl_tensor *lower_tensors(dfl_workload_draft *draft, const tensor_usage *usage)
{
    dfl_tensor *out = DFL_NEW_ARRAY(draft->arena, dfl_tensor, draft->tensors.n);

    for (uint32_t t = 0; t < draft->tensors.n; t++) {
        const dfl_draft_tensor *from = &draft->tensors.at[t];

        out[t] = (dfl_tensor){ .name = from->name, .span = from->span, .type = from->type, .n_dims = from->n_dims,
                               .role = derive_role(from, usage->produced[t], usage->read[t]), .extents = from->extents,
                               .table = DFL_NONE, .stored = -1, .of = DFL_NONE };
    }
    return out;
}

/* ---- gathers ---- */

static bool has_rank_outside(const dfl_einsum *einsum, const dfl_index *index)
{
    for (uint32_t t = 0; t < index->n_terms; t++)
        if (!dfl_einsum_has_rank(einsum, index->terms[t].rank))
            return true;
    return false;
}

/* Makes the tensor of the rows that one `gather` reads, and the access to it. Its first dimensions are those of the
   positions; the dimensions of the table that the data select are left out, and so are those that a dimension of the
   positions already determines. */
static void make_rows(dfl_workload_draft *draft, const dfl_einsum *einsum, const dfl_access *position, const dfl_tensor *at,
                      const dfl_tensor *table, dfl_access *access, dfl_tensor *rows)
{
    uint32_t most = position->n_dims + access->n_dims, n = 0;
    int64_t *extents = DFL_NEW_ARRAY(draft->arena, int64_t, most + 1);
    dfl_index *index = DFL_NEW_ARRAY(draft->arena, dfl_index, most + 1);

    for (uint32_t d = 0; d < position->n_dims; d++, n++) {
        index[n] = position->index[d];
        extents[n] = at->extents[d];
    }
    for (uint32_t d = 0; d < access->n_dims; d++) {
        bool known = has_rank_outside(einsum, &access->index[d]);
        for (uint32_t i = 0; i < position->n_dims; i++)
            known |= dfl_index_equal(&access->index[d], &position->index[i]);
        if (known)
            continue;
        index[n] = access->index[d];
        extents[n++] = table->extents[d];
    }
    rows->n_table_dims = table->n_dims;
    rows->table_extents = table->extents;
    rows->table_index = access->index;
    access->index = index;
    access->n_dims = n;
    rows->extents = extents;
    rows->n_dims = n;
    rows->gathered = true;
}

/* Number of accesses of all einsums to a tensor. */
static uint32_t count_accesses(const dfl_einsum *einsums, size_t n, uint32_t tensor)
{
    uint32_t found = 0;

    for (size_t e = 0; e < n; e++) {
        found += einsums[e].output.tensor == tensor;
        for (uint32_t i = 0; i < einsums[e].n_inputs; i++)
            found += einsums[e].inputs[i].tensor == tensor;
    }
    return found;
}

/* Replaces the tables of gathers by tensors of the rows that they read. The rows take the place of a table that nothing
   else reads. Other rows are new tensors at the end of the list; they occupy no room beside the table at home. */
static dfl_tensor *lower_gathers(dfl_workload_draft *draft, const uint32_t *order, dfl_einsum *einsums, dfl_tensor *tensors,
                                 uint32_t *n_tensors)
{
    size_t n = draft->einsums.n, most = draft->tensors.n;
    dfl_tensor *all;

    for (size_t e = 0; e < n; e++)
        most += draft->einsums.at[order[e]].n_gathers;
    if (most == draft->tensors.n)
        return tensors;
    all = DFL_NEW_ARRAY(draft->arena, dfl_tensor, most);
    memcpy(all, tensors, draft->tensors.n * sizeof *all);
    for (size_t e = 0; e < n; e++) {
        const dfl_draft_einsum *from = &draft->einsums.at[order[e]];
        dfl_access *inputs;
        if (from->n_gathers == 0)
            continue;
        inputs = DFL_NEW_ARRAY(draft->arena, dfl_access, einsums[e].n_inputs);
        memcpy(inputs, einsums[e].inputs, einsums[e].n_inputs * sizeof *inputs);
        for (uint32_t g = 0; g < from->n_gathers; g++) {
            dfl_access *access = &inputs[from->gathers[g].row];
            const dfl_access *position = &einsums[e].inputs[from->gathers[g].position];
            uint32_t table = access->tensor;
            dfl_tensor rows = all[table];
            rows.stored = 0;
            make_rows(draft, &einsums[e], position, &tensors[position->tensor], &tensors[table], access, &rows);
            rows.table = table;
            if (count_accesses(einsums, n, table) == 1 && !dfl_tensor_elements(&tensors[table], &rows.stored)) {
                all[table] = rows;
                continue;
            }
            rows.name = dfl_intern_z(draft->new_names, dfl_arena_printf(draft->arena, "%s@%s", text(draft, rows.name),
                                                                        text(draft, einsums[e].name)));
            access->tensor = *n_tensors;
            all[(*n_tensors)++] = rows;
        }
        einsums[e].inputs = inputs;
    }
    return all;
}

/* Lists the producers and consumers of every tensor: counts them first, then fills arrays. */
static void link_tensors(dfl_workload_draft *draft, const dfl_einsum *einsums, size_t n, dfl_tensor *tensors,
                         size_t n_tensors)
{
    uint32_t *made = DFL_NEW_ARRAY(draft->arena, uint32_t, n_tensors + 1);
    uint32_t *used = DFL_NEW_ARRAY(draft->arena, uint32_t, n_tensors + 1);
    uint32_t **producers = DFL_NEW_ARRAY(draft->arena, uint32_t *, n_tensors + 1);
    uint32_t **consumers = DFL_NEW_ARRAY(draft->arena, uint32_t *, n_tensors + 1);

    for (int fill = 0; fill < 2; fill++) {
        for (size_t t = 0; t < n_tensors && fill; t++) {
            tensors[t].producers = producers[t] = DFL_NEW_ARRAY(draft->arena, uint32_t, made[t]);
            tensors[t].consumers = consumers[t] = DFL_NEW_ARRAY(draft->arena, uint32_t, used[t]);
        }
        for (size_t e = 0; e < n; e++) {
            uint32_t out = einsums[e].output.tensor;

            if (fill)
                producers[out][tensors[out].n_producers++] = (uint32_t)e;
            else
                made[out]++;
            for (uint32_t i = 0; i < einsums[e].n_inputs; i++) {
                uint32_t t = einsums[e].inputs[i].tensor;

                if (!fill)
                    used[t]++;
                else if (tensors[t].n_consumers == 0 || consumers[t][tensors[t].n_consumers - 1] != e)
                    consumers[t][tensors[t].n_consumers++] = (uint32_t)e;
            }
        }
    }
}

/* Reports sizes and numbers of operations that exceed 128 bits. */
static bool check_counts(dfl_workload_draft *draft, const dfl_workload *workload)
{
    dfl_i128 n, m;

    for (uint32_t t = 0; t < workload->n_tensors && !draft->broken; t++)
        if (dfl_tensor_elements(&workload->tensors[t], &n) || dfl_mul(n, workload->tensors[t].type.bits, &m)) {
            dfl_report(draft->sink, DFL_EVAL_OVERFLOW, workload->tensors[t].span, "`%s` has more bits than 128 bits can count",
                       text(draft, workload->tensors[t].name));
            draft->broken = true;
        }
    for (uint32_t e = 0; e < workload->n_einsums && !draft->broken; e++)
        if (dfl_einsum_points(workload, &workload->einsums[e], &n) || dfl_mul(n, workload->einsums[e].flops_per_point, &m)) {
            dfl_report(draft->sink, DFL_EVAL_OVERFLOW, workload->einsums[e].span,
                       "`%s` has more operations than 128 bits can count", text(draft, workload->einsums[e].name));
            draft->broken = true;
        }
    return !draft->broken;
}

/* Makes the workload, with its einsums in the given order. NULL after reporting. */
static const dfl_workload *lower(dfl_workload_draft *draft, const uint32_t *order, const tensor_usage *usage)
{
    dfl_workload *workload = DFL_NEW(draft->arena, dfl_workload);
    dfl_einsum *einsums = DFL_NEW_ARRAY(draft->arena, dfl_einsum, draft->einsums.n);
    dfl_rank *ranks = DFL_NEW_ARRAY(draft->arena, dfl_rank, draft->ranks.n);
    dfl_tensor *tensors;
    uint32_t n_tensors;

    for (size_t e = 0; e < draft->einsums.n; e++)
        einsums[e] = draft->einsums.at[order[e]].ir;
    for (size_t r = 0; r < draft->ranks.n; r++)
        ranks[r] = (dfl_rank){ draft->ranks.at[r].name, draft->ranks.at[r].span, draft->ranks.at[r].extent };
    name_einsums(draft, einsums, draft->einsums.n);
    n_tensors = (uint32_t)draft->tensors.n;
    tensors = lower_gathers(draft, order, einsums, lower_tensors(draft, usage), &n_tensors);
    link_tensors(draft, einsums, draft->einsums.n, tensors, n_tensors);
    *workload = (dfl_workload){ .name = draft->name, .span = draft->span, .ranks = ranks, .n_ranks = (uint32_t)draft->ranks.n,
                                .tensors = tensors, .n_tensors = n_tensors, .einsums = einsums,
                                .n_einsums = (uint32_t)draft->einsums.n, .carries = draft->carries.at,
                                .n_carries = (uint32_t)draft->carries.n };
    for (uint32_t t = 0; t < n_tensors; t++)
        workload->has_gathered |= tensors[t].gathered;
    return check_counts(draft, workload) ? workload : NULL;
}

const dfl_workload *dfl_workload_finish(dfl_workload_draft *draft, bool typed)
{
    tensor_usage usage = find_usage(draft);

    check_roles(draft, &usage);
    dfl_workload_derive_shapes(draft, usage.produced);
    check_claims(draft);
    check_redefined(draft);
    if (!draft->broken) {
        lint_ranks(draft);
        lint_tensors(draft, &usage);
    }
    if (typed && !draft->broken)
        check_types(draft);
    draft->order = dfl_workload_schedule(draft);
    if (draft->order == NULL || draft->broken || draft->unsized || !dfl_workload_draft_within_budget(draft))
        return NULL;
    return lower(draft, draft->order, &usage);
}
