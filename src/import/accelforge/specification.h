/*
 * The intermediate form of a specification for AccelForge, between YAML and .dfl. A specification has up to five parts,
 * in one file or in several: `arch` (an ordered list of memories, tolls, containers and compute units, outermost
 * first), `workload` (einsums over rank variables), `renames` (names for sets of tensors), `variables`, and `mapping`
 * (a loop tree). Numbers may be expressions over variables and over the tensors of one einsum (expr.h).
 *
 * Tensors, einsums and nodes are numbered in file order. Rank variables belong to their einsum: equal names in two
 * einsums mean nothing to the source.
 */
#ifndef DFL_IMPORT_ACCELFORGE_SPECIFICATION_H
#define DFL_IMPORT_ACCELFORGE_SPECIFICATION_H

#include "import/yaml.h"

enum { DFL_AF_WORDS = 8, DFL_AF_MOST_TENSORS = 64 * DFL_AF_WORDS, DFL_AF_MOST_BITS = 65536 };
#define DFL_AF_NONE UINT32_MAX

/* A set of tensors, one bit each. */
typedef struct { uint64_t word[DFL_AF_WORDS]; } dfl_af_set;

typedef struct { uint32_t var; int64_t coef; } dfl_af_term; /* coef * the variable with index `var` of the einsum */

typedef struct {
    const char *rank;
    const dfl_af_term *terms; /* terms with distinct variables and coef != 0 */
    uint32_t n_terms;
    int64_t offset;
    dfl_span span;
} dfl_af_dim;

typedef struct {
    uint32_t tensor;
    bool output;
    const dfl_af_dim *dims;
    uint32_t n_dims;
    dfl_span span;
} dfl_af_access;

/* A rank variable. `simple`: wherever the variable occurs, the index has no other variable, and the coefficient is 1. */
typedef struct { const char *name; int64_t extent; bool simple; } dfl_af_var;

typedef struct {
    const char *name;
    dfl_span span;
    const dfl_af_var *vars;
    uint32_t n_vars;
    const dfl_af_access *accesses; /* at most one per tensor; exactly one output */
    uint32_t n_accesses, output;
    bool copy, left_out;           /* the einsum is a copy; it is absent from the result */
    const char *loose;             /* name of a variable that indexes only the output; NULL = none */
    int64_t instances;             /* instances of the einsum per instance of the workload */
    const dfl_yaml *renames;       /* map from names to sets; may be NULL */
} dfl_af_einsum;

typedef struct {
    const char *name;
    int64_t bits;
    uint32_t producer;             /* einsum, or DFL_AF_NONE */
    uint32_t first_user, last_user, n_users;
    bool weight, persistent;
    uint32_t same;                 /* the tensor that this one is another name of, or DFL_AF_NONE */
    bool leaves;                   /* a copy that is absent from the result reads it */
} dfl_af_tensor;

typedef enum {
    DFL_AF_MEMORY, DFL_AF_TOLL, DFL_AF_COMPUTE, DFL_AF_CONTAINER, DFL_AF_NETWORK, DFL_AF_FORK,
} dfl_af_kind;

typedef struct {
    const char *name;
    dfl_span span;
    int64_t fanout;
    dfl_af_set read_reuse, write_reuse; /* tensors with multicast to the readers; tensors with reduction from the writers */
} dfl_af_axis;

/* One of `read`, `write`, `compute`: J per action and actions per second, with all scales except actions_scale. */
typedef struct { const dfl_yaml *at; double energy, throughput; } dfl_af_action;

typedef struct {
    dfl_af_kind kind;
    const char *name;
    dfl_span span;
    const dfl_yaml *at;
    uint32_t fork;                      /* index of the innermost fork around the node, or DFL_AF_NONE */
    dfl_af_axis *axes;                  /* axes over this node and over all later nodes of the same list */
    uint32_t n_axes;
    double size, leakage, area;         /* bits (may be infinite), W, m2; n_parallel_instances included */
    double actions_scale;
    dfl_af_action read, write, compute;
    bool separate_ports;
    dfl_af_set down, up;                /* toll: tensors that are charged on their way down (inwards); on their way up */
    double *width;                      /* [tensor]: bits per value in this memory */
    double *values_to_actions[2];       /* actions per value by tensor: [0] reads, [1] writes; actions_scale included */
    dfl_af_set allowed, required;       /* memory, toll: tensors that the source's mapper may keep; must keep */
    const dfl_af_set *surely, *possibly; /* [einsum]: tensors that the einsum must keep, and may keep; NULL = no memory */
} dfl_af_node;

typedef struct {
    dfl_loss_report *report;
    const dfl_yaml *arch, *workload, *renames, *variables, *mapping; /* NULL = absent */
    DFL_VEC(dfl_af_tensor) tensors;
    DFL_VEC(dfl_af_einsum) einsums;
    DFL_VEC(dfl_af_node) nodes;         /* a fork precedes its nodes */
    uint32_t fork;                      /* fork around the node that is being read, or DFL_AF_NONE */
    const uint32_t *homes;              /* [tensor]: the only node that can be its home, or DFL_AF_NONE; NULL = not known */
} dfl_af_file;

bool dfl_af_has(const dfl_af_set *set, uint32_t tensor);
void dfl_af_put(dfl_af_set *set, uint32_t tensor);

/* Number of the tensor, einsum or node with the name, or DFL_AF_NONE. */
uint32_t dfl_af_find_tensor(const dfl_af_file *f, const char *name);
uint32_t dfl_af_find_einsum(const dfl_af_file *f, const char *name);
uint32_t dfl_af_find_node(const dfl_af_file *f, const char *name);
/* The access of a tensor; NULL where the einsum does not touch it. */
const dfl_af_access *dfl_af_access_of(const dfl_af_einsum *e, uint32_t tensor);
/* The largest value of an index of the einsum. */
int64_t dfl_af_last_index(const dfl_af_einsum *e, const dfl_af_dim *dim);
/* Whether an index of the access contains variable `var` of its einsum. */
bool dfl_af_uses_var(const dfl_af_access *access, uint32_t var);
/* Whether the list of fork `outer` is that of fork `inner`, or around it (DFL_AF_NONE = the list of the architecture). */
bool dfl_af_is_around(const dfl_af_file *f, uint32_t outer, uint32_t inner);
/* Whether node `inner` follows node `outer` in the same list, or in a fork of that list behind `outer`. */
bool dfl_af_sees(const dfl_af_file *f, uint32_t inner, uint32_t outer);
/* Warns of each key of a map that is none of the `n` known ones; `owner` names the thing that the map describes. */
void dfl_af_look_at_keys(const dfl_af_file *f, const dfl_yaml *map, const char *const *known, size_t n,
                         const char *owner);

#endif
