/*
 * Elaboration of mappings: a declaration becomes a mapping of the intermediate representation, or a checked template.
 * The names in the text of a mapping are resolved in one workload and one system. A name in the text of a template is
 * resolved in three steps: through the bindings of the `use` that inserted the text, in the instance that the branch
 * covers, and in the whole workload. The files of this folder:
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
    const dfl_mapping *mapping;     /* the mapping; NULL for a template and after errors */
    const dfl_template *template;   /* the template; NULL unless the declaration is a template without errors */
    const dfl_scoped_check *checks; /* `require`, `expect` and `assume` in the declaration's text */
    uint32_t n_checks;
} dfl_elaborated_mapping;

/* Elaborates a declared mapping on its first use. */
const dfl_elaborated_mapping *dfl_mapping_elaborate(dfl_sema *sema, dfl_decl *decl);

#endif
