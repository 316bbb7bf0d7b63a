/* Reading files, and finding what an import names. */
#include "api/session.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reports that `shown` cannot be used; `format` continues the sentence. */
static dfl_loaded *refuse(dfl_session *s, dfl_code code, dfl_span at, const char *shown, const char *what,
                          const char *help)
{
    dfl_diag *d = dfl_report(s->sink, code, at, "`%s` %s", shown, what);

    if (help)
        dfl_diag_help(s->sink, d, "%s", help);
    return NULL;
}

static const char *reason(dfl_session *s, int error)
{
    return dfl_arena_printf(s->arena, "cannot be read: %s", strerror(error));
}

/* The whole file, at most one byte more than is allowed. Returns the length, or -1 with errno set. */
static ssize_t read_all(dfl_session *s, int file, const struct stat *info, char **text)
{
    bool sized = S_ISREG(info->st_mode) && info->st_size > 0 && (uintmax_t)info->st_size <= s->max_file;
    size_t room = sized ? (size_t)info->st_size + 1 : 64 * 1024, len = 0;
    char *buffer;

    if (S_ISREG(info->st_mode) && (uintmax_t)info->st_size > s->max_file) {
        *text = NULL; /* too large, whatever is in it */
        return (ssize_t)(s->max_file + 1);
    }
    buffer = dfl_arena_alloc(s->arena, room, 1, 1);
    while (len <= s->max_file) {
        ssize_t n;

        if (len == room) {
            char *more = dfl_arena_alloc(s->arena, room * 2, 1, 1);

            memcpy(more, buffer, len);
            buffer = more;
            room *= 2;
        }
        n = read(file, buffer + len, room - len);
        if (n < 0 && errno == EINTR && dfl_budget_ok(&s->budget))
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        len += (size_t)n;
    }
    *text = buffer;
    return (ssize_t)len;
}

/* Device and inode: the same for every name of a file. */
static const char *key_of(dfl_session *s, const struct stat *info)
{
    return S_ISREG(info->st_mode)
               ? dfl_arena_printf(s->arena, "%ju:%ju", (uintmax_t)info->st_dev, (uintmax_t)info->st_ino)
               : NULL;
}

static dfl_loaded *add(dfl_session *s, const char *shown, const char *path, const char *key, const char *text,
                       size_t len, dfl_span at)
{
    dfl_loaded *file;
    const dfl_source *source;

    if (len > s->max_file)
        return refuse(s, DFL_LIMIT_FILE_SIZE, at, shown,
                      dfl_arena_printf(s->arena, "is larger than %zu MiB", s->max_file >> 20),
                      s->max_file == DFL_MAX_FILE ? "split it and import the parts" : NULL);
    if (len == 0)
        return refuse(s, DFL_FILE_UNREADABLE, at, shown, "is empty", NULL);
    source = dfl_source_add(s->sources, shown, text, len);
    if (!source)
        return refuse(s, DFL_LIMIT_COUNT, at, shown, "does not fit: all files together are larger than 4 GiB", NULL);
    file = DFL_NEW(s->arena, dfl_loaded);
    *file = (dfl_loaded){ .path = dfl_arena_copy(s->arena, path, strlen(path)), .key = key, .source = source };
    DFL_PUSH(s->arena, &s->loaded, file);
    return file;
}

static dfl_loaded *known(dfl_session *s, const char *key)
{
    for (size_t i = 0; key && i < s->loaded.n; i++)
        if (s->loaded.at[i]->key && strcmp(s->loaded.at[i]->key, key) == 0)
            return s->loaded.at[i];
    return NULL;
}

dfl_loaded *dfl_load_path(dfl_session *s, const char *path, const char *shown, dfl_span at, bool *missing)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY), error;
    struct stat info;
    dfl_loaded *found;
    char *text = NULL;
    ssize_t len;

    if (file < 0 && missing && (errno == ENOENT || errno == ENOTDIR)) {
        *missing = true;
        return NULL;
    }
    if (file < 0)
        return refuse(s, DFL_FILE_UNREADABLE, at, shown, reason(s, errno), NULL);
    if (fstat(file, &info) != 0 || S_ISDIR(info.st_mode)) {
        close(file);
        return refuse(s, DFL_FILE_UNREADABLE, at, shown, "is a directory", "name a file");
    }
    found = known(s, key_of(s, &info));
    if (found) {
        close(file);
        return found;
    }
    len = read_all(s, file, &info, &text);
    error = errno;
    close(file);
    if (len < 0)
        return s->budget.why != DFL_STOP_NONE ? NULL
                                              : refuse(s, DFL_FILE_UNREADABLE, at, shown, reason(s, error), NULL);
    return add(s, shown, path, key_of(s, &info), text, (size_t)len, at);
}

