/* Imports any bytes as a run of Timeloop. */
#include "tests/fuzz/importer.h"

#include "import/timeloop/timeloop.h"

static char *import(dfl_arena *arena, dfl_sink *sink, dfl_source_map *sources, const char *bytes, size_t size)
{
    const dfl_source *source = dfl_source_add(sources, "fuzz.yaml", bytes, size);

    return dfl_import_timeloop(arena, sink, sources, &source, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_import(data, size, import, FUZZ_IMPORT_MACHINE);
    return 0;
}
