/*
 * Runs the fuzz targets as ordinary tests: a main that feeds a target fuzz_NAME every file of tests/fuzz/seeds/NAME and
 * tests/fuzz/regressions/NAME, the empty input, and, if NAME reads DFL, the DFL texts of the tree. Prints one TAP line
 * per file. Arguments replace that list: `fuzz_parse crash-1234`. NAME comes from the name of the program. Each input
 * lies in an allocation of exactly its size, so that a sanitizer detects reads behind the end.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LONGEST_PATH = 4096 };

typedef struct {
    char **at;
    size_t n, cap;
} path_list;

static void add(path_list *list, const char *path)
{
    if (list->n == list->cap) {
        list->cap = list->cap ? list->cap * 2 : 64;
        list->at = realloc(list->at, list->cap * sizeof *list->at);
        if (!list->at)
            abort();
    }
    list->at[list->n] = strdup(path);
    if (!list->at[list->n++])
        abort();
}

/* Files below `path` with the given ending (NULL = any), in order of name, without hidden files. */
static void collect(path_list *list, const char *path, const char *ending)
{
    struct dirent **entries = NULL;
    struct stat info;
    size_t len = strlen(path);
    int n;

    if (stat(path, &info) != 0)
        return;
    if (!S_ISDIR(info.st_mode)) {
        if (!ending || (len > strlen(ending) && strcmp(path + len - strlen(ending), ending) == 0))
            add(list, path);
        return;
    }
    n = scandir(path, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char inner[LONGEST_PATH];

        if (entries[i]->d_name[0] != '.') {
            snprintf(inner, sizeof inner, "%s/%s", path, entries[i]->d_name);
            collect(list, inner, ending);
        }
        free(entries[i]);
    }
    free(entries);
}

static int replay(const char *path)
{
    FILE *in = fopen(path, "rb");
    uint8_t *data = NULL;
    long size = -1;
    size_t got = 0;

    if (in && fseek(in, 0, SEEK_END) == 0)
        size = ftell(in);
    if (size >= 0)
        data = malloc((size_t)size);
    if (data || size == 0) {
        rewind(in);
        got = size > 0 ? fread(data, 1, (size_t)size, in) : 0;
    }
    if (in)
        fclose(in);
    if (size < 0 || got != (size_t)size) {
        free(data);
        return 1;
    }
    LLVMFuzzerTestOneInput(data, got);
    free(data);
    return 0;
}

static int takes_dfl(const char *name)
{
    static const char *const names[] = { "lex", "parse", "fmt", "sema", "eval", "map" };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i], name) == 0)
            return 1;
    return 0;
}

static void collect_default(path_list *list, const char *program)
{
    const char *base = strrchr(program, '/');
    char path[LONGEST_PATH];

    base = base ? base + 1 : program;
    if (strncmp(base, "fuzz_", 5) == 0)
        base += 5;
    snprintf(path, sizeof path, "tests/fuzz/seeds/%s", base);
    collect(list, path, NULL);
    snprintf(path, sizeof path, "tests/fuzz/regressions/%s", base);
    collect(list, path, NULL);
    if (takes_dfl(base)) {
        collect(list, "examples", ".dfl");
        collect(list, "stdlib", ".dfl");
        collect(list, "tests/golden", ".dfl");
    }
}

int main(int argc, char **argv)
{
    path_list list = { 0 };
    int failed = 0;

    for (int i = 1; i < argc; i++)
        collect(&list, argv[i], NULL);
    if (argc < 2)
        collect_default(&list, argv[0]);
    printf("1..%zu\n", list.n + 1);
    if (list.n == 0) {
        printf("not ok 1 - no inputs\n");
        return 1;
    }
    LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
    printf("ok 1 - the empty input\n");
    for (size_t i = 0; i < list.n; i++) {
        int bad;

        printf("# %s\n", list.at[i]);
        fflush(stdout);
        bad = replay(list.at[i]);
        printf("%s %zu - %s\n", bad ? "not ok" : "ok", i + 2, list.at[i]);
        failed |= bad;
        free(list.at[i]);
    }
    free(list.at);
    return failed;
}
