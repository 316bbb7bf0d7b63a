/* Values of paths, calls on paths, and outcomes of checks. */
#include "tests/harness/check.h"

#include <stdio.h>

#include "ir/unit_text.h"
#include "report/check/figure_lookup.h"
#include "report/check/check.h"
#include "tests/unit/report/fixture.h"

/* "a.b[1].c" as a path, divided at the dots. */
static dfl_val *path_of(fixture *f, const char *text)
{
    dfl_val *v = DFL_NEW(f->arena, dfl_val);
    dfl_sym *segments = DFL_NEW_ARRAY(f->arena, dfl_sym, 16);

    *v = (dfl_val){ .kind = DFL_VAL_PATH, .path = segments, .span = { 1, 2 } };
    while (*text && v->n_path < 16) {
        size_t len = strcspn(text, ".");

        segments[v->n_path++] = dfl_intern_text(f->names, text, len);
        text += len + (text[len] == '.');
    }
    return v;
}

/* "a.b", "a.peak(sram)", "7pJ/bit", "\"text\"". */
static dfl_val *term_of(fixture *f, const char *text)
{
    size_t len = strlen(text);
    const char *open = strchr(text, '(');
    dfl_val *v;

    if (text[0] == '"') {
        v = DFL_NEW(f->arena, dfl_val);
        *v = (dfl_val){ .kind = DFL_VAL_STRING, .text = dfl_intern_text(f->names, text + 1, len - 2) };
        return v;
    }
    if (text[0] >= '0' && text[0] <= '9') {
        v = DFL_NEW(f->arena, dfl_val);
        *v = (dfl_val){ .kind = DFL_VAL_QUANTITY };
        assert_int_equal(dfl_quantity_parse(text, len, &v->quantity, NULL), DFL_LITERAL_OK);
        return v;
    }
    if (open) {
        const dfl_val **args = DFL_NEW_ARRAY(f->arena, const dfl_val *, 1);

        v = path_of(f, dfl_arena_copy(f->arena, text, (size_t)(open - text)));
        args[0] = path_of(f, dfl_arena_copy(f->arena, open + 1, len - (size_t)(open - text) - 2));
        v->kind = DFL_VAL_CALL;
        v->args = args;
        v->n_args = 1;
        return v;
    }
    return path_of(f, text);
}

/* A program of one evaluated mapping, one mapping without a result, and the workload and system with default parameters. */
static fixture *program_fixture(void)
{
    fixture *f = fixture_new();
    dfl_sized_workload *workloads = DFL_NEW_ARRAY(f->arena, dfl_sized_workload, 1);
    const dfl_system **systems = DFL_NEW_ARRAY(f->arena, const dfl_system *, 1);
    dfl_einsum *einsums = DFL_NEW_ARRAY(f->arena, dfl_einsum, 2);
    static const uint32_t ranks[3] = { 0, 1, 2 };

    memcpy(einsums, f->workload.einsums, 2 * sizeof *einsums);
    einsums[0].ranks = einsums[1].ranks = ranks;
    einsums[0].n_ranks = 3; /* 64 * 48 * 32 = 98304 */
    einsums[1].n_ranks = 2; /* 64 * 48 = 3072 */
    f->workload.einsums = einsums;
    workloads[0].workload = &f->workload;
    systems[0] = &f->system;
    f->program = (dfl_program){ .workloads = workloads, .n_workloads = 1, .systems = systems, .n_systems = 1 };
    return f;
}

typedef struct {
    const char *name, *scope, *path;
    const char *want; /* expected: the printed value, the text in quotes, "later", or a code */
} lookup_case;

