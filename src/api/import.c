/* `dflc import`: translates files of other tools into DFL. */
#include "api/session.h"

#include <string.h>

#include "import/accelforge/accelforge.h"
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

const char *dfl_session_import_accelforge(dfl_session *s, char *const *more_paths, size_t n, dfl_exit *status,
                                          size_t *len)
{
    const dfl_source **sources = DFL_NEW_ARRAY(s->arena, const dfl_source *, n + 1);
    const char *text;

    *status = DFL_EXIT_USAGE;
    if (!s->root)
        return NULL;
    sources[0] = s->root->source;
    for (size_t i = 0; i < n; i++) {
        const dfl_loaded *more = dfl_load_path(s, more_paths[i], more_paths[i], (dfl_span){ 0, 0 }, NULL);

        *status = DFL_EXIT_IO;
        if (!more)
            return NULL;
        sources[i + 1] = more->source;
    }
    text = dfl_import_accelforge(s->arena, s->sink, s->sources, sources, n + 1);
    *status = dfl_session_status(s);
    if (text && len)
        *len = strlen(text);
    return text;
}

const char *dfl_session_import_timeloop(dfl_session *s, dfl_exit *status, size_t *len)
{
    const char *text;

    *status = DFL_EXIT_USAGE;
    if (!s->root)
        return NULL;
    text = dfl_import_timeloop(s->arena, s->sink, s->sources, s->root->source);
    *status = dfl_session_status(s);
    if (text && len)
        *len = strlen(text);
    return text;
}
