/* Printer of mappings in the language, of checks, and of whole programs. */
#include "ir/print_mapping.h"

#include <string.h>

#include "ir/print_check.h"

typedef struct {
    dfl_strbuf *out;
    const dfl_intern *names;
    const dfl_mapping *m;
    unsigned indent;              /* blanks per level */
} printer;

static void name(const printer *p, dfl_sym sym)
{
    dfl_strbuf_z(p->out, dfl_sym_text(p->names, sym));
}

static void print_indent(const printer *p, uint32_t depth)
{
    dfl_strbuf_printf(p->out, "%*s", (int)(depth * p->indent), "");
}

static void print_hole(const printer *p, const dfl_hole *h)
{
    dfl_strbuf_z(p->out, h->by == DFL_BY_PARTS ? "/?" : ":?");
    for (uint32_t i = 0; i < h->n_choices; i++) {
        dfl_strbuf_z(p->out, i == 0 ? " in {" : ", ");
        dfl_strbuf_i128(p->out, h->choices[i]);
    }
    dfl_strbuf_z(p->out, h->n_choices > 0 ? "}" : "");
}

/* The decision of number `number`, if it is open; NULL = the value is written. */
static const dfl_decision *find_open(const printer *p, uint32_t number)
{
    return number > 0 && p->m->decided == NULL ? &p->m->decisions[number - 1] : NULL;
}

/* Prints the `?` of an open decision with its values. */
static void print_values(const printer *p, const dfl_decision *open)
{
    dfl_strbuf_char(p->out, '?');
    for (uint32_t i = 0; i < open->n; i++) {
        dfl_strbuf_z(p->out, i == 0 ? " in {" : ", ");
        if (open->kind == DFL_DECISION_SCHEDULE)
            dfl_strbuf_z(p->out, dfl_schedule_name((dfl_schedule)open->values[i]));
        else if (open->kind == DFL_DECISION_RANK)
            name(p, p->m->workload->ranks[open->values[i]].name);
        else
            dfl_strbuf_i128(p->out, open->values[i]);
    }
    dfl_strbuf_z(p->out, open->n > 0 ? "}" : "");
}

/* A tile of 1 is printed if it was written or left open. If the text has the `:1`, the loop need not be the last loop
   over its rank. */
static void print_loop(const printer *p, const dfl_line *l)
{
    bool bare = l->amount_span.start == l->span.start && l->amount_span.end == l->span.end;

    if (find_open(p, l->rank_decision) != NULL)
        print_values(p, find_open(p, l->rank_decision));
    else
        name(p, p->m->workload->ranks[l->rank].name);
    if (l->by == DFL_BY_HOLE) {
        print_hole(p, l->hole);
    } else if (l->by == DFL_BY_PARTS || l->amount != 1 || l->cyclic || !bare) {
        dfl_strbuf_char(p->out, l->by == DFL_BY_PARTS ? '/' : ':');
        dfl_strbuf_i128(p->out, l->amount);
    }
    if (l->cyclic)
        dfl_strbuf_z(p->out, " cyclic");
}

/* Whether lines `a` and `b`, in this order, can be parts of one statement. */
static bool joins(const dfl_line *a, const dfl_line *b)
{
    if (a->kind != b->kind || a->splits != b->splits || a->stages != b->stages)
        return false;
    if ((a->n_splits > 0 || a->stages != NULL) && a->statement != b->statement)
        return false;
    if (a->kind == DFL_LINE_TEMPORAL)
        return !a->online && !b->online;
    if (a->kind == DFL_LINE_KEEP)
        return a->memory == b->memory && a->memory_decision == b->memory_decision && a->mode == b->mode;
    return a->only == NULL && b->only == NULL;
}

static void print_only(const printer *p, const dfl_line *l)
{
    for (uint32_t i = 0; i < l->n_only; i++) {
        dfl_strbuf_z(p->out, i == 0 ? " for " : ", ");
        name(p, p->m->workload->einsums[l->only[i]].name);
    }
}

static void print_stages(const printer *p, const dfl_stages *stages)
{
    const dfl_decision *schedule = find_open(p, stages->schedule_decision);
    const dfl_decision *interleave = find_open(p, stages->interleave_decision);

    dfl_strbuf_z(p->out, " pipeline(schedule = ");
    if (schedule != NULL)
        print_values(p, schedule);
    else
        dfl_strbuf_z(p->out, dfl_schedule_name(stages->schedule));
    dfl_strbuf_z(p->out, ", interleave = ");
    if (interleave != NULL)
        print_values(p, interleave);
    else
        dfl_strbuf_i128(p->out, stages->interleave);
    dfl_strbuf_char(p->out, ')');
}

