/* Slips of the pen whose correction is known: help with an edit for an unexpected token. */
#ifndef DFL_SYNTAX_SLIPS_H
#define DFL_SYNTAX_SLIPS_H

#include "syntax/feed.h"
#include "syntax/parse.h"

/* The report under construction, the tokens that the grammar allows by their names, and the tokens around its place. */
typedef struct {
    dfl_parse *p;
    dfl_diag *d;
    const char *const *expected;
    size_t n;
    const dfl_feed *f;
    uint16_t before, now, next, statement; /* kinds of the tokens */
} dfl_slip;

/* Whether the grammar allows the token `name` in place of the present one. */
bool dfl_slip_wants(const dfl_slip *s, const char *name);
/* Whether a token of this kind is a name, or a keyword that may be a name. */
bool dfl_slip_is_name(uint16_t kind);
bool dfl_slip_is_blank(char c);
/* The text from the start of the statement to its `;`, or to a comment. */
const char *dfl_slip_statement(const dfl_slip *s, size_t *len);
/* The place in the source of a part of this text. */
dfl_span dfl_slip_place(const dfl_slip *s, size_t from, size_t to);
/* Adds help alone. Returns true. */
bool dfl_slip_tell(const dfl_slip *s, const char *help);
/* Adds help and one edit. Returns true. */
bool dfl_slip_mend(const dfl_slip *s, dfl_span at, const char *text, dfl_certainty certainty, const char *help);

/* Adds help, and mostly an edit, to the report about the present token. False if the slip is not known. */
bool dfl_slip_help(const dfl_slip *s);

#endif