static const lookup_case lookups[] = {
    { "full path", NULL, "tiled.memories.dram.tensors.A.reads", "2048" },
    { "short path", NULL, "tiled.dram.A.reads", "2048" },
    { "a count of its own", NULL, "tiled.reg.Z.accumulate", "7" },
    { "beyond 64 bits", NULL, "tiled.sram.A.serve", "73786976294838206464" },
    { "never kept there", NULL, "tiled.dram.Z.reads", "0" },
    { "a tensor's name with a dot", NULL, "tiled.dram.l[1].Y.update", "3072" },
    { "the last part of its name", NULL, "tiled.dram.Y.update", "3072" },
    { "latency stands for seconds", NULL, "tiled.latency", "7.524us" },
    { "seconds", NULL, "tiled.latency.seconds", "7.524us" },
    { "cycles", NULL, "tiled.latency.cycles", "7524" },
    { "what bounds", NULL, "tiled.bound_by", "\"sram.read\"" },
    { "what bounds an einsum", NULL, "tiled.einsums.Z.bound_by", "\"sram.read\"" },
    { "an einsum, short", NULL, "tiled.l[1].Y.unit", "\"vector\"" },
    { "energy", NULL, "tiled.energy", "1.8008uJ" },
    { "energy of a memory", NULL, "tiled.energy.components.sram.read", "1.5uJ" },
    { "energy of a component, short", NULL, "tiled.energy.sram", "1.5uJ" },
    { "energy of a unit", NULL, "tiled.energy.components.mac", "9.8304nJ" },
    { "a unit has no figures below", NULL, "tiled.energy.components.mac.joules", "E0613" },
    { "a price by the key of the report", NULL, "tiled.machine.usd", "12.5USD" },
    { "a key of the report that is no path", NULL, "tiled.machine.mm2", "E0613" },
    { "operations", NULL, "tiled.operations.mac", "98304" },
    { "a MAC is two", NULL, "tiled.operations.total_flop", "199680" },
    { "utilization", NULL, "tiled.utilization", "0.816587" },
    { "peak of a memory", NULL, "tiled.peak(sram)", "4KiB" },
    { "peak as a figure", NULL, "tiled.sram.peak_bits", "4KiB" },
    { "forwarded", NULL, "tiled.networks.mesh.forwarded", "123" },
    { "own name left out", "tiled", "peak(sram)", "4KiB" },
    { "own name left out of a path", "tiled", "latency", "7.524us" },
    { "own name given", "tiled", "tiled.latency", "7.524us" },
    { "another's name in a scope", "tiled", "gemm.macs", "98304" },
    { "no result", NULL, "too_big.latency", "later" },
    { "a call without a result", NULL, "too_big.peak(sram)", "later" },
    { "scope without a result", "too_big", "latency", "later" },
    { "operations of a workload", NULL, "gemm.macs", "98304" },
    { "operations in a workload", "gemm", "flops", "3072" },
    { "parameters", NULL, "gemm.parameters", "1536" },
    { "elements of a tensor", "gemm", "Z.elements", "3072" },
    { "size of a tensor", NULL, "gemm.Z.size", "12KiB" },
    { "peak of a system", NULL, "npu.peak(fp16)", "32GFLOPS" }, /* 16 units of 1 GMAC/s; the vector unit has no rate */
    { "the faster unit", NULL, "npu.peak(i8)", "128GFLOPS" },
    { "an attribute", NULL, "npu.dram.energy", "7pJ/bit" },
    { "an attribute of a port", NULL, "npu.sram.read.bandwidth", "1TB/s" },
    { "the only system may be left out", NULL, "dram.energy", "7pJ/bit" },
    { "axis", NULL, "npu.row", "4" },
    { "unknown start", NULL, "tilde.latency", "E0613" },
    { "unknown figure", NULL, "tiled.latenzy", "E0613" },
    { "unknown tensor", NULL, "tiled.dram.Q.reads", "E0613" },
    { "below a figure", NULL, "tiled.latency.seconds.more", "E0613" },
    { "a part is no figure", NULL, "tiled.memories.dram", "E0613" },
    { "a mapping is no figure", NULL, "tiled", "E0613" },
    { "unknown memory", NULL, "tiled.peak(glb)", "E0613" },
    { "unknown call", NULL, "tiled.trough(sram)", "E0613" },
    { "unequal ports have no one energy", NULL, "npu.sram.energy", "E0613" },
    { "empty path", NULL, "", "nothing" },
};

