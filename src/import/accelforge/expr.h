/* Expressions of a specification: Python's arithmetic, with sets of tensors. */
#ifndef DFL_IMPORT_ACCELFORGE_EXPR_H
#define DFL_IMPORT_ACCELFORGE_EXPR_H

#include "import/accelforge/specification.h"

/* What an expression means: a number (truth is 1 or 0), or tensors. */
typedef struct { bool is_set; double number; dfl_af_set set; } dfl_af_value;

/* Evaluates for one einsum, or for none (DFL_AF_NONE: no tensors); reports E0701, E0705, E0713, E0714. */
bool dfl_af_eval(const dfl_af_file *f, uint32_t einsum, const dfl_yaml *expression, dfl_af_value *out);
bool dfl_af_eval_text(const dfl_af_file *f, uint32_t einsum, const char *text, size_t len, dfl_span span,
                      dfl_af_value *out);
/* A number; `fallback` where the node is NULL. */
bool dfl_af_number(const dfl_af_file *f, uint32_t einsum, const dfl_yaml *at, double fallback, double *out);
/* A whole number from `least` to 2^53; reports E0705. */
bool dfl_af_count(const dfl_af_file *f, uint32_t einsum, const dfl_yaml *at, int64_t least, int64_t fallback,
                  int64_t *out);
bool dfl_af_tensors(const dfl_af_file *f, uint32_t einsum, const dfl_yaml *at, dfl_af_set *out);
/* Whether a name for a set of tensors is given to an einsum. */
bool dfl_af_has_rename(const dfl_af_file *f, uint32_t einsum, const char *name);
bool dfl_af_truth(const dfl_yaml *at);

#endif
