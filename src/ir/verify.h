/*
 * What every later pass takes for granted: ids in range, lists ascending, extents positive, bodies that nest. Tests and
 * fuzz targets call this on whatever sema yields; a violation is a bug in dflc, never in a source file.
 */
#ifndef DFL_IR_VERIFY_H
#define DFL_IR_VERIFY_H

#include "ir/program.h"

/* NULL when all is well, else what is violated; static text. */
const char *dfl_workload_verify(const dfl_workload *w);
const char *dfl_system_verify(const dfl_system *s);
const char *dfl_mapping_verify(const dfl_mapping *m);
const char *dfl_program_verify(const dfl_program *p);

#endif