static void looks_up(void **state)
{
    const lookup_case *c = *state;
    fixture *f = program_fixture();
    dfl_lookup_result found = dfl_lookup(&f->results, c->scope ? fixture_sym(f, c->scope) : 0, term_of(f, c->path));
    dfl_strbuf got;
    char code[6];

    dfl_strbuf_init(&got, f->arena);
    if (found.kind == DFL_LOOKUP_QUANTITY)
        dfl_quantity_print(&got, found.quantity);
    else if (found.kind == DFL_LOOKUP_TEXT)
        dfl_strbuf_printf(&got, "\"%s\"", found.text);
    else if (found.kind == DFL_LOOKUP_LATER)
        dfl_strbuf_z(&got, "later");
    else
        dfl_strbuf_z(&got, dfl_sink_count(f->sink) ? dfl_code_text(dfl_sink_at(f->sink, 0)->code, code) : "nothing");
    assert_string_equal(got.text, c->want);
    assert_int_equal(dfl_sink_count(f->sink), c->want[0] == 'E');
    fixture_free(f);
}

static void a_near_name_is_offered(void **state)
{
    fixture *f = program_fixture();

    (void)state;
    dfl_lookup(&f->results, 0, term_of(f, "tiled.latenzy"));
    dfl_lookup(&f->results, 0, term_of(f, "tiled.drm.A.reads"));
    dfl_lookup(&f->results, 0, term_of(f, "tile.latency"));
    assert_int_equal(dfl_sink_count(f->sink), 3);
    assert_string_equal(dfl_sink_at(f->sink, 0)->help, "did you mean `latency`?");
    assert_string_equal(dfl_sink_at(f->sink, 1)->help, "did you mean `dram`?");
    assert_string_equal(dfl_sink_at(f->sink, 2)->help, "did you mean `tiled`?");
    assert_string_equal(dfl_sink_at(f->sink, 1)->message, "`tiled` has no `drm`");
    fixture_free(f);
}

static void equal_endings_are_ambiguous(void **state)
{
    fixture *f = program_fixture();
    dfl_tensor *tensors = DFL_NEW_ARRAY(f->arena, dfl_tensor, 4);
    char code[6];

    (void)state;
    memcpy(tensors, f->workload.tensors, 4 * sizeof *tensors);
    tensors[0].name = fixture_sym(f, "k.Y");
    f->workload.tensors = tensors;
    assert_int_equal(dfl_lookup(&f->results, 0, term_of(f, "tiled.dram.Y.reads")).kind, DFL_LOOKUP_NOTHING);
    assert_string_equal(dfl_code_text(dfl_sink_at(f->sink, 0)->code, code), "E0206");
    fixture_free(f);
}

typedef struct {
    const char *name;
    dfl_check_kind kind;
    const char *left;
    const char *sign; /* operator "<", ..., "exactly" or "within"; the latter is within `by` of `right` */
    const char *right, *by;
    dfl_outcome want;
    const char *code; /* message of the diagnostic, or NULL */
    const char *label;
} check_case;

