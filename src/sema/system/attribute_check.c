/* Check of one attribute: number, kind, dimension and sign of its values. */
#include "sema/system/system_internal.h"

#include <string.h>

#include "ir/unit_text.h"
#include "support/limits.h"

/* The dimension in the form of a report. */
static const char *dim_text(dfl_system_draft *draft, dfl_dim dim)
{
    dfl_strbuf out;

    dfl_strbuf_init(&out, draft->arena);
    dfl_dim_print(&out, dim);
    return out.text;
}

/* Reports a value that the attribute does not accept. */
static dfl_diag *report_unexpected(dfl_system_draft *draft, dfl_code code, dfl_span span, const char *name, const char *expected,
                                   const char *found)
{
    draft->broken = true;
    return dfl_report(draft->sink, code, span, "`%s` expects %s, found %s", name, expected, found);
}

/* The description of the value in a report. */
static const char *kind_text(dfl_system_draft *draft, const dfl_attribute_value *value)
{
    if (value->kind == DFL_ATTRIBUTE_QUANTITY)
        return dim_text(draft, value->quantity.dim);
    if (value->kind == DFL_ATTRIBUTE_STRING)
        return "a string";
    return dfl_arena_printf(draft->arena, "`%s`", dfl_sym_text(draft->names, value->word));
}

/* The dimension after a clock has converted cycles to time. */
static dfl_dim convert_cycles(dfl_dim dim)
{
    dim.power[DFL_BASE_TIME] = (int8_t)(dim.power[DFL_BASE_TIME] + dim.power[DFL_BASE_CYCLE]);
    dim.power[DFL_BASE_CYCLE] = 0;
    return dim;
}

/* The unit of measurement that a value probably lacks: "/s" for `40GB` if data/time is expected. NULL = no
   suggestion. */
static const char *missing_unit(dfl_dim want, dfl_dim got)
{
    static const struct { dfl_dim lacks; const char *suffix; } cases[] = {
        { { { [DFL_BASE_TIME] = -1 } }, "/s" },
        { { { [DFL_BASE_DATA] = -1 } }, "/bit" },
        { { { [DFL_BASE_OPS] = -1 } }, "/FLOP" },
    };
    dfl_dim lacks;

    /* Power is printed in watts, not as energy per second. */
    if (dfl_dim_is_none(got) || !dfl_dim_product(want, got, -1, &lacks) ||
        (want.power[DFL_BASE_ENERGY] == 1 && want.power[DFL_BASE_TIME] == -1))
        return NULL;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (dfl_dim_equal(lacks, cases[i].lacks))
            return cases[i].suffix;
    return NULL;
}

/* Whether the unit of a literal has no prefix: a rate like `1MAC` or `64B` is meant per cycle rather than per second. */
static bool has_no_prefix(const char *literal)
{
    const char *unit = literal + strspn(literal, "0123456789_.");

    return strcmp(unit, "B") == 0 || strcmp(unit, "bit") == 0 || strcmp(unit, "MAC") == 0 || strcmp(unit, "FLOP") == 0 ||
           strcmp(unit, "OP") == 0;
}

/* Reports a wrong dimension; suggests a literal with the missing unit, if only a unit is missing. */
static void report_dimension(dfl_system_draft *draft, const dfl_attribute_row *row, const char *name,
                             const dfl_attribute_value *value)
{
    const char *suffix = missing_unit(row->dim, value->quantity.dim);
    const dfl_source *source = dfl_source_of(dfl_sink_sources(draft->sink), value->span);
    dfl_diag *d = report_unexpected(draft, DFL_UNIT_DIMENSION, value->span, name, dim_text(draft, row->dim),
                                    dim_text(draft, value->quantity.dim));

    if (suffix != NULL && source != NULL) {
        size_t len = value->span.end - value->span.start;
        const char *written = dfl_arena_copy(draft->arena, source->text + (value->span.start - source->base), len);

        /* A literal can get a suffix; an expression cannot. */
        if (strpbrk(written, " +*/()") == NULL && written[0] >= '0' && written[0] <= '9') {
            if (strcmp(suffix, "/s") == 0 && has_no_prefix(written)) {
                const char *cycle = dfl_arena_printf(draft->arena, "%s/cycle", written);

                dfl_diag_help(draft->sink, d, "a rate is an amount per time: `%s`, or `%s/s`", cycle, written);
                dfl_diag_fix(draft->sink, d, value->span, cycle, DFL_FIX_MAYBE);
                return;
            }
            written = dfl_arena_printf(draft->arena, "%s%s", written, suffix);
            dfl_diag_help(draft->sink, d, "write `%s`", written);
            dfl_diag_fix(draft->sink, d, value->span, written, DFL_FIX_MAYBE);
            return;
        }
    }
    dfl_diag_help(draft->sink, d, "write a value like `%s`", row->example);
}

