/* Functions that the files of sema/mapping share, the mapping under construction, and the context of its text. */
#ifndef DFL_SEMA_MAPPING_MAPPING_INTERNAL_H
#define DFL_SEMA_MAPPING_MAPPING_INTERNAL_H

#include "ir/program.h"
#include "sema/mapping/elaborate.h"
#include "sema/names/module.h"
#include "sema/system/elaborate.h"
#include "sema/workload/elaborate.h"

/* The parts of a declaration, collected along the templates from which it is derived: the first that states one counts. */
typedef struct {
    const dfl_ast_ref *work, *machine;     /* workload and system; NULL = not stated so far */
    dfl_scope *work_scope, *machine_scope; /* scopes of their arguments */
    const dfl_ast_node *body;
    dfl_scope *scope;                      /* parameters of the declaration that has the body */
    dfl_sym unknown;                       /* first parameter without a value, or 0 */
    dfl_span unknown_span;
} dfl_mapping_parts;

/* The mapping under construction. */
typedef struct {
    dfl_sema *sema;
    dfl_elaborated_workload *workload;
    dfl_elaborated_system *system;
    bool template;               /* a value is unknown: names are checked, but no mapping results */
    bool broken;                 /* an error was reported */
    bool has_holes;
    dfl_span hole_span;          /* first hole */
    uint32_t n_choices;          /* structural choices that are left to a search */
    dfl_span pareto;             /* first `pareto`; nowhere = none */
    dfl_span refused;            /* a construct that is checked, but not evaluated; nowhere = none */
    bool overlap_perfect;        /* the text has the option */
    /* Einsums have numbers in the order of the text and in the order of execution; the latter are their ids in the IR. */
    uint32_t n_einsums;
    uint32_t *final;             /* by number in the text: id */
    uint32_t *text;              /* by id: number in the text */
    uint32_t *instance_of;       /* by id: instance of the workload */
    DFL_VEC(dfl_body *) bodies;  /* by id */
    DFL_VEC(dfl_scoped_check) checks;
    DFL_VEC(dfl_scoped_check) goals; /* `minimize` and `pareto` */
} dfl_mapping_draft;

/* Bindings of a `use`: names in the text of the template to paths outside. */
typedef struct dfl_template_bindings {
    const dfl_ast_node *binds;   /* BIND nodes */
    const struct dfl_template_bindings *outer; /* bindings for the paths themselves, or NULL */
    uint32_t instance;           /* instance of the branch that has the `use` */
} dfl_template_bindings;

/* The context of a line or branch. Copied and changed for branches and templates. */
typedef struct {
    dfl_mapping_draft *draft;
    dfl_scope *scope;            /* parameters of the mapping or template */
    const dfl_template_bindings *bindings; /* NULL = not in a template */
    uint32_t instance;           /* innermost instance that has all einsums of the branch; 0 = the workload itself */
    dfl_module *module;          /* of the text */
    dfl_span *option;            /* place of the option in the text, or nowhere so far */
    unsigned depth;              /* branches and templates around */
} dfl_mapping_context;

typedef DFL_VEC(uint32_t) dfl_id_list;
typedef DFL_VEC(dfl_line_choice) dfl_line_choices;

/* ---- names.c: names are resolved to ids; DFL_NONE after reporting ---- */
/* Numbers the einsums of the workload and lists the names of the system. Call first. */
void dfl_mapping_number_einsums(dfl_mapping_draft *draft);
/* The tensors of the workload by all their names. */
const dfl_lookup *dfl_mapping_tensor_names(dfl_mapping_draft *draft);
uint32_t dfl_mapping_find_rank(dfl_mapping_context *ctx, const dfl_ast_path *path);
uint32_t dfl_mapping_find_tensor(dfl_mapping_context *ctx, const dfl_ast_path *path);
uint32_t dfl_mapping_find_memory(dfl_mapping_context *ctx, const dfl_ast_path *path);
uint32_t dfl_mapping_find_axis(dfl_mapping_context *ctx, const dfl_ast_path *path);
uint32_t dfl_mapping_find_compute(dfl_mapping_context *ctx, const dfl_ast_path *path);
/* Appends the einsums that the head of a branch names: those of a tensor, an instance or a family, `L` or `L[index]`.
 * False after reporting. */
bool dfl_mapping_add_head(dfl_mapping_context *ctx, const dfl_ast_path *path, const dfl_expr *index, dfl_id_list *out);
/* Appends the instances in that of the context that apply the workload `path` or one derived from it, in order. */
bool dfl_mapping_find_applied(dfl_mapping_context *ctx, const dfl_ast_path *path, dfl_id_list *instances);
/* Appends the einsums of an instance. */
void dfl_mapping_add_instance(dfl_mapping_draft *draft, uint32_t instance, dfl_id_list *out);
/* The innermost instance that has all of the einsums. */
uint32_t dfl_mapping_common_instance(dfl_mapping_draft *draft, const uint32_t *einsums, uint32_t n);
/* Sorts the ids and removes duplicates. */
void dfl_id_list_sort(dfl_id_list *ids);

/* ---- lines.c ---- */
/* Append the lines of a statement to `out`. Structural choices go to `choices`, placed behind the lines of `out` so far. */
void dfl_mapping_lower_temporal(dfl_mapping_context *ctx, const dfl_ast_node *node, dfl_lines *out,
                                dfl_line_choices *choices);
void dfl_mapping_lower_spatial(dfl_mapping_context *ctx, const dfl_ast_node *node, dfl_lines *out,
                               dfl_line_choices *choices);
void dfl_mapping_lower_keep(dfl_mapping_context *ctx, const dfl_ast_node *node, dfl_lines *out,
                            dfl_line_choices *choices);
/* Notes that the mapping has a hole. */
void dfl_mapping_note_hole(dfl_mapping_context *ctx, dfl_span span);

/* ---- selections.c ---- */
/* Reports names in the selections of the system that are no tensors of the workload. `use`: place of the system. */
void dfl_mapping_check_selections(dfl_mapping_draft *draft, const dfl_system *system, dfl_span use);
/* The system with the names in its selections replaced by full names of tensors: `F` by `conv1.F`, `conv2.F`. */
const dfl_system *dfl_mapping_resolve_selections(dfl_mapping_draft *draft, const dfl_system *system);

/* ---- finish.c ---- */
/* The mapping with the tree of bodies below `root`; NULL after reporting. */
const dfl_mapping *dfl_mapping_finish(dfl_mapping_draft *draft, const dfl_decl *decl, const dfl_mapping_parts *parts,
                                      dfl_body *root);
/* The template, with the first parameter that has no value. */
const dfl_template *dfl_mapping_finish_template(const dfl_mapping_draft *draft, const dfl_decl *decl,
                                                const dfl_mapping_parts *parts);

#endif
