/*
 * Elaboration of systems: a declaration with values for its parameters becomes a system of the intermediate
 * representation. The files of this folder:
 *
 *   elaborate        declarations: parts, arrays, networks, `use`; once per combination of parameter values
 *   system_draft     the system under construction: parts with attributes
 *   vocabulary       the table of all attributes
 *   attributes       values of attributes; overrides
 *   efficiency       shares of the peak rates: tables in the text and in files
 *   attribute_check  check of an attribute: number, kind and dimension of its values
 *   finish           lowering to the intermediate representation: cycles to time, missing attributes, lints
 */
#ifndef DFL_SEMA_SYSTEM_ELABORATE_H
#define DFL_SEMA_SYSTEM_ELABORATE_H

#include "sema/names/declaration.h"
#include "sema/names/lookup.h"
#include "sema/names/scope.h"
#include "sema/system/system_draft.h"

typedef struct {
    dfl_decl *decl;
    dfl_scope *args;                     /* values of the parameters */
    const dfl_ast_node *missing;         /* first parameter without a value: the system is a template; else NULL */
    const dfl_system *system;            /* the system; NULL for a template and if `broken` */
    bool broken;                         /* an error has been reported */
    dfl_system_draft draft;              /* parts of the system; complete for templates, too */
    /* sema/mapping fills the following members at the first mapping on the system. */
    bool listed;                         /* the lookups have been filled */
    dfl_lookup memories, computes, axes; /* lookups of the ids of parts */
} dfl_elaborated_system;

/* The elaborated system of a reference with its arguments. NULL after reporting; the result may be a template or
   broken. */
dfl_elaborated_system *dfl_system_elaborate(dfl_sema *sema, dfl_module *module, dfl_scope *from, const dfl_ast_ref *ref);
/* The elaborated system of a declaration at its defaults. */
dfl_elaborated_system *dfl_system_elaborate_default(dfl_sema *sema, dfl_decl *decl);

#endif
