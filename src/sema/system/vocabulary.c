/* The vocabulary of systems, and the checks of one attribute. */
#include "sema/system/system.h"

#include <string.h>

#include "lint/system.h"

#define E (1u << DFL_PART_ELEMENT)
#define M (1u << DFL_PART_MEMORY)
#define C (1u << DFL_PART_COMPUTE)
#define N (1u << DFL_PART_NETWORK)

#define NO_DIM     { { 0 } }
#define DATA_RATE  { { [DFL_BASE_DATA] = 1, [DFL_BASE_TIME] = -1 } }
#define PER_BIT    { { [DFL_BASE_ENERGY] = 1, [DFL_BASE_DATA] = -1 } }
#define PER_OP     { { [DFL_BASE_ENERGY] = 1, [DFL_BASE_OPS] = -1 } }
#define OP_RATE    { { [DFL_BASE_OPS] = 1, [DFL_BASE_TIME] = -1 } }
#define POWER      { { [DFL_BASE_ENERGY] = 1, [DFL_BASE_TIME] = -1 } }
#define FREQUENCY  { { [DFL_BASE_CYCLE] = 1, [DFL_BASE_TIME] = -1 } }
#define TIME       { { [DFL_BASE_TIME] = 1 } }
#define AREA       { { [DFL_BASE_AREA] = 1 } }
#define MONEY      { { [DFL_BASE_MONEY] = 1 } }
#define DATA       { { [DFL_BASE_DATA] = 1 } }

static const dfl_attr_info vocabulary[] = {
    { "clock",            E,         DFL_TAKES_POSITIVE, FREQUENCY, "1GHz" },
    { "tdp",              E,         DFL_TAKES_QUANTITY, POWER,     "400W" },
    { "price",            E | N,     DFL_TAKES_QUANTITY, MONEY,     "12kUSD" },
    { "area",             E | M | C, DFL_TAKES_QUANTITY, AREA,      "20mm2" },
    { "source",           E,         DFL_TAKES_STRING,   NO_DIM,    "\"...\"" },
    { "confidence",       E,         DFL_TAKES_STRING,   NO_DIM,    "\"high\"" },
    { "size",             M,         DFL_TAKES_SIZE,     DATA,      "1MiB" },
    { "bandwidth",        M | N,     DFL_TAKES_POSITIVE, DATA_RATE, "64GB/s" },
    { "read.bandwidth",   M,         DFL_TAKES_POSITIVE, DATA_RATE, "64GB/s" },
    { "write.bandwidth",  M,         DFL_TAKES_POSITIVE, DATA_RATE, "64GB/s" },
    { "energy",           M | N,     DFL_TAKES_QUANTITY, PER_BIT,   "1.5pJ/bit" },
    { "read.energy",      M,         DFL_TAKES_QUANTITY, PER_BIT,   "1.5pJ/bit" },
    { "write.energy",     M,         DFL_TAKES_QUANTITY, PER_BIT,   "1.5pJ/bit" },
    { "energy",           C,         DFL_TAKES_QUANTITY, PER_OP,    "0.1pJ/FLOP" },
    { "energy.mac",       C,         DFL_TAKES_QUANTITY, PER_OP,    "0.2pJ/MAC" },
    { "energy.flop",      C,         DFL_TAKES_QUANTITY, PER_OP,    "0.1pJ/FLOP" },
    { "latency",          M | N,     DFL_TAKES_QUANTITY, TIME,      "100ns" },
    { "leakage",          M | C,     DFL_TAKES_QUANTITY, POWER,     "3mW" },
    { "buffers",          M,         DFL_TAKES_COUNT,    NO_DIM,    "2" },
    { "overlap",          M,         DFL_TAKES_WORD,     NO_DIM,    "stream" },
    { "ports",            M,         DFL_TAKES_WORD,     NO_DIM,    "shared" },
    { "holds",            M,         DFL_TAKES_TENSORS,  NO_DIM,    "weight" },
    { "rate",             C,         DFL_TAKES_POSITIVE, OP_RATE,   "1MAC/cycle" },
    { "rate.*",           C,         DFL_TAKES_POSITIVE, OP_RATE,   "1MAC/cycle" },
    { "ops",              C,         DFL_TAKES_OPS,      NO_DIM,    "mac" },
    { "operand_reuse",    C,         DFL_TAKES_TENSORS,  NO_DIM,    "weight" },
    { "efficiency",       C,         DFL_TAKES_ANY,      NO_DIM,    "table(\"...\")" },
    { "multicast",        N,         DFL_TAKES_AXES,     NO_DIM,    "row, col" },
    { "reduce",           N,         DFL_TAKES_AXES,     NO_DIM,    "row" },
    { "forward",          N,         DFL_TAKES_AXES,     NO_DIM,    "row" },
    { "oversubscription", N,         DFL_TAKES_POSITIVE, NO_DIM,    "2" },
    { "power",            N,         DFL_TAKES_QUANTITY, POWER,     "100W" },
};

