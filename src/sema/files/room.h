/*
 * What the files of this room share: units (files), declarations, scopes and values. Lookups go from the innermost
 * scope outwards, then to the declarations of the file, then to those that its imports bring in.
 */
#ifndef DFL_SEMA_FILES_ROOM_H
#define DFL_SEMA_FILES_ROOM_H

#include "sema/sema.h"
#include "sema/files/symmap.h"
#include "sema/expr/value.h"
#include "support/vec.h"

typedef enum { DFL_NAMES_VALUE, DFL_NAMES_RANK, DFL_NAMES_TENSOR, DFL_NAMES_INSTANCE, DFL_NAMES_PART } dfl_names_kind;

/* What a name stands for inside a workload, system or mapping. */
typedef struct {
    dfl_names_kind kind;
    dfl_span span;      /* of the declaration */
    uint32_t id;        /* rank, tensor, part */
    dfl_value value;
    void *instance;     /* scope of an instance or repeat, for `conv1.O`, `layer.Y` */
    uint32_t body;      /* its number among the instances of the workload */
} dfl_binding;

typedef struct dfl_unit dfl_unit;

typedef struct dfl_scope {
    struct dfl_scope *parent;   /* NULL: next are the declarations of the unit */
    dfl_unit *unit;
    dfl_symmap names;           /* to dfl_binding */
    DFL_VEC(dfl_sym) order;     /* names in order of declaration, for suggestions */
} dfl_scope;

/* A declaration of a file. What it was lowered to is kept by the passes (`cache`, by hash of the arguments). */
typedef struct dfl_decl {
    const dfl_ast_node *node;
    dfl_unit *unit;
    dfl_sym name;
    bool busy, done;            /* constants: being evaluated, evaluated */
    bool checked, broken;       /* others: looked at once; an error was found then */
    dfl_value value;
    struct dfl_decl *base;      /* what a workload, system or mapping is derived from, once it was looked up */
    dfl_symmap cache;
    void *drafted;              /* a mapping: what dfl_draft_declare made of it */
} dfl_decl;

typedef struct {
    const dfl_ast_node *node;
    dfl_unit *unit;             /* NULL when it could not be loaded */
    dfl_sym alias;              /* 0: all declarations are visible */
    dfl_sym last;               /* last component of the path, or 0 */
} dfl_opened;

struct dfl_unit {
    dfl_sema_file file;
    bool root, ops, loading;    /* `ops`: the file std.ops */
    DFL_VEC(dfl_decl *) decls;  /* in text order */
    dfl_symmap by_name;         /* to dfl_decl */
    DFL_VEC(const dfl_ast_node *) checks;
    DFL_VEC(dfl_opened) imports;
    dfl_symmap aliases;         /* to dfl_opened */
    bool overlap_perfect;       /* by the option of the file, */
    dfl_span option;            /* which stands here */
    struct dfl_unit *next;
};

typedef DFL_VEC(dfl_line) dfl_lines;

typedef struct {
    const dfl_sema_input *in;
    dfl_arena *arena;
    dfl_intern *names;
    dfl_sink *sink;
    dfl_budget *budget;
    dfl_unit *units, *root, *ops;
    bool ops_looked_for;
    bool syntax_errors;         /* the root file has some: what is missing may only have been lost */
    unsigned nesting, eval_depth;
    dfl_lines lines;            /* of the chains of mappings being lowered, innermost last */
    DFL_VEC(dfl_design) designs;
    DFL_VEC(dfl_template) templates;
    DFL_VEC(dfl_check) checks;
    DFL_VEC(dfl_sized_workload) workloads;
    DFL_VEC(const dfl_system *) systems;
} dfl_sema;

static inline const char *dfl_sema_text(const dfl_sema *s, dfl_sym sym) { return dfl_sym_text(s->names, sym); }
/* The text of a span, one line, for help lines; "" when it is nowhere. */
const char *dfl_sema_slice(const dfl_sema *s, dfl_span span);
/* Lints of imported files are silent: NULL for them. */
const dfl_lint_levels *dfl_sema_lints(const dfl_sema *s, const dfl_unit *unit);
/* The places of the root file: lints about what it imports are silent, too. */
dfl_span dfl_sema_root_range(const dfl_sema *s);
bool dfl_sema_ok(dfl_sema *s);
/* Adds to every report since there were `before` of them, and which is about another place, what led to it. */
void dfl_sema_blame(dfl_sema *s, size_t before, dfl_span span, const char *what);