/* Prints the sets of tensors that an open decision may recompute. */
static void print_sets(const printer *p, const dfl_decision *open, uint32_t depth)
{
    print_indent(p, depth);
    dfl_strbuf_z(p->out, "recompute ");
    for (uint32_t i = 0; i < open->n; i++) {
        dfl_strbuf_z(p->out, i > 0 ? " | " : "");
        dfl_strbuf_z(p->out, open->sets[i].n == 0 ? "none" : "");
        for (uint32_t k = 0; k < open->sets[i].n; k++) {
            dfl_strbuf_z(p->out, k > 0 ? ", " : "");
            name(p, p->m->workload->tensors[open->sets[i].tensors[k]].name);
        }
    }
    dfl_strbuf_z(p->out, ";\n");
}

/* Prints the memories of which an open decision takes one. */
static void print_homes(const printer *p, const dfl_decision *open)
{
    for (uint32_t i = 0; i < open->n; i++) {
        dfl_strbuf_z(p->out, i > 0 ? " | " : "");
        name(p, p->m->system->memories[open->values[i]].name);
    }
}

/* Prints the end of a group of lines in one statement: the axis, memory or mode of all lines of the group. */
static void print_group_end(const printer *p, const dfl_line *l)
{
    if (l->kind == DFL_LINE_SPATIAL) {
        dfl_strbuf_z(p->out, " on ");
        name(p, p->m->system->axes[l->axis].name);
        if (l->stages != NULL)
            print_stages(p, l->stages);
    } else if (l->kind == DFL_LINE_KEEP) {
        dfl_strbuf_z(p->out, " in ");
        if (find_open(p, l->memory_decision) != NULL)
            print_homes(p, find_open(p, l->memory_decision));
        else
            name(p, p->m->system->memories[l->memory].name);
        dfl_strbuf_z(p->out, l->mode == DFL_KEEP_FRESH ? " fresh" : l->mode == DFL_KEEP_WINDOW ? " window" : "");
    }
}

static void print_splits(const printer *p, const dfl_line *l)
{
    for (uint32_t i = 0; i < l->n_splits; i++) {
        const dfl_home_split *split = &l->splits[i];

        dfl_strbuf_z(p->out, i == 0 ? " split " : ", ");
        name(p, p->m->workload->ranks[split->rank].name);
        dfl_strbuf_char(p->out, split->by == DFL_BY_PARTS ? '/' : ':');
        if (find_open(p, split->decision) != NULL)
            print_values(p, find_open(p, split->decision));
        else
            dfl_strbuf_i128(p->out, split->amount);
        dfl_strbuf_z(p->out, " on ");
        name(p, p->m->system->axes[split->axis].name);
    }
}

static void print_open(const printer *p, uint32_t depth)
{
    print_indent(p, depth);
    dfl_strbuf_z(p->out, "...;\n");
}

static const char *const line_words[] = { "temporal ", "spatial ", "keep " };

static void print_choice(const printer *p, const dfl_line_choice *c, uint32_t depth)
{
    const dfl_line like = { .kind = c->kind, .axis = c->axis, .memory = c->memory, .mode = c->mode };

    print_indent(p, depth);
    dfl_strbuf_printf(p->out, "%s?", line_words[c->kind]);
    print_group_end(p, &like);
    dfl_strbuf_z(p->out, c->online ? " online;\n" : ";\n");
}

/* Whether a place for any lines, or a choice, stands directly above line `at`. */
static bool is_open_at(const dfl_body *b, uint32_t at)
{
    bool any = false;

    for (uint32_t i = 0; i < b->n_opens; i++)
        any |= b->opens[i].at == at;
    for (uint32_t i = 0; i < b->n_choices; i++)
        any |= b->choices[i].at == at;
    return any;
}

/* Prints the places for any lines and the choices that stand directly above line `at`, in text order. */
static void print_opens_at(const printer *p, const dfl_body *b, uint32_t at, uint32_t depth)
{
    for (uint32_t o = 0; o <= b->n_opens; o++) {
        for (uint32_t i = 0; i < b->n_choices; i++)
            if (b->choices[i].at == at && b->choices[i].opens == o)
                print_choice(p, &b->choices[i], depth);
        if (o < b->n_opens && b->opens[o].at == at)
            print_open(p, depth);
    }
}

