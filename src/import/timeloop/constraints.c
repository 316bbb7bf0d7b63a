/* Reads the constraints of a mapspace, and those that stand at the nodes of a tree. */
#include "import/timeloop/timeloop_internal.h"

#include <string.h>

static const char *const in_constraint[] = {
    "target", "type", "factors", "factors_only", "permutation", "split", "keep", "bypass", "keep_only", "bypass_only",
    "no_iteration_over_dimensions", "no_reuse", "no_link_transfer", "no_temporal_reuse", "rmw_first_update", "maximize_dims",
    "remainders", "version",
};

static const char *const in_keeps[] = {
    "target", "type", "keep", "bypass", "keep_only", "bypass_only", "no_coalesce", "version",
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Reports a part of a constraint that does not restrict the search. */
static void lose_part(dfl_tl_file *f, const dfl_yaml *at, const char *key, const char *why)
{
    const dfl_yaml *part = dfl_tl_get(at, key);

    if (part != NULL && (part->kind == DFL_YAML_SCALAR ? part->text[0] != '\0' : part->n > 0))
        dfl_lose(f->report, DFL_FOREIGN_LOST, part->span, "`%s` does not restrict the search: %s", key, why);
}

/* Sets the factors of the dimensions in the list to 1. */
static bool forbid(dfl_tl_file *f, const dfl_yaml *list, int64_t *factor)
{
    uint32_t *dims = DFL_NEW_ARRAY(f->report->arena, uint32_t, f->n_dims + 1), n;

    if (!dfl_tl_read_order(f, list, dims, &n))
        return false;
    for (uint32_t i = 0; i < n; i++)
        factor[dims[i]] = 1;
    return true;
}

static bool read_limits(dfl_tl_file *f, const dfl_yaml *at, dfl_tl_level *l, bool spatial)
{
    dfl_tl_limits *limits = &l->limits[spatial];
    const dfl_yaml *only = dfl_tl_get(at, "factors_only"), *factors = only != NULL ? only : dfl_tl_get(at, "factors");
    const dfl_yaml *split = dfl_tl_get(at, "split");
    dfl_tl_factor *read = DFL_NEW_ARRAY(f->report->arena, dfl_tl_factor, f->n_dims + 1);
    uint32_t *order = DFL_NEW_ARRAY(f->report->arena, uint32_t, f->n_dims + 1), n;

    dfl_tl_look_at_keys(f, at, in_constraint, COUNT(in_constraint), "a constraint");
    if (!dfl_tl_read_factors(f, factors, true, read) || !dfl_tl_read_order(f, dfl_tl_get(at, "permutation"), order, &n))
        return false;
    if (!limits->given) {
        limits->given = true;
        limits->span = at->span;
        limits->factor = DFL_NEW_ARRAY(f->report->arena, int64_t, f->n_dims + 1);
    }
    limits->factors_span = factors != NULL ? factors->span : limits->span;
    for (uint32_t d = 0; d < f->n_dims; d++) {
        if (read[d].full != read[d].last)
            dfl_lose(f->report, DFL_FOREIGN_LOST, factors->span, "the search leaves out the remainder of `%c`",
                     f->dims[d].letter);
        if (read[d].full > 0 || only != NULL)
            limits->factor[d] = read[d].full > 0 ? read[d].full : 1;
    }
    if (!forbid(f, dfl_tl_get(at, "no_iteration_over_dimensions"), limits->factor))
        return false;
    if (n > 0) {
        limits->order = order;
        limits->n_order = n;
    }
    if (split != NULL && split->text[0] != '\0') {
        limits->has_split = true;
        limits->split = dfl_tl_count(f, split, 0, 0);
    }
    lose_part(f, at, "maximize_dims", "the search chooses the factors itself");
    lose_part(f, at, "no_temporal_reuse", "what stays in a memory is not fetched again");
    lose_part(f, at, "rmw_first_update", "nothing is read before it has a value");
    return f->ok && dfl_tl_read_set(f, dfl_tl_get(at, "no_reuse"), &l->no_reuse);
}

static bool read_keeps(dfl_tl_file *f, const dfl_yaml *at, dfl_tl_level *l)
{
    const dfl_yaml *keep_only = dfl_tl_get(at, "keep_only"), *bypass_only = dfl_tl_get(at, "bypass_only");
    const dfl_yaml *keep = keep_only != NULL ? keep_only : dfl_tl_get(at, "keep");
    const dfl_yaml *bypass = bypass_only != NULL ? bypass_only : dfl_tl_get(at, "bypass");
    uint64_t kept = 0, passed = 0;

    dfl_tl_look_at_keys(f, at, in_keeps, COUNT(in_keeps), "a constraint");
    lose_part(f, at, "no_coalesce", "what instances share is fetched once");
    if (!dfl_tl_read_set(f, keep, &kept) || !dfl_tl_read_set(f, bypass, &passed))
        return false;
    if (keep_only != NULL)
        passed = dfl_tl_all(f) & ~kept;
    else if (bypass_only != NULL)
        kept = dfl_tl_all(f) & ~passed;
    l->keep |= kept;
    l->bypass |= passed;
    if ((l->keep & l->bypass) != 0)
        return dfl_tl_wrong(f, DFL_FOREIGN_SYNTAX, keep != NULL ? keep->span : at->span,
                            "this data space is both kept and bypassed");
    return true;
}

/* Reads one constraint of the kind `type`; others are reported as without effect. */
static bool read_kind(dfl_tl_file *f, const dfl_yaml *at, const char *type, dfl_tl_level *l)
{
    if (strcmp(type, "temporal") == 0 || strcmp(type, "spatial") == 0)
        return read_limits(f, at, l, type[0] == 's');
    if (strcmp(type, "dataspace") == 0 || strcmp(type, "datatype") == 0 || strcmp(type, "bypass") == 0)
        return read_keeps(f, at, l);
    if (strcmp(type, "utilization") == 0 || strcmp(type, "parallelism") == 0 ||
        strcmp(type, "max_overbooked_proportion") == 0) {
        dfl_lose(f->report, DFL_FOREIGN_LOST, at->span, "a constraint of the type `%s` does not restrict the search", type);
        return true;
    }
    dfl_tl_report_type(f, dfl_tl_get(at, "type") != NULL ? dfl_tl_get(at, "type")->span : at->span, type);
    return false;
}

/* Reads a map by kinds, `{temporal: {...}, dataspace: {...}}`, as it stands at a node. Of the two levels that a component
   with `spatial` makes, the one in front has its spatial constraints. */
static bool read_own(dfl_tl_file *f, uint32_t k)
{
    const dfl_yaml *own = f->levels[k].constraints;

    for (uint32_t i = 0; own != NULL && own->kind == DFL_YAML_MAP && i < own->n; i++) {
        const char *type = own->keys[i].text;
        const dfl_yaml *part = &own->items[i];
        dfl_tl_level *l = &f->levels[k];

        if (part->kind == DFL_YAML_SCALAR && part->text[0] == '\0')
            continue;
        if (l->alias != NULL && strcmp(type, "spatial") != 0)
            continue;
        if (l->alias == NULL && strcmp(type, "spatial") == 0 && k + 1 < f->n_levels && f->levels[k + 1].constraints == own)
            continue;
        if (!read_kind(f, part, type, l))
            return false;
    }
    return true;
}

/* Of the branches of `!Parallel`, only one holds a tensor: a level does not hold what another branch keeps. A level
   without room holds nothing. */
static void close_branches(dfl_tl_file *f)
{
    for (uint32_t k = 0; k < f->n_levels; k++) {
        for (uint32_t other = 0; other < f->n_levels; other++) {
            if (f->levels[k].group != 0 && f->levels[k].group == f->levels[other].group &&
                f->levels[k].branch != f->levels[other].branch)
                f->levels[k].bypass |= f->levels[other].keep & ~f->levels[k].keep;
        }
        if (f->levels[k].entries == 0)
            f->levels[k].bypass = dfl_tl_all(f);
    }
}

/* ---- what constraints leave to the search ---- */

/* Whether the level may have loops over the dimension. */
static bool may_loop(const dfl_tl_file *f, uint32_t k, bool spatial, uint32_t d)
{
    const dfl_tl_limits *limits = &f->levels[k].limits[spatial];

    return f->dims[d].bound > 1 && (!limits->given || limits->factor[d] != 1);
}

uint32_t dfl_tl_written(const dfl_tl_file *f, uint32_t k, bool spatial, uint32_t *out, bool *open)
{
    const dfl_tl_level *l = &f->levels[k];
    const dfl_tl_limits *limits = &l->limits[spatial];
    int64_t fan[2];
    uint32_t n = 0, rest = 0;

    *open = false;
    dfl_tl_fan_out(f, k, fan);
    if (spatial ? fan[0] * fan[1] == 1 : f->tree != NULL && l->entries == 0)
        return 0;
    /* The place of a spatial loop on its axis costs nothing; which axis it takes must be known. */
    if (spatial && (!limits->given || (fan[0] > 1 && fan[1] > 1 && !limits->has_split))) {
        *open = true;
        return 0;
    }
    for (uint32_t d = 0; d < f->n_dims; d++) {
        bool ordered = spatial;

        for (uint32_t i = 0; i < limits->n_order; i++)
            ordered |= limits->order[i] == d;
        rest += may_loop(f, k, spatial, d) && !ordered;
    }
    for (uint32_t d = 0; d < f->n_dims; d++) {
        bool ordered = false;

        for (uint32_t i = 0; i < limits->n_order; i++)
            ordered |= limits->order[i] == d;
        if (may_loop(f, k, spatial, d) && !ordered && rest <= 1)
            out[n++] = d;
    }
    for (uint32_t i = limits->n_order; i-- > 0;) {
        if (may_loop(f, k, spatial, limits->order[i]))
            out[n++] = limits->order[i];
    }
    *open = rest > 1;
    return n;
}

bool dfl_tl_is_open(const dfl_tl_file *f)
{
    uint32_t *dims = DFL_NEW_ARRAY(f->report->arena, uint32_t, f->n_dims + 1);
    bool any = false;

    for (uint32_t k = 0; k < f->n_levels; k++) {
        for (int spatial = 0; spatial < 2; spatial++) {
            bool open;

            dfl_tl_written(f, k, spatial == 1, dims, &open);
            any |= open;
        }
    }
    return any;
}

/* Reports the constraints that lines of the search may break: excluded loops, where lines are open. Spatial lines may
   appear in any hole. */
static void look_at_freedom(dfl_tl_file *f)
{
    uint32_t *dims = DFL_NEW_ARRAY(f->report->arena, uint32_t, f->n_dims + 1);
    bool any = dfl_tl_is_open(f);

    for (uint32_t k = f->n_levels; k-- > 0;) {
        for (int spatial = 0; spatial < 2; spatial++) {
            const dfl_tl_limits *limits = &f->levels[k].limits[spatial];
            bool open, excludes = false;
            int64_t fan[2], used = 1;

            dfl_tl_written(f, k, spatial == 1, dims, &open);
            dfl_tl_fan_out(f, k, fan);
            for (uint32_t d = 0; d < f->n_dims && limits->given; d++) {
                excludes |= f->dims[d].bound > 1 && limits->factor[d] != 0;
                used *= limits->factor[d] > 1 && used <= fan[0] * fan[1] ? limits->factor[d] : 1;
            }
            if (excludes && (spatial == 1 ? any && used < fan[0] * fan[1] : open))
                dfl_lose(f->report, DFL_FOREIGN_LOST, limits->span,
                         "the search may add %s loops at `%s` that this constraint excludes",
                         spatial == 1 ? "spatial" : "temporal", f->levels[k].name);
        }
    }
}

/* Whether the instances below each level suffice for the factors that constraints fix. */
static bool is_wide_enough(dfl_tl_file *f)
{
    for (uint32_t k = 0; k < f->n_levels; k++) {
        const dfl_tl_limits *limits = &f->levels[k].limits[1];
        int64_t fan[2], used = 1;

        dfl_tl_fan_out(f, k, fan);
        for (uint32_t d = 0; d < f->n_dims && limits->given; d++)
            used *= limits->factor[d] > 1 && used <= fan[0] * fan[1] ? limits->factor[d] : 1;
        if (used > fan[0] * fan[1])
            return dfl_tl_wrong(f, DFL_FOREIGN_RANGE, limits->factors_span,
                                "these factors need %lld instances below `%s`, which has %lld", (long long)used,
                                f->levels[k].name, (long long)(fan[0] * fan[1]));
    }
    return true;
}

/* Whether the factors that constraints fix divide their dimensions. */
static bool is_even(dfl_tl_file *f)
{
    for (uint32_t k = 0; k < f->n_levels; k++) {
        for (int spatial = 0; spatial < 2; spatial++) {
            const dfl_tl_limits *limits = &f->levels[k].limits[spatial];

            for (uint32_t d = 0; d < f->n_dims && limits->given; d++) {
                if (limits->factor[d] > 1 && f->dims[d].bound % limits->factor[d] != 0)
                    return dfl_tl_wrong(f, DFL_FOREIGN_RANGE, limits->factors_span,
                                        "the factor %lld does not divide `%c`, %lld: a search has only tiles that divide",
                                        (long long)limits->factor[d], f->dims[d].letter, (long long)f->dims[d].bound);
            }
        }
    }
    return true;
}

/* Whether the factors of each dimension can make its extent, as far as constraints write them. */
static bool is_possible(dfl_tl_file *f)
{
    uint32_t *dims = DFL_NEW_ARRAY(f->report->arena, uint32_t, f->n_dims + 1);

    for (uint32_t d = 0; d < f->n_dims && !dfl_tl_is_open(f); d++) {
        dfl_i128 product = 1;
        bool open = false;

        for (uint32_t k = 0; k < f->n_levels; k++) {
            for (int spatial = 0; spatial < 2; spatial++) {
                const dfl_tl_limits *limits = &f->levels[k].limits[spatial];
                bool hole;
                uint32_t n = dfl_tl_written(f, k, spatial == 1, dims, &hole);

                for (uint32_t i = 0; i < n; i++) {
                    if (dims[i] != d)
                        continue;
                    open |= !limits->given || limits->factor[d] == 0;
                    product *= limits->given && limits->factor[d] > 0 && product <= f->dims[d].bound ? limits->factor[d] : 1;
                }
            }
        }
        if (!open && product != f->dims[d].bound)
            return dfl_tl_wrong(f, DFL_FOREIGN_RANGE, f->dims[d].span, "the factors of `%c` cannot make its size, %lld",
                                f->dims[d].letter, (long long)f->dims[d].bound);
    }
    return true;
}

bool dfl_tl_read_constraints(dfl_tl_file *f)
{
    for (uint32_t k = 0; k < f->n_levels; k++) {
        if (!read_own(f, k))
            return false;
    }
    for (uint32_t i = 0; f->constraints != NULL && i < f->constraints->n; i++) {
        const dfl_yaml *at = &f->constraints->items[i], *type = dfl_tl_get(at, "type");
        bool aimless = type != NULL && dfl_tl_get(at, "target") == NULL &&
                       (strcmp(type->text, "utilization") == 0 || strcmp(type->text, "parallelism") == 0);
        dfl_tl_level *l = aimless ? &f->levels[0] : dfl_tl_target(f, at);

        if (l == NULL)
            return false;
        if (type == NULL) {
            /* A map by kinds behind `target`. */
            for (uint32_t m = 0; m < at->n; m++) {
                if (!dfl_tl_is_key(at->keys[m].text, "target") && at->items[m].kind == DFL_YAML_MAP &&
                    !read_kind(f, &at->items[m], at->keys[m].text, l))
                    return false;
            }
            continue;
        }
        if (!read_kind(f, at, dfl_tl_text(f, type, at->span, "the type of a constraint"), l))
            return false;
    }
    close_branches(f);
    if (!f->ok || !is_wide_enough(f) || !is_even(f) || !is_possible(f))
        return false;
    look_at_freedom(f);
    for (uint32_t i = 0; f->metrics != NULL && i < f->metrics->n; i++) {
        if (dfl_tl_metric(&f->metrics->items[i]) == NULL)
            dfl_lose(f->report, DFL_FOREIGN_IGNORED, f->metrics->items[i].span, "the metric `%s` has no effect",
                     f->metrics->items[i].text);
    }
    return f->ok;
}
