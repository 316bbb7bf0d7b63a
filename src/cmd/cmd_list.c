/* dflc list: prints the declarations of a file, or the files of a part of the library. */
#include "cmd/cmd.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "diag/suggest.h"

static int is_entry(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');

    return entry->d_name[0] != '.' && (dot == NULL || strcmp(dot, ".dfl") == 0);
}

/* Prints the names of the files and parts in the directory `path` of the library, whose name is `name`. */
static dfl_exit list_part(const dfl_cmd_args *args, const char *name, const char *path)
{
    struct dirent **entries;
    int n = scandir(path, &entries, is_entry, alphasort);
    dfl_cmd_buffer b;

    if (n < 0) {
        dfl_cmd_say("cannot read %s: %s", path, strerror(errno));
        return DFL_EXIT_IO;
    }
    dfl_cmd_buffer_open(&b);
    for (int i = 0; i < n; i++) {
        const char *entry = entries[i]->d_name;

        fprintf(b.out, "%s.%.*s\n", name, (int)strcspn(entry, "."), entry);
        free(entries[i]);
    }
    free(entries);
    return dfl_cmd_buffer_flush(&b, args->output);
}

/* The file or part of the library that is nearest to `name`, with its part in front; NULL if none is near. */
static const char *find_near(dfl_arena *arena, const char *name, const char *path)
{
    const char *dot = strrchr(name, '.'), *slash = strrchr(path, '/');
    dfl_intern *names = dfl_intern_new(arena);
    dfl_sym near = 0, *all;
    struct dirent **entries;
    int n = dot && slash ? scandir(dfl_arena_copy(arena, path, (size_t)(slash - path)), &entries, is_entry, alphasort) : 0;

    if (n <= 0)
        return NULL;
    all = DFL_NEW_ARRAY(arena, dfl_sym, (size_t)n);
    for (int i = 0; i < n; i++) {
        all[i] = dfl_intern_z(names, dfl_arena_copy(arena, entries[i]->d_name, strcspn(entries[i]->d_name, ".")));
        free(entries[i]);
    }
    free(entries);
    near = dfl_suggest(names, dot + 1, all, (size_t)n);
    return near ? dfl_arena_printf(arena, "%.*s.%s", (int)(dot - name), name, dfl_sym_text(names, near)) : NULL;
}

/* Says that the library has no file and no part of this name. */
static dfl_exit refuse_name(const char *name, const char *path)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    const char *near = find_near(arena, name, path);

    if (near)
        dfl_cmd_say("the library has no `%s`; did you mean `%s`?", name, near);
    else
        dfl_cmd_say("the library has no `%s`; `dflc list std` lists its parts", name);
    dfl_arena_free(arena);
    return DFL_EXIT_IO;
}

dfl_exit dfl_cmd_list(const dfl_cmd_args *args)
{
    const dfl_format format = strcmp(dfl_cmd_format(args, "text"), "json") == 0 ? DFL_FORMAT_JSON : DFL_FORMAT_TEXT;
    char path[PATH_MAX];
    const bool is_library = dfl_cmd_library_path(args->files[0], path);
    struct stat info;
    dfl_session *s;
    dfl_exit status;
    const char *text;
    size_t len;

    if (is_library && stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        return list_part(args, args->files[0], path);
    if (is_library && access(path, F_OK) != 0)
        return refuse_name(args->files[0], path);
    s = dfl_cmd_session(args);
    status = dfl_cmd_open(s, args, is_library ? path : args->files[0]);
    if (status == DFL_EXIT_OK) {
        status = dfl_session_syntax(s);
        text = dfl_session_list(s, format, &len);
        status = dfl_cmd_worse(status, dfl_cmd_write(args->output, text, len));
    }
    dfl_cmd_messages(s, args);
    dfl_session_free(s);
    return status;
}