static const check_case checks[] = {
    { "holds", DFL_CHECK_EXPECT, "tiled.latency", "<", "8us", NULL, DFL_OUTCOME_PASSED, NULL, NULL },
    { "fails", DFL_CHECK_EXPECT, "tiled.latency", "<", "7us", NULL, DFL_OUTCOME_FAILED, "E0611",
      "7.524us < 7us is false" },
    { "a requirement fails", DFL_CHECK_REQUIRE, "tiled.peak(sram)", "<=", "2KiB", NULL, DFL_OUTCOME_FAILED, "E0610",
      "4KiB <= 2KiB is false" },
    { "equal room", DFL_CHECK_REQUIRE, "tiled.peak(sram)", "<=", "4KiB", NULL, DFL_OUTCOME_PASSED, NULL, NULL },
    { "counts are exact", DFL_CHECK_EXPECT, "tiled.sram.A.serve", "==", "73786976294838206465", NULL,
      DFL_OUTCOME_FAILED, "E0611", "73786976294838206464 == 73786976294838206465 is false" },
    { "not equal", DFL_CHECK_EXPECT, "tiled.sram.A.serve", "!=", "73786976294838206465", NULL, DFL_OUTCOME_PASSED,
      NULL, NULL },
    { "rounding is allowed", DFL_CHECK_EXPECT, "tiled.latency", "==", "7.5240000000001us", NULL, DFL_OUTCOME_PASSED,
      NULL, NULL },
    { "but not by exactly", DFL_CHECK_EXPECT, "tiled.latency", "exactly", "7.5240000000001us", NULL,
      DFL_OUTCOME_FAILED, "E0611", "is 7.524e-06, not 7.5240000000001e-06" },
    { "exactly", DFL_CHECK_EXPECT, "tiled.dram.A.reads", "exactly", "2048", NULL, DFL_OUTCOME_PASSED, NULL, NULL },
    { "within a share", DFL_CHECK_EXPECT, "tiled.latency", "within", "8us", "6%", DFL_OUTCOME_PASSED, NULL, NULL },
    { "not within a share", DFL_CHECK_EXPECT, "tiled.latency", "within", "8us", "5%", DFL_OUTCOME_FAILED, "E0611",
      "is 7.524us, -5.95 % away from 8us" },
    { "within an amount", DFL_CHECK_EXPECT, "tiled.latency", "within", "8us", "0.5us", DFL_OUTCOME_PASSED, NULL,
      NULL },
    { "within an amount of another kind", DFL_CHECK_EXPECT, "tiled.latency", "within", "8us", "5KiB",
      DFL_OUTCOME_UNKNOWN, "E0302", NULL },
    { "texts", DFL_CHECK_EXPECT, "tiled.bound_by", "==", "\"sram.read\"", NULL, DFL_OUTCOME_PASSED, NULL, NULL },
    { "other texts", DFL_CHECK_EXPECT, "tiled.bound_by", "==", "\"mac\"", NULL, DFL_OUTCOME_FAILED, "E0611",
      "\"sram.read\" == \"mac\" is false" },
    { "a text and a number", DFL_CHECK_EXPECT, "tiled.bound_by", "==", "5", NULL, DFL_OUTCOME_UNKNOWN, "E0314", NULL },
    { "texts have no order", DFL_CHECK_EXPECT, "tiled.bound_by", "<", "\"z\"", NULL, DFL_OUTCOME_UNKNOWN, "E0314",
      NULL },
    { "dimensions differ", DFL_CHECK_EXPECT, "tiled.latency", "<", "8GB", NULL, DFL_OUTCOME_UNKNOWN, "E0302", NULL },
    { "unknown path", DFL_CHECK_EXPECT, "tiled.delay", "<", "8us", NULL, DFL_OUTCOME_UNKNOWN, "E0613", NULL },
    { "no result", DFL_CHECK_EXPECT, "too_big.latency", "<", "8us", NULL, DFL_OUTCOME_UNKNOWN, NULL, NULL },
    { "an assumption holds", DFL_CHECK_ASSUME, "dram.energy", "==", "7pJ/bit", NULL, DFL_OUTCOME_PASSED, NULL, NULL },
    { "an assumption fails", DFL_CHECK_ASSUME, "dram.energy", "==", "6pJ/bit", NULL, DFL_OUTCOME_FAILED, "E0611",
      NULL },
    { "no comparison", DFL_CHECK_EXPECT, "tiled.latency", NULL, NULL, NULL, DFL_OUTCOME_UNKNOWN, "E0314", NULL },
};

