/*
 * A table of text: cells row by row, columns as wide as their widest cell, the first columns aligned left and the
 * others right. Trailing blanks are not written.
 */
#ifndef DFL_REPORT_TABLE_H
#define DFL_REPORT_TABLE_H

#include <stdint.h>

#include "support/strbuf.h"
#include "support/vec.h"

enum { DFL_TABLE_COLUMNS = 12 };

typedef struct { const char *cells[DFL_TABLE_COLUMNS]; } dfl_table_row;

typedef struct {
    dfl_arena *arena;
    uint32_t columns, left; /* how many there are, and how many of them are aligned left */
    uint32_t remarks_from;  /* columns from here on are aligned left again; `columns` when there are none */
    DFL_VEC(dfl_table_row) rows;
    uint32_t column;        /* of the next cell */
} dfl_table;

void dfl_table_init(dfl_table *t, dfl_arena *arena, uint32_t columns, uint32_t left, uint32_t remarks_from);
/* Starts the next row; cells that are not given stay empty. */
void dfl_table_row_start(dfl_table *t);
/* The next cell of the row; the text is copied. NULL is an empty cell. */
void dfl_table_cell(dfl_table *t, const char *text);
void dfl_table_count(dfl_table *t, dfl_i128 count);
/* Writes all rows, each behind `indent` blanks. */
void dfl_table_print(const dfl_table *t, dfl_strbuf *out, unsigned indent);

#endif
