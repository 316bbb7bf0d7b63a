/* Diagnostics as JSON: each report is one object with the same keys, null for what the report lacks. */
#ifndef DFL_DIAG_RENDER_JSON_H
#define DFL_DIAG_RENDER_JSON_H

#include "diag/diag.h"
#include "support/json_write.h"
#include "support/strbuf.h"

/* Writes one JSON object per line, one for each report. */
void dfl_render_json(dfl_strbuf *out, dfl_sink *sink);
/* Writes the objects of dfl_render_json as items of an array that the caller has opened. */
void dfl_render_json_items(dfl_json_writer *w, dfl_sink *sink);

#endif
