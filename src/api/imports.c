#include "api/imports.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/session.h"

/* The path of a file in the standard library: "chips/h100.dfl" for "std.chips.h100". NULL if the target does not start with
   `std.`, or contains a slash and could leave the library. */
static const char *library_path(dfl_session *s, const char *target)
{
    dfl_strbuf path;

    if (strncmp(target, "std.", 4) != 0)
        return NULL;
    dfl_strbuf_init(&path, s->arena);
    for (const char *c = target + 4; *c; c++)
        if (*c == '/')
            return NULL;
        else
            dfl_strbuf_char(&path, *c == '.' ? '/' : *c);
    dfl_strbuf_z(&path, ".dfl");
    return path.text;
}

/* Resolves the relative path `target` against the directory of the file `path`. */
static const char *path_beside(dfl_session *s, const char *path, const char *target)
{
    const char *slash = strrchr(path, '/');

    if (!slash || target[0] == '/')
        return target;
    return dfl_arena_printf(s->arena, "%.*s/%s", (int)(slash - path), path, target);
}

static const dfl_loaded *find_importer(const dfl_session *s, const dfl_source *source)
{
    for (size_t i = 0; i < s->loaded.n; i++)
        if (s->loaded.at[i]->source == source)
            return s->loaded.at[i];
    return NULL;
}

/* ---- suggestions ---- */

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The name by which an import reaches an entry of a directory: the name of a directory, or the name of a library file
   without ".dfl". NULL if no import can name the entry. */
static const char *import_name(dfl_session *s, const char *entry, bool file, bool quoted)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    size_t len = strlen(entry), stem = strspn(entry, plain);

    if (file ? stem + 4 != len || strcmp(entry + stem, ".dfl") != 0 : stem != len)
        return NULL;
    return dfl_arena_copy(s->arena, entry, quoted ? len : stem);
}

/* The name of the file, or directory, in directory `path` that is nearest to `word`; `word` itself if it exists, NULL if no name
   is near. */
static const char *nearest_entry(dfl_session *s, const char *path, const char *word, bool file, bool quoted)
{
    dfl_intern *names = dfl_intern_new(s->arena);
    DFL_VEC(const char *) found = { 0 };
    DFL_VEC(dfl_sym) all = { 0 };
    const struct dirent *entry;
    DIR *dir = opendir(path);
    dfl_sym near;

    while (dir && dfl_budget_ok(&s->budget) && (entry = readdir(dir)) != NULL) {
        const char *name = import_name(s, entry->d_name, file, quoted);

        if (name)
            DFL_PUSH(s->arena, &found, name);
    }
    if (dir)
        closedir(dir);
    if (found.n > 0)
        qsort(found.at, found.n, sizeof *found.at, compare_texts);
    for (size_t i = 0; i < found.n; i++) {
        if (strcmp(found.at[i], word) == 0)
            return word;
        DFL_PUSH(s->arena, &all, dfl_intern_z(names, found.at[i]));
    }
    near = dfl_suggest(names, word, all.at, all.n);
    return near ? dfl_sym_text(names, near) : NULL;
}

/* The name, first in the alphabet, by which an import reaches a library file in directory `path`. NULL if `path` is no directory
   or contains no such file. */
static const char *first_entry(dfl_session *s, const char *path)
{
    const struct dirent *entry;
    const char *first = NULL;
    DIR *dir = opendir(path);

    while (dir && dfl_budget_ok(&s->budget) && (entry = readdir(dir)) != NULL) {
        const char *name = import_name(s, entry->d_name, true, false);

        if (name && (!first || strcmp(name, first) < 0))
            first = name;
    }
    if (dir)
        closedir(dir);
    return first;
}

