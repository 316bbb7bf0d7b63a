/* Diagnostics as text with the source lines, for people. */
#ifndef DFL_DIAG_RENDER_TEXT_H
#define DFL_DIAG_RENDER_TEXT_H

#include "diag/diag.h"
#include "support/strbuf.h"

/*
 * A report is "file:7:13: error[E0301]: message", the source lines with labels under the places, notes, and help.
 * `color` adds escape sequences.
 */
void dfl_render_text(dfl_strbuf *out, dfl_sink *sink, bool color);

#endif
