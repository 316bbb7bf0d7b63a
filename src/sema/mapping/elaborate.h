/*
 * Elaboration of mappings: a declaration becomes a mapping of the intermediate representation, or a template that was
 * checked. The names in its text are resolved in one workload and one system. A name in the text of a template is
 * resolved through the bindings of the `use` that put the text in, then in the instance that the branch covers, then in
 * the whole workload. The files of this folder:
 *
 *   elaborate   a declared mapping; bodies: chains of lines, branches, templates put in by `use`
 *   lines       loops and keeps
 *   names       resolution of the names of ranks, tensors, einsums, memories, axes
 *   selections  tensors that the system names (`holds`, `multicast`) in the workload of the mapping
 *   finish      the finished mapping or template: target, objectives, options
 *   checks      `require`, `expect`, `assume` and objectives
 */
#ifndef DFL_SEMA_MAPPING_ELABORATE_H
#define DFL_SEMA_MAPPING_ELABORATE_H

#include "sema/names/declaration.h"
#include "sema/workload/elaborate.h"

typedef struct {
    const dfl_mapping *mapping;     /* NULL for a template and after errors */
    const dfl_template *template;   /* NULL unless the declaration is a template without errors */
    const dfl_scoped_check *checks; /* `require`, `expect` and `assume` of its text */
    uint32_t n_checks;
} dfl_elaborated_mapping;

/* Elaborates a declared mapping, once. */
const dfl_elaborated_mapping *dfl_mapping_elaborate(dfl_sema *sema, dfl_decl *decl);

#endif