/* The tensor whose name the text of a keep gives: the table of gathered rows. */
static uint32_t written_tensor(const printer *p, const dfl_line *l)
{
    const dfl_tensor *t = &p->m->workload->tensors[l->tensor];

    return t->gathered ? t->table : l->tensor;
}

/* Whether an earlier name among the keeps around line `i` already gives its keep: the name of its table. */
static bool is_implied(const printer *p, const dfl_body *b, uint32_t i)
{
    for (uint32_t k = i; b->lines[i].kind == DFL_LINE_KEEP && k-- > 0;) {
        if (b->lines[k].kind != DFL_LINE_KEEP || is_open_at(b, k + 1))
            return false;
        if (joins(&b->lines[k], &b->lines[i]) && written_tensor(p, &b->lines[k]) == written_tensor(p, &b->lines[i]))
            return true;
    }
    return false;
}

static void print_lines(const printer *p, const dfl_body *b, uint32_t depth)
{
    const dfl_line *before = NULL; /* the last line that was printed */

    for (uint32_t i = 0; i < b->n_lines; i++) {
        const dfl_line *l = &b->lines[i];
        bool first = before == NULL || !joins(before, l) || is_open_at(b, i);
        uint32_t next = i + 1;

        if (is_implied(p, b, i))
            continue;
        before = l;
        while (next < b->n_lines && is_implied(p, b, next) && !is_open_at(b, next))
            next++;
        bool last = next == b->n_lines || !joins(l, &b->lines[next]) || is_open_at(b, next);

        print_opens_at(p, b, i, depth);
        if (first) {
            print_indent(p, depth);
            dfl_strbuf_z(p->out, line_words[l->kind]);
        }
        if (l->kind == DFL_LINE_KEEP)
            name(p, p->m->workload->tensors[written_tensor(p, l)].name);
        else
            print_loop(p, l);
        if (last || l->kind == DFL_LINE_SPATIAL)
            print_group_end(p, l);
        if (!last) {
            dfl_strbuf_z(p->out, ", ");
            continue;
        }
        if (l->online)
            dfl_strbuf_z(p->out, " online");
        print_splits(p, l);
        print_only(p, l);
        dfl_strbuf_z(p->out, ";\n");
    }
    print_opens_at(p, b, b->n_lines, depth);
}

/* Whether the branch has the form `A, B { ... }`: its children have no lines of their own. */
static bool children_are_empty(const dfl_body *b)
{
    for (uint32_t i = 0; i < b->n_children; i++) {
        const dfl_body *c = b->children[i];

        if (c->kind != DFL_BODY_LEAF || c->n_lines > 0 || c->n_choices > 0 || c->n_recompute > 0 || c->compute != b->compute)
            return false;
    }
    return b->kind == DFL_BODY_FUSE && !b->open_children;
}

/* Prints the name of an einsum in the head of a branch. The first of several producers of a tensor is "T#1", since "T" names
   all of them; those of a member of a family are "T#1[0]" and "T#2[0]", since an index ends a name. */
static void print_head(const printer *p, uint32_t e)
{
    const dfl_workload *w = p->m->workload;
    const dfl_tensor *result = &w->tensors[w->einsums[e].output.tensor];
    const char *full = dfl_sym_text(p->names, w->einsums[e].name), *mark = strrchr(full, '#');
    const size_t end = mark ? (size_t)(mark - full) : strlen(full); /* of the name of the tensor */
    size_t index = end;                                             /* start of the indices of its last name */

    while (index > 0 && full[index - 1] == ']')
        while (full[--index] != '[') { }
    if (mark)
        dfl_strbuf_printf(p->out, "%.*s%s%.*s", (int)index, full, mark, (int)(end - index), full + index);
    else if (result->n_producers > 1 && result->producers[0] == e)
        dfl_strbuf_printf(p->out, "%.*s#1%s", (int)index, full, full + index);
    else
        dfl_strbuf_z(p->out, full);
}