static dfl_val_kind kind_of(const char *sign)
{
    static const struct { const char *sign; dfl_val_kind kind; } signs[] = {
        { "<", DFL_VAL_LT }, { ">", DFL_VAL_GT }, { "<=", DFL_VAL_LE }, { ">=", DFL_VAL_GE },
        { "==", DFL_VAL_EQ }, { "!=", DFL_VAL_NE }, { "&&", DFL_VAL_AND }, { "||", DFL_VAL_OR },
        { "+", DFL_VAL_ADD }, { "-", DFL_VAL_SUB }, { "*", DFL_VAL_MUL }, { "/", DFL_VAL_DIV },
    };

    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
        if (strcmp(signs[i].sign, sign) == 0)
            return signs[i].kind;
    fail_msg("no sign %s", sign);
    return DFL_VAL_EQ;
}

static dfl_val *pair(fixture *f, const dfl_val *a, const char *sign, const dfl_val *b)
{
    dfl_val *v = DFL_NEW(f->arena, dfl_val);
    const dfl_val **args = DFL_NEW_ARRAY(f->arena, const dfl_val *, 2);

    args[0] = a;
    args[1] = b;
    *v = (dfl_val){ .kind = kind_of(sign), .args = args, .n_args = 2 };
    return v;
}

static void judges(void **state)
{
    const check_case *c = *state;
    fixture *f = program_fixture();
    const dfl_val *left = term_of(f, c->left), *right = c->right ? term_of(f, c->right) : NULL;
    dfl_check check = { .kind = c->kind, .expr = left, .text = "the check" };
    dfl_check_outcome got;
    char code[6];

    if (c->sign && strcmp(c->sign, "exactly") == 0) {
        check.exactly = right;
    } else if (c->sign && strcmp(c->sign, "within") == 0) {
        check.of = right;
        check.within = term_of(f, c->by);
    } else if (c->sign) {
        check.expr = pair(f, left, c->sign, right);
    }
    got = dfl_check_evaluate(&f->results, &check);
    assert_int_equal(got.outcome, c->want);
    assert_int_equal(dfl_sink_count(f->sink), c->code ? 1 : 0);
    if (c->code)
        assert_string_equal(dfl_code_text(dfl_sink_at(f->sink, 0)->code, code), c->code);
    if (c->label)
        assert_string_equal(dfl_sink_at(f->sink, 0)->label, c->label);
    if (c->want != DFL_OUTCOME_UNKNOWN)
        assert_non_null(got.value);
    fixture_free(f);
}

static dfl_outcome outcome_of(fixture *f, const dfl_val *e)
{
    dfl_check check = { .kind = DFL_CHECK_EXPECT, .expr = e, .text = "the check" };

    return dfl_check_evaluate(&f->results, &check).outcome;
}

static dfl_val *function(fixture *f, const char *name, const dfl_val *a, const dfl_val *b)
{
    dfl_val *v = DFL_NEW(f->arena, dfl_val);
    const dfl_val **args = DFL_NEW_ARRAY(f->arena, const dfl_val *, 2);

    args[0] = a;
    args[1] = b;
    *v = (dfl_val){ .kind = DFL_VAL_CALL, .text = fixture_sym(f, name), .args = args, .n_args = b ? 2 : 1 };
    return v;
}

