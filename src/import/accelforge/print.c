/* Writes a specification as .dfl text: header, names, workload. */
#include "import/accelforge/print.h"

#include <stdlib.h>
#include <string.h>

#include "import/accelforge/copy.h"
#include "import/accelforge/print_mapping.h"
#include "import/accelforge/print_system.h"

static bool is_mac(const dfl_af_einsum *e, bool reduces)
{
    return e->n_accesses == 3 && reduces;
}

/* Whether the einsum reduces: a variable is not in the output. */
static bool reduces(const dfl_af_einsum *e)
{
    for (uint32_t v = 0; v < e->n_vars; v++) {
        if (dfl_af_relevant(&e->accesses[e->output], v) == DFL_AF_IRRELEVANT)
            return true;
    }
    return false;
}

/* ---- names ---- */

/* Names ranks. Rank variables of equal name and extent become one rank, so that shared loops of the source have one rank. */
static void name_ranks(dfl_af_printer *p, dfl_name_table *names)
{
    const dfl_af_file *f = p->f;
    dfl_arena *arena = f->report->arena;

    p->ranks = DFL_NEW_ARRAY(arena, const char **, f->einsums.n);
    for (uint32_t e = 0; e < f->einsums.n; e++) {
        const dfl_af_einsum *einsum = &f->einsums.at[e];

        p->ranks[e] = DFL_NEW_ARRAY(arena, const char *, einsum->n_vars + 1);
        for (uint32_t v = 0; v < einsum->n_vars && !einsum->left_out; v++) {
            for (uint32_t b = 0; b < e && p->ranks[e][v] == NULL; b++) {
                for (uint32_t w = 0; w < f->einsums.at[b].n_vars && !f->einsums.at[b].left_out; w++) {
                    if (f->einsums.at[b].vars[w].extent == einsum->vars[v].extent &&
                        strcmp(f->einsums.at[b].vars[w].name, einsum->vars[v].name) == 0)
                        p->ranks[e][v] = p->ranks[b][w];
                }
            }
            if (p->ranks[e][v] == NULL)
                p->ranks[e][v] = dfl_name_make(names, einsum->vars[v].name);
        }
    }
}

static void make_names(dfl_af_printer *p)
{
    const dfl_af_file *f = p->f;
    dfl_arena *arena = f->report->arena;
    dfl_name_table work, machine, top;

    dfl_name_table_init(&work, arena);
    dfl_name_table_init(&machine, arena);
    dfl_name_table_init(&top, arena);
    p->workload = dfl_name_make(&top, "einsums");
    p->system = dfl_name_make(&top, "machine");
    p->mapping = dfl_name_make(&top, "mapped");
    p->tensors = DFL_NEW_ARRAY(arena, const char *, f->tensors.n);
    p->nodes = DFL_NEW_ARRAY(arena, const char *, f->nodes.n + 1);
    p->axes = DFL_NEW_ARRAY(arena, const char **, f->nodes.n + 1);
    p->ops = DFL_NEW_ARRAY(arena, const char *, f->einsums.n);
    p->uses = DFL_NEW_ARRAY(arena, uint32_t, f->tensors.n);
    for (uint32_t t = 0; t < f->tensors.n; t++) {
        p->uses[t] = dfl_af_uses(f, t);
        if (dfl_af_root(f, t) == t)
            p->tensors[t] = dfl_name_make(&work, f->tensors.at[t].name);
    }
    for (uint32_t t = 0; t < f->tensors.n; t++)
        p->tensors[t] = p->tensors[dfl_af_root(f, t)];
    name_ranks(p, &work);
    if (f->einsums.at[0].instances > 1)
        p->instance = dfl_name_make(&work, "instance");
    for (uint32_t n = 0; n < f->nodes.n; n++) {
        p->nodes[n] = dfl_name_make(&machine, f->nodes.at[n].name);
        p->axes[n] = DFL_NEW_ARRAY(arena, const char *, f->nodes.at[n].n_axes + 1);
    }
    for (uint32_t n = 0; n < f->nodes.n; n++) {
        for (uint32_t a = 0; a < f->nodes.at[n].n_axes; a++)
            p->axes[n][a] = dfl_name_make(&machine, f->nodes.at[n].axes[a].name);
    }
}

/* ---- workload ---- */

/*
 * Writes ops. The source counts one operation per point. An einsum with another count in DFL applies an op that makes up the
 * difference: 0 FLOP if the reduction already counts one operation per point, else 1 FLOP.
 */
