/*
 * The vocabulary of systems: all attributes of parts, one row each. A row states the name, the kinds of parts that have
 * the attribute, the values that it takes, and their dimension. A number that the later passes read as it is needs no
 * more than its row and the member of ir/system.h that the row names; every other attribute is lowered in finish.c.
 */
#ifndef DFL_SEMA_SYSTEM_VOCABULARY_H
#define DFL_SEMA_SYSTEM_VOCABULARY_H

#include "sema/system/system_draft.h"

/* The values that an attribute takes. A quantity may have cycles in place of time; a clock converts it. */
typedef enum {
    DFL_TAKES_SIZE,       /* an amount of data above zero, or the word `unlimited` */
    DFL_TAKES_QUANTITY,   /* a quantity of the dimension of the row, zero or above */
    DFL_TAKES_POSITIVE,   /* a quantity of the dimension of the row, above zero */
    DFL_TAKES_COUNT,      /* a whole number from 1 to 2^31 - 1 */
    DFL_TAKES_WORD,       /* the word in `example` */
    DFL_TAKES_STRING,
    /* The following take lists: */
    DFL_TAKES_TENSORS,    /* roles, names of tensors, `all` */
    DFL_TAKES_AXES,       /* axes, each with tensors in parentheses or without */
    DFL_TAKES_OPS,        /* `mac`, `flop`, names of operations */
    DFL_TAKES_ANY,        /* anything: checked by the parser alone, not evaluated */
} dfl_attribute_takes;

typedef struct {
    const char *name;        /* "read.energy"; "rate.*" = any name behind the dot */
    unsigned kinds;          /* set of parts that have the attribute: bits 1u << dfl_part_kind */
    dfl_attribute_takes takes;
    dfl_dim dim;             /* dimension of a quantity, without cycles */
    const char *example;     /* a value for help lines */
    /* By kind of part: offset of a double in dfl_memory, dfl_compute or dfl_network that gets the number, plus 1; it is 0
     * if the attribute is missing. 0 = no such member. */
    uint16_t member[DFL_N_PART_KINDS];
    const char *no_effect;   /* reason why the attribute changes no result, for the lint; NULL = it changes some */
} dfl_attribute_row;

/* The row at an index; NULL behind the last one. */
const dfl_attribute_row *dfl_attribute_at(int row);
/* The index of the attribute `name` ("read.energy") of a kind of part; -1 = it has none. */
int dfl_attribute_find(const char *name, dfl_part_kind kind);
/* Whether a kind of part has attributes that start with `name.`, so that `name` may be followed by braces. */
bool dfl_attribute_has_group(const char *name, dfl_part_kind kind);
/* Whether the row has a free name behind the dot: "rate.*". */
bool dfl_attribute_has_key(int row);
/* Reports an attribute that a kind of part does not have, with the most similar one. Sets `draft->broken`. */
void dfl_attribute_report_unknown(dfl_system_draft *draft, const char *name, dfl_part_kind kind, dfl_span span);

#endif
