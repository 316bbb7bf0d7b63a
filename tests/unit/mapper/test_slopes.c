/* Derivatives of objectives, by hand, where the energy is 2 J and the latency 3 s. */
#include <math.h>
#include <string.h>

#include "tests/harness/check.h"

#include "mapper/problem/objective.h"
#include "tests/unit/sema/analysed.h"

typedef struct {
    const char *name;
    const char *minimize;     /* "" for none */
    double per_joule, per_second;
} slope_case;

static const slope_case cases[] = {
    { "none", "", 3, 2 },
    { "one", "minimize latency;", 0, 1 },
    { "by their names", "minimize plain.energy * plain.latency.seconds * latency;", 9, 12 },
    { "sum", "minimize 5 * energy.joules + latency.seconds / 4 - 1;", 5, 0.25 },
    { "power", "minimize energy * pow(latency.seconds, 3);", 27, 54 },
    { "root", "minimize sqrt(energy.joules * latency.seconds * 6);", 1.5, 1 },
    { "largest", "minimize max(energy.joules, 2 * latency.seconds, latency.seconds);", 0, 2 },
    { "least", "minimize min(energy.joules, 2 * latency.seconds);", 1, 0 },
    { "steps", "minimize floor(energy.joules * 0.7) + latency.seconds;", 0, 1 },
    { "first of two", "minimize energy, latency;", 1, 0 },
};

static void tells(void **state)
{
    static const char before[] =
        "dfl 1; workload copy(N = 4) : i8 { rank n = N; input X[n]; output Z[n] = X[n] + 1; }\n"
        "system chip { memory dram { size = 1kB; energy = 1pJ/bit; } compute unit { rate = 1GFLOPS; } }\n"
        "mapping plain for copy on chip { keep X, Z in dram; temporal n; ";
    const slope_case *c = *state;
    double per_joule, per_second, step = 1e-6;
    dfl_objective o;
    dfl_strbuf text;
    dfl_arena *arena = dfl_arena_new(NULL);

    dfl_strbuf_init(&text, arena);
    dfl_strbuf_printf(&text, "%s%s }\n", before, c->minimize);
    analysed *a = analyse(text.text);
    assert_int_equal(dfl_sink_errors(a->sink), 0);
    assert_true(dfl_objective_make(a->sink, a->names, a->program->designs[0].mapping, &o));
    assert_true(o.native);
    dfl_objective_slopes(&o, 0, 2, 3, &per_joule, &per_second);
    assert_close(per_joule, c->per_joule, 1e-12);
    assert_close(per_second, c->per_second, 1e-12);
    double d = dfl_objective_value(&o, 2 + step, 3) - dfl_objective_value(&o, 2 - step, 3);
    assert_true(fabs(d / (2 * step) - per_joule) < 1e-6);
    d = dfl_objective_value(&o, 2, 3 + step) - dfl_objective_value(&o, 2, 3 - step);
    assert_true(fabs(d / (2 * step) - per_second) < 1e-6);
    analysed_free(a);
    dfl_arena_free(arena);
}

int main(void)
{
    return CHECK_TABLE("mapper.slopes", cases, tells);
}
