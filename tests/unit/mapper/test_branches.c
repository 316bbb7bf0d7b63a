/* The bound of a mapping with written branches, by hand (B54): it counts as if nothing waited, whatever mapping comes of the
   search. */
#include <string.h>

#include "tests/harness/check.h"

#include "api/session.h"

static const char problem[] =
    "workload tiny : i8 { rank a = 3, b = 2, c = 2; input T1[a, c] : bits(4); input T2[c, b];\n"
    "    output T0[a, b] += T1[a, c] * T2[c, b]; }\n"
    "system chip {\n    memory m0 { size = unlimited; ports = shared; bandwidth = 4B/s; }\n"
    "    memory m1 { size = 5.75B; ports = shared; bandwidth = 8B/s; }\n"
    "    network links = bus { reduce = x0; }\n"
    "    array x0[4] over links { compute unit { rate { mac = 1MAC/s; } } }\n}\n"
    "mapping m for tiny on chip { keep T0, T1, T2 in m0; %s minimize latency; }\n";

#define LINES "...; temporal b:2; temporal a/?; ...; keep T0 in m1; temporal a; temporal b; temporal c;"

typedef struct {
    const char *name;
    const char *lines;
    double value, bound;       /* s */
    bool optimal;
} branch_case;

static const branch_case cases[] = {
    /* m0 gives 12 bytes of T2 and 3 of T1, and takes 6 of T0, at 4 B/s */
    { "without a brace", LINES, 5.25, 5.25, true },
    /* As if nothing waited, a is on x0, and m1 holds T2: it takes 12 updates of T0, gives 6 old sums and 6 results, takes 4
       bytes of T2 and gives 12, at 8 B/s. With its waits this is more than 5.25 s. */
    { "what waits does not raise the bound", "fuse { T0 { " LINES " } }", 5.25, 5, false },
    { "what does not wait reaches it", "option overlap = perfect; fuse { T0 { " LINES " } }", 5, 5, true },
};

static void has_bound(void **state)
{
    const branch_case *c = *state;
    dfl_session *s = dfl_session_new(NULL);
    const char *text = dfl_arena_printf(s->arena, problem, c->lines);
    const dfl_filled *f;
    dfl_stop stopped;

    assert_int_equal(dfl_session_open_text(s, "tiny.dfl", text, strlen(text)), DFL_EXIT_OK);
    assert_true(dfl_session_analyse(s));
    s->search.spread = true;
    f = dfl_session_fill(s, s->program->designs[0].mapping, &stopped);
    assert_non_null(f);
    assert_close(f->search->value, c->value, 1e-9);
    assert_close(f->search->lower_bound, c->bound, 1e-9);
    assert_int_equal(f->search->optimal, c->optimal);
    dfl_session_free(s);
}

int main(void) { return CHECK_TABLE("mapper.branches", cases, has_bound); }
