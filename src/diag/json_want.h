/*
 * Values that a JSON file must have, for those that read one: what is missing or of another kind is reported once a file, by its
 * key, and reading goes on with a harmless value.
 */
#ifndef DFL_DIAG_JSON_WANT_H
#define DFL_DIAG_JSON_WANT_H

#include "diag/diag.h"
#include "support/json.h"

typedef struct {
    dfl_sink *sink;
    dfl_code code;          /* of what is reported */
    const char *file, *is;  /* "`FILE` IS: `KEY` WHY" */
    bool ok;                /* nothing was reported */
} dfl_json_wanting;

/* Reports, unless something was reported before. */
void dfl_json_refuse(dfl_json_wanting *r, const char *key, const char *why);
/* NULL after reporting: `why` is said of a value of another kind. */
const dfl_json *dfl_json_want(dfl_json_wanting *r, const dfl_json *object, const char *key, dfl_json_kind kind,
                              const char *why);
/* "" after reporting. */
const char *dfl_json_want_text(dfl_json_wanting *r, const dfl_json *object, const char *key);

#endif
