/* Expressions of a specification: Python's arithmetic, with sets of tensors. */
#ifndef DFL_IMPORT_ACCELFORGE_EXPR_H
#define DFL_IMPORT_ACCELFORGE_EXPR_H

#include "import/accelforge/specification.h"

/*
 * The value of an expression: a number (true is 1, false is 0) or a set of tensors. The name of a memory is the set of the
 * tensors that it keeps, which the source's mapper may choose. So a set is known by its bounds: it contains `set`, and
 * `most` contains it; a set that depends on no choice has equal bounds.
 */
typedef struct { bool is_set; double number; dfl_af_set set, most; } dfl_af_value;

/* Evaluates for one einsum, or for none (DFL_AF_NONE: no tensors); reports E0701, E0705, E0713, E0714. */
bool dfl_af_eval(const dfl_af_file *f, uint32_t einsum, const dfl_yaml *expression, dfl_af_value *out);
bool dfl_af_eval_text(const dfl_af_file *f, uint32_t einsum, const char *text, size_t len, dfl_span span,
                      dfl_af_value *out);
/* Evaluates to a number; `fallback` if the node is NULL. False after reporting. */
bool dfl_af_number(const dfl_af_file *f, uint32_t einsum, const dfl_yaml *at, double fallback, double *out);
/* Evaluates to a whole number from `least` to 2^53; `fallback` if the node is NULL. False after reporting (E0705). */
bool dfl_af_count(const dfl_af_file *f, uint32_t einsum, const dfl_yaml *at, int64_t least, int64_t fallback,
                  int64_t *out);
/* Evaluates to a set of tensors that depends on no choice of the source's mapper; false after reporting. */
bool dfl_af_tensors(const dfl_af_file *f, uint32_t einsum, const dfl_yaml *at, dfl_af_set *out);
/* Evaluates to the bounds of a set of tensors; false after reporting. */
bool dfl_af_tensor_bounds(const dfl_af_file *f, uint32_t einsum, const dfl_yaml *at, dfl_af_set *least, dfl_af_set *most);
/* Whether `renames` defines the name for an einsum. */
bool dfl_af_has_rename(const dfl_af_file *f, uint32_t einsum, const char *name);
/* Whether a scalar is `true` or `True`; false for NULL. */
bool dfl_af_truth(const dfl_yaml *at);

#endif
