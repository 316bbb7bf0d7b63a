/* Shrinks a failing case: tries one simplification after another and keeps each with which the case fails in the same way. */
#include <stdlib.h>
#include <string.h>

#include "tests/property/case.h"

/* ---- removing parts ---------------------------------------------------------------------------------------------- */

static void remove_body(dfl_case *c, uint32_t body)
{
    for (uint32_t b = body; b + 1 < c->n_bodies; b++)
        c->bodies[b] = c->bodies[b + 1];
    c->n_bodies--;
    for (uint32_t b = 0; b < c->n_bodies; b++)
        if (c->bodies[b].parent != DFL_NONE && c->bodies[b].parent > body)
            c->bodies[b].parent--;
}

/* Moves the lines of an only child into its branch. */
static bool merge_only_child(dfl_case *c, uint32_t body)
{
    uint32_t child = DFL_NONE, n = 0;
    case_body *to = &c->bodies[body];

    for (uint32_t b = body + 1; b < c->n_bodies; b++)
        if (c->bodies[b].parent == body) {
            child = b;
            n++;
        }
    if (n != 1 || to->n_lines + c->bodies[child].n_lines > CASE_LINES)
        return false;
    memcpy(to->lines + to->n_lines, c->bodies[child].lines, c->bodies[child].n_lines * sizeof *to->lines);
    to->n_lines += c->bodies[child].n_lines;
    to->kind = c->bodies[child].kind;
    to->einsum = c->bodies[child].einsum;
    to->recompute |= c->bodies[child].recompute;
    for (uint32_t b = 0; b < c->n_bodies; b++)
        if (c->bodies[b].parent == child)
            c->bodies[b].parent = body;
    remove_body(c, child);
    return true;
}

static bool is_used(const dfl_case *c, uint32_t tensor)
{
    bool used = false;

    for (uint32_t e = 0; e < c->n_einsums; e++) {
        used |= c->einsums[e].out.tensor == tensor;
        for (uint32_t i = 0; i < c->einsums[e].n_in; i++)
            used |= c->einsums[e].in[i].tensor == tensor;
    }
    return used;
}

static void remove_line(dfl_case *c, uint32_t body, uint32_t line)
{
    case_body *b = &c->bodies[body];

    memmove(b->lines + line, b->lines + line + 1, (b->n_lines - line - 1) * sizeof *b->lines);
    b->n_lines--;
}

static void remove_tensor(dfl_case *c, uint32_t tensor)
{
    for (uint32_t b = 0; b < c->n_bodies; b++) {
        for (uint32_t i = c->bodies[b].n_lines; i-- > 0;) {
            case_line *l = &c->bodies[b].lines[i];
            if (l->kind == DFL_LINE_KEEP && l->tensor == tensor)
                remove_line(c, b, i);
            else if (l->kind == DFL_LINE_KEEP && l->tensor > tensor)
                l->tensor--;
        }
        uint32_t low = c->bodies[b].recompute & ((1u << tensor) - 1);
        c->bodies[b].recompute = low | (c->bodies[b].recompute >> (tensor + 1) << tensor);
    }
    for (uint32_t e = 0; e < c->n_einsums; e++) {
        c->einsums[e].out.tensor -= c->einsums[e].out.tensor > tensor;
        for (uint32_t i = 0; i < c->einsums[e].n_in; i++)
            c->einsums[e].in[i].tensor -= c->einsums[e].in[i].tensor > tensor;
    }
    memmove(c->tensors + tensor, c->tensors + tensor + 1, (c->n_tensors - tensor - 1) * sizeof *c->tensors);
    c->n_tensors--;
}

