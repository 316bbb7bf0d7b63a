/* Diagnostics as SARIF 2.1.0 (OASIS), the format of code scanning services. */
#ifndef DFL_DIAG_RENDER_SARIF_H
#define DFL_DIAG_RENDER_SARIF_H

#include "diag/diag.h"
#include "support/strbuf.h"

/* Writes one log with one run. */
void dfl_render_sarif(dfl_strbuf *out, dfl_sink *sink);

#endif