enum { N_INFOS = sizeof vocabulary / sizeof vocabulary[0] };

static const char *const kind_names[] = { "an element", "a memory", "a compute unit", "a network", "an axis" };

const dfl_attr_info *dfl_attr_at(int info)
{
    return &vocabulary[info];
}

int dfl_attr_find(const char *name, dfl_part_kind kind)
{
    for (int i = 0; i < (int)N_INFOS; i++) {
        const char *known = vocabulary[i].name;
        size_t same = 0;

        if (!(vocabulary[i].kinds & 1u << kind) || known[0] != name[0])
            continue;
        while (known[same] != '\0' && known[same] == name[same])
            same++;
        if (known[same] == '*' || (known[same] == '\0' && name[same] == '\0'))
            return i;
    }
    return -1;
}

bool dfl_attr_has_group(const char *name, dfl_part_kind kind)
{
    size_t len = strlen(name);

    for (int i = 0; i < (int)N_INFOS; i++)
        if ((vocabulary[i].kinds & 1u << kind) && strncmp(vocabulary[i].name, name, len) == 0 &&
            vocabulary[i].name[len] == '.')
            return true;
    return false;
}

void dfl_attr_report_unknown(dfl_sys *s, const char *name, dfl_part_kind kind, dfl_span span)
{
    dfl_sym known[N_INFOS], near;
    size_t n = 0;
    const char *elsewhere = NULL;
    dfl_diag *d = dfl_report(s->sink, DFL_SYS_ATTRIBUTE_UNKNOWN, span, "%s has no attribute `%s`", kind_names[kind],
                             name);

    s->broken = true;
    for (int i = 0; i < (int)N_INFOS; i++) {
        if (vocabulary[i].kinds & 1u << kind)
            known[n++] = dfl_intern_z(s->new_names, vocabulary[i].name);
        else if (strcmp(vocabulary[i].name, name) == 0)
            for (unsigned k = 0; k < 5; k++)
                if (vocabulary[i].kinds & 1u << k)
                    elsewhere = kind_names[k];
    }
    near = dfl_suggest(s->names, name, known, n);
    if (near != 0)
        dfl_diag_fix(s->sink, d, span, dfl_sym_text(s->names, near), DFL_FIX_MAYBE);
    else if (elsewhere != NULL)
        dfl_diag_help(s->sink, d, "`%s` is an attribute of %s", name, elsewhere);
    else if (n > 0)
        dfl_diag_help(s->sink, d, "`dflc explain E0502` lists the attributes");
}

uint32_t dfl_sys_add(dfl_sys *s, dfl_part_kind kind, dfl_sym name, dfl_span span, uint32_t element)
{
    dfl_sys_part part = { .kind = kind, .id = s->count[kind]++, .name = name, .span = span, .element = element,
                          .network = DFL_NONE };

    part.after_memory = s->count[DFL_PART_MEMORY];
    DFL_PUSH(s->arena, &s->parts, part);
    return (uint32_t)(s->parts.n - 1);
}

/* ---- one attribute -------------------------------------------------------------------------------------------- */

static const char *dim_text(dfl_sys *s, dfl_dim dim)
{
    dfl_strbuf out;

    dfl_strbuf_init(&out, s->arena);
    dfl_dim_print(&out, dim);
    return out.text;
}

static dfl_diag *wrong(dfl_sys *s, dfl_code code, dfl_span span, const char *name, const char *expected,
                       const char *found)
{
    s->broken = true;
    return dfl_report(s->sink, code, span, "`%s` expects %s, found %s", name, expected, found);
}

