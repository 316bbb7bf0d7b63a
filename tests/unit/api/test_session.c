/* libdfl as seen by a program: uses include/dfl/dfl.h only. */
#include "tests/harness/check.h"

#include <stdlib.h>
#include <string.h>

#include "dfl/dfl.h"
#include "support/pool.h"

static const char small_file[] =
    "workload gemm(M, N, K) : i8 {\n"
    "    rank m = M, n = N, k = K;\n"
    "    input A[m, k];\n"
    "    weight B[k, n];\n"
    "    output Z[m, n] : i32 += A[m, k] * B[k, n];\n"
    "}\n"
    "system chip {\n"
    "    clock = 1GHz;\n"
    "    memory dram { size = 1MB; bandwidth = 16GB/s; energy = 10pJ/bit; }\n"
    "    compute mac { ops = mac; rate = 1MAC/cycle; energy = 0.1pJ/MAC; }\n"
    "}\n"
    "mapping plain for gemm(M = 8, N = 4, K = 2) on chip {\n"
    "    keep A, B, Z in dram;\n"
    "    temporal m, n, k;\n"
    "}\n"
    "require plain.operations.mac == 64;\n"
    "expect plain.dram.A.reads == 64;\n"
    "expect plain.dram.A.reads == 63;\n";

static dfl_session *open_small(void)
{
    dfl_session *s = dfl_session_new(NULL);

    assert_int_equal(dfl_session_open_text(s, "small.dfl", small_file, strlen(small_file)), DFL_EXIT_OK);
    return s;
}

static void a_file_is_evaluated(void **state)
{
    dfl_session *s = open_small();
    const char *report;
    size_t len;

    (void)state;
    assert_int_equal(dfl_session_eval(s, NULL), DFL_EXIT_OK);
    report = dfl_session_report(s, DFL_FORMAT_JSON, 0, &len);
    assert_int_equal(strlen(report), len);
    assert_non_null(strstr(report, "\"mac\": 64"));
    assert_non_null(strstr(dfl_session_report(s, DFL_FORMAT_TEXT, 0, NULL), "plain: gemm on chip"));
    assert_non_null(strstr(dfl_session_report(s, DFL_FORMAT_CSV, 0, NULL), "plain,gemm,chip,complete,"));
    assert_null(dfl_session_report(s, DFL_FORMAT_SARIF, 0, NULL));
    assert_int_equal(dfl_session_errors(s), 0);
    assert_int_equal(dfl_session_verdicts(s), 1); /* eval judges what is required */
    dfl_session_free(s);
}

static void expectations_are_tested(void **state)
{
    dfl_session *s = open_small();

    (void)state;
    assert_int_equal(dfl_session_test(s), DFL_EXIT_FINDINGS);
    assert_int_equal(dfl_session_verdicts(s), 3);
    assert_string_equal(dfl_session_verdict(s, 0).kind, "require");
    assert_string_equal(dfl_session_verdict(s, 0).outcome, "passed");
    assert_string_equal(dfl_session_verdict(s, 1).text, "expect plain.dram.A.reads == 64");
    assert_string_equal(dfl_session_verdict(s, 1).outcome, "passed");
    assert_string_equal(dfl_session_verdict(s, 2).outcome, "failed");
    assert_string_equal(dfl_session_verdict(s, 2).value, "64");
    assert_int_equal(dfl_session_verdict(s, 2).line, 18);
    assert_null(dfl_session_verdict(s, 3).kind);
    assert_int_equal(dfl_session_errors(s), 1);
    dfl_session_free(s);
}

static void one_mapping_is_picked(void **state)
{
    dfl_session *s = open_small();

    (void)state;
    assert_int_equal(dfl_session_eval(s, "plane"), DFL_EXIT_FINDINGS);
    assert_non_null(strstr(dfl_session_diagnostics(s, DFL_FORMAT_SHORT, false, NULL), "`plane`"));
    dfl_session_free(s);
    s = open_small();
    assert_int_equal(dfl_session_eval(s, "plain"), DFL_EXIT_OK);
    dfl_session_free(s);
}

static void counts_are_proven(void **state)
{
    const dfl_size sizes[] = { { "m", 3 } }, unknown[] = { { "q", 3 } };
    dfl_session *s = open_small();

    (void)state;
    assert_int_equal(dfl_session_prove(s, NULL, sizes, 1), DFL_EXIT_OK);
    assert_non_null(strstr(dfl_session_proof(s, NULL), "sizes: m 3 (of 8), n 4, k 2"));
    assert_non_null(strstr(dfl_session_proof(s, NULL), "all equal"));
    assert_int_equal(dfl_session_prove(s, NULL, unknown, 1), DFL_EXIT_FINDINGS);
    dfl_session_free(s);
}

static void nothing_works_before_a_file_is_open(void **state)
{
    dfl_session *s = dfl_session_new(NULL);
    dfl_exit status;

    (void)state;
    assert_int_equal(dfl_session_check(s), DFL_EXIT_USAGE);
    assert_int_equal(dfl_session_syntax(s), DFL_EXIT_USAGE);
    assert_int_equal(dfl_session_eval(s, NULL), DFL_EXIT_USAGE);
    assert_int_equal(dfl_session_prove(s, NULL, NULL, 0), DFL_EXIT_USAGE);
    assert_null(dfl_session_report(s, DFL_FORMAT_JSON, 0, NULL));
    assert_null(dfl_session_formatted(s, NULL));
    assert_null(dfl_session_fixed(s, NULL, NULL));
    assert_null(dfl_session_dumped(s, DFL_DUMP_AST, NULL));
    assert_null(dfl_session_import_maestro(s, NULL, &status, NULL));
    assert_null(dfl_session_source(s, NULL));
    assert_string_equal(dfl_session_proof(s, NULL), "");
    assert_int_equal(dfl_session_verdicts(s), 0);
    dfl_session_free(s);
    dfl_session_free(NULL);
}

