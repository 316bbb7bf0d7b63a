/*
 * A system under construction: a list of parts with their stated attributes, from the declarations of the system and of
 * all systems that it uses. Overrides change attributes. At the end, the parts become the tree of ir/system.h.
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
    DFL_ATTRIBUTE_WORD,     /* a name, with or without arguments: `weight`, `row(weight)` */
    DFL_ATTRIBUTE_EFFICIENCY,
    DFL_ATTRIBUTE_UNKNOWN,  /* the value depends on a parameter without a value */
} dfl_attribute_value_kind;

/* Largest number of arguments that a kind of network takes. */
enum { DFL_TOPOLOGY_ARGUMENTS = 3 };

/* One of the values after the `=` of an attribute. */
typedef struct {
    dfl_attribute_value_kind kind;
    dfl_span span;
    dfl_quantity quantity;     /* value of a QUANTITY */
    dfl_sym word;              /* name of a WORD, or text of a STRING */
    const dfl_sym *args;       /* arguments of a WORD */
    const dfl_span *arg_spans; /* places of the arguments */
    uint32_t n_args;
    const dfl_efficiency *efficiency; /* value of an EFFICIENCY */
} dfl_attribute_value;

typedef struct {
    int row;              /* index of the attribute's row in the vocabulary */
    const char *name;     /* name of the attribute in the vocabulary */
    dfl_sym keys[2];      /* free names after "rate.": `mac`, `bf16`; 0 = no name */
    dfl_span span;        /* place of the attribute's name */
    const dfl_attribute_value *values;
    uint32_t n_values;
    uint32_t layer;       /* 0 = stated in the declaration; else serial number of the block of overrides that states the
                             attribute: the highest number takes precedence */
} dfl_draft_attribute;

typedef struct {
    dfl_part_kind kind;
    uint32_t id;          /* index of the part among the parts of its kind */
    dfl_sym name;         /* full name of the part; 0 = an element without a name */
    dfl_span span;
    uint32_t element;     /* index of the enclosing element's part; for the root, its own index */
    DFL_VEC(dfl_draft_attribute) attrs;
    uint32_t after_memory;          /* compute unit: number of memories declared before the unit */
    dfl_sym network_kind;           /* network: its kind, `bus`, `mesh`, ... */
    dfl_topology topology;          /* network: its shape; an argument of the kind that is not stated is 0 */
    const char *argument;           /* network: name of the first argument of its kind (`levels`), or NULL */
    dfl_span argument_spans[DFL_TOPOLOGY_ARGUMENTS]; /* network: places of the arguments, in the order of the kind */
    int64_t size;                   /* axis: number of instances along it; 0 = unknown */
    uint32_t network;               /* axis: part of the network after `over`, or DFL_NONE */
    uint32_t multiplies;            /* axis: part of the element that the axis repeats */
    uint32_t first_axis, n_axes;    /* element of an array: ids of the array's axes */
    bool side;                      /* element: a side branch, declared by `element` */
    bool used_system;               /* element: inserted by `use` */
    bool silent;                    /* an error about the part has been reported, so missing attributes are not reported */
} dfl_draft_part;

typedef struct {
    dfl_arena *arena;
    dfl_sink *sink;
    const dfl_intern *names;
    dfl_intern *new_names;          /* symbol table of the input, for new symbols */
    const dfl_lint_levels *lints;   /* NULL = no lints */
    dfl_span lint_range;            /* range of places; lints about other places are silent */
    dfl_sym name;
    dfl_span span;
    DFL_VEC(dfl_draft_part) parts;  /* parts; part 0 is the root element, and every part follows its enclosing element */
    dfl_symmap by_name[DFL_N_PART_KINDS]; /* [kind of part]: map from full names to the dfl_span of the declaration */
    uint32_t count[DFL_N_PART_KINDS];     /* [kind of part]: number of parts */
    uint32_t layers;                /* number of blocks of overrides so far */
    bool unsized;                   /* some value is unknown: the system is a template */
    bool broken;                    /* an error has been reported */
    bool lenient;                   /* the file has syntax errors: a missing attribute may be a consequence and is not
                                       reported */
} dfl_system_draft;

/* Whether lints about a place are reported. */
static inline bool dfl_system_draft_lints(const dfl_system_draft *draft, dfl_span at)
{
    return draft->lints != NULL && at.start >= draft->lint_range.start && at.start < draft->lint_range.end;
}

#endif
