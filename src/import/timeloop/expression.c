/* Arithmetic in the attributes of a tree: numbers, names of attributes and variables, operators and functions. */
#include "import/timeloop/timeloop_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/limits.h"

typedef struct {
    dfl_tl_file *f;
    const dfl_yaml *at; /* the scalar around the text, for reports */
    const char *c;      /* next character */
    unsigned depth;
    unsigned *names;    /* names that were looked up so far */
    const char **unknown; /* the first name without a value; NULL = all have one */
    bool ok;
} reader;

static double sum_of(reader *r);

static double fail(reader *r)
{
    r->ok = false;
    return 0;
}

static void skip_blanks(reader *r)
{
    r->c += strspn(r->c, " \t\r\n");
}

static bool takes(reader *r, const char *word)
{
    size_t n = strlen(word);

    skip_blanks(r);
    if (strncmp(r->c, word, n) != 0)
        return false;
    r->c += n;
    return true;
}

static bool in_name(char c, bool is_first)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (!is_first && c >= '0' && c <= '9');
}

/* The attribute or variable of the name. An attribute that has the name of the one around stands for the outer one. */
static const dfl_yaml *named(const reader *r, const char *name)
{
    for (const dfl_tl_scope *s = r->f->scope; s != NULL; s = s->outer) {
        const dfl_yaml *value = dfl_tl_get(s->attributes, name);

        if (value != NULL && value != r->at)
            return value;
    }
    return NULL;
}

static double value_of(reader *r, const char *name)
{
    const dfl_yaml *value = named(r, name);
    reader inner = { .f = r->f, .at = value, .c = value != NULL ? value->text : "", .depth = r->depth + 1,
                     .names = r->names, .unknown = r->unknown, .ok = true };
    double n;

    if (value == NULL && *r->unknown == NULL)
        *r->unknown = name;
    if (value == NULL || value->kind != DFL_YAML_SCALAR || inner.depth > DFL_IMPORT_EXPRESSION_DEPTH ||
        ++*r->names > DFL_IMPORT_EXPRESSION_NAMES)
        return fail(r);
    n = sum_of(&inner);
    skip_blanks(&inner);
    return inner.ok && *inner.c == '\0' ? n : fail(r);
}

static double call(reader *r, const char *name)
{
    double x = sum_of(r), y = 0;
    bool two = takes(r, ",");

    if (two)
        y = sum_of(r);
    if (!takes(r, ")"))
        return fail(r);
    if (two)
        return strcmp(name, "max") == 0 ? fmax(x, y) : strcmp(name, "min") == 0 ? fmin(x, y) :
               strcmp(name, "pow") == 0 ? pow(x, y) : strcmp(name, "log") == 0 ? log(x) / log(y) : fail(r);
    return strcmp(name, "ceil") == 0 ? ceil(x) : strcmp(name, "floor") == 0 ? floor(x) :
           strcmp(name, "log2") == 0 ? log2(x) : strcmp(name, "sqrt") == 0 ? sqrt(x) :
           strcmp(name, "abs") == 0 ? fabs(x) : strcmp(name, "round") == 0 ? nearbyint(x) :
           strcmp(name, "int") == 0 ? trunc(x) : strcmp(name, "float") == 0 ? x : fail(r);
}

static double atom_of(reader *r)
{
    char *end;
    double n;

    skip_blanks(r);
    if (++r->depth > DFL_IMPORT_EXPRESSION_DEPTH)
        return fail(r);
    if (takes(r, "(")) {
        n = sum_of(r);
        return takes(r, ")") ? n : fail(r);
    }
    if (in_name(*r->c, true)) {
        const char *start = r->c, *name;

        while (in_name(*r->c, false))
            r->c++;
        name = dfl_arena_copy(r->f->report->arena, start, (size_t)(r->c - start));
        if (strcmp(name, "math") == 0 && *r->c == '.') {
            r->c++;
            return atom_of(r);
        }
        return takes(r, "(") ? call(r, name) : value_of(r, name);
    }
    if (!((*r->c >= '0' && *r->c <= '9') || *r->c == '.'))
        return fail(r);
    n = strtod(r->c, &end);
    if (end == r->c)
        return fail(r);
    r->c = end;
    return n;
}

static double power_of(reader *r)
{
    bool negative = takes(r, "-");
    double n = atom_of(r);

    if (r->ok && takes(r, "**"))
        n = pow(n, power_of(r));
    r->depth -= r->depth > 0;
    return negative ? -n : n;
}

static double product_of(reader *r)
{
    double n = power_of(r);

    while (r->ok) {
        if (takes(r, "//"))
            n = floor(n / power_of(r));
        else if (takes(r, "/"))
            n /= power_of(r);
        else if (takes(r, "%")) {
            double by = power_of(r);

            n -= by * floor(n / by);
        } else if (takes(r, "*"))
            n *= power_of(r);
        else
            break;
    }
    return n;
}

static double sum_of(reader *r)
{
    double n = product_of(r);

    while (r->ok) {
        if (takes(r, "+"))
            n += product_of(r);
        else if (takes(r, "-"))
            n -= product_of(r);
        else
            break;
    }
    return n;
}

bool dfl_tl_evaluate(dfl_tl_file *f, const dfl_yaml *at, double *out, const char **unknown)
{
    unsigned names = 0;
    const char *name = NULL;
    reader r = { .f = f, .at = at, .c = at->text, .names = &names, .unknown = &name,
                 .ok = at->kind == DFL_YAML_SCALAR && at->text[0] != '\0' };

    *out = r.ok ? sum_of(&r) : 0;
    if (unknown != NULL)
        *unknown = name;
    skip_blanks(&r);
    return r.ok && *r.c == '\0' && isfinite(*out);
}

const dfl_yaml *dfl_tl_attribute(const dfl_tl_scope *scope, const char *key)
{
    for (; scope != NULL; scope = scope->outer) {
        const dfl_yaml *value = dfl_tl_get(scope->attributes, key);

        if (value != NULL)
            return dfl_yaml_is_null(value) ? NULL : value;
    }
    return NULL;
}
