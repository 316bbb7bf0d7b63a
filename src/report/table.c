#include "report/table.h"

#include <string.h>

#include "report/readable.h"

void dfl_table_init(dfl_table *t, dfl_arena *arena, uint32_t columns, uint32_t left, uint32_t remarks_from)
{
    *t = (dfl_table){ .arena = arena, .columns = columns, .left = left, .remarks_from = remarks_from };
}

void dfl_table_row_start(dfl_table *t)
{
    const dfl_table_row empty = { DFL_NEW_ARRAY(t->arena, const char *, (size_t)t->columns + 1) };

    DFL_PUSH(t->arena, &t->rows, empty);
    t->column = 0;
}

void dfl_table_cell(dfl_table *t, const char *text)
{
    if (t->column < t->columns && t->rows.n > 0)
        t->rows.at[t->rows.n - 1].cells[t->column++] = text ? dfl_arena_copy(t->arena, text, strlen(text)) : NULL;
}

void dfl_table_count(dfl_table *t, dfl_i128 count)
{
    char text[DFL_UNIT_TEXT];

    dfl_human_count(count, text);
    dfl_table_cell(t, text);
}

static size_t width_of(const char *cell)
{
    return cell ? strlen(cell) : 0;
}

static void add_blanks(dfl_strbuf *out, size_t n)
{
    while (n-- > 0)
        dfl_strbuf_char(out, ' ');
}

static void print_row(const dfl_table *t, const dfl_table_row *row, const size_t *widths, unsigned indent,
                      dfl_strbuf *out)
{
    size_t owed = indent; /* number of blanks to write before the next cell with text */

    for (uint32_t k = 0; k < t->columns; k++) {
        size_t width = width_of(row->cells[k]), gap = widths[k] - width;
        bool left = k < t->left || k >= t->remarks_from;

        if (width > 0) {
            add_blanks(out, owed + (left ? 0 : gap));
            dfl_strbuf_z(out, row->cells[k]);
            owed = left ? gap : 0;
        } else {
            owed += widths[k];
        }
        owed += widths[k] > 0 ? 2 : 0;
    }
    dfl_strbuf_char(out, '\n');
}

void dfl_table_print(const dfl_table *t, dfl_strbuf *out, unsigned indent)
{
    size_t *widths = DFL_NEW_ARRAY(t->arena, size_t, (size_t)t->columns + 1);

    for (size_t i = 0; i < t->rows.n; i++)
        for (uint32_t k = 0; k < t->columns; k++)
            if (width_of(t->rows.at[i].cells[k]) > widths[k])
                widths[k] = width_of(t->rows.at[i].cells[k]);
    for (size_t i = 0; i < t->rows.n; i++)
        print_row(t, &t->rows.at[i], widths, indent, out);
}
