#include "tests/harness/check.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

void check_every_file(const char *directory, void (*use)(void *context, const char *path), void *context)
{
    enum { LONGEST_PATH = 4096 };
    struct dirent **entries = NULL;
    int n = scandir(directory, &entries, NULL, alphasort);

    for (int i = 0; i < n; i++) {
        char inner[LONGEST_PATH];
        struct stat info;
        size_t len;

        snprintf(inner, sizeof inner, "%s/%s", directory, entries[i]->d_name);
        len = strlen(inner);
        if (entries[i]->d_name[0] != '.' && stat(inner, &info) == 0) {
            if (S_ISDIR(info.st_mode))
                check_every_file(inner, use, context);
            else if (len > 4 && strcmp(inner + len - 4, ".dfl") == 0)
                use(context, inner);
        }
        free(entries[i]);
    }
    free(entries);
}