/* Corrects a misspelt import by the nearest name in each directory: "std.chips.h100" for "std.chip.h10". */
static const char *suggest_library(dfl_session *s, const char *target)
{
    const char *path = s->stdlib, *near = "std", *rest = target + 4;

    while (rest) {
        const char *dot = strchr(rest, '.');
        const char *word = dot ? dfl_arena_copy(s->arena, rest, (size_t)(dot - rest)) : rest;
        const char *entry = nearest_entry(s, path, word, !dot, false);

        if (!entry)
            return NULL;
        path = dfl_arena_printf(s->arena, "%s/%s", path, entry);
        near = dfl_arena_printf(s->arena, "%s.%s", near, entry);
        rest = dot ? dot + 1 : NULL;
    }
    return near;
}

/* The path of the file in the directory of `path` with the name nearest to the name of `target`. */
static const char *suggest_beside(dfl_session *s, const char *path, const char *target)
{
    const char *slash = strrchr(target, '/'), *place = strrchr(path, '/');
    const char *dir = place ? dfl_arena_copy(s->arena, path, (size_t)(place - path) + 1) : ".";
    const char *near;
    struct stat info;

    if (stat(dfl_arena_printf(s->arena, "%s.dfl", path), &info) == 0) /* the ending was left out */
        return dfl_arena_printf(s->arena, "%s.dfl", target);
    near = nearest_entry(s, dir, slash ? slash + 1 : target, true, true);
    return near ? dfl_arena_printf(s->arena, "%.*s%s", slash ? (int)(slash - target) + 1 : 0, target, near) : NULL;
}

bool dfl_imports_load(void *context, const dfl_source *from, const char *target, bool quoted, dfl_sema_file *out,
                      const char **why, const char **near)
{
    dfl_session *s = context;
    const dfl_loaded *importer = find_importer(s, from);
    const char *path, *shown;
    dfl_loaded *file;
    bool missing = false;
    struct stat info;

    if (quoted) {
        path = path_beside(s, importer ? importer->path : "", target);
        shown = path_beside(s, from->name, target);
    } else {
        const char *inside = library_path(s, target);

        if (!inside) {
            *why = "library files are named `std.part.name`; files beside this one are named in quotes";
            return false;
        }
        if (!s->stdlib) {
            *why = "the standard library was not found: set DFL_STDLIB to its directory";
            return false;
        }
        path = dfl_arena_printf(s->arena, "%s/%s", s->stdlib, inside);
        shown = dfl_arena_printf(s->arena, "std/%s", inside);
    }
    if (stat(path, &info) == 0 && (S_ISDIR(info.st_mode) || access(path, R_OK) != 0)) {
        *why = S_ISDIR(info.st_mode) ? dfl_arena_printf(s->arena, "`%s` is a directory: name one of its files", shown)
                                     : dfl_arena_printf(s->arena, "`%s` cannot be read: %s", shown, strerror(errno));
        return false;
    }
    file = dfl_load_path(s, path, shown, (dfl_span){ 0, 0 }, &missing);
    if (missing) {
        const char *first = quoted ? NULL : first_entry(s, dfl_arena_copy(s->arena, path, strlen(path) - strlen(".dfl")));

        *why = first ? dfl_arena_printf(s->arena, "`%s` is a directory: import one of its files, as in `import %s.%s;`", target,
                                        target, first)
                     : dfl_arena_printf(s->arena, "there is no file `%s`", shown);
        if (!dfl_sink_drops(s->sink))
            *near = quoted ? suggest_beside(s, path, target) : suggest_library(s, target);
    }
    if (!file)
        return false;
    out->source = file->source;
    out->file = dfl_loaded_syntax(s, file)->file;
    return true;
}

bool dfl_imports_read(void *context, const dfl_source *from, const char *target, const dfl_source **out, const char **why)
{
    dfl_session *s = context;
    const dfl_loaded *importer = find_importer(s, from);
    const char *shown = path_beside(s, from->name, target);
    bool missing = false;
    const dfl_loaded *file = dfl_load_path(s, path_beside(s, importer != NULL ? importer->path : "", target), shown,
                                           (dfl_span){ 0, 0 }, &missing);

    *why = missing ? dfl_arena_printf(s->arena, "there is no file `%s`", shown) : NULL;
    if (file != NULL)
        *out = file->source;
    return file != NULL;
}
