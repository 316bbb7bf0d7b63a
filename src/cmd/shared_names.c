/* The names of --set and --only on a command line with several files: it is enough that one of the files has them. */
#include "cmd/cmd.h"

#include <string.h>

enum { MOST_LISTED = 3 }; /* files that a message names */

/* The files that have each name. */
typedef struct {
    unsigned n[DFL_CMD_MOST_PARAMS];                 /* number of files with the parameter i */
    const char *first[DFL_CMD_MOST_PARAMS][MOST_LISTED]; /* the first of these files */
    unsigned n_mappings;                             /* number of files with the mapping */
} reach;

static void look_into(const dfl_cmd_args *args, const char *path, reach *out)
{
    dfl_session *s = dfl_cmd_session(args);

    if (dfl_session_open(s, path) == DFL_EXIT_OK) {
        for (unsigned i = 0; i < args->n_params; i++)
            if (dfl_session_has_param(s, args->params[i].name)) {
                if (out->n[i] < MOST_LISTED)
                    out->first[i][out->n[i]] = path;
                out->n[i]++;
            }
        out->n_mappings += args->only && dfl_session_has_mapping(s, args->only);
    }
    dfl_session_free(s);
}

static void say_reach(const dfl_cmd_args *args, const reach *found)
{
    for (unsigned i = 0; i < args->n_params; i++) {
        const char *const *at = found->first[i];
        const unsigned n = found->n[i];

        if (n < args->n_files)
            dfl_cmd_say("`--set %s` reaches %u of %u files: %s%s%s%s%s%s", args->params[i].name, n, args->n_files, at[0],
                        n > 1 ? ", " : "", n > 1 ? at[1] : "", n > 2 ? ", " : "", n > 2 ? at[2] : "",
                        n > MOST_LISTED ? ", ..." : "");
    }
}

void dfl_cmd_share_names(dfl_cmd_args *args)
{
    reach found = { .n_mappings = 0 };
    bool is_in_one = true;

    if (args->n_params == 0 && !args->only)
        return;
    for (unsigned i = 0; i < args->n_files; i++)
        if (strcmp(args->files[i], "-") == 0) /* standard input is read once */
            return;
    args->session.lenient = true;
    for (unsigned i = 0; i < args->n_files; i++)
        look_into(args, args->files[i], &found);
    for (unsigned i = 0; i < args->n_params; i++)
        is_in_one &= found.n[i] > 0;
    args->session.lenient = is_in_one && (!args->only || found.n_mappings > 0);
    if (args->session.lenient && (args->messages == DFL_FORMAT_TEXT || args->messages == DFL_FORMAT_SHORT))
        say_reach(args, &found);
}
