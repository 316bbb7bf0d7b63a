/* Functions that the files of sema/mapping share, the mapping under construction, and the context of its text. */
#ifndef DFL_SEMA_MAPPING_MAPPING_INTERNAL_H
#define DFL_SEMA_MAPPING_MAPPING_INTERNAL_H

#include "ir/program.h"
#include "sema/mapping/elaborate.h"
#include "sema/names/module.h"
#include "sema/system/elaborate.h"
#include "sema/workload/elaborate.h"

/* The parts of a declaration, collected along the templates from which it is derived. For each part, the first
   declaration that states it takes precedence. */
typedef struct {
    const dfl_ast_ref *work, *machine;     /* references to the workload and the system; NULL = not stated so far */
    dfl_scope *work_scope, *machine_scope; /* scopes of the arguments of these references */
    const dfl_ast_node *body;
    dfl_scope *scope;                      /* scope with the parameters of the declaration that has the body */
    dfl_sym unknown;                       /* first parameter without a value, or 0 */
    dfl_span unknown_span;
} dfl_mapping_parts;

/* Options of mappings. */
typedef enum {
    DFL_OPTION_OVERLAP, DFL_OPTION_CONTENTION, DFL_OPTION_CHUNKS, DFL_OPTION_BUCKET, DFL_OPTION_CHIP, DFL_OPTION_GROUPS,
    DFL_OPTION_EXCHANGES,
    DFL_OPTION_GRADIENTS, DFL_OPTION_PIECES,
    DFL_N_OPTIONS
} dfl_mapping_option;

/* The mapping under construction. */
typedef struct {
    dfl_sema *sema;
    dfl_elaborated_workload *workload;
    dfl_elaborated_system *system;
    bool template;               /* some value is unknown: names are checked, but the result is no mapping */
    bool broken;                 /* an error has been reported */
    bool has_holes;
    dfl_span hole_span;          /* place of the first hole */
    uint32_t n_choices;          /* structural choices that are left to a search */
    dfl_span pareto;             /* first `pareto`; nowhere = none */
    dfl_span refused;            /* place of a construct that is checked, but not evaluated; nowhere = no such construct */
    const char *refused_what;    /* name of this construct */
    dfl_options options;         /* options of the text; those of the file are not among them */
    dfl_ast_name plan_option;    /* last option that matters only in plans over chips; absent = no such option */
    uint32_t statements;         /* number of statements with lines so far */
    uint32_t loops;              /* number of written loops so far whose name stands for several ranks */
    const dfl_ast_path *shared;  /* the first of these names: ambiguous unless the mapping is a plan; NULL = there is none */
    /* Each einsum has a number by its position in the text, and an id of the IR by its position in the order of
       execution. */
    uint32_t n_einsums;
    uint32_t *final;             /* [number in the text]: id of the einsum */
    uint32_t *text;              /* [id]: index of the einsum in text order */
    uint32_t *instance_of;       /* [id]: instance of the workload that contains the einsum */
    DFL_VEC(dfl_body *) bodies;  /* bodies, by id */
    DFL_VEC(dfl_decision) decisions; /* open decisions of a plan over chips */
    DFL_VEC(dfl_scoped_check) checks;
    DFL_VEC(dfl_scoped_check) goals; /* objectives of `minimize` and criteria of `pareto` */
} dfl_mapping_draft;

/* Bindings of a `use`: map names in the text of the template to paths at the `use`. */
typedef struct dfl_template_bindings {
    const dfl_ast_node *binds;   /* BIND nodes */
    const struct dfl_template_bindings *outer; /* bindings in which the bound paths are resolved, or NULL */
    uint32_t instance;           /* instance of the branch that contains the `use` */
} dfl_template_bindings;

/* The context of a line or branch. The context is copied and changed for branches and templates. */
typedef struct {
    dfl_mapping_draft *draft;
    dfl_scope *scope;            /* scope with the parameters of the mapping or template */
    const dfl_template_bindings *bindings; /* bindings of the `use` that inserted the text, NULL = the text is not in a
                                              template */
    uint32_t instance;           /* innermost instance that contains all einsums of the branch; 0 = the workload itself */
    dfl_module *module;          /* module of the text */
    dfl_span *options;           /* [dfl_mapping_option]: place of the option in the text; nowhere = not stated so far */
    unsigned depth;              /* number of enclosing branches and templates */
    bool in_branch;              /* the text stands in a branch */
} dfl_mapping_context;

typedef DFL_VEC(uint32_t) dfl_id_list;
typedef DFL_VEC(dfl_line_choice) dfl_line_choices;

/* ---- other_workload.c ---- */
/* Whether no name in the lines of a mapping is a rank or tensor of its workload; then reports that, at the workload. */
bool dfl_mapping_is_for_other(dfl_mapping_draft *draft, const dfl_ast_node *body, dfl_sym mapping, dfl_span at);

/* ---- names.c: resolves names to ids; DFL_NONE after reporting ---- */
/* Numbers the einsums of the workload and lists the names of the system. Must be called first. */
void dfl_mapping_number_einsums(dfl_mapping_draft *draft);
/* Lookup of the tensors of the workload by all their names. */
const dfl_lookup *dfl_mapping_tensor_names(dfl_mapping_draft *draft);
uint32_t dfl_mapping_find_rank(dfl_mapping_context *ctx, const dfl_ast_path *path);
/* Appends the rank that a path names. Outside of branches a short name stands for all ranks that it fits: in a plan over chips, a
   loop divides each einsum along its own one. Nothing after reporting. */
