/*
 * The invariants of the intermediate representation: ids in range, lists ascending, extents positive, bodies nested.
 * Every later pass relies on them. Tests and fuzz targets verify the programs that sema builds. A violation is a bug in
 * dflc, never in a source file.
 */
#ifndef DFL_IR_VERIFY_H
#define DFL_IR_VERIFY_H

#include "ir/program.h"

/* The violated invariant as static text, NULL if all invariants hold. */
const char *dfl_workload_verify(const dfl_workload *w);
const char *dfl_system_verify(const dfl_system *s);
const char *dfl_mapping_verify(const dfl_mapping *m);
const char *dfl_program_verify(const dfl_program *p);

#endif