static void expressions_compute(void **state)
{
    fixture *f = program_fixture();
    const dfl_val *latency = term_of(f, "tiled.latency"), *energy = term_of(f, "tiled.energy");
    const dfl_val *reads = term_of(f, "tiled.dram.A.reads"), *three = term_of(f, "3");

    (void)state;
    /* 7.524e-6 s * 1.8008e-6 J = 1.35492e-11 */
    assert_int_equal(outcome_of(f, pair(f, pair(f, latency, "*", energy), "<", pair(f, term_of(f, "1us"), "*",
                                        term_of(f, "14uJ")))), DFL_OUTCOME_PASSED);
    /* the quotient of counts is a real number: 2048 / 3 is 682.67 */
    assert_int_equal(outcome_of(f, pair(f, pair(f, reads, "/", three), ">", term_of(f, "682"))), DFL_OUTCOME_PASSED);
    assert_int_equal(outcome_of(f, pair(f, function(f, "ceil", pair(f, reads, "/", three), NULL), "==",
                                        term_of(f, "683"))), DFL_OUTCOME_PASSED);
    assert_int_equal(outcome_of(f, pair(f, function(f, "max", reads, three), "==", term_of(f, "2048"))),
                     DFL_OUTCOME_PASSED);
    assert_int_equal(outcome_of(f, pair(f, function(f, "min", reads, three), "==", three)), DFL_OUTCOME_PASSED);
    assert_int_equal(dfl_sink_count(f->sink), 0);
    assert_int_equal(outcome_of(f, pair(f, pair(f, reads, "/", term_of(f, "0")), ">", three)), DFL_OUTCOME_UNKNOWN);
    assert_int_equal(dfl_sink_at(f->sink, 0)->code, DFL_EXPR_DIVISION_BY_ZERO);
    assert_int_equal(outcome_of(f, pair(f, pair(f, reads, "+", latency), ">", three)), DFL_OUTCOME_UNKNOWN);
    assert_int_equal(dfl_sink_at(f->sink, 1)->code, DFL_UNIT_DIMENSION);
    assert_int_equal(outcome_of(f, function(f, "sine", reads, NULL)), DFL_OUTCOME_UNKNOWN);
    assert_int_equal(dfl_sink_at(f->sink, 2)->code, DFL_EXPR_TYPE);
    fixture_free(f);
}

static void logic_names_the_first_failure(void **state)
{
    fixture *f = program_fixture();
    const dfl_val *fast = pair(f, term_of(f, "tiled.latency"), "<", term_of(f, "8us"));
    const dfl_val *slow = pair(f, term_of(f, "tiled.latency"), ">", term_of(f, "8us"));
    const dfl_val *small = pair(f, term_of(f, "tiled.peak(sram)"), "<", term_of(f, "1KiB"));

    (void)state;
    assert_int_equal(outcome_of(f, pair(f, slow, "||", fast)), DFL_OUTCOME_PASSED);
    assert_int_equal(dfl_sink_count(f->sink), 0);
    assert_int_equal(outcome_of(f, pair(f, fast, "&&", small)), DFL_OUTCOME_FAILED);
    assert_string_equal(dfl_sink_at(f->sink, 0)->label, "4KiB < 1KiB is false");
    /* the right side is not evaluated if the left side decides */
    assert_int_equal(outcome_of(f, pair(f, fast, "||", term_of(f, "tiled.nonsense"))), DFL_OUTCOME_PASSED);
    assert_int_equal(dfl_sink_count(f->sink), 1);
    fixture_free(f);
}

static void overflow_and_where_are_said(void **state)
{
    fixture *f = program_fixture();
    dfl_einsum *einsums = DFL_NEW_ARRAY(f->arena, dfl_einsum, 2);
    const dfl_term terms[] = { { 0, 1 }, { 1, 1 }, { 2, 1 } };
    dfl_condition conditions[1];

    (void)state;
    memcpy(einsums, f->workload.einsums, 2 * sizeof *einsums);
    einsums[1].flops_per_point = (dfl_i128)1 << 120;
    f->workload.einsums = einsums;
    assert_int_equal(dfl_lookup(&f->results, 0, term_of(f, "gemm.flops")).kind, DFL_LOOKUP_NOTHING);
    assert_int_equal(dfl_sink_at(f->sink, 0)->code, DFL_EVAL_OVERFLOW);
    conditions[0].sum = (dfl_index){ .terms = terms, .n_terms = 3 };
    einsums[1].where = conditions;
    einsums[1].n_where = 1;
    einsums[1].n_ranks = 3;
    dfl_rank *ranks = DFL_NEW_ARRAY(f->arena, dfl_rank, f->workload.n_ranks);
    memcpy(ranks, f->workload.ranks, f->workload.n_ranks * sizeof *ranks);
    for (uint32_t r = 0; r < f->workload.n_ranks; r++)
        ranks[r].extent = 1 << 14; /* the count would visit 2^28 positions */
    f->workload.ranks = ranks;
    assert_int_equal(dfl_lookup(&f->results, 0, term_of(f, "gemm.flops")).kind, DFL_LOOKUP_NOTHING);
    assert_int_equal(dfl_sink_at(f->sink, 1)->code, DFL_EVAL_UNSUPPORTED);
    fixture_free(f);
}

