#include "diag/explain.h"

static const struct {
    unsigned number;
    const char *page;
} pages[] = {
#include "diag/explain_pages.inc"
    { 0, NULL },
};

const char *dfl_explain_page(dfl_code code)
{
    for (size_t i = 0; pages[i].page; i++)
        if (pages[i].number == (unsigned)code)
            return pages[i].page;
    return NULL;
}

dfl_code dfl_explain_code(const char *text)
{
    unsigned number = 0, digits = 0;

    if (*text == 'E' || *text == 'e')
        text++;
    for (; *text >= '0' && *text <= '9' && digits < 4; text++, digits++)
        number = number * 10 + (unsigned)(*text - '0');
    if (*text != '\0')
        return DFL_CODE_NONE;
    return dfl_code_title((dfl_code)number)[0] ? (dfl_code)number : DFL_CODE_NONE;
}
