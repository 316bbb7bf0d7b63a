/* `dflc import`: translates files of other tools into DFL. */
#include "api/session.h"

#include <string.h>

#include "import/accelforge/accelforge.h"
#include "import/calculon/calculon.h"
#include "import/detect.h"
#include "import/maestro/maestro.h"
#include "import/timeloop/timeloop.h"

const char *dfl_session_import_maestro(dfl_session *s, const char *hardware_path, dfl_exit *status, size_t *len)
{
    const dfl_loaded *hardware = NULL;
    const char *text = NULL;

    *status = DFL_EXIT_USAGE;
    if (!s->root)
        return NULL;
    if (hardware_path) {
        hardware = dfl_load_path(s, hardware_path, hardware_path, (dfl_span){ 0, 0 }, NULL);
        *status = DFL_EXIT_IO;
        if (!hardware)
            return NULL;
    }
    text = dfl_import_maestro(s->arena, s->sink, s->sources, s->root->source, hardware ? hardware->source : NULL);
    *status = dfl_session_status(s);
    if (text && len)
        *len = strlen(text);
    return text;
}

/* The root of the session and the files of more paths; NULL after reporting one that cannot be read. */
static const dfl_source **load_more(dfl_session *s, char *const *more_paths, size_t n)
{
    const dfl_source **sources = DFL_NEW_ARRAY(s->arena, const dfl_source *, n + 1);

    sources[0] = s->root->source;
    for (size_t i = 0; i < n; i++) {
        const dfl_loaded *more = dfl_load_path(s, more_paths[i], more_paths[i], (dfl_span){ 0, 0 }, NULL);

        if (!more)
            return NULL;
        sources[i + 1] = more->source;
    }
    return sources;
}

/* An importer of several files. */
typedef char *import_files(dfl_arena *arena, dfl_sink *sink, dfl_source_map *map, const dfl_source *const *sources, size_t n);

static const char *import_with(dfl_session *s, import_files *import, char *const *more_paths, size_t n, dfl_exit *status,
                               size_t *len)
{
    const dfl_source **sources;
    const char *text;

    *status = DFL_EXIT_USAGE;
    if (!s->root)
        return NULL;
    sources = load_more(s, more_paths, n);
    *status = DFL_EXIT_IO;
    if (!sources)
        return NULL;
    text = import(s->arena, s->sink, s->sources, sources, n + 1);
    *status = dfl_session_status(s);
    if (text && len)
        *len = strlen(text);
    return text;
}

/* Whether the file has bytes that no text has, or nothing but blanks. */
static bool is_binary(const dfl_source *source)
{
    for (size_t i = 0; i < source->len; i++) {
        if ((unsigned char)source->text[i] < ' ' && strchr("\t\n\r\f", source->text[i]) == NULL)
            return true;
        if (source->text[i] == '\0')
            return true;
    }
    return false;
}

static bool is_blank(const dfl_source *source)
{
    return strspn(source->text, " \t\r\n") >= source->len;
}

static bool is_named(const dfl_source *source, const char *ending)
{
    const size_t n = strlen(source->name), len = strlen(ending);

    return n >= len && strcmp(source->name + n - len, ending) == 0;
}

/* Reports that no file tells its tool. */
static void report_no_tool(dfl_session *s, const dfl_source *source)
{
    dfl_span start = { source->base, source->base };

    if (is_binary(source)) {
        dfl_report(s->sink, DFL_FOREIGN_SYNTAX, start, "this file is no text");
    } else if (is_blank(source)) {
        dfl_report(s->sink, DFL_FOREIGN_SYNTAX, start, "the file is empty");
    } else if (strncmp(source->text, "dfl ", 4) == 0 || is_named(source, ".dfl")) {
        dfl_report(s->sink, DFL_FOREIGN_SYNTAX, start, "this is a DFL file: it needs no import");
    } else if (strncmp(source->text, "num_pes", strlen("num_pes")) == 0) {
        dfl_diag *d = dfl_report(s->sink, DFL_FOREIGN_SYNTAX, start, "this is the hardware of MAESTRO, and no mapping is named");

        dfl_diag_help(s->sink, d, "name it beside a mapping: `dflc import maestro --hw %s MAPPING.m`", source->name);
    } else {
        dfl_diag *d = dfl_report(s->sink, DFL_FOREIGN_SYNTAX, start, "this is no file of a tool that dflc knows");

        dfl_diag_note(s->sink, d, "files of MAESTRO begin with `Network` or `Constant`; those of Timeloop have `problem`, "
                      "`architecture` or `mapping`, those of AccelForge `workload` and `arch`, those of Calculon `tensor_par`");
        dfl_diag_help(s->sink, d, "name the tool: `dflc import maestro|timeloop|accelforge|calculon FILE...`");
    }
}

const char *dfl_session_foreign_tool(dfl_session *s, char *const *more_paths, size_t n, dfl_exit *status)
{
    const dfl_source **sources;
    const char *tool = NULL;
    size_t first = 0;

    *status = DFL_EXIT_USAGE;
    if (!s->root)
        return NULL;
    sources = load_more(s, more_paths, n);
    *status = DFL_EXIT_IO;
    if (!sources)
        return NULL;
    for (size_t i = 0; i <= n; i++) {
        const char *of = dfl_import_detect(sources[i]->text);

        if (tool && of && strcmp(tool, of) != 0) {
            dfl_report(s->sink, DFL_FOREIGN_SYNTAX, (dfl_span){ sources[i]->base, sources[i]->base },
                       "this is a file for %s, and `%s` is for %s: import them one by one", of, sources[first]->name, tool);
            tool = NULL;
            break;
        }
        first = tool ? first : i;
        tool = of ? of : tool;
        if (i == n && !tool)
            report_no_tool(s, sources[0]);
    }
    *status = dfl_session_status(s);
    return tool;
}

const char *dfl_session_import_accelforge(dfl_session *s, char *const *more_paths, size_t n, dfl_exit *status,
                                          size_t *len)
{
    return import_with(s, dfl_import_accelforge, more_paths, n, status, len);
}

const char *dfl_session_import_timeloop(dfl_session *s, char *const *more_paths, size_t n, dfl_exit *status, size_t *len)
{
    return import_with(s, dfl_import_timeloop, more_paths, n, status, len);
}

const char *dfl_session_import_calculon(dfl_session *s, char *const *more_paths, size_t n, dfl_exit *status, size_t *len)
{
    return import_with(s, dfl_import_calculon, more_paths, n, status, len);
}
