#include "syntax/lookalikes.h"

/* Ranges of characters with one meaning, by their numbers in Unicode. */
static const struct { uint32_t first, last; const char *ascii; } ranges[] = {
    { 0x00A0, 0x00A0, " " },    /* no-break space */
    { 0x00AB, 0x00AB, "\"" },   /* quotation marks of French */
    { 0x00BB, 0x00BB, "\"" },
    { 0x00B7, 0x00B7, "*" },    /* middle dot */
    { 0x00D7, 0x00D7, "*" },    /* multiplication sign */
    { 0x00F7, 0x00F7, "/" },    /* division sign */
    { 0x037E, 0x037E, ";" },    /* Greek question mark */
    { 0x2000, 0x200A, " " },    /* blanks of all widths */
    { 0x200B, 0x200F, "" },     /* characters without width, and marks of direction */
    { 0x2010, 0x2015, "-" },    /* hyphens and dashes */
    { 0x2018, 0x201F, "\"" },   /* quotation marks */
    { 0x2022, 0x2022, "*" },    /* bullet */
    { 0x2026, 0x2026, "..." },  /* ellipsis */
    { 0x202F, 0x202F, " " },
    { 0x2044, 0x2044, "/" },    /* fraction slash */
    { 0x205F, 0x205F, " " },
    { 0x2060, 0x2060, "" },
    { 0x2212, 0x2212, "-" },    /* minus sign */
    { 0x2215, 0x2215, "/" },
    { 0x2217, 0x2217, "*" },
    { 0x2219, 0x2219, "*" },
    { 0x2227, 0x2227, "&&" },
    { 0x2228, 0x2228, "||" },
    { 0x2260, 0x2260, "!=" },
    { 0x2264, 0x2264, "<=" },
    { 0x2265, 0x2265, ">=" },
    { 0x22C5, 0x22C5, "*" },    /* dot operator */
    { 0x22EF, 0x22EF, "..." },
    { 0x2A7D, 0x2A7D, "<=" },
    { 0x2A7E, 0x2A7E, ">=" },
    { 0x3000, 0x3000, " " },    /* ideographic space */
    { 0x3002, 0x3002, "." },
    { 0xFEFF, 0xFEFF, "" },     /* byte order mark inside of the text */
};

const char *dfl_lookalike(uint32_t character)
{
    static const char full_width[] = /* U+FF01 to U+FF5E are the printable characters of ASCII, each as a text of its own */
        "!\0\"\0#\0$\0%\0&\0'\0(\0)\0*\0+\0,\0-\0.\0/\0" "0\0" "1\0" "2\0" "3\0" "4\0" "5\0" "6\0" "7\0" "8\0" "9\0"
        ":\0;\0<\0=\0>\0?\0@\0A\0B\0C\0D\0E\0F\0G\0H\0I\0J\0K\0L\0M\0N\0O\0P\0Q\0R\0S\0T\0U\0V\0W\0X\0Y\0Z\0[\0\\\0]\0^\0_\0`\0"
        "a\0b\0c\0d\0e\0f\0g\0h\0i\0j\0k\0l\0m\0n\0o\0p\0q\0r\0s\0t\0u\0v\0w\0x\0y\0z\0{\0|\0}\0~";

    if (character >= 0xFF01 && character <= 0xFF5E)
        return full_width + 2 * (character - 0xFF01);
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
        if (character >= ranges[i].first && character <= ranges[i].last)
            return ranges[i].ascii;
    return NULL;
}

uint32_t dfl_lookalike_decode(const char *text, size_t *len)
{
    const unsigned char first = (unsigned char)*text;
    uint32_t character = first < 0xC0 ? first : first < 0xE0 ? first & 0x1Fu : first < 0xF0 ? first & 0x0Fu : first & 0x07u;

    *len = first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    for (size_t i = 1; i < *len; i++)
        character = character << 6 | ((unsigned char)text[i] & 0x3Fu);
    return character;
}
