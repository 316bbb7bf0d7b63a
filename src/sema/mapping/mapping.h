/*
 * Lowering mappings. A draft is the mapping under construction: bodies and lines with names resolved against one
 * workload and one system. Names in the text of a template resolve in the instance that the branch covers, then through
 * the bindings of the `use` that brought the text in, then in the whole workload.
 */
#ifndef DFL_SEMA_MAPPING_MAPPING_H
#define DFL_SEMA_MAPPING_MAPPING_H

#include "ir/program.h"
#include "sema/system/machine.h"
#include "sema/workload/workload.h"

typedef struct {
    dfl_sema *s;
    dfl_sized *w;
    dfl_machine *m;
    bool template;               /* names are checked, nothing is yielded */
    bool broken, has_holes;
    dfl_span hole_span;
    uint32_t n_choices;
    dfl_span pareto;             /* the first `pareto`, or nowhere */
    dfl_span refused;            /* something that is checked, but not evaluated */
    bool overlap_perfect;
    uint32_t n_einsums;
    uint32_t *final;             /* einsum in text order to its id */
    uint32_t *text;              /* and back */
    uint32_t *instance_of;       /* by id */
    DFL_VEC(dfl_body *) bodies;
    DFL_VEC(dfl_work_check) checks;
    DFL_VEC(dfl_work_check) goals; /* `minimize` and `pareto` */
} dfl_draft;

/* Bindings of a `use`, and the names around it. */
typedef struct dfl_bindings {
    const dfl_ast_node *binds;   /* BIND nodes */
    const struct dfl_bindings *outer;
    uint32_t instance;           /* of the branch in which `use` stands */
} dfl_bindings;

/* Where text is lowered. */
typedef struct {
    dfl_draft *d;
    dfl_scope *scope;            /* parameters of the template */
    const dfl_bindings *bindings;
    uint32_t instance;           /* that the branch covers, 0 = the whole workload */
    dfl_unit *unit;
    dfl_span *option;            /* where the text gives its option, or nowhere so far */
    unsigned depth;
} dfl_place_in;

typedef DFL_VEC(uint32_t) dfl_ids;
typedef DFL_VEC(dfl_line_choice) dfl_line_choices;

/* Prepares the numbering of einsums and the names of the system. */
void dfl_draft_list(dfl_draft *d);
/* The tensors of the workload by all their names. */
const dfl_lookup *dfl_draft_tensors(dfl_draft *d);

/* ---- names (names.c); DFL_NONE after reporting ---- */
uint32_t dfl_draft_rank(dfl_place_in *p, const dfl_ast_path *path);
uint32_t dfl_draft_tensor(dfl_place_in *p, const dfl_ast_path *path);
uint32_t dfl_draft_memory(dfl_place_in *p, const dfl_ast_path *path);
uint32_t dfl_draft_axis(dfl_place_in *p, const dfl_ast_path *path);
uint32_t dfl_draft_compute(dfl_place_in *p, const dfl_ast_path *path);
/* Adds the einsums that a head names: of a tensor, an instance, a family. False after reporting. */
bool dfl_draft_head(dfl_place_in *p, const dfl_ast_path *path, const dfl_expr *index, dfl_ids *out);
/* Instances whose workload is `path`, or derived from it, in order. */
bool dfl_draft_each(dfl_place_in *p, const dfl_ast_path *path, dfl_ids *instances);
/* Einsums of an instance, ascending. */
void dfl_draft_instance_einsums(dfl_draft *d, uint32_t instance, dfl_ids *out);
/* Sorts and removes repeats. */
void dfl_ids_sort(dfl_ids *ids);
/* The innermost instance that holds all of the einsums. */
uint32_t dfl_draft_common_instance(dfl_draft *d, const uint32_t *einsums, uint32_t n);

/* ---- lines and bodies (lines.c, bodies.c) ---- */
/* What is open in them goes to `choices`, `at` a number of lines of `out`. */
void dfl_draft_temporal(dfl_place_in *p, const dfl_ast_node *n, dfl_lines *out, dfl_line_choices *choices);
void dfl_draft_spatial(dfl_place_in *p, const dfl_ast_node *n, dfl_lines *out, dfl_line_choices *choices);
void dfl_draft_keep(dfl_place_in *p, const dfl_ast_node *n, dfl_lines *out, dfl_line_choices *choices);
/* Notes a hole. */
void dfl_draft_hole(dfl_place_in *p, dfl_span span);
/* Lowers a chain of lines into `body`, whose einsums are set. */
void dfl_draft_chain(dfl_place_in *p, const dfl_ast_node *items, dfl_body *body);
dfl_body *dfl_draft_new_body(dfl_draft *d, dfl_body *parent, dfl_span span, const uint32_t *einsums, uint32_t n);

/* ---- declarations (mapping.c) ---- */
/* What a declared mapping is: a design, or a template that was checked. */
typedef struct {
    const dfl_mapping *mapping;  /* NULL for a template and after errors */
    const dfl_template *template; /* NULL unless it is one */
    const dfl_work_check *checks;
    uint32_t n_checks;
} dfl_drafted;

/* A template that `use` names, checked once. NULL after reporting. */
dfl_decl *dfl_draft_template(dfl_sema *s, dfl_unit *unit, const dfl_ast_ref *ref);
/* Checks a declared mapping once. */
const dfl_drafted *dfl_draft_declare(dfl_sema *s, dfl_decl *decl);

#endif
