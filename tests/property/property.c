/*
 * property [N [seed [first]]]: draws N cases from number `first` on, compares oracle and model on each, and prints what
 * the cases exercised. A case that differs is shrunk and printed as a .dfl file. Ends with `N passed, N failed, N
 * skipped`, skipped being the cases that the model refuses to count. Each feature of the list below must occur in at
 * least 5 % of the cases, and the model may refuse at most 10 %; otherwise the draw proves little, which is a failure, too.
 * The exit status is 1 after a failure. `property --quick ...` stops at the first failing case and prints its number (mutate.sh).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/property/case.h"

enum { SHOWN = 10, REASONS = 40, LEAST_CASES = 1000 };
enum { MOST_REFUSED = 10 }; /* of this many cases, the model may refuse at most one: a refused case compares nothing */

/* Counts of the reasons of refusals. */
typedef struct { char text[400]; uint64_t n; } reason;

static void note(reason *reasons, const char *why)
{
    uint32_t i = 0;

    while (i + 1 < REASONS && reasons[i].n > 0 && strcmp(reasons[i].text, why) != 0)
        i++;
    snprintf(reasons[i].text, sizeof reasons[i].text, "%s", why);
    reasons[i].n++;
}

static void print_case(const dfl_case *drawn, uint64_t seed, uint64_t index)
{
    dfl_case *c = malloc(sizeof *c);
    case_report report;

    if (!c)
        abort();
    *c = *drawn;
    case_shrink(c, &report);
    printf("// case %" PRIu64 " of seed %" PRIu64 ", shrunk: %s\n", index, seed, report.why);
    case_print(c, stdout);
    printf("\n");
    fflush(stdout);
    free(c);
}

int main(int argc, char **argv)
{
    bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    argc -= quick;
    argv += quick;
    uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 3000, seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    uint64_t first = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    uint64_t verdicts[CASE_VERDICTS] = { 0 }, features[CASE_FEATURES] = { 0 }, both = 0, failed = 0;
    reason *reasons = calloc(REASONS, sizeof *reasons);
    dfl_case *c = malloc(sizeof *c);

    if (!c || !reasons)
        abort();
    for (uint64_t i = first; i < first + n; i++) {
        case_report report;
        case_draw(c, seed, i);
        case_compare(c, &report);
        verdicts[report.verdict]++;
        both += report.verdict == CASE_AGREES && report.why[0];
        for (unsigned f = 0; f < CASE_FEATURES; f++)
            features[f] += report.features >> f & 1;
        if (report.verdict == CASE_REFUSED)
            note(reasons, report.why);
        if (report.verdict == CASE_AGREES || report.verdict == CASE_REFUSED)
            continue;
        failed++;
        printf("case %" PRIu64 " of seed %" PRIu64 ": %s\n", i, seed, report.why);
        if (quick)
            return 1;
        if (failed <= SHOWN && report.verdict == CASE_DIFFERS)
            print_case(c, seed, i);
    }
    for (unsigned f = 0; f < CASE_FEATURES; f++) {
        bool rare = f < CASE_WANTED && n >= LEAST_CASES && features[f] * 20 < n;
        printf("%-24s %8" PRIu64 "  %5.1f %%%s\n", case_feature_names[f], features[f], 100.0 * (double)features[f] / (double)n,
               rare ? "  too few" : "");
        failed += rare;
    }
    printf("%" PRIu64 " cases: %" PRIu64 " agree (%" PRIu64 " of them refused by both), %" PRIu64 " refused by the model, %" PRIu64
           " invalid, %" PRIu64 " too large, %" PRIu64 " differ\n", n, verdicts[CASE_AGREES], both, verdicts[CASE_REFUSED],
           verdicts[CASE_INVALID], verdicts[CASE_LIMIT], verdicts[CASE_DIFFERS]);
    if (n >= LEAST_CASES && verdicts[CASE_REFUSED] * MOST_REFUSED > n) {
        printf("more than 1 in %d cases are refused by the model: they test nothing\n", MOST_REFUSED);
        failed++;
    }
    for (uint32_t i = 0; i < REASONS && reasons[i].n > 0; i++)
        printf("  refused %6" PRIu64 "  %s\n", reasons[i].n, reasons[i].text);
    printf("%" PRIu64 " passed, %" PRIu64 " failed, %" PRIu64 " skipped\n", verdicts[CASE_AGREES], failed, verdicts[CASE_REFUSED]);
    free(reasons);
    free(c);
    return failed > 0;
}
