/* dflc import: translates the workload, system and mapping of another tool into DFL. */
#include "cmd/cmd.h"

#include <string.h>

#include "support/strbuf.h"

/* A format that can be imported. */
typedef struct {
    const char *name;            /* name of the format on the command line */
    /* Converts the file that the session has opened; further files stand in `args`. NULL after reporting errors. */
    const char *(*import)(dfl_session *s, const dfl_cmd_args *args, dfl_exit *status, size_t *len);
    const char *one_file;        /* message about a second file; NULL = the format takes several files */
    bool has_hardware;           /* the format takes --hw */
} importer;

static const char *import_maestro(dfl_session *s, const dfl_cmd_args *args, dfl_exit *status, size_t *len)
{
    return dfl_session_import_maestro(s, args->hardware, status, len);
}

static const char *import_accelforge(dfl_session *s, const dfl_cmd_args *args, dfl_exit *status, size_t *len)
{
    return dfl_session_import_accelforge(s, args->files + 2, args->n_files - 2, status, len);
}

static const char *import_timeloop(dfl_session *s, const dfl_cmd_args *args, dfl_exit *status, size_t *len)
{
    return dfl_session_import_timeloop(s, args->files + 2, args->n_files - 2, status, len);
}

static const importer importers[] = {
    { "maestro", import_maestro, "a mapping of MAESTRO is one file", true },
    { "accelforge", import_accelforge, NULL, false },
    { "timeloop", import_timeloop, NULL, false },
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

dfl_exit dfl_cmd_import(const dfl_cmd_args *args)
{
    const importer *from = find_importer(args->files[0]);
    dfl_session *s;
    const char *text;
    dfl_exit status;
    size_t len;

    if (from == NULL)
        return refuse_format(args->files[0]);
    if (!from->has_hardware && args->hardware != NULL) {
        dfl_cmd_say("`--hw` is for maestro; give all files of the specification");
        return DFL_EXIT_USAGE;
    }
    if (from->one_file != NULL && args->n_files > 2) {
        dfl_cmd_say("%s", from->one_file);
        return DFL_EXIT_USAGE;
    }
    s = dfl_cmd_session(args);
    status = dfl_cmd_open(s, args, args->files[1]);
    if (status == DFL_EXIT_OK) {
        text = from->import(s, args, &status, &len);
        if (text)
            status = dfl_cmd_worse(status, dfl_cmd_write(args->output, text, len));
    }
    dfl_cmd_messages(s, args);
    dfl_session_free(s);
    return status;
}
