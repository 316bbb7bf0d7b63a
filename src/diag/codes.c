#include "diag/codes.h"

#include <stdio.h>

typedef struct {
    dfl_code code;
    dfl_severity severity;
    const char *title;
} code_row;

static const code_row rows[] = {
#define DFL_DIAG(number, severity, name, title) { DFL_##name, DFL_##severity, title },
#define DFL_RETIRED(number)
#include "diag/codes.def"
#undef DFL_DIAG
#undef DFL_RETIRED
};

static const code_row *row_of(dfl_code code)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].code == code)
            return &rows[i];
    return NULL;
}

const char *dfl_code_text(dfl_code code, char out[6])
{
    unsigned number = (unsigned)code;

    snprintf(out, 6, "E%04u", number % 10000u);
    return out;
}

const char *dfl_code_title(dfl_code code)
{
    const code_row *row = row_of(code);

    return row ? row->title : "";
}

dfl_severity dfl_code_severity(dfl_code code)
{
    const code_row *row = row_of(code);

    return row ? row->severity : DFL_INTERNAL;
}

bool dfl_code_is_illegal_mapping(dfl_code code)
{
    enum { PER_BLOCK = 100, MAPPINGS = 4 }; /* codes.def has blocks of 100 codes; block 4 is about mappings */
    const code_row *row = row_of(code);

    return row != NULL && row->severity == DFL_ERROR && (unsigned)code / PER_BLOCK == MAPPINGS;
}
