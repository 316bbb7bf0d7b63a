/* Prints a case as a .dfl file. */
#include "tests/property/case.h"

static const char *set_text(case_set set)
{
    switch (set) {
    case CASE_NO:
    case CASE_ALL:
        break;
    case CASE_INPUTS_ONLY:
        return "(input)";
    case CASE_WEIGHTS_ONLY:
        return "(weight)";
    case CASE_OUTPUTS_ONLY:
        return "(output)";
    }
    return "";
}

static void print_index(const dfl_case *c, const case_index *x, FILE *out)
{
    bool first = true;

    for (uint32_t t = 0; t < x->n_terms; t++, first = false) {
        int64_t coef = x->coef[t];
        fprintf(out, "%s", coef < 0 ? (first ? "-" : " - ") : (first ? "" : " + "));
        coef = coef < 0 ? -coef : coef;
        if (coef != 1)
            fprintf(out, "%lld*", (long long)coef);
        fprintf(out, "%s", c->ranks[x->rank[t]].name);
    }
    if (x->offset != 0 || first)
        fprintf(out, first ? "%s%lld" : " %s %lld", x->offset < 0 ? "-" : first ? "" : "+",
                (long long)(x->offset < 0 ? -x->offset : x->offset));
}

static void print_access(const dfl_case *c, const case_access *a, FILE *out)
{
    fprintf(out, "%s[", c->tensors[a->tensor].name);
    for (uint32_t d = 0; d < c->tensors[a->tensor].n_dims; d++) {
        fprintf(out, "%s", d ? ", " : "");
        print_index(c, &a->index[d], out);
    }
    fprintf(out, "]");
}

static void print_workload(const dfl_case *c, FILE *out)
{
    fprintf(out, "workload w : i8 {\n  rank ");
    for (uint32_t r = 0; r < c->n_ranks; r++)
        fprintf(out, "%s%s = %lld", r ? ", " : "", c->ranks[r].name, (long long)c->ranks[r].extent);
    fprintf(out, ";\n");
    for (uint32_t t = 0; t < c->n_tensors; t++) {
        const case_tensor *x = &c->tensors[t];
        if (x->role != DFL_ROLE_INPUT && x->role != DFL_ROLE_WEIGHT && x->role != DFL_ROLE_STATE)
            continue;
        fprintf(out, "  %s %s[", x->role == DFL_ROLE_INPUT ? "input" : x->role == DFL_ROLE_STATE ? "state" : "weight", x->name);
        for (uint32_t d = 0; d < x->n_dims; d++)
            fprintf(out, "%sd%u: %lld", d ? ", " : "", d, (long long)x->extents[d]);
        fprintf(out, "] : bits(%u);\n", x->bits);
    }
    for (uint32_t e = 0; e < c->n_einsums; e++) {
        static const char *const op[] = { "=", "+=", "max=", "min=" };
        const case_einsum *x = &c->einsums[e];
        const case_tensor *t = &c->tensors[x->out.tensor];
        fprintf(out, "  %s", t->role == DFL_ROLE_OUTPUT ? "output " : "");
        print_access(c, &x->out, out);
        if (t->role != DFL_ROLE_STATE)
            fprintf(out, " : bits(%u)", t->bits);
        fprintf(out, " %s %s", op[x->reduce], x->whole ? "scan(" : "");
        for (uint32_t i = 0; i < x->n_in; i++) {
            fprintf(out, "%s", i ? " * " : "");
            print_access(c, &x->in[i], out);
        }
        if (x->whole)
            fprintf(out, ") over %s", c->ranks[x->over].name);
        for (uint32_t i = 0; i < x->n_where; i++) {
            fprintf(out, "%s", i ? " && " : " where ");
            print_index(c, &x->where[i], out);
            fprintf(out, " >= 0");
        }
        fprintf(out, ";\n");
    }
    fprintf(out, "}\n\n");
}

/* The element that declares the network of the axes of an element. */
static uint32_t network_of(const dfl_case *c, uint32_t element) { return element == 2 && c->one_network ? 1 : element; }

static void print_sets(const dfl_case *c, uint32_t element, const char *what, bool reduce, FILE *out)
{
    bool any = false;

    for (uint32_t a = 0; a < c->n_axes; a++) {
        case_set set = reduce ? c->axes[a].reduce : c->axes[a].multicast;
        if (network_of(c, c->axes[a].element) != element || set == CASE_NO)
            continue;
        fprintf(out, "%s%s%s", any ? ", " : what, c->axes[a].name, set_text(set));
        any = true;
    }
    fprintf(out, "%s", any ? "; " : "");
}

static void print_network(const dfl_case *c, uint32_t element, int indent, FILE *out)
{
    bool forward = false;

    fprintf(out, "%*snetwork net%u = %s { ", indent, "", element, case_network_names[c->networks[element]]);
    print_sets(c, element, "multicast = ", false, out);
    print_sets(c, element, "reduce = ", true, out);
    for (uint32_t a = 0; a < c->n_axes; a++)
        if (network_of(c, c->axes[a].element) == element && c->axes[a].forward) {
            fprintf(out, "%s%s", forward ? ", " : "forward = ", c->axes[a].name);
            forward = true;
        }
    fprintf(out, "%s}\n", forward ? "; " : "");
}