static void files_that_cannot_be_read_are_said(void **state)
{
    dfl_session *s = dfl_session_new(NULL);

    (void)state;
    assert_int_equal(dfl_session_open(s, "no/such/file.dfl"), DFL_EXIT_IO);
    assert_int_equal(dfl_session_open(s, "."), DFL_EXIT_IO);
    assert_int_equal(dfl_session_open_text(s, "empty.dfl", "", 0), DFL_EXIT_OK);
    assert_int_equal(dfl_session_errors(s), 2);
    assert_non_null(strstr(dfl_session_diagnostics(s, DFL_FORMAT_JSON, false, NULL), "\"E0615\""));
    dfl_session_free(s);
}

static void a_stop_is_not_a_finding(void **state)
{
    atomic_bool cancel = true;
    const dfl_session_options cancelled = { .size = sizeof cancelled, .cancel = &cancel };
    const dfl_session_options tight = { .size = sizeof tight, .memory_limit = 1000 };
    dfl_session *s = dfl_session_new(&cancelled);

    (void)state;
    assert_int_equal(dfl_session_open_text(s, "small.dfl", small_file, strlen(small_file)), DFL_EXIT_OK);
    assert_int_equal(dfl_session_check(s), DFL_EXIT_STOPPED);
    assert_non_null(strstr(dfl_session_diagnostics(s, DFL_FORMAT_SHORT, false, NULL), "E0604"));
    dfl_session_free(s);
    s = dfl_session_new(&tight);
    dfl_session_open_text(s, "small.dfl", small_file, strlen(small_file));
    assert_int_equal(dfl_session_check(s), DFL_EXIT_STOPPED);
    assert_non_null(strstr(dfl_session_diagnostics(s, DFL_FORMAT_SHORT, false, NULL), "E0601"));
    dfl_session_free(s);
}

static void a_caller_of_an_older_version_is_understood(void **state)
{
    struct { size_t size; const char *stdlib; } older = { sizeof older, "stdlib" };
    dfl_session *s = dfl_session_new((const dfl_session_options *)(const void *)&older);
    static const char text[] = "import std.workloads.gemm as la;\n";

    (void)state;
    assert_int_equal(dfl_session_open_text(s, "x.dfl", text, sizeof text - 1), DFL_EXIT_OK);
    assert_int_equal(dfl_session_check(s), DFL_EXIT_OK);
    dfl_session_free(s);
}

static void lints_have_levels(void **state)
{
    static const char text[] = "workload w : i8 { rank m = 2, q = 3; input A[m]; B[m] = A[m]; }\n";
    dfl_session *s = dfl_session_new(NULL);

    (void)state;
    assert_false(dfl_session_set_lint(s, "no-such-lint", 'A'));
    assert_false(dfl_session_set_lint(s, "unused-rank", 'X'));
    assert_true(dfl_session_set_lint(s, "unused-rank", 'D'));
    dfl_session_open_text(s, "x.dfl", text, sizeof text - 1);
    assert_int_equal(dfl_session_check(s), DFL_EXIT_FINDINGS);
    dfl_session_free(s);
    s = dfl_session_new(NULL);
    assert_true(dfl_session_set_lint(s, "all", 'A'));
    dfl_session_open_text(s, "x.dfl", text, sizeof text - 1);
    assert_int_equal(dfl_session_check(s), DFL_EXIT_OK);
    assert_int_equal(dfl_session_warnings(s), 0);
    dfl_session_free(s);
}

enum { THREADS = 4, SESSIONS = 16 };

static void run_one(void *context, size_t i)
{
    char **reports = context;
    dfl_session *s = dfl_session_new(NULL);

    if (dfl_session_open_text(s, "small.dfl", small_file, strlen(small_file)) == DFL_EXIT_OK &&
        dfl_session_eval(s, NULL) == DFL_EXIT_OK)
        reports[i] = strdup(dfl_session_report(s, DFL_FORMAT_JSON, 0, NULL));
    dfl_session_free(s);
}

static void sessions_share_nothing(void **state)
{
    char *reports[SESSIONS] = { 0 };

    (void)state;
    dfl_pool_run(THREADS, SESSIONS, run_one, reports);
    for (int i = 0; i < SESSIONS; i++) {
        assert_non_null(reports[i]);
        assert_string_equal(reports[i], reports[0]);
    }
    for (int i = 0; i < SESSIONS; i++)
        free(reports[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_evaluated),
        cmocka_unit_test(expectations_are_tested),
        cmocka_unit_test(one_mapping_is_picked),
        cmocka_unit_test(counts_are_proven),
        cmocka_unit_test(nothing_works_before_a_file_is_open),
        cmocka_unit_test(files_that_cannot_be_read_are_said),
        cmocka_unit_test(a_stop_is_not_a_finding),
        cmocka_unit_test(a_caller_of_an_older_version_is_understood),
        cmocka_unit_test(lints_have_levels),
        cmocka_unit_test(sessions_share_nothing),
    };

    return CHECK_GROUP("api.session", tests);
}
