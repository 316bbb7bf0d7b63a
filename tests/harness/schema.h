/*
 * A validator for the part of JSON Schema that grammar/dfl-report-1.schema.json uses: type, const, enum, properties,
 * required, additionalProperties, items, minimum, and $ref into $defs. An unknown keyword is an error, so that no rule
 * of a schema goes unchecked.
 */
#ifndef DFL_TESTS_HARNESS_SCHEMA_H
#define DFL_TESTS_HARNESS_SCHEMA_H

#include "support/json.h"
#include "support/strbuf.h"

/* True when `value` conforms; else `why` gets the path of the first place that does not, and the reason. */
bool check_schema(const dfl_json *schema, const dfl_json *value, dfl_strbuf *why);

#endif