static void print_system(const dfl_case *c, FILE *out)
{
    fprintf(out, "system s {\n  clock = 1GHz;\n");
    for (uint32_t i = 0; i < c->n_elements; i++) {
        int indent = 2 + 2 * (int)i;
        bool axes = false;
        if (i > 0) {
            if (c->networks[i] != CASE_WIRELESS && network_of(c, i) == i)
                print_network(c, i, indent - 2, out);
            fprintf(out, "%*sarray ", indent - 2, "");
            for (uint32_t a = 0; a < c->n_axes; a++)
                if (c->axes[a].element == i) {
                    fprintf(out, "%s%s[%lld]", axes ? ", " : "", c->axes[a].name, (long long)c->axes[a].size);
                    axes = true;
                }
            if (c->networks[network_of(c, i)] != CASE_WIRELESS)
                fprintf(out, " over net%u", network_of(c, i));
            fprintf(out, " {\n");
        }
        for (uint32_t m = 0; m < c->n_memories; m++)
            if (c->memories[m].element == i) {
                fprintf(out, "%*smemory %s { size = unlimited; ", indent, "", c->memories[m].name);
                if (c->memories[m].access != 0)
                    fprintf(out, "access = %lldbit; ", (long long)c->memories[m].access);
                if (c->memories[m].buffers != 1)
                    fprintf(out, "buffers = %lld; ", (long long)c->memories[m].buffers);
                fprintf(out, "}\n");
            }
        for (uint32_t u = 0; u < c->n_units; u++)
            if (c->units[u].element == i) {
                static const char *const reuse[] = { "", "all", "input", "weight", "output" };
                fprintf(out, "%*scompute %s { rate = 1FLOP/cycle; ", indent, "", c->units[u].name);
                if (c->units[u].reuse != CASE_NO)
                    fprintf(out, "operand_reuse = %s; ", reuse[c->units[u].reuse]);
                fprintf(out, "}\n");
            }
    }
    for (uint32_t i = c->n_elements; i-- > 0;)
        fprintf(out, "%*s}\n", 2 * (int)i, "");
    fprintf(out, "\n");
}

static void print_line(const dfl_case *c, const case_line *l, int indent, FILE *out)
{
    const char *mode = l->mode == DFL_KEEP_FRESH ? " fresh" : l->mode == DFL_KEEP_WINDOW ? " window" : "";
    bool any = false;

    if (l->kind == DFL_LINE_KEEP) {
        fprintf(out, "%*skeep %s in %s%s;\n", indent, "", c->tensors[l->tensor].name, c->memories[l->memory].name, mode);
        return;
    }
    fprintf(out, "%*s%s %s", indent, "", l->kind == DFL_LINE_SPATIAL ? "spatial" : "temporal", c->ranks[l->rank].name);
    if (l->by == DFL_BY_PARTS)
        fprintf(out, "/%lld", (long long)l->amount);
    else if (l->amount != 1)
        fprintf(out, ":%lld", (long long)l->amount);
    if (l->kind == DFL_LINE_SPATIAL)
        fprintf(out, " on %s", c->axes[l->axis].name);
    for (uint32_t e = 0; e < c->n_einsums; e++)
        if (l->only >> e & 1) {
            fprintf(out, "%s%s", any ? ", " : " for ", c->tensors[c->einsums[e].out.tensor].name);
            any = true;
        }
    fprintf(out, "%s;\n", l->online ? " online" : "");
}

/* Names the einsums below a body. */
static void print_head(const dfl_case *c, uint32_t body, bool *first, FILE *out)
{
    if (c->bodies[body].kind == DFL_BODY_LEAF) {
        fprintf(out, "%s%s", *first ? "" : ", ", c->tensors[c->einsums[c->bodies[body].einsum].out.tensor].name);
        *first = false;
    }
    for (uint32_t b = body + 1; b < c->n_bodies; b++)
        if (c->bodies[b].parent == body)
            print_head(c, b, first, out);
}

static void print_body(const dfl_case *c, uint32_t body, int indent, FILE *out)
{
    const case_body *b = &c->bodies[body];

    if (b->unit != DFL_NONE)
        fprintf(out, "%*son %s;\n", indent, "", c->units[b->unit].name);
    for (uint32_t i = 0; i < b->n_lines; i++)
        print_line(c, &b->lines[i], indent, out);
    for (uint32_t t = 0; t < c->n_tensors; t++)
        if (b->recompute >> t & 1)
            fprintf(out, "%*srecompute %s;\n", indent, "", c->tensors[t].name);
    if (b->kind == DFL_BODY_LEAF)
        return;
    fprintf(out, "%*s%s {\n", indent, "", b->kind == DFL_BODY_FUSE ? "fuse" : "pipeline");
    for (uint32_t i = body + 1; i < c->n_bodies; i++) {
        bool first = true;
        if (c->bodies[i].parent != body)
            continue;
        fprintf(out, "%*s", indent + 2, "");
        print_head(c, i, &first, out);
        fprintf(out, " {\n");
        print_body(c, i, indent + 4, out);
        fprintf(out, "%*s}\n", indent + 2, "");
    }
    fprintf(out, "%*s}\n", indent, "");
}

void case_print(const dfl_case *c, FILE *out)
{
    fprintf(out, "dfl 1;\n\n");
    for (uint32_t e = 0, any = 0; e < c->n_einsums; any |= c->einsums[e++].whole)
        if (c->einsums[e].whole && !any)
            fprintf(out, "op scan(x) over r = 1FLOP;\n\n");
    print_workload(c, out);
    print_system(c, out);
    fprintf(out, "mapping m for w on s {\n");
    print_body(c, 0, 2, out);
    fprintf(out, "}\n");
}
