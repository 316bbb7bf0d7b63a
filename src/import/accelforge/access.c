/* Accesses of einsums, from text and from maps. */
#include "import/accelforge/access.h"

#include <stdlib.h>
#include <string.h>

#include "import/accelforge/expr.h"
#include "support/limits.h"

bool dfl_af_wrong(dfl_af_reader *r, dfl_code code, dfl_span span, const char *what)
{
    if (r->ok)
        dfl_report(r->f->report->sink, code, span, "%s", what);
    r->ok = false;
    return false;
}

/* ---- text such as `T1[m, n1: p + r]` ---- */

static dfl_span here(const dfl_af_cursor *c)
{
    uint32_t at = (uint32_t)(c->at - c->text);
    bool as_written = c->span.end - c->span.start >= at;

    return as_written ? (dfl_span){ c->span.start + at, c->span.start + at } : c->span;
}

char dfl_af_next(dfl_af_cursor *c)
{
    while (*c->at == ' ' || *c->at == '\t' || *c->at == '\n' || *c->at == '\r')
        c->at++;
    return *c->at;
}

static bool takes(dfl_af_cursor *c, char sign)
{
    if (dfl_af_next(c) != sign)
        return false;
    c->at++;
    return true;
}

static bool expect(dfl_af_cursor *c, char sign)
{
    return takes(c, sign) ||
           dfl_af_wrong(c->r, DFL_FOREIGN_SYNTAX, here(c),
                        dfl_arena_printf(c->r->f->report->arena, "a `%c` is missing", sign));
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

dfl_af_word dfl_af_take_name(dfl_af_cursor *c)
{
    size_t n = 0;
    dfl_af_word out = { "", { 0, 0 } };

    dfl_af_next(c);
    out.span = here(c);
    while (is_letter(c->at[n]) || (n > 0 && c->at[n] >= '0' && c->at[n] <= '9'))
        n++;
    if (n == 0) {
        dfl_af_wrong(c->r, DFL_FOREIGN_SYNTAX, out.span, "a name is missing");
        return out;
    }
    out.name = dfl_arena_copy(c->r->f->report->arena, c->at, n);
    if (out.span.end < c->span.end)
        out.span.end += (uint32_t)n;
    c->at += n;
    return out;
}

static int64_t take_integer(dfl_af_cursor *c)
{
    int64_t n = 0;

    while (dfl_af_next(c) >= '0' && *c->at <= '9') {
        n = n * 10 + (*c->at++ - '0');
        if (n > INT32_MAX) {
            dfl_af_wrong(c->r, DFL_FOREIGN_RANGE, here(c), "the number is beyond 2^31");
            return 0;
        }
    }
    return n;
}

static uint32_t variable(dfl_af_reader *r, const char *name)
{
    dfl_af_var fresh = { name, 0, true };

    for (uint32_t v = 0; v < r->vars.n; v++) {
        if (strcmp(r->vars.at[v].name, name) == 0)
            return v;
    }
    DFL_PUSH(r->f->report->arena, &r->vars, fresh);
    return (uint32_t)r->vars.n - 1;
}

typedef DFL_VEC(dfl_af_term) terms;

static void add_term(dfl_af_reader *r, terms *list, uint32_t var, int64_t coef)
{
    dfl_af_term term = { var, coef };

    for (size_t i = 0; i < list->n; i++) {
        if (list->at[i].var == var) {
            list->at[i].coef += coef;
            return;
        }
    }
    DFL_PUSH(r->f->report->arena, list, term);
}

/* An index expression while it is read: a sum of terms and a number. */
typedef struct { terms list; int64_t offset; } sum;

static sum take_sum(dfl_af_cursor *c, unsigned depth);

static bool is_constant(const sum *s)
{
    for (size_t i = 0; i < s->list.n; i++) {
        if (s->list.at[i].coef != 0)
            return false;
    }
    return true;
}

static void scale(dfl_af_cursor *c, sum *s, int64_t by)
{
    bool over = __builtin_mul_overflow(s->offset, by, &s->offset);

    for (size_t i = 0; i < s->list.n; i++)
        over |= __builtin_mul_overflow(s->list.at[i].coef, by, &s->list.at[i].coef);
    if (over)
        dfl_af_wrong(c->r, DFL_FOREIGN_RANGE, here(c), "the number is beyond 2^63");
}

/* Reads a factor of a product: `2`, `p`, `2p`, `(p + r)`. */
static sum take_factor(dfl_af_cursor *c, unsigned depth)
{
    sum out = { .offset = 0 };
    char first = dfl_af_next(c);

    if (takes(c, '(')) {
        if (depth > DFL_IMPORT_EXPRESSION_DEPTH)
            dfl_af_wrong(c->r, DFL_FOREIGN_UNSUPPORTED, here(c), "the index is nested too deep");
        else
            out = take_sum(c, depth + 1);
        expect(c, ')');
    } else if (first >= '0' && first <= '9') {
        out.offset = take_integer(c);
        if (is_letter(*c->at)) {
            sum rest = take_factor(c, depth);

            scale(c, &rest, out.offset);
            return rest;
        }
    } else {
        dfl_af_word w = dfl_af_take_name(c);

        if (c->r->ok)
            add_term(c->r, &out.list, variable(c->r, w.name), 1);
    }
    return out;
}

/* Reads a product; at most one factor contains variables. */
static sum take_product(dfl_af_cursor *c, unsigned depth)
{
    int64_t sign = takes(c, '-') ? -1 : 1;
    sum out = take_factor(c, depth);

    while (c->r->ok && takes(c, '*')) {
        sum next = take_factor(c, depth);

        if (!is_constant(&out) && !is_constant(&next))
            dfl_af_wrong(c->r, DFL_FOREIGN_UNSUPPORTED, here(c), "an index cannot multiply rank variables");
        if (is_constant(&out)) {
            scale(c, &next, out.offset);
            out = next;
        } else {
            scale(c, &out, next.offset);
        }
    }
    scale(c, &out, sign);
    return out;
}

static sum take_sum(dfl_af_cursor *c, unsigned depth)
{
    sum out = { .offset = 0 };

    for (bool more = true; more && c->r->ok;) {
        sum one = take_product(c, depth);

        for (size_t i = 0; i < one.list.n; i++)
            add_term(c->r, &out.list, one.list.at[i].var, one.list.at[i].coef);
        if (__builtin_add_overflow(out.offset, one.offset, &out.offset))
            dfl_af_wrong(c->r, DFL_FOREIGN_RANGE, here(c), "the number is beyond 2^63");
        more = dfl_af_next(c) == '-' || takes(c, '+');
    }
    return out;
}

/* Reads an index such as `2*p + r - 1`. The numbers of an index fit 32 bits, so that products of extents and
   coefficients fit 64. */
static dfl_af_dim take_index(dfl_af_cursor *c)
{
    dfl_af_dim out = { .rank = "", .span = here(c) };
    sum found = take_sum(c, 0);
    bool small = llabs(found.offset) <= INT32_MAX;
    uint32_t kept = 0;

    for (size_t i = 0; i < found.list.n; i++) {
        small &= llabs(found.list.at[i].coef) <= INT32_MAX;
        if (found.list.at[i].coef != 0)
            found.list.at[kept++] = found.list.at[i];
    }
    if (c->r->ok && !small)
        dfl_af_wrong(c->r, DFL_FOREIGN_RANGE, out.span, "the number is beyond 2^31");
    out.offset = found.offset;
    out.terms = found.list.at;
    out.n_terms = kept;
    return out;
}

static const char *upper(dfl_af_reader *r, const char *name)
{
    char *copy = dfl_arena_copy(r->f->report->arena, name, strlen(name));

    for (char *c = copy; *c != '\0'; c++)
        *c = *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
    return copy;
}

static uint32_t tensor_number(dfl_af_reader *r, const dfl_af_word *w)
{
    dfl_af_tensor fresh = { .name = w->name, .producer = DFL_AF_NONE, .same = DFL_AF_NONE };
    uint32_t t = dfl_af_find_tensor(r->f, w->name);

    if (t != DFL_AF_NONE)
        return t;
    if (r->f->tensors.n >= DFL_AF_MOST_TENSORS) {
        dfl_af_wrong(r, DFL_FOREIGN_UNSUPPORTED, w->span,
              dfl_arena_printf(r->f->report->arena, "the workload has more than %d tensors", DFL_AF_MOST_TENSORS));
        return 0;
    }
    DFL_PUSH(r->f->report->arena, &r->f->tensors, fresh);
    return (uint32_t)r->f->tensors.n - 1;
}

typedef DFL_VEC(dfl_af_dim) dims;

/* Whether two accesses of a tensor have equal indices, with terms in the same order. */
static bool same_access(const dfl_af_access *a, const dfl_af_access *b)
{
    bool same = a->n_dims == b->n_dims && !a->output && !b->output;

    for (uint32_t d = 0; same && d < a->n_dims; d++) {
        same = a->dims[d].n_terms == b->dims[d].n_terms && a->dims[d].offset == b->dims[d].offset;
        for (uint32_t t = 0; same && t < a->dims[d].n_terms; t++)
            same = a->dims[d].terms[t].var == b->dims[d].terms[t].var &&
                   a->dims[d].terms[t].coef == b->dims[d].terms[t].coef;
    }
    return same;
}

static void add_access(dfl_af_reader *r, const dfl_af_word *tensor, const dims *list, bool output)
{
    dfl_af_access fresh = { .output = output, .dims = list->at, .n_dims = (uint32_t)list->n, .span = tensor->span };

    if (!r->ok)
        return;
    fresh.tensor = tensor_number(r, tensor);
    for (size_t i = 0; i < r->list.n; i++) {
        if (r->list.at[i].tensor == fresh.tensor && same_access(&r->list.at[i], &fresh))
            return;
        if (r->list.at[i].tensor == fresh.tensor)
            dfl_af_wrong(r, DFL_FOREIGN_UNSUPPORTED, tensor->span,
                  dfl_arena_printf(r->f->report->arena, "`%s` is accessed in two ways by one einsum", tensor->name));
    }
    DFL_PUSH(r->f->report->arena, &r->list, fresh);
}

static void take_access(dfl_af_cursor *c, bool output)
{
    dfl_af_word tensor = dfl_af_take_name(c);
    dims list = { 0 };

    if (!c->r->ok || !expect(c, '['))
        return;
    while (c->r->ok && dfl_af_next(c) != ']') {
        const char *start = c->at;
        dfl_af_word first;
        dfl_af_dim dim;

        first = is_letter(*start) ? dfl_af_take_name(c) : (dfl_af_word){ "", here(c) };
        if (first.name[0] != '\0' && takes(c, ':')) {
            dim = take_index(c);
            dim.rank = first.name;
        } else {
            c->at = start;
            dim = take_index(c);
            dim.rank = upper(c->r, first.name);
        }
        DFL_PUSH(c->r->f->report->arena, &list, dim);
        if (c->r->ok && !takes(c, ',') && dfl_af_next(c) != ']')
            dfl_af_wrong(c->r, DFL_FOREIGN_SYNTAX, here(c), "a `,` or `]` is missing");
    }
    if (c->r->ok && expect(c, ']'))
        add_access(c->r, &tensor, &list, output);
}

/* Skips signs, parentheses, numbers and names of functions up to the next operand. False at the end of the text or before any
   other character. */
static bool find_operand(dfl_af_cursor *c)
{
    for (;;) {
        char next = dfl_af_next(c);
        const char *end = c->at;

        while (is_letter(*end) || (end > c->at && *end >= '0' && *end <= '9'))
            end++;
        if (end > c->at) {
            while (*end == ' ' || *end == '\t')
                end++;
            if (*end != '(')
                return true;
            c->at = end;
        } else if (next == '\0' || (strchr("*+-/(),.", next) == NULL && (next < '0' || next > '9'))) {
            return false;
        } else {
            c->at++;
        }
    }
}

/* Reads `Z[m, n] = A[m, k] * B[k, n]` and ignores the operators, which have no meaning for the source. */
void dfl_af_take_einsum(dfl_af_reader *r, const dfl_yaml *at)
{
    dfl_af_cursor c = { r, at->text, at->text, at->span };

    take_access(&c, true);
    if (!r->ok || !expect(&c, '='))
        return;
    for (bool more = true; more && r->ok;) {
        if (find_operand(&c))
            take_access(&c, false);
        more = r->ok && dfl_af_next(&c) != '\0' && strchr("*+-/,)", *c.at) != NULL;
    }
    if (r->ok && dfl_af_next(&c) != '\0')
        dfl_af_wrong(r, DFL_FOREIGN_SYNTAX, here(&c), "unexpected text after the last operand");
}

/* ---- an access as a map ---- */

static void read_projection(dfl_af_reader *r, const dfl_yaml *at, dims *out)
{
    for (uint32_t i = 0; r->ok && i < at->n; i++) {
        const dfl_yaml *item = &at->items[i];
        dfl_af_cursor c = { r, item->text, item->text, item->span };
        dfl_af_dim dim;

        if (item->kind != DFL_YAML_SCALAR) {
            dfl_af_wrong(r, DFL_FOREIGN_SYNTAX, item->span, "expected an index");
            return;
        }
        dim = take_index(&c);
        dim.span = item->span;
        if (r->ok && dfl_af_next(&c) != '\0')
            dfl_af_wrong(r, DFL_FOREIGN_SYNTAX, here(&c), "the form of this index is unknown");
        dim.rank = at->kind == DFL_YAML_MAP ? at->keys[i].text : upper(r, item->text);
        DFL_PUSH(r->f->report->arena, out, dim);
    }
}

/* Reads the other keys of an access, which describe its tensor. */
static void read_extras(dfl_af_reader *r, const dfl_yaml *at, const char *tensor)
{
    static const char *const known[] = { "name", "projection", "output", "persistent", "bits_per_value" };
    const dfl_yaml *width = dfl_yaml_get(at, "bits_per_value");
    dfl_af_tensor *t = &r->f->tensors.at[dfl_af_find_tensor(r->f, tensor)];
    int64_t bits = t->bits;

    dfl_af_look_at_keys(r->f, at, known, sizeof known / sizeof known[0], tensor);
    t->persistent |= dfl_af_truth(dfl_yaml_get(at, "persistent"));
    if (width == NULL)
        return;
    if (!dfl_af_count(r->f, DFL_AF_NONE, width, 1, 1, &bits))
        r->ok = false;
    else if (bits > DFL_AF_MOST_BITS)
        dfl_af_wrong(r, DFL_FOREIGN_RANGE, width->span, "the width is more than 65536 bits");
    else if (t->bits != 0 && t->bits != bits)
        dfl_af_wrong(r, DFL_FOREIGN_UNSUPPORTED, width->span, "this tensor has another width elsewhere");
    else
        t->bits = bits;
}

void dfl_af_read_accesses(dfl_af_reader *r, const dfl_yaml *list)
{
    for (uint32_t i = 0; r->ok && i < list->n; i++) {
        const dfl_yaml *name = dfl_yaml_get(&list->items[i], "name");
        const dfl_yaml *projection = dfl_yaml_get(&list->items[i], "projection");
        dims found = { 0 };
        dfl_af_word tensor;

        if (name == NULL || name->text[0] == '\0' || projection == NULL || projection->kind == DFL_YAML_SCALAR) {
            dfl_af_wrong(r, DFL_FOREIGN_SYNTAX, list->items[i].span, "an access needs a `name` and a `projection`");
            return;
        }
        tensor = (dfl_af_word){ name->text, name->span };
        read_projection(r, projection, &found);
        add_access(r, &tensor, &found, dfl_af_truth(dfl_yaml_get(&list->items[i], "output")));
        if (r->ok)
            read_extras(r, &list->items[i], name->text);
    }
}

