/*
 * Elaboration of workloads: a declaration with values for its parameters becomes a workload of the intermediate
 * representation. The statements of its body, and of every body that it applies, first build a draft. Properties that
 * depend on the whole workload are then derived from the draft. The files of this folder:
 *
 *   elaborate       a declaration with values for its parameters, once per combination of values
 *   workload_draft  the workload under construction
 *   statements      statements: ranks, apply, repeat, for, if
 *   tensors         declared tensors: role, shape, data type
 *   einsum          an einsum: result, ranks, reduction, agreement of both sides
 *   index           indices and conditions as affine forms of ranks; accesses
 *   right_side      the expression of an einsum, its distinct inputs, its operations per point
 *   finish          roles, data types, lowering to the intermediate representation
 *   shapes          derivation of shapes from the accesses, and check of the accesses against shapes
 *   schedule        the order of execution of the einsums
 *   training        training steps, which room `train` derives from a workload
 */
#ifndef DFL_SEMA_WORKLOAD_ELABORATE_H
#define DFL_SEMA_WORKLOAD_ELABORATE_H

#include <string.h>

#include "sema/names/declaration.h"
#include "sema/names/lookup.h"
#include "sema/names/scope.h"
#include "sema/workload/workload_draft.h"

/* A body within a workload: the workload itself (instance 0), an `apply` or a `repeat`. */
typedef struct {
    dfl_sym name;            /* full name of the instance: "conv1", "L[3]"; 0 = the workload itself */
    dfl_sym family;          /* name of the family, "L" for "L[3]", else 0 */
    dfl_span span;
    const dfl_decl *decl;    /* the applied declaration; NULL for a `repeat` */
    uint32_t parent;         /* enclosing instance; DFL_NONE for instance 0 */
    dfl_scope *scope;        /* names of the body, including tensors from outside */
    uint32_t first_einsum, last_einsum; /* einsums of the body and of inner bodies, in the order of the text; last excluded */
} dfl_instance;

/* A check or objective of the text, with the scope of its constants. */
typedef struct {
    const dfl_ast_node *node;
    dfl_scope *scope;
} dfl_scoped_check;

typedef struct {
    dfl_decl *decl;
    dfl_scope *args;                   /* values of the parameters */
    const dfl_ast_node *missing;       /* first parameter without a value: the workload is a template; else NULL */
    const dfl_workload *workload;      /* the workload; NULL for a template and if `broken` */
    bool broken;                       /* an error has been reported */
    dfl_workload_draft draft;          /* names and einsums in the order of the text; complete for templates, too */
    DFL_VEC(dfl_instance) instances;
    DFL_VEC(dfl_scoped_check) checks;  /* `require`, `expect` and `assume` of the body */
    uint32_t iterations;               /* number of iterations of the body's `for` loops so far */
    /* Training step: number of tensors of the text; all others are derived, and are no part of the text's names. 0 = no training
       step. */
    uint32_t n_written;
    /* sema/mapping fills the following members at the first mapping of the workload. */
    bool listed;                       /* the lookups have been filled */
    dfl_lookup ranks, tensors, heads;  /* lookups of the indices of ranks, tensors, instances */
    dfl_lookup derived, updates;       /* training step: lookups of derived tensors, and of einsums `update.W` by their name */
    /* `first_producer` [tensor]: 1 + the index of the first producer of the tensor. `next_producer` [einsum]: 1 + the index
       of the next producer of the same tensor. 0 = no such producer. */
    uint32_t *first_producer, *next_producer;
} dfl_elaborated_workload;

/* The elaborated workload of a reference with its arguments. NULL after reporting; the result may be a template or
   broken. */
dfl_elaborated_workload *dfl_workload_elaborate(dfl_sema *sema, dfl_module *module, dfl_scope *from, const dfl_ast_ref *ref);
/* The elaborated workload of a declaration at its defaults. */
dfl_elaborated_workload *dfl_workload_elaborate_default(dfl_sema *sema, dfl_decl *decl);
/* Whether a reference is `train(...)`. */
static inline bool dfl_workload_is_training(const dfl_sema *sema, const dfl_ast_ref *ref)
{
    return ref->path->n == 1 && strcmp(dfl_sema_text(sema, ref->path->text), "train") == 0;
}

#endif
