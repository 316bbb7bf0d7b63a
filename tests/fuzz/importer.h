/* The frame of the fuzz targets of importers. For any bytes an importer must return either a text or errors, and stay
   within its budget. The text must be printable, parse as DFL, be in the layout of `dflc fmt`, and pass the checks. */
#ifndef DFL_TESTS_FUZZ_IMPORTER_H
#define DFL_TESTS_FUZZ_IMPORTER_H

#include <stddef.h>
#include <stdint.h>

#include "diag/diag.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Extent of the checks. */
typedef enum {
    FUZZ_IMPORT_WHOLE,   /* workload, system and mapping, with the path of every tensor */
    FUZZ_IMPORT_MACHINE, /* workload and system only, since the mapping of the source may be illegal */
} fuzz_import_checks;

/* Adds the bytes to the sources and imports them. */
typedef char *fuzz_importer(dfl_arena *arena, dfl_sink *sink, dfl_source_map *sources, const char *bytes, size_t size);

/* Traps when the importer breaks the rules. */
void fuzz_import(const uint8_t *data, size_t size, fuzz_importer *import, fuzz_import_checks checks);

#endif
