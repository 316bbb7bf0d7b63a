/* Values of parameters that the caller gives (dfl_session_set_param): each is a source of its own, called `--set NAME`. */
#ifndef DFL_API_GIVEN_H
#define DFL_API_GIVEN_H

#include "dfl/dfl.h"
#include "report/report.h"
#include "sema/sema.h"
#include "support/vec.h"

typedef DFL_VEC(dfl_given) dfl_given_list;

/* Parses all given values into `input`. False after reporting a value that is no expression. */
bool dfl_given_parse(dfl_session *s, dfl_sema_input *input);
/* The value of the `param` called `name`, without a prefix, as the caller wrote it; NULL = not given. */
const char *dfl_given_text(const dfl_given_list *given, const char *name);

#endif
