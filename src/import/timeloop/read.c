/* Reads the problem: dimensions, tensors, and their index expressions. */
#include "import/timeloop/timeloop_internal.h"

#include <stdlib.h>
#include <string.h>

#include "support/checked.h"

enum {
    MOST_COEFFICIENT = 1 << 20, /* largest coefficient of an index; its product with the largest extent, 2^40, fits 64 bits */
    MOST_ITEMS = 64,            /* longest list of ranks, terms or coefficients; each look-up scans the whole list */
};
/* Largest extent of a rank, elements. */
static const int64_t most_extent = INT64_C(1) << 60;

static const char *const in_shape[] = { "version", "name", "dimensions", "data_spaces", "coefficients" };
static const char *const in_space[] = { "name", "projection", "read_write" };
static const char *const in_coefficient[] = { "name", "default" };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* False after reporting that a list has more than MOST_ITEMS items. */
static bool is_short(dfl_tl_file *f, const dfl_yaml *list, const char *what)
{
    return list == NULL || list->n <= MOST_ITEMS ||
           dfl_tl_wrong(f, DFL_FOREIGN_UNSUPPORTED, list->span, "this list has more than %d %s", MOST_ITEMS, what);
}

static const dfl_yaml *list_of(dfl_tl_file *f, const dfl_yaml *map, const char *key)
{
    const dfl_yaml *at = dfl_tl_get(map, key);

    if (at == NULL || at->kind != DFL_YAML_LIST)
        dfl_tl_wrong(f, DFL_FOREIGN_SYNTAX, at != NULL ? at->span : map->span, "expected a list of `%s`", key);
    return at;
}

/* The YAML map with the values of dimensions and coefficients: `instance` of the problem, else the problem itself. */
static const dfl_yaml *instance_of(const dfl_tl_file *f)
{
    const dfl_yaml *at = dfl_tl_get(f->problem, "instance");

    return at != NULL ? at : f->problem;
}

static uint32_t dim_named(dfl_tl_file *f, const char *name, dfl_span span)
{
    for (uint32_t d = 0; d < f->n_dims; d++) {
        if (f->dims[d].letter == name[0] && name[1] == '\0')
            return d;
    }
    dfl_tl_wrong(f, DFL_FOREIGN_UNKNOWN_NAME, span, "the shape has no dimension `%s`", name);
    return 0;
}

