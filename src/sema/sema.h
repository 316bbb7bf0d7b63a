/*
 * Semantic analysis: from syntax trees to designs. Sema resolves names, evaluates constants and checks units of
 * measurement. Elaboration gives values to the parameters of workloads and systems. Lowering turns workloads, systems
 * and mappings into the intermediate representation. Sema opens no files: a function of the caller loads imports. Every
 * error is reported to the sink once per cause.
 *
 *   sema.c      the root file: each of its declarations once, in the order of the text
 *   names/      the state of a run; files, scopes and declarations: name resolution; all limits
 *   expr/       constant expressions; arguments; memoized elaboration; sizes of data types
 *   workload/   elaboration of workloads: statements, einsums, derivation of shapes, order of execution
 *   system/     elaboration of systems: parts, the vocabulary of attributes, check of their dimensions
 *   mapping/    elaboration of mappings; lowering of checks and objectives
 *
 * Dimensions are checked in expr/dimension_errors (operators and functions), system/attribute_check (attributes) and
 * mapping/checks (checks of results).
 */
#ifndef DFL_SEMA_SEMA_H
#define DFL_SEMA_SEMA_H

#include "ir/program.h"
#include "sema/names/input.h"

/* Analyses a file. Never returns NULL: after errors, the result contains the declarations without errors. The sink
   records whether there were errors. */
const dfl_program *dfl_sema_run(const dfl_sema_input *input, dfl_sema_file root);

#endif
