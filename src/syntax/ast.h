/*
 * The syntax tree of a file. The tree consists of expressions (ast_expr.h) and of nodes for everything else. The
 * actions of the grammar make nodes and expressions, which never change afterwards. Lists are linked through `next`.
 * Ids are dense, so that later passes keep results in tables indexed by id. Every name has its span, for diagnostics.
 *
 * A field that a kind does not use is zero; the comment behind each kind lists the used fields. Rare fields stand in `more`,
 * which is never NULL: nodes without rare fields share one struct that is all zero.
 */
#ifndef DFL_SYNTAX_AST_H
#define DFL_SYNTAX_AST_H

#include "syntax/ast_expr.h"

typedef enum __attribute__((packed)) {
    /* file */
    DFL_AST_EDITION,           /* value */
    DFL_AST_OPTION,            /* name, value; also in mappings */
    DFL_AST_IMPORT,            /* path or value (a string), alias */
    DFL_AST_PARAM,             /* name, value, domain (set or range, or NULL) */
    DFL_AST_LET,               /* name, value; also in workloads */
    DFL_AST_OP,                /* name, names = parameters, value = cost, over */
    DFL_AST_WORKLOAD,          /* name, params, type, body; or ref = the workload it is derived from */
    DFL_AST_SYSTEM,            /* name, params, body; or ref, binds */
    DFL_AST_MAPPING,           /* name, params, body, work, machine; or ref = template, work and machine may be absent */
    DFL_AST_SWEEP,             /* name, work, machine, body */
    DFL_AST_CHECK,             /* check, value, exactly, within, of, from; anywhere */
    DFL_AST_PARM,              /* in params: name, value = default or NULL */
    DFL_AST_BIND,              /* in binds: path, value */
    /* workload */
    DFL_AST_RANKS,             /* items = RANK */
    DFL_AST_RANK,              /* name, value */
    DFL_AST_TENSORS,           /* role, items = TENSOR */
    DFL_AST_TENSOR,            /* path, args = dimensions, type */
    DFL_AST_EINSUM,            /* role or NONE, target = TENSOR, assign, value, over, where */
    DFL_AST_APPLY,             /* ref, name, binds */
    DFL_AST_REPEAT,            /* value = count, name, binds = carried, body */
    DFL_AST_FOR,               /* name, domain, body */
    DFL_AST_IF,                /* value, body, otherwise */
    /* system */
    DFL_AST_ATTR,              /* name, args; also in the braces of parts */
    DFL_AST_ATTRS,             /* name, body: `read { ... }` */
    DFL_AST_MEMORY,            /* name, body */
    DFL_AST_COMPUTE,           /* name, body */
    DFL_AST_NETWORK,           /* name, ref = kind, body */
    DFL_AST_ELEMENT,           /* name, body */
    DFL_AST_ARRAY,             /* items = AXIS, over = network or absent, body */
    DFL_AST_AXIS,              /* name, value */
    DFL_AST_USE,               /* ref, alias, binds; also in mappings */
    /* mapping */
    DFL_AST_TEMPORAL,          /* items = LOOP, online */
    DFL_AST_SPATIAL,           /* items = SPREAD, paths = `for` */
    DFL_AST_SPREAD,            /* items = LOOP, path = axis, pipelined, args = its arguments */
    DFL_AST_LOOP,              /* path (absent for `?`), split, value, cyclic */
    DFL_AST_KEEP,              /* items = KEPT, body = SPREAD of `split` */
    DFL_AST_KEPT,              /* paths (an absent path = `?`), path = memory, or items = HOME; mode */
    DFL_AST_HOME,              /* path = memory */
    DFL_AST_ON,                /* path */
    DFL_AST_RECOMPUTE,         /* paths; or items = RECOMPUTE, one of which is chosen; with value = `?`: any of the paths */
    DFL_AST_FUSE,              /* body = BRANCH, ANYTHING */
    DFL_AST_PIPELINE,          /* body = BRANCH, ANYTHING */
    DFL_AST_FUSE_HOLE,         /* fuse ?; */
    DFL_AST_ANYTHING,          /* ...; */
    DFL_AST_BRANCH,            /* items = HEAD, each, body */
    DFL_AST_HEAD,              /* path */
    DFL_AST_MINIMIZE,          /* args; also in sweeps */
    DFL_AST_PARETO,            /* args; also in sweeps */
    /* sweep */
    DFL_AST_OVER,              /* items = VARIED */
    DFL_AST_VARIED,            /* name, domain */
    DFL_AST_REQUIRE,           /* args */
    DFL_AST_SWEEP_MAPPING,     /* path */
} dfl_ast_kind;

typedef enum __attribute__((packed)) {
    DFL_AST_NO_ROLE, DFL_AST_INPUT, DFL_AST_WEIGHT, DFL_AST_OUTPUT, DFL_AST_STATE
} dfl_ast_role;
typedef enum __attribute__((packed)) { DFL_AST_REQUIRES, DFL_AST_EXPECTS, DFL_AST_ASSUMES } dfl_ast_check;
typedef enum __attribute__((packed)) { DFL_SPLIT_NONE, DFL_SPLIT_SIZE, DFL_SPLIT_PARTS } dfl_split;
typedef enum __attribute__((packed)) { DFL_KMODE_NONE, DFL_KMODE_FRESH, DFL_KMODE_WINDOW } dfl_kmode;
/* `=`, `+=`, or `name=` with the name in `assign_name` */
typedef enum __attribute__((packed)) { DFL_ASSIGN_DEFINE, DFL_ASSIGN_ADD, DFL_ASSIGN_NAMED } dfl_assign;

typedef struct dfl_ast_paths {
    const dfl_ast_path *path;  /* never NULL */
    struct dfl_ast_paths *next;
} dfl_ast_paths;

/* Fields of declarations, einsums and checks. */
typedef struct {
    const char *doc;           /* text of `///` comments before a declaration, or NULL */
    dfl_ast_name alias, over;
    const dfl_ast_ref *ref, *work, *machine; /* never NULL; absent if path.n == 0 */
    const dfl_ast_ref *type;   /* data type; never NULL, absent if path.n == 0 */
    dfl_ast_name assign_name;
    dfl_span assign_span;
    uint32_t n_where, n_names;
    const dfl_ast_name *names;
    dfl_expr *where;
    dfl_expr *reuse, *load;    /* of an einsum: how often rows of a `gather` are read; NULL = not stated */
    dfl_expr *domain, *exactly, *within, *of, *from;
    struct dfl_ast_node *params, *binds, *otherwise, *target;
} dfl_ast_more;

typedef struct dfl_ast_node {
    dfl_ast_kind kind;
    dfl_ast_role role;
    dfl_ast_check check;
    dfl_assign assign;
    dfl_split split;
    dfl_kmode mode;
    bool has_body, online, cyclic, pipelined, each;
    uint16_t depth;
    uint32_t id;
    dfl_span span;
    uint32_t n_args;
    struct dfl_ast_node *next;
    dfl_ast_name name;
    const dfl_ast_path *path;  /* never NULL */
    dfl_expr *value;
    dfl_expr *args;
    struct dfl_ast_node *items, *body;
    dfl_ast_paths *paths;
    const dfl_ast_more *more;
} dfl_ast_node;

typedef struct {
    dfl_ast_node *items;       /* declarations in order */
    uint32_t n_nodes, n_exprs; /* numbers of nodes and expressions; every id is below its number */
    dfl_span span;
} dfl_ast_file;

#endif