static const char *kind_text(dfl_sys *s, const dfl_sys_value *v)
{
    if (v->kind == DFL_SYS_QUANTITY)
        return dim_text(s, v->quantity.dim);
    return v->kind == DFL_SYS_STRING ? "a string" : dfl_arena_printf(s->arena, "`%s`", dfl_sym_text(s->names, v->word));
}

/* The dimension with its cycles turned into time, as a clock would turn them. */
static dfl_dim in_time(dfl_dim dim)
{
    dim.power[DFL_BASE_TIME] = (int8_t)(dim.power[DFL_BASE_TIME] + dim.power[DFL_BASE_CYCLE]);
    dim.power[DFL_BASE_CYCLE] = 0;
    return dim;
}

/* The unit that is probably missing: `40GB` where data/time is wanted lacks "/s". */
static const char *missing_unit(dfl_dim want, dfl_dim got)
{
    static const struct { dfl_dim lacks; const char *suffix; } cases[] = {
        { { { [DFL_BASE_TIME] = -1 } }, "/s" },
        { { { [DFL_BASE_DATA] = -1 } }, "/bit" },
        { { { [DFL_BASE_OPS] = -1 } }, "/FLOP" },
    };
    dfl_dim lacks;

    /* power is written in watts, not as an energy per second */
    if (dfl_dim_is_none(got) || !dfl_dim_product(want, got, -1, &lacks) ||
        (want.power[DFL_BASE_ENERGY] == 1 && want.power[DFL_BASE_TIME] == -1))
        return NULL;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (dfl_dim_equal(lacks, cases[i].lacks))
            return cases[i].suffix;
    return NULL;
}

static void check_dimension(dfl_sys *s, const dfl_attr_info *info, const char *name, const dfl_sys_value *v)
{
    const char *suffix = missing_unit(info->dim, v->quantity.dim);
    const dfl_source *source = dfl_source_of(dfl_sink_sources(s->sink), v->span);
    dfl_diag *d = wrong(s, DFL_UNIT_DIMENSION, v->span, name, dim_text(s, info->dim), dim_text(s, v->quantity.dim));

    if (suffix != NULL && source != NULL) {
        size_t len = v->span.end - v->span.start;
        const char *written = dfl_arena_copy(s->arena, source->text + (v->span.start - source->base), len);

        /* A literal can take the suffix; an expression cannot. */
        if (strpbrk(written, " +*/()") == NULL && written[0] >= '0' && written[0] <= '9') {
            written = dfl_arena_printf(s->arena, "%s%s", written, suffix);
            dfl_diag_help(s->sink, d, "write `%s`", written);
            dfl_diag_fix(s->sink, d, v->span, written, DFL_FIX_MAYBE);
            return;
        }
    }
    dfl_diag_help(s->sink, d, "write a value like `%s`", info->hint);
}

static bool is_word(const dfl_sys *s, const dfl_sys_value *v, const char *word)
{
    return v->kind == DFL_SYS_WORD && v->n_args == 0 && strcmp(dfl_sym_text(s->names, v->word), word) == 0;
}

