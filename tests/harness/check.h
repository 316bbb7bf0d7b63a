/*
 * The header of all test programs: cmocka with the headers that it requires, a comparison of doubles, and tables of
 * cases as test groups with one test per row, named by the row.
 *
 *     typedef struct { const char *name; ... } parse_case;      // the name comes first
 *     static const parse_case cases[] = { { "two errors", ... }, ... };
 *     static void parses(void **state) { const parse_case *c = *state; ... }
 *     int main(void) { return CHECK_TABLE("syntax.parse", cases, parses); }
 */
#ifndef DFL_TESTS_HARNESS_CHECK_H
#define DFL_TESTS_HARNESS_CHECK_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

/* Fails unless |got - want| <= relative * |want|; infinities and zero must be equal. */
#define assert_close(got, want, relative) check_close((got), (want), (relative), #got, __FILE__, __LINE__)
void check_close(double got, double want, double relative, const char *what, const char *file, int line);

/* Runs one group with a test for every row of a table; a row has `size` bytes and starts with its name. No `/` in group
   names. */
int check_table(const char *group, const void *rows, size_t n, size_t size, CMUnitTestFunction test);
#define CHECK_TABLE(group, rows, test) \
    check_table((group), (rows), sizeof(rows) / sizeof((rows)[0]), sizeof((rows)[0]), (test))

/* Runs the group like cmocka_run_group_tests, with the given group name. */
#define CHECK_GROUP(group, tests) \
    _cmocka_run_group_tests((group), (tests), sizeof(tests) / sizeof((tests)[0]), NULL, NULL)

/* The content of a file with a NUL behind it, to be freed by the caller; NULL when the file cannot be read. */
char *check_read_file(const char *path, size_t *len);

/* Calls `use` for every file *.dfl below a directory, in the order of their names. */
void check_every_file(const char *directory, void (*use)(void *context, const char *path), void *context);

#endif
