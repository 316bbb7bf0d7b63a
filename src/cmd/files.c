/* The files of a command that takes directories: all .dfl files below them. */
#include "cmd/cmd.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "support/limits.h"

typedef struct {
    char **at;
    size_t n, room;
} path_list;

static void add_path(path_list *paths, const char *path)
{
    if (paths->n == paths->room) {
        paths->room = paths->room ? 2 * paths->room : 64;
        paths->at = dfl_cmd_must(realloc(paths->at, paths->room * sizeof *paths->at));
    }
    paths->at[paths->n++] = dfl_cmd_must(strdup(path));
}

static void free_paths(path_list *paths)
{
    for (size_t i = 0; i < paths->n; i++)
        free(paths->at[i]);
    free(paths->at);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Whether a name ends in one of the suffixes, which are separated by blanks. */
static bool has_suffix(const char *name, const char *suffixes)
{
    const size_t len = strlen(name);

    for (const char *at = suffixes; *at != '\0'; at += strspn(at, " ")) {
        const size_t n = strcspn(at, " ");

        if (len > n && strncmp(name + len - n, at, n) == 0)
            return true;
        at += n;
    }
    return false;
}

/* Adds all files with the suffixes below a directory, ordered by name; only regular files, since opening a pipe waits for its
   other end. A file named on the command line may have any suffix, and be of any kind. */
static dfl_exit collect_files(const char *path, const char *suffixes, unsigned depth, path_list *paths)
{
    path_list here = { 0 };
    dfl_exit status = DFL_EXIT_OK;
    struct dirent *entry;
    struct stat info;
    const bool is_known = stat(path, &info) == 0;
    DIR *dir;

    if (!is_known || !S_ISDIR(info.st_mode)) {
        if (depth == 0 || (has_suffix(path, suffixes) && (!is_known || S_ISREG(info.st_mode))))
            add_path(paths, path);
        return DFL_EXIT_OK;
    }
    dir = depth < DFL_DEEPEST_DIRECTORY ? opendir(path) : NULL;
    if (!dir) {
        dfl_cmd_say("cannot read %s: %s", path, depth < DFL_DEEPEST_DIRECTORY ? strerror(errno) : "nested too deeply");
        return DFL_EXIT_IO;
    }
    while ((entry = readdir(dir))) {
        size_t room = strlen(path) + strlen(entry->d_name) + 2, len = strlen(path);
        char *inside;

        if (entry->d_name[0] == '.')
            continue;
        inside = dfl_cmd_must(malloc(room));
        snprintf(inside, room, "%s%s%s", path, len > 0 && path[len - 1] == '/' ? "" : "/", entry->d_name);
        add_path(&here, inside);
        free(inside);
    }
    closedir(dir);
    if (here.n > 0)
        qsort(here.at, here.n, sizeof *here.at, compare_names);
    for (size_t i = 0; i < here.n; i++)
        status = dfl_cmd_worse(status, collect_files(here.at[i], suffixes, depth + 1, paths));
    free_paths(&here);
    return status;
}

dfl_exit dfl_cmd_expand(dfl_cmd_args *args, unsigned first, const char *suffixes)
{
    path_list paths = { 0 };
    dfl_exit status = DFL_EXIT_OK;

    for (unsigned i = 0; i < first; i++)
        add_path(&paths, args->files[i]);
    for (unsigned i = first; i < args->n_files; i++)
        status = dfl_cmd_worse(status, collect_files(args->files[i], suffixes, 0, &paths));
    if (paths.n == first && args->n_files > first) {
        dfl_cmd_say("the given directories contain no %s files: %s", suffixes, args->files[first]);
        status = dfl_cmd_worse(status, DFL_EXIT_IO);
    }
    args->files = paths.at;
    args->n_files = (unsigned)paths.n;
    return status;
}

void dfl_cmd_free_files(dfl_cmd_args *args)
{
    free_paths(&(path_list){ .at = args->files, .n = args->n_files });
}
