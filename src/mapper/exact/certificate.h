/*
 * What a search knows, for somebody who wants to verify it (src/certify): all templates with their bounds, what the patterns
 * cost at least, and the rows that were left. One JSON value, the key `search` of a certificate (grammar/
 * dfl-certificate-1.schema.json). Einsums, ranks, tensors and memories go by their names; a class by those of its first einsum.
 */
#ifndef DFL_MAPPER_EXACT_CERTIFICATE_H
#define DFL_MAPPER_EXACT_CERTIFICATE_H

#include "mapper/exact/einsum_classes.h"
#include "support/strbuf.h"

/* `goal->limit` is the value up to which the rows of the classes are complete, `all` what the patterns make at least,
   and `joined` the value of the best way to put rows together. If `all` is NULL, the classes are not finished, and only the
   templates and their bounds are written.
   What is written is incomplete if the deadline passes meanwhile. */
void dfl_certificate_write(dfl_strbuf *out, const dfl_intern *names, const dfl_einsum_classes *classes, const dfl_tile_goal *goal,
                           const dfl_criteria *all, double joined, dfl_deadline *halt);

#endif