/* ---- scopes (scope.c) ---- */
dfl_scope *dfl_scope_new(dfl_sema *s, dfl_scope *parent, dfl_unit *unit);
/* Reports E0202 and returns NULL when the scope itself has the name already. */
dfl_binding *dfl_scope_declare(dfl_sema *s, dfl_scope *scope, dfl_sym name, dfl_span span, dfl_names_kind kind);
/* Reports E0202: what is at `first` is `how` ("declared", "given") again at `at`. */
dfl_diag *dfl_scope_twice(dfl_sema *s, dfl_span at, dfl_span first, const char *how, const char *name);
dfl_binding *dfl_scope_find(const dfl_scope *scope, dfl_sym name);
dfl_binding *dfl_scope_find_here(const dfl_scope *scope, dfl_sym name);
/* Names of one kind that are visible, innermost first; for suggestions. */
dfl_sym dfl_scope_suggest(dfl_sema *s, const dfl_scope *scope, dfl_sym name, dfl_names_kind kind);
dfl_sym dfl_scope_suggest_any(dfl_sema *s, const dfl_scope *scope, dfl_sym name);

/* ---- files and declarations (unit.c) ---- */
dfl_unit *dfl_unit_open(dfl_sema *s, dfl_sema_file file);
/* `option overlap = perfect;`, in the same text before at `*first`. False after reporting. */
bool dfl_option_take(dfl_sema *s, const dfl_ast_node *n, dfl_span *first);
/* std.ops, loaded when it is first asked for; NULL when there is no standard library. */
dfl_unit *dfl_unit_ops(dfl_sema *s);
/* A declaration by its path; NULL when there is none (silent). `*broken` is set when an import that failed, or an
 * ambiguity that was reported, explains why. */
dfl_decl *dfl_decl_find(dfl_sema *s, dfl_unit *unit, const dfl_ast_path *path, bool *broken);
/* The same for a declaration of one kind; reports when there is none or it is of another kind. */
dfl_decl *dfl_decl_need(dfl_sema *s, dfl_unit *unit, const dfl_ast_path *path, dfl_ast_kind kind);
/* An operation: of this file, or of std.ops. NULL when there is none. */
dfl_decl *dfl_decl_op(dfl_sema *s, dfl_unit *unit, dfl_sym name);
/* Reports E0201 for a path in an expression. */
void dfl_decl_report_unknown(dfl_sema *s, dfl_scope *scope, const dfl_ast_path *path);
/* Before a body is put into another, one level deeper. False after reporting E0211, E0606; `what`: "systems". */
bool dfl_decl_enter(dfl_sema *s, dfl_decl *decl, const char *what);
dfl_sym dfl_decl_suggest(dfl_sema *s, dfl_unit *unit, dfl_sym name);

/* ---- constants (eval.c, builtin.c) ---- */
dfl_value dfl_eval(dfl_sema *s, dfl_scope *scope, const dfl_expr *e);
dfl_value dfl_eval_call(dfl_sema *s, dfl_scope *scope, const dfl_expr *e);
/* The value of a `let` or `param` of a file. */
dfl_value dfl_eval_decl(dfl_sema *s, dfl_decl *d, dfl_span use);
/* A plain integer in [low, high]; false after reporting, or when the value is bad or unknown (`*unknown`). */
bool dfl_eval_int(dfl_sema *s, dfl_scope *scope, const dfl_expr *e, const char *what, int64_t low, int64_t high,
                  int64_t *out, bool *unknown);
/* Reports the failure of an operator or function; the result for the caller to return. */
dfl_value dfl_eval_failed(dfl_sema *s, dfl_arith status, const dfl_expr *e, dfl_value a, dfl_value b);
/* Values of a set or range, in order; false after reporting or when unknown. */
bool dfl_eval_domain(dfl_sema *s, dfl_scope *scope, const dfl_expr *e, dfl_values *out, bool *unknown);

/* ---- parameters and arguments (args.c) ---- */
/* Declares the parameters of `params` in `scope`, from the arguments of `ref` (evaluated in `from`) and the defaults.
 * A parameter without either becomes UNKNOWN; `*missing` names the first one. False after reporting. */
bool dfl_args_bind(dfl_sema *s, dfl_scope *scope, const dfl_ast_node *params, const dfl_ast_ref *ref, dfl_scope *from,
                   dfl_decl *owner, const dfl_ast_node **missing);
/* Reports that the reference leaves out a parameter without a default; returns false. */
bool dfl_args_need(dfl_sema *s, const dfl_ast_ref *ref, const dfl_ast_node *missing);

#endif
