/* Values of parameters from outside of the files, as `dflc --set` gives them. */
#ifndef DFL_SEMA_EXPR_GIVEN_H
#define DFL_SEMA_EXPR_GIVEN_H

#include "sema/names/declaration.h"

/* Replaces the values of the parameters that the input names. Reports names that are no `param` (E0201, E0203), and values of
   another kind (E0314) or dimension (E0302) than the value in the declaration. Call after all modules are open, before any
   constant is evaluated. */
void dfl_given_apply(dfl_sema *sema);

#endif
