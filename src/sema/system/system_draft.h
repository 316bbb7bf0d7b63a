/*
 * A system under construction: a list of parts with the attributes that were written for them, from the declarations of
 * the system and of all systems that it uses. Overrides change attributes; finishing turns the parts into the tree of
 * ir/system.h.
 */
#ifndef DFL_SEMA_SYSTEM_SYSTEM_DRAFT_H
#define DFL_SEMA_SYSTEM_SYSTEM_DRAFT_H

#include "diag/diag.h"
#include "diag/lints.h"
#include "ir/quantity.h"
#include "ir/system.h"
#include "sema/names/symmap.h"
#include "support/vec.h"

typedef enum { DFL_PART_ELEMENT, DFL_PART_MEMORY, DFL_PART_COMPUTE, DFL_PART_NETWORK, DFL_PART_AXIS } dfl_part_kind;
enum { DFL_N_PART_KINDS = DFL_PART_AXIS + 1 };

typedef enum {
    DFL_ATTRIBUTE_QUANTITY,
    DFL_ATTRIBUTE_STRING,
    DFL_ATTRIBUTE_WORD,     /* a name, with arguments or without: `weight`, `row(weight)` */
    DFL_ATTRIBUTE_UNKNOWN,  /* depends on a parameter without a value, or is not evaluated */
} dfl_attribute_value_kind;

/* One of the values behind the `=` of an attribute. */
typedef struct {
    dfl_attribute_value_kind kind;
    dfl_span span;
    dfl_quantity quantity;     /* of a QUANTITY */
    dfl_sym word;              /* of a WORD, and the text of a STRING */
    const dfl_sym *args;       /* arguments of a WORD */
    const dfl_span *arg_spans; /* places of the arguments */
    uint32_t n_args;
} dfl_attribute_value;

typedef struct {
    int row;              /* index into the vocabulary */
    const char *name;     /* name in the vocabulary */
    dfl_sym keys[2];      /* free names behind "rate.": `mac`, `bf16`; 0 = none */
    dfl_span span;        /* place of the name */
    const dfl_attribute_value *values;
    uint32_t n_values;
    uint32_t layer;       /* 0 = written in the declaration; else number of a block of overrides: the highest wins */
} dfl_draft_attribute;

typedef struct {
    dfl_part_kind kind;
    uint32_t id;          /* index among the parts of the kind */
    dfl_sym name;         /* full name; 0 = an element without a name */
    dfl_span span;
    uint32_t element;     /* part: the enclosing element; of the root: itself */
    DFL_VEC(dfl_draft_attribute) attrs;
    uint32_t after_memory;          /* compute unit: number of memories declared before */
    dfl_sym network_kind;           /* network: `bus`, `mesh`, ... */
    const char *argument;           /* network: argument of its kind (`levels`), or NULL */
    dfl_span argument_span;
    int64_t size;                   /* axis: elements along it; 0 = unknown */
    uint32_t network;               /* axis: part of the network behind `over`, or DFL_NONE */
    uint32_t multiplies;            /* axis: part of the element that the array repeats */
    uint32_t first_axis, n_axes;    /* element of an array: ids of its axes */
    bool side;                      /* element: declared by `element`, beside the others */
    bool used_system;               /* element: put in by `use` */
    bool silent;                    /* an error about the part was reported: no report of missing attributes */
} dfl_draft_part;

typedef struct {
    dfl_arena *arena;
    dfl_sink *sink;
    const dfl_intern *names;
    dfl_intern *new_names;          /* the same table, for new symbols */
    const dfl_lint_levels *lints;   /* NULL = no lints */
    dfl_span lint_range;            /* lints about other places are silent */
    dfl_sym name;
    dfl_span span;
    DFL_VEC(dfl_draft_part) parts;  /* part 0 is the root element; a part follows the element around it */
    dfl_symmap by_name[DFL_N_PART_KINDS]; /* by kind: full name to the dfl_span of the declaration */
    uint32_t count[DFL_N_PART_KINDS];     /* by kind: number of parts */
    uint32_t layers;                /* blocks of overrides so far */
    bool unsized;                   /* a value is unknown: a template */
    bool broken;                    /* an error was reported */
    bool lenient;                   /* the file has syntax errors: a missing attribute may be a consequence, unreported */
    dfl_span unsupported;           /* an attribute that is checked, but not evaluated; nowhere = none */
} dfl_system_draft;

/* Whether lints about a place are reported. */
static inline bool dfl_system_draft_lints(const dfl_system_draft *draft, dfl_span at)
{
    return draft->lints != NULL && at.start >= draft->lint_range.start && at.start < draft->lint_range.end;
}

#endif