/* Whether a value is the word `word` without arguments. */
static bool is_word(const dfl_system_draft *draft, const dfl_attribute_value *value, const char *word)
{
    return value->kind == DFL_ATTRIBUTE_WORD && value->n_args == 0 &&
           strcmp(dfl_sym_text(draft->names, value->word), word) == 0;
}

/* Checks that a value is the word of an algorithm of collectives. */
static void check_algorithm(dfl_system_draft *draft, const char *name, const dfl_attribute_value *value)
{
    dfl_sym known[DFL_N_ALGORITHMS], near;
    const char *word = value->kind == DFL_ATTRIBUTE_WORD ? dfl_sym_text(draft->names, value->word) : "";
    dfl_diag *d;

    if (value->kind != DFL_ATTRIBUTE_WORD || value->n_args > 0) {
        d = report_unexpected(draft, DFL_EXPR_TYPE, value->span, name, "names of algorithms", kind_text(draft, value));
        dfl_diag_help(draft->sink, d, "write names, as in `algorithm = ring, halving_doubling`");
        return;
    }
    for (unsigned i = 0; i < DFL_N_ALGORITHMS; i++) {
        known[i] = dfl_intern_z(draft->new_names, dfl_algorithm_name((dfl_algorithm)i));
        if (known[i] == value->word)
            return;
    }
    d = dfl_report(draft->sink, DFL_NAME_UNKNOWN, value->span, "no algorithm `%s`", word);
    near = dfl_suggest(draft->names, word, known, DFL_N_ALGORITHMS);
    if (near != 0)
        dfl_diag_fix(draft->sink, d, value->span, dfl_sym_text(draft->names, near), DFL_FIX_MAYBE);
    else
        dfl_diag_help(draft->sink, d, "algorithms are ring, two_rings, direct, halving_doubling, double_tree, per_dimension, "
                      "rotated, chain, tree, message");
    draft->broken = true;
}

/* Checks one value against the row of its attribute. `name`: full name, for reports. */
static void check_value(dfl_system_draft *draft, const dfl_attribute_row *row, const char *name,
                        const dfl_attribute_value *value)
{
    dfl_diag *d;

    if (value->kind == DFL_ATTRIBUTE_UNKNOWN) {
        draft->unsized = true;
        return;
    }
    switch (row->takes) {
    case DFL_TAKES_SIZE:
        if (is_word(draft, value, "unlimited"))
            return;
        __attribute__((fallthrough));
    case DFL_TAKES_QUANTITY:
    case DFL_TAKES_POSITIVE:
        if (value->kind != DFL_ATTRIBUTE_QUANTITY) {
            d = report_unexpected(draft, DFL_EXPR_TYPE, value->span, name, "a value with a unit", kind_text(draft, value));
            dfl_diag_help(draft->sink, d, "write a value like `%s`", row->example);
        } else if (!dfl_dim_equal(value->quantity.dim, row->dim) &&
                   !(value->quantity.dim.power[DFL_BASE_CYCLE] != 0 &&
                     dfl_dim_equal(convert_cycles(value->quantity.dim), row->dim))) {
            report_dimension(draft, row, name, value);
        } else if (value->quantity.real < 0 || (row->takes != DFL_TAKES_QUANTITY && value->quantity.real == 0)) {
            d = dfl_report(draft->sink, DFL_SIZE_NOT_POSITIVE, value->span, "`%s` is %s", name,
                           value->quantity.real < 0 ? "negative" : "zero");
            dfl_diag_help(draft->sink, d, "write a value like `%s`", row->example);
            draft->broken = true;
        }
        return;
    case DFL_TAKES_COUNT:
        if (value->kind != DFL_ATTRIBUTE_QUANTITY || !dfl_dim_is_none(value->quantity.dim) || !value->quantity.exact)
            dfl_diag_help(draft->sink,
                          report_unexpected(draft, DFL_EXPR_TYPE, value->span, name, "an integer", kind_text(draft, value)),
                          "write a number like `%s`", row->example);
        else if (value->quantity.integer < 1 || value->quantity.integer > DFL_SEMA_MAX_COUNT) {
            d = dfl_report(draft->sink, DFL_SIZE_NOT_POSITIVE, value->span, "`%s` must be from 1 to 2^31 - 1", name);
            dfl_diag_help(draft->sink, d, "write a number like `%s`", row->example);
            draft->broken = true;
        }
        return;
    case DFL_TAKES_WORD:
        if (!is_word(draft, value, row->example)) {
            d = report_unexpected(draft, DFL_EXPR_TYPE, value->span, name, dfl_arena_printf(draft->arena, "`%s`", row->example),
                      kind_text(draft, value));
            dfl_diag_fix(draft->sink, d, value->span, row->example, DFL_FIX_MAYBE);
        }
        return;
    case DFL_TAKES_STRING:
        if (value->kind != DFL_ATTRIBUTE_STRING)
            report_unexpected(draft, DFL_EXPR_TYPE, value->span, name, "a string", kind_text(draft, value));
        return;
    case DFL_TAKES_AXIS:
        if (value->kind != DFL_ATTRIBUTE_WORD || value->n_args > 0) {
            d = report_unexpected(draft, DFL_EXPR_TYPE, value->span, name, "an axis", kind_text(draft, value));
            dfl_diag_help(draft->sink, d, "write a name, as in `%s = %s`", name, row->example);
        }
        return;
    case DFL_TAKES_TENSORS:
    case DFL_TAKES_AXES:
    case DFL_TAKES_OPS:
        if (value->kind != DFL_ATTRIBUTE_WORD ||
            (value->n_args > 0 && (row->takes != DFL_TAKES_AXES || strcmp(row->name, "forward") == 0))) {
            d = report_unexpected(draft, DFL_EXPR_TYPE, value->span, name, "names", kind_text(draft, value));
            dfl_diag_help(draft->sink, d, "write names, as in `%s = %s`", name, row->example);
        }
        return;
    case DFL_TAKES_ALGORITHMS:
        check_algorithm(draft, name, value);
        return;
    case DFL_TAKES_EFFICIENCY: /* checked by dfl_system_read_efficiency */
        return;
    }
}