static bool read_dims(dfl_tl_file *f)
{
    const dfl_yaml *list = list_of(f, f->shape, "dimensions");

    if (!f->ok)
        return false;
    f->dims = DFL_NEW_ARRAY(f->report->arena, dfl_tl_dim, list->n + 1);
    for (uint32_t i = 0; f->ok && i < list->n; i++) {
        const dfl_yaml *at = &list->items[i], *bound;
        const char *name = dfl_tl_text(f, at, at->span, "the name of a dimension");
        char c = name[0];

        if (!f->ok)
            return false;
        if (name[1] != '\0' || !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')))
            return dfl_tl_wrong(f, DFL_FOREIGN_UNSUPPORTED, at->span,
                                "the name of a dimension must be one letter, as in factors and orders");
        for (uint32_t d = 0; d < i; d++) {
            if (f->dims[d].letter == c)
                return dfl_tl_wrong(f, DFL_FOREIGN_SYNTAX, at->span, "two dimensions have the same name");
        }
        bound = dfl_tl_get(instance_of(f), name);
        if (bound == NULL)
            return dfl_tl_wrong(f, DFL_FOREIGN_SYNTAX, at->span, "the problem gives no size for `%s`", name);
        f->dims[f->n_dims++] = (dfl_tl_dim){ .letter = c, .bound = dfl_tl_count(f, bound, 1, 1), .span = at->span };
    }
    return f->ok;
}

/* ---- tensors ---- */

static bool is_whole(const char *text)
{
    const char *digits = text + (text[0] == '-');

    return digits[0] != '\0' && digits[strspn(digits, "0123456789")] == '\0';
}

static int64_t coefficient_of(dfl_tl_file *f, const dfl_yaml *at)
{
    long long n = strtoll(at->text, NULL, 10);

    if (at->kind != DFL_YAML_SCALAR || !is_whole(at->text))
        dfl_tl_wrong(f, DFL_FOREIGN_SYNTAX, at->span, "a coefficient must be a whole number");
    else if (n < -MOST_COEFFICIENT || n > MOST_COEFFICIENT)
        dfl_tl_wrong(f, DFL_FOREIGN_RANGE, at->span, "the coefficient is beyond 2^20");
    return f->ok ? n : 1;
}

/* The value of a coefficient: a number, or a name with a value in the instance or a default in the shape. */
static int64_t coefficient(dfl_tl_file *f, const dfl_yaml *name)
{
    const dfl_yaml *all = dfl_tl_get(f->shape, "coefficients"), *value;

    if (name->kind == DFL_YAML_SCALAR && is_whole(name->text))
        return coefficient_of(f, name);
    dfl_tl_text(f, name, name->span, "the name of a coefficient");
    value = dfl_tl_get(instance_of(f), name->text);
    for (uint32_t i = 0; value == NULL && all != NULL && all->kind == DFL_YAML_LIST && i < all->n; i++) {
        const dfl_yaml *called = dfl_tl_get(&all->items[i], "name");

        if (called != NULL && strcmp(called->text, name->text) == 0)
            value = dfl_tl_get(&all->items[i], "default");
    }
    if (value == NULL)
        dfl_tl_wrong(f, DFL_FOREIGN_UNKNOWN_NAME, name->span, "the problem gives no value for `%s`", name->text);
    return f->ok ? coefficient_of(f, value) : 1;
}

/* Reads one index expression, a sum of terms `[dim]` or `[dim, coefficient]`. */
static bool read_rank(dfl_tl_file *f, const dfl_yaml *at, dfl_tl_rank *out)
{
    dfl_tl_term *terms = DFL_NEW_ARRAY(f->report->arena, dfl_tl_term, at->n + 1);
    dfl_i128 extent = 1;
    uint32_t kept = 0;

    if (at->kind != DFL_YAML_LIST)
        return dfl_tl_wrong(f, DFL_FOREIGN_SYNTAX, at->span, "a rank must be a list of terms");
    if (!is_short(f, at, "terms"))
        return false;
    for (uint32_t i = 0; f->ok && i < at->n; i++) {
        const dfl_yaml *term = &at->items[i];
        dfl_tl_term read;
        uint32_t k = 0;

        if (term->kind != DFL_YAML_LIST || term->n < 1 || term->n > 2)
            return dfl_tl_wrong(f, DFL_FOREIGN_SYNTAX, term->span,
                                "a term must be `[dimension]` or `[dimension, coefficient]`");
        read.dim = dim_named(f, dfl_tl_text(f, &term->items[0], term->span, "a dimension"), term->items[0].span);
        read.coef = term->n == 2 ? coefficient(f, &term->items[1]) : 1;
        while (k < out->n_terms && terms[k].dim != read.dim)
            k++;
        if (k == out->n_terms)
            terms[out->n_terms++] = (dfl_tl_term){ read.dim, 0 };
        terms[k].coef += read.coef;
    }
    for (uint32_t k = 0; f->ok && k < out->n_terms; k++) {
        extent += (dfl_i128)(terms[k].coef < 0 ? -terms[k].coef : terms[k].coef) * (f->dims[terms[k].dim].bound - 1);
        if (terms[k].coef != 0)
            terms[kept++] = terms[k];
    }
    if (extent > most_extent)
        return dfl_tl_wrong(f, DFL_FOREIGN_RANGE, at->span, "the rank is longer than 2^60");
    out->terms = terms;
    out->n_terms = kept;
    return f->ok;
}

static bool is_true(const dfl_yaml *at)
{
    return at != NULL && (strcmp(at->text, "true") == 0 || strcmp(at->text, "True") == 0);
}

static bool read_space(dfl_tl_file *f, const dfl_yaml *at)
{
    dfl_tl_tensor *t = &f->tensors[f->n_tensors];
    const dfl_yaml *projection;
    dfl_tl_rank *ranks;

    if (at->kind != DFL_YAML_MAP)
        return dfl_tl_wrong(f, DFL_FOREIGN_SYNTAX, at->span, "a data space must be a map");
    dfl_tl_look_at_keys(f, at, in_space, COUNT(in_space), "a data space");
    t->span = at->span;
    t->name = dfl_tl_text(f, dfl_tl_get(at, "name"), at->span, "the name of a data space");
    t->written = is_true(dfl_tl_get(at, "read_write"));
    for (uint32_t i = 0; f->ok && i < f->n_tensors; i++) {
        if (strcmp(f->tensors[i].name, t->name) == 0)
            return dfl_tl_wrong(f, DFL_FOREIGN_SYNTAX, at->span, "two data spaces have the same name");
    }
    projection = list_of(f, at, "projection");
    if (!f->ok || !is_short(f, projection, "ranks"))
        return false;
    t->ranks = ranks = DFL_NEW_ARRAY(f->report->arena, dfl_tl_rank, projection->n + 1);
    for (uint32_t r = 0; r < projection->n; r++) {
        if (!read_rank(f, &projection->items[r], &ranks[r]))
            return false;
        for (uint32_t k = 0; k < ranks[r].n_terms; k++)
            *(t->written ? &f->dims[ranks[r].terms[k].dim].written : &f->dims[ranks[r].terms[k].dim].read) = true;
        t->n_ranks++;
    }
    f->n_tensors++;
    return true;
}

static bool read_spaces(dfl_tl_file *f)
{
    const dfl_yaml *list = list_of(f, f->shape, "data_spaces");
    uint32_t written = 0;

    if (!f->ok)
        return false;
    if (list->n > DFL_TL_MOST_TENSORS)
        return dfl_tl_wrong(f, DFL_FOREIGN_UNSUPPORTED, list->span,
                    "the problem has more than %d data spaces", DFL_TL_MOST_TENSORS);
    f->tensors = DFL_NEW_ARRAY(f->report->arena, dfl_tl_tensor, list->n + 1);
    for (uint32_t i = 0; i < list->n; i++) {
        if (!read_space(f, &list->items[i]))
            return false;
        f->output = f->tensors[i].written ? i : f->output;
        written += f->tensors[i].written;
    }
    if (written != 1 || f->n_tensors < 2)
        return dfl_tl_wrong(f, DFL_FOREIGN_UNSUPPORTED, list->span,
                            "a problem needs operands and exactly one result (`read_write: true`)");
    return true;
}

/* Warns of keys beside `shape` that name neither a dimension nor a coefficient, and of unknown keys of coefficients. */
static void look_at_values(dfl_tl_file *f)
{
    const dfl_yaml *coefficients = dfl_tl_get(f->shape, "coefficients"), *values = instance_of(f);
    const char **known = DFL_NEW_ARRAY(f->report->arena, const char *,
                                       f->n_dims + 5 + (coefficients != NULL ? coefficients->n : 0));
    size_t n = 0;

    for (uint32_t d = 0; d < f->n_dims; d++)
        known[n++] = dfl_arena_printf(f->report->arena, "%c", f->dims[d].letter);
    for (uint32_t i = 0; coefficients != NULL && i < coefficients->n && coefficients->kind == DFL_YAML_LIST; i++) {
        const dfl_yaml *name = dfl_tl_get(&coefficients->items[i], "name");

        dfl_tl_look_at_keys(f, &coefficients->items[i], in_coefficient, COUNT(in_coefficient), "a coefficient");
        if (name != NULL)
            known[n++] = name->text;
    }
    known[n++] = "version";
    known[n++] = "shape";
    if (values != f->problem)
        known[n++] = "instance";
    dfl_tl_look_at_keys(f, f->problem, known, n, "the problem");
}

bool dfl_tl_read_problem(dfl_tl_file *f)
{
    f->shape = dfl_tl_get(f->problem, "shape");
    if (f->shape != NULL && f->shape->kind == DFL_YAML_SCALAR && !dfl_yaml_is_null(f->shape))
        return dfl_tl_wrong(f, DFL_FOREIGN_UNSUPPORTED, f->shape->span,
                            "Timeloop reads the shape `%s` from its own files: copy its map `shape` to this place",
                            f->shape->text);
    if (f->shape == NULL || f->shape->kind != DFL_YAML_MAP)
        return dfl_tl_wrong(f, DFL_FOREIGN_SYNTAX, f->shape != NULL ? f->shape->span : f->problem->span,
                            "a problem needs a map `shape`");
    dfl_tl_look_at_keys(f, f->shape, in_shape, COUNT(in_shape), "the shape");
    if (!is_short(f, dfl_tl_get(f->shape, "coefficients"), "coefficients") || !read_dims(f) || !read_spaces(f))
        return false;
    dfl_tl_lose_sparse(f, instance_of(f), "densities");
    look_at_values(f);
    for (uint32_t d = 0; d < f->n_dims; d++) {
        if (!f->dims[d].read && (f->dims[d].bound > 1 || f->dims[d].written))
            return dfl_tl_wrong(f, DFL_FOREIGN_UNSUPPORTED, f->dims[d].span, "`%c` indexes no operand",
                                f->dims[d].letter);
    }
    return true;
}
