/* Imports any bytes as a mapping file of MAESTRO, with a hardware file behind a line `%%`. */
#include <string.h>

#include "tests/fuzz/importer.h"

#include "import/maestro/maestro.h"

static size_t mapping_length(const char *text, size_t size)
{
    for (size_t i = 0; i + 3 <= size; i++) {
        if (memcmp(text + i, "%%\n", 3) == 0)
            return i;
    }
    return size;
}

static char *import(dfl_arena *arena, dfl_sink *sink, dfl_source_map *sources, const char *bytes, size_t size)
{
    size_t n = mapping_length(bytes, size);
    const dfl_source *hw = NULL;
    const dfl_source *mapping = dfl_source_add(sources, "fuzz.m", bytes, n);

    if (n < size)
        hw = dfl_source_add(sources, "hw.m", bytes + n + 3, size - n - 3);
    return dfl_import_maestro(arena, sink, sources, mapping, hw);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_import(data, size, import, FUZZ_IMPORT_WHOLE);
    return 0;
}
