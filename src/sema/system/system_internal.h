/* Functions that the files of sema/system share, and the context in which declarations are elaborated. */
#ifndef DFL_SEMA_SYSTEM_SYSTEM_INTERNAL_H
#define DFL_SEMA_SYSTEM_SYSTEM_INTERNAL_H

#include "sema/names/scope.h"
#include "sema/system/elaborate.h"
#include "sema/system/vocabulary.h"

/* The context of a declaration. The context is copied and changed for inner braces and used systems. */
typedef struct {
    dfl_sema *sema;
    dfl_system_draft *draft;
    dfl_scope *scope;   /* scope with the parameters, and with the networks of the enclosing braces */
    dfl_sym prefix;     /* prefix of full names, from `use ... as`; 0 = no prefix */
    uint32_t element;   /* part of the enclosing element */
} dfl_system_context;

/* ---- attributes.c ---- */
/* Evaluates one attribute of a part in `ctx->scope` and adds the attribute to the part. `group`: name of the enclosing
   braces, or 0. */
void dfl_system_set_attribute(dfl_system_context *ctx, uint32_t part, dfl_ast_name group, dfl_ast_name name,
                              const dfl_expr *values, uint32_t layer);
/* Evaluates the attributes in the braces of a part. */
void dfl_system_set_attributes(dfl_system_context *ctx, uint32_t part, const dfl_ast_node *items);
/* Applies the overrides of a `use` or of a derived system to the parts from index `first` on; `root` is their outermost
   element. */
void dfl_system_apply_overrides(dfl_system_context *ctx, const dfl_ast_node *binds, uint32_t root, uint32_t first);

/* ---- efficiency.c ---- */
/* Reads a value of `efficiency`. An unknown value is no error. False after reporting E0508, E0615 or an error of an
   expression. */
bool dfl_system_read_efficiency(dfl_system_context *ctx, const dfl_attribute_row *row, const dfl_expr *expr,
                                dfl_attribute_value *out);

/* ---- topology.c ---- */
/* Reads the kind of a network and the arguments of the kind (`fat_tree(levels = 3)`) into the part. Reports what is wrong. */
void dfl_system_read_topology(dfl_system_context *ctx, uint32_t network, const dfl_ast_ref *ref);
/* Completes the shape of a network with `ports` ports (0 = unknown): arguments that are not stated, `algorithm` and `rails`.
   Reports E0510. */
void dfl_system_finish_topology(dfl_system_draft *draft, const dfl_draft_part *part, int64_t ports, dfl_topology *topology);

/* ---- attribute_check.c ---- */
/* The attribute of a part by the attribute's name in the vocabulary; NULL = the part does not state it. */
const dfl_draft_attribute *dfl_draft_find_attribute(const dfl_draft_part *part, const char *name);
/* Checks the number, kind and dimension of the values, then adds the attribute or replaces its value from a lower
   layer. */
void dfl_system_put_attribute(dfl_system_draft *draft, uint32_t part, dfl_draft_attribute attribute);
/* Raises the lint attribute-no-effect about `what`, in a part or (0) in the system itself, with the reason `why`. */
void dfl_system_report_no_effect(dfl_system_draft *draft, dfl_span at, const char *what, dfl_sym part, const char *why);

/* ---- finish.c ---- */
/* Lowers the draft to a system. NULL for a template and after reporting. `is_op`: tells whether a symbol names an
   operation. */
const dfl_system *dfl_system_finish(dfl_system_draft *draft, bool (*is_op)(void *context, dfl_sym op), void *context);

#endif