dfl_loaded *dfl_load_text(dfl_session *s, const char *shown, const char *path, const char *text, size_t len)
{
    return add(s, shown, path, NULL, text, len, (dfl_span){ 0, 0 });
}

const dfl_syntax *dfl_loaded_syntax(dfl_session *s, dfl_loaded *file)
{
    if (!file->syntax) {
        dfl_syntax *syntax = DFL_NEW(s->arena, dfl_syntax);

        *syntax = dfl_syntax_parse(s->arena, s->names, s->sink, file->source);
        file->syntax = syntax;
    }
    return file->syntax;
}

/* "std.chips.h100" as "chips/h100.dfl"; NULL when a part could leave the library. */
static const char *library_file(dfl_session *s, const char *target)
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

/* `target` beside the file `path`. */
static const char *beside(dfl_session *s, const char *path, const char *target)
{
    const char *slash = strrchr(path, '/');

    if (!slash || target[0] == '/')
        return target;
    return dfl_arena_printf(s->arena, "%.*s/%s", (int)(slash - path), path, target);
}

static const dfl_loaded *loaded_of(const dfl_session *s, const dfl_source *source)
{
    for (size_t i = 0; i < s->loaded.n; i++)
        if (s->loaded.at[i]->source == source)
            return s->loaded.at[i];
    return NULL;
}

/* ---- did you mean ---- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* `entry` as it is written in an import: directories as they are, files of the library without their ending.
   NULL for what no import can name. */
static const char *importable(dfl_session *s, const char *entry, bool file, bool quoted)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    size_t len = strlen(entry), stem = strspn(entry, plain);

    if (file ? stem + 4 != len || strcmp(entry + stem, ".dfl") != 0 : stem != len)
        return NULL;
    return dfl_arena_copy(s->arena, entry, quoted ? len : stem);
}

/* The file, or directory, in `path` whose name is nearest to `word`; `word` when it is there, NULL when none is near. */
static const char *nearest_entry(dfl_session *s, const char *path, const char *word, bool file, bool quoted)
{
    dfl_intern *names = dfl_intern_new(s->arena);
    DFL_VEC(const char *) found = { 0 };
    DFL_VEC(dfl_sym) all = { 0 };
    const struct dirent *entry;
    DIR *dir = opendir(path);
    dfl_sym near;

    while (dir && dfl_budget_ok(&s->budget) && (entry = readdir(dir)) != NULL) {
        const char *name = importable(s, entry->d_name, file, quoted);

        if (name)
            DFL_PUSH(s->arena, &found, name);
    }
    if (dir)
        closedir(dir);
    if (found.n > 0)
        qsort(found.at, found.n, sizeof *found.at, by_text);
    for (size_t i = 0; i < found.n; i++) {
        if (strcmp(found.at[i], word) == 0)
            return word;
        DFL_PUSH(s->arena, &all, dfl_intern_z(names, found.at[i]));
    }
    near = dfl_suggest(names, word, all.at, all.n);
    return near ? dfl_sym_text(names, near) : NULL;
}

/* `std.chips.h100` for `std.chip.h10`: the nearest name at each step. */
static const char *near_library(dfl_session *s, const char *target)
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

/* The file nearest to `target` in its directory, of which `path` is the place. */
static const char *near_beside(dfl_session *s, const char *path, const char *target)
{
    const char *slash = strrchr(target, '/'), *place = strrchr(path, '/');
    const char *dir = place ? dfl_arena_copy(s->arena, path, (size_t)(place - path) + 1) : ".";
    const char *near = nearest_entry(s, dir, slash ? slash + 1 : target, true, true);

    return near ? dfl_arena_printf(s->arena, "%.*s%s", slash ? (int)(slash - target) + 1 : 0, target, near) : NULL;
}

bool dfl_session_load(void *context, const dfl_source *from, const char *target, bool quoted, dfl_sema_file *out,
                      const char **why, const char **near)
{
    dfl_session *s = context;
    const dfl_loaded *importer = loaded_of(s, from);
    const char *path, *shown;
    dfl_loaded *file;
    bool missing = false;

    if (quoted) {
        path = beside(s, importer ? importer->path : "", target);
        shown = beside(s, from->name, target);
    } else {
        const char *inside = library_file(s, target);

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
    file = dfl_load_path(s, path, shown, (dfl_span){ 0, 0 }, &missing);
    if (missing) {
        *why = dfl_arena_printf(s->arena, "there is no file `%s`", shown);
        if (!dfl_sink_drops(s->sink))
            *near = quoted ? near_beside(s, path, target) : near_library(s, target);
    }
    if (!file)
        return false;
    out->source = file->source;
    out->file = dfl_loaded_syntax(s, file)->file;
    return true;
}
