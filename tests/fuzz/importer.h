/*
 * The frame of the fuzz targets of importers. Whatever the bytes, an importer must answer with a text or with errors,
 * never both, and stay within its budget; the text must be printable, parse as DFL, be laid out already, and pass the
 * checks.
 */
#ifndef DFL_TESTS_FUZZ_IMPORTER_H
#define DFL_TESTS_FUZZ_IMPORTER_H

#include <stddef.h>
#include <stdint.h>

#include "diag/diag.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* How far the checks go. */
typedef enum {
    FUZZ_IMPORT_WHOLE,   /* the mapping, too, with the path of every tensor */
    FUZZ_IMPORT_MACHINE, /* workload and system: the mapping may have been wrong in the source */
} fuzz_import_checks;

/* Adds the bytes to the sources and imports them. */
typedef char *fuzz_importer(dfl_arena *arena, dfl_sink *sink, dfl_source_map *sources, const char *bytes, size_t size);

/* Traps when the importer breaks the rules. */
void fuzz_import(const uint8_t *data, size_t size, fuzz_importer *import, fuzz_import_checks checks);

#endif
