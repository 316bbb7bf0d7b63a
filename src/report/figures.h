/*
 * The figures of a report: all numbers and texts that the JSON report (print/json.c), paths in `require`, `expect` and
 * objectives (check/path_tree.c) and the CSV table (print/csv.c) can name, in one table. A row of figures.def is the whole
 * definition of a figure: key, dimension, presence, views, CSV column, value. The three users are loops over the table, and
 * tests/unit/report/test_figures.c compares the table with grammar/dfl-report-1.schema.json.
 *
 * A scope is a kind of object in the report, such as an einsum, a memory, or a tensor in a memory. A place is one such
 * object of one mapping; a figure has a value at a place. Objects and lists are rows, too: they lead from a place to places
 * of another scope.
 */
#ifndef DFL_REPORT_FIGURES_H
#define DFL_REPORT_FIGURES_H

#include "report/report.h"

typedef enum {
#define SCOPE(name, schema, obvious) DFL_SCOPE_##name,
#include "report/figures.def"
#undef SCOPE
    DFL_N_SCOPES
} dfl_figure_scope;

typedef enum {
    DFL_FIGURE_COUNT,  /* integer of 128 bits */
    DFL_FIGURE_REAL,   /* SI units */
    DFL_FIGURE_TEXT,
    DFL_FIGURE_TRUTH,
    DFL_FIGURE_NAMES,  /* list of texts */
    DFL_FIGURE_OBJECT, /* an object: one place in the scope `below` */
    DFL_FIGURE_ARRAY,  /* a list of places in the scope `below`; in JSON an array of objects with a key `name` */
    DFL_FIGURE_MAP,    /* a list of places in the scope `below`; in JSON an object with the names of the places as keys */
} dfl_figure_kind;

/* Dimension of a figure. A figure in another unit than the SI unit has the measure NUMBER and the unit in its key. */
typedef enum {
    DFL_MEASURE_NUMBER, DFL_MEASURE_DATA, DFL_MEASURE_TIME, DFL_MEASURE_ENERGY, DFL_MEASURE_POWER, DFL_MEASURE_AREA,
    DFL_MEASURE_MONEY, DFL_MEASURE_FREQUENCY, DFL_MEASURE_BANDWIDTH, DFL_MEASURE_ENERGY_PER_BIT,
    DFL_MEASURE_ENERGY_PER_OPERATION,
} dfl_measure;

/* Presence of a key in the JSON report if the figure has no value. */
typedef enum {
    DFL_PRESENCE_ALWAYS,    /* the figure always has a value */
    DFL_PRESENCE_OR_NULL,
    DFL_PRESENCE_OR_ABSENT, /* the key is absent if the figure has no value */
    DFL_PRESENCE_OF_COST,   /* the key is absent if the mapping has no result; otherwise the figure always has a value */
} dfl_presence;

/* Uses of a figure; a set of bits. */
enum {
    DFL_VIEW_JSON = 1,
    DFL_VIEW_PATH = 2,
    DFL_VIEW_OPEN = 4, /* for lists: a path may omit the key */
    DFL_VIEW_LAST = 8, /* the CSV column stands behind the columns of all scopes without this view */
};

typedef enum {
    DFL_VALUE_NONE,       /* no value: the name does not exist in paths either */
    DFL_VALUE_GIVEN,
    DFL_VALUE_UNDECLARED, /* the system does not declare the attribute: 0 in paths, no value in JSON */
    DFL_VALUE_OVERFLOW,   /* the count exceeds 128 bits: no value in JSON, E0608 in paths */
    DFL_VALUE_UNCOUNTED,  /* the operations of the workload cannot be counted without a mapping: E0609 in paths */
} dfl_value_state;

/* The kind of the figure tells which member holds the value; `text` may be NULL, which is null in JSON and "" elsewhere. */
typedef struct {
    dfl_value_state state;
    dfl_i128 count;
    double real;
    bool truth;
    const char *text;
    const dfl_attribute_list *names;
} dfl_figure_value;

