/* The gradients that the derived einsums of a training step compute, against central differences of its forward einsums. */
#ifndef DFL_TESTS_UNIT_TRAIN_DIFFERENCES_H
#define DFL_TESTS_UNIT_TRAIN_DIFFERENCES_H

#include "tests/unit/train/interpreter.h"

/* The gradient of a weight as a whole, or of its rows at their places; NULL if it has none. */
static inline const double *find_gradient(const interpreter *m, uint32_t weight)
{
    for (uint32_t t = 0; t < m->w->n_tensors; t++) {
        const dfl_tensor *g = &m->w->tensors[t];

        if (g->part == DFL_PART_GRADIENT && g->of == weight && (!g->gathered || g->table == t))
            return m->value[t];
    }
    return NULL;
}

/* The derivative of the loss by one element, by differences in four places. */
static inline double differentiate(interpreter *m, double *element)
{
    const double x = *element, h = 2e-4;
    double at[4];

    for (int i = 0; i < 4; i++) {
        *element = x + h * (double)(i < 2 ? i - 2 : i - 1);
        run_step(m, false);
        at[i] = sum_loss(m);
    }
    *element = x;
    return (at[0] - 8 * at[1] + 8 * at[2] - at[3]) / (12 * h);
}

/* Compares some elements of every weight, to 1e-6 of the larger of 0.01 and the difference. A weight without a gradient has
   differences of 0. Returns the number of elements. */
static inline uint32_t compare_gradients(trained *a, const dfl_workload *w, const char *text)
{
    interpreter m = start_interpreter(a, w);
    uint32_t n_compared = 0;

    for (uint32_t t = 0; t < w->n_tensors; t++) {
        const double *gradient = find_gradient(&m, t);
        const int64_t n = count_held(w, t), step = n > 12 ? n / 5 : 1;
        double *derived;

        if (w->tensors[t].role != DFL_ROLE_WEIGHT || (w->tensors[t].gathered && w->tensors[t].table != t))
            continue;
        derived = DFL_NEW_ARRAY(a->arena, double, (size_t)n + 1);
        run_step(&m, true);
        if (gradient != NULL)
            memcpy(derived, gradient, (size_t)n * sizeof *derived);
        for (int64_t i = 0; i < n; i += step, n_compared++) {
            const double want = differentiate(&m, &m.value[t][i]);

            if (!(fabs(derived[i] - want) <= 1e-6 * fmax(fabs(want), 1e-2)))
                fail_msg("grad.%s, element %d: %.12g, by differences %.12g; %s", dfl_sym_text(a->names, w->tensors[t].name), (int)i,
                         derived[i], want, text);
        }
    }
    return n_compared;
}

#endif