/* The search is linear, since parts have few attributes. */
const dfl_draft_attribute *dfl_draft_find_attribute(const dfl_draft_part *part, const char *name)
{
    for (size_t i = 0; i < part->attrs.n; i++)
        if (part->attrs.at[i].n_values > 0 && part->attrs.at[i].name[0] == name[0] && strcmp(part->attrs.at[i].name, name) == 0)
            return &part->attrs.at[i];
    return NULL;
}

void dfl_system_put_attribute(dfl_system_draft *draft, uint32_t part, dfl_draft_attribute attr)
{
    const dfl_attribute_row *row = dfl_attribute_at(attr.row);
    dfl_draft_part *p = &draft->parts.at[part];
    const char *name = row->name;
    bool lists = row->takes >= DFL_TAKES_TENSORS;

    if (attr.keys[0] != 0)
        name = dfl_arena_printf(draft->arena, "%.*s%s", (int)strlen(name) - 1, name, dfl_sym_text(draft->names, attr.keys[0]));
    if (attr.n_values > 1 && !lists) {
        dfl_diag *d = dfl_report(draft->sink, DFL_EXPR_TYPE, attr.values[1].span, "`%s` takes one value", name);

        if (attr.values[1].span.start == attr.values[0].span.end + 1) { /* `1,024MB` */
            dfl_diag_help(draft->sink, d, "digits are separated by `_`, as in `1_048_576`, or by nothing");
            dfl_diag_fix(draft->sink, d, (dfl_span){ attr.values[0].span.end, attr.values[1].span.start }, "_", DFL_FIX_MAYBE);
        }
        draft->broken = p->silent = true;
        return;
    }
    for (uint32_t i = 0; i < attr.n_values; i++) {
        size_t errors = dfl_sink_errors(draft->sink);

        check_value(draft, row, name, &attr.values[i]);
        p->silent |= dfl_sink_errors(draft->sink) > errors;
    }
    for (size_t i = 0; i < p->attrs.n; i++) {
        dfl_draft_attribute *old = &p->attrs.at[i];

        if (old->row != attr.row || old->keys[0] != attr.keys[0] || old->keys[1] != attr.keys[1])
            continue;
        if (attr.layer == old->layer) {
            dfl_diag *d = dfl_report(draft->sink, DFL_SYS_ATTRIBUTE_TWICE, attr.span, "`%s` is given twice", name);

            dfl_diag_label(draft->sink, d, old->span, "first given here");
            draft->broken = true;
        } else if (attr.layer > old->layer) {
            *old = attr;
        }
        return;
    }
    DFL_PUSH(draft->arena, &p->attrs, attr);
}
