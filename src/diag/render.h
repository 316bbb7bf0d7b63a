/*
 * A sink as something to read: text with the source lines (for people), one line a report (for scripts and
 * editors), JSON lines and SARIF 2.1.0 (for tools). Renderers sort the sink, write into a buffer, and leave printing
 * to the caller. Columns of text, short and JSON count bytes from 1; those of SARIF count UTF-16 units, as it says.
 * Control characters and invalid bytes of the source never reach the output: U+FFFD stands for them.
 */
#ifndef DFL_DIAG_RENDER_H
#define DFL_DIAG_RENDER_H

#include "diag/diag.h"
#include "support/json_write.h"
#include "support/strbuf.h"

/* "file:7:13: error[E0301]: message", the lines it is about, labels, notes, help. `color` adds escape sequences. */
void dfl_render_text(dfl_strbuf *out, dfl_sink *sink, bool color);
/* "file:7:13: error[E0301]: message [lint]", one line a report. */
void dfl_render_short(dfl_strbuf *out, dfl_sink *sink);
/* One JSON object a line. */
void dfl_render_json(dfl_strbuf *out, dfl_sink *sink);
/* The same objects as items of an array that the caller has opened. */
void dfl_render_json_items(dfl_json_writer *w, dfl_sink *sink);
/* One SARIF log with one run. */
void dfl_render_sarif(dfl_strbuf *out, dfl_sink *sink);
/* "2 errors, 1 warning" and a line end; nothing when there is neither. */
void dfl_render_summary(dfl_strbuf *out, const dfl_sink *sink);

/* ---- shared by the renderers ---- */

/* "error", "warning", "note", "internal error". */
const char *dfl_severity_text(dfl_severity severity);
/* Text of a message, made safe for a terminal; line ends are kept and followed by `indent` spaces. */
void dfl_render_safe(dfl_strbuf *out, const char *text, size_t indent);
/* What an edit does: "replace with `K`", "insert `;`", "remove `x`". */
const char *dfl_edit_text(const dfl_sink *sink, const dfl_edit *edit);

#endif
