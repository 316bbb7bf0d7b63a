/*
 * Einsums as the search sees them: their jobs on every unit that can run them, and classes of einsums whose jobs are the same
 * but for names, with the templates of each. What a class costs at least, and its rows, are found once for all its einsums.
 */
#ifndef DFL_MAPPER_CLASSES_H
#define DFL_MAPPER_CLASSES_H

#include "mapper/bounds.h"
#include "mapper/filter.h"
#include "support/vec.h"

typedef struct {
    const dfl_job *job;
    const dfl_tiling_template *form;
    double joules, seconds;            /* at least */
    uint32_t at;                       /* in the order they were made */
    uint32_t pattern;                  /* of the class */
} dfl_candidate;

typedef struct {
    uint32_t first;                    /* einsum */
    DFL_VEC(dfl_candidate) candidates; /* templates on all units, least energy first */
    DFL_VEC(dfl_pattern) patterns;
    dfl_least *others;                 /* by pattern: everything else, at least */
    const dfl_row *apart;              /* the best with all that is exchanged at home; NULL = not found */
    /* of the present search: */
    dfl_rows *rows;
    const dfl_row *const *list;
    uint32_t n_list;
    bool searched;                     /* with the present limit */
    uint32_t wave;                     /* rows are only those that go with what earlier waves offer */
    dfl_offers offers[DFL_JOB_OPERANDS]; /* of its rows */
} dfl_einsum_class;

typedef DFL_VEC(dfl_job *) dfl_jobs;

typedef struct {
    const dfl_mapping *m;
    uint32_t n;                        /* einsums */
    dfl_jobs *jobs;                    /* per einsum: one for every unit that can run it, at least one */
    uint32_t *of;                      /* class of an einsum */
    DFL_VEC(dfl_einsum_class) at;
    uint32_t *order;                   /* many templates first, the others then know what those offer */
} dfl_classes;

/* False after reporting, or when halted. `scratch` is reset. */
bool dfl_classes_make(dfl_arena *arena, dfl_arena *scratch, dfl_sink *sink, const dfl_intern *names, const dfl_mapping *m,
                      const dfl_job_limits *limits, dfl_halt *halt, dfl_classes *out);
/* What the classes next to class `c` that have been searched offer, for dfl_tile_goal.filter. */
dfl_way_filter *dfl_classes_filter(dfl_arena *arena, const dfl_classes *k, uint32_t c);
bool dfl_classes_wanted(const dfl_way_filter *f, const dfl_job *job, const dfl_way *way);
/* Notes what the rows of class `c` offer. */
void dfl_classes_offer(dfl_arena *arena, dfl_classes *k, uint32_t c);

#endif
