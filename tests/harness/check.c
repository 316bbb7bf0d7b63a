#include "tests/harness/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void check_close(double got, double want, double relative, const char *what, const char *file, int line)
{
    if (got == want || fabs(got - want) <= relative * fabs(want))
        return;
    print_error("%s is %.17g, not %.17g\n", what, got, want);
    _fail(file, line);
}

int check_table(const char *group, const void *rows, size_t n, size_t size, CMUnitTestFunction test)
{
    struct CMUnitTest *tests = calloc(n, sizeof *tests);
    int failed;

    if (!tests)
        abort();
    for (size_t i = 0; i < n; i++) {
        const char *row = (const char *)rows + i * size;
        const char *name;

        memcpy(&name, row, sizeof name);
        tests[i] = (struct CMUnitTest){ .name = name, .test_func = test,
                                        .initial_state = (void *)(uintptr_t)row };
    }
    failed = _cmocka_run_group_tests(group, tests, n, NULL, NULL);
    free(tests);
    return failed;
}

char *check_read_file(const char *path, size_t *len)
{
    FILE *in = fopen(path, "rb");
    char *text = NULL;
    size_t got = 0, room = 0, n;

    if (!in)
        return NULL;
    do {
        if (room - got < 4096) {
            char *more;

            room = room ? room * 2 : 8192;
            more = realloc(text, room);
            if (!more)
                abort();
            text = more;
        }
        n = fread(text + got, 1, room - got - 1, in);
        got += n;
    } while (n > 0);
    fclose(in);
    text[got] = '\0';
    *len = got;
    return text;
}
