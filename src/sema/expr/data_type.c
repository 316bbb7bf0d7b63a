#include "sema/expr/data_type.h"

#include <string.h>

static const struct { const char *name; uint32_t bits; } types[] = {
    { "i4", 4 },    { "i8", 8 },     { "i16", 16 },  { "i32", 32 },  { "u8", 8 },    { "fp8", 8 },    { "fp16", 16 },
    { "bf16", 16 }, { "tf32", 32 },  { "fp32", 32 }, { "fp64", 64 }, { "c64", 64 },  { "c128", 128 },
};

uint32_t dfl_data_type_bits(const char *name)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(types[i].name, name) == 0)
            return types[i].bits;
    return 0;
}

const char *dfl_data_type_name(uint32_t index)
{
    return index < sizeof types / sizeof types[0] ? types[index].name : NULL;
}