/* Conditions of one einsum over m (64) and n (48), and the number of points that satisfy them. */
typedef struct {
    const char *name;
    uint32_t n;
    struct { int64_t m, n, offset; } conditions[2];
    int64_t want;
} where_case;

static const where_case wheres[] = {
    { "none", 0, { { 0 } }, 64 * 48 },
    { "causal: n <= m", 1, { { 1, -1, 0 } }, 48 * 49 / 2 + 16 * 48 }, /* m < 48: m + 1 each; the others all 48 */
    { "anticausal: m <= n", 1, { { -1, 1, 0 } }, 48 * 49 / 2 },
    { "one rank: m >= 10", 1, { { 1, 0, -10 } }, 54 * 48 },
    { "a band: m - 1 <= n <= m + 1", 2, { { -1, 1, 1 }, { 1, -1, 1 } }, 2 + 47 * 3 - 1 + 1 },
    { "with coefficients: 2m + 3n <= 11", 1, { { -2, -3, 11 } }, 4 + 4 + 3 + 2 + 2 + 1 },
    /* n >= 2k + 1, 2k + 1, 2k + 2 for m = 3k, 3k + 1, 3k + 2; k < 21, and m = 63 apart */
    { "with coefficients upwards: 3n >= 2m + 1", 1, { { -2, 3, -1 } }, 21 * (3 * 48 - 4) - 6 * 20 * 21 / 2 + 48 - 43 },
    { "never", 1, { { 0, 0, -1 } }, 0 },
    { "always", 1, { { 0, 0, 0 } }, 64 * 48 },
};

/* Counts the points that satisfy the conditions by trying all points. */
static int64_t tried(const where_case *c)
{
    int64_t count = 0;

    for (int64_t m = 0; m < 64; m++)
        for (int64_t n = 0; n < 48; n++) {
            bool inside = true;

            for (uint32_t i = 0; i < c->n; i++)
                inside &= c->conditions[i].m * m + c->conditions[i].n * n + c->conditions[i].offset >= 0;
            count += inside;
        }
    return count;
}

static void counts_where(void **state)
{
    const where_case *c = *state;
    fixture *f = program_fixture();
    dfl_einsum *einsums = DFL_NEW_ARRAY(f->arena, dfl_einsum, 2);
    dfl_condition conditions[2];
    dfl_term terms[2][2];
    dfl_lookup_result found;

    memcpy(einsums, f->workload.einsums, 2 * sizeof *einsums);
    for (uint32_t i = 0; i < c->n; i++) {
        dfl_index *sum = &conditions[i].sum;

        *sum = (dfl_index){ .terms = terms[i], .offset = c->conditions[i].offset };
        if (c->conditions[i].m)
            terms[i][sum->n_terms++] = (dfl_term){ 0, c->conditions[i].m };
        if (c->conditions[i].n)
            terms[i][sum->n_terms++] = (dfl_term){ 1, c->conditions[i].n };
    }
    einsums[1].where = conditions;
    einsums[1].n_where = c->n;
    f->workload.einsums = einsums;
    found = dfl_lookup(&f->results, 0, term_of(f, "gemm.flops"));
    assert_int_equal(found.kind, DFL_LOOKUP_QUANTITY);
    assert_true(found.quantity.integer == tried(c));
    assert_true(found.quantity.integer == c->want);
    fixture_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_near_name_is_offered),
        cmocka_unit_test(equal_endings_are_ambiguous),
        cmocka_unit_test(expressions_compute),
        cmocka_unit_test(logic_names_the_first_failure),
        cmocka_unit_test(overflow_and_where_are_said),
    };
    int failed = CHECK_GROUP("report.lookup", tests);

    failed += CHECK_TABLE("report.paths", lookups, looks_up);
    failed += CHECK_TABLE("report.where", wheres, counts_where);
    failed += CHECK_TABLE("report.checks", checks, judges);
    return failed;
}
