/*
 * The vocabulary of systems: all attributes of parts, one row each. A row states the name, the kinds of parts that have
 * the attribute, the accepted values, and their dimension. Some numbers are used by later passes without conversion.
 * Such numbers need only a row, which names their member of ir/system.h. finish.c lowers all other attributes.
 */
#ifndef DFL_SEMA_SYSTEM_VOCABULARY_H
#define DFL_SEMA_SYSTEM_VOCABULARY_H

#include "sema/system/system_draft.h"

/* The values that an attribute accepts. A quantity may have cycles in place of time; a clock converts it. */
typedef enum {
    DFL_TAKES_SIZE,       /* an amount of data > 0, or the word `unlimited` */
    DFL_TAKES_QUANTITY,   /* a quantity >= 0 with the dimension of the row */
    DFL_TAKES_POSITIVE,   /* a quantity > 0 with the dimension of the row */
    DFL_TAKES_COUNT,      /* a whole number from 1 to 2^31 - 1 */
    DFL_TAKES_WORD,       /* the word in `example` */
    DFL_TAKES_STRING,
    DFL_TAKES_AXIS,       /* the name of one axis */
    DFL_TAKES_EFFICIENCY, /* `table(...)`, `curve(...)` or a share; the dimension is that of the size of the work */
    /* The following kinds accept lists. */
    DFL_TAKES_TENSORS,    /* list of roles, names of tensors, `all` */
    DFL_TAKES_AXES,       /* list of axes, each with or without tensors in parentheses */
    DFL_TAKES_OPS,        /* list of `mac`, `flop`, names of operations */
    DFL_TAKES_ALGORITHMS, /* list of algorithms of collectives */
} dfl_attribute_takes;

typedef struct {
    const char *name;        /* name of the attribute, "read.energy"; "rate.*" = any name after the dot */
    unsigned kinds;          /* set of parts that have the attribute: bits 1u << dfl_part_kind */
    dfl_attribute_takes takes;
    dfl_dim dim;             /* dimension of a quantity, without cycles */
    const char *example;     /* an example value, for help lines */
    /* [kind of part]: 1 + offset of the double in dfl_memory, dfl_compute or dfl_network that stores the number; the
       double is 0 if the attribute is not stated. 0 = no such member. */
    uint16_t member[DFL_N_PART_KINDS];
    const char *no_effect;   /* reason why the attribute affects no result, for the lint; NULL = the attribute affects some
                                result */
} dfl_attribute_row;

/* The row with an index; NULL after the last row. */
const dfl_attribute_row *dfl_attribute_at(int row);
/* The index of the attribute `name` ("read.energy") of a kind of part; -1 = no such attribute. */
int dfl_attribute_find(const char *name, dfl_part_kind kind);
/* Whether a kind of part has attributes whose names start with `name.`, so that braces may follow `name`. */
bool dfl_attribute_has_group(const char *name, dfl_part_kind kind);
/* Whether the row has a free name after the dot: "rate.*". */
bool dfl_attribute_has_key(int row);
/* Reports an attribute that a kind of part does not have, with the most similar one. Sets `draft->broken`. */
void dfl_attribute_report_unknown(dfl_system_draft *draft, const char *name, dfl_part_kind kind, dfl_span span);

#endif