static void print_ops(dfl_af_printer *p)
{
    const dfl_af_file *f = p->f;
    dfl_arena *arena = f->report->arena;

    for (uint32_t e = 0; e < f->einsums.n; e++) {
        const dfl_af_einsum *einsum = &f->einsums.at[e];
        uint32_t operands = einsum->n_accesses - 1;
        bool sums = reduces(einsum), known = false;

        if (einsum->left_out || is_mac(einsum, sums) || (einsum->copy && !sums) || (sums && operands == 1))
            continue;
        p->ops[e] = dfl_arena_printf(arena, "%s%u", sums ? "summand" : "map", (unsigned)operands);
        for (uint32_t b = 0; b < e; b++)
            known |= p->ops[b] != NULL && strcmp(p->ops[b], p->ops[e]) == 0;
        if (known)
            continue;
        dfl_strbuf_printf(&p->out, "op %s(", p->ops[e]);
        for (uint32_t i = 0; i < operands; i++)
            dfl_strbuf_printf(&p->out, "%sx%u", i > 0 ? ", " : "", (unsigned)i);
        dfl_strbuf_printf(&p->out, ") = %dFLOP;\n", sums ? 0 : 1);
    }
}

static void print_index(dfl_af_printer *p, uint32_t e, const dfl_af_dim *dim)
{
    for (uint32_t t = 0; t < dim->n_terms; t++)
        dfl_writer_term(&p->out, t == 0, dim->terms[t].coef, p->ranks[e][dim->terms[t].var]);
    if (dim->n_terms == 0)
        dfl_strbuf_printf(&p->out, "%lld", (long long)dim->offset);
    else if (dim->offset != 0)
        dfl_strbuf_printf(&p->out, " %c %lld", dim->offset < 0 ? '-' : '+', (long long)llabs(dim->offset));
}

static void print_access(dfl_af_printer *p, uint32_t e, const dfl_af_access *a)
{
    dfl_strbuf_printf(&p->out, "%s[", p->tensors[a->tensor]);
    if (p->instance != NULL)
        dfl_strbuf_printf(&p->out, "%s%s", p->instance, a->n_dims > 0 ? ", " : "");
    for (uint32_t d = 0; d < a->n_dims; d++) {
        dfl_strbuf_z(&p->out, d > 0 ? ", " : "");
        print_index(p, e, &a->dims[d]);
    }
    dfl_strbuf_z(&p->out, "]");
}

static void print_type(dfl_af_printer *p, uint32_t tensor)
{
    if (p->f->tensors.at[tensor].bits != p->f->tensors.at[0].bits)
        dfl_strbuf_printf(&p->out, " : bits(%lld)", (long long)p->f->tensors.at[tensor].bits);
}

/* The access of einsum `e` of the result to the tensor, under any of its names; NULL = none. */
static const dfl_af_access *access_in(const dfl_af_file *f, uint32_t e, uint32_t tensor)
{
    const dfl_af_einsum *einsum = &f->einsums.at[e];

    for (uint32_t a = 0; a < einsum->n_accesses && !einsum->left_out; a++) {
        if (dfl_af_root(f, einsum->accesses[a].tensor) == tensor)
            return &einsum->accesses[a];
    }
    return NULL;
}

/* Extent of a dimension: the largest index over all einsums that access the tensor, plus 1. */
static int64_t extent_of(const dfl_af_file *f, uint32_t tensor, uint32_t d)
{
    int64_t most = 1;

    for (uint32_t e = 0; e < f->einsums.n; e++) {
        const dfl_af_access *a = access_in(f, e, tensor);
        int64_t last;

        if (a == NULL || d >= a->n_dims)
            continue;
        last = dfl_af_last_index(&f->einsums.at[e], &a->dims[d]);
        most = last + 1 > most ? last + 1 : most;
    }
    return most;
}

/* Declares a tensor that no einsum computes. */
static void print_input(dfl_af_printer *p, uint32_t tensor)
{
    const dfl_af_tensor *t = &p->f->tensors.at[tensor];
    uint32_t first = 0;
    const dfl_af_einsum *e;
    const dfl_af_access *a;
    const char *comma = "";

    while ((a = access_in(p->f, first, tensor)) == NULL)
        first++;
    e = &p->f->einsums.at[first];
    dfl_strbuf_printf(&p->out, "%s %s[", t->weight || t->persistent ? "weight" : "input", p->tensors[tensor]);
    if (p->instance != NULL) {
        dfl_strbuf_z(&p->out, p->instance);
        comma = ", ";
    }
    for (uint32_t d = 0; d < a->n_dims; d++, comma = ", ") {
        int64_t extent = extent_of(p->f, tensor, d);
        uint32_t var = a->dims[d].n_terms == 1 ? a->dims[d].terms[0].var : DFL_AF_NONE;

        if (var != DFL_AF_NONE && e->vars[var].extent == extent && a->dims[d].terms[0].coef == 1)
            dfl_strbuf_printf(&p->out, "%s%s", comma, p->ranks[first][var]);
        else
            dfl_strbuf_printf(&p->out, "%sdim%u: %lld", comma, (unsigned)d, (long long)extent);
    }
    dfl_strbuf_z(&p->out, "]");
    print_type(p, tensor);
    dfl_strbuf_z(&p->out, ";\n");
}

