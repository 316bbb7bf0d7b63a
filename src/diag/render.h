/*
 * A sink as something to read. There are four renderers: text with the source lines for people (render_text.h), one
 * line per report for scripts and editors (here), JSON lines (render_json.h) and SARIF 2.1.0 (render_sarif.h) for
 * tools. A renderer sorts the sink and writes into a buffer; the caller prints the buffer. Columns count bytes from 1,
 * except in SARIF, which counts UTF-16 units. U+FFFD replaces control characters and invalid bytes of the source.
 */
#ifndef DFL_DIAG_RENDER_H
#define DFL_DIAG_RENDER_H

#include "diag/diag.h"
#include "support/strbuf.h"

/* Writes "file:7:13: error[E0301]: message [lint]", one line per report. */
void dfl_render_short(dfl_strbuf *out, dfl_sink *sink);
/* Writes "2 errors, 1 warning" and a line end; writes nothing without errors and warnings. */
void dfl_render_summary(dfl_strbuf *out, const dfl_sink *sink);

/* ---- shared by the renderers ---- */

/* The word for a severity: "error", "warning", "note", "internal error". */
const char *dfl_severity_text(dfl_severity severity);
/* Writes the text of a message, made safe for a terminal. Line ends are kept and followed by `indent` spaces. */
void dfl_render_safe(dfl_strbuf *out, const char *text, size_t indent);
/* The effect of an edit: "replace with `K`", "insert `;`", "remove `x`". The text lies in the arena of the sink. */
const char *dfl_edit_text(const dfl_sink *sink, const dfl_edit *edit);

#endif