/* Prints the statements of a body; the caller prints the braces. The recursion is as deep as the braces of the source. */
static void print_body(const printer *p, const dfl_body *b, uint32_t depth)
{
    if (b->compute != DFL_NONE && (b->parent == NULL || b->parent->compute != b->compute)) {
        print_indent(p, depth);
        dfl_strbuf_z(p->out, "on ");
        name(p, p->m->system->computes[b->compute].name);
        dfl_strbuf_z(p->out, ";\n");
    }
    for (uint32_t i = 0; i < b->n_recompute; i++) {
        if (i == 0) {
            print_indent(p, depth);
            dfl_strbuf_z(p->out, "recompute ");
        }
        name(p, p->m->workload->tensors[b->recompute[i]].name);
        dfl_strbuf_z(p->out, i + 1 < b->n_recompute ? ", " : ";\n");
    }
    for (uint32_t d = 0; b->parent == NULL && p->m->decided == NULL && d < p->m->n_decisions; d++)
        if (p->m->decisions[d].kind == DFL_DECISION_RECOMPUTE)
            print_sets(p, &p->m->decisions[d], depth);
    print_lines(p, b, depth);
    if (b->kind == DFL_BODY_LEAF || children_are_empty(b))
        return;
    print_indent(p, depth);
    dfl_strbuf_z(p->out, b->kind == DFL_BODY_FUSE ? "fuse {\n" : "pipeline {\n");
    for (uint32_t i = 0; i < b->n_children; i++) {
        const dfl_body *c = b->children[i];

        print_indent(p, depth + 1);
        for (uint32_t e = 0; e < c->n_einsums; e++) {
            dfl_strbuf_z(p->out, e > 0 ? ", " : "");
            print_head(p, c->einsums[e]);
        }
        dfl_strbuf_z(p->out, " {\n");
        print_body(p, c, depth + 2);
        print_indent(p, depth + 1);
        dfl_strbuf_z(p->out, "}\n");
    }
    if (b->open_children)
        print_open(p, depth + 1);
    print_indent(p, depth);
    dfl_strbuf_z(p->out, "}\n");
}

void dfl_mapping_print_lines(dfl_strbuf *out, const dfl_intern *names, const dfl_mapping *m, unsigned indent)
{
    const printer p = { out, names, m, indent };

    print_body(&p, m->root, 0);
}

/* Prints the options that matter in plans over chips. */
static void print_plan_options(const printer *p)
{
    const dfl_options *o = &p->m->options;

    if (o->contention_none) {
        print_indent(p, 1);
        dfl_strbuf_z(p->out, "option contention = none;\n");
    }
    if (o->pieces > 0) {
        print_indent(p, 1);
        dfl_strbuf_printf(p->out, "option pieces = %u;\n", o->pieces);
    }
    if (o->chunks > 0) {
        print_indent(p, 1);
        dfl_strbuf_printf(p->out, "option chunks = %u;\n", o->chunks);
    }
    if (o->bucket_bits > 0) {
        print_indent(p, 1);
        dfl_strbuf_z(p->out, "option bucket = ");
        dfl_strbuf_i128(p->out, o->bucket_bits);
        dfl_strbuf_z(p->out, "bit;\n");
    }
    if (o->chip_search) {
        print_indent(p, 1);
        dfl_strbuf_z(p->out, "option chip = search;\n");
    }
    if (o->groups > 0) {
        print_indent(p, 1);
        dfl_strbuf_printf(p->out, "option groups = %u;\n", o->groups);
    }
    if (o->exchanges_block) {
        print_indent(p, 1);
        dfl_strbuf_z(p->out, "option exchanges = blocking;\n");
    }
    if (o->gradients_beside || o->gradients_behind) {
        print_indent(p, 1);
        dfl_strbuf_printf(p->out, "option gradients = %s;\n", o->gradients_beside ? "beside" : "behind");
    }
}

void dfl_mapping_print(dfl_strbuf *out, const dfl_intern *names, const dfl_mapping *m, unsigned indent)
{
    const printer p = { out, names, m, indent };

    dfl_strbuf_z(out, "mapping ");
    name(&p, m->name);
    dfl_strbuf_z(out, " for ");
    if (m->target != NULL) {
        dfl_strbuf_z(out, m->target);
    } else {
        name(&p, m->workload->name);
        dfl_strbuf_z(out, " on ");
        name(&p, m->system->name);
    }
    dfl_strbuf_z(out, " {\n");
    if (m->options.overlap_perfect) {
        print_indent(&p, 1);
        dfl_strbuf_z(out, "option overlap = perfect;\n");
    }
    print_plan_options(&p);
    for (uint32_t i = 0; i < m->n_minimize; i++) {
        print_indent(&p, i == 0 ? 1 : 0);
        dfl_strbuf_z(out, i == 0 ? "minimize " : ", ");
        dfl_val_print(out, names, m->minimize[i]);
        dfl_strbuf_z(out, i + 1 == m->n_minimize ? ";\n" : "");
    }
    if (m->root != NULL)
        print_body(&p, m->root, 1);
    dfl_strbuf_z(out, "}\n");
}