bool case_remove_einsum(dfl_case *c, uint32_t einsum)
{
    if (c->n_einsums < 2)
        return false;
    for (uint32_t b = c->n_bodies; b-- > 1;) {
        if (c->bodies[b].kind == DFL_BODY_LEAF && c->bodies[b].einsum == einsum)
            remove_body(c, b);
    }
    for (uint32_t b = 0; b < c->n_bodies; b++) {
        if (c->bodies[b].kind == DFL_BODY_LEAF && c->bodies[b].einsum > einsum)
            c->bodies[b].einsum--;
        for (uint32_t i = 0; i < c->bodies[b].n_lines; i++) {
            uint32_t *only = &c->bodies[b].lines[i].only, low = *only & ((1u << einsum) - 1);
            *only = low | (*only >> (einsum + 1) << einsum);
        }
    }
    memmove(c->einsums + einsum, c->einsums + einsum + 1, (c->n_einsums - einsum - 1) * sizeof *c->einsums);
    c->n_einsums--;
    for (uint32_t t = c->n_tensors; t-- > 0;)
        if (!is_used(c, t))
            remove_tensor(c, t);
    /* the tensor that the einsum produced becomes an input */
    for (uint32_t t = 0; t < c->n_tensors; t++) {
        bool produced = false;
        for (uint32_t e = 0; e < c->n_einsums; e++)
            produced |= c->einsums[e].out.tensor == t;
        if (!produced && c->tensors[t].role != DFL_ROLE_WEIGHT)
            c->tensors[t].role = DFL_ROLE_INPUT;
    }
    case_set_roles(c);
    for (uint32_t b = c->n_bodies; b-- > 0;)
        if (c->bodies[b].kind != DFL_BODY_LEAF)
            merge_only_child(c, b);
    return true;
}

