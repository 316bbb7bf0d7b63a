/* Diagnostics as SARIF 2.1.0 (OASIS), the format of code scanning services. */
#ifndef DFL_DIAG_RENDER_SARIF_H
#define DFL_DIAG_RENDER_SARIF_H

#include "diag/diag.h"
#include "support/strbuf.h"

/* Writes one log with one run for each sink. */
void dfl_render_sarif(dfl_strbuf *out, dfl_sink *const *sinks, size_t n);

#endif
