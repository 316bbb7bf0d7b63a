/* dflc diff: compares two mappings, or two reports. */
#include "cmd/cmd.h"

#include <string.h>
#include <unistd.h>

/* One side of the comparison, given as FILE or FILE:MAPPING: the path, and the mapping or NULL. `file` stores the path that
   is cut off FILE:MAPPING. */
typedef struct { const char *path, *only; char file[4096]; } side_name;

/* Splits FILE:MAPPING at the last colon, unless a file of this whole name exists. False if FILE is too long. */
static bool split_side(const char *word, const char *only, side_name *out)
{
    const char *colon = strrchr(word, ':');

    *out = (side_name){ .path = word, .only = only };
    if (!colon || colon == word || !colon[1] || strchr(colon, '/') || access(word, F_OK) == 0)
        return true;
    if ((size_t)(colon - word) >= sizeof out->file)
        return false;
    memcpy(out->file, word, (size_t)(colon - word));
    out->path = out->file;
    out->only = colon + 1;
    return true;
}

/* Whether a text is a JSON report and not DFL: only a report starts with a brace. */
static bool is_report(const char *text, size_t len)
{
    size_t i = 0;

    while (i < len && strchr(" \t\r\n", text[i]))
        i++;
    return i < len && text[i] == '{';
}

/* Reads the report of one side, or makes the report by evaluating a file in DFL. `out` holds the report if the result is
   DFL_EXIT_OK. */
static dfl_exit open_side(dfl_session *s, const dfl_cmd_args *args, const side_name *at, dfl_side *out)
{
    dfl_exit status = dfl_cmd_open(s, args, at->path);

    *out = (dfl_side){ .name = strcmp(at->path, "-") == 0 && args->stdin_name ? args->stdin_name : at->path,
                       .only = at->only };
    if (status == DFL_EXIT_OK) {
        out->report = dfl_session_source(s, &out->len);
        if (is_report(out->report, out->len) && args->n_params > 0) {
            dfl_cmd_say("`--set` has no effect on the report `%s`: compare DFL files, or set the value in "
                        "`dflc eval --format json` and leave it out here", out->name);
            return DFL_EXIT_USAGE;
        }
        if (is_report(out->report, out->len))
            return DFL_EXIT_OK;
        status = dfl_session_eval(s, at->only);
        out->report = dfl_session_report(s, DFL_FORMAT_JSON, 0, &out->len);
    }
    return status;
}

static dfl_exit compare_sides(const dfl_cmd_args *args, dfl_session *s, const dfl_side sides[2])
{
    dfl_format format = strcmp(dfl_cmd_format(args, "text"), "json") == 0 ? DFL_FORMAT_JSON : DFL_FORMAT_TEXT;
    dfl_exit status;
    size_t len;
    const char *text = dfl_session_diff(s, &sides[0], &sides[1], format, args->details, &status, &len);

    if (text)
        status = dfl_cmd_worse(status, dfl_cmd_write(args->output, text, len));
    return status;
}

/* Prints the diagnostics of the comparison, and of each side that has no report. */
static void print_messages(const dfl_cmd_args *args, dfl_session *const sessions[3], const dfl_exit sound[2])
{
    dfl_session *told[3];
    size_t n = 0;

    for (unsigned i = 0; i < 2; i++)
        if (sound[i] != DFL_EXIT_OK)
            told[n++] = sessions[i];
    told[n++] = sessions[2];
    dfl_cmd_all_messages(told, n, args);
}

dfl_exit dfl_cmd_diff(const dfl_cmd_args *args)
{
    side_name names[2];
    dfl_side sides[2];
    dfl_session *sessions[3]; /* the two sides, and the comparison */
    dfl_exit status = DFL_EXIT_OK, sound[2];

    for (unsigned i = 0; i < 2; i++)
        if (!split_side(args->files[i], args->only, &names[i])) {
            dfl_cmd_say("`%s` is too long a name", args->files[i]);
            return DFL_EXIT_USAGE;
        }
    if (strcmp(names[0].path, "-") == 0 && strcmp(names[1].path, "-") == 0) {
        dfl_cmd_say("only one side can be standard input; see `dflc help diff`");
        return DFL_EXIT_USAGE;
    }
    for (unsigned i = 0; i < 2; i++) {
        sessions[i] = dfl_cmd_session(args);
        sound[i] = open_side(sessions[i], args, &names[i], &sides[i]);
        status = dfl_cmd_worse(status, sound[i]);
    }
    sessions[2] = dfl_cmd_session(args);
    if (status == DFL_EXIT_OK)
        status = compare_sides(args, sessions[2], sides);
    print_messages(args, sessions, sound);
    for (unsigned i = 0; i < 3; i++)
        dfl_session_free(sessions[i]);
    return status;
}