static void set_extent(dfl_case *c, uint32_t rank, int64_t extent)
{
    c->ranks[rank].extent = extent;
    for (uint32_t e = 0; e < c->n_einsums; e++) {
        const case_access *a = &c->einsums[e].out;
        for (uint32_t d = 0; d < c->tensors[a->tensor].n_dims; d++)
            if (a->index[d].n_terms == 1 && a->index[d].rank[0] == rank)
                c->tensors[a->tensor].extents[d] = extent;
    }
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* Simplification number `step` of the case: false when it changes nothing, and sets `*end` when there are no more. */
static bool simplify_line(case_line *l, uint32_t how)
{
    case_line was = *l;

    switch (how) {
    case 0:
        l->mode = DFL_KEEP_EXACT;
        break;
    case 1:
        l->only = 0;
        break;
    case 2:
        l->online = false;
        break;
    case 3:
        l->amount = l->kind == DFL_LINE_KEEP ? 0 : l->amount > 2 ? 2 : l->amount;
        break;
    case 4:
        l->amount = l->kind == DFL_LINE_KEEP ? 0 : l->by == DFL_BY_SIZE ? 1 : l->amount - 1;
        break;
    case 5:
        l->memory = l->kind == DFL_LINE_KEEP && l->memory > 0 ? l->memory - 1 : l->memory;
        break;
    default:
        return false;
    }
    return memcmp(&was, l, sizeof was) != 0 && (l->kind == DFL_LINE_KEEP || l->amount > 0);
}

static bool simplify_index(case_index *x)
{
    if (x->offset != 0) {
        x->offset = 0;
        return true;
    }
    for (uint32_t t = 0; t < x->n_terms; t++)
        if (x->coef[t] != 1) {
            x->coef[t] = 1;
            return true;
        }
    return false;
}

static bool apply(dfl_case *c, uint32_t step, bool *end)
{
    enum { LINE_WAYS = 6 };

    if (step < c->n_einsums)
        return case_remove_einsum(c, c->n_einsums - 1 - step);
    step -= c->n_einsums;
    for (uint32_t b = 0; b < c->n_bodies; b++) {
        if (step < c->bodies[b].n_lines) {
            remove_line(c, b, step);
            return true;
        }
        step -= c->bodies[b].n_lines;
    }
    if (step < 3 * c->n_ranks) {
        int64_t now = c->ranks[step / 3].extent, then = step % 3 == 0 ? 1 : step % 3 == 1 ? now / 2 : now - 1;
        set_extent(c, step / 3, then > 0 ? then : 1);
        return then > 0 && then < now;
    }
    step -= 3 * c->n_ranks;
    for (uint32_t b = 0; b < c->n_bodies; b++) {
        if (step < LINE_WAYS * c->bodies[b].n_lines)
            return simplify_line(&c->bodies[b].lines[step / LINE_WAYS], step % LINE_WAYS);
        step -= LINE_WAYS * c->bodies[b].n_lines;
        if (step-- == 0)
            return c->bodies[b].recompute && (c->bodies[b].recompute &= c->bodies[b].recompute - 1, true);
        if (step-- == 0)
            return c->bodies[b].kind != DFL_BODY_LEAF && merge_only_child(c, b);
        if (step-- == 0)
            return c->bodies[b].kind == DFL_BODY_PIPELINE && (c->bodies[b].kind = DFL_BODY_FUSE, true);
    }
    for (uint32_t a = 0; a < c->n_axes; a++) {
        case_axis *x = &c->axes[a];
        if (step-- == 0)
            return x->multicast != CASE_NO && (x->multicast = CASE_NO, true);
        if (step-- == 0)
            return x->reduce != CASE_NO && (x->reduce = CASE_NO, true);
        if (step-- == 0)
            return x->forward && (x->forward = false, true);
        if (step-- == 0)
            return x->multicast > CASE_ALL && (x->multicast = CASE_ALL, true);
        if (step-- == 0)
            return x->reduce > CASE_ALL && (x->reduce = CASE_ALL, true);
    }
    if (step-- == 0)
        return c->one_network && (c->one_network = false, true);
    for (uint32_t i = 1; i < c->n_elements; i++)
        if (step-- == 0)
            return c->networks[i] != CASE_BUS && c->networks[i] != CASE_WIRELESS && (c->networks[i] = CASE_BUS, true);
    for (uint32_t m = 0; m < c->n_memories; m++)
        if (step-- == 0)
            return (c->memories[m].access != 0 && (c->memories[m].access = 0, true)) ||
                   (c->memories[m].buffers != 1 && (c->memories[m].buffers = 1, true));
    for (uint32_t u = 0; u < c->n_units; u++)
        if (step-- == 0)
            return c->units[u].reuse != CASE_NO && (c->units[u].reuse = CASE_NO, true);
    for (uint32_t t = 0; t < c->n_tensors; t++)
        if (step-- == 0)
            return c->tensors[t].bits != 8 && (c->tensors[t].bits = 8, true);
    for (uint32_t e = 0; e < c->n_einsums; e++)
        for (uint32_t i = 0; i < c->einsums[e].n_in; i++)
            for (uint32_t d = 0; d < c->tensors[c->einsums[e].in[i].tensor].n_dims; d++)
                if (step-- == 0)
                    return simplify_index(&c->einsums[e].in[i].index[d]);
    for (uint32_t t = 0; t < c->n_tensors; t++)
        for (uint32_t d = 0; c->tensors[t].role < DFL_ROLE_STATE && d < c->tensors[t].n_dims; d++)
            if (step-- == 0 && c->tensors[t].role != DFL_ROLE_INTERMEDIATE)
                return c->tensors[t].extents[d] > 1 && c->tensors[t].extents[d]--;
    *end = true;
    return false;
}

/* The kind of the failure, without numbers and names: the words of the message up to the first ` of ` or backquote. */
static size_t kind_of(const char *why)
{
    const char *of = strstr(why, " of "), *quote = strchr(why, '`');
    size_t n = strlen(why);

    if (of)
        n = (size_t)(of - why);
    if (quote && (size_t)(quote - why) < n)
        n = (size_t)(quote - why);
    return n;
}

bool case_shrink(dfl_case *c, case_report *out)
{
    enum { TRIES = 3000 };
    dfl_case *smaller = malloc(sizeof *smaller);
    uint32_t tries = 0;

    if (!smaller)
        abort();
    case_compare(c, out);
    for (bool progress = out->verdict == CASE_DIFFERS; progress;) {
        bool end = false;
        progress = false;
        for (uint32_t step = 0; !end && tries < TRIES; step++) {
            case_report report;
            *smaller = *c;
            if (!apply(smaller, step, &end))
                continue;
            tries++;
            case_compare(smaller, &report);
            if (report.verdict != CASE_DIFFERS || kind_of(report.why) != kind_of(out->why) ||
                strncmp(report.why, out->why, kind_of(out->why)) != 0)
                continue;
            *c = *smaller;
            *out = report;
            progress = true;
            step = DFL_NONE;
        }
    }
    free(smaller);
    return out->verdict == CASE_DIFFERS;
}
