#include "api/load.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/session.h"

/* Reports "`shown` WHAT", with the line `help` unless `help` is NULL. Returns NULL. */
static dfl_loaded *refuse_file(dfl_session *s, dfl_code code, dfl_span at, const char *shown, const char *what,
                          const char *help)
{
    dfl_diag *d = dfl_report(s->sink, code, at, "`%s` %s", shown, what);

    if (help)
        dfl_diag_help(s->sink, d, "%s", help);
    return NULL;
}

static const char *errno_text(dfl_session *s, int error)
{
    return dfl_arena_printf(s->arena, "cannot be read: %s", strerror(error));
}

/* Reads a whole file, but stops one byte above the largest allowed size. Returns the length in bytes, or -1 with errno set. */
static ssize_t read_all(dfl_session *s, int file, const struct stat *info, char **text)
{
    bool sized = S_ISREG(info->st_mode) && info->st_size > 0 && (uintmax_t)info->st_size <= s->max_file;
    size_t room = sized ? (size_t)info->st_size + 1 : 64 * 1024, len = 0;
    char *buffer;

    if (S_ISREG(info->st_mode) && (uintmax_t)info->st_size > s->max_file) {
        *text = NULL; /* the caller refuses a file of this length */
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

/* The key of a file: its device and inode, equal for all names of the file; NULL unless the file is a regular one. */
static const char *file_key(dfl_session *s, const struct stat *info)
{
    return S_ISREG(info->st_mode)
               ? dfl_arena_printf(s->arena, "%ju:%ju", (uintmax_t)info->st_dev, (uintmax_t)info->st_ino)
               : NULL;
}

/* Adds a text to the files of the session. NULL after E0605, E0607 or E0615. */
static dfl_loaded *add_file(dfl_session *s, const char *shown, const char *path, const char *key, const char *text,
                       size_t len, dfl_span at)
{
    dfl_loaded *file;
    const dfl_source *source;

    if (len > s->max_file)
        return refuse_file(s, DFL_LIMIT_FILE_SIZE, at, shown,
                      dfl_arena_printf(s->arena, "is larger than %zu MiB", s->max_file >> 20),
                      s->max_file == DFL_MAX_FILE ? "split it and import the parts" : NULL);
    source = dfl_source_add(s->sources, shown, text, len);
    if (!source)
        return refuse_file(s, DFL_LIMIT_COUNT, at, shown, "does not fit: all files together are larger than 4 GiB", NULL);
    file = DFL_NEW(s->arena, dfl_loaded);
    *file = (dfl_loaded){ .path = dfl_arena_copy(s->arena, path, strlen(path)), .key = key, .source = source };
    DFL_PUSH(s->arena, &s->loaded, file);
    return file;
}

static dfl_loaded *find_loaded(dfl_session *s, const char *key)
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
        return refuse_file(s, DFL_FILE_UNREADABLE, at, shown, errno_text(s, errno), NULL);
    if (fstat(file, &info) != 0 || S_ISDIR(info.st_mode)) {
        close(file);
        return refuse_file(s, DFL_FILE_UNREADABLE, at, shown, "is a directory", "name a file");
    }
    found = find_loaded(s, file_key(s, &info));
    if (found) {
        close(file);
        return found;
    }
    len = read_all(s, file, &info, &text);
    error = errno;
    close(file);
    if (len < 0)
        return s->budget.why != DFL_STOP_NONE ? NULL
                                              : refuse_file(s, DFL_FILE_UNREADABLE, at, shown, errno_text(s, error), NULL);
    return add_file(s, shown, path, file_key(s, &info), text, (size_t)len, at);
}

dfl_loaded *dfl_load_text(dfl_session *s, const char *shown, const char *path, const char *text, size_t len)
{
    return add_file(s, shown, path, NULL, text, len, (dfl_span){ 0, 0 });
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