static void print_einsum(dfl_af_printer *p, uint32_t e)
{
    const dfl_af_einsum *einsum = &p->f->einsums.at[e];
    const dfl_af_access *out = &einsum->accesses[einsum->output];
    const char *between = p->ops[e] != NULL ? ", " : " * ", *sign = "";

    if (p->uses[out->tensor] == 1 || p->f->tensors.at[out->tensor].leaves)
        dfl_strbuf_z(&p->out, "output ");
    print_access(p, e, out);
    print_type(p, out->tensor);
    dfl_strbuf_z(&p->out, reduces(einsum) ? " += " : " = ");
    if (p->ops[e] != NULL)
        dfl_strbuf_printf(&p->out, "%s(", p->ops[e]);
    for (uint32_t a = 0; a < einsum->n_accesses; a++) {
        if (a == einsum->output)
            continue;
        dfl_strbuf_z(&p->out, sign);
        print_access(p, e, &einsum->accesses[a]);
        sign = between;
    }
    dfl_strbuf_z(&p->out, p->ops[e] != NULL ? ");" : ";");
    if (strcmp(einsum->name, p->f->tensors.at[out->tensor].name) != 0)
        dfl_strbuf_printf(&p->out, " // %s", dfl_writer_plain(p->f->report->arena, einsum->name));
    dfl_strbuf_z(&p->out, "\n");
}

static void print_ranks(dfl_af_printer *p)
{
    dfl_list_writer list = dfl_writer_list(&p->out, "rank ");
    dfl_intern *done = dfl_intern_new(p->f->report->arena);

    if (p->instance != NULL) {
        dfl_writer_item(&list);
        dfl_strbuf_printf(&p->out, "%s = %lld", p->instance, (long long)p->f->einsums.at[0].instances);
    }
    for (uint32_t e = 0; e < p->f->einsums.n; e++) {
        for (uint32_t v = 0; v < p->f->einsums.at[e].n_vars && !p->f->einsums.at[e].left_out; v++) {
            const char *name = p->ranks[e][v];

            if (dfl_intern_find(done, name, strlen(name)) != 0)
                continue;
            dfl_intern_z(done, name);
            dfl_writer_item(&list);
            dfl_strbuf_printf(&p->out, "%s = %lld", name, (long long)p->f->einsums.at[e].vars[v].extent);
        }
    }
    dfl_writer_end_list(&list);
}

static void print_workload(dfl_af_printer *p)
{
    print_ops(p);
    dfl_strbuf_printf(&p->out, "workload %s : bits(%lld) {\n", p->workload, (long long)p->f->tensors.at[0].bits);
    print_ranks(p);
    for (uint32_t t = 0; t < p->f->tensors.n; t++) {
        if (p->uses[t] > 0 && !dfl_af_made(p->f, t))
            print_input(p, t);
    }
    for (uint32_t e = 0; e < p->f->einsums.n; e++) {
        if (!p->f->einsums.at[e].left_out)
            print_einsum(p, e);
    }
    dfl_strbuf_z(&p->out, "}\n\n");
}

const char *dfl_af_print(const dfl_af_file *f, const dfl_af_plan *plan, const dfl_source *main, const dfl_loss *losses,
                         size_t n_losses)
{
    dfl_af_printer p = { .f = f, .plan = plan };

    dfl_strbuf_init(&p.out, f->report->arena);
    make_names(&p);
    dfl_strbuf_printf(&p.out, "// Imported from %s, a specification for AccelForge.\n",
                      dfl_writer_base_name(f->report->arena, main));
    dfl_loss_print(f->report, main, losses, n_losses, &p.out);
    dfl_strbuf_z(&p.out, "dfl 1;\n\n");
    print_workload(&p);
    if (f->nodes.n > 0)
        dfl_af_print_system(&p);
    if (f->nodes.n > 0)
        dfl_af_print_mapping(&p);
    return p.out.text;
}
