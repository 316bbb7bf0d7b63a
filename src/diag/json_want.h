/* Required values of a JSON file. The first missing value or value of a wrong kind of a file is reported, with its key;
   reading goes on with NULL or "". */
#ifndef DFL_DIAG_JSON_WANT_H
#define DFL_DIAG_JSON_WANT_H

#include "diag/diag.h"
#include "support/json.h"

typedef struct {
    dfl_sink *sink;
    dfl_code code;          /* code of the report */
    const char *file, *is;  /* parts of the message "`FILE` IS: `KEY` WHY" */
    bool ok;                /* nothing was reported so far */
} dfl_json_wanting;

/* Reports that the value of `key` is wrong, unless the file was reported before. */
void dfl_json_refuse(dfl_json_wanting *r, const char *key, const char *why);
/* The value of `key`, which must have the kind. NULL after reporting a value of another kind with the words `why`. */
const dfl_json *dfl_json_want(dfl_json_wanting *r, const dfl_json *object, const char *key, dfl_json_kind kind,
                              const char *why);
/* The text of `key`, which must be a string; "" after reporting. */
const char *dfl_json_want_text(dfl_json_wanting *r, const dfl_json *object, const char *key);

#endif
