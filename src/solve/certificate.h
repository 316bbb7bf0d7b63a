/*
 * Certificates of searches: makes the text of a certificate, and verifies a certificate against a file. The format is
 * grammar/dfl-certificate-1.schema.json; src/certify verifies the claims without the search.
 */
#ifndef DFL_SOLVE_CERTIFICATE_H
#define DFL_SOLVE_CERTIFICATE_H

#include "certify/claims.h"
#include "mapper/mapper.h"
#include "solve/solve.h"

/* Reports E0808: the search for a mapping produces no certificate. Returns false. */
bool dfl_certificate_refuse(dfl_sink *sink, const dfl_intern *names, const dfl_mapping *mapping);
/* Whether the search can produce the certificate that the options ask for; true if they ask for none. The file must have
   exactly one mapping with holes; `only` selects a mapping by its name, NULL selects all. False after reporting E0808. */
bool dfl_certificate_is_possible(const dfl_solver *solver, const char *only);
/* Sets the certificate of a filled mapping; does nothing if `found` has no certificate. */
void dfl_certificate_add(const dfl_solver *solver, dfl_filled *filled, const dfl_objective *objective,
                           const dfl_search_result *found, const dfl_result *costs);

/* The same for a filled plan over chips; `divisions` is the JSON of its divisions. */
void dfl_certificate_add_plan(const dfl_solver *solver, dfl_filled *filled, const dfl_objective *objective,
                              const char *divisions, const dfl_result *costs);
/* The mapping with holes that a certificate belongs to, and the objective of this mapping. NULL after E0805 if the file
   lacks the mapping, or if workload, system, mapping or objective differ from those of the certificate. */
const dfl_mapping *dfl_certificate_find_mapping(const dfl_solver *solver, const dfl_claims *claims, dfl_objective *objective);
/* Verifies the claims. `asked` is the mapping with holes, `best` the filled mapping of the certificate, `effort` the number
   of assignments of tile sizes to evaluate, `deadline` the time of the deadline (in seconds of dfl_deadline_clock; 0 = no
   deadline). Returns text that names the verified claims; NULL if no claim is verified. */
const char *dfl_certificate_verify(const dfl_solver *solver, const dfl_claims *claims, const dfl_mapping *asked,
                                   const dfl_objective *objective, const dfl_mapping *best, uint64_t effort, double deadline);

#endif
