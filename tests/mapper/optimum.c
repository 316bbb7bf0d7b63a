/*
 * optimum [-v] [-p] STEM: compares one case of AccelForge's mapper, STEM.yaml and STEM.expected.json, and prints a row of a
 * table; -p also runs the oracle on the mapping. optimum -t DIR: compares a run of Timeloop's mapper. Exit status: 0 passed, 1
 * failed, 3 skipped.
 */
#include "tests/mapper/optimum.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void print_time(double seconds)
{
    if (seconds > 0)
        printf(" %8.2f", seconds);
    else
        printf(" %8s", "-");
}

static void print_row(const char *name, const optimum_result *r)
{
    static const char *const verdicts[] = { [VERDICT_EQUAL] = "equal", [VERDICT_LOWER] = "lower",
                                            [VERDICT_SKIPPED] = "skipped",
                                            [VERDICT_FAILED] = "FAILED" };
    char search[32] = "optimal";

    if (!r->optimal)
        snprintf(search, sizeof search, "gap %.2g", r->gap);
    printf("%-40.40s %-7s ", name, r->objective != NULL ? r->objective : "");
    if (r->ours > 0) {
        printf("%13.7g %13.7g %9.7f %-8s %9lld", r->peer, r->ours, r->ours / r->peer, search, (long long)r->evaluated);
        print_time(r->seconds);
        print_time(r->peer_seconds);
    } else {
        printf("%13s %13s %9s %-8s %9s %8s %8s", "-", "-", "-", "-", "-", "-", "-");
    }
    printf("  %s%s", verdicts[r->verdict], r->repaired ? ", to what can be executed" : "");
    if (r->verdict != VERDICT_EQUAL)
        printf(": %.*s", (int)strcspn(r->why.text, "\n"), r->why.text);
    printf("\n");
}

int main(int argc, char **argv)
{
    bool verbose = false, prove = false, timeloop = false;
    const char *name;
    optimum_result r;
    int option;

    while ((option = getopt(argc, argv, "vpt")) != -1) {
        verbose |= option == 'v';
        prove |= option == 'p';
        timeloop |= option == 't';
    }
    if (optind + 1 != argc) {
        fprintf(stderr, "usage: optimum [-v] [-p] STEM | optimum -t DIR\n");
        return 2;
    }
    if (timeloop)
        optimum_timeloop(argv[optind], &r);
    else
        optimum_accelforge(argv[optind], verbose, prove, &r);
    name = strrchr(argv[optind], '/');
    print_row(name != NULL ? name + 1 : argv[optind], &r);
    return r.verdict == VERDICT_FAILED ? 1 : r.verdict == VERDICT_SKIPPED ? 3 : 0;
}
