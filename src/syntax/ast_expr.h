/* Expressions of the syntax tree, and the names and paths in expressions and nodes. ast.h includes this header. */
#ifndef DFL_SYNTAX_AST_EXPR_H
#define DFL_SYNTAX_AST_EXPR_H

#include <stdbool.h>

#include "support/intern.h"
#include "support/span.h"

typedef struct {
    dfl_sym sym;               /* symbol of the name; 0 = absent */
    dfl_span span;
} dfl_ast_name;

/* An index of one name of a path: a member of a family, as in s[k - 1].Z. */
typedef struct dfl_ast_member {
    uint32_t at;               /* position of the name */
    const struct dfl_expr *index;
    struct dfl_ast_member *next;
} dfl_ast_member;

/* A path a.b.c; `text` is the symbol of the dotted text. */
typedef struct {
    dfl_ast_name *head;        /* array of n names */
    uint32_t n;                /* number of names; 0 = absent */
    dfl_sym text;              /* a name with an index stands as "s[]" until the index is evaluated (sema/expr/members.h) */
    dfl_span span;
    dfl_ast_member *members;   /* indices of names, in the order of the text; several of one name are those of
                                  nested families; NULL = none */
} dfl_ast_path;

/* The last name of a path, which must not be absent. */
static inline const dfl_ast_name *dfl_path_last(const dfl_ast_path *path)
{
    return &path->head[path->n - 1];
}

typedef enum __attribute__((packed)) {
    DFL_EXPR_NUMBER,           /* text, len: a literal with its unit, as written */
    DFL_EXPR_STRING,           /* sym: the contents, escapes resolved */
    DFL_EXPR_PATH,             /* path */
    DFL_EXPR_CALL,             /* path, args (label = name of a named argument) */
    DFL_EXPR_ACCESS,           /* path, args: T[i, j] */
    DFL_EXPR_GATHER,           /* left = access, right = access of the indices */
    DFL_EXPR_NEG,              /* left */
    DFL_EXPR_ADD, DFL_EXPR_SUB, DFL_EXPR_MUL, DFL_EXPR_DIV,                              /* left, right */
    DFL_EXPR_LT, DFL_EXPR_GT, DFL_EXPR_LE, DFL_EXPR_GE, DFL_EXPR_EQ, DFL_EXPR_NE,        /* left, right */
    DFL_EXPR_AND, DFL_EXPR_OR,                                                           /* left, right */
    DFL_EXPR_SET,              /* args: { a, b } */
    DFL_EXPR_RANGE,            /* left .. right, third = step, or factor if `times` */
    DFL_EXPR_HOLE,             /* ?, or `? in set` with left = the set */
} dfl_expr_kind;

/* A field that a kind does not use is zero, except in the two unions. */
typedef struct dfl_expr {
    dfl_expr_kind kind;
    bool times;
    uint16_t depth;            /* depth of the expression tree, 1 for a leaf */
    uint32_t id;
    dfl_span span;
    struct dfl_expr *next;
    dfl_ast_name label;        /* `name = expr` in arguments, `name: expr` in dimensions */
    uint32_t n_args;
    const dfl_ast_path *path;  /* never NULL */
    struct dfl_expr *args;
    struct dfl_expr *left, *right;
    union {
        const char *text;      /* NUMBER */
        struct dfl_expr *third;/* RANGE */
        dfl_span op;           /* all other kinds: place of the operator */
    };
    union {
        uint32_t len;          /* NUMBER */
        dfl_sym sym;           /* STRING */
    };
} dfl_expr;

/* A reference `name` or `name(args)`. */
typedef struct {
    const dfl_ast_path *path;  /* never NULL; n == 0 = absent */
    dfl_expr *args;
    uint32_t n_args;
    bool has_args;
    dfl_span span;
} dfl_ast_ref;

#endif
