/*
 * Modules: a module is a parsed file with its declarations and its imports. (The word unit is reserved for units of
 * measurement.) Modules are opened once per file; an import that cannot be loaded stays in the list with module NULL, so
 * that names that it may have declared are not reported as unknown.
 */
#ifndef DFL_SEMA_NAMES_MODULE_H
#define DFL_SEMA_NAMES_MODULE_H

#include "sema/names/context.h"
#include "sema/names/declaration.h"
#include "sema/names/symmap.h"

typedef struct {
    const dfl_ast_node *node; /* the `import` */
    dfl_module *module;       /* NULL = loading failed, which was reported */
    dfl_sym alias;            /* name behind `as`; 0 = all declarations are visible without a prefix */
    dfl_sym last;             /* last component of a dotted path; 0 for a string */
} dfl_module_import;

struct dfl_module {
    dfl_sema_file file;
    bool is_root;                 /* the file under analysis, not an import */
    bool is_loading;              /* the imports of the file are being opened: importing it now is a cycle */
    DFL_VEC(dfl_decl *) decls;    /* declarations in the order of the text */
    dfl_symmap by_name;           /* to dfl_decl */
    DFL_VEC(const dfl_ast_node *) checks; /* `require`, `expect` and `assume` outside of declarations */
    DFL_VEC(dfl_module_import) imports;   /* in the order of the text */
    dfl_symmap aliases;           /* to dfl_module_import, by alias and, without one, by the last component */
    bool overlap_perfect;         /* the file has the option `overlap = perfect` */
    dfl_span option;              /* place of that option */
    dfl_module *next;             /* module that was opened before this one */
};

/* Declares everything in a parsed file and opens its imports, recursively. The first module is the root. */
dfl_module *dfl_module_open(dfl_sema *sema, dfl_sema_file file);
/* The module std.ops, loaded at the first call; NULL if there is no standard library. */
dfl_module *dfl_module_std_ops(dfl_sema *sema);
/* Checks `option overlap = perfect;`. `*first` is the place of the option in the same text, nowhere before the first
 * one. Returns false after reporting. */
bool dfl_module_take_option(dfl_sema *sema, const dfl_ast_node *node, dfl_span *first);
/* Levels of the lints for a module; NULL = no lints, because it is imported. */
const dfl_lint_levels *dfl_module_lints(const dfl_sema *sema, const dfl_module *module);
/* The span of the root file. Lints outside of it are silent, also if the root file instantiates what it imports. */
dfl_span dfl_module_root_span(const dfl_sema *sema);

#endif
