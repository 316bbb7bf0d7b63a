/* Elaborating systems: from declarations to parts, with overrides, cached by arguments. */
#ifndef DFL_SEMA_SYSTEM_MACHINE_H
#define DFL_SEMA_SYSTEM_MACHINE_H

#include "sema/files/lookup.h"
#include "sema/files/room.h"
#include "sema/system/system.h"

/* A system with values for its parameters, or, as a template, without. */
typedef struct {
    dfl_decl *decl;
    dfl_scope *args;
    const dfl_ast_node *missing;   /* a parameter without a value: a template */
    const dfl_system *system;      /* NULL for a template, or when `broken` */
    bool broken;
    dfl_sys sys;                   /* parts, for templates, too */
    bool listed;                   /* the lookups below are filled: names to ids of the kind */
    dfl_lookup memories, computes, axes;
} dfl_machine;

dfl_machine *dfl_machine_of(dfl_sema *s, dfl_unit *unit, dfl_scope *from, const dfl_ast_ref *ref);
dfl_machine *dfl_machine_default(dfl_sema *s, dfl_decl *decl);

/* Where declarations are elaborated. Copied and changed for inner braces. */
typedef struct {
    dfl_sema *s;
    dfl_sys *sys;
    dfl_scope *scope;              /* parameters, networks of the braces around */
    dfl_sym prefix;                /* of full names, from `use ... as`; 0 = none */
    uint32_t element;              /* part */
} dfl_setup;

void dfl_setup_statements(dfl_setup *c, const dfl_ast_node *items);
void dfl_setup_apply_body(dfl_setup *c, dfl_decl *decl, dfl_scope *args);
/* One attribute of a part; values are evaluated in `c->scope`. `group` is 0, or the name of the braces around. */
void dfl_setup_attribute(dfl_setup *c, uint32_t part, dfl_ast_name group, dfl_ast_name name, const dfl_expr *values,
                         uint32_t layer);
/* The attributes in the braces of a part. */
void dfl_setup_attributes(dfl_setup *c, uint32_t part, const dfl_ast_node *items);
/* The overrides of `use` and of derived systems, on the parts from `first` on; `root` is their outermost element. */
void dfl_setup_overrides(dfl_setup *c, const dfl_ast_node *binds, uint32_t root, uint32_t first);

#endif