/* One object of a report. Members that the scope does not need are 0. */
typedef struct {
    dfl_figure_scope scope;
    const dfl_results *results;
    const dfl_result_item *item; /* evaluated mapping, or the sum of all; NULL for places below workloads and systems */
    const dfl_workload *workload;
    const dfl_system *system;
    dfl_arena *arena;            /* holds texts made for values; NULL = only figures with the view PATH have values */
    uint32_t part;               /* index of the einsum, memory, compute unit, network, axis, or tensor of a workload; for a
                                    sum, the number of mappings */
    uint32_t tensor;             /* scope TRAFFIC: index of the tensor in the memory `part`; scope LINK: index of the class in
                                    the network `part` */
} dfl_figure_place;

/* An item of a list. */
typedef struct {
    dfl_figure_place place;
    dfl_sym name;
    bool is_unused; /* a tensor that the memory never keeps: paths read zeros, other views leave the item out */
} dfl_figure_item;

typedef struct {
    dfl_figure_scope scope;
    const char *key;
    dfl_figure_kind kind;
    dfl_measure measure;
    dfl_presence presence;
    unsigned views;
    const char *column; /* header in the CSV table; NULL = no column. An object shows its obvious figure. */
    dfl_figure_scope below;    /* objects and lists: scope of the items, the first of several scopes */
    dfl_figure_value (*value)(const dfl_figure_place *at);
    bool (*has_object)(const dfl_figure_place *at);
    bool (*next_item)(const dfl_figure_place *at, uint32_t k, dfl_figure_item *item);
} dfl_figure;

/* Number of rows of the whole table. */
uint32_t dfl_figures_count(void);
/* The rows of a scope in the order of the JSON report; `*n` is their number. */
const dfl_figure *dfl_figures(dfl_figure_scope scope, uint32_t *n);
/* The row of a scope with the given key; NULL = the scope has no such key. */
const dfl_figure *dfl_figure_find(dfl_figure_scope scope, const char *key);
/* The obvious figure of a scope: a path that ends at an object of the scope means this figure, as `m.latency` means
   `m.latency.seconds`. NULL = none. */
const dfl_figure *dfl_figure_obvious(dfl_figure_scope scope);
/* The name of the scope's object in $defs of the schema; NULL if the scope is not in JSON. */
const char *dfl_figure_schema(dfl_figure_scope scope);
dfl_dim dfl_measure_dim(dfl_measure measure);

dfl_figure_place dfl_figure_place_of(const dfl_results *results, const dfl_result_item *item, dfl_arena *arena);
/* Sets `*out` to the sum of all mappings with costs, in the scope SUM. Its cycles have a value if all these mappings have one
   clock. False if a number of operations exceeds 128 bits. */
bool dfl_figure_place_of_sum(const dfl_results *results, dfl_arena *arena, dfl_figure_place *out);
/* The value of a figure at a place. The figure must be neither an object nor a list. */
dfl_figure_value dfl_figure_get(const dfl_figure *figure, const dfl_figure_place *at);
/* Whether the row is an object or a list. */
bool dfl_figure_is_part(const dfl_figure *figure);
/* Whether the mapping has the object or list. */
bool dfl_figure_is_there(const dfl_figure *figure, const dfl_figure_place *at);
dfl_figure_place dfl_figure_below(const dfl_figure *object, const dfl_figure_place *at);
/* Item `k` of a list, from 0; false if `k` is too large. */
bool dfl_figure_item_at(const dfl_figure *list, const dfl_figure_place *at, uint32_t k, dfl_figure_item *item);

/* ---- the counts of a keep ---- */

typedef enum { DFL_SERVE, DFL_DRAIN, DFL_ACCUMULATE, DFL_FILL, DFL_UPDATE, DFL_ACTIONS } dfl_action;

/* The name of an action: "serve", "drain", "accumulate", "fill" or "update". */
const char *dfl_action_text(dfl_action action);
/* The count of an action of a tensor in a memory: elements over all instances. */
dfl_i128 dfl_action_count(const dfl_counts *counts, dfl_action action);

#endif
