/* Reads directives for levels: those of a mapping, and the constraints of a mapspace. */
#include "import/timeloop/timeloop_internal.h"

#include <string.h>

#include "support/checked.h"

/* Largest product of the factors of one dimension over all levels, and largest number of used instances below one
   level. */
static const int64_t most_iterations = INT64_C(1) << 40;

static const char *const in_directive[] = {
    "target", "type", "factors", "permutation", "split", "keep", "bypass", "no_reuse", "no_link_transfer",
    "no_temporal_reuse", "rmw_first_update",
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static uint32_t dim_of(const dfl_tl_file *f, char letter)
{
    uint32_t d = 0;

    while (d < f->n_dims && f->dims[d].letter != letter)
        d++;
    return d;
}

/* ---- factors ---- */

static bool takes_count(const char **at, int64_t *out)
{
    const char *c = *at;

    *out = 0;
    for (; *c >= '0' && *c <= '9' && *out <= most_iterations; c++)
        *out = *out * 10 + (*c - '0');
    if (c == *at)
        return false;
    *at = c;
    return true;
}

/* The place of character `c` in a scalar; the whole scalar if the source writes its text in another form. */
static dfl_span place_in(const dfl_yaml *at, const char *c)
{
    uint32_t offset = (uint32_t)(c - at->text);

    if (at->span.end - at->span.start != strlen(at->text))
        return at->span;
    return (dfl_span){ at->span.start + offset, at->span.start + offset + (*c != '\0') };
}

static void skip_blanks(const char **at)
{
    *at += strspn(*at, " \t\r\n");
}

/* Reads `M13,11 N8`, `M=13,11` or `R=1,P=1`. In constraints a factor may be 0 and `M<=4`, which leave it open. */
static bool read_text(dfl_tl_file *f, const dfl_yaml *at, bool may_be_open, dfl_tl_factor *out)
{
    const char *c = at->text;

    for (skip_blanks(&c); *c != '\0'; skip_blanks(&c)) {
        uint32_t d = dim_of(f, *c);
        const char *start = c;
        bool is_most = false;
        dfl_tl_factor one;

        if (d == f->n_dims)
            return dfl_tl_wrong(f, DFL_FOREIGN_UNKNOWN_NAME, place_in(at, c), "the shape has no dimension `%c`", *c);
        c++;
        is_most = c[0] == '<' && c[1] == '=';
        if (is_most && !may_be_open)
            return dfl_tl_wrong(f, DFL_FOREIGN_UNSUPPORTED, place_in(at, start), "a mapping needs exact factors");
        c += is_most ? 2 : *c == '=';
        if (!takes_count(&c, &one.full))
            return dfl_tl_wrong(f, DFL_FOREIGN_SYNTAX, place_in(at, c), "a factor must be a letter and a number");
        one.last = one.full;
        if (c[0] == ',' && c[1] >= '0' && c[1] <= '9') {
            c++;
            takes_count(&c, &one.last);
        }
        if (c[0] == ',' && c[1] == '\0')
            return dfl_tl_wrong(f, DFL_FOREIGN_SYNTAX, place_in(at, c + 1), "a number is missing after the comma");
        if (one.full == 0 && !may_be_open)
            return dfl_tl_wrong(f, DFL_FOREIGN_UNSUPPORTED, place_in(at, start),
                                "the source must find this factor: write its number");
        if (one.full > most_iterations || (one.full > 0 && (one.last < 1 || one.last > one.full)))
            return dfl_tl_wrong(f, DFL_FOREIGN_RANGE, place_in(at, start),
                                "a last factor must be from 1 to the factor, which is at most 2^40");
        if (is_most)
            dfl_lose(f->report, DFL_FOREIGN_LOST, place_in(at, start), "the largest factor of `%c` does not restrict the search",
                     f->dims[d].letter);
        if (!is_most || one.full == 1)
            out[d] = one;
        c += strspn(c, " \t\r\n,");
    }
    return true;
}

/* A dimension without a factor has one iteration in a mapping, and is open in constraints. */
bool dfl_tl_read_factors(dfl_tl_file *f, const dfl_yaml *at, bool may_be_open, dfl_tl_factor *out)
{
    for (uint32_t d = 0; d < f->n_dims; d++)
        out[d] = may_be_open ? (dfl_tl_factor){ 0, 0 } : (dfl_tl_factor){ 1, 1 };
    if (at == NULL)
        return true;
    if (at->kind == DFL_YAML_SCALAR)
        return read_text(f, at, may_be_open, out);
    for (uint32_t i = 0; i < at->n; i++) {
        const dfl_yaml *item = &at->items[i];

        if (item->kind != DFL_YAML_SCALAR)
            return dfl_tl_wrong(f, DFL_FOREIGN_UNSUPPORTED, item->span, "factors must be a text such as `K4 M2`");
        if (at->kind == DFL_YAML_MAP) {
            uint32_t d = dim_of(f, at->keys[i].text[0]);

            if (d == f->n_dims || at->keys[i].text[1] != '\0')
                return dfl_tl_wrong(f, DFL_FOREIGN_UNKNOWN_NAME, at->keys[i].span, "the shape has no dimension `%s`",
                                    at->keys[i].text);
            out[d].full = out[d].last = dfl_tl_count(f, item, may_be_open ? 0 : 1, 1);
        } else if (!read_text(f, item, may_be_open, out)) {
            return false;
        }
    }
    return f->ok;
}

static bool add_to_order(dfl_tl_file *f, const dfl_yaml *at, uint32_t *order, uint32_t *n)
{
    for (const char *c = at->text; *c != '\0'; c++) {
        uint32_t d = dim_of(f, *c);

        if (*c == ' ' || *c == ',')
            continue;
        if (d == f->n_dims)
            return dfl_tl_wrong(f, DFL_FOREIGN_UNKNOWN_NAME, place_in(at, c), "the shape has no dimension `%c`", *c);
        for (uint32_t i = 0; i < *n; i++) {
            if (order[i] == d)
                return dfl_tl_wrong(f, DFL_FOREIGN_SYNTAX, place_in(at, c), "a dimension stands twice in the order");
        }
        order[(*n)++] = d;
    }
    return true;
}

/* Reads `KMN`, `K,M,N` or a list of letters, innermost first, with room for all dimensions. */
bool dfl_tl_read_order(dfl_tl_file *f, const dfl_yaml *at, uint32_t *order, uint32_t *n)
{
    *n = 0;
    if (at == NULL || at->kind == DFL_YAML_SCALAR)
        return at == NULL || add_to_order(f, at, order, n);
    for (uint32_t i = 0; i < at->n; i++) {
        if (at->kind != DFL_YAML_LIST || at->items[i].kind != DFL_YAML_SCALAR)
            return dfl_tl_wrong(f, DFL_FOREIGN_SYNTAX, at->span, "an order must be a text such as `KMN`");
        if (!add_to_order(f, &at->items[i], order, n))
            return false;
    }
    return true;
}

/* Names the levels that have instances side by side below them, for spatial loops. */
static void name_wide_levels(dfl_tl_file *f, dfl_diag *d)
{
    dfl_strbuf names;

    dfl_strbuf_init(&names, f->report->arena);
    for (uint32_t k = f->n_levels; k-- > 0;) {
        int64_t fan[2];

        dfl_tl_fan_out(f, k, fan);
        if (fan[0] * fan[1] > 1)
            dfl_strbuf_printf(&names, "%s`%s` (%lld x %lld)", names.len > 0 ? ", " : "", f->levels[k].name,
                              (long long)fan[0], (long long)fan[1]);
    }
    if (names.len > 0)
        dfl_diag_help(f->report->sink, d, "levels with instances below them, along X and Y: %s", names.text);
    else
        dfl_diag_help(f->report->sink, d, "no level has several instances below it: iterate in time");
}

/* Whether there are instances below the level for all iterations of its spatial loops, along X and along Y. */
static bool is_wide_enough(dfl_tl_file *f, const dfl_yaml *at, const dfl_tl_level *l)
{
    const dfl_yaml *factors = dfl_tl_get(at, "factors");
    int64_t fan[2], used[2] = { 1, 1 };

    dfl_tl_fan_out(f, (uint32_t)(l - f->levels), fan);
    for (uint32_t i = 0; i < l->n_spatial; i++) {
        int64_t *along = &used[l->spatial[i].on_y];

        *along *= *along <= most_iterations / l->spatial[i].full ? l->spatial[i].full : 1;
    }
    for (int y = 0; y < 2 && f->ok; y++) {
        if (used[y] <= fan[y])
            continue;
        name_wide_levels(f, dfl_report(f->report->sink, DFL_FOREIGN_RANGE, factors != NULL ? factors->span : at->span,
                                       "these factors need %lld instances below `%s` along %c, where it has %lld",
                                       (long long)used[y], l->name, "XY"[y], (long long)fan[y]));
        f->ok = false;
    }
    return f->ok;
}

static bool read_loops(dfl_tl_file *f, const dfl_yaml *at, dfl_tl_level *l, bool spatial)
{
    const dfl_yaml *said = dfl_tl_get(at, "permutation");
    dfl_tl_loop *loops = DFL_NEW_ARRAY(f->report->arena, dfl_tl_loop, f->n_dims + 1);
    dfl_tl_factor *factors = DFL_NEW_ARRAY(f->report->arena, dfl_tl_factor, f->n_dims + 1);
    uint32_t *order = DFL_NEW_ARRAY(f->report->arena, uint32_t, f->n_dims + 1);
    int64_t fan[2], split;
    uint32_t n = 0, n_order, looping = 0;

    /* Without instances along X, spatial loops run along Y. */
    dfl_tl_fan_out(f, (uint32_t)(l - f->levels), fan);
    split = dfl_tl_count(f, dfl_tl_get(at, "split"), 0, fan[0] == 1 && fan[1] > 1 ? 0 : f->n_dims);

    if (!f->ok || !dfl_tl_read_factors(f, dfl_tl_get(at, "factors"), false, factors) ||
        !dfl_tl_read_order(f, said, order, &n_order))
        return false;
    for (uint32_t d = 0; d < f->n_dims; d++)
        looping += factors[d].full > 1;
    /* A loop alone needs no order. */
    for (uint32_t d = 0; d < f->n_dims && looping == 1 && said == NULL; d++) {
        if (factors[d].full > 1)
            order[n_order++] = d;
    }
    for (uint32_t i = 0; i < n_order; i++) {
        uint32_t d = order[i];

        if (factors[d].full > 1)
            loops[n++] = (dfl_tl_loop){ d, factors[d].full, factors[d].last, spatial && i >= split };
        factors[d].full = 0;
    }
    for (uint32_t d = 0; d < f->n_dims; d++) {
        if (factors[d].full > 1)
            return dfl_tl_wrong(f, DFL_FOREIGN_SYNTAX, said != NULL ? said->span : at->span,
                                "the order leaves out `%c`", f->dims[d].letter);
    }
    *(spatial ? &l->spatial : &l->temporal) = loops;
    *(spatial ? &l->n_spatial : &l->n_temporal) = n;
    return !spatial || is_wide_enough(f, at, l);
}

/* ---- directives ---- */

static bool report_no_space(dfl_tl_file *f, const dfl_yaml *at)
{
    const char **known = DFL_NEW_ARRAY(f->report->arena, const char *, f->n_tensors + 1), *near;
    dfl_diag *d;

    if (!f->ok)
        return false;
    if (at->kind != DFL_YAML_SCALAR)
        return dfl_tl_wrong(f, DFL_FOREIGN_SYNTAX, at->span, "expected the name of a data space");
    d = dfl_report(f->report->sink, DFL_FOREIGN_UNKNOWN_NAME, at->span, "the shape has no data space `%s`", at->text);
    for (uint32_t t = 0; t < f->n_tensors; t++)
        known[t] = f->tensors[t].name;
    near = dfl_loss_nearest(at->text, known, f->n_tensors);
    if (near != NULL)
        dfl_diag_help(f->report->sink, d, "did you mean `%s`?", near);
    f->ok = false;
    return false;
}

bool dfl_tl_read_set(dfl_tl_file *f, const dfl_yaml *list, uint64_t *set)
{
    if (list != NULL && list->kind != DFL_YAML_LIST)
        return dfl_tl_wrong(f, DFL_FOREIGN_SYNTAX, list->span, "expected a list of data spaces");
    for (uint32_t i = 0; list != NULL && i < list->n; i++) {
        uint32_t t = 0;

        while (t < f->n_tensors && strcmp(f->tensors[t].name, list->items[i].text) != 0)
            t++;
        if (t == f->n_tensors)
            return report_no_space(f, &list->items[i]);
        *set |= UINT64_C(1) << t;
    }
    return true;
}

/* Length of a name without the numbers of its instances: `PE[0..3]` is `PE`. */
static size_t plain_length(const char *name)
{
    return strcspn(name, "[");
}

/* Reports that no level has the name of the target, with the nearest name. */
static void report_no_level(dfl_tl_file *f, const dfl_yaml *target)
{
    const char **known = DFL_NEW_ARRAY(f->report->arena, const char *, f->n_levels + 1), *near;
    dfl_diag *d;

    if (!f->ok)
        return;
    d = dfl_report(f->report->sink, DFL_FOREIGN_UNKNOWN_NAME, target->span, "the architecture has no level `%s`", target->text);
    for (uint32_t k = 0; k < f->n_levels; k++)
        known[k] = f->levels[f->n_levels - 1 - k].name;
    near = dfl_loss_nearest(target->text, known, f->n_levels);
    if (near != NULL) {
        dfl_diag_help(f->report->sink, d, "did you mean `%s`?", near);
    } else {
        dfl_strbuf all;

        dfl_strbuf_init(&all, f->report->arena);
        for (uint32_t k = 0; k < f->n_levels; k++)
            dfl_strbuf_printf(&all, "%s`%s`", k > 0 ? ", " : "", known[k]);
        dfl_diag_help(f->report->sink, d, "the levels are %s", all.text);
    }
    f->ok = false;
}

dfl_tl_level *dfl_tl_target(dfl_tl_file *f, const dfl_yaml *at)
{
    const dfl_yaml *target = dfl_tl_get(at, "target"), *type = dfl_tl_get(at, "type");
    size_t n = target != NULL ? plain_length(target->text) : 0;
    bool spatial = type != NULL && strcmp(type->text, "spatial") == 0;

    /* The spatial loops of a component with `spatial` belong to the level in front of it. */
    for (uint32_t k = 0; target != NULL && k < f->n_levels && spatial; k++) {
        const char *alias = f->levels[k].alias;

        if (alias != NULL && strncmp(alias, target->text, n) == 0 && alias[n] == '\0')
            return &f->levels[k];
    }
    for (uint32_t k = 0; target != NULL && k < f->n_levels; k++) {
        const char *name = f->levels[k].name, *alias = f->levels[k].alias;

        if ((strncmp(name, target->text, n) == 0 && name[n] == '\0') ||
            (alias != NULL && strncmp(alias, target->text, n) == 0 && alias[n] == '\0'))
            return &f->levels[k];
    }
    if (target == NULL || target->kind != DFL_YAML_SCALAR)
        dfl_tl_wrong(f, DFL_FOREIGN_SYNTAX, at->span, "`target`, the name of a level, is missing");
    else
        report_no_level(f, target);
    return NULL;
}

typedef enum { TEMPORAL, SPATIAL, BYPASS } directive_type;

void dfl_tl_report_type(dfl_tl_file *f, dfl_span span, const char *type)
{
    static const char *const known[] = { "temporal", "spatial", "bypass", "datatype", "dataspace", "utilization", "parallelism" };
    const char *near = dfl_loss_nearest(type, known, COUNT(known));
    dfl_diag *d;

    if (!f->ok)
        return;
    d = dfl_report(f->report->sink, DFL_FOREIGN_UNSUPPORTED, span,
                   "a directive must be `temporal`, `spatial`, `bypass`, `datatype` or `dataspace`");
    if (near != NULL)
        dfl_diag_help(f->report->sink, d, "did you mean `%s`?", near);
    f->ok = false;
}

static bool type_of(dfl_tl_file *f, const dfl_yaml *at, directive_type *out)
{
    static const struct { const char *word; directive_type type; } types[] = {
        { "temporal", TEMPORAL }, { "spatial", SPATIAL }, { "bypass", BYPASS }, { "datatype", BYPASS },
        { "dataspace", BYPASS },
    };
    const dfl_yaml *said = dfl_tl_get(at, "type");

    for (size_t i = 0; said != NULL && i < COUNT(types); i++) {
        if (strcmp(types[i].word, said->text) == 0) {
            *out = types[i].type;
            return true;
        }
    }
    dfl_tl_report_type(f, said != NULL ? said->span : at->span, said != NULL ? said->text : "");
    return false;
}

static bool read_bypass(dfl_tl_file *f, const dfl_yaml *at, dfl_tl_level *l)
{
    const dfl_yaml *keep = dfl_tl_get(at, "keep");
    uint64_t kept = 0;

    if (!dfl_tl_read_set(f, keep, &kept))
        return false;
    if (kept != 0 && l->entries == 0)
        return dfl_tl_wrong(f, DFL_FOREIGN_UNSUPPORTED, keep->span, "`%s` has no entries, but keeps a data space", l->name);
    if (!dfl_tl_read_set(f, dfl_tl_get(at, "bypass"), &l->bypass))
        return false;
    l->keep |= kept;
    return (kept & l->bypass) == 0 ||
           dfl_tl_wrong(f, DFL_FOREIGN_SYNTAX, keep->span, "this data space is both kept and bypassed");
}

/* Reports the parts of a directive that DFL cannot express. */
static void look_at_losses(const dfl_tl_file *f, const dfl_yaml *at, const dfl_tl_level *l)
{
    const dfl_yaml *rmw = dfl_tl_get(at, "rmw_first_update"), *reuse = dfl_tl_get(at, "no_temporal_reuse");

    if (l->rmw_first != 0 && rmw != NULL)
        dfl_lose(f->report, DFL_FOREIGN_LOST, rmw->span,
                 "`%s` reads a result before its first update: in the result nothing is read before it has a value", l->name);
    if ((l->no_temporal_reuse >> f->output & 1) != 0 && reuse != NULL)
        dfl_lose(f->report, DFL_FOREIGN_LOST, reuse->span,
                 "`%s` spills the result at every step: in the result it stays until it changes", l->name);
}

static bool read_directive(dfl_tl_file *f, const dfl_yaml *at)
{
    dfl_tl_level *l = dfl_tl_target(f, at);
    directive_type type = BYPASS;

    if (l == NULL || !type_of(f, at, &type))
        return false;
    dfl_tl_look_at_keys(f, at, in_directive, COUNT(in_directive), "a directive");
    if (type == BYPASS)
        return read_bypass(f, at, l);
    if (l->mapped[type == SPATIAL])
        return dfl_tl_wrong(f, DFL_FOREIGN_SYNTAX, at->span, "`%s` has two directives of this kind", l->name);
    l->mapped[type == SPATIAL] = true;
    if (!read_loops(f, at, l, type == SPATIAL) || !dfl_tl_read_set(f, dfl_tl_get(at, "no_reuse"), &l->no_reuse) ||
        !dfl_tl_read_set(f, dfl_tl_get(at, "no_link_transfer"), &l->no_link) ||
        !dfl_tl_read_set(f, dfl_tl_get(at, "no_temporal_reuse"), &l->no_temporal_reuse) ||
        !dfl_tl_read_set(f, dfl_tl_get(at, "rmw_first_update"), &l->rmw_first))
        return false;
    look_at_losses(f, at, l);
    return true;
}

/* ---- the whole ---- */

/* Reports factors that do not make the extent of a dimension, with those of each level. */
static void report_product(dfl_tl_file *f, uint32_t dim, int64_t product)
{
    char letter = f->dims[dim].letter;
    dfl_strbuf factors;
    dfl_diag *d;

    dfl_strbuf_init(&factors, f->report->arena);
    for (uint32_t k = f->n_levels; k-- > 0;) {
        const dfl_tl_level *l = &f->levels[k];

        for (uint32_t i = 0; i < l->n_temporal + l->n_spatial; i++) {
            const dfl_tl_loop *loop = i < l->n_temporal ? &l->temporal[i] : &l->spatial[i - l->n_temporal];

            if (loop->dim == dim)
                dfl_strbuf_printf(&factors, "%s%lld at `%s`", factors.len > 0 ? ", " : "", (long long)loop->full, l->name);
        }
    }
    d = dfl_report(f->report->sink, DFL_FOREIGN_RANGE, f->dims[dim].span,
                   "the factors of `%c` multiply to %lld, but its size is %lld", letter, (long long)product,
                   (long long)f->dims[dim].bound);
    if (factors.len > 0)
        dfl_diag_help(f->report->sink, d, "its factors are %s", factors.text);
    else
        dfl_diag_help(f->report->sink, d, "no directive of the mapping has a factor of `%c` above 1", letter);
    f->ok = false;
}

/*
 * Whether the factors of a dimension make its extent. Let the factors `full` be the bases of a mixed-radix number
 * system. The last index, extent - 1, then has the digits `last` - 1. The representation is unique, so the sizes of the
 * tiles are the products of `full`.
 */
static bool finishes(dfl_tl_file *f, uint32_t dim)
{
    dfl_i128 full = 1, size = 0;

    for (uint32_t k = 0; k < f->n_levels; k++) {
        const dfl_tl_level *l = &f->levels[k];

        for (uint32_t i = 0; i < l->n_spatial + l->n_temporal; i++) {
            const dfl_tl_loop *loop = i < l->n_spatial ? &l->spatial[i] : &l->temporal[i - l->n_spatial];

            if (loop->dim != dim)
                continue;
            size += full * (loop->last - 1);
            full *= loop->full;
            if (full > most_iterations)
                return dfl_tl_wrong(f, DFL_FOREIGN_RANGE, f->dims[dim].span,
                            "there are more than 2^40 iterations over `%c`",
                                    f->dims[dim].letter);
        }
    }
    if (size + 1 != f->dims[dim].bound)
        report_product(f, dim, (int64_t)(size + 1));
    return f->ok;
}

static bool is_sound(dfl_tl_file *f)
{
    uint64_t all = dfl_tl_all(f), nowhere = all;

    for (uint32_t d = 0; d < f->n_dims; d++) {
        if (!finishes(f, d))
            return false;
    }
    for (uint32_t k = 0; k < f->n_levels; k++) {
        const dfl_tl_level *l = &f->levels[k];
        dfl_i128 used = 1;

        nowhere &= l->bypass;
        for (uint32_t i = 0; i < l->n_spatial && used <= most_iterations; i++)
            used *= l->spatial[i].full;
        if (used > most_iterations)
            return dfl_tl_wrong(f, DFL_FOREIGN_RANGE, l->span,
                        "there are more than 2^40 instances below `%s`", l->name);
        if (l->entries == 0 && (~l->bypass & all) != 0)
            return dfl_tl_wrong(f, DFL_FOREIGN_UNSUPPORTED, l->span, "`%s` has no entries, but keeps a data space",
                                l->name);
    }
    for (uint32_t t = 0; t < f->n_tensors; t++) {
        if ((nowhere >> t & 1) != 0)
            return dfl_tl_wrong(f, DFL_FOREIGN_SYNTAX, f->tensors[t].span, "`%s` is kept nowhere", f->tensors[t].name);
    }
    return true;
}

/* Reports two losses: a keep that would need to be both `fresh` and `window`, and links that serve only some
   multipliers of a group. */
static void look_at_reach(const dfl_tl_file *f)
{
    for (uint32_t t = 0; t < f->n_tensors; t++) {
        dfl_tl_links links = dfl_tl_inner_links(f, t);
        uint32_t fresh = f->n_levels, gaps = f->n_levels;

        if (links == DFL_TL_LINKS_SOME || links == DFL_TL_LINKS_TOO_MANY)
            dfl_lose(f->report, DFL_FOREIGN_LOST, f->tensors[t].span,
                     links == DFL_TL_LINKS_SOME ? "`%s` comes from a neighbour to some multipliers: in the result all read it"
                                                : "`%s` may come from neighbours: in the result all multipliers read it",
                     f->tensors[t].name);
        for (uint32_t k = 0; k < f->n_levels && !f->tensors[t].written; k++) {
            bool kept = (f->levels[k].bypass >> t & 1) == 0;

            if (kept && k + 1 < f->n_levels && (f->levels[k].no_temporal_reuse >> t & 1) != 0)
                fresh = k;
            if (kept && dfl_tl_gaps(f, t, k + 1))
                gaps = k;
        }
        if (fresh < f->n_levels && gaps < f->n_levels)
            dfl_lose(f->report, DFL_FOREIGN_LOST, f->tensors[t].span,
                     "`%s` fetches bounding boxes of `%s` anew: the result fetches only what is touched", f->levels[fresh].name,
                     f->tensors[t].name);
    }
}

bool dfl_tl_read_mapping(dfl_tl_file *f)
{
    for (uint32_t k = 0; k < f->n_levels; k++) {
        if (f->tree != NULL && f->levels[k].entries == 0)
            f->levels[k].bypass = dfl_tl_all(f);
    }
    for (uint32_t i = 0; i < f->mapping->n; i++) {
        if (!read_directive(f, &f->mapping->items[i]))
            return false;
    }
    if (is_sound(f))
        look_at_reach(f);
    return f->ok;
}

const char *dfl_tl_metric(const dfl_yaml *at)
{
    static const struct { const char *word, *means; } metrics[] = {
        { "edp", "energy * latency" }, { "energy", "energy" }, { "delay", "latency" },
    };

    for (size_t i = 0; i < COUNT(metrics); i++) {
        if (strcmp(metrics[i].word, at->text) == 0)
            return metrics[i].means;
    }
    return NULL;
}