static void check_value(dfl_sys *s, const dfl_attr_info *info, const char *name, const dfl_sys_value *v)
{
    dfl_diag *d;

    if (v->kind == DFL_SYS_UNKNOWN) {
        s->unsized = true;
        return;
    }
    switch (info->takes) {
    case DFL_TAKES_SIZE:
        if (is_word(s, v, "unlimited"))
            return;
        __attribute__((fallthrough));
    case DFL_TAKES_QUANTITY:
    case DFL_TAKES_POSITIVE:
        if (v->kind != DFL_SYS_QUANTITY) {
            d = wrong(s, DFL_EXPR_TYPE, v->span, name, "a value with a unit", kind_text(s, v));
            dfl_diag_help(s->sink, d, "write a value like `%s`", info->hint);
        } else if (!dfl_dim_equal(v->quantity.dim, info->dim) &&
                   !(v->quantity.dim.power[DFL_BASE_CYCLE] != 0 && dfl_dim_equal(in_time(v->quantity.dim), info->dim))) {
            check_dimension(s, info, name, v);
        } else if (v->quantity.real < 0 || (info->takes != DFL_TAKES_QUANTITY && v->quantity.real == 0)) {
            d = dfl_report(s->sink, DFL_SIZE_NOT_POSITIVE, v->span, "`%s` is %s", name,
                           v->quantity.real < 0 ? "negative" : "zero");
            dfl_diag_help(s->sink, d, "write a value like `%s`", info->hint);
            s->broken = true;
        }
        return;
    case DFL_TAKES_COUNT:
        if (v->kind != DFL_SYS_QUANTITY || !dfl_dim_is_none(v->quantity.dim) || !v->quantity.exact)
            dfl_diag_help(s->sink, wrong(s, DFL_EXPR_TYPE, v->span, name, "a whole number", kind_text(s, v)),
                          "write a number like `%s`", info->hint);
        else if (v->quantity.integer < 1 || v->quantity.integer > INT32_MAX) {
            d = dfl_report(s->sink, DFL_SIZE_NOT_POSITIVE, v->span, "`%s` must be from 1 to 2^31 - 1", name);
            dfl_diag_help(s->sink, d, "write a number like `%s`", info->hint);
            s->broken = true;
        }
        return;
    case DFL_TAKES_WORD:
        if (!is_word(s, v, info->hint)) {
            d = wrong(s, DFL_EXPR_TYPE, v->span, name, dfl_arena_printf(s->arena, "`%s`", info->hint), kind_text(s, v));
            dfl_diag_fix(s->sink, d, v->span, info->hint, DFL_FIX_MAYBE);
        }
        return;
    case DFL_TAKES_STRING:
        if (v->kind != DFL_SYS_STRING)
            wrong(s, DFL_EXPR_TYPE, v->span, name, "a string", kind_text(s, v));
        return;
    case DFL_TAKES_TENSORS:
    case DFL_TAKES_AXES:
    case DFL_TAKES_OPS:
        if (v->kind != DFL_SYS_WORD || (v->n_args > 0 && info->takes != DFL_TAKES_AXES)) {
            d = wrong(s, DFL_EXPR_TYPE, v->span, name, "names", kind_text(s, v));
            dfl_diag_help(s->sink, d, "write names, as in `%s = %s`", name, info->hint);
        }
        return;
    case DFL_TAKES_ANY:
        s->unsupported = v->span;
        return;
    }
}

void dfl_sys_no_effect(dfl_sys *s, dfl_span at, const char *what, dfl_sym part, const char *why)
{
    if (dfl_sys_lints(s, at))
        dfl_lint_attribute_no_effect(s->sink, s->lints, at, what, dfl_sym_text(s->names, part != 0 ? part : s->name), why);
}

void dfl_sys_set(dfl_sys *s, uint32_t part, dfl_sys_attr attr)
{
    const dfl_attr_info *info = dfl_attr_at(attr.info);
    dfl_sys_part *p = &s->parts.at[part];
    const char *name = info->name;
    bool lists = info->takes >= DFL_TAKES_TENSORS;

    if (attr.keys[0] != 0)
        name = dfl_arena_printf(s->arena, "%.*s%s", (int)strlen(name) - 1, name, dfl_sym_text(s->names, attr.keys[0]));
    if (attr.n_values > 1 && !lists) {
        dfl_report(s->sink, DFL_EXPR_TYPE, attr.values[1].span, "`%s` takes one value", name);
        s->broken = true;
        return;
    }
    for (uint32_t i = 0; i < attr.n_values; i++) {
        size_t errors = dfl_sink_errors(s->sink);

        check_value(s, info, name, &attr.values[i]);
        p->silent |= dfl_sink_errors(s->sink) > errors;
    }
    for (size_t i = 0; i < p->attrs.n; i++) {
        dfl_sys_attr *old = &p->attrs.at[i];

        if (old->info != attr.info || old->keys[0] != attr.keys[0] || old->keys[1] != attr.keys[1])
            continue;
        if (attr.layer == old->layer) {
            dfl_diag *d = dfl_report(s->sink, DFL_SYS_ATTRIBUTE_TWICE, attr.span, "`%s` is given twice", name);

            dfl_diag_label(s->sink, d, old->span, "first given here");
            s->broken = true;
        } else if (attr.layer > old->layer) {
            *old = attr;
        }
        return;
    }
    DFL_PUSH(s->arena, &p->attrs, attr);
}
