/* Tensors that leave an iteration of a repeat (`dfl_tensor_leaves_iteration`), by hand. */
#include <string.h>

#include "api/session.h"
#include "ir/workload.h"
#include "tests/harness/check.h"

typedef struct {
    const char *name, *tensor; /* the tensor by its name in a mapping */
    bool leaves;
} leaving_row;

/* X is carried, T stays in its iteration, V is read behind the repeat, O is of no iteration. */
static const char TEXT[] =
    "dfl 1; workload w : i8 { rank a = 4; input A[a]; input B[a]; weight C[a]; X[a] = A[a] * B[a]; O[a] = A[a] * C[a]; "
    "repeat 3 as layer carrying X = Y { weight W[a]; T[a] = X[a] * W[a]; V[a] = T[a] * A[a]; Y[a] = T[a] * B[a]; } "
    "output Z[a] = layer.V[a] * O[a]; output U[a] = layer.V[a] * C[a]; } "
    "system chip { memory dram { size = unlimited; } compute unit { rate { mac = 1MAC/s; flop = 1FLOP/s; } } } "
    "mapping all for w on chip { ...; minimize latency; }";

static const leaving_row ROWS[] = {
    { "the tensor before the repeat that the first iteration reads", "X", true },
    { "the tensor that an iteration passes to the next one", "layer.Y", true },
    { "a tensor that the einsums of its own iteration alone read", "layer.T", false },
    { "a tensor of the last iteration that an einsum behind the repeat reads", "layer.V", true },
    { "a weight of each iteration", "layer.W", false },
    { "an intermediate outside of the repeat", "O", false },
    { "an input that all iterations read", "A", false },
};

static void leaves(void **state)
{
    const leaving_row *row = *state;
    dfl_session *s = dfl_session_new(NULL);
    uint32_t found = DFL_NONE;

    assert_int_equal(dfl_session_open_text(s, "text.dfl", TEXT, strlen(TEXT)), DFL_EXIT_OK);
    assert_true(dfl_session_analyse(s));
    const dfl_workload *w = s->program->designs[0].mapping->workload;
    for (uint32_t t = 0; t < w->n_tensors; t++)
        if (w->tensors[t].name == dfl_intern_find(s->names, row->tensor, strlen(row->tensor)))
            found = t;
    assert_int_not_equal(found, DFL_NONE);
    assert_int_equal(dfl_tensor_leaves_iteration(w, found), row->leaves);
    dfl_session_free(s);
}

int main(void) { return CHECK_TABLE("ir.iterations", ROWS, leaves); }
