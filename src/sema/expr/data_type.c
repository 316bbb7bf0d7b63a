#include "sema/expr/data_type.h"

#include <stdio.h>
#include <string.h>

#include "diag/suggest.h"

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

/* The data type that other languages call `name`, or NULL. */
static const char *find_renamed(const char *name)
{
    static const struct { const char *names, *type; } renamed[] = {
        { " int4 s4 ", "i4" }, { " int8 s8 sint8 char ", "i8" }, { " int16 s16 short ", "i16" }, { " int32 s32 int ", "i32" },
        { " uint8 byte ", "u8" }, { " float8 f8 e4m3 e5m2 ", "fp8" }, { " float16 f16 half ", "fp16" },
        { " bfloat16 bfloat ", "bf16" }, { " tfloat32 ", "tf32" }, { " float32 f32 float single ", "fp32" },
        { " float64 f64 double ", "fp64" }, { " complex64 ", "c64" }, { " complex128 ", "c128" },
        { " int64 i64 s64 long uint64 u64 ", "bits(64)" }, { " uint32 u32 ", "bits(32)" }, { " uint16 u16 ", "bits(16)" },
        { " fp6 ", "bits(6)" }, { " uint4 u4 fp4 nf4 nvfp4 mxfp4 ", "bits(4)" }, { " int2 i2 u2 ", "bits(2)" },
        { " bool i1 u1 ", "bits(1)" },
    };
    char word[16];

    if (snprintf(word, sizeof word, " %s ", name) >= (int)sizeof word)
        return NULL;
    for (size_t i = 0; i < sizeof renamed / sizeof renamed[0]; i++)
        if (strstr(renamed[i].names, word) != NULL)
            return renamed[i].type;
    return NULL;
}

const char *dfl_data_type_suggest(dfl_intern *names, const char *name)
{
    enum { N_TYPES = sizeof types / sizeof types[0] };
    const char *renamed = find_renamed(name);
    dfl_sym known[N_TYPES], near;

    if (renamed != NULL)
        return renamed;
    for (size_t i = 0; i < N_TYPES; i++)
        known[i] = dfl_intern_z(names, types[i].name);
    near = dfl_suggest(names, name, known, N_TYPES);
    return near != 0 ? dfl_sym_text(names, near) : NULL;
}
