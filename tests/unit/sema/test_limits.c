/* Limits of sema: the budget at any step, nesting, numbers of parts. */
#include "tests/unit/sema/analysed.h"

static const char everything[] =
    "let a = 3; let b = floor(a / 2) + 1; op twice(x) = 2FLOP;\n"
    "workload g(M) : i8 { rank m = M; input A[m]; weight F[m]; Z[m] = A[m] * F[m] + b; }\n"
    "workload w(N = 4) : i8 { rank m = N, n = N; input A[m, n]; B[m] += A[m,n] where n <= m;\n"
    "  apply g(N) as one { A = B; } for k in 0..2 { apply g(N) as L { A = one.Z; } }\n"
    "  repeat 2 as layer carrying X = Y { weight W[m]; Y[m] = X[m] * W[m]; } X[m] = twice(one.Z[m]);\n"
    "  if N > 2 { output Q[m] = layer.Y[m]; } expect macs == 3; }\n"
    "system s(r = 2) { clock = 1GHz; memory d { size = 1GB; holds = input, output, weight; } network n = bus { multicast = x; }\n"
    "  array x[r] over n { memory reg { size = 1kB; } compute c { rate = 1FLOP/cycle; } } }\n"
    "system t = s(r = 4) { d.size = 2GB; } system u { use t as first; }\n"
    "mapping q(k) for g on s { keep A, F, Z in d; temporal m:k, m; }\n"
    "mapping p for w on s { fuse { B { temporal m, n; } each g { use q(2); } X { temporal m; } layer { temporal layer, m; }\n"
    "  Q { temporal m; } } }\n"
    "require p.latency < 1s + 2s;\n"
    "sweep z for w on s(r = i) { over i in 1..8 times 2; pareto latency; }\n";

static bool reported(const analysed *a, dfl_code code)
{
    for (size_t i = 0; i < dfl_sink_count(a->sink); i++)
        if (dfl_sink_at(a->sink, i)->code == code)
            return true;
    return false;
}

static void the_text_is_right(void **state)
{
    analysed *a = analyse(everything);

    (void)state;
    if (dfl_sink_errors(a->sink) > 0)
        fail_msg("%s", analysed_message(a));
    assert_int_equal(a->program->n_designs, 1);
    assert_int_equal(a->program->n_checks, 2);
    analysed_free(a);
}

static void stops_at_any_step(void **state)
{
    bool stopped = true;
    uint64_t steps = 1;

    (void)state;
    for (; stopped; steps++) {
        analysed *a = analyse_within(everything, steps, 0);

        stopped = a->budget.why == DFL_STOP_STEPS;
        if (stopped)
            assert_true(reported(a, DFL_LIMIT_STEPS));
        else
            assert_int_equal(dfl_sink_errors(a->sink), 0);
        analysed_free(a);
    }
    assert_true(steps > 100);
}

static void stops_at_any_memory(void **state)
{
    (void)state;
    for (size_t kib = 16; kib < 1024; kib += 16) {
        analysed *a = analyse_within(everything, 0, kib << 10);

        if (a->budget.why == DFL_STOP_MEMORY)
            assert_true(reported(a, DFL_LIMIT_MEMORY));
        analysed_free(a);
    }
}

typedef struct {
    const char *name, *text;
    dfl_code code;
} limit_case;

static const limit_case limits[] = {
    { "a workload in itself", "workload w : i8 { rank m = 1; input A[m]; apply w() as x; }", DFL_DECLARATION_CYCLE },
    { "a system in itself", "system s { use s as x; }", DFL_DECLARATION_CYCLE },
    { "a template in itself", "workload w : i8 { rank m = 1; Z[m] = A[m]; } system s { memory d { size = 1B; } }"
      "mapping m for w on s { use m; }", DFL_DECLARATION_CYCLE },
    { "too many values", "workload w : i8 { rank m = 1; for k in 0..1_000_000 { Z[m] = A[m]; } }", DFL_LIMIT_COUNT },
    { "too many einsums", "workload w : i8 { rank m = 1; for k in 0..60_000 { Y[m] = A[m]; Z[m] = Y[m]; } }", DFL_LIMIT_COUNT },
    { "nested loops", "workload w : i8 { rank m = 1; for i in 0..1000 { for k in 0..1000 { Y[m] = A[m]; } } }", DFL_LIMIT_COUNT },
    { "a range that does not grow", "sweep z for w on s { over i in 1..8 step 0; pareto latency; }"
      "workload w : i8 { rank m = 1; Z[m] = A[m]; } system s { memory d { size = 1B; } }", DFL_EXPR_TYPE },
    { "bits beyond 128", "workload w : i8 { rank a = 4e18, b = 4e18, c = 4e18; Z[a,b,c] = A[a,b,c]; }", DFL_EVAL_OVERFLOW },
    { "a rank beyond 2^62", "workload w : i8 { rank a = 1e19; Z[a] = A[a]; }", DFL_UNIT_OVERFLOW },
    { "an index beyond 64 bits", "workload w : i8 { rank a = 4; input A[x: 9]; Z[a] = A[a + 9223372036854775807 + 1]; }", DFL_UNIT_OVERFLOW },
};

static void refuses(void **state)
{
    const limit_case *c = *state;
    analysed *a = analyse(c->text);

    if (!reported(a, c->code))
        fail_msg("%s", analysed_message(a) != NULL ? analysed_message(a) : "nothing reported");
    assert_true(dfl_sink_errors(a->sink) <= 2);
    analysed_free(a);
}

/* Constants in reverse order are evaluated recursively, and the depth is the length of their chain; a chain of 1500 is
   within the limit. */
static void long_chains_of_constants(void **state)
{
    enum { N = 1500 };
    size_t room = N * 40, len = 0;
    char *text = malloc(room);
    analysed *a;

    (void)state;
    assert_non_null(text);
    for (int i = 0; i < N; i++)
        len += (size_t)snprintf(text + len, room - len, "let a%d = a%d + 1;\n", i, i + 1);
    snprintf(text + len, room - len, "let a%d = 1;\n", N);
    a = analyse(text);
    assert_int_equal(dfl_sink_errors(a->sink), 0);
    analysed_free(a);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_text_is_right),
        cmocka_unit_test(stops_at_any_step),
        cmocka_unit_test(stops_at_any_memory),
        cmocka_unit_test(long_chains_of_constants),
    };
    int failed = CHECK_TABLE("sema.limits", limits, refuses);

    return failed + CHECK_GROUP("sema.budget", tests);
}
