#include "support/utf8.h"

#include <string.h>
#include <utf8proc.h>

size_t dfl_utf8_decode(const char *text, size_t len, uint32_t *point)
{
    utf8proc_int32_t decoded;
    utf8proc_ssize_t n = utf8proc_iterate((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)(len < 4 ? len : 4),
                                          &decoded);

    if (n <= 0) {
        *point = 0xfffd;
        return 1;
    }
    *point = (uint32_t)decoded;
    return (size_t)n;
}

size_t dfl_utf8_check(const char *text, size_t len)
{
    size_t at = 0;

    while (at < len) {
        uint64_t eight;
        uint32_t point;
        size_t n;

        if (len - at >= sizeof eight) {
            memcpy(&eight, text + at, sizeof eight);
            if ((eight & UINT64_C(0x8080808080808080)) == 0) {
                at += sizeof eight;
                continue;
            }
        }
        if ((unsigned char)text[at] < 0x80) {
            at++;
            continue;
        }
        n = dfl_utf8_decode(text + at, len - at, &point);
        if (n == 1)
            return at;
        at += n;
    }
    return len;
}

unsigned dfl_utf8_point_width(uint32_t point)
{
    int width;

    if (point < 0x20 || point == 0x7f)
        return 1;
    width = utf8proc_charwidth((utf8proc_int32_t)point);
    return width > 0 ? (unsigned)width : dfl_utf8_printable(point) ? 0 : 1;
}

size_t dfl_utf8_width(const char *text, size_t len)
{
    size_t width = 0;

    for (size_t at = 0; at < len;) {
        uint32_t point;

        at += dfl_utf8_decode(text + at, len - at, &point);
        width += dfl_utf8_point_width(point);
    }
    return width;
}

bool dfl_utf8_printable(uint32_t point)
{
    switch (utf8proc_category((utf8proc_int32_t)point)) {
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
        return false;
    case UTF8PROC_CATEGORY_CF:
        /* U+200C and U+200D join letters of many scripts; the others hide or reorder text. */
        return point == 0x200c || point == 0x200d || point == 0xad;
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO:
    case UTF8PROC_CATEGORY_SM:
    case UTF8PROC_CATEGORY_SC:
    case UTF8PROC_CATEGORY_SK:
    case UTF8PROC_CATEGORY_SO:
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_CO:
        return true;
    }
    return false;
}

size_t dfl_utf8_utf16_length(const char *text, size_t len)
{
    size_t units = 0;

    for (size_t at = 0; at < len;) {
        uint32_t point;

        at += dfl_utf8_decode(text + at, len - at, &point);
        units += point > 0xffff ? 2 : 1;
    }
    return units;
}