void dfl_mapping_add_ranks(dfl_mapping_context *ctx, const dfl_ast_path *path, dfl_id_list *out);
/* Reports the first name that stands for several ranks, in a mapping that is no plan. False after that. */
bool dfl_mapping_check_shared(dfl_mapping_draft *draft);
/* Appends the tensor that a path names, or the tensors of all members of the family that it names. Nothing after reporting. */
void dfl_mapping_add_tensors(dfl_mapping_context *ctx, const dfl_ast_path *path, dfl_id_list *out);
uint32_t dfl_mapping_find_memory(dfl_mapping_context *ctx, const dfl_ast_path *path);
uint32_t dfl_mapping_find_axis(dfl_mapping_context *ctx, const dfl_ast_path *path);
uint32_t dfl_mapping_find_compute(dfl_mapping_context *ctx, const dfl_ast_path *path);
/* Appends the einsums that the head of a branch names: those of a tensor, an instance or a family, `L` or `L[index]`.
 * False after reporting. */
bool dfl_mapping_add_head(dfl_mapping_context *ctx, const dfl_ast_path *path, dfl_id_list *out);
/* Appends the instances inside of the context's instance that apply the workload `path` or one derived from it, in
   order. */
bool dfl_mapping_find_applied(dfl_mapping_context *ctx, const dfl_ast_path *path, dfl_id_list *instances);
/* Appends the einsums of an instance. */
void dfl_mapping_add_instance(dfl_mapping_draft *draft, uint32_t instance, dfl_id_list *out);
/* The innermost instance that contains all of the einsums. */
uint32_t dfl_mapping_common_instance(dfl_mapping_draft *draft, const uint32_t *einsums, uint32_t n);
/* Sorts the ids and removes duplicates. */
void dfl_id_list_sort(dfl_id_list *ids);

/* ---- lines.c ---- */
/* Lowers the lines of a statement and appends them to `out`. Appends structural choices to `choices`, at the place
   after the present lines of `out`. */
void dfl_mapping_lower_temporal(dfl_mapping_context *ctx, const dfl_ast_node *node, dfl_lines *out,
                                dfl_line_choices *choices);
void dfl_mapping_lower_spatial(dfl_mapping_context *ctx, const dfl_ast_node *node, dfl_lines *out,
                               dfl_line_choices *choices);
void dfl_mapping_lower_keep(dfl_mapping_context *ctx, const dfl_ast_node *node, dfl_lines *out,
                            dfl_line_choices *choices);

/* ---- holes.c ---- */
/* Records that the mapping has a hole. */
void dfl_mapping_note_hole(dfl_mapping_context *ctx, dfl_span span);
/* The hole `?` or `? in {8, 16}`; its choices are sorted and distinct. Reports choices that are no sizes. */
const dfl_hole *dfl_mapping_lower_hole(dfl_mapping_context *ctx, const dfl_expr *expr, dfl_by by);
/* Adds an open decision of a plan over chips. Returns its number, from 1 on. */
uint32_t dfl_mapping_add_decision(dfl_mapping_context *ctx, dfl_decision decision);

/* ---- decisions.c ---- */
/* Lowers a `recompute` line: appends the tensors that it names, or adds its decisions. `is_inside`: in a brace. */
void dfl_mapping_lower_recompute(dfl_mapping_context *ctx, const dfl_ast_node *node, bool is_inside, dfl_id_list *out);

/* ---- stages.c ---- */
/* Lowers the arguments of `pipeline(...)` behind an axis. */
const dfl_stages *dfl_mapping_lower_stages(dfl_mapping_context *ctx, const dfl_ast_node *spread);
/* Reports E0429 if the rank of a loop over stages is no rank of a `repeat`. */
void dfl_mapping_check_stages(dfl_mapping_context *ctx, const dfl_line *line);

/* ---- groups.c ---- */
/* Appends the einsums or tensors of the group `name`. False if there is no such group; a template has all groups, empty. */
bool dfl_mapping_add_einsum_group(dfl_mapping_context *ctx, dfl_sym name, dfl_id_list *out);
/* Help for a name of no tensor that is, or is like, the name of a group. False if it is none. */
bool dfl_mapping_help_tensor_group(dfl_mapping_context *ctx, dfl_diag *d, const dfl_ast_path *path);
bool dfl_mapping_add_tensor_group(dfl_mapping_context *ctx, dfl_sym name, dfl_id_list *out);
/* Whether a name is the word of a group of tensors: `gradient`, for example. */
bool dfl_mapping_is_tensor_group(const dfl_mapping_draft *draft, dfl_sym name);

/* ---- options.c ---- */
/* Reads `option NAME = value;` into the draft. Reports unknown options, wrong values and repetitions. */
void dfl_mapping_take_option(dfl_mapping_context *ctx, const dfl_ast_node *node);

/* ---- selections.c ---- */
/* Reports names in the selections of the system that are no tensors of the workload. `use`: place of the reference to
   the system. */
void dfl_mapping_check_selections(dfl_mapping_draft *draft, const dfl_system *system, dfl_span use);
/* A copy of the system. In its selections, each name is replaced by full names of tensors: `F` by `conv1.F`,
   `conv2.F`. */
const dfl_system *dfl_mapping_resolve_selections(dfl_mapping_draft *draft, const dfl_system *system);

/* ---- finish.c ---- */
/* Makes the mapping with the tree of bodies below `root`; NULL after reporting. */
const dfl_mapping *dfl_mapping_finish(dfl_mapping_draft *draft, const dfl_decl *decl, const dfl_mapping_parts *parts,
                                      dfl_body *root);
/* Makes the template, with the first parameter without a value. */
const dfl_template *dfl_mapping_finish_template(const dfl_mapping_draft *draft, const dfl_decl *decl,
                                                const dfl_mapping_parts *parts);

#endif
