/*
 * Certificates of searches: when a search has one, its text, and its check against a file. The format is
 * grammar/dfl-certificate-1.schema.json; src/certify reads it without the search.
 */
#ifndef DFL_SOLVE_CERTIFICATE_H
#define DFL_SOLVE_CERTIFICATE_H

#include "certify/claims.h"
#include "mapper/mapper.h"
#include "solve/solve.h"

/* Reports E0808: the search for a mapping has no certificate. Always false. */
bool dfl_certificate_refuse(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping);
/* Whether there can be a certificate of the one mapping with holes that is to be filled, the one called `only` unless that is
   NULL. True if the options ask for none; false after E0808. */
bool dfl_certificate_is_possible(const dfl_solver *solver, const char *only);
/* Sets the certificate of a filled mapping; nothing without `found->certificate`. */
void dfl_certificate_add(const dfl_solver *solver, dfl_filled *filled, const dfl_objective *objective,
                           const dfl_search_result *found, const dfl_result *costs);

/* The mapping with holes that a certificate is for, and its objective; NULL after E0805 when there is none, or the file is
   another one. */
const dfl_mapping *dfl_certificate_find_mapping(const dfl_solver *solver, const dfl_claims *claims, dfl_objective *objective);
/* Verifies the claims. `best` is the mapping of the certificate, read in the place of `asked`; `effort` is a number of tile
   choices. Returns lines on what was shown, NULL = nothing. */
const char *dfl_certificate_verify(const dfl_solver *solver, const dfl_claims *claims, const dfl_mapping *asked,
                                   const dfl_objective *objective, const dfl_mapping *best, uint64_t effort, double deadline);

#endif
