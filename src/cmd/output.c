/* Prints messages, and writes files atomically. */
#include "cmd/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void dfl_cmd_say(const char *format, ...)
{
    va_list args;

    fputs("dflc: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

void *dfl_cmd_must(void *memory)
{
    if (!memory) {
        dfl_cmd_say("out of memory");
        exit(DFL_EXIT_INTERNAL);
    }
    return memory;
}

static bool write_all(int file, const char *text, size_t len)
{
    while (len > 0) {
        ssize_t n = write(file, text, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        text += n;
        len -= (size_t)n;
    }
    return true;
}

dfl_exit dfl_cmd_cannot_write(const char *path)
{
    if (errno != EPIPE)
        dfl_cmd_say("cannot write %s: %s", path ? path : "standard output", strerror(errno));
    return DFL_EXIT_IO;
}

static dfl_exit write_directly(const char *path, const char *text, size_t len)
{
    int file = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    bool ok;

    if (file < 0)
        return dfl_cmd_cannot_write(path);
    ok = write_all(file, text, len);
    if (close(file) != 0)
        ok = false;
    return ok ? DFL_EXIT_OK : dfl_cmd_cannot_write(path);
}

/* Writes a temporary file in the directory of `path`, named as `path` with seven more characters, and renames it to `path`.
   Messages call the file `shown`. */
static dfl_exit replace_file(const char *path, const char *shown, mode_t mode, const char *text, size_t len)
{
    size_t room = strlen(path) + 8;
    char *name = malloc(room);
    int file, error;
    bool ok;

    if (!name)
        return dfl_cmd_cannot_write(shown);
    snprintf(name, room, "%s.XXXXXX", path);
    file = mkstemp(name);
    if (file < 0) {
        free(name);
        return dfl_cmd_cannot_write(shown);
    }
    ok = fchmod(file, mode) == 0 && write_all(file, text, len);
    error = errno;
    if (close(file) != 0 && ok) {
        ok = false;
        error = errno;
    }
    if (ok && rename(name, path) != 0) {
        ok = false;
        error = errno;
    }
    if (!ok)
        unlink(name);
    free(name);
    errno = error;
    return ok ? DFL_EXIT_OK : dfl_cmd_cannot_write(shown);
}

dfl_exit dfl_cmd_write(const char *path, const char *text, size_t len)
{
    struct stat info;
    char *target;
    dfl_exit status;
    mode_t mask;

    if (!path)
        return write_all(STDOUT_FILENO, text, len) ? DFL_EXIT_OK : dfl_cmd_cannot_write(NULL);
    if (stat(path, &info) != 0) {
        mask = umask(0);
        umask(mask);
        return replace_file(path, path, 0666 & ~mask, text, len);
    }
    if (!S_ISREG(info.st_mode))
        return write_directly(path, text, len);
    target = realpath(path, NULL); /* replaces the target of a symbolic link, not the link */
    if (!target)
        return dfl_cmd_cannot_write(path);
    status = replace_file(target, path, info.st_mode & 07777, text, len);
    free(target);
    return status;
}

void dfl_cmd_buffer_open(dfl_cmd_buffer *b)
{
    *b = (dfl_cmd_buffer){ 0 };
    b->out = open_memstream(&b->text, &b->len);
    (void)dfl_cmd_must(b->out);
}

dfl_exit dfl_cmd_buffer_flush(dfl_cmd_buffer *b, const char *path)
{
    dfl_exit status;

    (void)dfl_cmd_must(fclose(b->out) == 0 ? b->text : NULL);
    status = b->len > 0 || path ? dfl_cmd_write(path, b->text, b->len) : DFL_EXIT_OK;
    free(b->text);
    return status;
}
