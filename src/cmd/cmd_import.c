/* dflc import: translates the workload, system and mapping of another tool into DFL. */
#include "cmd/cmd.h"

#include <string.h>
#include <unistd.h>

#include "support/strbuf.h"

/* A format that can be imported. */
typedef struct {
    const char *name;            /* name of the format on the command line */
    /* Converts the file that the session has opened, number `first` of `args`; further files follow there. NULL after
       reporting errors. */
    const char *(*import)(dfl_session *s, const dfl_cmd_args *args, size_t first, dfl_exit *status, size_t *len);
    const char *one_file;        /* message about a second file; NULL = the format takes several files */
    bool has_hardware;           /* the format takes --hw */
} importer;

static const char *import_maestro(dfl_session *s, const dfl_cmd_args *args, size_t first, dfl_exit *status, size_t *len)
{
    (void)first;
    return dfl_session_import_maestro(s, args->hardware, status, len);
}

static const char *import_accelforge(dfl_session *s, const dfl_cmd_args *args, size_t first, dfl_exit *status, size_t *len)
{
    return dfl_session_import_accelforge(s, args->files + first + 1, args->n_files - first - 1, status, len);
}

static const char *import_timeloop(dfl_session *s, const dfl_cmd_args *args, size_t first, dfl_exit *status, size_t *len)
{
    return dfl_session_import_timeloop(s, args->files + first + 1, args->n_files - first - 1, status, len);
}

static const char *import_calculon(dfl_session *s, const dfl_cmd_args *args, size_t first, dfl_exit *status, size_t *len)
{
    return dfl_session_import_calculon(s, args->files + first + 1, args->n_files - first - 1, status, len);
}

static const importer importers[] = {
    { "maestro", import_maestro, "a mapping of MAESTRO is one file; `--hw FILE` names its hardware", true },
    { "accelforge", import_accelforge, NULL, false },
    { "timeloop", import_timeloop, NULL, false },
    { "calculon", import_calculon, NULL, false },
};

enum { N_IMPORTERS = sizeof importers / sizeof importers[0] };

static const importer *find_importer(const char *name)
{
    for (size_t i = 0; i < N_IMPORTERS; i++)
        if (strcmp(importers[i].name, name) == 0)
            return &importers[i];
    return NULL;
}

static dfl_exit refuse_format(const char *name)
{
    dfl_arena *arena = dfl_arena_new(NULL);
    dfl_strbuf known;

    dfl_strbuf_init(&known, arena);
    for (size_t i = 0; i < N_IMPORTERS; i++)
        dfl_strbuf_printf(&known, " %s", importers[i].name);
    dfl_cmd_say("cannot import `%s`; the formats are:%s", name, known.text);
    dfl_arena_free(arena);
    return DFL_EXIT_USAGE;
}

/* Whether the files suit the format; false after a message. */
static bool suits(const importer *from, const dfl_cmd_args *args, size_t first)
{
    if (!from->has_hardware && args->hardware != NULL)
        dfl_cmd_say("`--hw` is for maestro; give all files of the specification");
    else if (from->one_file != NULL && args->n_files > first + 1)
        dfl_cmd_say("%s", from->one_file);
    else
        return true;
    return false;
}

/* Imports the files from number `first` on. `from`: NULL = the files tell. */
static dfl_exit import_files(const importer *from, const dfl_cmd_args *args, size_t first)
{
    dfl_session *s = dfl_cmd_session(args);
    dfl_exit status = dfl_cmd_open(s, args, args->files[first]);
    const char *tool, *text;
    size_t len;

    if (status == DFL_EXIT_OK && from == NULL &&
        (tool = dfl_session_foreign_tool(s, args->files + first + 1, args->n_files - first - 1, &status)) != NULL) {
        from = find_importer(tool);
        if (!suits(from, args, first))
            status = DFL_EXIT_USAGE;
    }
    if (status == DFL_EXIT_OK && from != NULL) {
        text = from->import(s, args, first, &status, &len);
        if (text)
            status = dfl_cmd_worse(status, dfl_cmd_write(args->output, text, len));
    }
    dfl_cmd_messages(s, args);
    dfl_session_free(s);
    return status;
}

/* Whether an argument in the place of a format, which is no format, is a file or a directory: these exist, or have a dot or a
   slash. */
static bool is_file(const char *argument)
{
    return strcmp(argument, "-") == 0 || strpbrk(argument, "./") != NULL || access(argument, F_OK) == 0;
}

unsigned dfl_cmd_import_first(const dfl_cmd_args *args)
{
    return find_importer(args->files[0]) != NULL || !is_file(args->files[0]) ? 1 : 0;
}

dfl_exit dfl_cmd_import(const dfl_cmd_args *args)
{
    const importer *from = find_importer(args->files[0]);

    if (from == NULL)
        return is_file(args->files[0]) ? import_files(NULL, args, 0) : refuse_format(args->files[0]);
    if (args->n_files == 1) {
        dfl_cmd_say("give the files to import: `dflc import %s FILE...`", from->name);
        return DFL_EXIT_USAGE;
    }
    return suits(from, args, 1) ? import_files(from, args, 1) : DFL_EXIT_USAGE;
}
