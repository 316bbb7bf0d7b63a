/*
 * A table of text. Cells are added row by row. A column is as wide as its widest cell; two blanks separate columns. Trailing
 * blanks are not written.
 */
#ifndef DFL_REPORT_TABLE_H
#define DFL_REPORT_TABLE_H

#include <stdint.h>

#include "support/strbuf.h"
#include "support/vec.h"

typedef struct { const char **cells; } dfl_table_row; /* [columns] */

typedef struct {
    dfl_arena *arena;
    uint32_t columns;
    uint32_t left;          /* number of first columns that are aligned left; columns behind them are aligned right */
    uint32_t remarks_from;  /* index of the first trailing column that is aligned left again; `columns` = no such column */
    DFL_VEC(dfl_table_row) rows;
    uint32_t column;        /* index of the column of the next cell */
} dfl_table;

void dfl_table_init(dfl_table *t, dfl_arena *arena, uint32_t columns, uint32_t left, uint32_t remarks_from);
/* Starts the next row; missing cells of a row are empty. */
void dfl_table_row_start(dfl_table *t);
/* Adds a cell to the row; the text is copied. NULL is an empty cell. Cells beyond the last column are dropped. */
void dfl_table_cell(dfl_table *t, const char *text);
/* Adds a cell with a count in readable form. */
void dfl_table_count(dfl_table *t, dfl_i128 count);
/* Writes all rows, indented by `indent` blanks. */
void dfl_table_print(const dfl_table *t, dfl_strbuf *out, unsigned indent);

#endif
