/*
 * A program: the content of a file with all names, units and sizes resolved. A program consists of designs (mappings
 * bound to a workload and a system) and of the checks on the designs. Templates and declarations without values are
 * checked and counted, not lowered.
 */
#ifndef DFL_IR_PROGRAM_H
#define DFL_IR_PROGRAM_H

#include "ir/mapping.h"
#include "ir/quantity.h"

typedef enum { DFL_CHECK_REQUIRE, DFL_CHECK_EXPECT, DFL_CHECK_ASSUME } dfl_check_kind;

typedef enum {
    DFL_VAL_QUANTITY, DFL_VAL_STRING, DFL_VAL_PATH, DFL_VAL_CALL,
    DFL_VAL_NEG, DFL_VAL_ADD, DFL_VAL_SUB, DFL_VAL_MUL, DFL_VAL_DIV,
    DFL_VAL_LT, DFL_VAL_GT, DFL_VAL_LE, DFL_VAL_GE, DFL_VAL_EQ, DFL_VAL_NE, DFL_VAL_AND, DFL_VAL_OR,
} dfl_val_kind;

/* An expression over paths into a report ("flash.latency"), with folded constants. */
typedef struct dfl_val {
    dfl_val_kind kind;
    dfl_span span;
    dfl_quantity quantity;
    dfl_sym text;              /* text of a STRING; name of the built-in function of a CALL; else 0 */
    const dfl_sym *path;       /* path of a PATH, and of a CALL on a path (`flash.peak(sram)`) */
    uint32_t n_path;
    const struct dfl_val *const *args;
    uint32_t n_args;
} dfl_val;

typedef struct {
    dfl_check_kind kind;
    dfl_span span;
    const dfl_val *expr;
    const dfl_val *exactly;    /* value of `exactly`, or NULL */
    const dfl_val *within, *of;/* values of `within` and `of`, or NULL */
    dfl_sym source;            /* text of the `from "..."` clause, or 0 */
    const char *text;          /* text of the check in the file, on one line */
    dfl_sym scope;             /* mapping or workload that contains the check, or 0; paths of the check may omit this prefix */
} dfl_check;

typedef struct {
    const dfl_mapping *mapping;/* the mapping, complete or with holes */
    bool from_root;            /* the declaration is in the root file, not in an import */
} dfl_design;

/* A template: a mapping without the value of a parameter of its own, of its workload or of its system. */
typedef enum { DFL_LACKS_OWN, DFL_LACKS_WORKLOAD, DFL_LACKS_SYSTEM } dfl_lacks;

typedef struct {
    dfl_sym name;
    dfl_span span;
    dfl_lacks lacks;
    dfl_sym missing, owner;    /* the parameter without a value, and the declaration that has the parameter */
    dfl_span missing_span;
    bool from_root;
} dfl_template;

/* A sweep at the first values of its axes. No command runs a sweep; its names and dimensions are checked. */
typedef struct {
    const dfl_mapping *mapping;   /* a mapping without lines: name, workload, system, and the criteria as `minimize` */
    const dfl_check *requirements; uint32_t n_requirements;
} dfl_sweep;

typedef struct {
    const dfl_workload *workload; /* workload at its default parameters */
    bool from_root;
} dfl_sized_workload;

typedef struct {
    const dfl_design *designs; uint32_t n_designs;       /* designs in text order */
    const dfl_template *templates; uint32_t n_templates; /* templates in text order */
    const dfl_check *checks;   uint32_t n_checks;        /* checks of the root file and of its mappings */
    const dfl_sized_workload *workloads; uint32_t n_workloads;
    const dfl_system *const *systems; uint32_t n_systems;/* systems at their default parameters */
    const dfl_sweep *sweeps;   uint32_t n_sweeps;        /* sweeps of the root file whose workload and system have no errors */
} dfl_program;

/* Whether the root file declares the mapping of the design and the mapping is called `only`; NULL = any name. */
bool dfl_design_is_selected(const dfl_design *design, const dfl_intern *names, const char *only);
/* The mapping of the root file called `name`; NULL = there is none. */
const dfl_mapping *dfl_program_find_mapping(const dfl_program *program, const dfl_intern *names, const char *name);

#endif
