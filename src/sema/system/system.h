/*
 * A system while it is being put together: parts with raw attributes, as the declarations of the system and of all
 * systems that it uses add them, then changed by overrides. Finishing converts cycles by the clock in scope, checks
 * what is required and what has no effect, and yields the flat tree of ir/system.h. The vocabulary of attributes is
 * one table (vocabulary.c): where an attribute may stand, what kind of value it takes, and how it is spelt.
 */
#ifndef DFL_SEMA_SYSTEM_SYSTEM_H
#define DFL_SEMA_SYSTEM_SYSTEM_H

#include "diag/diag.h"
#include "diag/lints.h"
#include "ir/quantity.h"
#include "ir/system.h"
#include "sema/files/symmap.h"
#include "support/vec.h"

typedef enum { DFL_PART_ELEMENT, DFL_PART_MEMORY, DFL_PART_COMPUTE, DFL_PART_NETWORK, DFL_PART_AXIS } dfl_part_kind;

/* What an attribute takes. A quantity may be given per cycle or in cycles where time is meant. */
typedef enum {
    DFL_TAKES_SIZE,       /* data above zero, or the word `unlimited` */
    DFL_TAKES_QUANTITY,   /* of the dimension in the table */
    DFL_TAKES_POSITIVE,   /* the same, but zero is no value */
    DFL_TAKES_COUNT,      /* a positive integer */
    DFL_TAKES_WORD,       /* one of the words in the table */
    DFL_TAKES_STRING,
    DFL_TAKES_TENSORS,    /* roles, names of tensors, `all` */
    DFL_TAKES_AXES,       /* axes, each with tensors in parentheses or without */
    DFL_TAKES_OPS,        /* mac, flop, names of operations */
    DFL_TAKES_ANY,        /* checked, not evaluated */
} dfl_takes;

typedef struct {
    const char *name;     /* "read.energy"; "rate.*" stands for free names behind the dot */
    unsigned kinds;       /* bit mask of 1u << dfl_part_kind */
    dfl_takes takes;
    dfl_dim dim;          /* of a quantity, without cycles */
    const char *hint;     /* an example value, or the words allowed */
} dfl_attr_info;

typedef enum { DFL_SYS_QUANTITY, DFL_SYS_STRING, DFL_SYS_WORD, DFL_SYS_UNKNOWN } dfl_sys_value_kind;

/* One of the values behind `=`. A word may have arguments, `row(weight)`. UNKNOWN: depends on a missing parameter. */
typedef struct {
    dfl_sys_value_kind kind;
    dfl_span span;
    dfl_quantity quantity;
    dfl_sym word;
    const dfl_sym *args;
    const dfl_span *arg_spans;
    uint32_t n_args;
} dfl_sys_value;

typedef struct {
    int info;             /* index into the vocabulary */
    const char *name;     /* of the vocabulary */
    dfl_sym keys[2];      /* names behind "rate." and the like; 0 = none */
    dfl_span span;        /* of the name */
    const dfl_sys_value *values;
    uint32_t n_values;
    uint32_t layer;       /* 0 = its declaration; each block of overrides has its own, later ones win */
} dfl_sys_attr;

typedef struct {
    dfl_part_kind kind;
    uint32_t id;          /* among parts of its kind */
    dfl_sym name;         /* full; 0 for unnamed elements */
    dfl_span span;
    uint32_t element;     /* where it stands; of an element: its parent */
    DFL_VEC(dfl_sys_attr) attrs;
    uint32_t after_memory;          /* compute */
    dfl_sym network_kind;           /* network */
    const char *argument;           /* network: that its kind is given, or NULL */
    dfl_span argument_span;
    int64_t size;                   /* axis; 0 = unknown */
    uint32_t network;               /* axis: part index, DFL_NONE without `over` */
    uint32_t multiplies;            /* axis: element */
    uint32_t first_axis, n_axes;    /* element */
    bool side, used_system;         /* element */
    bool silent;                    /* wrong already */
} dfl_sys_part;

typedef struct {
    dfl_arena *arena;
    dfl_sink *sink;
    const dfl_intern *names;
    dfl_intern *new_names;
    const dfl_lint_levels *lints;   /* NULL: no lints (imported) */
    dfl_span lint_range;            /* lints only about what stands here */
    dfl_sym name;
    dfl_span span;
    DFL_VEC(dfl_sys_part) parts;    /* part 0 is the root element */
    dfl_symmap by_name[5];          /* by kind: full name to the span of the declaration */
    uint32_t count[5];              /* by kind */
    uint32_t layers;                /* blocks of overrides so far */
    bool unsized, broken;
    bool lenient;                   /* the file has syntax errors: what is missing may only have been lost */
    dfl_span unsupported;           /* an attribute that is checked but not evaluated */
} dfl_sys;

static inline bool dfl_sys_lints(const dfl_sys *s, dfl_span at)
{
    return s->lints != NULL && at.start >= s->lint_range.start && at.start < s->lint_range.end;
}

/* The lint attribute-no-effect: `what`, in the part or (0) in the system itself. */
void dfl_sys_no_effect(dfl_sys *s, dfl_span at, const char *what, dfl_sym part, const char *why);

uint32_t dfl_sys_add(dfl_sys *s, dfl_part_kind kind, dfl_sym name, dfl_span span, uint32_t element);

/* The vocabulary. dfl_attr_find: index of `key` or `key.sub`, for parts of a kind, or -1. */
const dfl_attr_info *dfl_attr_at(int info);
int dfl_attr_find(const char *name, dfl_part_kind kind);
/* Whether some attribute of the kind starts with `name.`, so that braces may follow it. */
bool dfl_attr_has_group(const char *name, dfl_part_kind kind);
/* Reports an attribute that the kind does not have, with what is near. */
void dfl_attr_report_unknown(dfl_sys *s, const char *name, dfl_part_kind kind, dfl_span span);
/* Checks number, kind and dimension of the values, and adds or replaces. */
void dfl_sys_set(dfl_sys *s, uint32_t part, dfl_sys_attr attr);

/* NULL for a template or after errors. `known_op` says whether a symbol is an operation. */
const dfl_system *dfl_sys_finish(dfl_sys *s, bool (*known_op)(void *context, dfl_sym op), void *context);

#endif
