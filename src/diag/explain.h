/*
 * The pages of `dflc explain CODE`. The build embeds them from src/diag/explain/EXXXX.md. A page is Markdown:
 *
 *     # E0301: unknown rank
 *
 *     What the message means, and why it is a mistake.
 *
 *     ```dfl fails
 *     the shortest text that gives this code
 *     ```
 *
 *     How to put it right.
 *
 *     ```dfl works
 *     the text corrected
 *     ```
 *
 * The title repeats codes.def. The test tests/golden/run_explain.sh runs both examples with `dflc check`, or with
 * `dflc eval` where the fence says `dfl fails eval` or `dfl works eval`. The first example must give the code, the second
 * must be clean. A code that no source text can cause has plain `text` fences instead.
 */
#ifndef DFL_DIAG_EXPLAIN_H
#define DFL_DIAG_EXPLAIN_H

#include "diag/diag.h"

/* The page of a code as Markdown text, static; NULL for a code without a page. */
const char *dfl_explain_page(dfl_code code);
/* The code that "E0301", "e0301" or "301" names; DFL_CODE_NONE for any other text. */
dfl_code dfl_explain_code(const char *text);

#endif
