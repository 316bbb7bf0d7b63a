/*
 * Modules: a module is a parsed file with its declarations and its imports. (The word `unit` is reserved for units of
 * measurement.) Each file is opened once as a module. An import that cannot be loaded remains in the list with module
 * NULL, so that names that it may have declared are not reported as unknown.
 */
#ifndef DFL_SEMA_NAMES_MODULE_H
#define DFL_SEMA_NAMES_MODULE_H

#include "sema/names/context.h"
#include "sema/names/declaration.h"
#include "sema/names/symmap.h"

typedef struct {
    const dfl_ast_node *node; /* node of the `import` */
    dfl_module *module;       /* module of the import; NULL = loading has failed and was reported */
    dfl_sym alias;            /* name after `as`; 0 = all declarations are visible without a prefix */
    dfl_sym last;             /* last component of a dotted path; 0 for a quoted path */
} dfl_module_import;

struct dfl_module {
    dfl_sema_file file;
    bool is_root;                 /* the module is the file under analysis, not an import */
    bool is_loading;              /* the imports of the file are being opened: an import of the file at this time is a cycle */
    DFL_VEC(dfl_decl *) decls;    /* declarations in the order of the text */
    dfl_symmap by_name;           /* map from names to dfl_decl */
    DFL_VEC(const dfl_ast_node *) checks; /* `require`, `expect` and `assume` outside of declarations */
    DFL_VEC(dfl_module_import) imports;   /* imports in the order of the text */
    dfl_symmap aliases;           /* map to dfl_module_import, by alias and, for imports without an alias, by the last
                                     component */
    bool overlap_perfect;         /* the file has the option `overlap = perfect` */
    dfl_span option;              /* place of the option `overlap = perfect` */
    dfl_module *next;             /* next module in the list of all modules, which starts with the newest */
};

/* Declares all declarations of a parsed file and opens its imports, recursively. The first module is the root
   module. */
dfl_module *dfl_module_open(dfl_sema *sema, dfl_sema_file file);
/* The module std.ops, loaded by the first call; NULL if there is no standard library. */
dfl_module *dfl_module_std_ops(dfl_sema *sema);
/* Checks `option overlap = perfect;`. `*first`: place of an earlier option in this text, or nowhere. Returns false
   after reporting. */
bool dfl_module_take_option(dfl_sema *sema, const dfl_ast_node *node, dfl_span *first);
/* Levels of the lints for a module; NULL = no lints, because the module is imported. */
const dfl_lint_levels *dfl_module_lints(const dfl_sema *sema, const dfl_module *module);
/* The span of the root file. Lints about other places are silent, even if the root file instantiates an imported
   declaration. */
dfl_span dfl_module_root_span(const dfl_sema *sema);

#endif
